"""Tables of the leaderboard's page: detectors, all pairs of them, and the cells that are missing."""

from __future__ import annotations

import math
from html import escape

from nofluke.inference.chance import significant
from nofluke.studies.cell_map import CellMap
from nofluke.studies.leaderboard import Leaderboard, Pairs
from nofluke.studies.pooled_row import (
    MEASURES,
    NAMES,
    InGroup,
    Pooled,
    PooledMeasure,
    PooledMetric,
    p_or_dash,
    share_or_dash,
)
from nofluke.studies.store import Values, missing_cells
from nofluke.text.signs import VERDICTS

MOST_LISTED = 200  # missing cells; failed.jsonl has all
MOST_PRINTED = 40  # of them; the style sheet hides the others on paper
OPEN_ON_PAPER = 400  # names of columns that are printed


def detectors_table(board: Leaderboard) -> str:
    """Each detector with its pooled measures; ``data-v`` is what a column is sorted by."""
    heads = "".join(
        _head(f"value [{100 * board.about.level:.3g}%]", "down", NAMES[m], ' class="first"')
        + _head("chance", "down", NAMES[m])
        + _head("p", "up", NAMES[m])
        for m in MEASURES
    )
    kept = ' data-columns="series yes"'  # as programs read it
    every = (("no fluke", "down", "", kept), ("skill in", "down"), ("series", "down"))
    rest = "".join(_head(*column) for column in every)
    over = "".join(f'<th colspan="3" scope="colgroup" class="first">{NAMES[m].capitalize()}</th>' for m in MEASURES)
    rows = "".join(_row(rank, row) for rank, row in enumerate(board.rows, 1))
    return (
        f'<table id="board" class="board"><thead><tr class="over"><td></td><td colspan="2"></td>{over}<td colspan="3" class="first"></td></tr>'
        f"<tr>{_head('rank', 'up')}{_head('detector', 'up')}{_head('verdict', 'up')}{heads}{rest}</tr></thead><tbody>{rows}</tbody></table>"
    )


def metrics_table(board: Leaderboard) -> str:
    """Each detector with its metrics, in the order of the leaderboard; nothing where none was asked for."""
    if not board.metrics:
        return ""
    heads = "".join(
        _head("verdict", "up", escape(name), ' class="first told"')
        + _head(f"mean [{100 * board.about.level:.3g}%]", _first(board, name), escape(name))
        + _head("chance", _first(board, name), escape(name))
        + _head("corrected", "down", escape(name))
        + _head("p", "up", escape(name))
        for name in board.metrics
    )
    over = "".join(f'<th colspan="5" scope="colgroup" class="first">{escape(name)}</th>' for name in board.metrics)
    rows = "".join(
        f'<tr data-name="{escape(row.detector)}" data-verdict="{row.verdict}"{" data-best" if row.best else ""}>'
        f'<td data-v="{rank}">{rank}</td>{_named(row)}{"".join(map(_metric, row.metrics))}</tr>'
        for rank, row in enumerate(board.rows, 1)
    )
    return (
        f'<table id="metrics-table" class="board"><thead><tr class="over"><td></td><td></td>{over}</tr>'
        f"<tr>{_head('rank', 'up')}{_head('detector', 'up')}{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def groups_table(board: Leaderboard) -> str:
    """Verdicts by detector and group, each with the smaller of both corrected p-values; nothing without groups."""
    found = board.by_group
    if found is None:
        return ""
    known = {(row.detector, row.group): row for row in found.rows}
    heads = "".join(f'<th scope="col">{escape(group)}</th>' for group in found.groups)
    rows = []
    for row in board.rows:
        cells = "".join(_in_group(known.get((row.detector, group))) for group in found.groups)
        rows.append(f"<tr>{_named(row)}{cells}</tr>")
    return (
        f'<table class="board groups"><thead><tr><th scope="col">detector</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _in_group(row: InGroup | None) -> str:
    if row is None:
        return "<td>–</td>"
    known = [p for p in (row.precision.corrected, row.recall.corrected) if not math.isnan(p)]
    p = f" <small>p {p_or_dash(min(known))}</small>" if known else ""
    return f'<td title="{escape(row.reason)}">{verdict(row.verdict)}{p}</td>'


def _first(board: Leaderboard, metric: str) -> str:
    """In which direction values of a metric are sorted first: better ones on top."""
    return "up" if metric in board.lower else "down"


def _metric(found: PooledMetric) -> str:
    value, chance, p = _parts(found)
    return (
        f'<td class="first told" data-v="{list(VERDICTS).index(found.verdict)}" title="{escape(found.reason)}">'
        f"{verdict(found.verdict)}</td><td{_key(found.value)}>{value}{_tried(found)}</td>{chance}"
        f"{_cell(found.above_chance, share_or_dash(found.above_chance))}{p}"
    )


def _tried(found: PooledMetric) -> str:
    """On how many series a metric is undefined."""
    return f' <span class="gone">undefined on {found.n_undefined:,} series</span>' if found.n_undefined else ""


def _head(name: str, first: str, of: str = "", more: str = "") -> str:
    """A heading; scripts make it a button, which sorts in this direction first and is called after its measure too."""
    return f'<th scope="col" data-first="{first}" data-called="{f"{of} {name}".strip()}"{more}>{name}</th>'


def _row(rank: int, row: Pooled) -> str:
    measures = "".join(_measure(row.measure(name)) for name in MEASURES)
    series = f"{row.n_series:,}" + (f' <span class="gone">({row.n_failed:,} missing)</span>' if row.n_failed else "")
    return (
        f'<tr data-name="{escape(row.detector)}" data-verdict="{row.verdict}"{" data-best" if row.best else ""}>'
        f'<td data-v="{rank}">{rank}</td>{_named(row)}<td data-v="{list(VERDICTS).index(row.verdict)}" title="{escape(row.reason)}">{verdict(row.verdict)}</td>{measures}'
        f"{_cell(row.share_yes, share_or_dash(row.share_yes), 'first')}{_cell(row.skill_in, row.skill_in_words())}"
        f'<td data-v="{row.n_series}">{series}</td></tr>'
    )


def _named(row: Pooled) -> str:
    """The cell with a detector's name."""
    name = escape(row.detector)
    star = ' <span class="star" title="not significantly worse than the best">★</span>' if row.best else ""
    return f'<th scope="row" data-v="{name}"><span class="name" title="{name}">{name}</span>{star}</th>'


def _measure(found: PooledMeasure) -> str:
    value, chance, p = _parts(found)
    return f'<td class="first"{_key(found.value)}>{value}</td>{chance}{p}'


def _parts(found: PooledMeasure) -> tuple[str, str, str]:
    """The value with its interval, and the cells of chance and p."""
    value, _, interval = found.in_words().partition(" ")
    chance, _, of = found.chance_in_words().partition(" ")
    return (
        f'<b>{value}</b> <span class="interval">{interval}</span>',
        _cell(found.expected, f'{chance} <span class="of">{of}</span>' if of else chance),
        f'<td class="p"{_key(found.corrected)} title="p before correction: {p_or_dash(found.pvalue)}; {escape(found.method)}">'
        f"{p_or_dash(found.corrected)}</td>",
    )


def _cell(value: float, text: str, name: str = "") -> str:
    return f'<td class="{name}"{_key(value)}>{text}</td>'


def _key(value: float) -> str:
    return f' data-v="{"" if math.isnan(value) else repr(float(value))}"'


def verdict(word: str) -> str:
    """A verdict with its sign, so that no colour is needed."""
    sign = VERDICTS[word]
    return f'<span class="word" data-verdict="{word}"><span aria-hidden="true">{sign.symbol}</span> {sign.words}</span>'


def pairs_table(pairs: Pairs, alpha: float, by: str = "f1", lower: bool = False) -> str:
    """Differences of a measure, row minus column, marked where they are told from 0 after correction.

    ``lower`` says whether lower values are better.
    """
    matrix = pairs.measures[by]
    numbers = range(len(pairs.detectors))
    heads = "".join(
        f'<th scope="col" title="{escape(pairs.detectors[j])}"><span class="unseen">{escape(pairs.detectors[j])}</span>'
        f'<span aria-hidden="true">{j + 1}</span></th>'
        for j in numbers
    )
    rows = "".join(
        f'<tr><th scope="row"><span class="rank">{i + 1}</span> <span class="name" title="{escape(name)}">{escape(name)}</span></th>'
        + "".join(
            difference(float(matrix.difference[i, j]), float(matrix.corrected[i, j]), alpha, i == j, lower)
            for j in numbers
        )
        + "</tr>"
        for i, name in enumerate(pairs.detectors)
    )
    return f'<table id="pairs-table" class="pairs" style="--n: {len(pairs.detectors)}"><thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def difference(value: float, corrected: float, alpha: float, same: bool = False, lower: bool = False) -> str:
    """One cell: an arrow up if the row is better, down if the column is, just the number if neither is certain."""
    if same or math.isnan(value):
        return f'<td class="{"same" if same else "untold"}">{"" if same else "–"}</td>'
    told = not math.isnan(corrected) and significant(corrected, alpha)
    name, sign = ("up", "▲") if told and (value > 0) != lower else ("down", "▼") if told else ("untold", "")
    return f'<td class="{name}">{sign}{"−" if value < 0 else "+"}{f"{abs(value):.2f}".removeprefix("0")}</td>'


def missing_table(failed: Values, detectors: tuple[str, ...]) -> str:
    """Cells without a result and why; the first of many."""
    gone = list(missing_cells(failed, detectors))
    if not gone:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(series)}</th><td>{escape(detector)}</td><td>{escape(reason)}</td></tr>'
        for series, detector, reason in gone[:MOST_LISTED]
    )
    more = "".join(
        f"<p class='fine {name}'>The first {most} of {len(gone):,}; failed.jsonl has all.</p>"
        for name, most in (("on-screen", MOST_LISTED), ("on-paper", MOST_PRINTED))
        if len(gone) > most
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Cells without a result"><table class="findings"><thead><tr><th scope="col">series</th><th scope="col">detector</th>'
        f'<th scope="col">why there is no result</th></tr></thead><tbody>{rows}</tbody></table></div>{more}'
    )


def columns_list(cells: CellMap) -> str:
    """Names of the map's columns in their order, with groups where there are any."""
    grouped = any(group not in ("", name) for group, name in zip(cells.groups, cells.columns, strict=True))
    items = "".join(
        f"<li>{escape(name)}{f' <span class=gone>({escape(group)})</span>' if grouped else ''}</li>"
        for name, group in zip(cells.columns, cells.groups, strict=True)
    )
    many = ' class="many"' if len(cells.columns) > OPEN_ON_PAPER else ""
    return f'<details id="columns"{many}><summary>Columns, from left to right</summary><ol>{items}</ol></details>'


def reasons_list(board: Leaderboard) -> str:
    """The reason of each verdict, how chance was computed, and notes."""
    return "".join(
        f"<dt>{escape(row.detector)}</dt><dd>{verdict(row.verdict)}. {escape(' '.join([row.reason, *row.notes]))}"
        + "".join(f"<br>{escape(one.name)}: {verdict(one.verdict)}. {escape(one.reason)}" for one in row.metrics)
        + "</dd>"
        for row in board.rows
    )
