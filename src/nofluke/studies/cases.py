"""What a study is made of: cases, one series with the scores of each detector, read chunk by chunk.

A source lists its chunks without reading them; a chunk is small, can be sent to another process, and reads its own
cases there.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nofluke.arrays import AnyArray
from nofluke.errors import InputError, Remark, Words, in_one_line, packed, unpacked


def reason_of(error: BaseException, *, where: bool = True) -> Words:
    """An error in one line, which can be sent anywhere; unless told otherwise, one that is not about the input also
    says where it arose.

    Its kind is where that was, and what is wrong there: the sentence is the same for all cells but for its values.

    >>> reason_of(InputError(argument="scores", problem="has 3 NaN"))
    'scores has 3 NaN.'
    """
    name, told, trace = type(error).__name__, str(error), error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if isinstance(error, InputError):
        told = error.words
    elif where:
        told = f"{name}: {told}" if told.strip() else name
        told += "" if trace is None else f" ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"
    if isinstance(error, InputError) and isinstance(error.problem, Remark):
        kind = error.problem.kind
    else:  # without a trace it was raised in another process
        at = told if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}"
        kind = f"{name} {getattr(error, 'argument', None) or ''}: {at}"
    return sent(Remark(kind, "{}", told))


def sent(text: str) -> Words:
    """A sentence in one line, as it comes out of files and other processes: without values that cannot be sent."""
    return unpacked(packed(in_one_line(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a series, or one detector on it, has no result: one line for people, of a kind."""

    reason: Words

    @classmethod
    def of(cls, error: Exception) -> Fault:
        """That something could not be read."""
        return cls(reason=reason_of(error, where=False))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One series of a study, as it was read and before it was checked.

    Attributes
    ----------
    series : str
        Its name, unique in the study.
    group : str
        What it belongs to, such as a data set: the unit that comparisons take for independent. The series itself where
        none was named.
    truth : Any
        What `nofluke.evaluate` takes as ``truth``; or the fault that left nothing to judge against.
    detectors : mapping of str to array or Fault
        What `nofluke.evaluate` takes as ``scores``, by the detector's name, in the study's order; a `Fault` for one
        without.
    times : Any
        The clock, if there is one.
    truth_as, test_part, warmup
        As in `nofluke.evaluate`.
    notes : tuple of Remark
        What the reader has to say about this series.
    """

    series: str
    group: str
    truth: Any | Fault = field(repr=False)
    detectors: Mapping[str, AnyArray | Fault] = field(repr=False)
    times: Any = field(repr=False, default=None)
    truth_as: str = "auto"
    test_part: Any = field(repr=False, default=None)
    warmup: Any = None
    notes: tuple[Remark, ...] = ()


class Chunk(Protocol):
    """Some series of a source: small enough to be sent, able to read itself anywhere, again and again."""

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in it, in order."""

    def read(self, some: Container[str] | None = None) -> Iterator[Case]:
        """The cases in turn, of all series or some; one that cannot be read has a `Fault`.

        Raises only if nothing is known of the chunk.
        """
