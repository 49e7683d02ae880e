"""What a metric was measured on, in numbers, and why nothing can be concluded where these are degenerate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nofluke.plain import finite_or_none
from nofluke.text.tables import plural, show_number, there_are_no


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a metric was measured on: steps, labelled ranges and steps of them, alarms, and where those come from."""

    n: int
    n_ranges: int
    n_labelled: int
    n_alarms: int | None
    threshold: float | None = None

    @property
    def obstacle(self) -> str:
        """Why no metric can tell anything; empty where nothing is in the way."""
        if self.n_labelled == 0:
            return "No step is labelled: there is nothing to find."
        return "Every step is labelled: there is nothing to tell apart." if self.n_labelled == self.n else ""

    @property
    def no_choice(self) -> str:
        """Why no metric of alarms can tell anything."""
        if self.n_alarms == 0:
            return there_are_no("alarms", "nothing could have been found")
        return (
            "There is an alarm on every step, which takes no knowledge of the labels."
            if self.n_alarms == self.n
            else ""
        )

    def in_words(self) -> str:
        """The counts."""
        alarms = "" if self.n_alarms is None else f", {plural(self.n_alarms, 'alarm')}"
        if self.threshold is not None:
            alarms += f" (threshold {show_number(self.threshold)})"
        share = 100 * self.n_labelled / self.n
        return f"{plural(self.n, 'step')}, {plural(self.n_ranges, 'labelled range')} ({plural(self.n_labelled, 'step')}, {share:.3g}%){alarms}"

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values, for JSON."""
        return {
            "n": self.n,
            "n_ranges": self.n_ranges,
            "n_labelled": self.n_labelled,
            "n_alarms": self.n_alarms,
            "threshold": finite_or_none(self.threshold),
        }
