"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build/html``.

Nothing is fetched while reading. The pages of `live/`, a report and a leaderboard, are made with it.
"""

import html
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from nofluke import __version__

logger = logging.getLogger(__name__)

project = "nofluke"
author = "the authors of nofluke"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # types are told in the docstrings, in words
numpydoc_show_class_members = False  # autodoc lists them, with their docstrings

html_theme = "pydata_sphinx_theme"
html_title = f"nofluke {version}"
html_static_path = ["_static"]
html_css_files = ["nofluke.css"]
html_favicon = "_static/nofluke.svg"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
# pages that stand alone; the parts list their pages there
html_sidebars: dict[str, list[str]] = {
    page: [] for page in ("index", "tutorial", "tutorial-alerts", "gallery", "claims", "faq")
}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_center": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def _mathml(node: nodes.Element, display: str) -> str:
    drawn = convert(node.astext().strip(), display=display)
    if "<mi>&</mi>" in drawn or 'linebreak="newline"' in drawn:  # browsers would show "&", and all rows in one line
        logger.warning("latex2mathml cannot align rows: write separate formulas.", location=node)
    return drawn


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _visit_math_block(self: Any, node: nodes.math_block) -> None:
    number = f'<span class="eqno">({html.escape(str(node["number"]))})</span>' if node.get("number") else ""
    self.body.append(self.starttag(node, "div", CLASS="formula") + number)
    self.body.append(_mathml(node, "block") + "</div>\n")
    raise nodes.SkipNode


class Translator(HTML5Translator):
    """HTML in which a list of choices in code, such as auto|exact, may continue in the next line after a bar."""

    words_and_spaces = re.compile(r"[^\s|]+\|?|\|| +|\n")


def _trim_examples(_app: Sphinx, tree: nodes.document) -> None:
    """Take out the empty line that doctest needs between an example and the end of its fence."""
    for block in tree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()
        block[:] = [nodes.Text(block.rawsource)]


def _pair_with_dark(app: Sphinx, tree: nodes.document) -> None:
    """A picture with a dark twin (null.png and null-dark.png) is shown in the colours of the page."""
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(tree.findall(nodes.image)):
        stem, _, ending = image["uri"].rpartition(".")
        twin = f"{stem.removesuffix('-light')}-dark.{ending}"
        if (folder / twin).exists():
            dark = image.deepcopy()
            dark["uri"] = twin
            dark["classes"].append("only-dark")
            image["classes"].append("only-light")
            image.parent.insert(image.parent.index(image) + 1, dark)


def _example_first(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Put the example behind the first sentence: readers look for it, and numpydoc has it last."""
    marks = [i for i, line in enumerate(lines) if line.startswith(".. rubric:: ")]
    begin = next((i for i in marks if lines[i] == ".. rubric:: Examples"), None)
    first = next((i for i, line in enumerate(lines) if line.startswith((":", "..")) and i), None)
    if begin is not None and first is not None and first < begin:
        end = next((i for i in marks if i > begin), len(lines))
        example = [*lines[begin:end], ""]
        lines[:] = [*lines[:first], *example, *lines[first:begin], *lines[end:]]


def _make_live_pages(app: Sphinx, error: Exception | None) -> None:
    """A report and a leaderboard to try out, on simulated data."""
    if error is not None or app.builder.name != "html":
        return
    import numpy as np

    import nofluke as nf

    live = Path(app.outdir) / "live"
    live.mkdir(exist_ok=True)
    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, times=quakes.days)
    result.report(live / "report.html", title="Simulated tweets about earthquakes")
    rng, series = np.random.default_rng(0), []
    for i in range(12):
        one = nf.datasets.simulate_quakes(rng=i, n_steps=600, n_events=25)
        energy = nf.detectors.energy_transient(one.counts)
        rows = {
            "label": one.truth.astype(int),
            "energy": energy,
            "tweets": one.counts,
            "random": rng.random(len(energy)),
        }
        series.append({"series": np.full(len(energy), f"city {i + 1}")} | rows)
    table = {name: np.concatenate([one[name] for one in series]) for name in series[0]}
    study = nf.study(
        table,
        series="series",
        truth="label",
        scores=["energy", "tweets", "random"],
        budget=0.05,
        tolerance=2,
        workers=1,
    )
    with TemporaryDirectory() as folder:
        (live / "leaderboard.html").write_bytes((study.write(folder) / "leaderboard.html").read_bytes())


def setup(app: Sphinx) -> None:
    """Formulas as MathML, which browsers draw by themselves: MathJax would have to be fetched or carried along."""
    app.connect("autodoc-process-docstring", _example_first, priority=900)  # behind numpydoc
    app.connect("build-finished", _make_live_pages)
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    app.set_translator("html", Translator)
    app.connect("doctree-read", _trim_examples)
    app.connect("doctree-read", _pair_with_dark, priority=400)  # before pictures are collected
