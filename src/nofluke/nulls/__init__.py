"""Null models: what chance does. Each is one small class that says what it keeps fixed and what it randomises."""

from __future__ import annotations

from nofluke.errors import InputError
from nofluke.nulls.permutation import Permutation

__all__ = ["Permutation", "as_null"]


def as_null(null: str | Permutation) -> Permutation:
    """A null model from its name or itself."""
    if isinstance(null, Permutation):
        return null
    if null == Permutation.name:
        return Permutation()
    raise InputError(f"null={null!r} must be {Permutation.name!r}.")
