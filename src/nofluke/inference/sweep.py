"""Sweep a detector over thresholds and tolerances: every count at once, never a loop over thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from nofluke.arrays import IntArray
from nofluke.errors import InputError
from nofluke.inference.curve import Sweep
from nofluke.inference.remarks import NO_EVENTS, offered_ranges, untold
from nofluke.inference.settings import Settings
from nofluke.nulls import Null
from nofluke.nulls.base import Method, check_resamples
from nofluke.nulls.choice import choose
from nofluke.plain import as_rng, several
from nofluke.series.arguments import About, AboutScores, takes
from nofluke.series.between import trial_of
from nofluke.series.detector import AlarmRule, choose_cuts
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Tolerance, as_tolerance
from nofluke.text.tables import ALL_EQUAL

LEVEL = 0.05  # of the evidence that auto goes by: a sweep has no level of its own


@takes(AboutScores, like="evaluate")
def sweep(
    truth: Any,
    scores: Any,
    *,
    tolerances: Any = (0,),
    thresholds: Any = None,
    quantiles: Any = None,
    budgets: Any = None,
    null: Null = "auto",
    method: Method = "auto",
    n_resamples: int = 10_000,
    rng: Any = None,
    **about: Unpack[AboutScores],
) -> Sweep:
    r"""Precision and recall for many thresholds and tolerances at once.

    A count at threshold τ is the number of values that reach τ: of all scores for the predictions, of the scores of
    steps near an event for precision's hits, of the best score near each event for recall's hits:

    .. math::
        \text{PA-AA}\delta(\tau) = \#\{t : z_t \ge \tau,\ \textstyle\sum_{|t'-t| \le \delta} e_{t'} > 0\} \qquad
        \text{PA}\delta\text{-AA}(\tau) = \#\{t : e_t = 1,\ \textstyle\max_{|t'-t| \le \delta} z_{t'} \ge \tau\}

    Parameters
    ----------
    truth, scores
        As in :func:`evaluate`.
    <about>
    tolerances : sequence of int, str, timedelta or Tolerance, default (0,)
        One or many tolerances.
    thresholds, quantiles, budgets : sequence of float, optional
        Which thresholds, as in :func:`evaluate`; by default every distinct score of the steps that count.
    null, method, n_resamples, rng
        As in :func:`evaluate`, for the p-values of the cells. "auto" chooses one null for all of them, from the events
        and from the alarms at the threshold that about a tenth of the steps reach.

    Returns
    -------
    Sweep
        Precision is NaN where nothing is predicted, recall where there are no events. ``.chance`` has the null mean,
        band and p-value of every cell, ``.familywise()`` the p-value of the best cell.

    See Also
    --------
    nofluke.evaluate : one threshold and tolerance.
    nofluke.sweep_tolerances : two lists of times.
    nofluke.plot.sweep : draws the result.
    nofluke.plot.heatmap : draws every cell.
    nofluke.Sweep : the result.

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
    windows = as_tolerances(tolerances, as_tolerance)
    given = About.of(about)
    sequence = prepare(truth, scores, **given.reading)
    alarms, cuts = AlarmRule.of(**given.alarms), None
    every_score = thresholds is None and quantiles is None and budgets is None
    if not every_score:
        cuts = choose_cuts(sequence, thresholds, quantiles, budgets)
    made = trial_of(sequence, windows, cuts, alarms, every_score=every_score)
    trial = made.trial
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    choice = choose(null, trial.cell(0, _typical(trial.n_alarm_steps, len(trial.detector))), LEVEL, made.doubt)
    choice.check(method)
    choice.model.fits(trial.truth)
    notes = [
        *sequence.notes,
        *made.notes,
        *offered_ranges(sequence, trial.truth, about.get("count_events")),
        *(() if cuts is None else cuts.notes),
    ]
    if len(trial.detector) > 1 and trial.detector.min() == trial.detector.max():
        notes.append(ALL_EQUAL)
    if trial.n_events == 0:
        notes.append(NO_EVENTS)
    return Sweep(
        trial=trial,
        quantiles=None if cuts is None else cuts.quantiles,
        budgets=None if cuts is None else cuts.budgets,
        higher_is=sequence.higher_is,
        settings=Settings(choice=choice, method=method, n_resamples=n_resamples, rng=rng, alarms=alarms),
        left_out=sequence.left_out,
        notes=(*notes, *untold(choice), *choice.notes),
        chosen=cuts is not None,
    )


def _typical(n_alarms: IntArray, n_steps: int) -> int:
    """The threshold whose alarms decide on the null: nearest to a tenth of the steps, of those that have any."""
    distance = np.abs(n_alarms - n_steps / 10)
    return int(np.where(n_alarms > 0, distance, np.inf).argmin())


def as_tolerances(values: Any, read: Callable[[Any, str], Tolerance]) -> tuple[Tolerance, ...]:
    """One tolerance or many."""
    windows = tuple(read(value, "tolerances") for value in several(values, "tolerances"))
    if not windows:
        raise InputError(argument="tolerances", problem="is empty", remedy="pass at least one, such as (0, 1, 2)")
    return windows
