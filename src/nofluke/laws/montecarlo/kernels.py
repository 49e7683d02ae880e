"""Compiled loops of the permutation Monte Carlo: place events, count their hits, tally the counts.

Imported late (numba takes a second to load). Steps, windows and events are plain indices here:
:mod:`nofluke.laws.montecarlo` checks the input, prepares the tables and says what every table means.

A covered set is a row of bits over the *predicted* steps only (those that reach the lowest threshold), in
time order. Of a word with few bits each is looked at, once, and the hits at all thresholds are the sums of that
histogram from above; a word with many is counted 64 steps at a time, threshold by threshold. The events need not be
sorted for this.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled, compiler

UInt32Array = NDArray[np.uint32]
UInt64Array = NDArray[np.uint64]
Int32Array = NDArray[np.int32]

# Mixed signed and unsigned integers become floats in numba: all bit arithmetic stays in uint64.
ZERO = np.uint64(0)
ONE = np.uint64(1)
WORD_SHIFT = np.uint64(6)
BIT_MASK = np.uint64(63)
FULL_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
DRAWN_AT_ONCE = 256  # random words made together: the compiler does that on vector registers
THRESHOLDS_PER_BIT = 8  # that are counted in a word while one of its bits is looked at, about

numba = compiler()
intrinsic = numba.extending.intrinsic
kernel = compiled(error_model="numpy")


def _trailing_zeros(_typing_context: Any, _word: Any) -> Any:
    """Index of the lowest set bit of a nonzero 64-bit word: one machine instruction."""

    def emit(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zero_is_undefined = context.get_constant(numba.types.boolean, True)
        return builder.cttz(arguments[0], zero_is_undefined)

    return numba.types.uint64(numba.types.uint64), emit


def _bits_set(_typing_context: Any, _word: Any) -> Any:
    """How many bits of a 64-bit word are set: one machine instruction, or one for several words."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), emit


trailing_zeros: Any = intrinsic(_trailing_zeros)
bits_set: Any = intrinsic(_bits_set)


@kernel
def random_word(seed: np.uint64, counter: np.uint64) -> np.uint64:
    """Word number `counter` of the SplitMix64 stream `seed` (Steele, Lea and Flood, OOPSLA 2014)."""
    z = seed + counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def read_out(occupied: UInt64Array, n_steps: int, gaps: bool, events: UInt32Array) -> None:
    """Write the occupied steps, or those between, into `events` in ascending order, and clear `occupied`."""
    found = 0
    for word_index in range(occupied.size):
        bits = occupied[word_index]
        if gaps:
            bits = ~bits
            past_the_end = 64 * (word_index + 1) - n_steps
            if past_the_end > 0:
                bits &= FULL_WORD >> np.uint64(past_the_end)
        first = np.uint64(64 * word_index)
        while bits != ZERO:
            events[found] = first + trailing_zeros(bits)
            found += 1
            bits &= bits - ONE
        occupied[word_index] = ZERO


@kernel
def place_events(
    seed: np.uint64,
    counter: np.uint64,
    n_steps: int,
    occupied: UInt64Array,
    words: UInt64Array,
    events: UInt32Array,
    in_order: bool,
) -> np.uint64:
    """Fill `events` with a uniformly random set of distinct steps; return the counter to go on from.

    Steps are drawn one by one and redrawn when taken, which makes every set equally likely. Beyond half of
    the steps the empty ones are drawn instead, so that a draw is redrawn at most every second time.
    `occupied` is a row of zero bits and is left so; `words` is room for random words. The events come in ascending
    order if `in_order` is set (which the caller must do beyond half of the steps), else in the order of drawing.
    """
    n_events = events.size
    draw_gaps = n_events > n_steps - n_events
    n_draws = n_steps - n_events if draw_gaps else n_events
    bound = np.uint64(n_steps)
    # Lemire's bounded integers (ACM TOMACS 2019): the few products below this remainder would be one too many.
    biased = np.uint64((1 << 32) % n_steps)
    drawn = np.int64(0)
    while drawn < n_draws:
        some = min(int(n_draws - drawn), words.size)  # never more than are needed: each of them is one draw at most
        for i in range(some):
            words[i] = (random_word(seed, counter + np.uint64(i + 1)) >> HALF) * bound
        counter += np.uint64(some)
        for product in words[:some]:
            if (product & LOW_HALF) < biased:
                continue
            step = product >> HALF
            word = step >> WORD_SHIFT
            bit = step & BIT_MASK
            before = occupied[word]
            # Written in any case and kept only if the step was free: no branch for the processor to guess.
            events[drawn] = step
            drawn += np.int64(~(before >> bit) & ONE)
            occupied[word] = before | (ONE << bit)
    if not in_order:
        for event in events:
            occupied[np.uint64(event) >> WORD_SHIFT] = ZERO
        return counter
    read_out(occupied, n_steps, draw_gaps, events)
    return counter


@kernel
def draw_placements(seed: np.uint64, n_steps: int, placements: UInt32Array) -> None:
    """Fill each row of `placements` with the events that :func:`draw_hits` places for the same seed, sorted."""
    occupied, words = np.zeros((n_steps + 63) // 64, np.uint64), np.empty(DRAWN_AT_ONCE, np.uint64)
    counter = ZERO
    for row in range(placements.shape[0]):
        counter = place_events(seed, counter, n_steps, occupied, words, placements[row], True)


@kernel
def by_stratum(strata: IntArray, begins: IntArray) -> UInt32Array:
    """Steps in the order of their strata, which begin at so many, and ascending within each."""
    at = begins.copy()
    steps = np.empty(strata.size, np.uint32)
    for step in range(strata.size):
        steps[at[strata[step]]] = step
        at[strata[step]] += 1
    return steps


@kernel
def draw_in_strata(
    seeds: UInt64Array, steps: UInt32Array, begins: IntArray, sizes: IntArray, wanted: IntArray, placements: UInt32Array
) -> None:
    """Fill each row of `placements` with random steps of each stratum, as many as wanted, in ascending order.

    A stratum has its own seed; its steps are those of `steps` from where it begins on.
    """
    occupied, words = np.zeros((steps.size + 63) // 64, np.uint64), np.empty(DRAWN_AT_ONCE, np.uint64)
    column = 0
    for stratum in range(begins.size):
        size = sizes[stratum]
        count = wanted[stratum]
        own = occupied[: (size + 63) // 64]
        chosen = np.empty(count, np.uint32)
        counter = ZERO
        for row in range(placements.shape[0]):
            counter = place_events(seeds[stratum], counter, size, own, words, chosen, count > size - count)
            for k in range(count):
                placements[row, column + k] = steps[begins[stratum] + chosen[k]]
        column += count
    for row in range(placements.shape[0]):
        for step in placements[row]:
            occupied[np.uint64(step) >> WORD_SHIFT] |= ONE << (np.uint64(step) & BIT_MASK)
        read_out(occupied, steps.size, False, placements[row])


@kernel
def draw_orders(seed: np.uint64, n: int, orders: UInt32Array) -> None:
    """Fill each row of `orders` with the first numbers of a random order of 0 to n - 1, every order equally likely.

    A shuffle of Fisher and Yates that stops early; the next row goes on from where it left, which is as good as any.
    """
    order = np.arange(n).astype(np.uint32)
    counter = ZERO
    for row in range(orders.shape[0]):
        for k in range(orders.shape[1]):
            bound = np.uint64(n - k)
            biased = np.uint64((1 << 32) % (n - k))
            while True:
                counter += ONE
                product = (random_word(seed, counter) >> HALF) * bound
                if (product & LOW_HALF) >= biased:
                    break
            other = np.int64(product >> HALF) + k
            chosen = order[other]
            order[other] = order[k]
            order[k] = chosen
            orders[row, k] = chosen


@kernel
def cover(covered: UInt64Array, start: int, stop: int) -> None:
    """Set the bits start..stop-1; an empty range is fine. `covered` has a spare bit behind its last one."""
    first_word = np.uint64(start) >> WORD_SHIFT
    last_word = np.uint64(stop) >> WORD_SHIFT
    below_start = (ONE << (np.uint64(start) & BIT_MASK)) - ONE
    below_stop = (ONE << (np.uint64(stop) & BIT_MASK)) - ONE
    if first_word == last_word:
        covered[first_word] |= below_stop & ~below_start
    else:
        covered[first_word] |= ~below_start
        for word in range(first_word + ONE, last_word):
            covered[word] = FULL_WORD
        covered[last_word] |= below_stop


@kernel
def count_covered(
    covered: UInt64Array,
    bins: UInt32Array,
    above: UInt64Array,
    before: Int32Array,
    covered_levels: Int32Array,
    hits: Int32Array,
) -> None:
    """Fill `hits`: the covered predicted steps above each threshold. Clear `covered`.

    `above[w, k]` has the bits of word w whose steps lie above threshold k, and `before[w, k]` says how many do before
    word w: stretches of full words, which long windows make, cost one difference of its rows. Both may be empty, then
    every bit is looked at. `covered_levels` is zero and is left so.
    """
    hits[:] = 0
    looked_at = False
    word = 0
    while word < covered.size:
        bits = covered[word]
        if bits == FULL_WORD and before.size > 0:
            first = word
            while covered[word] == FULL_WORD:  # the spare bit behind the end is never set: this stops
                covered[word] = ZERO
                word += 1
            for k in range(hits.size):
                hits[k] += before[word, k] - before[first, k]
            continue
        if bits != ZERO:
            covered[word] = ZERO
            if above.size > 0 and hits.size <= THRESHOLDS_PER_BIT * np.int64(bits_set(bits)):
                for k in range(hits.size):
                    hits[k] += np.int32(bits_set(bits & above[word, k]))
            else:
                looked_at = True
                base = np.uint64(64 * word)
                while bits != ZERO:
                    covered_levels[bins[base + trailing_zeros(bits)]] += 1
                    bits &= bits - ONE
        word += 1
    if looked_at:
        running = 0
        for k in range(hits.size - 1, -1, -1):
            running += covered_levels[k]
            hits[k] += running
        covered_levels[:] = 0


@kernel
def hits_of(
    events: UInt32Array,
    in_order: bool,
    windows: UInt32Array,
    bins: UInt32Array,
    above: UInt64Array,
    before: Int32Array,
    covered: UInt64Array,
    covered_levels: Int32Array,
    reached_levels: Int32Array,
    precision_hits: Int32Array,
    recall_hits: Int32Array,
) -> None:
    """Hits of one placement at all tolerances and thresholds; the three tables of work are zero and are left so."""
    n_tolerances, n_thresholds = precision_hits.shape
    for d in range(n_tolerances):
        if in_order:  # what stands before is covered already: the union is written once, not per event
            done = np.uint32(0)
            for event in events:
                reached_levels[windows[d, event, 2]] += 1
                start = max(windows[d, event, 0], done)
                done = windows[d, event, 1]
                cover(covered, start, done)
        else:
            for event in events:
                reached_levels[windows[d, event, 2]] += 1
                cover(covered, windows[d, event, 0], windows[d, event, 1])
        count_covered(covered, bins, above, before, covered_levels, precision_hits[d])
        recall = 0
        for k in range(n_thresholds - 1, -1, -1):
            recall += reached_levels[k + 1]
            recall_hits[d, k] = recall
        reached_levels[:] = 0


@kernel
def draw_hits(
    seed: np.uint64,
    counter: np.uint64,
    n_steps: int,
    n_events: int,
    in_order: bool,
    windows: UInt32Array,
    bins: UInt32Array,
    above: UInt64Array,
    before: Int32Array,
    precision_hits: Int32Array,
    recall_hits: Int32Array,
) -> np.uint64:
    """Hits of random placements at all tolerances and thresholds, as rows (placement, tolerance, threshold)."""
    n_placements, _, n_thresholds = precision_hits.shape
    occupied, words = np.zeros((n_steps + 63) // 64, np.uint64), np.empty(DRAWN_AT_ONCE, np.uint64)
    events = np.empty(n_events, np.uint32)
    covered = np.zeros(bins.size // 64 + 1, np.uint64)
    covered_levels = np.zeros(n_thresholds, np.int32)
    reached_levels = np.zeros(n_thresholds + 1, np.int32)
    for i in range(n_placements):
        counter = place_events(seed, counter, n_steps, occupied, words, events, in_order)
        hits_of(
            events, in_order, windows, bins, above, before, covered, covered_levels, reached_levels,
            precision_hits[i], recall_hits[i],
        )  # fmt: skip
    return counter


@kernel
def count_hits(
    placements: UInt32Array,
    windows: UInt32Array,
    bins: UInt32Array,
    above: UInt64Array,
    before: Int32Array,
    precision_hits: Int32Array,
    recall_hits: Int32Array,
) -> None:
    """Hits of given placements (rows of ascending events) at all tolerances and thresholds."""
    n_thresholds = precision_hits.shape[2]
    covered = np.zeros(bins.size // 64 + 1, np.uint64)
    covered_levels = np.zeros(n_thresholds, np.int32)
    reached_levels = np.zeros(n_thresholds + 1, np.int32)
    for i in range(placements.shape[0]):
        hits_of(
            placements[i], True, windows, bins, above, before, covered, covered_levels, reached_levels,
            precision_hits[i], recall_hits[i],
        )  # fmt: skip


@kernel
def episode_hits(placements: UInt32Array, starts: IntArray, stops: IntArray, of: IntArray, hits: IntArray) -> None:
    """Episodes that each placement (a row of ascending events) hits; episode ``of[i]`` on steps starts[i]..stops[i]-1.

    Both ends and the episodes ascend. The next stretch that has not ended is looked for in strides that double, so that
    neither many stretches nor many events are walked through one by one where the other ones are few.
    """
    for row in range(placements.shape[0]):
        at = 0
        found = 0
        last = -1
        for event in placements[row]:
            t = np.int64(event)
            stride = 1
            while at + stride <= stops.size and stops[at + stride - 1] <= t:
                at += stride
                stride *= 2
            while stride > 1:
                stride //= 2
                if at + stride <= stops.size and stops[at + stride - 1] <= t:
                    at += stride
            while at < starts.size and starts[at] <= t:
                found += of[at] != last
                last = of[at]
                at += 1
        hits[row] = found


@kernel
def hits_of_windows(
    placements: IntArray, starts: IntArray, stops: IntArray, precision: IntArray, recall: IntArray
) -> None:
    """Both hits of each placement in each window, added to arrays of shape (placements, windows).

    Rows of ``placements`` ascend, as do the first and the last steps of the alarms' windows: one walk along both is
    enough.
    """
    for row in range(placements.shape[0]):
        events = placements[row]
        for window in range(starts.shape[0]):
            at = 0
            for alarm in range(starts.shape[1]):
                while at < events.size and events[at] < starts[window, alarm]:
                    at += 1
                if at < events.size and events[at] < stops[window, alarm]:
                    precision[row, window] += 1
            alarm = 0
            for event in events:
                while alarm < stops.shape[1] and stops[window, alarm] <= event:
                    alarm += 1
                if alarm < starts.shape[1] and starts[window, alarm] <= event:
                    recall[row, window] += 1


@kernel
def tally(
    hits: Int32Array, observed: Int32Array, at_least: IntArray, at_most: IntArray, total: IntArray, squares: IntArray
) -> None:
    """Add the rows of `hits` (placement, cell) to the running counts and sums of every cell."""
    for i in range(hits.shape[0]):
        for cell in range(hits.shape[1]):
            value = hits[i, cell]
            at_least[cell] += value >= observed[cell]
            at_most[cell] += value <= observed[cell]
            total[cell] += value
            squares[cell] += np.int64(value) * np.int64(value)


@kernel
def tally_histograms(hits: Int32Array, cells: IntArray, offsets: IntArray, counts: IntArray) -> None:
    """Add the chosen cells of `hits` to their histograms, which lie one behind the other in `counts`."""
    for i in range(hits.shape[0]):
        for j in range(cells.size):
            counts[offsets[j] + hits[i, cells[j]]] += 1


@kernel
def standardised_maxima(hits: Int32Array, mean: FloatArray, std: FloatArray, maxima: FloatArray) -> None:
    """Largest (hits - mean) / std over the cells with std > 0; minus infinity where there is none."""
    for i in range(hits.shape[0]):
        largest = -np.inf
        for cell in range(hits.shape[1]):
            if std[cell] > 0.0:
                largest = max(largest, (hits[i, cell] - mean[cell]) / std[cell])
        maxima[i] = largest


@kernel
def f_maxima(
    precision_hits: Int32Array,
    recall_hits: Int32Array,
    n_predictions: FloatArray,
    n_events: float,
    of_recall: float,
    of_precision: float,
    maxima: FloatArray,
) -> None:
    """Largest F_beta over the cells, by the weights of recall and precision; a cell without hits counts as 0."""
    for i in range(precision_hits.shape[0]):
        largest = 0.0
        for cell in range(precision_hits.shape[1]):
            c = float(precision_hits[i, cell])
            r = float(recall_hits[i, cell])
            if c > 0.0 and r > 0.0:
                below = of_recall * c * n_events + of_precision * r * n_predictions[cell]
                f = (of_recall + of_precision) * c * r / below
                largest = max(largest, f)
        maxima[i] = largest
