"""Evaluate a detector at one threshold: count, compare with chance, remark on what is degenerate, and tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack

import numpy as np

from nofluke.arrays import ByValue
from nofluke.errors import THINGS, InputError, arg, capitalised, false_alarms, joined, say, spoken
from nofluke.inference.chance import Alternative, ChanceTest, FTest, Ties, check_alternative, f_test
from nofluke.inference.interval import Interval, Intervals, intervals_of
from nofluke.inference.needed import Needed, needed, present_of
from nofluke.inference.power import Plan, SampleSize, as_measure, as_power, events_for, search
from nofluke.inference.verdict import Ruling, Verdict, floor_above, headline, obstacle_of, rule
from nofluke.lazy import lazy
from nofluke.measures.confusion import MEASURES, Confusion, both_matrices, check_zero_division, named_measure
from nofluke.measures.delays import Delays, FalseAlarms
from nofluke.measures.episodes import units_of
from nofluke.measures.statistics import point_statistic
from nofluke.nulls import Null
from nofluke.nulls.base import Method, NullModel, Nulls, Perfect, check_resamples
from nofluke.nulls.choice import Choice, choose
from nofluke.nulls.evidence import adjacency, in_runs
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.placements import simulate
from nofluke.plain import as_rng, check_alpha, check_beta, check_word, exact_fraction, finite_or_none, several
from nofluke.ratios import TIE_SLACK, divide, f_beta
from nofluke.series.arguments import About, AboutDetector, takes
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import STEPS, AlarmRule, CountAlarms, Cuts, choose_cut
from nofluke.series.names import NONE, Names
from nofluke.series.reading import HigherIs, LeftOut, Sequence, prepare
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents, Truth
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_chance, show_p
from nofluke.text.tables import (
    ALL_EQUAL,
    SCHEMA,
    Table,
    by_column,
    noted,
    plural,
    show_number,
    show_share,
    there_are_no,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked about chance besides the null: the arguments of a call but the data, threshold and tolerance.

    ``rng`` is what was passed, if it can be passed again: a seed, or None.
    """

    method: Method = "auto"
    alternative: Alternative = "greater"
    ties: Ties = "full"
    n_resamples: int = 10_000
    rng: Any = field(default=None, compare=False)
    alpha: float = 0.05
    zero_division: float = math.nan
    alarms: AlarmRule = STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Asked):
    """With the null that was asked for: checked, and to be settled for a cell."""

    null: Null = "auto"

    def __post_init__(self) -> None:
        check_alternative(self.alternative, self.ties)
        plain = {
            "zero_division": check_zero_division(self.zero_division),
            "alpha": check_alpha(self.alpha),
            "n_resamples": check_resamples(self.n_resamples),
            "rng": as_rng(self.rng),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    def settled(self, cell: Cell, doubt: str = "", names: Names = NONE, seed: int | None = None) -> Settings:
        """With the null that is taken for a cell, told in some names; ``doubt`` is what speaks against any."""
        return self.under(choose(self.null, cell, self.alpha, doubt).called(names), seed)

    def under(self, choice: Choice, seed: int | None = None) -> Settings:
        """With a null that was chosen; and with a seed of its own, if there is one."""
        choice.check(self.method)
        return Settings(
            choice=choice,
            method=self.method,
            alternative=self.alternative,
            ties=self.ties,
            n_resamples=self.n_resamples,
            rng=self.rng if seed is None else seed,
            alpha=self.alpha,
            zero_division=self.zero_division,
            alarms=self.alarms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Asked):
    """What a result was asked for; ``choice`` is the null and why it is the one."""

    choice: Choice

    @property
    def null(self) -> NullModel:
        """What chance is taken to do."""
        return self.choice.model

    def laws(self, cell: Cell) -> Nulls:
        """What chance scores in a cell."""
        return self.choice.model.distributions(cell, self.method, n_resamples=self.n_resamples, rng=self.rng)

    def tests(self, cell: Cell, nulls: Nulls) -> tuple[ChanceTest, ChanceTest]:
        """Precision and recall of a cell against the laws of chance."""
        how: Any = {"model": self.choice.model.text, "alternative": self.alternative, "ties": self.ties}
        of = cell.n_predictions, cell.n_counted
        return (
            ChanceTest(measure="precision", hits=cell.precision_hits, of=of[0], law=nulls.precision, **how),
            ChanceTest(measure="recall", hits=cell.recall_hits, of=of[1], law=nulls.recall, **how),
        )


# ---- remarks on a result: label runs that could be ranges, events nothing can find

NO_EVENTS = there_are_no("events", "recall is undefined")


def offered_ranges(sequence: Sequence, truth: Truth, asked: CountEvents | None) -> tuple[str, ...]:
    """An offer to count ranges, if labels come in runs and the call does not say what to count."""
    if asked is not None or sequence.truth_as != "labels" or truth.n < 2 or truth.n == truth.n_steps:
        return ()
    following = int(np.count_nonzero(truth.starts[1:] - truth.starts[:-1] == 1))
    if 2 * following < truth.n:  # runs this short are none: spare the law
        return ()
    runs = adjacency(truth.starts, truth.n_steps)
    if not in_runs(runs):
        return ()
    return (
        say(
            "Labels come in {:,} run(s) of {:.3g} steps on average, and each step counts as {an_event}: pass {} to count each "
            "run once.",
            truth.n - following,
            runs.statistic,
            arg("count_events", "ranges"),
        ),
    )


def out_of_reach(cell: Cell) -> tuple[str, ...]:
    """Events whose window, off to one side, holds no step: it lies past a border or between two steps."""
    tolerance, windows = cell.trial.tolerances[cell.d], cell.trial.event_windows[cell.d]
    lost = int(np.count_nonzero(windows.stops == windows.starts))
    if not tolerance.aside or lost == 0:
        return ()
    return (
        say(
            "{:,} of {} cannot be found: no step that counts lies in {} window ({}).",
            lost,
            plural(cell.n_events, cell.truth.noun),
            "its" if lost == 1 else "their",
            tolerance.in_words(),
        ),
    )


def degenerate(
    n: int,
    n_events: int,
    labelled: int,
    alarms: int,
    *,
    near: tuple[int, int] | None,
    all_equal: bool,
    lost: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """What is degenerate. ``near`` counts the steps near an event and near a prediction; None at tolerance 0."""
    remarks = [ALL_EQUAL] if all_equal else []
    if alarms == 0:
        remarks.append(there_are_no("predictions", "precision is undefined"))
    elif alarms == n:
        remarks.append("Every step is predicted: recall says nothing about the detector.")
    if n_events == 0:
        remarks.append(NO_EVENTS)
    elif labelled == n:
        remarks.append(say("Every step is {an_event}: precision says nothing about the detector."))
    remarks.extend(lost)
    if near is not None:
        if 0 < alarms < n == near[1]:
            remarks.append(say("Every step is within the tolerance of {a_prediction}: any {event} would be found."))
        if n_events and labelled < n == near[0]:
            remarks.append(say("Every step is within the tolerance of {an_event}: any {prediction} would be a hit."))
    return tuple(remarks)


def untold(choice: Choice) -> tuple[str, ...]:
    """What is to be said of the p-values of many cells, where no null holds; one cell has a verdict that says it."""
    return () if choice.holds else (say("P-values prove nothing here, since no null holds. {}", choice.obstacle),)


def inverted(higher_is: HigherIs | None) -> str:
    """What to do about a detector that seems inverted; None where there are alarms and no scores."""
    remedy = say("{} with 1 for {an_alarm}", arg("predictions"))
    if higher_is is not None:
        remedy = arg("higher_is", "normal" if higher_is == "anomalous" else "anomalous")
    return say("as if the detector were inverted: if it is, pass {}", remedy)


TURNED = 0.01  # lower-tail p of both measures from which on a detector is taken to be turned round


def turned(precision: ChanceTest, recall: ChanceTest, remedy: Callable[[], str]) -> tuple[str, ...]:
    """A note where both hits are far fewer than chance's; recall is asked first, whose law costs next to nothing."""
    for test in (recall, precision):
        if test.excess >= 0 or test.pvalue_for("less") > TURNED:
            return ()
    return (turned_note(precision.pvalue_for("less"), recall.pvalue_for("less"), remedy()),)


def turned_note(precision: float, recall: float, remedy: str) -> str:
    """What is said of two lower tails that are far too small."""
    return say(
        "There are far fewer hits than chance would give ({} and {} for so few), {}.",
        p_is(precision),
        p_is(recall),
        remedy,
    )


# ---- numbers to put beside those of a result when it is shown: F1 against chance

F1 = Literal["auto", "test", "value"]
MOST_STEPS_WITH_F1 = 100_000  # up to here F1's p is shown unasked
MOST_SECONDS = 1.0  # that the permutation's p-values may take
FEW_RESAMPLES = 999  # for a null that is simulated and nothing else: what is shown takes a tenth of what was computed


def shown_f1(cell: Cell, settings: Settings, tests: tuple[ChanceTest, ChanceTest], f1: F1) -> FTest | None:
    """F1 against chance; None where it is not asked for, undefined, or has no law under this null.

    The same each time it is asked for: simulated with the seed of the result, else with 0.
    """
    if f1 == "value" or 0 in (cell.n_counted, cell.n_predictions):
        return None
    if f1 == "auto" and (cell.trial.size > MOST_STEPS_WITH_F1 or settings.alternative != "greater"):
        return None  # too long, or beside p-values of another alternative: F1's is always the upper one
    n_resamples = settings.n_resamples
    if f1 == "auto" and settings.null.is_drawn(settings.method):
        n_resamples = min(n_resamples, FEW_RESAMPLES)
    seeds = (test.how.seed for test in tests)
    seed = next((seed for seed in seeds if seed is not None), settings.rng if isinstance(settings.rng, int) else 0)
    value = f_beta(divide(cell.precision_hits, cell.n_predictions), divide(cell.recall_hits, cell.n_counted), 1.0)
    with suppress(InputError):  # of a null that has no joint law of both hits
        joint = settings.null.hurried().joint(cell, n_resamples=n_resamples, rng=seed)
        return f_test(value, joint, cell.n_predictions, cell.n_counted)
    return None


def permutation_would_say(cell: Cell, tests: tuple[ChanceTest, ChanceTest]) -> str:
    """Both p-values under the permutation, in a sentence, if they are quick and differ from those of the null used."""
    model = Permutation().hurried()
    if 0 in (cell.n_events, cell.n_predictions) or not cell.truth.points or model.text == tests[0].model:
        return ""
    if model.exact_seconds(cell) > MOST_SECONDS:
        return ""
    laws = model.distributions(cell)
    theirs = (
        ChanceTest(
            measure=test.measure,
            hits=test.hits,
            of=test.of,
            law=law,
            model=model.text,
            alternative=test.alternative,
            ties=test.ties,
        )
        for test, law in zip(tests, (laws.precision, laws.recall), strict=True)
    )
    said = [(p_is(test.pvalue, test.log10_pvalue), test.measure) for test in theirs]
    if [p for p, _ in said] == [p_is(test.pvalue, test.log10_pvalue) for test in tests]:
        return ""
    return "Permutation would say {} ({}) and {} ({}).".format(*said[0], *said[1])


# ---- a statistic beside precision and recall against chance, by simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticTest:
    """An observed statistic against what chance scores.

    Attributes
    ----------
    name, title : str
        As it is asked for, and in words.
    value : float
        NaN without events or alarms.
    pvalue : float
        (b + 1)/(n + 1), b the resamples that reach the value; 1 where it is undefined.
    expected, std : float
        Mean and standard deviation over the resamples in which it is defined.
    details : dict
        What else belongs to it: the delay behaviour of event synchronisation, precision, recall and F1 of a matching.
    null : str
    n_resamples : int
    seed : int or None
    """

    name: str
    title: str
    value: float
    pvalue: float
    expected: float
    std: float
    details: dict[str, float]
    null: str
    n_resamples: int
    seed: int | None

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value."""
        return math.sqrt(self.pvalue * (1 - self.pvalue) / self.n_resamples)

    def in_words(self) -> str:
        """The test as a sentence."""
        beside = "".join(f", {name} {show_number(value)}" for name, value in self.details.items())
        return (
            f"{self.title}: {show_number(self.value)}{beside}; chance gives {show_chance(self.expected, self.std)}; "
            f"{p_is(self.pvalue)} ({self.n_resamples:,} resamples, seed {self.seed})."
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as plain values, for JSON. Undefined values are None."""
        return {
            "value": finite_or_none(self.value),
            "pvalue": self.pvalue,
            "pvalue_error": self.pvalue_error,
            "expected": finite_or_none(self.expected),
            "std": finite_or_none(self.std),
            **{name: finite_or_none(value) for name, value in self.details.items()},
            "null": self.null,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }


def statistic_test(cell: Cell, null: NullModel, name: str, *, n_resamples: int, rng: Any) -> StatisticTest:
    """One statistic of a cell under a null."""
    statistic, trial = point_statistic(name), cell.alone()
    found = simulate(trial, statistic, null, n_resamples=n_resamples, rng=rng)
    values, value = found.values[:, 0, 0], float(found.observed[0, 0])
    defined = values[~np.isnan(values)]
    return StatisticTest(
        name=statistic.name,
        title=statistic.title,
        value=value,
        pvalue=float(found.pvalue[0, 0]),
        expected=float(defined.mean()) if len(defined) else math.nan,
        std=float(defined.std()) if len(defined) else math.nan,
        details={} if math.isnan(value) else statistic.details(trial.cell(0, 0), value),
        null=null.text,
        n_resamples=n_resamples,
        seed=found.method.seed,
    )


# ---- how many events an evaluation would have needed, at its coverage and steps per event

STATED = 0.5  # the recall that advice assumes, if none was stated


def events_needed(cell: Cell, test: ChanceTest, alpha: float, recall: float | Interval, power: float) -> SampleSize:
    """Events for a power, with as many steps for each event and as large a share of them near alarms as in a cell.

    Of an interval of recall it is the lower limit that counts.
    """
    notes = []
    if isinstance(recall, Interval):
        notes.append(f"The recall is the lower limit of the {100 * recall.level:.4g}% interval, not the observed one.")
        recall = _lower_limit(recall)
    recall, power = as_measure(recall, "recall"), as_power(power)
    found = _possible(cell, test, recall)
    if not cell.truth.points:
        notes.append(
            "Ranges are treated as events that chance finds equally often, as often as it finds these on average."
        )
    if test.model != "permutation":
        told = spoken("needed()", shell="nofluke power --like")
        notes.append(
            say(
                "Computed for events on random steps, with the coverage of {}; {} scales its own law.", test.model, told
            )
        )
    return events_for(recall, found, power, alpha, tuple(notes))


def _possible(cell: Cell, test: ChanceTest, recall: float) -> Plan:
    """What the alarms and events of a cell say of other events, where that is anything, and such a recall has room."""
    found = _plan(cell, test)
    if not 0 < found.coverage < 1:
        raise InputError(
            problem=f"{plural(test.of, 'event')} and {plural(cell.n_predictions, 'alarm')}, with {cell.covered:,} of "
            f"{plural(cell.n_steps, 'step')} near an alarm, say nothing about other events",
            remedy=say("call {} with a coverage", spoken("nf.sample_size", shell="nofluke power")),
        )
    if found.coverage * found.per_event <= recall:
        raise InputError(
            argument="recall",
            value=recall,
            problem=f"is more than these alarms can find, which cover {plural(cell.covered, 'step')} for "
            f"{plural(test.of, 'event')}",
            remedy="pass a smaller recall, or evaluate more alarms",
        )
    return found


def _lower_limit(recall: Interval) -> float:
    if not recall:
        raise InputError(
            problem=say("{} Pass {}, the recall that would be worth finding", recall.reason, arg("recall"))
        )
    if recall.low <= 0:
        raise InputError(
            problem="the interval of recall goes down to 0",
            remedy=say("pass {}, the recall that would be worth finding", arg("recall")),
        )
    return recall.low


def _plan(cell: Cell, test: ChanceTest) -> Plan:
    n_steps, n_events = max(cell.n_steps, 1), max(test.of, 1)
    coverage = Fraction(cell.covered, n_steps)
    if test.of and test.model != "permutation":  # busy hours count more, and so do long ranges
        coverage = exact_fraction(test.expected / test.of)
    return Plan(coverage=coverage if test.of else Fraction(0), steps=None, per_event=Fraction(n_steps, n_events))


def advice(cell: Cell, test: ChanceTest, alpha: float, power: float = 0.8) -> str:
    """How many events would be enough, in a sentence; nothing where no number is, or none more than there are."""
    try:
        needed = search(STATED, _possible(cell, test, STATED), power, alpha)[0]
    except InputError:  # such a recall, or any, is out of these alarms' reach
        return ""
    if needed is None or needed <= test.of:
        return ""
    return say(
        "With {alarms} and {events} as dense as these, it takes {} to tell a detector that finds half of them from chance "
        "with a power of {:g}.",
        plural(needed, "event"),
        power,
    )


# ---- what was counted, in plain words: how many predictions are near an event


def sentences_of(
    precision: ChanceTest,
    recall: ChanceTest,
    tolerance: Tolerance,
    noun: str,
    alarm: str = "prediction",
    *,
    in_time: bool = False,
) -> tuple[str, str]:
    """A sentence for each measure, with what chance does beside it; ``noun`` and ``alarm`` are what is counted."""
    ranges, any_alarm = noun == "range", say("{an_alarm}" if alarm == "alarm" else "{a_prediction}")
    told = tolerance.in_words()
    near: str
    if tolerance.zero:
        near = "in" if ranges else "at the time of" if in_time else "on the step of"
    elif tolerance.early == tolerance.late:
        near = say("within {} of", told)
    elif tolerance.side and not ranges:
        near = say("{} {}", tolerance.distance, "before" if tolerance.side == "early" else "after")
    else:
        near = say("near ({})", told)
    one = 1 in (recall.of, recall.hits)
    found = say("{} {} {}", "is" if one else "are", near, any_alarm)
    if tolerance.side and not ranges:  # the same, seen from the event
        found = say("{} {} {} {}", "has" if one else "have", any_alarm, near, "it" if one else "them")
    if ranges:
        where = "inside" if tolerance.zero else say("{} {}", near, "it" if one else "them")
        found = say("{} {} {}", "has" if one else "have", any_alarm, where)
    return (
        say(
            "{:,} of {} {} {} {}; {}.",
            precision.hits,
            plural(precision.of, alarm),
            "is" if 1 in (precision.of, precision.hits) else "are",
            near,
            say("{a_range}" if ranges else "{an_event}"),
            precision.in_words(),
        ),
        say("{:,} of {} {}; {}.", recall.hits, plural(recall.of, noun), found, recall.in_words()),
    )


# ---- measures of events and alarms, and those of the time that alarms cover

OF_BOTH: dict[str, Callable[[float, float], float]] = {
    "false_discovery_rate": lambda p, _: 1 - p,
    "miss_rate": lambda _, r: 1 - r,
    "g_measure": lambda p, r: math.sqrt(p * r),
    "jaccard": lambda p, r: 0.0 if p == r == 0 else divide(p * r, p + r - p * r),
    "frequency_bias": lambda p, r: divide(r, p),
}
"""From precision and recall, each with its own hits."""

OF_THE_NULL: dict[str, Callable[[float, float], float]] = {
    "time_in_warning": lambda _, covered: covered,
    "improvement_over_chance": lambda r, covered: r - covered,
    "lift": lambda r, covered: divide(r, covered),
}
"""From recall and what chance finds."""


# ---- the result of an evaluation: both measures, both matrices and both tests, and how they print themselves


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(Exports, ByValue):
    """Precision and recall within a tolerance, and what they were counted from.

    Attributes
    ----------
    precision_test, recall_test : ChanceTest
        What chance would have scored, and the p-value of the observed hits.
    settings : Settings
        The arguments of the call: choice of the null, method, alternative, ties, resamples, seed, alpha, zero_division.
        ``null`` and ``alpha`` are also attributes of the result itself.
    cell : Cell
        The trial that was judged, and where in it: what the null models are computed from.
    sequence : Sequence
        The data as they were read, aligned and checked.
    cuts : Cuts or None
        What the threshold comes from.

    See Also
    --------
    nofluke.evaluate : makes it.
    nofluke.Sweep : many thresholds and tolerances.
    nofluke.Coincidence : the same for two lists of times.
    nofluke.plot.evaluation : draws it.
    nofluke.plot.timeline : draws what was hit and missed.

    Examples
    --------
    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 1, 0], predictions=[0, 0, 1, 0, 1, 0, 0], tolerance=1)
    >>> result.precision, result.recall, result.f1
    (1.0, 1.0, 1.0)
    >>> result.tolerant_truth.tp, result.tolerant_truth.fn, result.verdict
    (2, 4, 'cannot tell')
    >>> print(result.reason)
    No outcome could have reached the 0.05 level: under the null circular-shift, the smallest possible p is 0.71 for
    precision and 0.43 for recall.
    """

    precision_test: ChanceTest
    recall_test: ChanceTest
    settings: Settings
    cell: Cell = field(repr=False, compare=False)
    sequence: Sequence = field(repr=False)
    cuts: Cuts | None = field(repr=False, default=None)

    @property
    def names(self) -> Names:
        """What events and alarms are called."""
        return self.sequence.names

    @property
    def n(self) -> int:
        """Steps that count."""
        return self.sequence.n

    @property
    def n_events(self) -> int:
        """Events on them."""
        return self.recall_test.of

    @property
    def n_predictions(self) -> int:
        """Predictions on them."""
        return self.precision_test.of

    @property
    def threshold(self) -> float | None:
        """The threshold τ of the scores, in their own numbers; infinite where a budget leaves no prediction."""
        return self.cell.threshold

    @property
    def quantile(self) -> float | None:
        """The quantile that the threshold comes from, if it does."""
        return None if self.cuts is None else self.cuts.quantile

    @property
    def budget(self) -> float | None:
        """The budget that the threshold comes from, if it does."""
        return None if self.cuts is None else self.cuts.budget

    @property
    def tolerance(self) -> Tolerance:
        """How early or late a prediction may be."""
        return self.cell.trial.tolerances[self.cell.d]

    @property
    def tolerant_truth(self) -> Confusion | None:
        """The confusion matrix of precision, of steps; None where alarms count as episodes."""
        return self._matrices[0]

    @property
    def tolerant_predictions(self) -> Confusion | None:
        """The confusion matrix of recall, of steps; None where events are ranges."""
        return self._matrices[1]

    @lazy
    def _matrices(self) -> tuple[Confusion | None, Confusion | None]:
        cell = self.cell
        return (None, None) if cell.in_time else both_matrices(cell.trial, cell.d, cell.k)

    @lazy
    def delays(self) -> Delays:
        """Distance from each event to its nearest prediction; from a range's start to the first one that finds it."""
        timing, counts = self.cell.timing, self.cell.counts
        values = self.cell.delays()[counts] / timing.per_unit
        return Delays(values=values, found=self.cell.found[counts], unit=timing.unit, step=timing.step)

    @lazy
    def resets(self) -> Delays:
        """Time from the end of each event that was found to the end of the last alarm that finds it.

        The end of an alarm is that of the run of predicted steps; NaN for events that were missed.
        """
        timing, counts = self.cell.timing, self.cell.counts
        values = self.cell.resets()[counts] / timing.per_unit
        return Delays(values=values, found=self.cell.found[counts], unit=timing.unit, step=timing.step)

    @lazy
    def false_alarms(self) -> FalseAlarms:
        """Predictions without an event, over the time watched."""
        timing = self.cell.timing
        return FalseAlarms(count=self.n_predictions - self.precision_hits, duration=self._watched(), unit=timing.unit)

    def _watched(self) -> float:
        clock = self.sequence.clock
        if not self.cell.in_time or clock is None:
            return self.cell.timing.watched
        return clock.lasting(self.sequence.open_steps) / (1e9 if clock.is_dates else 1)  # of gaps, only events may know

    @property
    def left_out(self) -> LeftOut:
        """Steps and events left out because they were missing, masked or part of the warm-up."""
        return self.sequence.left_out

    @lazy
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: undefined values, what was left out or merged, and why the null is doubtful."""
        return self.names.all_said((*self.sequence.notes, *self._remarks(), *self.settings.choice.notes))

    def _remarks(self) -> tuple[str, ...]:
        scores = None if self.sequence.scores is None else self.sequence.higher_is
        return (
            *(() if self.cuts is None else self.cuts.notes),
            *remarks(self.cell),
            *turned(*self._tests, lambda: inverted(scores)),
        )

    @property
    def null(self) -> NullModel:
        """What chance is assumed to do."""
        return self.settings.null

    @property
    def alpha(self) -> float:
        """The level of the verdict."""
        return self.settings.alpha

    @property
    def count_events(self) -> CountEvents:
        """What an event is: a step, or a range."""
        return self.cell.truth.count_events

    @property
    def count_alarms(self) -> CountAlarms:
        """What a prediction is: a predicted step, or an episode of them."""
        return self.settings.alarms.count

    @property
    def precision_hits(self) -> int:
        """PA-AAδ: predictions with an event within the tolerance."""
        return self.precision_test.hits

    @property
    def recall_hits(self) -> int:
        """PAδ-AA: events with a prediction within the tolerance."""
        return self.recall_test.hits

    @property
    def precision(self) -> float:
        """P_δ, the share of predictions with an event within the tolerance."""
        return self._defined(divide(self.precision_hits, self.n_predictions))

    @property
    def recall(self) -> float:
        """R_δ, the share of events with a prediction within the tolerance."""
        return self._defined(divide(self.recall_hits, self.n_events))

    @property
    def f1(self) -> float:
        """Harmonic mean of P_δ and R_δ."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> float:
        """F_β = (1 + β²) P_δ R_δ / (β² P_δ + R_δ); 0 where both are 0."""
        return self._defined(f_beta(self.precision, self.recall, check_beta(beta)))

    def _defined(self, value: float) -> float:
        return float(self.settings.zero_division) if math.isnan(value) else value

    @property
    def coverage(self) -> float:
        """The share of events that chance finds, as the null measures it: what `nofluke.power` asks for.

        For events on random steps the share of steps near an alarm; that share too where there are no events.
        """
        if self.n_events:
            return self.recall_test.expected / self.n_events
        return divide(self.cell.covered, self.cell.n_steps)

    def measure(self, name: str) -> float:
        """A measure by the name that any field has for it, such as "pod", "far", "csi" or "time_in_warning".

        Without tolerance and with steps counted, that of the confusion matrix. Otherwise events and alarms are counted,
        and a measure is made from P_δ and R_δ, as in weather warnings: CSI = 1 / (1/P + 1/R - 1), frequency bias = R /
        P. Time in warning is `coverage`, as the null measures it, improvement over chance R less that, and probability
        gain R over it. Those that need true negatives exist for steps without tolerance only.

        Parameters
        ----------
        name : str
            One of `Confusion.measures`, or another name for it: see the table of names in the reference of measures.

        Returns
        -------
        float
            ``zero_division`` where it is undefined: without alarms, without events, or where a denominator is 0.

        References
        ----------
        Brooks (2004), Tornado-warning performance in the past and future, for POD, FAR and CSI of events and warnings.
        Molchan (1991) and Aki (1981) for probability gain, Snyder et al. (2008) for improvement over chance.

        Examples
        --------
        >>> import nofluke as nf
        >>> result = nf.evaluate([0, 1, 0, 0, 0, 1, 0, 0], predictions=[0, 0, 1, 0, 0, 0, 0, 1], tolerance=1)
        >>> result.measure("pod"), result.measure("far"), round(result.measure("csi"), 3)
        (0.5, 0.5, 0.333)
        >>> result.measure("time_in_warning"), result.measure("probability_gain")
        (0.625, 0.8)
        """
        measure = named_measure(name)
        own = next(known for known, one in MEASURES.items() if one is measure)
        if own in ("precision", "recall", "f1"):
            return float(getattr(self, own))
        p, r, matrix = self.precision_test.value, self.recall_test.value, self.tolerant_truth
        if own in OF_THE_NULL:
            value = OF_THE_NULL[own](r, self.coverage)
        elif matrix is not None and matrix.tolerance_in == "neither" and self.cell.truth.points:
            value = measure.of(matrix)
        elif own in OF_BOTH:
            value = OF_BOTH[own](p, r)
        else:
            raise InputError(
                argument="name",
                value=name,
                problem="is made from counts of steps, true negatives among them, which only a matrix without tolerance has",
                remedy="count steps with tolerance 0, or ask a matrix, such as result.tolerant_truth.measure(name)",
            )
        return self._defined(value)

    def interval(self, level: float = 0.95) -> Intervals:
        """Where precision, recall and F1 may lie in the long run, each at the level.

        Episodes, chains of events and predictions that are near each other, are treated as independent. There is no
        interval, but a reason, where fewer than ten of them hold predictions (precision), events (recall), or one of
        the two (F1), or where a few of them hold nearly all.

        References
        ----------
        Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data.

        Examples
        --------
        >>> import nofluke as nf
        >>> events = [20 * i for i in range(50)]
        >>> alarms = [at + 1 for at in events if at % 60]
        >>> found = nf.coincidence(events, alarms, tolerance=2, span=(0, 999)).interval()
        >>> print(found.recall)
        0.511 to 0.789
        >>> found.recall.n_units, found.recall.method
        (50, 'korn-graubard')
        """
        alarms, events = (say("{}", THINGS[f"{noun}s"]) for noun in (self.alarm_noun, self.cell.truth.noun))
        nouns = self.names.said(alarms), self.names.said(events)
        return intervals_of(units_of((self.cell,))[0], level, nouns=nouns)

    @lazy
    def _intervals(self) -> Intervals:
        """Those that are shown."""
        return self.interval()

    def f_test(self, beta: float = 1.0, *, n_resamples: int = 10_000, rng: Any = None) -> FTest:
        """F_β against chance, from the joint distribution of both hits: exact where affordable, else simulated."""
        beta, n_resamples, rng = check_beta(beta), check_resamples(n_resamples), as_rng(rng)
        observed = f_beta(
            divide(self.precision_hits, self.n_predictions), divide(self.recall_hits, self.n_events), beta
        )
        joint = self.null.joint(self.cell, n_resamples=n_resamples, rng=rng)
        return f_test(observed, joint, self.n_predictions, self.n_events, beta)

    def statistic_test(self, name: str, *, n_resamples: int | None = None, rng: Any = None) -> StatisticTest:
        """A statistic of points beside precision and recall, against the same null, by simulation.

        Parameters
        ----------
        name : {"sttc", "event-synchronisation", "matching"}
            The spike time tiling coefficient within the tolerance, event synchronisation with its adaptive window, or
            the largest one-to-one matching of events and alarms within the tolerance.
        n_resamples, rng
            Those of the result, unless others are given.

        Examples
        --------
        >>> import nofluke as nf
        >>> found = nf.coincidence([10, 40, 70, 90], [11, 12, 41, 60], tolerance=2, span=(0, 99), rng=1)
        >>> test = found.statistic_test("matching", n_resamples=999)
        >>> test.value, test.details["precision"]  # one of the alarms at 11 and 12 is too many
        (2.0, 0.5)
        """
        many = self.settings.n_resamples if n_resamples is None else check_resamples(n_resamples)
        seed = self.settings.rng if rng is None else as_rng(rng)
        return statistic_test(self.cell, self.null, name, n_resamples=many, rng=seed)

    def _statistics(self, names: Iterable[str]) -> tuple[StatisticTest, ...]:
        """Tests to show: the same each time, with the seed of the result, else with 0."""
        seed = self.settings.rng if isinstance(self.settings.rng, int) else 0
        return tuple(self.statistic_test(name, rng=seed) for name in several(names, "statistics"))

    @lazy
    def ruling(self) -> Ruling:
        """The verdict with its reason, and which measures it rests on."""
        obstacle = obstacle_of(self.cell, self.settings.choice)
        told = self.sequence.names.said(obstacle)
        return rule(self._tests, self.settings.alpha, told, lambda: self._of_perfect_alarms)

    def floor_above(self, measure: str, alpha: float) -> float | None:
        """The smallest p-value that can come out for a measure, where it is above alpha; None where it is not."""
        check_word(measure, "measure", ("precision", "recall"))
        test = self.precision_test if measure == "precision" else self.recall_test
        return floor_above(test, check_alpha(alpha), lambda: self._of_perfect_alarms)

    @lazy
    def _of_perfect_alarms(self) -> Perfect:
        return Perfect(self.null, self.cell)

    @property
    def verdict(self) -> Verdict:
        """ "yes" if both measures beat chance at level alpha, "partly" if one does at alpha/2, "no" or "cannot tell".

        It uses upper p-values whatever the alternative is, and one measure alone at alpha where no outcome of the other
        could have reached it.
        """
        return self.ruling.verdict

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in words."""
        return self.ruling.reason

    @lazy
    def advice(self) -> str:
        """How many events would be enough, if no outcome could have been significant; else empty."""
        if self.verdict != "cannot tell" or self.ruling.obstacle:
            return ""
        return self.names.said(advice(self.cell, self.recall_test, self.alpha))

    def events_needed(self, recall: float | None = None, *, power: float = 0.8) -> SampleSize:
        """How many events it takes to tell a detector from chance, with alarms and events as dense as here.

        As `nofluke.sample_size`, with the steps per event, the share of steps near an alarm and the level of this
        result.

        Parameters
        ----------
        recall : float, optional
            The recall that would be worth finding. By default the lower limit of the 95% interval of recall: never the
            observed recall, with which one gets "observed power", a function of the p-value.
        power : float
            The probability of a significant recall.

        Examples
        --------
        >>> import nofluke as nf
        >>> truth, alarms = [0] * 100, [0, 0, 0, 0, 1] * 20
        >>> truth[4] = truth[50] = 1
        >>> nf.evaluate(truth, predictions=alarms, null="permutation").events_needed(recall=0.6).n_events
        10
        """
        least = self.interval().recall if recall is None else recall
        return events_needed(self.cell, self.recall_test, self.alpha, least, power)

    @lazy
    def hits_correlation(self) -> float:
        """How far hits of precision and of recall above chance's go together, from episode to episode.

        The correlation of h - a P₀ and f - e R₀ over episodes with a alarms, h of them hits, and e events, f of them
        found, where P₀ and R₀ are what chance has; NaN where one of them shows no variation.
        """
        alarms, hits, events, found = units_of((self.cell,))[0].astype(np.float64).T
        above = (
            hits - alarms * divide(self.precision_test.expected, self.n_predictions),
            found - events * divide(self.recall_test.expected, self.n_events),
        )
        x, y = (one - one.mean() if len(one) else one for one in above)
        found = divide(float(x @ y), math.sqrt(float(x @ x) * float(y @ y)))
        # 1 but for rounding, which depends on the machine
        return math.copysign(1.0, found) if abs(found) > 1 - TIE_SLACK else found

    def needed(self, *, power: float = 0.8, recall: float | None = None, precision: float | None = None) -> Needed:
        """How many more events, and how much more time, it takes to tell this detector from chance.

        If the series goes on at present rates, with as many events and alarms in every year, under the null of this
        result: for recall's p and for the verdict, at the estimates and at the lower limits of their 95% intervals.

        Parameters
        ----------
        power : float
            The probability of a significant recall, or of the verdict.
        recall, precision : float, optional
            What the detector truly has, instead of estimates and limits; if only one is stated, the other is estimated.

        Returns
        -------
        Needed
            An answer has no number, but a reason, where a measure is not above chance's, or has no interval.

        See Also
        --------
        nofluke.Evaluation.events_needed : for recall alone and events on random steps, exactly.
        nofluke.compare : has the same for a difference.

        Notes
        -----
        Hits of chance and of the detector are taken for binomial with as many trials as have their variances, both of
        which grow with the length: those of chance by the null's law, those of the detector by the interval's
        effective size. That the series is the same length as now, or shorter, answers "was it enough?".

        Examples
        --------
        >>> import nofluke as nf
        >>> events, alarms = [13, 222, 471, 788, 900], [15, 140, 330, 475, 610, 745, 902]
        >>> found = nf.coincidence(events, alarms, tolerance=9, span=(0, 999), null="permutation")
        >>> found.needed(recall=0.4).answers[0].n_events
        22
        """
        return needed(present_of(self.to_dict()), power, recall, precision)

    @property
    def _tests(self) -> tuple[ChanceTest, ChanceTest]:
        return self.precision_test, self.recall_test

    def verdict_in_words(self) -> str:
        """The verdict and its reason; the first words say if the data contradict the requested null."""
        return self.names.said(joined(" ", [headline(self.verdict, self.settings.choice), self.reason]))

    def _f1_test(self, f1: F1) -> FTest | None:
        check_word(f1, "f1", ("auto", "test", "value"))
        return self._f1_unasked if f1 == "auto" else shown_f1(self.cell, self.settings, self._tests, f1)

    @lazy
    def _f1_unasked(self) -> FTest | None:
        return shown_f1(self.cell, self.settings, self._tests, "auto")

    @lazy
    def _permutation_would_say(self) -> str:
        return permutation_would_say(self.cell, self._tests)

    def _record(self, *, f1: F1 = "value", statistics: Iterable[str] = ()) -> dict[str, Any]:
        f1_test, choice = self._f1_test(f1), self.settings.choice
        return {
            "schema": SCHEMA,
            "n": self.n,
            "n_events": self.n_events,
            "count_events": self.count_events,
            "n_predictions": self.n_predictions,
            "threshold": finite_or_none(self.threshold),
            "quantile": self.quantile,
            "budget": self.budget,
            "higher_is": self.sequence.higher_is,
            "count_alarms": self.count_alarms,
            "refractory": None if self.settings.alarms.refractory is None else self.settings.alarms.refractory.plain(),
            "tolerance": self.tolerance.plain(),
            "coverage": finite_or_none(self.coverage),
            "hits_correlation": finite_or_none(self.hits_correlation),
            "watched": {"value": self.false_alarms.duration, "unit": self.false_alarms.unit},
            "precision": {
                "value": finite_or_none(self.precision),
                "hits": self.precision_hits,
                "of": self.n_predictions,
                **self.precision_test.to_dict(),
            },
            "recall": {
                "value": finite_or_none(self.recall),
                "hits": self.recall_hits,
                "of": self.n_events,
                **self.recall_test.to_dict(),
            },
            "f1": finite_or_none(self.f1),
            "intervals": self._intervals.to_dict(),
            **({} if f1_test is None else {"f1_test": f1_test.to_dict()}),
            **(
                {"statistics": {test.name: test.to_dict() for test in asked}}
                if (asked := self._statistics(statistics))
                else {}
            ),
            "verdict": self.verdict,
            "reason": self.reason,
            "null": choice.to_dict(),
            "doubts": list(choice.doubts),
            "alpha": self.alpha,
            "tolerant_truth": None if self.tolerant_truth is None else self.tolerant_truth.to_dict(),
            "tolerant_predictions": None if self.tolerant_predictions is None else self.tolerant_predictions.to_dict(),
            "false_alarms": self.false_alarms.to_dict(),
            "delay": self.delays.to_dict(),
            **({"reset": self.resets.to_dict()} if self.names.reset else {}),
            "left_out": self.left_out.to_dict(),
            "notes": list(self.notes),
        }

    def called(self, measure: str) -> str:
        """What precision or recall is called in tables and figures."""
        return measure

    @property
    def alarm_noun(self) -> str:
        """What a prediction is called."""
        return "prediction" if self.count_alarms == "steps" else "alarm episode"

    def sentences(self) -> tuple[str, ...]:
        """The result in plain words."""
        tests, nouns = (self.precision_test, self.recall_test), (self.cell.truth.noun, self.alarm_noun)
        told = sentences_of(*tests, self.tolerance, *nouns, in_time=self.settings.choice.in_time)
        return self.names.all_said(told)

    def table(self, *, f1: F1 = "auto", statistics: Iterable[str] = ()) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML.

        F1 is tested for up to 100,000 steps; beyond, only with ``f1="test"``; never with ``f1="value"``, which is what
        JSON, CSV and data frames have unless asked. ``statistics`` are names of `statistic_test`, shown below it.
        """
        f1_test = self._f1_test(f1)
        tested = ("", "") if f1_test is None else (show_chance(f1_test.expected, f1_test.std), show_p(f1_test.pvalue))
        would = self._permutation_would_say
        intervals = self._intervals
        shown = tuple((str(own),) if any(intervals) else () for own in intervals)
        rows = tuple(
            (
                self.called(test.measure),
                show_share(value),
                *own,
                f"{test.hits:,}",
                f"{test.of:,}",
                show_chance(test.expected, test.std),
                show_p(test.pvalue, test.log10_pvalue),
            )
            for test, value, own in zip(self._tests, (self.precision, self.recall), shown, strict=False)
        )
        told = Table(
            title=self._title(),
            columns=("", "value", *([intervals.heading] if any(intervals) else []), "hits", "of", "chance", "p"),
            rows=(*rows, ("F1", show_share(self.f1), *shown[-1], "", "", *tested)),
            verdict=self.verdict,
            notes=(
                self.verdict_in_words(),
                *([self.advice] if self.advice else []),
                *self.sentences(),
                *(test.in_words() for test in self._statistics(statistics)),
                self._in_time(),
                say(
                    "Coverage: chance finds {} of the {}.",
                    show_share(self.coverage),
                    THINGS[f"{self.cell.truth.noun}s"],
                ),
                intervals.in_words(),
                self._how(f1_test),
                *([would] if would else []),
                *noted(self.notes),
            ),
        )
        return told.called(self.names)

    def _in_time(self) -> str:
        """How many false alarms there are in how much time, and how late the others come."""
        false, names = false_alarms(capital=True), self.names
        told = say("{}: {}. {}: {}.", false, self.false_alarms.in_words(), names.delayed, self.delays.in_words())
        return say("{} {}: {}.", told, capitalised(names.reset), self.resets.in_words()) if names.reset else told

    def _how(self, f1_test: FTest | None) -> str:
        """Which null, which method: the fine print of every result."""
        methods = {test.measure: test.method for test in self._tests}
        made, drawn = self.precision_test.how, ""
        if made.kind == "simulated":
            drawn = f" {made.n_resamples:,} resamples, seed {made.seed}."
        if f1_test is not None:
            methods["F1"] = f1_test.method
            if f1_test.n_resamples and f1_test.n_resamples != made.n_resamples:
                methods["F1"] += f" ({f1_test.n_resamples:,} resamples, seed {f1_test.seed})"
                drawn = drawn and f" Precision and recall:{drawn}"
        how = "; ".join(f"{measure} {method}" for measure, method in methods.items())
        return say("{} Method: {}.{}", self.settings.choice.in_words(), how, drawn)

    def _title(self) -> str:
        alarms = plural(self.n_predictions, self.alarm_noun)
        if self.threshold is not None:
            origin = "" if self.quantile is None else f", the {self.quantile:g} quantile"
            if self.budget is not None:
                origin = f", a budget of {100 * self.budget:g}%"
            alarms = say("{} ({}{})", alarms, self.sequence.cut_in_words(show_number(self.threshold)), origin)
        events = plural(self.n_events, self.cell.truth.noun)
        return say("{}, {}, {}; tolerance {}", plural(self.n, "step"), events, alarms, self.tolerance.in_words())

    def columns(self, *, f1: F1 = "value", statistics: Iterable[str] = ()) -> dict[str, list[Any]]:
        """A row for each measure, by column name; ``f1`` and ``statistics`` as in `table`."""
        t1, ends = self._f1_test(f1), [(own.low, own.high) for own in self._intervals]
        tested = (None,) * 6 if t1 is None else (t1.expected, t1.std, t1.pvalue, None, t1.method, self.null.text)
        rows: list[tuple[Any, ...]] = [
            (t.measure, value, t.hits, t.of, t.expected, t.std, t.pvalue, t.log10_pvalue, t.method, t.model, *own)
            for t, value, own in zip(self._tests, (self.precision, self.recall), ends, strict=False)
        ]
        rows.append(("f1", self.f1, None, None, *tested, *ends[-1]))
        for t in self._statistics(statistics):
            told = (t.expected, t.std, t.pvalue, None, "montecarlo", t.null)
            rows.append((t.name, t.value, None, None, *told, None, None))
        columns = ("measure", "value", "hits", "of", "expected", "std", "pvalue", "log10_pvalue", "method", "null")
        return by_column((*columns, "low", "high"), rows)

    def plot(self, ax: Any = None, *, compare_binomial: bool = True) -> Any:
        """Draw both null distributions with the observed hits (matplotlib); returns the two Axes."""
        from nofluke.plot import evaluation as plot_evaluation

        return plot_evaluation(self, ax, compare_binomial=compare_binomial)

    def plot_times(self, ax: Any = None) -> Any:
        """Draw what was found and missed, hit and false over time (matplotlib); returns the Axes."""
        from nofluke.plot import timeline

        return timeline(self, ax=ax)

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        metrics: Any = (),
    ) -> Path:
        """Write a page with sliders for threshold and tolerance, to open or send (needs jinja2). See `write_report`."""
        from nofluke.show.report import write_report

        return write_report(self, path, title=title, metrics=metrics)

    def __repr__(self) -> str:
        told = "; ".join(
            f"{test.measure} {show_share(value)} ({test.hits:,} of {test.of:,}), {p_is(test.pvalue, test.log10_pvalue)}"
            for test, value in zip(self._tests, (self.precision, self.recall), strict=True)
        )
        methods = "; ".join(f"{test.measure} {test.method}" for test in self._tests)
        return f"<{type(self).__name__}, tolerance {self.tolerance}: {told};\n null {self.null.text}: {methods}>"


# ---- evaluate a detector at one threshold: count, compare with chance, remark on what is degenerate


Result = TypeVar("Result", bound=Evaluation)


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
    window = as_tolerance(tolerance)
    given = About.of(about)
    sequence = prepare(truth, scores, **given.reading)
    cuts = choose_cut(sequence, **given.cut)
    question = Question(
        null=null,
        method=method,
        alternative=alternative,
        ties=ties,
        n_resamples=n_resamples,
        rng=rng,
        alpha=alpha,
        zero_division=zero_division,
        alarms=AlarmRule.of(**given.alarms),
    )
    made = trial_of(sequence, (window,), cuts, question.alarms)
    return evaluate_trial(made, sequence, cuts, question, about.get("count_events"))


def evaluate_trial(
    made: Made,
    sequence: Sequence,
    cuts: Cuts | None,
    question: Question,
    count_events: CountEvents | None,
    seed: int | None = None,
) -> Evaluation:
    """The evaluation of a trial of one cell; with a seed of its own, where several share a question."""
    cell = made.trial.cell(0, 0)
    settings = question.settled(cell, made.doubt, sequence.names, seed)
    more = (*made.notes, *offered_ranges(sequence, cell.truth, count_events))
    sequence = replace(sequence, notes=(*sequence.notes, *more)) if more else sequence
    return computed(result_of(Evaluation, cell, sequence, settings.laws(cell), settings, cuts=cuts))


def result_of(kind: type[Result], cell: Cell, sequence: Any, nulls: Nulls, settings: Settings, **more: Any) -> Result:
    """A result with both tests of a cell under the laws of a null."""
    precision, recall = settings.tests(cell, nulls)
    return kind(precision_test=precision, recall_test=recall, settings=settings, cell=cell, sequence=sequence, **more)


def computed(result: Result) -> Result:
    """With both p-values, so that what cannot be computed fails now, and the result says how it was computed."""
    for test in (result.precision_test, result.recall_test):
        _ = test.tail
    return result


def remarks(cell: Cell) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    n, trial, scores = cell.n_steps, cell.trial, cell.scores
    return degenerate(
        n,
        cell.n_events,
        cell.n_labelled,
        int(trial.n_alarm_steps[cell.k]),
        near=None
        if trial.tolerances[cell.d].zero
        else (int(trial.near_events[cell.d]), int(trial.near_predictions[cell.d, cell.k])),
        all_equal=scores is not None and n > 1 and scores[0] == scores[-1] and scores.min() == scores.max(),
        lost=out_of_reach(cell),
    )
