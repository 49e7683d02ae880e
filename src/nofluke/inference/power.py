"""Power and sample size: how likely a detector with a stated recall or precision is found to be better than chance,
and how many events that takes.

The section "Power" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.errors import InputError, arg, joined, named, passed, say
from nofluke.inference.chance import significant
from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.exact.hypergeometric import critical_hits, hypergeometric_log_tail
from nofluke.laws.law import How, Law, exactly, first_true
from nofluke.laws.precision import precision_law
from nofluke.nulls.base import check_resamples, drawing
from nofluke.nulls.permutation import CELL_OPERATIONS
from nofluke.plain import as_number, as_rng, as_share, as_whole, check_alpha, exact_fraction
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import Windows
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_p
from nofluke.text.tables import SCHEMA, Table, by_column, noted, plural, show_number, show_share


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Power(Exports):
    """How likely a detector is significantly better than chance: P(p ≤ alpha) with a stated recall or precision.

    Attributes
    ----------
    power : float
        The probability that the measure comes out significant at the level alpha.
    measure : {"recall", "precision"}
        What is tested.
    value : float
        The recall or precision that the detector truly has.
    n_events, n_steps : int
        Events and steps.
    coverage : float
        The share of steps near an alarm.
    alpha : float
        The level of the test.
    critical_hits : int or None
        The number of hits from which recall is significant. None where no number is, and for precision, where it
        depends on how the alarms lie.
    smallest_p : float or None
        The smallest possible p for recall; None for precision.
    n_alarms : int or None
        Predicted steps, for precision.
    method : How
        "exact" for recall; for precision "simulated", with the number of resamples and the seed.
    error : float
        The standard error of a simulated power; 0 for an exact one.
    notes : tuple of str

    See Also
    --------
    nofluke.power : makes it.
    nofluke.SampleSize : how many events a given power needs.

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000)
    >>> round(found.power, 3), found.critical_hits, found.n_events
    (0.834, 5, 10)
    >>> found
    <Power 0.834: recall 0.600, 10 events in 2,000 steps, coverage 0.200, alpha 0.05; exact (hypergeometric)>
    """

    power: float
    measure: Literal["recall", "precision"]
    value: float
    n_events: int
    n_steps: int
    coverage: float
    alpha: float
    critical_hits: int | None = None
    smallest_p: float | None = None
    n_alarms: int | None = None
    method: How
    error: float = 0.0
    notes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """The power as a sentence."""
        whose = "of the events" if self.measure == "recall" else "of the alarms"
        does = "finds" if self.measure == "recall" else "is right in"
        error = f" ± {self.error:.2g}" if self.method.kind == "simulated" else ""
        return (
            f"A detector that {does} {100 * self.value:.4g}% {whose} is significantly better than chance at the "
            f"{self.alpha:.3g} level with probability {show_share(self.power)}{error}."
        )

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        alarms = "" if self.n_alarms is None else f", {plural(self.n_alarms, 'alarm')}"
        made = f" {self.method.n_resamples:,} resamples" if self.method.n_resamples else ""
        seed = "" if self.method.seed is None else f", seed {self.method.seed}"
        return Table(
            title=f"{plural(self.n_events, 'event')} in {plural(self.n_steps, 'step')}{alarms}, "
            f"{show_share(self.coverage)} of the steps near an alarm",
            columns=("", "value", "power", "significant from", "smallest p"),
            rows=(
                (
                    self.measure,
                    show_share(self.value),
                    show_share(self.power),
                    "" if self.critical_hits is None else plural(self.critical_hits, "hit"),
                    "" if self.smallest_p is None else show_p(self.smallest_p),
                ),
            ),
            notes=(
                self.in_words(),
                f"Method: {self.method}.{made}{seed}{'.' if made else ''}",
                *noted(self.notes),
            ),
        )

    def columns(self) -> dict[str, list[Any]]:
        """One row, by column name."""
        return {name: [value] for name, value in self._record().items() if name not in ("schema", "notes")}

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "power": self.power,
            "error": self.error,
            "measure": self.measure,
            "value": self.value,
            "n_events": self.n_events,
            "n_steps": self.n_steps,
            "n_alarms": self.n_alarms,
            "coverage": self.coverage,
            "alpha": self.alpha,
            "critical_hits": self.critical_hits,
            "smallest_p": self.smallest_p,
            "method": str(self.method),
            "n_resamples": self.method.n_resamples,
            "seed": self.method.seed,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        error = f" ± {self.error:.2g}" if self.method.kind == "simulated" else ""
        return (
            f"<Power {show_share(self.power)}{error}: {self.measure} {show_share(self.value)}, "
            f"{plural(self.n_events, 'event')} in {plural(self.n_steps, 'step')}, coverage {show_share(self.coverage)}, "
            f"alpha {self.alpha:.3g}; {self.method}>"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleSize(Exports):
    """How many events a given power takes.

    Attributes
    ----------
    n_events : int or None
        The smallest number from which the power is never below the requested one; None where there is no such number.
    power : float or None
        The power with that many events.
    asked : float
        The requested power.
    recall, coverage, alpha : float
        What the detector truly finds, what chance finds (the share of steps near an alarm), and the level of the test.
    n_steps : int or None
        Steps, with that many events.
    steps_per_event : float or None
        Steps for each event; None where the number of steps is fixed.
    curve : tuple of (int, float)
        The power with 1, 2, ... events, up to the number needed, or as far as it makes sense.
    reason : str
        Why there is no such number; empty where there is.
    notes : tuple of str

    See Also
    --------
    nofluke.sample_size : makes it.
    nofluke.Power : the power of a given number of events.

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
                *noted(self.notes),
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
            found = {self.curve[-1][0]: "most that fit"}
        for numbers, what in ((enough, "first with that power"), (able, "first that can be significant")):
            if numbers:
                found.setdefault(numbers[0], what)
        return [(n, self.curve[n - 1][1], found[n]) for n in sorted(found)]

    def columns(self) -> dict[str, list[Any]]:
        """The whole curve: the power with 1, 2, ... events."""
        return by_column(("n_events", "power"), self.curve)

    def _record(self) -> dict[str, Any]:
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


# ---- what a power is computed for: how many steps there will be, and how many of them near an alarm

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
    far = float(min(width, 2**1000))  # whole numbers may be larger than any float
    found = -math.expm1(far * math.log1p(-float(as_share(share_alarms, "share_alarms"))))
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


# ---- the power of precision, by simulation: detectors whose alarms lie near events as often as is stated

MOST_SIMULATED_STEPS = 1_000_000  # that are drawn in each run


def _drawn(
    precision: float, sizes: tuple[int, int, int], within: tuple[int, int], generator: np.random.Generator
) -> tuple[int, int, IntArray]:
    """Hits that were drawn, those that there was room for, and the alarms in order."""
    n_steps, n_events, n_alarms = sizes
    events = generator.choice(n_steps, n_events, replace=False, shuffle=False)
    is_near = near_events(events, n_steps, within)
    near, far = np.flatnonzero(is_near), np.flatnonzero(~is_near)
    wanted = int(generator.binomial(n_alarms, precision))
    hits = min(max(wanted, n_alarms - len(far)), len(near))
    chosen = [generator.choice(near, hits, replace=False), generator.choice(far, n_alarms - hits, replace=False)]
    return wanted, hits, np.sort(np.concatenate(chosen))


def near_events(events: IntArray, n_steps: int, within: tuple[int, int]) -> BoolArray:
    """Whether an alarm on each step would be a hit.

    >>> near_events(np.array([2]), 6, (0, 1)).astype(int)
    array([0, 0, 1, 1, 0, 0])
    """
    early, late = within
    edges = np.zeros(n_steps + 1, dtype=np.int64)
    np.add.at(edges, np.clip(events - early, 0, n_steps), 1)
    np.add.at(edges, np.clip(events + late + 1, 0, n_steps), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)


def _law(alarms: IntArray, n_steps: int, n_events: int, within: tuple[int, int]) -> Law:
    early, late = within
    windows = Windows(
        starts=np.clip(alarms - late, 0, n_steps), stops=np.clip(alarms + early + 1, 0, n_steps), n_steps=n_steps
    )
    # where even the Fourier inversion costs too much, an approximation will do: the simulation does not suffer
    return precision_law(windows, n_events, "auto", CELL_OPERATIONS) or PrecisionSaddlepoint(windows, n_events)


# ---- power: how likely a detector with a stated recall or precision is significantly better than chance

MOST_EVENTS = 10**12  # beyond them not even the hits around the mode fit into memory


def power(
    *,
    recall: float | None = None,
    precision: float | None = None,
    n_events: int,
    n_steps: int | None = None,
    steps_per_event: float | None = None,
    coverage: float | str | None = None,
    share_alarms: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    alpha: float = 0.05,
    n_resamples: int = 1_000,
    rng: Any = None,
) -> Power:
    """How likely a detector with a stated recall, or precision, is significantly better than chance.

    Chance places the events on random steps. Recall's hits are then hypergeometric, and significant from c on, the
    smallest number with P(H ≥ c) ≤ alpha; a detector that finds each event with probability R has binomial hits, so its
    power is P(Bin(n_events, R) ≥ c), exactly. Precision's power is simulated.

    Parameters
    ----------
    recall, precision : float
        The true value of the detector, above 0 and at most 1: pass one of the two. State what would be worth finding;
        the value observed in the same data gives "observed power", which says nothing that the p-value does not.
    n_events : int
        How many events there are.
    n_steps : int, optional
        How many steps; or ``steps_per_event``, 200 by default.
    coverage : float or str, optional
        The share of steps near an alarm, within the tolerance: 0.2 or "20%". It is chance's recall.
    share_alarms : float or str, optional
        Instead, the share a of steps that are predicted. If alarms are single steps, placed at random, the coverage is
        1 - (1 - a)^(early + late + 1). Alarms in runs cover less: then pass coverage. Precision needs this share.
    tolerance : int or Tolerance
        In steps, for share_alarms only: a coverage already includes it.
    alpha : float
        The level of the test.
    n_resamples, rng
        Of precision's simulation: in each run events lie on random steps, each of the alarms is near an event with
        probability ``precision``, on one of the steps within the tolerance of an event, and else on one of the other
        steps; the exact law of precision's hits, with these alarms, gives the p-value.

    Returns
    -------
    Power
        Power 0 where no outcome is significant, with a note.

    See Also
    --------
    nofluke.sample_size : how many events a given power needs.
    nofluke.evaluate : the test whose power this is.
    nofluke.Power : the result.

    References
    ----------
    Hoenig and Heisey (2001), "The Abuse of Power", on observed power.

    Examples
    --------
    >>> import nofluke as nf
    >>> print(nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000).in_words())
    A detector that finds 60% of the events is significantly better than chance at the 0.05 level with probability
    0.834.
    >>> nf.power(precision=0.3, share_alarms=0.02, tolerance=2, n_events=10, n_steps=1_000, n_resamples=200, rng=1)
    <Power 0.865 ± 0.024: precision 0.300, 10 events in 1,000 steps, coverage 0.096, alpha 0.05; montecarlo>
    """
    if (recall is None) is (precision is None):
        raise InputError(
            problem=say("pass either {} or {}", named("recall"), named("precision")),
            remedy="the value the detector should have",
        )
    alpha, many = check_alpha(alpha), as_whole(n_events, "n_events", 1, MOST_EVENTS)
    plan = as_plan(as_coverage(coverage, share_alarms, tolerance), n_steps, steps_per_event)
    if plan.n_steps(many) <= many:
        raise InputError(
            argument="n_events",
            value=many,
            problem=f"leave no free step of {plan.n_steps(many):,}",
            remedy="pass more steps, or fewer events",
        )
    if precision is None:
        return _of_recall(as_measure(recall, "recall"), plan, many, alpha)
    return _of_precision(precision, plan, many, alpha, share_alarms, tolerance, n_resamples, rng)


def _of_precision(
    precision: float,
    plan: Plan,
    n_events: int,
    alpha: float,
    share_alarms: Any,
    tolerance: Length | Tolerance,
    n_resamples: int,
    rng: Any,
) -> Power:
    """Draw events and alarms, test each run exactly, and count those that come out significant."""
    n_steps = plan.n_steps(n_events)
    if share_alarms is None:
        raise InputError(
            argument="precision",
            problem="needs the number of alarms",
            remedy=say("pass {} instead of {}", arg("share_alarms"), arg("coverage")),
        )
    n_alarms = round(as_share(share_alarms, "share_alarms") * n_steps)
    if n_alarms == 0:
        raise InputError(
            argument="share_alarms",
            value=share_alarms,
            problem=f"of {n_steps:,} steps is less than one alarm",
            remedy="pass more of either",
        )
    value, within = as_measure(precision, "precision"), steps_of(tolerance)
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    if n_steps > MOST_SIMULATED_STEPS:
        raise InputError(
            argument="n_steps",
            value=n_steps,
            problem="are too many to simulate precision",
            remedy=f"pass at most {MOST_SIMULATED_STEPS:,}",
        )
    rng, how = drawing(n_resamples, rng)
    generator, found, moved = np.random.default_rng(rng), 0, 0
    for _ in range(n_resamples):
        wanted, hits, alarms = _drawn(value, (n_steps, n_events, n_alarms), within, generator)
        moved += hits != wanted
        found += significant(_law(alarms, n_steps, n_events, within).upper(hits), alpha)
    # one run more on either side: no run significant, or all, is no certainty
    about = (found + 1) / (n_resamples + 2)
    note = f"In {moved:,} runs there was not enough room for that many alarms near events, or away from them."
    return Power(
        power=found / n_resamples,
        measure="precision",
        value=value,
        n_events=n_events,
        n_steps=n_steps,
        coverage=float(plan.coverage),
        alpha=alpha,
        n_alarms=n_alarms,
        method=how,
        error=math.sqrt(about * (1 - about) / n_resamples),
        notes=(note,) if moved else (),
    )


def _of_recall(recall: float, plan: Plan, n_events: int, alpha: float) -> Power:
    n_steps, covered = plan.n_steps(n_events), plan.covered(n_events)
    if not attainable(recall, covered, n_events):
        raise InputError(
            argument="recall",
            value=recall,
            problem=f"of {plural(n_events, 'event')} cannot be near alarms that cover {plural(covered, 'step')} of "
            f"{n_steps:,}",
            remedy="pass a larger coverage, more steps, or a smaller recall",
        )
    highest = min(n_events, covered)
    critical = critical_hits(n_steps, covered, n_events, alpha)
    smallest = math.exp(hypergeometric_log_tail(n_steps, covered, n_events, highest, "upper"))
    notes = []
    if critical is None:
        notes.append(
            f"Not even {plural(highest, 'hit')} of {n_events:,} would be significant: the smallest p is {show_p(smallest)}."
        )
    if not plan.beats(recall):
        notes.append("Recall is not above the coverage, which is what chance finds: there is no skill to detect.")
    return Power(
        power=reached(recall, n_events, critical),
        measure="recall",
        value=recall,
        n_events=n_events,
        n_steps=n_steps,
        coverage=float(plan.coverage),
        alpha=alpha,
        critical_hits=critical,
        smallest_p=smallest,
        method=exactly("hypergeometric"),
        notes=tuple(notes),
    )


def recall_power(recall: float, plan: Plan, n_events: int, alpha: float) -> float:
    """The power alone; 0 where so many hits have no room."""
    n_steps, covered = plan.n_steps(n_events), plan.covered(n_events)
    if n_steps <= n_events or not attainable(recall, covered, n_events):
        return 0.0
    return reached(recall, n_events, critical_hits(n_steps, covered, n_events, alpha))


def attainable(recall: float, covered: int, n_events: int) -> bool:
    """Whether as many events as are found find room near alarms: no two lie on one step."""
    return recall * n_events <= covered * (1 + TIE_SLACK)


def reached(recall: float, n_events: int, critical: int | None) -> float:
    """P(Bin(n_events, recall) ≥ critical)."""
    if critical is None:
        return 0.0
    from scipy.special import betainc

    return float(betainc(critical, n_events - critical + 1, recall)) if critical else 1.0


# ---- sample size: how many events it takes for a detector with a stated recall to be significantly better

MOST_SEARCHED = 50_000  # that are searched: a few seconds
HALVINGS = 60  # of an interval of at most 1: down to rounding


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
    """How many events it takes for a detector with a stated recall to be significantly better than chance.

    The smallest m such that `nofluke.power` is at least ``power`` with m events and any larger number. Power does not
    grow steadily with m: hits are whole numbers, so it falls a little wherever one more hit is needed. Beyond a number
    of events that follows from Chernoff's bound it can no longer fall below ``power``; up to there every m is computed.

    Parameters
    ----------
    recall : float
        The share of events that the detector truly finds. State what would be worth finding, not what was observed.
    power : float
        The probability of a significant result, above 0 and below 1.
    n_steps : int, optional
        The number of steps, if it is fixed and only the number of events varies.
    steps_per_event : float, optional
        Otherwise the number of steps for each event; 200 by default.
    coverage, share_alarms, tolerance, alpha
        As in `nofluke.power`.

    Returns
    -------
    SampleSize
        ``n_events`` is None, with a ``reason``, if recall is not above the coverage, if that many events do not fit
        into a fixed number of steps, or if it takes more than the 50,000 events that are searched.

    See Also
    --------
    nofluke.power : the power of a given number of events.
    nofluke.evaluate : the test.
    nofluke.SampleSize : the result.

    References
    ----------
    Hoeffding (1963), theorems 1 and 4, for the bound of both tails.

    Examples
    --------
    >>> import nofluke as nf
    >>> print(nf.sample_size(recall=0.5, coverage=0.1, steps_per_event=200).in_words())
    It takes 10 events to tell a detector that finds 50% of them from chance, which finds 10%, with a power of 0.8 at
    the 0.05 level.
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
    """The search and the power of all fewer events, for arguments that are checked."""
    needed, reason, last, power_of = search(recall, plan, target, alpha)
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


@lru_cache(maxsize=256)  # cells of one report ask the same again and again
def search(recall: float, plan: Plan, target: float, alpha: float) -> tuple[int | None, str, int, dict[int, float]]:
    """Events that are enough, or None and why not; the most that were looked at, and the powers on the way."""
    room = _room(recall, plan)
    if room < 1:
        raise InputError(
            argument="recall",
            value=recall,
            problem=f"of the events cannot be near alarms that cover {float(plan.coverage):.3g} of "
            f"{show_number(float(plan.steps or plan.per_event))} {'steps' if plan.steps else 'steps per event'}",
            remedy="pass a larger coverage, or more steps",
        )
    needed, reason = None, ""
    power_of: dict[int, float] = {}
    most = int(min(room, MOST_SEARCHED))
    last = first_true(lambda m: m > most or _certain(m, recall, plan, target, alpha), 1, 1, most + 1)
    if not plan.beats(recall):
        reason = "Recall is not above the coverage, which is what chance finds: no number of events is enough."
    elif last > most and room > MOST_SEARCHED:
        reason = f"Recall is so little above the coverage that more than the {MOST_SEARCHED:,} events searched may be needed."
    else:
        last = min(last, most)
        for m in range(last, 0, -1):
            power_of[m] = recall_power(recall, plan, m, alpha)
            if power_of[m] < target:
                break
            needed = m
        if needed is None:
            reason = (
                f"No number of events is enough: the most for which that many fit near alarms, {last:,}, have a power "
                f"of {show_share(power_of[last])}."
            )
    return needed, reason, last, power_of


def _room(recall: float, plan: Plan) -> float:
    """The largest number of events of which so many can be near alarms, each on a step of its own."""
    if plan.steps is not None:
        return min(math.floor(plan.covered(1) / recall * (1 + TIE_SLACK)), plan.steps - 1)
    return math.inf if plan.coverage * plan.per_event > recall and plan.per_event > 1 else 0


def _certain(m: int, recall: float, plan: Plan, target: float, alpha: float) -> bool:
    """Whether the power is proven to be at least the target with m events and with any larger number.

    If some x between the coverage q and the recall R has m KL(x, q) ≥ log 1/α and m KL(x, R) ≥ log 1/(1 - target), then
    by Chernoff's bound, which holds without replacement too, m x hits or more are significant, and fewer are as rare as
    asked for. Both grow with m; q is the coverage with all that rounding to whole steps may add, which shrinks.
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
    needs = -math.log(alpha) / m
    for _ in range(HALVINGS):  # the smallest x that is significant
        middle = (low + high) / 2
        low, high = (low, middle) if _divergence(middle, coverage + slack) >= needs else (middle, high)
    return high < recall and m * _divergence(high, recall) >= -math.log1p(-target)


def _divergence(x: float, p: float) -> float:
    """Kullback and Leibler's, of a coin with chance x from one with p."""
    if p >= 1:
        return 0.0 if x >= 1 else math.inf
    return sum(a * math.log(a / b) for a, b in ((x, p), (1 - x, 1 - p)) if a > 0)
