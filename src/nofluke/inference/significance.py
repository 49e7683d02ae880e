"""Any metric against chance: how much of its value labels and metric alone give a detector that knows nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from nofluke.errors import InputError, arg, say
from nofluke.inference.chance import ALTERNATIVES, Alternative
from nofluke.inference.metric_tests import judge
from nofluke.metrics import get
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.functions import Function
from nofluke.metrics.labelled import read_labelled
from nofluke.metrics.on_events import OnEvents
from nofluke.nulls import Null
from nofluke.nulls.base import check_resamples
from nofluke.nulls.whole_series import edges_of
from nofluke.plain import as_rng, as_whole, check_alpha, check_word
from nofluke.series.arguments import AboutMetric, takes


@takes(AboutMetric, like="evaluate")
def significance(
    metric: Any,
    truth: Any,
    scores: Any = None,
    *,
    groups: Any = None,
    null: Null = "auto",
    n_resamples: int = 10_000,
    stop_after: int | None = None,
    alternative: Alternative | None = None,
    workers: int | None = None,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutMetric],
) -> Any:
    r"""The value of any metric, what chance gives on the same labels, and how often chance does as well.

    .. math:: p = \frac{\#\{\text{shifts } s : f(e, z_s) \ge f(e, z)\}}{\#\{\text{shifts}\}}
        \qquad\text{or}\qquad p = \frac{\#\{\text{draws that reach } f(e, z)\} + 1}{n + 1}

    Parameters
    ----------
    metric : str, Metric, callable, or a list of them
        A name with settings ("vus-pr:window=100", see :func:`nofluke.metrics.names`), a metric, or any function
        ``f(labels, x) -> float`` of 0/1 labels and scores (or alarms, where a threshold or predictions are passed),
        such as those of aeon and scikit-learn. Detection metrics of sktime are given lists of events. A list of metrics
        is measured on the same draws, and gets a p-value corrected for having looked at all of them: pass every window
        or tolerance among which you would have chosen.
    truth, scores
        As in :func:`nofluke.evaluate`. Consecutive labels are one range; ``count_events`` only matters for the tolerant
        recall. A threshold that is chosen with the labels (the best F1) is part of the metric, and chosen again in
        every draw.
    <about>
    null : str, NullModel or callable
        What chance does. "auto" looks at labels and scores separately, and chooses the null that fits them. Rotations
        and local shifts move the detector and keep labelled ranges whole; so does "segments", which shuffles ranges and
        gaps. Nulls that place single steps tear ranges apart: the result then says so. "random-scores" and
        "score-permutation" move the scores.
    n_resamples : int
        Random draws, if not all shifts are enumerated. They are if there are no more than this, or if it takes only
        seconds.
    stop_after : int, optional
        Stop once this many draws have reached the value (Besag and Clifford 1991): few draws are needed if p is large.
        There is then no band and no critical value. It has no effect where all rotations are computed at once.
    alternative : {"greater", "less", "two-sided"}, optional
        Which values count as extreme; by default the better ones.
    workers : int, optional
        Threads for nofluke's own metrics (by default as many as there are cores), processes for functions that can be
        pickled (by default one). The answer does not depend on it.
    rng : int, Generator, SeedSequence or None
        Randomness of the draws. The result names the seed.
    alpha : float
        The level of the verdict, the band and the critical value.
    groups : array-like, optional
        One entry for each step, if several series are concatenated: each is then rotated within itself.

    Returns
    -------
    Significance or Significances
        The latter for a list of metrics.

    Notes
    -----
    A draw on which a metric is undefined, or on which a function fails, counts as one that reaches the value, and is
    noted. The verdict says whether the value is better than chance, whatever the alternative. A rotation may cut a run
    of alarms in two at the end of the series: they then count as two.

    See Also
    --------
    nofluke.chance : the chance level from the labels alone.
    nofluke.metrics : the metrics.
    nofluke.evaluate : tolerant precision and recall, with exact nulls.

    References
    ----------
    Besag and Clifford (1991), Sequential Monte Carlo p-values. Phipson and Smyth (2010), Permutation p-values should
    never be zero. Kim et al. (2022), Towards a rigorous evaluation of time-series anomaly detection.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth, scores = [0] * 10 + [1] * 4 + [0] * 6, [0.1] * 9 + [0.9] * 3 + [0.1] * 8
    >>> nf.significance("auc-roc", truth, scores, null="circular-shift").pvalue
    0.2
    """
    several = isinstance(metric, list | tuple)
    alpha, n_resamples, rng = check_alpha(alpha), check_resamples(n_resamples), as_rng(rng)
    if alternative is not None:
        check_word(alternative, "alternative", ALTERNATIVES)
    if workers is not None:
        workers = as_whole(workers, "workers", 1)
    if stop_after is not None:
        stop_after = as_whole(stop_after, "stop_after", 1)
        _refuse_early(several, alternative)
    series = read_labelled(truth, scores, **about)
    metrics = as_metrics(metric, "scores" if series.alarms is None else "alarms")
    return judge(
        metrics,
        series,
        several=several,
        null=null,
        n_resamples=n_resamples,
        stop_after=stop_after,
        alternative=alternative,
        workers=workers,
        rng=rng,
        alpha=alpha,
        edges=edges_of(groups, series),
    )


def _refuse_early(several: bool, alternative: Alternative | None) -> None:
    if several:
        raise InputError(
            argument="stop_after",
            problem="needs a single metric, since several need a fixed number of draws",
            remedy="leave it out",
        )
    if alternative == "two-sided":
        raise InputError(
            argument="stop_after",
            problem="needs one side",
            remedy=say("pass {}, or leave it out", arg("alternative", "greater", "less")),
        )


def as_metrics(metric: Any, given: Needs) -> tuple[Metric, ...]:
    """The metrics asked for; functions are given what there is, scores or alarms."""
    asked: Iterable[Any] = metric if isinstance(metric, list | tuple) else [metric]
    found = tuple(_with(get(one), one, given) for one in asked)
    if not found:
        raise InputError(argument="metric", problem="is an empty list", remedy="pass a metric, or several")
    names = [one.text for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            argument="metric",
            value=twice,
            problem="is there twice",
            remedy="pass each once, and give functions names of their own",
        )
    return found


def _with(metric: Metric, asked: Any, given: Needs) -> Metric:
    if not isinstance(metric, Function) or isinstance(asked, str | Metric) or isinstance(metric.function, OnEvents):
        return metric
    return Function(function=metric.function, name=metric.name, needs=given, declared=False)
