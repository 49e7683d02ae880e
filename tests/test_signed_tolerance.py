"""Windows to one side of the event, where one side of the tolerance is negative: counts, laws, words, command line."""

import itertools
import json
from collections import Counter
from datetime import timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke import InputError, Tolerance
from nofluke.cli import main
from nofluke.laws.montecarlo import Hits, Problem, hits_of, simulate
from nofluke.series.clock import Clock, make_clock
from nofluke.series.detector import AlarmRule
from nofluke.series.reading import prepare
from nofluke.series.trial import Trial
from nofluke.show.report.grid import tolerances_around
from oracles import Case, cases

LEAD = Tolerance(early=3, late=-1)
FEW = settings(max_examples=60)


def asked(case: Case, **more):
    """What nofluke says to a case."""
    given_ = {"threshold": case.threshold, "tolerance": Tolerance(**case.tolerance_arguments)}
    return nf.evaluate(case.truth, case.scores, **given_ | data_of(case) | more)


def data_of(case: Case):
    return {"times": case.times_argument, "mask": case.mask_argument, "truth_as": "labels"}


def episodes_of(case: Case, alarms: list[int]) -> list[list[int]]:
    """Runs of alarms among the open steps."""
    rank = {t: i for i, t in enumerate(t for t in range(case.n) if case.open_steps[t])}
    runs: list[list[int]] = []
    for t in alarms:
        if runs and rank[t] == rank[runs[-1][-1]] + 1:
            runs[-1].append(t)
        else:
            runs.append([t])
    return runs


def hits(case: Case, events, predictions) -> tuple[int, int]:
    """Recall's and precision's hits, pair by pair; a prediction is one step or several."""
    found = sum(any(case.counts(p, q) for one in predictions for p in one) for q in events)
    return found, sum(any(case.counts(p, q) for p in one for q in events) for one in predictions)


def predictions_of(case: Case, count: str) -> list[list[int]]:
    alarms = case.alarms()
    return episodes_of(case, alarms) if count == "episodes" else [[t] for t in alarms]


# ---- what it is


@pytest.mark.parametrize(
    ("sides", "text", "plain"),
    [
        ({"early": "3h", "late": "-1h"}, "1h to 3h early", {"early": "3h", "late": "-1h"}),
        ({"early": timedelta(hours=-1), "late": "3h"}, "1h to 3h late", {"early": "-1h", "late": "3h"}),
        ({"early": "2h", "late": np.timedelta64(-2, "h")}, "2h early", {"early": "2h", "late": "-2h"}),
        ({"early": "- 1h30min", "late": "1.5h"}, "1.5h late", {"early": "-1.5h", "late": "1.5h"}),
        ({"early": 3, "late": -1}, "1 to 3 steps early", {"early": 3, "late": -1}),
        ({"early": -1, "late": 1}, "1 step late", {"early": -1, "late": 1}),
        ({"early": 1.0, "late": -0.5, "unit": "clock"}, "0.5 to 1 time unit early", {"early": 1.0, "late": -0.5}),
        ({"early": 3, "late": 0}, "0 to 3 steps early", {"early": 3, "late": 0}),
        ({"early": 0.0, "late": -0.0, "unit": "clock"}, "0 time units", 0.0),
    ],
)
def test_a_window_aside_prints_what_can_be_read_back(sides, text, plain):
    """In words from its near to its far end; in JSON both signed sides, which make the same tolerance again."""
    tolerance = Tolerance(**sides)
    assert (str(tolerance), tolerance.plain()) == (text, plain)
    again = json.loads(json.dumps(plain))
    again = again if isinstance(again, dict) else {"early": again, "late": again}
    assert Tolerance(**again, unit=sides.get("unit")) == tolerance
    assert tolerance.swapped().swapped() == tolerance


@pytest.mark.parametrize(
    ("early", "late", "unit"),
    [(-1, 0, None), (2, -3, None), ("1h", "-61min", None), (-0.5, 0.25, "clock"), (-(10**30), 10**29, None)],
)
def test_an_empty_window_is_refused_with_both_sides(early, late, unit):
    """The message shows both values, and a pair that works."""
    with pytest.raises(
        InputError, match=r"^early=.* and late=.* leave no window: early \+ late must be at least 0"
    ) as e:
        Tolerance(early=early, late=late, unit=unit)
    assert f"early={early!r} and late={late!r}" in str(e.value)
    assert 'early="3h" and late="-1h"' in str(e.value)


@pytest.mark.parametrize("value", [-1, "-1h", timedelta(hours=-1)])
def test_one_length_for_both_sides_is_not_negative(value):
    """Nor is a refractory time, a warmup or a rate's unit."""
    with pytest.raises(InputError, match=r"^tolerance=.*negative"):
        nf.evaluate([0, 1], [0, 1], threshold=1, tolerance=value)
    with pytest.raises(InputError, match=r"^refractory="):
        nf.evaluate([0, 1], [0, 1], threshold=1, refractory=value)
    with pytest.raises(InputError, match=r"^warmup="):
        nf.evaluate([0, 1], [0, 1], threshold=1, warmup=value, times=["2020-01-01", "2020-01-02"])


@pytest.mark.parametrize("text", ["-", "--1h", "-1h-30min", "1h-30min", "-h", "-1 hour", "- -1h"])
def test_a_minus_stands_before_the_whole_duration(text):
    """Once, and before something."""
    with pytest.raises(InputError, match=r"^late=.* is not a duration: write a number and a unit"):
        Tolerance(early="9h", late=text)


def test_rounding_alone_leaves_no_window_empty():
    """0.1 + 0.2 exceeds 0.3 by rounding; that is one instant, not less than nothing."""
    tolerance = Tolerance(early=0.3, late=-(0.1 + 0.2), unit="clock")
    assert str(tolerance) == "0.3 time units early"
    times = np.arange(8) / 10
    result = nf.evaluate(
        [0, 0, 0, 0, 1, 0, 0, 0], predictions=[0, 1, 0, 0, 0, 0, 0, 0], tolerance=tolerance, times=times
    )
    assert (result.recall_hits, result.precision_hits) == (1, 1)


def test_a_lag_moves_the_window():
    """Later by a positive lag; units must fit, but a plain 0 goes with any."""
    assert Tolerance(early=3, late=1).lagged(2) == Tolerance(early=1, late=3)
    assert Tolerance(early=3, late=1).lagged(-2) == Tolerance(early=5, late=-1)
    assert Tolerance(early="1h", late="1h").lagged("-2h") == Tolerance(early="3h", late="-1h")
    assert Tolerance(early="1h", late="1h").lagged(timedelta(hours=2)) == Tolerance(early="-1h", late="3h")
    assert Tolerance(early=0, late=0, unit="clock").lagged("2h") == Tolerance(early="-2h", late="2h")  # 0 has no unit
    assert Tolerance(early=1, late=1, unit="clock").lagged(0.5) == Tolerance(early=0.5, late=1.5, unit="clock")
    assert Tolerance(early=0, late=0).lagged("2h") == Tolerance(early="-2h", late="2h")
    for none in (0, "0s"):
        assert Tolerance(early="1h", late="2h").lagged(none) == Tolerance(early="1h", late="2h")
        assert Tolerance(early=1, late=2).lagged(none) == Tolerance(early=1, late=2)
    with pytest.raises(
        InputError, match=r"lag='2h' does not fit the tolerance of 1 step: pass a whole number of steps"
    ):
        Tolerance(early=1, late=1).lagged("2h")
    with pytest.raises(InputError, match=r"lag=2 does not fit the tolerance of 1h: pass a duration such as '2h'"):
        Tolerance(early="1h", late="1h").lagged(2)
    with pytest.raises(
        InputError, match=r"lag='2h' is a duration, but the tolerance of 1 time unit is a number: pass both"
    ):
        Tolerance(early=1, late=1, unit="clock").lagged("2h")


# ---- windows


def reached(ranges):
    return [list(range(a, b)) for a, b in zip(ranges.starts.tolist(), ranges.stops.tolist(), strict=True)]


@given(
    st.lists(st.integers(-100, 100), min_size=1, max_size=8, unique=True),
    st.integers(-150, 150) | st.just(10**30),
    st.integers(-150, 150) | st.just(-(10**30)),
    st.sampled_from(["steps", "s", "ms", "us", "ns", "clock", "tenths"]),
)
def test_windows_are_the_relation_of_the_definition(stamps, early, late, kind):
    """On steps and every clock, from the event and from the prediction; no length is too long; ends never descend."""
    late = max(late, -early)
    stamps = np.array(sorted(stamps)) if kind != "steps" else np.arange(len(stamps))
    n, clock = len(stamps), None
    when = stamps.tolist()
    counts = [[i for i, p in enumerate(when) if q - early <= p <= q + late] for q in when]
    if kind == "steps":
        tolerance = Tolerance(early=early, late=late)
    elif kind in ("clock", "tenths"):
        scale = 1 if kind == "clock" else 10
        clock = make_clock(stamps if kind == "clock" else stamps / 10, "times")
        tolerance = Tolerance(early=early / scale, late=late / scale, unit="clock")
    else:
        clock = make_clock(stamps.astype(f"datetime64[{kind}]"), "times")
        tolerance = Tolerance(early=f"{early}{kind}", late=f"{late}{kind}")
    for ranges, expected in (
        (tolerance.prediction_ranges(n, clock), counts),
        (tolerance.event_ranges(n, clock), [[q for q in range(n) if p in counts[q]] for p in range(n)]),
    ):
        assert reached(ranges) == expected
        assert (np.diff(ranges.starts) >= 0).all()
        assert (np.diff(ranges.stops) >= 0).all()
        assert (ranges.starts <= ranges.stops).all()
        assert 0 <= ranges.starts.min() <= ranges.stops.max() <= n


EDGES = [-(2**63), -(2**63) + 1, -5, 0, 7, 2**63 - 2, 2**63 - 1]


@given(
    st.lists(st.sampled_from(EDGES), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(EDGES), min_size=1, max_size=4),
    st.sampled_from([0, 1, 6, 2**63 - 1, 2**63, 2**64 - 1]),
    st.sampled_from([0, 1, 6, 2**63 - 1, 2**63, 2**64 - 1]),
    st.sampled_from([-1, 0, 1]),
)
def test_whole_ticks_never_overflow(stamps, events, near, far, turned):
    """The longest clock that there is, events outside of it, and windows as long, before, around and behind."""
    near, far = sorted((near, far))
    early, late = {-1: (far, -near), 0: (near, far), 1: (-near, far)}[turned]
    ticks = np.array(sorted(stamps), dtype=np.int64)
    at = np.array(sorted(events), dtype=np.int64)
    starts, stops = Clock(ticks=ticks, unit=None).windows_around(at, at, early, late)
    for q, start, stop in zip(at.tolist(), starts.tolist(), stops.tolist(), strict=True):
        expected = [i for i, p in enumerate(ticks.tolist()) if q - early <= p <= q + late]
        assert list(range(start, stop)) == expected


def test_a_window_between_two_ticks_holds_none():
    """1.5 s before the event is no whole second: dates in seconds have nothing there."""
    times = np.arange(6).astype("datetime64[s]")
    tolerance = Tolerance(early="1500ms", late="-1500ms")
    result = nf.evaluate([0, 0, 0, 1, 0, 0], predictions=[1] * 6, times=times, tolerance=tolerance)
    assert (result.recall_hits, result.precision_hits) == (0, 0)
    assert "1 of 1 event cannot be found: no step that counts lies in its window (1.5s early)." in result.notes


# ---- counts


@given(case=cases(signed=True))
def test_counts_are_those_of_all_pairs(case):
    """Both tables, delays and what was found, on masks and clocks of every kind."""
    result = asked(case)
    first, second = (
        (m.tp, m.fp, m.fn, m.tn) for m in (result.tolerant_truth, result.tolerant_predictions) if m is not None
    )
    assert (first, second) == case.tables()
    assert result.delays.found.tolist() == case.found()
    expected = [np.nan if d is None else float(d) for d in case.delays()]
    np.testing.assert_allclose(result.delays.values, expected, rtol=1e-9, atol=1e-9)


@given(case=cases(signed=True), other=cases(max_steps=1, clocks=("none",), signed=True))
@pytest.mark.slow
def test_all_thresholds_at_once_count_as_each_by_itself(case, other):
    """By sorting, for steps and for episodes, beside another tolerance that lies aside, too."""
    levels = list(range(-3, 6))
    both = (Tolerance(**case.tolerance_arguments), Tolerance(early=other.early, late=other.late))
    for count in ("steps", "episodes"):
        curve = nf.sweep(
            case.truth,
            case.scores,
            thresholds=levels,
            tolerances=both,
            count_alarms=count,
            null="bernoulli" if count == "steps" else "permutation",
            **data_of(case),
        )
        for k, level in enumerate(levels):
            alarms = case.alarms(level)
            predictions = episodes_of(case, alarms) if count == "episodes" else [[t] for t in alarms]
            found = curve.recall_hits[0, k], curve.precision_hits[0, k]
            assert (found, curve.n_predictions[k]) == (hits(case, case.events, predictions), len(predictions))
            one = asked(case, threshold=level, tolerance=both[1], count_alarms=count)
            assert (one.recall_hits, one.precision_hits) == (curve.recall_hits[1, k], curve.precision_hits[1, k])


@given(data=st.data())
def test_ranges_are_found_from_before_their_start_to_before_their_end(data):
    """From start - early to end + late on a clock of dates or floats, the ends lying on steps or between them."""
    gaps = data.draw(st.lists(st.integers(1, 4), min_size=3, max_size=14))
    ticks = np.cumsum(gaps)
    edges = data.draw(st.lists(st.integers(int(ticks[0]), int(ticks[-1])), min_size=2, max_size=6, unique=True))
    pairs = list(zip(*[iter(sorted(edges))] * 2, strict=False))
    far = data.draw(st.integers(0, 8))
    early, late = data.draw(st.permutations([far, -data.draw(st.integers(0, far))]))
    alarms = data.draw(st.lists(st.booleans(), min_size=len(ticks), max_size=len(ticks)))
    if data.draw(st.booleans()):
        times, truth = ticks.astype("datetime64[h]"), [tuple(np.array(p).astype("datetime64[h]")) for p in pairs]
        tolerance = Tolerance(early=f"{early}h", late=f"{late}h")
    else:
        times, truth = ticks / 10, [(a / 10, b / 10) for a, b in pairs]
        tolerance = Tolerance(early=early / 10, late=late / 10, unit="clock")
    result = nf.evaluate(
        truth, predictions=alarms, times=times, tolerance=tolerance, truth_as="times", null="circular-shift"
    )
    when = [t for t, alarm in zip(ticks.tolist(), alarms, strict=True) if alarm]
    counts = [[a - early <= p <= b + late for p in when] for a, b in pairs]
    assert result.recall_hits == sum(map(any, counts))
    assert result.precision_hits == sum(map(any, zip(*counts, strict=True)))
    assert result.recall_test.law.size == len(pairs)


@given(case=cases(clocks=("none", "ints"), signed=True), count=st.sampled_from(["steps", "episodes"]))
def test_mirrored_time_with_swapped_sides_is_the_same(case, count):
    """Hits and both exact p-values."""
    tolerance = Tolerance(**case.tolerance_arguments)
    times = case.times_argument
    result = asked(case, count_alarms=count, null="permutation")
    turned = nf.evaluate(
        case.truth[::-1],
        case.scores[::-1],
        threshold=case.threshold,
        tolerance=tolerance.swapped(),
        times=None if times is None else -times.astype(np.int64)[::-1],
        mask=case.mask_argument[::-1],
        truth_as="labels",
        count_alarms=count,
        null="permutation",
    )
    for side in ("precision_test", "recall_test"):
        assert getattr(turned, side).hits == getattr(result, side).hits
        assert getattr(turned, side).pvalue == pytest.approx(getattr(result, side).pvalue, rel=1e-9)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(-9, 9),
)
def test_alarms_moved_by_the_lag_are_as_the_window_moved(pairs, early, late, lag):
    """Away from the borders, where nothing falls off."""
    pad = [0] * 15
    truth = np.array([*pad, *(int(e) for e, _ in pairs), *pad])
    alarms = np.array([*pad, *(int(a) for _, a in pairs), *pad])
    tolerance = Tolerance(early=early, late=late)
    here = nf.evaluate(truth, predictions=alarms, tolerance=tolerance)
    moved = nf.evaluate(truth, predictions=np.roll(alarms, lag), tolerance=tolerance.lagged(lag))
    assert (here.recall_hits, here.precision_hits) == (moved.recall_hits, moved.precision_hits)


def test_the_nearest_alarm_that_counts_tells_the_delay():
    """One on the event's own step does not count, and is told only where none counts."""
    truth, alarms = [0, 0, 0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0, 0, 0]
    assert nf.evaluate(truth, predictions=alarms, tolerance=LEAD).delays.values.tolist() == [-2.0]
    assert nf.evaluate(truth, predictions=alarms, tolerance=LEAD.swapped()).delays.values.tolist() == [0.0]


# ---- chance


def slow_law(case: Case, count: str) -> Counter:
    """Both hits of every placement of the events on open steps."""
    steps = [t for t in range(case.n) if case.open_steps[t]]
    placed = list(itertools.combinations(steps, len(case.events)))
    return Counter(hits(case, events, predictions_of(case, count)) for events in placed)


@FEW
@given(case=cases(max_steps=9, signed=True), count=st.sampled_from(["steps", "episodes"]))
def test_the_permutation_is_exact(case, count):
    """Both laws, their moments and the joint law, also for episodes with holes in windows; simulation counts alike."""
    result = asked(case, count_alarms=count, null="permutation", method="exact")
    law = slow_law(case, count)
    total = law.total()
    for at, test in enumerate((result.recall_test, result.precision_test)):
        table = [Fraction(sum(c for pair, c in law.items() if pair[at] == k), total) for k in range(test.of + 1)]
        np.testing.assert_allclose(test.law.table, list(map(float, table)), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(test.pvalue, float(sum(table[test.hits :])), rtol=1e-9)
        mean = sum(k * p for k, p in enumerate(table))
        assert test.expected == pytest.approx(float(mean), abs=1e-12)
        assert test.std**2 == pytest.approx(float(sum((k - mean) ** 2 * p for k, p in enumerate(table))), abs=1e-9)
    joint = result.settings.null.joint(result.cell)
    found = {
        (r, c): w for r, c, w in zip(joint.recall_hits, joint.precision_hits, joint.weights, strict=True) if w > 1e-15
    }
    assert found == pytest.approx({pair: c / total for pair, c in law.items()}, rel=1e-9)
    steps = [t for t in range(case.n) if case.open_steps[t]]
    rows = np.array(list(itertools.combinations(range(len(steps)), len(case.events))), dtype=np.int64)
    counted = hits_of(Problem.of(result.cell.trial), rows)
    assert Counter(zip(counted.recall[:, 0, 0], counted.precision[:, 0, 0], strict=True)) == law
    own = hits_of(Problem.of(result.cell.trial), result.cell.truth.starts[np.newaxis])
    assert (own.recall[0, 0, 0], own.precision[0, 0, 0]) == (result.recall_hits, result.precision_hits)


@FEW
@given(
    case=cases(max_steps=10, signed=True),
    count=st.sampled_from(["steps", "episodes"]),
    null=st.sampled_from(["circular-shift", "seasonal:period=2"]),
)
def test_rotations_and_seasons_are_counted_out(case, count, null):
    """Against brute force."""
    result = asked(case, count_alarms=count, null=null, method="exact")
    steps = [t for t in range(case.n) if case.open_steps[t]]
    n, own = len(steps), [steps.index(t) for t in case.events]
    if null == "circular-shift":
        placed = [[(t + s) % n for t in own] for s in range(n)]
    else:
        phases = [[i for i in range(n) if steps[i] % 2 == phase] for phase in (0, 1)]
        chosen = [itertools.combinations(some, len(set(own) & set(some))) for some in phases]
        placed = [[*a, *b] for a, b in itertools.product(*map(list, chosen))]
    law = Counter(hits(case, [steps[t] for t in sorted(row)], predictions_of(case, count)) for row in placed)
    for at, test in enumerate((result.recall_test, result.precision_test)):
        least = sum(c for pair, c in law.items() if pair[at] >= test.hits)
        assert test.pvalue == pytest.approx(least / law.total(), rel=1e-9)


def test_windows_of_an_episode_may_leave_a_hole():
    """Alarms run on across a gap in the times that is longer than the window: an event at its end is no hit."""
    times = np.array([0, 1, 2, 3, 20, 21, 22, 23, 24, 25])
    alarms = [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
    tolerance = Tolerance(early=2, late=-1, unit="clock")
    asked_ = {"predictions": alarms, "times": times, "tolerance": tolerance, "count_alarms": "episodes"}
    at = [nf.evaluate([t], **asked_, truth_as="positions").precision_hits for t in range(10)]
    assert at == [0, 0, 0, 1, 0, 1, 1, 0, 0, 0]
    cell = nf.evaluate([4], **asked_, truth_as="positions", null="permutation").cell
    assert cell.stretches.starts.tolist() == [3, 5]
    assert cell.windows.covered == 3
    assert cell.precision_hits == cell.recall_hits == 0


@pytest.mark.parametrize("every", [1, 4])
def test_an_episode_with_a_hole_is_hit_once_by_a_rotation(every):
    """Though two events lie in two stretches of its window."""
    times = np.array([0, 1, 2, 3, 20, 21, 22, 23, 24, 25])
    truth, alarms = np.array([0, 0, 0, 1, 0, 1, 0, 0, 0, 1]), [0, 0, 1, 1, 1, 0, 0, 1, 0, 0]
    more = {"times": times, "tolerance": Tolerance(early=2, late=-1, unit="clock"), "count_alarms": "episodes"}
    circle = 10 // every * every
    rolled = [np.append(np.roll(truth[:circle], s), truth[circle:]) for s in range(0, circle, every)]
    expected = [nf.evaluate(one, predictions=alarms, null="permutation", **more).precision_hits for one in rolled]
    found = nf.evaluate(truth, predictions=alarms, null=nf.nulls.CircularShift(every=every), **more)
    assert found.precision_hits == 2
    assert found.precision_test.law.counts.tolist() == np.bincount(expected, minlength=3).tolist()


def test_monte_carlo_agrees_with_the_exact_law():
    """On a thousand steps with a mask and an irregular clock, at several thresholds and tolerances at once."""
    rng = np.random.default_rng(5)
    n = 1000
    times = np.cumsum(rng.integers(1, 6, n)).astype("datetime64[m]")
    truth, scores, mask = rng.random(n) < 0.03, rng.normal(size=n), rng.random(n) < 0.1
    tolerances = (Tolerance(early="30min", late="-10min"), Tolerance(early="-5min", late="25min"))
    for count in ("steps", "episodes"):
        trial = Trial.of(
            prepare(truth, scores, times=times, mask=mask), tolerances, np.array([0.5, 1.5]), AlarmRule(count=count)
        )
        problem, observed = Problem.of(trial), Hits(precision=trial.precision_hits, recall=trial.recall_hits)
        found = simulate(problem, n_resamples=20_000, observed=observed, rng=1)
        for d, k in itertools.product(range(2), range(2)):
            laws = nf.nulls.Permutation().distributions(trial.cell(d, k), "exact")
            for side in ("precision", "recall"):
                law, tally = getattr(laws, side), getattr(found, side)
                assert abs(tally.mean[d, k] - law.mean) < 5 * law.std / 20_000**0.5
                p = law.upper(int(tally.observed[d, k]))
                assert abs(tally.at_least[d, k] / 20_000 - p) < 5 * (p * (1 - p) / 20_000) ** 0.5 + 1e-4


@pytest.mark.parametrize(
    "null",
    [
        "local-shift:reach=5",
        "local-permutation:windows=2",
        "interval-shuffle",
        "segments",
        "blocks:length=4",
        "bernoulli",
        "stationary",
        "auto",
    ],
)
def test_every_null_takes_a_window_aside(null):
    """One that holds no step, too, though there is nothing to be hit then."""
    rng = np.random.default_rng(3)
    truth, scores = rng.random(60) < 0.2, rng.normal(size=60)
    for tolerance in (LEAD, LEAD.swapped(), Tolerance(early=200, late=-100), Tolerance(early=4, late=-4)):
        result = nf.evaluate(truth, scores, quantile=0.7, tolerance=tolerance, null=null, n_resamples=99, rng=1)
        assert 0 < result.recall_test.pvalue <= 1
        assert 0 < result.precision_test.pvalue <= 1
        if tolerance.early == 200:
            assert result.precision_hits == result.recall_hits == 0
            assert result.precision_test.pvalue == result.recall_test.pvalue == 1


# ---- what is shown


def test_sentences_say_before_and_after():
    """Seen from the prediction and from the event; ranges, which have two ends, say it as windows around them do."""
    truth, alarms = [0, 0, 0, 1, 0, 0, 1, 1], [0, 1, 0, 0, 0, 0, 0, 1]
    text = str(nf.evaluate(truth, predictions=alarms, tolerance=LEAD))
    assert "tolerance 1 to 3 steps early" in text
    told = nf.evaluate(truth, predictions=alarms, tolerance=LEAD).sentences()
    assert told[0].startswith("1 of 2 predictions is 1 to 3 steps before an event;")
    assert told[1].startswith("1 of 3 events has a prediction 1 to 3 steps before it;")
    told = nf.evaluate(truth, predictions=alarms, tolerance=LEAD, count_events="ranges").sentences()
    assert told[0].startswith("1 of 2 predictions is near (1 to 3 steps early) a range;")


def test_events_that_nothing_can_find_are_remarked_on():
    """The first step has nothing before it."""
    result = nf.evaluate([1, 0, 0, 0, 1], predictions=[0, 1, 0, 0, 0], tolerance=LEAD)
    assert "1 of 2 events cannot be found: no step that counts lies in its window (1 to 3 steps early)." in result.notes


@pytest.mark.slow
def test_a_report_varies_the_width_and_keeps_the_distance(tmp_path):
    """Its tolerances begin as far from the event as the chosen one, which is among them; the page can be written."""
    around = tolerances_around(LEAD, 100)
    assert LEAD in around
    assert {t.late for t in around} == {-1}
    assert [t.early for t in around] == sorted({t.early for t in around})
    assert tolerances_around(LEAD.swapped(), 100) == tuple(t.swapped() for t in around)
    clock = Tolerance(early=0.7, late=-0.1, unit="clock")
    assert clock in tolerances_around(clock, 100)
    rng = np.random.default_rng(1)
    times = pd.date_range("2020-01-01", periods=300, freq="h")
    for tolerance in (LEAD, Tolerance(early="-1h", late="4h")):
        result = nf.evaluate(
            rng.random(300) < 0.1, rng.normal(size=300), quantile=0.9, tolerance=tolerance, times=times
        )
        result.report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert str(tolerance) in page
        sides = ", ".join(f"{name}={side!r}" for name, side in tolerance.plain().items())
        assert f"nf.Tolerance({sides})".replace("'", "&#39;") in page or f"nf.Tolerance({sides})" in page


def test_plots_and_diagnoses_take_a_window_aside():
    """Near an event are the steps in its window, which its own is not."""
    from matplotlib.figure import Figure

    truth, scores = [0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0]
    ax = nf.plot.timeline(truth, scores, threshold=1, tolerance=LEAD, ax=Figure().subplots())
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told[-4:] == ["events found: 1", "events missed: 0", "predictions that are hits: 1", "false alarms: 1"]
    rng = np.random.default_rng(2)
    diagnosis = nf.diagnose(rng.random(200) < 0.1, rng.normal(size=200), quantile=0.9, tolerance=LEAD)
    assert diagnosis.recommended.text


# ---- the command line


@pytest.fixture
def data_file(tmp_path):
    frame = pd.DataFrame({"t": pd.date_range("2020-01-01", periods=8, freq="h"), "e": [0, 0, 0, 1, 0, 0, 1, 0]})
    frame["z"] = [0, 1, 0, 0, 0, 0, 1, 0]
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return str(path)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    out = capsys.readouterr()
    return stopped.value.code, out.out, out.err


@pytest.mark.parametrize("late", [("--late", "-1h"), ("--late=-1h",)])
def test_a_negative_side_is_no_option(data_file, capsys, late):
    """-1h behind --late is its value, with or without an equals sign; JSON has the sign."""
    options = (data_file, "--truth", "e", "--scores", "z", "--threshold", "1", "--time", "t", "--early", "3h", *late)
    code, out, _ = run(capsys, "evaluate", *options, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["tolerance"] == {"early": "3h", "late": "-1h"}
    assert (found["precision"]["hits"], found["recall"]["hits"]) == (1, 1)
    assert run(capsys, "diagnose", *options)[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--late", "-1h"), "--early=0 and --late='-1h' leave no window: early + late must be at least 0"),
        (("--early", "1", "--late", "-3"), "--early=1 and --late=-3 leave no window"),
        (("--early", "1", "--late", "-1h"), "--early=1 and --late='-1h' must both be steps or both be durations"),
        (("--late", "-x"), "--late='-x' is not a duration"),
        (("--tolerance", "-2"), "--tolerance=-2 must be finite and not negative"),
    ],
)
def test_errors_name_the_options(data_file, capsys, options, message):
    """In one line, with exit code 2."""
    options = (data_file, "--truth", "e", "--scores", "z", "--threshold", "1", "--time", "t", *options)
    code, _, err = run(capsys, "evaluate", *options)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
