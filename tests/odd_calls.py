"""Every public function and method, called with odd arguments: a result or one line, and the process lives on.

A call is made from a name and a seed alone, so that it can be made again. As a script this makes many, each name in a
process of its own that is watched for its end, its time and its memory::

    python tests/odd_calls.py 20000                    # so many calls of everything
    python tests/odd_calls.py 20000 evaluate plot.lag  # of these
    python tests/odd_calls.py 1 evaluate --first 123   # the one with seed 123 again
"""

import argparse
import faulthandler
import functools
import inspect
import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

import nofluke as nf
from exported import ALARMS, EVENTS, GOOD, RANKED, TRUTH, N, results
from fuzzing import ask, odd_value
from nofluke.adapters.scorer import Scorer
from nofluke.nulls.base import MOST_RESAMPLES
from nofluke.plain import whole_or_none
from nofluke.text.exports import Exports

MODULES = {"": nf, **{f"{name}.": getattr(nf, name) for name in ("metrics", "nulls", "plot", "datasets", "detectors")}}
SECONDS = 20
"""Of processor time, for one call."""
MEMORY = 6 << 30
FEW = 1_000  # draws
DRAWS = {"n_resamples": 20, "rng": 1}
SERIES = {"truth": TRUTH.tolist(), "scores": GOOD.tolist(), "threshold": 5, "tolerance": 1}
LISTS = {"events": EVENTS, "alarms": ALARMS, "span": (0, 119)}


def _mean(truth: np.ndarray, scores: np.ndarray) -> float:
    return float(scores.mean())


# What a function needs to be called at all, and what keeps the call short; others need nothing
NEEDED: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("diagnose", "plot.timeline"), SERIES),
    **dict.fromkeys(("evaluate", "report"), SERIES | DRAWS),
    "compare": SERIES | DRAWS | {"scores": {"a": GOOD.tolist(), "b": TRUTH.tolist()}},
    "sweep": {"truth": TRUTH.tolist(), "scores": GOOD.tolist(), "thresholds": [2, 5], **DRAWS},
    "coincidence": LISTS | DRAWS | {"tolerance": 2},
    "sweep_tolerances": LISTS | DRAWS | {"tolerances": [1, 2]},
    "significance": {
        "metric": "f1",
        "truth": TRUTH.tolist(),
        "scores": GOOD.tolist(),
        "threshold": 5,
        **DRAWS,
        "workers": 1,
    },
    "chance": {"metric": "auc-roc", "truth": TRUTH.tolist(), **DRAWS, "workers": 1},
    "cross_val_evaluate": {"estimator": GaussianNB(), "X": GOOD[:, None], "y": TRUTH, "cv": 2, **DRAWS},
    "power": {"recall": 0.6, "coverage": 0.2, "n_events": 10, "n_steps": 2_000, **DRAWS},
    "rank": {"table": RANKED, "source": "from", **DRAWS},
    "sample_size": {"recall": 0.6, "coverage": 0.2},
    "Series": {"truth": TRUTH.tolist()},
    "split": {"series": GOOD.tolist()},
    "Tolerance": {"early": 1, "late": 2},
    "Confusion": {"tp": 1, "fp": 2, "fn": 3, "tn": 4},
    "metrics.Function": {"function": _mean},
    "metrics.get": {"metric": "f1"},
    "metrics.register": {"name": "own-metric", "function": _mean},
    "nulls.Blocks": {"length": 3},
    "nulls.Custom": {"function": lambda generator: generator.random(N) < 0.1},
    "nulls.Jitter": {"window": 3},
    "nulls.PeriodShuffle": {"period": 3},
    "nulls.as_null": {"null": "permutation"},
    "datasets.public_labels": {"name": "nab"},
    "datasets.simulate_quakes": {"n_steps": 50, "n_events": 5},
    "detectors.energy_transient": {"x": GOOD.tolist()},
    "ChanceLevel.pvalue_of": {"value": 0.5},
    "Significance.pvalue_of": {"value": 0.5},
    "Comparison.chance": {"measure": "f1"},
    "Comparison.difference": {"first": "good", "second": "poor"},
    "Confusion.from_marginals": {"tp": 1, "predicted": 2, "actual": 3, "total": 9, "tolerance_in": "neither"},
    **{f"Confusion.{method}": {"name": "precision"} for method in ("chance", "interpretable", "measure", "why")},
    "Diagnosis.finding": {"name": "season"},
    "Ranking.difference": {"first": "x", "second": "y"},
    "Ranking.report": {"path": "report.html"},
    **{f"{kind}.f_beta": {"beta": 1} for kind in ("Evaluation", "Coincidence", "Sweep", "CoincidenceSweep")},
    **{f"{kind}.floor_above": {"measure": "recall", "alpha": 0.05} for kind in ("Evaluation", "Coincidence")},
    **{f"{kind}.corrected": {"side": "recall"} for kind in ("Sweep", "CoincidenceSweep")},
    **{f"{kind}.f_test": DRAWS for kind in ("Evaluation", "Coincidence")},
    **{f"{kind}.report": {"path": "report.html"} for kind in ("Evaluation", "Coincidence")},
    **{f"{kind}.statistic_test": {"name": "matching", **DRAWS} for kind in ("Evaluation", "Coincidence")},
    **{f"{kind}.familywise": DRAWS for kind in ("Sweep", "CoincidenceSweep")},
    **{f"{kind}.molchan": DRAWS for kind in ("Sweep", "CoincidenceSweep")},
    **{f"{kind}.measure": {"name": "csi"} for kind in ("Evaluation", "Coincidence")},
    **{f"{kind}.matrices": {"tolerance": 0, "threshold": 0} for kind in ("Sweep", "CoincidenceSweep")},
    "Tolerance.lagged": {"lag": 1},
    **{f"Law.{method}": {"k": 1} for method in ("cdf", "pmf", "sf")},
    **{f"Law.{method}": {"hits": 1} for method in ("lower", "tail", "upper")},
    "ChanceTest.pvalue_for": {"alternative": "greater"},
}

# classes that nofluke makes or that others derive from, and what has tests of its own
NOT_CALLED = {
    *("InputError", "ChanceLevel", "Coincidence", "CoincidenceSweep", "Comparison", "CrossValidation", "Diagnosis"),
    *(
        "Evaluation",
        "Molchan",
        "Needed",
        "Power",
        "Ranking",
        "SampleSize",
        "Significance",
        "Significances",
        "Study",
        "Sweep",
        "Watch",
        "WatchResult",
    ),
    *("datasets.BenchmarkLabels", "datasets.Quakes", "metrics.Metric", "nulls.NullModel", "detectors.Detector"),
    "study",
}
RESULTS = {
    **{"Evaluation": "evaluation", "Coincidence": "coincidence", "Sweep": "sweep", "CoincidenceSweep": "windows"},
    **{"Comparison": "three", "Confusion": "confusion", "CrossValidation": "cross-validation", "Power": "power"},
    **{"Molchan": "molchan", "Needed": "needed"},
    **{"Diagnosis": "diagnosis", "SampleSize": "sample size", "Significance": "significance"},
    **{"Significances": "significances", "ChanceLevel": "chance level", "FamilywiseTest": "familywise"},
    **{"Ranking": "ranking", "WatchResult": "watch"},
}
# without an underscore, but not in docs/reference/api
INNER = {
    *("Tolerance.by", "Tolerance.check", "Tolerance.event_ranges", "Tolerance.moved_by", "Tolerance.plain"),
    *("Tolerance.prediction_ranges", "Comparison.told", "ChanceLevel.shown", "Significance.shown"),
}
FIGURES = {
    **{"chance_level": ("level", "chance level"), "coincidence": ("result", "coincidence")},
    **{"compare": ("comparison", "three"), "evaluation": ("result", "evaluation"), "heatmap": ("curve", "sweep")},
    **{"lag": ("results", "evaluation"), "lags": ("sweep", "windows"), "leaderboard": ("board", "leaderboard")},
    **{"precision_recall": ("curves", "sweep"), "significance": ("result", "significance")},
    **{"significances": ("results", "significances"), "sweep": ("curve", "sweep"), "tolerance": ("curves", "sweep")},
    **{"verdicts": ("cells", "study"), "ranking": ("found", "ranking")},
    **{"molchan": ("curves", "molchan"), "performance": ("curves", "evaluation")},
    "watch": ("result", "watch"),
}


@functools.cache
def callables() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public function and class, and every public method of a result, that takes anything; and what it needs."""
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}
    for prefix, module in MODULES.items():
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and prefix + name not in NOT_CALLED:
                found[prefix + name] = thing, NEEDED.get(prefix + name, {})
    for name, (argument, result) in FIGURES.items():
        found[f"plot.{name}"] = getattr(nf.plot, name), {argument: results()[result]}
    law = results()["evaluation"].recall_test.law
    found["plot.null"] = nf.plot.null, {"distribution": law}
    others = {"Law": law, "ChanceTest": results()["evaluation"].recall_test, "Tolerance": nf.Tolerance(early=1, late=2)}
    others |= {"FalseAlarms": results()["evaluation"].false_alarms}
    fitted = GaussianNB().fit(GOOD[:, None], TRUTH)
    found["Scorer"] = nf.make_scorer("f1", tolerance=1), {"estimator": fitted, "X": GOOD[:, None], "y": TRUTH}
    found["Metric"] = nf.metrics.get("auc-roc"), {"truth": TRUTH, "detector": GOOD}
    labels = nf.datasets.BenchmarkLabels(
        name="own", truth=TRUTH == 1, groups=np.arange(N) // 60, entities=("a", "b"), n_ranges=3, source="here"
    )
    found["BenchmarkLabels.without"] = (
        lambda entity, other: labels.without(entity, other),
        {"entity": "a", "other": "b"},
    )
    things = {kind: results()[name] for kind, name in RESULTS.items()} | others
    for kind, thing in things.items():
        for name, _ in inspect.getmembers(type(thing), callable):
            if name[0] != "_" and f"{kind}.{name}" not in INNER:
                found[f"{kind}.{name}"] = getattr(thing, name), NEEDED.get(f"{kind}.{name}", {})
    return {name: call for name, call in found.items() if arguments_of(name, call[0])}


def arguments_of(name: str, function: Callable[..., Any]) -> list[str]:
    """What can be passed to a function by name; of an export also what its table can be asked for."""
    taken = inspect.signature(function).parameters
    if inspect.Parameter.VAR_KEYWORD in {one.kind for one in taken.values()}:
        own = getattr(function, "__self__", None)
        taken = {**taken, **(inspect.signature(own.table).parameters if isinstance(own, Exports) else {})}
    if name == "Scorer":
        return ["y"]  # what an estimator says of an X that it cannot read is its own affair
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [argument for argument, one in taken.items() if one.kind in kinds]


def odd_call(name: str, seed: int) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A function, and arguments of which one to three are odd: always the same for a seed."""
    chosen = random.Random(f"{name} {seed}")
    function, needed = callables()[name]
    named = arguments_of(name, function)
    replaced = chosen.sample(named, min(len(named), chosen.choices([1, 2, 3], [5, 3, 1])[0]))
    odd = {argument: odd_value(chosen, N) for argument in replaced}
    if FEW < (whole_or_none(odd.get("n_resamples")) or 0) <= MOST_RESAMPLES:
        del odd["n_resamples"]  # who asks for days of work gets them
    return function, needed | odd


def make(name: str, seed: int) -> None:
    """Make one call: it has a result, which can tell of itself, or is refused in one line."""
    function, arguments = odd_call(name, seed)
    result = ask(function, **arguments)
    if isinstance(result, Exports):
        ask(str, result)  # what chance does may be asked for only now
        ask(result.to_json)
    elif isinstance(result, nf.Tolerance):
        clock = {"steps": None, "clock": np.arange(N), "ns": np.datetime64("2020-01-01") + np.arange(N)}[result.unit]
        judged = ask(nf.evaluate, **SERIES | DRAWS | {"tolerance": result, "times": clock})
        ask(nf.coincidence, **LISTS | DRAWS | {"tolerance": result})
        ask(str, judged)
    elif isinstance(result, nf.nulls.NullModel):
        ask(nf.evaluate, **SERIES | DRAWS | {"null": result})
        ask(nf.coincidence, **LISTS | DRAWS | {"null": result, "tolerance": 2})
    elif isinstance(result, nf.metrics.Metric):
        ask(
            nf.significance,
            result,
            TRUTH,
            **{"scores": GOOD} if result.needs == "scores" else {"predictions": TRUTH},
            **DRAWS | {"workers": 1},
        )
    elif isinstance(result, Scorer) and isinstance(result.measure, str):  # what others raise is their own affair
        ask(result, **callables()["Scorer"][1])
    plt.close("all")


@contextmanager
def guarded(seconds: float) -> Iterator[None]:
    """Raise after so many seconds of processor time; what cannot be interrupted ends the process a little later."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(10 * seconds, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def watched(names: list[str], first: int, calls: int) -> Iterator[str]:
    """Make calls of each in a process of their own, and in another one where it ends; yield what failed, and how."""
    at = 0
    while at < len(names) * calls:
        command = [sys.executable, "-X", "faulthandler", __file__, "--child", str(at), str(first), str(calls), *names]
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryFile("w+", errors="replace") as errors,
            subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            assert process.stdout is not None
            begun = False
            for line in process.stdout:
                begun = True
                where, _, how = line.partition(" ")
                at = int(where)
                if how.strip():
                    yield how.rstrip().replace("\0", "\n")
            ended = process.wait()
            errors.seek(0)
            if not begun:
                raise RuntimeError(f"the process did not begin: {errors.read()}")
            if ended:
                yield f"FAILED {names[at // calls]} {first + at % calls}: exit code {ended}\n{errors.read()[-3_000:]}"
        at += 1


def _make_all(start: int, first: int, calls: int, names: list[str]) -> None:
    """The calls of one process: it says which one it is at, so that its end tells which one it was."""
    import resource  # not on Windows

    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "The groups parameter is ignored by TimeSeriesSplit")  # as scikit-learn says it
    warnings.filterwarnings("ignore", "The score is NaN")
    callables()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    told = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)  # nothing that is called may write between the lines
    for at in range(start, len(names) * calls):
        name, seed = names[at // calls], first + at % calls
        print(at, file=told)
        try:
            with guarded(SECONDS):
                make(name, seed)
        except BaseException as error:
            how = traceback.format_exc().replace("\n", "\0")
            print(f"{at} FAILED {name} {seed}: {type(error).__name__}\0{how}", file=told)


def main() -> None:
    """Make calls as asked on the command line; the exit code tells whether any failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", type=int)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    failed = 0
    for told in watched(asked.names or list(callables()), asked.first, asked.calls):
        failed += 1
        print(told, flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _make_all(*map(int, sys.argv[2:5]), sys.argv[5:])
    else:
        main()
