"""One writer at a time in a folder. The lock is the operating system's: it ends with its process, however that ends."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from nofluke.errors import InputError

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
