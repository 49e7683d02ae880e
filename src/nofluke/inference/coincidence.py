"""Do two lists of times coincide more often than by chance? Events and alarms at their own times, without a grid."""

from __future__ import annotations

import math
from typing import Any

from nofluke.dates import format_duration
from nofluke.errors import arg, passed, say
from nofluke.inference.chance import Alternative, Ties, check_alternative
from nofluke.inference.coincidences import Coincidence, Leads
from nofluke.inference.judging import judged, turned
from nofluke.inference.remarks import NO_EVENTS
from nofluke.inference.settings import Settings
from nofluke.measures.confusion import check_zero_division
from nofluke.nulls import Null
from nofluke.nulls.base import Method, Nulls, check_resamples
from nofluke.nulls.choice import choose
from nofluke.plain import as_rng, check_alpha, check_word
from nofluke.series.occurrences import Duplicates, InGaps, Occurrences, in_kind, read_times, tolerance_of_times
from nofluke.series.timed import Edges, TimedCell, TimedTrial, TimedTruth
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.tables import plural, there_are_no

FEWEST_TIMES = 4  # of either list, for a span to be guessed from them
FEWER = "as if one avoided the other"


def coincidence(
    events: Any,
    alarms: Any,
    *,
    tolerance: Length | Tolerance,
    span: Any = None,
    gaps: Any = None,
    in_gaps: InGaps = "error",
    tick: Length | None = None,
    duplicates: Duplicates = "error",
    lag: Length = 0,
    leads: Leads = "alarms",
    edges: Edges = "zero",
    zero_division: float = math.nan,
    null: Null = "auto",
    method: Method = "auto",
    alternative: Alternative = "greater",
    ties: Ties = "full",
    n_resamples: int = 10_000,
    rng: Any = None,
    alpha: float = 0.05,
) -> Coincidence:
    r"""How often two lists of times coincide within a tolerance, and how often they would by chance.

    With events at :math:`q_1, \dots, q_m`, alarms at :math:`p_1, \dots, p_n`, a lag :math:`\lambda` and a tolerance of
    :math:`\varepsilon` early and :math:`\ell` late, p counts for q if
    :math:`q + \lambda - \varepsilon \le p \le q + \lambda + \ell`, and

    .. math::
        R = \frac{1}{m} \sum_j I(\text{some } p_i \text{ counts for } q_j)
        \qquad
        P = \frac{1}{n} \sum_i I(p_i \text{ counts for some } q_j)

    Event coincidence analysis calls them the precursor and the trigger coincidence rate, if alarms lead.

    Parameters
    ----------
    events, alarms : array-like
        Times: dates, or numbers of any unit, in any order; lists, arrays, Series, a data frame of one column.
    tolerance : number, str, timedelta or Tolerance
        A number in the unit of the times, a duration ("2d") for dates, or ``Tolerance(early=, late=)``; closed at both
        ends.
    span : pair of times, optional
        When watching began and ended, both included; a date without a time of day is all of that day. By default from
        the first to the last of both lists, with a note that this is a guess.
    gaps : pairs of times, optional
        Unwatched stretches within the span, both ends included: pairs, an array of two columns, a data frame with
        columns start and end, or a pandas IntervalIndex.
    in_gaps : {"error", "drop"}
        What to do with times inside gaps: refuse them, or leave them out, which a note counts for each list.
    lag : number, str or timedelta, default 0
        Moves the window: "2d" for alarms two days after the event, "-2d" for alarms two days before it. pyunicorn's
        ``lag`` and CoinCalc's ``tau`` count the other way: by how long causes precede effects. See the notes below.
    leads : {"alarms", "events"}
        What comes first; it only sets the names of event coincidence analysis. Recall is the precursor rate if alarms
        lead, the trigger rate if events do, and precision is the other one. If the window lies on the other side, a
        note says so.
    edges : {"zero", "interior"}
        "zero": everything counts, and there is nothing outside the watched time, as in the paper. "interior": only
        events and alarms whose whole window was watched count; the number of such events then also depends on chance,
        and the ratio is tested.
    tick : number or duration, optional
        The resolution of the times, to which they are rounded down. By default their common divisor: days for dates
        without a time of day, the last digit for rounded numbers. Chance places events on whole ticks.
    duplicates : {"error", "merge", "count"}
        What to do with times that occur more than once in a list: refuse them, count each time once, or count all.
    zero_division : {nan, 0, 1}
        Value of precision without alarms and of recall without events; F is computed from these.
    null : str, NullModel or callable
        What chance does to the events: "auto" looks at each list separately. "permutation" places events on
        random ticks. Lengths of other nulls are durations, or numbers in the unit of the times: "jitter:window=1h". See
        :mod:`nofluke.nulls`.
    method : {"auto", "exact", "montecarlo", "saddlepoint", "binomial"}
        How the null distributions are computed, as for :func:`nofluke.evaluate`.
    alternative, ties, n_resamples, rng, alpha
        As for :func:`nofluke.evaluate`.

    Returns
    -------
    Coincidence

    See Also
    --------
    nofluke.sweep_tolerances : many tolerances and lags.
    nofluke.evaluate : labels or ranges on a grid of steps.
    nofluke.plot.coincidence : draws the result.
    nofluke.Coincidence : the result.

    Notes
    -----
    A p-value depends on the watched time: the longer it is, the more a coincidence means. Time and memory grow with the
    number of times, not with the length of the span.

    With effects as events and causes as alarms, ``EventSeries.event_coincidence_analysis(x, y, taumax, lag=lag)`` of
    pyunicorn, where x are the effects, has the window ``tolerance=Tolerance(early=taumax, late=0), lag=-lag``. So has
    ``CC.eca.ts(A, B, delT=taumax, tau=lag)`` of CoinCalc, where A are the effects; with ``sym=TRUE`` it is
    ``tolerance=delT, lag=-tau``.

    References
    ----------
    Donges, Schleussner, Siegmund and Donner (2016), Event coincidence analysis for quantifying statistical
    interrelationships between event time series. Scharwächter and Müller (2020), equations 1 to 3.

    Examples
    --------
    >>> import nofluke as nf
    >>> floods = ["2011-03-02", "2012-07-19", "2013-01-05", "2015-06-30"]
    >>> storms = ["2011-03-01", "2012-02-11", "2012-07-18", "2013-01-04", "2014-09-09"]
    >>> span = ("2011-01-01", "2015-12-31")
    >>> found = nf.coincidence(floods, storms, tolerance=nf.Tolerance(early="2d", late=0), span=span)
    >>> found.recall, found.precision, found.precursor_rate
    (0.75, 0.6, 0.75)
    >>> found.n, found.tick
    (1826, '1d')
    """
    zero_division = check_zero_division(zero_division)
    check_word(leads, "leads", ("alarms", "events"))
    check_word(edges, "edges", ("zero", "interior"))
    check_alternative(alternative, ties)
    alpha = check_alpha(alpha)
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    width = tolerance_of_times(tolerance)
    window = width.lagged(lag)
    read = read_times(
        events, alarms, tolerances=(window,), span=span, gaps=gaps, in_gaps=in_gaps, tick=tick, duplicates=duplicates
    )
    cell = trial_of(read, (window,), edges).cell(0, 0)
    choice = choose(null, cell, alpha, doubt_of(read))
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
    nulls = choice.model.distributions(cell, method, n_resamples=n_resamples, rng=rng)
    result = coincidence_of(cell, read, nulls, settings, leads=leads, lag=width.moved_by(lag))
    for test in (result.precision_test, result.recall_test):
        _ = test.pvalue  # now, so that what cannot be computed fails here, and the result says how it was computed
    return result


def coincidence_of(
    cell: TimedCell, read: Occurrences, nulls: Nulls, settings: Settings, *, leads: Leads, lag: int | float
) -> Coincidence:
    """Both tests, false alarms and delays of one window on two lists of times."""
    common = judged(cell, read, nulls, settings)
    return Coincidence(
        n=cell.truth.n_places,
        threshold=None,
        quantile=None,
        tolerant_truth=None,
        tolerant_predictions=None,
        sequence=read,
        leads=leads,
        lag=lag,
        notes=(
            *read.notes,
            *remarks(cell, read),
            *_against(leads, cell.trial.tolerances[cell.d], lag),
            *turned(common, lambda: FEWER),
            *settings.choice.notes,
        ),
        **common,
    )


def _against(leads: Leads, window: Tolerance, lag: int | float) -> tuple[str, ...]:
    """A note where the window lies on the side on which what is said to lead would follow."""
    if window.side != ("late" if leads == "alarms" else "early"):
        return ()
    width = window.by(-lag) if lag else window
    turned_lag = format_duration(-lag) if window.unit == "ns" else int(-lag) if lag == int(lag) else -lag
    opposite: str = say("pass {}", arg("lag", turned_lag))
    if width.early != width.late:
        opposite = say("exchange early and late and {}", opposite) if lag else "exchange early and late"
    where, other = ("after", "events") if leads == "alarms" else ("before", "alarms")
    return (
        say(
            "Only alarms {} {} an event count, though {}: {} if {} come first, or pass {} if they follow.",
            window.distance,
            where,
            passed("leads", leads),
            opposite,
            leads,
            arg("leads", other),
        ),
    )


def doubt_of(read: Occurrences) -> str:
    """Why nothing can be concluded: the span is guessed from a handful of times, which then decide the answer."""
    if not read.guessed or min(len(read.events), len(read.alarms)) >= FEWEST_TIMES:
        return ""
    return say(
        "The span is a guess, and with fewer than {} events or alarms it is a poor one. Pass {}.",
        FEWEST_TIMES,
        arg("span"),
    )


def trial_of(read: Occurrences, windows: tuple[Tolerance, ...], edges: Edges) -> TimedTrial:
    """The trial of two lists of times within some tolerances."""
    windows = tuple(in_kind(window, read.ticks.is_dates) for window in windows)
    return TimedTrial.of(TimedTruth.of(read.events, read.watch), read.alarms, windows, edges=edges)


def remarks(cell: TimedCell, read: Occurrences) -> tuple[str, ...]:
    """What is degenerate or left out about these lists, in plain words."""
    found = []
    if len(read.alarms) == 0:
        found.append(there_are_no("alarms", "precision is undefined"))
    if len(read.events) == 0:
        found.append(NO_EVENTS)
    left = (len(read.events) - cell.n_counted, len(read.alarms) - cell.n_predictions)
    if any(left):
        told = " and ".join(plural(many, noun) for many, noun in zip(left, ("event", "alarm"), strict=True) if many)
        found.append(
            say(
                "{} do not count, because their windows extend beyond the watched time ({}).",
                told,
                passed("edges", "interior"),
            )
        )
    if not read.ticks.rounded:
        found.append(
            f"Times are not rounded: ticks are as fine as their numbers, {read.ticks.length(1)}, and chance places "
            "events anywhere."
        )
    elif read.watch.stride > 1:
        found.append(
            f"Events lie on multiples of {read.ticks.length(read.watch.stride)}, more coarsely than alarms, and chance "
            "keeps them on that grid."
        )
    return tuple(found)
