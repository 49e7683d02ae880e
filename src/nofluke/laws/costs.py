"""What each engine for precision's law costs, and up to where it is affordable.

The section "Which method when" of docs/explanation/theory.md has the limits.
"""

from __future__ import annotations

from typing import Literal

from nofluke import progress
from nofluke.laws.exact.few import few_cost
from nofluke.laws.exact.programme import programme_bytes, programme_cost
from nofluke.series.counting import Windows

Engine = Literal["programme", "few"]

PROGRAMME_OPERATIONS = 1e9  # the dynamic programme answers within a second up to here, with nothing to compile
PROGRAMME_PATIENCE = 2e10  # and is given some ten seconds where the Fourier inversion is not certified
PROGRAMME_BYTES = 1e9
FEW_OPERATIONS = 2e7  # up to here, some ten milliseconds, few events are walked through block by block
FEW_PATIENCE = 4e9  # and up to here, seconds, where the Fourier inversion would be slow; large tables leave the cache
FOURIER_SECONDS = 20.0  # above, by estimate, "auto" takes the saddlepoint approximation and says so
LOADING_SECONDS = 1.0  # of the compiler: half a second at least, more where nothing is cached
SECONDS_PER_BLOCK = 1e-7  # of an inversion, about: 32 angles at a time
SECONDS_PER_ENTRY = 0.5e-9  # of a table of either programme
SECONDS_PER_STEP = 30e-6  # that NumPy takes for each block, whatever its size


def table_engine(windows: Windows, n_events: int, programme_operations: float, few_operations: float) -> Engine | None:
    """The dynamic programme that makes the whole law soonest, or None where neither is affordable."""
    few = few_cost(windows, n_events)
    # where the process ends with this call, the compiled one must pay for loading, and perhaps compiling, itself
    seconds = SECONDS_PER_ENTRY * few + (LOADING_SECONDS if progress.is_one_call() else 0.0)
    if seconds < SECONDS_PER_STEP * len(windows.blocks.length) and few <= few_operations:
        return "few"  # before the other one has begun
    fits = programme_fits(windows, n_events, programme_operations)
    if not fits:
        return "few" if few <= few_operations else None
    return "few" if seconds < programme_seconds(windows, n_events) else "programme"


def programme_seconds(windows: Windows, n_events: int, most_missed: int | None = None) -> float:
    """Seconds the dynamic programme takes, by measurement: some for each table entry, some for each block."""
    entries = programme_cost(windows, n_events, most_missed)
    return SECONDS_PER_ENTRY * entries + SECONDS_PER_STEP * len(windows.blocks.length)


def programme_fits(windows: Windows, n_events: int, operations: float, most_missed: int | None = None) -> bool:
    """Whether the dynamic programme stays within so many table entries, and within memory."""
    return (
        programme_cost(windows, n_events, most_missed) <= operations
        and programme_bytes(windows, n_events, most_missed) <= PROGRAMME_BYTES
    )


def announce_compilation() -> None:
    """Say that the inversion is about to be compiled, if it is."""
    from nofluke.laws.exact import kernels

    progress.announce_compilation(kernels.invert, seconds=8)
