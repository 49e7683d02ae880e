"""Evaluate a detector at one threshold: count, compare with chance, remark on what is degenerate."""

from __future__ import annotations

import math
from typing import Any

from nofluke.inference.chance import Alternative, ChanceTest, Ties, check_alternative
from nofluke.inference.evaluation import Evaluation
from nofluke.inference.settings import Settings
from nofluke.measures.confusion import Confusion, both_matrices, check_zero_division
from nofluke.measures.delays import Delays, FalseAlarms, TimeUnit
from nofluke.nulls import Null
from nofluke.nulls.base import Method, Nulls, check_resamples
from nofluke.nulls.choice import choose
from nofluke.plain import as_rng, check_alpha
from nofluke.series.labels import Missing, TruthKind
from nofluke.series.reading import Sequence, prepare
from nofluke.series.thresholds import as_quantile, chosen_thresholds
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell, Trial

ALL_EQUAL = "All scores are equal: no threshold can tell one step from another."
NO_EVENTS = "There are no events: recall is undefined."


def evaluate(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    threshold: float | None = None,
    quantile: float | None = None,
    tolerance: Length | Tolerance = 0,
    times: Any = None,
    mask: Any = None,
    truth_as: TruthKind = "auto",
    missing: Missing = "error",
    zero_division: float = math.nan,
    null: Null = "auto",
    method: Method = "auto",
    alternative: Alternative = "greater",
    ties: Ties = "full",
    n_resamples: int = 10_000,
    rng: Any = None,
    alpha: float = 0.05,
) -> Evaluation:
    r"""Precision and recall of a detector on one sequence, with a tolerance in time.

    .. math::
        P_\delta = \frac{\sum_t I(\sum_{t'=t-\delta}^{t+\delta} e_{t'} > 0)\, I(z_t \ge \tau)}{\sum_t I(z_t \ge \tau)}
        \qquad
        R_\delta = \frac{\sum_t e_t\, I(\sum_{t'=t-\delta}^{t+\delta} I(z_{t'} \ge \tau) > 0)}{\sum_t e_t}

    Parameters
    ----------
    truth : array-like
        Events: 0/1 or bool for each step; or the positions of the events; or their times, against the clock of the
        scores (an event between two steps belongs to the last step at or before it).
    scores : array-like, optional
        The anomaly score z of each step; a step is predicted if z ≥ τ, ties included.
    predictions : array-like, optional
        Alarms instead of scores: 0/1 or bool for each step, or, with a clock, a list of alarm times.
    threshold : float, optional
        τ itself.
    quantile : float, optional
        τ as a quantile of the scores of the steps that count (linear interpolation, as ``numpy.quantile``).
    tolerance : int, str, timedelta or Tolerance, default 0
        Steps, or a duration such as "2h" where the data has a clock, or ``Tolerance(early=, late=)``. Closed at both ends.
    times : array-like, optional
        The clock: one increasing date or number for each step. Taken from a pandas or xarray index of dates by itself.
    mask : array-like of bool, optional
        True for steps to leave out of everything: stretches that nobody labelled. They still take up time.
    truth_as : {"auto", "labels", "positions", "times"}
        How to read ``truth`` where type and length leave a doubt.
    missing : {"error", "mask"}
        What to do with NaN in scores, alarms or labels.
    zero_division : {nan, 0, 1}
        Value of precision without predictions and of recall without events; F is reckoned from those.
    null : str, NullModel or callable
        What chance does. "auto" looks at the events and the alarms, never at the hits, and takes the null that they allow; the
        result says which and why. "permutation" (as in the paper) places the events on random steps that count. See
        :mod:`nofluke.nulls` for nulls that keep clusters, runs or seasons of the events; a function of a generator that draws
        labels is a null of one's own.
    method : {"auto", "exact", "montecarlo", "saddlepoint", "binomial"}
        How the null distributions are computed. "auto" is exact wherever that takes seconds; the result says what it did.
        "binomial" is the approximation of Donges et al. (2016), for comparison. Other nulls than the permutation have
        fewer methods: their own exact one, or Monte Carlo.
    alternative : {"greater", "less", "two-sided"}
        Which hits count as extreme; "greater" as in the paper.
    ties : {"full", "mid"}
        "mid" gives the mid-p-value, which counts hits equal to the observed by half.
    n_resamples : int
        Random placements for ``method="montecarlo"``.
    rng : int, Generator, SeedSequence or None
        Randomness of Monte Carlo, as ``numpy.random.default_rng`` takes it. The result names the seed.
    alpha : float
        The level of the verdict, and of the evidence that auto goes by.

    Returns
    -------
    Evaluation

    Notes
    -----
    Inputs with a pandas or xarray index are aligned by it. Steps outside the sequence hold neither events nor predictions
    (zero padding). O(T), whatever the tolerance.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, equations 1 to 3.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth = [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]
    >>> scores = [0, 1, 0, 9, 0, 0, 8, 0, 1, 7]
    >>> result = nf.evaluate(truth, scores, threshold=7, tolerance=1, null="permutation")
    >>> result.precision_hits, result.n_predictions, result.recall
    (2, 3, 1.0)
    >>> round(result.recall_test.pvalue, 4)  # chance finds both of two events this often
    0.6222
    """
    zero_division = check_zero_division(zero_division)
    window = as_tolerance(tolerance)
    sequence = prepare(
        truth, scores, predictions=predictions, times=times, mask=mask, truth_as=truth_as, missing=missing
    )
    cuts = chosen_thresholds(sequence, threshold, quantile)
    quantile = None if quantile is None else as_quantile(quantile)
    check_alternative(alternative, ties)
    alpha = check_alpha(alpha)
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    cell = Trial.of(sequence, (window,), cuts).cell(0, 0)
    choice = choose(null, cell, alpha)
    choice.check(method)
    settings = Settings(
        choice=choice,
        method=method,
        alternative=alternative,
        ties=ties,
        n_resamples=n_resamples,
        rng=rng,
        alpha=alpha,
        zero_division=zero_division,
    )
    nulls = settings.null.distributions(cell, method, n_resamples=settings.n_resamples, rng=settings.rng)
    result = evaluation_of(cell, sequence, nulls, settings, quantile)
    for test in (result.precision_test, result.recall_test):
        _ = test.pvalue  # now, so that what cannot be computed fails here, and the result says how it was computed
    return result


def evaluation_of(
    cell: Cell, sequence: Sequence, nulls: Nulls, settings: Settings, quantile: float | None = None
) -> Evaluation:
    """Both matrices, both tests, false alarms and delays of one cell of a trial."""
    trial, clock = cell.trial, sequence.clock
    tolerance = trial.tolerances[cell.d]
    matrices = both_matrices(trial, cell.d, cell.k)
    unit: TimeUnit = "steps" if clock is None else "seconds" if clock.is_dates else "clock"
    # ticks a second; divided by, for times 1e-9 would make a week 604800.0000000001 s
    per_unit = 10**9 // clock.tick_size if clock is not None and clock.is_dates else 1
    duration = (
        float(cell.n_steps) if clock is None else clock.lasting(sequence.open_steps) / (1e9 if clock.is_dates else 1)
    )
    how: dict[str, Any] = {
        "model": settings.null.text,
        "alternative": settings.alternative,
        "ties": settings.ties,
    }
    return Evaluation(
        n=cell.n_steps,
        n_events=cell.n_events,
        n_predictions=cell.n_predictions,
        threshold=cell.threshold,
        quantile=quantile,
        tolerance=tolerance,
        tolerant_truth=matrices[0],
        tolerant_predictions=matrices[1],
        delays=Delays(values=cell.delays() / per_unit, found=cell.found, unit=unit),
        false_alarms=FalseAlarms(count=matrices[0].fp, duration=duration, unit=unit),
        left_out=sequence.left_out,
        precision_test=ChanceTest(
            measure="precision", hits=cell.precision_hits, of=cell.n_predictions, law=nulls.precision, **how
        ),
        recall_test=ChanceTest(measure="recall", hits=cell.recall_hits, of=cell.n_events, law=nulls.recall, **how),
        settings=settings,
        cell=cell,
        sequence=sequence,
        notes=(*sequence.notes, *_remarks(cell, *matrices), *settings.choice.notes),
    )


def _remarks(cell: Cell, truth_side: Confusion, prediction_side: Confusion) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    remarks, n = [], cell.n_steps
    scores = cell.scores
    if scores is not None and n > 1 and scores.min() == scores.max():
        remarks.append(ALL_EQUAL)
    if truth_side.predicted == 0:
        remarks.append("There are no predictions: precision is undefined.")
    elif truth_side.predicted == n:
        remarks.append("Every step is predicted: recall says nothing about the detector.")
    if prediction_side.actual == 0:
        remarks.append(NO_EVENTS)
    elif prediction_side.actual == n:
        remarks.append("Every step is an event: precision says nothing about the detector.")
    if not cell.trial.tolerances[cell.d].zero:
        if 0 < truth_side.predicted < n == prediction_side.predicted:
            remarks.append("Every step is within the tolerance of a prediction: any event would be found.")
        if 0 < prediction_side.actual < n == truth_side.actual:
            remarks.append("Every step is within the tolerance of an event: any prediction would be a hit.")
    return tuple(remarks)
