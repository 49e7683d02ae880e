"""Paths as people type them, files that are written whole or not at all, and one writer at a time."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from nofluke.errors import InputError, say

# where a directory takes no new file, or a mounted file no new name, a file can only be written where it is
_IN_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)


def expanded(path: Any, name: str) -> Path:
    """Expand a leading ``~`` or ``~user`` as shells do; without such a user the path stays as it is.

    >>> str(expanded("./~root", "path")), str(expanded("~no such user", "path"))
    ('~root', '~no such user')
    """
    # text goes first: a Path has already dropped the ./ that keeps ./~x from being a home
    try:
        text = path if isinstance(path, str) else os.fspath(path)
    except Exception:  # no path, or one of a class of the user's that raises what it likes
        text = None
    if not isinstance(text, str):
        raise InputError(
            argument=name, problem=f"must be a path, got {type(path).__name__}", remedy="pass text or a Path"
        )
    if not text or "\0" in text or not _is_encodable(text):
        raise InputError(argument=name, value=text, problem="names no file", remedy="pass the path of one")
    return Path(os.path.expanduser(text))


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def is_same_file(path: Path, other: Path | int) -> bool:
    """Whether two paths, or a path and an open descriptor, lead to the same regular file, through links too."""
    try:
        found = os.stat(path)
        return stat.S_ISREG(found.st_mode) and os.path.samestat(found, os.stat(other))
    except OSError:  # what is not there is no other's file
        return False


def check_place(path: Path, subject: str) -> None:
    """Refuse a place where a file cannot be written, before the work of making one. Nothing is made or changed."""
    try:
        try:
            found = os.stat(path)
        except FileNotFoundError:
            place = Path(os.path.realpath(path)).parent  # of what a dangling link leads to
            needed = os.W_OK | os.X_OK
            if not stat.S_ISDIR(os.stat(place).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        else:
            place, needed = path, os.W_OK
            if stat.S_ISDIR(found.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(place, needed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(error, subject) from None


def write_file(path: Path, content: str | bytes, subject: str) -> None:
    """Write a file in one go: the old one stays as it is until the new one is complete, and also if that fails.

    A symbolic link is followed, permissions of an existing file are kept, and nothing is left beside it after a failure
    or Ctrl-C. Pipes and devices are written to as they are. ``subject`` opens the sentence of the error.
    """
    # half of a surrogate pair, as in some names of files, is no text in any encoding
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        _write(path, data)
    except OSError as error:
        raise _unwritable(error, subject) from None


def _unwritable(error: OSError, subject: str) -> InputError:
    why = error.strerror or str(error)
    return InputError(problem=say("{} cannot be written ({})", subject, why), remedy="choose another place")


def _write(path: Path, data: bytes) -> None:
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if (stream := _standard_stream(old)) is not None:
        stream.flush()
        with open(
            os.dup(stream.fileno()), "wb"
        ) as file:  # not opened again, which would empty a log that >> appends to
            file.write(data)
    elif old is not None and not stat.S_ISREG(old.st_mode):
        path.write_bytes(data)
    else:
        _replace(Path(os.path.realpath(path)), data, old)


def _standard_stream(found: os.stat_result | None) -> Any:
    """The standard stream that leads to this file, as it does for /dev/stdout."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # there may be no stream, or one without a descriptor
            if found is not None and os.path.samestat(found, os.fstat(stream.fileno())):
                return stream
    return None


def _replace(target: Path, data: bytes, old: os.stat_result | None) -> None:
    """Write beside the target, then give the new file its name."""
    if old is not None and not os.access(
        target, os.W_OK
    ):  # a new name would not ask: renaming needs only the directory
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    beside = target.with_name(f".nofluke-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as file:
            if old is not None:
                with suppress(OSError, AttributeError):  # only root may give files away; Windows has no owners
                    os.chown(beside, old.st_uid, old.st_gid)
                shutil.copystat(target, beside)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # a full disk may say so only now
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        if old is None or error.errno not in _IN_PLACE:
            raise
        target.write_bytes(data)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def name_of_list(file: str) -> str:
    """What a list is called after its file, where nothing else names it.

    >>> name_of_list("exports/alerts.csv.gz"), name_of_list("-")
    ('alerts', 'standard input')
    """
    return "standard input" if file == "-" else Path(file).name.partition(".")[0]


# ---- one writer at a time. The lock is the operating system's: it ends with its process

_FAR = 1 << 20  # Windows locks bytes against reading too: some that are not there, so that the holder can be read
_held: set[str] = set()  # the system's locks are a process's: two users in one process would not see each other's


class Lock:
    """A file that is locked until `release`, and says who holds it; it is gone when nobody does.

    Parameters
    ----------
    path : Path
    argument, value : str
        What an error names: the argument that led here, and what was passed.
    user, place : str
        What another holder in this process is called, and what to choose another of.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = Lock(Path(folder) / ".lock", argument="out", value=folder, user="study", place="folder")
    ...     text = (Path(folder) / ".lock").read_text()
    ...     lock.release()
    >>> text.startswith(f"process {os.getpid()} on ")
    True
    """

    def __init__(self, path: Path, *, argument: str, value: str, user: str, place: str) -> None:
        self._path = Path(os.path.realpath(path.parent)) / path.name

        def in_use(by: str) -> InputError:
            remedy = f"wait for it, or choose another {place}"
            return InputError(argument=argument, value=value, problem=f"is in use by {by}", remedy=remedy)

        if str(self._path) in _held:
            raise in_use(f"another {user} of this process")
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _locked(self._file):
                holder = os.read(self._file, 200).decode(errors="replace").strip() or "another process"
                os.close(self._file)
                raise in_use(holder)
            if self._is_in_place():
                break
            os.close(self._file)  # its last holder has just removed it
        _held.add(str(self._path))
        with suppress(OSError):  # on a full disk it is held all the same
            os.truncate(self._file, 0)
            os.write(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except OSError:
            return False

    def release(self) -> None:
        """Give it free; a second time does nothing."""
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
