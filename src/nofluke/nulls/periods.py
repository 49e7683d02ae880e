"""Periods that events and alarms both follow, searched for in their spectra."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.nulls.combs import PERIODS
from nofluke.nulls.spectrum import GAP, Side, likeness, together

LEAST_CYCLES = 4  # a period that is searched for must come back this often
COMBS = 0.1  # share of the level for short whole periods, beside that for all others
JOINTLY = 0.2  # share of the level for what only both sides together show
MANY_CYCLES = 12
OTHER_SIDE = 0.2  # level at which the other side must show the period too
HARMONIC = 1e-3  # level at which a lower frequency is taken for the fundamental one
HARMONICS = 8
STRONG = 7.0  # -log p of both sides together, from which on a harmonic says something of the period: 0.7%
FINE = 64  # frequencies looked at between two ordinates
PARTS = 64  # in which a slow wave is added up


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
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


def common_period(events: Side, alarms: Side, shortest: float, level: float) -> Period:
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
    nothing = Period(steps=0.0, cycles=0.0, pvalue=1.0, found=False, **searched)
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
        return Period(steps=whole, cycles=n_steps / whole, pvalue=min(comb, pvalue), found=True, **searched)
    if not cycles:
        return replace(nothing, pvalue=min(comb, pvalue))
    steps = _on_steps(n_steps / cycles)
    return Period(steps=steps, cycles=n_steps / steps, pvalue=pvalue, found=True, **searched)


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
