"""The run behind :func:`nofluke.laws.montecarlo.simulate`: tables shared by the workers, and their running counts."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.montecarlo.problem import MOST_DRAWN_STEPS, At, Hits, Problem, integers
from nofluke.laws.montecarlo.results import FamilyWise, JointCounts, MaximumTest, Simulation, Tally
from nofluke.ratios import TIE_SLACK, f_of_hits, f_weights
from nofluke.series.counting import window_maxima
from nofluke.series.tolerance import Ranges

Measure = Literal["precision", "recall"]
Draw = Callable[[np.random.Generator, int], NDArray[Any]]
SIDES: tuple[Measure, Measure] = ("precision", "recall")


CHUNK = 256  # placements per random stream: fixed, so that the answer depends neither on workers nor on the problem
MOST_SQUARES = 2**62  # sums of squares are moved into Python integers before they pass this
BLOCK_HITS = 2**18  # hits held at a time, for any number of cells
DRAWN_STEPS = 2**21  # steps of all rows that NumPy draws at a time: a worker holds up to some 40 bytes for each
AUTO_BINS = 2**20  # histogram bins that are kept unasked
MOST_TABLE_THRESHOLDS = 256  # beyond, a row of the block table costs more than the 64 steps it stands for
WORD_FLAGS = 2**20  # bits of words that are put together at a time
MOST_MAXIMA = 1_000_000  # maxima kept for critical values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standardisation:
    """Exact null means and standard deviations of the hits by cell, and the beta of F, for maximum statistics."""

    precision_mean: FloatArray
    precision_std: FloatArray
    recall_mean: FloatArray
    recall_std: FloatArray
    beta: float = 1.0


class Streams:
    """One random stream per chunk, all from one draw of the caller's generator."""

    def __init__(self, rng: Any) -> None:
        # Drawn, not spawned: a generator passed twice gives two different simulations.
        # An array of words, which a sequence takes as it is: numbers would be turned into words for every chunk.
        self._entropy = np.random.default_rng(rng).integers(0, 2**32, size=8).astype(np.uint32)

    def _sequence(self, chunk: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self._entropy, spawn_key=(chunk,))

    def seed(self, chunk: int) -> np.uint64:
        """For the compiled generator."""
        return np.uint64(self._sequence(chunk).generate_state(1, np.uint64)[0])

    def generator(self, chunk: int) -> np.random.Generator:
        """For placements drawn by NumPy."""
        return np.random.default_rng(self._sequence(chunk))


@dataclass(frozen=True, slots=True)
class Uniform:
    """Events on random steps, every set equally likely; drawn and counted by the compiled loops where possible."""

    n_steps: int
    n_events: int

    def __call__(self, generator: np.random.Generator, size: int) -> NDArray[Any]:
        """So many placements, as rows of ascending steps."""
        return self.placed(generator.integers(2**64, dtype=np.uint64), size)

    def placed(self, seed: np.uint64, size: int) -> NDArray[Any]:
        """The placements that :func:`~nofluke.laws.montecarlo.simulate` counts for the stream of this seed.

        Rows of uint32, or of int64 on more steps than any simulation has: up to 2**62 of them.
        """
        if self.n_steps > MOST_DRAWN_STEPS:
            return sparse_placements(np.random.default_rng(int(seed)), self.n_steps, self.n_events, size)
        from nofluke.laws.montecarlo import kernels

        rows = np.empty((size, self.n_events), dtype=np.uint32)
        kernels.draw_placements(seed, self.n_steps, rows)
        return rows

    def blocks(self, seed: np.uint64, size: int) -> Iterator[NDArray[Any]]:
        """The same rows, so many at a time that they fit into memory."""
        if self.n_steps <= MOST_DRAWN_STEPS:
            yield self.placed(seed, size)
            return
        generator, rows = np.random.default_rng(int(seed)), rows_at_a_time(max(self.n_events, 1))
        for first in range(0, size, rows):
            yield sparse_placements(generator, self.n_steps, self.n_events, min(rows, size - first))


def rows_at_a_time(n_steps: int) -> int:
    """How many rows to draw at a time. It shapes the stream: it depends on steps alone, not on cells or workers."""
    return max(1, min(CHUNK, DRAWN_STEPS // n_steps))


# ---- few events on very many steps: placements whose cost depends on the events alone


def sparse_placements(generator: np.random.Generator, n_steps: int, n_events: int, size: int) -> IntArray:
    """So many placements as rows of distinct ascending steps, every set of steps equally likely.

    Steps are drawn independently, and those that were drawn before are drawn again until all differ. Nothing here looks
    at steps other than to tell whether two are the same: no set can be likelier than another. Rows are drawn one after
    the other, so that the first ones do not depend on how many there are.

    Examples
    --------
    >>> sparse_placements(np.random.default_rng(0), 10**18, 3, 2)
    array([[ 40973523936194698, 269786713763870410, 636961687321454339],
           [ 16527635528529095, 813270239200272432, 912755577277721778]])
    """
    rows = np.empty((size, n_events), dtype=np.int64)
    for row in rows:
        if 2 * n_events <= n_steps:
            _fill_sparse(generator, n_steps, row)
        else:  # the empty steps are the fewer
            gaps = np.empty(n_steps - n_events, dtype=np.int64)
            _fill_sparse(generator, n_steps, gaps)
            row[:] = np.delete(np.arange(n_steps), gaps)
    return rows


def _fill_sparse(generator: np.random.Generator, n_steps: int, row: IntArray) -> None:
    row[:] = generator.integers(n_steps, size=len(row))
    row.sort()
    make_distinct(generator, n_steps, row)


def make_distinct(generator: np.random.Generator, n_steps: int, row: IntArray) -> None:
    """Draw those of ascending steps again that come more than once, until none does, and leave the row ascending."""
    again = np.flatnonzero(row[1:] == row[:-1])
    while len(again):
        row[again] = generator.integers(n_steps, size=len(again))
        row.sort()
        again = np.flatnonzero(row[1:] == row[:-1])


# ---- what all workers read, and what each of them counts


class Run:
    """Tables that all workers read; cells are flat, tolerance by tolerance."""

    def __init__(
        self,
        problem: Problem,
        n_resamples: int,
        observed: Hits,
        streams: Streams,
        histograms: str | Sequence[At],
        joint: Sequence[At],
        standardisation: Standardisation | None,
        draw: Draw | None = None,
    ) -> None:
        self.problem, self.n_resamples, self.streams = problem, n_resamples, streams
        self.draw = None if isinstance(draw, Uniform) else draw
        n_steps, n_events, n_cells = problem.level.size, problem.n_events, int(np.prod(problem.shape))
        self.observed = {side: _observed(problem, side, getattr(observed, side)) for side in SIDES}
        self.n_predictions = np.tile(problem.n_predictions, len(problem.cover_start))

        self.windows = _windows(problem)
        self.bins = (problem.level[problem.level > 0] - 1).astype(np.uint32)
        self.above, self.before = _by_word(self.bins, problem.n_thresholds)
        # Ascending events write overlapping windows once instead of once each, at a look at every 64 steps.
        width = float(np.mean(self.windows[..., 1] - self.windows[..., 0]))
        self.in_order = n_events > n_steps - n_events or n_events * width > n_steps
        self.block = max(1, min(CHUNK, BLOCK_HITS // n_cells))
        self.rows = rows_at_a_time(n_steps)
        self.drain_after = max(1, MOST_SQUARES // n_steps**2 - CHUNK)

        sizes = {"precision": self.n_predictions + 1, "recall": np.full(n_cells, n_events + 1)}
        if isinstance(histograms, str):
            if histograms not in ("auto", "all", "none"):
                raise InputError(
                    argument="histograms", problem=f'must be "auto", "all", "none" or cells, got {histograms!r}'
                )
            small = sum(int(size.sum()) for size in sizes.values()) <= AUTO_BINS
            kept = histograms == "all" or (histograms == "auto" and small)
            self.histogram_cells = np.arange(n_cells if kept else 0)
        else:
            self.histogram_cells = self._flat("histograms", histograms)
        ends = {side: np.cumsum(sizes[side][self.histogram_cells]) for side in SIDES}
        self.histogram_offsets = {side: np.concatenate([[0], ends[side]]).astype(np.int64) for side in SIDES}
        self.joint_cells = self._flat("joint", joint)

        self.moments: dict[Measure, tuple[FloatArray, FloatArray]] = {}
        self.statistics: dict[str, FloatArray] = {}
        self.bars: dict[str, FloatArray] = {}
        self.maxima: dict[str, FloatArray] = {}
        if standardisation is not None:
            self._prepare_maxima(standardisation)

    def checked(self, placements: NDArray[Any], size: int) -> NDArray[np.uint32]:
        """Placements that the compiled loops can index with: rows of ascending steps, one row a resample."""
        placements, shape = np.asarray(placements), (size, self.problem.n_events)
        if placements.shape != shape or placements.dtype.kind not in "iu":
            got = f"{placements.dtype} of shape {placements.shape}"
            raise InputError(
                argument="draw", problem=f"must return placements of shape {shape}, whole numbers, got {got}"
            )
        if placements.size and not 0 <= placements.min() <= placements.max() < self.problem.level.size:
            raise InputError(argument="draw", problem=f"must place events on steps 0..{self.problem.level.size - 1}")
        # stable: most draws come in order, or as some ascending stretches, which that merges
        return np.ascontiguousarray(np.sort(placements, axis=1, kind="stable"), dtype=np.uint32)

    def hits(self, placements: NDArray[np.uint32]) -> Hits:
        """Both hits of given placements, one by one."""
        from nofluke.laws.montecarlo import kernels

        found = {side: np.empty((len(placements), *self.problem.shape), dtype=np.int32) for side in SIDES}
        for first in range(0, len(placements), self.block):
            part = slice(first, first + self.block)
            kernels.count_hits(placements[part], *self.tables, *(found[side][part] for side in SIDES))
            if self.problem.episodes is not None:
                found["precision"][part] = self.problem.episodes.hits(placements[part])
        return Hits(precision=found["precision"].astype(np.int64), recall=found["recall"].astype(np.int64))

    @property
    def tables(self) -> tuple[NDArray[Any], ...]:
        """What the compiled loops read."""
        return self.windows, self.bins, self.above, self.before

    def cell(self, flat: int) -> At:
        return flat // self.problem.n_thresholds, flat % self.problem.n_thresholds

    def _flat(self, name: str, cells: Sequence[At]) -> IntArray:
        for d, k in cells:
            if not (0 <= d < self.problem.shape[0] and 0 <= k < self.problem.shape[1]):
                raise InputError(
                    argument=name,
                    problem=f"has cell {(d, k)}",
                    remedy=f"tolerance and threshold must lie below {self.problem.shape}",
                )
        return np.array(sorted({d * self.problem.n_thresholds + k for d, k in cells}), dtype=np.int64)

    def _prepare_maxima(self, standardisation: Standardisation) -> None:
        if not (np.isfinite(standardisation.beta) and standardisation.beta > 0):
            raise InputError(argument="beta", problem=f"must be positive, got {standardisation.beta}")
        self.beta = float(standardisation.beta)
        for side in SIDES:
            pair = []
            for name in (f"{side}_mean", f"{side}_std"):
                table = np.asarray(getattr(standardisation, name), dtype=np.float64)
                if table.shape != self.problem.shape or not np.isfinite(table).all():
                    raise InputError(
                        argument=name,
                        problem=f"must be finite and of shape {self.problem.shape}, got shape {table.shape}",
                    )
                pair.append(np.ascontiguousarray(table.ravel()))
            mean, std = self.moments[side] = pair[0], pair[1]
            usable = np.where(std > 0, std, np.nan)
            self.statistics[side] = (self.observed[side] - mean) / usable
        self.statistics["both"] = np.concatenate([self.statistics[side] for side in SIDES])
        self.statistics["f_beta"] = f_of_hits(
            self.observed["precision"], self.observed["recall"], self.n_predictions, self.problem.n_events, self.beta
        )
        self.maxima = {name: np.empty(min(self.n_resamples, MOST_MAXIMA)) for name in self.statistics}
        for name, values in self.statistics.items():
            scale = np.abs(values) if name == "f_beta" else np.maximum(np.abs(values), 1)
            self.bars[name] = np.sort((values - TIE_SLACK * scale)[~np.isnan(values)])


class Counts:
    """Running counts of one worker: integers, so that the order of adding them up does not matter."""

    def __init__(self, run: Run) -> None:
        n_cells = run.n_predictions.size
        self.run = run
        self.hits = {side: np.empty((run.block, *run.problem.shape), dtype=np.int32) for side in SIDES}
        self.sums = {side: np.zeros((4, n_cells), dtype=np.int64) for side in SIDES}
        self.squares = {side: np.zeros(n_cells, dtype=object) for side in SIDES}
        self.undrained = 0
        self.histograms = {side: np.zeros(run.histogram_offsets[side][-1], dtype=np.int64) for side in SIDES}
        self.joint: dict[int, Counter[tuple[int, int]]] = {int(cell): Counter() for cell in run.joint_cells}
        self.passed = {name: np.zeros(bars.size + 1, dtype=np.int64) for name, bars in run.bars.items()}

    def add_chunk(self, chunk: int) -> int:
        """Count one chunk, a block of placements at a time; return how many placements it had."""
        from nofluke.laws.montecarlo import kernels

        run = self.run
        first = chunk * CHUNK
        stop = min(first + CHUNK, run.n_resamples)
        blocks = self._placed(chunk, stop - first) if run.draw is None else self._drawn(run.draw, chunk, stop - first)
        start = first
        for size in blocks:
            flat = {side: self.hits[side][:size].reshape(size, -1) for side in SIDES}
            for side in SIDES:
                kernels.tally(flat[side], run.observed[side], *self.sums[side])
                if run.histogram_cells.size:
                    kernels.tally_histograms(
                        flat[side], run.histogram_cells, run.histogram_offsets[side], self.histograms[side]
                    )
            for cell, counts in self.joint.items():
                pairs = zip(flat["recall"][:, cell].tolist(), flat["precision"][:, cell].tolist(), strict=True)
                counts.update(pairs)
            if run.statistics:
                self._add_maxima(start, flat)
            start += size
        self.undrained += stop - first
        if self.undrained >= run.drain_after:
            self.drain()
        return stop - first

    def _placed(self, chunk: int, n_placements: int) -> Iterator[int]:
        """Count blocks of uniform placements into ``hits``, and yield their sizes."""
        from nofluke.laws.montecarlo import kernels

        run, seed, counter = self.run, self.run.streams.seed(chunk), np.uint64(0)
        if run.problem.episodes is not None:  # the loops count steps: the same placements, looked at one by one
            yield from self._counted(Uniform(run.problem.level.size, run.problem.n_events).placed(seed, n_placements))
            return
        for start in range(0, n_placements, run.block):
            size = min(run.block, n_placements - start)
            counter = kernels.draw_hits(
                seed,
                np.uint64(counter),
                run.problem.level.size,
                run.problem.n_events,
                run.in_order,
                *self._tables(size),
            )
            yield size

    def _drawn(self, draw: Draw, chunk: int, n_placements: int) -> Iterator[int]:
        """The same with placements that NumPy draws, some rows at a time, so that long sequences fit into memory."""
        run, generator = self.run, self.run.streams.generator(chunk)
        for start in range(0, n_placements, run.rows):
            rows = min(run.rows, n_placements - start)
            yield from self._counted(run.checked(draw(generator, rows), rows))

    def _counted(self, placements: NDArray[np.uint32]) -> Iterator[int]:
        """Count given placements into ``hits``, a block at a time."""
        from nofluke.laws.montecarlo import kernels

        run = self.run
        for first in range(0, len(placements), run.block):
            block = placements[first : first + run.block]
            kernels.count_hits(block, *self._tables(len(block)))
            if run.problem.episodes is not None:
                self.hits["precision"][: len(block)] = run.problem.episodes.hits(block)
            yield len(block)

    def _tables(self, size: int) -> tuple[NDArray[Any], ...]:
        return *self.run.tables, *(self.hits[side][:size] for side in SIDES)

    def drain(self) -> None:
        """Move the sums of squares into Python integers, before they overflow."""
        for side in SIDES:
            self.squares[side] += self.sums[side][3].astype(object)
            self.sums[side][3] = 0
        self.undrained = 0

    def _add_maxima(self, start: int, flat: dict[Measure, NDArray[np.int32]]) -> None:
        from nofluke.laws.montecarlo import kernels

        run, size = self.run, len(flat["recall"])
        found = {name: np.empty(size) for name in run.statistics}
        for side in SIDES:
            kernels.standardised_maxima(flat[side], *run.moments[side], found[side])
        np.maximum(found["precision"], found["recall"], out=found["both"])
        kernels.f_maxima(
            flat["precision"], flat["recall"], run.n_predictions.astype(np.float64), float(run.problem.n_events),
            *f_weights(run.beta), found["f_beta"],
        )  # fmt: skip
        for name, maxima in found.items():
            passed = np.searchsorted(run.bars[name], maxima, side="right")
            self.passed[name] += np.bincount(passed, minlength=run.bars[name].size + 1)
            kept = run.maxima[name][start : start + size]
            kept[:] = maxima[: kept.size]


def collect(run: Run, parts: list[Counts]) -> Simulation:
    for part in parts:
        part.drain()
    shape, n = run.problem.shape, run.n_resamples
    tallies = {}
    for side in SIDES:
        at_least, at_most, total, _ = np.sum([part.sums[side] for part in parts], axis=0)
        squares = np.sum([part.squares[side] for part in parts], axis=0)
        flat = np.sum([part.histograms[side] for part in parts], axis=0)
        pieces = np.split(flat, run.histogram_offsets[side][1:-1]) if run.histogram_cells.size else []
        tallies[side] = Tally(
            n_resamples=n,
            observed=run.observed[side].reshape(shape).astype(np.int64),
            at_least=at_least.reshape(shape),
            at_most=at_most.reshape(shape),
            total=total.reshape(shape),
            total_squares=squares.reshape(shape),
            histograms={run.cell(int(c)): piece for c, piece in zip(run.histogram_cells, pieces, strict=True)},
        )
    joint = {}
    for cell in run.joint_cells.tolist():
        counts: Counter[tuple[int, int]] = sum((part.joint[cell] for part in parts), Counter())
        rows = np.array([(r, c, count) for (r, c), count in sorted(counts.items())], dtype=np.int64)
        joint[run.cell(cell)] = JointCounts(recall_hits=rows[:, 0], precision_hits=rows[:, 1], counts=rows[:, 2])
    return Simulation(
        n_resamples=n,
        precision=tallies["precision"],
        recall=tallies["recall"],
        joint=joint,
        family_wise=_family_wise(run, parts) if run.statistics else None,
    )


def _family_wise(run: Run, parts: list[Counts]) -> FamilyWise:
    tests = {}
    for name, values in run.statistics.items():
        passed = np.sum([part.passed[name] for part in parts], axis=0)
        passing = np.cumsum(passed[::-1])[::-1][1:]  # passing[i]: placements whose maximum passes bar i
        at_least = np.full(values.size, run.n_resamples, dtype=np.int64)
        usable = np.flatnonzero(~np.isnan(values))
        at_least[usable[np.argsort(values[usable])]] = passing
        shape = (2, *run.problem.shape) if name == "both" else run.problem.shape
        tests[name] = MaximumTest(
            n_resamples=run.n_resamples,
            observed=values.reshape(shape),
            at_least=at_least.reshape(shape),
            maxima=run.maxima[name],
        )
    return FamilyWise(**tests)


def _windows(problem: Problem) -> NDArray[np.uint32]:
    """By tolerance and step, which of the predicted steps an event there hits, from start to stop, and its level.

    Start, stop and level side by side: an event far from the last one costs one line of cache, not three.
    """
    windows = np.empty((*problem.cover_start.shape, 3), dtype=np.uint32)
    before = np.zeros(problem.level.size + 1, dtype=np.uint32)
    np.cumsum(problem.level > 0, out=before[1:])
    for d, (start, stop) in enumerate(zip(problem.cover_start, problem.cover_stop, strict=True)):
        windows[d, :, 0] = before[start]
        windows[d, :, 1] = before[stop]
        windows[d, :, 2] = window_maxima(problem.level, Ranges(starts=start, stops=stop))
    return windows


def _by_word(bins: NDArray[np.uint32], n_thresholds: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Of every 64 predicted steps, by threshold: which lie above it, and how many before do; empty where too large."""
    n_words = bins.size // 64 + 1
    if n_thresholds > MOST_TABLE_THRESHOLDS:
        return np.zeros((0, n_thresholds), dtype=np.uint64), np.zeros((0, n_thresholds), dtype=np.int32)
    padded = np.full((n_words, 64), -1, dtype=np.int32)
    padded.reshape(-1)[: bins.size] = bins
    above = np.empty((n_words, n_thresholds), dtype=np.uint64)
    before = np.zeros((n_words + 1, n_thresholds), dtype=np.int32)
    some = max(WORD_FLAGS // (64 * n_thresholds), 1)
    for begin in range(0, n_words, some):
        part = slice(begin, begin + some)
        higher = padded[part, np.newaxis] >= np.arange(n_thresholds)[:, np.newaxis]
        above[part] = np.packbits(higher, axis=2, bitorder="little").view("<u8")[..., 0]
        before[1:][part] = higher.sum(axis=2, dtype=np.uint8)  # 64 at most
    return above, np.cumsum(before[:-1], axis=0, dtype=np.int32)


def _observed(problem: Problem, side: Measure, hits: IntArray) -> NDArray[np.int32]:
    hits = integers(f"observed.{side}", hits)
    if hits.shape != problem.shape:
        raise InputError(
            problem=f"observed.{side} must have shape {problem.shape} (tolerances, thresholds), got {hits.shape}"
        )
    if hits.min() < 0 or hits.max() > problem.level.size:
        raise InputError(problem=f"observed.{side} must lie in 0..{problem.level.size}, got {hits.min()}..{hits.max()}")
    return np.ascontiguousarray(hits.ravel(), dtype=np.int32)
