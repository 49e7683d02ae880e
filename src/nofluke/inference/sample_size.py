"""Sample size: how many events it takes for a detector with a stated recall to be significantly better than chance.

The section "Power" of docs/explanation/theory.md has the mathematics, and why the search may end where it does.
"""

from __future__ import annotations

import math
from functools import lru_cache

from nofluke.errors import InputError
from nofluke.inference.plan import Plan, as_coverage, as_measure, as_plan
from nofluke.inference.power import recall_power
from nofluke.inference.power_results import SampleSize
from nofluke.laws.law import first_true
from nofluke.plain import as_number, check_alpha
from nofluke.ratios import TIE_SLACK
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.tables import show_number, show_share

MOST_SEARCHED = 50_000  # that are searched: a few seconds
HALVINGS = 60  # of an interval of at most 1: down to rounding


def sample_size(
    *,
    recall: float,
    power: float = 0.8,
    n_steps: int | None = None,
    steps_per_event: float | None = None,
    coverage: float | str | None = None,
    share_alarms: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    alpha: float = 0.05,
) -> SampleSize:
    """How many events it takes for a detector with a stated recall to be significantly better than chance.

    The smallest m such that `nofluke.power` is at least ``power`` with m events and any larger number. Power does not
    grow steadily with m: hits are whole numbers, so it falls a little wherever one more hit is needed. Beyond a number
    of events that follows from Chernoff's bound it can no longer fall below ``power``; up to there every m is computed.

    Parameters
    ----------
    recall : float
        The share of events that the detector truly finds. State what would be worth finding, not what was observed.
    power : float
        The probability of a significant result, above 0 and below 1.
    n_steps : int, optional
        The number of steps, if it is fixed and only the number of events varies.
    steps_per_event : float, optional
        Otherwise the number of steps for each event; 200 by default.
    coverage, share_alarms, tolerance, alpha
        As in `nofluke.power`.

    Returns
    -------
    SampleSize
        ``n_events`` is None, with a ``reason``, if recall is not above the coverage, if that many events do not fit
        into a fixed number of steps, or if it takes more than the 50,000 events that are searched.

    See Also
    --------
    nofluke.power : the power of a given number of events.
    nofluke.evaluate : the test.
    nofluke.SampleSize : the result.

    References
    ----------
    Hoeffding (1963), theorems 1 and 4, for the bound of both tails.

    Examples
    --------
    >>> import nofluke as nf
    >>> print(nf.sample_size(recall=0.5, coverage=0.1, steps_per_event=200).in_words())
    It takes 10 events to tell a detector that finds 50% of them from chance, which finds 10%, with a power of 0.8 at
    the 0.05 level.
    >>> nf.sample_size(recall=0.4, coverage=0.5).reason
    'Recall is not above the coverage, which is what chance finds: no number of events is enough.'
    """
    value, level = as_measure(recall, "recall"), check_alpha(alpha)
    plan = as_plan(as_coverage(coverage, share_alarms, tolerance), n_steps, steps_per_event)
    return events_for(value, plan, as_power(power), level)


def as_power(power: object) -> float:
    """A power to be reached: certainty takes more events than there are."""
    return as_number(power, "power", "be above 0 and below 1", lambda one: 0 < one < 1)


def events_for(recall: float, plan: Plan, target: float, alpha: float, notes: tuple[str, ...] = ()) -> SampleSize:
    """The search and the power of all fewer events, for arguments that are checked."""
    needed, reason, last, power_of = search(recall, plan, target, alpha)
    end = needed or (last if power_of else 0)
    curve = tuple(
        (m, power_of[m] if m in power_of else recall_power(recall, plan, m, alpha)) for m in range(1, end + 1)
    )
    return SampleSize(
        n_events=needed,
        power=None if needed is None else power_of[needed],
        asked=target,
        recall=recall,
        coverage=float(plan.coverage),
        alpha=alpha,
        n_steps=plan.steps if needed is None else plan.n_steps(needed),
        steps_per_event=None if plan.steps else float(plan.per_event),
        curve=curve,
        reason=reason,
        notes=notes,
    )


@lru_cache(maxsize=256)  # cells of one report ask the same again and again
def search(recall: float, plan: Plan, target: float, alpha: float) -> tuple[int | None, str, int, dict[int, float]]:
    """Events that are enough, or None and why not; the most that were looked at, and the powers on the way."""
    room = _room(recall, plan)
    if room < 1:
        raise InputError(
            argument="recall",
            value=recall,
            problem=f"of the events cannot be near alarms that cover {float(plan.coverage):.3g} of "
            f"{show_number(float(plan.steps or plan.per_event))} {'steps' if plan.steps else 'steps per event'}",
            remedy="pass a larger coverage, or more steps",
        )
    needed, reason = None, ""
    power_of: dict[int, float] = {}
    most = int(min(room, MOST_SEARCHED))
    last = first_true(lambda m: m > most or _certain(m, recall, plan, target, alpha), 1, 1, most + 1)
    if not plan.beats(recall):
        reason = "Recall is not above the coverage, which is what chance finds: no number of events is enough."
    elif last > most and room > MOST_SEARCHED:
        reason = (
            f"Recall is so little above the coverage that more than the {MOST_SEARCHED:,} events searched may be needed."
        )
    else:
        last = min(last, most)
        for m in range(last, 0, -1):
            power_of[m] = recall_power(recall, plan, m, alpha)
            if power_of[m] < target:
                break
            needed = m
        if needed is None:
            reason = (
                f"No number of events is enough: the most for which that many fit near alarms, {last:,}, have a power "
                f"of {show_share(power_of[last])}."
            )
    return needed, reason, last, power_of


def _room(recall: float, plan: Plan) -> float:
    """The largest number of events of which so many can be near alarms, each on a step of its own."""
    if plan.steps is not None:
        return min(math.floor(plan.covered(1) / recall * (1 + TIE_SLACK)), plan.steps - 1)
    return math.inf if plan.coverage * plan.per_event > recall and plan.per_event > 1 else 0


def _certain(m: int, recall: float, plan: Plan, target: float, alpha: float) -> bool:
    """Whether the power is proven to be at least the target with m events and with any larger number.

    If some x between the coverage q and the recall R has m KL(x, q) ≥ log 1/α and m KL(x, R) ≥ log 1/(1 - target), then
    by Chernoff's bound, which holds without replacement too, m x hits or more are significant, and fewer are as rare as
    asked for. Both grow with m; q is the coverage with all that rounding to whole steps may add, which shrinks.
    """
    coverage, slack = float(plan.coverage), 0.0
    if plan.steps is None:
        n_steps = float(plan.per_event) * m - 0.5
        slack = 0.5 / n_steps
        if (coverage - slack) * n_steps < recall * m:
            return False
    else:
        coverage = plan.covered(m) / plan.steps
    low, high = coverage + slack, recall
    if low >= high:
        return False
    needs = -math.log(alpha) / m
    for _ in range(HALVINGS):  # the smallest x that is significant
        middle = (low + high) / 2
        low, high = (low, middle) if _divergence(middle, coverage + slack) >= needs else (middle, high)
    return high < recall and m * _divergence(high, recall) >= -math.log1p(-target)


def _divergence(x: float, p: float) -> float:
    """Kullback and Leibler's, of a coin with chance x from one with p."""
    if p >= 1:
        return 0.0 if x >= 1 else math.inf
    return sum(a * math.log(a / b) for a, b in ((x, p), (1 - x, 1 - p)) if a > 0)
