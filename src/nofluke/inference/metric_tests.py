"""Metrics of a series that was read, against chance: choose the null, measure its draws, make results of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError, arg, say
from nofluke.inference.chance import Alternative
from nofluke.inference.judging import TURNED
from nofluke.inference.measuring import Values, on_one_line
from nofluke.inference.metric_results import Labels, Significance, Significances
from nofluke.inference.reached import Side, familywise, scale_of
from nofluke.inference.resampling import Stop, affordable, measure, stopped_at
from nofluke.metrics.base import Metric
from nofluke.metrics.labelled import Labelled
from nofluke.nulls import Null
from nofluke.nulls.choice import Choice
from nofluke.nulls.moves import Moves, moves_of
from nofluke.nulls.whole_series import choose_for_series, perfect_detectors
from nofluke.text.numbers import p_is
from nofluke.text.tables import ALL_EQUAL, there_are_no

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
    if edges is not None:
        series = replace(series, truth=series.truth.cut_at(edges))
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
        affordable=affordable(metrics, series, None if stop_after is not None else n_resamples),
        edges=edges,
    )
    if moves.listed:
        stop_after = None  # all shifts at once take less than any draw
    sides = [_side(metric, alternative) for metric in metrics]
    stop = _stop(metrics[0], observed[0], sides[0], stop_after)
    found, more = measure(metrics, series, moves, workers=workers, stop=stop)
    more += _given(metrics, series) + _odd_draws(found, metrics, observed)
    results = tuple(
        _result(metric, value, values, series, choice, moves, side, alpha, stop, more)
        for metric, value, values, side in zip(metrics, observed, found, sides, strict=True)
    )
    if moves.listed:
        results = tuple(_entitled(result, series, moves, workers) for result in results)
    return several_of(results) if several else results[0]


def _entitled(result: Significance, series: Labelled, moves: Moves, workers: int | None) -> Significance:
    """A "no" with the p-value of a perfect detector, which shifts that are short against the ranges leave large."""
    if result.verdict != "no" or not result.metric.compiled:
        return result
    found = []
    for perfect in perfect_detectors(series):
        (values,), _ = measure((result.metric,), perfect, moves, workers=workers, stop=None)
        best = replace(result, value=float(values.values[0]), values=values.values)  # the identity comes first
        found.append(best.pvalue_better)
    return replace(result, perfect_pvalue=min(found))


def several_of(results: tuple[Significance, ...]) -> Significances:
    """Results on common draws, with the p-values corrected for all of them."""
    better = _corrected(results, [(result.better,) for result in results])
    asked = [("greater", "less") if one.alternative == "two-sided" else (one.alternative,) for one in results]
    same = all(sides == (result.better,) for sides, result in zip(asked, results, strict=True))
    return Significances(
        results=results, corrected=better if same else _corrected(results, asked), corrected_better=better
    )


def _corrected(results: tuple[Significance, ...], sides: list[tuple[Any, ...]]) -> FloatArray:
    """For each metric, how often chance has a p-value as small in any of them, on any side that counts."""
    columns = [(k, 1.0 if side == "greater" else -1.0) for k, some in enumerate(sides) for side in some]
    observed = np.array([sign * results[k].value for k, sign in columns])
    found = familywise(
        np.where(np.isnan(observed), -np.inf, observed),
        np.column_stack([sign * results[k].values for k, sign in columns]),
        listed=results[0].listed,
    )
    best = [min(p for (k, _), p in zip(columns, found.tolist(), strict=True) if k == j) for j in range(len(results))]
    return np.array([1.0 if np.isnan(result.value) else p for result, p in zip(results, best, strict=True)])


def _observed(metric: Metric, series: Labelled) -> float:
    """The value itself: what fails here fails before any draw is made."""
    try:
        return metric.value(series)
    except InputError:
        raise
    except Exception as error:
        if metric.compiled:
            raise
        by_scores = metric.needs == "scores"
        ways = map(arg, ("threshold", "quantile", "budget", "predictions"))
        raise InputError(
            argument="metric",
            value=metric.text,
            problem=f"failed on the data with {on_one_line(error)}. It was given {'scores' if by_scores else 'alarms'}",
            remedy=say("for alarms pass {}, {}, {} or {}", *ways) if by_scores else "",
        ) from error


def _given(metrics: tuple[Metric, ...], series: Labelled) -> tuple[str, ...]:
    """A word on functions that were given alarms where there are scores as well."""
    if series.scores is None:
        return ()
    return tuple(
        f"{metric.text} was given the alarms: for scores pass nf.metrics.Function(function=..., name={metric.text!r}, needs='scores')."
        for metric in metrics
        if metric.needs == "alarms" and not metric.compiled and not metric.declared
    )


def _side(metric: Metric, alternative: Alternative | None) -> Alternative:
    return alternative or ("greater" if metric.better == "higher" else "less")


def _odd_draws(found: list[Values], metrics: tuple[Metric, ...], observed: list[float]) -> tuple[str, ...]:
    """Notes on metrics that have a value on the data, and none or an infinite one on some draws."""
    notes = []
    for values, metric, value in zip(found, metrics, observed, strict=True):
        undefined, infinite = (int(odd(values.values).sum()) for odd in (np.isnan, np.isinf))
        of = f"of {len(values.values):,} draws"
        if undefined > values.failed and not np.isnan(value):
            notes.append(
                f"{metric.text} is undefined on {undefined - values.failed:,} {of}; these count as draws that do as "
                "well as the data."
            )
        if infinite:
            notes.append(f"{metric.text} is infinite on {infinite:,} {of}; mean, deviation and band leave these out.")
    return tuple(notes)


def _stop(metric: Metric, observed: float, alternative: Alternative, stop_after: int | None) -> Stop | None:
    if stop_after is None:
        return None
    side: Side = "less" if alternative == "less" else "greater"
    return Stop(after=stop_after, bar=observed, side=side, scale=abs(metric.perfect or 0.0))


def _result(
    metric: Metric,
    value: float,
    found: Values,
    series: Labelled,
    choice: Choice,
    moves: Moves,
    alternative: Alternative,
    alpha: float,
    stop: Stop | None,
    more: tuple[str, ...],
) -> Significance:
    values, scale = found.values, max(scale_of(found.values), abs(metric.perfect or 0.0))
    if stop is not None:
        scale = stop.scale
        at = stopped_at(stop.reached(values), stop.after)
        values = values if at is None else values[:at]
    result = Significance(
        metric=metric,
        value=value,
        values=values,
        labels=labels_of(series),
        choice=choice,
        method=moves.method,
        alternative=alternative,
        alpha=alpha,
        stop_after=None if stop is None else stop.after,
        known_mean=metric.mean_by_permutation(series) if choice.model.permutes else None,
        scale=scale,
        notes=(*series.notes, *_remarks(series), *more, *choice.notes),
    )
    turned = _turned(result, series)
    return replace(result, notes=(*result.notes, turned)) if turned else result


def _turned(result: Significance, series: Labelled) -> str:
    """A word where scores are far worse than chance, as if they were upside down."""
    if result.metric.needs != "scores" or result.obstacle or result.stop_after is not None:
        return ""
    worse = result.pvalue_worse
    if worse > TURNED:
        return ""
    other = "normal" if series.sequence.higher_is == "anomalous" else "anomalous"
    return say(
        "{} is far worse than chance ({}): if scores are upside down, pass {}.",
        result.name,
        p_is(worse),
        arg("higher_is", other),
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
        remarks.append(ALL_EQUAL)
    if series.alarms is not None and not series.alarms.any():
        remarks.append(there_are_no("alarms"))
    elif series.alarms is not None and series.alarms.all():
        remarks.append("There is an alarm on every step.")
    return tuple(remarks)
