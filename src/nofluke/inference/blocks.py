"""Settled blocks of a watch: the evidence in each, what is kept of the past, and the file that holds all of it.

A block is settled once, from data that are final. Its evidence comes by kinds, of which the least counts: chance may do
what any of the nulls behind them says. Within blocks, events are rotated (or permuted); across blocks, whole periods of
equal phase change places, such as days with the same weekdays of other weeks.

The page docs/explanation/watching.md has the mathematics.
"""

from __future__ import annotations

import hashlib
import json
import math
import time as clock_time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.data.columns import UtcTimes
from nofluke.data.paths import Lock, write_file
from nofluke.dates import format_duration
from nofluke.errors import InputError, arg, say, spoken
from nofluke.inference.updates import DAY, NOTHING, Data, in_time, merged, moment
from nofluke.laws.betting import TILTS, log_evalues, log_evalues_of_orders, product_of
from nofluke.laws.exact.hypergeometric import hypergeometric_log_pmf
from nofluke.nulls import as_null
from nofluke.nulls.periods import PeriodShuffle
from nofluke.nulls.seen import UNIT_OF, Look
from nofluke.nulls.shifts import hits_by_rotation
from nofluke.plain import whole_or_none
from nofluke.series.counting import flags_of, in_ranges, nonempty, union
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Ranges, Tolerance, as_tolerance
from nofluke.series.trial import Trial
from nofluke.text.tables import plural

FORMAT, VERSION = "nofluke watch", 1
LONG = 20  # windows of the tolerance that auto makes a block long, so that hits seldom cross its border
SHORT = 2  # windows that it must be long at least
BLOCKS_OF_DATES = (DAY, 7 * DAY, 28 * DAY)
WEEKDAYS, WEEKS = 7, 3  # days change places with the same weekdays of so many weeks
PERIODS, LONG_PERIODS = 7, 4  # of a season that change places; of one of a week, or longer
SLOW = 7  # blocks; what takes longer to come back is a slow change, which blocks keep
ENOUGH = 20  # events, before which no season is looked for
SEEN = 0.005  # the level of a look: one is looked for some ten times a year
AGAIN = 1.25  # one is looked for again when so many times as many blocks are settled
NEARLY = 0.03  # of an hour, day or week: the length of a season that is seen is not exact
RECENT = 28  # blocks, of which it is looked for by themselves: a season may have begun lately
MOST_COARSE = 16_384  # steps of the past that are looked at
KEPT, KEPT_BLOCKS = 20_000, 1_000  # events and alarms of the past that are kept to look at, and blocks
FIRST_RUN = 0.8  # of α; each restart has half of what is left
DIGITS = 7  # of logarithms: what is stored is what is computed with
PATIENCE = 30.0  # seconds to wait for another process that updates the same file
WITHIN = "within blocks"

DEFAULTS: dict[str, Any] = {
    "block": "auto",
    "labels_final": 0,
    "alpha": 0.05,
    "null": "auto",
    "higher_is": "anomalous",
    "false_alarm_every": "1y",
}
RESTART = spoken("restart=True", shell="--restart")


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

    @property
    def window(self) -> int:
        """How long around an event an alarm may be."""
        return self.early + self.late + self.step

    def show(self, at: int) -> str:
        """A time as people read it."""
        if not self.dates:
            return str(at)
        text = str(np.datetime_as_string(np.datetime64(at, "ns"), unit="auto"))
        return f"{text}Z" if self.aware and "T" in text else text

    def told(self, long: int) -> str:
        """A length as settings take it."""
        return format_duration(int(long)) if self.dates else plural(int(long), "step")

    def length(self, value: int | str, name: str) -> int:
        """A length of settings."""
        return in_time(value, self.step, self.dates, name)

    def after(self, start: int, long: int, times: int = 1) -> int:
        """The time so many lengths later; whole days are days of the calendar in the zone."""
        if self.zone is None or not self.dates or long % DAY:
            return start + long * times
        zone = ZoneInfo(self.zone)
        local = datetime.fromtimestamp(start // 10**9, zone) + timedelta(days=long // DAY * times)
        return int(local.timestamp()) * 10**9 + start % 10**9

    def midnight(self, at: int) -> int:
        """The one before a time."""
        if self.zone is None:
            return at // DAY * DAY
        local = datetime.fromtimestamp(at // 10**9, ZoneInfo(self.zone))
        return int(local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()) * 10**9

    def ahead(self, utc: AnyArray) -> AnyArray | None:
        """By how many seconds local time is ahead of UTC, each hour anew."""
        if self.zone is None:
            return None
        zone, seconds = ZoneInfo(self.zone), utc.astype("datetime64[s]").astype(np.int64)
        hours, back = np.unique(seconds // 3_600, return_inverse=True)
        east = [datetime.fromtimestamp(int(h) * 3_600, zone).utcoffset() or timedelta(0) for h in hours]
        return np.array([int(one.total_seconds()) for one in east], dtype=np.int64)[back]


# ---- one block


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """The steps of a block that count, and its events among them."""

    at: IntArray
    first: IntArray
    last: IntArray

    @property
    def n(self) -> int:
        """How many steps count."""
        return len(self.at)

    def windows(self, alarms: IntArray, early: int, late: int) -> Ranges:
        """The steps on which an event would be found, by each of the alarms, of this block or near it."""
        first = np.searchsorted(self.at, alarms - late, side="left")
        stop = np.searchsorted(self.at, alarms + early, side="right")
        return nonempty(Ranges(starts=first, stops=stop))

    def recall(self, zone: Ranges, null: str) -> FloatArray:
        """Logarithms of the e-values of the events that were found: those in the zone."""
        covered = int((zone.stops - zone.starts).sum())
        if not len(self.first) or covered in (0, self.n):
            return np.zeros(len(TILTS))
        if null != "permutation":
            return _of_rotations(Ranges(starts=self.first, stops=self.last + 1), zone, self.n)
        m, hits = len(self.first), int(flags_of(zone, self.n)[self.first].sum())
        values = np.arange(max(0, m + covered - self.n), min(m, covered) + 1)
        return log_evalues(hits, values, hypergeometric_log_pmf(self.n, covered, m, values))

    def precision(self, windows: Ranges) -> FloatArray:
        """Those of the alarms that were right, by events of this block, over its rotations.

        What may be permuted may be rotated: this law holds under either null.
        """
        if not len(self.first) or not len(windows.starts):
            return np.zeros(len(TILTS))
        return _of_rotations(windows, merged(self.first, self.last + 1), self.n)


def _of_rotations(fixed: Ranges, moved: Ranges, n: int) -> FloatArray:
    """Logarithms of the e-values of as many ranges as were hit, where the others may be rotated."""
    hits, values, counts = hits_by_rotation(fixed, moved, n)
    return log_evalues(hits, values, np.log(counts))


# ---- whole periods, across blocks


@dataclass(kw_only=True)
class Periods:
    """Whole periods whose events change places: every ``alike``-th of them, ``many`` of each kind.

    They count from ``since`` on; ``start`` is where those begin that are not settled yet.
    """

    long: int
    alike: int
    many: int
    since: int
    start: int
    why: str

    def kind(self, about: Timeline) -> str:
        """What their evidence is called; no two of a detector have the same."""
        return about.told(self.long) if self.alike == 1 else f"{about.told(self.long)}, every {self.alike}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Stretch:
    """Some blocks of the past in one: events as first and last times, alarms, and what was watched."""

    begins: IntArray
    ends: IntArray
    alarms: IntArray
    open: Ranges
    over: IntArray  # when events were over, those that began before too

    @classmethod
    def of(cls, past: list[dict[str, Any]], name: str, about: Timeline) -> Stretch:
        """The rows that are kept, for one detector."""
        unit = about.resolution

        def times(rows: list[Any], columns: int) -> IntArray:
            found = [row["start"] + np.array(own, dtype=np.int64).reshape(-1, columns) * unit for row, own in rows]
            return np.concatenate([np.zeros((0, columns), dtype=np.int64), *found])

        events, watched = (times([(row, row[key]) for row in past], 2) for key in ("events", "open"))
        # a step may come a little late: what lies between two is watched
        slack = 0 if unit == about.step else about.step
        return cls(
            begins=events[:, 0],
            ends=events[:, 1],
            alarms=times([(row, row["alarms"].get(name, [])) for row in past], 1)[:, 0],
            open=merged(watched[:, 0] - slack, watched[:, 1] + unit + slack),
            over=times([(row, row["ends"]) for row in past], 1)[:, 0],
        )

    def exchanged(self, edges: IntArray, alike: int, about: Timeline, muted: int) -> FloatArray:
        """Logarithms of the e-values of events in the places of those of other periods that are alike.

        Only what lies at times that all of these have watched counts. An event that comes into time in which alarms
        were held back counts as found, since nobody knows: evidence is only less for it.
        """
        early, late = about.early, about.late
        zone = merged(self.alarms - late, self.alarms + early + 1)
        hidden = merged(self.over + 1, self.over + 1 + muted)
        unsure = merged(self.over + 1 - max(late, 0), self.over + 1 + muted) if muted else hidden
        wide = merged(np.append(zone.starts, unsure.starts), np.append(zone.stops, unsure.stops))
        begins, ends = self.begins, np.minimum(self.ends, edges[np.searchsorted(edges, self.begins, side="right")] - 1)
        if muted and len(begins):
            within = in_ranges(begins, hidden)
            behind = hidden.stops[np.maximum(np.searchsorted(hidden.starts, begins, side="right") - 1, 0)]
            begins = np.where(within, behind, begins)
        some = (begins >= edges[0]) & (ends >= begins)
        begins, ends = begins[some], ends[some]
        period = np.searchsorted(edges, begins, side="right") - 1
        found = []
        for members, shut in self._alike(edges, alike):
            rows = np.flatnonzero(np.isin(period, members))
            begun = edges[period[rows]]
            rows = rows[~_inside(begins[rows] - begun, ends[rows] - begun, shut)]
            home, places = np.searchsorted(members, period[rows]), edges[members]
            away = places - places[home, None]
            hit = _touch(begins[rows, None] + away, ends[rows, None] + away, wide)
            hit[np.arange(len(rows)), home] = _touch(begins[rows], ends[rows], zone)
            hits = np.zeros((len(members), len(members)), dtype=np.int64)
            np.add.at(hits, home, hit.astype(np.int64))
            if (hits != hits[:, :1]).any():  # else every order scores the same
                found.append(log_evalues_of_orders(hits))
        return product_of(found)

    def _alike(self, edges: IntArray, alike: int) -> Iterator[tuple[IntArray, Ranges]]:
        """Periods of one kind and length that were watched about as long, and when one of them was not."""
        closed = (np.append(edges[0], self.open.stops), np.append(self.open.starts, edges[-1]))
        kinds: dict[tuple[int, int], list[tuple[int, IntArray]]] = {}
        for k, (start, stop) in enumerate(zip(edges.tolist(), edges[1:].tolist(), strict=False)):
            first, last = np.searchsorted(closed[1], start, side="right"), np.searchsorted(closed[0], stop)
            shut = np.stack([side[first:last] for side in closed]).clip(start, stop) - start
            kinds.setdefault((k % alike, stop - start), []).append((k, shut))
        for own in kinds.values():
            watched = [int(edges[k + 1] - edges[k] - (shut[1] - shut[0]).sum()) for k, shut in own]
            kept = [one for one, long in zip(own, watched, strict=True) if 2 * long >= max(watched) > 0]
            if len(kept) > 1:
                starts, stops = np.concatenate([shut for _, shut in kept], axis=1)
                yield np.array([k for k, _ in kept]), merged(starts, stops)


def _inside(begins: IntArray, ends: IntArray, ranges: Ranges) -> BoolArray:
    """Which events lie within one of the ranges from their first to their last time."""
    stops = np.append(ranges.stops, np.iinfo(np.int64).min)  # behind the last for those before the first
    return np.asarray(stops[np.searchsorted(ranges.starts, begins, side="right") - 1] > ends)


def _touch(begins: IntArray, ends: IntArray, ranges: Ranges) -> BoolArray:
    """Which events, first and last times included, share a time with one of the ranges, which ascend and are apart."""
    if not len(ranges.starts):
        return np.zeros(begins.shape, dtype=np.bool_)
    next_one = np.searchsorted(ranges.stops, begins, side="right")
    starts = np.append(ranges.starts, np.iinfo(np.int64).max)
    return np.asarray(starts[next_one] <= ends)


# ---- seasons that are seen in settled blocks


def _season(past: list[dict[str, Any]], name: str, about: Timeline, block: int) -> tuple[int, int, str] | None:
    """The period of a season that is seen, how many of them are a cycle, and its words.

    Events and alarms show it, each by itself: it is never looked at how they match.
    """
    start, stop = past[0]["start"], past[-1]["stop"]
    width = max(-(-(stop - start) // MOST_COARSE), about.step)
    width = -(-width // about.step) * about.step
    n = -(-(stop - start) // width)
    all_of_it = Stretch.of(past, name, about)

    def flags(first: IntArray, last: IntArray) -> BoolArray:
        found = merged((first - start) // width, (last - start) // width + 1)
        return flags_of(Ranges(starts=found.starts.clip(0, n), stops=found.stops.clip(0, n)), n)

    open_steps = flags(all_of_it.open.starts, all_of_it.open.stops - 1)
    events = flags(all_of_it.begins, all_of_it.ends) & open_steps
    alarms = flags(all_of_it.alarms, all_of_it.alarms) & open_steps
    if events.sum() < 2 or not alarms.any():
        return None
    times: Any = None
    if about.dates:
        utc = (start + np.arange(n, dtype=np.int64) * width).astype("datetime64[ns]")
        times = UtcTimes.of(utc, about.ahead(utc)) if about.aware else utc
    points = bool((all_of_it.begins == all_of_it.ends).all())
    sequence = prepare(
        events, predictions=alarms, times=times, mask=~open_steps, count_events="steps" if points else "ranges"
    )
    early, late = (max(-(-side // width), 0) for side in (about.early, about.late))
    season = Look.of(Trial.of(sequence, (Tolerance(early=early, late=late),), None).cell(0, 0), 0.05).season
    if season is None or season.pvalue > SEEN:
        return None
    alike = 1
    if isinstance(season.period, str):  # of the calendar; one that is longer than blocks is kept by them
        unit, many = UNIT_OF[season.period]
        long = many * {"day": DAY, "hour": DAY // 24, "15min": DAY // 96}.get(unit, 0)
    else:
        if season.inner is not None:
            alike = season.inner[1]
        long = max(round((season.steps or 0) * width / alike / about.step), 2) * about.step
        usual = (DAY // 24, DAY, 7 * DAY) if about.dates else ()
        long = next((one for one in usual if abs(long - one) <= NEARLY * one), long)
    return (long, alike, str(season.seen)) if SHORT * about.window <= long * alike <= SLOW * block else None


# ---- the state: what is settled, and what the next block is judged by


@dataclass(kw_only=True)
class State:
    """One run of a watch: its settings, settled blocks, and what is kept of the past."""

    settings: dict[str, Any]
    run: int = 1
    earlier: list[dict[str, Any]] = field(default_factory=list)
    time: Timeline | None = None
    detectors: list[str] = field(default_factory=list)
    start: int = 0
    block: int = 0
    again: int = 0
    periods: dict[str, list[Periods]] = field(default_factory=dict)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    past: list[dict[str, Any]] = field(default_factory=list)

    def setting(self, name: str) -> Any:
        """A setting as it was passed, or its default."""
        return self.settings.get(name, DEFAULTS.get(name))

    @property
    def timeline(self) -> Timeline:
        """How time is counted, which the first update settles."""
        assert self.time is not None
        return self.time

    @property
    def next(self) -> int:
        """Where the first block begins that is not settled."""
        return self.blocks[-1]["stop"] if self.blocks else self.start

    @property
    def weight(self) -> float:
        """The share of α that this run has."""
        return FIRST_RUN if self.run == 1 else (1 - FIRST_RUN) * 0.5 ** (self.run - 1)

    @property
    def within(self) -> str:
        """The null within blocks; nothing where whole periods alone were asked for."""
        asked = self.setting("null")
        name = "circular-shift" if asked == "auto" else as_null(asked).name
        return "" if name == "period-shuffle" else name

    @property
    def ready(self) -> bool:
        """Whether evidence counts: without a clock, a season has to be looked for first."""
        return self.setting("null") != "auto" or self.again > 0 or any(self.periods.values())

    @property
    def wait(self) -> int:
        """How long after its end a block is settled."""
        about = self.timeline
        return about.length(self.setting("labels_final"), "labels_final") + max(about.early, about.late, 0)

    @property
    def muted(self) -> int:
        """How long after an event nothing counts: alarms are held back, and then windows reach into that time."""
        long, about = self.setting("mute_after"), self.timeline
        return about.length(long, "mute_after") + max(about.early, 0) if long else 0

    # -- the first update

    def begin_with(self, data: Data) -> None:
        """Settle how time is counted, by the first data."""
        plain, dates, zone = self.settings["tolerance"], data.dates, self.setting("timezone")
        tolerance = Tolerance(**plain) if isinstance(plain, dict) else as_tolerance(plain)
        if tolerance.unit == "clock":
            raise InputError(argument="tolerance", problem="must be steps or a duration here")
        sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
        if tolerance.unit == "steps":
            if data.rows is None:
                if any(sides):
                    raise InputError(
                        argument="tolerance", value=plain, problem="counts steps, but lists have none",
                        remedy="pass a duration such as '10min'",
                    )  # fmt: skip
            else:
                _refuse_irregular(data.rows, data.step)
            half = data.step // 2 if dates else 0  # clocks may come a little early or late
            sides = (sides[0] * data.step + half, sides[1] * data.step + half)
        elif not dates:
            raise InputError(
                argument="tolerance", value=plain, problem="is a duration, but the data have no dates",
                remedy="pass a number of steps",
            )  # fmt: skip
        if zone is not None and not data.aware:
            raise InputError(argument="timezone", value=zone, problem="needs times with a time zone")
        about = Timeline(
            dates=dates, aware=data.aware, step=data.step, resolution=data.step, early=int(sides[0]),
            late=int(sides[1]), zone=zone,
        )  # fmt: skip
        start = self.setting("start")
        if start is None:
            first = data.rows[0] if data.rows is not None and len(data.rows) else data.begin
            origin = min([int(first), *(int(at[0]) for at in (data.begins, *data.alarms.values()) if len(at))])
            begin = origin if not dates else about.midnight(origin)
        else:
            begin, of_dates, _ = moment(start, "start")
            if of_dates != dates:
                raise InputError(argument="start", value=start, problem=f"must be a {'date' if dates else 'step'} here")
        if data.rows is None:
            begin = begin // data.step * data.step  # where lists are rounded to
        elif ((data.rows - begin) % data.step).any():
            about.resolution = min(10**3, data.step)
        self._begin_blocks(about, begin, list(data.alarms))

    def _begin_blocks(self, about: Timeline, begin: int, detectors: list[str]) -> None:
        asked, null = self.setting("block"), self.setting("null")
        if asked == "auto":
            usual = BLOCKS_OF_DATES if about.dates else (max(LONG * about.window, 100 * about.step),)
            block = next((one for one in usual if one >= LONG * about.window), LONG * about.window)
        else:
            block = about.length(asked, "block")
            if block < SHORT * about.window:
                raise InputError(
                    argument="block", value=asked, problem=f"must be at least {SHORT} windows of the tolerance long",
                    remedy=f"pass {about.told(LONG * about.window)!r} or longer",
                )  # fmt: skip
        first: tuple[Any, ...] = ()
        model = None if null == "auto" else as_null(null)
        if isinstance(model, PeriodShuffle):
            first = (_period_of(model.period, about, null), 1, "It was asked for.")
        elif model is None and about.dates and about.step <= DAY:
            first = (DAY, WEEKDAYS, f"Days change places with the same weekdays of {WEEKS} weeks.")
        self.time, self.start, self.block, self.detectors = about, begin, block, detectors
        self.periods = {name: [self._periods(about, begin, *first)] if first else [] for name in detectors}

    @staticmethod
    def _periods(about: Timeline, start: int, long: int, alike: int, why: str) -> Periods:
        """Periods that count from now on."""
        weeks = about.dates and long >= 7 * DAY
        many = WEEKS if alike > 1 else LONG_PERIODS if weeks else PERIODS
        return Periods(long=long, alike=alike, many=many, since=start, start=start, why=why)

    def check(self, data: Data, since: Any) -> None:
        """Refuse what does not go on with what was settled, and labels or alarms of that which have changed."""
        about = self.timeline
        if set(data.alarms) != set(self.detectors):
            if self.blocks:
                gone = sorted(set(self.detectors) - set(data.alarms))
                new = sorted(set(data.alarms) - set(self.detectors))
                said = [f"{', '.join(gone)} missing" * bool(gone), f"{', '.join(new)} new" * bool(new)]
                raise InputError(
                    problem=f"the detectors are not those that are watched: {' and '.join(filter(None, said))}",
                    remedy=say("pass {}, or begin a new run by {}", ", ".join(self.detectors), RESTART),
                )
            self._begin_blocks(about, self.start, list(data.alarms))
        if data.dates != about.dates:
            raise InputError(argument="times", problem=f"must be {'dates' if about.dates else 'steps'}, as before")
        known = any(one["events"] or any(own["alarms"] for own in one["by"].values()) for one in self.blocks)
        given = data.rows is not None or len(data.begins) or any(map(len, data.alarms.values()))
        if given and not known:
            about.aware = data.aware  # lists were empty so far
        if data.aware != about.aware and given:
            raise InputError(
                argument="times", problem=f"{'have no' if about.aware else 'have a'} time zone, unlike before"
            )
        slack = about.step * (1 if about.resolution == about.step else 10)  # irregular steps may begin late
        if data.rows is not None and self.blocks and data.begin > self.next + slack and since is None:
            raise InputError(
                argument="times",
                problem=f"begin at {about.show(data.begin)}, but the block from {about.show(self.next)} is not settled",
                remedy=say("pass data from then on; if nothing was watched before, say so by {}", arg("since")),
            )
        for one in self.blocks:
            if one["start"] >= data.begin and one["stop"] <= data.until:  # all of it was passed
                self._compare(one, data)

    def _compare(self, one: dict[str, Any], data: Data) -> None:
        start, stop = one["start"], one["stop"]
        if data.cut and data.begins[0] == start:
            return
        truth, hashes = self._inputs(data, start, stop)
        if truth != one["hash"]:
            events = int(((data.begins >= start) & (data.begins < stop)).sum())
            what = f"{plural(one['events'], 'event')} on {plural(one['steps'], 'step')}"
            now = f"{plural(events, 'event')} on {plural(len(data.steps(start, stop)), 'step')}"
            raise self._changed(one, what, now, "labels")
        for name, own in hashes.items():
            known = one["by"][name]
            if own != known["hash"]:
                now = plural(len(_between(data.alarms[name], start, stop)), "alarm")
                raise self._changed(one, plural(known["alarms"], "alarm"), now, f"alarms of {name}")

    def _changed(self, one: dict[str, Any], was: str, now: str, what: str) -> InputError:
        start, stop = (self.timeline.show(one[end]) for end in ("start", "stop"))
        return InputError(
            problem=f"the {what} of the block {start} to {stop} have changed since it was settled: {was} then, {now} now",
            remedy=say("pass a longer {}, or begin a new run by {}", arg("labels_final"), RESTART),
        )

    # -- blocks

    def settle(self, data: Data) -> int:
        """Settle all blocks whose labels are final, one after the other; how many there were."""
        settled = 0
        while True:
            self._look()
            start = self.next
            stop = self.timeline.after(start, self.block)
            if stop + self.wait > data.until:
                return settled
            self._settle(data, start, stop)
            settled += 1

    def _look(self) -> None:
        """Look for seasons in settled blocks, again when these have become clearly more; one that is seen is kept."""
        n = len(self.blocks)
        if self.setting("null") != "auto" or n < self.again or sum(one["events"] for one in self.blocks) < ENOUGH:
            return
        self.again = max(n + 1, math.ceil(AGAIN * n))
        for name, own in self.periods.items():
            for past in (self.past, self.past[-RECENT:])[: 1 + (len(self.past) > 2 * RECENT)]:
                seen = _season(past, name, self.timeline, self.block)
                if seen is None or any((one.long * one.alike) % (seen[0] * seen[1]) == 0 for one in own):
                    continue
                long, alike, words = seen
                why = f"{words}: whole periods of {self.timeline.told(long)} change places."
                own.append(self._periods(self.timeline, self.next, long, alike, why))

    def _inputs(self, data: Data, start: int, stop: int) -> tuple[str, dict[str, str]]:
        """What a block is recognised by: the hash of its steps and labels, and those of the alarms."""
        begins, ends = self._events(data, start, stop)
        if data.rows is None:
            some = (data.gaps.starts < stop) & (data.gaps.stops > start)
            at = np.stack([data.gaps.starts[some], data.gaps.stops[some]]).clip(start, stop) - start
        else:
            at = data.steps(start, stop) - start
        truth = _hash(at, begins - start, ends - start)
        return truth, {name: _hash(_between(at, start, stop) - start) for name, at in data.alarms.items()}

    def _events(self, data: Data, start: int, stop: int) -> tuple[IntArray, IntArray]:
        """Those that begin in a block, up to its end; a run of labels that goes on belongs to the block before."""
        some = (data.begins >= start) & (data.begins < stop)
        if data.cut and some.any() and data.begins[0] == start and self.past and self.past[-1]["stop"] == start:
            some[0] = not self.past[-1]["goes_on"]
        return data.begins[some], np.minimum(data.ends[some], stop - 1)

    def _settle(self, data: Data, start: int, stop: int) -> None:
        about = self.timeline
        early, late = about.early, about.late
        truth, hashes = self._inputs(data, start, stop)
        at = data.steps(start, stop)
        own_begins, own_ends = self._events(data, start, stop)
        before = self.past[-1] if self.past and self.past[-1]["stop"] == start else None
        begins, ends = self._known(data, start)
        muted = self.muted
        watched = at[~in_ranges(at, merged(ends + 1, ends + muted + 1))] if muted else at
        first = np.searchsorted(watched, own_begins)
        last = np.searchsorted(watched, own_ends, side="right") - 1
        some = last >= first
        block = Block(at=watched, first=first[some], last=last[some])
        alarms = {name: _between(at, start, stop) for name, at in data.alarms.items()}
        self._keep(data, start, stop, at, (own_begins, own_ends), alarms)
        by = {}
        for name in self.detectors:
            reach = (start - max(early, 0), stop + max(late, 0) + 1)
            near = _between(data.alarms[name], *reach)
            if before is not None:
                known = np.array(before["alarms"].get(name, []), dtype=np.int64) * about.resolution + before["start"]
                near = np.union1d(_between(known, *reach), near)
            zone = union(block.windows(near, early, late))
            own = _among(alarms[name], watched)
            logs = {}
            if self.within and self.ready:
                recall = block.recall(zone, self.within if data.points else "circular-shift")
                # a mask after events ends each stretch with one, so that windows cut off there hold one in any case:
                # precision has no law then, and recall carries its share of the evidence too
                precision = recall if muted else block.precision(block.windows(own, early, late))
                logs[WITHIN] = np.concatenate([recall, precision])
            logs |= self._across(name, stop)
            by[name] = {
                "found": int(_touch(block.first, block.last, zone).sum()),
                "alarms": len(own),
                "right": int(_right(own, begins, ends, early, late).sum()),
                "hash": hashes[name],
                "logs": self._added(name, logs),
            }
        self.blocks.append({
            "start": start, "stop": stop, "steps": block.n, "events": int(some.sum()), "hash": truth, "by": by
        })  # fmt: skip

    def _added(self, name: str, logs: dict[str, FloatArray]) -> dict[str, list[float]]:
        """The products by tilt after a block, as logarithms, of those kinds of evidence that it changed."""
        made = {}
        for kind, own in logs.items():
            if own.any():
                old = next((row for one in reversed(self.blocks) if (row := one["by"][name]["logs"].get(kind))), 0.0)
                made[kind] = np.round(old + own, DIGITS).tolist()
        return made

    def _across(self, name: str, stop: int) -> dict[str, FloatArray]:
        """Evidence of whole periods, where enough of them are settled by now; the next ones then begin."""
        about, found = self.timeline, {}
        for one in self.periods[name]:
            if about.after(one.start, one.long, one.alike * one.many) > stop:
                continue
            edges = [one.start]
            while edges[-1] < stop:
                edges.append(min(about.after(one.start, one.long, len(edges)), stop))
            since = one.start - self.muted
            many = next((i for i, row in enumerate(reversed(self.past)) if row["stop"] <= since), len(self.past))
            stretch = Stretch.of(self.past[len(self.past) - many :], name, about)
            found[one.kind(about)] = stretch.exchanged(np.array(edges), one.alike, about, self.muted)
            one.start = stop
        return found

    def _known(self, data: Data, start: int) -> tuple[IntArray, IntArray]:
        """Events of the data, and the ends of those that these leave out: they may mute, or make an alarm right."""
        about = self.timeline
        reach = start - self.muted - about.late - about.step
        past = [NOTHING]
        for one in reversed(self.past):
            if one["stop"] < reach:
                break
            past.append(one["start"] + np.array(one["ends"], dtype=np.int64) * about.resolution)
        known = np.concatenate(past)
        if len(known):
            given = set(data.ends[data.ends >= known.min()].tolist())
            known = np.array([end for end in known.tolist() if end not in given], dtype=np.int64)
        if data.cut:  # a run of labels that goes on ends later
            known = known[known + about.step < data.begin]
        return np.concatenate([known, data.begins]), np.concatenate([known, data.ends])

    def _keep(
        self, data: Data, start: int, stop: int, at: IntArray, events: tuple[IntArray, IntArray], alarms: Any
    ) -> None:
        """Keep events and alarms of the latest blocks: those to look at, and of periods that are not settled."""
        about, unit = self.timeline, self.timeline.resolution
        inside = (data.ends >= start) & (data.ends < stop)
        apart = np.flatnonzero(np.diff(at) > 1.5 * about.step)
        first, last = (
            (at[np.concatenate(own)] - start for own in (([0], apart + 1), (apart, [-1]))) if len(at) else (at, at)
        )
        open_steps = np.stack([first, last + about.step - 1], axis=1) // unit
        self.past.append(
            {
                "start": start,
                "stop": stop,
                "open": open_steps.clip(0, (stop - start - 1) // unit).tolist(),
                "events": ((np.stack(events, axis=1) - start) // unit).tolist(),
                "alarms": {name: ((own - start) // unit).tolist() for name, own in alarms.items()},
                "size": len(events[0]) + sum(map(len, alarms.values())),
                "ends": ((np.unique(data.ends[inside]) - start) // unit).tolist(),
                "goes_on": bool(((data.begins < stop) & (data.ends >= stop - about.step)).any()),
            }
        )
        needed = min((one.start for own in self.periods.values() for one in own), default=stop) - self.muted
        kept = sum(one["size"] for one in self.past)
        while (kept > KEPT or len(self.past) > KEPT_BLOCKS) and self.past[0]["stop"] <= min(needed, start):
            kept -= self.past.pop(0)["size"]


def _period_of(period: Any, about: Timeline, null: Any) -> int:
    words = {"hour": DAY // 24, "day": DAY, "week": 7 * DAY}
    if isinstance(period, str) and period in words:
        period = format_duration(words[period])
    whole = period if isinstance(period, str) else whole_or_none(period)
    if whole is None or period in ("month", "year"):
        raise InputError(argument="null", value=null, problem="needs periods of one length")
    return about.length(whole, "null")


def _refuse_irregular(rows: IntArray, step: int) -> None:
    between = np.diff(rows) / step
    if len(between) and float(np.quantile(np.abs(between - np.rint(between)), 0.9)) > 0.25:
        raise InputError(
            argument="tolerance", problem="counts steps, but these come at irregular times", remedy="pass a duration"
        )


def _between(at: IntArray, start: int, stop: int) -> IntArray:
    """Of ascending times those from start up to, not including, stop."""
    first, last = np.searchsorted(at, [start, stop])
    return at[first:last]


def _among(some: IntArray, at: IntArray) -> IntArray:
    """Those of some times that are steps which count."""
    return some[_touch(some, some, Ranges(starts=at, stops=at + 1))]


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

TIMES = ("start", "stop", "since")  # keys that people read as dates
LISTED = ("blocks", "past")  # a line for each of their rows


def dumped(state: State) -> str:
    """The state as readable JSON."""
    about = state.time

    def told(row: dict[str, Any]) -> dict[str, Any]:
        return row | {key: about.show(row[key]) for key in TIMES if about is not None and key in row}

    made: dict[str, Any] = {"format": FORMAT, "version": VERSION} | told(vars(state)) | {"time": about and vars(about)}
    made["periods"] = {name: [told(vars(one)) for one in own] for name, own in state.periods.items()}
    lines = [f'  "{key}": {json.dumps(made[key], ensure_ascii=False)}' for key in made if key not in LISTED]
    for key in LISTED:
        rows = (json.dumps(told(row), ensure_ascii=False, separators=(",", ":")) for row in made[key])
        body = ",\n    ".join(rows)
        lines.append(f'  "{key}": [\n    {body}\n  ]' if body else f'  "{key}": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def loaded(text: str, path: str) -> State:
    """The state of a file; refuses what it cannot read, by name."""
    try:
        made = json.loads(text)
        if not isinstance(made, dict) or made.pop("format", None) != FORMAT:
            raise InputError(problem=f"{path} is not the state of a watch", remedy="choose another file")
        version = int(made.pop("version"))
        if version > VERSION:
            newer = f"was written by a newer nofluke (version {version} of the state; this one reads up to {VERSION})"
            raise InputError(problem=f"{path} {newer}", remedy="update nofluke")
        about = None if made["time"] is None else Timeline(**made["time"])

        def read(row: dict[str, Any]) -> dict[str, Any]:
            dates = about is not None and about.dates
            times = {key: row[key] for key in TIMES if key in row}
            return row | {k: moment(at.removesuffix("Z"), k)[0] if dates else int(at) for k, at in times.items()}

        made["periods"] = {name: [Periods(**read(one)) for one in own] for name, own in made["periods"].items()}
        return State(**read(made) | {"time": about} | {key: [read(row) for row in made[key]] for key in LISTED})
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            problem=f"{path} is damaged ({type(error).__name__}: {error})", remedy="restore it, or choose another file"
        ) from None


def read_state(path: Path) -> State:
    """The state in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise InputError(problem=f"{path} cannot be read ({why})", remedy="choose another file") from None
    return loaded(text, str(path))


def write_state(state: State, path: Path) -> None:
    """Write the file anew, unless it says the same already."""
    text = dumped(state)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_file(path, text, str(path))


@contextmanager
def alone(path: Path | None) -> Iterator[None]:
    """One process at a time updates a file; others wait for it, for a while."""
    if path is None:
        yield
        return
    stop = clock_time.monotonic() + PATIENCE
    while True:
        try:
            lock = Lock(
                path.with_name(f"{path.name}.lock"), argument="path", value=str(path), user="watch", place="file"
            )
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
