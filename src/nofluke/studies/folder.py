"""The folder of a study: what it was made of, its parts as they get finished, and the tables made of them at the end.

``study.json`` is written first; a part appears whole, with checksums; the tables are joined from the parts in their
order. So a study can stop anywhere and go on later, and its results do not tell who computed which part, nor when.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from nofluke.data.paths import expanded, write_file
from nofluke.errors import InputError, say, shown, spoken
from nofluke.plain import check_word
from nofluke.studies.origin import as_text, changes, in_short, origin, read_origin
from nofluke.studies.parts import TABLES, Packed, from_files, index_of, pack, write_part
from nofluke.studies.processes import leave_if_importing
from nofluke.studies.schema import CELLS, FAILED, Part, Schema
from nofluke.studies.tables import Columns, join_tables, read_table, write_table

# ---- one writer at a time in a folder. The lock is the operating system's: it ends with its process


NAME = ".lock"
_FAR = 1 << 20  # Windows locks bytes against reading too: some that are not there, so that the holder can be read
_held: set[str] = set()  # the system's locks are a process's: two studies in one process would not see each other's


class Lock:
    """A locked folder, until `release`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = Lock(Path(folder))
    ...     text = (Path(folder) / ".lock").read_text()
    ...     lock.release()
    >>> text.startswith(f"process {os.getpid()} on ")
    True
    """

    def __init__(self, folder: Path) -> None:
        self._path = Path(os.path.realpath(folder)) / NAME
        if str(self._path) in _held:
            raise InputError(
                argument="out",
                value=str(folder),
                problem="is in use by another study of this process",
                remedy="wait for it, or choose another folder",
            )
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _locked(self._file):
                holder = os.read(self._file, 200).decode(errors="replace").strip() or "another process"
                os.close(self._file)
                raise InputError(
                    argument="out",
                    value=str(folder),
                    problem=f"is in use by {holder}",
                    remedy="wait for it, or choose another folder",
                )
            if self._is_in_place():
                break
            os.close(self._file)  # its last holder has just removed it
        _held.add(str(self._path))
        os.truncate(self._file, 0)
        os.write(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except OSError:
            return False

    def release(self) -> None:
        """Give the folder free; a second time does nothing."""
        if str(self._path) in _held and self._file >= 0:
            self._path.unlink(missing_ok=True) if sys.platform != "win32" else None
            os.close(self._file)
            self._file = -1
            _held.discard(str(self._path))


def _locked(file: int) -> bool:
    """Whether the lock was free, and is now ours; file systems without locks know no better than that it is."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file, 0, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # unlike flock, not shared with forked processes
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


# ---- the folder of a study: what it was made of, its parts as they get finished

_OURS = ("study.json", "results.parquet", "failed.jsonl", "timings.parquet", "pooled.json")
_ROWS_AT_ONCE = 100_000


class Folder:
    """A folder to write a study to, or to read it from.

    Parameters
    ----------
    out : path, optional
        Where; without it, a temporary folder that goes when this object does.

    Attributes
    ----------
    path : Path
    notes : tuple of str
        What the user should know about a resumed study.
    """

    def __init__(self, out: str | Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="nofluke-")) if out is None else expanded(out, "out")
        self.temporary = out is None
        if out is None:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.notes: tuple[str, ...] = ()
        self.cells: Schema = CELLS
        self._lock: Lock | None = None
        self._found: dict[int, dict[str, Any]] | None = None

    def begin(
        self,
        *,
        settings: Mapping[str, Any],
        inputs: Mapping[str, Any],
        parts: int,
        cells: Schema = CELLS,
        resume: bool = True,
    ) -> None:
        """Lock the folder, and write study.json, or make sure that it says the same.

        Parameters
        ----------
        settings, inputs : mapping
            Plain values, as JSON has them, in which any change makes it another study.
        parts : int
            How many there will be.
        cells : mapping
            Columns of the cells, with those of metrics.
        resume : bool
            Go on from the parts that are there; otherwise remove those of an earlier study, and start over.

        Raises
        ------
        InputError
            If the folder holds something else or another study, is in use, or cannot be written to.
        """
        leave_if_importing()  # before the folder is found locked by this worker's own parent
        self.cells = cells
        told = origin(settings, inputs, parts)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            others = sorted(name for name in os.listdir(self.path) if not name.startswith("."))
            if "study.json" not in others and others:
                raise InputError(
                    argument="out",
                    value=str(self.path),
                    problem=f"holds other files (first {shown(others[0])})",
                    remedy="name a folder that is new or empty",
                )
            self._lock = Lock(self.path)
        except OSError as error:
            raise InputError(
                argument="out",
                value=str(self.path),
                problem=f"cannot be written to ({error.strerror})",
                remedy="choose another",
            ) from None
        try:
            self._agree(read_origin(self.path / "study.json"), told, resume)
        except BaseException:
            self.close()
            raise

    def _agree(self, old: dict[str, Any] | None, told: dict[str, Any], resume: bool) -> None:
        if old is not None and not resume:
            self._clear()
            old = None
        if old is None:
            write_file(self.path / "study.json", as_text(told), str(self.path / "study.json"))
        else:
            self._same(old, told)
        (self.path / "parts").mkdir(exist_ok=True)
        self._sweep()

    def _same(self, old: dict[str, Any], told: dict[str, Any]) -> None:
        """Refuse to go on with what other settings, other inputs or another nofluke have begun."""
        told_by = {key: {"nofluke": each["versions"].get("nofluke")} for key, each in (("old", old), ("new", told))}
        changed = [
            *changes(old["settings"], told["settings"]),
            *changes(old["inputs"], told["inputs"]),
            *changes(told_by["old"], told_by["new"]),
        ]
        if changed:
            raise InputError(
                argument="out",
                value=str(self.path),
                problem="holds a study of something else",
                remedy=say(
                    "{}. Put it back, {} to start over",
                    in_short(changed),
                    spoken("choose another out, or pass resume=False", shell="choose another -o, or pass --restart"),
                ),
            )
        newer = changes(old["versions"], told["versions"])
        if newer:
            self.notes = (f"resumed with other versions than it was started with: {in_short(newer)}.",)

    def _clear(self) -> None:
        """Remove what a study has written, and nothing else."""
        for name in (*_OURS, *(path.name for path in self.path.glob("leaderboard.*"))):
            (self.path / name).unlink(missing_ok=True)
        for place in self._places().values():
            shutil.rmtree(place, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what was being written when a process was killed."""
        for path in (*self.path.glob(".nofluke-*"), *(self.path / "parts").glob(".[0-9]*-*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def _places(self) -> dict[int, Path]:
        folder = self.path / "parts"
        with suppress(OSError):
            numbers = {int(path.name): path for path in folder.iterdir() if path.name.isdecimal()}
            return {i: path for i, path in numbers.items() if path.name == f"{i:06d}"}
        return {}

    def _indices(self, check: bool = False) -> dict[int, dict[str, Any]]:
        if self._found is None or check:
            found = {i: index_of(place, check) for i, place in self._places().items()}
            self._found = {i: index for i, index in found.items() if index is not None}
        return dict(sorted(self._found.items()))

    def have(self) -> set[int]:
        """Numbers of the parts that need not be computed: they are there, whole, and not to be tried again."""
        return {i for i, index in self._indices(check=True).items() if not index["again"]}

    def rows(self, name: str) -> int:
        """How many rows of a table there are by now."""
        return sum(int(index["rows"][name]) for index in self._indices().values())

    def write_part(self, i: int, part: Part | Packed, *, again: bool = False) -> None:
        """Keep part ``i``; ``again`` if it failed as a whole and a resumed study should compute it once more."""
        packed = part if isinstance(part, Packed) else pack(part, self.cells)
        index = write_part(self.path / "parts" / f"{i:06d}", packed, again)
        self._indices()
        assert self._found is not None
        self._found[i] = index

    def finish(self) -> None:
        """Make results.parquet, timings.parquet and failed.jsonl of all parts, in their order."""
        for name, table in (("results.parquet", "cells"), ("timings.parquet", "timings")):
            if paths := self._paths(table):
                join_tables(self.path / name, paths)
            else:
                write_table(self.path / name, {}, self._schema(table))
        if paths := self._paths("failed"):
            join_tables(self.path / "failed.jsonl", paths, columns=tuple(FAILED))
        else:
            write_file(self.path / "failed.jsonl", "", str(self.path / "failed.jsonl"))

    def _paths(self, table: str, numbers: Sequence[int] | None = None) -> list[Path]:
        numbers = list(self._indices()) if numbers is None else numbers
        return [self.path / "parts" / f"{i:06d}" / f"{table}.parquet" for i in numbers]

    def read(self, table: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None) -> Columns:
        """A table of all parts that are there, in order: "cells", "failed", "timings", "laws" or "truths".

        ``columns`` picks some of them, ``where`` rows in which columns are certain words, such as ``{"detector":
        "a"}``.
        """
        # piece by piece: words come as one object for each row, and are few when those of a piece are kept once
        if pieces := list(self.stream(table, columns, where)):
            return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        with tempfile.TemporaryDirectory(prefix="nofluke-") as folder:
            write_table(Path(folder, table), {}, self._schema(table))
            return from_files(table, read_table(Path(folder, table), columns))

    def _schema(self, table: str) -> Schema:
        return self.cells if table == "cells" else TABLES[table]

    def stream(
        self, table: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> Iterator[Columns]:
        """The same in pieces of some 100,000 rows, for what does not fit into memory."""
        check_word(table, "table", TABLES)
        numbers: list[int] = []
        rows = 0
        for i, index in self._indices().items():
            numbers.append(i)
            rows += int(index["rows"][table])
            if rows >= _ROWS_AT_ONCE:
                yield from_files(table, read_table(self._paths(table, numbers), columns, where))
                numbers, rows = [], 0
        if numbers:
            yield from_files(table, read_table(self._paths(table, numbers), columns, where))

    def close(self) -> None:
        """Give the folder free for other processes. A temporary one stays as long as this object."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
