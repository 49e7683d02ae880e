"""Where files of data are: in the directory named by NOFLUKE_DATA, or downloaded once and checked."""

from __future__ import annotations

import os
from pathlib import Path

from nofluke.errors import InputError
from nofluke.extras import needed


def own_directory() -> Path | None:
    """The directory named by NOFLUKE_DATA; None where it is unset, and data are to be downloaded."""
    named = os.environ.get("NOFLUKE_DATA")
    if not named:
        return None
    if not Path(named).is_dir():
        raise InputError(
            argument="NOFLUKE_DATA",
            value=named,
            problem="is not a directory",
            remedy="correct it, or unset it to download",
        )
    return Path(named)


def find(directory: Path, below: str, name: str, origin: str) -> Path:
    """A file in a directory, or in one below it."""
    for path in (directory / below / name, directory / name):
        if path.is_file():
            return path
    raise InputError(
        argument="NOFLUKE_DATA",
        value=directory,
        problem=f"has no {name}, nor has its {below} directory",
        remedy=f"put it there ({origin}), or unset NOFLUKE_DATA to download",
    )


def download(address: str, sha256: str, remedy: str, below: str = "") -> Path:
    """A file from the network, or from the cache of an earlier call: pooch's, or the one named by NOFLUKE_CACHE."""
    pooch = needed("pooch", "a download needs")  # imported late: it loads requests, and only a first use needs it

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("CRITICAL")  # a library does not print; the address is in the error if there is one
    try:
        path = pooch.retrieve(
            address,
            known_hash=f"sha256:{sha256}",
            fname=address.rpartition("/")[2],
            path=Path(os.environ.get("NOFLUKE_CACHE") or pooch.os_cache("nofluke")) / below,
        )
    except (OSError, ValueError) as error:
        # OSError: no network (requests' errors are OSErrors) or no place to write; ValueError: wrong bytes
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(problem=f"cannot download {address} ({cause[:120]})", remedy=remedy) from error
    finally:
        logger.setLevel(level)
    return Path(path)
