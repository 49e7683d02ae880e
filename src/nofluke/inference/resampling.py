"""Metrics on the draws of a null: compiled ones in threads, functions one by one or in processes, with the same answer for all.

A function that fails on a draw has no value there. That is counted as a draw which reaches the observed value, and told.

The section "Stopping early" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.base import Shifting
from nofluke.nulls.layouts import Circle, Layout
from nofluke.nulls.moves import Moves
from nofluke.progress import progress_bar

MOST_NANOSECONDS = 4e9  # that all shifts may take, rather than random ones
TABLES = 150.0  # nanoseconds a step to make tables of a detector
HOPELESS = 20  # draws that a function may fail on, one after the other from the first, before it is given up


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
            if _by_windows(metric, layout)
            else None
            for metric in metrics
        ]
        return cls(series=series, layout=layout, metrics=metrics, tables=tuple(tables))

    def measure(self, draws: Draws) -> list[Values]:
        """All metrics on these draws."""
        return [
            self._by_rows(metric, draws) if tables is None else self._by_windows(metric, tables, draws)
            for metric, tables in zip(self.metrics, self.tables, strict=True)
        ]

    def _by_windows(self, metric: Metric, tables: Any, draws: Draws) -> Values:
        if metric.compiled:
            return Values(metric.values(tables, draws))
        return _one_by_one(metric, lambda i: metric.values(tables, draws.only(i)), len(draws))

    def _by_rows(self, metric: Metric, draws: Draws) -> Values:
        def value(i: int) -> FloatArray:
            detector = self.layout.of(self.series, metric.needs, int(draws.begins[i]))
            return metric.values(metric.tables(detector, self.series), draws.only(i, begin=0))

        if metric.compiled:
            return Values(np.array([value(i)[0] for i in range(len(draws))]))
        return _one_by_one(metric, value, len(draws))


def _one_by_one(metric: Metric, value: Callable[[int], FloatArray], n: int) -> Values:
    found = Values(np.full(n, np.nan))
    for i in range(n):
        try:
            found.values[i] = value(i)[0]
        except Exception as error:  # whatever a function of the user's may raise
            found.failed += 1
            found.failure = found.failure or f"{type(error).__name__}: {error}"
            if found.failed == HOPELESS == i + 1:
                raise InputError(
                    f"metric={metric.text!r} failed on each of {HOPELESS} draws one after the other ({found.failure}): it must take "
                    "any labels with as many labelled steps."
                ) from error
    return found


def _by_windows(metric: Metric, layout: Layout) -> bool:
    return layout.windows and (metric.any_window or layout.rotates)


def affordable(metrics: tuple[Metric, ...], series: Labelled, n_resamples: int) -> Callable[[Shifting], bool]:
    """Whether all shifts are gone through: where they are no more than the draws asked for, or take seconds only."""

    def is_affordable(shifting: Shifting) -> bool:
        n, layout = len(shifting.begins), shifting.layout
        if n <= n_resamples:
            return True
        costs = [
            0.0
            if isinstance(layout, Circle) and metric.at_once(series)
            else metric.work(series) + (0.0 if _by_windows(metric, layout) else TABLES * series.n_steps)
            for metric in metrics
        ]
        return n * sum(costs) <= MOST_NANOSECONDS

    return is_affordable


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Early stopping: at the draw of the h-th that reaches the observed value, as ``reached`` has it."""

    after: int
    reached: Callable[[FloatArray], Any]


def measure(
    metrics: tuple[Metric, ...], series: Labelled, moves: Moves, *, workers: int | None, stop: Stop | None = None
) -> tuple[list[Values], tuple[str, ...]]:
    """All metrics on all draws, in the order of drawing, and what there is to note. With ``stop``, up to the chunk in which it stops."""
    found: dict[int, list[Values]] = {}
    notes: list[str] = []
    at_once: list[int] = []
    drawn: list[int] = []
    functions: list[int] = []
    for i, metric in enumerate(metrics):
        fast = moves.listed and isinstance(moves.layout, Circle) and metric.at_once(series)
        (at_once if fast else drawn if metric.compiled else functions).append(i)
    for i in at_once:
        rotations = metrics[i].every_rotation(series.detector(metrics[i].needs, metrics[i].text), series)
        begins = np.concatenate([moves.draws(chunk).begins for chunk in moves.chunks])
        found[i] = [Values(rotations[begins])]
    with progress_bar("resamples", moves.n * bool(drawn) + moves.n * bool(functions)) as advance:
        done = 0
        for which, run in ((drawn, _in_threads), (functions, _in_processes)):
            if not which:
                continue
            part = Part.of(tuple(metrics[i] for i in which), series, moves.layout)
            reached, many = 0, workers if workers is not None else (os.cpu_count() or 1 if run is _in_threads else 1)
            with run(part, many, notes) as submit:
                for results in _in_order(submit, moves, many):
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
                f"{metric.text} failed on {values.failed:,} of {len(values.values):,} draws (first: {values.failure}); these count as "
                "draws that reach the observed value."
            )
    return joined, tuple(notes)


def _joined(parts: list[Values]) -> Values:
    return Values(
        np.concatenate([part.values for part in parts]),
        sum(part.failed for part in parts),
        next((part.failure for part in parts if part.failure), ""),
    )


Submit = Callable[[Draws], "Future[list[Values]]"]


def _in_order(submit: Submit, moves: Moves, workers: int) -> Iterator[list[Values]]:
    """Results chunk by chunk, with as many under way as keep the workers busy."""
    waiting: list[Future[list[Values]]] = []
    try:
        for chunk in moves.chunks:
            waiting.append(submit(moves.draws(chunk)))
            if len(waiting) > 2 * workers or workers == 1:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def _in_threads(part: Part, workers: int, notes: list[str]) -> Iterator[Submit]:
    del notes
    if workers == 1:
        yield lambda draws: _now(part.measure, draws)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield lambda draws: pool.submit(part.measure, draws)


@contextmanager
def _in_processes(part: Part, workers: int, notes: list[str]) -> Iterator[Submit]:
    if workers > 1:
        try:
            pickle.dumps(part.metrics)
        except Exception as error:  # lambdas, closures, locks: each fails in its own way
            names = ", ".join(metric.text for metric in part.metrics)
            notes.append(
                f"{names} cannot be sent to other processes ({type(error).__name__}), so that one did all the work: define the "
                "function at the top of a module."
            )
            workers = 1
    if workers == 1:
        yield lambda draws: _now(part.measure, draws)
        return
    import multiprocessing

    # threads of this process may hold locks: workers start from scratch rather than as a copy of it
    context = multiprocessing.get_context(
        "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    )
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(part,)) as pool:
            yield lambda draws: pool.submit(_measure, draws)
    except (BrokenProcessPool, BrokenPipeError, RuntimeError) as error:
        raise InputError(
            f"workers={workers}: the processes ended early ({type(error).__name__}); begin your script with "
            'if __name__ == "__main__":, or leave workers out.'
        ) from error


_part: Part | None = None


def _start(part: Part) -> None:
    global _part
    _part = part


def _measure(draws: Draws) -> list[Values]:
    if _part is None:
        raise RuntimeError("a worker was asked before it was started")
    return _part.measure(draws)


def _now(function: Callable[[Draws], list[Values]], draws: Draws) -> Future[list[Values]]:
    future: Future[list[Values]] = Future()
    future.set_result(function(draws))
    return future


def stopped_at(reached: Any, after: int) -> int | None:
    """The draw, counted from 1, at which so many have reached the value; None if there is none.

    >>> stopped_at(np.array([False, True, False, True]), 2)
    4
    """
    at = np.flatnonzero(reached)
    return None if len(at) < after else int(at[after - 1]) + 1
