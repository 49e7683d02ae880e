"""Every number of the study of point adjustment, computed once: what random scores reach on public labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.datasets import BENCHMARKS, BenchmarkLabels, public_labels
from nofluke.errors import InputError
from nofluke.inference.metric_results import ChanceLevel, Significance
from nofluke.inference.significance import chance, significance
from nofluke.nulls.random_scores import RandomScores
from nofluke.progress import progress_bar

METRIC = "best-pa-f1"
PUBLISHED = {"MSL": 0.9359, "SMAP": 0.9669, "SMD": 0.9233, "PSM": 0.9789}
SHARES = {"MSL": 0.01, "SMAP": 0.01, "SMD": 0.005, "PSM": 0.01}  # of steps with an alarm, by the published threshold
MEMORIES = (0.9, 0.99)
LEFT_OUT = {"SMAP": ("P-2",)}  # by those who prepare the data as OmniAnomaly does
FEW = 60  # draws where scores as long as the series are made for each
FEWEST = 20  # where they hardly differ
ROTATIONS = 299
ROTATED = "MSL"  # many entities, and short: a draw takes milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What chance reaches when one thing is done otherwise, and how: in words for a table."""

    key: str
    words: str
    level: ChanceLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One benchmark: its labels, the published value, and what random scores reach.

    Attributes
    ----------
    labels : BenchmarkLabels
    published : float
        The published point-adjusted F1.
    plain : ChanceLevel
        Best F1 of random scores, without point adjustment.
    random : ChanceLevel
        Best point-adjusted F1 of random scores.
    variants : tuple of Variant
        The same with a memory, at a fixed share of alarms, and without the entities that others leave out.
    """

    labels: BenchmarkLabels
    published: float
    plain: ChanceLevel
    random: ChanceLevel = field(repr=False)
    variants: tuple[Variant, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """Of the benchmark."""
        return self.labels.name

    @property
    def share_labelled(self) -> float:
        """Of the steps."""
        return float(self.labels.truth.mean())

    @property
    def everywhere(self) -> float:
        """F1 of a detector with an alarm at every step."""
        return 2 * self.share_labelled / (1 + self.share_labelled)

    def variant(self, key: str) -> ChanceLevel:
        """What chance reaches in one of the variants."""
        return next(variant.level for variant in self.variants if variant.key == key)

    def reached(self, level: ChanceLevel | None = None) -> int:
        """How many draws of a chance level, by default that of random scores, reach the published value."""
        return int((np.asarray((level or self.random).values) >= self.published).sum())

    @property
    def pvalue(self) -> float:
        """Of the published value against random scores, (b + 1)/(n + 1)."""
        return self.random.pvalue_of(self.published)

    @property
    def pvalue_error(self) -> float:
        """Monte Carlo standard error of the p-value."""
        return math.sqrt(self.pvalue * (1 - self.pvalue) / self.random.n_resamples)

    @property
    def corrected(self) -> float:
        """(published - chance)/(1 - chance)."""
        return (self.published - self.random.expected) / (1 - self.random.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """One made-up detector against rotations of each entity within itself."""

    words: str
    result: Significance = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustmentStudy:
    """Everything the figures, tables and statements are made from."""

    cases: tuple[Case, ...]
    rotated: tuple[Rotated, ...]
    seed: int
    n_resamples: int


def run_adjustment_study(*, seed: int, n_resamples: int) -> AdjustmentStudy:
    """Compute the study on the public labels.

    Parameters
    ----------
    seed : int
        Of all draws.
    n_resamples : int
        Random scores on each benchmark. Where scores as long as the series have to be made, there are fewer.
    """
    if n_resamples < 1:
        raise InputError(
            argument="n_resamples", value=n_resamples, problem="must be at least 1", remedy="the page has 10,000"
        )
    if seed < 0:
        raise InputError(argument="seed", value=seed, problem="must not be negative")
    labels = {name: public_labels(name) for name in BENCHMARKS}  # first: they may have to be downloaded
    cases = []
    with progress_bar("benchmarks", len(labels) + 1) as advance:
        for done, name in enumerate(labels):
            cases.append(_case(labels[name], seed, n_resamples))
            advance(done + 1)
        rotated = _rotated(labels[ROTATED], seed, min(n_resamples, ROTATIONS))
    return AdjustmentStudy(cases=tuple(cases), rotated=rotated, seed=seed, n_resamples=n_resamples)


def _case(labels: BenchmarkLabels, seed: int, n_resamples: int) -> Case:
    truth, few = labels.truth, min(n_resamples, FEW)
    variants = [
        Variant(
            key=f"memory-{phi:g}",
            words=f"memory φ = {phi:g}",
            level=chance(METRIC, truth, null=RandomScores(phi=phi), n_resamples=few, rng=seed),
        )
        for phi in MEMORIES
    ]
    share = SHARES[labels.name]
    at_share = chance("pa-f1", truth, budget=share, n_resamples=few, rng=seed)
    variants.append(Variant(key="fixed-share", words="alarms on a fixed share", level=at_share))
    if labels.name in LEFT_OUT:
        left = labels.without(*LEFT_OUT[labels.name])
        level = chance(METRIC, left.truth, n_resamples=n_resamples, rng=seed)
        words = f"{labels.name} without {', '.join(LEFT_OUT[labels.name])}"
        variants.append(Variant(key="left-out", words=words, level=level))
    return Case(
        labels=labels,
        published=PUBLISHED[labels.name],
        plain=chance("best-f1", truth, n_resamples=min(n_resamples, FEWEST), rng=seed),
        random=chance(METRIC, truth, n_resamples=n_resamples, rng=seed),
        variants=tuple(variants),
    )


def _rotated(labels: BenchmarkLabels, seed: int, rotations: int) -> tuple[Rotated, ...]:
    """Three detectors that are known: two know nothing, the third a little."""
    generator = np.random.default_rng(seed)
    independent, slow = (
        np.asarray(RandomScores(phi=phi).draw(labels.truth)(generator, 1)[0]) for phi in (0.0, MEMORIES[-1])
    )
    detectors: dict[str, FloatArray] = {
        "random": independent,
        f"random, memory φ = {MEMORIES[-1]:g}": slow,
        "the same, + 1.5 in ranges": slow + 1.5 * labels.truth,
    }
    return tuple(
        Rotated(
            words=words,
            result=significance(
                METRIC,
                labels.truth,
                scores,
                groups=labels.groups,
                null="circular-shift",
                n_resamples=rotations,
                rng=seed,
            ),
        )
        for words, scores in detectors.items()
    )
