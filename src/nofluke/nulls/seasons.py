"""Seasons and slow changes: spectra of events and alarms, periods that are known or searched for, and calendars.

A spectrum is compared with itself: each power with its neighbours, which clusters and memory raise as much. Where a
period is known, whole cycles of it are looked at, so that its harmonics are frequencies of the transform; where it is
not, all frequencies of both sides are searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.arrays import BoolArray, FloatArray, IntArray, inner
from nofluke.compiled import Patience
from nofluke.dates import NANOSECONDS
from nofluke.errors import InputError, arg, say
from nofluke.lazy import Keeper, lazy
from nofluke.levels import (
    BACKGROUND,
    BESIDE,
    BESIDE_KNOWN,
    COMBS,
    CYCLES_OF_CHANGE,
    FEWEST_CYCLES,
    FLAGS_OF_HARMONIC,
    GAP,
    HARMONIC,
    HARMONICS,
    JOINTLY,
    KNOWN_HARMONICS,
    LEAST_CYCLES,
    LEAST_STEPS,
    LONG_HARMONICS,
    MANY_CYCLES,
    MOST_OF_HARMONIC,
    OTHER_SIDE,
    SEASON,
    SHORT_HARMONICS,
    SHORT_PERIODS,
    STRONG,
)
from nofluke.nulls.calendars import RULES
from nofluke.nulls.evidence import Evidence
from nofluke.nulls.seasonal import Seasonal
from nofluke.series.clock import Clock
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

# ---- whole periods, by all of their harmonics at once


@dataclass(frozen=True, kw_only=True, eq=False)
class Combs:
    """Whole periods that are looked for by many harmonics together, which a narrow season needs.

    Attributes
    ----------
    periods : int array
        In steps, ascending.
    most : int
        Harmonics that are looked at, at most.
    cycles : int
        How often a period has to come back.
    cap : float
        What a harmonic counts at most, as -log P: a single strong one is the business of the search by frequencies.
    coarse : int
        Steps that were added up before the powers were taken.
    """

    periods: IntArray
    most: int
    cycles: int
    cap: float = math.inf
    coarse: int = 1

    def tails(self, tails: FloatArray, n_steps: int, n_flags: int) -> FloatArray:
        """-log P of each period, from the -log P of all powers of a series with so many flags.

        The harmonics of a period P are the frequencies h T/P, h < P/2; each is read at the nearest one of the series,
        since only there rotations change nothing. Fisher's method combines them. It is 0 where P is so large that the
        period is none, whatever the other side shows.
        """
        heard = np.minimum(self.heard, most_heard(n_flags))
        most = int(heard.max(initial=1))
        each = np.minimum(tails, self.cap)[harmonics_of(self, n_steps, len(tails))[:, :most]]
        fewer = int(np.searchsorted(heard, most))  # shorter periods have fewer harmonics
        each[:fewer] *= heard[:fewer, None] > np.arange(most)
        total = each.sum(axis=1)
        least = min(-math.log(OTHER_SIDE / 2), math.log(max(len(heard), 1) / COMBS))
        some = total >= _totals_of(least, self.most)[heard]
        found = np.zeros(len(total))
        found[some] = chi_tails(total[some], heard[some, None] > np.arange(most))
        return found

    @lazy
    def heard(self) -> IntArray:
        """How many harmonics of each period there are, as far as they are looked at."""
        return np.minimum((self.periods // self.coarse - 1) // 2, self.most)


def most_heard(n_flags: int) -> int:
    """How many harmonics so many flags can show."""
    return max(n_flags // FLAGS_OF_HARMONIC, 1)


def chi_tails(total: FloatArray, used: BoolArray) -> FloatArray:
    """-log P of sums of h exponentials, as many as a row has used: P(χ² with 2h degrees ≥ 2x) = e^-x Σ_{i<h} x^i/i!."""
    terms = np.ones(used.shape)
    np.cumprod(total[:, None] / np.arange(1, used.shape[1]), axis=1, out=terms[:, 1:])
    return np.asarray(np.maximum(total - np.log((terms * used).sum(axis=1)), 0.0))


@lru_cache(maxsize=8)
def _totals_of(least: float, most: int) -> FloatArray:
    """The smallest sums of 0, 1, ..., ``most`` exponentials whose -log P is as large."""
    used = np.arange(most + 1)[:, None] > np.arange(most)
    low, high = np.zeros(most + 1), np.full(most + 1, least + 10.0 * most)
    for _ in range(60):
        middle = (low + high) / 2
        enough = chi_tails(middle, used | (np.arange(most) == 0)) >= least
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return low


@lru_cache(maxsize=8)
def harmonics_of(combs: Combs, n_steps: int, n_powers: int) -> IntArray:
    """Where the harmonics of each whole period are among so many powers: a row a period."""
    nearest = np.arange(1, combs.most + 1) * n_steps / combs.periods[:, None]
    found = np.rint(nearest, out=nearest).astype(np.int64)  # millions of them for a long series: no more copies
    np.clip(found, 1, n_powers, out=found)
    found -= 1
    return found


SHORT = Combs(periods=np.arange(SHORT_PERIODS[0], SHORT_PERIODS[1] + 1), most=SHORT_HARMONICS, cycles=MANY_CYCLES)
EVERY_ONE = 1_500  # steps of a period, up to which each whole number is one


@lru_cache(maxsize=8)
def combs_of(n_steps: int) -> tuple[Combs, ...]:
    """The whole periods that are looked for in so many steps: short ones, and long ones that come back often enough.

    Two long periods whose harmonics all lie at the same frequencies are one: P and P + P²/(T h) for h harmonics.
    """
    coarse = coarse_of(n_steps)
    longest = n_steps // FEWEST_CYCLES
    shortest = (SHORT_PERIODS[1] + 1) * coarse
    periods = list(range(shortest, min(EVERY_ONE, longest) + 1))
    one = periods[-1] + 1 if periods else shortest
    while one <= longest:
        periods.append(one)
        one += max(one * one // (LONG_HARMONICS * n_steps), 1)
    long = Combs(
        periods=np.array(periods, dtype=np.int64),
        most=LONG_HARMONICS,
        cycles=FEWEST_CYCLES,
        cap=MOST_OF_HARMONIC,
        coarse=coarse,
    )
    return (SHORT, long) if coarse == 1 else (long,)


def coarse_of(n_steps: int) -> int:
    """Steps that are added up before a spectrum is taken, where there are very many."""
    return -(-n_steps // MOST_BINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Where a period of at least ``shortest`` steps is searched for.

    Attributes
    ----------
    shortest : float
    first, last : int
        Of the frequencies, in cycles; none where the last one is below the first.
    whole : tuple of (Combs, int, int)
        Of each kind of whole periods, which are looked for: from the first of these numbers up to the second.
    """

    shortest: float
    first: int
    last: int
    whole: tuple[tuple[Combs, int, int], ...]


@lru_cache(maxsize=8)
def searched(n_steps: int, shortest: float) -> Searched:
    """What is searched in so many steps."""
    coarse = coarse_of(n_steps)
    n_powers = (-(-n_steps // coarse) + 1) // 2 - 1
    shortest = max(shortest, 3.0 * coarse)
    whole = []
    for kind in combs_of(n_steps):
        begin, end = kind.periods.searchsorted(shortest), kind.periods.searchsorted(n_steps // kind.cycles, "right")
        whole.append((kind, int(begin), int(end)))
    last = min(int(n_steps / shortest), n_powers - 1)
    return Searched(shortest=shortest, first=LEAST_CYCLES, last=last, whole=tuple(whole))


# ---- the spectra of events and alarms, and the slow changes of their rates that these show

MOST_BINS = 2**17  # longer series are added up in steps of two, three, ...
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
class Spectra(Keeper):
    """Sides on the same steps, such as the alarms of several detectors, and their spectra, worked out together.

    Attributes
    ----------
    at : tuple of int arrays
        Steps of each, among all steps; or all steps that count, if there are weights.
    open_steps : bool array
        Which of all steps count. Those that do not are taken to have the mean value.
    weights : tuple of float arrays or None
        A value for each of ``at``, of mean 0; None for 1 each.
    """

    at: tuple[IntArray, ...]
    open_steps: BoolArray
    weights: tuple[FloatArray, ...] | None = None

    @classmethod
    def of_steps(cls, steps: Iterable[IntArray], open_steps: BoolArray) -> Spectra:
        """Steps, numbered among those that count."""
        if not open_steps.all():
            every = np.flatnonzero(open_steps)
            steps = (every[own] for own in steps)
        return cls(at=tuple(steps), open_steps=open_steps)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Each by itself."""
        return tuple(Side(spectra=self, place=i) for i in range(len(self.at)))

    @lazy
    def series(self) -> FloatArray:
        """A row of values for each side, less their mean, added up where the series is very long."""
        n = len(self.open_steps)
        bins = -(-n // coarse_of(n))
        found = np.empty((len(self.at), bins))
        if bins == n and self.weights is None and self.open_steps.all():
            for row, at in zip(found, self.at, strict=True):
                np.subtract(np.bincount(at, minlength=n), len(at) / n, out=row)
            return found
        for i, at in enumerate(self.at):
            found[i] = np.bincount(at * bins // n, None if self.weights is None else self.weights[i], bins)
        if self.weights is None:
            if self.open_steps.all():
                sizes = np.diff(-(-np.arange(bins + 1) * n // bins))
            else:
                sizes = np.bincount(np.flatnonzero(self.open_steps) * bins // n, minlength=bins)
            found -= sizes * (np.array([[len(at)] for at in self.at]) / sizes.sum())
        return found

    @lazy
    def powers(self) -> FloatArray:
        """Powers of all frequencies the series shows, from 1 cycle up. One step per bin: no rotation changes them."""
        spectrum = np.fft.rfft(self.series)[:, 1 : (self.series.shape[1] + 1) // 2]
        return np.asarray(spectrum.real**2 + spectrum.imag**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class Side(Keeper):
    """Events or alarms, and their spectrum: one of `Spectra`."""

    spectra: Spectra
    place: int = 0

    @classmethod
    def of_steps(cls, steps: IntArray, open_steps: BoolArray) -> Side:
        """Steps, numbered among those that count."""
        return cls(spectra=Spectra.of_steps((steps,), open_steps))

    @classmethod
    def of_values(cls, values: FloatArray, open_steps: BoolArray) -> Side:
        """Values of mean 0, of the steps that count."""
        return cls(spectra=Spectra(at=(np.flatnonzero(open_steps),), open_steps=open_steps, weights=(values,)))

    @property
    def at(self) -> IntArray:
        """Its steps, among all steps."""
        return self.spectra.at[self.place]

    @property
    def n_steps(self) -> int:
        """All steps."""
        return len(self.spectra.open_steps)

    @property
    def series(self) -> FloatArray:
        """The values less their mean, added up where the series is very long."""
        return np.asarray(self.spectra.series[self.place])

    @lazy
    def powers(self) -> FloatArray:
        """Powers of all frequencies the series shows, from 1 cycle up."""
        return np.asarray(self.spectra.powers[self.place])

    @lazy
    def tails(self) -> FloatArray:
        """-log P of each power, from its ratio to the mean of its neighbours."""
        return _against_neighbours(self.powers)

    @lazy
    def accidents(self) -> tuple[FloatArray, float]:
        """The same less their mean, and so what is strong by accident, which a copy would share; and their spread."""
        found = np.asarray(self.tails - self.tails.mean())
        return found, math.sqrt((found**2).mean())

    def slow(self, top: int, first: int, last: int) -> tuple[float, float]:
        """How low powers compare with those above, of the powers below ``top``: as `_slow` has it."""
        return self.once((top, first, last), lambda: _slow(self.powers[:top], first, last))

    @lazy
    def combs(self) -> tuple[FloatArray, ...]:
        """-log P of each whole period, short ones and long ones."""
        return tuple(kind.tails(self.tails, self.n_steps, len(self.at)) for kind in combs_of(self.n_steps))

    @lazy
    def shown_at_first(self) -> tuple[FloatArray, ...]:
        """The same by a compiled loop, for first looks: not rounded up to 0, and with other last digits."""
        from nofluke.nulls.spectra_kernels import whole_periods

        most, n = most_heard(len(self.at)), self.n_steps
        return tuple(
            whole_periods(self.tails, harmonics_of(kind, n, len(self.tails)), kind.heard, most, kind.cap)
            for kind in combs_of(n)
        )


FIRST_LOOKS = Patience.of_module("nofluke.nulls.spectra_kernels")
ROUNDED = 1 - 1e-9  # of p-values at first looks, whose last digits may differ


def _first_looks(n_steps: int, *names: str) -> Any:
    """The compiled loops that take a first look at two spectra; None where NumPy had better look in full."""
    return FIRST_LOOKS.loops(2e-4 + 2e-7 * n_steps, *names)


def least_of_drift(events: Side, alarms: Side, longest: int) -> float:
    """A p-value that that of `drift` is not below; 0 where nobody has looked."""
    loops, (top, looked) = _first_looks(events.n_steps, "least_of_slow_changes"), lowest(events, longest)
    if loops is None:
        return 0.0
    if not looked:
        return 1.0

    def of_all() -> FloatArray:
        powers = np.ascontiguousarray(alarms.spectra.powers[:, :top])  # in one layout: each is compiled by itself
        return np.asarray(loops.least_of_slow_changes(events.powers[:top], powers, np.array(looked), BACKGROUND))

    # of all alarms at once, the first time that one of them is looked at
    found = alarms.spectra.latest("least of slow changes", (events, longest), of_all)
    return float(found[alarms.place]) * ROUNDED


def drift(events: Side, alarms: Side, longest: int = 1) -> Drift:
    """Slow changes of both sides: powers at the lowest frequencies beside those above, combined by Fisher's method.

    Alarms come in clumps as long as the ``longest`` range, which raise the powers of all frequencies below half a cycle
    in that time: only these are looked at.
    """
    top, looked = lowest(events, longest)
    slow = {k: (events.slow(top, 0, k), alarms.slow(top, 0, k)) for k in looked}
    ratio = max((r for both in slow.values() for _, r in both), default=0.0)

    def pvalue(alike: float) -> float:
        smallest = min((fisher(one[0], other[0], alike) for one, other in slow.values()), default=1.0)
        return min(smallest * max(len(looked), 1), 1.0)

    least = pvalue(0.0)
    if least > NOTHING:  # likeness would only raise it
        return Drift(pvalue=least, ratio=ratio, cycles=CYCLES_OF_CHANGE[0])
    alike, cycles = likeness(events, alarms), CYCLES_OF_CHANGE[0]
    for k in looked[1:]:
        one, other = (side.slow(top, k // 2, k)[0] for side in (events, alarms))
        if max(one, other) <= 0.3 and fisher(one, other, alike) <= 0.05:
            cycles = k
    return Drift(pvalue=pvalue(alike), ratio=ratio, cycles=cycles)


def slow_change_of(side: Side) -> float:
    """How often one side alone has powers as strong at the lowest frequencies, beside those above."""
    _, looked = lowest(side, 1)
    found = (side.slow(side.n_steps, 0, k)[0] for k in looked)
    return min(min(found, default=1.0) * max(len(looked), 1), 1.0)


def lowest(events: Side, longest: int) -> tuple[int, list[int]]:
    """Below which frequency slow changes are looked for, and of which of `CYCLES_OF_CHANGE` there is enough behind."""
    top = events.n_steps // (2 * longest) if longest > 1 else events.n_steps
    room, n = 1 + BACKGROUND if longest > 1 else 2, min(top, len(events.powers))
    return top, [k for k in CYCLES_OF_CHANGE if n >= room * k]


def _slow(power: FloatArray, first: int, last: int) -> tuple[float, float]:
    """P-value and ratio of mean low powers to the mean of those above: an F with even degrees of freedom."""
    low, behind = power[first:last], power[last : (1 + BACKGROUND) * last]
    total = float(behind.sum())
    if total <= 0:
        return 1.0, 0.0
    k, m = len(low), len(behind)
    ratio = float(low.sum()) / k * m / total
    y = m / (m + k * ratio)
    # P(F > f) = y^m Σ_{j<k} C(m + j - 1, j) (1 - y)^j
    term, tail = y**m, 0.0
    for j in range(k):
        tail += term
        term *= (1 - y) * (m + j) / (j + 1)
    return min(tail, 1.0), ratio


def likeness(events: Side, alarms: Side) -> float:
    """How much one spectrum copies the other's accidents, as a skilled detector does: their correlation, if positive.

    From powers alone, which no rotation changes; of a detector that knows nothing it is about 0.
    """
    if not len(events.tails):
        return 0.0
    (mine, wide), (theirs, as_wide) = events.accidents, alarms.accidents
    spread = wide * as_wide
    return max(float((mine * theirs).mean()) / spread, 0.0) if spread > 0 else 0.0


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
    background = _around(power)
    background /= count
    tails = np.divide(power, background, out=np.zeros(len(power)), where=background > 0)
    tails /= count
    np.log1p(tails, out=tails)
    tails *= count
    return tails


@lru_cache(maxsize=8)
def _neighbours(n: int) -> FloatArray:
    """How many neighbours each of n powers has."""
    return np.maximum(_around(np.ones(n)), 1.0)


def _around(power: FloatArray) -> FloatArray:
    """Sums over the neighbours on both sides, those next to it left out."""
    n, far = len(power), GAP + BESIDE + 1
    total = np.empty(n + 1 + 2 * far)  # of all up to each one, from so far before the first to so far behind the last
    total[: far + 1] = 0.0
    power.cumsum(out=total[far + 1 : far + 1 + n])
    total[far + 1 + n :] = total[far + n]
    below, left, right, above = (total[far + k : far + k + n] for k in (-GAP - BESIDE, -GAP, GAP + 1, GAP + 1 + BESIDE))
    sums = left - below
    sums += above
    sums -= right
    return sums


# ---- a period that events and alarms both follow, searched for in their spectra

PHASES = 1_024  # of a long period, into which both sides crowd
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
    of_alarms : float
        The smallest p-value that alarms show alone, corrected for the search.
    """

    steps: float
    cycles: float
    pvalue: float
    found: bool
    shortest: float
    longest: float
    of_alarms: float = 1.0


def least_of_period(events: Side, alarms: Side, shortest: float) -> tuple[float, float]:
    """P-values that those of `common_period` are not below, of both and of the alarms alone; 0 if nobody has looked."""
    plain = events.spectra.weights is None
    names = ("least_of_whole_periods", "whole_periods") if plain else ()
    loops = _first_looks(events.n_steps, *names, "to_neighbours", "least_of_seasons")
    if loops is None:
        return 0.0, 0.0
    looked = searched(events.n_steps, shortest)
    if looked.last < looked.first:
        return 1.0, 1.0

    def of_all() -> tuple[FloatArray, FloatArray]:
        powers = alarms.spectra.powers
        n, n_powers = events.n_steps, powers.shape[1]
        count = _neighbours(n_powers)
        known = events.tails, loops.to_neighbours(powers, count, GAP, BESIDE), count
        both, alone = loops.least_of_seasons(*known, looked.first, looked.last, JOINTLY, OTHER_SIDE)
        if plain:
            heard = np.array([most_heard(len(at)) for at in alarms.spectra.at])
            for (kind, begin, end), shown in zip(looked.whole, events.shown_at_first, strict=True):
                if begin < end:
                    rows = harmonics_of(kind, n, n_powers), kind.heard, heard, kind.cap
                    loops.least_of_whole_periods(shown, *known[1:], *rows, begin, end, COMBS, JOINTLY, OTHER_SIDE, both)
        return both, alone

    both, alone = alarms.spectra.latest("least of a period", (events, shortest), of_all)
    return float(both[alarms.place]) * ROUNDED, float(alone[alarms.place]) * ROUNDED


def common_period(events: Side, alarms: Side, shortest: float, level: float, *, either: bool = False) -> CommonPeriod:
    """Search both spectra for a period of at least ``shortest`` steps and four cycles that they have in common.

    Each power is compared with its neighbours, which clusters and memory raise as much: the ratio to the mean of M
    neighbours exceeds f with probability (1 + f/M)^-M. Either one side must show it after Bonferroni's correction for
    all that was searched and the other at that frequency alone; or both together must, at a fifth of the level: a
    detector with skill copies the accidents of the events' spectrum. A period that comes back less than twelve times
    must stand out from all longer ones, or it is a slow change. With ``either``, what alarms alone show suffices.

    Whole periods are searched in the same way by many harmonics at once, which a narrow season needs.
    """
    n_steps, sides, looked = events.n_steps, (events.powers, alarms.powers), searched(events.n_steps, shortest)
    first, last = looked.first, looked.last
    lengths = {"shortest": looked.shortest, "longest": n_steps / LEAST_CYCLES}
    nothing = CommonPeriod(steps=0.0, cycles=0.0, pvalue=1.0, found=False, **lengths)
    if last < first or any(side.sum() == 0 for side in sides):
        return nothing
    tails = (events.tails, alarms.tails)
    alike = likeness(events, alarms)
    candidates = _candidates(tails, first, last, 1, alike)
    known = [
        c
        for c in candidates
        if (c[1] <= OTHER_SIDE or (either and c is candidates[-1])) and any(_stands_out(side, c[2]) for side in sides)
    ]
    pvalue, cycles = min(candidates)[0], 0.0
    if known and min(known)[0] <= level:
        pvalue, _, at = min(known)
        at = _fundamental(tails[1] if either else np.minimum(*tails), at)
        harmonics = [
            h for h in range(2, HARMONICS + 1) if h * at <= last and _near(tails[0] + tails[1], h * at).max() > STRONG
        ]
        cycles = _refined(events, alarms, at, [1, *harmonics])
    comb, whole = _whole_period(events, alarms, looked, alike, either)
    times = round(cycles * whole / n_steps)  # how often what a frequency shows comes in the whole period
    if times > 1 and whole > SHORT.periods[-1] and not _own_harmonics(events, alarms, whole, times, alike):
        comb = 1.0
    if comb <= level and (not cycles or _whole_is_better(n_steps / whole, cycles, comb <= pvalue)):
        return CommonPeriod(steps=whole, cycles=n_steps / whole, pvalue=min(comb, pvalue), found=True, **lengths)
    if not cycles:
        return replace(nothing, pvalue=min(comb, pvalue), of_alarms=candidates[-1][0])
    steps = _on_steps(n_steps / cycles)
    return CommonPeriod(steps=steps, cycles=n_steps / steps, pvalue=pvalue, found=True, **lengths)


def _candidates(
    tails: tuple[FloatArray, FloatArray], first: int, last: int, near: int, alike: float
) -> list[tuple[float, float, int]]:
    """What both sides together, and each alone, show best: its corrected p-value, the other side's, and where.

    Numbers ``first`` to ``last`` are searched, counted from 1; the other side may be so many places off.
    """
    searching, count = slice(first - 1, last), last - first + 1
    one, other = tails[0][searching], tails[1][searching]
    both = np.where(np.minimum(one, other) >= -math.log(OTHER_SIDE / 2), one + other, 0.0)
    at = int(both.argmax())
    joint = together(float(one[at]), float(other[at]), alike) if both[at] else 1.0
    at += first
    found = [(min(joint * count / JOINTLY, 1.0), 0.0, at)]
    for mine, theirs in (tails, tails[::-1]):
        at = int(mine[searching].argmax()) + first
        beside = min((2 * near + 1) * math.exp(-float(_near(theirs, at, near).max())), 1.0)
        found.append((min(math.exp(-float(mine[at - 1])) * count, 1.0), beside, at))
    return found


def _whole_period(events: Side, alarms: Side, looked: Searched, alike: float, either: bool) -> tuple[float, int]:
    """The whole period that shows best by many harmonics, and its p-value, corrected for the search."""
    best, period = 1.0, 0
    # what one season leaves is not searched in this way: hardly any null keeps two
    if events.spectra.weights is not None:
        return best, period
    for (kind, begin, end), *tails in zip(looked.whole, events.combs, alarms.combs, strict=True):
        if begin >= end:
            continue
        found = _candidates((tails[0], tails[1]), begin + 1, end, 0, alike)
        known = [c for c in found if c[1] <= OTHER_SIDE / 2 or (either and c is found[-1])]
        pvalue, _, at = min(known, default=(1.0, 0.0, 1))
        if min(pvalue / COMBS, 1.0) < best:
            best, period = min(pvalue / COMBS, 1.0), _sharpest(events, alarms, kind, at - 1)
    while period and (longer := _longer(events, alarms, period, alike)):
        period = longer
    return best, period


def _sharpest(events: Side, alarms: Side, kind: Combs, at: int) -> int:
    """The whole period around one of those that were looked for in which both sides crowd into fewest phases."""
    period = int(kind.periods[at])
    off = int(np.diff(kind.periods[max(at - 1, 0) : at + 2]).max(initial=1)) - 1
    if off == 0:
        return period
    near = np.arange(period - off, period + off + 1)
    crowded = np.zeros(len(near))
    for side in (events, alarms):
        for i, one in enumerate(near.tolist()):
            counts = np.bincount(side.at % one * PHASES // one, minlength=PHASES).astype(np.float64)
            crowded[i] += (counts @ counts) / len(side.at) ** 2
    return int(near[crowded.argmax()])


def _longer(events: Side, alarms: Side, period: int, alike: float) -> int:
    """A multiple of a whole period that harmonics of its own speak for; 0 where there is none."""
    for times in (2, 3, 5, 7):
        if events.n_steps // (times * period) < FEWEST_CYCLES:
            return 0
        if _own_harmonics(events, alarms, times * period, times, alike):
            return times * period
    return 0


def _own_harmonics(events: Side, alarms: Side, period: int, times: int, alike: float) -> bool:
    """Whether harmonics of a whole period speak for it that are none of the part which comes so many times in it."""
    n = events.n_steps
    own = np.array([h for h in range(1, min(period // (2 * coarse_of(n)), LONG_HARMONICS)) if h % times])
    at = np.clip(np.rint(own * n / period).astype(np.int64), 1, len(events.tails)) - 1
    shown = []
    for side in (events, alarms):
        used = own[: max(len(side.at) // FLAGS_OF_HARMONIC, 1)]
        total = np.minimum(side.tails[at[: len(used)]], MOST_OF_HARMONIC).sum()
        shown.append(float(chi_tails(np.array([total]), np.ones((1, len(used)), dtype=np.bool_))[0]))
    return min(shown) >= -math.log(SEASON) and together(shown[0], shown[1], alike) <= HARMONIC


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
        if whole <= SHORT.periods[-1] and abs(times * steps - whole) < 0.02 < abs(steps - round(steps)):
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
            total += np.abs(summed) ** 2 / inner(side.series, side.series)
    return at + float(offsets[total.argmax()])


# ---- rules of the calendar, by how many cycles have something in the same phase

MOST_WATCHED = 2**17  # steps that say how much of each phase was watched
APART = (1, 11, 23, 47, 97, 193, 389, 769, 1543)  # steps looked at where there are more: primes miss no phase


@dataclass(frozen=True, kw_only=True, eq=False)
class Dial:
    """A clock of dates, as far as its calendar is looked at: what all rules need is worked out once."""

    clock: Clock
    apart: float = 1.0  # steps between two on which something can be

    @property
    def unit(self) -> str:
        """Of its ticks."""
        return str(self.clock.unit)

    @lazy
    def since(self) -> npt.NDArray[Any]:
        """Ticks since the first step."""
        return self.clock.elapsed()

    @lazy
    def regular(self) -> bool:
        """Whether all steps are as long as the first."""
        return len(self.since) > 1 and np.array_equal(self.since, np.arange(len(self.since)) * self.since[1])

    @lazy
    def step(self) -> float:
        """The median time between two steps, in ticks."""
        return float(self.since[1]) if self.regular else self.clock.step

    @lazy
    def every(self) -> int:
        """Steps between two of those that say how much of each phase was watched."""
        return next((few for few in APART if len(self.clock) <= few * MOST_WATCHED), APART[-1])

    @lazy
    def watched(self) -> IntArray:
        """Their local times."""
        return self.local(slice(None, None, self.every))

    def local(self, steps: IntArray | slice) -> IntArray:
        """Local times of some steps."""
        return replace(self.clock, ticks=self.clock.ticks[steps]).local

    @lazy
    def index(self) -> IntArray | None:
        """Each step's place on a regular grid; None where the clock is too irregular for one."""
        if self.regular:
            return np.arange(len(self.clock))
        if self.step <= 0 or float(self.since[-1]) > MOST_GRID * len(self.clock) * self.step:
            return None
        return np.rint(self.since / self.step).astype(np.int64)

    def smooth(self, flags: npt.NDArray[np.generic], name: str) -> Evidence | None:
        """A season of a rule in the spectrum; None where it cannot be looked at."""
        if self.index is None or name not in BY_SPECTRUM:
            return None
        period = CALENDAR_PERIODS[name] / (self.step * self.clock.tick_size)
        return _at_period(flags, self.index, int(self.index[-1]) + 1, period)

    def busiest(self, name: str, *sides: IntArray) -> list[Evidence] | None:
        """Each side's busiest phase of a rule, of whatever width; None where it comes back too seldom.

        Sides are steps, ascending. The p-value is corrected for all phases and widths.
        """
        rule = RULES[name]
        size, length = rule.unit_of(self.unit)
        least = 0.99 * self.step * self.apart if rule.regular else 0.0
        widths = [size * width for width in rule.widths if least <= size * width <= length / 2]
        seconds = float(self.since[-1]) * self.clock.tick_size / NANOSECONDS["s"]
        if not widths or seconds < LEAST_CYCLES * rule.seconds:
            return None
        cycle, place = rule.places(self.watched, self.unit)
        cycles, best = int(cycle[-1] - cycle[0]) + 1, []
        in_cycle = [np.bincount(place // width) * (self.every / cycles) for width in widths]
        for steps in sides:
            one = Evidence(statistic=0.0, pvalue=1.0)
            if len(steps):
                own = rule.places(self.local(steps), self.unit)
                mean = len(steps) / len(self.clock)
                for wide, held in zip(widths, in_cycle, strict=True):
                    most = held * mean
                    if most.min() >= 1:  # every phase of every cycle may hold some
                        break
                    found = _busiest(*own, wide, np.minimum(most, 1.0), cycles)
                    one = min(one, found, key=lambda way: way.pvalue)
            best.append(replace(one, pvalue=min(one.pvalue * len(widths), 1.0)))
        return best


def _busiest(cycle: IntArray, place: IntArray, width: int, most: FloatArray, cycles: int) -> Evidence:
    """Times that come back in the same phase, of so many places, in more cycles than chance allows.

    A phase with w of T steps in a cycle holds w m/T of m times on average, its ``most``, so it holds some in at most
    that share of the cycles, whatever clusters or distances times have within one. The number of such cycles is
    compared with a binomial one; cycles that differ only make it less variable. The statistic is the number over its
    mean, of the phase with the smallest p-value.
    """
    from scipy.special import bdtrc

    phase = place // width
    new = phase[1:] != phase[:-1]
    new |= cycle[1:] != cycle[:-1]
    found = np.bincount(phase[1:][new], minlength=len(most))[: len(most)]
    found[min(phase[0], len(most) - 1)] += 1
    found = np.minimum(found, cycles)
    some = (found > cycles * most) & (most > 0)
    if not some.any():
        return Evidence(statistic=1.0, pvalue=1.0)
    tails = bdtrc(found[some] - 1.0, cycles, most[some])
    at = int(tails.argmin())
    pvalue = min(float(tails[at]) * int(np.count_nonzero(most)), 1.0)
    return Evidence(statistic=float((found[some] / most[some])[at]) / cycles, pvalue=pvalue)


# ---- a period that is known, or one of the calendar

Period = int | float | str
CALENDAR_PERIODS = {name: rule.seconds * NANOSECONDS["s"] for name, rule in RULES.items()}
"""Nanoseconds after which each rule of the calendar repeats, on average: a year for months."""

BINS_OF_PERIOD = 32  # finer steps are added up: the harmonics looked at do not need them
MOST_GRID = 8  # steps of a grid for each step of a clock: one that needs more is too irregular for a spectrum
BY_SPECTRUM = ("hour of day", "day of week", "month")  # rules whose seasons may be smooth


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonSeen:
    """A season that was looked for, in events and in alarms.

    Attributes
    ----------
    period : int, float or str
    events, alarms : Evidence
        Of each side alone.
    pvalue : float
        Of both together, corrected for all seasons that were looked for.
    found : bool
        Whether they follow it; one of them may, and the null that keeps it is then the safe choice.
    """

    period: Period
    events: Evidence
    alarms: Evidence
    pvalue: float
    found: bool

    @property
    def label(self) -> str:
        """The season in words."""
        return self.period if isinstance(self.period, str) else f"period {self.period:,} steps"

    @property
    def events_found(self) -> bool:
        """Whether events show it."""
        return self.found and self.events.pvalue <= SEASON

    @property
    def alarms_found(self) -> bool:
        """Whether alarms show it."""
        return self.found and self.alarms.pvalue <= SEASON

    @property
    def shared(self) -> bool:
        """Whether one of them follows it, and the other seems to."""
        return self.found and max(self.events.pvalue, self.alarms.pvalue) <= OTHER_SIDE


def look_for_seasons(
    cell: Cell,
    period: Period | None,
    level: float,
    starts: tuple[IntArray, IntArray],
    alike: Callable[[], float],
    apart: float = 1.0,
) -> tuple[SeasonSeen, ...]:
    """The season of the given period, or those of the calendar, all at one level.

    ``starts`` are the steps on which events, and runs of alarms, begin, which may lie ``apart`` by so many steps at
    least; ``alike`` is how much one spectrum copies the other. The p-values of both sides are combined by Fisher's
    method, and corrected (Bonferroni) for all seasons that were looked for, each with its share of the level.
    """
    dated = cell.clock is not None and cell.clock.is_dates
    if period is not None:
        period = Seasonal(period=period).period  # refuses what is no period, and makes it plain
        if not isinstance(period, str) and period < 2:  # type: ignore[operator]  # a period is no None
            raise InputError(argument="period", value=period, problem="must be a number of at least 2 steps")
        if isinstance(period, str) and not dated:
            raise InputError(
                argument="period",
                value=period,
                problem="needs a clock of dates",
                remedy=say("pass {}, or a period in steps", arg("times")),
            )
    elif not dated:
        return ()
    looked: list[tuple[Period, Evidence, Evidence]] = []
    dial = Dial(clock=cell.clock, apart=apart) if cell.clock is not None and dated and cell.n_steps > 1 else None
    for one in CALENDAR_PERIODS if period is None else (period,):
        seen = _both_sides(cell, one, starts, dial)
        if seen is not None:
            looked.append((one, *seen))
    shares = {one: RULES[one].share if isinstance(one, str) else 1 for one, *_ in looked}
    seasons, total = [], sum(shares.values())
    for one, events, alarms in looked:
        times = total / shares[one]
        pvalue = times * fisher(events.pvalue, alarms.pvalue, 0.0)
        if pvalue <= level:  # likeness only raises it
            pvalue = times * fisher(events.pvalue, alarms.pvalue, alike())
        seasons.append(
            SeasonSeen(
                period=one,
                events=events,
                alarms=alarms,
                pvalue=min(pvalue, 1.0),
                found=pvalue <= level,
            )
        )
    return tuple(seasons)


def _both_sides(
    cell: Cell, period: Period, starts: tuple[IntArray, IntArray], dial: Dial | None
) -> tuple[Evidence, Evidence] | None:
    """What events and alarms show of a season; None where it cannot be looked at."""
    flags = (cell.truth.flags, cell.alarm_flags)
    if not isinstance(period, str):
        events, alarms = (season_of_steps(one, cell.truth, period) for one in flags)
        return None if events is None or alarms is None else (events, alarms)
    if dial is None:
        return None
    counted, best = dial.busiest(period, *starts), []
    for i in range(2):
        smooth = dial.smooth(flags[i], period)
        ways = [] if smooth is None else [smooth]
        ways += [] if counted is None else [counted[i]]
        if not ways:
            return None
        one = min(ways, key=lambda way: way.pvalue)
        best.append(replace(one, pvalue=min(len(ways) * one.pvalue, 1.0)))
    return best[0], best[1]


WITHIN_WEEK = ("hour of day", "day of week")  # the hour of week keeps both


def strongest(seasons: tuple[SeasonSeen, ...], *, either: bool = True) -> SeasonSeen | None:
    """The season with the smallest p-value among those that either side follows, or both.

    Where hours of the day and days of the week differ, it is the hour of week.
    """
    found = {season.period: season for season in seasons if (season.found if either else season.shared)}
    best = min(found.values(), key=lambda season: season.pvalue, default=None)
    whole = next((season for season in seasons if season.period == "hour of week"), None)
    if best is None or whole is None or best.period not in WITHIN_WEEK or not found.keys() >= set(WITHIN_WEEK):
        return best
    return replace(whole, pvalue=best.pvalue, found=True)


def season_of_steps(values: npt.NDArray[np.generic], side: Truth, period: float) -> Evidence | None:
    """A season with a period in steps, masked ones counted; None where it cannot be looked at."""
    index = np.flatnonzero(side.open_steps)
    return _at_period(values, index, len(side.open_steps), period)


def _at_period(values: npt.NDArray[np.generic], index: IntArray, n_steps: int, period: float) -> Evidence | None:
    """Does the spectrum stand out at the period and its first harmonics?

    Each ordinate is compared with its neighbours, which clustering and memory raise as much: in a stationary process
    without a season the ratio to the mean of M neighbours exceeds f with probability (1 + f/M)^-M. The harmonics are
    combined by Fisher's method. The statistic is the largest ratio.
    """
    cycles = int(n_steps / period) if period > 0 else 0
    if cycles < LEAST_CYCLES or period < LEAST_STEPS:
        return None
    flagged = np.flatnonzero(values)
    if len(flagged) in (0, len(values)):
        return Evidence(statistic=0.0, pvalue=1.0)
    cycles = _smooth(cycles)
    coarse = max(int(period / BINS_OF_PERIOD), 1)
    whole = round(cycles * period / coarse)  # whole periods: the harmonics are then ordinates of the transform
    series = np.bincount(index[flagged] // coarse, minlength=whole)[:whole].astype(np.float64)
    if n_steps > len(values):  # else every bin has as many steps, and only frequency 0 knows of the mean
        series -= np.bincount(index // coarse, minlength=whole)[:whole] * (len(flagged) / len(values))
    power = np.abs(np.fft.rfft(series)) ** 2
    reach = min(BESIDE_KNOWN, (cycles - 1) // 2)
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
