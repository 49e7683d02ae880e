"""Confusion matrices: every measure is its formula, matrices add up, and each says how far it can be read."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.measures.confusion import MEASURES, OTHER_NAMES
from nofluke.ratios import f_beta, f_of_hits

counts = st.one_of(st.integers(0, 4), st.integers(0, 10**7))
matrices = st.builds(nf.Confusion, tp=counts, fp=counts, fn=counts, tn=counts)


def over(above: int | Fraction, below: int | Fraction) -> Fraction | None:
    """A ratio, or None where there is nothing to divide by."""
    return Fraction(above) / below if below else None


def combine(formula, *parts: Fraction | None) -> Fraction | None:
    """A formula of ratios, undefined where one of them is."""
    return None if None in parts else formula(*parts)


def expected_ratios(c: nf.Confusion) -> dict[str, Fraction | None]:
    """The rational measures as Powers (2007) defines them, each from ratios of entries and nothing simplified."""
    tp, fp, fn, tn = c.tp, c.fp, c.fn, c.tn
    total = tp + fp + fn + tn
    precision, recall = over(tp, tp + fp), over(tp, tp + fn)
    inverse_precision, inverse_recall = over(tn, tn + fn), over(tn, tn + fp)
    accuracy, prevalence = over(tp + tn, total), over(tp + fn, total)
    chance = over((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn), total**2)
    return {
        "precision": precision,
        "false_discovery_rate": combine(lambda p: 1 - p, precision),
        "recall": recall,
        "miss_rate": combine(lambda r: 1 - r, recall),
        "prevalence": prevalence,
        "bias": over(tp + fp, total),
        "specificity": inverse_recall,
        "false_positive_rate": combine(lambda s: 1 - s, inverse_recall),
        "negative_predictive_value": inverse_precision,
        "false_omission_rate": combine(lambda v: 1 - v, inverse_precision),
        "accuracy": accuracy,
        "error_rate": combine(lambda a: 1 - a, accuracy),
        "balanced_accuracy": combine(lambda r, s: (r + s) / 2, recall, inverse_recall),
        "f1": over(2 * tp, 2 * tp + fp + fn),
        "jaccard": over(tp, tp + fp + fn),
        "informedness": combine(lambda r, s: r + s - 1, recall, inverse_recall),
        "markedness": combine(lambda p, v: p + v - 1, precision, inverse_precision),
        "kappa": None if chance in (None, 1) else (accuracy - chance) / (1 - chance),
        "weighted_relative_accuracy": over(tp * tn - fp * fn, total**2),
        "lift": combine(lambda p, a: over(p, a), precision, prevalence),
        "positive_likelihood_ratio": combine(lambda r, s: over(r, 1 - s), recall, inverse_recall),
        "negative_likelihood_ratio": combine(lambda r, s: over(1 - r, s), recall, inverse_recall),
        "diagnostic_odds_ratio": over(tp * tn, fp * fn),
        "equitable_threat_score": combine(
            lambda hits: over(tp - hits, tp + fp + fn - hits), over((tp + fp) * (tp + fn), total)
        ),
        "frequency_bias": over(tp + fp, tp + fn),
        "time_in_warning": over(tp + fp, total),
        "improvement_over_chance": combine(lambda r, b: r - b, recall, over(tp + fp, total)),
    }


def expected_squares(c: nf.Confusion) -> dict[str, Fraction | None]:
    """Squares of the two measures with a root: their means of two ratios are geometric."""
    ratios = expected_ratios(c)
    return {
        "g_measure": combine(lambda p, r: p * r, ratios["precision"], ratios["recall"]),
        "mcc": combine(lambda i, m: i * m, ratios["informedness"], ratios["markedness"]),
    }


def same(found: float, expected: Fraction | None) -> bool:
    """The correctly rounded value, or NaN for None."""
    return math.isnan(found) if expected is None else found == float(expected)


@given(c=matrices)
def test_every_ratio_is_its_formula_correctly_rounded(c):
    """Each rational measure is the float nearest to the exact fraction, and NaN where the fraction has no value."""
    found = c.measures()
    for name, expected in expected_ratios(c).items():
        assert same(found[name], expected), name
        assert type(found[name]) is float


@given(c=matrices)
def test_measures_with_a_root_are_geometric_means(c):
    """g is the geometric mean of precision and recall, mcc that of informedness and markedness, with their sign."""
    found = c.measures()
    for name, square in expected_squares(c).items():
        if square is None:
            assert math.isnan(found[name])
        else:
            assert found[name] ** 2 == pytest.approx(float(square), rel=1e-14)
            assert -1 <= found[name] <= 1
    if not math.isnan(found["mcc"]):
        assert np.sign(found["mcc"]) == np.sign(c.tp * c.tn - c.fp * c.fn)


def test_every_measure_is_checked_here():
    """No measure escapes the two tests above."""
    c = nf.Confusion(tp=1, fp=1, fn=1, tn=1)
    assert set(expected_ratios(c)) | set(expected_squares(c)) | {"sedi"} == set(MEASURES) == set(c.measures())


@given(c=matrices)
def test_sedi_is_its_formula(c):
    """Ferro and Stephenson's (2011), in hit rate and false alarm rate; NaN where a logarithm has no value."""
    found = c.measure("sedi")
    if 0 in (c.tp, c.fp, c.fn, c.tn):
        assert math.isnan(found)
        return
    hit, false = Fraction(c.tp, c.actual), Fraction(c.fp, c.not_actual)
    logs = [math.log(value) for value in (false, hit, 1 - false, 1 - hit)]
    assert found == pytest.approx((logs[0] - logs[1] - logs[2] + logs[3]) / sum(logs), rel=1e-9, abs=1e-9)
    assert -1 <= found <= 1


FIELDS = json.loads((Path(__file__).parent / "field_values.json").read_text(encoding="utf-8"))
SMALL = json.loads((Path(__file__).parent / "peer_values.json").read_text(encoding="utf-8"))["series"]


@pytest.mark.parametrize("name", FIELDS["scores"]["values"])
def test_measures_are_those_of_weather(name):
    """Under the names of nci/scores, with its values (benchmarks/fields.py) and its undefined cases."""
    for (labels, _, alarms), theirs in zip(SMALL, FIELDS["scores"]["values"][name], strict=True):
        pairs = list(zip(alarms, labels, strict=True))
        entries = {
            key: pairs.count(tuple(pair)) for key, pair in (("tp", "11"), ("fp", "10"), ("fn", "01"), ("tn", "00"))
        }
        ours = nf.Confusion(**entries).measure(name)
        assert math.isnan(ours) if theirs is None else ours == pytest.approx(theirs, rel=1e-10, abs=1e-12)


def test_other_fields_names_are_the_same_measures():
    """The names that the issue of each field asks for; none of them is a second definition, and none is taken twice."""
    c = nf.Confusion(tp=82, fp=38, fn=23, tn=222)
    same = {
        "pod": "recall",
        "sensitivity": "recall",
        "far": "false_discovery_rate",
        "success_ratio": "precision",
        "csi": "jaccard",
        "threat_score": "jaccard",
        "peirce": "informedness",
        "heidke": "kappa",
        "ets": "equitable_threat_score",
        "probability_gain": "lift",
    }
    for other, name in same.items():
        assert c.measure(other) == c.measure(name), other
        assert c.why(other) == c.why(name)
    others = [other for one in MEASURES.values() for other in one.also]
    assert len(set(others)) == len(others)
    assert not set(others) & set(MEASURES)
    # the textbook's own numbers (Wilks 2011, table 8.1's layout; values by hand)
    assert c.measure("csi") == 82 / 143
    assert c.measure("improvement_over_chance") == pytest.approx(82 / 105 - 120 / 365)


def levels(b: Fraction, p: Fraction) -> dict[str, float]:
    """Chance levels by the words that measures have for them, with b the bias and p the prevalence."""
    return {
        "prevalence": p,
        "1 - prevalence": 1 - p,
        "bias": b,
        "1 - bias": 1 - b,
        "b p + (1 - b)(1 - p)": b * p + (1 - b) * (1 - p),
        "b (1 - p) + (1 - b) p": b * (1 - p) + (1 - b) * p,
        "1/2": 0.5,
        "2 b p / (b + p)": 2 * b * p / (b + p),
        "sqrt(b p)": math.sqrt(b * p),
        "b p / (b + p - b p)": b * p / (b + p - b * p),
        "0": 0,
        "1": 1,
    }


@given(tp=st.integers(1, 50), fp=st.integers(1, 50), fn=st.integers(1, 50), tn=st.integers(1, 50))
def test_every_measure_knows_its_chance_level(tp, fp, fn, tn):
    """The value at the hits that chance expects is the formula of the measure's own words."""
    c = nf.Confusion(tp=tp, fp=fp, fn=fn, tn=tn)
    known = levels(Fraction(c.predicted, c.total), Fraction(c.actual, c.total))
    for name, one in MEASURES.items():
        expected = c.measure(name) if one.chance == "itself" else float(known[one.chance])
        assert c.chance(name) == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("name", ["precision", "recall", "informedness", "kappa", "improvement_over_chance", "lift"])
def test_the_level_is_the_mean_of_chance_where_a_measure_is_linear_in_hits(name):
    """Over all placements of the predictions, each weighted by how often it comes out (hypergeometric)."""
    predicted, actual, total = 4, 5, 12
    c = nf.Confusion.from_marginals(2, predicted, actual, total, "neither")
    mean = sum(
        math.comb(actual, hits)
        * math.comb(total - actual, predicted - hits)
        / math.comb(total, predicted)
        * nf.Confusion.from_marginals(hits, predicted, actual, total, "neither").measure(name)
        for hits in range(predicted + 1)
    )
    assert mean == pytest.approx(c.chance(name), abs=1e-12)


@given(c=matrices)
def test_a_measure_is_undefined_exactly_where_it_says(c):
    """Every sentence on undefined cases, as a condition."""
    none, full = (
        {"events": c.actual == 0, "alarms": c.predicted == 0},
        {"events": c.not_actual == 0, "alarms": c.not_predicted == 0},
    )
    says = {
        "T = 0": c.total == 0,
        "nothing is predicted": none["alarms"],
        "there are no events": none["events"],
        "every step is an event": full["events"],
        "every step is predicted": full["alarms"],
        "no step, or every step, is an event": none["events"] or full["events"],
        "no step, or every step, is predicted": none["alarms"] or full["alarms"],
        "no step, or every step, is an event or is predicted": any((*none.values(), *full.values())),
        "there are no events and nothing is predicted": all(none.values()),
        "there are no events, or nothing is predicted": any(none.values()),
        "all steps are of one kind, TP or TN": c.total in (c.tp, c.tn),
        "there are no events or no false positives": none["events"] or c.fp == 0,
        "there are no events or no true negatives": none["events"] or c.tn == 0,
        "there are no false positives, or no misses": 0 in (c.fp, c.fn),
        "TP, FP, FN or TN is 0": 0 in (c.tp, c.fp, c.fn, c.tn),
    }
    for name, one in MEASURES.items():
        assert math.isnan(c.measure(name)) == says[one.undefined], name


@given(tp=st.integers(1, 10**10), tn=st.integers(1, 10**10))
def test_perfection_is_exactly_one(tp, tn):
    """A perfect detector scores 1, not nearly 1 and never more; one that is always wrong scores -1."""
    perfect, wrong = nf.Confusion(tp=tp, fp=0, fn=0, tn=tn), nf.Confusion(tp=0, fp=tn, fn=tp, tn=0)
    for name in ("precision", "recall", "f1", "g_measure", "mcc", "kappa", "informedness", "markedness", "jaccard"):
        assert perfect.measure(name) == 1, name
    for name in ("mcc", "informedness", "markedness"):
        assert wrong.measure(name) == -1, name


@given(a=st.integers(1, 1000), b=st.integers(1, 1000), c=st.integers(1, 1000), d=st.integers(1, 1000))
def test_independence_is_exactly_zero(a, b, c, d):
    """Predictions independent of the truth: measures that correct for chance are 0, and lift is 1, to the last bit."""
    matrix = nf.Confusion(tp=a * c, fp=a * d, fn=b * c, tn=b * d)
    for name in ("mcc", "kappa", "informedness", "markedness", "weighted_relative_accuracy"):
        assert matrix.measure(name) == 0, name
    assert matrix.measure("lift") == 1


def test_the_papers_entries_have_their_places():
    """Row and column sums as in the paper's general table."""
    c = nf.Confusion(tp=1, fp=20, fn=300, tn=4000)
    assert (c.predicted, c.not_predicted, c.actual, c.not_actual, c.total) == (21, 4300, 301, 4020, 4321)
    built = nf.Confusion.from_marginals(tp=1, predicted=21, actual=301, total=4321, tolerance_in="truth")
    assert built == nf.Confusion(tp=1, fp=20, fn=300, tn=4000, tolerance_in="truth")


@given(parts=st.lists(matrices, min_size=1, max_size=5))
def test_matrices_add_entry_by_entry(parts):
    """sum() pools sequences: every entry and every marginal is the sum of the parts'."""
    pooled = sum(parts)
    for name in ("tp", "fp", "fn", "tn", "predicted", "actual", "total"):
        assert getattr(pooled, name) == sum(getattr(part, name) for part in parts)


def test_matrices_of_different_kinds_do_not_add():
    """Tolerance in the truth and in the predictions count different things: adding them is an error that says so."""
    one = nf.Confusion(tp=1, fp=1, fn=1, tn=1, tolerance_in="truth")
    other = nf.Confusion(tp=1, fp=1, fn=1, tn=1, tolerance_in="predictions")
    with pytest.raises(nf.InputError, match="tolerance in predictions to one with tolerance in truth"):
        one + other
    with pytest.raises(TypeError):
        one + 1


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_counts_become_plain_integers(dtype):
    """Counts from NumPy do not overflow: 100 + 100 is 200 even for int8."""
    c = nf.Confusion(tp=dtype(100), fp=dtype(100), fn=dtype(100), tn=dtype(100))
    assert (c.predicted, c.total) == (200, 400)
    assert all(type(getattr(c, name)) is int for name in ("tp", "fp", "fn", "tn", "predicted", "total"))


def test_huge_counts_do_not_overflow():
    """Products of four marginals stay exact far beyond 64 bits."""
    c = nf.Confusion(tp=np.int64(5 * 10**9), fp=0, fn=0, tn=np.int64(5 * 10**9))
    assert c.measure("mcc") == c.measure("kappa") == c.measure("g_measure") == 1


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"tp": -1}, "tp=-1 must be a whole number of at least 0"),
        ({"fn": np.int64(-3)}, "fn=-3 must be a whole number of at least 0"),
        ({"fp": 1.5}, "fp=1.5 must be a whole number"),
        ({"tn": math.nan}, "tn=nan must be a whole number"),
        ({"tn": "3"}, "tn='3' must be a whole number"),
        ({"tolerance_in": "both"}, "tolerance_in='both' must be one of 'neither', 'truth', 'predictions'"),
    ],
)
def test_wrong_entries_are_named(entries, message):
    """An entry that is no count, or a side that is none, is an error that names it."""
    with pytest.raises(nf.InputError, match=message):
        nf.Confusion(**{"tp": 1, "fp": 1, "fn": 1, "tn": 1, **entries})


def test_marginals_that_cannot_be_are_refused():
    """More hits than predictions cannot be: the negative entry is named."""
    with pytest.raises(nf.InputError, match="fp=-1 must be a whole number of at least 0"):
        nf.Confusion.from_marginals(tp=2, predicted=1, actual=5, total=9, tolerance_in="truth")


def test_an_unknown_measure_is_answered_with_those_there_are():
    """A misspelt name is an error that lists all names, from each of the three questions."""
    c = nf.Confusion(tp=1, fp=1, fn=1, tn=1)
    for ask in (c.measure, c.why, c.interpretable):
        with pytest.raises(nf.InputError, match="name='precison' must be one of 'precision', "):
            ask("precison")


@pytest.mark.parametrize("value", [0, 1, 0.0, True, np.float64(1)])
def test_zero_division_replaces_what_is_undefined(value):
    """zero_division takes the place of NaN, as a plain float, and of nothing else."""
    empty = nf.Confusion(tp=0, fp=0, fn=0, tn=0)
    for found in (empty.measure("precision", zero_division=value), *empty.measures(zero_division=value).values()):
        assert found == value
        assert type(found) is float
    assert nf.Confusion(tp=1, fp=1, fn=0, tn=0).measure("precision", zero_division=value) == 0.5


@pytest.mark.parametrize("value", ["warn", 2, 0.5, None, -1])
def test_zero_division_must_be_what_scikit_learn_takes(value):
    """Anything but 0, 1 and NaN is refused."""
    with pytest.raises(nf.InputError, match=r"zero_division=.* must be 0, 1 or nan"):
        nf.Confusion(tp=1, fp=1, fn=1, tn=1).measure("precision", zero_division=value)


READABLE = {
    "truth": {"precision", "false_discovery_rate", "bias", "lift"},
    "predictions": {"recall", "miss_rate", "prevalence", "lift", "time_in_warning", "improvement_over_chance"},
}


@pytest.mark.parametrize("side", ["truth", "predictions"])
def test_only_ratios_of_interpretable_entries_are_interpretable(side):
    """Section 2.2: with tolerance in the truth only PA's row reads as usual, with it in the predictions AA's column."""
    c = nf.Confusion(tp=1, fp=1, fn=1, tn=1, tolerance_in=side)
    assert {name for name in MEASURES if c.interpretable(name)} == READABLE[side]
    for name in MEASURES:
        readable, reason = c.why(name)
        assert readable is c.interpretable(name)
        assert reason.endswith(".")
        assert len(reason) > 20


def test_without_tolerance_everything_is_interpretable():
    """The ordinary matrix has its ordinary measures."""
    c = nf.Confusion(tp=1, fp=1, fn=1, tn=1)
    assert all(c.interpretable(name) for name in MEASURES)


@pytest.mark.parametrize(("tolerance", "sides"), [(0, ("neither", "neither")), (1, ("truth", "predictions"))])
def test_results_know_where_their_tolerance_is(tolerance, sides):
    """evaluate and sweep mark their matrices, and with no tolerance as ordinary ones."""
    result = nf.evaluate([0, 1, 0], [1, 2, 3], threshold=2, tolerance=tolerance)
    assert (result.tolerant_truth.tolerance_in, result.tolerant_predictions.tolerance_in) == sides
    cell = nf.sweep([0, 1, 0], [1, 2, 3], tolerances=tolerance).matrices(0, 0)
    assert tuple(matrix.tolerance_in for matrix in cell) == sides


@given(p=st.fractions(0, 1), r=st.fractions(0, 1), beta=st.fractions(0, 10))
def test_f_beta_is_the_weighted_harmonic_mean(p, r, beta):
    """F_β between P and R, P for β = 0, 0 where either is 0."""
    found = f_beta(float(p), float(r), float(beta))
    if beta == 0:
        assert found == float(p)
    elif p == 0 or r == 0:
        assert found == 0
    else:
        weight = 1 / (1 + beta**2)
        assert found == pytest.approx(float(1 / (weight / p + (1 - weight) / r)), rel=1e-12)


def test_f_beta_is_undefined_where_a_part_is():
    """NaN in, NaN out."""
    assert math.isnan(f_beta(math.nan, 0.5))
    assert math.isnan(f_beta(0.5, math.nan, 0))


@pytest.mark.parametrize("beta", [0, 1e-200, 1e-3, 0.5, 1, 2, 1e3, 1e200, 1.7e308])
def test_f_beta_does_not_overflow(beta):
    """From precision alone to recall alone, as fractions have it, for one value and for arrays of hits."""
    hits, n_predictions, found, n_events = 3, 7, 2, 5
    precision, recall, square = Fraction(hits, n_predictions), Fraction(found, n_events), Fraction(beta) ** 2
    expected = float((1 + square) * precision * recall / (square * precision + recall))
    assert f_beta(float(precision), float(recall), beta) == pytest.approx(expected, rel=1e-14)
    assert f_of_hits([hits, 0], [found, 0], n_predictions, n_events, beta).tolist() == [
        pytest.approx(expected, rel=1e-14),
        0,
    ]


def test_f_beta_of_results_and_sweeps_does_not_overflow():
    """A huge beta is recall, in the familywise test too."""
    truth, scores = [0, 1, 0, 0, 1, 0, 0, 0, 1, 0], [1, 9, 2, 8, 3, 2, 1, 7, 6, 1]
    result = nf.evaluate(truth, scores, threshold=6)
    assert result.f_beta(1e200) == pytest.approx(result.recall)
    assert result.f_test(1e200).pvalue == pytest.approx(result.recall_test.pvalue)
    curve = nf.sweep(truth, scores, thresholds=[6, 8])
    np.testing.assert_allclose(curve.f_beta(1e200), curve.recall)
    large, larger = (curve.familywise(beta=beta, n_resamples=199, rng=1) for beta in (1e5, 1e200))
    assert large.best_f == larger.best_f
    assert larger.observed_best_f == pytest.approx(curve.recall.max())


def test_entries_that_nobody_counts_are_refused():
    """Python could not even print them."""
    with pytest.raises(
        nf.InputError, match="tp=a whole number of about 5,001 digits must be a whole number of at least 0"
    ):
        nf.Confusion(tp=10**5000, fp=0, fn=0, tn=0)


QUAKES = nf.datasets.simulate_quakes(rng=0)
ENERGY = nf.detectors.energy_transient(QUAKES.counts)


def test_a_result_without_tolerance_has_every_measure_of_its_matrix():
    """Under every name; precision, recall and F1 are the result's own."""
    result = nf.evaluate(QUAKES.truth, ENERGY, quantile=0.9, null="permutation")
    for name in (*MEASURES, *OTHER_NAMES):
        assert result.measure(name) == pytest.approx(result.tolerant_truth.measure(name), rel=1e-12), name


@pytest.mark.parametrize("null", ["permutation", "circular-shift", "seasonal:period=7"])
@pytest.mark.parametrize("counted", [{}, {"count_alarms": "episodes"}])
def test_measures_of_events_and_alarms_are_made_from_both_rates(null, counted):
    """With a tolerance there are no true negatives; time in warning is what the null's mean recall is."""
    result = nf.evaluate(QUAKES.truth, ENERGY, quantile=0.9, tolerance=2, null=null, **counted)
    p, r, covered = result.precision, result.recall, result.recall_test.expected / result.n_events
    told = {
        "pod": r,
        "far": 1 - p,
        "miss_rate": 1 - r,
        "csi": 1 / (1 / p + 1 / r - 1),
        "frequency_bias": r / p,
        "g_measure": math.sqrt(p * r),
        "time_in_warning": covered,
        "improvement_over_chance": r - covered,
        "probability_gain": r / covered,
    }
    for name, value in told.items():
        assert result.measure(name) == pytest.approx(value, rel=1e-12), name
    if null == "permutation":  # the share of steps near an alarm, as the matrix has it
        matrix = result.tolerant_predictions
        for name in ("time_in_warning", "improvement_over_chance", "probability_gain"):
            assert result.measure(name) == pytest.approx(matrix.measure(name), rel=1e-12)


@pytest.mark.parametrize("name", ["peirce", "heidke", "ets", "sedi", "specificity", "accuracy"])
def test_measures_that_need_true_negatives_say_so(name):
    """They exist for steps without tolerance only; ranges and episodes have no true negatives."""
    ranges = [(10, 15), (40, 44)]
    alarms = np.arange(60) % 7 == 0
    for how in ({"tolerance": 1}, {"count_alarms": "episodes"}, {"count_events": "ranges"}):
        result = nf.evaluate(ranges, predictions=alarms, **how)
        with pytest.raises(nf.InputError, match="true negatives"):
            result.measure(name)
        assert 0 <= result.measure("csi") <= 1


def test_undefined_measures_of_a_result_are_what_was_asked_for():
    """NaN, or zero_division; CSI is 0 where nothing was hit."""
    nothing = nf.evaluate([0, 1, 0, 0], predictions=[0, 0, 0, 0], tolerance=1)
    assert all(math.isnan(nothing.measure(name)) for name in ("far", "csi", "probability_gain"))
    assert nf.evaluate([0, 1, 0, 0], predictions=[0, 0, 0, 0], tolerance=1, zero_division=0).measure("far") == 0
    assert nf.evaluate([1, 0, 0, 0, 0, 0], predictions=[0, 0, 0, 0, 0, 1], tolerance=1).measure("csi") == 0
    assert nothing.measure("improvement_over_chance") == 0
    with pytest.raises(nf.InputError, match="must be one of"):
        nothing.measure("skill")
