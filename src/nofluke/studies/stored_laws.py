"""Laws as rows of a table, and read from it again: what chance scores in a cell, long after the cell was judged.

A row has the logarithms of all probabilities that are known, so that tails keep their digits however small they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from nofluke.laws.law import SMALLEST, How, Law, Tail, TailSide
from nofluke.laws.tables import TRUSTED, LogTable
from nofluke.studies.schema import Values

_CUT = "the stored table ends above this"


class StoredLaw(LogTable):
    """A law from its stored row.

    Parameters
    ----------
    first : int
        The smallest number that has any probability.
    logs : array
        log P(X = first), log P(X = first + 1), ...
    size, mean, var, method
        As of the law that was stored.

    Notes
    -----
    A table of doubles may end where they underflow, and that of an approximation where it was given up. What lies
    beyond such an end is at most what lies on it: tails there are called a bound.

    Examples
    --------
    >>> from nofluke.laws.tables import hypergeometric
    >>> law = hypergeometric(10, 4, 3)
    >>> stored = StoredLaw.of_row(law_row(law, "recall"))
    >>> stored, round(stored.upper(2), 12) == round(law.upper(2), 12)
    (<StoredLaw exact (hypergeometric): 0..3, mean 1.2, std 0.748331>, True)
    """

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> StoredLaw:
        """From the columns of `nofluke.studies.schema.LAWS`."""
        drawn = int(row["n_resamples"])
        return cls(
            int(row["first"]),
            np.asarray(row["logs"], dtype=np.float64),
            size=int(row["size"]),
            mean=float(row["mean"]),
            var=float(row["var"]),
            method=How(kind=row["kind"], name=row["name"], n_resamples=drawn or None),
        )

    def _beyond(self, side: TailSide) -> Tail:
        end = float(self._logs[-1 if side == "upper" else 0])
        if self._whole(end):
            return Tail.of(0.0, self.method)
        return Tail.of(max(math.exp(end), SMALLEST), How(kind="bound", name=_CUT))

    def _whole(self, end: float) -> bool:
        """Whether the table ends where the law does, rather than where its numbers could not be told any more."""
        if any(word in self.method.name for word in ("hypergeometric", "rotations", "shifts")):
            return True
        return self.method.name != "saddlepoint" and end > math.log(TRUSTED)


def law_row(law: Law, measure: str) -> dict[str, Any]:
    """What the table of laws keeps of a law, but for the names of series and detector.

    >>> from nofluke.laws.tables import binomial
    >>> row = law_row(binomial(2, 0.5), "recall")
    >>> row["kind"], row["first"], np.exp(row["logs"]).round(2)
    ('approximate', 0, array([0.25, 0.5 , 0.25]))
    """
    first, logs = law.log_bulk()
    some = np.flatnonzero(logs > -np.inf)
    begin, end = (int(some[0]), int(some[-1]) + 1) if len(some) else (0, len(logs))
    return {
        "measure": measure,
        "size": law.size,
        "mean": law.mean,
        "var": law.var,
        "kind": law.method.kind,
        "name": law.method.name,
        "n_resamples": law.method.n_resamples or 0,
        "first": first + begin,
        "logs": logs[begin:end],
    }


class StoredLaws(Sequence[StoredLaw]):
    """The laws of a table, each made when it is asked for.

    Parameters
    ----------
    columns : mapping
        Those of `nofluke.studies.schema.LAWS` that a law is made of.

    Examples
    --------
    >>> from nofluke.laws.tables import hypergeometric
    >>> rows = [law_row(hypergeometric(10, 4, m), "recall") for m in (1, 2)]
    >>> laws = StoredLaws({name: [row[name] for row in rows] for name in rows[0]})
    >>> len(laws), laws[1].mean
    (2, 0.8)
    """

    def __init__(self, columns: Values) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns["first"])

    @overload
    def __getitem__(self, at: int) -> StoredLaw: ...
    @overload
    def __getitem__(self, at: slice) -> list[StoredLaw]: ...
    def __getitem__(self, at: int | slice) -> StoredLaw | list[StoredLaw]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return StoredLaw.of_row({name: self._columns[name][at] for name in _NEEDED})

    def __iter__(self) -> Iterator[StoredLaw]:
        return (self[i] for i in range(len(self)))


_NEEDED = ("first", "logs", "size", "mean", "var", "kind", "name", "n_resamples")
