"""Which null a metric of a whole series is judged by: the one that was asked for, or the one that labels and scores allow.

Scores have no alarms of their own. They are looked at through those at a few levels, and the most careful null that any of them
asks for is taken.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, FloatArray
from nofluke.errors import InputError, shown
from nofluke.metrics.labelled import Labelled
from nofluke.nulls import NAMES, Null, as_null
from nofluke.nulls.auto import Pick, pick
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import AUTO, Choice
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.doubts import doubts
from nofluke.nulls.look import Look
from nofluke.nulls.moves import steps_of
from nofluke.nulls.random_scores import RandomScores, ScorePermutation
from nofluke.plain import text_with_settings
from nofluke.series.reach import Reach
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Cell, Trial
from nofluke.series.truth import Truth

OF_SCORES: dict[str, type[NullModel]] = {null.name: null for null in (RandomScores, ScorePermutation)}
ALONE = 2  # steps of a range, on average, below which labels are taken for single steps
FEWEST_SHARE, MOST_SHARE, HALF = 0.01, 0.1, 0.5  # of the steps, at which scores are looked at


def as_series_null(null: Null) -> NullModel:
    """A null model, of labels or of scores.

    >>> as_series_null("random-scores:phi=0.9")
    RandomScores(phi=0.9)
    """
    if not isinstance(null, str) or null.strip() == AUTO:
        return as_null(null)
    name, settings = text_with_settings(null, "null", "random-scores:phi=0.9")
    if name not in OF_SCORES and name not in NAMES:
        raise InputError(f"null={shown(null)} must be one of {', '.join(map(repr, (AUTO, *NAMES, *OF_SCORES)))}.")
    try:
        return OF_SCORES[name](**settings) if name in OF_SCORES else as_null(null)
    except TypeError as error:
        raise InputError(f"null={shown(null)}: {str(error).rpartition('() ')[2]}.") from None
    except InputError as error:
        told = str(error)
        raise InputError(told if told.startswith("null=") else f"null={shown(null)}: {told}") from None


def choose_for_series(
    null: Null, series: Labelled, *, reach: int, alpha: float, by_scores: bool, edges: tuple[int, ...] | None = None
) -> Choice:
    """The null of metrics that reach so many steps beyond the labels, and why."""
    if edges is not None:
        return _within(null, len(edges) - 1)
    if isinstance(null, str) and null.strip() == AUTO:
        sides, truth = _alarms_of(series, by_scores), _events_of(series.truth)
        picks = [pick(Look.of(_cell(series, truth, flags), alpha, wide=2 * reach + 1)) for flags in sides]
        found = max(picks, key=_care)
        return Choice(model=found.model, asked=AUTO, why=found.why, holds=found.holds)
    model = as_series_null(null).on_steps
    if model.moves == "detector":
        return Choice(model=model, asked=model.text, why="", doubts=_about_memory(model, series))
    whole = model.takes_ranges or series.truth.points
    truth = series.truth if whole else steps_of(series.truth)
    model.fits(truth)
    every = [doubts(model, _cell(series, truth, flags)) for flags in _alarms_of(series, by_scores)]
    torn = () if whole else tuple(filter(None, [model.on_ranges]))
    return Choice(model=model, asked=model.text, why="", doubts=(*torn, *dict.fromkeys(sum(every, ()))))


def _events_of(truth: Truth) -> Truth:
    """What to look at: ranges; labels that mostly stand alone are events of one step, some of which happen to be neighbours."""
    labelled = int((truth.stops - truth.starts).sum())
    return steps_of(truth) if labelled < ALONE * truth.n else truth


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


def _cell(series: Labelled, truth: Truth, flags: BoolArray) -> Cell:
    tolerance = Tolerance(early=0, late=0)
    sequence = series.sequence
    return Trial(
        truth=truth,
        detector=flags,
        tolerances=(tolerance,),
        thresholds=np.ones(1),
        reaches=(Reach(tolerance=tolerance, open_steps=sequence.open_steps, clock=sequence.clock),),
    ).cell(0, 0)


def _about_memory(model: NullModel, series: Labelled) -> tuple[str, ...]:
    """Scores that follow one another are alike: a null without that memory has too many tries."""
    given = series.alarms if series.scores is None else series.scores
    if given is None or not model.permutes or len(given) < 10:
        return ()
    values = given.astype(np.float64)
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable") if given.dtype.kind == "f" else values
    if np.ptp(ranks[1:]) == 0 or np.ptp(ranks[:-1]) == 0:
        return ()
    alike = float(np.corrcoef(ranks[1:], ranks[:-1])[0, 1])
    if alike <= 3 / math.sqrt(len(ranks)):
        return ()
    return (
        f"Scores that follow one another are alike (correlation {alike:.2f}), which the null {model.name} does not keep: its p-values "
        'are not to be trusted. Use null="circular-shift".',
    )


def _within(null: Null, n_groups: int) -> Choice:
    named = AUTO if isinstance(null, str) and null.strip() == AUTO else as_series_null(null)
    if named != AUTO and named != CircularShift():
        raise InputError(
            "groups are rotated each within itself: pass null='circular-shift' or 'auto', or leave groups out."
        )
    why = f"Each of the {n_groups:,} groups is rotated within itself; seasons and slow changes within them were not looked for."
    return Choice(model=CircularShift(), asked=AUTO if named == AUTO else "circular-shift", why=why)


def edges_of(groups: Any, series: Labelled) -> tuple[int, ...] | None:
    """Borders of groups of steps that stand one after the other, from one entry for each step."""
    if groups is None:
        return None
    values, kept = np.asarray(groups), series.sequence.open_steps
    if values.shape != kept.shape:
        raise InputError(f"groups has shape {values.shape} and the series {len(kept)} steps: pass one entry for each.")
    values = values[kept]
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    if len(set(values.tolist())) != len(changes) + 1:
        raise InputError("groups come back after others: sort the steps by group, so that each is in one piece.")
    return (0, *changes.tolist(), len(values))
