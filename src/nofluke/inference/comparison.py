"""Several detectors compared on the same units: the result, and how it is presented."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from nofluke.arrays import ByValue, FloatArray, IntArray
from nofluke.errors import InputError
from nofluke.inference.chance import f_test, significant
from nofluke.inference.differences import Difference, with_ends
from nofluke.inference.interval import MEASURES, Intervals, Kind
from nofluke.nulls.choice import choose
from nofluke.plain import check_word, finite_or_none
from nofluke.series.trial import Cell
from nofluke.text.exports import Exports
from nofluke.text.numbers import show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_share

N_RESAMPLES = 2_000  # where chance is simulated: for a picture


def chance_of(cell: Cell, measure: str, alpha: float, seed: int) -> tuple[float, float]:
    """Under the null that the data allow; NaN where the measure is undefined, or has no law under that null.

    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0] * 25, predictions=[0, 1, 0, 0] * 10 + [0] * 60, null="permutation")
    >>> mean, std = chance_of(result.cell, "recall", 0.05, 0)
    >>> round(mean, 3)
    0.1
    """
    of = {"precision": cell.n_predictions, "recall": cell.n_counted}
    needed = of.values() if measure == "f1" else [of[measure]]
    if 0 in needed:
        return math.nan, math.nan
    model = choose("auto", cell, alpha).model.hurried()
    with suppress(InputError):
        if measure == "f1":
            joint = model.joint(cell, n_resamples=N_RESAMPLES, rng=seed)
            test = f_test(math.nan, joint, *of.values())
            return test.expected, test.std
        law = getattr(model.distributions(cell, n_resamples=N_RESAMPLES, rng=seed), measure)
        return law.mean / of[measure], law.std / of[measure]
    return math.nan, math.nan



# ---- several detectors compared on the same units: the result, and how it is presented

MOST_PAIRS = 3  # that a table shows in full; of more, those with the best detector
NAMES = {"precision": "precision", "recall": "recall", "f1": "F1"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Exports, ByValue):
    """Several detectors on the same units, best F1 first, and the differences of all pairs.

    Attributes
    ----------
    detectors : tuple of str
        By descending F1; those without one are last.
    counts : int array, detectors x 4
        Alarms, hits among them, events, and found ones among those.
    values : float array, detectors x 3
        Precision, recall and F1; NaN where undefined.
    intervals : tuple of Intervals
        The intervals of each detector, from its own units.
    differences : tuple of Difference
        For all pairs and measures; the first of a pair comes first in ``detectors``.
    noun : str
        What was exchanged: "episodes" of one series, "series" or "groups".
    alpha, level : float
        Level of the tests, corrected for all pairs, and of the intervals.
    n_resamples, most_resamples, seed : int
        Swaps drawn for each pair, up to how many where Holm's correction needs them, and their seed.
    recut : bool
        Whether a quantile or a budget made cuts follow the scores, so that p-values are approximate.
    title : str
    notes : tuple of str
        What a reader should know.
    cells : mapping of str to Cell
        The trial of each detector, what chance is computed from; empty where units are series or groups.

    See Also
    --------
    nofluke.compare : makes it for one series.
    nofluke.Study.compare : makes it for many series.
    nofluke.plot.compare : draws it.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> truth = np.arange(400) % 20 == 7
    >>> found = nf.compare(truth, predictions={"early": np.roll(truth, -1), "half": truth & (np.arange(400) < 200)})
    >>> found.best, found.not_told_from_best
    ('half', ('half',))
    >>> one = found.difference("half", "early", "recall")
    >>> one.value, one.pvalue < 0.01
    (0.5, True)
    """

    detectors: tuple[str, ...]
    counts: IntArray = field(repr=False)
    values: FloatArray = field(repr=False)
    intervals: tuple[Intervals, ...] = field(repr=False)
    differences: tuple[Difference, ...] = field(repr=False)
    noun: Kind
    alpha: float
    level: float
    n_resamples: int
    most_resamples: int
    seed: int
    recut: bool = False
    title: str = ""
    notes: tuple[str, ...] = ()
    cells: Mapping[str, Cell] = field(repr=False, compare=False, default_factory=dict)

    @property
    def n_pairs(self) -> int:
        """How many pairs there are: what p-values are corrected for."""
        return len(self.differences) // len(MEASURES)

    @property
    def best(self) -> str | None:
        """The detector with the largest F1 that none significantly exceeds on common units; None if no F1 is defined.

        A detector that lacks the hard units may have the largest F1 and still be worse than another on the units it
        has.
        """
        defined = [name for name, value in zip(self.detectors, self.values[:, 2], strict=True) if not math.isnan(value)]
        return next((name for name in defined if not any(self._exceeds(other, name) for other in defined)), None)

    def _exceeds(self, one: str, other: str) -> bool:
        """Whether one is significantly better than another."""
        if one == other:
            return False
        found = self.difference(one, other)
        return found.value > 0 and self.told(found)

    @property
    def not_told_from_best(self) -> tuple[str, ...]:
        """The best detector and those whose F1 is not significantly smaller, corrected for all pairs; best first."""
        if self.best is None:
            return ()
        rest = (self.difference(self.best, name) for name in self.detectors if name != self.best)
        return (self.best, *(one.second for one in rest if not math.isnan(one.value) and not self.told(one)))

    def told(self, one: Difference) -> bool:
        """Whether a difference is significant, corrected for all pairs."""
        return not math.isnan(one.corrected) and significant(one.corrected, self.alpha)

    def difference(self, first: str, second: str, measure: str = "f1") -> Difference:
        """The difference between two detectors: the first one's value minus the second's."""
        check_word(measure, "measure", MEASURES)
        i, j = self._place(first, "first"), self._place(second, "second")
        if i == j:
            raise InputError(
                argument="second", value=second, problem="is also the first detector", remedy="name another"
            )
        # pairs are listed as itertools.combinations does
        low, high = sorted((i, j))
        at = low * len(self.detectors) - low * (low + 1) // 2 + high - low - 1
        one = self.differences[at * len(MEASURES) + MEASURES.index(measure)]
        return one if i < j else one.turned()

    def chance(self, measure: str = "f1") -> tuple[tuple[float, float], ...]:
        """Mean and standard deviation of what chance scores in place of each detector, under the null that fits it.

        NaN where the measure is undefined or no trial is known. Computed when asked for.
        """
        check_word(measure, "measure", MEASURES)
        unknown = (math.nan, math.nan)
        known = {name: chance_of(cell, measure, self.alpha, self.seed) for name, cell in self.cells.items()}
        return tuple(known.get(name, unknown) for name in self.detectors)

    def plot(self, ax: Any = None, *, measure: str = "f1") -> Any:
        """Draw values with intervals and chance, and differences with p-values (matplotlib); return both Axes."""
        from nofluke.plot import compare as plot_compare

        return plot_compare(self, ax, measure=measure)

    def _place(self, name: str, argument: str) -> int:
        check_word(name, argument, self.detectors)
        return self.detectors.index(name)

    def verdict_in_words(self) -> str:
        """Which detector is best, and which are not significantly worse."""
        group = self.not_told_from_best
        if not group:
            return "No detector has an F1, so none is best."
        level = f"at the {self.alpha:.3g} level" + (
            f", corrected for {plural(self.n_pairs, 'pair')}" if self.n_pairs > 1 else ""
        )
        if len(group) == 1:
            rest = " that has one" if math.isnan(self.values[-1, 2]) else ""
            if not math.isnan(self.values[1, 2]):
                return f"{group[0]} has the best F1, significantly better than every other{rest} {level}."
            return f"{group[0]} is the only one with an F1."
        told = ", ".join(
            f"{name} (not tested)" if self.difference(group[0], name).why_no_pvalue else name for name in group[1:]
        )
        return f"{group[0]} has the best F1; not significantly worse {level}: {told}."

    def how(self) -> str:
        """How p-values were computed."""
        drawn = {one.n_resamples for one in self.differences}
        text = f"p by exchanging {self.noun} between two detectors, two-sided"
        if any(one.method == "swaps and t" for one in self.differences):
            text += ", or by Student's t where that is larger"
        if self.recut:
            text += " (approximate, since cuts follow the scores)"
        if drawn == {0}:
            return f"{text}; all swaps were enumerated."
        listed = "all swaps, or " if 0 in drawn else ""
        more = f" (up to {self.most_resamples:,} where p is small)" if max(drawn) > self.n_resamples else ""
        return f"{text}; {listed}{self.n_resamples:,} random swaps{more}, seed {self.seed}."

    def table(self) -> Table:
        """Detectors, best first, then differences with intervals and p-values: all pairs, or those with the best."""
        rows: list[tuple[str, ...]] = [
            (name, *(with_ends(value, one.low, one.high) for value, one in zip(values, own, strict=True)))
            for name, values, own in zip(self.detectors, self.values.tolist(), self.intervals, strict=True)
        ]
        shown_pairs = [self.differences[i : i + len(MEASURES)] for i in range(0, len(self.differences), len(MEASURES))]
        if self.n_pairs > MOST_PAIRS:
            shown_pairs = shown_pairs[: len(self.detectors) - 1]
        for pair in shown_pairs:
            rows.append((f"{pair[0].first} − {pair[0].second}", *(one.in_words() for one in pair)))
            rows.append(("  p" if self.n_pairs == 1 else "  p (corrected)", *map(self._shown_p, pair)))
        only = "" if self.n_pairs <= MOST_PAIRS else f"JSON and CSV have the differences of all {self.n_pairs:,} pairs."
        correction = (
            "" if self.n_pairs == 1 else f" Corrected by Holm for {plural(self.n_pairs, 'pair')} in each measure."
        )
        return Table(
            title=self.title,
            columns=("", *NAMES.values()),
            rows=tuple(rows),
            notes=(
                self.verdict_in_words(),
                f"{self.how()}{correction}",
                *([only] if only else []),
                self._intervals_in_words(),
                *noted(self.notes),
            ),
        )

    def _shown_p(self, one: Difference) -> str:
        if math.isnan(one.pvalue):
            return "not tested" if one.why_no_pvalue else "undefined"
        return show_p(one.pvalue) + ("" if self.n_pairs == 1 else f" ({show_p(one.corrected)})")

    def _intervals_in_words(self) -> str:
        lacking = dict.fromkeys(one.why_no_interval for one in self.differences if not math.isnan(one.value))
        reasons = [why for why in lacking if why]
        without = f" Differences without one: {'; '.join(reasons[:2])}." if reasons else ""
        return f"Intervals are {100 * self.level:g}% intervals.{without}"

    def columns(self) -> dict[str, list[Any]]:
        """All pairs and measures in long form, by column name; undefined values are None."""
        rows = [one.to_dict() for one in self.differences]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _record(self) -> dict[str, Any]:
        keys = ("n_predictions", "precision_hits", "n_events", "recall_hits")
        detectors = [
            {
                "name": name,
                **dict(zip(MEASURES, map(finite_or_none, values), strict=True)),
                **dict(zip(keys, counts, strict=True)),
                "intervals": own.to_dict(),
            }
            for name, values, counts, own in zip(
                self.detectors, self.values.tolist(), self.counts.tolist(), self.intervals, strict=True
            )
        ]
        return {
            "schema": SCHEMA,
            "detectors": detectors,
            "best": self.best,
            "not_told_from_best": list(self.not_told_from_best),
            "differences": [one.to_dict() for one in self.differences],
            "units": self.noun,
            "alpha": self.alpha,
            "level": self.level,
            "n_resamples": self.n_resamples,
            "most_resamples": self.most_resamples,
            "seed": self.seed,
            "recut": self.recut,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        told = "; ".join(
            f"{name} F1 {show_share(f1)}" for name, f1 in zip(self.detectors, self.values[:, 2], strict=True)
        )
        return f"<Comparison: {told};\n not significantly worse than the best: {', '.join(self.not_told_from_best) or 'none'}>"

