"""Mean and variance of both kinds of hits under chance, in closed form.

With π(w) the chance that w given steps hold no event, a prediction is missed with probability π(w) and two
predictions are both missed with probability π(|W_i ∪ W_j|). The variance is then a sum over pairs, split so that each
part is a sum over one variable, none of them loses digits, and only overlapping pairs are ever looked at:

    Var C = Σ_{i,j} [π(w_i + w_j) − π(w_i) π(w_j)]  +  Σ_{i,j overlapping} [π(|W_i ∪ W_j|) − π(w_i + w_j)].

The first sum (all pairs, as if disjoint; never positive) depends on widths alone; every term of the second is positive.

π comes from a table, for windows up to some ten thousand steps; beyond, from its closed form, and the cost depends on
the number of windows and of overlapping pairs, not on steps. Few pairs are added up one by one, at about half a
microsecond each. Many are summed by interpolation, in time and memory linear in the number of windows; only where π has
a corner that interpolation sees (windows nearly half as wide as the span, and few events) is there no way around them.

The section "Precision: mean and variance" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from nofluke.arrays import FloatArray, IntArray, inner, weighted_sum
from nofluke.errors import InputError
from nofluke.laws.exact.binomial import deviance
from nofluke.series.counting import Windows

_WIDTHS_FOR_A_TABLE = 1_000  # up to so many distinct widths, a sum over all pairs of widths is cheap
_LAGS_AT_ONCE = 1 << 15  # steps correlated together, at least
_TABLE_WIDTH = 1 << 14  # the widest window for which π is tabulated: beyond, closed forms are faster
_PAIRS_FOR_A_TABLE = 10**8  # and the most pairs that are looked up in it one by one
_NO_DOUBLE = 746  # e to minus this is 0
_FEW = 1_000  # numbers that are counted one by one sooner than they are sorted or transformed
_PAIRS_PER_STEP = 2  # above so many pairs per step of time, correlation is faster than looking at each pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Mean and variance of a number of hits."""

    mean: float
    var: float


def recall_moments(n_steps: int, covered: int, n_events: int) -> Moments:
    """Mean and variance of R, the number of events inside any window.

    R is hypergeometric: with T steps of which D are covered, and m events,
    ``E R = m D/T`` and ``Var R = m (D/T) (1 - D/T) (T - m)/(T - 1)``. Both are 0 where T is 0.

    Parameters
    ----------
    n_steps, covered, n_events : int
        T, D and m.

    Examples
    --------
    >>> recall_moments(10, 4, 5)
    Moments(mean=2.0, var=0.6666666666666666)
    """
    check_count("n_events", n_events, n_steps)
    check_count("covered", covered, n_steps)
    if n_steps <= 1:
        return Moments(mean=float(n_events * covered), var=0.0)
    # integers until the last division: the variance is 0 exactly where it should be
    spread = n_events * covered * (n_steps - covered) * (n_steps - n_events)
    return Moments(mean=n_events * covered / n_steps, var=spread / (n_steps * n_steps * (n_steps - 1)))


def precision_moments(windows: Windows, n_events: int) -> Moments:
    """Mean and variance of C, the number of predictions hit, when m events fall at random.

    ``π(w) = Π_{i<w} (T-m-i)/(T-i)`` is the chance that w steps hold no event; then ``E C = Σ_i (1 - π(w_i))`` and
    ``Var C = Σ_{i,j} (π(|W_i ∪ W_j|) - π(w_i) π(w_j))``. Both are 0 without predictions or without events; the
    variance is exactly 0 where C cannot vary (every step an event, every window too wide to be missed, every step
    predicted without tolerance).

    Parameters
    ----------
    windows : Windows
        The windows of the predictions.
    n_events : int
        m, from 0 to ``windows.n_steps``.

    Notes
    -----
    Time and memory are near-linear in n and in the steps the windows span where most windows are equally wide but for
    those cut off at a border, whatever their width. Windows of other widths (a mask, an irregular clock) cost about
    20 ns for each overlapping pair they are in. Windows of more than two million steps take nothing by the step.

    Examples
    --------
    Two windows of two steps that share one, one event on four steps:

    >>> windows = Windows(starts=np.array([0, 1]), stops=np.array([2, 3]), n_steps=4)
    >>> precision_moments(windows, 1)
    Moments(mean=1.0, var=0.5)
    """
    n_steps = windows.n_steps
    check_count("n_events", n_events, n_steps)
    if windows.n == 0 or n_events == 0:
        return Moments(mean=0.0, var=0.0)
    if n_events == 1:
        return _single_event(windows)
    widths = windows.stops - windows.starts
    # wider ones are never missed, or so rarely that a double has no such number: π(w) < e^(-w m/T)
    missable = widths <= min(n_steps - n_events, _NO_DOUBLE * n_steps // n_events)
    certain = int(np.count_nonzero(~missable))
    if certain == windows.n:
        return Moments(mean=float(certain), var=0.0)
    starts, stops, widths = windows.starts[missable], windows.stops[missable], widths[missable]
    values, counts = _distinct(widths)
    if values[-1] > 1 and _tables_do_not_pay(starts, stops):
        mean = certain - float(np.sum(counts * np.expm1(log_missed(n_steps, n_events, values))))
        var = _as_if_disjoint_wide(n_steps, n_events, values, counts)
        var += _overlap_excess_wide(n_steps, n_events, starts, stops)
        return Moments(mean=mean, var=max(var, 0.0))
    miss = _miss(n_steps, n_events, int(values[-1]))
    mean = certain + float(np.sum(counts * -np.expm1(miss.log[values])))
    if values[-1] == 1:
        return Moments(mean=mean, var=_unit_windows_variance(starts, n_steps, n_events))
    var = _as_if_disjoint(miss, values, counts) + _overlap_excess(miss, starts, stops)
    return Moments(mean=mean, var=max(var, 0.0))


def expected_misses(windows: Windows, n_events: int) -> float:
    """E[n - C], the expected number of predictions missed, to full accuracy also where it is far below 1.

    Examples
    --------
    >>> windows = Windows(starts=np.array([0, 1]), stops=np.array([2, 3]), n_steps=4)
    >>> expected_misses(windows, 1)
    1.0
    """
    check_count("n_events", n_events, windows.n_steps)
    values, counts = _distinct(windows.stops - windows.starts)
    possible = values <= windows.n_steps - n_events  # a wider one is certain to be hit
    values, counts = values[possible], counts[possible]
    if len(values) == 0:
        return 0.0
    if values[-1] > _TABLE_WIDTH:
        return float(np.sum(counts * np.exp(log_missed(windows.n_steps, n_events, values))))
    log = _miss(windows.n_steps, n_events, int(values[-1])).log
    return float(np.sum(counts * np.exp(log[values])))


def _tables_do_not_pay(starts: IntArray, stops: IntArray) -> bool:
    """Whether a table of π is too long, or too slow for so many pairs where correlating them is slow as well."""
    if int((stops - starts).max()) > _TABLE_WIDTH:
        return True
    if len(starts) ** 2 <= _PAIRS_FOR_A_TABLE:
        return False
    n_pairs = int(np.sum(starts.searchsorted(stops, side="left") - np.arange(1, len(starts) + 1)))
    return n_pairs > _PAIRS_FOR_A_TABLE and n_pairs <= _PAIRS_PER_STEP * int(stops[-1] - starts[0])


def _distinct(widths: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct widths, ascending, and how often each comes."""
    if int(widths.max(initial=0)) > max(len(widths), _FEW):
        return np.unique(widths, return_counts=True)
    counts = np.bincount(widths)
    values = np.flatnonzero(counts)
    return values, counts[values]


def _single_event(windows: Windows) -> Moments:
    """One event hits the windows over its step: moments of that number, in integers until the last division."""
    n_steps = windows.n_steps
    steps = np.zeros(windows.reach + 1, dtype=np.int64)  # on how many steps so many windows lie
    np.add.at(steps, windows.blocks.h - windows.blocks.g, windows.blocks.length)
    covers = [(int(cover), int(steps[cover])) for cover in np.flatnonzero(steps)]
    total = sum(cover * n for cover, n in covers)  # products of more digits than 64 bits hold
    squares = sum(cover * cover * n for cover, n in covers)
    return Moments(mean=total / n_steps, var=(n_steps * squares - total * total) / n_steps**2)


def _unit_windows_variance(starts: IntArray, n_steps: int, n_events: int) -> float:
    """Windows of one step: C is a sum over the events of the number of windows there (hypergeometric if all differ)."""
    multiplicity = np.unique(starts, return_counts=True)[1]
    spread = n_steps * int(np.dot(multiplicity, multiplicity)) - len(starts) ** 2
    return n_events * (n_steps - n_events) * spread / (n_steps * n_steps * (n_steps - 1))


def check_count(name: str, count: int, n_steps: int) -> None:
    """Refuse more events, or covered steps, than there are steps."""
    if not 0 <= count <= n_steps:
        raise InputError(
            argument=name,
            problem=f"must be from 0 to the {n_steps} steps, got {count}",
            remedy="count them on the same steps",
        )


# ---- windows of which π fits into a table


class _Miss:
    """log π(x) and H(x) = log π(x) - x log π(1), for x = 0 .. twice the largest width.

    H is what keeps the digits: log π(x+y) - log π(x) - log π(y) = H(x+y) - H(x) - H(y), because the linear parts
    cancel, and H is a sum of negative terms each of which is computed without cancellation.
    """

    def __init__(self, n_steps: int, n_events: int, largest_width: int) -> None:
        size = 2 * largest_width + 1
        possible = min(size, n_steps - n_events + 1)  # wider than T - m: an event is certain
        s = np.arange(max(possible - 2, 0), dtype=np.float64)
        steepening = np.log1p(-n_events / ((n_steps - s - 1) * (n_steps - n_events - s)))
        self.unit = float(np.log1p(-n_events / n_steps))
        self.h = np.full(size, -np.inf)
        self.h[:2] = 0.0
        self.h[2:possible] = _running_sum(_running_sum(steepening))
        self.log = self.h + self.unit * np.arange(size)


@lru_cache(maxsize=4)
def _miss(n_steps: int, n_events: int, largest_width: int) -> _Miss:
    """The tables, kept: the cells of a sweep ask for the same ones."""
    return _Miss(n_steps, n_events, largest_width)


def _running_sum(terms: FloatArray) -> FloatArray:
    """Cumulative sum in two levels: rounding errors grow with the square root of the length."""
    row = max(int(np.sqrt(len(terms))), 1)
    padded = np.zeros(-(-len(terms) // row) * row)
    padded[: len(terms)] = terms
    sums = np.cumsum(padded.reshape(-1, row), axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, np.newaxis]
    return sums.reshape(-1)[: len(terms)]


def _as_if_disjoint(miss: _Miss, values: IntArray, counts: IntArray) -> float:
    """Σ over all ordered pairs, each with itself too, of π(w + w') - π(w) π(w')."""
    h = miss.h
    if len(values) <= _WIDTHS_FOR_A_TABLE:
        weights = counts * np.exp(miss.log[values])
        rows = (
            weight * inner(weights, np.expm1(h[value + values] - h[value] - h[values]))
            for value, weight in zip(values, weights, strict=True)
        )
        return float(sum(rows))
    # π(w + w') = e^(unit w) e^(unit w') e^H(w + w'): a convolution of weights, then a sum over w + w'
    e = np.expm1(h)
    weights = np.bincount(values, weights=counts * np.exp(miss.unit * values), minlength=len(h) // 2 + 1)
    size = 1 << (len(h) - 1).bit_length()
    sums = np.fft.irfft(np.fft.rfft(weights, size) ** 2, size)[: len(h)]
    own = inner(weights, e[: len(weights)])
    return inner(sums, e) - 2 * float(weights.sum()) * own - own * own


def _overlap_excess(miss: _Miss, starts: IntArray, stops: IntArray) -> float:
    """Σ over ordered pairs of overlapping windows, each with itself too, of π(|union|) - π(w + w')."""
    widths = stops - starts
    # a difference of two values of `table`: π where it is small, -(1 - π) where π is close to 1
    narrowest = int(widths.min())
    table = np.expm1(miss.log) if miss.log[narrowest] > -0.5 else np.exp(miss.log)
    own = float((table[widths] - table[2 * widths]).sum())
    if narrowest == int(widths.max()):
        return own + 2 * _equally_wide(table, starts, narrowest)
    # windows cut off at either border come first and last; between them nearly all are of the usual width
    begin = int(starts.searchsorted(starts[0], side="right"))
    end = max(begin, int(stops.searchsorted(stops[-1], side="left")))
    kinds, often = _distinct(widths[begin:end])
    usual = int(kinds[often.argmax()]) if len(kinds) else 1
    inner = slice(begin, end) if len(kinds) <= 1 else begin + np.flatnonzero(widths[begin:end] == usual)
    # widths from the borders on, and the usual windows as they begin and as they end
    first, last = widths[:begin], widths[end:][::-1]
    begins, ends = starts[inner] - starts[0], (stops[-1] - stops[inner])[::-1]
    total = _nested(table, first) + _nested(table, last) + _opposite(table, first, last, int(stops[-1] - starts[0]))
    total += _beside(table, first, begins, usual) + _beside(table, last, ends, usual)
    total += _equally_wide(table, begins, usual)
    return own + 2 * (total if len(kinds) <= 1 else _with_odd(table, starts, stops, begin, end, usual, total))


def _with_odd(
    table: FloatArray, starts: IntArray, stops: IntArray, begin: int, end: int, usual: int, total: float
) -> float:
    """A total, with the same over pairs that have a window of an unusual width, inside begin .. end."""
    widths = stops - starts
    odd = begin + np.flatnonzero(widths[begin:end] != usual)
    others = np.ones(len(starts), dtype=np.bool_)
    others[odd] = False
    # the first predictions whose windows end after this one starts, and start after this one ends
    before = stops.searchsorted(starts[odd], side="right")
    behind = starts.searchsorted(stops[odd], side="left")
    for i, j in index_pairs(odd, before, odd):
        kept = others[j]
        i, j = i[kept], j[kept]
        total += float(np.sum(table[stops[i] - starts[j]] - table[widths[i] + widths[j]]))
    for i, j in index_pairs(odd, odd + 1, behind):
        total += float(np.sum(table[stops[j] - starts[i]] - table[widths[i] + widths[j]]))
    return total


def _equally_wide(table: FloatArray, starts: IntArray, width: int) -> float:
    """Σ of π(|union|) - π(w + w') over overlapping pairs of windows of one width: by lags, or one by one if few."""
    if len(starts) < 2:
        return 0.0
    index, reach = np.arange(len(starts)), starts.searchsorted(starts + width)
    if int(np.sum(reach - index - 1)) > _PAIRS_PER_STEP * int(np.ptp(starts) + width):
        return inner(_count_lags(starts, width), table[width : 2 * width] - table[2 * width])
    pairs = index_pairs(index, index + 1, reach)
    return sum(float(np.sum(table[starts[j] - starts[i] + width] - table[2 * width])) for i, j in pairs)


def _nested(table: FloatArray, widths: IntArray) -> float:
    """The same over all pairs of windows that begin at one border, of ascending widths: the wider is the union."""
    if len(widths) < 2:
        return 0.0
    sums = _count_sums(widths, widths)
    np.subtract.at(sums, 2 * widths, 1)  # none is a pair with itself
    return inner(np.arange(len(widths)), table[widths]) - inner(sums, table[: len(sums)]) / 2


def _opposite(table: FloatArray, first: IntArray, last: IntArray, span: int) -> float:
    """The same over windows at opposite borders, which overlap if they are together wider than the span."""
    sums = _count_sums(first, last)[span + 1 :]
    return inner(sums, table[span] - table[span + 1 : span + 1 + len(sums)]) if sums.any() else 0.0


def _beside(table: FloatArray, widths: IntArray, begins: IntArray, usual: int) -> float:
    """The same over windows at a border, of ascending widths, and those of the usual width that begin further on."""
    if len(widths) == 0 or len(begins) == 0:
        return 0.0
    begins = begins[: begins.searchsorted(widths[-1])]
    wider = len(widths) - widths.searchsorted(begins, side="right")
    reached = begins.searchsorted(widths, side="left")
    return inner(wider, table[begins + usual]) - inner(reached, table[widths + usual])


def _count_sums(one: IntArray, other: IntArray) -> IntArray:
    """For each number, how many pairs of one and the other width have it as their sum, exactly."""
    if len(one) == 0 or len(other) == 0:
        return np.zeros(0, dtype=np.int64)
    if len(one) * len(other) <= _FEW:
        return np.bincount(np.add.outer(one, other).ravel())
    length = int(one.max() + other.max()) + 1
    size = 1 << length.bit_length()
    spectrum = np.fft.rfft(np.bincount(one), size) * np.fft.rfft(np.bincount(other), size)
    return np.rint(np.fft.irfft(spectrum, size)[:length]).astype(np.int64)


def _count_lags(starts: IntArray, width: int) -> IntArray:
    """For each lag 0 .. width-1, the number of pairs i < j with starts[j] - starts[i] = lag, exactly."""
    at = np.bincount(starts - starts[0]).astype(np.float64)
    size = 1 << min(max(4 * width, _LAGS_AT_ONCE), len(at) + width).bit_length()
    step = size - width
    at = np.concatenate([at, np.zeros(-len(at) % step + width)])
    spectrum = np.zeros(size // 2 + 1, dtype=np.complex128)
    for begin in range(0, len(at) - width, step):
        own = np.fft.rfft(at[begin : begin + step], size)
        spectrum += own.conj() * np.fft.rfft(at[begin : begin + size - 1], size)
    lags: IntArray = np.rint(np.fft.irfft(spectrum, size)[:width]).astype(np.int64)
    lags[0] = (lags[0] - len(starts)) // 2  # at lag 0 each pair is seen twice, and each prediction with itself
    return lags


# ---- pairs of overlapping windows, laid out in memory some at a time

PAIRS_AT_ONCE = 1 << 19  # pairs laid out in memory together


def index_pairs(rows: IntArray, first: IntArray, end: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """All pairs (rows[k], j) with first[k] <= j < end[k], some at a time.

    >>> [(i.tolist(), j.tolist()) for i, j in index_pairs(np.array([4, 7]), np.array([5, 8]), np.array([7, 9]))]
    [([4, 4, 7], [5, 6, 8])]
    """
    length = end - first
    before = np.concatenate([[0], np.cumsum(length)])
    k = 0
    while k < len(rows):
        upto = max(int(np.searchsorted(before, before[k] + PAIRS_AT_ONCE, side="right")) - 1, k + 1)
        part = slice(k, upto)
        shift = np.repeat(first[part] - before[part], length[part])
        yield np.repeat(rows[part], length[part]), shift + np.arange(before[k], before[upto])
        k = upto


# ---- π for spans and windows of any size: no tables, no lost digits
#
# With m events on T steps, π(x) = binom(T-x, m) / binom(T, m). Loader's form of the binomial (see `binomial`) splits
# its logarithm into x log(1 - m/T), as if steps were independent, and a rest H(x) in which the deviances of both
# outcomes are known to all digits, because both lie m x / T from their means:
#
#     H(x) = S(x) - dev(m; (T-x) m/T) - dev(T-x-m; (T-x)(T-m)/T) + log(1 + m x / (T (T-x-m))) / 2,
#
# S being a second difference of Stirling's error. x may be any real number, which sums by interpolation need.

_SERIES_FROM = 16.0  # from here on Stirling's error is a series in 1/z


def log_missed(n_steps: Any, n_events: int, x: Any) -> FloatArray:
    """log π(x): minus infinity where x > T - m. ``n_steps`` and ``x`` are numbers or arrays, best of integers.

    Examples
    --------
    >>> float(np.exp(log_missed(5, 2, 2)).round(12)), float(log_missed(10**18, 10**5, 10**9))
    (0.3, -0.0001000000000500...)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = n_events / n_steps
        linear = x * np.where(share > 0.5, np.log((n_steps - n_events) / n_steps), np.log1p(-share))
        return np.where(n_steps - n_events - x >= 0, linear + _rest(n_steps, n_events, x), -np.inf)


def log_together(n_steps: int, n_events: int, x: Any, y: Any) -> FloatArray:
    """log [π(x + y) / (π(x) π(y))], which is never positive, without the digits that the difference would lose.

    It is what y steps without events do to log π(x): the steps left are fewer, the events are not.

    Examples
    --------
    >>> float(np.exp(log_together(5, 2, 1, 1)).round(12))  # 0.3 / 0.6 / 0.6
    0.833333333333
    """
    small, large = np.minimum(x, y), np.maximum(x, y)
    left = n_steps - large
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (large * float(n_events)) / (left * float(n_steps - n_events))
        kept = (left - n_events) / left * (n_steps / float(n_steps - n_events))
        linear = small * np.where(share > 0.5, np.log(kept), np.log1p(-np.minimum(share, 1.0)))
        found = linear + _rest(left, n_events, small) - _rest(n_steps, n_events, small)
        return np.where(left - n_events - small >= 0, found, -np.inf)


def lost(n_steps: int, n_events: int, x: Any, y: Any) -> FloatArray:
    """π(x) - π(x + y): the chance that x steps hold no event, and y further ones do."""
    return np.asarray(-np.exp(log_missed(n_steps, n_events, x)) * np.expm1(log_missed(n_steps - x, n_events, y)))


def _rest(n_steps: Any, n_events: int, x: Any) -> FloatArray:
    """H(x), for x up to T - m; of any value beyond."""
    m, left, others, z = float(n_events), n_steps - x, n_steps - n_events, np.maximum(n_steps - n_events - x, 0)
    # whole numbers are subtracted before they are rounded: all that follows is relative
    n_steps, x, left, others, z = (np.asarray(value, dtype=np.float64) for value in (n_steps, x, left, others, z))
    apart = m * x / n_steps
    deviances = deviance(m, left * m / n_steps, apart) + deviance(z, left / n_steps * others, -apart)
    stirling = -(x * m / 12.0) * (n_steps + (left - m)) / (n_steps * left * others * np.maximum(z, 1.0))
    higher = _higher(left) - _higher(n_steps) + _higher(others) - _higher(z)
    found = stirling + higher - deviances + 0.5 * np.log1p(apart / np.maximum(z, 1.0))
    if z.min(initial=np.inf) >= _SERIES_FROM:
        return np.asarray(found)
    # next to none left: log z! itself, where Stirling's formula has nothing to offer
    from scipy.special import gammaln, xlogy

    factorial = gammaln(z + 1.0) - xlogy(z, z) + z - 0.5 * np.log(2.0 * np.pi)
    errors = _error(left) - _error(n_steps) + _error(others) - factorial
    plain = errors - deviances + 0.5 * np.log(left / n_steps * others)
    return np.asarray(np.where(z >= _SERIES_FROM, found, plain))


def _error(z: FloatArray) -> FloatArray:
    """Stirling's error: log z! - (z + 1/2) log z + z - log(2π)/2."""
    from scipy.special import gammaln

    return np.where(
        z < _SERIES_FROM,
        gammaln(z + 1.0) - (z + 0.5) * np.log(z) + z - 0.5 * np.log(2.0 * np.pi),
        1.0 / (12.0 * np.maximum(z, 1.0)) + _higher(z),
    )


def _higher(z: FloatArray) -> FloatArray:
    """Stirling's error but for its first term, 1/(12 z), for z from 16."""
    inverse = 1.0 / np.maximum(z, _SERIES_FROM)
    square = inverse * inverse
    return np.asarray(-inverse * square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188)))))


# ---- windows that are too wide, or whose pairs are too many, for a table

_WIDTHS_ONE_BY_ONE = 300  # up to so many distinct widths, a sum over all pairs of widths is cheap
_PAIRS_PER_WINDOW = 16  # above so many pairs a window, interpolation is faster than looking at each pair


def _as_if_disjoint_wide(n_steps: int, n_events: int, values: IntArray, counts: IntArray) -> float:
    """Σ over all ordered pairs, each with itself too, of π(w + w') - π(w) π(w'); widths ascend, each so many times."""

    def per_step(x: Any, y: Any) -> FloatArray:
        """π(x + y) / (π(x) π(y)) - 1, over x y: hardly depends on either, so that short windows keep their digits."""
        return np.asarray(np.expm1(log_together(n_steps, n_events, x, y)) / x / y)

    weights = np.asarray(np.exp(log_missed(n_steps, n_events, values)) * counts * values, dtype=np.float64)
    nodes: IntArray | FloatArray = values
    if len(values) > _WIDTHS_ONE_BY_ONE and 2 * int(values[-1]) <= n_steps - n_events:  # no corner at T - m
        some = np.linspace(values[0], values[-1], 3)[:, None]
        nodes, weights = compress(values, weights, lambda x: per_step(some, x))
    return float(sum(weight * inner(weights, per_step(x, nodes)) for x, weight in zip(nodes, weights, strict=True)))


def _overlap_excess_wide(n_steps: int, n_events: int, starts: IntArray, stops: IntArray) -> float:
    """Σ over ordered pairs of overlapping windows, each with itself too, of π(|union|) - π(w + w')."""
    widths = stops - starts
    own = float(np.sum(lost(n_steps, n_events, widths, widths)))
    index = np.arange(len(starts))
    reach = np.searchsorted(starts, stops, side="left")  # first prediction whose window starts after this one ends

    def one_by_one() -> float:
        pairs = index_pairs(index, index + 1, reach)
        return sum(float(np.sum(lost(n_steps, n_events, stops[j] - starts[i], stops[i] - starts[j]))) for i, j in pairs)

    if int(np.sum(reach - index - 1)) <= _PAIRS_PER_WINDOW * len(starts):
        return own + 2 * one_by_one()
    found, width = None, int(widths[0])
    if (widths == width).all():  # a function of the windows' distance
        found = sum_over_ranges(
            starts, starts, index + 1, reach, lambda lag: lost(n_steps, n_events, width + lag, width - lag)
        )
    if found is None:
        found = _any_widths(n_steps, n_events, starts, stops, index + 1, reach)
    return own + 2 * (one_by_one() if found is None else found)


def _any_widths(
    n_steps: int, n_events: int, starts: IntArray, stops: IntArray, first: IntArray, end: IntArray
) -> float | None:
    """The same over windows of many widths, by two sums: one of a function of |union|, one of a function of w + w'."""
    widths = stops - starts
    # differences keep their digits if they are of π where it is small, of -(1 - π) where π is close to 1
    likely_missed = float(log_missed(n_steps, n_events, widths.min())) > -0.5

    def term(x: FloatArray) -> FloatArray:
        log = log_missed(n_steps, n_events, x)
        return np.asarray(np.expm1(log) if likely_missed else np.exp(log))

    unions = sum_over_ranges(starts, stops, first, end, term)
    sums = None if unions is None else sum_over_sums(widths, first, end, term)
    return None if unions is None or sums is None else unions - sums


# ---- sums of smooth functions over very many pairs in linear time: by interpolation, which is checked


_DEGREES = 28  # coefficients of a series
_LAST = 3  # so many at its end must be negligible
_NEGLIGIBLE = 1e-13  # above the rounding of the functions, far above what is left out where coefficients fall fast
_STEEPEST = 100.0  # how many times its usual size a function may have on a piece: digits are lost by more than that
_PAIRS_PER_BOX = 2  # with fewer pairs for each member and box, pairs themselves are the faster way
_MOST_BOXES = 1024  # the finest division of the range that is tried
_MOST_BOXES_OF_SUMS = 32  # and of sums, where all boxes are paired with all
_AT_ONCE = 1 << 12  # members of pairs whose polynomials are in memory together, at least
_ROWS = 256  # of these multiplied by a series at a time
_VANISHED = 1e-26  # what is left of a function where it does not matter any more

_ANGLES = (np.arange(_DEGREES) + 0.5) * np.pi / _DEGREES
_NODES = np.cos(_ANGLES)
#: Coefficients of a series from its values at the nodes.
_TO_SERIES = (
    np.cos(np.outer(np.arange(_DEGREES), _ANGLES)) * np.where(np.arange(_DEGREES) == 0, 1, 2)[:, None] / _DEGREES
)


def sum_over_ranges(
    x: IntArray, y: IntArray, first: IntArray, end: IntArray, function: Callable[[FloatArray], FloatArray]
) -> float | None:
    """Σ_i Σ_{first[i] <= j < end[i]} function(y[j] - x[i]), for ascending y and differences that are not negative.

    Time is divided into equal boxes, so that the function of a difference depends on two places within boxes and on how
    many boxes they are apart. None if no division makes it smooth enough.

    Examples
    --------
    >>> x, index = np.array([0, 3, 7]), np.arange(3)
    >>> round(sum_over_ranges(x, x, index + 1, np.full(3, 3), lambda lag: np.exp(-lag / 4)), 12)
    1.014019937363
    >>> round(float(np.exp(-3 / 4) + np.exp(-7 / 4) + np.exp(-4 / 4)), 12)
    1.014019937363
    """
    some = first < end
    x, first, end = x[some], first[some], end[some]
    if len(x) == 0:
        return 0.0
    nearest, reach = int((y[first] - x).min()), int((y[end - 1] - x).max()) + 1
    boxes = 1
    while boxes <= _MOST_BOXES:
        size = -(-reach // boxes)
        series = _series_of_boxes(function, size, boxes, nearest)
        if series is not None and boxes > 1 and len(series) * _PAIRS_PER_BOX * len(x) > int(np.sum(end - first)):
            return None  # so many boxes that few pairs are in each
        if series is not None:
            return _in_boxes(x, y, first, end, size, series)
        boxes *= 2
    return None


def sum_over_sums(
    x: IntArray, first: IntArray, end: IntArray, function: Callable[[FloatArray], FloatArray]
) -> float | None:
    """Σ_i Σ_{first[i] <= j < end[i]} function(x[i] + x[j]), x in any order; None if the function is too rough."""
    low, high = int(x.min()), int(x.max())
    boxes = 1
    while boxes <= _MOST_BOXES_OF_SUMS:
        size = -(-(high + 1 - low) // boxes)
        corners = 0.5 * (_NODES[:, None] + _NODES) + 1.0
        series = [_short_series(function, 2 * low + size * (both + corners)) for both in range(2 * boxes - 1)]
        known = [one for one in series if one is not None]
        if len(known) == len(series):
            return _in_boxes_of_sums(x, first, end, low, size, known)
        boxes *= 2
    return None


def compress(
    values: IntArray, weights: FloatArray, function: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Fewer values and weights of theirs that give the same sums of smooth functions, as smooth as the given ones.

    ``function`` takes an array of k values and returns k columns: one row for each function to be resolved. ``values``
    ascend.
    """
    if len(values) <= _DEGREES:
        return values.astype(np.float64), weights
    low, high = int(values[0]), int(values[-1])
    half = (high - low) / 2
    nodes = low + half * (_NODES + 1.0)
    size = np.abs(_TO_SERIES @ function(nodes).T)
    if (size[-_LAST:].max(axis=0) <= _NEGLIGIBLE * size.max(axis=0)).all():
        moments = weighted_sum(weights, chebvander((values - low) / half - 1.0, _DEGREES - 1))
        return nodes, moments @ _TO_SERIES
    middle = int(np.searchsorted(values, low + (high - low) // 2, side="right"))
    parts = [compress(values[part], weights[part], function) for part in (slice(middle), slice(middle, None))]
    return np.concatenate([nodes for nodes, _ in parts]), np.concatenate([weights for _, weights in parts])


def _series_of_boxes(
    function: Callable[[FloatArray], FloatArray], size: int, boxes: int, nearest: int
) -> dict[int, FloatArray] | None:
    """For places so many boxes apart, the function's double series; None if one of them is too long."""
    largest = abs(float(function(np.array([float(nearest)]))[0]))
    all_series = {}
    for apart in range(nearest // size, boxes + 1):
        series = _short_series(function, size * (apart + 0.5 * (_NODES - _NODES[:, None])))
        if series is None:
            return None
        all_series[apart] = series
        if np.abs(series).max() < _VANISHED * largest:
            break
    return all_series


def _short_series(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray | None:
    """The double series of a function, from arguments at all pairs of nodes (row, column); None if it is long."""
    with np.errstate(over="ignore", invalid="ignore"):  # outside of where it is asked for, it may be anything
        values = function(at)
    if not np.isfinite(values).all():
        return None
    series: FloatArray = _TO_SERIES @ values @ _TO_SERIES.T
    size = np.abs(series)
    last = max(size[-_LAST:].max(), size[:, -_LAST:].max())
    if last > _NEGLIGIBLE * size.max() or np.abs(values).max() > _STEEPEST * np.median(np.abs(values)):
        return None
    kept = np.flatnonzero(np.maximum(size.max(axis=0), size.max(axis=1)) > 1e-16 * size.max())[-1:] + 1
    return series[: int(kept[0]), : int(kept[0])] if len(kept) else series[:1, :1]


def _in_boxes(
    x: IntArray, y: IntArray, first: IntArray, end: IntArray, size: int, series: dict[int, FloatArray]
) -> float:
    origin = min(int(x.min()), int(y[0]))
    box_x, box_y = (x - origin) // size, (y - origin) // size
    place_x, place_y = ((2.0 * ((at - origin) % size)) / size - 1.0 for at in (x, y))
    degrees = max(len(one) for one in series.values())
    total = 0.0
    for part, low, high in _parts(first, end):
        in_x = _polynomials(place_x[part], degrees)
        sums = _running(_polynomials(place_y[low:high], degrees))
        for apart, one in series.items():
            begin = np.maximum(first[part], np.searchsorted(box_y, box_x[part] + apart, side="left"))
            stop = np.minimum(end[part], np.searchsorted(box_y, box_x[part] + apart, side="right"))
            some, k = begin < stop, len(one)
            within = sums[stop[some] - low, :k] - sums[begin[some] - low, :k]
            total += _bilinear(in_x[some, :k], one, within)
    return total


def _in_boxes_of_sums(
    x: IntArray, first: IntArray, end: IntArray, low: int, size: int, series: list[FloatArray]
) -> float:
    box, place = (x - low) // size, (2.0 * ((x - low) % size)) / size - 1.0
    degrees = max(map(len, series))
    total = 0.0
    for part, begin, stop in _parts(first, end):
        in_x, in_y = (_polynomials(place[at], degrees) for at in (part, slice(begin, stop)))
        for other in range((len(series) + 1) // 2):
            sums = _running(in_y * (box[begin:stop] == other)[:, None])
            within = sums[end[part] - begin] - sums[first[part] - begin]
            for own in range((len(series) + 1) // 2):
                some, one = box[part] == own, series[own + other]
                k = len(one)
                total += _bilinear(in_x[some, :k], one, within[some, :k])
    return total


def _parts(first: IntArray, end: IntArray) -> Iterator[tuple[slice, int, int]]:
    """Some i at a time, and from where to where their j lie: each j is in two parts at most, or few."""
    step = max(_AT_ONCE, int((end - first).max(initial=0)))
    for begin in range(0, len(first), step):
        part = slice(begin, begin + step)
        yield part, int(first[part].min()), int(end[part].max())


def _running(rows: FloatArray) -> FloatArray:
    """Sums of the rows before each, and of all."""
    sums = np.zeros((len(rows) + 1, rows.shape[1]))
    np.cumsum(rows, axis=0, out=sums[1:])
    return sums


def _polynomials(places: FloatArray, degrees: int) -> FloatArray:
    """One row for each place: the first Chebyshev polynomials there."""
    return np.ascontiguousarray(chebvander(places, degrees - 1))


def _bilinear(left: FloatArray, matrix: FloatArray, right: FloatArray) -> float:
    """Σ_i left[i] · matrix · right[i], in pieces below what BLAS uses threads for: they would wait for each other."""
    pieces = (slice(begin, begin + _ROWS) for begin in range(0, len(left), _ROWS))
    return float(sum(np.einsum("ij,ij->", left[piece] @ matrix, right[piece]) for piece in pieces))
