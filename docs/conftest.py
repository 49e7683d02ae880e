"""Tests here are the examples of the pages; the scripts beside them need what only the building of them needs."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages import scripts_of

collect_ignore_glob = ["*.py", "*/*.py"]


@pytest.fixture(autouse=True)
def _own_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Examples write files and draw figures: files go to a folder of the page's own, figures are closed behind it.

    Scripts that a page asks the reader to save come first: they make the files that its examples read.
    """
    monkeypatch.chdir(tmp_path)
    for script in scripts_of(request.path.read_text(encoding="utf-8")):
        exec(script, {})
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
