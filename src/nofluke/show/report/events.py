"""A report's table of events and false alarms: what it says at the evaluated position, for readers without scripts.

The page makes the same table for every position of the sliders out of its timeline.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.errors import THINGS, Unlike, Words, joined, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.measures.delays import show_time
from nofluke.series.counting import largest_within, runs
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Cell
from nofluke.show.kit import FALSE
from nofluke.show.kit.figure import ahead_in
from nofluke.show.report.in_time import at_own_times, first_tick
from nofluke.show.report.timeline import event_times, step_times

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
    alarms, false = _false_alarms(cell)
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


def _false_alarms(cell: Cell) -> tuple[IntArray, BoolArray]:
    """All alarms among the steps that count, and which of them are false."""
    return cell.chosen, cell.alarms_counted & ~cell.alarm_hits


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
