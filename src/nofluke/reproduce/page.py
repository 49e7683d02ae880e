"""Pages that show claims: their parts as HTML, and figures as SVG, PNG and PDF."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from nofluke.measures.confusion import Confusion
from nofluke.plot.style import PALETTE
from nofluke.reproduce.claim import Claim
from nofluke.show.kit import filled, markup, page
from nofluke.text.tables import plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Hero:
    """What a page says first: what was judged, the outcome, a sentence, and the picture that explains it, as markup."""

    about: str
    outcome: str
    sentence: str
    picture: str


def document(title: str, hero: Hero, body: Sequence[str], *, banner: str = "", footer: str = "") -> str:
    """A whole page that asks for nothing from anywhere, of parts that are markup; ``footer`` is on paper only.

    A banner says that data were simulated.
    """
    printed = f'@page {{ @bottom-right {{ content: "{footer}"; font: italic 9pt sans-serif; }} }}\n' if footer else ""
    return page(
        "kit/article.html",
        title=f"Simulated data: {title}" if banner else title,
        kind="reproduction",
        styles=("kit/article.css",),
        own_colours=markup(printed),
        name=title,
        about=hero.about,
        banner=banner,
        outcome=hero.outcome,
        sentence=hero.sentence,
        picture=markup(hero.picture),
        body=markup("\n".join(filter(None, body))),
    )


def held(claims: Sequence[Claim]) -> str:
    """The outcome of all statements in a few words.

    >>> held([])
    '0 of 0 statements hold'
    """
    return f"{sum(one.outcome == 'holds' for one in claims)} of {plural(len(claims), 'statement')} hold"


def claims_table(claims: Sequence[Claim]) -> str:
    """Statements with their outcomes, what was found, and where to see it."""
    rows = "\n".join(
        f'<tr id="claim-{c.key}"><td class="outcome {c.outcome.replace(" ", "-")}">{c.outcome}</td><td>{escape(c.statement)}'
        f'<p class="finding">{escape(c.finding)}</p></td><td class="where">{escape(c.said_in())},<br> {c.decided_by}</td></tr>'
        for c in claims
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Statements"><table class="claims">'
        '<thead><tr><th scope="col">outcome</th><th scope="col">statement and finding</th><th scope="col">see</th></tr>'
        f"</thead><tbody>\n{rows}\n</tbody></table></div>"
    )


def figure(drawn: Drawn, number: int, caption: str, *, simulated: bool = False) -> str:
    """A figure with its caption, and links to its files."""
    label = f"Figure {number} (simulated data)" if simulated else f"Figure {number}"
    links = ", ".join(f'<a href="{drawn.name}.{form}">{form.upper()}</a>' for form in ("svg", "pdf", "png", "csv"))
    if drawn.narrow is None:
        shown = f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{inlined(drawn, caption)}</div>'
    else:
        shown = f'<div class="roomy">{inlined(drawn, caption)}</div><div class="narrow">{inlined(drawn.narrow, caption)}</div>'
    return f'<figure id="{drawn.name}">{shown}<figcaption>{label}. {escape(caption)} {links}</figcaption></figure>'


def inlined(drawn: Drawn, description: str) -> str:
    """The SVG as part of a page: described, its ids its own, its ink the page's, its ground clear."""
    svg = drawn.svg[drawn.svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{drawn.name}-", svg)
    svg = svg.replace(PALETTE["ink"], "currentColor").replace(PALETTE["binomial"], "currentColor")
    for name in ("observed", "chance"):
        svg = svg.replace(PALETTE[name].lower(), f"var(--{name})")
    svg = svg.replace("fill: #ffffff", "fill: none")
    opening = f'<svg role="img" aria-label="{escape(description)}"'
    return re.sub(r'^<svg ((?:[\w:]+="[^"]*"\s*)*)>', lambda m: _clean_tag(opening, m.group(1)), svg).strip()


def _clean_tag(opening: str, attributes: str) -> str:
    """The opening tag without its size in points: the page decides how wide a figure is."""
    kept = re.sub(r'\b(width|height|version)="[^"]*"\s*', "", attributes)
    return f"{opening} {kept.strip()}>"


def matrix(matrix: Confusion, caption: str, rows: tuple[str, str], columns: tuple[str, str], readable: set[str]) -> str:
    """A confusion matrix with marginal sums, its readable entries marked."""
    grid = (
        (rows[0], ("tp", "fp", "predicted")),
        (rows[1], ("fn", "tn", "not_predicted")),
        ("∑", ("actual", "not_actual", "total")),
    )
    body = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(
            f'<td class="{"read" if entry in readable else "unread"}">{getattr(matrix, entry):,}</td>'
            for entry in entries
        )
        + "</tr>"
        for name, entries in grid
    )
    head = "<td></td>" + "".join(f'<th scope="col">{name}</th>' for name in (*columns, "∑"))
    return f'<table class="matrix"><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def table(
    caption: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    cells: Literal["words", "numbers"] = "words",
) -> str:
    """A table whose first column names the rows; numbers are never broken, words may be."""
    return filled("kit/table.html", caption=caption, columns=columns, rows=rows, cells=cells).strip()


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> listed(["MSL", "SMAP", "PSM"]), listed(["PSM"]), listed([])
    ('MSL, SMAP and PSM', 'PSM', '')
    """
    return " and ".join([", ".join(words[:-1]), *words[-1:]]) if len(words) > 1 else "".join(words)


# ---- figures

WIDTH = 6.6  # inches
NARROW = 4.0  # on a telephone, where letters of a figure 6.6 inches wide would be too small to read
SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "text.color": PALETTE["ink"],
    "axes.edgecolor": PALETTE["ink"],
    "axes.labelcolor": PALETTE["ink"],
    "xtick.color": PALETTE["ink"],
    "ytick.color": PALETTE["ink"],
    "svg.hashsalt": "nofluke",  # or the ids inside would differ from run to run
    "svg.fonttype": "path",  # the same letters everywhere, whatever fonts are installed
}
# no clock: same numbers, same bytes
METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": "nofluke"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One figure in every format: {"svg": ..., "pdf": ..., "png": ...}; and one for phones, as SVG, or None."""

    name: str
    formats: dict[str, bytes]
    narrow: Drawn | None = None

    @property
    def svg(self) -> str:
        """The figure as text, to be put into a page."""
        return self.formats["svg"].decode("utf-8")


def rendered(
    name: str, make: Callable[[Figure], None], height: float, note: str = "", *, narrow: float | None = None
) -> Drawn:
    """Draw one figure and render it as SVG, PDF and PNG; a note stands in its corner.

    Where a height for telephones is given, the figure is drawn a second time, so wide that its letters can be read
    there.
    """
    formats = _formats(make, (WIDTH, height), note, METADATA)
    if narrow is None:
        return Drawn(name=name, formats=formats)
    small = _formats(make, (NARROW, narrow), note, {"svg": METADATA["svg"]})
    return Drawn(name=name, formats=formats, narrow=Drawn(name=f"{name}-narrow", formats=small))


def is_narrow(figure: Figure) -> bool:
    """Whether a figure is being drawn for a telephone."""
    return bool(figure.get_figwidth() < WIDTH)


def pair(figure: Figure, **shared: Any) -> Any:
    """Two panels: side by side, or one above the other on a telephone."""
    return figure.subplots(2, 1, **shared) if is_narrow(figure) else figure.subplots(1, 2, **shared)


def key_above(figure: Figure, handles: Any, labels: Any, columns: int, narrow: int = 2) -> Any:
    """A key above all panels, where it covers nothing."""
    how: dict[str, Any] = {"loc": "outside upper center", "frameon": False, "fontsize": "small"}
    return figure.legend(handles, labels, ncols=narrow if is_narrow(figure) else columns, **how)


def _formats(
    make: Callable[[Figure], None], size: tuple[float, float], note: str, wanted: dict[str, dict[str, str | None]]
) -> dict[str, bytes]:
    """A figure of that size in inches, in the formats that are wanted."""
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with rc_context():
        rcdefaults()  # a user's own settings must not change the bytes
        rcParams.update(SETTINGS)  # type: ignore[arg-type]  # the stubs of some versions list every key
        layout = ConstrainedLayoutEngine()
        figure = Figure(figsize=size, layout=layout, facecolor="white")
        make(figure)
        if note:
            figure.supxlabel(note, fontsize=8, x=0.99, ha="right", style="italic")
        layout.execute(figure)
        figure.set_layout_engine("none")  # laid out once, for all formats
        formats = {}
        for form, metadata in wanted.items():
            out = io.BytesIO()
            figure.savefig(out, format=form, metadata=metadata, dpi=160)
            formats[form] = out.getvalue()
    return formats
