"""Sums of smooth functions over very many pairs in linear time: by interpolation, which is checked, to about 13 digits.

A function that is analytic on a piece is there a short series of Chebyshev polynomials, and these separate what belongs
to one member of a pair from what belongs to the other: a sum over pairs becomes a few products of sums over members.
Whether a series is short enough is seen in its last coefficients; where none is, the answer is None and pairs must be
added one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from nofluke.arrays import FloatArray, IntArray

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
