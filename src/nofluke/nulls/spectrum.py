"""The spectra of events and alarms, and the slow changes of their rates that these show.

Powers do not change when a sequence is rotated, and each side is looked at by itself, so that what is seen here cannot
depend on how many events the alarms hit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.lazy import lazy
from nofluke.nulls.combs import comb_tails

SLOW = (2, 4, 8)  # slow changes are looked for in the first so many frequencies: periods of T down to T/8
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
        """-log P of each of the short whole periods of :mod:`nofluke.nulls.combs`."""
        return comb_tails(self.tails, self.n_steps, len(self.at))

    @lazy
    def series(self) -> FloatArray:
        """The values less their mean, added up where the series is very long."""
        n = self.n_steps
        bins = -(-n // self.coarse)
        found = np.bincount(self.at * bins // n, weights=self.weights, minlength=bins).astype(np.float64)
        if self.weights is not None:
            return found
        if self.open_steps.all():
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
        return Drift(pvalue=pvalue(0.0), ratio=ratio, cycles=SLOW[0])
    alike, cycles = likeness(events.tails, alarms.tails), SLOW[0]
    for k in looked[1:]:
        one, other = (_slow(side, k // 2, k)[0] for side in sides)
        if max(one, other) <= 0.3 and fisher(one, other, alike) <= 0.05:
            cycles = k
    return Drift(pvalue=pvalue(alike), ratio=ratio, cycles=cycles)


def lowest(events: Side, longest: int) -> tuple[int, list[int]]:
    """Below which frequency slow changes are looked for, and of which of `SLOW` there is enough behind."""
    top = events.n_steps // (2 * longest) if longest > 1 else events.n_steps
    room = 1 + BACKGROUND if longest > 1 else 2
    return top, [k for k in SLOW if len(events.powers[:top]) >= room * k]


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
    padded = np.pad(total, far, mode="edge")
    below, left, right, above = (
        padded[far + k : far + k + n] for k in (-GAP - NEIGHBOURS, -GAP, GAP + 1, GAP + 1 + NEIGHBOURS)
    )
    return np.asarray(left - below + above - right)
