"""How other fields draw warnings: Molchan's diagram of seismology, and the performance diagram of weather."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.molchan import Molchan
from nofluke.inference.sweep import Sweep, row_of
from nofluke.plain import check_word
from nofluke.plot.curves import SIDES, Chance, chance_shares, shows
from nofluke.plot.panels import CHANCE, by_name, keys_of, legend_above, make_axes, short
from nofluke.plot.style import colour, faint, ink, of_detector, unit_square
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.numbers import p_is
from nofluke.text.tables import show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INDICES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # critical success indices that have a line
BIASES = (0.25, 0.5, 1.0, 2.0, 4.0)  # frequency biases that have one


def molchan(curves: Any, ax: Axes | None = None, *, tolerance: Length | Tolerance | None = None) -> Axes:
    """Draw the share of events missed against the share of time covered by alarms, with what chance misses.

    Time is covered as the null measures it, so that the diagonal is chance. Curves below it are better. A single curve
    has two bands: what chance misses at each threshold by itself, and the wider one that its whole curve stays in.

    Parameters
    ----------
    curves : Molchan or Sweep, or mapping of str to one of them
        From :meth:`nofluke.Sweep.molchan`, or from :func:`nofluke.sweep`; several detectors by their names.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    tolerance : int, str, timedelta or Tolerance, optional
        One of those of a sweep; not needed where it has only one.

    Returns
    -------
    matplotlib Axes
        Names in the legend have the area skill score with its p-value. Without events nothing but chance is drawn.

    See Also
    --------
    nofluke.Sweep.molchan : the numbers.
    nofluke.plot.performance : the diagram of weather.

    References
    ----------
    Molchan (1991), Structure of optimal strategies in earthquake prediction. Zechar and Jordan (2008), Testing
    alarm-based earthquake predictions.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> curve = nf.sweep(quakes.truth, nf.detectors.energy_transient(quakes.counts), tolerances=2, rng=1)
    >>> ax = nf.plot.molchan(curve.molchan(n_resamples=999), Figure().subplots())
    >>> ax.get_xlabel(), ax.get_legend().get_texts()[-1].get_text().replace("\\n", " ")
    ('share of time covered by alarms', 'area skill 0.619, p = 0.001')
    """
    every: dict[str, Any] = by_name("curves", curves, (Molchan, Sweep), "nofluke.sweep")
    found: dict[str, Molchan] = {
        name: one.molchan(tolerance=one.tolerances[row_of(one, tolerance, name)]) if isinstance(one, Sweep) else one
        for name, one in every.items()
    }
    ax = make_axes(ax, (4.6, 4.4))
    chance, alone = colour("chance"), len(found) == 1
    for one in found.values() if alone else ():
        level = f"{100 * (1 - one.alpha):g}%"
        at = one.trajectory[0]
        for low, high, opacity, told in (
            (one.lowest, one.highest, 0.18, f"chance, {level} of whole curves"),
            (one.low, one.high, 0.3, f"chance, {level} at each threshold"),
        ):
            below, above = (np.concatenate([[1.0], edge, [0.0]]) for edge in (low, high))
            ax.fill_between(at, below, above, color=chance, alpha=faint(opacity), linewidth=0, label=told)
    ax.plot([0, 1], [1, 0], color=chance, linestyle="--", linewidth=1, label="chance, mean")
    for i, (name, one) in enumerate(found.items()):
        skill = "" if np.isnan(one.skill) else f"area skill {show_share(one.skill)}"
        told = ", ".join(filter(None, (short(name), skill, "" if np.isnan(one.pvalue) else p_is(one.pvalue))))
        ax.plot(*one.trajectory, **of_detector(i, len(found)), label=told)
    unit_square(ax, "share of time covered by alarms", "share of events missed")
    legend_above(ax, keys_of(ax))
    return ax


def performance(
    curves: Any, ax: Axes | None = None, *, tolerance: Length | Tolerance | None = None, chance: Chance = "auto"
) -> Axes:
    """Draw the performance diagram of weather: probability of detection (recall) against success ratio (precision).

    Solid lines are those of equal critical success index, CSI = 1 / (1/SR + 1/POD - 1), dashed ones those of equal
    frequency bias POD / SR. The better a warning, the nearer it is to the upper right corner.

    Parameters
    ----------
    curves : Sweep or Evaluation, or mapping of str to one of them
        From :func:`nofluke.sweep`, a curve over its thresholds, or :func:`nofluke.evaluate`, a point; by their names.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    tolerance : int, str, timedelta or Tolerance, optional
        One of those of a sweep; not needed where it has only one.
    chance : {"auto", "band", "none"}
        Whether the mean of chance is drawn, for each detector in its own colour: "auto" wherever tables would show it.

    Returns
    -------
    matplotlib Axes
        Nothing is drawn where either is undefined.

    See Also
    --------
    nofluke.plot.precision_recall : without these lines, with a band of chance.
    nofluke.Evaluation.measure : "csi", "pod" and other measures under the names of weather.

    References
    ----------
    Roebber (2009), Visualizing multiple measures of forecast quality.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> z = nf.detectors.energy_transient(quakes.counts)
    >>> result = nf.evaluate(quakes.truth, z, quantile=0.9, tolerance=2)
    >>> ax = nf.plot.performance({"energy": result}, Figure().subplots())
    >>> ax.get_xlabel(), ax.get_legend().get_texts()[0].get_text()
    ('success ratio (precision)', 'energy')
    """
    check_word(chance, "chance", ("auto", "band", "none"))
    every: dict[str, Any] = by_name("curves", curves, (Sweep, Evaluation), "nofluke.sweep or nofluke.evaluate")
    ax = make_axes(ax, (4.6, 4.4))
    _lines(ax)
    alone = len(every) == 1
    for i, (name, one) in enumerate(every.items()):
        style = of_detector(i, len(every))
        by_chance: dict[str, Any] = {"color": colour("chance")}
        told = short(name) or "observed"
        if isinstance(one, Sweep):
            d = row_of(one, tolerance, name)
            ax.plot(one.precision[d], one.recall[d], **style, label=told)
            if shows(one, chance):
                means = (chance_shares(one, side)[1][d] for side in SIDES)
                by_chance |= {"linestyle": "--", "linewidth": 1, "label": "chance, mean" if alone else CHANCE}
                ax.plot(*means, **by_chance)
        else:
            ax.plot([one.precision], [one.recall], **style | {"linestyle": "", "marker": "o"}, label=told)
            if chance != "none" and 0 not in (one.n_predictions, one.n_events):
                by_chance |= {"linestyle": "", "marker": "x", "label": f"chance, mean{'' if alone else f' for {told}'}"}
                ax.plot([one.precision_test.expected / one.n_predictions], [one.coverage], **by_chance)
    unit_square(ax, "success ratio (precision)", "probability of detection (recall)")
    legend_above(ax, keys_of(ax))
    return ax


def _lines(ax: Axes) -> None:
    """Lines of equal critical success index and of equal frequency bias, with their values."""
    thin: dict[str, Any] = {"color": ink(), "alpha": 0.35, "linewidth": 0.7, "zorder": 0.5}
    small: dict[str, Any] = {"fontsize": 6, "color": ink(), "alpha": 0.8, "ha": "center", "va": "center", "zorder": 0.6}
    for index in INDICES:
        ratio: FloatArray = np.linspace(index, 1, 200)
        detected = 1 / (1 / index + 1 - 1 / ratio)
        ax.plot(ratio, detected, **thin)
        at = 2 * index / (1 + index)  # where success ratio and probability of detection are the same
        ax.text(at, at, f"{index:g}", **small)
    for bias in BIASES:
        end = (1.0, bias) if bias < 1 else (1 / bias, 1.0)
        ax.plot([0, end[0]], [0, end[1]], **thin, linestyle="--")
        if bias != 1:  # where the indices stand
            ax.text(end[0] * 0.93, end[1] * 0.93, f"bias {bias:g}", **small)
