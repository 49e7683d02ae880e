"""The report: one self-contained page with the verdict, two sliders and every figure, to open, send or print."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.errors import InputError, Unlike, Words, say, verb
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.significance import Counted, Significances, as_metrics, judge
from nofluke.metrics.functions import Function
from nofluke.metrics.labelled import labelled_of
from nofluke.nulls.choice import AUTO
from nofluke.plain import finite_or_none
from nofluke.series.detector import Cuts
from nofluke.show.kit import filled as fill
from nofluke.show.kit import in_names, markup, page, read, written
from nofluke.show.kit.figure import drawn
from nofluke.show.report.cells import seed_of
from nofluke.show.report.figures import figures_of
from nofluke.show.report.origin import Code, Origin, Source, origin_of
from nofluke.show.report.payload import make_payload
from nofluke.text.tables import show_number

# ---- other metrics at the evaluated threshold: a table beside chance, and a figure of draws for each

HEADINGS = {"corrected": "corrected for chance"}
ABOUT = (
    "Corrected for chance, a value is 0 at the chance level and 1 if perfect. p corrected: how often chance has a "
    "p-value this small in any of these metrics."
)


def metrics_beside(result: Evaluation, metrics: Any) -> Significances | None:
    """Metrics of an evaluation's data, against the null that it was asked for; None where there are none."""
    if metrics is None or (isinstance(metrics, list | tuple) and not metrics):
        return None
    if isinstance(result, Coincidence):
        raise InputError(
            problem="metrics need labels on steps, which two lists of times do not have",
            remedy=say("pass labels to {}", verb("evaluate")),
        )
    settings, k = result.settings, result.cell.k
    cuts = None
    if result.threshold is not None:
        cuts = Cuts(compared=result.cell.trial.thresholds[k : k + 1], told=np.array([result.threshold]))
    found: Significances = judge(
        as_metrics(metrics, "alarms"),
        labelled_of(result.sequence.as_ranges(), cuts, result.count_events),
        several=True,
        null=AUTO if settings.choice.is_auto else settings.null,
        n_resamples=settings.n_resamples,
        stop_after=None,
        alternative=None if settings.alternative == "greater" else settings.alternative,
        workers=None,
        rng=seed_of(result),
        alpha=result.alpha,
        edges=None,
        counted=Counted(sequence=result.sequence, cuts=cuts, asked=result.count_events),
    )
    return found


def code_of(others: Significances | None) -> tuple[tuple[str, ...], str]:
    """Lines of Python that bring functions along, or say that they are not there, and the metrics as a list."""
    if others is None:
        return (), ""
    lines, listed = [], []
    for i, one in enumerate(others, 1):
        if not isinstance(one.metric, Function):
            listed.append(repr(one.name))
            continue
        place = _place_of(one.metric)
        listed.append(one.name if place else f"metric_{i}")
        lines.append(
            f"from {place} import {one.name}"
            if place
            else f"# metric_{i} stands for {one.name!r}, a function that is not shown here"
        )
    return tuple(lines), f"[{', '.join(listed)}]"


def _place_of(metric: Function) -> str:
    """The most public module that a function can be imported from by name; empty if there is none."""
    parts = str(getattr(metric.function, "__module__", None) or "").split(".")
    if parts[0] in ("", "__main__") or not metric.name.isidentifier() or metric.declared:
        return ""
    modules = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next((m for m in modules if getattr(sys.modules.get(m), metric.name, None) is metric.function), "")


def drawn_metrics(others: Significances | None) -> list[dict[str, Any]]:
    """What the page draws of each metric: bars of the draws, and the value."""
    bars = [one.chance.bars() for one in others or ()]
    return [
        {
            "name": one.name,
            "value": finite_or_none(one.value),
            "text": show_number(one.value),
            "perfect": one.metric.perfect,
            "heights": [float(f"{height:.4g}") for height in heights.tolist()],
            "edges": edges.tolist(),
            "height": one.chance.height,
        }
        for one, (heights, edges) in zip(others or (), bars, strict=True)
    ]


def section_of(others: Significances | None, result: Evaluation) -> dict[str, Any] | None:
    """What the section of the page shows."""
    if others is None:
        return None
    table = others.table()
    told = (
        f"As evaluated, wherever the sliders are: {others[0].labels.in_words()}.",
        *(note for note in others.notes if note not in result.notes),
        others.how(),
        ABOUT,
    )
    return {
        "verdict": others.verdict_in_words(),
        "columns": [HEADINGS.get(name, name) for name in table.columns],
        "rows": table.rows,
        "told": " ".join(told),
        "figures": [{"name": one.name, "words": one.in_words()} for one in others],
    }


# ---- the page: a template filled with the payload, and its figures at the evaluated position

PARTS = ("page", "figures", "steps", "timeline", "events", "links")
PRINTED = ("next", "strip", "diagnosis", "family", "grid", "about_heat", "corrected_by")
SIZES = {"timeline": (14.0, 4.3), "null-precision": (4.2, 2.9), "null-recall": (4.2, 2.9)}  # inches, where they differ
MATRICES = (
    (
        "truth",
        "Tolerance in the truth: precision is read here",
        (say("{event} near"), "none near", "sum"),
        (Words((Unlike("predicted", say("{alarm}")),)), Words((Unlike("not predicted", say("no {alarm}")),)), "sum"),
    ),
    (
        "predictions",
        say("Tolerance in the {predictions}: recall is read here"),
        (say("{event}"), "none", "sum"),
        (say("{prediction} near"), "none near", "sum"),
    ),
)


def render(payload: dict[str, Any], origin: Origin, others: dict[str, Any] | None = None) -> str:
    """The whole page as text; ``others`` is its section on other metrics."""
    return page(
        "report/page.html",
        title=origin.name,
        kind="report",
        data=data_of(payload),
        script=script() + "opened((data) => { window.page = openPage(data); });",
        body=markup(body_of(payload, origin, others)),
    )


def script() -> str:
    """The function that brings the body of a page to life: what it defines belongs to one page, until it is closed."""
    parts = "\n".join(read(f"report/{name}.js") for name in PARTS)
    return f"function openPage(data) {{\n{parts}\nreturn start();\n}}\n"


def data_of(payload: dict[str, Any]) -> dict[str, Any]:
    """All that scripts look up; what stands in the page as it is has no place there."""
    return {name: value for name, value in payload.items() if name not in PRINTED} | {"figures": figures_of(payload)}


def body_of(
    payload: dict[str, Any], origin: Origin, others: dict[str, Any] | None = None, *, figures: bool = True
) -> str:
    """What stands between the title and the scripts, with the numbers of the chosen cell.

    ``figures`` says whether they are drawn for readers without scripts.
    """
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    told = _told(payload)
    by_lag, timeline = payload["column"] == "lag", payload["timeline"]
    described = {**figures_of(payload), "timeline": origin.timeline}
    shown = drawn(described, payload, SIZES) if figures else dict.fromkeys(described, "")
    nouns, names = payload["nouns"], origin.names
    leading, following = ("recall", "precision") if origin.leads == "alarms" else ("precision", "recall")

    def shown_text(path: str) -> Any:
        """The end of an opening tag and the text of the element, which scripts change with the sliders."""
        return markup(f' data-text="{path}">') + told[path]

    return fill(
        "report/report.html",
        payload=payload,
        cell=cell,
        say=shown_text,
        drawn=shown,
        name=origin.name,
        about_data=origin.about,
        null=origin.null,
        doubtful=origin.doubtful,
        by_lag=by_lag,
        movable=payload["movable"],
        scored=timeline["scores"] is not None,
        away=bool(timeline.get("away")),
        column_name="Lag" if by_lag else "Threshold",
        alpha=f"{payload['alpha']:g}",
        events=payload["events"],
        nouns=nouns,
        names=names,
        kinds=(
            ("", "all"),
            ("found", f"{nouns['event'][1]} found"),
            ("missed", f"{nouns['event'][1]} missed"),
            ("false", nouns["false"][1]),
        ),
        matrices=[in_names(one, names) for one in MATRICES if cell["matrices"][one[0]] is not None],
        sections=in_names(_sections(payload, others), names),
        in_time=origin.in_time,
        leads=origin.leads,
        leading=leading,
        following=following,
        others=others,
        facts=origin.facts,
        code=origin.code,
    )


def _sections(payload: dict[str, Any], others: dict[str, Any] | None) -> list[tuple[str, str]]:
    by_lag = payload["column"] == "lag"
    return [
        ("verdict", "Verdict"),
        ("time", "Timeline"),
        ("events", say("{Events}")),
        ("numbers", "Numbers"),
        *([("curves", "By lag" if by_lag else "By threshold")] if payload["movable"] else []),
        ("by-tolerance", "By tolerance"),
        ("map", "Map"),
        ("diagnosis", "Null"),
        ("lags", "Delays"),
        *([("metrics", "Metrics")] if others else []),
        ("how", "How made"),
    ]


def _told(payload: dict[str, Any]) -> dict[str, str]:
    """The texts of the chosen cell by their paths, for readers and printers without scripts."""
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    flat = dict(cell["text"])
    for name, texts in (
        ("precision", cell["precision"]["text"]),
        ("recall", cell["recall"]["text"]),
        ("row", payload["rows"][d]),
    ):
        flat |= {f"{name}.{part}": text for part, text in texts.items()}
    return flat | {
        "column": payload["columns"][k],
        "threshold": payload["thresholds"][k]["label"],
        "tolerance": payload["tolerances"][d]["label"],
    }


# ---- what is asked for: a page about a result

__all__ = ["Parts", "Source", "make_page", "parts_of", "write_report"]


def write_report(
    result: Evaluation,
    path: str | Path,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> Path:
    """Write a page about a result: verdict, timeline, two sliders for threshold and tolerance, curves, nulls, heat map.

    Every slider position is evaluated beforehand exactly as :func:`nofluke.evaluate` does, and embedded; the page
    computes nothing. The positions are some 30 quantiles of the score on both sides of the chosen threshold (fewer
    where exact chance would take long), and up to eight tolerances of the shape of the chosen one; the chosen cell is
    always among them. With alarms instead of scores there is no threshold to move. Undefined measures (no predictions,
    no events) are shown as such. The same input gives the same bytes.

    Parameters
    ----------
    result : Evaluation
        Of :func:`nofluke.evaluate`; ``result.report(path)`` is the same.
    path : str or Path
        The HTML file to write; a leading ``~`` is your home. An older page stays until the new one is complete.
    title : str, optional
        Heading of the page; by default the name of the file that the data come from.
    source : Source, optional
        The file and the command that the data came from, as the command line knows them.
    metrics : list of metrics, optional
        Other metrics to test against chance, at the threshold that was evaluated: see :func:`nofluke.significance`.

    Returns
    -------
    Path
        Where the page is.

    References
    ----------
    Scharwächter and Müller (2020). Westfall and Young (1993), for the corrected p-values.

    Examples
    --------
    >>> import nofluke as nf, tempfile
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 1, 0, 0], [0, 5, 1, 0, 2, 6, 1, 0], threshold=5, tolerance=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = result.report(f"{folder}/report.html").read_text(encoding="utf-8")
    >>> "2 of 2 predictions are within 1 step of an event" in text
    True
    """
    return written(path, lambda: make_page(result, title=title, source=source, metrics=metrics), title)


def make_page(
    result: Evaluation,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> str:
    """The page that `write_report` writes, as text."""
    if not isinstance(result, Evaluation):
        raise InputError(
            argument="result",
            problem=f"must be an Evaluation, got {type(result).__name__}",
            remedy="pass what nofluke.evaluate returns",
        )
    if source is not None and not isinstance(source, Source):
        raise InputError(
            argument="source",
            problem=f"must be a Source, got {type(source).__name__}",
            remedy="pass one, or leave it out",
        )
    parts = parts_of(result, title=title, source=source, metrics=metrics)
    return render(parts.payload, parts.origin, parts.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What makes up the body of a page: data, origin, the section on other metrics, and the code for them."""

    payload: dict[str, Any]
    origin: Origin
    others: dict[str, Any] | None
    metrics: Code


def parts_of(
    result: Evaluation, *, title: str | None, source: Source | None, metrics: Any, label: str = "report"
) -> Parts:
    """The parts of the page about a result; ``label`` stands beside the progress bar."""
    others = metrics_beside(result, metrics)
    payload, code = make_payload(result, source, label) | {"metrics": drawn_metrics(others)}, code_of(others)
    origin = origin_of(result, payload, title=title, source=source, metrics=code)
    return Parts(payload=payload, origin=origin, others=section_of(others, result), metrics=code)
