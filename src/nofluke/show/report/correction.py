"""P-values of all slider positions, corrected for looking at every one, under every null that auto chooses there.

With more alarms auto sees more of the detector: a season, a slow change. Moving the threshold up until it no longer
shows does not get rid of it. So p-values are corrected under each null that auto chooses at any threshold, and the
largest counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.errors import InputError, say
from nofluke.inference.corrections import holm
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.sweep import FamilywiseTest
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import AUTO, choose
from nofluke.show.report.grid import Grid

SIDES = ("precision", "recall")
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
    kinds: frozenset[str]
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
    first: dict[str, NullModel] = {}
    times: Counter[str] = Counter()
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


def kind_of(model: NullModel) -> str:
    """What nulls have in common that differ by a little: the season they keep, not how many windows of time.

    >>> import nofluke as nf
    >>> kind_of(nf.nulls.LocalPermutation(windows=39)), kind_of(nf.nulls.Seasonal(period=14.279, bins=14, windows=4))
    ('local-permutation', 'seasonal:period=14')
    """
    plain = re.sub(r"[:,](windows|reach|bins)=[^,]*", "", model.text)
    return re.sub(r"\d+(\.\d+)?", lambda number: f"{float(number[0]):.2g}", plain)
