"""Tests here are the examples of the pages; the scripts beside them need what only the building of them needs."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

collect_ignore_glob = ["*.py", "*/*.py"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Examples write files and draw figures: files go to a folder of the page's own, figures are closed behind it."""
    monkeypatch.chdir(tmp_path)
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
