"""Problems turned into calls, and what users see of the answers.

This is the only place that knows how nofluke is called: `ARGUMENTS`, `OPTIONS` and `VERBS` are the table from the words
of the problems to today's names. If an argument is renamed, one line changes here, and no problem does.

A problem is a dict: ``verb``, the recipe of a ``series``, what of it the user brings and in which clothes (``give``),
and other arguments (``args``). Arguments that JSON cannot hold are dicts of one key, see `meant`.
"""

import contextlib
import functools
import io
import json
import lzma
import math
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import nofluke as nf
from corpus.series import Series, made
from nofluke.cli import main
from nofluke.plot.panels import figure_of

HERE = Path(__file__).parent
ORIGIN = np.datetime64("2024-03-01T00:00:00", "s")
Problem = dict[str, Any]

# ---- the table: words of the problems, and how nofluke calls the same thing today

ARGUMENTS: dict[str, str] = {}
"""Arguments that are called otherwise now, by their word in the problems."""

METRICS = {"tolerant-f1:tolerance=2": "f1:tolerance=2"}
"""Metrics that are called otherwise now."""

OPTIONS = {
    **{
        word: f"--{word.replace('_', '-')}"
        for word in ("threshold", "quantile", "budget", "tolerance", "early", "late")
    },
    **{word: f"--{word.replace('_', '-')}" for word in ("null", "method", "alternative", "ties", "alpha", "warmup")},
    **{word: f"--{word.replace('_', '-')}" for word in ("count_events", "count_alarms", "refractory", "higher_is")},
    **{word: f"--{word.replace('_', '-')}" for word in ("zero_division", "missing", "overlaps", "period", "metric")},
    **{word: f"--{word.replace('_', '-')}" for word in ("recall", "precision", "coverage", "share_alarms", "power")},
    **{word: f"--{word.replace('_', '-')}" for word in ("lag", "leads", "edges", "duplicates", "tick", "stop_after")},
    **{
        word: f"--{word.replace('_', '-')}" for word in ("format", "statistic", "familywise", "chance", "gate", "level")
    },
    **{word: f"--{word.replace('_', '-')}" for word in ("steps_per_event", "workers", "min_recall", "min_precision")},
    **{"n_resamples": "--resamples", "rng": "--seed", "n_events": "--events", "n_steps": "--steps", "unit": "--unit"},
    **{"tolerances": "--tolerance", "quantiles": "--quantile", "thresholds": "--threshold", "budgets": "--budget"},
    **{"lags": "--lag", "test_f1": "--test-f1", "gate_on": "--gate-on"},
}
"""Options of the command line."""


def judged(verb: str) -> Callable[[Problem], Any]:
    """A verb on one series."""
    return lambda problem: getattr(nf, verb)(**called(brought(problem) | arguments(problem)))


def _of_metric(verb: str) -> Callable[[Problem], Any]:
    def call(problem: Problem) -> Any:
        args = arguments(problem)
        asked = args.pop("metric")
        metric = [METRICS.get(one, one) for one in asked] if isinstance(asked, list) else asked
        metric = METRICS.get(metric, metric) if isinstance(metric, str) else metric
        return getattr(nf, verb)(metric, **called(brought(problem) | args))

    return call


def _lists(verb: str) -> Callable[[Problem], Any]:
    def call(problem: Problem) -> Any:
        give, series = problem.get("give", {}), made(problem["series"])
        clothes = CLOTHES[give.get("lists", "dates")]
        data = {"events": clothes(series.between), "alarms": clothes(series.late)}
        if give.get("span", True):
            data["span"] = tuple(clothes(np.array([0, series.seconds[-1]])))
        if give.get("gaps"):
            middle = int(series.seconds[-1]) // 2
            width = next(k for k in range(1, 10**9) if not _inside(series, middle, middle + k) or k > 500)
            inside = _inside(series, middle, middle + width - 1)
            data["gaps"] = [] if inside else [tuple(clothes(np.array([middle, middle + width - 1])))]
        return getattr(nf, verb)(**called(data | arguments(problem)))

    return call


def _inside(series: Series, first: int, last: int) -> bool:
    return any(bool(((times >= first) & (times <= last)).any()) for times in (series.between, series.late))


def _plain(verb: str) -> Callable[[Problem], Any]:
    return lambda problem: getattr(nf, verb)(**called(arguments(problem)))


def _study(problem: Problem) -> Any:
    recipe, give = problem["series"], problem.get("give", {})
    table: dict[str, list[Any]] = {"name": [], "kind": [], "time": [], "label": [], "det_a": [], "det_b": []}
    for k in range(give.get("n_series", 4)):
        one = made(recipe | {"seed": recipe["seed"] + k})
        table["name"] += [f"s{k}"] * len(one.labels)
        table["kind"] += [f"g{k % 2}"] * len(one.labels)
        table["time"] += _dates(one.seconds).tolist()
        table["label"] += one.labels.tolist()
        table["det_a"] += one.scores.tolist()
        table["det_b"] += one.rival.tolist()
    more = {"series": "name", "truth": "label", "scores": ["det_a", "det_b"], "workers": 1}
    more |= {"group": "kind"} if give.get("group") else {}
    more |= {"times": "time"} if give.get("clock") else {}
    source = table if give.get("table", "dict") == "dict" else FRAMES[give["table"]](table)
    return nf.study(source, **called(more | arguments(problem)))


def _cross_validated(problem: Problem) -> Any:
    from sklearn.ensemble import IsolationForest
    from sklearn.model_selection import TimeSeriesSplit
    from sklearn.naive_bayes import GaussianNB

    series, args = made(problem["series"]), arguments(problem)
    features = np.stack([series.scores, series.rival], axis=1)
    estimator = {"bayes": GaussianNB(), "forest": IsolationForest(n_estimators=5, random_state=1)}[
        args.pop("estimator")
    ]
    folds = args.pop("cv", 3)
    args["cv"] = TimeSeriesSplit(-folds) if folds < 0 else folds
    return nf.cross_val_evaluate(estimator, features, series.labels, **called(args))


def _scorer(problem: Problem) -> Any:
    from sklearn.naive_bayes import GaussianNB

    series, half = made(problem["series"]), len(made(problem["series"]).labels) // 2
    features = np.stack([series.scores, series.rival], axis=1)
    fitted = GaussianNB().fit(features[:half], series.labels[:half])
    return {"score": nf.make_scorer(**called(arguments(problem)))(fitted, features[half:], series.labels[half:])}


def _metrics(problem: Problem) -> Any:
    """Every metric on one series: scores for those of scores, alarms for the others."""
    series = made(problem["series"])
    alarms = series.scores >= np.quantile(series.scores, problem["args"]["quantile"])
    values = {}
    for name in (*nf.metrics.names(), *SETTINGS_OF_METRICS):
        metric = nf.metrics.get(name)
        values[name] = metric(series.labels, series.scores if metric.needs == "scores" else alarms)
    return values


SETTINGS_OF_METRICS = (
    *("vus-pr:window=5", "vus-roc:window=20", "pak-f1:k=40", "delay-pa-f1:delay=2", "range-f1:alpha=0.5,bias=front"),
    *("range-recall:cardinality=reciprocal", "f1:tolerance=3", "nab:profile=low-fp", "pa-f1:beta=2"),
)


def _confusion(problem: Problem) -> Any:
    found = judged("evaluate")(problem)
    both = {"truth": found.tolerant_truth, "predictions": found.tolerant_predictions}
    return {side: {"print": str(one), **one.measures()} for side, one in both.items()}


def _report(problem: Problem) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        judged("report")(problem | {"args": problem["args"] | {"path": str(path)}})
        return Page(text_of(path.read_text(encoding="utf-8")))


def _command(problem: Problem) -> Any:
    """A command on files that hold the series."""
    with in_folder() as folder:
        return run(command_line(problem, folder))


def _typed(problem: Problem) -> Any:
    """Commands as the README and the pages have them, in one folder with the files that they speak of."""
    with in_folder() as folder:
        for name, text in example_files().items():
            (folder / name).write_text(text, encoding="utf-8")
        return Printed(
            "\n".join(f"$ {' '.join(words)}\n{run(seeded(words)).text}" for words in problem["args"]["commands"])
        )


def seeded(words: list[str]) -> list[str]:
    """A command whose p-values auto may simulate says the same each time; pages show it without a seed."""
    return [*words, "--seed", "1"] if words[:1] == ["evaluate"] and "--seed" not in words else words


VERBS: dict[str, Callable[[Problem], Any]] = {
    **{verb: judged(verb) for verb in ("evaluate", "sweep", "diagnose", "compare")},
    **{verb: _of_metric(verb) for verb in ("significance", "chance")},
    **{verb: _lists(verb) for verb in ("coincidence", "sweep_tolerances")},
    **{verb: _plain(verb) for verb in ("power", "sample_size")},
    **{"report": _report, "study": _study, "cross_val_evaluate": _cross_validated, "make_scorer": _scorer},
    **{"metrics": _metrics, "confusion": _confusion, "command": _command, "typed": _typed},
}


# ---- what people bring: the same values in the clothes of every library


def _dates(seconds: np.ndarray) -> np.ndarray:
    return ORIGIN + np.asarray(seconds).astype("timedelta64[s]")


CLOTHES: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda values: values.tolist(),
    "array": np.array,
    "bool": lambda values: np.asarray(values, dtype=bool),
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "dates": _dates,
    "text": lambda seconds: [str(t) for t in _dates(seconds)],
    "zone": lambda seconds: pd.DatetimeIndex(_dates(seconds)).tz_localize("UTC").tz_convert("Europe/Berlin"),
    "numbers": lambda seconds: np.asarray(seconds) / 60,
}
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def brought(problem: Problem) -> dict[str, Any]:
    """Truth, detector, clock and mask as arguments."""
    series, give = made(problem["series"]), problem.get("give", {})
    clock = give.get("clock")
    data: dict[str, Any] = {"truth": _truth(series, give.get("truth", "array"), clock)}
    data |= {} if problem["verb"] == "chance" else _detector(series, problem)
    if clock == "index":  # dates that come with the values
        index = pd.DatetimeIndex(_dates(series.seconds))
        data["truth"] = pd.Series(series.labels, index=index)
        data["scores"] = pd.Series(series.scores, index=index)
    elif clock:
        data["times"] = CLOTHES[clock](series.seconds)
    if series.mask.any():
        data["mask"] = series.mask
    return data


def _truth(series: Series, way: str, clock: str | None) -> Any:
    on_clock = CLOTHES[clock if clock in ("dates", "text", "zone", "numbers") else "dates"]
    if way == "positions":
        return np.flatnonzero(series.labels).tolist()
    if way == "times":
        return on_clock(series.seconds[np.flatnonzero(series.labels)])
    if way == "between":
        return on_clock(series.between)
    if way == "ranges":
        return [tuple(pair) for pair in series.ranges.tolist()]
    if way.startswith("frame-"):
        starts, ends = series.ranges.T
        return FRAMES[way.removeprefix("frame-")]({"start": starts, "end": ends})
    if way == "intervals":
        return pd.IntervalIndex.from_arrays(series.ranges[:, 0], series.ranges[:, 1] + 1, closed="left")
    if way == "dated":
        starts, ends = (on_clock(series.seconds[side]) for side in series.ranges.T)
        return pd.DataFrame({"start": starts, "end": ends})
    return CLOTHES[way](series.labels)


def _detector(series: Series, problem: Problem) -> dict[str, Any]:
    way = problem.get("give", {}).get("detector", "array")
    alarms = series.scores >= np.quantile(series.scores, 0.9)
    if problem["verb"] == "compare" or way == "two":
        return {"scores": {"first": series.scores, "second": series.rival}}
    if way == "alarms":
        return {"predictions": alarms.astype(int)}
    if way == "alarm-positions":
        return {"predictions": np.flatnonzero(alarms).tolist()}
    if way == "alarm-ranges":
        edges = np.flatnonzero(np.diff(np.concatenate([[0], alarms, [0]])))
        return {"predictions": [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]}
    if way == "missing":
        return {"scores": np.where(np.arange(len(alarms)) % 29 == 7, np.nan, series.scores)}
    return {"scores": CLOTHES[way](series.scores)}


def arguments(problem: Problem) -> dict[str, Any]:
    """The other arguments, with their values made."""
    return {name: meant(value) for name, value in problem.get("args", {}).items()}


def called(data: dict[str, Any]) -> dict[str, Any]:
    """The same under today's names."""
    return {ARGUMENTS.get(name, name): value for name, value in data.items()}


def own_null(generator: np.random.Generator) -> np.ndarray:
    """A null of the user's."""
    labels = np.zeros(120, dtype=int)
    labels[generator.permutation(120)[:9]] = 1
    return labels


def own_metric(labels: Any, scores: Any) -> float:
    """A metric of the user's."""
    return float(np.mean(np.asarray(scores)[np.asarray(labels) == 1])) if np.any(labels) else 0.0


class Thing:
    """Something that no argument can be."""

    def __repr__(self) -> str:
        return "<thing>"


SPECIAL: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": tuple,
    "tolerance": lambda parts: nf.Tolerance(**{name: meant(part) for name, part in parts.items()}),
    "tolerances": lambda many: [meant(one) for one in many],
    "array": np.array,
    "dates": lambda texts: np.array(texts, dtype="datetime64[s]"),
    "strata": lambda n: nf.nulls.Seasonal(strata=np.arange(n) // 20),
    "own": lambda what: {"null": own_null, "metric": own_metric}[what],
    "object": lambda _: Thing(),
    "bytes": lambda text: text.encode(),
    "complex": lambda parts: complex(*parts),
    "whole": int,
    "frame": pd.DataFrame,
}


def meant(value: Any) -> Any:
    """A value as it is, or what a dict of one known key stands for."""
    if isinstance(value, dict) and len(value) == 1:
        (kind, inside), *_ = value.items()
        if kind in SPECIAL:
            return SPECIAL[kind](inside)
    return value


# ---- the command line


class Printed:
    """What a command printed."""

    def __init__(self, text: str) -> None:
        self.text = text


class Page:
    """What stands on a page."""

    def __init__(self, text: str) -> None:
        self.text = text


def command_line(problem: Problem, folder: Path) -> list[str]:
    """The words of a command, its files written."""
    command, give, args = problem["command"], problem.get("give", {}), dict(problem.get("args", {}))
    words = [command]
    if command not in ("power", "metrics"):
        series = made(problem["series"])
        words += _list_files(series, folder) if command == "coincidence" else _files(problem, series, give, folder)
    for name, value in args.items():
        if name in ("words",):
            words += value
        elif value is True:
            words.append(OPTIONS[name])
        elif isinstance(value, list) and name == "metric":
            words += [word for one in value for word in (OPTIONS[name], one)]
        else:
            words += [OPTIONS[name], ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return words


def _files(problem: Problem, series: Series, give: dict[str, Any], folder: Path) -> list[str]:
    columns: dict[str, Any] = {"time": [str(t) for t in _dates(series.seconds)], "label": series.labels}
    columns |= {"z": series.scores, "y": series.rival, "off": series.mask.astype(int)}
    columns["alarm"] = (series.scores >= np.quantile(series.scores, 0.9)).astype(int)
    name, words = f"data.{give.get('file', 'csv')}", []
    if name.endswith("parquet"):
        pl.DataFrame(columns).write_parquet(folder / name)
    else:
        pl.DataFrame(columns).write_csv(folder / name, separator="\t" if name.endswith("tsv") else ",")
    if give.get("truth") in ("between", "dated"):
        ends = series.seconds[series.ranges[:, 1]]
        starts = series.between if give["truth"] == "between" else series.seconds[series.ranges[:, 0]]
        table = {"start": [str(t) for t in _dates(starts)], "end": [str(t) for t in _dates(np.maximum(starts, ends))]}
        if give["truth"] == "between":
            del table["end"]
        pl.DataFrame(table).write_csv(folder / "events.csv", include_header=give["truth"] == "dated")
        words += ["--truth-file", "events.csv", "--time", "time"]
    else:
        words += ["--truth", "label"] + (["--time", "time"] if give.get("clock") else [])
    if problem["command"] != "chance":
        words += ["--predictions", "alarm"] if give.get("detector") == "alarms" else ["--scores", "z"]
        words += ["--scores", "y"] if problem["command"] == "compare" else []
    return [name, *words, *(["--mask", "off"] if series.mask.any() else [])]


def _list_files(series: Series, folder: Path) -> list[str]:
    for name, seconds in (("events.csv", series.between), ("alarms.csv", series.late)):
        (folder / name).write_text("\n".join(["at", *map(str, _dates(seconds))]) + "\n", encoding="utf-8")
    span = [str(t) for t in _dates(np.array([0, series.seconds[-1]]))]
    return ["events.csv", "alarms.csv", "--span", *span]


@contextlib.contextmanager
def in_folder() -> Iterator[Path]:
    """An empty working directory."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def run(words: list[str]) -> Printed:
    """Output, errors, exit code and the text of files that were written."""
    there = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    parts = [out.getvalue().rstrip("\n"), *([f"[stderr] {err.getvalue().rstrip()}"] if err.getvalue() else [])]
    for path in sorted(path for path in Path().rglob("*") if path.is_file()):
        if path.suffix in (".csv", ".txt", ".md", ".tex", ".xml", ".json") and there.get(path) is None:
            parts.append(f"[{path}]\n{path.read_text(encoding='utf-8').rstrip()}")
        elif path.suffix == ".html" and there.get(path) is None:
            parts.append(f"[{path}]\n{text_of(path.read_text(encoding='utf-8'))}")
    return Printed("\n".join([*parts, f"[exit {code}]"]))


@functools.cache
def example_files() -> dict[str, str]:
    """The files that the pages speak of, as they were when the record was made."""
    with lzma.open(HERE / "files.json.xz", "rt", encoding="utf-8") as file:
        return dict(json.load(file))


class _Text(HTMLParser):
    """The text of a page, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.hidden += tag in ("script", "style", "svg")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style", "svg")

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.parts.append(" ".join(data.split()))


def text_of(page: str) -> str:
    """What one reads on a page."""
    reader = _Text()
    reader.feed(page)
    return "\n".join(reader.parts)


# ---- what is recorded

CHOICES = {"verdict", "asked", "name", "text", "method", "null", "alternative", "ties", "unit", "kind", "recommended"}
CHOICES |= {"count_events", "count_alarms", "higher_is", "tolerance", "status", "better", "metric", "best", "label"}
FORMATS = ("to_markdown", "to_latex", "to_csv", "_repr_html_", "to_json")


@contextlib.contextmanager
def unsaved() -> Iterator[None]:
    """Figures are drawn, but matplotlib, which would take most of the time, does not write what is not recorded."""
    with (
        patch("nofluke.plot.panels.svg_of", lambda draw: figure_of(draw) and "<svg></svg>\n"),
        patch("nofluke.show.kit.figure._saved", lambda *_: "<svg></svg>"),
    ):
        yield


def answer(problem: Problem) -> dict[str, dict[str, Any]]:
    """What is seen of a problem: numbers and choices in one part, words in the other, both flat."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = VERBS[problem["verb"]](problem)
        except Exception as error:  # a fault of ours is recorded as what it is
            return {"numbers": {"refused": type(error).__name__}, "words": {"refused": tidy(str(error))}}
        if isinstance(result, Printed | Page):
            return {"numbers": {}, "words": {type(result).__name__.lower(): tidy(result.text)}}
        found: dict[str, dict[str, Any]] = {"numbers": {}, "words": {}}
        if isinstance(result, dict):
            _split(result, "", found)
            return found
        _split(result.to_dict(), "", found)
        _split(more_of(problem, result), "more.", found)
        found["words"]["keys"] = " ".join(_keys(result.to_dict()))
        way = FORMATS[sum(map(ord, problem["id"])) % len(FORMATS)]
        found["words"]["print"] = tidy(str(result))
        # figures are those of the matplotlib that is installed: other tests look at them
        found["words"][way] = tidy(re.sub(r"<svg.*?</svg>", "", getattr(result, way)(), flags=re.DOTALL))
    return found


def more_of(problem: Problem, result: Any) -> dict[str, Any]:
    """What results are asked beyond what they print."""
    more: dict[str, Any] = {}
    if isinstance(result, nf.Evaluation):
        test = result.f_test(n_resamples=99, rng=1)
        more["f"] = {"pvalue": test.pvalue, "expected": test.expected, "std": test.std, "method": str(test.method)}
        more["sentences"] = list(result.sentences())
        more["verdict_in_words"] = result.verdict_in_words()
        more["advice"] = result.advice
    elif isinstance(result, nf.Sweep):
        family = result.familywise(n_resamples=99, rng=1)
        more["familywise"] = family.to_dict()
        more["familywise_print"] = str(family)
    elif isinstance(result, nf.CoincidenceSweep) and problem["args"].get("familywise", True):
        more["familywise"] = result.familywise(n_resamples=99, rng=1).to_dict()
    elif isinstance(result, nf.Study):
        more["cells"] = {
            f"{row['series']}/{row['detector']}": {k: v for k, v in row.items() if not isinstance(v, list | dict)}
            for row in result.to_frame("polars").to_dicts()
        }
        more["pooled"] = [one.to_dict() for one in result.pooled()]
        more["board"] = str(result.leaderboard())
    return more


def _split(value: Any, path: str, found: dict[str, dict[str, Any]]) -> None:
    """Leaves into numbers or words."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _split(inner, f"{path}{key}.", found)
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            _split(inner, f"{path}{at}.", found)
        found["numbers"][f"{path}n"] = len(value)
    elif isinstance(value, str):
        path = path.removesuffix(".")
        key = path.rsplit(".", 1)[-1]
        found["numbers" if key in CHOICES else "words"][path] = tidy(value)
    else:
        found["numbers"][path.removesuffix(".")] = plain(value)


def plain(value: Any) -> Any:
    """A number that JSON can hold, to twelve digits."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer) or value is None:
        return None if value is None else int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    return tidy(str(value))


def _keys(value: Any, path: str = "") -> list[str]:
    """The names of all keys in their order, those of lists once."""
    if isinstance(value, dict):
        return [name for key, inner in value.items() for name in [f"{path}{key}", *_keys(inner, f"{path}{key}.")]]
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return _keys(value[0], path)
    return []


LONG = re.compile(r"\d+\.\d{9,}(?:e[+-]?\d+)?|\d\.\d{9,}|\d{3,}\.\d{6,}")


def tidy(text: str) -> str:
    """A text without what differs between machines: numbers in full are rounded to eleven digits."""
    text = re.sub(r"/tmp/[\w./-]+", "TMP", text)
    text = re.sub(r"\b[0-9a-f]{32,}\b", "HASH", text)
    text = re.sub(r'"size": \d+', '"size": N', text)
    return LONG.sub(lambda found: f"{float(found[0]):.11g}", text)
