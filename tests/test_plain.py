"""Words, numbers and seeds: what is read, what is refused, and how messages show it."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import nofluke as nf
from nofluke.errors import MOST_IN_MESSAGE, MOST_IN_VALUE, InputError, shown
from nofluke.plain import as_rng, as_whole, check_word, exact_floats, number_or_none

TRUTH, SCORES = [0, 1, 0, 0, 1, 0], [0.1, 0.9, 0.3, 0.2, 0.8, 0.1]
NO_WORDS = [
    np.array(["a", "b"]),
    np.array("auto"),
    pd.NA,
    pd.NaT,
    pd.Series([1, 2]),
    None,
    1,
    b"auto",
    ["auto"],
    10**5000,
]
NO_NUMBERS = [
    "0.9",
    b"1",
    1j,
    [0.5],
    np.array([0.5]),
    pd.Series([0.5]),
    pd.NA,
    pd.NaT,
    {},
    object(),
    10**5000,
    np.timedelta64(1, "s"),
]


def kind_of(value):
    """An id that pytest can write: it has no more digits for a whole number than Python has."""
    return type(value).__name__


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6,
        10**5000,
        -(10**5000),
        [10**5000],
        list(range(10**6)),
        dict.fromkeys(range(1000), "y" * 100),
        np.arange(10**6),
        np.zeros((50, 50)),
        pd.Series(range(100)),
        pd.DataFrame({"a": range(100)}),
        "a\nb\r\nc\u2028d",
        Unprintable(),
        [[[[[1] * 100] * 100] * 100] * 100],
    ],
    ids=kind_of,
)
def test_any_value_is_shown_in_one_short_line(value):
    """No value makes a message long, breaks its line, or raises an error of its own."""
    assert 0 < len(shown(value)) <= MOST_IN_VALUE
    assert len(shown(value).splitlines()) == 1


def test_numbers_of_numpy_are_shown_as_plain_ones():
    """1.5 rather than np.float64(1.5), but a duration keeps its unit."""
    assert [shown(v) for v in (np.float64(1.5), np.float32(0.5), np.int64(3), "2h")] == ["1.5", "0.5", "3", "'2h'"]
    assert shown(np.timedelta64(1, "M")) == "np.timedelta64(1,'M')"


def test_a_message_is_one_line_of_bounded_length():
    """Whatever gets into it: its beginning and its remedy stay."""
    message = str(InputError(problem="begin " + "x\n" * 10**5 + " remedy."))
    assert len(message) == MOST_IN_MESSAGE
    assert message.startswith("begin x")
    assert message.endswith("remedy.")
    assert "\n" not in message


@pytest.mark.parametrize("value", NO_WORDS, ids=kind_of)
@pytest.mark.parametrize("name", ["truth_as", "missing", "overlaps", "null", "method", "alternative", "ties"])
def test_what_is_no_word_is_refused_by_name(name, value):
    """Arrays, missing values and numbers in place of a word are one error, never ambiguous."""
    with pytest.raises(nf.InputError, match=f"^{name}=.* must be "):
        nf.evaluate(TRUTH, SCORES, threshold=0.5, **{name: value})


@pytest.mark.parametrize("value", NO_WORDS, ids=kind_of)
def test_what_is_no_word_is_refused_by_results_too(value):
    """Names of measures and findings, sides and units."""
    matrix = nf.Confusion(tp=1, fp=1, fn=1, tn=1)
    for ask, name in (
        (lambda: matrix.measure(value), "name"),
        (lambda: matrix.why(value), "name"),
        (lambda: nf.diagnose(TRUTH, SCORES).finding(value), "name"),
        (lambda: nf.Confusion(tp=1, fp=1, fn=1, tn=1, tolerance_in=value), "tolerance_in"),
        (lambda: nf.Tolerance(early=1, late=1, unit="" if value is None else value), "unit"),
    ):
        with pytest.raises(nf.InputError, match=f"^{name}=.* must be one of "):
            ask()


@pytest.mark.parametrize("value", NO_NUMBERS, ids=kind_of)
def test_what_is_no_number_is_refused_by_name(value):
    """Text, columns and missing values in place of a number, wherever one is asked for."""
    result = nf.evaluate(TRUTH, SCORES, threshold=0.5, tolerance=1)
    curve = nf.sweep(TRUTH, SCORES, thresholds=[0.5])
    for ask, name in (
        (lambda: nf.evaluate(TRUTH, SCORES, threshold=value), "threshold"),
        (lambda: nf.evaluate(TRUTH, SCORES, quantile=value), "quantile"),
        (lambda: nf.evaluate(TRUTH, SCORES, threshold=0.5, alpha=value), "alpha"),
        (lambda: nf.evaluate(TRUTH, SCORES, threshold=0.5, zero_division=value), "zero_division"),
        (lambda: nf.diagnose(TRUTH, SCORES, alpha=value), "alpha"),
        (lambda: result.f_beta(value), "beta"),
        (lambda: result.f_test(value), "beta"),
        (lambda: result.delays.quantile(value), "q"),
        (lambda: result.false_alarms.rate(value), "per"),
        (lambda: curve.f_beta(value), "beta"),
        (lambda: curve.familywise(beta=value), "beta"),
        (lambda: curve.familywise(alpha=value), "alpha"),
    ):
        with pytest.raises(nf.InputError, match=f"^{name}="):
            ask()


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.longdouble, Decimal, Fraction, np.array])
def test_numbers_of_any_kind_become_plain_ones(kind):
    """NumPy's numbers, decimals and fractions do what floats do, and JSON takes what comes of them."""
    half, plain = kind(0.5), {"threshold": 0.5, "alpha": 0.5, "zero_division": 0.0}
    given = {"threshold": half, "alpha": half, "zero_division": kind(0)}
    for one, other in (({**given}, plain), ({**given, "quantile": half}, {**plain, "quantile": 0.5})):
        if "quantile" in one:
            del one["threshold"], other["threshold"]
        found, expected = (nf.evaluate(TRUTH, SCORES, **arguments) for arguments in (one, other))
        assert json.dumps(found.to_dict()) == json.dumps(expected.to_dict())
    assert found.f_beta(half) == expected.f_beta(0.5)
    assert found.f_test(half) == expected.f_test(0.5)
    assert found.delays.quantile(half) == expected.delays.quantile(0.5)
    curves = [nf.sweep(TRUTH, SCORES, quantiles=q) for q in (half, 0.5)]
    assert json.dumps(curves[0].to_dict()) == json.dumps(curves[1].to_dict())
    families = [curves[0].familywise(beta=b, alpha=b, n_resamples=19, rng=1).to_dict() for b in (half, 0.5)]
    assert json.dumps(families[0]) == json.dumps(families[1])
    assert json.dumps(nf.diagnose(TRUTH * 9, SCORES * 9, quantile=half, alpha=half).to_dict())


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.array])
def test_whole_numbers_of_any_kind_become_plain_ones(kind):
    """Settings of nulls, resamples and seeds are named in results and JSON, whatever type they came in."""
    for null, text in (
        (nf.nulls.Seasonal(period=kind(3), bins=kind(2)), "seasonal:period=3,bins=2"),
        (nf.nulls.CircularShift(guard=kind(2)), "circular-shift:guard=2"),
        (nf.nulls.CircularShift(every=kind(3)), "circular-shift:every=3"),
        (nf.nulls.Blocks(length=kind(3)), "blocks:length=3"),
    ):
        result = nf.evaluate(TRUTH, SCORES, threshold=0.5, null=null, n_resamples=kind(9), rng=kind(1))
        assert result.to_dict()["precision"]["null"] == text
        json.dumps(result.to_dict())
    curve = nf.sweep(TRUTH, SCORES, thresholds=[0.5], method="montecarlo", n_resamples=kind(9), rng=kind(1))
    assert json.loads(json.dumps(curve.to_dict()))["seed"] == 1
    json.dumps(curve.familywise(n_resamples=kind(9), rng=kind(1)).to_dict())
    json.dumps(nf.diagnose(TRUTH * 9, SCORES * 9, period=kind(6)).to_dict())


@pytest.mark.parametrize("rng", [-1, "x", 0.5, np.array([0.5]), pd.NA, [None], 2**300, 10**5000, object()], ids=kind_of)
def test_a_bad_rng_is_refused_even_where_nothing_is_random(rng):
    """A typing error in the seed shows at once, not when the data first need a simulation."""
    result = nf.evaluate(TRUTH, SCORES, threshold=0.5, null="circular-shift")
    curve = nf.sweep(TRUTH, SCORES, thresholds=[0.5], null="circular-shift")
    for ask in (
        lambda: nf.evaluate(TRUTH, SCORES, threshold=0.5, rng=rng),
        lambda: nf.evaluate(TRUTH, SCORES, threshold=0.5, null="bernoulli", rng=rng),
        lambda: nf.sweep(TRUTH, SCORES, rng=rng),
        lambda: result.f_test(rng=rng),
        lambda: curve.familywise(rng=rng),
        lambda: nf.datasets.simulate_quakes(rng),
    ):
        with pytest.raises(nf.InputError, match=r"^rng=.* must be a whole number of 0 or more"):
            ask()


def test_a_list_of_seeds_is_copied_and_draws_the_same_each_time():
    """As default_rng takes it, whenever the simulation is run."""
    seeds = [1, 2, 3]
    kept = as_rng(seeds)
    seeds[0] = 9
    draws = [np.random.default_rng(rng).integers(0, 2**60) for rng in (kept, kept, [1, 2, 3])]
    assert draws[0] == draws[1] == draws[2]


@pytest.mark.parametrize("value", [0, True, 2.0, "3", None, math.nan, np.array([3]), 10**5000, 10**11], ids=kind_of)
def test_a_number_of_resamples_is_checked_everywhere(value):
    """Also where the method is exact; and so many that nobody lives to see the end are refused."""
    result, curve = nf.evaluate(TRUTH, SCORES, threshold=0.5), nf.sweep(TRUTH, SCORES, thresholds=[0.5])
    for ask in (
        lambda: nf.evaluate(TRUTH, SCORES, threshold=0.5, n_resamples=value),
        lambda: nf.sweep(TRUTH, SCORES, n_resamples=value),
        lambda: result.f_test(n_resamples=value),
        *([] if value is None else [lambda: curve.familywise(n_resamples=value)]),  # None: as the sweep's
    ):
        with pytest.raises(
            nf.InputError, match=r"^n_resamples=.* must be a whole number of at least 1 and at most 10,000"
        ):
            ask()


def test_whole_numbers_have_limits_and_no_booleans():
    """Both limits belong to the range."""
    assert [as_whole(value, "n", 1, 3) for value in (1, np.int8(3))] == [1, 3]
    for wrong in (0, 4, True, np.True_, 2.0):
        with pytest.raises(InputError, match=r"n=.* must be a whole number of at least 1 and at most 3"):
            as_whole(wrong, "n", 1, 3)


def test_words_are_listed():
    """The error names all that are allowed."""
    check_word("a", "letter", ("a", "b"))
    with pytest.raises(InputError, match=r"^letter='c' must be one of 'a', 'b' for the alphabet.$"):
        check_word("c", "letter", ("a", "b"), " for the alphabet")


@pytest.mark.parametrize("value", [np.longdouble("1e4000"), Decimal("1e400"), Fraction(10**400), 10**400], ids=kind_of)
def test_numbers_that_no_float_holds_are_none(value):
    """They are not taken for infinity."""
    assert number_or_none(value) is None
    assert number_or_none(Decimal("inf")) == math.inf


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (np.array([2**53, 2**53 + 1]), 1),
        (np.array([-(2**53) - 1, 3]), 0),
        (np.array([2**63 - 1]), 0),
        (np.array([7, 2**64 - 1], dtype=np.uint64), 1),
    ],
)
def test_whole_numbers_that_floats_cannot_hold_are_refused(values, first):
    """The first is shown; those that do not count do not matter."""
    with pytest.raises(
        InputError, match=rf"x has 1 whole number\(s\) .*, first {values[first]} at position {first}: subtract"
    ):
        exact_floats(values, "x")
    assert len(exact_floats(values, "x", np.arange(len(values)) != first)) == len(values)


def test_whole_numbers_that_floats_can_hold_are_kept():
    """Also beyond 2**53, and the largest of every smaller type."""
    for values in (
        np.array([2**53, 2**53 + 2, -(2**63), 2**62]),
        np.array([2**63, 2**64 - 2048], dtype=np.uint64),
        *(np.array([np.iinfo(kind).max, np.iinfo(kind).min]) for kind in (np.int8, np.int32, np.uint32)),
    ):
        assert [int(value) for value in exact_floats(values, "x")] == values.tolist()
