"""The verdict on a detector: yes, partly, no or cannot tell, and the reason in words.

The section "The verdict" of docs/explanation/theory.md has the rule, and how often it errs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nofluke.errors import THINGS, say
from nofluke.inference.chance import ChanceTest, significant
from nofluke.laws.law import Law
from nofluke.nulls.base import Perfect
from nofluke.nulls.choice import Choice
from nofluke.series.trial import Cell
from nofluke.text.numbers import p_is, show_p
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import there_are_no

Verdict = Literal["yes", "partly", "no", "cannot tell"]
NOTHING = (
    1e-9  # a tail that falls at once from above a level to this share of it is the end of the law, but for rounding
)
ALMOST = 1 - 1e-9  # the largest level there is


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict and what it rests on.

    Attributes
    ----------
    verdict : {"yes", "partly", "no", "cannot tell"}
    reason : str
        Why, in words.
    rests_on : tuple of str
        Which of "precision" and "recall" could have reached the level at all; none where nothing can be told.
    obstacle : str
        What keeps anything from being told, whatever the p-values; empty where nothing does.
    floors : dict of str to float
        The smallest p that can come out for measures that could not have reached the level.
    under : str
        The null that these belong to, in words.
    """

    verdict: Verdict
    reason: str
    rests_on: tuple[str, ...] = ()
    obstacle: str = ""
    floors: Mapping[str, float] = field(default_factory=dict)
    under: str = ""


def rule(tests: tuple[ChanceTest, ChanceTest], alpha: float, obstacle: str, perfect: Callable[[], Perfect]) -> Ruling:
    """Whether a detector is better than chance, by both p-values.

    Yes if both p ≤ α; partly if the smaller is at most α/2 (Hochberg). Where one measure has no outcome that reaches α,
    the other decides alone (Tarone). Cannot tell where neither has one, where there is an obstacle, or where perfect
    alarms would not have been better: ``perfect`` gives the p-values of these.
    """
    if obstacle:
        return Ruling(verdict="cannot tell", reason=obstacle, obstacle=obstacle)
    known = {test.measure: test for test in tests}
    upper = {measure: upper_of(test) for measure, test in known.items()}
    beside = ""
    if any(test.alternative != "greater" for test in tests):
        beside = " (one-sided: {} and {})".format(*map(p_is, upper.values()))
    under = f"under the null {tests[0].model}, "
    ruling = rule_by(upper, lambda measure: floor_above(known[measure], alpha), alpha, beside, under)
    if ruling.verdict != "no":
        return ruling
    floors = dict(ruling.floors)
    for measure, test in known.items():
        floor = floors[measure] if measure in floors else _floor_of_perfect(test, alpha, perfect())
        if floor is None:
            return ruling
        floors[measure] = floor
    return _unable({measure: floors[measure] for measure in known}, alpha, under)


def upper_of(test: ChanceTest) -> float:
    """The p-value of having as many hits or more, which verdicts use whatever the alternative is."""
    return test.pvalue_for("greater", test.ties)


def rule_by(
    upper: dict[str, float],
    floor_of: Callable[[str], float | None],
    alpha: float,
    beside: str = "",
    under: str = "",
) -> Ruling:
    """The same from the upper p-values of both measures, and the smallest possible p for one, where it is above α.

    ``under`` names the null that such a p belongs to.
    """
    below = {measure: significant(p, alpha) for measure, p in upper.items()}
    level = f"at the {alpha:.3g} level{beside}"
    if all(below.values()):
        words = f"Precision and recall are both better than chance {level}."
        return Ruling(verdict="yes", reason=words, rests_on=tuple(upper))
    # what has reached the level can reach it: only the others have to be asked
    floors = {measure: None if below[measure] else floor_of(measure) for measure in upper}
    able = tuple(measure for measure, floor in floors.items() if floor is None)
    unable = {measure: floor for measure, floor in floors.items() if floor is not None}
    if not able:
        return _unable(unable, alpha, under)
    if len(able) == 1:
        return _by_one(able[0], below[able[0]], unable, level, under)
    better, worse = sorted(upper, key=lambda measure: upper[measure])
    half = f"{alpha / 2:.3g}"
    if significant(upper[better], alpha / 2):
        words = (
            f"{better.capitalize()} is better than chance {level}, as the better of two (p ≤ {half}); {worse} is not."
        )
        return Ruling(verdict="partly", reason=words, rests_on=able)
    if below[better]:
        words = f"Only {better} has p ≤ {alpha:.3g}{beside}, but the better of two needs p ≤ {half}, since chance has two tries."
    else:
        words = f"Neither precision nor recall is better than chance {level}."
    return Ruling(verdict="no", reason=words, rests_on=able)


def _unable(floors: dict[str, float], alpha: float, under: str) -> Ruling:
    words = " and ".join(f"{show_p(floor)} for {measure}" for measure, floor in floors.items())
    return Ruling(
        verdict="cannot tell",
        reason=f"No outcome could have reached the {alpha:.3g} level: {under}the smallest possible p is {words}.",
        floors=floors,
        under=under,
    )


def _by_one(measure: str, better: bool, floors: dict[str, float], level: str, under: str) -> Ruling:
    other, floor = next(iter(floors.items()))
    return Ruling(
        verdict="yes" if better else "no",
        reason=(
            f"{measure.capitalize()} is {'' if better else 'not '}better than chance {level}. The verdict rests on it alone: "
            f"{under}the smallest possible p for {other} is {show_p(floor)}."
        ),
        rests_on=(measure,),
        floors=floors,
        under=under,
    )


def ruled_as_found(
    own: Ruling, pvalues: dict[str, float], hopeless: Callable[[str], bool], alpha: float, tries: str
) -> Ruling:
    """The verdict by corrected p-values, never better than a cell's own; ``tries`` are what they are corrected for.

    A measure that could not have reached the level by itself counts as little as in the own verdict. That no outcome
    could have stood the correction makes "cannot tell" of "no", and nothing better.
    """
    if own.obstacle or not own.rests_on:
        return own
    ruling = rule_by(pvalues, own.floors.get, alpha, f" after correction for {tries}", own.under)
    if ruling.verdict == "no" and all(measure in own.floors or hopeless(measure) for measure in pvalues):
        reason = f"No outcome could have reached the {alpha:.3g} level after correction for {tries}."
        return Ruling(verdict="cannot tell", reason=reason)
    return ruling


def floor_above(test: ChanceTest, alpha: float, perfect: Callable[[], Perfect] | None = None) -> float | None:
    """The smallest p-value that can come out, where it is above α; None where some outcome reaches α.

    A matter of the law alone: what was observed has no part in it. ``perfect`` gives P(X ≥ hits) of perfect alarms by
    measure, which shifts that are short against events and alarms may leave above α.
    """
    floor = _told(test, _floor(test.law, _level(test, alpha)))
    return _floor_of_perfect(test, alpha, perfect()) if floor is None and perfect is not None else floor


def _floor_of_perfect(test: ChanceTest, alpha: float, perfect: Perfect) -> float | None:
    """The p-value of perfect alarms, where it is above α."""
    level = _level(test, alpha)
    best = perfect(test.measure, level)
    return _told(test, None if significant(best, level) else best)


def _level(test: ChanceTest, alpha: float) -> float:
    """The level of upper tails: with mid-p the largest number of hits counts by half."""
    return min(alpha / (0.5 if test.ties == "mid" else 1.0), ALMOST)


def _told(test: ChanceTest, floor: float | None) -> float | None:
    """An upper tail as the p-value that it is."""
    if floor is None or test.of == 0:
        return None if floor is None else 1.0
    return floor if floor >= 1.0 or test.ties != "mid" else floor / 2


def _floor(law: Law, level: float) -> float | None:
    """P(X ≥ the most hits there can be) where it is above the level, without the whole law: from its critical value."""
    found = law.critical_value(level)
    if found is None:
        return law.upper(law.size)
    if law.method.kind == "approximate":  # what a few shifts have not shown may still have come out
        return None
    # beyond its end a law has no tail; resamples never say 0, but then their histogram is at hand
    drawn = law.method.kind == "simulated"
    ended = found > law.ends[1] if drawn else law.upper(found) < NOTHING * level
    return law.upper(found - 1) if ended else None


def obstacle_of(cell: Cell, choice: Choice) -> str:
    """What keeps anything from being told about a cell; nothing where all is well."""
    if cell.n_counted == 0:
        return there_are_no("events", "nothing could have been found")
    if cell.n_predictions == 0:
        return there_are_no("alarms" if cell.in_time else "predictions", "nothing could have been hit")
    if cell.in_time:
        return _full_time(cell) or choice.obstacle
    if len(cell.alarms) == cell.n_steps:
        return say("Every step is predicted, which takes no knowledge of the {events}.")
    if int(cell.trial.near_events[cell.d]) == cell.n_steps:
        return say("Every step is within the tolerance of {an_event}: any {prediction} would be a hit.")
    return choice.obstacle


def _full_time(cell: Cell) -> str:
    """Whether there is no time left in which an event or an alarm could have missed."""
    if cell.covered == cell.n_steps:
        return say("All of the watched time is within the tolerance of {an_alarm}: any {event} would be found.")
    if cell.trial.near_events[cell.d] == cell.n_steps:
        return say("All of the watched time is within the tolerance of {an_event}: any {alarm} would be a hit.")
    return ""


def headline(verdict: Verdict, choice: Choice, what: str = "events") -> str:
    """The verdict in a few words; where the data speak against a null that was insisted on, they begin with that."""
    return say("{}{}", "" if choice.doubts else "Verdict: ", standing(verdict, choice, what))


def standing(verdict: Verdict, choice: Choice, what: str = "events") -> str:
    """The same where it is known to be a verdict."""
    if not choice.doubts:
        return f"{VERDICTS[verdict].words}."
    return say(
        "Under {}, which these {} contradict: {}.", choice.model.text, THINGS.get(what, what), VERDICTS[verdict].words
    )
