"""What people see of a verdict, and what a colour means: the same on pages, in figures, tables, terminal and notebook.

Programs read ``result.verdict`` ("yes", "partly", "no", "cannot tell"); people read its words, since "no" under the
name nofluke would read as "no fluke". Found is blue and missed is orange, and nothing else is; chance is grey.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """Words, symbol, and the colour: on light and on dark paper, and by its name on a terminal of any colours."""

    words: str
    symbol: str
    light: str
    dark: str
    terminal: str

    def __str__(self) -> str:
        return f"{self.symbol} {self.words}"


VERDICTS: dict[str, Sign] = {
    "yes": Sign("no fluke", "✓", "#1B7F3B", "#63CF8A", "green"),
    "partly": Sign("partly", "◐", "#6A6A00", "#CFC75A", "yellow"),
    "no": Sign("could be a fluke", "✗", "#B3261E", "#F2938B", "red"),
    "cannot tell": Sign("cannot tell", "?", "#5F6368", "#B4B8BD", "bright_black"),
}
"""Each verdict as people read it; every colour has a contrast of 4.5:1 on its paper."""

COLOURS = {
    "chance": ("#6E6E6E", "#A8A8A8"),
    "observed": ("#5B2A86", "#CDA9F2"),
    "found": ("#0072B2", "#56B4E9"),
    "missed": ("#D55E00", "#FF8C3A"),
}
"""What each colour means, on light and on dark paper."""

DETECTORS = (
    ("#117733", "#4FC26F"),
    ("#C2348B", "#FF7FC4"),
    ("#8F8A00", "#DCD45A"),
    ("#6B1230", "#D23C5C"),
    ("#009268", "#B4F2EA"),
    ("#9457C8", "#B583FF"),
)
"""Of the first, second, ... of several detectors, on light and on dark paper: neither blue nor orange, at least 3:1."""
