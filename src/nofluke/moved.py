"""Where documented names went when modules and attributes moved: the old places work for one minor version, with a warning."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from operator import attrgetter
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

MOVED = {
    "testing": {
        "ChanceTest": "inference.chance.ChanceTest",
        "FTest": "inference.chance.FTest",
        "holm": "inference.corrections.holm",
        "benjamini_hochberg": "inference.corrections.benjamini_hochberg",
    },
    "distributions": {
        "NullDistribution": "laws.law.Law",
        "EmpiricalNull": "laws.counts.SimulatedLaw",
        "binomial": "laws.tables.binomial",
        "hypergeometric": "laws.tables.hypergeometric",
    },
    "sweep_chance": {
        "SweepChance": "inference.cells.SweepChance",
        "CellChance": "inference.cells.CellChance",
    },
    "familywise": {"FamilywiseTest": "inference.familywise_result.FamilywiseTest"},
    "timing": {"Delays": "measures.delays.Delays", "FalseAlarms": "measures.delays.FalseAlarms"},
    "inputs": {"LeftOut": "series.reading.LeftOut"},
    "files": {"read_columns": "data.files.read_columns", "read_times": "data.files.read_times"},
}


class Renamed:
    """An attribute under its old name.

    Parameters
    ----------
    now : str
        The attribute that it is now, such as "settings.method".
    """

    def __init__(self, now: str) -> None:
        self.now = now

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        _warn(f"{self.name} is now .{self.now}")
        return attrgetter(self.now)(instance)


P = ParamSpec("P")
R = TypeVar("R")


def renamed_argument(old: str, now: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that still takes an argument under its old name."""

    def wrapped(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                _warn(f"{old}= is now {now}=")
                kwargs[now] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return wrapped


def _warn(what: str) -> None:
    warnings.warn(f"{what}; the old name goes with version 0.2.", DeprecationWarning, stacklevel=3)


class _Old(ModuleType):
    """A module that is no more: it hands on what it had."""

    def __getattr__(self, name: str) -> Any:
        place = MOVED[self.__name__.partition(".")[2]].get(name)
        if place is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        room, _, now = place.rpartition(".")
        _warn(f"{self.__name__}.{name} is now nofluke.{room}.{now}")
        return getattr(import_module(f"nofluke.{room}"), now)


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        del path, target
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "nofluke" and name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Old(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def install() -> None:
    """Answer imports of the old modules."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
