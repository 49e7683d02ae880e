"""Numbers as people read them: p-values that are never rounded to 0, means with their deviations."""

from __future__ import annotations

import itertools
import math

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
