"""Detectors that turn a sequence into anomaly scores: a classic one, and the protocol for any other.

Conventions: one score per step, higher means more anomalous, and the score at step t uses only steps up to t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from nofluke.data.columns import as_column
from nofluke.errors import InputError, passed, say
from nofluke.plain import as_whole, exact_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Detector", "energy_transient"]


class Detector(Protocol):
    """Anything that maps a sequence to scores of the same length; a plain function will do.

    Settings belong in a closure or in ``functools.partial``, as in ``partial(energy_transient, long=28)``.

    See Also
    --------
    nofluke.detectors.energy_transient : one of them.
    nofluke.evaluate : judges its scores.
    """

    def __call__(self, x: ArrayLike, /) -> ArrayLike: ...


def energy_transient(x: ArrayLike, short: int = 3, long: int = 14) -> NDArray[np.float64]:
    r"""Score every step by its short-term average over its long-term average.

    .. math:: z_t = \frac{\mathrm{STA}_t}{\mathrm{LTA}_t + 1}

    where STA and LTA are the means of the last ``short`` and ``long`` steps, step t included. The 1 in the
    denominator keeps quiet stretches from dividing by zero; it is meant for counts.

    Parameters
    ----------
    x : array_like
        One-dimensional, finite and not negative: counts, or the energy of a signal.
    short, long : int
        Window lengths in steps, ``1 <= short <= long <= len(x)``.

    Returns
    -------
    ndarray of float64
        Scores from 0 up to ``long / short`` (not reached); 0 for the first ``long - 1`` steps, whose long
        window is not full. Sums of whole numbers are exact.

    Raises
    ------
    InputError
        For other input. Negative values are refused, not scored: the denominator could vanish or change
        sign, and the score would no longer rise with activity.

    See Also
    --------
    nofluke.datasets.load_earthquakes : the data it was made for.
    nofluke.evaluate : judges its scores.
    nofluke.detectors.Detector : the protocol.

    References
    ----------
    Withers et al. (1998), A comparison of select trigger algorithms for automated global seismic phase
    and event detection, Bull. Seismol. Soc. Am. 88; Earle, Bowden and Guy (2011), Twitter earthquake
    detection, Ann. Geophys. 54.

    Examples
    --------
    >>> energy_transient([0, 0, 0, 9, 0, 0], short=1, long=3)
    array([0.  , 0.  , 0.  , 2.25, 0.  , 0.  ])
    """
    values = _signal(x)
    short, long = as_whole(short, "short", 1), as_whole(long, "long", 1)
    if short > long:
        raise InputError(
            argument="short", value=short, problem=say("must not exceed {}", passed("long", long)), remedy="swap them"
        )
    if long > values.size:
        raise InputError(
            argument="long",
            value=long,
            problem=f"exceeds the {values.size} steps of x",
            remedy="choose a shorter window",
        )
    if values.max() > np.finfo(np.float64).max / (2 * long):
        raise InputError(
            argument="x", problem=f"has values up to {values.max():g}, whose sum overflows", remedy="rescale x"
        )
    scores = np.zeros(values.size)
    short_mean = _window_sums(values, short)[long - short :] / short
    long_mean = _window_sums(values, long) / long
    scores[long - 1 :] = short_mean / (long_mean + 1)
    return scores


def _window_sums(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the sums of all full windows of `width` steps, in O(T) whatever the width.

    Cut into blocks of one width, every window is the tail of a block and the head of the next. Heads and
    tails are running sums inside one block, so nothing is ever subtracted: differences of a running sum
    over the whole series would lose the digits of small values that follow large ones.
    """
    blocks = -(-values.size // width)
    padded = np.zeros(blocks * width)
    padded[: values.size] = values
    grid = padded.reshape(blocks, width)
    heads = np.cumsum(grid, axis=1).ravel()
    tails = np.cumsum(grid[:, ::-1], axis=1)[:, ::-1].ravel()
    starts = np.arange(values.size - width + 1)
    # a window that starts on a block's border is a whole block: it has no head in the next one
    return np.where(starts % width == 0, tails[starts], tails[starts] + heads[starts + width - 1])


def _signal(x: ArrayLike) -> NDArray[np.float64]:
    column = as_column(x, "x")
    if column.values.dtype.kind == "M":
        raise InputError(
            argument="x",
            problem="must be numbers, got dates",
            remedy="pass what was measured, one number for each step",
        )
    values = exact_floats(column.values, "x")
    _refuse(values, ~np.isfinite(values), "is not finite", "fill or drop such values first")
    _refuse(values, values < 0, "is negative", "pass its energy, such as x**2 or abs(x)")
    return values


def _refuse(values: NDArray[np.float64], bad: NDArray[np.bool_], what: str, remedy: str) -> None:
    if bad.any():
        first = int(bad.argmax())
        found = f"{values[first]:g} at position {first}"
        raise InputError(
            argument="x", problem=f"{what} at {bad.sum()} of {values.size} steps, first {found}", remedy=remedy
        )
