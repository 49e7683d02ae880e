"""The paper is reproduced number by number, without a network, and to the same bytes each time."""

import csv
import functools
import json
import math
import os
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom, hypergeom

from nofluke.cli import cli
from nofluke.datasets import simulate_quakes
from nofluke.errors import InputError
from nofluke.inference.sweep import sweep
from nofluke.reproduce import reproduce, study
from nofluke.reproduce.claims import PAPER
from nofluke.reproduce.figures import FIGURES as FIGURES_BY_NAME
from nofluke.reproduce.study import LAGS, QUANTILES, TOLERANCES, run_study
from oracles import paper_tables

FIGURES = [f"figure-{i}" for i in range(1, 9)]
TABLES = ["table-1", "table-2", "table-3", "section-3.1", "section-3.2"]


@pytest.fixture(scope="module", params=[pytest.param("", marks=pytest.mark.slow)])
def paper(tmp_path_factory):
    """The whole study on the paper's data."""
    if not os.environ.get("NOFLUKE_DATA"):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    return reproduce(tmp_path_factory.mktemp("paper"))


@pytest.fixture(scope="module")
def offline():
    """No connection can be made, the paper's data are not at hand, and the simulated series is short."""

    def refuse(*args, **kwargs):
        raise OSError("the network is unreachable")

    short = functools.partial(simulate_quakes, n_steps=300, n_events=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.delenv("NOFLUKE_DATA", raising=False)
        patch.setattr(study, "simulate_quakes", short)
        yield


@pytest.fixture(scope="module", params=[pytest.param("", marks=pytest.mark.slow)])
def simulated(offline, tmp_path_factory):
    """The study on simulated data."""
    return reproduce(tmp_path_factory.mktemp("simulated"), simulated=True, seed=1, permutations=400)


def rows(done, name):
    """A CSV file as dictionaries."""
    with (done.directory / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def page(done):
    """The page as text, without tags and styles; the numbers a reader sees."""
    html = (done.directory / "index.html").read_text(encoding="utf-8")
    html = re.sub(r"<(style|svg)\b.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def hits_by_pairs(done, threshold, delta, shift=0):
    """Precision's and recall's hits, by the distance of every prediction from every event."""
    events = np.flatnonzero(done.study.quakes.truth)
    alarms = np.flatnonzero(done.study.scores >= threshold) + shift
    alarms = alarms[(alarms >= 0) & (alarms < len(done.study.scores))]
    near = np.abs(alarms[:, None] - events[None, :]) <= delta
    return int(near.any(axis=1).sum()), int(near.any(axis=0).sum())


def moments_by_pairs(done, threshold, delta):
    """Mean and variance of precision's hits, summed over all pairs of predictions, nothing left out or grouped."""
    days, m = len(done.study.scores), done.study.curve.n_events
    at = np.flatnonzero(done.study.scores >= threshold)
    start, stop = np.maximum(at - delta, 0), np.minimum(at + delta + 1, days)
    empty = np.cumprod(np.append(1.0, (days - m - np.arange(4 * delta + 2)) / (days - np.arange(4 * delta + 2))))
    overlap = np.minimum.outer(stop, stop) - np.maximum.outer(start, start)
    union = np.add.outer(stop - start, stop - start) - np.maximum(overlap, 0)
    alone = empty[stop - start]
    return len(at) - alone.sum(), (empty[union] - np.multiply.outer(alone, alone)).sum()


def test_section_3_2_is_the_papers(paper):
    """80 (.49) and 145 (.56) hits of 162 events and 256 predictions, with the exact p-values and moments."""
    by_measure = {row["measure"]: row for row in rows(paper, "section-3.2")}
    recall, precision = by_measure["recall"], by_measure["precision"]
    assert (recall["hits"], recall["of"], recall["value"][:4]) == ("80", "162", "0.49")
    assert (precision["hits"], precision["of"], precision["value"][:4]) == ("145", "256", "0.56")
    assert float(recall["p_exact"]) == pytest.approx(1.5656e-12, rel=1e-4)
    assert float(precision["p_exact"]) == pytest.approx(4.063e-12, rel=1e-4)
    assert float(precision["chance_mean"]) == pytest.approx(71.49893, abs=1e-5)
    assert float(precision["chance_variance"]) == pytest.approx(102.24024, abs=1e-5)
    assert float(recall["chance_mean"]) == pytest.approx(39.91396, abs=1e-5)
    assert float(recall["p_simulated"]) == float(precision["p_simulated"]) == 1 / 10_001
    assert float(precision["p_binomial"]) == pytest.approx(6.6e-22, rel=0.3)  # its mean is itself simulated


def test_hits_of_every_cell_are_those_of_all_pairs(paper):
    """All 200 cells of Figure 2, and the values fixed at the .9-quantile."""
    found = {(r["measure"], int(r["tolerance"]), float(r["quantile"])): r for r in rows(paper, "figure-2")}
    assert len(found) == 400
    thresholds = np.quantile(paper.study.scores, QUANTILES)
    for delta in TOLERANCES:
        for quantile, threshold in zip(QUANTILES, thresholds, strict=True):
            precision, recall = hits_by_pairs(paper, threshold, delta)
            assert int(found["precision", delta, quantile]["hits"]) == precision
            assert int(found["recall", delta, quantile]["hits"]) == recall
    fixed = {0: (39, 39), 1: (97, 63), 2: (145, 80), 4: (178, 92)}
    at = {d: tuple(int(found[s, d, 0.9]["hits"]) for s in ("precision", "recall")) for d in TOLERANCES}
    assert at == fixed


def test_both_tables_are_the_papers_sums(paper):
    """Tables 1 and 2 by their sums over all days; the page marks the entries that can be read as usual."""
    truth = [int(e) for e in paper.study.quakes.truth]
    alarms = [int(z >= np.quantile(paper.study.scores, 0.9)) for z in paper.study.scores]
    for name, (tp, fp, fn, tn) in zip(("table-1", "table-2"), paper_tables(truth, alarms, 2), strict=True):
        cells = [[int(row[c]) for c in ("anomaly", "no anomaly", "sum")] for row in rows(paper, name)]
        assert cells == [[tp, fp, tp + fp], [fn, tn, fn + tn], [tp + fn, fp + tn, 2557]]
    html = (paper.directory / "index.html").read_text(encoding="utf-8")
    marked = re.findall(r'<td class="read">([\d,]+)</td>', html)
    assert marked == ["145", "111", "256", "2,301", "2,557", "80", "82", "162", "2,395", "2,557"]


# (δ, quantile): p of precision and recall, and both 95% bands, from the dynamic programme and the hypergeometric law
EXACT = {
    (0, 0.2): (0.018708401180219894, 0.0187084011802199, (120, 139), (120, 139)),
    (0, 0.9): (5.3974109196524775e-08, 5.397410919652478e-08, (9, 24), (9, 24)),
    (1, 0.5): (0.005208802854551704, 0.0003673792163469979, (200, 256), (96, 119)),
    (1, 0.8): (1.4765582751570412e-07, 2.5062560954361768e-06, (71, 113), (42, 65)),
    (1, 0.9): (4.259475236941484e-09, 1.9722448750495437e-11, (30, 62), (20, 38)),
    (2, 0.1): (0.8928143526319458, 0.9615293716946676, (609, 676), (153, 161)),
    (2, 0.6): (0.0006441456153082053, 0.00973061253903763, (250, 321), (100, 122)),
    (2, 0.84): (1.4474178038626235e-12, 5.720966105454721e-09, (90, 139), (47, 71)),
    (2, 0.9): (4.062982664211577e-12, 1.5655777749113029e-12, (52, 92), (30, 51)),
    (2, 0.98): (2.2923791739564945e-07, 2.9753919855817255e-08, (6, 24), (4, 15)),
    (4, 0.2): (0.8476575634939996, 0.9953039681485908, (852, 969), (156, 162)),
    (4, 0.7): (0.0010192154760959187, 0.03526134395079098, (303, 380), (115, 135)),
    (4, 0.9): (2.7027783202330564e-08, 1.6436213938400893e-07, (91, 137), (49, 72)),
}


@pytest.mark.parametrize("cell", EXACT, ids=str)
def test_exact_chance_of_cells(paper, cell):
    """P-values and bands of Figures 3 and 6 agree with those of another method."""
    delta, quantile = cell
    *pvalues, precision_band, recall_band = EXACT[cell]
    for side, pvalue, band in zip(("precision", "recall"), pvalues, (precision_band, recall_band), strict=True):
        key = (side, str(delta), str(quantile))
        (six,) = [r for r in rows(paper, "figure-6") if (r["measure"], r["tolerance"], r["quantile"]) == key]
        assert float(six["p_exact"]) == pytest.approx(pvalue, rel=1e-9)
        (three,) = [r for r in rows(paper, "figure-3") if (r["measure"], r["tolerance"], r["quantile"]) == key]
        (two,) = [r for r in rows(paper, "figure-2") if (r["measure"], r["tolerance"], r["quantile"]) == key]
        drawn = [float(three[name]) * int(two["of"]) for name in ("chance_2.5%", "chance_97.5%")]
        assert drawn == pytest.approx(band)


def test_variance_over_binomial_in_every_cell(paper):
    """Figure 5: precision against the sum over all pairs, recall against the hypergeometric law."""
    cells = {(r["measure"], int(r["tolerance"]), float(r["quantile"])): r for r in rows(paper, "figure-5")}
    thresholds = np.quantile(paper.study.scores, QUANTILES)
    for delta in TOLERANCES:
        for k in (0, 10, 25, 40, 45, 49):
            mean, variance = moments_by_pairs(paper, thresholds[k], delta)
            n = (paper.study.scores >= thresholds[k]).sum()
            row = cells["precision", delta, QUANTILES[k]]
            assert float(row["mean"]) == pytest.approx(mean, rel=1e-9)
            assert float(row["variance"]) == pytest.approx(variance, rel=1e-6, abs=1e-6)
            ratio = variance / (mean * (1 - mean / n))
            assert float(row["variance_over_binomial"]) == pytest.approx(ratio, rel=1e-6, abs=1e-6)
    recall = [r["variance_over_binomial"] for (side, _, q), r in cells.items() if side == "recall" and q > 0]
    assert [float(r) for r in recall] == pytest.approx([(2557 - 162) / 2556] * len(recall))


def test_the_lag_of_the_detector(paper):
    """Figure 8: predictions one or two days earlier raise precision's hits from 145 to 151 and 149; all by pairs."""
    found = {(r["measure"], int(r["days_moved"])): int(r["hits"]) for r in rows(paper, "figure-8")}
    assert [found["precision", shift] for shift in (0, -1, -2)] == [145, 151, 149]
    threshold = np.quantile(paper.study.scores, 0.9)
    for shift in LAGS:
        assert (found["precision", shift], found["recall", shift]) == hits_by_pairs(paper, threshold, 2, shift)


def test_what_chance_explains(paper):
    """Figure 7: observed and expected at the .9-quantile, their ratio and difference, by pairs and by coverage."""
    threshold = np.quantile(paper.study.scores, 0.9)
    alarms = np.flatnonzero(paper.study.scores >= threshold)
    for row in rows(paper, "figure-7"):
        delta, side = int(row["tolerance"]), row["measure"]
        hits = hits_by_pairs(paper, threshold, delta)[side == "recall"]
        covered = len({t for a in alarms for t in range(a - delta, a + delta + 1) if 0 <= t < 2557})
        chance = covered / 2557 if side == "recall" else moments_by_pairs(paper, threshold, delta)[0] / 256
        observed = hits / (162 if side == "recall" else 256)
        assert float(row["observed"]) == pytest.approx(observed)
        assert float(row["chance"]) == pytest.approx(chance)
        assert float(row["share_of_chance"]) == pytest.approx(chance / observed)
        assert float(row["gap"]) == pytest.approx(observed - chance)


def test_simulations_agree_with_the_exact_distributions(paper):
    """Figure 4: 10,000 permutations stay within what such a sample may differ (Kolmogorov, level 1e-4)."""
    for row in rows(paper, "figure-4"):
        assert abs(float(row["simulated_cdf"]) - float(row["exact_cdf"])) < 2.23 / 100
    assert paper.study.permuted["precision"].shape == (100, 4, 50)
    inside = [
        (float(r["chance_2.5%"]) - 1e-9 <= float(r[f"permuted_{i}"]))
        & (float(r[f"permuted_{i}"]) <= float(r["chance_97.5%"]) + 1e-9)
        for r in rows(paper, "figure-3")
        for i in range(1, 101)
    ]
    assert 0.93 < np.mean(inside) < 0.99  # hits are whole numbers: the band holds at least 95%


def test_familywise_p_of_the_whole_sweep(paper):
    """No permutation's best cell is as good, but its best F1 reaches the observed .6545 now and then."""
    family = paper.study.familywise
    assert family.precision == family.recall == family.both == 1 / 10_001
    assert family.observed_best_f == pytest.approx(0.6545, abs=1e-4)
    assert 0.003 < family.best_f < 0.012


def test_the_papers_statements(paper):
    """Each statement has its outcome, fixed here from the numbers that the other tests check."""
    fails = {"gap-precision", "overdispersed-everywhere", "no-derivation"}
    unclear = {"period", "low-thresholds", "vary"}
    outcomes = {c.key: c.outcome for c in paper.claims}
    assert {key for key, outcome in outcomes.items() if outcome == "does not hold"} == fails
    assert {key for key, outcome in outcomes.items() if outcome == "cannot be checked"} == unclear
    assert len(outcomes) == len(paper.claims) == 35
    findings = {c.key: c.finding for c in paper.claims}
    assert "0 of 50 thresholds for δ = 0, 27 of 50" in findings["overdispersed-everywhere"]
    assert "0.126, 0.096, 0.079, 0.033" in findings["gap-recall"]
    assert "0.035, 0.062, 0.086, 0.064" in findings["gap-precision"]
    assert "1.55, 1.35, 1.31, 1.14" in findings["gap-precision-relative"]
    assert "5.98, 4.73, 5.10, 3.40 from the median" in findings["gap-precision-standardised"]
    assert "0.141, 0.214, 0.247, 0.194 at the .9-quantile" in findings["gap-recall"]
    assert "grows at 7 (0.02 to 0.04, 0.9 to 0.98). So it depends on the thresholds" in findings["gap-recall"]
    uneven = {key for key, words in findings.items() if "The average does not fall at every step." in words}
    assert uneven == {"gap-precision", "gap-precision-standardised"}
    assert "75 of 75 cells" in findings["overdispersed-upper"]
    assert "in 200 of 200 cells" in findings["recall-binomial-everywhere"]
    assert "511,400 in 200 cells" in findings["equation-2"]
    assert "511,400 in 200 cells" in findings["equation-3"]
    assert "80 of 162, which is 0.4938" in findings["numbers-recall"]
    assert "145 of 256, which is 0.5664; the paper prints .56, cut" in findings["numbers-precision"]


def test_the_documentation_has_every_statement(paper):
    """docs/explanation/paper.md lists the same statements and outcomes in the same order, with the same tally."""
    text = (Path(__file__).parent.parent / "docs" / "explanation" / "paper.md").read_text(encoding="utf-8")
    listed = [line for line in text.split("## All statements")[1].splitlines() if re.match(r"\| \d", line)]
    assert listed == [f"| {c.section} | {c.statement} | {c.outcome} |" for c in paper.claims]
    assert "Of 35 statements 29 hold, 3 do not, and 3 cannot be checked" in " ".join(text.split())
    # the numbers of its tables, as the page prints them
    numbers = re.findall(r"^\| (?:recall|precision), .*?\| (.*) \| (?:yes|no) \|$", text, flags=re.MULTILINE)
    assert len(numbers) == 6
    for row in numbers:
        assert row.replace(" | ", " ") in page(paper)


@pytest.mark.parametrize(
    "words",
    [
        "145 of 256 predictions are near an earthquake and 80 of 162 earthquakes are near a prediction",
        "Chance gives 71 ± 10 and 39.9 ± 5.3: the exact p-values are 4.1e-12 and 1.6e-12",
        "Of 35 statements, 29 hold, 3 do not, and 3 cannot be checked",
        "precision, absolute 0.035 0.062 0.086 0.064 no precision, relative 1.55 1.35 1.31 1.14 yes",
        "binomial, Donges et al. (2016) 63.8 ± 6.2 0.0063",
        "binomial, extreme values (2020a) 39.1 ± 5.4 3.1e-12 none known –",
        "recall 80 of 162 0.494 39.9 ± 5.3 1.0e-04",
        "precision 145 of 256 0.566 71 ± 10 1.0e-04",
        "from 145 to 151 and 149",
        "explains 42%, 45%, 50%, 66% of recall and 42%, 47%, 49%, 64% of precision",
        "exceeds the binomial's in 113 of 200 cells",
        "variance is 102.2 where the binomial has 51.",
    ],
)
def test_the_page_prints_the_numbers(paper, words):
    """What the page says is what was computed."""
    assert words in page(paper)
    assert "imulated data" not in page(paper)


def test_three_readings_of_the_gap(paper):
    """Difference, ratio and standardised difference of every cell, from hits and exact moments of other files."""
    key = lambda row: (row["measure"], row["tolerance"], row["quantile"])  # noqa: E731
    hits = {key(r): (int(r["hits"]), int(r["of"])) for r in rows(paper, "figure-2")}
    moments = {key(r): (float(r["mean"]), float(r["variance"])) for r in rows(paper, "figure-5")}
    found = rows(paper, "section-3.1")
    assert len(found) == 3 * 400
    for row in found:
        (hit, of), (mean, variance) = hits[key(row)], moments[key(row)]
        if row["reading"] == "standardised" and variance < 1e-12:
            assert row["gap"] == ""  # chance has one value only
            continue
        gap = {"absolute": (hit - mean) / of, "relative": hit / mean}.get(row["reading"])
        gap = (hit - mean) / math.sqrt(variance) if gap is None else gap
        assert float(row["gap"]) == pytest.approx(gap, rel=1e-9, abs=1e-12)


def test_binomials_of_the_literature(paper):
    """Section 2.3: p-values from success probabilities that are worked out here, from windows and block maxima."""
    by_measure = {row["measure"]: row for row in rows(paper, "section-3.2")}
    wide = np.mean([min(t + 2, 2556) - max(t - 2, 0) + 1 for t in range(2557)]) / 2557
    for side, hits, size, others in (("recall", 80, 162, 256), ("precision", 145, 256, 162)):
        expected = binom.sf(hits - 1, size, 1 - (1 - wide) ** others)
        assert float(by_measure[side]["p_donges"]) == pytest.approx(expected, rel=1e-9)
    fit = paper.study.fit
    maxima = paper.study.scores[: 511 * 5].reshape(511, 5).max(axis=1)
    reached = (maxima >= np.quantile(paper.study.scores, 0.9)).mean()
    assert (fit.n_blocks, fit.observed) == (511, reached)
    assert abs(fit.success - reached) < 0.01
    assert float(by_measure["recall"]["p_extreme_value"]) == pytest.approx(binom.sf(79, 162, fit.success), rel=1e-9)
    assert by_measure["precision"]["p_extreme_value"] == ""


def test_both_sides_at_random(paper):
    """Hits of scattered events and predictions have the mean of draws without replacement, within simulation error."""
    for side, size, others in (("recall", 162, 256), ("precision", 256, 162)):
        counts = paper.study.scattered[side]
        assert (len(counts), counts.sum()) == (size + 1, 10_000)
        none = math.prod((2557 - others - i) / (2557 - i) for i in range(5))  # a window away from the borders
        assert np.arange(size + 1) @ counts / 10_000 == pytest.approx(size * (1 - none), rel=0.005)


def test_a_score_that_knows_nothing_looks_good_and_is_found_out(paper):
    """Table 3: hits by pairs, recall's p hypergeometric; at δ = 4 noise finds more than the detector at δ = 2."""
    noise = np.random.default_rng([0, 4]).random(2557)
    events, alarms = np.flatnonzero(paper.study.quakes.truth), np.flatnonzero(noise >= np.quantile(noise, 0.9))
    for row in rows(paper, "table-3"):
        near = np.abs(alarms[:, None] - events) <= int(row["tolerance"])
        assert int(row["hits"]) == near.any(axis=int(row["measure"] == "precision")).sum()
        if row["measure"] == "recall":
            covered = (np.abs(np.arange(2557)[:, None] - alarms) <= int(row["tolerance"])).any(axis=1).sum()
            expected = hypergeom.sf(int(row["hits"]) - 1, 2557, covered, 162)
            assert float(row["p_exact"]) == pytest.approx(expected, rel=1e-9)
        assert float(row["p_exact"]) > 0.05
    assert float(row["tolerance"]) == 4
    assert paper.study.noise[-1].recall > 80 / 162


def test_entries_that_cannot_be_read(paper):
    """With the events as predictions, days near an event would remain: so many by their distances, in both tables."""
    events = np.flatnonzero(paper.study.quakes.truth)
    near = (np.abs(np.arange(2557)[:, None] - events) <= 2).any(axis=1).sum()
    findings = {claim.key: claim.finding for claim in paper.claims}
    assert f"PnA-AAδ would be {near - 162}." in findings["entries-truth"]
    assert f"PAδ-AnA would be {near - 162}." in findings["entries-predictions"]
    assert f"recall {162 / near:.3f}, accuracy {1 - (near - 162) / 2557:.3f}" in findings["uninformative-measures"]


def drawn(name, done, size):
    """A figure of the study, laid out, with what there is to see in it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FIGURES_BY_NAME[name][0](figure, done.study)
    figure.draw_without_rendering()
    return figure


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6.6, 3.4), (4.0, 5.4)], ids=["paper", "telephone"])
def test_keys_cover_nothing_and_name_everything(simulated, size):
    """Figures 4, 6 and 8: the key stands above all panels; Figure 6 marks the paper's cell in both."""
    labels = {
        "figure-4": {"exact", "binomial, Donges et al.", "binomial, extreme values", "observed"},
        "figure-6": {"significant at .05, corrected for all cells", "the paper's cell: δ = 2, .9-quantile"},
        "figure-8": {"chance, 95% (exact)", "chance, mean", "observed"},
    }
    for name, expected in labels.items():
        figure = drawn(name, simulated, size)
        (key,) = figure.legends
        assert expected <= {text.get_text() for text in key.get_texts()}
        box = key.get_window_extent()
        assert all(box.y0 >= ax.get_tightbbox().y1 for ax in figure.axes)
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert not any(ax.get_legend() for ax in figure.axes)
        if name == "figure-6":
            marks = [[(*line.get_xdata(), *line.get_ydata()) for line in ax.lines] for ax in figure.axes[:2]]
            assert marks == [[(0.9, 2)], [(0.9, 2)]]


def test_permuted_sequences_are_not_under_a_filled_band(simulated):
    """Figure 3: in each panel all permuted sequences as one line, the band as two outlines, and nothing filled."""
    figure = drawn("figure-3", simulated, (6.6, 8.2))
    for ax, permuted in zip(
        figure.axes, [s for pair in zip(*by_tolerance(simulated), strict=True) for s in pair], strict=True
    ):
        assert len(ax.collections) == 0
        labels = [line.get_label() for line in ax.lines]
        assert labels == ["100 permuted sequences", *["chance, 95% (exact)"] * 2, "chance, mean", "observed"]
        assert np.array_equal(ax.lines[0].get_ydata()[np.isfinite(ax.lines[0].get_ydata())], permuted.ravel())


def by_tolerance(done):
    """Permuted recall and precision, by tolerance."""
    return [[done.study.permuted[side][:, d] for d in range(len(TOLERANCES))] for side in ("recall", "precision")]


def test_every_file_is_there(simulated):
    """A page, claims, and each figure as SVG, PDF, PNG and CSV; no more, no less."""
    expected = {f"{name}.{form}" for name in FIGURES for form in ("svg", "pdf", "png", "csv")}
    expected |= {f"{name}.csv" for name in TABLES} | {"index.html", "claims.json"}
    assert set(simulated.files) == expected == {path.name for path in simulated.directory.iterdir()}
    for name in FIGURES:
        assert (simulated.directory / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (simulated.directory / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert ElementTree.parse(simulated.directory / f"{name}.svg").getroot().tag.endswith("svg")
        assert len(rows(simulated, name)) > 5


def test_claims_are_written_as_they_were_found(simulated):
    """claims.json has every claim, the seed and whether the data are simulated."""
    written = json.loads((simulated.directory / "claims.json").read_text(encoding="utf-8"))
    assert written["claims"] == [claim.to_dict() for claim in simulated.claims]
    assert (written["simulated"], written["seed"], written["permutations"]) == (True, 1, 400)
    assert {claim["outcome"] for claim in written["claims"]} <= {"holds", "does not hold", "cannot be checked"}
    assert all(claim["decided_by"] for claim in written["claims"])


def test_simulated_data_are_called_so_everywhere(simulated):
    """In the title, on top of the page, under every figure, and wherever the paper's own numbers are meant."""
    html = (simulated.directory / "index.html").read_text(encoding="utf-8")
    assert "<title>Simulated data: " in html
    assert "Simulated data. Everything on this page was computed from made-up data" in page(simulated)
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html, flags=re.DOTALL)
    assert [caption.startswith(f"Figure {i} (simulated data). ") for i, caption in enumerate(captions, 1)] == [True] * 8
    outcomes = {claim.key: claim.outcome for claim in simulated.claims}
    assert outcomes["numbers-recall"] == outcomes["numbers-precision"] == "cannot be checked"
    assert simulated.in_words().endswith("the data are simulated.")


def test_the_page_needs_nothing_from_anywhere(simulated):
    """No script, no image, style or font from outside; links lead to files beside it; ids are unique."""
    html = (simulated.directory / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<img|<iframe|@import|\ssrc=|url\((?!#)", html)
    targets = re.findall(r'<(?:a|link)\b[^>]*href="([^"]*)"', html)
    assert {target for target in targets if target != "data:,"} <= set(simulated.files)
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html)
    assert {one or other for one, other in used} <= set(ids)
    assert len(re.findall(r'<svg role="img" aria-label="[^"]+', html)) == 16  # each once more for telephones


@pytest.mark.slow
def test_same_seed_same_bytes_also_by_command(simulated, tmp_path):
    """A second run, by the command line and later in time, writes the same bytes; it prints every statement."""
    options = ["--simulated", "--seed", "1", "--permutations", "400", "-o", str(tmp_path / "again")]
    result = CliRunner().invoke(cli, ["reproduce", *options], catch_exceptions=False)
    assert result.exit_code == 0
    for name in simulated.files:
        assert (tmp_path / "again" / name).read_bytes() == (simulated.directory / name).read_bytes(), name
    for claim in simulated.claims:
        assert claim.statement in " ".join(result.output.split())  # lines are shorter
    assert "index.html" in result.output


def test_another_seed_gives_other_permutations(simulated, offline):
    """The seed decides the simulated data and the permutations."""
    other = run_study(simulated=True, seed=2, permutations=50)
    assert (other.quakes.counts != simulated.study.quakes.counts).any()
    assert (other.permuted["recall"] != simulated.study.permuted["recall"][:50]).any()


def altered(curve, name, tolerance, threshold, by):
    """A sweep with the hits of one cell changed."""
    hits = getattr(curve, name).copy()
    hits[tolerance, threshold] += by
    trial = replace(curve.trial)
    trial.__dict__.update(curve.trial.__dict__ | {name: hits})
    changed = replace(curve, trial=trial)
    changed.__dict__["chance"] = curve.chance  # known already, and the same
    return changed


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("recall-falls", ("recall_hits", 3, 30, 9)),
        ("zero-is-classical", ("precision_hits", 0, 20, -1)),
        ("both-rise", ("precision_hits", 3, 20, -99)),
        ("equation-2", ("precision_hits", 2, 20, -1)),
        ("equation-3", ("recall_hits", 1, 20, 1)),
        ("partition", ("recall_hits", 3, 40, -1)),
    ],
)
def test_a_statement_that_fails_is_said_to_fail(simulated, key, change):
    """With one cell counted wrongly, the statement about it no longer holds; as counted, it does."""
    whole = simulated.study
    wrong = replace(whole, curve=altered(whole.curve, *change))
    outcomes = [
        {claim.key: claim.outcome for claim in claims}[key] for claims in (simulated.claims, PAPER.check(wrong))
    ]
    assert outcomes == ["holds", "does not hold"]


def test_a_formula_off_by_one_step_is_found_out(simulated, monkeypatch):
    """With windows moved by a step, summands no longer agree with the definition; the matrices do not rest on them."""
    whole = replace(simulated.study)  # which has nothing counted yet
    windowed = study.windowed
    monkeypatch.setattr(study, "windowed", lambda flags, delta: np.roll(windowed(flags, delta), 1))
    outcomes = {claim.key: claim.outcome for claim in PAPER.check(whole)}
    assert outcomes["equation-2"] == outcomes["equation-3"] == "does not hold"
    assert outcomes["partition"] == "holds"


def test_steps_are_counted_as_the_papers_sums(simulated):
    """A count of a random sequence has the entries of both tables, sum for sum; a changed entry is noticed."""
    rng = np.random.default_rng(3)
    truth, scores = rng.random(40) < 0.2, rng.integers(0, 4, 40).astype(float)
    curve = sweep(truth, scores, thresholds=(1.0, 3.0), tolerances=TOLERANCES, null="permutation")
    for k, threshold in enumerate(curve.thresholds):
        for d, delta in enumerate(TOLERANCES):
            sums = paper_tables([int(e) for e in truth], [int(z >= threshold) for z in scores], delta)
            assert [tuple(matrix.to_dict().values()) for matrix in curve.matrices(d, k)] == list(sums)
    assert study.count(truth, scores, curve) == study.Counted(cells=8, terms=8 * 40)
    wrong = study.count(truth, scores, altered(curve, "recall_hits", 0, 0, 1))
    assert (wrong.matrices_differ, wrong.sums_differ, wrong.not_in_one) == (1, (0, 1), 0)


def test_every_entry_has_its_formula(simulated):
    """Equations 2 and 3, and all nine entries of both tables, as well-formed MathML with the paper's symbols."""
    html = (simulated.directory / "index.html").read_text(encoding="utf-8")
    formulas = [ElementTree.fromstring(found) for found in re.findall(r"<math.*?</math>", html)]
    assert len(formulas) == 2 + 2 * 9
    texts = ["".join(formula.itertext()) for formula in formulas]
    assert texts[0] == "Pδ=∑tℐ(∑t′=t−δt+δet′>0)⋅ℐ(zt≥τ)∑tℐ(zt≥τ)"
    assert texts[2 + 4] == "∑t(1−ℐ(∑t′=t−δt+δet′>0))⋅(1−ℐ(zt≥τ))"
    assert texts[2 + 9] == "∑tet⋅ℐ(∑t′=t−δt+δℐ(zt′≥τ)>0)"
    assert sum("–" in row for row in re.findall(r'<tr class="unread">.*?</tr>', html)) == 8


def test_bad_arguments_are_refused_before_any_work(tmp_path, offline, monkeypatch):
    """No permutations, a negative seed, a file in place of the directory, no matplotlib: each names the remedy."""
    with pytest.raises(InputError, match="permutations=0 must be at least 1"):
        reproduce(tmp_path, simulated=True, permutations=0)
    with pytest.raises(InputError, match="seed=-1 must not be negative"):
        reproduce(tmp_path / "made" / "for-it", simulated=True, seed=-1)
    assert tmp_path.is_dir()
    assert not (tmp_path / "made").exists()
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match=r"taken.* is not a writable directory .*: choose another"):
        reproduce(tmp_path / "taken", simulated=True)
    (tmp_path / "odd" / "index.html").mkdir(parents=True)
    monkeypatch.setattr("nofluke.reproduce.run_study", lambda **_: pytest.fail("computed first"))
    with pytest.raises(InputError, match=r"index.html cannot be written .Is a dir"):
        reproduce(tmp_path / "odd", simulated=True)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'nofluke\[plot\]'"):
        reproduce(tmp_path / "new", simulated=True)
    assert not (tmp_path / "new").exists()
