"""Which p-values decide a position's verdict: its own if it was chosen beforehand, corrected ones if it was found.

Moving a slider until the verdict pleases means looking at every position. So everywhere but at the evaluated position
the verdict uses corrected p-values, and is never better than an evaluation of that position would be.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.errors import joined
from nofluke.inference.chance import significant
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.verdict import Ruling, Verdict, ruled_as_found, standing, upper_of
from nofluke.nulls.choice import AUTO, Choice, choose
from nofluke.show.report.correction import SIDES, Corrected, kind_of
from nofluke.show.report.grid import Grid
from nofluke.text.numbers import p_is, show_p
from nofluke.text.signs import VERDICTS

GOOD: tuple[Verdict, ...] = ("yes", "partly")
Under = Callable[[int, int, Choice], Evaluation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entitled:
    """A ruling, the p-values it uses, the null they need, and a sentence about which they are."""

    ruling: Ruling
    pvalues: dict[str, float]
    choice: Choice
    which: str


def entitle(cells: list[list[Any]], corrected: Corrected, result: Evaluation, grid: Grid, under: Under) -> None:
    """Give every cell the verdict it is entitled to, the p-values that count, and a sentence that names them."""
    where = [at for at in np.ndindex(grid.shape) if at != grid.chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rulings = pool.map(lambda at: _found(cells[at[0]][at[1]]["ruling"], at, corrected, result, grid, under), where)
        for (d, k), found in zip(where, rulings, strict=True):
            cell = cells[d][k]
            _tell(cell, found, result.alpha, name="corrected p")
            for side in SIDES:
                cell["text"][f"{side}_after"] = f"After correction {p_is(found.pvalues[side])}."
    chosen = cells[grid.chosen[0]][grid.chosen[1]]
    _tell(chosen, _named(chosen, result, alone=not where), result.alpha, name="p")
    chosen["text"] |= {f"{side}_after": "" for side in SIDES}
    for row in cells:
        for cell in row:
            del cell["ruling"]


def _found(
    own: Ruling, at: tuple[int, int], corrected: Corrected, result: Evaluation, grid: Grid, under: Under
) -> Entitled:
    """What is said about a cell that was found."""
    alpha, choice, tries = corrected.alpha, result.settings.choice, f"{int(np.prod(grid.shape)):,} positions"
    pvalues = {side: float(corrected.pvalues[side][at]) for side in SIDES}
    which = (
        f"This position was found by moving the sliders, so the verdict uses p-values corrected for all {tries}. Only "
        "the position chosen beforehand is judged by its own."
    )
    if len(corrected.nulls) > 1:
        which += f" They are corrected under each null that auto chooses at any threshold ({', '.join(corrected.nulls)}); the largest counts."

    def ruled() -> Ruling:
        return ruled_as_found(own, pvalues, lambda side: corrected.hopeless(side, at), alpha, tries)

    def told(ruling: Ruling, by: Choice = choice) -> Entitled:
        return Entitled(ruling=ruling, pvalues=pvalues, choice=by, which=which)

    ruling = ruled()
    if ruling.verdict not in GOOD:
        return told(ruling)
    here = choose(AUTO if choice.is_auto else choice.model, grid.cell(*at), alpha)
    obstacle = corrected.unheld[at[1]] if here.holds else here.why
    if obstacle:
        return told(Ruling(verdict="cannot tell", reason=obstacle, obstacle=obstacle))
    if kind_of(here.model) not in corrected.kinds:
        there = under(*at, here)
        single = {test.measure: upper_of(test) for test in (there.precision_test, there.recall_test)}
        pvalues |= {side: max(pvalues[side], single[side]) for side in SIDES}
        words = " and ".join(f"{p_is(single[side])} ({side})" for side in SIDES)
        which += f" At this position auto chooses the null {here.model.text}, which by itself gives {words}."
        return told(ruled(), here)
    return told(ruling, here)


def _named(cell: dict[str, Any], result: Evaluation, *, alone: bool) -> Entitled:
    """What is said about the cell that was chosen beforehand."""
    upper = {test.measure: upper_of(test) for test in (result.precision_test, result.recall_test)}
    which = []
    if result.settings.alternative != "greater":
        one_sided = " and ".join(f"{p_is(upper[side])} for {side}" for side in SIDES)
        which.append(f"The verdict is about being better than chance, so it uses one-sided p-values: {one_sided}.")
    if not alone:
        corrected = " and ".join(f"{p_is(cell[side]['corrected'])} for {side}" for side in SIDES)
        which.append(
            "This position was chosen beforehand, so its own p-values count. Had it been picked by looking at these "
            f"results, the corrected ones would count: {corrected}."
        )
    return Entitled(ruling=cell["ruling"], pvalues=upper, choice=result.settings.choice, which=" ".join(which))


def _tell(cell: dict[str, Any], found: Entitled, alpha: float, *, name: str) -> None:
    """Write a verdict and what it rests on into its cell."""
    ruling, word = found.ruling, VERDICTS[found.ruling.verdict].words
    said = standing(ruling.verdict, found.choice)
    advice = cell["text"].pop("advice")
    one_sided, moved = cell["text"].pop("alternative") != "greater", name != "p"
    cell["verdict"], cell["doubtful"] = ruling.verdict, bool(found.choice.doubts)
    cell["text"] |= {
        "verdict": said[:1].upper() + said[1:],
        "word": word[:1].upper() + word[1:],
        "reason": joined(" ", [ruling.reason, *([advice] if advice and ruling.verdict == "cannot tell" else [])]),
        "which": found.which,
        "p_name": f"{'one-sided ' if one_sided else ''}{name}",
        "p_row": "p" if moved or one_sided else "p (counts)",
        "corrected_row": f"p, {'one-sided, ' if one_sided else ''}corrected{' (counts)' if moved else ''}",
    }
    for side in SIDES:
        own = cell[side]
        own["text"]["counts"] = show_p(found.pvalues[side])
        if moved:
            p = found.pvalues[side]
            own |= {"corrected": p, "remains": significant(p, alpha)}
            own["text"]["corrected"] = show_p(p)


def holds(cell: dict[str, Any], alpha: float) -> bool:
    """Whether a cell is better than chance in both measures after correction."""
    return cell["verdict"] == "yes" and all(significant(cell[side]["corrected"], alpha) for side in SIDES)
