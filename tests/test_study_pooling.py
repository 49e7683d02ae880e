"""What a study pools: by group, from what each cell kept, and with ties at the cut of a budget broken at random."""

import numpy as np
import pytest

import nofluke as nf
from nofluke.cli import main
from nofluke.inference.corrections import holm
from nofluke.series.detector import break_ties
from nofluke.series.reading import prepare
from nofluke.studies.asked import Asked

N = 150


def table_of(n_series=9, seed=1, truths=None):
    """Series of three groups: a detector that knows the events of the first group, and one that knows nothing."""
    rng = np.random.default_rng(seed)
    truths = (rng.random((n_series, N)) < 0.03).astype(int) if truths is None else truths
    group = np.arange(n_series) // 3
    knows = truths * np.where(group == 0, 6.0, 0.0)[:, None]
    return {
        "name": np.repeat([f"s{i:02}" for i in range(n_series)], N),
        "machine": np.repeat([f"m{g}" for g in group], N),
        "label": truths.ravel(),
        "det_some": (knows + rng.normal(size=truths.shape)).ravel(),
        "det_none": rng.normal(size=truths.size),
    }


def study_of(table, **more):
    asked = {"series": "name", "group": "machine", "truth": "label", "scores": "det_*", "budget": "4%", "tolerance": 2}
    return nf.study(table, **{**asked, "workers": 1, "null": "permutation", "n_resamples": 400, **more})


def of_group(table, group):
    kept = table["machine"] == group
    return {name: column[kept] for name, column in table.items()}


# by group


def test_a_group_is_told_as_a_study_of_its_series_alone():
    """The same values, chance and p-values; corrected for all detectors in all groups."""
    table = table_of()
    by = study_of(table).pooled(by="group")
    assert (len(by), by.groups, by.detectors) == (6, ("m0", "m1", "m2"), ("det_some", "det_none"))
    for group in by.groups:
        alone = {row.detector: row for row in study_of(of_group(table, group), group=None).pooled()}
        for row in by:
            if row.group == group:
                for measure in ("precision", "recall"):
                    one, other = getattr(row, measure), getattr(alone[row.detector], measure)
                    assert (one.value, one.told, one.method) == (other.value, other.told, other.method)
                    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-12)
                    assert one.expected == pytest.approx(other.expected, rel=1e-12)
                assert row.f1.value == alone[row.detector].f1.value
                assert (row.n_series, row.n_told) == (3, 3)
    for measure in ("precision", "recall", "f1"):
        raw = [getattr(row, measure).pvalue for row in by]
        np.testing.assert_allclose([getattr(row, measure).corrected for row in by], holm(raw))
    assert by.better_in("det_some") == ("m0",)
    assert by.better_in("det_none") == ()
    verdicts = {(row.detector, row.group): row.verdict for row in by}
    assert verdicts["det_some", "m0"] == "yes"
    assert "yes" not in {verdict for at, verdict in verdicts.items() if at != ("det_some", "m0")}


def test_what_is_told_by_group_is_kept_and_shown(tmp_path, capsys):
    """An opened folder says the same; the page has a table; so does the command line, in all formats."""
    table = table_of()
    study = study_of(table, out=tmp_path / "out")
    by, again = study.pooled(by="group"), nf.Study.open(tmp_path / "out").pooled(by="group")
    assert again == by
    assert len(by.to_csv().splitlines()) == 7
    assert by.to_dict()["rows"][0]["group"] == "m0"
    page = (tmp_path / "out" / "leaderboard.html").read_text()
    assert "<h2>Groups</h2>" in page
    assert '<th scope="col">m2</th>' in page
    source = tmp_path / "table.csv"
    rows = zip(*table.values(), strict=True)
    source.write_text("\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)]) + "\n")
    asked = f"study {source} --series name --group machine --truth label --scores det_* --budget 4% --workers 1"
    asked = [*asked.split(), "--tolerance", "2", "--null", "permutation", "--resamples", "400", "--by", "group"]
    for form, code, lines in (("csv", 0, by.to_csv().splitlines()), ("junit", 2, [])):
        with pytest.raises(SystemExit) as end:
            main([*asked, "--format", form])
        assert (end.value.code, capsys.readouterr().out.splitlines()) == (code, lines)


def test_a_study_without_groups_has_none_to_tell_by():
    """The error offers to name them; a word that is no way to pool is refused."""
    study = study_of(table_of(3), group=None)
    with pytest.raises(nf.InputError, match=r'by="?\'?group.*name them by group'):
        study.pooled(by="group")
    with pytest.raises(nf.InputError, match="by="):
        study.pooled(by="series")
    assert study.leaderboard().by_group is None


# from what each cell kept


@pytest.fixture
def seen(monkeypatch):
    """How often each series was read."""
    counts, cases = {}, Asked.cases

    def counted(self, *asked):
        for case in cases(self, *asked):
            counts[case.series] = counts.get(case.series, 0) + 1
            yield case

    monkeypatch.setattr(Asked, "cases", counted)
    return counts


def test_independent_series_are_read_once(seen):
    """However often they are pooled, and with however many draws; sums are exact."""
    study = study_of(table_of(), group=None)
    rows = study.pooled()
    study.pooled(n_resamples=77)
    assert set(seen.values()) == {1}
    assert all(row.recall.method == "exact (sum of independent laws)" for row in rows)
    assert rows[0].f1.method == "simulated (400 draws)"
    assert study.shared == ()


def test_only_series_that_share_events_lose_exactness(seen):
    """Two sensors with one truth among nine series: their hits are drawn, the others' laws are exact."""
    rng = np.random.default_rng(4)
    truths = (rng.random((9, N)) < 0.04).astype(int)
    truths[7] = truths[2]
    study = study_of(table_of(truths=truths), group=None, tolerance=1)
    assert [one.series for one in study.shared] == [("s02", "s07")]
    row = study.pooled()[0]
    assert row.precision.method == "simulated (400 draws for 1 of 8 parts)"
    assert row.recall.method == "exact (sum of independent laws)"  # that of shared recall is exact, too
    assert row.precision.pvalue < 1 / 401
    assert any("2 series coincide" in note for note in row.notes)
    assert {name for name, count in seen.items() if count > 1} == {"s02", "s07"}, "only these are read again"


# ties


def tied(seed=2):
    """Scores with few values: many are tied at any cut."""
    table = table_of(seed=seed)
    return {**table, **{name: np.round(table[name]) for name in ("det_some", "det_none")}}


def test_ties_at_random_use_up_the_budget():
    """Six of 150 steps in every cell, where dropping them leaves fewer or none; the leaderboard says how many."""
    dropped, picked = study_of(tied()), study_of(tied(), cut_ties="random")
    counts = np.asarray(dropped.cells["n_predictions"])
    assert counts.max() <= 6
    assert (counts == 0).any()
    assert set(np.asarray(picked.cells["n_predictions"]).tolist()) == {6}
    said = [note for note in dropped.leaderboard().about.notes if "tied at the cut" in note]
    assert len(said) == 1
    assert f"no alarm in {np.count_nonzero(counts == 0)} of 18 cells" in said[0]
    assert not any("tied at the cut" in note for note in picked.leaderboard().about.notes)
    assert "ties at random" in picked.leaderboard().about.threshold
    again = study_of(tied(), cut_ties="random")
    assert np.array_equal(again.cells["recall_hits"], picked.cells["recall_hits"])
    other = study_of(tied(), cut_ties="random", rng=1)
    assert not np.array_equal(other.cells["recall_hits"], picked.cells["recall_hits"])


def test_ties_are_broken_among_the_tied_alone_and_without_a_look_at_the_truth():
    """Scores above stay above, the picked are a little higher, and all tied steps are as likely."""
    scores = np.array([5.0, 1, 3, 3, 3, 3, 0, 4, np.nan, 3])
    truth = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0, 1])
    counts = np.zeros(10, dtype=int)
    for seed in range(2_000):
        for labels in (truth, 1 - truth):
            sequence = prepare(labels, scores, missing="mask")
            found = break_ties(sequence, 0.45, seed)
            assert np.array_equal(found[[0, 1, 6, 7]], scores[[0, 1, 6, 7]])
            moved = np.flatnonzero(found > np.where(np.isnan(scores), np.inf, scores))
            assert len(moved) == 2
            assert set(found[moved]) == {np.nextafter(3.0, 4.0)}
            counts[moved] += 1
    assert set(np.flatnonzero(counts)) == {2, 3, 4, 5, 9}
    assert np.abs(counts[counts > 0] - 1_600).max() < 5 * np.sqrt(4 * 2_000 * 0.4 * 0.6)  # both labels alike
    low = break_ties(prepare(truth, -scores, missing="mask", higher_is="normal"), 0.45, 1)
    assert np.array_equal(
        np.nan_to_num(-low), np.nan_to_num(break_ties(prepare(truth, scores, missing="mask"), 0.45, 1))
    )
    plain = np.arange(10.0)
    assert np.array_equal(break_ties(prepare(truth, plain), 0.3, 1), plain)


@pytest.mark.parametrize("higher_is", ["anomalous", "normal"])
@pytest.mark.parametrize("value", [np.finfo(np.float64).max, np.finfo(np.float32).max, 0.0])
def test_ties_at_the_largest_number_are_broken_below_it(value, higher_is):
    """As many alarms, and no score beyond what scores may be: infinite ones are often replaced by that number."""
    sign = 1 if higher_is == "anomalous" else -1
    scores = sign * np.array([value, value, -1.0, value, value, -1.0])
    found = break_ties(prepare([0, 1, 0, 0, 1, 0], scores, higher_is=higher_is), 0.5, 1)
    assert np.isfinite(found).all()
    assert np.count_nonzero(sign * found == np.max(sign * found)) == 3
    assert np.array_equal(found[[2, 5]], scores[[2, 5]])


@pytest.mark.parametrize("align", ["start", "end", "center"])
def test_ties_of_shorter_scores_are_broken_where_these_are_placed(align):
    """As of the same scores padded by hand."""
    rng = np.random.default_rng(7)
    truth, first = (rng.random(120) < 0.1).astype(int), {"start": 0, "end": 11, "center": 5}[align]
    scores = np.round(rng.normal(size=109))
    rows = {"s": ["a"] * 229, "d": ["full"] * 120 + ["short"] * 109, "z": np.r_[rng.random(120), scores]}
    rows["y"] = np.r_[truth, truth[first : first + 109]]
    padded = np.full(120, np.nan)
    padded[first : first + 109] = scores
    by_hand = {**rows, "s": ["a"] * 240, "d": ["full"] * 120 + ["short"] * 120, "y": np.r_[truth, truth]}
    by_hand["z"] = np.r_[rows["z"][:120], padded]
    asked = {"series": "s", "detector": "d", "truth": "y", "scores": "z", "budget": "5%", "cut_ties": "random"}
    asked |= {"n_resamples": 99, "workers": 1}
    found, expected = (
        nf.study(table, **asked, **more).cell("a", "short")
        for table, more in ((rows, {"align": align}), (by_hand, {"missing": "mask"}))
    )
    assert found["n_predictions"] == 5
    for name in ("n", "n_events", "n_predictions", "recall_hits", "precision_hits", "threshold", "seed"):
        assert found[name] == expected[name]


@pytest.mark.slow
def test_p_values_with_ties_at_random_keep_their_level():
    """Rounded scores that know nothing: at most 5% of 600 cells, but for chance, are better than chance by recall."""
    rng = np.random.default_rng(5)
    truths = (rng.random((300, N)) < 0.03).astype(int)
    truths[:, 0] = 1
    table = table_of(300, truths=truths)
    table = {**table, **{name: np.round(rng.normal(size=300 * N)) for name in ("det_some", "det_none")}}
    cells = study_of(table, cut_ties="random").cells
    for measure in ("precision", "recall"):
        rejected = (np.asarray(cells[f"{measure}_pvalue"]) <= 0.05).mean()
        assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


def test_ties_need_a_budget():
    """At a threshold or a quantile there is nothing to fill up; other words are refused."""
    with pytest.raises(nf.InputError, match=r'cut_ties="random" fills up a budget, but quantile makes the alarms'):
        study_of(table_of(3), budget=None, quantile=0.9, cut_ties="random")
    with pytest.raises(nf.InputError, match="cut_ties='first'"):
        study_of(table_of(3), cut_ties="first")


# ---- what cannot be told of any cell is not told of their sum; draws suffice for what they are corrected for


def test_no_pooled_no_where_no_cell_could_have_told_anything():
    """Every step is an event: the nulls of the three series differ, but under each of them all comes out the same."""
    n, told = 200, []
    for seed in range(8, 22):
        scores = np.random.default_rng(seed).normal(size=3 * n)
        table = {"series": np.repeat(["a", "b", "c"], n), "truth": np.ones(3 * n, dtype=int), "d": scores}
        found = nf.study(table, series="series", truth="truth", scores="d", budget="5%", workers=1)
        assert set(found.cells["verdict"]) == {"cannot tell"}
        told.append((len(set(found.cells["null"])), found.pooled()[0].verdict))
    assert any(nulls > 1 for nulls, _ in told)
    assert {verdict for _, verdict in told} == {"cannot tell"}


def test_draws_grow_with_what_they_are_corrected_for(tmp_path, monkeypatch):
    """Series of a group share their events, so that precision is drawn: often enough for 24 rows to reach alpha."""
    rng, groups, n = np.random.default_rng(0), 8, 120
    truths = [rng.choice(n, 8, replace=False) for _ in range(groups)]
    labels = np.concatenate([np.isin(np.arange(n), own) for own in truths for _ in range(2)]).astype(int)
    table = {
        "series": np.repeat([f"{g} {k}" for g in range(groups) for k in range(2)], n),
        "group": np.repeat([f"{g}" for g in range(groups)], 2 * n),
        "truth": labels,
        **{f"d{i}": 5 * labels + rng.normal(size=len(labels)) for i in range(3)},
    }
    asked = {"series": "series", "group": "group", "truth": "truth", "scores": "d*", "budget": "7%", "tolerance": 1}
    asked |= {"null": "permutation", "alpha": 0.005, "workers": 1}
    found = nf.study(table, **asked, out=tmp_path)
    rows = found.pooled(by="group").rows
    assert {row.precision.method for row in rows} == {"simulated (19,200 draws)"}
    assert max(row.precision.corrected for row in rows) == pytest.approx(24 / 19_201)
    hurried = nf.study(table, **asked, n_resamples=99)
    for few in (found.pooled(by="group", n_resamples=99), hurried.pooled(by="group")):
        assert {row.precision.method for row in few.rows} == {"simulated (99 draws)"}
    monkeypatch.setattr("nofluke.studies.result.redrawn", None)  # nothing is looked at again
    again = nf.study(table, **asked, out=tmp_path)
    assert again.pooled(by="group").rows == rows
    assert str(again.leaderboard()) == str(found.leaderboard())
    kept = nf.Study.open(tmp_path)
    assert kept.pooled(by="group").rows == rows
    assert kept.pooled() == found.pooled()


@pytest.mark.parametrize("null", ["circular-shift", "local-shift:reach=10", "permutation"])
def test_a_detector_that_lacks_a_score_is_not_placed_on_the_steps_of_others(null):
    """Series that share events, of which one counts fewer steps for one detector: as if they rose and fell together."""
    rng = np.random.default_rng(3)
    truth = (rng.random(200) < 0.1).astype(int)
    table = {"s": np.repeat(["x", "y", "z"], 200), "label": np.tile(truth, 3), "whole": rng.normal(size=600)}
    study = {"series": "s", "truth": "label", "threshold": 1.0, "tolerance": 1, "missing": "mask", "workers": 1}
    lacking = rng.normal(size=600) + np.tile(truth, 3)
    lacking[250] = np.nan
    found = nf.study(table | {"lacking": lacking}, scores=["whole", "lacking"], null=null, metrics="auc-roc", **study)
    rows = {row.detector: row for row in found.pooled()}
    alone = nf.study(table, scores="whole", null=null, **study).pooled()[0]
    assert rows["whole"].precision.pvalue == alone.precision.pvalue
    assert rows["whole"].recall.pvalue == alone.recall.pvalue
    each = [found.cell(name, "lacking") for name in "xyz"]
    recall, events = rows["lacking"].recall, sum(one["n_events"] for one in each)
    assert recall.value == sum(one["recall_hits"] for one in each) / events
    # their deviations add up, as those of series on their own would not
    assert recall.std == pytest.approx(sum(one["recall_std"] for one in each) / events, rel=0.05)
    assert 0 < recall.pvalue < 1


def test_the_order_of_detectors_has_no_say_in_pooling():
    """A detector that lacks the first scores of all series alike is placed as it is alone, whoever comes before it."""
    rng = np.random.default_rng(5)
    truth = (rng.random(200) < 0.1).astype(int)
    late = rng.normal(size=(3, 200)) + truth
    late[:, :10] = np.nan
    table = {"s": np.repeat(["x", "y", "z"], 200), "label": np.tile(truth, 3), "late": late.ravel()}
    table["whole"] = rng.normal(size=600)
    study = {"series": "s", "truth": "label", "threshold": 1.0, "tolerance": 1, "missing": "mask", "workers": 1}
    told = [
        {
            row.detector: row.recall.pvalue
            for row in nf.study(table, scores=names, null="circular-shift", **study).pooled()
        }
        for names in (["whole", "late"], ["late", "whole"], ["late"], ["whole"])
    ]
    assert told[0] == told[1] == told[2] | told[3]
