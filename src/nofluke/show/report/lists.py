"""What a report says about two lists of times: span, gaps and ticks, and the code that reads and tests them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.dates import format_duration
from nofluke.errors import say
from nofluke.inference.coincidence import Coincidence
from nofluke.series.occurrences import DAY
from nofluke.series.tolerance import Tolerance
from nofluke.text.numbers import span_in_words
from nofluke.text.tables import plural

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
    made += [f"leads={result.leads!r}"] if result.leads != "alarms" else []
    made += [f"edges={result.edges!r}"] if result.edges != "zero" else []
    if ticks.origin == 0 and read.watch.stride == 1:  # as where tick= was passed
        made.append(f"tick={ticks.length(1)!r}" if ticks.is_dates else f"tick={ticks.length(1)}")
    if any("and were merged" in note for note in read.notes):
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
