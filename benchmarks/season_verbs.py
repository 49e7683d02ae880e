"""How often other verbs than `evaluate` are fooled by seasons, calendars and archives, where there is no skill.

`compare`: two detectors that know nothing but what they share with the events, alarms by quantile; the share of pairs
with p ≤ 0.05 for the difference of precision, recall and F1. `familywise`: the best of three thresholds and two
tolerances against chance's best; "told" is the share of pairs with p ≤ 0.05, the largest of precision, recall, both and
F1. `study`: ten series of one situation each (thirty for the archive layout), pooled; the share of verdicts other than
"no" and "cannot tell". Prints Markdown:

    python benchmarks/season_verbs.py [--pairs 400] [--runs 200] [--seed 13] [--workers 2] [--only compare]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from calibration import DELTA, LEVEL, QUANTILE, short
from seasons import EVERY_ONE, START, Situation
from situations import Pair, gumbel, labels, points, ranges, trend, wave

import nofluke as nf
from nofluke.studies.sources import chunks

chunks.LEAST_CHUNKS = 1  # one part: to write many takes most of the time, and changes no number
RESAMPLES = 499
Row = dict[str, float]


def season_and_trend(rng: np.random.Generator) -> Pair:
    """Hourly for twelve weeks: a day, and rates that rise."""
    weight = wave(rng, 24, 1.5) + trend(2.0)
    times = START + 60 * np.arange(len(weight))
    return points(rng, weight), gumbel(rng) + weight, {"times": times}


def ranges_and_trend(rng: np.random.Generator) -> Pair:
    """The same with ranges."""
    weight = wave(rng, 24, 1.5) + trend(2.0)
    times = START + 60 * np.arange(len(weight))
    return ranges(rng, weight, count=12, lengths=(2, 8)), gumbel(rng) + weight, {"times": times, "quantile": 0.95}


HERE: dict[str, Situation] = {
    **EVERY_ONE,
    "a day and a trend, single events": season_and_trend,
    "a day and a trend, 12 ranges": ranges_and_trend,
}
COMPARED = (  # their rhythm has the same phase in every pair, so that scores of two pairs share it
    "the tutorial's latency",
    "nightly job, 20 ranges, clock",
    "business hours, clock",
    "archive layout, 3 late ranges",
)
SWEPT = ("28 days, 24 ranges, daily, nothing else", "a day and a trend, single events", "a day and a trend, 12 ranges")
POOLED = {
    "the tutorial's latency": 10,
    "28 days, 12 ranges, daily, nothing else": 10,
    "business hours, clock": 10,
    "archive layout, 3 late ranges": 30,
}


def pair_of(name: str, *seed: int) -> Pair:
    return HERE[name](np.random.default_rng([*seed, list(HERE).index(name)]))


def compared(name: str, seed: int, number: int) -> Row:
    """Whether two worthless detectors are said to differ."""
    truth, scores, more = pair_of(name, seed, number, 0)
    other = pair_of(name, seed, number, 1)[1]
    given = {"quantile": QUANTILE, "tolerance": DELTA, "n_resamples": RESAMPLES, "rng": number, **more}
    found = nf.compare(truth, {"one": scores, "other": other}, **given)
    return {one.measure: one.pvalue <= LEVEL for one in found.differences}


def swept(name: str, seed: int, number: int) -> Row:
    """Whether the best cell is said to be better than chance's best."""
    truth, scores, more = pair_of(name, seed, number)
    more.pop("quantile", None)
    curve = nf.sweep(truth, scores, quantiles=[0.9, 0.95, 0.98], tolerances=(1, 4), rng=number, **more)
    found = curve.familywise(n_resamples=RESAMPLES, rng=number)
    told = [found.precision, found.recall, found.both, found.best_f]
    row = {word: p <= LEVEL for word, p in zip(("precision", "recall", "both", "best F1"), told, strict=True)}
    return {**row, "cannot tell": bool(found.obstacle)}


def pooled(name: str, seed: int, number: int) -> Row:
    """Whether a pooled study is fooled."""
    columns: dict[str, list[np.ndarray]] = {"series": [], "label": [], "z": [], "time": []}
    for k in range(POOLED[name]):
        truth, scores, more = pair_of(name, seed, number, k)
        columns["series"].append(np.full(len(scores), f"s{k:02}"))
        columns["label"].append(labels(truth, len(scores)).astype(int))
        columns["z"].append(scores)
        columns["time"].append(more.get("times", np.zeros(0)))
    table = {key: np.concatenate(parts) for key, parts in columns.items() if len(parts[0])}
    cut = {"budget": "2%"} if "budget" in more else {"quantile": more.get("quantile", QUANTILE)}
    given = {"tolerance": more.get("tolerance", DELTA), "times": "time" if "time" in table else None}
    as_ranges = {} if isinstance(truth, np.ndarray) else {"count_events": "ranges"}
    asked = {"series": "series", "truth": "label", "scores": "z", "workers": 1, "n_resamples": 999, "rng": number}
    verdict = nf.study(table, **asked, **cut, **given, **as_ranges).pooled()[0].verdict
    return {"yes or partly": verdict in ("yes", "partly"), "cannot tell": verdict == "cannot tell"}


def table(
    title: str, one: Callable[[str, int, int], Row], names: list[str], pairs: int, asked: argparse.Namespace
) -> None:
    """Print a row for each situation."""
    began, heads = time.perf_counter(), ()
    with ProcessPoolExecutor(asked.workers) as pool:
        for name in names:
            rows = list(pool.map(partial(one, name, asked.seed), range(pairs), chunksize=5))
            if not heads:
                heads = tuple(rows[0])
                print(f"{title}, {pairs:,} pairs, seed {asked.seed}\n\n| situation | {' | '.join(heads)} |")
                print("| --- |" + " ---: |" * len(heads))
            shares = (short(float(np.mean([row[head] for row in rows]))) for head in heads)
            print(f"| {name} | {' | '.join(shares)} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--runs", type=int, default=200, help="studies")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", choices=("", "compare", "familywise", "study"))
    asked = parser.parse_args()
    if asked.only in ("", "compare"):
        table("compare", compared, list(COMPARED), asked.pairs, asked)
    if asked.only in ("", "familywise"):
        table("familywise", swept, list(SWEPT), asked.pairs, asked)
    if asked.only in ("", "study"):
        table("study", pooled, list(POOLED), asked.runs, asked)


if __name__ == "__main__":
    main()
