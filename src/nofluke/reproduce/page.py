"""The page: one self-contained HTML file that reads like a short illustrated article and loads nothing."""

from __future__ import annotations

from html import escape

from nofluke import __version__
from nofluke.reproduce.against_chance import against_chance
from nofluke.reproduce.beyond import all_cells, beyond
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.markup import claims_table, document, shown
from nofluke.reproduce.matrices import both_tables, definitions
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
        against_chance(study, figures),
        _claims(claims, simulated),
        beyond(study, figures),
        all_cells(study),
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
        f"{show_p(recall.pvalue)}. {tally(claims)}. Over the whole sweep of thresholds and tolerances, chance's best "
        f"cell is as extreme as the observed best with p = {show_p(family.both)}{_smallest(family.both, study)}.</p>"
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
            shown(study, figures, 1, "The input sequence, the anomaly score and the ground truth over the same axis."),
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
            definitions(),
            shown(
                study,
                figures,
                2,
                f"Recall and precision by threshold and tolerance: {len(QUANTILES)} quantiles from 0 to .98.",
            ),
            "<p>Each measure comes from its own confusion matrix. Both partition the days, but only some entries can "
            "be read as usual (✓): those whose side has no tolerance, and the hits. Precision is the hits of Table 1 "
            "over its first row sum, recall the hits of Table 2 over its first column sum.</p>",
            both_tables(study),
        ]
    )


def _claims(claims: tuple[Claim, ...], simulated: bool) -> str:
    about = " The outcomes are about the simulated data, not about the paper's." if simulated else ""
    return (
        f"<h2>The paper's statements</h2>\n<p>{tally(claims)}.{about} The same list is in "
        '<a href="claims.json">claims.json</a>.</p>\n' + claims_table(claims)
    )


def _colophon(study: Study) -> str:
    methods = "; ".join(study.curve.chance.methods)
    option = " --simulated" if study.quakes.simulated else ""
    command = f"nofluke reproduce{option} --seed {study.seed} --permutations {study.permutations} -o out/"
    return (
        "<footer><h2>How this was made</h2>\n"
        f"<pre>{escape(command)}</pre>\n"
        f"<p>Null: {escape(study.curve.chance.model)}. Method of all cells: {escape(methods)}. Simulated: the "
        f"{len(study.permuted_recall)} sequences of Figure 3, the distributions of Figure 4, the score of Table 3, the familywise "
        f"test, both sides placed at random, and the clustering of events within {NEARBY[0]} and {NEARBY[1]} days; seed {study.seed}, {study.permutations:,} permutations. "
        "Everything else is exact. The same data, seed and versions give the same bytes. Next to this page are every "
        "figure as SVG, PDF and PNG, and the numbers behind it as CSV.</p></footer>"
    )


def _smallest(p: float, study: Study) -> str:
    """A word of caution where a simulated p-value is as small as it can be."""
    return (
        f" (the smallest that {study.permutations:,} permutations can give)"
        if p * (study.permutations + 1) < 1.5
        else ""
    )
