"""Watching a detector: is it still better than chance, today? Evidence that may be looked at every day.

Time is cut into blocks. A block is settled once its labels are final; within it the law of the hits is known, given
the alarms and what the null keeps, and gives an e-value. Their product over blocks is a test martingale. What is chosen
for a block (its length, its null) comes from blocks settled before. `Watch` is the state, one JSON file; `WatchResult`
is what it found.

The page docs/explanation/watching.md has the mathematics.
"""

from __future__ import annotations

import hashlib
import json
import math
import time as clock_time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.data.columns import UtcTimes, as_column
from nofluke.data.paths import Lock, expanded, write_file
from nofluke.dates import as_duration, format_duration, in_unit
from nofluke.errors import InputError, arg, named, say, spoken
from nofluke.inference.evaluate import Evaluation
from nofluke.laws.betting import (
    TILTS,
    found_by_e_bh,
    log_evalues,
    log_evalues_of_orders,
    log_mean,
    losses,
    product_of,
    running_means,
)
from nofluke.laws.exact.hypergeometric import hypergeometric_log_pmf
from nofluke.lazy import lazy
from nofluke.nulls import as_null
from nofluke.nulls.periods import PeriodShuffle
from nofluke.nulls.seen import UNIT_OF, Look
from nofluke.nulls.shifts import hits_by_rotation
from nofluke.plain import as_number, check_alpha, check_word, finite_or_none, whole_or_none
from nofluke.series.counting import flags_of, nonempty, union
from nofluke.series.occurrences import as_gaps
from nofluke.series.reading import Sequence, prepare, read_given
from nofluke.series.tolerance import Length, Ranges, Tolerance, as_tolerance
from nofluke.series.trial import Trial
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_share

Verdict = Literal["better than chance", "not yet", "lost", "cannot tell", "nothing to learn"]
VERDICTS: tuple[Verdict, ...] = (
    "lost",
    "cannot tell",
    "nothing to learn",
    "not yet",
    "better than chance",
)  # worst first
FORMAT, VERSION = "nofluke watch", 1
DAY = 86_400 * 10**9
YEAR = 365.25 * DAY
NAMES = {"permutation": "permutation", "circular-shift": "rotations", "period-shuffle": "whole periods exchanged"}

# blocks
LONG = 20  # windows of the tolerance that auto makes a block long, so that hits seldom cross its border
SHORT = 2  # windows that it must be long at least
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600)  # seconds that lists may be rounded to
BLOCKS_OF_DATES = (DAY, 7 * DAY, 28 * DAY)
PERIODS, WEEKS = 7, 4  # of a season in a block: e is at most the number of their orders
FEWEST_PERIODS = 3
SLOW = 7  # blocks; what takes longer to come back is a slow change, which blocks keep
# what is chosen from settled blocks
ENOUGH = 20  # events, before which no null is chosen
ONE_BY_ONE = 50  # events in which nothing is seen, before they are moved one by one
AGAIN = 1.25  # a null is looked for again when so many times as many blocks are settled
MOST_COARSE = 16_384  # steps of the past that are looked at
KEPT, KEPT_BLOCKS = 20_000, 1_000  # events and alarms of the past that are kept to look at, and blocks
IDLE = 10  # blocks that taught nothing, before that is the verdict
FIRST_RUN = 0.8  # of α; each restart has half of what is left
DIGITS = 7  # of logarithms: what is stored is what is computed with
PATIENCE = 30.0  # seconds to wait for another process that updates the same file

VOIDS = say(
    "This holds only if alarms do not react to events: where they are muted or paused after an incident, pass {}. Labels "
    "that exist because of alarms void it.",
    arg("mute_after"),
)
RESTART = spoken("restart=True", shell="--restart")


# ---- settings: plain values, as they stand in the file


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Checked settings as plain values; those that were not passed are left out."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "tolerance":
            made[name] = as_tolerance(value).plain()
        elif name in ("block", "labels_final", "mute_after", "step"):
            made[name] = value if name == "block" and value == "auto" else _length(value, name)
        elif name == "alpha":
            made[name] = check_alpha(value)
        elif name == "null":
            made[name] = _null(value)
        elif name == "threshold":
            made[name] = as_number(value, name, "be a finite number", math.isfinite)
        elif name == "higher_is":
            check_word(value, name, ("anomalous", "normal"))
            made[name] = value
        elif name == "count_events":
            check_word(value, name, ("steps", "ranges"))
            made[name] = value
        elif name == "lost_below":
            made[name] = _least(value)
        elif name == "false_alarm_every":
            made[name] = value if isinstance(value, str) and value.strip().endswith("y") else _length(value, name)
            _years(made[name])
        elif name == "timezone":
            made[name] = _zone(value)
        else:
            made[name] = value if isinstance(value, int | str) else str(value)
    return made


def _length(value: Any, name: str) -> int | str:
    """Steps, or a duration as text."""
    whole = None if isinstance(value, str) else whole_or_none(value)
    if whole is not None:
        if whole < (0 if name in ("labels_final", "mute_after") else 1):
            raise InputError(argument=name, value=value, problem="must be positive")
        return whole
    long = as_duration(value, name)
    if long is None or long < 0 or (long == 0 and name in ("block", "step", "false_alarm_every")):
        raise InputError(argument=name, value=value, problem="must be a duration such as '1d', or steps")
    return format_duration(long)


def _years(value: Any) -> float:
    """A length in nanoseconds, or in steps; "1y" is 365.25 days here, since it is a rate."""
    if not isinstance(value, str):
        return float(value)
    text = value.strip()
    if text.endswith("y"):
        try:
            return float(text[:-1] or 1) * YEAR
        except ValueError:
            pass
    return float(as_duration(text, "false_alarm_every") or 0)


def _null(value: Any) -> str:
    if isinstance(value, str) and value.strip() == "auto":
        return "auto"
    model = as_null(value)
    if model.name not in NAMES or (model.shifts_all and model.settings):
        raise InputError(
            argument="null",
            value=value,
            problem="has no law within a block",
            remedy=say("pass {}", arg("null", "auto", "circular-shift", "permutation", "period-shuffle:period=1d")),
        )
    return model.text


def _least(value: Any) -> int | float | str:
    """The rate below which skill is lost: a share, the lower limit of a result's interval, or a period to learn it."""
    if isinstance(value, Evaluation):
        found = value.interval().recall
        if not found:
            raise InputError(argument="lost_below", problem="has no interval for recall", remedy=found.reason)
        value = found.low
    if isinstance(value, str):
        return _length(value, "lost_below")
    return as_number(value, "lost_below", "be above 0 and below 1, or a period to learn it from", lambda x: 0 < x < 1)


def _zone(value: Any) -> str:
    try:
        return ZoneInfo(value).key
    except Exception:
        raise InputError(
            argument="timezone", value=value, problem="is not known", remedy="pass a name such as 'Europe/Berlin'"
        ) from None


DEFAULTS: dict[str, Any] = {
    "block": "auto",
    "labels_final": 0,
    "alpha": 0.05,
    "null": "auto",
    "higher_is": "anomalous",
    "false_alarm_every": "1y",
}


# ---- data of an update, as times: whole nanoseconds, or numbers of steps


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """What an update was given.

    ``rows`` are the times of all steps, and ``open`` those that count; where there are none, time passes in ``step``
    and ``gaps`` do not count. ``cut`` says that the first event may be the rest of one that began before.
    """

    rows: IntArray | None
    open: BoolArray
    begins: IntArray
    ends: IntArray
    points: bool
    alarms: dict[str, IntArray]
    gaps: Ranges
    begin: int
    until: int
    step: int
    dates: bool
    aware: bool
    cut: bool = False
    notes: tuple[str, ...] = ()

    def steps(self, start: int, stop: int) -> IntArray:
        """Times of the steps that count from start up to, not including, stop."""
        if self.rows is not None:
            first, last = np.searchsorted(self.rows, [start, stop])
            return self.rows[first:last][self.open[first:last]]
        at = np.arange(start, stop, self.step, dtype=np.int64)
        return at[~_inside(at, self.gaps)] if len(self.gaps.starts) else at


def _inside(at: IntArray, ranges: Ranges) -> BoolArray:
    """Which of some ascending times lie in half-open ranges, which may overlap."""
    first, last = np.searchsorted(at, ranges.starts), np.searchsorted(at, ranges.stops)
    return flags_of(union(nonempty(Ranges(starts=first, stops=last))), len(at))


def _merged(starts: IntArray, stops: IntArray) -> Ranges:
    """Ranges in any order, which may overlap, as those that they cover together."""
    order = np.argsort(starts, kind="stable")
    return union(Ranges(starts=starts[order], stops=stops[order]))


def _several(scores: Any, predictions: Any) -> tuple[str, dict[str, Any]]:
    """Which of both was passed, and detectors by name."""
    if (scores is None) is (predictions is None):
        got = "neither" if scores is None else "both"
        raise InputError(problem=say("pass either {} or {}, got {}", named("scores"), named("predictions"), got))
    kind, given = ("scores", scores) if predictions is None else ("predictions", predictions)
    if not isinstance(given, Mapping):
        return kind, {"detector": given}
    if not given or not all(isinstance(name, str) and name.strip() for name in given):
        raise InputError(argument=kind, problem="must name each detector", remedy="pass {name: values}")
    return kind, dict(given)


def _moments(values: AnyArray, name: str) -> IntArray:
    """Dates as nanoseconds, or whole numbers as they are."""
    if values.dtype.kind == "M":
        return in_unit(np.asarray(values), "ns", name).astype(np.int64)
    if len(values) and (values.dtype.kind not in "iuf" or not (np.asarray(values, dtype=np.float64) % 1 == 0).all()):
        raise InputError(
            argument=name, problem="must be dates or whole numbers", remedy="pass datetimes, or numbers of steps"
        )
    return np.asarray(values).astype(np.int64)


def _is_now(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() == "now"


def _seconds_ahead() -> float:
    """By how much the machine's local time is ahead of UTC."""
    ahead = datetime.now().astimezone().utcoffset()
    return 0.0 if ahead is None else ahead.total_seconds()


def _moment(value: Any, name: str) -> tuple[int, bool, bool]:
    """One time, whether it is a date, and whether it has a zone; "now" is the machine's clock."""
    if _is_now(value):
        return clock_time.time_ns(), True, True
    whole = None if isinstance(value, str) else whole_or_none(value)
    if whole is not None:
        return whole, False, False
    column = as_column([value], name)
    if column.values.dtype.kind != "M" or np.isnat(column.values).any():
        raise InputError(
            argument=name, value=value, problem="is not a time", remedy="pass a date, or a number of steps"
        )
    return int(_moments(column.values, name)[0]), True, column.aware


def _read(
    truth: Any,
    kind: str,
    detectors: Mapping[str, Any],
    *,
    settings: Mapping[str, Any],
    times: Any,
    mask: Any,
    gaps: Any,
    since: Any,
    until: Any,
) -> Data:
    """Everything that an update was given: a value for each step, or lists of dates."""
    listed = {}
    if kind == "predictions" and times is None and mask is None:
        listed = {name: read_given(value, "predictions") for name, value in detectors.items()}
        kinds = {(column.values if pairs is None else pairs.starts).dtype.kind for column, pairs in listed.values()}
        if "M" not in kinds and not _is_empty_list(truth, listed):
            listed = {}
    if listed:
        return _read_lists(truth, listed, settings=settings, gaps=gaps, since=since, until=until)
    if gaps is not None:
        raise InputError(argument="gaps", problem="is for lists of dates", remedy=say("pass {}", arg("mask")))
    return _read_steps(truth, kind, detectors, settings=settings, times=times, mask=mask, since=since, until=until)


def _is_empty_list(truth: Any, listed: Mapping[str, Any]) -> bool:
    """Whether no detector raised an alarm, and the truth is a list of dates: then these are lists too."""
    column, pairs = read_given(truth, "truth")
    values = column.values if pairs is None else pairs.starts
    none = all(len(column) == 0 and (pairs is None or not len(pairs)) for column, pairs in listed.values())
    return none and (values.dtype.kind == "M" or len(values) == 0)


def _read_lists(
    truth: Any, listed: Mapping[str, Any], *, settings: Mapping[str, Any], gaps: Any, since: Any, until: Any
) -> Data:
    if until is None:
        raise InputError(argument="until", problem="says up to when lists are complete", remedy="pass a date, or 'now'")
    end, dates, aware = _moment(until, "until")
    if not dates:
        raise InputError(argument="until", value=until, problem="must be a date, as the lists are")
    step = _step_of_lists(settings)
    column, pairs = read_given(truth, "truth")
    zones = {"truth": (pairs if pairs is not None else column).aware}
    if pairs is not None:
        begins, ends = (_dates(own, "truth") // step * step for own in (pairs.starts, pairs.ends))
        back = np.flatnonzero(ends < begins)
        if len(back):
            raise InputError(argument="truth", problem=f"has a range that ends before it starts, at position {back[0]}")
    else:
        begins = ends = _dates(column.values, "truth") // step * step
    points = pairs is None or settings.get("count_events") == "steps"
    if pairs is not None and points:
        begins = ends = _steps_within(begins, ends, step)
    both = np.unique(np.stack([begins, ends], axis=1), axis=0) if len(begins) else np.zeros((0, 2), dtype=np.int64)
    notes = [] if len(both) == len(begins) else [f"{len(begins) - len(both)} event(s) came twice and count once."]
    alarms = {}
    for name, (own, spans) in listed.items():
        zones[name] = (own if spans is None else spans).aware
        at = _dates(own.values, "predictions") // step * step
        if spans is not None:
            ends_at = spans.ends
            if ends_at.dtype.kind == "M":  # without an end: still firing
                ends_at = np.where(np.isnat(ends_at), np.datetime64(end, "ns"), ends_at)
            first, last = (_dates(one, "predictions") // step * step for one in (spans.starts, ends_at))
            at = _steps_within(first, last, step)
        alarms[name] = np.unique(at)
    empty = {"truth": len(begins) == 0} | {name: len(at) == 0 for name, at in alarms.items()}
    told = {name: zone for name, zone in zones.items() if not empty[name]}
    if not _is_now(until):
        told["until"] = aware
    elif not any(told.values()):  # times without a zone may be local ones: nothing is settled before it is over
        end = min(end, int(datetime.now().timestamp() + _seconds_ahead()) * 10**9)
    if len(set(told.values())) > 1:
        without = next(name for name, zone in told.items() if not zone)
        raise InputError(
            argument=without if without in ("truth", "until") else "predictions",
            problem="has no time zone, but others have",
            remedy="give all of them one, or none",
        )
    closed = as_gaps(gaps) if gaps is not None else None
    unwatched = (
        Ranges(starts=np.zeros(0, dtype=np.int64), stops=np.zeros(0, dtype=np.int64))
        if closed is None
        else _merged(_dates(closed.starts, "gaps"), _dates(closed.ends, "gaps") + 1)
    )
    alarms = {name: at[~_inside(at, unwatched)] if len(unwatched.starts) else at for name, at in alarms.items()}
    # what lists begin with: earlier blocks may have been left out of them, and all of what an empty one held
    sides = ([both[:, 0]], [at for at in alarms.values() if len(at)])
    begins_at = [int(at[0]) if len(at) else end for side in sides for at in side or [both[:0, 0]]]
    begin = _moment(since, "since")[0] if since is not None else max(begins_at)
    return Data(
        rows=None, open=np.zeros(0, dtype=np.bool_), begins=both[:, 0], ends=both[:, 1], points=points, alarms=alarms,
        gaps=unwatched, begin=begin, until=end, step=step, dates=True, aware=any(told.values()), notes=tuple(notes),
    )  # fmt: skip


def _step_of_lists(settings: Mapping[str, Any]) -> int:
    """The resolution of lists: as asked for, or a fiftieth of the tolerance, as people count; at least a second."""
    asked = settings.get("step")
    if asked is not None:
        return _in_time(asked, 10**9, True, "step")
    plain = settings["tolerance"]
    sides = plain.values() if isinstance(plain, dict) else [plain]
    long = [abs(as_duration(side, "tolerance", signed=True) or 0) for side in sides if isinstance(side, str)]
    short = min((side for side in long if side), default=10**9) / 50
    return max((one * 10**9 for one in STEPS if one * 10**9 <= short), default=10**9)


def _dates(values: AnyArray, name: str) -> IntArray:
    if len(values) and values.dtype.kind != "M":
        raise InputError(argument=name, problem="holds numbers, but others hold dates", remedy="pass dates everywhere")
    return _moments(values, name) if len(values) else np.zeros(0, dtype=np.int64)


def _steps_within(first: IntArray, last: IntArray, step: int) -> IntArray:
    """Every step of some ranges."""
    return np.concatenate(
        [
            np.zeros(0, dtype=np.int64),
            *(np.arange(a, b + 1, step) for a, b in zip(first.tolist(), last.tolist(), strict=True)),
        ]
    )


def _read_steps(
    truth: Any,
    kind: str,
    detectors: Mapping[str, Any],
    *,
    settings: Mapping[str, Any],
    times: Any,
    mask: Any,
    since: Any,
    until: Any,
) -> Data:
    """A value for each step, read as everywhere; rows may come in any order of their times."""
    if kind == "scores" and "threshold" not in settings:
        raise InputError(
            argument="threshold",
            problem="must be fixed before scores are seen",
            remedy=say("pass {} to nofluke.watch", arg("threshold")),
        )
    about: dict[str, Any] = {"times": times, "mask": mask, "count_events": settings.get("count_events")}
    n_steps: int | None = None
    if times is not None:
        truth, detectors, about = _in_order(truth, detectors, about)
    elif kind == "predictions" and until is not None and not isinstance(until, str):
        n_steps = whole_or_none(until)
    found: dict[str, Sequence] = {}
    for name, given in detectors.items():
        own: dict[str, Any] = {"scores": given} if kind == "scores" else {"predictions": given}
        if kind == "scores":
            own["higher_is"] = settings.get("higher_is", "anomalous")
        try:
            found[name] = prepare(truth, **own, **about, n_steps=_n_steps(n_steps, truth, given))
        except InputError as error:
            if len(detectors) == 1:
                raise
            raise InputError(
                argument=error.argument, problem=f"of {name}: {error.problem}", remedy=error.remedy
            ) from None
    first = next(iter(found.values()))
    clock, at = first.clock, np.arange(len(first.truth), dtype=np.int64)
    if clock is None:
        at = at + (0 if since is None else _moment(since, "since")[0])
    elif clock.ticks.dtype.kind == "f":
        raise InputError(
            argument="times", problem="are decimal numbers", remedy="pass dates, or whole numbers of a fine unit"
        )
    else:
        at = clock.ticks * clock.tick_size
    dates = clock is not None and clock.is_dates
    step = max(int(np.median(np.diff(at))), 1) if len(at) > 1 else 1
    end = int(at[-1]) + step
    if until is not None:
        end, of_dates, aware = _moment(until, "until")
        if of_dates != dates:
            raise InputError(
                argument="until", value=until, problem=f"must be a {'date' if dates else 'number of steps'} here"
            )
        if dates and clock is not None and aware != clock.aware and not _is_now(until):
            raise InputError(argument="until", value=until, problem="and times do not both have a time zone")
    open_steps = np.logical_and.reduce([one.open_steps for one in found.values()])
    if first.spans is None:
        steps = np.flatnonzero(first.truth)
        begins = ends = at[steps]
    else:
        some = ~first.spans.between
        begins, ends = at[first.spans.starts[some]], at[first.spans.stops[some] - 1]
    alarms = {name: at[_alarms_of(one, settings) & open_steps] for name, one in found.items()}
    labels = first.truth_as == "labels" and first.spans is not None
    nothing = np.zeros(0, dtype=np.int64)
    return Data(
        rows=at, open=open_steps, begins=begins, ends=ends, points=first.spans is None, alarms=alarms,
        gaps=Ranges(starts=nothing, stops=nothing), begin=int(at[0]), until=end, step=step, dates=dates,
        aware=clock is not None and clock.aware, cut=labels and bool(len(begins)) and begins[0] == at[0],
        notes=first.notes,
    )  # fmt: skip


def _n_steps(n_steps: int | None, truth: Any, given: Any) -> int | None:
    """How many steps there are, where both are lists of positions; labels say it themselves."""
    if n_steps is None:
        return None
    values = [read_given(one, "truth") for one in (truth, given)]
    listed = [pairs is not None or len(column) != n_steps for column, pairs in values]
    return n_steps if all(listed) else None


def _alarms_of(sequence: Sequence, settings: Mapping[str, Any]) -> BoolArray:
    if sequence.predictions is not None:
        return sequence.predictions
    assert sequence.scores is not None
    with np.errstate(invalid="ignore"):
        return np.asarray(sequence.sign * sequence.scores >= sequence.sign * settings["threshold"])


def _in_order(truth: Any, detectors: Mapping[str, Any], about: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
    """Rows by their times, where these do not ascend."""
    stamps = as_column(about["times"], "times")
    order = np.argsort(stamps.values, kind="stable")
    if (order[1:] > order[:-1]).all():
        return truth, dict(detectors), about
    n = len(order)

    def sorted_rows(value: Any) -> Any:
        column, pairs = (None, None) if value is None else read_given(value, "truth")
        return value if column is None or pairs is not None or len(column) != n else column.values[order]

    ordered = stamps.values[order]
    if stamps.aware:
        ordered = UtcTimes.of(ordered, None if stamps.east is None else stamps.east[order])
    rest = about | {"times": ordered, "mask": sorted_rows(about["mask"])}
    return sorted_rows(truth), {name: sorted_rows(one) for name, one in detectors.items()}, rest


# ---- one block


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """The steps of a block that count, its events among them, and where a detector's alarms would find one."""

    at: IntArray
    first: IntArray
    last: IntArray
    points: bool

    @property
    def n(self) -> int:
        """How many steps count."""
        return len(self.at)

    def zone(self, alarms: IntArray, early: int, late: int) -> Ranges:
        """The steps on which an event would be found by one of the alarms, of this block or near it."""
        first = np.searchsorted(self.at, alarms - late, side="left")
        stop = np.searchsorted(self.at, alarms + early, side="right")
        return union(nonempty(Ranges(starts=first, stops=stop)))

    def evidence_of_recall(self, zone: Ranges, null: str, edges: IntArray) -> FloatArray:
        """Logarithms of the e-values of the events that were found."""
        covered = int((zone.stops - zone.starts).sum())
        if not len(self.first) or covered in (0, self.n):
            return np.zeros(len(TILTS))
        events = Ranges(starts=self.first, stops=self.last + 1)
        if null == "circular-shift":
            return _of_rotations(events, zone, self.n)
        flags = flags_of(zone, self.n)
        before = np.concatenate([[0], np.cumsum(flags)])
        if null == "permutation":
            m, hits = len(self.first), int(flags[self.first].sum())
            values = np.arange(max(0, m + covered - self.n), min(m, covered) + 1)
            return log_evalues(hits, values, hypergeometric_log_pmf(self.n, covered, m, values))
        return product_of([log_evalues_of_orders(own) for own in self._orders(before, edges)])

    def evidence_of_precision(self, own: IntArray, early: int, late: int) -> FloatArray:
        """Those of the alarms that were right, by events of this block, over its rotations.

        What may be permuted may be rotated: this law holds under either null.
        """
        windows = nonempty(
            Ranges(
                starts=np.searchsorted(self.at, own - late, side="left"),
                stops=np.searchsorted(self.at, own + early, side="right"),
            )
        )
        if not len(self.first) or not len(windows.starts):
            return np.zeros(len(TILTS))
        events = union(Ranges(starts=np.sort(self.first), stops=self.last[np.argsort(self.first, kind="stable")] + 1))
        return _of_rotations(windows, events, self.n)

    def _orders(self, before: IntArray, edges: IntArray) -> Iterator[IntArray]:
        """What the events of each period would score in the place of each other, for periods that are alike.

        Alike are those that were watched at the same times of theirs; one with an event across a border stays.
        """
        begin = np.searchsorted(self.at, edges)
        period = np.searchsorted(edges, self.at[self.first], side="right") - 1
        until = np.searchsorted(edges, self.at[self.last], side="right") - 1
        stays = np.zeros(len(edges) - 1, dtype=np.bool_)
        for one, other in zip(period[until > period].tolist(), until[until > period].tolist(), strict=True):
            stays[one : other + 1] = True
        alike: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(~stays).tolist():
            watched = self.at[begin[k] : begin[k + 1]] - edges[k]
            if len(watched):
                alike.setdefault(watched.tobytes(), []).append(k)
        for members in alike.values():
            rows = np.flatnonzero(np.isin(period, members))
            if len(members) < 2 or not len(rows):
                continue
            places = begin[members]
            home = np.searchsorted(members, period[rows])
            first, last = (own[rows] - places[home] for own in (self.first, self.last))
            hit = before[places + last[:, None] + 1] > before[places + first[:, None]]
            hits = np.zeros((len(members), len(members)), dtype=np.int64)
            np.add.at(hits, home, hit.astype(np.int64))
            yield hits


def _of_rotations(fixed: Ranges, moved: Ranges, n: int) -> FloatArray:
    """Logarithms of the e-values of as many ranges as were hit, where the others may be rotated."""
    hits, values, counts = hits_by_rotation(fixed, moved, n)
    return log_evalues(hits, values, np.log(counts))


# ---- what is chosen for the blocks to come, from those that are settled


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A null for the blocks to come, why, and the period that they are made of; it may not hold."""

    null: str
    why: str
    period: int = 0
    holds: bool = True


def _chosen(past: list[dict[str, Any]], name: str, about: Timeline, fixed: bool, block: int) -> Chosen:
    """The null for one detector by what settled blocks show, each side by itself: never how they match."""
    unit, start, stop = about.resolution, past[0]["start"], past[-1]["stop"]
    width = max(-(-(stop - start) // MOST_COARSE), about.step)
    width = -(-width // about.step) * about.step
    n = -(-(stop - start) // width)
    events, alarms, open_steps = (np.zeros(n, dtype=np.bool_) for _ in range(3))
    n_events, points = 0, True
    for one in past:
        base = one["start"]
        for first, last in one["open"]:
            open_steps[(base + first * unit - start) // width : (base + last * unit - start) // width + 1] = True
        for first, last in one["events"]:
            events[(base + first * unit - start) // width : (base + last * unit - start) // width + 1] = True
            n_events, points = n_events + 1, points and first == last
        at = base + np.array(one["alarms"].get(name, []), dtype=np.int64) * unit
        alarms[(at - start) // width] = True
    merged = int(events.sum()) < n_events
    events, alarms = events & open_steps, alarms & open_steps
    if not events.any() or not alarms.any():
        return Chosen(null="circular-shift", why="There are no alarms yet to look at: events are rotated together.")
    times: Any = None
    if about.dates:
        utc = (start + np.arange(n, dtype=np.int64) * width).astype("datetime64[ns]")
        times = UtcTimes.of(utc, about.ahead(utc)) if about.aware else utc
    sequence = prepare(
        events, predictions=alarms, times=times, mask=~open_steps, count_events="steps" if points else "ranges"
    )
    near = (max(-(-about.early // width), 0), max(-(-about.late // width), 0))
    look = Look.of(Trial.of(sequence, (Tolerance(early=near[0], late=near[1]),), None).cell(0, 0), 0.05)
    season = look.season
    period = 0 if season is None else _period(season.period, season.steps, width, about)
    # weekdays that differ leave nothing within a day, nor does a slow swing within its blocks; hours of a week do:
    # Mondays at nine are not Mondays at noon
    slow = season is not None and season.period == "day of week" and block <= DAY
    if season is not None and 0 < period <= SLOW * block and not slow:
        if season.inner is not None and period < 7 * DAY and about.dates and season.inner[1] == 7:
            period = 7 * DAY
        window = about.early + about.late + about.step
        usual = PERIODS if period < 7 * DAY or not about.dates else WEEKS
        many = block // period if fixed else usual
        if fixed and (block % period or many < FEWEST_PERIODS):
            why = f"{season.seen}, and blocks of {about.told(block)} are not several of them: blocks of {about.told(usual * period)} would be."
            return Chosen(null="circular-shift", why=why, holds=False)
        if period < SHORT * window:
            return Chosen(
                null="circular-shift", why=f"{season.seen}, and the tolerance is long against it.", holds=False
            )
        return Chosen(
            null="period-shuffle",
            why=f"{season.seen}: whole periods of {about.told(period)} change places within blocks of {about.told(many * period)}.",
            period=period,
        )
    if points and not merged and n_events >= ONE_BY_ONE and not look.together:
        return Chosen(
            null="permutation", why=f"{n_events} events show no clusters, runs or season: each is moved by itself."
        )
    return Chosen(
        null="circular-shift", why="Events are rotated together within a block, which keeps clusters and ranges."
    )


def _period(period: Any, steps: float | None, width: int, about: Timeline) -> int:
    """The length of a season in time; 0 for one of the calendar that is longer than blocks are."""
    if isinstance(period, str):
        unit, many = UNIT_OF[period]
        sizes = {"day": DAY, "hour": DAY // 24, "15min": DAY // 96}
        return many * sizes[unit] if unit in sizes else 0
    if steps is None:
        return 0
    long = round(steps * width)
    tidy = (DAY // 24, DAY, 7 * DAY) if about.dates else ()
    return next((one for one in tidy if abs(long - one) <= 0.03 * one), max(round(long / about.step), 2) * about.step)


# ---- time as a watch counts it


@dataclass(kw_only=True)
class Timeline:
    """What a watch knows of time since its first update: nanoseconds, or steps.

    ``resolution`` is what offsets of events and alarms are stored in: steps, where all times are whole ones.
    """

    dates: bool
    aware: bool
    step: int
    resolution: int
    early: int
    late: int
    zone: str | None = None

    def show(self, at: int) -> str:
        """A time as people read it."""
        if not self.dates:
            return str(at)
        text = str(np.datetime_as_string(np.datetime64(at, "ns"), unit="auto"))
        return f"{text}Z" if self.aware and "T" in text else text

    def told(self, long: int) -> str:
        """A length as settings take it."""
        return format_duration(int(long)) if self.dates else plural(int(long), "step")

    def after(self, start: int, long: int, times: int = 1) -> int:
        """The time so many lengths later; whole days are days of the calendar in the zone."""
        if self.zone is None or not self.dates or long % DAY:
            return start + long * times
        zone = ZoneInfo(self.zone)
        local = datetime.fromtimestamp(start // 10**9, zone) + timedelta(days=long // DAY * times)
        return int(local.timestamp()) * 10**9 + start % 10**9

    def ahead(self, utc: AnyArray) -> AnyArray | None:
        """By how many seconds local time is ahead of UTC, each day anew."""
        if self.zone is None:
            return None
        zone, seconds = ZoneInfo(self.zone), utc.astype("datetime64[s]").astype(np.int64)
        hours, back = np.unique(seconds // 3_600, return_inverse=True)
        east = [datetime.fromtimestamp(int(h) * 3_600, zone).utcoffset() or timedelta(0) for h in hours]
        return np.array([int(one.total_seconds()) for one in east], dtype=np.int64)[back]


def _in_time(value: int | str, step: int, dates: bool, name: str) -> int:
    """A length of settings in the watch's time."""
    if isinstance(value, str):
        if not dates:
            raise InputError(
                argument=name, value=value, problem="is a duration, but the data have no dates", remedy="pass steps"
            )
        return int(as_duration(value, name) or 0)
    return value * step


# ---- the state: what is settled, and what the next block is judged by


@dataclass(kw_only=True)
class State:
    """One run of a watch: its settings, settled blocks, and what is kept of the past to choose nulls by."""

    settings: dict[str, Any]
    run: int = 1
    earlier: list[dict[str, Any]] = field(default_factory=list)
    time: Timeline | None = None
    detectors: list[str] = field(default_factory=list)
    begin: int = 0
    block: int = 0
    base: int = 0
    again: int = 0
    chosen: dict[str, Chosen] = field(default_factory=dict)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    past: list[dict[str, Any]] = field(default_factory=list)

    def setting(self, name: str) -> Any:
        """A setting as it was passed, or its default."""
        return self.settings.get(name, DEFAULTS.get(name))

    @property
    def next(self) -> int:
        """Where the first block begins that is not settled."""
        return self.blocks[-1]["stop"] if self.blocks else self.begin

    @property
    def weight(self) -> float:
        """The share of α that this run has."""
        return FIRST_RUN if self.run == 1 else (1 - FIRST_RUN) * 0.5 ** (self.run - 1)

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance of the settings."""
        plain = self.settings["tolerance"]
        return Tolerance(**plain) if isinstance(plain, dict) else as_tolerance(plain)

    # -- time, since the first update

    def begin_with(self, data: Data, start: Any) -> None:
        """Settle how time is counted, by the first data."""
        tolerance, dates = self.tolerance, data.dates
        if tolerance.unit == "clock":
            raise InputError(argument="tolerance", problem="must be steps or a duration here")
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        if tolerance.unit == "steps":
            if data.rows is None:
                if any(sides):
                    raise InputError(
                        argument="tolerance", value=tolerance.plain(), problem="counts steps, but lists have none",
                        remedy="pass a duration such as '10min'",
                    )  # fmt: skip
            else:
                _refuse_irregular(data)
            half = data.step // 2 if dates else 0  # clocks may come a little early or late
            sides = (sides[0] * data.step + half, sides[1] * data.step + half)
        elif not dates:
            raise InputError(
                argument="tolerance", value=tolerance.plain(), problem="is a duration, but the data have no dates",
                remedy="pass a number of steps",
            )  # fmt: skip
        zone = self.setting("timezone")
        if zone is not None and not data.aware:
            raise InputError(argument="timezone", value=zone, problem="needs times with a time zone")
        first = data.rows[0] if data.rows is not None and len(data.rows) else data.begin
        if start is None:
            origin = min([int(first), *(int(at[0]) for at in (data.begins, *data.alarms.values()) if len(at))])
            begin = origin if not dates else _midnight(origin, zone)
        else:
            begin, of_dates, _ = _moment(start, "start")
            if of_dates != dates:
                raise InputError(argument="start", value=start, problem=f"must be a {'date' if dates else 'step'} here")
        begin = begin // data.step * data.step if data.rows is None else begin  # where lists are rounded to
        on_grid = data.rows is None or bool(((data.rows - begin) % data.step == 0).all())
        self.time = Timeline(
            dates=dates, aware=data.aware, step=data.step, resolution=data.step if on_grid else min(10**3, data.step),
            early=int(sides[0]), late=int(sides[1]), zone=zone,
        )  # fmt: skip
        self.begin, self.detectors = begin, list(data.alarms)
        self._begin_blocks()

    def _begin_blocks(self) -> None:
        about = self.timeline
        window = about.early + about.late + about.step
        asked = self.setting("block")
        if asked == "auto":
            usual = BLOCKS_OF_DATES if about.dates else (max(LONG * window, 100 * about.step),)
            self.base = next((one for one in usual if one >= LONG * window), LONG * window)
        else:
            self.base = _in_time(asked, about.step, about.dates, "block")
            if self.base < SHORT * window:
                raise InputError(
                    argument="block", value=asked, problem=f"must be at least {SHORT} windows of the tolerance long",
                    remedy=f"pass {about.told(LONG * window)!r} or longer",
                )  # fmt: skip
        self.block = self.base
        null = self.setting("null")
        if null != "auto":
            model = as_null(null)
            period = 0
            if isinstance(model, PeriodShuffle):
                period = self._period_of(model.period)
                if asked == "auto":
                    self.base = self.block = period * (WEEKS if period >= 7 * DAY and about.dates else PERIODS)
                elif self.base % period or self.base < FEWEST_PERIODS * period:
                    raise InputError(
                        argument="block", value=asked, problem=f"is not several periods of {about.told(period)}",
                        remedy=f"pass {about.told(PERIODS * period)!r}",
                    )  # fmt: skip
            self.chosen = {
                name: Chosen(null=model.name, why="It was asked for.", period=period) for name in self.detectors
            }

    def _period_of(self, period: Any) -> int:
        words = {"hour": DAY // 24, "day": DAY, "week": 7 * DAY}
        if isinstance(period, str) and period in words:
            period = format_duration(words[period])
        whole = period if isinstance(period, str) else whole_or_none(period)
        if whole is None or period in ("month", "year"):
            raise InputError(argument="null", value=self.setting("null"), problem="needs periods of one length")
        return _in_time(whole, self.timeline.step, self.timeline.dates, "null")

    @property
    def timeline(self) -> Timeline:
        """How time is counted, which the first update settles."""
        assert self.time is not None
        return self.time

    @property
    def wait(self) -> int:
        """How long after its end a block is settled."""
        about = self.timeline
        final = _in_time(self.setting("labels_final"), about.step, about.dates, "labels_final")
        return final + max(about.early, about.late, 0)

    # -- blocks

    def inputs(self, data: Data, start: int, stop: int) -> tuple[str, dict[str, str]]:
        """What a block is recognised by: the hash of its steps and labels, and those of the alarms."""
        begins, ends = self._events(data, start, stop)
        if data.rows is None:
            some = (data.gaps.starts < stop) & (data.gaps.stops > start)
            at = np.stack([data.gaps.starts[some], data.gaps.stops[some]]).clip(start, stop) - start
        else:
            at = data.steps(start, stop) - start
        truth = _hash(at, begins - start, np.minimum(ends, stop - 1) - start)
        return truth, {name: _hash(_between(at, start, stop) - start) for name, at in data.alarms.items()}

    def _events(self, data: Data, start: int, stop: int) -> tuple[IntArray, IntArray]:
        """Those that begin in a block; a run of labels that goes on from the block before is its event."""
        some = (data.begins >= start) & (data.begins < stop)
        if data.cut and some.any() and data.begins[0] == start and self.past and self.past[-1]["stop"] == start:
            some[0] = not self.past[-1]["goes_on"]
        return data.begins[some], data.ends[some]

    def settle(self, data: Data) -> int:
        """Settle all blocks whose labels are final, one after the other; how many there were."""
        about, settled = self.timeline, 0
        while True:
            self._choose()
            start = self.next
            stop = about.after(start, self.block)
            if stop + self.wait > data.until:
                return settled
            self._settle(data, start, stop)
            settled += 1

    def _choose(self) -> None:
        """Choose nulls, and the length of blocks, from settled ones; again when these have become clearly more."""
        events = sum(one["events"] for one in self.blocks)
        if self.setting("null") != "auto" or events < ENOUGH or len(self.blocks) < self.again:
            return
        fixed = self.setting("block") != "auto"
        self.chosen = {name: _chosen(self.past, name, self.timeline, fixed, self.base) for name in self.detectors}
        self.again = max(len(self.blocks) + 1, math.ceil(AGAIN * len(self.blocks)))
        if not fixed:
            weekly = 7 * DAY if self.timeline.dates else math.inf
            wanted = [one.period * (PERIODS if one.period < weekly else WEEKS) for one in self.chosen.values()]
            self.block = max([self.base if not any(wanted) else 0, *wanted])

    def _settle(self, data: Data, start: int, stop: int) -> None:
        about = self.timeline
        early, late = about.early, about.late
        truth, hashes = self.inputs(data, start, stop)
        at = data.steps(start, stop)
        own_begins, own_ends = self._events(data, start, stop)
        before = self.past[-1] if self.past and self.past[-1]["stop"] == start else None
        base = 0 if before is None else before["start"]
        begins, ends = self._known(data, start)
        muted = self._muted(at, ends)
        watched = at[~muted]
        first = np.searchsorted(watched, own_begins)
        last = np.searchsorted(watched, np.minimum(own_ends, stop - 1), side="right") - 1
        some = last >= first
        block = Block(at=watched, first=first[some], last=last[some], points=data.points)
        made: dict[str, Any] = {
            "start": start, "stop": stop, "long": self.block, "steps": block.n, "events": int(some.sum()),
            "hash": truth, "by": {},
        }  # fmt: skip
        alarms = {name: _between(at, start, stop) for name, at in data.alarms.items()}
        for name in self.detectors:
            earlier = [] if before is None else before["alarms"].get(name, [])
            reach = (start - max(early, 0), stop + max(late, 0) + 1)
            known = np.array(earlier, dtype=np.int64) * about.resolution + base
            near = np.union1d(_between(known, *reach), _between(data.alarms[name], *reach))
            zone = block.zone(near, early, late)
            own = _among(alarms[name], watched)
            found = np.searchsorted(zone.stops, block.first, side="right")
            hit = found < len(zone.starts)
            hit[hit] = zone.starts[found[hit]] <= block.last[hit]
            recall = precision = np.zeros(len(TILTS))
            chosen = self.chosen.get(name)
            if chosen is not None and chosen.holds:
                null = chosen.null if data.points or chosen.null != "permutation" else "circular-shift"
                edges = self._edges(start, stop, chosen.period)
                recall = block.evidence_of_recall(zone, null, edges)
                # where precision has no law, recall carries its share of the evidence too: whole periods, and muting,
                # whose mask ends each stretch with an event, so that windows cut off there hold one in any case
                alone = chosen.period or self.setting("mute_after")
                precision = recall if alone else block.evidence_of_precision(own, early, late)
            old = self.blocks[-1]["by"][name] if self.blocks else {"recall": [0.0] * 7, "precision": [0.0] * 7}
            made["by"][name] = {
                "found": int(hit.sum()),
                "alarms": len(own),
                "right": int(_right(own, begins, ends, early, late).sum()),
                "hash": hashes[name],
                "null": "" if chosen is None or not chosen.holds else chosen.null,
                "learned": bool(recall.any() or precision.any()),
                "recall": np.round(np.array(old["recall"]) + recall, DIGITS).tolist(),
                "precision": np.round(np.array(old["precision"]) + precision, DIGITS).tolist(),
            }
        self.blocks.append(made)
        self._keep(start, stop, at, own_begins, np.minimum(own_ends, stop - 1), alarms)
        inside = (data.ends >= start) & (data.ends < stop)
        self.past[-1] |= {
            "ends": ((np.unique(data.ends[inside]) - start) // about.resolution).tolist(),
            "goes_on": bool(((data.begins < stop) & (data.ends >= stop - about.step)).any()),
        }

    def _known(self, data: Data, start: int) -> tuple[IntArray, IntArray]:
        """Events of the data, and the ends of those that these leave out: they may mute, or make an alarm right."""
        about = self.timeline
        reach = start - self._mute() - about.late - about.step
        past = [np.zeros(0, dtype=np.int64)]
        for one in reversed(self.past):
            if one["stop"] < reach:
                break
            past.append(one["start"] + np.array(one["ends"], dtype=np.int64) * about.resolution)
        known = np.setdiff1d(np.concatenate(past), data.ends)
        if data.cut:  # a run of labels that goes on ends later
            known = known[known + about.step < data.begin]
        return np.concatenate([known, data.begins]), np.concatenate([known, data.ends])

    def _muted(self, at: IntArray, ends: IntArray) -> BoolArray:
        """Steps after an event in which alarms are held back, or whose windows reach into such steps."""
        mute = self._mute()
        return (
            _inside(at, Ranges(starts=ends + 1, stops=ends + mute + 1)) if mute else np.zeros(len(at), dtype=np.bool_)
        )

    def _mute(self) -> int:
        """How long after an event nothing counts: alarms are held back, and then windows reach into that time."""
        long, about = self.setting("mute_after"), self.timeline
        return _in_time(long, about.step, about.dates, "mute_after") + max(about.early, 0) if long else 0

    def _edges(self, start: int, stop: int, period: int) -> IntArray:
        """Where periods begin within a block, and where it ends."""
        if not period:
            return np.array([start, stop])
        edges = [start]
        while edges[-1] < stop:
            edges.append(min(self.timeline.after(start, period, len(edges)), stop))
        return np.array(edges)

    def _keep(self, start: int, stop: int, at: IntArray, begins: IntArray, ends: IntArray, alarms: Any) -> None:
        """Keep events and alarms of the latest blocks, as many as are looked at to choose a null."""
        about, unit = self.timeline, self.timeline.resolution
        apart = np.flatnonzero(np.diff(at) > 1.5 * about.step)
        first, last = (
            (at[np.concatenate(own)] - start for own in (([0], apart + 1), (apart, [-1]))) if len(at) else (at, at)
        )
        open_steps = np.stack([first, last + about.step - 1], axis=1) // unit
        events = np.stack([begins, ends], axis=1) - start
        self.past.append(
            {
                "start": start,
                "stop": stop,
                "open": open_steps.clip(0, (stop - start - 1) // unit).tolist(),
                "events": (events // unit).tolist(),
                "alarms": {name: ((own - start) // unit).tolist() for name, own in alarms.items()},
            }
        )
        sizes = [len(one["events"]) + sum(map(len, one["alarms"].values())) for one in self.past]
        while len(self.past) > 1 and (sum(sizes) > KEPT or len(self.past) > KEPT_BLOCKS):
            del self.past[0], sizes[0]

    def check(self, data: Data) -> None:
        """Refuse labels or alarms of settled blocks that are not what they were."""
        for one in self.blocks:
            start, stop = one["start"], one["stop"]
            if start < data.begin or stop > data.until or (data.cut and data.begins[0] == start):
                continue  # not all of it was passed
            truth, hashes = self.inputs(data, start, stop)
            if truth != one["hash"]:
                events = int(((data.begins >= start) & (data.begins < stop)).sum())
                steps = len(data.steps(start, stop))
                what = f"{plural(one['events'], 'event')} on {plural(one['steps'], 'step')}"
                raise self._changed(one, what, f"{plural(events, 'event')} on {plural(steps, 'step')}", "labels")
            for name, own in hashes.items():
                known = one["by"][name]
                if own != known["hash"]:
                    now = len(_between(data.alarms[name], start, stop))
                    raise self._changed(
                        one, plural(known["alarms"], "alarm"), plural(now, "alarm"), f"alarms of {name}"
                    )

    def _changed(self, one: dict[str, Any], was: str, now: str, what: str) -> InputError:
        about = self.timeline
        return InputError(
            problem=f"the {what} of the block {about.show(one['start'])} to {about.show(one['stop'])} have changed since it was "
            f"settled: {was} then, {now} now",
            remedy=say("pass a longer {}, or begin a new run by {}", arg("labels_final"), RESTART),
        )


def _refuse_irregular(data: Data) -> None:
    between = np.diff(data.rows) if data.rows is not None else np.zeros(0)
    off = np.abs(between / data.step - np.rint(between / data.step))
    if len(between) and float(np.quantile(off, 0.9)) > 0.25:
        raise InputError(
            argument="tolerance", problem="counts steps, but these come at irregular times", remedy="pass a duration"
        )


def _midnight(at: int, zone: str | None) -> int:
    if zone is None:
        return at // DAY * DAY
    local = datetime.fromtimestamp(at // 10**9, ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int(local.timestamp()) * 10**9


def _between(at: IntArray, start: int, stop: int) -> IntArray:
    """Of ascending times those from start up to, not including, stop."""
    first, last = np.searchsorted(at, [start, stop])
    return at[first:last]


def _among(some: IntArray, at: IntArray) -> IntArray:
    """Those of some ascending times that are steps which count."""
    found = np.searchsorted(at, some)
    inside = found < len(at)
    inside[inside] = at[found[inside]] == some[inside]
    return some[inside]


def _right(own: IntArray, begins: IntArray, ends: IntArray, early: int, late: int) -> BoolArray:
    """Which alarms have an event near them."""
    order = np.argsort(begins, kind="stable")
    reached = np.concatenate([[np.iinfo(np.int64).min], np.maximum.accumulate(ends[order])])
    return np.asarray(reached[np.searchsorted(begins[order], own + early, side="right")] >= own - late)


def _hash(*arrays: IntArray) -> str:
    made = hashlib.sha256()
    for one in arrays:
        made.update(np.ascontiguousarray(one, dtype="<i8").tobytes() + b";")
    return made.hexdigest()[:16]


# ---- the file: one line for each block, rewritten whole or not at all


def _dumped(state: State) -> str:
    """The state as readable JSON."""
    about = state.time
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "settings": state.settings,
        "run": state.run,
        "earlier_runs": state.earlier,
        "time": None if about is None else vars(about),
        "detectors": state.detectors,
        "begin": None if about is None else about.show(state.begin),
        "block": state.block,
        "base": state.base,
        "choose_again_at": state.again,
        "chosen": {name: vars(one) for name, one in state.chosen.items()},
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in made.items()]
    for key, rows in (("blocks", state.blocks), ("past", state.past)):
        shown = (row | {end: about.show(row[end]) for end in ("start", "stop")} for row in rows if about is not None)
        body = ",\n".join(f"    {json.dumps(row, ensure_ascii=False, separators=(',', ':'))}" for row in shown)
        lines.append(f'  "{key}": [\n{body}\n  ]' if body else f'  "{key}": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _loaded(text: str, path: str) -> State:
    """The state of a file; refuses what it cannot read, by name."""
    try:
        made = json.loads(text)
        if not isinstance(made, dict) or made.get("format") != FORMAT:
            raise InputError(problem=f"{path} is not the state of a watch", remedy="choose another file")
        if int(made["version"]) > VERSION:
            raise InputError(
                problem=f"{path} was written by a newer nofluke (version {made['version']} of the state; this one reads up to "
                f"{VERSION})",
                remedy="update nofluke",
            )
        about = None if made["time"] is None else Timeline(**made["time"])

        def at(value: Any) -> int:
            return (
                _moment(value.removesuffix("Z"), "state")[0] if about is not None and about.dates else int(value or 0)
            )

        rows = {
            key: [row | {end: at(row[end]) for end in ("start", "stop")} for row in made[key]]
            for key in ("blocks", "past")
        }
        return State(
            settings=made["settings"],
            run=made["run"],
            earlier=made["earlier_runs"],
            time=about,
            detectors=made["detectors"],
            begin=at(made["begin"]) if about is not None else 0,
            block=made["block"],
            base=made["base"],
            again=made["choose_again_at"],
            chosen={name: Chosen(**one) for name, one in made["chosen"].items()},
            **rows,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            problem=f"{path} is damaged ({type(error).__name__}: {error})", remedy="restore it, or choose another file"
        ) from None


@contextmanager
def _alone(path: Path | None) -> Iterator[None]:
    """One process at a time updates a file; others wait for it, for a while."""
    if path is None:
        yield
        return
    stop = clock_time.monotonic() + PATIENCE
    beside = path.with_name(f"{path.name}.lock")
    while True:
        try:
            lock = Lock(beside, argument="path", value=str(path), user="watch", place="file")
            break
        except OSError as error:
            raise InputError(
                problem=f"{path} cannot be written ({error.strerror})", remedy="choose another place"
            ) from None
        except InputError:
            if clock_time.monotonic() > stop:
                raise
            clock_time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()


# ---- the watch


class Watch:
    """A detector, or several, under watch: settings and settled blocks, in memory or in a file.

    Made by :func:`nofluke.watch`, or by :meth:`replay` over a labelled past.

    See Also
    --------
    nofluke.watch : makes it.
    nofluke.WatchResult : what an update returns.
    nofluke.evaluate : judges a series once, at its end.

    Examples
    --------
    >>> import numpy as np, nofluke as nf
    >>> rng = np.random.default_rng(1)
    >>> events = rng.random(20_000) < 0.01
    >>> alarms = np.where(events, rng.random(20_000) < 0.5, rng.random(20_000) < 0.02)
    >>> watch = nf.Watch.replay(events, predictions=alarms, tolerance=2, block=500)
    >>> watch.result.verdict, watch.result.n_blocks
    ('better than chance', 39)
    """

    def __init__(self, state: State, path: Path | None = None, restart: dict[str, Any] | None = None) -> None:
        self._state, self._path = state, path
        self._restart = restart  # settings of a run that the next update begins

    def __repr__(self) -> str:
        where = "" if self._path is None else f" in {self._path}"
        return f"<Watch{where}: {plural(len(self._state.blocks), 'block')} settled>"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values, with defaults."""
        return DEFAULTS | self._state.settings

    @property
    def detectors(self) -> tuple[str, ...]:
        """The names of those that are watched, since the first update."""
        return tuple(self._state.detectors)

    @property
    def needs_from(self) -> str | None:
        """From when on the next update needs data: where the first block begins that is not settled.

        That is all events and alarms from then on, and the ranges that last until then.
        """
        state = self._state
        return None if state.time is None else state.time.show(state.next)

    @property
    def result(self) -> WatchResult:
        """What has been found so far."""
        return WatchResult(state=self._state)

    def update(
        self,
        truth: Any,
        scores: Any = None,
        *,
        predictions: Any = None,
        times: Any = None,
        mask: Any = None,
        gaps: Any = None,
        since: Any = None,
        until: Any = None,
    ) -> WatchResult:
        """Take new data, settle the blocks whose labels are final, and say what was found.

        Pass all data from the first block on that is not settled (`needs_from`): its labels may have changed. Older
        data may be passed too, and are compared with what was settled. The same update twice changes nothing.

        Parameters
        ----------
        truth : array-like
            Labels of steps, positions, times, or ranges of either, as in :func:`nofluke.evaluate`.
        scores : array-like or mapping of str to array-like, optional
            Anomaly scores of each step; several detectors by name. They need the setting ``threshold``.
        predictions : array-like or mapping of str to array-like, optional
            Alarms instead: 0/1 of each step, or a list of dates, for which no steps are needed.
        times : array-like, optional
            The clock of the steps, in any order. Without one, steps are numbered from 0, or from ``since``.
        mask : array-like of bool, optional
            True for steps to ignore.
        gaps : pairs of times, optional
            Unwatched stretches, both ends included, where lists of dates are passed.
        since : date or int, optional
            From when on lists are complete, or the number of the first step. By default lists are compared with settled
            blocks from where both have begun.
        until : date or int, optional
            Up to when data are complete: nothing after it is used. "now" is the machine's clock. By default the end of
            the last step; lists of dates need it.

        Returns
        -------
        WatchResult
        """
        with _alone(self._path):
            if self._path is not None and self._path.exists():
                self._state = _read_state(self._path)
                if self._restart is not None:
                    self._state = _restarted(self._state, self._restart)
            kind, detectors = _several(scores, predictions)
            state = self._state
            data = _read(
                truth,
                kind,
                detectors,
                settings=state.settings,
                times=times,
                mask=mask,
                gaps=gaps,
                since=since,
                until=until,
            )
            if state.time is None:
                try:
                    state.begin_with(data, state.setting("start"))
                except InputError:
                    state.time = None
                    raise
            self._check(state, data, since)
            if data.rows is None and since is not None and data.begin > state.next:
                data = _unwatched(data, state.next)
            state.check(data)
            if state.settle(data) or self._path is not None:
                self._write()
            self._restart = None
        return WatchResult(state=state, notes=data.notes)

    def _write(self) -> None:
        if self._path is not None:
            text = _dumped(self._state)
            if not self._path.exists() or self._path.read_text(encoding="utf-8") != text:
                write_file(self._path, text, str(self._path))

    @staticmethod
    def _check(state: State, data: Data, since: Any) -> None:
        """Refuse what does not go on with what was settled."""
        about = state.timeline
        if set(data.alarms) != set(state.detectors):
            if not state.blocks:
                state.detectors = list(data.alarms)
                state._begin_blocks()
            else:
                gone = sorted(set(state.detectors) - set(data.alarms))
                new = sorted(set(data.alarms) - set(state.detectors))
                said = [f"{', '.join(gone)} missing" * bool(gone), f"{', '.join(new)} new" * bool(new)]
                raise InputError(
                    problem=f"the detectors are not those that are watched: {' and '.join(filter(None, said))}",
                    remedy=say("pass {}, or begin a new run by {}", ", ".join(state.detectors), RESTART),
                )
        if data.dates != about.dates:
            raise InputError(argument="times", problem=f"must be {'dates' if about.dates else 'steps'}, as before")
        known = any(one["events"] or any(own["alarms"] for own in one["by"].values()) for one in state.blocks)
        given = data.rows is not None or len(data.begins) or any(map(len, data.alarms.values()))
        if given and not known:
            about.aware = data.aware  # lists were empty so far
        if data.aware != about.aware and given:
            raise InputError(
                argument="times", problem=f"{'have no' if about.aware else 'have a'} time zone, unlike before"
            )
        slack = about.step * (1 if about.resolution == about.step else 10)  # irregular steps may begin late
        if data.rows is not None and state.blocks and data.begin > state.next + slack and since is None:
            raise InputError(
                argument="times",
                problem=f"begin at {about.show(data.begin)}, but the block from {about.show(state.next)} is not settled",
                remedy=say("pass data from then on; if nothing was watched before, say so by {}", arg("since")),
            )

    @classmethod
    def replay(
        cls,
        truth: Any,
        scores: Any = None,
        *,
        predictions: Any = None,
        times: Any = None,
        mask: Any = None,
        gaps: Any = None,
        since: Any = None,
        until: Any = None,
        **settings: Any,
    ) -> Self:
        """A watch over a labelled past, all of it final: the same path as updates at any times would have given.

        Parameters
        ----------
        truth, scores, predictions, times, mask, gaps, since, until
            As in `update`.
        **settings
            As in :func:`nofluke.watch`; ``labels_final`` does not matter.
        """
        unknown = settings.keys() - SETTINGS
        if unknown:
            raise TypeError(f"replay() got an unexpected keyword argument {min(unknown)!r}")
        made = cls(State(settings=_complete(_settings(settings | {"labels_final": 0}))))
        made.update(truth, scores, predictions=predictions, times=times, mask=mask, gaps=gaps, since=since, until=until)
        return made


def _unwatched(data: Data, start: int) -> Data:
    """Lists that begin later than they are needed: nobody watched in between."""
    starts, stops = (np.append(data.gaps.starts, start), np.append(data.gaps.stops, data.begin))
    return replace(data, gaps=_merged(starts, stops))


SETTINGS = {
    *("tolerance", "block", "labels_final", "alpha", "null", "start", "step", "threshold", "higher_is", "count_events"),
    *("mute_after", "lost_below", "false_alarm_every", "timezone"),
}


def _complete(settings: dict[str, Any]) -> dict[str, Any]:
    if "tolerance" not in settings:
        raise InputError(
            argument="tolerance", problem="must be fixed before a watch begins", remedy="pass steps, or a duration"
        )
    return settings


def _read_state(path: Path) -> State:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise InputError(problem=f"{path} cannot be read ({why})", remedy="choose another file") from None
    return _loaded(text, str(path))


def watch(
    path: Any = None,
    *,
    tolerance: Length | Tolerance | None = None,
    block: Length | None = None,
    labels_final: Length | None = None,
    alpha: float | None = None,
    null: Any = None,
    threshold: float | None = None,
    higher_is: Literal["anomalous", "normal"] | None = None,
    count_events: Literal["steps", "ranges"] | None = None,
    mute_after: Length | None = None,
    lost_below: Any = None,
    false_alarm_every: Any = None,
    start: Any = None,
    step: Length | None = None,
    timezone: str | None = None,
    restart: bool = False,
) -> Watch:
    r"""Watch a detector: evidence that it is better than chance, to be looked at as often as one likes.

    Time is cut into blocks. In a settled block, given the alarms and what the null keeps, the law of the hits H is
    known, and :math:`e = e^{\theta H} / E_0[e^{\theta H}]` has expectation 1. The mean over some θ of the products over
    blocks reaches 1/α with probability α at most, however often one looks.

    Parameters
    ----------
    path : path, optional
        The file of the state: made by the first update, and rewritten whole by each. An existing one brings its
        settings, and only changed ones need to be passed, with ``restart``. Without a path, all is in memory.
    tolerance : int, str, timedelta or Tolerance
        How early or late an alarm may be.
    block : int, str or timedelta, default "auto"
        How long a block is: long against the tolerance, and several periods of a season where there is one.
    labels_final : int, str or timedelta, default 0
        How long after the end of a block its labels are final.
    alpha : float, default 0.05
        The level of the verdict.
    null : str, default "auto"
        What chance does within a block: "permutation", "circular-shift" (all rotations), or "period-shuffle:period=1d"
        (whole periods exchanged). "auto" chooses one from settled blocks, for those to come.
    threshold : float, optional
        Which scores are alarms. It must be fixed before they are seen.
    higher_is, count_events
        As in :func:`nofluke.evaluate`.
    mute_after : int, str or timedelta, optional
        Alarms are held back for so long after each event: these steps are masked, and those whose windows reach into
        them.
    lost_below : float, str or Evaluation, optional
        The recall below which skill is lost: a share, the lower limit of a result's interval, or the length of a
        reference period at the beginning ("90d"), of whose confidence sequence the lower limit is taken.
    false_alarm_every : str or int, default "1y"
        The mean time between two false verdicts of a loss, at least.
    start : date or int, optional
        Where the first block begins; by default at the midnight before the first data, or at the first step.
    step : str, optional
        The resolution of lists of dates; by default about a fiftieth of the tolerance, and at least a second.
    timezone : str, optional
        Whole days are those of the calendar there ("Europe/Berlin"), where times have a zone.
    restart : bool
        Begin a new run with the next update and block, with the settings that were passed. Runs share α: the first has
        4/5 of it, each later one half of what is left.

    Returns
    -------
    Watch
        With ``update``, ``result`` and ``needs_from``.

    References
    ----------
    Ville (1939), Étude critique de la notion de collectif. Shafer (2021), Testing by betting, Journal of the Royal
    Statistical Society A 184. Grünwald, de Heide and Koolen (2024), Safe testing.

    See Also
    --------
    nofluke.Watch : what it makes.
    nofluke.evaluate : judges a series once.

    Examples
    --------
    >>> import numpy as np, nofluke as nf
    >>> watch = nf.watch(tolerance=2, block=500)
    >>> rng = np.random.default_rng(1)
    >>> events = rng.random(20_000) < 0.01
    >>> alarms = np.where(events, rng.random(20_000) < 0.5, rng.random(20_000) < 0.02)
    >>> print(watch.update(events[:3_000], predictions=alarms[:3_000]).verdict)
    not yet
    >>> result = watch.update(events, predictions=alarms)
    >>> result.verdict, result.since.convincing
    ('better than chance', '3000')
    """
    given = {
        "tolerance": tolerance, "block": block, "labels_final": labels_final, "alpha": alpha, "null": null,
        "threshold": threshold, "higher_is": higher_is, "count_events": count_events, "mute_after": mute_after,
        "lost_below": lost_below, "false_alarm_every": false_alarm_every, "start": start, "step": step,
        "timezone": timezone,
    }  # fmt: skip
    asked = _settings(given)
    place = None if path is None else expanded(path, "path")
    if place is None or not place.exists():
        return Watch(State(settings=_complete(asked)), place)
    with _alone(place):
        state = _read_state(place)
        differ = [name for name, value in asked.items() if state.setting(name) != value]
        if restart:
            return Watch(_restarted(state, asked), place, asked)
        if differ:
            told = ", ".join(f"{name} {state.setting(name)} then, {asked[name]} now" for name in differ)
            raise InputError(
                problem=f"{place} is a watch with other settings: {told}",
                remedy=say("leave them out, or begin a new run by {}; runs share alpha", RESTART),
            )
    return Watch(state, place)


def _restarted(state: State, asked: dict[str, Any]) -> State:
    """A new run from the next block on, which knows nothing of those before."""
    settings = state.settings | asked
    changed = {name for name, value in asked.items() if state.setting(name) != value} - {"start", "labels_final"}
    if state.time is not None and "start" in asked and changed:
        begin, dates, _ = _moment(asked["start"], "start")
        if dates == state.time.dates and begin < state.next:
            raise InputError(
                argument="start",
                value=asked["start"],
                problem=f"lies in blocks that were seen before {', '.join(sorted(changed))} changed",
                remedy=f"leave it out, or pass {state.time.show(state.next)} or later",
            )
    if state.time is not None and "start" not in asked:
        settings["start"] = state.next if not state.time.dates else str(np.datetime64(state.next, "ns"))
        settings["start"] = f"{settings['start']}Z" if state.time.aware else settings["start"]
    summary = {
        "run": state.run,
        "settings": state.settings,
        "blocks": len(state.blocks),
        "detectors": {
            one.name: {"verdict": one.verdict, "evidence": one.evidence.now, "highest": one.evidence.highest}
            for one in WatchResult(state=state).detectors
        },
    }
    if state.time is not None:
        summary["until"] = state.time.show(state.next)
    return State(settings=settings, run=state.run + 1, earlier=[*state.earlier, summary])


# ---- what was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The e-value now, and the highest so far; both are weighed by the run's share of α, so that the bar is 1/α."""

    now: float
    highest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """When evidence became convincing, when a block last taught something, when skill was lost; None for never."""

    convincing: str | None
    learned: str | None
    lost: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningMean:
    """The mean of the shares of blocks, and the confidence sequence for that of their expectations.

    It covers the mean over all blocks so far, not the rate of today.
    """

    value: float
    low: float
    high: float
    hits: int
    of: int

    def __str__(self) -> str:
        if not self.of:
            return "undefined"
        return f"{show_share(self.value)} ({show_share(self.low)} to {show_share(self.high)})"

    def to_dict(self) -> dict[str, Any]:
        """As plain values; None for what is undefined."""
        shares = {name: finite_or_none(getattr(self, name)) for name in ("value", "low", "high")}
        return shares | {"hits": self.hits, "of": self.of}


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchedDetector:
    """What was found of one detector.

    Attributes
    ----------
    name : str
    verdict : {"better than chance", "not yet", "lost", "cannot tell", "nothing to learn"}
    reason : str
        Why, in a sentence.
    evidence : Evidence
    pvalue : float
        1 over the highest evidence: valid at all times.
    since : Since
    recall, precision : RunningMean
    null : str
        What chance does in the blocks to come, and why.
    """

    name: str
    verdict: Verdict
    reason: str
    evidence: Evidence
    pvalue: float
    since: Since
    recall: RunningMean
    precision: RunningMean
    null: str
    why: str
    lost_below: float | None
    path: FloatArray = field(repr=False)
    bands: dict[str, tuple[AnyArray, FloatArray, BoolArray]] = field(repr=False)

    def in_words(self) -> str:
        """One line."""
        now, top = (f"{value:.3g}" for value in (self.evidence.now, self.evidence.highest))
        return (
            f"{self.name}: {self.verdict}. {self.reason} Evidence {now} (highest {top}, always-valid {p_is(self.pvalue)}); "
            f"recall {self.recall}, precision {self.precision}."
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": {"now": self.evidence.now, "highest": self.evidence.highest},
            "pvalue": self.pvalue,
            "since": {"convincing": self.since.convincing, "learned": self.since.learned, "lost": self.since.lost},
            "recall": self.recall.to_dict(),
            "precision": self.precision.to_dict(),
            "lost_below": self.lost_below,
            "null": self.null,
            "why": self.why,
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WatchResult(Exports):
    """What a watch has found: a verdict for each detector, its evidence, and how both measures have gone.

    Attributes
    ----------
    detectors : tuple of WatchedDetector
    verdict : str
        Of the only detector, or the worst of several.
    evidence, pvalue, since, recall, precision
        Of the only detector; of several, ask ``result["name"]``.

    See Also
    --------
    nofluke.watch : where updates begin.
    nofluke.plot.watch : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.Watch.replay([0, 1, 0, 0] * 100, predictions=[0, 1, 0, 1] * 100, tolerance=0, block=40).result
    >>> found.verdict, found.recall.hits, found.recall.of
    ('better than chance', 100, 100)
    """

    state: State
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<WatchResult {self.verdict}: {plural(self.n_blocks, 'block')} settled>"

    @property
    def n_blocks(self) -> int:
        """Blocks that are settled, in this run."""
        return len(self.state.blocks)

    @property
    def settled_until(self) -> str | None:
        """Where the last settled block ends."""
        return self.state.timeline.show(self.state.next) if self.state.blocks else None

    @property
    def alpha(self) -> float:
        """The level of the verdict."""
        return float(self.state.setting("alpha"))

    @lazy
    def times(self) -> AnyArray:
        """Where each settled block ends: dates, or steps."""
        stops = np.array([one["stop"] for one in self.state.blocks], dtype=np.int64)
        dates = self.state.time is not None and self.state.time.dates
        return stops.astype("datetime64[ns]") if dates else stops

    @lazy
    def _paths(self) -> dict[str, FloatArray]:
        """Logarithms of the evidence after each block, weighed by the run's share of α."""
        found = {}
        for name in self.state.detectors:
            rows = [(*one["by"][name]["recall"], *one["by"][name]["precision"]) for one in self.state.blocks]
            logs = np.array(rows, dtype=np.float64).reshape(len(rows), 2 * len(TILTS))
            found[name] = log_mean(logs) + math.log(self.state.weight)
        return found

    @lazy
    def detectors(self) -> tuple[WatchedDetector, ...]:
        """What was found of each."""
        return tuple(self._judged(name) for name in self.state.detectors)

    def __getitem__(self, name: str) -> WatchedDetector:
        for one in self.detectors:
            if one.name == name:
                return one
        raise KeyError(name)

    @property
    def _only(self) -> WatchedDetector:
        if len(self.detectors) != 1:
            names = ", ".join(self.state.detectors) or "none"
            raise InputError(problem=f"{len(self.detectors)} detectors are watched", remedy=f"ask for one of {names}")
        return self.detectors[0]

    @property
    def verdict(self) -> Verdict:
        """Of the only detector, or the worst of several: "lost" before "cannot tell", and so on."""
        found = [one.verdict for one in self.detectors]
        return min(found, key=VERDICTS.index, default="cannot tell")

    @property
    def reason(self) -> str:
        """Why, of the only detector or of the worst."""
        worst = min(self.detectors, key=lambda one: VERDICTS.index(one.verdict), default=None)
        if worst is None:
            return "Nothing was passed yet."
        return worst.reason if len(self.detectors) == 1 else f"{worst.name}: {worst.reason}"

    @property
    def evidence(self) -> Evidence:
        """Of the only detector."""
        return self._only.evidence

    @property
    def pvalue(self) -> float:
        """Of the only detector, valid at all times."""
        return self._only.pvalue

    @property
    def since(self) -> Since:
        """Of the only detector."""
        return self._only.since

    @property
    def recall(self) -> RunningMean:
        """Of the only detector."""
        return self._only.recall

    @property
    def precision(self) -> RunningMean:
        """Of the only detector."""
        return self._only.precision

    # -- judging

    @lazy
    def _convincing(self) -> dict[str, BoolArray]:
        """After each block, whether the evidence is: it has ever reached 1/α; of several, by e-BH at that time."""
        bar = -math.log(self.alpha)
        if len(self._paths) == 1:
            return {name: np.maximum.accumulate(path) >= bar for name, path in self._paths.items()}
        flags = {name: np.zeros(self.n_blocks, dtype=np.bool_) for name in self._paths}
        for i in range(self.n_blocks):
            now = {name: math.exp(min(path[i], 700.0)) for name, path in self._paths.items()}
            for name in found_by_e_bh(now, self.alpha):
                flags[name][i] = True
        return flags

    def _judged(self, name: str) -> WatchedDetector:
        state, rows = self.state, [one["by"][name] for one in self.state.blocks]
        path, convincing = self._paths[name], self._convincing[name]
        highest = max(float(path.max(initial=-math.inf)), math.log(state.weight))
        now = float(path[-1]) if len(path) else math.log(state.weight)
        learned = [i for i, row in enumerate(rows) if row["learned"]]
        counts = {
            "recall": np.array([(row["found"], one["events"]) for row, one in zip(rows, state.blocks, strict=True)]),
            "precision": np.array([(row["right"], row["alarms"]) for row in rows]),
        }
        means, bands = {}, {}
        for measure, pairs in counts.items():
            pairs = pairs.reshape(-1, 2)
            some = pairs[:, 1] > 0
            mean, low, high = running_means(pairs[some, 0] / pairs[some, 1], self.alpha)
            last = [float(one[-1]) if len(one) else math.nan for one in (mean, low, high)]
            hits, of = (int(one) for one in pairs.sum(axis=0))
            means[measure] = RunningMean(value=last[0], low=last[1], high=last[2], hits=hits, of=of)
            bands[measure] = (np.flatnonzero(some), np.stack([mean, low, high]), some)
        least, lost = self._lost(counts["recall"].reshape(-1, 2), bands["recall"])
        gone = bool(len(lost) and lost[-1])
        since = Since(
            convincing=self._first(convincing) if len(convincing) and convincing[-1] else None,
            learned=self._when(learned[-1]) if learned else None,
            lost=self._first(lost) if gone else None,
        )
        sure = bool(len(convincing) and convincing[-1])
        verdict, reason = self._ruled(name, sure, since, least, learned)
        chosen = state.chosen.get(name)
        return WatchedDetector(
            name=name,
            verdict=verdict,
            reason=reason,
            evidence=Evidence(now=math.exp(min(now, 700.0)), highest=math.exp(min(highest, 700.0))),
            pvalue=min(math.exp(-highest), 1.0),
            since=since,
            recall=means["recall"],
            precision=means["precision"],
            null="" if chosen is None else NAMES[chosen.null],
            why="" if chosen is None else chosen.why,
            lost_below=least,
            path=np.exp(np.minimum(path, 700.0)),
            bands=bands,
        )

    def _lost(self, recall: IntArray, band: Any) -> tuple[float | None, BoolArray]:
        """The rate that was promised, and after each block whether it is lost."""
        state, n = self.state, self.n_blocks
        asked = state.setting("lost_below")
        lost = np.zeros(n, dtype=np.bool_)
        if asked is None or not n:
            return None, lost
        long = [one["long"] for one in state.blocks]
        begin = max((i + 1 for i in range(n - 1) if long[i] != long[i + 1]), default=0)  # blocks of one length only
        least: float | None = asked if not isinstance(asked, str) else None
        if isinstance(asked, str):
            about = state.timeline
            until = state.begin + _in_time(asked, about.step, about.dates, "lost_below")
            inside = [i for i, one in enumerate(state.blocks) if one["stop"] <= until]
            known = np.searchsorted(band[0], len(inside))
            if len(inside) == n or not known or not 0 < band[1][1][known - 1] < 1:
                return None, lost
            least, begin = float(band[1][1][known - 1]), max(begin, len(inside))
        assert least is not None
        about = state.timeline
        every = state.setting("false_alarm_every")
        if about.dates or not isinstance(every, str):
            bar = _years(every) * (1 if isinstance(every, str) else about.step) / long[-1]
        else:
            bar = 365.0  # steps know no years: as many blocks as a year has days
        some = np.flatnonzero(recall[:, 1] > 0)
        some = some[some >= begin]
        stands = losses(recall[some, 0] / recall[some, 1], least, max(bar, 1.0))[1]
        for i, one in zip(some.tolist(), stands.tolist(), strict=True):
            lost[i:] = one
        return least, lost

    def _when(self, i: int) -> str:
        return self.state.timeline.show(self.state.blocks[i]["stop"])

    def _first(self, flags: BoolArray) -> str:
        """Since when flags have been set without a break."""
        off = np.flatnonzero(~flags)
        return self._when(int(off[-1]) + 1 if len(off) else 0)

    def _ruled(
        self, name: str, sure: bool, since: Since, least: float | None, learned: list[int]
    ) -> tuple[Verdict, str]:
        state, chosen = self.state, self.state.chosen.get(name)
        idle = f" There was nothing to learn from since {since.learned}." if since.learned else ""
        quiet = self.n_blocks - (learned[-1] + 1 if learned else 0) >= IDLE
        if since.lost is not None:
            return "lost", f"Since {since.lost} it finds fewer than {show_share(least or 0.0)} of the events."
        if sure:
            by = "" if len(state.detectors) == 1 else f" among {len(state.detectors)} detectors (e-BH)"
            return (
                "better than chance",
                f"The evidence is convincing since {since.convincing}{by}.{idle if quiet else ''}",
            )
        if not state.blocks:
            about = state.time
            if about is None:
                return "cannot tell", "Nothing was passed yet."
            stop = about.after(state.next, state.block)
            return "cannot tell", f"No block is settled yet: the first is at {about.show(stop + state.wait)}."
        if chosen is None:
            events = sum(one["events"] for one in state.blocks)
            return (
                "cannot tell",
                f"Settled blocks hold {plural(events, 'event')}, and {ENOUGH} are needed to choose a null.",
            )
        if not chosen.holds:
            return "cannot tell", chosen.why
        if quiet:
            when = f"since {since.learned}" if since.learned else "so far"
            return "nothing to learn", f"No block had events, alarms and a choice {when}."
        return "not yet", f"The evidence has not reached {1 / self.alpha:g}."

    # -- ways out

    def sentences(self) -> tuple[str, ...]:
        """The result in plain words: one for each detector, then what holds for all."""
        told = [one.in_words() for one in self.detectors]
        blocks = f"{plural(self.n_blocks, 'block')} settled"
        until = f", until {self.settled_until}" if self.settled_until else ""
        run = f" Run {self.state.run}: runs share alpha." if self.state.run > 1 else ""
        several = (
            " Several detectors are corrected by e-BH on their evidence at this time; a list of all that were ever found "
            "is not."
            if len(self.state.detectors) > 1
            else ""
        )
        return (*told, f"{blocks}{until}.{run}{several}", VOIDS)

    def in_words(self) -> str:
        """One line: every detector, and what voids it."""
        return " ".join(self.sentences())

    def table(self) -> Table:
        """A row for each detector."""
        columns = ("", "verdict", "evidence", "highest", "p", "recall", "precision", "last learned")
        rows = tuple(
            (
                one.name,
                one.verdict,
                f"{one.evidence.now:.3g}",
                f"{one.evidence.highest:.3g}",
                show_p(one.pvalue),
                str(one.recall),
                str(one.precision),
                one.since.learned or "never",
            )
            for one in self.detectors
        )
        reasons = [one.reason if len(self.detectors) == 1 else f"{one.name}: {one.reason}" for one in self.detectors]
        nulls = dict.fromkeys(f"Null: {one.null}. {one.why}" for one in self.detectors if one.null)
        limits = f"Limits hold at all times at once (level {1 - self.alpha:g}), for the mean over all blocks so far, not for today's rate."
        return Table(
            columns=columns, rows=rows, title=self.sentences()[-2], left=2, notes=(*reasons, *nulls, limits, VOIDS, *noted(self.notes))
        )  # fmt: skip

    def columns(self) -> dict[str, Any]:
        """A row for each settled block and detector."""
        found: dict[str, list[Any]] = {
            name: []
            for name in (
                *("detector", "start", "stop", "events", "found", "alarms", "right", "null", "learned", "evidence"),
                *("recall", "recall_low", "recall_high", "precision", "precision_low", "precision_high"),
            )
        }
        for one in self.detectors:
            running = {}
            for measure, (_, band, some) in one.bands.items():
                at = np.cumsum(some) - 1
                for i, end in enumerate(("", "_low", "_high")):
                    values = (
                        np.where(at >= 0, band[i][np.maximum(at, 0)], np.nan)
                        if band.shape[1]
                        else np.full(len(some), np.nan)
                    )
                    running[f"{measure}{end}"] = values.tolist()
            for i, block in enumerate(self.state.blocks):
                row = block["by"][one.name]
                about = self.state.timeline
                plain = {
                    "detector": one.name, "start": about.show(block["start"]), "stop": about.show(block["stop"]),
                    "events": block["events"], "found": row["found"], "alarms": row["alarms"], "right": row["right"],
                    "null": row["null"], "learned": row["learned"], "evidence": float(one.path[i]),
                }  # fmt: skip
                for key, value in (plain | {key: values[i] for key, values in running.items()}).items():
                    found[key].append(value)
        return found

    def _record(self) -> dict[str, Any]:
        state = self.state
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "reason": self.reason,
            "alpha": self.alpha,
            "run": state.run,
            "share_of_alpha": state.weight,
            "blocks": self.n_blocks,
            "block": None if state.time is None else state.time.told(state.block),
            "settled_until": self.settled_until,
            "settings": DEFAULTS | state.settings,
            "detectors": [one.to_dict() for one in self.detectors],
            "assumes": VOIDS,
            "notes": list(self.notes),
        }

    def to_prometheus(self) -> str:
        """Metrics for the textfile collector of Prometheus's node exporter, by detector."""
        shown: dict[str, tuple[str, list[tuple[str, float]]]] = {}

        def add(name: str, about: str, labels: str, value: float) -> None:
            shown.setdefault(f"nofluke_watch_{name}", (about, []))[1].append((labels, value))

        for one in self.detectors:
            label = f'detector="{_label(one.name)}"'
            add("evidence", "E-value now, weighed by the run's share of alpha.", label, one.evidence.now)
            add("evidence_highest", "Highest e-value so far.", label, one.evidence.highest)
            add("pvalue", "Always-valid p-value.", label, one.pvalue)
            for measure, mean in (("recall", one.recall), ("precision", one.precision)):
                for end, value in (("", mean.value), ("_low", mean.low), ("_high", mean.high)):
                    add(f"{measure}{end}", f"Mean {measure} of blocks, and its confidence sequence.", label, value)
            add("blocks_settled", "Settled blocks of this run.", label, self.n_blocks)
            for verdict in VERDICTS:
                own = f'{label},verdict="{verdict}"'
                add("verdict", "1 for the verdict that holds.", own, float(one.verdict == verdict))
        lines = []
        for name, (about, values) in shown.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
            lines += [f"{name}{{{labels}}} {_sample(value)}" for labels, value in values]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> AnyArray:
        """Draw evidence over time on a log axis with the line 1/α, and both measures with their bands (matplotlib)."""
        from nofluke.plot import watch as plot_watch

        return plot_watch(self, ax)

    def report(self, path: Any) -> Path:
        """Write a page about it: verdict, evidence over time, and the blocks."""
        from nofluke.show.watch import write_page

        return write_page(self, path)


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _sample(value: float) -> str:
    return "NaN" if math.isnan(value) else f"{value:.10g}"
