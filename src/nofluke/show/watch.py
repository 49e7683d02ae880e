"""The page of a watch: verdict, sentence, evidence over time, and the blocks. Nothing needs a script."""

from __future__ import annotations

from pathlib import Path

from nofluke.inference.watch import VOIDS, WatchResult
from nofluke.plot.evidence import watch
from nofluke.show.kit import filled, page, written
from nofluke.show.kit.figure import plotted
from nofluke.text.tables import plural

SIGNS = {"better than chance": "yes", "lost": "no"}  # any other is told as "cannot tell" is
MOST_ROWS = 400


def write_page(result: WatchResult, path: str | Path) -> Path:
    """Write the page, and return where it is."""
    return written(path, lambda: make_page(result))


def make_page(result: WatchResult) -> str:
    """The page as text."""
    alone = len(result.detectors) == 1
    heroes = [
        {
            "sign": SIGNS.get(one.verdict, "cannot tell"),
            "name": "" if alone else one.name,
            "verdict": one.verdict,
            "words": one.details,
        }
        for one in result.detectors
    ]
    columns = result.columns()
    kept = ("detector", "start", "events", "found", "alarms", "right", "evidence")
    rows = list(zip(*(columns.get(name, ()) for name in kept), strict=True))
    latest = [row for i in range(result.n_blocks)[::-1] for row in rows[i :: result.n_blocks]]
    shown = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in latest[:MOST_ROWS]]
    return page(
        "kit/watch.html",
        title="Watch: is it still better than chance?",
        kind="watch",
        about=f"{plural(len(result.detectors), 'detector')}, {plural(result.n_blocks, 'settled block')}",
        heroes=heroes,
        described="Evidence, recall and precision over time",
        svg=plotted("watch", lambda panels: watch(result, panels), (5.2, 4.8), panels=3) if result.n_blocks else "",
        notes=(*result.nulls(), *result.sentences()[-2:-1], VOIDS, *result.notes),
        blocks=filled("kit/table.html", caption="The last first", columns=kept, rows=shown, cells="numbers"),
        fewer=f"The last {MOST_ROWS:,} of {len(rows):,} rows." if len(rows) > MOST_ROWS else "",
    )
