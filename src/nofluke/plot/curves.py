"""Null distributions, and the measures beside them: at one threshold, or by threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.arrays import FloatArray
from nofluke.errors import InputError
from nofluke.inference.chance import ChanceTest
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.curve import Sweep
from nofluke.inference.evaluation import Evaluation
from nofluke.inference.interval import Interval
from nofluke.laws.law import Law
from nofluke.laws.tables import binomial
from nofluke.plot.style import PALETTE, SERIES, AxesArray, check_kind, in_words, legend, make_axes, make_panels, tidy
from nofluke.text.numbers import p_is
from nofluke.text.tables import show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HEADROOM = 0.68  # share of a null's panel that its curves take; the legend stands above them
LOWER = 0.6  # the same where the legend has an interval too
NEARLY_NOTHING = 1e-6  # hits less likely than this share of the most likely ones are left out of the picture


def null(
    distribution: Law,
    ax: Axes | None = None,
    *,
    observed: int | None = None,
    kind: Literal["pmf", "cdf"] = "pmf",
    compare_binomial: bool = True,
) -> Axes:
    """Draw what chance scores, and the observed number of hits in it.

    Parameters
    ----------
    distribution : Law
        Such as ``result.precision_test.law``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    observed : int, optional
        Hits to mark, with P(X ≥ observed); from 0 to the size of the distribution.
    kind : {"pmf", "cdf"}
        P(X = k), or P(X ≤ k) as in Figure 4 of the paper.
    compare_binomial : bool
        Whether to add the binomial distribution with the same mean, n p = E[X], which hits would follow if they were
        independent.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Scharwächter and Müller (2020), Figure 4.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 0, 0, 1, 0], null="permutation")
    >>> ax = nf.plot.null(result.recall_test.law, Figure().subplots(), observed=2)
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('probability', ['chance, exact', 'binomial', 'observed 2, p = 0.036'])
    """
    if kind not in ("pmf", "cdf"):
        raise InputError(f"kind={kind!r} must be 'pmf' or 'cdf'.")
    check_kind("distribution", distribution, Law, "the null of a test")
    whole = isinstance(observed, int | np.integer) and not isinstance(observed, bool)
    if observed is not None and not (whole and 0 <= observed <= distribution.size):
        raise InputError(f"observed={observed!r:.40} must be a whole number of hits, from 0 to {distribution.size:,}.")
    marked = None if observed is None else (observed, distribution.upper(observed))
    return _draw(distribution, make_axes(ax), marked, kind, compare_binomial)


def _draw(
    distribution: Law,
    ax: Axes,
    observed: tuple[int, float] | None,
    kind: Literal["pmf", "cdf"],
    compare_binomial: bool,
) -> Axes:
    """A distribution, the binomial beside it, and the observed hits with their p-value."""
    likely = np.flatnonzero(distribution.table > NEARLY_NOTHING * distribution.table.max())
    ends = [int(likely[0]), int(likely[-1]), *([] if observed is None else [observed[0]])]
    hits = np.arange(min(ends), max(ends) + 1)
    how = in_words([distribution.method])
    _outline(ax, distribution, hits, kind, color=PALETTE["chance"], label=f"chance, {how}")
    size = distribution.size
    # beside a binomial there would be the same curve again
    compared = compare_binomial and size and how != "binomial"
    other = binomial(size, distribution.mean / size) if compared else None
    if other is not None:
        _outline(ax, other, hits, kind, color=PALETTE["binomial"], label="binomial", dashed=True)
    if observed is not None:
        at, pvalue = observed
        top = HEADROOM if kind == "pmf" else 1
        label = f"observed {at:,}, {p_is(pvalue)}"
        ax.axvline(at, 0, top, color=PALETTE["observed"], linewidth=2, label=label)
    pad = max(0.03 * len(hits), 1)
    ax.set_xlim(hits[0] - pad, hits[-1] + pad)
    peak = max(float(law.table.max()) for law in (distribution, other) if law is not None)
    ax.set_ylim(0, peak * 1.02 / HEADROOM if kind == "pmf" else 1.02)  # the rest is for the legend
    ax.set_xlabel("hits")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylabel("probability" if kind == "pmf" else "probability of at most as many")
    tidy(ax)
    legend(ax, "upper left" if kind == "pmf" else "best")
    return ax


def _outline(
    ax: Axes,
    law: Law,
    hits: npt.NDArray[np.int64],
    kind: str,
    *,
    color: str,
    label: str,
    dashed: bool = False,
) -> None:
    """A distribution over whole numbers: filled steps, or a dashed outline for the one that is only compared with."""
    inside = (hits >= 0) & (hits <= law.size)
    values = np.zeros(len(hits))
    values[inside] = law.table[hits[inside]]
    if kind == "cdf":
        below = law.table[: max(int(hits[0]), 0)].sum()
        ax.step(
            hits,
            np.minimum(below + np.cumsum(values), 1),
            where="post",
            color=color,
            linestyle="--" if dashed else "-",
            linewidth=1.6,
            label=label,
        )
        return
    edges = np.append(hits - 0.5, hits[-1] + 0.5)
    if not dashed:
        ax.stairs(values, edges, fill=True, color=color, alpha=0.35, linewidth=0)
    ax.stairs(values, edges, color=color, linestyle="--" if dashed else "-", linewidth=1.4, label=label)


def evaluation(result: Evaluation, axes: Any = None, *, compare_binomial: bool = True) -> AxesArray:
    """Draw precision's and recall's hits beside what chance scores.

    Parameters
    ----------
    result : Evaluation
        From :func:`nofluke.evaluate` or :func:`nofluke.coincidence`.
    axes : two matplotlib Axes, optional
        Where to draw; by default a new figure.
    compare_binomial : bool
        As in :func:`null`; never beside a ratio whose denominator is up to chance (recall with ``edges="interior"``).

    Returns
    -------
    array of two matplotlib Axes
        Precision, recall, each with its 95% interval where there is one. Without predictions (or events) the panel says that the
        measure is undefined.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> z = nf.detectors.energy_transient(quakes.counts)
    >>> result = nf.evaluate(quakes.truth, z, quantile=0.9, tolerance=2)
    >>> left, right = nf.plot.evaluation(result, Figure().subplots(1, 2))
    >>> left.get_title(), right.get_xlabel()
    ('precision 0.570', 'events found, of 162')
    """
    check_kind("result", result, Evaluation, "nofluke.evaluate")
    panels = make_panels(axes, (2,), width=4.6, height=3.4)
    tests: tuple[tuple[ChanceTest, str], ...] = (
        (result.precision_test, f"{'alarm' if isinstance(result, Coincidence) else 'prediction'}s that are hits"),
        (result.recall_test, "events found"),
    )
    for ax, (test, what), interval in zip(panels, tests, result.interval(), strict=False):
        # the p-value of the test, whose alternative and ties need not be those of the upper tail
        compared = compare_binomial and not (test is result.recall_test and _interior(result))
        _draw(test.law, ax, (test.hits, test.pvalue), "pmf", compared)
        ax.set_title(f"{test.measure} {show_share(test.value)}")
        ax.set_xlabel(f"{what}, of {test.of:,}")
        if interval:
            _draw_interval(ax, interval, test.of)
    return panels


def _draw_interval(ax: Axes, interval: Interval, of: int) -> None:
    """The interval of a share of so many, above the hits that were observed."""
    ends = (interval.low * of, interval.high * of)
    label = f"{100 * interval.level:g}% interval, {interval}"
    how: dict[str, Any] = {"color": PALETTE["observed"], "linewidth": 2, "marker": "|", "markersize": 9, "label": label}
    ax.plot(ends, (LOWER, LOWER), transform=ax.get_xaxis_transform(), **how)  # y is a share of the panel
    ax.set_ylim(0, ax.get_ylim()[1] * HEADROOM / LOWER)  # its line in the legend needs room too
    left, right = ax.get_xlim()
    pad = 0.03 * (max(right, ends[1]) - min(left, ends[0]))
    ax.set_xlim(min(left, ends[0] - pad), max(right, ends[1] + pad))
    legend(ax, "upper left")


def _interior(result: Evaluation) -> bool:
    return isinstance(result, Coincidence) and result.edges == "interior"


def sweep(curve: Sweep, axes: Any = None, *, chance: Literal["auto", "band", "none"] = "auto") -> AxesArray:
    """Draw recall and precision by threshold, beside what chance scores.

    Parameters
    ----------
    curve : Sweep
        From :func:`nofluke.sweep`. The axis shows quantiles where thresholds came from quantiles.
    axes : matplotlib Axes, optional
        Where to draw; by default a new figure.
    chance : {"auto", "band", "none"}
        "band": a row of two panels for each tolerance, with the mean and the central 95% of chance. "none": one
        row, all tolerances together, without chance. "auto": "band" wherever tables would show chance.

    Returns
    -------
    array of matplotlib Axes, of shape (rows, 2)
        Recall to the left, precision to the right. Nothing is drawn where a measure is undefined.

    References
    ----------
    Scharwächter and Müller (2020), Figures 2 and 3.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> curve = nf.sweep([0, 1, 0, 0], [0.1, 0.4, 0.9, 0.4], tolerances=(0, 1))
    >>> axes = nf.plot.sweep(curve, Figure().subplots(2, 2), chance="band")
    >>> axes.shape, axes[1, 0].get_title()
    ((2, 2), 'tolerance 1 step')
    """
    if chance not in ("auto", "band", "none"):
        raise InputError(f"chance={chance!r} must be 'auto', 'band' or 'none'.")
    check_kind("curve", curve, Sweep, "nofluke.sweep")
    banded = chance == "band" or (chance == "auto" and curve.shows_chance)
    panels = make_panels(axes, (len(curve.tolerances) if banded else 1, 2), width=4.2, height=2.6)
    for d, tolerance in enumerate(curve.tolerances):
        for ax, side in zip(panels[d if banded else 0], ("recall", "precision"), strict=True):
            color, style = SERIES[d % len(SERIES)]
            if banded:
                chance_band(ax, curve, side, d)
                color, style = PALETTE["observed"], "-"
                ax.set_title(f"tolerance {tolerance}")
            label = "observed" if banded else f"tolerance {tolerance}"
            ax.plot(sweep_axis(curve), getattr(curve, side)[d], color=color, linestyle=style, linewidth=2, label=label)
            ax.set_xlabel("threshold" if curve.quantiles is None else "threshold (quantile)")
            ax.set_ylabel(side)
            ax.set_ylim(0, 1.02)
            tidy(ax)
    for ax in panels.flat:
        legend(ax)
    return panels


def sweep_axis(curve: Sweep) -> FloatArray:
    """What the curves of a sweep are drawn over: quantiles where there are any, else thresholds."""
    return curve.thresholds if curve.quantiles is None else curve.quantiles


def chance_band(ax: Axes, curve: Sweep, side: str, tolerance: int) -> None:
    """Draw mean and central 95% of chance for one measure and the tolerance at one position."""
    cells = getattr(curve.chance, side)
    trials = curve.n_predictions if side == "precision" else np.full(len(curve.thresholds), curve.n_events)
    with np.errstate(invalid="ignore"):
        low, mean, high = (
            np.where(trials > 0, a[tolerance] / trials, np.nan) for a in (cells.low, cells.mean, cells.high)
        )
    at = sweep_axis(curve)
    name = f"chance, 95% ({in_words(cells.methods)})"
    ax.fill_between(at, low, high, color=PALETTE["chance"], alpha=0.3, linewidth=0, label=name)
    ax.plot(at, mean, color=PALETTE["chance"], linestyle="--", linewidth=1, label="chance, mean")
