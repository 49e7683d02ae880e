"""Which null a trial is judged by, and why: the one that was requested, or the one that fits the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nofluke.errors import InputError, arg, say
from nofluke.nulls import Null, as_null
from nofluke.nulls.auto import pick
from nofluke.nulls.base import METHODS, NullModel
from nofluke.nulls.doubts import doubts
from nofluke.nulls.look import Look
from nofluke.plain import check_word
from nofluke.series.trial import Cell

AUTO = "auto"


BY_AUTO = f" ({AUTO})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The null of a result, and how it came to be.

    Attributes
    ----------
    model : NullModel
        The null that is used.
    asked : str
        "auto", or the text of the null that the caller named.
    why : str
        Why auto took this null, in one sentence; empty where it was asked for.
    holds : bool
        False where auto found no null that holds for these data; ``why`` then says why.
    doubts : tuple of str
        What the data say against a null that the caller insisted on.
    in_time : bool
        Whether events have times of their own, and no steps.
    assumes : str
        What it takes for granted, where that is not as the model says it.

    Examples
    --------
    >>> import nofluke as nf
    >>> nf.evaluate([0, 1, 0, 0], predictions=[0, 1, 0, 0]).settings.choice.label
    'circular-shift (auto)'
    """

    model: NullModel
    asked: str
    why: str
    holds: bool = True
    doubts: tuple[str, ...] = ()
    in_time: bool = False
    assumes: str = ""

    @property
    def assumption(self) -> str:
        """What the null assumes, in ticks and units of time where there are no steps."""
        return self.assumes or self.model.assumed(in_time=self.in_time)

    @property
    def is_auto(self) -> bool:
        """Whether the data chose it."""
        return self.asked == AUTO

    @property
    def label(self) -> str:
        """The null as ``null=`` takes it, and whether it was chosen by auto."""
        return f"{self.model.text}{BY_AUTO}" if self.is_auto else self.model.text

    @property
    def obstacle(self) -> str:
        """Why nothing can be told, where no null holds; else empty."""
        return "" if self.holds else self.why or "No null holds for these data."

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its p-values should know: the doubts, and what is always to be said of this null."""
        return (*self.doubts, *filter(None, [self.model.caveat]))

    def in_words(self) -> str:
        """Which null, why, and what it assumes; the verdict says why none holds."""
        why = self.why if self.holds else "It does not hold here."
        return " ".join(filter(None, [f"Null: {self.label}.", why, self.assumption]))

    def check(self, method: object) -> None:
        """Refuse a method that the chosen null does not have; with auto, the remedy is to name the null that has it."""
        check_word(method, "method", METHODS)
        if self.is_auto and method not in self.model.methods:
            raise InputError(
                argument="method",
                value=method,
                problem=f"is not available for the null {self.model.text}, which auto chose for these data",
                remedy=say("pass {}, or {}", arg("null", "permutation"), arg("method", "auto")),
            )
        self.model.check(method)

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain values, for JSON; the doubts are next to the verdict."""
        return {
            "asked": self.asked,
            "name": self.model.name,
            "text": self.model.text,
            "why": self.why,
            "assumption": self.assumption,
            "holds": self.holds,
        }


def unlabelled(label: str) -> str:
    """The null that a label is of.

    >>> unlabelled("circular-shift (auto)")
    'circular-shift'
    """
    return label.removesuffix(BY_AUTO)


def choose(null: Null, cell: Cell, alpha: float, doubt: str = "") -> Choice:
    """The null that the caller named, with what speaks against it; for "auto" the one that fits the data, and why.

    ``doubt`` is what speaks against any null of this trial.
    """
    in_time = cell.in_time
    if isinstance(null, str) and null.strip() == AUTO:
        found = pick(Look.of(cell, alpha))
        if doubt:
            return Choice(model=found.model, asked=AUTO, why=doubt, holds=False, in_time=in_time)
        return Choice(model=found.model, asked=AUTO, why=found.why, holds=found.holds, in_time=in_time)
    model = as_null(null) if in_time else as_null(null).on_steps
    model.check(model.methods[0], cell)
    return Choice(
        model=model,
        asked=model.text,
        why="",
        doubts=(*filter(None, [doubt]), *doubts(model, cell)),
        in_time=in_time,
    )
