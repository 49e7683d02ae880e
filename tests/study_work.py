"""A stand-in for a study's computation, to test what surrounds it: importable by workers, quick, fails on demand."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nofluke.studies.store import CELLS, LAWS, TIMINGS, TRUTHS, Part

DETECTORS = ("a", "b")


@dataclass(frozen=True)
class FakeChunk:
    """Three series; ``log`` gets a line whenever they are computed, ``accident`` is what happens then."""

    number: int
    log: str
    seconds: float = 0.0
    accident: str = ""
    laws: int = 5

    @property
    def series(self):
        return tuple(f"series {self.number}-{i}" for i in range(3))


def fake_part(chunk):
    """The part of a chunk: the same numbers wherever and whenever; one cell of each chunk fails."""
    tried = len([line for line in logged(chunk.log) if line[0] == chunk.number])
    with open(chunk.log, "a") as file:
        file.write(f"{chunk.number} {os.getpid()}\n")
    time.sleep(chunk.seconds)
    if chunk.accident == "dies" or (chunk.accident == "dies once" and tried == 0):
        os.kill(os.getpid(), signal.SIGKILL)
    if chunk.accident == "raises":
        raise ValueError("nothing to be done")
    rng = np.random.default_rng(chunk.number)
    names = [(series, detector) for series in chunk.series for detector in DETECTORS]
    failed = {"series": [names[-1][0]], "group": ["g"], "detector": [names[-1][1]], "reason": ["3 NaN"]}
    return Part(
        cells=made(CELLS, names[:-1], rng),
        failed=failed,
        timings=made(TIMINGS, names[:-1], np.random.default_rng()),  # as real seconds, never the same
        laws=made(LAWS, names[:-1], rng, chunk.laws),
        truths=made(TRUTHS, [(series, "") for series in chunk.series], rng),
    )


def made(schema, names, rng, length=5):
    """Columns of a table for these cells, of any values."""
    n = len(names)
    kinds = {
        "VARCHAR": lambda: [f"word {i % 3}" for i in range(n)],
        "VARCHAR[]": lambda: [["note"] * (i % 3) for i in range(n)],
        "BIGINT": lambda: rng.integers(0, 100, n),
        "DOUBLE": lambda: np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
        "BOOLEAN": lambda: rng.random(n) < 0.5,
        "DOUBLE[]": lambda: [rng.random(length) for _ in range(n)],
        "BIGINT[]": lambda: [np.arange(i) for i in range(n)],
    }
    columns = {name: kinds[kind]() for name, kind in schema.items()}
    columns["series"] = [series for series, _ in names]
    return columns | ({"detector": [detector for _, detector in names]} if "detector" in schema else {})


def logged(log):
    """Which chunk was computed by which process, in order."""
    path = Path(log)
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()] if path.exists() else []
