"""What a checked statement is, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from nofluke.reproduce.study import TOLERANCES
from nofluke.text.tables import show_share

Outcome = Literal["holds", "does not hold", "cannot be checked"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "does not hold", "cannot be checked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of the paper, what was found, and where to see it.

    Attributes
    ----------
    key : str
        A short name that does not change.
    section : str
        Where the paper says it.
    statement : str
        What it says, as closely as a sentence of its own allows.
    outcome : {"holds", "does not hold", "cannot be checked"}
    finding : str
        The numbers that decide.
    decided_by : str
        The figure or table to look at.
    """

    key: str
    section: str
    statement: str
    outcome: Outcome
    finding: str
    decided_by: str

    def said_in(self) -> str:
        """The section, as it is named in a table; one that is no number stands for itself."""
        return f"section {self.section}" if self.section[:1].isdigit() else self.section

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain values, for JSON."""
        return asdict(self)


def outcome_of(condition: bool | np.bool_) -> Outcome:
    """Holds or not."""
    return "holds" if condition else "does not hold"


def tally(claims: tuple[Claim, ...]) -> str:
    """How many statements hold, do not, cannot be checked: in words."""
    counts = {o: sum(c.outcome == o for c in claims) for o in OUTCOMES}
    return (
        f"Of {len(claims)} statements, {counts['holds']} hold, {counts['does not hold']} do not, and "
        f"{counts['cannot be checked']} cannot be checked"
    )


def by_tolerance(values: Any, form: Callable[[Any], str] = lambda v: show_share(float(v))) -> str:
    """One number for each tolerance: "0.035, 0.062, 0.086, 0.064"."""
    return ", ".join(form(value) for value in values)


DELTAS = f"δ = {', '.join(map(str, TOLERANCES[:-1]))} and {TOLERANCES[-1]}"
