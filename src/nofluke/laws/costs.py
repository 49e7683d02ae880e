"""What each engine for precision's law costs, and up to where it is affordable.

The section "Which method when" of docs/explanation/theory.md has the limits.
"""

from __future__ import annotations

from nofluke import progress
from nofluke.laws.exact.programme import few_cost, programme_bytes, programme_cost
from nofluke.series.counting import Windows

PROGRAMME_OPERATIONS = 1e9  # the dynamic programme answers within a second up to here, with nothing to compile
PROGRAMME_PATIENCE = 2e10  # and is given some ten seconds where the Fourier inversion is not certified
PROGRAMME_BYTES = 1e9
FEW_OPERATIONS = 2e7  # the same where events are few, and hits are what is told apart: some ten milliseconds
FEW_PATIENCE = 4e9  # and up to here, seconds, where the Fourier inversion would be slow; large tables leave the cache
FOURIER_SECONDS = 20.0  # above, by estimate, "auto" takes the saddlepoint approximation and says so
SECONDS_PER_BLOCK = 1e-7  # of an inversion, about: 32 angles at a time
SECONDS_PER_ENTRY = 0.5e-9  # of a table of the programme
SECONDS_PER_STEP = 30e-6  # that NumPy takes for each block, whatever its size


def table_fits(windows: Windows, n_events: int, programme_operations: float, few_operations: float) -> bool:
    """Whether the dynamic programme is affordable: counting misses, or hits, of which few events make few."""
    few = few_cost(windows, n_events)
    return few <= few_operations or programme_fits(windows, n_events, programme_operations)


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
