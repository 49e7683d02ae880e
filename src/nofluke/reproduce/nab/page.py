"""The page about NAB: one self-contained HTML file, in the form of the paper's reproduction."""

from __future__ import annotations

from html import escape

from nofluke import __version__
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.markup import claims_table, document, figure, table
from nofluke.reproduce.nab.claims import BAYES, CONSTANT, RANDOM, told
from nofluke.reproduce.nab.study import NabStudy
from nofluke.reproduce.nab.tables import beside_chance, of_ties, on_windows
from nofluke.studies.pooled_row import NAMES
from nofluke.text.tables import plural

NUMBERS = {"recall": 1, "precision": 2, "f1": 3}


def render(study: NabStudy, claims: tuple[Claim, ...], drawn: Drawn) -> str:
    """The whole page."""
    title = "NAB's published detectors compared with chance"
    body = [
        f"<h1>{title}</h1>",
        f'<p class="byline">{len(study.detectors)} detectors on {escape(study.size)}, read from {escape(study.source)}, '
        f"by nofluke {__version__}.</p>",
        _abstract(study, claims),
        _compared(study),
        *_points(study, drawn),
        "<h2>The statements</h2>",
        f'<p>{tally(claims)}. The same list is in <a href="claims.json">claims.json</a>.</p>',
        claims_table(claims),
        _quantile(study),
        _windows(study),
        _teaches(),
        _colophon(study),
    ]
    return document(title, body)


def _abstract(study: NabStudy, claims: tuple[Claim, ...]) -> str:
    named = [row for name in (BAYES, RANDOM) if (row := study.row("permutation", name)) is not None]
    told_of = " ".join(f"{escape(row.detector)} has a {told(row)}." for row in named)
    return (
        "<p>The Numenta Anomaly Benchmark publishes the scores of its detectors, two of which know nothing: "
        f"<code>{RANDOM}</code>, uniform noise, and <code>{CONSTANT}</code>, a constant. Here every detector is "
        f"compared with what chance gives, pooled over series. {told_of} {tally(claims)}.</p>"
    )


def _compared(study: NabStudy) -> str:
    clock = (
        "Series come with their clocks, except those whose times do not increase, so daily and weekly seasons are "
        "visible."
        if study.clock
        else "Series are read without a clock, since some have times that do not increase: daily or weekly seasons are visible only as periods of steps."
    )
    return (
        "<h2>What is compared</h2>"
        "<p><strong>Events and alarms.</strong> Events are NAB's point labels. Alarms are the highest scores, on at most 1% of the steps of a "
        "series; scores tied at the cut are left out. An alarm finds an event within 1% of the series' length, before or after it. "
        f"{clock}</p>"
        "<p><strong>Chance.</strong> There are two nulls. By <em>permutation</em>, the paper's null, events fall "
        "anywhere, independently of each other. By <em>auto</em> they move in a way that fits the data: mostly by "
        "rotating the series, which keeps runs of alarms and nearby events together, or only locally, where rates "
        "change along the series. Hits are summed over series, and chance is the law of that sum. P-values are "
        "corrected for the number of detectors (Holm).</p>"
    )


def _points(study: NabStudy, drawn: Drawn) -> list[str]:
    caption = (
        "Recall and precision of sums over series (dots), and what chance gives by permutation (bars) and by the null "
        "that fits the data (rings). What counts is the distance."
    )
    tables = [
        table(
            f"Table {i}. {NAMES[m].capitalize()} [95%], chance and corrected p by both nulls.", *beside_chance(study, m)
        )
        for m, i in NUMBERS.items()
    ]
    left = {row.detector: row.n_series - row.n_told for row in study.rows["auto"].values()}
    gone = ", ".join(f"{escape(name)} {n}" for name, n in left.items() if n)
    note = f"<p>On some series no null holds for some detectors, and chance by auto covers only the others. Left out: {gone}.</p>"
    boards = ", ".join(f'<a href="{name}/leaderboard.html">{name}</a>' for name in study.studies)
    return [
        "<h2>Detectors compared with chance</h2>",
        figure(drawn, 1, caption),
        *tables,
        note if gone else "",
        f"<p>Verdicts, comparisons of all pairs, and every single series are on the leaderboards: {boards}.</p>",
    ]


def _quantile(study: NabStudy) -> str:
    many, n = sum(one.many for one in study.ties), sum(one.cells for one in study.ties)
    return (
        "<h2>A quantile is not a budget</h2>"
        "<p>Many published scores are tied: most steps have the lowest score, or the highest. The .99 quantile then falls on a tie, and all "
        f"tied steps become alarms: in {many} of {plural(n, 'cell')} more than 5% of all steps. A budget leaves out scores tied at the cut.</p>"
        + table("Table 4. Alarms at the .99 quantile: in how many series.", *of_ties(study))
    )


def _windows(study: NabStudy) -> str:
    if study.windows is None:
        return ""
    return (
        "<h2>Windows instead of points</h2>"
        "<p>NAB itself scores by windows around its labels. Here each window is one event, found by any alarm within it, without a tolerance, since the window already is one. Windows are moved whole, which permutation cannot do: chance is by the null that fits the data.</p>"
        + table("Table 5. Windows as events, alarms on at most 1% of the steps.", *on_windows(study))
    )


def _teaches() -> str:
    return (
        "<h2>What it teaches</h2><ul>"
        "<li>A recall means little by itself. Alarms scattered over a long series find every event within a generous tolerance, whatever "
        "they know. Ask how much of a recall is due to chance.</li>"
        "<li>The null matters. Where alarms keep to the part of a series in which the events lie, chance scores more "
        "if events move only locally than if they can fall anywhere; and a run of alarms is one try, not many, which "
        "makes chance vary more. The verdicts over all series are the same either way; p-values and the distance from "
        "chance are not.</li><li>A single series of NAB has one to five events, which is hardly enough to tell a "
        "detector from chance. All of them together are enough: pool first, then ask.</li><li>State alarms as a "
        "budget. With tied scores a quantile decides nothing.</li><li>Put a detector that knows nothing into every "
        "table. It shows what the other numbers are worth.</li></ul>"
    )


def _colophon(study: NabStudy) -> str:
    command = f"nofluke reproduce --nab {study.source} --seed {study.seed} --permutations {study.n_resamples} -o out/"
    return (
        "<footer><h2>How this was made</h2>\n"
        f"<pre>{escape(command)}</pre>\n"
        f"<p>Anything without an exact law is simulated with seed {study.seed}. The same data, "
        "seed and versions give the same bytes. Next to this page are the "
        'figure as SVG, PDF and PNG, the numbers of all tables in <a href="table.csv">table.csv</a> and <a href="ties.csv">ties.csv</a>, and a '
        "folder for each study. Data: Lavin and Ahmad (2015), Evaluating real-time anomaly detection algorithms, github.com/numenta/NAB.</p></footer>"
    )
