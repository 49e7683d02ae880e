"""What is said about one cell, on a grid or in time: both tests, delays, false alarms, and far too few hits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nofluke.errors import say
from nofluke.inference.chance import ChanceTest
from nofluke.inference.settings import Settings
from nofluke.measures.delays import Delays, FalseAlarms, TimeUnit
from nofluke.nulls.base import Nulls
from nofluke.series.occurrences import Occurrences
from nofluke.series.reading import Sequence
from nofluke.series.timed import TimedCell
from nofluke.series.trial import Cell
from nofluke.text.numbers import p_is

SOME_STEPS = 1_000  # are enough to tell how long a step is
TURNED = 0.01  # lower-tail p of both measures from which on a detector is taken to be turned round


def judged(cell: Cell, sequence: Sequence | Occurrences, nulls: Nulls, settings: Settings) -> dict[str, Any]:
    """What is said about a cell, on a grid or not: both tests, false alarms and delays."""
    unit, per_unit, duration, step = _clockwork(cell)
    how: dict[str, Any] = {"model": settings.null.text, "alternative": settings.alternative, "ties": settings.ties}
    precision = ChanceTest(
        measure="precision", hits=cell.precision_hits, of=cell.n_predictions, law=nulls.precision, **how
    )
    counts = cell.counts if isinstance(cell, TimedCell) else slice(None)
    recall = ChanceTest(measure="recall", hits=cell.recall_hits, of=cell.n_counted, law=nulls.recall, **how)
    return {
        "n_events": cell.n_counted,
        "n_predictions": cell.n_predictions,
        "tolerance": cell.trial.tolerances[cell.d],
        "delays": Delays(values=cell.delays()[counts] / per_unit, found=cell.found[counts], unit=unit, step=step),
        "false_alarms": FalseAlarms(count=cell.n_predictions - cell.precision_hits, duration=duration, unit=unit),
        "left_out": sequence.left_out,
        "precision_test": precision,
        "recall_test": recall,
        "settings": settings,
        "cell": cell,
    }


def _clockwork(cell: Cell) -> tuple[TimeUnit, float, float, float]:
    """The unit of times, how many of the cell's ticks make one, how much time was watched, and how long a step is."""
    if isinstance(cell, TimedCell):
        ticks, watch = cell.trial.watch.ticks, cell.trial.watch
        # divided by, for times 1e-9 would make a week 604800.0000000001 s
        per_unit = float((10**9 if ticks.is_dates else 1) / ticks.size)
        return "seconds" if ticks.is_dates else "clock", per_unit, ticks.span(watch.watched), ticks.span(1)
    clock = cell.trial.reaches[cell.d].clock
    if clock is None:
        return "steps", 1, float(cell.n_steps), 1.0
    watched, step = clock.lasting(cell.truth.open_steps), replace(clock, ticks=clock.ticks[:SOME_STEPS]).step
    if not clock.is_dates:
        return "clock", 1, watched, step
    per_unit = 10**9 // clock.tick_size
    return "seconds", per_unit, watched / 1e9, step / per_unit


def turned(found: dict[str, Any], remedy: Callable[[], str]) -> tuple[str, ...]:
    """A note where both hits are far fewer than chance's; recall is asked first, whose law costs next to nothing."""
    precision, recall = found["precision_test"], found["recall_test"]
    for test in (recall, precision):
        if test.excess >= 0 or test.pvalue_for("less") > TURNED:
            return ()
    return (turned_note(precision.pvalue_for("less"), recall.pvalue_for("less"), remedy()),)


def turned_note(precision: float, recall: float, remedy: str) -> str:
    """What is said of two lower tails that are far too small."""
    return say(
        "There are far fewer hits than chance would give ({} and {} for so few), {}.",
        p_is(precision),
        p_is(recall),
        remedy,
    )
