"""The page of a watch: verdict, sentence, evidence over time, and the blocks. Nothing needs a script."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path

from nofluke import __version__
from nofluke.data.paths import check_place, expanded, write_file
from nofluke.inference.watch import VOIDS, WatchResult
from nofluke.text.signs import VERDICTS

SIGNS = {"better than chance": "yes", "lost": "no", "not yet": "cannot tell"}
MOST_ROWS = 400
STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #5f6368; --line: #ddd; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --paper: #16161a; --soft: #b4b8bd; --line: #444; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.1rem; color: var(--soft); font-weight: normal; } .verdict { font-size: 2rem; margin: .2rem 0; }
.figure { background: #fff; padding: .5rem; border-radius: .4rem; } .figure svg { width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { text-align: left; }
p.note, footer { color: var(--soft); font-size: .9rem; }
"""


def write_page(result: WatchResult, path: str | Path) -> Path:
    """Write the page, which needs no network, and return where it is."""
    target = expanded(path, "path")
    check_place(target, f"path={str(path)!r}")
    write_file(target, make_page(result), f"path={str(path)!r}")
    return target


def make_page(result: WatchResult) -> str:
    """The page as text."""
    heroes = []
    for one in result.detectors:
        sign = VERDICTS[SIGNS.get(one.verdict, "cannot tell")]
        name = "" if len(result.detectors) == 1 else f"{escape(one.name)}: "
        heroes.append(
            f'<p class="verdict" style="color: light-dark({sign.light}, {sign.dark})">{sign.symbol} {name}{escape(one.verdict)}</p>'
            f"<p>{escape(one.in_words())}</p>"
        )
    columns = result.columns()
    kept = ("detector", "start", "events", "found", "alarms", "right", "null", "evidence")
    rows = list(zip(*(columns[name] for name in kept), strict=True))[::-1]
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(f'{cell:.3g}' if isinstance(cell, float) else str(cell))}</td>" for cell in row)
        + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    fewer = f'<p class="note">The last {MOST_ROWS:,} of {len(rows):,} rows.</p>' if len(rows) > MOST_ROWS else ""
    nulls = dict.fromkeys(f"Null: {one.null}. {one.why}" for one in result.detectors if one.null)
    notes = "".join(
        f'<p class="note">{escape(note)}</p>' for note in (*nulls, *result.sentences()[-2:-1], VOIDS, *result.notes)
    )
    title = "Watch: is it still better than chance?"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>{title}</title><style>{STYLE}</style></head><body>\n<header><h1>{title}</h1>'
        f"{''.join(heroes)}</header>\n<main>{notes}"
        f'<section class="figure" role="img" aria-label="Evidence, recall and precision over time">{_figure(result)}</section>\n'
        f'<section class="wide"><h2>Settled blocks</h2><table><thead><tr>{"".join(f"<th>{name}</th>" for name in kept)}</tr></thead>'
        f"<tbody>{body}</tbody></table>{fewer}</section></main>\n<footer>nofluke {__version__}</footer></body></html>\n"
    )


def _figure(result: WatchResult) -> str:
    """The figure as SVG, drawn without a window, and the same each time."""
    import matplotlib
    from matplotlib.figure import Figure

    from nofluke.plot import watch

    if not result.n_blocks:
        return "<p>No block is settled yet.</p>"
    with matplotlib.rc_context({"svg.hashsalt": "nofluke", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 6.5), layout="constrained")
        watch(result, figure.subplots(3, 1, sharex=True))
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)
