"""Two lists of times: what was found when, and hits by lag or by tolerance with chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.errors import say
from nofluke.inference.coincidence import Coincidence, CoincidenceSweep
from nofluke.plain import check_word
from nofluke.plot.curves import SIDES, Chance, chance_shares, draw_band, how_computed, shows, styles_of
from nofluke.plot.marks import marks_of, names_of_lanes
from nofluke.plot.panels import check_kind, key_of_order, legend_above, make_axes, make_panels, one_legend
from nofluke.plot.style import (
    GREY,
    SERIES,
    AxesArray,
    colour,
    few_ticks,
    ink,
    label,
    of_detector,
    shade,
    tidy,
    time_axis,
)
from nofluke.series.occurrences import Occurrences
from nofluke.series.ticks import Ticks
from nofluke.series.timed import event_reaches
from nofluke.series.tolerance import Tolerance
from nofluke.text.numbers import as_people_say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3000  # marks that no two of which would share a column of ink are as many as these
MOST_WINDOWS = 300  # that can be told apart; more would be a carpet
THINNEST = 1 / 1500  # of the axis: windows that are shorter are no wider than a mark
LEVEL = 0.05
UNCOUNTED = "#BBBBBB"
LANES = ((1.5, "good"), (1.1, "bad"), (0.5, "good"), (0.1, "bad"))  # where they begin


def coincidence(result: Coincidence, ax: Axes | None = None) -> Axes:
    """Draw both lists over time: events found and missed, alarms that are hits and false ones, windows and gaps.

    Parameters
    ----------
    result : Coincidence
        From :func:`nofluke.coincidence`; ``result.plot_times()`` is the same.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The legend has the counts. Marks that would overlap are drawn as one; the time in which an alarm finds an event
        is shaded if there are few enough windows to see them.

    See Also
    --------
    nofluke.coincidence : makes the result.
    nofluke.plot.timeline : the same for labels on steps.
    nofluke.plot.lags : by lag.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> result = nf.coincidence([10, 40, 70], [11, 41, 90], tolerance=2, span=(0, 99))
    >>> ax = nf.plot.coincidence(result, Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['events found: 2', 'events missed: 1', 'alarms that are hits: 2', 'false alarms: 1', 'window of an event']
    """
    check_kind("result", result, Coincidence, "nofluke.coincidence")
    read, cell = result.sequence, result._cell
    ticks, ends = read.ticks, (read.first, read.last)
    ax = make_axes(ax, (9, 2.6))
    ax.set_ylim(0, 2)
    said, names = result.names.said, result.names.all_said(names_of_lanes("event"))
    handles = [
        _marks(ax, at, ends, ticks, low, colour(meaning), name)
        for name, at, (low, meaning) in zip(names, marks_of(cell).lanes, LANES, strict=True)
    ]
    for at, low in ((cell.truth.at[~cell.counts], 1.1), (cell.at[~cell.alarms_counted], 0.1)):
        if len(at):
            handles.append(_marks(ax, at, ends, ticks, low, UNCOUNTED, "does not count"))
    starts, stops = event_reaches(cell)
    long = bool(len(starts)) and float((stops - starts).min()) >= THINNEST * (ends[1] - ends[0] + 1)
    if long and len(starts) <= MOST_WINDOWS and (stops > starts).all():
        within = (np.maximum(starts, ends[0]), np.minimum(stops, ends[1]))
        handles.append(shade(ax, *within, ticks, GREY, 0.25, said(say("window of {an_event}"))))
    gaps = read.gaps
    if len(gaps.starts):
        handles.append(shade(ax, gaps.starts, gaps.stops, ticks, GREY, 0.45, "not watched", hatch="////"))
    ax.set_yticks([0.5, 1.5], [said(say("{alarms}")), said(say("{events}"))])
    time_axis(ax, ticks.times(np.array(ends)), ticks)
    legend_above(ax, list({handle.get_label(): handle for handle in handles}.values()))
    return ax


def events_alone(read: Occurrences, ax: Axes | None = None) -> Axes:
    """Draw a list of events over the watched time."""
    ticks, ends = read.ticks, (read.first, read.last)
    ax = make_axes(ax, (9, 1.6))
    ax.set_ylim(0, 1)
    handles = [_marks(ax, read.events, ends, ticks, 0.3, ink(), read.names.said(say("{events}")))]
    if len(read.gaps.starts):
        handles.append(shade(ax, read.gaps.starts, read.gaps.stops, ticks, GREY, 0.45, "not watched", hatch="////"))
    ax.set_yticks([])
    time_axis(ax, ticks.times(np.array(ends)), ticks)
    legend_above(ax, handles)
    return ax


def _marks(ax: Axes, at: IntArray, ends: tuple[int, int], ticks: Ticks, low: float, color: str, name: str) -> Any:
    """Upright lines at some ticks, one for each column of ink; the label tells how many there are."""
    columns = (at - ends[0]).astype(np.float64) * (COLUMNS / max(ends[1] - ends[0], 1))
    drawn = at[np.unique(columns.astype(np.int64), return_index=True)[1]] if len(at) else at
    thick = float(np.clip(600 / max(len(drawn), 1), 0.7, 1.6))
    label = name if name == "does not count" else f"{name}: {len(at):,}"
    lines = ax.vlines(ticks.times(drawn), low, low + 0.38, color=color, linewidth=thick, label=label)
    lines.set_rasterized(len(drawn) > COLUMNS // 2)
    return lines


def lags(sweep: CoincidenceSweep, ax: Any = None, *, chance: Chance = "auto") -> AxesArray:
    """Draw precision and recall by lag, with what chance scores: a narrow peak at one lag, or a broad hill.

    Parameters
    ----------
    sweep : CoincidenceSweep
        From :func:`nofluke.sweep_tolerances`; ``sweep.plot()`` is the same. Where it has one lag, measures are drawn by
        tolerance.
    ax : array of matplotlib Axes, optional
        Where to draw; by default a new figure.
    chance : {"auto", "band", "none"}
        "band": a row of two panels for each tolerance, with the mean and the central 95% of chance, and dots on windows
        whose p-value is at most 0.05 after Holm's correction for all of them. "none": one row, all tolerances together,
        without chance. "auto": "band" wherever tables would show chance.

    Returns
    -------
    array of matplotlib Axes, of shape (rows, 2)
        Precision to the left, recall to the right.

    See Also
    --------
    nofluke.sweep_tolerances : makes the sweep.
    nofluke.plot.heatmap : every cell.
    nofluke.plot.lag : events shifted on steps.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> events = [12, 40, 71, 105, 160, 188]
    >>> alarms = [t + 5 for t in events]
    >>> swept = nf.sweep_tolerances(events, alarms, tolerances=[1, 2], lags=range(0, 11), span=(0, 220))
    >>> axes = nf.plot.lags(swept, Figure().subplots(2, 2))
    >>> axes[0, 0].get_title(), axes[0, 0].get_xlabel()
    ('tolerance 1', 'lag')
    """
    check_word(chance, "chance", ("auto", "band", "none"))
    check_kind("sweep", sweep, CoincidenceSweep, "nofluke.sweep_tolerances")
    banded = shows(sweep, chance)
    by_lag = len(set(sweep.moves)) > 1
    groups = groups_of(sweep) if by_lag else [("", np.arange(len(sweep.tolerances)))]
    lag = f"lag {sweep.lags[0]}" if sweep.moves[0] else ""
    lengths = np.array(sweep.moves if by_lag else _reaches(sweep), dtype=np.float64)
    values, unit = as_people_say(lengths, sweep.occurrences.ticks.is_dates)
    panels = make_panels(ax, (len(groups) if banded and by_lag else 1, 2), width=4.2, height=2.6)
    styles = styles_of(len(groups))
    for i, (width, rows) in enumerate(groups):
        rows = rows[np.argsort(values[rows], kind="stable")]
        alone = of_detector(0, 1) | {"marker": "o" if len(rows) == 1 else None, "markersize": 4}
        for panel, side in zip(panels[i if banded else 0], SIDES, strict=True):
            measure = getattr(sweep, side)[rows, 0]
            title = ""
            if banded:
                ends = (share[rows, 0] for share in chance_shares(sweep, side))
                draw_band(panel, values[rows], *ends, how=how_computed(sweep))
                title = f"tolerance {width}" if by_lag else lag
            if banded or not by_lag:
                panel.plot(values[rows], measure, **alone, label="observed")
            else:
                panel.plot(values[rows], measure, **styles[i], label=f"tolerance {width}")
            if banded:
                _significant(panel, getattr(sweep.chance, side).holm[rows, 0] <= LEVEL, values[rows], measure)
            panel.set_ylim(0, _top(sweep, side, banded))
            tidy(panel)
            few_ticks(panel)
            label(panel, ("lag" if by_lag else "tolerance") + unit, side, title=title)
    if not banded and by_lag and len(groups) > len(SERIES):
        key_of_order(panels, [style["color"] for style in styles], [width for width, _ in groups], "tolerance")
    else:
        one_legend(panels)
    return panels


def _top(sweep: CoincidenceSweep, side: str, banded: bool) -> float:
    """The height of all panels of a measure, so that they can be compared."""
    of = len(sweep.occurrences.alarms) if side == "precision" else sweep.n_events
    seen = np.nan_to_num(getattr(sweep, side)).max(initial=0.0)
    high = getattr(sweep.chance, side).high.max(initial=0) / of if banded and of else 0.0
    return float(min(max(1.1 * max(seen, high), 0.01), 1.02))


def groups_of(sweep: CoincidenceSweep) -> list[tuple[str, IntArray]]:
    """The windows of each tolerance, which may have come more than once in other words."""
    names = np.array([width.removesuffix(".0") for width in sweep.widths])
    return [(name, np.flatnonzero(names == name)) for name in dict.fromkeys(names.tolist())]


def _reaches(sweep: CoincidenceSweep) -> list[float]:
    """How far each tolerance reaches to its longer side, without the lag."""
    sides: list[tuple[Any, Any]] = [(width.early, width.late) for width in without_lags(sweep)]
    return [float(max(early, late)) for early, late in sides]


def without_lags(sweep: CoincidenceSweep) -> tuple[Tolerance, ...]:
    """The tolerances before the lags moved them."""
    return tuple(w.by(-move) if move else w for w, move in zip(sweep.tolerances, sweep.moves, strict=True))


def _significant(ax: Axes, which: BoolArray, at: FloatArray, measure: AnyArray) -> None:
    """Dots on what stays significant; no entry in the legend where nothing does."""
    if which.any():
        name = f"p ≤ {LEVEL:g}, corrected (Holm)"
        ax.plot(at[which], measure[which], "o", color=colour("observed"), markersize=5, label=name)
