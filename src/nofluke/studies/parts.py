"""A chunk's results as bytes: packed where computed, written where the study is, checked when found again."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from nofluke.errors import packed, unpacked
from nofluke.studies.outcome import NoRoom
from nofluke.studies.schema import CELLS, FAILED, LAWS, TIMINGS, TRUTHS, Part, Schema, Values
from nofluke.studies.tables import KEPT, Columns, explained, put_table

_SAID = "said"  # in files, a reason with its kind and its parts, beside its text
TABLES: Mapping[str, Schema] = {
    "cells": CELLS,
    "failed": {**FAILED, _SAID: "VARCHAR"},
    "timings": TIMINGS,
    "laws": LAWS,
    "truths": TRUTHS,
}
"""The tables in files; in memory those of `nofluke.studies.schema`."""
_INDEX = "part.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The tables of a part as Parquet, and how many rows each has."""

    tables: Mapping[str, bytes] = field(repr=False)
    rows: Mapping[str, int]


def pack(part: Part, cells: Schema = CELLS) -> Packed:
    """The part as bytes that travel well: written where it was computed, so that the study's process only stores them.

    ``cells`` are the columns of its first table, with those of metrics.
    """
    tables, rows = {}, {}
    with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
        for name, schema in {**TABLES, "cells": cells}.items():
            values = getattr(part, name)
            rows[name] = len(next(iter(values.values()), ()))
            tables[name] = (
                _parquet(Path(folder, name), _for_files(name, values), schema)
                if rows[name]
                else _empty(tuple(schema.items()))
            )
    return Packed(tables=tables, rows=rows)


def _for_files(table: str, values: Values) -> Values:
    """A table with its sentences as files have them."""
    if table == "failed":
        return {**values, _SAID: list(map(packed, values["reason"]))}
    if table == "truths":
        return {**values, "notes": [list(map(packed, notes)) for notes in values["notes"]]}
    return values


def from_files(table: str, values: Columns) -> Columns:
    """A table that was read from files, with its sentences as they were written."""
    if table == "failed" and _SAID in values:
        values["reason"][:] = list(map(unpacked, values.pop(_SAID)))
    if table == "truths" and "notes" in values:
        values["notes"][:] = [list(map(unpacked, notes)) for notes in values["notes"]]
    return values


def _parquet(path: Path, values: Values, schema: Schema) -> bytes:
    with explained(path):
        put_table(path, values, schema)
        return path.read_bytes()


@lru_cache(maxsize=16)
def _empty(schema: tuple[tuple[str, str], ...]) -> bytes:
    """A table without rows, as what failed mostly is."""
    with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
        return _parquet(Path(folder, "empty"), {}, dict(schema))


def write_part(place: Path, packed: Packed, again: bool) -> dict[str, Any]:
    """Write a part's tables and checksums to a folder in one go; ``again`` marks one to compute once more."""
    index = {
        "again": again,
        "rows": dict(packed.rows),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in packed.tables.items()},
    }
    beside = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    files = {f"{name}.parquet": data for name, data in packed.tables.items()}
    try:
        beside.mkdir()
        for name, data in {**files, _INDEX: json.dumps(index).encode()}.items():
            with open(
                beside / name, "xb"
            ) as file:  # not forced to the disk: what a power cut spoils, the checksums tell
                file.write(data)
        shutil.rmtree(place, ignore_errors=True)  # of an earlier try
        os.rename(beside, place)
    except OSError as error:
        raise NoRoom(problem=f"{place} cannot be written ({error.strerror or error})", remedy=KEPT) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return index


def index_of(place: Path, check: bool) -> dict[str, Any] | None:
    """What a part's folder says of itself; None if it is no part, or (if to be checked) any byte of it has changed."""
    try:
        index: dict[str, Any] = json.loads((place / _INDEX).read_bytes())
        sums = {name: str(index["sha256"][name]) for name in TABLES}
        if not (isinstance(index["rows"], dict) and isinstance(index["again"], bool)):
            return None
        if check:
            for name, expected in sums.items():
                with open(place / f"{name}.parquet", "rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                        return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return index
