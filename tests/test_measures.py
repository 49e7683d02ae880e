"""`evaluate` gives the paper's counts: every integer equals a slow transcription of the equations and tables."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nofluke as nf
from oracles import Case, cases, paper_precision, paper_recall, paper_tables, predicted


def entries(matrix: nf.Confusion) -> tuple[int, int, int, int]:
    """The four entries in the oracle's order."""
    return matrix.tp, matrix.fp, matrix.fn, matrix.tn


def both(result: nf.Evaluation) -> tuple:
    """Both matrices, as the oracle gives them."""
    return entries(result.tolerant_truth), entries(result.tolerant_predictions)


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
    return nf.evaluate(**{key: value for key, value in (arguments | other).items() if value is not None})


@given(
    pairs=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=25),
    threshold=st.integers(-1, 6),
)
def test_the_papers_equations_and_tables_hold_for_every_tolerance(pairs, threshold):
    """Equations 1 to 3 and Tables 1 and 2, for all δ from 0 to beyond the sequence."""
    truth, scores = [e for e, _ in pairs], [z for _, z in pairs]
    alarms = predicted(scores, threshold)
    for delta in range(len(pairs) + 2):
        result = nf.evaluate(truth, scores, threshold=threshold, tolerance=delta)
        assert both(result) == paper_tables(truth, alarms, delta)
        assert (result.precision_hits, result.n_predictions) == paper_precision(truth, alarms, delta)
        assert (result.recall_hits, result.n_events) == paper_recall(truth, alarms, delta)


@given(case=cases(clocks=("none",), signed=False))
def test_the_two_oracles_agree(case):
    """The oracle for all pairs of steps is the paper's where the paper says something: symmetric, no mask, no clock."""
    case = Case(**{**vars(case), "open_steps": [True] * case.n, "late": case.early})
    assert case.tables() == paper_tables(case.truth, predicted(case.scores, case.threshold), case.early)


@given(case=cases())
def test_counts_hold_with_windows_masks_and_clocks_of_every_kind(case):
    """Asymmetric windows, masked steps, irregular clocks of dates, whole numbers and floats: all entries and counts."""
    result = ask(case)
    assert both(result) == case.tables()
    assert result.n == sum(case.open_steps)
    assert result.n_events == len(case.events)
    assert result.n_predictions == len(case.alarms())
    assert result.left_out.masked == case.n - result.n
    assert result.left_out.events == sum(case.truth) - result.n_events
    assert result.left_out.missing == 0


@given(case=cases())
def test_ratios_are_hits_over_counts(case):
    """P_δ, R_δ and F1 are the correctly rounded ratios of the counts, or NaN where there is nothing to divide by."""
    result = ask(case)
    for value, hits, of in (
        (result.precision, result.precision_hits, result.n_predictions),
        (result.recall, result.recall_hits, result.n_events),
    ):
        assert type(value) is float
        assert value == hits / of if of else math.isnan(value)
    p, r = result.precision, result.recall
    if math.isnan(p) or math.isnan(r):
        assert math.isnan(result.f1)
    elif p + r == 0:
        assert result.f1 == 0
    else:
        assert result.f1 == pytest.approx(2 * p * r / (p + r), rel=1e-15)
        assert result.f_beta(0.5) == pytest.approx(1.25 * p * r / (0.25 * p + r), rel=1e-15)


@given(case=cases())
def test_alarms_count_as_the_scores_they_come_from(case):
    """predictions= with the steps where z >= τ gives what scores= and threshold= give."""
    alarms = [bool(flag) for flag in predicted(case.scores, case.threshold)]
    result = ask(case, scores=None, threshold=None, predictions=alarms)
    assert both(result) == case.tables()
    assert result.threshold is None


@given(case=cases(), data=st.data())
def test_event_positions_are_labels_in_short(case, data):
    """Positions in any order mean the labels at these steps."""
    positions = data.draw(st.permutations([t for t in range(case.n) if case.truth[t]]))
    result = ask(case, truth=np.array(positions, dtype=np.int64), truth_as="positions")
    assert both(result) == case.tables()


def times_within(case: Case, steps: list[int], data: st.DataObject) -> list[int]:
    """A time for each step, on it or before the next, in half nanoseconds or the unit of the stamps."""
    assert case.stamps is not None
    ends = [*case.stamps[1:], None]
    lengths = sorted(b - a for a, b in zip(case.stamps, case.stamps[1:], strict=False))
    if lengths:
        middle = len(lengths) // 2
        typical = lengths[middle] if len(lengths) % 2 else (lengths[middle - 1] + lengths[middle]) // 2
        ends[-1] = case.stamps[-1] + typical
    times = []
    for t in steps:
        room = 1 if ends[t] is None else ends[t] - case.stamps[t]
        times.append(case.stamps[t] + data.draw(st.integers(0, (room - 1) // 2)) * 2)
    return times


@given(case=cases(clocks=("dates",)), data=st.data())
def test_an_event_time_belongs_to_the_last_step_at_or_before_it(case, data):
    """Event times within their steps equal labels at tolerances in steps; times on the clock at any tolerance."""
    steps = data.draw(st.permutations([t for t in range(case.n) if case.truth[t]]))
    halves = times_within(case, steps, data)
    events = np.array([half // 2 for half in halves], dtype=np.int64).astype("datetime64[ns]")
    in_steps = nf.Tolerance(early=data.draw(st.integers(0, 3)), late=data.draw(st.integers(0, 3)))
    assert both(ask(case, truth=events, tolerance=in_steps)) == both(ask(case, tolerance=in_steps))
    on_time = np.asarray(case.times_argument)[np.array(steps, dtype=np.int64)]
    assert both(ask(case, truth=on_time)) == case.tables()


@given(case=cases(clocks=("dates",)), data=st.data())
def test_alarm_times_belong_to_the_last_step_at_or_before_them(case, data):
    """At tolerances in steps, alarm times equal alarms on their steps, with the truth as labels or as times."""
    alarms = [t for t, flag in enumerate(predicted(case.scores, case.threshold)) if flag]
    halves = times_within(case, alarms, data)
    stamps = np.array([half // 2 for half in halves], dtype=np.int64).astype("datetime64[ns]")
    given_alarms = {"scores": None, "threshold": None, "predictions": stamps}
    in_steps = nf.Tolerance(early=data.draw(st.integers(0, 3)), late=data.draw(st.integers(0, 3)))
    expected = both(ask(case, tolerance=in_steps))
    assert both(ask(case, **given_alarms, tolerance=in_steps)) == expected
    events = np.asarray(case.times_argument)[np.flatnonzero(case.truth)]
    assert both(ask(case, **given_alarms, truth=events, tolerance=in_steps)) == expected
    on_time = given_alarms | {"predictions": np.asarray(case.times_argument)[np.array(alarms, dtype=np.int64)]}
    assert both(ask(case, **on_time, truth=events)) == case.tables()


@given(case=cases(clocks=("ints", "floats")), data=st.data())
def test_event_times_on_a_clock_of_numbers(case, data):
    """Numbers read with truth_as="times" are times, whether the clock's numbers are whole or tenths."""
    steps = [t for t in range(case.n) if case.truth[t]]
    times = np.asarray(case.times_argument)[np.array(steps, dtype=np.int64)]
    if data.draw(st.booleans()) and case.times_argument.dtype.kind == "f":
        times = np.array([case.stamps[t] / 20 for t in steps])  # another rounding of the same tenths
    assert both(ask(case, truth=times, truth_as="times")) == case.tables()


@given(case=cases(), data=st.data())
def test_a_missing_score_or_label_is_a_masked_step(case, data):
    """NaN with missing="mask" leaves out what mask= would, in scores, in labels or in both."""
    in_scores = data.draw(st.lists(st.booleans(), min_size=case.n, max_size=case.n))
    scores, truth = np.array(case.scores, dtype=float), np.array(case.truth, dtype=float)
    closed = ~np.array(case.open_steps)
    scores[closed & in_scores] = np.nan
    truth[closed & ~np.array(in_scores)] = np.nan
    result = ask(case, truth=truth, scores=scores, mask=None, missing="mask")
    assert both(result) == case.tables()
    assert (result.left_out.missing, result.left_out.masked) == (int(closed.sum()), 0)


def test_a_step_left_out_for_two_reasons_is_left_out_once():
    """Masked and missing steps count as masked, whatever missing= says: both numbers add up to the steps left out."""
    for how in ("error", "mask"):
        result = nf.evaluate([0, 1, 0], [np.nan, 5, 1], threshold=5, mask=[True, False, False], missing=how)
        assert (result.left_out.masked, result.left_out.missing, result.left_out.steps, result.n) == (1, 0, 1, 2)


@given(case=cases(), level=st.floats(0, 1))
def test_a_quantile_is_one_of_the_scores_that_count(case, level):
    """quantile= gives the threshold np.quantile finds among open steps, and the counts of that threshold."""
    open_scores = [z for z, is_open in zip(case.scores, case.open_steps, strict=True) if is_open]
    result = ask(case, threshold=None, quantile=level)
    assert result.threshold == np.quantile(open_scores, level)
    assert result.quantile == level
    assert both(result) == case.tables(result.threshold)


def test_ties_at_the_threshold_are_all_predicted():
    """z >= τ, not z > τ: every step that ties is predicted."""
    assert nf.evaluate([0, 1, 0, 0], [3, 3, 3, 1], threshold=3).n_predictions == 3
    assert nf.evaluate([0, 1, 0, 0], [3, 3, 3, 1], quantile=1).n_predictions == 3


def test_border_steps_can_hit():
    """Zero padding: an event on the first or last step is found from inside the sequence, and never across its ends."""
    result = nf.evaluate([1, 0, 0, 0, 0, 1], predictions=[0, 1, 0, 0, 1, 0], tolerance=1)
    assert (result.precision_hits, result.recall_hits) == (2, 2)
    across = nf.evaluate([1, 0, 0, 0, 0, 0], predictions=[0, 0, 0, 0, 0, 1], tolerance=1)
    assert (across.precision_hits, across.recall_hits) == (0, 0)


@pytest.mark.parametrize(("early", "late", "hits"), [(0, 2, 1), (2, 0, 0), (0, 1, 0), (9, 2, 1), (9, 1, 0)])
def test_late_lets_a_prediction_come_after_its_event(early, late, hits):
    """A prediction two steps after the event needs late >= 2, for both measures alike."""
    result = nf.evaluate([0, 1, 0, 0], predictions=[0, 0, 0, 1], tolerance=nf.Tolerance(early=early, late=late))
    assert (result.precision_hits, result.recall_hits) == (hits, hits)


def test_many_event_times_in_a_step_are_one_event_and_said_to_be():
    """Events that share a step count once, and a note says how many were merged."""
    days = np.arange("2020-01-01", "2020-01-05", dtype="datetime64[D]")
    events = np.array(["2020-01-02T03", "2020-01-02T04", "2020-01-02T05"], dtype="datetime64[h]")
    result = nf.evaluate(events, [0, 1, 0, 0], threshold=1, times=days)
    assert (result.n_events, result.recall_hits) == (1, 1)
    assert any("2 event time(s) fall on a step" in note for note in result.notes)


@given(case=cases())
@example(case=None)
def test_undefined_values_are_noted(case):
    """NaN never comes without a word: no predictions and no events each have a note, and only they."""
    result = nf.evaluate([0], [0], threshold=1) if case is None else ask(case)
    text = " ".join(result.notes)
    assert ("precision is undefined" in text) is (result.n_predictions == 0)
    assert ("recall is undefined" in text) is (result.n_events == 0)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, np.float64(1)])
def test_zero_division_takes_the_place_of_undefined_values(value):
    """Precision without predictions, recall without events, F with neither: zero_division, as a float."""
    result = nf.evaluate([0, 0], [0, 0], threshold=1, zero_division=value)
    for undefined in (result.precision, result.recall, result.f1):
        assert undefined == value
        assert type(undefined) is float
    defined = nf.evaluate([0, 1], [0, 1], threshold=1, zero_division=value)
    assert (defined.precision, defined.recall, defined.f1) == (1, 1, 1)


def test_scores_of_every_size_are_no_trouble():
    """Scores at the ends of the float range: their distance overflows, the counts must not care."""
    result = nf.evaluate([0, 1, 0], [-1.5e308, 1.5e308, 0], threshold=1.5e308)
    assert (result.n_predictions, result.precision_hits) == (1, 1)


def test_to_dict_carries_the_counts_of_the_result():
    """The keys that are an interface hold the numbers of the attributes, and undefined ones are None."""
    result = nf.evaluate([0, 1, 0, 0, 1], [0, 0, 5, 7, 0], threshold=5, tolerance=1, mask=[1, 0, 0, 0, 0])
    plain = result.to_dict()
    assert (plain["n"], plain["n_events"], plain["n_predictions"]) == (4, 2, 2)
    assert (plain["threshold"], plain["tolerance"]) == (5.0, 1)
    assert {key: plain["precision"][key] for key in ("value", "hits", "of")} == {"value": 1.0, "hits": 2, "of": 2}
    assert {key: plain["recall"][key] for key in ("value", "hits", "of")} == {"value": 1.0, "hits": 2, "of": 2}
    assert plain["tolerant_truth"] == {"tp": 2, "fp": 0, "fn": 2, "tn": 0}
    assert plain["tolerant_predictions"] == {"tp": 2, "fp": 2, "fn": 0, "tn": 0}
    assert plain["left_out"] == {"missing": 0, "masked": 1, "warmup": 0, "events": 0}
    empty = nf.evaluate([0, 0], [0, 0], threshold=1).to_dict()
    assert empty["precision"]["value"] is None
    assert empty["recall"]["value"] is None
    assert empty["f1"] is None
