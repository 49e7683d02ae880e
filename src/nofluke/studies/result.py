"""A study: its cells, what is told of all of them together, and the files that it leaves."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.data.paths import expanded, write_file
from nofluke.errors import InputError, shown
from nofluke.inference.compare_units import compared
from nofluke.inference.comparison import Comparison
from nofluke.inference.corrections import benjamini_hochberg
from nofluke.inference.interval import check_level
from nofluke.lazy import lazy
from nofluke.plain import as_whole, check_word
from nofluke.progress import progress_bar
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Chunk
from nofluke.studies.counts import Counts
from nofluke.studies.draws import Drawn, drawn_of
from nofluke.studies.engine import run
from nofluke.studies.folder import Folder
from nofluke.studies.leaderboard import About, Leaderboard
from nofluke.studies.missing import count_reasons, missing_cells
from nofluke.studies.origin import read_origin
from nofluke.studies.pairs import Pairs
from nofluke.studies.plan import Plan
from nofluke.studies.pooled import Laws, Pooling
from nofluke.studies.pooled_row import Pooled
from nofluke.studies.schema import MEASURES
from nofluke.studies.shared import Shared, SharedTruths, shared_truths
from nofluke.studies.stored_laws import StoredLaws
from nofluke.studies.tables import Columns
from nofluke.text.frames import Backend, make_frame
from nofluke.text.tables import plural

N_DRAWS = 4_999
LEVEL = 0.95
_POOLED = "pooled.json"


class Study:
    """Many detectors on many series, as `nofluke.study` made it or a folder holds it.

    Attributes
    ----------
    detectors : tuple of str
        In the order of the study.
    path : Path
        The folder with its files; a temporary one where none was named.
    title : str
    alpha : float
        The level of verdicts.
    """

    def __init__(
        self,
        *,
        folder: Folder,
        settings: Mapping[str, Any],
        asked: Asked | None = None,
        chunks: Sequence[Chunk] | None = None,
    ) -> None:
        self._folder, self._settings, self._asked, self._chunks = folder, settings, asked, chunks
        self.detectors: tuple[str, ...] = tuple(settings["detectors"])
        self.title: str = settings["title"]
        self.alpha: float = settings["alpha"]
        self.path = folder.path
        self._how: dict[str, Any] = {}
        self._pooled: dict[tuple[int, float], tuple[Pooled, ...]] = {}
        self._pairs: dict[float, Comparison] = {}

    @classmethod
    def open(cls, path: str | Path) -> Study:
        """The study that a folder holds, finished or not; what needs the data again is told as it was when they were at hand.

        >>> Study.open("nowhere")
        Traceback (most recent call last):
        nofluke.errors.InputError: path='nowhere' holds no study: name the folder that was passed as out.
        """
        place = expanded(path, "path")
        told = read_origin(place / "study.json")
        if told is None:
            raise InputError(f"path={str(path)!r} holds no study: name the folder that was passed as out.")
        return cls(folder=Folder(place), settings=told["settings"])

    @lazy
    def cells(self) -> Columns:
        """All cells that have a result: columns by name, as in results.parquet."""
        return self._folder.read("cells")

    @lazy
    def failed(self) -> Columns:
        """What has no result and why: series, group, detector ("" for all of them), reason."""
        return self._folder.read("failed")

    @property
    def n_series(self) -> int:
        """Series, those without any result too."""
        return len({*self.cells["series"].tolist(), *self.failed["series"].tolist()})

    @property
    def n_cells(self) -> int:
        """Cells, those without a result too."""
        return len(self.cells["series"]) + self.n_missing

    @lazy
    def n_missing(self) -> int:
        """Cells without a result."""
        return sum(1 for _ in missing_cells(self.failed, self.detectors))

    def cell(self, series: str, detector: str) -> dict[str, Any]:
        """Everything about one cell: the row of results.parquet."""
        check_word(detector, "detector", self.detectors)
        found = np.flatnonzero((self.cells["series"] == series) & (self.cells["detector"] == detector))
        if len(found):
            return {name: _plainly(values[found[0]]) for name, values in self.cells.items()}
        reasons = {(name, one): reason for name, one, reason in missing_cells(self.failed, self.detectors)}
        if (series, detector) in reasons:
            raise InputError(f"series={shown(series)} has no result for {detector}: {reasons[series, detector]}")
        close = difflib.get_close_matches(str(series), self.cells["series"].tolist(), n=1)
        hint = f"; did you mean {shown(close[0])}?" if close else ": see study.cells['series']."
        raise InputError(f"series={shown(series)} is not in this study{hint}")

    def to_frame(self, backend: Backend | None = None) -> Any:
        """All cells as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.cells, backend)

    def corrected(self, measure: str = "recall") -> FloatArray:
        """The p-values of all cells by a measure, corrected by Benjamini and Hochberg, in the order of `cells`.

        Of the cells below some level, so large a share at most is expected to be false.
        """
        check_word(measure, "measure", MEASURES)
        return benjamini_hochberg(np.where(self.cells["holds"].astype(bool), self.cells[f"{measure}_pvalue"], np.nan))

    @lazy
    def shared(self) -> tuple[Shared, ...]:
        """Sets of series that share one truth, or nearly so: their chance is worked out with one placement of the events."""
        return self._sharing.clusters

    @lazy
    def _sharing(self) -> SharedTruths:
        return shared_truths(self._folder.read("truths"))

    @lazy
    def _counts(self) -> Counts:
        return Counts.of(self.cells, self.detectors, self.shared)

    def pooled(self, *, n_resamples: int = N_DRAWS, level: float = LEVEL) -> tuple[Pooled, ...]:
        r"""Each detector over all series: pooled precision, recall and F1 beside chance, with intervals and a verdict.

        .. math:: P = \frac{\sum_s h_s}{\sum_s a_s} \qquad R = \frac{\sum_s f_s}{\sum_s e_s}
            \qquad p = P\Big(\sum_s X_s \ge \sum_s h_s\Big)

        over series s with hits h of a alarms and f found of e events. Laws X of cells are added: the p-values of precision and recall are
        exact where all of theirs are; F1's is simulated. Series that share a truth are placed together. Those on which no null holds
        count in the values, and not in chance.

        Parameters
        ----------
        n_resamples : int
            Draws for F1, and for what has no law in closed form.
        level : float
            Of the intervals, which take series, or groups, for independent.

        Returns
        -------
        tuple of Pooled
            In the order of `detectors`. P-values are corrected for their number (Holm), and the verdict goes by these.
            ``skill_in`` is the number of groups in which there is skill by either measure, with confidence 1 - alpha.

        References
        ----------
        Benjamini and Heller (2008), Screening for partial conjunction hypotheses.
        """
        n, level = as_whole(n_resamples, "n_resamples", 1), check_level(level)
        if (n, level) not in self._pooled:
            self._pooled[n, level] = self._pool(n, level)
        return self._pooled[n, level]

    def _pool(self, n: int, level: float) -> tuple[Pooled, ...]:
        if self._chunks is None or self._asked is None:
            return self._stored(n, level)
        plan = Plan.of(self.cells, self._folder.read("truths"), self.shared, self.detectors, self._asked, n)
        pooling = Pooling(
            counts=self._counts,
            cells=self.cells,
            plan=plan,
            drawn=self._drawn(plan, n),
            laws_of=self._laws,
            n_draws=n,
            n_failed=Counter(detector for _, detector, _ in missing_cells(self.failed, self.detectors)),
            alpha=self.alpha,
            level=level,
        )
        best = self._compared(level).not_told_from_best if len(self.detectors) > 1 else self.detectors
        return pooling.rows(best)

    def _drawn(self, plan: Plan, n: int) -> Drawn:
        """Draws of all cells, by the engine that computed them."""
        assert self._chunks is not None  # asked for only where data are at hand
        assert self._asked is not None
        tasks = dict(enumerate(plan.tasks(self._chunks, self.detectors)))
        total, lost = Drawn(), []
        with progress_bar("draws for pooling", len(tasks)) as advance:
            done = 0

            def keep(_: int, found: Drawn) -> None:
                nonlocal total, done
                total += found
                done += 1
                advance(done)

            run(
                partial(drawn_of, asked=self._asked, n=n),
                tasks,
                on_done=keep,
                on_failed=lambda _, reason: lost.append(reason),
                **self._how,
            )
        if lost:
            raise InputError(f"the data of this study could not be read again for pooling: {lost[0]}")
        return total

    def _laws(self, detector: str) -> Laws:
        columns = self._folder.read("laws", where={"detector": detector})
        found: dict[str, dict[str, Any]] = {measure: {} for measure in MEASURES}
        for series, measure, law in zip(columns["series"], columns["measure"], StoredLaws(columns), strict=True):
            found[measure][series] = law
        return found

    def compare(self, *detectors: str, level: float = LEVEL, n_resamples: int = 9_999, rng: Any = None) -> Comparison:
        """Which detector is better over all series, by exchanging two detectors' results series by series, or group by group.

        Parameters
        ----------
        *detectors : str
            Those to compare, all if none is named. A pair is compared on the series that both have.
        level, n_resamples, rng
            As in `nofluke.compare`; the seed is that of the study unless another is given.
        """
        names = detectors or self.detectors
        for name in names:
            check_word(name, "detectors", self.detectors)
        counts = self._counts
        return compared(
            {name: counts.by_unit(name) for name in dict.fromkeys(names)},
            counts.of_both,
            noun=counts.kind,
            alpha=self.alpha,
            level=level,
            n_resamples=n_resamples,
            rng=self._settings["seed"] if rng is None else rng,
            title=self.title,
            notes=counts.notes,
        )

    def _compared(self, level: float) -> Comparison:
        """All detectors, once: it takes longer than all cells, and both pooled rows and the leaderboard ask for it."""
        if level not in self._pairs:
            self._pairs[level] = self.compare(level=level)
        return self._pairs[level]

    def leaderboard(self, *, n_resamples: int = N_DRAWS, level: float = LEVEL) -> Leaderboard:
        """Detectors best first, with intervals, chance, corrected p-values, verdicts and all pairs."""
        rows = self.pooled(n_resamples=n_resamples, level=level)
        pairs = Pairs.of(self._compared(level)) if len(self.detectors) > 1 else None
        settings = self._settings
        return Leaderboard(
            rows=rows,
            pairs=pairs,
            about=About(
                title=self.title,
                null=settings["null"],
                tolerance=settings["tolerance"],
                threshold=settings["cut"],
                n_series=self.n_series,
                n_groups=self._counts.n_units,
                missing=count_reasons(self.failed, self.detectors),
                alpha=self.alpha,
                level=level,
                notes=(*self._unsearched(), *self._counts.notes, *self._folder.notes, *self._discoveries()),
            ),
        )

    def _unsearched(self) -> tuple[str, ...]:
        if not self._sharing.unsearched:
            return ()
        return ("There are too many events to look for series with nearly the same truth: only equal ones were found.",)

    def _discoveries(self) -> tuple[str, ...]:
        found = {measure: int(np.count_nonzero(self.corrected(measure) <= self.alpha)) for measure in MEASURES}
        return (
            f"Of {plural(len(self.cells['series']), 'cell')}, {found['precision']:,} are better than chance by precision and "
            f"{found['recall']:,} by recall at a false discovery rate of {self.alpha:.3g} (Benjamini-Hochberg).",
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw pooled F1 with intervals, beside chance (matplotlib); returns the Axes."""
        return self.leaderboard().plot(ax)

    def write(self, path: str | Path | None = None) -> Path:
        """Write leaderboard.csv, .md, .tex and .html to a folder, by default the study's own."""
        from nofluke.show.leaderboard import make_leaderboard_page

        place = self.path if path is None else expanded(path, "path")
        board = self.leaderboard()
        files = {
            "leaderboard.csv": board.to_csv(),
            "leaderboard.md": board.to_markdown(),
            "leaderboard.tex": board.to_latex(),
            "leaderboard.html": make_leaderboard_page(board, cells=self.cells, failed=self.failed),
        }
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_file(place / name, text, str(place / name))
        return place

    def settled(self, *, workers: int | None, executor: Executor | None, write: bool) -> Study:
        """The same, which computes wherever its cells were computed; with its leaderboard written."""
        self._how = {"workers": workers, "executor": executor}
        if write:
            self._keep(self.pooled())
            self.write()
        self._how = {"workers": workers}  # an executor may be gone later
        return self

    def _keep(self, rows: tuple[Pooled, ...]) -> None:
        """Pooled rows are kept, since they need the data."""
        told = {"n_resamples": N_DRAWS, "level": LEVEL, "rows": [row.to_dict() for row in rows]}
        write_file(self.path / _POOLED, json.dumps(told, indent=1) + "\n", str(self.path / _POOLED))

    def _stored(self, n: int, level: float) -> tuple[Pooled, ...]:
        try:
            told = json.loads((self.path / _POOLED).read_bytes())
        except OSError:
            told = None
        if told is None or (told["n_resamples"], told["level"]) != (n, level):
            raise InputError(
                "pooling draws from the data, which an opened folder does not hold: call nf.study again with the same arguments."
            )
        return tuple(Pooled.of_dict(row) for row in told["rows"])

    def __repr__(self) -> str:
        missing = f", {self.n_missing:,} missing" if self.n_missing else ""
        size = f"{plural(len(self.detectors), 'detector')} on {plural(self.n_series, 'series', 'series')}"
        return f"<Study of {size}: {plural(self.n_cells, 'cell')}{missing}; {self.path}>"

    def __str__(self) -> str:
        return str(self.leaderboard())

    def _repr_html_(self) -> str:
        return self.leaderboard()._repr_html_()


def _plainly(value: Any) -> Any:
    """A cell of a table as a plain value."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
