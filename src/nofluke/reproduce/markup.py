"""Pieces of a page: its frame, figures put inline, matrices, tables and checked statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Literal

from nofluke.measures.confusion import Confusion
from nofluke.plot.style import PALETTE
from nofluke.reproduce.claim import Claim
from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.study import Study


def document(title: str, body: Sequence[str], *, simulated: bool = False) -> str:
    """A whole page that asks for nothing from anywhere."""
    style = files("nofluke.reproduce").joinpath("page.css").read_text(encoding="utf-8")
    if simulated:
        style += '@page { @bottom-right { content: "simulated data"; font: italic 9pt sans-serif; } }\n'
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',  # or browsers ask for one
            f"<title>{'Simulated data: ' if simulated else ''}{title}</title>",
            f"<style>\n{style}</style></head>",
            "<body><main>",
            *filter(None, body),
            "</main></body></html>",
            "",
        ]
    )


def claims_table(claims: Sequence[Claim]) -> str:
    """Statements with their outcomes, what was found, and where to see it."""
    rows = "\n".join(
        f'<tr id="claim-{c.key}"><td class="outcome {c.outcome.replace(" ", "-")}">{c.outcome}</td><td>{escape(c.statement)}'
        f'<p class="finding">{escape(c.finding)}</p></td><td class="where">{escape(c.said_in())},<br> {c.decided_by}</td></tr>'
        for c in claims
    )
    return (
        '<div class="wide" tabindex="0"><table class="claims">'
        '<thead><tr><th scope="col">outcome</th><th scope="col">statement and finding</th><th scope="col">see</th></tr>'
        f"</thead><tbody>\n{rows}\n</tbody></table></div>"
    )


def figure(drawn: Drawn, number: int, caption: str, *, simulated: bool = False) -> str:
    """A figure with its caption, and links to its files."""
    label = f"Figure {number} (simulated data)" if simulated else f"Figure {number}"
    links = ", ".join(f'<a href="{drawn.name}.{form}">{form.upper()}</a>' for form in ("svg", "pdf", "png", "csv"))
    if drawn.narrow is None:
        shown = f'<div class="wide" tabindex="0">{inlined(drawn, caption)}</div>'
    else:
        shown = f'<div class="roomy">{inlined(drawn, caption)}</div><div class="narrow">{inlined(drawn.narrow, caption)}</div>'
    return f'<figure id="{drawn.name}">{shown}<figcaption>{label}. {escape(caption)} {links}</figcaption></figure>'


def shown(study: Study, figures: dict[str, Drawn], number: int, caption: str) -> str:
    """A figure of the paper's study, by its number."""
    return figure(figures[f"figure-{number}"], number, caption, simulated=study.quakes.simulated)


def inlined(drawn: Drawn, description: str) -> str:
    """The SVG as part of a page: described, its ids its own, its ink the page's, its ground clear."""
    svg = drawn.svg[drawn.svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{drawn.name}-", svg)
    svg = svg.replace(PALETTE["ink"], "currentColor").replace(PALETTE["binomial"], "currentColor")
    svg = svg.replace("fill: #ffffff", "fill: none")
    opening = f'<svg role="img" aria-label="{escape(description)}"'
    return re.sub(r'^<svg ((?:[\w:]+="[^"]*"\s*)*)>', lambda m: _clean_tag(opening, m.group(1)), svg).strip()


def _clean_tag(opening: str, attributes: str) -> str:
    """The opening tag without its size in points: the page decides how wide a figure is."""
    kept = re.sub(r'\b(width|height|version)="[^"]*"\s*', "", attributes)
    return f"{opening} {kept.strip()}>"


def matrix(matrix: Confusion, caption: str, rows: tuple[str, str], columns: tuple[str, str], readable: set[str]) -> str:
    """A confusion matrix with marginal sums, its readable entries marked."""
    grid = (
        (rows[0], ("tp", "fp", "predicted")),
        (rows[1], ("fn", "tn", "not_predicted")),
        ("∑", ("actual", "not_actual", "total")),
    )
    body = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(
            f'<td class="{"read" if entry in readable else "unread"}">{getattr(matrix, entry):,}</td>'
            for entry in entries
        )
        + "</tr>"
        for name, entries in grid
    )
    head = "<td></td>" + "".join(f'<th scope="col">{name}</th>' for name in (*columns, "∑"))
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(
    caption: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    cells: Literal["words", "numbers"] = "words",
) -> str:
    """A table whose first column names the rows; numbers are never broken, words may be."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{escape(c)}</th>' if i == 0 else f"<td>{escape(c)}</td>" for i, c in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide {cells}" tabindex="0"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> listed(["MSL", "SMAP", "PSM"]), listed(["PSM"]), listed([])
    ('MSL, SMAP and PSM', 'PSM', '')
    """
    return " and ".join([", ".join(words[:-1]), *words[-1:]]) if len(words) > 1 else "".join(words)
