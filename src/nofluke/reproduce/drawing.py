"""How figures are drawn and rendered: the same bytes whatever the user's settings and the time of day."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nofluke.plot.style import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
