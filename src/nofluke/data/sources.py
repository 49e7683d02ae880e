"""Opening a file, a pipe or standard input: find out what it is, and connect duckdb to it."""

from __future__ import annotations

import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from nofluke.data import delimited
from nofluke.data.delimited import check_text, sniff, too_large
from nofluke.data.paths import expanded
from nofluke.data.table import FileTable, one_line
from nofluke.errors import InputError, shortened


@contextmanager
def open_table(
    source: str | Path,
    wanted: list[str | int],
    time_format: str | None,
    connection: Any = None,
    label: str | None = None,
) -> Iterator[FileTable]:
    """Find out what the file is, and connect to it.

    To read many files, pass one connection for all, and what to call a file in messages.
    """
    piped = isinstance(source, str) and source == "-"
    path = expanded(source, "source")
    label = label or ("standard input" if piped else shortened(str(source), 300))
    with ExitStack() as stack:
        try:
            if not piped and not path.exists():
                raise InputError(problem=f"{label}: there is no such file", remedy="check the path")
            if not piped and path.is_dir():
                raise InputError(problem=f"{label} is a directory", remedy="name a file in it")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if piped or not path.is_file():  # pipes can be read only once, so they are copied first
                stream = _standard_input() if piped else stack.enter_context(path.open("rb"))
                path = folder / "piped"
                with path.open("wb") as copy:
                    _copy_stream(stream, copy, label)
            with path.open("rb") as file:
                magic = file.read(4)
            layout = None if magic == b"PAR1" else sniff(path, label, folder, wanted, time_format)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or one_line(str(error))
            raise InputError(problem=f"{label} cannot be read ({reason})", remedy="check the file") from None
        connection = stack.enter_context(connected()) if connection is None else connection
        yield FileTable(connection, label, path, layout, folder)


@contextmanager
def connected() -> Iterator[Any]:
    """A connection to duckdb, in memory, that keeps the order of rows."""
    import duckdb  # imported late: it takes longer to load than most evaluations to run

    settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "preserve_insertion_order": "true"}
    with duckdb.connect(":memory:", config=settings) as connection:
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        yield connection


def _standard_input() -> IO[bytes]:
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError(problem="standard input is closed", remedy="pass a file, or open standard input")
    return stream


def _copy_stream(stream: IO[bytes], copy: IO[bytes], label: str) -> None:
    """Copy a stream up to the limit; one that is no text is refused at its start, since it may have no end."""
    chunk = stream.read(1 << 16)
    if not chunk.startswith((b"PAR1", b"\x1f\x8b")):
        check_text(chunk, label)
    while chunk:
        copy.write(chunk)
        if copy.tell() > delimited.MOST_BYTES:
            raise too_large(label, delimited.MOST_BYTES)
        chunk = stream.read(1 << 20)
