"""Rules of the calendar: phases in local time, what is looked for, and strata that follow them."""

import calendar
import itertools
import json
import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.nulls import calendars, seasons
from nofluke.nulls.calendars import RULES, calendar_phase, phase_bounds
from nofluke.nulls.evidence import in_cycle
from nofluke.nulls.seasonal import Seasonal
from nofluke.nulls.seen import Look
from nofluke.series.clock import Zone, make_clock

BERLIN = ZoneInfo("Europe/Berlin")
PHASES = {
    "hour of day": lambda date: date.hour,
    "hour of week": lambda date: 24 * date.weekday() + date.hour,
    "minute of hour": lambda date: date.minute,
    "minute of quarter hour": lambda date: date.minute % 15,
    "day of week": lambda date: date.weekday(),
    "day of month": lambda date: date.day - 1,
    "day of month from its end": lambda date: calendar.monthrange(date.year, date.month)[1] - date.day,
    "month": lambda date: date.month - 1,
}


def clock_of(times):
    """The clock that an evaluation reads from these times."""
    flags = np.arange(len(times)) == 0
    return nf.evaluate(flags, predictions=flags, times=times).cell.clock


def flags(n, *steps):
    found = np.zeros(n, dtype=bool)
    found[list(steps)] = True
    return found


def test_every_rule_is_tested_here():
    """A rule without a line above would go untested."""
    assert PHASES.keys() == RULES.keys()
    assert seasons.CALENDAR_PERIODS["hour of day"] == 86_400 * 10**9


class TestPhases:
    @pytest.mark.parametrize("rule", RULES)
    @pytest.mark.parametrize("unit", ["s", "ns"])
    def test_they_are_those_of_datetime(self, rule, unit):
        """Also before 1970 and in leap years."""
        dates = [datetime(1967, 12, 30) + timedelta(hours=31 * i, minutes=7 * i) for i in range(2_000)]
        clock = clock_of(np.array(dates, dtype=f"datetime64[{unit}]"))
        np.testing.assert_array_equal(calendar_phase(clock, rule), [PHASES[rule](date) for date in dates])

    @pytest.mark.parametrize("rule", RULES)
    @pytest.mark.parametrize("kind", ["pandas", "datetimes", "text"])
    def test_dates_with_a_zone_are_read_in_local_time(self, rule, kind):
        """Across both changes of the clock of a year, however the zone was given."""
        dates = [
            (datetime(2021, 1, 3, tzinfo=UTC) + timedelta(hours=7 * i, minutes=11)).astimezone(BERLIN)
            for i in range(1_250)
        ]
        times = {
            "pandas": pd.DatetimeIndex(dates, tz="Europe/Berlin"),
            "datetimes": dates,
            "text": [date.isoformat() for date in dates],
        }[kind]
        clock = clock_of(times)
        np.testing.assert_array_equal(calendar_phase(clock, rule), [PHASES[rule](date) for date in dates])
        assert clock.zone.east.tolist() == [3600, 7200, 3600]

    def test_utc_and_no_zone_have_no_local_time(self):
        """Nothing is carried where there is nothing to carry."""
        naive = pd.date_range("2021-01-01", periods=9, freq="h")
        assert clock_of(naive).zone is None
        assert clock_of(naive.tz_localize("UTC")).zone is None

    def test_a_mask_keeps_local_time(self):
        """The steps that are left have the phases that they had."""
        times = pd.date_range("2021-03-27", periods=60, freq="h", tz="Europe/Berlin")
        mask = np.arange(60) % 3 == 0
        cell = nf.evaluate(flags(60, 1), predictions=flags(60, 2), times=times, mask=mask).cell
        np.testing.assert_array_equal(calendar_phase(cell.clock, "hour of day"), times.hour[~mask])

    @pytest.mark.parametrize("rule", [*RULES, "five minutes"])
    def test_bounds_in_utc_have_the_phases_of_the_times_behind_them(self, rule):
        """Every minute from one bound to the next has its phase, also where an hour comes twice or not at all."""
        rule, bins = ("hour of day", 288) if rule == "five minutes" else (rule, None)
        first = int(datetime(2021, 3, 26, 13, 40, tzinfo=UTC).timestamp())
        for start in (first, int(datetime(2021, 10, 30, 22, 1, tzinfo=UTC).timestamp())):
            seconds = start + 60 * np.arange(3 * 1440)
            east = np.array([datetime.fromtimestamp(s, BERLIN).utcoffset().total_seconds() for s in seconds.tolist()])
            zone = Zone.of(seconds, east.astype(np.int64))
            begins, phases = phase_bounds(rule, int(seconds[0]), int(seconds[-1]), zone, bins)
            assert begins[0] <= seconds[0]
            assert (np.diff(begins) > 0).all()
            at = np.searchsorted(begins, seconds, side="right") - 1
            dates = [datetime.fromtimestamp(s, BERLIN) for s in seconds.tolist()]
            expected = [(d.hour * 60 + d.minute) // 5 if bins else PHASES[rule](d) for d in dates]
            np.testing.assert_array_equal(phases[at], expected)

    def test_bins_cut_a_cycle_into_whole_seconds(self):
        """Days of months cannot be cut, and a day not into seven."""
        times = np.datetime64("2021-03-01T00:00") + 5 * np.arange(600)
        got = calendar_phase(clock_of(times), "hour of day", 288)
        np.testing.assert_array_equal(got, np.arange(600) % 288)
        for rule, bins in (("hour of day", 7 * 11), ("day of month", 31), ("month", 4)):
            with pytest.raises(nf.InputError, match=f"bins={bins} does not go with '{rule}'"):
                Seasonal(period=rule, bins=bins)

    def test_as_many_phases_as_people_keep(self):
        """No more than asked for, none shorter than a step; never fewer than the rule has."""
        day = RULES["hour of day"]
        assert [day.finest(most) for most in (5, 24, 100, 150, 300, 2_000)] == [24, 24, 96, 144, 288, 1_440]
        assert day.finest(2_000, step=300) == 288
        assert RULES["day of month"].finest(1_000) == 31


class TestBusiest:
    @pytest.mark.parametrize(("cycles", "length", "m"), [(6, 3, 4), (4, 2, 3), (5, 4, 4)])
    def test_it_is_no_smaller_than_enumeration(self, cycles, length, m):
        """Of all placements, at most a share p has a p-value of at most p, up to one half."""
        n = cycles * length
        found = []
        for steps in itertools.combinations(range(n), m):
            at = np.array(steps)
            most = np.full(length, m / n)
            found.append(seasons._busiest(at // length, at % length, 1, most, cycles).pvalue)
        small = [p for p in set(found) if p <= 0.5]
        assert small
        for p in small:
            assert np.mean(np.array(found) <= p) <= p + 1e-12

    def test_printed_values(self):
        """Three days of five have one in the same hour of four; the mean number in it is 5 × 4/20: a binomial tail."""
        cycle, place = np.array([0, 1, 3, 4]), np.array([2, 2, 2, 0])
        found = seasons._busiest(cycle, place, 1, np.full(4, 0.2), 5)
        tail = sum(math.comb(5, k) * 0.2**k * 0.8 ** (5 - k) for k in range(3, 6))
        assert found.pvalue == pytest.approx(4 * tail)
        assert found.statistic == pytest.approx(3.0)

    def test_a_burst_within_a_cycle_counts_once(self):
        """Ten events in one hour of one day are no season."""
        one = seasons._busiest(np.zeros(10, dtype=int), np.full(10, 3), 1, np.full(24, 10 / 240), 10)
        assert one.pvalue > 0.99


def seen(truth, alarms, times):
    look = Look.of(nf.evaluate(truth, predictions=alarms, times=times, null="circular-shift").cell, 0.05)
    return look.first


def weighted(rng, weight, m):
    found = np.zeros(len(weight), dtype=bool)
    found[np.argsort(rng.gumbel(size=len(weight)) + weight)[-m:]] = True
    return found


class TestTheSearch:
    @pytest.mark.parametrize(
        ("rule", "start", "minutes", "n", "busy"),
        [
            ("hour of day", "2021-03-01T00:00", 5, 28 * 288, lambda d: (d.hour == 11) & (d.minute < 20)),
            ("minute of hour", "2021-03-01T00:00", 1, 7 * 1440, lambda d: d.minute < 2),
            ("minute of quarter hour", "2021-03-01T00:00", 1, 7 * 1440, lambda d: d.minute % 15 == 3),
            ("day of month from its end", "2018-01-01T00:00", 1440, 1461, lambda d: d.days_in_month == d.day),
            ("day of month", "2018-01-01T00:00", 1440, 1461, lambda d: d.day == 15),
            ("hour of week", "2021-03-01T00:00", 60, 26 * 168, lambda d: (d.day_of_week == 6) & (d.hour == 3)),
            ("hour of week", "2021-03-01T00:00", 15, 8 * 672, lambda d: (d.day_of_week < 5) & (d.hour >= 8) & (d.hour < 18)),
        ],
        ids=["job", "cron", "quarter", "month end", "mid month", "weekly job", "office hours"],
    )  # fmt: skip
    def test_a_calendar_is_found(self, rule, start, minutes, n, busy):
        """In nine of ten samples; and the null that keeps it is the seasonal one of that rule."""
        dates = pd.date_range(start, periods=n, freq=f"{minutes}min")
        weight, rng, found = 3.0 * np.asarray(busy(dates)), np.random.default_rng(3), []
        for _ in range(10):
            first = seen(weighted(rng, weight, 80), weighted(rng, weight, n // 20), dates)
            found.append(first is not None and first.period == rule and first.null().period == rule)
        assert np.mean(found) >= 0.9

    @pytest.mark.parametrize("kind", ["stamps", "lists"])
    def test_the_resolution_of_times_is_no_season(self, kind):
        """Alarms on hourly stamps are all at minute 0, and so are those of a list in full hours."""
        rng = np.random.default_rng(5)
        hours = np.datetime64("2021-03-01T00:00:00") + 3_600 * np.arange(500)
        events = np.sort(rng.choice(499 * 3_600, 60, replace=False)) + hours[0]
        alarms = np.sort(rng.choice(500, 50, replace=False))
        if kind == "stamps":
            cell = nf.evaluate(events, predictions=flags(500, *alarms), times=hours, tolerance="1h").cell
        else:
            cell = nf.coincidence(events, hours[alarms], tolerance="1h", span=(hours[0], hours[-1])).cell
        assert {one.period for one in Look.of(cell, 0.05).calendar if one.found} == set()

    def test_what_was_found_is_plain(self):
        """A diagnosis by the calendar can be written as JSON."""
        dates = pd.date_range("2021-03-01", periods=28 * 288, freq="5min")
        weight, rng = 3.0 * ((dates.hour == 11) & (dates.minute < 20)), np.random.default_rng(3)
        found = nf.diagnose(weighted(rng, weight, 80), rng.gumbel(size=len(dates)) + weight, times=dates)
        written = json.loads(found.to_json())["findings"]
        assert any(one["found"] and "hour of day" in one["name"] for one in written)

    def test_a_narrow_job_has_narrow_phases(self):
        """Hours would let events move within the hour of the job."""
        dates = pd.date_range("2021-03-01", periods=28 * 288, freq="5min")
        weight, rng = 3.0 * ((dates.hour == 11) & (dates.minute < 20)), np.random.default_rng(3)
        first = seen(weighted(rng, weight, 80), weighted(rng, weight, 300), dates)
        assert first.null().text == "seasonal:period=hour of day,bins=288"
        assert first.null(windows=3).text == "seasonal:period=hour of day,bins=144,windows=3"

    def test_a_rhythm_of_local_time_survives_a_change_of_the_clock(self):
        """Strata in Berlin keep its rush hour; in UTC it would lie in two hours."""
        dates = pd.date_range("2021-02-01", "2021-05-01", freq="h", tz="Europe/Berlin")
        rng = np.random.default_rng(4)
        truth = weighted(rng, 6.0 * (dates.hour == 7), 70)
        cell = nf.evaluate(truth, predictions=truth, times=dates).cell
        strata = Seasonal(period="hour of day").strata_of(cell.truth)
        assert np.bincount(strata[truth], minlength=24)[7] >= 65

    @pytest.mark.slow
    @pytest.mark.parametrize(("minutes", "n"), [(0, 2_000), (5, 8_064), (15, 2_688), (60, 2_000), (1440, 1_461)])
    @pytest.mark.parametrize("kind", ["points", "ranges"])
    def test_random_events_have_a_season_in_at_most_one_of_twenty(self, minutes, n, kind):
        """However many calendars are tried (three standard errors)."""
        rng, tries, found = np.random.default_rng(7), 400, 0
        times = None if not minutes else np.datetime64("2021-03-01T00:00") + minutes * np.arange(n)
        for _ in range(tries):
            truth = flags(n, *rng.choice(n, 100, replace=False))
            if kind == "ranges":
                starts = np.sort(rng.integers(0, n - 24 * 12, 24)) + 12 * np.arange(24)
                truth = [(int(start), int(start) + 5) for start in starts]
            found += seen(truth, rng.random(n) < 0.08, times) is not None
        assert found / tries <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / tries)


class TestLongPeriods:
    @pytest.mark.parametrize("period", [60, 96, 288])
    def test_a_narrow_season_of_many_steps_is_found_without_a_clock(self, period):
        """The whole period, and no part of it."""
        rng, n, found = np.random.default_rng(period), 8_064, []
        for _ in range(10):
            weight = 3.5 * ((np.arange(n) + rng.integers(period)) % period < max(period // 60, 1))
            first = seen(weighted(rng, weight, 80), weighted(rng, weight, 300), None)
            found.append(first is not None and first.period == period)
        assert np.mean(found) >= 0.8

    @pytest.mark.parametrize(("period", "cycles"), [(3_000, 9), (10_080, 12), (20_011, 20), (40_320, 9)])
    def test_as_long_as_the_series_has_eight_of_them(self, period, cycles):
        """A weekly job in data by the minute: to the step, also where steps are added up before they are looked at."""
        rng, n = np.random.default_rng(period), period * cycles
        busy = (np.arange(n) + rng.integers(period)) % period < period // 200
        sides = [np.flatnonzero(rng.random(n) < np.where(busy, 40 * m / n, m / n)) for m in (100, 500)]
        found = seasons.common_period(*(seasons.Side.of_steps(at, np.ones(n, bool)) for at in sides), 5.0, 0.1)
        assert found.found
        assert abs(found.steps - period) * cycles <= max(period / 400, cycles)  # a step, or half of the job in all

    def test_periods_looked_for_leave_nothing_out(self):
        """Whatever the whole period, its 48 harmonics lie within one ordinate of those of one that is looked for."""
        for n in (500, 12_000, 50_000, 130_000, 1_000_000):
            long = seasons.combs_of(n)[-1]
            every = np.arange(long.periods[0], n // 8 + 1) if len(long.periods) else np.zeros(0)
            nearest = long.periods[np.abs(long.periods[:, None] - every[:: max(len(every) // 997, 1)]).argmin(axis=0)]
            off = 48 * n * np.abs(1 / nearest - 1 / every[:: max(len(every) // 997, 1)])
            assert off.max(initial=0.0) <= 1.0


class TestWeeks:
    def test_days_that_differ_by_their_place_in_seven_make_weeks(self):
        """Business hours without a clock: the season is the week, mostly; with the same hours every day, the day."""
        rng, n, found = np.random.default_rng(3), 56 * 96, {True: [], False: []}
        differ: dict[bool, list[bool]] = {True: [], False: []}
        hour, day = np.arange(n) % 96 / 4, np.arange(n) // 96
        for _ in range(8):
            for weekly in found:
                weight = 2.0 * ((hour >= 8) & (hour < 18) & ((day % 7 < 5) | (not weekly)))
                truth, alarms = weighted(rng, weight, 100), weighted(rng, weight, 500)
                cell = nf.evaluate(truth, predictions=alarms, tolerance=2).cell
                for look in (Look.of(cell, 0.05), Look.of(cell, 0.05, period=96)):  # the day is found, or known
                    found[weekly].append(0.0 if look.season is None else look.season.steps or 0.0)
                differ[weekly].append(look._weeks)  # by counts alone, where no second season shows
        assert np.mean(differ[True]) >= 0.8
        assert np.mean(differ[False]) <= 0.3
        assert np.mean(np.abs(np.array(found[True]) - 672) < 3) >= 0.8
        assert np.mean(np.abs(np.array(found[False]) - 96) < 1) >= 0.8


class TestFortnights:
    def test_every_other_week_is_kept(self):
        """Maintenance on every other Sunday: days change places with the same weekday of every other week."""
        rng, texts = np.random.default_rng(4), []
        times = np.datetime64("2021-03-01T00:00") + 60 * np.arange(280 * 24)
        day, hour = np.arange(len(times)) // 24, np.arange(len(times)) % 24
        for _ in range(4):
            held = 14 * np.sort(rng.choice(20, 15, replace=False)) + 6
            truth = [(int(24 * one + 2), int(24 * one + 4)) for one in held]
            scores = rng.gumbel(size=len(times)) + 3.0 * ((day % 14 == 6) & (hour >= 2) & (hour < 6))
            texts.append(nf.evaluate(truth, scores, times=times, quantile=0.97, tolerance=2, rng=1).null.text)
        assert sum(text.startswith("period-shuffle:period=day") and "cycle=14" in text for text in texts) >= 3

    def test_what_weekdays_explain_is_no_fortnight(self):
        """Counts that differ by weekday only: small p-values for fortnights are as rare as they should be."""
        rng, weekday = np.random.default_rng(5), np.arange(112) % 7
        found = [in_cycle(rng.poisson(np.where(weekday < 5, 8, 1)), np.arange(112), 14, 7) for _ in range(300)]
        assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)
        every_other = np.where((np.arange(112) % 14 < 7) & (weekday == 6), 9, 2)
        assert in_cycle(every_other, np.arange(112), 14, 7) <= 0.01
        assert in_cycle(np.where(weekday < 5, 8, 1), np.arange(112), 14, 7) == 1.0


class TestTwoSeasons:
    """Periods that have no short multiple in common."""

    def weight(self, rng, n, *periods):
        return sum(1.3 * np.cos(2 * np.pi * (np.arange(n) / period + rng.random())) for period in periods)

    @given(st.integers(20, 300), st.integers(3, 20), st.floats(3, 25), st.integers(1, 12), st.integers(1, 3))
    @settings(max_examples=60)
    def test_strata_are_the_phases_of_both(self, n, period, second, bins, windows):
        """By definition; and draws keep how many events are in each."""
        null = Seasonal(period=period, bins=bins, second=second, second_bins=bins, windows=windows)
        rng = np.random.default_rng(n)
        truth = flags(n, *rng.choice(n, 9, replace=False))
        cell = nf.evaluate(truth, predictions=flags(n, 0)).cell
        strata = null.strata_of(cell.truth)
        phases = [
            (
                int(t % period * min(bins, period) // period),
                int(t % second * min(bins, int(second)) // second),
                t * windows // n,
            )
            for t in range(n)
        ]
        labels = {key: number for number, key in enumerate(sorted(set(phases)))}
        np.testing.assert_array_equal(strata, [labels[key] for key in phases])
        expected = np.bincount(strata[truth], minlength=strata.max() + 1)
        for row in null.draw(cell.truth)(rng, 3):
            np.testing.assert_array_equal(np.bincount(strata[row], minlength=strata.max() + 1), expected)

    def test_events_at_their_own_times_have_the_same_phases(self):
        """Where every tick is a step, coincidence draws from the strata of evaluate."""
        rng, n = np.random.default_rng(2), 240
        truth, alarms = flags(n, *rng.choice(n, 12, replace=False)), flags(n, *rng.choice(n, 20, replace=False))
        null = "seasonal:period=12,bins=4,second=17,second_bins=3,windows=2"
        on_steps = nf.evaluate(truth, predictions=alarms, tolerance=1, null=null, rng=1)
        in_time = nf.coincidence(
            np.flatnonzero(truth), np.flatnonzero(alarms), span=(0, n), tick=1, tolerance=1, null=null, rng=1
        )
        assert in_time.recall_test.pvalue == pytest.approx(on_steps.recall_test.pvalue, rel=1e-12)

    def test_auto_keeps_both(self):
        """Single events stay within the phases of both; ranges have no such null, and the reason says so."""
        rng, n, texts = np.random.default_rng(5), 4_000, []
        for _ in range(6):
            weight = self.weight(rng, n, 24, 37.3)
            result = nf.evaluate(
                weighted(rng, weight, 120), rng.gumbel(size=n) + weight, quantile=0.9, tolerance=2, rng=1
            )
            texts.append(result.null.text)
        assert sum("second=" in text and "period=" in text for text in texts) >= 5

    def test_what_is_no_second_season(self):
        """A number of phases of nothing, a period that is none."""
        with pytest.raises(nf.InputError, match="second_bins=3 is a number of phases of a second season, but there is"):
            Seasonal(period=12, second_bins=3)
        with pytest.raises(nf.InputError, match="second='tide' must be a number of steps"):
            Seasonal(period=12, second="tide")
        with pytest.raises(nf.InputError, match="second_bins=7 does not go with 'hour of day'"):
            Seasonal(period=100, second="hour of day", second_bins=7)
        assert nf.nulls.as_null("seasonal:period=24,second=37.3").text == "seasonal:period=24,second=37.3"


class TestZonesOfFiles:
    TIMES = pd.date_range("2021-03-15", "2021-04-15", freq="h", tz="Europe/Berlin", inclusive="left")

    @pytest.fixture
    def data(self):
        """A rush hour in Berlin, across a change of the clock."""
        rng = np.random.default_rng(8)
        weight = 2.5 * np.isin(self.TIMES.hour, (7, 8))
        label = weighted(rng, weight, 60).astype(int)
        return pd.DataFrame({"time": self.TIMES, "label": label, "z": (rng.gumbel(size=len(label)) + weight).round(6)})

    def expected(self, data, null):
        return nf.evaluate(data["label"], data["z"], times=data["time"], quantile=0.9, tolerance=1, null=null, rng=1)

    def test_offsets_in_text_are_local_time(self, data, tmp_path, capsys):
        """A CSV file with +01:00 and +02:00 has the answer of the data frame; in UTC it is another one."""
        from nofluke.cli import main

        null = "period-shuffle:period=day"
        path, texts = tmp_path / "data.csv", [time.isoformat() for time in self.TIMES]
        data.assign(time=texts).to_csv(path, index=False)
        words = ["--truth", "label", "--scores", "z", "--time", "time", "--quantile", "0.9", "--tolerance", "1"]
        with pytest.raises(SystemExit):
            main(["evaluate", str(path), *words, "--null", null, "--seed", "1", "--format", "json"])
        found = json.loads(capsys.readouterr().out)
        local, utc = (self.expected(one, null) for one in (data, data.assign(time=self.TIMES.tz_convert("UTC"))))
        assert found["recall"]["pvalue"] == local.recall_test.pvalue
        assert local.recall_test.pvalue != utc.recall_test.pvalue

    @pytest.mark.parametrize("kind", ["file", "frame", "shuffled"])
    def test_studies_keep_it(self, data, kind, tmp_path):
        """Of files and of frames, cut into series and put in order."""
        null = "seasonal:period=hour of day"
        both = pd.concat([data.assign(series="a"), data.assign(series="b")], ignore_index=True)
        if kind == "shuffled":
            both = both.sample(frac=1, random_state=1)
        if kind == "file":
            both = both.assign(time=[time.isoformat() for time in both["time"]])
            both.to_csv(tmp_path / "both.csv", index=False)
        asked = {"series": "series", "truth": "label", "scores": "z", "times": "time", "quantile": 0.9, "tolerance": 1}
        study = nf.study(str(tmp_path / "both.csv") if kind == "file" else both, **asked, null=null, workers=1)
        expected = self.expected(data, null).recall_test.pvalue
        assert study.to_frame()["recall_pvalue"].tolist() == pytest.approx([expected] * 2, rel=1e-12)

    def test_lists_of_times_keep_it(self, data):
        """The hours of a coincidence are those of Berlin: in UTC the same times have another answer."""
        at = {"events": data["label"] == 1, "alarms": data["z"] >= data["z"].quantile(0.9)}
        asked = {"tolerance": "1h", "null": "seasonal:period=hour of day", "tick": "1h", "rng": 1}

        def recall(times):
            lists = (times[flag.to_numpy()] for flag in at.values())
            return nf.coincidence(*lists, span=(times[0], times[-1]), **asked).recall_test.pvalue

        expected = self.expected(data, asked["null"]).recall_test.pvalue
        assert recall(self.TIMES) == pytest.approx(expected, rel=0.05)  # the last hour is none of the span
        assert recall(self.TIMES) != recall(self.TIMES.tz_convert("UTC"))

    def test_what_is_sent_to_another_process_keeps_it(self):
        """And what is picked out of it; what is computed with it does not, since nobody knows what it is then."""
        import pickle

        from nofluke.data.columns import UtcTimes

        dates = UtcTimes.of(np.arange(5).astype("datetime64[h]"), np.arange(5) * 60)
        sent = pickle.loads(pickle.dumps(dates))
        assert isinstance(sent, UtcTimes)
        np.testing.assert_array_equal(sent.east, dates.east)
        np.testing.assert_array_equal(dates[[3, 1]].east, [180, 60])
        assert (dates + 1).east is None
        np.testing.assert_array_equal(UtcTimes.joined([dates, dates[:1]]).east, [0, 60, 120, 180, 240, 0])
        assert UtcTimes.joined([dates, UtcTimes.of(np.asarray(dates))]).east is None


class TestStrata:
    DAYS = np.array(["2021-03-02", "2021-03-05"], dtype="datetime64[D]")
    TIMES = np.datetime64("2021-03-01T00:00") + 60 * np.arange(168)

    def strata(self, strata, times=TIMES, mask=None):
        n = len(times)
        cell = nf.evaluate(flags(n, 1), predictions=flags(n, 2), times=times, mask=mask).cell
        return Seasonal(strata=strata).strata_of(cell.truth)

    @pytest.mark.parametrize("kind", ["days", "text", "dates", "function", "labels"])
    def test_dates_split_the_steps_in_two(self, kind):
        """The steps of these days, and all others, however they were given."""
        given = {
            "days": self.DAYS,
            "text": [str(day) for day in self.DAYS],
            "dates": self.DAYS.tolist(),
            "function": lambda times: np.isin(times.astype("datetime64[D]"), self.DAYS),
            "labels": np.isin(self.TIMES.astype("datetime64[D]"), self.DAYS),
        }[kind]
        expected = np.isin(np.arange(168) // 24, (1, 4)).astype(int)
        np.testing.assert_array_equal(self.strata(given), expected)
        mask = np.arange(168) % 5 == 0
        np.testing.assert_array_equal(self.strata(given, mask=mask), expected[~mask])

    def test_dates_are_local_ones(self):
        """Deployments in Berlin begin there at midnight."""
        times = pd.date_range("2021-03-27", "2021-03-30", freq="h", tz="Europe/Berlin")
        np.testing.assert_array_equal(self.strata(["2021-03-28"], times), (times.day == 28).astype(int))

    def test_dates_where_events_have_times_of_their_own(self):
        """Events between the stamps stay on their days."""
        rng = np.random.default_rng(0)
        events = np.sort(self.TIMES[[30, 40, 100, 120]].astype("datetime64[s]") + rng.integers(1, 3_600, 4))
        result = nf.evaluate(
            events, predictions=flags(168, 31, 90), times=self.TIMES, tolerance="1h", null=Seasonal(strata=self.DAYS)
        )
        drawn = result.null.draw(result.cell.truth)(rng, 200)
        watch = result.cell.truth.watch
        days = watch.ticks.times(result.cell.truth.ticks_of(drawn.ravel())).astype("datetime64[D]")
        assert (np.isin(days, self.DAYS).reshape(drawn.shape).sum(axis=1) == 3).all()

    @given(
        st.lists(st.integers(0, 6), min_size=1, max_size=7, unique=True),
        st.integers(24, 200),
        st.sampled_from(list(RULES)),
    )
    @settings(max_examples=40)
    def test_draws_keep_the_number_of_events_of_each_stratum(self, days, n, rule):
        """Of dates and of rules alike."""
        times = np.datetime64("2021-03-01T00:00") + 60 * np.arange(n)
        rng = np.random.default_rng(n)
        truth = flags(n, *rng.choice(n, 9, replace=False))
        cell = nf.evaluate(truth, predictions=flags(n, 0), times=times).cell
        for strata in (np.datetime64("2021-03-01") + np.array(days), rule):
            null = Seasonal(strata=strata)
            labels = null.strata_of(cell.truth)
            expected = np.bincount(labels[truth], minlength=labels.max() + 1)
            for row in null.draw(cell.truth)(rng, 5):
                assert len(np.unique(row)) == 9
                np.testing.assert_array_equal(np.bincount(labels[row], minlength=labels.max() + 1), expected)

    def test_words_are_a_period(self):
        """Both ways to write it are one null."""
        assert Seasonal(strata="hour of week").text == "seasonal:period=hour of week"

    def test_what_cannot_be_strata(self):
        """Words that are no rule, dates without a clock, functions that return too little."""
        with pytest.raises(nf.InputError, match="strata='hour' must be labels, dates, a function of times, or one of"):
            Seasonal(strata="hour")
        with pytest.raises(nf.InputError, match="need a clock of dates"):
            nf.evaluate(flags(9, 3), predictions=flags(9, 4), null=Seasonal(strata=self.DAYS))
        with pytest.raises(nf.InputError, match=r"made labels of shape \(1,\) from 168 times"):
            self.strata(lambda _: [1])

    def test_on_the_command_line(self, tmp_path, capsys):
        """A column of labels, text or numbers, or words; with another null than the seasonal one it is refused."""
        from nofluke.cli import main

        rng = np.random.default_rng(1)
        path = tmp_path / "data.csv"
        rows = [
            f"{t},{int(rng.random() < 0.1)},{rng.random():.3f},{'ab'[i // 24 % 2]}" for i, t in enumerate(self.TIMES)
        ]
        path.write_text("time,label,z,part\n" + "\n".join(rows) + "\n")
        words = ["evaluate", str(path), "--truth", "label", "--scores", "z", "--time", "time", "--quantile", "0.9"]

        def run(*more):
            with pytest.raises(SystemExit) as stopped:
                main([*words, "--seed", "1", "--format", "json", *more])
            return stopped.value.code, capsys.readouterr()

        for strata, text in (("part", "seasonal"), ("hour of day", "seasonal:period=hour of day")):
            code, printed = run("--strata", strata)
            assert (code, json.loads(printed.out)["null"]["text"]) == (0, text)
            words[0] = "significance"
            code, printed = run("--strata", strata, "--metric", "auc-roc", "--resamples", "99")
            assert (code, json.loads(printed.out)["null"]["text"]) == (0, text)
            words[0] = "evaluate"
        code, printed = run("--strata", "part", "--null", "permutation")
        assert code == 2
        assert "--strata is for --null seasonal" in printed.err


def test_zone_of_equal_offsets_is_one_entry():
    """A fixed offset has nothing to search for."""
    clock = make_clock(np.arange(3).astype("datetime64[h]"), "times", True, np.full(3, -18_000))
    assert clock.zone == Zone(since=np.array([0]), east=np.array([-18_000]))
    assert calendars.calendar_phase(clock, "hour of day").tolist() == [19, 20, 21]
