"""Evaluate a detector at one threshold: count, compare with chance, remark on what is degenerate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.confusion import Confusion, check_zero_division
from nofluke.counting import BoolArray, dilate, nearest_predictions
from nofluke.evaluation import Evaluation
from nofluke.inputs import Missing, Sequence, TruthKind, prepare
from nofluke.nulls import Null, as_null
from nofluke.nulls.base import Method, NullModel, Nulls, check_resamples
from nofluke.nulls.doubts import doubts
from nofluke.nulls.setting import Setting, make_setting, open_ranges
from nofluke.plain import as_rng
from nofluke.testing import (
    Alternative,
    ChanceTest,
    Ties,
    check_alpha,
    check_alternative,
)
from nofluke.thresholds import as_quantile, choose_alarms
from nofluke.timing import Delays, FalseAlarms, Unit
from nofluke.tolerance import Length, Tolerance, as_tolerance


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
    null: Null = "permutation",
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
        What chance does. "permutation" (as in the paper) places the events on random steps that count. See :mod:`nofluke.nulls`
        for nulls that keep clusters, runs or seasons of the events, and :func:`diagnose` for which to trust; a function of a
        generator that draws labels is a null of one's own.
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
        The level of the verdict.

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
    >>> result = nf.evaluate(truth, scores, threshold=7, tolerance=1)
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
    cut, alarms = choose_alarms(sequence, threshold, quantile)
    quantile = None if quantile is None else as_quantile(quantile)
    check_alternative(alternative, ties)
    alpha = check_alpha(alpha)
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    model = as_null(null)
    ranges = open_ranges(window, sequence.open_steps, sequence.clock)
    setting = make_setting(sequence, alarms[sequence.open_steps], ranges, cut)
    nulls = model.distributions(setting, method, n_resamples=n_resamples, rng=rng)
    result = count(
        sequence,
        alarms,
        window,
        nulls,
        setting=setting,
        model=model,
        alternative=alternative,
        ties=ties,
        threshold=cut,
        quantile=quantile,
        zero_division=zero_division,
        alpha=alpha,
    )
    for test in (result.precision_test, result.recall_test):
        _ = test.pvalue  # now, so that what cannot be computed fails here, and the result says how it was computed
    return result


def count(
    sequence: Sequence,
    alarms: BoolArray,
    tolerance: Tolerance,
    nulls: Nulls,
    *,
    setting: Setting,
    model: NullModel,
    alternative: Alternative,
    ties: Ties,
    threshold: float | None,
    quantile: float | None,
    zero_division: float,
    alpha: float,
) -> Evaluation:
    """Both matrices, both tests, false alarms and delays of given alarms."""
    steps, truth, clock = len(sequence.truth), sequence.truth, sequence.clock
    around_events = tolerance.prediction_ranges(steps, clock)
    near_event = dilate(truth, tolerance.event_ranges(steps, clock)) & sequence.open_steps
    near_alarm = dilate(alarms, around_events) & sequence.open_steps
    tolerant_truth = Confusion.from_marginals(
        int((alarms & near_event).sum()),
        int(alarms.sum()),
        int(near_event.sum()),
        sequence.n,
        "neither" if tolerance.zero else "truth",
    )
    tolerant_predictions = Confusion.from_marginals(
        int((near_alarm & truth).sum()),
        int(near_alarm.sum()),
        sequence.n_events,
        sequence.n,
        "neither" if tolerance.zero else "predictions",
    )
    unit: Unit = "steps" if clock is None else "seconds" if clock.is_dates else "clock"
    # ticks a second; divided by, for times 1e-9 would make a week 604800.0000000001 s
    per_unit = 10**9 // clock.tick_size if clock is not None and clock.is_dates else 1
    when = np.arange(steps) if clock is None else clock.ticks
    delays = Delays(
        values=nearest_predictions(truth, alarms, when, around_events) / per_unit, found=near_alarm[truth], unit=unit
    )
    how: dict[str, Any] = {"model": model.text, "alternative": alternative, "ties": ties}
    duration = (
        float(sequence.n) if clock is None else clock.lasting(sequence.open_steps) / (1e9 if clock.is_dates else 1)
    )
    return Evaluation(
        n=sequence.n,
        n_events=sequence.n_events,
        n_predictions=int(alarms.sum()),
        threshold=threshold,
        quantile=quantile,
        tolerance=tolerance,
        tolerant_truth=tolerant_truth,
        tolerant_predictions=tolerant_predictions,
        delays=delays,
        false_alarms=FalseAlarms(count=tolerant_truth.fp, duration=duration, unit=unit),
        left_out=sequence.left_out,
        precision_test=ChanceTest(
            measure="precision", hits=tolerant_truth.tp, of=tolerant_truth.predicted, null=nulls.precision, **how
        ),
        recall_test=ChanceTest(
            measure="recall", hits=tolerant_predictions.tp, of=sequence.n_events, null=nulls.recall, **how
        ),
        null=model,
        setting=setting,
        sequence=sequence,
        notes=(
            *sequence.notes,
            *_remarks(sequence, tolerant_truth, tolerant_predictions, tolerance),
            *doubts(model, setting),
        ),
        zero_division=zero_division,
        alpha=alpha,
    )


def _remarks(
    sequence: Sequence, truth_side: Confusion, prediction_side: Confusion, tolerance: Tolerance
) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    remarks = []
    scores = sequence.scores
    if scores is not None and sequence.n > 1 and sequence.open_scores().min() == sequence.open_scores().max():
        remarks.append("All scores are equal: no threshold can tell one step from another.")
    if truth_side.predicted == 0:
        remarks.append("There are no predictions: precision is undefined.")
    elif truth_side.predicted == sequence.n:
        remarks.append("Every step is predicted: recall says nothing about the detector.")
    if prediction_side.actual == 0:
        remarks.append("There are no events: recall is undefined.")
    elif prediction_side.actual == sequence.n:
        remarks.append("Every step is an event: precision says nothing about the detector.")
    if not tolerance.zero:
        if 0 < truth_side.predicted < sequence.n == prediction_side.predicted:
            remarks.append("Every step is within the tolerance of a prediction: any event would be found.")
        if 0 < prediction_side.actual < sequence.n == truth_side.actual:
            remarks.append("Every step is within the tolerance of an event: any prediction would be a hit.")
    return tuple(remarks)
