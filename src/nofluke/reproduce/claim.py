"""What a checked statement is: what is said, the computation that decides it, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np

Outcome = Literal["holds", "does not hold", "cannot be checked"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "does not hold", "cannot be checked")
OPEN: Outcome = "cannot be checked"
Found = tuple[bool | np.bool_ | Outcome, str]
"""What a computation finds: whether the statement holds, if that can be checked, and the numbers that decide."""
Study = TypeVar("Study")
Check = TypeVar("Check", bound=Callable[..., Found])


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


class Claims(Generic[Study]):
    """A table of statements about a study, in the order in which they are declared.

    Each is a function of the study that decides it. Its docstring is the statement, its name the key.

    Examples
    --------
    >>> claims = Claims()
    >>> @claims.said("1.2", "Figure 2")
    ... def small_numbers(study):
    ...     '''All numbers are small.'''
    ...     return max(study) < 10, f"The largest is {max(study)}."
    >>> (claim,) = claims.check([3, 14])
    >>> claim.key, claim.statement, claim.outcome, claim.finding
    ('small-numbers', 'All numbers are small.', 'does not hold', 'The largest is 14.')
    """

    def __init__(self) -> None:
        self._checks: list[tuple[Callable[[Study], Found], dict[str, str]]] = []

    def said(
        self, section: str, decided_by: str, each: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Callable[[Check], Check]:
        """Declare a statement; ``each`` has several by their keys, with the words and arguments that they differ in."""

        def declare(check: Check) -> Check:
            for key, parts in (each or {check.__name__.replace("_", "-"): {}}).items():
                texts = {"section": section, "statement": check.__doc__ or "", "decided_by": decided_by}
                told = {name: " ".join(text.format(**parts).split()) for name, text in texts.items()}
                self._checks.append((partial(check, **parts), {"key": key, **told}))
            return check

        return declare

    def check(self, study: Study) -> tuple[Claim, ...]:
        """Every statement, with what the study has to say about it."""
        claims = []
        for check, told in self._checks:
            found, finding = check(study)
            outcome: Any = found if isinstance(found, str) else OUTCOMES[0 if found else 1]
            claims.append(Claim(**told, outcome=outcome, finding=finding))
        return tuple(claims)


def tally(claims: tuple[Claim, ...]) -> str:
    """How many statements hold, do not, cannot be checked: in words."""
    counts = {o: sum(c.outcome == o for c in claims) for o in OUTCOMES}
    return (
        f"Of {len(claims)} statements, {counts['holds']} hold, {counts['does not hold']} do not, and "
        f"{counts['cannot be checked']} cannot be checked"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What was written, and what was found.

    Attributes
    ----------
    directory : Path
        Where the files are; ``index.html`` is the one to open.
    files : tuple of str
        Their names, sorted.
    claims : tuple of Claim
        Statements and their outcomes.
    """

    directory: Path
    files: tuple[str, ...]
    claims: tuple[Claim, ...]

    def in_words(self) -> str:
        """How many statements hold, as a sentence."""
        return f"{tally(self.claims)}{self._on()}."

    def _on(self) -> str:
        """What is to be said of the data."""
        return ""
