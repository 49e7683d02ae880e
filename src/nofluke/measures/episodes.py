"""Episodes: chains of events and alarms that hang together, the parts of one series that are treated as independent.

An event and the alarms near it say the same thing several times, and so do alarms in a row. A chain goes on as long as
the next event or alarm lies within both sides of the tolerance of the last one, early + late (2δ where both are δ), or
on the next step: up to there, their windows share a moment. Distances are those of the tolerance: steps, masked ones
too, or time.

What finds and what is found are always of one episode, so that hits of episodes add up to those of the series.

The section "Intervals" of docs/explanation/theory.md says what they are for.
"""

from __future__ import annotations

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, IntArray
from nofluke.errors import InputError
from nofluke.series.trial import Cell, Marks


def units_of(cells: tuple[Cell, ...]) -> IntArray:
    """Counts of each detector in each episode of the events and all their alarms: detectors x episodes x 4.

    The four are alarms, hits among them, events and found ones among those, as in `nofluke.inference.interval`; over
    episodes they add up to the counts of each cell. Episodes are in time order; one in which nothing counts is left
    out. Cells are of one series and one tolerance. O(n log n) for n events and alarms.

    >>> from nofluke import evaluate
    >>> found = evaluate([0, 1, 0, 0, 0, 0, 1, 0, 0, 0], predictions=[1, 0, 1, 0, 0, 0, 0, 0, 0, 1], tolerance=1)
    >>> units_of((found.cell,))
    array([[[2, 2, 1, 1],
            [0, 0, 1, 0],
            [1, 0, 0, 0]]])
    """
    return _counted(*_placed(cells))[0]


def units_and_steps(cells: tuple[Cell, ...], predicted: tuple[BoolArray, ...]) -> tuple[IntArray, IntArray]:
    """The same, and the steps of each detector in each episode, detectors x episodes.

    ``predicted`` flags the steps that count, of each detector, as they were before any holes between them were filled.
    """
    seen, chains = _placed(cells)
    units, kept = _counted(seen, chains)
    steps = np.zeros((len(cells), len(kept)), dtype=np.int64)
    for own, cell, flags, of in zip(steps, cells, predicted, chains[1:], strict=True):
        sizes = None
        if cell.trial.count_alarms == "episodes":
            before = np.concatenate([[0], np.cumsum(flags)])
            sizes = before[cell.episodes.stops] - before[cell.episodes.starts]
        own[:] = np.bincount(of, sizes, len(kept))
    return units, steps[:, kept]


def _placed(cells: tuple[Cell, ...]) -> tuple[list[tuple[Marks, Marks]], list[IntArray]]:
    """Events and alarms as each detector sees them, and the episodes of the events and of each one's alarms."""
    _check(cells)
    seen = [cell.marks for cell in cells]
    return seen, _chains([seen[0][0], *(alarms for _, alarms in seen)], cells[0].apart)


def _counted(seen: list[tuple[Marks, Marks]], chains: list[IntArray]) -> tuple[IntArray, BoolArray]:
    """Counts of the episodes in which anything counts, and which these are."""
    n = 1 + max(int(chain.max(initial=-1)) for chain in chains)
    units = np.zeros((len(seen), n, 4), dtype=np.int64)
    for own, (events, alarms), of_alarms in zip(units, seen, chains[1:], strict=True):
        for column, (marks, of) in ((0, (alarms, of_alarms)), (2, (events, chains[0]))):
            own[:, column] = np.bincount(of[marks.counts], minlength=n)
            own[:, column + 1] = np.bincount(of[marks.counts & marks.scores], minlength=n)
    kept = np.asarray(units.any(axis=(0, 2)))
    return units[:, kept], kept


def _check(cells: tuple[Cell, ...]) -> None:
    if not cells:
        raise InputError(argument="cells", problem="is empty", remedy="pass the cell of at least one detector")
    first = cells[0]
    for cell in cells[1:]:
        same = cell.n_steps == first.n_steps and np.array_equal(cell.truth.starts, first.truth.starts)
        if not same or cell.trial.tolerances[cell.d] != first.trial.tolerances[first.d]:
            raise InputError(
                argument="cells",
                problem="must be of one series, with the same events, steps and tolerance",
                remedy="judge all detectors alike",
            )


def _chains(marks: list[Marks], reach: np.uint64 | np.float64) -> list[IntArray]:
    """The number of the episode of each mark, in time order."""
    first, last = (np.concatenate([getattr(mark, end) for mark in marks]) for end in ("first", "last"))
    order = np.argsort(first, kind="stable")
    apart = _gap(first[order], last[order]) > reach
    steps = [mark.steps for mark in marks if mark.steps is not None]
    if steps:  # neighbours are one, however long a step is
        begins, ends = (np.concatenate([getattr(step, end) for step in steps])[order] for end in ("starts", "stops"))
        apart &= _gap(begins, ends) > 0
    chain = np.empty(len(order), dtype=np.int64)
    chain[order] = np.concatenate([np.zeros(min(len(order), 1), dtype=np.int64), np.cumsum(apart)])
    return np.split(chain, np.cumsum([len(mark.first) for mark in marks])[:-1])


def _gap(first: AnyArray, last: AnyArray) -> AnyArray:
    """How far each but the first begins behind all before it; 0 where it does not."""
    begins, reached = first[1:], np.maximum.accumulate(last)[:-1]
    if first.dtype.kind == "f":
        return np.asarray(np.maximum(begins - reached, 0.0))
    # modulo 2**64, differences beyond 63 bits are right too
    return np.where(begins > reached, begins.view(np.uint64) - reached.view(np.uint64), np.uint64(0))
