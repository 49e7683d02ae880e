"""The gallery shows every figure, and its code draws it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nofluke as nf

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "gallery.md"
FIGURES = sorted(name for name in nf.plot.__all__ if callable(getattr(nf.plot, name)))


def examples() -> list[tuple[str, str]]:
    """Every block of code on the page, with the picture below it, if there is one."""
    pattern = r"^```python\n(.*?)^```$(?:\n\n!\[[^\]]+\]\((images/gallery/\w+-light\.png)\))?"
    return re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def pyplot() -> Iterator[Any]:
    """Matplotlib without a screen, and without figures before or after."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


@pytest.mark.slow
def test_code_of_the_gallery_draws_its_figures(pyplot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block that has a picture makes a figure with something in it, and all figures of the library are there."""
    drawn: set[str] = set()
    for name in FIGURES:
        monkeypatch.setattr(nf.plot, name, counted(getattr(nf.plot, name), name, drawn))
    names: dict[str, Any] = {}
    for code, picture in examples():
        exec(code, names)
        if picture:
            assert any(ax.has_data() for ax in pyplot.gcf().axes), code
        else:
            assert not pyplot.get_fignums(), code
        pyplot.close("all")
    assert sorted(drawn) == FIGURES


def counted(draw: Any, name: str, drawn: set[str]) -> Any:
    """The same, noting that it was called."""

    def call(*arguments: Any, **options: Any) -> Any:
        drawn.add(name)
        return draw(*arguments, **options)

    return call


def test_pictures_of_the_gallery_are_there_light_and_dark() -> None:
    """Each picture on the page exists in both themes, and no other lies beside them."""
    light = {picture.rpartition("/")[2] for _, picture in examples() if picture}
    assert len(light) >= len(FIGURES)
    found = {path.name for path in (DOCS / "images/gallery").glob("*.png")}
    assert found == light | {name.replace("-light", "-dark") for name in light}
