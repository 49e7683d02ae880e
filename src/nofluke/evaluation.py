"""Evaluate a detector at one threshold: both measures, both matrices, false alarms and delays, in one result."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nofluke.confusion import Confusion, check_zero_division, divide, f_beta
from nofluke.counting import BoolArray, dilate, nearest_predictions
from nofluke.distributions import EmpiricalNull
from nofluke.errors import InputError
from nofluke.inputs import LeftOut, Missing, Sequence, TruthKind, prepare
from nofluke.nulls import Null, as_null
from nofluke.nulls.base import Method, NullModel, Nulls
from nofluke.nulls.doubts import doubts
from nofluke.nulls.setting import Setting, make_setting, open_ranges
from nofluke.tables import Table, csv_text, plural, show_number, show_share
from nofluke.testing import (
    VERDICTS,
    Alternative,
    ChanceTest,
    FTest,
    Ties,
    Verdict,
    check_alpha,
    check_alternative,
    f_test,
    show_chance,
    show_p,
)
from nofluke.timing import Delays, FalseAlarms, Unit
from nofluke.tolerance import Length, Tolerance, as_tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Precision and recall within a tolerance, and what they were counted from.

    Attributes
    ----------
    n, n_events, n_predictions : int
        Steps that count, events and predictions on them.
    threshold, quantile : float or None
        The threshold τ of the scores, and the quantile it came from, if it did.
    tolerance : Tolerance
        How early or late a prediction may be.
    tolerant_truth, tolerant_predictions : Confusion
        The two confusion matrices: precision comes from the first, recall from the second.
    delays : Delays
        Signed distance from each event to its nearest prediction.
    false_alarms : FalseAlarms
        Predictions without an event, over the time watched.
    left_out : LeftOut
        Steps and events left out because they were missing or masked.
    precision_test, recall_test : ChanceTest
        What chance would have scored, and the p-value of the observed hits.
    null : NullModel
        What chance was taken to do.
    setting : Setting
        What the null models are computed from.
    sequence : Sequence
        The data as they were read, aligned and checked.
    alpha : float
        The level of the verdict.
    notes : tuple of str
        Everything a reader should know: undefined values, what was left out or merged, degenerate input, and why the
        chosen null is doubtful, where the data plainly show it.

    Examples
    --------
    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 1, 0], predictions=[0, 0, 1, 0, 1, 0, 0], tolerance=1)
    >>> result.precision, result.recall, result.f1
    (1.0, 1.0, 1.0)
    >>> result.tolerant_truth.tp, result.tolerant_truth.fn, result.verdict
    (2, 4, 'no')
    """

    n: int
    n_events: int
    n_predictions: int
    threshold: float | None
    quantile: float | None
    tolerance: Tolerance
    tolerant_truth: Confusion
    tolerant_predictions: Confusion
    delays: Delays
    false_alarms: FalseAlarms
    left_out: LeftOut
    precision_test: ChanceTest
    recall_test: ChanceTest
    null: NullModel
    setting: Setting = field(repr=False)
    sequence: Sequence = field(repr=False)
    notes: tuple[str, ...]
    zero_division: float
    alpha: float

    @property
    def precision_hits(self) -> int:
        """PA-AAδ: predictions with an event within the tolerance."""
        return self.tolerant_truth.tp

    @property
    def recall_hits(self) -> int:
        """PAδ-AA: events with a prediction within the tolerance."""
        return self.tolerant_predictions.tp

    @property
    def precision(self) -> float:
        """P_δ, the share of predictions with an event within the tolerance."""
        return self._defined(divide(self.precision_hits, self.n_predictions))

    @property
    def recall(self) -> float:
        """R_δ, the share of events with a prediction within the tolerance."""
        return self._defined(divide(self.recall_hits, self.n_events))

    @property
    def f1(self) -> float:
        """Harmonic mean of P_δ and R_δ."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> float:
        """F_β = (1 + β²) P_δ R_δ / (β² P_δ + R_δ); 0 where both are 0."""
        if not 0 <= beta < math.inf:
            raise InputError(f"beta={beta!r} must be finite and not negative.")
        return self._defined(f_beta(self.precision, self.recall, beta))

    def _defined(self, value: float) -> float:
        return float(self.zero_division) if math.isnan(value) else value

    def f_test(self, beta: float = 1.0, *, n_resamples: int = 10_000, rng: Any = None) -> FTest:
        """F_β against chance, from the joint distribution of both hits: exact where affordable, else simulated."""
        observed = f_beta(
            divide(self.precision_hits, self.n_predictions), divide(self.recall_hits, self.n_events), beta
        )
        joint = self.null.joint(self.setting, n_resamples=n_resamples, rng=rng)
        return f_test(observed, joint, self.n_predictions, self.n_events, beta)

    @property
    def verdict(self) -> Verdict:
        """Whether both measures beat chance at the level alpha ("yes"), one does ("partly"), or none ("no")."""
        return VERDICTS[sum(test.pvalue_for("greater") <= self.alpha for test in self._tests)]

    @property
    def _tests(self) -> tuple[ChanceTest, ChanceTest]:
        return self.precision_test, self.recall_test

    def verdict_in_words(self) -> str:
        """The verdict as a sentence."""
        level = f"at the {self.alpha:.3g} level"
        if self.verdict == "yes":
            return f"Verdict: no fluke. Precision and recall are both better than chance {level}."
        if self.verdict == "partly":
            better, worse = sorted(self._tests, key=lambda test: test.pvalue_for("greater"))
            return (
                f"Verdict: partly. {better.measure.capitalize()} is better than chance {level}, {worse.measure} is not."
            )
        return f"Verdict: could be a fluke. Neither precision nor recall is better than chance {level}."

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values: the keys of ``--format json``. Undefined values are None."""
        return {
            "n": self.n,
            "n_events": self.n_events,
            "n_predictions": self.n_predictions,
            "threshold": self.threshold if self.threshold is None or math.isfinite(self.threshold) else None,
            "quantile": self.quantile,
            "tolerance": self.tolerance.plain(),
            "precision": {
                "value": _or_none(self.precision),
                "hits": self.precision_hits,
                "of": self.n_predictions,
                **self.precision_test.to_dict(),
            },
            "recall": {
                "value": _or_none(self.recall),
                "hits": self.recall_hits,
                "of": self.n_events,
                **self.recall_test.to_dict(),
            },
            "f1": _or_none(self.f1),
            "verdict": self.verdict,
            "alpha": self.alpha,
            "tolerant_truth": _matrix(self.tolerant_truth),
            "tolerant_predictions": _matrix(self.tolerant_predictions),
            "false_alarms": {
                "count": self.false_alarms.count,
                "per": self.false_alarms.default_per,
                "rate": _or_none(self.false_alarms.rate()),
            },
            "delay": {
                "unit": self.delays.unit,
                "median": _or_none(self.delays.median),
                "mean": _or_none(self.delays.mean),
                **self.delays.counts(),
            },
            "left_out": {
                "missing": self.left_out.missing,
                "masked": self.left_out.masked,
                "events": self.left_out.events,
            },
            "notes": list(self.notes),
        }

    def sentences(self) -> tuple[str, ...]:
        """The result in plain words."""
        if self.tolerance.zero:
            near = "on the step of"
        elif self.tolerance.early == self.tolerance.late:
            near = f"within {self.tolerance} of"
        else:
            near = f"near ({self.tolerance})"
        return (
            f"{self.precision_hits:,} of {plural(self.n_predictions, 'prediction')} "
            f"{'is' if self.n_predictions == 1 else 'are'} {near} an event; {self.precision_test.in_words()}.",
            f"{self.recall_hits:,} of {plural(self.n_events, 'event')} "
            f"{'is' if self.n_events == 1 else 'are'} {near} a prediction; {self.recall_test.in_words()}.",
        )

    def table(self) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""
        rows = tuple(
            (
                test.measure,
                show_share(value),
                f"{test.hits:,}",
                f"{test.of:,}",
                show_chance(test.expected, test.std),
                show_p(test.pvalue),
            )
            for test, value in zip(self._tests, (self.precision, self.recall), strict=True)
        )
        return Table(
            title=self._title(),
            columns=("", "value", "hits", "of", "chance", "p"),
            rows=(*rows, ("F1", show_share(self.f1), "", "", "", "")),
            notes=(
                self.verdict_in_words(),
                *self.sentences(),
                f"False alarms: {self.false_alarms}. Delay: {self.delays}.",
                self._how(),
                *self._note_lines(),
            ),
        )

    def _how(self) -> str:
        """Which null, which method: the fine print of every result."""
        methods = {test.measure: test.method for test in self._tests}
        how = "; ".join(f"{measure} {method}" for measure, method in methods.items())
        null = self.precision_test.null
        drawn = f" {null.n_resamples:,} resamples, seed {null.seed}." if isinstance(null, EmpiricalNull) else ""
        return f"Null: {self.precision_test.model}. {self.null.assumption} Method: {how}.{drawn}"

    def _title(self) -> str:
        alarms = plural(self.n_predictions, "prediction")
        if self.threshold is not None:
            origin = "" if self.quantile is None else f", the {self.quantile:g} quantile"
            alarms += f" (score ≥ {show_number(self.threshold)}{origin})"
        return f"{plural(self.n, 'step')}, {plural(self.n_events, 'event')}, {alarms}; tolerance {self.tolerance}"

    def _note_lines(self) -> tuple[str, ...]:
        return tuple(f"Note: {note}" for note in self.notes)

    def to_csv(self) -> str:
        """One line for each measure, with full digits."""
        rows: list[tuple[Any, ...]] = [
            (t.measure, value, t.hits, t.of, t.expected, t.std, t.pvalue, t.method, t.model)
            for t, value in zip(self._tests, (self.precision, self.recall), strict=True)
        ]
        rows.append(("f1", self.f1, *(None,) * 7))
        return csv_text(("measure", "value", "hits", "of", "expected", "std", "pvalue", "method", "null"), rows)

    def plot(self, axes: Any = None, *, compare_binomial: bool = True) -> Any:
        """Draw both null distributions with the observed hits (matplotlib); returns the two Axes."""
        from nofluke.plot import evaluation as plot_evaluation

        return plot_evaluation(self, axes, compare_binomial=compare_binomial)

    def report(
        self, path: str | Path, *, title: str | None = None, scripts: Literal["inline", "cdn"] = "inline"
    ) -> Path:
        """Write a page to open, send or print, with sliders for threshold and tolerance; needs plotly. See `write_report`."""
        from nofluke.report import write_report

        return write_report(self, path, title=title, scripts=scripts)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _matrix(c: Confusion) -> dict[str, int]:
    return {"tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn}


def evaluate(
    truth: Any,
    scores: Any = None,
    *,
    predictions: Any = None,
    threshold: float | None = None,
    quantile: float | None = None,
    tolerance: Length | Tolerance = 0,
    times: Any = None,
    mask: Any = None,
    truth_as: TruthKind = "auto",
    missing: Missing = "error",
    zero_division: float = math.nan,
    null: Null = "permutation",
    method: Method = "auto",
    alternative: Alternative = "greater",
    ties: Ties = "full",
    n_resamples: int = 10_000,
    rng: Any = None,
    alpha: float = 0.05,
) -> Evaluation:
    r"""Precision and recall of a detector on one sequence, with a tolerance in time.

    .. math::
        P_\delta = \frac{\sum_t I(\sum_{t'=t-\delta}^{t+\delta} e_{t'} > 0)\, I(z_t \ge \tau)}{\sum_t I(z_t \ge \tau)}
        \qquad
        R_\delta = \frac{\sum_t e_t\, I(\sum_{t'=t-\delta}^{t+\delta} I(z_{t'} \ge \tau) > 0)}{\sum_t e_t}

    Parameters
    ----------
    truth : array-like
        Events: 0/1 or bool for each step; or the positions of the events; or their times, against the clock of the
        scores (an event between two steps belongs to the last step at or before it).
    scores : array-like, optional
        The anomaly score z of each step; a step is predicted if z ≥ τ, ties included.
    predictions : array-like, optional
        Alarms instead of scores: 0/1 or bool for each step, or, with a clock, a list of alarm times.
    threshold : float, optional
        τ itself.
    quantile : float, optional
        τ as a quantile of the scores of the steps that count (linear interpolation, as ``numpy.quantile``).
    tolerance : int, str, timedelta or Tolerance, default 0
        Steps, or a duration such as "2h" where the data has a clock, or ``Tolerance(early=, late=)``. Closed at both ends.
    times : array-like, optional
        The clock: one increasing date or number for each step. Taken from a pandas or xarray index of dates by itself.
    mask : array-like of bool, optional
        True for steps to leave out of everything: stretches that nobody labelled. They still take up time.
    truth_as : {"auto", "labels", "positions", "times"}
        How to read ``truth`` where type and length leave a doubt.
    missing : {"error", "mask"}
        What to do with NaN in scores, alarms or labels.
    zero_division : {nan, 0, 1}
        Value of precision without predictions and of recall without events; F is reckoned from those.
    null : str, NullModel or callable
        What chance does. "permutation" (as in the paper) places the events on random steps that count. See :mod:`nofluke.nulls`
        for nulls that keep clusters, runs or seasons of the events, and :func:`diagnose` for which to trust; a function of a
        generator that draws labels is a null of one's own.
    method : {"auto", "exact", "montecarlo", "saddlepoint", "binomial"}
        How the null distributions are computed. "auto" is exact wherever that takes seconds; the result says what it did.
        "binomial" is the approximation of Donges et al. (2016), for comparison. Other nulls than the permutation have
        fewer methods: their own exact one, or Monte Carlo.
    alternative : {"greater", "less", "two-sided"}
        Which hits count as extreme; "greater" as in the paper.
    ties : {"full", "mid"}
        "mid" gives the mid-p-value, which counts hits equal to the observed by half.
    n_resamples : int
        Random placements for ``method="montecarlo"``.
    rng : int, Generator, SeedSequence or None
        Randomness of Monte Carlo, as ``numpy.random.default_rng`` takes it. The result names the seed.
    alpha : float
        The level of the verdict.

    Returns
    -------
    Evaluation

    Notes
    -----
    Inputs with a pandas or xarray index are aligned by it. Steps outside the sequence hold neither events nor predictions
    (zero padding). O(T), whatever the tolerance.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, equations 1 to 3.

    Examples
    --------
    >>> import nofluke as nf
    >>> truth = [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]
    >>> scores = [0, 1, 0, 9, 0, 0, 8, 0, 1, 7]
    >>> result = nf.evaluate(truth, scores, threshold=7, tolerance=1)
    >>> result.precision_hits, result.n_predictions, result.recall
    (2, 3, 1.0)
    >>> round(result.recall_test.pvalue, 4)  # chance finds both of two events this often
    0.6222
    """
    check_zero_division(zero_division)
    window = as_tolerance(tolerance)
    sequence = prepare(
        truth, scores, predictions=predictions, times=times, mask=mask, truth_as=truth_as, missing=missing
    )
    cut = choose_threshold(sequence, threshold, quantile)
    alarms = sequence.predictions if cut is None else predicted(sequence, cut)
    if alarms is None:
        raise InputError("pass threshold= or quantile= to say which scores are predictions.")
    check_alternative(alternative, ties)
    check_alpha(alpha)
    model = as_null(null)
    ranges = open_ranges(window, sequence.open_steps, sequence.clock)
    setting = make_setting(sequence, alarms[sequence.open_steps], ranges, cut)
    nulls = model.distributions(setting, method, n_resamples=n_resamples, rng=rng)
    return count(
        sequence,
        alarms,
        window,
        nulls,
        setting=setting,
        model=model,
        alternative=alternative,
        ties=ties,
        threshold=cut,
        quantile=quantile,
        zero_division=zero_division,
        alpha=alpha,
    )


def choose_threshold(sequence: Sequence, threshold: float | None, quantile: float | None) -> float | None:
    """τ from a threshold or a quantile; None where alarms are given instead of scores."""
    if sequence.scores is None:
        if threshold is not None or quantile is not None:
            raise InputError("threshold and quantile belong to scores: leave them out with predictions.")
        return None
    if (threshold is None) is (quantile is None):
        raise InputError(
            f"pass either threshold or quantile, got {'neither' if threshold is None else 'both'}: "
            "one of them says which scores are predictions."
        )
    if threshold is not None:
        try:
            value = float(threshold)
        except (TypeError, ValueError):
            raise InputError(f"threshold={threshold!r} must be a number.") from None
        if math.isnan(value):
            raise InputError("threshold is NaN: pass a number.")
        return value
    return quantile_thresholds(sequence, [quantile])[0]


def quantile_thresholds(sequence: Sequence, quantiles: Any) -> list[float]:
    """Thresholds at quantiles of the scores of the steps that count."""
    try:
        levels = np.array([float(q) for q in quantiles])
    except (TypeError, ValueError):
        raise InputError(f"quantile={quantiles[0]!r} must be a number.") from None
    wrong = levels[~((levels >= 0) & (levels <= 1))]
    if len(wrong):
        raise InputError(f"quantile={wrong[0]:g} must be between 0 and 1.")
    return [float(value) for value in np.quantile(sequence.open_scores(), levels)]


def predicted(sequence: Sequence, threshold: float) -> BoolArray:
    """The predictions z ≥ τ on the steps that count."""
    if sequence.scores is None:
        raise InputError("there are no scores to put a threshold on: pass scores, not predictions.")
    with np.errstate(invalid="ignore"):  # NaN under the mask compares as not predicted
        return np.asarray((sequence.scores >= threshold) & sequence.open_steps)


def count(
    sequence: Sequence,
    alarms: BoolArray,
    tolerance: Tolerance,
    nulls: Nulls,
    *,
    setting: Setting,
    model: NullModel,
    alternative: Alternative,
    ties: Ties,
    threshold: float | None,
    quantile: float | None,
    zero_division: float,
    alpha: float,
) -> Evaluation:
    """Both matrices, both tests, false alarms and delays of given alarms."""
    steps, truth, clock = len(sequence.truth), sequence.truth, sequence.clock
    around_events = tolerance.prediction_ranges(steps, clock)
    near_event = dilate(truth, tolerance.event_ranges(steps, clock)) & sequence.open_steps
    near_alarm = dilate(alarms, around_events) & sequence.open_steps
    tolerant_truth = Confusion.from_marginals(
        int((alarms & near_event).sum()),
        int(alarms.sum()),
        int(near_event.sum()),
        sequence.n,
        "neither" if tolerance.zero else "truth",
    )
    tolerant_predictions = Confusion.from_marginals(
        int((near_alarm & truth).sum()),
        int(near_alarm.sum()),
        sequence.n_events,
        sequence.n,
        "neither" if tolerance.zero else "predictions",
    )
    unit: Unit = "steps" if clock is None else "seconds" if clock.is_dates else "clock"
    # ticks a second; divided by, for times 1e-9 would make a week 604800.0000000001 s
    per_unit = 10**9 // clock.tick_size if clock is not None and clock.is_dates else 1
    when = np.arange(steps) if clock is None else clock.ticks
    delays = Delays(
        values=nearest_predictions(truth, alarms, when, around_events) / per_unit, found=near_alarm[truth], unit=unit
    )
    how: dict[str, Any] = {"model": model.name, "alternative": alternative, "ties": ties}
    duration = (
        float(sequence.n) if clock is None else clock.lasting(sequence.open_steps) / (1e9 if clock.is_dates else 1)
    )
    return Evaluation(
        n=sequence.n,
        n_events=sequence.n_events,
        n_predictions=int(alarms.sum()),
        threshold=threshold,
        quantile=quantile,
        tolerance=tolerance,
        tolerant_truth=tolerant_truth,
        tolerant_predictions=tolerant_predictions,
        delays=delays,
        false_alarms=FalseAlarms(count=tolerant_truth.fp, duration=duration, unit=unit),
        left_out=sequence.left_out,
        precision_test=ChanceTest(
            measure="precision", hits=tolerant_truth.tp, of=tolerant_truth.predicted, null=nulls.precision, **how
        ),
        recall_test=ChanceTest(
            measure="recall", hits=tolerant_predictions.tp, of=sequence.n_events, null=nulls.recall, **how
        ),
        null=model,
        setting=setting,
        sequence=sequence,
        notes=(
            *sequence.notes,
            *_remarks(sequence, tolerant_truth, tolerant_predictions, tolerance),
            *doubts(model, setting),
        ),
        zero_division=zero_division,
        alpha=alpha,
    )


def _remarks(
    sequence: Sequence, truth_side: Confusion, prediction_side: Confusion, tolerance: Tolerance
) -> tuple[str, ...]:
    """What is degenerate about this input, in plain words."""
    remarks = []
    scores = sequence.scores
    if scores is not None and sequence.n > 1 and sequence.open_scores().min() == sequence.open_scores().max():
        remarks.append("All scores are equal: no threshold can tell one step from another.")
    if truth_side.predicted == 0:
        remarks.append("There are no predictions: precision is undefined.")
    elif truth_side.predicted == sequence.n:
        remarks.append("Every step is predicted: recall says nothing about the detector.")
    if prediction_side.actual == 0:
        remarks.append("There are no events: recall is undefined.")
    elif prediction_side.actual == sequence.n:
        remarks.append("Every step is an event: precision says nothing about the detector.")
    if not tolerance.zero:
        if 0 < truth_side.predicted < sequence.n == prediction_side.predicted:
            remarks.append("Every step is within the tolerance of a prediction: any event would be found.")
        if 0 < prediction_side.actual < sequence.n == truth_side.actual:
            remarks.append("Every step is within the tolerance of an event: any prediction would be a hit.")
    return tuple(remarks)
