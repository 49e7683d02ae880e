"""Point adjustment: what random scores reach on public labels, beside published values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke import __version__
from nofluke.arrays import BoolArray, FloatArray, IntArray
from nofluke.datasets import BENCHMARKS, BenchmarkLabels, public_labels
from nofluke.inference.significance import ChanceLevel, Significance, chance, significance
from nofluke.nulls.random_scores import RandomScores
from nofluke.plot.style import PALETTE, SERIES, tidy
from nofluke.progress import progress_bar
from nofluke.reproduce.claim import OPEN, Claim, Claims, Found, Outcome, Reproduced, tally
from nofluke.reproduce.page import (
    Article,
    Drawn,
    Records,
    Row,
    Topic,
    check_draws,
    drawn_on,
    figure,
    key_above,
    listed,
    table,
)
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.tables import plural, show_share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# ---- every number, computed once

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
    """What chance reaches with point adjustment, and by which scores: in words for a table."""

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
    variants : tuple of Variant
        Best point-adjusted F1 of independent scores, which come first, and the same with a memory, at a fixed share of
        alarms, and without the entities that others leave out.
    """

    labels: BenchmarkLabels
    published: float
    plain: ChanceLevel
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

    @property
    def random(self) -> ChanceLevel:
        """What independent random scores reach."""
        return self.variants[0].level

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
class AdjustmentStudy:
    """Everything the figures, tables and statements are made from.

    ``rotated`` has made-up detectors, by their words, against rotations of each entity within itself.
    """

    cases: tuple[Case, ...]
    rotated: Mapping[str, Significance]
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
    labels = {name: public_labels(name) for name in BENCHMARKS}  # first: they may have to be downloaded
    cases = []
    with progress_bar("benchmarks", len(labels) + 1) as advance:
        for done, name in enumerate(labels):
            cases.append(_case(labels[name], seed, n_resamples))
            advance(done + 1)
        rotated = _rotations(labels[ROTATED], seed, min(n_resamples, ROTATIONS))
    return AdjustmentStudy(cases=tuple(cases), rotated=rotated, seed=seed, n_resamples=n_resamples)


def _case(labels: BenchmarkLabels, seed: int, n_resamples: int) -> Case:
    truth, few = labels.truth, min(n_resamples, FEW)

    def best(truth: BoolArray, n_resamples: int, **null: Any) -> ChanceLevel:
        return chance(METRIC, truth, **null, n_resamples=n_resamples, rng=seed)

    variants = [Variant(key="random", words="independent", level=best(truth, n_resamples))]
    for phi in MEMORIES:
        level = best(truth, few, null=RandomScores(phi=phi))
        variants.append(Variant(key=f"memory-{phi:g}", words=f"memory φ = {phi:g}", level=level))
    level = chance("pa-f1", truth, budget=SHARES[labels.name], n_resamples=few, rng=seed)
    variants.append(Variant(key="fixed-share", words="alarms on a fixed share", level=level))
    if labels.name in LEFT_OUT:
        gone = LEFT_OUT[labels.name]
        level = best(labels.without(*gone).truth, n_resamples)
        variants.append(Variant(key="left-out", words=f"{labels.name} without {', '.join(gone)}", level=level))
    plain = chance("best-f1", truth, n_resamples=min(n_resamples, FEWEST), rng=seed)
    return Case(labels=labels, published=PUBLISHED[labels.name], plain=plain, variants=tuple(variants))


def _rotations(labels: BenchmarkLabels, seed: int, rotations: int) -> dict[str, Significance]:
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
    how: dict[str, Any] = {"groups": labels.groups, "null": "circular-shift", "n_resamples": rotations, "rng": seed}
    return {words: significance(METRIC, labels.truth, scores, **how) for words, scores in detectors.items()}


# ---- statements

LEVEL = 0.05
ALL = "all benchmarks"
ADJUSTMENT: Claims[AdjustmentStudy] = Claims()


def verdict_on(case: Case) -> Outcome:
    """Whether the published value is better than random scores; open where so many draws cannot tell."""
    if abs(case.pvalue - LEVEL) < 2 * case.pvalue_error:
        return OPEN
    return "holds" if case.pvalue <= LEVEL else "does not hold"


@ADJUSTMENT.said(
    "{name}", "Figure 1", each={f"better-than-random-{name.lower()}": {"name": name} for name in BENCHMARKS}
)
def better_than_random(study: AdjustmentStudy, name: str) -> Found:
    """On {name}, the published point-adjusted F1 is better than that of random scores at their best thresholds."""
    case = next(case for case in study.cases if case.name == name)
    outcome = verdict_on(case)
    close = " That is too close to .05 for this many draws to decide." if outcome == OPEN else ""
    return outcome, (
        f"Random scores have {show_chance(case.random.expected, case.random.std)}; "
        f"{case.reached():,} of {case.random.n_resamples:,} reach the published {case.published} "
        f"(p = {show_p(case.pvalue)} ± {show_p(case.pvalue_error)}).{close} Corrected for chance it is "
        f"{show_share(case.corrected)}."
    )


@ADJUSTMENT.said("Kim et al. 2022", "Table 2")
def random_state_of_the_art(study: AdjustmentStudy) -> Found:
    """With point adjustment, even random scores become state of the art."""
    level = [case.name for case in study.cases if verdict_on(case) == "does not hold"]
    return bool(level), (
        f"At their best thresholds, more than one in twenty random scores reach the published value on "
        f"{listed(level) or 'none of them'}; the "
        f"shares are {_each(study.cases, [show_p(case.pvalue) for case in study.cases])}."
    )


@ADJUSTMENT.said(ALL, "Figure 1", each={"above-0.9": {}})
def above_nine_tenths(study: AdjustmentStudy) -> Found:
    """A point-adjusted F1 above .9 shows that a detector works."""
    shares = [float((case.random.values > 0.9).mean()) for case in study.cases]
    return (
        max(shares) <= LEVEL,
        f"Random scores are above .9 in {_each(study.cases, [f'{share:.0%}' for share in shares])} of all draws.",
    )


@ADJUSTMENT.said(ALL, "Table 2")
def without_adjustment(study: AdjustmentStudy) -> Found:
    """Without point adjustment, random scores do no better than an alarm at every step."""
    gaps = [abs(case.plain.expected - case.everywhere) for case in study.cases]
    return max(gaps) < 0.01, (
        "The best F1 of random scores is "
        f"{_each(study.cases, [show_share(case.plain.expected) for case in study.cases])}; with an alarm at every step F1 is "
        f"{_each(study.cases, [show_share(case.everywhere) for case in study.cases])}."
    )


@ADJUSTMENT.said(ALL, "Table 3")
def by_the_threshold(study: AdjustmentStudy) -> Found:
    """It is the choice of the best threshold that lifts random scores so high."""
    fixed = [case.variant("fixed-share").expected for case in study.cases]
    lost = [case.random.expected - mean for case, mean in zip(study.cases, fixed, strict=True)]
    return min(lost) > 0.05, (
        "With alarms on the share of steps that the published threshold aims at, random scores still have "
        f"{_each(study.cases, [show_share(mean) for mean in fixed])}, which is "
        f"{_each(study.cases, [f'{loss:.3f}' for loss in lost])} less than at their best thresholds."
    )


@ADJUSTMENT.said(ALL, "Table 3")
def level_at_the_share(study: AdjustmentStudy) -> Found:
    """With alarms on the share of steps that the published thresholds aim at, random scores are level with the
    published values as well.
    """
    levels = [case.variant("fixed-share") for case in study.cases]
    level = level_at_fixed_share(study)
    alone = " alone" if len(level) == 1 else ""
    return len(level) == len(study.cases), (
        f"Of {levels[0].n_resamples} draws "
        f"{_each(study.cases, [f'{case.reached(one)}' for case, one in zip(study.cases, levels, strict=True)])} reach the "
        f"published value: level on {listed(level) or 'none of them'}{alone}. The number of published alarms in the "
        "test parts is not known here."
    )


def level_at_fixed_share(study: AdjustmentStudy) -> list[str]:
    """The benchmarks on which random alarms on a fixed share of the steps are level with the published value."""
    return [case.name for case in study.cases if case.variant("fixed-share").pvalue_of(case.published) > LEVEL]


@ADJUSTMENT.said(ALL, "Table 3")
def whatever_the_memory(study: AdjustmentStudy) -> Found:
    """Random scores reach as much if they have a memory, as those of sliding windows do."""
    by_memory = {phi: [case.variant(f"memory-{phi:g}").expected for case in study.cases] for phi in MEMORIES}
    falls = any(
        case.random.expected - mean > 2 * case.random.std
        for means in by_memory.values()
        for case, mean in zip(study.cases, means, strict=True)
    )
    found = "; ".join(
        f"{_each(study.cases, [show_share(mean) for mean in means])} at φ = {phi:g}" for phi, means in by_memory.items()
    )
    return (
        not falls,
        f"They reach {found}. What chance gives a detector depends on the memory of its scores, so only its own scores, rotated, can tell.",
    )


def _each(cases: Iterable[Case], values: list[str]) -> str:
    return ", ".join(f"{value} ({case.name})" for case, value in zip(cases, values, strict=True))


# ---- figures

BIN = 0.0025
LEFT = 0.7  # of the first figure, unless random scores reach less
MARKERS = {"random": "o", "memory-0.9": "s", "memory-0.99": "D", "fixed-share": "^", "left-out": "v"}


def histogram(case: Case, left: float) -> tuple[FloatArray, IntArray]:
    """Edges and counts of the random values."""
    edges = np.linspace(left, 1, round((1 - left) / BIN) + 1)
    return edges, np.histogram(case.random.values, edges)[0]


def left_edge(study: AdjustmentStudy) -> float:
    """Where the axis begins."""
    least = min(float(case.random.values.min()) for case in study.cases)
    return min(LEFT, math.floor(least * 10) / 10)


def _against_random(figure: Figure, study: AdjustmentStudy) -> None:
    """Figure 1: the distribution of random scores' best values, and the published one as a line."""
    left = left_edge(study)
    axes = np.atleast_1d(figure.subplots(len(study.cases), 1, sharex=True))
    for ax, case in zip(axes, study.cases, strict=True):
        edges, counts = histogram(case, left)
        ax.stairs(counts / counts.max(), edges, fill=True, color=PALETTE["chance"], alpha=0.75, label="random scores")
        ax.axvline(case.published, color=PALETTE["observed"], linewidth=2, label="published value")
        ax.set_ylim(0, 1.12)
        ax.set_xlim(left, 1)
        ax.set_yticks([])
        of = "of " if case.reached() else ""
        told = f"{case.name}: published {case.published}, reached by {share_reached(case)} {of}random scores"
        ax.set_title(told, loc="left")
        tidy(ax)
        ax.spines["left"].set_visible(False)
    axes[-1].set_xlabel("best point-adjusted F1")
    key_above(figure, drawn_on(axes[0]), 2)


def share_reached(case: Case) -> str:
    """Which share of the random scores reach the published value."""
    reached, n = case.reached(), case.random.n_resamples
    return f"{100 * reached / n:.2g}%" if reached else f"none of {n:,}"


def _draw_otherwise(figure: Figure, study: AdjustmentStudy) -> None:
    """Figure 2: mean and band of chance by what is assumed, and the published value as a line over all."""
    ax: Any = figure.subplots()
    ticks, place, colours = [], 0.0, dict(zip(MARKERS, (PALETTE["chance"], *(c for c, _ in SERIES)), strict=False))
    for case in study.cases:
        top = place
        for one in case.variants:
            key, words, level = one.key, one.words, one.level
            low, high = level.band or (math.nan, math.nan)
            how = {"color": colours[key], "marker": MARKERS[key], "markersize": 5, "linestyle": "none"}
            ax.plot([low, high], [place, place], color=colours[key], linewidth=2)
            ax.plot([level.expected], [place], **how, label=None if words in drawn_on(ax) else words)
            place += 1
        ax.plot([case.published] * 2, [top - 0.45, place - 0.55], color=PALETTE["observed"], linewidth=2.2)
        ticks.append((top + place - 1) / 2)
        place += 0.8
    ax.plot([], [], color=PALETTE["observed"], linewidth=2.2, label="published value")
    ax.set_yticks(ticks, [case.name for case in study.cases])
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlim(right=1)
    ax.set_xlabel("point-adjusted F1: mean and 95% of the draws")
    tidy(ax)
    ax.grid(False, axis="y")
    key_above(figure, drawn_on(ax), 3)


# ---- numbers as CSV


def records(study: AdjustmentStudy) -> Records:
    """Rows of each file, by its name without ".csv"."""
    otherwise = [
        {"benchmark": case.name, "assumed": one.words, **_given(one.level), "reached": case.reached(one.level)}
        | {"draws": one.level.n_resamples}
        for case in study.cases
        for one in case.variants
    ]
    return {
        "figure-1": [
            {"benchmark": case.name, "from": low, "to": high, "draws": count}
            for case in study.cases
            for edges, counts in [histogram(case, left_edge(study))]
            for low, high, count in zip(edges[:-1].round(6), edges[1:].round(6), counts, strict=True)
        ],
        "figure-2": otherwise,
        "table-1": [
            {
                "benchmark": case.name,
                "steps": len(case.labels.truth),
                "entities": len(case.labels.entities),
                "ranges": case.labels.n_ranges,
                "labelled": int(case.labels.truth.sum()),
                "source": case.labels.source,
            }
            for case in study.cases
        ],
        "table-2": [
            {
                "benchmark": case.name,
                "best_f1_mean": case.plain.expected,
                "best_f1_everywhere": case.everywhere,
                **_given(case.random, "best_pa_f1_"),
                "published": case.published,
                "reached": case.reached(),
                "draws": case.random.n_resamples,
                "p": case.pvalue,
                "chance_corrected": case.corrected,
            }
            for case in study.cases
        ],
        "table-3": otherwise,
        "table-4": [
            {"detector": words, "value": one.value, **_given(one, "chance_")}
            | {"p": one.pvalue, "rotations": one.n_resamples}
            for words, one in study.rotated.items()
        ],
    }


def _given(level: ChanceLevel | Significance, what: str = "") -> Row:
    """What chance gives: its mean, its standard deviation, and the band if it has one."""
    low, high = level.band or ("", "")
    return {f"{what}mean": level.expected, f"{what}sd": level.std, "chance_2.5%": low, "chance_97.5%": high}


# ---- the page

PUBLISHED_IN = "Xu et al. (2022), Anomaly Transformer, ICLR"
QUOTED_IN = "github.com/thuml/Anomaly-Transformer/issues/34"


def article(study: AdjustmentStudy, claims: tuple[Claim, ...], figures: dict[str, Drawn]) -> Article:
    """The whole page."""
    return Article(
        title="Point-adjusted F1: published values and random scores",
        about=f"{plural(len(study.cases), 'benchmark')}, their public labels, and no detector at all, by nofluke {__version__}.",
        sentence=f"Random numbers instead of a detector have a point-adjusted F1 of {_means(study)}.",
        picture=figure(
            figures["figure-1"],
            1,
            f"Best point-adjusted F1 of {study.n_resamples:,} random scores on each benchmark, and the published value.",
        ),
        before=[_abstract(study, claims), _compared(study), _published(study)],
        rule=" A statement about a published value holds if at most one in twenty random scores reach it; if 1 in 20 lies "
        "within two Monte Carlo errors, it cannot be checked.",
        after=[_may_differ(study, figures), _rotated(study)],
        command=f"nofluke reproduce --point-adjustment --seed {study.seed} --permutations {study.n_resamples} -o out/",
        made=f"Everything is simulated with seed {study.seed}: {study.n_resamples:,} draws of independent scores by "
        "<code>nf.chance(&quot;best-pa-f1&quot;, labels)</code>, fewer where Table 3 says so. The same labels, seed "
        "and versions give the same bytes. Next to this page are every figure as SVG, PDF and PNG, and the numbers "
        "behind figures and tables as CSV.",
    )


def _abstract(study: AdjustmentStudy, claims: tuple[Claim, ...]) -> str:
    level = listed(level_at_fixed_share(study)) or "none of them"
    return (
        "<p>Point adjustment counts a whole labelled range as found as soon as one of its steps has an alarm. Papers "
        "then take F1 of the steps. A long range offers many steps to hit by luck: random numbers instead of a "
        f"detector's scores, with the threshold at which they do best, have a point-adjusted F1 of {_means(study)}. They are "
        f"compared with the values of a published state of the art. With alarms on a fixed share of the steps, which "
        f"is closer to how its thresholds were chosen, random scores are level with it on {level}. {tally(claims)}.</p>"
    )


def _means(study: AdjustmentStudy) -> str:
    return listed([f"{show_share(case.random.expected)} on {case.name}" for case in study.cases])


def _compared(study: AdjustmentStudy) -> str:
    rows = [
        (
            case.name,
            f"{len(case.labels.truth):,}",
            f"{len(case.labels.entities)}",
            f"{case.labels.n_ranges}",
            f"{case.share_labelled:.1%}",
            case.labels.source,
        )
        for case in study.cases
    ]
    return "\n".join(
        [
            "<h2>What is compared</h2>",
            "<p><strong>Chance.</strong> Every step of the test part gets an independent random number as its score. The threshold is "
            "the one with the highest point-adjusted F1, so chance may choose it too. Entities are concatenated into "
            f"one series, in the order of the source, and scored together. There are {study.n_resamples:,} such random "
            "scores for each benchmark; they need not be made step by step, since all that matters is the highest "
            "score of each range and how many other steps score above it.</p>",
            f"<p><strong>Published values.</strong> {escape(PUBLISHED_IN)}, as quoted in {escape(QUOTED_IN)}: one number for "
            "each benchmark, to four digits. The detector itself was not run here.</p>",
            table(
                "Table 1. The labels of the test parts.",
                ("", "steps", "entities", "ranges", "labelled", "from"),
                rows,
            ),
        ]
    )


def _published(study: AdjustmentStudy) -> str:
    rows = [
        (
            case.name,
            show_share(case.plain.expected),
            show_chance(case.random.expected, case.random.std),
            "{:.3f} to {:.3f}".format(*case.random.band) if case.random.band else "",
            f"{case.published}",
            share_reached(case),
            show_share(case.corrected),
        )
        for case in study.cases
    ]
    columns = ("", "best F1", "best PA-F1", "95%", "published", "reached by", "corrected")
    return "\n".join(
        [
            "<h2>Published values and random scores</h2>",
            table("Table 2. Random scores: best F1, best point-adjusted F1; and the published one.", columns, rows),
            '<p class="small">Best F1, best PA-F1: means over random scores without and with point adjustment (± standard deviation; '
            "95% of the draws). Reached by: the share of random scores whose best PA-F1 is at least the published value. Corrected: "
            "(published − chance)/(1 − chance), where chance is the mean of random scores: 0 is chance, 1 is perfect.</p>",
        ]
    )


def _may_differ(study: AdjustmentStudy, figures: dict[str, Drawn]) -> str:
    rows = [_variant_row(case, one) for case in study.cases for one in case.variants]
    shares = listed([f"{100 * SHARES[case.name]:g}% on {case.name}" for case in study.cases])
    return "\n".join(
        [
            "<h2>What may differ</h2>",
            "<ul>",
            "<li><strong>Thresholds.</strong> The published ones were not the best possible. They were set to give an "
            f"alarm on a fixed share of the validation data ({shares}), after which alarms were adjusted; the authors' "
            "code takes the percentile over the scores of the training and test parts together. Here chance gets its "
            "best threshold, which the published detector did not. Table 3 therefore also has random alarms on those "
            "shares of the test steps.</li>",
            "<li><strong>Memory.</strong> Detectors on sliding windows give neighbouring steps similar scores, and so have fewer "
            "tries within a range. Table 3 has random scores with a correlation of φ between neighbours. The memory of the published "
            "scores is not known here.</li>",
            "<li><strong>Labels.</strong> The source lists P-2 of SMAP twice; the first line is kept here. Papers that prepare the "
            "data as OmniAnomaly does leave P-2 out. The authors' code cuts the series into windows of 100 steps and drops the rest, up "
            "to 99 steps. The order of the entities changes nothing, unless ranges of two entities touch.</li>",
            "<li><strong>Digits.</strong> Published values are rounded to four digits.</li>",
            "</ul>",
            table(
                "Table 3. Random scores if one thing is changed.",
                ("scores", "PA-F1", "reached by", "of draws"),
                rows,
            ),
            figure(
                figures["figure-2"],
                2,
                f"What chance scores under each assumption: mean and 95% of the draws ({study.n_resamples:,}, or {FEW} "
                "where scores were made step by step).",
            ),
        ]
    )


def _variant_row(case: Case, one: Variant) -> tuple[str, str, str, str]:
    words = f"alarms on {100 * SHARES[case.name]:g}%" if one.key == "fixed-share" else one.words
    name, level = words if one.key == "left-out" else f"{case.name}, {words}", one.level
    return name, show_chance(level.expected, level.std), f"{case.reached(level):,}", f"{level.n_resamples:,}"


def _rotated(study: AdjustmentStudy) -> str:
    rows = [
        (
            words,
            show_share(one.value),
            show_chance(one.expected, one.std),
            show_p(one.pvalue),
            show_share(one.chance_corrected),
        )
        for words, one in study.rotated.items()
    ]
    first, *_, last = study.rotated.values()
    lower = (
        f" The last one has a lower value than the first, {show_share(last.value)} against {show_share(first.value)}, "
        f"but is the better detector: p = {show_p(last.pvalue)} against {show_p(first.pvalue)}."
        if last.value < first.value and last.pvalue < first.pvalue
        else ""
    )
    return "\n".join(
        [
            "<h2>With a detector: each entity rotated within itself</h2>",
            "<p>With the scores of a detector at hand, there is no need to guess their memory. Rotating them against "
            "the labels keeps it. Concatenated entities are each rotated within themselves, since a score of one says "
            "nothing about another: <code>nf.significance(&quot;best-pa-f1&quot;, labels.truth, scores, "
            f"groups=labels.groups)</code>. The threshold is chosen again in every rotation. Here are three made-up "
            f"detectors on {ROTATED}, of which two know nothing; the third is the second with 1.5 added to the scores "
            f"of labelled steps, one and a half times their standard deviation.{lower}</p>",
            table(
                f"Table 4. Three made-up detectors on {ROTATED}, {first.n_resamples:,} rotations.",
                ("detector", "best PA-F1", "chance", "p", "corrected"),
                rows,
            ),
        ]
    )


# ---- all of it

TOPIC: Topic[AdjustmentStudy] = Topic(
    claims=ADJUSTMENT,
    figures=lambda _: {"figure-1": (_against_random, 5.6, None), "figure-2": (_draw_otherwise, 4.6, None)},
    records=records,
    article=article,
    about=lambda study: {
        "data": {case.name: case.labels.source for case in study.cases},
        "seed": study.seed,
        "n_resamples": study.n_resamples,
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointAdjustment(Reproduced):
    """What was written about point adjustment, and what was found; ``study`` has every number."""

    study: AdjustmentStudy = field(repr=False)


def reproduce_point_adjustment(output: str | Path, *, seed: int = 0, n_resamples: int = 10_000) -> PointAdjustment:
    """Measure what random scores reach by point adjustment on MSL, SMAP, SMD and PSM, and write it down as a page.

    Parameters
    ----------
    output : path
        A directory; made if it does not exist, and a leading ``~`` is your home. Files of an earlier run are replaced.
    seed : int
        Of all draws. Same labels, seed and versions, same bytes.
    n_resamples : int
        Random scores on each benchmark. Where scores as long as the series have to be made, there are at most 60.

    Returns
    -------
    PointAdjustment

    Raises
    ------
    InputError
        If matplotlib is missing, the labels cannot be had, or the directory cannot be written.

    See Also
    --------
    nofluke.datasets.public_labels : the labels, from ``NOFLUKE_DATA`` or downloaded and checked.
    nofluke.chance : the same for your own labels.

    References
    ----------
    Kim et al. (2022), Towards a rigorous evaluation of time-series anomaly detection, AAAI. Xu et al. (2022), Anomaly
    Transformer: time series anomaly detection with association discrepancy, ICLR.

    Examples
    --------
    >>> from nofluke.reproduce import reproduce_point_adjustment
    >>> done = reproduce_point_adjustment("out")  # doctest: +SKIP
    >>> done.in_words()  # doctest: +SKIP
    """
    check_draws(seed, n_resamples, "n_resamples", usual="the page has 10,000")
    return TOPIC.write(output, lambda _: run_adjustment_study(seed=seed, n_resamples=n_resamples), PointAdjustment)
