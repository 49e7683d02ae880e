"""What the cells of a file's column become: numbers, true and false, names of series."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.data.delimited import MISSING_WORDS
from nofluke.data.table import FileTable
from nofluke.errors import InputError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

IS_MISSING = f"(c IS NULL OR lower(trim(c)) IN {MISSING_WORDS})"
_WHOLE = "regexp_full_match(c, '\\s*[+-]?\\d+\\s*')"
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
NUMBER_TYPES = (*_WHOLE_TYPES, "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def numbers_of(table: FileTable, position: int) -> NDArray[Any]:
    """Return a column as it is written: bool, int64, uint64 or float64; float64 where values are missing."""
    name, kind = table.names[position], table.types[position].split("(")[0]
    if kind not in (*NUMBER_TYPES, "BOOLEAN", "VARCHAR"):
        raise InputError(problem=table.label, remedy=f"column {shown(name)} holds {kind} values where numbers belong")
    if kind == "BOOLEAN" and not table.first("c IS NULL", position):
        return table.array("c", position)
    numbers = table.array("coalesce(try_cast(c AS DOUBLE), 'nan'::DOUBLE)", position)
    gaps = np.isnan(numbers).any()
    # other kinds hold nothing but numbers; true and false are none only as text
    wrong = f"try_cast(c AS DOUBLE) IS NULL AND NOT {IS_MISSING}"
    text = table.first(wrong, position) if gaps and kind == "VARCHAR" else None
    if text is None:
        whole = None if gaps else _whole_numbers(table, position)
        if whole is None:
            _refuse_lost(table, position, numbers)
        return numbers if whole is None else whole
    if text[1].strip().lower() in ("true", "false"):
        other = table.first(f"lower(trim(c)) NOT IN ('true', 'false') AND NOT {IS_MISSING}", position)
        if other is None:
            cases = "WHEN 'true' THEN 1::DOUBLE WHEN 'false' THEN 0::DOUBLE ELSE 'nan'::DOUBLE"
            truth = table.array(f"CASE lower(trim(c)) {cases} END", position)
            return truth if np.isnan(truth).any() else truth.astype(np.bool_)
        text = other
    comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text[1])
    remedy = "use decimal points" if comma else "correct it, or leave it empty if it is missing"
    raise InputError(
        problem=f"{table.at(text[0])}: column {shown(name)} has {shown(text[1])} where a number belongs", remedy=remedy
    )


def _whole_numbers(table: FileTable, position: int) -> NDArray[Any] | None:
    """Return a column of nothing but whole numbers exactly; None of any other, and of numbers beyond 64 bits."""
    if table.types[position] not in _WHOLE_TYPES and table.first(f"NOT {_WHOLE}", position):
        return None
    for kind in ("BIGINT", "UBIGINT"):
        if not table.first(f"try_cast(c AS {kind}) IS NULL", position):
            return table.array(f"c::{kind}", position)
    return None


def _refuse_lost(table: FileTable, position: int, floats: NDArray[np.float64]) -> None:
    """Refuse whole numbers that became others as floats; those of more than 38 digits are floats printed in full."""
    lost = f"{_WHOLE} AND try_cast(c AS HUGEINT) <> try_cast(try_cast(c AS DOUBLE) AS HUGEINT)"
    if (np.abs(floats) >= 2**53).any() and (found := table.first(lost, position)):
        raise InputError(
            problem=f"{table.at(found[0])}: column {shown(table.names[position])} has {found[1].strip()}, which "
            "64-bit floats cannot hold, and other values that are not 64-bit integers",
            remedy="subtract the same number from all so that they are below 2**53",
        )


def labels_of(table: FileTable, position: int) -> NDArray[Any]:
    """Return the names of series: text as text (007 stays 007), whole numbers as such."""
    name = table.names[position]
    if bad := table.first("c IS NULL OR trim(c) = ''", position):
        raise InputError(
            problem=f"{table.at(bad[0])}: column {shown(name)} has no value", remedy="name the series of every row"
        )
    whole = _whole_numbers(table, position) if table.types[position] in _WHOLE_TYPES else None
    return table.array("c::VARCHAR", position) if whole is None else whole
