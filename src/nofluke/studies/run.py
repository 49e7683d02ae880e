"""Compute the missing parts of a study: in this process, on processes of this machine, or wherever an executor leads.

From the bottom up: one task and what became of it; workers, which are processes of this machine; other executors, Dask
among them; `run`, which does many tasks on any of these; and `fill`, which keeps what comes out in a study's folder.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import islice
from queue import SimpleQueue
from typing import Any, BinaryIO

from nofluke.errors import InputError, Remark, Shown, Words, arg, interruptible, say
from nofluke.extras import needed
from nofluke.metrics import Function
from nofluke.plain import as_whole
from nofluke.studies.cases import Chunk, reason_of
from nofluke.studies.memory import Kept, Memory
from nofluke.studies.store import RESUMES, Folder, NoRoom, Packed, Part

# ---- one task, and what became of it


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a task, or, if there is a reason, none; some reasons end everything."""

    index: int
    result: Any = None
    reason: Words | None = None
    ends_all: bool = False


def attempt(index: int, function: Callable[[Any], Any], task: Any) -> Outcome:
    """Do a task; whatever it raises becomes a reason, which can be sent anywhere.

    >>> attempt(3, int, "7").result, attempt(4, int, "x").reason
    (7, "ValueError: invalid literal for int() with base 10: 'x' (run.py, line ...)")
    """
    try:
        with interruptible():  # Ctrl-C is no fault of the task's
            return Outcome(index, function(task))
    except Exception as error:
        return Outcome(index, reason=reason_of(error), ends_all=isinstance(error, NoRoom))


# ---- what is sent to other processes: functions of the caller's script and of notebooks go by value


def by_value(thing: Any) -> bytes:
    """Bytes that any process of the same installation can load, without the script or notebook that this one runs.

    What can be imported goes by its name, as in `pickle`. Functions and classes of ``__main__``, lambdas and closures
    are sent themselves: a worker could import them only by running the caller's script again, and cannot at all where
    that is a notebook or standard input.

    >>> pickle.loads(by_value(lambda x: x + 1))(2)
    3
    """
    from numba import cloudpickle

    base: Any = cloudpickle.CloudPickler

    class Pickler(base):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, Function):  # which leaves a function behind that `pickle` cannot send
                return _restored, (type(obj), dict(vars(obj)))
            return super().reducer_override(obj)

    buffer = io.BytesIO()
    made: Any = Pickler
    made(buffer).dump(thing)
    return buffer.getvalue()


def can_send(thing: Any) -> bool:
    """Whether workers can be given it."""
    try:
        by_value(thing)
    except Exception:  # whatever the object raises
        return False
    return True


def _restored(kind: type[Function], state: dict[str, Any]) -> Function:
    made = object.__new__(kind)
    made.__dict__.update(state)
    return made


def _as_bytes(thing: Any, how: Callable[[Any], bytes] = pickle.dumps) -> bytes:
    try:
        return how(thing)
    except Exception as error:  # whatever the object raises
        raise InputError(
            argument="workers",
            problem=f"cannot be used, since the work cannot be sent to other processes ({error})",
            remedy=say("define functions at the top of a module, or pass {}", arg("workers", 1)),
        ) from None


# ---- workers: processes that survive the death of any of them and do not survive this one
#
# Not concurrent.futures or loky: there one worker killed breaks the pool, nothing tells which task it died of, and
# workers outlive a parent that is killed. Here each worker has its own pipes, so that it is known what it was at. Not
# multiprocessing either: it runs the caller's script in every worker. A worker is a fresh interpreter that knows where
# modules are and imports those that its function needs.

TRIES = 3
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "PYTHON_CPU_COUNT")
_WORK = (
    "import pickle, sys; sys.path[:], parent = pickle.load(sys.stdin.buffer); "
    "from nofluke.studies.run import work; work(parent)"
)
_state = {"worker": False, "loading": False}  # what this process is


def refuse_while_loading() -> None:
    """Refuse to start a study from a module that a worker of another study is just importing."""
    if _state["loading"]:
        raise InputError(
            problem="a module that workers import starts a study as it is imported",
            remedy=say('put that below the line if __name__ == "__main__":, or pass {}', arg("workers", 1)),
        )


def can_start() -> bool:
    """Whether this process may start others: workers may not, neither ours nor another pool's."""
    import multiprocessing

    frozen = getattr(sys, "frozen", False)  # a program without an interpreter of its own
    return not (_state["worker"] or multiprocessing.current_process().daemon or frozen)


def in_processes(
    function: Callable[[Any], Any], tasks: Mapping[int, Any], workers: int
) -> Generator[Outcome, None, None]:
    """The outcomes of all tasks as they come, from so many workers.

    A worker that dies is replaced, and its task tried again; a task that was at hand at three deaths has failed. A
    worker is given its next task before it is done with the last, so that it never waits for this process.
    """
    sent = _as_bytes(function, by_value)
    waiting, deaths, early = deque(tasks), dict.fromkeys(tasks, 0), 0
    answers: SimpleQueue[tuple[_Worker, bytes | None]] = SimpleQueue()
    team: list[_Worker] = []
    try:
        for _ in range(workers):
            team.append(_Worker(sent, answers))
        while waiting or any(worker.at for worker in team):
            for most in (1, 2):
                for worker in team:
                    # near the end nobody gets a second: another may be free sooner
                    while waiting and len(worker.at) < most and (most == 1 or len(waiting) > workers):
                        index = waiting.popleft()
                        worker.give(index, _as_bytes(tasks[index]))
            worker, told = answers.get()
            if told is not None:
                early = 0
                outcome = worker.outcome(told)
                if outcome is not None:
                    yield outcome
            elif worker in team:
                left = worker.bury()
                early = 0 if worker.begun else early + 1
                if early == TRIES:
                    raise InputError(
                        argument="workers",
                        value=workers,
                        problem=f"cannot be used, since processes end before they begin ({_cause(worker.code)})",
                        remedy=say("pass fewer, or {}", arg("workers", 1)),
                    )
                if left and worker.begun:
                    deaths[left[0]] += 1
                    if deaths[left[0]] == TRIES:
                        died = Remark("process", "its process ended {} times ({}).", TRIES, _cause(worker.code))
                        yield Outcome(left[0], reason=died)
                        left = left[1:]
                waiting.extendleft(reversed(left))
                team[team.index(worker)] = _Worker(sent, answers)
        for worker in team:
            worker.dismiss()
    finally:
        for worker in team:
            worker.bury()


class _Worker:
    """One process: what it is at, oldest first, the pipe to it, and a thread that listens to it."""

    def __init__(self, function: bytes, answers: SimpleQueue[tuple[_Worker, bytes | None]]) -> None:
        self.at: list[int] = []
        self.begun = False
        self.code: int | None = None
        self._process = _started()
        self._listener = threading.Thread(target=self._listen, args=(answers,), daemon=True)
        self._listener.start()
        self._give(pickle.dumps((sys.path, os.getpid())), framed=False)
        self._give(function)

    def _listen(self, answers: SimpleQueue[tuple[_Worker, bytes | None]]) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            while (told := _receive(self._process.stdout)) is not None:
                answers.put((self, told))
        answers.put((self, None))

    def _give(self, data: bytes, framed: bool = True) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # dead already: told by its end
            if framed:
                _send(self._process.stdin, data)
            else:
                self._process.stdin.write(data)

    def give(self, index: int, task: bytes) -> None:
        self.at.append(index)
        self._give(task)

    def outcome(self, told: bytes) -> Outcome | None:
        """What became of its oldest task; nothing, when it has just begun."""
        found = pickle.loads(told)
        if self.begun:
            outcome: Outcome = replace(found, index=self.at.pop(0))
            return outcome
        if found is not None:
            raise InputError(
                argument="workers",
                problem=say("cannot be used, since other processes cannot load the work ({})", found),
                remedy=say("see to it that they can import it, or pass {}", arg("workers", 1)),
            )
        self.begun = True
        return None

    def dismiss(self) -> None:
        """Let it go: it ends when nothing gives it tasks."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

    def bury(self) -> list[int]:
        """See to it that it is gone; return what it was at. A second time does nothing."""
        if self.code is None:
            self._process.kill()  # nothing to one that has ended
            self.code = self._process.wait()
            self._listener.join(1)
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
        left, self.at = self.at, []
        return left


def _started() -> subprocess.Popen[bytes]:
    """A fresh interpreter of one thread, as there is one per core; what the user has set of that stays."""
    from multiprocessing.spawn import get_executable
    from multiprocessing.util import _args_from_interpreter_flags  # type: ignore[attr-defined]

    command = [os.fsdecode(get_executable() or sys.executable), *_args_from_interpreter_flags(), "-c", _WORK]
    environment = {**dict.fromkeys(_THREADS, "1"), **os.environ}
    try:
        with _without_ctrl_c() as flags:
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, creationflags=flags
            )
    except OSError as error:
        raise InputError(
            argument="workers",
            problem=f"cannot be used, since no process can be started ({error.strerror})",
            remedy=say("pass fewer, or {}", arg("workers", 1)),
        ) from None


@contextmanager
def _without_ctrl_c() -> Iterator[int]:
    """Processes started meanwhile do not hear Ctrl-C, which reaches the whole group: this process sees to them."""
    if sys.platform == "win32":
        yield subprocess.CREATE_NEW_PROCESS_GROUP
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # new processes inherit it
    try:
        yield 0
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            name = signal.Signals(-code).name
            return f"{name}: out of memory?" if name == "SIGKILL" else name
    return f"exit code {code}"


def _send(pipe: BinaryIO | Any, data: bytes) -> None:
    """Bytes with their number before them."""
    pipe.write(struct.pack("<Q", len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: BinaryIO | Any) -> bytes | None:
    """The bytes that were sent; None at the end, be it in their midst."""
    head = pipe.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    data: bytes = pipe.read(size)
    return data if len(data) == size else None


def work(parent: int) -> None:
    """The life of a worker: its function, then one task after another, until nobody gives it any."""
    _state["worker"] = _state["loading"] = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.cpu_count = lambda: 1  # as PYTHON_CPU_COUNT, which Python knows since 3.13
    # what user's functions print goes to standard error: standard output leads to the parent
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_take_in, args=(given,), daemon=True).start()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    try:
        function = pickle.loads(given.get())
    except Exception as error:
        _send(answers, pickle.dumps(reason_of(error)))
        return
    _state["loading"] = False
    _send(answers, pickle.dumps(None))
    while True:
        _send(answers, _answer(function, given.get()))


def _answer(function: Callable[[Any], Any], task: bytes) -> bytes:
    """The outcome of a task; one that cannot be read, or whose result cannot be sent, has failed."""
    try:
        return pickle.dumps(attempt(0, lambda data: function(pickle.loads(data)), task))
    except Exception as error:
        return pickle.dumps(Outcome(0, reason=reason_of(error)))


def _take_in(given: SimpleQueue[bytes]) -> None:
    """Tasks as they come; their end is the end of the process, whatever it is at."""
    with suppress(OSError):
        while (data := _receive(sys.stdin.buffer)) is not None:
            given.put(data)
    os._exit(0)


def _watch(parent: int) -> None:
    """End the process as soon as its parent is gone, though a copy of it may hold the pipe open."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


# ---- executors of other libraries

_PER_WORKER = 4  # tasks under way for each: enough that nobody waits, few enough that memory is bounded
_SECONDS = 10  # to wait for a scheduler of Dask's


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


@contextmanager
def dask_executor(
    address: str, *, workers: int | None = None, say: Callable[[str], object] | None = None
) -> Iterator[Executor]:
    """What runs a study's tasks on Dask, until the end of the block.

    Parameters
    ----------
    address : str
        Of a scheduler, such as "tcp://10.0.0.5:8786"; or "local", for a cluster of processes that is started here and
        ends with the block.
    workers : int, optional
        Processes of a local cluster; by default as many as there are cores to use.
    say : callable, optional
        Told in a sentence where the dashboard is.

    Raises
    ------
    InputError
        If dask.distributed is not installed, or there is no answer at the address.
    """
    needed("distributed", "dask needs")
    from distributed import Client, LocalCluster
    from distributed.comm import get_address_host_port

    with ExitStack() as stack:
        target: Any = address
        if address == "local":
            many = n_workers(workers)
            # one thread each: most of the work holds Python's lock
            target = stack.enter_context(
                LocalCluster(n_workers=many, threads_per_worker=1, dashboard_address="127.0.0.1:0")
            )
        try:
            if target is address:
                get_address_host_port(address)  # of one that is none, a client would be half made, and hang at the end
            client = stack.enter_context(Client(target, timeout=_SECONDS, set_as_default=False))
        except (OSError, ValueError) as error:
            raise InputError(
                argument="dask",
                value=address,
                problem=f"has no scheduler that answers ({type(error).__name__})",
                remedy="check that it is running, and pass its address, such as tcp://10.0.0.5:8786, or 'local'",
            ) from None
        if say is not None:
            missing = "" if find_spec("bokeh") else " (it shows more after pip install bokeh)"
            say(f"Dask's dashboard is at {client.dashboard_link}{missing}")
        # not pure: Dask would keep results by their arguments; twice more where a worker is lost
        yield client.get_executor(pure=False, retries=2)


# ---- many tasks, wherever they are done


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
    ({0: 3}, {1: "ValueError: invalid literal for int() with base 10: 'x' (run.py, line ...)"})
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


# ---- the parts of a study


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after what is told: every part that was finished is kept."""

    def __init__(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        super().__init__(f"stopped after {done:,} of {total:,} chunks: run the same again to resume.")


def fill(
    folder: Folder | Memory,
    function: Callable[[Any], Part],
    chunks: Sequence[Chunk],
    *,
    detectors: int,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Compute the missing parts of a folder that has been begun, and finish it.

    Parameters
    ----------
    folder : Folder or Memory
    function : callable
        Makes the part of a chunk; it must be one that can be sent to other processes. A chunk of which it raises has
        failed: each of its series is in the table of what failed, and is tried again when the study is resumed.
    chunks : sequence of Chunk
    detectors : int
        How many cells each series has.
    workers, executor
        As in `run`.
    progress : callable, optional
        Called with cells done and cells failed so far, those of earlier runs included: first before anything is
        computed, then after each part.

    Raises
    ------
    Stopped
        On Ctrl-C.
    """
    total = [len(chunk.series) * detectors for chunk in chunks]
    have: set[int] = set()
    try:
        have |= folder.have()
        done, seen = folder.rows("cells"), sum(total[i] for i in have)
        todo = {i: chunk for i, chunk in enumerate(chunks) if i not in have}

        def keep(i: int, packed: Any, again: bool = False) -> None:
            nonlocal done, seen
            folder.write_part(i, packed, again=again)
            have.add(i)
            done, seen = done + packed.rows["cells"], seen + total[i]
            tell()

        def tell() -> None:
            if progress is not None:
                progress(done, seen - done)

        def lose(i: int, reason: Words) -> None:
            keep(i, folder.packing()(failure(chunks[i], reason)), again=True)

        tell()
        with interruptible():
            run(
                partial(_packed, function, folder.packing()),
                todo,
                workers=workers,
                executor=executor,
                on_done=keep,
                on_failed=lose,
            )
            folder.finish()
    except KeyboardInterrupt:
        raise Stopped(len(have), len(chunks)) from None


def failure(chunk: Chunk, reason: Words) -> Part:
    """The part of a chunk of which nothing else is known than why."""
    names = list(chunk.series)
    blank = [""] * len(names)
    rows = {"series": names, "group": blank, "detector": blank, "reason": [reason] * len(names)}
    return Part(cells={}, failed=rows, timings={}, laws={}, truths={})


def _packed(function: Callable[[Any], Part], pack: Callable[[Part], Packed | Kept], chunk: Chunk) -> Packed | Kept:
    return pack(function(chunk))
