"""A study as a whole: cells, pooled rows, comparison, files, resuming; against evaluations and enumerations."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import nofluke as nf
from comparing import compare_units
from nofluke.errors import parts_of
from nofluke.studies.store import read_table


def table_of(n_series=6, n=120, detectors=2, events=4, seed=0, skill=0.0, groups=None):
    """A wide table of simulated series, each with its own truth."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((n_series, n), dtype=int)
    for row in truth:
        row[rng.choice(n, events, replace=False)] = 1
    table = {"name": np.repeat([f"s{i:03}" for i in range(n_series)], n), "label": truth.ravel()}
    if groups is not None:
        table["set"] = np.repeat([f"g{i % groups}" for i in range(n_series)], n)
    for j in range(detectors):
        table[f"d{j}"] = rng.normal(size=n_series * n) + (j + 1) * skill * truth.ravel()
    return table


def study_of(table, **more):
    """A small study in this process."""
    given = {"series": "name", "truth": "label", "scores": "d*", "budget": 0.05, "tolerance": 1, "null": "permutation"}
    return nf.study(table, **{**given, "workers": 1, **more})


def convolved(laws):
    """The law of a sum of independent numbers, by plain convolution of fractions."""
    total = [Fraction(1)]
    for law in laws:
        total = [
            sum((total[i] * law[k - i] for i in range(len(total)) if 0 <= k - i < len(law)), Fraction(0))
            for k in range(len(total) + len(law) - 1)
        ]
    return total


def enumerated(truth, alarms, tolerance):
    """Laws of precision's and recall's hits over all placements of the events, as fractions."""
    n, m = len(truth), int(np.sum(truth))
    counts: list[dict[int, int]] = [{}, {}]
    placements = list(itertools.combinations(range(n), m))
    for events in placements:
        hits = sum(any(abs(a - e) <= tolerance for e in events) for a in alarms)
        found = sum(any(abs(a - e) <= tolerance for a in alarms) for e in events)
        for count, value in zip(counts, (hits, found), strict=True):
            count[value] = count.get(value, 0) + 1
    return [
        [Fraction(count.get(k, 0), len(placements)) for k in range(top + 1)]
        for count, top in zip(counts, (len(alarms), m), strict=True)
    ]


class TestCells:
    """What a study says of one cell."""

    def test_a_cell_is_the_evaluation_of_its_data(self):
        """Found by names; the seed repeats it."""
        table = table_of()
        study = study_of(table)
        row = study.cell("s002", "d1")
        at = table["name"] == "s002"
        result = nf.evaluate(table["label"][at], table["d1"][at], budget=0.05, tolerance=1, null="permutation")
        assert row["recall_pvalue"] == pytest.approx(result.recall_test.pvalue, rel=1e-12)
        assert (row["verdict"], row["reason"], row["notes"]) == (result.verdict, result.reason, list(result.notes))

    def test_a_drawn_cell_is_repeated_by_its_seed(self):
        """`evaluate(..., rng=seed)` gives the same p-value."""
        table = table_of()
        study = study_of(table, null="local-permutation:windows=4", n_resamples=300)
        row = study.cell("s001", "d0")
        at = table["name"] == "s001"
        result = nf.evaluate(
            table["label"][at],
            table["d0"][at],
            budget=0.05,
            tolerance=1,
            null="local-permutation:windows=4",
            n_resamples=300,
            rng=row["seed"],
        )
        assert row["n_resamples"] == 300
        assert row["precision_pvalue"] == result.precision_test.pvalue

    def test_names_that_are_not_there_get_a_hint(self):
        """A near miss, a detector, a cell that failed."""
        table = table_of()
        table["d1"][table["name"] == "s000"] = np.nan
        study = study_of(table)
        with pytest.raises(nf.InputError, match="did you mean 's001'"):
            study.cell("S001", "d0")
        with pytest.raises(nf.InputError, match="detector="):
            study.cell("s001", "nobody")
        with pytest.raises(nf.InputError, match="'s000' has no result for d1: "):
            study.cell("s000", "d1")
        with pytest.raises(nf.InputError, match=r"series=array\(\['s000'\].* must be the name of a series"):
            study.cell(np.array(["s000"]), "d0")
        assert (study.n_cells, study.n_missing, study.n_series) == (12, 1, 6)
        assert "1 missing" in repr(study)

    @pytest.mark.parametrize("kind", ["frame", "parquet"])
    def test_names_that_differ_by_a_nul_at_the_end_stay_apart(self, tmp_path, kind):
        """Series, groups and detectors, which NumPy's text would merge: cells, pooled rows, comparisons, metrics."""
        table = table_of(n_series=4, skill=1.0)
        names = ["a", "a\x00", "b", "b\x00\x00"]
        plain = study_of({**table, "set": np.repeat(["g", "h", "g", "h"], 120)}, group="set", metrics="auc-roc")
        odd = {
            "name": np.repeat(np.array(names, dtype=object), 120),
            "set": np.repeat(np.array(["g", "g\x00"] * 2, dtype=object), 120),
            "label": table["label"],
            "d": table["d0"],
            "d\x00": table["d1"],
        }
        if kind == "parquet":
            pd.DataFrame(odd).to_parquet(tmp_path / "t.parquet")
        study = study_of(odd if kind == "frame" else tmp_path / "t.parquet", group="set", metrics="auc-roc")
        assert study.detectors == ("d", "d\x00")
        assert study.cell("a\x00", "d\x00")["f1"] == plain.cell("s001", "d1")["f1"]
        with pytest.raises(nf.InputError, match=r"series='b\\x00' is not in this study"):
            study.cell("b\x00", "d")
        for row, other in zip(study.pooled(n_resamples=99), plain.pooled(n_resamples=99), strict=True):
            assert (row.n_groups, row.share_yes, row.skill_in) == (other.n_groups, other.share_yes, other.skill_in)
            assert (row.recall, row.f1.value) == (other.recall, other.f1.value)
            assert row.metrics[0].value == other.metrics[0].value
        assert study.compare().difference("d", "d\x00").value == plain.compare().difference("d0", "d1").value
        of_metric = (one.compare().difference(*one.detectors, "auc-roc") for one in (study, plain))
        assert next(of_metric).value == next(of_metric).value

    def test_false_discoveries_are_corrected_over_all_cells(self):
        """By Benjamini and Hochberg."""
        study = study_of(table_of(skill=3.0))
        wanted = nf.inference.corrections.benjamini_hochberg(study.cells["recall_pvalue"])
        np.testing.assert_array_equal(study.corrected("recall"), wanted)

    def test_a_frame_has_a_row_for_each_cell(self):
        """In the library that is asked for."""
        frame = study_of(table_of()).to_frame("polars")
        assert frame.shape[0] == 12
        assert frame["detector"].to_list()[:2] == ["d0", "d1"]


class TestPooled:
    """Detectors over all series."""

    def test_pooled_p_is_that_of_plain_convolution(self):
        """Exact laws of precision and recall under the permutation, by enumeration and in fractions."""
        table = table_of(n_series=4, n=12, events=2, seed=3, skill=1.0, detectors=1)
        study = study_of(table, budget=0.3)
        row = study.pooled(n_resamples=99)[0]
        laws, hits, sizes = ([], []), [0, 0], [0, 0]
        for name in dict.fromkeys(table["name"]):
            at = table["name"] == name
            cell = study.cell(name, "d0")
            alarms = np.flatnonzero(table["d0"][at] >= cell["threshold"])
            for side, law in enumerate(enumerated(table["label"][at], alarms, 1)):
                laws[side].append(law)
            hits = [hits[0] + cell["precision_hits"], hits[1] + cell["recall_hits"]]
            sizes = [sizes[0] + cell["n_predictions"], sizes[1] + cell["n_events"]]
        for side, measure in enumerate((row.precision, row.recall)):
            law = convolved(laws[side])
            assert measure.pvalue == pytest.approx(float(sum(law[hits[side] :])), rel=1e-12)
            assert measure.value == pytest.approx(hits[side] / sizes[side])
            mean = sum(k * p for k, p in enumerate(law))
            assert measure.expected == pytest.approx(float(mean) / sizes[side], rel=1e-12)
            assert measure.method.startswith("exact")

    def test_f1_is_simulated_and_says_so(self):
        """Its chance level is near that of the product of the laws, its p-value never 0."""
        study = study_of(table_of(n_series=12, skill=2.0, seed=1))
        row = study.pooled(n_resamples=999)[1]
        assert row.f1.method == "simulated (999 draws)"
        assert row.f1.pvalue >= 1 / 1000
        p, r = row.precision, row.recall
        assert row.f1.expected == pytest.approx(2 * p.expected * r.expected / (p.expected + r.expected), rel=0.2)
        assert row.f1.value == pytest.approx(2 * p.value * r.value / (p.value + r.value))

    def test_the_verdict_goes_by_corrected_p_values(self):
        """Skill is found, noise is not, and p-values are corrected for the number of detectors."""
        study = study_of(table_of(n_series=15, detectors=3, skill=2.0, seed=2), scores=["d0", "d1", "d2"])
        rows = study.pooled(n_resamples=199)
        assert [row.verdict for row in rows][1:] == ["yes", "yes"]
        pvalues = [row.recall.pvalue for row in rows]
        np.testing.assert_allclose([row.recall.corrected for row in rows], nf.inference.corrections.holm(pvalues))
        noise = study_of(table_of(n_series=15, detectors=3, seed=5)).pooled(n_resamples=199)
        assert {row.verdict for row in noise} == {"no"}

    def test_a_series_whose_null_does_not_hold_counts_in_the_value_only(self):
        """Chance and p are those of the others, and a note says so."""
        study = study_of(table_of(skill=2.0))
        study.cells["holds"] = study.cells["holds"].copy()
        gone = np.flatnonzero(study.cells["series"] == "s000")
        study.cells["holds"][gone] = False
        row = study.pooled(n_resamples=99)[0]
        kept = study.cells["detector"] == "d0"
        kept[gone] = False
        assert (row.n_series, row.n_told) == (6, 5)
        expected = study.cells["recall_expected"][kept].sum() / study.cells["n_events"][kept].sum()
        assert row.recall.expected == pytest.approx(expected)
        assert any("No null holds on 1 series" in note for note in row.notes)

    def test_the_value_beside_chance_is_that_of_the_same_series(self):
        """Where no null holds on some, and what is above chance goes by it."""
        study = study_of(table_of(skill=2.0, seed=9))
        study.cells["holds"] = study.cells["holds"].copy()
        kept = study.cells["series"] != "s001"
        study.cells["holds"][~kept] = False
        row = study.pooled(n_resamples=49)[0].recall
        kept &= study.cells["detector"] == "d0"
        told = study.cells["recall_hits"][kept].sum() / study.cells["n_events"][kept].sum()
        assert row.told == pytest.approx(told)
        assert row.above_chance == pytest.approx((told - row.expected) / (1 - row.expected))

    def test_what_the_data_say_against_the_null_is_not_lost(self):
        """Labels in runs under the permutation: the reason begins with it."""
        table = table_of(n_series=6, n=300, events=4, skill=2.0)
        labels = table["label"].reshape(6, 300)
        for row in labels:
            for at in np.flatnonzero(row):
                row[at : at + 8] = 1
        row = study_of(table).pooled(n_resamples=49)[1]
        assert row.reason.startswith("Under the requested null, which ")
        assert any("contradict the requested null" in note for note in row.notes)

    def test_groups_are_the_units(self):
        """Intervals and skill in so many of them go by groups."""
        table = table_of(n_series=24, n=300, skill=1.5, groups=12)
        study = study_of(table, group="set")
        row = study.pooled(n_resamples=99)[1]
        assert row.n_groups == 12
        assert 0 < row.skill_in <= 12
        assert row.recall.low < row.recall.value < row.recall.high
        few = study_of(table_of(n_series=24, skill=3.0, groups=3), group="set").pooled(n_resamples=99)[1]
        assert math.isnan(few.recall.low)  # three units say nothing of a variance

    def test_detectors_without_any_result_cannot_be_told(self):
        """A column of NaN stays in the table, last, with a reason."""
        table = table_of()
        table["d1"][:] = np.nan
        study = study_of(table)
        rows = study.pooled(n_resamples=99)
        assert (rows[1].n_series, rows[1].n_failed, rows[1].verdict) == (0, 6, "cannot tell")
        assert study.leaderboard(n_resamples=99).detectors == ("d0", "d1")

    @pytest.mark.parametrize("detectors", ["d*", "d1"])
    def test_a_detector_whose_cells_all_failed_is_said_to_have_failed(self, tmp_path, detectors):
        """Not to have no alarms: in its row, on the leaderboard, on the page and in comparisons, with the reason."""
        table = table_of(n_series=3)
        table["d1"][:] = np.nan
        study = study_of(table, scores=detectors, out=tmp_path / "out", n_resamples=99)
        told = "All of its 3 cells failed: all of its 120 scores are missing."
        assert study.pooled()[-1].reason == told
        assert f"Note: d1: {told}" in str(study)
        assert told in (tmp_path / "out" / "leaderboard.html").read_text()
        said = "".join([str(study), *(study.compare().notes if detectors == "d*" else ())])
        assert "has no alarms" not in said
        assert "There are no events" not in said

    def test_the_most_frequent_reason_is_that_of_a_detector_without_results(self):
        """A series without any result counts for all of them."""
        table = table_of(n_series=4)
        table["d1"][:120] = np.inf
        table["d1"][120:360] = np.nan
        table["label"] = table["label"].astype(float)
        table["label"][360:] = 7
        row = study_of(table).pooled(n_resamples=99)[1]
        assert row.reason == "All of its 4 cells failed: all of its 120 scores are missing."


class TestSharedTruth:
    """Sensors that are labelled once."""

    def shared(self, n_series=8, n=200, skill=0.0, seed=0):
        """One truth for all series; detectors that know nothing are alike in all of them."""
        rng = np.random.default_rng(seed)
        truth = np.zeros(n, dtype=int)
        truth[rng.choice(n, 6, replace=False)] = 1
        common = rng.normal(size=n)
        return {
            "name": np.repeat([f"s{i}" for i in range(n_series)], n),
            "label": np.tile(truth, n_series),
            "d0": np.tile(common + skill * truth, n_series) + 0.1 * rng.normal(size=n * n_series),
        }

    @pytest.mark.parametrize("null", ["permutation", "circular-shift"])
    def test_copies_of_one_series_are_no_more_evidence_than_one(self, null):
        """Treated as independent, eight copies would make p the eighth power of one."""
        table = self.shared(skill=1.0)
        for name in dict.fromkeys(table["name"]):  # exact copies
            table["d0"][table["name"] == name] = table["d0"][:200]
        one = study_of({name: values[:200] for name, values in table.items()}, null=null).pooled(n_resamples=999)[0]
        study = study_of(table, null=null)
        row = study.pooled(n_resamples=999)[0]
        assert study.shared[0].identical
        assert len(study.shared[0].series) == 8
        assert row.recall.pvalue == pytest.approx(one.recall.pvalue, rel=1e-9)
        assert row.precision.pvalue == pytest.approx(one.precision.pvalue, rel=0.5, abs=0.01)
        assert row.n_groups == 1
        assert any("coincide with those of others" in note for note in row.notes)

    @pytest.mark.parametrize("kind", ["began later", "missed steps", "lagged"])
    def test_sensors_that_are_not_quite_in_step_are_no_more_evidence_than_one(self, kind):
        """Eight copies of one series with skill, with missing steps, or each one step after the one before."""
        table = self.shared(skill=2.0)
        label, scores, times = table["label"][:200], table["d0"][:200], 60 * np.arange(200) + 10**7
        one = {"name": np.repeat("s", 200), "label": label, "d0": scores, "time": times}
        rng, every = np.random.default_rng(1), np.arange(200)
        rows = []
        for i in range(8):
            there = (rng.random(200) < 0.98) | (label == 1)
            kept = {"began later": every[i:], "missed steps": every[there], "lagged": (every - i) % 200}[kind]
            clock = times if kind == "lagged" else times[kept]
            rows.append((np.repeat(f"s{i}", len(kept)), label[kept], scores[kept], clock))
        several = dict(zip(("name", "label", "d0", "time"), map(np.concatenate, zip(*rows, strict=True)), strict=True))
        how = {"times": "time", "tolerance": 0, "budget": None, "threshold": 1.8}
        alone = study_of(one, **how).pooled(n_resamples=999)[0]
        study = study_of(several, **how)
        row = study.pooled(n_resamples=999)[0]
        (cluster,) = study.shared
        assert (len(cluster.series), cluster.identical, cluster.aligned) == (8, False, kind == "lagged")
        assert row.n_groups == 1
        for measure in ("precision", "recall"):
            expected = getattr(alone, measure).pvalue
            assert expected < 0.05
            assert getattr(row, measure).pvalue > expected / 2
        assert ("simulated" if cluster.aligned else "approximate") in row.recall.method
        assert cluster.aligned or any("clocks differ" in note for note in row.notes)

    def test_clusters_without_a_common_placement_are_drawn_apart(self):
        """Pairs of unlike length: F1's chance is that of their independent sum, not of one number for both."""
        rng = np.random.default_rng(2)
        rows = []
        for i in range(12):
            truth = np.zeros(150, dtype=int)
            truth[rng.choice(140, 4, replace=False) + 10] = 1
            scores = rng.normal(size=150)
            times = np.arange(150) + 10_000 * i
            rows += [(np.repeat(f"s{i} {cut}", 150 - cut), truth[cut:], scores[cut:], times[cut:]) for cut in (0, 1)]
        table = dict(zip(("name", "label", "d0", "time"), map(np.concatenate, zip(*rows, strict=True)), strict=True))
        study = study_of(table, times="time")
        row = study.pooled(n_resamples=999)[0]
        assert [len(one.series) for one in study.shared] == [2] * 12
        assert row.f1.std == pytest.approx(row.recall.std, rel=0.4)

    def test_recalls_pooled_law_is_exact(self):
        """A hypergeometric weighted by multiplicity."""
        study = study_of(self.shared())
        row = study.pooled(n_resamples=199)[0]
        assert row.recall.method.startswith("exact")
        assert row.precision.method.startswith("simulated")

    def test_series_that_share_a_truth_are_one_unit(self):
        """No interval from one unit, and no swap tells detectors apart."""
        table = self.shared()
        table["d1"] = table["d0"][::-1].copy()
        study = study_of(table)
        assert study.compare().noun == "groups"
        assert math.isnan(study.pooled(n_resamples=99)[0].recall.low)
        (note,) = (note for note in study.compare().notes if "with the same truth" in note)
        assert "8 series make 1 independent unit" in note
        assert note.endswith("count as one ('s0', 's1', 's2' and 5 more).")

    def grouped(self, null="permutation", copies=((0, 5),), **more):
        """Four groups of three series and two detectors; the second of each pair has the labels of the first."""
        table = table_of(n_series=12, groups=4, **more)
        for one, other in copies:
            for name in ("label", *(name for name in table if name.startswith("d"))):
                table[name][120 * other : 120 * (other + 1)] = table[name][120 * one : 120 * (one + 1)]
        return table, study_of(table, group="set", null=null, n_resamples=199)

    def test_series_with_the_same_truth_do_not_merge_their_groups(self):
        """Groups stay groups; a note names the series and their groups."""
        _, study = self.grouped()
        assert [row.n_groups for row in study.pooled()] == [4, 4]
        assert "on 12 series in 4 groups" in str(study)
        assert "units: 4 groups, and 11 different truths" in str(study)
        (note,) = (note for note in study.compare().notes if "same truth" in note)
        assert note.startswith(
            "1 set of series in different groups has the same truth, or nearly the same ('s000' of 'g0' and 's005' of 'g1'), "
            "so these groups are not independent of each other"
        )
        assert note in study.leaderboard().about.notes

    def test_a_note_names_few_of_many_series(self):
        """Three sets, and three series of each."""
        table, _ = self.grouped(copies=((0, 1), (0, 2), (0, 3), (4, 9), (5, 10), (6, 11)))
        (note,) = (note for note in study_of(table, group="set").compare().notes if "same truth" in note)
        assert note.startswith("4 sets of series in different groups have the same truth")
        assert "('s000' of 'g0', 's001' of 'g1', 's002' of 'g2' and 1 more; 's004' of 'g0' and" in note
        assert "; and 1 more set)" in note

    @pytest.mark.slow
    def test_groups_that_share_truths_get_the_more_careful_of_two_answers(self):
        """By groups, and by truths as if there were no groups: larger p-values, wider intervals, or none."""
        for copies in (((0, 13),), [(i, i + j) for i in (0, 12, 24) for j in range(1, 12)]):
            table = table_of(n_series=36, groups=12, skill=0.5)
            for one, other in copies:
                for name in ("label", "d0", "d1"):
                    table[name][120 * other : 120 * (other + 1)] = table[name][120 * one : 120 * (one + 1)]
            both = study_of(table, group="set", n_resamples=99)
            sets, truths = both._counts.units["groups"], both._counts.units["truths"]
            assert (len(set(sets)), len(set(truths))) == ((12, 35) if len(copies) == 1 else (12, 3))
            own = {
                kind: compare_units({name: both._counts.by_unit(name, kind) for name in ("d0", "d1")}, rng=0)
                for kind in both._counts.units
            }
            found = both.compare()
            for measure in ("precision", "recall", "f1"):
                one = found.difference("d1", "d0", measure)
                each = [other.difference("d1", "d0", measure) for other in own.values()]
                assert one.pvalue == one.corrected == max(other.pvalue for other in each)
                widths = [math.inf if other.low is None else other.high - other.low for other in each]
                assert (math.inf if one.low is None else one.high - one.low) == max(widths)
            for d, name in enumerate(("d0", "d1")):
                row = both.pooled()[d]
                for i, measure in enumerate(("precision", "recall", "f1")):
                    each = [tuple(other.intervals[other.detectors.index(name)])[i] for other in own.values()]
                    widths = [math.inf if not other else other.high - other.low for other in each]
                    shown = getattr(row, measure)
                    assert (math.inf if math.isnan(shown.low) else shown.high - shown.low) == max(widths)
            assert math.isnan(both.pooled()[0].recall.low) == (len(copies) > 1)

    @pytest.mark.slow
    @pytest.mark.parametrize("null", ["permutation", "circular-shift"])
    @pytest.mark.parametrize("copies", [((0, 5),), ((0, 4), (0, 5), (0, 9), (0, 2)), ((0, 4), (1, 5))])
    def test_a_group_has_the_p_value_of_its_own_series(self, monkeypatch, null, copies):
        """Whatever series of other groups share a truth with some of them: as if there were no other group."""
        seen = []
        monkeypatch.setattr("nofluke.studies.pooled.skill_in", lambda pvalues, _: len(seen.append(pvalues) or ()))
        table, study = self.grouped(null, copies, skill=0.5)
        study.pooled()
        for g in range(4):
            own = table["set"] == f"g{g}"
            alone = study_of({name: values[own] for name, values in table.items()}, null=null, n_resamples=199)
            for d, row in enumerate(alone.pooled()):
                expected = min(1.0, 2 * min(row.precision.pvalue, row.recall.pvalue))
                # drawn placements differ, since seeds go by the first series of a cluster
                exact = "simulated" not in row.precision.method + row.recall.method
                assert seen[d][g] == pytest.approx(expected, rel=1e-9 if exact else 0.3)

    @pytest.mark.parametrize("null", ["permutation", "circular-shift"])
    def test_groups_do_not_change_the_pooled_p_value(self, null):
        """Copies are placed together, in whatever groups they are."""
        table, study = self.grouped(null, ((0, 4), (0, 5), (0, 9), (0, 2)), skill=0.5)
        ungrouped = study_of(table, null=null, n_resamples=199)
        for row, other in zip(study.pooled(), ungrouped.pooled(), strict=True):
            for measure in ("precision", "recall", "f1"):
                assert getattr(row, measure).pvalue == getattr(other, measure).pvalue


class TestComparison:
    """Two detectors over all series."""

    def test_a_clear_difference_is_told_and_a_copy_is_not(self):
        """By swaps of whole series."""
        table = table_of(n_series=20, skill=1.5, seed=4, detectors=2)
        table["d2"] = table["d1"].copy()
        study = study_of(table)
        found = study.compare("d0", "d1")
        assert found.noun == "series"
        assert found.difference("d1", "d0").value > 0
        assert found.difference("d1", "d0").pvalue < 0.05
        assert study.compare("d1", "d2").difference("d1", "d2").pvalue == 1.0
        assert set(study.compare().not_told_from_best) >= {"d1", "d2"}

    def test_a_pair_is_compared_on_the_series_that_both_have(self):
        """A detector that lacks its worst series is not the better for it."""
        table = table_of(n_series=12, seed=1)
        table["d1"] = table["d0"].copy()
        table["d1"][table["name"] == "s003"] = np.nan
        one = study_of(table).compare().difference("d0", "d1")
        assert one.value == 0.0
        assert one.n_units == 11

    def test_whoever_fails_on_hard_series_is_not_the_best_for_it(self):
        """F1 on its own series is the largest, and on those that both have another is told to be better."""
        rng = np.random.default_rng(0)
        parts = {"name": [], "label": [], "good": [], "easy": []}
        for i in range(40):
            truth, hard = np.zeros(300), i >= 20
            truth[rng.choice(300, 4, replace=False)] = 1
            good = (truth * (rng.random(300) < (0.35 if hard else 0.97))) + (
                rng.random(300) < (0.02 if hard else 0.0005)
            )
            fair = (truth * (rng.random(300) < 0.8)) + (rng.random(300) < 0.004)
            parts["good"].append(np.minimum(good, 1))
            parts["easy"].append(np.full(300, np.nan) if hard else np.minimum(fair, 1))
            parts["label"].append(truth)
            parts["name"].append(np.full(300, f"s{i}"))
        table = {name: np.concatenate(columns) for name, columns in parts.items()}
        study = study_of(table, scores=["good", "easy"], threshold=0.5, budget=None)
        found = study.compare()
        assert found.detectors[0] == "easy"
        assert found.best == "good"
        assert found.not_told_from_best == ("good",)
        assert [row.detector for row in study.pooled(n_resamples=49) if row.best] == ["good"]

    def test_names_are_checked(self):
        """A detector that is not there."""
        with pytest.raises(nf.InputError, match="detectors='x'"):
            study_of(table_of()).compare("d0", "x")


class TestArguments:
    """What only a study as a whole is asked."""

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"title": b"1"}, "title=b'1' must be text"),
            ({"title": None}, "title=None must be text"),
            ({"title": "\ud800"}, r"title='\\ud800' must be text"),
            ({"resume": np.array([True, False])}, "must be True or False"),
            ({"warmup": "2d"}, "warmup='2d' is a length of time, but the data have no clock: pass times="),
            ({"resume": pd.NA}, "resume=<NA> must be True or False"),
            ({"workers": np.array([1, 2])}, r"workers=array\(\[1, 2\]\) must be a whole number of at least 1"),
        ],
    )
    def test_odd_values_are_refused_in_one_line(self, more, words):
        """Before anything is computed."""
        with pytest.raises(nf.InputError, match=words):
            study_of(table_of(n_series=2), **more)

    def test_odd_values_put_to_a_study_are_refused_in_one_line(self):
        """Levels and measures of tables."""
        study = study_of(table_of(n_series=2), n_resamples=99)
        with pytest.raises(nf.InputError, match="level="):
            study.leaderboard(level=np.array([0.9]))
        with pytest.raises(nf.InputError, match="measures=0 must be one of 'f1', 'precision', 'recall'"):
            study.table(measures=0)
        with pytest.raises(nf.InputError, match="rank_by='vus-pr' must be one of 'f1', 'precision', 'recall'"):
            study.leaderboard(rank_by="vus-pr")
        assert study.table(measures="f1").columns[1] == "F1 [95%]"


class TestReasons:
    """Why cells have no result."""

    def test_reasons_of_one_kind_are_counted_together(self, tmp_path):
        """Whatever their values; workers, files and an opened folder change neither words nor kinds."""
        rng = np.random.default_rng(0)
        truth, names = np.tile(np.arange(80) % 20 == 3, 6).astype(int), np.repeat(list("abcdef"), 80)
        scores = rng.normal(size=480)
        scores[[5, 83, 89, 200]] = math.nan
        scores[241] = scores[330] = math.inf
        scores[400:480] = math.nan
        table = {"name": names, "label": truth, "z": scores}
        asked = {"series": "name", "truth": "label", "scores": "z", "budget": "5%", "null": "permutation"}
        expected = [
            ('scores has 1 NaN at position(s) 5: drop them, or pass missing="mask". (z on a, b, c)', 3),
            ("scores has 1 infinite value(s) at position(s) 1:", 2),
            ("all of its 80 scores are missing. (z on f)", 1),
        ]
        told = []
        for workers in (1, 2):
            study = nf.study(table, **asked, workers=workers, out=tmp_path / str(workers))
            told += [study, nf.Study.open(tmp_path / str(workers))]
        for study in told:
            missing = study.leaderboard().about.missing
            assert [count for _, count in missing] == [count for _, count in expected]
            assert all(reason.startswith(words) for (reason, _), (words, _) in zip(missing, expected, strict=True))
            assert [parts_of(reason) for reason in study.failed["reason"]] == [
                parts_of(reason) for reason in told[0].failed["reason"]
            ]

    def test_reasons_of_other_libraries_are_of_one_kind_where_they_arise(self, monkeypatch):
        """Two errors of one line are one reason, whatever they say; one of another line is another."""

        def broken(cells, one):
            if cells.case.series == "c":
                raise RuntimeError("nothing to divide")
            raise RuntimeError(f"{cells.case.series} divides {len(one.scores)} by zero")

        monkeypatch.setattr("nofluke.studies.cells.Cells.evaluation", broken)
        table = {"name": [*"aaabbbccc"], "label": [0, 1, 0] * 3, "z": [*range(9)]}
        found = nf.study(table, series="name", truth="label", scores="z", threshold=1, workers=1)
        (first, two), (second, one) = found.leaderboard().about.missing
        assert (two, one) == (2, 1)
        assert first.startswith("RuntimeError: a divides 3 by zero (test_study.py, line ")
        assert first.endswith(" (z on a, b)")
        assert second.startswith("RuntimeError: nothing to divide (")

    def test_notes_of_readers_are_counted_by_kind(self, tmp_path):
        """Whatever their numbers and names; an opened folder says the same."""
        names = [*"aabab", *"cc"]
        table = {"name": names * 4, "label": [0, 1, 0, 0, 0, 1, 0] * 4, "z": [*range(28)]}
        study = nf.study(table, series="name", truth="label", scores="z", threshold=20, workers=1, out=tmp_path / "out")
        notes = [note for note in study.leaderboard().about.notes if note.startswith("On ")]
        assert notes == ["On 3 series: Its rows lie in 8 places of the table: they were read in table order."]
        assert [note for note in nf.Study.open(tmp_path / "out").leaderboard().about.notes if note in notes] == notes


class TestFiles:
    """What a study leaves."""

    def test_a_folder_has_all_of_it(self, tmp_path):
        """Settings, parts, results, failures, timings, leaderboards."""
        study_of(table_of(), out=tmp_path / "out", title="Trial")
        names = {path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")}
        boards = {f"leaderboard.{end}" for end in ("csv", "md", "tex", "html")}
        assert (
            names
            == {
                "study.json",
                "manifest.json",
                "parts",
                "results.parquet",
                "failed.jsonl",
                "timings.parquet",
                "pooled.json",
            }
            | boards
        )
        told = json.loads((tmp_path / "out" / "study.json").read_text())
        assert told["settings"]["budget"] == 0.05
        results = read_table(tmp_path / "out" / "results.parquet")
        assert len(results["series"]) == 12
        assert "Trial" in (tmp_path / "out" / "leaderboard.html").read_text()

    def test_an_opened_folder_says_the_same(self, tmp_path):
        """Without the data: cells, pooled rows and the leaderboard are as they were."""
        study = study_of(table_of(skill=2.0), out=tmp_path / "out")
        again = nf.Study.open(tmp_path / "out")
        assert again.pooled() == study.pooled()
        assert str(again) == str(study)
        with pytest.raises(nf.InputError, match=r"call nf\.study again"):
            again.pooled(n_resamples=17)
        with pytest.raises(nf.InputError, match="holds no study"):
            nf.Study.open(tmp_path / "nothing")

    @pytest.mark.slow
    def test_the_same_seed_gives_the_same_bytes(self, tmp_path):
        """For one and two workers, and when it is resumed after parts were lost."""
        table = table_of(n_series=9)
        for name, workers in (("one", 1), ("two", 2), ("again", 1)):
            study_of(table, out=tmp_path / name, workers=workers, null="auto", n_resamples=50)
        first = (tmp_path / "one" / "results.parquet").read_bytes()
        assert first == (tmp_path / "two" / "results.parquet").read_bytes()
        (tmp_path / "again" / "results.parquet").unlink()
        for part in (tmp_path / "again" / "parts").iterdir():
            for file in part.iterdir():
                file.unlink()
            part.rmdir()
        study_of(table, out=tmp_path / "again", null="auto", n_resamples=50)
        assert first == (tmp_path / "again" / "results.parquet").read_bytes()
        assert (tmp_path / "one" / "leaderboard.csv").read_bytes() == (
            tmp_path / "two" / "leaderboard.csv"
        ).read_bytes()

    def test_another_study_in_the_folder_is_an_error_that_says_what_changed(self, tmp_path):
        """Settings or inputs."""
        study_of(table_of(), out=tmp_path / "out")
        with pytest.raises(nf.InputError, match=r"budget was 0\.05 and is now 0\.1"):
            study_of(table_of(), out=tmp_path / "out", budget=0.1)
        with pytest.raises(nf.InputError, match="study of something else"):
            study_of(table_of(seed=1), out=tmp_path / "out")
        assert study_of(table_of(), out=tmp_path / "out", budget=0.1, resume=False).n_cells == 12
