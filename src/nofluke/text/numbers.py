"""Numbers, units and rates in words."""

from __future__ import annotations

import itertools
import math

import numpy as np

from nofluke.arrays import FloatArray

ROUNDING = 1e-12  # a deviation of less than this share of the mean is that of sums of floats
SMALLEST, LARGEST = 1e-5, 1e7  # numbers outside are written with an exponent


def show_p(value: float, log10: float | None = None) -> str:
    """A p-value in two digits, never rounded to 0: from its logarithm where a double cannot hold it.

    >>> show_p(4.063e-12), show_p(0.0312), show_p(1.0), show_p(0.0), show_p(5e-324, -437.12)
    ('4.1e-12', '0.031', '1', '< 1e-300', '7.6e-438')
    """
    if value < 1e-300:
        if log10 is None:
            return "< 1e-300"
        digits, power = f"{10 ** (log10 % 1):.1f}", math.floor(log10)
        return f"1.0e{power + 1}" if digits == "10.0" else f"{digits}e{power}"
    if value < 0.001:
        return f"{value:.1e}"
    return f"{value:.2g}" if value < 0.9995 else f"{value:.4g}"


def p_is(value: float, log10: float | None = None) -> str:
    """A p-value as it stands in a sentence.

    >>> p_is(4.063e-12), p_is(0.0)
    ('p = 4.1e-12', 'p < 1e-300')
    """
    shown = show_p(value, log10)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def show_chance(mean: float, std: float) -> str:
    """Mean ± standard deviation: the deviation in two digits, the mean to the same place, or to seven digits.

    >>> show_chance(71.49893, 10.1114), show_chance(39.91396, 5.309), show_chance(3.0, 0.0), show_chance(0.25, 3e-17)
    ('71 ± 10', '39.9 ± 5.3', '3 ± 0', '0.25 ± 0')
    >>> show_chance(2 / 3, 0.0), show_chance(12345.6, 0.0), show_chance(0.5, 1.24e-9), show_chance(1.5e300, 2e299)
    ('0.6667 ± 0', '12,346 ± 0', '0.5 ± 1.2e-09', '1.5e+300 ± 2e+299')
    """
    if std <= ROUNDING * abs(mean):
        return f"{mean:,.0f} ± 0" if 1_000 <= abs(mean) < LARGEST else f"{mean:.4g} ± 0"
    place = math.floor(math.log10(std)) - 1
    if std < SMALLEST or max(abs(mean), std) >= LARGEST:
        digits = math.floor(math.log10(abs(mean))) - place + 1 if mean else 1
        return f"{mean:.{min(max(digits, 1), 7)}g} ± {std:.2g}"
    places = max(-place, 0)
    return f"{round(mean, places) + 0.0:,.{places}f} ± {std:,.{places}f}"  # 0.0 more, or -0.001 were -0.00


def tick_texts(values: list[float]) -> list[str]:
    """Numbers for the ticks of an axis, in as few digits as place each of them well among the others, and apart from 1.

    >>> tick_texts([0.5, 0.9, 0.99, 0.9999]), tick_texts([0.1, 0.125, 0.30000000000000004]), tick_texts([10, 2500])
    (['0.5', '0.9', '0.99', '0.9999'], ['0.1', '0.125', '0.3'], ['10', '2500'])
    """
    ordered = sorted(value for value in set(values) if math.isfinite(value))
    apart = min((b - a for a, b in itertools.pairwise(ordered)), default=math.inf)

    def well(value: float, text: str) -> bool:
        error = abs(float(text) - value) if math.isfinite(value) else 0.0
        return error <= 0.02 * min(apart, abs(value)) and (value == 1 or error <= 0.5 * abs(1 - value))

    for digits in range(1, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if all(map(well, values, texts)):
            break
    return [f"{value:g}" if "e" in text else text for text, value in zip(texts, values, strict=True)]


# ---- lengths of time as people say them: days, hours, minutes or seconds, whichever makes small numbers

SECOND = 1e9
SHORT = {
    "days": "d",
    "hours": "h",
    "minutes": "min",
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "us",
    "nanoseconds": "ns",
}
UNITS = (
    (86_400e9, "days"),
    (3_600e9, "hours"),
    (60e9, "minutes"),
    (SECOND, "seconds"),
    (1e6, "milliseconds"),
    (1e3, "microseconds"),
    (1.0, "nanoseconds"),
)


def people_unit(nanoseconds: FloatArray, step: float = 0.0) -> tuple[float, str]:
    """The unit for some lengths, and its nanoseconds: the longest of which the largest holds two, or one second.

    Where data come in steps of so many nanoseconds, never one that is too short for them: days for daily data.

    >>> people_unit(np.array([0.0, 86_400e9]))[1], people_unit(np.array([0.0, 86_400e9]), 86_400e9)[1]
    ('hours', 'days')
    """
    largest = float(np.abs(nanoseconds).max(initial=0.0))
    fitting = (unit for unit in UNITS if largest >= (2 if unit[0] > SECOND else 1) * unit[0])
    found = next(fitting, UNITS[-1]) if largest else (SECOND, "seconds")
    own = next((unit for unit in UNITS if unit[0] <= step), UNITS[-1])
    return max(found, own) if largest or not step else own


def show_length(nanoseconds: float, step: float = 0.0) -> str:
    """A length of time in three digits, or in one decimal where that is exact; zero in the unit of a step.

    >>> [show_length(s * 1e9) for s in (5400, -97, 93_600, 324_000, 86_400, 31_622_400, 0.0125)]
    ['1.5h', '-97s', '26h', '3.75d', '1d', '366d', '12.5ms']
    >>> show_length(0), show_length(0, 86_400e9)
    ('0s', '0d')
    """
    if nanoseconds == 0:
        return f"0{SHORT[people_unit(np.zeros(1), step)[1]]}"
    longest, name = next((unit for unit in UNITS if abs(nanoseconds) >= unit[0]), UNITS[-1])
    if not math.isclose(round(nanoseconds / longest, 1) * longest, nanoseconds, rel_tol=1e-12):
        longest, name = people_unit(np.array([nanoseconds]))
    value = nanoseconds / longest
    return f"{value:.0f}{SHORT[name]}" if abs(value) >= 100 else f"{value:.3g}{SHORT[name]}"


def as_people_say(lengths: FloatArray, dates: bool) -> tuple[FloatArray, str]:
    """Lengths in such a unit and the words for an axis; plain numbers have no unit.

    >>> as_people_say(np.array([-172_800e9, 0.0, 172_800e9]), dates=True)
    (array([-2.,  0.,  2.]), ', days')
    >>> as_people_say(np.array([0.5, 1.0]), dates=False)
    (array([0.5, 1. ]), '')
    """
    if not dates:
        return lengths, ""
    size, name = people_unit(lengths)
    return lengths / size, f", {name}"


# ---- how often something happens, and how long somebody watched, as people say it: "1.3 per month"

DAY = 86_400.0
PER = (
    (1e-9, "nanosecond"),
    (1e-6, "microsecond"),
    (1e-3, "millisecond"),
    (1.0, "second"),
    (60.0, "minute"),
    (3_600.0, "hour"),
    (DAY, "day"),
    (7 * DAY, "week"),
    (365.25 / 12 * DAY, "month"),
    (365.25 * DAY, "year"),
)
LONG = tuple(
    (size, name) for size, name in PER if name not in ("week", "month")
)  # of which people count more than a few


def rate_in_words(count: int, duration: float, unit: str) -> str:
    """A count and its rate, per the shortest unit of time that has at least one of them and was watched that long.

    ``unit`` says what the duration counts: "steps", "seconds", or "clock" for the clock's own unit.

    >>> rate_in_words(110, 2557 * DAY, "seconds"), rate_in_words(1, 2557 * DAY, "seconds")
    ('110 (1.3 per month)', '1 in 7.0 years')
    >>> rate_in_words(110, 2557, "steps"), rate_in_words(3, 600, "steps"), rate_in_words(40, 10**6, "steps")
    ('110 (43 per 1,000 steps)', '3 in 600 steps', '40 (4 per 100,000 steps)')
    >>> rate_in_words(36, 100.0, "clock"), rate_in_words(0, 100.0, "clock"), rate_in_words(2, 0.0, "seconds")
    ('36 (3.6 per 10 time units)', '0 in 100 time units', '2 (no time was watched)')
    """
    if not duration:
        return f"{count:,} (no time was watched)"
    units: tuple[tuple[float, str], ...] = PER
    if unit != "seconds":
        thing = "step" if unit == "steps" else "time unit"
        sizes = [10.0**power for power in range(3 if unit == "steps" else -15, 19)]
        units = tuple((size, thing if size == 1 else f"{_number(size)} {thing}s") for size in sizes)
        if unit == "clock" and count >= duration:  # as many as one by one, or thousands of parts of it
            units = tuple(one for one in units if round(math.log10(one[0])) % 3 == 0)
    known = (one for one in units if one[0] <= duration * (1 + 1e-9) and count * one[0] >= duration * (1 - 1e-9))
    size, per = next(known, (0.0, ""))
    if not per:
        return f"{count:,} in {span_in_words(duration, unit)}"
    return f"{count:,} ({_number(count * size / duration)} per {per})"


def span_in_words(duration: float, unit: str) -> str:
    """A length of time that was watched.

    >>> span_in_words(2557 * DAY, "seconds"), span_in_words(90.0, "seconds"), span_in_words(300, "steps")
    ('7.0 years', '90 seconds', '300 steps')
    """
    if unit != "seconds":
        thing = "step" if unit == "steps" else "time unit"
        return f"{_number(duration)} {thing}{'' if duration == 1 else 's'}"
    size, name = next((one for one in reversed(LONG) if duration >= 2 * one[0]), LONG[0])
    many = duration / size
    return f"{many:,.0f} {name}s" if many >= 10 or many == round(many) else f"{many:.1f} {name}s"


def _number(value: float) -> str:
    """Two digits, or the whole number where it has more."""
    if value >= 99.5:
        return f"{value:,.0f}"
    return f"{value:.2g}" if (value < 10 and round(value, 1) != round(value)) or value < 0.1 else f"{value:.0f}"
