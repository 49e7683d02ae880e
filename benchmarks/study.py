"""Throughput of a study's cells beside a loop of nf.evaluate, as it is now and as it was before there were studies
(commit e4a83e0).

Both judge the same arrays under the permutation; p-values are compared too. Run in a clone of the repository:

    .venv/bin/python benchmarks/study.py             # cells a second
    .venv/bin/python benchmarks/study.py --scale 2000   # a whole study of 2,000 series from Parquet: seconds and memory
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BEFORE = "e4a83e0"
SIZES = ((1_000, 10), (4_000, 2), (10_000, 20))
DETECTORS = 10
LOOP = """
import json, sys, time
import numpy as np
import nofluke as nf
data = np.load(sys.argv[1])
for name in json.loads(sys.argv[2]):
    truth, scores = data[f"truth {name}"], data[f"scores {name}"]
    cut = {"quantile": 0.99, "tolerance": truth.shape[1] // 100, "null": "permutation"}
    nf.evaluate(truth[0], scores[0, 0], **cut).recall_test.pvalue
    found, begin = [], time.process_time()
    for one, many in zip(truth, scores):
        for z in many:
            result = nf.evaluate(one, z, **cut)
            found.append((result.precision_test.pvalue, result.recall_test.pvalue))
    print(json.dumps([time.process_time() - begin, found]))
"""


def simulated(n_steps: int, n_events: int, n_series: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Truths, and scores of several detectors that know a little."""
    truth = np.zeros((n_series, n_steps), dtype=np.int64)
    for row in truth:
        row[rng.choice(n_steps, n_events, replace=False)] = 1
    return truth, rng.normal(size=(n_series, DETECTORS, n_steps)) + 0.5 * truth[:, None]


def by_loop(source: Path, data: Path, names: list[str]) -> list[tuple[float, np.ndarray]]:
    """Seconds and p-values of a loop, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOOP, str(data), json.dumps(names)],
        env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [(seconds, np.array(found)) for seconds, found in lines]


def by_batch(truth: np.ndarray, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds and p-values of the batch core."""
    from nofluke.studies.asked import Asked
    from nofluke.studies.cases import Case
    from nofluke.studies.rows import Rows
    from nofluke.studies.study import add_case

    common = dict.fromkeys(("threshold", "budget", "count_events", "count_alarms", "refractory", "warmup"))
    asked = Asked.of(
        **common,
        quantile=0.99,
        tolerance=truth.shape[1] // 100,
        null="permutation",
        metrics=(),
        higher_is="anomalous",
        missing="error",
        overlaps="error",
        n_resamples=10_000,
        rng=0,
        alpha=0.05,
    )
    cases = [
        Case(series=f"{i}", group=f"{i}", truth=one, detectors={f"d{j}": z for j, z in enumerate(many)})
        for i, (one, many) in enumerate(zip(truth, scores, strict=True))
    ]
    add_case(cases[0], asked, Rows(()))
    rows, begin = Rows(()), time.process_time()
    for case in cases:
        add_case(case, asked, rows)
    part = rows.part()
    seconds = time.process_time() - begin
    return seconds, np.stack([part.cells["precision_pvalue"], part.cells["recall_pvalue"]], axis=1)


def throughput(n_series: int) -> None:
    """Print the table of cells."""
    rng = np.random.default_rng(0)
    here = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder, "before")
        subprocess.run(["git", "-C", str(here), "worktree", "add", "-q", "--detach", str(before), BEFORE], check=True)
        try:
            arrays, data = {}, Path(folder, "data.npz")
            for n_steps, n_events in SIZES:
                arrays[f"{n_steps}"] = simulated(n_steps, n_events, n_series, rng)
            np.savez(
                data,
                **{f"truth {name}": truth for name, (truth, _) in arrays.items()},
                **{f"scores {name}": scores for name, (_, scores) in arrays.items()},
            )
            names = list(arrays)
            then = by_loop(before / "src", data, names)
            now = by_loop(here / "src", data, names)
            print(
                f"{n_series} series x {DETECTORS} detectors, quantile .99, tolerance 1% of the steps, permutation; CPU µs a cell"
            )
            print("| steps × events | loop at e4a83e0 | loop now | study | e4a83e0 / study | largest difference of p |")
            print("| --- | --- | --- | --- | --- | --- |")
            for (n_steps, n_events), name, old, new in zip(SIZES, names, then, now, strict=True):
                truth, scores = arrays[name]
                seconds, found = by_batch(truth, scores)
                per = [1e6 * one / (n_series * DETECTORS) for one in (old[0], new[0], seconds)]
                apart = np.abs(found / old[1] - 1).max()
                print(
                    f"| {n_steps:,} × {n_events} | {per[0]:,.0f} | {per[1]:,.0f} | {per[2]:,.0f} | {per[0] / per[2]:.1f} | {apart:.0e} |"
                )
        finally:
            subprocess.run(["git", "-C", str(here), "worktree", "remove", "--force", str(before)], check=False)


def scale(n_series: int, workers: int, null: str) -> None:
    """Print seconds and memory of a whole study from Parquet."""
    import duckdb

    import nofluke as nf

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.parquet")
        scores = ", ".join(f"random()::FLOAT AS det_{i}" for i in range(5))
        duckdb.sql("SELECT setseed(0.5)")
        duckdb.sql(
            f"COPY (SELECT 's' || (i // 1000)::VARCHAR AS name, (random() < 0.01)::TINYINT AS label, {scores} "
            f"FROM range({n_series} * 1000) t(i)) TO '{path}' (FORMAT parquet)"
        )
        begin = time.perf_counter()
        study = nf.study(
            str(path), series="name", truth="label", scores="det_*", budget="1%", tolerance="1%", null=null, workers=workers,
            out=Path(folder, "out"),
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = path.stat().st_size / 1e6
        print(
            f"{n_series:,} series x 1,000 steps x 5 detectors ({size:,.0f} MB), null {null}, {workers} workers: {study.n_cells:,} cells, "
            f"{study.n_missing} missing, {seconds:,.0f} s; memory of this process {own:,.0f} MB, of the largest worker {child:,.0f} MB"
        )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--series", type=int, default=60, help="series of each size (default 60)")
    options.add_argument("--scale", type=int, default=0, help="instead, a whole study of so many series")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--null", default="permutation")
    given = options.parse_args()
    if given.scale:
        scale(given.scale, given.workers, given.null)
    else:
        throughput(given.series)
