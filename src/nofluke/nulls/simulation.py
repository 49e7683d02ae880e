"""Any statistic under any null by simulation: draw what the null moves, and look what becomes of the statistic.

Hits have compiled loops that count all cells of a trial at once; any other statistic is asked for its value on every
placement. The same seed gives the same placements whatever the statistic, the cells and the number of workers.

The section "Monte Carlo" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, ByValue, FloatArray, IntArray
from nofluke.errors import InputError, arg, say, verb
from nofluke.laws.counts import SimulatedLaw
from nofluke.laws.law import How, Law
from nofluke.laws.montecarlo.in_time import folded
from nofluke.measures.statistics import Statistic
from nofluke.nulls.base import Joint, Method, NullModel, Nulls, as_seed, check_resamples
from nofluke.nulls.timed_shifts import hits_of_counted, out_of, share_of
from nofluke.nulls.whole_ranges import hits_of_ranges
from nofluke.progress import announce_compilation, progress_bar
from nofluke.ratios import TIE_SLACK
from nofluke.series.trial import Cell, Trial

SIDES = ("precision", "recall")
Placements = Callable[[Cell], tuple[IntArray, IntArray, How] | None]


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
        steps=lambda trial: (montecarlo.Problem.of(trial), draw), ticks=lambda trial: folded(trial).with_draw(draw)
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
    seed = as_seed(rng)
    if not _compiled(cell):
        return _simulated_by_rows(cell, null, n_resamples, rng if seed is None else seed, seed)
    found = simulate_hits(
        cell.alone(), null, n_resamples, rng if seed is None else seed, "permutations", histograms="all"
    )
    return laws_of_tally(found, (0, 0), cell, null, n_resamples, seed)


def laws_of_tally(
    found: Any, at: tuple[int, int], cell: Cell, null: NullModel, n_resamples: int, seed: int | None
) -> Nulls:
    """Both laws of one cell, from a simulation that kept its histograms."""
    known = null.moments(cell)
    laws = {}
    for side, size in (("precision", cell.n_predictions), ("recall", cell.n_events)):
        tally = getattr(found, side)
        counts = np.zeros(size + 1, dtype=np.int64)
        counts[: len(tally.histograms[at])] = tally.histograms[at]
        mean, var = float(tally.mean[at]), float(np.nan_to_num(tally.variance[at]))
        if known is not None:
            mean, var = known[side].mean, known[side].var
        laws[side] = SimulatedLaw(counts, mean=mean, var=var, n_resamples=n_resamples, seed=seed)
    return Nulls(**laws)


def _compiled(cell: Cell) -> bool:
    """Whether the compiled loops count these hits: those of points, all of which count."""
    return cell.truth.points and cell.counted is None


def _simulated_by_rows(cell: Cell, null: NullModel, n_resamples: int, rng: Any, seed: int | None) -> Nulls:
    """Both laws of whole ranges that a null places, or of events of which not all count."""
    found = _placed_by_rows(cell, null, n_resamples, rng)
    laws = {}
    for side, size in (("precision", cell.n_predictions), ("recall", cell.n_counted)):
        hits = found[side]
        counts = np.bincount(hits, minlength=size + 1)
        laws[side] = SimulatedLaw(
            counts, mean=float(hits.mean()), var=float(hits.var()), n_resamples=n_resamples, seed=seed
        )
    return Nulls(**laws)


def _placed_by_rows(
    cell: Cell, null: NullModel, n_resamples: int, rng: Any, ratio: Callable[..., AnyArray] = out_of
) -> dict[str, AnyArray]:
    blocks = [
        cell.by_axis(
            steps=partial(hits_of_ranges, placements=rows),
            ticks=partial(hits_of_counted, placements=rows, out_of=ratio),
        )
        for rows in draws(null, cell.trial, n_resamples, rng)
    ]
    return {side: np.concatenate([block[side] for block in blocks]) for side in SIDES}


def placed_ranges(trial: Trial, null: NullModel, n_resamples: int, rng: Any) -> Placements:
    """Both hits of any cell over the same random placements of whole ranges, the data's own first."""
    seed = as_seed(rng)
    rows = np.concatenate(list(draws(null, trial, n_resamples, rng if seed is None else seed)))
    how = How(kind="simulated", n_resamples=n_resamples, seed=seed)

    def hits(cell: Cell) -> tuple[IntArray, IntArray, How]:
        found = hits_of_ranges(cell, rows)
        recall, precision = (
            np.concatenate([[own], found[side]])
            for side, own in (("recall", cell.recall_hits), ("precision", cell.precision_hits))
        )
        return recall, precision, how

    return hits


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
        recall, precision, how = placed(cell)  # type: ignore[misc]  # placed ranges are always there
        found: dict[str, Law] = {side: null.law_of(cell, side) for side in known}
        for side, hits, size in (("precision", precision, cell.n_predictions), ("recall", recall, cell.n_counted)):
            counts = np.bincount(hits[1:], minlength=size + 1)
            moments = {"mean": float(hits[1:].mean()), "var": float(hits[1:].var())}
            found.setdefault(side, SimulatedLaw(counts, **moments, n_resamples=n_resamples, seed=how.seed))
        return Nulls(**found)

    return laws


def simulated_joint(cell: Cell, null: NullModel, n_resamples: int, rng: Any) -> Joint:
    """Pairs of both hits over random placements."""
    seed = as_seed(rng)
    if not _compiled(cell):
        hits = _placed_by_rows(cell, null, n_resamples, rng if seed is None else seed, share_of)
        return Joint(
            recall_hits=hits["recall"],
            precision_hits=hits["precision"],
            weights=np.ones(n_resamples),
            method=How(kind="simulated", n_resamples=n_resamples, seed=seed),
        )
    found = simulate_hits(
        cell.alone(),
        null,
        n_resamples,
        rng if seed is None else seed,
        "permutations",
        histograms="none",
        joint=[(0, 0)],
    )
    pairs = found.joint[0, 0]
    return Joint(
        recall_hits=pairs.recall_hits,
        precision_hits=pairs.precision_hits,
        weights=pairs.counts.astype(np.float64),
        method=How(kind="simulated", n_resamples=n_resamples, seed=seed),
    )


def draws(null: NullModel, trial: Trial, n_resamples: int, rng: Any) -> Iterator[AnyArray]:
    """What a null makes of its side of the trial, in blocks of rows: the same for the same seed."""
    from nofluke.laws import montecarlo

    moved, width = (trial.truth, trial.n_events) if null.moves == "truth" else (trial.detector, trial.n_steps)
    left = n_resamples
    # rows at a time go by the memory that a null may need: by steps on a grid, else by events
    for block in montecarlo.drawn(null.draw(moved), trial.row, n_resamples=n_resamples, rng=rng):
        rows = np.asarray(block)
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
    n_resamples = check_resamples(n_resamples)
    seed = as_seed(rng)
    blocks = draws(null, trial, n_resamples, rng if seed is None else seed)
    measure = statistic.on_truths if null.moves == "truth" else statistic.on_detectors
    return Simulated(
        statistic=statistic.name,
        null=null.text,
        observed=statistic.observed(trial),
        values=np.concatenate([measure(trial, block) for block in blocks]),
        method=How(kind="simulated", n_resamples=n_resamples, seed=seed),
    )
