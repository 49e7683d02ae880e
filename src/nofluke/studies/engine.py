"""Run a function on many tasks: in this process, on processes of this machine, or wherever an executor leads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import closing
from itertools import islice
from typing import Any

from nofluke.errors import InputError, Shown, Words, say
from nofluke.plain import as_whole
from nofluke.studies.outcome import NoRoom, Outcome, attempt, reason_of
from nofluke.studies.processes import can_start, in_processes, leave_if_importing
from nofluke.studies.tables import RESUMES

_PER_WORKER = 4  # tasks under way for each: enough that nobody waits, few enough that memory is bounded


def run(
    function: Callable[[Any], Any],
    tasks: Mapping[int, Any],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    on_done: Callable[[int, Any], object],
    on_failed: Callable[[int, Words], object],
) -> None:
    """Do all tasks, and hand over what comes out of them in this process, in no certain order.

    Parameters
    ----------
    function : callable
        What is done to each task. What it raises is the reason why that task has failed; the others go on.
    tasks : mapping of int to Any
        Tasks by their numbers.
    workers : int, optional
        Processes of this machine; 1 is this process. By default as many as there are cores to use, at most one a task.
    executor : concurrent.futures.Executor, optional
        What runs the tasks instead, such as ``client.get_executor(pure=False, retries=2)`` of dask.distributed.
    on_done : callable
        Called with number and result of a task; what it raises ends the run.
    on_failed : callable
        Called with number of a task and the reason why it has no result.

    Examples
    --------
    >>> done, failed = {}, {}
    >>> run(int, {0: "3", 1: "x"}, workers=1, on_done=done.__setitem__, on_failed=failed.__setitem__)
    >>> done, failed
    ({0: 3}, {1: "ValueError: invalid literal for int() with base 10: 'x' (outcome.py, line ...)"})
    """
    outcomes: Generator[Outcome, None, None]
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            raise InputError(
                argument="executor",
                value=executor,
                problem="must be a concurrent.futures.Executor",
                remedy="pass one, or leave it out",
            )
        outcomes = _in_executor(function, tasks, executor, _PER_WORKER * n_workers(workers, executor))
    else:
        leave_if_importing()
        many = min(n_workers(workers), len(tasks))
        if many > 1 and can_start():
            outcomes = in_processes(function, tasks, many)
        else:
            outcomes = (attempt(index, function, task) for index, task in tasks.items())
    with closing(outcomes):  # after Ctrl-C too: no worker is left behind
        for outcome in outcomes:
            if outcome.ends_all and outcome.reason is not None:
                raise NoRoom(problem=outcome.reason)
            if outcome.reason is not None:
                on_failed(outcome.index, outcome.reason)
            else:
                on_done(outcome.index, outcome.result)


def n_workers(workers: int | None, executor: Executor | None = None) -> int:
    """How many workers there are: as many as asked for, as the executor has, or as there are cores to use."""
    if workers is not None:
        return as_whole(workers, "workers", 1)
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(getattr(executor, "_max_workers", 0) or cores))


def _in_executor(
    function: Callable[[Any], Any], tasks: Mapping[int, Any], executor: Executor, most: int
) -> Generator[Outcome, None, None]:
    waiting = iter(tasks.items())
    under_way: dict[Future[Outcome], int] = {}
    try:
        while True:
            for index, task in islice(waiting, most - len(under_way)):
                under_way[_submit(executor, index, function, task)] = index
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                index = under_way.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if isinstance(error, BrokenExecutor | CancelledError):
                    raise _lost(executor, error) from None
                # an error that is not the function's: a task that kills each worker it comes to, or that cannot be sent
                yield future.result() if error is None else Outcome(index, reason=reason_of(error))
    finally:
        for future in under_way:
            future.cancel()


def _submit(executor: Executor, index: int, function: Callable[[Any], Any], task: Any) -> Future[Outcome]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # Dask's advice about data that are in this process
        try:
            return executor.submit(attempt, index, function, task)
        except RuntimeError as error:  # broken, or shut down
            raise _lost(executor, error) from None


def _lost(executor: Executor, error: BaseException) -> InputError:
    return InputError(
        argument="executor",
        value=Shown(type(executor).__name__),
        problem=f"has stopped working ({reason_of(error)})",
        remedy=say("pass a new one; finished work is kept, and {}", RESUMES),
    )
