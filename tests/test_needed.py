"""How many more events it takes: against exact powers, by simulation, from JSON, and on the command line."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, multivariate_normal, norm

import nofluke as nf
from nofluke.cli import main
from nofluke.inference.needed import Longer, Present, Side, events_for, joint, needed, needed_like, present_of

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))


def present(m=40, recall=0.6, coverage=0.2, per_event=200, **other):
    """Events on random steps that are found independently, and alarms that are as often right."""
    steps = per_event * m
    std = math.sqrt(m * coverage * (1 - coverage) * (steps - m) / (steps - 1))
    side = Side(of=m, expected=m * coverage, std=std, value=recall, low=recall - 0.1, size=math.nan)
    return Present(
        **{"precision": side, "recall": side, "correlation": 0.0, "watched": float(steps), "unit": "steps"} | other,
        alpha=0.05,
        null="permutation",
        level=0.95,
    )


@pytest.mark.parametrize("recall", [0.4, 0.5, 0.6, 0.7, 0.8])
@pytest.mark.parametrize("coverage", [0.05, 0.1, 0.2, 0.3, 0.5])
def test_events_for_recall_are_those_of_the_exact_power(recall, coverage):
    """The table of howto/power.md; scaled laws are binomial, so that one row differs by a step of the saw."""
    exact = nf.sample_size(recall=recall, coverage=coverage).n_events
    found = needed(present(recall=recall, coverage=coverage)).answers[0].n_events
    assert found == (12 if (recall, coverage) == (0.6, 0.2) else exact)


@given(first=st.floats(0.001, 0.999), second=st.floats(0.001, 0.999), rho=st.floats(-0.99, 0.99))
def test_joint_probability_is_the_bivariate_normals(first, second, rho):
    """SciPy's, by another method."""
    expected = multivariate_normal.cdf(norm.ppf([first, second]), cov=[[1, rho], [rho, 1]])
    assert joint(first, second, rho) == pytest.approx(expected, abs=2e-4 if abs(rho) > 0.9 else 2e-6)


def test_power_of_the_verdict_is_that_of_its_rule():
    """Both at alpha, or one at alpha/2: by drawing correlated hits from the same binomial laws."""
    found = Longer(present(correlation=0.6), 0.5, 0.6, 12)
    rng = np.random.default_rng(1)
    z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 200_000)
    hits = np.stack([binom.ppf(norm.cdf(z[:, i]), 12, share) for i, share in enumerate((0.5, 0.6))])
    tail = [[binom.sf(h - 1, 12.0, 0.2) for h in range(13)]] * 2
    p = np.stack([np.take(tail[i], hits[i].astype(int)) for i in range(2)])
    yes = (p <= 0.05).all(axis=0)
    either = yes | (p <= 0.025).any(axis=0)
    assert found.power("yes") == pytest.approx(yes.mean(), abs=0.02)
    assert found.power("verdict") == pytest.approx(either.mean(), abs=0.02)
    assert found.power("recall") == pytest.approx((p[1] <= 0.05).mean(), abs=0.01)
    assert found.power("yes") < found.power("recall")


def test_the_power_is_never_below_the_one_asked_for_from_the_answer_on():
    """And the number before has less."""
    series = Longer(present(), 0.5, 0.6, 10)

    def power(m, stricter=0):
        return replace(series, n_events=m, stricter=stricter).power("verdict")

    found = events_for(power, 0.8)
    assert all(power(m) >= 0.8 for m in range(found, found + 200))
    assert power(found - 1) < 0.8


@pytest.mark.parametrize("least", [1, 2, 3, 32_768, 32_769, 40_000, 50_000, 50_001])
def test_all_numbers_up_to_the_most_are_searched(least):
    """Also those between the last power of two and the most, which the reason names."""
    found = events_for(lambda m, _: float(m >= least), 0.8)
    assert found == (least if least <= 50_000 else None)


def test_a_result_and_its_json_say_the_same():
    """Under every null of its own; time is that of the clock."""
    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    for null in ("permutation", "circular-shift"):
        about = {"quantile": 0.9, "tolerance": 2, "null": null, "times": quakes.days[:900]}
        result = nf.evaluate(quakes.truth[:900], scores[:900], **about)
        found = result.needed(power=0.9)
        again = needed_like(json.loads(result.to_json()), 0.9, None, None)
        assert again == found
        assert found.null == null
        assert found.coverage == pytest.approx(result.coverage)
        one = found.answers[0]
        assert one.at == "estimate"
        assert one.recall == result.recall
        assert one.duration == pytest.approx(one.n_events / result.n_events * 900 * 86400)
        assert one.more == pytest.approx(max(one.n_events - result.n_events, 0) / result.n_events * 900 * 86400)
        low = next(one for one in found.answers if one.at == "lower limit")
        assert low.recall == result.interval().recall.low


def test_nulls_with_more_variance_need_more_events():
    """Twice the variance of chance, or half the size of the sample, takes about twice as many."""
    plain = present()
    wild = replace(plain, recall=replace(plain.recall, std=plain.recall.std * math.sqrt(2)))
    known = replace(wild, recall=replace(wild.recall, size=20.0))
    few, many, same = (needed(one, recall=0.5).answers[0].n_events for one in (plain, wild, known))
    assert 1.5 * few < many < 2.5 * few
    assert many == pytest.approx(same, abs=1)  # without an interval, hits depend on each other as chance's do


def test_what_cannot_be_told_has_a_reason():
    """Not above chance, no interval, no variance, nothing to go by."""
    below = needed(present(recall=0.15))
    assert all(one.n_events is None for one in below.answers)
    assert "not above what chance has" in str(below)
    alone = needed(replace(present(), recall=replace(present().recall, low=math.nan)))
    assert "an interval needs more episodes" in str(alone)
    fixed = replace(present().recall, std=0.0)
    assert "as many hits" in str(needed(replace(present(), recall=fixed, precision=fixed)))
    with pytest.raises(nf.InputError, match="say nothing about a longer series"):
        nf.evaluate([0, 0, 1, 0], predictions=[0, 0, 0, 0]).needed()
    with pytest.raises(nf.InputError, match="power"):
        needed(present(), power=1)
    with pytest.raises(nf.InputError, match="JSON of an evaluation"):
        present_of({"precision": 1})


def test_events_needed_uses_the_coverage_of_the_null():
    """Where busy hours have more events and more alarms, chance finds more than the share of steps near an alarm."""
    rng = np.random.default_rng(3)
    busy = np.arange(2400) % 24 < 6
    truth, alarms = (rng.random(2400) < np.where(busy, share, 0.005) for share in (0.06, 0.3))
    result = nf.evaluate(truth, predictions=alarms, null="seasonal:period=24", n_resamples=999, rng=1)
    found = result.events_needed(recall=0.6)
    assert found.coverage == pytest.approx(result.coverage)
    assert found.coverage > 1.5 * alarms.mean()


def test_a_comparison_says_how_many_more():
    """The closed formula by hand; JSON says the same; a difference that is told needs no more."""
    rng = np.random.default_rng(1)
    truth = rng.random(3000) < 0.03
    alarms = {
        name: (rng.random(3000) < 0.02) | (truth & (rng.random(3000) < p)) for name, p in (("a", 0.6), ("b", 0.45))
    }
    found = nf.compare(truth, predictions=alarms, tolerance=1, n_resamples=999, rng=1)
    answer = found.needed("recall").answers[0]
    one = found.difference(answer.first, answer.second, "recall")
    swapped = math.sqrt(one.error**2 + one.value**2 / one.n_units)
    factor = ((norm.ppf(0.975) * swapped + norm.ppf(0.8) * one.error) / one.value) ** 2
    assert answer.n_events == math.ceil(factor * truth.sum())
    assert answer.n_units == math.ceil(factor * one.n_units)
    assert answer.more == pytest.approx(max(factor - 1, 0) * 3000)
    assert needed_like(json.loads(found.to_json()), 0.8, None, None) == found.needed()
    held = found.needed("recall").answers[1]
    assert held.n_events is None or held.n_events > answer.n_events
    same = nf.compare(truth, predictions={"a": alarms["a"], "c": alarms["a"].copy()}, tolerance=1, rng=1).needed()
    assert "no variation" in str(same)


@pytest.mark.slow
@pytest.mark.parametrize("null", ["permutation", "circular-shift", "seasonal:period=24"])
def test_the_power_at_the_answer_is_what_was_asked_for(null):
    """Series of the answered length, from the same world, under the same null: not below, but for four errors.

    Nor far above: hits are whole numbers, so that the answered number lies in a dip of the power.
    """
    from needed import checked

    for target, _, promised, got in checked(null, 60, pilot=200_000):
        error = math.sqrt(0.8 * 0.2 / 60)
        assert 0.8 <= promised < 0.87, target
        assert 0.8 - 4 * error < got < 0.93 + 2 * error, target


def test_power_on_the_command_line_answers_like_a_result(tmp_path, capsys):
    """A table for people and JSON for programs; what is wrong is one line and exit code 2."""
    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth[:900], scores[:900], quantile=0.9, tolerance=2, null="permutation")
    path = tmp_path / "result.json"
    result.to_json(path)

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(["power", *map(str, arguments)])
        return stopped.value.code, capsys.readouterr()

    code, said = run("--like", path, "--power", "0.9", "--format", "json")
    assert code == 0
    assert json.loads(said.out) == json.loads(result.needed(power=0.9).to_json())
    assert "more time" in run("--like", path)[1].out
    path.write_text("{", encoding="utf-8")
    for arguments, words in (
        (("--like", path), "is not JSON"),
        (("--like", tmp_path / "none.json"), "cannot be read"),
        (("--like", path, "--coverage", "20%"), "--coverage"),
    ):
        code, said = run(*arguments)
        assert code == 2
        assert words in said.err
        assert said.err.count("\n") <= 2
    path.write_text('{"n": 1}', encoding="utf-8")
    assert "--like" in run("--like", path)[1].err
