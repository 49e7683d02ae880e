"""Makes the problems of the corpus: `problems.jsonl.xz`, one a line. Run once; the file is what counts.

At least thirty problems for each verb, null and kind of events that go together, with clocks, clothes, cuts, tolerances
and settings that change from one to the next; then metrics, errors, commands, and every command of the pages.
"""

import itertools
import json
import lzma
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EACH = 30
Problem = dict[str, Any]

# nulls by what they can place: single steps, ranges, events at times of their own
GRID = {
    "auto": ["auto"],
    "permutation": ["permutation"],
    "circular-shift": ["circular-shift", "circular-shift", "circular-shift:guard=3", "circular-shift:every=12"],
    "local-shift": ["local-shift:reach=25", "local-shift:reach=30,every=3", "local-shift:reach=12"],
    "local-permutation": ["local-permutation:windows=4", "local-permutation:windows=9"],
    "jitter": ["jitter:window=10", "jitter:window=24"],
    "dither": ["dither:reach=6"],
    "seasonal": ["seasonal:period=12", "seasonal:period=24,bins=6", "seasonal:period=12,windows=2", {"strata": 120}],
    "interval-shuffle": ["interval-shuffle"],
    "segments": ["segments"],
    "blocks": ["blocks:length=8", "blocks:length=15"],
    "bernoulli": ["bernoulli"],
    "stationary": ["stationary"],
    "own": [{"own": "null"}],
}
RANGES = ("auto", "circular-shift", "local-shift", "segments")
IN_TIME = {
    "auto": ["auto"],
    "permutation": ["permutation"],
    "circular-shift": ["circular-shift", "circular-shift:every=2h"],
    "local-shift": ["local-shift:reach=6h", "local-shift:reach=10h,every=1h"],
    "local-permutation": ["local-permutation:windows=3"],
    "jitter": ["jitter:window=4h"],
    "dither": ["dither:reach=2h"],
    "seasonal": ["seasonal:period=6h", "seasonal:period=hour of day"],
    "interval-shuffle": ["interval-shuffle"],
}
OF_METRICS = {
    **GRID,
    "random-scores": ["random-scores", "random-scores:phi=0.8"],
    "score-permutation": ["score-permutation"],
}
NOT_OF_METRICS = ("bernoulli", "stationary")
OF_SCORES = ("auc-roc", "average-precision", "best-f1", "best-pa-f1", "vus-roc:window=6", "vus-pr:window=6")
OF_ALARMS = ("f1", "pa-f1", "pak-f1", "delay-pa-f1", "composite-f1", "event-f1", "event-far-f1", "range-f1", "etapr-f1")
OF_ALARMS += ("affiliation-f1", "nab", "precision:tolerance=2", "recall:tolerance=2", "tolerant-f1:tolerance=2")

PATTERNS = ("even", "even", "bursts", "season", "trend", "apart")
NOISES = ("plain", "memory", "season", "trend", "plain")
SKILLS = (0.0, 2.5, 1.2)


def turned(values: Any, k: int) -> Any:
    """The k-th of some values, around and around."""
    return values[k % len(values)]


def recipe(k: int, **more: Any) -> dict[str, Any]:
    """A series that differs from the next in most respects."""
    n = more.pop("n", turned((120, 60, 200, 40, 150, 90, 300), k))
    known = {
        "n": n,
        "seed": 1_000 + k,
        "count": max(turned((9, 4, 14, 2, 1, 20), k // 2) * n // 150, 1),
        "pattern": turned(PATTERNS, k),
        "noise": turned(NOISES, k // 3),
        "skill": turned(SKILLS, k),
        "step": turned(("1h", "10min", "1d", "6h", "5min"), k // 2),
    }
    known |= {"lag": 1} if k % 4 == 1 else {}
    known |= {"masked": 0.1} if k % 7 == 5 else {}
    known |= {"digits": 0} if k % 11 == 3 else {}
    return known | more


def cut(k: int) -> dict[str, Any]:
    """How alarms are made of scores."""
    return turned(({"quantile": 0.9}, {"budget": "5%"}, {"threshold": 1.0}, {"quantile": 0.8}, {"budget": 0.1}), k)


def asked(k: int) -> dict[str, Any]:
    """Settings of an evaluation, few at a time."""
    return turned(
        (
            {},
            {"count_alarms": "episodes"},
            {"alternative": "two-sided"},
            {"ties": "mid"},
            {},
            {"refractory": 3},
            {"alpha": 0.01},
            {"zero_division": 0},
            {"alternative": "less"},
            {"warmup": "10%"},
            {"higher_is": "normal"},
        ),
        k,
    )


def tolerance(k: int, in_time: str | None = None) -> Any:
    """Steps, or a duration."""
    if in_time:
        wide = {"tolerance": {"early": "3h", "late": 0}}
        return turned(("1h", "90min", wide, "30min", "4h"), k)
    wide = [{"tolerance": {"early": 3, "late": 1}}, {"tolerance": {"early": 4, "late": -1}}]
    return turned((2, 0, 1, wide[0], 5, wide[1]), k)


def points(k: int) -> dict[str, Any]:
    """Single events in various clothes."""
    truth = turned(("array", "list", "positions", "pandas", "polars", "bool", "arrow"), k)
    clock = turned((None, "dates", None, "text", "numbers", None, "zone", "index"), k // 2)
    detector = turned(("array", "list", "alarms", "polars", "array", "alarm-positions"), k)
    if truth in ("positions",) and detector == "alarm-positions" and clock in (None, "index"):
        detector = "alarms"  # else nothing says how many steps there are
    if truth == "positions" and clock == "numbers":
        clock = "dates"  # else they may be positions or times
    give = {"truth": truth, "detector": "array" if clock == "index" else detector}
    return give | ({"clock": clock} if clock else {})


def ranges(k: int) -> dict[str, Any]:
    """Events with a start and an end."""
    truth = turned(("ranges", "frame-pandas", "intervals", "frame-polars", "array", "dated", "frame-arrow"), k)
    clock = "dates" if truth == "dated" else turned((None, "dates"), k // 2)
    detector = turned(("array", "alarms", "list", "alarm-ranges"), k)
    if detector == "alarm-ranges" and not clock and truth != "array":
        detector = "alarms"
    return {"truth": truth, "detector": detector} | ({"clock": clock} if clock else {})


def between(k: int) -> dict[str, Any]:
    """Events at their own times, on a clock."""
    return {
        "truth": "between",
        "clock": turned(("dates", "text", "zone"), k),
        "detector": turned(("array", "alarms"), k),
    }


def problem(verb: str, null: str, kind: str, k: int, **more: Any) -> Problem:
    """One problem under its name."""
    return {"id": f"{verb}/{null}/{kind}/{k:02}", "verb": verb, **more}


def with_cut(give: dict[str, Any], k: int) -> dict[str, Any]:
    """A cut where there are scores."""
    return {} if give.get("detector", "").startswith("alarm") else cut(k)


def evaluations() -> Iterator[Problem]:
    """Evaluate and sweep under every null, for points, ranges and times."""
    for verb, (null, variants) in itertools.product(("evaluate", "sweep"), GRID.items()):
        sized = {"n": 120, "count": 9, "masked": 0.0} if null == "own" else {}
        for k in range(EACH):
            give = points(k) if verb == "evaluate" and null != "stationary" else points(k) | {"detector": "array"}
            chance = {"null": turned(variants, k), "rng": k, "n_resamples": 199}
            series = recipe(k, **sized)
            if chance["null"] == {"strata": 120}:
                chance["null"] = {"strata": series["n"]}
            args = _args(verb, give, k) | chance
            without = {"bernoulli": ("count_alarms", "refractory"), "own": ("warmup",)}  # no law of episodes; 9 events
            without["stationary"] = without["bernoulli"]
            args = {name: value for name, value in args.items() if name not in without.get(null, ())}
            yield problem(verb, null, "points", k, series=series, give=give, args=args)
        if null in RANGES:
            for k in range(EACH):
                give = ranges(k) if verb == "evaluate" else ranges(k) | {"detector": "array"}
                args = _args(verb, give, k) | {"null": turned(variants, k), "rng": k, "n_resamples": 199}
                args |= {"count_events": "ranges"} if give["truth"] == "array" else {}
                series = recipe(100 + k, shape="ranges", count=turned((6, 3, 9, 2), k))
                yield problem(verb, null, "ranges", k, series=series, give=give, args=args)
    for verb, (null, variants) in itertools.product(("evaluate", "sweep"), IN_TIME.items()):
        for k in range(EACH):
            give = between(k) if verb == "evaluate" else between(k) | {"detector": "array"}
            series = recipe(200 + k, step="1h", clock=turned((None, "uneven", "gaps"), k), n=turned((120, 60, 90), k))
            args = _args(verb, give, k, "time") | {"null": turned(variants, k), "rng": k, "n_resamples": 199}
            args.pop("refractory", None)
            yield problem(verb, null, "times", k, series=series, give=give, args=args)


def _args(verb: str, give: dict[str, Any], k: int, in_time: str | None = None) -> dict[str, Any]:
    if verb == "sweep":
        both = [tolerance(k, in_time), "0h" if in_time else 0]
        cuts = turned(({"quantiles": [0.7, 0.9]}, {"thresholds": [0.5, 1.5, 9]}, {"budgets": [0.02, 0.1]}), k)
        settings = {name: v for name, v in asked(k).items() if name in ("count_alarms", "warmup", "refractory")}
        return {"tolerances": {"tolerances": both}} | cuts | settings
    settings = asked(k)
    if give.get("detector", "").startswith("alarm"):
        settings = {name: v for name, v in settings.items() if name != "higher_is"}
    return with_cut(give, k) | {"tolerance": tolerance(k, in_time)} | settings


def methods() -> Iterator[Problem]:
    """Every method of the permutation, and the larger problems that other ways of computing its law are for."""
    for way, k in itertools.product(("exact", "montecarlo", "saddlepoint", "binomial"), range(EACH)):
        args = cut(k) | {"tolerance": tolerance(k), "null": "permutation", "method": way, "n_resamples": 199, "rng": k}
        yield problem(
            "evaluate", "permutation", way, k, series=recipe(300 + k), give=points(k) | {"detector": "array"}, args=args
        )
    sizes = ((2_000, 60), (5_000, 12), (3_000, 150), (8_000, 40), (20_000, 25), (6_000, 300))
    for k in range(EACH):
        n, count = turned(sizes, k)
        series = recipe(400 + k, n=n, count=count, masked=0.0)
        args = turned(({"quantile": 0.95}, {"budget": "2%"}, {"quantile": 0.8}), k)
        args |= {
            "tolerance": turned((3, 0, 25, {"tolerance": {"early": 40, "late": 2}}), k),
            "null": "permutation",
            "rng": k,
        }
        args |= {"count_alarms": "episodes"} if k % 5 == 2 else {}
        yield problem("evaluate", "permutation", "large", k, series=series, args=args)


def lists() -> Iterator[Problem]:
    """Two lists of times under every null."""
    for verb, (null, variants) in itertools.product(("coincidence", "sweep_tolerances"), IN_TIME.items()):
        for k in range(EACH):
            dress, chosen = turned(("dates", "numbers", "dates"), k), turned(variants, k)
            if dress == "numbers":  # in minutes
                chosen = re.sub(r"(\d+)h", lambda found: str(60 * int(found[1])), chosen)
                chosen = "seasonal:period=360" if "hour of day" in chosen else chosen
            give = {"lists": turned(("dates", "text", "zone"), k) if dress == "dates" else dress, "gaps": k % 3 == 1}
            wide = turned(("2h", "1h", "5h"), k) if dress == "dates" else turned((120, 60, 300), k)
            lag = turned((0, 0, "1h", "-2h"), k) if dress == "dates" else turned((0, 0, 60, -120), k)
            series = recipe(500 + k, step="1h", n=turned((150, 400, 90), k), count=turned((8, 15, 5), k))
            args = {"null": chosen, "rng": k, "n_resamples": 199}
            if verb == "coincidence":
                args |= {"tolerance": wide, "lag": lag, "duplicates": "merge"}
                args |= turned(({}, {"edges": "interior"}, {"leads": "events"}, {"ties": "mid"}, {"tick": "1min"}), k)
                if dress == "numbers" and "tick" in args:
                    args["tick"] = 1
            else:
                args |= {"tolerances": [wide, "3h" if dress == "dates" else 180], "lags": [lag], "duplicates": "merge"}
            yield problem(verb, null, "lists", k, series=series, give=give, args=args)


def metrics() -> Iterator[Problem]:
    """Significance and chance of metrics, and the metrics by themselves."""
    for null, variants in OF_METRICS.items():
        if null in NOT_OF_METRICS:
            continue
        for kind, k in itertools.product(("points",) if null == "own" else ("points", "ranges"), range(EACH)):
            scored = k % 2 == 0 or null in ("random-scores", "score-permutation")
            names = OF_SCORES if scored else OF_ALARMS
            metric = turned(names, k // 2) if k % 3 else [turned(names, k), turned(names, k + 1)]
            metric = {"own": "metric"} if k == 17 else metric
            sized = {"n": 120, "count": 9, "masked": 0.0} if null == "own" else {}
            sized |= {"shape": "ranges", "count": 5} if kind == "ranges" else {}
            give = {"truth": turned(("array", "list", "ranges", "positions"), k), "detector": "array"}
            if give["truth"] == "ranges" and kind == "points":
                give["truth"] = "array"
            series = recipe(600 + k, **sized)
            chosen = turned(variants, k)
            args = {"metric": metric, "null": {"strata": series["n"]} if chosen == {"strata": 120} else chosen}
            args |= {"rng": k, "n_resamples": 99} | ({} if scored else cut(k))
            args |= {"stop_after": 10} if k % 10 == 4 and not isinstance(metric, list) else {}
            args |= {"alternative": "two-sided"} if k % 10 == 7 else {}
            yield problem("significance", null, kind, k, series=series, give=give, args=args)
    for null, kind, k in itertools.product(
        ("random-scores", "random-scores:phi=0.8"), ("points", "ranges"), range(EACH)
    ):
        series = recipe(700 + k, **({"shape": "ranges", "count": 5} if kind == "ranges" else {}))
        args: dict[str, Any] = {"metric": turned(OF_SCORES, k) if k % 2 else turned(OF_ALARMS, k), "null": null}
        args |= {"rng": k, "n_resamples": 99} | ({} if k % 2 else {"budget": "10%"})
        yield problem("chance", null.replace(":", " "), kind, k, series=series, give={"truth": "array"}, args=args)
    for kind, k in itertools.product(("points", "ranges"), range(EACH)):
        series = recipe(800 + k, **({"shape": "ranges", "count": 5} if kind == "ranges" else {}))
        yield problem("metrics", "none", kind, k, series=series, args={"quantile": turned((0.9, 0.7, 0.97), k)})
        if kind == "points":
            args = cut(k) | {"tolerance": tolerance(k), "null": "permutation"}
            yield problem("confusion", "none", kind, k, series=series, args=args)


def several() -> Iterator[Problem]:
    """Comparisons, diagnoses, pages, studies, folds, and planning."""
    kinds = {"points": points, "ranges": ranges, "times": between}
    for (kind, dress), k in itertools.product(kinds.items(), range(EACH + 1)):
        shape = {"shape": "ranges", "count": 6} if kind == "ranges" else {}
        shape |= {"step": "1h", "n": 120} if kind == "times" else {}
        in_time = "time" if kind == "times" else None
        series, give = recipe(900 + k, **shape), dress(k)
        both = give | {"detector": "two"}
        settings = {
            name: v for name, v in asked(k).items() if name in ("count_alarms", "refractory", "warmup", "alpha")
        }
        if in_time:
            settings.pop("refractory", None)
        args = cut(k) | {"tolerance": tolerance(k, in_time), "n_resamples": 199} | settings
        args |= {"count_events": "ranges"} if kind == "ranges" and give["truth"] == "array" else {}
        if give.get("clock") != "index":
            yield problem("compare", "none", kind, k, series=series, give=both, args=args | {"rng": k})
        else:
            yield problem(
                "compare", "none", kind, k, series=series, give=both | {"clock": "dates"}, args=args | {"rng": k}
            )
        args = {name: value for name, value in args.items() if name != "n_resamples"} | {"alpha": 0.05}
        if give["detector"].startswith("alarm"):
            args = {name: v for name, v in args.items() if name not in ("quantile", "threshold", "budget")}
        args |= {"period": 12} if k % 4 == 3 and kind != "times" else {}
        if (kind, k) != ("times", 12):  # whose smallest p-value was drawn anew in every call
            yield problem("diagnose", "auto", kind, k, series=series, give=give, args=args)
    for k in range(EACH):
        series = recipe(950 + k, n=60, **({"shape": "ranges", "count": 6} if k % 3 == 2 else {}))
        args = {"quantile": 0.9, "tolerance": 2, "null": turned(("auto", "permutation", "circular-shift"), k)}
        args |= {"count_events": "ranges"} if k % 3 == 2 and args["null"] != "permutation" else {}
        yield problem(
            "report", "several", "points", k, series=series, give={"detector": turned(("array", "two"), k)}, args=args
        )
    for null, k in itertools.product(("auto", "permutation", "circular-shift", "segments"), range(EACH)):
        series = recipe(1_000 + 20 * k, masked=0.0, **({"shape": "ranges", "count": 5} if k % 2 else {}))
        give = {"n_series": turned((3, 5, 2), k), "group": k % 3 == 1, "clock": k % 4 == 2}
        give["table"] = turned(("dict", "pandas", "polars"), k)
        args = turned(({"budget": "5%"}, {"quantile": 0.9}, {"threshold": 1.0}), k) | {
            "tolerance": turned((2, 0, "1%"), k)
        }
        args |= {"count_events": "ranges"} if k % 2 and null != "permutation" else {}
        args |= {"null": null, "n_resamples": 199, "rng": k} | ({"metrics": ["auc-roc"]} if k % 6 == 5 else {})
        yield problem("study", null, "ranges and points", k, series=series, give=give, args=args)
    for k in range(EACH):
        series = recipe(2_000 + k, n=150, count=20, masked=0.0)
        args = {
            "estimator": turned(("bayes", "forest"), k),
            "cv": turned((3, -3, 5), k),
            "tolerance": turned((0, 2), k),
        }
        args |= {"null": turned(("auto", "permutation", "circular-shift"), k), "n_resamples": 199, "rng": k} | cut(k)
        args.pop("threshold", None)
        args |= {} if {"quantile", "budget"} & args.keys() else {"budget": "10%"}
        yield problem("cross_val_evaluate", "several", "points", k, series=series, args=args)
        args = {
            "measure": turned(("f1", "precision", "recall"), k),
            "tolerance": turned((0, 2), k),
            "null": "permutation",
        }
        args |= {"chance_corrected": k % 2 == 1} | ({"budget": "10%"} if k % 3 else {})
        yield problem("make_scorer", "permutation", "points", k, series=series, args=args)
        wide = {"coverage": 0.05 + 0.02 * k} if k % 2 else {"share_alarms": 0.01 + 0.002 * k, "tolerance": k % 5}
        size = {"n_events": 5 + k, "n_steps": 1_000 + 100 * k}
        aim = (
            {"precision": 0.4, "share_alarms": 0.05, "n_resamples": 20, "rng": k}
            if k % 5 == 4
            else {"recall": 0.3 + 0.02 * k} | wide
        )
        yield problem("power", "permutation", "planned", k, args=aim | size)
        needed = (
            {"recall": 0.3 + 0.02 * k}
            | wide
            | turned(({}, {"steps_per_event": 50}, {"power": 0.9}, {"alpha": 0.01}), k)
        )
        yield problem("sample_size", "permutation", "planned", k, args=needed)


# ---- errors: a question that can be answered, with one thing wrong

NAN, INF = {"float": "nan"}, {"float": "inf"}
WRONG: list[Any] = [
    None,
    "x",
    -1,
    NAN,
    2**70,
    [],
    True,
    {"array": [[1, 2], [3, 4]]},
    {"bytes": "2h"},
    {"object": 0},
    INF,
]
ASKED: dict[str, tuple[Problem, tuple[str, ...]]] = {
    "evaluate": (
        {"series": recipe(0), "args": {"quantile": 0.9, "tolerance": 2}},
        (
            *(
                "truth",
                "scores",
                "predictions",
                "threshold",
                "quantile",
                "budget",
                "tolerance",
                "times",
                "mask",
                "warmup",
            ),
            *("truth_as", "higher_is", "count_alarms", "refractory", "missing", "count_events", "overlaps", "null"),
            *("zero_division", "method", "alternative", "ties", "n_resamples", "rng", "alpha"),
        ),
    ),
    "sweep": (
        {"series": recipe(0), "args": {}},
        ("tolerances", "thresholds", "quantiles", "budgets", "null", "method"),
    ),
    "significance": (
        {"series": recipe(0), "args": {"metric": "auc-roc", "n_resamples": 19}},
        ("metric", "null", "n_resamples", "stop_after", "alternative", "workers", "groups", "alpha"),
    ),
    "chance": (
        {"series": recipe(0), "args": {"metric": "auc-roc", "n_resamples": 19, "rng": 1}},
        ("metric", "null", "budget", "n_resamples", "workers", "truth_as"),
    ),
    "compare": (
        {"series": recipe(0), "args": {"quantile": 0.9}},
        ("scores", "predictions", "level", "n_resamples", "rng"),
    ),
    "diagnose": ({"series": recipe(0), "args": {}}, ("period", "alpha", "tolerance", "budget")),
    "coincidence": (
        {"series": recipe(500, step="1h"), "args": {"tolerance": "1h", "duplicates": "merge"}},
        (
            *("events", "alarms", "tolerance", "span", "gaps", "lag", "leads", "edges", "tick", "duplicates", "null"),
            *("method", "zero_division", "alternative", "ties"),
        ),
    ),
    "sweep_tolerances": (
        {"series": recipe(500, step="1h"), "args": {"tolerances": ["1h"], "duplicates": "merge"}},
        ("tolerances", "lags", "span", "null", "tick"),
    ),
    "power": (
        {"args": {"recall": 0.6, "coverage": 0.2, "n_events": 10}},
        ("recall", "precision", "n_events", "n_steps", "steps_per_event", "coverage", "share_alarms", "alpha"),
    ),
    "sample_size": (
        {"args": {"recall": 0.6, "coverage": 0.2}},
        ("recall", "power", "n_steps", "coverage", "tolerance"),
    ),
    "study": (
        {"series": recipe(0), "args": {"budget": "5%", "n_resamples": 19}},
        (
            "series",
            "truth",
            "scores",
            "group",
            "layout",
            "metrics",
            "budget",
            "tolerance",
            "null",
            "title",
            "workers",
            "rng",
        ),
    ),
}
SPELT: dict[str, list[Any]] = {
    "null": ["permutaton", "blocks", "blocks:length=0", "seasonal:period=1", "seasonal", "circular-shift:guard=-1"],
    "metric": ["auc", "vus-pr:window=-3", "vus-pr:windw=3", ["auc-roc", "auc-roc"], "pak-f1:k=400"],
    "tolerance": ["2 fortnights", "1M", {"tolerance": {"early": -2, "late": 1}}, -3, 1.5, "5%"],
    "budget": ["150%", 0, "1e-9", 1.5],
    "quantile": [1.5, -0.1, "0.9"],
    "truth": [{"array": [0, 2, 1]}, {"array": [0.5, 1.0]}, [], [[3, 1]], [[0, 5], [4, 8]], ["2024-01-01"]],
    "scores": [{"array": [1.0, 2.0]}, {"array": []}, ["a", "b"]],
    "times": [{"array": [3, 2, 1]}, ["2024-01-01", "yesterday"], [1, 2]],
    "alpha": [0, 1, 5],
    "span": [["2024-03-02", "2024-03-01"], "2024", [1]],
    "lags": [[], ["1h", "1h"]],
    "period": [1, "hour of dy", 10**9],
}


def errors() -> Iterator[Problem]:
    """Wrong values for every argument of every verb, two or three of each, and misspelt words."""
    for verb, (base, names) in ASKED.items():
        for at, name in enumerate(names):
            bad = [turned(WRONG, at + j) for j in (0, 3, 6, 8)] + SPELT.get(name, [])
            for k, value in enumerate(bad):
                args = base["args"] | {name: value}
                yield problem(verb, "error", name, k, **base | {"args": args})
    broken = ("missing", "two", "alarm-positions", "alarm-ranges")
    for k, (verb, way) in enumerate(itertools.product(("evaluate", "diagnose", "significance"), broken)):
        args: dict[str, Any] = {"metric": "auc-roc"} if verb == "significance" else {}
        yield problem(
            verb, "error", "detector", k, series=recipe(0), give={"detector": way, "truth": "positions"}, args=args
        )


# ---- the command line


def commands() -> Iterator[Problem]:
    """Every command of one series in every format, and its errors."""
    formats = ("text", "json", "csv", "markdown", "latex")
    nulls = ("auto", "permutation", "circular-shift", "seasonal:period=12", "local-shift:reach=25")
    for command, k in itertools.product(
        ("evaluate", "sweep", "diagnose", "compare", "significance", "chance", "coincidence", "power"), range(EACH)
    ):
        shape: dict[str, Any] = {"shape": "ranges", "count": 5} if k % 3 == 2 else {}
        series = recipe(3_000 + k, **shape | {"step": "1h"})
        give = {"file": turned(("csv", "tsv", "parquet"), k // 2), "clock": k % 2 == 1}
        give["truth"] = "dated" if k % 3 == 2 else ("between" if k % 6 == 4 and command != "chance" else "column")
        args: dict[str, Any] = {"format": turned(formats, k), "rng": k, "n_resamples": 99}
        chance = {"null": "auto" if k % 3 == 2 else turned(nulls, k)}
        if give["truth"] == "between":
            chance["null"] = turned(("auto", "permutation", "circular-shift"), k)
        if command in ("evaluate", "sweep", "compare", "diagnose"):
            args |= {"tolerance": turned(("2h", "1h"), k) if give["truth"] == "between" else turned((2, 0, 1), k)}
        if command == "evaluate":
            args |= (
                chance
                | cut(k)
                | turned(({}, {"gate": True}, {"min_recall": 0.2}, {"statistic": "sttc"}, {"test_f1": True}), k)
            )
        elif command == "sweep":
            args |= chance | {"quantile": "0.8,0.9"} | turned(({}, {"familywise": True}, {"chance": True}), k)
        elif command == "diagnose":
            del args["n_resamples"], args["rng"]
        elif command == "compare":
            args |= cut(k)
        elif command in ("significance", "chance"):
            args |= {"metric": [turned(OF_SCORES, k)] if k % 3 else [turned(OF_SCORES, k), turned(OF_SCORES, k + 1)]}
            args |= {"null": turned(("auto", "circular-shift", "segments"), k)} if command == "significance" else {}
        elif command == "coincidence":
            lags = {"lag": "-2h,0h,2h"} if k % 5 == 3 else {}
            args |= {"tolerance": turned(("2h", "1h,3h", "90min"), k), "duplicates": "merge"} | lags
            args |= {"null": turned(("auto", "permutation", "circular-shift", "jitter:window=4h"), k)}
        else:
            del args["n_resamples"], args["rng"]
            args |= {"recall": 0.6, "coverage": turned(("20%", 0.1), k)}
            args |= {"n_events": 5 + k, "n_steps": 2_000} if k % 2 else {"power": 0.8, "steps_per_event": 100 + k}
        yield {
            "id": f"command/{command}/{k:02}",
            "verb": "command",
            "command": command,
            "series": series,
            "give": give,
            "args": args,
        }
    wrong: list[list[str]] = [
        *(
            ["--scores", "nothing"],
            ["--quantile", "2"],
            ["--tolerance", "2 h"],
            ["--null", "permutaton"],
            ["--nul", "auto"],
        ),
        *(["--alpha", "7"], ["--budget", "150%"], ["--threshold", "abc"], ["--resamples", "0"], ["--seed", "-1"]),
        *(["--format", "xml"], ["-o", "missing/folder/x.csv"], ["-o", "x.docx"], ["--truth-file", "none.csv"]),
        *(
            ["--time", "label"],
            ["--mask", "z"],
            ["--warmup", "200%"],
            ["--refractory", "-1"],
            ["--count-events", "weeks"],
        ),
        *(["--method", "quick"], ["--time-format", "%Q"], ["--truth", "z"], ["--truth", "99"], ["--unit", "days"]),
        *(["--early", "2"], ["--late", "x"], ["--ties", "none"], ["--statistic", "sttc", "--null", "bernoulli"]),
        *(["--zero-division", "2"], ["--overlaps", "keep"], ["--scores", "z", "--scores", "y"]),
    ]
    for command, (k, words) in itertools.product(("evaluate", "sweep", "compare"), enumerate(wrong)):
        yield {
            **{"id": f"command/{command}/error/{k:02}", "verb": "command", "command": command, "series": recipe(3_100)},
            **{"give": {}, "args": {"quantile": 0.9, "words": words}},
        }


def typed() -> Iterator[Problem]:
    """What stands in the README, on the pages and in the help, command by command."""
    root = HERE.parent.parent
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    seen: set[str] = set()
    for page in pages:
        for block in re.findall(
            r"^```(?:sh|console)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            for line in re.sub(r"\\\n\s*", "", block).splitlines():
                found = re.search(r"(?:^|\$ |/|&& )nofluke (.*)$", line)
                words = shlex.split(re.split(r" \|\| ", found[1])[0], comments=True) if found else []
                name = " ".join(words)
                if (
                    not words
                    or name in seen
                    or words[0] == "reproduce"
                    or "--dask" in words
                    or "study.parquet" in words
                ):
                    continue  # claims of the field and clusters have tests of their own
                seen.add(name)
                yield {"id": f"typed/{page.stem}/{len(seen):02}", "verb": "typed", "args": {"commands": [words]}}
    names = ("", "evaluate", "sweep", "diagnose", "report", "compare", "study", "coincidence", "significance", "chance")
    for name in (*names, "metrics", "power", "demo", "reproduce"):
        words = [word for word in (name, "--help") if word]
        yield {"id": f"typed/help/{name or 'all'}", "verb": "typed", "args": {"commands": [words]}}
    for k, words in enumerate(
        (["metrics"], ["metrics", "--format", "json"], ["--version"], ["evaluate"], ["nothing"], [])
    ):
        yield {"id": f"typed/plain/{k}", "verb": "typed", "args": {"commands": [words]}}


def all_problems() -> list[Problem]:
    """All of them, in their order."""
    makers = (evaluations, methods, lists, metrics, several, errors, commands, typed)
    found = [one for make in makers for one in make()]
    assert len({one["id"] for one in found}) == len(found)
    return found


if __name__ == "__main__":
    lines = [json.dumps(one, ensure_ascii=False) for one in all_problems()]
    (HERE / "problems.jsonl.xz").write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))
    print(f"{len(lines):,} problems")
