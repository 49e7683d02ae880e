"""The engine of comparisons: detectors on units that are treated as independent, of one series or of many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nofluke.arrays import IntArray
from nofluke.errors import InputError
from nofluke.inference.comparison import Comparison
from nofluke.inference.differences import Difference, Pair, Recut, all_differences, draws_needed
from nofluke.inference.interval import ALARMS, EVENTS, MEASURES, Kind, check_level, intervals_of, linearise
from nofluke.nulls.base import as_seed, check_resamples
from nofluke.plain import as_rng, check_alpha
from nofluke.progress import progress_bar
from nofluke.series.trial import Cell
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, there_are_no

MOST_NAMED = 5  # detectors in a note


def compared(
    own: Mapping[str, IntArray],
    units: Callable[[Pair], tuple[IntArray, IntArray]],
    *,
    recut: Recut | None = None,
    noun: Kind,
    alpha: float,
    level: float,
    n_resamples: int,
    rng: Any,
    title: str,
    notes: tuple[str, ...],
    cells: Mapping[str, Cell] | None = None,
) -> Comparison:
    """Compare detectors: ``own`` holds the units each has alone, ``units`` gives those that two have together.

    ``recut`` is that of `all_differences`, where cuts follow the scores.
    """
    if len(own) < 2:
        raise InputError(
            argument="scores", problem=f"has {plural(len(own), 'detector')}", remedy="pass at least two to compare"
        )
    alpha, level, n_resamples = check_alpha(alpha), check_level(level), check_resamples(n_resamples)
    seed = as_seed(rng)
    seed = int(np.random.default_rng(as_rng(rng)).integers(2**63)) if seed is None else seed
    counts = {name: rows.sum(axis=0) for name, rows in own.items()}
    values = {name: linearise(total[None]).values for name, total in counts.items()}
    # sorted() keeps the order given where F1 is the same, and NaN would compare with nothing
    names = tuple(sorted(counts, key=lambda name: -np.nan_to_num(values[name][2], nan=-1.0)))
    pairs = list(itertools.combinations(names, 2))
    most = draws_needed(len(pairs), alpha, n_resamples)
    with progress_bar("pairs", len(pairs)) as advance:
        found = all_differences(
            pairs,
            units,
            recut=recut,
            noun=noun,
            level=level,
            n_resamples=n_resamples,
            most=most,
            seed=seed,
            advance=advance,
        )
    return Comparison(
        detectors=names,
        counts=np.stack([counts[name] for name in names]),
        values=np.stack([values[name] for name in names]),
        intervals=tuple(intervals_of(own[name], level, kind=noun) for name in names),
        differences=found,
        noun=noun,
        alpha=alpha,
        level=level,
        n_resamples=n_resamples,
        most_resamples=most,
        seed=seed,
        recut=recut is not None,
        title=title,
        notes=(*notes, *_remarks({name: counts[name] for name, rows in own.items() if len(rows)}, found, noun, alpha)),
        cells=cells or {},
    )


def _remarks(
    counts: Mapping[str, IntArray], differences: tuple[Difference, ...], noun: str, alpha: float
) -> tuple[str, ...]:
    """What is undefined or cannot be tested, and which pairs nothing could have told apart.

    ``counts`` are those of detectors that have any units.
    """
    remarks = []
    for name, total in counts.items():
        if total[ALARMS] == 0:
            remarks.append(f"{name} has no alarms: its precision and F1 are undefined.")
    if counts and all(total[EVENTS] == 0 for total in counts.values()):
        remarks.append(there_are_no("events", "recall and F1 are undefined"))
    n_pairs = len(differences) // len(MEASURES)
    untested: dict[str, list[str]] = {}
    for one in differences:
        if one.why_no_pvalue and one.measure == "precision":
            few = counts[one.first][ALARMS] < counts[one.second][ALARMS]
            untested.setdefault(one.why_no_pvalue, []).append(one.second if few else one.first)
    for why, others in untested.items():
        more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
        against = f"{', '.join(others[:MOST_NAMED])}{more}"
        remarks.append(f"{why}: precision and F1 are not tested against {against}, with more than twice as many.")
    hopeless = [one for one in differences if one.measure == "f1" and one.n_differing]
    hopeless = [one for one in hopeless if not math.isnan(one.value) and one.smallest * n_pairs > alpha]
    if hopeless:
        one = max(hopeless, key=lambda one: one.smallest)
        corrected = f", times {n_pairs} pairs" if n_pairs > 1 else ""
        more = f", and for {plural(len(hopeless) - 1, 'other pair')}" if len(hopeless) > 1 else ""
        remarks.append(
            f"Too few {noun} to tell F1 of {one.first} from that of {one.second}{more}: they differ in "
            f"{one.n_differing}, so no p-value is below {show_p(one.smallest)}{corrected}."
        )
    return tuple(remarks)
