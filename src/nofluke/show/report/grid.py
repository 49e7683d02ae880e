"""Which tolerances and thresholds (or lags) a report's sliders have: the chosen ones and quick neighbours."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.evaluate import Evaluation
from nofluke.series.detector import Cuts
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.show.report.positions import Position, affordable, candidates, evaluated

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
