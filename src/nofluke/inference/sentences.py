"""What was counted, in plain words: how many predictions are near an event, how many events or ranges were found."""

from __future__ import annotations

from nofluke.inference.chance import ChanceTest
from nofluke.series.tolerance import Tolerance
from nofluke.text.tables import plural


def sentences_of(
    precision: ChanceTest,
    recall: ChanceTest,
    tolerance: Tolerance,
    noun: str,
    alarm: str = "prediction",
    *,
    in_time: bool = False,
) -> tuple[str, str]:
    """A sentence for each measure, with what chance does beside it; ``noun`` and ``alarm`` are what is counted."""
    ranges, any_alarm = noun == "range", "an alarm" if alarm == "alarm" else "a prediction"
    if tolerance.zero:
        near = "in" if ranges else "at the time of" if in_time else "on the step of"
    elif tolerance.early == tolerance.late:
        near = f"within {tolerance} of"
    elif tolerance.side and not ranges:
        near = f"{tolerance.distance} {'before' if tolerance.side == 'early' else 'after'}"
    else:
        near = f"near ({tolerance})"
    one = 1 in (recall.of, recall.hits)
    found = f"{'is' if one else 'are'} {near} {any_alarm}"
    if tolerance.side and not ranges:  # the same, seen from the event
        found = f"{'has' if one else 'have'} {any_alarm} {near} {'it' if one else 'them'}"
    if ranges:
        found = f"{'has' if one else 'have'} {any_alarm} {'inside' if tolerance.zero else near + (' it' if one else ' them')}"
    return (
        f"{precision.hits:,} of {plural(precision.of, alarm)} {'is' if 1 in (precision.of, precision.hits) else 'are'} "
        f"{near} {'a range' if ranges else 'an event'}; {precision.in_words()}.",
        f"{recall.hits:,} of {plural(recall.of, noun)} {found}; {recall.in_words()}.",
    )
