"""The page about several detectors: an overview, and behind it the own page of each."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any

from nofluke.inference.side_by_side import SideBySide
from nofluke.show.dots import shortened
from nofluke.show.leaderboard.tables import verdict
from nofluke.show.report import Parts, Source
from nofluke.show.report.page import Scripts, body_of, document, filled, how_of, json_of, plotly_tag, script, style
from nofluke.show.several.drawing import colours, curve_of, curves_of, dot_plots, key_of
from nofluke.show.several.origin import code_of_page, facts_of, title_of
from nofluke.show.several.rows import Row, best_in_words, chance_in_words
from nofluke.show.several.tables import address, pairs_table, ranking_table, reasons_table
from nofluke.text.tables import plural

CHOOSE = "Choose a detector, here or at the top of the page, to see its own page: sliders, timeline and every figure."
LETTERS = 26  # of a name among the links at the top
ALONE = "Alarms given without scores are a single point, at the share of steps without an alarm."


def render(
    found: SideBySide,
    rows: tuple[Row, ...],
    parts: dict[str, Parts],
    *,
    title: str | None,
    scripts: Scripts,
    source: Source | None,
) -> str:
    """The whole page as text; ``parts`` are those of each detector's own page."""
    plotly, sources = plotly_tag(scripts)
    name, code = title_of(title, source), code_of_page(found, source, title, parts[rows[0].detector].metrics)
    comparison, curves = found.comparison, [curve_of(row, parts[row.detector].payload) for row in rows]
    first = rows[0].result
    alone = any(row.result.sequence.scores is None for row in rows)
    page = {
        "title": escape(name),
        "about_data": escape(
            f"{parts[rows[0].detector].origin.about} {plural(len(rows), 'detector')}, within a tolerance of {first.tolerance}."
        ),
        "links": "".join(
            f'<li><a href="{address(row.detector)}" title="{escape(row.detector)}">{escape(shortened(row.detector, LETTERS))}</a></li>'
            for row in rows
        ),
        "best": escape(best_in_words(found)),
        "chance": escape(chance_in_words(rows)),
        "notes": "<br>".join(map(escape, comparison.notes)),
        "choose": CHOOSE,
        "ranking": ranking_table(rows),
        "n": plural(len(rows), "detector"),
        "reasons": reasons_table(rows),
        "dots": dot_plots(rows),
        "key": key_of(curves),
        **curves_of(curves),
        "tolerance": escape(str(first.tolerance)),
        "alone": ALONE if alone else "",
        "pairs": pairs_table(comparison),
        "how_pairs": escape(
            f"{comparison.how()} Corrected by Holm for {plural(comparison.n_pairs, 'pair')} in each measure. In bold: different from 0 after correction."
        ),
        "how": how_of(facts_of(found, source), code),
        "templates": "".join(_template(row, len(rows), parts[row.detector], code, name) for row in rows),
    }
    return document(
        name,
        filled(_read("several/several.html"), page),
        kind="report",
        style=style() + colours() + _read("board.css") + _read("several/several.css"),
        data={"detectors": [row.detector for row in rows]},
        script="\n".join([script(), "(() => {", _read("report/downloads.js"), _read("several/several.js"), "})();"]),
        plotly=plotly,
        sources=sources,
    )


def _template(row: Row, n: int, parts: Parts, code: tuple[tuple[str, str], ...], title: str) -> str:
    """A detector's own page and its data, for the script to open; first, its verdict among all detectors."""
    origin = replace(parts.origin, name=f"{row.detector} – {title}", code=code)
    return (
        f'<template data-detector="{escape(row.detector)}"><aside class="beside" aria-label="Among all">One of {plural(n, "detector")}. '
        f"Better than chance, corrected for all of them: {verdict(row.verdict)}. What follows is about this detector alone.</aside>"
        f"{body_of(parts.payload, origin, parts.others)}"
        f'<script type="text/plain">{_packed(parts.payload)}</script></template>\n'
    )


def _packed(payload: dict[str, Any]) -> str:
    """JSON, deflated, as letters and digits: a tenth of its size, which counts where there are many detectors."""
    return base64.b64encode(zlib.compress(json_of(payload).encode("utf-8"), 9)).decode("ascii")


def _read(name: str) -> str:
    return files("nofluke.show").joinpath(name).read_text(encoding="utf-8")
