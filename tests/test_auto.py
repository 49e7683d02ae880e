"""The null that auto takes: which it is in each situation, that no rotation and no hit changes it, and what it says."""

import importlib.util
import json
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.nulls import choice, seen
from nofluke.nulls.choice import doubts, pick
from nofluke.nulls.diagnosis import NOT_LOOKED_FOR
from nofluke.nulls.seen import Events, Look, Seasons
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.trial import Trial

_spec = importlib.util.spec_from_file_location(
    "situations", Path(__file__).parent.parent / "benchmarks" / "situations.py"
)
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)
TIME = made.TIME
TRIES = 11


def cell_of(truth, scores, tolerance=2, quantile=0.9, count="steps", **more):
    """The highest tenth of the scores as alarms."""
    alarms = scores if scores.dtype == bool else scores >= np.quantile(scores, quantile)
    window = nf.Tolerance(early=tolerance, late=tolerance)
    return Trial.of(prepare(truth, predictions=alarms, **more), (window,), None, AlarmRule(count=count)).cell(0, 0)


def picked(cell, alpha=0.05, **more):
    return pick(Look(cell=cell, alpha=alpha, **more))


def mostly(make):
    """The null that most of some samples come to, by its name, its stride and whether it holds; and how many do."""
    found = Counter()
    for seed in range(TRIES):
        truth, scores, more = make(np.random.default_rng([3, seed]))
        chosen = picked(cell_of(truth, scores, **more))
        found[chosen.model.name, getattr(chosen.model, "every", None) or 1, chosen.holds] += 1
    return found.most_common(1)[0]


def season_and_clusters(period, trend=0.0):
    """Events in clusters, and scores without, that both follow a season and a trend."""

    def make(rng):
        weight = made.wave(rng, period, 2.0) + made.trend(trend)
        return made.points(rng, weight + 1.5 * made.autoregressive(rng, 0.8)), made.gumbel(rng) + weight, {}

    return make


class TestTheRule:
    @pytest.mark.parametrize(
        ("make", "expected"),
        [
            (made.SITUATIONS["iid"], ("permutation", 1, True)),
            (made.SITUATIONS["events clustered"], ("circular-shift", 1, True)),
            (made.SITUATIONS["events keep a distance"], ("circular-shift", 1, True)),
            (made.SITUATIONS["ranges, smooth scores"], ("circular-shift", 1, True)),
            (lambda rng: (made.labels(made.ranges(rng)), made.gumbel(rng), {}), ("circular-shift", 1, True)),
            (lambda rng: (made.points(rng) & (TIME % 20 == 3), made.gumbel(rng), {}), ("circular-shift", 1, True)),
            (made.SITUATIONS["daily season on a clock, 2"], ("seasonal", 1, True)),
            (made.SITUATIONS["season of 100 steps, 2"], ("seasonal", 1, True)),
            (made.SITUATIONS["weekday and clusters, 1"], ("circular-shift", 7, True)),
            (season_and_clusters(200), ("period-shuffle", 1, True)),
            (season_and_clusters(7, trend=2.0), ("local-shift", 7, True)),
            (made.SITUATIONS["trend, 4"], ("local-permutation", 1, True)),
            (made.SITUATIONS["trend and clusters, 4"], ("local-shift", 1, True)),
            (made.SITUATIONS["ranges, trend, 4"], ("local-shift", 1, True)),
        ],
        ids=[
            "nothing", "clusters", "even spacing", "ranges", "runs", "few", "calendar", "season", "season and clusters",
            "season of few periods and clusters", "season, clusters and trend", "trend", "trend and clusters",
            "trend and ranges",
        ],
    )  # fmt: skip
    def test_each_situation_comes_to_its_null(self, make, expected):
        """In most samples; in the others something is seen by accident."""
        found, times = mostly(make)
        assert found == expected
        assert times > TRIES // 2

    def test_ranges_at_the_same_time_of_every_period(self):
        """Five ranges, one in each period and in phase: wherever they go, they meet the same, and nothing is told."""
        weight = made.wave(np.random.default_rng(0), 400, 3.0)
        rng = np.random.default_rng(1)
        ends = [(t, t + 150) for t in (25, 425, 825, 1225, 1625)]
        scores = made.gumbel(rng) + weight.max() * np.isin(TIME, np.concatenate([np.arange(a, b) for a, b in ends]))
        result = nf.evaluate(ends, scores, quantile=0.9, tolerance=2)
        assert result.null.name == "period-shuffle"
        assert result.verdict == "cannot tell"
        assert "No outcome could have reached" in result.reason

    def test_too_few_periods_with_events(self):
        """Alarms by the hour of the day, and ranges on two days only: no null holds, and the obstacle is named."""
        hours = np.datetime64("2024-03-04T00") + np.arange(12 * 24)
        scores = np.sin(2 * np.pi * np.arange(len(hours)) / 24) + made.gumbel(np.random.default_rng(1), len(hours)) / 9
        ends = [(hours[at], hours[at + 3]) for at in (57, 63, 201, 207)]
        result = nf.evaluate(ends, scores, times=hours, quantile=0.9, tolerance=1)
        assert not result.settings.choice.holds
        assert result.verdict == "cannot tell"
        assert result.reason == result.settings.choice.why
        assert "events lie in only 2 days that can change places with others, and 3 are needed" in result.reason
        found = nf.diagnose(ends, scores, times=hours, tolerance=1)
        assert found.holds is False
        assert "No null holds for these data." in str(found)

    def test_a_long_tolerance_leaves_no_windows(self):
        """Windows of time are several tolerances long; where that leaves too few of them, shifts are taken."""
        truth, scores, _ = made.SITUATIONS["trend, 4"](np.random.default_rng(0))
        assert picked(cell_of(truth, scores, tolerance=2)).model.name == "local-permutation"
        long = picked(cell_of(truth, scores, tolerance=45))
        assert long.model.name == "local-shift"
        assert "the tolerance is long" in long.why

    def test_without_events_or_alarms_there_is_nothing_to_look_at(self):
        """The circular shift, which is always possible."""
        nothing, some = np.zeros(50, dtype=bool), np.arange(50) % 9 == 0
        for truth, alarms in ((nothing, some), (some, nothing), (nothing, nothing)):
            assert picked(cell_of(truth, alarms)).model.text == "circular-shift"

    def test_a_lower_level_needs_longer_shifts(self):
        """The number of shifts grows as the level falls; where there is no room for them, no null holds."""
        truth, scores, _ = made.SITUATIONS["trend and clusters, 4"](np.random.default_rng(0))
        cell = cell_of(truth, scores)
        assert picked(cell, alpha=0.05).model.reach < picked(cell, alpha=0.03).model.reach
        assert not picked(cell, alpha=0.001).holds

    def test_a_period_that_is_known_is_not_searched_for(self):
        """It is looked at alone, and kept where it is there."""
        rng = np.random.default_rng(2)
        truth, scores, _ = made.shared(rng, made.wave(rng, 50, 2.0))
        look = Look(cell=cell_of(truth, scores), alpha=0.05, period=50)
        assert look.search is None
        assert pick(look).model.text == "seasonal:period=50,bins=41,windows=4"


def same(one, other):
    """The same null; a period that was searched for is known to about a hundredth of it."""
    if (one.holds, one.model.name) != (other.holds, other.model.name):
        return False
    numbers = {key: value for key, value in one.model.settings.items() if not isinstance(value, str)}
    return all(abs(other.model.settings.get(key, 0) - value) <= 0.01 * value for key, value in numbers.items())


WITHOUT_A_CLOCK = [name for name in made.SITUATIONS if "clock" not in name]


class TestRotations:
    @settings(max_examples=60)
    @given(
        name=st.sampled_from(WITHOUT_A_CLOCK),
        seed=st.integers(0, 2**32),
        shift=st.integers(1, made.STEPS - 1),
        count=st.sampled_from(["steps", "episodes"]),
    )
    def test_the_choice_is_the_same_for_every_rotation(self, name, seed, shift, count):
        """Alarms rolled against the events: the same is seen; without a season, the same null, settings and words."""
        truth, scores, _ = made.SITUATIONS[name](np.random.default_rng(seed))
        alarms = scores >= np.quantile(scores, 0.9)
        assume(not (alarms[-1] and alarms[0]) and not (alarms[-shift] and alarms[-shift - 1]))  # no run over the seam
        first = Look(cell=cell_of(truth, alarms, count=count), alpha=0.05)
        moved = Look(cell=cell_of(truth, np.roll(alarms, shift), count=count), alpha=0.05)
        assert moved.search.found == first.search.found
        assert moved.search.pvalue == pytest.approx(first.search.pvalue, rel=1e-6)
        assert (moved.season is None) == (first.season is None)
        if first.season is None:
            assert moved.drift.pvalue == pytest.approx(first.drift.pvalue, rel=1e-6)
            one, other = pick(first), pick(moved)
            assert (one.model.text, one.why, one.holds) == (other.model.text, other.why, other.holds)

    @pytest.mark.parametrize("name", ["season of 100 steps, 2", "weekday and clusters, 1"])
    def test_also_with_a_season_of_many_cycles(self, name):
        """The period that both share is read from powers, too; of few cycles a rotation breaks the one at the seam."""
        for seed in range(5):
            truth, scores, _ = made.SITUATIONS[name](np.random.default_rng([4, seed]))
            alarms = scores >= np.quantile(scores, 0.9)
            first = picked(cell_of(truth, alarms))
            for shift in (1, 700, 1_999):
                assert same(first, picked(cell_of(truth, np.roll(alarms, shift))))

    @pytest.mark.parametrize("name", list(made.SITUATIONS))
    def test_hits_are_never_looked_at(self, name, monkeypatch):
        """Without access to hits, windows around events or shifts of events, the choice is the same."""

        def refuse(*_):
            raise AssertionError("the choice must not look at hits")

        truth, scores, more = made.SITUATIONS[name](np.random.default_rng(6))
        expected = picked(cell_of(truth, scores, **more))
        for attribute in ("recall_hits", "precision_hits", "event_windows", "near_events", "near_predictions"):
            monkeypatch.setattr(Trial, attribute, property(refuse))
        for module in ("circular", "local", "diagnosis"):
            for function in ("around", "nearby"):
                monkeypatch.setattr(f"nofluke.nulls.{module}.{function}", refuse, raising=False)
        again = picked(cell_of(truth, scores, **more))
        assert (again.model.text, again.why, again.holds) == (expected.model.text, expected.why, expected.holds)


class TestTheEvidence:
    def test_it_is_worked_out_once_for_a_truth(self, monkeypatch):
        """However many cells and detectors are judged on it, and whoever asks."""
        calls = Counter()
        for name in ("adjacency", "clustering", "evenness"):
            real = getattr(seen, name)

            def counted(*given, name=name, real=real):
                calls[name] += 1
                return real(*given)

            monkeypatch.setattr(seen, name, counted)
        truth, scores, _ = made.SITUATIONS["iid"](np.random.default_rng(0))
        tolerances = tuple(nf.Tolerance(early=d, late=d) for d in (0, 2))
        trial = Trial.of(prepare(truth, scores), tolerances, np.quantile(scores, [0.8, 0.9]))
        for d in range(2):
            for k in range(2):
                pick(Look(cell=trial.cell(d, k), alpha=0.05))
                doubts(nf.nulls.Permutation(), trial.cell(d, k))
        other = trial.with_detector(np.random.default_rng(1).random(len(scores)))
        pick(Look(cell=other.cell(0, 0), alpha=0.05))
        assert calls == {"adjacency": 1, "clustering": 1, "evenness": 1}
        assert Events.of(trial.truth) is Events.of(other.truth)

    def test_events_are_seen_on_the_steps_that_count(self):
        """With a mask, as without the masked steps, but for periods, which go on over them."""
        truth, scores, _ = made.SITUATIONS["events clustered"](np.random.default_rng(8))
        mask = np.arange(made.STEPS) >= 1_500
        alarms = scores >= np.quantile(scores, 0.9)
        masked, cut = cell_of(truth, alarms, mask=mask), cell_of(truth[~mask], alarms[~mask])
        assert Events.of(masked.truth).clusters == Events.of(cut.truth).clusters
        assert Events.of(masked.truth).runs == Events.of(cut.truth).runs


class TestWhatItSays:
    @pytest.mark.parametrize("name", list(made.SITUATIONS))
    def test_why_is_one_sentence(self, name):
        """With a capital letter, one full stop at its end, and no line break."""
        truth, scores, more = made.SITUATIONS[name](np.random.default_rng(10))
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, n_resamples=19, rng=1, **more)
        why = result.settings.choice.why
        assert why[0].isupper()
        assert why.endswith(".")
        assert ". " not in why
        assert "\n" not in why
        plain = json.loads(json.dumps(result.to_dict()))["null"]
        assert (plain["asked"], plain["why"], plain["text"]) == ("auto", why, result.null.text)
        assert plain["holds"] is result.settings.choice.holds
        assert why in str(result)

    def test_what_is_not_looked_for_is_said(self):
        """In every diagnosis, in words and in JSON."""
        truth, scores, _ = made.SITUATIONS["iid"](np.random.default_rng(11))
        found = nf.diagnose(truth, scores, quantile=0.9)
        assert NOT_LOOKED_FOR in found.notes
        assert NOT_LOOKED_FOR in found.to_dict()["notes"]
        assert "Not looked for: more than two seasons" in str(found)

    @pytest.mark.parametrize("name", list(made.SITUATIONS))
    def test_the_diagnosis_recommends_what_auto_takes(self, name):
        """The same null for the same reason."""
        truth, scores, more = made.SITUATIONS[name](np.random.default_rng(12))
        found = nf.diagnose(truth, scores, quantile=0.9, tolerance=2, **more)
        taken = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, n_resamples=19, **more).settings.choice
        assert (found.recommended.text, found.why, found.holds) == (taken.model.text, taken.why, taken.holds)

    def test_findings_tell_drift_and_period(self):
        """With their statistics: the ratio of slow powers, the period in steps."""
        rng = np.random.default_rng(13)
        trend = nf.diagnose(*made.SITUATIONS["trend, 4"](rng)[:2], tolerance=2).finding("slow change")
        assert trend.found
        assert trend.statistic > 5
        season = nf.diagnose(*made.SITUATIONS["season of 100 steps, 2"](rng)[:2], tolerance=2)
        assert season.finding("season of any period").found
        assert season.finding("season of any period").statistic == pytest.approx(100, rel=0.02)


class TestOneNullForAll:
    def test_cells_of_a_sweep_share_the_null_of_their_usual_alarms(self):
        """That of the highest tenth of the scores, whatever the thresholds and the tolerances."""
        truth, scores, _ = made.SITUATIONS["trend and clusters, 4"](np.random.default_rng(14))
        curve = nf.sweep(truth, scores, quantiles=[0.3, 0.6, 0.9, 0.99], tolerances=(2, 4))
        one = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
        assert curve.null.text == one.null.text == "local-shift"
        for k, quantile in enumerate((0.3, 0.6, 0.9, 0.99)):
            cell = nf.evaluate(truth, scores, quantile=quantile, tolerance=4, null="local-shift")
            assert curve.chance.recall.pvalue[1, k] == cell.recall_test.pvalue
            assert curve.chance.precision.pvalue[1, k] == cell.precision_test.pvalue

    @pytest.mark.slow
    def test_a_page_asks_once(self, tmp_path, monkeypatch):
        """All positions of its sliders are judged by the null of the result."""
        asked = []

        def counted(look):
            asked.append(look)
            return pick(look)

        monkeypatch.setattr(choice, "pick", counted)
        truth, scores, _ = made.SITUATIONS["ranges, smooth scores"](np.random.default_rng(15))
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
        assert len(asked) == 1
        result.report(tmp_path / "page.html")
        assert len(asked) == 1


class TestDoubts:
    def test_a_shared_trend(self):
        """Permutation and circular shift forget it; nulls that look nearby do not."""
        truth, scores, _ = made.SITUATIONS["trend, 4"](np.random.default_rng(16))
        cell = cell_of(truth, scores)
        for null in (nf.nulls.Permutation(), nf.nulls.CircularShift()):
            found = " ".join(doubts(null, cell))
            assert "change slowly with time" in found
            assert 'Use null="local-shift"' in found
        for null in (nf.nulls.LocalShift(), nf.nulls.LocalPermutation()):
            assert "slowly" not in " ".join(doubts(null, cell))

    def test_a_shared_season_without_a_clock(self):
        """It is searched for; the remedy is auto, which finds its period."""
        truth, scores, _ = made.SITUATIONS["season of 100 steps, 2"](np.random.default_rng(17))
        found = " ".join(doubts(nf.nulls.CircularShift(), cell_of(truth, scores)))
        assert "It looks like a season (period 100" in found or "It looks like a season (period 99" in found
        assert "that events and alarms may share" in found
        assert 'Use null="auto".' in found
        assert "season" not in " ".join(doubts(nf.nulls.Seasonal(period=100), cell_of(truth, scores)))

    def test_naming_the_null_that_auto_gave_up_on_does_not_silence_it(self, monkeypatch):
        """Alarms by the hour of the day beside ranges: shifts of all events together are doubted, not by whole days."""
        rng = np.random.default_rng(5)
        hours = np.datetime64("2024-03-04T00") + np.arange(12 * 24)
        scores = np.sin(2 * np.pi * np.arange(len(hours)) / 24) + rng.normal(0, 0.1, len(hours))
        truth = np.zeros(len(hours), dtype=int)
        for start in (57, 201):  # on two days: too few change places
            truth[start : start + 3] = 1
        asked = {"quantile": 0.9, "tolerance": 1, "times": hours, "count_events": "ranges"}
        assert not nf.evaluate(truth, scores, **asked).settings.choice.holds
        monkeypatch.setattr(Seasons, "doubt", lambda *_: "")  # as where events show no sign of one
        for null in ("circular-shift", "segments"):
            result = nf.evaluate(truth, scores, null=null, n_resamples=99, **asked)
            assert 'With null="auto" the answer is "cannot tell". It looks like a season' in " ".join(result.notes)
        assert nf.evaluate(truth, scores, null="circular-shift:every=24", **asked).settings.choice.doubts == ()

    def test_auto_has_none(self):
        """What it saw, it took into account."""
        for name in ("trend, 4", "season of 100 steps, 2", "both clustered", "ranges, trend, 4"):
            truth, scores, _ = made.SITUATIONS[name](np.random.default_rng(18))
            result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, n_resamples=19)
            assert result.settings.choice.doubts == ()


class TestFlatScores:
    def made(self, rng, events_in_them):
        """Four outages written as 0; events anywhere else, or anywhere."""
        scores = rng.gamma(2, size=2_000)
        for at in (100, 500, 1_100, 1_700):
            scores[at : at + 90] = 0.0
        free = np.flatnonzero(scores > 0) if not events_in_them else TIME
        return np.isin(TIME, rng.choice(free, 60, replace=False)), scores

    def test_outages_are_named_and_not_called_skill(self):
        """Where nothing is measured and nothing is reported, no null holds; with a mask there is an answer."""
        truth, scores = self.made(np.random.default_rng(2), False)
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
        assert result.verdict == "cannot tell"
        assert "does not change in 4 stretches (360 of 2,000 steps)" in result.reason
        assert "pass these steps as mask=" in result.reason
        assert nf.evaluate(truth, scores, quantile=0.9, tolerance=2, mask=scores == 0).verdict != "cannot tell"
        metric = nf.significance("auc-roc", truth, scores, n_resamples=99)
        assert metric.verdict == "cannot tell"

    def test_flat_scores_with_events_in_them_are_a_note(self):
        """Events are reported there too: chance may move them there."""
        truth, scores = self.made(np.random.default_rng(2), True)
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
        assert result.verdict != "cannot tell"
        assert any("does not change in 4 stretches" in note for note in result.notes)

    def test_a_rhythm_is_a_season_and_no_outage(self):
        """A sensor that is off in 16 of 40 steps, and finds nothing then, has a season."""
        rng = np.random.default_rng(5)
        on = TIME % 40 >= 16
        truth = np.isin(TIME, rng.choice(TIME[on], 60, replace=False))
        result = nf.evaluate(truth, np.where(on, rng.gamma(2, size=2_000), 0.0), quantile=0.9, tolerance=2)
        assert not any("does not change" in note for note in (*result.notes, result.reason))
        assert "season" in result.null.keeps

    def test_scores_of_few_values_are_not_flat(self):
        """Scores that are often equal, or that stay at their top, have no outages."""
        rng = np.random.default_rng(3)
        truth = np.isin(TIME, rng.choice(TIME, 60, replace=False))
        for scores in (rng.poisson(0.2, 2_000).astype(float), np.minimum(made.autoregressive(rng, 0.95), 0.5)):
            result = nf.evaluate(truth, scores, quantile=0.7, tolerance=2)
            assert not any("does not change" in note for note in (*result.notes, result.reason))


class TestTheExamples:
    @pytest.mark.skipif(
        not os.environ.get("NOFLUKE_DATA"), reason="NOFLUKE_DATA is unset: it names the directory of the data"
    )
    @pytest.mark.parametrize("quantile", [0.8, 0.9, 0.95])
    def test_the_papers_data(self, quantile):
        """Single events without clusters, season or drift: the paper's own null."""
        quakes = nf.datasets.load_earthquakes()
        scores = nf.detectors.energy_transient(quakes.counts)
        result = nf.evaluate(quakes.truth, scores, quantile=quantile, tolerance=2)
        assert result.settings.choice.label == "permutation (auto)"

    def test_the_demo(self):
        """The same of the simulated earthquakes, with their days and without."""
        quakes = nf.datasets.simulate_quakes(rng=0)
        scores = nf.detectors.energy_transient(quakes.counts)
        for times in (None, quakes.days):
            result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, times=times)
            assert result.settings.choice.label == "permutation (auto)"


class TestSkillIsNotDrift:
    @pytest.mark.parametrize(("steps", "count", "length"), [(300, 3, 10), (1_000, 5, 20), (4_000, 3, 200)])
    def test_a_nearly_perfect_detector_of_ranges_is_told_so(self, steps, count, length):
        """Alarms in clumps as long as the ranges are no slow change: the verdict is rarely withheld."""
        verdicts = Counter()
        for seed in range(20):
            rng = np.random.default_rng([7, steps, seed])
            gaps = rng.multinomial(steps - count * (length + 2), np.ones(count + 1) / (count + 1))
            starts = np.cumsum(gaps[:count] + length + 2) - length - 1
            scores = rng.normal(size=steps)
            for start in starts:
                scores[start : start + length] += 3
            ends = [(int(start), int(start) + length - 1) for start in starts]
            verdicts[nf.evaluate(ends, scores, budget=0.05).verdict] += 1
        assert verdicts["yes"] >= 15
        assert verdicts["no"] == 0

    def test_a_detector_that_copies_the_events_keeps_the_permutation(self):
        """Its spectrum has the accidents of theirs, which are no evidence for a season or a drift that both follow."""
        chosen = Counter()
        for seed in range(40):
            truth = made.points(np.random.default_rng([8, seed]))
            chosen[picked(cell_of(truth, truth)).model.name] += 1
        assert chosen["permutation"] >= 28

    def test_the_reach_of_small_shifts_goes_by_the_tolerance_not_by_the_tick(self):
        """Alarms within half a tolerance of each event, on fine ticks: small shifts must leave room to miss."""
        rng = np.random.default_rng(3)
        bursts = np.repeat(200_000 * np.sqrt(rng.random(20)), 4) + rng.normal(0, 200, 80)
        events = np.unique(bursts[(bursts >= 0) & (bursts < 200_000)].astype(int))
        alarms = np.unique(np.clip(events + rng.integers(-50, 50, len(events)), 0, 199_999))
        found = nf.coincidence(events, alarms, tolerance=100, span=(0, 199_999))
        assert found.null.name == "local-shift"
        assert found.null.reach >= 200 / 0.05
        assert found.verdict == "yes"


def test_what_was_seen_is_evidence_and_no_fact():
    """A season, a slow change: "looks like" and "seem to", with the p-value that speaks for it."""
    rng = np.random.default_rng(4)
    wave = np.sin(2 * np.pi * np.arange(2_000) / 50)
    truth = np.isin(np.arange(2_000), rng.choice(2_000, 90, replace=False, p=np.exp(2 * wave) / np.exp(2 * wave).sum()))
    result = nf.evaluate(truth, wave + 0.5 * rng.normal(size=2_000), quantile=0.9)
    assert re.match(r"It looks like a season \(period 50 steps, p = \d", result.settings.choice.why)
    slope = np.linspace(0, 4, 2_000)
    truth = np.isin(np.arange(2_000), rng.choice(2_000, 90, replace=False, p=np.exp(slope) / np.exp(slope).sum()))
    result = nf.evaluate(truth, slope + rng.normal(size=2_000), quantile=0.9)
    told = r"Events and alarms seem to change slowly with time \(a trend or a drift, p = \d"
    assert re.match(told, result.settings.choice.why)
    assert any(re.match(told, note) for note in nf.evaluate(truth, slope, quantile=0.9, null="permutation").notes)


def test_local_shifts_are_long_against_ranges_alarms_and_tolerance():
    """Where the change leaves room: three times the longest of each together, so that perfect alarms count."""
    rng = np.random.default_rng(7)
    rate = np.exp(np.linspace(0, 2, 20_000))
    starts = np.sort(rng.choice(19_800, 12, replace=False, p=rate[:19_800] / rate[:19_800].sum()))
    ranges = [(int(s), int(s) + 99) for s in starts[np.diff(starts, prepend=-500) > 200]]
    flags = np.zeros(20_000, dtype=int)
    for first in rng.choice(19_900, 40, p=rate[:19_900] / rate[:19_900].sum()):
        flags[first : first + 30] = 1
    found = nf.evaluate(ranges, predictions=flags, tolerance=5, count_alarms="episodes")
    assert found.null.name == "local-shift"
    longest = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], flags, [0]]))))[::2].max()
    assert found.null.reach >= 3 * (100 + longest + 11)
