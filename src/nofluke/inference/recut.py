"""Cuts that follow the scores: what a quantile or a budget does to a comparison of episodes.

A quantile or a budget fixes the number of predicted steps, so no episode stands for itself: where a detector has more
alarms in one, its cut rises and takes them away elsewhere. Exchanging an episode between two detectors therefore has
two parts, what the episode holds, and what the cuts then give back. To first order the second is the number of steps by
which the episode differs, times what a detector gains with every step as its cut is lowered.

The section "Comparing detectors" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.inference.several import Detector
from nofluke.measures.episodes import units_and_steps
from nofluke.series.counting import reaching

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
