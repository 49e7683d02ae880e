"""What chance scores in the cells of a study, as far as no stored law says it: draws of both hits, and of metrics.

While a cell is judged
    Laws of cells add up to those of pooled precision and recall. F1 is no sum, and asks for both hits of the same
    placement: `joint_row` keeps as many pairs as pooling needs, those of all placements where the null lists them.
    `Shifts` adds up hits with all events of a series shifted by some steps, which tell skill from a shared season.

When all truths are known
    Series that share a truth are placed together, series that exchange their labels are held against each other's, and
    metrics are drawn: `drawn_of` looks at the data of these, and of no others, once more.

Hits of a cluster are sums over its series, so that cases can come one after another, and from anywhere: what moves the
events depends on the null, the events and a seed, never on the case.

- A null that shifts all events together has a list of shifts. The same one serves all series, and all of them are
  counted.
- Series with the same events under a null that draws: the same seed draws the same placements.
- Nearly the same events that are permuted: those that lie near one another, at most one of each series, are placed
  together and keep their distances.

Anything else has no common placement; `nofluke.laws.sums.comonotone` is then for the careful.

The mean of a metric over series is a sum of one number from each series, and so is what chance gives in its place. Each
cell is drawn under the null that its metrics were judged by, row by row: row i of all cells together is one draw of the
whole study.

- Series on their own: each has a seed of its own.
- Series with one truth: one seed, so that row i has the same shift, or the same placement of ranges, in all of them.
- Series with nearly the same truth, or under different nulls, have no such move: their rows are sorted, so that all of
  them rise and fall together, which is approximate.
- Series that exchange their labels: the metric of the labels of one on the detector of another, as for hits.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
The section "Metrics over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.inference.metric_laws import Part, measure
from nofluke.inference.significance import as_metrics
from nofluke.laws.counts import CountLaw, SimulatedLaw
from nofluke.laws.law import How, Law
from nofluke.laws.montecarlo import Uniform
from nofluke.laws.tables import weighted
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Circle, Draws, Layout, Still
from nofluke.metrics.labelled import Labelled
from nofluke.nulls import as_null
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import unlabelled
from nofluke.nulls.circular import around_by
from nofluke.nulls.placements import SIDES, draws, hits_on, moves_of
from nofluke.nulls.whole_series import as_series_null
from nofluke.series.counting import runs, union, within
from nofluke.series.tolerance import Ranges
from nofluke.series.trial import Cell
from nofluke.studies.asked import SEEDS, Asked
from nofluke.studies.cases import Chunk, Fault
from nofluke.studies.cells import Cells
from nofluke.studies.rows import FARTHEST, Row

N_DRAWS = 10_000
FEWEST_KEPT = 1_000  # draws of a cell that are kept, however many cells there are
MOST_KEPT = 1_000_000  # draws of all cells of a detector, beyond which each keeps fewer
OPERATIONS = 1e6  # that the exact law of both hits of a cell may take: some milliseconds, about as long as draws
CHUNK = 4096  # draws of metrics that are measured at once

Where = tuple[IntArray, IntArray]  # of each event: its group, and how far behind the group's first step it is
Key = tuple[int, int, str]  # a cluster of series, the group of some of them, and a detector
ALONE, ALL = -1, -2  # in place of a group: series of a cluster that are the only ones of theirs, and all of a cluster


# ---- pairs of both hits: what is kept of a cell, or of a cluster of series


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joint:
    """Both hits of each placement, equal ones together: their numbers, and how many placements have them.

    ``listed`` says whether these are all placements, with the data's own among them, or some that were drawn.
    """

    precision: IntArray
    recall: IntArray
    counts: IntArray
    listed: bool

    @classmethod
    def of(cls, precision: IntArray, recall: IntArray, *, listed: bool) -> Joint:
        """From the hits of each placement.

        >>> Joint.of(np.array([1, 0, 1]), np.array([2, 0, 2]), listed=False).counts
        array([1, 2])
        """
        wide = int(recall.max(initial=0)) + 1
        counts = np.bincount(precision * wide + recall)
        some = np.flatnonzero(counts)
        return cls(precision=some // wide, recall=some % wide, counts=counts[some], listed=listed)

    def laws(self, of: tuple[int, int], how: How) -> dict[str, Law]:
        """The laws of both hits, out of so many predictions and events."""
        laws: dict[str, Law] = {}
        for side, values, size in zip(("precision", "recall"), (self.precision, self.recall), of, strict=True):
            counts = np.bincount(values, weights=self.counts, minlength=size + 1).astype(np.int64)
            law = CountLaw(counts, how)
            drawn = how.n_resamples
            laws[side] = (
                law
                if drawn is None
                else SimulatedLaw(counts, mean=law.mean, var=law.var, n_resamples=drawn, seed=how.seed)
            )
        return laws


def summed_draws(parts: Sequence[tuple[Joint, tuple[int, int], int]], n: int) -> tuple[IntArray, IntArray]:
    """Sums of one draw of each independent part, n times, two columns; with the data as one of the draws, and without.

    ``parts`` has the pairs of each part, the data's own hits, and a seed. With the data: given the pairs of all parts,
    the data are as likely as any other choice of one from each, so that P(as many hits) by these sums is a valid
    p-value, whatever the number of pairs.
    """
    from nofluke.studies.draws_kernels import add_draws

    total, without = np.zeros((2, n, 2), dtype=np.int64)
    if parts:
        add_draws(
            np.array([seed for *_, seed in parts], dtype=np.uint64),
            np.cumsum([0, *(len(one.counts) for one, *_ in parts)]),
            *(
                np.concatenate([np.asarray(getattr(one, name), dtype=np.int64) for one, *_ in parts])
                for name in ("precision", "recall", "counts")
            ),
            np.array([(*own, not one.listed) for one, own, _ in parts], dtype=np.int64),
            total,
            without,
        )
    return total, without


def kept_draws(n_resamples: int, n_series: int) -> int:
    """How many draws of each cell are kept where it has no list of placements.

    >>> kept_draws(10_000, 60), kept_draws(10_000, 400), kept_draws(10_000, 100_000), kept_draws(99, 10)
    (10000, 2500, 1000, 99)
    """
    return min(n_resamples, max(MOST_KEPT // max(n_series, 1), FEWEST_KEPT))


def joint_of(cell: Cell, null: NullModel, many: int, seed: int) -> Joint | None:
    """Pairs of both hits of a cell: all placements where the null lists them, else so many; None where it has none."""
    if 0 in (cell.n_counted, cell.n_predictions):
        nothing = np.zeros(1, dtype=np.int64)
        return Joint.of(nothing, nothing, listed=True)
    try:
        found = null.hurried(OPERATIONS).joint(cell, n_resamples=many, rng=seed)
    except InputError:  # of a null that has no joint law of both hits
        return None
    pairs = [np.asarray(hits, dtype=np.int64) for hits in (found.precision_hits, found.recall_hits)]
    weights = found.weights
    if found.method.n_resamples is None and weights.max() == weights.min():  # all placements, each as likely
        return Joint.of(*pairs, listed=True)
    if found.method.n_resamples == many:
        counts = np.rint(weights).astype(np.int64)
    else:
        counts = np.random.default_rng(seed).multinomial(many, weights / weights.sum())
    some = counts.nonzero()[0]
    return Joint(precision=pairs[0][some], recall=pairs[1][some], counts=counts[some], listed=False)


def hits_at_shifts(cell: Cell) -> IntArray | None:
    """Hits of precision and recall (columns) with all events rotated by -w..w steps; None of events without steps."""
    if cell.in_time:
        return None
    reach = farthest(cell.n_steps)
    hits = np.empty((2 * reach + 1, 2), dtype=np.int64)
    hits[:, 1], hits[:, 0] = around_by(cell, range(-reach, reach + 1))
    return hits


def farthest(n_steps: int) -> int:
    """By how many steps a series can be shifted either way: less than half of its length."""
    return max(min(FARTHEST, (n_steps - 1) // 2), 0)


def joint_row(series: str, detector: str, joint: Joint) -> Row:
    """What the table of joint draws keeps."""
    pairs = np.empty((len(joint.counts), 3), dtype=np.int64)
    for column, values in enumerate((joint.precision, joint.recall, joint.counts)):
        pairs[:, column] = values
    return {"series": series, "detector": detector, "pairs": pairs.ravel(), "listed": joint.listed}


def model_of(label: str, asked: Asked) -> NullModel:
    """The null that a cell was judged by."""
    named = asked.model
    return named if named is not None else as_null(unlabelled(label))


def seed_of(asked: Asked, series: str, detector: str) -> int:
    """A seed for draws that are pooled, other than that of the cell's own test."""
    told = f"pooled {asked.seed_of(series, detector)}".encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:8], "big") % SEEDS


def cluster_seed(seed: int, series: str) -> int:
    """A seed for a cluster from that of the study and the name of its first series, the same wherever it is worked out.

    >>> cluster_seed(1, "a") == cluster_seed(1, "a") != cluster_seed(1, "b")
    True
    """
    return int.from_bytes(hashlib.blake2b(f"{seed} {series}".encode(), digest_size=7).digest(), "big")


# ---- one placement of events for all series that share a truth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placements:
    """One placement of the events for a whole cluster, again and again.

    Attributes
    ----------
    null : NullModel
        What chance does, in all cells alike.
    n_draws, seed : int
        How many placements are drawn where they cannot all be listed, and from where on.
    groups : mapping or None
        Of nearly equal truths: which events are placed together; None where all series have the same events.
    """

    null: NullModel
    seed: int
    n_draws: int = N_DRAWS
    groups: dict[bytes, Where] | None = field(repr=False, default=None)

    @classmethod
    def of(
        cls, null: NullModel, truths: Sequence[AnyArray], reach: int, *, seed: int, n_draws: int = N_DRAWS
    ) -> Placements | None:
        """For series with these first steps of events; None if the null has no placement that serves them all."""
        apart = {np.asarray(starts, dtype=np.int64).tobytes() for starts in truths}
        if null.moves != "truth":
            return None
        if len(apart) > 1 and not null.shifts_all:
            if not null.permutes:
                return None
            return cls(null=null, seed=seed, n_draws=n_draws, groups=event_groups(truths, reach))
        return cls(null=null, seed=seed, n_draws=n_draws)

    def hits(self, cell: Cell) -> tuple[IntArray, How]:
        """Precision's and recall's hits of a cell, two columns: a row for each placement, the same one in all cells."""
        listed = self.null.every_placement(cell)
        if listed is not None:
            recall, precision, how = listed
            return np.stack([precision, recall], axis=1), how
        how = How(kind="simulated", n_resamples=self.n_draws, seed=self.seed)
        if cell.n_events == 0 or len(cell.alarms) == 0:
            return np.zeros((self.n_draws, 2), dtype=np.int64), how
        return np.concatenate([_hits(cell, rows) for rows in self._rows(cell)]), how

    def _rows(self, cell: Cell) -> Sequence[AnyArray]:
        if self.groups is None:
            return list(draws(self.null, cell.trial, self.n_draws, self.seed))
        known = self.groups.get(np.asarray(cell.truth.starts, dtype=np.int64).tobytes())
        if known is None:
            raise InputError(
                argument="cell", problem="has other events than its placements were made for", remedy="pass all truths"
            )
        group, behind = known
        n_groups, n_steps = 1 + max(int(of.max()) for of, _ in self.groups.values()), cell.n_steps
        generator = np.random.default_rng(self.seed)
        if n_groups <= n_steps:  # in random order: which group goes where
            at = generator.permuted(Uniform(n_steps, n_groups)(generator, self.n_draws).astype(np.int64), axis=1)
        else:
            at = generator.integers(n_steps, size=(self.n_draws, n_groups))
        return [(at[:, group] + behind) % n_steps]


def event_groups(truths: Sequence[AnyArray], reach: int) -> dict[bytes, Where]:
    """Which events of nearly equal truths belong together: chains of steps within reach, at most one event per truth.

    >>> one, other = np.array([10, 50]), np.array([12, 52, 90])
    >>> groups = event_groups([one, other], 3)
    >>> groups[other.tobytes()]
    (array([0, 1, 2]), array([2, 2, 0]))
    """
    apart = list({row.tobytes(): row for row in (np.asarray(starts, dtype=np.int64) for starts in truths)}.values())
    steps = np.concatenate(apart)
    of = np.repeat(np.arange(len(apart)), [len(row) for row in apart])
    group, behind = np.zeros((2, len(steps)), dtype=np.int64)
    growing: list[_Group] = []
    found = 0
    for i in np.argsort(steps, kind="stable").tolist():
        step, truth = int(steps[i]), int(of[i])
        growing = [one for one in growing if step - one.last <= reach]
        joined = next((one for one in reversed(growing) if truth not in one.truths), None)
        if joined is None:
            joined = _Group(number=found, first=step)
            growing.append(joined)
            found += 1
        joined.last = step
        joined.truths.add(truth)
        group[i], behind[i] = joined.number, step - joined.first
    return {row.tobytes(): (group[of == k], behind[of == k]) for k, row in enumerate(apart)}


@dataclass(slots=True, kw_only=True)
class _Group:
    """Events that are placed together, while they are looked for."""

    number: int
    first: int
    last: int = 0
    truths: set[int] = field(default_factory=set)


def _hits(cell: Cell, rows: AnyArray) -> IntArray:
    """Both hits of each placement: precision's, recall's."""
    found = hits_on(cell, rows)
    return np.stack([found[side] for side in SIDES], axis=1)


def found_on(cell: Cell) -> IntArray:
    """1 on each step where an event would be found, else 0; over series that share a truth these add up to weights."""
    return cell.near_alarm.astype(np.int64)


def law_of_weights(counts: IntArray, n_events: int, n_series: int) -> Law | None:
    """Recall's pooled law of series with the same events, permuted, by how many steps weigh 0, 1, ...; None if slow.

    A step weighs as much as the sum of `found_on`. Every event falls on a random step, and finds as many series.

    >>> law = law_of_weights(np.array([2, 1, 1]), 1, 2)  # two series, one event, on steps of weight 2, 1, 0 and 0
    >>> law.table
    array([0.5 , 0.25, 0.25])
    """
    every = np.zeros(n_series + 1, dtype=np.int64)
    every[: len(counts)] = counts
    return weighted(every, n_events)


# ---- labels of other series on the alarms of one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """The events of several series, one behind another: ``of`` says whose each is, of so many."""

    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    of: IntArray = field(repr=False)
    many: int

    @classmethod
    def join(cls, starts: Sequence[IntArray], stops: Sequence[IntArray]) -> Labels:
        """From those of each series."""
        of = np.repeat(np.arange(len(starts)), [len(own) for own in starts])
        return cls(starts=np.concatenate(starts), stops=np.concatenate(stops), of=of, many=len(starts))

    def hits(self, cell: Cell) -> IntArray:
        """Precision's and recall's hits of the labels of each series on the alarms of a cell: two columns."""
        alarms, n = cell.alarms, cell.n_steps
        windows = cell.trial.reaches[cell.d].around_events(self.starts, self.stops - 1)
        found = np.bincount(self.of[within(alarms, windows) > 0], minlength=self.many)
        # the series one behind another on a line, with a step between them, so that no union joins two
        line = (n + 1) * self.of
        near = union(Ranges(starts=windows.starts + line, stops=windows.stops + line))
        of = near.starts // (n + 1)
        near = Ranges(starts=near.starts - (n + 1) * of, stops=near.stops - (n + 1) * of)
        if cell.trial.count_alarms == "steps":
            counted = within(alarms, near)
        else:
            counted = _episodes_within(runs(alarms), near, np.append(True, np.diff(of) > 0)[: len(of)])
        hits = np.bincount(of, weights=counted, minlength=self.many)
        return np.stack([hits, found], axis=1).astype(np.int32)  # of many series these are many


def _episodes_within(episodes: Ranges, near: Ranges, first: BoolArray) -> IntArray:
    """How many episodes share a step with each range, and none with the range before, unless it is the first."""
    begin = np.searchsorted(episodes.stops, near.starts, side="right")
    end = np.searchsorted(episodes.starts, near.stops, side="left")
    before = np.where(first, 0, np.searchsorted(episodes.starts, np.roll(near.stops, 1), side="left"))
    return np.asarray(np.maximum(end - np.maximum(begin, before), 0), dtype=np.int64)


# ---- metrics: their values in draws of each cell, summed over series


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


# ---- the data of some series once more: those that share a truth or exchange their labels, and metrics


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A chunk, and what is to be drawn of its cells, by series and detector.

    ``together`` has what places series that share a truth, ``exchanged`` the labels that may be exchanged with those of
    a cell, ``metrics`` how its metrics are drawn, and ``farthest`` is the largest shift of all labels, in steps.
    """

    chunk: Chunk
    together: Mapping[tuple[str, str], tuple[Key, Placements]] = field(repr=False, default_factory=dict)
    exchanged: Mapping[tuple[str, str], Labels] = field(repr=False, default_factory=dict)
    metrics: Mapping[tuple[str, str], Drawing] = field(repr=False, default_factory=dict)
    farthest: int = 0

    @property
    def cells(self) -> frozenset[tuple[str, str]]:
        """All that there is anything to draw of."""
        return frozenset(self.together).union(self.exchanged, self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """Sums over series that share a truth: hits of each placement, and how many series find an event on each step."""

    hits: IntArray
    weights: IntArray
    how: How

    def __add__(self, other: Together) -> Together:
        """Those of more series of the same cluster."""
        return Together(hits=self.hits + other.hits, weights=self.weights + other.weights, how=self.how)

    def placed(self) -> Placed:
        """What is kept of all placements once all series are there."""
        listed = self.how.n_resamples is None
        return Placed(joint=Joint.of(*self.hits.T, listed=listed), how=self.how, weights=np.bincount(self.weights))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """Pairs of both hits of series that are placed together, how they were come by, and on how many steps so many of
    the series find an event."""

    joint: Joint
    how: How
    weights: IntArray


@dataclass(slots=True, kw_only=True, eq=False)
class Drawn:
    """Hits of clusters of series, while these come, and when all have come: by cluster and detector, those of each
    group and of all (`ALL`); by detector and series, the hits that other labels have on its alarms, others x 2; and
    metrics."""

    clusters: dict[Key, Together] = field(default_factory=dict)
    placed: dict[tuple[int, str], dict[int, Placed]] = field(default_factory=dict)
    exchanged: dict[str, dict[str, IntArray]] = field(default_factory=dict)
    metrics: MetricSums = field(default_factory=MetricSums)

    def __iadd__(self, other: Drawn) -> Drawn:
        """Those of more chunks."""
        for key, found in other.clusters.items():
            self.lump(key, found)
        for name, hits in other.exchanged.items():
            self.exchanged.setdefault(name, {}).update(hits)
        self.metrics += other.metrics
        return self

    def lump(self, key: Key, found: Together) -> None:
        """Hits of a cell that is placed together with others."""
        self.clusters[key] = self.clusters[key] + found if key in self.clusters else found

    def close(self, cluster: int, detector: str) -> None:
        """Keep the pairs of a cluster of which all series have come, and no longer those of each placement."""
        keys = [key for key in self.clusters if (key[0], key[2]) == (cluster, detector)]
        parts = {group: self.clusters.pop((i, group, name)) for i, group, name in keys}
        if parts:
            first, *rest = parts.values()
            parts[ALL] = sum(rest, first)
            self.placed[cluster, detector] = {group: one.placed() for group, one in parts.items() if group != ALONE}


def drawn_of(task: Task, asked: Asked, n: int) -> Drawn:
    """All cells of a task that are to be drawn."""
    found, wanted = Drawn(), task.cells
    for case in asked.cases(task.chunk, {series for series, _ in wanted}):
        if isinstance(case.truth, Fault):
            continue
        cells = Cells(case, asked)
        for name, scores in case.detectors.items():
            at = case.series, name
            if isinstance(scores, Fault) or at not in wanted:
                continue
            if at in task.metrics:
                found.metrics += _metrics(cells, cells.scores_of(name), name, task, n)
            if at in task.exchanged:
                cell = cells.judged(cells.scores_of(name))
                found.exchanged.setdefault(name, {})[case.series] = task.exchanged[at].hits(cell)
            elif at in task.together:
                cell = cells.judged(cells.scores_of(name))
                key, placements = task.together[at]
                hits, how = placements.hits(cell)
                found.lump(key, Together(hits=hits.astype(np.int32), weights=found_on(cell), how=how))
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
        own_seed=seed_of(asked, at[0], detector),
        n=n,
        farthest=task.farthest,
    )
