"""The numbers behind the map, for the page's script: what each cell was evaluated to, compactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.studies.cell_map import CODES, CellMap
from nofluke.studies.leaderboard import Leaderboard, Pairs
from nofluke.studies.store import Values

_PLACE = ("series", "group", "detector")  # which the map knows


def make_payload(board: Leaderboard, cells: Values, shown: CellMap) -> dict[str, Any]:
    """Plain values: names, the map, the columns of the cells that it shows, and pairs."""
    rows = [row for row in shown.rows.ravel().tolist() if row >= 0]
    place = {row: i for i, row in enumerate(rows)}
    texts: dict[str, int] = {}
    columns = {
        name: _column([values[row] for row in rows], texts) for name, values in cells.items() if name not in _PLACE
    }
    reasons = {f"{i},{j}": texts.setdefault(why, len(texts)) for (i, j), why in shown.reasons.items()}
    groups = list(dict.fromkeys(shown.groups))
    number = {name: i for i, name in enumerate(groups)}
    grouped = shown.kind == "groups"
    return {
        "alpha": board.about.alpha,
        "rank_by": board.rank_by,
        "lower": sorted(board.lower),
        "detectors": list(shown.detectors),
        "kind": shown.kind,
        "columns": list(shown.columns),
        "groups": groups,
        "group_of": [number[name] for name in shown.groups],
        "words": list(CODES),
        "codes": None if grouped else shown.codes.tolist(),
        "counts": shown.counts.tolist() if grouped else None,
        "values": [[_number(value) for value in row] for row in shown.values.tolist()],
        "rows": [[place.get(row, -1) for row in line] for line in shown.rows.tolist()],
        "cells": columns,
        "reasons": reasons,
        "texts": list(texts),
        "pairs": None if board.pairs is None else _pairs(board.pairs),
    }


def _column(values: list[Any], texts: dict[str, int]) -> dict[str, Any]:
    """Texts as places in one list for all, since most of them come again and again; numbers in six digits."""
    if any(isinstance(value, str) for value in values):
        return {"text": [texts.setdefault(str(value), len(texts)) for value in values]}
    if any(isinstance(value, list | tuple | np.ndarray) for value in values):
        return {"list": [[texts.setdefault(str(text), len(texts)) for text in value] for value in values]}
    return {"number": [_number(value) for value in values]}


def _number(value: Any) -> float | int | None:
    number = None if value is None else float(value)
    if number is None or not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else float(f"{number:.6g}")


def _pairs(pairs: Pairs) -> dict[str, Any]:
    return {
        measure: {
            name: [[_number(value) for value in row] for row in getattr(matrix, name).tolist()]
            for name in ("difference", "low", "high", "pvalue", "corrected")
        }
        for measure, matrix in pairs.measures.items()
    }
