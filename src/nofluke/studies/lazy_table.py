"""A study's table that reads each column when it is first asked for, and keeps no more in memory than is used."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence

from nofluke.arrays import AnyArray
from nofluke.studies.folder import Folder

_WORDY = ("notes", "reason", "tolerance")  # text of which each cell has its own: read again, not kept


class LazyTable(MutableMapping[str, AnyArray]):
    """The columns of one table of a folder, by name.

    Parameters
    ----------
    folder : Folder
    table : str
        "cells", "failed", "timings", "laws" or "truths".
    names : sequence of str
        Its columns.
    """

    def __init__(self, folder: Folder, table: str, names: Sequence[str]) -> None:
        self._folder, self._table, self._names = folder, table, tuple(names)
        self._kept: dict[str, AnyArray] = {}

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self._names:
            raise KeyError(name)
        if name in self._kept:
            return self._kept[name]
        found = self._folder.read(self._table, columns=[name])[name]
        if name not in _WORDY and not name.endswith("_method"):
            self._kept[name] = found
        return found

    def __setitem__(self, name: str, values: AnyArray) -> None:
        self[name]  # refuses what is no column
        self._kept[name] = values

    def __delitem__(self, name: str) -> None:
        self._kept.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
