"""Published detectors of the Numenta Anomaly Benchmark against chance: in how many series is there skill?

Run it as ``NOFLUKE_DATA=... python benchmarks/claims.py``; the directory holds ``nab/nab.parquet``. Alarms are the
highest 1% of the scores (ties at the cut left out, so that detectors with few distinct scores have fewer), the truth
are the benchmark's windows, and its probationary period is left out: the first 15% of a series, at most 750 steps.
Chance is every rotation of the alarms. For each detector: alarms and runs of them a series; then for each metric the
mean value, the mean of chance, and in how many series p is at most .05. Series without windows have nothing to find
and are left out; without alarms a value that is undefined counts as 0.
"""

import math
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import nofluke as nf

METRICS = ("nab", "pa-f1", "affiliation-f1")
BUDGET = "1%"
NOT_DETECTORS = ("series", "timestamp", "value", "event", "window")


def series_of(table):
    """Windows and scores of every series that has windows, after the probationary period."""
    names = table["series"].to_numpy(zero_copy_only=False)
    detectors = [name for name in table.column_names if name not in NOT_DETECTORS]
    for name in dict.fromkeys(names):
        rows = np.flatnonzero(names == name)
        rows = rows[min(math.floor(0.15 * len(rows)), 750) :]
        part = table.slice(rows[0], len(rows))
        if any(part["window"].to_pylist()):
            yield part["window"].to_numpy(), {one: part[one].to_numpy() for one in detectors}


def main():
    directory = os.environ.get("NOFLUKE_DATA")
    if not directory:
        sys.exit("NOFLUKE_DATA is unset: it names the directory of nab/nab.parquet.")
    found, alarms, count = {}, {}, 0
    for windows, scores in series_of(pq.read_table(Path(directory) / "nab" / "nab.parquet")):
        count += 1
        for detector, z in scores.items():
            # as many draws as steps, so that all rotations are gone through
            results = nf.significance(
                list(METRICS), windows, z, budget=BUDGET, null="circular-shift", n_resamples=len(z)
            )
            cut = z >= results[METRICS[0]].labels.threshold
            alarms.setdefault(detector, []).append((cut.sum(), np.count_nonzero(np.diff(cut, prepend=False) & cut)))
            for metric in METRICS:
                one = results[metric]
                found.setdefault((detector, metric), []).append((*np.nan_to_num([one.value, one.expected]), one.pvalue))
    print(f"{count} series; alarms on at most {BUDGET} of the steps")
    head = "".join(f"{metric + ' (chance)':>26}{'p ≤ .05':>9}" for metric in METRICS)
    print(f"{'detector':<18}{'alarms':>7}{'runs':>6}{head}")
    for detector, counts in alarms.items():
        cells = ""
        for metric in METRICS:
            value, chance, p = np.array(found[detector, metric]).T
            cells += f"{f'{value.mean():.3f} ({chance.mean():.3f})':>26}{(p <= 0.05).sum():>9}"
        print(f"{detector:<18}{np.mean([c[0] for c in counts]):>7.0f}{np.mean([c[1] for c in counts]):>6.0f}{cells}")


if __name__ == "__main__":
    main()
