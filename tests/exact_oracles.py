"""Slow, obvious laws of (R, C) in exact arithmetic, to check the fast ones against.

R is the number of events inside any window, C the number of predictions hit; ``n_events`` events fall on
``n_steps`` steps, every placement equally likely. A prediction is hit if an event falls in [start, stop).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np

Joint = dict[tuple[int, int], Fraction]


def enumerate_joint(starts: Sequence[int], stops: Sequence[int], n_steps: int, n_events: int) -> Joint:
    """P(R = r, C = c) by looking at every placement: for up to about 1e5 of them."""
    windows = [set(range(int(a), int(b))) for a, b in zip(starts, stops, strict=True)]
    union = set().union(*windows)
    seen: Counter[tuple[int, int]] = Counter()
    for placement in combinations(range(n_steps), n_events):
        events = set(placement)
        seen[len(events & union), sum(1 for window in windows if events & window)] += 1
    total = seen.total()
    return {key: Fraction(count, total) for key, count in sorted(seen.items())}


def rational_joint(starts: Sequence[int], stops: Sequence[int], n_steps: int, n_events: int) -> Joint:
    """P(R = r, C = c) in integers, walking step by step and remembering where the last event fell.

    The state is the position of the last event among covered steps; it holds the number of placements so far
    for each (r, c). An event on step t hits a prediction anew if its window holds t but not the last event.
    """
    starts, stops = [int(a) for a in starts], [int(b) for b in stops]
    n = len(starts)
    union = sorted({t for a, b in zip(starts, stops, strict=True) for t in range(a, b)})
    free = n_steps - len(union)
    most = min(n_events, len(union))
    nowhere = -1
    state = {nowhere: np.zeros((most + 1, n + 1), dtype=object)}
    state[nowhere][0, 0] = 1
    for t in union:
        open_starts = [a for a, b in zip(starts, stops, strict=True) if a <= t < b]
        after: dict[int, np.ndarray] = {}
        for last, ways in state.items():
            # an event before every window still open is as good as none: forget where it was
            kept = last if last >= min(open_starts) else nowhere
            after[kept] = after[kept] + ways if kept in after else ways
            new_hits = sum(1 for a in open_starts if a > last)
            moved = np.zeros_like(ways)
            moved[1:, new_hits:] = ways[:-1, : n + 1 - new_hits]
            after[t] = after[t] + moved if t in after else moved
        state = after
    ways = sum(state.values())
    total = comb(n_steps, n_events)
    joint: Joint = {}
    for r in range(most + 1):
        for c in range(n + 1):
            count = int(ways[r, c]) * comb(free, n_events - r)
            if count:
                joint[r, c] = Fraction(count, total)
    return joint


def as_array(joint: Joint, shape: tuple[int, int]) -> np.ndarray:
    """The law as an array of floats, each entry correctly rounded; zero where it has no entry."""
    array = np.zeros(shape)
    for (r, c), probability in joint.items():
        array[r, c] = float(probability)
    return array


def hits_law(joint: Joint) -> dict[int, Fraction]:
    """P(C = c): the marginal law of the number of predictions hit."""
    law: dict[int, Fraction] = {}
    for (_, c), probability in joint.items():
        law[c] = law.get(c, Fraction(0)) + probability
    return law


def mean_and_variance(law: dict[int, Fraction] | Iterable[tuple[int, Fraction]]) -> tuple[Fraction, Fraction]:
    """Mean and variance of a law given as value and probability pairs."""
    pairs = list(dict(law).items())
    mean = sum((value * p for value, p in pairs), Fraction(0))
    return mean, sum(((value - mean) ** 2 * p for value, p in pairs), Fraction(0))


def joint_by_blocks(starts: Sequence[int], stops: Sequence[int], n_steps: int, n_events: int) -> Joint:
    """P(R = r, C = c) in integers, walking stretch by stretch between the edges of windows: for spans of any length.

    The state is how many predictions begin before the last event (those that end after it are hit), r and c; k events
    on a stretch of L steps can be placed in binom(L, k) ways.
    """
    starts, stops = [int(a) for a in starts], [int(b) for b in stops]
    edges = sorted({*starts, *stops})
    free = n_steps
    ways: Counter[tuple[int, int, int]] = Counter({(0, 0, 0): 1})
    for left, right in pairwise(edges):
        ended, begun = sum(1 for b in stops if b <= left), sum(1 for a in starts if a <= left)
        if ended == begun:
            continue
        free -= right - left
        after = Counter(ways)
        for (reached, r, c), count in ways.items():
            for k in range(1, min(n_events - r, right - left) + 1):
                after[begun, r + k, c + begun - max(reached, ended)] += count * comb(right - left, k)
        ways = after
    joint: Joint = {}
    for (_, r, c), count in ways.items():
        joint[r, c] = joint.get((r, c), Fraction(0)) + Fraction(
            count * comb(free, n_events - r), comb(n_steps, n_events)
        )
    return {key: chance for key, chance in joint.items() if chance}


def convolved(parts: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """P(X₁ + X₂ + ... = k) of independent numbers, term by term."""
    law = [Fraction(1)]
    for part in parts:
        grown = [Fraction(0)] * (len(law) + len(part) - 1)
        for i, p in enumerate(law):
            for j, q in enumerate(part):
                grown[i + j] += p * q
        law = grown
    return law


def weighted_placements(weights: Sequence[int], n_events: int) -> dict[int, Fraction]:
    """The law of the summed weights of events on distinct steps, by going through all placements."""
    sums = [sum(weights[t] for t in placed) for placed in combinations(range(len(weights)), n_events)]
    return {s: Fraction(sums.count(s), len(sums)) for s in sorted(set(sums))}


def weighted_by_counts(counts: Sequence[int], n_events: int) -> dict[int, Fraction]:
    """The same where ``counts[k]`` steps weigh k: the coefficients of Π (1 + y x^k)^counts[k], in whole numbers."""
    ways = {(0, 0): 1}
    for k, many in enumerate(counts):
        grown: dict[tuple[int, int], int] = {}
        for (events, weight), number in ways.items():
            for j in range(min(many, n_events - events) + 1):
                at = events + j, weight + k * j
                grown[at] = grown.get(at, 0) + number * comb(many, j)
        ways = grown
    return {s: Fraction(w, comb(sum(counts), n_events)) for (m, s), w in sorted(ways.items()) if m == n_events}


def mantel_haenszel(tables: Sequence[tuple[int, int, int, int]]) -> dict[int, Fraction]:
    """The law of Σ a over 2 × 2 tables (a, b, c, d) with all margins fixed: going through all tables of each."""
    parts = []
    for a, b, c, d in tables:
        row, column, n = a + b, a + c, a + b + c + d
        law = [Fraction(comb(row, x) * comb(n - row, column - x), comb(n, column)) for x in range(min(row, column) + 1)]
        parts.append(law)
    return dict(enumerate(convolved(parts)))


def at_least_k_with_skill(pvalues: Sequence[float], k: int) -> float:
    """The largest of Simes' p-values over all sets of K - k + 1 groups: whichever of them have no skill."""

    def simes(some: Sequence[float]) -> float:
        return min(len(some) * p / (i + 1) for i, p in enumerate(sorted(some)))

    return min(max(simes(some) for some in combinations(pvalues, len(pvalues) - k + 1)), 1.0)


def recall_power(recall: Fraction, n_steps: int, covered: int, n_events: int, alpha: Fraction) -> Fraction:
    """P(Bin(m, R) >= c) for the smallest possible c with a hypergeometric tail of at most alpha; 0 without one."""
    ways = [comb(covered, r) * comb(n_steps - covered, n_events - r) for r in range(min(n_events, covered) + 1)]
    for critical in range(len(ways)):
        if ways[critical] and Fraction(sum(ways[critical:]), comb(n_steps, n_events)) <= alpha:
            found = (
                comb(n_events, r) * recall**r * (1 - recall) ** (n_events - r) for r in range(critical, n_events + 1)
            )
            return sum(found, Fraction(0))
    return Fraction(0)
