"""Events between two steps: they keep their own times, and what is judged is a trial without a grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray
from nofluke.errors import THINGS, InputError, arg, capitalised, joined, say
from nofluke.lazy import Shared
from nofluke.levels import FAVOURED, FEWEST_BESIDE_STAMPS
from nofluke.series.clock import Clock, step_ends
from nofluke.series.counting import union
from nofluke.series.detector import STEPS, AlarmRule, Cuts
from nofluke.series.reading import Sequence, off_steps
from nofluke.series.ticks import MOST_TICKS, Ticks, WatchedTime, resolution
from nofluke.series.timed import TimedTrial, TimedTruth
from nofluke.series.tolerance import Ranges, Tolerance
from nofluke.series.trial import Trial

FOLLOWS_STAMPS = say(
    "{Events} favour times in which the time stamps are dense, and so do {alarms}: chance in time mistakes that for skill. "
    "Pass a tolerance in steps."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A trial, what a reader should know of how it was made, and why chance in time may not be fair to it."""

    trial: Trial
    notes: tuple[str, ...] = ()
    doubt: str = ""


def trial_of(
    sequence: Sequence,
    tolerances: tuple[Tolerance, ...],
    cuts: Cuts | None,
    alarms: AlarmRule = STEPS,
    *,
    every_score: bool = False,
) -> Made:
    """The trial of a sequence: on its steps, or in time if tolerances are and events or alarms lie between steps.

    Episodes are runs of steps: to them, alarms between two belong to the earlier one. What lies in a gap of the clock
    is on no step: only a tolerance in time can count it.
    """
    in_time = [tolerance.unit != "steps" for tolerance in tolerances]
    notes: tuple[str, ...] = ()
    if alarms != STEPS and sequence.alarm_instants is not None:
        sequence, notes = replace(sequence, alarm_instants=None), sequence.alarms_on_steps
    timed = sequence.instants is not None or sequence.alarm_instants is not None
    off = np.zeros(0, dtype=np.bool_) if sequence.spans is None else sequence.spans.in_gaps(sequence.clock)
    if any(in_time) and not all(in_time) and (timed or off.any()):
        raise InputError(
            problem="tolerances mix steps and lengths of time, but events lie between steps",
            remedy="give all of them in time, such as '0s'",
        )
    if timed and any(in_time):
        made = _timed(sequence, tolerances, cuts, alarms)
        made = replace(made, notes=(*made.notes, *notes))
    else:
        notes = (*sequence.on_steps, *sequence.alarms_on_steps)
        if off.any() and any(in_time):
            told = "{} {range_s} lie in gaps of the clock, where no {alarm} could fall."
            notes += (say(told, int(off.sum())),)
        elif sequence.spans is not None and off.any():
            shared = sequence.shared.once("without what is off steps", Shared)
            sequence = replace(sequence, spans=sequence.spans.only(~off), shared=shared)
            notes += tuple(off_steps(int(off.sum()), "range"))
        made = Made(trial=Trial.of(sequence, tolerances, cuts, alarms), notes=notes)
    return replace(made, trial=made.trial.at_every_score(sequence.sign)) if every_score else made


def _timed(sequence: Sequence, tolerances: tuple[Tolerance, ...], cuts: Cuts | None, alarms: AlarmRule) -> Made:
    clock, kept = sequence.clock, sequence.open_steps
    if clock is None:
        raise InputError(
            argument="truth",
            problem="holds times, but the data has no clock",
            remedy=say("pass {}, one for each step", arg("times")),
        )
    for tolerance in tolerances:
        tolerance.check(clock)
    times = replace(clock, ticks=clock.ticks[kept])
    instants = clock.ticks[sequence.truth] if sequence.instants is None else sequence.instants
    raised = sequence.alarm_instants
    given: Any = sequence.predictions if sequence.scores is None else sequence.scores
    ticks, stride = _ticks(instants, times.ticks if raised is None else raised, clock, tolerances)
    at, events = ticks.of(clock.ticks), np.sort(ticks.of(instants))
    who = joined(" and ", [*["{events}"] * (sequence.instants is not None), *["{alarms}"] * (raised is not None)])
    told = "{} lie between steps and keep their own times; chance places {events} in time too, {}."
    notes: list[str] = [say(told, capitalised(say(who)), _places(ticks, stride))]

    def watch_until(ends: AnyArray) -> WatchedTime:
        """Each step that counts is watched up to its end, and for a tick at least."""
        stretches = union(Ranges(starts=at[kept], stops=np.maximum(ticks.at_or_after(ends), at + 1)[kept]))
        return WatchedTime(ticks=ticks, starts=stretches.starts, stops=stretches.stops, stride=stride, begin=int(at[0]))

    watch = watch_until(step_ends(clock))
    outside = int((~watch.holds(events)).sum())
    raised_outside = 0 if raised is None else int((~watch.holds(ticks.of(raised))).sum())
    if outside:  # someone who recorded these was watching
        watch = watch_until(step_ends(clock, over_gaps=True))
    notes.extend(_in_gaps(outside, raised_outside))
    how: dict[str, Any] = {"count_alarms": alarms.count}
    if raised is None:
        detector = alarms.closed(given[kept] if sequence.sign == 1 else -given[kept], kept, times)
        cut: dict[str, Any] = {} if cuts is None else {"thresholds": cuts.compared, "told": cuts.told}
        trial = TimedTrial.of(TimedTruth.of(events, watch), at[kept], tolerances, detector=detector, **cut, **how)
    else:
        trial = TimedTrial.of(TimedTruth.of(events, watch), np.sort(ticks.of(raised)), tolerances, **how)
    doubt = "" if sequence.instants is None or not follows_stamps(clock, kept, sequence.instants) else FOLLOWS_STAMPS
    return Made(trial=trial, notes=tuple(notes), doubt=doubt)


def _in_gaps(events: int, alarms: int) -> list[str]:
    """A note on events and alarms in gaps of the clock, where they keep their own times."""
    found = [
        say("{} {}", count, THINGS[f"{what}_s"]) for count, what in ((events, "event"), (alarms, "alarm")) if count
    ]
    if not found:
        return []
    could = (
        "{events} could fall there, but no {alarm} could"
        if events
        else "{alarms} could fall there, but no {event} could"
    )
    told = "both could fall there" if events and alarms else could
    return [say("{} lie in gaps of the clock: {}.", joined(" and ", found), say(told))]


def follows_stamps(clock: Clock, kept: BoolArray, events: AnyArray) -> bool:
    """Whether events favour times where stamps are dense, as alarms must: chance in time would take that for skill.

    An event that falls on any instant alike falls on a step with a chance in proportion to its length. So the share of
    the time that belongs to shorter steps is uniform between 0 and 1 for each event, and their mean is about normal.
    """
    ends, starts = step_ends(clock), clock.ticks
    lengths = (ends - starts).astype(np.float64)[kept]
    owners = np.searchsorted(clock.ticks[kept], events, side="right") - 1
    if len(events) < FEWEST_BESIDE_STAMPS or len(lengths) < 2 or lengths.max() <= 1.01 * lengths.min():
        return False
    order = np.sort(lengths)
    shorter = np.concatenate([[0.0], np.cumsum(order)])
    below, up_to = (shorter[np.searchsorted(order, lengths[owners], side=side)] for side in ("left", "right"))
    shares = (below + up_to) / 2 / shorter[-1]
    # steps of the same length share their place, which only narrows the spread
    return bool((0.5 - shares.mean()) * np.sqrt(12 * len(events)) > FAVOURED)


def _places(ticks: Ticks, stride: int) -> str:
    return f"on multiples of {ticks.length(stride)}" if ticks.rounded else "at any instant"


def _ticks(instants: AnyArray, alarms: AnyArray, clock: Clock, tolerances: tuple[Tolerance, ...]) -> tuple[Ticks, int]:
    stamps: AnyArray = clock.ticks
    if "f" in (stamps.dtype.kind, instants.dtype.kind, alarms.dtype.kind):
        stamps, instants, alarms = (values.astype(np.float64) for values in (stamps, instants, alarms))
    sides: list[Any] = [side for tolerance in tolerances for side in (tolerance.early, tolerance.late)]
    every = np.concatenate([alarms, stamps])
    ticks, stride = resolution(np.sort(instants), every, sides, stamps[[0, -1]], clock.unit, clock.aware)
    if (float(stamps[-1]) - float(stamps[0])) / float(ticks.raw) > MOST_TICKS:
        raise InputError(
            problem=f"the clock is longer than 2**60 ticks of {ticks.length(1)}", remedy="round the event times"
        )
    return replace(ticks, zone=clock.zone), stride
