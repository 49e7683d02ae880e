"""Sweep a detector over thresholds and tolerances: every count at once, never a loop over thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nofluke.confusion import Confusion, f_weights
from nofluke.counting import FloatArray, IntArray, reaching, sweep_counts
from nofluke.errors import InputError, shown
from nofluke.familywise import FamilywiseTest, familywise_test
from nofluke.frames import Backend, make_frame
from nofluke.inputs import LeftOut, Missing, TruthKind, prepare
from nofluke.nulls import Null, as_null
from nofluke.nulls.base import Method, NullModel, check_resamples
from nofluke.nulls.doubts import doubts
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.setting import make_setting, open_ranges
from nofluke.plain import as_rng
from nofluke.sweep_chance import Cells, SweepChance, chance_of_cells
from nofluke.tables import Table, csv_text, plural, show_number, show_share
from nofluke.testing import check_beta, show_p
from nofluke.thresholds import choose_thresholds
from nofluke.tolerance import Tolerance, as_tolerance

MOST_CELL_STEPS = 20_000_000  # cells times steps up to which chance takes seconds
MOST_CELLS = 2_000  # above, or where every score is a threshold, chance is computed only when it is asked for


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Counts and measures for every tolerance (rows) and every threshold (columns, ascending).

    Attributes
    ----------
    n, n_events : int
        Steps that count and events on them.
    thresholds : float array of length K
    quantiles : float array of length K, or None
        The quantiles asked for, where thresholds came from quantiles.
    tolerances : tuple of D Tolerance
    n_predictions : int array of length K
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

    n: int
    n_events: int
    thresholds: FloatArray = field(repr=False)
    quantiles: FloatArray | None = field(repr=False)
    tolerances: tuple[Tolerance, ...]
    n_predictions: IntArray = field(repr=False)
    precision_hits: IntArray = field(repr=False)
    recall_hits: IntArray = field(repr=False)
    near_events: IntArray = field(repr=False)
    near_predictions: IntArray = field(repr=False)
    left_out: LeftOut
    notes: tuple[str, ...]
    cells: Cells = field(repr=False)
    chosen: bool = True
    null: NullModel = field(default_factory=Permutation)
    method: Method = "auto"
    n_resamples: int = 10_000
    rng: Any = field(repr=False, default=None)

    @cached_property
    def chance(self) -> SweepChance:
        """What chance scores in every cell: mean, band and p-value of both hits. Some milliseconds a cell."""
        return chance_of_cells(self.cells, self.null, self.method, n_resamples=self.n_resamples, rng=self.rng)

    @property
    def shows_chance(self) -> bool:
        """Whether tables carry the chance columns: for up to 2,000 chosen cells, or if chance was asked for before."""
        cells = self.precision_hits.size
        affordable = cells <= MOST_CELLS and cells * self.n <= MOST_CELL_STEPS
        return (self.chosen and affordable) or "chance" in self.__dict__

    def familywise(
        self, *, beta: float = 1.0, alpha: float = 0.05, n_resamples: int | None = None, rng: Any = None
    ) -> FamilywiseTest:
        """Is the best of this sweep better than the best that chance finds in such a sweep?

        Permutes the events and takes, each time, the largest standardised hits and the largest F_β over all cells
        (Westfall and Young 1993). Monte Carlo: p = (b + 1)/(n + 1), by the sweep's own ``n_resamples`` and ``rng`` unless
        others are given; under circular shifts all rotations instead. Where tables carry the chance columns, no adjusted
        p-value is below the cell's own.

        Examples
        --------
        >>> import nofluke as nf
        >>> quakes = nf.datasets.simulate_quakes(rng=0)
        >>> z = nf.detectors.energy_transient(quakes.counts)
        >>> curve = nf.sweep(quakes.truth, z, quantiles=[0.8, 0.9, 0.95], tolerances=(0, 2))
        >>> curve.familywise(n_resamples=999, rng=1).best_f
        0.001
        """
        chance = self.chance if self.shows_chance else None
        return familywise_test(
            self.cells,
            self.null,
            beta=beta,
            alpha=alpha,
            n_resamples=self.n_resamples if n_resamples is None else n_resamples,
            rng=self.rng if rng is None else rng,
            single=None if chance is None else {"precision": chance.precision.pvalue, "recall": chance.recall.pvalue},
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of tolerances and of thresholds."""
        return len(self.tolerances), len(self.thresholds)

    @property
    def precision(self) -> FloatArray:
        """P_δ for each cell; NaN where nothing is predicted."""
        return _ratio(self.precision_hits, self.n_predictions)

    @property
    def recall(self) -> FloatArray:
        """R_δ for each cell; NaN where there are no events."""
        return _ratio(self.recall_hits, np.int64(self.n_events))

    @property
    def f1(self) -> FloatArray:
        """F1 for each cell; NaN where precision or recall is."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> FloatArray:
        """F_β = (1 + β²) P_δ R_δ / (β² P_δ + R_δ) for each cell; 0 where both are 0."""
        of_recall, of_precision = f_weights(check_beta(beta))
        precision, recall = self.precision, self.recall
        below = of_recall * precision + of_precision * recall
        return np.where(below == 0, 0.0, _ratio((of_recall + of_precision) * precision * recall, below))

    def matrices(self, tolerance: int, threshold: int) -> tuple[Confusion, Confusion]:
        """Both confusion matrices of a cell, by the positions of its tolerance and threshold: (truth, predictions)."""
        zero = self.tolerances[tolerance].zero
        hits, alarms, near = (
            int(self.precision_hits[tolerance, threshold]),
            int(self.n_predictions[threshold]),
            int(self.near_events[tolerance]),
        )
        found, reach = int(self.recall_hits[tolerance, threshold]), int(self.near_predictions[tolerance, threshold])
        return (
            Confusion.from_marginals(hits, alarms, near, self.n, "neither" if zero else "truth"),
            Confusion.from_marginals(found, reach, self.n_events, self.n, "neither" if zero else "predictions"),
        )

    def best(self, beta: float = 1.0) -> list[tuple[int, int]]:
        """For each tolerance, the cell of the largest F_β, as positions (tolerance, threshold); none where all are NaN."""
        values = self.f_beta(beta)
        return [(d, int(np.nanargmax(row))) for d, row in enumerate(values) if not np.isnan(row).all()]

    def columns(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        """All cells in long form, one row a cell, by column name."""
        d, k = self.shape
        tolerances = [t.plain() if not isinstance(t.plain(), dict) else str(t) for t in self.tolerances]
        data: dict[str, Any] = {
            "tolerance": np.repeat(np.asarray(tolerances), k),
            "threshold": np.tile(self.thresholds, d),
        }
        if self.quantiles is not None:
            data["quantile"] = np.tile(self.quantiles, d)
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
                for name in ("mean", "std", "low", "high", "pvalue", "holm", "benjamini_hochberg"):
                    data[f"{side}_{name}"] = getattr(cells, name).ravel()
        if familywise is not None:
            data["precision_familywise"] = familywise.precision_adjusted.ravel()
            data["recall_familywise"] = familywise.recall_adjusted.ravel()
        return data

    def to_frame(self, backend: Backend | None = None) -> Any:
        """All cells as a data frame, pandas or polars: the one asked for, else the one the user has."""
        return make_frame(self.columns(), backend)

    def to_csv(self, familywise: FamilywiseTest | None = None) -> str:
        """All cells as comma-separated values, with full digits."""
        data = self.columns(familywise)
        return csv_text(tuple(data), list(zip(*(np.asarray(v).tolist() for v in data.values()), strict=True)))

    def to_dict(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        """The sweep as plain values: the keys of ``--format json``. Undefined values and infinite thresholds are None."""
        cells = {
            name: [None if isinstance(v, float) and not math.isfinite(v) else v for v in np.asarray(values).tolist()]
            for name, values in self.columns(familywise).items()
        }
        result: dict[str, Any] = {"n": self.n, "n_events": self.n_events, "cells": cells, "notes": list(self.notes)}
        if self.shows_chance:
            result |= {"null": self.chance.model, "methods": list(self.chance.methods)}
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
            f"{plural(self.n, 'step')}, {plural(self.n_events, 'event')}, {plural(len(self.thresholds), 'threshold')}, "
            f"{plural(len(self.tolerances), 'tolerance')}; the threshold of the best F1 for each tolerance"
        )
        return Table(
            title=title,
            columns=(
                "tolerance",
                "threshold",
                "predictions",
                "precision",
                "recall",
                "F1",
                *(f"p {side}" for side in sides),
            ),
            rows=tuple(rows),
            notes=(*self._how(familywise), *(f"Note: {note}" for note in self.notes)),
        )

    def _how(self, familywise: FamilywiseTest | None) -> tuple[str, ...]:
        """Which null and method the p-values are from, and what they leave out."""
        if self.shows_chance:
            resamples = self.chance.n_resamples
            drawn = f" {resamples:,} resamples, seed {self.chance.seed}." if resamples else ""
            how = f"Null: {self.chance.model}. {self.null.assumption} Method: {'; '.join(self.chance.methods)}.{drawn}"
        else:
            how = f"Chance was not computed for {self.precision_hits.size:,} cells: choose some by quantiles or thresholds, or ask for it."
        if familywise is not None:
            return how, familywise.in_words()
        return (
            (how, "The p-values are of single cells; the best of many needs a familywise test.")
            if self.shows_chance
            else (how,)
        )

    def plot(self, axes: Any = None, *, chance: Literal["auto", "band", "none"] = "auto") -> Any:
        """Draw recall and precision by threshold, with the band of chance (matplotlib); returns the Axes."""
        from nofluke.plot import sweep as plot_sweep

        return plot_sweep(self, axes, chance=chance)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def _ratio(numerator: Any, denominator: Any) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, np.divide(numerator, denominator))


def sweep(
    truth: Any,
    scores: Any,
    *,
    tolerances: Any = (0,),
    thresholds: Any = None,
    quantiles: Any = None,
    times: Any = None,
    mask: Any = None,
    truth_as: TruthKind = "auto",
    missing: Missing = "error",
    null: Null = "permutation",
    method: Method = "auto",
    n_resamples: int = 10_000,
    rng: Any = None,
) -> Sweep:
    r"""Precision and recall for many thresholds and tolerances at once.

    A count at threshold τ is the number of values that reach τ: of all scores for the predictions, of the scores of
    steps near an event for precision's hits, of the best score near each event for recall's hits:

    .. math::
        \text{PA-AA}\delta(\tau) = \#\{t : z_t \ge \tau,\ \textstyle\sum_{|t'-t| \le \delta} e_{t'} > 0\} \qquad
        \text{PA}\delta\text{-AA}(\tau) = \#\{t : e_t = 1,\ \textstyle\max_{|t'-t| \le \delta} z_{t'} \ge \tau\}

    Parameters
    ----------
    truth, scores, times, mask, truth_as, missing
        As in :func:`evaluate`.
    tolerances : sequence of int, str, timedelta or Tolerance, default (0,)
        One or many tolerances.
    thresholds, quantiles : sequence of float, optional
        Which thresholds; by default every distinct score of the steps that count.
    null, method, n_resamples, rng
        As in :func:`evaluate`, for the p-values of the cells.

    Returns
    -------
    Sweep
        Precision is NaN where nothing is predicted, recall where there are no events. ``.chance`` has the null mean, band
        and p-value of every cell, ``.familywise()`` the p-value of the best of them all.

    Notes
    -----
    O(T log T) for each tolerance, however long it is, and for all thresholds together; memory O(T) for each tolerance.
    Chance is computed when it is first asked for, and shown in tables for up to 2,000 chosen thresholds and tolerances.

    References
    ----------
    Scharwächter and Müller (2020), Figure 2.

    Examples
    --------
    >>> import nofluke as nf
    >>> curve = nf.sweep([0, 1, 0, 0], [0.1, 0.4, 0.9, 0.4], tolerances=(0, 1))
    >>> curve.thresholds
    array([0.1, 0.4, 0.9])
    >>> curve.recall
    array([[1., 1., 0.],
           [1., 1., 1.]])
    """
    windows = _tolerances(tolerances)
    sequence = prepare(truth, scores, times=times, mask=mask, truth_as=truth_as, missing=missing)
    values = sequence.open_scores()
    cuts, levels = choose_thresholds(sequence, thresholds, quantiles)
    steps = len(sequence.truth)
    counts = [
        sweep_counts(
            truth=sequence.truth,
            scores=sequence.scores,  # type: ignore[arg-type]  # open_scores() has checked it
            open_steps=sequence.open_steps,
            thresholds=cuts,
            event_ranges=window.event_ranges(steps, sequence.clock),
            prediction_ranges=window.prediction_ranges(steps, sequence.clock),
        )
        for window in windows
    ]
    model = as_null(null)
    model.check(method)
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    n_predictions = reaching(values, cuts)
    precision_hits, recall_hits = (
        np.stack([c.precision_hits for c in counts]),
        np.stack([c.recall_hits for c in counts]),
    )
    notes = list(sequence.notes)
    if sequence.n > 1 and values.min() == values.max():
        notes.append("All scores are equal: no threshold can tell one step from another.")
    if sequence.n_events == 0:
        notes.append("There are no events: recall is undefined.")
    # doubts need alarms: those of the threshold that is reached most nearly by a tenth of the steps
    typical = cuts[int(np.abs(n_predictions - sequence.n / 10).argmin())]
    ranges = open_ranges(windows[0], sequence.open_steps, sequence.clock)
    notes += doubts(model, make_setting(sequence, values >= typical, ranges, float(typical)))
    return Sweep(
        n=sequence.n,
        n_events=sequence.n_events,
        thresholds=cuts,
        quantiles=levels,
        tolerances=windows,
        n_predictions=n_predictions,
        precision_hits=precision_hits,
        recall_hits=recall_hits,
        near_events=np.array([c.near_events for c in counts], dtype=np.int64),
        near_predictions=np.stack([c.near_predictions for c in counts]),
        left_out=sequence.left_out,
        notes=tuple(notes),
        cells=Cells(
            sequence=sequence,
            thresholds=cuts,
            tolerances=windows,
            n_predictions=n_predictions,
            precision_hits=precision_hits,
            recall_hits=recall_hits,
        ),
        chosen=thresholds is not None or quantiles is not None,
        null=model,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
    )


def _tolerances(values: Any) -> tuple[Tolerance, ...]:
    """One tolerance or many; text or a Tolerance is one, and what has no order is neither."""
    if isinstance(values, Set | Mapping):
        raise InputError(f"tolerances={shown(values)} has no order: pass a list, such as [0, 1, 2].")
    one = isinstance(values, str | bytes | bytearray | Tolerance) or not isinstance(values, Iterable)
    one = one or (isinstance(values, np.ndarray) and values.ndim == 0)
    windows = tuple(as_tolerance(value, "tolerances") for value in ([values] if one else values))
    if not windows:
        raise InputError("tolerances is empty: pass at least one, such as (0, 1, 2).")
    return windows
