"""Compare detectors on one series: read them all alike, cut each by the same rule, exchange episodes pair by pair."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Unpack

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.inference.compare_units import compared
from nofluke.inference.comparison import Comparison
from nofluke.inference.differences import Pair
from nofluke.inference.several import Detector, read_several
from nofluke.measures.episodes import units_and_steps, units_of
from nofluke.series.arguments import AboutDetector, takes
from nofluke.series.counting import reaching
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.tables import plural

TIED = 2  # times as many steps as the cut should move by: its number of alarms then jumps


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a detector gains as its cut is lowered.

    Attributes
    ----------
    each : array of 4
        Alarms, hits, events and found events that each further predicted step adds.
    tied : bool
        Whether too many scores are tied for the cut to follow.
    """

    each: FloatArray = field(repr=False)
    tied: bool = False


def gain_of(detector: Detector) -> Gain:
    """Counted between two cuts, below and above the detector's own by as many steps as their number might vary.

    With a fixed threshold that is about the root of the sum of squares of the steps of its episodes.
    """
    trial, scores = detector.made.trial, np.sort(detector.sequence.open_scores())
    steps = units_and_steps((detector.cell,), (detector.predicted,))[1][0]
    n, far = int(steps.sum()), max(round(math.sqrt(float(steps @ steps))), 1)
    above = scores[len(scores) - n + far] if far < n else math.inf
    below = scores[max(len(scores) - n - far, 0)]
    cuts = np.array([below, above], dtype=np.float64)
    around, reached = trial.over(trial.tolerances, cuts), reaching(scores, cuts)
    counts = np.stack([around.n_predictions, around.precision_hits[0], np.zeros(2), around.recall_hits[0]])
    moved = int(reached[0] - reached[1])
    # where all these scores are tied, the cut stays where it is
    return Gain(each=(counts[:, 0] - counts[:, 1]) / max(moved, 1), tied=moved > TIED * 2 * far)


def given_back(steps: IntArray, each: FloatArray) -> FloatArray:
    """What the cuts take from the first detector in each unit, and give to the second: K x 4, which sum to nothing.

    ``steps`` are those that two detectors predict in each unit, 2 x K, and ``each`` is what a step adds.

    >>> given_back(np.array([[3, 1, 0], [1, 1, 2]]), np.array([1.0, 0.25, 0.0, 0.5]))
    array([[ 1.  ,  0.25,  0.  ,  0.5 ],
           [ 0.  ,  0.  ,  0.  ,  0.  ],
           [-1.  , -0.25, -0.  , -0.5 ]])
    """
    total = steps.sum(axis=1)
    if not total.all():  # no cut left an alarm: there is nothing to move
        return np.zeros((steps.shape[1], 4))
    # ties may leave the detectors with different numbers: each then has a share of the mean one
    half = steps * (total.mean() / (2 * total))[:, None]
    return np.outer(half[0] - half[1], each)



# ---- compare detectors on one series: read them all alike, cut each by the same rule, exchange episodes pair by pair

TIED_NEAR_CUT = (
    "many scores are tied near the cut. The number of alarms jumps as it moves, so p-values and intervals of differences "
    "are rough."
)


@takes(AboutDetector, like="evaluate", own=("predictions", "threshold", "quantile", "budget", "higher_is", "missing"))
def compare(
    truth: Any,
    scores: Any = None,
    *,
    tolerance: Length | Tolerance = 0,
    alpha: float = 0.05,
    level: float = 0.95,
    n_resamples: int = 9_999,
    rng: Any = 0,
    **about: Unpack[AboutDetector],
) -> Comparison:
    r"""Which of several detectors is better on one sequence, and could that be luck?

    For each pair, an episode is a chain of events and alarms of both with gaps of at most early + late. If the two
    detectors were equally good, swapping their names in an episode would change nothing but luck. So names are swapped
    at random, and p is the share of swaps whose difference in precision, recall or F1, in standard errors, is at least
    the observed one. A quantile or a budget moves the cuts with every swap:

    .. math::
        t = \frac{|F_A - F_B|}{\sqrt{\sum_i (u_i^A - u_i^B)^2}}

    with :math:`u_i` the linear term of episode i in a detector's measure, less what the cut gives back.

    Parameters
    ----------
    truth, tolerance
        As in `evaluate`, the same for all detectors.
    <about>
    scores : mapping of str to array-like, or data frame, optional
        The scores of each detector, by name; in a data frame each column is a detector.
    predictions : mapping of str to array-like, or data frame, optional
        Alarms of detectors that have no scores. Both may be passed, with different names. They are treated as if their
        threshold had been fixed: if they are the highest of some scores, pass the scores.
    threshold, quantile, budget : optional
        One rule for all scores, as in `evaluate`; with a quantile or a budget each detector has its own threshold,
        which follows its scores, and p-values are approximate.
    higher_is : {"anomalous", "normal"}
        What high scores mean, the same for all detectors.
    missing : {"error", "mask"}
        With "mask", a step that lacks a label or the value of one detector is left out for all of them.
    alpha : float
        Level of the tests, which Holm's method corrects for all pairs of detectors, measure by measure.
    level : float
        Level of the intervals of differences: t, with the degrees of freedom of the episodes that hold alarms (of the
        detector with fewer), for precision, or events, for recall. There is no interval with fewer than ten, or if a
        few of them hold nearly all.
    n_resamples : int
        Random swaps, if there are too many to enumerate. If fewer than 20 of them reach the observed difference, a pair
        gets up to 20/``alpha`` times the number of pairs (50,000 at most), so that Holm's correction has enough draws.
    rng : int, Generator, SeedSequence or None
        Randomness of the swaps, as ``numpy.random.default_rng`` takes it. The same seed serves all pairs.

    Returns
    -------
    Comparison

    See Also
    --------
    nofluke.evaluate : one detector.
    nofluke.study : many detectors on many series.
    nofluke.report : a page about several detectors.
    nofluke.Comparison : the result.

    Notes
    -----
    A detector without alarms has no precision and no F1, and is compared by recall alone. With K episodes in which two
    detectors differ no p-value is below 2^(1 - K): the result says where that is too much for anything to be told.
    Precision and F1 have neither p-value nor interval where one detector has more than twice as many alarms as the
    other, and of those of the other fewer than 5 hits or fewer than 5 misses are expected: that it shows no variance
    may then be an accident. Where only one of the two holds, or a cut follows the scores, swaps are not exact, and
    Student's p counts where it is larger (``method``).

    References
    ----------
    Pauly, Brunner and Konietschke (2015), Asymptotic permutation tests in general factorial designs: why studentised.
    Holm (1979). Besag and Clifford (1991), Sequential Monte Carlo p-values.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> found.detectors, found.not_told_from_best
    (('counts', 'energy'), ('counts', 'energy'))
    >>> one = found.difference("counts", "energy")
    >>> round(one.value, 3), round(one.low, 3), round(one.high, 3), round(one.pvalue, 1)
    (0.035, -0.026, 0.097, 0.3)
    """
    detectors, notes = read_several(truth, scores, tolerance=tolerance, **about)
    return compare_read(detectors, notes, alpha=alpha, level=level, n_resamples=n_resamples, rng=rng)


def compare_read(
    detectors: dict[str, Detector], notes: tuple[str, ...], *, alpha: float, level: float, n_resamples: int, rng: Any
) -> Comparison:
    """The comparison of detectors that have been read, and what their reading has to tell."""
    cells = {name: one.cell for name, one in detectors.items()}

    gains = {name: gain_of(one) for name, one in detectors.items() if one.cuts is not None and one.cuts.by_number}

    @lru_cache(maxsize=1)  # each pair is asked for twice, one after the other
    def both(pair: Pair) -> tuple[IntArray, IntArray]:
        first, second = (detectors[name] for name in pair)
        return units_and_steps((first.cell, second.cell), (first.predicted, second.predicted))

    def units(pair: Pair) -> tuple[IntArray, IntArray]:
        first, second = both(pair)[0]
        return first, second

    def recut(pair: Pair) -> FloatArray | None:
        own = [gains[name].each for name in pair if name in gains]
        return given_back(both(pair)[1], np.sum(own, axis=0) / 2) if own else None

    tied = [name for name, gain in gains.items() if gain.tied]
    first = next(iter(detectors.values()))
    cell, window = first.cell, first.made.trial.tolerances[0]
    return compared(
        {name: units_of((cell,))[0] for name, cell in cells.items()},
        units,
        recut=recut if gains else None,
        noun="episodes",
        alpha=alpha,
        level=level,
        n_resamples=n_resamples,
        rng=rng,
        title=f"{plural(first.sequence.n, 'step')}, {plural(cell.n_counted, cell.truth.noun)}, "
        f"{plural(len(cells), 'detector')}; tolerance {window}",
        notes=notes if not tied else (*notes, f"{', '.join(tied)}: {TIED_NEAR_CUT}"),
        cells=cells,
    )

