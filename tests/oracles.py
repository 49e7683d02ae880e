"""Slow, obvious measures to check the fast ones against, and random cases for both. Nothing here comes from nofluke.

First the paper's equations 1 to 3 and its two tables, sum for sum, with zero padding. Then the same for any times,
asymmetric windows and masks, by looking at every pair of steps. Times are whole numbers or fractions, so that every
comparison is exact. `cases` draws what both sides are to be asked.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
from hypothesis import strategies as st

Matrix = tuple[int, int, int, int]
"""tp, fp, fn, tn."""


def indicator(condition: bool) -> int:
    """I(c) of the paper."""
    return 1 if condition else 0


def predicted(scores: list[Any], threshold: Any) -> list[int]:
    """I(z_t >= τ) for each step."""
    return [indicator(z >= threshold) for z in scores]


def padded(values: list[int], t: int) -> int:
    """The value at step t; 0 outside the sequence."""
    return values[t] if 0 <= t < len(values) else 0


def paper_precision(e: list[int], y: list[int], delta: int) -> tuple[int, int]:
    """Numerator and denominator of equation 2 (of equation 1 for δ = 0); y_t is I(z_t >= τ)."""
    above = 0
    for t in range(len(e)):
        above += indicator(sum(padded(e, u) for u in range(t - delta, t + delta + 1)) > 0) * y[t]
    return above, sum(y)


def paper_recall(e: list[int], y: list[int], delta: int) -> tuple[int, int]:
    """Numerator and denominator of equation 3 (of equation 1 for δ = 0)."""
    above = 0
    for t in range(len(e)):
        above += e[t] * indicator(sum(padded(y, u) for u in range(t - delta, t + delta + 1)) > 0)
    return above, sum(e)


def paper_tables(e: list[int], y: list[int], delta: int) -> tuple[Matrix, Matrix]:
    """Tables 1 and 2, cell by cell: tolerance in the ground truth, tolerance in the predictions."""
    first, second = [0, 0, 0, 0], [0, 0, 0, 0]
    for t in range(len(e)):
        event_near = indicator(sum(padded(e, u) for u in range(t - delta, t + delta + 1)) > 0)
        alarm_near = indicator(sum(padded(y, u) for u in range(t - delta, t + delta + 1)) > 0)
        first[0] += event_near * y[t]
        first[1] += (1 - event_near) * y[t]
        first[2] += event_near * (1 - y[t])
        first[3] += (1 - event_near) * (1 - y[t])
        second[0] += e[t] * alarm_near
        second[1] += (1 - e[t]) * alarm_near
        second[2] += e[t] * (1 - alarm_near)
        second[3] += (1 - e[t]) * (1 - alarm_near)
    return tuple(first), tuple(second)


@dataclass(frozen=True)
class Case:
    """A random question: what nofluke is told (``*_argument``) and what the oracle reckons with.

    ``when`` are the times that the tolerance is measured on, ``stamps`` those of the clock (None without one), both in
    units that make every number here exact; ``per_unit`` of them make one unit of the results (a step, a second, a
    unit of the clock).
    """

    truth: list[int]
    scores: list[int]
    threshold: int
    open_steps: list[bool]
    when: list[int]
    early: int
    late: int
    stamps: list[int] | None
    per_unit: int
    times_argument: Any
    tolerance_arguments: dict[str, Any]

    @property
    def n(self) -> int:
        """Steps, closed ones too."""
        return len(self.truth)

    @property
    def mask_argument(self) -> Any:
        """True for closed steps."""
        return [not is_open for is_open in self.open_steps]

    @property
    def events(self) -> list[int]:
        """Open steps that hold an event."""
        return [t for t in range(self.n) if self.truth[t] and self.open_steps[t]]

    def alarms(self, threshold: Any = None) -> list[int]:
        """Open steps that are predicted."""
        cut = self.threshold if threshold is None else threshold
        return [t for t in range(self.n) if self.scores[t] >= cut and self.open_steps[t]]

    def counts(self, p: int, q: int) -> bool:
        """Whether a prediction at step p counts for an event at step q."""
        return self.when[q] - self.early <= self.when[p] <= self.when[q] + self.late

    def tables(self, threshold: Any = None) -> tuple[Matrix, Matrix]:
        """Both tables over the open steps, by looking at every pair of steps."""
        events, alarms = self.events, self.alarms(threshold)
        first, second = [0, 0, 0, 0], [0, 0, 0, 0]
        for t in range(self.n):
            if self.open_steps[t]:
                event_near = any(self.counts(t, q) for q in events)
                alarm_near = any(self.counts(p, t) for p in alarms)
                first[2 * (t not in alarms) + (not event_near)] += 1
                second[2 * (not alarm_near) + (t not in events)] += 1
        return tuple(first), tuple(second)

    def found(self) -> list[bool]:
        """For each event, whether a prediction counts for it."""
        return [any(self.counts(p, q) for p in self.alarms()) for q in self.events]

    def delays(self) -> list[Fraction | None]:
        """For each event, the time of its nearest prediction minus its own; None where nothing is predicted.

        Predictions that count come first, then the nearest, then the earliest. On the clock, or without one in steps.
        """
        clock = self.stamps if self.stamps is not None else list(range(self.n))
        nearest = []
        for q in self.events:
            ranked = [(not self.counts(p, q), abs(clock[p] - clock[q]), p) for p in self.alarms()]
            nearest.append(Fraction(clock[min(ranked)[2]] - clock[q], self.per_unit) if ranked else None)
        return nearest

    def duration(self) -> Fraction:
        """How long the open steps last: each up to the next; the last, and those before a gap, the median step."""
        if self.stamps is None:
            return Fraction(sum(self.open_steps))
        lengths = [Fraction(b - a) for a, b in zip(self.stamps, self.stamps[1:], strict=False)]
        if lengths:
            usual, step = sorted(lengths)[9 * (len(lengths) - 1) // 10], Fraction(median(lengths))
            lengths = [step if length > 10 * max(usual, step) else length for length in lengths] + [step]
        else:
            lengths = [Fraction(0)]
        return (
            sum((x for x, is_open in zip(lengths, self.open_steps, strict=True) if is_open), Fraction(0))
            / self.per_unit
        )


NANOSECONDS = {"D": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@st.composite
def cases(
    draw: st.DrawFn,
    max_steps: int = 20,
    clocks: tuple[str, ...] = ("none", "dates", "ints", "floats"),
    signed: bool | None = None,
) -> Case:
    """Short sequences with many ties, few or many events, masks, clocks of every kind, windows of every width.

    Some windows lie aside of the event, one of their sides being negative: all of them if ``signed``, none if it is
    False.
    """
    n = draw(st.integers(1, max_steps))
    rare = draw(st.booleans())
    flags = st.integers(0, 9).map(lambda v: int(v >= (8 if rare else 4)))
    truth = draw(st.lists(flags, min_size=n, max_size=n))
    scores = draw(st.lists(st.integers(-2, 4), min_size=n, max_size=n))
    open_steps = [True] * n
    if draw(st.booleans()):
        open_steps = draw(st.lists(st.integers(0, 3).map(bool), min_size=n, max_size=n))
        open_steps[draw(st.integers(0, n - 1))] = True
    gaps = draw(st.one_of(st.just([1] * n), st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    ticks = [sum(gaps[:t]) for t in range(n)]
    # widths in halves of a tick, so that windows end on steps and between them; now and then beyond everything
    width = st.one_of(st.integers(0, 12), st.integers(0, 12 * n))
    early, late = draw(width), draw(width)
    if draw(st.integers(0, 3)) == 0 if signed is None else signed:
        late = -draw(st.integers(1, max(early, 1)))
        early = max(early, -late)
        early, late = draw(st.permutations([early, late]))
    elif draw(st.booleans()):
        late = early
    kind = draw(st.sampled_from(clocks))
    clock = {"none": no_clock, "dates": date_clock, "ints": int_clock, "floats": float_clock}[kind]
    when, early, late, stamps, per_unit, times, tolerance = draw(clock(ticks, early, late))
    if kind != "none" and draw(st.integers(0, 4)) == 0:  # steps are steps, whatever the clock says
        when, far = list(range(n)), n + 2
        early, late = (side if abs(side) < far else side % far for side in (early, late))
        late = late if early + late >= 0 else -early
        tolerance = {"early": early, "late": late}
    return Case(
        truth=truth,
        scores=scores,
        threshold=draw(st.integers(-3, 5)),
        open_steps=open_steps,
        when=when,
        early=early,
        late=late,
        stamps=stamps,
        per_unit=per_unit,
        times_argument=times,
        tolerance_arguments=tolerance,
    )


def sides(most: int) -> st.SearchStrategy[tuple[int, int]]:
    """Early and late of a window, most of them around the event, some aside of it."""
    anywhere = st.tuples(st.integers(-most, most), st.integers(-most, most)).filter(lambda both: sum(both) >= 0)
    return st.one_of(st.tuples(st.integers(0, most), st.integers(0, most)), anywhere)


def toward_zero(length: int, by: int) -> int:
    """A length divided; both sides of a window that holds nothing but one instant stay each other's negative."""
    return length // by if length >= 0 else -(-length // by)


def no_clock(ticks: list[int], early: int, late: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """Steps only."""
    early, late = toward_zero(early, 2), toward_zero(late, 2)
    return st.just((list(range(len(ticks))), early, late, None, 1, None, {"early": early, "late": late}))


@st.composite
def date_clock(draw: st.DrawFn, ticks: list[int], early: int, late: int) -> tuple[Any, ...]:
    """Dates in any unit, before and after 1970, reckoned in half nanoseconds; durations in any dress."""
    unit = draw(st.sampled_from(list(NANOSECONDS)))
    size = NANOSECONDS[unit]
    start = draw(st.integers(-3 * 10**18, 3 * 10**18)) // size
    stamps = [2 * size * (start + tick) for tick in ticks]
    nanoseconds = [toward_zero(size * early, 2), toward_zero(size * late, 2)]
    dress = draw(st.sampled_from(["text", "numpy", "python"]))
    if dress == "python":  # whole microseconds are all it can hold
        nanoseconds = [toward_zero(length, 1000) * 1000 for length in nanoseconds]
    wear = {
        "text": lambda length: f"{length}ns",
        "numpy": lambda length: np.timedelta64(length, "ns"),
        "python": lambda length: timedelta(microseconds=length // 1000),
    }[dress]
    times = np.array([start + tick for tick in ticks], dtype=np.int64).astype(f"datetime64[{unit}]")
    tolerance = {"early": wear(nanoseconds[0]), "late": wear(nanoseconds[1])}
    return stamps, 2 * nanoseconds[0], 2 * nanoseconds[1], stamps, 2 * 10**9, times, tolerance


@st.composite
def int_clock(draw: st.DrawFn, ticks: list[int], early: int, late: int) -> tuple[Any, ...]:
    """Whole numbers, small ones and such as no float can tell apart, reckoned in halves."""
    start = draw(st.sampled_from([0, -7, 3, 10**18 + 1]))
    stamps = [2 * (start + tick) for tick in ticks]
    times = np.array([start + tick for tick in ticks])
    if start >= 0 and max(ticks) < 100 and draw(st.booleans()):
        times = times.astype(draw(st.sampled_from([np.uint64] if start > 100 else [np.uint8, np.int32])))
    return stamps, early, late, stamps, 2, times, {"early": early / 2, "late": late / 2, "unit": "clock"}


@st.composite
def float_clock(draw: st.DrawFn, ticks: list[int], early: int, late: int) -> tuple[Any, ...]:
    """Tenths, which floats only come near to, reckoned in twentieths, that is, exactly."""
    start = draw(st.sampled_from([0, -35, 1, 12345]))
    stamps = [2 * (start + tick) for tick in ticks]
    times = np.array([start + tick for tick in ticks])
    times = draw(st.sampled_from([times / 10, times * 0.1]))
    return stamps, early, late, stamps, 20, times, {"early": early / 20, "late": late / 20, "unit": "clock"}


def slow_synchronisation(
    x: list[Any], y: list[Any], taumax: Any = None, *, dropped: bool = False, halved: bool = False
) -> tuple[Fraction, Fraction]:
    """c(y|x) and c(x|y) of Quian Quiroga, Kreuz and Grassberger (2002), pair by pair.

    A neighbour that does not exist limits nothing; ``dropped`` leaves out the first and the last event of both lists.
    ``halved`` gives a pair half the weight if one of its two is in a pair of the other direction too.
    """
    inner_x, inner_y = ([i for i in range(len(z)) if not dropped or 0 < i < len(z) - 1] for z in (x, y))

    def intervals(z: list[Any], i: int) -> list[Any]:
        return [z[k + 1] - z[k] for k in (i - 1, i) if 0 <= k < len(z) - 1]

    def synchronous(i: int, j: int) -> bool:
        limits = [Fraction(gap) / 2 for gap in intervals(x, i) + intervals(y, j)] + [taumax] * (taumax is not None)
        return all(abs(Fraction(x[i]) - Fraction(y[j])) <= limit for limit in limits)

    pairs = [(i, j) for i in inner_x for j in inner_y if synchronous(i, j)]
    y_late = [(i, j) for i, j in pairs if x[i] < y[j]]
    x_late = [(i, j) for i, j in pairs if x[i] > y[j]]
    both = Fraction(sum(x[i] == y[j] for i in inner_x for j in inner_y), 2)

    def weight(pairs: list[tuple[int, int]], others: list[tuple[int, int]]) -> Fraction:
        double = sum(any(i == k or j == h for k, h in others) for i, j in pairs) if halved else 0
        return len(pairs) - Fraction(double, 2) + both

    return weight(y_late, x_late), weight(x_late, y_late)


def slow_tiling(
    events: list[int], alarms: list[int], early: int, late: int, watched: list[int]
) -> tuple[Fraction, Fraction, Fraction, Fraction] | None:
    """P_A, P_B, T_A and T_B of Cutts and Eglen (2014) for alarms A and events B, tick by tick; None without either."""
    if not events or not alarms:
        return None

    def near(p: int, q: int) -> bool:
        return q - early <= p <= q + late

    return (
        Fraction(sum(any(near(p, q) for q in events) for p in alarms), len(alarms)),
        Fraction(sum(any(near(p, q) for p in alarms) for q in events), len(events)),
        Fraction(sum(any(near(p, t) for p in alarms) for t in watched), len(watched)),
        Fraction(sum(any(near(t, q) for q in events) for t in watched), len(watched)),
    )


def pyunicorn_eca(x: list[Any], y: list[Any], taumax: Any, lag: Any = 0) -> list[tuple[int, int]]:
    """Hits and denominators of pyunicorn 1.0's ``event_coincidence_analysis``: precursor and trigger, xy, then yx.

    Effect e and cause c coincide if 0 <= e - c - lag <= taumax; of "xy" y is the cause. A precursor rate is a share
    of the effects and leaves out those up to lag + taumax behind the first effect. A trigger rate is a share of the
    causes and leaves out those from lag + taumax before the last cause. Both are closed, and told from the list's own
    first or last time, not from the ends of what was watched. At least one is always left out, unless
    lag = taumax = 0, when all count.
    """
    reach = lag + taumax

    def rates(effects: list[Any], causes: list[Any]) -> list[tuple[int, int]]:
        at_once = lag == 0 and taumax == 0
        kept_effects = [e for e in effects if at_once or e > effects[0] + reach]
        kept_causes = [c for c in causes if at_once or c < causes[-1] - reach]
        precursor = sum(any(0 <= e - c - lag <= taumax for c in causes) for e in kept_effects)
        trigger = sum(any(0 <= e - c - lag <= taumax for e in effects) for c in kept_causes)
        return [(precursor, len(kept_effects)), (trigger, len(kept_causes))]

    return rates(x, y) + rates(y, x)


def coincalc_eca(
    a: list[int], b: list[int], span: tuple[int, int], delt: int, tau: int = 0, *, sym: bool = False, edges: bool = True
) -> list[tuple[int, int]]:
    """Hits and denominators of ``CC.eca.es``, precursor and trigger rate, by reading CoinCalc 3.0 beta.

    Effect a and cause b coincide if 0 <= a - tau - b <= delT, or -delT <= ... with ``sym``. The precursor rate leaves
    out effects before span[0] + tau + delT, the trigger rate causes behind span[1] - tau - delT: those whose window
    does not lie in the span at its far end. The near end, which ``sym`` has too, is not looked at. ``edges=False`` is
    the first release (2015), where all count.
    """
    low = -delt if sym else 0
    kept_a = [t for t in a if not edges or t - tau - delt >= span[0]]
    kept_b = [t for t in b if not edges or t + tau + delt <= span[1]]
    precursor = sum(any(low <= t - tau - u <= delt for u in b) for t in kept_a)
    trigger = sum(any(low <= u - tau - t <= delt for u in a) for t in kept_b)
    return [(precursor, len(kept_a)), (trigger, len(kept_b))]


@dataclass(frozen=True)
class Lists:
    """Two lists of whole times and what was watched: every answer comes from looking at every tick and pair."""

    events: list[int]
    alarms: list[int]
    early: int
    late: int
    first: int
    last: int
    gaps: tuple[tuple[int, int], ...] = ()

    @property
    def watched(self) -> list[int]:
        """The ticks of the span that lie in no gap."""
        ticks = range(self.first, self.last + 1)
        return [t for t in ticks if not any(begin <= t <= end for begin, end in self.gaps)]

    def counts(self, p: int, q: int) -> bool:
        """Whether an alarm at p counts for an event at q."""
        return q - self.early <= p <= q + self.late

    def hits(self, events: Sequence[int] | None = None) -> tuple[int, int]:
        """Recall's and precision's hits, of these events or of others in their place."""
        at = self.events if events is None else events
        return (
            sum(any(self.counts(p, q) for p in self.alarms) for q in at),
            sum(any(self.counts(p, q) for q in at) for p in self.alarms),
        )

    def inner_events(self, events: Sequence[int]) -> list[int]:
        """Events whose whole window was watched."""
        watched = set(self.watched)
        return [q for q in events if set(range(q - self.early, q + self.late + 1)) <= watched]

    def inner_alarms(self) -> list[int]:
        """Alarms on whose account an event could have been anywhere in their window."""
        watched = set(self.watched)
        return [p for p in self.alarms if set(range(p - self.late, p + self.early + 1)) <= watched]

    def inner_hits(self, events: Sequence[int] | None = None) -> tuple[int, int, int]:
        """Recall's hits among the events that count, these, and precision's hits among the alarms that count."""
        at = self.events if events is None else events
        inner = self.inner_events(at)
        found = sum(any(self.counts(p, q) for p in self.alarms) for q in inner)
        return found, len(inner), sum(any(self.counts(p, q) for q in at) for p in self.inner_alarms())

    def delays(self) -> list[int | None]:
        """For each event, the way to its nearest alarm: those that count first, then the nearest, then the earliest."""
        nearest = []
        for q in sorted(self.events):
            ranked = sorted((not self.counts(p, q), abs(p - q), p) for p in self.alarms)
            nearest.append(ranked[0][2] - q if ranked else None)
        return nearest

    def rotations(self, every: int = 1) -> list[tuple[int, ...]]:
        """The events after every rotation of the watched ticks by multiples of a length; a partial last one stays."""
        free = self.watched
        ranks = [free.index(q) for q in sorted(self.events)]
        circle = len(free) // every * every
        return [
            tuple(free[(r + s) % circle] if r < circle else free[r] for r in ranks) for s in range(0, circle, every)
        ]

    def strata(self, label: Callable[[int], Any] | None = None) -> list[tuple[int, ...]]:
        """Every placement of the events on watched ticks, of the same label where there are labels."""
        return self.placed({t: label(t) if label else 0 for t in self.watched})

    def placed(self, labels: dict[int, Any], slots: int = 1) -> list[tuple[int, ...]]:
        """Every placement that keeps the number of events of each label, with ``slots`` places on each tick."""
        parts = []
        for label in sorted(set(labels.values())):
            places = [t for t in self.watched if labels[t] == label for _ in range(slots)]
            parts.append(list(itertools.combinations(places, sum(labels[q] == label for q in self.events))))
        return [tuple(itertools.chain.from_iterable(rows)) for rows in itertools.product(*parts)]


def share_of(values: Sequence[Any], observed: Any) -> Fraction:
    """Of all that could be, how much is at least what was seen: the p-value by its definition."""
    return Fraction(sum(value >= observed for value in values), len(values))


Runs = Sequence[tuple[int, int]]
"""Labelled runs (start, stop), ascending; those that touch are two."""


def random_runs(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Labelled runs of n steps, some of which touch, and often at the borders; sometimes none, sometimes all."""
    cuts = sorted({0, n, *rng.integers(0, n + 1, rng.integers(0, 7)).tolist()})
    share = rng.choice([0.0, 0.3, 0.6, 1.0], p=[0.05, 0.45, 0.4, 0.1])
    return [piece for piece in itertools.pairwise(cuts) if rng.random() < share]


def slow_affiliation(runs: Runs, n: int, detector: Sequence[Any]) -> tuple[Fraction | None, Fraction | None]:
    """Affiliation precision and recall of Huet et al. (2022); None where undefined.

    All integrands are linear between quarters of steps, where a sum over the middles of the quarters is the integral.
    """
    if not runs:
        return None, None
    quarter = Fraction(1, 4)
    precisions, recalls = [], []
    for k, (start, stop) in enumerate(runs):
        low = Fraction(runs[k - 1][1] + start, 2) if k else Fraction(0)
        high = Fraction(stop + runs[k + 1][0], 2) if k + 1 < len(runs) else Fraction(n)
        alarms = [(max(low, i), min(high, i + 1)) for i in range(n) if detector[i] and i < high and i + 1 > low]
        if not alarms:
            recalls.append(Fraction(0))
            continue
        middles = [quarter / 2 + quarter * q for q in range(4 * n)]

        def farther(x: Fraction, s: int = start, e: int = stop, a: Fraction = low, b: Fraction = high) -> Fraction:
            """Chance that a place of the zone is as far from the event as x is, or farther."""
            d = max(s - x, x - e, Fraction(0))
            return (max(s - d - a, Fraction(0)) + max(b - e - d, Fraction(0))) / (b - a) if d else Fraction(1)

        def found(y: Fraction, within: Any = tuple(alarms), a: Fraction = low, b: Fraction = high) -> Fraction:
            """Chance that a place of the zone is as far from y as its nearest alarm is, or farther."""
            d = min(max(s - y, y - e, Fraction(0)) for s, e in within)
            return (max(y - d - a, Fraction(0)) + max(b - y - d, Fraction(0))) / (b - a)

        on_alarms = [farther(x) for x in middles if any(s < x < e for s, e in alarms)]
        precisions.append(sum(on_alarms, Fraction(0)) / len(on_alarms))
        on_event = [found(y) for y in middles if start < y < stop]
        recalls.append(sum(on_event, Fraction(0)) / len(on_event))
    precision = sum(precisions, Fraction(0)) / len(precisions) if precisions else None
    return precision, sum(recalls, Fraction(0)) / len(recalls)


def slow_nab(runs: Runs, n: int, detector: Sequence[Any], missed: float = 1.0, false: float = 0.11) -> float | None:
    """The score of Lavin and Ahmad (2015) step by step, as the benchmark's scorer has it; None where undefined."""
    if not runs:
        return None

    def sigmoid(y: float) -> float:
        return -1.0 if y > 3 else 2 / (1 + math.exp(5 * y)) - 1

    rewards, raw = [-missed] * len(runs), 0.0
    for i in range(n):
        if not detector[i]:
            continue
        inside = [k for k, (start, stop) in enumerate(runs) if start <= i < stop]
        before = [k for k, (_, stop) in enumerate(runs) if stop <= i]
        if inside:
            start, stop = runs[inside[0]]
            rewards[inside[0]] = max(rewards[inside[0]], sigmoid(-(stop - i) / (stop - start)) / sigmoid(-1))
        elif before:
            start, stop = runs[before[-1]]
            raw += false * (sigmoid((i - (stop - 1)) / (stop - start - 1)) if stop - start > 1 else -1.0)
        else:
            raw -= false
    nothing, perfect = -missed * len(runs), 1.0 * len(runs)
    return 100 * (raw + sum(rewards) - nothing) / (perfect - nothing)


def slow_vus(
    runs: list[tuple[int, int]], n: int, detector: list[Any], window: int = 100, n_thresholds: int = 250
) -> tuple[float, float]:
    """VUS-ROC and VUS-PR of Paparrizos et al. (2022) as their code has them, step by step; runs as (start, stop).

    NaN where a rate has nothing to be a share of.
    """
    if not runs:
        return math.nan, math.nan
    descending = sorted(detector, reverse=True)
    # ranks by floats, as their code has them
    ranks = [int(k * ((n - 1) / (n_thresholds - 1))) for k in range(n_thresholds - 1)] + [n - 1]
    inside = [any(start <= t < stop for start, stop in runs) for t in range(n)]
    volumes = [0.0, 0.0]
    for width in range(window + 1):
        reach = width // 2
        weights = []
        for t in range(n):
            weight = 1.0 if inside[t] else 0.0
            for start, stop in runs:
                distance = max(start - t, t - (stop - 1))
                if 0 < distance <= reach:
                    weight += math.sqrt(1 - distance / width)
            weights.append(min(weight, 1.0))
        groups: list[
            tuple[int, int]
        ] = []  # runs with their buffers, joined where they share a step; both ends included
        for start, stop in runs:
            begin, end = start - reach, stop - 1 + reach
            if groups and begin <= groups[-1][1]:
                begin = groups.pop()[0]
            groups.append((begin, end))
        roc, precisions = [(0.0, 0.0)], [1.0]
        for rank in ranks:
            alarms = [t for t in range(n) if detector[t] >= descending[rank]]
            true = math.fsum(weights[t] for t in alarms)
            positives = sum(inside) + math.fsum(weights[t] for t in alarms if not inside[t]) / 2
            found = sum(any(begin <= t <= end for t in alarms) for begin, end in groups)
            recall = min(true / positives, 1.0) * found / len(groups)
            roc.append(((len(alarms) - true) / (n - positives) if positives < n else math.nan, recall))
            precisions.append(true / len(alarms))
        for k in range(1, len(roc)):
            volumes[1] += (roc[k][1] - roc[k - 1][1]) * precisions[k]
        roc.append((1.0, 1.0))
        for (x, y), (next_x, next_y) in itertools.pairwise(roc):
            volumes[0] += (next_x - x) * (y + next_y) / 2
    return volumes[0] / (window + 1), volumes[1] / (window + 1)


def runs_of(flags: Sequence[Any]) -> list[tuple[int, int]]:
    """Maximal runs of true flags, each as its first step and the step behind its last."""
    n = len(flags)
    opens = [t for t in range(n) if flags[t] and (t == 0 or not flags[t - 1])]
    closes = [t + 1 for t in range(n) if flags[t] and (t == n - 1 or not flags[t + 1])]
    return list(zip(opens, closes, strict=True))


def slow_f(precision: Any, recall: Any, beta: Any = 1) -> Any:
    """F_β; None where recall is undefined, 0 where precision is or both are 0."""
    if recall is None:
        return None
    if precision is None or precision != precision or precision == recall == 0:
        return Fraction(0)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def slow_ranged(
    runs: list[tuple[int, int]],
    n: int,
    detector: Sequence[Any],
    *,
    alpha: Fraction = Fraction(0),
    bias: str = "flat",
    cardinality: str = "one",
    beta: Fraction = Fraction(1),
) -> tuple[Any, Any, Any]:
    """Range-based precision, recall and F_β of Tatbul et al. (2018), range by range and step by step."""
    assert len(detector) == n
    predicted_runs = runs_of(detector)

    def delta(i: int, length: int) -> int:
        if bias == "flat":
            return 1
        if bias == "front":
            return length - i + 1
        if bias == "middle":
            return i if i <= Fraction(length, 2) else length - i + 1
        return i

    def omega(anomaly: tuple[int, int], overlap: set[int]) -> Fraction:
        length = anomaly[1] - anomaly[0]
        weights = [delta(i, length) for i in range(1, length + 1)]
        return Fraction(sum(w for w, t in zip(weights, range(*anomaly), strict=True) if t in overlap), sum(weights))

    def score(anomaly: tuple[int, int], others: list[tuple[int, int]], existence: Fraction) -> Fraction:
        overlaps = [set(range(*anomaly)) & set(range(*other)) for other in others]
        x = sum(1 for overlap in overlaps if overlap)
        gamma = Fraction(1, x) if cardinality == "reciprocal" and x > 1 else Fraction(1)
        reward = gamma * sum((omega(anomaly, overlap) for overlap in overlaps), Fraction(0))
        return existence * indicator(x >= 1) + (1 - existence) * reward

    if not runs:
        return (math.nan,) * 3
    recall = sum((score(run, predicted_runs, alpha) for run in runs), Fraction(0)) / len(runs)
    precision: Any = math.nan
    if predicted_runs:
        precision = sum((score(run, runs, Fraction(0)) for run in predicted_runs), Fraction(0)) / len(predicted_runs)
    return precision, recall, slow_f(precision, recall, beta)


def slow_etapr(
    runs: list[tuple[int, int]],
    n: int,
    detector: Sequence[Any],
    *,
    theta_p: Fraction = Fraction(1, 2),
    theta_r: Fraction = Fraction(1, 10),
    beta: Fraction = Fraction(1),
) -> tuple[float, float, float]:
    """eTaP, eTaR and F_β of Hwang et al. (2022): start with all, drop what is not covered enough, until stable."""
    assert len(detector) == n
    alarms = runs_of(detector)
    found, right = set(range(len(runs))), set(range(len(alarms)))

    def overlap(i: int, j: int) -> int:
        return len(set(range(*runs[i])) & set(range(*alarms[j])))

    def of_label(i: int) -> Fraction:
        return Fraction(sum(overlap(i, j) for j in right), runs[i][1] - runs[i][0])

    def of_alarm(j: int) -> Fraction:
        return Fraction(sum(overlap(i, j) for i in found), alarms[j][1] - alarms[j][0])

    while True:
        before = len(found), len(right)
        found = {i for i in found if of_label(i) >= theta_r}
        right = {j for j in right if of_alarm(j) >= theta_p}
        if (len(found), len(right)) == before:
            break
    if not runs:
        return (math.nan,) * 3
    recall = float(sum(((1 + of_label(i)) / 2 for i in found), Fraction(0)) / len(runs))
    precision = math.nan
    if alarms:
        weights = [math.sqrt(stop - start) for start, stop in alarms]
        precision = math.fsum(weights[j] * float((1 + of_alarm(j)) / 2) for j in right) / math.fsum(weights)
    return precision, recall, float(slow_f(precision, recall, beta))


def labelled_cases(rng: Any, count: int, longest: int = 11) -> Iterator[tuple[list[tuple[int, int]], int, Any]]:
    """Labelled runs, the number of steps, and alarms: as long as the series, laid out twice, or mirrored at borders.

    Runs may touch and lie at the borders; all steps may be labelled or none, all may have alarms or none.
    """
    for _ in range(count):
        n = int(rng.integers(1, longest + 1))
        runs = []
        for start, stop in runs_of((rng.random(n) < rng.choice([0, 0.2, 0.5, 0.8, 1])).tolist()):
            cuts = [t for t in range(start + 1, stop) if rng.random() < 0.2]
            runs += list(itertools.pairwise([start, *cuts, stop]))
        alarms = rng.random(n) < rng.choice([0, 0.2, 0.5, 0.8, 1])
        sides = [[alarms], [alarms, alarms], [alarms[::-1], alarms, alarms[::-1]]]
        yield runs, n, np.concatenate(sides[rng.integers(3)])


def labelled_steps(runs: Sequence[tuple[int, int]]) -> set[int]:
    """Steps in runs (start, stop), the stop not among them."""
    return {t for start, stop in runs for t in range(start, stop)}


def slow_auc_roc(runs: Sequence[tuple[int, int]], n: int, detector: Sequence[Any]) -> Fraction | None:
    """Share of pairs of a labelled and another step that the first wins, ties counting half; None without pairs."""
    labelled = labelled_steps(runs)
    others = set(range(n)) - labelled
    won = [
        Fraction((detector[i] > detector[j]) * 2 + (detector[i] == detector[j]), 2) for i in labelled for j in others
    ]
    return sum(won, Fraction(0)) / len(won) if won else None


def slow_average_precision(runs: Sequence[tuple[int, int]], n: int, detector: Sequence[Any]) -> Fraction | None:
    """Precision at each distinct score from above, times the recall that it adds; None without labels."""
    labelled = labelled_steps(runs)
    if not labelled:
        return None
    total, before = Fraction(0), Fraction(0)
    for threshold in sorted(set(detector), reverse=True):
        alarms = {t for t in range(n) if detector[t] >= threshold}
        recall = Fraction(len(alarms & labelled), len(labelled))
        total += (recall - before) * Fraction(len(alarms & labelled), len(alarms))
        before = recall
    return total


def slow_best_f1(
    runs: Sequence[tuple[int, int]], n: int, detector: Sequence[Any], beta: Fraction = Fraction(1), adjust: bool = False
) -> Fraction | None:
    """Largest F_β over all distinct scores as thresholds; if adjusted, a run with one alarm has them on all steps."""
    labelled = labelled_steps(runs)
    if not labelled:
        return None
    values = []
    for threshold in set(detector):
        alarms = {t for t in range(n) if detector[t] >= threshold}
        if adjust:
            for start, stop in runs:
                if alarms & set(range(start, stop)):
                    alarms = alarms | set(range(start, stop))
        hits = len(alarms & labelled)
        values.append(slow_f(Fraction(hits, len(alarms)), Fraction(hits, len(labelled)), beta))
    return max(values)


def slow_share(above: int, below: int) -> Fraction | None:
    """A share, None where it is one of nothing."""
    return Fraction(above, below) if below else None


def slow_steps_f1(labels: list[int], alarms: list[int], beta: Any = 1) -> Fraction | None:
    """F_β of two columns of 0 and 1, step by step."""
    both = sum(e and y for e, y in zip(labels, alarms, strict=True))
    return slow_f(slow_share(both, sum(alarms)), slow_share(both, sum(labels)), beta)


def slow_labels(runs: list[tuple[int, int]], n: int) -> list[int]:
    """Runs of steps as 0 and 1."""
    return [indicator(any(start <= t < stop for start, stop in runs)) for t in range(n)]


def slow_f1(runs: list[tuple[int, int]], n: int, alarms: list[int], beta: Any = 1) -> Fraction | None:
    """F_β without any adjustment."""
    return slow_steps_f1(slow_labels(runs, n), alarms, beta)


def slow_pa_f1(runs: list[tuple[int, int]], n: int, alarms: list[int], beta: Any = 1) -> Fraction | None:
    """Xu et al. (2018): an alarm anywhere in a run makes alarms of all of its steps."""
    adjusted = list(alarms)
    for start, stop in runs:
        if any(alarms[start:stop]):
            adjusted[start:stop] = [1] * (stop - start)
    return slow_steps_f1(slow_labels(runs, n), adjusted, beta)


def slow_pak_f1(runs: list[tuple[int, int]], n: int, alarms: list[int], k: Any = 20, beta: Any = 1) -> Fraction | None:
    """Kim et al. (2022): so does a share of at least k percent."""
    adjusted = list(alarms)
    for start, stop in runs:
        share = Fraction(sum(alarms[start:stop]), stop - start)
        if share > 0 and share >= Fraction(k) / 100:
            adjusted[start:stop] = [1] * (stop - start)
    return slow_steps_f1(slow_labels(runs, n), adjusted, beta)


def slow_pak_auc(runs: list[tuple[int, int]], n: int, alarms: list[int], beta: Any = 1) -> Fraction | None:
    """The area of that over k: between two shares that some run could have, F is the same everywhere."""
    cuts = sorted({Fraction(i, b - a) for a, b in runs for i in range(b - a + 1)} | {Fraction(0), Fraction(1)})
    area = Fraction(0)
    for low, high in itertools.pairwise(cuts):
        value = slow_pak_f1(runs, n, alarms, 50 * (low + high), beta)
        if value is None:
            return None
        area += (high - low) * value
    return area


def slow_delay_pa_f1(
    runs: list[tuple[int, int]], n: int, alarms: list[int], delay: int = 10, beta: Any = 1
) -> Fraction | None:
    """Ren et al. (2019): an alarm within ``delay`` steps of the start finds the whole run; else all of it is missed."""
    adjusted = list(alarms)
    for start, stop in runs:
        in_time = any(alarms[t] for t in range(start, stop) if t - start <= delay)
        adjusted[start:stop] = [indicator(in_time)] * (stop - start)
    return slow_steps_f1(slow_labels(runs, n), adjusted, beta)


def slow_composite_f1(runs: list[tuple[int, int]], n: int, alarms: list[int], beta: Any = 1) -> Fraction | None:
    """Garg et al. (2021): precision of steps, recall of runs."""
    labels = slow_labels(runs, n)
    right = sum(e and y for e, y in zip(labels, alarms, strict=True))
    found = sum(any(alarms[start:stop]) for start, stop in runs)
    return slow_f(slow_share(right, sum(alarms)), slow_share(found, len(runs)), beta)


def slow_alarm_runs(alarms: list[int]) -> list[tuple[int, int]]:
    """Runs of alarms, from each first one up to the first step without."""
    starts = [t for t in range(len(alarms)) if alarms[t] and not (t and alarms[t - 1])]
    return [(s, next((t for t in range(s, len(alarms)) if not alarms[t]), len(alarms))) for s in starts]


def slow_event_f1(
    runs: list[tuple[int, int]], n: int, alarms: list[int], beta: Any = 1, rate: Fraction = Fraction(0)
) -> Fraction | None:
    """Hundman et al. (2018): runs found, and runs of alarms that touch no label; precision is lowered by a rate."""
    found = sum(any(alarms[start:stop]) for start, stop in runs)
    apart = [
        run for run in slow_alarm_runs(alarms) if not any(run[0] < stop and start < run[1] for start, stop in runs)
    ]
    precision = slow_share(found, found + len(apart))
    recall = slow_share(found, len(runs))
    return slow_f(None if precision is None else precision * (1 - rate), recall, beta)


def slow_event_far_f1(runs: list[tuple[int, int]], n: int, alarms: list[int], beta: Any = 1) -> Fraction | None:
    """El Amine Sehili and Zhang (2023): the rate is that of alarms on steps without a label."""
    normal = [y for e, y in zip(slow_labels(runs, n), alarms, strict=True) if not e]
    return slow_event_f1(runs, n, alarms, beta, slow_share(sum(normal), len(normal)) or Fraction(0))


def slow_tolerant(
    runs: list[tuple[int, int]], n: int, alarms: list[int], early: int = 0, late: int = 0, *, ranges: bool = False
) -> tuple[Fraction | None, Fraction | None]:
    """Precision and recall; events are runs or their steps; alarms count from start - early to end + late."""
    events = runs if ranges else [(t, t + 1) for start, stop in runs for t in range(start, stop)]
    at = [t for t in range(n) if alarms[t]]
    near = [[p for p in at if start - early <= p <= stop - 1 + late] for start, stop in events]
    precision = slow_share(len({p for found in near for p in found}), len(at)) if events else None
    return precision, slow_share(sum(map(bool, near)), len(events))


Mark = tuple[Any, Any, int, int, bool, bool]
"""An event or an alarm: first and last time, first and last step, whether it counts, whether it is found or a hit."""


def slow_episodes(events: list[list[Mark]], alarms: list[list[Mark]], reach: Any) -> list[list[tuple[int, ...]]]:
    """Alarms, hits, events and found events of each detector in each episode, in time order: by linking all pairs.

    Two marks are linked if the one begins at most so far behind the other's end, or on a neighbouring step; an episode
    is what hangs together by links.
    """
    marks = sorted({mark[:4] for one in (*events, *alarms) for mark in one})
    episode = list(range(len(marks)))
    for i, j in itertools.combinations(range(len(marks)), 2):
        a, b = marks[i], marks[j]
        if max(a[0], b[0]) - min(a[1], b[1]) <= reach or max(a[2], b[2]) - min(a[3], b[3]) <= 1:
            old, new = max(episode[i], episode[j]), min(episode[i], episode[j])
            episode = [new if of == old else of for of in episode]
    of = dict(zip(marks, episode, strict=True))

    def row(d: int, unit: int) -> tuple[int, ...]:
        counted = [[m for m in one if m[4] and of[m[:4]] == unit] for one in (alarms[d], events[d])]
        return tuple(count for one in counted for count in (len(one), sum(m[5] for m in one)))

    table = [[row(d, unit) for unit in sorted(set(episode))] for d in range(len(alarms))]
    kept = [k for k in range(len(set(episode))) if any(any(rows[k]) for rows in table)]
    return [[rows[k] for k in kept] for rows in table]


def slow_swap_p(first: list[tuple[int, ...]], second: list[tuple[int, ...]]) -> list[Fraction | None]:
    """P-values of precision, recall and F1 by all swaps of the units, in fractions; None where a detector has no value.

    The statistic is difference² over the sum of squares of what each unit adds to it, to first order; a swap that
    leaves a detector without a value is as extreme as can be.
    """

    def measured(rows: list[tuple[int, ...]]) -> list[tuple[Fraction, list[Fraction]] | None]:
        a, h, e, f = (sum(column) for column in zip(*rows, strict=True))
        p = (Fraction(h, a), [(r[1] - Fraction(h, a) * r[0]) / a for r in rows]) if a else None
        r = (Fraction(f, e), [(r[3] - Fraction(f, e) * r[2]) / e for r in rows]) if e else None
        if p is None or r is None:
            return [p, r, None]
        if p[0] + r[0] == 0:
            return [p, r, (Fraction(0), [Fraction(0)] * len(rows))]
        by_p, by_r = (2 * (x[0] / (p[0] + r[0])) ** 2 for x in (r, p))
        both = [by_p * u + by_r * v for u, v in zip(p[1], r[1], strict=True)]
        return [p, r, (2 * p[0] * r[0] / (p[0] + r[0]), both)]

    def statistics(swapped: tuple[bool, ...]) -> list[Fraction | float | None]:
        rows = [(b, a) if s else (a, b) for a, b, s in zip(first, second, swapped, strict=True)]
        found: list[Fraction | float | None] = []
        for one, other in zip(*(measured([row[side] for row in rows]) for side in (0, 1)), strict=True):
            if one is None or other is None:
                found.append(None)
                continue
            squares = sum(((u - v) ** 2 for u, v in zip(one[1], other[1], strict=True)), Fraction(0))
            apart = (one[0] - other[0]) ** 2
            found.append(Fraction(0) if apart == 0 else math.inf if squares == 0 else apart / squares)
        return found

    observed = statistics((False,) * len(first))
    every = [statistics(swapped) for swapped in itertools.product((False, True), repeat=len(first))]
    return [
        None if own is None else Fraction(sum(row[m] is None or row[m] >= own for row in every), len(every))
        for m, own in enumerate(observed)
    ]
