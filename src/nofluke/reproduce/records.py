"""The numbers behind every figure and table, as comma-separated values with full digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nofluke.measures.confusion import Confusion
from nofluke.reproduce.study import QUANTILES, READINGS, SIDES, THE_QUANTILE, TOLERANCES, Study
from nofluke.text.tables import csv_text

Rows = list[tuple[Any, ...]]


def records(study: Study) -> dict[str, str]:
    """The text of each file, by its name without ".csv"."""
    made = {
        "figure-1": _example(study),
        "figure-2": _by_threshold(study),
        "figure-3": _against_chance(study),
        "figure-4": _null_distributions(study),
        "figure-5": _dispersion(study),
        "figure-6": _pvalues(study),
        "figure-7": _explained(study),
        "figure-8": _lag(study),
        "table-1": _matrix(study.matrices[0]),
        "table-2": _matrix(study.matrices[1]),
        "table-3": _noise(study),
        "section-3.1": _gaps(study),
        "section-3.2": _tests(study),
    }
    return {name: csv_text(columns, [_plain(row) for row in rows]) for name, (columns, rows) in made.items()}


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Python's numbers: NumPy's would be written with their type's name."""
    return tuple(value.item() if isinstance(value, np.generic) else value for value in row)


def _cells() -> Iterator[tuple[str, int, int, int, float]]:
    """Every measure, tolerance and threshold: (side, position of δ, δ, position of the quantile, quantile)."""
    for side in SIDES:
        for d, tolerance in enumerate(TOLERANCES):
            for k, quantile in enumerate(QUANTILES):
                yield side, d, tolerance, k, float(quantile)


def _example(study: Study) -> tuple[tuple[str, ...], Rows]:
    alarms = study.scores >= study.curve.thresholds[THE_QUANTILE]
    days = study.quakes.days
    rows = zip(
        range(len(alarms)) if days is None else map(str, days),
        study.quakes.counts,
        study.scores,
        study.quakes.truth.astype(np.int64),
        alarms.astype(np.int64),
        strict=True,
    )
    return ("day", "tweets", "score", "event", "predicted_at_0.9"), list(rows)


def _by_threshold(study: Study) -> tuple[tuple[str, ...], Rows]:
    curve = study.curve
    rows: Rows = [
        (
            side,
            tolerance,
            quantile,
            curve.thresholds[k],
            getattr(curve, f"{side}_hits")[d, k],
            study.trials(side)[k],
            study.measure(side)[d, k],
        )
        for side, d, tolerance, k, quantile in _cells()
    ]
    return ("measure", "tolerance", "quantile", "threshold", "hits", "of", "value"), rows


def _against_chance(study: Study) -> tuple[tuple[str, ...], Rows]:
    bands = {(side, name): study.chance(side, name) for side in SIDES for name in ("mean", "low", "high")}
    rows: Rows = [
        (
            side,
            tolerance,
            quantile,
            study.measure(side)[d, k],
            *(bands[side, name][d, k] for name in ("mean", "low", "high")),
            *study.permuted(side)[:, d, k].tolist(),
        )
        for side, d, tolerance, k, quantile in _cells()
    ]
    permuted = tuple(f"permuted_{i + 1}" for i in range(len(study.permuted_recall)))
    names = ("measure", "tolerance", "quantile", "observed", "chance_mean", "chance_2.5%", "chance_97.5%")
    return names + permuted, rows


def _null_distributions(study: Study) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = []
    for side in SIDES:
        exact = getattr(study.result, f"{side}_test").law
        laws = [study.simulated(side), exact, study.fitted_binomial(side), study.literature.donges[side]]
        laws += [study.literature.extreme] * (side == "recall")  # there is none for precision
        below = [np.minimum(np.cumsum(law.table), 1) for law in laws]
        nothing = (None,) * (5 - len(laws))
        rows += [(side, hits, exact.table[hits], *(b[hits] for b in below), *nothing) for hits in range(exact.size + 1)]
    names = ("simulated_cdf", "exact_cdf", "binomial_cdf", "donges_cdf", "extreme_value_cdf")
    return ("measure", "hits", "exact_probability", *names), rows


def _dispersion(study: Study) -> tuple[tuple[str, ...], Rows]:
    ratios = {side: study.dispersion(side) for side in SIDES}
    rows: Rows = []
    for side, d, tolerance, k, quantile in _cells():
        cells = getattr(study.curve.chance, side)
        rows.append((side, tolerance, quantile, cells.mean[d, k], cells.std[d, k] ** 2, ratios[side][d, k]))
    return ("measure", "tolerance", "quantile", "mean", "variance", "variance_over_binomial"), rows


def _pvalues(study: Study) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = []
    corrected = {side: getattr(study.curve.chance, side).holm for side in SIDES}
    for side, d, tolerance, k, quantile in _cells():
        adjusted = getattr(study.familywise, f"{side}_adjusted")[d, k]
        p = getattr(study.curve.chance, side).pvalue[d, k]
        rows.append((side, tolerance, quantile, p, corrected[side][d, k], adjusted))
    return ("measure", "tolerance", "quantile", "p_exact", "p_holm", "p_familywise"), rows


def _explained(study: Study) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = []
    for side in SIDES:
        share, gap = study.explained(side), study.gap(side)
        for d, tolerance in enumerate(TOLERANCES):
            here = (study.measure(side)[d, THE_QUANTILE], study.chance(side)[d, THE_QUANTILE], share[d, THE_QUANTILE])
            rows.append((side, tolerance, *here, np.nanmean(share[d]), gap[d, THE_QUANTILE], gap[d].mean()))
    names = ("measure", "tolerance", "observed", "chance", "share_of_chance", "mean_share", "gap", "mean_gap")
    return names, rows


def _lag(study: Study) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = []
    for side in SIDES:
        for lag in study.lags:
            test = getattr(lag.result, f"{side}_test")
            low, high = test.law.quantile((0.025, 0.975))
            rows.append((side, lag.shift, test.hits, test.of, test.expected, low, high, test.pvalue))
    return ("measure", "days_moved", "hits", "of", "chance_mean", "chance_2.5%", "chance_97.5%", "p_exact"), rows


def _matrix(matrix: Confusion) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = [
        ("predicted", matrix.tp, matrix.fp, matrix.predicted),
        ("not predicted", matrix.fn, matrix.tn, matrix.not_predicted),
        ("sum", matrix.actual, matrix.not_actual, matrix.total),
    ]
    return ("", "anomaly", "no anomaly", "sum"), rows


def _noise(study: Study) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = [
        (side, tolerance, test.hits, test.of, test.value, test.expected / test.of, test.pvalue)
        for side in SIDES
        for tolerance, result in zip(TOLERANCES, study.noise, strict=True)
        for test in [getattr(result, f"{side}_test")]
    ]
    return ("measure", "tolerance", "hits", "of", "value", "chance", "p_exact"), rows


def _gaps(study: Study) -> tuple[tuple[str, ...], Rows]:
    gaps = {(side, reading): study.gap(side, reading) for side in SIDES for reading in READINGS}
    rows: Rows = [
        (side, reading, tolerance, quantile, gaps[side, reading][d, k])
        for reading in READINGS
        for side, d, tolerance, k, quantile in _cells()
    ]
    return ("measure", "reading", "tolerance", "quantile", "gap"), rows


def _tests(study: Study) -> tuple[tuple[str, ...], Rows]:
    rows: Rows = []
    for side in SIDES:
        test = getattr(study.result, f"{side}_test")
        rows.append(
            (
                side,
                test.hits,
                test.of,
                test.value,
                test.expected,
                test.law.var,
                test.pvalue,
                study.simulated(side).upper(test.hits),
                study.permutations,
                study.fitted_binomial(side).upper(test.hits),
                study.literature.donges[side].upper(test.hits),
                study.literature.extreme.upper(test.hits) if side == "recall" else None,
            )
        )
    names = (
        "measure",
        "hits",
        "of",
        "value",
        "chance_mean",
        "chance_variance",
        "p_exact",
        "p_simulated",
        "permutations",
        "p_binomial",
        "p_donges",
        "p_extreme_value",
    )
    return names, rows
