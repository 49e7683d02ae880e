"""Lengths of nulls in the unit of the times: what they do must not depend on that unit."""

import numpy as np
import pytest

import nofluke as nf

A_DAY_IN = {"days": 1, "hours": 24, "minutes": 1_440}


def daily_clusters(seed=0, days=200):
    """Events and alarms in clusters around noon of some days, in hundredths of a day."""
    rng = np.random.default_rng(seed)

    def clusters(within):
        noon = rng.choice(days, 60, replace=False)[:, None] + rng.normal(0, 0.05, 60)[:, None]
        return np.unique(np.round((noon + within).ravel() * 100).astype(np.int64))

    return clusters(np.array([0.50, 0.51, 0.53])), clusters(np.array([0.52, 0.55, 0.56]))


def found_in(unit, null, **more):
    """The coincidence of such lists, told in a unit."""
    events, alarms = daily_clusters()
    scale = A_DAY_IN[unit]
    return nf.coincidence(
        events * scale / 100,
        alarms * scale / 100,
        tolerance=0.02 * scale,
        span=(0, 200 * scale),
        null=null,
        rng=1,
        **more,
    )


class TestUnits:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "null",
        [
            "circular-shift:every={}",
            "circular-shift:guard={}",
            "local-shift:reach={}",
            "seasonal:period={}",
            "jitter:window={}",
        ],
    )
    def test_a_day_is_a_day_in_any_unit(self, null):
        """A length of 1 is a length like any other, and no word for every tick."""
        days, *others = (found_in(unit, null.format(scale), n_resamples=200) for unit, scale in A_DAY_IN.items())
        for other in others:
            assert days.recall_test.pvalue == pytest.approx(other.recall_test.pvalue, rel=1e-12)
            assert days.precision_test.pvalue == other.precision_test.pvalue
            assert days.recall_test.method == other.recall_test.method

    def test_auto_keeps_a_season_of_one_unit(self):
        """Times in days with a daily season: shifts are by whole days, as they are for times in hours."""
        days, hours = found_in("days", "auto"), found_in("hours", "auto")
        assert (days.null.text, hours.null.text) == ("circular-shift:every=1", "circular-shift:every=24")
        assert days.recall_test.pvalue == hours.recall_test.pvalue
        assert days.verdict == hours.verdict
        assert "(period 1 time unit, p = " in days.settings.choice.in_words()
        assert "by multiples of 1 time unit around" in days.settings.choice.in_words()

    def test_shifts_may_be_shorter_than_a_unit(self):
        """Seconds at 44.1 kHz: auto takes local shifts of milliseconds, and a guard may be as short."""
        events, alarms = np.array([17, 99, 1_234, 5_000]) / 44_100, np.array([18, 100, 3_000]) / 44_100
        found = nf.coincidence(events, alarms, tolerance=0.001, span=(0, 1))
        assert found.null.name == "local-shift"
        assert 0.001 < found.null.reach < 0.1
        assert found_in("days", "circular-shift:guard=0.5").recall_test.method == "19,903 rotations (approximate)"

    def test_what_is_approximate_depends_on_ticks_and_not_on_digits(self):
        """Half a unit is whole ticks of 0.01; a third of a tick more is not."""
        assert found_in("days", "circular-shift:every=0.5").recall_test.method == "exact (400 rotations)"
        assert "approximate" in found_in("days", "circular-shift:every=0.503").recall_test.method

    def test_words_count_no_shifts_or_phases_that_depend_on_ticks(self):
        """A period of one unit of a hundred ticks does not have one phase."""
        assert "phases" not in found_in("days", "seasonal:period=1", n_resamples=50).settings.choice.in_words()


class TestSteps:
    """On a grid a length of one step changes nothing."""

    def test_every_step_is_every_shift(self):
        """every=1 is no stride and guard=1 no guard."""
        truth, alarms = [0, 1, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 1, 0, 0]
        plain, one = (
            nf.evaluate(truth, predictions=alarms, null=f"circular-shift{text}") for text in ("", ":every=1,guard=1")
        )
        assert one.null == plain.null
        assert one.recall_test.pvalue == plain.recall_test.pvalue

    def test_a_guard_is_whole_steps(self):
        """Half a step is refused."""
        with pytest.raises(nf.InputError, match=r"guard=0\.5 must be a whole number of steps"):
            nf.evaluate([0, 1, 0, 0], predictions=[0, 1, 0, 0], null="circular-shift:guard=0.5")
