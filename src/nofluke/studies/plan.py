"""Which cells are drawn alone, which together because their series share a truth, and which cannot be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nofluke.arrays import BoolArray
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Chunk
from nofluke.studies.counts import Counts
from nofluke.studies.draws import Key, Task, model_of
from nofluke.studies.exchange import Exchange
from nofluke.studies.metric_draws import Drawing
from nofluke.studies.needle import farthest
from nofluke.studies.places import stretches, units_of
from nofluke.studies.schema import Values
from nofluke.studies.shared import Shared, widened
from nofluke.studies.together import Placements, seed_of

At = tuple[str, str]  # series and detector
ALONE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """How the chance of each cell enters that of its detector; cells whose null does not hold are in none of them.

    Attributes
    ----------
    alone : mapping of (series, detector) to str
        Cells that are independent of all others, and their nulls.
    together : mapping of (series, detector) to (cluster, group and detector, Placements)
        Cells of series that share a truth, under one placement; those that are alone in their group are in `ALONE`.
    mixed : mapping of (cluster, detector) to series
        Such cells without a placement that serves them all, since their nulls differ or their steps are not the same
        moments.
    exchanged : mapping of detector to Exchange
        Series whose labels are exchanged, in place of all of these.
    metrics : mapping of (series, detector) to Drawing
        How metrics of cells are drawn; those whose null does not hold are not.
    farthest, window, runs : int
        By how many steps all events can be shifted, the steps within the tolerance of an event, typically, and those of
        a labelled run.
    """

    alone: Mapping[At, str] = field(repr=False)
    together: Mapping[At, tuple[Key, Placements]] = field(repr=False)
    mixed: Mapping[tuple[int, str], tuple[str, ...]] = field(repr=False)
    farthest: int
    window: int
    runs: int = 1
    exchanged: Mapping[str, Exchange] = field(repr=False, default_factory=dict)
    metrics: Mapping[At, Drawing] = field(repr=False, default_factory=dict)

    @classmethod
    def of_exchange(cls, cells: Values, truths: Values, shared: Sequence[Shared], counts: Counts, asked: Asked) -> Plan:
        """With labels exchanged between series, whatever the nulls of cells are."""
        units, known = units_of(truths, shared), dict[bytes, Exchange]()
        for there in counts.there.T:
            if there.tobytes() not in known:
                known[there.tobytes()] = Exchange.of(there, counts, truths, units, asked.seed)
        found = {name: known[there.tobytes()] for name, there in zip(counts.detectors, counts.there.T, strict=True)}
        moved = {at: Drawing() for at in _defined(cells, asked) if at[0] in found[at[1]].slots}
        return cls(alone={}, together={}, mixed={}, farthest=0, window=1, exchanged=found, metrics=moved)

    @classmethod
    def of(cls, cells: Values, truths: Values, shared: Sequence[Shared], counts: Counts, asked: Asked, n: int) -> Plan:
        """From the columns of a study's tables."""
        group_of = dict(zip(counts.series, counts.groups.tolist(), strict=True))
        nulls: dict[At, str] = {
            (str(series), str(name)): str(null)
            for series, name, null, holds in zip(
                cells["series"], cells["detector"], cells["null"], cells["holds"], strict=True
            )
            if holds
        }
        place = {str(name): i for i, name in enumerate(truths["series"])} if shared else {}
        together: dict[At, tuple[Key, Placements]] = {}
        mixed: dict[tuple[int, str], tuple[str, ...]] = {}
        for i, cluster in enumerate(shared):
            for name in counts.detectors:
                told = tuple(series for series in cluster.series if (series, name) in nulls)
                labels = {nulls.pop((series, name)) for series in told}
                if len(told) == 1:
                    nulls[told[0], name] = labels.pop()
                elif told:
                    placements = None
                    axes = {str(truths["axis"][place[series]]) for series in told}
                    in_time = any(truths["in_time"][place[series]] for series in told)
                    if len(labels) == len(axes) == 1 and not in_time:
                        starts = [truths["starts"][place[series]] for series in told]
                        reach = widened(max(int(truths["reach"][place[series]]) for series in told))
                        seed = seed_of(asked.seed, cluster.series[0])
                        placements = Placements.of(model_of(labels.pop(), asked), starts, reach, seed=seed, n_draws=n)
                    if placements is None:
                        mixed[i, name] = told
                    else:
                        many = Counter(group_of[series] for series in told)
                        parts = {series: group_of[series] if many[group_of[series]] > 1 else ALONE for series in told}
                        together |= {(series, name): ((i, parts[series], name), placements) for series in told}
        reaches = np.asarray(truths["reach"], dtype=np.int64)
        return cls(
            alone=nulls,
            together=together,
            mixed=mixed,
            farthest=farthest(np.asarray(truths["n"], dtype=np.int64)),
            window=2 * int(np.median(reaches)) + 1 if len(reaches) else 1,
            runs=_typical_run(truths) if asked.metrics else 1,
            metrics=_drawings(cells, shared, asked),
        )

    def told(self, series: Sequence[str], detector: str) -> BoolArray:
        """Which series enter the chance of a detector."""
        if detector in self.exchanged:
            own = self.exchanged[detector]
            known = (one in own.slots or one in own.empty for one in series)
            return np.fromiter(known, dtype=np.bool_, count=len(series))
        mixed = {one for (_, name), names in self.mixed.items() if name == detector for one in names}
        at = ((one, detector) for one in series)
        known = (one in self.alone or one in self.together or one[0] in mixed for one in at)
        return np.fromiter(known, dtype=np.bool_, count=len(series))

    def tasks(self, chunks: Sequence[Chunk], detectors: Sequence[str]) -> Iterator[Task]:
        """What is to be drawn of each chunk."""
        mixed = frozenset((one, name) for (_, name), names in self.mixed.items() for one in names)
        for chunk in chunks:
            at = [(series, name) for series in chunk.series for name in detectors]
            yield Task(
                chunk=chunk,
                nulls={one: self.alone[one] for one in at if one in self.alone},
                together={one: self.together[one] for one in at if one in self.together},
                mixed=mixed.intersection(at),
                exchanged={
                    (one, name): own.labels_of(one)
                    for name, own in self.exchanged.items()
                    for one in chunk.series
                    if one in own.slots
                },
                metrics={one: self.metrics[one] for one in at if one in self.metrics},
                farthest=self.farthest,
            )


def _typical_run(truths: Values) -> int:
    """The median length of labelled runs."""
    found = [stretches(truths, i) for i in range(len(truths["series"]))]
    lengths = np.concatenate([one.stops - one.starts for one in found]) if found else np.zeros(0)
    return int(np.median(lengths)) if len(lengths) else 1


def _defined(cells: Values, asked: Asked) -> dict[At, tuple[bool, ...]]:
    """By cell that has any, which of its metrics have a finite value."""
    if not asked.metrics:
        return {}
    finite = np.stack([np.isfinite(np.asarray(cells[name], dtype=np.float64)) for name in asked.metrics], axis=1)
    at = zip(map(str, cells["series"]), map(str, cells["detector"]), finite.tolist(), strict=True)
    return {(series, name): tuple(known) for series, name, known in at if any(known)}


def _drawings(cells: Values, shared: Sequence[Shared], asked: Asked) -> dict[At, Drawing]:
    """How metrics are drawn under the nulls of their cells: those of series that share a truth together."""
    defined = _defined(cells, asked)
    if not defined:
        return {}
    columns = (cells[name] for name in ("series", "detector", "metrics_null", "metrics_holds"))
    nulls = {(str(series), str(name)): str(null) for series, name, null, holds in zip(*columns, strict=True) if holds}
    found = {at: Drawing(null=null, defined=defined[at]) for at, null in nulls.items() if at in defined}
    for cluster in shared:
        seed = seed_of(asked.seed, f"metrics {cluster.series[0]}")
        for name in {name for _, name in found}:
            own = [at for at in ((series, name) for series in cluster.series) if at in found]
            alike = cluster.identical and cluster.aligned and len({found[at].null for at in own}) == 1
            found |= {at: replace(found[at], seed=seed, sorted=not alike) for at in own if len(own) > 1}
    return found
