"""What a user can bring, at random, and what must hold of every answer: the material of `test_fuzz.py`.

The data are the cases of `oracles.py`, which knows their counts, in other clothes: other containers, wild scores,
events as labels, positions or times, masks as masks or as missing values, clocks as text or in a time zone.
"""

import csv
import enum
import io
import itertools
import json
import math
import random
import re
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import nofluke as nf
from exported import check_flat, check_latex
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.law import Law
from nofluke.text.exports import card
from oracles import Case, Lists, cases, sides

LONG = 20_000
LONGEST_MESSAGE = 1_000
SIDES = ("precision", "recall")


def fuzz(short: int, long: int = LONG, /, **strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """A property as a test of three lengths: the same few examples in every run, the same tenth of many
    under `fuzz_tenth`, and many new ones under `fuzz_long`.
    """

    def decorate(body: Callable[..., None]) -> Any:
        def run(examples: int) -> None:
            asked = settings(
                max_examples=examples,
                derandomize=examples < long,
                print_blob=True,
                report_multiple_bugs=False,  # one at a time, and no reasons: a failure should not take minutes to show
                phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
            )
            asked(given(**strategies)(body))()

        run.__name__, run.__doc__ = body.__name__, body.__doc__
        lengths = [
            pytest.param(short, id="short"),
            pytest.param(long // 10, id="tenth", marks=pytest.mark.fuzz_tenth),
            pytest.param(long, id="long", marks=pytest.mark.fuzz_long),
        ]
        return pytest.mark.parametrize("examples", lengths)(run)

    return decorate


# Valid questions: a case of the oracle in other clothes


@dataclass(frozen=True)
class Question:
    """A case, and the arguments by which nofluke is asked about it."""

    case: Case
    data: dict[str, Any]
    """truth, scores or predictions, times, mask, truth_as, missing, count_events"""
    cuts: list[Any]
    """The thresholds that stand for -3 to 5 in the case."""
    tolerance: Any

    @property
    def threshold(self) -> Any:
        """None where alarms are given."""
        return self.cuts[self.case.threshold + 3] if "scores" in self.data else None

    @property
    def arguments(self) -> dict[str, Any]:
        """All of `evaluate` but what concerns chance."""
        return self.data | {"threshold": self.threshold, "tolerance": self.tolerance}


# Seven scores in place of -2 to 4, as close together and as far apart as numbers can be
LADDERS: list[list[Any]] = [
    [-2, -1, 0, 1, 2, 3, 4],
    [-1.7976931348623157e308, -1.7e308, -1.6e308, 1.5e308, 1.6e308, 1.7e308, 1.7976931348623157e308],
    [-1e308, -1.0, -5e-324, 0.0, 5e-324, 1e-323, 1.0],
    [1 + k * np.finfo(np.float64).eps for k in range(-2, 5)],
    [float(np.float32(0.1) * (1 + k * np.finfo(np.float32).eps)) for k in range(-2, 5)],
    [2**53 + k for k in range(-2, 5)],
    [-(2**62) + k for k in range(-2, 5)],
]


def dressed(values: list[Any], absent: list[bool] | None = None) -> st.SearchStrategy[Any]:
    """The same column from every library; absent values are missing in the way of each."""
    absent = absent or [False] * len(values)
    with_none = [None if gone else v for v, gone in zip(values, absent, strict=True)]
    plain = np.array(values)
    ways: list[Callable[[], Any]] = [
        lambda: list(with_none),
        lambda: np.ma.array(plain, mask=absent),
        lambda: pd.array(with_none, dtype={"b": "boolean", "i": "Int64", "f": "Float64"}[plain.dtype.kind]),
        lambda: pl.Series(with_none, strict=False),
        lambda: pa.array(with_none),
        lambda: pa.chunked_array([pa.array(with_none)[:1], pa.array(with_none)[1:]]),
        lambda: np.array(with_none, dtype=object),
    ]
    if not any(absent):
        ways += [
            lambda: tuple(values),
            lambda: plain.copy(),
            lambda: np.repeat(plain, 2)[::2],
            lambda: pd.Series(values),
            lambda: pd.Series(values, dtype="category"),
            lambda: xr.DataArray(plain.copy(), dims="t"),
        ]
    if plain.dtype.kind == "f" or set(values) <= {0, 1}:
        ways.append(lambda: np.array([math.nan if v is None else v for v in with_none], dtype=np.float64))
    return st.sampled_from(ways).map(lambda way: way())


def dressed_times(times: np.ndarray, zoned: bool) -> st.SearchStrategy[Any]:
    """A clock, or times on it, from every library, as text, or in a time zone."""
    if times.dtype.kind != "M":
        return st.sampled_from([times.copy(), times.tolist(), pd.Series(times), pl.Series(times)])
    text = [str(t) for t in np.datetime_as_string(times.astype("datetime64[ns]"))]
    if zoned:
        berlin = pd.DatetimeIndex(times.astype("datetime64[ns]")).tz_localize("UTC").tz_convert("Europe/Berlin")
        return st.sampled_from([berlin, pd.Series(berlin), pl.Series(berlin), [f"{t}Z" for t in text]])
    fine = times.astype("datetime64[ns]")
    return st.sampled_from([times.copy(), fine, pd.Series(fine), pl.Series(fine), pa.array(fine), text])


def dressed_pairs(steps: np.ndarray) -> st.SearchStrategy[Any]:
    """Runs of steps as pairs of their ends, both of which belong to them, from every library."""
    runs = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1) if len(steps) else []
    pairs = np.array([[run[0], run[-1]] for run in runs], dtype=np.int64).reshape(-1, 2)
    starts, ends = pairs.T
    ways: list[Callable[[], Any]] = [
        lambda: pairs.copy(),
        lambda: pairs[::-1].astype(np.float64),
        lambda: pd.DataFrame({"to": ends, "from": starts}),
        lambda: pl.DataFrame({"Start": starts, "End": ends, "n": ends - starts}),
        lambda: pa.table({"begin": starts, "stop": ends}),
        lambda: pd.IntervalIndex.from_arrays(starts, ends + 1, closed="left"),
        lambda: pd.DataFrame({"ilocs": pd.IntervalIndex.from_arrays(starts, ends + 1, closed="left")}),
    ]
    if len(pairs):
        ways.append(lambda: [tuple(pair) for pair in pairs.tolist()])
    return st.sampled_from(ways).map(lambda way: way())


@st.composite
def questions(draw: st.DrawFn, scored: bool | None = None, **about: Any) -> Question:
    """Any case in any clothes."""
    case = draw(cases(**about))
    closed = [not is_open for is_open in case.open_steps]
    data: dict[str, Any] = {}
    hidden = draw(st.sampled_from(["mask", "truth", "output"])) if any(closed) else "nothing"
    if hidden == "mask" or draw(st.booleans()):
        data["mask"] = draw(dressed(closed))
    elif hidden != "nothing":
        data["missing"] = "mask"
    ladder = draw(st.sampled_from(LADDERS))
    cuts = [draw(st.sampled_from([-math.inf, ladder[0]])), *ladder, math.inf]
    if cuts[0] == ladder[0]:  # nothing lies below: all scores reach both
        cuts[0] = -math.inf if isinstance(ladder[0], float) else ladder[0] - 1
    gone = {side: closed if hidden == side and "mask" not in data else None for side in ("truth", "output")}
    if draw(st.booleans()) if scored is None else scored:
        data["scores"] = draw(dressed([ladder[z + 2] for z in case.scores], gone["output"]))
    else:
        alarms = [z >= case.threshold for z in case.scores]
        data["predictions"] = draw(dressed(draw(st.sampled_from([alarms, list(map(int, alarms))])), gone["output"]))
    times, zoned = case.times_argument, draw(st.booleans())
    if times is not None:
        data["times"] = draw(dressed_times(times, zoned))
    events = np.flatnonzero(case.truth)
    kind = draw(st.sampled_from(["labels", "positions", "times", "ranges"])) if gone["truth"] is None else "labels"
    if kind == "times" and times is not None and len(events):
        data |= {"truth": draw(dressed_times(times[events], zoned)), "truth_as": "times"}
    elif kind == "ranges":
        data |= {"truth": draw(dressed_pairs(events)), "truth_as": "positions", "count_events": "steps"}
    elif kind == "positions":
        data |= {"truth": draw(st.permutations(events.tolist())), "truth_as": "positions"}
    else:
        labels = draw(st.sampled_from([list(map(bool, case.truth)), case.truth, list(map(float, case.truth))]))
        data |= {"truth": draw(dressed(labels, gone["truth"])), "truth_as": "labels"}
    counted = times is not None or data["truth_as"] == "labels"  # else nothing says how many steps there are
    if hidden == "mask" and counted and (closed[0] or closed[-1]) and draw(st.booleans()):
        # scores of masked steps at one end need not be there
        align = "end" if closed[0] else "start"
        many = sum(1 for _ in itertools.takewhile(bool, closed if align == "end" else closed[::-1]))
        kept = slice(many, None) if align == "end" else slice(None, case.n - many)
        told = [ladder[z + 2] for z in case.scores] if "scores" in data else list(map(int, alarms))
        data |= {"scores" if "scores" in data else "predictions": draw(dressed(told[kept])), "align": align}
    elif "predictions" in data and counted and gone["output"] is None and draw(st.booleans()):
        data["predictions"] = pd.DataFrame({"ilocs": np.flatnonzero(alarms)})
    both = case.tolerance_arguments
    tolerance: Any = nf.Tolerance(**both)
    if both["early"] == both["late"] and "unit" not in both and draw(st.booleans()):
        tolerance = both["early"]
    return Question(case=case, data=data, cuts=cuts, tolerance=tolerance)


@st.composite
def chances(draw: st.DrawFn, case: Case) -> dict[str, Any]:
    """A null of any kind with a method that it has, and what is asked of it."""
    free = np.flatnonzero(case.open_steps)

    def own(generator: np.random.Generator) -> np.ndarray:
        labels = np.zeros(case.n, dtype=int)
        labels[generator.permutation(free)[: len(case.events)]] = 1
        return labels

    simulated = ("auto", "montecarlo")
    exact = ("auto", "exact", "montecarlo")
    # shifts and windows need as many steps
    local = [("local-shift:reach=2", exact[:2]), ("local-permutation:windows=2", exact)] if len(free) > 2 else []
    null, methods = draw(
        st.sampled_from(
            [
                ("auto", exact),
                ("permutation", ("auto", "exact", "montecarlo", "saddlepoint", "binomial")),
                ("circular-shift", exact),
                ("circular-shift:every=3", exact),
                ("circular-shift:every=2.5", exact),
                *local,
                (nf.nulls.CircularShift(guard=2), exact),
                ("seasonal:period=4", exact),
                (nf.nulls.Seasonal(period=5, bins=2), exact),
                (nf.nulls.Seasonal(strata=np.arange(case.n) // 3), exact),
                ("interval-shuffle", simulated),
                ("segments", simulated),
                ("blocks:length=3", simulated),
                ("bernoulli", ("auto", "binomial")),
                (own, simulated),
            ]
        )
    )
    return {
        "null": null,
        "method": draw(st.sampled_from(methods)),
        "n_resamples": draw(st.integers(1, 300)),
        "rng": draw(st.integers(0, 2**64)),
    }


def verdicts() -> st.SearchStrategy[dict[str, Any]]:
    """The options of `evaluate` that concern neither data nor null."""
    return st.fixed_dictionaries(
        {
            "alternative": st.sampled_from(["greater", "less", "two-sided"]),
            "ties": st.sampled_from(["full", "mid"]),
            "alpha": st.floats(0, 1, exclude_min=True, exclude_max=True),
            "zero_division": st.sampled_from([math.nan, 0, 1, 0.0, np.float64(1)]),
        }
    )


@st.composite
def coincidences(draw: st.DrawFn) -> tuple[Lists, dict[str, Any]]:
    """Two lists of times in any clothes and unit, with what was watched, and the arguments of `nf.coincidence`."""
    first, long = draw(st.integers(-50, 50)), draw(st.integers(8, 60))
    gaps = draw(st.lists(st.tuples(st.integers(first, first + long), st.integers(0, 5)), max_size=2))
    gaps = tuple((at, min(at + more, first + long)) for at, more in gaps)
    early, late = draw(sides(5).filter(lambda both: sum(both) >= 0))
    bare = Lists(events=[], alarms=[], early=early, late=late, first=first, last=first + long, gaps=gaps)
    assume(len(bare.watched) > 3)
    several = draw(st.booleans())
    at = st.lists(st.sampled_from(bare.watched), max_size=6, unique=not several)
    lists = Lists(**vars(bare) | {"events": draw(at), "alarms": draw(at)})
    in_gaps = draw(st.sampled_from(["error", "drop"]))
    closed = sorted(set(range(first, first + long + 1)) - set(bare.watched))
    unseen = st.lists(st.sampled_from(closed), max_size=3) if closed and in_gaps == "drop" else st.just([])
    events, alarms = (draw(st.permutations([*seen, *draw(unseen)])) for seen in (lists.events, lists.alarms))
    assume(not any(len(one) > 2 and set(one) <= {0, 1} for one in (events, alarms)))  # would be labels
    unit, lag = draw(st.sampled_from([1, 7, 10**9, 0.5, 0.1, 1 / 44_100, "s", "min", "D"])), draw(st.integers(-3, 3))
    if isinstance(unit, str):
        step, begin, zoned = (
            np.timedelta64(1, {"min": "m"}.get(unit, unit)),
            np.datetime64("2020-02-28", "s"),
            draw(st.booleans()),
        )
        made = lambda ticks: draw(dressed_times(begin + np.array(ticks, dtype=np.int64) * step, zoned))  # noqa: E731
        wide = lambda ticks: f"{ticks}{unit.lower()}"  # noqa: E731
    else:
        step, begin, zoned = unit, 0, False
        made = lambda ticks: draw(dressed_times(np.array(ticks) * unit, False))  # noqa: E731
        wide = lambda ticks: ticks * unit  # noqa: E731

    def plain(ticks: tuple[int, int]) -> tuple[Any, Any]:
        """A pair of scalars, as people write them."""
        moments = begin + np.array(ticks) * step
        return tuple(f"{moment}Z" for moment in moments) if zoned else tuple(moments)

    asked: dict[str, Any] = {
        "events": made(events) if events else [],
        "alarms": made(alarms) if alarms else [],
        "span": made([first, first + long]),
        "gaps": [plain(pair) for pair in gaps],
        "in_gaps": in_gaps,
        "tolerance": nf.Tolerance(
            early=wide(early + lag), late=wide(late - lag), **({} if isinstance(unit, str) else {"unit": "clock"})
        ),
        "lag": wide(lag),
        "tick": wide(1),
        "duplicates": "count" if several else "error",
        "edges": draw(st.sampled_from(["zero", "interior"])),
        "leads": draw(st.sampled_from(["alarms", "events"])),
    }
    lengths = [
        "jitter:window={}",
        "local-shift:reach={}",
        "seasonal:period={}",
        "circular-shift:every={}",
    ]
    asked["null"] = draw(
        st.sampled_from(
            ["auto", "permutation", "circular-shift", "local-permutation:windows=2", "interval-shuffle", "segments"]
        )
        | st.sampled_from(lengths).map(lambda text: text.format(wide(3)))
    )
    return lists, asked | {"n_resamples": draw(st.integers(1, 99)), "rng": draw(st.integers(0, 99))}


# Nonsense: values of the wrong kind, size or shape for any argument


class NoArray:
    """Refuses to become an array."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("no array")


class NoWords:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


class NoItems:
    """Looks like a list, but has neither a length nor items."""

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __iter__(self) -> Any:
        raise RuntimeError("no items")

    def __getitem__(self, at: Any) -> Any:
        raise RuntimeError("no item")


class NoAnswer:
    """Is neither true nor false, equal to nothing and different from nothing, no number and no path."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("no answer")

    __bool__ = __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __hash__ = _refuse
    __index__ = __int__ = __float__ = __str__ = __fspath__ = __call__ = _refuse


class OwnText(str):
    """Text of a class of its own, as some libraries have it."""


class OwnWhole(int):
    """A whole number of a class of its own."""


class OwnReal(float):
    """A number of a class of its own, shown in a way of its own."""

    def __repr__(self) -> str:
        return "half\nof it"


class Choice(enum.Enum):
    """A word and a number in an enumeration."""

    GREATER = "greater"
    ONE = 1


class Word(enum.StrEnum):
    """Text in an enumeration, which is text as well."""

    GREATER = "greater"
    MASK = "mask"


def holds_itself() -> list[Any]:
    own: list[Any] = [1]
    own.append(own)
    return own


def _is_its_own_value() -> dict[Any, Any]:
    own: dict[Any, Any] = {}
    own["a"] = own
    return own


def stops_halfway() -> Iterator[int]:
    yield 1
    raise RuntimeError("stopped halfway")


def objects(*items: Any) -> np.ndarray:
    own = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        own[at] = item
    return own


def _nested(levels: int) -> list[Any]:
    own: list[Any] = []
    for _ in range(levels):
        own = [own]
    return own


# fmt: off
VALUES: list[Any] = [
    None, True, np.bool_(False), Ellipsis, object(), len, nf.evaluate, nf.nulls.Permutation, Path("x"),
    "", "x", "auto", "2h", "1M", "0.9", "²", "\ud800", "a\nb\x00", "9" * 5_000, b"2h", b"", bytearray(b"1"),
    0, 1, -1, 2**31, 2**63, 10**400, -(10**400), 0.5, -0.0, 1e-320, 1e308, math.nan, math.inf, -math.inf, 1j,
    np.float32(0.5), np.float16("inf"), np.int64(1), np.uint64(2**63), Decimal("0.5"), Decimal("sNaN"), Fraction(1, 2),
    np.timedelta64(1, "M"), np.timedelta64("NaT", "s"), np.datetime64("NaT", "s"), date(2020, 1, 1), timedelta(days=-1), timedelta.max,
    pd.NA, pd.NaT, pd.Timedelta("1h"), nf.Tolerance(early="2h", late=0), nf.Tolerance(early=1e300, late=0, unit="clock"),
    "blocks", "blocks:length=²", "seasonal:period=1e9", "seasonal:period=month", "circular-shift:guard=" + "9" * 400,
    "stationary", nf.nulls.Seasonal(period="month"), nf.nulls.Blocks(length=2**31 - 1), nf.nulls.CircularShift(every=2**31 - 1),
    "local-shift:reach=0", "local-shift:every=nan", nf.nulls.LocalShift(reach=2**31 - 1), nf.nulls.LocalPermutation(windows=2**31 - 1),
    OwnText("greater"), OwnText("2h"), OwnWhole(1), OwnReal(0.5),
    Choice.GREATER, Choice.ONE, Word.GREATER, Word.MASK, int, str, np.float64, NoItems, NotImplemented, slice(2), memoryview(b"12"),
    range(10**12), range(2**70), range(0), np.str_("greater"), np.bytes_(b"1"), np.void(b"1"), np.longdouble("1e4000"),
    np.array(None), np.array("greater"), np.array(b"1"), np.array(np.timedelta64(1, "s")), np.array(1), np.array(True), np.complex128(1),
    "-0", "1e400", "=1+1", "%", "100%", "nan", "2020-01-01", "2020-01-01T00:00Z", "P1D", "1", "\u2028", "a" * 5_000,
    datetime(2020, 1, 1, tzinfo=UTC), datetime.max, datetime.min, time(1), pd.Timestamp("2020-01-01", tz="UTC"), pd.Period("2020"),
    pd.Interval(0, 1), pd.offsets.MonthEnd(), np.random,
    Path("/dev/null"), Path("/"), 2**256, 5e-324, 10**18, 2**53 + 1, -(2**63), -(2**63) - 1,
]
# fmt: on
MAKERS: list[Callable[[], Any]] = [
    lambda: np.array(0.5),
    lambda: np.array([0.5]),
    lambda: np.array([]),
    lambda: np.array(["auto", "exact"]),
    lambda: np.array([[0, 1], [1, 0]]),
    lambda: [(0, 1), (1, 2)],
    lambda: [(0, 1), (1, None), ("x", 3)],
    lambda: np.array([[2**63, 2**64 - 1]], dtype=np.uint64),
    lambda: np.array([[-1e308, 1e308]]),
    lambda: [("0001-01-01", "9999-12-31")],
    lambda: pd.DataFrame({"start": [0], "end": [1]}),
    lambda: pd.interval_range(0, 3),
    lambda: np.array([0, 1, 0], dtype=[("x", int)]),
    lambda: np.array([1, 2], dtype="timedelta64[s]"),
    lambda: np.array([1e308, -1e308, math.inf]),
    lambda: np.array([10**30, None, "x", pd.NA], dtype=object),
    lambda: [],
    lambda: [0, 1],
    lambda: [[0], [0, 1]],
    lambda: ["2020-01-01", "x" * 5_000],
    lambda: [None, math.nan],
    lambda: {"early": 1},
    lambda: {1, 2},
    lambda: (i for i in range(3)),
    lambda: range(3),
    lambda: pd.Series([0, 1], index=pd.MultiIndex.from_tuples([(0, 0), (0, 1)])),
    lambda: pd.Series([0, 1, 1], index=[3, 3, 4]),
    lambda: pd.Series([0, None, 1], dtype="Int64"),
    lambda: pd.to_datetime(pd.Series(["2020-01-01", "2020-01-01"])),
    lambda: pd.DataFrame({"a": [0, 1]}),
    lambda: pl.DataFrame({"a": [0, 1]}),
    lambda: pl.Series([[0], [1]]),
    lambda: pl.Series(["x", None]),
    lambda: pa.array([{"a": 1}]),
    lambda: nf.nulls.Seasonal(strata=[None, 1]),
    lambda: lambda generator: generator.random(3),
    lambda: np.array([[1, 2]]).view(np.matrix),  # made so that NumPy does not warn
    lambda: np.array([[1], [2]]).view(np.matrix),
    lambda: np.random.default_rng(1),
    lambda: np.random.RandomState(1),
    lambda: np.random.SeedSequence(1),
    lambda: np.random.PCG64(1),
    holds_itself,
    _is_its_own_value,
    lambda: _nested(50),
    lambda: _nested(5_000),
    lambda: pl.LazyFrame({"a": [0, 1]}),
    lambda: pl.Series([0, None]),
    lambda: pl.Series(["a", "b"], dtype=pl.Categorical),
    lambda: pa.table({"a": [0, 1]}),
    lambda: pa.array([0, None]),
    lambda: pa.scalar(1),
    lambda: pd.Index([0, 1]),
    lambda: pd.Categorical(["a", "b"]),
    lambda: pd.DataFrame(),
    lambda: pd.DataFrame({"start": [0], "stop": [1], "end": [2]}),
    lambda: pd.DataFrame([[0, 1]], columns=["a", "a"]),
    lambda: pd.date_range("2020-01-01", periods=3, tz="UTC"),
    lambda: pd.period_range("2020-01-01", periods=3),
    lambda: xr.DataArray(np.array([[0, 1]])),
    lambda: xr.Dataset({"a": ("t", [0, 1])}),
    lambda: np.rec.array([(1, 2.0)], dtype=[("start", int), ("end", float)]),
    lambda: np.array(["2020-01-01", "NaT"], dtype="datetime64[Y]"),
    lambda: np.array(["0001-01-01", "9999-12-31"], dtype="datetime64[D]"),
    lambda: np.zeros((0, 2)),
    lambda: np.zeros((2, 0, 3)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.array([1j]),
    lambda: np.ma.array([0, 1], mask=[True, False]),
    lambda: np.ma.array(0, mask=True),
    lambda: np.array([np.ma.masked, 1], dtype=object),
    lambda: [np.ma.masked],
    lambda: [-1, 2**70],
    lambda: [1, True],
    lambda: [b"1", "1", 1],
    lambda: ["f1", "f1"],
    lambda: {"a": [0, 1], "b": None},
    lambda: {1: [0, 1], "1": [1, 0]},
    lambda: {"\ud800": [0, 1]},
    lambda: {None: None},
    lambda: Counter("aab"),
    lambda: frozenset("ab"),
    lambda: deque([0, 1]),
    lambda: array("d", [0, 1]),
    lambda: map(int, "01"),
    lambda: io.StringIO("0\n1"),
    lambda: (0, 1),
    lambda: (1, 0),
    lambda: ((0, 1),),
    lambda: (None, None),
    lambda: (math.nan, math.inf),
    lambda: ("2020-01-01", "2020-01-01T00:00Z"),
    lambda: ("2020-01-01", 1),
    lambda: (0, 1, 2),
    lambda: np.broadcast_to(np.int64(1), 10**12),
    lambda: np.broadcast_to(np.float64(1), (10**6, 10**6)),
    lambda: np.lib.stride_tricks.as_strided(np.zeros(1), (10**12,), (0,)),
]
# what raises whatever is asked of it, hypothesis among those who ask
HOSTILE: list[Callable[[], Any]] = [
    NoArray,
    NoWords,
    NoItems,
    NoAnswer,
    lambda: objects(NoArray(), NoAnswer()),
    lambda: [NoWords(), NoItems()],
    lambda: [NoArray(), 1],
    lambda: {"a": NoAnswer()},
    stops_halfway,
    itertools.count,
    lambda: itertools.repeat(1),
]
WORDS = [
    *("greater", "less", "two-sided", "full", "mid", "exact", "montecarlo", "saddlepoint", "binomial", "mask", "error"),
    *("drop", "labels", "positions", "times", "ranges", "steps", "events", "episodes", "merge", "count", "interior"),
    *("alarms", "anomalous", "normal", "permutation", "circular-shift", "local-shift", "segments", "interval-shuffle"),
    *("bernoulli", "random-scores", "score-permutation", "seasonal:period=7", "blocks:length=3", "jitter:window=3"),
    *("circular-shift:every=3", "local-permutation", "f1", "auc-roc", "vus-pr", "pa-f1", "nab"),
    *("precision", "recall", "clock", "p", "value", "cdf", "band", "none", "cdn", "pandas", "polars", "pyarrow"),
    *("numbers", "predict", "decision_function", "matching", "sttc", "event-synchronisation", "clustering", "10%"),
]
NUMBERS = [-2, 0, 1, 2, 3, 5, 7, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5, 3.0, 19, 20, 99, 100]
LONG_COLUMNS: list[Callable[[int], Any]] = [
    lambda n: [0, 1] * (n // 2),
    lambda n: [1] * n,
    lambda n: np.zeros(n),
    lambda n: np.arange(n),
    lambda n: list(range(n)),
    lambda n: np.arange(n) % 7 / 7,
    lambda n: [None, 1] * (n // 2),
    lambda n: [math.nan, 0.5] * (n // 2),
    lambda n: ["a", "b"] * (n // 2),
    lambda n: np.datetime64("2020-01-01") + np.arange(n),
    lambda n: pd.date_range("2020-01-01", periods=n, freq="h", tz="UTC"),
    lambda n: pd.Series(np.arange(n) % 2, index=pd.date_range("2020-01-01", periods=n)),
    lambda n: pl.Series(np.arange(n) % 3 == 0),
    lambda n: np.arange(2 * n).reshape(n, 2),
    lambda n: {"a": np.arange(n), "b": np.zeros(n)},
    lambda n: pd.DataFrame({"a": np.arange(n), "b": np.zeros(n)}),
]


def odd_value(chosen: random.Random, n: int) -> Any:
    """A value from anywhere: what one argument or another takes, or none, alone or inside of another.

    ``n`` is the length of columns that fit to the others.
    """
    kind = chosen.random()
    if kind < 0.15:
        return chosen.choice(WORDS)
    if kind < 0.25:
        return chosen.choice(NUMBERS)
    if kind < 0.35:
        return chosen.choice(LONG_COLUMNS)(n)
    if kind < 0.5:
        inner = odd_value(chosen, n)
        around = [
            lambda: [inner],
            lambda: (inner, inner),
            lambda: [inner, odd_value(chosen, n)],
            lambda: {"a": inner, "b": odd_value(chosen, n)},
            lambda: (one for one in [inner]),
            lambda: [(inner, odd_value(chosen, n))],
            lambda: [inner] * n,
        ]
        return chosen.choice(around)()
    if kind < 0.75:
        return chosen.choice(VALUES)
    return chosen.choice(MAKERS if kind < 0.95 else HOSTILE)()


def nonsense() -> st.SearchStrategy[Any]:
    """Some value that may or may not be a mistake."""
    return st.one_of(st.sampled_from(VALUES), st.sampled_from(MAKERS).map(lambda make: make()))


# What must hold of every call and every answer


def ask(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """The answer, or None if refused in one line; nothing else may happen, and no argument may change."""
    before = _held((*arguments, *named.values()))
    try:
        return function(*arguments, **named)
    except nf.InputError as error:
        check_message(str(error))
        return None
    finally:
        assert _held((*arguments, *named.values())) == before, "an argument was changed"


def check_message(message: str) -> None:
    """One line of bounded length."""
    assert 0 < len(message) <= LONGEST_MESSAGE, f"{len(message)} characters: {message[:200]}"
    assert message.isprintable() or not re.search(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", message), repr(message)


def _held(arguments: Iterable[Any]) -> list[Any]:
    """What every argument holds, where it is data: generators, of numbers or of items, may be used up."""
    held: list[Any] = []
    for value in arguments:
        if isinstance(value, dict):
            held.append(_held(value.values()) if len(value) < 100 and value.get("a") is not value else None)
        elif isinstance(value, list):
            held.append([(id(item), repr(item) if isinstance(item, int | float | str) else None) for item in value])
        elif isinstance(value, np.ndarray) and value.size < 10**6 and value.dtype.kind != "O":
            held.append((np.ma.getdata(value).tobytes(), np.ma.getmaskarray(value).tobytes()))
        elif isinstance(value, pd.Series):
            held.append(repr((list(value), list(value.index))))
        elif isinstance(value, pd.DataFrame):
            held.append(repr(value.to_numpy().tolist()))
        elif isinstance(value, pa.Table | pl.DataFrame):
            columns = value.to_pydict() if isinstance(value, pa.Table) else value.to_dict(as_series=False)
            held.append(repr(columns))
        elif isinstance(value, pl.Series | pa.Array | pa.ChunkedArray | pd.Index):
            held.append(repr(list(value)))
    return held


def told(result: Any) -> list[Any]:
    """Everything that a result says of itself, checked, and in a form that can be compared."""
    texts = [str(result), repr(result), card(result.table(), None)]
    more: list[Any] = []
    if isinstance(result, nf.Evaluation):
        more = _told_by_evaluation(result)
    elif isinstance(result, nf.Sweep):
        more = _told_by_sweep(result)
    plain, written, numbers = result.to_dict(), result.to_json(), result.to_csv()
    assert json.loads(written, parse_constant=pytest.fail) == plain
    rows = list(csv.reader(io.StringIO(numbers)))
    assert {len(row) for row in rows} == {len(rows[0])}
    frame = result.to_frame("polars")  # the strictest of them
    assert frame.columns == rows[0]
    assert len(frame) == len(rows) - 1
    check_flat(result.to_dict(flat=True), plain)
    texts += [numbers, result.to_markdown(), result.to_latex()]
    check_latex(texts[-1])
    assert all(isinstance(text, str) and text for text in texts)
    shown = [text for text in texts if text is not texts[1]]  # the repr is for programmers
    assert not re.search(r"\bnan\b", "".join(shown)), shown
    return [written, *texts, *more]


def check_p(*values: float) -> None:
    """A p-value is a number above 0, at most 1."""
    for value in values:
        assert isinstance(value, float)
        assert 0 < value <= 1, value


def _told_by_evaluation(result: nf.Evaluation) -> list[Any]:
    more: list[Any] = []
    for test in (result.precision_test, result.recall_test):
        for alternative in ("greater", "less", "two-sided"):
            for ties in ("full", "mid"):
                p = test.pvalue_for(alternative, ties)
                check_p(p)
                more.append(p)
        more += check_law(test.law)
    for beta in (1.0, 0.5):
        f = result.f_test(beta, n_resamples=50, rng=1)
        check_p(f.pvalue)
        assert math.isfinite(f.expected)
        assert math.isfinite(f.std)
        more.append(repr(f))
    for own in result.interval():
        assert not own or 0 <= own.low <= own.estimate <= own.high <= 1
    return [*more, repr(result.interval()), result.advice]


def check_law(null: Law) -> list[Any]:
    """A distribution is one, and pmf, cdf, sf, quantile, critical value and random numbers tell of the same."""
    exact = null.method.kind == "exact" or null.method.name.startswith("binomial")
    table, ks = null.table, np.arange(null.size + 1)
    assert table.shape == ks.shape
    assert (table >= 0).all()
    assert abs(table.sum() - 1) < 1e-9
    assert math.isfinite(null.mean)
    assert 0 <= null.var < math.inf
    # resamples count the observed sequence as one of them; approximate tails are near the truth, not sums of a table
    slack = 1e-9 if exact or null.var == 0 else 1.0
    if isinstance(null, SimulatedLaw):
        slack = 1 / (null.n_resamples + 1) + 1e-9
    if exact and null.method.name != "hypergeometric ratio":  # whose table has hits rounded down, and moments do not
        np.testing.assert_allclose(
            [null.mean, null.var], [ks @ table, (ks - null.mean) ** 2 @ table], atol=1e-8, rtol=1e-9
        )
    some = ks if null.size < 50 else np.linspace(0, null.size, 5).astype(int)  # a far tail takes seconds
    np.testing.assert_array_equal(null.pmf(some), table[some])
    cdf, sf = null.cdf(some), null.sf(some)
    np.testing.assert_allclose(cdf, np.cumsum(table)[some], atol=slack)
    np.testing.assert_allclose(cdf + sf, 1, atol=2 * slack)
    assert (np.diff(cdf) >= -1e-9).all() or null.method.name == "saddlepoint"
    assert (null.cdf(math.inf), null.cdf(null.size), null.sf(-math.inf)) == (1, 1, 1)
    assert null.pmf(-1) == null.pmf(null.size + 1) == null.pmf(0.5) == null.pmf(math.inf) == null.pmf(math.nan) == 0
    quantiles, critical = [], []
    if exact or isinstance(null, SimulatedLaw):
        sums = np.cumsum(table)
        attained = sums.clip(1e-300, 1)[::3].tolist() if null.size < 50 else []
        for level in (0.025, 0.5, 0.975, 1.0, *attained):
            k = null.quantile(level)
            # levels attained up to rounding count as attained; between those and the next, any reading is right
            assert sums[k] >= level - 1e-11
            assert k == 0 or sums[k - 1] < level + 1e-11 or table[k] == 0
            assert table[k] > 0 or sums[k] - level < 1e-11
            quantiles.append(k)
        for alpha in (1e-300, 0.05, 0.5):
            k = null.critical_value(alpha)
            assert k is None or (0 <= k <= null.size and null.upper(k) <= alpha * (1 + 1e-9))
            assert null.upper(null.size if k is None else k - 1) >= alpha * (1 - 1e-9)
            critical.append(k)
    drawn = null.rvs(20, rng=1)
    assert (table[drawn] > 0).all()
    assert null.rvs(rng=2) == null.rvs(rng=2)
    return [str(null.method), null.mean, null.var, table.tolist(), cdf.tolist(), quantiles, critical, drawn.tolist()]


def _told_by_sweep(curve: nf.Sweep) -> list[Any]:
    more: list[Any] = []
    family = curve.familywise(n_resamples=50, rng=1)
    best, holds = (family.precision, family.recall, family.both, family.best_f), curve.settings.choice.holds
    if holds:
        check_p(*best)
    else:  # no null holds for the data: no p-value, and the reason
        assert all(map(math.isnan, best))
        assert family.obstacle
    for side in SIDES:
        cell, adjusted = getattr(curve.chance, side), getattr(family, f"{side}_adjusted")
        for name in ("mean", "std", "low", "high"):
            values = getattr(cell, name)
            assert values.shape == curve.shape
            assert np.isfinite(values).all()
        assert (cell.low <= cell.high).all()
        check_p(*cell.pvalue.ravel().tolist())
        if holds:
            check_p(*adjusted.ravel().tolist())
        else:
            assert np.isnan(adjusted).all()
        assert (cell.pvalue <= cell.benjamini_hochberg * (1 + 1e-12)).all()
        assert (cell.benjamini_hochberg <= cell.holm * (1 + 1e-12)).all()
        more += [getattr(cell, name).tolist() for name in ("mean", "std", "low", "high", "pvalue", "holm")]
        more += [adjusted.tolist(), repr(getattr(family, f"{side}_band").tolist())]
    json.dumps(curve.to_dict(familywise=family), allow_nan=False)
    assert len(curve.to_frame()) == curve.precision_hits.size
    return [*more, repr(family), curve.to_csv(familywise=family), str(curve.table(family))]


# Slow laws: both hits of every placement, by the relation of the case alone


def placements(case: Case, null: str) -> Iterable[tuple[int, ...]]:
    """All that chance can do to the events, each once for each way to do it: permutation, rotation or season."""
    free = [t for t in range(case.n) if case.open_steps[t]]
    if null == "permutation":
        return itertools.combinations(free, len(case.events))
    if null == "circular-shift":
        ranks = [free.index(q) for q in case.events]
        return [tuple(free[(r + s) % len(free)] for r in ranks) for s in range(len(free))]
    assert null == "seasonal:period=2"
    halves = [[t for t in free if t % 2 == phase] for phase in (0, 1)]
    chosen = [itertools.combinations(half, len(set(half) & set(case.events))) for half in halves]
    return [even + odd for even, odd in itertools.product(*chosen)]


def slow_law(case: Case, null: str) -> dict[tuple[int, int], Fraction]:
    """P(recall's hits, precision's hits)."""
    alarms = case.alarms()
    seen = Counter(
        (
            sum(any(case.counts(p, q) for p in alarms) for q in events),
            sum(any(case.counts(p, q) for q in events) for p in alarms),
        )
        for events in placements(case, null)
    )
    return {pair: Fraction(count, seen.total()) for pair, count in seen.items()}


def spoil(arguments: dict[str, Any]) -> None:
    """Write over everything that can be written over."""
    for value in arguments.values():
        if isinstance(value, list):
            value[:] = value[:1] * len(value)
        elif isinstance(value, np.ndarray) and value.size and value.flags.writeable:
            value[...] = value.flat[0]
        elif isinstance(value, pd.Series) and len(value) and value.dtype.kind in "biuf":
            value.iloc[:] = value.iloc[0]
        elif isinstance(value, xr.DataArray):
            value[...] = value.values.flat[0]
