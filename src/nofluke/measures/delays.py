"""What practitioners ask besides precision and recall: how many false alarms per unit of time, and how late."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from nofluke.arrays import BoolArray, ByValue, FloatArray
from nofluke.dates import Duration, Lasting, as_duration
from nofluke.errors import InputError, say
from nofluke.plain import as_number, finite_or_none, number_or_none
from nofluke.series.trial import TimeUnit
from nofluke.text.numbers import rate_in_words, show_length


def show_time(value: float, unit: TimeUnit, step: float = 0.0) -> str:
    """A length of time in words: ``2 steps``, ``1.5h``, ``0.3 time units``; zero in the unit of ``step`` (seconds).

    >>> show_time(-97.0, "seconds"), show_time(5400.0, "seconds"), show_time(0.0, "seconds", 86400.0)
    ('-97s', '1.5h', '0d')
    """
    if math.isnan(value):
        return "undefined"
    if unit == "seconds":
        return say("{}", Lasting(value * 1e9, show_length(value * 1e9, step * 1e9)))
    thing = "step" if unit == "steps" else "time unit"
    return f"{value:g} {thing}" if abs(value) == 1 else f"{value:g} {thing}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarms:
    """Predictions with no event within the tolerance, over the time that was watched.

    Attributes
    ----------
    count : int
        False alarms: FP of the matrix with tolerance in the truth.
    duration : float
        Time watched, in ``unit``: the steps that count, each lasting until the next one (the last one as long as the
        median step).
    unit : {"steps", "seconds", "clock"}
        Steps where the data has no clock, seconds on a clock of dates, else the clock's own unit.
    """

    count: int
    duration: float
    unit: TimeUnit

    def rate(self, per: float | str | object = None) -> float:
        """False alarms per unit of time; NaN where no time was watched.

        Parameters
        ----------
        per : duration or number, optional
            "1d", "1h", a ``timedelta`` on a clock of dates; else a number of steps or of the clock's units. By default
            a day, 1,000 steps, or one unit of the clock.

        Examples
        --------
        >>> FalseAlarms(count=3, duration=2 * 86400, unit="seconds").rate(per="1d")
        1.5
        >>> FalseAlarms(count=3, duration=600, unit="steps").rate(per=100)
        0.5
        """
        length = self._length(self.default_per if per is None else per)
        return self.count * length / self.duration if self.duration else math.nan

    @property
    def default_per(self) -> float | str:
        """The unit of time of the default rate."""
        lengths: dict[str, float | str] = {"steps": 1000, "seconds": "1d", "clock": 1}
        return lengths[self.unit]

    def _length(self, per: object) -> float:
        duration: Duration | None = as_duration(per, "per")
        if (duration is not None) is not (self.unit == "seconds"):
            wanted = 'a duration such as "1d"' if self.unit == "seconds" else f"a number of {self.unit}"
            raise InputError(
                argument="per", value=per, problem="does not fit the data's clock", remedy=f"pass {wanted}"
            )
        if duration is None and number_or_none(per) is None:
            raise InputError(argument="per", value=per, problem=f"must be a number of {self.unit}")
        length = number_or_none(per if duration is None else Fraction(duration, 10**9))
        if length is None or not 0 < length < math.inf:
            raise InputError(argument="per", value=per, problem="must be positive and finite")
        return length

    def to_dict(self) -> dict[str, Any]:
        """Count and default rate as plain values, for JSON."""
        return {"count": self.count, "per": self.default_per, "rate": finite_or_none(self.rate())}

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self) -> str:
        """The count, and how often that is."""
        return rate_in_words(self.count, self.duration, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Delays(ByValue):
    """How far the nearest prediction is from each event: negative when it came early, positive when late.

    Attributes
    ----------
    values : float array, one for each event in time order
        Time of the nearest prediction minus time of the event, in ``unit``; of two equally near ones the earlier; where
        the tolerance is asymmetric, one that counts before one that does not. NaN where there is no prediction at all.
    found : bool array
        Whether the event has a prediction within the tolerance.
    unit : {"steps", "seconds", "clock"}
        Steps where the data has no clock, seconds on a clock of dates, else the clock's own unit.
    step : float
        About how far steps, or the ticks of lists of times, lie apart, in ``unit``: what no delay at all is told in.

    Examples
    --------
    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 1, 0], threshold=1, tolerance=1)
    >>> result.delays.values, result.delays.median
    (array([ 1., -1.]), 0.0)
    """

    values: FloatArray = field(repr=False)
    found: BoolArray = field(repr=False)
    unit: TimeUnit
    step: float = field(repr=False, default=0.0)

    def quantile(self, q: float) -> float:
        """A quantile of the delays of the events that were found; NaN if none was."""
        level = as_number(q, "q", "be between 0 and 1", lambda number: 0 <= number <= 1)
        return float(np.quantile(self.values[self.found], level)) if self.found.any() else math.nan

    @property
    def median(self) -> float:
        """The median delay of the events that were found; NaN if none was."""
        found = np.sort(self.values[self.found])
        return float(found[len(found) // 2] + found[(len(found) - 1) // 2]) / 2 if len(found) else math.nan

    @property
    def mean(self) -> float:
        """The mean delay of the events that were found; NaN if none was."""
        return float(self.values[self.found].mean()) if self.found.any() else math.nan

    def counts(self) -> dict[str, int]:
        """Events found early, on time and late, and missed."""
        found = self.values[self.found]
        return {
            "early": int((found < 0).sum()),
            "on_time": int((found == 0).sum()),
            "late": int((found > 0).sum()),
            "missed": int((~self.found).sum()),
        }

    def to_dict(self) -> dict[str, Any]:
        """The delays as plain values, for JSON."""
        return {
            "unit": self.unit,
            "median": finite_or_none(self.median),
            "mean": finite_or_none(self.mean),
            **self.counts(),
        }

    def __str__(self) -> str:
        return str(self.in_words())

    def in_words(self) -> str:
        """The median and the quartiles."""
        if not self.found.any():
            return say("no {event} was found")
        low, middle, high = (show_time(self.quantile(q), self.unit, self.step) for q in (0.25, 0.5, 0.75))
        return say("median {} (middle half {} to {})", middle, low, high)
