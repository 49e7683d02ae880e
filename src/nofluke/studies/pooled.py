"""What is said about each detector over all series: pooled measures, chance, intervals, and groups with skill.

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.errors import InputError, joined
from nofluke.inference.chance import ChanceTest, FTest, f_test, significant
from nofluke.inference.corrections import holm
from nofluke.inference.interval import Intervals, linearise
from nofluke.inference.verdict import floor_above, rule_by
from nofluke.laws.law import How, Law, exactly
from nofluke.laws.sums import SumLaw, comonotone
from nofluke.laws.tables import LogTable, with_data
from nofluke.lazy import lazy
from nofluke.levels import FEWEST_SHIFTS, NEAR_WINDOWS, UNLIKE
from nofluke.nulls import base
from nofluke.plain import as_whole, check_alpha
from nofluke.ratios import TIE_SLACK, divide, f_of_hits
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Chunk
from nofluke.studies.draws import (
    ALL,
    ALONE,
    Drawing,
    Drawn,
    Joint,
    Key,
    Placed,
    Placements,
    Task,
    cluster_seed,
    farthest,
    law_of_weights,
    model_of,
    summed_draws,
)
from nofluke.studies.exchange import Exchange, laws_of_matchings, matrices_of
from nofluke.studies.pooled_row import InGroup, Pooled, PooledMeasure
from nofluke.studies.rows import FARTHEST, add_middle
from nofluke.studies.shared import Shared, stretches, units_of, widened
from nofluke.studies.store import MEASURES, StoredLaw, Values, rows_named
from nofluke.studies.units import Counts, intervals_by
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


def pool(
    parts: Sequence[Law], hits: int | Sequence[int], *, measure: str, of: int | None = None, model: str = ""
) -> ChanceTest:
    """The test of a sum of hits: P(Σ X_i ≥ hits) with independent parts, exact if they all are.

    Parts that were simulated count their own observed hits as one more draw (`nofluke.laws.tables.with_data`): given
    all draws, the p-value of the sum is exact, and as small as the exact parts allow.

    Parameters
    ----------
    parts : sequence of Law
        What chance scores in each series, or each cluster of series that share a truth. Without any there is nothing to
        test: p = 1.
    hits : int or sequence of int
        Observed in all of them, or in each. If only their sum is known, no p-value is below 1/(n + 1) where one of the
        parts was simulated with n draws.
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
    if not isinstance(hits, int):
        parts = [with_data(law, own) for law, own in zip(parts, hits, strict=True)]
        hits = sum(hits)
    if not parts:
        law = LogTable(0, np.zeros(1), size=0, mean=0.0, var=0.0, method=exactly("nothing to test"))
    else:
        law = parts[0] if len(parts) == 1 else SumLaw(tuple(parts))
    return ChanceTest(measure=measure, hits=hits, of=law.size if of is None else of, law=law, model=model)


def pooled_f1(
    draws: IntArray,
    *,
    hits: tuple[int, int],
    of: tuple[int, int],
    seed: int | None = None,
    without: IntArray | None = None,
) -> FTest:
    """The pooled F1 of one detector against simulated hits: F1 is no sum, so it needs both hits of each placement.

    Parameters
    ----------
    draws : int array of two columns
        Precision's and recall's hits of each resample, added up over the series.
    hits, of : pairs of int
        Those observed, and the predictions and events that they are counted from.
    seed : int, optional
    without : int array, optional
        The same for mean and standard deviation, where parts of ``draws`` may be the data's own.

    Examples
    --------
    >>> pooled_f1(np.array([[0, 0], [1, 1], [2, 1]]), hits=(2, 2), of=(4, 2)).pvalue  # none of three reaches it
    0.25
    """
    value = math.nan if 0 in of else float(f_of_hits(*hits, *of, 1.0))
    test = f_test(value, _as_joint(draws, seed), *of)
    if without is None:
        return test
    chance = f_test(value, _as_joint(without, seed), *of)
    return replace(test, expected=chance.expected, std=chance.std)


def _as_joint(draws: IntArray, seed: int | None) -> base.Joint:
    how = How(kind="simulated", n_resamples=len(draws), seed=seed)
    return base.Joint(precision_hits=draws[:, 0], recall_hits=draws[:, 1], weights=np.ones(len(draws)), method=how)


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
    """How chance was computed; of parts, of which some were simulated, also how many."""
    how, parts = test.how, test.law.parts
    if not how.n_resamples:
        return str(how)
    drawn = sum(law.method.n_resamples is not None for law in parts)
    some = "" if drawn == len(parts) else f" for {drawn:,} of {len(parts):,} parts"
    return f"simulated ({how.n_resamples:,} draws{some})"


# ---- hits at other shifts: a needle if a detector has skill, a hill or waves if a season or drift is shared
#
# What a single series hides, since it has few events, adds up over many: each cell's null may be off by a little, and
# the sum of many by a lot. So the events of all series are shifted together by some steps, and the hits at these shifts
# are looked at: without anything shared they scatter around what the nulls expect, as much as these say.


Shape = Literal["needle", "hill", "unclear", "unseen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """What hits at other shifts say about the hits of the data.

    Attributes
    ----------
    shape : {"needle", "hill", "unclear", "unseen"}
        Other shifts are as chance has them ("needle"); they are not, and some of them have as many hits as the data
        ("hill"), or none has, so that the data stand out all the same ("unclear"); or there are too few shifts to see
        ("unseen").
    guard : int
        Steps around 0 that were left out, since skill itself reaches so far.
    excess : float
        Mean of the hits at other shifts less what the nulls expect, in its standard errors.
    pvalue : float
        How far the hits of the data are above the mean of those at near shifts, as a normal tail: a slow change raises
        both.
    """

    shape: Shape
    guard: int = 0
    excess: float = 0.0
    pvalue: float = 0.0

    def stands_out(self, alpha: float) -> bool:
        """Whether the hits of the data are more than those at other shifts; also where that cannot be seen."""
        return self.shape != "hill" and self.pvalue <= alpha


def look(hits: FloatArray, expected: float, std: float, window: int) -> Needle:
    """What the hits at shifts -W..W, the data's own in the middle, say beside the nulls' mean and standard deviation.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.poisson(20, 801).astype(float)
    >>> noise[400] = 60
    >>> look(noise, 20, 20**0.5, 1).shape
    'needle'
    >>> waves = 20 + 10 * np.cos(np.arange(-400, 401) / 4) + rng.normal(size=801)
    >>> look(waves, 20, 20**0.5, 1).shape
    'hill'
    """
    middle = len(hits) // 2
    own = float(hits[middle])
    guard = _guard(hits, expected, window)
    others = np.concatenate([hits[: middle - guard], hits[middle + guard + 1 :]])
    many = len(others) / _memory(others, window) if len(others) > 1 else 0.0
    if many < FEWEST_SHIFTS or std == 0:
        return Needle(shape="unseen", guard=guard)
    excess = (float(others.mean()) - expected) / (std / math.sqrt(many))
    spread = float(others.var()) / std**2
    # Wilson and Hilferty's cube root of a chi-squared over its degrees of freedom
    scattered = (spread ** (1 / 3) - (1 - 2 / (9 * many))) / math.sqrt(2 / (9 * many))
    level, error = _beside(
        hits, guard, max(NEAR_WINDOWS * window, (middle - guard) // 2), std**2 * _memory(others, window)
    )
    tail = 0.5 * math.erfc((own - level) / math.hypot(std, error) / math.sqrt(2))
    shape: Shape = "needle"
    if max(excess, scattered) > UNLIKE:
        shape = "hill" if float(others.max()) >= own else "unclear"
    return Needle(shape=shape, guard=guard, excess=excess, pvalue=tail)


def _beside(hits: FloatArray, guard: int, near: int, variance: float) -> tuple[float, float]:
    """Hits expected at shift 0 from those nearby, and the standard error: the mean, or a line if they fall off."""
    middle = len(hits) // 2
    both = (hits[middle:] + hits[middle::-1])[guard + 1 : guard + 1 + near] / 2
    away = np.arange(guard + 1, guard + 1 + len(both), dtype=np.float64)
    centred = away - away.mean()
    slope = float(centred @ both) / float(centred @ centred)
    of_mean, of_slope = variance / (2 * len(both)), variance / (2 * float(centred @ centred))
    if slope > -UNLIKE * math.sqrt(of_slope):
        return float(both.mean()), math.sqrt(of_mean)
    back = float(away.mean())
    return float(both.mean()) - slope * back, math.sqrt(of_mean + of_slope * back**2)


def _guard(hits: FloatArray, expected: float, window: int) -> int:
    """Twice the steps in which hits fall half-way to chance, plus a window; at most a quarter of the shifts."""
    middle = len(hits) // 2
    half = (float(hits[middle]) + expected) / 2
    below = np.flatnonzero(np.minimum(hits[middle:], hits[middle::-1]) < half)
    fallen = int(below[0]) if len(below) else middle
    return min(2 * fallen + window, middle // 4)


def _memory(values: FloatArray, window: int) -> float:
    """Shifts that count as one: 1 + 2 Σ of the autocorrelations, up to the first that is not positive.

    Of what is left beside a running mean over some windows: a hill is no memory of chance's.
    """
    width = min(8 * window + 1, len(values))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    begin, end = np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, len(values))
    centred = values - (sums[end] - sums[begin]) / (end - begin)
    power = float(centred @ centred)
    if power == 0:
        return 1.0
    size = 1 << (2 * len(values) - 1).bit_length()
    correlation = np.fft.irfft(np.abs(np.fft.rfft(centred, size)) ** 2, size)[: len(values)] / power
    last = int(np.argmax(correlation <= 0)) if (correlation <= 0).any() else len(values)
    return max(1.0, 1.0 + 2.0 * float(correlation[1:last].sum()))


# ---- how the chance of each cell enters that of its detector: alone, together with others, or by exchange


At = tuple[str, str]  # series and detector
Laws = Mapping[str, Mapping[str, StoredLaw]]  # by measure and series


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """How the chance of each cell enters that of its detector; cells whose null does not hold do not.

    Attributes
    ----------
    holds : bool array, series x detectors
        Cells whose null holds. Those in none of the following are independent of all others.
    together : mapping of (series, detector) to (cluster, group and detector, Placements)
        Cells of series that share a truth, under one placement; those that are alone in their group are in `ALONE`.
    mixed : mapping of (cluster, detector) to series
        Such cells without a placement that serves them all, since their nulls differ or their steps are not the same
        moments.
    exchanged : mapping of detector to Exchange
        Series whose labels are exchanged, in place of all of these.
    metrics : mapping of (series, detector) to Drawing
        How metrics of cells are drawn; those whose null does not hold are not.
    farthest, window, runs : int
        By how many steps all events can be shifted, the steps within the tolerance of an event, typically, and those of
        a labelled run.
    """

    holds: BoolArray = field(repr=False)
    together: Mapping[At, tuple[Key, Placements]] = field(repr=False)
    mixed: Mapping[tuple[int, str], tuple[str, ...]] = field(repr=False)
    farthest: int
    window: int
    runs: int = 1
    exchanged: Mapping[str, Exchange] = field(repr=False, default_factory=dict)
    metrics: Mapping[At, Drawing] = field(repr=False, default_factory=dict)

    @classmethod
    def of_exchange(cls, cells: Values, truths: Values, shared: Sequence[Shared], counts: Counts, asked: Asked) -> Plan:
        """With labels exchanged between series, whatever the nulls of cells are."""
        units, known = units_of(truths, shared), dict[bytes, Exchange]()
        for there in counts.there.T:
            if there.tobytes() not in known:
                known[there.tobytes()] = Exchange.of(there, counts, truths, units, asked.seed)
        found = {name: known[there.tobytes()] for name, there in zip(counts.detectors, counts.there.T, strict=True)}
        moved = {at: Drawing() for at in _defined(cells, asked) if at[0] in found[at[1]].slots}
        return cls(
            holds=np.zeros(counts.there.shape, dtype=np.bool_),
            together={},
            mixed={},
            farthest=0,
            window=1,
            exchanged=found,
            metrics=moved,
        )

    @classmethod
    def of(cls, cells: Values, truths: Values, shared: Sequence[Shared], counts: Counts, asked: Asked, n: int) -> Plan:
        """From the columns of a study's tables."""
        group_of = dict(zip(counts.series, counts.groups.tolist(), strict=True))
        holds = counts.placed(cells, "holds") == 1
        place = {str(name): i for i, name in enumerate(truths["series"])} if shared else {}
        nulls, steps_of = _placed_under({name for one in shared for name in one.series}, cells) if shared else ({}, {})
        together: dict[At, tuple[Key, Placements]] = {}
        mixed: dict[tuple[int, str], tuple[str, ...]] = {}
        for i, cluster in enumerate(shared):
            for name in counts.detectors:
                told = tuple(series for series in cluster.series if (series, name) in nulls)
                if len(told) < 2:
                    continue
                labels = {nulls[series, name] for series in told}
                placements = None
                axes = {str(truths["axis"][place[series]]) for series in told}
                in_time = any(truths["in_time"][place[series]] for series in told)
                # a mask may be a detector's own, such as where it has no score in one of the series
                many = {steps_of[series, name] for series in told}
                if len(labels) == len(axes) == len(many) == 1 and not in_time:
                    starts = [truths["starts"][place[series]] for series in told]
                    reach = widened(max(int(truths["reach"][place[series]]) for series in told))
                    seed = cluster_seed(asked.seed, cluster.series[0])
                    placements = Placements.of(model_of(labels.pop(), asked), starts, reach, seed=seed, n_draws=n)
                if placements is None:
                    mixed[i, name] = told
                else:
                    sizes = Counter(group_of[series] for series in told)
                    parts = {series: group_of[series] if sizes[group_of[series]] > 1 else ALONE for series in told}
                    together |= {(series, name): ((i, parts[series], name), placements) for series in told}
        reaches, steps = (np.asarray(truths[name], dtype=np.int64) for name in ("reach", "n"))
        return cls(
            holds=holds,
            together=together,
            mixed=mixed,
            farthest=farthest(int(steps.min())) if len(steps) else 0,
            window=2 * int(np.median(reaches)) + 1 if len(reaches) else 1,
            runs=_typical_run(truths) if asked.metrics else 1,
            metrics=_drawings(cells, shared, asked),
        )

    def told(self, counts: Counts, detector: str) -> BoolArray:
        """Which series enter the chance of a detector."""
        if detector in self.exchanged:
            own = self.exchanged[detector]
            known = (one in own.slots or one in own.empty for one in counts.series)
            return np.fromiter(known, dtype=np.bool_, count=len(counts.series))
        return self.holds[:, counts.detectors.index(detector)]

    def tasks(self, chunks: Sequence[Chunk], detectors: Sequence[str]) -> Iterator[Task]:
        """What is to be looked at again in the data of each chunk."""
        needed = {series for series, _ in (*self.together, *self.metrics)}
        needed |= {series for own in self.exchanged.values() for series in own.slots}
        for chunk in chunks:
            some = [series for series in chunk.series if series in needed]
            at = [(series, name) for series in some for name in detectors]
            yield Task(
                chunk=chunk,
                together={one: self.together[one] for one in at if one in self.together},
                exchanged={
                    (one, name): own.labels_of(one)
                    for name, own in self.exchanged.items()
                    for one in some
                    if one in own.slots
                },
                metrics={one: self.metrics[one] for one in at if one in self.metrics},
                farthest=self.farthest,
            )


def _placed_under(series: set[str], cells: Values) -> tuple[dict[At, str], dict[At, int]]:
    """The null of each cell of some series, where it holds, and how many of its steps count."""
    nulls, steps = dict[At, str](), dict[At, int]()
    columns = (cells[name] for name in ("series", "detector", "null", "holds", "n"))
    for one, name, null, holds, n in zip(*columns, strict=True):
        if holds and str(one) in series:
            nulls[str(one), str(name)], steps[str(one), str(name)] = str(null), int(n)
    return nulls, steps


def _typical_run(truths: Values) -> int:
    """The median length of labelled runs."""
    found, _ = stretches(truths)
    lengths = found.stops - found.starts
    return int(np.median(lengths)) if len(lengths) else 1


def _defined(cells: Values, asked: Asked) -> dict[At, tuple[bool, ...]]:
    """By cell that has any, which of its metrics have a finite value."""
    if not asked.metrics:
        return {}
    finite = np.stack([np.isfinite(np.asarray(cells[name], dtype=np.float64)) for name in asked.metrics], axis=1)
    at = zip(map(str, cells["series"]), map(str, cells["detector"]), finite.tolist(), strict=True)
    return {(series, name): tuple(known) for series, name, known in at if any(known)}


def _drawings(cells: Values, shared: Sequence[Shared], asked: Asked) -> dict[At, Drawing]:
    """How metrics are drawn under the nulls of their cells: those of series that share a truth together."""
    defined = _defined(cells, asked)
    if not defined:
        return {}
    columns = (cells[name] for name in ("series", "detector", "metrics_null", "metrics_holds"))
    nulls = {(str(series), str(name)): str(null) for series, name, null, holds in zip(*columns, strict=True) if holds}
    found = {at: Drawing(null=null, defined=defined[at]) for at, null in nulls.items() if at in defined}
    for cluster in shared:
        seed = cluster_seed(asked.seed, f"metrics {cluster.series[0]}")
        for name in {name for _, name in found}:
            own = [at for at in ((series, name) for series in cluster.series) if at in found]
            alike = cluster.identical and cluster.aligned and len({found[at].null for at in own}) == 1
            found |= {at: replace(found[at], seed=seed, sorted=not alike) for at in own if len(own) > 1}
    return found


# ---- series that share a truth, or exchange their labels, as one law of their summed hits: of all, and of one group


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lumped:
    """Series that share a truth, the laws of their summed hits by measure, and pairs of both."""

    series: tuple[str, ...]
    laws: Mapping[str, Law] = field(repr=False)
    joint: Joint = field(repr=False)


# ---- what is said about each detector over all series: pooled measures, chance, intervals


@dataclass(frozen=True, kw_only=True, eq=False)
class Pooling:
    """All that the pooled rows of a study are made of.

    Attributes
    ----------
    counts : Counts
    cells : mapping
        Columns of the study's cells.
    plan : Plan
    drawn : Drawn
        What was drawn of series that share a truth or exchange their labels.
    laws_of, joints_of : callable
        The stored laws, and the pairs of both hits, of a detector by series.
    shifts : mapping
        Columns of the study's hits at other shifts.
    n_draws, seed : int
    n_failed : mapping of str to int
        Cells without a result, by detector.
    alpha, level : float
    auto : bool
        Whether the data chose the nulls: then the verdict uses what hits at other shifts say, too.
    """

    counts: Counts
    cells: Values = field(repr=False)
    plan: Plan = field(repr=False)
    drawn: Drawn = field(repr=False)
    laws_of: Callable[[str], Laws]
    joints_of: Callable[[str], Mapping[str, Joint]]
    shifts: Values = field(repr=False)
    n_draws: int
    seed: int
    n_failed: Mapping[str, int]
    alpha: float
    level: float
    auto: bool = True

    def rows(self, best: Sequence[str]) -> tuple[Pooled, ...]:
        """One row a detector; ``best`` are those not significantly worse than the best."""
        many = len(self.counts.detectors)
        found = [self._row(detector, detector in best, self.alpha / many) for detector in self.counts.detectors]
        rows = corrected([row for row, _ in found])
        what = f"{many:,} detectors" if many > 1 else ""
        return tuple(
            replace(row, **self._ruled(row, tests, self._shifted(row.detector), what))
            for row, (_, tests) in zip(rows, found, strict=True)
        )

    def by_group(self) -> tuple[InGroup, ...]:
        """One row a detector and group, in the order of detectors; corrected for all of them."""
        rows, known = [], []
        many = sum(len(np.unique(self.counts.groups[there])) for there in self.counts.there.T)
        for detector in self.counts.detectors:
            of = _Detector(self, detector)
            for group, name in enumerate(self.counts.names):
                there = self.counts.there[:, of.d] & (self.counts.groups == group)
                if not there.any():
                    continue
                row, tests = self._in_group(of, there, group, name, self.alpha / many)
                rows.append(row)
                known.append(tests)
        rows = corrected(rows)
        what = f"{plural(len(self.counts.detectors), 'detector')} in {plural(len(self.counts.names), 'group')}"
        return tuple(
            replace(row, **self._ruled(row, tests, self._shifted(row.detector, row.group), what))
            for row, tests in zip(rows, known, strict=True)
        )

    def _in_group(
        self, of: _Detector, there: BoolArray, group: int, name: str, level: float
    ) -> tuple[InGroup, dict[str, _Tested]]:
        """The row of a detector in a group before any correction."""
        told, own = there & of.told, of.inside.get(group, ())
        if of.detector in self.plan.exchanged:
            told &= of.among(own)
        tests = of.tests(told, own)
        row = InGroup(
            detector=of.detector,
            group=name,
            n_series=int(there.sum()),
            n_told=int(told.sum()),
            **of.measures(there, told, tests, own, None),
            verdict="cannot tell",
            reason="",
            notes=self._notes(of, there, told, own),
        )
        return row, _Tested.each(tests, level)

    def _row(self, detector: str, best: bool, level: float) -> tuple[Pooled, dict[str, _Tested]]:
        of = _Detector(self, detector)
        there = self.counts.there[:, of.d]
        told = there & of.told
        tests = of.tests(told, of.lumped)
        intervals = intervals_by(self.counts, detector, self.level) if there.any() else None
        row = Pooled(
            detector=detector,
            n_series=int(there.sum()),
            n_failed=self.n_failed.get(detector, 0),
            n_told=int(told.sum()),
            **of.measures(there, told, tests, of.lumped, intervals),  # type: ignore[arg-type]  # no other field
            verdict="cannot tell",
            reason="",
            share_yes=divide(self._yes(detector), int(there.sum())),
            skill_in=skill_in(self._groups(of, told), self.alpha),
            n_groups=self.counts.n_groups,
            best=best,
            notes=self._notes(of, there, told, of.lumped),
        )
        return row, _Tested.each(tests, level)

    def _groups(self, of: _Detector, told: BoolArray) -> FloatArray:
        """For each group, how often chance does as well by either measure: twice the smaller p-value."""
        groups = self.counts.groups
        if of.detector in self.plan.exchanged:  # a group is told by its own classes, and by nothing else
            tests = [of.tests(of.among(own), own) for own in of.inside.values()]
            return np.array([min(1.0, 2 * min(test.pvalue for test in both.values())) for both in tests])
        at = np.flatnonzero(told)
        numbers, which, many = np.unique(groups[at], return_inverse=True, return_counts=True)
        found = np.empty(len(numbers))
        alone = many[which] == 1  # nothing to pool
        found[which[alone]] = self._least_pvalues[at[alone], of.d]
        members = np.split(at[np.argsort(which, kind="stable")], np.cumsum(many)[:-1])
        for g in np.flatnonzero(many > 1).tolist():
            both = of.tests(_among(len(groups), members[g]), of.inside.get(int(numbers[g]), ()))
            found[g] = min(test.pvalue for test in both.values())
        return np.minimum(2 * found, 1.0)

    @lazy
    def _least_pvalues(self) -> FloatArray:
        """The smaller p-value of each cell, series x detectors."""
        return np.minimum(*(self.counts.placed(self.cells, f"{measure}_pvalue") for measure in MEASURES))

    @lazy
    def _doubts(self) -> FloatArray:
        """How much the data of each cell say against its null, series x detectors."""
        return self.counts.placed(self.cells, "doubts")

    def _own(self, detector: str, group: str | None = None) -> BoolArray:
        """Which cells are a detector's, in all groups or one."""
        own: BoolArray = self.counts.at[1] == self.counts.detectors.index(detector)
        return own if group is None else own & rows_named(self.cells["group"], group)

    def _doubted(self, detector: str, group: str | None = None) -> int:
        if detector in self.plan.exchanged:  # which asks nothing of single cells
            return 0
        return int(np.count_nonzero(np.asarray(self.cells["doubts"])[self._own(detector, group)]))

    def _yes(self, detector: str) -> int:
        own = self._own(detector)
        return int(np.count_nonzero(own & (np.asarray(self.cells["verdict"], dtype=object) == "yes")))

    def _notes(self, of: _Detector, there: BoolArray, told: BoolArray, lumped: Sequence[Lumped]) -> tuple[str, ...]:
        detector = of.detector
        if detector in self.plan.exchanged:
            own = self.plan.exchanged[detector]
            return exchanged(own, told=int(told.sum()), untold=int(there.sum() - told.sum()))
        lumps = {name for one in lumped for name in one.series}
        mixed = {one for (_, name), series in self.plan.mixed.items() if name == detector for one in series}
        doubts = self._doubts[there, of.d]
        return remarks(
            told=int(told.sum()),
            untold=int(there.sum() - told.sum()),
            shared=len(lumps),
            mixed=len(lumps & mixed),
            doubted=int(np.count_nonzero(doubts)),
            without_f1=not of.has_pairs(told, lumped),
        )

    def _shifted(self, detector: str, group: str | None = None) -> FloatArray | None:
        """Hits of both measures (columns) at other shifts; None where some series cannot be shifted."""
        own = rows_named(self.shifts["detector"], detector)
        own = own if group is None else own & rows_named(self.shifts["group"], group)
        if detector in self.plan.exchanged or not own.any() or not np.asarray(self.shifts["known"])[own].all():
            return None
        total = np.zeros((2 * min(self.plan.farthest, FARTHEST) + 1, 2))
        for i in np.flatnonzero(own).tolist():
            total = add_middle(total, np.stack([self.shifts[measure][i] for measure in MEASURES], axis=1))
        return total

    def _ruled(
        self, row: Pooled | InGroup, tests: Mapping[str, _Tested], shifted: FloatArray | None, what: str
    ) -> dict[str, Any]:
        """Verdict, reason and notes by the p-values of precision and recall; ``what`` these are corrected for."""
        exchange = self.plan.exchanged.get(row.detector)
        if row.detector in self.counts.failed:
            return {"reason": self.counts.failed[row.detector]}
        if row.n_told == 0 and exchange is not None:
            return {"reason": f"Labels of no series can be exchanged with those of another: {exchange.why_not}."}
        if row.n_told == 0:
            return {"reason": "No null holds on any series."}
        for measure, missing in zip(MEASURES, ("predictions", "events"), strict=True):
            if tests[measure].of == 0:
                return {"reason": f"There are no {missing} on series whose null holds: nothing could have been hit."}
        found = {measure: getattr(row, measure).corrected for measure in MEASURES}
        upper: dict[str, float] = {measure: 1.0 if math.isnan(p) else p for measure, p in found.items()}
        needles = {
            measure: look(shifted[:, i], test.expected, test.std, self.plan.window)
            for i, (measure, test) in enumerate(tests.items() if shifted is not None else ())
            if shifted is not None
        }
        hills = [
            m for m, one in needles.items() if significant(upper[m], self.alpha) and not one.stands_out(self.alpha)
        ]
        notes = row.notes
        if hills:  # what one measure shows to be shared, the other must not only seem to stand out of
            hills += [m for m, one in needles.items() if m not in hills and one.shape == "unclear"]
            told = hill(hills, self.plan.farthest, self.auto)
            notes = (*notes, told)
        ruling = rule_by(
            {m: 1.0 if m in hills and self.auto else p for m, p in upper.items()},
            lambda measure: tests[measure].floor,
            self.alpha,
            f", corrected for {what}" if what else "",
        )
        if isinstance(row, Pooled) and (both := row.reconciled(self.alpha)):
            notes = (*notes, both)
        if hills and self.auto and ruling.verdict == "no":
            return {"verdict": "cannot tell", "reason": told, "notes": notes}
        doubted = self._doubted(row.detector, row.group if isinstance(row, InGroup) else None)
        under = (
            f"Under the requested null, which {doubted:,} of {row.n_series:,} series contradict: " if doubted else ""
        )
        return {"verdict": ruling.verdict, "reason": joined("", [under, ruling.reason]), "notes": notes}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tested:
    """What a verdict needs of a test, whose law has those of all cells: they go as soon as their detector is done.

    ``floor`` is the smallest p-value that could have come out, where it is above the level that corrected ones need.
    """

    of: int
    expected: float
    std: float
    floor: float | None

    @classmethod
    def each(cls, tests: Mapping[str, ChanceTest], level: float) -> dict[str, _Tested]:
        """Of both measures; what has reached the level can reach it."""
        return {
            measure: cls(
                of=test.of,
                expected=test.expected,
                std=test.std,
                floor=None if significant(test.pvalue, level) else floor_above(test, level),
            )
            for measure, test in tests.items()
        }


Row = TypeVar("Row", Pooled, InGroup)


def corrected(rows: Sequence[Row]) -> list[Row]:
    """The same with p-values corrected for all rows (Holm), measure by measure."""
    found = list(rows)
    for measure in ("precision", "recall", "f1"):
        pvalues = holm([getattr(row, measure).pvalue for row in found])
        found = [
            replace(row, **{measure: replace(getattr(row, measure), corrected=float(p))})
            for row, p in zip(found, pvalues, strict=True)
        ]
    return found


def _among(many: int, at: IntArray | list[int]) -> BoolArray:
    found = np.zeros(many, dtype=np.bool_)
    found[at] = True
    return found


class _Detector:
    """What chance scores for one detector: laws and pairs of its cells, and of clusters of its series."""

    def __init__(self, pooling: Pooling, detector: str) -> None:
        self.pooling, self.detector = pooling, detector
        self.d = pooling.counts.detectors.index(detector)
        self.told = pooling.plan.told(pooling.counts, detector)
        self.laws = pooling.laws_of(detector)
        self.joints = pooling.joints_of(detector)
        self.lumped, self.inside = self._clusters()

    def _clusters(self) -> tuple[tuple[Lumped, ...], dict[int, list[Lumped]]]:
        """All that share a truth, or exchange their labels; and, by group, those of one group."""
        if self.detector in self.pooling.plan.exchanged:
            return self._exchanged(self.pooling.plan.exchanged[self.detector])
        wholes: list[Lumped] = []
        inside: dict[int, list[Lumped]] = {}
        parts: dict[int, dict[int, list[str]]] = {}
        for (series, name), ((cluster, group, _), _) in self.pooling.plan.together.items():
            if name == self.detector:
                parts.setdefault(cluster, {}).setdefault(group, []).append(series)
        for cluster, own in parts.items():
            found = self.pooling.drawn.placed[cluster, self.detector]
            for group in own:
                if group != ALONE:
                    inside.setdefault(group, []).append(self._placed(own[group], found[group]))
            wholes.append(self._placed([name for some in own.values() for name in some], found[ALL]))
        group_of = dict(zip(self.pooling.counts.series, self.pooling.counts.groups.tolist(), strict=True))
        for (_, name), mixed in self.pooling.plan.mixed.items():
            if name == self.detector:
                wholes.append(self._careful(mixed))
                for group in dict.fromkeys(group_of[series] for series in mixed):
                    some = tuple(series for series in mixed if group_of[series] == group)
                    if len(some) > 1:
                        inside.setdefault(group, []).append(self._careful(some))
        return tuple(wholes), inside

    def _counted(self, names: Sequence[str]) -> IntArray:
        """Alarms, hits, events and found ones of some series, a row each."""
        at = [self.pooling.counts.place[name] for name in names]
        return self.pooling.counts.counts[at, self.d]

    def _exchanged(self, exchange: Exchange) -> tuple[tuple[Lumped, ...], dict[int, list[Lumped]]]:
        """All classes as one law; and those of each group, where groups are named."""
        if not exchange.classes:
            return (), {}
        matrices = matrices_of(exchange, self.pooling.drawn.exchanged[self.detector])

        def lumped(some: Sequence[int], more: tuple[str, ...] = ()) -> Lumped:
            names = (*(name for c in some for name in exchange.classes[c].series), *more)
            rows = self._counted(names)
            laws, joint = laws_of_matchings(
                [matrices[c] for c in some],
                [exchange.classes[c].seed for c in some],
                (int(rows[:, 0].sum()), int(rows[:, 2].sum())),
                self.pooling.n_draws,
            )
            return Lumped(series=names, laws=laws, joint=joint)

        groups: dict[int, list[int]] = {}
        for c, one in enumerate(exchange.classes):
            if one.group >= 0:
                groups.setdefault(one.group, []).append(c)
        every = list(range(len(exchange.classes)))
        return (lumped(every, exchange.empty),), {group: [lumped(some)] for group, some in groups.items()}

    def _placed(self, names: Sequence[str], found: Placed) -> Lumped:
        """Under one placement of the events."""
        rows = self._counted(names)
        own = found.joint.laws((int(rows[:, 0].sum()), int(rows[:, 2].sum())), found.how)
        placements = self.pooling.plan.together[names[0], self.detector][1]
        if placements.groups is None and placements.null.permutes and found.how.kind == "simulated":
            weighted = law_of_weights(found.weights, int(rows[0, 2]), len(names))
            own = own if weighted is None else {**own, "recall": weighted}
        return Lumped(series=tuple(names), laws=own, joint=found.joint)

    def _careful(self, series: tuple[str, ...]) -> Lumped:
        """As if all of them rose and fell together, where no placement serves them all."""
        u = np.random.default_rng(cluster_seed(len(series), series[0])).random(self.pooling.n_draws)
        hits = dict(zip(MEASURES, self._counted(series)[:, [1, 3]].T.tolist(), strict=True))
        own = {
            measure: comonotone(
                [with_data(self.laws[measure][n], k) for n, k in zip(series, hits[measure], strict=True)]
            )
            for measure in MEASURES
        }
        draws = [np.searchsorted(np.cumsum(law.table), u).clip(max=law.size) for law in own.values()]
        return Lumped(series=series, laws=own, joint=Joint.of(*draws, listed=False))

    def among(self, lumped: Iterable[Lumped]) -> BoolArray:
        """Which series some clusters have."""
        counts = self.pooling.counts
        return _among(len(counts.series), [counts.place[name] for one in lumped for name in one.series])

    def tests(self, told: BoolArray, lumped: Sequence[Lumped]) -> dict[str, ChanceTest]:
        """Of both measures on some series, of which those in clusters are told by these."""
        counts = self.pooling.counts
        alone = np.flatnonzero(told & ~self.among(lumped)).tolist()
        names = [counts.series[i] for i in alone]
        found = {}
        for i, measure in enumerate(MEASURES):
            own, laws = counts.counts[:, self.d, 2 * i + 1], self.laws[measure]
            parts = [*(one.laws[measure] for one in lumped), *(laws[name] for name in names)]
            hits = [*(int(own[[counts.place[n] for n in one.series]].sum()) for one in lumped), *own[alone].tolist()]
            of = int(counts.counts[told, self.d, 2 * i].sum())
            found[measure] = pool(parts, hits, measure=measure, of=of)
        return found

    def measures(
        self,
        there: BoolArray,
        told: BoolArray,
        tests: Mapping[str, ChanceTest],
        lumped: Sequence[Lumped],
        intervals: Intervals | None,
    ) -> dict[str, PooledMeasure]:
        """Precision, recall and F1 with their chance levels, not yet corrected."""
        counts = self.pooling.counts.counts[:, self.d]
        values = linearise(counts[there].sum(axis=0)[None]).values
        found = {
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
        f1 = PooledMeasure(value=float(values[2]), **ends_of(intervals, 2))  # type: ignore[arg-type]  # the ends alone
        return {**found, "f1": self._f1(f1, told, lumped)}

    def has_pairs(self, told: BoolArray, lumped: Sequence[Lumped]) -> bool:
        """Whether pairs of both hits are known of all series that no cluster tells."""
        alone = np.flatnonzero(told & ~self.among(lumped)).tolist()
        return all(self.pooling.counts.series[i] in self.joints for i in alone)

    def _joint_parts(self, told: BoolArray, lumped: Sequence[Lumped]) -> list[tuple[Joint, tuple[int, int], int]]:
        """Pairs, the data's own hits and a seed of each independent part."""
        counts, seed = self.pooling.counts, self.pooling.seed
        alone = np.flatnonzero(told & ~self.among(lumped))
        names = [counts.series[i] for i in alone.tolist()]
        own = [self._counted(one.series).sum(axis=0) for one in lumped] + [*counts.counts[alone, self.d]]
        return [
            (joint, (int(hits[1]), int(hits[3])), cluster_seed(seed, f"F1 {self.detector} {first}"))
            for joint, first, hits in zip(
                [*(one.joint for one in lumped), *(self.joints[name] for name in names)],
                [*(one.series[0] for one in lumped), *names],
                own,
                strict=True,
            )
        ]

    def _f1(self, found: PooledMeasure, told: BoolArray, lumped: Sequence[Lumped]) -> PooledMeasure:
        """F1's chance level and p-value, from draws of both hits."""
        alarms, hits, events, recalled = self.pooling.counts.counts[told, self.d].sum(axis=0).tolist()
        if not (alarms and events and self.has_pairs(told, lumped)):
            return found
        n = self.pooling.n_draws
        total, without = summed_draws(self._joint_parts(told, lumped), n)
        test = pooled_f1(total, hits=(hits, recalled), of=(alarms, events), without=without)
        return replace(
            found,
            told=test.value,
            expected=test.expected,
            std=test.std,
            pvalue=test.pvalue,
            method=f"simulated ({n:,} draws)",
        )
