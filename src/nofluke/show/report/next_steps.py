"""What next: the best position that holds, a lag to correct, missing events, alarms per week; each with a command."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.errors import InputError, say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.nulls.diagnosis import Diagnosis
from nofluke.series.counting import touching
from nofluke.series.tolerance import Tolerance
from nofluke.show.report.correction import holds
from nofluke.show.report.grid import Grid
from nofluke.show.report.origin import Source, call_of
from nofluke.text.tables import plural, show_number, show_share

WEEK = 7 * 86_400
RULES = ("--threshold", "--quantile", "--budget")
WINDOWS = ("--tolerance", "--early", "--late", "--unit")
OF_THE_PAGE = ("-o", "--output", "--title", "--metric")
LEAST_FOUND = 10  # events that show on which side alarms come
STATED = 0.5  # the recall worth finding, where the interval of the observed one has no lower limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do next, and what to type for it; empty where nothing is to be typed."""

    words: str
    command: str = ""


def next_steps(
    result: Evaluation, grid: Grid, cells: list[list[Any]], diagnosis: Diagnosis, source: Source | None
) -> tuple[Step, ...]:
    """Up to four steps, the most useful first."""
    if 0 in (result.n_events, result.n_predictions):
        return ()
    steps = (
        _best_position(result, grid, cells, source),
        _lag(result, diagnosis, source),
        _events(result),
        _alarms(result, source),
    )
    return tuple(step for step in steps if step is not None)


def _best_position(result: Evaluation, grid: Grid, cells: list[list[Any]], source: Source | None) -> Step | None:
    """The best threshold or lag at the evaluated tolerance; a longer one raises F1 whatever the detector does."""
    d, chosen = grid.chosen
    row = cells[d]
    if len(row) == 1:
        return None
    what = "lag" if grid.lags else "threshold"
    at = [k for k, cell in enumerate(row) if holds(cell, result.alpha)]
    if not at:
        return Step(words=f"At this tolerance no {what} is better than chance in both measures after correction.")
    k = max(at, key=lambda k: (row[k]["f1"] or 0.0, k == chosen))
    value: Any = grid.lags[k].length if grid.lags else _shortest(result, grid, k)
    told = show_number(value) if not grid.lags else grid.lags[k].short if value else "0"
    words = f"Of the {what}s that hold after correction, {told} has the best F1, {show_share(row[k]['f1'])}"
    if k == chosen:
        return Step(words=f"{words}: the one that was evaluated.")
    return Step(
        words=f"{words}. It was found here, so it must be tested on new data:",
        command=_command(result, source, new_data=True, **{what: value}),
    )


def _shortest(result: Evaluation, grid: Grid, k: int) -> float:
    """The shortest number that predicts the same steps as a threshold, which may lie anywhere between two scores."""
    scores, told = result.cell.trial.detector, float(grid.told[k])
    wanted = np.count_nonzero(scores >= grid.thresholds[k])
    for digits in range(3, 17):
        short = float(f"{told:.{digits}g}")
        if np.count_nonzero(scores >= result.sequence.sign * short) == wanted:
            return short
    return told


def _lag(result: Evaluation, diagnosis: Diagnosis, source: Source | None) -> Step | None:
    """A window that is moved to where the alarms are; two lists of times have lags on a slider."""
    tolerance, steps = result.tolerance, _steps_late(result, diagnosis)
    if result.cell.in_time or not steps or tolerance.aside:
        return None
    length: Any = steps
    if tolerance.unit != "steps":
        clock = result.sequence.clock
        if clock is None:
            return None
        length = steps * clock.step * (clock.tick_size if tolerance.unit == "ns" else 1)
    early, late = max(tolerance.early - length, 0), max(tolerance.late + length, 0)
    side = "late" if steps > 0 else "early"
    told = "{Alarms} come about {} {}. If that is how the detector works, shift the window by that much, and say so beforehand:"
    return Step(
        words=say(told, plural(abs(steps), "step"), side),
        command=_command(result, source, tolerance=Tolerance(early=early, late=late, unit=tolerance.unit)),
    )


def _steps_late(result: Evaluation, diagnosis: Diagnosis) -> int:
    """By how many steps alarms are late: the shift with clearly more hits, or the median of one-sided delays."""
    found = next((one for one in diagnosis.findings if one.name == "lag" and one.found), None)
    if found is not None:
        return round(found.statistic)
    delays = result.delays
    quarter, three = delays.quantile(0.25), delays.quantile(0.75)
    if delays.found.sum() < LEAST_FOUND or not (quarter > 0 or three < 0):
        return 0
    step = delays.step or 1.0
    return round(delays.median / step)


def _events(result: Evaluation) -> Step | None:
    if result.verdict == "yes":
        return None
    for recall in (None, STATED):
        with suppress(InputError):  # without a lower limit, or out of these alarms' reach
            found = result.events_needed(recall)
            if found.n_events is None or found.n_events <= result.n_events:
                return None
            per_event = result.cell.n_steps / result.n_events
            options = f"--recall {found.recall:.3g} --coverage {found.coverage:.3g} --steps-per-event {per_event:.4g}"
            return Step(
                words=say("{}; there are {:,}:", found.in_words().removesuffix("."), result.n_events),
                command=f"nofluke power {options} --alpha {result.alpha:g}",
            )
    return None


def _alarms(result: Evaluation, source: Source | None) -> Step | None:
    alarms, false = _episodes(result)
    watched, unit = result.false_alarms.duration, result.false_alarms.unit
    if not watched:
        return None
    per, each, watching = {
        "seconds": (watched / WEEK, "a week", " of watched time"),
        "steps": (watched / 1_000, "per 1,000 steps", ""),
        "clock": (watched / 1_000, "per 1,000 units", " of watched time"),
    }[unit]
    of_steps = result.count_alarms == "steps" and not isinstance(result, Coincidence)
    runs_are_one = say(" (a run of {predictions} is one)") if of_steps else ""
    words = say(
        "There {} {}{}, {} {}{}; {:,} of them, {} {}, hit nothing",
        "is" if alarms == 1 else "are",
        plural(alarms, "alarm"),
        runs_are_one,
        _rate(alarms / per),
        each,
        watching,
        false,
        _rate(false / per),
        each,
    )
    if not (of_steps and result.cell.trial.scored):
        return Step(words=say("{}.", words))
    budget = float(f"{result.n_predictions / result.n / 2:.2g}")
    return Step(
        words=say("{}. For at most half as many {predictions}, use a budget of {:g}%:", words, 100 * budget),
        command=_command(result, source, budget=budget),
    )


def _episodes(result: Evaluation) -> tuple[int, int]:
    """Alarms as people count them, a run of predicted steps as one, and those without a hit."""
    if result.cell.in_time or result.count_alarms != "steps":
        return result.n_predictions, result.false_alarms.count
    cell = result.cell
    hits = touching(cell.episodes, cell.trial.zones.near[cell.d])
    return len(hits), int((~hits).sum())


def _rate(value: float) -> str:
    return show_number(float(f"{value:.2g}"))


def _command(result: Evaluation, source: Source | None, *, new_data: bool = False, **changes: Any) -> str:
    """What to type: on the command line where the data came from there, else in Python."""
    if source is None:
        return call_of(result, **changes)
    words = shlex.split(source.command)
    dropped = (*OF_THE_PAGE, *(RULES if {"threshold", "budget"} & changes.keys() else ()))
    dropped += (*(WINDOWS if "tolerance" in changes else ()), *(("--lag",) if "lag" in changes else ()))
    new = {source.file: "NEW.csv", source.truth_file: "NEW-EVENTS.csv", source.predictions_file: "NEW-ALARMS.csv"}
    renamed = new if new_data else {}
    kept, skip = [], False
    for word in words[2:]:
        if skip or word in dropped:
            skip = not skip
        elif word.partition("=")[0] not in dropped:
            kept.append(renamed.get(word, word))
    end = kept.index("--") if "--" in kept else len(kept)  # behind it stand files alone
    kept[end:end] = _options(changes)
    return shlex.join(["nofluke", "coincidence" if isinstance(result, Coincidence) else "evaluate", *kept])


def _options(changes: dict[str, Any]) -> list[str]:
    made: list[str] = []
    for name, value in changes.items():
        if isinstance(value, Tolerance):
            plain = value.plain()
            sides = plain if isinstance(plain, dict) else {"tolerance": plain}
            made += [word for side, length in sides.items() for word in (f"--{side}", str(length))]
            made += ["--unit", "clock"] if value.unit == "clock" else []
        elif value is not None:
            made += [f"--{name}", repr(value) if isinstance(value, float) else str(value)]
    return made
