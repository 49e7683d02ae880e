"""What came out of one chunk, as bytes: packed where it was computed, written where the study is, checked when it is found again."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nofluke.data.paths import write_file
from nofluke.errors import InputError
from nofluke.studies.schema import CELLS, FAILED, LAWS, TIMINGS, TRUTHS, Part, Schema
from nofluke.studies.tables import KEPT, write_table

TABLES: Mapping[str, Schema] = {"cells": CELLS, "failed": FAILED, "timings": TIMINGS, "laws": LAWS, "truths": TRUTHS}
_INDEX = "part.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The tables of a part as Parquet, and how many rows each has."""

    tables: Mapping[str, bytes] = field(repr=False)
    rows: Mapping[str, int]


def pack(part: Part, cells: Schema = CELLS) -> Packed:
    """The part as bytes that travel well: written by whoever computed it, so that the study's own process only stores them.

    ``cells`` are the columns of its first table, with those of metrics.
    """
    tables, rows = {}, {}
    with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
        for name, schema in {**TABLES, "cells": cells}.items():
            values = getattr(part, name)
            path = Path(folder, name)
            write_table(path, values, schema)
            tables[name], rows[name] = path.read_bytes(), len(next(iter(values.values()), ()))
    return Packed(tables=tables, rows=rows)


def write_part(place: Path, packed: Packed, again: bool) -> dict[str, Any]:
    """Make a folder of the part's tables and their checksums, in one go; ``again`` marks one to be computed once more."""
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
            write_file(beside / name, data, str(place / name), remedy=KEPT)
        shutil.rmtree(place, ignore_errors=True)  # of an earlier try
        os.rename(beside, place)
    except OSError as error:
        raise InputError(f"{place} cannot be written ({error.strerror or error}): {KEPT}.") from None
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
