"""Precision against recall, and both by tolerance: of one detector or several, with what chance scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError, arg, say
from nofluke.inference.coincidence import CoincidenceSweep
from nofluke.inference.sweep import Sweep, none_of, row_of
from nofluke.plain import check_word, number_or_none
from nofluke.plot.curves import SIDES, Chance, chance_shares, draw_band, how_computed, shows, styles_of
from nofluke.plot.panels import (
    CHANCE,
    by_name,
    key_of_order,
    keys_of,
    legend_above,
    make_axes,
    make_panels,
    one_legend,
    short,
)
from nofluke.plot.style import (
    SERIES,
    AxesArray,
    chance_of,
    colour,
    few_ticks,
    in_words,
    inches,
    label,
    of_detector,
    one_of,
    some_of,
    tidy,
    unit_square,
)
from nofluke.plot.times import without_lags
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.numbers import as_people_say
from nofluke.text.tables import show_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def precision_recall(
    curves: Any, ax: Axes | None = None, *, tolerance: Length | Tolerance | None = None, chance: Chance = "auto"
) -> Axes:
    """Draw precision against recall over the thresholds of a sweep, with those of chance.

    Parameters
    ----------
    curves : Sweep, or mapping of str to Sweep
        From :func:`nofluke.sweep`; several detectors by their names.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    tolerance : int, str, timedelta or Tolerance, optional
        One of the tolerances of the sweep; by default all of them, one curve each. With several detectors, pass one.
    chance : {"auto", "band", "none"}
        Whether chance is drawn: "auto" wherever tables would show it. At each threshold, the mean of chance's precision
        over the mean of its recall; for a single curve also the central 95% of precision.

    Returns
    -------
    matplotlib Axes
        Nothing is drawn where precision or recall is undefined.

    See Also
    --------
    nofluke.sweep : makes the sweep.
    nofluke.plot.sweep : both by threshold.
    nofluke.plot.tolerance : both by tolerance.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> curves = {name: nf.sweep(quakes.truth, z, quantiles=[0.5, 0.9], tolerances=2) for name, z in scores.items()}
    >>> ax = nf.plot.precision_recall(curves, Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['energy', 'counts', 'chance, mean']
    """
    check_word(chance, "chance", ("auto", "band", "none"))
    every = by_name("curves", curves, Sweep, "nofluke.sweep")
    if len(every) == 1 and tolerance is None:
        ((name, curve),) = every.items()
        rows = [(name, curve, d) for d in range(len(curve.tolerances))]
    else:
        rows = [(name, curve, row_of(curve, tolerance, name)) for name, curve in every.items()]
    ax = make_axes(ax, (4.8, 4.2))
    alone, detectors = len(rows) == 1, len(every) > 1
    ordered = styles_of(len(rows))
    for i, (name, curve, d) in enumerate(rows):
        style = one_of(i, len(rows)) if detectors else ordered[i]
        told = short(name) if detectors else f"tolerance {curve.tolerances[d]}"
        if alone:
            style, told = {"color": colour("observed"), "linewidth": 2}, name or "observed"
        if shows(curve, chance):
            _draw_chance(ax, curve, d, style, alone=alone)
        ax.plot(curve.recall[d], curve.precision[d], **style, label=told)
    unit_square(ax, "recall", "precision")
    many = not detectors and len(rows) > len(SERIES)
    if many:
        names = [str(curve.tolerances[d]) for _, curve, d in rows]
        key_of_order(np.array([ax], dtype=object), [style["color"] for style in ordered], names, "tolerance")
    legend_above(ax, keys_of(ax)[len(rows) if many else 0 :])
    return ax


def _draw_chance(ax: Axes, curve: Sweep, d: int, style: dict[str, Any], *, alone: bool) -> None:
    """Chance's means by threshold; for a curve that is alone also the band of precision."""
    at = chance_shares(curve, "recall")[1][d]
    low, mean, high = (values[d] for values in chance_shares(curve, "precision"))
    if alone:
        draw_band(ax, at, low, mean, high, how=in_words(curve.chance.precision.methods))
    else:
        ax.plot(at, mean, **chance_of(style), zorder=1.5, label=CHANCE)


def tolerance(
    curves: Any,
    ax: Any = None,
    *,
    threshold: float | None = None,
    quantile: float | None = None,
    chance: Chance = "auto",
) -> AxesArray:
    """Draw precision and recall by tolerance at one threshold, with those of chance: wide windows are easily hit.

    Parameters
    ----------
    curves : Sweep, or mapping of str to Sweep
        From :func:`nofluke.sweep` or, with one lag, :func:`nofluke.sweep_tolerances`; several detectors by their names.
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.
    threshold, quantile : float, optional
        One of the thresholds or quantiles of the sweep; not needed where it has only one.
    chance : {"auto", "band", "none"}
        Whether chance is drawn: "auto" wherever tables would show it. The mean, and for a single detector the central
        95%.

    Returns
    -------
    array of two matplotlib Axes
        Precision, recall.

    See Also
    --------
    nofluke.sweep : makes the sweep.
    nofluke.plot.sweep : by threshold.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> z = nf.detectors.energy_transient(quakes.counts)
    >>> curve = nf.sweep(quakes.truth, z, quantiles=[0.5, 0.9], tolerances=range(6))
    >>> left, right = nf.plot.tolerance(curve, Figure().subplots(1, 2), quantile=0.9)
    >>> left.get_xlabel(), right.get_ylabel()
    ('tolerance, steps', 'recall')
    """
    check_word(chance, "chance", ("auto", "band", "none"))
    every = by_name("curves", curves, Sweep, "nofluke.sweep")
    columns = {name: _column(name, curve, threshold, quantile) for name, curve in every.items()}
    first = next(iter(every.values()))
    if any(curve.tolerances != first.tolerances for curve in every.values()):
        raise InputError(
            argument="curves", problem="have different tolerances", remedy="sweep all detectors over the same ones"
        )
    at, title, names = _reaches(first)
    order = np.argsort(at, kind="stable")
    panels = make_panels(ax, (2,), width=4.2, height=2.8)
    for panel, side in zip(panels, SIDES, strict=True):
        for i, (name, curve) in enumerate(every.items()):
            k, alone = columns[name], len(every) == 1
            style = of_detector(i, len(every))
            ends = [values[order, k] for values in chance_shares(curve, side)] if shows(curve, chance) else []
            if ends and alone:
                draw_band(panel, at[order], *ends, how=how_computed(curve))
            elif ends:
                panel.plot(at[order], ends[1], **chance_of(style), label=CHANCE)
            marker = {"marker": style.get("marker") or ("o" if len(at) <= 15 else None), "markersize": 4}
            panel.plot(at[order], getattr(curve, side)[order, k], **style | marker, label=short(name) or "observed")
        panel.set_ylim(0, 1.02)
        tidy(panel)
        few_ticks(panel, whole="x" if first.tolerances[0].unit == "steps" else "")
        if names:
            shown_at, told = some_of(names, inches(panel)[0], 0.5)
            panel.set_xticks(shown_at, [text.replace(" to ", "\nto ") for text in told])
        label(panel, title, side)
    one_legend(panels)
    return panels


def _column(name: str, curve: Sweep, threshold: float | None, quantile: float | None) -> int:
    """Which threshold of a sweep is meant."""
    if threshold is not None and quantile is not None:
        raise InputError(problem="pass either threshold or quantile, not both")
    if threshold is None and quantile is None and len(curve.thresholds) == 1:
        return 0
    argument, wanted = ("threshold", threshold) if quantile is None else ("quantile", quantile)
    values: FloatArray | None = curve.thresholds if quantile is None else curve.quantiles
    if values is None:
        raise InputError(
            argument="quantile",
            value=quantile,
            problem="does not fit a sweep over thresholds",
            remedy=say("pass {}", arg("threshold")),
        )
    number = number_or_none(wanted)
    found = [] if number is None else np.flatnonzero(np.isclose(values, number, rtol=1e-9, atol=0)).tolist()
    if found:
        return int(found[0])
    raise none_of(argument, wanted, name, [show_number(float(value)) for value in values])


def _reaches(curve: Sweep) -> tuple[FloatArray, str, list[str]]:
    """Where tolerances stand on an axis, its title, and their names where they are no single numbers."""
    if isinstance(curve, CoincidenceSweep) and len(set(curve.moves)) > 1:
        raise InputError(
            argument="curves", problem="has several lags", remedy="draw them with nf.plot.lags or nf.plot.heatmap"
        )
    windows = without_lags(curve) if isinstance(curve, CoincidenceSweep) else curve.tolerances
    sides: list[tuple[Any, Any]] = [(window.early, window.late) for window in windows]
    if any(early != late for early, late in sides):
        return np.arange(len(windows), dtype=np.float64), "tolerance", [str(window) for window in windows]
    reach = np.array([float(early) for early, _ in sides])
    if windows[0].unit == "steps":
        return reach, "tolerance, steps", []
    at, unit = as_people_say(reach, windows[0].unit == "ns")
    return at, f"tolerance{unit}", []
