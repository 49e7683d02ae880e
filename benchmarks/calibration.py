"""How often each null calls a worthless detector significant, and how often it finds one with skill.

In each situation of situations.py events and scores are independent of each other; the alarms are the highest tenth of
the scores, the tolerance is 2 steps (0 or 1 in a narrow season). For each null and measure, the share of pairs with
p ≤ 0.05, and for `auto` that of verdicts other than "no" and "cannot tell"; then the same for a detector that really
sees the events. Prints Markdown:

    python benchmarks/calibration.py [--pairs 2000] [--power-pairs 400] [--seed 5] [--workers 2] [--only trend]
    [--beyond | --narrow] [--auto]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from situations import BEYOND, NARROW, SITUATIONS, Pair, labels, with_skill

import nofluke as nf

LEVEL, RESAMPLES, DELTA, QUANTILE = 0.05, 499, 2, 0.9
OTHERS = ("permutation", "circular-shift", "segments", "local-shift", "local-permutation")
EVERY = 4  # nulls beside auto are tried on every fourth pair
EVERY_ONE = {**SITUATIONS, **BEYOND, **NARROW}  # new ones last: the place of one seeds its pairs
Row = dict[str, Any]


def tried(others: tuple[str, ...], name: str, skill: bool, seed: int, number: int) -> Row:
    """P-values (recall, precision) of one pair under auto and some others, auto's null and its verdict."""
    rng = np.random.default_rng([seed, list(EVERY_ONE).index(name), number])
    pair = EVERY_ONE[name](rng)
    return judged(with_skill(pair) if skill else pair, number, others)


def judged(pair: Pair, number: int, others: tuple[str, ...] = ()) -> Row:
    """The same of a pair that is there already."""
    truth, scores, more = pair
    given = {"quantile": QUANTILE, "tolerance": DELTA, "n_resamples": RESAMPLES, "rng": number, **more}
    result = nf.evaluate(truth, scores, **given)
    told = result.verdict != "cannot tell"
    row: Row = {
        "auto": (result.recall_test.pvalue, result.precision_test.pvalue) if told else (1.0, 1.0),
        "verdict": result.verdict,
        "null": result.null.name if result.settings.choice.holds else "none holds",
    }
    for null in others if number % EVERY == 0 else ():
        # a null of single steps is tried on the steps of ranges
        known = truth if null in ("circular-shift", "segments", "local-shift") else labels(truth, len(scores))
        other = nf.evaluate(known, scores, null=null, **given)
        row[null] = (other.recall_test.pvalue, other.precision_test.pvalue)
    return row


def share(rows: Iterable[Row], label: str) -> str:
    """Recall/precision with p at the level, in the pairs that this null was tried on."""
    tests = np.array([row[label] for row in rows if label in row])
    return "/".join(short(float(one)) for one in (tests <= LEVEL).mean(axis=0))


def short(number: float) -> str:
    return f"{number:.3f}".lstrip("0") if number < 1 else "1"


def line(name: str, rows: list[Row], others: tuple[str, ...] = OTHERS) -> str:
    called = sum(row["verdict"] in ("yes", "partly") for row in rows) / len(rows)
    untold = sum(row["verdict"] == "cannot tell" for row in rows) / len(rows)
    chosen = ", ".join(f"{null} {n / len(rows):.0%}" for null, n in Counter(row["null"] for row in rows).most_common(3))
    cells = [name, share(rows, "auto"), short(called), short(untold), *(share(rows, null) for null in others), chosen]
    return "| " + " | ".join(cells) + " |"


def arguments(text: str | None) -> argparse.ArgumentParser:
    """What every benchmark of this kind takes."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--power-pairs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="situations whose name has this in it")
    return parser


def tables(
    asked: argparse.Namespace,
    situations: Iterable[str],
    one: Callable[[str, bool, int, int], Row],
    others: tuple[str, ...],
) -> None:
    """Print what ``one`` pair after the other gives: a row for each situation, without skill and with it."""
    names = [name for name in situations if asked.only in name]
    columns = ("situation", "**auto**", "yes or partly", "cannot tell", *(f"`{null}`" for null in others), "auto took")
    for skill, pairs in ((False, asked.pairs), (True, asked.power_pairs)):
        if pairs == 0:
            continue
        begin = time.perf_counter()
        what = "Detectors with skill found" if skill else "False positives"
        print(f"{what} at p ≤ {LEVEL} (recall/precision), {pairs:,} pairs, seed {asked.seed}\n")
        print("| " + " | ".join(columns) + " |\n| --- |" + " ---: |" * (len(columns) - 2) + " --- |")
        with ProcessPoolExecutor(asked.workers) as pool:
            for name in names:
                rows = list(pool.map(partial(one, name, skill, asked.seed), range(pairs), chunksize=10))
                print(line(name, rows, others), flush=True)
        print(f"\n{time.perf_counter() - begin:.0f} s\n")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--beyond", action="store_true", help="situations that the rule was not made for")
    parser.add_argument("--narrow", action="store_true", help="narrow seasons, with tolerances of their own")
    parser.add_argument("--auto", action="store_true", help="no other nulls")
    asked = parser.parse_args()
    others = () if asked.auto else OTHERS
    tables(asked, NARROW if asked.narrow else BEYOND if asked.beyond else SITUATIONS, partial(tried, others), others)


if __name__ == "__main__":
    main()
