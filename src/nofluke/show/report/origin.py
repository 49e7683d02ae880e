"""Where a report comes from: the input and its SHA-256, the settings, and what to type to get it again. No clock."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nofluke import __version__
from nofluke.data.paths import expanded, name_of_list
from nofluke.dates import for_heading, format_duration
from nofluke.errors import THINGS, Remark, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.laws.law import How
from nofluke.series.names import Names
from nofluke.series.occurrences import DAY
from nofluke.series.reading import Sequence
from nofluke.series.tolerance import Tolerance
from nofluke.show.kit import in_names
from nofluke.show.kit.figure import Description
from nofluke.show.report.figures import timeline_figure
from nofluke.text.numbers import span_in_words
from nofluke.text.tables import plural

# ---- two lists of times: span, gaps and ticks, and the code that reads and tests them

FEW_GAPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file that data were read from, the columns by their roles, and the command that read them.

    Alarms may have a file of their own, of which ``by`` tells detectors apart; ``file`` is None where nothing but lists
    was read, on steps over a ``span``. ``where`` and ``truth_where`` are conditions on rows. For two lists of times
    ``file`` has the alarms and ``truth_file`` the events, with columns "alarms" and "events".
    """

    file: str | None
    columns: Mapping[str, str]
    command: str
    time_format: str | None = None
    truth_file: str | None = None
    truth_time_format: str | None = None
    missing: str = "error"
    overlaps: str = "error"
    truth_where: str | None = None
    predictions_file: str | None = None
    predictions_time_format: str | None = None
    where: str | None = None
    by: str | None = None
    span: tuple[str, str] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """All of them, the one that the page is named after first."""
        return tuple(one for one in (self.file, self.predictions_file, self.truth_file) if one is not None)


def about_lists(result: Coincidence) -> str:
    """Both lists and the watched time in a sentence."""
    read = result.sequence
    gaps = len(read.gaps.starts)
    less = f", less {plural(gaps, 'gap')}" if gaps else ""
    guess = " (a guess)" if read.guessed else ""
    both = plural(len(read.events), "event"), plural(len(read.alarms), "alarm")
    return say("{} and {}, watched from {}{}{}.", *both, " to ".join(read.ends), guess, less)


def facts_of_lists(result: Coincidence) -> tuple[tuple[str, str], ...]:
    """What was watched, in which ticks, and what counts at its edges."""
    read = result.sequence
    show, places = read.ticks.told, plural(result.n, "place")
    gaps = [f"{show(int(a))} to {show(int(b) - 1)}" for a, b in zip(read.gaps.starts, read.gaps.stops, strict=True)]
    more = f" and {len(gaps) - FEW_GAPS:,} more" if len(gaps) > FEW_GAPS else ""
    edges = {
        "zero": say("zero: all {events} and {alarms} count"),
        "interior": say("interior: only {events} and {alarms} whose whole window was watched count"),
    }
    return (
        ("span", " to ".join(read.ends) + (", a guess from the times" if read.guessed else "")),
        ("gaps", "; ".join(gaps[:FEW_GAPS]) + more if gaps else "none"),
        ("watched", span_in_words(result.watched, result.false_alarms.unit)),
        (
            "tick",
            f"as fine as the times ({result.tick})"
            if result.fine
            else say("{}, {} for {an_event}", result.tick, places),
        ),
        ("edges", edges[result.edges]),
    )


def parts_of_lists(result: Coincidence) -> tuple[Any, ...]:
    """What tells two inputs apart: both lists and the watched time, in ticks, and what a tick is."""
    read = result.sequence
    size = np.frombuffer(f"{read.ticks.origin} {read.ticks.size} {read.ticks.unit}".encode(), dtype=np.uint8)
    return read.events, read.alarms, read.watch.starts, read.watch.stops, size


def reading_of_lists(source: Source | None) -> tuple[list[str], list[str]]:
    """Lines that read both lists, and the names of what they read."""
    if source is None:
        return [], ["events", "alarms"]
    how = "" if source.time_format is None else f", time_format={source.time_format!r}"
    files = {"events": source.truth_file or source.files[0], "alarms": source.files[0]}
    lines = ["from nofluke.data.files import read_times"]
    for role, file in files.items():
        column = f", {source.columns[role]!r}" if role in source.columns else ""
        lines.append(f"{role} = read_times({file!r}{column}{how})")
    return lines, ["events", "alarms"]


def arguments_of_lists(result: Coincidence) -> list[str]:
    """The arguments of the call that differ from the defaults."""
    read, ticks = result.sequence, result.sequence.ticks
    made = [tolerance_code(result.width)]
    if not read.guessed:
        made.append(f"span=({_time(result, read.first)}, {_time(result, read.last)})")
    if len(read.gaps.starts):
        pairs = zip(read.gaps.starts.tolist(), read.gaps.stops.tolist(), strict=True)
        few = len(read.gaps.starts) <= FEW_GAPS
        made.append(
            f"gaps=[{', '.join(f'({_time(result, a)}, {_time(result, b - 1)})' for a, b in pairs)}]"
            if few
            else "gaps=gaps"
        )
    made += ['in_gaps="drop"'] if read.in_gaps == "drop" else []
    if result.lag:
        made.append(f"lag={(format_duration(result.lag) if ticks.is_dates else result.lag)!r}")
    made += unusual(leads=(result.leads, "alarms"), edges=(result.edges, "zero"))
    if ticks.origin == 0 and read.watch.stride == 1:  # as where tick= was passed
        made.append(f"tick={ticks.length(1)!r}" if ticks.is_dates else f"tick={ticks.length(1)}")
    if any(isinstance(note, Remark) and note.kind == "merged" for note in read.notes):
        made.append('duplicates="merge"')
    elif any((np.diff(times) == 0).any() for times in (read.events, read.alarms)):
        made.append('duplicates="count"')
    return made


def _time(result: Coincidence, at: int) -> str:
    """One tick as code: a date without a time of day means all of that day, so midnight is written out."""
    ticks = result.sequence.ticks
    if not ticks.is_dates:
        return repr(ticks.times(np.array([at]))[0].item())
    text = ticks.show(at)
    return repr(f"{text}T00:00:00" if len(text) == len("2010-01-01") and ticks.size < DAY else text)


def tolerance_code(tolerance: Tolerance) -> str:
    """A tolerance as the argument of a call."""
    plain = tolerance.plain()
    if tolerance.unit != "clock" and not isinstance(plain, dict):
        return f"tolerance={plain!r}"
    sides = plain if isinstance(plain, dict) else {"early": plain, "late": plain}
    unit = ', unit="clock"' if tolerance.unit == "clock" else ""
    return f"tolerance=nf.Tolerance(early={sides['early']!r}, late={sides['late']!r}{unit})"


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
    drawn = _drawn(result)
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
    return lines, arguments + unusual(missing=(source.missing, "error"), overlaps=(source.overlaps, "error"))


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
    cut = next((name for name in ("budget", "quantile", "threshold") if getattr(result, name) is not None), None)
    made = [] if cut is None else [f"{cut}={getattr(result, cut)!r}"]
    made += unusual(higher_is=(result.sequence.higher_is, "anomalous"))
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
    return made + unusual(count_events=(result.count_events, usual))


def unusual(**settings: tuple[Any, Any]) -> list[str]:
    """As arguments, those settings whose value is not the usual one; each has both.

    >>> unusual(method=("exact", "auto"), alpha=(0.05, 0.05))
    ["method='exact'"]
    """
    return [f"{name}={value!r}" for name, (value, usual) in settings.items() if value != usual]


def _tested(result: Evaluation) -> list[str]:
    """How chance was asked, where that differs from the defaults."""
    made = [] if result.settings.choice.is_auto else [f"null={result.null.code}"]
    settings, drawn = result.settings, _drawn(result)
    made += unusual(method=(settings.method, "auto"))
    if drawn is not None:
        made += [f"n_resamples={drawn.n_resamples}", f"rng={drawn.seed}"]
    else:  # other metrics may be simulated where precision and recall are not
        made += unusual(n_resamples=(settings.n_resamples, USUAL_RESAMPLES))
    defaults = {"alternative": "greater", "ties": "full", "alpha": 0.05}
    return made + unusual(**{name: (getattr(settings, name), usual) for name, usual in defaults.items()})


def _drawn(result: Evaluation) -> How | None:
    """How the first of both laws that are simulated was drawn."""
    tests = (result.precision_test, result.recall_test)
    return next((test.how for test in tests if test.how.kind == "simulated"), None)
