"""The timeline: score and threshold, which events were found, and which predictions were hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, FloatArray
from nofluke.plot.style import MOST_DRAWN, PALETTE, make_axes, shade, tidy
from nofluke.series.alarms import AlarmRule, CountAlarms
from nofluke.series.between import trial_of
from nofluke.series.counting import within
from nofluke.series.labels import HigherIs, Missing, TruthKind
from nofluke.series.marks import event_reaches
from nofluke.series.ranges import Overlaps
from nofluke.series.reading import Sequence, prepare
from nofluke.series.thresholds import choose_cut
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents
from nofluke.text.tables import show_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_POINTS = 20_000  # above, the score is thinned: no screen has as many columns


def timeline(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    threshold: float | None = None,
    quantile: float | None = None,
    budget: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    times: Any = None,
    mask: Any = None,
    warmup: Length | None = None,
    truth_as: TruthKind = "auto",
    higher_is: HigherIs = "anomalous",
    count_alarms: CountAlarms | None = None,
    refractory: Length | None = None,
    missing: Missing = "error",
    count_events: CountEvents | None = None,
    overlaps: Overlaps = "error",
    ax: Axes | None = None,
) -> Axes:
    """Draw score and threshold over time, which events were found, and which predictions were hits.

    Parameters
    ----------
    truth, scores, predictions, threshold, quantile, budget, tolerance, times, mask, warmup, truth_as, higher_is,
    count_alarms, refractory, missing, count_events, overlaps
        As in :func:`nofluke.evaluate`, and counted in the same way.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The legend has the counts. Steps near an event are shaded where there are few enough steps to see them, steps
        left out are grey. Where alarms count as episodes, all steps of one that is a hit are. The score is not drawn
        across gaps in the times. Events between two steps stand at their own times. A long score is thinned to the smallest and the largest value of each stretch.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> ax = nf.plot.timeline([0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0], threshold=1, tolerance=1, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][-4:]
    ['events found: 1', 'events missed: 1', 'predictions that are hits: 1', 'false alarms: 0']
    """
    sequence = prepare(
        truth,
        scores,
        predictions=predictions,
        times=times,
        mask=mask,
        truth_as=truth_as,
        missing=missing,
        count_events=count_events,
        overlaps=overlaps,
        warmup=warmup,
        higher_is=higher_is,
    )
    window = as_tolerance(tolerance)
    cuts = choose_cut(sequence, threshold, quantile, budget)
    cell = trial_of(sequence, (window,), cuts, AlarmRule.of(count_alarms, refractory)).trial.cell(0, 0)
    cut = cell.threshold
    steps = len(sequence.truth)
    alarms, near_event = (np.zeros(steps, dtype=np.bool_) for _ in range(2))
    alarms[sequence.open_steps], near_event[sequence.open_steps] = _alarms_and_near(cell)
    hits = alarms & near_event
    if cell.trial.count_alarms == "episodes":
        of_episode = np.cumsum(np.diff(np.flatnonzero(alarms[sequence.open_steps]), prepend=-2) > 1)
        hits[alarms] = np.isin(of_episode, of_episode[hits[alarms]])

    ax = make_axes(ax, (9, 3.2))
    when = _when(sequence)
    across = ax.get_xaxis_transform()  # lanes stand at fixed heights, whatever the scores are
    if isinstance(cell, TimedCell) and len(cell.truth.at) and steps <= 400:
        shade(ax, *event_reaches(cell), cell.trial.watch.ticks, "#999999", 0.25, "near an event")
    elif steps <= 400 and sequence.n_events:
        ax.fill_between(
            when,
            0,
            1,
            where=near_event,
            step="mid",
            transform=across,
            color="#999999",
            alpha=0.25,
            linewidth=0,
            label="near a range" if sequence.spans is not None else "near an event",
        )
    if not sequence.open_steps.all():
        left_out = ~sequence.open_steps
        ax.fill_between(when, 0, 0.04, where=left_out, step="mid", transform=across, color="#999999", label="left out")
    if sequence.scores is not None and cut is not None:
        gaps = np.zeros(0, dtype=np.int64) if sequence.clock is None else sequence.clock.gaps
        _draw_scores(ax, when, np.where(sequence.open_steps, sequence.scores, np.nan), cut, gaps)
        ax.set_ylabel("score")
    else:
        ax.set_yticks([])
    begins, ends = _extents(cell, sequence, when)
    noun, found = cell.truth.noun, cell.found
    lanes = (
        (f"{noun}s found", begins[found], 0.97, "v", "good"),
        (f"{noun}s missed", begins[~found], 0.92, "x", "bad"),
        ("predictions that are hits", when[hits], 0.86, "|", "good"),
        ("false alarms", when[alarms & ~hits], 0.81, "|", "bad"),
    )
    if noun == "range":  # from begin to end, one line a range
        for which, (_, _, height, _, meaning) in zip((found, ~found), lanes, strict=False):
            ax.hlines(
                np.full(int(which.sum()), height),
                begins[which],
                ends[which],
                transform=across,
                color=PALETTE[meaning],
                linewidth=3,
            )
    told = (None, None, cell.precision_hits, cell.n_predictions - cell.precision_hits)
    for (name, at, height, marker, meaning), count in zip(lanes, told, strict=True):
        ax.plot(
            at,
            np.full(len(at), height),
            linestyle="none",
            marker=marker,
            markersize=6 if marker == "|" else 4,
            color=PALETTE[meaning],
            transform=across,
            label=f"{name}: {len(at) if count is None else count:,}",
        )
    if steps > 1:
        ax.set_xlim(when[0], when[-1])
    ax.set_xlabel("step" if sequence.clock is None else "time")
    tidy(ax, grid=False)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize="small")
    return ax


def _alarms_and_near(cell: Cell) -> tuple[BoolArray, BoolArray]:
    """Of the steps that count, which are predicted, and on which a prediction would be a hit."""
    if not isinstance(cell, TimedCell):
        return cell.alarm_flags, cell.trial.near_flags(0)
    alarms = np.zeros(len(cell.trial.at), dtype=np.bool_)
    alarms[cell.trial.chosen(cell.k)] = True
    return alarms, within(cell.truth.starts, cell.trial.alarm_windows[0]) > 0


def _draw_scores(ax: Axes, when: npt.NDArray[Any], scores: FloatArray, cut: float, gaps: npt.NDArray[np.int64]) -> None:
    kept = _thinned(scores)
    label = f"threshold {show_number(cut)}"
    finite = np.isfinite(cut)
    scores, cut = np.clip(scores, -MOST_DRAWN, MOST_DRAWN), float(np.clip(cut, -MOST_DRAWN, MOST_DRAWN))
    broken = np.searchsorted(kept, gaps, side="right")  # nothing, drawn behind the last step before a gap
    ax.plot(
        np.insert(when[kept], broken, when[gaps]),
        np.insert(scores[kept], broken, np.nan),
        color=PALETTE["ink"],
        linewidth=0.7,
        label="score",
    )
    ax.axhline(cut, color=PALETTE["ink"], linestyle="--", linewidth=1, label=label)
    seen = np.append(scores[~np.isnan(scores)], cut if finite else [])
    low, high = float(seen.min()), float(seen.max())
    # an axis must be long enough for floats of its size to differ
    room = max(high - low, 1e-9 * max(abs(low), abs(high))) or 1.0
    ax.set_ylim(low - 0.05 * room, low + room / 0.72)  # the upper quarter is for the lanes


def _thinned(scores: FloatArray) -> npt.NDArray[np.int64]:
    """Positions of the smallest and the largest score of each stretch; all of a short sequence."""
    n = len(scores)
    if n <= MOST_POINTS:
        return np.arange(n)
    stretches = np.array_split(np.arange(n), MOST_POINTS // 2)
    # NaN are left out: a stretch of nothing else keeps its first, so that the gap stays a gap
    low, high = np.where(np.isnan(scores), np.inf, scores), np.where(np.isnan(scores), -np.inf, scores)
    ends = [s[0] + int(np.argmin(low[s])) for s in stretches] + [s[0] + int(np.argmax(high[s])) for s in stretches]
    return np.unique(np.array(ends, dtype=np.int64))


def _extents(cell: Cell, sequence: Sequence, when: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Where each event begins and ends on the timeline's axis: its own ends on a clock, else its first and last step."""
    truth, clock = cell.truth, sequence.clock
    if isinstance(cell, TimedCell):
        own = cell.trial.watch.ticks.times(cell.truth.at)
        return own, own
    if truth.begins is not None and truth.ends is not None and clock is not None:
        unit = f"datetime64[{clock.unit}]" if clock.is_dates else clock.ticks.dtype
        return np.maximum(truth.begins, clock.ticks[0]).astype(unit), np.minimum(truth.ends, clock.end).astype(unit)
    at = when[sequence.open_steps]
    return at[truth.starts], at[truth.stops - 1]


def _when(sequence: Sequence) -> npt.NDArray[Any]:
    """What the timeline's axis shows: dates, the clock's numbers, or steps."""
    clock = sequence.clock
    if clock is None:
        return np.arange(len(sequence.truth))
    return clock.ticks.astype(f"datetime64[{clock.unit}]") if clock.is_dates else clock.ticks
