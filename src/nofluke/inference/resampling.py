"""Metrics on the draws of a null: compiled ones in threads, functions one by one or in processes, same answer for all.

A function that fails on a draw has no value there. That is counted as a draw which reaches the observed value, and
told.

The section "Stopping early" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.errors import InputError
from nofluke.inference.measuring import Part, Values, by_windows
from nofluke.inference.reached import Side, reaching, scale_of
from nofluke.metrics.base import Metric
from nofluke.metrics.draws import Draws
from nofluke.metrics.functions import can_pickle
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.base import Shifting
from nofluke.nulls.layouts import Circle
from nofluke.nulls.moves import Moves
from nofluke.progress import progress_bar

MOST_NANOSECONDS = 4e9  # that all shifts may take, rather than random ones
TABLES = 150.0  # nanoseconds a step to make tables of a detector
FIRST_FEW = 16  # draws that tell the size of numbers where drawing may stop early


def affordable(metrics: tuple[Metric, ...], series: Labelled, n_resamples: int | None) -> Callable[[Shifting], bool]:
    """Whether all shifts are enumerated: if there are no more of them than requested draws, or it takes only seconds.

    Without a number of draws, where these may stop early, only if all shifts are computed at once.
    """

    def is_affordable(shifting: Shifting) -> bool:
        n, layout = len(shifting.begins), shifting.layout
        if n_resamples is None:
            return isinstance(layout, Circle) and all(metric.at_once(series) for metric in metrics)
        if n <= n_resamples:
            return True
        costs = [
            0.0
            if isinstance(layout, Circle) and metric.at_once(series)
            else metric.work(series) + (0.0 if by_windows(metric, layout) else TABLES * series.n_steps)
            for metric in metrics
        ]
        return n * sum(costs) <= MOST_NANOSECONDS

    return is_affordable


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
            reached = 0
            with run(part, many) as submit:
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


Submit = Callable[[Draws, bool], "Future[list[Values]]"]


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


def _in_order(submit: Submit, moves: Moves, workers: int) -> Iterator[list[Values]]:
    """Results chunk by chunk, with as many under way as keep the workers busy."""
    waiting: list[Future[list[Values]]] = []
    try:
        for chunk in moves.chunks:
            waiting.append(submit(moves.draws(chunk), chunk == 0))
            if len(waiting) > 2 * workers or workers == 1:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def _in_threads(part: Part, workers: int) -> Iterator[Submit]:
    if workers == 1:
        yield lambda draws, first: _now(part.measure, draws, first)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield lambda draws, first: pool.submit(part.measure, draws, first)


@contextmanager
def _in_processes(part: Part, workers: int) -> Iterator[Submit]:
    import multiprocessing

    # threads of this process may hold locks: workers start from scratch rather than as a copy of it
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(part,)) as pool:
            yield lambda draws, first: pool.submit(_measure, draws, first)
    except (BrokenProcessPool, BrokenPipeError, RuntimeError) as error:
        raise InputError(
            argument="workers",
            value=workers,
            problem=f"cannot be used, since a process ended early ({type(error).__name__}). It may have run out of "
            'memory; or your script lacks the line if __name__ == "__main__":',
            remedy="pass fewer workers, or leave workers out",
        ) from error


_part: Part | None = None


def _start(part: Part) -> None:
    global _part
    _part = part


def _measure(draws: Draws, first: bool) -> list[Values]:
    if _part is None:
        raise RuntimeError("a worker was used before it was started")
    return _part.measure(draws, first)


def _now(function: Callable[[Draws, bool], list[Values]], draws: Draws, first: bool) -> Future[list[Values]]:
    future: Future[list[Values]] = Future()
    future.set_result(function(draws, first))
    return future


def stopped_at(reached: Any, after: int) -> int | None:
    """The draw, counted from 1, at which so many have reached the value; None if there is none.

    >>> stopped_at(np.array([False, True, False, True]), 2)
    4
    """
    at = np.flatnonzero(reached)
    return None if len(at) < after else int(at[after - 1]) + 1
