"""Chance's hits of whole detectors: draws of every cell under its own null, summed over series.

Laws of cells add up to those of pooled precision and recall; F1 is no sum, and asks for both hits of the same draw.
Series that share a truth are placed together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.law import How
from nofluke.nulls import as_null
from nofluke.nulls.base import Joint, NullModel
from nofluke.nulls.choice import unlabelled
from nofluke.series.trial import Cell
from nofluke.studies.asked import SEEDS, Asked
from nofluke.studies.cases import Case, Chunk, Fault
from nofluke.studies.cells import Cells
from nofluke.studies.exchange import Labels
from nofluke.studies.metric_draws import Drawing, MetricSums, drawn_cell, under_labels
from nofluke.studies.needle import hits_at_shifts
from nofluke.studies.together import Placements, found_on

Key = tuple[int, int, str]  # a cluster of series, the group of some of them, and a detector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A chunk, and what is known of its cells, by series and detector.

    ``nulls`` has the null of each cell to draw, ``together`` what places series that share a truth, ``exchanged`` the
    labels that may be exchanged with those of a cell, ``metrics`` how its metrics are drawn, and ``farthest`` is the
    largest shift of all events, in steps.
    """

    chunk: Chunk
    nulls: Mapping[tuple[str, str], str] = field(repr=False)
    together: Mapping[tuple[str, str], tuple[Key, Placements]] = field(repr=False)
    mixed: frozenset[tuple[str, str]] = field(repr=False, default=frozenset())
    exchanged: Mapping[tuple[str, str], Labels] = field(repr=False, default_factory=dict)
    metrics: Mapping[tuple[str, str], Drawing] = field(repr=False, default_factory=dict)
    farthest: int = 0

    def has_hits(self, at: tuple[str, str]) -> bool:
        """Whether hits of a cell are to be drawn."""
        return any(at in some for some in (self.mixed, self.nulls, self.together, self.exchanged))

    @property
    def cells(self) -> frozenset[tuple[str, str]]:
        """All that there is anything to draw of."""
        return self.mixed.union(self.nulls, self.together, self.exchanged, self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """Sums over series that share a truth: hits of all and of drawn placements; how many find an event on each step."""

    hits: IntArray
    drawn: IntArray
    weights: IntArray
    how: How

    def __add__(self, other: Together) -> Together:
        """Those of more series of the same cluster."""
        return Together(
            hits=self.hits + other.hits,
            drawn=self.drawn + other.drawn,
            weights=self.weights + other.weights,
            how=self.how,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Drawn:
    """Summed hits of precision and recall by detector, draws x 2; clusters apart; detectors with a cell that has no
    joint law; the same with all events shifted by as many steps, shifts x 2, and detectors with a cell that cannot be
    shifted; by detector and series, the hits that other labels have on its alarms, others x 2; and metrics."""

    sums: dict[str, IntArray] = field(default_factory=dict)
    clusters: dict[Key, Together] = field(default_factory=dict)
    without: set[str] = field(default_factory=set)
    shifted: dict[str, IntArray] = field(default_factory=dict)
    unshifted: set[str] = field(default_factory=set)
    exchanged: dict[str, dict[str, IntArray]] = field(default_factory=dict)
    metrics: MetricSums = field(default_factory=MetricSums)

    def __iadd__(self, other: Drawn) -> Drawn:
        """Those of more chunks."""
        for name, sums in other.sums.items():
            self.add(name, sums)
        for key, lumped in other.clusters.items():
            self.lump(key, lumped)
        self.without |= other.without
        for name, hits in other.shifted.items():
            self.shift(name, hits)
        self.unshifted |= other.unshifted
        for name, found in other.exchanged.items():
            self.exchanged.setdefault(name, {}).update(found)
        self.metrics += other.metrics
        return self

    def shift(self, detector: str, hits: IntArray | None) -> None:
        """Hits of a cell at other shifts."""
        if hits is None:
            self.unshifted.add(detector)
        else:
            self.shifted[detector] = self.shifted[detector] + hits if detector in self.shifted else hits

    def add(self, detector: str, hits: IntArray) -> None:
        """Hits of a cell that is independent of the others."""
        self.sums[detector] = self.sums[detector] + hits if detector in self.sums else hits

    def lump(self, key: Key, found: Together) -> None:
        """Hits of a cell that is placed together with others."""
        self.clusters[key] = self.clusters[key] + found if key in self.clusters else found


def drawn_of(task: Task, asked: Asked, n: int) -> Drawn:
    """All cells of a task that are to be drawn."""
    found, wanted = Drawn(), task.cells
    for case in asked.cases(task.chunk):
        if isinstance(case.truth, Fault):
            continue
        cells = Cells(case, asked)
        for name, scores in case.detectors.items():
            at = case.series, name
            if isinstance(scores, Fault) or at not in wanted:
                continue
            if at in task.metrics:
                found.metrics += _metrics(cells, np.asarray(scores), name, task, n)
            if not task.has_hits(at):
                continue
            cell = cell_of(cells, np.asarray(scores))
            if at in task.exchanged:
                found.exchanged.setdefault(name, {})[case.series] = task.exchanged[at].hits(cell)
                continue
            found.shift(name, hits_at_shifts(cell, task.farthest))
            if at in task.mixed:
                continue
            if at in task.together:
                key, placements = task.together[at]
                hits, how = placements.hits(cell)
                drawn = placements.drawn(cell)
                found.lump(key, Together(hits=hits, drawn=drawn, weights=found_on(cell), how=how))
                continue
            try:
                found.add(name, draws(cell, model_of(task.nulls[at], asked), n, seed_of(asked, case, name)))
            except InputError:  # of a null that has no joint law of both hits
                found.without.add(name)
    return found


def _metrics(cells: Cells, scores: AnyArray, detector: str, task: Task, n: int) -> MetricSums:
    """What chance scores in the metrics of a cell."""
    at, asked, series = (cells.case.series, detector), cells.asked, cells.labelled(scores)
    if at in task.exchanged:
        return MetricSums(exchanged={detector: {at[0]: under_labels(series, asked, task.exchanged[at])}})
    return drawn_cell(
        series,
        asked,
        task.metrics[at],
        detector=detector,
        own_seed=seed_of(asked, cells.case, detector),
        n=n,
        farthest=task.farthest,
    )


def cell_of(cells: Cells, scores: AnyArray) -> Cell:
    """The cell of one detector."""
    sequence = cells.sequence(scores)
    return cells.made(sequence, cells.cuts(sequence)).trial.cell(0, 0)


def model_of(label: str, asked: Asked) -> NullModel:
    """The null that a cell was judged by."""
    named = asked.model
    return named if named is not None else as_null(unlabelled(label))


def seed_of(asked: Asked, case: Case, detector: str) -> int:
    """A seed for draws that are pooled, other than that of the cell's own test."""
    told = f"pooled {asked.seed_of(case.series, detector)}".encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:8], "big") % SEEDS


def draws(cell: Cell, model: NullModel, n: int, seed: int) -> IntArray:
    """Both hits of a cell in n draws: precision's, recall's."""
    if 0 in (cell.n_counted, cell.n_predictions):
        return np.zeros((n, 2), dtype=np.int64)
    joint = model.hurried().joint(cell, n_resamples=n, rng=seed)
    return picked(joint, n, np.random.default_rng(seed))


def picked(joint: Joint, n: int, generator: np.random.Generator) -> IntArray:
    """Draws from a joint law, in random order: those that it was drawn by, if they are as many; else by its weights."""
    both: IntArray = np.stack([joint.precision_hits, joint.recall_hits], axis=1).astype(np.int64)
    if joint.method.n_resamples == n:
        chosen = generator.permutation(np.repeat(np.arange(len(both)), joint.weights.astype(np.int64)))
    else:
        weights = np.cumsum(joint.weights)
        chosen = np.searchsorted(weights, generator.random(n) * weights[-1], side="right").clip(max=len(both) - 1)
    return np.asarray(both[chosen], dtype=np.int64)
