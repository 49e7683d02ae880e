"""What a power is computed for: how many steps there will be, and how many of them near an alarm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nofluke.errors import InputError, arg, joined, named, passed, say
from nofluke.plain import as_number, as_share, as_whole, exact_fraction
from nofluke.series.tolerance import Length, Tolerance, as_tolerance

STEPS_PER_EVENT = 200
LONGEST = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many steps there are for so many events, and how many of them near an alarm.

    Either the number of steps is fixed, or it grows with the events.
    """

    coverage: Fraction
    steps: int | None
    per_event: Fraction

    def beats(self, recall: float) -> bool:
        """Whether a recall is above the coverage, which is what chance finds: by its digits, as shares are read."""
        return exact_fraction(recall) > self.coverage

    def n_steps(self, n_events: int) -> int:
        """All steps."""
        return round(self.per_event * n_events) if self.steps is None else self.steps

    def covered(self, n_events: int) -> int:
        """Steps near an alarm."""
        return round(self.coverage * self.n_steps(n_events))


def as_plan(coverage: Fraction, n_steps: object, steps_per_event: object) -> Plan:
    """Steps in all, or for each event; as many as in the documentation's table where neither is given."""
    if n_steps is not None and steps_per_event is not None:
        raise InputError(problem=say("pass either {} or {}", named("n_steps"), named("steps_per_event")))
    per_event = STEPS_PER_EVENT if steps_per_event is None else steps_per_event
    number = as_number(
        per_event,
        "steps_per_event",
        f"be a number of at least 1 and at most {LONGEST:,}",
        lambda one: 1 <= one <= LONGEST,
    )
    return Plan(
        coverage=coverage,
        steps=None if n_steps is None else as_whole(n_steps, "n_steps", 2, LONGEST),
        per_event=exact_fraction(number),
    )


def as_coverage(coverage: Any, share_alarms: Any, tolerance: Length | Tolerance) -> Fraction:
    """The share of steps near an alarm: as it is given, or as it follows for alarms that are single random steps.

    >>> float(as_coverage(None, 0.01, 2).limit_denominator(10**6))
    0.04900995009...
    """
    within = steps_of(tolerance)
    if (coverage is None) is (share_alarms is None):
        raise InputError(
            problem="describe the alarms",
            remedy=say(
                "pass {}, the share of steps near one, or {}, the share of predicted steps",
                arg("coverage"),
                arg("share_alarms"),
            ),
        )
    if share_alarms is None:
        if any(within):
            raise InputError(
                problem="a coverage already includes the tolerance",
                remedy=say("leave the tolerance out, or pass {} instead of {}", arg("share_alarms"), arg("coverage")),
            )
        return as_share(coverage, "coverage")
    width = within[0] + within[1] + 1
    found = 1.0 - (1.0 - float(as_share(share_alarms, "share_alarms"))) ** width
    if found >= 1.0:
        raise InputError(
            argument="share_alarms",
            value=share_alarms,
            problem="leave no step out of reach of an alarm",
            remedy="lower one of them",
        )
    return exact_fraction(found)


def steps_of(tolerance: Length | Tolerance) -> tuple[int, int]:
    """How many steps early and late; durations have none without data."""
    read = as_tolerance(tolerance)
    if read.unit != "steps" or not isinstance(read.early, int) or not isinstance(read.late, int):
        told = read.plain()
        sides = told if isinstance(told, dict) else {"tolerance": told}
        both = joined(" and ", (passed(name, length) for name, length in sides.items()))
        raise InputError(problem=say("{} must be in steps, such as 2", both), remedy="there is no clock here")
    return read.early, read.late


def as_measure(value: object, name: str) -> float:
    """A recall or a precision that a detector may have: above 0, at most 1."""
    return as_number(value, name, "be above 0 and at most 1", lambda one: 0 < one <= 1)
