"""The part of the page on what the paper could not see: every cell by its exact law, the share of chance, the lag."""

from __future__ import annotations

from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.markup import shown, table
from nofluke.reproduce.study import QUANTILES, SIDES, THE_QUANTILE, TOLERANCES, Study
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share


def beyond(study: Study, figures: dict[str, Drawn]) -> str:
    """What exact laws add: Figures 5 to 8."""
    share = {side: study.explained(side)[:, THE_QUANTILE] for side in SIDES}
    words = {side: ", ".join(f"{value:.0%}" for value in share[side]) for side in SIDES}
    family = study.familywise
    cells = study.curve.precision_hits.size
    lags = {lag.shift: lag for lag in study.lags}
    best = max(study.lags, key=lambda lag: lag.hits("precision"))
    where = (
        "in place"
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
            shown(
                study,
                figures,
                5,
                "Variance of chance's hits over the variance of a binomial with the same mean, exact.",
            ),
            f"<p><strong>An exact p-value for every cell.</strong> With {cells} cells, some will look significant by "
            f"luck alone. After correcting for looking at all of them, {significant['recall']} cells of recall and "
            f"{significant['precision']} of precision remain at the .05 level. The familywise p-value of the whole "
            f"sweep is {show_p(family.recall)} for recall and {show_p(family.precision)} for precision; the best F1 of "
            f"the sweep, {show_share(family.observed_best_f)}, is reached by chance's best with p = "
            f"{show_p(family.best_f)} ({family.n_resamples:,} permutations).</p>",
            shown(
                study,
                figures,
                6,
                "Exact p-values of all cells. Outlined: significant at .05 after the familywise correction. Marked: the paper's cell.",
            ),
            "<p><strong>How much of the score is the tolerance.</strong> At the .9-quantile and "
            f"δ = {', '.join(map(str, TOLERANCES))}, chance alone explains {words['recall']} of recall and {words['precision']} of "
            "precision.</p>",
            shown(
                study,
                figures,
                7,
                "Recall and precision at the .9-quantile, and the part of each that chance is expected to score.",
            ),
            "<p><strong>The detector's lag.</strong> Moving all predictions one or two days earlier changes precision's hits "
            f"from {lags[0].hits('precision')} to {lags[-1].hits('precision')} and {lags[-2].hits('precision')}; the most, "
            f"{best.hits('precision')}, are reached with the predictions {where}.</p>",
            shown(study, figures, 8, "Hits after moving all predictions in time, δ = 2, .9-quantile."),
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
