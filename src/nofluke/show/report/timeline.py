"""The timeline of a report: every step, its score, how many thresholds it reaches (its level), and what it finds.

That is all it takes to tell hits from false alarms and found events from missed ones at every position of the sliders:
at the k-th threshold those steps are alarms whose level is above k, and an event is found if one of its steps is an
alarm. The page looks this up, step by step, so that nothing is merged before it is drawn.

Times are told as ticks since the first one: whole numbers, in which differences are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.inference.evaluate import Evaluation
from nofluke.plot.style import MOST_DRAWN
from nofluke.series.clock import Clock, rounding
from nofluke.series.timed import TimedTrial
from nofluke.series.trial import Trial
from nofluke.show.report.grid import Grid
from nofluke.show.report.in_time import at_own_times, axis_of_times, counted_in_time, first_tick, reach_of, writing_of
from nofluke.show.report.packing import packed, packed_ascending

# ---- the scores of a timeline: as they are, or, if many


MOST_EXACT = 100_000
CODES = 65_535  # of 16 bits; the last one is for a score that is missing
LEAST_CODES = 256  # of the scores between two thresholds, however close these are


def scores_of(scores: FloatArray, thresholds: FloatArray) -> dict[str, Any]:
    """Scores, higher ones anomalous, for a page to draw; NaN is a score that is missing.

    Scores between two thresholds have codes of their own, which stand for values from the smallest to the largest of
    these very scores at equal distances. So a rounded score is on its own side of every threshold, and all extremes are
    exact.
    """
    if len(scores) <= MOST_EXACT:
        return {"exact": packed(scores.astype(np.float64))}
    drawn = np.clip(scores, -MOST_DRAWN, MOST_DRAWN)
    missing = np.isnan(drawn)
    band = np.searchsorted(thresholds, scores, side="right")
    band[missing] = -1
    numbers, of = np.unique(band[~missing], return_inverse=True)
    values = drawn[~missing]
    low, high = np.full(len(numbers), np.inf), np.full(len(numbers), -np.inf)
    np.minimum.at(low, of, values)
    np.maximum.at(high, of, values)
    counts = _codes(high / 4 - low / 4)  # quarters: a difference of two large floats may be none
    first = np.cumsum(counts) - counts
    wide = np.where(high > low, high / 4 - low / 4, 1.0)
    place = (values / 4 - low[of] / 4) / wide[of] * (counts[of] - 1)
    codes = np.full(len(drawn), CODES, dtype=np.uint16)
    codes[~missing] = first[of] + np.rint(place).astype(np.int64)
    bands = [[float(a), float(b), int(n)] for a, b, n in zip(low, high, counts, strict=True)]
    return {"codes": packed(codes), "bands": bands}


def _codes(widths: FloatArray) -> Any:
    """How many codes each band has: some, and of the others its share of the whole width."""
    spare = CODES - LEAST_CODES * len(widths)
    share = widths / widths.sum() if widths.sum() > 0 else np.full(len(widths), 1 / max(len(widths), 1))
    return LEAST_CODES + np.floor(share * spare).astype(np.int64)


# ---- the timeline of a report: every step, its score, how many thresholds it reaches (its level)


def timeline(result: Evaluation, grid: Grid) -> dict[str, Any]:
    """All steps of a sequence, or both lists of times, packed for a page."""
    trial = grid.trial
    own = at_own_times(result, trial)
    axis = trial.by_axis(
        steps=lambda _: _axis_of_steps(result, grid),
        ticks=lambda trial: axis_of_times(result, trial) if own else _axis_of_steps(result, grid),
    )
    return {
        "episodes": trial.count_alarms == "episodes",
        "events": _events(result, trial),
        "finders": _finders(result, trial),
        "counted": trial.by_axis(steps=lambda _: None, ticks=counted_in_time),
        "windows": [reach_of(tolerance) for tolerance in trial.tolerances],
        **axis,
    }


def _axis_of_steps(result: Evaluation, grid: Grid) -> dict[str, Any]:
    """The steps: when they are, which of them count, their scores and levels."""
    sequence, clock = result.sequence, result.sequence.clock
    n, is_open = len(sequence.truth), sequence.open_steps
    levels = np.zeros(n, dtype=np.int64)  # the page shows all steps, closed ones too
    levels[is_open] = grid.trial.levels
    return {
        "n": n,
        "points": False,
        "x": {**_axis(clock, step_times(result)), **writing_of(grid.trial, clock)},
        "gaps": [] if clock is None else (clock.gaps + 1).tolist(),
        "sign": sequence.sign,
        "scores": None if sequence.scores is None else scores_of(sequence.sign * sequence.scores, grid.thresholds),
        "levels": packed(levels),
        "closed": None if is_open.all() else packed(~is_open),
    }


def step_times(result: Evaluation) -> AnyArray:
    """Ticks since the first step; steps are their own time where there is no clock."""
    clock = result.sequence.clock
    return np.arange(len(result.sequence.truth)) if clock is None else elapsed(clock, clock.ticks)


def elapsed(clock: Clock, ticks: AnyArray) -> AnyArray:
    """Ticks since the first step, of a clock of dates or whole numbers; else the clock's unit."""
    if clock.ticks.dtype.kind == "i" and ticks.dtype.kind == "i":
        # modulo 2**64, and read with a sign: right for up to 2**63 ticks to both sides
        return (ticks.view(np.uint64) - clock.ticks[:1].view(np.uint64)).view(np.int64)
    return np.asarray(ticks - float(clock.ticks[0]), dtype=np.float64)


def _axis(clock: Clock | None, times: AnyArray) -> dict[str, Any]:
    """How ticks become places on the axis: step numbers, milliseconds since 1970, or the clock's own numbers."""
    if clock is None:
        return {"kind": "steps", "first": 0, "scale": 1, "step": 1, "each": None, "per_unit": 1, "slack": 0}
    scale = clock.tick_size / 1e6 if clock.is_dates else 1.0
    between = np.diff(times)
    regular = len(between) > 0 and clock.ticks.dtype.kind == "i" and bool((between == between[0]).all())
    return {
        "kind": "dates" if clock.is_dates else "clock",
        "first": float(clock.ticks[0]) * scale,
        "scale": scale,
        "step": float(between[0]) if regular else clock.step,
        "each": None if regular else packed_ascending(times),
        "per_unit": 10**9 // clock.tick_size if clock.is_dates else 1,
        "slack": rounding(clock.ticks),
    }


def _events(result: Evaluation, trial: Trial) -> dict[str, Any]:
    """When events begin and end, and, on steps, the first and the last step of each."""
    truth = trial.truth
    begin, end = event_times(result, trial)
    made: dict[str, Any] = {"n": truth.n, "begin": packed_ascending(begin), "end": packed_ascending(end)}
    if truth.in_time:
        return {**made, "first": None, "last": None, "steps": None, "delay": "nearest"}
    first, last = event_steps(trial)
    nearest = truth.count_events == "steps" and truth.points
    return {
        **made,
        "first": packed_ascending(first),
        "last": packed_ascending(last),
        "steps": packed(truth.stops - truth.starts) if truth.count_events == "ranges" else None,
        "delay": "nearest" if nearest else "first",
    }


def event_times(result: Evaluation, trial: Trial) -> tuple[AnyArray, AnyArray]:
    """Begin and end of each event, in ticks since the first step, or since the first time of two lists."""

    def on_steps(trial: Trial) -> tuple[AnyArray, AnyArray]:
        truth, clock = trial.truth, result.sequence.clock
        if truth.begins is not None and truth.ends is not None and clock is not None:
            return elapsed(clock, truth.begins), elapsed(clock, truth.ends)
        times, steps = step_times(result), event_steps(trial)
        return times[steps[0]], times[steps[1]]

    def in_time(trial: TimedTrial) -> tuple[AnyArray, AnyArray]:
        since = at_own_times(result, trial)
        own = trial.truth.at - first_tick(trial) if since else _since_first_step(result.sequence.clock, trial)
        return own, own

    return trial.by_axis(steps=on_steps, ticks=in_time)


def _since_first_step(clock: Clock | None, trial: TimedTrial) -> FloatArray:
    """Events between steps, in ticks of the clock."""
    times = trial.watch.ticks.times(trial.truth.at)
    if clock is None or not clock.is_dates:
        return np.asarray(times, dtype=np.float64) - (0.0 if clock is None else float(clock.ticks[0]))
    first = clock.ticks[:1].astype(f"datetime64[{clock.unit}]")
    return np.asarray((times - first) / np.timedelta64(1, clock.unit))  # type: ignore[call-overload]


def event_steps(trial: Trial) -> tuple[IntArray, IntArray]:
    """First and last step of each event, among all steps; one between two steps is drawn on the earlier one."""
    truth, at = trial.truth, np.flatnonzero(trial.truth.open_steps)
    return at[truth.first_steps], at[truth.last_steps]


def _finders(result: Evaluation, trial: Trial) -> dict[str, Any]:
    """First step that finds each event, by tolerance, relative to the first tolerance; and how many follow."""
    n_points = len(trial.detector)
    steps = np.arange(n_points) if at_own_times(result, trial) else np.flatnonzero(result.sequence.open_steps)
    everywhere = np.append(steps, steps[-1] + 1 if n_points else 0)
    starts, lengths = [], []
    for d in range(len(trial.tolerances)):
        ranges = trial.finders(d)
        some = ranges.stops > ranges.starts
        first = everywhere[np.minimum(ranges.starts, n_points)]
        last = everywhere[np.where(some, ranges.stops - 1, 0)]
        starts.append(first)
        lengths.append(np.where(some, last + 1 - first, 0))
    base = starts[0]
    return {
        "base": packed_ascending(base),
        "starts": packed(np.concatenate([start - base for start in starts])),
        "lengths": packed(np.concatenate(lengths)),
    }
