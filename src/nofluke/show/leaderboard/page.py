"""The leaderboard's page: a template filled with tables, figures and numbers; text is escaped where inserted."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.inference.chance import significant
from nofluke.show.kit import markup, page, read, shortened
from nofluke.show.kit.figure import drawn, row_height, rows_of_dots
from nofluke.studies.cell_map import CODES, CellMap
from nofluke.studies.leaderboard import OF, Leaderboard, PairMatrix
from nofluke.studies.pooled_row import MEASURES, NAMES, name_of, p_or_dash, share_or_dash
from nofluke.studies.store import Values, missing_cells
from nofluke.text.numbers import show_p
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import plural

# ---- two maps of cells, as SVG that needs no script


ROW, STRIP = 24, 20  # pixels a detector and for the names of groups, in a map
LETTERED = 60  # columns that are wide enough for a letter in each cell
LONGEST = 18  # letters of a name below a column
LETTERS = tuple(VERDICTS[code].symbol if code in VERDICTS else "–" for code in CODES)
SHAPES = ((0.06, 0.1), (0.42, 0.16), (0.66, 0.28), (0.36, 0.58), (0.06, 0.88))
"""Top and height of a cell too narrow for its letter: taller for better verdicts, so it needs no colour."""
WHOLE = (0.04, 0.92)  # of a cell that has its letter
EDGES = (-0.02, 0.02, 0.1, 0.2, 0.35, 0.5, 0.7)
"""Between the colours of values corrected for chance: below chance, about chance, and six steps above."""
DEEP = 0.5  # from here on colours are far from the paper's, and need the other ink
SHARES = (0.001, 0.1, 0.25, 0.5, 0.75, 0.999)
"""Between the colours of the share of series with verdict yes."""


def heat_map(cells: CellMap, which: str) -> str:
    """Verdicts ("verdict"), or values corrected for chance ("value"): of groups, shares of yes instead of verdicts."""
    n_rows, n_columns = cells.values.shape
    lettered = n_columns <= LETTERED
    if which == "value":
        kinds, texts = _bins(cells.values, EDGES, "v"), _numbers(cells.values)
    elif cells.kind == "groups":
        kinds, texts = _bins(cells.share_yes, SHARES, "s"), _numbers(cells.share_yes)
    else:
        kinds, texts = _verdicts(cells.codes, lettered)
    paths = "".join(f'<path class="{name}" d="{"".join(parts)}"/>' for name, parts in kinds.items())
    if which == "value" or cells.kind == "groups":
        gone = np.argwhere(cells.counts[:, :, 1:].sum(axis=2) == 0).tolist()
        paths += _path_of_missing(gone, lettered)
        texts += [(i, j, "on-missing", LETTERS[0]) for i, j in gone]
    bottom = STRIP + ROW * n_rows
    names, room = _columns(cells, bottom + 6)
    height = bottom + room
    words = "".join(
        f'<text class="{name}" x="{100 * (j + 0.5) / n_columns:.4g}%" y="{STRIP + ROW * i + 16}">{text}</text>'
        for i, j, name, text in texts
        if lettered
    )
    return (
        f'<svg class="cells{" lettered" if lettered else ""}" width="100%" height="{height}" role="img" aria-labelledby="about-{which}">'
        f'{_groups(cells, bottom)}<svg y="{STRIP}" width="100%" height="{bottom - STRIP}" viewBox="0 0 {n_columns} {n_rows}" '
        f'preserveAspectRatio="none">{paths}</svg>{words}{names}<rect class="cursor" height="{ROW}" visibility="hidden"/></svg>'
    )


def _verdicts(codes: IntArray, lettered: bool) -> tuple[dict[str, list[str]], list[tuple[int, int, str, str]]]:
    paths: dict[str, list[str]] = {}
    for code, name in enumerate(CODES):
        top, tall = WHOLE if lettered else SHAPES[code]
        at = np.argwhere(codes == code).tolist()
        if at:
            paths[_class(name)] = [_box(i, j, top, tall) for i, j in at]
    texts = [
        (i, j, "on-" + _class(CODES[code]), LETTERS[code])
        for i, row in enumerate(codes.tolist())
        for j, code in enumerate(row)
    ]
    return paths, texts


def _bins(values: FloatArray, edges: tuple[float, ...], letter: str) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = {}
    for i, j in np.argwhere(np.isfinite(values)).tolist():
        # only what is below chance is in the first one: about chance lies within both of the first edges
        name = f"{letter}{int(np.searchsorted(edges, values[i, j], side='right'))}"
        paths.setdefault(name, []).append(_box(i, j, *WHOLE))
    return paths


def _numbers(values: FloatArray) -> list[tuple[int, int, str, str]]:
    """Two digits of each value: .45, −.20; 0 and 1 only where it is exactly that."""
    texts = []
    for i, j in np.argwhere(np.isfinite(values)).tolist():
        value = float(values[i, j])
        text = f"{value:.0f}" if value in (0, 1) else f"{value:.2f}".replace("0.", ".").replace("-", "−")
        texts.append((i, j, "on-deep" if value >= DEEP else "on-pale", text))
    return texts


def _path_of_missing(gone: list[list[int]], lettered: bool) -> str:
    """Cells that are there without a value stay blank; those that are missing are marked as in the other map."""
    if lettered or not gone:
        return ""
    return f'<path class="missing" d="{"".join(_box(i, j, *SHAPES[0]) for i, j in gone)}"/>'


def _box(i: int, j: int, top: float, tall: float) -> str:
    return f"M{j} {i + top:g}h1v{tall:g}h-1z"


def _groups(cells: CellMap, height: int) -> str:
    """Names of groups where there is room, and lines between them."""
    n, parts = len(cells.columns), []
    spans = cells.spans()
    if cells.kind == "groups" or len(spans) in (1, n):
        return ""
    for k, (name, first, last) in enumerate(spans):
        x, width = 100 * first / n, 100 * (last - first) / n
        letters = int(width * 1.5)  # that fit where the map is as wide as on most screens
        text = shortened(name, letters) if letters > 3 or len(name) <= letters else ""
        parts.append(f'<rect class="strip{k % 2}" x="{x:.4g}%" width="{width:.4g}%" height="{STRIP - 4}"/>')
        parts.append(f'<line class="border" x1="{x:.4g}%" x2="{x:.4g}%" y2="{height}"/>' if k else "")
        parts.append(f'<text class="group" x="{x:.4g}%" dx="4" y="12">{escape(text)}</text>' if text else "")
    return "".join(parts)


def _columns(cells: CellMap, y: int) -> tuple[str, int]:
    """Names below the columns, or numbers where columns are narrow, and their height; a list has all the names."""
    n = len(cells.columns)
    if n <= LETTERED:
        names = [shortened(" ".join(name.split()), LONGEST) for name in without_prefix(cells)]
        marks, kind, room = dict(enumerate(names)), "column", 10 + 6 * max(map(len, names), default=0)
    else:
        step = next((step for step in (10, 50, 100, 500) if n <= 20 * step), 1_000)
        marks, kind, room = {at - 1: f"{at:,}" for at in range(step, n + 1, step)}, "place", 18
        y += 8
    texts = (
        f'<text class="{kind}" x="{100 * (j + 0.5) / n:.4g}%" y="{y}">{escape(t)}</text>' for j, t in marks.items()
    )
    return "".join(texts), room


def without_prefix(cells: CellMap) -> list[str]:
    """Names of columns without the beginning that all of their group share, up to a /, _, - or blank."""
    shared = {}
    for group in set(cells.groups):
        names = [name for name, own in zip(cells.columns, cells.groups, strict=True) if own == group]
        if len(names) < 2:
            names = list(cells.columns)
        pairs = enumerate(zip(min(names), max(names), strict=False))
        same = min(names)[: next((i for i, (a, b) in pairs if a != b), None)]
        shared[group] = (re.match(r".*[/_\- ]", same) or [""])[0]
    return [name.removeprefix(shared[group]) or name for name, group in zip(cells.columns, cells.groups, strict=True)]


def _class(verdict: str) -> str:
    return verdict.split()[0]


# ---- the leaderboard's page: a template filled with tables, figures and numbers


def render(board: Leaderboard, failed: Values, shown: CellMap, payload: dict[str, Any]) -> str:
    """The whole page as text."""
    about, missing, lettered = board.about, board.missing_in_words(), len(shown.columns) <= LETTERED
    dots = rows_of_dots(board.rows, [row.measure(board.drawn) for row in board.rows])
    rows, by = row_height(len(board.rows)), name_of(board.drawn)
    grouped = shown.kind == "groups"
    told = any(row.measure(m).told_apart for row in board.rows for m in row.measures)
    away = _key("missing", LETTERS[0], lettered)
    return page(
        "leaderboard/leaderboard.html",
        title=about.title or "Leaderboard",
        kind="leaderboard",
        data=payload | {"figures": {"board-dots": dots}, "signs": {name: one.words for name, one in VERDICTS.items()}},
        styles=("leaderboard/leaderboard.css",),
        script=read("leaderboard/leaderboard.js"),
        name=about.title or "Leaderboard",
        size=board._size,
        missing=missing,
        opening=opening(board.rows, board.pairs is not None),
        answer=_answer(board),
        leader=board.rows[0].verdict if board.rows else "cannot tell",
        notes=about.notes,
        facts=board.facts(),
        alpha=f"{about.alpha:g}",
        level=f"{100 * about.level:.3g}%",
        board=board,
        measures={name: NAMES[name] for name in MEASURES},
        order={word: i for i, word in enumerate(VERDICTS)},
        p_or_dash=p_or_dash,
        share_or_dash=share_or_dash,
        columns=list(zip(shown.columns, shown.groups, strict=True)),
        grouped=any(group not in ("", name) for group, name in zip(shown.groups, shown.columns, strict=True)),
        about_star=""
        if board.pairs is None
        else f"★ {board.ranked_by} not significantly worse than the best, all pairs compared (Holm).",
        about_shade="" if board.pairs is None else "★ and shaded: not significantly worse than the best.",
        about_of=f"{OF}." if told else "",
        groups=_by_group(board),
        standing=" ".join((*board.standing_in_words(), *board.undefined_in_words(), *reconciled(board))),
        drawn_name=by,
        pooled="Mean" if board.drawn in board.metrics else "Pooled",
        ranked_by=board.ranked_by,
        told_apart=any(row.measure(board.drawn).told_apart for row in board.rows),
        rows=rows,
        dots=drawn({"board-dots": dots}, {}, {"board-dots": (WIDE, rows / 72)})["board-dots"],
        map_names=markup(_names(board, "map-names")),
        map_verdict=markup(heat_map(shown, "verdict")),
        map_value=markup(heat_map(shown, "value")),
        least=str(max(len(shown.columns) * (18 if lettered else 3), 100)),
        verdict_word=f"share of verdicts that are {VERDICTS['yes'].words}" if grouped else "verdict",
        verdict_key=markup(_key_of_shares() + away if grouped else _key_of_verdicts(shown)),
        value_key=markup(_key_of_values() + away),
        column_noun="group" if grouped else "series",
        about_map=shown.about,
        about_verdicts=_about_verdicts(shown),
        pairs=board.pairs
        and pair_cells(board.pairs.measures[board.rank_by], about.alpha, board.rank_by in board.lower),
        gone=list(missing_cells(failed, board.detectors)),
        most_listed=MOST_LISTED,
    )


WIDE = 12.0  # inches of the dot plot
MOST_LISTED = 200  # missing cells; failed.jsonl has all


def _by_group(board: Leaderboard) -> list[Any]:
    """Of each detector what was found in each group, with the smaller corrected p; empty without groups."""
    if board.by_group is None:
        return []
    known = {(row.detector, row.group): row for row in board.by_group.rows}

    def told(detector: str, group: str) -> tuple[Any, str]:
        row = known.get((detector, group))
        ps = [] if row is None else [one.corrected for one in (row.precision, row.recall)]
        known_ps = [p for p in ps if not math.isnan(p)]
        return row, show_p(min(known_ps)) if known_ps else ""

    return [(row, [told(row.detector, group) for group in board.by_group.groups]) for row in board.rows]


def pair_cells(matrix: PairMatrix, alpha: float, lower: bool = False) -> list[list[tuple[str, str]]]:
    """Differences, row minus column: an arrow up if the row is better, down if the column is, else none.

    Each with what it is, for the style sheet. ``lower`` says whether lower values are better.
    """

    def cell(i: int, j: int) -> tuple[str, str]:
        value, p = float(matrix.difference[i, j]), float(matrix.corrected[i, j])
        if i == j or math.isnan(value):
            return ("same", "") if i == j else ("untold", "–")
        told = not math.isnan(p) and significant(p, alpha)
        name, sign = ("untold", "") if not told else ("up", "▲") if (value > 0) != lower else ("down", "▼")
        return name, f"{sign}{'−' if value < 0 else '+'}{f'{abs(value):.2f}'.removeprefix('0')}"

    n = len(matrix.difference)
    return [[cell(i, j) for j in range(n)] for i in range(n)]


def opening(rows: Sequence[Any], compared: bool) -> str:
    """Who leads, who cannot be told from it, and who looks like chance, in one sentence.

    ``rows`` have the name of a detector, its verdict, and whether it is among the best, as far as they were compared.
    """
    if not rows:
        return "There are no detectors."
    first, *others = rows
    name = shortened(first.detector, LONG)
    said = [f"{name} leads" if others else f"{name}: {VERDICTS[first.verdict].words}"]
    group: list[str] = []
    if compared and others:
        group = [row.detector for row in others if row.best]
        if len(group) == len(others):
            said.append("no other can be told from it" if len(group) > 1 else f"{_few(group)} cannot be told from it")
        elif group:
            said.append(f"{_few(group)} cannot be told from it")
        else:
            said.append("it is significantly better than every other")
    like = [row.detector for row in rows if row.verdict == "no"]
    looks = f"{'looks' if len(like) == 1 else 'look'} like chance"
    if like and like == group and len(group) < max(len(others), 2):  # the same again
        said[-1] += f" but {looks}"
    elif like and others:
        who = _few(like)
        if len(like) == len(rows):
            who = "all"
        elif len(others) > 1 and like == [row.detector for row in others]:
            who = "all others"
        said.append(f"{who} {looks}")
    return "; ".join(said) + "."


LONG = 40  # letters of a name in a sentence
COUNTED = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _few(names: list[str]) -> str:
    """One or two by name, more by number."""
    if len(names) <= 2:
        return " and ".join(shortened(name, LONG) for name in names)
    return f"{COUNTED[len(names)] if len(names) < len(COUNTED) else f'{len(names):,}'} others"


def _answer(board: Leaderboard) -> str:
    """How many detectors have each verdict."""
    counts = Counter(row.verdict for row in board.rows)
    told = ", ".join(f"{sign.words} {counts[name]}" for name, sign in VERDICTS.items() if counts[name])  # type: ignore[index]
    return f"Better than chance, corrected for {plural(len(board.rows), 'detector')}: {told}."


def reconciled(board: Leaderboard) -> tuple[str, ...]:
    """Where a detector is better than chance on all series together, but shown to be on none alone: why both hold."""
    names = [row.detector for row in board.rows if row.verdict in ("yes", "partly") and row.skill_in == 0]
    if not names:
        return ()
    return (
        f"{_few(names)} {'has' if len(names) == 1 else 'have'} skill on all series together though on no single one it "
        "can be shown: each has too few events for that, and their small advantages add up.",
    )


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
    said = VERDICTS[word].words if word in VERDICTS else word
    return f'<li><span class="swatch k-{word.split()[0]}{shape}" aria-hidden="true">{text}</span>{said}</li>'


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
    said = {name: one.words for name, one in VERDICTS.items()}
    told = ", ".join(
        f"{said.get(word, word)} {count:,}" for word, count in reversed(list(zip(CODES, counts, strict=True))) if count
    )
    return f"{plural(sum(counts), 'cell')}, each with its own verdict before any correction: {told}."
