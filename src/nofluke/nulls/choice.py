"""Which null a trial is judged by, and why: the one that was requested, or the one that fits the data.

``null="auto"`` takes the first of `CANDIDATES` that keeps what is seen (`nofluke.nulls.seen`) and that the data allow.
A null that was insisted on is held against the same table.

The section "Which null to trust" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from nofluke import levels
from nofluke.errors import InputError, arg, joined, say
from nofluke.nulls import Null, as_null
from nofluke.nulls.base import EVERYTHING, METHODS, Kept, NullModel
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.local import LocalPermutation, LocalShift
from nofluke.nulls.periods import ALONE, CROSSED, GAPS, INCOMPLETE, UNITS, PeriodShuffle
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seen import SEASONS, SLOW_CHANGE, TOGETHER, Flat, Look, Season, Trait, tidy, traits_of, without
from nofluke.plain import check_word
from nofluke.series.names import NONE, Names
from nofluke.series.trial import Cell
from nofluke.text.tables import plural

FAR = 2.0**62  # steps beyond all series: tiny levels ask for more than floats hold
AUTO = "auto"
BY_AUTO = f" ({AUTO})"
UNTOLD = "these data cannot separate that from skill"

# ---- the nulls that keep what may be seen, those first that move events most freely


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """The null that fits the data, why, and whether it holds."""

    model: NullModel
    why: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A null with the settings that these data give it, None where they do not allow it; and how it keeps all.

    ``keeps`` is what it can keep at most: where more is seen, it is not even made.
    """

    made: Callable[[Look], NullModel | None]
    how: Callable[[Look], str]
    keeps: frozenset[Kept]


def _windows(look: Look) -> NullModel | None:
    """Events permuted within windows of time, if these are many."""
    return LocalPermutation(windows=look.windows) if look.windows >= levels.FEWEST_WINDOWS else None


def _phases(look: Look) -> NullModel | None:
    """Events permuted within the phases of a season; where rates change too, within many windows of time."""
    if look.season is None or (look.drifts and look.eras < levels.FEWEST_ERAS):
        return None
    return look.null_of(look.season, look.eras)


def _periods_needed(look: Look) -> int:
    """Whole periods that shifts need, for p to be clearly below the level."""
    return math.ceil(min(levels.SHIFTS_FOR_LEVEL / look.alpha, FAR))


def _whole_periods(look: Look, enough: float = 1.0) -> NullModel | None:
    """Shifts around the circle by whole periods; with days that differ by weekday, these are no periods."""
    steps = _steps_of(look.season)
    if steps is None or look.cell.n_steps / steps < enough * _periods_needed(look) or look.differ_by_weekday:
        return None
    return CircularShift(every=look.length(tidy(steps)))


def _exchanged(look: Look) -> NullModel | None:
    """Whole periods exchanged, if these are enough: within windows of time where one follows another."""
    null = look.exchanged
    return null if null is not None and _too_few(look, null) == "" else None


def _small_periods(look: Look) -> NullModel | None:
    """Small shifts by whole periods, if the rates change so slowly that enough of them are small."""
    steps, half = _steps_of(look.season), _periods_needed(look) / 2
    if steps is None or steps * half > look.cell.n_steps / (levels.WITHIN_CHANGE * look.drift.cycles):
        return None
    return LocalShift(reach=look.length(math.ceil(steps * half)), every=look.length(tidy(steps)))


def small_shifts(look: Look) -> NullModel | None:
    """Shifts that are long for the events and short for the change."""
    least, allowed = _reach(look)
    # perfect alarms shifted by less than this still find every event: such shifts must be clearly rarer than the level
    window = max(look.window, look.wide)
    wanted = max(
        math.ceil(min(max(levels.REACH_OF_WINDOW * window, levels.LEAST_WINDOW) / look.alpha, FAR)),
        levels.CLEAR_OF_RANGES * (look.events.longest + look.longest_alarm + window),
    )
    return LocalShift(reach=look.length(min(wanted, allowed))) if min(wanted, allowed) >= least else None


def _reach(look: Look) -> tuple[int, int]:
    """How far local shifts must reach for these events at least, and may for the change at most."""
    least = max(math.ceil(min(levels.REACH_FOR_LEVEL / look.alpha, FAR)), look.events.longest + look.window)
    return least, look.cell.n_steps // (levels.WITHIN_CHANGE * look.drift.cycles)


def _steps_of(season: Season | None) -> float | None:
    """After which everything comes back."""
    return None if season is None or season.beside is not None else season.steps


TOGETHER_KEPT: frozenset[Kept] = frozenset({"runs", "clusters"})  # by all shifts
CANDIDATES = (
    Candidate(_windows, lambda _: say("{events} are moved within windows of time"), frozenset({"drift"})),
    Candidate(
        _phases,
        lambda look: (
            say("{events} are moved within its phases{}", ", and within windows of time" if look.eras > 1 else "")
            if look.season is None or look.season.beside is None
            else say("{events} are moved within the phases of both")
        ),
        frozenset({"season", "drift"}),
    ),
    Candidate(lambda _: CircularShift(), lambda _: "shifting all of them together keeps that", TOGETHER_KEPT),
    Candidate(_whole_periods, lambda _: "shifts by whole periods keep both", TOGETHER_KEPT | {"season"}),
    Candidate(small_shifts, lambda _: "small shifts keep both", TOGETHER_KEPT | {"drift"}),
    Candidate(_small_periods, lambda _: "small shifts by whole periods keep both", EVERYTHING),
    Candidate(_exchanged, lambda look: f"exchanging {_in_words(look)} keeps both", EVERYTHING),
    Candidate(
        lambda look: _whole_periods(look, 0.5),
        lambda _: "shifts by whole periods keep both",
        TOGETHER_KEPT | {"season"},
    ),
)


def pick(look: Look) -> Pick:
    """The null that keeps what was seen, and why; where none does, a season that is not plain must be one of both."""
    found = _picked(look)
    if found.holds or look.season is None or look.season.pvalue <= levels.PLAIN:
        return found
    strict = _picked(look.strict())
    return strict if strict.holds else found


def _picked(look: Look) -> Pick:
    if look.cell.n_events == 0 or len(look.cell.alarms) == 0:
        return Pick(model=CircularShift(), why=say("There are no {events} or no {alarms} to look at."))
    if look.season is None and not look.drifts:  # then the alarms have no say in it
        return look.events.once("picked", lambda: _first_that_keeps(look))
    return _first_that_keeps(look)


def _first_that_keeps(look: Look) -> Pick:
    """The first candidate that keeps all traits."""
    traits = traits_of(look)
    if not traits:
        return Pick(
            model=Permutation(),
            why=say(
                "The {events} show no clusters, runs, season or slow change, so chance may place each one independently."
            ),
        )
    if look.entangled and look.season is not None:
        return _none(look, say("{}: {}, since {}.", look.season.seen, UNTOLD, _between_two(look)))
    wanted = {trait.kept for trait in traits}
    for candidate in CANDIDATES:
        model = candidate.made(look) if wanted <= candidate.keeps else None
        if model is not None and wanted <= model.keeps:
            return Pick(model=model, why=say("{}: {}.", _said(look, traits, model), candidate.how(look)))
    return _none(look, say("{}: {}, since {}.", _said(look, traits, None), UNTOLD, _obstacle(look)))


def _said(look: Look, traits: tuple[Trait, ...], model: NullModel | None) -> str:
    """What was seen, as the beginning of a sentence."""
    first, *others = traits
    rest = [trait.beside(look) for trait in reversed(others)]
    moves_all = model is None or isinstance(model, LocalShift)
    if first is SLOW_CHANGE and not rest and moves_all:  # why events were not moved within windows
        rest = ["the tolerance is long"]
    return say("{}, and {}", first.seen(look), joined(" and ", rest)) if rest else first.seen(look)


def _obstacle(look: Look) -> str:
    """Why no null holds, and what would help."""
    if look.season is not None:
        null = look.exchanged
        if null is not None:
            if "drift" not in null.keeps and look.drifts:
                return "there are too few periods to exchange them within windows of time; a longer series would help"
            return _too_few(look, null)
        return f"it takes shifts by whole periods, and {_periods_needed(look)} of these on a regular clock"
    least, allowed = map(look.told, _reach(look))
    return say(
        "shifts would have to be longer than {} for these {events} and shorter than {} for the change; a longer series or "
        "a shorter tolerance would help",
        least,
        allowed,
    )


def _between_two(look: Look) -> str:
    """Why nothing keeps two seasons."""
    if look.together:
        return say("no null keeps two seasons where {}", look.together)
    return say(
        "{:,} steps are too few to move {events} within the phases of both; a longer series would help",
        look.cell.n_steps,
    )


def _none(look: Look, why: str) -> Pick:
    """No null holds: the numbers are those of one that keeps the most."""
    model = look.null_of(look.season) if look.season is not None and not look.together else CircularShift()
    return Pick(model=model, why=why, holds=False)


# ---- whole periods that change places: in words, and why there are too few of them

HELPS = {
    GAPS: "data without gaps",
    CROSSED: "exchanging longer periods",
    INCOMPLETE: "a longer series",
    ALONE: "a longer series",
}
"""What helps where periods stay, by the reason."""

STAYS = {
    GAPS: "have gaps",
    CROSSED: say("have {an_event} across a border"),
    INCOMPLETE: "are incomplete",
    ALONE: say("have none with {events} to change places with"),
}
"""The same as the end of a sentence."""


def _in_words(look: Look) -> str:
    """What is exchanged, in words."""
    null = look.exchanged
    if null is None:
        return "whole periods"
    what = f"whole {null.period}s" if null.period in UNITS else "whole periods"
    of = (
        ""
        if null.cycle == 1
        else " of the same weekday"
        if null.cycle == levels.CYCLE
        else " of the same weekday of every other week"
        if null.cycle == 2 * levels.CYCLE and null.period == "day"
        else f" that lie a multiple of {null.cycle} apart"
    )
    return what + of + (" within windows of time" if null.windows > 1 else "")


def _too_few(look: Look, null: PeriodShuffle) -> str:
    """Why so few periods can be exchanged that nothing could be told; empty where they can."""
    try:
        found = null.exchange(look.cell.truth if look.sketch is None else look.sketch.truth)
    except InputError:
        return "there are more periods than can be looked at"
    what, n, needed = null.unit, found.n_eventful, levels.PERIODS_WITH_EVENTS
    if found.n_periods < needed:
        there = f"there {'is' if found.n_periods == 1 else 'are'} only {plural(found.n_periods, what)}"
        return say("{}, and {} would do if {} of them had {events}", there, _enough(needed, look.alpha), needed)
    if len(found.moved) < levels.MOVED * len(found.starts):
        worst = max(found.staying, key=lambda why: found.staying[why], default=INCOMPLETE)
        return say(
            "only {:,} of {} can change places, and {:,} of {} {}; {} would help",
            len(found.moved),
            plural(len(found.starts), "event"),
            found.staying.get(worst, 0),
            plural(found.n_periods, what),
            STAYS[worst],
            HELPS[worst],
        )
    if n < needed:
        told = "{events} lie in only {} that can change places with others, and {} are needed"
        return say(told, plural(n, what), needed)
    if found.log_arrangements < math.log(levels.ARRANGEMENTS_FOR_LEVEL / look.alpha):
        return say(
            "{}, {:,} of them with {events}, can be exchanged in too few ways for p to become small, and {:,} would do",
            plural(found.n_periods, what),
            n,
            found.n_periods - found.n_moving + _enough(n, look.alpha),
        )
    return ""


def _enough(eventful: int, alpha: float) -> int:
    """How many periods have enough orders for the level, if so many of them have events."""
    wanted = min(levels.ARRANGEMENTS_FOR_LEVEL / alpha, sys.float_info.max)
    too_few, enough = eventful - 1, eventful
    while math.perm(enough, eventful) < wanted:
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if math.perm(middle, eventful) >= wanted else (middle, enough)
    return enough


# ---- doubts about a null that was insisted on: what it does not keep, where the data plainly have it

DOUBTED: tuple[Trait, ...] = (TOGETHER, SEASONS, SLOW_CHANGE)  # in this order


def doubts(model: NullModel, *cells: Cell) -> tuple[str, ...]:
    """What the data say against this null, each in a sentence with the remedy; nothing if all is well.

    Of several cells, such as those of a detector at several thresholds, each kind of doubt is said of the first.
    """
    found: dict[object, str] = {}
    for cell in cells:
        look = Look.of(cell, 0.05)
        here: dict[object, str] = {
            trait: trait.doubt(model, look) for trait in DOUBTED if trait.kept not in model.keeps
        }
        here["cell"] = model.doubt(cell)
        if not any(here.values()):
            here = {AUTO: _about_auto(model, look)}
        found = {kind: said for kind, said in here.items() if said} | found
    return tuple(found[kind] for kind in (*DOUBTED, "cell", AUTO) if kind in found)


def _about_auto(model: NullModel, look: Look) -> str:
    """What a null that moves events together does not keep, where auto says that none holds."""
    if "runs" not in model.keeps or look.cell.n_steps > levels.SEARCHED_UNASKED:
        return ""
    found = pick(look)
    slow = (trait.kept for trait in traits_of(look) if trait is not TOGETHER)
    if found.holds or set(slow) <= model.keeps:
        return ""
    return say('With {} the answer is "cannot tell". {}', arg("null", "auto"), found.why)


# ---- the choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The null of a result, and how it came to be.

    Attributes
    ----------
    model : NullModel
        The null that is used.
    asked : str
        "auto", or the text of the null that the caller named.
    why : str
        Why auto took this null, in one sentence; empty where it was asked for.
    holds : bool
        False where auto found no null that holds for these data; ``why`` then says why.
    doubts : tuple of str
        What the data say against a null that the caller insisted on.
    in_time : bool
        Whether events have times of their own, and no steps.
    assumes : str
        What it takes for granted, where that is not as the model says it.
    remark : str
        What of these data it leaves as it is.

    Examples
    --------
    >>> import nofluke as nf
    >>> nf.evaluate([0, 1, 0, 0], predictions=[0, 1, 0, 0]).settings.choice.label
    'circular-shift (auto)'
    """

    model: NullModel
    asked: str
    why: str
    holds: bool = True
    doubts: tuple[str, ...] = ()
    in_time: bool = False
    assumes: str = ""
    remark: str = ""

    @property
    def assumption(self) -> str:
        """What the null assumes, in ticks and units of time where there are no steps."""
        return self.assumes or self.model.assumed(in_time=self.in_time)

    @property
    def is_auto(self) -> bool:
        """Whether the data chose it."""
        return self.asked == AUTO

    @property
    def label(self) -> str:
        """The null as ``null=`` takes it, and whether it was chosen by auto."""
        return f"{self.model.text}{BY_AUTO}" if self.is_auto else self.model.text

    @property
    def obstacle(self) -> str:
        """Why nothing can be told, where no null holds; else empty."""
        return "" if self.holds else self.why or "No null holds for these data."

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its p-values should know: the doubts, and what is always to be said of this null."""
        return (*self.doubts, *filter(None, [self.model.caveat, self.remark]))

    def in_words(self) -> str:
        """Which null, why, and what it assumes; the verdict says why none holds."""
        return say("Null: {}", self.described)

    @property
    def described(self) -> str:
        """The same where it is clear that it is the null."""
        why = self.why if self.holds else "It does not hold here."
        return joined(" ", filter(None, [f"{self.label}.", why, self.assumption]))

    def check(self, method: object) -> None:
        """Refuse a method that the chosen null does not have; with auto, the remedy is to name the null that has it."""
        check_word(method, "method", METHODS)
        if method not in self.model.methods and self.is_auto:
            raise InputError(
                argument="method",
                value=method,
                problem=f"is not available for the null {self.model.text}, which auto chose for these data",
                remedy=say("pass {}, or {}", arg("null", "permutation"), arg("method", "auto")),
            )
        self.model.check(method)

    def called(self, names: Names) -> Choice:
        """The same, told in the names that events and alarms have."""
        if names == NONE:
            return self
        return replace(
            self,
            why=names.said(self.why),
            doubts=names.all_said(self.doubts),
            assumes=names.said(self.assumption),
            remark=names.said(self.remark),
        )

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain values, for JSON; the doubts are next to the verdict."""
        return {
            "asked": self.asked,
            "name": self.model.name,
            "text": self.model.text,
            "why": self.why,
            "assumption": self.assumption,
            "holds": self.holds,
        }


def unlabelled(label: str) -> str:
    """The null that a label is of.

    >>> unlabelled("circular-shift (auto)")
    'circular-shift'
    """
    return label.removesuffix(BY_AUTO)


def choose(null: Null, cell: Cell, alpha: float, doubt: str = "") -> Choice:
    """The null that the caller named, with what speaks against it; for "auto" the one that fits the data, and why.

    ``doubt`` is what speaks against any null of this trial.
    """
    in_time, flat = cell.in_time, Flat.of(cell.scores, cell.alarm_flags, cell.truth)
    if flat is not None and flat.avoided:
        doubt = doubt or flat.seen
    if isinstance(null, str) and null.strip() == AUTO:
        found = pick(Look.of(cell if flat is None else without(cell, flat.steps), alpha))
        if doubt:
            return Choice(model=found.model, asked=AUTO, why=doubt, holds=False, in_time=in_time)
        remark = found.model.remark(cell.truth) if found.holds else ""
        remark = joined(" ", filter(None, [remark, "" if flat is None else flat.seen]))
        return Choice(model=found.model, asked=AUTO, why=found.why, holds=found.holds, in_time=in_time, remark=remark)
    model = as_null(null) if in_time else as_null(null).on_steps
    model.check(model.methods[0], cell)
    return Choice(
        model=model,
        asked=model.text,
        why="",
        doubts=(*filter(None, [doubt]), *doubts(model, cell)),
        in_time=in_time,
        remark=model.remark(cell.truth),
    )
