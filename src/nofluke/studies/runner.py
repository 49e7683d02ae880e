"""Fill a study's folder: compute the missing parts, wherever that happens, and keep each as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from nofluke.errors import Words, interruptible
from nofluke.studies.cases import Chunk
from nofluke.studies.engine import run
from nofluke.studies.folder import Folder
from nofluke.studies.parts import Packed, pack
from nofluke.studies.schema import Part, Schema


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after what is told: every part that was finished is kept."""

    def __init__(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        super().__init__(f"stopped after {done:,} of {total:,} chunks: run the same again to resume.")


def fill(
    folder: Folder,
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
    folder : Folder
    function : callable
        Makes the part of a chunk; it must be one that can be sent to other processes. A chunk of which it raises has
        failed: each of its series is in the table of what failed, and is tried again when the study is resumed.
    chunks : sequence of Chunk
    detectors : int
        How many cells each series has.
    workers, executor
        As in `nofluke.studies.engine.run`.
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

        def keep(i: int, packed: Packed, again: bool = False) -> None:
            nonlocal done, seen
            folder.write_part(i, packed, again=again)
            have.add(i)
            done, seen = done + packed.rows["cells"], seen + total[i]
            tell()

        def tell() -> None:
            if progress is not None:
                progress(done, seen - done)

        def lose(i: int, reason: Words) -> None:
            keep(i, pack(failure(chunks[i], reason), folder.cells), again=True)

        tell()
        with interruptible():
            run(
                partial(_packed, function, folder.cells),
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


def _packed(function: Callable[[Any], Part], cells: Schema, chunk: Chunk) -> Packed:
    return pack(function(chunk), cells)
