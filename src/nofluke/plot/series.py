"""The timeline of one or several detectors: score and threshold, events found or missed, hits and false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from nofluke.arrays import AnyArray, BoolArray, FloatArray
from nofluke.errors import THINGS, InputError, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.plot.marks import Marks, marks_of, names_of_lanes
from nofluke.plot.panels import legend_above, make_axes, make_room, short
from nofluke.plot.style import GREY, LETTER, MOST_DRAWN, colour, few_ticks, inches, ink, label, shade, tidy, time_axis
from nofluke.plot.times import coincidence, events_alone
from nofluke.ratios import divide
from nofluke.series.arguments import About, AboutDetector, takes
from nofluke.series.between import trial_of
from nofluke.series.detector import AlarmRule, choose_cut
from nofluke.series.names import Names
from nofluke.series.occurrences import Occurrences
from nofluke.series.reading import Sequence, prepare
from nofluke.series.timed import TimedCell, event_reaches
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.text.numbers import show_chance
from nofluke.text.tables import show_number, show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ---- where events and alarms stand on the axis of a timeline


def when_of(sequence: Sequence) -> AnyArray:
    """What the timeline's axis shows: dates, the clock's numbers, or steps."""
    clock = sequence.clock
    if clock is None:
        return np.arange(len(sequence.truth))
    return clock.ticks.astype(f"datetime64[{clock.unit}]") if clock.is_dates else clock.ticks


def placed_marks(sequence: Sequence, cell: Cell) -> Marks:
    """The marks of a cell on that axis: events at their own times where there is a clock, else on steps."""
    marks = marks_of(cell)

    def on_steps(cell: Cell) -> Marks:
        truth, clock, when = cell.truth, sequence.clock, when_of(sequence)
        begins, ends = when[marks.begins], when[marks.ends]
        if truth.begins is not None and truth.ends is not None and clock is not None:
            begins, ends = np.maximum(truth.begins, clock.ticks[0]), np.minimum(truth.ends, clock.end)
            unit = f"datetime64[{clock.unit}]" if clock.is_dates else clock.ticks.dtype
            begins, ends = begins.astype(unit), ends.astype(unit)
        return replace(marks, begins=begins, ends=ends, alarms=when[marks.alarms])

    def in_time(cell: TimedCell) -> Marks:
        times = cell.trial.watch.ticks.times
        return replace(marks, begins=times(marks.begins), ends=times(marks.ends), alarms=times(marks.alarms))

    return cell.by_axis(steps=on_steps, ticks=in_time)


# ---- several detectors on one timeline: a row each, with events found and missed, hits and false alarms

LANES = ((0.30, "v", "good"), (0.10, "x", "bad"), (-0.12, "|", "good"), (-0.32, "|", "bad"))  # above a row's middle
LONGEST = 14  # letters of a name


def several_lanes(results: Mapping[str, Evaluation], ax: Axes | None) -> Axes:
    """A row for each result, from above; beside it recall and what chance finds."""
    axes = [_ends(one) for one in results.values()]
    kinds = {
        (ends.dtype.kind == "M", isinstance(one, Coincidence)) for ends, one in zip(axes, results.values(), strict=True)
    }
    if len(kinds) > 1:
        raise InputError(
            argument="truth",
            problem="has results on different axes",
            remedy="pass results for one series, on steps or on the same clock",
        )
    marks = [placed_marks(one.sequence, one.cell) for one in results.values()]
    ax = make_axes(ax, (9, 1.2 + 0.6 * len(marks)))
    rows = np.arange(len(marks))[::-1]
    leading = next(iter(results.values()))
    names = leading.names.all_said(names_of_lanes(leading.cell.truth.noun))
    handles = []
    for name, (above, marker, meaning), *at in zip(names, LANES, *(one.lanes for one in marks), strict=True):
        heights = np.repeat(rows + above, [len(one) for one in at])
        how: dict[str, Any] = {"marker": marker, "markersize": 5 if marker == "|" else 3.5, "color": colour(meaning)}
        handles += ax.plot(np.concatenate(at), heights, linestyle="none", **how, label=name)
    for row in rows[:-1]:
        ax.axhline(row - 0.5, color=ink(), alpha=0.25, linewidth=0.6)
    ax.set_ylim(-0.5, len(marks) - 0.5)
    time_axis(ax, np.concatenate(axes), getattr(leading.sequence, "clock", getattr(leading.sequence, "ticks", None)))
    size = float(np.clip(72 * inches(ax)[1] / len(marks) / 4, 4.5, 8))
    told = [f"{short(name, LONGEST)}\n{_beside_chance(one)}" for name, one in results.items()]
    ax.set_yticks(rows, told, fontsize=size)
    make_room(ax, left=LONGEST * LETTER * size / 72 + 0.1)
    legend_above(ax, handles, loc="lower right")
    return ax


def _ends(result: Evaluation) -> AnyArray:
    """Both ends of the axis of a result's timeline."""
    if isinstance(result, Coincidence):
        return result.sequence.ticks.times(np.array([result.sequence.first, result.sequence.last]))
    return when_of(result.sequence)[[0, -1]]


def _beside_chance(result: Evaluation) -> str:
    test = result.recall_test
    return f"recall {show_share(test.value)}\nchance {show_share(divide(test.expected, test.of))}"


# ---- the timeline of one or several detectors: score and threshold, events found or missed

ABOVE = ((0.97, "v", "good"), (0.92, "x", "bad"), (0.86, "|", "good"), (0.81, "|", "bad"))  # the score: lanes
FEW_STEPS = 400  # up to which one sees which are near an event
MOST_POINTS = 20_000  # above, the score is thinned: no screen has as many columns


@takes(AboutDetector, like="evaluate")
def timeline(
    truth: Any,
    scores: Any = None,
    *,
    tolerance: Length | Tolerance = 0,
    ax: Axes | None = None,
    **about: Unpack[AboutDetector],
) -> Axes:
    """Draw score and threshold over time, which events were found, and which predictions were hits.

    Parameters
    ----------
    truth : Evaluation, mapping of str to Evaluation, or events
        A result of :func:`nofluke.evaluate` or :func:`nofluke.coincidence`, with no other argument but ``ax``
        (``result.plot_times()`` is the same); several results by detector name, one row each; or the events, as
        :func:`nofluke.evaluate` takes them.
    scores, tolerance
        As in :func:`nofluke.evaluate`, and counted in the same way.
    <about>
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The legend has the counts and, for a result, what chance scores. Steps near an event are shaded where there are
        few enough steps to see them, steps left out are grey. Where alarms count as episodes, all steps of a hit are
        hits. The score is not drawn across gaps in the times. Events between two steps are drawn at their own times. A
        long score is thinned to the smallest and the largest value of each stretch.

    See Also
    --------
    nofluke.evaluate : makes the result.
    nofluke.plot.coincidence : the same for two lists of times.
    nofluke.plot.evaluation : the hits against chance.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> ax = nf.plot.timeline([0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0], threshold=1, tolerance=1, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][-4:]
    ['events found: 1', 'events missed: 1', 'predictions that are hits: 1', 'false alarms: 0']
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0], threshold=1, tolerance=1)
    >>> ax = nf.plot.timeline(result, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][3]
    'events found: 1 (chance 1.00 ± 0.58)'
    >>> ax = nf.plot.timeline({"first": result, "second": result}, ax=Figure().subplots())
    """
    results = list(truth.values()) if isinstance(truth, Mapping) else [truth]
    if results and all(isinstance(one, Evaluation) for one in results):
        others = {"scores": scores, "tolerance": tolerance or None, **about}
        if extra := [name for name, value in others.items() if value is not None]:
            raise InputError(
                argument="truth",
                problem=f"is a result, which has its {extra[0]} already",
                remedy="pass it alone, or the events themselves",
            )
        if isinstance(truth, Mapping):
            return several_lanes(truth, ax)
        return (
            coincidence(truth, ax) if isinstance(truth, Coincidence) else _draw(truth.sequence, truth.cell, ax, truth)
        )
    given = About.of(about)
    sequence = prepare(truth, scores, **given.reading)
    window = as_tolerance(tolerance)
    cuts = choose_cut(sequence, **given.cut)
    made = trial_of(sequence, (window,), cuts, AlarmRule.of(**given.alarms))
    return _draw(sequence, made.trial.cell(0, 0), ax, None)


def labelled(read: Sequence | Occurrences, ax: Axes | None = None) -> Axes:
    """The events of a series over time, and what of it does not count."""
    if isinstance(read, Occurrences):
        return events_alone(read, ax)
    ax = make_axes(ax, (9, 1.6))
    ax.set_ylim(0, 1)
    ax.set_yticks([])
    when = when_of(read)
    name = read.names.said(say("{}: {:,}", THINGS["events" if read.spans is None else "ranges"], read.n_events))
    flat: dict[str, Any] = {"step": "mid", "linewidth": 0}
    ax.fill_between(when, 0.3, 0.7, where=read.truth, color=ink(), label=name, **flat)
    alone = np.flatnonzero(read.truth)
    if len(alone) <= FEW_STEPS:  # a step may be thinner than ink
        ax.vlines(when[alone], 0.3, 0.7, color=ink(), linewidth=0.7)
    if not read.open_steps.all():
        ax.fill_between(when, 0, 1, where=~read.open_steps, color=GREY, alpha=0.45, label="left out", **flat)
    time_axis(ax, when, read.clock)
    legend_above(ax)
    return ax


def _draw(sequence: Sequence, cell: Cell, ax: Axes | None, result: Evaluation | None) -> Axes:
    """One cell of a sequence; beside the counts of a result stands what chance scores."""
    ax = make_axes(ax, (9, 3.2))
    marks, cut, when = placed_marks(sequence, cell), cell.threshold, when_of(sequence)
    across = ax.get_xaxis_transform()  # lanes stand at fixed heights, whatever the scores are
    grey: dict[str, Any] = {"step": "mid", "transform": across, "color": GREY, "linewidth": 0}
    near = sequence.names.said(say("near {a_range}" if sequence.spans is not None else "near {an_event}"))
    if len(when) <= FEW_STEPS and cell.n_events:
        cell.by_axis(
            steps=lambda cell: ax.fill_between(when, 0, 1, where=_near(sequence, cell), alpha=0.25, label=near, **grey),
            ticks=lambda cell: shade(ax, *event_reaches(cell), cell.trial.watch.ticks, GREY, 0.25, near),
        )
    if not sequence.open_steps.all():
        ax.fill_between(when, 0, 0.04, where=~sequence.open_steps, label="left out", **grey)
    if sequence.scores is not None and cut is not None:
        gaps = np.zeros(0, dtype=np.int64) if sequence.clock is None else sequence.clock.gaps
        _draw_scores(ax, when, np.where(sequence.open_steps, sequence.scores, np.nan), cut, gaps)
        tidy(ax, grid=False)
        few_ticks(ax, which="y")
        label(ax, y="score")
    else:
        ax.set_yticks([])
    _draw_lanes(ax, marks, cell, result, sequence.names)
    time_axis(ax, when, sequence.clock)
    legend_above(ax)
    return ax


def _near(sequence: Sequence, cell: Cell) -> BoolArray:
    """On which steps an alarm would be a hit."""
    near = np.zeros(len(sequence.truth), dtype=np.bool_)
    near[sequence.open_steps] = cell.trial.near_flags(cell.d)
    return near


def _draw_lanes(ax: Axes, marks: Marks, cell: Cell, result: Evaluation | None, names: Names) -> None:
    """Events found and missed, hits and false alarms, above the score."""
    across, noun, found = ax.get_xaxis_transform(), cell.truth.noun, marks.found
    if noun == "range":  # from begin to end, one line a range
        for which, (height, _, meaning) in zip((found, ~found), ABOVE, strict=False):
            heights = np.full(int(which.sum()), height)
            how: dict[str, Any] = {"transform": across, "color": colour(meaning), "linewidth": 3}
            ax.hlines(heights, marks.begins[which], marks.ends[which], **how)
    told = (None, None, cell.precision_hits, cell.n_predictions - cell.precision_hits)
    tests = (None, None, None, None) if result is None else (result.recall_test, None, result.precision_test, None)
    words = names.all_said(names_of_lanes(noun, "predictions"))
    for name, at, (height, marker, meaning), count, test in zip(words, marks.lanes, ABOVE, told, tests, strict=True):
        chance = "" if test is None else f" (chance {show_chance(test.expected, test.std)})"
        ax.plot(
            at,
            np.full(len(at), height),
            linestyle="none",
            marker=marker,
            markersize=6 if marker == "|" else 4,
            color=colour(meaning),
            transform=across,
            label=f"{name}: {len(at) if count is None else count:,}{chance}",
        )


def _draw_scores(ax: Axes, when: npt.NDArray[Any], scores: FloatArray, cut: float, gaps: npt.NDArray[np.int64]) -> None:
    kept = _thinned(scores)
    name = f"threshold {show_number(cut)}"
    finite = np.isfinite(cut)
    scores, cut = np.clip(scores, -MOST_DRAWN, MOST_DRAWN), float(np.clip(cut, -MOST_DRAWN, MOST_DRAWN))
    broken = np.searchsorted(kept, gaps, side="right")  # nothing, drawn behind the last step before a gap
    ax.plot(
        np.insert(when[kept], broken, when[gaps]),
        np.insert(scores[kept], broken, np.nan),
        color=ink(),
        linewidth=0.7,
        label="score",
    )
    ax.axhline(cut, color=ink(), linestyle="--", linewidth=1, label=name)
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
