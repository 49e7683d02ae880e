"""Other metrics of a report at the evaluated threshold: a table beside chance, and a figure of draws for each."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from nofluke.errors import InputError, say, verb
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.metric_results import Significance, Significances
from nofluke.inference.significance import Counted, as_metrics, judge
from nofluke.metrics.functions import Function
from nofluke.metrics.labelled import labelled_of
from nofluke.nulls.choice import AUTO
from nofluke.plain import finite_or_none
from nofluke.series.detector import Cuts
from nofluke.show.report.cells import seed_of
from nofluke.text.tables import show_number

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


def figures_of(others: Significances | None) -> list[dict[str, Any]]:
    """What the page draws of each metric: bars of the draws, and the value."""
    return [_figure(one) for one in others or ()]


def _figure(one: Significance) -> dict[str, Any]:
    heights, edges = one.chance.bars()
    return {
        "name": one.name,
        "value": finite_or_none(one.value),
        "text": show_number(one.value),
        "perfect": one.metric.perfect,
        "heights": [float(f"{height:.4g}") for height in heights.tolist()],
        "edges": edges.tolist(),
        "height": one.chance.height,
    }


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
