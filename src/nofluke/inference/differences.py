"""Differences of detectors, pair by pair: with an interval, a p-value by swaps, and Holm's correction for all pairs.

The section "Comparing detectors" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nofluke.arrays import IntArray
from nofluke.inference.corrections import holm
from nofluke.inference.interval import FEWEST, UNITS, Kind
from nofluke.inference.swaps import FEW, Swapped, swap_test
from nofluke.inference.units import ALARMS, EVENTS, MEASURES
from nofluke.plain import finite_or_none
from nofluke.text.tables import plural, show_share

MOST_DRAWN = 50_000  # swaps of a pair, whatever the number of pairs

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much better the first of two detectors is than the second in one measure.

    Attributes
    ----------
    first, second, measure : str
    value : float
        The first detector's value less the second's, on the units that both have; NaN where one is undefined.
    low, high : float or None
        Interval of the difference; None with ``why_no_interval``.
    pvalue, corrected : float
        Two-sided, by studentised swaps; and corrected by Holm for all pairs. NaN where the difference is undefined.
    smallest : float
        The smallest p-value that could have come out.
    n_units, n_differing : int
        Units that both have, and those of them in which they differ in what the measure counts.
    n_resamples : int
        Swaps that were drawn; 0 where all of them were gone through.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float | None
    high: float | None
    why_no_interval: str
    pvalue: float
    corrected: float
    smallest: float
    n_units: int
    n_differing: int
    n_resamples: int

    def turned(self) -> Difference:
        """The same with the detectors exchanged."""
        low, high = (None if end is None else 0.0 - end for end in (self.high, self.low))
        return replace(self, first=self.second, second=self.first, value=0.0 - self.value, low=low, high=high)

    def in_words(self) -> str:
        """The difference and its interval."""
        return with_ends(self.value, *(math.nan if end is None else end for end in (self.low, self.high)))

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain values; undefined ones are None."""
        return {
            "first": self.first,
            "second": self.second,
            "measure": self.measure,
            "difference": finite_or_none(self.value),
            "low": self.low,
            "high": self.high,
            "why_no_interval": self.why_no_interval,
            "pvalue": finite_or_none(self.pvalue),
            "pvalue_corrected": finite_or_none(self.corrected),
            "smallest_pvalue": self.smallest,
            "n_units": self.n_units,
            "n_differing": self.n_differing,
            "n_resamples": self.n_resamples,
        }


def with_ends(value: float, low: float, high: float) -> str:
    """A value with its interval, if it has one.

    >>> with_ends(0.5, 0.25, 0.75), with_ends(0.5, math.nan, math.nan)
    ('0.500 [0.250, 0.750]', '0.500')
    """
    return show_share(value) + ("" if math.isnan(low) else f" [{show_share(low)}, {show_share(high)}]")


def draws_needed(n_pairs: int, alpha: float, n_resamples: int) -> int:
    """Swaps of a pair up to which p-values are drawn on: Holm's first step then has 20 of them to go by, if that can be paid.

    >>> draws_needed(3, 0.05, 999), draws_needed(435, 0.05, 9_999)
    (1200, 50000)
    """
    return max(n_resamples, min(math.ceil(FEW * n_pairs / alpha), MOST_DRAWN))


def all_differences(
    pairs: Iterable[Pair],
    units: Callable[[Pair], tuple[IntArray, IntArray]],
    *,
    noun: Kind,
    level: float,
    n_resamples: int,
    most: int,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Difference, ...]:
    """All pairs in all measures, with p-values corrected for the pairs of the same measure; ``units`` are a pair's counts.

    The same seed serves each pair: what comes out for one does not depend on which others there are.
    """
    n = len(MEASURES)
    found: list[Difference] = []
    for done, pair in enumerate(pairs, start=1):
        first, second = units(pair)
        tested = swap_test(first, second, n_resamples=n_resamples, most=most, seed=seed)
        found += [_difference(pair, first, second, tested, m, noun, level) for m in range(n)]
        advance(done)
    # what is undefined could have been defined: it counts among the tests
    corrected = [holm(np.nan_to_num([one.pvalue for one in found[m::n]], nan=1.0)) for m in range(n)]
    return tuple(
        replace(one, corrected=math.nan if math.isnan(one.pvalue) else float(corrected[i % n][i // n]))
        for i, one in enumerate(found)
    )


def _difference(
    pair: Pair, first: IntArray, second: IntArray, tested: Swapped, m: int, noun: Kind, level: float
) -> Difference:
    value, squares = float(tested.difference[m]), float(tested.squares[m])
    holding, why = _holding(first, second, m, noun)
    low = high = None
    if math.isnan(value):
        why = f"{MEASURES[m]} is undefined"
    elif not why and squares == 0:
        why = f"{noun} show no variance of the difference"
    elif not why:
        from scipy.special import stdtrit

        reach = float(stdtrit(holding - 1, (1 + level) / 2)) * math.sqrt(holding / (holding - 1) * squares)
        low, high = max(value - reach, -1.0), min(value + reach, 1.0)
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=MEASURES[m],
        value=value,
        low=low,
        high=high,
        why_no_interval=why,
        pvalue=float(tested.pvalue[m]),
        corrected=math.nan,
        smallest=float(tested.smallest[m]),
        n_units=len(first),
        n_differing=int(tested.differing[m]),
        n_resamples=int(tested.n_resamples[m]),
    )


def _holding(first: IntArray, second: IntArray, m: int, noun: Kind) -> tuple[int, str]:
    """Units that hold what a measure is a share of, for the detector that has fewer of them; and why these are too few."""
    counts = {
        name: min(int(np.count_nonzero(side[:, column])) for side in (first, second))
        for name, column in (("alarms", ALARMS), ("events", EVENTS))
    }
    of = {"precision": ("alarms",), "recall": ("events",)}.get(MEASURES[m], ("alarms", "events"))
    least = min(of, key=counts.__getitem__)
    n = counts[least]
    if n >= FEWEST:
        return n, ""
    return n, f"{plural(n, *UNITS[noun])} with {least}, fewer than {FEWEST}"
