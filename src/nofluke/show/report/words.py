"""Sentences beside the figures of a report: what each shows, for those who do not see it."""

from __future__ import annotations

import re
from typing import Any

from nofluke.errors import THINGS, Remark, joined, say
from nofluke.inference.chance import ChanceTest, significant
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.sweep import FamilywiseTest
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import Choice
from nofluke.nulls.diagnosis import Diagnosis
from nofluke.series.tolerance import Tolerance
from nofluke.show.kit import FALSE
from nofluke.show.report.cells import Picture
from nofluke.text.numbers import p_is, show_chance, show_p
from nofluke.text.tables import plural, show_share

SIDES = ("precision", "recall")


def another_null(used: Choice, recommended: NullModel, why: str) -> str:
    """A warning where the diagnosis recommends another null than the one asked for; nothing where it does not."""
    if used.is_auto or used.model.text == recommended.text:
        return ""
    told = 'The diagnosis recommends another null for these data, "{}". {} See "Which null to trust".'
    return say(told, recommended.text, why)


def recommended(diagnosis: Diagnosis) -> str:
    """The null to trust, why, and what a step is where times were looked at on a grid."""
    looked = next((note for note in diagnosis.notes if isinstance(note, Remark) and note.kind == "grid"), "")
    told = 'Recommended null: "{}". {} {}' if looked else 'Recommended null: "{}". {}'
    return say(told, diagnosis.recommended.text, diagnosis.why, looked)


def about_timeline(cell: Evaluation) -> str:
    """Predictions and events, hit and missed."""
    if cell.n_predictions == 0 and cell.n_events == 0:
        return say("There are neither {} nor {events}.", THINGS[f"{cell.alarm_noun}s"])
    return say(
        "{}: {}, {:,} {}. {}: {:,} found, {:,} missed.",
        plural(cell.n_predictions, cell.alarm_noun),
        plural(cell.precision_hits, "hit"),
        cell.false_alarms.count,
        FALSE["false_alarm" if cell.false_alarms.count == 1 else "false_alarms"],
        plural(cell.n_events, cell.cell.truth.noun),
        cell.recall_hits,
        cell.n_events - cell.recall_hits,
    )


def about_null(test: ChanceTest, drawn: Picture, alarm: str) -> str:
    """Chance's hits beside the observed ones."""
    if test.of == 0:
        return say("Nothing to test: there are no {}.", THINGS[f"{alarm if test.measure == 'precision' else 'event'}s"])
    return (
        f"Hits by chance: {show_chance(test.expected, test.std)}, central 95% from {drawn.low:,} to {drawn.high:,}. "
        f"Observed: {test.hits:,}, {p_is(test.pvalue)}."
    )


def about_row(row: list[Any], tolerance: str, alpha: float, column: str) -> dict[str, str]:
    """The curves by threshold or lag, and precision against recall, at one tolerance."""
    told = {}
    for side in SIDES:
        above = sum(cell[side]["hits"] > cell[side]["high"] for cell in row)
        remaining = sum(cell[side]["remains"] for cell in row)
        told[side] = (
            f"At a tolerance of {tolerance}, {side} is above the central 95% of chance at {above} of "
            f"{plural(len(row), column)}; {remaining} remain significant at the {alpha:g} level after correction."
        )
    best = max((cell for cell in row if cell["f1"] is not None), key=lambda cell: cell["f1"], default=None)
    told["curve"] = (
        f"No {column} has both a precision and a recall."
        if best is None
        else f"At a tolerance of {tolerance}, the best F1 is {show_share(best['f1'])}, with precision "
        f"{best['precision']['text']['value']} and recall {best['recall']['text']['value']}."
    )
    return told


def about_column(column: list[Any], tolerances: tuple[Tolerance, ...], what: str) -> str:
    """How much of both measures the tolerance gives to anyone, at one threshold or lag."""
    told = []
    for side in SIDES:
        first, last = column[0][side], column[-1][side]
        if first["value"] is None or last["value"] is None:
            continue
        told.append(
            f"From a tolerance of {tolerances[0]} to {tolerances[-1]}, {side} goes from {first['text']['value']} to "
            f"{last['text']['value']}; chance alone from {first['text']['chance_share']} to {last['text']['chance_share']}."
        )
    return " ".join(told) or f"Neither measure is defined at this {what}."


def tolerance_axis(widest: Tolerance) -> str:
    """What an axis of tolerances counts: `short_tolerance` leaves that out."""
    unit = {"steps": ["steps"], "clock": ["time units"]}.get(widest.unit or "steps", [])
    two = not widest.side and widest.early != widest.late
    side = [widest.side] if widest.side else ["early / late"] if two else []
    return ", ".join(["tolerance", *unit, *side])


def short_tolerance(tolerance: Tolerance) -> str:
    """A tolerance for a tick of such an axis.

    >>> [short_tolerance(Tolerance(early=a, late=b)) for a, b in ((2, 2), (0, "3d"), ("3h", "-1h"), (1, 4), (0, 0))]
    ['2', '3d', '1h to 3h', '1 / 4', '0']
    """
    told = tolerance.distance.removeprefix("0 to ") if tolerance.side else str(tolerance)
    return re.sub(r" (steps?|time units?|late)\b", "", told.replace(" early to ", " / "))


def about_heat(cells: list[list[Any]], side: str, alpha: float) -> str:
    """How many cells are better than chance, and how many are no test at all."""
    every = [cell[side] for row in cells for cell in row]
    flat = [one for one in every if one["of"]]
    plain, corrected = sum(significant(one["p"], alpha) for one in flat), sum(one["remains"] for one in flat)
    missing = THINGS["predictions" if side == "precision" else "events"]
    if not flat:
        return say("{} is undefined in all cells (×): there are no {}.", side.capitalize(), missing)
    told = (
        f"{side.capitalize()}: p ≤ {alpha:g} in {plain:,} of {plural(len(flat), 'cell')}; in {corrected:,} (outlined) "
        "even after correction for looking at all of them."
    )
    if len(flat) == len(every):
        return told
    return say("{} {} without {}: undefined (×).", told, plural(len(every) - len(flat), "cell"), missing)


def about_lag(lags: list[float], told: list[str], hits: list[int], found: list[int]) -> str:
    """Where the events would have to be for the most hits; nothing where lags are on a slider."""
    if not lags:
        return ""
    said: list[str] = []
    for side, counts in (("Precision", hits), ("Recall", found)):
        best = min((i for i, count in enumerate(counts) if count == max(counts)), key=lambda i: abs(lags[i]))
        place = "in place"
        if lags[best]:
            place = f"{told[best]} {'later' if lags[best] > 0 else 'earlier'}"
        most = "{} has its most hits, {:,}, with the {events} {} ({:,} unshifted)."
        said.append(say(most, side, max(counts), place, counts[lags.index(0)]))
    return joined(
        " ",
        [
            *said,
            "A late detector peaks to the right. A narrow peak suggests skill, a broad hill a rate that both share.",
        ],
    )


def about_delay(counts: dict[str, int], delays: str) -> str:
    """Early, on time, late, missed."""
    if sum(counts.values()) == counts["missed"]:
        return say("No {event} was found, so there is no delay.")
    return (
        f"{counts['early']:,} found early, {counts['on_time']:,} on time, {counts['late']:,} late; {counts['missed']:,} "
        f"missed. Delay: {delays}."
    )


def corrected_by(family: FamilywiseTest | None, nulls: tuple[str, ...] = (), smallest: float = 0.0) -> str:
    """What the correction is: under which nulls, and the smallest p-value that it can give."""
    if family is None:
        return "Corrected p-values use Holm's method over all cells of the measure."
    return (
        "Corrected p-values use Westfall and Young's method over all cells of the measure: how often chance's best "
        f"cell is this far above its expectation ({family.how()}; none can be below "
        f"{show_p(max(family.smallest, smallest))})."
        + (f" The largest of those under {len(nulls)} nulls counts: {', '.join(nulls)}." if len(nulls) > 1 else "")
    )
