"""The thresholds on a report's slider: quantiles of the score around the evaluated one that take seconds at most."""

from __future__ import annotations

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.inference.evaluate import Evaluation
from nofluke.nulls.base import NullModel
from nofluke.series.counting import reaching
from nofluke.series.detector import quantile_thresholds
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell
from nofluke.text.tables import plural, show_number

QUANTILES = (
    *(k / 10 for k in range(5)),  # 0 to .4
    *(k / 20 for k in range(10, 17)),  # to .8
    *(k / 50 for k in range(41, 46)),  # to .9
    *(k / 100 for k in range(91, 100)),  # to .99
    0.995,
    0.998,
    0.999,
)
BEYOND = (*(float(f"0.{'9' * nines}{digit}") for nines in range(3, 9) for digit in (5, 8, 9)), 1.0)  # .9995, .9998, ...
AROUND = 3  # thresholds to each side of the evaluated one, where so many scores differ
DRAWN_TIME = 2e-8  # seconds for each event or alarm of a placement in time
PAIR_TIME = 2e-7  # seconds for each pair of an event and an alarm, where all shifts are counted
SADDLEPOINT_TIME = 1e-4  # seconds for each prediction
SLOW, SLOW_FOR_NOTHING = 2.0, 0.1  # seconds of a cell that are too many
SECONDS = 12.0  # what chance in all cells may take, roughly

Position = tuple[float, float | None]
"""A threshold as scores are compared with it, and its quantile; None where it was not made from one."""


def evaluated(result: Evaluation) -> Position:
    """The threshold of the result."""
    return float(result.cell.trial.thresholds[result.cell.k]), result.quantile


def candidates(result: Evaluation) -> list[Position]:
    """Thresholds with different predictions, ascending; the evaluated one before others that predict the same steps.

    Above .999 there are as many as the evaluated one needs for neighbours, and no more: a hit among a handful of alarms
    is many standard deviations above chance, and would drown the correction for all cells.
    """
    chosen, scores = evaluated(result), result.cell.trial.detector
    levels = (*QUANTILES, *BEYOND)
    cuts = quantile_thresholds(result.sequence, levels)
    found = _apart(list(zip(cuts, levels, strict=True)), chosen, scores)
    at = found.index(chosen)
    if min(at, len(found) - 1 - at) < AROUND:
        found = _apart([*found, *_beside(scores, chosen[0], at, len(found) - 1 - at)], chosen, scores)
        at = found.index(chosen)
    return [one for i, one in enumerate(found) if i <= at + AROUND or (one[1] or 1.0) <= QUANTILES[-1]]


def _apart(positions: list[Position], chosen: Position, scores: AnyArray) -> list[Position]:
    """One position for each number of predictions, without the one that has none, unless that was evaluated."""
    ordered = sorted([chosen, *positions], key=lambda position: position[0])  # as counting needs them
    counts = reaching(scores, np.array([threshold for threshold, _ in ordered])).tolist()
    first = {counts[ordered.index(chosen)]: chosen}
    for position, n_predictions in zip(ordered, counts, strict=True):
        if n_predictions > 0:
            first.setdefault(n_predictions, position)
    return [first[n] for n in sorted(first, reverse=True)]


def _beside(scores: AnyArray, cut: float, below: int, above: int) -> list[Position]:
    """Some of the scores on those sides of a threshold that have too few positions, or all of them if they are few."""
    values = np.unique(scores)
    at = int(np.searchsorted(values, cut))
    sides = ([values[:at]] if below < AROUND else []) + ([values[at + 1 :]] if above < AROUND else [])
    some = [side[np.linspace(0, len(side) - 1, min(AROUND, len(side))).astype(np.int64)] for side in sides]
    return [(float(value), None) for side in some for value in side]


def affordable(
    result: Evaluation, found: list[Position], tolerances: tuple[Tolerance, ...]
) -> tuple[list[Position], str]:
    """The evaluated threshold and its neighbours, outwards while chance stays cheap; and which were left out."""
    trial = result.cell.trial.over(tolerances, np.array([threshold for threshold, _ in found]))
    at = found.index(evaluated(result))
    first, last, spent = at, at, 0.0  # what was evaluated and its neighbours are shown whatever they cost
    sides = [-1, 1]
    while sides:
        side = sides.pop(0)
        k = first - 1 if side < 0 else last + 1
        if not 0 <= k < len(found):
            continue
        cost = sum(cell_seconds(result, trial.cell(d, k)) for d in range(len(tolerances)))
        if spent + cost > SECONDS and abs(k - at) > AROUND:
            continue
        spent, first, last = min(spent + cost, SECONDS), min(first, k), max(last, k)
        sides.append(side)
    kept = found[first : last + 1]
    left_out = [
        f"{plural(many, f'{which}er threshold')} {'were' if many != 1 else 'was'} left out, because chance takes long "
        f"to compute there; the {which}est shown here is {show_number(result.sequence.sign * threshold)}."
        for which, many, (threshold, _) in (
            ("low", first, kept[0]),
            ("high", len(found) - 1 - last, kept[-1]),
        )
        if many
    ]
    return kept, " ".join(left_out)


def short_names(positions: list[float]) -> list[str]:
    """Ascending shares in as few digits as tell them from their neighbours, and from 0 and 1 unless they are just that.

    >>> short_names([0.0, 0.9, 0.9995, 0.9999, 1.0])
    ['0', '0.9', '0.9995', '0.9999', '1']
    >>> short_names([0.12344, 0.5, 0.99996])
    ['0.12', '0.5', '0.99996']
    """
    ends = [-1.0, *positions, 2.0]
    return [_short(share, others) for share, others in zip(positions, zip(ends, ends[2:], strict=False), strict=True)]


def _short(share: float, others: tuple[float, float]) -> str:
    unlike = [other for other in (*others, 0.0, 1.0) if other != share]
    digits = next((d for d in range(2, 12) if all(round(share, d) != round(other, d) for other in unlike)), 12)
    return f"{share:.{digits}f}".rstrip("0").rstrip(".")


def is_slow(model: NullModel, cell: Cell) -> bool:
    """Whether a cell is so slow that we simulate it; sooner if every step is predicted, which tells nothing."""
    seconds = None if cell.in_time else model.exact_seconds(cell)
    return seconds is not None and seconds > (SLOW_FOR_NOTHING if len(cell.alarms) == cell.n_steps else SLOW)


def cell_seconds(result: Evaluation, cell: Cell) -> float:
    """About how long one cell takes."""
    size = cell.trial.size
    counting = 2e-3 + 2e-7 * size
    method = result.settings.method
    if method == "saddlepoint":
        return counting + SADDLEPOINT_TIME * (cell.n_predictions + 300)
    exact = result.null.exact_seconds(cell) if method in ("auto", "exact") else None
    if cell.in_time and exact is None:
        if len(result.null.exact_sides(result.cell)) == 2:  # shifts, counted out pair by pair
            return counting + PAIR_TIME * cell.n_events * cell.n_predictions
        return counting + DRAWN_TIME * result.settings.n_resamples * (cell.n_events + cell.n_predictions)
    return counting + (1e-6 * size if exact is None else exact)
