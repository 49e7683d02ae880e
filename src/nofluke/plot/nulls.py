"""Null distributions, and the hits that were observed in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nofluke.errors import say
from nofluke.inference.chance import ChanceTest
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.interval import Interval
from nofluke.laws.law import Law
from nofluke.laws.tables import binomial
from nofluke.plain import as_flag, as_whole, check_word
from nofluke.plot.panels import check_kind, legend_above, legend_over, make_axes, make_panels
from nofluke.plot.style import AxesArray, band, colour, few_ticks, in_words, ink, label, luck, tidy
from nofluke.text.numbers import p_is
from nofluke.text.tables import show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVAL = 0.93  # the height of an interval, as a share of the panel
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

    See Also
    --------
    nofluke.plot.evaluation : both measures of a result.
    nofluke.plot.significance : any other metric.

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
    check_word(kind, "kind", ("pmf", "cdf"))
    check_kind("distribution", distribution, Law, "the null of a test")
    if observed is not None:
        observed = as_whole(observed, "observed", 0, distribution.size)
    compare_binomial = as_flag(compare_binomial, "compare_binomial")
    marked = None if observed is None else (observed, distribution.upper(observed))
    ax = _draw(distribution, make_axes(ax), marked, kind, compare_binomial)
    legend_above(ax)
    return ax


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
    _outline(ax, distribution, hits, kind, color=luck(), label=f"chance, {how}")
    size = distribution.size
    # beside a binomial there would be the same curve again
    compared = compare_binomial and size and how != "binomial"
    other = binomial(size, distribution.mean / size) if compared else None
    if other is not None:
        _outline(ax, other, hits, kind, color=ink(), label="binomial", dashed=True)
    if observed is not None:
        at, pvalue = observed
        ax.axvline(at, color=colour("observed"), linewidth=2, label=f"observed {at:,}, {p_is(pvalue)}")
    pad = max(0.03 * len(hits), 1)
    ax.set_xlim(hits[0] - pad, hits[-1] + pad)
    peak = max(float(law.table.max()) for law in (distribution, other) if law is not None)
    ax.set_ylim(0, 1.05 * peak if kind == "pmf" else 1.02)
    tidy(ax)
    few_ticks(ax, whole="x")
    label(ax, "hits", "probability" if kind == "pmf" else "probability of at most as many")
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
            linewidth=1.4 if dashed else 3.2,
            label=label,
        )
        return
    edges = np.append(hits - 0.5, hits[-1] + 0.5)
    if not dashed:
        ax.stairs(values, edges, fill=True, **band(0.35) | {"linewidth": 0})
    ax.stairs(values, edges, color=color, linestyle="--" if dashed else "-", linewidth=1.4, label=label)


def evaluation(result: Evaluation, ax: Any = None, *, compare_binomial: bool = True) -> AxesArray:
    """Draw the hits of precision and recall with what chance scores.

    Parameters
    ----------
    result : Evaluation
        From :func:`nofluke.evaluate` or :func:`nofluke.coincidence`.
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.
    compare_binomial : bool
        As in :func:`null`; never for a ratio whose denominator depends on chance (recall with ``edges="interior"``).

    Returns
    -------
    array of two matplotlib Axes
        Precision, recall, each with its 95% interval where there is one. Without predictions (or events) the panel says
        that the measure is undefined. Both have one legend; hits and p-values are next to the panel's names.

    See Also
    --------
    nofluke.evaluate : makes the result.
    nofluke.plot.null : one distribution.
    nofluke.plot.timeline : what was hit and missed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> z = nf.detectors.energy_transient(quakes.counts)
    >>> result = nf.evaluate(quakes.truth, z, quantile=0.9, tolerance=2)
    >>> left, right = nf.plot.evaluation(result, Figure().subplots(1, 2))
    >>> left.get_title(), right.get_xlabel()
    ('precision 0.570, p = 1.0e-11', 'events found, 74 of 162')
    """
    check_kind("result", result, Evaluation, "nofluke.evaluate")
    compare_binomial = as_flag(compare_binomial, "compare_binomial")
    panels = make_panels(ax, (2,), width=4.6, height=3.4)
    tests: tuple[tuple[ChanceTest, str], ...] = (
        (
            result.precision_test,
            "{alarms} that are hits" if isinstance(result, Coincidence) else "{predictions} that are hits",
        ),
        (result.recall_test, "{events} found"),
    )
    for panel, (test, what), interval in zip(panels, tests, result.interval(), strict=False):
        # the p-value of the test, whose alternative and ties need not be those of the upper tail
        compared = compare_binomial and not (test is result.recall_test and _interior(result))
        _draw(test.law, panel, (test.hits, test.pvalue), "pmf", compared)
        if interval:
            _draw_interval(panel, interval, test.of)
        # what differs between panels stands in their titles, not in the legend of both
        told = f", {p_is(test.pvalue)}" if test.of else ""
        title = f"{result.called(test.measure)} {show_share(test.value)}{told}"
        label(panel, f"{result.names.said(say(what))}, {test.hits:,} of {test.of:,}", title=title)
    legend_over(panels, _keys_of_both(panels, in_words(test.law.method for test, _ in tests)))
    return panels


def _keys_of_both(panels: AxesArray, how: str) -> list[Any]:
    """What both panels show, each kind once, without the numbers of one of them."""
    drawn = [one for panel in panels for one in panel.get_legend_handles_labels()[0]]
    kinds = ("chance", "binomial", "observed", "95% interval")
    found = {kind: one for kind in kinds for one in drawn if str(one.get_label()).startswith(kind)}
    for kind, one in found.items():
        one.set_label(f"chance, {how}" if kind == "chance" else kind)
    return list(found.values())


def _draw_interval(ax: Axes, interval: Interval, of: int) -> None:
    """The interval of a share of so many, above the hits that were observed."""
    ends = (interval.low * of, interval.high * of)
    name = f"{100 * interval.level:g}% interval, {interval}"
    how: dict[str, Any] = {"color": colour("observed"), "linewidth": 2, "marker": "|", "markersize": 9, "label": name}
    ax.plot(ends, (INTERVAL, INTERVAL), transform=ax.get_xaxis_transform(), **how)  # y is a share of the panel
    ax.set_ylim(0, ax.get_ylim()[1] / (2 * INTERVAL - 1))
    left, right = ax.get_xlim()
    pad = 0.03 * (max(right, ends[1]) - min(left, ends[0]))
    ax.set_xlim(min(left, ends[0] - pad), max(right, ends[1] + pad))


def _interior(result: Evaluation) -> bool:
    return isinstance(result, Coincidence) and result.edges == "interior"
