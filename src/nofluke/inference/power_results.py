"""The results of a power analysis: a power, or the number of events it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nofluke.laws.law import How
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
