"""Seasons and slow changes: spectra of events and alarms, periods that are known or searched for, and calendars.

A spectrum is compared with itself: each power with its neighbours, which clusters and memory raise as much. Where a
period is known, whole cycles of it are looked at, so that its harmonics are frequencies of the transform; where it is
not, all frequencies of both sides are searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.lazy import lazy
from nofluke.nulls.evidence import Evidence
from nofluke.nulls.levels import (
    COMBS,
    CYCLES_OF_CHANGE,
    HARMONIC,
    JOINTLY,
    LEAST_CYCLES,
    LEAST_STEPS,
    MANY_CYCLES,
    OTHER_SIDE,
    STRONG,
)
from nofluke.nulls.seasonal import Seasonal
from nofluke.series.clock import Clock
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

# ---- short whole periods, by all of their harmonics at once

PERIODS = np.arange(3, 32)  # steps: up to the days of a month
MOST = (int(PERIODS[-1]) - 1) // 2  # harmonics
PER_HARMONIC = 5  # flags for each harmonic: with fewer, two that share a phase count in all harmonics at once


def comb_tails(tails: FloatArray, n_steps: int, n_flags: int) -> FloatArray:
    """-log P of each of `PERIODS`, from the -log P of all powers of a series with so many flags.

    The harmonics of a period P are the frequencies h T/P, h < P/2; each is read at the nearest one of the series, since
    only there rotations change nothing. Fisher's method combines them.
    """
    used = harmonics_used(n_flags)[:, None] > np.arange(MOST)
    total = (tails[harmonics(n_steps, len(tails))] * used).sum(axis=1)
    # P(χ² with 2h degrees ≥ 2x) = e^-x Σ_{i<h} x^i/i!
    terms = np.ones(used.shape)
    np.cumprod(total[:, None] / np.arange(1, MOST), axis=1, out=terms[:, 1:])
    return np.asarray(np.maximum(total - np.log((terms * used).sum(axis=1)), 0.0))


@lru_cache(maxsize=8)
def harmonics(n_steps: int, n_powers: int) -> IntArray:
    """Where the harmonics of each period are among the powers: a row a period."""
    nearest = np.rint(np.arange(1, MOST + 1) * n_steps / PERIODS[:, None]).astype(np.int64)
    return np.clip(nearest, 1, n_powers) - 1


def harmonics_used(n_flags: int) -> IntArray:
    """How many harmonics of each period are looked at."""
    return np.minimum((PERIODS - 1) // 2, max(n_flags // PER_HARMONIC, 1))


# ---- the spectra of events and alarms, and the slow changes of their rates that these show

BACKGROUND = 4  # times as many frequencies behind those say what there is without a slow change
MOST_BINS = 2**17  # longer series are added up in steps of two, three, ...
NEIGHBOURS = 20  # frequencies on either side that say how strong the spectrum is there without a season
GAP = 2  # frequencies next to it that a season between two frequencies leaks into
NOTHING = 0.5  # a p-value above needs no closer look


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Slow changes of the rates of events and alarms.

    Attributes
    ----------
    pvalue : float
        How often both spectra together are that strong at low frequencies where there is nothing slow.
    ratio : float
        The largest ratio of low frequencies to those behind, of either side.
    cycles : int
        2, 4 or 8: rates change within about a half of T/cycles steps.
    """

    pvalue: float
    ratio: float
    cycles: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """Events or alarms, and their spectrum. Steps that do not count are taken to have the mean value.

    Attributes
    ----------
    at : int array
        Steps of them, among all steps; or all steps that count, if there are weights.
    open_steps : bool array
        Which of all steps count.
    weights : float array or None
        A value for each of ``at``, of mean 0; None for 1 each.
    """

    at: IntArray
    open_steps: BoolArray
    weights: FloatArray | None = None

    @classmethod
    def of_steps(cls, steps: IntArray, open_steps: BoolArray) -> Side:
        """Steps, numbered among those that count."""
        at = steps if open_steps.all() else np.flatnonzero(open_steps)[steps]
        return cls(at=at, open_steps=open_steps)

    @classmethod
    def of_values(cls, values: FloatArray, open_steps: BoolArray) -> Side:
        """Values of mean 0, of the steps that count."""
        return cls(at=np.flatnonzero(open_steps), open_steps=open_steps, weights=values)

    @property
    def n_steps(self) -> int:
        """All steps."""
        return len(self.open_steps)

    @property
    def coarse(self) -> int:
        """Steps added up."""
        return -(-self.n_steps // MOST_BINS)

    @lazy
    def powers(self) -> FloatArray:
        """Powers of all frequencies the series shows, from 1 cycle up. One step per bin: no rotation changes them."""
        spectrum = np.fft.rfft(self.series)[1 : (len(self.series) + 1) // 2]
        return np.asarray(spectrum.real**2 + spectrum.imag**2)

    @lazy
    def tails(self) -> FloatArray:
        """-log P of each power, from its ratio to the mean of its neighbours."""
        return _against_neighbours(self.powers)

    @lazy
    def combs(self) -> FloatArray:
        """-log P of each of the short whole periods, `PERIODS`."""
        return comb_tails(self.tails, self.n_steps, len(self.at))

    @lazy
    def series(self) -> FloatArray:
        """The values less their mean, added up where the series is very long."""
        n, whole = self.n_steps, bool(self.open_steps.all())
        if self.weights is None and whole and self.coarse == 1:
            return np.asarray(np.bincount(self.at, minlength=n) - len(self.at) / n)
        bins = -(-n // self.coarse)
        found = np.bincount(self.at * bins // n, weights=self.weights, minlength=bins).astype(np.float64)
        if self.weights is not None:
            return found
        if whole:
            sizes = np.diff(-(-np.arange(bins + 1) * n // bins))
        else:
            sizes = np.bincount(np.flatnonzero(self.open_steps) * bins // n, minlength=bins)
        return np.asarray(found - sizes * (len(self.at) / sizes.sum()))


def drift(events: Side, alarms: Side, longest: int = 1) -> Drift:
    """Slow changes of both sides: powers at the lowest frequencies beside those above, combined by Fisher's method.

    Alarms come in clumps as long as the ``longest`` range, which raise the powers of all frequencies below half a cycle
    in that time: only these are looked at.
    """
    top, looked = lowest(events, longest)
    sides = (events.powers[:top], alarms.powers[:top])
    slow = {k: [_slow(side, 0, k) for side in sides] for k in looked}
    ratio = max((r for tails in slow.values() for _, r in tails), default=0.0)

    def pvalue(alike: float) -> float:
        smallest = min((fisher(one[0], other[0], alike) for one, other in slow.values()), default=1.0)
        return min(smallest * max(len(looked), 1), 1.0)

    if pvalue(0.0) > NOTHING:  # likeness would only raise it
        return Drift(pvalue=pvalue(0.0), ratio=ratio, cycles=CYCLES_OF_CHANGE[0])
    alike, cycles = likeness(events.tails, alarms.tails), CYCLES_OF_CHANGE[0]
    for k in looked[1:]:
        one, other = (_slow(side, k // 2, k)[0] for side in sides)
        if max(one, other) <= 0.3 and fisher(one, other, alike) <= 0.05:
            cycles = k
    return Drift(pvalue=pvalue(alike), ratio=ratio, cycles=cycles)


def lowest(events: Side, longest: int) -> tuple[int, list[int]]:
    """Below which frequency slow changes are looked for, and of which of `CYCLES_OF_CHANGE` there is enough behind."""
    top = events.n_steps // (2 * longest) if longest > 1 else events.n_steps
    room = 1 + BACKGROUND if longest > 1 else 2
    return top, [k for k in CYCLES_OF_CHANGE if len(events.powers[:top]) >= room * k]


def _slow(power: FloatArray, first: int, last: int) -> tuple[float, float]:
    """P-value and ratio of mean low powers to the mean of those above: an F with even degrees of freedom."""
    low, behind = power[first:last], power[last : (1 + BACKGROUND) * last]
    total = float(behind.sum())
    if total <= 0:
        return 1.0, 0.0
    k, m = len(low), len(behind)
    ratio = float(low.mean()) * m / total
    y = m / (m + k * ratio)
    # P(F > f) = y^m Σ_{j<k} C(m + j - 1, j) (1 - y)^j
    term, tail = y**m, 0.0
    for j in range(k):
        tail += term
        term *= (1 - y) * (m + j) / (j + 1)
    return min(tail, 1.0), ratio


def likeness(events: FloatArray, alarms: FloatArray) -> float:
    """How much one spectrum copies the other's accidents, as a skilled detector does: their correlation, if positive.

    From powers alone, which no rotation changes; of a detector that knows nothing it is about 0.
    """
    spread = float(events.std() * alarms.std()) if len(events) else 0.0
    if not spread > 0:
        return 0.0
    return max(float(((events - events.mean()) * (alarms - alarms.mean())).mean()) / spread, 0.0)


def together(one: float, other: float, alike: float) -> float:
    """P-value of two -log p together: two exponentials, or the same one twice where spectra are alike."""
    x = (one + other) / (1 + alike)
    return min(math.exp(-x) * (1 + x), 1.0)


def fisher(one: float, other: float, alike: float) -> float:
    """Two p-values combined by Fisher's method."""
    return together(-math.log(max(one, 1e-300)), -math.log(max(other, 1e-300)), alike)


def _against_neighbours(power: FloatArray) -> FloatArray:
    """-log P of each power, from its ratio to the mean of its neighbours."""
    count = _neighbours(len(power))
    background = _around(np.concatenate([[0.0], np.cumsum(power)])) / count
    ratio = np.divide(power, background, out=np.zeros(len(power)), where=background > 0)
    return np.asarray(count * np.log1p(ratio / count))


@lru_cache(maxsize=8)
def _neighbours(n: int) -> FloatArray:
    """How many neighbours each of n powers has."""
    return np.maximum(_around(np.arange(n + 1.0)), 1.0)


def _around(total: FloatArray) -> FloatArray:
    """Sums over the neighbours on both sides, those next to it left out, from the sums up to each."""
    n, far = len(total) - 1, GAP + NEIGHBOURS + 1
    padded = np.concatenate([np.full(far, total[0]), total, np.full(far, total[-1])])
    below, left, right, above = (
        padded[far + k : far + k + n] for k in (-GAP - NEIGHBOURS, -GAP, GAP + 1, GAP + 1 + NEIGHBOURS)
    )
    return np.asarray(left - below + above - right)


# ---- a period that events and alarms both follow, searched for in their spectra

HARMONICS = 8
FINE = 64  # frequencies looked at between two ordinates
PARTS = 64  # in which a slow wave is added up


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonPeriod:
    """A period that events and alarms both follow.

    Attributes
    ----------
    steps : float
        Its length.
    cycles : float
        How often it comes back in the series.
    pvalue : float
        Of the side that shows it best, or of both, corrected for the search.
    found : bool
    shortest, longest : float
        What was searched, in steps.
    """

    steps: float
    cycles: float
    pvalue: float
    found: bool
    shortest: float
    longest: float


def common_period(events: Side, alarms: Side, shortest: float, level: float) -> CommonPeriod:
    """Search both spectra for a period of at least ``shortest`` steps and four cycles that they have in common.

    Each power is compared with its neighbours, which clusters and memory raise as much: the ratio to the mean of M
    neighbours exceeds f with probability (1 + f/M)^-M. Either one side must show it after Bonferroni's correction for
    all that was searched and the other at that frequency alone; or both together must, at a fifth of the level: a
    detector with skill copies the accidents of the events' spectrum. A period that comes back less than twelve times
    must stand out from all longer ones, or it is a slow change.

    Short whole periods are searched in the same way by all of their harmonics at once, which a narrow season needs.
    """
    n_steps, sides = events.n_steps, (events.powers, alarms.powers)
    shortest = max(shortest, 3.0 * events.coarse)
    first, last = LEAST_CYCLES, min(int(n_steps / shortest), len(sides[0]) - 1)
    searched = {"shortest": shortest, "longest": n_steps / LEAST_CYCLES}
    nothing = CommonPeriod(steps=0.0, cycles=0.0, pvalue=1.0, found=False, **searched)
    if last < first or any(side.sum() == 0 for side in sides):
        return nothing
    tails = (events.tails, alarms.tails)
    alike = likeness(*tails)
    candidates = _candidates(tails, first, last, 1, alike)
    known = [c for c in candidates if c[1] <= OTHER_SIDE and any(_stands_out(side, c[2]) for side in sides)]
    pvalue, cycles = min(candidates)[0], 0.0
    if known and min(known)[0] <= level:
        pvalue, _, at = min(known)
        at = _fundamental(np.minimum(*tails), at)
        harmonics = [
            h for h in range(2, HARMONICS + 1) if h * at <= last and _near(tails[0] + tails[1], h * at).max() > STRONG
        ]
        cycles = _refined(events, alarms, at, [1, *harmonics])
    comb, whole = _whole_period(events, alarms, shortest, alike)
    if comb <= level and (not cycles or _whole_is_better(n_steps / whole, cycles, comb <= pvalue)):
        return CommonPeriod(steps=whole, cycles=n_steps / whole, pvalue=min(comb, pvalue), found=True, **searched)
    if not cycles:
        return replace(nothing, pvalue=min(comb, pvalue))
    steps = _on_steps(n_steps / cycles)
    return CommonPeriod(steps=steps, cycles=n_steps / steps, pvalue=pvalue, found=True, **searched)


def _candidates(
    tails: tuple[FloatArray, FloatArray], first: int, last: int, near: int, alike: float
) -> list[tuple[float, float, int]]:
    """What both sides together, and each alone, show best: its corrected p-value, the other side's, and where.

    Numbers ``first`` to ``last`` are searched, counted from 1; the other side may be so many places off.
    """
    searching, count = slice(first - 1, last), last - first + 1
    both = np.where(np.minimum(*tails) >= -math.log(OTHER_SIDE / 2), tails[0] + tails[1], 0.0)
    at = int(both[searching].argmax()) + first
    joint = together(float(tails[0][at - 1]), float(tails[1][at - 1]), alike) if both[at - 1] else 1.0
    found = [(min(joint * count / JOINTLY, 1.0), 0.0, at)]
    for mine, theirs in (tails, tails[::-1]):
        at = int(mine[searching].argmax()) + first
        other = min((2 * near + 1) * math.exp(-float(_near(theirs, at, near).max())), 1.0)
        found.append((min(math.exp(-float(mine[at - 1])) * count, 1.0), other, at))
    return found


def _whole_period(events: Side, alarms: Side, shortest: float, alike: float) -> tuple[float, int]:
    """The short whole period that shows best by all of its harmonics, and its p-value, corrected for the search."""
    looked = whole_periods(events.n_steps, shortest)
    # what one season leaves is not searched in this way: hardly any null keeps two
    if events.coarse > 1 or events.weights is not None or looked.start >= looked.stop:
        return 1.0, 0
    found = _candidates((events.combs, alarms.combs), looked.start + 1, looked.stop, 0, alike)
    pvalue, _, at = min((c for c in found if c[1] <= OTHER_SIDE / 2), default=(1.0, 0.0, 1))
    return min(pvalue / COMBS, 1.0), int(PERIODS[at - 1])


def whole_periods(n_steps: int, shortest: float) -> slice:
    """Which of `PERIODS` are searched."""
    return slice(
        int(np.searchsorted(PERIODS, shortest)), int(np.searchsorted(PERIODS, n_steps // MANY_CYCLES, "right"))
    )


def _whole_is_better(whole: float, cycles: float, stronger: bool) -> bool:
    """Whether a whole period, by its cycles, is preferred to what a single frequency shows.

    It is where that may be one of its harmonics; it is not where it is a harmonic itself; else the stronger one is.
    """
    high, low = max(cycles, whole), min(cycles, whole)
    return cycles >= whole - 0.25 if abs(high - round(high / low) * low) <= 0.25 else stronger


def _on_steps(steps: float) -> float:
    """A short period as whole steps: one of 3.5 steps meets the same phase of a step again after 7."""
    for times in (2, 3, 4):
        whole = round(times * steps)
        if whole <= PERIODS[-1] and abs(times * steps - whole) < 0.02 < abs(steps - round(steps)):
            return float(whole)
    return steps


def _stands_out(power: FloatArray, at: int) -> bool:
    """Whether a power at few cycles exceeds all at fewer; that at many cycles need not."""
    return at >= MANY_CYCLES or bool(power[at - 1] > power[: max(at - 1 - GAP, 0)].max(initial=0.0))


def _near(tails: FloatArray, at: int, near: int = 1) -> FloatArray:
    return tails[max(at - 1 - near, 0) : at + near]


def _fundamental(tails: FloatArray, at: int) -> int:
    """The lowest frequency of which this one is a multiple and that stands out itself."""
    for divisor in (4, 3, 2):
        low = round(at / divisor)
        if low >= LEAST_CYCLES and float(_near(tails, low).max()) >= -math.log(HARMONIC):
            return max(low - 1, 1) + int(_near(tails, low).argmax())
    return at


def _refined(events: Side, alarms: Side, at: int, harmonics: list[int]) -> float:
    """The frequency around an ordinate where both sides together are strongest; harmonics fix it more sharply."""
    offsets = np.arange(-FINE, FINE + 1) / FINE
    total = np.zeros(len(offsets))
    # brought down to frequency 0, a wave of about that frequency is slow and can be added up in few parts
    time = (np.arange(len(events.series)) + 0.5) / len(events.series)
    part = (time * PARTS).astype(np.int64)
    middle = (np.arange(PARTS) + 0.5) / PARTS
    for harmonic in harmonics:
        wave = np.exp(time * (-2j * np.pi * at * harmonic))
        fine = np.exp(np.outer(offsets, middle * (-2j * np.pi * harmonic)))
        for side in (events, alarms):
            down = side.series * wave
            real, imaginary = (np.bincount(part, weights=one, minlength=PARTS) for one in (down.real, down.imag))
            # not by BLAS, whose threads cost more than so few numbers are worth
            summed = np.einsum("fp,p->f", fine, real + 1j * imaginary)
            total += np.abs(summed) ** 2 / float(side.series @ side.series)
    return at + float(offsets[total.argmax()])


# ---- a period that is known, or one of the calendar

Period = int | float | str
DAY = 86_400 * 10**9
CALENDAR_PERIODS = {"hour of day": DAY, "day of week": 7 * DAY, "month": 365.2425 * DAY}
"""Nanoseconds after which each rule of the calendar repeats: a year for months."""

KNOWN_HARMONICS = 4
KNOWN_NEIGHBOURS = 10  # on either side: whole cycles leak nothing, so nearer ones will do
BINS_OF_PERIOD = 32  # finer steps are added up: the harmonics looked at do not need them
MOST_GRID = 8  # steps of a grid for each step of a clock: one that needs more is too irregular for a spectrum


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonSeen:
    """A season that was looked for, in events and in alarms."""

    period: Period
    events: Evidence
    alarms: Evidence
    events_found: bool
    alarms_found: bool

    @property
    def label(self) -> str:
        """The season in words."""
        return self.period if isinstance(self.period, str) else f"period {self.period:,} steps"

    @property
    def pvalue(self) -> float:
        """Of the side that shows it best."""
        return min(self.events.pvalue, self.alarms.pvalue)

    @property
    def found(self) -> bool:
        """Whether events or alarms follow it; one of them is enough to make a null that keeps it the safe choice."""
        return self.events_found or self.alarms_found


def look_for_seasons(cell: Cell, period: Period | None, alpha: float) -> tuple[SeasonSeen, ...]:
    """The season of the given period, or those of the calendar; corrected (Bonferroni) for how many were looked at."""
    if period is not None:
        period = Seasonal(period=period).period  # refuses what is no period, and makes it plain
        if not isinstance(period, str) and period < 2:  # type: ignore[operator]  # a period is no None
            raise InputError(argument="period", value=period, problem="must be a number of at least 2 steps")
    elif cell.clock is None or not cell.clock.is_dates:
        return ()
    looked: list[tuple[Period, Evidence, Evidence]] = []
    for one in CALENDAR_PERIODS if period is None else (period,):
        pair = [_of_side(flags, cell, one) for flags in (cell.truth.flags, cell.alarm_flags)]
        if pair[0] is not None and pair[1] is not None:
            looked.append((one, pair[0], pair[1]))
    if isinstance(period, str) and (cell.clock is None or not cell.clock.is_dates):
        raise InputError(
            argument="period",
            value=period,
            problem="needs a clock of dates",
            remedy=say("pass {}, or a period in steps", arg("times")),
        )
    level = alpha / max(len(looked), 1)
    return tuple(
        SeasonSeen(
            period=one,
            events=events,
            alarms=alarms,
            events_found=events.pvalue <= level,
            alarms_found=alarms.pvalue <= level,
        )
        for one, events, alarms in looked
    )


def _of_side(flags: Any, cell: Cell, period: Period) -> Evidence | None:
    if isinstance(period, str):
        return season_of_calendar(flags, cell.clock, period)
    return season_of_steps(flags, cell.truth, period)


def strongest(seasons: tuple[SeasonSeen, ...]) -> SeasonSeen | None:
    """The season with the smallest p-value among those found."""
    found = [season for season in seasons if season.found]
    return min(found, key=lambda season: season.pvalue, default=None)


def season_of_steps(values: npt.NDArray[np.generic], side: Truth, period: float) -> Evidence | None:
    """A season with a period in steps, masked ones counted; None where it cannot be looked at."""
    index = np.flatnonzero(side.open_steps)
    return _at_period(values, index, len(side.open_steps), period)


def season_of_calendar(values: npt.NDArray[np.generic], clock: Clock | None, rule: str) -> Evidence | None:
    """A season of the calendar, on a clock of dates; None where it cannot be looked at."""
    if clock is None or not clock.is_dates or clock.step <= 0:
        return None
    since = clock.elapsed() / clock.step
    if since[-1] > MOST_GRID * len(clock):
        return None
    index = np.rint(since).astype(np.int64)
    return _at_period(values, index, int(index[-1]) + 1, CALENDAR_PERIODS[rule] / (clock.step * clock.tick_size))


def _at_period(values: npt.NDArray[np.generic], index: IntArray, n_steps: int, period: float) -> Evidence | None:
    """Does the spectrum stand out at the period and its first harmonics?

    Each ordinate is compared with its neighbours, which clustering and memory raise as much: in a stationary process
    without a season the ratio to the mean of M neighbours exceeds f with probability (1 + f/M)^-M. The harmonics are
    combined by Fisher's method. The statistic is the largest ratio.
    """
    cycles = int(n_steps / period) if period > 0 else 0
    if cycles < LEAST_CYCLES or period < LEAST_STEPS:
        return None
    centred = values.astype(np.float64)
    centred = centred - centred.mean()
    if not centred.any():
        return Evidence(statistic=0.0, pvalue=1.0)
    cycles = _smooth(cycles)
    coarse = max(int(period / BINS_OF_PERIOD), 1)
    whole = round(cycles * period / coarse)  # whole periods: the harmonics are then ordinates of the transform
    series = np.bincount(index // coarse, weights=centred, minlength=whole)[:whole]
    power = np.abs(np.fft.rfft(series)) ** 2
    reach = min(KNOWN_NEIGHBOURS, (cycles - 1) // 2)
    fisher, used, largest = 0.0, 0, 0.0
    for k in range(1, KNOWN_HARMONICS + 1):
        at = k * cycles
        if 2 * (at + reach) >= whole:  # the last ordinate of all is no exponential
            break
        around = np.concatenate([power[at - reach : at], power[at + 1 : at + reach + 1]])
        background = float(around.mean())
        ratio = float(power[at]) / background if background > 0 else 0.0
        largest = max(largest, ratio)
        fisher += len(around) * math.log1p(ratio / len(around))
        used += 1
    if used == 0:
        return None
    # P(χ² with 2h degrees ≥ 2x) = e^-x Σ_{i<h} x^i/i!
    tail = math.exp(-fisher) * sum(fisher**i / math.factorial(i) for i in range(used))
    return Evidence(statistic=largest, pvalue=min(tail, 1.0))


def _smooth(cycles: int) -> int:
    """The largest number up to ``cycles`` without large prime factors, for a fast transform; small ones stay."""
    for candidate in range(cycles, 100, -1):
        rest = candidate
        for factor in (2, 3, 5, 7):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return candidate
    return cycles
