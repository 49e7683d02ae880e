"""One labelled series: read once, asked often; and the arguments that every function takes."""

import inspect
import pickle
from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import nofluke as nf
from nofluke.cli import cli
from nofluke.inference.compare import read_several
from nofluke.series.arguments import (
    CHOICES,
    DECLARED,
    AboutCells,
    AboutDetector,
    AboutEither,
    AboutFolds,
    AboutMetric,
    AboutScores,
    AboutSeries,
    AboutTimes,
    names_of,
)

N = 300
RNG = np.random.default_rng(3)
TRUTH = np.zeros(N, dtype=bool)
TRUTH[[20, 21, 22, 80, 140, 141, 200, 260, 261]] = True
SCORES = RNG.normal(size=N) + 2 * TRUTH
OTHER = RNG.normal(size=N)
DAYS = pd.date_range("2024-01-01", periods=N, freq="D")
ABOUT = {
    "nothing": {},
    "a clock": {"times": DAYS},
    "ranges": {"count_events": "ranges"},
    "less": {"warmup": "10%", "mask": np.arange(N) > 280},
}
CUT = {"quantile": 0.9, "tolerance": 2}
DRAWS = {"n_resamples": 50, "rng": 1}
QUESTIONS = {
    "evaluate": ((SCORES,), CUT),
    "sweep": ((SCORES,), {"tolerances": (0, 2), "quantiles": [0.8, 0.9]}),
    "compare": (({"a": SCORES, "b": OTHER},), CUT),
    "diagnose": ((SCORES,), CUT),
}


@pytest.mark.parametrize("how", ABOUT)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_series_answers_as_the_function_does(question, how):
    """Passed in place of the truth, or asked itself."""
    given, asked = QUESTIONS[question]
    series = nf.Series(TRUTH, **ABOUT[how])
    plain = getattr(nf, question)(TRUTH, *given, **asked, **ABOUT[how])
    assert getattr(nf, question)(series, *given, **asked).to_dict() == plain.to_dict()
    assert getattr(series, question)(*given, **asked).to_dict() == plain.to_dict()


def gaps(scores):
    """Some of the scores are missing."""
    return np.where(np.arange(N) % 50 == 7, np.nan, scores)


DETECTORS = {
    "floats": ((SCORES,), CUT),
    "short floats": ((OTHER.astype(np.float32),), CUT),
    "a list": ((SCORES.tolist(),), CUT),
    "whole numbers": (((10 * OTHER).astype(int),), CUT),
    "low is odd": ((-SCORES,), {**CUT, "higher_is": "normal"}),
    "missing": ((gaps(OTHER),), {**CUT, "missing": "mask"}),
    "alarms": ((), {"predictions": SCORES > 1.5, "tolerance": 2}),
    "times of alarms": ((), {"predictions": ["2024-03-01", "2024-05-20 06:00"], "tolerance": "2d"}),
    "shorter": ((OTHER[20:],), {**CUT, "align": "end"}),
    "another tolerance": ((SCORES,), {"budget": "5%", "tolerance": nf.Tolerance(early=0, late=5)}),
    "in time": ((OTHER,), {"threshold": 1.0, "tolerance": "36h"}),
    "episodes": ((SCORES,), {**CUT, "count_alarms": "episodes"}),
}
"""Detectors of all kinds; those of which arguments belong to the series are asked without one."""


@settings(max_examples=40)
@given(
    kinds=st.permutations([kind for kind in DETECTORS if kind != "missing"]),
    how=st.sampled_from(["a clock", "ranges", "less", "times"]),
)
def test_what_detectors_share_of_a_series_changes_no_answer(kinds, how):
    """Whatever was asked of it before, of whichever detectors, the answer is that of a truth read afresh."""
    about = {"times": DAYS, **ABOUT.get(how, {"truth_as": "times"})}
    truth = DAYS[np.flatnonzero(TRUTH)] + pd.Timedelta("6h") if how == "times" else TRUTH
    series = nf.Series(truth, **about)
    for kind in kinds:
        scores, asked = DETECTORS[kind]
        assert series.evaluate(*scores, **asked).to_dict() == nf.evaluate(truth, *scores, **asked, **about).to_dict()


def test_ranges_in_gaps_of_the_clock_count_where_the_tolerance_is_in_time():
    """And not where it is in steps: what is known of the one is not taken for the other."""
    days = DAYS.delete(np.arange(100, 120))
    ranges = [(DAYS[30], DAYS[33]), (DAYS[105] + pd.Timedelta("6h"), DAYS[107]), (DAYS[200], DAYS[201])]
    about = {"times": days, "truth_as": "ranges"}
    series, scores = nf.Series(ranges, **about), SCORES[: len(days)]
    for tolerance, n_events in (("2d", 3), (2, 2), ("2d", 3), (3, 2)):
        asked = {"quantile": 0.9, "tolerance": tolerance}
        result = series.evaluate(scores, **asked)
        assert result.n_events == n_events
        assert result.to_dict() == nf.evaluate(ranges, scores, **asked, **about).to_dict()


def test_events_are_looked_at_once_for_all_detectors_of_a_series():
    """By evaluate, compare and sweep, whatever scores are made of; not where they leave other steps."""
    series = nf.Series(TRUTH, times=DAYS)
    one = series.evaluate(SCORES, **CUT).cell.trial
    for scores in (OTHER, OTHER.tolist(), -SCORES):
        assert series.evaluate(scores, **CUT).cell.trial.zones is one.zones
    assert series.evaluate(OTHER, quantile=0.9, tolerance=3).cell.truth is one.truth
    masked = nf.Series(TRUTH, times=DAYS, missing="mask")
    assert masked.evaluate(gaps(OTHER), **CUT).cell.truth is not masked.evaluate(SCORES, **CUT).cell.truth
    first, second = (one.cell for one in read_several(TRUTH, {"a": SCORES, "b": OTHER.tolist()}, **CUT)[0].values())
    assert first.truth is second.truth
    assert first.trial.zones is second.trial.zones
    again = pickle.loads(pickle.dumps(series.evaluate(OTHER, **CUT)))
    assert again.to_dict() == series.evaluate(OTHER, **CUT).to_dict()


@pytest.mark.parametrize("how", ABOUT)
def test_metrics_take_a_series(how):
    """Where the truth comes second, too, and where there is no detector."""
    series = nf.Series(TRUTH, **ABOUT[how])
    plain = nf.significance("auc-roc", TRUTH, SCORES, **DRAWS, **ABOUT[how]).to_dict()
    assert series.significance("auc-roc", SCORES, **DRAWS).to_dict() == plain
    assert nf.significance("auc-roc", truth=series, scores=SCORES, **DRAWS).to_dict() == plain
    level = nf.chance("auc-roc", TRUTH, **DRAWS, **ABOUT[how])
    assert series.chance("auc-roc", **DRAWS).to_dict() == level.to_dict()


def test_a_series_writes_pages_and_draws_itself(tmp_path):
    """Of one detector, of several, and of two lists."""
    series = nf.Series(TRUTH, times=DAYS, mask=np.arange(N) < 9)
    assert series.report(SCORES, tmp_path / "one.html", **CUT).exists()
    assert series.report({"a": SCORES, "b": OTHER}, tmp_path / "two.html", **CUT).exists()
    told = [text.get_text() for text in series.plot(Figure().subplots()).get_legend().get_texts()]
    assert told == ["events: 9", "left out"]
    lists = nf.Series([3, 9, 20], span=(0, 30), gaps=[(12, 15)])
    assert lists.report([4, 21], tmp_path / "lists.html", tolerance=1).exists()
    told = [text.get_text() for text in lists.plot(Figure().subplots()).get_legend().get_texts()]
    assert told == ["events: 3", "not watched"]


def test_two_lists_are_a_series_with_a_span():
    """And answer as `coincidence` and `sweep_tolerances` do."""
    events, alarms, how = [3, 9, 20], [4, 21, 28], {"span": (0, 30), "gaps": [(12, 15)]}
    series = nf.Series(events, **how)
    assert series.n_events == 3
    found = series.evaluate(alarms, tolerance=1)
    assert found.to_dict() == nf.coincidence(events, alarms, tolerance=1, **how).to_dict()
    swept = series.sweep(alarms, tolerances=[1, 2])
    assert swept.to_dict() == nf.sweep_tolerances(events, alarms, tolerances=[1, 2], **how).to_dict()
    for ask in (series.compare, series.diagnose, lambda: series.significance("auc-roc"), lambda: series.chance("f1")):
        with pytest.raises(nf.InputError, match="truth is a Series of times without steps: pass one without a span"):
            ask()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"truth": TRUTH}, "300 steps, 9 events"),
        ({"truth": TRUTH, "count_events": "ranges"}, "300 steps, 5 ranges"),
        ({"truth": TRUTH, "times": DAYS}, "300 steps, 9 events, 2024-01-01 to 2024-10-26, a step every 1d"),
        ({"truth": [3, 7], "n_steps": 50}, "50 steps, 2 events"),
        ({"truth": [3, 7], "span": (0, 9)}, "2 events from 0 to 9"),
    ],
)
def test_a_series_says_what_it_is(given, said):
    """In one line, with notes below."""
    series = nf.Series(**given)
    assert str(series).splitlines()[0] == said
    assert repr(series) == f"<nofluke.Series: {said}>"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: nf.evaluate(nf.Series(TRUTH), SCORES, times=DAYS, mask=TRUTH, **CUT),
            "truth is a Series, which has its own arguments: leave out times and mask, or pass them to the Series.",
        ),
        (
            lambda: nf.coincidence(nf.Series(TRUTH), [3], tolerance=1),
            "events is a Series of steps: pass one with a span.",
        ),
        (
            lambda: nf.coincidence(nf.Series([3], span=(0, 9)), [3], tolerance=1, tick=1),
            "events is a Series, which has its own arguments: leave out tick, or pass them to the Series.",
        ),
        (lambda: nf.Series([3, 7]), "pass n_steps= or times="),
        (lambda: nf.Series(TRUTH, gaps=[(1, 2)]), "gaps is for two lists of times: pass span= too, or leave it out."),
        (lambda: nf.Series([1], span=(0, 9), mask=[0]), "mask is for series of steps: leave it, or span, out."),
        (lambda: nf.Series(TRUTH, warmup=400), "warmup=400 leaves none of the 300 steps"),
        (lambda: nf.evaluate([3], SCORES, n_steps=9, **CUT), "n_steps=9 does not fit scores, which has 300 values"),
        (lambda: nf.evaluate([3], predictions=[4]), "pass n_steps=, or times=, one for each step"),
    ],
)
def test_what_does_not_fit_a_series_is_refused_in_words(call, message):
    """Its arguments are its own."""
    with pytest.raises(nf.InputError, match=message):
        call()


def test_the_number_of_steps_makes_two_lists_a_series_of_steps():
    """What a clock of 0, 1, 2, ... does, and in steps."""
    found = nf.evaluate([3, 40], predictions=[4, 70], n_steps=100, tolerance=1)
    labels, alarms = np.zeros(100), np.zeros(100)
    labels[[3, 40]] = alarms[[4, 70]] = 1
    assert found.to_dict() == nf.evaluate(labels, predictions=alarms, tolerance=1).to_dict()


# the arguments, declared once

TAKING = {
    "evaluate": AboutDetector,
    "diagnose": AboutDetector,
    "compare": AboutDetector,
    "report": AboutDetector,
    "plot.timeline": AboutDetector,
    "sweep": AboutScores,
    "significance": AboutMetric,
    "chance": AboutSeries,
    "coincidence": AboutTimes,
    "sweep_tolerances": AboutTimes,
    "Series": AboutEither,
}
AMONG_OTHERS = {"study": AboutCells, "cross_val_evaluate": AboutFolds}


@pytest.mark.parametrize("name", TAKING)
def test_arguments_stand_in_the_signature_and_in_the_docstring(name):
    """Those about the series, then those about the detector, then the function's own; with their defaults."""
    function = nf
    for part in name.split("."):
        function = getattr(function, part)
    taken = inspect.signature(function).parameters
    names = [one.name for one in taken.values() if one.kind is one.KEYWORD_ONLY]
    declared = [one for one in DECLARED if one in get_type_hints(TAKING[name])]
    assert names[: len(declared)] == declared
    for one in declared:
        assert taken[one].default is DECLARED[one].default
        assert one in inspect.getdoc(function)
    assert "<about>" not in inspect.getdoc(function)
    called = "Series.__init__" if name == "Series" else name.split(".")[-1]
    with pytest.raises(TypeError, match=rf"{called}\(\) got an unexpected keyword argument 'tolerence'"):
        function(TRUTH, SCORES, tolerence=1)


@pytest.mark.parametrize("name", AMONG_OTHERS)
def test_arguments_stand_among_those_of_a_function_that_has_others_before_them(name):
    """Those about the series in their order, those about the detector in theirs; with their defaults."""
    function, declared = getattr(nf, name), names_of(AMONG_OTHERS[name])
    taken = inspect.signature(function).parameters
    for some in (set(AboutSeries.__annotations__), set(DECLARED) - set(AboutSeries.__annotations__)):
        own = [one for one in declared if one in some]
        first = list(taken).index(own[0])
        assert list(taken)[first : first + len(own)] == own
    for one in declared:
        assert taken[one].default is DECLARED[one].default
        assert one in inspect.getdoc(function)
    assert "<about>" not in inspect.getdoc(function)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'tolerence'"):
        function(*["x"] * sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in taken.values()), tolerence=1)


COMMANDS = {
    "evaluate": AboutDetector,
    "diagnose": AboutDetector,
    "compare": AboutDetector,
    "report": AboutDetector,
    "sweep": AboutScores,
    "significance": AboutMetric,
    "chance": AboutSeries,
    "coincidence": AboutTimes,
    "study": AboutCells,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_of_the_arguments(command):
    """Every declared argument that commands take as it is has an option with its words, its default and its help."""
    options = {option.name: option for option in cli.commands[command].params}
    declared = [name for name in names_of(COMMANDS[command]) if DECLARED[name].option]
    assert declared
    for name in declared:
        option = options[name]
        assert (option.opts, option.default) == ([f"--{name.replace('_', '-')}"], DECLARED[name].default)
        assert tuple(getattr(option.type, "choices", ())) == CHOICES.get(name, ())
        if (command, name) == ("study", "warmup"):  # or a column
            assert option.help.startswith(DECLARED[name].option.removesuffix("."))
        else:
            assert option.help == DECLARED[name].option


def test_defaults_are_those_of_reading():
    """What is not passed is what the signature says."""
    from nofluke.series.reading import read

    own = inspect.signature(read).parameters
    assert {name: one.default for name, one in own.items() if name in DECLARED} == {
        name: declared.default for name, declared in DECLARED.items() if name in own
    }
