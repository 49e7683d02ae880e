"""The test of the best of a whole sweep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import InputError, say
from nofluke.laws.law import How
from nofluke.plain import finite_or_none
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import Table, by_column, show_share


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FamilywiseTest(Exports, ByValue):
    """Is the best of a whole sweep better than the best that chance finds in such a sweep?

    Attributes
    ----------
    precision, recall, both : float
        Familywise p-values: how often chance's most significant cell of a sweep is at least as far above its
        expectation, in its standard deviations, as the observed one; for precision, for recall, for either. For windows
        on two lists of times: how often chance's smallest p-value is as small as the observed one.
    best_f : float
        How often chance's best F_β over all cells reaches the observed best F_β.
    observed_best_f, beta : float
    observed_best_at : pair of int or None
        Where that is: numbers of the tolerance and of the threshold, the first where several are equal; None where no
        cell has an F_β.
    precision_adjusted, recall_adjusted : arrays of shape (tolerances, thresholds)
        P-value of each cell, corrected for having looked at all cells of its measure (single-step Westfall and Young);
        never below the cell's own p-value, where that is known.
    precision_band, recall_band : arrays of shape (tolerances, thresholds)
        Hits above which a cell is significant at ``alpha`` after that correction: chance exceeds them anywhere in the
        sweep with probability at most ``alpha``.
    n_resamples, seed, method, alpha
        Resamples and their seed; for circular shifts every rotation is counted and nothing is drawn.
    obstacle : str
        Why nothing can be told, where no null holds for the data; all p-values are NaN then. Else empty.
    """

    precision: float
    recall: float
    both: float
    best_f: float
    observed_best_f: float
    observed_best_at: tuple[int, int] | None
    beta: float
    alpha: float
    precision_adjusted: FloatArray = field(repr=False)
    recall_adjusted: FloatArray = field(repr=False)
    precision_band: FloatArray = field(repr=False)
    recall_band: FloatArray = field(repr=False)
    n_resamples: int
    seed: int | None
    method: How
    obstacle: str = ""

    @property
    def smallest(self) -> float:
        """The smallest possible p-value: the observed labels are one of the rotations, but not one of the resamples."""
        return 1 / (self.n_resamples + (self.method.kind == "simulated"))

    def how(self) -> str:
        """The draws that chance's best comes from."""
        drawn = f"{self.n_resamples:,} resamples, seed {self.seed}"
        return drawn if self.method.kind == "simulated" else f"{self.n_resamples:,} rotations, all of them"

    def in_words(self, where: str = "") -> str:
        """The test of the best F_β as a sentence; ``where`` says at which threshold and tolerance that is."""
        if not isinstance(where, str):
            raise InputError(argument="where", value=where, problem="must be text")
        place = f", at {where}" if where and self.observed_best_at is not None else ""
        if self.obstacle:
            best = f"The best {self._f} of the whole sweep is {show_share(self.observed_best_f)}{place}."
            return say("{} Whether chance's best reaches it cannot be told. {}", best, self.obstacle)
        return (
            f"The best {self._f} of the whole sweep is {show_share(self.observed_best_f)}{place}; chance's best reaches it with "
            f"{p_is(self.best_f)}. Familywise p over all cells: precision {show_p(self.precision)}, recall "
            f"{show_p(self.recall)} ({self.how()})."
        )

    @property
    def _f(self) -> str:
        return "F1" if self.beta == 1 else f"F{self.beta:g}"

    def table(self) -> Table:
        """The familywise p-values as a small table, which renders as text, Markdown, LaTeX or HTML."""
        rows = zip(*self.columns().values(), strict=True)
        return Table(
            title="The best of a whole sweep beside the best that chance finds",
            columns=("best", "value", "familywise p"),
            rows=tuple(
                (name, "" if value is None else show_share(value), "cannot tell" if p is None else show_p(p))
                for name, value, p in rows
            ),
            notes=(self.in_words(),),
        )

    def columns(self) -> dict[str, list[Any]]:
        """A row for each test, by column name; adjusted p-values of cells are columns of the sweep."""
        rows = [(name, None, finite_or_none(getattr(self, name))) for name in ("precision", "recall", "both")]
        best = (self._f, self.observed_best_f, finite_or_none(self.best_f))
        return by_column(("best", "value", "pvalue"), [*rows, best])

    def _record(self) -> dict[str, Any]:
        at = self.observed_best_at
        return {
            "precision": finite_or_none(self.precision),
            "recall": finite_or_none(self.recall),
            "both": finite_or_none(self.both),
            "best_f": finite_or_none(self.best_f),
            "observed_best_f": finite_or_none(self.observed_best_f),
            "observed_best_at": None if at is None else at[0] * self.precision_adjusted.shape[1] + at[1],
            "beta": self.beta,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "obstacle": self.obstacle or None,
        }
