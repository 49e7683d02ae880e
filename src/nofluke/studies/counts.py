"""Counts of all cells, and the units that are treated as independent: series, or groups of them that share no truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.inference.interval import Kind
from nofluke.studies.schema import Values
from nofluke.studies.shared import Shared
from nofluke.text.tables import plural

COUNTED = ("n_predictions", "precision_hits", "n_events", "recall_hits")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Alarms, hits, events and found ones of every cell, by series and detector.

    Attributes
    ----------
    detectors, series : tuple of str
        Series in the order of the study, those of which nothing could be told left out.
    counts : int array, series x detectors x 4
        -1 where a cell has no result.
    units : int array, one a series
        Which unit it belongs to.
    kind : {"series", "groups"}
        What units are.
    named : bool
        Whether groups were named, rather than made of series that share a truth.
    notes : tuple of str
        Which groups had to be taken together.
    """

    detectors: tuple[str, ...]
    series: tuple[str, ...]
    counts: IntArray = field(repr=False)
    units: IntArray = field(repr=False)
    kind: Kind
    named: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, cells: Values, detectors: Sequence[str], shared: Iterable[Shared]) -> Counts:
        """From the columns of a study's cells."""
        names, series = np.unique(np.asarray(cells["series"], dtype=str), return_inverse=True)
        first = np.full(len(names), len(series))
        np.minimum.at(first, series, np.arange(len(series)))
        order = np.argsort(first)
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(len(names))
        at = place[series]
        column = {name: i for i, name in enumerate(detectors)}
        which = np.array([column[str(name)] for name in cells["detector"]], dtype=np.int64)
        counts = np.full((len(names), len(detectors), len(COUNTED)), -1, dtype=np.int64)
        for i, name in enumerate(COUNTED):
            counts[at, which, i] = np.asarray(cells[name])
        told = tuple(names[order].tolist())
        group = np.empty(len(names), dtype=object)
        group[at] = np.asarray(cells["group"], dtype=object)
        units, kind, notes = _units(told, group.tolist(), shared)
        named = len(set(group.tolist())) < len(told)
        return cls(
            detectors=tuple(detectors), series=told, counts=counts, units=units, kind=kind, named=named, notes=notes
        )

    @property
    def noun(self) -> str:
        """What a unit is called."""
        return "group" if self.named else "series" if self.kind == "series" else "independent unit"

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.units.max(initial=-1)) + 1

    @property
    def there(self) -> BoolArray:
        """Which cells have a result, series x detectors."""
        return np.asarray(self.counts[:, :, 0] >= 0)

    def by_unit(self, detector: str, among: BoolArray | None = None) -> IntArray:
        """The counts of a detector summed within each unit that has any series; ``among`` picks some of the series."""
        d = self.detectors.index(detector)
        kept = self.there[:, d] if among is None else among & self.there[:, d]
        sums = np.zeros((self.n_units, len(COUNTED)), dtype=np.int64)
        np.add.at(sums, self.units[kept], self.counts[kept, d])
        return sums[np.unique(self.units[kept])]

    def of_both(self, pair: tuple[str, str]) -> tuple[IntArray, IntArray]:
        """The units of two detectors, from the series that both have."""
        both = np.logical_and(*(self.there[:, self.detectors.index(name)] for name in pair))
        return self.by_unit(pair[0], both), self.by_unit(pair[1], both)


def _units(
    series: tuple[str, ...], groups: list[str], shared: Iterable[Shared]
) -> tuple[IntArray, Kind, tuple[str, ...]]:
    """Series by group, groups that share a truth taken as one."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(groups))}
    joined = list(range(len(numbers)))

    def root(i: int) -> int:
        while joined[i] != i:
            joined[i] = i = joined[joined[i]]
        return i

    group_of = dict(zip(series, groups, strict=True))
    for cluster in shared:
        met = [root(numbers[group_of[name]]) for name in cluster.series if name in group_of]
        for other in met[1:]:
            joined[root(other)] = root(met[0])
    roots = [root(i) for i in range(len(joined))]
    kept = {one: i for i, one in enumerate(dict.fromkeys(roots))}
    units = np.array([kept[roots[numbers[name]]] for name in groups], dtype=np.int64)
    kind: Kind = "series" if len(numbers) == len(series) else "groups"
    notes: tuple[str, ...] = ()
    if len(kept) < len(numbers):
        what = ("series", "series") if kind == "series" else ("group", "groups")
        notes = (
            f"{plural(len(numbers), *what)} make {plural(len(kept), 'independent unit')}: those with the same truth, "
            "or nearly the same, count as one.",
        )
    return units, kind if len(kept) == len(series) or kind == "groups" else "groups", notes
