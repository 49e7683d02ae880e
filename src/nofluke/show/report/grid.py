"""Which tolerances and thresholds (or lags) a report's sliders have: the chosen ones and quick neighbours."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, FloatArray
from nofluke.errors import say
from nofluke.inference.coincidence import Coincidence
from nofluke.inference.evaluate import Evaluation
from nofluke.nulls.base import NullModel
from nofluke.plain import exact_fraction, plain_fraction
from nofluke.plot.shifts import lengths_around, windows_moved
from nofluke.series.counting import reaching
from nofluke.series.detector import Cuts, quantile_thresholds
from nofluke.series.ticks import Ticks, length_in_words
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.text.tables import plural, show_number

# ---- thresholds: quantiles of the score around the evaluated one that take seconds at most

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
    cuts = quantile_thresholds(result.sequence.open_scores(), levels)
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


# ---- the grid: tolerances by thresholds

REACHES = (0, 1, 2, 3, 4, 6, 8, 12)
FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
FEW_FACTORS = (0.0, 0.5, 1.0, 2.0)  # where long sequences leave time for few cells
FEW_THRESHOLDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The trial behind a report's sliders, and where the chosen cell is.

    ``quantiles`` has None for a threshold that was given as such; ``left_out`` says which thresholds would take too
    long. Where two lists of times have ``lags`` instead of thresholds, the tolerances of the trial are those of all
    cells, row by row, and ``widths`` are the tolerances before the lags moved them.
    """

    trial: Trial = field(repr=False)
    quantiles: tuple[float | None, ...]
    chosen: tuple[int, int]
    left_out: str = ""
    widths: tuple[Tolerance, ...] = ()
    lags: tuple[Any, ...] = ()

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """Ascending."""
        return self.widths or self.trial.tolerances

    def place(self, d: int, k: int) -> tuple[int, int]:
        """Where in the trial the cell of a tolerance and a threshold or lag is."""
        return (d * len(self.lags) + k, 0) if self.lags else (d, k)

    def cell(self, d: int, k: int) -> Cell:
        """The cell of a tolerance and a threshold or lag."""
        return self.trial.cell(*self.place(d, k))

    @property
    def thresholds(self) -> FloatArray:
        """Ascending."""
        return self.trial.thresholds

    def cuts(self, k: int) -> Cuts:
        """The k-th threshold, and what it comes from."""
        quantile = self.quantiles[k]
        levels = None if quantile is None else np.array([quantile])
        return Cuts(compared=self.thresholds[k : k + 1], told=self.told[k : k + 1], quantiles=levels)

    @property
    def told(self) -> FloatArray:
        """The thresholds in the caller's own numbers."""
        return self.thresholds if self.trial.told is None else self.trial.told

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of tolerances and of thresholds or lags."""
        return (len(self.widths), len(self.lags)) if self.lags else self.trial.shape


def make_grid(result: Evaluation) -> Grid:
    """The chosen threshold and tolerance, and those around them that take no more than some seconds together."""
    trial = result.cell.trial
    tolerances = _tolerances(result)
    kept: list[Position] = [(1.0, None)]
    left_out = ""
    if trial.scored:
        found = candidates(result)
        kept, left_out = affordable(result, found, tolerances)
        if left_out and len(kept) < FEW_THRESHOLDS:
            tolerances = _tolerances(result, FEW_FACTORS)
            kept, left_out = affordable(result, found, tolerances)
    chosen = evaluated(result) if trial.scored else (1.0, None)
    thresholds = np.array([threshold for threshold, _ in kept])
    told = result.sequence.sign * thresholds + 0.0
    told[kept.index(chosen)] = chosen[0] if result.threshold is None else result.threshold
    return Grid(
        trial=trial.over(tolerances, thresholds, told),
        quantiles=tuple(quantile for _, quantile in kept),
        chosen=(tolerances.index(result.tolerance), kept.index(chosen)),
        left_out=left_out,
    )


def _tolerances(result: Evaluation, factors: tuple[float, ...] = FACTORS) -> tuple[Tolerance, ...]:
    """Tolerances around the evaluated one; a length of time that is so many steps long is moved by steps."""
    chosen, clock = result.tolerance, result.sequence.clock
    sides: tuple[Any, Any] = (chosen.early, chosen.late)
    step = 0 if clock is None or chosen.unit == "steps" else clock.step * clock.tick_size
    if not step or step != int(step) or any(side % int(step) for side in sides):
        return tolerances_around(chosen, len(result.sequence.truth), factors)
    long = int(step)
    own = Tolerance(early=int(sides[0] // long), late=int(sides[1] // long))
    around = tolerances_around(own, len(result.sequence.truth), factors)
    made = (Tolerance(early=one.early * long, late=one.late * long, unit=chosen.unit) for one in around)
    return tuple(chosen if one == chosen else one for one in made)


def tolerances_around(chosen: Tolerance, n_steps: int, factors: tuple[float, ...] = FACTORS) -> tuple[Tolerance, ...]:
    """Some tolerances (up to eight), shorter and longer than the chosen one but of its shape.

    >>> [str(t) for t in tolerances_around(Tolerance(early=2, late=2), 1000)]
    ['0 steps', '1 step', '2 steps', '3 steps', '4 steps', '6 steps', '8 steps', '12 steps']
    >>> [str(t) for t in tolerances_around(Tolerance(early="0s", late="2h"), 1000)][:3]
    ['0', '0 to 30min late', '0 to 1h late']

    A window that lies aside stays as far from the event as it is:

    >>> [str(t) for t in tolerances_around(Tolerance(early="3h", late="-1h"), 1000, (0.0, 1.0, 2.0))]
    ['1h early', '1h to 3h early', '1h to 5h early']
    """
    if chosen.aside:
        near: Any = chosen.late if chosen.aside == "early" else chosen.early
        lag = near if chosen.aside == "early" else -near
        beside = _moved(chosen, -lag)
        around = tolerances_around(beside, n_steps, factors)
        return tuple(chosen if one == beside else _moved(one, lag) for one in around)
    early, late = float(chosen.early), float(chosen.late)  # type: ignore[arg-type]  # a Tolerance holds numbers
    reach = max(early, late)
    wider = [min(reach * factor, sys.float_info.max) for factor in factors]
    if chosen.unit == "steps":
        wanted = {round(length) for length in wider}
        for more in REACHES:  # small windows have few fractions
            wanted |= {more} if len(wanted) < len(factors) else set()
        lengths = [float(r) for r in sorted(wanted) if r <= max(reach, n_steps / 4)]
    else:
        lengths = wider if reach else [0.0]
    made: dict[Tolerance, None] = {}
    for length in lengths:
        share = (early / reach, late / reach) if reach else (1.0, 1.0)
        sides = [length * s if chosen.unit == "clock" else round(length * s) for s in share]
        one = chosen if length == reach else Tolerance(early=sides[0], late=sides[1], unit=chosen.unit)
        made[one] = None
    return tuple(made)


def _moved(tolerance: Tolerance, lag: Any) -> Tolerance:
    sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
    return Tolerance(early=sides[0] - lag, late=sides[1] + lag, unit=tolerance.unit)


# ---- the sliders of a page about two lists of times: tolerances, and lags around the chosen one


HALVES = (8, 6, 4, 2, 1, 0)  # lags to each side of the chosen one, as many as there is time for
MANY = 12  # ticks of a tolerance from which on a window of one tick would hardly ever be hit
COARSE = 1_000  # ticks of a tolerance from which on its fractions need not be rounded to ticks


def signed(length: int | float, *, dates: bool) -> str:
    """A length as people write it, such as "-2d"; nanoseconds for dates, else the unit of the times."""
    size = length_in_words(abs(exact_fraction(length)), dates=dates)
    return f"-{size}" if length < 0 else size


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """A lag: nanoseconds for dates, else the unit of the times."""

    length: int | float
    dates: bool

    @property
    def short(self) -> str:
        """Such as "-2d"."""
        return signed(self.length, dates=self.dates)

    @property
    def said(self) -> str:
        """Such as "alarms 2d after events"."""
        if self.length == 0:
            return "none"
        side = "after" if self.length > 0 else "before"
        return say("{alarms} {} {} {events}", self.short.removeprefix("-"), side)


def grid_of(result: Evaluation) -> Grid:
    """The grid of any result: tolerances by lags for two lists of times, else tolerances by thresholds."""
    return window_grid(result) if isinstance(result, Coincidence) else make_grid(result)


def window_grid(result: Coincidence) -> Grid:
    """Tolerances shaped like the chosen one, each moved by the same lags, that take a few seconds together."""
    makings = [(FACTORS, HALVES[0]), *((FEW_FACTORS, half) for half in HALVES)]
    for factors, half in makings:
        grid = _grid(result, factors, half)
        if _seconds(result, grid) <= SECONDS:
            break
    return grid


def _grid(result: Coincidence, factors: tuple[float, ...], half: int) -> Grid:
    ticks, watch = result.sequence.ticks, result.sequence.watch
    widths = _widths(result.width, ticks, watch.watched, factors)
    lengths = lengths_around(result.width, result.lag, watch, half)
    lags = tuple(Lag(length=length, dates=ticks.is_dates) for length in lengths)
    chosen = (widths.index(result.width), lengths.index(result.lag))
    windows = [list(windows_moved(width, lengths)) for width in widths]
    windows[chosen[0]][chosen[1]] = result.tolerance
    left_out = (
        ""
        if half == HALVES[0] and factors == FACTORS
        else "Fewer windows than usual, because chance takes long to compute here."
    )
    return Grid(
        trial=result.cell.trial.over(tuple(window for row in windows for window in row), np.ones(1)),
        quantiles=(None,) * len(lags),
        chosen=chosen,
        left_out=left_out,
        widths=widths,
        lags=lags,
    )


def _widths(chosen: Tolerance, ticks: Ticks, watched: int, factors: tuple[float, ...]) -> tuple[Tolerance, ...]:
    """Tolerances around the chosen one that differ by whole ticks."""
    sides: tuple[Any, Any] = (chosen.early, chosen.late)
    early, late = (ticks.floor(side) for side in sides)
    reach = max(abs(early), abs(late))
    if reach > MANY:  # one hit in so short a window is many standard deviations: it would drown the correction
        factors = tuple(factor for factor in factors if factor)
    if not ticks.rounded or reach > COARSE:
        return tolerances_around(chosen, watched, factors)
    own = Tolerance(early=early, late=late)

    def in_time(tolerance: Tolerance) -> Tolerance:
        both: tuple[Any, Any] = (tolerance.early, tolerance.late)
        lengths = [plain_fraction(side * ticks.size) for side in both]
        return Tolerance(early=lengths[0], late=lengths[1], unit=chosen.unit if ticks.is_dates else "clock")

    made = tolerances_around(own, watched, factors)
    return tuple(dict.fromkeys(chosen if one == own else in_time(one) for one in made))


def _seconds(result: Coincidence, grid: Grid) -> float:
    """About how long all cells take: the widest tolerances cost most."""
    rows, columns = grid.shape
    some = {rows // 2, rows - 1}
    each = [cell_seconds(result, grid.cell(d, grid.chosen[1])) for d in some]
    return sum(each) / len(each) * rows * columns
