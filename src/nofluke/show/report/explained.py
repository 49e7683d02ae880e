"""What a null distribution is, for those who never heard of one, with the numbers of the page itself."""

from __future__ import annotations

from nofluke.inference.chance import ChanceTest
from nofluke.inference.evaluation import Evaluation
from nofluke.text.tables import plural

RARE = 1e-6


def explained(cell: Evaluation, low: int, high: int) -> str:
    """One paragraph on precision's hits; ``low`` and ``high`` are chance's central 95%."""
    test = cell.precision_test
    if 0 in (cell.n_events, cell.n_predictions):
        return "There is nothing to compare with chance here: that takes both events and alarms."
    span = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    hit = "is a hit" if 1 in (test.hits, test.of) else "are hits"
    return (
        f"{test.hits:,} of {plural(test.of, cell.alarm_noun)} {hit}. Would luck do as well? To find out, keep the "
        f"alarms in place and let chance place the {plural(cell.n_events, cell.cell.truth.noun)} again and again. "
        f"{cell.settings.choice.assumption} In such worlds without skill there are {_about(test.expected)} hits on "
        f"average, and {span} of them in 95 worlds of 100. That is the null distribution. p is {_share(test)}: "
        f"{in_worlds(test)}. The smaller it is, the harder it is to put the hits down to luck. Recall is tested the "
        "same way."
    )


def _share(test: ChanceTest) -> str:
    """What a p-value counts, by its alternative and what it does with ties."""
    more, fewer = f"at least {plural(test.hits, 'hit')}", f"at most {plural(test.hits, 'hit')}"
    if test.alternative == "two-sided":
        return f"twice the share of these worlds with {more if test.excess >= 0 else fewer}, and at most all of them"
    if test.ties == "mid":
        beyond = "more" if test.alternative == "greater" else "fewer"
        return f"the share of these worlds with {beyond} than {plural(test.hits, 'hit')}, and half of those with exactly as many"
    return f"the share of these worlds with {more if test.alternative == 'greater' else fewer}"


def _about(mean: float) -> str:
    return f"{mean:,.0f}" if mean >= 10 else f"{mean:.2g}"


def in_worlds(test: ChanceTest) -> str:
    """A p-value as people count: so many worlds of a hundred, or one in so many."""
    p = test.pvalue
    if p >= 0.995:
        return "nearly all of them" if p < 1 else "all of them"
    if p >= 0.01:
        return f"{100 * p:.2g} of 100"
    return f"about 1 in {float(f'{1 / p:.2g}'):,.0f}" if p >= RARE else "fewer than 1 in a million"
