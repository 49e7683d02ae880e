"""The diagnosis: its tests keep their level, find what is there, and lead to a null that keeps it."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import main
from nofluke.nulls import evidence, seasons
from nofluke.nulls.choice import doubts
from nofluke.nulls.diagnosis import lag_profile
from nofluke.series.reading import prepare
from nofluke.series.trial import Trial

HOURS = np.datetime64("2021-03-01T00", "h") + np.arange(2_000)


def uniform(rng, n=2_000, m=80):
    labels = np.zeros(n, dtype=bool)
    labels[rng.choice(n, m, replace=False)] = True
    return labels


def clustered(rng, n=2_000):
    labels = np.zeros(n, dtype=bool)
    labels[(np.repeat(rng.integers(n, size=20), 4) + np.rint(rng.normal(0, 4, 80)).astype(int)) % n] = True
    return labels


def daily(rng, n=2_000, m=80):
    """Events that prefer some hours of the day."""
    labels = np.zeros(n, dtype=bool)
    labels[np.argsort(2 * np.cos(2 * np.pi * np.arange(n) / 24) + rng.gumbel(size=n))[-m:]] = True
    return labels


class TestEvidence:
    @settings(max_examples=40)
    @given(bits=st.lists(st.booleans(), min_size=1, max_size=9))
    def test_adjacency_is_the_share_of_placements_with_as_few_runs(self, bits):
        """The p-value is exact: all placements of as many flags, counted."""
        flags = np.array(bits)
        m = int(flags.sum())

        def runs(steps):
            return sum(s - 1 not in steps for s in steps)

        observed = runs(set(np.flatnonzero(flags).tolist()))
        every = [runs(set(steps)) for steps in itertools.combinations(range(len(bits)), m)]
        expected = np.mean(np.array(every) <= observed)
        assert evidence.adjacency(np.flatnonzero(flags), len(flags)).pvalue == pytest.approx(expected)

    @pytest.mark.parametrize(("n", "m", "width"), [(9, 4, 2), (10, 3, 4), (8, 5, 3), (7, 7, 2), (6, 1, 2)])
    def test_moments_of_pairs_are_exact(self, n, m, width):
        """Mean and variance over all placements."""
        pairs = [
            sum(a // width == b // width for a, b in itertools.combinations(steps, 2))
            for steps in itertools.combinations(range(n), m)
        ]
        mean, var = evidence.pair_moments(n, m, width)
        assert mean == pytest.approx(np.mean(pairs))
        assert var == pytest.approx(np.var(pairs), abs=1e-9)
        for steps in itertools.islice(itertools.combinations(range(n), m), 20):
            counted = sum(a // width == b // width for a, b in itertools.combinations(steps, 2))
            assert evidence.pairs_in_blocks(np.array(steps), width) == counted

    def test_dispersion_is_variance_over_mean(self):
        """For blocks that fill the sequence it is the plain ratio."""
        labels = uniform(np.random.default_rng(0), 64, 20)
        counts = labels.reshape(-1, 4).sum(axis=1)
        pairs = evidence.pairs_in_blocks(np.flatnonzero(labels), 4)
        assert evidence.dispersion_of(pairs, 64, 20, 4) == pytest.approx(counts.var() / counts.mean())

    def test_levels_hold_where_there_is_nothing_to_find(self):
        """Runs, clusters, season and memory at 1% and 10%, over independent series, within four standard errors."""
        rng = np.random.default_rng(1)
        n = 500
        rows = []
        for _ in range(n):
            labels = uniform(rng)
            season = seasons._at_period(labels, np.arange(2_000), 2_000, 24.0)
            memory = evidence.memory(rng.exponential(size=300))
            rows.append(
                (
                    evidence.adjacency(np.flatnonzero(labels), 2_000).pvalue,
                    evidence.clustering(np.flatnonzero(labels), 2_000).pvalue,
                    season.pvalue,
                    memory.pvalue,
                )
            )
        for level in (0.01, 0.1):
            share = (np.array(rows) <= level).mean(axis=0)
            assert (share <= level + 4 * math.sqrt(level * (1 - level) / n)).all()
        assert (np.array(rows)[:, 2:] <= 0.1).mean() > 0.05

    def test_clusters_are_no_season(self):
        """The season's level holds for clustered events and for smooth alarms too."""
        rng = np.random.default_rng(2)
        found = []
        for _ in range(300):
            smooth = np.convolve(rng.normal(size=2_009), np.ones(10), mode="valid")
            for labels in (clustered(rng), smooth > np.quantile(smooth, 0.9)):
                found.append(seasons._at_period(labels, np.arange(2_000), 2_000, 24.0).pvalue)
        assert (np.array(found) <= 0.05).mean() <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 600)

    @pytest.mark.parametrize("period", [24, 30.4, 100, 365.2425])
    def test_a_season_is_found(self, period):
        """Also with a period of no whole number of steps, and through a mask."""
        rng = np.random.default_rng(3)
        weight = 2 * np.cos(2 * np.pi * np.arange(3_000) / period)
        labels = np.zeros(3_000, dtype=bool)
        labels[np.argsort(weight + rng.gumbel(size=3_000))[-120:]] = True
        assert seasons._at_period(labels, np.arange(3_000), 3_000, period).pvalue < 1e-4
        kept = np.flatnonzero(rng.random(3_000) < 0.7)
        assert seasons._at_period(labels[kept], kept, 3_000, period).pvalue < 1e-3

    def test_too_few_periods_are_not_looked_at(self):
        """Less than four periods, or less than three steps in one, say nothing."""
        labels = uniform(np.random.default_rng(0), 100, 10)
        for period in (26.0, 2.0):
            assert seasons._at_period(labels, np.arange(100), 100, period) is None


class TestDiagnose:
    def test_findings_lead_to_the_null(self):
        """Nothing, clusters, runs, a season, and clusters within a season, each to its own null."""
        rng = np.random.default_rng(2)
        scores = rng.random(2_000)
        runs = np.repeat(uniform(rng, 200, 10), 10)
        both = clustered(rng) & (np.arange(2_000) % 24 < 8)
        expected = {
            "permutation": (uniform(rng), {}),
            "circular-shift": (clustered(rng), {}),
            "circular-shift ": (runs, {}),
            "seasonal:period=24,bins=24,windows=4": (daily(rng), {"period": 24}),
            "seasonal:period=hour of day,windows=4": (daily(rng), {"times": HOURS}),
            "circular-shift:every=24": (both, {"period": 24}),
        }
        for text, (truth, more) in expected.items():
            result = nf.diagnose(truth, scores, quantile=0.9, tolerance=2, **more)
            assert result.recommended.text == text.strip(), result
            assert nf.evaluate(truth, scores, quantile=0.9, null=result.recommended, n_resamples=20, **_clock(more))

    def test_few_events_are_kept_together(self):
        """With five events clusters cannot be seen: the careful choice is the circular shift, and p cannot be small."""
        rng = np.random.default_rng(5)
        truth, alarms = uniform(rng, 30, 2), rng.random(30) < 0.5
        result = nf.diagnose(truth, predictions=alarms, tolerance=1)
        assert result.recommended.text == "circular-shift"
        assert result.finding("too few events").found
        permutation, shift = result.smallest_p
        assert (permutation.null, shift.null) == ("permutation", "circular-shift")
        null = nf.evaluate(truth, predictions=alarms, tolerance=1).recall_test.law
        assert permutation.recall == pytest.approx(null.upper(int(null.support[-1])))

    @pytest.mark.slow
    def test_level_of_clusters_and_gaps(self):
        """Under random events both p-values keep 10%, also within the phases of a season."""
        rng = np.random.default_rng(6)
        for make, strata in ((uniform, np.zeros(2_000)), (daily, np.arange(2_000) % 24)):
            found = []
            for _ in range(80):
                truth = make(rng)
                cell = nf.evaluate(truth, predictions=np.zeros(2_000), null="bernoulli").cell
                clusters = evidence.clusters_against(cell.truth, nf.nulls.Seasonal(strata=strata).draw)
                found.append((clusters.counts.pvalue, clusters.gaps.pvalue))
            share = (np.array(found) <= 0.1).mean(axis=0)
            assert (share <= 0.1 + 4 * math.sqrt(0.09 / 80)).all()
            assert (share > 0.02).all()

    def test_lag_is_seen(self):
        """A detector that is always six steps late has its most hits six steps on, and one on time has no lag."""
        rng = np.random.default_rng(7)
        truth = uniform(rng)
        late = nf.diagnose(truth, predictions=np.roll(truth, 6), tolerance=1)
        assert late.finding("lag").found
        assert late.finding("lag").statistic == 6
        assert late.lags[np.argmax(late.recall_hits)] in (5, 6, 7)
        assert "6 steps late" in late.finding("lag").sentence
        assert not nf.diagnose(truth, predictions=truth, tolerance=1).finding("lag").found

    def test_lag_of_noise_keeps_its_level(self):
        """The p-value of an association at some lag is at most 10% as often as that."""
        rng = np.random.default_rng(8)
        found = []
        for _ in range(200):
            cell = nf.evaluate(uniform(rng), predictions=uniform(rng), tolerance=2, null="bernoulli").cell
            found.append(lag_profile(cell).pvalue)
        assert (np.array(found) <= 0.1).mean() <= 0.1 + 4 * math.sqrt(0.09 / 200)

    @pytest.mark.parametrize("n", [1, 2, 3, 40])
    @pytest.mark.parametrize("events", ["none", "all", "one"])
    @pytest.mark.parametrize("alarms", ["none", "all", "one"])
    def test_degenerate_input_is_diagnosed(self, n, events, alarms):
        """No or all events, no or all alarms, few steps: a table, a null, and no warning."""
        one = (np.arange(n) == n // 2).astype(int)
        kinds = {"none": np.zeros(n, dtype=int), "all": np.ones(n, dtype=int), "one": one}
        result = nf.diagnose(kinds[events], predictions=kinds[alarms], tolerance=1, period=5)
        assert "Recommended" in str(result)
        json.dumps(result.to_dict(), allow_nan=False)

    def test_says_what_it_assumed(self):
        """Without a threshold the highest tenth are alarms, and a period that does not fit is told."""
        rng = np.random.default_rng(9)
        result = nf.diagnose(uniform(rng), rng.random(2_000), period=1_000)
        assert result.n_predictions == 200
        assert "highest tenth" in result.notes[0]
        assert "could not be tested" in result.notes[1]
        assert "<table>" in result._repr_html_()
        with pytest.raises(nf.InputError, match="needs a clock of dates"):
            nf.diagnose(uniform(rng), rng.random(2_000), period="month")
        with pytest.raises(nf.InputError, match="name='x' must be one of 'clusters of events'"):
            result.finding("x")

    def test_is_the_same_every_time(self):
        """Its small Monte Carlo has a seed of its own."""
        truth = uniform(np.random.default_rng(10))
        first, second = (nf.diagnose(truth, predictions=truth).to_dict() for _ in range(2))
        assert first == second

    def test_a_period_of_the_alarms_alone_is_no_shared_one(self):
        """The words say so, and no small p stands beside the "no"."""
        rng = np.random.default_rng(0)
        alarms = rng.random(2_000) < 0.1 * (1 + np.sin(2 * np.pi * np.arange(2_000) / 25))
        found = nf.diagnose(uniform(rng, m=60), predictions=alarms)
        (season,) = (one for one in found.findings if one.name == "season of any period")
        assert (season.found, season.pvalue) == (False, None)
        assert "share no period" in season.sentence
        (row,) = (row for row in found.table().rows if row[0] == "season of any period")
        assert row[1:4] == ("no", "", "")
        assert row[4].endswith("; one side alone, or a slow change, has one")


def _clock(more):
    return {key: value for key, value in more.items() if key == "times"}


class TestDoubts:
    def doubts(self, truth, alarms, null, **more):
        result = nf.evaluate(truth, predictions=alarms, tolerance=1, null=null, n_resamples=20, rng=1, **more)
        found = doubts(result.null, result.cell)
        assert set(found) <= set(result.notes)
        return " ".join(found)

    def test_runs_and_clusters_under_a_permutation(self):
        """Both are named, with the nulls that keep them; circular shifts raise no doubt."""
        rng = np.random.default_rng(11)
        alarms = rng.random(2_000) < 0.1
        runs = np.repeat(uniform(rng, 200, 10), 10)
        assert "runs of 10" in self.doubts(runs, alarms, "permutation")
        assert "runs of 10" in self.doubts(runs, alarms, "seasonal:period=24")
        assert "clusters" in self.doubts(clustered(rng), alarms, "permutation")
        for null in ("circular-shift", "segments", "blocks:length=50"):
            assert self.doubts(runs, alarms, null) == ""

    def test_sweeps_carry_the_doubts_about_events(self):
        """A sweep over clustered events says so too."""
        rng = np.random.default_rng(12)
        curve = nf.sweep(clustered(rng), rng.random(2_000), quantiles=[0.9], null="permutation")
        assert "clusters" in curve.notes[0]

    def test_a_shared_season_on_a_clock(self):
        """Both follow the hour of the day: permutation and circular shift forget it, the seasonal null does not."""
        rng = np.random.default_rng(13)
        truth, alarms = daily(rng), daily(rng, m=150)
        for null in ("permutation", "circular-shift"):
            assert 'null="seasonal:period=hour of day"' in self.doubts(truth, alarms, null, times=HOURS)
        for null in ("seasonal:period=hour of day", "circular-shift:every=24"):
            assert "season" not in self.doubts(truth, alarms, null, times=HOURS)
        assert "season" not in self.doubts(truth, rng.random(2_000) < 0.1, "circular-shift", times=HOURS)

    def test_the_binomial_is_for_comparison(self):
        """Bernoulli says so every time."""
        result = nf.evaluate([0, 1, 0], predictions=[0, 1, 0], null="bernoulli")
        assert any("to compare with the literature" in note for note in result.notes)

    @pytest.mark.slow
    def test_false_alarms_are_rare(self):
        """Independent events and alarms on a clock: each doubt arises in about 1% of results (four standard errors)."""
        rng = np.random.default_rng(14)
        n, kinds = 300, ("clusters", "season", "change slowly")
        noted = dict.fromkeys(kinds, 0)
        for _ in range(n):
            sequence = prepare(uniform(rng), predictions=uniform(rng), times=HOURS)
            cell = Trial.of(sequence, (nf.Tolerance(early=0, late=0),), None).cell(0, 0)
            for doubt in doubts(nf.nulls.Permutation(), cell):
                noted[next(kind for kind in kinds if kind in doubt)] += 1
        assert max(noted.values()) / n <= 0.01 + 4 * math.sqrt(0.01 * 0.99 / n)


class TestCommandLine:
    @pytest.fixture
    def data(self, tmp_path):
        rng = np.random.default_rng(15)
        path = tmp_path / "data.csv"
        rows = zip(HOURS, daily(rng), rng.random(2_000), strict=True)
        path.write_text("t,y,z\n" + "\n".join(f"{t}:00,{int(y)},{z:.4f}" for t, y, z in rows) + "\n")
        return str(path)

    def run(self, capsys, *words):
        with pytest.raises(SystemExit) as stopped:
            main(list(words))
        return stopped.value.code, capsys.readouterr()

    def test_diagnose_prints_text_and_json(self, data, capsys):
        """The table names the null; JSON has the same findings."""
        words = ("diagnose", data, "--truth", "y", "--scores", "z", "--time", "t", "--tolerance", "1h")
        code, printed = self.run(capsys, *words)
        assert code == 0
        assert "Recommended: --null 'seasonal:period=hour of day,windows=4'." in printed.out
        code, printed = self.run(capsys, *words, "--format", "json")
        assert json.loads(printed.out)["recommended"]["text"] == "seasonal:period=hour of day,windows=4"
        code, printed = self.run(capsys, *words[:6], "--period", "24", "--format", "json")
        assert json.loads(printed.out)["recommended"]["settings"] == {"period": 24, "bins": 24, "windows": 4}

    def test_null_is_an_option(self, data, capsys):
        """evaluate and sweep take a null as text; a wrong one is one line."""
        words = ("--truth", "y", "--scores", "z", "--quantile", "0.9", "--format", "json")
        code, printed = self.run(capsys, "evaluate", data, *words, "--null", "circular-shift:guard=3")
        assert json.loads(printed.out)["recall"]["null"] == "circular-shift:guard=3"
        code, printed = self.run(capsys, "sweep", data, *words, "--null", "seasonal:period=24,bins=6", "--seed", "1")
        assert json.loads(printed.out)["null"]["text"] == "seasonal:period=24,bins=6"
        code, printed = self.run(capsys, "evaluate", data, *words, "--null", "shift")
        assert code == 2
        assert "must be one of 'auto', 'permutation'" in printed.err
