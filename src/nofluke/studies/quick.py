"""Cells under the permutation without an object for each: single events on a plain grid, all detectors at once.

What depends on the truth alone is worked out once a case; counts, laws and p-values come from compiled loops. Whatever
is out of the ordinary (a law too large, a doubt that the data might raise) goes the way that all cells can go,
`nofluke.studies.cells`, so that both ways say the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.inference.judging import TURNED, turned_note
from nofluke.inference.remarks import degenerate, inverted, offered_ranges
from nofluke.inference.verdict import ALMOST, NOTHING, obstacle_on_steps, rule_by
from nofluke.laws.exact.programme import LOG_GROWTH_ALLOWED, MASS
from nofluke.laws.tables import TRUSTED
from nofluke.nulls import spectrum
from nofluke.nulls.choice import Choice
from nofluke.nulls.combs import comb_tails, harmonics, harmonics_used
from nofluke.nulls.doubts import ENOUGH_EVENTS, LEVEL, MOST_STEPS, about_events, doubts
from nofluke.nulls.look import LONG_RUNS, SEASON, Look
from nofluke.nulls.periods import COMBS, JOINTLY, LEAST_CYCLES, OTHER_SIDE, whole_periods
from nofluke.nulls.permutation import Permutation
from nofluke.plain import as_share
from nofluke.ratios import TIE_SLACK, divide, f_beta
from nofluke.series.counting import nearest_alarms, within
from nofluke.series.reading import Sequence
from nofluke.studies.cells import Cells
from nofluke.studies.rows import Row, at_chance, named, tested

FEW = 4e6  # entries of a law's table up to which the compiled walk is the fastest: about two milliseconds


class Quick:
    """The detectors of one case under the permutation, after a first look at the case.

    Attributes
    ----------
    names : tuple of str
        The detectors that can go this way.
    """

    def __init__(self, shared: Cells, detectors: Mapping[str, AnyArray]) -> None:
        """Look at the case; ``names`` is empty where it has to go the other way."""
        self.shared = shared
        self.names: tuple[str, ...] = ()
        asked = shared.asked
        # a threshold is compared in the scores' own precision, which only the other way knows
        kinds = (np.float64,) if asked.threshold is not None else (np.float64, np.float32)
        plain = {name: z.astype(np.float64) for name, z in detectors.items() if z.dtype in kinds and z.ndim == 1}
        if not plain or asked.alarms.count != "steps" or asked.model is None or asked.model.text != "permutation":
            return
        sequence = shared.sequence(next(iter(plain.values())))
        made = shared.made(sequence, None)
        trial, window = made.trial, made.trial.tolerances[0]
        n, truth = trial.n_steps, trial.truth
        plainly = sequence.open_steps.all() and sequence.spans is None and not made.doubt and truth.points
        if not plainly or window.unit != "steps" or window.aside or not 1 < truth.n < n:
            return
        self.names = tuple(name for name, z in plain.items() if len(z) == n and np.isfinite(z).all())
        self.sequence, self.trial, self.n, self.events = sequence, trial, n, truth.starts
        self.early, self.late = (min(int(side), n) for side in (window.early, window.late))  # type: ignore[arg-type]
        self.near = int(trial.near_events[0])
        self.model = Permutation()
        self.notes = (*sequence.notes, *made.notes, *offered_ranges(sequence, truth, asked.count_events))
        self._see()
        scores = np.stack([plain[name] for name in self.names]) if self.names else np.zeros((0, n))
        self.scores = scores if sequence.sign == 1 else -scores

    def _see(self) -> None:
        """What is seen in the events alone."""
        from nofluke.studies import quick_spectra_kernels as spectra

        self.look = Look.of(self.trial.cell(0, 0), 0.05)
        self.doubt = about_events(self.model, self.look)
        clock = self.trial.truth.clock
        self.by_calendar = clock is not None and clock.is_dates
        self.enough = len(self.events) >= ENOUGH_EVENTS
        if self.enough and self.n <= MOST_STEPS:
            side, shortest = self.look.events.side, max(self.look.window + 1, 3.0)
            self.tails = spectra.against_neighbours(side.powers, spectrum.GAP, spectrum.NEIGHBOURS)
            self.searched = LEAST_CYCLES, min(int(self.n / shortest), len(side.powers) - 1)
            self.whole = whole_periods(self.n, shortest)
            self.combs = comb_tails(self.tails, self.n, len(side.at))[self.whole]
            self.places = harmonics(self.n, len(self.tails))[self.whole]

    def rows(self) -> dict[str, tuple[Row, tuple[Row, Row]] | None]:
        """By detector, its row and those of its two laws without names; None for one that has to go the other way."""
        from nofluke.studies import quick_kernels as kernels

        if not self.names:
            return {}
        compared, told, notes = self._cuts()
        alarms = [np.flatnonzero(z >= cut) for z, cut in zip(self.scores, compared.tolist(), strict=True)]
        slow = self._doubtful(alarms)
        self.all_equal = self.scores.min(axis=1) == self.scores.max(axis=1)
        return {
            name: self._row(name, i, alarms[i], float(told[i]), notes[i], bool(slow[i]), kernels)
            for i, name in enumerate(self.names)
        }

    def _cuts(self) -> tuple[FloatArray, FloatArray, list[tuple[str, ...]]]:
        """Thresholds of all detectors: what turned scores are compared with, what is told, and notes on ties."""
        asked, sign = self.shared.asked, self.sequence.sign
        notes: list[tuple[str, ...]] = [()] * len(self.names)
        if asked.quantile is not None:
            cuts = _quantiles(self.scores, float(asked.quantile))
            asked_for = math.ceil((1 - Fraction(repr(float(asked.quantile)))) * self.n)
            odd = ((self.scores >= cuts[:, None]).sum(axis=1) > 2 * max(asked_for, 1)) | ~np.isfinite(cuts)
        elif asked.budget is not None:
            cuts = _within(self.scores, math.floor(as_share(asked.budget, "budget") * self.n))
            odd = np.isinf(cuts)
        else:
            cuts, odd = np.full(len(self.names), sign * float(asked.threshold or 0.0)), np.ones(len(self.names), bool)
        told = sign * cuts + 0.0
        for i in np.flatnonzero(odd):  # what is to be said of ties, the usual way
            one = self.shared.cuts(self._sequence(int(i)))
            assert one is not None  # there are scores
            cuts[i], told[i], notes[i] = one.compared[0], one.told[0], one.notes
        return cuts, told, notes

    def _sequence(self, i: int) -> Sequence:
        """The series with the scores of one detector, as they were given."""
        return replace(self.sequence, scores=self.sequence.sign * self.scores[i])

    def _doubtful(self, alarms: list[IntArray]) -> BoolArray:
        """Which detectors may share a season or a slow change with the events: never too few."""
        from nofluke.studies import quick_spectra_kernels as spectra

        found = np.zeros(len(alarms), dtype=np.bool_)
        some = np.array([len(at) > 0 for at in alarms])
        if not self.enough or not some.any():
            return found
        if self.by_calendar or self.n > MOST_STEPS:
            return some
        side, longest = self.look.events.side, self.look.events.longest
        series = np.zeros((len(alarms), self.n))
        marks = [spectra.centred(at, row, LONG_RUNS) for row, at in zip(series, alarms, strict=True)]
        waves = np.fft.rfft(series)[:, 1 : (self.n + 1) // 2]
        powers = waves.real**2 + waves.imag**2
        top, looked = spectrum.lowest(side, longest)
        lowest = np.array(looked, dtype=np.int64)
        first, last = self.searched
        for i, power in enumerate(powers):
            if not some[i]:
                continue
            found[i] = spectra.slow_possible(side.powers[:top], power[:top], lowest, spectrum.BACKGROUND, LEVEL)
            if not found[i] and last >= first:
                tails = spectra.against_neighbours(power, spectrum.GAP, spectrum.NEIGHBOURS)
                searched = 2 * SEASON, JOINTLY, OTHER_SIDE
                found[i] = spectra.season_possible(self.tails, tails, first, last, *searched)
                if not found[i]:
                    used = harmonics_used(marks[i])[self.whole]
                    found[i] = spectra.whole_period_possible(self.combs, tails, self.places, used, COMBS, *searched)
        return found

    def _doubts(self, i: int, slow: bool) -> tuple[str, ...]:
        """What the data say against the permutation."""
        if not slow:
            return (self.doubt,) if self.doubt else ()
        sequence = self._sequence(i)
        made = self.shared.made(sequence, self.shared.cuts(sequence))
        return doubts(self.model, made.trial.cell(0, 0))

    def _row(
        self, name: str, i: int, alarms: IntArray, told: float, ties: tuple[str, ...], slow: bool, kernels: Any
    ) -> tuple[Row, tuple[Row, Row]] | None:
        n, m, n_alarms, alpha = self.n, len(self.events), len(alarms), self.shared.asked.alpha
        if not 0 < n_alarms < n:
            return None
        hits, found, covered, delay = kernels.count(alarms, self.events, n, self.early, self.late)
        length, g, h, reach = kernels.blocks_of(alarms, n, self.early, self.late)
        growth = math.log1p(m / (n - m))
        most = min(m * reach, n_alarms)
        costs = len(length) * (reach + 2) * (m + 1) * (most + 1) / 2
        if costs > FEW or length.max() * growth > LOG_GROWTH_ALLOWED or self.early + self.late + 1 > n - m:
            return None
        recall = kernels.hypergeometric(n, covered, m)
        precision = kernels.precision_table(
            length, g, h, reach, n_alarms, recall, m / (n - m), MASS, LOG_GROWTH_ALLOWED
        )
        level = min(alpha, ALMOST)
        one = kernels.summed(precision, hits, n_alarms, level, TIE_SLACK, NOTHING)
        other = kernels.summed(recall, found, m, level, TIE_SLACK, NOTHING)
        if min(one[0], other[0]) < TRUSTED:
            return None
        choice = Choice(model=self.model, asked=self.model.text, why="", doubts=self._doubts(i, slow))
        upper = {"precision": one[0], "recall": other[0]}
        floors = {"precision": one[4], "recall": other[4]}
        obstacle = obstacle_on_steps(n, m, n_alarms, self.near, choice)
        under = f"under the null {self.model.text}, "
        ruling = None if obstacle else rule_by(upper, lambda measure: _above(floors[measure]), alpha, under=under)
        zero = self.early == self.late == 0
        near = None if zero else (self.near, covered)
        remarks = degenerate(n, m, m, n_alarms, near=near, all_equal=bool(self.all_equal[i]))
        if other[2] > found and other[1] <= TURNED and one[2] > hits and one[1] <= TURNED:
            remarks = (*remarks, turned_note(one[1], other[1], inverted(self.shared.asked.higher_is)))
        single = zero or (reach <= 1 and bool((length == 1).all()))
        engines = ("hypergeometric" if single else "dynamic programme", "hypergeometric")
        shares = divide(hits, n_alarms), divide(found, m)
        case = self.shared.case
        row = {
            **named(case, name),
            "n": n,
            "n_events": m,
            "n_predictions": n_alarms,
            "threshold": told,
            "tolerance": str(self.trial.tolerances[0]),
            "count_events": "steps",
            **tested("precision", shares[0], hits, _told(one, engines[0])),
            **tested("recall", shares[1], found, _told(other, engines[1])),
            "f1": f_beta(*shares, 1.0),
            "f1_at_chance": at_chance((one[2], other[2]), n_alarms, m),
            "near_events": self.near,
            "near_predictions": covered,
            "false_alarms": n_alarms - hits,
            "delay": delay if self.trial.truth.clock is None else self._delay(alarms),
            "null": choice.label,
            "holds": True,
            "doubts": len(choice.doubts),
            "verdict": "cannot tell" if ruling is None else ruling.verdict,
            "reason": obstacle if ruling is None else ruling.reason,
            "n_resamples": 0,
            "seed": -1,
            "notes": [*case.notes, *self.notes, *ties, *remarks, *choice.notes],
        }
        laws = _law(n_alarms, one, engines[0]), _law(m, other, engines[1])
        return row, laws

    def _delay(self, alarms: IntArray) -> float:
        """The median delay of found events on a clock."""
        clock = self.trial.truth.clock
        assert clock is not None  # asked for only there
        windows = self.trial.event_windows[0]
        late = nearest_alarms(self.events, alarms, clock.ticks, windows)[within(alarms, windows) > 0]
        per_unit = 10**9 // clock.tick_size if clock.is_dates else 1
        return float(np.median(late / per_unit)) if len(late) else math.nan


def _above(floor: float) -> float | None:
    return None if floor < 0 else floor


def _told(found: Any, engine: str) -> dict[str, Any]:
    upper, _, mean, var = found[:4]
    return {
        "expected": mean,
        "std": math.sqrt(var),
        "pvalue": upper,
        "log10_pvalue": math.log(upper) / math.log(10),
        "method": f"exact ({engine})",
    }


def _law(size: int, found: Any, engine: str) -> Row:
    """What is kept of a law."""
    return {
        "size": size,
        "mean": found[2],
        "var": found[3],
        "kind": "exact",
        "name": engine,
        "n_resamples": 0,
        "first": found[5],
        "logs": found[6],
    }


def _quantiles(scores: FloatArray, level: float) -> FloatArray:
    """Quantile of each row, bit for bit ``numpy.quantile`` in a third of the time; not finite where that overflows."""
    at = level * (scores.shape[1] - 1)
    low = min(int(at), scores.shape[1] - 2)
    ordered = np.partition(scores, [low, low + 1], axis=1)
    below, above, share = ordered[:, low], ordered[:, low + 1], at - low
    with np.errstate(over="ignore", invalid="ignore"):
        apart = above - below
        return np.asarray(below + apart * share if share < 0.5 else above - apart * (1 - share))


def _within(scores: FloatArray, allowed: int) -> FloatArray:
    """For each row, the least score that no more than so many reach; infinite without one."""
    n = scores.shape[1]
    if allowed == 0:
        return np.full(len(scores), math.inf)
    ordered = np.partition(scores, [n - allowed - 1, n - allowed], axis=1)
    cuts, below = ordered[:, n - allowed], ordered[:, n - allowed - 1]
    for i in np.flatnonzero(cuts == below):  # tied at the cut: those above
        above = scores[i][scores[i] > below[i]]
        cuts[i] = above.min() if len(above) else math.inf
    return np.asarray(cuts)
