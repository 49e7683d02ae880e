"""Mean and variance of both kinds of hits under chance, in closed form.

With π(w) the chance that w given steps hold no event, a prediction is missed with probability π(w) and two
predictions are both missed with probability π(|W_i ∪ W_j|). The variance is then a sum over pairs, split so that each
part is a sum over one variable, none of them loses digits, and only overlapping pairs are ever looked at:

    Var C = Σ_{i,j} [π(w_i + w_j) − π(w_i) π(w_j)]  +  Σ_{i,j overlapping} [π(|W_i ∪ W_j|) − π(w_i + w_j)].

The first sum (all pairs, as if disjoint; never positive) depends on widths alone; every term of the second is positive.

The section "Precision: mean and variance" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.laws.exact import wide
from nofluke.laws.exact.missing import log_missed
from nofluke.laws.exact.pairs import index_pairs
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
    _check_count("n_events", n_events, n_steps)
    _check_count("covered", covered, n_steps)
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
    20 ns for each overlapping pair they are in. Windows of more than two million steps take nothing by the step: see
    `wide`.

    Examples
    --------
    Two windows of two steps that share one, one event on four steps:

    >>> windows = Windows(starts=np.array([0, 1]), stops=np.array([2, 3]), n_steps=4)
    >>> precision_moments(windows, 1)
    Moments(mean=1.0, var=0.5)
    """
    n_steps = windows.n_steps
    _check_count("n_events", n_events, n_steps)
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
        var = wide.as_if_disjoint(n_steps, n_events, values, counts)
        var += wide.overlap_excess(n_steps, n_events, starts, stops)
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
    _check_count("n_events", n_events, windows.n_steps)
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
            weight * np.dot(weights, np.expm1(h[value + values] - h[value] - h[values]))
            for value, weight in zip(values, weights, strict=True)
        )
        return float(sum(rows))
    # π(w + w') = e^(unit w) e^(unit w') e^H(w + w'): a convolution of weights, then a sum over w + w'
    e = np.expm1(h)
    weights = np.bincount(values, weights=counts * np.exp(miss.unit * values), minlength=len(h) // 2 + 1)
    size = 1 << (len(h) - 1).bit_length()
    sums = np.fft.irfft(np.fft.rfft(weights, size) ** 2, size)[: len(h)]
    own = float(np.dot(weights, e[: len(weights)]))
    return float(np.dot(sums, e)) - 2 * float(weights.sum()) * own - own * own


def _overlap_excess(miss: _Miss, starts: IntArray, stops: IntArray) -> float:
    """Σ over ordered pairs of overlapping windows, each with itself too, of π(|union|) - π(w + w')."""
    widths = stops - starts
    # a difference of two values of `table`: π where it is small, -(1 - π) where π is close to 1
    likely_missed = miss.log[widths.min()] > -0.5
    table = np.expm1(miss.log) if likely_missed else np.exp(miss.log)
    own = float((table[widths] - table[2 * widths]).sum())
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
        return float(np.dot(_count_lags(starts, width), table[width : 2 * width] - table[2 * width]))
    pairs = index_pairs(index, index + 1, reach)
    return sum(float(np.sum(table[starts[j] - starts[i] + width] - table[2 * width])) for i, j in pairs)


def _nested(table: FloatArray, widths: IntArray) -> float:
    """The same over all pairs of windows that begin at one border, of ascending widths: the wider is the union."""
    if len(widths) < 2:
        return 0.0
    sums = _count_sums(widths, widths)
    np.subtract.at(sums, 2 * widths, 1)  # none is a pair with itself
    return float(np.dot(np.arange(len(widths)), table[widths])) - float(np.dot(sums, table[: len(sums)])) / 2


def _opposite(table: FloatArray, first: IntArray, last: IntArray, span: int) -> float:
    """The same over windows at opposite borders, which overlap if they are together wider than the span."""
    sums = _count_sums(first, last)[span + 1 :]
    return float(np.dot(sums, table[span] - table[span + 1 : span + 1 + len(sums)])) if sums.any() else 0.0


def _beside(table: FloatArray, widths: IntArray, begins: IntArray, usual: int) -> float:
    """The same over windows at a border, of ascending widths, and those of the usual width that begin further on."""
    if len(widths) == 0 or len(begins) == 0:
        return 0.0
    begins = begins[: begins.searchsorted(widths[-1])]
    wider = len(widths) - widths.searchsorted(begins, side="right")
    reached = begins.searchsorted(widths, side="left")
    return float(np.dot(wider, table[begins + usual])) - float(np.dot(reached, table[widths + usual]))


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


def _check_count(name: str, count: int, n_steps: int) -> None:
    if not 0 <= count <= n_steps:
        raise InputError(
            argument=name,
            problem=f"must be from 0 to the {n_steps} steps, got {count}",
            remedy="count them on the same steps",
        )
