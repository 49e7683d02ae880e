"""Remarks on a result: label runs that could be ranges, events nothing can find, degenerate or inverted data."""

from __future__ import annotations

import numpy as np

from nofluke.errors import arg, say
from nofluke.nulls.choice import Choice
from nofluke.nulls.evidence import adjacency, in_runs
from nofluke.series.reading import HigherIs, Sequence
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents, Truth
from nofluke.text.tables import ALL_EQUAL, plural, there_are_no

NO_EVENTS = there_are_no("events", "recall is undefined")


def offered_ranges(sequence: Sequence, truth: Truth, asked: CountEvents | None) -> tuple[str, ...]:
    """An offer to count ranges, if labels come in runs and the call does not say what to count."""
    if asked is not None or sequence.truth_as != "labels" or truth.n < 2 or truth.n == truth.n_steps:
        return ()
    following = int(np.count_nonzero(np.diff(truth.starts) == 1))
    if 2 * following < truth.n:  # runs this short are none: spare the law
        return ()
    runs = adjacency(truth.starts, truth.n_steps)
    if not in_runs(runs):
        return ()
    return (
        say(
            "Labels come in {:,} run(s) of {:.3g} steps on average, and each step counts as an event: pass {} to count each "
            "run once.",
            truth.n - following,
            runs.statistic,
            arg("count_events", "ranges"),
        ),
    )


def out_of_reach(cell: Cell) -> tuple[str, ...]:
    """Events whose window, off to one side, holds no step: it lies past a border or between two steps."""
    tolerance, windows = cell.trial.tolerances[cell.d], cell.trial.event_windows[cell.d]
    lost = int(np.count_nonzero(windows.stops == windows.starts))
    if not tolerance.aside or lost == 0:
        return ()
    return (
        f"{lost:,} of {plural(cell.n_events, cell.truth.noun)} cannot be found: no step that counts lies in "
        f"{'its' if lost == 1 else 'their'} window ({tolerance}).",
    )


def degenerate(
    n: int,
    n_events: int,
    labelled: int,
    alarms: int,
    *,
    near: tuple[int, int] | None,
    all_equal: bool,
    lost: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """What is degenerate. ``near`` counts the steps near an event and near a prediction; None at tolerance 0."""
    remarks = [ALL_EQUAL] if all_equal else []
    if alarms == 0:
        remarks.append(there_are_no("predictions", "precision is undefined"))
    elif alarms == n:
        remarks.append("Every step is predicted: recall says nothing about the detector.")
    if n_events == 0:
        remarks.append(NO_EVENTS)
    elif labelled == n:
        remarks.append("Every step is an event: precision says nothing about the detector.")
    remarks.extend(lost)
    if near is not None:
        if 0 < alarms < n == near[1]:
            remarks.append("Every step is within the tolerance of a prediction: any event would be found.")
        if n_events and labelled < n == near[0]:
            remarks.append("Every step is within the tolerance of an event: any prediction would be a hit.")
    return tuple(remarks)


def untold(choice: Choice) -> tuple[str, ...]:
    """What is to be said of the p-values of many cells, where no null holds; one cell has a verdict that says it."""
    return () if choice.holds else (say("P-values prove nothing here, since no null holds. {}", choice.obstacle),)


def inverted(higher_is: HigherIs | None) -> str:
    """What to do about a detector that seems inverted; None where there are alarms and no scores."""
    remedy = say("{} with 1 for an alarm", arg("predictions"))
    if higher_is is not None:
        remedy = arg("higher_is", "normal" if higher_is == "anomalous" else "anomalous")
    return say("as if the detector were inverted: if it is, pass {}", remedy)
