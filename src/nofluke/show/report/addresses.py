"""How tolerances and lags are written in the address of a page, and as which numbers they are found again."""

from __future__ import annotations

from typing import Any

from nofluke.plain import exact_fraction
from nofluke.series.ticks import length_in_words
from nofluke.series.tolerance import Tolerance
from nofluke.show.report.windows import Lag


def address_of(tolerance: Tolerance) -> dict[str, Any]:
    """Such as "2" or "1h", or "30min..2h" where both sides differ.

    >>> address_of(Tolerance(early=2, late=2))
    {'link': '2', 'unit': 'steps', 'early': 2.0, 'late': 2.0}
    >>> address_of(Tolerance(early="3h", late="-1h"))["link"]
    '3h..-1h'
    """
    sides: tuple[Any, Any] = (tolerance.early, tolerance.late)
    early, late = (_written(side, dates=tolerance.unit == "ns") for side in sides)
    link = early if early == late else f"{early}..{late}"
    return {"link": link, "unit": tolerance.unit, "early": float(sides[0]), "late": float(sides[1])}


def address_of_lag(lag: Lag) -> dict[str, Any]:
    """Such as "-2d"."""
    return {"link": lag.short, "unit": "ns" if lag.dates else "clock", "length": float(lag.length)}


def _written(length: int | float, *, dates: bool) -> str:
    size = length_in_words(abs(exact_fraction(length)), dates=dates)
    return f"-{size}" if length < 0 else size
