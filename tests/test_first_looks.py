"""A compiled first look at two spectra never rules out what the full search finds in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.nulls import seasons, seen
from nofluke.nulls.seasons import Side, common_period, drift, least_of_drift, least_of_period


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """Compiled loops are there from the first call on."""
    monkeypatch.setattr(seasons.FIRST_LOOKS, "_spent", np.inf)


@st.composite
def sides(draw):
    """Events and alarms that share a season, broad or narrow, a slow change, or nothing, each more or less plainly."""
    n = draw(st.integers(40, 900))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    step, period = np.arange(n), draw(st.sampled_from([3, 7, 12, 24, 40, 60.5, 100]))
    shape = draw(st.sampled_from(["wave", "narrow", "slow", "none"]))
    rates = {
        "wave": 1 + np.sin(2 * np.pi * step / period),
        "narrow": 0.05 + (step % int(period) == 1) * 2.0,
        "slow": step / n + 0.05,
        "none": np.ones(n),
    }[shape]
    found = []
    for share in (draw(st.floats(0.01, 0.3)), draw(st.floats(0.01, 0.3))):
        rate = rates if draw(st.booleans()) else np.ones(n)
        found.append(np.flatnonzero(rng.random(n) < np.minimum(share * rate / rate.mean(), 1)))
    every = np.ones(n, dtype=bool)
    return tuple(Side.of_steps(one, every) for one in found)


@settings(max_examples=300)
@given(sides(), st.integers(1, 12), st.sampled_from([0.01, 0.05, 0.1, 0.5]))
def test_what_the_search_finds_is_never_ruled_out(drawn, window, level):
    """A period of both, or of the alarms alone, at any level."""
    events, alarms = drawn
    both, alone = least_of_period(events, alarms, window + 1)
    found = common_period(events, alarms, window + 1, level)
    assert not found.found or both <= level
    assert found.found or alone <= found.of_alarms


@settings(max_examples=300)
@given(sides(), st.sampled_from([1, 2, 5, 20]))
def test_a_slow_change_has_no_smaller_p_value(drawn, longest):
    """Whatever the length of ranges that hides fast changes."""
    events, alarms = drawn
    assert least_of_drift(events, alarms, longest) <= drift(events, alarms, longest).pvalue


@settings(max_examples=60)
@given(sides(), st.sampled_from(["auto", "permutation"]))
def test_evaluations_say_the_same_with_and_without_it(drawn, null):
    """The null, why it was taken, doubts and verdict."""
    events, alarms = drawn
    truth, raised = np.zeros((2, events.n_steps), dtype=int)
    truth[events.at], raised[alarms.at] = 1, 1

    def told():
        result = nf.evaluate(truth, predictions=raised, tolerance=1, null=null, n_resamples=99, rng=1)
        return result.settings.choice.to_dict(), result.settings.choice.doubts, result.verdict, result.reason

    with_it = told()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen, "least_of_period", lambda *_: (0.0, 0.0))
        patch.setattr(seen, "least_of_drift", lambda *_: 0.0)
        assert told() == with_it
