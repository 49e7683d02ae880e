"""Metrics of a series that was read, against chance: choose the null, measure its draws, make results of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.errors import InputError
from nofluke.inference.chance import Alternative
from nofluke.inference.chance_level import Labels
from nofluke.inference.metric_result import Significance
from nofluke.inference.metric_results import Significances
from nofluke.inference.reached import Side, familywise, reaching
from nofluke.inference.resampling import Stop, Values, affordable, measure, stopped_at
from nofluke.metrics.base import Metric
from nofluke.metrics.labelled import Labelled
from nofluke.nulls import Null
from nofluke.nulls.choice import Choice
from nofluke.nulls.moves import Moves, moves_of
from nofluke.nulls.whole_series import choose_for_series

FAST_CHUNK, SLOW_CHUNK = 4096, 64  # draws to a chunk: of kernels; of functions, and where draws may stop early
ROWS = 2**22  # steps of all labels that are drawn in a chunk


def judge(
    metrics: tuple[Metric, ...],
    series: Labelled,
    *,
    several: bool,
    null: Null,
    n_resamples: int,
    stop_after: int | None,
    alternative: Alternative | None,
    workers: int | None,
    rng: Any,
    alpha: float,
    edges: tuple[int, ...] | None,
) -> Any:
    """Metrics of a series that was read, against chance."""
    observed = [_observed(metric, series) for metric in metrics]
    choice = choose_for_series(
        null,
        series,
        reach=max(metric.reach(series) for metric in metrics),
        alpha=alpha,
        by_scores=any(metric.needs == "scores" for metric in metrics),
        edges=edges,
    )
    slow = stop_after is not None or not all(metric.compiled for metric in metrics)
    moves = moves_of(
        choice.model,
        series,
        n_resamples=n_resamples,
        rng=rng,
        chunk=SLOW_CHUNK if slow else max(min(FAST_CHUNK, ROWS // max(series.n_labelled, 1)), SLOW_CHUNK),
        affordable=(lambda _: False) if stop_after is not None else affordable(metrics, series, n_resamples),
        edges=edges,
    )
    sides = [_side(metric, alternative) for metric in metrics]
    stop = _stop(metrics[0], observed[0], sides[0], stop_after)
    found, more = measure(metrics, series, moves, workers=workers, stop=stop)
    more += undefined_on(found, metrics, observed)
    results = tuple(
        _result(metric, value, values, series, choice, moves, side, alpha, stop_after, more)
        for metric, value, values, side in zip(metrics, observed, found, sides, strict=True)
    )
    return several_of(results) if several else results[0]


def several_of(results: tuple[Significance, ...]) -> Significances:
    """Results on common draws, with the p-values corrected for all of them."""
    columns = []
    for result in results:
        sign = -1.0 if result.alternative == "less" else 1.0
        columns.append((sign * result.value, sign * result.values))
    two_sided = results[0].alternative == "two-sided"
    corrected = familywise(
        np.array([np.nan_to_num(value, nan=-np.inf) for value, _ in columns]),
        np.column_stack([values for _, values in columns]),
        ("greater", "less") if two_sided else ("greater",),
        listed=results[0].listed,
    )
    undefined = np.array([np.isnan(result.value) for result in results])
    return Significances(results=results, corrected=np.where(undefined, 1.0, corrected))


def _observed(metric: Metric, series: Labelled) -> float:
    """The value itself: what fails here fails before any draw is made."""
    try:
        return metric.value(series)
    except InputError:
        raise
    except Exception as error:
        if metric.compiled:
            raise
        raise InputError(f"metric={metric.text!r} failed on the data with {type(error).__name__}: {error}.") from error


def _side(metric: Metric, alternative: Alternative | None) -> Alternative:
    return alternative or ("greater" if metric.better == "higher" else "less")


def undefined_on(found: list[Values], metrics: tuple[Metric, ...], observed: list[float]) -> tuple[str, ...]:
    """Notes on metrics that have a value on the data and none on some draws."""
    notes = []
    for values, metric, value in zip(found, metrics, observed, strict=True):
        undefined = int(np.isnan(values.values).sum()) - values.failed
        if undefined and not np.isnan(value):
            notes.append(
                f"{metric.text} is undefined on {undefined:,} of {len(values.values):,} draws; these count as draws that reach the "
                "observed value."
            )
    return tuple(notes)


def _stop(metric: Metric, observed: float, alternative: Alternative, stop_after: int | None) -> Stop | None:
    if stop_after is None:
        return None
    side: Side = "less" if alternative == "less" else "greater"
    return Stop(after=stop_after, reached=lambda values: reaching(values, observed, side, metric.perfect))


def _result(
    metric: Metric,
    value: float,
    found: Values,
    series: Labelled,
    choice: Choice,
    moves: Moves,
    alternative: Alternative,
    alpha: float,
    stop_after: int | None,
    more: tuple[str, ...],
) -> Significance:
    values = found.values
    if stop_after is not None and alternative != "two-sided":
        at = stopped_at(reaching(values, value, alternative, metric.perfect), stop_after)
        values = values if at is None else values[:at]
    return Significance(
        metric=metric,
        value=value,
        values=values,
        labels=labels_of(series),
        choice=choice,
        method=moves.method,
        alternative=alternative,
        alpha=alpha,
        stop_after=stop_after,
        known_mean=metric.mean_by_permutation(series) if choice.model.permutes else None,
        notes=(*series.notes, *_remarks(series), *more, *choice.notes),
    )


def labels_of(series: Labelled) -> Labels:
    """What metrics are measured on, in numbers."""
    return Labels(
        n=series.n_steps,
        n_ranges=series.truth.n,
        n_labelled=series.n_labelled,
        n_alarms=None if series.alarms is None else int(series.alarms.sum()),
        threshold=None if series.cuts is None else float(series.cuts.told[0]),
    )


def _remarks(series: Labelled) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    remarks = [*filter(None, [labels_of(series).obstacle])]
    if series.scores is not None and series.n_steps > 1 and np.ptp(series.scores) == 0:
        remarks.append("All scores are equal: no threshold can tell one step from another.")
    if series.alarms is not None and not series.alarms.any():
        remarks.append("There are no alarms.")
    elif series.alarms is not None and series.alarms.all():
        remarks.append("There is an alarm on every step.")
    return tuple(remarks)
