"""One cell of a study by its names."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray
from nofluke.errors import InputError, shown
from nofluke.plain import check_word
from nofluke.studies.missing import missing_cells
from nofluke.studies.schema import Values


def rows_named(column: Any, name: str) -> BoolArray:
    """The rows of a column that hold a name; compared one by one, since NumPy drops NULs at the end of text."""
    return np.fromiter((one == name for one in column), dtype=np.bool_, count=len(column))


def look_up(cells: Values, failed: Values, detectors: tuple[str, ...], series: str, detector: str) -> dict[str, Any]:
    """The row of a cell as plain values; refuses names that are not there, and says why a cell has no result."""
    check_word(detector, "detector", detectors)
    if not isinstance(series, str):
        raise InputError(
            argument="series", value=series, problem="must be the name of a series", remedy="see study.cells['series']"
        )
    found = np.flatnonzero(rows_named(cells["series"], series) & rows_named(cells["detector"], detector))
    if len(found):
        return {name: _plainly(values[found[0]]) for name, values in cells.items()}
    reasons = {(name, one): reason for name, one, reason in missing_cells(failed, detectors)}
    if (series, detector) in reasons:
        raise InputError(
            argument="series", value=series, problem=f"has no result for {detector}", remedy=reasons[series, detector]
        )
    close = difflib.get_close_matches(series, cells["series"].tolist(), n=1)
    hint = f"did you mean {shown(close[0])}?" if close else "see study.cells['series']"
    raise InputError(argument="series", value=series, problem="is not in this study", remedy=hint)


def _plainly(value: Any) -> Any:
    """A cell of a table as a plain value."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
