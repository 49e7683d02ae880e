"""Any metric against chance: draws, tests, and the two questions asked of them.

The section "Stopping early" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.errors import InputError, arg, say, shortened, verb
from nofluke.inference.chance import ALTERNATIVES, Alternative, FLaw, Side
from nofluke.inference.corrections import familywise, scale_of
from nofluke.inference.evaluate import TURNED, Question, Settings, offered_ranges, remarks
from nofluke.inference.metric_laws import Drawn, Given, OfF, OfHits, reaching
from nofluke.inference.metric_results import ChanceLevel, Labels, Significance, Significances, sides_of
from nofluke.laws.law import How
from nofluke.metrics import get
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.draws import Circle, Draws, Layout, highest
from nofluke.metrics.functions import Function, can_pickle
from nofluke.metrics.labelled import Labelled, labelled_of, read_labelled
from nofluke.metrics.near import Hits, Tolerant
from nofluke.metrics.on_events import OnEvents
from nofluke.metrics.tolerant import F1
from nofluke.nulls import Null
from nofluke.nulls.base import SEED, NullModel, Shifting, check_resamples, drawing
from nofluke.nulls.choice import AUTO, Choice, choose
from nofluke.nulls.placements import Moves, moves_of
from nofluke.nulls.whole_series import as_series_null, choose_for_series, edges_of, perfect_detectors
from nofluke.plain import as_rng, as_share, as_whole, check_alpha, check_word
from nofluke.progress import progress_bar
from nofluke.series.arguments import About, AboutMetric, AboutSeries, takes
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import Cuts, choose_cut
from nofluke.series.reading import Sequence, length_of, prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents
from nofluke.text.numbers import p_is
from nofluke.text.tables import ALL_EQUAL, there_are_no

MOST_SAID = 200  # characters of what a function said when it failed
HOPELESS = 20  # draws that a function may fail on, from the first on, before it is given up


@dataclass(slots=True)
class Values:
    """One metric on all draws: NaN where it is undefined, and what went wrong first where it failed."""

    values: FloatArray
    failed: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Metrics on the draws of one chunk, from their tables or from the detector of each draw."""

    series: Labelled
    layout: Layout
    metrics: tuple[Metric, ...]
    tables: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, metrics: tuple[Metric, ...], series: Labelled, layout: Layout) -> Part:
        """With the tables of all metrics that take windows of one long detector."""
        tables = [
            metric.tables(layout.long(series.detector(metric.needs, metric.text)), series)
            if by_windows(metric, layout)
            else None
            for metric in metrics
        ]
        return cls(series=series, layout=layout, metrics=metrics, tables=tuple(tables))

    def measure(self, draws: Draws, first: bool = False) -> list[Values]:
        """All metrics on these draws; on the first of all, a function that never works is given up."""
        return [
            self._by_rows(metric, draws, first) if tables is None else self._by_windows(metric, tables, draws, first)
            for metric, tables in zip(self.metrics, self.tables, strict=True)
        ]

    def _by_windows(self, metric: Metric, tables: Any, draws: Draws, first: bool) -> Values:
        if metric.compiled:
            return Values(metric.values(tables, draws))
        return _one_by_one(metric, lambda i: metric.values(tables, draws.only(i)), len(draws), first)

    def _by_rows(self, metric: Metric, draws: Draws, first: bool) -> Values:
        def value(i: int) -> FloatArray:
            detector = self.layout.of(self.series, metric.needs, int(draws.begins[i]))
            return metric.values(metric.tables(detector, self.series), draws.only(i, begin=0))

        if metric.compiled:
            return Values(np.array([value(i)[0] for i in range(len(draws))]))
        return _one_by_one(metric, value, len(draws), first)


def _one_by_one(metric: Metric, value: Callable[[int], FloatArray], n: int, first: bool) -> Values:
    found = Values(np.full(n, np.nan))
    for i in range(n):
        try:
            found.values[i] = value(i)[0]
        except Exception as error:  # whatever a function of the user's may raise
            found.failed += 1
            found.failure = found.failure or on_one_line(error)
            if first and found.failed == HOPELESS == i + 1:
                raise InputError(
                    argument="metric",
                    value=metric.text,
                    problem=f"failed on each of the first {HOPELESS} draws ({found.failure})",
                    remedy="it must accept any labels with the same number of labelled steps",
                ) from error
    return found


def on_one_line(error: Exception) -> str:
    """What went wrong, short enough for a note.

    >>> on_one_line(ValueError("two\\nlines"))
    'ValueError: two lines'
    """
    return shortened(f"{type(error).__name__}: {' '.join(str(error).split())}", MOST_SAID)


def by_windows(metric: Metric, layout: Layout) -> bool:
    """Whether a metric takes draws as windows of one long detector, so that tables are made once."""
    return layout.windows and (metric.any_window or layout.rotates)


# ---- metrics on the draws of a null: compiled ones in threads, functions one by one or in processes

MOST_NANOSECONDS = 4e9  # that all shifts may take, rather than random ones
TABLES = 150.0  # nanoseconds a step to make tables of a detector
FIRST_FEW = 16  # draws that tell the size of numbers where drawing may stop early


def affordable(metrics: tuple[Metric, ...], series: Labelled, n_resamples: int | None) -> Callable[[Shifting], bool]:
    """Whether all shifts are enumerated: if there are no more of them than requested draws, or it takes only seconds.

    Without a number of draws, where these may stop early, only if all shifts are computed at once.
    """

    def is_affordable(shifting: Shifting) -> bool:
        n, layout = len(shifting.begins), shifting.layout
        if n_resamples is None:
            return isinstance(layout, Circle) and all(metric.at_once(series) for metric in metrics)
        if n <= n_resamples:
            return True
        costs = [
            0.0
            if isinstance(layout, Circle) and metric.at_once(series)
            else metric.work(series) + (0.0 if by_windows(metric, layout) else TABLES * series.n_steps)
            for metric in metrics
        ]
        return n * sum(costs) <= MOST_NANOSECONDS

    return is_affordable


@dataclass(slots=True, kw_only=True)
class Stop:
    """Early stopping: at the draw of the h-th that reaches the observed value.

    Numbers of which size have been rounded is seen on the first few draws, whatever the chunks.
    """

    after: int
    bar: float
    side: Side
    scale: float
    looked: bool = False

    def reached(self, values: FloatArray) -> BoolArray:
        """Which values do, of the first chunk or of a later one."""
        if not self.looked:
            self.scale, self.looked = max(self.scale, scale_of(values[:FIRST_FEW])), True
        return reaching(values, self.bar, self.side, self.scale)


def measure(
    metrics: tuple[Metric, ...], series: Labelled, moves: Moves, *, workers: int | None, stop: Stop | None = None
) -> tuple[list[Values], tuple[str, ...]]:
    """All metrics on all draws, in order, and notes; with ``stop``, only up to the chunk in which it stops."""
    found: dict[int, list[Values]] = {}
    notes: list[str] = []
    at_once: list[int] = []
    drawn: list[int] = []
    functions: list[int] = []
    for i, metric in enumerate(metrics):
        fast = moves.listed and isinstance(moves.layout, Circle) and metric.at_once(series)
        (at_once if fast else drawn if metric.compiled else functions).append(i)
    begins = np.concatenate([moves.draws(chunk).begins for chunk in moves.chunks]) if at_once else None
    for i in at_once:
        rotations = metrics[i].every_rotation(series.detector(metrics[i].needs, metrics[i].text), series)
        found[i] = [Values(rotations[begins])]
    with progress_bar("resamples", moves.n * (bool(drawn) + bool(functions))) as advance:
        done = 0
        for which, run, many in _teams(metrics, drawn, functions, workers, notes):
            part = Part.of(tuple(metrics[i] for i in which), series, moves.layout)
            reached = 0
            with run(part, many) as submit:
                for results in _in_order(submit, moves, many):
                    for i, values in zip(which, results, strict=True):
                        found.setdefault(i, []).append(values)
                    done += len(results[0].values)
                    advance(done)
                    if stop is not None:
                        reached += int(stop.reached(results[0].values).sum())
                        if reached >= stop.after:
                            break
    joined = [_joined(found[i]) for i in range(len(metrics))]
    for metric, values in zip(metrics, joined, strict=True):
        if values.failed:
            notes.append(
                f"{metric.text} failed on {values.failed:,} of {len(values.values):,} draws (first: {values.failure}); "
                "these count as draws that do as well as the data."
            )
    return joined, tuple(notes)


def _joined(parts: list[Values]) -> Values:
    return Values(
        np.concatenate([part.values for part in parts]),
        sum(part.failed for part in parts),
        next((part.failure for part in parts if part.failure), ""),
    )


Submit = Callable[[Draws, bool], "Future[list[Values]]"]


def _teams(
    metrics: tuple[Metric, ...], drawn: list[int], functions: list[int], workers: int | None, notes: list[str]
) -> Iterator[tuple[list[int], Any, int]]:
    """Who measures what: threads run compiled metrics, processes functions that can be sent, this process the rest."""
    if drawn:
        yield drawn, _in_threads, workers or os.cpu_count() or 1
    if (workers or 1) == 1:
        if functions:
            yield functions, _in_threads, 1
        return
    sent = [i for i in functions if can_pickle(metrics[i])]
    kept = [i for i in functions if i not in sent]
    if sent:
        yield sent, _in_processes, workers or 1
    if kept:
        names = ", ".join(metrics[i].text for i in kept)
        notes.append(
            f"{names} cannot be sent to other processes, so one process did all the work: define the function at the "
            "top of a module."
        )
        yield kept, _in_threads, 1


def _in_order(submit: Submit, moves: Moves, workers: int) -> Iterator[list[Values]]:
    """Results chunk by chunk, with as many under way as keep the workers busy."""
    waiting: list[Future[list[Values]]] = []
    try:
        for chunk in moves.chunks:
            waiting.append(submit(moves.draws(chunk), chunk == 0))
            if len(waiting) > 2 * workers or workers == 1:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def _in_threads(part: Part, workers: int) -> Iterator[Submit]:
    if workers == 1:
        yield lambda draws, first: _now(part.measure, draws, first)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield lambda draws, first: pool.submit(part.measure, draws, first)


@contextmanager
def _in_processes(part: Part, workers: int) -> Iterator[Submit]:
    import multiprocessing

    # threads of this process may hold locks: workers start from scratch rather than as a copy of it
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(part,)) as pool:
            yield lambda draws, first: pool.submit(_measure, draws, first)
    except (BrokenProcessPool, BrokenPipeError, RuntimeError) as error:
        raise InputError(
            argument="workers",
            value=workers,
            problem=f"cannot be used, since a process ended early ({type(error).__name__}). It may have run out of "
            'memory; or your script lacks the line if __name__ == "__main__":',
            remedy="pass fewer workers, or leave workers out",
        ) from error


_part: Part | None = None


def _start(part: Part) -> None:
    global _part
    _part = part


def _measure(draws: Draws, first: bool) -> list[Values]:
    if _part is None:
        raise RuntimeError("a worker was used before it was started")
    return _part.measure(draws, first)


def _now(function: Callable[[Draws, bool], list[Values]], draws: Draws, first: bool) -> Future[list[Values]]:
    future: Future[list[Values]] = Future()
    future.set_result(function(draws, first))
    return future


def stopped_at(reached: Any, after: int) -> int | None:
    """The draw, counted from 1, at which so many have reached the value; None if there is none.

    >>> stopped_at(np.array([False, True, False, True]), 2)
    4
    """
    at = np.flatnonzero(reached)
    return None if len(at) < after else int(at[after - 1]) + 1


# ---- metrics of a series that was read, against chance: choose the null, measure its draws

FAST_CHUNK, SLOW_CHUNK = 4096, 64  # draws to a chunk: of kernels; of functions, and where draws may stop early
ROWS = 2**22  # steps of all labels that are drawn in a chunk


def judge(
    metrics: tuple[Metric, ...],
    series: Labelled,
    *,
    several: bool,
    null: Null,
    n_resamples: int,
    stop_after: int | None,
    alternative: Alternative | None,
    workers: int | None,
    rng: Any,
    alpha: float,
    edges: tuple[int, ...] | None,
    counted: Counted | None = None,
) -> Any:
    """Metrics of a series that was read, against chance.

    Several are measured on common draws. Of these, metrics within a tolerance have the laws of the series ``counted``
    as `nofluke.evaluate` does, under the null of all.
    """
    if edges is not None:
        series = replace(series, truth=series.truth.cut_at(edges))
    observed = [_observed(metric, series) for metric in metrics]
    choice = choose_for_series(
        null,
        series,
        reach=max(metric.reach(series) for metric in metrics),
        alpha=alpha,
        by_scores=any(metric.needs == "scores" for metric in metrics),
        edges=edges,
    )
    slow = stop_after is not None or not all(metric.compiled for metric in metrics)
    moves = moves_of(
        choice.model,
        series,
        n_resamples=n_resamples,
        rng=rng,
        chunk=SLOW_CHUNK if slow else max(min(FAST_CHUNK, ROWS // max(series.n_labelled, 1)), SLOW_CHUNK),
        affordable=affordable(metrics, series, None if stop_after is not None else n_resamples),
        edges=edges,
    )
    if moves.listed:
        stop_after = None  # all shifts at once take less than any draw
    sides = [_side(metric, alternative) for metric in metrics]
    stop = _stop(metrics[0], observed[0], sides[0], stop_after)
    found, more = measure(metrics, series, moves, workers=workers, stop=stop)
    more += _given(metrics, series) + _odd_draws(found, metrics, observed)
    notes = (*series.notes, *_remarks(series), *more, *choice.notes)

    def tested(metric: Metric, value: float, values: Values, side: Alternative) -> Significance:
        if counted is not None and isinstance(metric, Tolerant):
            question = Question(alternative=side, n_resamples=n_resamples, rng=rng, alpha=alpha)
            result = _beside_others(metric, counted, question, null, choice, labels_of(series), notes)
            if result is not None:
                return result
        result = _result(metric, value, values, series, choice, moves, side, alpha, stop, notes)
        return _entitled(result, series, moves, workers) if moves.listed else result

    results = tuple(map(tested, metrics, observed, found, sides))
    if not several:
        return results[0]
    draws = [values.values for values in found]
    better = _corrected(results, observed, draws, [(result.better,) for result in results], moves.listed)
    asked = [sides_of(side) for side in sides]
    same = all(own == (result.better,) for own, result in zip(asked, results, strict=True))
    corrected = better if same else _corrected(results, observed, draws, asked, moves.listed)
    return Significances(
        results=results,
        corrected=np.maximum(corrected, [result.pvalue for result in results]),
        corrected_better=np.maximum(better, [result.pvalue_better for result in results]),
        method=moves.method,
    )


def _entitled(result: Significance, series: Labelled, moves: Moves, workers: int | None) -> Significance:
    """A "no" with the p-value of a perfect detector, which shifts that are short against the ranges leave large."""
    chance = result.chance
    if result.verdict != "no" or not result.metric.compiled or not isinstance(chance, Drawn):
        return result
    found = []
    for perfect in perfect_detectors(series):
        (values,), _ = measure((result.metric,), perfect, moves, workers=workers, stop=None)
        best = float(values.values[0])  # the identity comes first
        found.append(replace(chance, values=values.values).tail(best, result.better))
    return replace(result, perfect_pvalue=min(found))


def _corrected(
    results: tuple[Significance, ...],
    observed: list[float],
    draws: list[FloatArray],
    sides: list[tuple[Side, ...]],
    listed: bool,
) -> FloatArray:
    """For each metric, how often chance has a p-value as small in any of them, on any side that counts."""
    columns = [(k, 1.0 if side == "greater" else -1.0) for k, some in enumerate(sides) for side in some]
    own = np.array([sign * observed[k] for k, sign in columns])
    found = familywise(
        np.where(np.isnan(own), -np.inf, own),
        np.column_stack([sign * draws[k] for k, sign in columns]),
        listed=listed,
    )
    best = [min(p for (k, _), p in zip(columns, found.tolist(), strict=True) if k == j) for j in range(len(results))]
    return np.array([1.0 if np.isnan(result.value) else p for result, p in zip(results, best, strict=True)])


# ---- metrics within a tolerance: the laws of hits and of F that `nofluke.evaluate` has


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A series read as `nofluke.evaluate` reads it, by what counts as an event, at one threshold."""

    sequence: Sequence
    cuts: Cuts | None
    asked: CountEvents | None

    @classmethod
    def read(cls, truth: Any, scores: Any, about: AboutMetric) -> Counted:
        """From what a user passes."""
        given = About.of(about)
        sequence = prepare(truth, scores, **given.reading)
        return cls(sequence=sequence, cuts=choose_cut(sequence, **given.cut), asked=about.get("count_events"))

    def within(self, tolerance: Tolerance) -> Made:
        """Its trial within a tolerance."""
        return trial_of(self.sequence, (tolerance,), self.cuts)


def by_law(metric: Tolerant, counted: Counted, question: Question) -> Significance:
    """A metric within a tolerance against the null that `nofluke.evaluate` takes, and by its laws."""
    made = counted.within(metric.window)
    cell = made.trial.cell(0, 0)
    settings = question.settled(cell, made.doubt)
    notes = (
        *counted.sequence.notes,
        *made.notes,
        *offered_ranges(counted.sequence, cell.truth, counted.asked),
        *(() if counted.cuts is None else counted.cuts.notes),
        *remarks(cell),
        *settings.choice.notes,
    )
    ranges = labelled_of(counted.sequence.as_ranges(), counted.cuts, counted.asked)
    return _tested(metric, cell, settings, labels_of(ranges), notes)


def _beside_others(
    metric: Tolerant,
    counted: Counted,
    question: Question,
    null: Null,
    choice: Choice,
    labels: Labels,
    notes: tuple[str, ...],
) -> Significance | None:
    """The same under the null of several metrics; None where that has no law of these hits, so that draws must do."""
    made = counted.within(metric.window)
    cell, model = made.trial.cell(0, 0), choice.model
    if cell.in_time or model.moves == "detector" or not (cell.truth.points or model.takes_ranges):
        return None
    settings = question.under(choice)
    if choice.is_auto:
        alone = choose(null, cell, question.alpha, made.doubt)
        if (alone.model.text, alone.holds) != (model.text, choice.holds):
            notes += (f"{metric.text} alone would be tested under {alone.label}; several metrics share one null.",)
    try:
        return _tested(metric, cell, settings, labels, notes)
    except InputError:  # of a null without a joint law of both hits
        return None


def _tested(metric: Tolerant, cell: Cell, settings: Settings, labels: Labels, notes: tuple[str, ...]) -> Significance:
    """A metric against the law of a cell; a "no" with the p-value of perfect alarms."""
    value, chance = _law(metric, cell, settings)
    result = Significance(
        metric=metric,
        value=value,
        chance=chance,
        labels=labels,
        choice=settings.choice,
        alpha=settings.alpha,
        alternative=settings.alternative,
        notes=notes,
    )
    _ = result.pvalue  # what cannot be computed fails now
    if result.verdict != "no":
        return result
    # shifts that are short against the events may leave perfect alarms insignificant
    again = replace(settings, rng=SEED)
    perfect = (_law(metric, best, again) for best in settings.null.perfect_alarms(cell))
    found = (chance.tail(best, "greater") for best, chance in perfect)
    return replace(result, perfect_pvalue=min(found, default=0.0))


def _law(metric: Tolerant, cell: Cell, settings: Settings) -> tuple[float, Given]:
    """Its value in a cell, and what chance gives."""
    counts = cell.precision_hits, cell.recall_hits, cell.n_predictions, cell.n_counted
    value = float(metric.of_hits(Hits(*(np.array([n]) for n in counts)))[0])
    if isinstance(metric, F1):
        joint = settings.null.joint(cell, n_resamples=settings.n_resamples, rng=settings.rng)
        return value, OfF(law=FLaw.of(joint, cell.n_predictions, cell.n_counted, metric.beta), observed=value)
    precision, recall = settings.tests(cell, settings.laws(cell))
    return value, OfHits(test=precision if metric.name == "precision" else recall)


def _observed(metric: Metric, series: Labelled) -> float:
    """The value itself: what fails here fails before any draw is made."""
    try:
        return metric.value(series)
    except InputError:
        raise
    except Exception as error:
        if metric.compiled:
            raise
        by_scores = metric.needs == "scores"
        ways = map(arg, ("threshold", "quantile", "budget", "predictions"))
        raise InputError(
            argument="metric",
            value=metric.text,
            problem=f"failed on the data with {on_one_line(error)}. It was given {'scores' if by_scores else 'alarms'}",
            remedy=say("for alarms pass {}, {}, {} or {}", *ways) if by_scores else "",
        ) from error


def _given(metrics: tuple[Metric, ...], series: Labelled) -> tuple[str, ...]:
    """A word on functions that were given alarms where there are scores as well."""
    if series.scores is None:
        return ()
    return tuple(
        f"{metric.text} was given the alarms: for scores pass nf.metrics.Function(function=..., name={metric.text!r}, needs='scores')."
        for metric in metrics
        if metric.needs == "alarms" and not metric.compiled and not metric.declared
    )


def _side(metric: Metric, alternative: Alternative | None) -> Alternative:
    return alternative or ("greater" if metric.better == "higher" else "less")


def _odd_draws(found: list[Values], metrics: tuple[Metric, ...], observed: list[float]) -> tuple[str, ...]:
    """Notes on metrics that have a value on the data, and none or an infinite one on some draws."""
    notes = []
    for values, metric, value in zip(found, metrics, observed, strict=True):
        undefined, infinite = (int(odd(values.values).sum()) for odd in (np.isnan, np.isinf))
        of = f"of {len(values.values):,} draws"
        if undefined > values.failed and not np.isnan(value):
            notes.append(
                f"{metric.text} is undefined on {undefined - values.failed:,} {of}; these count as draws that do as "
                "well as the data."
            )
        if infinite:
            notes.append(f"{metric.text} is infinite on {infinite:,} {of}; mean, deviation and band leave these out.")
    return tuple(notes)


def _stop(metric: Metric, observed: float, alternative: Alternative, stop_after: int | None) -> Stop | None:
    if stop_after is None:
        return None
    side: Side = "less" if alternative == "less" else "greater"
    return Stop(after=stop_after, bar=observed, side=side, scale=abs(metric.perfect or 0.0))


def _result(
    metric: Metric,
    value: float,
    found: Values,
    series: Labelled,
    choice: Choice,
    moves: Moves,
    alternative: Alternative,
    alpha: float,
    stop: Stop | None,
    notes: tuple[str, ...],
) -> Significance:
    values, scale = found.values, max(scale_of(found.values), abs(metric.perfect or 0.0))
    if stop is not None:
        scale = stop.scale
        at = stopped_at(stop.reached(values), stop.after)
        values = values if at is None else values[:at]
    result = Significance(
        metric=metric,
        value=value,
        chance=Drawn(
            values=values,
            how=moves.method,
            known_mean=metric.mean_by_permutation(series) if choice.model.permutes else None,
            scale=scale,
            stop_after=None if stop is None else stop.after,
        ),
        labels=labels_of(series),
        choice=choice,
        alternative=alternative,
        alpha=alpha,
        notes=notes,
    )
    turned = _turned(result, series)
    return replace(result, notes=(*result.notes, turned)) if turned else result


def _turned(result: Significance, series: Labelled) -> str:
    """A word where scores are far worse than chance, as if they were upside down."""
    if result.metric.needs != "scores" or result.obstacle or result.stop_after is not None:
        return ""
    worse = result.pvalue_worse
    if worse > TURNED:
        return ""
    other = "normal" if series.sequence.higher_is == "anomalous" else "anomalous"
    return say(
        "{} is far worse than chance ({}): if scores are upside down, pass {}.",
        result.name,
        p_is(worse),
        arg("higher_is", other),
    )


def labels_of(series: Labelled) -> Labels:
    """What metrics are measured on, in numbers."""
    return Labels(
        n=series.n_steps,
        n_ranges=series.truth.n,
        n_labelled=series.n_labelled,
        n_alarms=None if series.alarms is None else int(series.alarms.sum()),
        threshold=None if series.cuts is None else float(series.cuts.told[0]),
        names=series.sequence.names,
    )


def _remarks(series: Labelled) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    remarks = [*filter(None, [labels_of(series).obstacle])]
    if series.scores is not None and series.n_steps > 1 and np.ptp(series.scores) == 0:
        remarks.append(ALL_EQUAL)
    if series.alarms is not None and not series.alarms.any():
        remarks.append(there_are_no("alarms"))
    elif series.alarms is not None and series.alarms.all():
        remarks.append(say("There is {an_alarm} on every step."))
    return tuple(remarks)


# ---- any metric against chance


@takes(AboutMetric, like="evaluate")
def significance(
    metric: Any,
    truth: Any,
    scores: Any = None,
    *,
    groups: Any = None,
    null: Null = "auto",
    n_resamples: int = 10_000,
    stop_after: int | None = None,
    alternative: Alternative | None = None,
    workers: int | None = None,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutMetric],
) -> Any:
    r"""The value of any metric, what chance gives on the same labels, and how often chance does as well.

    .. math:: p = \frac{\#\{\text{shifts } s : f(e, z_s) \ge f(e, z)\}}{\#\{\text{shifts}\}}
        \qquad\text{or}\qquad p = \frac{\#\{\text{draws that reach } f(e, z)\} + 1}{n + 1}

    Parameters
    ----------
    metric : str, Metric, callable, or a list of them
        A name with settings ("vus-pr:window=100", see :func:`nofluke.metrics.names`), a metric, or any function
        ``f(labels, x) -> float`` of 0/1 labels and scores (or alarms, where a threshold or predictions are passed),
        such as those of aeon and scikit-learn. Detection metrics of sktime are given lists of events. A list of metrics
        is measured on the same draws, and gets a p-value corrected for having looked at all of them: pass every window
        or tolerance among which you would have chosen.
    truth, scores
        As in :func:`nofluke.evaluate`. Consecutive labels are one range; ``count_events`` only matters for "recall" and
        "f1". A threshold that is chosen with the labels (the best F1) is part of the metric, and chosen again in
        every draw.
    <about>
    null : str, NullModel or callable
        What chance does. "auto" looks at labels and scores separately, and chooses the null that fits them. Rotations
        and local shifts move the detector and keep labelled ranges whole; so does "segments", which shuffles ranges and
        gaps. Nulls that place single steps tear ranges apart: the result then says so. "random-scores" and
        "score-permutation" move the scores.
    n_resamples : int
        Random draws, if not all shifts are enumerated. They are if there are no more than this, or if it takes only
        seconds.
    stop_after : int, optional
        Stop once this many draws have reached the value (Besag and Clifford 1991): few draws are needed if p is large.
        There is then no band and no critical value. It has no effect where all rotations are computed at once, or
        where the metric has a law.
    alternative : {"greater", "less", "two-sided"}, optional
        Which values count as extreme; by default the better ones.
    workers : int, optional
        Threads for nofluke's own metrics (by default as many as there are cores), processes for functions that can be
        pickled (by default one). The answer does not depend on it.
    rng : int, Generator, SeedSequence or None
        Randomness of the draws. The result names the seed.
    alpha : float
        The level of the verdict, the band and the critical value.
    groups : array-like, optional
        One entry for each step, if several series are concatenated: each is then rotated within itself.

    Returns
    -------
    Significance or Significances
        The latter for a list of metrics.

    Notes
    -----
    Precision, recall and F within a tolerance have laws: one of them gets the null, the p-value and all that chance
    gives as :func:`nofluke.evaluate` has it, with nothing drawn where that is exact. In a list it keeps that p-value,
    under the null of the list; draws only correct it.

    A draw on which a metric is undefined, or on which a function fails, counts as one that reaches the value, and is
    noted. The verdict says whether the value is better than chance, whatever the alternative. A rotation may cut a run
    of alarms in two at the end of the series: they then count as two.

    See Also
    --------
    nofluke.chance : the chance level from the labels alone.
    nofluke.metrics : the metrics.
    nofluke.evaluate : precision and recall within a tolerance, in one verdict.

    References
    ----------
    Besag and Clifford (1991), Sequential Monte Carlo p-values. Phipson and Smyth (2010), Permutation p-values should
    never be zero. Kim et al. (2022), Towards a rigorous evaluation of time-series anomaly detection.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> nf.significance("auc-roc", truth, scores, null="circular-shift").pvalue
    0.2
    """
    several = isinstance(metric, list | tuple)
    alpha, n_resamples, rng = check_alpha(alpha), check_resamples(n_resamples), as_rng(rng)
    if alternative is not None:
        check_word(alternative, "alternative", ALTERNATIVES)
    if workers is not None:
        workers = as_whole(workers, "workers", 1)
    if stop_after is not None:
        stop_after = as_whole(stop_after, "stop_after", 1)
        _refuse_early(several, alternative)
    alarms = scores is None or any(about.get(way) is not None for way in ("threshold", "quantile", "budget"))
    metrics = as_metrics(metric, "alarms" if alarms else "scores")
    if alarms and not several and groups is None and isinstance(metrics[0], Tolerant) and _has_laws(null, stop_after):
        question = Question(null=null, n_resamples=n_resamples, rng=rng, alpha=alpha)
        question = replace(question, alternative=alternative or "greater")
        return by_law(metrics[0], Counted.read(truth, scores, about), question)
    series = read_labelled(truth, scores, **about)
    together = alarms and several and groups is None and any(isinstance(one, Tolerant) for one in metrics)
    return judge(
        metrics,
        series,
        several=several,
        null=null,
        n_resamples=n_resamples,
        stop_after=stop_after,
        alternative=alternative,
        workers=workers,
        rng=rng,
        alpha=alpha,
        edges=edges_of(groups, series),
        counted=Counted.read(truth, scores, about) if together else None,
    )


def _has_laws(null: Null, stop_after: int | None) -> bool:
    """Whether a null moves events, as those of `nofluke.evaluate` do, and has more than draws to stop early."""
    if isinstance(null, str) and null.strip() == AUTO:
        return True
    model = as_series_null(null)
    return model.moves == "truth" and (stop_after is None or not model.is_drawn("auto"))


def _refuse_early(several: bool, alternative: Alternative | None) -> None:
    if several:
        raise InputError(
            argument="stop_after",
            problem="needs a single metric, since several need a fixed number of draws",
            remedy="leave it out",
        )
    if alternative == "two-sided":
        raise InputError(
            argument="stop_after",
            problem="needs one side",
            remedy=say("pass {}, or leave it out", arg("alternative", "greater", "less")),
        )


def as_metrics(metric: Any, given: Needs) -> tuple[Metric, ...]:
    """The metrics asked for; functions are given what there is, scores or alarms."""
    asked: Iterable[Any] = metric if isinstance(metric, list | tuple) else [metric]
    found = tuple(_with(get(one), one, given) for one in asked)
    if not found:
        raise InputError(argument="metric", problem="is an empty list", remedy="pass a metric, or several")
    names = [one.text for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            argument="metric",
            value=twice,
            problem="is there twice",
            remedy="pass each once, and give functions names of their own",
        )
    return found


def _with(metric: Metric, asked: Any, given: Needs) -> Metric:
    if not isinstance(metric, Function) or isinstance(asked, str | Metric) or isinstance(metric.function, OnEvents):
        return metric
    return Function(function=metric.function, name=metric.name, needs=given, declared=False)


# ---- what chance gives in a metric on one set of labels, before there is any detector

CHUNK = 64  # draws to a chunk: each makes scores as long as the series


@takes(AboutSeries, like="evaluate")
def chance(
    metric: Any,
    truth: Any,
    *,
    null: str | NullModel = "random-scores",
    budget: float | str | None = None,
    n_resamples: int = 1_000,
    workers: int | None = None,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutSeries],
) -> ChanceLevel:
    """What chance gives in a metric, from the labels alone: the level that a detector must exceed.

    Parameters
    ----------
    metric : str, Metric or callable
        As in :func:`nofluke.significance`.
    truth : array-like
        Labels, or, with ``n_steps`` or ``times``, positions or ranges.
    null : str or RandomScores
        "random-scores" draws a random number for each step, "random-scores:phi=0.9" gives them a memory, as detectors
        on sliding windows have.
    budget : float or str, optional
        For metrics of alarms, the share of steps with one (0.01 or "1%"): the highest scores, rounded down.
    n_resamples, workers, rng, alpha
        As in :func:`nofluke.significance`.
    <about>

    Returns
    -------
    ChanceLevel

    Notes
    -----
    What chance scores for a real detector depends on the memory of its own scores: see
    :func:`nofluke.significance`.

    See Also
    --------
    nofluke.significance : a detector's value against chance.
    nofluke.metrics : the metrics.

    Examples
    --------
    >>> import nofluke as nf
    >>> labels = ([0] * 80 + [1] * 20) * 20
    >>> level = nf.chance("auc-roc", labels, n_resamples=199, rng=1)
    >>> level.expected, level.critical_value < 0.55
    (0.5, True)
    """
    alpha, n_resamples, rng = check_alpha(alpha), check_resamples(n_resamples), as_rng(rng)
    workers = None if workers is None else as_whole(workers, "workers", 1)
    model = as_series_null(null)
    if model.needs_detector:
        raise InputError(
            argument="null",
            value=model.text,
            problem="needs a detector to compare with",
            remedy=say("pass {}, or call {}", arg("null", "random-scores"), verb("significance")),
        )
    n = length_of(truth, about.get("truth_as", "auto"), about.get("n_steps"), about.get("times"))
    # any scores without ties: others are drawn in their place
    series = read_labelled(truth, np.arange(n), **about)
    (wanted,) = as_metrics([metric], "scores" if budget is None else "alarms")
    if budget is not None:
        n_alarms = math.floor(as_share(budget, "budget") * series.n_steps)
        if n_alarms == 0:
            raise InputError(
                argument="budget",
                value=budget,
                problem=f"of {series.n_steps:,} steps gives no alarm",
                remedy="pass a larger share",
            )
        series = replace(series, alarms=highest(np.zeros(series.n_steps), n_alarms))
    elif wanted.needs == "alarms":
        raise InputError(
            argument="metric",
            value=wanted.text,
            problem="needs alarms",
            remedy=say("pass {}, the share of steps with one, such as 0.01", arg("budget")),
        )
    found, how, notes = _drawn(wanted, series, model, n_resamples, rng, workers)
    return ChanceLevel(
        metric=wanted,
        chance=Drawn(
            values=found.values,
            how=how,
            known_mean=wanted.mean_by_permutation(series) if model.permutes else None,
            scale=scale_of(found.values),
        ),
        labels=labels_of(series),
        choice=Choice(model=model, asked=model.text, why=""),
        alpha=alpha,
        notes=(*series.notes, *notes),
    )


def _drawn(
    metric: Metric, series: Labelled, model: NullModel, n_resamples: int, rng: Any, workers: int | None
) -> tuple[Values, How, tuple[str, ...]]:
    rng, how = drawing(n_resamples, rng)
    generator = np.random.default_rng(rng)
    short = metric.on_random_scores(series, n_resamples, generator) if model.permutes else None
    if short is not None:
        return Values(short), how, ()
    moves = moves_of(
        model,
        series,
        n_resamples=n_resamples,
        rng=rng,
        chunk=CHUNK,
        affordable=lambda _: False,
    )
    (found,), notes = measure((metric,), series, moves, workers=workers)
    return found, how, notes
