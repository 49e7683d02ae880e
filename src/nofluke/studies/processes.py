"""Tasks on processes of this machine, which survive the death of any of them and do not survive this one.

Not ``concurrent.futures``: there one worker killed breaks the pool, nothing tells which task it died of, and workers
outlive a parent that is killed. Here each worker has its own pipes, so that it is known what it was at.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from nofluke.errors import InputError, Remark, arg, say
from nofluke.studies.outcome import Outcome, attempt, reason_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

TRIES = 3
_NO_GUARD = 91  # exit code of a worker that ran the user's script from its start again
_OURS = "NOFLUKE_STUDY_WORKER"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "PYTHON_CPU_COUNT")


def leave_if_importing() -> None:
    """End a worker whose script lacks the guard: it would start the study again while loading the script."""
    import multiprocessing

    # multiprocessing raises an error at the same sign, which people do not understand
    if _OURS in os.environ and getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(_NO_GUARD)


def can_start() -> bool:
    """Whether this process may start others: a pool's own workers may not."""
    import multiprocessing

    return not multiprocessing.current_process().daemon


def in_processes(
    function: Callable[[Any], Any], tasks: Mapping[int, Any], workers: int
) -> Generator[Outcome, None, None]:
    """The outcomes of all tasks as they come, from so many workers.

    A worker that dies is replaced, and its task tried again; a task that was at hand at three deaths has failed. A
    worker is given its next task before it is done with the last, so that it never waits for this process.
    """
    sent = _as_bytes(function)
    waiting, deaths, early = deque(tasks), dict.fromkeys(tasks, 0), 0
    team: list[_Worker] = []
    try:
        for _ in range(workers):
            team.append(_Worker(sent))
        while waiting or any(worker.at for worker in team):
            for most in (1, 2):
                for worker in team:
                    # near the end nobody gets a second: another may be free sooner
                    while waiting and len(worker.at) < most and (most == 1 or len(waiting) > workers):
                        index = waiting.popleft()
                        worker.give(index, _as_bytes(tasks[index]))
            for worker in _ready(team):
                try:
                    outcome = worker.answer()
                except (EOFError, OSError):
                    worker.dismiss()
                    left = worker.bury()
                    early = 0 if worker.begun else early + 1
                    if worker.code == _NO_GUARD or early == TRIES:
                        raise _not_started(workers, worker.code) from None
                    if left and worker.begun:
                        deaths[left[0]] += 1
                        if deaths[left[0]] == TRIES:
                            died = Remark("process", "its process ended {} times ({}).", TRIES, _cause(worker.code))
                            yield Outcome(left[0], reason=died)
                            left = left[1:]
                    waiting.extendleft(reversed(left))
                    team[team.index(worker)] = _Worker(sent)
                else:
                    if outcome is not None:
                        early = 0
                        yield outcome
        for worker in team:
            worker.dismiss()
    finally:
        for worker in team:
            worker.bury()


def _as_bytes(thing: Any) -> bytes:
    try:
        return pickle.dumps(thing)
    except Exception as error:  # pickle raises whatever the object does
        raise InputError(
            argument="workers",
            problem=f"cannot be used, since the work cannot be sent to other processes ({error})",
            remedy=say("define functions at the top of a module, or pass {}", arg("workers", 1)),
        ) from None


class _Worker:
    """One process: what it is at, oldest first, and the pipes to and from it."""

    def __init__(self, function: bytes) -> None:
        import multiprocessing

        context = multiprocessing.get_context("spawn")  # nothing of this process's locks and threads
        theirs, self._tasks = context.Pipe(duplex=False)
        self.answers, back = context.Pipe(duplex=False)
        self.at: list[int] = []
        self.begun = False
        self.code: int | None = None
        # a daemon: ended with this process also where nobody gets to bury it
        self._process = context.Process(target=_work, args=(theirs, back, os.getpid()), daemon=True)
        try:
            with _environment_of_workers():
                self._process.start()
        except OSError as error:
            raise InputError(
                argument="workers",
                problem=f"cannot be used, since no process can be started ({error.strerror})",
                remedy=say("pass fewer, or {}", arg("workers", 1)),
            ) from None
        theirs.close()
        back.close()  # so that its end of the pipe is the only one, and ends with it
        with suppress(OSError):  # dead already: told when it is asked
            self._tasks.send_bytes(function)

    def give(self, index: int, task: bytes) -> None:
        self.at.append(index)
        with suppress(OSError):
            self._tasks.send_bytes(task)

    def answer(self) -> Outcome | None:
        """What became of its oldest task; nothing, when it has just begun."""
        told = self.answers.recv_bytes()
        if not self.begun:
            self.begun = True
            return None
        outcome: Outcome = pickle.loads(told)
        return replace(outcome, index=self.at.pop(0))

    def dismiss(self) -> None:
        """Let it go: it ends when nothing gives it tasks."""
        self._tasks.close()
        self._process.join(5)

    def bury(self) -> list[int]:
        """See to it that it is gone; return what it was at. A second time does nothing."""
        if self.code is None:
            self._process.kill()
            self._process.join()
            self.code = self._process.exitcode
            self._tasks.close()
            self.answers.close()
            self._process.close()
        left, self.at = self.at, []
        return left


def _ready(team: list[_Worker]) -> list[_Worker]:
    from multiprocessing.connection import wait

    ready = wait([worker.answers for worker in team])
    return [worker for worker in team if worker.answers in ready]


def _not_started(workers: int, code: int | None) -> InputError:
    if code == _NO_GUARD:
        return InputError(
            argument="workers",
            value=workers,
            problem="cannot be used, since other processes run your script from its start",
            remedy=say('put its work below the line if __name__ == "__main__":, or pass {}', arg("workers", 1)),
        )
    return InputError(
        argument="workers",
        value=workers,
        problem=f"cannot be used, since processes end before they begin ({_cause(code)})",
        remedy=say("pass fewer, or {}", arg("workers", 1)),
    )


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            name = signal.Signals(-code).name
            return f"{name}: out of memory?" if name == "SIGKILL" else name
    return f"exit code {code}"


@contextmanager
def _environment_of_workers() -> Iterator[None]:
    """Processes started meanwhile use one thread, as there is one per core. What the user has set stays."""
    added = {name: "1" for name in (*_THREADS, _OURS) if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _work(tasks: Connection[Any, Any], answers: Connection[Any, Any], parent: int) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent sees to it
    os.cpu_count = lambda: 1  # as PYTHON_CPU_COUNT, which Python knows since 3.13
    given: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, given, parent), daemon=True).start()
    answers.send_bytes(b"begun")
    function = pickle.loads(given.get())
    while True:
        answers.send_bytes(_answer(function, given.get()))


def _answer(function: Callable[[Any], Any], task: bytes) -> bytes:
    """The outcome of a task; one that cannot be read, or whose result cannot be sent, has failed."""
    try:
        return pickle.dumps(attempt(0, lambda data: function(pickle.loads(data)), task))
    except Exception as error:
        return pickle.dumps(Outcome(0, reason=reason_of(error)))


def _listen(tasks: Connection[Any, Any], given: SimpleQueue[bytes], parent: int) -> None:
    """Take in tasks, and end the process as soon as its parent is gone, whatever it is at."""
    with suppress(EOFError, OSError):
        while True:
            if tasks.poll(1):
                given.put(tasks.recv_bytes())
            elif os.getppid() != parent:  # a copy of the parent may hold the pipe open
                break
    os._exit(0)
