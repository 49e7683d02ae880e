"""Power and sample size: exact for recall, simulated for precision, and what an evaluation says of events to come."""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import recall_power
from nofluke.errors import InputError
from nofluke.inference.power import _certain, as_coverage, as_plan, near_events
from nofluke.laws.exact.hypergeometric import critical_hits
from nofluke.laws.tables import hypergeometric

RECALLS = (0.4, 0.5, 0.6, 0.7, 0.8)


def fresh(n_steps, n_events, every, rng):
    """Labels on random steps, and an alarm on every so many steps."""
    truth = np.zeros(n_steps, dtype=int)
    truth[rng.choice(n_steps, n_events, replace=False)] = 1
    return truth, (np.arange(n_steps) % every == 0).astype(int)


class TestPower:
    """`nf.power`."""

    @settings(max_examples=60)
    @given(st.data())
    def test_recalls_power_is_that_of_fractions(self, data):
        """Critical hits and the binomial tail, against whole numbers and fractions."""
        n_steps = data.draw(st.integers(3, 60))
        covered = data.draw(st.integers(1, n_steps - 1))
        n_events = data.draw(st.integers(1, n_steps - 1))
        recall = data.draw(st.integers(1, 20).filter(lambda r: r * n_events <= 20 * covered)) / 20
        alpha = data.draw(st.sampled_from((0.001, 0.01, 0.05, 0.3, 0.7)))
        found = nf.power(recall=recall, coverage=covered / n_steps, n_events=n_events, n_steps=n_steps, alpha=alpha)
        exact = recall_power(Fraction(repr(recall)), n_steps, covered, n_events, Fraction(repr(alpha)))
        assert found.power == pytest.approx(float(exact), rel=1e-11, abs=1e-300)
        assert (found.error, found.method.kind) == (0.0, "exact")

    @settings(max_examples=60)
    @given(
        st.integers(2, 3_000),
        st.floats(0.001, 0.999),
        st.floats(0.001, 0.999),
        st.sampled_from((1e-200, 1e-9, 0.05, 0.6)),
    )
    def test_critical_hits_need_no_whole_table(self, n_steps, cover, events, alpha):
        """The hits around the mode say the same as the whole law, whose critical value may lie beyond its end."""
        covered, n_events = max(1, round(cover * n_steps)), max(1, round(events * n_steps))
        law = hypergeometric(n_steps, covered, n_events)
        whole = law.critical_value(alpha)
        possible = whole is not None and whole <= min(n_events, covered)
        assert critical_hits(n_steps, covered, n_events, alpha) == (max(whole, law.ends[0]) if possible else None)

    def test_the_power_is_how_often_evaluations_come_out_significant(self):
        """Detectors that find each event with the stated probability, evaluated one by one."""
        rng, runs = np.random.default_rng(5), 400
        stated = nf.power(recall=0.5, coverage=0.3, n_events=20, n_steps=200)
        near = np.arange(200) < 60
        rejected = 0
        for _ in range(runs):
            hits = rng.binomial(20, 0.5)
            truth = np.zeros(200, dtype=int)
            truth[rng.choice(60, hits, replace=False)] = 1
            truth[60 + rng.choice(140, 20 - hits, replace=False)] = 1
            result = nf.evaluate(truth, predictions=near, null="permutation")
            rejected += result.recall_test.pvalue <= 0.05
        assert abs(rejected / runs - stated.power) < 4 * math.sqrt(0.25 / runs)

    def test_it_grows_with_recall_and_with_the_level(self):
        """And never leaves 0 to 1."""
        of = [
            [nf.power(recall=r / 20, coverage=0.3, n_events=15, alpha=a).power for r in range(1, 21)]
            for a in (0.01, 0.05)
        ]
        assert (np.diff(of, axis=1) > 0).all()
        assert (np.diff(of, axis=0) >= 0).all()
        assert np.min(of) >= 0
        assert np.max(of) == 1

    def test_a_detector_without_skill_is_told_at_most_as_often_as_the_level(self):
        """Recall at the coverage is chance's own, but for the binomial in place of the hypergeometric."""
        found = nf.power(recall=0.2, coverage=0.2, n_events=10, n_steps=10**6)
        assert 0 < found.power <= 0.05
        assert "no skill to detect" in found.notes[0]

    @pytest.mark.parametrize(("recall", "n_events", "coverage", "n_steps"), [(1, 5, 0.5, 10), (0.07, 100, 0.035, 200)])
    def test_hits_may_take_up_all_the_room(self, recall, n_events, coverage, n_steps):
        """As many hits as steps near an alarm, also where a product of floats is a little more."""
        assert nf.power(recall=recall, n_events=n_events, coverage=coverage, n_steps=n_steps).power > 0
        with pytest.raises(InputError, match="cannot be near alarms that cover"):
            nf.power(recall=recall, n_events=n_events + 1, coverage=coverage, n_steps=n_steps)

    def test_nothing_can_be_told_from_one_event(self):
        """Power 0, with the smallest p in a note."""
        found = nf.power(recall=1, coverage=0.2, n_events=1, n_steps=100)
        assert (found.power, found.critical_hits, found.smallest_p) == (0.0, None, pytest.approx(0.2))
        assert found.notes == ("Not even 1 hit of 1 would be significant: the smallest p is 0.2.",)
        assert "Note: Not even" in str(found)

    @pytest.mark.parametrize(("recall", "n_events"), [(0.6, 10), (0.5, 19)])
    def test_fishers_noncentral_law_says_nearly_the_same(self, recall, n_events):
        """Hits that are drawn without replacement under skill too, with the same mean, change the power by .001."""
        from scipy.optimize import brentq
        from scipy.stats import nchypergeom_fisher

        found = nf.power(recall=recall, coverage=0.2, n_events=n_events)
        sizes = found.n_steps, round(0.2 * found.n_steps), n_events
        odds = brentq(lambda odds: nchypergeom_fisher.mean(*sizes, odds) - recall * n_events, 1, 100)
        assert nchypergeom_fisher.sf(found.critical_hits - 1, *sizes, odds) == pytest.approx(found.power, abs=0.001)

    def test_coverage_follows_from_alarms_on_single_random_steps(self):
        """1 - (1 - a)^(early + late + 1), and so it is on average; both give the same power."""
        window = nf.Tolerance(early=3, late=1)
        assert float(as_coverage(None, "5%", window)) == pytest.approx(1 - 0.95**5)
        alarms = np.random.default_rng(1).random(100_000) < 0.05
        result = nf.evaluate([100], predictions=alarms, tolerance=window, truth_as="positions")
        assert result.cell.covered / 100_000 == pytest.approx(1 - 0.95**5, abs=0.005)
        one = nf.power(recall=0.6, share_alarms=0.05, tolerance=window, n_events=12, n_steps=3_000)
        assert one == nf.power(recall=0.6, coverage=one.coverage, n_events=12, n_steps=3_000)

    def test_it_prints_itself_and_stays_as_it_is(self):
        """Frozen; the same numbers in text, HTML and JSON."""
        found = nf.power(recall=0.6, coverage="20%", n_events=10, n_steps=2_000)
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.power = 1.0
        assert "0.834" in repr(found)
        assert "5 hits" in found.table().markdown()
        assert "0.834" in found._repr_html_()
        told = json.loads(json.dumps(found.to_dict()))
        assert (told["power"], told["critical_hits"], told["seed"]) == (found.power, 5, None)


class TestPrecision:
    """Precision's power, by simulation."""

    def test_without_a_tolerance_it_is_the_binomial_tail(self):
        """One alarm, one event, one hit: precision's hits are hypergeometric too, and the power is known."""
        found = nf.power(
            precision=0.2, share_alarms=0.05, n_events=40, n_steps=400, tolerance=0, n_resamples=1_500, rng=3
        )
        exact = recall_power(Fraction(1, 5), 400, 40, 20, Fraction(1, 20))
        assert abs(found.power - exact) < 4 * found.error
        assert found.error == pytest.approx(math.sqrt(exact * (1 - exact) / 1_500), rel=0.1)

    def test_it_says_that_it_is_simulated_and_can_be_repeated(self):
        """Resamples, seed and standard error; the same seed, the same power."""
        settings = {"precision": 0.3, "share_alarms": 0.05, "tolerance": 2, "n_events": 5, "n_steps": 200}
        found = nf.power(**settings, n_resamples=50, rng=7)
        assert (found.method.kind, found.method.n_resamples, found.method.seed) == ("simulated", 50, 7)
        assert "50 resamples, seed 7" in str(found)
        assert found == nf.power(**settings, n_resamples=50, rng=7)
        assert 0 < found.error < 0.1
        fresh_seed = nf.power(**settings, n_resamples=20)
        assert fresh_seed == nf.power(**settings, n_resamples=20, rng=fresh_seed.method.seed)

    def test_a_detector_that_always_wins_has_an_error_nevertheless(self):
        """No run without significance is no certainty."""
        found = nf.power(precision=1, share_alarms=0.05, tolerance=1, n_events=20, n_steps=400, n_resamples=40, rng=1)
        assert (found.power, found.error > 0) == (1.0, True)

    def test_alarms_are_drawn_where_an_evaluation_counts_them_as_hits(self):
        """Earlier and later by unlike numbers of steps, up to the ends of the series."""
        window = nf.Tolerance(early=1, late=3)
        for events in ([0, 9, 11], [2, 19], [7]):
            near = near_events(np.array(events), 20, (1, 3))
            hits = [
                nf.evaluate(events, predictions=np.eye(20)[at], tolerance=window, truth_as="positions").precision_hits
                for at in range(20)
            ]
            assert near.astype(int).tolist() == hits

    def test_alarms_that_find_no_room_near_events_are_told(self):
        """Ten alarms cannot all lie on two events."""
        found = nf.power(precision=1, share_alarms=0.1, n_events=2, n_steps=100, n_resamples=10, rng=1)
        assert found.notes == (
            "In 10 runs there was not enough room for that many alarms near events, or away from them.",
        )


class TestSampleSize:
    """`nf.sample_size`."""

    @pytest.mark.parametrize(
        ("coverage", "needed"),
        [
            (0.05, (10, 5, 4, 4, 3)),
            (0.10, (16, 10, 6, 5, 3)),
            (0.20, (38, 19, 10, 7, 6)),
            (0.30, (155, 43, 19, 12, 9)),
            (0.50, (None, None, 169, 42, 18)),
        ],
    )
    def test_the_published_table(self, coverage, needed):
        """Events for a power of 80% at the 5% level, with 200 steps for each: the table of docs/howto/power.md."""
        found = [nf.sample_size(recall=recall, coverage=coverage, steps_per_event=200) for recall in RECALLS]
        assert tuple(one.n_events for one in found) == needed
        assert found == [nf.sample_size(recall=recall, coverage=coverage) for recall in RECALLS]

    @pytest.mark.parametrize(
        ("recall", "coverage", "per_event", "power", "alpha"),
        [(0.6, 0.2, 200, 0.8, 0.05), (0.5, 0.1, 7, 0.9, 0.01), (0.8, 0.5, 3, 0.5, 0.2), (1.0, 0.3, 10, 0.9, 0.05)],
    )
    def test_it_is_the_smallest_number_for_good(self, recall, coverage, per_event, power, alpha):
        """With fractions: one event fewer has less power, and none of the larger numbers has."""
        found = nf.sample_size(recall=recall, coverage=coverage, steps_per_event=per_event, power=power, alpha=alpha)
        exactly = [
            recall_power(Fraction(repr(recall)), per_event * m, round(Fraction(repr(coverage)) * per_event * m), m,
                         Fraction(repr(alpha)))
            for m in range(1, 3 * found.n_events)
        ]  # fmt: skip
        assert exactly[found.n_events - 2] < power
        assert min(exactly[found.n_events - 1 :]) >= power
        assert found.power == pytest.approx(float(exactly[found.n_events - 1]), rel=1e-11)
        assert [m for m, _ in found.curve] == list(range(1, found.n_events + 1))

    @settings(max_examples=25)
    @given(
        st.floats(0.02, 0.9), st.floats(0.05, 1.0), st.floats(0.3, 0.99), st.sampled_from((1e-6, 0.05, 0.3)),
        st.integers(1, 30), st.sampled_from((None, 500)),
    )  # fmt: skip
    def test_what_is_proven_is_true(self, coverage, above, power, alpha, more, n_steps):
        """Where the bound says that a power is reached for good, larger numbers of events have it."""
        recall = coverage + above * (1 - coverage)
        plan = as_plan(as_coverage(coverage, None, 0), n_steps, None)
        room = 2_000 if n_steps is None else min(int(plan.covered(1) / recall), 499)
        certain = next((m for m in range(1, room) if _certain(m, recall, plan, power, alpha)), None)
        if certain is None:
            return
        for m in {certain, certain + 1, certain + more, 2 * certain} & set(range(room)):
            steps = {"n_steps": n_steps} if n_steps else {}
            assert nf.power(recall=recall, coverage=coverage, n_events=m, alpha=alpha, **steps).power >= power
            assert _certain(m, recall, plan, power, alpha)

    @pytest.mark.parametrize("per_event", [2.4, 3, 50])
    @pytest.mark.parametrize(("recall", "coverage"), [(0.8, 0.5), (0.95, 0.41), (0.97, 0.45)])
    def test_the_bound_allows_for_rounding_to_whole_steps(self, recall, coverage, per_event):
        """Some share of hits has both inequalities of the theory with the coverage that whole steps have."""
        plan = as_plan(as_coverage(coverage, None, 0), None, per_event)
        between = {m: plan.covered(m) / plan.n_steps(m) for m in range(1, 150)}
        proven = [m for m in between if _certain(m, recall, plan, 0.8, 0.05)]
        assert proven == list(range(proven[0], 150))
        for m in proven:
            x = np.linspace(between[m], recall, 20_002)[1:-1]
            miss, alarm = (x * np.log(x / p) + (1 - x) * np.log((1 - x) / (1 - p)) for p in (recall, between[m]))
            assert ((m * alarm >= 0.9998 * math.log(20)) & (m * miss >= 0.9998 * math.log(5))).any()

    def test_a_fixed_number_of_steps_has_room_for_so_many_events(self):
        """Of twenty steps four are near an alarm: at most six events of which 60% are found."""
        found = nf.sample_size(recall=0.6, coverage=0.2, n_steps=20)
        assert (found.n_events, found.power, len(found.curve)) == (None, None, 6)
        assert found.reason.startswith(
            "No number of events is enough: the most for which that many fit near alarms, 6,"
        )
        enough = nf.sample_size(recall=0.6, coverage=0.2, n_steps=100)
        assert (enough.n_events, enough.n_steps, enough.steps_per_event) == (10, 100, None)

    def test_without_an_answer_it_says_why(self):
        """Recall at chance, or so near to it that nobody can wait for the answer."""
        no_skill = nf.sample_size(recall=0.2, coverage=0.2)
        assert (no_skill.n_events, no_skill.curve) == (None, ())
        assert "not above the coverage" in str(no_skill)
        close = nf.sample_size(recall=0.501, coverage=0.5)
        assert close.n_events is None
        assert "50,000 events searched" in close.reason

    def test_it_prints_itself_and_stays_as_it_is(self):
        """Frozen; the rows that matter, and the whole curve in JSON."""
        found = nf.sample_size(recall=0.6, coverage=0.2, n_steps=100)
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.n_events = 3
        assert [row[:2] for row in found.table().rows] == [
            ("first that can be significant", "2"),
            ("first with that power", "8"),
            ("last below", "9"),
            ("needed", "10"),
        ]
        assert "<SampleSize 10 events" in repr(found)
        assert "needed" in found._repr_html_()
        assert json.loads(json.dumps(found.to_dict()))["curve"][9] == [10, found.power]
        assert "<SampleSize none: 0.8 asked for" in repr(nf.sample_size(recall=0.4, coverage=0.5))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"recall": 0}, "recall=0 must be above 0 and at most 1"),
        ({"recall": 1.1}, "recall=1.1 must be above 0 and at most 1"),
        ({"coverage": 0}, "coverage=0 must be a share above 0 and below 1"),
        ({"coverage": None}, "describe the alarms: pass coverage=, the share"),
        ({"share_alarms": 0.1}, "describe the alarms: pass coverage=, the share"),
        ({"coverage": None, "share_alarms": 0.9, "tolerance": 500}, "share_alarms=0.9 leave no step out of reach"),
        ({"tolerance": "2h"}, "tolerance='2h' must be in steps"),
        ({"n_steps": 100, "steps_per_event": 5}, "pass either n_steps or steps_per_event"),
        ({"n_steps": 1}, "n_steps=1 must be a whole number of at least 2"),
        ({"steps_per_event": 0.5}, "steps_per_event=0.5 must be a number of at least 1"),
        ({"steps_per_event": 2}, "cannot be near alarms that cover"),
        ({"alpha": 0}, "alpha=0 must be between 0 and 1"),
    ],
)
@pytest.mark.parametrize("ask", [nf.power, nf.sample_size])
def test_wrong_arguments_are_answered_in_words(ask, wrong, message):
    """Argument, value and remedy."""
    given_ = {"recall": 0.6, "coverage": 0.2, **({"n_events": 10} if ask is nf.power else {})} | wrong
    with pytest.raises(InputError, match=message):
        ask(**given_)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"recall": None}, "pass either recall or precision"),
        ({"precision": 0.3}, "pass either recall or precision"),
        ({"n_events": 0}, "n_events=0 must be a whole number of at least 1"),
        ({"n_events": 10, "n_steps": 10}, "n_events=10 leave no free step of 10"),
        ({"recall": None, "precision": 0.3}, "precision needs the number of alarms: pass share_alarms="),
        ({"recall": None, "precision": 3, "coverage": None, "share_alarms": 0.1}, "precision=3 must be above 0"),
        (
            {"recall": None, "precision": 0.3, "coverage": None, "share_alarms": 1e-5},
            "share_alarms=1e-05 of 2,000 steps",
        ),
        (
            {"recall": None, "precision": 0.3, "coverage": None, "share_alarms": 0.1, "n_steps": 10**7},
            "n_steps=10000000 are too many to simulate",
        ),
    ],
)
def test_wrong_arguments_of_power_are_answered_in_words(wrong, message):
    """Argument, value and remedy."""
    with pytest.raises(InputError, match=message):
        nf.power(**{"recall": 0.6, "coverage": 0.2, "n_events": 10} | wrong)


def test_certainty_takes_more_events_than_there_are():
    """A power of 1 is refused."""
    with pytest.raises(InputError, match="power=1 must be above 0 and below 1"):
        nf.sample_size(recall=0.6, coverage=0.2, power=1)


class TestEventsNeeded:
    """`result.events_needed`, and the advice where nothing can be told."""

    def test_it_takes_coverage_and_steps_from_the_evaluation(self):
        """As `nf.sample_size` with the share of steps near an alarm, steps per event and level of the result."""
        truth, alarms = fresh(400, 4, 20, np.random.default_rng(1))
        result = nf.evaluate(truth, predictions=alarms, tolerance=1, null="permutation", alpha=0.01)
        found = result.events_needed(recall=0.6, power=0.9)
        covered = result.cell.covered / 400
        assert covered == pytest.approx(0.15, abs=0.005)
        assert found == nf.sample_size(recall=0.6, coverage=covered, steps_per_event=100, power=0.9, alpha=0.01)

    def test_without_a_recall_it_is_the_lower_limit_of_the_interval(self):
        """Never the observed recall, and a note says so."""
        truth, alarms = fresh(500, 15, 20, np.random.default_rng(1))
        truth[::40] = 1
        result = nf.evaluate(truth, predictions=alarms, tolerance=1, null="permutation")
        low = result.interval().recall.low
        found = result.events_needed()
        assert found.recall == low < result.recall
        assert found.n_events == result.events_needed(recall=low).n_events
        assert found.notes == ("The recall is the lower limit of the 95% interval, not the observed one.",)

    def test_without_an_interval_a_recall_must_be_stated(self):
        """Too few events, or an interval that begins at 0."""
        few = nf.evaluate(
            *fresh(400, 4, 20, np.random.default_rng(1))[:1], predictions=[0, 1] * 200, null="permutation"
        )
        with pytest.raises(
            InputError, match=r"Only 4 episodes hold events.*Pass recall=, the recall that would be worth finding"
        ):
            few.events_needed()
        truth, alarms = np.arange(1_000) % 50 == 7, np.arange(1_000) % 50 == 30
        with pytest.raises(InputError, match="goes down to 0: pass recall="):
            nf.evaluate(truth, predictions=alarms, null="permutation").events_needed()

    def test_ranges_count_by_how_often_chance_finds_them(self):
        """Longer events are found more often: with the coverage of single steps the answer would be too small."""
        truth, alarms = np.zeros(600, dtype=int), (np.arange(600) % 30 == 0).astype(int)
        for start in (40, 200, 333, 501):
            truth[start : start + 8] = 1
        result = nf.evaluate(truth, predictions=alarms, count_events="ranges", null="circular-shift", rng=1)
        found = result.events_needed(recall=0.8)
        assert found.coverage == pytest.approx(result.recall_test.expected / 4)
        assert found.coverage > 2 * result.cell.covered / 600
        assert found.notes[0].startswith("Ranges are treated as events that chance finds equally often")

    def test_another_null_is_said(self):
        """The reckoning is for events on random steps."""
        truth, alarms = fresh(400, 12, 20, np.random.default_rng(1))
        result = nf.evaluate(truth, predictions=alarms, tolerance=1, null="circular-shift")
        assert result.events_needed(recall=0.6).notes == (
            "Computed for events on random steps, with the coverage of circular-shift; needed() scales its own law.",
        )

    def test_times_of_their_own_have_a_coverage_too(self):
        """Two lists of times on ticks that nobody could list."""
        found = nf.coincidence(
            ["2011-03-02", "2012-07-19"],
            ["2011-03-01", "2012-02-11"],
            tolerance="2d",
            span=("2011-01-01", "2015-12-31"),
        )
        assert found.events_needed(recall=0.5).n_events == 3

    @pytest.mark.parametrize(
        ("truth", "alarms", "recall", "message"),
        [
            ([0] * 50, [1] * 5 + [0] * 45, 0.5, "0 events and 5 alarms.*call nf.sample_size with a coverage"),
            ([1] * 5 + [0] * 45, [0] * 50, 0.5, "5 events and 0 alarms"),
            ([1] * 20 + [0] * 30, [1] * 5 + [0] * 45, 0.5, "recall=0.5 is more than these alarms can find"),
            ([1] * 5 + [0] * 45, [1] * 20 + [0] * 30, 2, "recall=2 must be above 0 and at most 1"),
        ],
    )
    def test_what_cannot_be_answered_is_refused(self, truth, alarms, recall, message):
        """No events, no alarms, too few of them."""
        with pytest.raises(InputError, match=message):
            nf.evaluate(truth, predictions=alarms, null="permutation").events_needed(recall=recall)

    def test_advice_stands_where_no_outcome_could_have_been_significant(self):
        """In the table and on the page; elsewhere there is none."""
        truth, alarms = fresh(40, 1, 5, np.random.default_rng(2))
        few = nf.evaluate(truth, predictions=alarms, null="permutation")
        needed = few.events_needed(recall=0.5).n_events
        assert few.verdict == "cannot tell"
        assert few.advice == (
            f"With alarms and events as dense as these, it takes {needed} events to tell a detector that finds half of them "
            "from chance with a power of 0.8."
        )
        assert few.advice in few.table().notes
        from nofluke.show.report.payload import make_payload

        page = make_payload(few)
        d, k = page["chosen"]
        assert page["cells"][d][k]["text"]["reason"] == f"{few.reason} {few.advice}"
        many = nf.evaluate(*fresh(40, 8, 5, np.random.default_rng(2))[:1], predictions=alarms, null="permutation")
        nothing = nf.evaluate(truth, predictions=[0] * 40)
        assert (many.advice, nothing.advice) == ("", "")

    def test_no_advice_where_there_are_events_enough(self):
        """It is the number of shifts that is too small here."""
        truth, alarms = fresh(400, 40, 10, np.random.default_rng(1))
        result = nf.evaluate(truth, predictions=alarms, null="circular-shift", alpha=0.001)
        assert result.events_needed(recall=0.5).n_events <= 40
        assert (result.verdict, result.advice) == ("cannot tell", "")

    def test_no_advice_where_chance_finds_half_of_the_events(self):
        """No number of events would be enough."""
        result = nf.evaluate([0, 1, 0, 0, 0, 1, 0], predictions=[0, 0, 1, 0, 1, 0, 0], tolerance=1)
        assert (result.verdict, result.advice) == ("cannot tell", "")


class TestCommandLine:
    """`nofluke power`."""

    def test_events_ask_for_the_power(self, run):
        """Text and JSON as the library says."""
        words = ("power", "--recall", 0.6, "--coverage", 0.2, "--events", 10, "--steps", 2000)
        found = nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000)
        code, out, err = run(*words)
        assert (code, out.split(), err) == (0, str(found).split(), "")  # in shorter lines
        code, out, _ = run(*words, "--format", "json")
        assert (code, json.loads(out)) == (0, found.to_dict())

    def test_a_power_asks_for_the_events(self, run, tmp_path):
        """Also by default, and into a file."""
        words = ("power", "--recall", 0.6, "--coverage", "20%")
        found = nf.sample_size(recall=0.6, coverage=0.2)
        code, out, err = run(*words)
        assert (code, out.split(), err) == (0, str(found).split(), "")  # in shorter lines
        assert run(*words, "--power", 0.8) == (code, out, err)
        run(*words, "--power", 0.8, "-o", tmp_path / "needed.json")
        assert json.loads((tmp_path / "needed.json").read_text()) == found.to_dict()

    def test_precision_is_simulated(self, run):
        """With its own option, runs and seed."""
        settings = {"precision": 0.3, "share_alarms": 0.05, "n_events": 5, "n_steps": 200}
        words = ("--precision", 0.3, "--share-alarms", "5%", "--events", 5, "--steps", 200)
        found = nf.power(**settings, tolerance=nf.Tolerance(early=1, late=2), n_resamples=20, rng=4)
        code, out, _ = run("power", *words, "--early", 1, "--late", 2, "--resamples", 20, "--seed", 4)
        assert (code, out.split()) == (0, str(found).split())  # in shorter lines

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("--recall 2 --coverage .2", "--recall=2.0 must be above 0 and at most 1."),
            ("--coverage .2", "name what the detector is supposed to have: --recall SHARE, such as 0.6."),
            (
                "--recall .6",
                "describe the alarms: pass --coverage SHARE, the share of steps near one, or --share-alarms SHARE,",
            ),
            ("--recall .6 --coverage .2 --events 0", "--events=0 must be a whole number of at least 1 and"),
            ("--recall .6 --coverage .2 --events 5 --power .8", "--events asks for the power, --power for the number"),
            ("--precision .6 --share-alarms .2", "--precision needs --events"),
            ("--recall .6 --coverage .2 --steps 9 --steps-per-event 3", "pass either --steps or --steps-per-event."),
            ("--recall .6 --coverage .2 --tolerance 2h", "--tolerance='2h' must be in steps"),
            ("--recall .6 --coverage .2 --power 1", "--power=1.0 must be above 0 and below 1."),
            ("--recall x --coverage .2", "--recall x is not a number: write it as 0.05 or 5%."),
        ],
    )
    def test_bad_input_is_one_line(self, run, words, message):
        """Exit code 2, and the option's name."""
        code, out, err = run("power", *words.split())
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_a_tolerance_beyond_all_floats_covers_everything_and_is_refused():
    """In one line, as a shorter one that leaves no step out of reach is; tiny shares keep their digits."""
    for tolerance in (1e308, 2000):
        with pytest.raises(nf.InputError, match="leave no step out of reach"):
            nf.sample_size(recall=0.6, share_alarms=0.5, tolerance=tolerance)
    assert float(as_coverage(None, 1e-20, 2)) == pytest.approx(5e-20, rel=1e-12)
