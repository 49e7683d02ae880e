"""How often auto is fooled, or gives up, where events and scores share a season or a calendar, and nothing else.

NOTE are situations in which auto gave up or was fooled when they were first looked at; OWN were made up before any rule
was changed on their account. In each, events and scores are independent given what they share. The tolerance is 2 steps
unless a row says otherwise; alarms are the highest tenth of the scores, or 3% of them with ranges and with jobs. With
skill, scores are higher by 0.6 of their standard deviation on the steps of single events, by 1 on those of ranges.

No null can resolve a tide whose phase wanders, deploy days and school holidays: what events and scores share there
leaves no trace by which it could be told from skill, unless somebody passes it (`strata=`). Prints Markdown:

    python benchmarks/seasons.py [--pairs 1000] [--power-pairs 400] [--seed 7] [--workers 2] [--only week]
    [--note | --own | --afterwards | --last]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from calibration import Row, arguments, judged, tables
from situations import Pair, autoregressive, gumbel, labels, points, ranges, with_skill

Situation = Callable[[np.random.Generator], Pair]
START = np.datetime64("2021-03-01T00:00", "m")  # a Monday
FEW_ALARMS = 0.97


class Days:
    """Some days of so many steps each, on a clock."""

    def __init__(self, days: int, a_day: int) -> None:
        self.days, self.a_day, self.n = days, a_day, days * a_day
        self.step = np.arange(self.n)
        self.day = self.step // a_day
        self.hour = self.step % a_day * 24 / a_day
        self.weekday = self.day % 7  # Monday is 0
        self.times = START + 1440 // a_day * self.step

    def wave(self, rng: np.random.Generator, strength: float) -> np.ndarray:
        """A daily rhythm with a random phase."""
        return strength * np.cos(2 * np.pi * (self.hour / 24 + rng.random()))

    def between(self, first: float, last: float) -> np.ndarray:
        """Which steps lie between two hours of the day."""
        return (self.hour >= first) & (self.hour < last)

    def singles(
        self, rng: np.random.Generator, weight: np.ndarray, events: int, clock: bool = True, **more: Any
    ) -> Pair:
        """Single events, and scores that follow the same weight."""
        if clock:
            more["times"] = self.times
        return points(rng, weight, self.n, events), gumbel(rng, self.n) + weight, more

    def incidents(
        self,
        rng: np.random.Generator,
        weight: np.ndarray,
        count: int,
        alarms: np.ndarray | None = None,
        lengths: tuple[int, int] = (3, 10),
        clock: bool = True,
        **more: Any,
    ) -> Pair:
        """Ranges, and scores that follow the same weight or their own."""
        if clock:
            more["times"] = self.times
        scores = gumbel(rng, self.n) + (weight if alarms is None else alarms)
        return ranges(rng, weight, self.n, count, lengths), scores, {"quantile": FEW_ALARMS, **more}


MONTH = Days(28, 144)


def tutorial(rng: np.random.Generator) -> Pair:
    """The latency of the tutorial, whose incidents come at any time of the day."""
    latency = 120 + 40 * np.sin(2 * np.pi * (MONTH.step / 144 - 0.3)) + rng.gamma(2, 8, MONTH.n)
    starts = np.cumsum(rng.integers(12, 300, size=24))
    starts = starts[starts < MONTH.n - 10]
    ends = starts + rng.integers(2, 10, size=len(starts))
    truth = list(zip(starts.tolist(), ends.tolist(), strict=True))
    return truth, latency, {"times": MONTH.times, "budget": "2%", "quantile": None, "tolerance": "20min"}


def nightly(rng: np.random.Generator, clock: bool) -> Pair:
    """A job at two that slows everything down; people call it an incident in 20 of 28 nights."""
    nights = np.sort(rng.choice(28, 20, replace=False))
    starts = nights * 144 + 12 + rng.integers(0, 4, 20)
    truth = list(zip(starts.tolist(), (starts + rng.integers(2, 6, 20)).tolist(), strict=True))
    more = {"times": MONTH.times} if clock else {}
    return truth, gumbel(rng, MONTH.n) + 3.0 * MONTH.between(2, 3), {"quantile": FEW_ALARMS, **more}


def kept(pair: Pair, left: np.ndarray) -> Pair:
    """The steps that are left; a range loses those that are not, and goes if it loses them all."""
    truth, scores, more = pair
    place = np.cumsum(left) - 1
    held = [(int(place[a]) + (not left[a]), int(place[b])) for a, b in truth if left[a : b + 1].any()]
    return held, scores[left], {**more, "times": more["times"][left]}


def irregular(rng: np.random.Generator) -> Pair:
    """Stamps that are late by up to five minutes, and six gaps of 3 to 20 hours."""
    span = Days(28, 96)
    left = np.ones(span.n, dtype=bool)
    for at, hours in zip(rng.integers(0, span.n, 6), rng.integers(3, 21, 6), strict=True):
        left[at : at + 4 * hours] = False
    truth, scores, more = span.incidents(rng, span.wave(rng, 1.5), 24)
    return kept((truth, scores, {**more, "times": span.times + rng.integers(0, 6, span.n)}), left)


def between_stamps(rng: np.random.Generator) -> Pair:
    """Events at seconds, scores every 15 minutes."""
    span = Days(62, 96)
    weight = span.wave(rng, 1.5)
    steps = np.flatnonzero(points(rng, weight, span.n, 80))
    truth = span.times[steps].astype("datetime64[s]") + rng.integers(1, 900, len(steps))
    return truth, gumbel(rng, span.n) + weight, {"times": span.times, "tolerance": "30min"}


def missing_minutes(rng: np.random.Generator) -> Pair:
    """Six weeks of a metric; in 17 of 42 days some of it was lost."""
    span = Days(42, 288)
    left = np.ones(span.n, dtype=bool)
    for day in rng.choice(42, 17, replace=False):
        at = day * 288 + rng.integers(0, 276)
        left[at : at + rng.integers(1, 13)] = False
    return kept(span.incidents(rng, span.wave(rng, 1.5), 20), left)


def of_days(rng: np.random.Generator, memory: float, strength: float) -> np.ndarray:
    """A level for each day of a month, in steps."""
    return strength * np.repeat(autoregressive(rng, memory)[:28], 144)


def bursts(rng: np.random.Generator, count: int) -> Pair:
    """Ranges in twos within a few hours."""
    weight = MONTH.wave(rng, 1.5)
    while True:
        firsts = np.array([start for start, _ in ranges(rng, weight, MONTH.n, count // 2, (3, 10))])
        starts = np.sort(np.concatenate([firsts, firsts + rng.integers(12, 24, len(firsts))]))
        stops = starts + rng.integers(3, 11, len(starts)) - 1
        if stops[-1] < MONTH.n and (starts[1:] > stops[:-1] + 2).all():
            truth = list(zip(starts.tolist(), stops.tolist(), strict=True))
            return truth, gumbel(rng, MONTH.n) + weight, {"quantile": FEW_ALARMS, "times": MONTH.times}


def daily_ranges(rng: np.random.Generator, count: int, kind: str) -> Pair:
    """Ranges with a daily rhythm, and something about the days."""
    if kind == "bursts within a day":
        return bursts(rng, count)
    weight = MONTH.wave(rng, 1.5)
    if kind == "a shared weekday":
        weight = weight + 1.5 * (MONTH.weekday == 2)
        return MONTH.incidents(rng, weight, count)
    memory = {"independent bad days": 0.0, "independent slow changes": 0.9, "nothing else": 0.0}[kind]
    strength = 0.0 if kind == "nothing else" else 1.0
    own, others = of_days(rng, memory, strength), of_days(rng, memory, strength)
    return MONTH.incidents(rng, weight + own, count, alarms=weight + others)


def office(rng: np.random.Generator, clock: bool) -> Pair:
    span = Days(56, 96)
    return span.singles(rng, 2.0 * (span.between(8, 18) & (span.weekday < 5)), 100, clock)


def job(rng: np.random.Generator, clock: bool) -> Pair:
    """Twenty minutes of each day, on 5-minute data."""
    span = Days(28, 288)
    return span.singles(rng, 3.0 * (span.step % 288 // 4 == 33), 60, clock, quantile=FEW_ALARMS)


def cron(rng: np.random.Generator) -> Pair:
    span = Days(7, 1440)
    return span.singles(rng, 2.5 * (span.step % 60 < 2), 100, quantile=FEW_ALARMS)


def month_end(rng: np.random.Generator) -> Pair:
    """The last three days of each month."""
    days = np.datetime64("2018-01-01") + np.arange(1461)
    weight = 2.0 * ((days + 3).astype("datetime64[M]") != days.astype("datetime64[M]"))
    return points(rng, weight, 1461, 60), gumbel(rng, 1461) + weight, {"times": days}


def outages(rng: np.random.Generator, as_ranges: bool) -> Pair:
    """Six outages in which nothing is measured, written as 0, and nothing is reported."""
    down = np.zeros(2_000, dtype=bool)
    for at, long in zip(rng.integers(0, 1_900, 6), rng.integers(30, 100, 6), strict=True):
        down[at : at + long] = True
    weight = np.where(down, -20.0, 0.0)
    scores = np.where(down, 0.0, np.exp(gumbel(rng) / 2))
    if as_ranges:
        return ranges(rng, weight, count=20, lengths=(5, 20)), scores, {"quantile": FEW_ALARMS}
    return points(rng, weight), scores, {}


def tide(rng: np.random.Generator) -> Pair:
    """A period of 24.84 hours whose phase wanders by about an hour and a half a day."""
    span = Days(84, 24)
    phase = 2 * np.pi * span.step / 24.84 + np.cumsum(rng.normal(0, 0.08, span.n))
    return span.singles(rng, 1.5 * np.cos(phase + 2 * np.pi * rng.random()), 100)


def deploys(rng: np.random.Generator, as_ranges: bool) -> Pair:
    """Ten days of sixty on which something new goes out."""
    span = Days(60, 24)
    weight = 2.0 * np.isin(span.day, rng.choice(60, 10, replace=False))
    return span.incidents(rng, weight, 12, lengths=(2, 5)) if as_ranges else span.singles(rng, weight, 60)


KINDS = (
    "nothing else",
    "bursts within a day",
    "independent bad days",
    "independent slow changes",
    "a shared weekday",
)

NOTE: dict[str, Situation] = {
    "the tutorial's latency": tutorial,
    "nightly job, 20 ranges, clock": lambda rng: nightly(rng, True),
    "nightly job, 20 ranges, no clock": lambda rng: nightly(rng, False),
    "irregular clock with gaps, daily, 24 ranges": irregular,
    "event times between stamps, daily": between_stamps,
    "uniform ranges, iid scores, 15-minute clock": lambda rng: Days(28, 96).incidents(rng, np.zeros(2_688), 24),
    "six weeks with missing minutes, daily, 20 ranges": missing_minutes,
    **{
        f"28 days, {count} ranges, daily, {kind}": lambda rng, count=count, kind=kind: daily_ranges(rng, count, kind)
        for kind in KINDS
        for count in (8, 12, 24)
    },
    "business hours, clock": lambda rng: office(rng, True),
    "business hours, no clock": lambda rng: office(rng, False),
    "daily 20-minute job, clock": lambda rng: job(rng, True),
    "daily 20-minute job, no clock": lambda rng: job(rng, False),
    "cron on the hour": cron,
    "month end": month_end,
    "outages as zeros, points": lambda rng: outages(rng, False),
    "outages as zeros, ranges": lambda rng: outages(rng, True),
    "tide whose phase wanders": tide,
    "deploy days, points": lambda rng: deploys(rng, False),
    "deploy days, ranges": lambda rng: deploys(rng, True),
}


# ---- situations of their own


def crews(rng: np.random.Generator) -> Pair:
    """Four crews take turns in shifts of eight hours; one of them reports more, and works the machine harder."""
    span = Days(84, 24)
    return span.singles(rng, 1.5 * (span.step // 8 % 4 == rng.integers(4)), 100)


def pay_days(rng: np.random.Generator) -> Pair:
    """Every other Friday and the day after, on daily data over four years."""
    days = np.datetime64("2018-01-01") + np.arange(1461)
    weight = 2.0 * ((np.arange(1461) - 4) % 14 < 2)
    return points(rng, weight, 1461, 80), gumbel(rng, 1461) + weight, {"times": days}


def holidays(rng: np.random.Generator) -> Pair:
    """School holidays over six years: some weeks of each year, at dates that differ by up to three weeks."""
    days = np.datetime64("2016-01-01") + np.arange(2192)
    off = np.zeros(len(days), dtype=bool)
    for year in range(2016, 2022):
        for day, long in ((40, 7), (92, 14), (205, 42), (285, 14), (355, 14)):
            first = np.datetime64(f"{year}-01-01") + day + int(rng.integers(-10, 11))
            off |= (days >= first) & (days < first + long)
    return points(rng, 1.0 * off, len(days), 120), gumbel(rng, len(days)) + 1.0 * off, {"times": days}


def second_sundays(rng: np.random.Generator) -> Pair:
    """Maintenance from two to six on every other Sunday, hourly over 40 weeks; most of it is labelled."""
    span = Days(280, 24)
    window = (span.day % 14 == 6) & span.between(2, 6)
    held = np.sort(rng.choice(20, 15, replace=False))
    starts = (14 * held + 6) * 24 + 2 + rng.integers(0, 2, 15)
    other = [start for start, _ in ranges(rng, None, span.n, 8, (2, 4))]
    starts = np.unique(np.concatenate([starts, other]))
    starts = starts[np.append(True, np.diff(starts) > 6)]
    truth = [(int(start), int(start) + 2) for start in starts if start < span.n - 3]
    return truth, gumbel(rng, span.n) + 3.0 * window, {"quantile": FEW_ALARMS, "times": span.times}


def duty_cycle(rng: np.random.Generator) -> Pair:
    """A sensor that is on for 7 of 20 minutes: nothing is measured, and nothing found, while it is off."""
    on = (np.arange(3_000) + rng.integers(20)) % 20 < 7
    weight = np.where(on, 0.0, -20.0)
    return points(rng, weight, 3_000), np.where(on, np.exp(gumbel(rng, 3_000) / 2), 0.0), {}


def trading(rng: np.random.Generator) -> Pair:
    """Five-minute bars of 50 trading days: busy at the opening and at the close, nothing at night."""
    days = START.astype("datetime64[D]") + np.arange(70)
    days = days[np.arange(70) % 7 < 5].astype("datetime64[m]")
    times = (days[:, None] + (570 + 5 * np.arange(78))).ravel()
    weight = np.tile(2.0 * (2 * np.arange(78) / 77 - 1) ** 2, 50)
    return points(rng, weight, len(times), 80), gumbel(rng, len(times)) + weight, {"times": times}


def local_time(rng: np.random.Generator) -> Pair:
    """Rush hour from seven to nine in Berlin, hourly from February to April: the clock changes at the end of March."""
    import pandas as pd

    times = pd.date_range("2021-02-01", "2021-05-01", freq="h", tz="Europe/Berlin", inclusive="left")
    weight = 2.5 * np.isin(times.hour, (7, 8))
    return points(rng, weight, len(times), 80), gumbel(rng, len(times)) + weight, {"times": times, "tolerance": 1}


def labeller(rng: np.random.Generator) -> Pair:
    """Somebody labels at 0, 6, 12 and 18 o'clock what was seen since; a report of that hour raises the scores."""
    span = Days(70, 24)
    return span.singles(rng, 3.0 * (span.step % 6 == 0), 60, tolerance=1)


def across_midnight(rng: np.random.Generator) -> Pair:
    """Incidents that begin before midnight and end after it, in half of the nights; load from ten to two."""
    span = Days(28, 96)
    nights = np.sort(rng.choice(27, 14, replace=False))
    starts = nights * 96 + 86 + rng.integers(0, 9, 14)
    truth = list(zip(starts.tolist(), (starts + rng.integers(8, 18, 14)).tolist(), strict=True))
    night = span.between(22, 24) | span.between(0, 2)
    return truth, gumbel(rng, span.n) + 1.5 * night, {"quantile": FEW_ALARMS, "times": span.times}


def night_watch(rng: np.random.Generator) -> Pair:
    """A detector that runs from ten to six; incidents come at any time."""
    on = MONTH.between(22, 24) | MONTH.between(0, 6)
    truth = ranges(rng, None, MONTH.n, 24, (3, 10))
    return truth, np.where(on, gumbel(rng, MONTH.n), -5.0), {"quantile": FEW_ALARMS, "times": MONTH.times}


OWN: dict[str, Situation] = {
    "one of four crews, shifts of 8 hours": crews,
    "every other pay day, daily data": pay_days,
    "school holidays, daily data": holidays,
    "maintenance every other Sunday, ranges": second_sundays,
    "sensor on for 7 of 20 minutes, no clock": duty_cycle,
    "trading hours only, busy at both ends": trading,
    "rush hour in local time, across a clock change": local_time,
    "labels every 6 hours": labeller,
    "ranges across midnight, 14 of 28 nights": across_midnight,
    "detector that runs at night only, 24 ranges": night_watch,
}


def archive(rng: np.random.Generator) -> Pair:
    """Three ranges in the second half, where scores are higher by one: what archives with a training part look like."""
    late = np.arange(2_000) >= 1_000
    truth = ranges(rng, np.where(late, 0.0, -20.0), count=3, lengths=(20, 80))
    return truth, autoregressive(rng, 0.9) + late, {"quantile": FEW_ALARMS}


ARCHIVES: dict[str, Situation] = {"archive layout, 3 late ranges": archive}


# ---- made up when the rule was finished, and never used to choose anything in it


def fortnight(rng: np.random.Generator) -> Pair:
    """Two weeks only, with ten incidents in working hours."""
    span = Days(14, 144)
    return span.incidents(rng, 1.5 * span.between(8, 18), 10)


def sunday_nights(rng: np.random.Generator) -> Pair:
    """A backup on the night of every Sunday, over half a year of quarter hours; two in three are called incidents."""
    span = Days(182, 96)
    held = np.sort(rng.choice(26, 18, replace=False))
    starts = (7 * held + 6) * 96 + 4 + rng.integers(0, 8, 18)
    truth = list(zip(starts.tolist(), (starts + rng.integers(2, 8, 18)).tolist(), strict=True))
    weight = 2.0 * ((span.weekday == 6) & span.between(1, 4))
    return truth, gumbel(rng, span.n) + weight, {"quantile": FEW_ALARMS, "times": span.times}


def furnace(rng: np.random.Generator) -> Pair:
    """A furnace that heats up every 97 steps, without a clock: 15 ranges, and alarms in runs."""
    weight = 1.2 * np.cos(2 * np.pi * (np.arange(4_000) / 97 + rng.random()))
    smooth = np.convolve(rng.normal(size=4_009), np.ones(10), mode="valid") / np.sqrt(10)
    return ranges(rng, weight, 4_000, 15, (5, 20)), smooth + weight, {"quantile": FEW_ALARMS}


def day_shift_only(rng: np.random.Generator) -> Pair:
    """Measured from six to ten only, for six weeks; busy before noon."""
    span = Days(42, 96)
    pair = span.incidents(rng, np.where(span.between(6, 22), 1.5 * span.between(9, 12), -20.0), 20)
    return kept(pair, span.between(6, 22))


def summer_time(rng: np.random.Generator) -> Pair:
    """A rhythm of local time in data that are in UTC without saying so: it moves by an hour halfway."""
    hour = (MONTH.hour + (MONTH.day >= 14)) % 24
    return MONTH.incidents(rng, 1.5 * np.cos(2 * np.pi * (hour / 24 + rng.random())), 24)


AFTERWARDS: dict[str, Situation] = {
    "two weeks, 10 ranges in working hours": fortnight,
    "backup on Sunday nights, 18 of 26 called incidents": sunday_nights,
    "a furnace every 97 steps, 15 ranges, no clock": furnace,
    "measured by day only, 20 ranges before noon": day_shift_only,
    "summer time in UTC, 24 ranges": summer_time,
}

# ---- made up once more, when long periods, weeks without a clock and two seasons had come in


def harbour(rng: np.random.Generator) -> Pair:
    """A day and a tide of 12.42 hours, hourly for 120 days, single events."""
    span = Days(120, 24)
    tides = 1.2 * np.cos(2 * np.pi * (span.step / 12.42 + rng.random()))
    return span.singles(rng, span.wave(rng, 1.2) + tides, 120)


def two_markets(rng: np.random.Generator) -> Pair:
    """Busy from eight to ten and from two to four on weekdays, half-hourly for ten weeks; 26 incidents."""
    span = Days(70, 48)
    busy = (span.between(8, 10) | span.between(14, 16)) & (span.weekday < 5)
    return span.incidents(rng, 2.0 * busy, 26, lengths=(1, 4))


def call_centre(rng: np.random.Generator) -> Pair:
    """Open from seven to ten, stamps late by up to two minutes, three days lost; 18 incidents around noon."""
    span = Days(56, 96)
    left = span.between(7, 22) & ~np.isin(span.day, rng.choice(56, 3, replace=False))
    weight = np.where(left, 1.5 * span.between(11, 14), -20.0)
    truth, scores, more = span.incidents(rng, weight, 18)
    return kept((truth, scores, {**more, "times": span.times + rng.integers(0, 3, span.n)}), left)


def smooth_days(rng: np.random.Generator) -> Pair:
    """Six weeks of hours without a clock: ten ranges, and a smooth score that follows the same day."""
    weight = 1.2 * np.cos(2 * np.pi * (np.arange(1_008) / 24 + rng.random()))
    smooth = np.convolve(rng.normal(size=1_011), np.ones(4), mode="valid") / 2
    return ranges(rng, weight, 1_008, 10, (2, 6)), smooth + weight, {"quantile": FEW_ALARMS}


def conveyor(rng: np.random.Generator) -> Pair:
    """A belt that comes around every 1,733 steps with one bad link, forty times; no clock."""
    n = 1_733 * 40
    weight = 4.0 * ((np.arange(n) + rng.integers(1_733)) % 1_733 < 9)
    return points(rng, weight, n, 90), gumbel(rng, n) + weight, {"quantile": 0.99}


LAST: dict[str, Situation] = {
    "a day and a tide, hourly for 120 days": harbour,
    "two markets on weekdays, 26 ranges": two_markets,
    "call centre by day, late stamps, 18 ranges": call_centre,
    "six weeks of hours, no clock, 10 ranges": smooth_days,
    "one bad link every 1,733 steps, no clock": conveyor,
}

EVERY_ONE = {**NOTE, **OWN, **ARCHIVES, **AFTERWARDS, **LAST}  # new ones last: the place of one seeds its pairs


def tried(name: str, skill: bool, seed: int, number: int) -> Row:
    """P-values of one pair under auto, its null and its verdict."""
    truth, scores, more = EVERY_ONE[name](np.random.default_rng([seed, list(EVERY_ONE).index(name), number]))
    if skill:
        at = truth
        if isinstance(truth, np.ndarray) and truth.dtype.kind == "M":  # times of events, between the stamps
            at = np.zeros(len(scores), dtype=bool)
            at[np.searchsorted(more["times"], truth, side="right") - 1] = True
        _, scores, _ = with_skill((labels(at, len(scores)), scores, {}), 0.6 if isinstance(truth, np.ndarray) else 1.0)
    return judged((truth, scores, more), number)


def main() -> None:
    parser = arguments(__doc__)
    parser.set_defaults(pairs=1_000, seed=7)
    parser.add_argument("--note", action="store_true", help="the situations of the note alone")
    parser.add_argument("--own", action="store_true", help="those that were made up, alone")
    parser.add_argument("--afterwards", action="store_true", help="those made up when the rule was finished, alone")
    parser.add_argument("--last", action="store_true", help="those made up when it had changed once more, alone")
    asked = parser.parse_args()
    kinds = {"note": NOTE, "own": OWN, "afterwards": AFTERWARDS, "last": LAST}
    chosen = next((situations for kind, situations in kinds.items() if getattr(asked, kind)), EVERY_ONE)
    tables(asked, chosen, tried, ())


if __name__ == "__main__":
    main()
