"""How kernels are compiled: without the interpreter's lock, and kept on disk wherever there is a sound place for it.

numba's own cache stops a run where no directory is writable, and where a file of it is damaged. A cache may cost time,
never an answer: here both are answered by compiling.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from importlib import import_module
from threading import RLock
from typing import Any

from nofluke import progress

SECONDS_TO_LOAD = 0.4  # the compiler, and what it has compiled in earlier runs
SECONDS_TO_LOAD_MORE = 0.04  # the same once the compiler is there
SECONDS_TO_COMPILE = 8.0  # where there were none
_said = False
_loading = RLock()


def compiler() -> Any:
    """numba, imported by one thread at a time: two that begin at once may see it half made, and fail."""
    with _loading:
        import numba

        return numba


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called; ``options`` are those of ``numba.njit``."""
    return lambda function: Loop(function, options)


class Loop:
    """A function that is compiled when it is first called: before that it costs nothing, wherever it stands."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @property
    def dispatcher(self) -> Any:
        """What numba makes of the function, compiled for each kind of arguments that it is called with."""
        if self._dispatcher is None:
            with _loading:
                self._dispatcher = self._dispatcher or self._dispatched()
        return self._dispatcher

    def _dispatched(self) -> Any:
        function: Any = self.__wrapped__  # type: ignore[attr-defined]
        dispatcher = compiler().njit(nogil=True, **self._options)(function)
        try:
            dispatcher._cache = _cache_class()(function)  # what cache=True does, but with the cache below
        except RuntimeError:  # numba found no directory to write to
            _say_once()
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        """As numba asks what a loop is that another one calls."""
        return self.dispatcher._numba_type_


@cache
def _cache_class() -> Any:
    from numba.core import caching

    FunctionCache: Any = caching.FunctionCache  # numba has types for some of its functions only

    class Cache(FunctionCache):  # type: ignore[misc]
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

    return Cache


class Patience:
    """Compiled loops that are loaded once Python has taken as long, in all, as loading or compiling them takes.

    So a process with little to do never waits for the compiler, and one with much to do not for long. ``load`` gives
    the loops, as attributes of what it returns.
    """

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._spent = 0.0
        self._enough: dict[tuple[str, ...], float] = {}
        self._ready: dict[tuple[str, ...], Any] = {}

    @classmethod
    def of_module(cls, name: str) -> Patience:
        """The loops of a module."""
        return cls(lambda: import_module(name))

    def loops(self, seconds: float, *names: str) -> Any:
        """The loops with these names; None where Python had better do what it takes so many seconds for, about."""
        self._spent += seconds
        enough = SECONDS_TO_LOAD_MORE if "numba" in sys.modules else SECONDS_TO_LOAD
        if names not in self._ready and self._spent > self._enough.get(names, enough):
            loops = self._load()
            if self._spent > SECONDS_TO_COMPILE or all(progress.is_compiled(getattr(loops, name)) for name in names):
                progress.announce_compilation(getattr(loops, names[-1]), seconds=round(SECONDS_TO_COMPILE))
                self._ready[names] = loops
            self._enough[names] = SECONDS_TO_COMPILE
        return self._ready.get(names)

    def spend(self, seconds: float) -> None:
        """Python took so many seconds more than was said before."""
        self._spent += seconds


def _say_once() -> None:
    """A log entry; where logging is not set up, as on the command line, it is one line on standard error."""
    global _said
    if not _said:
        _said = True
        logging.getLogger("nofluke").warning(
            "nofluke: cannot save compiled code, so every run compiles it again, which takes a few seconds: set "
            "NUMBA_CACHE_DIR to a writable directory."
        )
