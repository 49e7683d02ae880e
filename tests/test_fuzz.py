"""Whatever a user brings: an answer that is right, or a refusal in one line. Three lengths each: `fuzzing.fuzz`."""

import contextlib
import copy
import csv
import inspect
import io
import itertools
import json
import math
import re
import tempfile
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import click
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

import nofluke as nf
from fuzzing import (
    SIDES,
    Question,
    ask,
    chances,
    check_law,
    check_message,
    check_p,
    coincidences,
    dressed,
    fuzz,
    nonsense,
    questions,
    slow_law,
    spoil,
    told,
    verdicts,
)
from nofluke.cli import cli, main
from nofluke.show.report.payload import make_payload
from oracles import Case, cases

HUGE = 2**53  # whole scores beyond may be refused, but not confused


def may_be_refused(question: Question) -> bool:
    """Whether a valid question may be turned down: whole numbers that no float can tell apart."""
    return "scores" in question.data and isinstance(question.cuts[1], int) and abs(question.cuts[1]) > HUGE - 9


def matrix(confusion: nf.Confusion) -> tuple[int, int, int, int]:
    """As the oracle has it."""
    return confusion.tp, confusion.fp, confusion.fn, confusion.tn


@fuzz(41, question=questions(), asked=verdicts(), data=st.data())
def test_a_valid_question_is_answered_as_the_oracle_counts(question, asked, data):
    """Any data in any clothes, any null, any method: the oracle's counts, sound laws, and texts that say so."""
    chance = data.draw(chances(question.case))
    result = ask(nf.evaluate, **question.arguments, **asked, **chance)
    if result is None:
        assert may_be_refused(question)
        return
    assert (matrix(result.tolerant_truth), matrix(result.tolerant_predictions)) == question.case.tables()
    told(result)


@fuzz(16, question=questions(scored=True), data=st.data())
def test_a_sweep_has_in_every_cell_what_an_evaluation_has(question, data):
    """Counts of the oracle for every threshold, bands that are quantiles, p-values as of single evaluations."""
    case, chance = question.case, data.draw(chances(question.case))
    some = data.draw(st.lists(st.integers(-3, 5), min_size=1, max_size=4, unique=True).map(sorted))
    cuts = [question.cuts[k + 3] for k in some]
    curve = ask(nf.sweep, **question.data, thresholds=cuts, tolerances=[question.tolerance, 0], **chance)
    if curve is None:
        assert may_be_refused(question)
        return
    told(curve)
    for k, cut in enumerate(some):
        assert tuple(map(matrix, curve.matrices(0, k))) == case.tables(cut)
        one = nf.evaluate(**question.arguments | {"threshold": cuts[k]}, **chance)
        for side in SIDES:
            null, cell = getattr(one, f"{side}_test").law, getattr(curve.chance, side)
            np.testing.assert_allclose(cell.mean[0, k], null.mean, rtol=1e-9, atol=1e-12)
            if null.method.kind != "simulated":
                np.testing.assert_allclose(cell.pvalue[0, k], getattr(one, f"{side}_test").pvalue, rtol=1e-9)
                assert (cell.low[0, k], cell.high[0, k]) == tuple(null.quantile([0.025, 0.975]))


@fuzz(4, question=questions(), other=questions())
def test_a_detector_is_told_from_nobody_that_is_the_same(question, other):
    """In any container: no difference from itself, the oracle's counts; another is compared, or refused in one line."""
    role = role_of(question)
    rest = {name: value for name, value in question.arguments.items() if name != role}
    own = question.data[role]
    found = ask(nf.compare, **rest, **{role: {"one": own, "same": copy.deepcopy(own)}}, n_resamples=19)
    if found is None:
        assert may_be_refused(question)
        return
    tp, fp, _, _ = question.case.tables()[0]
    assert found.counts[:, :2].tolist() == [[tp + fp, tp]] * 2
    assert all(one.pvalue == 1 or math.isnan(one.pvalue) for one in found.differences)
    told(found)
    rival = {role: {"one": own}, role_of(other): {"other": other.data[role_of(other)]}}
    if len(rival) == 1:
        rival = {role: {"one": own, "other": other.data[role]}}
    if (compared := ask(nf.compare, **rest, **rival, n_resamples=19)) is not None:
        check_p(*(one.pvalue for one in compared.differences if not math.isnan(one.pvalue)))
        told(compared)


def role_of(question: Question) -> str:
    """What the detector of a question gives."""
    return "scores" if "scores" in question.data else "predictions"


@fuzz(10, question=questions(scored=True), level=st.floats(0, 1))
def test_a_quantile_lies_between_the_scores_beside_it(question, level):
    """The threshold of a quantile is finite, and between the two order statistics, whatever the scores."""
    result = ask(nf.evaluate, **question.arguments | {"threshold": None, "quantile": level})
    if result is None:
        assert may_be_refused(question)
        return
    ladder, case = question.cuts[1:-1], question.case
    scores = sorted(ladder[z + 2] for z, is_open in zip(case.scores, case.open_steps, strict=True) if is_open)
    place = level * (len(scores) - 1)
    low = scores[max(math.floor(place - 1e-9), 0)]  # a place beside an order statistic may be rounded to it
    high = scores[min(math.ceil(place + 1e-9), len(scores) - 1)]
    assert float(low) <= result.threshold <= float(high)
    assert result.n_predictions == sum(z >= Fraction(result.threshold) for z in scores)
    told(result)


@fuzz(25, case=cases(max_steps=9), null=st.sampled_from(["permutation", "circular-shift", "seasonal:period=2"]))
def test_exact_laws_are_those_of_all_placements(case, null):
    """Tables, tails, quantiles at attained levels, critical values and F, against every placement in fractions."""
    result = nf.evaluate(
        case.truth,
        case.scores,
        truth_as="labels",
        threshold=case.threshold,
        tolerance=nf.Tolerance(**case.tolerance_arguments),
        times=case.times_argument,
        mask=case.mask_argument,
        null=null,
        method="exact",
    )
    joint = slow_law(case, null)
    for at, side in enumerate(("recall", "precision")):
        test = getattr(result, f"{side}_test")
        law = [sum((p for pair, p in joint.items() if pair[at] == k), Fraction(0)) for k in range(test.of + 1)]
        sums = [sum(law[: k + 1], Fraction(0)) for k in range(test.of + 1)]
        np.testing.assert_allclose(test.law.table, list(map(float, law)), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(test.pvalue, float(sum(law[test.hits :])), rtol=1e-9)
        for level in {float(total) for total in sums if total}:
            assert test.law.quantile(level) == next(k for k, total in enumerate(sums) if float(total) >= level)
        for alpha in {float(1 - total) for total in sums if 0 < total < 1}:
            reached = [k for k in range(test.of + 1) if float(sum(law[k:])) <= alpha]
            assert test.law.critical_value(alpha) == (reached[0] if reached else None)
    if case.events and case.alarms():

        def f_one(recall: int, precision: int) -> Fraction:
            below = precision * len(case.events) + recall * len(case.alarms())
            return Fraction(2 * precision * recall, below) if below else Fraction(0)

        observed = f_one(result.recall_hits, result.precision_hits)
        expected = sum(p for pair, p in joint.items() if f_one(*pair) >= observed)
        found = result.f_test(n_resamples=99, rng=1)
        if found.method.startswith("exact"):
            np.testing.assert_allclose(found.pvalue, float(expected), rtol=1e-9)


@fuzz(13, case=cases(clocks=("none",)), more=st.integers(0, 5), null=st.sampled_from(["permutation", "circular-shift"]))
def test_laws_follow_the_data(case, more, null):
    """Read backwards with sides swapped, the same laws; wider, larger hits; without tolerance, masked is deleted."""

    def laws(tolerance: nf.Tolerance, order: slice = slice(None), kept: Any = slice(None)) -> list[Any]:
        truth, scores, mask = (
            np.array(values)[kept][order] for values in (case.truth, case.scores, case.mask_argument)
        )
        result = nf.evaluate(
            truth, scores, threshold=case.threshold, tolerance=tolerance, mask=mask, truth_as="labels", null=null
        )
        return [result.precision_test.law, result.recall_test.law]

    window = nf.Tolerance(early=case.early, late=case.late)
    here, there = laws(window), laws(window.swapped(), slice(None, None, -1))
    wide = laws(nf.Tolerance(early=case.early + more, late=case.late))
    for mine, mirrored, wider in zip(here, there, wide, strict=True):
        np.testing.assert_allclose(mirrored.table, mine.table, rtol=1e-9, atol=1e-15)
        assert all(wider.upper(k) >= mine.upper(k) * (1 - 1e-9) for k in range(mine.size + 1))
    zero = nf.Tolerance(early=0, late=0)
    for masked, deleted in zip(laws(zero), laws(zero, kept=np.array(case.open_steps)), strict=True):
        np.testing.assert_allclose(masked.table, deleted.table, rtol=1e-9, atol=1e-15)


@st.composite
def long_sequences(draw: st.DrawFn) -> dict[str, Any]:
    """Hundreds of steps: events and alarms sparse, dense, even or in runs, windows of any two sides."""
    n = draw(st.integers(20, 300) | st.integers(20, 2_000))

    def flags() -> np.ndarray:
        count = max(1, round(n * draw(st.floats(0.001, 0.999)) ** draw(st.sampled_from([1, 3]))))
        kind = draw(st.sampled_from(["random", "even", "run"]))
        if kind == "random":
            chosen = np.random.default_rng(draw(st.integers(0, 99))).permutation(n)[:count]
        else:
            chosen = np.arange(count) if kind == "run" else np.arange(0, n, -(-n // count))
        return np.isin(np.arange(n), chosen)

    side = st.one_of(st.integers(0, 3), st.integers(0, n // 3))
    return {
        "truth": flags(),
        "predictions": flags(),
        "tolerance": nf.Tolerance(early=draw(side), late=draw(side)),
        "null": draw(st.sampled_from(["permutation", "permutation", "circular-shift"])),
    }


@fuzz(10, 2_000, asked=long_sequences())
def test_long_sequences_have_sound_laws_too(asked):
    """Whatever the density, the method that "auto" takes gives a law, p-values and an F test without NaN."""
    result = nf.evaluate(**asked, rng=1, n_resamples=200)
    for test in (result.precision_test, result.recall_test):
        check_p(test.pvalue, test.pvalue_for("less"), test.pvalue_for("two-sided"))
        check_law(test.law)
    check_p(result.f_test(n_resamples=200, rng=1).pvalue)
    json.dumps(result.to_dict(), allow_nan=False)


FUNCTIONS = {
    "evaluate": (
        nf.evaluate,
        ("truth", "scores", "predictions", "threshold", "quantile", "tolerance", "times", "mask"),
    ),
    "sweep": (nf.sweep, ("truth", "scores", "tolerances", "thresholds", "quantiles", "times", "mask")),
    "diagnose": (nf.diagnose, ("truth", "scores", "predictions", "tolerance", "times", "mask", "period", "alpha")),
}
COMMON = (
    *(
        "truth_as",
        "missing",
        "count_events",
        "overlaps",
        "merge_gap",
        "split_longer",
        "warmup",
        "test_part",
        "higher_is",
    ),
    *("event_name", "alarm_name", "time_unit", "delay_name", "reset_name", "preset"),
)
ALARMS = ("count_alarms", "refractory")
CHANCE = ("null", "method", "rng")
MORE = {
    "evaluate": (*COMMON, *ALARMS, *CHANCE, "budget", "alternative", "ties", "alpha", "zero_division"),
    "sweep": (*COMMON, *ALARMS, *CHANCE, "budgets"),
    "diagnose": (*COMMON, *ALARMS, "threshold", "quantile", "budget"),
}


@fuzz(66, name=st.sampled_from(list(FUNCTIONS)), data=st.data())
def test_nonsense_is_answered_or_refused_in_one_line(name, data):
    """One or two arguments replaced by anything: a sound result or an InputError, and no argument changed."""
    function, arguments = FUNCTIONS[name]
    question = data.draw(questions(scored=True if name == "sweep" else None, max_steps=6))
    asked = question.data if name == "sweep" else question.arguments
    replaced = data.draw(st.lists(st.sampled_from(arguments + MORE[name]), min_size=1, max_size=2, unique=True))
    defaults = {} if name == "diagnose" else {"n_resamples": 20, "rng": 1}
    result = ask(
        function, **({"scores": None} | asked | defaults | {key: data.draw(nonsense(), key) for key in replaced})
    )
    if result is not None:
        told(result)


@fuzz(33, question=coincidences())
def test_two_lists_of_times_are_counted_as_the_oracle_counts(question):
    """Any container, unit, gaps, lag and null: the hits of a double loop, sound laws, and texts that say so."""
    lists, asked = question
    result = ask(nf.coincidence, **asked)
    assert result is not None
    if asked["edges"] == "zero":
        assert (result.recall_hits, result.precision_hits) == lists.hits()
        assert (result.n_events, result.n_predictions) == (len(lists.events), len(lists.alarms))
    else:
        hits, counted, alarms_hit = lists.inner_hits()
        assert (result.recall_hits, result.n_events, result.precision_hits) == (hits, counted, alarms_hit)
        assert result.n_predictions == len(lists.inner_alarms())
    assert result.n == len(lists.watched)
    told(result)


@fuzz(50, question=coincidences(), data=st.data())
def test_nonsense_beside_two_lists_of_times_is_refused_in_one_line(question, data):
    """One or two arguments of any kind: an answer that can be written down, or one line."""
    _, asked = question
    names = [*asked, "method", "alternative", "ties", "alpha", "zero_division", "event_name", "time_unit", "preset"]
    replaced = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    result = ask(
        nf.coincidence, **asked | {"n_resamples": 20} | {name: data.draw(nonsense(), name) for name in replaced}
    )
    if result is not None:
        told(result)


@fuzz(10, question=questions(max_steps=6, scored=True), value=nonsense(), other=nonsense())
def test_nonsense_put_to_results_is_refused_in_one_line(question, value, other):
    """The same for everything that results, distributions, tolerances and detectors can be asked."""
    result = ask(nf.evaluate, **question.arguments)
    curve = ask(nf.sweep, **question.data)
    for null in [] if result is None else [result.precision_test.law, result.recall_test.law]:
        for question_to_law in (null.pmf, null.cdf, null.sf, null.quantile, null.critical_value):
            ask(question_to_law, value)
        ask(null.rvs, rng=value)
        ask(null.rvs, 10**15, rng=1)
    if result is not None:
        ask(result.f_beta, value)
        ask(result.interval, value)
        ask(result.f_test, value, n_resamples=20)
        ask(result.f_test, rng=value, n_resamples=20)
        ask(result.precision_test.pvalue_for, value, other)
        ask(result.false_alarms.rate, value)
        ask(result.events_needed, value, power=other)
        ask(result.events_needed, 0.5, power=value)
    ask(nf.power, recall=0.6, coverage=value, n_events=other)
    ask(nf.power, precision=value, share_alarms=other, n_events=3, n_steps=99, n_resamples=5)
    ask(nf.sample_size, recall=0.6, coverage=0.2, n_steps=value, alpha=other)
    ask(nf.sample_size, recall=0.6, share_alarms=0.01, tolerance=value, steps_per_event=other)
    if curve is not None:
        ask(curve.familywise, n_resamples=20, rng=value)
        ask(curve.familywise, n_resamples=20, beta=value)
        ask(curve.familywise, n_resamples=20, alpha=value)
        ask(curve.to_frame, value)
        ask(curve.to_dict, flat=value)
        ask(curve.to_latex, label=value, caption=other)
        ask(curve.f_beta, value)
    ask(nf.Tolerance, early=value, late=other)
    ask(nf.Tolerance, early=value, late=0, unit=other)
    ask(nf.nulls.Seasonal, period=value)
    ask(nf.nulls.Seasonal, period=12, bins=value)
    ask(nf.nulls.Blocks, length=value)
    ask(nf.nulls.CircularShift, guard=value, every=other)
    ask(nf.detectors.energy_transient, value)
    ask(nf.detectors.energy_transient, [1, 2, 3], value, other)
    ask(nf.datasets.simulate_quakes, rng=value)


NAMES: list[Any] = [
    *("a", "a\x00", "b", "B", "é", "a b", " ", "", "1", "a,b\n", "=1", "<b>", "$x_1$", "*", "\ud800", "x" * 300),
    *(1, 1.0, True, np.int64(2), None, math.nan, Fraction(1, 3), date(2020, 1, 1), b"a", (1,), 10**400),
]


class Mute:
    """An object that does not say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


class Wild(Mute):
    """One that no array is made of, either."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise OSError("no numbers")

    def __iter__(self) -> Any:
        raise KeyError("no items")


def anything() -> st.SearchStrategy[Any]:
    """Nonsense, and objects that answer no question."""
    odd: list[Callable[[], Any]] = [
        lambda: np.True_,
        Mute,
        Wild,
        lambda: [Mute()],
        lambda: {"a": Wild()},
        lambda: pl.LazyFrame({"a": [0]}),
        lambda: 10**5_000,
        lambda: np.array(["d0", "d1"]),
        lambda: np.ma.masked,
        lambda: "a\ud800",
    ]
    return nonsense() | st.sampled_from(odd).map(lambda make: make())


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A wide table of a few short series in any container, with odd names, gaps and copies, and how to read it."""
    n, n_series = draw(st.integers(3, 9)), draw(st.integers(1, 4))
    named = st.sampled_from(NAMES if draw(st.booleans()) else ["s0", "s1", "s2", "s3", "s0\x00"])
    names = draw(st.lists(named, min_size=n_series, max_size=n_series, unique_by=str))
    labels = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    truths = [draw(labels) for _ in range(n_series)]
    truths = [draw(st.sampled_from(truths)) for _ in range(n_series)]  # some of them shared
    scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, math.nan, math.inf]), min_size=n, max_size=n)
    columns: dict[str, list[Any]] = {
        "name": [name for name in names for _ in range(n)],
        "label": [label for truth in truths for label in truth],
    }
    detectors = draw(
        st.lists(st.sampled_from(["d0", "d1", "d0\x00", "d 1", "d*"]), min_size=1, max_size=3, unique=True)
    )
    for name in detectors:
        columns[name] = [score for _ in range(n_series) for score in draw(scores)]
    asked: dict[str, Any] = {"series": "name", "truth": "label", "scores": "d*"}
    if draw(st.booleans()):
        groups = [draw(named) for _ in range(n_series)]
        columns["set"] = [group for group in groups for _ in range(n)]
        asked["group"] = "set"
    if draw(st.booleans()):
        columns["t"] = list(range(n)) * n_series
        asked["times"] = "t"
    asked |= draw(
        st.sampled_from(
            [
                {"budget": "20%"},
                {"threshold": 1.0},
                {"quantile": 0.5},
                {"budget": 0.3, "metrics": ["auc-roc", "pa-f1"], "rank_by": "pa-f1"},
            ]
        )
    )
    asked["null"] = draw(st.sampled_from(["auto", "permutation", "circular-shift", "segments"]))
    asked["tolerance"] = draw(st.sampled_from([0, 1, "10%"]))
    asked["missing"] = draw(st.sampled_from(["error", "mask"]))
    if draw(st.booleans()):  # the same as a long table, detectors below one another
        many = len(columns["name"])
        columns = {name: values * len(detectors) for name, values in columns.items() if name not in detectors} | {
            "by": [name for name in draw(st.permutations(detectors)) for _ in range(many)],
            "z": [score for name in detectors for score in columns[name]],
        }
        asked |= {"detector": "by", "scores": "z"}
    if draw(st.booleans()):
        del asked["truth"]
        events = st.sampled_from([[], [(0, 1)], [1], [(1, 0)], [[0, 9**20]]])
        asked["ranges"] = {name: draw(events) for name in names if name == name}  # not of NaN, a word of no text
    return columns, asked


def in_a_frame(columns: dict[str, list[Any]]) -> st.SearchStrategy[Any]:
    """The same table from libraries that can hold it."""
    held: list[Any] = [columns]
    for make in (pd.DataFrame, lambda given: pl.DataFrame(given, strict=False), pa.table):
        with contextlib.suppress(Exception):  # of the library
            held.append(make(columns))
    return st.sampled_from(held)


@fuzz(10, 5_000, table=tables(), data=st.data())
def test_whatever_a_study_is_asked_it_answers_or_refuses_in_one_line(table, data):
    """Odd names, any value of any argument: cells fail by their data alone, and all that is said can be written."""
    columns, asked = table
    source = data.draw(in_a_frame(columns))
    names = sorted(set(inspect.signature(nf.study).parameters) - {"n_resamples"})
    for name in data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
        asked[name] = data.draw(anything(), name)
    source = asked.pop("source", source)
    alone = mock.patch("nofluke.studies.run.can_start", return_value=False)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), alone:
        study = ask(nf.study, source, **{"workers": 1, "n_resamples": 20} | asked)
        if study is None:
            return
        assert not [reason for reason in study.failed["reason"] if re.search(r"\(\w+\.py, line", reason)]
        assert len(study.cells["series"]) + study.n_missing == study.n_cells == study.n_series * len(study.detectors)
        for series, detector in zip(study.cells["series"], study.cells["detector"], strict=True):
            cell = study.cell(series, detector)
            assert (cell["series"], cell["detector"]) == (series, detector)
        told(study)
        value, other = data.draw(anything()), data.draw(anything())
        for question, given in (
            (study.cell, {"series": value, "detector": other}),
            (study.cell, {"series": value, "detector": study.detectors[0]}),
            (study.corrected, {"measure": value}),
            (study.pooled, {"level": value}),
            (study.compare, {"level": value, "n_resamples": 19}),
            (study.compare, {"rng": data.draw(nonsense()), "n_resamples": 19}),
            (study.leaderboard, {"level": value}),
            (study.table, {"measures": value}),
            (study.write, {"path": value}),
            (study.to_frame, {"backend": value}),
            (nf.Study.open, {"path": value}),
        ):
            ask(question, **given)
        ask(study.compare, value, other)


@fuzz(6, question=questions(), data=st.data())
def test_the_same_seed_gives_the_same_result_whatever_happens_to_the_data_later(question, data):
    """Results own their data, and depend neither on the number of processors nor on when they are asked."""
    chance = data.draw(chances(question.case))
    asked = question.arguments | chance
    mine = {key: value if callable(value) else copy.deepcopy(value) for key, value in asked.items()}
    sweeps = "scores" in question.data
    swept = {key: value for key, value in mine.items() if key not in ("threshold", "tolerance")}
    with mock.patch("os.cpu_count", return_value=1):
        first = ask(nf.evaluate, **asked)
        curve = ask(nf.sweep, **question.data, **chance) if sweeps else None
        if first is None:
            return
        expected = [told(first), told(curve) if sweeps else None]
    strata = np.arange(question.case.n) // 3
    if isinstance(chance["null"], nf.nulls.Seasonal) and chance["null"].strata is not None:
        mine["null"] = swept["null"] = nf.nulls.Seasonal(strata=strata)
    with mock.patch("os.cpu_count", return_value=data.draw(st.sampled_from([2, 3, 40]))):
        later = nf.evaluate(**mine)
        later_curve = nf.sweep(**swept) if sweeps else None
        spoil(mine | {"strata": strata})
        found = [told(later), told(later_curve) if sweeps else None]
    for then, now in zip(itertools.chain(*filter(None, expected)), itertools.chain(*filter(None, found)), strict=True):
        assert repr(now) == repr(then)


@fuzz(
    10,
    question=questions(max_steps=40),
    period=st.sampled_from([None, 2, 3, 7, "hour of day", "month"]),
    data=st.data(),
)
def test_a_diagnosis_recommends_a_null_that_works(question, period, data):
    """Every finding has a p-value or none, and the recommended null can be put to use."""
    result = ask(nf.diagnose, **question.arguments, period=period, alpha=data.draw(st.sampled_from([0.001, 0.05, 0.9])))
    dates = question.case.times_argument is not None and question.case.times_argument.dtype.kind == "M"
    if result is None:
        assert may_be_refused(question) or (isinstance(period, str) and not dates)
        return
    told(result)
    check_p(*(finding.pvalue for finding in result.findings if finding.pvalue is not None))
    assert all(math.isfinite(finding.statistic) or math.isnan(finding.statistic) for finding in result.findings)
    one, same = (
        nf.evaluate(**question.arguments, null=null, n_resamples=20, rng=1)
        for null in (result.recommended, result.recommended.text)
    )
    assert told(one)[0] == same.to_json()


@fuzz(6, values=st.lists(st.integers(0, 9) | st.floats(0, 1e15), min_size=1, max_size=30), data=st.data())
def test_the_detector_scores_as_its_formula_says(values, data):
    """Averages over the last steps, from any container."""
    long = data.draw(st.integers(1, len(values)))
    short = data.draw(st.integers(1, long))
    values = [float(v) for v in values]
    brought = data.draw(dressed(values))
    scores = ask(nf.detectors.energy_transient, brought, short, long)
    if scores is None:
        assert np.asarray(brought).dtype.kind == "O"
        return
    for t in range(len(values)):
        exact = [Fraction(v) for v in values[: t + 1]]
        full = t >= long - 1
        expected = sum(exact[-short:]) / short / (sum(exact[-long:]) / long + 1) if full else 0
        np.testing.assert_allclose(scores[t], float(expected), rtol=1e-12)


# The command line


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as stopped:
            code = stopped.code
    assert code in (0, 1, 2, 3), err.getvalue()
    if code == 2:
        line = err.getvalue().removesuffix("\n")
        assert line.startswith("nofluke: ")
        check_message(line)
        assert not out.getvalue()
    elif code:
        line = err.getvalue().removesuffix("\n")
        assert line.startswith("nofluke: gate: ")
        assert "\n" not in line
    else:
        assert not err.getvalue()
    return code, out.getvalue(), err.getvalue()


@st.composite
def files(draw: st.DrawFn) -> tuple[Case, str, str, list[str]]:
    """A case as the text of a file, the ending of its name, and the options that say which column is which."""
    case = draw(cases(max_steps=12))
    columns: dict[str, list[str]] = {"truth": list(map(str, case.truth)), "scores": list(map(str, case.scores))}
    options = ["--threshold", str(case.threshold)]
    if not all(case.open_steps):
        if draw(st.booleans()):
            columns["mask"] = [str(int(closed)) for closed in case.mask_argument]
        else:
            word = draw(st.sampled_from(["", "NA", "nan", "NULL", "None", "n/a"]))
            scores = columns["scores"]
            columns["scores"] = [z if is_open else word for z, is_open in zip(scores, case.open_steps, strict=True)]
            options += ["--missing", "mask"]
    if case.times_argument is not None:
        times = case.times_argument
        if times.dtype.kind == "i":  # such as nanoseconds since 1970, which are no floats
            times = times.astype(np.int64) + draw(st.sampled_from([0, 1_600_000_000_000_000_001]))
        columns["time"] = [str(t) for t in (times.astype("datetime64[ns]") if times.dtype.kind == "M" else times)]
    early, late = (str(case.tolerance_arguments[side]).replace(" nanoseconds", "ns") for side in ("early", "late"))
    if ":" in early + late or " " in early + late:  # a timedelta of Python's
        early, late = (f"{case.tolerance_arguments[s] // np.timedelta64(1, 'us')}us" for s in ("early", "late"))
    options += ["--early", early, "--late", late]
    options += ["--unit", "clock"] if "unit" in case.tolerance_arguments else []
    names = draw(st.permutations(["label", "z", "a b", "Größe", 'q"uote', "x,y;z", "_5", "1st"]))
    order = draw(st.permutations(list(columns)))
    headed = draw(st.booleans())
    for position, role in enumerate(order):
        options += [f"--{role}", names[position] if headed and draw(st.booleans()) else str(position)]
    rows = list(zip(*(columns[role] for role in order), strict=True))
    if headed:
        rows.insert(0, tuple(names[: len(order)]))
    out = io.StringIO()
    ending, delimiter = draw(
        st.sampled_from([(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", "|"), (".dat", "\t")])
    )
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)
    text = draw(st.sampled_from(["", "# a comment, with; all\t| of them\n", "#\n#\n\n"])) + out.getvalue()
    text = draw(st.sampled_from([text, text.rstrip("\n"), "\ufeff" + text])) if headed else text
    return case, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))), ending, options


@fuzz(13, file=files())
def test_the_command_line_counts_as_the_oracle(file):
    """Any separator, line end, header, comment or word for a missing value: the oracle's counts."""
    case, text, ending, options = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        path.write_bytes(text.encode())
        code, out, err = run("evaluate", str(path), *options, "--format", "json")
    assert code == 0, err
    found = json.loads(out, parse_constant=int)
    expected = [dict(zip(("tp", "fp", "fn", "tn"), table, strict=True)) for table in case.tables()]
    assert [found["tolerant_truth"], found["tolerant_predictions"]] == expected
    assert 0 < found["precision"]["pvalue"] <= 1


FRAGMENTS = [
    *(
        "",
        "\n",
        "\r",
        ",",
        ";",
        "\t",
        '"',
        "'",
        "#",
        "\x00",
        "\ufeff",
        "é",
        "inf",
        "-inf",
        "NA",
        "1e999",
        "1,5",
        "true",
    ),
    *("2020-01-01", "2020-01-01T00:00Z", "9" * 500, "0x10", " ", "\n\n", "nan", "sep=;\n", "-", "1_0", "٣", "ﬁ"),
]
WORDS = [
    *(
        "",
        " ",
        "-1",
        "0",
        "1",
        "0.5",
        "9007199254740993",
        "1e400",
        "nan",
        "inf",
        "-0",
        "9" * 400,
        "2h",
        "1M",
        "²",
        "-",
        "--",
        "~",
        "label\n",
    ),
    *(
        "permutation",
        "circular-shift:guard=1e3",
        "blocks:length=",
        "seasonal:period=month",
        "stationary",
        "mask",
        "\ud800",
    ),
    *("hour of day", "0.1,0.2", "é" * 700, "%Y-%m-%d", "%", "%Q", "*", "/", "/dev/null", "../", "a\nb"),
]


def options_of(command: str) -> list[str]:
    """The options of a command that take any word, but where to write and what takes long."""
    free = [parameter for parameter in cli.commands[command].params if not isinstance(parameter.type, click.Choice)]
    return sorted(
        {parameter.opts[-1] for parameter in free if not getattr(parameter, "is_flag", True)}
        - {"--output", "--resamples"}
    )


@fuzz(26, file=files(), data=st.data())
def test_spoilt_files_and_options_end_in_one_line(file, data):
    """Exit code 0, 1, 2 or 3 and one line on standard error, whatever is in the file and whatever is typed."""
    _, text, ending, options = file
    command = data.draw(st.sampled_from(["evaluate", "sweep", "diagnose"]))
    if command == "sweep":
        options = [word for at, word in enumerate(options) if not {"--early", "--late"} & {word, options[at - 1]}]
        options += data.draw(st.sampled_from([[], ["--chance"], ["--familywise"]]))
    if data.draw(st.booleans()):
        for _ in range(data.draw(st.integers(1, 3))):
            first = data.draw(st.integers(0, len(text)))
            text = text[:first] + data.draw(st.sampled_from(FRAGMENTS)) + text[first + data.draw(st.integers(0, 6)) :]
    else:
        for option in data.draw(st.lists(st.sampled_from(options_of(command)), min_size=1, max_size=2)):
            options = [*options, f"{option}={data.draw(st.sampled_from(WORDS))}"]
    options += [] if command == "diagnose" else ["--resamples", "20"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        path.write_bytes(text.encode("utf-8", data.draw(st.sampled_from(["replace", "backslashreplace"]))))
        code, out, _ = run(command, str(path), *options)
    assert out if code != 2 else not out


@fuzz(4, 1_000, question=questions(), data=st.data())
def test_a_report_can_be_written_of_every_result(question, data):
    """The page's numbers are JSON without NaN, and the page is written."""
    result = ask(nf.evaluate, **question.arguments, **data.draw(chances(question.case)))
    assume(result is not None)
    json.dumps(make_payload(result), allow_nan=False)
    with tempfile.TemporaryDirectory() as folder:
        assert ask(result.report, Path(folder) / "report.html") is not None
