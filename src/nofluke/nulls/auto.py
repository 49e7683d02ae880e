"""Which null fits the data: the rule of ``null="auto"``.

It looks at the truth and at the alarms separately, never at how they match, so the test that follows stays valid.
Only the permutation needs evidence that it holds; without it, events move together.

The section "Which null to trust" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nofluke.nulls.base import NullModel
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.local import LocalPermutation, LocalShift
from nofluke.nulls.look import Look, Season, tidy
from nofluke.nulls.permutation import Permutation

FEWEST_WINDOWS = 5  # of time, for events that are permuted within them
FEWEST_ERAS = 4  # windows of time that a season with a slow change needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """The null that fits the data, why, and whether it holds."""

    model: NullModel
    why: str
    holds: bool = True


def pick(look: Look) -> Pick:
    """The null that keeps what was seen, and why."""
    if look.cell.n_events == 0 or len(look.cell.alarms) == 0:
        return Pick(model=CircularShift(), why="There are no events or no alarms to look at.")
    if look.season is not None:
        return _with_season(look, look.season)
    if look.drifts:
        return _with_drift(look)
    if look.together:
        return Pick(model=CircularShift(), why=_sentence(f"{look.together}: shifting all of them together keeps that"))
    return Pick(
        model=Permutation(),
        why="The events show no clusters, runs, season or slow change, so chance may place each one independently.",
    )


def _with_season(look: Look, season: Season) -> Pick:
    seen = season.seen
    if look.entangled and look.second is not None:
        return Pick(
            model=CircularShift() if look.together else look.null_of(season),
            why=f"{seen}, and a second one of {look.told(float(f'{look.second.steps:.4g}'))}: no null keeps both.",
            holds=False,
        )
    if not look.together and (not look.drifts or look.eras >= FEWEST_ERAS):
        slowly = ", and rates also seem to change slowly" if look.drifts else ""
        of_time = ", and within windows of time" if look.eras > 1 else ""
        return Pick(
            model=look.null_of(season, look.eras), why=f"{seen}{slowly}: events are moved within its phases{of_time}."
        )
    what = " and ".join(filter(None, [look.together, "rates also seem to change slowly" if look.drifts else ""]))
    least = math.ceil(2 / look.alpha)  # shifts that the level needs
    n, steps = look.cell.n_steps, season.steps
    if steps is not None and not look.drifts and n / steps >= least:
        model: NullModel = CircularShift(every=look.length(tidy(steps)))
        return Pick(model=model, why=f"{seen}, and {what}: shifts by whole periods keep both.")
    if steps is not None and steps * least / 2 <= n / (5 * look.drift.cycles):
        model = LocalShift(reach=look.length(math.ceil(steps * least / 2)), every=look.length(tidy(steps)))
        return Pick(model=model, why=f"{seen}, and {what}: small shifts by whole periods keep both.")
    return Pick(
        model=CircularShift() if look.together else look.null_of(season),
        why=f"{seen}, and {what}: no null keeps both here, since shifts by whole periods need {least} of them "
        "on a regular clock.",
        holds=False,
    )


def _with_drift(look: Look) -> Pick:
    seen = look.changes
    if not look.together and look.windows >= FEWEST_WINDOWS:
        return Pick(
            model=LocalPermutation(windows=look.windows), why=f"{seen}: events are moved within windows of time."
        )
    what = look.together or "the tolerance is long"
    allowed = look.cell.n_steps // (5 * look.drift.cycles)
    # perfect alarms shifted by less than this still find every event: such shifts must be clearly rarer than the level
    window = max(look.window, look.wide)
    wanted = max(
        math.ceil(max(0.625 * window, 5) / look.alpha), 3 * (look.events.longest + look.longest_alarm + window)
    )
    least = max(math.ceil(2.5 / look.alpha), look.events.longest + look.window)
    if min(wanted, allowed) >= least:
        reach = look.length(min(wanted, allowed))
        return Pick(model=LocalShift(reach=reach), why=f"{seen}, and {what}: small shifts keep both.")
    return Pick(
        model=CircularShift(),
        why=f"{seen}, and {what}: shifts would have to be longer than {look.told(least)} for these events and shorter than "
        f"{look.told(allowed)} for the change, so no null keeps both.",
        holds=False,
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
