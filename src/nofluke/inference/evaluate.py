"""Evaluate a detector at one threshold: count, compare with chance, remark on what is degenerate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Unpack

from nofluke.inference.chance import Alternative, Ties, check_alternative
from nofluke.inference.evaluation import Evaluation
from nofluke.inference.judging import judged, turned
from nofluke.inference.remarks import degenerate, inverted, offered_ranges, out_of_reach
from nofluke.inference.settings import Settings
from nofluke.measures.confusion import check_zero_division
from nofluke.measures.matrices import both_matrices
from nofluke.nulls import Null
from nofluke.nulls.base import Method, Nulls, check_resamples
from nofluke.nulls.choice import choose
from nofluke.plain import as_rng, check_alpha
from nofluke.series.arguments import About, AboutDetector, takes
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import AlarmRule, Cuts, choose_cut
from nofluke.series.reading import Sequence, prepare
from nofluke.series.timed import TimedCell
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents


@takes(AboutDetector)
def evaluate(
    truth: Any,
    scores: Any = None,
    *,
    tolerance: Length | Tolerance = 0,
    zero_division: float = math.nan,
    null: Null = "auto",
    method: Method = "auto",
    alternative: Alternative = "greater",
    ties: Ties = "full",
    n_resamples: int = 10_000,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutDetector],
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
        scores (one between two steps keeps its own time, from which a tolerance in time is measured; to a tolerance in
        steps it belongs to the last step at or before it); or ranges: pairs (start, end) in a list, an array of two
        columns, a data frame with columns start and end, or a pandas IntervalIndex. Both ends belong to a range, unless
        an interval says otherwise. A data frame with a column ``ilocs``, as sktime's detectors return it, holds
        positions or intervals of positions.
    scores : array-like, optional
        The anomaly score z of each step; a step is predicted if z ≥ τ, ties included.
    <about>
    tolerance : int, str, timedelta or Tolerance, default 0
        Steps, or a duration such as "2h" where the data has a clock, or ``Tolerance(early=, late=)``. Closed at both
        ends.
    zero_division : {nan, 0, 1}
        Value of precision without predictions and of recall without events; F is computed from these.
    null : str, NullModel or callable
        What chance does. "auto" looks at the events and the alarms, never at the hits, and chooses the null that fits
        them; the result says which and why. "permutation" (as in the paper) places the events on random steps that
        count. See :mod:`nofluke.nulls` for nulls that keep clusters, runs or seasons of the events; for your own null,
        pass a function that takes a random generator and returns labels.
    method : {"auto", "exact", "montecarlo", "saddlepoint", "binomial"}
        How the null distributions are computed. "auto" is exact wherever that takes no more than seconds; the result
        says what it did. "binomial" is the approximation of Donges et al. (2016), for comparison. Nulls other than the
        permutation have fewer methods: their own exact one, or Monte Carlo.
    alternative : {"greater", "less", "two-sided"}
        Which hits count as extreme; "greater" as in the paper.
    ties : {"full", "mid"}
        "mid" gives the mid-p-value, which counts half of the probability of the observed hits.
    n_resamples : int
        Random placements for ``method="montecarlo"``.
    rng : int, Generator, SeedSequence or None
        Randomness of Monte Carlo, as ``numpy.random.default_rng`` takes it. The result names the seed.
    alpha : float
        The level of the verdict, and of the evidence that auto uses.

    Returns
    -------
    Evaluation

    See Also
    --------
    nofluke.sweep : many thresholds and tolerances, with a familywise test.
    nofluke.compare : several detectors on one sequence.
    nofluke.coincidence : two lists of times without a grid.
    nofluke.significance : any other metric against chance.
    nofluke.Evaluation : the result.

    Notes
    -----
    Inputs with a pandas or xarray index are aligned by it. Steps outside the sequence hold neither events nor
    predictions (zero padding). O(T), whatever the tolerance.

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
    given = About.of(about)
    sequence = prepare(truth, scores, **given.reading)
    alarms = AlarmRule.of(**given.alarms)
    cuts = choose_cut(sequence, **given.cut)
    check_alternative(alternative, ties)
    alpha = check_alpha(alpha)
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    made = trial_of(sequence, (window,), cuts, alarms)
    rest: dict[str, Any] = {"alternative": alternative, "ties": ties, "zero_division": zero_division, "alarms": alarms}
    rest |= {"method": method, "n_resamples": n_resamples, "rng": rng, "alpha": alpha}
    return evaluate_trial(made, sequence, cuts, null, about.get("count_events"), rest)


def evaluate_trial(
    made: Made,
    sequence: Sequence,
    cuts: Cuts | None,
    null: Null,
    count_events: CountEvents | None,
    rest: dict[str, Any],
) -> Evaluation:
    """The evaluation of a trial of one cell; ``rest`` are the other settings, checked."""
    cell = made.trial.cell(0, 0)
    choice = choose(null, cell, rest["alpha"], made.doubt)
    choice.check(rest["method"])
    settings = Settings(choice=choice, **rest)
    more = (*made.notes, *offered_ranges(sequence, cell.truth, count_events))
    sequence = replace(sequence, notes=(*sequence.notes, *more)) if more else sequence
    nulls = settings.null.distributions(cell, settings.method, n_resamples=settings.n_resamples, rng=settings.rng)
    result = evaluation_of(cell, sequence, nulls, settings, cuts)
    for test in (result.precision_test, result.recall_test):
        _ = test.pvalue  # now, so that what cannot be computed fails here, and the result says how it was computed
    return result


def evaluation_of(
    cell: Cell, sequence: Sequence, nulls: Nulls, settings: Settings, cuts: Cuts | None = None
) -> Evaluation:
    """Both matrices, both tests, false alarms and delays of one cell; ``cuts`` tells what its threshold comes from."""
    matrices = (None, None) if isinstance(cell, TimedCell) else both_matrices(cell.trial, cell.d, cell.k)
    common = judged(cell, sequence, nulls, settings)
    if isinstance(cell, TimedCell) and sequence.clock is not None:  # of gaps, only events may know
        watched = sequence.clock.lasting(sequence.open_steps) / (1e9 if sequence.clock.is_dates else 1)
        common["false_alarms"] = replace(common["false_alarms"], duration=watched)
    return Evaluation(
        n=sequence.n,
        threshold=cell.threshold,
        quantile=None if cuts is None else cuts.quantile,
        budget=None if cuts is None else cuts.budget,
        tolerant_truth=matrices[0],
        tolerant_predictions=matrices[1],
        sequence=sequence,
        notes=(
            *sequence.notes,
            *(() if cuts is None else cuts.notes),
            *_remarks(cell),
            *turned(common, lambda: _remedy(sequence)),
            *settings.choice.notes,
        ),
        **common,
    )


def _remarks(cell: Cell) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    n, trial, scores = cell.n_steps, cell.trial, cell.scores
    return degenerate(
        n,
        cell.n_events,
        cell.n_events if isinstance(cell, TimedCell) else int(cell.truth.flags.sum()),
        int(trial.n_alarm_steps[cell.k]),
        near=None
        if trial.tolerances[cell.d].zero
        else (int(trial.near_events[cell.d]), int(trial.near_predictions[cell.d, cell.k])),
        all_equal=scores is not None and n > 1 and scores.min() == scores.max(),
        lost=out_of_reach(cell),
    )


def _remedy(sequence: Sequence) -> str:
    return inverted(None if sequence.scores is None else sequence.higher_is)
