"""The result of a sweep: every cell, what chance scores there, and how it prints itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nofluke.arrays import ByValue, FloatArray
from nofluke.errors import InputError, say, spoken
from nofluke.inference.cells import SweepChance, chance_of_cells
from nofluke.inference.familywise import familywise_test, without_null
from nofluke.inference.familywise_result import FamilywiseTest
from nofluke.inference.settings import Settings
from nofluke.lazy import lazy
from nofluke.measures.cells import CellMeasures
from nofluke.nulls.base import NullModel
from nofluke.plain import check_word
from nofluke.series.reading import HigherIs, LeftOut
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_number, show_share

MOST_CELL_STEPS = 20_000_000  # cells times steps up to which chance takes seconds
MOST_CELLS = 2_000  # above, or where every score is a threshold, chance is computed only when it is asked for


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep(Exports, CellMeasures, ByValue):
    """Counts and measures for every tolerance (rows) and every threshold (columns, ascending).

    Attributes
    ----------
    n, n_events : int
        Steps that count and events on them.
    thresholds : float array of length K
        In the numbers of the scores, from the most predictions to the fewest: they ascend, or descend where higher
        scores are normal.
    quantiles, budgets : float arrays of length K, or None
        The quantiles or budgets that were passed, if thresholds came from them.
    tolerances : tuple of D Tolerance
    n_predictions : int array of length K
        Predicted steps, or episodes of them.
    precision_hits, recall_hits : int arrays of shape (D, K)
        PA-AAδ and PAδ-AA.
    near_events : int array of length D
        AAδ, the steps within the tolerance of an event.
    near_predictions : int array of shape (D, K)
        PAδ, the steps within the tolerance of a prediction.
    left_out, notes
        What was left out, and what a reader should know.
    chance : SweepChance
        Null mean, band and p-value of every cell, computed when first asked for.

    See Also
    --------
    nofluke.sweep : makes it.
    nofluke.Evaluation : one threshold and tolerance.
    nofluke.plot.sweep : draws it by threshold.
    nofluke.plot.heatmap : draws every cell.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> curve = nf.sweep(quakes.truth, nf.detectors.energy_transient(quakes.counts), quantiles=[0.8, 0.9], tolerances=2)
    >>> curve.shape, curve.precision_hits
    ((1, 2), array([[221, 146]]))
    >>> bool((curve.chance.precision.pvalue < 1e-6).all())
    True
    """

    quantiles: FloatArray | None = field(repr=False)
    budgets: FloatArray | None = field(repr=False, default=None)
    higher_is: HigherIs = "anomalous"
    settings: Settings
    left_out: LeftOut
    notes: tuple[str, ...]
    chosen: bool = True

    @property
    def null(self) -> NullModel:
        """What chance is assumed to do."""
        return self.settings.null

    @lazy
    def chance(self) -> SweepChance:
        """What chance scores in every cell: mean, band and p-value of both hits. Takes a few milliseconds a cell."""
        return chance_of_cells(
            self.trial,
            self.null,
            self.settings.method,
            n_resamples=self.settings.n_resamples,
            rng=self.settings.rng,
        )

    @property
    def shows_chance(self) -> bool:
        """Whether tables carry the chance columns: for up to 2,000 chosen cells, or if chance was asked for before."""
        cells = self.precision_hits.size
        affordable = cells <= MOST_CELLS and cells * self.trial.size <= MOST_CELL_STEPS
        return (self.chosen and affordable) or "chance" in self.__dict__

    def familywise(
        self, *, beta: float = 1.0, alpha: float = 0.05, n_resamples: int | None = None, rng: Any = None
    ) -> FamilywiseTest:
        """Is the best of this sweep better than the best that chance finds in such a sweep?

        Permutes the events and takes, each time, the largest standardised hits and the largest F_β over all cells
        (Westfall and Young 1993). Monte Carlo: p = (b + 1)/(n + 1), by the sweep's own ``n_resamples`` and ``rng``
        unless others are given; under circular shifts all rotations instead. Where tables carry the chance columns, no
        adjusted p-value is below the cell's own. Where no null holds for the data, there are no p-values (NaN), and
        ``obstacle`` says why.

        Examples
        --------
        >>> import nofluke as nf
        >>> quakes = nf.datasets.simulate_quakes(rng=0)
        >>> z = nf.detectors.energy_transient(quakes.counts)
        >>> curve = nf.sweep(quakes.truth, z, quantiles=[0.8, 0.9, 0.95], tolerances=(0, 2))
        >>> curve.familywise(n_resamples=999, rng=1).best_f
        0.001
        """
        asked: dict[str, Any] = {
            "beta": beta,
            "alpha": alpha,
            "n_resamples": self.settings.n_resamples if n_resamples is None else n_resamples,
            "rng": self.settings.rng if rng is None else rng,
        }
        if not self.settings.choice.holds:
            return without_null(self.trial, self.settings.choice.obstacle, **asked)
        chance = self.chance if self.shows_chance else None
        return familywise_test(
            self.trial,
            self.null,
            **asked,
            single=None if chance is None else {"precision": chance.precision.pvalue, "recall": chance.recall.pvalue},
        )

    def corrected(self, side: str, by: Literal["holm", "benjamini_hochberg"] = "holm") -> FloatArray:
        """P-values of a measure corrected for all cells; NaN where no null holds for the data."""
        check_word(side, "side", ("precision", "recall"))
        check_word(by, "by", ("holm", "benjamini_hochberg"))
        found: FloatArray = getattr(getattr(self.chance, side), by)
        return found if self.settings.choice.holds else np.full(found.shape, np.nan)

    def columns(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        """All cells in long form, one row a cell, by column name."""
        self._check_family(familywise)
        d, k = self.shape
        tolerances = [t.plain() if not isinstance(t.plain(), dict) else str(t) for t in self.tolerances]
        data: dict[str, Any] = {
            "tolerance": np.repeat(np.asarray(tolerances), k),
            "threshold": np.tile(self.thresholds, d),
        }
        if self.quantiles is not None:
            data["quantile"] = np.tile(self.quantiles, d)
        if self.budgets is not None:
            data["budget"] = np.tile(self.budgets, d)
        data |= {
            "n_predictions": np.tile(self.n_predictions, d),
            "precision_hits": self.precision_hits.ravel(),
            "recall_hits": self.recall_hits.ravel(),
            "precision": self.precision.ravel(),
            "recall": self.recall.ravel(),
            "f1": self.f1.ravel(),
        }
        if self.shows_chance:
            for side in ("precision", "recall"):
                cells = getattr(self.chance, side)
                for name in ("mean", "std", "low", "high", "pvalue", "log10_pvalue"):
                    data[f"{side}_{name}"] = getattr(cells, name).ravel()
                data[f"{side}_holm"] = self.corrected(side).ravel()
                data[f"{side}_benjamini_hochberg"] = self.corrected(side, "benjamini_hochberg").ravel()
        if familywise is not None:
            data["precision_familywise"] = familywise.precision_adjusted.ravel()
            data["recall_familywise"] = familywise.recall_adjusted.ravel()
        return data

    def _record(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        cells = {
            name: [None if isinstance(v, float) and not math.isfinite(v) else v for v in np.asarray(values).tolist()]
            for name, values in self.columns(familywise).items()
        }
        result: dict[str, Any] = {
            "schema": SCHEMA,
            "n": self.n,
            "n_events": self.n_events,
            "count_events": self.trial.truth.count_events,
            "higher_is": self.higher_is,
            "count_alarms": self.settings.alarms.count,
            "cells": cells,
            "null": self.settings.choice.to_dict(),
            "doubts": list(self.settings.choice.doubts),
            "notes": list(self.notes),
        }
        if self.shows_chance:
            result["methods"] = list(self.chance.methods)
            if self.chance.n_resamples:
                result |= {"n_resamples": self.chance.n_resamples, "seed": self.chance.seed}
        return result if familywise is None else result | {"familywise": familywise.to_dict()}

    def table(self, familywise: FamilywiseTest | None = None) -> Table:
        """The best F1 of each tolerance, as a small table."""
        rows = []
        sides = ("precision", "recall") if self.shows_chance else ()
        for d, k in self.best():
            rows.append(
                (
                    str(self.tolerances[d]),
                    show_number(float(self.thresholds[k])),
                    f"{self.n_predictions[k]:,}",
                    show_share(float(self.precision[d, k])),
                    show_share(float(self.recall[d, k])),
                    show_share(float(self.f1[d, k])),
                    *(show_p(float(getattr(self.chance, side).pvalue[d, k])) for side in sides),
                )
            )
        title = (
            f"{plural(self.n, 'step')}, {plural(self.n_events, self.trial.truth.noun)}, {plural(len(self.thresholds), 'threshold')}, "
            f"{plural(len(self.tolerances), 'tolerance')}; the threshold of the best F1 for each tolerance"
        )
        return Table(
            title=title,
            columns=(
                "tolerance",
                "threshold",
                "predictions" if self.settings.alarms.count == "steps" else "episodes",
                "precision",
                "recall",
                "F1",
                *(f"p {side}" for side in sides),
            ),
            rows=tuple(rows),
            notes=(*self._how(familywise), *noted(self.notes)),
        )

    def _check_family(self, familywise: object) -> None:
        if familywise is None:
            return
        if not isinstance(familywise, FamilywiseTest) or familywise.precision_adjusted.shape != self.shape:
            raise InputError(
                argument="familywise",
                value=familywise,
                problem="must be the test of this sweep",
                remedy="pass its familywise()",
            )

    def _place(self, d: int, k: int) -> str:
        """A cell in words."""
        return f"threshold {show_number(float(self.thresholds[k]))} and tolerance {self.tolerances[d]}"

    def _how(self, familywise: FamilywiseTest | None) -> tuple[str, ...]:
        """Which null and method the p-values are from, and what they leave out."""
        self._check_family(familywise)
        if self.shows_chance:
            resamples = self.chance.n_resamples
            drawn = f" {resamples:,} resamples, seed {self.chance.seed}." if resamples else ""
            how: str = f"{self.settings.choice.in_words()} Method: {'; '.join(self.chance.methods)}.{drawn}"
        elif familywise is not None:
            how = say(
                "The p-values of the {:,} single cells were not computed: {}.",
                self.precision_hits.size,
                spoken("ask for curve.chance", shell="pass --chance"),
            )
        else:
            how = say(
                "Chance was not computed for {:,} cells: {}.",
                self.precision_hits.size,
                spoken(
                    "pass quantiles, thresholds or budgets, or ask for curve.chance",
                    shell="pass --quantile, --threshold, --budget or --chance",
                ),
            )
        if familywise is not None:
            at = familywise.observed_best_at
            return how, familywise.in_words("" if at is None else self._place(*at))
        return (
            (
                how,
                say(
                    "The p-values are of single cells; the best of many needs a familywise test: {}.",
                    spoken("call familywise()", shell="pass --familywise"),
                ),
            )
            if self.shows_chance and self.settings.choice.holds
            else (how,)
        )

    def plot(self, ax: Any = None, *, chance: Literal["auto", "band", "none"] = "auto") -> Any:
        """Draw recall and precision by threshold, with the band of chance (matplotlib); returns the Axes."""
        from nofluke.plot import sweep as plot_sweep

        return plot_sweep(self, ax, chance=chance)

    def __repr__(self) -> str:
        best = max(self.best(), key=lambda at: self.f1[at], default=None)
        told = "F1 undefined"
        if best is not None:
            told = f"best F1 {show_share(float(self.f1[best]))} at tolerance {self.tolerances[best[0]]}"
        return (
            f"<Sweep of {plural(len(self.tolerances), 'tolerance')} × {plural(len(self.thresholds), 'threshold')}, "
            f"{plural(self.n_events, self.trial.truth.noun)} in {plural(self.n, 'step')}: {told}; null {self.null.text}>"
        )
