"""Attributes that are worked out when first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):
    """As ``functools.cached_property``, without its lock, which Python 3.11 holds for all objects of a class at once.

    Threads that ask for the same attribute of the same object at the same time may work it out twice, to the same end.

    Examples
    --------
    >>> class Circle:
    ...     def __init__(self, radius):
    ...         self.radius = radius
    ...     @lazy
    ...     def area(self):
    ...         return 3 * self.radius**2
    >>> circle = Circle(2)
    >>> circle.area, "area" in circle.__dict__
    (12, True)
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = self.function(instance)
        instance.__dict__[self.name] = value  # found there from now on: this is no data descriptor
        return value


class Keeper:
    """An object that keeps what others work out of it, for as long as it lives.

    Examples
    --------
    >>> truth = Keeper()
    >>> [truth.once("season", lambda: print("looked") or 24) for _ in range(2)]
    looked
    [24, 24]
    """

    @lazy
    def _once(self) -> dict[Hashable, Any]:
        return {}

    def once(self, name: Hashable, find: Callable[[], Value]) -> Value:
        """What was found under this name before, or is now."""
        if name not in self._once:
            self._once[name] = find()
        found: Value = self._once[name]
        return found

    def known(self, name: Hashable) -> Any:
        """What was found under this name; None where nobody has looked."""
        return self._once.get(name)

    def latest(self, name: Hashable, key: object, find: Callable[[], Value]) -> Value:
        """The same of something that has many keys, of which the last one is kept."""
        known = self._once.get(name)
        if known is None or known[0] != key:
            known = self._once[name] = key, find()
        found: Value = known[1]
        return found


class Shared(Keeper):
    """What is worked out of a series once, for all detectors that are read against it; not sent to other processes."""

    def __getstate__(self) -> dict[str, Any]:
        return {}
