"""What folds do to time: events that training has seen before the test, steps that no fold tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nofluke.adapters.folds import Part
from nofluke.arrays import BoolArray, IntArray
from nofluke.series.clock import Clock
from nofluke.series.tolerance import Tolerance

MOST_SEEN = 0.3  # simulated detectors without skill: 6% of positive verdicts up to here, 12 to 33% from .5 on
FEW_SEEN = 0.05  # worth a note


class Leak(NamedTuple):
    """Why nothing can be told, if training gives the answers away; a note if it gives away a few."""

    obstacle: str = ""
    note: str = ""


def leak_of(parts: Sequence[Part], events: BoolArray, tolerance: Tolerance, clock: Clock | None) -> Leak:
    """Whether alarms may know the events without any skill, from the labels that their fold was trained on.

    Labels in runs and features that change slowly are enough: the label of a step gives away those of its neighbours.
    """
    shuffled = sum(map(_shuffled, parts))
    if shuffled:
        return Leak(
            f"In {shuffled:,} of {len(parts):,} folds, steps right next to test steps were trained on (a shuffled "
            "split). Neighbours give the answer away where labels come in runs and features change slowly, so p-values "
            "may be too small: pass cv=TimeSeriesSplit(...), with gap= for a distance."
        )
    share = share_seen(parts, events, tolerance, clock)
    seen = (
        f"For {share:.0%} of the test steps on which an alarm is a hit, the training part of the fold holds the same "
        "run of labels"
    )
    if share > MOST_SEEN:
        return Leak(
            f"{seen}: test folds are short and border on training, so p-values may be too small. Pass "
            "cv=TimeSeriesSplit(...) with fewer folds or a gap=."
        )
    return Leak(note=f"{seen}: TimeSeriesSplit(..., gap=...) keeps a distance." if share > FEW_SEEN else "")


def remarks(parts: Sequence[Part], n: int, leak: Leak) -> tuple[str, ...]:
    """Steps that no fold tests, training on the future, and what a verdict does not say of a leak."""
    said = []
    untested = n - sum(len(part.test) for part in parts)
    if untested:
        said.append(f"{untested:,} of {n:,} steps are in no test fold, and are not judged.")
    later = sum(len(part.train) > 0 and part.train[-1] > part.test[0] for part in parts)
    if later and not leak.obstacle:
        said.append(
            f"In {later:,} of {len(parts):,} folds there is training on steps after the first test step, which no "
            "detector has in operation: pass cv=TimeSeriesSplit(...)."
        )
    return (*said, *filter(None, [leak.note]))


def share_seen(parts: Sequence[Part], events: BoolArray, tolerance: Tolerance, clock: Clock | None) -> float:
    """Of the test steps on which an alarm is a hit, the share near an event whose run of labels the fold trained on."""
    n, at = len(events), np.flatnonzero(events)
    if not len(at):
        return 0.0
    first = np.flatnonzero(np.diff(at, prepend=-2) > 1)  # of each run
    windows = tolerance.prediction_ranges(n, clock)
    # a window off to one side reaches to its event
    begins = np.minimum.reduceat(np.minimum(windows.starts[at], at), first)
    ends = np.maximum.reduceat(np.maximum(windows.stops[at], at + 1), first)
    run_of = np.cumsum(events & ~np.concatenate([[False], events[:-1]])) - 1

    def covered(runs: IntArray) -> BoolArray:
        change = np.bincount(begins[runs], minlength=n + 1) - np.bincount(ends[runs], minlength=n + 1)
        return np.asarray(np.cumsum(change[:-1]) > 0)

    near = covered(np.arange(len(first)))
    hits = seen = 0
    for part in parts:
        known = np.unique(run_of[part.train[events[part.train]]])
        hits += int(near[part.test].sum())
        seen += int(covered(known)[part.test].sum())
    return seen / hits if hits else 0.0


def _shuffled(part: Part) -> bool:
    """Whether most test steps have a training step right next to them, and there is training between them."""
    first, last = part.test[[0, -1]]
    if not ((part.train > first) & (part.train < last)).any():
        return False
    return bool((np.isin(part.test - 1, part.train) | np.isin(part.test + 1, part.train)).mean() > 0.5)
