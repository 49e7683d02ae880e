"""Power: how likely a detector with a stated recall or precision is significantly better than chance.

The section "Power" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, IntArray
from nofluke.errors import InputError, arg, named, say
from nofluke.inference.chance import significant
from nofluke.inference.plan import Plan, as_coverage, as_measure, as_plan, steps_of
from nofluke.inference.power_results import Power
from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.exact.hypergeometric import critical_hits, hypergeometric_log_tail
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.precision import precision_law
from nofluke.nulls.base import as_seed, check_resamples
from nofluke.nulls.permutation import CELL_OPERATIONS
from nofluke.plain import as_rng, as_share, as_whole, check_alpha
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import Windows
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural

MOST_STEPS = 1_000_000  # that are drawn in each run


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The share of runs that came out significant, its standard error, and how it was come by."""

    power: float
    error: float
    how: How
    notes: tuple[str, ...]


def simulate(
    precision: float, sizes: tuple[int, int, int], within: tuple[int, int], alpha: float, n_resamples: int, rng: Any
) -> Simulated:
    """Draw events and alarms, test each run exactly, and count; ``sizes`` are those of steps, events and alarms."""
    n_steps, n_events, _ = sizes
    if n_steps > MOST_STEPS:
        raise InputError(
            argument="n_steps",
            value=n_steps,
            problem="are too many to simulate precision",
            remedy=f"pass at most {MOST_STEPS:,}",
        )
    seed = as_seed(rng)
    generator = np.random.default_rng(rng if seed is None else seed)
    found, moved = 0, 0
    for _ in range(n_resamples):
        wanted, hits, alarms = _drawn(precision, sizes, within, generator)
        moved += hits != wanted
        found += significant(_law(alarms, n_steps, n_events, within).upper(hits), alpha)
    share = found / n_resamples
    # one run more on either side: no run significant, or all, is no certainty
    about = (found + 1) / (n_resamples + 2)
    notes: tuple[str, ...] = ()
    if moved:
        notes = (f"In {moved:,} runs there was not enough room for that many alarms near events, or away from them.",)
    return Simulated(
        power=share,
        error=math.sqrt(about * (1 - about) / n_resamples),
        how=How(kind="simulated", n_resamples=n_resamples, seed=seed),
        notes=notes,
    )


def _drawn(
    precision: float, sizes: tuple[int, int, int], within: tuple[int, int], generator: np.random.Generator
) -> tuple[int, int, IntArray]:
    """Hits that were drawn, those that there was room for, and the alarms in order."""
    n_steps, n_events, n_alarms = sizes
    events = generator.choice(n_steps, n_events, replace=False, shuffle=False)
    is_near = near_events(events, n_steps, within)
    near, far = np.flatnonzero(is_near), np.flatnonzero(~is_near)
    wanted = int(generator.binomial(n_alarms, precision))
    hits = min(max(wanted, n_alarms - len(far)), len(near))
    chosen = [generator.choice(near, hits, replace=False), generator.choice(far, n_alarms - hits, replace=False)]
    return wanted, hits, np.sort(np.concatenate(chosen))


def near_events(events: IntArray, n_steps: int, within: tuple[int, int]) -> BoolArray:
    """Whether an alarm on each step would be a hit.

    >>> near_events(np.array([2]), 6, (0, 1)).astype(int)
    array([0, 0, 1, 1, 0, 0])
    """
    early, late = within
    edges = np.zeros(n_steps + 1, dtype=np.int64)
    np.add.at(edges, np.clip(events - early, 0, n_steps), 1)
    np.add.at(edges, np.clip(events + late + 1, 0, n_steps), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)


def _law(alarms: IntArray, n_steps: int, n_events: int, within: tuple[int, int]) -> Law:
    early, late = within
    windows = Windows(
        starts=np.clip(alarms - late, 0, n_steps), stops=np.clip(alarms + early + 1, 0, n_steps), n_steps=n_steps
    )
    # where even the Fourier inversion costs too much, an approximation will do: the simulation does not suffer
    return precision_law(windows, n_events, "auto", CELL_OPERATIONS) or PrecisionSaddlepoint(windows, n_events)



# ---- power: how likely a detector with a stated recall or precision is significantly better than chance

MOST_EVENTS = 10**12  # beyond them not even the hits around the mode fit into memory


def power(
    *,
    recall: float | None = None,
    precision: float | None = None,
    n_events: int,
    n_steps: int | None = None,
    steps_per_event: float | None = None,
    coverage: float | str | None = None,
    share_alarms: float | str | None = None,
    tolerance: Length | Tolerance = 0,
    alpha: float = 0.05,
    n_resamples: int = 1_000,
    rng: Any = None,
) -> Power:
    """How likely a detector with a stated recall, or precision, is significantly better than chance.

    Chance places the events on random steps. Recall's hits are then hypergeometric, and significant from c on, the
    smallest number with P(H ≥ c) ≤ alpha; a detector that finds each event with probability R has binomial hits, so its
    power is P(Bin(n_events, R) ≥ c), exactly. Precision's power is simulated.

    Parameters
    ----------
    recall, precision : float
        The true value of the detector, above 0 and at most 1: pass one of the two. State what would be worth finding;
        the value observed in the same data gives "observed power", which says nothing that the p-value does not.
    n_events : int
        How many events there are.
    n_steps : int, optional
        How many steps; or ``steps_per_event``, 200 by default.
    coverage : float or str, optional
        The share of steps near an alarm, within the tolerance: 0.2 or "20%". It is chance's recall.
    share_alarms : float or str, optional
        Instead, the share a of steps that are predicted. If alarms are single steps, placed at random, the coverage is
        1 - (1 - a)^(early + late + 1). Alarms in runs cover less: then pass coverage. Precision needs this share.
    tolerance : int or Tolerance
        In steps, for share_alarms only: a coverage already includes it.
    alpha : float
        The level of the test.
    n_resamples, rng
        Of precision's simulation: in each run events lie on random steps, each of the alarms is near an event with
        probability ``precision``, on one of the steps within the tolerance of an event, and else on one of the other
        steps; the exact law of precision's hits, with these alarms, gives the p-value.

    Returns
    -------
    Power
        Power 0 where no outcome is significant, with a note.

    See Also
    --------
    nofluke.sample_size : how many events a given power needs.
    nofluke.evaluate : the test whose power this is.
    nofluke.Power : the result.

    References
    ----------
    Hoenig and Heisey (2001), "The Abuse of Power", on observed power.

    Examples
    --------
    >>> import nofluke as nf
    >>> print(nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000).in_words())
    A detector that finds 60% of the events is significantly better than chance at the 0.05 level with probability
    0.834.
    >>> nf.power(precision=0.3, share_alarms=0.02, tolerance=2, n_events=10, n_steps=1_000, n_resamples=200, rng=1)
    <Power 0.865 ± 0.024: precision 0.300, 10 events in 1,000 steps, coverage 0.096, alpha 0.05; montecarlo>
    """
    if (recall is None) is (precision is None):
        raise InputError(
            problem=say("pass either {} or {}", named("recall"), named("precision")),
            remedy="the value the detector should have",
        )
    alpha, many = check_alpha(alpha), as_whole(n_events, "n_events", 1, MOST_EVENTS)
    share = as_coverage(coverage, share_alarms, tolerance)
    plan = as_plan(share, n_steps, steps_per_event)
    if plan.n_steps(many) <= many:
        raise InputError(
            argument="n_events",
            value=many,
            problem=f"leave no free step of {plan.n_steps(many):,}",
            remedy="pass more steps, or fewer events",
        )
    if precision is None:
        return _of_recall(as_measure(recall, "recall"), plan, many, alpha)
    if share_alarms is None:
        raise InputError(
            argument="precision",
            problem="needs the number of alarms",
            remedy=say("pass {} instead of {}", arg("share_alarms"), arg("coverage")),
        )
    n_alarms = round(as_share(share_alarms, "share_alarms") * plan.n_steps(many))
    if n_alarms == 0:
        raise InputError(
            argument="share_alarms",
            value=share_alarms,
            problem=f"of {plan.n_steps(many):,} steps is less than one alarm",
            remedy="pass more of either",
        )
    value = as_measure(precision, "precision")
    sizes = plan.n_steps(many), many, n_alarms
    found = simulate(value, sizes, steps_of(tolerance), alpha, check_resamples(n_resamples), as_rng(rng))
    return Power(
        power=found.power,
        measure="precision",
        value=value,
        n_events=many,
        n_steps=sizes[0],
        coverage=float(share),
        alpha=alpha,
        n_alarms=n_alarms,
        method=found.how,
        error=found.error,
        notes=found.notes,
    )


def _of_recall(recall: float, plan: Plan, n_events: int, alpha: float) -> Power:
    n_steps, covered = plan.n_steps(n_events), plan.covered(n_events)
    if not attainable(recall, covered, n_events):
        raise InputError(
            argument="recall",
            value=recall,
            problem=f"of {plural(n_events, 'event')} cannot be near alarms that cover {plural(covered, 'step')} of "
            f"{n_steps:,}",
            remedy="pass a larger coverage, more steps, or a smaller recall",
        )
    highest = min(n_events, covered)
    critical = critical_hits(n_steps, covered, n_events, alpha)
    smallest = math.exp(hypergeometric_log_tail(n_steps, covered, n_events, highest, "upper"))
    notes = []
    if critical is None:
        notes.append(
            f"Not even {plural(highest, 'hit')} of {n_events:,} would be significant: the smallest p is {show_p(smallest)}."
        )
    if not plan.beats(recall):
        notes.append("Recall is not above the coverage, which is what chance finds: there is no skill to detect.")
    return Power(
        power=reached(recall, n_events, critical),
        measure="recall",
        value=recall,
        n_events=n_events,
        n_steps=n_steps,
        coverage=float(plan.coverage),
        alpha=alpha,
        critical_hits=critical,
        smallest_p=smallest,
        method=exactly("hypergeometric"),
        notes=tuple(notes),
    )


def recall_power(recall: float, plan: Plan, n_events: int, alpha: float) -> float:
    """The power alone; 0 where so many hits have no room."""
    n_steps, covered = plan.n_steps(n_events), plan.covered(n_events)
    if n_steps <= n_events or not attainable(recall, covered, n_events):
        return 0.0
    return reached(recall, n_events, critical_hits(n_steps, covered, n_events, alpha))


def attainable(recall: float, covered: int, n_events: int) -> bool:
    """Whether as many events as are found find room near alarms: no two lie on one step."""
    return recall * n_events <= covered * (1 + TIE_SLACK)


def reached(recall: float, n_events: int, critical: int | None) -> float:
    """P(Bin(n_events, recall) ≥ critical)."""
    if critical is None:
        return 0.0
    from scipy.special import betainc

    return float(betainc(critical, n_events - critical + 1, recall)) if critical else 1.0

