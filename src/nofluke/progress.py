"""A progress bar where a person looks on, plain without rich; in the log of a command a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PLAIN_SECONDS = 0.5  # between two plain lines
_LOG_SECONDS = 30.0  # between two lines in a log: what takes less leaves none
_logged = False


def is_watched(stream: Any) -> bool:
    """Whether a person looks on: the stream is a terminal. Services have no streams, and a stream may be closed."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def log_progress() -> None:
    """Write lines to standard error where it is no terminal, as the command line does; the library stays silent."""
    global _logged
    _logged = True


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes how much is done; it draws a bar on a terminal's standard error, or logs lines."""
    if not is_watched(sys.stderr):
        log = _log_lines()
        yield lambda done: log(f"{label}: {done:,} of {total:,}")
        return
    if not has_rich():
        with _plain_line() as show:
            yield lambda done: show(f"{label}: {done:,} of {total:,}")
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def cells_bar(label: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of the cells done and the cells failed; on a terminal it shows both, and the time left.

    The first call says where a study that is resumed begins: what earlier runs did tells nothing of the pace.
    """
    if not is_watched(sys.stderr):
        log = _log_lines()
        yield lambda done, failed: log(f"{label}: {done + failed:,} of {total:,} cells{_failures(failed)}")
        return
    if not has_rich():
        with _plain_line() as show:
            yield lambda done, failed: show(f"{label}: {done + failed:,} of {total:,} cells{_failures(failed)}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    counts = TextColumn("{task.completed:,.0f} of {task.total:,.0f} cells[red]{task.fields[failed]}")
    columns = (TextColumn("{task.description}"), BarColumn(), counts, TimeRemainingColumn(elapsed_when_finished=True))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: list[Any] = []

        def advance(done: int, failed: int) -> None:
            words = _failures(failed)
            if tasks:
                bar.update(tasks[0], completed=done + failed, failed=words)
            else:
                tasks.append(bar.add_task(label, total=total, completed=done + failed, failed=words))

        yield advance


def has_rich() -> bool:
    """Whether there is rich for a terminal; it comes with the command line."""
    try:
        return find_spec("rich") is not None
    except ValueError:  # as tests take it away
        return False


def _failures(failed: int) -> str:
    return f", {failed:,} failed" if failed else ""


def _log_lines() -> Callable[[str], None]:
    """A function that writes a line to standard error, if the last is long ago; nothing where nothing is logged."""
    last = time.monotonic()

    def log(text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if _logged and now - last >= _LOG_SECONDS:
            last = now
            with suppress(OSError, ValueError, AttributeError):  # no stream, or a closed one
                print(f"nofluke: {text}", file=sys.stderr, flush=True)

    return log


@contextmanager
def _plain_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line over the one before; it is gone at the end."""
    width, last = 0, 0.0

    def show(text: str) -> None:
        nonlocal width, last
        now = time.monotonic()
        if now - last >= _PLAIN_SECONDS:
            width, last = max(width, len(text)), now
            print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if width:
            print(f"\r{'':<{width}}\r", end="", file=sys.stderr, flush=True)


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel was compiled in this process, or by an earlier run that has left it in the cache."""
    made = kernel.dispatcher
    index = getattr(getattr(made._cache, "_cache_file", None), "_index_path", None)
    return bool(made.signatures) or (index is not None and Path(index).exists())


def announce_compilation(kernel: Any, seconds: int) -> None:
    """Say on a terminal that a kernel is about to be compiled, if it is."""
    if is_watched(sys.stderr) and not is_compiled(kernel):
        print(f"nofluke: compiling once for this machine (about {seconds} s) ...", file=sys.stderr, flush=True)
