"""What must not change the counts, or only in one direction, whatever the data: reversal, shifts, transforms, masks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nofluke as nf
from oracles import NANOSECONDS, Case, cases


def ask(case: Case, **other) -> nf.Evaluation:
    """Put a random case to `evaluate`; ``other`` replaces arguments."""
    arguments = {
        "truth": case.truth,
        "scores": case.scores,
        "threshold": case.threshold,
        "tolerance": nf.Tolerance(**case.tolerance_arguments),
        "times": case.times_argument,
        "mask": case.mask_argument,
    }
    return nf.evaluate(**(arguments | other))


def matrices(result: nf.Evaluation) -> tuple[nf.Confusion, nf.Confusion]:
    """Both matrices: everything that is counted."""
    return result.tolerant_truth, result.tolerant_predictions


def mirrored(times: np.ndarray | None) -> np.ndarray | None:
    """The clock run backwards: first step last, gaps in reverse order."""
    if times is None:
        return None
    if times.dtype.kind == "M":
        return times[0] + (times[-1] - times[::-1])
    if times.dtype.kind == "f":  # tenths again, so that both clocks are rounded alike
        return np.round(10 * (times[-1] - times[::-1] + times[0])) / 10
    return times[0] + (times[-1] - times[::-1])


@given(case=cases())
def test_reversing_time_swaps_early_and_late(case):
    """A sequence read backwards, early and late exchanged, has the same matrices and delays of the same size."""
    forward = ask(case)
    backward = ask(
        case,
        truth=case.truth[::-1],
        scores=case.scores[::-1],
        times=mirrored(case.times_argument),
        mask=case.mask_argument[::-1],
        tolerance=nf.Tolerance(**case.tolerance_arguments).swapped(),
    )
    assert matrices(backward) == matrices(forward)
    assert backward.delays.found[::-1].tolist() == forward.delays.found.tolist()
    np.testing.assert_allclose(np.abs(backward.delays.values[::-1]), np.abs(forward.delays.values), rtol=0, atol=1e-9)


@given(case=cases(clocks=("none",)), places=st.integers(1, 30))
def test_shifting_within_calm_changes_nothing(case, places):
    """With calm longer than the tolerance around it, the sequence may stand anywhere: the same matrices."""
    calm = max(case.early, case.late)

    def between(before: int, after: int) -> nf.Evaluation:
        return ask(
            case,
            truth=[0] * before + case.truth + [0] * after,
            scores=[-9] * before + case.scores + [-9] * after,
            mask=[False] * before + case.mask_argument + [False] * after,
        )

    here, there = between(calm, calm + places), between(calm + places, calm)
    assert matrices(here) == matrices(there)
    np.testing.assert_array_equal(here.delays.values, there.delays.values)
    alone = ask(case)  # calm beside it changes no hit either, only how many steps there are
    assert (here.precision_hits, here.recall_hits) == (alone.precision_hits, alone.recall_hits)


@given(case=cases(clocks=("dates", "ints")), shift=st.integers(0, 10**6))
def test_shifting_the_clock_changes_nothing(case, shift):
    """What counts is time between steps, not the date."""
    times = case.times_argument
    wide = times if times.dtype.kind == "M" else times.astype(np.int64)
    moved = ask(case, times=wide + shift)
    assert matrices(moved) == matrices(ask(case))
    np.testing.assert_array_equal(moved.delays.values, ask(case).delays.values)


@given(case=cases(clocks=("dates",)))
def test_the_unit_of_the_clock_changes_nothing(case):
    """The same dates in nanoseconds give the same matrices, delays and rates."""
    coarse, fine = ask(case), ask(case, times=case.times_argument.astype("datetime64[ns]"))
    assert matrices(fine) == matrices(coarse)
    np.testing.assert_array_equal(fine.delays.values, coarse.delays.values)
    assert fine.false_alarms == coarse.false_alarms


@given(case=cases(clocks=("none",)), unit=st.sampled_from(list(NANOSECONDS)))
def test_on_a_regular_clock_steps_and_time_agree(case, unit):
    """A tolerance of k steps is one of k times the step, where steps are equally long."""
    times = np.arange(case.n).astype(f"datetime64[{unit}]")
    window = nf.Tolerance(
        early=np.timedelta64(case.early * NANOSECONDS[unit], "ns"),
        late=np.timedelta64(case.late * NANOSECONDS[unit], "ns"),
    )
    assert matrices(ask(case, times=times, tolerance=window)) == matrices(ask(case))


@given(case=cases(), scale=st.floats(0.1, 10), offset=st.integers(-5, 5))
def test_monotone_transforms_of_scores_change_nothing(case, scale, offset):
    """Any increasing map of scores and threshold leaves all counts: affine, exponential, ranks."""
    expected = matrices(ask(case))
    scores = np.array(case.scores, dtype=float)
    for transform in (lambda z: scale * z + offset, np.exp, lambda z: z**3, np.arctan):
        result = ask(case, scores=transform(scores), threshold=float(transform(np.float64(case.threshold))))
        assert matrices(result) == expected


@given(case=cases())
def test_monotone_transforms_leave_a_sweep_as_it_is(case):
    """A sweep sees only the order of scores: every count is that of their ranks."""
    scores = np.array(case.scores, dtype=float)
    ranks = np.unique(scores, return_inverse=True)[1]
    options = {
        "tolerances": [nf.Tolerance(**case.tolerance_arguments)],
        "times": case.times_argument,
        "mask": case.mask_argument,
    }
    one, other = nf.sweep(case.truth, scores, **options), nf.sweep(case.truth, ranks, **options)
    for name in ("n_predictions", "precision_hits", "recall_hits", "near_events", "near_predictions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(case=cases(clocks=("none",)), more_early=st.integers(0, 5), more_late=st.integers(0, 5))
def test_wider_tolerance_never_loses_a_hit(case, more_early, more_late):
    """Widening either side keeps every event found and every hit, in both measures and both marginals."""
    narrow = ask(case)
    wide = ask(case, tolerance=nf.Tolerance(early=case.early + more_early, late=case.late + more_late))
    assert wide.precision_hits >= narrow.precision_hits
    assert wide.recall_hits >= narrow.recall_hits
    assert wide.tolerant_truth.actual >= narrow.tolerant_truth.actual
    assert wide.tolerant_predictions.predicted >= narrow.tolerant_predictions.predicted
    assert (wide.delays.found >= narrow.delays.found).all()


@given(case=cases(clocks=("dates",)), more=st.integers(0, 10**12))
def test_wider_tolerance_in_time_never_loses_a_hit(case, more):
    """The same on a clock, by any number of nanoseconds."""
    narrow_window = nf.Tolerance(early=case.early // 2, late=case.late // 2, unit="ns")
    wide_window = nf.Tolerance(early=case.early // 2 + more, late=case.late // 2, unit="ns")
    narrow, wide = ask(case, tolerance=narrow_window), ask(case, tolerance=wide_window)
    assert (wide.delays.found >= narrow.delays.found).all()
    assert wide.precision_hits >= narrow.precision_hits


@given(case=cases())
def test_both_matrices_partition_the_steps_that_count(case):
    """Both sum to T, and keep the marginal that has no tolerance: predictions in one, events in the other."""
    result = ask(case)
    assert result.tolerant_truth.total == result.tolerant_predictions.total == result.n
    assert result.tolerant_truth.predicted == result.n_predictions
    assert result.tolerant_predictions.actual == result.n_events


@given(case=cases())
def test_both_measures_find_something_or_neither_does(case):
    """One relation: some prediction is a hit exactly if some event is found."""
    result = ask(case)
    assert (result.precision_hits > 0) is (result.recall_hits > 0)


@pytest.mark.parametrize(
    ("times", "width"),
    [
        ([0.0, 0.02, 0.03, 0.06, 0.09], 0.06999999999999994),
        ([23.38, 27.97, 76.63, 90.4, 98.04], 70.06999999999995),
        ([0.1, 0.2, 0.3, 0.7, 0.8], 0.1),
    ],
)
def test_one_relation_serves_both_measures_at_the_edge_of_rounding(times, width):
    """On a clock of floats, however a window's end is rounded: a prediction is a hit exactly if its event is found."""
    window = nf.Tolerance(early=width, late=width, unit="clock")
    steps = np.eye(len(times), dtype=bool)
    for event in steps:
        for alarm in steps:
            result = nf.evaluate(event, predictions=alarm, times=times, tolerance=window)
            assert result.precision_hits == result.recall_hits


@given(case=cases())
def test_exchanging_events_and_predictions_exchanges_the_measures(case):
    """Truth and alarms swapped, early and late swapped: precision becomes recall and the matrices are transposed."""
    alarms = [int(z >= case.threshold) for z in case.scores]
    result = ask(case)
    swapped = ask(
        case,
        truth=alarms,
        truth_as="labels",
        scores=None,
        threshold=None,
        predictions=case.truth,
        tolerance=nf.Tolerance(**case.tolerance_arguments).swapped(),
    )
    assert (swapped.precision_hits, swapped.recall_hits) == (result.recall_hits, result.precision_hits)
    for mine, theirs in (
        (result.tolerant_truth, swapped.tolerant_predictions),
        (result.tolerant_predictions, swapped.tolerant_truth),
    ):
        assert (mine.tp, mine.fp, mine.fn, mine.tn) == (theirs.tp, theirs.fn, theirs.fp, theirs.tn)


@given(case=cases(), more=st.sampled_from([0, 1, 10**12]))
def test_everything_hits_when_the_tolerance_spans_the_sequence(case, more):
    """δ >= T, or a duration of the whole clock: P and R are 1 if there are an event and a prediction."""
    assume(case.events and case.alarms())
    assert ask(case, tolerance=case.n + more).precision == ask(case, tolerance=case.n + more).recall == 1
    times = case.times_argument
    if times is None:
        return
    if times.dtype.kind == "M":
        window = nf.Tolerance(early=times[-1] - times[0], late=times[-1] - times[0])
    else:
        span = float(times[-1] - times[0]) + more
        window = nf.Tolerance(early=span, late=span, unit="clock")
    spanning = ask(case, tolerance=window)
    assert spanning.precision == spanning.recall == 1


@given(
    ticks=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8, unique=True).map(sorted),
    wide=st.floats(0, 1e300),
)
def test_no_rounding_of_a_clock_of_floats_stands_against_a_spanning_window(ticks, wide):
    """The first step is within the whole span of the last, and the last of the first, whatever the floats."""
    span = ticks[-1] - ticks[0] + wide
    window = nf.Tolerance(early=span, late=span, unit="clock")
    ends = [1] + [0] * (len(ticks) - 1)
    for truth, alarms in ((ends, ends[::-1]), (ends[::-1], ends)):
        result = nf.evaluate(truth, predictions=alarms, times=ticks, tolerance=window)
        assert (result.precision, result.recall) == (1, 1)


@given(first=cases(max_steps=10, clocks=("none",)), second=cases(max_steps=10, clocks=("none",)))
def test_matrices_add_up_over_sequences_apart(first, second):
    """Two sequences with a masked gap as long as the tolerance between them count as their sum."""
    second = replace(
        second,
        threshold=first.threshold,
        early=first.early,
        late=first.late,
        tolerance_arguments=first.tolerance_arguments,
    )
    gap = max(first.early, first.late)
    joined = ask(
        first,
        truth=first.truth + [0] * gap + second.truth,
        scores=first.scores + [99] * gap + second.scores,
        mask=first.mask_argument + [True] * gap + second.mask_argument,
    )
    parts = [ask(first), ask(second)]
    assert joined.tolerant_truth == sum(part.tolerant_truth for part in parts)
    assert joined.tolerant_predictions == sum(part.tolerant_predictions for part in parts)


@given(first=cases(max_steps=10, clocks=("ints",)), second=cases(max_steps=10, clocks=("ints",)))
def test_matrices_add_up_over_sequences_apart_in_time(first, second):
    """On a clock no steps are needed in between: only more time than the tolerance."""
    assume("unit" in first.tolerance_arguments)
    window = nf.Tolerance(**first.tolerance_arguments)
    one, two = np.asarray(first.times_argument, np.int64), np.asarray(second.times_argument, np.int64)
    times = np.concatenate([one - one[0], two - two[0] + (one[-1] - one[0]) + max(first.early, first.late) + 1])
    joined = ask(
        first,
        truth=first.truth + second.truth,
        scores=first.scores + second.scores,
        mask=first.mask_argument + second.mask_argument,
        times=times,
    )
    parts = [ask(first), ask(second, tolerance=window, threshold=first.threshold)]
    assert joined.tolerant_truth == sum(part.tolerant_truth for part in parts)
    assert joined.tolerant_predictions == sum(part.tolerant_predictions for part in parts)


@given(case=cases(clocks=("dates", "ints", "floats")))
def test_masking_equals_deleting_the_rows_on_a_clock(case):
    """Where tolerance is time, masked steps might as well not be in the data: the same matrices and delays."""
    assume("unit" in case.tolerance_arguments or not isinstance(case.tolerance_arguments["early"], int))
    kept = np.flatnonzero(case.open_steps)
    deleted = nf.evaluate(
        np.array(case.truth)[kept],
        np.array(case.scores)[kept],
        threshold=case.threshold,
        times=case.times_argument[kept],
        tolerance=nf.Tolerance(**case.tolerance_arguments),
    )
    masked = ask(case)
    assert matrices(deleted) == matrices(masked)
    np.testing.assert_array_equal(deleted.delays.values, masked.delays.values)


@given(case=cases(), data=st.data())
def test_masking_equals_calm_but_for_the_steps_themselves(case, data):
    """What stands on masked steps is ignored; as calm steps they change no hit, and only add to FN, FP and TN."""
    closed = ~np.array(case.open_steps)
    noise = data.draw(st.lists(st.integers(-9, 9), min_size=case.n, max_size=case.n))
    masked = ask(case)
    noisy = ask(
        case,
        truth=np.where(closed, np.array(noise) > 0, case.truth),
        scores=np.where(closed, noise, case.scores),
    )
    assert matrices(noisy) == matrices(masked)
    calm = ask(case, truth=np.where(closed, 0, case.truth), scores=np.where(closed, -9, case.scores), mask=None)
    assert (calm.precision_hits, calm.recall_hits) == (masked.precision_hits, masked.recall_hits)
    assert calm.n - masked.n == closed.sum()
    np.testing.assert_array_equal(calm.delays.values, masked.delays.values)


@given(case=cases(), data=st.data())
def test_more_predictions_never_lose_recall(case, data):
    """A lower threshold keeps every event that was found; hits of precision do not shrink either."""
    lower = case.threshold - data.draw(st.integers(0, 4))
    strict, lax = ask(case), ask(case, threshold=lower)
    assert (lax.delays.found >= strict.delays.found).all()
    assert lax.precision_hits >= strict.precision_hits


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float32, np.float64])
def test_the_type_of_labels_and_scores_changes_nothing(dtype):
    """0/1 labels of any type, scores of any type that holds them: one answer."""
    truth, scores = [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]
    expected = nf.evaluate(truth, scores, threshold=1, tolerance=1)
    result = nf.evaluate(np.array(truth, dtype), np.array(scores, dtype), threshold=1, tolerance=1)
    assert matrices(result) == matrices(expected)
    alarms = nf.evaluate(np.array(truth, dtype), predictions=np.array(scores, dtype), tolerance=1)
    assert matrices(alarms) == matrices(expected)
