"""The timeline of a report, and its table of events and false alarms.

Every step has its score and its level, which is how many thresholds it reaches, and every event the steps that find it.
That is all it takes to tell hits from false alarms and found events from missed ones at every position of the sliders:
at the k-th threshold those steps are alarms whose level is above k, and an event is found if one of its steps is an
alarm. The page looks this up, step by step, so that nothing is merged before it is drawn.

Times are told as ticks since the first one: whole numbers, in which differences are exact.
"""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.dates import NANOSECONDS
from nofluke.errors import THINGS, Unlike, Words, joined, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.measures.delays import show_time
from nofluke.plot.style import MOST_DRAWN
from nofluke.series.clock import Clock, Zone, rounding
from nofluke.series.counting import largest_within, runs
from nofluke.series.ticks import Ticks
from nofluke.series.timed import TimedTrial
from nofluke.series.tolerance import Ranges, Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.show.kit import FALSE
from nofluke.show.kit.figure import ahead_in
from nofluke.show.report.grid import Grid

# ---- long columns of numbers as short text: the smallest type, deflated, in base64, for a page to unpack

TYPES = {"u8": "|u1", "i8": "|i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "f64": "<f8"}


def packed(values: AnyArray) -> dict[str, Any]:
    """Numbers of any type: whole ones lose nothing unless they are beyond 2**53.

    >>> packed(np.array([1, 2, 300]))["kind"], packed(np.array([1, -2]))["kind"], packed(np.array([True]))["kind"]
    ('u16', 'i8', 'u8')
    """
    kind = "f64" if values.dtype.kind == "f" else _smallest(values)
    data = np.ascontiguousarray(values, dtype=TYPES[kind])
    # all first bytes, then all second ones: the higher bytes of neighbours are alike
    planes = data.view(np.uint8).reshape(len(data), data.itemsize).T.tobytes()
    return {"kind": kind, "z": base64.b64encode(zlib.compress(planes, 9)).decode("ascii")}


def packed_ascending(values: AnyArray) -> dict[str, Any]:
    """Ascending whole numbers by their differences, which are small and alike; floats as they are."""
    if values.dtype.kind == "f" or len(values) == 0:
        return packed(values)
    return {**packed(np.diff(values, prepend=values[:1])), "from": int(values[0])}


def _smallest(values: AnyArray) -> str:
    """The first of the types that holds all values."""
    if len(values) == 0 or values.dtype.kind == "b":
        return "u8"
    low, high = int(values.min()), int(values.max())
    limits = {kind: np.iinfo(dtype) for kind, dtype in TYPES.items() if kind != "f64"}
    return next((kind for kind, limit in limits.items() if limit.min <= low and high <= limit.max), "f64")


# ---- two lists of times: both lists, what counts at each slider position, and the format of dates

MOST_GAPS = 1_000
LEAST_VIEW = 8  # ticks
DIGITS = {
    "day": 86_400 * 10**9,
    "minute": 60 * 10**9,
    "second": 10**9,
    "millisecond": 10**6,
    "microsecond": 10**3,
    "nanosecond": 1,
}


def at_own_times(result: Evaluation, trial: Trial) -> bool:
    """Whether alarms are at times of their own, and not on steps."""
    return trial.in_time and getattr(result.sequence, "alarm_instants", ()) is not None


def first_tick(trial: TimedTrial) -> int:
    """The first tick of both lists and of the watched time."""
    return min(int(ticks.min()) for ticks in (trial.at, trial.truth.at, trial.watch.starts) if len(ticks))


def axis_of_times(result: Evaluation, trial: TimedTrial) -> dict[str, Any]:
    """The alarms; the span, and when nobody watched."""
    ticks, watch, first = trial.watch.ticks, trial.watch, first_tick(trial)
    if isinstance(result, Coincidence):
        ends, gaps = (result.sequence.first, result.sequence.last), result.sequence.gaps
    else:
        ends, gaps = (watch.starts[0], watch.stops[-1] - 1), Ranges(starts=watch.stops[:-1], stops=watch.starts[1:])
    return {
        "n": len(trial.at),
        "points": True,
        "x": {
            "kind": "dates" if ticks.is_dates else "clock",
            "first": float(on_axis(np.array([first]), ticks)[0]),
            "scale": float(ticks.raw) * _axis_scale(ticks),
            "step": 1,
            "each": packed_ascending(trial.at - first),
            "per_unit": float((10**9 if ticks.is_dates else 1) / ticks.size),
            "slack": 0,
            **writing_of(trial, None),
        },
        "span": on_axis(np.array(ends), ticks).tolist(),
        "least": LEAST_VIEW * float(ticks.raw) * _axis_scale(ticks),
        "away": _away(gaps, ticks),
        "gaps": [],
        "sign": 1,
        "scores": None,
        "levels": packed(np.ones(len(trial.at), dtype=np.uint8)),
        "closed": None,
    }


def counted_in_time(trial: TimedTrial) -> dict[str, Any] | None:
    """Where not all count: whether each event and each time of the detector does, by tolerance."""
    if trial.edges == "zero":
        return None
    cells = [trial.cell(d, 0) for d in range(len(trial.tolerances))]
    return {
        "events": packed(np.concatenate([cell.counts for cell in cells])),
        "alarms": packed(np.concatenate([cell.alarms_counted for cell in cells])),
    }


def writing_of(trial: Trial, clock: Clock | None) -> dict[str, Any]:
    """How finely to write the dates of steps and of events, and in which zone; empty without dates."""

    def of_steps(trial: Trial) -> list[Clock]:
        ends = [own for own in (trial.truth.begins, trial.truth.ends) if own is not None]
        return [] if clock is None else [replace(clock, ticks=own) for own in ends]

    def of_ticks(trial: TimedTrial) -> list[Clock]:
        ticks, at = trial.watch.ticks, np.concatenate([trial.truth.at, trial.at])
        dates = ticks.times(at).astype(np.int64) if ticks.is_dates else None
        return [] if dates is None else [Clock(ticks=dates, unit=ticks.unit, aware=ticks.aware, zone=ticks.zone)]

    clocks = [] if clock is None else [clock]
    clocks += trial.by_axis(steps=of_steps, ticks=of_ticks)
    if not clocks or not clocks[0].is_dates:
        return {}
    zone = clocks[0].zone
    local = {} if zone is None else {"zone": on_page(zone), "zone_name": zone.name}
    return {"digits": max(map(_digits, clocks), key=[*DIGITS].index), "aware": clocks[0].aware, **local}


def _digits(clock: Clock) -> str:
    """The coarsest unit that all its times are whole numbers of."""
    fine = (name for name, size in DIGITS.items() if not (clock.local % max(size // clock.tick_size, 1)).any())
    return next(fine, "nanosecond")


def on_page(zone: Zone) -> list[list[int]]:
    """From when on local time is ahead of UTC, and by how much, in milliseconds."""
    return [[1000 * since, 1000 * east] for since, east in zip(zone.since.tolist(), zone.east.tolist(), strict=True)]


def _away(gaps: Ranges, ticks: Ticks) -> list[list[float]]:
    """The longest gaps, that were not watched, as stretches of the axis."""
    longest = np.sort(np.argsort(gaps.starts - gaps.stops, kind="stable")[:MOST_GAPS])
    starts, stops = (on_axis(ends[longest], ticks).tolist() for ends in (gaps.starts, gaps.stops))
    return [[start, stop] for start, stop in zip(starts, stops, strict=True)]


def on_axis(at: AnyArray, ticks: Ticks) -> FloatArray:
    """Ticks on the axis of the page: milliseconds since 1970, or the times' own numbers."""
    times = ticks.times(at)
    return (times.astype(np.int64) if ticks.is_dates else times).astype("<f8") * _axis_scale(ticks)


def _axis_scale(ticks: Ticks) -> float:
    return NANOSECONDS[ticks.unit] / 1e6 if ticks.unit is not None else 1.0


def reach_of(tolerance: Tolerance) -> dict[str, Any]:
    """How far a tolerance reaches to both sides of an event, in steps or in the unit of the axis."""
    in_steps = tolerance.unit == "steps"
    scale = 1e-6 if tolerance.unit == "ns" else 1.0
    early, late = (float(side) * scale for side in (tolerance.early, tolerance.late))  # type: ignore[arg-type]
    return {"in": "steps" if in_steps else "axis", "early": early, "late": late}


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


# ---- the table at the evaluated position, for readers without scripts; the page makes it for the others

MOST_ROWS = 200
LENGTHS = {"day": 10, "minute": 16, "second": 19, "millisecond": 23, "microsecond": 26, "nanosecond": 26}


def events_of(result: Evaluation, timeline: dict[str, Any]) -> dict[str, Any]:
    """The headings of the table, what they mean, and its first rows, as text."""
    unit = {"steps": " (steps)", "seconds": "", "clock": " (time units)"}[result.delays.unit]
    zone = timeline["x"].get("zone_name")
    columns = {"what": "", "outcome": "outcome", "from": f"when ({zone})" if zone else "when"}
    if not timeline["points"]:
        columns |= {"to": "until", "steps": "steps"}
    columns |= {"delay": f"delay{unit}", "alarm": say("nearest {alarm}")}
    if timeline["scores"] is not None:
        columns["score"] = "largest score" if timeline["sign"] == 1 else "smallest score"
    alarms, n_alarms = _alarm_rows(result, timeline)
    rows = sorted(_event_rows(result, timeline) + alarms, key=lambda row: row["at"])
    made = [[row.get(name, "") for name in columns] for row in rows[:MOST_ROWS]]
    return {
        "columns": columns,
        "rows": made,
        "left": result.cell.truth.n + n_alarms - len(made),
        "about": _about(result, timeline),
        "unit": result.delays.unit,
        "step": result.delays.step if result.delays.unit == "seconds" else 0.0,
    }


def _event_rows(result: Evaluation, timeline: dict[str, Any]) -> list[dict[str, Any]]:
    cell, noun = result.cell, result.cell.truth.noun
    begin, end = event_times(result, cell.trial)
    begin, end = begin[:MOST_ROWS], end[:MOST_ROWS]
    counts, per_unit = cell.counts, timeline["x"]["per_unit"]
    delays = cell.delays() * (per_unit / cell.timing.per_unit)  # in ticks of the page
    best = _best(result, cell, timeline)
    rows = []
    for j, (at, until) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        row = {
            "at": at,
            "what": say("{} {:,}", THINGS[noun], j + 1),
            "outcome": "not counted" if not counts[j] else "found" if cell.found[j] else "missed",
            "from": _when(timeline, at),
        }
        if noun == "range":
            row |= {"to": _when(timeline, until), "steps": f"{int(cell.truth.stops[j] - cell.truth.starts[j]):,}"}
        if not math.isnan(delays[j]):
            start = max(at, 0) if noun == "range" else at
            row["delay"] = _delay(float(delays[j]) / per_unit, result)
            row["alarm"] = _when(timeline, start + float(delays[j]))
        if best is not None and math.isfinite(best[j]):
            row["score"] = _score(float(best[j]))
        rows.append(row)
    return rows


def _alarm_rows(result: Evaluation, timeline: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """The first of them, and how many there are. False alarms in a row are one: where steps count, the false ones of a
    run; where episodes do, those without a hit.
    """
    cell = result.cell
    own = at_own_times(result, cell.trial)
    alarms, false = cell.chosen, cell.alarms_counted & ~cell.alarm_hits  # among the steps that count
    if own:
        at = cell.by_axis(steps=lambda cell: cell.alarms, ticks=lambda cell: cell.at - first_tick(cell.trial))
        first: AnyArray = at[false]
        last = first
        lengths = np.ones(len(first), dtype=np.int64)
    else:
        found, when = runs(alarms[false]), step_times(result)[result.sequence.open_steps]
        first, last, lengths = when[found.starts], when[found.stops - 1], found.stops - found.starts
        spans = found
    rows = []
    scores = _scores(result, timeline)
    for i, (a, b, many) in enumerate(zip(first[:MOST_ROWS], last[:MOST_ROWS], lengths[:MOST_ROWS], strict=True)):
        row = {"at": a, "what": say("{alarm} {:,}", i + 1), "outcome": "false", "from": _when(timeline, float(a))}
        if not own:
            row |= {"to": _when(timeline, float(b)) if many > 1 else "", "steps": f"{int(many):,}"}
        if scores is not None:
            peak = float(scores[spans.starts[i] : spans.stops[i]].max())
            row["score"] = _score(peak * timeline["sign"])
        rows.append(row)
    return rows, len(first)


def _scores(result: Evaluation, timeline: dict[str, Any]) -> FloatArray | None:
    """Of the steps that count, turned so that higher ones are anomalous, before any refractory time changed them."""
    return None if timeline["scores"] is None else result.sequence.open_scores()


def _best(result: Evaluation, cell: Cell, timeline: dict[str, Any]) -> FloatArray | None:
    """The score in each event's window that speaks most for an alarm, in the caller's own numbers."""
    scores, windows = _scores(result, timeline), cell.trial.finders(cell.d)
    few = Ranges(starts=windows.starts[:MOST_ROWS], stops=windows.stops[:MOST_ROWS])
    return None if scores is None else np.asarray(largest_within(scores, few) * timeline["sign"])


def _when(timeline: dict[str, Any], since: float) -> str:
    """A time of the axis: a step, a date, or a number."""
    x = timeline["x"]
    if x["kind"] == "steps":
        return f"{int(since):,}"
    at = x["first"] + since * x["scale"]
    if x["kind"] == "clock":
        return _score(at, 12)
    local = at + ahead_in(x["zone"], at) if "zone" in x else at
    text = str(np.datetime64(round(local * 1e3), "us"))[: LENGTHS[x["digits"]]].replace("T", " ")
    return f"{text}Z" if x["aware"] and "zone" not in x and x["digits"] != "day" else text


def _delay(value: float, result: Evaluation) -> str:
    return _score(value) if result.delays.unit != "seconds" else show_time(value, "seconds", result.delays.step)


def _score(value: float, digits: int = 4) -> str:
    """A number in so many digits, written as the scripts of the page write it.

    >>> _score(1234.5678), _score(1.25), _score(0.00001), _score(1e-7), _score(1.7976931348623157e308)
    ('1235', '1.25', '0.00001', '1e-7', '1.7976931348623157e+308')
    """
    short = float(f"{value:.{digits}g}") + 0.0
    if short == 0 or 1e-6 <= abs(short) < 1e21:
        return np.format_float_positional(short, trim="-")
    return repr(short if math.isfinite(short) else value).replace("e-0", "e-")  # the largest floats round to infinity


def _about(result: Evaluation, timeline: dict[str, Any]) -> str:
    """What the columns mean."""
    noun, points = result.cell.truth.noun, timeline["points"]
    ranges = noun == "range"
    to = say("start to the first {alarm} that finds it") if ranges else say("time to its nearest {alarm}")
    late = "Delay: from the {thing}'s {}, negative if early; for a missed {thing}, to the nearest {alarm} outside its window."
    said: list[str] = [say(late, to, thing=THINGS[noun])]
    if timeline["scores"] is not None:
        side = "largest" if timeline["sign"] == 1 else "smallest"
        where = "from its start to its end, plus the tolerance on both sides" if ranges else "within the tolerance"
        said.append(
            say(
                "Score: of {}, the {} one in its window ({}); of {}, its peak.",
                THINGS["a_range" if ranges else "an_event"],
                side,
                where,
                Words((Unlike("a false alarm", say("{an_alarm} without {an_event}")),)),
            )
        )
        if "codes" in timeline["scores"]:
            said.append("With this many steps, scores are rounded here, but never across a threshold.")
    if result.count_alarms == "episodes":
        others = say("Each is a run of {alarm} steps without {an_event}, as counted above.")
        said.append(Words((Unlike("A false alarm is a run of alarm steps without a hit, as counted above.", others),)))
    elif not points:
        told = "{False_alarms} on consecutive steps share one line; their steps add up to the count above."
        said.append(say(told, **FALSE))
    if isinstance(result, Coincidence) and result.edges == "interior":
        said.append("Not counted: part of the window was not watched.")
    return joined(" ", said)
