"""Metrics that only the order of the scores matters to: over all thresholds at once, or at the best of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nofluke.arrays import AnyArray, FloatArray, IntArray
from nofluke.metrics.base import Metric, Needs
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.series.counting import flags_of


@dataclass(frozen=True, kw_only=True)
class AUCROC(Metric):
    r"""Area under the ROC curve: the chance that a labelled step scores higher than another one, ties counted by half.

    .. math:: \mathrm{AUC} = \frac{\#\{(i, j): z_i > z_j\} + \tfrac12 \#\{(i, j): z_i = z_j\}}{A (T - A)}

    over labelled steps i and other steps j, A of T steps being labelled. Chance gives ½ under rotation and permutation. NaN
    where no step or every step is labelled.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a receiver operating characteristic curve.

    Examples
    --------
    >>> AUCROC()([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.3])
    0.875
    """

    name: ClassVar[str] = "auc-roc"
    title: ClassVar[str] = "area under the ROC curve"
    needs: ClassVar[Needs] = "scores"
    any_window: ClassVar[bool] = False
    at_once: ClassVar[bool] = True

    def mean_by_permutation(self, series: Labelled) -> float | None:
        """½, with ties and without."""
        return 0.5 if 0 < series.n_labelled < series.n_steps else None

    def tables(self, detector: AnyArray, series: Labelled) -> IntArray:
        """Sums of twice the midranks before each step."""
        ranks = twice_midranks(detector[: series.n_steps])
        return np.concatenate([[0], np.cumsum(np.resize(ranks, len(detector)))])

    def values(self, tables: IntArray, draws: Draws) -> FloatArray:
        from nofluke.metrics.ranking_kernels import sums_of_runs

        found = np.empty(len(draws))
        sums_of_runs(tables, draws.starts, draws.stops, draws.first, draws.last, draws.begins, draws.n_steps, found)
        return found

    def every_rotation(self, detector: AnyArray, series: Labelled) -> FloatArray:
        """By one Fourier transform of whole numbers, rounded back to them."""
        from scipy import fft

        n, labelled = series.n_steps, series.n_labelled
        if not 0 < labelled < n:
            return np.full(n, np.nan)
        # centred, so that the transform loses nothing of the whole numbers
        ranks = twice_midranks(detector[:n]) - (n + 1)
        labels = flags_of(series.runs, n).astype(np.float64)
        spectrum = fft.rfft(ranks.astype(np.float64), workers=-1) * np.conj(fft.rfft(labels, workers=-1))
        sums = np.rint(fft.irfft(spectrum, n=n, workers=-1))
        return np.asarray(0.5 + sums / (2.0 * labelled * (n - labelled)))


def twice_midranks(scores: AnyArray) -> IntArray:
    """Twice the rank of each score from below, from 1; tied scores share the mean of their ranks.

    >>> twice_midranks(np.array([3.0, 1.0, 3.0]))
    array([5, 2, 5])
    """
    order = np.argsort(scores)
    ordered = scores[order]
    edges = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(edges, len(scores)))
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.repeat(2 * edges + sizes + 1, sizes)
    return ranks
