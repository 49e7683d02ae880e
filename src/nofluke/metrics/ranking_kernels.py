"""Compiled loops of metrics by rank; imported late, since numba takes a second to load."""

import numpy as np
from numpy.typing import NDArray

from nofluke.compiled import compiled

Int64Array = NDArray[np.int64]
FloatArray = NDArray[np.float64]

kernel = compiled(error_model="numpy")


@kernel
def sums_of_runs(
    sums: Int64Array,
    starts: Int64Array,
    stops: Int64Array,
    first: Int64Array,
    last: Int64Array,
    begins: Int64Array,
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
