"""Series that share a truth, or exchange their labels, as one law of their summed hits: of all, and of one group.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import IntArray
from nofluke.laws.comonotone import comonotone
from nofluke.laws.law import Law
from nofluke.studies.counts import Counts
from nofluke.studies.draws import Drawn
from nofluke.studies.exchange import Exchange, laws_of_matchings, matrices_of
from nofluke.studies.plan import ALONE, Plan
from nofluke.studies.schema import MEASURES
from nofluke.studies.stored_laws import StoredLaw
from nofluke.studies.together import law_of_weights, laws_of_sums, seed_of

Laws = Mapping[str, Mapping[str, StoredLaw]]  # by measure and series


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lumped:
    """Series that share a truth, the laws of their summed hits by measure, and draws of both."""

    series: tuple[str, ...]
    laws: Mapping[str, Law] = field(repr=False)
    draws: IntArray = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lumping:
    """What the laws of one detector's series that share a truth are made of; as in `nofluke.studies.pooled.Pooling`."""

    detector: str
    counts: Counts = field(repr=False)
    plan: Plan = field(repr=False)
    drawn: Drawn | None = field(repr=False)
    laws: Laws = field(repr=False)
    n_draws: int

    def made(self) -> tuple[tuple[Lumped, ...], dict[int, list[Lumped]]]:
        """All that share a truth, or exchange their labels; and, by group, those of one group."""
        if self.detector in self.plan.exchanged:
            return self._exchanged(self.plan.exchanged[self.detector])
        wholes: list[Lumped] = []
        inside: dict[int, list[Lumped]] = {}
        parts: dict[int, dict[int, list[str]]] = {}
        for (series, name), ((cluster, group, _), _) in self.plan.together.items():
            if name == self.detector:
                parts.setdefault(cluster, {}).setdefault(group, []).append(series)
        for cluster, own in parts.items():
            within = {group: self._placed(cluster, {group: own[group]}) for group in own if group != ALONE}
            for group, one in within.items():
                inside.setdefault(group, []).append(one)
            wholes.append(next(iter(within.values())) if within and len(own) == 1 else self._placed(cluster, own))
        group_of = dict(zip(self.counts.series, self.counts.groups.tolist(), strict=True))
        for (_, name), mixed in self.plan.mixed.items():
            if name == self.detector:
                wholes.append(self._careful(mixed))
                for group in dict.fromkeys(group_of[series] for series in mixed):
                    some = tuple(series for series in mixed if group_of[series] == group)
                    if len(some) > 1:
                        inside.setdefault(group, []).append(self._careful(some))
        return tuple(wholes), inside

    def _exchanged(self, exchange: Exchange) -> tuple[tuple[Lumped, ...], dict[int, list[Lumped]]]:
        """All classes as one law; and those of each group, where groups are named."""
        if not exchange.classes or self.drawn is None:
            return (), {}
        matrices = matrices_of(exchange, self.drawn.exchanged[self.detector])
        place = {series: i for i, series in enumerate(self.counts.series)}

        def lumped(some: Sequence[int], more: tuple[str, ...] = ()) -> Lumped:
            names = (*(name for c in some for name in exchange.classes[c].series), *more)
            rows = self.counts.counts[[place[name] for name in names], self.counts.detectors.index(self.detector)]
            laws, draws = laws_of_matchings(
                [matrices[c] for c in some],
                [exchange.classes[c].seed for c in some],
                (int(rows[:, 0].sum()), int(rows[:, 2].sum())),
                self.n_draws,
            )
            return Lumped(series=names, laws=laws, draws=draws)

        groups: dict[int, list[int]] = {}
        for c, one in enumerate(exchange.classes):
            if one.group >= 0:
                groups.setdefault(one.group, []).append(c)
        every = list(range(len(exchange.classes)))
        return (lumped(every, exchange.empty),), {group: [lumped(some)] for group, some in groups.items()}

    def _placed(self, cluster: int, parts: Mapping[int, Sequence[str]]) -> Lumped:
        """Under one placement of the events."""
        names = tuple(name for own in parts.values() for name in own)
        if self.drawn is None:
            return self._careful(names)
        place = {series: i for i, series in enumerate(self.counts.series)}
        rows = self.counts.counts[[place[name] for name in names], self.counts.detectors.index(self.detector)]
        first, *rest = (self.drawn.clusters[cluster, part, self.detector] for part in parts)
        found = sum(rest, first)
        own = laws_of_sums(found.hits, (int(rows[:, 0].sum()), int(rows[:, 2].sum())), found.how)
        placements = self.plan.together[names[0], self.detector][1]
        if placements.groups is None and placements.null.permutes and found.how.kind == "simulated":
            weighted = law_of_weights(found.weights, int(rows[0, 2]), len(names))
            own = own if weighted is None else {**own, "recall": weighted}
        return Lumped(series=names, laws=own, draws=found.drawn)

    def _careful(self, series: tuple[str, ...]) -> Lumped:
        """As if all of them rose and fell together, where no placement serves them all."""
        u = np.random.default_rng(seed_of(len(series), series[0])).random(self.n_draws)
        own = {measure: comonotone([self.laws[measure][name] for name in series]) for measure in MEASURES}
        draws = np.stack([np.asarray(law.quantile(u)) for law in own.values()], axis=1)
        return Lumped(series=series, laws=own, draws=draws)
