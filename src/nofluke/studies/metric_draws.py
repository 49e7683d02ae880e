"""What chance scores in the metrics of a study: their values in draws of each cell, summed over series.

The mean of a metric over series is a sum of one number from each series, and so is what chance gives in its place. Each
cell is drawn under the null that its metrics were judged by, row by row: row i of all cells together is one draw of the
whole study.

- Series on their own: each has a seed of its own.
- Series with one truth: one seed, so that row i has the same shift, or the same placement of ranges, in all of them.
- Series with nearly the same truth, or under different nulls, have no such move: their rows are sorted, so that all of
  them rise and fall together, which is approximate.
- Series that exchange their labels: the metric of the labels of one on the detector of another, as for hits.

The section "Metrics over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.significance import Part, as_metrics, measure
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.choice import unlabelled
from nofluke.nulls.layouts import Circle, Layout, Still
from nofluke.nulls.moves import moves_of
from nofluke.nulls.whole_series import as_series_null
from nofluke.series.counting import union
from nofluke.series.tolerance import Ranges
from nofluke.studies.asked import Asked
from nofluke.studies.exchange import Labels

CHUNK = 4096  # draws that are measured at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How one cell is drawn.

    Attributes
    ----------
    null : str
        The null of its metrics, as the cell says it; "" where labels are exchanged.
    seed : int or None
        That of series with one truth; None for that of the cell.
    sorted : bool
        Whether its draws rise and fall with those of other series.
    defined : tuple of bool
        Which metrics have a value on the data.
    """

    null: str = ""
    seed: int | None = None
    sorted: bool = False
    defined: tuple[bool, ...] = field(repr=False, default=())


@dataclass(slots=True, kw_only=True, eq=False)
class MetricSums:
    """By detector: sums over its series, draws x metrics; the same at other shifts, and detectors that could not be
    shifted; and, by series, the metrics that other labels have on its detector, others x metrics."""

    sums: dict[str, FloatArray] = field(default_factory=dict)
    shifted: dict[str, FloatArray] = field(default_factory=dict)
    unshifted: set[str] = field(default_factory=set)
    exchanged: dict[str, dict[str, FloatArray]] = field(default_factory=dict)

    def __iadd__(self, other: MetricSums) -> MetricSums:
        """Those of more chunks."""
        for mine, theirs in ((self.sums, other.sums), (self.shifted, other.shifted)):
            for name, values in theirs.items():
                mine[name] = mine[name] + values if name in mine else values
        self.unshifted |= other.unshifted
        for name, found in other.exchanged.items():
            self.exchanged.setdefault(name, {}).update(found)
        return self


def metrics_of(asked: Asked) -> tuple[Metric, ...]:
    """The metrics of a study."""
    return as_metrics(asked.tested, "alarms") if asked.metrics else ()


def drawn_cell(
    series: Labelled, asked: Asked, drawing: Drawing, *, detector: str, own_seed: int, n: int, farthest: int
) -> MetricSums:
    """What chance scores in one cell, and the metrics at other shifts."""
    metrics, seed = metrics_of(asked), own_seed if drawing.seed is None else drawing.seed
    defined = np.array(drawing.defined)
    values = draws_under(metrics, series, drawing.null, asked, n=n, seed=seed)
    if drawing.sorted:
        order = np.random.default_rng(seed).permutation(n)
        values = np.stack([np.sort(column * sign)[order] * sign for column, sign in _signed(values, metrics)], axis=1)
    found = MetricSums(sums={detector: np.where(defined, values, 0.0)})
    if series.n_steps <= 2 * farthest:
        found.unshifted.add(detector)
    else:
        begins = np.arange(-farthest, farthest + 1) % series.n_steps
        moved = Draws.moving(series.runs, series.n_steps, begins)
        found.shifted[detector] = np.where(defined, _measured(metrics, series, Circle(), moved), 0.0)
    return found


def draws_under(
    metrics: tuple[Metric, ...], series: Labelled, null: str, asked: Asked, *, n: int, seed: int
) -> FloatArray:
    """Metrics in n draws of a null, one row each: of all shifts, where there are no more of them, picked at random."""
    model = as_series_null(unlabelled(null)) if asked.model is None else asked.model.on_steps
    moves = moves_of(
        model,
        series,
        n_resamples=n,
        rng=seed,
        chunk=CHUNK,
        affordable=lambda shifting: len(shifting.begins) <= n,
    )
    found, _ = measure(metrics, series, moves, workers=1)
    values = _as_good(np.stack([one.values for one in found], axis=1), metrics)
    return values[np.random.default_rng(seed).integers(len(values), size=n)] if moves.listed else values


def under_labels(series: Labelled, asked: Asked, labels: Labels) -> FloatArray:
    """Metrics of the labels of each other series on this one's detector, others x metrics."""
    ends = np.searchsorted(labels.of, np.arange(labels.many + 1))
    runs = [
        union(Ranges(starts=labels.starts[begin:end], stops=labels.stops[begin:end])) for begin, end in pairwise(ends)
    ]
    draws = Draws.of_runs(runs, series.n_steps)
    return _measured(metrics_of(asked), series, Still(), draws)


def _measured(metrics: tuple[Metric, ...], series: Labelled, layout: Layout, draws: Draws) -> FloatArray:
    found = Part.of(metrics, series, layout).measure(draws)
    return _as_good(np.stack([one.values for one in found], axis=1), metrics)


def _as_good(values: FloatArray, metrics: Sequence[Metric]) -> FloatArray:
    """The same with the best value where a metric is undefined, so that such a draw counts against the detector."""
    found = values.copy()
    for k, (column, sign) in enumerate(_signed(values, metrics)):
        undefined, perfect = np.isnan(column), metrics[k].perfect
        if perfect is None and not undefined.all():
            perfect = sign * float((sign * column[~undefined]).max())
        found[undefined, k] = np.nan if perfect is None else perfect
    return found


def _signed(values: FloatArray, metrics: Sequence[Metric]) -> list[tuple[FloatArray, float]]:
    """Each metric's column, and 1 where higher is better, else -1."""
    return [(column, sign_of(metric)) for column, metric in zip(values.T, metrics, strict=True)]


def sign_of(metric: Metric) -> float:
    """1 where higher values are better, else -1."""
    return 1.0 if metric.better == "higher" else -1.0
