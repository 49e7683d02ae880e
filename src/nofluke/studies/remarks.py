"""Remarks on a leaderboard: how series were read, what was not searched, how many cells are better than chance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.chance import significant
from nofluke.studies.lookup import rows_named
from nofluke.studies.schema import Values
from nofluke.studies.shared import SharedTruths
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, show_share

MOST = 5  # notes on reading that are told


def from_reading(notes: Iterable[Sequence[str]]) -> Iterator[str]:
    """What readers had to say of series, those alike but for numbers together, most frequent first.

    >>> list(from_reading([["Its rows come from 2 files."], ["Its rows come from 3 files."], []]))
    ['On 2 series: Its rows come from 2 files.']
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for own in notes:
        for note in own:
            kind = re.sub(r"\d+", "0", str(note))
            counts[kind] += 1
            first.setdefault(kind, str(note))
    for kind, count in counts.most_common(MOST):
        yield f"On {plural(count, 'series', 'series')}: {first[kind]}"
    if len(counts) > MOST:
        yield f"{plural(len(counts) - MOST, 'other note')} on how series were read: see the cells' notes."


def remarks(sharing: SharedTruths, corrected: Mapping[str, FloatArray], alpha: float) -> Iterator[str]:
    """Sentences, from p-values of all cells that are corrected for false discoveries, by measure; NaN are no tests."""
    if sharing.unsearched:
        yield "There are too many events to find all series with nearly the same truth: some may be treated as independent."
    found = " and ".join(
        f"{int(np.count_nonzero(pvalues <= alpha)):,} by {measure}" for measure, pvalues in corrected.items()
    )
    n_cells = int(np.count_nonzero(~np.isnan(next(iter(corrected.values())))))
    yield (
        f"Of {plural(n_cells, 'cell')} with a null that holds, {found} are better than chance at a false discovery rate of {alpha:.3g} "
        "(Benjamini and Hochberg)."
    )


def of_metrics(cells: Values, detectors: Sequence[str], metrics: Sequence[str], alpha: float) -> Iterator[str]:
    """For each metric, every detector's mean over series, the mean of chance, and in how many cells it is better."""
    for metric in metrics:
        told = []
        for detector in detectors:
            own = rows_named(cells["detector"], detector)
            values, chance, p = (np.asarray(cells[f"{metric}{end}"])[own] for end in ("", "_expected", "_pvalue"))
            defined = ~np.isnan(values)
            if not defined.any():
                told.append(f"{detector} undefined")
                continue
            better = sum(significant(float(one), alpha) for one in p[defined])
            told.append(
                f"{detector} {show_share(float(values[defined].mean()))} (chance {show_share(float(chance[defined].mean()))}; "
                f"p ≤ {show_p(alpha)} on {better:,} of {int(defined.sum()):,})"
            )
        yield f"{metric}, mean over series: {', '.join(told)}."
