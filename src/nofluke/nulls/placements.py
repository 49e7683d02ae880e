"""What a null makes of a series: placements of its events, all there are or random ones, and what is measured on them.

A placement is a row of first steps, one for each event. Both hits are counted on it, metrics see its labels in runs,
and any other statistic is asked for its value. The same seed gives the same placements, whatever is measured on them,
in however many cells, and by whichever worker: so many of them, one after another, have a stream of their own.

The section "Monte Carlo" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, ByValue, FloatArray, IntArray
from nofluke.errors import InputError, arg, say, verb
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.law import How
from nofluke.laws.montecarlo import Draw, Problem, Streams, drawn_chunk, hits_of
from nofluke.laws.montecarlo.in_time import folded
from nofluke.laws.montecarlo.run import CHUNK
from nofluke.measures.statistics import Statistic
from nofluke.metrics.draws import Draws, Layout, Redrawn, Still, Within
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.base import Joint, Method, NullModel, Nulls, Placed, Shifting, check_resamples, drawing
from nofluke.nulls.timed_shifts import hits_of_counted, out_of, share_of
from nofluke.progress import announce_compilation, progress_bar
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import newly_hit
from nofluke.series.trial import Cell, Trial
from nofluke.series.truth import Truth

SIDES = ("precision", "recall")

# ---- rows: what a null draws of its side


def draws(null: NullModel, trial: Trial, n_resamples: int, rng: Any) -> Iterator[AnyArray]:
    """What a null makes of its side of the trial, in blocks of rows: the same for the same seed."""
    moved, width = (trial.truth, trial.n_events) if null.moves == "truth" else (trial.detector, trial.n_steps)
    # rows at a time go by the memory that a null may need: by steps on a grid, else by events
    yield from _rows(null, null.draw(moved), (width, trial.row), Streams(rng), CHUNK, range(n_resamples))


def _rows(
    null: NullModel, draw: Draw, size: tuple[int, int], streams: Streams, block: int, which: range
) -> Iterator[AnyArray]:
    """Some of the rows that a null draws, so many of which have a stream of their own.

    ``size`` is how many values a row has, and how much memory it takes to draw one.
    """
    width, memory = size
    for first in which[::block]:
        left = min(block, which.stop - first)
        for found in drawn_chunk(draw, memory, streams, first // block, left):
            rows = np.asarray(found)
            if rows.ndim != 2 or rows.shape[1] != width or not 0 < len(rows) <= left:
                raise InputError(
                    argument="null",
                    value=null.text,
                    problem=f"must draw rows of {width} values, as many as asked, got {rows.shape}",
                )
            left -= len(rows)
            yield rows
        if left:
            raise InputError(
                argument="null", value=null.text, problem=f"must draw as many rows as asked, got {left} too few"
            )


# ---- draws of a labelled series: its labels in runs, and the window of the detector that they meet

SEEDS = 2**63 - 1
BLOCK = 64  # draws to a stream; a chunk is made of whole blocks


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """Draws of one series under a null, chunk by chunk.

    Attributes
    ----------
    layout : Layout
        What becomes of the detector.
    n : int
        How many draws there are.
    chunk : int
        Draws to a chunk: a multiple of `BLOCK`.
    method : How
        Whether these are all there are, the data's own first, or some that are drawn at random.
    make : callable
        The draws of which the numbers are in a range.
    """

    layout: Layout
    n: int
    chunk: int
    method: How
    make: Callable[[range], Draws] = field(repr=False)

    @property
    def listed(self) -> bool:
        """Whether these are all there are."""
        return self.method.kind != "simulated"

    @property
    def chunks(self) -> range:
        """Numbers of the chunks."""
        return range(-(-self.n // self.chunk))

    def draws(self, chunk: int) -> Draws:
        """The draws of one chunk."""
        return self.make(range(self.n)[chunk * self.chunk : (chunk + 1) * self.chunk])


def moves_of(
    model: NullModel,
    series: Labelled,
    *,
    n_resamples: int,
    rng: Any,
    chunk: int,
    affordable: Callable[[Shifting], bool],
    edges: tuple[int, ...] | None = None,
) -> Moves:
    """What a null does with a series: all shifts, where it has some and they are affordable, else so many random draws.

    ``edges`` are borders of groups of steps, within each of which a rotation stays.
    """
    chunk, (rng, how) = max(chunk // BLOCK, 1) * BLOCK, drawing(n_resamples, rng)
    n, streams = series.n_steps, Streams(rng)

    def drawn(draw: Draw, width: int, memory: int, which: range) -> AnyArray:
        return np.concatenate(list(_rows(model, draw, (width, memory), streams, BLOCK, which)))

    def moving(layout: Layout, draw: Draw) -> Moves:
        """The same labels before a detector that begins anywhere."""
        return random(layout, lambda which: Draws.moving(series.runs, n, drawn(draw, 1, 1, which)[:, 0]))

    def random(layout: Layout, make: Callable[[range], Draws]) -> Moves:
        return Moves(layout=layout, n=n_resamples, chunk=chunk, method=how, make=make)

    def seeds(generator: np.random.Generator, size: int) -> IntArray:
        return generator.integers(1, SEEDS, (size, 1))

    if edges is not None:
        return moving(Within(edges), seeds)
    shifting = model.shifting(series.truth)
    if shifting is not None:
        begins = shifting.begins
        if not affordable(shifting):
            return moving(shifting.layout, lambda generator, size: generator.choice(begins, (size, 1)))
        return Moves(
            layout=shifting.layout,
            n=len(begins),
            chunk=chunk,
            method=shifting.method,
            make=lambda which: Draws.moving(series.runs, n, begins[which.start : which.stop]),
        )
    if "montecarlo" not in model.methods:
        raise InputError(
            argument="null",
            value=model.text,
            problem="only knows laws of hits and cannot draw for a metric",
            remedy=say("use {}", arg("null", "auto", "circular-shift", "local-shift", "segments")),
        )
    if model.moves == "detector":
        return moving(Redrawn(model), seeds)
    whole = model.takes_ranges and not series.truth.points
    side = series.truth if whole else steps_of(series.truth)
    draw, lengths = model.draw(side), side.stops - side.starts

    def placed(which: range) -> Draws:
        rows = drawn(draw, side.n, n, which)
        return Draws.of_ranges(rows, lengths, n) if whole else Draws.of_steps(rows, n)

    return random(Still(), placed)


def steps_of(truth: Truth) -> Truth:
    """The same labels, each step by itself."""
    return Truth.of_flags(truth.flags, truth.clock, truth.open_steps)


# ---- both hits of placements, row by row

HALF = 32  # bits: predictions are fewer than 2**31


def hits_on(
    cell: Cell, rows: AnyArray, ratio: Callable[[AnyArray, AnyArray, int], AnyArray] = out_of
) -> dict[str, AnyArray]:
    """Both hits for each placement of the events: rows of first steps, in the order of the truth.

    Where not all events count, recall's are a ratio of two numbers.
    """

    def on_steps(cell: Cell) -> dict[str, AnyArray]:
        if not cell.truth.points:
            return hits_of_ranges(cell, rows)
        found = hits_of(Problem.of(cell.alone()), rows)
        return {"precision": found.precision.ravel(), "recall": found.recall.ravel()}

    return cell.by_axis(steps=on_steps, ticks=lambda cell: hits_of_counted(cell, rows, ratio))


def hits_of_ranges(cell: Cell, placements: AnyArray) -> dict[str, IntArray]:
    """The same for whole ranges."""
    rows = np.asarray(placements, dtype=np.int64)
    first, last, found = predictions_near(cell, rows, slice(None))
    return {"precision": hit_by_any(first, last), "recall": np.count_nonzero(found, axis=1).astype(np.int64)}


def hit_by_any(first: IntArray, last: IntArray) -> IntArray:
    """Predictions hit, for each row of events in any order that hit those from ``first`` up to ``last``."""
    pairs = np.sort((first << HALF) | last, axis=1)  # whole numbers are sorted much faster than their order is found
    return newly_hit(pairs >> HALF, pairs & ((1 << HALF) - 1))


def predictions_near(cell: Cell, rows: IntArray, events: Any) -> tuple[IntArray, IntArray, BoolArray]:
    """Of these events, placed from these steps on, the predictions that each makes hits, and whether it is found.

    What ranges have on a clock beyond their first and last step, in steps, they keep wherever they are placed.
    Predictions are counted from the first one up to, not including, the last one; or 0, 0.
    """
    (starts, stops), own = _windows_of_ranges(cell, rows, events), cell.trial.event_windows[cell.d]
    here = _windows_of_ranges(cell, cell.truth.starts[events][None], events)
    starts, stops = (
        np.clip(at + kept[events] - there, 0, cell.n_steps)
        for at, kept, there in ((starts, own.starts, here[0]), (stops, own.stops, here[1]))
    )
    stops = np.maximum(stops, starts)
    before = cell.once("alarms before each step", lambda: np.concatenate([[0], np.cumsum(cell.alarm_flags)]))
    begin, behind = before[starts], before[stops]
    found = behind > begin
    if cell.trial.count_alarms == "episodes":
        counted = cell.episodes
        begin = np.searchsorted(counted.stops, starts, side="right")
        behind = np.where(stops > starts, np.searchsorted(counted.starts, stops, side="left"), begin)
    some = behind > begin
    return np.where(some, begin, 0), np.where(some, behind, 0), found


def _windows_of_ranges(cell: Cell, rows: IntArray, events: Any) -> tuple[IntArray, IntArray]:
    """Steps within the tolerance of each placed range, from its first to its last step."""
    end = cell.n_steps - 1
    last = np.clip(rows + (cell.truth.stops - cell.truth.starts)[events] - 1, 0, end)
    return cell.cover.starts[np.minimum(rows, last)], cell.cover.stops[last]


# ---- laws of both hits, by simulation: compiled loops count points in all cells of a trial at once


def simulate_hits(
    trial: Trial, null: NullModel, n_resamples: int, rng: Any, what: str = "resamples", **kept: Any
) -> Any:
    """Both hits in every cell of a trial, over random placements of the events; ``kept`` says what is kept of them."""
    from nofluke.laws import montecarlo
    from nofluke.laws.montecarlo import kernels

    check_moves_events(null)
    if not trial.truth.points:
        raise InputError(
            argument="null",
            value=null.text,
            problem="has no compiled loop for events that are ranges",
            remedy=say("use {} or {}", arg("null", "auto"), arg("null", "circular-shift")),
        )
    announce_compilation(kernels.draw_hits, seconds=3)
    draw = null.draw(trial.truth)
    problem, draw = trial.by_axis(
        steps=lambda trial: (Problem.of(trial), draw), ticks=lambda trial: folded(trial).with_draw(draw)
    )
    with progress_bar(what, n_resamples) as advance:
        return montecarlo.simulate(
            problem,
            n_resamples=n_resamples,
            observed=montecarlo.Hits(precision=trial.precision_hits, recall=trial.recall_hits),
            rng=rng,
            workers=os.cpu_count() or 1,
            progress=advance,
            draw=draw,
            **kept,
        )


def check_moves_events(null: NullModel) -> None:
    """Refuse a null of which hits of placed events say nothing."""
    if null.moves != "truth":
        raise InputError(
            argument="null",
            value=null.text,
            problem="moves the detector, not the events",
            remedy=say("pass it to {}, or a null that moves the events", verb("significance")),
        )


def simulated(cell: Cell, null: NullModel, n_resamples: int, rng: Any) -> Nulls:
    """Both laws as histograms of random placements; with exact means and variances where they are known."""
    rng, how = drawing(n_resamples, rng)
    if not _compiled(cell):
        hits = _hits_by_rows(cell, null, n_resamples, rng)
        return Nulls(**{side: _law(hits[side], size, how) for side, size in _sizes(cell).items()})
    found = simulate_hits(cell.alone(), null, n_resamples, rng, "permutations", histograms="all")
    return laws_of_tally(found, (0, 0), cell, null, how.seed)


def laws_of_tally(found: Any, at: tuple[int, int], cell: Cell, null: NullModel, seed: int | None) -> Nulls:
    """Both laws of one cell, from a simulation that kept its histograms."""
    known = null.moments(cell)
    laws = {}
    for side, size in _sizes(cell).items():
        tally = getattr(found, side)
        counts = np.zeros(size + 1, dtype=np.int64)
        counts[: len(tally.histograms[at])] = tally.histograms[at]
        mean, var = float(tally.mean[at]), float(np.nan_to_num(tally.variance[at]))
        if known is not None:
            mean, var = known[side].mean, known[side].var
        laws[side] = SimulatedLaw(counts, mean=mean, var=var, n_resamples=found.n_resamples, seed=seed)
    return Nulls(**laws)


def _compiled(cell: Cell) -> bool:
    """Whether the compiled loops count these hits: those of points, all of which count."""
    return cell.truth.points and cell.counted is None


def _sizes(cell: Cell) -> dict[str, int]:
    """The most hits there can be of each side."""
    return {"precision": cell.n_predictions, "recall": cell.n_counted}


def _law(hits: IntArray, size: int, how: How) -> SimulatedLaw:
    """The law of hits that were counted row by row."""
    counts, mean, var = np.bincount(hits, minlength=size + 1), float(hits.mean()), float(hits.var())
    return SimulatedLaw(counts, mean=mean, var=var, n_resamples=len(hits), seed=how.seed)


def _hits_by_rows(cell: Cell, null: NullModel, n_resamples: int, rng: Any, ratio: Any = out_of) -> dict[str, AnyArray]:
    """Both hits of whole ranges that a null places, or of events of which not all count."""
    blocks = [hits_on(cell, rows, ratio) for rows in draws(null, cell.trial, n_resamples, rng)]
    return {side: np.concatenate([block[side] for block in blocks]) for side in SIDES}


def listed(null: NullModel, cells: Iterable[Cell], most: int) -> Placed | None:
    """Both hits of every placement in several cells, in columns; None where there are more than so many placements."""
    columns = []
    for cell in cells:
        found = null.every_placement(cell)
        if found is None or len(found.recall) > most:
            return None
        columns.append(found)
    recall, precision = (np.stack([getattr(one, side) for one in columns], axis=1) for side in ("recall", "precision"))
    return Placed(recall, precision, columns[-1].how)


def placed_ranges(trial: Trial, null: NullModel, n_resamples: int, rng: Any) -> Callable[[Cell], Placed]:
    """Both hits of any cell over the same random placements of whole ranges, the data's own first."""
    rng, how = drawing(n_resamples, rng)
    rows = np.concatenate(list(draws(null, trial, n_resamples, rng)))

    def placed(cell: Cell) -> Placed:
        found = hits_of_ranges(cell, rows)
        recall, precision = (
            np.concatenate([[own], found[side]])
            for side, own in (("recall", cell.recall_hits), ("precision", cell.precision_hits))
        )
        return Placed(recall, precision, how)

    return placed


MOST_ROWS = 50_000_000  # starts of placed ranges that are kept for all cells


def laws_of_ranges(
    trial: Trial, null: NullModel, method: Method, n_resamples: int, rng: Any
) -> Callable[[Cell], Nulls] | None:
    """Laws of any cell of a trial of ranges, what is not known of them from the same placements, drawn once.

    None where events are points, everything is known, nothing is drawn, or the placements are too many to be kept.
    """
    drawn = "montecarlo" in null.methods and method in ("auto", "montecarlo")
    if trial.truth.points or not drawn or n_resamples * trial.n_events > MOST_ROWS:
        return None
    known = () if method == "montecarlo" else null.exact_sides(trial.cell(0, 0), times=int(np.prod(trial.shape)))
    if len(known) == 2:
        return None
    placed = placed_ranges(trial, null, n_resamples, rng)

    def laws(cell: Cell) -> Nulls:
        found = placed(cell)
        return Nulls(
            **{
                side: null.law_of(cell, side) if side in known else _law(getattr(found, side)[1:], size, found.how)
                for side, size in _sizes(cell).items()
            }
        )

    return laws


def simulated_joint(cell: Cell, null: NullModel, n_resamples: int, rng: Any) -> Joint:
    """Pairs of both hits over random placements."""
    rng, how = drawing(n_resamples, rng)
    if not _compiled(cell):
        hits = _hits_by_rows(cell, null, n_resamples, rng, share_of)
        recall, precision, counts = hits["recall"], hits["precision"], np.ones(n_resamples)
    else:
        found = simulate_hits(
            cell.alone(), null, n_resamples, rng, "permutations", histograms="none", joint=[(0, 0)]
        ).joint[0, 0]
        recall, precision, counts = found.recall_hits, found.precision_hits, found.counts.astype(np.float64)
    return Joint(recall_hits=recall, precision_hits=precision, weights=counts, method=how)


# ---- any other statistic


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated(ByValue):
    """A statistic in every cell, with its values under a null.

    Attributes
    ----------
    statistic, null : str
    observed : float array of shape (D, K)
    values : float array of shape (n_resamples, D, K)
        One row for each placement, in the order of drawing: two statistics, or two detectors on the same events, can be
        compared placement by placement.
    method : How
    """

    statistic: str
    null: str
    observed: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    method: How

    @property
    def pvalue(self) -> FloatArray:
        """(b + 1)/(n + 1) in each cell; b placements reach the observed value, up to rounding. 1 where it is NaN."""
        # numbers of this size are rounded, wherever the observed one lies among them
        sizes = np.abs(np.concatenate([self.observed[np.newaxis], self.values]))
        scale = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0)
        bar = np.where(np.isfinite(self.observed), self.observed - TIE_SLACK * scale, self.observed)
        reached = (self.values >= bar).sum(axis=0)
        p = (reached + 1) / (len(self.values) + 1)
        return np.where(np.isnan(self.observed), 1.0, p)


def simulate(
    trial: Trial, statistic: Statistic, null: NullModel, *, n_resamples: int = 10_000, rng: Any = None
) -> Simulated:
    """Any statistic of a trial under any null, by simulation.

    Parameters
    ----------
    trial : Trial
    statistic : Statistic
        What is measured; larger is better.
    null : NullModel
        What chance moves: the events, or the detector.
    n_resamples : int
    rng : int, Generator, SeedSequence or None

    Returns
    -------
    Simulated

    References
    ----------
    Phipson and Smyth (2010), Permutation p-values should never be zero.

    Examples
    --------
    >>> from nofluke.measures.statistics import Matching
    >>> from nofluke.nulls import CircularShift
    >>> from nofluke.series.reading import prepare
    >>> from nofluke.series.tolerance import Tolerance
    >>> sequence = prepare([0, 1, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 1, 0])
    >>> trial = Trial.of(sequence, (Tolerance(early=0, late=0),), None)
    >>> simulate(trial, Matching(), CircularShift(), n_resamples=9_999, rng=1).pvalue.round(2)  # two rotations of six
    array([[0.33]])
    """
    rng, how = drawing(check_resamples(n_resamples), rng)
    blocks = draws(null, trial, n_resamples, rng)
    measure = statistic.on_truths if null.moves == "truth" else statistic.on_detectors
    return Simulated(
        statistic=statistic.name,
        null=null.text,
        observed=statistic.observed(trial),
        values=np.concatenate([measure(trial, block) for block in blocks]),
        method=how,
    )
