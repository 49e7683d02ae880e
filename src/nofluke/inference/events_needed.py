"""How many events an evaluation would have needed, at its coverage and steps per event, for a stated recall."""

from __future__ import annotations

from fractions import Fraction

from nofluke.errors import InputError, arg, say, spoken
from nofluke.inference.chance import ChanceTest
from nofluke.inference.interval import Interval
from nofluke.inference.plan import Plan, as_measure
from nofluke.inference.power_results import SampleSize
from nofluke.inference.sample_size import as_power, events_for, search
from nofluke.plain import exact_fraction
from nofluke.series.trial import Cell
from nofluke.text.tables import plural

STATED = 0.5  # the recall that advice assumes, if none was stated


def events_needed(cell: Cell, test: ChanceTest, alpha: float, recall: float | Interval, power: float) -> SampleSize:
    """Events for a power, with as many steps for each event and as large a share of them near alarms as in a cell.

    Of an interval of recall it is the lower limit that counts.
    """
    notes = []
    if isinstance(recall, Interval):
        notes.append(f"The recall is the lower limit of the {100 * recall.level:.4g}% interval, not the observed one.")
        recall = _lower_limit(recall)
    recall, power = as_measure(recall, "recall"), as_power(power)
    found = _possible(cell, test, recall)
    if not cell.truth.points:
        notes.append(
            "Ranges are treated as events that chance finds equally often, as often as it finds these on average."
        )
    if test.model != "permutation":
        notes.append(f"Computed for events on random steps; {test.model} may need more of them.")
    return events_for(recall, found, power, alpha, tuple(notes))


def _possible(cell: Cell, test: ChanceTest, recall: float) -> Plan:
    """What the alarms and events of a cell say of other events, where that is anything, and such a recall has room."""
    found = _plan(cell, test)
    if not 0 < found.coverage < 1:
        raise InputError(
            problem=f"{plural(test.of, 'event')} and {plural(cell.n_predictions, 'alarm')}, with {cell.covered:,} of "
            f"{plural(cell.n_steps, 'step')} near an alarm, say nothing about other events",
            remedy=say("call {} with a coverage", spoken("nf.sample_size", shell="nofluke power")),
        )
    if found.coverage * found.per_event <= recall:
        raise InputError(
            argument="recall",
            value=recall,
            problem=f"is more than these alarms can find, which cover {plural(cell.covered, 'step')} for "
            f"{plural(test.of, 'event')}",
            remedy="pass a smaller recall, or evaluate more alarms",
        )
    return found


def _lower_limit(recall: Interval) -> float:
    if not recall:
        raise InputError(
            problem=say("{} Pass {}, the recall that would be worth finding", recall.reason, arg("recall"))
        )
    if recall.low <= 0:
        raise InputError(
            problem="the interval of recall goes down to 0",
            remedy=say("pass {}, the recall that would be worth finding", arg("recall")),
        )
    return recall.low


def _plan(cell: Cell, test: ChanceTest) -> Plan:
    n_steps, n_events = max(cell.n_steps, 1), max(test.of, 1)
    coverage = Fraction(cell.covered, n_steps)
    if test.of and not cell.truth.points:  # the longer a range, the more often chance finds it
        coverage = exact_fraction(test.expected / test.of)
    return Plan(coverage=coverage if test.of else Fraction(0), steps=None, per_event=Fraction(n_steps, n_events))


def advice(cell: Cell, test: ChanceTest, alpha: float, power: float = 0.8) -> str:
    """How many events would be enough, in a sentence; nothing where no number is, or none more than there are."""
    try:
        needed = search(STATED, _possible(cell, test, STATED), power, alpha)[0]
    except InputError:  # such a recall, or any, is out of these alarms' reach
        return ""
    if needed is None or needed <= test.of:
        return ""
    return (
        f"With alarms and events as dense as these, it takes {plural(needed, 'event')} to tell a detector that finds "
        f"half of them from chance with a power of {power:g}."
    )
