"""Compiled loops of metrics by rank; imported late, since numba takes a second to load.

Places count from the highest score down. The labelled places of a draw are marked in a bitmap, one bit for each step,
and read off in ascending order: labels are sorted by one pass over T/64 words.
"""

import numpy as np
from numpy.typing import NDArray

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

WordArray = NDArray[np.uint64]

kernel = compiled(error_model="numpy")

# whole numbers without a sign stay such only among themselves
NONE, ONE, TWO, FOUR, TOP = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
PAIRS, QUARTERS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
HALVES, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
DIGIT = 11  # bits that one pass sorts by: a table of 2048 counts stays in the fastest cache


@kernel
def sort_from_bit(words: WordArray, low: int) -> WordArray:
    """The words sorted by all but their lowest bits, digit by digit from below; what is equal stays in its order."""
    other = np.empty_like(words)
    mask = np.uint64(2**DIGIT - 1)
    for bit in range(low, 64, DIGIT):
        shift = np.uint64(bit)
        places = np.zeros(2**DIGIT, dtype=np.int64)
        for i in range(words.size):
            places[(words[i] >> shift) & mask] += 1
        if words.size == 0 or places[(words[0] >> shift) & mask] == words.size:
            continue  # all have the same digit
        before = 0
        for digit in range(places.size):
            count = places[digit]
            places[digit] = before
            before += count
        for i in range(words.size):
            digit = (words[i] >> shift) & mask
            other[places[digit]] = words[i]
            places[digit] += 1
        words, other = other, words
    return words


@kernel
def sums_of_runs(
    sums: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    found: FloatArray,
) -> None:
    """AUC-ROC of each draw, from sums of twice the midranks before each step."""
    for i in range(begins.size):
        total, labelled, begin = np.int64(0), np.int64(0), begins[i]
        for run in range(first[i], last[i]):
            total += sums[begin + stops[run]] - sums[begin + starts[run]]
            labelled += stops[run] - starts[run]
        pairs = 2.0 * labelled * (n_steps - labelled)
        found[i] = (total - labelled * (labelled + 1)) / pairs if pairs > 0 else np.nan


@kernel
def ones(word: np.uint64) -> np.uint64:
    """How many bits of a word are set."""
    word -= (word >> ONE) & PAIRS
    word = (word & QUARTERS) + ((word >> TWO) & QUARTERS)
    return (((word + (word >> FOUR)) & HALVES) * BYTES) >> TOP


@kernel
def mark(bits: WordArray, place: int) -> None:
    """Set one bit."""
    bits[place >> 6] |= ONE << np.uint64(place & 63)


@kernel
def read_off(bits: WordArray, ordered: IntArray) -> int:
    """Write the places of all bits that are set, and clear them."""
    n = 0
    for at in range(bits.size):
        word = bits[at]
        if word == NONE:
            continue
        bits[at] = NONE
        while word != NONE:
            ordered[n] = (at << 6) + np.int64(ones(~word & (word - ONE)))
            word &= word - ONE
            n += 1
    return n


@kernel
def average_precisions(
    places: IntArray,
    reach: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    found: FloatArray,
) -> None:
    """Average precision of each draw; ``reach`` has for each place how many scores are at least as high."""
    bits = np.zeros((reach.size >> 6) + 1, dtype=np.uint64)
    ordered = np.empty(reach.size, dtype=np.int64)
    for i in range(begins.size):
        for run in range(first[i], last[i]):
            for step in range(begins[i] + starts[run], begins[i] + stops[run]):
                mark(bits, places[step])
        labelled = read_off(bits, ordered)
        total, hits = 0.0, 0
        while hits < labelled:
            alarms, before = reach[ordered[hits]], hits
            hits += 1
            while hits < labelled and ordered[hits] < alarms:  # labels of tied scores are found together
                hits += 1
            total += (hits - before) * (hits / alarms)
        found[i] = total / labelled if labelled else np.nan


@kernel
def best_fs(
    places: IntArray,
    reach: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    of_recall: float,
    of_precision: float,
    found: FloatArray,
) -> None:
    """The best F of each draw over all thresholds, with weights as β² is to 1."""
    bits = np.zeros((reach.size >> 6) + 1, dtype=np.uint64)
    ordered = np.empty(reach.size, dtype=np.int64)
    for i in range(begins.size):
        for run in range(first[i], last[i]):
            for step in range(begins[i] + starts[run], begins[i] + stops[run]):
                mark(bits, places[step])
        labelled, best = read_off(bits, ordered), 0.0
        for k in range(labelled):
            # of tied scores the last label has the most hits, and the others' values are below its own
            best = max(best, (k + 1) / (of_recall * labelled + of_precision * reach[ordered[k]]))
        found[i] = (of_recall + of_precision) * best if labelled else np.nan


@kernel
def best_adjusted_fs(
    places: IntArray,
    reach: IntArray,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    of_recall: float,
    of_precision: float,
    found: FloatArray,
) -> None:
    """The best point-adjusted F of each draw over all thresholds, which is at the highest score of a run."""
    bits = np.zeros((reach.size >> 6) + 1, dtype=np.uint64)  # labelled places
    tops = np.zeros(bits.size, dtype=np.uint64)  # the highest place of each run
    ordered = np.empty(reach.size, dtype=np.int64)
    lengths = np.empty(reach.size, dtype=np.int64)  # of the run whose highest place it is
    for i in range(begins.size):
        labelled = 0
        for run in range(first[i], last[i]):
            top = reach.size
            for step in range(begins[i] + starts[run], begins[i] + stops[run]):
                mark(bits, places[step])
                top = min(top, places[step])
            mark(tops, top)
            lengths[top] = stops[run] - starts[run]
            labelled += lengths[top]
        at, inner, hits, best = 0, np.int64(0), 0, 0.0
        for k in range(read_off(tops, ordered)):
            hits += lengths[ordered[k]]
            alarms = reach[ordered[k]]
            while at < alarms >> 6:
                inner += np.int64(ones(bits[at]))
                bits[at] = NONE
                at += 1
            reached = inner + np.int64(ones(bits[at] & ((ONE << np.uint64(alarms & 63)) - ONE)))
            # of runs with tied maxima the last one has the most hits, and the others' values are below its own
            best = max(best, hits / (of_recall * labelled + of_precision * (hits + alarms - reached)))
        bits[at:] = NONE
        found[i] = (of_recall + of_precision) * best if labelled else np.nan
