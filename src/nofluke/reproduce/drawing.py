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
    """One figure in every format: {"svg": ..., "pdf": ..., "png": ...}."""

    name: str
    formats: dict[str, bytes]

    @property
    def svg(self) -> str:
        """The figure as text, to be put into a page."""
        return self.formats["svg"].decode("utf-8")


def rendered(name: str, make: Callable[[Figure], None], height: float, note: str = "") -> Drawn:
    """Draw one figure and render it as SVG, PDF and PNG; a note stands in its corner."""
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure

    with rc_context():
        rcdefaults()  # a user's own settings must not change the bytes
        rcParams.update(SETTINGS)  # type: ignore[arg-type]  # the stubs of some versions list every key
        figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor="white")
        make(figure)
        if note:
            figure.supxlabel(note, fontsize=8, x=0.99, ha="right", style="italic")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, for all formats
        formats = {}
        for form, metadata in METADATA.items():
            out = io.BytesIO()
            figure.savefig(out, format=form, metadata=metadata, dpi=160)
            formats[form] = out.getvalue()
    return Drawn(name=name, formats=formats)
