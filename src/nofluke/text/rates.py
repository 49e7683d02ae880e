"""How often something happens, and how long somebody watched, as people say it: "1.3 per month", "1 in 7.0 years"."""

from __future__ import annotations

import math

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
