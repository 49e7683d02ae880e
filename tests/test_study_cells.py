"""Cells of a study against single evaluations: the batch core shares work and drops objects but changes no number."""

import math
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

import nofluke as nf
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case, Fault
from nofluke.studies.rows import Rows, row_of
from nofluke.studies.store import CELLS, LAWS, TRUTHS, StoredLaw
from nofluke.studies.study import add_case

COMMON = {
    "threshold": None,
    "quantile": None,
    "budget": None,
    "null": "permutation",
    "higher_is": "anomalous",
    "count_events": None,
    "count_alarms": None,
    "refractory": None,
    "missing": "error",
    "overlaps": "error",
    "warmup": None,
    "n_resamples": 200,
    "alpha": 0.05,
}


def settings_of(tolerance=2, metrics=(), rng=3, **more):
    """Settings as `nf.study` makes them, and the same as arguments of `nf.evaluate`."""
    given = {**COMMON, **more}
    return Asked.of(tolerance=tolerance, metrics=metrics, rng=rng, **given), given


def rows_of(case, asked):
    """All rows of one case."""
    rows = Rows(asked.metrics)
    add_case(case, asked, rows)
    return rows


def alike(name, ours, theirs):
    """Equal, or floats that differ by rounding alone."""
    if isinstance(theirs, float) and not math.isnan(theirs):
        return ours == pytest.approx(theirs, rel=1e-12, abs=1e-7 if name.endswith("_std") else 1e-13)
    return ours == theirs or (isinstance(theirs, float) and math.isnan(theirs) and math.isnan(ours))


def assert_as_evaluated(case, asked, arguments, tolerance):
    """Every cell has the row of its evaluation, and every cell that has none is an evaluation that fails."""
    rows = rows_of(case, asked)
    found = {row["detector"]: row for row in rows.cells}
    failed = {row["detector"]: row["reason"] for row in rows.failed}
    for name, scores in case.detectors.items():
        seed = asked.seed_of(case.series, name)
        if name in failed:
            with pytest.raises(nf.InputError) as error:
                nf.evaluate(case.truth, scores, tolerance=tolerance, times=case.times, rng=seed, **arguments)
            assert str(error.value) == failed[name]
            continue
        result = nf.evaluate(case.truth, scores, tolerance=tolerance, times=case.times, rng=seed, **arguments)
        wanted = row_of(case, name, result)
        for column, value in wanted.items():
            assert alike(column, found[name][column], value), (column, found[name][column], value)
        for test in (result.precision_test, result.recall_test):
            stored = next(
                StoredLaw.of_row(row) for row in rows.laws if row["detector"] == name and row["measure"] == test.measure
            )
            if test.of and test.how.kind == "exact":
                assert stored.upper(test.hits) == pytest.approx(test.pvalue, rel=1e-12)
            assert stored.mean == pytest.approx(test.expected, rel=1e-12, abs=1e-13)


@st.composite
def cases(draw):
    """A series with single events and three detectors: noise, ties, seasons, skill; and how it is judged."""
    n = draw(st.integers(5, 160))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    truth = np.zeros(n, dtype=int)
    truth[rng.choice(n, draw(st.integers(0, min(n, 20))), replace=False)] = 1
    wave = np.sin(np.arange(n) * draw(st.sampled_from([0.0, 0.3, 1.0])))
    noise = rng.normal(size=(3, n))
    if draw(st.booleans()):
        noise = np.round(noise)
    detectors = {f"d{i}": row + 2 * wave + truth * draw(st.integers(0, 3)) for i, row in enumerate(noise)}
    if draw(st.booleans()):
        detectors["d1"] = detectors["d1"].astype(np.float32)
    way = draw(
        st.sampled_from([{"threshold": 0.5}, {"quantile": 0.9}, {"quantile": 0.5}, {"budget": 0.1}, {"budget": "30%"}])
    )
    tolerance = draw(
        st.one_of(st.integers(0, 6), st.builds(nf.Tolerance, early=st.integers(0, 4), late=st.integers(0, 4)))
    )
    more = {**way, "higher_is": draw(st.sampled_from(["anomalous", "normal"]))}
    return Case(series="s", group="g", truth=truth, detectors=detectors), tolerance, more


class TestCells:
    """Each is an evaluation, whatever it shares with others of its series."""

    @given(cases())
    def test_every_cell_says_what_its_evaluation_says(self, drawn):
        """Numbers, verdict, reason and notes, whatever the cut, the tolerance, ties and seasons."""
        case, tolerance, more = drawn
        asked, arguments = settings_of(tolerance, **more)
        assert_as_evaluated(case, asked, arguments, tolerance)

    def test_doubts_about_the_null_are_those_of_the_evaluation(self):
        """A season that both follow, clusters of events and a drift are found in every cell."""
        step = np.arange(2000)
        rng = np.random.default_rng(1)
        season = (rng.random(2000) < 0.15 * (step % 50 < 5)).astype(int)
        clusters = np.zeros(2000, dtype=int)
        clusters[np.add.outer(rng.choice(1900, 8, replace=False), np.arange(0, 12, 3)).ravel()] = 1
        drift = (rng.random(2000) < 0.04 * step / 2000).astype(int)
        scores = {
            "season": (step % 50 < 5) + rng.random(2000),
            "drift": step / 2000 + rng.random(2000),
            "noise": rng.random(2000),
        }
        said = []
        for truth in (season, clusters, drift):
            case = Case(series="s", group="s", truth=truth, detectors=scores)
            asked, arguments = settings_of(2, quantile=0.95)
            assert_as_evaluated(case, asked, arguments, 2)
            said += [note for row in rows_of(case, asked).cells for note in row["notes"]]
        for word in ("season", "clusters", "slowly"):
            assert any(word in note for note in said), word

    def test_no_narrow_season_is_missed(self):
        """One busy step of 24, which hardly any single frequency shows: as many doubts as the evaluations have."""
        busy = np.arange(2000) % 24 == 3
        rng = np.random.default_rng(2)
        truth = (rng.random(2000) < 0.025 + 0.15 * busy).astype(int)
        scores = {f"d{i}": busy + rng.normal(size=2000) for i in range(8)}
        asked, arguments = settings_of(0, quantile=0.9)
        case = Case(series="s", group="s", truth=truth, detectors=scores)
        assert_as_evaluated(case, asked, arguments, 0)
        said = [" ".join(row["notes"]) for row in rows_of(case, asked).cells]
        assert sum("24 steps" in notes for notes in said) >= 6


class TestTheOtherWay:
    """Cells of every other kind."""

    @pytest.mark.parametrize(
        "more",
        [
            {"null": "auto"},
            {"null": "circular-shift"},
            {"null": "local-permutation", "quantile": 0.9},
            {"count_events": "ranges", "null": "auto"},
            {"count_alarms": "episodes"},
            {"refractory": 4},
            {"warmup": 20},
            {"missing": "mask"},
        ],
        ids=lambda more: next(iter(more.values())) if isinstance(more, dict) else more,
    )
    def test_every_cell_says_what_its_evaluation_says(self, more):
        """Nulls that the data choose or that are drawn, ranges, episodes, warm-ups and masks."""
        rng = np.random.default_rng(5)
        truth = np.zeros(300, dtype=int)
        for start in (30, 90, 160, 220, 270):
            truth[start : start + 6] = 1
        detectors = {"noise": rng.normal(size=300), "skill": rng.normal(size=300) + 2 * truth}
        if more.get("missing") == "mask":
            detectors["skill"][[3, 40]] = np.nan
        case = Case(series="s", group="s", truth=truth, detectors=detectors, warmup=more.get("warmup"))
        asked, arguments = settings_of(3, **{"budget": 0.1, **more} if "quantile" not in more else more)
        assert_as_evaluated(case, asked, arguments, 3)

    def test_a_clock_and_a_tolerance_in_time(self):
        """Times travel with the case."""
        rng = np.random.default_rng(2)
        times = np.datetime64("2026-01-01") + np.arange(400) * np.timedelta64(1, "h")
        truth = (rng.random(400) < 0.03).astype(int)
        case = Case(series="s", group="s", truth=truth, detectors={"z": rng.normal(size=400)}, times=times)
        for tolerance, null in (("3h", "permutation"), (3, "permutation"), ("3h", "auto")):
            asked, arguments = settings_of(tolerance, budget=0.05, null=null)
            assert_as_evaluated(case, asked, arguments, tolerance)

    def test_events_at_their_own_times(self):
        """Times between two steps keep their own."""
        times = np.datetime64("2026-01-01") + np.arange(300) * np.timedelta64(6, "h")
        events = times[[20, 90, 200, 250]] + np.timedelta64(5 * 60 + 59, "m")
        case = Case(
            series="s",
            group="s",
            truth=events,
            detectors={"z": np.random.default_rng(3).normal(size=300)},
            times=times,
            truth_as="times",
        )
        asked, arguments = settings_of("2h", budget=0.05, null="auto")
        assert_as_evaluated(case, asked, {**arguments, "truth_as": "times"}, "2h")

    def test_metrics_are_those_of_significance(self):
        """Each metric has its value, chance, p-value and verdict in columns of its own."""
        rng = np.random.default_rng(4)
        truth = np.zeros(200, dtype=int)
        truth[[20, 21, 22, 90, 91, 150, 151, 152]] = 1
        scores = rng.normal(size=200) + truth
        asked, _ = settings_of(2, budget=0.1, null="auto", metrics=("auc-roc", "pa-f1"))
        row = rows_of(Case(series="s", group="s", truth=truth, detectors={"z": scores}), asked).cells[0]
        seed = asked.seed_of("s", "z")
        wanted = nf.significance(["auc-roc", "pa-f1"], truth, scores, budget=0.1, n_resamples=200, rng=seed)
        for name, one in zip(("auc-roc", "pa-f1"), wanted, strict=True):
            assert row[name] == one.value
            assert row[f"{name}_pvalue"] == one.pvalue
            assert row[f"{name}_verdict"] == one.verdict


class TestWhatFails:
    """A cell that cannot be judged stays missing with its reason, and nothing else is lost."""

    def test_one_bad_detector_leaves_the_others(self):
        """NaN, a wrong length, text, a fault of the reader: a reason each."""
        rng = np.random.default_rng(0)
        truth = (rng.random(50) < 0.1).astype(int)
        good = rng.normal(size=50)
        holes = good.copy()
        holes[3] = np.nan
        detectors = {
            "good": good,
            "holes": holes,
            "short": good[:40],
            "text": np.array(["a"] * 50),
            "gone": Fault(reason="no such file."),
            "infinite": np.where(good > 1, np.inf, good),
        }
        asked, _ = settings_of(2, budget=0.1)
        rows = rows_of(Case(series="s", group="g", truth=truth, detectors=detectors), asked)
        assert [row["detector"] for row in rows.cells] == ["good"]
        reasons = {row["detector"]: row["reason"] for row in rows.failed}
        assert set(reasons) == {"holes", "short", "text", "gone", "infinite"}
        assert reasons["gone"] == "no such file."
        assert "NaN" in reasons["holes"]
        assert all("\n" not in reason for reason in reasons.values())

    def test_a_series_without_a_truth_fails_as_a_whole(self):
        """One row for all its detectors."""
        asked, _ = settings_of(2, budget=0.1)
        rows = rows_of(
            Case(series="s", group="g", truth=Fault(reason="empty file."), detectors={"z": np.zeros(3)}), asked
        )
        assert rows.failed == [{"series": "s", "group": "g", "detector": "", "reason": "empty file."}]
        assert rows.cells == rows.truths == []

    def test_no_events_and_no_alarms_are_answers_not_failures(self):
        """Undefined measures are NaN, never 0, and the notes say so."""
        asked, _ = settings_of(2, budget=0.1)
        z = np.arange(30.0)
        rows = rows_of(
            Case(series="s", group="g", truth=np.zeros(30, dtype=int), detectors={"z": z, "flat": z * 0}), asked
        )
        assert rows.failed == []
        assert all(math.isnan(row["recall"]) for row in rows.cells)
        assert math.isnan(rows.cells[1]["precision"])
        assert rows.cells[1]["verdict"] == "cannot tell"
        assert any("no events" in note for note in rows.cells[0]["notes"])

    def test_tables_have_the_columns_of_their_schema(self):
        """Parquet needs all of them, in order."""
        asked, _ = settings_of(2, budget=0.1)
        part = rows_of(
            Case(series="s", group="g", truth=[0, 1, 0, 0] * 8, detectors={"z": np.arange(32.0)}), asked
        ).part()
        assert list(part.cells) == list(CELLS)
        assert list(part.laws) == list(LAWS)
        assert list(part.truths) == list(TRUTHS)


class TestSettings:
    """What is refused before anything is read."""

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({}, "either threshold or quantile or budget, got none"),
            ({"budget": 0.1, "quantile": 0.9}, "got quantile and budget"),
            ({"budget": "110%"}, "budget='110%'"),
            ({"budget": 0.1, "alpha": 2}, "alpha=2"),
            ({"budget": 0.1, "null": "nothing"}, "null='nothing'"),
            ({"budget": 0.1, "tolerance": -1}, "tolerance=-1"),
            ({"budget": 0.1, "metrics": "no-metric"}, "no-metric"),
            ({"budget": 0.1, "metrics": [len]}, "must be names"),
            ({"budget": 0.1, "metrics": np.True_}, "metrics=np.True_ must be names"),
            ({"budget": 0.1, "metrics": None}, "metrics=None must be names"),
            ({"budget": 0.1, "metrics": np.array(0)}, "must be names"),
            ({"budget": 0.1, "metrics": range(10**12)}, "metrics=0 must be names"),
            ({"budget": 0.1, "metrics": ["auc-roc", "auc-roc"]}, "metrics='auc-roc' is there twice"),
            ({"budget": 0.1, "rng": -1}, "rng=-1"),
            ({"budget": 0.1, "missing": None}, "missing=None must be one of 'error', 'mask'"),
            ({"budget": 0.1, "warmup": -1}, "warmup=-1 must be a number of steps, a share"),
            ({"budget": 0.1, "warmup": object()}, "warmup=<object"),
            ({"budget": 0.1, "refractory": 0}, "refractory=0"),
        ],
    )
    def test_wrong_settings_are_refused_with_a_remedy(self, more, words):
        """One line that names the argument."""
        with pytest.raises(nf.InputError) as error:
            settings_of(**more)
        assert words in str(error.value)

    def test_registered_metrics_travel_with_their_functions(self, monkeypatch):
        """Another process has never heard their names."""
        monkeypatch.setattr("nofluke.metrics._ADDED", {})
        nf.metrics.register("balanced", balanced_accuracy_score, needs="alarms")
        asked, _ = settings_of(2, budget=0.1, metrics=("balanced", "auc-roc"))
        case = Case(series="s", group="g", truth=[0, 1, 0, 0] * 8, detectors={"z": np.arange(32.0)})
        here = rows_of(case, asked).part()
        sent = pickle.dumps(asked)
        monkeypatch.setattr("nofluke.metrics._ADDED", {})
        there = rows_of(case, pickle.loads(sent)).part()
        assert there.cells["balanced"] == here.cells["balanced"]
        assert there.cells["balanced_pvalue"] == here.cells["balanced_pvalue"]
        assert there.failed == here.failed

    def test_functions_that_cannot_travel_are_refused_unless_they_stay(self, monkeypatch):
        """Before anything is read, with the remedy."""
        monkeypatch.setattr("nofluke.metrics._ADDED", {})
        lock = threading.Lock()
        nf.metrics.register("local", lambda labels, alarms: (labels * alarms).sum() + lock.locked(), needs="alarms")
        table = {"name": ["s"] * 32, "label": [0, 1, 0, 0] * 8, "z": np.arange(32.0)}
        asked = {
            "series": "name",
            "truth": "label",
            "scores": "z",
            "budget": 0.1,
            "metrics": "local",
            "n_resamples": 99,
        }
        with pytest.raises(nf.InputError, match=r"metrics='local' cannot be sent.* or pass workers=1\.$"):
            nf.study(table, **asked, workers=2)
        assert nf.study(table, **asked, workers=1).n_missing == 0

    def test_a_tolerance_may_be_a_share_of_the_length(self):
        """In whole steps, exactly as it is written."""
        asked, _ = settings_of("1%", budget=0.1)
        assert [asked.within(n).late for n in (99, 100, 1538)] == [0, 1, 15]
        assert settings_of(0.29, budget=0.1)[0].within(100).early == 29
        assert asked.tolerance_text == "1% of each series' length"

    def test_seeds_go_by_names(self):
        """So that neither the order of cells nor other cells change a seed."""
        asked, _ = settings_of(budget=0.1)
        assert asked.seed_of("a", "b") == asked.seed_of("a", "b") != asked.seed_of("ab", "")
        assert asked.seed_of("a", "b") != settings_of(budget=0.1, rng=4)[0].seed_of("a", "b")
