"""The page of a ranking: verdict, both answers, table, groups and intervals, all pairs; nothing needs a script."""

from __future__ import annotations

import math
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from nofluke import __version__
from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError
from nofluke.show.dots import BELOW, DOT_ROW, shortened
from nofluke.show.leaderboard.tables import pairs_table
from nofluke.show.report.page import document, filled, palette
from nofluke.show.ticks import number_ticks
from nofluke.studies.leaderboard import PairMatrix, Pairs
from nofluke.studies.rank import SPEAKS, Answer, Ranking
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, show_share

ROW, BAR, ABOVE = 22, 12, 34  # pixels of a name, of a group and for the ticks
LEFT, RIGHT = 27.0, 73.0  # percent between which the methods lie
LONGEST = 26  # letters of a name beside the diagram
STYLE = """
.board td:nth-child(3) { white-space: nowrap; }
#questions table { width: auto; } #questions td, #questions th { text-align: left; padding: .3rem 1rem .3rem 0; vertical-align: top; }
.diagram { display: block; overflow: visible; max-width: 62rem; } .diagram text { font-size: 12px; fill: var(--ink); }
.diagram line { stroke: var(--ink); stroke-width: 1; } .diagram .tick { text-anchor: middle; fill: var(--soft); }
.diagram .bar { stroke: var(--observed); stroke-width: 3; } .diagram .member { fill: var(--observed); }
@media print { .board tr > :last-child:not([colspan]) { display: table-cell; } }
"""


def write_ranking(found: Ranking, path: str | Path, *, title: str | None = None) -> Path:
    """Write the page, which needs no network and no other package, and return where it is."""
    target = expanded(path, "path")
    check_place(target, f"path={str(path)!r}")
    write_file(target, make_ranking_page(found, title=title), f"path={str(path)!r}")
    return target


def make_ranking_page(found: Ranking, *, title: str | None = None) -> str:
    """The page that `write_ranking` writes, as text."""
    if title is not None and not isinstance(title, str):
        raise InputError(argument="title", value=title, problem="must be text")
    answer, name = found.answer, title or "Ranking"
    page = {
        "title": escape(name),
        "size": escape(found.title),
        "version": __version__,
        "answer": escape(found.verdict_in_words()),
        "notes": "<br>".join(map(escape, found.notes)),
        "questions": _questions(found),
        "board": _board(found),
        "units": answer.units,
        "alpha": f"{found.alpha:g}",
        "level": f"{100 * (1 - found.alpha):.3g}%",
        "best": escape(found.best),
        "groups": groups_diagram(found),
        "names": _names(found),
        "dots": difference_plot(found),
        "values": "".join(f"<li>{escape(_ends(found, i))}</li>" for i in range(len(found.methods))),
        "pairs": _pairs(found),
        "facts": "".join(f"<dt>{escape(one)}</dt><dd>{escape(told)}</dd>" for one, told in found.facts()),
    }
    here = files("nofluke.show")
    sheets = ("report/report.css", "board.css", "leaderboard/leaderboard.css")
    return document(
        name,
        filled(here.joinpath("ranking/ranking.html").read_text(encoding="utf-8"), page),
        kind="ranking",
        style=palette() + "".join(here.joinpath(one).read_text(encoding="utf-8") for one in sheets) + STYLE,
        data={},
        script="",
    )


def _questions(found: Ranking) -> str:
    """Both answers, a row each."""
    heads = ("units", "speaks for", "told from the best", "pairs told apart", "to tell the first from the second")
    pairs, others = len(found.methods) * (len(found.methods) - 1) // 2, len(found.methods) - 1
    rows = [
        (
            plural(one.n_units, one.unit, one.units),
            SPEAKS[one.units],
            f"{int(one.told[0].sum())} of {others}" if one.can_tell else f"cannot tell (it takes {one.enough})",
            f"{one.n_told:,} of {pairs:,}",
            _needed(one),
        )
        for one in found.answers
    ]
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>' + "".join(f"<td>{escape(text)}</td>" for text in row[1:]) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _needed(one: Answer) -> str:
    if one.told[0, 1]:
        return "told"
    return "–" if one.needed is None else f"about {float(f'{max(one.needed, one.enough):.2g}'):,.0f} {one.units}"


def _board(found: Ranking) -> str:
    heads = (
        "rank",
        "method",
        "from the best",
        "mean",
        "mean rank",
        "difference",
        *(f"p, {a.units}" for a in found.answers),
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    rows = []
    for i, name in enumerate(found.methods):
        told = bool(found.answer.told[0, i])
        star = "" if told else ' <span class="star" title="not shown to differ from the best">★</span>'
        word = "leads" if not i else "differs" if told else "not shown to differ"
        value, interval = found._difference_in_words(i, 0).partition(" ")[::2] if i else ("", "")
        cells = [
            f"{i + 1}",
            f'<th scope="row"><span class="name" title="{escape(name)}">{escape(name)}</span>{star}</th>',
            word,
            f"<b>{show_share(float(found.means[i]))}</b>",
            "–" if math.isnan(found.mean_ranks[i]) else f"{found.mean_ranks[i]:.2f}",
            f'{value} <span class="interval">{interval}</span>',
            *(show_p(float(one.pvalue[i, 0])) if i else "" for one in found.answers),
        ]
        line = "".join(cell if cell.startswith("<th") else f"<td>{cell}</td>" for cell in cells)
        rows.append(f"<tr{'' if told else ' data-best'}>{line}</tr>")
    return f'<table id="board" class="board"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def groups_diagram(found: Ranking) -> str:
    """The critical-difference diagram as SVG: places along x are percentages, so that letters keep their shape."""
    n, groups = len(found.methods), found.answer.groups()
    at = found.means[0] + np.nan_to_num(found.differences[:, 0])
    low, high = float(at.min()), float(at.max())
    pad = 0.04 * (high - low) or abs(high) / 2 or 0.5
    low, high = low - pad, high + pad

    def x(value: float) -> float:
        share = (value - low) / (high - low)
        return LEFT + (RIGHT - LEFT) * (share if found.better == "higher" else 1 - share)

    first, on_right = ABOVE + BAR * (len(groups) + 1), (n + 1) // 2
    marks = [_line(LEFT, ABOVE, RIGHT, ABOVE)]
    for tick in number_ticks(low, high, most=6):
        if low <= tick.at <= high:
            marks.append(_line(x(tick.at), ABOVE - 5, x(tick.at), ABOVE))
            marks.append(f'<text class="tick" x="{x(tick.at):.4g}%" y="{ABOVE - 10}">{escape(tick.text)}</text>')
    for k, (name, value) in enumerate(zip(found.methods, at.tolist(), strict=True)):
        right = k < on_right
        y = first + ROW * ((k if right else n - 1 - k) + 0.5)
        edge, anchor = (RIGHT + 1, "start") if right else (LEFT - 1, "end")
        text = f"{shortened(name, LONGEST)} {show_share(float(found.means[k]))}"
        marks.append(_line(x(value), ABOVE, x(value), y) + _line(x(value), y, edge, y))
        marks.append(
            f'<text x="{edge + (0.6 if right else -0.6):.4g}%" y="{y + 4:g}" text-anchor="{anchor}">{escape(text)}</text>'
        )
    for row, group in enumerate(groups):
        y, places = ABOVE + BAR * (row + 1), [x(float(at[k])) for k in group]
        marks.append(_line(min(places), y, max(places), y, "bar"))
        marks += [f'<circle class="member" cx="{place:.4g}%" cy="{y}" r="4"/>' for place in places]
    height = first + ROW * on_right + 6
    return f'<svg class="diagram" width="100%" height="{height}" role="img" aria-labelledby="about-groups">{"".join(marks)}</svg>'


def _line(x1: float, y1: float, x2: float, y2: float, name: str = "") -> str:
    kind = f' class="{name}"' if name else ""
    return f'<line{kind} x1="{x1:.4g}%" y1="{y1:g}" x2="{x2:.4g}%" y2="{y2:g}"/>'


def difference_plot(found: Ranking) -> str:
    """Differences from the best with intervals, a row for each method."""
    n, answer = len(found.methods), found.answer
    value, low, high = (
        np.where(np.isnan(one), 0.0, one) for one in (found.differences[:, 0], answer.low[:, 0], answer.high[:, 0])
    )
    ends = float(min(value.min(), low.min())), float(max(value.max(), high.max()))
    pad = 0.03 * (ends[1] - ends[0]) or 0.5
    start, end = ends[0] - pad, ends[1] + pad

    def x(one: float) -> float:
        return 100 * (one - start) / (end - start)

    marks = [
        f'<rect class="best" width="100%" y="{DOT_ROW * i}" height="{DOT_ROW}"/>'
        for i in range(n)
        if not answer.told[0, i]
    ]
    for tick in number_ticks(start, end, most=7):
        if start <= tick.at <= end:
            marks.append(_line(x(tick.at), 0, x(tick.at), DOT_ROW * n, "chance" if tick.at == 0 else "rule"))
            marks.append(f'<text class="tick" x="{x(tick.at):.4g}%" y="{DOT_ROW * n + 16}">{escape(tick.text)}</text>')
    for i, name in enumerate(found.methods):
        y = DOT_ROW * (i + 0.5)
        if not math.isnan(answer.low[i, 0]):
            marks.append(_line(x(float(low[i])), y, x(float(high[i])), y, "interval"))
        told = escape(f"{name}: {_ends(found, i)}")
        marks.append(
            f'<circle class="dot" cx="{x(float(value[i])):.4g}%" cy="{y}" r="5"><title>{told}</title></circle>'
        )
    return (
        f'<svg class="dots" width="100%" height="{DOT_ROW * n + BELOW}" role="img" aria-labelledby="about-dots">'
        f"{''.join(marks)}</svg>"
    )


def _ends(found: Ranking, i: int) -> str:
    return found._difference_in_words(i, 0) if i else "best"


def _names(found: Ranking) -> str:
    items = "".join(
        f'<li{"" if told else " data-best"} title="{escape(name)}">{escape(name)}</li>'
        for name, told in zip(found.methods, found.answer.told[0].tolist(), strict=True)
    )
    return f'<ol class="dots-names" aria-hidden="true">{items}</ol>'


def _pairs(found: Ranking) -> str:
    """Differences of all pairs, row minus column, marked where they are told from 0."""
    p = found.answer.pvalue
    values = PairMatrix(
        difference=found.differences, low=found.answer.low, high=found.answer.high, pvalue=p, corrected=p
    )
    return pairs_table(Pairs(detectors=found.methods, measures={"f1": values}), found.alpha)
