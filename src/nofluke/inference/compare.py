"""Compare detectors on one series: read them all alike, cut each by the same rule, exchange episodes pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nofluke.arrays import IntArray
from nofluke.data.columns import as_column
from nofluke.data.frames import frame_columns
from nofluke.errors import InputError, shown
from nofluke.inference.compare_units import compared
from nofluke.inference.comparison import Comparison
from nofluke.inference.differences import Pair
from nofluke.measures.episodes import units_of
from nofluke.series.alarms import AlarmRule, CountAlarms
from nofluke.series.between import trial_of
from nofluke.series.labels import HigherIs, Missing, TruthKind
from nofluke.series.ranges import Overlaps
from nofluke.series.reading import Sequence, prepare
from nofluke.series.thresholds import choose_cut
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.series.truth import CountEvents
from nofluke.text.tables import plural


def compare(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    threshold: float | None = None,
    quantile: float | None = None,
    budget: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    times: Any = None,
    mask: Any = None,
    warmup: Length | None = None,
    truth_as: TruthKind = "auto",
    higher_is: HigherIs = "anomalous",
    count_alarms: CountAlarms | None = None,
    refractory: Length | None = None,
    missing: Missing = "error",
    count_events: CountEvents | None = None,
    overlaps: Overlaps = "error",
    alpha: float = 0.05,
    level: float = 0.95,
    n_resamples: int = 9_999,
    rng: Any = 0,
) -> Comparison:
    r"""Which of several detectors is better on one sequence, and could that be luck?

    Of each pair, an episode is a chain of events and alarms of both with gaps of at most both sides of the tolerance. Were the
    two detectors alike, each episode might as well have been told with their names exchanged. So this is done at random, and p is
    the share of such swaps whose difference, in precision, recall or F1, is at least the observed one in its standard errors:

    .. math::
        t = \frac{|F_A - F_B|}{\sqrt{\sum_i (u_i^A - u_i^B)^2}}

    with :math:`u_i` the linear term of episode i in a detector's measure.

    Parameters
    ----------
    truth, tolerance, times, mask, warmup, truth_as, count_alarms, refractory, count_events, overlaps
        As in `evaluate`, for all detectors alike.
    scores : mapping of str to array-like, or data frame, optional
        The scores of each detector, by its name; of a frame, each column is a detector.
    predictions : mapping of str to array-like, or data frame, optional
        Alarms of detectors that have no scores. Both may be passed, with different names.
    threshold, quantile, budget : optional
        One rule for all scores, as in `evaluate`; by a quantile or a budget each detector has a threshold of its own.
    higher_is : {"anomalous", "normal"}
        What high scores are, for all detectors alike.
    missing : {"error", "mask"}
        With "mask", a step that lacks a label or the value of one detector is left out for all of them.
    alpha : float
        Level of the tests, which Holm's method corrects for all pairs of detectors, measure by measure.
    level : float
        Level of the intervals of differences: t, with the degrees of freedom of the episodes that hold alarms (of the detector
        with fewer), for precision, or events, for recall. With fewer than ten, or where few of them hold nearly all, there is none.
    n_resamples : int
        Random swaps, where there are too many to go through them all. A pair that fewer than 20 of them reach gets up to
        20/``alpha`` for each pair (50,000 at most), so that Holm's correction has enough to go by.
    rng : int, Generator, SeedSequence or None
        Randomness of the swaps, as ``numpy.random.default_rng`` takes it. The same seed serves all pairs.

    Returns
    -------
    Comparison

    Notes
    -----
    A detector without alarms has no precision and no F1, and is compared by recall alone. With K episodes in which two detectors
    differ no p-value is below 2^(1 - K): the result says where that is too much for anything to be told. Precision has neither
    p-value nor interval where one detector has more than twice as many alarms as the other, and of those of the other fewer than
    5 hits or fewer than 5 misses are expected: that it shows no variance may then be an accident.

    References
    ----------
    Pauly, Brunner and Konietschke (2015), Asymptotic permutation tests in general factorial designs: why studentised.
    Holm (1979). Besag and Clifford (1991), Sequential Monte Carlo p-values.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> found.detectors, found.not_told_from_best
    (('counts', 'energy'), ('counts', 'energy'))
    >>> one = found.difference("counts", "energy")
    >>> round(one.value, 3), round(one.low, 3), round(one.high, 3), round(one.pvalue, 1)
    (0.035, -0.026, 0.097, 0.3)
    """
    window, alarms = as_tolerance(tolerance), AlarmRule.of(count_alarms, refractory)
    given = _detectors(scores, predictions)
    how: dict[str, Any] = {
        "times": times,
        "truth_as": truth_as,
        "missing": missing,
        "count_events": count_events,
        "overlaps": overlaps,
        "warmup": warmup,
    }
    sequences, notes = _read(truth, given, mask, higher_is, how)
    cells: dict[str, Cell] = {}
    for name, sequence in sequences.items():
        cut = {} if sequence.scores is None else {"threshold": threshold, "quantile": quantile, "budget": budget}
        try:
            cuts = choose_cut(sequence, **cut)
            made = trial_of(sequence, (window,), cuts, alarms)
        except InputError as error:
            raise _of(name, error) from None
        cells[name] = made.trial.cell(0, 0)
        notes += [note for note in made.notes if note not in notes]
        notes += [f"{name}: {note}" for note in (() if cuts is None else cuts.notes)]
    if all(sequence.scores is None for sequence in sequences.values()):
        choose_cut(next(iter(sequences.values())), threshold, quantile, budget)  # refuses those

    def units(pair: Pair) -> tuple[IntArray, IntArray]:
        both = units_of((cells[pair[0]], cells[pair[1]]))
        return both[0], both[1]

    first = next(iter(cells.values()))
    steps = next(iter(sequences.values())).n
    return compared(
        {name: units_of((cell,))[0] for name, cell in cells.items()},
        units,
        noun="episodes",
        alpha=alpha,
        level=level,
        n_resamples=n_resamples,
        rng=rng,
        title=f"{plural(steps, 'step')}, {plural(first.n_counted, first.truth.noun)}, {plural(len(cells), 'detector')}; "
        f"tolerance {window}",
        notes=tuple(notes),
        cells=cells,
    )


def _detectors(scores: Any, predictions: Any) -> dict[str, tuple[str, Any]]:
    """For each detector, which argument it is of, and its values."""
    found: dict[str, tuple[str, Any]] = {}
    for argument, value in (("scores", scores), ("predictions", predictions)):
        if value is None:
            continue
        items = list(value.items()) if isinstance(value, Mapping) else frame_columns(value)
        if items is None:
            raise InputError(
                f"{argument}={shown(value)} must be a dict of detectors, such as {{'a': {argument}_a, 'b': {argument}_b}}, or a "
                "data frame with a column for each; for one detector call nf.evaluate."
            )
        for name, values in items:
            if not isinstance(name, str) or not name:
                raise InputError(f"{argument} has a detector called {shown(name)}: name each by a text.")
            if name in found:
                raise InputError(
                    f"{argument} has a detector called {shown(name)}, as another is: give each its own name."
                )
            found[name] = (argument, values)
    if len(found) < 2:
        raise InputError(
            f"scores has {plural(len(found), 'detector')}: pass at least two to compare, as a dict by their names."
        )
    return found


def _of(name: str, error: InputError) -> InputError:
    return InputError(f"detector {shown(name)}: {error}")


def _read(
    truth: Any, given: dict[str, tuple[str, Any]], mask: Any, higher_is: HigherIs, how: dict[str, Any]
) -> tuple[dict[str, Sequence], list[str]]:
    """Each detector beside the same labels, on the same steps."""

    def one(name: str, mask: Any) -> Sequence:
        argument, values = given[name]
        turned: dict[str, Any] = {"higher_is": higher_is} if argument == "scores" else {}
        try:
            return prepare(truth, **{argument: values}, mask=mask, **turned, **how)
        except InputError as error:
            raise _of(name, error) from None

    sequences = {name: one(name, mask) for name in given}
    first, *others = given
    kept = sequences[first].open_steps
    for other in others:
        if len(sequences[other].open_steps) != len(kept):
            raise InputError(
                f"detector {shown(other)} has {len(sequences[other].open_steps)} steps but {shown(first)} has {len(kept)}: pass one value "
                "for each step of the same series."
            )
        _same_order(given, first, other)
    notes: list[str] = []
    common = np.logical_and.reduce([sequence.open_steps for sequence in sequences.values()])
    if any(not np.array_equal(sequence.open_steps, common) for sequence in sequences.values()):
        lost = max(int((sequence.open_steps & ~common).sum()) for sequence in sequences.values())
        notes = [
            f"{plural(lost, 'step')} or more without a value of one detector were left out for all: they are masked."
        ]
        sequences = {name: one(name, ~common) for name in given}
    for sequence in sequences.values():
        notes += [note for note in sequence.notes if note not in notes]
    return sequences, notes


def _same_order(given: dict[str, tuple[str, Any]], first: str, other: str) -> None:
    """Refuse detectors whose indices differ: each is aligned with the labels, and thus not with the other."""
    mine, theirs = (as_column(given[name][1], given[name][0]).index for name in (other, first))
    if mine is None or theirs is None or len(mine) != len(theirs) or mine.equals(theirs):
        return
    raise InputError(
        f"detector {shown(other)} has another index than {shown(first)}: reindex one to the other, or pass .to_numpy() to align by "
        "position."
    )
