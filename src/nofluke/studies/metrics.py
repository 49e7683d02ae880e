"""Metrics over all series of a study: means with intervals, chance, verdicts, and differences of detectors.

A metric of a detector is its mean over the series on which it has a finite value, each of which counts alike. Chance is
the same mean of draws, so that p is the share of draws that do as well:

    p = (1 + #{i: Σ_s f_s(draw i) ≥ Σ_s f_s}) / (n + 1)

with the draws of `nofluke.studies.draws`. Verdicts use p-values that are corrected for all detectors and metrics
(Holm). Intervals and differences use the units of the study: series, or groups of them.

The section "Metrics over series" of docs/explanation/theory.md has the reasons, and what the test was measured on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray, inner
from nofluke.inference.chance import Side, significant
from nofluke.inference.compare import Comparison, Difference, swap_test
from nofluke.inference.corrections import holm, scale_of
from nofluke.inference.interval import (
    FEWEST,
    LIGHTEST,
    UNITS,
    Interval,
    Kind,
    few_hold_most,
    interval_of_mean,
    linearise,
    weighed,
)
from nofluke.inference.metric_laws import reaching
from nofluke.metrics.base import Metric
from nofluke.studies.draws import MetricSums, sign_of
from nofluke.studies.exchange import Exchange, drawn_matchings
from nofluke.studies.pooled import Plan, look
from nofluke.studies.pooled_row import PooledMetric
from nofluke.studies.store import Values
from nofluke.studies.units import Counts, claims_less, wider
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural

FOUND = 1  # a mean of values is a share of so many values: the place of recall among measures


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Means:
    """The metrics of all cells, by series and detector.

    Attributes
    ----------
    names : tuple of str
        As they were asked for.
    lower : frozenset of str
        Those of which lower values are better.
    values : mapping of str to float array, series x detectors
        NaN where a cell has no result, or no finite value.
    """

    names: tuple[str, ...]
    lower: frozenset[str]
    values: Mapping[str, FloatArray] = field(repr=False)

    @classmethod
    def of(cls, cells: Values, counts: Counts, names: Sequence[str], lower: frozenset[str]) -> Means:
        """From the columns of a study's cells."""
        values = {name: counts.placed(cells, name) for name in names}
        finite = {name: np.where(np.isfinite(own), own, np.nan) for name, own in values.items()}
        return cls(names=tuple(names), lower=lower, values=finite)

    def bounded(self, name: str) -> bool:
        """Whether all values of a metric lie between 0 and 1."""
        own = self.values[name]
        return not ((own < 0) | (own > 1)).any()


# ---- each detector beside chance: means, intervals, p-values and verdicts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricPooling:
    """All that metrics of a study are pooled from; as in `nofluke.studies.pooled.Pooling`."""

    means: Means
    metrics: tuple[Metric, ...]
    counts: Counts
    cells: Values = field(repr=False)
    plan: Plan = field(repr=False)
    drawn: MetricSums = field(repr=False)
    n_draws: int
    alpha: float
    level: float
    auto: bool = True

    def rows(self) -> dict[str, tuple[PooledMetric, ...]]:
        """The metrics of each detector, in the order in which they were asked for."""
        if not self.means.names:
            return {}
        found = [
            [self._tested(*told, detector) for told in zip(self.means.names, self.metrics, strict=True)]
            for detector in self.counts.detectors
        ]
        corrected = holm([[one.pvalue for one, _ in own] for own in found])
        return {
            detector: tuple(
                self._ruled(replace(one, corrected=float(p)), floor, detector)
                for (one, floor), p in zip(own, ps, strict=True)
            )
            for detector, own, ps in zip(self.counts.detectors, found, corrected, strict=True)
        }

    def _tested(self, name: str, metric: Metric, detector: str) -> tuple[PooledMetric, float]:
        """A metric of a detector before any correction, and the smallest p-value that could have come out."""
        d = self.counts.detectors.index(detector)
        own, there = self.means.values[name][:, d], self.counts.there[:, d]
        defined = ~np.isnan(own)
        draws, told = self._draws(name, detector, defined)
        interval = interval_by(own, self.counts, self.level, bounded=self.means.bounded(name))
        pooled = PooledMetric(
            name=name,
            better=metric.better,
            perfect=metric.perfect,
            value=float(own[defined].mean()) if defined.any() else math.nan,
            low=math.nan if interval is None else interval.low,
            high=math.nan if interval is None else interval.high,
            n_series=int(defined.sum()),
            n_undefined=int((there & ~defined).sum()),
            n_told=int(told.sum()),
        )
        if draws is None:
            return pooled, 1.0
        many = int(told.sum())
        side: Side = "greater" if metric.better == "higher" else "less"
        observed, sign, scale = float(own[told].sum()), sign_of(metric), scale_of(draws)

        def reached(bar: float) -> int:
            return int(reaching(draws, bar, side, scale).sum())

        best = sign * max(float(np.nanmax(sign * draws, initial=-np.inf)), sign * observed)
        ties = reached(best)  # a single draw on top says nothing of what lies above it, several are an end
        finite = draws[np.isfinite(draws)] / many
        return replace(
            pooled,
            told=observed / many,
            expected=float(finite.mean()) if len(finite) else math.nan,
            std=float(finite.std()) if len(finite) else math.nan,
            pvalue=(1 + reached(observed)) / (1 + len(draws)),
            method=f"simulated ({len(draws):,} draws)",
        ), max((1 + ties * (ties > 1)) / (1 + len(draws)), self._floor(name, detector, told))

    def _draws(self, name: str, detector: str, defined: BoolArray) -> tuple[FloatArray | None, BoolArray]:
        """Sums over series in each draw, None where there are none; and which series they are of."""
        k, series = self.means.names.index(name), self.counts.series
        if detector in self.plan.exchanged:
            exchange = self.plan.exchanged[detector]
            told = defined & np.array([one in exchange.slots for one in series], dtype=np.bool_)
            own = self.drawn.exchanged.get(detector, {})
            if not told.any():
                return None, told
            counted = {one: own[one][:, k] for one, is_told in zip(series, told.tolist(), strict=True) if is_told}
            return _matched(exchange, counted, self.n_draws), told
        told = defined & np.array([(one, detector) in self.plan.metrics for one in series], dtype=np.bool_)
        return (self.drawn.sums[detector][:, k] if told.any() else None), told

    def _floor(self, name: str, detector: str, told: BoolArray) -> float:
        """The p-value of detectors that are perfect on all series: the product of those of independent series.

        Series with one truth have that of the largest.
        """
        if detector in self.plan.exchanged:
            return 0.0
        d = self.counts.detectors.index(detector)
        smallest = self.counts.placed(self.cells, f"{name}_smallest")[:, d]
        floors: dict[tuple[int | None, str], float] = {}
        for i in np.flatnonzero(told).tolist():
            seed = self.plan.metrics[self.counts.series[i], detector].seed
            key = seed, self.counts.series[i] if seed is None else ""
            floors[key] = max(floors.get(key, 0.0), float(smallest[i]))
        return math.prod(floors.values())

    def _ruled(self, found: PooledMetric, floor: float, detector: str) -> PooledMetric:
        """The verdict by the corrected p-value."""
        tests = plural(len(self.counts.detectors), "detector") + f" and {plural(len(self.means.names), 'metric')}"
        level = f"at the {self.alpha:.3g} level, corrected for {tests}"
        if detector in self.counts.failed:
            return replace(found, reason=self.counts.failed[detector])
        if found.n_series == 0:
            return replace(found, reason=f"{found.name} is undefined on all series.")
        if found.n_told == 0 and detector in self.plan.exchanged:
            why = self.plan.exchanged[detector].why_not
            return replace(found, reason=f"Labels of no series can be exchanged with those of another: {why}.")
        if found.n_told == 0:
            return replace(found, reason=f"No null holds on any series with {found.name}.")
        doubted = self._doubted(detector)
        under = f"Under the requested null, which {doubted:,} of {found.n_series:,} series contradict: " * bool(doubted)
        if significant(found.corrected, self.alpha):
            if not self._stands_out(found, detector):
                return replace(found, reason=under + self._hill(found), verdict="cannot tell" if self.auto else "yes")
            return replace(found, verdict="yes", reason=f"{under}{found.name} is better than chance {level}.")
        if not significant(floor, self.alpha / (len(self.counts.detectors) * len(self.means.names))):
            least = f"No value could have reached the {self.alpha:.3g} level, corrected for {tests}"
            return replace(found, reason=f"{under}{least}: the smallest possible p is {show_p(floor)}.")
        return replace(found, verdict="no", reason=f"{under}{found.name} is not better than chance {level}.")

    def _stands_out(self, found: PooledMetric, detector: str) -> bool:
        """Whether the metric is better than with all labels shifted; also where that cannot be seen."""
        if detector in self.drawn.unshifted or detector not in self.drawn.shifted:
            return True
        sign = 1.0 if found.better == "higher" else -1.0
        values = sign * self.drawn.shifted[detector][:, self.means.names.index(found.name)]
        if not np.isfinite(values).all():
            return True
        many = found.n_told
        needle = look(values, sign * found.expected * many, found.std * many, self.plan.runs)
        return needle.stands_out(self.alpha)

    def _hill(self, found: PooledMetric) -> str:
        rest = "p-values that ignore it say nothing." if self.auto else "the requested null does not keep that."
        return (
            f"{found.name} is about as good when all labels are shifted by a few steps (up to {self.plan.farthest:,}): "
            f"labels and detector may share a season or a slow change, and {rest}"
        )

    def _doubted(self, detector: str) -> int:
        if detector in self.plan.exchanged:
            return 0
        d = self.counts.detectors.index(detector)
        return int(np.count_nonzero(np.nan_to_num(self.counts.placed(self.cells, "metrics_doubts")[:, d])))


def _matched(exchange: Exchange, values: Mapping[str, FloatArray], n_draws: int) -> FloatArray:
    """Sums over random matchings of labels and detectors; series without a value add nothing."""
    total = np.zeros(n_draws)
    for c, one in enumerate(exchange.classes):
        matrix = np.zeros((len(one.units), len(one.units)))
        for series, (mine, u, _) in exchange.slots.items():
            if mine == c and series in values:
                matrix[:, u] += values[series]
        total = total + drawn_matchings(matrix, n_draws, one.seed)
    return total


def interval_by(values: FloatArray, counts: Counts, level: float, *, bounded: bool) -> Interval | None:
    """The interval of a mean over series by the study's units; None without any value."""
    if np.isnan(values).all():
        return None
    return reduce(
        wider,
        (
            interval_of_mean(*_by_unit(values, units), level, kind=kind, bounded=bounded)
            for kind, units in counts.units.items()
        ),
    )


def _by_unit(values: FloatArray, units: IntArray) -> tuple[FloatArray, IntArray]:
    """Sums and numbers of the values of each unit that has any."""
    there = ~np.isnan(values)
    sizes = np.bincount(units[there])
    sums: FloatArray = np.bincount(units[there], weights=values[there]).astype(np.float64)
    return sums[sizes > 0], sizes[sizes > 0].astype(np.int64)


# ---- pairs of detectors, on the series that both have


def with_metrics(found: Comparison, means: Means, counts: Counts) -> Comparison:
    """A comparison of detectors with the metrics of the study behind its measures."""
    if not means.names:
        return found
    differences = {
        name: _corrected(
            [_careful(name, pair, means, counts, found) for pair in itertools.combinations(found.detectors, 2)]
        )
        for name in means.names
    }
    n, places = len(found.measures), [counts.detectors.index(name) for name in found.detectors]
    every = (
        (*found.differences[n * i : n * (i + 1)], *(differences[name][i] for name in means.names))
        for i in range(found.n_pairs)
    )
    columns = [means.values[name][:, places] for name in means.names]
    mean = [[float(np.nanmean(own)) if (~np.isnan(own)).any() else math.nan for own in one.T] for one in columns]
    return replace(
        found,
        measures=(*found.measures, *means.names),
        values=np.column_stack([found.values, *mean]),
        differences=tuple(one for pair in every for one in pair),
        metric_intervals={
            name: tuple(
                interval_by(own, counts, found.level, bounded=means.bounded(name)) or _none(found.level)
                for own in one.T
            )
            for name, one in zip(means.names, columns, strict=True)
        },
        lower=means.lower,
    )


def _none(level: float) -> Interval:
    """The interval of what is undefined."""
    return interval_of_mean(np.zeros(0), np.zeros(0, dtype=np.int64), level, kind="series")


def _corrected(differences: list[Difference]) -> list[Difference]:
    """P-values of one measure, corrected for all pairs; what is undefined could have been defined, and counts."""
    corrected = holm(np.nan_to_num([one.pvalue for one in differences], nan=1.0))
    return [
        replace(one, corrected=math.nan if math.isnan(one.pvalue) else float(p))
        for one, p in zip(differences, corrected, strict=True)
    ]


def _careful(name: str, pair: tuple[str, str], means: Means, counts: Counts, found: Comparison) -> Difference:
    """The difference of two detectors by the most careful of the study's units."""
    first, second = (means.values[name][:, counts.detectors.index(one)] for one in pair)
    both = ~np.isnan(first) & ~np.isnan(second)
    return reduce(
        claims_less,
        (
            _difference(name, pair, first[both], second[both], units[both], kind, found)
            for kind, units in counts.units.items()
        ),
    )


def _difference(
    name: str,
    pair: tuple[str, str],
    first: FloatArray,
    second: FloatArray,
    units: IntArray,
    kind: Kind,
    found: Comparison,
) -> Difference:
    """Whole units are exchanged between two detectors, as for hits: a mean is a sum out of so many values."""
    # swaps are made for shares: between the least and the largest value of both, which no swap leaves
    every = np.concatenate([first, second])
    least = float(every.min(initial=0.0))
    wide = float(every.max(initial=1.0)) - least
    sides = []
    for values in (first, second):
        sums, sizes = _by_unit((values - least) / wide, units)
        none = np.zeros(len(sums))
        sides.append(np.stack([none, none, sizes, sums], axis=1))
    k = len(sides[0])
    tested = swap_test(*sides, n_resamples=found.n_resamples, most=found.most_resamples, seed=found.seed)
    value = float(first.mean() - second.mean()) if k else math.nan
    weight = weighed(sides[0])[1]
    low = high = None
    why = _why_none(name, k, weight, kind, bool(k) and tested.squares[FOUND] == 0)
    if not why:
        from scipy.special import stdtrit

        left_out = np.subtract(*(linearise(side).left_out[:, FOUND] for side in sides))
        error = wide * math.sqrt((k - 1) / k * inner(left_out, left_out))
        reach = float(stdtrit(weight - 1, (1 + found.level) / 2)) * error
        low, high = value - reach, value + reach
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=name,
        value=value,
        low=low,
        high=high,
        why_no_interval=why,
        why_no_pvalue="",
        pvalue=float(tested.pvalue[FOUND]) if k else math.nan,
        corrected=math.nan,
        smallest=float(tested.smallest[FOUND]),
        n_units=k,
        n_differing=int(tested.differing[FOUND]),
        n_resamples=int(tested.n_resamples[FOUND]),
        method="swaps",
    )


def _why_none(name: str, k: int, weight: float, kind: Kind, alike: bool) -> str:
    """Why a difference has no interval; empty where it has one."""
    if k == 0:
        return f"{name} is undefined"
    if k < FEWEST:
        return f"{plural(k, *UNITS[kind])} with {name} of both, fewer than {FEWEST}"
    if weight < LIGHTEST:
        return few_hold_most(k, "values", weight, kind)
    return f"{kind} show no variation in the difference" if alike else ""
