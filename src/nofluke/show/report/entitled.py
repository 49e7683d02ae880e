"""Which p-values a position's verdict goes by: its own where it was named beforehand, corrected ones where it was found.

Whoever moves a slider until a verdict pleases has looked at every position. So at all but the evaluated one the verdict goes by
p-values corrected for all of them; and, since the data may allow another null there, never by smaller ones than those of the
null that auto takes for that very position.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.chance import significant
from nofluke.inference.corrections import holm
from nofluke.inference.evaluation import Evaluation
from nofluke.inference.familywise import FamilywiseTest
from nofluke.inference.verdict import HEADLINES, Ruling, Verdict, headline, rule_by
from nofluke.nulls.choice import AUTO, Choice, choose
from nofluke.show.report.grid import Grid
from nofluke.text.numbers import p_is, show_p

SIDES = ("precision", "recall")
GOOD: tuple[Verdict, ...] = ("yes", "partly")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """Upper p-values of all cells after correction, and which of them no outcome could have brought below the level."""

    pvalues: dict[str, FloatArray]
    hopeless: dict[str, Any]
    alpha: float

    @classmethod
    def of(
        cls, upper: dict[str, FloatArray], of: dict[str, Any], family: FamilywiseTest | None, alpha: float
    ) -> Corrected:
        """From upper p-values and what each measure counts out of: the maximum test where there is one, else Holm's method."""
        if family is None:
            found = {side: holm(upper[side]) for side in SIDES}
            return cls(pvalues=found, hopeless={side: np.zeros(found[side].shape, bool) for side in SIDES}, alpha=alpha)
        shape = upper["recall"].shape
        adjusted = {side: getattr(family, f"{side}_adjusted").reshape(shape) for side in SIDES}
        # a cell that chance always fills alike is no test
        pvalues = {side: np.where(np.isnan(p), 1.0, np.maximum(p, upper[side])) for side, p in adjusted.items()}
        bands = {side: getattr(family, f"{side}_band").reshape(shape) for side in SIDES}
        hopeless = {side: (bands[side] >= of[side]) & (pvalues[side] > alpha) for side in SIDES}
        return cls(pvalues=pvalues, hopeless=hopeless, alpha=alpha)


def ruled_as_found(
    own: Ruling, pvalues: dict[str, float], hopeless: dict[str, bool], alpha: float, n_cells: int
) -> Ruling:
    """The verdict by corrected p-values: nothing is told that the cell's own evaluation could not tell."""
    if own.obstacle or not own.rests_on:
        return own

    def floor_of(measure: str) -> float | str | None:
        if measure in own.floors:
            return own.floors[measure]
        return f"above {alpha:.3g} after correction" if hopeless[measure] else None

    return rule_by(pvalues, floor_of, alpha, f" after correction for {n_cells:,} positions")


def entitle(
    cells: list[list[Any]],
    corrected: Corrected,
    result: Evaluation,
    grid: Grid,
    under: Callable[[int, int, Choice], Evaluation],
) -> None:
    """Give every cell the verdict it is entitled to, the p-values that count, and a sentence that says which they are."""
    alone = grid.shape == (1, 1)

    def ruled(at: tuple[int, int]) -> tuple[Ruling, dict[str, float], Choice, str]:
        return _ruled(cells[at[0]][at[1]]["ruling"], at, corrected, result, grid, under)

    where = [at for at in np.ndindex(grid.shape) if at != grid.chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (d, k), (ruling, counted, choice, why) in zip(where, pool.map(ruled, where), strict=True):
            cell = cells[d][k]
            _tell(cell, ruling, counted, choice, name="corrected p")
            cell["text"]["which"] = why
            for side in SIDES:
                cell["text"][f"{side}_after"] = f"After correction {p_is(counted[side])}."
    chosen = cells[grid.chosen[0]][grid.chosen[1]]
    own = {side: chosen[side]["p"] for side in SIDES}
    _tell(chosen, chosen["ruling"], own, result.settings.choice, name="p")
    chosen["text"]["which"] = "" if alone else _named_beforehand(chosen)
    chosen["text"] |= {f"{side}_after": "" for side in SIDES}
    for cell in _flat(cells):
        del cell["ruling"]


def _ruled(
    own: Ruling,
    at: tuple[int, int],
    corrected: Corrected,
    result: Evaluation,
    grid: Grid,
    under: Callable[[int, int, Choice], Evaluation],
) -> tuple[Ruling, dict[str, float], Choice, str]:
    """The ruling on a cell that was found, the p-values it goes by, the null they need, and a sentence about them."""
    alpha, n_cells, choice = corrected.alpha, int(np.prod(grid.shape)), result.settings.choice
    pvalues = {side: float(corrected.pvalues[side][at]) for side in SIDES}
    hopeless = {side: bool(corrected.hopeless[side][at]) for side in SIDES}
    ruling = ruled_as_found(own, pvalues, hopeless, alpha, n_cells)
    why = (
        f"This position was found by moving the sliders, so the verdict goes by p-values corrected for all {n_cells:,} positions. "
        "Only the position that was named beforehand is judged by its own."
    )
    if ruling.verdict not in GOOD:
        return ruling, pvalues, choice, why
    here = choose(AUTO if choice.is_auto else choice.model, grid.cell(*at), alpha)
    if not here.holds:
        return Ruling(verdict="cannot tell", reason=here.why, obstacle=here.why), pvalues, choice, why
    if here.model.text != choice.model.text:
        there = under(*at, here)
        tests = {
            test.measure: test.pvalue_for("greater", test.ties) for test in (there.precision_test, there.recall_test)
        }
        larger = {side: max(pvalues[side], tests[side]) for side in SIDES}
        if larger != pvalues:
            words = " and ".join(f"{p_is(tests[side])} ({side})" for side in SIDES)
            why += (
                f" At this position auto takes the null {here.model.text}, which gives {words}: the larger ones count."
            )
        return ruled_as_found(own, larger, hopeless, alpha, n_cells), larger, here, why
    return ruling, pvalues, here, why


def _tell(cell: dict[str, Any], ruling: Ruling, counted: dict[str, float], choice: Choice, *, name: str) -> None:
    said = headline(ruling.verdict, choice).removeprefix("Verdict: ")
    word = HEADLINES[ruling.verdict]
    cell["verdict"], cell["doubtful"] = ruling.verdict, bool(choice.doubts)
    advice = cell["text"].pop("advice") if ruling.verdict == "cannot tell" else cell["text"].pop("advice") and ""
    cell["text"] |= {
        "verdict": said[:1].upper() + said[1:],
        "word": word[:1].upper() + word[1:],
        "reason": f"{ruling.reason} {advice}".strip(),
        "p_name": name,
        "p_row": "p (counts)" if name == "p" else "p",
        "corrected_row": "p, corrected" if name == "p" else "p, corrected (counts)",
    }
    for side in SIDES:
        cell[side]["text"]["counts"] = show_p(counted[side])


def _named_beforehand(cell: dict[str, Any]) -> str:
    corrected = " and ".join(f"{p_is(cell[side]['corrected'])} for {side}" for side in SIDES)
    return (
        "This position was named beforehand, so its own p-values count. Had it been picked by looking at these results, the corrected "
        f"ones would: {corrected}."
    )


def _flat(cells: list[list[Any]]) -> Iterator[dict[str, Any]]:
    return (cell for row in cells for cell in row)


def holds(cell: dict[str, Any], alpha: float) -> bool:
    """Whether a cell is better than chance in both measures after correction."""
    return cell["verdict"] == "yes" and all(significant(cell[side]["corrected"], alpha) for side in SIDES)
