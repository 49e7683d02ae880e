"""A null on a labelled series with whole ranges: which draws of labels and detector there are, chunk by chunk.

The same seed gives the same draws, whatever is measured on them and by whichever worker: every 64 draws have a stream
of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.arrays import IntArray
from nofluke.errors import InputError, arg, say
from nofluke.laws.law import How
from nofluke.laws.montecarlo import Streams, drawn_chunk
from nofluke.metrics.draws import Draws
from nofluke.metrics.labelled import Labelled
from nofluke.nulls.base import NullModel, Shifting, as_seed
from nofluke.nulls.layouts import Layout, Redrawn, Still, Within
from nofluke.series.truth import Truth

SEEDS = 2**63 - 1
BLOCK = 64  # draws to a stream; a chunk is made of whole blocks


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """Draws of one series under a null.

    Attributes
    ----------
    layout : Layout
        What becomes of the detector.
    n : int
        How many draws there are.
    listed : bool
        Whether these are all there are, the data's own first; else they are drawn at random.
    chunk : int
        Draws to a chunk: a multiple of `BLOCK`.
    method : How
    make : callable
        The draws of a chunk, from its number and size.
    """

    layout: Layout
    n: int
    listed: bool
    chunk: int
    method: How
    make: Callable[[int, int], Draws] = field(repr=False)

    @property
    def chunks(self) -> range:
        """Numbers of the chunks."""
        return range(-(-self.n // self.chunk))

    def draws(self, chunk: int) -> Draws:
        """The draws of one chunk."""
        return self.make(chunk, min(self.chunk, self.n - chunk * self.chunk))


def moves_of(
    model: NullModel,
    series: Labelled,
    *,
    n_resamples: int,
    rng: Any,
    chunk: int,
    affordable: Callable[[Shifting], bool],
    edges: tuple[int, ...] | None = None,
) -> Moves:
    """What a null does with a series: all shifts, where it has some and they are affordable, else so many random draws.

    ``edges`` are borders of groups of steps, within each of which a rotation stays.
    """
    n, seed, chunk = series.n_steps, as_seed(rng), max(chunk // BLOCK, 1) * BLOCK
    streams = Streams(rng if seed is None else seed)
    simulated: dict[str, Any] = {
        "n": n_resamples,
        "listed": False,
        "chunk": chunk,
        "method": How(kind="simulated", n_resamples=n_resamples, seed=seed),
    }

    def at(begins: IntArray) -> Draws:
        return Draws.moving(series.runs, n, begins)

    def blocks(k: int, size: int) -> Iterator[tuple[int, int]]:
        """Numbers and sizes of the blocks of a chunk."""
        for first in range(0, size, BLOCK):
            yield (k * chunk + first) // BLOCK, min(BLOCK, size - first)

    def in_blocks(k: int, size: int, draw: Callable[[np.random.Generator, int], IntArray]) -> IntArray:
        return np.concatenate([draw(streams.generator(block), many) for block, many in blocks(k, size)])

    def seeds(k: int, size: int) -> IntArray:
        return in_blocks(k, size, lambda generator, many: generator.integers(1, SEEDS, many))

    if edges is not None:
        return Moves(layout=Within(edges), make=lambda k, size: at(seeds(k, size)), **simulated)
    shifting = model.shifting(series.truth)
    if shifting is not None:
        begins = shifting.begins
        if affordable(shifting):
            return Moves(
                layout=shifting.layout,
                n=len(begins),
                listed=True,
                chunk=chunk,
                method=shifting.method,
                make=lambda k, size: at(begins[k * chunk : k * chunk + size]),
            )
        return Moves(
            layout=shifting.layout,
            make=lambda k, size: at(in_blocks(k, size, lambda generator, n: generator.choice(begins, n))),
            **simulated,
        )
    if "montecarlo" not in model.methods:
        raise InputError(
            argument="null",
            value=model.text,
            problem="only knows laws of hits and cannot draw for a metric",
            remedy=say("use {}", arg("null", "auto", "circular-shift", "local-shift", "segments")),
        )
    if model.moves == "detector":
        return Moves(layout=Redrawn(model), make=lambda k, size: at(seeds(k, size)), **simulated)
    whole = model.takes_ranges and not series.truth.points
    side = series.truth if whole else steps_of(series.truth)
    draw, lengths = model.draw(side), side.stops - side.starts

    def placed(k: int, size: int) -> Draws:
        rows = np.concatenate(
            [rows for block, many in blocks(k, size) for rows in drawn_chunk(draw, n, streams, block, many)]
        )
        if rows.shape != (size, side.n):
            raise InputError(
                argument="null", value=model.text, problem=f"must draw rows of {side.n} steps, got {rows.shape}"
            )
        return Draws.of_ranges(rows, lengths, n) if whole else Draws.of_steps(rows, n)

    return Moves(layout=Still(), make=placed, **simulated)


def steps_of(truth: Truth) -> Truth:
    """The same labels, each step by itself."""
    return Truth.of_flags(truth.flags, truth.clock, truth.open_steps)
