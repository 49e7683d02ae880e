"""Pooled rows in the folder of a study: they are drawn from the data, which a folder does not hold."""

from __future__ import annotations

import json
from pathlib import Path

from nofluke.data.paths import write_file
from nofluke.errors import InputError
from nofluke.studies.pooled_row import Pooled

NAME = "pooled.json"


def keep(folder: Path, rows: tuple[Pooled, ...], n_resamples: int, level: float) -> None:
    """Write the rows that were pooled with so many draws and intervals of that level."""
    told = {"n_resamples": n_resamples, "level": level, "rows": [row.to_dict() for row in rows]}
    write_file(folder / NAME, json.dumps(told, indent=1) + "\n", str(folder / NAME))


def stored(folder: Path, n_resamples: int, level: float) -> tuple[Pooled, ...]:
    """The rows that were kept; refuses other settings than theirs."""
    try:
        told = json.loads((folder / NAME).read_bytes())
    except (OSError, ValueError):
        told = None
    if told is None or (told["n_resamples"], told["level"]) != (n_resamples, level):
        raise InputError(
            problem="pooling needs the data, which an opened folder does not hold",
            remedy="call nf.study again with the same arguments",
        )
    return tuple(Pooled.of_dict(row) for row in told["rows"])
