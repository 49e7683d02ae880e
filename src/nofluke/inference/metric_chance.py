"""What chance gives in a metric on one set of labels, before there is any detector."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from nofluke.errors import InputError, arg, say, verb
from nofluke.inference.measuring import Values
from nofluke.inference.metric_results import ChanceLevel
from nofluke.inference.metric_tests import labels_of
from nofluke.inference.reached import scale_of
from nofluke.inference.resampling import measure
from nofluke.inference.significance import as_metrics
from nofluke.laws.law import How
from nofluke.metrics.base import Metric
from nofluke.metrics.labelled import Labelled, read_labelled
from nofluke.nulls.base import NullModel, as_seed, check_resamples
from nofluke.nulls.choice import Choice
from nofluke.nulls.layouts import highest
from nofluke.nulls.moves import moves_of
from nofluke.nulls.whole_series import as_series_null
from nofluke.plain import as_rng, as_share, as_whole, check_alpha
from nofluke.series.arguments import AboutSeries, takes
from nofluke.series.reading import length_of

CHUNK = 64  # draws to a chunk: each makes scores as long as the series


@takes(AboutSeries, like="evaluate")
def chance(
    metric: Any,
    truth: Any,
    *,
    null: str | NullModel = "random-scores",
    budget: float | str | None = None,
    n_resamples: int = 1_000,
    workers: int | None = None,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutSeries],
) -> ChanceLevel:
    """What chance gives in a metric, from the labels alone: the level that a detector must exceed.

    Parameters
    ----------
    metric : str, Metric or callable
        As in :func:`nofluke.significance`.
    truth : array-like
        Labels, or, with ``n_steps`` or ``times``, positions or ranges.
    null : str or RandomScores
        "random-scores" draws a random number for each step, "random-scores:phi=0.9" gives them a memory, as detectors
        on sliding windows have.
    budget : float or str, optional
        For metrics of alarms, the share of steps with one (0.01 or "1%"): the highest scores, rounded down.
    n_resamples, workers, rng, alpha
        As in :func:`nofluke.significance`.
    <about>

    Returns
    -------
    ChanceLevel

    Notes
    -----
    What chance scores for a real detector depends on the memory of its own scores: see
    :func:`nofluke.significance`.

    See Also
    --------
    nofluke.significance : a detector's value against chance.
    nofluke.metrics : the metrics.

    Examples
    --------
    >>> import nofluke as nf
    >>> labels = ([0] * 80 + [1] * 20) * 20
    >>> level = nf.chance("auc-roc", labels, n_resamples=199, rng=1)
    >>> level.expected, level.critical_value < 0.55
    (0.5, True)
    """
    alpha, n_resamples, rng = check_alpha(alpha), check_resamples(n_resamples), as_rng(rng)
    workers = None if workers is None else as_whole(workers, "workers", 1)
    model = as_series_null(null)
    if model.needs_detector:
        raise InputError(
            argument="null",
            value=model.text,
            problem="needs a detector to compare with",
            remedy=say("pass {}, or call {}", arg("null", "random-scores"), verb("significance")),
        )
    n = length_of(truth, about.get("truth_as", "auto"), about.get("n_steps"), about.get("times"))
    # any scores without ties: others are drawn in their place
    series = read_labelled(truth, np.arange(n), **about)
    (wanted,) = as_metrics([metric], "scores" if budget is None else "alarms")
    if budget is not None:
        n_alarms = math.floor(as_share(budget, "budget") * series.n_steps)
        if n_alarms == 0:
            raise InputError(
                argument="budget",
                value=budget,
                problem=f"of {series.n_steps:,} steps gives no alarm",
                remedy="pass a larger share",
            )
        series = replace(series, alarms=highest(np.zeros(series.n_steps), n_alarms))
    elif wanted.needs == "alarms":
        raise InputError(
            argument="metric",
            value=wanted.text,
            problem="needs alarms",
            remedy=say("pass {}, the share of steps with one, such as 0.01", arg("budget")),
        )
    found, how, notes = _drawn(wanted, series, model, n_resamples, rng, workers)
    return ChanceLevel(
        metric=wanted,
        values=found.values,
        labels=labels_of(series),
        choice=Choice(model=model, asked=model.text, why=""),
        method=how,
        alpha=alpha,
        known_mean=wanted.mean_by_permutation(series) if model.permutes else None,
        scale=scale_of(found.values),
        notes=(*series.notes, *notes),
    )


def _drawn(
    metric: Metric, series: Labelled, model: NullModel, n_resamples: int, rng: Any, workers: int | None
) -> tuple[Values, How, tuple[str, ...]]:
    seed = as_seed(rng)
    how = How(kind="simulated", n_resamples=n_resamples, seed=seed)
    generator = np.random.default_rng(rng if seed is None else seed)
    short = metric.on_random_scores(series, n_resamples, generator) if model.permutes else None
    if short is not None:
        return Values(short), how, ()
    moves = moves_of(
        model,
        series,
        n_resamples=n_resamples,
        rng=rng if seed is None else seed,
        chunk=CHUNK,
        affordable=lambda _: False,
    )
    (found,), notes = measure((metric,), series, moves, workers=workers)
    return found, how, notes
