"""Pictures of the tutorial, made by its own examples: python docs/images/tutorial.py"""

import contextlib
import doctest
import io
import re
import tempfile
from pathlib import Path

from gallery import STYLES

IMAGES = Path(__file__).parent
COLOURS = 64  # enough for lines and bands, and a third of the bytes


def draw(theme: str, ending: str) -> None:
    """Run the page in a folder of its own, and keep what it draws."""
    import matplotlib
    from PIL import Image

    matplotlib.use("agg")
    matplotlib.rcdefaults()
    matplotlib.style.use(STYLES[theme])
    matplotlib.rcParams["savefig.dpi"] = 150
    page = (IMAGES.parent / "tutorial.md").read_text(encoding="utf-8")
    made: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        exec(re.search(r"^```python\n(# make_files\.py\n.*?)^```$", page, re.MULTILINE | re.DOTALL)[1], {})
        for example in doctest.DocTestParser().get_examples(page):
            exec(example.source, made)
        for picture in Path(folder).glob("*.png"):
            small = Image.open(picture).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            small.save(IMAGES / f"tutorial-{picture.stem}{ending}", optimize=True)


if __name__ == "__main__":
    draw("light", ".png")
    draw("dark", "-dark.png")
