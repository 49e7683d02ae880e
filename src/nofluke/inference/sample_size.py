"""Sample size: how many events it takes for a detector with a stated recall to be told from chance.

The section "Power" of docs/theory.md has the mathematics, and why the search may end where it does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nofluke.errors import InputError
from nofluke.inference.plan import Plan, as_coverage, as_measure, as_plan
from nofluke.inference.power import recall_power
from nofluke.laws.law import first_true
from nofluke.plain import as_number, check_alpha
from nofluke.ratios import TIE_SLACK
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.tables import SCHEMA, Table, plural, show_number, show_share

MOST_EVENTS = 50_000  # that are searched: a few seconds
HALVINGS = 60  # of an interval of at most 1: down to rounding


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleSize:
    """How many events it takes for a power.

    Attributes
    ----------
    n_events : int or None
        The smallest number from which on the power is never below what was asked for; None where there is none.
    power : float or None
        The power with so many events.
    asked : float
        The power that was asked for.
    recall, coverage, alpha : float
        What the detector truly finds, what chance finds (the share of steps near an alarm), and the level of the test.
    n_steps : int or None
        Steps, with so many events.
    steps_per_event : float or None
        Steps for each event; None where the number of steps is fixed.
    curve : tuple of (int, float)
        The power with 1, 2, ... events, up to the number needed, or as far as it makes sense.
    reason : str
        Why there is no such number; empty where there is.
    notes : tuple of str

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.sample_size(recall=0.6, coverage=0.2)
    >>> found.n_events, round(found.power, 3)
    (10, 0.834)
    >>> found
    <SampleSize 10 events: power 0.834 of 0.8 asked for, recall 0.600, coverage 0.200, alpha 0.05>
    """

    n_events: int | None
    power: float | None
    asked: float
    recall: float
    coverage: float
    alpha: float
    n_steps: int | None
    steps_per_event: float | None
    curve: tuple[tuple[int, float], ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """How many events it takes, or why none are enough, as a sentence."""
        if self.n_events is None:
            return self.reason
        return (
            f"It takes {plural(self.n_events, 'event')} to tell a detector that finds {100 * self.recall:.4g}% of them from "
            f"chance, which finds {100 * self.coverage:.4g}%, with a power of {self.asked:.4g} at the {self.alpha:.3g} level."
        )

    def table(self) -> Table:
        """The curve where it matters, which renders as text, Markdown, LaTeX or HTML."""
        each = "" if self.steps_per_event is None else f", {show_number(self.steps_per_event)} steps per event"
        return Table(
            title=f"Recall {show_share(self.recall)}, {show_share(self.coverage)} of the steps near an alarm{each}",
            columns=("", "events", "power"),
            rows=tuple((what, f"{n:,}", show_share(power)) for n, power, what in self._marks()),
            notes=(
                self.in_words(),
                *([] if self.n_events is None else [f"With more events the power is never below {self.asked:.4g}."]),
                *(f"Note: {note}" for note in self.notes),
            ),
        )

    def _marks(self) -> list[tuple[int, float, str]]:
        """Numbers of events that are worth a row, with why."""
        found: dict[int, str] = {}
        able = [n for n, power in self.curve if power > 0]
        enough = [n for n, power in self.curve if power >= self.asked]
        if self.n_events is not None:
            found = {self.n_events: "needed"} | ({self.n_events - 1: "last below"} if self.n_events > 1 else {})
        elif self.curve:
            found = {self.curve[-1][0]: "most that find room"}
        for numbers, what in ((enough, "first with that power"), (able, "first that can be significant")):
            if numbers:
                found.setdefault(numbers[0], what)
        return [(n, self.curve[n - 1][1], found[n]) for n in sorted(found)]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "n_events": self.n_events,
            "power": self.power,
            "asked": self.asked,
            "recall": self.recall,
            "coverage": self.coverage,
            "alpha": self.alpha,
            "n_steps": self.n_steps,
            "steps_per_event": self.steps_per_event,
            "curve": [list(point) for point in self.curve],
            "reason": self.reason,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        needed = "none" if self.n_events is None else plural(self.n_events, "event")
        power = "" if self.power is None else f"power {show_share(self.power)} of "
        return (
            f"<SampleSize {needed}: {power}{self.asked:.4g} asked for, recall {show_share(self.recall)}, "
            f"coverage {show_share(self.coverage)}, alpha {self.alpha:.3g}>"
        )

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def sample_size(
    *,
    recall: float,
    power: float = 0.8,
    n_steps: int | None = None,
    steps_per_event: float | None = None,
    coverage: float | str | None = None,
    share_alarms: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    alpha: float = 0.05,
) -> SampleSize:
    """How many events it takes for a detector with a stated recall to be told from chance.

    The smallest m such that `nofluke.power` is at least ``power`` with m events and any larger number. Power is no steady
    function of m: hits are whole numbers, so that it falls a little wherever one hit more is needed. Beyond a number of
    events that follows from Chernoff's bound it cannot fall below ``power`` any more; up to there every m is computed.

    Parameters
    ----------
    recall : float
        The share of events that the detector truly finds. State what would be worth finding, not what was observed.
    power : float
        The probability of a significant result, above 0 and below 1.
    n_steps : int, optional
        All steps, where their number is fixed and only the events may be more or fewer.
    steps_per_event : float, optional
        Otherwise how many steps there are for each event; 200 unless said.
    coverage, share_alarms, tolerance, alpha
        As in `nofluke.power`.

    Returns
    -------
    SampleSize
        ``n_events`` is None, with a ``reason``, where recall is not above the coverage, where so many events have no room
        among a fixed number of steps, and where it takes more than the 50,000 events that are searched.

    References
    ----------
    Hoeffding (1963), theorems 1 and 4, for the bound of both tails.

    Examples
    --------
    >>> import nofluke as nf
    >>> print(nf.sample_size(recall=0.5, coverage=0.1, steps_per_event=200).in_words())
    It takes 10 events to tell a detector that finds 50% of them from chance, which finds 10%, with a power of 0.8 at the 0.05 level.
    >>> nf.sample_size(recall=0.4, coverage=0.5).reason
    'Recall is not above the coverage, which is what chance finds: no number of events is enough.'
    """
    value, level = as_measure(recall, "recall"), check_alpha(alpha)
    plan = as_plan(as_coverage(coverage, share_alarms, tolerance), n_steps, steps_per_event)
    return events_for(value, plan, as_power(power), level)


def as_power(power: object) -> float:
    """A power to be reached: certainty takes more events than there are."""
    return as_number(power, "power", "be above 0 and below 1", lambda one: 0 < one < 1)


def events_for(recall: float, plan: Plan, target: float, alpha: float, notes: tuple[str, ...] = ()) -> SampleSize:
    """The search, for arguments that are checked."""
    room = _room(recall, plan)
    if room < 1:
        raise InputError(
            f"recall={recall:g} of the events cannot be near alarms that cover {float(plan.coverage):.3g} of "
            f"{show_number(float(plan.steps or plan.per_event))} {'steps' if plan.steps else 'steps per event'}: pass a "
            "larger coverage, or more steps."
        )
    needed, reason, power_of = None, "", {}
    most = int(min(room, MOST_EVENTS))
    last = first_true(lambda m: m > most or _certain(m, recall, plan, target, alpha), 1, 1, most + 1)
    if not plan.beats(recall):
        reason = "Recall is not above the coverage, which is what chance finds: no number of events is enough."
    elif last > most and room > MOST_EVENTS:
        reason = (
            f"Recall is so little above the coverage that more than the {MOST_EVENTS:,} events searched may be needed."
        )
    else:
        last = min(last, most)
        for m in range(last, 0, -1):
            power_of[m] = recall_power(recall, plan, m, alpha)
            if power_of[m] < target:
                break
            needed = m
        if needed is None:
            reason = (
                f"No number of events is enough: the most of which so many find room near alarms, {last:,}, have a power of "
                f"{show_share(power_of[last])}."
            )
    end = needed or (last if power_of else 0)
    curve = tuple(
        (m, power_of[m] if m in power_of else recall_power(recall, plan, m, alpha)) for m in range(1, end + 1)
    )
    return SampleSize(
        n_events=needed,
        power=None if needed is None else power_of[needed],
        asked=target,
        recall=recall,
        coverage=float(plan.coverage),
        alpha=alpha,
        n_steps=plan.steps if needed is None else plan.n_steps(needed),
        steps_per_event=None if plan.steps else float(plan.per_event),
        curve=curve,
        reason=reason,
        notes=notes,
    )


def _room(recall: float, plan: Plan) -> float:
    """The largest number of events of which so many can be near alarms, each on a step of its own."""
    if plan.steps is not None:
        return min(math.floor(plan.covered(1) / recall * (1 + TIE_SLACK)), plan.steps - 1)
    return math.inf if plan.coverage * plan.per_event > recall and plan.per_event > 1 else 0


def _certain(m: int, recall: float, plan: Plan, target: float, alpha: float) -> bool:
    """Whether the power is proven to be at least the target with m events and with any larger number.

    If some x between the coverage q and the recall R has m KL(x, q) ≥ log 1/α and m KL(x, R) ≥ log 1/(1 - target), then by
    Chernoff's bound, which holds without replacement too, m x hits or more are significant, and fewer are as rare as asked
    for. Both grow with m; q is the coverage with all that rounding to whole steps may add, which shrinks.
    """
    coverage, slack = float(plan.coverage), 0.0
    if plan.steps is None:
        n_steps = float(plan.per_event) * m - 0.5
        slack = 0.5 / n_steps
        if (coverage - slack) * n_steps < recall * m:
            return False
    else:
        coverage = plan.covered(m) / plan.steps
    low, high = coverage + slack, recall
    if low >= high:
        return False
    needs = math.log(1 / alpha) / m
    for _ in range(HALVINGS):  # the smallest x that is significant
        middle = (low + high) / 2
        low, high = (low, middle) if _divergence(middle, coverage + slack) >= needs else (middle, high)
    return high < recall and m * _divergence(high, recall) >= math.log(1 / (1 - target))


def _divergence(x: float, p: float) -> float:
    """Kullback and Leibler's, of a coin with chance x from one with p."""
    if p >= 1:
        return 0.0 if x >= 1 else math.inf
    return sum(a * math.log(a / b) for a, b in ((x, p), (1 - x, 1 - p)) if a > 0)
