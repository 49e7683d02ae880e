"""Diagnosis: what the events and the alarms are like, and which null model can be trusted with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from nofluke.arrays import ByValue, FloatArray, IntArray
from nofluke.errors import Remark, arg, say
from nofluke.nulls.base import NullModel
from nofluke.nulls.choice import pick
from nofluke.nulls.circular import CircularShift
from nofluke.nulls.evidence import adjacency, memory
from nofluke.nulls.permutation import Permutation
from nofluke.nulls.seasons import Period
from nofluke.nulls.seen import TRAITS, Finding, Look
from nofluke.nulls.shifts import around
from nofluke.plain import check_alpha, check_word
from nofluke.series.arguments import About, AboutDetector, takes
from nofluke.series.between import trial_of
from nofluke.series.counting import window_maxima
from nofluke.series.detector import AlarmRule, choose_cut
from nofluke.series.names import NONE, Names
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Length, Ranges, Tolerance, as_tolerance
from nofluke.series.trial import Cell
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_number, show_share

# ---- findings: what was looked at in events and alarms, measured and put into plain words


MUCH_COVERED = 0.5
LAGS = 20
LAG_SHARE = 100  # lags reach no further than this part of the sequence: else its rotations are too few to compare with


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestP:
    """The smallest p-values a null can give with these events and alarms; None where far below any level."""

    null: str
    precision: float | None
    recall: float | None


def alarm_findings(look: Look, alpha: float) -> tuple[Finding, Finding]:
    cell, in_time = look.cell, look.sketch is not None
    if cell.scores is not None:
        evidence, measured = memory(cell.scores), "rank autocorrelation of the score at lag 1"
    else:
        evidence, measured = adjacency(cell.alarms, cell.n_steps), say("mean length of runs of {alarms}")
    covered = cell.windows.covered / cell.n_steps
    return (
        Finding(
            name="memory of the score" if cell.scores is not None else say("runs of {alarms}"),
            found=evidence.pvalue <= alpha,
            statistic=evidence.statistic,
            pvalue=evidence.pvalue,
            looked_at=measured,
            sentence=say(
                "{Alarms} come in runs, so one {event} makes several hits: exact nulls account for it, a binomial does not."
            )
            if evidence.pvalue <= alpha
            else say("{Alarms} do not come in runs."),
        ),
        Finding(
            name="much is covered",
            found=covered > MUCH_COVERED,
            statistic=covered,
            pvalue=None,
            looked_at=say("share of the {} within the tolerance of {an_alarm}", "time" if in_time else "steps"),
            sentence=say(
                "{An_event} {} is found with probability {}: recall {}.",
                "at a random time" if in_time else "on a random step",
                show_share(covered),
                "says little" if covered > MUCH_COVERED else "can be informative",
            ),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LagProfile:
    """Hits of the events shifted by small lags, and whether the best lag means anything."""

    lags: IntArray = field(repr=False)
    precision_hits: IntArray = field(repr=False)
    recall_hits: IntArray = field(repr=False)
    best: int
    pvalue: float
    clearly_elsewhere: bool


def lag_profile(cell: Cell) -> LagProfile:
    """Hits by lag. The p-value compares the best lag with that of every rotation: exact under circular shifts."""
    n = cell.n_steps
    reach = max(min(LAGS, n // LAG_SHARE), min(1, (n - 1) // 2))
    recall, precision = around(cell, n)
    lags = np.arange(-reach, reach + 1)
    both = _standardised(precision) + _standardised(recall)
    around_it, steps = np.concatenate([both[n - reach :], both, both[:reach]]), np.arange(n)
    largest = window_maxima(around_it, Ranges(starts=steps, stops=steps + 2 * reach + 1))
    near = both[lags]
    # the tolerance makes a plateau of equally good lags: its middle, or none where it reaches 0
    tied = lags[near >= near.max() - 1e-9]
    best = 0 if 0 in tied else int(tied[len(tied) // 2])
    return LagProfile(
        lags=lags,
        precision_hits=precision[lags],
        recall_hits=recall[lags],
        best=best,
        pvalue=float((largest >= largest[0] - 1e-9).mean()),
        clearly_elsewhere=bool(both[best] - both[0] >= 2 * both.std() > 0),
    )


def _standardised(hits: IntArray) -> FloatArray:
    spread = float(hits.std())
    return (hits - hits.mean()) / spread if spread > 0 else np.zeros(len(hits))


def smallest_pvalues(cell: Cell, recommended: NullModel) -> dict[str, dict[str, float | None]]:
    """Both measures' smallest p-values under the permutation, the circular shift and, last, the recommended null."""
    models: dict[str, NullModel] = {"permutation": Permutation(), "circular-shift": CircularShift()}
    if not cell.truth.points:
        models.pop("permutation")
    models.pop(recommended.name, None)
    models[recommended.name] = recommended
    return {name: model.smallest_pvalues(cell) for name, model in models.items()}


def lag_finding(look: Look, profile: LagProfile, alpha: float) -> Finding:
    late, unit = look.measured(float(profile.best))
    most = f"{profile.lags[-1]}" if look.sketch is None else look.told(int(profile.lags[-1]))
    much = plural(abs(profile.best), "step") if look.sketch is None else look.told(abs(profile.best))
    found = profile.pvalue <= alpha and profile.clearly_elsewhere
    side = "late" if profile.best > 0 else "early"
    return Finding(
        name="lag",
        found=found,
        statistic=late,
        pvalue=profile.pvalue,
        looked_at=say(
            "shift of the {events} with the most hits, in {}, of -{} to {}; p of any association there",
            unit,
            most,
            most,
        ),
        sentence=say(
            "{Alarms} are steadily about {} {}: more tolerance on that side, or a shifted score, would hit more.",
            much,
            side,
        )
        if found
        else say("No shift of the {events} would give clearly more hits."),
    )


def few_events(cell: Cell, smallest: SmallestP, alpha: float) -> Finding:
    """Whether the recommended null could call these many events significant at all."""
    floors = {"precision": smallest.precision, "recall": smallest.recall}
    above = {measure: p for measure, p in floors.items() if p is not None and p > alpha}
    who = "Neither precision nor recall can" if len(above) == 2 else f"{''.join(above).capitalize()} cannot"
    least = " and ".join(f"{show_p(p)} for {measure}" for measure, p in above.items())
    return Finding(
        name=say("too few {events}"),
        found=bool(above),
        statistic=float(cell.n_events),
        pvalue=None,
        looked_at=say("number of {events}, and whether p can reach {:g} with them under the recommended null", alpha),
        sentence=say(
            "{} reach p = {:g} with these {events} and {alarms}: under the null {}, the smallest possible p is {}.",
            who,
            alpha,
            smallest.null,
            least,
        )
        if above
        else f"Under the null {smallest.null}, both measures could reach p = {alpha:g}.",
    )


# ---- diagnosis: what the events and the alarms are like, and which null model can be trusted with them

DEFAULT_QUANTILE = 0.9
NOT_LOOKED_FOR = (
    "Not looked for: more than two seasons, a season of fewer than four cycles, changes of both rates that are neither seasonal "
    "nor slower than an eighth of the series, and a common cause that acts within the tolerance. Any of these would "
    "count as skill."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis(Exports, ByValue):
    """What was found about events and alarms, and the null model to use with them.

    Attributes
    ----------
    n, n_events, n_predictions : int
        Steps that count, events and alarms on them.
    findings : tuple of Finding
        Everything that was looked for, found or not.
    recommended : NullModel
        The null to pass as ``null=``.
    why : str
        The reason in a sentence.
    holds : bool
        Whether any null keeps what was found; where none does, the verdict of an evaluation is "cannot tell".
    smallest_p : tuple of SmallestP
        For the permutation, the circular shift and the recommended null.
    covered : float
        Share of the steps with an alarm within the tolerance: where an event is found by chance.
    lags, precision_hits, recall_hits : int arrays
        Hits of the events shifted by each lag (around the circle): a detector that is late has its most hits at a
        positive lag.
    alpha : float
        The level of the findings.
    notes : tuple of str
    noun : str
        What an event is: "event" or "range".
    names : Names
        What events and alarms are called.

    See Also
    --------
    nofluke.diagnose : makes it.
    nofluke.nulls : the null models it chooses from.
    nofluke.evaluate : ``null="auto"`` follows its advice.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = nf.detectors.energy_transient(quakes.counts)
    >>> result = nf.diagnose(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> result.recommended.text, result.why
    ('permutation', 'The events show no clusters, runs, season or slow change, so chance may place each one
    independently.')
    >>> [finding.name for finding in result.findings if finding.found]
    ['memory of the score', 'lag']
    """

    n: int
    n_events: int
    n_predictions: int
    findings: tuple[Finding, ...]
    recommended: NullModel
    why: str
    holds: bool
    smallest_p: tuple[SmallestP, ...]
    covered: float
    lags: IntArray = field(repr=False)
    precision_hits: IntArray = field(repr=False)
    recall_hits: IntArray = field(repr=False)
    alpha: float
    notes: tuple[str, ...] = ()
    noun: str = "event"
    names: Names = field(repr=False, default=NONE)

    def finding(self, name: str) -> Finding:
        """The finding of that name."""
        by_name = {one.name: one for one in self.findings}
        check_word(name, "name", by_name)
        return by_name[name]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each finding, by column name."""
        names = ("name", "found", "statistic", "pvalue", "looked_at", "sentence")
        return {name: [getattr(finding, name) for finding in self.findings] for name in names}

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "n": self.n,
            "n_events": self.n_events,
            "n_predictions": self.n_predictions,
            "alpha": self.alpha,
            "recommended": {
                "null": self.recommended.name,
                "settings": self.recommended.settings,
                "text": self.recommended.text,
                "assumption": self.names.said(self.recommended.assumption),
                "why": self.why,
                "holds": self.holds,
            },
            "findings": [
                {
                    "name": f.name,
                    "found": f.found,
                    "statistic": f.statistic if math.isfinite(f.statistic) else None,
                    "pvalue": f.pvalue,
                    "looked_at": f.looked_at,
                    "sentence": f.sentence,
                }
                for f in self.findings
            ],
            "smallest_p": [{"null": s.null, "precision": s.precision, "recall": s.recall} for s in self.smallest_p],
            "covered": self.covered,
            "lags": self.lags.tolist(),
            "precision_hits": self.precision_hits.tolist(),
            "recall_hits": self.recall_hits.tolist(),
            "notes": list(self.notes),
        }

    def table(self) -> Table:
        """The findings as a small table, which renders as text, Markdown, LaTeX or HTML."""
        rows = tuple(
            (
                f.name,
                "yes" if f.found else "no",
                "" if math.isnan(f.statistic) else show_number(f.statistic),
                "" if f.pvalue is None else show_p(f.pvalue),
                f.looked_at,
            )
            for f in self.findings
        )
        found = tuple(f.sentence for f in self.findings if f.found)
        smallest = "; ".join(
            f"{s.null} {_show_smallest(s.precision)} (precision), {_show_smallest(s.recall)} (recall)"
            for s in self.smallest_p
        )
        told = Table(
            title=say(
                "{}, {}, {}: what a null model must account for",
                plural(self.n, "step"),
                plural(self.n_events, self.noun),
                plural(self.n_predictions, "prediction"),
            ),
            columns=("", "found", "statistic", "p", "looked at"),
            rows=rows,
            prose=True,
            notes=(
                say(
                    "Recommended: {}. {} {}",
                    arg("null", self.recommended.text),
                    self.why,
                    self.recommended.assumption,
                )
                if self.holds
                else say("No null holds for these data. {}", self.why),
                *found,
                f"Smallest possible p: {smallest}.",
                *noted(self.notes),
            ),
        )
        return told.called(self.names)

    def __repr__(self) -> str:
        seen = ", ".join(f.name for f in self.findings if f.found) or "nothing"
        return f"<Diagnosis of {plural(self.n_events, 'event')} in {plural(self.n, 'step')}: null {self.recommended.text!r}; found {seen}>"


def _show_smallest(value: float | None) -> str:
    return "tiny" if value is None else show_p(value)


@takes(AboutDetector, like="evaluate")
def diagnose(
    truth: Any,
    scores: Any = None,
    *,
    tolerance: Length | Tolerance = 0,
    period: Period | None = None,
    alpha: float = 0.05,
    **about: Unpack[AboutDetector],
) -> Diagnosis:
    r"""Are events clustered, seasonal or in runs? Do alarms have memory? Which null to trust, and why.

    Placing events on random steps sets a low bar: real events cluster and follow seasons, and then worthless detectors
    pass. This function looks for what a null model must keep, and names the one to use:

    - nothing found: :class:`~nofluke.nulls.Permutation`;
    - clusters or runs of events, or too few events to see any: :class:`~nofluke.nulls.CircularShift`;
    - a season: :class:`~nofluke.nulls.Seasonal`, or circular shifts by whole periods if events cluster within it too.

    Parameters
    ----------
    truth, scores, tolerance
        As in :func:`evaluate`; with scores and none of threshold, quantile and budget, the highest tenth of them are
        the alarms.
    <about>
    period : int or str, optional
        The season, if you know it: steps (masked ones counted), or a rule of the calendar, such as "hour of day" or
        "hour of week", on a clock of dates. By default all rules are tried where there is such a clock; without one,
        any period is searched for.
    alpha : float
        The level of the findings, and the one you want to test at.

    Returns
    -------
    Diagnosis

    See Also
    --------
    nofluke.evaluate : ``null="auto"`` uses this diagnosis.
    nofluke.nulls : the null models.
    nofluke.Diagnosis : the result.

    Notes
    -----
    Clusters: for blocks of w = 2, 4, 8, ... steps the variance of the counts over their mean, :math:`\sum_b (n_b - \bar
    n)^2 / (B \bar n)`, 1 for events on random steps; and the coefficient of variation of the gaps, 1 for geometric
    gaps. Both are compared with 199 random placements (within the phases of a season, if there is one), with a fixed
    seed. Runs: exact. Season: the ordinates of the spectrum at the period and its harmonics over their neighbours, so
    that clusters are not mistaken for a season; needs four periods. Memory: rank autocorrelation at lag 1. Lag: the
    best hits within some lags, against those of all rotations. Without events or alarms the tests say that nothing was
    found. O(T log T) on a regular clock.

    References
    ----------
    Michael (1997), Testing prediction methods: earthquake clustering versus the Poisson model.
    Luen and Stark (2008), Testing earthquake predictions.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth = [0, 0, 1, 1, 1, 0, 0, 0, 0, 0] * 10
    >>> result = nf.diagnose(truth, predictions=[0, 0, 0, 0, 1, 0, 0, 0, 0, 0] * 10)
    >>> result.recommended
    PeriodShuffle(period=10, windows=1, cycle=1)
    >>> result.finding("runs of events").statistic
    3.0
    """
    alpha = check_alpha(alpha)
    window = as_tolerance(tolerance)
    given = About.of(about)
    sequence, cut = prepare(truth, scores, **given.reading), given.cut
    notes = list(sequence.notes)
    if sequence.scores is not None and all(value is None for value in cut.values()):
        cut = {"quantile": DEFAULT_QUANTILE}
        notes.append(say("No threshold was given: the highest tenth of the scores count as {alarms}."))
    cuts = choose_cut(sequence, **cut)
    made = trial_of(sequence, (window,), cuts, AlarmRule.of(**given.alarms))
    notes += (*made.notes, *filter(None, [made.doubt]), *(() if cuts is None else cuts.notes))
    told: Any = {"notes": tuple(notes), "names": sequence.names}
    return diagnosis_of(made.trial.cell(0, 0), period=period, alpha=alpha, **told)


def diagnosis_of(
    cell: Cell,
    *,
    period: Period | None = None,
    alpha: float = 0.05,
    notes: tuple[str, ...] = (),
    names: Names = NONE,
) -> Diagnosis:
    """The diagnosis of one cell of a trial."""
    look = Look.of(cell, alpha, period)
    if period is not None and not look.calendar:
        missed = f"The period {period} could not be tested: it needs at least four periods of three steps or more."
        notes = (*notes, missed)
    chosen = pick(look)
    profile = lag_profile(look.cell)
    if look.sketch is not None:
        notes = (*notes, Remark("grid", "Times were analysed on a grid of {}.", look.told(1)))
    smallest = tuple(SmallestP(null=name, **values) for name, values in smallest_pvalues(cell, chosen.model).items())
    findings = (
        *(finding for trait in reversed(TRAITS) for finding in trait.findings(look)),
        *alarm_findings(look, alpha),
        lag_finding(look, profile, alpha),
        few_events(cell, smallest[-1], alpha),
    )
    return Diagnosis(
        n=cell.trial.n_told,
        n_events=cell.n_events,
        n_predictions=cell.n_predictions,
        findings=tuple(
            replace(one, looked_at=names.said(one.looked_at), sentence=names.said(one.sentence)) for one in findings
        ),
        recommended=chosen.model,
        why=names.said(chosen.why),
        holds=chosen.holds,
        smallest_p=smallest,
        covered=cell.covered / cell.n_steps,
        lags=profile.lags,
        precision_hits=profile.precision_hits,
        recall_hits=profile.recall_hits,
        alpha=alpha,
        notes=names.all_said((*notes, NOT_LOOKED_FOR)),
        noun=cell.truth.noun,
        names=names,
    )
