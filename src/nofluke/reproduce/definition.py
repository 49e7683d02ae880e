"""The paper's definitions, counted step by step. Nothing here is shared with the code that it checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.inference.sweep import Sweep, sweep
from nofluke.measures.confusion import Confusion
from nofluke.reproduce.study import NULL, TOLERANCES

SEQUENCES = (
    100  # short random ones beside the paper's: there borders are near, and events or predictions may be missing
)
LONGEST = 12
OUT_OF_REACH = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a count of every step found, in all cells of one sweep or several; a sum of such counts is one.

    Attributes
    ----------
    cells : int
        Tolerances times thresholds.
    terms : int
        Summands compared in each equation.
    terms_differ : (int, int)
        Summands of equations 2 and 3 that are not what the definition says of their step.
    sums_differ : (int, int)
        Cells in which the sum of equation 2 or 3 is not the hits of the sweep.
    not_in_one : int
        Steps that belong to none or to several of the four cells of a matrix.
    matrices_differ : int
        Matrices with an entry that is not the one of the sweep, or that do not add up to all steps.
    """

    cells: int = 0
    terms: int = 0
    terms_differ: tuple[int, int] = (0, 0)
    sums_differ: tuple[int, int] = (0, 0)
    not_in_one: int = 0
    matrices_differ: int = 0

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            cells=self.cells + other.cells,
            terms=self.terms + other.terms,
            terms_differ=_sum(self.terms_differ, other.terms_differ),
            sums_differ=_sum(self.sums_differ, other.sums_differ),
            not_in_one=self.not_in_one + other.not_in_one,
            matrices_differ=self.matrices_differ + other.matrices_differ,
        )


def count(truth: BoolArray, scores: FloatArray, curve: Sweep) -> Counted:
    """Count every cell of a sweep: both equations summand by summand, all four entries of both matrices."""
    return sum((cell for cell in _cells(truth, scores, curve)), Counted())


def count_short(seed: int) -> Counted:
    """The same for short random sequences, scores of few values, and thresholds from below all of them to above."""
    rng = np.random.default_rng([seed, SEQUENCES])
    found = Counted()
    for _ in range(SEQUENCES):
        n = int(rng.integers(1, LONGEST + 1))
        truth, scores = rng.random(n) < 0.3, rng.integers(0, 3, n).astype(np.float64)
        curve = sweep(truth, scores, thresholds=(0.0, 1.0, 2.0, 3.0), tolerances=TOLERANCES, null=NULL)
        found += count(truth, scores, curve)
    return found


def _cells(truth: BoolArray, scores: FloatArray, curve: Sweep) -> Iterator[Counted]:
    n, from_event = len(truth), distances(np.flatnonzero(truth), len(truth))
    for k, threshold in enumerate(curve.thresholds):
        alarms = scores >= threshold
        from_alarm = distances(np.flatnonzero(alarms), n)
        for d, delta in enumerate(TOLERANCES):
            precision = (windowed(truth, delta) > 0) * alarms  # summands of the formulas
            recall = truth * (windowed(alarms, delta) > 0)
            defined = alarms & (from_event <= delta), truth & (from_alarm <= delta)
            # each side of a table is asked for by itself: no condition is another's negation
            entries = (
                _four(scores >= threshold, scores < threshold, from_event <= delta, from_event > delta),
                _four(from_alarm <= delta, from_alarm > delta, truth == 1, truth == 0),
            )
            matrices = zip(entries, _matrices(curve, d, k), strict=True)
            yield Counted(
                cells=1,
                terms=n,
                terms_differ=(int((precision != defined[0]).sum()), int((recall != defined[1]).sum())),
                sums_differ=(
                    int(precision.sum() != curve.precision_hits[d, k]),
                    int(recall.sum() != curve.recall_hits[d, k]),
                ),
                not_in_one=sum(int((four.sum(axis=0) != 1).sum()) for four in entries),
                matrices_differ=sum(
                    matrix is None
                    or four.sum() != n
                    or four.sum(axis=1).tolist() != [matrix.tp, matrix.fp, matrix.fn, matrix.tn]
                    for four, matrix in matrices
                ),
            )


def distances(at: IntArray, n: int) -> IntArray:
    """The distance of each of n steps from the nearest of those, by looking at all of them.

    >>> distances(np.array([0, 4]), 6)
    array([0, 1, 2, 1, 0, 1], dtype=int32)
    """
    steps = np.arange(n, dtype=np.int32)
    return np.asarray(np.abs(steps[:, None] - at.astype(np.int32)).min(axis=1, initial=OUT_OF_REACH))


def windowed(flags: BoolArray, delta: int) -> IntArray:
    """The inner sum of equations 2 and 3, from t−δ to t+δ for each t, with zeros beyond the ends.

    >>> windowed(np.array([True, False, False, True]), 1)
    array([1, 1, 1, 1])
    """
    padded = np.pad(flags.astype(np.int64), delta)
    return np.asarray(sum(padded[i : i + len(flags)] for i in range(2 * delta + 1)))


def _matrices(curve: Sweep, d: int, k: int) -> tuple[Confusion | None, Confusion | None]:
    """The matrices of the sweep; None where its hits are more than a matrix can hold."""
    try:
        return curve.matrices(d, k)
    except InputError:
        return None, None


def _four(predicted: BoolArray, silent: BoolArray, actual: BoolArray, calm: BoolArray) -> IntArray:
    """For each step, whether it is TP, FP, FN, TN: four rows."""
    return np.array([predicted & actual, predicted & calm, silent & actual, silent & calm])


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]
