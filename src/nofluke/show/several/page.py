"""The page about several detectors: an overview, and behind it the own page of each."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import quote

from nofluke.errors import joined, say
from nofluke.inference.compare import Comparison, Difference
from nofluke.inference.report import SideBySide
from nofluke.show.kit import in_names, markup, packed_json, page, read, shortened
from nofluke.show.kit.figure import drawn, row_height
from nofluke.show.leaderboard.page import answer, opening
from nofluke.show.leaderboard.tables import verdict
from nofluke.show.report import Parts, Source
from nofluke.show.report.page import body_of, data_of, script
from nofluke.show.several.drawing import colours, curve_of, curves_of, dot_plots, key_of
from nofluke.show.several.origin import code_of_page, facts_of, title_of
from nofluke.show.several.rows import Row, best_in_words
from nofluke.studies.pooled_row import MEASURES, NAMES, PooledMeasure, p_or_dash
from nofluke.text.tables import plural

# ---- tables of several detectors: the ranking beside chance, all pairs, and the reasons for the verdicts


def address(detector: str) -> str:
    """Where a detector's own page is, within the page."""
    return f"#detector={quote(detector, safe='')}"


def ranking_table(rows: tuple[Row, ...]) -> str:
    """Detectors, best first, with each measure beside chance."""
    heads = "".join(
        f"{_first('value', NAMES[m])}"
        f'<th scope="col" data-columns="{NAMES[m]} chance">chance</th>{_pvalues_head(NAMES[m])}'
        for m in MEASURES
    )
    body = "".join(_ranked(rank, row) for rank, row in enumerate(rows, 1))
    return (
        f'<table class="board"><caption>Detectors, best F1 first, with chance</caption><thead>{_groups(3)}<tr><th '
        f'scope="col">rank</th><th scope="col">detector</th><th '
        f'scope="col">verdict</th>{heads}</tr></thead><tbody>{body}</tbody></table>'
    )


def _groups(columns: int) -> str:
    """The measures, each above its columns."""
    over = "".join(f'<th colspan="{columns}" scope="colgroup" class="first">{NAMES[m]}</th>' for m in MEASURES)
    return f'<tr class="over"><td></td><td colspan="2"></td>{over}</tr>'


def _first(shown: str, name: str) -> str:
    """A value with its interval; ``data-columns`` are the columns of a file that its cells become."""
    return (
        f'<th scope="col" class="first" data-columns="{name}|{name} low|{name} high">{shown} '
        '<span class="interval">[95%]</span></th>'
    )


def _pvalues_head(name: str) -> str:
    return f'<th scope="col" data-columns="{name} p corrected|{name} p">p corrected <span class="interval">uncorrected</span></th>'


def _ranked(rank: int, row: Row) -> str:
    name = escape(row.detector)
    star = ' <span class="star" title="not significantly worse than the best">★</span>' if row.best else ""
    return (
        f'<tr data-verdict="{row.verdict}"{" data-best" if row.best else ""}><td>{rank}</td>'
        f'<th scope="row"><a class="name" title="{name}" href="{address(row.detector)}">{name}</a>{star}</th>'
        f"<td>{verdict(row.verdict)}</td>{''.join(_measure(row.measures[m]) for m in MEASURES)}</tr>"
    )


def _measure(one: PooledMeasure) -> str:
    value, _, interval = one.in_words().replace("undefined", "–").partition(" ")
    return (
        f'<td class="first"><b>{value}</b> <span class="interval">{interval}</span></td><td>{one.chance_in_words()}</td>'
        f"{_pvalues(one)}"
    )


def _pvalues(one: PooledMeasure | Difference, told: bool = False, more: str = "") -> str:
    """What verdicts use, and below it p before correction."""
    if math.isnan(one.pvalue):
        return f'<td class="p"{more}>–</td>'
    corrected = p_or_dash(one.corrected)
    shown = f"<b>{corrected}</b>" if told else corrected
    return f'<td class="p"{more}>{shown} <span class="interval">{p_or_dash(one.pvalue)}</span></td>'


def pairs_table(comparison: Comparison) -> str:
    """The difference of each pair in each measure, with interval and p-values, and whether F1 tells them apart."""
    heads = "".join(_first("difference", f"{NAMES[m]} difference") + _pvalues_head(NAMES[m]) for m in MEASURES)
    names = comparison.detectors
    body = "".join(_pair(comparison, a, b) for i, a in enumerate(names) for b in names[i + 1 :])
    return (
        '<table class="board differences"><caption>Differences of all pairs, first minus second</caption><thead>'
        f'{_groups(2)}<tr><th scope="col">first</th><th scope="col">second</th><th scope="col">differ in F1</th>'
        f"{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _pair(comparison: Comparison, first: str, second: str) -> str:
    found = [comparison.difference(first, second, m) for m in MEASURES]
    told = "–" if math.isnan(found[0].corrected) else "yes" if comparison.told(found[0]) else "no"
    cells = "".join(_difference(one, comparison.told(one)) for one in found)
    heads = "".join(
        f'<th scope="row"><span class="name" title="{n}">{n}</span></th>' for n in map(escape, (first, second))
    )
    return f"<tr{' data-told' if told == 'yes' else ''}>{heads}<td>{told}</td>{cells}</tr>"


def _difference(one: Difference, told: bool) -> str:
    value, _, interval = one.in_words().replace("undefined", "–").partition(" ")
    value = f"<b>{value}</b>" if told else value
    why = f' title="{escape(one.why_no_pvalue)}"' if one.why_no_pvalue else ""
    return f'<td class="first">{value} <span class="interval">{interval}</span></td>{_pvalues(one, told, why)}'


def reasons_table(rows: tuple[Row, ...]) -> str:
    """Why each verdict is what it is, the null behind it, and what a reader should know."""
    body = "".join(
        f'<tr><th scope="row">{escape(row.detector)}</th><td>{verdict(row.verdict)}</td><td>{escape(row.result.names.said(_reason(row)))}</td>'
        f"<td>{escape(row.result.names.said(row.result.settings.choice.described))}</td>"
        f"<td>{escape(row.result.names.said(joined(' ', row.result.notes)))}</td></tr>"
        for row in rows
    )
    return (
        '<table class="findings"><caption>Why: reasons, nulls and notes</caption><thead><tr><th scope="col">detector</th>'
        '<th scope="col">verdict</th><th scope="col">reason</th><th scope="col">null</th><th scope="col">notes</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _reason(row: Row) -> str:
    choice = row.result.settings.choice
    if not row.doubtful:
        return row.ruling.reason
    return say("Under {}, which these {events} contradict: {}", choice.model.text, row.ruling.reason)


# ---- the page about several detectors: an overview, and behind it the own page of each

LETTERS = 26  # of a name among the links at the top
ALONE = say("{Alarms} given without scores are a single point, at the share of steps without {an_alarm}.")
WIDE = 5.4  # inches of a figure


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
        links=[(address(row.detector), row.detector, shortened(row.detector, LETTERS)) for row in rows],
        leader=rows[0].verdict,
        opening=opening(rows, compared=True),
        answer=answer(rows),
        best=best_in_words(found),
        notes=first.names.all_said(comparison.notes),
        dots=[(f"dots-{m}", NAMES[m][:1].upper() + NAMES[m][1:]) for m in MEASURES],
        rows=row_height(len(rows)),
        drawn=drawn(figures, {}, dict.fromkeys(dots, tall)),
        ranking=markup(ranking_table(rows)),
        n=n,
        reasons=markup(reasons_table(rows)),
        key=key_of(curves),
        tolerance=str(first.tolerance),
        alone=first.names.said(ALONE) if any(row.result.sequence.scores is None for row in rows) else "",
        pairs=markup(pairs_table(comparison)),
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
