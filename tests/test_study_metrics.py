"""Metrics of a study: means over series beside chance, intervals, verdicts, pairs and ranks, against slow oracles."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from scipy.stats import t as student

import boards
import nofluke as nf
from nofluke.show.leaderboard import make_leaderboard_page
from nofluke.studies.pooled_row import PooledMetric


def auc(labels, scores):
    """Share of pairs of a labelled and another step that scores order rightly, ties half."""
    ones, zeros = scores[labels > 0], scores[labels == 0]
    gaps = ones[:, None] - zeros
    return float(((gaps > 0) + 0.5 * (gaps == 0)).mean())


def rank_auc(labels, scores):
    """The same by ranks, which is quick."""
    ones = int(labels.sum())
    return (rankdata(scores)[labels > 0].sum() - ones * (ones + 1) / 2) / (ones * (len(labels) - ones))


def misranked(labels, scores):
    """The same the other way round: lower is better."""
    return 1 - rank_auc(labels, scores)


def rotations(labels, scores):
    return [auc(labels, np.roll(scores, -k)) for k in range(len(labels))]


def share_reaching(sums, observed):
    return float(np.mean(np.asarray(sums) >= observed - 1e-12))


def slow_holm(pvalues):
    """Step by step: the smallest times their number, the next times one less, and so on, never less than before."""
    found, least = dict.fromkeys(range(len(pvalues))), 0.0
    for left, i in zip(range(len(pvalues), 0, -1), sorted(found, key=lambda i: pvalues[i]), strict=True):
        least = max(least, min(1.0, left * pvalues[i]))
        found[i] = least
    return list(found.values())


def runs(n, *at):
    """Labels of n steps with these ranges."""
    found = np.zeros(n, dtype=int)
    for start, stop in at:
        found[start:stop] = 1
    return found


def study_of(truths, detectors, *, names=None, **more):
    """A small study of series of any lengths, in this process."""
    names = names or [f"s{i}" for i in range(len(truths))]
    table = {
        "name": np.repeat(names, [len(one) for one in truths]),
        "label": np.concatenate(truths),
        **{name: np.concatenate(scores) for name, scores in detectors.items()},
    }
    given = {"series": "name", "truth": "label", "scores": list(detectors), "budget": "20%", "null": "circular-shift"}
    return nf.study(table, **{**given, "count_events": "ranges", "metrics": "auc-roc", "workers": 1, **more})


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Names that tests register go with them."""
    monkeypatch.setattr("nofluke.metrics._ADDED", {})


class TestChance:
    """The p-value of a mean over series: all draws there are, by hand."""

    def test_independent_series_are_rotated_one_by_one(self):
        """Against all combinations of rotations of three series of different lengths."""
        rng = np.random.default_rng(1)
        truths = [runs(11, (2, 5)), runs(13, (6, 8)), runs(17, (1, 3), (9, 12))]
        scores = [rng.normal(size=len(one)) + 0.7 * one for one in truths]
        found = study_of(truths, {"z": scores}, n_resamples=20_000).pooled()[0].metrics[0]
        every = [sum(one) for one in itertools.product(*map(rotations, truths, scores))]
        observed = sum(map(auc, truths, scores))
        exact = share_reaching(every, observed)
        assert 0.005 < exact < 0.3
        assert found.pvalue == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))
        assert found.value == pytest.approx(observed / 3, rel=1e-12)
        assert found.expected == pytest.approx(np.mean(every) / 3, abs=4 * np.std(every) / 3 / math.sqrt(20_000))
        assert found.std == pytest.approx(np.std(every) / 3, rel=0.03)
        assert found.above_chance == pytest.approx((found.value - found.expected) / (1 - found.expected))

    def test_series_with_one_truth_are_rotated_together(self):
        """Ten sensors labelled once: one rotation for all of them, whose sum scatters more than if each had its own."""
        rng = np.random.default_rng(2)
        truth = runs(40, (5, 9), (22, 25))
        common = rng.normal(size=40)
        scores = [common + 0.3 * rng.normal(size=40) + 0.5 * truth for _ in range(10)]
        study = study_of([truth] * 10, {"z": scores}, n_resamples=20_000, rng=5)
        assert [len(one.series) for one in study.shared] == [10]
        found = study.pooled()[0].metrics[0]
        every = np.sum([rotations(truth, one) for one in scores], axis=0)
        exact = share_reaching(every, every[0])
        assert found.pvalue == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000) + 1e-4)
        assert found.std == pytest.approx(np.std(every) / 10, rel=0.03)

    def test_nearly_the_same_truths_rise_and_fall_together(self):
        """Without a move that serves all, the sum has the standard deviations of its series, added."""
        rng = np.random.default_rng(3)
        truths = [runs(200, (20, 24), (90, 95), (150 + i % 2, 154)) for i in range(4)]
        scores = [rng.normal(size=200) for _ in truths]
        study = study_of(truths, {"z": scores}, n_resamples=5_000, tolerance=2)
        assert [one.identical for one in study.shared] == [False]
        found = study.pooled()[0].metrics[0]
        each = [np.std(rotations(*one)) for one in zip(truths, scores, strict=True)]
        assert found.std == pytest.approx(sum(each) / 4, rel=0.05)

    def test_labels_that_share_their_places_are_exchanged(self):
        """Against all matchings of labels and scores: rotations would call a detector of places skilled."""
        rng = np.random.default_rng(4)
        truths = [runs(60, (30 + i, 34 + i)) for i in (0, 3, 6, 9, 12, 20)]
        place = (np.arange(60) >= 30) * 3.0
        scores = [place + rng.normal(size=60) for _ in truths]
        study = study_of(truths, {"z": scores}, null="series-exchange", n_resamples=20_000)
        found = study.pooled()[0].metrics[0]
        table = np.array([[auc(labels, z) for z in scores] for labels in truths])
        every = [table[list(rows), range(6)].sum() for rows in itertools.permutations(range(6))]
        exact = share_reaching(every, np.trace(table))
        assert found.pvalue == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000) + 1e-4)
        assert found.expected == pytest.approx(np.mean(every) / 6, abs=0.003)
        assert study_of(truths, {"z": scores}).pooled()[0].metrics[0].pvalue < 0.05 < found.pvalue

    def test_without_anything_to_exchange_nothing_is_told(self):
        """Series of different lengths, pooled by an exchange of labels."""
        truths = [runs(60 + i, (30, 34)) for i in range(3)]
        study = study_of(truths, {"z": [np.arange(len(one)) for one in truths]}, null="series-exchange")
        found = study.pooled()[0].metrics[0]
        assert (found.verdict, found.n_told) == ("cannot tell", 0)
        assert "can be exchanged" in found.reason

    def test_lower_is_better_mirrors_higher(self):
        """The p-value of 1 - f, where lower is better, is that of f."""
        nf.metrics.register("misranked", misranked, needs="scores", better="lower", perfect=0.0)
        rng = np.random.default_rng(5)
        truths = [runs(30, (4, 8)), runs(31, (14, 19)), runs(32, (20, 22))]
        scores = [rng.normal(size=len(one)) + 0.4 * one for one in truths]
        study = study_of(truths, {"z": scores}, metrics=["auc-roc", "misranked"], n_resamples=500)
        one, other = study.pooled()[0].metrics
        assert (one.pvalue, one.verdict) == (other.pvalue, other.verdict)
        assert other.value == pytest.approx(1 - one.value)
        assert other.above_chance == pytest.approx(one.above_chance)

    def test_what_cannot_be_small_says_nothing(self):
        """One series of ten steps: no rotation is rarer than a tenth."""
        truth = runs(10, (3, 6))
        found = study_of([truth], {"z": [truth.astype(float)]}).pooled()[0].metrics[0]
        assert found.verdict == "cannot tell"
        assert "the smallest possible p is 0.1" in found.reason

    @pytest.mark.slow
    def test_a_season_shared_by_all_series_is_no_skill(self):
        """One range in each, at a peak of a season that the scores have too: a period later they do as well.

        A single range shows nothing of it in its series; all of them together do.
        """
        rng = np.random.default_rng(6)
        truths, scores = [], []
        for phase in rng.integers(0, 40, 40).tolist():
            start = phase + 40 * int(rng.integers(1, 8)) + int(rng.integers(-6, 3))
            truths.append(runs(360, (start, start + 5)))
            scores.append(0.4 * np.cos((np.arange(360) - phase) * 2 * np.pi / 40) + rng.normal(size=360))
        study = study_of(truths, {"z": scores}, null="auto", n_resamples=300)
        (found,) = study.pooled()[0].metrics
        assert not study.exchanges
        assert found.pvalue < 0.05
        assert found.verdict == "cannot tell"
        assert "is about as good when all labels are shifted by a few steps" in found.reason


class TestMeans:
    """Values, intervals, and what is left out."""

    def test_series_without_a_value_are_counted_and_left_out(self):
        """A series without labels has no AUC."""
        rng = np.random.default_rng(7)
        truths = [runs(50, (10 + i, 14 + i)) for i in range(5)] + [runs(50)] * 2
        scores = [rng.normal(size=50) + one for one in truths]
        study = study_of(truths, {"z": scores}, n_resamples=200)
        found = study.pooled()[0].metrics[0]
        assert (found.n_series, found.n_undefined, found.n_told) == (5, 2, 5)
        assert found.value == pytest.approx(np.mean([auc(*one) for one in zip(truths[:5], scores, strict=False)]))
        assert "auc-roc is undefined on some series, which its mean leaves out: z 2." in str(study)

    @pytest.mark.parametrize("scale", [1.0, 40.0])
    def test_intervals_are_those_of_series(self, scale):
        """Logit and t for shares, t for other numbers."""
        nf.metrics.register("scaled", lambda y, z: scale * rank_auc(y, z), needs="scores")
        rng = np.random.default_rng(8)
        truths = [runs(140 + i, (8 * i, 8 * i + 5)) for i in range(16)]
        scores = [rng.normal(size=len(one)) + one for one in truths]
        study = study_of(truths, {"z": scores}, metrics="scaled", n_resamples=20)
        assert not study.shared
        found = study.pooled()[0].metrics[0]
        values = scale * np.array([auc(*one) for one in zip(truths, scores, strict=True)])
        mean, error = values.mean(), values.std(ddof=1) / 4
        reach = student.ppf(0.975, 15) * error
        if scale == 1:
            logit, wide = math.log(mean / (1 - mean)), reach / (mean * (1 - mean))
            ends = [1 / (1 + math.exp(-(logit + sign * wide))) for sign in (-1, 1)]
        else:
            ends = [mean - reach, mean + reach]
        assert [found.low, found.high] == pytest.approx(ends, rel=1e-9)

    def test_p_values_are_corrected_for_detectors_and_metrics(self):
        """All of them together, by Holm; the verdict follows."""
        rng = np.random.default_rng(9)
        truths = [runs(120 + i, (15 * i, 15 * i + 6)) for i in range(6)]
        detectors = {f"d{k}": [rng.normal(size=len(one)) + 0.4 * k * one for one in truths] for k in range(3)}
        rows = study_of(truths, detectors, metrics=["auc-roc", "pa-f1"], n_resamples=300).pooled()
        every = [one for row in rows for one in row.metrics]
        assert [one.corrected for one in every] == pytest.approx(slow_holm([one.pvalue for one in every]))
        assert {one.verdict for one in every} == {"yes", "no"}
        assert all((one.verdict == "yes") == (one.corrected <= 0.05) for one in every)

    @settings(max_examples=15)
    @given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
    def test_numbers_agree_with_each_other(self, seed, n_series, hollow):
        """Whatever the data: bounds of p, of intervals and of counts; the order of series does not matter."""
        rng = np.random.default_rng(seed)
        truths = [runs(int(n), (3, 3 + int(rng.integers(1, 6)))) for n in rng.integers(12, 30, n_series)]
        if hollow:
            truths[0][:] = 0
        scores = [rng.integers(0, 4, len(one)).astype(float) for one in truths]
        names = [f"s{i}" for i in range(n_series)]
        one = study_of(truths, {"z": scores}, names=names, n_resamples=99)
        other = study_of(truths[::-1], {"z": scores[::-1]}, names=names[::-1], n_resamples=99)
        mine, theirs = one.pooled()[0].metrics[0], other.pooled()[0].metrics[0]
        assert mine.n_series + mine.n_undefined == n_series
        assert mine.n_told <= mine.n_series
        if mine.n_told:
            assert 1 / 100 - 1e-12 <= mine.pvalue <= mine.corrected <= 1
        assert math.isnan(mine.low) or mine.low <= mine.value <= mine.high
        assert mine.value == pytest.approx(theirs.value, nan_ok=True)
        assert mine.n_told == theirs.n_told


def twelve(rng, skills=(1.2, 0.0)):
    """Twelve series of unlike length, and a detector for each skill."""
    truths = [runs(140 + i, (11 * i, 11 * i + 6)) for i in range(12)]
    detectors = {f"d{k}": [rng.normal(size=len(one)) + s * one for one in truths] for k, s in enumerate(skills)}
    return truths, detectors


class TestPairsAndRanks:
    """Detectors against each other, on the series that both have."""

    @pytest.mark.parametrize("scale", [1.0, -40.0])
    def test_a_difference_is_tested_by_swapping_series(self, scale):
        """All 2^12 swaps of two detectors, by hand; the interval is t's, whatever the scale of the metric."""
        nf.metrics.register("scaled", lambda y, z: scale * rank_auc(y, z), needs="scores")
        truths, detectors = twelve(np.random.default_rng(10), (0.6, 0.2))
        study = study_of(truths, detectors, metrics="scaled", n_resamples=19)
        one = study.compare().difference("d0", "d1", "scaled")
        gaps = scale * np.array([auc(y, a) - auc(y, b) for y, a, b in zip(truths, *detectors.values(), strict=True)])
        signs = np.array(list(itertools.product((-1, 1), repeat=12)))
        assert one.value == pytest.approx(gaps.mean())
        assert one.pvalue == pytest.approx(share_reaching(np.abs(signs @ gaps), abs(gaps.sum())))
        reach = student.ppf(0.975, 11) * gaps.std(ddof=1) / math.sqrt(12)
        assert [one.low, one.high] == pytest.approx([gaps.mean() - reach, gaps.mean() + reach])

    def test_ranks_follow_the_measure_in_its_direction(self):
        """The best first, also where lower is better; pairs and the star go with it."""
        nf.metrics.register("misranked", misranked, needs="scores", better="lower", perfect=0.0)
        truths, detectors = twelve(np.random.default_rng(11), (0.0, 2.0, 0.9))
        study = study_of(truths, detectors, metrics=["auc-roc", "misranked"], n_resamples=99)
        for by in ("auc-roc", "misranked"):
            board = study.leaderboard(rank_by=by)
            assert board.detectors == board.pairs.detectors == ("d1", "d2", "d0")
            assert [row.best for row in board.rows] == [True, False, False]
            assert study.compare(rank_by=by).not_told_from_best == ("d1",)
            assert board.to_dict()["rank_by"] == by
        assert study.compare(rank_by="misranked").difference("d1", "d0", "misranked").value < 0

    def test_detectors_that_lack_series_are_ranked_where_all_have_results(self):
        """One failed on the hard series and has the larger mean for that; one was tried on two."""
        rng = np.random.default_rng(12)
        truths = [runs(140 + i, (11 * i, 11 * i + 6)) for i in range(12)]
        hard = np.arange(12) >= 8

        def scores(easy, missing=()):
            found = [rng.normal(size=len(one)) + (0 if hard[i] else easy) * one for i, one in enumerate(truths)]
            return [np.full(len(z), np.nan) if i in missing else z for i, z in enumerate(found)]

        detectors = {"some": scores(1.5, range(8, 12)), "all": scores(3.0), "few": scores(9.0, range(2, 12))}
        study = study_of(truths, detectors, n_resamples=99)
        board = study.leaderboard(rank_by="auc-roc")
        means = {row.detector: row.metrics[0].value for row in board.rows}
        assert means["some"] > means["all"]
        assert board.detectors == ("all", "some", "few")
        assert board.standing.n_common == 8
        assert board.to_dict()["ranked_on"] == 8
        text = str(board)
        assert "Ranked by auc-roc on the 8 of 12 series that both detectors have" in text
        assert "fewer than half of the series have a result: few (2)." in text
        assert "8 of 12" in text
        assert "14 of 36 cells are missing" in text

    def test_nothing_in_common_is_said(self):
        """Two detectors that share no series."""
        truths, detectors = twelve(np.random.default_rng(13), (1.0, 1.0))
        for k, own in enumerate(detectors.values()):
            own[:] = [z if i % 2 == k else np.full(len(z), np.nan) for i, z in enumerate(own)]
        study = study_of(truths, detectors, n_resamples=99)
        assert "No series has a result of all detectors" in str(study.leaderboard(rank_by="auc-roc"))
        assert math.isnan(study.compare().difference("d0", "d1", "auc-roc").value)

    def test_measures_of_every_study_are_no_metrics(self):
        """Their columns would be two of one name."""
        truths, detectors = twelve(np.random.default_rng(14))
        with pytest.raises(nf.InputError, match="metrics='f1' is a column of every study already: leave it out, or"):
            study_of(truths, detectors, metrics="f1")
        assert study_of(truths, detectors, metrics="f1:tolerance=0", n_resamples=19).measures[-1] == "f1:tolerance=0"


class TestFiles:
    """Folders, workers and exports."""

    @pytest.mark.slow
    def test_numbers_are_the_same_for_any_number_of_workers_and_opened_again(self, tmp_path):
        """Bit by bit, though sums of floats depend on their order; and the ranking is kept."""
        truths, detectors = twelve(np.random.default_rng(15))
        more = {"metrics": ["auc-roc", "vus-pr:window=4"], "n_resamples": 99, "rank_by": "auc-roc"}
        one = study_of(truths, detectors, out=tmp_path / "one", **more)
        two = study_of(truths, detectors, out=tmp_path / "two", **{**more, "workers": 2})
        names = ("results.parquet", "pooled.json", "leaderboard.csv", "leaderboard.md", "leaderboard.tex")
        for name in names:
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
        again = nf.Study.open(tmp_path / "one")
        assert again.rank_by == "auc-roc"
        assert again.leaderboard().to_json() == one.leaderboard().to_json() == two.leaderboard().to_json()
        before = (tmp_path / "one" / "results.parquet").stat().st_mtime_ns
        other = study_of(truths, detectors, out=tmp_path / "one", **{**more, "rank_by": "f1"})
        assert other.leaderboard().rank_by == "f1"
        assert len(json.loads((tmp_path / "one" / "study.json").read_text())) > 0
        assert (tmp_path / "one" / "results.parquet").stat().st_mtime_ns >= before

    def test_every_export_has_the_metrics(self):
        """A row for each detector in CSV, a list in JSON, columns in Markdown, a table for each in LaTeX."""
        truths, detectors = twelve(np.random.default_rng(16))
        board = study_of(truths, detectors, metrics=["auc-roc", "pa-f1"], n_resamples=99).leaderboard()
        row = board.rows[0]
        ends = ("", "_low", "_high", "_expected", "_pvalue", "_corrected", "_chance_corrected", "_verdict", "_n_series")
        frame = board.columns()
        assert [frame[f"auc-roc{end}"][0] for end in ends] == [
            *(row.metrics[0].to_dict()[name] for name in ("value", "low", "high", "expected", "pvalue", "corrected")),
            *(row.metrics[0].above_chance, row.metrics[0].verdict, 12),
        ]
        told = board.to_dict()["detectors"][0]["metrics"]
        assert [one["metric"] for one in told] == ["auc-roc", "pa-f1"]
        assert PooledMetric.of_dict(told[0]) == row.metrics[0]
        assert board.to_dict(flat=True)["detectors/d0/metrics/auc_roc/value"] == row.metrics[0].value
        head = board.to_markdown().splitlines()[2]
        assert "auc-roc [95%] | auc-roc chance | auc-roc corrected | auc-roc p | auc-roc verdict |" in head
        latex = board.to_latex()
        assert r"\label{tab:nofluke-leaderboard-pa-f1}" in latex
        assert latex.count(r"\begin{table}") == 5
        text = str(board)
        assert max(len(line) for line in text.splitlines() if line.startswith(("detector  auc-roc", "d0"))) < 160
        assert "By auc-roc: no fluke 1, could be a fluke 1." in board.verdict_in_words()
        assert board.table(measures="auc-roc").columns[:2] == ("detector", "auc-roc [95%]")

    def test_a_page_has_a_table_of_metrics(self):
        """With verdicts, and pairs of what ranks; lower values are better where a metric says so."""
        kinds = {"delay": {"better": "lower", "perfect": 0.0}}
        board, cells, failed = boards.study(5, 12, 4, metrics=("vus-pr", "delay"), rank_by="delay", **kinds)
        values = [row.measure("delay").value for row in board.rows]
        assert values == sorted(values)
        page = make_leaderboard_page(board, cells=cells, failed=failed)
        assert page.count('<th colspan="5" scope="colgroup" class="first">') == 2
        assert "★ delay not significantly worse than the best" in page
        assert "<h2>Mean delay with chance</h2>" in page
        first = page.split('id="pairs-table"')[1].split("</tr>")[1]
        assert 'class="up">▲−' in first
        assert 'class="up">▲+' not in first
        plain, cells, failed = boards.study(5, 12, 4)
        assert 'id="metrics"' in page
        assert 'id="metrics"' not in make_leaderboard_page(plain, cells=cells, failed=failed)
