"""Differences of detectors, pair by pair: with an interval, a p-value by swaps, and Holm's correction for all pairs.

The section "Comparing detectors" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.inference.corrections import holm
from nofluke.inference.interval import (
    ALARMS,
    EVENTS,
    FEWEST,
    HITS,
    LIGHTEST,
    MEASURES,
    UNITS,
    Kind,
    few_hold_most,
    linearise,
    weighed,
)
from nofluke.inference.swaps import FEW, Counts, Swapped, swap_test
from nofluke.plain import finite_or_none
from nofluke.text.tables import plural, show_share

MOST_DRAWN = 50_000  # swaps of a pair, whatever the number of pairs
EXPECTED = 5  # hits, and misses, of the detector with fewer alarms
ALIKE = 2  # times as many alarms: either detector could be the other

Pair = tuple[str, str]
Recut = Callable[[Pair], FloatArray | None]
Method = Literal["swaps", "swaps and t"]


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
        Two-sided, by ``method``; and corrected by Holm for all pairs. NaN where the difference is undefined, or
        with ``why_no_pvalue``.
    smallest : float
        The smallest p-value that could have come out.
    n_units, n_differing : int
        Units that both have, and those of them in which they differ in what the measure counts.
    n_resamples : int
        Swaps that were drawn; 0 where all of them were enumerated.
    method : {"swaps", "swaps and t"}
        Whether p is that of the swaps, or Student's where that is larger.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float | None
    high: float | None
    why_no_interval: str
    why_no_pvalue: str
    pvalue: float
    corrected: float
    smallest: float
    n_units: int
    n_differing: int
    n_resamples: int
    method: Method

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
            "why_no_pvalue": self.why_no_pvalue,
            "pvalue": finite_or_none(self.pvalue),
            "pvalue_corrected": finite_or_none(self.corrected),
            "smallest_pvalue": self.smallest,
            "n_units": self.n_units,
            "n_differing": self.n_differing,
            "n_resamples": self.n_resamples,
            "method": self.method,
        }


def with_ends(value: float, low: float, high: float) -> str:
    """A value with its interval, if it has one.

    >>> with_ends(0.5, 0.25, 0.75), with_ends(0.5, math.nan, math.nan)
    ('0.500 [0.250, 0.750]', '0.500')
    """
    return show_share(value) + ("" if math.isnan(low) else f" [{show_share(low)}, {show_share(high)}]")


def draws_needed(n_pairs: int, alpha: float, n_resamples: int) -> int:
    """How many swaps of a pair to draw at most: enough for 20 at Holm's first step, if that is affordable.

    >>> draws_needed(3, 0.05, 999), draws_needed(435, 0.05, 9_999)
    (1200, 50000)
    """
    return max(n_resamples, math.ceil(min(FEW * n_pairs / alpha, MOST_DRAWN)))


def all_differences(
    pairs: Iterable[Pair],
    units: Callable[[Pair], tuple[IntArray, IntArray]],
    *,
    recut: Recut | None = None,
    noun: Kind,
    level: float,
    n_resamples: int,
    most: int,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Difference, ...]:
    """All pairs in all measures, with p-values corrected for the pairs of a measure; ``units`` has a pair's counts.

    Where the cut of either follows its scores, ``recut`` has what cuts take from the first and give to the second as
    units are exchanged (`nofluke.inference.compare`). Swaps then are not exact, so Student's p counts where it is larger.
    The same seed serves each pair: what comes out for one does not depend on which others there are.
    """
    n = len(MEASURES)
    found: list[Difference] = []
    for done, pair in enumerate(pairs, start=1):
        first, second = units(pair)
        values = linearise(first).values - linearise(second).values
        back = None if recut is None else recut(pair)
        moved: tuple[Counts, Counts] = (first, second) if back is None else (first - back, second + back)
        tested = swap_test(*moved, n_resamples=n_resamples, most=most, seed=seed)
        changes = linearise(moved[0]).left_out - linearise(moved[1]).left_out
        found += [
            _difference(pair, first, second, tested, float(values[m]), changes[:, m], m, noun, level, back is not None)
            for m in range(n)
        ]
        advance(done)
    # what is undefined could have been defined: it counts among the tests
    corrected = [holm(np.nan_to_num([one.pvalue for one in found[m::n]], nan=1.0)) for m in range(n)]
    return tuple(
        replace(one, corrected=math.nan if math.isnan(one.pvalue) else float(corrected[i % n][i // n]))
        for i, one in enumerate(found)
    )


def _difference(
    pair: Pair,
    first: IntArray,
    second: IntArray,
    tested: Swapped,
    value: float,
    changes: FloatArray,
    m: int,
    noun: Kind,
    level: float,
    recut: bool,
) -> Difference:
    unlike, rare = (False, "") if MEASURES[m] == "recall" else _alarms(pair, first, second)
    few = rare if unlike else ""
    student = recut or unlike or (bool(rare) and MEASURES[m] == "precision")
    holding, weight, why = _holding(pair, first, second, m, noun)
    low = high = None
    error = math.sqrt(max(holding - 1, 0) / max(holding, 1) * float(changes @ changes))
    pvalue = math.nan if few else float(tested.pvalue[m])
    if student and not math.isnan(pvalue):
        pvalue = max(pvalue, _student(value, error, weight - 1))
    if math.isnan(value):
        why = f"{MEASURES[m]} is undefined"
    elif few:
        why = few
    elif not why and tested.squares[m] == 0:
        why = f"{noun} show no variation in the difference"
    elif not why:
        from scipy.special import stdtrit

        reach = float(stdtrit(weight - 1, (1 + level) / 2)) * error
        low, high = max(value - reach, -1.0), min(value + reach, 1.0)
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=MEASURES[m],
        value=value,
        low=low,
        high=high,
        why_no_interval=why,
        why_no_pvalue=few,
        pvalue=pvalue,
        corrected=math.nan,
        smallest=float(tested.smallest[m]),
        n_units=len(first),
        n_differing=int(tested.differing[m]),
        n_resamples=int(tested.n_resamples[m]),
        method="swaps and t" if student else "swaps",
    )


def _student(value: float, error: float, df: float) -> float:
    """The two-sided p-value of a difference with a standard error of so many degrees of freedom; 1 without any."""
    from scipy.special import stdtr

    if not (df > 0 and error >= 0):  # leaving out the one unit that holds all leaves nothing
        return 1.0
    return 2 * float(stdtr(df, -abs(value) / error)) if error else 0.0


def _alarms(pair: Pair, first: IntArray, second: IntArray) -> tuple[bool, str]:
    """Whether numbers of alarms are unlike, and why few of the hits or misses of the detector with fewer are expected.

    Then swaps may take for a difference what is none: a detector that happens to have no miss shows no variance.
    """
    totals = [side.sum(axis=0) for side in (first, second)]
    fewer, more = sorted((int(total[ALARMS]), name) for total, name in zip(totals, pair, strict=True))
    if fewer[0] == 0:
        return False, ""
    unlike, every = more[0] > ALIKE * fewer[0], fewer[0] + more[0]
    hits = sum(int(total[HITS]) for total in totals)
    least = min(hits, every - hits)
    if fewer[0] * least >= EXPECTED * every:  # in whole numbers: fewer alarms x the share of the rarer kind
        return unlike, ""
    kind = "hits" if least == hits else "misses"
    return (
        unlike,
        f"{fewer[1]} has only {plural(fewer[0], 'alarm')}, of which fewer than {EXPECTED} {kind} are expected",
    )


def _holding(pair: Pair, first: IntArray, second: IntArray, m: int, noun: Kind) -> tuple[int, float, str]:
    """The number of units behind a measure, how many units of equal size they weigh, and why these are too few.

    A unit counts if it holds what the measure is a share of: alarms, events or both. The side with fewer decides.
    """
    columns = {"precision": (ALARMS,), "recall": (EVENTS,)}.get(MEASURES[m], (ALARMS, EVENTS))
    sides = [
        (
            int(np.count_nonzero(side[:, column])),
            weighed(side)[column == EVENTS],
            name,
            f"{whose}: " * (name == "alarm"),
        )
        for column, name in ((ALARMS, "alarm"), (EVENTS, "event"))
        if column in columns
        for side, whose in zip((first, second), pair, strict=True)
    ]
    n, _, fewest, whose = min(sides)
    held, weight, heaviest, its = min(sides, key=lambda side: side[1])
    if n < FEWEST:
        return n, weight, f"{whose}{plural(n, *UNITS[noun])} with {fewest}s, fewer than {FEWEST}"
    if weight < LIGHTEST:
        why = few_hold_most(held, heaviest, weight, noun)
        return n, weight, f"{its}{why}"
    return n, weight, ""
