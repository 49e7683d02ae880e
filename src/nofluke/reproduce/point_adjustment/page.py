"""The page about point adjustment: one self-contained HTML file, in the form of the paper's reproduction."""

from __future__ import annotations

from html import escape

from nofluke import __version__
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.markup import claims_table, document, figure, listed, table
from nofluke.reproduce.point_adjustment.claims import level_at_fixed_share
from nofluke.reproduce.point_adjustment.figures import rows_of
from nofluke.reproduce.point_adjustment.study import FEW, ROTATED, SHARES, AdjustmentStudy, Case
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.tables import show_share

PUBLISHED_IN = "Xu et al. (2022), Anomaly Transformer, ICLR"
QUOTED_IN = "github.com/thuml/Anomaly-Transformer/issues/34"


def render(study: AdjustmentStudy, claims: tuple[Claim, ...], figures: dict[str, Drawn]) -> str:
    """The whole page."""
    title = "Point-adjusted F1: published values and random scores"
    body = [
        f"<h1>{title}</h1>",
        f'<p class="byline">Four benchmarks, their public labels, and no detector at all, by nofluke {__version__}.</p>',
        _abstract(study, claims),
        _compared(study),
        _published(study, figures),
        "<h2>The statements</h2>",
        f'<p>{tally(claims)}. The same list is in <a href="claims.json">claims.json</a>. A statement about a published value '
        "holds if at most one in twenty random scores reach it; if 1 in 20 lies within two Monte Carlo errors, it "
        "cannot be checked.</p>",
        claims_table(claims),
        _may_differ(study, figures),
        _rotated(study),
        _colophon(study),
    ]
    return document(title, body)


def _abstract(study: AdjustmentStudy, claims: tuple[Claim, ...]) -> str:
    means = listed([f"{show_share(case.random.expected)} on {case.name}" for case in study.cases])
    level = listed(level_at_fixed_share(study)) or "none of them"
    return (
        "<p>Point adjustment counts a whole labelled range as found as soon as one of its steps has an alarm. Papers "
        "then take F1 of the steps. A long range offers many steps to hit by luck: random numbers instead of a "
        f"detector's scores, with the threshold at which they do best, have a point-adjusted F1 of {means}. They are "
        f"compared with the values of a published state of the art. With alarms on a fixed share of the steps, which "
        f"is closer to how its thresholds were chosen, random scores are level with it on {level}. {tally(claims)}.</p>"
    )


def _compared(study: AdjustmentStudy) -> str:
    rows = [
        (
            case.name,
            f"{len(case.labels.truth):,}",
            f"{len(case.labels.entities)}",
            f"{case.labels.n_ranges}",
            f"{case.share_labelled:.1%}",
            case.labels.source,
        )
        for case in study.cases
    ]
    return "\n".join(
        [
            "<h2>What is compared</h2>",
            "<p><strong>Chance.</strong> Every step of the test part gets an independent random number as its score. The threshold is "
            "the one with the highest point-adjusted F1, so chance may choose it too. Entities are concatenated into "
            f"one series, in the order of the source, and scored together. There are {study.n_resamples:,} such random "
            "scores for each benchmark; they need not be made step by step, since all that matters is the highest "
            "score of each range and how many other steps score above it.</p>",
            f"<p><strong>Published values.</strong> {escape(PUBLISHED_IN)}, as quoted in {escape(QUOTED_IN)}: one number for "
            "each benchmark, to four digits. The detector itself was not run here.</p>",
            table(
                "Table 1. The labels of the test parts.",
                ("", "steps", "entities", "ranges", "labelled", "from"),
                rows,
            ),
        ]
    )


def _published(study: AdjustmentStudy, figures: dict[str, Drawn]) -> str:
    rows = [
        (
            case.name,
            show_share(case.plain.expected),
            show_chance(case.random.expected, case.random.std),
            "{:.3f} to {:.3f}".format(*case.random.band) if case.random.band else "",
            f"{case.published}",
            _share(case),
            show_share(case.corrected),
        )
        for case in study.cases
    ]
    columns = ("", "best F1", "best PA-F1", "95%", "published", "reached by", "corrected")
    return "\n".join(
        [
            "<h2>Published values and random scores</h2>",
            table("Table 2. Random scores: best F1, best point-adjusted F1; and the published one.", columns, rows),
            '<p class="small">Best F1, best PA-F1: means over random scores without and with point adjustment (± standard deviation; '
            "95% of the draws). Reached by: the share of random scores whose best PA-F1 is at least the published value. Corrected: "
            "(published − chance)/(1 − chance), where chance is the mean of random scores: 0 is chance, 1 is perfect.</p>",
            figure(
                figures["figure-1"],
                1,
                f"Best point-adjusted F1 of {study.n_resamples:,} random scores on each benchmark, and the published value.",
            ),
        ]
    )


def _may_differ(study: AdjustmentStudy, figures: dict[str, Drawn]) -> str:
    rows = [_variant_row(case, key) for case in study.cases for key, *_ in rows_of(case)]
    shares = listed([f"{100 * SHARES[case.name]:g}% on {case.name}" for case in study.cases])
    return "\n".join(
        [
            "<h2>What may differ</h2>",
            "<ul>",
            "<li><strong>Thresholds.</strong> The published ones were not the best possible. They were set to give an "
            f"alarm on a fixed share of the validation data ({shares}), after which alarms were adjusted; the authors' "
            "code takes the percentile over the scores of the training and test parts together. Here chance gets its "
            "best threshold, which the published detector did not. Table 3 therefore also has random alarms on those "
            "shares of the test steps.</li>",
            "<li><strong>Memory.</strong> Detectors on sliding windows give neighbouring steps similar scores, and so have fewer "
            "tries within a range. Table 3 has random scores with a correlation of φ between neighbours. The memory of the published "
            "scores is not known here.</li>",
            "<li><strong>Labels.</strong> The source lists P-2 of SMAP twice; the first line is kept here. Papers that prepare the "
            "data as OmniAnomaly does leave P-2 out. The authors' code cuts the series into windows of 100 steps and drops the rest, up "
            "to 99 steps. The order of the entities changes nothing, unless ranges of two entities touch.</li>",
            "<li><strong>Digits.</strong> Published values are rounded to four digits.</li>",
            "</ul>",
            table(
                "Table 3. Random scores if one thing is changed.",
                ("scores", "PA-F1", "reached by", "of draws"),
                rows,
            ),
            figure(
                figures["figure-2"],
                2,
                f"What chance scores under each assumption: mean and 95% of the draws ({study.n_resamples:,}, or {FEW} "
                "where scores were made step by step).",
            ),
        ]
    )


def _variant_row(case: Case, key: str) -> tuple[str, str, str, str]:
    words, level = next((words, level) for name, words, level in rows_of(case) if name == key)
    if key == "fixed-share":
        words = f"alarms on {100 * SHARES[case.name]:g}%"
    name = words if key == "left-out" else f"{case.name}, {words}"
    return name, show_chance(level.expected, level.std), f"{case.reached(level):,}", f"{level.n_resamples:,}"


def _rotated(study: AdjustmentStudy) -> str:
    rows = [
        (
            one.words,
            show_share(one.result.value),
            show_chance(one.result.expected, one.result.std),
            show_p(one.result.pvalue),
            show_share(one.result.chance_corrected),
        )
        for one in study.rotated
    ]
    first, last = study.rotated[0].result, study.rotated[-1].result
    lower = (
        f" The last one has a lower value than the first, {show_share(last.value)} against {show_share(first.value)}, "
        f"but is the better detector: p = {show_p(last.pvalue)} against {show_p(first.pvalue)}."
        if last.value < first.value and last.pvalue < first.pvalue
        else ""
    )
    return "\n".join(
        [
            "<h2>With a detector: each entity rotated within itself</h2>",
            "<p>With the scores of a detector at hand, there is no need to guess their memory. Rotating them against "
            "the labels keeps it. Concatenated entities are each rotated within themselves, since a score of one says "
            "nothing about another: <code>nf.significance(&quot;best-pa-f1&quot;, labels.truth, scores, "
            f"groups=labels.groups)</code>. The threshold is chosen again in every rotation. Here are three made-up "
            f"detectors on {ROTATED}, of which two know nothing; the third is the second with 1.5 added to the scores "
            f"of labelled steps, one and a half times their standard deviation.{lower}</p>",
            table(
                f"Table 4. Three made-up detectors on {ROTATED}, {first.n_resamples:,} rotations.",
                ("detector", "best PA-F1", "chance", "p", "corrected"),
                rows,
            ),
        ]
    )


def _colophon(study: AdjustmentStudy) -> str:
    command = f"nofluke reproduce --point-adjustment --seed {study.seed} --permutations {study.n_resamples} -o out/"
    return (
        "<footer><h2>How this was made</h2>\n"
        f"<pre>{escape(command)}</pre>\n"
        f"<p>Everything is simulated with seed {study.seed}: {study.n_resamples:,} draws of independent scores by "
        f"<code>nf.chance(&quot;best-pa-f1&quot;, labels)</code>, fewer where Table 3 says so. The same labels, seed "
        "and versions give the same bytes. Next to this page are every figure as SVG, PDF and PNG, and the numbers "
        "behind figures and tables as CSV.</p></footer>"
    )


def _share(case: Case) -> str:
    reached, n = case.reached(), case.random.n_resamples
    return f"none of {n:,}" if reached == 0 else f"{100 * reached / n:.2g}%"
