"""How kernels are compiled: without the interpreter's lock, and kept on disk wherever there is a sound place for it.

numba's own cache stops a run where no directory is writable, and where a file of it is damaged. A cache may cost time,
never an answer: here both are answered by compiling.
"""

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core import caching

FunctionCache: Any = caching.FunctionCache  # numba has types for some of its functions only
_said = False


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called; ``options`` are those of ``numba.njit``."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(nogil=True, **options)(function)
        try:
            dispatcher._cache = _Cache(function)  # what cache=True does, but with the cache below
        except RuntimeError:  # numba found no directory to write to
            _say_once()
        return dispatcher

    return decorate


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache, which is allowed to fail."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle may raise anything
            self._drop()
            return None  # so that numba compiles, and saves what it compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # such as a full disk
            self.disable()
            _say_once()

    def _drop(self) -> None:
        try:
            self.flush()
        except OSError:
            self.disable()
            _say_once()


def _say_once() -> None:
    """A log entry; where logging is not set up, as on the command line, it is one line on standard error."""
    global _said
    if not _said:
        _said = True
        logging.getLogger("nofluke").warning(
            "nofluke: cannot save compiled code, so every run compiles it again, which takes a few seconds: set "
            "NUMBA_CACHE_DIR to a writable directory."
        )
