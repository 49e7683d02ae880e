"""Counts of all cells, the groups of their series, and the units that are treated as independent.

Series of one group are alike, and so are series with one truth, in whatever groups they are. Groups that share a truth
stay groups; intervals and comparisons then use both, groups and truths, and tell what is more careful.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.errors import say, shown
from nofluke.inference.interval import Kind
from nofluke.studies.missing import failed_altogether
from nofluke.studies.schema import Values
from nofluke.studies.shared import Shared
from nofluke.text.tables import plural

COUNTED = ("n_predictions", "precision_hits", "n_events", "recall_hits")
MOST_NAMED = 3  # sets of series with one truth, and series of a set, in a note


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Alarms, hits, events and found ones of every cell, by series and detector.

    Attributes
    ----------
    detectors, series : tuple of str
        Series in the order of the study, those of which nothing could be told left out.
    counts : int array, series x detectors x 4
        -1 where a cell has no result.
    units : mapping of kind to int array, one a series
        Which unit a series belongs to: itself, or its group. Series of no group that share a truth are a group. If
        series of different groups share a truth, there are two ways to make units, "groups" and "truths".
    named : bool
        Whether groups were named, rather than made of series that share a truth.
    failed : mapping of str to str
        What is said of detectors without any result.
    notes : tuple of str
        Which series of different groups share a truth.
    """

    detectors: tuple[str, ...]
    series: tuple[str, ...]
    counts: IntArray = field(repr=False)
    units: Mapping[Kind, IntArray] = field(repr=False)
    named: bool
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, cells: Values, failed: Values, detectors: tuple[str, ...], shared: Sequence[Shared]) -> Counts:
        """From the columns of a study's cells, and of what failed."""
        group_of: dict[str, str] = dict(zip(cells["series"], cells["group"], strict=True))
        place = {name: i for i, name in enumerate(group_of)}
        at = [place[name] for name in cells["series"]]
        column = {name: i for i, name in enumerate(detectors)}
        which = [column[name] for name in cells["detector"]]
        counts = np.full((len(place), len(detectors), len(COUNTED)), -1, dtype=np.int64)
        for i, name in enumerate(COUNTED):
            counts[at, which, i] = np.asarray(cells[name])
        truth_of = {name: one.series[0] for one in shared for name in one.series}
        groups = _numbered(list(group_of.values()))
        truths = _numbered([truth_of.get(name, name) for name in place])
        named = len(set(group_of.values())) < len(place)
        sets = [one.series for one in shared if len({group_of[name] for name in one.series}) > 1]
        units: dict[Kind, IntArray] = {"groups": groups} if named else {"groups" if sets else "series": truths}
        return cls(
            detectors=detectors,
            series=tuple(place),
            counts=counts,
            units=units | {"truths": truths} if named and sets else units,
            named=named,
            failed=failed_altogether(failed, detectors, set(cells["detector"])),
            notes=_notes(sets, group_of, named, _many(truths)),
        )

    @property
    def kind(self) -> Kind:
        """What units are called; the first of two ways to make them."""
        return next(iter(self.units))

    @property
    def noun(self) -> str:
        """What a group is called."""
        return "group" if self.named else "series" if self.kind == "series" else "independent unit"

    @property
    def groups(self) -> IntArray:
        """The group of each series."""
        return self.units[self.kind]

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return _many(self.groups)

    @property
    def n_truths(self) -> int | None:
        """How many different truths there are, where these are units, too."""
        return _many(self.units["truths"]) if "truths" in self.units else None

    def notes_on(self, detectors: Sequence[str]) -> tuple[str, ...]:
        """On units, and on those of the detectors that have no result."""
        return (*self.notes, *(say("{}: {}", name, self.failed[name]) for name in detectors if name in self.failed))

    @property
    def there(self) -> BoolArray:
        """Which cells have a result, series x detectors."""
        return np.asarray(self.counts[:, :, 0] >= 0)

    def by_unit(self, detector: str, kind: Kind, among: BoolArray | None = None) -> IntArray:
        """The counts of a detector summed within each unit that has any series; ``among`` picks some of the series."""
        d, units = self.detectors.index(detector), self.units[kind]
        kept = self.there[:, d] if among is None else among & self.there[:, d]
        sums = np.zeros((_many(units), len(COUNTED)), dtype=np.int64)
        np.add.at(sums, units[kept], self.counts[kept, d])
        return sums[np.unique(units[kept])]

    def of_both(self, kind: Kind, pair: tuple[str, str]) -> tuple[IntArray, IntArray]:
        """The units of two detectors, from the series that both have."""
        both = np.logical_and(*(self.there[:, self.detectors.index(name)] for name in pair))
        return self.by_unit(pair[0], kind, both), self.by_unit(pair[1], kind, both)


def _numbered(names: Sequence[str]) -> IntArray:
    """Names as numbers, in order of appearance."""
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], dtype=np.int64)


def _many(numbers: IntArray) -> int:
    return int(numbers.max(initial=-1)) + 1


def _notes(sets: Sequence[Sequence[str]], group_of: Mapping[str, str], named: bool, n_truths: int) -> tuple[str, ...]:
    """Which series of different groups have one truth, and what that means for units."""
    if not sets:
        return ()
    n_groups, more = len(set(group_of.values())), len(sets) - MOST_NAMED
    listed = "; ".join(_listed(names, group_of if named else {}) for names in sets[:MOST_NAMED])
    listed += f"; and {plural(more, 'more set')}" if more > 0 else ""
    if not named:
        return (
            f"{plural(n_groups, 'series', 'series')} make {plural(n_truths, 'independent unit')}: those with the same "
            f"truth, or nearly the same, count as one ({listed}).",
        )
    have = "has" if len(sets) == 1 else "have"
    return (
        f"{plural(len(sets), 'set')} of series in different groups {have} the same truth, or nearly the same ({listed}), "
        "so these groups are not independent of each other: intervals and comparisons are computed by groups and by truths, "
        "and the wider interval and the larger p are shown.",
    )


def _listed(names: Sequence[str], group_of: Mapping[str, str]) -> str:
    told = [shown(name) + (f" of {shown(group_of[name])}" if group_of else "") for name in names[:MOST_NAMED]]
    more = len(names) - MOST_NAMED
    return f"{', '.join(told)} and {more:,} more" if more > 0 else f"{', '.join(told[:-1])} and {told[-1]}"
