"""The cells of a study as a map, detectors by series: verdicts, and values corrected for chance.

A study with more cells than can be shown is mapped by its groups, or by a sample of its series, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from nofluke.arrays import ByValue, FloatArray, IntArray
from nofluke.ratios import f_of_hits
from nofluke.studies.store import Values, missing_cells
from nofluke.text.tables import plural

CODES = ("missing", "cannot tell", "no", "partly", "yes")
MOST_CELLS = 12_000  # 30 detectors on 400 series: with all their numbers some 4 MB


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellMap(ByValue):
    """Detectors in rows, series or groups of them in columns; series of a group stand together.

    Attributes
    ----------
    kind : {"series", "groups"}
    detectors, columns : tuple of str
    groups : tuple of str
        The group of each column.
    counts : array, D x C x 5
        How many cells have each of `CODES`; of single series one has 1, the others 0.
    values : array, D x C
        (F1 - chance) / (1 - chance), with the F1 of expected hits for chance; of groups, of sums. NaN where undefined.
    rows : array, D x C
        The cell's row in the table of cells; -1 where it is missing, or for groups.
    reasons : dict
        Why cells are missing, by (row, column) of the map.
    about : str
        What is shown where that is not all; else empty.
    """

    kind: Literal["series", "groups"]
    detectors: tuple[str, ...]
    columns: tuple[str, ...]
    groups: tuple[str, ...]
    counts: IntArray = field(repr=False)
    values: FloatArray = field(repr=False)
    rows: IntArray = field(repr=False)
    reasons: dict[tuple[int, int], str] = field(repr=False)
    about: str = ""

    @property
    def codes(self) -> IntArray:
        """The verdict of each cell as a number, 0 to 4 as in `CODES`; for groups, of most series."""
        return np.asarray(self.counts.argmax(axis=2), dtype=np.int64)

    @property
    def share_yes(self) -> FloatArray:
        """Share of verdicts that are yes among the cells that are there; NaN where none is."""
        there = self.counts[:, :, 1:].sum(axis=2)
        shares: FloatArray = np.divide(self.counts[:, :, -1], there, out=np.full(there.shape, np.nan), where=there > 0)
        return shares

    def spans(self) -> list[tuple[str, int, int]]:
        """Each group with its first column, and the one after its last."""
        starts = [i for i, name in enumerate(self.groups) if i == 0 or name != self.groups[i - 1]]
        return [(self.groups[i], i, j) for i, j in pairwise([*starts, len(self.groups)])]


def map_cells(detectors: tuple[str, ...], cells: Values, failed: Values, most: int = MOST_CELLS) -> CellMap:
    """The cells of these detectors, in this order: all of them, or at most ``most`` groups or series of them.

    Examples
    --------
    >>> cells = {"series": ["s", "t"], "group": ["g", "g"], "detector": ["a", "a"], "verdict": ["yes", "no"],
    ...     "f1": [0.6, 0.2], "f1_at_chance": [0.2, 0.2]}
    >>> failed = {"series": ["s"], "group": ["g"], "detector": ["b"], "reason": ["no scores"]}
    >>> found = map_cells(("b", "a"), cells, failed)
    >>> found.columns, found.codes.tolist(), found.values[1].round(2).tolist(), found.reasons
    (('s', 't'), [[0, 0], [4, 2]], [0.5, 0.0], {(0, 0): 'no scores'})
    """
    group_of = dict(zip(map(str, cells["series"]), map(str, cells["group"]), strict=True))
    for name, group in zip(failed["series"], failed["group"], strict=True):
        group_of.setdefault(str(name), str(group))
    order = {group: i for i, group in enumerate(dict.fromkeys(group_of.values()))}
    series = sorted(group_of, key=lambda name: order[group_of[name]])
    total = len(series)
    kept = most // max(len(detectors), 1)
    if total > kept and len(order) <= kept and len(order) < total:
        return _by_group(detectors, cells, group_of, tuple(order), total)
    about = ""
    if total > kept:
        series = [series[i] for i in np.linspace(0, total - 1, kept).astype(np.int64)]
        about = (
            f"{len(series):,} of {total:,} series are shown, evenly spaced in their order: more would blur together."
        )
    row, column = ({name: i for i, name in enumerate(names)} for names in (detectors, series))
    shape = len(detectors), len(series)
    rows = np.full(shape, -1)
    for k, (name, detector) in enumerate(zip(cells["series"], cells["detector"], strict=True)):
        if (at := column.get(str(name))) is not None and detector in row:
            rows[row[detector], at] = k
    verdicts = np.array([*map(CODES.index, cells["verdict"]), 0])  # the last, at -1, is of the missing
    f1, chance = (np.append(np.asarray(cells[name], dtype=np.float64), np.nan) for name in ("f1", "f1_at_chance"))
    why = missing_cells(failed, detectors)
    return CellMap(
        kind="series",
        detectors=detectors,
        columns=tuple(series),
        groups=tuple(group_of[name] for name in series),
        counts=np.eye(len(CODES), dtype=np.int64)[verdicts[rows]],
        values=_above_chance(f1[rows], chance[rows]),
        rows=rows,
        reasons={(row[d], column[s]): reason for s, d, reason in why if s in column and d in row},
        about=about,
    )


def _by_group(
    detectors: tuple[str, ...], cells: Values, group_of: dict[str, str], groups: tuple[str, ...], total: int
) -> CellMap:
    row, column = ({name: i for i, name in enumerate(names)} for names in (detectors, groups))
    shape = len(detectors), len(groups)
    of = np.array([row.get(d, -1) for d in cells["detector"]]) * len(groups)
    kept = of >= 0
    at = (of + np.array([column[str(group)] for group in cells["group"]]))[kept]

    def sums(name: str) -> FloatArray:
        values = np.nan_to_num(np.asarray(cells[name], dtype=np.float64))[kept]
        return np.bincount(at, values, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    codes = np.array([*map(CODES.index, cells["verdict"])])[kept]
    counts = np.bincount(at * len(CODES) + codes, minlength=shape[0] * shape[1] * len(CODES)).reshape(*shape, -1)
    sizes = np.bincount([column[group] for group in group_of.values()], minlength=len(groups))
    counts[:, :, 0] = sizes - counts.sum(axis=2)
    alarms, events = sums("n_predictions"), sums("n_events")
    f1, chance = (
        np.where(
            alarms * events > 0, f_of_hits(sums(f"precision{end}"), sums(f"recall{end}"), alarms, events, 1.0), np.nan
        )
        for end in ("_hits", "_expected")
    )
    return CellMap(
        kind="groups",
        detectors=detectors,
        columns=groups,
        groups=groups,
        counts=counts,
        values=_above_chance(f1, chance),
        rows=np.full(shape, -1),
        reasons={},
        about=f"{plural(total, 'series', 'series')} are shown as {plural(len(groups), 'group')}: each column sums over its series.",
    )


def _above_chance(f1: FloatArray, chance: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance < 1, (f1 - chance) / (1 - chance), np.nan)
