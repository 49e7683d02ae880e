"""Chunks of two kinds, cases in memory and readers of one series each, and how many series go into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nofluke.data.tables import connected
from nofluke.errors import InputError
from nofluke.plain import as_whole
from nofluke.studies.cases import Case, Chunk
from nofluke.studies.outcome import reason_of
from nofluke.studies.sources.assembling import faulty

MOST_SCORES = 2_000_000
MOST_SERIES = 1_000
LEAST_CHUNKS = 32  # where there are as many series: enough for the workers of a large machine


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunks:
    """A source whose chunks are known: a `nofluke.studies.cases.Source`. ``keeps`` is what must outlive them."""

    detectors: tuple[str, ...]
    fingerprint: dict[str, Any] = field(repr=False)
    parts: tuple[Chunk, ...] = field(repr=False)
    keeps: Any = field(repr=False, default=None)

    def chunks(self) -> tuple[Chunk, ...]:
        """The chunks, in order."""
        return self.parts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CasesChunk:
    """Cases that were read already: they travel with the chunk."""

    cases: tuple[Case, ...] = field(repr=False)

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in it."""
        return tuple(case.series for case in self.cases)

    def read(self) -> Iterator[Case]:
        """The cases."""
        return iter(self.cases)


class SeriesReader(Protocol):
    """Reads one series, wherever it is sent."""

    @property
    def series(self) -> str:
        """The series' name."""

    @property
    def group(self) -> str:
        """Its group."""

    def case(self, detectors: Sequence[str], connection: Any) -> Case:
        """The case; what cannot be read at all is an `InputError` or an `OSError`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadersChunk:
    """Some series, each with a reader of its own."""

    readers: tuple[SeriesReader, ...] = field(repr=False)
    detectors: tuple[str, ...]

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in it."""
        return tuple(reader.series for reader in self.readers)

    def read(self) -> Iterator[Case]:
        """The cases, one after another, by one connection."""
        with connected() as connection:
            connection.execute("SET threads = 1")  # the workers are what runs at once
            for reader in self.readers:
                try:
                    case = reader.case(self.detectors, connection)
                except (InputError, OSError) as error:
                    case = faulty(reader.series, reader.group, self.detectors, reason_of(error, where=False))
                yield case


def readers_in_chunks(
    readers: Sequence[SeriesReader], sizes: Sequence[int], detectors: tuple[str, ...], per_chunk: Any
) -> tuple[Chunk, ...]:
    """Readers as chunks; ``sizes`` are about how many scores each of them has."""
    return tuple(ReadersChunk(readers=tuple(readers[part]), detectors=detectors) for part in cut(sizes, per_chunk))


def cut(sizes: Sequence[int], per_chunk: Any = None) -> list[slice]:
    """Which series go into one chunk, by their numbers of scores: about two million, or the number of series asked for.

    Small studies make at least 32 chunks where they have as many series, so that many workers have something to do.

    >>> cut([10, 10, 10], per_chunk=2)
    [slice(0, 2, None), slice(2, 3, None)]
    """
    most = min(max(len(sizes) // LEAST_CHUNKS, 1), MOST_SERIES)
    limit: float = MOST_SCORES
    if per_chunk is not None:
        most, limit = as_whole(per_chunk, "per_chunk", 1), float("inf")
    parts, start, held = [], 0, 0
    for at, size in enumerate(sizes):
        if at > start and (at - start >= most or held + size > limit):
            parts.append(slice(start, at))
            start, held = at, 0
        held += size
    return [*parts, slice(start, len(sizes))] if len(sizes) else []
