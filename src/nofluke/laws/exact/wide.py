"""The parts of precision's mean and variance where windows are too wide, or their pairs too many, for tables of π.

Cost depends on the number of windows and of overlapping pairs, not on steps. Few pairs are added up one by one, at
about half a microsecond each. Many are summed by interpolation (`smooth`), in time and memory linear in the number of
windows; only where π has a corner that interpolation sees (windows nearly half as wide as the span, and few events) is
there no way around them.

The section "Precision: mean and variance" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.exact.missing import log_missed, log_together, lost
from nofluke.laws.exact.pairs import index_pairs

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
        moments = chebvander((values - low) / half - 1.0, _DEGREES - 1).T @ weights
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


# ---- the parts of precision's mean and variance where windows are too wide, or their pairs too many

_WIDTHS_ONE_BY_ONE = 300  # up to so many distinct widths, a sum over all pairs of widths is cheap
_PAIRS_PER_WINDOW = 16  # above so many pairs a window, interpolation is faster than looking at each pair


def as_if_disjoint(n_steps: int, n_events: int, values: IntArray, counts: IntArray) -> float:
    """Σ over all ordered pairs, each with itself too, of π(w + w') - π(w) π(w'); widths ascend, each so many times."""

    def per_step(x: Any, y: Any) -> FloatArray:
        """π(x + y) / (π(x) π(y)) - 1, over x y: hardly depends on either, so that short windows keep their digits."""
        return np.asarray(np.expm1(log_together(n_steps, n_events, x, y)) / x / y)

    weights = np.asarray(np.exp(log_missed(n_steps, n_events, values)) * counts * values, dtype=np.float64)
    nodes: IntArray | FloatArray = values
    if len(values) > _WIDTHS_ONE_BY_ONE and 2 * int(values[-1]) <= n_steps - n_events:  # no corner at T - m
        some = np.linspace(values[0], values[-1], 3)[:, None]
        nodes, weights = compress(values, weights, lambda x: per_step(some, x))
    return float(sum(weight * np.dot(weights, per_step(x, nodes)) for x, weight in zip(nodes, weights, strict=True)))


def overlap_excess(n_steps: int, n_events: int, starts: IntArray, stops: IntArray) -> float:
    """Σ over ordered pairs of overlapping windows, each with itself too, of π(|union|) - π(w + w')."""
    widths = stops - starts
    own = float(np.sum(lost(n_steps, n_events, widths, widths)))
    index = np.arange(len(starts))
    reach = np.searchsorted(starts, stops, side="left")  # first prediction whose window starts after this one ends
    first = np.searchsorted(stops, starts, side="right")  # first prediction whose window ends after this one starts
    allowed = _PAIRS_PER_WINDOW * len(starts)

    def one_by_one(rows: IntArray, begin: IntArray, end: IntArray) -> float:
        return sum(_excess(n_steps, n_events, starts, stops, i, j) for i, j in index_pairs(rows, begin, end))

    if int(np.sum(reach - index - 1)) <= allowed:
        return own + 2 * one_by_one(index, index + 1, reach)
    kinds, counts = np.unique(widths, return_counts=True)
    usual = int(kinds[counts.argmax()])
    odd = np.flatnonzero(widths != usual)
    if int(np.sum(reach[odd] - first[odd])) <= allowed:
        among_usual = _equally_wide(n_steps, n_events, starts[widths == usual], usual)
        if among_usual is not None:
            is_odd = widths != usual
            # pairs of two odd windows are seen from both: count them once, from the first
            later = one_by_one(odd, odd + 1, reach[odd])
            earlier = 0.0
            for i, j in index_pairs(odd, first[odd], odd):
                kept = ~is_odd[j]
                earlier += _excess(n_steps, n_events, starts, stops, j[kept], i[kept])
            return own + 2 * (among_usual + later + earlier)
    found = _any_widths(n_steps, n_events, starts, stops, index + 1, reach)
    return own + 2 * (one_by_one(index, index + 1, reach) if found is None else found)


def _excess(n_steps: int, n_events: int, starts: IntArray, stops: IntArray, i: IntArray, j: IntArray) -> float:
    """Σ of π(|union|) - π(w + w') over overlapping windows i[k] <= j[k]."""
    return float(np.sum(lost(n_steps, n_events, stops[j] - starts[i], stops[i] - starts[j])))


def _equally_wide(n_steps: int, n_events: int, starts: IntArray, width: int) -> float | None:
    """The same over all overlapping pairs of equally wide windows: a function of their distance."""
    return sum_over_ranges(
        starts,
        starts,
        np.arange(1, len(starts) + 1),
        np.searchsorted(starts, starts + width, side="left"),
        lambda lag: lost(n_steps, n_events, width + lag, width - lag),
    )


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
