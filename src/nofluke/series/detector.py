"""The detector: which scores are alarms, and which alarms are one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray
from nofluke.data.columns import as_column
from nofluke.errors import InputError, Shown, Words, arg, joined, named, passed, say, shown, spoken
from nofluke.plain import as_number, as_share, check_word, number_or_none, whole_or_none
from nofluke.series.clock import Clock
from nofluke.series.counting import reaching, window_maxima
from nofluke.series.reading import Sequence
from nofluke.series.tolerance import Ranges, Tolerance, as_tolerance

CountAlarms = Literal["steps", "episodes"]
CutTies = Literal["drop", "random"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRule:
    """How alarms are counted, and the refractory time that merges them: a Tolerance, of which one side is used."""

    count: CountAlarms = "steps"
    refractory: Tolerance | None = None

    @classmethod
    def of(cls, count_alarms: object = None, refractory: Any = None) -> AlarmRule:
        """The rule that two arguments ask for; a refractory time alone asks for episodes."""
        if count_alarms is not None:
            check_word(count_alarms, "count_alarms", ("steps", "episodes"))
        if refractory is None:
            return cls(count="steps" if count_alarms is None else count_alarms)  # type: ignore[arg-type]  # checked
        if count_alarms == "steps":
            raise InputError(
                problem=say(
                    "{} merges several alarms into one, but {} counts each step",
                    arg("refractory"),
                    passed("count_alarms", "steps"),
                ),
                remedy=say("leave one of them out, or pass {}", arg("count_alarms", "episodes")),
            )
        if isinstance(refractory, Tolerance):
            raise InputError(
                argument="refractory",
                value=Shown(refractory),
                problem="has two sides",
                remedy="pass one length, such as 3 or '2h'",
            )
        steps = number_or_none(refractory)
        if steps is not None and not (1 <= steps < math.inf and steps.is_integer()):
            raise InputError(
                argument="refractory",
                value=refractory,
                problem="must be a whole number of steps, 1 or more, or a duration such as '10min'",
            )
        return cls(count="episodes", refractory=as_tolerance(refractory, "refractory"))

    def closed(self, detector: AnyArray, open_steps: BoolArray, clock: Clock | None) -> AnyArray:
        """Scores or alarms of the steps that count with their holes filled; ``clock`` is of these steps."""
        length = None if self.refractory is None else int(self.refractory.late)  # type: ignore[arg-type]
        if self.refractory is None or not length:
            return detector
        if self.refractory.unit == "steps":
            # masked steps take up time
            clock, length = Clock(ticks=np.flatnonzero(open_steps), unit=None), min(length, len(open_steps))
        elif clock is None or not clock.is_dates:
            raise InputError(
                argument="refractory",
                value=Shown(self.refractory),
                problem="is a length of time, but the data has no clock of dates",
                remedy=say("pass {}, or a number of steps", arg("times")),
            )
        return closing(detector, clock, length)


STEPS = AlarmRule()


def closing(values: AnyArray, clock: Clock, length: int) -> AnyArray:
    """At each step t the largest min(z_a, z_b) of steps a ≤ t ≤ b less than ``length`` apart: O(T log T) on any clock.

    A hole stays at t where some stretch of steps around it, from i to j, is low, and its neighbours i - 1 and j + 1 are
    at least ``length`` apart (or one of them lies outside). So the closing is the smallest of the maxima of all such
    stretches. It is enough to look at those that are as short as they can be on one side: from each i to the first j,
    and from the last i to each j.

    >>> closing(np.array([3.0, 0, 2, 0, 0, 5]), Clock(ticks=np.arange(6), unit=None), 3)
    array([3., 2., 2., 0., 0., 5.])
    """
    n = len(values)
    steps = np.arange(n, dtype=np.int64)
    heights: AnyArray = values.astype(np.int8) if values.dtype.kind == "b" else values
    # closer than `length` is up to length - 1 whole ticks (or nanoseconds) away
    too_late, too_early = clock.windows(0, length - 1)[1], clock.windows(length - 1, 0)[0]
    first_j = np.maximum(np.append(0, too_late[:-1] - 1), steps)
    last_i = np.minimum(np.append(too_early[1:], n - 1), steps)
    from_each = window_maxima(heights, Ranges(starts=steps, stops=first_j + 1))
    to_each = window_maxima(heights, Ranges(starts=last_i, stops=steps + 1))
    # stretches that hold t: both ends ascend, so that they follow one another
    holding = Ranges(starts=np.searchsorted(first_j, steps), stops=steps + 1)
    ending = Ranges(starts=steps, stops=np.searchsorted(last_i, steps, side="right"))
    lowest = np.minimum(-window_maxima(-from_each, holding), -window_maxima(-to_each, ending))
    return np.asarray(lowest, dtype=values.dtype)


# ---- from scores to predictions: the threshold that a number, a quantile or a budget of alarms asks for

WAYS = ("threshold", "quantile", "budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Thresholds from the one with the most predictions to the one with the fewest.

    Attributes
    ----------
    compared : float array, ascending
        What scores have to reach, both turned round where higher scores are normal.
    told : float array
        The same in the caller's own numbers.
    quantiles, budgets : float arrays or None
        What they come from, if they do.
    notes : tuple of str
        What ties do to them.
    """

    compared: FloatArray = field(repr=False)
    told: FloatArray = field(repr=False)
    quantiles: FloatArray | None = field(repr=False, default=None)
    budgets: FloatArray | None = field(repr=False, default=None)
    notes: tuple[str, ...] = ()

    @property
    def by_number(self) -> bool:
        """Whether they follow the scores, so that the number of predictions is given, rather than the threshold."""
        return self.quantiles is not None or self.budgets is not None

    @property
    def quantile(self) -> float | None:
        """The quantile of the first."""
        return None if self.quantiles is None else float(self.quantiles[0])

    @property
    def budget(self) -> float | None:
        """The budget of the first."""
        return None if self.budgets is None else float(self.budgets[0])


def choose_cut(
    sequence: Sequence, threshold: object = None, quantile: object = None, budget: object = None
) -> Cuts | None:
    """The one threshold of an evaluation; None where alarms are given instead of scores."""
    given = {name: value for name, value in zip(WAYS, (threshold, quantile, budget), strict=True) if value is not None}
    if sequence.scores is None:
        if given:
            raise InputError(
                problem=say("{}, {} and {} only apply to scores", *map(named, WAYS)),
                remedy=say("leave them out with {}", named("predictions")),
            )
        return None
    if len(given) != 1:
        raise InputError(
            problem=say("pass either {} or {} or {}, got {}", *map(named, WAYS), _got(given)),
            remedy=say("it decides which scores are predictions.{}", "" if given else _alarms_among(sequence)),
        )
    if threshold is not None:
        as_threshold(threshold)
        return _at(sequence, [threshold])
    return _at_quantiles(sequence, [as_quantile(quantile)]) if budget is None else _within(sequence, [budget])


def choose_cuts(sequence: Sequence, thresholds: Any, quantiles: Any, budgets: Any = None) -> Cuts:
    """Many thresholds: of one of the three kinds."""
    given = {f"{n}s": v for n, v in zip(WAYS, (thresholds, quantiles, budgets), strict=True) if v is not None}
    if len(given) != 1:
        raise InputError(
            problem=say("pass either {} or {} or {}, got {}", *(named(f"{way}s") for way in WAYS), _got(given))
        )
    if thresholds is not None:
        items, _ = _numbers(thresholds, "thresholds")
        return _at(sequence, items)
    if budgets is not None:
        return _within(sequence, _shares(budgets))
    _, levels = _numbers(quantiles, "quantiles")
    for outermost in (levels.min(), levels.max()):
        as_quantile(outermost)
    return _at_quantiles(sequence, levels)


def _alarms_among(sequence: Sequence) -> str:
    """What to pass where the scores look like alarms: nothing but 0 and 1, or -1 and 1."""
    values = set(np.unique(sequence.open_scores(turned=False))[:3].tolist())
    if values <= {0.0, 1.0}:
        return say(" The scores are all 0 or 1: if these are alarms, pass them as {}.", arg("predictions"))
    if values == {-1.0, 1.0}:
        return say(
            " The scores are all -1 or 1, the output of scikit-learn's outlier detectors, where -1 is an outlier: {}.",
            spoken(
                "pass predictions=(y == -1)",
                shell="write 1 for an alarm and 0 for the rest, and pass it as --predictions COLUMN",
            ),
        )
    return ""


def _got(given: Iterable[str]) -> Words:
    return joined(" and ", map(named, given)) or say("none")


def _at(sequence: Sequence, items: Any) -> Cuts:
    """Thresholds as numbers of the caller's."""
    sign, kind = sequence.sign, sequence.score_type
    exact = np.sort([_least_score(item, float(item), sign) for item in items])
    compared = exact
    if kind != "float64":
        with np.errstate(over="ignore"):  # beyond their reach no score is that high
            compared = exact.astype(kind).astype(np.float64)
    return Cuts(compared=compared, told=sign * exact + 0.0)


def _at_quantiles(sequence: Sequence, levels: Any) -> Cuts:
    """Thresholds at quantiles of the scores, after the turn: .9 leaves the most anomalous tenth."""
    levels, scores = np.sort(np.asarray(levels, dtype=np.float64)), sequence.open_scores()
    compared = np.array(quantile_thresholds(scores, levels))
    return Cuts(
        compared=compared,
        told=sequence.sign * compared + 0.0,
        quantiles=levels,
        notes=_tied(scores, levels, compared),
    )


def quantile_thresholds(scores: FloatArray, levels: Any) -> list[float]:
    """Thresholds at quantiles of finite scores: linear interpolation, to the last digit that of ``numpy.quantile``.

    Where the difference of two scores is too large for a float, that of their halves is not.

    >>> quantile_thresholds(np.array([3.0, 0.0, 2.0]), [0.25, 1.0])
    [1.0, 3.0]
    >>> quantile_thresholds(np.array([-1e308, 1e308]), [0.5])
    [0.0]
    """
    between = [(len(scores) - 1) * float(level) for level in levels]
    places = [math.floor(place) for place in between]

    def interpolated(low: float, high: float, part: float) -> float:
        apart = high - low
        return high - apart * (1 - part) if part >= 0.5 else low + apart * part

    found = []
    for at, place, (low, high) in zip(places, between, beside_cuts(scores, places), strict=True):
        value = interpolated(low, high, place - at)
        found.append(value if math.isfinite(value) else 2 * interpolated(low / 2, high / 2, place - at))
    return found


def beside_cuts(scores: FloatArray, places: list[int]) -> list[tuple[float, float]]:
    """The scores at some places of their ascending order, each with the one behind it; itself at the end.

    >>> beside_cuts(np.array([3.0, 0.0, 2.0]), [0, 2])
    [(0.0, 2.0), (3.0, 3.0)]
    """
    if len(places) == 1:  # NumPy is several times faster at one place than at two
        at = places[0]
        ordered = np.partition(scores, at)
        return [(float(ordered[at]), float(ordered[at + 1 :].min() if at + 1 < len(scores) else ordered[at]))]
    last = len(scores) - 1
    ordered = np.partition(scores, sorted({*places, *(min(at + 1, last) for at in places)}))
    return [(float(ordered[at]), float(ordered[min(at + 1, last)])) for at in places]


def _tied(scores: FloatArray, levels: FloatArray, cuts: FloatArray) -> tuple[str, ...]:
    """A note where ties at a quantile make more than twice the predictions that it asks for."""
    n = len(scores)
    many = []
    for q, m in zip(levels.tolist(), reaching(scores, cuts).tolist(), strict=True):
        if m > 1.5 * max((1 - q) * n, 1):  # else it is not twice as many, and fractions take their time
            asked = max(math.ceil((1 - Fraction(repr(q))) * n), 1)
            if m > 2 * asked:
                many.append((q, asked, m))
    if not many or scores.min() == scores.max():  # where all are equal, that is said
        return ()
    q, a, m = many[-1]
    where = "" if len(levels) == 1 else f" (and at {len(many) - 1} other quantile(s))" if len(many) > 1 else ""
    told = (
        "Ties make {:,} {predictions} at the {:g} quantile, which should give {:,}{}: a budget leaves out scores tied "
    )
    return (say(told + "at the cut.", m, q, a, where),)


def _within(sequence: Sequence, budgets: Any) -> Cuts:
    """For each budget, the least score that no more than this share of the steps reach; infinite without one."""
    shares = sorted((as_share(budget, "budget") for budget in budgets), reverse=True)
    scores = sequence.open_scores()
    n = len(scores)
    allowed = [share.numerator * n // share.denominator for share in shares]
    compared, notes = [], []
    beside = beside_cuts(scores, [n - many - 1 for many in allowed])
    for share, many, (below, least) in zip(shares, allowed, beside, strict=True):
        if not many:
            least = math.inf
        elif least == below:  # tied at the cut: those above
            least = float(scores[scores > least].min(initial=math.inf))
        compared.append(least)
        if math.isinf(least):
            tied = int(np.count_nonzero(scores == scores.max()))
            why = f"{tied:,} of them are tied at the {'lowest' if sequence.sign < 0 else 'highest'} score"
            if not many:
                why = "that is less than one"
            told = "A budget of {:g}% of {:,} steps leaves no {prediction}: {}."
            notes.append(say(told, 100 * float(share), n, why))
    cuts = np.array(compared)
    return Cuts(
        compared=cuts,
        told=sequence.sign * cuts + 0.0,
        budgets=np.array([float(share) for share in shares]),
        notes=tuple(notes[:1]),
    )


def break_ties(sequence: Sequence, budget: object, seed: int) -> FloatArray:
    """Scores that use up a budget: of steps tied at the cut, some at random count as a little higher than the others.

    As many as are left of the budget are picked, all sets of them equally likely, by a seed that knows nothing of the
    truth: under any null the picked alarms are as good as the detector's own, and p-values keep their level. The score
    of a picked step becomes the next larger number, or where there is none, that of the others the next smaller one.
    Scores without ties at the cut stay as they are.

    >>> from nofluke.series.reading import prepare
    >>> break_ties(prepare([0, 1, 0, 0, 0], [3.0, 2.0, 2.0, 2.0, 1.0]), "40%", seed=0)
    array([3., 2., 2., 2., 1.])
    >>> _ > 2
    array([ True, False, False,  True, False])
    """
    scores = np.array(sequence.scores, dtype=np.float64)
    turned = sequence.open_scores()
    allowed = math.floor(as_share(budget, "budget") * len(turned))
    if not 0 < allowed < len(turned):
        return scores
    cut = np.partition(turned, len(turned) - allowed)[len(turned) - allowed]
    above, tied = int(np.count_nonzero(turned > cut)), np.flatnonzero(turned == cut)
    if above + len(tied) > allowed:
        picked = np.random.default_rng(seed).choice(tied, allowed - above, replace=False)
        side = np.inf
        if cut == np.finfo(np.float64).max:
            picked, side = np.setdiff1d(tied, picked), -np.inf
        at = np.flatnonzero(sequence.open_steps)[picked]
        scores[at] = np.nextafter(scores[at], sequence.sign * side)
    return scores


def check_cut(way: str, value: object) -> None:
    """Refuse a threshold, a quantile or a budget, whichever of `WAYS` it is, that cannot be one."""
    if way == "budget":
        as_share(value, "budget")
    else:
        {"threshold": as_threshold, "quantile": as_quantile}[way](value)


def as_threshold(value: object) -> float:
    """τ as a plain float: the least one that reaches it."""
    return _least_score(value, as_number(value, "threshold", "be a number", lambda number: not math.isnan(number)))


def _least_score(value: object, cut: float, sign: int = 1) -> float:
    """The least score, after the turn, that reaches a number: for a whole one between two floats the upper."""
    whole, cut = whole_or_none(value), sign * cut
    return math.nextafter(cut, math.inf) if whole is not None and cut < sign * whole else cut


def as_quantile(value: object) -> float:
    """A quantile's level as a plain float."""
    return as_number(value, "quantile", "be between 0 and 1", lambda number: 0 <= number <= 1)


def _numbers(given: Any, name: str) -> tuple[Any, FloatArray]:
    """One number or a column of them: as they are, and as floats."""
    items: Any = given if isinstance(given, list | tuple) else [given]
    numbers = [number_or_none(item) for item in items]
    if None in numbers:  # a column from a library, or none at all
        items = as_column(given, name).values
        numbers = [math.nan] if items.dtype.kind == "M" else items
    floats = np.array(numbers, dtype=np.float64)
    if len(floats) == 0 or np.isnan(floats).any():
        raise InputError(argument=name, problem=f"must be one or more numbers without NaN, got {shown(given)}")
    return items, floats


def _shares(given: Any) -> list[Any]:
    """One budget or several, of which each may be text."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list | tuple) and given:
        return list(given)
    items, _ = _numbers(given, "budgets")
    return list(items)
