"""What next: the best position that holds, a lag to allow for, events that are missing, alarms per week; each with a command."""

from __future__ import annotations

import math
import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.errors import InputError
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.evaluation import Evaluation
from nofluke.measures.delays import show_time
from nofluke.nulls.diagnosis import Diagnosis
from nofluke.series.alarms import runs
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Tolerance
from nofluke.show.report.entitled import holds
from nofluke.show.report.grid import Grid
from nofluke.show.report.lists import Source
from nofluke.show.report.origin import call_of
from nofluke.text.tables import show_number, show_share

WEEK = 7 * 86_400
RULES = ("--threshold", "--quantile", "--budget")
WINDOWS = ("--tolerance", "--early", "--late", "--unit")
OF_THE_PAGE = ("-o", "--output", "--title", "--scripts", "--metric")
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
    """The best threshold or lag at the tolerance that was evaluated: a longer one has a larger F1 whatever the detector does."""
    d, chosen = grid.chosen
    row = cells[d]
    if len(row) == 1:
        return None
    what = "lag" if grid.lags else "threshold"
    at = [k for k, cell in enumerate(row) if holds(cell, result.alpha)]
    if not at:
        return Step(words=f"At this tolerance no {what} is better than chance in both measures after correction.")
    k = max(at, key=lambda k: (row[k]["f1"] or 0.0, k == chosen))
    value = str(grid.lags[k]) if grid.lags else show_number(float(grid.told[k]))
    words = f"Of the {what}s that hold after correction, {value} has the best F1, {show_share(row[k]['f1'])}"
    if k == chosen:
        return Step(words=f"{words}: the one that was evaluated.")
    change = {"lag": grid.lags[k].length} if grid.lags else {"threshold": float(grid.told[k])}
    return Step(
        words=f"{words}. It was found here, so it has to be tried on new data:",
        command=_command(result, source, new_data=True, **change),
    )


def _lag(result: Evaluation, diagnosis: Diagnosis, source: Source | None) -> Step | None:
    median, tolerance = result.delays.median, result.tolerance
    clearly = any(finding.name == "lag" and finding.found for finding in diagnosis.findings)
    if isinstance(result, Coincidence) or not clearly or math.isnan(median) or median == 0 or tolerance.aside:
        return None
    both: Any = tolerance.early + tolerance.late  # type: ignore[operator]  # numbers inside
    late = median > 0
    window = Tolerance(early=0 if late else both, late=both if late else 0, unit=tolerance.unit)
    if window == tolerance or not both:
        return None
    side = "late" if late else "early"
    return Step(
        words=f"Alarms come {show_time(abs(median), result.delays.unit)} {side} in the median. If that is how the detector works, "
        f"let them be {side} only, and say so beforehand:",
        command=_command(result, source, tolerance=window),
    )


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
                words=f"{found.in_words().removesuffix('.')}; there are {result.n_events:,}:",
                command=f"nofluke power {options} --alpha {result.alpha:g}",
            )
    return None


def _alarms(result: Evaluation, source: Source | None) -> Step | None:
    alarms, false = _episodes(result)
    watched, unit = result.false_alarms.duration, result.false_alarms.unit
    if not watched:
        return None
    if unit == "seconds":
        per, name = watched / WEEK, "a week of watched time"
    else:
        per, name = watched / 1_000, "1,000 steps" if unit == "steps" else "1,000 units of watched time"
    words = f"There are {_rate(alarms / per)} alarms {'for ' if unit != 'seconds' else ''}{name}, {_rate(false / per)} of them false"
    share = result.n_predictions / result.n
    if not result.cell.trial.scored or isinstance(result, Coincidence) or result.count_alarms != "steps":
        return Step(words=f"{words}.")
    return Step(
        words=f"{words}. Half as many predictions are a budget of {100 * share / 2:.2g}%:",
        command=_command(result, source, budget=float(f"{share / 2:.2g}")),
    )


def _episodes(result: Evaluation) -> tuple[int, int]:
    """Alarms as people count them, a run of predicted steps as one, and those without a hit."""
    if isinstance(result.cell, TimedCell) or result.count_alarms != "steps":
        return result.n_predictions, result.false_alarms.count
    found = runs(result.cell.alarms)
    before = np.concatenate([[0], np.cumsum(result.cell.trial.near_flags(result.cell.d))])
    near = before[found.stops] > before[found.starts]
    return len(near), int((~near).sum())


def _rate(value: float) -> str:
    return show_number(float(f"{value:.2g}"))


def _command(result: Evaluation, source: Source | None, *, new_data: bool = False, **changes: Any) -> str:
    """What to type: on the command line where the data came from there, else in Python."""
    if source is None:
        return call_of(result, **changes)
    words = shlex.split(source.command)
    dropped = (*OF_THE_PAGE, *(RULES if {"threshold", "budget"} & changes.keys() else ()))
    dropped += (*WINDOWS,) if "tolerance" in changes else ()
    kept, skip = [], False
    for word in words[2:]:
        if skip or word in dropped:
            skip = not skip
        elif word.partition("=")[0] not in dropped:
            kept.append("NEW.csv" if new_data and word == source.file else word)
    name = "coincidence" if isinstance(result, Coincidence) else "evaluate"
    return shlex.join(["nofluke", name, *kept, *_options(changes)])


def _options(changes: dict[str, Any]) -> list[str]:
    made: list[str] = []
    for name, value in changes.items():
        if isinstance(value, Tolerance):
            plain = value.plain()
            sides = plain if isinstance(plain, dict) else {"tolerance": plain}
            made += [word for side, length in sides.items() for word in (f"--{side}", str(length))]
            made += ["--unit", "clock"] if value.unit == "clock" else []
        elif value:
            made += [f"--{name}", repr(value) if isinstance(value, float) else str(value)]
    return made
