"""Two lists of times against chance: one tolerance, or many tolerances and lags."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np

from nofluke.data.columns import as_pairs
from nofluke.dates import format_duration
from nofluke.errors import THINGS, InputError, arg, joined, passed, say
from nofluke.inference.chance import Alternative, Ties
from nofluke.inference.evaluate import (
    F1,
    NO_EVENTS,
    Evaluation,
    Question,
    Settings,
    computed,
    evaluate_trial,
    result_of,
    turned,
    untold,
)
from nofluke.inference.sweep import LEVEL, FamilywiseTest, Sweep, as_tolerances
from nofluke.nulls import Null
from nofluke.nulls.base import Method, check_resamples
from nofluke.nulls.choice import choose
from nofluke.plain import MOST_VALUES, as_rng, check_word, finite_or_none, several
from nofluke.series.arguments import AboutTimes, takes
from nofluke.series.between import trial_of as on_steps
from nofluke.series.detector import AlarmRule
from nofluke.series.grid import steps_over
from nofluke.series.occurrences import Occurrences, in_kind, read_times, tolerance_of_times
from nofluke.series.reading import prepare
from nofluke.series.timed import Edges, TimedCell, TimedTrial, TimedTruth
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.numbers import SECOND, span_in_words
from nofluke.text.tables import Table, noted, plural, show_share, there_are_no

Leads = Literal["alarms", "events"]
NOT_OF_LISTS = (
    "count_events",
    "threshold",
    "quantile",
    "budget",
    "higher_is",
    "count_alarms",
    "refractory",
    "tolerant_truth",
    "tolerant_predictions",
    "left_out",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coincidence(Evaluation):
    """How two lists of times coincide: an `Evaluation`, plus what only lists have.

    Attributes
    ----------
    sequence : Occurrences
        The lists as they were read: ticks, span and gaps.
    leads : {"alarms", "events"}
        What comes first.
    leads_asked : bool
        Whether that was said, so that tables and figures name both rates.
    lag : number
        How far the window was moved: nanoseconds for dates, else the unit of the times. ``tolerance`` is the window as
        it was moved, ``width`` as it was given.

    See Also
    --------
    nofluke.coincidence : makes it.
    nofluke.Evaluation : the same for labels on steps.
    nofluke.CoincidenceSweep : many tolerances and lags.
    nofluke.plot.coincidence : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.coincidence([10, 40, 70], [11, 41, 90], tolerance=2, span=(0, 99))
    >>> found.recall_hits, found.precision_hits, found.watched, found.verdict
    (2, 2, 100.0, 'cannot tell')
    """

    sequence: Occurrences = field(repr=False)  # type: ignore[assignment]
    leads: Leads = "alarms"
    leads_asked: bool = field(repr=False, default=False)
    lag: int | float = 0

    @property
    def n(self) -> int:
        """Ticks that were watched and on which an event could have fallen."""
        return self.cell.truth.n_places

    def _watched(self) -> float:
        return self.cell.timing.watched

    def _remarks(self) -> tuple[str, ...]:
        return (
            *remarks(self._cell, self.sequence),
            *_against(self.leads, self.tolerance, self.lag),
            *turned(*self._tests, lambda: FEWER),
        )

    @property
    def width(self) -> Tolerance:
        """The tolerance before the lag moved it."""
        return self.tolerance.by(-self.lag) if self.lag else self.tolerance

    @property
    def precursor_rate(self) -> float:
        """The share of what follows that has something leading before it: recall if alarms lead, else precision."""
        return self.recall if self.leads == "alarms" else self.precision

    @property
    def trigger_rate(self) -> float:
        """The share of what leads that has something following it: precision if alarms lead, else recall."""
        return self.precision if self.leads == "alarms" else self.recall

    def called(self, measure: str) -> str:
        """What precision or recall is called in tables and figures: a coincidence rate, if it was said what leads."""
        if not self.leads_asked:
            return measure
        return f"{measure} ({'precursor' if (measure == 'recall') == (self.leads == 'alarms') else 'trigger'} rate)"

    @property
    def edges(self) -> Edges:
        """Whether everything counts, or only what has its whole window in the watched time."""
        return self._cell.trial.edges

    @property
    def _cell(self) -> TimedCell:
        cell: Any = self.cell
        return cell  # type: ignore[no-any-return]

    @property
    def tick(self) -> str:
        """The resolution on which chance places events: "1d", or a number in the unit of the times."""
        return self.sequence.ticks.length(self.sequence.watch.stride)

    @property
    def fine(self) -> bool:
        """Whether ticks are fractions of a second, or as fine as floats: no unit to state a duration in."""
        ticks = self.sequence.ticks
        return not ticks.rounded or (ticks.is_dates and ticks.size * self.sequence.watch.stride < SECOND)

    @property
    def span(self) -> tuple[Any, Any]:
        """The first and the last time of the span, as dates or numbers."""
        first, last = self.sequence.ticks.times(np.array([self.sequence.first, self.sequence.last]))
        return first, last

    @property
    def watched(self) -> float:
        """Time that was watched, gaps left out: seconds for dates, else the unit of the times."""
        return self.false_alarms.duration

    @property
    def alarm_noun(self) -> str:
        """What a prediction is called."""
        return "alarm"

    def _title(self) -> str:
        read = self.sequence
        gaps = len(read.gaps.starts)
        less = f" less {plural(gaps, 'gap')}" if gaps else ""
        long = f"{plural(self.n, 'tick')} of {self.tick}"
        if self.fine:
            long = f"{span_in_words(self.watched, self.false_alarms.unit)} watched"
        return say(
            "{}, {}; {}{}, {}; tolerance {}",
            plural(self.n_events, "event"),
            plural(self.n_predictions, "alarm"),
            " to ".join(read.ends),
            less,
            long,
            self.tolerance.in_words(),
        )

    def sentences(self) -> tuple[str, ...]:
        """The result in plain words, with the names of event coincidence analysis."""
        recall, precision = ("precursor", "trigger") if self.leads == "alarms" else ("trigger", "precursor")
        told = "Recall is the {} coincidence rate and precision the {} coincidence rate, if {} lead."
        return *super().sentences(), self.names.said(say(told, recall, precision, THINGS[self.leads]))

    def _record(self, *, f1: F1 = "value", statistics: Iterable[str] = ()) -> dict[str, Any]:
        every = super()._record(f1=f1, statistics=statistics)
        plain = {key: value for key, value in every.items() if key not in NOT_OF_LISTS}
        read = self.sequence
        gaps = [
            [read.ticks.show(int(start)), read.ticks.show(int(stop) - 1)]
            for start, stop in zip(read.gaps.starts, read.gaps.stops, strict=True)
        ]
        return plain | {
            "width": self.width.plain(),
            "lag": format_duration(self.lag) if read.ticks.is_dates else self.lag,
            "span": [read.ticks.show(read.first), read.ticks.show(read.last)],
            "span_guessed": read.guessed,
            "gaps": gaps,
            "watched": {"value": self.watched, "unit": self.false_alarms.unit},
            "tick": self.tick,
            "edges": self.edges,
            "leads": self.leads,
            "precursor_rate": finite_or_none(self.precursor_rate),
            "trigger_rate": finite_or_none(self.trigger_rate),
        }


# ---- do two lists of times coincide more often than by chance? Events and alarms at their own times

FEWEST_TIMES = 4  # of either list, for a span to be guessed from them
FEWER = "as if one avoided the other"


@takes(AboutTimes)
def coincidence(
    events: Any,
    alarms: Any,
    *,
    tolerance: Length | Tolerance,
    lag: Length = 0,
    leads: Leads | None = None,
    edges: Edges = "zero",
    zero_division: float = math.nan,
    null: Null = "auto",
    method: Method = "auto",
    alternative: Alternative = "greater",
    ties: Ties = "full",
    n_resamples: int = 10_000,
    rng: Any = None,
    alpha: float = 0.05,
    **about: Unpack[AboutTimes],
) -> Coincidence | Evaluation:
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
        Times: dates, or numbers of any unit, in any order; lists, arrays, Series, a data frame of one column. Or
        ranges, as `evaluate` takes them, on either side: these need a ``span``; alarms without an end last until it
        ends.
    tolerance : number, str, timedelta or Tolerance
        A number in the unit of the times, a duration ("2d") for dates, or ``Tolerance(early=, late=)``; closed at both
        ends.
    <about>
    lag : number, str or timedelta, default 0
        Moves the window: "2d" for alarms two days after the event, "-2d" for alarms two days before it. pyunicorn's
        ``lag`` and CoinCalc's ``tau`` count the other way: by how long causes precede effects. See the notes below.
    leads : {"alarms", "events"}, optional
        What comes first, by default alarms. It sets the names of event coincidence analysis, which stand in the table
        and the figure where it is passed. Recall is the precursor rate if alarms lead, the trigger rate if events do,
        and precision is the other one. If the window lies on the other side, a
        note says so.
    edges : {"zero", "interior"}
        "zero": everything counts, and there is nothing outside the watched time, as in the paper. "interior": only
        events and alarms whose whole window was watched count; the number of such events then also depends on chance,
        and the ratio is tested.
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
        Of ranges an :class:`nofluke.Evaluation`, on steps of a ``tick`` over the span: each range is an event, found by
        an alarm from its start - early to its end + late, or one alarm. Without a ``tick``, steps are as long as the
        times allow, and no more than a million.

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
    if leads is not None:
        check_word(leads, "leads", ("alarms", "events"))
    check_word(edges, "edges", ("zero", "interior"))
    question = Question(
        null=null,
        method=method,
        alternative=alternative,
        ties=ties,
        n_resamples=n_resamples,
        rng=rng,
        alpha=alpha,
        zero_division=zero_division,
    )
    width = tolerance_of_times(tolerance)
    window = width.lagged(lag)
    if any(as_pairs(one, name) is not None for one, name in ((events, "events"), (alarms, "alarms"))):
        return _of_ranges(events, alarms, window, edges, question, about)
    read = read_times(events, alarms, tolerances=(window,), **about)
    cell = trial_of(read, (window,), edges).cell(0, 0)
    settings = question.settled(cell, doubt_of(read), read.names)
    more: Any = {"leads": leads or "alarms", "leads_asked": leads is not None, "lag": width.moved_by(lag)}
    return computed(result_of(Coincidence, cell, read, settings.laws(cell), settings, **more))


def _of_ranges(
    events: Any, alarms: Any, window: Tolerance, edges: Edges, question: Question, about: AboutTimes
) -> Evaluation:
    """Ranges on either side, on a grid of steps over the span."""
    if about.get("span") is None:
        raise InputError(
            problem="ranges need to know when anybody watched",
            remedy=say("pass {}, the time that was watched", arg("span")),
        )
    for name, value, usual in (("edges", edges, "zero"), ("duplicates", about.get("duplicates", "error"), "error")):
        if value != usual:
            raise InputError(
                argument=name, value=value, problem="is for lists of times without ranges", remedy="leave it out"
            )
    try:
        grid = steps_over(
            about["span"],
            events,
            alarms,
            tolerances=(window,),
            step=about.get("tick"),
            gaps=about.get("gaps"),
            outside="error",
        )
        sequence = prepare(grid.events, predictions=grid.alarms, times=grid.times, truth_as="times")
    except InputError as error:
        for theirs, ours in (("truth", "events"), ("predictions", "alarms"), ("step", "tick")):
            error = error.renamed(theirs, ours)
        raise error from None
    sequence = replace(sequence, notes=(*grid.notes, *sequence.notes))
    episodes = as_pairs(alarms, "alarms") is not None
    question = replace(question, alarms=AlarmRule.of(count_alarms="episodes" if episodes else None))
    made = on_steps(
        sequence, (in_kind(window, sequence.clock is not None and sequence.clock.is_dates),), None, question.alarms
    )
    return evaluate_trial(made, sequence, None, question, None)


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
            "Only {alarms} {} {} {an_event} count, though {}: {} if {} come first, or pass {} if they follow.",
            window.distance,
            where,
            passed("leads", leads),
            opposite,
            THINGS[leads],
            arg("leads", other),
        ),
    )


def doubt_of(read: Occurrences) -> str:
    """Why nothing can be concluded: the span is guessed from a handful of times, which then decide the answer."""
    if not read.guessed or min(len(read.events), len(read.alarms)) >= FEWEST_TIMES:
        return ""
    return say(
        "The span is a guess, and with fewer than {} {events} or {alarms} it is a poor one. Pass {}.",
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
        told = joined(
            " and ", (plural(many, noun) for many, noun in zip(left, ("event", "alarm"), strict=True) if many)
        )
        found.append(
            say(
                "{} do not count, because their windows extend beyond the watched time ({}).",
                told,
                passed("edges", "interior"),
            )
        )
    if not read.ticks.rounded:
        found.append(
            say(
                "Times are not rounded: ticks are as fine as their numbers, {}, and chance places {events} anywhere.",
                read.ticks.length(1),
            )
        )
    elif read.watch.stride > 1:
        found.append(
            say(
                "{Events} lie on multiples of {}, more coarsely than {alarms}, and chance keeps them on that grid.",
                read.ticks.length(read.watch.stride),
            )
        )
    return tuple(found)


# ---- many tolerances and lags on two lists of times: every cell


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CoincidenceSweep(Sweep):
    """Every tolerance and lag on two lists of times: a `Sweep` whose rows are windows, with one column.

    Attributes
    ----------
    tolerances : tuple of D Tolerance
        The windows: each tolerance moved by each lag, the lags of the first tolerance first.
    widths, lags : tuples of D str
        What each window was made from.
    moves : tuple of D numbers
        The lags as numbers: nanoseconds for dates, else the unit of the times.
    precision_hits, recall_hits, precision, recall, f1 : arrays of shape (D, 1)
    occurrences : Occurrences
        The lists as they were read.

    See Also
    --------
    nofluke.sweep_tolerances : makes it.
    nofluke.Coincidence : one tolerance and lag.
    nofluke.Sweep : the same for labels on steps.
    nofluke.plot.lags : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> events = [12, 40, 71, 105, 160, 188]
    >>> swept = nf.sweep_tolerances(events, [t + 5 for t in events], tolerances=[1, 2], lags=[0, 5], span=(0, 220))
    >>> swept.recall_hits.ravel(), swept.lags
    (array([0, 6, 0, 6]), ('0', '5', '0', '5'))
    >>> swept.familywise(n_resamples=999, rng=1).best_f <= 0.05
    True
    """

    moves: tuple[int | float, ...] = field(repr=False)
    widths: tuple[str, ...]
    lags: tuple[str, ...]
    occurrences: Occurrences

    @property
    def n(self) -> int:
        """Ticks on which an event could have fallen."""
        return self.occurrences.watch.n

    def columns(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        """All cells in long form, one row a cell, by column name."""
        found = super().columns(familywise)
        found.pop("threshold")
        return {"tolerance": np.asarray(self.widths), "lag": np.asarray(self.lags), **_without(found, "tolerance")}

    def _record(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        return _without(super()._record(familywise), "higher_is", "count_alarms", "count_events")

    def table(self, familywise: FamilywiseTest | None = None) -> Table:
        """One row for each tolerance and lag."""
        rows = [(self.widths[d], self.lags[d], *self._scored(d, 0)) for d in range(len(self.tolerances))]
        read = self.occurrences
        events, alarms = plural(self.n_events, "event"), plural(len(read.alarms), "alarm")
        title = say("{}, {}; {}; {}", events, alarms, " to ".join(read.ends), plural(len(rows), "window"))
        told = Table(
            title=title,
            columns=("tolerance", "lag", "precision", "recall", "F1", *(f"p {side}" for side in self._tested)),
            rows=tuple(rows),
            notes=(*self._how(familywise), *noted(self.notes)),
        )
        return told.called(self.names)

    def _place(self, d: int, k: int) -> str:
        del k  # no thresholds: each window is a tolerance
        return f"tolerance {self.widths[d]} and lag {self.lags[d]}"

    def plot(self, ax: Any = None, *, chance: Any = "auto") -> Any:
        """Draw recall and precision with chance, by lag or, for one lag, by tolerance (matplotlib); return the Axes."""
        from nofluke.plot import lags as plot_lags

        return plot_lags(self, ax, chance=chance)

    def __repr__(self) -> str:
        at = int(np.nanargmax(self.f1)) if not np.isnan(self.f1).all() else None
        told = "F1 undefined"
        if at is not None:
            told = f"best F1 {show_share(float(self.f1[at, 0]))} at tolerance {self.widths[at]}, lag {self.lags[at]}"
        return f"<CoincidenceSweep of {plural(len(self.tolerances), 'window')}: {told}; null {self.null.text}>"


def _without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


@takes(AboutTimes, like="coincidence")
def sweep_tolerances(
    events: Any,
    alarms: Any,
    *,
    tolerances: Any,
    lags: Any = 0,
    null: Null = "auto",
    method: Method = "auto",
    n_resamples: int = 10_000,
    rng: Any = None,
    **about: Unpack[AboutTimes],
) -> CoincidenceSweep:
    """Two lists of times at many tolerances and lags, with the familywise test over them.

    If you try many windows and report the best one, the test must try as many: ``.familywise()`` compares the best
    window with the best that chance finds among the same ones.

    Parameters
    ----------
    events, alarms
        As for :func:`nofluke.coincidence`.
    <about>
    tolerances : a tolerance, or several
        Each as in that function.
    lags : a lag, or several, default 0
        By which each tolerance is moved; at most 10,000 windows in all.
    null : str, NullModel or callable
        "auto" looks at both lists, and at the widest window.
    method, n_resamples, rng
        As for :func:`nofluke.sweep`.

    Returns
    -------
    CoincidenceSweep

    See Also
    --------
    nofluke.coincidence : one tolerance and lag.
    nofluke.sweep : labels on a grid of steps.
    nofluke.plot.lags : draws the result.
    nofluke.CoincidenceSweep : the result.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing.

    Examples
    --------
    >>> import nofluke as nf
    >>> swept = nf.sweep_tolerances([10, 40, 70], [12, 42, 90], tolerances=[0, 2], lags=[0, 2], span=(0, 99))
    >>> swept.to_dict()["cells"]["recall_hits"]
    [0, 2, 2, 2]
    """
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    widths = as_tolerances(tolerances, tolerance_of_times)
    moves = _lags(lags)
    if len(widths) * len(moves) > MOST_VALUES:
        raise InputError(
            problem=f"{len(widths):,} tolerances at {len(moves):,} lags are {len(widths) * len(moves):,} windows, and "
            f"{MOST_VALUES:,} are the most",
            remedy="pass fewer of them, further apart",
        )
    windows = tuple(width.lagged(lag) for width in widths for lag in moves)
    read = read_times(events, alarms, tolerances=windows, **about)
    trial = trial_of(read, windows, "zero")
    widest = int(np.argmax([reach.early + reach.late for reach in trial.reaches]))
    choice = choose(null, trial.cell(widest, 0), LEVEL, doubt_of(read)).called(read.names)
    choice.check(method)
    choice.model.check(method, trial.cell(0, 0))
    choice.model.fits(trial.truth)
    return CoincidenceSweep(
        trial=trial,
        quantiles=None,
        settings=Settings(choice=choice, method=method, n_resamples=n_resamples, rng=rng),
        left_out=read.left_out,
        notes=read.names.all_said((*read.notes, *remarks(trial.cell(0, 0), read), *untold(choice), *choice.notes)),
        names=read.names,
        widths=tuple(_plain(width) for width in widths for _ in moves),
        lags=tuple(str(lag) for _ in widths for lag in moves),
        moves=tuple(width.moved_by(lag) for width in widths for lag in moves),
        occurrences=read,
    )


def _plain(width: Tolerance) -> str:
    told = width.plain()
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    return str(width) if isinstance(told, dict) else str(told)


def _lags(lags: Any) -> list[Any]:
    """One lag or many."""
    found = several(lags, "lags")
    if not found:
        raise InputError(argument="lags", value=lags, problem="is empty", remedy="pass at least one, such as 0")
    return found
