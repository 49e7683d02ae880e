"""Which null a metric of a whole series is judged by: the one asked for, or one that suits labels and scores.

Scores have no alarms of their own. They are looked at through those at a few levels, and the most careful null that any
of them asks for is taken.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray
from nofluke.data.columns import absent
from nofluke.errors import InputError, arg, named, say
from nofluke.levels import (
    ALONE,
    FEW_EVENTS,
    FEWEST_SHARE,
    FEWEST_TRIES,
    HALF,
    LEANING,
    MOST_SHARE,
    NEIGHBOURS,
    PLAIN,
    TRIES,
    UNSEEN,
)
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.nulls import MODELS, Null, as_null, from_text
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import AUTO, UNTOLD, Choice, Pick, doubts, pick, small_shifts
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.placements import steps_of
from nofluke.nulls.random_scores import RandomScores, ScorePermutation
from nofluke.nulls.seasons import Side, common_period, drift, slow_change_of
from nofluke.nulls.seen import Flat, Look, tidy
from nofluke.plain import check_length
from nofluke.series.tolerance import Reach, Tolerance
from nofluke.series.trial import Cell, Trial, Zones, judge_together
from nofluke.series.truth import Truth
from nofluke.text.numbers import p_is
from nofluke.text.tables import plural

OF_SCORES: dict[str, type[NullModel]] = {null.name: null for null in (RandomScores, ScorePermutation)}
SEED, MOST_PLACED = 2020, 5_000_000  # of draws that show what a null does, and steps in all of them


def as_series_null(null: Null) -> NullModel:
    """A null model, of labels or of scores.

    >>> as_series_null("random-scores:phi=0.9")
    RandomScores(phi=0.9)
    """
    if not isinstance(null, str) or null.strip() == AUTO:
        return as_null(null)
    return from_text(null, {**MODELS, **OF_SCORES})


def choose_for_series(
    null: Null, series: Labelled, *, reach: int, alpha: float, by_scores: bool, edges: tuple[int, ...] | None = None
) -> Choice:
    """The null of metrics that reach so many steps beyond the labels, and why."""
    if edges is not None:
        return _within(null, series, edges, by_scores)
    if isinstance(null, str) and null.strip() == AUTO:
        found = _picked(series, _events_of(series.truth), reach, alpha, by_scores)
        if _tears(found.model, series.truth):
            found = _picked(series, series.truth, reach, alpha, by_scores)
        flat = _flat_of(series)
        avoided = flat is not None and flat.avoided
        return Choice(
            model=found.model,
            asked=AUTO,
            why=flat.seen if flat is not None and avoided else found.why,
            holds=found.holds and not avoided,
            assumes=found.model.assumption_of_series,
            remark=found.model.remark(series.truth) if found.holds else "",
        )
    model = as_series_null(null).on_steps
    if model.moves == "detector":
        return Choice(model=model, asked=model.text, why="", doubts=_about_memory(model, series))
    whole = model.takes_ranges or series.truth.points
    truth = series.truth if whole else steps_of(series.truth)
    model.fits(truth)
    cells = _cells(series, truth, _alarms_of(series, by_scores))
    torn = () if whole else tuple(filter(None, [model.on_ranges]))
    return Choice(
        model=model,
        asked=model.text,
        why="",
        doubts=(*torn, *doubts(model, *cells)),
        assumes=model.assumption_of_series,
        remark=model.remark(truth),
    )


def _picked(series: Labelled, truth: Truth, reach: int, alpha: float, by_scores: bool) -> Pick:
    """The most careful of the nulls that the alarms at all levels allow."""
    looks = [Look.of(one, alpha, wide=2 * reach + 1) for one in _cells(series, truth, _alarms_of(series, by_scores))]
    found = max((_with_few(look, pick(look)) for look in looks), key=_care)
    return found if not by_scores or series.scores is None else _with_slow_scores(series.scores, looks[-1], found)


def _with_slow_scores(scores: FloatArray, look: Look, found: Pick) -> Pick:
    """Account for a slow change that is plain in the ranks of the scores: a few ranges cannot show one."""
    if not found.holds or look.events.n >= FEW_EVENTS or not look.events.n or found.model.keeps & {"season", "drift"}:
        return found
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    pvalue = slow_change_of(Side.of_values(ranks - ranks.mean(), look.cell.truth.open_steps))
    if pvalue > PLAIN:
        return found
    seen = say(
        "The scores seem to change slowly with time ({}), and {} cannot show whether {events} do",
        p_is(pvalue),
        plural(look.events.n, "range"),
    )
    model = small_shifts(look)
    if model is None:
        return Pick(model=found.model, why=say("{} {}: if so, that counts as skill.", found.why, seen))
    return Pick(model=model, why=say("{}: small shifts keep that.", seen))


def _flat_of(series: Labelled) -> Flat | None:
    """Stretches in which the scores do not change, at a level that is no alarm at any of those looked at."""
    if series.scores is None:
        return None
    return Flat.of(series.scores, _highest(series.scores, HALF), series.truth)


def _events_of(truth: Truth) -> Truth:
    """The ranges to look at; labels that mostly stand alone are events of one step, even where some touch."""
    steps = steps_of(truth)
    return steps if len(steps.starts) < ALONE * truth.n else truth


def _tears(model: NullModel, truth: Truth) -> bool:
    """Whether a null of single steps has fewer neighbours, or shorter runs of them, than these labels."""
    if "runs" in model.keeps or truth.points:
        return False
    steps = steps_of(truth)
    tries = int(min(TRIES, max(MOST_PLACED // max(steps.n, 1), FEWEST_TRIES)))
    draws = Draws.of_steps(model.draw(steps)(np.random.default_rng(SEED), tries), truth.n_steps)
    own = Draws.of_steps(steps.starts[None], truth.n_steps)
    seen = [(len(one.starts), (one.stops - one.starts).max(initial=0)) for one in map(draws.only_runs, range(tries))]
    n_runs, longest = len(own.starts), int((own.stops - own.starts).max(initial=0))
    as_few = sum(n <= n_runs for n, _ in seen)
    as_long = sum(length >= longest for _, length in seen)
    return bool((1 + min(as_few, as_long)) / (1 + tries) <= NEIGHBOURS)


def _with_few(look: Look, found: Pick) -> Pick:
    """Account for, or report, a season or slow change plain in the detector: a few ranges cannot show one."""
    if not found.holds or not look.events.n or not len(look.cell.alarms) or found.model.keeps & {"season", "drift"}:
        return found
    if look.events.n < FEW_EVENTS:
        alone = common_period(look.alarms, look.alarms, look.window + 1, PLAIN)
        if alone.found and alone.pvalue <= PLAIN:
            label = look.told(tidy(alone.steps))
            seen = say(
                "The detector seems to follow a season (period {}, {}), and {} {ranges} are too few to show whether they do",
                label,
                p_is(alone.pvalue),
                look.events.n,
            )
            return Pick(model=found.model, why=say("{} {}: if so, that counts as skill.", found.why, seen))
    # ranges that are long against the series leave no frequencies at which a change could be seen in them
    if look.cell.n_steps < UNSEEN * look.events.longest and drift(look.alarms, look.alarms).pvalue <= PLAIN:
        seen = say("The detector seems to change slowly with time, and {ranges} are too long to show whether they do")
        return Pick(model=found.model, why=say("{} {}: if so, that counts as skill.", found.why, seen))
    return found


def _care(found: Pick) -> tuple[bool, int, bool]:
    """How much a null keeps: what nothing keeps comes first, then seasons and slow changes, then clusters."""
    return not found.holds, len(found.model.keeps & {"season", "drift"}), "clusters" in found.model.keeps


def _alarms_of(series: Labelled, by_scores: bool) -> list[BoolArray]:
    """Alarms to look at: the ones that count, and where scores do, those at a few shares of the steps."""
    found = [] if series.alarms is None else [series.alarms]
    if series.scores is not None and (by_scores or not found):
        share = min(max(series.n_labelled / series.n_steps, FEWEST_SHARE), MOST_SHARE)
        found += [_highest(series.scores, part) for part in (share, HALF)]
    return found


def _highest(scores: FloatArray, share: float) -> BoolArray:
    """The steps whose scores are above all but this share; none where all scores are equal."""
    at = max(math.ceil(len(scores) * (1 - share)) - 1, 0)
    return np.asarray(scores > np.partition(scores, at)[at])


def _cells(series: Labelled, truth: Truth, alarms: list[BoolArray]) -> list[Cell]:
    """Some alarms against the events, without tolerance, to be looked at together."""
    sequence, exact = series.sequence, Tolerance(early=0, late=0)
    zones = Zones(truth=truth, reaches=(Reach(tolerance=exact, open_steps=sequence.open_steps, clock=sequence.clock),))
    trials = [
        Trial(
            truth=truth,
            detector=flags,
            tolerances=(exact,),
            thresholds=np.ones(1),
            reaches=zones.reaches,
            zones=zones,
        )
        for flags in alarms
    ]
    judge_together(trials)
    return [trial.cell(0, 0) for trial in trials]


def perfect_detectors(series: Labelled) -> list[Labelled]:
    """The same labels with detectors that know them: alarms and scores on all steps of ranges, or amid each."""
    flags = series.truth.flags if series.alarms is None else series.alarms
    known = [perfect.alarm_flags for perfect in _cells(series, series.truth, [flags])[0].with_perfect_alarms()]
    return [
        replace(
            series,
            alarms=None if series.alarms is None else alarms,
            scores=None if series.scores is None else alarms.astype(np.float64),
        )
        for alarms in known
    ]


def _about_memory(model: NullModel, series: Labelled) -> tuple[str, ...]:
    """Scores that follow one another are alike: a null without that memory, or with less, has too many tries."""
    given = series.alarms if series.scores is None else series.scores
    memory: Any = getattr(model, "phi", 0.0 if model.permutes else 1.0)
    if given is None or len(given) < 10:
        return ()
    values = given.astype(np.float64)
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable") if given.dtype.kind == "f" else values
    if np.ptp(ranks[1:]) == 0 or np.ptp(ranks[:-1]) == 0:
        return ()
    alike = float(np.corrcoef(ranks[1:], ranks[:-1])[0, 1])
    if alike <= memory + 3 / math.sqrt(len(ranks)):
        return ()
    return (
        say(
            "Neighbouring scores are similar (correlation {:.2f}), which the null {} does not keep: its p-values cannot be "
            "trusted. Use {}.",
            alike,
            model.text,
            arg("null", "circular-shift"),
        ),
    )


def _within(null: Null, series: Labelled, edges: tuple[int, ...], by_scores: bool) -> Choice:
    """Rotations of each group within itself, unless labels and detector plainly change together within groups."""
    model = AUTO if isinstance(null, str) and null.strip() == AUTO else as_series_null(null)
    if model != AUTO and model != CircularShift():
        raise InputError(
            argument="groups",
            problem="are rotated separately",
            remedy=say("pass {}, or leave {} out", arg("null", "circular-shift", "auto"), named("groups")),
        )
    n = len(edges) - 1
    why = f"Each of the {n:,} groups is rotated within itself." if n > 1 else "The one group is rotated within itself."
    assumes = (
        "Chance rotates the detector within each group, so labelled ranges stay whole. It does not account for a "
        "season or a trend that both share."
    )
    seen = _change_in_groups(series, edges, by_scores)
    if model != AUTO:
        doubt = (f"{seen}, which rotations do not keep: they may call that skill.",) if seen else ()
        return Choice(model=CircularShift(), asked="circular-shift", why=why, doubts=doubt, assumes=assumes)
    if seen:
        return Choice(
            model=CircularShift(),
            asked=AUTO,
            why=f"{seen}: {UNTOLD}, since no null keeps it.",
            holds=False,
            assumes=assumes,
        )
    return Choice(model=CircularShift(), asked=AUTO, why=why, assumes=assumes)


def _change_in_groups(series: Labelled, edges: tuple[int, ...], by_scores: bool) -> str:
    """Whether labels and detector change along their groups: both have different shares early and late."""
    borders = np.asarray(edges)
    sizes = np.diff(borders)
    group = np.repeat(np.arange(len(sizes)), sizes)
    place = (np.arange(series.n_steps) - borders[group] + 0.5) / sizes[group] - 0.5
    starts = np.zeros(series.n_steps, dtype=np.bool_)
    starts[series.truth.starts] = True
    for flags in _alarms_of(series, by_scores):
        opens = flags & ~np.concatenate([[False], flags[:-1]])
        seen = [_lean(place, group, sizes, one) for one in (starts, opens)]
        if min(abs(lean) for lean in seen) >= LEANING and seen[0] * seen[1] > 0:
            return "Both labels and detector change from the start of a group to its end"
    return ""


def _lean(place: FloatArray, group: AnyArray, sizes: AnyArray, flags: BoolArray) -> float:
    """How far flags lie to one side of their groups, in standard deviations of random places."""
    at = np.flatnonzero(flags)
    variance = float(((1 - 1 / sizes[group[at]] ** 2) / 12).sum())
    return float(place[at].sum()) / math.sqrt(variance) if variance > 0 else 0.0


def edges_of(groups: Any, series: Labelled) -> tuple[int, ...] | None:
    """Borders of contiguous groups of steps, from one entry for each step."""
    if groups is None:
        return None
    check_length(groups, "groups")
    try:
        values, kept = np.asarray(groups), series.sequence.open_steps
    except Exception:  # nested sequences of unequal length, or what refuses to be an array
        raise InputError(
            argument="groups", value=groups, problem="must be one column", remedy="pass one entry for each step"
        ) from None
    if values.shape != kept.shape:
        raise InputError(
            argument="groups",
            problem=f"has shape {values.shape} and the series {len(kept)} steps",
            remedy="pass one entry for each",
        )
    if absent(values).any():
        raise InputError(argument="groups", problem="has missing entries", remedy="pass one for each step")
    seen: dict[Any, int] = {}
    try:
        numbers = np.array([seen.setdefault(one, len(seen)) for one in values[kept].tolist()])
    except Exception:  # what has no hash is no name of a group
        raise InputError(
            argument="groups", value=groups, problem="must hold numbers or text", remedy="pass one entry for each step"
        ) from None
    changes = np.flatnonzero(np.diff(numbers)) + 1
    if len(seen) != len(changes) + 1:
        raise InputError(argument="groups", problem="must be contiguous", remedy="sort the steps by group")
    return (0, *changes.tolist(), len(numbers))
