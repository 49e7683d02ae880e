"""The leaderboard's page: a template filled with tables, figures and numbers; text is escaped where inserted."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from itertools import pairwise
from typing import Any

from nofluke import __version__
from nofluke.show.leaderboard.drawing import EDGES, LETTERED, LETTERS, SHARES, dot_plot, heat_map
from nofluke.show.leaderboard.tables import columns_list, detectors_table, missing_table, pairs_table, reasons_list
from nofluke.show.report.page import document, filled, palette
from nofluke.studies.cell_map import CODES, CellMap
from nofluke.studies.leaderboard import OF, Leaderboard
from nofluke.studies.pooled_row import MEASURES
from nofluke.studies.schema import Values
from nofluke.text.tables import plural


def render(board: Leaderboard, failed: Values, shown: CellMap, payload: dict[str, Any]) -> str:
    """The whole page as text."""
    about, missing = board.about, board.missing_in_words()
    page = {
        "title": escape(about.title or "Leaderboard"),
        "size": escape(board.title.removeprefix(f"{about.title}: ")),
        "version": __version__,
        "missing": _lines(missing),
        "answer": escape(board.verdict_in_words()),
        "notes": _lines(about.notes),
        "facts": "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in board.facts()),
        "alpha": f"{about.alpha:g}",
        "level": f"{100 * about.level:.3g}%",
        "board": detectors_table(board),
        "reasons": reasons_list(board),
        "columns": columns_list(shown),
        "about_star": ""
        if board.pairs is None
        else "★ F1 not significantly worse than the best, all pairs compared (Holm).",
        "about_shade": "" if board.pairs is None else "★ and shaded: not significantly worse than the best.",
        "star_hidden": " hidden" if board.pairs is None else "",
        "about_of": f"{OF}." if any(row.measure(m).told_apart for row in board.rows for m in MEASURES) else "",
        "told_hidden": "" if any(row.f1.told_apart for row in board.rows) else "hidden",
        "dots": dot_plot(board),
        "dot_names": _names(board, "dots-names"),
        "dot_values": "".join(f"<li>{row.f1.in_words()}</li>" for row in board.rows),
        "map_names": _names(board, "map-names"),
        "map_verdict": heat_map(shown, "verdict"),
        "map_value": heat_map(shown, "value"),
        "least": str(max(len(shown.columns) * (18 if len(shown.columns) <= LETTERED else 3), 100)),
        "verdict_word": "share of verdicts that are yes" if shown.kind == "groups" else "verdict",
        "verdict_key": _key_of_shares() + _key("missing", LETTERS[0], len(shown.columns) <= LETTERED)
        if shown.kind == "groups"
        else _key_of_verdicts(shown),
        "value_key": _key_of_values() + _key("missing", LETTERS[0], len(shown.columns) <= LETTERED),
        "column_noun": "group" if shown.kind == "groups" else "series",
        "about_map": escape(shown.about),
        "about_verdicts": escape(_about_verdicts(shown)),
        "pairs": "" if board.pairs is None else pairs_table(board.pairs, about.alpha),
        "pairs_hidden": "hidden" if board.pairs is None else "",
        "missing_cells": missing_table(failed, board.detectors),
        "missing_hidden": "" if missing else "hidden",
    }
    return document(
        about.title or "Leaderboard",
        filled(_read("leaderboard/leaderboard.html"), page),
        kind="leaderboard",
        style=palette() + _read("report/report.css") + _read("board.css") + _read("leaderboard/leaderboard.css"),
        data=payload,
        script=_read("leaderboard/leaderboard.js"),
    )


def _read(name: str) -> str:
    return files("nofluke.show").joinpath(name).read_text(encoding="utf-8")


def _lines(lines: tuple[str, ...]) -> str:
    return "<br>".join(map(escape, lines))


def _names(board: Leaderboard, name: str) -> str:
    """Names beside the rows of a figure; stars and signs are in the table too."""
    items = "".join(
        f'<li{" data-best" if row.best else ""} title="{escape(row.detector)}">{"★ " if row.best else ""}{escape(row.detector)}</li>'
        for row in board.rows
    )
    return f'<ol class="{name}" aria-hidden="true">{items}</ol>'


def _key_of_verdicts(shown: CellMap) -> str:
    lettered = len(shown.columns) <= LETTERED
    return "".join(_key(word, letter, lettered) for word, letter in reversed(list(zip(CODES, LETTERS, strict=True))))


def _key(word: str, letter: str, lettered: bool) -> str:
    shape, text = ("", letter) if lettered else (" shape", "")
    return f'<li><span class="swatch k-{word.split()[0]}{shape}" aria-hidden="true">{text}</span>{word}</li>'


def _key_of_values() -> str:
    edges = [f"{edge:g}" for edge in EDGES]
    words = (
        "below chance",
        "as chance",
        *(f"{low} to {high}" for low, high in pairwise(edges[1:])),
    )
    return _swatches("v", (*words, f"{edges[-1]} or more"))


def _key_of_shares() -> str:
    percent = [f"{100 * edge:.0f}" for edge in SHARES[1:-1]]
    words = (f"up to {percent[0]}%", *(f"to {edge}%" for edge in percent[1:]), "more")
    return _swatches("s", ("none", *words, "all"))


def _swatches(letter: str, words: tuple[str, ...]) -> str:
    return "".join(
        f'<li><span class="swatch k-{letter}{i}" aria-hidden="true"></span>{w}</li>' for i, w in enumerate(words)
    )


def _about_verdicts(shown: CellMap) -> str:
    """What the map shows, in words: how many cells have each verdict."""
    counts = shown.counts.sum(axis=(0, 1)).tolist()
    told = ", ".join(f"{word} {count:,}" for word, count in reversed(list(zip(CODES, counts, strict=True))) if count)
    return f"{plural(sum(counts), 'cell')}, each with its own verdict before any correction: {told}."
