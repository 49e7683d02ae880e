"""The page: one self-contained HTML file that reads like a short illustrated article. It asks for nothing from anywhere."""

from __future__ import annotations

from html import escape

from nofluke import __version__
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.markup import claims_table, document, figure, matrix, table
from nofluke.reproduce.study import NEARBY, QUANTILES, SIDES, THE_QUANTILE, TOLERANCES, Study
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.tables import show_share

PAPER = "Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, KDD MiLeTS"


def render(study: Study, claims: tuple[Claim, ...], figures: dict[str, Drawn]) -> str:
    """The whole page."""
    simulated = study.quakes.simulated
    title = "Statistical evaluation of anomaly detectors for sequences, reproduced"
    banner = (
        '<p class="banner" role="note">Simulated data. Everything on this page was computed from made-up data shaped like '
        "the paper's; nothing here is about real earthquakes.</p>"
        if simulated
        else ""
    )
    body = [
        f"<h1>{title}</h1>",
        f'<p class="byline">The study of {escape(PAPER)}, rerun from the data to the last figure by nofluke {__version__}. '
        f"Data: {escape(study.quakes.source)}.</p>",
        banner,
        _abstract(study, claims),
        _example(study, figures),
        _measures(study, figures),
        _chance(study, figures),
        _claims(claims, simulated),
        _beyond(study, figures),
        _all_cells(study),
        _colophon(study),
    ]
    return document(title, body, simulated=simulated)


def _abstract(study: Study, claims: tuple[Claim, ...]) -> str:
    recall, precision = study.result.recall_test, study.result.precision_test
    family = study.familywise
    return (
        "<p>A detector that may be a little early or late gets credit for luck. The paper measures how much by permuting the "
        "events; here the same null distributions are computed exactly. At a tolerance of two days and the .9-quantile of the "
        f"score, {precision.hits} of {precision.of:,} predictions are near an earthquake and {recall.hits} of {recall.of:,} "
        f"earthquakes are near a prediction. Chance gives {show_chance(precision.expected, precision.std)} and "
        f"{show_chance(recall.expected, recall.std)}: the exact p-values are {show_p(precision.pvalue)} and "
        f"{show_p(recall.pvalue)}. {tally(claims)}. Over the whole sweep of thresholds and tolerances, chance's best cell "
        f"is as far out as the observed best with p = {show_p(family.both)}{_smallest(family.both, study)}.</p>"
    )


def _example(study: Study, figures: dict[str, Drawn]) -> str:
    threshold = float(study.curve.thresholds[THE_QUANTILE])
    return "\n".join(
        [
            "<h2>The running example</h2>",
            f"<p>{len(study.scores):,} days of tweets about earthquakes, and the {study.curve.n_events} days with a severe "
            "earthquake anywhere. The score of a day is the average of the last 3 days over that of the last 14 (plus 1); a "
            "day is predicted where the score reaches the threshold τ, often the .9-quantile of all scores, "
            f"{threshold:.3f} here.</p>",
            _shown(study, figures, 1, "The input sequence, the anomaly score and the ground truth over the same axis."),
        ]
    )


def _measures(study: Study, figures: dict[str, Drawn]) -> str:
    at = {side: study.measure(side)[:, THE_QUANTILE] for side in SIDES}
    spans = {side: f"{show_share(float(at[side][0]))} to {show_share(float(at[side][-1]))}" for side in SIDES}
    return "\n".join(
        [
            "<h2>Precision and recall with tolerance</h2>",
            "<p>With a tolerance of δ days, a prediction is a hit for precision if an event lies within δ days of it, and an "
            f"event is a hit for recall if a prediction does. From δ = {TOLERANCES[0]} to {TOLERANCES[-1]}, recall at the "
            f".9-quantile rises from {spans['recall']} and precision from {spans['precision']}, with the same detector "
            "and the same events.</p>",
            _shown(
                study,
                figures,
                2,
                f"Recall and precision by threshold and tolerance: {len(QUANTILES)} quantiles from 0 to .98.",
            ),
            "<p>Two confusion matrices stand behind the two measures. Both partition the days, but only some entries can be "
            "read as usual (✓): those whose side has no tolerance, and the hits. Precision is the hits of Table 1 over its "
            "first row sum, recall the hits of Table 2 over its first column sum.</p>",
            '<div class="pair">',
            matrix(
                study.matrices[0],
                "Table 1. Tolerance in the ground truth, δ = 2, .9-quantile.",
                ("PA", "PnA"),
                ("AAδ", "AnAδ"),
                {"tp", "fp", "predicted", "not_predicted", "total"},
            ),
            matrix(
                study.matrices[1],
                "Table 2. Tolerance in the predictions, δ = 2, .9-quantile.",
                ("PAδ", "PnAδ"),
                ("AA", "AnA"),
                {"tp", "fn", "actual", "not_actual", "total"},
            ),
            "</div>",
            '<p class="small">PA, PnA: predicted, not predicted. AA, AnA: an anomaly, none. A δ marks the side that the '
            "tolerance widens. Steps outside the sequence hold neither.</p>",
        ]
    )


def _chance(study: Study, figures: dict[str, Drawn]) -> str:
    rows = []
    for side in SIDES:
        test = getattr(study.result, f"{side}_test")
        rows.append(
            (
                side,
                f"{test.hits} of {test.of:,}",
                show_share(test.value),
                show_chance(test.expected, test.std),
                show_p(study.simulated(side).upper(test.hits)),
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
            f"{len(study.permuted_recall)} such sequences as the paper does, and, new, the exact band that holds the central "
            "95% of all of them.</p>",
            _shown(
                study,
                figures,
                3,
                "Observed recall and precision, permuted sequences, and the exact chance band (2.5% to 97.5%).",
            ),
            "<p>Section 3.2 of the paper fixes δ = 2 and the .9-quantile. It reports 80 hits for recall (.49) and 145 for "
            "precision (.56; 145/256 is .5664, the paper cuts it), and p &lt; .0001 for both, since none of 10,000 permutations "
            "did as well. A simulated p-value can never say more than 1 in 10,001; the exact ones can.</p>",
            table("The numbers of section 3.2, beside the exact p-values.", columns, rows),
            _shown(
                study,
                figures,
                4,
                f"Cumulative null distributions of both hits: simulated ({study.permutations:,} permutations), exact, and "
                "binomial with the success probability estimated from the simulations.",
            ),
            "<p>Recall's hits are hypergeometric, which a binomial resembles. Precision's are not: one event makes hits of "
            f"all predictions around it, so that their variance is {precision.law.var:.1f} where the binomial has "
            f"{study.fitted_binomial('precision').var:.1f}. Taken for binomial, they would give a p-value of "
            f"{show_p(study.fitted_binomial('precision').upper(precision.hits))} in place of {show_p(precision.pvalue)}.</p>",
        ]
    )


def _claims(claims: tuple[Claim, ...], simulated: bool) -> str:
    about = " The outcomes are about the simulated data, not about the paper's." if simulated else ""
    return (
        f"<h2>The paper's statements</h2>\n<p>{tally(claims)}.{about} The same list is in "
        '<a href="claims.json">claims.json</a>.</p>\n' + claims_table(claims)
    )


def _beyond(study: Study, figures: dict[str, Drawn]) -> str:
    share = {side: study.explained(side)[:, THE_QUANTILE] for side in SIDES}
    words = {side: ", ".join(f"{value:.0%}" for value in share[side]) for side in SIDES}
    family = study.familywise
    cells = study.curve.precision_hits.size
    lags = {lag.shift: lag for lag in study.lags}
    best = max(study.lags, key=lambda lag: lag.hits("precision"))
    where = (
        "as it is"
        if best.shift == 0
        else f"{abs(best.shift)} day{'s' * (abs(best.shift) > 1)} {'earlier' if best.shift < 0 else 'later'}"
    )
    significant = {side: int((getattr(family, f"{side}_adjusted") <= family.alpha).sum()) for side in SIDES}
    over = int((study.dispersion("precision") > 1).sum())
    return "\n".join(
        [
            "<h2>What the paper could not see</h2>",
            "<p><strong>Overdispersion comes and goes.</strong> The variance of precision's hits exceeds the binomial's in "
            f"{over} of {cells} cells. At δ = 0 the hits are hypergeometric and vary less than binomial ones; with a tolerance "
            "they vary more, unless most days are predicted.</p>",
            _shown(
                study,
                figures,
                5,
                "Variance of chance's hits over the variance of a binomial with the same mean, exact.",
            ),
            f"<p><strong>An exact p-value for every cell.</strong> Who looks at {cells} cells finds some by luck. After a "
            f"correction for having looked at all of them, {significant['recall']} cells of recall and {significant['precision']} "
            f"of precision remain at the .05 level. The familywise p-value of the whole sweep is {show_p(family.recall)} for "
            f"recall and {show_p(family.precision)} for precision; the best F1 of the sweep, {show_share(family.observed_best_f)}, "
            f"is reached by chance's best with p = {show_p(family.best_f)} ({family.n_resamples:,} permutations).</p>",
            _shown(
                study,
                figures,
                6,
                "Exact p-values of all cells. Outlined: significant at .05 after the familywise correction.",
            ),
            "<p><strong>How much of the score is the tolerance.</strong> At the .9-quantile and "
            f"δ = {', '.join(map(str, TOLERANCES))}, chance alone explains {words['recall']} of recall and {words['precision']} of "
            "precision.</p>",
            _shown(
                study,
                figures,
                7,
                "Recall and precision at the .9-quantile, and the part of each that chance is expected to score.",
            ),
            "<p><strong>The detector's lag.</strong> Moving all predictions one or two days earlier changes precision's hits "
            f"from {lags[0].hits('precision')} to {lags[-1].hits('precision')} and {lags[-2].hits('precision')}; the most, "
            f"{best.hits('precision')}, are reached with the predictions {where}.</p>",
            _shown(study, figures, 8, "Hits after moving all predictions in time, δ = 2, .9-quantile."),
        ]
    )


def _all_cells(study: Study) -> str:
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


def _colophon(study: Study) -> str:
    methods = "; ".join(study.curve.chance.methods)
    option = " --simulated" if study.quakes.simulated else ""
    command = f"nofluke reproduce{option} --seed {study.seed} --permutations {study.permutations} -o out/"
    return (
        "<footer><h2>How this was made</h2>\n"
        f"<pre>{escape(command)}</pre>\n"
        f"<p>Null: {escape(study.curve.chance.model)}. Method of all cells: {escape(methods)}. Simulated: the "
        f"{len(study.permuted_recall)} sequences of Figure 3, the distributions of Figure 4, the familywise test, and the "
        f"clustering of events within {NEARBY[0]} and {NEARBY[1]} days; seed {study.seed}, {study.permutations:,} permutations. "
        "Everything else is exact. Same data, seed and versions, same bytes. Beside this page lie every figure as SVG, PDF "
        "and PNG, and the numbers behind it as CSV.</p></footer>"
    )


def _shown(study: Study, figures: dict[str, Drawn], number: int, caption: str) -> str:
    return figure(figures[f"figure-{number}"], number, caption, simulated=study.quakes.simulated)


def _smallest(p: float, study: Study) -> str:
    """A word of caution where a simulated p-value is as small as it can be."""
    return (
        f" (the smallest that {study.permutations:,} permutations can give)"
        if p * (study.permutations + 1) < 1.5
        else ""
    )
