"""Each of several detectors beside chance: p-values corrected for all of them, and the verdicts that use these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from nofluke.inference.chance import ChanceTest
from nofluke.inference.corrections import holm
from nofluke.inference.evaluate import Evaluation, shown_f1
from nofluke.inference.report import SideBySide
from nofluke.inference.verdict import Ruling, Verdict, ruled_as_found
from nofluke.ratios import divide
from nofluke.show.kit import shortened
from nofluke.studies.pooled_row import MEASURES, PooledMeasure
from nofluke.text.tables import plural, show_share

SIDES = ("precision", "recall")
MOST_NAMED, LONGEST = 5, 60  # names in a sentence, and letters of one
SAID: dict[Verdict, str] = {
    "yes": "Better than chance",
    "partly": "Partly",
    "no": "Could be a fluke",
    "cannot tell": "Cannot tell",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One detector: measures, verdict corrected for all detectors, and whether the best is not significantly better."""

    detector: str
    result: Evaluation = field(repr=False)
    measures: Mapping[str, PooledMeasure]
    ruling: Ruling
    best: bool

    @property
    def verdict(self) -> Verdict:
        """By the corrected p-values."""
        return self.ruling.verdict

    @property
    def doubtful(self) -> bool:
        """Whether the data speak against the null that was asked for."""
        return bool(self.result.settings.choice.doubts)


def rows_of(found: SideBySide) -> tuple[Row, ...]:
    """All detectors in the order of the comparison."""
    comparison, results = found.comparison, found.results
    best = comparison.not_told_from_best
    measured = {
        name: _measures(results[name], values, ends)
        for name, values, ends in zip(
            comparison.detectors,
            comparison.values.tolist(),
            ([(one.low, one.high) for one in own] for own in comparison.intervals),
            strict=True,
        )
    }
    corrected = {
        # what is undefined could have been defined: it counts among the tries
        measure: holm(np.nan_to_num([own[measure].pvalue for own in measured.values()], nan=1.0)).tolist()
        for measure in MEASURES
    }
    return tuple(
        Row(
            detector=name,
            result=results[name],
            measures={m: _with(own[m], corrected[m][i]) for m in MEASURES},
            ruling=_ruled(results[name], {m: corrected[m][i] for m in SIDES}, len(measured)),
            best=name in best,
        )
        for i, (name, own) in enumerate(measured.items())
    )


def _measures(result: Evaluation, values: list[float], ends: list[tuple[float, float]]) -> dict[str, PooledMeasure]:
    tests = (result.precision_test, result.recall_test)
    f1 = shown_f1(result.cell, result.settings, tests, "auto")
    chance = [_chance(test) for test in tests]
    chance.append(
        {} if f1 is None else {"expected": f1.expected, "std": f1.std, "pvalue": f1.pvalue, "method": f1.method}
    )
    made = (
        PooledMeasure(value=value, low=low, high=high, **own)  # type: ignore[arg-type]  # numbers and a text
        for value, (low, high), own in zip(values, ends, chance, strict=True)
    )
    return dict(zip((*SIDES, "f1"), made, strict=True))


def _chance(test: ChanceTest) -> dict[str, float | str]:
    shares = {"expected": divide(test.expected, test.of), "std": divide(test.std, test.of)}
    return {**shares, "pvalue": test.pvalue if test.of else math.nan, "method": test.method}


def _with(one: PooledMeasure, corrected: float) -> PooledMeasure:
    return replace(one, corrected=math.nan if math.isnan(one.pvalue) else corrected)


def _ruled(result: Evaluation, corrected: dict[str, float], n: int) -> Ruling:
    """The verdict by corrected p-values; what Bonferroni's n-fold p could not have reached cannot be told."""

    def hopeless(measure: str) -> bool:
        return result.floor_above(measure, result.alpha / n) is not None

    return ruled_as_found(result.ruling, corrected, hopeless, result.alpha, plural(n, "detector"))


def best_in_words(found: SideBySide) -> str:
    """Which detector is best, or that they cannot be told apart."""
    comparison = found.comparison
    group = comparison.not_told_from_best
    if len(group) < 2 or len(group) < len(comparison.detectors):
        return comparison.verdict_in_words()
    values = dict(zip(comparison.detectors, comparison.values[:, 2].tolist(), strict=True))
    pairs = f", corrected for {plural(comparison.n_pairs, 'pair')}" if comparison.n_pairs > 1 else ""
    told = _names([f"{name} {show_share(values[name])}" for name in group])
    return (
        f"No detector is significantly worse than the best at the {comparison.alpha:.3g} level{pairs}: by F1 they are "
        f"{told}."
        if len(group) > 2
        else f"{group[0]} and {group[1]} do not differ significantly at the {comparison.alpha:.3g} level: by F1 they are {told}."
    )


def chance_in_words(rows: tuple[Row, ...]) -> str:
    """Which detectors are better than chance."""
    by: dict[Verdict, list[str]] = {verdict: [r.detector for r in rows if r.verdict == verdict] for verdict in SAID}
    corrected = f"corrected for {plural(len(rows), 'detector')}"
    if len(by["yes"]) == len(rows):
        return f"All are better than chance, {corrected}."
    if not by["yes"] and not by["partly"]:
        none = f"None is shown to be better than chance, {corrected}."
        return none if not by["no"] or not by["cannot tell"] else f"{none} {_listed(by, ('no', 'cannot tell'))}"
    first = f"Better than chance, {corrected}: {_names(by['yes']) or 'none'}."
    return f"{first} {_listed(by, ('partly', 'no', 'cannot tell'))}"


def _listed(by: Mapping[Verdict, list[str]], verdicts: tuple[Verdict, ...]) -> str:
    return " ".join(f"{SAID[verdict]}: {_names(by[verdict])}." for verdict in verdicts if by[verdict])


def _names(names: list[str]) -> str:
    """The first of many, best first; the ranking has all."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(shortened(name, LONGEST) for name in names[:MOST_NAMED]) + more
