"""What a checked statement is, and how what was found is written: one page, figures, numbers and claims."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError

Outcome = Literal["holds", "does not hold", "cannot be checked"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "does not hold", "cannot be checked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of the paper, what was found, and where to see it.

    Attributes
    ----------
    key : str
        A short name that does not change.
    section : str
        Where the paper says it.
    statement : str
        What it says, as closely as a sentence of its own allows.
    outcome : {"holds", "does not hold", "cannot be checked"}
    finding : str
        The numbers that decide.
    decided_by : str
        The figure or table to look at.
    """

    key: str
    section: str
    statement: str
    outcome: Outcome
    finding: str
    decided_by: str

    def said_in(self) -> str:
        """The section, as it is named in a table; one that is no number stands for itself."""
        return f"section {self.section}" if self.section[:1].isdigit() else self.section

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain values, for JSON."""
        return asdict(self)


def outcome_of(condition: bool | np.bool_) -> Outcome:
    """Holds or not."""
    return "holds" if condition else "does not hold"


def tally(claims: tuple[Claim, ...]) -> str:
    """How many statements hold, do not, cannot be checked: in words."""
    counts = {o: sum(c.outcome == o for c in claims) for o in OUTCOMES}
    return (
        f"Of {len(claims)} statements, {counts['holds']} hold, {counts['does not hold']} do not, and "
        f"{counts['cannot be checked']} cannot be checked"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What was written, and what was found.

    Attributes
    ----------
    directory : Path
        Where the files are; ``index.html`` is the one to open.
    files : tuple of str
        Their names, sorted.
    claims : tuple of Claim
        Statements and their outcomes.
    """

    directory: Path
    files: tuple[str, ...]
    claims: tuple[Claim, ...]

    def in_words(self) -> str:
        """How many statements hold, as a sentence."""
        return f"{tally(self.claims)}{self._on()}."

    def _on(self) -> str:
        """What is to be said of the data."""
        return ""


# ---- where pages and the files beside them are written


@contextmanager
def prepared(output: str | Path) -> Iterator[Path]:
    """The directory, made if it does not exist, and known to take a page: before the work, not after it.

    What was made goes again if the work fails before anything is written.
    """
    directory = expanded(output, "output")
    new = [place for place in (directory, *directory.parents) if not os.path.exists(place)]
    try:
        _make(directory, output)
        check_place(directory / "index.html", str(directory / "index.html"))
        yield directory
    except BaseException:
        for place in new:
            with suppress(OSError):  # it may hold something by now, or was never made
                place.rmdir()
        raise


def _make(directory: Path, output: str | Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            argument="output",
            value=str(output),
            problem=f"is not a writable directory ({error.strerror})",
            remedy="choose another",
        ) from None


def publish(
    directory: Path,
    *,
    claims: tuple[Claim, ...],
    about: Mapping[str, Any],
    figures: Mapping[str, Mapping[str, bytes]],
    records: Mapping[str, str],
    page: str,
) -> tuple[str, ...]:
    """Write the page, figures by name and format, records by file, and claims.json; return the names of all, sorted.

    ``about`` is what claims.json says of data and draws.
    """
    told = {**about, "claims": [claim.to_dict() for claim in claims]}
    contents = {f"{name}.{form}": data for name, formats in figures.items() for form, data in formats.items()}
    contents |= {name: text.encode() for name, text in records.items()}
    contents["claims.json"] = (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()
    contents["index.html"] = page.encode()
    for name, data in contents.items():
        write_file(directory / name, data, str(directory / name))
    return tuple(sorted(contents))
