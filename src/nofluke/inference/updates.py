"""What an update of a watch was given, as times: whole nanoseconds, or numbers of steps.

Either a value for each step, read as everywhere, or lists of dates, for which time passes in steps of their resolution.
"""

from __future__ import annotations

import time as clock_time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.data.columns import Column, Pairs, UtcTimes, as_column
from nofluke.dates import as_duration, in_unit
from nofluke.errors import InputError, arg, named, say
from nofluke.plain import whole_or_none
from nofluke.series.counting import in_ranges, union
from nofluke.series.occurrences import as_gaps
from nofluke.series.reading import Sequence, prepare, read_given
from nofluke.series.tolerance import Ranges

DAY = 86_400 * 10**9
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600)  # seconds that lists may be rounded to
NOTHING: IntArray = np.zeros(0, dtype=np.int64)
NONE = Ranges(starts=NOTHING, stops=NOTHING)


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """What an update was given.

    ``rows`` are the times of all steps, and ``open`` those that count; where there are none, time passes in ``step``
    and ``gaps`` do not count. ``cut`` says that the first event may be the rest of one that began before.
    """

    begins: IntArray
    ends: IntArray
    points: bool
    alarms: dict[str, IntArray]
    begin: int
    until: int
    step: int
    dates: bool
    aware: bool
    rows: IntArray | None = None
    open: BoolArray | None = None
    gaps: Ranges = NONE
    cut: bool = False
    notes: tuple[str, ...] = ()

    def steps(self, start: int, stop: int) -> IntArray:
        """Times of the steps that count from start up to, not including, stop."""
        if self.rows is not None and self.open is not None:
            first, last = np.searchsorted(self.rows, [start, stop])
            return self.rows[first:last][self.open[first:last]]
        at = np.arange(start, stop, self.step, dtype=np.int64)
        return at[~in_ranges(at, self.gaps)]

    def unwatched_from(self, start: int) -> Data:
        """Lists that begin later than they are needed: nobody watched in between."""
        starts, stops = (np.append(self.gaps.starts, start), np.append(self.gaps.stops, self.begin))
        return replace(self, gaps=merged(starts, stops))


def merged(starts: IntArray, stops: IntArray) -> Ranges:
    """Half-open ranges in any order, which may overlap, as those that they cover together."""
    order = np.argsort(starts, kind="stable")
    return union(Ranges(starts=starts[order], stops=np.maximum.accumulate(stops[order])))


def in_time(value: int | str, step: int, dates: bool, name: str) -> int:
    """A length of settings, steps or a duration, in the time of the data."""
    if not isinstance(value, str):
        return value * step
    if not dates:
        raise InputError(
            argument=name, value=value, problem="is a duration, but the data have no dates", remedy="pass steps"
        )
    return int(as_duration(value, name) or 0)


def moment(value: Any, name: str) -> tuple[int, bool, bool]:
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
    return int(_dates(column.values, name)[0]), True, column.aware


def _is_now(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() == "now"


def _dates(values: AnyArray, name: str) -> IntArray:
    """Dates as nanoseconds."""
    if not len(values):
        return NOTHING
    if values.dtype.kind != "M":
        raise InputError(argument=name, problem="holds numbers, but others hold dates", remedy="pass dates everywhere")
    return in_unit(np.asarray(values), "ns", name).astype(np.int64)


def read_update(
    truth: Any,
    scores: Any,
    predictions: Any,
    *,
    settings: Mapping[str, Any],
    times: Any,
    mask: Any,
    gaps: Any,
    since: Any,
    until: Any,
) -> Data:
    """Everything that an update was given: a value for each step, or lists of dates."""
    if (scores is None) is (predictions is None):
        got = "neither" if scores is None else "both"
        raise InputError(problem=say("pass either {} or {}, got {}", named("scores"), named("predictions"), got))
    kind, given = ("scores", scores) if predictions is None else ("predictions", predictions)
    detectors = dict(given) if isinstance(given, Mapping) else {"detector": given}
    if not detectors or not all(isinstance(name, str) and name.strip() for name in detectors):
        raise InputError(argument=kind, problem="must name each detector", remedy="pass {name: values}")
    if kind == "predictions" and times is None and mask is None:
        listed = {name: read_given(value, "predictions") for name, value in detectors.items()}
        if _are_dates(truth, listed):
            return _read_lists(truth, listed, settings=settings, gaps=gaps, since=since, until=until)
    if gaps is not None:
        raise InputError(argument="gaps", problem="is for lists of dates", remedy=say("pass {}", arg("mask")))
    return _read_steps(truth, kind, detectors, settings=settings, times=times, mask=mask, since=since, until=until)


# ---- lists of dates


def _are_dates(truth: Any, listed: Mapping[str, tuple[Column, Pairs | None]]) -> bool:
    """Whether there are dates among the alarms; or, where no detector raised one, among the events."""
    alarms = [column.values if pairs is None else pairs.starts for column, pairs in listed.values()]
    if any(len(values) for values in alarms):
        return any(values.dtype.kind == "M" for values in alarms)
    column, pairs = read_given(truth, "truth")
    events = column.values if pairs is None else pairs.starts
    return len(events) == 0 or events.dtype.kind == "M"


def _read_lists(
    truth: Any,
    listed: Mapping[str, tuple[Column, Pairs | None]],
    *,
    settings: Mapping[str, Any],
    gaps: Any,
    since: Any,
    until: Any,
) -> Data:
    if until is None:
        raise InputError(argument="until", problem="says up to when lists are complete", remedy="pass a date, or 'now'")
    end, dates, aware = moment(until, "until")
    if not dates:
        raise InputError(argument="until", value=until, problem="must be a date, as the lists are")
    step = _step_of_lists(settings)
    column, pairs = read_given(truth, "truth")
    begins = _dates(column.values if pairs is None else pairs.starts, "truth") // step * step
    ends = begins if pairs is None else _dates(pairs.ends, "truth") // step * step
    back = np.flatnonzero(ends < begins)
    if len(back):
        raise InputError(argument="truth", problem=f"has a range that ends before it starts, at position {back[0]}")
    points = pairs is None or settings.get("count_events") == "steps"
    if pairs is not None and points:
        begins = ends = _steps_within(begins, ends, step)
    both = np.unique(np.stack([begins, ends], axis=1), axis=0) if len(begins) else np.zeros((0, 2), dtype=np.int64)
    notes = [] if len(both) == len(begins) else [f"{len(begins) - len(both)} event(s) came twice and count once."]
    zones = {"truth": column.aware if pairs is None else pairs.aware} if len(begins) else {}
    alarms = {}
    for name, (own, spans) in listed.items():
        if spans is None:
            at = _dates(own.values, "predictions") // step * step
        else:
            lasting = spans.ends
            if lasting.dtype.kind == "M":  # without an end: still firing
                lasting = np.where(np.isnat(lasting), np.datetime64(end, "ns"), lasting)
            first, last = (_dates(one, "predictions") // step * step for one in (spans.starts, lasting))
            at = _steps_within(first, last, step)
        alarms[name] = np.unique(at)
        if len(at):
            zones[name] = own.aware if spans is None else spans.aware
    if not _is_now(until):
        zones["until"] = aware
    elif not any(zones.values()):  # times without a zone may be local ones: nothing is settled before it is over
        ahead = datetime.now().astimezone().utcoffset()
        end = min(end, int(datetime.now().timestamp() + (ahead.total_seconds() if ahead else 0)) * 10**9)
    if len(set(zones.values())) > 1:
        without = next(name for name, zone in zones.items() if not zone)
        raise InputError(
            argument=without if without in ("truth", "until") else "predictions",
            problem="has no time zone, but others have",
            remedy="give all of them one, or none",
        )
    unwatched = NONE
    if gaps is not None:
        closed = as_gaps(gaps)
        unwatched = merged(_dates(closed.starts, "gaps"), _dates(closed.ends, "gaps") + 1)
    alarms = {name: at[~in_ranges(at, unwatched)] for name, at in alarms.items()}
    # what lists begin with: earlier blocks may have been left out of them, and all of what an empty one held
    raised = [int(at[0]) for at in alarms.values() if len(at)]
    begin = max(int(both[0, 0]) if len(both) else end, max(raised, default=end))
    return Data(
        begins=both[:, 0], ends=both[:, 1], points=points, alarms=alarms, gaps=unwatched, until=end, step=step,
        begin=begin if since is None else moment(since, "since")[0], dates=True, aware=any(zones.values()),
        notes=tuple(notes),
    )  # fmt: skip


def _step_of_lists(settings: Mapping[str, Any]) -> int:
    """The resolution of lists: as asked for, or a fiftieth of the tolerance, as people count; at least a second."""
    asked = settings.get("step")
    if asked is not None:
        return in_time(asked, 10**9, True, "step")
    plain = settings["tolerance"]
    sides = plain.values() if isinstance(plain, dict) else [plain]
    long = [abs(as_duration(side, "tolerance", signed=True) or 0) for side in sides if isinstance(side, str)]
    short = min((side for side in long if side), default=10**9) / 50
    return max((one * 10**9 for one in STEPS if one * 10**9 <= short), default=10**9)


def _steps_within(first: IntArray, last: IntArray, step: int) -> IntArray:
    """Every step of some ranges."""
    every = [np.arange(a, b + 1, step) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    return np.concatenate([NOTHING, *every])


# ---- a value for each step


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
    """Rows in any order of their times."""
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
    if kind == "scores":
        about["higher_is"] = settings.get("higher_is", "anomalous")
    found: dict[str, Sequence] = {}
    for name, given in detectors.items():
        try:
            found[name] = prepare(truth, **{kind: given}, **about, n_steps=_n_steps(n_steps, truth, given))
        except InputError as error:
            if len(detectors) == 1:
                raise
            raise InputError(
                argument=error.argument, problem=f"of {name}: {error.problem}", remedy=error.remedy
            ) from None
    first = next(iter(found.values()))
    clock, at = first.clock, np.arange(len(first.truth), dtype=np.int64)
    if clock is None:
        at = at + (0 if since is None else moment(since, "since")[0])
    elif clock.ticks.dtype.kind == "f":
        raise InputError(
            argument="times", problem="are decimal numbers", remedy="pass dates, or whole numbers of a fine unit"
        )
    else:
        at = clock.ticks * clock.tick_size
    dates, aware = clock is not None and clock.is_dates, clock is not None and clock.aware
    step = max(int(np.median(np.diff(at))), 1) if len(at) > 1 else 1
    end = int(at[-1]) + step
    if until is not None:
        end, of_dates, zoned = moment(until, "until")
        if of_dates != dates:
            raise InputError(
                argument="until", value=until, problem=f"must be a {'date' if dates else 'number of steps'} here"
            )
        if dates and zoned != aware and not _is_now(until):
            raise InputError(argument="until", value=until, problem="and times do not both have a time zone")
    open_steps = np.logical_and.reduce([one.open_steps for one in found.values()])
    if first.spans is None:
        begins = ends = at[np.flatnonzero(first.truth)]
    else:
        some = ~first.spans.between
        begins, ends = at[first.spans.starts[some]], at[first.spans.stops[some] - 1]
    labels = first.truth_as == "labels" and first.spans is not None
    return Data(
        rows=at, open=open_steps, begins=begins, ends=ends, points=first.spans is None, begin=int(at[0]), until=end,
        alarms={name: at[_alarms_of(one, settings) & open_steps] for name, one in found.items()}, step=step,
        dates=dates, aware=aware, cut=labels and bool(len(begins)) and begins[0] == at[0], notes=first.notes,
    )  # fmt: skip


def _n_steps(n_steps: int | None, truth: Any, given: Any) -> int | None:
    """How many steps there are, where both are lists of positions; labels say it themselves."""
    if n_steps is None:
        return None
    values = [read_given(one, "truth") for one in (truth, given)]
    return n_steps if all(pairs is not None or len(column) != n_steps for column, pairs in values) else None


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

    def sorted_rows(value: Any) -> Any:
        column, pairs = (None, None) if value is None else read_given(value, "truth")
        return value if column is None or pairs is not None or len(column) != len(order) else column.values[order]

    ordered = stamps.values[order]
    if stamps.aware:
        ordered = UtcTimes.of(ordered, None if stamps.east is None else stamps.east[order])
    rest = about | {"times": ordered, "mask": sorted_rows(about["mask"])}
    return sorted_rows(truth), {name: sorted_rows(one) for name, one in detectors.items()}, rest
