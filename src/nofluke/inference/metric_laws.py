"""What chance gives in a metric: the metric on each draw, or the law of hits or of F, where that is known.

Both answer the same questions, so that no result has to ask which of them it holds.

The section "Values that chance reaches" of docs/explanation/theory.md has the mathematics.
The section "Stopping early" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from nofluke.arrays import BoolArray, ByValue, FloatArray
from nofluke.errors import InputError, shortened
from nofluke.inference.chance import ChanceTest, FLaw, Side, significant
from nofluke.inference.corrections import SLACK, scale_of
from nofluke.inference.verdict import floor_above
from nofluke.laws.law import How, first_true
from nofluke.lazy import lazy
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Circle, Draws, Layout
from nofluke.metrics.functions import can_pickle
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.base import Shifting, floor_of
from nofluke.nulls.placements import Moves
from nofluke.plain import finite_or_none
from nofluke.progress import progress_bar
from nofluke.ratios import TIE_SLACK, divide

MOST_BARS = 60
NEARLY_NOTHING = 1e-6  # hits less likely than this share of the most likely ones are left out of pictures
WHOLE = 1e-9  # a share times its number of trials is this near to whole hits, but for rounding


class Given(ABC):
    """What chance gives in a metric.

    Attributes
    ----------
    how : How
        How it was computed.
    values : float array
        The metric on each draw; empty for a law.
    n : int
        Draws, or all shifts; 0 for a law that takes neither.
    mean, std : float
    """

    how: How
    values: FloatArray = np.zeros(0)
    stop_after: int | None = None
    height: ClassVar[str] = "probability"  # what bars of it show

    @property
    def n(self) -> int:
        return self.how.n_resamples or 0

    @property
    def n_random(self) -> int | None:
        """Random draws; None where nothing is random."""
        return self.n if self.how.kind == "simulated" else None

    @property
    @abstractmethod
    def mean(self) -> float: ...

    @property
    @abstractmethod
    def std(self) -> float: ...

    @abstractmethod
    def tail(self, value: float, side: Side) -> float:
        """How often chance does as well as this value."""

    def stopped(self, value: float, side: Side) -> bool:
        """Whether drawing stopped early, since so many draws had reached this value."""
        del value, side
        return False

    @abstractmethod
    def band(self, alpha: float) -> tuple[float, float] | None:
        """Where it lies, except for alpha/2 on either side; None where that is not known."""

    @abstractmethod
    def critical(self, alpha: float, side: Side) -> float | None:
        """What a value has to exceed (or stay below) for p ≤ alpha; None where no value does."""

    @abstractmethod
    def floor(self, side: Side, perfect: float | None) -> float:
        """The smallest p-value; ``perfect`` is the best value there is on this side, where it is known."""

    def floor_above(self, alpha: float, side: Side, perfect: float | None) -> float | None:
        """The smallest p-value where it is above alpha; None where it is not."""
        floor = self.floor(side, perfect)
        return None if significant(floor, alpha) else floor

    @abstractmethod
    def bars(self) -> tuple[FloatArray, FloatArray]:
        """Its distribution in a few bars: their shares, and where they end; none where it is undefined."""


def reaching(values: FloatArray, bar: float, side: Side, scale: float = 0.0) -> BoolArray:
    """Which values are as far out as the bar, undefined ones included; numbers of this scale have been rounded.

    >>> reaching(np.array([0.1 + 0.2, 0.2, np.nan]), 0.3, "greater")
    array([ True, False,  True])
    """
    signed, level = (values, bar) if side == "greater" else (-values, -bar)
    slack = SLACK * max(abs(bar), scale) if math.isfinite(bar) else 0.0
    return np.asarray(np.isnan(values) | (signed >= level - slack))


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn(Given, ByValue):
    """The metric on each draw of a null.

    Attributes
    ----------
    values : float array
        In order. Where all shifts were enumerated, the data's own value comes first.
    how : How
        Whether all shifts were counted, or draws simulated.
    known_mean : float or None
        The mean, where it is known without any draw.
    scale : float
        The size of the numbers that were rounded: values within 1e-10 of it are equal.
    stop_after : int or None
        With early stopping, how many draws had to reach the value. There is then neither a band nor a critical value,
        since these need a fixed number of draws.
    """

    values: FloatArray = field(repr=False)
    how: How
    known_mean: float | None = None
    scale: float = 0.0
    stop_after: int | None = None

    height: ClassVar[str] = "share of draws"

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def listed(self) -> bool:
        """Whether all shifts were enumerated, so nothing is random."""
        return self.how.kind != "simulated"

    @lazy
    def _defined(self) -> FloatArray:
        return self.values[np.isfinite(self.values)]

    @lazy
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation of what is finite, in units in which no square overflows."""
        if not len(self._defined):
            return math.nan, math.nan
        unit = float(np.abs(self._defined).max()) or 1.0
        scaled = self._defined / unit
        return float(scaled.mean()) * unit, float(scaled.std()) * unit

    @property
    def mean(self) -> float:
        return self._moments[0] if self.known_mean is None else self.known_mean

    @property
    def std(self) -> float:
        return self._moments[1]

    @property
    def _others(self) -> FloatArray:
        """All draws, or all shifts but the data's own."""
        return self.values[1:] if self.listed else self.values

    def _reached(self, values: FloatArray, value: float, side: Side) -> int:
        return int(reaching(values, value, side, self.scale).sum())

    def stopped(self, value: float, side: Side) -> bool:
        return self.stop_after is not None and self._reached(self.values, value, side) >= self.stop_after

    def tail(self, value: float, side: Side) -> float:
        """(b + 1)/(n + 1) if b of the n other shifts or draws reach the value; h/n if drawing stopped at the h-th."""
        if self.stopped(value, side):
            return self._reached(self.values, value, side) / len(self.values)
        others = self._others
        return (1 + self._reached(others, value, side)) / (1 + len(others))

    def band(self, alpha: float) -> tuple[float, float] | None:
        if self.stop_after is not None or not len(self._defined):
            return None
        low, high = np.quantile(self._defined, [alpha / 2, 1 - alpha / 2])
        return float(low), float(high)

    def critical(self, alpha: float, side: Side) -> float | None:
        others = self._others
        may = math.floor(alpha * (len(others) + 1) * (1 + TIE_SLACK)) - 1
        if self.stop_after is not None or not 0 <= may < len(others):
            return None
        sign = 1.0 if side == "greater" else -1.0
        ordered = np.sort(np.where(np.isnan(others), np.inf, sign * others))[::-1]
        return finite_or_none(sign * float(ordered[may]))

    def floor(self, side: Side, perfect: float | None) -> float:
        if self.stop_after is not None:
            return 1 / (1 + (self.how.n_resamples or len(self.values)))
        if self.listed:
            known = self.values[~np.isnan(self.values)]
            if not len(known):
                return 1.0
            best = float(known.max() if side == "greater" else known.min())
            return self._reached(self.values, best, side) / len(self.values)
        as_good = int(np.isnan(self.values).sum()) if perfect is None else self._reached(self.values, perfect, side)
        return (1 + as_good) / (1 + len(self.values))

    def bars(self) -> tuple[FloatArray, FloatArray]:
        n, few = len(self._defined), len(np.unique(self._defined[:10_000]))
        if not n:
            return np.zeros(0), np.zeros(0)
        heights, edges = np.histogram(self._defined, bins=int(min(MOST_BARS, max(np.sqrt(n), 10), max(2 * few, 3))))
        return heights / n, edges


@dataclass(frozen=True, kw_only=True, eq=False)
class OfHits(Given, ByValue):
    """The law of hits, as shares of the alarms or the events: what `nofluke.evaluate` tests precision and recall by."""

    test: ChanceTest

    @property
    def how(self) -> How:  # type: ignore[override]
        return self.test.how

    @property
    def mean(self) -> float:
        return divide(self.test.expected, self.test.of)

    @property
    def std(self) -> float:
        return divide(self.test.std, self.test.of)

    def tail(self, value: float, side: Side) -> float:
        hits = min(max(value * self.test.of, -1.0), self.test.of + 1.0)
        whole = math.ceil(hits - WHOLE) if side == "greater" else math.floor(hits + WHOLE)
        return replace(self.test, hits=whole).pvalue_for(side)

    def band(self, alpha: float) -> tuple[float, float] | None:
        if not self.test.of:
            return None
        low, high = self.test.law.quantile([alpha / 2, 1 - alpha / 2]) / self.test.of
        return float(low), float(high)

    def critical(self, alpha: float, side: Side) -> float | None:
        law, of = self.test.law, self.test.of
        if not of:
            return None
        if side == "greater":
            least = law.critical_value(alpha)
            return None if least is None else (least - 1) / of
        level, guess = alpha * (1 + TIE_SLACK), round(law.mean - 2 * law.std)
        beyond = first_true(lambda k: law.lower(k) > level, guess, 0, law.size)
        return None if beyond == 0 else beyond / of

    def floor(self, side: Side, perfect: float | None) -> float:
        del perfect  # the law knows which hits can be
        if not self.test.of:
            return 1.0
        law = self.test.law
        end = floor_of(law) if side == "greater" else law.lower(law.ends[0])
        return min(end, self.test.pvalue_for(side))  # what was observed can come out, even if no resample had it

    def floor_above(self, alpha: float, side: Side, perfect: float | None) -> float | None:
        """As of every law, without the whole of it."""
        if significant(self.test.pvalue_for(side), alpha):
            return None
        return floor_above(self.test, alpha) if side == "greater" else super().floor_above(alpha, side, perfect)

    def bars(self) -> tuple[FloatArray, FloatArray]:
        """Each bar has as many hits: one, where they are few."""
        if not self.test.of:
            return np.zeros(0), np.zeros(0)
        table = self.test.law.table
        likely = np.flatnonzero(table > NEARLY_NOTHING * table.max())
        first, last = int(likely[0]), int(likely[-1]) + 1
        wide = -(-(last - first) // MOST_BARS)
        starts = np.arange(first, last, wide)
        heights = np.add.reduceat(table[first:last], starts - first)
        return heights, (np.append(starts, starts[-1] + wide) - 0.5) / self.test.of


@dataclass(frozen=True, kw_only=True, eq=False)
class OfF(Given, ByValue):
    """The law of F_β, by which `nofluke.Evaluation.f_test` tests it; ``observed`` is a value that can come out."""

    law: FLaw
    observed: float

    @property
    def how(self) -> How:  # type: ignore[override]
        return self.law.method

    @property
    def mean(self) -> float:
        return self.law.mean

    @property
    def std(self) -> float:
        return self.law.std

    def tail(self, value: float, side: Side) -> float:
        return self.law.tail(value, side)

    def band(self, alpha: float) -> tuple[float, float] | None:
        values, weights = self.law.ordered
        shares = np.cumsum(weights) / weights.sum()
        low, high = (
            int(np.searchsorted(shares, level * (1 - TIE_SLACK)).clip(max=len(values) - 1))
            for level in (alpha / 2, 1 - alpha / 2)
        )
        return float(values[low]), float(values[high])

    def critical(self, alpha: float, side: Side) -> float | None:
        values, _ = self.law.ordered
        outward = values if side == "greater" else values[::-1]  # the last one is the farthest out

        def reaches(k: int) -> bool:
            return significant(self.law.tail(float(outward[k]), side), alpha)

        n = len(outward)
        first = first_true(lambda k: k == n or reaches(k), n - 1, 0, n)
        # beyond all that were drawn there may be more, where there is room
        seen = first < n or (self.n > 0 and significant(1 / (self.n + 1), alpha) and 0 < outward[-1] < 1)
        return float(outward[first - 1]) if seen and first else None

    def floor(self, side: Side, perfect: float | None) -> float:
        del perfect  # the law knows which values can be
        values, _ = self.law.ordered
        known = [float(values[0]), float(values[-1]), *([] if math.isnan(self.observed) else [self.observed])]
        return self.tail(max(known) if side == "greater" else min(known), side)

    def bars(self) -> tuple[FloatArray, FloatArray]:
        values, weights = self.law.ordered
        likely = weights > NEARLY_NOTHING * weights.max()
        n_bars = min(max(int(likely.sum()), 3), MOST_BARS // 2)
        heights, edges = np.histogram(values[likely], bins=n_bars, weights=weights[likely])
        return heights / weights.sum(), edges


# ---- metrics on the draws of a null, of one chunk

MOST_SAID = 200  # characters of what a function said when it failed
HOPELESS = 20  # draws that a function may fail on, from the first on, before it is given up


@dataclass(slots=True)
class Values:
    """One metric on all draws: NaN where it is undefined, and what went wrong first where it failed."""

    values: FloatArray
    failed: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Metrics on the draws of one chunk, from their tables or from the detector of each draw."""

    series: Labelled
    layout: Layout
    metrics: tuple[Metric, ...]
    tables: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, metrics: tuple[Metric, ...], series: Labelled, layout: Layout) -> Part:
        """With the tables of all metrics that take windows of one long detector."""
        tables = [
            metric.tables(layout.long(series.detector(metric.needs, metric.text)), series)
            if by_windows(metric, layout)
            else None
            for metric in metrics
        ]
        return cls(series=series, layout=layout, metrics=metrics, tables=tuple(tables))

    def measure(self, draws: Draws, first: bool = False) -> list[Values]:
        """All metrics on these draws; on the first of all, a function that never works is given up."""
        return [
            self._measured(metric, tables, draws, first)
            for metric, tables in zip(self.metrics, self.tables, strict=True)
        ]

    def _measured(self, metric: Metric, tables: Any, draws: Draws, first: bool) -> Values:
        def value(i: int) -> FloatArray:
            if tables is not None:
                return metric.values(tables, draws.only(i))
            detector = self.layout.of(self.series, metric.needs, int(draws.begins[i]))
            return metric.values(metric.tables(detector, self.series), draws.only(i, begin=0))

        if not metric.compiled:
            return _one_by_one(metric, value, len(draws), first)
        if tables is not None:
            return Values(metric.values(tables, draws))
        return Values(np.array([value(i)[0] for i in range(len(draws))]))


def _one_by_one(metric: Metric, value: Callable[[int], FloatArray], n: int, first: bool) -> Values:
    found = Values(np.full(n, np.nan))
    for i in range(n):
        try:
            found.values[i] = value(i)[0]
        except Exception as error:  # whatever a function of the user's may raise
            found.failed += 1
            found.failure = found.failure or on_one_line(error)
            if first and found.failed == HOPELESS == i + 1:
                raise InputError(
                    argument="metric",
                    value=metric.text,
                    problem=f"failed on each of the first {HOPELESS} draws ({found.failure})",
                    remedy="it must accept any labels with the same number of labelled steps",
                ) from error
    return found


def on_one_line(error: Exception) -> str:
    """What went wrong, short enough for a note.

    >>> on_one_line(ValueError("two\\nlines"))
    'ValueError: two lines'
    """
    return shortened(f"{type(error).__name__}: {' '.join(str(error).split())}", MOST_SAID)


def by_windows(metric: Metric, layout: Layout) -> bool:
    """Whether a metric takes draws as windows of one long detector, so that tables are made once."""
    return layout.windows and (metric.any_window or layout.rotates)


# ---- metrics on the draws of a null: compiled ones in threads, functions one by one or in processes

MOST_NANOSECONDS = 4e9  # that all shifts may take, rather than random ones
TABLES = 150.0  # nanoseconds a step to make tables of a detector
WORTH_THREADS = 1e7  # nanoseconds of all draws below which starting threads costs more than they save
FIRST_FEW = 16  # draws that tell the size of numbers where drawing may stop early


def affordable(metrics: tuple[Metric, ...], series: Labelled, n_resamples: int | None) -> Callable[[Shifting], bool]:
    """Whether all shifts are enumerated: if there are no more of them than requested draws, or it takes only seconds.

    Without a number of draws, where these may stop early, only if all shifts are computed at once.
    """

    def is_affordable(shifting: Shifting) -> bool:
        n, layout = len(shifting.begins), shifting.layout
        slow = [metric for metric in metrics if not (isinstance(layout, Circle) and metric.at_once(series))]
        if n_resamples is None:
            return not slow
        return n <= n_resamples or n * cost_of(slow, series, layout) <= MOST_NANOSECONDS

    return is_affordable


def cost_of(metrics: Iterable[Metric], series: Labelled, layout: Layout) -> float:
    """About how many nanoseconds one draw takes."""
    return sum(
        metric.work(series) + (0.0 if by_windows(metric, layout) else TABLES * series.n_steps) for metric in metrics
    )


@dataclass(slots=True, kw_only=True)
class Stop:
    """Early stopping: at the draw of the h-th that reaches the observed value.

    Numbers of which size have been rounded is seen on the first few draws, whatever the chunks.
    """

    after: int
    bar: float
    side: Side
    scale: float
    looked: bool = False

    def reached(self, values: FloatArray) -> BoolArray:
        """Which values do, of the first chunk or of a later one."""
        if not self.looked:
            self.scale, self.looked = max(self.scale, scale_of(values[:FIRST_FEW])), True
        return reaching(values, self.bar, self.side, self.scale)


def measure(
    metrics: tuple[Metric, ...], series: Labelled, moves: Moves, *, workers: int | None, stop: Stop | None = None
) -> tuple[list[Values], tuple[str, ...]]:
    """All metrics on all draws, in order, and notes; with ``stop``, only up to the chunk in which it stops."""
    found: dict[int, list[Values]] = {}
    notes: list[str] = []
    at_once: list[int] = []
    drawn: list[int] = []
    functions: list[int] = []
    for i, metric in enumerate(metrics):
        fast = moves.listed and isinstance(moves.layout, Circle) and metric.at_once(series)
        (at_once if fast else drawn if metric.compiled else functions).append(i)
    begins = np.concatenate([moves.draws(chunk).begins for chunk in moves.chunks]) if at_once else None
    for i in at_once:
        rotations = metrics[i].every_rotation(series.detector(metrics[i].needs, metrics[i].text), series)
        found[i] = [Values(rotations[begins])]
    with progress_bar("resamples", moves.n * (bool(drawn) + bool(functions))) as advance:
        done = 0
        for which, run, many in _teams(metrics, drawn, functions, workers, notes):
            part = Part.of(tuple(metrics[i] for i in which), series, moves.layout)
            if workers is None and moves.n * cost_of(part.metrics, series, moves.layout) < WORTH_THREADS:
                many = 1
            reached = 0
            for results in run(part, moves, many):
                for i, values in zip(which, results, strict=True):
                    found.setdefault(i, []).append(values)
                done += len(results[0].values)
                advance(done)
                if stop is not None:
                    reached += int(stop.reached(results[0].values).sum())
                    if reached >= stop.after:
                        break
    joined = [_joined(found[i]) for i in range(len(metrics))]
    for metric, values in zip(metrics, joined, strict=True):
        if values.failed:
            notes.append(
                f"{metric.text} failed on {values.failed:,} of {len(values.values):,} draws (first: {values.failure}); "
                "these count as draws that do as well as the data."
            )
    return joined, tuple(notes)


def _joined(parts: list[Values]) -> Values:
    return Values(
        np.concatenate([part.values for part in parts]),
        sum(part.failed for part in parts),
        next((part.failure for part in parts if part.failure), ""),
    )


def _teams(
    metrics: tuple[Metric, ...], drawn: list[int], functions: list[int], workers: int | None, notes: list[str]
) -> Iterator[tuple[list[int], Any, int]]:
    """Who measures what: threads run compiled metrics, processes functions that can be sent, this process the rest."""
    if drawn:
        yield drawn, _in_threads, workers or os.cpu_count() or 1
    if (workers or 1) == 1:
        if functions:
            yield functions, _in_threads, 1
        return
    sent = [i for i in functions if can_pickle(metrics[i])]
    kept = [i for i in functions if i not in sent]
    if sent:
        yield sent, _in_processes, workers or 1
    if kept:
        names = ", ".join(metrics[i].text for i in kept)
        notes.append(
            f"{names} cannot be sent to other processes, so one process did all the work: define the function at the "
            "top of a module."
        )
        yield kept, _in_threads, 1


def _in_threads(part: Part, moves: Moves, workers: int) -> Iterator[list[Values]]:
    if workers == 1:
        yield from (part.measure(moves.draws(chunk), chunk == 0) for chunk in moves.chunks)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from _in_order(lambda draws, first: pool.submit(part.measure, draws, first), moves, workers)


def _in_processes(part: Part, moves: Moves, workers: int) -> Iterator[list[Values]]:
    import multiprocessing

    # threads of this process may hold locks: workers start from scratch rather than as a copy of it
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(part,)) as pool:
            yield from _in_order(lambda draws, first: pool.submit(_measure, draws, first), moves, workers)
    except (BrokenProcessPool, BrokenPipeError, RuntimeError) as error:
        raise InputError(
            argument="workers",
            value=workers,
            problem=f"cannot be used, since a process ended early ({type(error).__name__}). It may have run out of "
            'memory; or your script lacks the line if __name__ == "__main__":',
            remedy="pass fewer workers, or leave workers out",
        ) from error


def _in_order(
    submit: Callable[[Draws, bool], Future[list[Values]]], moves: Moves, workers: int
) -> Iterator[list[Values]]:
    """Results chunk by chunk, with as many under way as keep the workers busy."""
    waiting: list[Future[list[Values]]] = []
    try:
        for chunk in moves.chunks:
            waiting.append(submit(moves.draws(chunk), chunk == 0))
            if len(waiting) > 2 * workers:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


_part: Part | None = None


def _start(part: Part) -> None:
    global _part
    _part = part


def _measure(draws: Draws, first: bool) -> list[Values]:
    if _part is None:
        raise RuntimeError("a worker was used before it was started")
    return _part.measure(draws, first)


def stopped_at(reached: Any, after: int) -> int | None:
    """The draw, counted from 1, at which so many have reached the value; None if there is none.

    >>> stopped_at(np.array([False, True, False, True]), 2)
    4
    """
    at = np.flatnonzero(reached)
    return None if len(at) < after else int(at[after - 1]) + 1
