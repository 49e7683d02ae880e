"""The page of a ranking: verdict, both answers, table, groups and intervals, all pairs; only hints need a script."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.plot.study import ranking as plot_ranking
from nofluke.show.kit import markup, page, shortened, written
from nofluke.show.kit.figure import Description, by_row, drawn, plotted, row_height
from nofluke.show.leaderboard.page import pair_cells
from nofluke.studies.leaderboard import PairMatrix
from nofluke.studies.rank import SPEAKS, Answer, Ranking
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, show_share

LONGEST = 26  # letters of a name beside a row


def write_ranking(found: Ranking, path: str | Path, *, title: str | None = None) -> Path:
    """Write the page, and return where it is."""
    return written(path, lambda: make_ranking_page(found, title=title), title)


def make_ranking_page(found: Ranking, *, title: str | None = None) -> str:
    """The page that `write_ranking` writes, as text."""
    answer, name = found.answer, title or "Ranking"
    dots, rows = difference_plot(found), row_height(len(found.methods))
    return page(
        "ranking/ranking.html",
        title=name,
        kind="ranking",
        data={"figures": {"dots-ranking": dots}},
        styles=("leaderboard/leaderboard.css", "ranking/ranking.css"),
        script="opened((data) => { startStill(data.figures); addDownloads(one('main')); "
        "document.documentElement.dataset.ready = 'yes'; });",
        name=name,
        size=found.title,
        answer_words=found.verdict_in_words(),
        notes=found.notes,
        questions=_questions(found),
        heads=(
            "rank",
            "method",
            "from the best",
            "mean",
            "mean rank",
            "difference",
            *(f"p, {a.units}" for a in found.answers),
        ),
        board=_board(found),
        methods=found.methods,
        units=answer.units,
        alpha=f"{found.alpha:g}",
        level=f"{100 * (1 - found.alpha):.3g}%",
        best=found.best,
        groups=markup(groups_diagram(found)),
        dots=drawn({"dots-ranking": dots}, {}, {"dots-ranking": (12.0, rows / 72)})["dots-ranking"],
        rows=rows,
        pairs=_pairs(found),
        facts=found.facts(),
    )


def _questions(found: Ranking) -> list[tuple[str, ...]]:
    """Both answers, a row each."""
    pairs, others = len(found.methods) * (len(found.methods) - 1) // 2, len(found.methods) - 1
    return [
        (
            plural(one.n_units, one.unit, one.units),
            SPEAKS[one.units],
            f"{int(one.told[0].sum())} of {others}" if one.can_tell else f"cannot tell (it takes {one.enough})",
            f"{one.n_told:,} of {pairs:,}",
            _needed(one),
        )
        for one in found.answers
    ]


def _needed(one: Answer) -> str:
    if one.told[0, 1]:
        return "told"
    return "–" if one.needed is None else f"about {float(f'{max(one.needed, one.enough):.2g}'):,.0f} {one.units}"


def _board(found: Ranking) -> list[tuple[Any, ...]]:
    """Of each method its name, whether it is told from the best, and the texts of its row."""
    told = found.answer.told[0].tolist()
    return [
        (
            name,
            told[i],
            "leads" if not i else "differs" if told[i] else "not shown to differ",
            show_share(float(found.means[i])),
            "–" if math.isnan(found.mean_ranks[i]) else f"{found.mean_ranks[i]:.2f}",
            found._difference_in_words(i, 0) if i else "",
            [show_p(float(one.pvalue[i, 0])) if i else "" for one in found.answers],
        )
        for i, name in enumerate(found.methods)
    ]


def groups_diagram(found: Ranking) -> str:
    """The critical-difference diagram, as `nofluke.plot.ranking` draws it."""
    n = len(found.methods)
    rows = len(found.answer.groups()) + (n + 1) // 2
    return plotted("groups-diagram", lambda ax: plot_ranking(found, ax), (9.0, 1.0 + 0.24 * rows))


def difference_plot(found: Ranking) -> Description:
    """Differences from the best with intervals, a row for each method."""
    n, answer = len(found.methods), found.answer
    up = [n - 1 - i for i in range(n)]
    value = np.nan_to_num(found.differences[:, 0]).tolist()
    ends = [(float(low), float(high)) for low, high in zip(answer.low[:, 0], answer.high[:, 0], strict=True)]
    seen = [x for pair in ends for x in pair if not math.isnan(x)] + value
    low, high = min(seen), max(seen)
    pad = 0.03 * (high - low) or 0.5
    best = [[low - pad, high + pad]]
    layers: list[Description] = [
        {"kind": "boxes", "name": "best", "spans": best, "low": y - 0.5, "high": y + 0.5}
        for y, differs in zip(up, answer.told[0].tolist(), strict=True)
        if not differs
    ]
    layers.append({"kind": "rule", "name": "chance", "x": 0})
    layers += [
        {"kind": "line", "name": "observed", "x": list(pair), "y": [y, y]}
        for y, pair in zip(up, ends, strict=True)
        if not math.isnan(pair[0])
    ]
    layers.append({"kind": "line", "name": "points", "x": value, "y": up, "dots": True})
    names = [shortened(" ".join(name.split()), LONGEST) for name in found.methods]
    told = [found._difference_in_words(i, 0) if i else "best" for i in range(n)]
    texts = [f"{name}: {words}" for name, words in zip(found.methods, told, strict=True)]
    return by_row(names, (low - pad, high + pad), layers, texts, (told, ["soft"] * n))


def _pairs(found: Ranking) -> list[list[tuple[str, str]]]:
    """Differences of all pairs, marked where they are told from 0."""
    answer = found.answer
    ends = {"low": answer.low, "high": answer.high, "pvalue": answer.pvalue, "corrected": answer.pvalue}
    return pair_cells(PairMatrix(difference=found.differences, **ends), found.alpha)
