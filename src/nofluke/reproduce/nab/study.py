"""Every number of NAB's table, computed once: three studies of its published scores, and what ties do at a quantile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.data.paths import expanded
from nofluke.data.tables import open_table
from nofluke.errors import InputError
from nofluke.lazy import lazy
from nofluke.plain import as_whole
from nofluke.studies.cases import Fault
from nofluke.studies.pooled_row import Pooled
from nofluke.studies.result import Study
from nofluke.studies.sources import read_source
from nofluke.studies.study import study

WHOLE = 58  # series of numenta/NAB
BUDGET, TOLERANCE, QUANTILE, MANY = "1%", "1%", 0.99, 0.05
NOT_SCORES = ("series", "timestamp", "value", "event", "window", "label")
NULLS = {"permutation": "the paper's null", "auto": "the null that fits the data"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """What ties do to one detector at the .99 quantile: the cells with alarms on more than 5% of steps, or on all.

    ``constant`` counts the cells in which all scores are equal, so that no budget below 100% has an alarm.
    """

    detector: str
    cells: int
    many: int
    everywhere: int
    constant: int


@dataclass(frozen=True, kw_only=True, eq=False)
class NabStudy:
    """Everything the tables and statements are made from.

    Attributes
    ----------
    source : str
        What the scores were read from, a name without its folders.
    clock : bool
        Whether series come with times.
    points : mapping of str to Study
        Point labels as events, by null.
    windows : Study or None
        Windows as events, without a tolerance; None where the source has none.
    ties : tuple of Ties
        One a detector.
    seed, n_resamples : int
    """

    source: str
    clock: bool
    points: Mapping[str, Study] = field(repr=False)
    windows: Study | None = field(repr=False)
    ties: tuple[Ties, ...] = field(repr=False)
    seed: int
    n_resamples: int

    @property
    def studies(self) -> dict[str, Study]:
        """All of them, by the names of their folders."""
        return {**self.points, **({} if self.windows is None else {"windows": self.windows})}

    @property
    def n_series(self) -> int:
        """Series that were read."""
        return self.points["auto"].n_series

    @property
    def whole(self) -> bool:
        """Whether these are all series of NAB."""
        return self.n_series == WHOLE

    @property
    def size(self) -> str:
        """How much of NAB this is, in words."""
        return f"the whole of NAB ({WHOLE} series)" if self.whole else f"{self.n_series} of NAB's {WHOLE} series"

    @lazy
    def rows(self) -> dict[str, dict[str, Pooled]]:
        """Pooled rows by study and detector."""
        return {name: {row.detector: row for row in one.pooled()} for name, one in self.studies.items()}

    @lazy
    def detectors(self) -> tuple[str, ...]:
        """Names, the highest F1 first."""
        return self.points["auto"].leaderboard().detectors

    def row(self, null: str, detector: str) -> Pooled | None:
        """One detector on point labels; None where the source does not have it."""
        return self.rows[null].get(detector)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where NAB's scores and labels are: arguments of `nofluke.study` for points, and for windows if there are any."""

    name: str
    path: Path
    points: Mapping[str, Any] = field(repr=False)
    windows: Mapping[str, Any] | None = field(repr=False)

    @classmethod
    def of(cls, source: str | Path) -> Source:
        """Of a table with a column a detector, or of the folder of a clone of numenta/NAB."""
        path = expanded(source, "source")
        return cls._folder(path, source) if path.is_dir() else cls._table(path)

    @classmethod
    def _folder(cls, path: Path, given: str | Path) -> Source:
        labels, windows = (path / "labels" / f"combined_{kind}.json" for kind in ("labels", "windows"))
        if not labels.is_file() or not (path / "results").is_dir():
            raise InputError(
                argument="source",
                value=str(given),
                problem="has no labels/combined_labels.json, or no results",
                remedy="pass the folder of a clone of numenta/NAB, or a table with the columns series and event",
            )
        found = {"layout": "nab", "ranges": windows}
        return cls(
            name=path.resolve().name,
            path=path,
            points={"layout": "nab", "ranges": labels},
            windows=found if windows.is_file() else None,
        )

    @classmethod
    def _table(cls, path: Path) -> Source:
        with open_table(path, [], None) as table:
            names = list(table.names)
        scores = [name for name in names if name not in NOT_SCORES]
        columns = {"series": "series", "scores": scores}
        return cls(
            name=path.name,
            path=path,
            points={**columns, "truth": "event"},
            windows={**columns, "truth": "window"} if "window" in names else None,
        )


def run_nab_study(
    source: str | Path, *, directory: Path, seed: int, n_resamples: int, workers: int | None, detectors: Any = None
) -> NabStudy:
    """Compute the study of NAB's published scores; each part of it has its own folder in the directory.

    ``detectors`` are all of them if left out.
    """
    as_whole(seed, "seed", 0)
    found = Source.of(source)
    chosen = {} if detectors is None else {"scores": detectors}
    shared: dict[str, Any] = {
        "budget": BUDGET,
        "rng": seed,
        "n_resamples": n_resamples,
        "workers": workers,
        "resume": False,
    }
    points = {
        null: study(
            found.path,
            **{**found.points, **chosen},
            tolerance=TOLERANCE,
            null=null,
            title=f"NAB, point labels, {NULLS[null]}",
            out=directory / null,
            **shared,
        )
        for null in NULLS
    }
    windows = None
    if found.windows is not None:
        windows = study(
            found.path,
            **{**found.windows, **chosen},
            count_events="ranges",
            title="NAB, windows",
            out=directory / "windows",
            **shared,
        )
    return NabStudy(
        source=found.name,
        clock="layout" in found.points,
        points=points,
        windows=windows,
        ties=ties_of(found, **chosen),
        seed=seed,
        n_resamples=n_resamples,
    )


def ties_of(found: Source, **chosen: Any) -> tuple[Ties, ...]:
    """Alarms at the quantile counted, without the laws of so many."""
    read = read_source(found.path, **{**found.points, **chosen})
    counts = {name: np.zeros(4, dtype=np.int64) for name in read.detectors}
    for chunk in read.chunks():
        for case in chunk.read():
            for name, column in case.detectors.items():
                if not isinstance(column, Fault):
                    scores = np.asarray(column, dtype=np.float64)
                    share = np.mean(scores >= np.quantile(scores, QUANTILE))
                    counts[name] += np.array([True, share > MANY, share == 1, scores.min() == scores.max()])
    return tuple(
        Ties(detector=name, cells=int(n), many=int(many), everywhere=int(every), constant=int(same))
        for name, (n, many, every, same) in counts.items()
    )
