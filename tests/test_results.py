"""Results travel and compare: pickled, copied, sent through a process pool, equal to themselves, shown in 3 lines."""

import copy
import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import nofluke as nf
from nofluke.arrays import same
from nofluke.measures.statistics import Matching
from nofluke.nulls.placements import simulate


def data(seed=0, n=400):
    rng = np.random.default_rng(seed)
    truth = np.zeros(n, dtype=bool)
    truth[rng.choice(n, 25, replace=False)] = True
    return truth, rng.random(n) + 0.3 * truth


def evaluated(seed=0, **how):
    return nf.evaluate(*data(seed), **{"quantile": 0.9, "tolerance": 2, **how})


def swept():
    curve = nf.sweep(*data(), quantiles=[0.8, 0.9], tolerances=(0, 2))
    _ = curve.chance
    return curve


RESULTS = {
    "evaluation": evaluated,
    "alarms": lambda: nf.evaluate(data()[0], predictions=data()[1] > 0.9, tolerance=1),
    "rotations": lambda: evaluated(null="circular-shift"),
    "simulated": lambda: evaluated(method="montecarlo", n_resamples=200, rng=1),
    "saddlepoint": lambda: evaluated(method="saddlepoint"),
    "binomial": lambda: evaluated(method="binomial"),
    "seasonal": lambda: evaluated(null="seasonal:period=7", n_resamples=200, rng=1),
    "dates": lambda: evaluated(times=np.datetime64("2020-01-01") + np.arange(400), tolerance="2d"),
    "undefined": lambda: nf.evaluate([0, 0, 0], predictions=[0, 0, 0]),
    "F": lambda: evaluated().f_test(),
    "sweep": swept,
    "chance": lambda: swept().chance,
    "familywise": lambda: swept().familywise(n_resamples=99, rng=1),
    "diagnosis": lambda: nf.diagnose(*data(), quantile=0.9, tolerance=2),
    "test": lambda: evaluated().precision_test,
    "law": lambda: evaluated().precision_test.law,
    "recall's law": lambda: evaluated().recall_test.law,
    "sum of laws": lambda: evaluated().recall_test.law + evaluated(1).recall_test.law,
    "confusion": lambda: evaluated().tolerant_truth,
    "tolerance": lambda: nf.Tolerance(early="2h", late=0),
    "null": lambda: nf.nulls.Seasonal(strata=[0, 1] * 4),
}


@pytest.mark.parametrize("name", RESULTS)
def test_pickled_and_copied_results_are_the_same(name):
    """Every public result survives pickle and copy, equals itself and says the same; comparing never raises."""
    result = RESULTS[name]()
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert same(again, result) or again == result
        assert repr(again) == repr(result)
        assert str(again) == str(result)
    assert (result == 3) is False
    assert (result != "x") is True
    assert (result == None) is False  # noqa: E711


@pytest.mark.parametrize("name", ["evaluation", "rotations", "simulated", "sweep", "diagnosis"])
def test_equal_calls_have_equal_results_and_others_do_not(name):
    """Equality looks at the numbers, arrays too."""
    make = RESULTS[name]
    assert make() == make()
    assert evaluated() != evaluated(1)
    assert evaluated() != evaluated(tolerance=3)
    assert swept() != nf.sweep(*data(1), quantiles=[0.8, 0.9], tolerances=(0, 2))


PARTS = {
    "delays": lambda: evaluated().delays,
    "sequence": lambda: evaluated(times=np.datetime64("2020-01-01") + np.arange(400)).sequence,
    "clock": lambda: evaluated(times=np.datetime64("2020-01-01") + np.arange(400)).sequence.clock,
    "joint law": lambda: nf.nulls.Permutation().joint(evaluated().cell),
    "simulated statistic": lambda: simulate(
        evaluated().cell.trial, Matching(), nf.nulls.Permutation(), n_resamples=50, rng=1
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_results_compare_too(name):
    """Records that hold arrays are equal where their numbers are, and comparing them never raises."""
    make = PARTS[name]
    assert make() == make()
    assert pickle.loads(pickle.dumps(make())) == make()
    assert make() != evaluated(1).delays
    assert evaluated().delays != evaluated(1).delays


@pytest.mark.slow
def test_a_process_pool_returns_results():
    """What another process has evaluated is as good as evaluated here."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(_remote, range(3)))
    for seed, result in enumerate(results):
        assert result == evaluated(seed)
        assert result.precision_test.law.quantile(0.5) == evaluated(seed).precision_test.law.quantile(0.5)


def _remote(seed):
    import numpy

    import nofluke

    rng = numpy.random.default_rng(seed)
    truth = numpy.zeros(400, dtype=bool)
    truth[rng.choice(400, 25, replace=False)] = True
    return nofluke.evaluate(truth, rng.random(400) + 0.3 * truth, quantile=0.9, tolerance=2)


@pytest.mark.parametrize("name", ["evaluation", "simulated", "undefined", "sweep", "diagnosis"])
def test_the_repr_tells_what_a_person_wants_in_three_lines(name):
    """Measures, p-values, null and method; no arrays."""
    text = repr(RESULTS[name]())
    assert len(text.splitlines()) <= 3
    assert len(text) < 500
    assert "array(" not in text
    if name == "evaluation":
        for word in ("precision 0.", "recall 0.", "p = ", "null permutation", "exact (dynamic programme)"):
            assert word in text


def test_the_repr_of_a_test_tells_its_p_value():
    """Hits, what chance gives, p, null and method; which hits count as extreme."""
    text = repr(
        nf.evaluate(
            [0, 1, 0, 0, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 0, 0, 1, 0], ties="mid", null="permutation"
        ).recall_test
    )
    assert text == (
        "<ChanceTest of recall: 2 of 2, chance gives 0.50 ± 0.57; p = 0.018 (greater, mid-p);\n"
        " null permutation: exact (hypergeometric)>"
    )


def test_a_result_keeps_what_it_was_asked_for():
    """Null, method, alternative, ties, resamples, seed and level are those of the call."""
    result = evaluated(
        null="circular-shift", method="montecarlo", alternative="less", ties="mid", n_resamples=77, rng=5, alpha=0.01,
        zero_division=0,
    )  # fmt: skip
    asked = result.settings
    assert (asked.null.text, asked.method, asked.alternative, asked.ties) == (
        "circular-shift",
        "montecarlo",
        "less",
        "mid",
    )
    assert (asked.n_resamples, asked.rng, asked.alpha, asked.zero_division) == (77, 5, 0.01, 0)
    assert math.isnan(evaluated().settings.zero_division)
    assert nf.sweep(*data(), n_resamples=5, rng=3).settings.rng == 3


def test_results_that_looked_at_perfect_alarms_can_be_sent():
    """Their verdict needed what perfect alarms would have got; on steps and at events' own times."""
    ranges = [(at, at + 29) for at in range(100, 2_900, 300)]
    alarms = np.random.default_rng(0).random(3_000) < 0.05
    on_steps = nf.evaluate(ranges, predictions=alarms, tolerance=3, null="local-shift:reach=200")
    times = np.array([101, 450, 707, 1_013, 1_333, 1_901, 2_222, 2_550])
    in_time = nf.coincidence(times, times + 90, tolerance=3, span=(0, 2_999), null="local-shift:reach=200")
    for result in (on_steps, in_time):
        told = result.verdict, result.reason
        assert "_of_perfect_alarms" in result.__dict__
        again = pickle.loads(pickle.dumps(result))
        assert (again.verdict, again.reason) == told
