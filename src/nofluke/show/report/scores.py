"""The scores of a timeline: as they are, or, if many, in 16 bits that never cross a threshold of the slider."""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.plot.style import MOST_DRAWN
from nofluke.show.report.packing import packed

MOST_EXACT = 100_000
CODES = 65_535  # of 16 bits; the last one is for a score that is missing
LEAST_CODES = 256  # of the scores between two thresholds, however close these are


def scores_of(scores: FloatArray, thresholds: FloatArray) -> dict[str, Any]:
    """Scores, higher ones anomalous, for a page to draw; NaN is a score that is missing.

    Scores between two thresholds have codes of their own, which stand for values from the smallest to the largest of
    these very scores at equal distances. So a rounded score is on its own side of every threshold, and all extremes are
    exact.
    """
    if len(scores) <= MOST_EXACT:
        return {"exact": packed(scores.astype(np.float64))}
    drawn = np.clip(scores, -MOST_DRAWN, MOST_DRAWN)
    missing = np.isnan(drawn)
    band = np.searchsorted(thresholds, scores, side="right")
    band[missing] = -1
    numbers, of = np.unique(band[~missing], return_inverse=True)
    values = drawn[~missing]
    low, high = np.full(len(numbers), np.inf), np.full(len(numbers), -np.inf)
    np.minimum.at(low, of, values)
    np.maximum.at(high, of, values)
    counts = _codes(high / 4 - low / 4)  # quarters: a difference of two large floats may be none
    first = np.cumsum(counts) - counts
    wide = np.where(high > low, high / 4 - low / 4, 1.0)
    place = (values / 4 - low[of] / 4) / wide[of] * (counts[of] - 1)
    codes = np.full(len(drawn), CODES, dtype=np.uint16)
    codes[~missing] = first[of] + np.rint(place).astype(np.int64)
    bands = [[float(a), float(b), int(n)] for a, b, n in zip(low, high, counts, strict=True)]
    return {"codes": packed(codes), "bands": bands}


def _codes(widths: FloatArray) -> Any:
    """How many codes each band has: some, and of the others its share of the whole width."""
    spare = CODES - LEAST_CODES * len(widths)
    share = widths / widths.sum() if widths.sum() > 0 else np.full(len(widths), 1 / max(len(widths), 1))
    return LEAST_CODES + np.floor(share * spare).astype(np.int64)
