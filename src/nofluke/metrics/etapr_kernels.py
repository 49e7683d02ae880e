"""Compiled loop of eTaPR; imported late, since numba takes a second to load."""

import math

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.compiled import compiled

kernel = compiled(error_model="numpy")

PRECISION, RECALL = 0, 1  # anything else is F


@kernel
def etapr(
    opens: IntArray,
    closes: IntArray,
    at: IntArray,
    steps: IntArray,
    roots: IntArray,
    scale: float,
    starts: IntArray,
    stops: IntArray,
    first: IntArray,
    last: IntArray,
    begins: IntArray,
    n_steps: int,
    measure: int,
    theta_p: float,
    theta_r: float,
    of_recall: float,
    of_precision: float,
    found: FloatArray,
) -> None:
    """eTaP, eTaR or F of each draw.

    A run of alarms within one labelled run stands and falls with it. Those that reach over a border of one, or of the
    draw, are kept one by one ("edges"), with the labelled runs that they meet. What falls is put on a pile, and takes
    its overlap from what it meets, until the pile is empty: each pair is looked at once.
    """
    most = np.int64(1)
    for i in range(begins.size):
        most = max(most, last[i] - first[i])
    # labelled runs that meet an alarm: where they are, steps found, the edges at both ends, weight of the alarms within
    start_of, stop_of, got = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    left_of, right_of, within = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    kept = np.empty(most, np.bool_)
    # edges: where they are in the draw, steps labelled, the labelled runs that they meet
    low_of, high_of, hits = np.empty(2 * most, np.int64), np.empty(2 * most, np.int64), np.empty(2 * most, np.int64)
    from_of, to_of, run_of = np.empty(2 * most, np.int64), np.empty(2 * most, np.int64), np.empty(2 * most, np.int64)
    right = np.empty(2 * most, np.bool_)
    pile = np.empty(3 * most, np.int64)

    for i in range(begins.size):
        begin = begins[i]
        end = begin + n_steps
        labelled = last[i] - first[i]
        head, tail = at[begin] >> 1, (at[end] >> 1) + (at[end] & 1)
        if labelled == 0 or head == tail:
            found[i] = np.nan if labelled == 0 or measure == PRECISION else 0.0
            continue
        met, edges, top = np.int64(0), np.int64(0), np.int64(0)
        for label in range(first[i], last[i]):
            start, stop = begin + starts[label], begin + stops[label]
            before, behind = at[start] >> 1, at[stop] >> 1
            after = behind + (at[stop] & 1)
            if before == after:
                continue
            count = steps[behind] - steps[before]
            count -= start - opens[before] if at[start] & 1 else 0
            count += stop - opens[behind] if at[stop] & 1 else 0
            lower, upper = before, after  # the runs of alarms that lie within
            left_of[met], right_of[met] = -1, -1
            if opens[before] < start:
                lower += 1
                if edges == 0 or run_of[edges - 1] != before:
                    low_of[edges], high_of[edges] = max(opens[before], begin), min(closes[before], end)
                    run_of[edges], hits[edges], from_of[edges] = before, 0, met
                    edges += 1
                left_of[met] = edges - 1
                hits[edges - 1] += min(high_of[edges - 1], stop) - max(low_of[edges - 1], start)
                to_of[edges - 1] = met
            if closes[after - 1] > stop and lower < after:
                upper -= 1
                low_of[edges], high_of[edges] = opens[upper], min(closes[upper], end)
                run_of[edges], from_of[edges], to_of[edges] = upper, met, met
                hits[edges] = min(high_of[edges], stop) - low_of[edges]
                right_of[met] = edges
                edges += 1
            start_of[met], stop_of[met], got[met] = start, stop, count
            within[met] = roots[upper] - roots[lower]
            kept[met] = count / (stop - start) >= theta_r
            if not kept[met]:
                pile[top] = met
                top += 1
            met += 1
        for edge in range(edges):
            right[edge] = hits[edge] / (high_of[edge] - low_of[edge]) >= theta_p
            if not right[edge]:
                pile[top] = -1 - edge
                top += 1
        while top:
            top -= 1
            label = pile[top]
            if label >= 0:
                for edge in (left_of[label], right_of[label]):
                    if edge >= 0 and right[edge]:
                        hits[edge] -= min(high_of[edge], stop_of[label]) - max(low_of[edge], start_of[label])
                        if hits[edge] / (high_of[edge] - low_of[edge]) < theta_p:
                            right[edge] = False
                            pile[top] = -1 - edge
                            top += 1
            else:
                edge = -1 - label
                for label in range(from_of[edge], to_of[edge] + 1):
                    if kept[label]:
                        got[label] -= min(high_of[edge], stop_of[label]) - max(low_of[edge], start_of[label])
                        if got[label] / (stop_of[label] - start_of[label]) < theta_r:
                            kept[label] = False
                            pile[top] = label
                            top += 1

        detected, share, worth, rest = np.int64(0), 0.0, np.int64(0), 0.0
        for label in range(met):
            if kept[label]:
                detected += 1
                share += got[label] / (stop_of[label] - start_of[label])
                worth += within[label]
        recall = (detected + share) / (2 * labelled)
        if measure == RECALL:
            found[i] = recall
            continue
        for edge in range(edges):
            if right[edge]:
                length = high_of[edge] - low_of[edge]
                weight = np.int64(math.sqrt(length) * scale + 0.5)
                if hits[edge] == length:
                    worth += weight
                else:
                    rest += weight * (0.5 + hits[edge] / (2 * length))
        total = roots[tail] - roots[head]
        for run in (head, tail - 1):  # less what the borders of the draw cut off
            low, high = max(opens[run], begin), min(closes[run], end)
            if high - low < closes[run] - opens[run]:
                total += np.int64(math.sqrt(high - low) * scale + 0.5) - (roots[run + 1] - roots[run])
                if tail - head == 1:
                    break
        precision = (worth + rest) / total
        if measure == PRECISION:
            found[i] = precision
        else:
            below = of_recall * precision + of_precision * recall
            found[i] = (of_recall + of_precision) * precision * recall / below if below > 0 else 0.0
