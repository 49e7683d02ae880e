"""Figures of several detectors, described: dots beside chance, and all curves in one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nofluke.plot.style import SERIES
from nofluke.show.kit.figure import Description, Dots, rows_of_dots
from nofluke.show.report.figures import stretched, stretched_axis
from nofluke.show.several.rows import Row
from nofluke.studies.pooled_row import MEASURES

Number = float | None
LETTERS = 20  # of a name that fit beside dots


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One detector at all its thresholds: positions, both measures, what chance gives there, and the evaluated one."""

    detector: str
    at: list[Number]
    precision: list[Number]
    recall: list[Number]
    chance_precision: list[Number]
    chance_recall: list[Number]
    chosen: int


def curve_of(row: Row, payload: dict[str, Any]) -> Curve:
    """A detector's curve at the evaluated tolerance; given alarms stand at the share of steps without one."""
    d, k = payload["chosen"]
    cells = payload["cells"][d]
    at = [one["position"] for one in payload["thresholds"]]
    if row.result.sequence.scores is None:
        at = [1 - row.result.n_predictions / row.result.n] if row.result.n else [0.0]
    return Curve(
        detector=row.detector,
        at=[stretched(position, row.result.n) for position in at],
        precision=[cell["precision"]["value"] for cell in cells],
        recall=[cell["recall"]["value"] for cell in cells],
        chance_precision=[cell["precision"]["share"]["mean"] for cell in cells],
        chance_recall=[cell["recall"]["share"]["mean"] for cell in cells],
        chosen=k,
    )


def dot_plots(rows: tuple[Row, ...]) -> dict[str, Description]:
    """A figure for each measure, a line for each detector in each, all on one scale."""
    made = {
        f"dots-{measure}": rows_of_dots(
            [
                Dots(name=row.detector, measure=row.measures[measure], verdict=row.verdict, best=row.best)
                for row in rows
            ],
            verdicts=measure == MEASURES[0],
            letters=LETTERS,
        )
        for measure in MEASURES
    }
    end = max(one["x"]["range"][1] for one in made.values())
    for one in made.values():
        one["x"]["range"] = [0, end]
    return made


def curves_of(curves: Sequence[Curve]) -> dict[str, Description]:
    """Three figures of all detectors: both measures by threshold, and precision against recall."""
    places = [x for curve in curves for x in curve.at if x is not None]
    across = stretched_axis(places or [0.0, 1.0], "threshold, as a quantile of the detector’s scores")
    tops = {measure: _top(curves, measure) for measure in ("precision", "recall")}
    made: dict[str, Description] = {
        f"by-{measure}": {"x": across, "y": {"range": [0, top]}, "layers": []} for measure, top in tops.items()
    }
    made["against"] = {
        "x": {"title": "recall", "range": [-0.02, 1.03]},
        "y": {"title": "precision", "range": [0, tops["precision"]]},
        "layers": [],
    }
    for i, one in enumerate(curves):
        _draw(made["by-precision"], i, one, (one.at, one.precision), (one.at, one.chance_precision))
        _draw(made["by-recall"], i, one, (one.at, one.recall), (one.at, one.chance_recall))
        _draw(made["against"], i, one, (one.recall, one.precision), (one.chance_recall, one.chance_precision))
    return made


def key_of(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    """Which line is which detector: its style and its name."""
    return [(_style(i), curve.detector) for i, curve in enumerate(curves)]


def colours() -> str:
    """The colours of lines as the style sheet takes them, those of all of nofluke's figures."""
    mixed = [f"color-mix(in srgb, {one[0].lower()} 85%, var(--ink))" for one in SERIES]
    own = "".join(f".s{i} {{ --own: var(--s{i}); }}\n" for i in range(len(mixed)))
    return f":root {{ {' '.join(f'--s{i}: {mix};' for i, mix in enumerate(mixed))} }}\n{own}"


def _top(curves: Sequence[Curve], measure: str) -> float:
    """Where the axis of one measure ends, of all curves and of chance."""
    seen = [x for curve in curves for x in (*getattr(curve, measure), *getattr(curve, f"chance_{measure}"))]
    return min(1.08 * max((x for x in seen if x is not None and math.isfinite(x)), default=1.0), 1.04) or 1.0


def _draw(figure: Description, i: int, curve: Curve, own: tuple[Any, Any], chance: tuple[Any, Any]) -> None:
    """Chance, the line with its points, and a ring where the detector was evaluated; then what all of it is called."""
    name = _style(i)
    figure["layers"] += [
        {"kind": "line", "name": f"s{i % len(SERIES)} own of-chance", "x": chance[0], "y": chance[1]},
        {"kind": "line", "name": name, "x": own[0], "y": own[1], "dots": True},
        {"kind": "ring", "name": name, "x": own[0][curve.chosen], "y": own[1][curve.chosen]},
    ]
    tell = figure.setdefault("tell", {"x": [], "y": [], "texts": []})
    for x, y, precision, recall in zip(*own, curve.precision, curve.recall, strict=True):
        tell["x"].append(x)
        tell["y"].append(y)
        values = ", ".join(
            f"{side} {'undefined' if value is None else f'{value:.3g}'}"
            for side, value in (("precision", precision), ("recall", recall))
        )
        tell["texts"].append(f"{curve.detector}\n{values}")


def _style(i: int) -> str:
    """Colours come again after some; then lines are dashed, then dotted."""
    return f"s{i % len(SERIES)} own {('solid', 'dashed', 'dotted')[i // len(SERIES) % 3]}"
