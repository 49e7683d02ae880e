"""What a study costs: beside a loop of nf.evaluate over the same arrays, one that asks an nf.Series for all of its
detectors, and one that judges these together, as a study does, and keeps nothing; as it grows, large, and resumed.

    .venv/bin/python benchmarks/study.py                    # a study and a loop: CPU seconds, and what grows with what
    .venv/bin/python benchmarks/study.py --large 100000     # 5 detectors on so many series of 200 steps, whole
    .venv/bin/python benchmarks/study.py --resume 1533      # 12 detectors, ranges, auto; then the same call again

Seconds are CPU seconds of this process and its workers. Events and scores are at random, with a little skill.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DETECTORS = 10
ROUNDS = 3  # in turns: the least of each counts
SETTINGS = {
    "auto, ranges": {"budget": "2%", "tolerance": 5, "count_events": "ranges"},
    "auto, single events": {"budget": "2%", "tolerance": 5},
    "permutation, single events": {"budget": "2%", "tolerance": 5, "null": "permutation"},
}


def cpu():
    """CPU seconds of this process and of workers that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def truth_of(n_steps, n_events, rng, *, ranges):
    """Labels in runs of 5 to 50 steps, or single ones."""
    labels = np.zeros(n_steps, dtype=np.int8)
    for start in rng.choice(n_steps - 50, n_events, replace=False):
        labels[start : start + (int(rng.integers(5, 50)) if ranges else 1)] = 1
    return labels


def scores_of(labels, rng):
    """A moving sum of noise, higher where there is an event."""
    noise = rng.normal(size=len(labels) + 4)
    return sum(noise[i : i + len(labels)] for i in range(5)) / 2 + 0.8 * labels * rng.random()


def series_of(n_series, n_steps, n_detectors, *, ranges, seed=0):
    rng = np.random.default_rng(seed)
    truths = [truth_of(n_steps, max(n_steps // 800, 3), rng, ranges=ranges) for _ in range(n_series)]
    return truths, [[scores_of(labels, rng) for _ in range(n_detectors)] for labels in truths]


def table_of(truths, scores):
    """The same as one table with a column for each detector."""
    names = np.repeat([f"s{i:05}" for i in range(len(truths))], [len(labels) for labels in truths])
    found = {"name": names, "label": np.concatenate(truths)}
    for d in range(len(scores[0])):
        found[f"det_{d:02}"] = np.concatenate([own[d] for own in scores])
    return found


def judged_together(truths, scores, settings):
    """A function that judges all detectors of a series together, series by series: what a study does for each case."""
    from nofluke.series.arguments import AboutCells, with_defaults
    from nofluke.studies.asked import Asked
    from nofluke.studies.cases import Case
    from nofluke.studies.cells import Cells

    own = {"metrics": (), "null": "auto", "n_resamples": 10_000, "rng": 0, "alpha": 0.05, "cut_ties": "drop"}
    asked = Asked.of(**{**with_defaults(AboutCells, settings), **own, **settings})

    def judge():
        for labels, each in zip(truths, scores, strict=True):
            case = Case(series="s", group="s", truth=labels, detectors={str(i): z for i, z in enumerate(each)})
            cells = Cells(case, asked)
            for _, one in cells.ready():
                _ = cells.evaluation(one).verdict

    return judge


def study_of(table, **settings):
    import nofluke as nf

    return nf.study(table, series="name", truth="label", scores="det_*", **settings)


def timed(function):
    """CPU seconds of a call, and what it returned."""
    begun = cpu()
    found = function()
    return cpu() - begun, found


def beside_a_loop(n_series, n_steps):
    """Print a study beside the loop, with all that a study does: reading, cells, files in a folder, pooling."""
    import nofluke as nf

    print(f"{n_series} series of {n_steps:,} steps, {DETECTORS} detectors; CPU ms a cell")
    print("| null and events | loop of evaluate | of one Series | together | study |")
    print("| --- | --- | --- | --- | --- |")
    for name, settings in SETTINGS.items():
        truths, scores = series_of(n_series, n_steps, DETECTORS, ranges="ranges" in name)
        table = table_of(truths, scores)

        def loop(truths=truths, scores=scores, settings=settings):
            for labels, own in zip(truths, scores, strict=True):
                for z in own:
                    _ = nf.evaluate(labels, z, **settings).verdict

        def series(truths=truths, scores=scores, settings=settings):
            about = {"count_events": settings.get("count_events")}
            asked = {name: value for name, value in settings.items() if name not in about}
            for labels, own in zip(truths, scores, strict=True):
                one = nf.Series(labels, **about)
                for z in own:
                    _ = one.evaluate(z, **asked).verdict

        study_of(table, workers=1, **settings).leaderboard()  # so that compiled code is loaded
        loop(truths[:2], scores[:2])
        ways = {
            "loop": loop,
            "series": series,
            "together": judged_together(truths, scores, settings),
            "study": lambda table=table, settings=settings: study_of(table, workers=1, **settings).leaderboard(),
        }
        least = dict.fromkeys(ways, np.inf)
        for _ in range(ROUNDS):
            for way, function in ways.items():
                least[way] = min(least[way], timed(function)[0])
        took = " | ".join(f"{1e3 * seconds / (n_series * DETECTORS):.2f}" for seconds in least.values())
        print(f"| {name} | {took} |", flush=True)


def growth():
    """Print CPU seconds of twice the series, the steps and the detectors."""
    base = {"n_series": 20, "n_steps": 5_000, "n_detectors": 5}
    print("\n| auto, ranges | CPU s | times the first |\n| --- | --- | --- |")
    first = None
    for changed in ({}, {"n_series": 40}, {"n_steps": 10_000}, {"n_detectors": 10}):
        sizes = base | changed
        table = table_of(*series_of(**sizes, ranges=True))
        taken, _ = timed(lambda table=table: study_of(table, workers=1, **SETTINGS["auto, ranges"]).leaderboard())
        first = first or taken
        print("| {n_series} x {n_steps:,} x {n_detectors}".format(**sizes), f"| {taken:.2f} | {taken / first:.2f} |")


def told(what, seconds, wall, study):
    own, child = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(
        f"{what}: {study.n_cells:,} cells, {study.n_missing} missing; {seconds:,.1f} CPU s, {wall:,.1f} s; memory of this "
        f"process {own:,.0f} MB, of the largest worker {child:,.0f} MB",
        flush=True,
    )


def large(n_series, workers):
    """Print what a whole study of many short series takes, from a Parquet file to the leaderboard."""
    import duckdb

    import nofluke as nf

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.parquet")
        scores = ", ".join(f"random()::FLOAT AS det_{i}" for i in range(5))
        duckdb.sql("SELECT setseed(0.5)")
        duckdb.sql(
            f"COPY (SELECT 's' || (i // 200)::VARCHAR AS name, (random() < 0.02)::TINYINT AS label, {scores} "
            f"FROM range({n_series} * 200) t(i)) TO '{path}' (FORMAT parquet)"
        )
        begun, wall = cpu(), time.perf_counter()
        study = nf.study(
            str(path),
            series="name",
            truth="label",
            scores="det_*",
            budget="5%",
            tolerance=2,
            null="permutation",
            workers=workers,
            out=Path(folder, "out"),
        )
        study.leaderboard()
        told(f"{n_series:,} x 5 of 200 steps", cpu() - begun, time.perf_counter() - wall, study)


def resumed(n_series, workers):
    """Print what a study takes, and what it takes to call it again."""
    table = table_of(*series_of(n_series, 2_000, 12, ranges=True))
    with tempfile.TemporaryDirectory() as folder:
        for what in ("first", "again"):
            begun, wall = cpu(), time.perf_counter()
            study = study_of(table, workers=workers, out=Path(folder, "out"), **SETTINGS["auto, ranges"])
            study.leaderboard()
            told(f"{n_series:,} x 12 of 2,000 steps, {what}", cpu() - begun, time.perf_counter() - wall, study)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--series", type=int, default=20, help="series beside the loop (default 20)")
    options.add_argument("--steps", type=int, default=10_000, help="steps of each (default 10,000)")
    options.add_argument("--large", type=int, default=0, help="instead, a study of so many short series")
    options.add_argument("--resume", type=int, default=0, help="instead, a study of so many series, twice")
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()
    if given.large:
        large(given.large, given.workers)
    elif given.resume:
        resumed(given.resume, given.workers)
    else:
        beside_a_loop(given.series, given.steps)
        growth()


if __name__ == "__main__":
    sys.exit(main())
