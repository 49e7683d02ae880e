"""What is said about each detector over all series: pooled measures, chance, intervals, and groups with skill.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.errors import InputError, joined
from nofluke.inference.chance import ChanceTest, FTest, f_test, significant
from nofluke.inference.corrections import holm
from nofluke.inference.interval import Intervals, linearise
from nofluke.inference.verdict import floor_above, rule_by
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.sums import SumLaw
from nofluke.laws.tables import LogTable
from nofluke.nulls.base import Joint
from nofluke.plain import as_whole, check_alpha
from nofluke.ratios import TIE_SLACK, divide, f_of_hits
from nofluke.studies.careful import intervals_by
from nofluke.studies.counts import Counts
from nofluke.studies.draws import Drawn
from nofluke.studies.exchange import Exchange
from nofluke.studies.lookup import rows_named
from nofluke.studies.lumped import Laws, Lumped, Lumping
from nofluke.studies.needle import Needle, look
from nofluke.studies.plan import Plan
from nofluke.studies.pooled_row import Pooled, PooledMeasure
from nofluke.studies.schema import MEASURES, Values
from nofluke.studies.stored_laws import StoredLaw
from nofluke.text.tables import plural

# ---- in how many of K independent groups a detector has skill: partial conjunctions of p-values


def partial_conjunction(pvalues: Any, k: int) -> float:
    """The p-value of "skill in at least k of K": min_{i ≥ k} (K - k + 1) p_(i) / (i - k + 1), Simes on the largest.

    If fewer than k groups have skill, at least K - k + 1 have none; whichever they are, the largest p-values are no
    smaller than theirs. NaN are no tests.

    Parameters
    ----------
    pvalues : array
        Of K independent groups.
    k : int
        From 1 to K.

    References
    ----------
    Benjamini and Heller (2008), Screening for partial conjunction hypotheses.

    Examples
    --------
    >>> partial_conjunction([0.001, 0.02, 0.9], 2)
    0.04
    """
    p = _sorted(pvalues)
    if len(p) == 0:
        raise InputError(argument="pvalues", value=pvalues, problem="has no test", remedy="pass at least one p-value")
    return _simes(p[as_whole(k, "k", 1, len(p)) - 1 :])


def skill_in(pvalues: Any, alpha: float = 0.05) -> int:
    """The largest k with "skill in at least 1, 2, ..., k" all significant: a lower bound with probability 1 - α.

    Tested upwards until the first that is not. Since a true hypothesis of some k makes those of all larger k true, the
    bound is too large only if the first true one is rejected, so that nothing has to be corrected for.

    References
    ----------
    Benjamini and Heller (2008), Screening for partial conjunction hypotheses.

    Examples
    --------
    >>> skill_in([0.001, 0.002, 0.01, 0.6])
    3
    """
    p, alpha = _sorted(pvalues), check_alpha(alpha)
    told = (_simes(p[k:]) <= alpha * (1 + TIE_SLACK) for k in range(len(p)))
    return next((k for k, significant in enumerate(told) if not significant), len(p))


def _simes(ascending: FloatArray) -> float:
    n = len(ascending)
    return min(float((ascending * n / np.arange(1, n + 1)).min()), 1.0) if n else 1.0


def _sorted(pvalues: Any) -> FloatArray:
    try:
        p = np.asarray(pvalues, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(
            argument="pvalues",
            value=pvalues,
            problem="must be numbers between 0 and 1, with NaN where there is no test",
        ) from None
    p = np.sort(p[~np.isnan(p)])
    if len(p) and not (p[0] >= 0 and p[-1] <= 1):
        raise InputError(argument="pvalues", problem="must lie between 0 and 1")
    return p


# ---- hits of one detector pooled over series, against what chance scores on all of them together


def pool(parts: Sequence[Law], hits: int, *, measure: str, of: int | None = None, model: str = "") -> ChanceTest:
    """The test of a sum of hits: P(Σ X_i ≥ hits) with independent parts, exact if they all are.

    Parameters
    ----------
    parts : sequence of Law
        What chance scores in each series, or each cluster of series that share a truth. Without any there is nothing to
        test: p = 1.
    hits : int
        Observed in all of them.
    measure : str
        "precision" or "recall".
    of : int, optional
        Predictions or events in all of them; by default what the laws say.
    model : str
        The null model's name.

    References
    ----------
    Cochran (1954); Mantel and Haenszel (1959): for recall under the permutation this is their exact test for 2 x 2
    tables.

    Examples
    --------
    >>> from nofluke.laws.tables import hypergeometric
    >>> test = pool([hypergeometric(10, 2, 1), hypergeometric(10, 3, 1)], 2, measure="recall")
    >>> round(test.pvalue, 12), test.expected, test.method
    (0.06, 0.5, 'exact (sum of independent laws)')
    """
    law: Law
    if not parts:
        law = LogTable(0, np.zeros(1), size=0, mean=0.0, var=0.0, method=exactly("nothing to test"))
    else:
        law = parts[0] if len(parts) == 1 else SumLaw(tuple(parts))
    return ChanceTest(measure=measure, hits=hits, of=law.size if of is None else of, law=law, model=model)


def pooled_f1(draws: IntArray, *, hits: tuple[int, int], of: tuple[int, int], seed: int | None = None) -> FTest:
    """The pooled F1 of one detector against simulated hits: F1 is no sum, so it needs both hits of each placement.

    Parameters
    ----------
    draws : int array of two columns
        Precision's and recall's hits of each resample, added up over the series.
    hits, of : pairs of int
        Those observed, and the predictions and events that they are counted from.
    seed : int, optional

    Examples
    --------
    >>> pooled_f1(np.array([[0, 0], [1, 1], [2, 1]]), hits=(2, 2), of=(4, 2)).pvalue  # none of three reaches it
    0.25
    """
    how = How(kind="simulated", n_resamples=len(draws), seed=seed)
    joint = Joint(precision_hits=draws[:, 0], recall_hits=draws[:, 1], weights=np.ones(len(draws)), method=how)
    value = math.nan if 0 in of else float(f_of_hits(*hits, *of, 1.0))
    return f_test(value, joint, *of)


# ---- what is said of a detector's pooled row, in plain words, and how its numbers are told


def exchanged(exchange: Exchange, *, told: int, untold: int) -> tuple[str, ...]:
    """Between how many series labels were exchanged, and between how many they could not be."""
    said, classes = [], len(exchange.classes)
    if told:
        said.append(
            f"Labels were exchanged between {plural(told, 'series', 'series')} in {plural(classes, 'class', 'classes')} of "
            "the same length and test part (and group, if groups are named): p-values assume that any of them could be "
            "those of another series of its class."
        )
    if untold and told:
        said.append(
            f"Labels of {plural(untold, 'series', 'series')} could not be exchanged, since {exchange.why_not}: chance and "
            f"p-values are those of the other {told:,}."
        )
    return tuple(said)


def remarks(*, told: int, untold: int, shared: int, mixed: int, doubted: int, without_f1: bool) -> tuple[str, ...]:
    """Series with no null that holds, with shared events, or contradicting the null; and F1 without a law."""
    said = []
    if untold:
        said.append(
            f"No null holds on {plural(untold, 'series', 'series')}: chance and p-values are those of the other {told:,}."
        )
    if shared:
        said.append(
            f"Events of {plural(shared, 'series', 'series')} coincide with those of others, so all series that share "
            "events share one placement of them."
        )
    if mixed:
        said.append(
            f"For {mixed:,} of these there is no such placement, since their nulls or clocks differ: their hits are "
            "assumed to rise and fall together, which is approximate."
        )
    if doubted:
        said.append(
            f"The data of {plural(doubted, 'series', 'series')} contradict the requested null: p-values, and the "
            "number of groups with skill, assume it."
        )
    if without_f1:
        said.append("F1 has no chance level: a null of some series has no joint law of both hits.")
    return tuple(said)


def hill(measures: Sequence[str], shifts: int, auto: bool) -> str:
    """What is said where hits are as many at other shifts."""
    rest = "p-values that ignore it say nothing." if auto else "the requested null does not keep that."
    return (
        f"Hits by {' and '.join(measures)} are about as many when all events are shifted by a few steps (up to "
        f"{shifts:,}): events and alarms may share a season or a slow change, and {rest}"
    )


def ends_of(intervals: Intervals | None, i: int) -> dict[str, float]:
    """The ends of the interval of a measure; NaN without any."""
    if intervals is None:
        return {"low": math.nan, "high": math.nan}
    one = tuple(intervals)[i]
    return {"low": one.low, "high": one.high}


def method_of(test: ChanceTest) -> str:
    """How chance was computed."""
    how = test.how
    return f"simulated ({how.n_resamples:,} draws)" if how.n_resamples else str(how)


# ---- what is said about each detector over all series: pooled measures, chance, intervals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pooling:
    """All that the pooled rows of a study are made of.

    Attributes
    ----------
    counts : Counts
    cells : mapping
        Columns of the study's cells.
    plan : Plan
    drawn : Drawn or None
        Draws of all cells; None where there are none, so that F1 has no chance level.
    laws_of : callable
        The stored laws of a detector.
    n_draws : int
    n_failed : mapping of str to int
        Cells without a result, by detector.
    alpha, level : float
    auto : bool
        Whether the data chose the nulls: then the verdict uses what hits at other shifts say, too.
    """

    counts: Counts
    cells: Values = field(repr=False)
    plan: Plan = field(repr=False)
    drawn: Drawn | None = field(repr=False)
    laws_of: Callable[[str], Laws]
    n_draws: int
    n_failed: Mapping[str, int]
    alpha: float
    level: float
    auto: bool = True

    def rows(self, best: Sequence[str]) -> tuple[Pooled, ...]:
        """One row a detector; ``best`` are those not significantly worse than the best."""
        found = [self._row(detector, detector in best) for detector in self.counts.detectors]
        rows = [row for row, _ in found]
        for measure in ("precision", "recall", "f1"):
            corrected = holm([getattr(row, measure).pvalue for row in rows])
            rows = [
                replace(row, **{measure: replace(getattr(row, measure), corrected=float(p))})
                for row, p in zip(rows, corrected, strict=True)
            ]
        return tuple(self._ruled(row, tests) for row, (_, tests) in zip(rows, found, strict=True))

    def _needles(self, detector: str, tests: Mapping[str, ChanceTest]) -> dict[str, Needle]:
        """What hits at other shifts say, by measure."""
        if self.drawn is None or detector in self.drawn.unshifted or detector not in self.drawn.shifted:
            return {}
        hits = self.drawn.shifted[detector].astype(np.float64)
        return {
            measure: look(hits[:, i], test.expected, test.std, self.plan.window)
            for i, (measure, test) in enumerate(tests.items())
        }

    def _row(self, detector: str, best: bool) -> tuple[Pooled, dict[str, ChanceTest]]:
        counts, d = self.counts, self.counts.detectors.index(detector)
        there = counts.there[:, d]
        told = there & self.plan.told(counts.series, detector)
        laws = self.laws_of(detector)
        lumped, inside = Lumping(
            detector=detector, counts=counts, plan=self.plan, drawn=self.drawn, laws=laws, n_draws=self.n_draws
        ).made()
        tests = {
            measure: self._test(measure, detector, np.flatnonzero(told), laws[measure], lumped, 2 * i)
            for i, measure in enumerate(MEASURES)
        }
        values = linearise(counts.counts[there, d].sum(axis=0)[None]).values
        intervals = intervals_by(counts, detector, self.level) if there.any() else None
        measured = {
            measure: PooledMeasure(
                value=float(values[i]),
                told=test.value,
                **ends_of(intervals, i),
                expected=divide(test.expected, test.of),
                std=divide(test.std, test.of),
                pvalue=test.pvalue if test.of else math.nan,
                method=method_of(test) if test.of else "",
            )
            for i, (measure, test) in enumerate(tests.items())
        }
        low, high = ends_of(intervals, 2).values()
        f1 = self._f1(detector, counts.counts[told, d].sum(axis=0), lumped)
        f1 = replace(f1, value=float(values[2]), low=low, high=high)
        yes = self._yes(detector)
        groups = self._groups(detector, told, laws, inside)
        row = Pooled(
            detector=detector,
            n_series=int(there.sum()),
            n_failed=self.n_failed.get(detector, 0),
            n_told=int(told.sum()),
            precision=measured["precision"],
            recall=measured["recall"],
            f1=f1,
            verdict="cannot tell",
            reason="",
            share_yes=divide(yes, int(there.sum())),
            skill_in=skill_in(groups, self.alpha),
            n_groups=counts.n_groups,
            best=best,
            notes=self._notes(detector, there, told, lumped),
        )
        return row, tests

    def _test(
        self,
        measure: str,
        detector: str,
        at: IntArray,
        laws: Mapping[str, StoredLaw],
        lumped: Sequence[Lumped],
        column: int,
    ) -> ChanceTest:
        counts, d = self.counts, self.counts.detectors.index(detector)
        shared = {name for one in lumped for name in one.series}
        parts: list[Law] = [one.laws[measure] for one in lumped]
        parts += [laws[counts.series[i]] for i in at.tolist() if counts.series[i] not in shared]
        of, hits = counts.counts[at, d][:, [column, column + 1]].sum(axis=0).tolist()
        return pool(parts, hits, measure=measure, of=of)

    def _f1(self, detector: str, observed: IntArray, lumped: Sequence[Lumped]) -> PooledMeasure:
        """F1's chance level and p-value, from draws of both hits."""
        alarms, hits, events, found = observed.tolist()
        none = PooledMeasure(value=math.nan)
        if self.drawn is None or detector in self.drawn.without or not (alarms and events):
            return none
        total = self.drawn.sums.get(detector, np.zeros((self.n_draws, 2), dtype=np.int64))
        for one in lumped:
            total = total + one.draws
        test = pooled_f1(total, hits=(hits, found), of=(alarms, events))
        return replace(
            none,
            told=test.value,
            expected=test.expected,
            std=test.std,
            pvalue=test.pvalue,
            method=f"simulated ({self.n_draws:,} draws)",
        )

    def _groups(self, detector: str, told: BoolArray, laws: Laws, inside: Mapping[int, Sequence[Lumped]]) -> FloatArray:
        """For each group, how often chance does as well by either measure: twice the smaller p-value."""
        groups = self.counts.groups
        if detector in self.plan.exchanged:  # a group is told by its own classes, and by nothing else
            return np.array([self._smaller(detector, own) for own in inside.values()])
        known = self._own_pvalues(detector)
        at = np.flatnonzero(told)
        at = at[np.argsort(groups[at], kind="stable")]
        found = []
        for here in np.split(at, np.flatnonzero(np.diff(groups[at])) + 1) if len(at) else ():
            if len(here) == 1:  # nothing to pool
                smaller = known[self.counts.series[here[0]]]
            else:
                own = inside.get(int(groups[here[0]]), ())
                tests = (self._test(m, detector, here, laws[m], own, 2 * i) for i, m in enumerate(MEASURES))
                smaller = min(test.pvalue for test in tests)
            found.append(min(1.0, 2 * smaller))
        return np.array(found)

    def _smaller(self, detector: str, own: Sequence[Lumped]) -> float:
        """How often chance does as well by either measure in series whose labels are exchanged."""
        at = np.flatnonzero([name in {one for lump in own for one in lump.series} for name in self.counts.series])
        tests = (self._test(m, detector, at, {}, own, 2 * i) for i, m in enumerate(MEASURES))
        return min(1.0, 2 * min(test.pvalue for test in tests))

    def _own_pvalues(self, detector: str) -> dict[str, float]:
        """The smaller p-value of each series."""
        own = self._own(detector)
        both = np.minimum(*(np.asarray(self.cells[f"{measure}_pvalue"])[own] for measure in MEASURES))
        names = np.asarray(self.cells["series"], dtype=object)[own]
        return dict(zip(names.tolist(), both.tolist(), strict=True))

    def _own(self, detector: str) -> BoolArray:
        """Which cells are a detector's."""
        return rows_named(self.cells["detector"], detector)

    def _doubted(self, detector: str) -> int:
        if detector in self.plan.exchanged:  # which asks nothing of single cells
            return 0
        own = self._own(detector)
        return int(np.count_nonzero(np.asarray(self.cells["doubts"])[own]))

    def _yes(self, detector: str) -> int:
        own = self._own(detector)
        return int(np.count_nonzero(own & (np.asarray(self.cells["verdict"], dtype=object) == "yes")))

    def _notes(self, detector: str, there: BoolArray, told: BoolArray, lumped: Sequence[Lumped]) -> tuple[str, ...]:
        if detector in self.plan.exchanged:
            own = self.plan.exchanged[detector]
            return exchanged(own, told=int(told.sum()), untold=int(there.sum() - told.sum()))
        return remarks(
            told=int(told.sum()),
            untold=int(there.sum() - told.sum()),
            shared=sum(len(one.series) for one in lumped),
            mixed=sum(len(series) for (_, name), series in self.plan.mixed.items() if name == detector),
            doubted=self._doubted(detector),
            without_f1=self.drawn is not None and detector in self.drawn.without,
        )

    def _ruled(self, row: Pooled, tests: Mapping[str, ChanceTest]) -> Pooled:
        """The verdict by the corrected p-values of precision and recall."""
        if row.detector in self.counts.failed:
            return replace(row, reason=self.counts.failed[row.detector])
        if row.n_told == 0 and row.detector in self.plan.exchanged:
            why = self.plan.exchanged[row.detector].why_not
            return replace(row, reason=f"Labels of no series can be exchanged with those of another: {why}.")
        if row.n_told == 0:
            return replace(row, reason="No null holds on any series.")
        for measure, what in zip(MEASURES, ("predictions", "events"), strict=True):
            if tests[measure].of == 0:
                return replace(
                    row, reason=f"There are no {what} on series whose null holds: nothing could have been hit."
                )
        found = {measure: getattr(row, measure).corrected for measure in MEASURES}
        upper: dict[str, float] = {measure: 1.0 if math.isnan(p) else p for measure, p in found.items()}
        needles = self._needles(row.detector, tests)
        hills = [
            m for m, one in needles.items() if significant(upper[m], self.alpha) and not one.stands_out(self.alpha)
        ]
        if hills:  # what one measure shows to be shared, the other must not only seem to stand out of
            hills += [m for m, one in needles.items() if m not in hills and one.shape == "unclear"]
            told = hill(hills, self.plan.farthest, self.auto)
            row = replace(row, notes=(*row.notes, told))
        ruling = rule_by(
            {m: 1.0 if m in hills and self.auto else p for m, p in upper.items()},
            lambda measure: floor_above(tests[measure], self.alpha / len(self.counts.detectors)),
            self.alpha,
            f", corrected for {len(self.counts.detectors):,} detectors" if len(self.counts.detectors) > 1 else "",
        )
        if hills and self.auto and ruling.verdict == "no":
            return replace(row, verdict="cannot tell", reason=told)
        doubted = self._doubted(row.detector)
        under = (
            f"Under the requested null, which {doubted:,} of {row.n_series:,} series contradict: " if doubted else ""
        )
        return replace(row, verdict=ruling.verdict, reason=joined("", [under, ruling.reason]))
