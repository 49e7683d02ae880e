"""Judge many detectors on many series: read, compute chunk by chunk, keep each part, tell all of it together."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.inference.evaluate import TURNED, degenerate, inverted, offered_ranges, turned_note
from nofluke.inference.verdict import ALMOST, NOTHING, obstacle_on_steps, rule_by
from nofluke.laws.exact.walk import LOG_GROWTH_ALLOWED
from nofluke.laws.tables import TRUSTED
from nofluke.nulls import Null, levels, seasons
from nofluke.nulls.choice import Choice, doubts
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seasons import combs_of
from nofluke.nulls.seen import TOGETHER, Look
from nofluke.plain import as_share, as_whole, check_word, is_text
from nofluke.progress import cells_bar
from nofluke.ratios import TIE_SLACK, divide, f_beta
from nofluke.series.arguments import AboutCells, takes
from nofluke.series.counting import nearest_alarms, within
from nofluke.series.detector import CutTies
from nofluke.series.reading import Sequence
from nofluke.series.tolerance import Length, Tolerance
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case, Chunk, Fault, reason_of
from nofluke.studies.cells import Cells
from nofluke.studies.draws import AlarmWindows, CaseDraws, affordable, joint_row, kept_draws
from nofluke.studies.memory import Memory
from nofluke.studies.result import RANKED, Study
from nofluke.studies.rows import Row, Rows, at_chance, named, row_of, tested, truth_row
from nofluke.studies.run import fill, refuse_while_loading
from nofluke.studies.sources import check_apart, read_source
from nofluke.studies.store import MEASURES, Folder, Part, cells_with, law_row

# ---- cells under the permutation without an object for each: single events on a plain grid


FEW = 4e6  # entries of a law's table up to which the compiled walk is the fastest: about two milliseconds


class Judged(NamedTuple):
    """A cell: its row, those of its two laws without names, and where its alarms find events."""

    row: Row
    laws: tuple[Row, Row]
    alarms: AlarmWindows


class Quick:
    """The detectors of one case under the permutation, after a first look at the case.

    Attributes
    ----------
    names : tuple of str
        The detectors that can go this way.
    """

    def __init__(self, shared: Cells, detectors: Mapping[str, AnyArray]) -> None:
        """Look at the case; ``names`` is empty where it has to go the other way."""
        self.shared = shared
        self.names: tuple[str, ...] = ()
        asked = shared.asked
        # a threshold is compared in the scores' own precision, which only the other way knows
        kinds = (np.float64,) if asked.about.cut["threshold"] is not None else (np.float64, np.float32)
        plain = {name: z.astype(np.float64) for name, z in detectors.items() if z.dtype in kinds and z.ndim == 1}
        if not plain or asked.alarms.count != "steps" or asked.model is None or asked.model.text != "permutation":
            return
        sequence = shared.sequence(next(iter(plain.values())))
        made = shared.made(sequence, None)
        trial, window = made.trial, made.trial.tolerances[0]
        n, truth = trial.n_steps, trial.truth
        plainly = sequence.open_steps.all() and sequence.spans is None and not made.doubt and truth.points
        if not plainly or window.unit != "steps" or window.aside or not 0 < truth.n < n:
            return
        self.names = tuple(name for name, z in plain.items() if len(z) == n and np.isfinite(z).all())
        self.sequence, self.trial, self.n, self.events = sequence, trial, n, truth.starts
        self.early, self.late = (min(int(side), n) for side in (window.early, window.late))  # type: ignore[arg-type]
        self.near = int(trial.near_events[0])
        self.model = Permutation()
        self.notes = (
            *sequence.notes,
            *made.notes,
            *offered_ranges(sequence, truth, asked.about.reading["count_events"]),
        )
        self._see()
        scores = np.stack([plain[name] for name in self.names]) if self.names else np.zeros((0, n))
        self.scores = scores if sequence.sign == 1 else -scores

    def _see(self) -> None:
        """What is seen in the events alone."""
        from nofluke.studies import quick_spectra_kernels as spectra

        self.look = Look.of(self.trial.cell(0, 0), 0.05)
        self.doubt = TOGETHER.doubt(self.model, self.look)
        clock = self.trial.truth.clock
        self.by_calendar = clock is not None and clock.is_dates
        self.enough = len(self.events) >= levels.ENOUGH_EVENTS
        if self.enough and self.n <= levels.SEARCHED_UNASKED:
            side, shortest = self.look.events.side, max(self.look.window + 1, 3.0)
            self.tails = spectra.against_neighbours(side.powers, seasons.GAP, seasons.NEIGHBOURS)
            self.searched = levels.LEAST_CYCLES, min(int(self.n / shortest), len(side.powers) - 1)
            self.combs = []
            for kind in combs_of(self.n):
                whole = kind.searched(self.n, shortest)
                known = kind.tails(self.tails, self.n, len(side.at))[whole]
                self.combs.append((kind, whole, known, kind.harmonics(self.n, len(self.tails))[whole]))

    def judged(self) -> dict[str, Judged | None]:
        """The cells by detector; None for one that has to go the other way."""
        from nofluke.studies import quick_kernels as kernels

        if not self.names:
            return {}
        compared, told, notes = self._cuts()
        alarms = [np.flatnonzero(z >= cut) for z, cut in zip(self.scores, compared.tolist(), strict=True)]
        slow = self._doubtful(alarms)
        self.all_equal = self.scores.min(axis=1) == self.scores.max(axis=1)
        return {
            name: self._judged(name, i, alarms[i], float(told[i]), notes[i], bool(slow[i]), kernels)
            for i, name in enumerate(self.names)
        }

    def _cuts(self) -> tuple[FloatArray, FloatArray, list[tuple[str, ...]]]:
        """Thresholds of all detectors: what turned scores are compared with, what is told, and notes on ties."""
        cut, sign = self.shared.asked.about.cut, self.sequence.sign
        notes: list[tuple[str, ...]] = [()] * len(self.names)
        if cut["quantile"] is not None:
            cuts = _quantiles(self.scores, float(cut["quantile"]))
            asked_for = math.ceil((1 - Fraction(repr(float(cut["quantile"])))) * self.n)
            odd = ((self.scores >= cuts[:, None]).sum(axis=1) > 2 * max(asked_for, 1)) | ~np.isfinite(cuts)
        elif cut["budget"] is not None:
            cuts = _within(self.scores, math.floor(as_share(cut["budget"], "budget") * self.n))
            odd = np.isinf(cuts)
        else:
            cuts, odd = np.full(len(self.names), sign * float(cut["threshold"] or 0.0)), np.ones(len(self.names), bool)
        told = sign * cuts + 0.0
        for i in np.flatnonzero(odd):  # what is to be said of ties, the usual way
            one = self.shared.cuts(self._sequence(int(i)))
            assert one is not None  # there are scores
            cuts[i], told[i], notes[i] = one.compared[0], one.told[0], one.notes
        return cuts, told, notes

    def _sequence(self, i: int) -> Sequence:
        """The series with the scores of one detector, as they were given."""
        return replace(self.sequence, scores=self.sequence.sign * self.scores[i])

    def _doubtful(self, alarms: list[IntArray]) -> BoolArray:
        """Which detectors may share a season or a slow change with the events: never too few."""
        from nofluke.studies import quick_spectra_kernels as spectra

        found = np.zeros(len(alarms), dtype=np.bool_)
        some = np.array([len(at) > 0 for at in alarms])
        if not self.enough or not some.any():
            return found
        if self.by_calendar or self.n > levels.SEARCHED_UNASKED:
            return some
        side, longest = self.look.events.side, self.look.events.longest
        series = np.zeros((len(alarms), self.n))
        marks = [spectra.centred(at, row, levels.LONG_RUNS) for row, at in zip(series, alarms, strict=True)]
        waves = np.fft.rfft(series)[:, 1 : (self.n + 1) // 2]
        powers = waves.real**2 + waves.imag**2
        top, looked = seasons.lowest(side, longest)
        lowest = np.array(looked, dtype=np.int64)
        first, last = self.searched
        for i, power in enumerate(powers):
            if not some[i]:
                continue
            found[i] = spectra.slow_possible(side.powers[:top], power[:top], lowest, seasons.BACKGROUND, levels.DOUBT)
            if not found[i] and last >= first:
                tails = spectra.against_neighbours(power, seasons.GAP, seasons.NEIGHBOURS)
                searched = 2 * levels.SEASON, levels.JOINTLY, levels.OTHER_SIDE
                found[i] = spectra.season_possible(self.tails, tails, first, last, *searched)
                for kind, whole, known, places in self.combs if not found[i] else ():
                    used = kind.used(marks[i])[whole]
                    capped = np.minimum(tails, kind.cap)
                    found[i] |= spectra.whole_period_possible(known, capped, places, used, levels.COMBS, *searched)
        return found

    def _doubts(self, i: int, slow: bool) -> tuple[str, ...]:
        """What the data say against the permutation."""
        if not slow:
            return (self.doubt,) if self.doubt else ()
        sequence = self._sequence(i)
        made = self.shared.made(sequence, self.shared.cuts(sequence))
        return doubts(self.model, made.trial.cell(0, 0))

    def _judged(
        self, name: str, i: int, alarms: IntArray, told: float, ties: tuple[str, ...], slow: bool, kernels: Any
    ) -> Judged | None:
        n, m, n_alarms, alpha = self.n, len(self.events), len(alarms), self.shared.asked.alpha
        if not 0 < n_alarms < n:
            return None
        hits, found, covered, delay = kernels.count(alarms, self.events, n, self.early, self.late)
        length, g, h, reach = kernels.blocks_of(alarms, n, self.early, self.late)
        growth = math.log1p(m / (n - m))
        most = min(m * reach, n_alarms)
        costs = len(length) * (reach + 2) * (m + 1) * (most + 1) / 2
        if costs > FEW or length.max() * growth > LOG_GROWTH_ALLOWED or self.early + self.late + 1 > n - m:
            return None
        recall = kernels.hypergeometric(n, covered, m)
        precision = kernels.precision_table(length, g, h, reach, n_alarms, recall, m / (n - m))
        level = min(alpha, ALMOST)
        one = kernels.summed(precision, hits, n_alarms, level, TIE_SLACK, NOTHING)
        other = kernels.summed(recall, found, m, level, TIE_SLACK, NOTHING)
        if min(one[0], other[0]) < TRUSTED:
            return None
        choice = Choice(model=self.model, asked=self.model.text, why="", doubts=self._doubts(i, slow))
        upper = {"precision": one[0], "recall": other[0]}
        floors = {"precision": one[4], "recall": other[4]}
        obstacle = obstacle_on_steps(n, m, n_alarms, self.near, choice)
        under = f"under the null {self.model.text}, "
        ruling = None if obstacle else rule_by(upper, lambda measure: _above(floors[measure]), alpha, under=under)
        zero = self.early == self.late == 0
        near = None if zero else (self.near, covered)
        remarks = degenerate(n, m, m, n_alarms, near=near, all_equal=bool(self.all_equal[i]))
        if other[2] > found and other[1] <= TURNED and one[2] > hits and one[1] <= TURNED:
            remarks = (*remarks, turned_note(one[1], other[1], inverted(self.sequence.higher_is)))
        single = zero or (reach <= 1 and bool((length == 1).all()))
        engines = ("hypergeometric" if single else "dynamic programme", "hypergeometric")
        shares = divide(hits, n_alarms), divide(found, m)
        case = self.shared.case
        row = {
            **named(case, name),
            "n": n,
            "n_events": m,
            "n_predictions": n_alarms,
            "threshold": told,
            "tolerance": str(self.trial.tolerances[0]),
            "count_events": "steps",
            **tested("precision", shares[0], hits, _told(one, engines[0])),
            **tested("recall", shares[1], found, _told(other, engines[1])),
            "f1": f_beta(*shares, 1.0),
            "f1_at_chance": at_chance((one[2], other[2]), n_alarms, m),
            "near_events": self.near,
            "near_predictions": covered,
            "false_alarms": n_alarms - hits,
            "delay": delay if self.trial.truth.clock is None else self._delay(alarms),
            "null": choice.label,
            "holds": True,
            "doubts": len(choice.doubts),
            "verdict": "cannot tell" if ruling is None else ruling.verdict,
            "reason": obstacle if ruling is None else ruling.reason,
            "n_resamples": 0,
            "seed": -1,
            "notes": [*case.notes, *self.notes, *ties, *remarks, *choice.notes],
        }
        laws = _law(n_alarms, one, engines[0]), _law(m, other, engines[1])
        return Judged(row, laws, AlarmWindows(*kernels.windows_of(alarms, n, self.early, self.late)))

    def _delay(self, alarms: IntArray) -> float:
        """The median delay of found events on a clock."""
        clock = self.trial.truth.clock
        assert clock is not None  # asked for only there
        windows = self.trial.event_windows[0]
        late = nearest_alarms(self.events, alarms, clock.ticks, windows)[within(alarms, windows) > 0]
        per_unit = 10**9 // clock.tick_size if clock.is_dates else 1
        return float(np.median(late / per_unit)) if len(late) else math.nan


def _above(floor: float) -> float | None:
    return None if floor < 0 else floor


def _told(found: Any, engine: str) -> dict[str, Any]:
    upper, _, mean, var = found[:4]
    return {
        "expected": mean,
        "std": math.sqrt(var),
        "pvalue": upper,
        "log10_pvalue": math.log(upper) / math.log(10),
        "method": f"exact ({engine})",
    }


def _law(size: int, found: Any, engine: str) -> Row:
    """What is kept of a law."""
    return {
        "size": size,
        "mean": found[2],
        "var": found[3],
        "kind": "exact",
        "name": engine,
        "n_resamples": 0,
        "first": found[5],
        "logs": found[6],
    }


def _quantiles(scores: FloatArray, level: float) -> FloatArray:
    """Quantile of each row, bit for bit ``numpy.quantile`` in a third of the time; not finite where that overflows."""
    at = level * (scores.shape[1] - 1)
    low = min(int(at), scores.shape[1] - 2)
    ordered = np.partition(scores, [low, low + 1], axis=1)
    below, above, share = ordered[:, low], ordered[:, low + 1], at - low
    with np.errstate(over="ignore", invalid="ignore"):
        apart = above - below
        return np.asarray(below + apart * share if share < 0.5 else above - apart * (1 - share))


def _within(scores: FloatArray, allowed: int) -> FloatArray:
    """For each row, the least score that no more than so many reach; infinite without one."""
    n = scores.shape[1]
    if allowed == 0:
        return np.full(len(scores), math.inf)
    ordered = np.partition(scores, [n - allowed - 1, n - allowed], axis=1)
    cuts, below = ordered[:, n - allowed], ordered[:, n - allowed - 1]
    for i in np.flatnonzero(cuts == below):  # tied at the cut: those above
        above = scores[i][scores[i] > below[i]]
        cuts[i] = above.min() if len(above) else math.inf
    return np.asarray(cuts)


# ---- from a chunk to its part: every cell of every case, what failed with its reason, and how long each took


def part_of(chunk: Chunk, asked: Asked) -> Part:
    """All cells of a chunk."""
    rows = Rows(asked.metrics)
    for case in asked.cases(chunk):
        add_case(case, asked, rows)
    return rows.part()


def add_case(case: Case, asked: Asked, rows: Rows) -> None:
    """All cells of a case: nothing that is wrong with one of them stops another."""
    if isinstance(case.truth, Fault):
        rows.fail(case, "", case.truth.reason)
        return
    shared, detectors = Cells(case, asked), dict[str, AnyArray]()
    for name, scores in case.detectors.items():
        if isinstance(scores, Fault):
            rows.fail(case, name, scores.reason)
        else:
            detectors[name] = shared.scores_of(name)
    begun = time.perf_counter()
    quick = _quick(shared, detectors)
    share = (time.perf_counter() - begun) / max(len(quick), 1)
    known, chance = False, CaseDraws(case, asked)
    for name, scores in detectors.items():
        begun = time.perf_counter()
        try:
            found = quick.get(name)
            if found is None:
                result = shared.evaluation(name, scores)
                row, model, cell = row_of(case, name, result), result.settings.choice.model, result.cell
                laws = [law_row(test.law, test.measure) for test in (result.precision_test, result.recall_test)]
                if row["holds"]:
                    joint, shifted = chance.joint(name, cell, model), chance.at_shifts(cell)
            else:
                row, cell = found.row, shared.cell
                laws = [{"measure": m, **law} for m, law in zip(MEASURES, found.laws, strict=True)]
                joint = chance.joint_of(found.alarms, cell.trial, Permutation())
                if affordable(cell.n_events, row["n_predictions"], cell.n_steps):
                    shifted = chance.shifted(found.alarms, cell.truth.starts)
                else:
                    shifted = chance.at_shifts(shared.judged(scores))
            row |= shared.metrics(name, scores)
            if not known:
                rows.truths.append(truth_row(case, cell))
                known = True
        except Exception as error:  # whatever it is, the other cells go on
            rows.fail(case, name, reason_of(error))
            continue
        rows.cells.append(row)
        if row["holds"]:
            rows.shifts.add(case, name, shifted)
            if joint is not None:
                rows.joints.append(joint_row(case.series, name, joint))
        rows.laws.extend({"series": case.series, "detector": name, **law} for law in laws)
        spent = time.perf_counter() - begun + (share if name in quick else 0.0)
        rows.timings.append({"series": case.series, "detector": name, "seconds": spent})


def _quick(shared: Cells, detectors: dict[str, AnyArray]) -> dict[str, Judged | None]:
    """Cells by the short way; what goes wrong on it is found, and said, on the other."""
    try:
        return Quick(shared, detectors).judged()
    except InputError:
        return {}


# ---- judge many detectors on many series: read, compute chunk by chunk, keep each part


@takes(
    AboutCells,
    like="evaluate",
    own=("threshold", "quantile", "budget", "test_part", "warmup"),
    after=("data", "detector"),
)
def study(
    source: Any,
    *,
    series: str | None = None,
    group: str | None = None,
    truth: str | None = None,
    ranges: Any = None,
    times: str | None = None,
    time_format: str | None = None,
    ranges_time_format: str | None = None,
    layout: str = "auto",
    pattern: str | None = None,
    labels: str | Path | None = None,
    data: Any = None,
    scores: Any = None,
    score_column: str | None = None,
    detector: str | None = None,
    cut_ties: CutTies = "drop",
    tolerance: Length | Tolerance = 0,
    metrics: str | Iterable[str] = (),
    rank_by: str = "f1",
    null: Null = "auto",
    n_resamples: int = 10_000,
    rng: int = 0,
    alpha: float = 0.05,
    title: str = "",
    out: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    resume: bool = True,
    **about: Unpack[AboutCells],
) -> Study:
    """Precision and recall of many detectors on many series, compared with chance, then pooled, ranked and compared.

    Every cell, a detector on a series, gets what `evaluate` gives: the same numbers, verdict and notes. What depends
    only on the truth is computed once for each series. A cell that cannot be judged stays missing, with its reason.

    Parameters
    ----------
    source : data frame, mapping of columns, path, or list of paths
        A frame of pandas, polars or pyarrow; a Parquet or text file, a folder or a glob of them; or a folder in one of
        the layouts.
    series, group, truth, times : str, optional
        Names of columns. Files without ``series`` hold a series each, named after the file. ``group`` names independent
        units, such as data sets: comparisons and intervals use groups. Without it each series is a group.
    scores : str or list of str, optional
        Score columns, one for each detector, by name or pattern (``"det_*"``); in the layouts, which detectors, by
        default all.
    time_format, ranges_time_format : str, optional
        Format of times in files that are not ISO 8601, such as ``"%d/%m/%Y %H:%M"``. The file of ``ranges`` has the
        same format unless ``ranges_time_format`` names another; ``"iso"`` is ISO 8601.
    detector : str, optional
        For long tables, the column that names the detector; ``scores`` is then one column.
    layout : {"auto", "wide", "long", "folders", "nab", "tsb-ad", "timeeval"}
        How files are arranged; "auto" is "long" with ``detector``, else "wide".
    pattern, labels, score_column : str, optional
        For "folders": how the paths of scores below ``source`` are made, with ``{series}``, ``{detector}`` and
        ``{group}`` in place of names and ``*`` of anything, such as ``"{group}/{detector}/score/{series}.zip"``; the
        path of labels, with such names or of one table for all series; and the column of scores, by name or position,
        where files have several, as ``truth`` is that of labels. Files are arrays of NumPy, text or Parquet, zipped or
        not.
    ranges : path, frame or mapping, optional
        Events in a separate file or object: a table with columns series, start and end, or a mapping (JSON) of series
        to ranges or times.
    data : path, optional
        The folder that holds the labels of "tsb-ad" and "timeeval".
    threshold, quantile, budget : optional
        One of them, as in `evaluate`. Scores with ties need a budget: at a quantile, ties can turn every step into an
        alarm.
    cut_ties : {"drop", "random"}
        What becomes of scores that are tied at the cut of a budget: none of them are alarms, or as many of them as the
        budget allows, picked at random. Rounded scores may be left without any alarm by the first. The choice is made
        by the seed of the cell, whatever the truth, so that p-values stay valid.
    tolerance : int, str, float, timedelta or Tolerance
        As in `evaluate`, or a share of each series' length: "1%" or 0.01, in whole steps.
    null : str, NullModel
        As in `evaluate`; "auto" chooses for each cell. "series-exchange" is auto for cells, and pools with labels
        exchanged between series of the same length, test part and group, as "auto" does where events of many series
        begin at the same places.
    metrics : str or iterable of str
        Names of other metrics, as in `significance`: each is tested in every cell, and its mean over series has columns
        of its own in the leaderboard, with chance, interval, p-value and verdict, corrected for all detectors and
        metrics.
    rank_by : str
        What the leaderboard is ranked by: "f1", "precision", "recall", or one of the metrics.
    warmup : optional
        As in `evaluate`, the same for all series; a mapping of series to theirs, of which the others have none; or the
        name of a column that has the same number of steps, or share, in all rows of a series.
    test_part : optional
        As in `evaluate`, the same for all series; a column of 0/1, by its name; or "names": names of UCR's archive and
        of TSB-AD say where training ends.
    <about>
    n_resamples, alpha
        As in `evaluate`, the same for all cells.
    rng : int
        The seed. Each cell has its own, made from this one and its names; ``evaluate(..., rng=seed)`` repeats it.
    title : str
        What the leaderboard is called.
    out : path, optional
        A folder for study.json, parts, results.parquet, failed.jsonl, timings.parquet and the leaderboard. Without it,
        results live as long as the object.
    workers : int, optional
        Processes of this machine; by default as many as there are cores. Results do not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to compute instead: any executor, such as ``client.get_executor(pure=False, retries=2)`` of a Dask
        cluster.
    resume : bool
        Continue from what is in ``out``, if it is the same study; False starts over.

    Returns
    -------
    Study

    Raises
    ------
    InputError
        If nothing can be judged: a wrong argument, no series, a folder that holds another study.
    Stopped
        On Ctrl-C, a KeyboardInterrupt: finished work is kept in ``out``, and the same call resumes from there.

    See Also
    --------
    nofluke.evaluate : one detector on one series.
    nofluke.compare : several detectors on one series.
    nofluke.significance : other metrics.
    nofluke.Study : the result.

    References
    ----------
    Scharwächter and Müller (2020); Benjamini and Heller (2008), Screening for partial conjunction hypotheses.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = (rng.random(6000) < 0.02).astype(int)
    >>> table = {"name": np.repeat([f"s{i:02}" for i in range(12)], 500), "label": truth,
    ...          "det_good": truth + rng.normal(size=6000), "det_random": rng.normal(size=6000)}
    >>> study = nf.study(table, series="name", truth="label", scores="det_*", budget="2%", tolerance=2, workers=1)
    >>> study.detectors, study.n_cells, study.n_missing
    (('det_good', 'det_random'), 24, 0)
    >>> [(row.detector, row.verdict) for row in study.pooled()]
    [('det_good', 'yes'), ('det_random', 'no')]
    """
    refuse_while_loading()
    if not is_text(title):
        raise InputError(argument="title", value=title, problem="must be text")
    if not isinstance(resume, bool | np.bool_):
        raise InputError(argument="resume", value=resume, problem="must be True or False")
    workers = None if workers is None else as_whole(workers, "workers", 1)
    asked = Asked.of(
        tolerance=tolerance,
        metrics=metrics,
        null=null,
        n_resamples=n_resamples,
        rng=rng,
        alpha=alpha,
        cut_ties=cut_ties,
        **about,
    )
    check_word(rank_by, "rank_by", (*RANKED, *asked.metrics))
    if workers != 1:
        asked.check_sent(executor)
    check_apart(out, source)
    found = read_source(
        source,
        series=series,
        group=group,
        truth=truth,
        scores=scores,
        times=times,
        time_format=time_format,
        ranges_time_format=ranges_time_format,
        detector=detector,
        layout=layout,
        truth_as=asked.about.reading["truth_as"],
        test_part=asked.part_column,
        warmup=asked.warmup_column,
        align=asked.about.reading["align"],
        ranges=ranges,
        data=data,
        pattern=pattern,
        labels=labels,
        score_column=score_column,
    )
    if times is None and layout in ("auto", "wide", "long") and asked.in_time:
        raise InputError(
            problem=say("{} is a length of time, but the data have no clock", asked.in_time),
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    chunks, detectors = found.chunks(), found.detectors
    asked.check_names(name for chunk in chunks for name in chunk.series)
    n_series = sum(len(chunk.series) for chunk in chunks)
    n_cells, asked = n_series * len(detectors), replace(asked, kept_draws=kept_draws(asked.n_resamples, n_series))
    settings = {**asked.plain(), "cut": asked.cut_text, "detectors": list(detectors), "title": title}
    folder = Memory() if out is None else Folder(out)
    folder.begin(
        settings=settings,
        inputs=found.fingerprint,
        parts=[len(chunk.series) for chunk in chunks],
        cells=cells_with(asked.metrics),
        resume=resume,
        unused=found.unused,
    )
    with folder:
        with cells_bar("study", n_cells) as progress:
            fill(
                folder,
                partial(part_of, asked=asked),
                chunks,
                detectors=len(detectors),
                workers=workers,
                executor=executor,
                progress=progress,
            )
        made = Study(folder=folder, settings=settings, asked=asked, chunks=chunks, rank_by=rank_by, unused=found.unused)
        return made.settled(workers=workers, executor=executor)
