"""Labels exchanged between series: what chance does where the labels of an archive share their places.

Series of a class have the same length and watch the same steps, so that they have the same test part, and are in the
same group where groups are named. If labels are exchangeable between them, any of them could be those of any other: the
labels move, all of a series together, and stay where they are in time. A detector that fires at one place on every
series scores the same however they move.

Series that share a truth move as one, and only with as many others. Hits are sums over series of those that the labels
of one score on the alarms of another: a class is a matrix of these, and chance a random matching of its rows and
columns. Classes are independent, and their sums are drawn together.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.laws.counts import CountLaw
from nofluke.laws.law import How, Law
from nofluke.laws.sums import SumLaw
from nofluke.studies.draws import Joint, Labels, cluster_seed
from nofluke.studies.shared import events_of
from nofluke.studies.store import MEASURES, Values
from nofluke.studies.units import Counts

LISTED = 12  # units of a class up to which all matchings are counted
MOST_COUNTS = 5_000_000  # numbers that this may take: 40 MB
AT_ONCE = 2_000_000  # places of drawn matchings in memory

Slot = tuple[int, int, int]  # the class, a unit of it, and a series of the unit
EXACTLY = How(kind="exact", name="all matchings")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Class:
    """Units whose labels are exchanged: series of one length, test part and group; each as many as the others.

    ``labels`` has, for each place in a unit, those of all units, and ``group`` is the group of all, or -1.
    """

    units: tuple[tuple[str, ...], ...]
    labels: tuple[Labels, ...] = field(repr=False)
    group: int
    seed: int

    @property
    def series(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for unit in self.units for name in unit)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """The classes of one detector; series without events, on which there is nothing to be hit; and how many have events
    between their steps, which are on no step of another."""

    classes: tuple[Class, ...]
    empty: tuple[str, ...] = ()
    between: int = 0
    slots: Mapping[str, Slot] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, there: BoolArray, counts: Counts, truths: Values, together: Sequence[list[int]], seed: int) -> Exchange:
        """Of the series that a detector has results for; ``together`` are those that share a truth."""
        group_of = dict(zip(counts.series, counts.groups.tolist(), strict=True))
        names = [str(name) for name in truths["series"]]
        known = {name for name, has in zip(counts.series, there.tolist(), strict=True) if has}
        units: dict[tuple[tuple[int, str], int, int], list[list[int]]] = {}
        for unit in together:
            some = [i for i in unit if names[i] in known and truths["exchangeable"][i]]
            # what series of a unit have in common is only said by the first, if they share their clock
            alike = {(int(truths["length"][i]), str(truths["watched"][i])) for i in some}
            groups = {group_of[names[i]] if counts.named else -1 for i in some}
            if some and len(alike) == len(groups) == 1:
                units.setdefault((alike.pop(), groups.pop(), len(some)), []).append(some)
        classes = [
            Class(
                units=tuple(tuple(names[i] for i in unit) for unit in own),
                labels=tuple(_joined(truths, [unit[k] for unit in own]) for k in range(len(own[0]))),
                group=group,
                seed=cluster_seed(seed, names[own[0][0]]),
            )
            for (_, group, _), own in units.items()
            if len({tuple(events_of(truths, i) for i in unit) for unit in own}) > 1
        ]
        slots = {
            name: (c, u, k)
            for c, one in enumerate(classes)
            for u, unit in enumerate(one.units)
            for k, name in enumerate(unit)
        }
        none = [name for i, name in enumerate(names) if name in known and len(truths["starts"][i]) == 0]
        between = sum(name in known and not truths["exchangeable"][i] for i, name in enumerate(names))
        return cls(classes=tuple(classes), empty=tuple(none) if classes else (), between=between, slots=slots)

    @property
    def why_not(self) -> str:
        """What keeps labels from being exchanged."""
        alone = "no other series of the same length, test part and group has events at other places"
        times = f"events of {self.between:,} series lie between their steps"
        return f"{times}, or {alone}" if self.between else alone

    def labels_of(self, series: str) -> Labels:
        """Those that may be exchanged with a series' own."""
        c, _, k = self.slots[series]
        return self.classes[c].labels[k]


def _joined(truths: Values, at: Sequence[int]) -> Labels:
    starts, stops = ([np.asarray(truths[end][i], dtype=np.int64) for i in at] for end in ("starts", "stops"))
    return Labels.join(starts, stops)


# ---- what chance scores


def matrices_of(exchange: Exchange, hits: Mapping[str, IntArray]) -> list[IntArray]:
    """For each class, both hits of the labels of each unit (rows) on the alarms of each (columns)."""
    found = [np.zeros((len(one.units), len(one.units), 2), dtype=np.int64) for one in exchange.classes]
    for series, (c, u, _) in exchange.slots.items():
        found[c][:, u] += hits[series]
    return found


def laws_of_matchings(
    matrices: Sequence[IntArray], seeds: Sequence[int], of: tuple[int, int], n_draws: int
) -> tuple[dict[str, Law], Joint]:
    """The laws of both sums over independent classes, out of so many predictions and events; and drawn pairs of both.

    Exact where all matchings of all classes can be counted, else those of the draws.

    >>> hits = np.array([[[1, 1], [0, 0]], [[1, 0], [2, 1]]])
    >>> laws, joint = laws_of_matchings([hits], [0], (9, 2), 100)
    >>> laws["recall"].upper(2), laws["precision"].mean, joint.counts.sum()
    (0.5, 2.0, np.int64(100))
    """
    draws = sum(
        (drawn_matchings(one, n_draws, seed) for one, seed in zip(matrices, seeds, strict=True)),
        np.zeros((n_draws, 2), dtype=np.int64),
    )
    joint = Joint.of(*draws.T, listed=False)
    laws = joint.laws(of, How(kind="simulated", n_resamples=n_draws, seed=seeds[0]))
    for i, measure in enumerate(MEASURES):
        counted = [all_matchings(one[:, :, i]) for one in matrices]
        parts = [CountLaw(one, EXACTLY) for one in counted if one is not None]
        if len(parts) == len(matrices):
            laws[measure] = parts[0] if len(parts) == 1 else SumLaw(tuple(parts))
    return laws, joint


def drawn_matchings(hits: AnyArray, n_draws: int, seed: int) -> AnyArray:
    """Sums of hits, or of a metric, over random matchings of labels and alarms."""
    n, generator = len(hits), np.random.default_rng(seed)
    columns, found = np.arange(n), []
    for many in _chunks(n_draws, max(AT_ONCE // n, 1)):
        rows = generator.permuted(np.tile(columns, (many, 1)), axis=1)
        found.append(hits[rows, columns].sum(axis=1))
    return np.concatenate(found)


def _chunks(total: int, size: int) -> Iterator[int]:
    while total > 0:
        yield min(size, total)
        total -= size


def all_matchings(hits: IntArray) -> IntArray | None:
    """How many of all matchings of rows and columns have each sum; None where they are too many.

    A programme over subsets: with S the rows that the first columns took, the counts of S and one more row are those of
    S, moved by what that row has in the next column.

    >>> all_matchings(np.array([[1, 0], [0, 1]]))
    array([1, 0, 1])
    """
    n = len(hits)
    least = hits.min(axis=0)
    rest = hits - least
    top = int(rest.max(axis=0).sum())
    if n > LISTED or 2**n * (top + 1) > MOST_COUNTS:
        return None
    counts = np.zeros((2**n, top + 1), dtype=np.int64)
    counts[0, 0] = 1
    for taken in range(2**n - 1):
        column = rest[:, taken.bit_count()].tolist()
        for row in range(n):
            if not taken >> row & 1:
                more = column[row]
                counts[taken | 1 << row, more:] += counts[taken, : top + 1 - more]
    found = counts[-1]
    return np.concatenate([np.zeros(int(least.sum()), dtype=np.int64), found[: int(np.flatnonzero(found)[-1]) + 1]])
