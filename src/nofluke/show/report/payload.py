"""Everything a report shows, as plain data: computed here once, only looked up in the page."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.dates import said_duration
from nofluke.errors import THINGS, Remark, Words, joined, say
from nofluke.inference.chance import ChanceTest, significant
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.interval import Interval
from nofluke.inference.sweep import FamilywiseTest
from nofluke.inference.verdict import upper_of
from nofluke.measures.confusion import Confusion
from nofluke.measures.delays import Delays
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import Choice
from nofluke.nulls.diagnosis import Diagnosis, diagnosis_of
from nofluke.plain import finite_or_none
from nofluke.plot.curves import SIDES
from nofluke.plot.shifts import hits_around, lengths_around, windows_moved
from nofluke.progress import progress_bar
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell
from nofluke.show.kit import FALSE, in_names
from nofluke.show.report.cells import (
    Picture,
    evaluator,
    evaluator_under,
    every_null,
    families,
    picture_of,
    seed_of,
)
from nofluke.show.report.correction import Corrected, correct, entitle
from nofluke.show.report.figures import bar_width, darkness, stretched
from nofluke.show.report.grid import Grid, grid_of, short_names, signed
from nofluke.show.report.next_steps import next_steps
from nofluke.show.report.origin import Source
from nofluke.show.report.timeline import events_of, timeline
from nofluke.text.numbers import as_people_say, p_is, people_unit, show_chance, show_p
from nofluke.text.tables import plural, show_number, show_share

# ---- sentences beside the figures: what each shows, for those who do not see it


def another_null(used: Choice, recommended: NullModel, why: str) -> str:
    """A warning where the diagnosis recommends another null than the one asked for; nothing where it does not."""
    if used.is_auto or used.model.text == recommended.text:
        return ""
    told = 'The diagnosis recommends another null for these data, "{}". {} See "Which null to trust".'
    return say(told, recommended.text, why)


def recommended(diagnosis: Diagnosis) -> str:
    """The null to trust, why, and what a step is where times were looked at on a grid."""
    looked = next((note for note in diagnosis.notes if isinstance(note, Remark) and note.kind == "grid"), "")
    told = 'Recommended null: "{}". {} {}' if looked else 'Recommended null: "{}". {}'
    return say(told, diagnosis.recommended.text, diagnosis.why, looked)


def about_timeline(cell: Evaluation) -> str:
    """Predictions and events, hit and missed."""
    if cell.n_predictions == 0 and cell.n_events == 0:
        return say("There are neither {} nor {events}.", THINGS[f"{cell.alarm_noun}s"])
    return say(
        "{}: {}, {:,} {}. {}: {:,} found, {:,} missed.",
        plural(cell.n_predictions, cell.alarm_noun),
        plural(cell.precision_hits, "hit"),
        cell.false_alarms.count,
        FALSE["false_alarm" if cell.false_alarms.count == 1 else "false_alarms"],
        plural(cell.n_events, cell.cell.truth.noun),
        cell.recall_hits,
        cell.n_events - cell.recall_hits,
    )


def about_null(test: ChanceTest, drawn: Picture, alarm: str) -> str:
    """Chance's hits beside the observed ones."""
    if test.of == 0:
        return say("Nothing to test: there are no {}.", THINGS[f"{alarm if test.measure == 'precision' else 'event'}s"])
    return (
        f"Hits by chance: {show_chance(test.expected, test.std)}, central 95% from {drawn.low:,} to {drawn.high:,}. "
        f"Observed: {test.hits:,}, {p_is(test.pvalue)}."
    )


def about_row(row: list[Any], tolerance: str, alpha: float, column: str) -> dict[str, str]:
    """The curves by threshold or lag, and precision against recall, at one tolerance."""
    told = {}
    for side in SIDES:
        above = sum(cell[side]["hits"] > cell[side]["high"] for cell in row)
        remaining = sum(cell[side]["remains"] for cell in row)
        told[side] = (
            f"At a tolerance of {tolerance}, {side} is above the central 95% of chance at {above} of "
            f"{plural(len(row), column)}; {remaining} remain significant at the {alpha:g} level after correction."
        )
    best = max((cell for cell in row if cell["f1"] is not None), key=lambda cell: cell["f1"], default=None)
    told["curve"] = (
        f"No {column} has both a precision and a recall."
        if best is None
        else f"At a tolerance of {tolerance}, the best F1 is {show_share(best['f1'])}, with precision "
        f"{best['precision']['text']['value']} and recall {best['recall']['text']['value']}."
    )
    return told


def about_column(column: list[Any], tolerances: tuple[Tolerance, ...], what: str) -> str:
    """How much of both measures the tolerance gives to anyone, at one threshold or lag."""
    told = []
    for side in SIDES:
        first, last = column[0][side], column[-1][side]
        if first["value"] is None or last["value"] is None:
            continue
        told.append(
            f"From a tolerance of {tolerances[0]} to {tolerances[-1]}, {side} goes from {first['text']['value']} to "
            f"{last['text']['value']}; chance alone from {first['text']['chance_share']} to {last['text']['chance_share']}."
        )
    return " ".join(told) or f"Neither measure is defined at this {what}."


def tolerance_axis(widest: Tolerance) -> str:
    """What an axis of tolerances counts: `short_tolerance` leaves that out."""
    unit = {"steps": ["steps"], "clock": ["time units"]}.get(widest.unit or "steps", [])
    two = not widest.side and widest.early != widest.late
    side = [widest.side] if widest.side else ["early / late"] if two else []
    return ", ".join(["tolerance", *unit, *side])


def short_tolerance(tolerance: Tolerance) -> str:
    """A tolerance for a tick of such an axis.

    >>> [short_tolerance(Tolerance(early=a, late=b)) for a, b in ((2, 2), (0, "3d"), ("3h", "-1h"), (1, 4), (0, 0))]
    ['2', '3d', '1h to 3h', '1 / 4', '0']
    """
    ends: tuple[Any, Any] = (tolerance.early, tolerance.late)
    near, far = sorted(map(abs, ends)) if tolerance.side else ends
    told = [said_duration(end) if tolerance.unit == "ns" and end else f"{end:g}" for end in (near, far)]
    if near == far or (tolerance.side and not near):
        return told[1]
    return (" to " if tolerance.side else " / ").join(told)


def about_heat(cells: list[list[Any]], side: str, alpha: float) -> str:
    """How many cells are better than chance, and how many are no test at all."""
    every = [cell[side] for row in cells for cell in row]
    flat = [one for one in every if one["of"]]
    plain, corrected = sum(significant(one["p"], alpha) for one in flat), sum(one["remains"] for one in flat)
    missing = THINGS["predictions" if side == "precision" else "events"]
    if not flat:
        return say("{} is undefined in all cells (×): there are no {}.", side.capitalize(), missing)
    told = (
        f"{side.capitalize()}: p ≤ {alpha:g} in {plain:,} of {plural(len(flat), 'cell')}; in {corrected:,} (outlined) "
        "even after correction for looking at all of them."
    )
    if len(flat) == len(every):
        return told
    return say("{} {} without {}: undefined (×).", told, plural(len(every) - len(flat), "cell"), missing)


def about_lag(lags: list[float], told: list[str], hits: list[int], found: list[int]) -> str:
    """Where the events would have to be for the most hits; nothing where lags are on a slider."""
    if not lags:
        return ""
    said: list[str] = []
    for side, counts in (("Precision", hits), ("Recall", found)):
        best = min((i for i, count in enumerate(counts) if count == max(counts)), key=lambda i: abs(lags[i]))
        place = "in place"
        if lags[best]:
            place = f"{told[best]} {'later' if lags[best] > 0 else 'earlier'}"
        most = "{} has its most hits, {:,}, with the {events} {} ({:,} unshifted)."
        said.append(say(most, side, max(counts), place, counts[lags.index(0)]))
    return joined(
        " ",
        [
            *said,
            "A late detector peaks to the right. A narrow peak suggests skill, a broad hill a rate that both share.",
        ],
    )


def about_delay(counts: dict[str, int], delays: str) -> str:
    """Early, on time, late, missed."""
    if sum(counts.values()) == counts["missed"]:
        return say("No {event} was found, so there is no delay.")
    return (
        f"{counts['early']:,} found early, {counts['on_time']:,} on time, {counts['late']:,} late; {counts['missed']:,} "
        f"missed. Delay: {delays}."
    )


def corrected_by(family: FamilywiseTest | None, nulls: tuple[str, ...] = (), smallest: float = 0.0) -> str:
    """What the correction is: under which nulls, and the smallest p-value that it can give."""
    if family is None:
        return "Corrected p-values use Holm's method over all cells of the measure."
    return (
        "Corrected p-values use Westfall and Young's method over all cells of the measure: how often chance's best "
        f"cell is this far above its expectation ({family.how()}; none can be below "
        f"{show_p(max(family.smallest, smallest))})."
        + (f" The largest of those under {len(nulls)} nulls counts: {', '.join(nulls)}." if len(nulls) > 1 else "")
    )


# ---- the figure of hits by shift: where the events would have to be for the most hits

Hits = tuple[list[int], list[int]]
FAR = 6  # shifts go as many tolerances away, enough to tell a peak from a hill
MOST_SHIFTS = 61
SHIFTS_IN_TIME = 8  # to each side


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifts:
    """Shifts of the events: places on the axis, its title, the text for each, and hits of precision and recall."""

    at: list[float]
    title: str
    told: list[str]
    hits: Callable[[int, int, Cell], Hits]


def shifts_of(result: Evaluation, grid: Grid, lags: IntArray) -> Shifts:
    """On steps, shifts around the circle by each lag; in time, windows that move. Where lags are on a slider, none."""
    noun = result.cell.truth.noun
    if grid.lags:
        return Shifts(at=[], title="", told=[], hits=lambda *_: ([], []))

    def on_steps(cell: Cell) -> Shifts:
        wide = _wide(lags, cell)

        def hits(_d: int, _k: int, cell: Cell) -> Hits:
            precision, recall = hits_around(cell, wide)
            return precision.tolist(), recall.tolist()

        return Shifts(
            at=wide.tolist(),
            title=say("shift of the {}, in steps", THINGS[f"{noun}s"]),
            told=[plural(abs(lag), "step") for lag in wide.tolist()],
            hits=hits,
        )

    def in_time(cell: TimedCell) -> Shifts:
        watch = cell.trial.watch
        lengths = lengths_around(result.tolerance, 0, watch, SHIFTS_IN_TIME)
        at, unit = as_people_say(np.array(lengths, dtype=np.float64), watch.ticks.is_dates)
        moved = [grid.trial.over(windows_moved(window, lengths), grid.thresholds) for window in grid.tolerances]
        return Shifts(
            at=at.tolist(),
            title=say("shift of the {}{}", THINGS[f"{noun}s"], unit),
            told=[signed(abs(length), dates=watch.ticks.is_dates) for length in lengths],
            hits=lambda d, k, _: (moved[d].precision_hits[:, k].tolist(), moved[d].recall_hits[:, k].tolist()),
        )

    return result.cell.by_axis(steps=on_steps, ticks=in_time)


def _wide(lags: IntArray, cell: Cell) -> IntArray:
    """Shifts of some tolerances to both sides, at most a third of the series, thinned to what a figure shows."""
    some = np.arange(0, cell.n_steps, max(cell.n_steps // 100, 1))
    windows = cell.trial.reaches[cell.d].around_events(some, some)
    window = int(np.median(windows.stops - windows.starts))
    longest = int(np.max(cell.truth.stops - cell.truth.starts, initial=1))  # a peak is as broad as that
    reach = max(int(lags[-1]), FAR * (window - 1) // 2, 2 * (longest - 1))
    reach = min(reach, max(cell.n_steps // 3, int(lags[-1])))
    return np.unique(np.round(np.linspace(-reach, reach, min(2 * reach + 1, MOST_SHIFTS))).astype(np.int64))


# ---- what a null distribution is, for those who never heard of one, with the numbers of the page itself

RARE = 1e-6


def explained(cell: Evaluation, low: int, high: int) -> str:
    """One paragraph on precision's hits; ``low`` and ``high`` are chance's central 95%."""
    test = cell.precision_test
    if 0 in (cell.n_events, cell.n_predictions):
        return say("There is nothing to compare with chance here: that takes both {events} and {alarms}.")
    span = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    hit = "is a hit" if 1 in (test.hits, test.of) else "are hits"
    return say(
        "{:,} of {} {}. Would luck do as well? To find out, keep the {alarms} in place and let chance place the {} again "
        "and again. {} In such worlds without skill there are {} hits on average, and {} of them in 95 worlds of 100. "
        "That is the null distribution. p is {}: {}. The smaller it is, the harder it is to put the hits down to luck. "
        "Recall is tested the same way.",
        test.hits,
        plural(test.of, cell.alarm_noun),
        hit,
        plural(cell.n_events, cell.cell.truth.noun),
        cell.settings.choice.assumption,
        f"{test.expected:,.0f}" if test.expected >= 10 else f"{test.expected:.2g}",
        span,
        _share(test),
        in_worlds(test),
    )


def _share(test: ChanceTest) -> str:
    """What a p-value counts, by its alternative and what it does with ties."""
    more, fewer = f"at least {plural(test.hits, 'hit')}", f"at most {plural(test.hits, 'hit')}"
    if test.alternative == "two-sided":
        return f"twice the share of these worlds with {more if test.excess >= 0 else fewer}, and at most all of them"
    if test.ties == "mid":
        beyond = "more" if test.alternative == "greater" else "fewer"
        return f"the share of these worlds with {beyond} than {plural(test.hits, 'hit')}, and half of those with exactly as many"
    return f"the share of these worlds with {more if test.alternative == 'greater' else fewer}"


def in_worlds(test: ChanceTest) -> str:
    """A p-value as people count: so many worlds of a hundred, or one in so many."""
    p = test.pvalue
    if p >= 0.995:
        return "nearly all of them" if p < 1 else "all of them"
    if p >= 0.01:
        return f"{100 * p:.2g} of 100"
    return f"about 1 in {float(f'{1 / p:.2g}'):,.0f}" if p >= RARE else "fewer than 1 in a million"


# ---- the strip of nulls: what each says at the evaluated position


def strip_of(result: Evaluation, seed: int) -> list[dict[str, str]]:
    """A row for each null: the one used, those that hold too, and those that do not, in grey."""
    choice = result.settings.choice
    return [
        {
            "kind": "used" if one.used else "aside" if one.against else "valid",
            "null": one.model.text,
            "precision": "–" if one.precision is None else show_p(one.precision),
            "recall": "–" if one.recall is None else show_p(one.recall),
            # ticks where there are no steps
            "about": one.against or replace(choice, model=one.model, assumes="").assumption,
        }
        for one in every_null(result, seed=seed)
    ]


# ---- how tolerances and lags are written in the address of a page, and as which numbers they are found again


def address_of(tolerance: Tolerance) -> dict[str, Any]:
    """Such as "2" or "1h", or "30min..2h" where both sides differ.

    >>> address_of(Tolerance(early=2, late=2))
    {'link': '2', 'unit': 'steps', 'early': 2.0, 'late': 2.0}
    >>> address_of(Tolerance(early="3h", late="-1h"))["link"]
    '3h..-1h'
    """
    sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
    early, late = (signed(side, dates=tolerance.unit == "ns") for side in sides)
    link = early if early == late else f"{early}..{late}"
    return {"link": link, "unit": tolerance.unit, "early": float(sides[0]), "late": float(sides[1])}


# ---- everything a report shows, as plain data: computed here once, only looked up in the page

READABLE = {
    "truth": ("tp", "fp", "predicted", "not_predicted", "total"),
    "predictions": ("tp", "fn", "actual", "not_actual", "total"),
}
MOST_BARS = 41


def make_payload(result: Evaluation, source: Source | None = None, label: str = "report") -> dict[str, Any]:
    """All numbers and sentences of a report, for every slider position; ``label`` stands by the progress bar."""
    grid, seed = grid_of(result), seed_of(result)
    diagnosis = diagnosis_of(result.cell, alpha=result.alpha)
    shape, column = grid.shape, "lag" if grid.lags else "threshold"
    columns = _lags(grid) if grid.lags else _thresholds(result, grid)
    shifts = shifts_of(result, grid, diagnosis.lags)
    cells = _cells(result, grid, seed, shifts, label)
    upper = {side: _numbers(cells, side, "upper") for side in SIDES}
    of = {side: _numbers(cells, side, "of") for side in SIDES}
    corrected = correct(result, grid, upper, of, families(result, grid, seed, upper))
    family = corrected.family
    _write_corrected(cells, corrected)
    entitle(cells, corrected, result, grid, evaluator_under(result, grid, seed))
    darkness(cells)
    line = timeline(result, grid)
    made = {
        "chosen": list(grid.chosen),
        "alpha": result.alpha,
        "column": column,
        "movable": result.cell.trial.scored or shape[1] > 1,
        "noun": result.cell.truth.noun,
        "nouns": nouns_of(result),
        "alternative": result.precision_test.alternative,
        "thresholds": columns,
        "axis": _axis(result, grid),
        "tolerances": [{"label": str(t), "short": short_tolerance(t), **address_of(t)} for t in grid.tolerances],
        "cells": cells,
        "rows": [about_row(row, str(t), result.alpha, column) for row, t in zip(cells, grid.tolerances, strict=True)],
        "columns": [about_column([row[k] for row in cells], grid.tolerances, column) for k in range(shape[1])],
        "lags": shifts.at,
        "lag_title": shifts.title,
        "timeline": line,
        "events": events_of(result, line),
        "about_heat": {side: about_heat(cells, side, result.alpha) for side in SIDES},
        "family": None if family is None else family.in_words(_best_place(family, grid, columns)),
        "corrected_by": corrected_by(family, corrected.nulls, corrected.smallest),
        "grid": f"{plural(shape[1], column)} × {plural(shape[0], 'tolerance')}. {grid.left_out}".strip(),
        "diagnosis": {
            "instead": another_null(result.settings.choice, diagnosis.recommended, diagnosis.why),
            "recommended": recommended(diagnosis),
            "findings": [
                {
                    "name": f.name,
                    "found": f.found,
                    "statistic": show_number(f.statistic),
                    "p": "" if f.pvalue is None else f", {p_is(f.pvalue)}",
                    "looked_at": f.looked_at,
                    "sentence": f.sentence,
                }
                for f in diagnosis.findings
            ],
        },
        "next": [
            {"words": step.words, "command": step.command}
            for step in next_steps(result, grid, cells, diagnosis, source)
        ],
        "strip": strip_of(result, seed),
        "seed": seed,
    }
    return cast(dict[str, Any], in_names(made, result.names))


def nouns_of(result: Evaluation) -> dict[str, list[Words]]:
    """What one and several of them are called: events as they are counted, alarms, predictions, false alarms."""
    things = {"event": result.cell.truth.noun, "alarm": "alarm", "prediction": result.alarm_noun}
    both = {name: [say("{}", THINGS[word]), say("{}", THINGS[f"{word}s"])] for name, word in things.items()}
    return both | {"false": [say("{}", FALSE["false_alarm"]), say("{}", FALSE["false_alarms"])]}


def _cells(result: Evaluation, grid: Grid, seed: int, shifts: Shifts, label: str) -> list[list[Any]]:
    """All cells, side by side: most of the time goes into compiled loops."""
    evaluated = evaluator(result, grid, seed)
    where = list(np.ndindex(grid.shape))
    cells: list[list[Any]] = [[None] * grid.shape[1] for _ in range(grid.shape[0])]

    def made(at: tuple[int, int]) -> dict[str, Any]:
        cell = evaluated(*at)
        return _cell(cell, shifts, shifts.hits(*at, cell.cell))

    with progress_bar(label, len(where)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, ((d, k), cell) in enumerate(zip(where, pool.map(made, where), strict=True), start=1):
            cells[d][k] = cell
            advance(done)
    return cells


def _lags(grid: Grid) -> list[dict[str, Any]]:
    """Each lag: how it is written, and where it stands on an axis."""
    lengths = np.array([lag.length for lag in grid.lags], dtype=np.float64)
    at, _ = as_people_say(lengths, grid.lags[0].dates)
    return [
        {
            "label": lag.said,
            "short": lag.short if lag.length else "0",
            "position": float(position),
            "place": float(position),
            "value": None,
            "link": lag.short,
            "unit": "ns" if lag.dates else "clock",
            "length": float(lag.length),
        }
        for lag, position in zip(grid.lags, at, strict=True)
    ]


def _best_place(family: FamilywiseTest, grid: Grid, columns: list[dict[str, Any]]) -> str:
    """Where the best F1 of all positions is, as the sliders tell it."""
    if family.observed_best_at is None:
        return ""
    d, k = divmod(family.observed_best_at[0], len(grid.lags)) if grid.lags else family.observed_best_at
    at = "no lag" if grid.lags and not grid.lags[k].length else columns[k]["label"]
    return say("{} and tolerance {}", at, grid.tolerances[d])


def _axis(result: Evaluation, grid: Grid) -> dict[str, str]:
    """What the axis of thresholds or lags is called: beside curves, and below a map."""
    tolerance = {"tolerance": tolerance_axis(grid.tolerances[-1])}
    if grid.lags:
        _, unit = as_people_say(np.array([lag.length for lag in grid.lags], dtype=np.float64), grid.lags[0].dates)
        return {"curve": say("lag{}; negative: {alarms} before {events}", unit), "map": "lag", **tolerance}
    if result.cell.trial.scored:
        return {"curve": "threshold, as a quantile of the score", "map": "threshold, as a quantile", **tolerance}
    return {"curve": "", "map": "", **tolerance}


def _thresholds(result: Evaluation, grid: Grid) -> list[dict[str, Any]]:
    """Each threshold: how it is written, and where it stands among the scores."""
    if result.sequence.scores is None:
        return [{"label": say("{alarms} as given"), "short": "", "position": 0.0, "place": 0.0, "value": None}]
    scores = result.sequence.open_scores()
    made: list[dict[str, Any]] = []
    for told, value, quantile in zip(grid.told.tolist(), grid.thresholds.tolist(), grid.quantiles, strict=True):
        label = result.sequence.cut_in_words(show_number(told)) + (
            "" if quantile is None else f" ({quantile:g} quantile)"
        )
        position = float((scores < value).mean()) if quantile is None else quantile
        place = stretched(position, len(scores))
        made.append({"label": label, "position": position, "place": place, "value": finite_or_none(told)})
    names = short_names([one["position"] for one in made])
    return [one | {"short": short} for one, short in zip(made, names, strict=True)]


def _cell(cell: Evaluation, shifts: Shifts, by_lag: Hits) -> dict[str, Any]:
    # pictures first: where a law is inverted, they tell most of the p-values too
    intervals = cell.interval()
    sides = {
        "precision": _side(cell.precision_test, cell.precision, intervals.precision, cell.alarm_noun),
        "recall": _side(cell.recall_test, cell.recall, intervals.recall, cell.alarm_noun),
    }
    hits, found = by_lag
    sentences = cell.sentences()
    return {
        "ruling": cell.ruling,  # until it is known which p-values count
        "n": cell.n_predictions,
        **sides,
        "f1": finite_or_none(cell.f1),
        "matrices": {"truth": _matrix(cell.tolerant_truth), "predictions": _matrix(cell.tolerant_predictions)},
        "lag": {"precision": hits, "recall": found},
        "delay": _delay(cell.delays),
        "text": {
            "advice": cell.advice,
            "alternative": cell.settings.alternative,
            "explained": explained(cell, sides["precision"]["low"], sides["precision"]["high"]),
            "precision_sentence": sentences[0],
            "recall_sentence": sentences[1],
            "f1": show_share(cell.f1),
            "f1_interval": str(intervals.f1),
            "intervals": intervals.in_words(),
            "predictions": f"{cell.n_predictions:,}",
            "false_alarms": str(cell.false_alarms),
            "delay": cell.delays.in_words(),
            "notes": joined(" ", cell.notes),
            "about_timeline": about_timeline(cell),
            "about_lag": about_lag(shifts.at, shifts.told, hits, found),
            "about_delay": about_delay(cell.delays.counts(), cell.delays.in_words()),
        },
    }


def _side(test: ChanceTest, value: float, interval: Interval, alarm: str) -> dict[str, Any]:
    drawn = picture_of(test.law)
    share = test.expected / test.of if test.of else math.nan
    ends = {"mean": test.expected, "low": drawn.low, "high": drawn.high}
    return {
        "hits": test.hits,
        "of": test.of,
        "value": finite_or_none(value),
        "mean": test.expected,
        "std": test.std,
        "low": drawn.low,
        "high": drawn.high,
        "share": {name: _of(value, test.of) for name, value in ends.items()},
        "p": test.pvalue,
        "upper": upper_of(test),
        "law": {
            "at": [drawn.first + i * drawn.step for i in range(len(drawn.chance))],
            "step": drawn.step,
            "chance": _short(drawn.chance),
            "binomial": _short(drawn.binomial),
        },
        "text": {
            "value": show_share(value),
            "interval": str(interval),
            "hits": f"{test.hits:,} of {test.of:,}",
            "chance": show_chance(test.expected, test.std),
            "chance_share": show_share(share),
            "p": show_p(test.pvalue),
            "method": test.method,
            "about": about_null(test, drawn, alarm),
        },
    }


def _write_corrected(cells: list[list[Any]], corrected: Corrected) -> None:
    """Add each cell's p-value after the correction for having looked at all cells, and the simultaneous band."""
    for side in SIDES:
        for d, row in enumerate(cells):
            for k, cell in enumerate(row):
                p = float(corrected.pvalues[side][d, k])
                cell[side] |= {"corrected": p, "remains": significant(p, corrected.alpha)}
                cell[side]["text"]["corrected"] = show_p(p)
                cell[side]["band"] = band = finite_or_none(float(corrected.bands[side][d, k]))
                of = cell[side]["of"]
                cell[side]["share"]["band"] = None if band is None or band > of else _of(band, of)


def _matrix(matrix: Confusion | None) -> dict[str, Any] | None:
    """Entries and marginal sums of a matrix, and which can be read as usual; None if there is no matrix."""
    if matrix is None:
        return None
    entries = ("tp", "fp", "predicted", "fn", "tn", "not_predicted", "actual", "not_actual", "total")
    readable = READABLE.get(matrix.tolerance_in, entries)
    return {"entries": [f"{getattr(matrix, e):,}" for e in entries], "readable": [e in readable for e in entries]}


def _delay(delays: Delays) -> dict[str, Any]:
    """How many events were found with which delay, as bars."""
    values, step = delays.values[delays.found], delays.step
    unit = {"steps": "steps", "clock": "time units"}.get(delays.unit)
    if unit is None:  # seconds, in a unit that people would take
        size, unit = people_unit(values * 1e9, delays.step * 1e9)
        values, step = values / (size / 1e9), step / (size / 1e9)
    at, counts = np.unique(values, return_counts=True)
    sparse = len(at) > 1 and float(np.ptp(at)) > MOST_BARS * float(np.diff(at).min())  # bars would be slivers
    if len(at) > MOST_BARS or sparse:
        counts, edges = np.histogram(values, bins=min(MOST_BARS, max(2 * math.isqrt(len(values)), 8)))
        at = (edges[1:] + edges[:-1]) / 2
    places = _short(at)
    return {"unit": unit, "at": places, "counts": counts.tolist(), "step": step, "width": bar_width(places, step)}


def _of(value: float, of: int) -> float | None:
    """A share in four digits, if there is one."""
    return float(f"{value / of:.4g}") if of else None


def _numbers(cells: list[list[Any]], side: str, name: str) -> FloatArray:
    return np.array([[cell[side][name] for cell in row] for row in cells], dtype=np.float64)


def _short(values: FloatArray) -> list[float]:
    """Four digits are more than a screen shows."""
    return [float(f"{value:.4g}") for value in values.tolist()]
