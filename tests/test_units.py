"""Episodes of events and alarms as units: their counts against linking every pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.errors import InputError
from nofluke.measures.episodes import units_and_steps, units_of
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.trial import Trial
from oracles import Case, Lists, cases, runs_of, sides, slow_episodes

COUNTS = ("n_predictions", "precision_hits", "n_events", "recall_hits")


def marks_of(case: Case, threshold, episodes, ranges):
    """The events and the alarms of a case, by looking at every pair of them."""
    order = {t: i for i, t in enumerate(t for t in range(case.n) if case.open_steps[t])}
    alarms = case.alarms(threshold)
    told, events = [[p] for p in alarms], [[q] for q in case.events]
    if episodes:
        told = []
        for p in alarms:
            if told and order[p] == order[told[-1][-1]] + 1:
                told[-1].append(p)
            else:
                told.append([p])
    if ranges:
        cut = [[t for t in range(first, behind) if case.open_steps[t]] for first, behind in runs_of(case.truth)]
        events = [event for event in cut if event]

    def near(alarm, event):  # a range lasts from its first step to its last, and so does its window
        begin, end = case.when[event[0]] - case.early, case.when[event[-1]] + case.late
        return any(begin <= case.when[p] <= end for p in alarm)

    def mark(steps, scores):
        return case.when[steps[0]], case.when[steps[-1]], order[steps[0]], order[steps[-1]], True, scores

    return (
        [mark(event, any(near(alarm, event) for alarm in told)) for event in events],
        [mark(alarm, any(near(alarm, event) for event in events)) for alarm in told],
    )


def reach_of(early, late):
    """Both sides; where the window lies aside of the event, as far as it reaches."""
    return max(early + late, early, late)


@given(case=cases(), other=st.integers(-3, 5), episodes=st.booleans(), ranges=st.booleans())
def test_units_of_two_detectors_are_what_hangs_together(case, other, episodes, ranges):
    """Masks, clocks, ranges, alarm episodes and windows of all kinds: counts of every episode, and sums over them."""
    cuts = (case.threshold, other)
    sequence = prepare(
        case.truth,
        case.scores,
        times=case.times_argument,
        mask=case.mask_argument,
        truth_as="labels",
        count_events="ranges" if ranges else "steps",
    )
    tolerances = (nf.Tolerance(**case.tolerance_arguments),)
    rule = AlarmRule(count="episodes" if episodes else "steps")
    cells = tuple(Trial.of(sequence, tolerances, np.array([float(cut)]), rule).cell(0, 0) for cut in cuts)
    units = units_of(cells)
    events, alarms = zip(*(marks_of(case, cut, episodes, ranges) for cut in cuts), strict=True)
    assert [[tuple(row) for row in own] for own in units.tolist()] == slow_episodes(
        events, alarms, reach_of(case.early, case.late)
    )
    for cell, own in zip(cells, units.sum(axis=1), strict=True):
        assert own.tolist() == [getattr(cell, name) for name in COUNTS]
    again, steps = units_and_steps(cells, tuple(cell.alarm_flags for cell in cells))
    np.testing.assert_array_equal(again, units)
    assert steps.sum(axis=1).tolist() == [len(cell.alarms) for cell in cells]
    if not episodes:
        np.testing.assert_array_equal(steps, units[:, :, 0])


@given(data=st.data(), both=sides(6), edges=st.sampled_from(["zero", "interior"]), double=st.booleans())
def test_units_of_lists_of_times_are_what_hangs_together(data, both, edges, double):
    """Events and alarms at their own times, whether they count or not, with a gap in the watched time."""
    early, late = both
    times = st.lists(st.integers(0, 30).filter(lambda t: not 12 <= t <= 15), max_size=8, unique=not double)
    times = times.filter(lambda drawn: len(drawn) < 3 or max(drawn) > 1)  # zeros and ones are refused as labels
    lists = Lists(sorted(data.draw(times)), sorted(data.draw(times)), early, late, 0, 30, ((12, 15),))
    tolerance = nf.Tolerance(early=early, late=late, unit="clock")
    how = {"span": (0, 30), "gaps": [(12, 15)], "tick": 1, "edges": edges, "null": "permutation", "rng": 1}
    result = nf.coincidence(lists.events, lists.alarms, tolerance=tolerance, duplicates="count", n_resamples=1, **how)
    inner = edges == "interior"
    counted = lists.inner_events(lists.events) if inner else lists.events
    alarms = lists.inner_alarms() if inner else lists.alarms
    # no steps: far from each other in that measure
    marks = (
        [(q, q, -9 * q, -9 * q, q in counted, any(lists.counts(p, q) for p in lists.alarms)) for q in lists.events],
        [(p, p, -9 * p, -9 * p, p in alarms, any(lists.counts(p, q) for q in lists.events)) for p in lists.alarms],
    )
    units = units_of((result.cell,))
    assert [tuple(row) for row in units[0].tolist()] == slow_episodes([marks[0]], [marks[1]], reach_of(early, late))[0]
    assert units.sum(axis=(0, 1)).tolist() == [getattr(result, name) for name in COUNTS]


def test_ranges_chain_from_their_own_ends_on_the_clock():
    """A range that ends between two steps reaches from there; a tolerance in steps counts from its last step."""
    times = np.arange("2024-03-01", "2024-03-21", dtype="datetime64[D]").astype("datetime64[s]")
    alarms = np.isin(np.arange(20), [5, 12])
    truth = [("2024-03-02", "2024-03-04T23:00")]

    def units(tolerance):
        return units_of((nf.evaluate(truth, predictions=alarms, times=times, tolerance=tolerance).cell,))[0].tolist()

    assert units("30min") == [[0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    assert units("12h30min") == [[1, 0, 1, 0], [1, 0, 0, 0]]  # 25 hours apart
    assert units("12h29min") == [[0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    assert units(1) == [[1, 0, 1, 0], [1, 0, 0, 0]]


def test_neighbouring_steps_are_one_episode_without_any_tolerance():
    """A run of labels is one thing that happened, even where only its own steps count."""
    result = nf.evaluate([0, 1, 1, 1, 0, 0, 1], predictions=[0, 0, 0, 1, 0, 0, 1])
    assert units_of((result.cell,))[0].tolist() == [[1, 1, 3, 1], [1, 1, 1, 1]]


def test_detectors_of_different_series_have_no_common_episodes():
    """Other events, other steps or another tolerance are refused in words."""
    one, longer, moved = (nf.evaluate(t, predictions=t).cell for t in ([0, 1, 0], [0, 1, 0, 0], [1, 0, 0]))
    wider = nf.evaluate([0, 1, 0], predictions=[0, 1, 0], tolerance=1).cell
    for other in (longer, moved, wider):
        with pytest.raises(InputError, match="cells must be of one series, with the same events, steps and tolerance"):
            units_of((one, other))
    with pytest.raises(InputError, match="cells is empty"):
        units_of(())
