"""A study's data once more: draws of all cells for pooling, by the engine that computed them, and the kept laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nofluke.errors import InputError
from nofluke.progress import progress_bar
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Chunk
from nofluke.studies.draws import Drawn, drawn_of
from nofluke.studies.engine import run
from nofluke.studies.folder import Folder
from nofluke.studies.lumped import Laws
from nofluke.studies.plan import Plan
from nofluke.studies.schema import MEASURES
from nofluke.studies.stored_laws import StoredLaws


def redrawn(
    plan: Plan, chunks: Sequence[Chunk], detectors: Sequence[str], asked: Asked, n: int, how: Mapping[str, Any]
) -> Drawn:
    """Draws of all cells, summed; ``how`` says on which workers."""
    # what cannot be read has nothing to be drawn, and is not tried again
    tasks = {
        i: task for i, task in enumerate(plan.tasks(chunks, detectors)) if task.nulls or task.together or task.mixed
    }
    total, lost, done = Drawn(), list[str](), 0
    with progress_bar("draws for pooling", len(tasks)) as advance:

        def keep(_: int, found: Drawn) -> None:
            nonlocal total, done
            total += found
            done += 1
            advance(done)

        def lose(_: int, reason: str) -> None:
            lost.append(reason)

        run(partial(drawn_of, asked=asked, n=n), tasks, on_done=keep, on_failed=lose, **how)
    if lost:
        raise InputError(problem="the data of this study could not be read again for pooling", remedy=lost[0])
    return total


def laws_of(folder: Folder, detector: str) -> Laws:
    """The laws of a detector's cells, by measure and series."""
    columns = folder.read("laws", where={"detector": detector})
    found: dict[str, dict[str, Any]] = {measure: {} for measure in MEASURES}
    for series, measure, law in zip(columns["series"], columns["measure"], StoredLaws(columns), strict=True):
        found[measure][series] = law
    return found
