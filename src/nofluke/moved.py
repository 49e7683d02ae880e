"""Old spellings: modules, attributes and arguments under another name work for one minor version, with a warning.

docs/reference/versions.md has the policy, and the table of what warns now.
"""

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

REMOVED_IN = "1.1"  # the version without what warns today; what is renamed later passes its own
DEPRECATED: dict[str, tuple[str, str]] = {}
"""New spelling, and the version without the old one, by old spelling."""

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
    removed_in : str
        The version in which the old name is gone: the minor version after the one that warns first.
    """

    def __init__(self, now: str, *, removed_in: str = REMOVED_IN) -> None:
        self.now, self.removed_in = now, removed_in

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"
        DEPRECATED[self.name] = f".{self.now}", self.removed_in

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        _warn(self.name)
        return attrgetter(self.now)(instance)


P = ParamSpec("P")
R = TypeVar("R")


def renamed_argument(old: str, now: str, *, removed_in: str = REMOVED_IN) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that still takes an argument under its old name."""
    DEPRECATED[f"{old}="] = f"{now}=", removed_in

    def wrapped(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                _warn(f"{old}=")
                kwargs[now] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return wrapped


def _warn(old: str) -> None:
    now, removed_in = DEPRECATED[old]
    warnings.warn(f"{old} is now {now}; nofluke {removed_in} removes the old name.", DeprecationWarning, stacklevel=3)


for _module, _names in MOVED.items():
    for _name, _place in _names.items():
        DEPRECATED[f"nofluke.{_module}.{_name}"] = f"nofluke.{_place}", REMOVED_IN


class _Old(ModuleType):
    """A module that is no more: it hands on what it had."""

    def __getattr__(self, name: str) -> Any:
        place = MOVED[self.__name__.partition(".")[2]].get(name)
        if place is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        room, _, now = place.rpartition(".")
        _warn(f"{self.__name__}.{name}")
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
