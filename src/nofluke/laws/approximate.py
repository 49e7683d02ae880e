"""Precision's law under permutation by Skovgaard's double saddlepoint approximation: milliseconds, no error bound.

With kappa(s, t) = log F(e^s, e^t) as in `exact.generating`, the tail P(C >= c | N = m) is approximated from two points:
where the gradient of kappa is (m, c - 1/2), and where it is (m, .) at t = 0, which is known: each step then holds an
event with chance m / T. Errors seen on random predictions are 1e-6 to 3e-3 of the answer, down to 1e-36; on regular
patterns, whose law is far from smooth, up to 40% of the answer. Nothing here says which of the two it was: that takes
`exact.fourier`.

References
----------
I. M. Skovgaard (1987), "Saddlepoint expansions for conditional distributions", J. Appl. Prob. 24, 875-887.
R. W. Butler (2007), "Saddlepoint Approximations with Applications", section 5.4 (second continuity correction).

The section "Saddlepoint approximation" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.exact.binomial import log_choose_ratio, log_pmf
from nofluke.laws.exact.generating import Structure, structure_of, tilt, untilted
from nofluke.laws.exact.moments import Moments, check_count, precision_moments
from nofluke.laws.law import How, Law, Tail, TailSide, exactly
from nofluke.lazy import lazy
from nofluke.series.counting import Windows

SADDLEPOINT = How(kind="approximate", name="saddlepoint")
_NEAR = 0.25  # standard deviations from the middle within which the correction is interpolated across its 0/0

# ---- one tail


def saddlepoint_tail(windows: Windows, n_events: int, hits: int, *, side: TailSide = "upper") -> Tail:
    """Approximate P(C >= hits) or P(C <= hits) under chance, by Skovgaard's formula at hits -+ 1/2.

    With w = sign(t) sqrt(2 [kappa(s0, 0) - m s0 - kappa(s, t) + m s + (c - 1/2) t]) and
    u = 2 sinh(t/2) sqrt(|kappa''(s, t)| / kappa_ss(s0, 0)),

    ``P(C >= c) = 1 - Phi(w) - phi(w) (1/w - 1/u)``.

    Parameters
    ----------
    windows : Windows
        Where an event makes each prediction a hit.
    n_events : int
        m, the number of events on distinct steps.
    hits : int
        c, the number of hits the tail starts from.
    side : "upper" or "lower"
        P(C >= hits) or P(C <= hits).

    Returns
    -------
    Tail
        0 or 1, and exact, where hits is out of reach; P(C = 0), P(C >= 1) are exact too, having a closed form.

    References
    ----------
    I. M. Skovgaard (1987), "Saddlepoint expansions for conditional distributions", J. Appl. Prob. 24, 875-887.

    Examples
    --------
    >>> import numpy as np
    >>> starts = np.arange(0, 1_000, 25)
    >>> windows = Windows(starts=starts, stops=starts + 11, n_steps=1_000)
    >>> print(f"{saddlepoint_tail(windows, 60, 30).p:.3e}")  # exactly: 8.349e-05
    8.332e-05
    """
    if side not in ("upper", "lower"):
        raise InputError(
            argument="side", problem=f'must be "upper" or "lower", got {side!r}', remedy="say which tail you want"
        )
    check_count("n_events", n_events, windows.n_steps)
    reached = int(hits) if side == "upper" else int(hits) + 1  # the tails of this split: C >= reached, C < reached
    upper = side == "upper"
    least, most = (windows.n, windows.n) if n_events == windows.n_steps else (0, windows.n if n_events > 0 else 0)
    if reached <= least:
        return _certain(upper)
    if reached > most:
        return _certain(not upper)
    if reached == 1:
        none = log_choose_ratio(windows.n_steps - windows.covered, windows.n_steps, n_events)
        return Tail.of_log(math.log(-math.expm1(none)) if upper else none, exactly("closed form"))
    return _skovgaard(structure_of(windows), n_events, reached - 0.5, 1 if upper else -1)


def _skovgaard(structure: Structure, n_events: int, split: float, sign: int) -> Tail:
    """The tail of C beyond ``split``, above it (sign +1) or below it (-1)."""
    from scipy.special import erfcx

    middle = untilted(structure, n_events)
    spread = math.sqrt(middle.var_given_events)
    at = _signed_root(structure, n_events, split)
    if at is None:  # nothing lies beyond, on the side away from the middle
        return _certain((split < middle.hits) == (sign == 1))
    w, correction = at
    if abs(w) < _NEAR:
        around = [
            _signed_root(structure, n_events, split + shift) for shift in (-2 * _NEAR * spread, 2 * _NEAR * spread)
        ]
        known = [pair for pair in around if pair is not None and abs(pair[0]) > 0.5 * _NEAR]
        if len(known) == 2:
            (w0, c0), (w1, c1) = known
            correction = c0 + (c1 - c0) * (w - w0) / (w1 - w0)
        else:
            correction = known[0][1] if known else 0.0
    log_density = -0.5 * w * w - 0.5 * math.log(2.0 * math.pi)
    if sign * w > 0.0:
        bracket = math.sqrt(0.5 * math.pi) * float(erfcx(sign * w / math.sqrt(2.0))) - sign * correction
        return Tail.of_log(min(log_density + math.log(bracket), 0.0) if bracket > 0.0 else -math.inf, SADDLEPOINT)
    p = 0.5 * math.erfc(sign * w / math.sqrt(2.0)) - sign * correction * math.exp(log_density)
    return Tail.of(min(max(p, 0.0), 1.0), SADDLEPOINT)


def _signed_root(structure: Structure, n_events: int, split: float) -> tuple[float, float] | None:
    """w and 1/w - 1/u of Skovgaard's formula; None if no placement has its hits there."""
    point = tilt(structure, n_events, split, side=0, tolerance=1e-12)
    if point is None:
        return None
    n_steps = structure.n_steps
    # kappa(s0, 0) - m s0 - (kappa - m s - c t), with both binomial parts taken together: they cancel to many digits
    p0, q0 = n_events / n_steps, (n_steps - n_events) / n_steps
    drop = (
        log_pmf(n_events, n_steps, point.p, math.exp(-point.ell))
        - log_pmf(n_events, n_steps, p0, q0)
        - point.log_mean
        + split * point.t
    )
    w = math.copysign(math.sqrt(2.0 * max(drop, 0.0)), point.t)
    variance = point.var_events * point.var_given_events
    u = 2.0 * math.sinh(0.5 * point.t) * math.sqrt(variance / (n_events * q0))
    if w == 0.0 or u == 0.0:
        return w, 0.0
    return w, 1.0 / w - 1.0 / u


def _certain(happens: bool) -> Tail:
    return Tail.of(float(happens), exactly("constant"))


# ---- the law whose tails they are

KNOTS = 33  # tails that make the bulk of an approximate law


class OfWindows(Law):
    """What all laws of precision's hits have: the windows, the number of events, exact moments.

    ``size`` counts the predictions, those too that nothing can hit: their windows are not among the windows.
    """

    def __init__(self, windows: Windows, n_events: int, method: How, size: int | None) -> None:
        Law.__init__(self, size=windows.n if size is None else size, method=method)
        self.windows = windows.hittable
        self.n_events = n_events

    @lazy
    def _exact_moments(self) -> Moments:
        return precision_moments(self.windows, self.n_events)

    def _filled(self, first: int, law: FloatArray) -> FloatArray:
        """A whole table from probabilities that begin somewhere."""
        if first == 0 and len(law) == self.size + 1:
            return law
        table = np.zeros(self.size + 1)
        table[first : first + len(law)] = law
        return table

    def _moments(self) -> tuple[float, float]:
        return self._exact_moments.mean, self._exact_moments.var


class PrecisionSaddlepoint(OfWindows):
    """Tails by Skovgaard's approximation, which has no error bound."""

    def __init__(self, windows: Windows, n_events: int, size: int | None = None) -> None:
        super().__init__(windows, n_events, SADDLEPOINT, size)

    def _tail(self, hits: int, side: TailSide) -> Tail:
        if self.var == 0.0:  # chance always scores the same: there is nothing to approximate
            certain = hits <= round(self.mean) if side == "upper" else hits >= round(self.mean)
            return Tail.of(float(certain), exactly("constant"))
        found = saddlepoint_tail(self.windows, self.n_events, hits, side=side)
        # at an end of the law the formula has no saddle: what a table cannot be is cut off there
        return Tail.of_log(found.log_p, self.method)

    def _table(self) -> FloatArray:
        """From differences of tails, as far as eight standard deviations from the mean."""
        low, high = self._within(8)
        return self._filled(low, self._between(low, np.arange(low + 1, high + 1), high))

    def _within(self, deviations: float) -> tuple[int, int]:
        reach = deviations * self.std
        return max(0, math.floor(self.mean - reach)), min(self.size, math.ceil(self.mean + reach))

    def _between(self, low: int, at: IntArray, high: int) -> FloatArray:
        """P(X = low), ..., P(X = high), all that is beyond belonging to the ends, from the tails at some hits."""
        from scipy.special import ndtr, ndtri

        hits = np.arange(low + 1, high + 1)
        tails = np.minimum.accumulate([self.upper(int(k)) for k in at])
        if len(at) < len(hits):  # in between, on the scale on which a normal law is a straight line
            tails = ndtr(np.interp(hits, at, ndtri(np.clip(tails, 1e-300, 1 - 1e-16))))
        return np.maximum(-np.diff([1.0, *tails, 0.0]), 0.0)

    def bulk(self, deviations: float) -> tuple[int, FloatArray]:
        if math.isinf(deviations):
            return super().bulk(deviations)
        (low, high), most = self._within(deviations), self.size
        before, behind = max(low - 1, 0), min(high + 1, most)  # where all that is beyond them would be found
        some = np.linspace(before + 1, behind, min(KNOTS, behind - before)).round().astype(np.int64)
        return low, self._between(before, some, behind)[low - before :][: high - low + 1]
