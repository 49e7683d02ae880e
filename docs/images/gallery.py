"""Draw the gallery: `python docs/images/gallery.py [name ...]` runs the code of docs/gallery.md, light and dark."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
PAGE = HERE.parent / "gallery.md"
NIGHT = "#14181e"  # the site's own
STYLES: dict[str, Any] = {
    "light": {},
    "dark": ["dark_background", {"figure.facecolor": NIGHT, "axes.facecolor": NIGHT, "savefig.facecolor": NIGHT}],
}


def examples(text: str) -> Iterator[tuple[str, str]]:
    """Every block of code with the name of the picture below it, empty where there is none."""
    pattern = r"^```python\n(.*?)^```$(?:\n\n!\[[^\]]*\]\(images/gallery/(\w+)-light\.png\))?"
    for code, name in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
        yield name, code


def draw(theme: str, wanted: list[str]) -> None:
    """Run all blocks one after another, as a reader would, and save the figure of each."""
    names: dict[str, Any] = {}
    with plt.style.context(STYLES[theme]):
        plt.rcParams["savefig.dpi"] = 110
        for name, code in examples(PAGE.read_text(encoding="utf-8")):
            exec(compile(code, name or "data", "exec"), names)
            if name and name in (wanted or [name]):
                path = HERE / "gallery" / f"{name}-{theme}.png"
                plt.gcf().savefig(path, metadata={"Software": "nofluke"})
            plt.close("all")


if __name__ == "__main__":
    for theme in STYLES:
        draw(theme, sys.argv[1:])
