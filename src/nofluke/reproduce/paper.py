"""The page about the paper."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from nofluke import __version__
from nofluke.laws.law import Law
from nofluke.measures.confusion import Confusion
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.claims import gap_shrinks
from nofluke.reproduce.page import Article, Drawn, figure, matrix, table
from nofluke.reproduce.study import (
    NEARBY,
    QUANTILES,
    READINGS,
    SIDES,
    THE_QUANTILE,
    TOLERANCE,
    TOLERANCES,
    Study,
    test_of,
)
from nofluke.show.kit.figure import Description, drawn
from nofluke.show.report.cells import picture_of
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.tables import plural, show_share

# ---- its formulas as MathML

DELTA, TAU, SUM, HIT = "<mi>δ</mi>", "<mi>τ</mi>", "<mo>∑</mo>", "<mi>ℐ</mi>"
T = "<mi>T</mi>"
PRIME = "<mi>t′</mi>"


def mathematics(content: str, display: Literal["inline", "block"] = "inline") -> str:
    """A formula as part of a page.

    >>> mathematics(T)
    '<math display="inline"><mi>T</mi></math>'
    """
    return f'<math display="{display}">{content}</math>'


def event(at: str = "<mi>t</mi>") -> str:
    """e_t."""
    return f"<msub><mi>e</mi>{at}</msub>"


def alarm(at: str = "<mi>t</mi>") -> str:
    """I(z_t ≥ τ)."""
    return indicator(f"<msub><mi>z</mi>{at}</msub><mo>≥</mo>{TAU}")


def indicator(condition: str) -> str:
    """I(...), 1 where the condition is true."""
    return f"{HIT}{_fenced(condition)}"


def near(term: str) -> str:
    """Whether a term is there at a step of the window [t−δ, t+δ]."""
    low = f"<mrow>{PRIME}<mo>=</mo><mi>t</mi><mo>−</mo>{DELTA}</mrow>"
    high = f"<mrow><mi>t</mi><mo>+</mo>{DELTA}</mrow>"
    window = f'<munderover movablelimits="false">{SUM}{low}{high}</munderover>'
    return indicator(f"{window}{term}<mo>&gt;</mo><mn>0</mn>")


def negated(term: str) -> str:
    """1 − ..., in parentheses."""
    return _fenced(f"<mn>1</mn><mo>−</mo>{term}")


def summed(*factors: str) -> str:
    """The sum over all steps of a product."""
    return f'<mstyle displaystyle="true"><munder>{SUM}<mi>t</mi></munder>{"<mo>⋅</mo>".join(factors)}</mstyle>'


def ratio(name: str, above: str, below: str) -> str:
    """P_δ = .../..."""
    return f"<msub><mi>{name}</mi>{DELTA}</msub><mo>=</mo><mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def _fenced(content: str) -> str:
    return f"<mrow><mo>(</mo>{content}<mo>)</mo></mrow>"


EVENT_NEAR, ALARM_NEAR = near(event(PRIME)), near(alarm(PRIME))
PRECISION = ratio("P", summed(EVENT_NEAR, alarm()), summed(alarm()))
RECALL = ratio("R", summed(event(), ALARM_NEAR), summed(event()))


def _counted(row: str, column: str) -> dict[str, str]:
    """All entries and marginals of a table, from what its rows and columns ask of a step."""
    return {
        "tp": summed(column, row),
        "fp": summed(negated(column), row),
        "predicted": summed(row),
        "fn": summed(column, negated(row)),
        "tn": summed(negated(column), negated(row)),
        "not_predicted": summed(negated(row)),
        "actual": summed(column),
        "not_actual": summed(negated(column)),
        "total": T,
    }


TABLE_1 = _counted(alarm(), EVENT_NEAR)
TABLE_2 = _counted(ALARM_NEAR, event())


# ---- the part of the page on chance: permuted sequences, the numbers of section 3.2


def against_chance(study: Study, figures: dict[int, str]) -> str:
    """The part on chance: Figures 3 and 4 and the numbers behind them."""
    rows = []
    for side in SIDES:
        test = test_of(study.result, side)
        rows.append(
            (
                side,
                f"{test.hits} of {test.of:,}",
                show_share(test.value),
                show_chance(test.expected, test.std),
                show_p(study.simulated[side].upper(test.hits)),
                show_p(study.fitted_binomial(side).upper(test.hits)),
                show_p(test.pvalue),
            )
        )
    columns = ("", "hits", "value", "chance", "p, simulated", "p, binomial", "p, exact")
    precision = study.result.precision_test
    return "\n".join(
        [
            "<h2>Against chance</h2>",
            f"<p>Chance keeps the predictions and puts the {study.curve.n_events} events on random days. Figure 3 shows "
            f"{len(study.permuted['recall'])} such sequences as the paper does, and, new, the exact band that holds the central "
            "95% of all of them.</p>",
            figures[3],
            gaps(study),
            noise(study),
            "<p>Section 3.2 of the paper fixes δ = 2 and the .9-quantile. It reports 80 hits for recall (.49) and 145 for "
            "precision (.56; 145/256 is .5664, the paper cuts it), and p &lt; .0001 for both, since none of 10,000 permutations "
            "did as well. A simulated p-value can never say more than 1 in 10,001; the exact ones can.</p>",
            table("The numbers of section 3.2, beside the exact p-values.", columns, rows, cells="numbers"),
            figures[4],
            laws(study),
            "<p>Recall's hits are hypergeometric, which a binomial resembles. Precision's are not: one event makes "
            f"hits of all predictions around it, so their variance is {precision.law.var:.1f} where the binomial has "
            f"{study.fitted_binomial('precision').var:.1f}. Treated as binomial, they would give a p-value of "
            f"{show_p(study.fitted_binomial('precision').upper(precision.hits))} instead of "
            f"{show_p(precision.pvalue)}.</p>",
        ]
    )


def gaps(study: Study) -> str:
    """Whether the gap shrinks with the tolerance: three readings, for both measures."""
    rows = [
        (
            f"{side}, {reading}",
            *(f"{value:.3f}" if reading == "absolute" else f"{value:.2f}" for value in np.nanmean(gap, axis=1)),
            "yes" if gap_shrinks(study, side, reading)[0] else "no",
        )
        for side in SIDES
        for reading in READINGS
        for gap in [study.gap(side, reading)]
    ]
    return (
        "<p>The paper says that the gap between observed and simulated values tends to shrink as δ grows. That depends on how a "
        "gap is read: as a difference (absolute), as a ratio to chance (relative), or as a difference in standard deviations of "
        "chance (standardised). The table averages over all thresholds; the statements below also cover the upper half "
        "of them and the .9-quantile.</p>\n"
        + table(
            "The gap between observed and chance, on average over the thresholds.",
            ("", *(f"δ = {tolerance}" for tolerance in TOLERANCES), "shrinks"),
            rows,
            cells="numbers",
        )
    )


def noise(study: Study) -> str:
    """Table 3: a score that knows nothing, beside the detector."""
    detector = {side: study.measure(side)[:, THE_QUANTILE] for side in SIDES}
    rows = [
        (
            f"δ = {tolerance}",
            *(
                text
                for side in SIDES
                for test in [test_of(result, side)]
                for text in (show_share(test.value), show_p(test.pvalue), show_share(float(detector[side][d])))
            ),
        )
        for d, (tolerance, result) in enumerate(zip(TOLERANCES, study.noise, strict=True))
    ]
    last = study.noise[-1]
    return (
        "<p>A score that is independent of the events shows what the tolerance alone can do: one random number a day, "
        f"with as many predictions as the detector has. At δ = {TOLERANCES[-1]} it finds {last.recall:.0%} of the "
        f"earthquakes; the detector finds {study.result.recall:.0%} at δ = {TOLERANCE}. Only the p-values tell them "
        "apart.</p>\n"
        + table(
            "Table 3. Random numbers instead of the score, at the .9-quantile, and the detector.",
            ("", "recall", "p", "detector's recall", "precision", "p", "detector's precision"),
            rows,
            cells="numbers",
        )
    )


def laws(study: Study) -> str:
    """Every law of Figure 4: what it expects, and its p-value."""
    named: list[tuple[str, dict[str, Law]]] = [
        ("exact", {side: test_of(study.result, side).law for side in SIDES}),
        ("simulated", {side: study.simulated[side] for side in SIDES}),
        ("binomial, fitted to the simulations", {side: study.fitted_binomial(side) for side in SIDES}),
        ("binomial, Donges et al. (2016)", study.donges),
        ("binomial, extreme values (2020a)", {"recall": study.extreme}),
    ]
    rows = [
        (
            name,
            *(
                text
                for side in SIDES
                for text in (
                    (
                        show_chance(by_side[side].mean, by_side[side].std),
                        show_p(by_side[side].upper(test_of(study.result, side).hits)),
                    )
                    if side in by_side
                    else ("none known", "–")
                )
            ),
        )
        for name, by_side in named
    ]
    return (
        "<p>Section 2.3 quotes two binomials from the literature. Donges et al. (2016) assume that events and "
        "predictions are independent; the detector's predictions come in runs, so their windows overlap and find fewer "
        "events. Scharwächter and Müller (2020a) assume that the score is stationary, and get the chance of an event "
        "from the largest scores of blocks. For precision the paper found no analogous derivation. The exact law is "
        "one: given the predictions, however they were made, it holds for events that fall anywhere with the same "
        "chance.</p>\n"
        + table(
            "The laws of Figure 4, and the p-values that they would give.",
            ("", "recall's hits", "p", "precision's hits", "p"),
            rows,
            cells="numbers",
        )
    )


# ---- tables 1 and 2 on the page: their numbers, their formulas, and what each entry counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table is headed and read: what each entry counts, and which can be read as usual."""

    caption: str
    rows: tuple[str, str]
    columns: tuple[str, str]
    formulas: dict[str, str]
    counts: dict[str, str]
    readable: frozenset[str]

    def name(self, entry: str) -> str:
        """An entry by its row and column, a marginal by the one of them that it sums."""
        (row, no_row), (column, no_column) = self.rows, self.columns
        return {
            "tp": f"{row}-{column}",
            "fp": f"{row}-{no_column}",
            "fn": f"{no_row}-{column}",
            "tn": f"{no_row}-{no_column}",
            "predicted": f"∑ {row}",
            "not_predicted": f"∑ {no_row}",
            "actual": f"∑ {column}",
            "not_actual": f"∑ {no_column}",
            "total": "T",
        }[entry]


FIRST = Layout(
    caption="Table 1. Tolerance in the ground truth, δ = 2, .9-quantile.",
    rows=("PA", "PnA"),
    columns=("AAδ", "AnAδ"),
    formulas=TABLE_1,
    counts={
        "tp": "predictions near an event: hits of precision",
        "fp": "predictions near no event: false alarms",
        "predicted": "predictions",
        "fn": "days without a prediction near an event, found or not: not misses",
        "tn": "days without a prediction far from all events: fewer as δ grows",
        "not_predicted": "days without a prediction",
        "actual": "days near an event, not events",
        "not_actual": "days far from all events: fewer as δ grows",
        "total": "days",
    },
    readable=frozenset({"tp", "fp", "predicted", "not_predicted", "total"}),
)
SECOND = Layout(
    caption="Table 2. Tolerance in the predictions, δ = 2, .9-quantile.",
    rows=("PAδ", "PnAδ"),
    columns=("AA", "AnA"),
    formulas=TABLE_2,
    counts={
        "tp": "events near a prediction: hits of recall",
        "fp": "days without an event near a prediction, right or wrong: not false alarms",
        "predicted": "days near a prediction, not predictions",
        "fn": "events near no prediction: misses",
        "tn": "days without an event far from all predictions: fewer as δ grows",
        "not_predicted": "days far from all predictions: fewer as δ grows",
        "actual": "events",
        "not_actual": "days without an event",
        "total": "days",
    },
    readable=frozenset({"tp", "fn", "actual", "not_actual", "total"}),
)


def both_tables(study: Study) -> str:
    """The two matrices side by side, and every entry with its formula and its meaning."""
    pairs = tuple(zip(study.matrices, (FIRST, SECOND), strict=True))
    return "\n".join(
        [
            '<div class="pair">',
            *(matrix(counts, how.caption, how.rows, how.columns, set(how.readable)) for counts, how in pairs),
            "</div>",
            '<p class="small">PA, PnA: predicted, not predicted. AA, AnA: an anomaly, none. A δ marks the side that the '
            "tolerance widens. Steps outside the sequence hold neither. Below are the formulas of all entries and "
            "marginals, ✓ where one can be read as usual, – where it cannot.</p>",
            *(_entries(counts, how, i) for i, (counts, how) in enumerate(pairs, 1)),
        ]
    )


def _entries(matrix: Confusion, how: Layout, number: int) -> str:
    """Each entry in a row: name, formula, days, whether it can be read as usual, and what it counts."""
    rows = "".join(
        f'<tr class="{"read" if entry in how.readable else "unread"}"><th scope="row">{how.name(entry)}</th>'
        f'<td class="formula">{mathematics(formula)}</td><td class="count">{getattr(matrix, entry):,}</td>'
        f"<td>{'✓' if entry in how.readable else '–'} {escape(how.counts[entry])}</td></tr>\n"
        for entry, formula in how.formulas.items()
    )
    return (
        f'<table class="entries"><caption>Entries of Table {number}.</caption><thead><tr><th scope="col">entry</th>'
        f'<th scope="col">formula</th><th scope="col">days</th><th scope="col">counts</th></tr></thead><tbody>\n{rows}</tbody></table>'
    )


# ---- the part of the page on what the paper could not see: every cell by its exact law


def beyond(study: Study, figures: dict[int, str]) -> str:
    """What exact laws add: Figures 5 to 8."""
    share = {side: study.explained(side)[:, THE_QUANTILE] for side in SIDES}
    words = {side: ", ".join(f"{value:.0%}" for value in share[side]) for side in SIDES}
    family = study.familywise
    cells = study.curve.precision_hits.size
    hits = {shift: result.precision_hits for shift, result in study.lags.items()}
    best = max(hits, key=lambda shift: hits[shift])
    where = f"{plural(abs(best), 'day')} {'earlier' if best < 0 else 'later'}" if best else "in place"
    significant = {side: int((getattr(family, f"{side}_adjusted") <= family.alpha).sum()) for side in SIDES}
    over = int((study.dispersion("precision") > 1).sum())
    return "\n".join(
        [
            "<h2>What the paper could not see</h2>",
            "<p><strong>Overdispersion comes and goes.</strong> The variance of precision's hits exceeds the binomial's in "
            f"{over} of {cells} cells. At δ = 0 the hits are hypergeometric and vary less than binomial ones; with a tolerance "
            "they vary more, unless most days are predicted.</p>",
            figures[5],
            f"<p><strong>An exact p-value for every cell.</strong> With {cells} cells, some will look significant by "
            f"luck alone. After correcting for looking at all of them, {significant['recall']} cells of recall and "
            f"{significant['precision']} of precision remain at the .05 level. The familywise p-value of the whole "
            f"sweep is {show_p(family.recall)} for recall and {show_p(family.precision)} for precision; the best F1 of "
            f"the sweep, {show_share(family.observed_best_f)}, is reached by chance's best with p = "
            f"{show_p(family.best_f)} ({family.n_resamples:,} permutations).</p>",
            figures[6],
            "<p><strong>How much of the score is the tolerance.</strong> At the .9-quantile and "
            f"δ = {', '.join(map(str, TOLERANCES))}, chance alone explains {words['recall']} of recall and {words['precision']} of "
            "precision.</p>",
            figures[7],
            "<p><strong>The detector's lag.</strong> Moving all predictions one or two days earlier changes precision's hits "
            f"from {hits[0]} to {hits[-1]} and {hits[-2]}; the most, {hits[best]}, are reached with the predictions "
            f"{where}.</p>",
            figures[8],
        ]
    )


def all_cells(study: Study) -> str:
    """A table of every cell, folded away."""
    ratios = study.dispersion("precision")
    chance = study.curve.chance
    rows = [
        (
            f"{quantile:.2f}",
            f"{study.curve.n_predictions[k]:,}",
            *(f"{value:.3f}" for value in ratios[:, k]),
            *(show_p(float(p)) for p in chance.precision.pvalue[:, k]),
            *(show_p(float(p)) for p in chance.recall.pvalue[:, k]),
        )
        for k, quantile in enumerate(QUANTILES)
    ]
    columns = (
        "quantile",
        "predictions",
        *(f"{name}, δ={t}" for name in ("variance ratio", "p precision", "p recall") for t in TOLERANCES),
    )
    whole = table("Variance of precision's hits over the binomial's, and exact p-values.", columns, rows)
    return f"<h2>All cells</h2>\n<details><summary>Table of all 50 × 4 cells</summary>\n{whole}</details>"


# ---- the page: one self-contained HTML file that reads like a short illustrated article and loads nothing

CAPTIONS = (
    "The input sequence, the anomaly score and the ground truth over the same axis.",
    f"Recall and precision by threshold and tolerance: {len(QUANTILES)} quantiles from 0 to .98.",
    "Observed recall and precision, permuted sequences, and the exact chance band (2.5% to 97.5%).",
    "Cumulative null distributions of both hits: simulated ({permutations:,} permutations), exact, and three binomials: "
    "fitted to the simulations, after Donges et al., and from extreme values (recall only).",
    "Variance of chance's hits over the variance of a binomial with the same mean, exact.",
    "Exact p-values of all cells. Outlined: significant at .05 after the familywise correction. Marked: the paper's cell.",
    "Recall and precision at the .9-quantile, and the part of each that chance is expected to score.",
    "Hits after moving all predictions in time, δ = 2, .9-quantile.",
)

PAPER = "Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, KDD MiLeTS"


def article(study: Study, claims: tuple[Claim, ...], figures: dict[str, Drawn]) -> Article:
    """The whole page."""
    simulated = study.quakes.simulated
    shown = {
        i: figure(figures[f"figure-{i}"], i, words.format(permutations=study.permutations), simulated=simulated)
        for i, words in enumerate(CAPTIONS, 1)
    }
    return Article(
        title="Statistical evaluation of anomaly detectors for sequences, reproduced",
        about=f"The study of {PAPER}, rerun from the data to the last figure by nofluke {__version__}. "
        f"Data: {study.quakes.source}.",
        sentence=_sentence(study),
        picture=_chance(study),
        before=[
            _abstract(study, claims),
            _example(study, shown),
            _measures(study, shown),
            against_chance(study, shown),
        ],
        heading="The paper's statements",
        aside=" The outcomes are about the simulated data, not about the paper's." if simulated else "",
        after=[beyond(study, shown), all_cells(study)],
        command=f"nofluke reproduce{' --simulated' if simulated else ''} --seed {study.seed} "
        f"--permutations {study.permutations} -o out/",
        made=_made(study),
        banner="Simulated data. Everything on this page was computed from made-up data shaped like the paper's; nothing "
        "here is about real earthquakes."
        if simulated
        else "",
        note=study.note,
    )


def _sentence(study: Study) -> str:
    precision, recall = study.result.precision_test, study.result.recall_test
    return (
        f"{precision.hits} of {precision.of:,} predictions are near an earthquake, chance gives "
        f"{show_chance(precision.expected, precision.std)}; {recall.hits} of {recall.of:,} earthquakes are near a "
        f"prediction, chance gives {show_chance(recall.expected, recall.std)}."
    )


def _chance(study: Study) -> str:
    """What chance scores, and the detector beside it: both null distributions, as on a report."""
    described: dict[str, Description] = {}
    for test in (study.result.precision_test, study.result.recall_test):
        law = picture_of(test.law)
        at = [law.first + i * law.step for i in range(len(law.chance))]
        bars = {"kind": "bars", "name": "part", "x": at, "y": law.chance.tolist(), "width": law.step}
        described[f"hero-{test.measure}"] = {
            "x": {"title": f"{test.measure}’s hits: chance, and observed {test.hits}", "whole": True},
            "y": {"title": "probability", "zero": True},
            "layers": [bars, {"kind": "rule", "name": "observed", "x": test.hits}],
        }
    pictures = drawn(described, {}, dict.fromkeys(described, (4.6, 2.1)))
    return "".join(
        f'<figure class="plot" role="img" aria-label="{one["x"]["title"]}">{pictures[name]}</figure>'
        for name, one in described.items()
    )


def _abstract(study: Study, claims: tuple[Claim, ...]) -> str:
    recall, precision = study.result.recall_test, study.result.precision_test
    family = study.familywise
    is_smallest = family.both * (study.permutations + 1) < 1.5
    smallest = f" (the smallest that {study.permutations:,} permutations can give)" if is_smallest else ""
    return (
        "<p>A detector that may be a little early or late gets credit for luck. The paper measures how much by permuting the "
        "events; here the same null distributions are computed exactly. At a tolerance of two days and the .9-quantile of the "
        f"score, {precision.hits} of {precision.of:,} predictions are near an earthquake and {recall.hits} of {recall.of:,} "
        f"earthquakes are near a prediction. Chance gives {show_chance(precision.expected, precision.std)} and "
        f"{show_chance(recall.expected, recall.std)}: the exact p-values are {show_p(precision.pvalue)} and "
        f"{show_p(recall.pvalue)}. {tally(claims)}. Over the whole sweep of thresholds and tolerances, chance's best "
        f"cell is as extreme as the observed best with p = {show_p(family.both)}{smallest}.</p>"
    )


def _example(study: Study, figures: dict[int, str]) -> str:
    threshold = float(study.curve.thresholds[THE_QUANTILE])
    return "\n".join(
        [
            "<h2>The running example</h2>",
            f"<p>{len(study.scores):,} days of tweets about earthquakes, and the {study.curve.n_events} days with a severe "
            "earthquake anywhere. The score of a day is the average of the last 3 days over that of the last 14 (plus 1); a "
            "day is predicted where the score reaches the threshold τ, often the .9-quantile of all scores, "
            f"{threshold:.3f} here.</p>",
            figures[1],
        ]
    )


def _measures(study: Study, figures: dict[int, str]) -> str:
    at = {side: study.measure(side)[:, THE_QUANTILE] for side in SIDES}
    spans = {side: f"{show_share(float(at[side][0]))} to {show_share(float(at[side][-1]))}" for side in SIDES}
    return "\n".join(
        [
            "<h2>Precision and recall with tolerance</h2>",
            "<p>With a tolerance of δ days, a prediction is a hit for precision if an event lies within δ days of it, and an "
            f"event is a hit for recall if a prediction does. From δ = {TOLERANCES[0]} to {TOLERANCES[-1]}, recall at the "
            f".9-quantile rises from {spans['recall']} and precision from {spans['precision']}, with the same detector "
            "and the same events.</p>",
            *(f'<p class="formula">{mathematics(ratio, "block")}</p>' for ratio in (PRECISION, RECALL)),
            figures[2],
            "<p>Each measure comes from its own confusion matrix. Both partition the days, but only some entries can "
            "be read as usual (✓): those whose side has no tolerance, and the hits. Precision is the hits of Table 1 "
            "over its first row sum, recall the hits of Table 2 over its first column sum.</p>",
            both_tables(study),
        ]
    )


def _made(study: Study) -> str:
    methods = "; ".join(study.curve.chance.methods)
    return (
        f"Null: {escape(study.curve.chance.model)}. Method of all cells: {escape(methods)}. Simulated: the "
        f"{len(study.permuted['recall'])} sequences of Figure 3, the distributions of Figure 4, the score of Table 3, the familywise "
        f"test, both sides placed at random, and the clustering of events within {NEARBY[0]} and {NEARBY[1]} days; seed {study.seed}, {study.permutations:,} permutations. "
        "Everything else is exact. The same data, seed and versions give the same bytes. Next to this page are every "
        "figure as SVG, PDF and PNG, and the numbers behind it as CSV."
    )
