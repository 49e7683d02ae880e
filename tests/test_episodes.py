"""Episodes of alarms and the refractory time: counts, laws and sweeps against slow oracles."""

import itertools
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.errors import InputError
from nofluke.inference.sweep import familywise_test
from nofluke.laws.montecarlo import Problem, hits_of
from nofluke.nulls import Permutation, Seasonal
from nofluke.nulls.placements import draws, simulate_hits
from nofluke.series.clock import Clock
from nofluke.series.detector import AlarmRule, closing
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial
from oracles import Case, cases

EPISODES = AlarmRule(count="episodes")


def slow_closing(values, times, length):
    """Every pair of steps less than the length apart lifts what lies between to the lower of the two."""
    closed = list(values)
    for a, b in itertools.combinations(range(len(values)), 2):
        if times[b] - times[a] < length:
            for t in range(a, b + 1):
                closed[t] = max(closed[t], min(values[a], values[b]))
    return closed


def slow_runs(alarms, open_steps):
    """Predicted steps that follow one another among the open ones."""
    order = {t: i for i, t in enumerate(np.flatnonzero(open_steps).tolist())}
    episodes = []
    for t in alarms:
        if episodes and order[t] == order[episodes[-1][-1]] + 1:
            episodes[-1].append(t)
        else:
            episodes.append([t])
    return episodes


def slow_counts(case: Case, alarms):
    """Episodes, those of them that are hits, and events found."""
    episodes = slow_runs(alarms, case.open_steps)
    hits = sum(any(case.counts(p, q) for p in episode for q in case.events) for episode in episodes)
    found = sum(any(case.counts(p, q) for p in alarms) for q in case.events)
    return len(episodes), hits, found


def arguments(case: Case):
    return {"times": case.times_argument, "mask": case.mask_argument, "truth_as": "labels"}


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=14),
    st.lists(st.integers(1, 4), min_size=14, max_size=14),
    st.integers(1, 9),
)
def test_closing_fills_what_lies_between_close_alarms(values, steps, length):
    """At any spacing of the times, and for scores and alarms alike."""
    times = np.cumsum(steps)[: len(values)]
    clock = Clock(ticks=times, unit=None)
    assert closing(np.array(values, dtype=float), clock, length).tolist() == slow_closing(values, times, length)
    flags = [value > 1 for value in values]
    assert closing(np.array(flags), clock, length).tolist() == slow_closing(flags, times, length)


@given(case=cases())
def test_episodes_count_once_and_hit_if_any_step_does(case):
    """At one threshold and at all of them in a sweep, on clocks and under masks."""
    levels = range(-3, 6)
    alarms = {k: [t for t in range(case.n) if case.open_steps[t] and case.scores[t] >= k] for k in levels}
    tolerance = nf.Tolerance(**case.tolerance_arguments)
    expected = {k: slow_counts(case, alarms[k]) for k in levels}
    curve = nf.sweep(
        case.truth,
        case.scores,
        thresholds=list(levels),
        tolerances=tolerance,
        count_alarms="episodes",
        **arguments(case),
    )
    found = zip(
        curve.n_predictions.tolist(), curve.precision_hits[0].tolist(), curve.recall_hits[0].tolist(), strict=True
    )
    assert list(found) == list(expected.values())
    result = nf.evaluate(
        case.truth,
        case.scores,
        threshold=case.threshold,
        tolerance=tolerance,
        count_alarms="episodes",
        **arguments(case),
    )
    assert (result.n_predictions, result.precision_hits, result.recall_hits) == expected[case.threshold]
    assert result.false_alarms.count == result.n_predictions - result.precision_hits
    assert result.tolerant_truth is None
    given_alarms = nf.evaluate(
        case.truth,
        predictions=[int(z >= case.threshold) for z in case.scores],
        tolerance=tolerance,
        count_alarms="episodes",
        **arguments(case),
    )
    assert given_alarms.to_dict()["precision"] == result.to_dict()["precision"]


@given(case=cases(clocks=("none", "dates")), length=st.integers(1, 6))
def test_a_refractory_time_makes_one_episode_of_close_alarms(case, length):
    """In steps, counting masked ones, or in time; holes are filled and count for recall; at all thresholds."""
    rule, unit = length, 1
    if case.stamps is not None:
        unit = case.per_unit
        rule = timedelta(seconds=length)
    when = list(range(case.n)) if case.stamps is None else case.stamps
    steps = [t for t in range(case.n) if case.open_steps[t]]
    closed = slow_closing([case.scores[t] for t in steps], [when[t] for t in steps], length * unit)
    levels = range(-3, 6)
    expected = [slow_counts(case, [t for t, z in zip(steps, closed, strict=True) if z >= level]) for level in levels]
    tolerance = nf.Tolerance(**case.tolerance_arguments)
    curve = nf.sweep(
        case.truth, case.scores, thresholds=list(levels), tolerances=tolerance, refractory=rule, **arguments(case)
    )
    found = zip(
        curve.n_predictions.tolist(), curve.precision_hits[0].tolist(), curve.recall_hits[0].tolist(), strict=True
    )
    assert list(found) == expected
    result = nf.evaluate(
        case.truth, case.scores, threshold=case.threshold, tolerance=tolerance, refractory=rule, **arguments(case)
    )
    assert (result.n_predictions, result.precision_hits, result.recall_hits) == expected[case.threshold + 3]
    assert result.count_alarms == "episodes"


def placed(trial, events):
    """Both hits with the events somewhere else."""
    flags = np.zeros(trial.n_steps, dtype=bool)
    flags[list(events)] = True
    moved = trial.with_truth(trial.truth.moved(np.flatnonzero(flags)))
    return int(moved.recall_hits[0, 0]), int(moved.precision_hits[0, 0])


@pytest.mark.parametrize(("early", "late"), [(0, 0), (1, 0), (1, 2)])
def test_laws_of_episodes_are_those_of_all_placements(early, late):
    """Permutation: precision, recall, their joint law and moments; and seasons by enumeration."""
    alarms = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], dtype=bool)
    truth = np.array([0, 0, 1, 0, 0, 0, 0, 1, 1, 0])
    sequence = prepare(truth, predictions=alarms)
    trial = Trial.of(sequence, (Tolerance(early=early, late=late),), None, EPISODES)
    cell = trial.cell(0, 0)
    assert cell.n_predictions == 3
    pairs = Counter(placed(trial, events) for events in itertools.combinations(range(10), 3))
    total = sum(pairs.values())
    laws = Permutation().distributions(cell)
    for side, at in (("recall", 0), ("precision", 1)):
        law = getattr(laws, side)
        for hits in range(4):
            expected = sum(n for pair, n in pairs.items() if pair[at] >= hits) / total
            assert law.upper(hits) == pytest.approx(expected, abs=1e-12)
        values = np.repeat([pair[at] for pair in pairs], list(pairs.values()))
        moments = Permutation().moments(cell)[side]
        assert (moments.mean, moments.var) == pytest.approx((values.mean(), values.var()), abs=1e-12)
    joint = Permutation().joint(cell)
    found = zip(joint.recall_hits.tolist(), joint.precision_hits.tolist(), joint.weights.tolist(), strict=True)
    assert {(r, p): w for r, p, w in found} == pytest.approx({pair: n / total for pair, n in pairs.items()})

    strata = np.arange(10) % 2
    wanted = Counter(strata[truth == 1].tolist())
    kept = [
        placed(trial, events)[1]
        for events in itertools.combinations(range(10), 3)
        if Counter(strata[list(events)].tolist()) == wanted
    ]
    law = Seasonal(strata=strata).distributions(cell).precision
    assert [law.upper(k) for k in range(4)] == pytest.approx([float(np.mean(np.array(kept) >= k)) for k in range(4)])


def test_simulated_episodes_are_counted_placement_by_placement():
    """All cells of a trial at once, compiled or by a null's own draws, are what moving the events gives."""
    rng = np.random.default_rng(3)
    scores, truth = rng.integers(0, 5, 60).astype(float), rng.random(60) < 0.15
    sequence = prepare(truth, scores)
    tolerances = (Tolerance(early=0, late=0), Tolerance(early=1, late=2))
    trial = Trial.of(sequence, tolerances, np.array([1.0, 2.0, 3.0, 3.5, 4.0]), EPISODES)
    for null in (Permutation(), nf.nulls.IntervalShuffle()):
        rows = np.concatenate(list(draws(null, trial, 40, 5)))
        found = hits_of(Problem.of(trial), rows)
        for i, row in enumerate(rows):
            moved = trial.with_truth(trial.truth.moved(row))
            assert np.array_equal(found.precision[i], moved.precision_hits)
            assert np.array_equal(found.recall[i], moved.recall_hits)
        tally = simulate_hits(trial, null, 40, 5, histograms="all").precision
        assert np.array_equal(tally.total, found.precision.sum(axis=0))
    curve = nf.sweep(truth, scores, thresholds=[1, 2, 3, 4], tolerances=(0, 1), count_alarms="episodes")
    family = familywise_test(curve.trial, curve.null, beta=1.0, alpha=0.05, n_resamples=499, rng=1)
    exact = curve.chance.precision.pvalue
    assert family.precision_adjusted.shape == exact.shape
    assert (family.precision_adjusted >= exact - 0.1).all()
    simulated = nf.evaluate(
        truth, scores, threshold=3, tolerance=1, count_alarms="episodes", method="montecarlo", rng=1
    )
    assert simulated.precision_test.pvalue == pytest.approx(exact[1, 2], abs=0.03)


def test_one_f_test_of_episodes():
    """F_β takes episodes for predictions."""
    result = nf.evaluate([0, 1, 0, 0, 0, 0], predictions=[1, 1, 0, 0, 1, 0], count_alarms="episodes")
    assert (result.precision, result.recall, result.f1) == (0.5, 1.0, pytest.approx(2 / 3))
    # found with precision 1/2 where the event is on any of three steps of six
    assert result.f_test().pvalue == pytest.approx(0.5)


def test_equal_numbers_of_episodes_are_not_equal_alarms():
    """Thresholds share a law only where they predict the same steps."""
    curve = nf.sweep([0, 1, 0, 0, 0, 0], [1, 3, 1, 0, 0, 0], thresholds=[1, 3], count_alarms="episodes")
    assert curve.n_predictions.tolist() == [1, 1]
    assert curve.chance.recall.mean.tolist() == [[0.5, pytest.approx(1 / 6)]]


def test_words_of_episodes():
    """Tables, sentences and JSON say what is counted, and the matrix that has no meaning is absent."""
    result = nf.evaluate([0, 1, 0, 0, 0, 0], predictions=[1, 1, 0, 0, 1, 0], refractory=2, tolerance=1)
    assert "2 alarm episodes" in result.table().title
    assert "1 of 2 alarm episodes is within 1 step of an event" in str(result)
    told = result.to_dict()
    assert (told["count_alarms"], told["refractory"], told["tolerant_truth"]) == ("episodes", 2, None)
    curve = nf.sweep([0, 1, 0, 0], [1, 3, 1, 0], count_alarms="episodes")
    assert "episodes" in curve.table().columns
    assert curve.to_dict()["count_alarms"] == "episodes"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count_alarms": "runs"}, "count_alarms='runs' must be one of 'steps', 'episodes'"),
        (
            {"count_alarms": "steps", "refractory": 2},
            "refractory= merges several alarms into one, but count_alarms='steps'",
        ),
        ({"refractory": "2h"}, r"refractory=2h is a length of time, but the data has no clock of dates: pass times="),
        (
            {"refractory": nf.Tolerance(early=1, late=2)},
            "refractory=1 step early to 2 steps late has two sides: pass one",
        ),
        ({"refractory": -1}, "refractory=-1 must be a whole number of steps"),
        ({"refractory": 1.5}, "refractory=1.5 must be a whole number of steps"),
        (
            {"count_alarms": "episodes", "method": "binomial", "null": "permutation"},
            "the binomial treats every alarm as one step",
        ),
    ],
)
def test_settings_of_alarms_that_make_no_sense_say_why(options, message):
    """One line with the argument, the value and the remedy."""
    with pytest.raises(InputError, match=message):
        nf.evaluate([0, 1, 0], [1, 2, 3], threshold=2, **options)


@pytest.mark.parametrize("length", [-1, 0, 1.5])
def test_a_refractory_time_in_steps_is_a_whole_number(length):
    """The error speaks of the refractory time, not of tolerances."""
    with pytest.raises(nf.InputError, match=rf"refractory={length} must be a whole number of steps, 1 or more"):
        nf.evaluate([0, 1, 0], predictions=[0, 1, 0], refractory=length)
