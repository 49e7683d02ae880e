"""Two lists of times, the span and the gaps as numbers of one kind, in the ticks that they have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from nofluke.data.columns import Column
from nofluke.data.pairs import Pairs
from nofluke.dates import NANOSECONDS
from nofluke.errors import InputError, arg, say
from nofluke.series.counting import in_ranges, nonempty, union
from nofluke.series.lists import as_tick, lengths_of, one_kind
from nofluke.series.resolution import resolution
from nofluke.series.ticks import MOST_TICKS, Ticks, common_unit, raw_numbers
from nofluke.series.tolerance import Ranges, Tolerance

DAY = 86_400 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Both lists, the span and the gaps as numbers of one kind, and the ticks that they make."""

    raw: dict[str, npt.NDArray[Any]]
    of: dict[str, npt.NDArray[Any]]
    border: npt.NDArray[Any]
    ticks: Ticks
    stride: int
    gaps: Ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What comes with two lists of times."""

    span: tuple[Column, bool] | None
    gaps: Pairs | None
    tolerances: tuple[Tolerance, ...]
    tick: Any

    @property
    def whole_day(self) -> bool:
        """Whether the span ends on a date without a time of day."""
        return self.span is not None and self.span[1]

    def numbers(self, lists: dict[str, Column]) -> Numbers:
        """Both lists, sorted, in ticks of their own or of the length that was asked for."""
        columns, pairs = dict(lists), self.gaps
        if self.span is not None:
            columns["span"] = self.span[0]
        if pairs is not None and len(pairs):
            columns["gaps"] = Column(values=np.concatenate([pairs.starts, pairs.ends]), aware=pairs.aware)
        known = {name: column for name, column in columns.items() if len(column)}
        if not known.keys() & {"events", "alarms", "span"}:
            raise InputError(
                problem="events and alarms are both empty and there is no span",
                remedy=say("pass {}, the time that was watched", arg("span")),
            )
        dates, aware = one_kind(known)
        unit = common_unit([column.values for column in known.values()]) if dates else None
        raw = {name: raw_numbers(column.values, unit, name) for name, column in known.items()}
        if any(values.dtype.kind == "f" for values in raw.values()):
            raw = {name: values.astype(np.float64) for name, values in raw.items()}
        nothing = next(iter(raw.values()))[:0]
        of = {name: np.sort(raw.get(name, nothing)) for name in ("events", "alarms")}
        border = raw.get("span", nothing)
        lengths = lengths_of(self.tolerances, dates)
        if self.tick is None:
            ends_of_days = border[1:] + DAY // NANOSECONDS[unit] if unit is not None and self.whole_day else nothing
            marks = np.concatenate([border, ends_of_days, raw.get("gaps", nothing)])
            ticks, stride = resolution(of["events"], of["alarms"], lengths, marks, unit, aware)
        else:
            size = as_tick(self.tick, dates)
            ticks, stride = Ticks(origin=_origin(of, border, size), size=size, unit=unit, aware=aware), 1
        _refuse_long(np.concatenate([of["events"], of["alarms"], border]), ticks)
        gaps = _in_ticks(pairs, raw.get("gaps"), ticks)
        return Numbers(raw=raw, of=of, border=border, ticks=ticks, stride=stride, gaps=gaps)

    def outside_gaps(self, lists: dict[str, Column], read: Numbers) -> tuple[dict[str, Column], Numbers]:
        """The lists without the times in gaps, read as if those had never been there: ticks and span may change."""
        closed = union(read.gaps)
        kept = {name: ~in_ranges(read.ticks.of(read.raw[name]), closed) for name in lists.keys() & read.raw.keys()}
        if all(flags.all() for flags in kept.values()):
            return lists, read
        left = {
            name: replace(column, values=column.values[kept[name]], index=None) if name in kept else column
            for name, column in lists.items()
        }
        return self.outside_gaps(left, self.numbers(left))


def _origin(of: dict[str, npt.NDArray[Any]], border: npt.NDArray[Any], size: Fraction) -> int | float:
    """Where tick 0 lies if a tick is given: at 0, but for times so far from it that sums with them leave 64 bits."""
    every = np.concatenate([of["events"], of["alarms"], border])
    if every.dtype.kind == "f":
        return 0.0
    first = int(every.min())
    far = max(abs(first), abs(int(every.max()))) > MOST_TICKS and size.denominator == 1
    return first // int(size) * int(size) if far else 0


def _refuse_long(every: npt.NDArray[Any], ticks: Ticks) -> None:
    if every.dtype.kind != "f" and ticks.raw >= 2**63:
        raise InputError(
            argument="tick", value=ticks.length(1), problem="is longer than any span", remedy="pass a shorter one"
        )
    if len(every) and Fraction(float(every.max()) - float(every.min())) / ticks.raw > MOST_TICKS:
        raise InputError(
            problem=f"the span is longer than 2**60 ticks of {ticks.length(1)}",
            remedy=say("pass a coarser {}, or leave out outlying times", arg("tick")),
        )


def _in_ticks(pairs: Pairs | None, raw: npt.NDArray[Any] | None, ticks: Ticks) -> Ranges:
    """Gaps as half-open, ascending stretches of ticks; both ends belong to a gap unless it says otherwise."""
    if pairs is None or raw is None:
        return Ranges(starts=np.zeros(0, dtype=np.int64), stops=np.zeros(0, dtype=np.int64))
    starts, ends = raw[: len(pairs)], raw[len(pairs) :]
    begin = ticks.at_or_after(starts) if pairs.closed in ("both", "left") else ticks.of(starts) + 1
    behind = ticks.of(ends) + 1 if pairs.closed in ("both", "right") else ticks.at_or_after(ends)
    order = np.argsort(begin, kind="stable")
    return nonempty(Ranges(starts=begin[order], stops=behind[order]))  # one between two ticks is none
