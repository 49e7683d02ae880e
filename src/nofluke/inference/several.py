"""Several detectors of one series: read beside the same labels, on the same steps, and cut by the same rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray
from nofluke.data.columns import frame_columns
from nofluke.errors import InputError, shown
from nofluke.series.between import Made, trial_of
from nofluke.series.detector import AlarmRule, CountAlarms, Cuts, choose_cut
from nofluke.series.reading import HigherIs, Sequence, nothing_shared, prepare, read_given
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.text.tables import plural

Given = dict[str, tuple[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One of several detectors: its data as read, its threshold, the trial of one cell, and what counts as an alarm."""

    sequence: Sequence = field(repr=False)
    cuts: Cuts | None
    made: Made = field(repr=False)
    alarms: AlarmRule

    @property
    def cell(self) -> Cell:
        """The only one."""
        return self.made.trial.cell(0, 0)

    @property
    def predicted(self) -> BoolArray:
        """Whether each step that counts is predicted, before alarms that are close to each other become one."""
        if self.cuts is None:
            return np.asarray(self.sequence.predictions)[self.sequence.open_steps]
        return np.asarray(self.sequence.open_scores() >= self.cuts.compared[0])


def read_several(
    truth: Any,
    scores: Any,
    *,
    predictions: Any = None,
    threshold: float | None = None,
    quantile: float | None = None,
    budget: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    mask: Any = None,
    higher_is: HigherIs = "anomalous",
    count_alarms: CountAlarms | None = None,
    refractory: Length | None = None,
    **how: Any,
) -> tuple[dict[str, Detector], tuple[str, ...]]:
    """All detectors, and notes on them, from the arguments of `compare`; ``how`` says how to read each one."""
    window, alarms = as_tolerance(tolerance), AlarmRule.of(count_alarms, refractory)
    cut = {"threshold": threshold, "quantile": quantile, "budget": budget}
    given = detectors_of(scores, predictions)
    sequences, notes = _read(truth, given, mask, higher_is, how)
    detectors: dict[str, Detector] = {}
    for name, sequence in sequences.items():
        try:
            cuts = choose_cut(sequence, **({} if sequence.scores is None else cut))
            made = trial_of(sequence, (window,), cuts, alarms)
        except InputError as error:
            raise error_of(name, error) from None
        detectors[name] = Detector(sequence=sequence, cuts=cuts, made=made, alarms=alarms)
    notes += _named({name: one.made.notes for name, one in detectors.items()})
    notes += [f"{name}: {note}" for name, one in detectors.items() if one.cuts is not None for note in one.cuts.notes]
    if all(sequence.scores is None for sequence in sequences.values()):
        choose_cut(next(iter(sequences.values())), **cut)  # refuses those
    return detectors, tuple(notes)


def error_of(name: str, error: InputError) -> InputError:
    """The error of one detector, which it names."""
    return InputError(problem=f"detector {shown(name)}", remedy=error.words)


def detectors_of(scores: Any, predictions: Any) -> Given:
    """For each detector, which argument it is of, and its values."""
    found: Given = {}
    for argument, value in (("scores", scores), ("predictions", predictions)):
        if value is None:
            continue
        items = list(value.items()) if isinstance(value, Mapping) else frame_columns(value)
        if items is None:
            raise InputError(
                argument=argument,
                value=value,
                problem=f"must be a dict of detectors, such as {{'a': {argument}_a, 'b': {argument}_b}}, or a data frame "
                "with a column for each",
                remedy="for one detector call nf.evaluate",
            )
        for name, values in items:
            if not isinstance(name, str) or not name:
                raise InputError(
                    argument=argument, problem=f"has a detector called {shown(name)}", remedy="use text as names"
                )
            if name in found:
                raise InputError(
                    argument=argument,
                    problem=f"has a detector called {shown(name)}, and so is another",
                    remedy="give each its own name",
                )
            found[name] = (argument, values)
    if len(found) < 2:
        raise InputError(
            argument="scores",
            problem=f"has {plural(len(found), 'detector')}",
            remedy="pass at least two to compare, as a dict by their names",
        )
    return found


def _read(
    truth: Any, given: Given, mask: Any, higher_is: HigherIs, how: dict[str, Any]
) -> tuple[dict[str, Sequence], list[str]]:
    """Each detector beside the same labels, on the same steps."""

    def one(name: str, mask: Any) -> Sequence:
        argument, values = given[name]
        turned: dict[str, Any] = {"higher_is": higher_is} if argument == "scores" else {}
        try:
            return prepare(truth, **{argument: values}, mask=mask, **turned, **how)
        except InputError as error:
            raise error_of(name, error) from None

    sequences = {name: one(name, mask) for name in given}
    first, *others = given
    kept = sequences[first].open_steps
    for other in others:
        if len(sequences[other].open_steps) != len(kept):
            raise InputError(
                problem=f"detector {shown(other)} has {len(sequences[other].open_steps)} steps but {shown(first)} has "
                f"{len(kept)}",
                remedy="pass one value for each step of the same series",
            )
        _same_order(given, first, other)
    notes: list[str] = []
    common = np.logical_and.reduce([sequence.open_steps for sequence in sequences.values()])
    if any(not np.array_equal(sequence.open_steps, common) for sequence in sequences.values()):
        lost = max(int((sequence.open_steps & ~common).sum()) for sequence in sequences.values())
        notes = [f"{plural(lost, 'step')} or more where a detector has no value were masked for all detectors."]
        sequences = {name: one(name, ~common) for name in given}
    return sequences, notes + _named({name: sequence.notes for name, sequence in sequences.items()})


def _named(notes: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Each note once, after the names of its detectors unless it is of all of them."""
    of = {note: [name for name, own in notes.items() if note in own] for own in notes.values() for note in own}
    return [note if len(names) == len(notes) else f"{', '.join(names)}: {note}" for note, names in of.items()]


def _same_order(given: Given, first: str, other: str) -> None:
    """Refuse detectors whose indices differ: each is aligned with the labels, and thus not with the other."""
    mine, theirs = (read_given(given[name][1], given[name][0])[0].index for name in (other, first))
    if (
        mine is None
        or theirs is None
        or len(mine) != len(theirs)
        or mine.equals(theirs)
        or nothing_shared(mine, theirs)
    ):
        return
    raise InputError(
        problem=f"detector {shown(other)} has a different index than {shown(first)}",
        remedy="reindex one to the other, or pass .to_numpy() to align by position",
    )
