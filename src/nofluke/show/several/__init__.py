"""Several detectors on one page: side by side in an overview, each with the report that it would have alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nofluke.data.paths import write_file
from nofluke.errors import InputError, joined, passed, say
from nofluke.inference.compare import Comparison, Difference, error_of
from nofluke.inference.report import SideBySide
from nofluke.plot.style import SERIES
from nofluke.show.kit import in_names, markup, packed_json, page, read, shortened
from nofluke.show.kit.figure import Description, Dots, drawn, row_height, rows_of_dots
from nofluke.show.leaderboard.page import opening
from nofluke.show.report import Parts, Source, body_of, check_page, check_target, data_of, parts_of, script
from nofluke.show.report.figures import stretched, stretched_axis
from nofluke.show.several.origin import code_of_page, facts_of, own_calls, own_source, title_of
from nofluke.show.several.rows import Row, best_in_words, chance_in_words, rows_of
from nofluke.studies.pooled_row import MEASURES, NAMES, p_or_dash
from nofluke.text.tables import plural

# ---- figures: dots beside chance, and all curves in one

Number = float | None
LONGEST = 20  # of a name that fit beside dots


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
            letters=LONGEST,
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


# ---- the page about several detectors: an overview, and behind it the own page of each

LINKED = 26  # of a name among the links at the top
ALONE = say("{Alarms} given without scores are a single point, at the share of steps without {an_alarm}.")
WIDE = 5.4  # inches of a figure


def address(detector: str) -> str:
    """Where a detector's own page is, within the page."""
    return f"#detector={quote(detector, safe='')}"


def _reason(row: Row) -> str:
    choice = row.result.settings.choice
    if not row.doubtful:
        return row.ruling.reason
    return say("Under {}, which these {events} contradict: {}", choice.model.text, row.ruling.reason)


def _pair(comparison: Comparison, first: str, second: str) -> tuple[str, str, str, list[tuple[Difference, bool]]]:
    """Both names, whether F1 tells them apart, and each difference with whether it is told from 0."""
    found = [comparison.difference(first, second, m) for m in MEASURES]
    told = "–" if math.isnan(found[0].corrected) else "yes" if comparison.told(found[0]) else "no"
    return first, second, told, [(one, comparison.told(one)) for one in found]


def render(
    found: SideBySide, rows: tuple[Row, ...], parts: dict[str, Parts], *, title: str | None, source: Source | None
) -> str:
    """The whole page as text; ``parts`` are those of each detector's own page."""
    name, code = title_of(title, source), code_of_page(found, source, title, parts[rows[0].detector].metrics)
    comparison, curves = found.comparison, [curve_of(row, parts[row.detector].payload) for row in rows]
    first, n = rows[0].result, plural(len(rows), "detector")
    about = parts[rows[0].detector].origin.about
    dots = dot_plots(rows)
    figures = {**dots, **curves_of(curves)}
    tall = (WIDE, row_height(len(rows)) / 72)
    return page(
        "several/several.html",
        title=name,
        kind="report",
        data={"detectors": [row.detector for row in rows], "figures": figures},
        styles=("several/several.css",),
        script=script() + read("several/several.js"),
        name=name,
        names=first.names,
        about_data=f"{about} {n}, within a tolerance of {first.tolerance}.",
        links=[(address(row.detector), row.detector, shortened(row.detector, LINKED)) for row in rows],
        leader=rows[0].verdict,
        opening=opening(rows, compared=True),
        answer=chance_in_words(rows),
        best=best_in_words(found),
        notes=first.names.all_said(comparison.notes),
        dots=[(f"dots-{m}", NAMES[m][:1].upper() + NAMES[m][1:]) for m in MEASURES],
        rows=row_height(len(rows)),
        drawn=drawn(figures, {}, dict.fromkeys(dots, tall)),
        ranked=rows,
        measures={m: NAMES[m] for m in MEASURES},
        address=address,
        p_or_dash=p_or_dash,
        n=n,
        reasons=[
            (
                row,
                *row.result.names.all_said(
                    (_reason(row), row.result.settings.choice.described, joined(" ", row.result.notes))
                ),
            )
            for row in rows
        ],
        key=key_of(curves),
        tolerance=str(first.tolerance),
        alone=first.names.said(ALONE) if any(row.result.sequence.scores is None for row in rows) else "",
        pairs=[_pair(comparison, *both) for both in combinations(comparison.detectors, 2)],
        how_pairs=f"{comparison.how()} Corrected by Holm for {plural(comparison.n_pairs, 'pair')} in each measure. "
        "In bold: different from 0 after correction.",
        facts=in_names(facts_of(found, source), first.names),
        code=code,
        templates=[(row.detector, row.verdict, *_own(parts[row.detector], row.detector, code, name)) for row in rows],
        own_colours=markup(colours()),
    )


def _own(parts: Parts, detector: str, code: tuple[tuple[str, str], ...], title: str) -> tuple[Any, str]:
    """A detector's own page and its data, for the script to open."""
    origin = replace(parts.origin, name=f"{detector} – {title}", code=code)
    body = body_of(parts.payload, origin, parts.others, figures=False)
    return markup(body), packed_json(data_of(parts.payload))


# ---- what is asked for: a page about several detectors

__all__ = ["check_page", "check_target", "make_several_page", "verdict_in_words", "write_several"]


def write_several(
    found: SideBySide,
    path: str | Path,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> Path:
    """Write a page about several detectors; `nofluke.report` has what the arguments mean."""
    target = check_target(path)
    page = make_several_page(found, title=title, source=source, metrics=metrics)
    write_file(target, page, passed("path", str(path)))
    return target


def make_several_page(
    found: SideBySide,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> str:
    """The page that `write_several` writes, as text."""
    check_page(title)
    rows = rows_of(found)
    parts: dict[str, Parts] = {}
    for row in rows:
        try:
            own = own_source(source, row.detector)
            made = parts_of(row.result, title=title, source=own, metrics=metrics, label=row.detector)
        except InputError as error:
            raise error_of(row.detector, error) from None
        made.payload["next"] = own_calls(made.payload["next"], row.detector)
        parts[row.detector] = made
    return render(found, rows, parts, title=title, source=source)


def verdict_in_words(found: SideBySide) -> str:
    """Which detector is best, and which are better than chance."""
    return f"{best_in_words(found)}\n{chance_in_words(rows_of(found))}"
