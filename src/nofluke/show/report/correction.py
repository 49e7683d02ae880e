"""P-values of all slider positions, corrected for looking at every one, and the verdict that each is entitled to.

With more alarms auto sees more of the detector: a season, a slow change. Moving the threshold up until it no longer
shows does not get rid of it. So p-values are corrected under each null that auto chooses at any threshold, and the
largest counts.

Moving a slider until the verdict pleases means looking at every position. So everywhere but at the evaluated position
the verdict uses corrected p-values, and is never better than an evaluation of that position would be.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.dates import parse_duration
from nofluke.errors import InputError, joined, say
from nofluke.inference.chance import significant
from nofluke.inference.corrections import holm
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.sweep import FamilywiseTest
from nofluke.inference.verdict import Ruling, Verdict, ruled_as_found, standing, upper_of
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import AUTO, Choice, choose
from nofluke.plot.curves import SIDES
from nofluke.show.report.grid import Grid
from nofluke.text.numbers import p_is, show_p
from nofluke.text.signs import VERDICTS

FREE = ("windows", "reach", "bins")  # settings that follow the length of a window
MOST_NULLS = 6  # besides that of the result, the most frequent ones
Family = Callable[[NullModel], FamilywiseTest | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """Corrected upper p-values and the hits to exceed, by measure, and what auto saw on the way.

    ``nulls`` are the texts of all nulls that they are corrected under, ``kinds`` what these have in common with others
    like them; ``unheld`` says for each threshold or lag why no null holds there, or at one with more alarms; empty
    where one does.
    """

    pvalues: dict[str, FloatArray]
    bands: dict[str, FloatArray]
    of: dict[str, FloatArray] = field(repr=False)
    family: FamilywiseTest | None
    alpha: float
    nulls: tuple[str, ...]
    kinds: frozenset[Hashable]
    unheld: tuple[str, ...]
    smallest: float = 0.0  # p-value that can come out

    def hopeless(self, side: str, at: tuple[int, int]) -> bool:
        """Whether no outcome of a cell could have been significant after correction."""
        return bool(self.bands[side][at] >= self.of[side][at] and self.pvalues[side][at] > self.alpha)

    def any_good(self) -> bool:
        """Whether any cell is significant in any measure."""
        return any(bool((p <= self.alpha).any()) for p in self.pvalues.values())


def correct(
    result: Evaluation, grid: Grid, upper: dict[str, FloatArray], of: dict[str, FloatArray], family_of: Family
) -> Corrected:
    """The correction of all cells, from their own upper p-values and what each measure counts out of."""
    shape, alpha, choice = upper["recall"].shape, result.alpha, result.settings.choice
    family = family_of(choice.model)
    unheld: tuple[str, ...] = ("",) * shape[1]
    found = Corrected(
        pvalues={side: holm(upper[side]) for side in SIDES},
        bands={side: np.full(shape, np.nan) for side in SIDES},
        of=of,
        family=family,
        alpha=alpha,
        nulls=(choice.model.text,),
        kinds=frozenset({kind_of(choice.model)}),
        unheld=unheld,
    )
    if family is None:
        return found
    found = _under(found, [family], upper, (choice.model,), unheld)
    if not (choice.is_auto and found.any_good()):
        return found
    models, unheld = _looked(result, grid)
    others = [(model, other) for model in models if (other := _tried(family_of, model)) is not None]
    known = (choice.model, *(model for model, _ in others))
    return _under(found, [family, *(other for _, other in others)], upper, known, unheld)


def _under(
    found: Corrected,
    families: list[FamilywiseTest],
    upper: dict[str, FloatArray],
    models: tuple[NullModel, ...],
    unheld: tuple[str, ...],
) -> Corrected:
    """The largest p-values and hits to exceed of several maximum tests."""
    shape = upper["recall"].shape

    def largest(name: str) -> FloatArray:
        return np.max([getattr(one, name).reshape(shape) for one in families], axis=0)  # type: ignore[no-any-return]

    # a cell that chance always fills alike is no test
    pvalues = {side: np.fmax(np.nan_to_num(largest(f"{side}_adjusted"), nan=1.0), upper[side]) for side in SIDES}
    return replace(
        found,
        pvalues=pvalues,
        bands={side: largest(f"{side}_band") for side in SIDES},
        nulls=tuple(model.text for model in models),
        kinds=frozenset(map(kind_of, models)),
        unheld=unheld,
        smallest=max(one.smallest for one in families),
    )


def _looked(result: Evaluation, grid: Grid) -> tuple[list[NullModel], tuple[str, ...]]:
    """Other nulls that auto takes at the thresholds of the slider, and where none holds."""
    if grid.lags or grid.shape[1] == 1:  # whatever the window, the alarms are the same
        return [], ("",) * grid.shape[1]
    picks = [choose(AUTO, grid.cell(grid.chosen[0], k), result.alpha) for k in range(grid.shape[1])]
    known = kind_of(result.null)
    first: dict[Hashable, NullModel] = {}
    times: Counter[Hashable] = Counter()
    for pick in picks:
        kind = kind_of(pick.model)
        if pick.holds and kind != known:
            first.setdefault(kind, pick.model)
            times[kind] += 1
    # thresholds ascend, so that what stands before has more alarms
    at, reasons = "", []
    for k, pick in enumerate(picks):
        at = at if pick.holds else _at_another(grid, k, pick.why)
        reasons.append(at)
    return [first[kind] for kind, _ in times.most_common(MOST_NULLS)], tuple(reasons)


def _at_another(grid: Grid, k: int, why: str) -> str:
    """Why nothing can be told at a threshold with more alarms, and why that counts at those with fewer."""
    side = "lower" if grid.told[k] <= grid.told[-1] else "higher"
    return say(
        "At a {} threshold ({:.4g}), which has more {alarms}: {} It counts here too, since this position was found by "
        "looking at all of them.",
        side,
        grid.told[k],
        why,
    )


def _tried(family_of: Family, model: NullModel) -> FamilywiseTest | None:
    try:
        return family_of(model)
    except InputError:  # a null that cannot move these events at every tolerance
        return None


def kind_of(model: NullModel) -> Hashable:
    """What nulls have in common that differ by a little: the season they keep, not how many windows of time.

    >>> import nofluke as nf
    >>> kind_of(nf.nulls.LocalPermutation(windows=39)), kind_of(nf.nulls.Seasonal(period=14.279, bins=14, windows=4))
    (('local-permutation',), ('seasonal', ('period', '14')))
    """
    return (model.name, *((name, _roughly(one)) for name, one in model.settings.items() if name not in FREE))


def _roughly(setting: float | str) -> str:
    """A number, or a length of time, to two digits."""
    if isinstance(setting, str):
        try:
            setting = parse_duration(setting, "setting")
        except InputError:  # the name of a period or a rule
            return str(setting)
    return f"{setting:.2g}"


# ---- which p-values decide: its own if a position was chosen beforehand, corrected ones if it was found

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
        single = _upper(under(*at, here))
        pvalues |= {side: max(pvalues[side], single[side]) for side in SIDES}
        words = " and ".join(f"{p_is(single[side])} ({side})" for side in SIDES)
        which += f" At this position auto chooses the null {here.model.text}, which by itself gives {words}."
        return told(ruled(), here)
    return told(ruling, here)


def _named(cell: dict[str, Any], result: Evaluation, *, alone: bool) -> Entitled:
    """What is said about the cell that was chosen beforehand."""
    upper, which = _upper(result), []
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


def _upper(result: Evaluation) -> dict[str, float]:
    """The one-sided p-values that the verdict uses, by measure."""
    return {test.measure: upper_of(test) for test in (result.precision_test, result.recall_test)}


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
