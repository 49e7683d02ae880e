"""Where a report comes from: the input and its SHA-256, the settings, and what to type to get it again. No clock."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nofluke import __version__
from nofluke.arrays import BoolArray, FloatArray
from nofluke.data.paths import expanded, name_of_list
from nofluke.dates import for_heading, format_duration
from nofluke.errors import THINGS, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.plot.style import MOST_DRAWN
from nofluke.series.names import Names
from nofluke.series.reading import Sequence
from nofluke.series.timed import TimedCell
from nofluke.show.kit import FALSE, in_names
from nofluke.show.kit.figure import Description
from nofluke.show.report.in_time import on_axis, on_page
from nofluke.show.report.lists import (
    Source,
    about_lists,
    arguments_of_lists,
    facts_of_lists,
    parts_of_lists,
    reading_of_lists,
    tolerance_code,
)
from nofluke.text.tables import plural

# ---- the timeline of the evaluated position as a drawing: marks that share a pixel merge


PIXELS = 500  # of the whole width
SCORES, BELOW = (0.4, 1.0), (0.0, 0.34)  # rooms for the scores and the lanes below them


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """Where marks begin and end on the axis, ascending."""

    starts: FloatArray
    ends: FloatArray

    def where(self, chosen: BoolArray) -> Stretches:
        """Those chosen."""
        return Stretches(starts=self.starts[chosen], ends=self.ends[chosen])

    def drawn(self, least: float) -> list[tuple[float, float]]:
        """None shorter than this; those less than half of it apart are one."""
        ends = np.maximum.accumulate(np.maximum(self.ends, self.starts + least)) if len(self.ends) else self.ends
        return self.joined(self.starts[1:] - ends[:-1] > least / 2, ends)

    def joined(self, apart: BoolArray, ends: FloatArray | None = None) -> list[tuple[float, float]]:
        """Neighbours that are not apart as one."""
        if not len(self.starts):
            return []
        ends = self.ends if ends is None else ends
        first, last = np.append(True, apart), np.append(apart, True)
        return list(zip(self.starts[first].tolist(), ends[last].tolist(), strict=True))


def timeline_figure(result: Evaluation) -> Description:
    """Scores and threshold above, lanes of hits, false alarms and events below."""
    steps, noun = _steps(result), result.cell.truth.noun
    low, high = float(steps.starts[0]), float(steps.ends[-1])
    pixel = (high - low) / PIXELS
    scores = None if isinstance(result, Coincidence) else result.sequence.scores
    alarms, hits, events, found = result.cell.by_axis(steps=lambda _: _step_marks(result, steps), ticks=_timed_marks)
    shown = ((events, ~found), (events, found), (alarms, ~hits), (alarms, hits))
    events_of = THINGS[f"{noun}s"]
    told = (say("{} missed", events_of), say("{} found", events_of), say("{}", FALSE["false_alarms"]), "hits")
    names = list(result.names.all_said(told))
    lanes: Description = {
        "y": {"range": [0, 4], "ticks": [[0.5, 1.5, 2.5, 3.5], names], "grid": False},
        "room": (0.0, 1.0) if scores is None else BELOW,
        "layers": [
            {
                "kind": "boxes",
                "name": "found" if i % 2 else "missed",
                "spans": where.where(chosen).drawn(pixel),
                "low": i + 0.12,
                "high": i + 0.88,
            }
            for i, (where, chosen) in enumerate(shown)
        ],
    }
    panels = [lanes]
    if scores is not None:
        drawn = np.clip(np.where(result.sequence.open_steps, scores, np.nan), -MOST_DRAWN, MOST_DRAWN)
        cut = None if result.threshold is None else float(np.clip(result.threshold, -MOST_DRAWN, MOST_DRAWN))
        at = (steps.starts + steps.ends) / 2
        rule = [] if cut is None else [{"kind": "rule", "name": "cut", "y": cut}]
        xs, ys = _score_line(drawn, at, (low, high), result.sequence.clock)
        line = {"kind": "line", "name": "score", "x": xs, "y": ys}
        panels.insert(0, {"y": _scores_axis(drawn, cut), "room": SCORES, "layers": [line, *rule]})
    return {"x": _axis(result, low, high), "panels": panels, "bands": [{"name": "away", "spans": _away(result, steps)}]}


def _steps(result: Evaluation) -> Stretches:
    """Each step, drawn around its time; where there are only times, the whole span."""
    if isinstance(result, Coincidence):
        ends = on_axis(np.array([result.sequence.first, result.sequence.last]), result.sequence.ticks)
        return Stretches(starts=ends[:1], ends=ends[1:])
    clock = result.sequence.clock
    at = np.arange(len(result.sequence.truth), dtype=np.float64)
    if clock is not None:
        at = clock.ticks.astype(np.float64) * (clock.tick_size / 1e6 if clock.is_dates else 1.0)
    half = (at[-1] - at[0]) / max(len(at) - 1, 1) / 2 or 0.5
    if clock is not None and len(clock.gaps):
        half = float(np.median(np.diff(at))) / 2 or half  # longer gaps would make every step longer
    return Stretches(starts=at - half, ends=at + half)


def _axis(result: Evaluation, low: float, high: float) -> Description:
    clock: Any = result.sequence.ticks if isinstance(result, Coincidence) else result.sequence.clock
    if clock is not None and clock.is_dates:
        zone = {"zone": on_page(clock.zone), "title": clock.zone.name} if clock.zone is not None else {}
        return {"kind": "dates", "range": [low, high], **zone}
    return {"title": "step" if clock is None else "time", "range": [low, high], "whole": clock is None}


def _scores_axis(scores: FloatArray, cut: float | None) -> Description:
    seen = np.append(scores[~np.isnan(scores)], [] if cut is None else cut)
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    # an axis must be long enough for numbers of its size to differ, or nothing is drawn at all
    least = max(1e-9 * max(abs(low), abs(high)), 1e-290)
    pad = max(0.06 * (high - low), least) if high > low else 0.06 * abs(high) or 1.0
    return {"title": "score", "range": [low - pad, high + pad]}


def _away(result: Evaluation, steps: Stretches) -> list[tuple[float, float]]:
    """Steps that are left out, or stretches of time that were not watched."""
    if isinstance(result, Coincidence):
        gaps, ticks = result.sequence.gaps, result.sequence.ticks
        away = Stretches(starts=on_axis(gaps.starts, ticks), ends=on_axis(gaps.stops, ticks))
        return away.drawn(0.0)
    closed = np.flatnonzero(~result.sequence.open_steps)
    return Stretches(starts=steps.starts[closed], ends=steps.ends[closed]).joined(np.diff(closed) > 1)


def _score_line(
    scores: FloatArray, at: FloatArray, ends: tuple[float, float], clock: Any
) -> tuple[list[float | None], list[float | None]]:
    """The smallest and the largest score of each pixel; no line where there is no score, or across a gap."""
    pixel = ((at - ends[0]) / (ends[1] - ends[0]) * PIXELS).astype(np.int64)
    broken = np.zeros(len(at), dtype=np.bool_)
    if clock is not None:
        broken[np.asarray(clock.gaps) + 1] = True
    new = np.append(True, (np.diff(pixel) != 0) | broken[1:])
    starts = np.flatnonzero(new)
    least, most = np.fmin.reduceat(scores, starts), np.fmax.reduceat(scores, starts)
    xs: list[float | None] = []
    ys: list[float | None] = []
    for x, low, high, after_gap in zip(
        at[starts].tolist(), least.tolist(), most.tolist(), broken[starts].tolist(), strict=True
    ):
        points = [low] if low == high or math.isnan(low) else [low, high]
        xs += [None] * after_gap + [x] * len(points)
        ys += [None] * after_gap + [None if math.isnan(point) else point for point in points]
    return xs, ys


def _timed_marks(cell: TimedCell) -> tuple[Stretches, BoolArray, Stretches, BoolArray]:
    """Alarms that count and which of them are hits; events that count and which of them are found."""
    ticks = cell.trial.watch.ticks
    counted, hits, which = cell.alarms_counted, cell.alarm_hits, cell.counts
    alarms, events = on_axis(cell.at[counted], ticks), on_axis(cell.truth.at[which], ticks)
    return (
        Stretches(starts=alarms, ends=alarms),
        hits[counted],
        Stretches(starts=events, ends=events),
        np.asarray(cell.found, dtype=np.bool_)[which],
    )


def _step_marks(result: Evaluation, steps: Stretches) -> tuple[Stretches, BoolArray, Stretches, BoolArray]:
    """The same on steps; where alarms count as episodes, all steps of one that is a hit are."""
    cell = result.cell
    at = np.flatnonzero(result.sequence.open_steps)
    alarms = cell.alarms
    first, last = cell.truth.first_steps, cell.truth.last_steps
    return (
        Stretches(starts=steps.starts[at[alarms]], ends=steps.ends[at[alarms]]),
        cell.alarm_hits,
        Stretches(starts=steps.starts[at[first]], ends=steps.ends[at[last]]),
        np.asarray(cell.found, dtype=np.bool_),
    )


# ---- where a report comes from: the input and its SHA-256, the settings

Code = tuple[tuple[str, ...], str]
NONE: Code = ((), "")
USUAL_RESAMPLES = 10_000
MATH_ALTERNATIVES = {"greater": "at least as many hits", "less": "at most as many hits", "two-sided": "either side"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a report says about itself: its name, its data, its null, facts by name, and code by title.

    Two lists of times have facts of their own, ``in_time``, and one that ``leads``. ``timeline`` is the data, drawn.
    """

    name: str
    about: str
    null: str
    doubtful: bool
    facts: tuple[tuple[str, str], ...]
    code: tuple[tuple[str, str], ...]
    in_time: tuple[tuple[str, str], ...] = ()
    leads: str = ""
    names: Names = field(default_factory=Names)
    timeline: Description = field(default_factory=dict, repr=False)


def origin_of(
    result: Evaluation, payload: dict[str, Any], *, title: str | None, source: Source | None, metrics: Code = NONE
) -> Origin:
    """Everything a reader needs to make the same report again."""
    tests = (result.precision_test, result.recall_test)
    methods = ", ".join(f"{test.measure} {test.method}" for test in tests)
    drawn = next((t.how for t in tests if t.how.kind == "simulated"), None)
    resamples = "" if drawn is None else f" ({drawn.n_resamples:,} resamples, seed {drawn.seed})"
    facts = [
        ("input", "arrays in memory" if source is None else ", ".join(source.files)),
        ("SHA-256", digest_of(result) if source is None else digests_of(source)),
        *(
            []
            if source is None or not source.columns
            else [("columns", ", ".join(f"{role}: {name}" for role, name in source.columns.items()))]
        ),
        *_settings(result, payload),
        ("null", result.settings.choice.described),
        ("method", f"{methods}{resamples}"),
        ("p-values", f"{MATH_ALTERNATIVES[tests[0].alternative]}, ties {tests[0].ties}; level {result.alpha:g}"),
        ("seed", f"{payload['seed']} for everything simulated"),
        ("sliders", payload["grid"]),
        ("version", f"nofluke {__version__}"),
    ]
    code = [("In Python", python_code(result, source, metrics))]
    if source is not None:
        code.insert(0, ("On the command line", source.command))
    lists = isinstance(result, Coincidence)
    return Origin(
        name=title or judged(source, "Coincidence" if lists else "Evaluation"),
        about=result.names.said(_about(result)),
        null=result.names.said(result.settings.choice.in_words()),
        doubtful=bool(result.settings.choice.doubts),
        facts=in_names(tuple(facts), result.names),
        code=tuple(code),
        in_time=in_names(facts_of_lists(result)[:4], result.names) if isinstance(result, Coincidence) else (),
        names=result.names,
        leads=result.leads if isinstance(result, Coincidence) else "",
        timeline=timeline_figure(result),
    )


def judged(source: Source | None, else_: str) -> str:
    """What a page is about: a detector on a file, or two lists, by the names of their files.

    >>> judged(Source(file="a/latency.csv", columns={"scores": "excess"}, command=""), "Evaluation")
    'excess on latency.csv'
    >>> judged(Source(file="storms.csv", truth_file="floods.csv", columns={"alarms": "t"}, command=""), "Coincidence")
    'floods and storms'
    """
    if source is None:
        return else_
    if source.predictions_file is not None:
        lists = (source.truth_file or source.file, source.predictions_file)
        return " and ".join(name_of_list(file) for file in lists if file is not None)
    file = Path(source.files[0]).name
    detector = next((source.columns[role] for role in ("scores", "predictions") if role in source.columns), None)
    if detector is not None:
        return f"{detector} on {file}"
    if source.truth_file is not None and source.file is not None and source.truth_file != source.file:
        return f"{Path(source.truth_file).stem} and {Path(source.file).stem}"
    return file


def _about(result: Evaluation) -> str:
    if isinstance(result, Coincidence):
        return about_lists(result)
    clock = result.sequence.clock
    span = ""
    if clock is not None:
        length = float(clock.elapsed()[-1]) * clock.tick_size / 1e9 if clock.is_dates else 0.0
        ends = for_heading(*map(clock.told, clock.ticks[[0, -1]]), seconds=length)
        if clock.ticks.dtype.kind == "f":
            ends = tuple(f"{end:.6g}" for end in clock.ticks[[0, -1]])
        span = re.sub(r"(\d)T(\d)", r"\1 \2", " from {} to {}".format(*ends))  # as people write it
        span += "" if clock.zone is None else f" ({clock.zone.name})"
    left_out = f"; {plural(result.left_out.steps, 'step')} left out" if result.left_out.steps else ""
    return say("{}{}, {}{}.", plural(result.n, "step"), span, plural(result.n_events, result.cell.truth.noun), left_out)


def _settings(result: Evaluation, payload: dict[str, Any]) -> list[tuple[str, str]]:
    """What the sliders began with, and for lists of times how they were read."""
    chosen = payload["thresholds"][payload["chosen"][1]]["label"]
    if isinstance(result, Coincidence):
        return [
            *facts_of_lists(result),
            ("leads", say("{}", THINGS[result.leads])),
            ("tolerance", str(result.width)),
            ("lag", chosen),
        ]
    return [("threshold", chosen), ("tolerance", str(result.tolerance))]


def digests_of(source: Source) -> str:
    """SHA-256 of all files."""
    return ", ".join(map(_file_digest, source.files))


def _file_digest(file: str) -> str:
    path = expanded(file, "file")
    if file == "-" or not path.is_file():  # a pipe is empty once it has been read, or waits for ever
        return "not known, read from a pipe"
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(result: Evaluation) -> str:
    """SHA-256 of the data as read: labels, scores or alarms, open steps, clock; or both lists and what was watched."""
    digest = hashlib.sha256()
    for values in parts_of_lists(result) if isinstance(result, Coincidence) else _parts(result.sequence):
        if values is not None:
            digest.update(str(values.dtype.kind).encode())
            digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _parts(sequence: Sequence) -> tuple[Any, ...]:
    ticks = None if sequence.clock is None else sequence.clock.ticks
    spans = sequence.spans
    ranges = () if spans is None else (spans.starts, spans.stops, spans.begins, spans.ends)
    arrays = (sequence.truth, sequence.scores, sequence.predictions, sequence.open_steps, ticks, *ranges)
    return arrays if sequence.instants is None else (*arrays, sequence.instants)


def python_code(result: Evaluation, source: Source | None, metrics: Code = NONE) -> str:
    """Python that makes the same report, with these metrics: lines that bring functions along, and a list."""
    functions, listed = metrics
    lines = [
        "import nofluke as nf",
        *_reading(result, source)[0],
        *functions,
        f"result = {call_of(result, source)}",
        f'result.report("report.html"{f", metrics={listed}" if listed else ""})',
    ]
    return "\n".join(lines)


def call_of(result: Evaluation, source: Source | None = None, **changes: Any) -> str:
    """The call that gives this result, or one with another threshold or budget, tolerance or lag."""
    lists = isinstance(result, Coincidence)
    own = arguments_of_lists(result) if isinstance(result, Coincidence) else chosen_code(result)
    replaced = {"tolerance", "lag"} & changes.keys()
    if {"threshold", "budget"} & changes.keys():
        replaced |= {"threshold", "quantile", "budget"}
    kept = [one for one in own if one.partition("=")[0] not in replaced]
    if changes.get("lag") and isinstance(result, Coincidence) and result.sequence.ticks.is_dates:
        changes["lag"] = format_duration(changes["lag"])
    new = [
        tolerance_code(value) if name == "tolerance" else f"{name}={value!r}"
        for name, value in changes.items()
        if name != "lag" or value
    ]
    arguments = [*_reading(result, source)[1], *new, *kept, *_tested(result)]
    return f"nf.{'coincidence' if lists else 'evaluate'}({', '.join(arguments)})"


def _reading(result: Evaluation, source: Source | None) -> tuple[list[str], list[str]]:
    """Lines that read the data, and the arguments that pass them."""
    return reading_of_lists(source) if isinstance(result, Coincidence) else reading_code(result, source)


def reading_code(
    result: Evaluation, source: Source | None, outputs: tuple[str, ...] = ()
) -> tuple[list[str], list[str]]:
    """Lines that read the data, and the arguments that pass them; ``outputs`` are those of several detectors."""
    detector = "scores" if result.sequence.scores is not None else "predictions"
    if source is None:
        clock = [] if result.sequence.clock is None else ["times=times"]
        mask = ["mask=mask"] if result.left_out.missing + result.left_out.masked > _behind(result) else []
        if result.sequence.test_part == ():
            mask = [*mask, "test_part=test_part"]
        own = ("scores" if detector == "scores" else "predictions=predictions",)
        return [], ["truth", *(outputs or own), *clock, *mask]
    how, how_events, how_alarms = (
        "" if form is None else f", time_format={form!r}"
        for form in (source.time_format, source.truth_time_format, source.predictions_time_format)
    )
    listed = source.predictions_file is not None
    of_lists = (*(_OF_EVENTS if source.truth_file else ()), *(_OF_ALARMS if listed else ()))
    columns = {role: name for role, name in source.columns.items() if role not in of_lists}
    ranges = result.sequence.truth_as == "ranges"
    reader = "read_ranges" if ranges else "read_times"
    readers = ["read_alarms"] * listed + ["read_columns"] * bool(columns) + [reader] * bool(source.truth_file)
    lines = [f"from nofluke.data.files import {', '.join(readers)}"]
    if columns:
        lines.append(f"data = read_columns({source.file!r}, columns={columns!r}{how}).values")
    if source.truth_file:
        asked = dict(zip(("start", "end"), _OF_EVENTS[1:], strict=True)) if ranges else {"column": "truth"}
        named = ", ".join(f"{name}={source.columns.get(role)!r}" for name, role in asked.items())
        kept = "" if source.truth_where is None else f", where={source.truth_where!r}"
        lines.append(f"events = {reader}({source.truth_file!r}, {named}{how_events}{kept})")
        kind = "times" if "time" in columns or source.span else "positions"
        arguments = ["events", f"truth_as={kind!r}"]
    else:
        arguments = ['data["truth"]', 'truth_as="labels"']
    own = ('data["scores"]' if detector == "scores" else 'predictions=data["predictions"]',)
    if listed:
        asked = dict(zip(("column", "start", "end"), _OF_ALARMS, strict=True))
        chosen = {name: source.columns.get(role) for name, role in asked.items()} | {
            "where": source.where,
            "by": source.by,
        }
        named = "".join(f", {name}={value!r}" for name, value in chosen.items() if value is not None)
        lines.append(f"alarms = read_alarms({source.predictions_file!r}{named}{how_alarms})")
        own = ("predictions=alarms",)
    if source.span:
        lines.insert(1, "from nofluke.series.grid import steps_over")
        lines.append(f"grid = steps_over({source.span!r}, events, alarms, step={_step(result)!r})")
        arguments[0], own = "grid.events", ("predictions=grid.alarms",)
        outputs = own if outputs else ()
    arguments[1:1] = outputs or own
    names = {"time": "times", "mask": "mask", "test_part": "test_part"}
    arguments += [f'{names[role]}=data["{role}"]' for role in columns if role in names]
    arguments += ["times=grid.times"] if source.span else []
    if source.missing != "error":
        arguments.append(f"missing={source.missing!r}")
    if source.overlaps != "error":
        arguments.append(f"overlaps={source.overlaps!r}")
    return lines, arguments


_OF_EVENTS = ("truth", "truth_start", "truth_end")
_OF_ALARMS = ("predictions", "predictions_start", "predictions_end")


def _step(result: Evaluation) -> Any:
    """How long a step of the clock is."""
    clock = result.sequence.clock
    assert clock is not None
    return format_duration(int(clock.step) * clock.tick_size) if clock.is_dates else clock.step


def _behind(result: Evaluation) -> int:
    """Steps behind the end of the test part."""
    part = result.sequence.test_part
    return len(result.sequence.open_steps) - 1 - part[1] if part else 0


def chosen_code(result: Evaluation) -> list[str]:
    """The settings that differ from the defaults, as arguments."""
    made = []
    if result.budget is not None:
        made.append(f"budget={result.budget!r}")
    elif result.quantile is not None:
        made.append(f"quantile={result.quantile!r}")
    elif result.threshold is not None:
        made.append(f"threshold={result.threshold!r}")
    if result.sequence.higher_is != "anomalous":
        made.append(f"higher_is={result.sequence.higher_is!r}")
    part, warm = result.sequence.test_part, result.left_out.warmup
    if part:
        made.append(f"test_part={part if _behind(result) else part[0]}")
    if warm and not (part and warm == part[0]):
        made.append(f"warmup={warm}")
    rule = result.settings.alarms
    if rule.refractory is not None:
        made.append(f"refractory={rule.refractory.plain()!r}")
    elif rule.count != "steps":
        made.append(f"count_alarms={rule.count!r}")
    made.append(tolerance_code(result.tolerance))
    usual = "ranges" if result.sequence.truth_as == "ranges" else "steps"
    if result.count_events != usual:
        made.append(f"count_events={result.count_events!r}")
    return made


def _tested(result: Evaluation) -> list[str]:
    """How chance was asked, where that differs from the defaults."""
    made = [] if result.settings.choice.is_auto else [f"null={result.null.code}"]
    settings = result.settings
    drawn = next((t.how for t in (result.precision_test, result.recall_test) if t.how.kind == "simulated"), None)
    if settings.method != "auto":
        made.append(f"method={settings.method!r}")
    if drawn is not None:
        made += [f"n_resamples={drawn.n_resamples}", f"rng={drawn.seed}"]
    elif settings.n_resamples != USUAL_RESAMPLES:  # other metrics may be simulated where precision and recall are not
        made.append(f"n_resamples={settings.n_resamples}")
    defaults = {"alternative": "greater", "ties": "full", "alpha": 0.05}
    made += [f"{n}={getattr(settings, n)!r}" for n, usual in defaults.items() if getattr(settings, n) != usual]
    return made
