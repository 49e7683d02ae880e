"""Precision's law under permutation by an approximation of its tails, which has no error bound."""

from __future__ import annotations

import math

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.laws.exact.moments import Moments, precision_moments
from nofluke.laws.law import How, Law, Tail, TailSide, exactly
from nofluke.lazy import lazy
from nofluke.series.counting import Windows

KNOTS = 33  # tails that make the bulk of an approximate law


class OfWindows(Law):
    """What all laws of precision's hits have: the windows, the number of events, exact moments.

    ``size`` counts the predictions, those too that nothing can hit: their windows are not among the windows.
    """

    def __init__(self, windows: Windows, n_events: int, method: How, size: int | None) -> None:
        Law.__init__(self, size=windows.n if size is None else size, method=method)
        self.windows = windows.hittable
        self.n_events = n_events

    @lazy
    def _exact_moments(self) -> Moments:
        return precision_moments(self.windows, self.n_events)

    def _filled(self, first: int, law: FloatArray) -> FloatArray:
        """A whole table from probabilities that begin somewhere."""
        if first == 0 and len(law) == self.size + 1:
            return law
        table = np.zeros(self.size + 1)
        table[first : first + len(law)] = law
        return table

    def _moments(self) -> tuple[float, float]:
        return self._exact_moments.mean, self._exact_moments.var


class PrecisionSaddlepoint(OfWindows):
    """Tails by Skovgaard's approximation, which has no error bound."""

    def __init__(self, windows: Windows, n_events: int, size: int | None = None) -> None:
        super().__init__(windows, n_events, How(kind="approximate", name="saddlepoint"), size)

    def _tail(self, hits: int, side: TailSide) -> Tail:
        from nofluke.laws.exact import saddlepoint

        if self.var == 0.0:  # chance always scores the same: there is nothing to approximate
            certain = hits <= round(self.mean) if side == "upper" else hits >= round(self.mean)
            return Tail.of(float(certain), exactly("constant"))
        found = saddlepoint.tail(self.windows, self.n_events, hits, side=side)
        # at an end of the law the formula has no saddle: what a table cannot be is cut off there
        return Tail.of_log(found.log_p, self.method)

    def _table(self) -> FloatArray:
        """From differences of tails, as far as eight standard deviations from the mean."""
        low, high = self._within(8)
        return self._filled(low, self._between(low, np.arange(low + 1, high + 1), high))

    def _within(self, deviations: float) -> tuple[int, int]:
        reach = deviations * self.std
        return max(0, math.floor(self.mean - reach)), min(self.size, math.ceil(self.mean + reach))

    def _between(self, low: int, at: IntArray, high: int) -> FloatArray:
        """P(X = low), ..., P(X = high), all that is beyond belonging to the ends, from the tails at some hits."""
        from scipy.special import ndtr, ndtri

        hits = np.arange(low + 1, high + 1)
        tails = np.minimum.accumulate([self.upper(int(k)) for k in at])
        if len(at) < len(hits):  # in between, on the scale on which a normal law is a straight line
            tails = ndtr(np.interp(hits, at, ndtri(np.clip(tails, 1e-300, 1 - 1e-16))))
        return np.maximum(-np.diff([1.0, *tails, 0.0]), 0.0)

    def bulk(self, deviations: float) -> tuple[int, FloatArray]:
        if math.isinf(deviations):
            return super().bulk(deviations)
        (low, high), most = self._within(deviations), self.size
        before, behind = max(low - 1, 0), min(high + 1, most)  # where all that is beyond them would be found
        some = np.linspace(before + 1, behind, min(KNOTS, behind - before)).round().astype(np.int64)
        return low, self._between(before, some, behind)[low - before :][: high - low + 1]
