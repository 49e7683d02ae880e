"""A study: its cells, what is said about all of them together, and the files that it leaves."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from nofluke.arrays import AnyArray, FloatArray
from nofluke.data.paths import expanded, write_file
from nofluke.errors import InputError, Words, arg, kind_of, say, shown, unpacked
from nofluke.inference.compare import Comparison
from nofluke.inference.corrections import benjamini_hochberg
from nofluke.inference.interval import MEASURES as HITS
from nofluke.inference.interval import check_level, linearise
from nofluke.lazy import lazy
from nofluke.nulls import SERIES_EXCHANGE
from nofluke.nulls.base import check_resamples
from nofluke.nulls.choice import AUTO
from nofluke.plain import as_share, check_word
from nofluke.progress import progress_bar
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Chunk
from nofluke.studies.draws import N_DRAWS, Drawn, Joint, drawn_of, metrics_of
from nofluke.studies.leaderboard import About, Leaderboard, Pairs, Standing
from nofluke.studies.memory import Memory
from nofluke.studies.metrics import Means, MetricPooling, with_metrics
from nofluke.studies.pooled import Laws, Plan, Pooling
from nofluke.studies.pooled_row import InGroup, Pooled, PooledByGroup
from nofluke.studies.run import run
from nofluke.studies.shared import Places, Shared, SharedTruths, places_of, shared_truths
from nofluke.studies.store import (
    MEASURES,
    POOLED,
    RESUME,
    TRUTHS,
    Columns,
    Folder,
    StoredLaw,
    cells_with,
    count_reasons,
    look_up,
    missing_cells,
    rows_named,
)
from nofluke.studies.units import Counts, compare_counts
from nofluke.text.exports import Exports
from nofluke.text.tables import Table, plural

# ---- remarks on a leaderboard: how series were read, what was not searched


MOST = 5  # notes on reading that are told


def from_reading(notes: Iterable[Sequence[str]]) -> Iterator[str]:
    """What readers had to say of series, that of one kind together, most frequent first.

    >>> from nofluke.errors import Remark
    >>> notes = [Remark("several files", "Its rows come from {} files.", n) for n in (2, 3)]
    >>> list(from_reading([[notes[0]], [notes[1]], []]))
    ['On 2 series: Its rows come from 2 files.']
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for own in notes:
        for note in own:
            counts[kind_of(note)] += 1
            first.setdefault(kind_of(note), note)
    for kind, count in counts.most_common(MOST):
        yield say("On {}: {}", plural(count, "series", "series"), first[kind])
    if len(counts) > MOST:
        yield f"{plural(len(counts) - MOST, 'other note')} on how series were read: see the cells' notes."


def remarks(sharing: SharedTruths, corrected: Mapping[str, FloatArray], alpha: float) -> Iterator[str]:
    """Sentences, from p-values of all cells that are corrected for false discoveries, by measure; NaN are no tests."""
    if sharing.unsearched:
        yield "There are too many events to find all series with nearly the same truth: some may be treated as independent."
    found = " and ".join(
        f"{int(np.count_nonzero(pvalues <= alpha)):,} by {measure}" for measure, pvalues in corrected.items()
    )
    n_cells = int(np.count_nonzero(~np.isnan(next(iter(corrected.values())))))
    yield (
        f"Of {plural(n_cells, 'cell')} with a null that holds, {found} are better than chance at a false discovery rate of {alpha:.3g} "
        "(Benjamini and Hochberg)."
    )


def of_ties(cells: Mapping[str, AnyArray], detectors: Sequence[str], budget: Any) -> Iterator[Words]:
    """How many cells have no alarms since more scores are tied at the cut than a budget allows, and whose they are."""
    if budget is None:
        return
    share = as_share(budget, "budget")
    lengths, which = np.unique(np.asarray(cells["n"]), return_inverse=True)
    allowed = np.array([int(share * n) for n in lengths.tolist()], dtype=np.int64)
    none = np.isinf(np.asarray(cells["threshold"], dtype=np.float64)) & (allowed[which] > 0)
    many = int(np.count_nonzero(none))
    if many:
        own = {name: rows_named(cells["detector"], name) for name in detectors}
        most = max(detectors, key=lambda name: int(np.count_nonzero(none & own[name])))
        worst = f"{int(np.count_nonzero(none & own[most])):,} of {int(np.count_nonzero(own[most])):,} for {shown(most)}"
        yield say(
            "Scores tied at the cut leave no alarm in {} of {} ({}), which counts against these detectors: {} picks as many "
            "of the tied steps as the budget allows.",
            f"{many:,}",
            plural(len(none), "cell"),
            worst,
            arg("cut_ties", "random"),
        )


def of_places(places: Places, null: str) -> Iterator[str]:
    """That events share their places, and what that means for p-values."""
    if not places.coincide:
        return
    rest = f"Labels are exchanged between series, which keeps places. P-values of single series do not ({CELLS_TOO})."
    if null not in (AUTO, SERIES_EXCHANGE):
        rest = f"The requested null does not keep places: {SERIES_EXCHANGE} does ({CELLS_TOO})."
    yield f"{places.told}, more than chance allows. {rest}"


CELLS_TOO = "a detector that fires there on every series seems to have skill"


# ---- a study's data once more, as far as pooling needs them, by the engine that computed its cells


def redrawn(
    plan: Plan, chunks: Sequence[Chunk], detectors: Sequence[str], asked: Asked, n: int, how: Mapping[str, Any]
) -> Drawn:
    """What is drawn of series that share a truth or exchange their labels, and of metrics; ``how`` has the workers."""
    tasks = {i: task for i, task in enumerate(plan.tasks(chunks, detectors)) if task.cells}
    coming = Counter((cluster, name) for task in tasks.values() for (cluster, _, name), _ in task.together.values())
    total, lost, done = Drawn(), list[Words](), 0
    if not tasks:
        return total
    order, waiting = iter(tasks), dict[int, Drawn]()
    turn = next(order, None)
    with progress_bar("draws for pooling", len(tasks)) as advance:

        def keep(i: int, found: Drawn) -> None:
            nonlocal total, done, turn
            waiting[i] = found
            while turn in waiting:  # in the order of tasks: sums of floats depend on it
                total += waiting.pop(turn)
                for (cluster, _, name), _ in tasks[turn].together.values():
                    coming[cluster, name] -= 1
                    if coming[cluster, name] == 0:
                        total.close(cluster, name)
                turn = next(order, None)
            done += 1
            advance(done)

        def lose(_: int, reason: Words) -> None:
            lost.append(reason)

        run(partial(drawn_of, asked=asked, n=n), tasks, on_done=keep, on_failed=lose, **how)
    if lost:
        raise InputError(problem="the data of this study could not be read again for pooling", remedy=lost[0])
    return total


def joints_of(folder: Folder | Memory, detector: str) -> dict[str, Joint]:
    """Pairs of both hits of a detector's cells, by series."""
    columns = folder.read("joints", where={"detector": detector})
    found = {}
    for series, pairs, listed in zip(columns["series"], columns["pairs"], columns["listed"], strict=True):
        precision, recall, counts = pairs.reshape(-1, 3).T
        found[str(series)] = Joint(precision=precision, recall=recall, counts=counts, listed=bool(listed))
    return found


def laws_of(folder: Folder | Memory, detector: str) -> Laws:
    """The laws of a detector's cells, by measure and series."""
    columns = folder.read("laws", where={"detector": detector})
    found: dict[str, dict[str, Any]] = {measure: {} for measure in MEASURES}
    for measure, series, law in zip(columns["measure"], columns["series"], StoredLaw.of_rows(columns), strict=True):
        found[measure][series] = law
    return found


# ---- a study's table that reads each column when it is first asked for

_WORDY = ("notes", "reason", "tolerance")  # text of which each cell has its own: read again, not kept


class LazyTable(MutableMapping[str, AnyArray]):
    """The columns of one table of a folder, by name.

    Parameters
    ----------
    folder : Folder or Memory
    table : str
        "cells", "failed", "timings", "laws" or "truths".
    names : sequence of str
        Its columns.
    """

    def __init__(self, folder: Folder | Memory, table: str, names: Sequence[str]) -> None:
        self._folder, self._table, self._names = folder, table, tuple(names)
        self._kept: dict[str, AnyArray] = {}

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self._names:
            raise KeyError(name)
        if name in self._kept:
            return self._kept[name]
        found = self._folder.read(self._table, columns=[name])[name]
        if name not in _WORDY and not name.endswith("_method"):
            self._kept[name] = found
        return found

    def __setitem__(self, name: str, values: AnyArray) -> None:
        self[name]  # refuses what is no column
        self._kept[name] = values

    def __delitem__(self, name: str) -> None:
        self._kept.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


# ---- pooled rows in the folder of a study: they are drawn from the data, which a folder does not hold


def keep(
    folder: Folder, rows: tuple[Pooled, ...], groups: PooledByGroup | None, n_resamples: int, level: float, rank_by: str
) -> None:
    """Write the rows that were pooled with so many draws and intervals of that level, and what ranks them."""
    told = {"n_resamples": n_resamples, "level": level, "rank_by": rank_by, "rows": [row.to_dict() for row in rows]}
    if groups is not None:
        told["groups"] = [row.to_dict() for row in groups.rows]
    place = folder.path / POOLED
    write_file(place, json.dumps(told, indent=1) + "\n", str(place))


def kept(folder: Folder) -> dict[str, Any] | None:
    """What a finished study has kept of pooled rows."""
    if not folder.is_intact(POOLED):
        return None
    told: dict[str, Any] = json.loads((folder.path / POOLED).read_bytes())
    return told


def stored(folder: Folder, n_resamples: int, level: float) -> tuple[Pooled, ...]:
    """The rows that were kept; refuses other settings than theirs."""
    told = kept(folder)
    if told is None or (told["n_resamples"], told["level"]) != (n_resamples, level):
        raise _needs_data(told)
    return tuple(Pooled.of_dict(row) for row in told["rows"])


def stored_groups(folder: Folder, n_resamples: int) -> tuple[InGroup, ...]:
    """The same by group; there are no intervals."""
    told = kept(folder)
    if told is None or "groups" not in told or told["n_resamples"] != n_resamples:
        raise _needs_data(told)
    return tuple(InGroup.of_dict(row) for row in told["groups"])


def _needs_data(told: Mapping[str, Any] | None) -> InputError:
    """That rows would have to be pooled anew; ``told`` are those that were kept."""
    others = "" if told is None else f" other than with {told['n_resamples']} draws and level {told['level']}"
    return InputError(
        problem=f"pooling{others} needs the data, which an opened folder does not hold",
        remedy="call nf.study again with the same arguments",
    )


# ---- a study: its cells, what is said about all of them together, and the files that it leaves

LEVEL = 0.95
MOST_GROUPS = 100  # that a leaderboard tells apart without being asked to
FLOORS = 4  # how many times over the smallest p-value of draws, corrected for all rows, goes into alpha
MOST_DRAWS = 50_000  # that are made for this
RANKED = ("f1", "precision", "recall")


class Study(Exports):
    """Many detectors on many series: made by `nofluke.study`, or read from a folder.

    Attributes
    ----------
    detectors : tuple of str
        In the order of the study.
    path : Path or None
        The folder with its files; None if none was named.
    title : str
    alpha : float
        The level of verdicts.
    measures : tuple of str
        What it can be ranked by: "precision", "recall", "f1", and its metrics.
    rank_by : str
        What its leaderboard is ranked by unless another is asked for.
    unused : tuple of str
        What of the source is not used, and why: files and columns, with how many there are and an example.

    See Also
    --------
    nofluke.study : makes it.
    nofluke.Comparison : what ``Study.compare`` returns.
    nofluke.plot.leaderboard : draws the pooled values.
    nofluke.plot.verdicts : draws every cell.

    Examples
    --------
    >>> import nofluke as nf
    >>> labels, scores = [0, 0, 1, 0, 0, 0, 0, 0, 0] * 2, [1, 2, 9, 1, 2, 1, 2, 1, 2] * 2
    >>> table = {"name": ["a"] * 9 + ["b"] * 9, "label": labels, "z": scores}
    >>> study = nf.study(table, series="name", truth="label", scores="z", threshold=5, null="permutation", workers=1)
    >>> study.cell("b", "z")["recall"], study.n_cells
    (1.0, 2)
    """

    def __init__(
        self,
        *,
        folder: Folder | Memory,
        settings: Mapping[str, Any],
        asked: Asked | None = None,
        chunks: Sequence[Chunk] | None = None,
        rank_by: str = "f1",
        unused: Sequence[str] = (),
    ) -> None:
        self.unused = tuple(unused)
        self._folder, self._settings, self._asked, self._chunks = folder, settings, asked, chunks
        folder.cells = cells_with(settings["metrics"])
        self.detectors: tuple[str, ...] = tuple(settings["detectors"])
        self.title, self.alpha, self.path = str(settings["title"]), float(settings["alpha"]), folder.path
        self.measures: tuple[str, ...] = (*RANKED, *settings["metrics"])
        self.rank_by = rank_by
        self._how: dict[str, Any] = {}
        self._pooled: dict[tuple[int, float], tuple[Pooled, ...]] = {}
        self._by_group: dict[int, PooledByGroup] = {}
        self._made_pooling: Pooling | None = None
        self._pairs: dict[float, Comparison] = {}

    @classmethod
    def open(cls, path: str | Path) -> Study:
        """The study in a folder, finished or not; whatever needs the data is as it was when they were at hand.

        >>> Study.open("nowhere")
        Traceback (most recent call last):
        nofluke.errors.InputError: path='nowhere' holds no study: name the folder that was passed as out.
        """
        folder = Folder.opened(path)
        assert folder.origin is not None
        return cls(
            folder=folder,
            settings=folder.origin.settings,
            rank_by=(kept(folder) or {}).get("rank_by", "f1"),
            unused=[unpacked(note) for note in folder.origin.unused],
        )

    @property
    def unfinished(self) -> str:
        """What a study that was opened lacks, in words; "" if it was written to its end, or is just being asked for."""
        if self._chunks is not None or not isinstance(self._folder, Folder) or self._folder.finished:
            return ""
        assert self._folder.origin is not None
        lost, total = len(self._folder.missing_parts), len(self._folder.origin.parts)
        if lost:
            return f"{lost:,} of its {plural(total, 'part')} {'is' if lost == 1 else 'are'} missing"
        return "all parts are there, but it was not pooled to the end"

    @lazy
    def cells(self) -> LazyTable:
        """All cells that have a result: columns by name, each read when it is asked for."""
        return LazyTable(self._folder, "cells", tuple(self._folder.cells))

    @lazy
    def failed(self) -> Columns:
        """What has no result and why: series, group, detector ("" for all of them), reason."""
        return self._folder.read("failed")

    @property
    def n_series(self) -> int:
        """Series, including those without any result."""
        there = len({*self.cells["series"].tolist(), *self.failed["series"].tolist()})
        return there + sum(self._folder.missing_parts)

    @property
    def n_cells(self) -> int:
        """Cells, including those without a result."""
        return len(self.cells["series"]) + self.n_missing

    @lazy
    def n_missing(self) -> int:
        """Cells without a result, those among them that an unfinished study has not come to."""
        failed = sum(1 for _ in missing_cells(self.failed, self.detectors))
        return failed + sum(self._folder.missing_parts) * len(self.detectors)

    def cell(self, series: str, detector: str) -> dict[str, Any]:
        """Everything about one cell: the row of results.parquet."""
        missing = self.unfinished if self._folder.missing_parts else ""
        return look_up(self.cells, self.failed, self.detectors, series, detector, missing)

    def corrected(self, measure: str = "recall") -> FloatArray:
        """The p-values of all cells by a measure, corrected by Benjamini and Hochberg, in the order of `cells`.

        Of the cells below some level, at most that share is expected to be false. All cells have to be there.
        """
        check_finished(self)
        check_word(measure, "measure", MEASURES)
        return benjamini_hochberg(np.where(self.cells["holds"].astype(bool), self.cells[f"{measure}_pvalue"], np.nan))

    @lazy
    def shared(self) -> tuple[Shared, ...]:
        """Sets of series with the same truth, or nearly: chance uses one placement of the events for all of them."""
        return self._sharing.clusters

    @lazy
    def _truths(self) -> LazyTable:
        check_finished(self)  # series that share a truth may be among those that are missing
        return LazyTable(self._folder, "truths", tuple(TRUTHS))

    @lazy
    def _sharing(self) -> SharedTruths:
        return shared_truths(self._truths)

    @lazy
    def places(self) -> Places:
        """Whether events of many series begin at the same places, as in archives that cut their series by them."""
        return places_of(self._truths, self.shared)

    @property
    def exchanges(self) -> bool:
        """Whether series are pooled with labels exchanged between them: if asked for, or if places coincide."""
        return self._settings["null"] == SERIES_EXCHANGE or (self._settings["null"] == AUTO and self.places.coincide)

    @lazy
    def _counts(self) -> Counts:
        return Counts.of(self.cells, self.failed, self.detectors, self.shared)

    @lazy
    def _means(self) -> Means:
        settings = self._settings
        return Means.of(self.cells, self._counts, settings["metrics"], frozenset(settings["lower_is_better"]))

    @overload
    def pooled(
        self, *, by: Literal["detector"] = "detector", n_resamples: int | None = None, level: float = LEVEL
    ) -> tuple[Pooled, ...]: ...
    @overload
    def pooled(
        self, *, by: Literal["group"], n_resamples: int | None = None, level: float = LEVEL
    ) -> PooledByGroup: ...
    def pooled(
        self,
        *,
        by: Literal["detector", "group"] = "detector",
        n_resamples: int | None = None,
        level: float = LEVEL,
    ) -> tuple[Pooled, ...] | PooledByGroup:
        r"""Each detector over all series: pooled precision, recall and F1 with chance, with intervals and a verdict.

        .. math:: P = \frac{\sum_s h_s}{\sum_s a_s} \qquad R = \frac{\sum_s f_s}{\sum_s e_s}
            \qquad p = P\Big(\sum_s X_s \ge \sum_s h_s\Big)

        over series s with hits h of a alarms and f found of e events. Laws X of cells are added: the p-values of
        precision and recall are exact where all of theirs are; F1's is simulated. Series that share a truth are placed
        together, and where that has to be drawn, they alone are drawn: ``method`` says how many parts of the sum. Those
        on which no null holds count in the values, and not in chance. Where events of many series begin at the same
        places, or if it was asked for, labels are exchanged between series in place of all that.

        Parameters
        ----------
        by : {"detector", "group"}
            Over all series, or over those of each group: which detectors are better than chance in which group.
        n_resamples : int, optional
            Draws for F1, and for what has no law in closed form. Unless a number is given, as many as the study's; if
            these are 10,000 or more, at least four times as many as the smallest p-value needs to reach alpha after
            correction over all rows, but no more than 50,000 for that.
        level : float
            Of the intervals, which take series, or groups, for independent.

        Returns
        -------
        tuple of Pooled, or PooledByGroup
            In the order of `detectors`. P-values are corrected for their number (Holm), and the verdict uses these.
            ``skill_in`` is the number of groups in which there is skill by either measure, with confidence 1 - alpha.
            By group, there is a row for each detector and group, corrected for all of them, without intervals.

        References
        ----------
        Benjamini and Heller (2008), Screening for partial conjunction hypotheses.
        """
        check_finished(self)
        check_word(by, "by", ("detector", "group"))
        level = check_level(level)
        n = self._n_draws(by) if n_resamples is None else check_resamples(n_resamples)
        if by == "group":
            return self._in_groups(n, level)
        if (n, level) not in self._pooled:
            self._pooled[n, level] = self._pool(n, level)
        return self._pooled[n, level]

    def _n_draws(self, by: str) -> int:
        """Draws of pooled rows where nobody says how many; those that are kept have theirs."""
        if self._chunks is None and isinstance(self._folder, Folder) and (told := kept(self._folder)) is not None:
            return int(told["n_resamples"])
        asked = int(self._settings["n_resamples"])
        if asked < N_DRAWS:  # somebody is in a hurry
            return asked
        counts, rows = self._counts, len(self.detectors)
        if counts.named and (by == "group" or len(counts.names) <= MOST_GROUPS):
            rows = sum(len(np.unique(counts.groups[there])) for there in counts.there.T)
        enough = math.ceil(FLOORS * rows / self.alpha)
        return max(asked, min(enough, MOST_DRAWS))

    def _in_groups(self, n: int, level: float) -> PooledByGroup:
        if not self._counts.named:
            raise InputError(
                argument="by",
                value="group",
                problem="needs groups of several series, and this study has none",
                remedy=say("name them by {}", arg("group")),
            )
        if n not in self._by_group:
            if self._chunks is None or self._asked is None:
                assert isinstance(self._folder, Folder)  # it was opened
                rows = stored_groups(self._folder, n)
            else:
                rows = self._pooling(n, level).by_group()
            self._by_group[n] = self._grouped(rows)
        return self._by_group[n]

    def _grouped(self, rows: tuple[InGroup, ...]) -> PooledByGroup:
        return PooledByGroup(title=self.title, rows=rows, alpha=self.alpha)

    def _pool(self, n: int, level: float) -> tuple[Pooled, ...]:
        if self._chunks is None or self._asked is None:
            assert isinstance(self._folder, Folder)  # it was opened
            return stored(self._folder, n, level)
        pooling = self._pooling(n, level)
        metrics = MetricPooling(
            means=self._means,
            metrics=metrics_of(self._asked),
            counts=self._counts,
            cells=self.cells,
            plan=pooling.plan,
            drawn=pooling.drawn.metrics,
            n_draws=n,
            alpha=self.alpha,
            level=level,
            auto=pooling.auto,
        ).rows()
        best = self._compared(level, self.rank_by).not_told_from_best if len(self.detectors) > 1 else ()
        return tuple(replace(row, metrics=metrics.get(row.detector, ())) for row in pooling.rows(best))

    def _pooling(self, n: int, level: float) -> Pooling:
        """All that pooled rows are made of; the data of some series are looked at again."""
        assert self._asked is not None
        assert self._chunks is not None  # asked for only where the data are at hand
        if self._made_pooling is None or (self._made_pooling.n_draws, self._made_pooling.level) != (n, level):
            counts, asked = self._counts, self._asked
            if self.exchanges:
                plan = Plan.of_exchange(self.cells, self._truths, self.shared, counts, asked)
            else:
                plan = Plan.of(self.cells, self._truths, self.shared, counts, asked, n)
            self._made_pooling = Pooling(
                counts=counts,
                cells=self.cells,
                plan=plan,
                drawn=redrawn(plan, self._chunks, self.detectors, asked, n, self._how),
                laws_of=partial(laws_of, self._folder),
                joints_of=partial(joints_of, self._folder),
                shifts=self._folder.read("shifts"),
                n_draws=n,
                seed=asked.seed,
                n_failed=Counter(detector for _, detector, _ in missing_cells(self.failed, self.detectors)),
                alpha=self.alpha,
                level=level,
                auto=asked.model is None,
            )
        return self._made_pooling

    def compare(
        self,
        *detectors: str,
        rank_by: str | None = None,
        level: float = LEVEL,
        n_resamples: int = 9_999,
        rng: Any = None,
    ) -> Comparison:
        """Which detector is better over all series: swaps two detectors' results series by series, or group by group.

        Parameters
        ----------
        *detectors : str
            Those to compare, all if none is named. A pair is compared on the series that both have.
        rank_by : str, optional
            The measure that says which is best, one of `measures`; the study's own if none is named. All of them are
            compared.
        level, n_resamples, rng
            As in `nofluke.compare`; the seed is that of the study unless another is given.
        """
        check_finished(self)
        names, counts = detectors or self.detectors, self._counts
        for name in names:
            check_word(name, "detectors", self.detectors)
        by = self._ranking(rank_by)
        found = compare_counts(
            counts,
            tuple(dict.fromkeys(names)),
            alpha=self.alpha,
            level=level,
            n_resamples=n_resamples,
            rng=self._settings["seed"] if rng is None else rng,
            title=self.title,
        )
        found = with_metrics(found, self._means, counts)
        return found if by == "f1" else found.ranked_by(by)

    def _compared(self, level: float, by: str) -> Comparison:
        """All detectors, once: it takes longer than all cells, and is asked for twice."""
        if level not in self._pairs:
            self._pairs[level] = self.compare(level=level, rank_by="f1")
        return self._pairs[level].ranked_by(by)

    def _ranking(self, rank_by: str | None) -> str:
        """The measure to rank by: one of the study's, by default its own."""
        if rank_by is None:
            return self.rank_by
        check_word(rank_by, "rank_by", self.measures)
        return rank_by

    def _standing(self, by: str) -> Standing | None:
        """What detectors are ranked by where some lack series: the measure on those that all of the others have.

        Detectors with fewer than half of the series are not ranked with the others.
        """
        counts = self._counts
        there = counts.there if by in RANKED else ~np.isnan(self._means.values[by])
        tried = there.any(axis=0)
        if there[:, tried].all():
            return None
        ranked = 2 * there.sum(axis=0) >= len(there)
        common = there[:, ranked].all(axis=1) if ranked.any() else np.zeros(len(there), dtype=np.bool_)
        if not common.any():
            return Standing(values={}, n_common=0)
        if by in RANKED:
            at = HITS.index(by)
            values = {d: float(linearise(counts.counts[common, d]).values[at]) for d in np.flatnonzero(ranked).tolist()}
        else:
            values = {d: float(self._means.values[by][common, d].mean()) for d in np.flatnonzero(ranked).tolist()}
        return Standing(values={self.detectors[d]: v for d, v in values.items()}, n_common=int(common.sum()))

    def leaderboard(
        self, *, rank_by: str | None = None, n_resamples: int | None = None, level: float = LEVEL
    ) -> Leaderboard:
        """Detectors best first, with intervals, chance, corrected p-values, verdicts and all pairs.

        Parameters
        ----------
        rank_by : str, optional
            One of `measures`, by default `rank_by` of the study. Metrics of which lower values are better rank these
            first. Where detectors lack series, they are ranked on those that all of them have.
        n_resamples, level
            As in `pooled`.
        """
        level, by = check_level(level), self._ranking(rank_by)
        found = self._compared(level, by) if len(self.detectors) > 1 else None
        settings = self._settings
        best = () if found is None else found.not_told_from_best
        rows = self.pooled(n_resamples=n_resamples, level=level)
        return Leaderboard(
            rows=tuple(replace(row, best=row.detector in best) for row in rows),
            rank_by=by,
            standing=self._standing(by) if found is not None else None,
            pairs=None if found is None else Pairs.of(found),
            by_group=self._few_groups(n_resamples),
            about=About(
                title=self.title,
                null=settings["null"] + (f", pooled by {SERIES_EXCHANGE}" if self.exchanges else ""),
                tolerance=settings["tolerance"],
                threshold=settings["cut"],
                n_series=self.n_series,
                n_groups=self._counts.n_groups,
                n_truths=self._counts.n_truths,
                noun=self._counts.noun,
                missing=count_reasons(self.failed, self.detectors),
                alpha=self.alpha,
                level=level,
                notes=tuple(self._remarks(found)),
            ),
        )

    def _few_groups(self, n_resamples: int | None = None) -> PooledByGroup | None:
        """What is told by group, where groups are named and not so many that nobody would read it."""
        if not (self._counts.named and 1 < len(self._counts.names) <= MOST_GROUPS):
            return None
        return self.pooled(by="group", n_resamples=n_resamples)

    def _remarks(self, found: Comparison | None) -> Iterator[str]:
        yield from self.unused
        yield from from_reading(self._truths["notes"])
        yield from of_places(self.places, self._settings["null"])
        yield from of_ties(self.cells, self.detectors, self._settings["budget"])
        yield from remarks(self._sharing, {measure: self.corrected(measure) for measure in MEASURES}, self.alpha)
        yield from (*(self._counts.notes_on(self.detectors) if found is None else found.notes), *self._folder.notes)

    # -- ways out: its cells for CSV and data frames, its leaderboard for everything else

    def columns(self) -> LazyTable:
        """All cells, by column name."""
        return self.cells

    def table(self, **asked: Any) -> Table:
        """The table of the leaderboard, which ``asked`` goes to."""
        return self.leaderboard().table(**asked)

    @property
    def _kind(self) -> str:
        return "leaderboard"

    def _latex_tables(self, **asked: Any) -> Mapping[str, Table]:
        return self.leaderboard()._latex_tables(**asked)

    def _record(self) -> dict[str, Any]:
        return self.leaderboard().to_dict()

    def __str__(self) -> str:
        return repr(self) if self.unfinished else str(self.leaderboard())

    def _repr_html_(self) -> str:
        return escape(repr(self)) if self.unfinished else super()._repr_html_()

    def plot(self, ax: Any = None) -> Any:
        """Draw pooled F1, or what ranks the study, with intervals and chance (matplotlib); returns the Axes."""
        return self.leaderboard().plot(ax)

    def write(self, path: str | Path | None = None) -> Path:
        """Write leaderboard.csv, .md, .tex and .html to a folder, by default the study's own."""
        from nofluke.show.leaderboard import write_files

        place = self.path if path is None else expanded(path, "path")
        if place is None:
            raise InputError(
                argument="path",
                problem="is missing",
                remedy="this study has no folder of its own. Name one to write to",
            )
        write_files(self.leaderboard(), place, cells=self.cells, failed=self.failed)
        if path is None and isinstance(self._folder, Folder) and self._folder.finished:
            self._folder.seal()
        return place

    def settled(self, *, workers: int | None, executor: Executor | None) -> Study:
        """The same, which computes wherever its cells were computed; with pooled rows and leaderboard in its folder.

        What a finished folder has of them is not made again.
        """
        self._how = {"workers": workers, "executor": executor}
        folder = self._folder
        if not isinstance(folder, Folder):
            return self
        told = kept(folder)
        if told is not None and told["rank_by"] == self.rank_by:
            n = told["n_resamples"]
            self._pooled[n, LEVEL] = stored(folder, n, LEVEL)
            if "groups" in told:
                self._by_group[n] = self._grouped(stored_groups(folder, n))
            if folder.pages_are_intact():
                return self
        else:
            folder.unseal()
            keep(folder, self.pooled(), self._few_groups(), self._n_draws("detector"), LEVEL, self.rank_by)
        self.write()
        folder.seal()
        return self

    def __repr__(self) -> str:
        missing = f", {self.n_missing:,} missing" if self.n_missing else ""
        size = f"{plural(len(self.detectors), 'detector')} on {plural(self.n_series, 'series', 'series')}"
        rest = f"; unfinished: {self.unfinished}" if self.unfinished else ""
        where = f"; {self.path}" if self.path is not None else ""
        return f"<Study of {size}: {plural(self.n_cells, 'cell')}{missing}{rest}{where}>"


def check_finished(study: Study) -> None:
    """Refuse a study of which only some cells are there, where all of them have a say."""
    if study.unfinished:
        raise InputError(problem=f"the study in {study.path} is not finished: {study.unfinished}", remedy=RESUME)
