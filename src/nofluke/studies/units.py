"""Counts of all cells, the groups of their series, and the units that are treated as independent.

There may be two ways to make units of the same series, by group and by truth: what either leaves uncertain stays so.

Series of one group are alike, and so are series with one truth, in whatever groups they are. Groups that share a truth
stay groups; intervals and comparisons then use both, groups and truths, and tell what is more careful.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.errors import say, shown
from nofluke.inference.compare import Comparison, Difference, compared
from nofluke.inference.interval import Interval, Intervals, Kind, intervals_of
from nofluke.lazy import lazy
from nofluke.studies.shared import Shared
from nofluke.studies.store import Values, failed_altogether
from nofluke.text.tables import plural

Ends = TypeVar("Ends", Interval, Difference)
COUNTED = ("n_predictions", "precision_hits", "n_events", "recall_hits")
MOST_NAMED = 3  # sets of series with one truth, and series of a set, in a note


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """Alarms, hits, events and found ones of every cell, by series and detector.

    Attributes
    ----------
    detectors, series : tuple of str
        Series in the order of the study, those of which nothing could be told left out.
    counts : int array, series x detectors x 4
        -1 where a cell has no result.
    at : pair of int arrays
        The series and the detector of each cell that has a result, in the order of the study's cells.
    units : mapping of kind to int array, one a series
        Which unit a series belongs to: itself, or its group. Series of no group that share a truth are a group. If
        series of different groups share a truth, there are two ways to make units, "groups" and "truths".
    named : bool
        Whether groups were named, rather than made of series that share a truth.
    names : tuple of str
        Those of the groups, by number, where they were named.
    failed : mapping of str to str
        What is said of detectors without any result.
    notes : tuple of str
        Which series of different groups share a truth.
    """

    detectors: tuple[str, ...]
    series: tuple[str, ...]
    counts: IntArray = field(repr=False)
    at: tuple[IntArray, IntArray] = field(repr=False)
    units: Mapping[Kind, IntArray] = field(repr=False)
    named: bool
    names: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, cells: Values, failed: Values, detectors: tuple[str, ...], shared: Sequence[Shared]) -> Counts:
        """From the columns of a study's cells, and of what failed."""
        group_of: dict[str, str] = dict(zip(cells["series"], cells["group"], strict=True))
        place = {name: i for i, name in enumerate(group_of)}
        column = {name: i for i, name in enumerate(detectors)}
        at = (
            np.array([place[name] for name in cells["series"]], dtype=np.int64),
            np.array([column[name] for name in cells["detector"]], dtype=np.int64),
        )
        counts = np.full((len(place), len(detectors), len(COUNTED)), -1, dtype=np.int64)
        for i, name in enumerate(COUNTED):
            counts[*at, i] = np.asarray(cells[name])
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
            at=at,
            units=units | {"truths": truths} if named and sets else units,
            named=named,
            names=tuple(dict.fromkeys(group_of.values())) if named else (),
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

    @lazy
    def place(self) -> dict[str, int]:
        """The number of each series."""
        return {name: i for i, name in enumerate(self.series)}

    def placed(self, cells: Values, column: str) -> FloatArray:
        """A column of numbers as series x detectors; NaN where there is no cell."""
        found = np.full((len(self.series), len(self.detectors)), np.nan)
        found[self.at] = np.asarray(cells[column], dtype=np.float64)
        return found

    @lazy
    def there(self) -> BoolArray:
        """Which cells have a result, series x detectors."""
        return np.asarray(self.counts[:, :, 0] >= 0)

    def by_unit(self, detector: str, kind: Kind, among: BoolArray | None = None) -> IntArray:
        """The counts of a detector summed within each unit that has any series; ``among`` picks some of the series."""
        d, units = self.detectors.index(detector), self.units[kind]
        kept = self.there[:, d] if among is None else among & self.there[:, d]
        sums, own = np.zeros((_many(units), len(COUNTED)), dtype=np.int64), units[kept]
        np.add.at(sums, own, self.counts[kept, d])
        return sums[np.bincount(own, minlength=len(sums)) > 0]

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


# ---- intervals and comparisons by all units there are: the most careful of each


def intervals_by(counts: Counts, detector: str, level: float) -> Intervals:
    """For each measure the widest interval, or none if it has none by some units."""
    return reduce(
        _wider_of_each,
        (intervals_of(counts.by_unit(detector, kind), level, kind=kind) for kind in counts.units),
    )


def compare_counts(counts: Counts, detectors: Sequence[str], **asked: Any) -> Comparison:
    """Detectors compared over all series: for each pair the largest p-value and the widest interval.

    ``asked`` are the arguments of `nofluke.inference.compare.compared` that do not depend on units.
    """
    found = (
        compared(
            {name: counts.by_unit(name, kind) for name in detectors},
            partial(counts.of_both, kind),
            noun=kind,
            notes=counts.notes_on(detectors),
            **asked,
        )
        for kind in counts.units
    )
    return reduce(_more_careful, found)


def _more_careful(one: Comparison, other: Comparison) -> Comparison:
    return replace(
        one,
        differences=tuple(map(claims_less, one.differences, other.differences)),
        intervals=tuple(map(_wider_of_each, one.intervals, other.intervals)),
        most_resamples=max(one.most_resamples, other.most_resamples),
        notes=(*one.notes, *(note for note in other.notes if note not in one.notes)),
    )


def claims_less(one: Difference, other: Difference) -> Difference:
    """The larger p-value of the two, and the wider interval."""
    tested = other if other.pvalue > one.pvalue else one
    wide = wider(one, other)
    return replace(
        tested,
        corrected=max(one.corrected, other.corrected),  # NaN in both or in none
        low=wide.low,
        high=wide.high,
        why_no_interval=wide.why_no_interval,
    )


def _wider_of_each(one: Intervals, other: Intervals) -> Intervals:
    precision, recall, f1 = map(wider, one, other)
    return replace(one, precision=precision, recall=recall, f1=f1)


def wider(one: Ends, other: Ends) -> Ends:
    """The wider of two intervals."""
    return other if _width(other) > _width(one) else one


def _width(one: Interval | Difference) -> float:
    """How wide an interval is; what has none is as wide as can be."""
    if one.low is None or one.high is None or math.isnan(one.low):
        return math.inf
    return one.high - one.low
