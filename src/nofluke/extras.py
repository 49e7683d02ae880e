"""Packages that come with an extra: imported where they are needed, and asked for by the line to type."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nofluke.errors import InputError

EXTRAS = {
    "duckdb": "files",
    "pooch": "files",
    "click": "cli",
    "rich": "cli",
    "matplotlib": "plot",
    "jinja2": "report",
    "distributed": "distributed",
}
"""The extra of each package, as pyproject.toml has it."""


def needed(module: str, who: str) -> Any:
    """A module of a package that comes with an extra.

    Parameters
    ----------
    module : str
        Such as "duckdb" or "jinja2".
    who : str
        Who needs it, as the error begins: "a report needs".

    Raises
    ------
    InputError
        If the package is not installed: it says what to type.

    Examples
    --------
    >>> needed("pooch.no_such_module", "a download needs")
    Traceback (most recent call last):
    nofluke.errors.InputError: a download needs pooch, which is not installed: pip install 'nofluke[files]'.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # it is installed, and lacks something itself
        raise InputError(
            problem=f"{who} {package}, which is not installed", remedy=f"pip install 'nofluke[{EXTRAS[package]}]'"
        ) from None
