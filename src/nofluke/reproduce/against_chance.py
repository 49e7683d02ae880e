"""The part of the page on chance: permuted sequences, the numbers of section 3.2, and the laws of the literature."""

from __future__ import annotations

import numpy as np

from nofluke.laws.law import Law
from nofluke.reproduce.chance_claims import gap_shrinks
from nofluke.reproduce.drawing import Drawn
from nofluke.reproduce.markup import shown, table
from nofluke.reproduce.study import READINGS, SIDES, THE_QUANTILE, TOLERANCE, TOLERANCES, Study
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.tables import show_share


def against_chance(study: Study, figures: dict[str, Drawn]) -> str:
    """The part on chance: Figures 3 and 4 and the numbers behind them."""
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
            shown(
                study,
                figures,
                3,
                "Observed recall and precision, permuted sequences, and the exact chance band (2.5% to 97.5%).",
            ),
            gaps(study),
            noise(study),
            "<p>Section 3.2 of the paper fixes δ = 2 and the .9-quantile. It reports 80 hits for recall (.49) and 145 for "
            "precision (.56; 145/256 is .5664, the paper cuts it), and p &lt; .0001 for both, since none of 10,000 permutations "
            "did as well. A simulated p-value can never say more than 1 in 10,001; the exact ones can.</p>",
            table("The numbers of section 3.2, beside the exact p-values.", columns, rows, cells="numbers"),
            shown(
                study,
                figures,
                4,
                f"Cumulative null distributions of both hits: simulated ({study.permutations:,} permutations), exact, and "
                "three binomials: fitted to the simulations, after Donges et al., and from extreme values (recall only).",
            ),
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
            "yes" if gap_shrinks(study, side, reading).outcome == "holds" else "no",
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
                for test in [getattr(result, f"{side}_test")]
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
    book = study.literature
    named: list[tuple[str, dict[str, Law]]] = [
        ("exact", {side: getattr(study.result, f"{side}_test").law for side in SIDES}),
        ("simulated", {side: study.simulated(side) for side in SIDES}),
        ("binomial, fitted to the simulations", {side: study.fitted_binomial(side) for side in SIDES}),
        ("binomial, Donges et al. (2016)", book.donges),
        ("binomial, extreme values (2020a)", {"recall": book.extreme}),
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
                        show_p(by_side[side].upper(getattr(study.result, f"{side}_hits"))),
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
