"""How often each null calls two independent lists of times coincident, and what a null finer than the data's rounding
does.

In each situation events and alarms know nothing of each other. For each null and measure: the share of pairs with p ≤
0.05, and for `auto` that of verdicts other than "no" and "cannot tell". First two lists of 60 days in seven years, as
they are and with a tick of a second, as if they were not rounded. Prints Markdown:

    python benchmarks/coincidence_calibration.py [--pairs 1000] [--seed 12] [--workers 2] [--only gaps]
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import nofluke as nf
from nofluke.inference.coincidence import trial_of
from nofluke.series.occurrences import read_times, tolerance_of_times
from nofluke.series.timed import TimedCell

LEVEL, RESAMPLES = 0.05, 499
DAYS, FEW = 2_557, 60
HOURS, MANY = 8_760, 150
FIRST = np.datetime64("2010-01-01", "s")
Lists = tuple[Any, Any, dict[str, Any]]
"""Events, alarms, and what else to pass to nf.coincidence."""


def sampled(rng: np.random.Generator, n: int, many: int, weight: np.ndarray | float = 0.0) -> np.ndarray:
    """Different whole numbers below n, with chances that go by e^weight."""
    return np.sort(np.argsort(rng.gumbel(size=n) + weight)[-many:])


def bursts(rng: np.random.Generator, n: float, many: int, size: float = 5.0, spread: float = 3.0) -> np.ndarray:
    """Neyman and Scott: a Poisson number of times around each of some centres, anywhere."""
    centres = rng.uniform(0, n, rng.poisson(many / size))
    times = np.repeat(centres, rng.poisson(size, len(centres)))
    times = times + rng.normal(0, spread, len(times))
    return np.sort(times[(times >= 0) & (times < n)])


def whole(times: np.ndarray) -> np.ndarray:
    """Rounded down, each once."""
    return np.unique(times.astype(np.int64))


def daily(strength: float) -> np.ndarray:
    return strength * np.cos(2 * np.pi * np.arange(HOURS) / 24)


def trend(strength: float) -> np.ndarray:
    return strength * np.arange(HOURS) / HOURS


def in_hours(events: np.ndarray, alarms: np.ndarray) -> Lists:
    at = [FIRST + hours * np.timedelta64(3_600, "s") for hours in (events, alarms)]
    span = (FIRST, FIRST + np.timedelta64(3_600 * (HOURS - 1), "s"))
    return at[0], at[1], {"tolerance": "2h", "span": span}


def holed(rng: np.random.Generator) -> Lists:
    """A quarter of the time in twelve gaps, in which there is nothing."""
    begins = np.arange(12) * (HOURS // 12) + rng.integers(0, 400, 12)
    gaps = [(int(begin), int(begin) + 182) for begin in begins]
    closed = np.zeros(HOURS, dtype=bool)
    for begin, end in gaps:
        closed[begin : end + 1] = True
    weight = np.where(closed, -np.inf, 0.0)
    lists = sampled(rng, HOURS, MANY, weight), sampled(rng, HOURS, MANY, weight)
    return *lists, {"tolerance": 2, "span": (0, HOURS - 1), "gaps": gaps, "tick": 1}


def unrounded(rng: np.random.Generator) -> Lists:
    lists = (np.sort(rng.uniform(0, HOURS, MANY)) for _ in range(2))
    return *lists, {"tolerance": 2.0, "span": (0.0, float(HOURS))}


def clustered(events: bool, alarms: bool) -> Callable[[np.random.Generator], Lists]:
    def made(rng: np.random.Generator) -> Lists:
        lists = [bursts(rng, HOURS, MANY) if burst else rng.uniform(0, HOURS, MANY) for burst in (events, alarms)]
        return *map(whole, lists), {"tolerance": 2, "span": (0, HOURS - 1), "tick": 1}

    return made


def clustered_unrounded(rng: np.random.Generator) -> Lists:
    return bursts(rng, HOURS, MANY), bursts(rng, HOURS, MANY), {"tolerance": 2.0, "span": (0.0, float(HOURS))}


def days(delta: int, tick: str | None = None) -> Callable[[np.random.Generator], Lists]:
    """60 against 60 days in seven years, within so many days; the tick of a second is finer than they are rounded."""

    def made(rng: np.random.Generator) -> Lists:
        day, span = np.timedelta64(86_400, "s"), (FIRST, FIRST + np.timedelta64(86_400 * DAYS - 86_400, "s"))
        at = [FIRST + sampled(rng, DAYS, FEW) * day for _ in range(2)]
        return *at, {"tolerance": f"{delta}d", "span": span, **({"tick": tick} if tick else {})}

    return made


SITUATIONS: dict[str, tuple[Callable[[np.random.Generator], Lists], tuple[str, ...]]] = {
    **{f"60 against 60 days, δ = {d}": (days(d), ("permutation", "circular-shift")) for d in (1, 2, 5)},
    **{
        f"60 days as if they had seconds, δ = {d}": (days(d, "1s"), ("permutation", "circular-shift"))
        for d in (1, 2, 5)
    },
    "any time, unrounded": (unrounded, ("permutation", "circular-shift", "interval-shuffle", "jitter:window=100")),
    "events in bursts": (clustered(True, False), ("permutation", "circular-shift", "segments")),
    "alarms in bursts": (clustered(False, True), ("permutation", "circular-shift", "segments")),
    "both in bursts": (clustered(True, True), ("permutation", "circular-shift", "segments")),
    "bursts of both, unrounded": (clustered_unrounded, ("permutation", "circular-shift", "segments")),
    "daily cycle in both": (
        lambda rng: in_hours(*(sampled(rng, HOURS, MANY, daily(1.5)) for _ in range(2))),
        ("permutation", "seasonal:period=hour of day", "seasonal:period=1d", "circular-shift:every=1d"),
    ),
    "slow trend in both": (
        lambda rng: in_hours(*(sampled(rng, HOURS, MANY, trend(3.0)) for _ in range(2))),
        ("permutation", "local-permutation", "jitter:window=4d", "local-shift:reach=100h"),
    ),
    "gaps": (holed, ("permutation", "circular-shift", "segments", "local-permutation")),
    "edges interior": (
        lambda rng: (lambda e, a, more: (e, a, more | {"edges": "interior"}))(*holed(rng)),
        ("permutation", "circular-shift", "local-permutation"),
    ),
}
Row = dict[str, Any]


def cell_of(events: Any, alarms: Any, more: dict[str, Any]) -> TimedCell:
    """Two lists and a tolerance as nulls take them."""
    tolerance, edges = tolerance_of_times(more["tolerance"]), more.get("edges", "zero")
    told = {key: value for key, value in more.items() if key not in ("tolerance", "edges")}
    return trial_of(read_times(events, alarms, tolerances=(tolerance,), **told), (tolerance,), edges).cell(0, 0)


def tried(name: str, seed: int, number: int) -> Row:
    """P-values (recall, precision) of one pair of lists under each null, and auto's verdict."""
    rng = np.random.default_rng([seed, list(SITUATIONS).index(name), number])
    make, nulls = SITUATIONS[name]
    events, alarms, more = make(rng)
    row: Row = {"verdict": "not asked", "null": "none"}
    if "as if" in name:  # what is asked is what these nulls do, not what auto sees
        cell = cell_of(events, alarms, more)
    else:
        result = nf.coincidence(events, alarms, n_resamples=RESAMPLES, rng=number, **more)
        cell, row = result.cell, {"verdict": result.verdict, "null": result.null.name}
    for null in nulls:
        laws = nf.nulls.as_null(null).distributions(cell, n_resamples=RESAMPLES, rng=number)
        row[null] = laws.recall.upper(cell.recall_hits), laws.precision.upper(cell.precision_hits)
    return row


def share(rows: Iterable[Row], null: str) -> str:
    tests = np.array([row[null] for row in rows])
    return "/".join(short(float(one)) for one in (tests <= LEVEL).mean(axis=0))


def short(number: float) -> str:
    return f"{number:.3f}".lstrip("0") if number < 1 else "1"


def line(name: str, rows: list[Row]) -> str:
    called = sum(row["verdict"] in ("yes", "partly") for row in rows) / len(rows)
    untold = sum(row["verdict"] == "cannot tell" for row in rows) / len(rows)
    chosen = ", ".join(f"{null} {n / len(rows):.0%}" for null, n in Counter(row["null"] for row in rows).most_common(3))
    nulls = ", ".join(f"`{null}` {share(rows, null)}" for null in SITUATIONS[name][1])
    return "| " + " | ".join([name, short(called), short(untold), nulls, chosen]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="situations whose name has this in it")
    asked = parser.parse_args()
    begin, error = time.perf_counter(), math.sqrt(LEVEL * (1 - LEVEL) / asked.pairs)
    print(f"p ≤ {LEVEL} among {asked.pairs:,} independent pairs (recall/precision, standard error {short(error)})\n")
    print("| situation | auto: yes or partly | auto: cannot tell | p ≤ .05 | auto took |")
    print("| --- | ---: | ---: | --- | --- |")
    with ProcessPoolExecutor(asked.workers) as pool:
        for name in (name for name in SITUATIONS if asked.only in name):
            rows = list(pool.map(partial(tried, name, asked.seed), range(asked.pairs), chunksize=10))
            print(line(name, rows), flush=True)
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
