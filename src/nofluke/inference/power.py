"""Power: how likely a detector with a stated recall or precision is told from chance.

The section "Power" of docs/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from nofluke.errors import InputError, shown
from nofluke.inference.plan import Plan, as_coverage, as_measure, as_plan, steps_of
from nofluke.inference.precision_power import simulate
from nofluke.laws.exact.hypergeometric import critical_hits, hypergeometric_log_tail
from nofluke.laws.law import How, exactly
from nofluke.nulls.base import check_resamples
from nofluke.plain import as_rng, as_share, as_whole, check_alpha
from nofluke.ratios import TIE_SLACK
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.numbers import show_p
from nofluke.text.tables import SCHEMA, Table, plural, show_share


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Power:
    """How likely a detector is told from chance: P(p ≤ alpha) with a stated recall or precision.

    Attributes
    ----------
    power : float
        The probability that the measure comes out significant at the level alpha.
    measure : {"recall", "precision"}
        What is tested.
    value : float
        The recall or precision that the detector truly has.
    n_events, n_steps : int
        Events and steps.
    coverage : float
        The share of steps near an alarm.
    alpha : float
        The level of the test.
    critical_hits : int or None
        Hits from which on recall is significant. None where no number of them is, and for precision, where it depends on how
        the alarms lie.
    smallest_p : float or None
        The smallest p that can come out for recall; None for precision.
    n_alarms : int or None
        Predicted steps, for precision.
    method : How
        "exact" for recall; for precision "simulated", with the number of resamples and the seed.
    error : float
        The standard error of a simulated power; 0 for an exact one.
    notes : tuple of str

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000)
    >>> round(found.power, 3), found.critical_hits, found.n_events
    (0.834, 5, 10)
    >>> found
    <Power 0.834: recall 0.600, 10 events in 2,000 steps, coverage 0.200, alpha 0.05; exact (hypergeometric)>
    """

    power: float
    measure: Literal["recall", "precision"]
    value: float
    n_events: int
    n_steps: int
    coverage: float
    alpha: float
    critical_hits: int | None = None
    smallest_p: float | None = None
    n_alarms: int | None = None
    method: How
    error: float = 0.0
    notes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """The power as a sentence."""
        whose = "of the events" if self.measure == "recall" else "of the alarms"
        does = "finds" if self.measure == "recall" else "is right in"
        error = f" ± {self.error:.2g}" if self.method.kind == "simulated" else ""
        return (
            f"A detector that {does} {100 * self.value:.4g}% {whose} is told from chance at the {self.alpha:.3g} level with "
            f"probability {show_share(self.power)}{error}."
        )

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        alarms = "" if self.n_alarms is None else f", {plural(self.n_alarms, 'alarm')}"
        made = f" {self.method.n_resamples:,} resamples" if self.method.n_resamples else ""
        seed = "" if self.method.seed is None else f", seed {self.method.seed}"
        return Table(
            title=f"{plural(self.n_events, 'event')} in {plural(self.n_steps, 'step')}{alarms}, "
            f"{show_share(self.coverage)} of the steps near an alarm",
            columns=("", "value", "power", "significant from", "smallest p"),
            rows=(
                (
                    self.measure,
                    show_share(self.value),
                    show_share(self.power),
                    "" if self.critical_hits is None else plural(self.critical_hits, "hit"),
                    "" if self.smallest_p is None else show_p(self.smallest_p),
                ),
            ),
            notes=(
                self.in_words(),
                f"Method: {self.method}.{made}{seed}{'.' if made else ''}",
                *(f"Note: {note}" for note in self.notes),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "power": self.power,
            "error": self.error,
            "measure": self.measure,
            "value": self.value,
            "n_events": self.n_events,
            "n_steps": self.n_steps,
            "n_alarms": self.n_alarms,
            "coverage": self.coverage,
            "alpha": self.alpha,
            "critical_hits": self.critical_hits,
            "smallest_p": self.smallest_p,
            "method": str(self.method),
            "n_resamples": self.method.n_resamples,
            "seed": self.method.seed,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        error = f" ± {self.error:.2g}" if self.method.kind == "simulated" else ""
        return (
            f"<Power {show_share(self.power)}{error}: {self.measure} {show_share(self.value)}, "
            f"{plural(self.n_events, 'event')} in {plural(self.n_steps, 'step')}, coverage {show_share(self.coverage)}, "
            f"alpha {self.alpha:.3g}; {self.method}>"
        )

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


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
    """How likely a detector with a stated recall, or precision, is told from chance.

    Chance places the events on random steps. Recall's hits are then hypergeometric, and significant from c on, the smallest
    number with P(H ≥ c) ≤ alpha; a detector that finds each event with probability R has binomial hits, so that its
    power is P(Bin(n_events, R) ≥ c), exactly. Precision's power is simulated.

    Parameters
    ----------
    recall, precision : float
        What the detector truly has, above 0 and at most 1: one of the two. State what would be worth finding; the value
        observed in the same data gives "observed power", which says nothing that the p-value does not.
    n_events : int
        How many events there are.
    n_steps : int, optional
        How many steps; or ``steps_per_event``, 200 unless said otherwise.
    coverage : float or str, optional
        The share of steps near an alarm, within the tolerance: 0.2 or "20%". It is chance's recall.
    share_alarms : float or str, optional
        Instead, the share a of steps that are predicted. If alarms are single steps, placed at random, the coverage is
        1 - (1 - a)^(early + late + 1). Alarms in runs cover less: then pass coverage. Precision needs this share.
    tolerance : int or Tolerance
        In steps, for share_alarms; a coverage has it in it already.
    alpha : float
        The level of the test.
    n_resamples, rng
        Of precision's simulation: in each run events lie on random steps, each of the alarms is near an event with
        probability ``precision``, on one of the steps within the tolerance of an event, and else on one of the other steps;
        the exact law of precision's hits, with these alarms, gives the p-value.

    Returns
    -------
    Power
        Power 0 where no outcome is significant, with a note.

    References
    ----------
    Hoenig and Heisey (2001), "The Abuse of Power", on observed power.

    Examples
    --------
    >>> import nofluke as nf
    >>> print(nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000).in_words())
    A detector that finds 60% of the events is told from chance at the 0.05 level with probability 0.834.
    >>> nf.power(precision=0.3, share_alarms=0.02, tolerance=2, n_events=10, n_steps=1_000, n_resamples=200, rng=1)
    <Power 0.865 ± 0.024: precision 0.300, 10 events in 1,000 steps, coverage 0.096, alpha 0.05; montecarlo>
    """
    if (recall is None) is (precision is None):
        raise InputError("pass either recall or precision: what the detector is supposed to have.")
    alpha, many = check_alpha(alpha), as_whole(n_events, "n_events", 1)
    share = as_coverage(coverage, share_alarms, tolerance)
    plan = as_plan(share, n_steps, steps_per_event)
    if plan.n_steps(many) <= many:
        raise InputError(
            f"n_events={many} leave no step free of {plan.n_steps(many):,}: pass more steps, or fewer events."
        )
    if precision is None:
        return _of_recall(as_measure(recall, "recall"), plan, many, alpha)
    if share_alarms is None:
        raise InputError("precision needs the number of alarms: pass share_alarms= in place of a coverage.")
    n_alarms = round(as_share(share_alarms, "share_alarms") * plan.n_steps(many))
    if n_alarms == 0:
        raise InputError(
            f"share_alarms={shown(share_alarms)} of {plan.n_steps(many):,} steps are not one alarm: pass more of either."
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
            f"recall={shown(recall)} of {plural(n_events, 'event')} cannot be near alarms that cover "
            f"{plural(covered, 'step')} of {n_steps:,}: pass a larger coverage, more steps, or a smaller recall."
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
        notes.append("Recall is not above the coverage, which is what chance finds: there is no skill to be told.")
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
