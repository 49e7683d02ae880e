"""Several detectors on one timeline: a row each, with events found and missed, hits and false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.errors import InputError
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.evaluation import Evaluation
from nofluke.plot.legends import legend_above, make_room
from nofluke.plot.marks import Marks, marks_of_result
from nofluke.plot.panels import make_axes, short
from nofluke.plot.style import LETTER, PALETTE, few_ticks, inches, ink, label, tidy
from nofluke.ratios import divide
from nofluke.text.tables import show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LANES = (
    ("found", 0.30, "v", "good"),
    ("missed", 0.10, "x", "bad"),
    ("hits", -0.12, "|", "good"),
    ("false", -0.32, "|", "bad"),
)
LONGEST = 14  # letters of a name


def several_lanes(results: Mapping[str, Evaluation], ax: Axes | None) -> Axes:
    """A row for each result, from above; beside it recall and what chance finds."""
    marks = {name: marks_of_result(one) for name, one in results.items()}
    kinds = {(one.when.dtype.kind == "M", isinstance(results[name], Coincidence)) for name, one in marks.items()}
    if len(kinds) > 1:
        raise InputError(
            argument="truth",
            problem="has results on different axes",
            remedy="pass results for one series, on steps or on the same clock",
        )
    ax = make_axes(ax, (9, 1.2 + 0.6 * len(marks)))
    rows = np.arange(len(marks))[::-1]
    noun = next(iter(results.values())).cell.truth.noun
    words = {
        "found": f"{noun}s found",
        "missed": f"{noun}s missed",
        "hits": "alarms that are hits",
        "false": "false alarms",
    }
    handles = []
    for lane, above, marker, meaning in LANES:
        at = [_positions(one, lane) for one in marks.values()]
        heights = np.repeat(rows + above, [len(one) for one in at])
        how: dict[str, Any] = {"marker": marker, "markersize": 5 if marker == "|" else 3.5, "color": PALETTE[meaning]}
        handles += ax.plot(np.concatenate(at), heights, linestyle="none", **how, label=words[lane])
    for row in rows[:-1]:
        ax.axhline(row - 0.5, color=ink(), alpha=0.25, linewidth=0.6)
    ends = np.concatenate([one.when[[0, -1]] for one in marks.values() if len(one.when)])
    if len(ends) and ends.min() < ends.max():
        ax.set_xlim(ends.min(), ends.max())
    ax.set_ylim(-0.5, len(marks) - 0.5)
    tidy(ax, grid=False)
    few_ticks(ax, which="x")
    size = float(np.clip(72 * inches(ax)[1] / len(marks) / 4, 4.5, 8))
    told = [f"{short(name, LONGEST)}\n{_beside_chance(one)}" for name, one in results.items()]
    ax.set_yticks(rows, told, fontsize=size)
    make_room(ax, left=LONGEST * LETTER * size / 72 + 0.1)
    first = next(iter(results.values())).sequence
    label(ax, "step" if getattr(first, "clock", first) is None else "time")
    legend_above(ax, handles, loc="lower right")
    return ax


def _positions(marks: Marks, lane: str) -> Any:
    lanes = {"found": marks.begins[marks.found], "missed": marks.begins[~marks.found]}
    return lanes[lane] if lane in lanes else getattr(marks, lane)


def _beside_chance(result: Evaluation) -> str:
    test = result.recall_test
    return f"recall {show_share(test.value)}\nchance {show_share(divide(test.expected, test.of))}"
