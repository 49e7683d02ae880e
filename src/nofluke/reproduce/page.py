"""One page for claims: its parts as HTML, figures as SVG, PNG and PDF, and the files beside it."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError
from nofluke.measures.confusion import Confusion
from nofluke.plot.style import PALETTE, check_matplotlib
from nofluke.progress import progress_bar
from nofluke.reproduce.claim import Claim, Claims, Reproduced, tally
from nofluke.show.kit import check_kit, filled, markup, page
from nofluke.show.kit.figure import with_own_ids
from nofluke.text.tables import csv_text, plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """What a page says around its claims; but for the words of the head, all of it is markup.

    Attributes
    ----------
    title, about, sentence : str
        What was judged, and what came out.
    picture : str
        The one that explains it.
    before, after : sequence of str
        The parts before and behind the statements.
    heading : str
        Of the statements.
    aside, rule : str
        What else is said of them, and how they are decided.
    command, made : str
        What was typed, and how the numbers came about.
    banner, note : str
        Where data were simulated: said at the top, and on every printed page.
    """

    title: str
    about: str
    sentence: str
    picture: str
    before: Sequence[str]
    after: Sequence[str]
    heading: str = "The statements"
    aside: str = ""
    rule: str = ""
    command: str
    made: str
    banner: str = ""
    note: str = ""


def document(article: Article, claims: tuple[Claim, ...]) -> str:
    """A whole page that asks for nothing from anywhere."""
    listed = f'The same list is in <a href="claims.json">claims.json</a>.{article.rule}'
    body = (
        *article.before,
        f"<h2>{article.heading}</h2>\n<p>{tally(claims)}.{article.aside} {listed}</p>",
        claims_table(claims),
        *article.after,
        f"<footer><h2>How this was made</h2>\n<pre>{escape(article.command)}</pre>\n<p>{article.made}</p></footer>",
    )
    printed = f'@page {{ @bottom-right {{ content: "{article.note}"; font: italic 9pt sans-serif; }} }}\n'
    return page(
        "kit/article.html",
        title=f"Simulated data: {article.title}" if article.banner else article.title,
        kind="reproduction",
        styles=("kit/article.css",),
        own_colours=markup(printed if article.note else ""),
        name=article.title,
        about=article.about,
        banner=article.banner,
        outcome=f"{sum(one.outcome == 'holds' for one in claims)} of {plural(len(claims), 'statement')} hold",
        sentence=article.sentence,
        picture=markup(article.picture),
        body=markup("\n".join(filter(None, body))),
    )


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
    svg = with_own_ids(drawn.svg, drawn.name)
    svg = svg.replace(PALETTE["ink"], "currentColor").replace(PALETTE["binomial"], "currentColor")
    for name in ("observed", "chance"):
        svg = svg.replace(PALETTE[name].lower(), f"var(--{name})")
    svg = svg.replace("fill: #ffffff", "fill: none")
    opening = f'<svg role="img" aria-label="{escape(description)}"'
    tag, rest = svg.split(">", 1)
    # without its size in points: the page decides how wide a figure is
    kept = re.sub(r'\b(width|height|version)="[^"]*"\s*', "", tag.removeprefix("<svg "))
    return f"{opening} {kept.strip()}>{rest}".strip()


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
    name: str, make: Callable[[Figure, Any], None], study: Any, height: float, note: str = "", *, narrow: float | None
) -> Drawn:
    """Draw one figure of a study and render it as SVG, PDF and PNG; a note stands in its corner.

    Where a height for telephones is given, the figure is drawn a second time, so wide that its letters can be read
    there.
    """
    formats = _formats(make, study, (WIDTH, height), note, METADATA)
    if narrow is None:
        return Drawn(name=name, formats=formats)
    small = _formats(make, study, (NARROW, narrow), note, {"svg": METADATA["svg"]})
    return Drawn(name=name, formats=formats, narrow=Drawn(name=f"{name}-narrow", formats=small))


def is_narrow(figure: Figure) -> bool:
    """Whether a figure is being drawn for a telephone."""
    return bool(figure.get_figwidth() < WIDTH)


def pair(figure: Figure, **shared: Any) -> Any:
    """Two panels: side by side, or one above the other on a telephone."""
    return figure.subplots(2, 1, **shared) if is_narrow(figure) else figure.subplots(1, 2, **shared)


def key_above(figure: Figure, shown: Mapping[str, Any], columns: int, narrow: int = 2) -> Any:
    """A key above all panels, where it covers nothing: what is drawn, by its words."""
    how: dict[str, Any] = {"loc": "outside upper center", "frameon": False, "fontsize": "small"}
    wide = narrow if is_narrow(figure) else columns
    return figure.legend(list(shown.values()), list(shown), ncols=wide, **how)


def drawn_on(ax: Any) -> dict[str, Any]:
    """What is drawn on axes by its words, each once."""
    handles, labels = ax.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


def _formats(
    make: Callable[[Figure, Any], None],
    study: Any,
    size: tuple[float, float],
    note: str,
    wanted: dict[str, dict[str, str | None]],
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
        make(figure, study)
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


# ---- where pages and the files beside them are written


def check_draws(seed: int, n: int, name: str, *, usual: str) -> None:
    """Refuse a seed, or a number of draws, that cannot be one."""
    if n < 1:
        raise InputError(argument=name, value=n, problem="must be at least 1", remedy=usual)
    if seed < 0:
        raise InputError(argument="seed", value=seed, problem="must not be negative")


@contextmanager
def prepared(output: str | Path) -> Iterator[Path]:
    """The directory, made if it does not exist, and known to take a page: before the work, not after it.

    What was made goes again if the work fails before anything is written.
    """
    directory = expanded(output, "output")
    new = [place for place in (directory, *directory.parents) if not os.path.exists(place)]
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                argument="output",
                value=str(output),
                problem=f"is not a writable directory ({error.strerror})",
                remedy="choose another",
            ) from None
        check_place(directory / "index.html", str(directory / "index.html"))
        yield directory
    except BaseException:
        for place in new:
            with suppress(OSError):  # it may hold something by now, or was never made
                place.rmdir()
        raise


# ---- a topic: its claims, figures and numbers, on one page with the files beside it

Studied = TypeVar("Studied")
Made = TypeVar("Made", bound=Reproduced)
Row = dict[str, Any]
Rows = list[Row]
Records = dict[str, Rows]
Figures = dict[str, tuple[Callable[["Figure", Studied], None], float, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic(Generic[Studied]):
    """What is told of a study.

    Attributes
    ----------
    claims : Claims
        The statements.
    figures : function of the study
        How each figure is drawn, and its height in inches: on paper, and on a telephone, if it is drawn for one.
    records : function of the study
        Numbers behind figures and tables, by the name of their file without ".csv": rows with the same columns.
    article : function of the study, the claims and the figures
        The page.
    about : function of the study
        What claims.json says of data and draws.
    note : function of the study
        What stands in the corner of each figure.
    """

    claims: Claims[Studied]
    figures: Callable[[Studied], Figures[Studied]]
    records: Callable[[Studied], Records]
    article: Callable[[Studied, tuple[Claim, ...], dict[str, Drawn]], Article]
    about: Callable[[Studied], dict[str, Any]]
    note: Callable[[Studied], str] = lambda _: ""

    def write(self, output: str | Path, run: Callable[[Path], Studied], made: Callable[..., Made]) -> Made:
        """Run the study, and write the page, figures, records and claims.json into a directory."""
        check_kit()
        check_matplotlib()
        with prepared(output) as directory:
            study = run(directory)
            claims = self.claims.check(study)
            planned, figures = self.figures(study), {}
            with progress_bar("figures", len(planned)) as advance:
                for name, (make, height, narrow) in planned.items():
                    figures[name] = rendered(name, make, study, height, self.note(study), narrow=narrow)
                    advance(len(figures))
            told = {**self.about(study), "claims": [claim.to_dict() for claim in claims]}
            texts = {f"{name}.csv": _csv(rows) for name, rows in self.records(study).items()}
            texts["claims.json"] = json.dumps(told, indent=2, ensure_ascii=False) + "\n"
            texts["index.html"] = document(self.article(study, claims, figures), claims)
            contents = {f"{name}.{form}": data for name, one in figures.items() for form, data in one.formats.items()}
            contents |= {name: text.encode() for name, text in texts.items()}
            for name, data in contents.items():
                write_file(directory / name, data, str(directory / name))
        return made(directory=directory, files=tuple(sorted(contents)), claims=claims, study=study)


def _csv(rows: Rows) -> str:
    """A table as text, with Python's numbers: NumPy's would be written with their type's name."""
    plain = [tuple(one.item() if isinstance(one, np.generic) else one for one in row.values()) for row in rows]
    return csv_text(tuple(rows[0]), plain)
