"""Molchan's diagram: the share of events missed against the share of time covered by alarms, threshold by threshold.

Time is covered as the null measures it: coverage is the share of events that chance finds, so that chance lies on the
diagonal under every null. The section "Molchan's diagram" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nofluke.arrays import ByValue, FloatArray, IntArray
from nofluke.inference.evaluate import Settings
from nofluke.laws.law import How
from nofluke.laws.montecarlo import hits_of
from nofluke.laws.montecarlo.in_time import folded
from nofluke.nulls.base import NullModel, check_resamples, drawing
from nofluke.nulls.placements import check_moves_events, draws, listed, placed_ranges
from nofluke.nulls.timed_shifts import hits_of_counted
from nofluke.plain import as_rng, check_alpha, finite_or_none
from nofluke.ratios import TIE_SLACK
from nofluke.series.counting import largest_within
from nofluke.series.timed import TimedTrial
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_number, show_share

MOST_THRESHOLDS = 256  # a curve of as many points is smooth
MOST_VALUES = 50_000_000  # hits kept: placements times thresholds
ROWS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)  # coverage that a table shows


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Molchan(Exports, ByValue):
    """The share of events that are missed against the share of time that alarms cover, with what chance misses.

    Arrays have a value for each threshold, from the fewest alarms to the most.

    Attributes
    ----------
    thresholds : float array
        In the numbers of the scores.
    coverage : float array
        τ: the share of events that chance finds, as the null measures it. For events on random steps, the share of
        steps within the tolerance of an alarm.
    missed : float array
        ν: the share of events without an alarm within the tolerance.
    low, high : float arrays
        The central 1 - alpha of what chance misses at each threshold by itself.
    lowest, highest : float arrays
        The band that chance's whole curve stays in with probability 1 - alpha, equally strict at every threshold.
    pvalues : float array
        Of recall at each threshold by itself.
    skill : float
        The area skill score: the area above the curve, with straight lines from threshold to threshold. Chance is
        expected to have 1/2, perfection has nearly 1; NaN without events.
    std, pvalue : float
        Standard deviation of chance's area, and how often chance's is as large, by the same placements as the band.
    alpha : float
    n_events : int
    tolerance : Tolerance
    null : str
    how : How
        How the placements were come by.
    pointwise : How
        How coverage and the band of each threshold by itself were computed.
    obstacle : str
        Why nothing can be told, where no null holds for the data; the p-value is NaN then. Else empty.
    notes : tuple of str

    See Also
    --------
    nofluke.Sweep.molchan : makes it.
    nofluke.plot.molchan : draws it.

    References
    ----------
    Molchan (1991), Structure of optimal strategies in earthquake prediction. Zechar and Jordan (2008), Testing
    alarm-based earthquake predictions; (2010), The area skill score statistic.

    Examples
    --------
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> curve = nf.sweep(quakes.truth, nf.detectors.energy_transient(quakes.counts), tolerances=2, rng=1)
    >>> found = curve.molchan(n_resamples=999)
    >>> round(found.skill, 3), found.pvalue
    (0.619, 0.001)
    """

    thresholds: FloatArray
    coverage: FloatArray
    missed: FloatArray
    low: FloatArray
    high: FloatArray
    lowest: FloatArray
    highest: FloatArray
    pvalues: FloatArray
    skill: float
    std: float
    pvalue: float
    alpha: float
    n_events: int
    tolerance: Tolerance
    null: str
    how: How
    pointwise: How
    obstacle: str = ""
    notes: tuple[str, ...] = ()

    @property
    def trajectory(self) -> tuple[FloatArray, FloatArray]:
        """Coverage and missed share with both ends: no alarms at all (0, 1), and all of the time in alarm (1, 0)."""
        return np.concatenate([[0.0], self.coverage, [1.0]]), np.concatenate([[1.0], self.missed, [0.0]])

    def in_words(self) -> str:
        """The area skill score as a sentence."""
        if math.isnan(self.skill):
            return "There are no events: the area skill score is undefined."
        told = f"The area skill score is {show_share(self.skill)}; chance gives 0.500 ± {self.std:.2g}"
        if self.obstacle:
            return f"{told}. Whether that is better than chance cannot be told. {self.obstacle}"
        drawn = (
            f"{self.how.n_resamples:,} resamples, seed {self.how.seed}"
            if self.how.kind == "simulated"
            else "all placements"
        )
        return f"{told}; {p_is(self.pvalue)} ({drawn})."

    def table(self) -> Table:
        """Some points of the curve, which renders as text, Markdown, LaTeX or HTML."""
        at = sorted({int(np.abs(self.coverage - share).argmin()) for share in ROWS}) if len(self.coverage) else []
        level = f"{100 * (1 - self.alpha):g}%"
        return Table(
            title=f"{plural(self.n_events, 'event')}, {plural(len(self.thresholds), 'threshold')}; tolerance "
            f"{self.tolerance}; null {self.null}",
            columns=("threshold", "coverage", "missed", f"chance, {level}", f"whole curve, {level}", "p"),
            rows=tuple(
                (
                    show_number(float(self.thresholds[i])),
                    show_share(float(self.coverage[i])),
                    show_share(float(self.missed[i])),
                    f"{show_share(float(self.low[i]))} to {show_share(float(self.high[i]))}",
                    f"{show_share(float(self.lowest[i]))} to {show_share(float(self.highest[i]))}",
                    show_p(float(self.pvalues[i])),
                )
                for i in at
            ),
            notes=(self.in_words(), *noted(self.notes)),
        )

    def columns(self) -> dict[str, Any]:
        """A row for each threshold, by column name."""
        return {name: getattr(self, name) for name in COLUMNS}

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "n_events": self.n_events,
            "tolerance": self.tolerance.plain(),
            "null": self.null,
            "alpha": self.alpha,
            "skill": finite_or_none(self.skill),
            "std": finite_or_none(self.std),
            "pvalue": finite_or_none(self.pvalue),
            "method": str(self.how),
            "n_resamples": self.how.n_resamples,
            "seed": self.how.seed,
            "obstacle": self.obstacle or None,
            "points": {name: [finite_or_none(v) for v in getattr(self, name).tolist()] for name in COLUMNS},
            "notes": list(self.notes),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the diagram (matplotlib); returns the Axes."""
        from nofluke.plot import molchan as plot_molchan

        return plot_molchan(self, ax)

    def __repr__(self) -> str:
        return (
            f"<Molchan of {plural(len(self.thresholds), 'threshold')}, {plural(self.n_events, 'event')}: area skill "
            f"{show_share(self.skill)}, {p_is(self.pvalue)}; null {self.null}>"
        )


COLUMNS = ("thresholds", "coverage", "missed", "low", "high", "lowest", "highest", "pvalues")


def molchan(
    whole: Trial, d: int, settings: Settings, notes: tuple[str, ...], *, alpha: float, n_resamples: int | None, rng: Any
) -> Molchan:
    """The diagram of a trial within its tolerance d: see `nofluke.Sweep.molchan`."""
    alpha, null = check_alpha(alpha), settings.null
    many = settings.n_resamples if n_resamples is None else check_resamples(n_resamples)
    chosen = _chosen(whole, d, many)
    told = None if whole.told is None else whole.told[chosen]
    trial = whole.over((whole.tolerances[d],), whole.thresholds[chosen], told)
    known: dict[str, Any] = {
        "thresholds": (trial.thresholds if told is None else told)[::-1],
        "alpha": alpha,
        "n_events": trial.cell(0, 0).n_counted,
        "tolerance": trial.tolerances[0],
        "null": null.text,
        "obstacle": "" if settings.choice.holds else settings.choice.obstacle,
        "notes": notes,
    }
    if known["n_events"] == 0:
        return _without_events(trial, known)
    hits, how = recall_on_placements(trial, null, many, settings.rng if rng is None else as_rng(rng))
    points = _points(trial, null, hits, how, alpha)
    areas = _areas(points["coverage"], hits / known["n_events"])
    lowest, highest = whole_band(hits, alpha)
    share = known["n_events"]
    return Molchan(
        **known,
        coverage=points["coverage"][::-1],
        missed=1 - hits[0, ::-1] / share,
        low=1 - points["high"][::-1] / share,
        high=1 - points["low"][::-1] / share,
        # laws that are exact may be a hit wider than the placements: the band of all is never the narrower one
        lowest=1 - np.maximum(highest, points["high"])[::-1] / share,
        highest=1 - np.minimum(lowest, points["low"])[::-1] / share,
        pvalues=points["pvalue"][::-1],
        skill=float(areas[0]),
        std=float(areas[how.kind == "simulated" :].std()),
        pvalue=math.nan if known["obstacle"] else float((areas >= areas[0] - TIE_SLACK).mean()),
        how=how,
        pointwise=points["how"],
    )


def _chosen(trial: Trial, d: int, n_resamples: int) -> IntArray:
    """Thresholds that predict different steps; if they are many, some that are evenly spaced in coverage."""
    first = np.sort(trial.distinct[0])
    most = int(np.clip(MOST_VALUES // n_resamples, 16, MOST_THRESHOLDS))
    if len(first) <= most:
        return first
    covered = trial.near_predictions[d][first]  # falls as thresholds rise
    wanted = np.linspace(covered[-1], covered[0], most)
    return first[np.unique(len(first) - 1 - np.searchsorted(covered[::-1], wanted, side="left"))]


def _without_events(trial: Trial, known: dict[str, Any]) -> Molchan:
    nothing, exact = np.full(len(trial.thresholds), np.nan), How(kind="exact")
    coverage = trial.near_predictions[0] / max(trial.n_steps, 1)
    bands: dict[str, Any] = dict.fromkeys(("missed", "low", "high", "lowest", "highest"), nothing)
    return Molchan(
        **known,
        **bands,
        coverage=coverage[::-1],
        pvalues=np.ones(len(nothing)),
        skill=math.nan,
        std=math.nan,
        pvalue=1.0,
        how=exact,
        pointwise=exact,
    )


# ---- recall's hits at every threshold over the same placements of the events, the data's own first


def recall_on_placements(trial: Trial, model: NullModel, n_resamples: int, rng: Any) -> tuple[IntArray, How]:
    """Hits of shape (placements, thresholds), of a trial with one tolerance: all placements, or random ones."""
    cells = [trial.cell(0, k) for k in range(len(trial.thresholds))]
    found = listed(model, cells, MOST_VALUES // len(cells))
    if found is not None:
        return found.recall, found.how
    check_moves_events(model)
    if not trial.truth.points:
        placed = placed_ranges(trial, model, n_resamples, rng)
        columns = [placed(cell) for cell in cells]
        return np.stack([found.recall for found in columns], axis=1), columns[0].how
    rng, how = drawing(n_resamples, rng)
    rows = draws(model, trial, n_resamples, rng)
    counted = trial.by_axis(steps=lambda trial: _on_steps(trial, rows), ticks=lambda trial: _in_time(trial, rows))
    hits = np.concatenate([trial.recall_hits, *counted])
    return hits, how


def _on_steps(trial: Trial, blocks: Iterator[Any]) -> Iterator[IntArray]:
    """An event on a step is found by as many thresholds as the largest score near it reaches."""
    largest = largest_within(trial.detector, trial.reaches[0].cover)
    found_by, n = np.searchsorted(trial.thresholds, largest, side="right"), len(trial.thresholds)
    for rows in blocks:
        at = found_by[np.asarray(rows, dtype=np.int64)] + (n + 1) * np.arange(len(rows))[:, None]
        counts = np.bincount(at.ravel(), minlength=(n + 1) * len(rows)).reshape(len(rows), n + 1)
        yield np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1]


def _in_time(trial: TimedTrial, blocks: Iterator[Any]) -> Iterator[IntArray]:
    cells = [trial.cell(0, k) for k in range(len(trial.thresholds))]
    places = folded(trial) if cells[0].counted is None else None
    for rows in blocks:
        if places is None:
            yield np.stack([hits_of_counted(cell, rows)["recall"] for cell in cells], axis=1)
        else:
            yield hits_of(places.problem, places.fold(rows)).recall[:, 0]


# ---- what chance finds at each threshold, over the whole curve, and above it


def _points(trial: Trial, model: NullModel, hits: IntArray, how: How, alpha: float) -> dict[str, Any]:
    """Coverage, central band and p-value at each threshold: by its exact law, or else by the placements."""
    n, ends = len(trial.thresholds), (alpha / 2, 1 - alpha / 2)
    m = trial.cell(0, 0).n_counted
    if how.kind == "simulated" and "recall" in model.exact_sides(trial.cell(0, 0), times=n):
        laws = [model.law_of(trial.cell(0, k), "recall") for k in range(n)]
        mean = np.array([law.mean for law in laws])
        low, high = np.array([law.quantile(ends) for law in laws]).T
        pvalue = np.array([law.upper(int(own)) for law, own in zip(laws, hits[0], strict=True)])
        how = laws[0].method
    else:
        mean, ordered = hits.mean(axis=0), np.sort(hits, axis=0)
        # the first value that so many placements do not exceed
        low, high = (ordered[max(math.ceil(q * len(hits) * (1 - TIE_SLACK)) - 1, 0)] for q in ends)
        pvalue = (hits >= hits[0]).mean(axis=0)
    return {"coverage": mean / m, "low": low, "high": high, "pvalue": pvalue, "how": how}


def whole_band(hits: IntArray, alpha: float) -> tuple[IntArray, IntArray]:
    """The least and the most hits at each threshold of a band that whole curves leave with probability alpha at most.

    At each threshold it is what both tails of the placements leave, at one level for all. Row 0 of the hits, the data,
    counts among the placements: of N that are equally likely, at most alpha N leave the band.

    >>> whole_band(np.array([[2, 0], [1, 1], [0, 0], [1, 0], [1, 1]]), 0.45)
    (array([1, 0]), array([1, 1]))
    >>> whole_band(np.array([[2, 0], [1, 1], [0, 0], [1, 0], [1, 1]]), 0.2)
    (array([0, 0]), array([2, 1]))
    """
    n, least = len(hits), np.full(len(hits), len(hits))
    ordered = np.sort(hits, axis=0)
    for own, column in zip(hits.T, ordered.T, strict=True):
        above = n - np.searchsorted(column, own, side="left")
        least = np.minimum(least, np.minimum(above, np.searchsorted(column, own, side="right")))
    allowed = math.floor(alpha * n * (1 + TIE_SLACK))
    strict = np.sort(least)
    # the largest level that no more than these reach: ties beyond them stay inside
    cut = int(strict[allowed]) - 1
    return ordered[cut], ordered[n - 1 - cut]


def _areas(coverage: FloatArray, found: FloatArray) -> FloatArray:
    """The area below each row of found shares over coverage, which falls as thresholds rise, with both ends."""
    at = np.concatenate([[1.0], coverage, [0.0]])
    return np.asarray(found @ ((at[:-2] - at[2:]) / 2) + (1 - at[1]) / 2)
