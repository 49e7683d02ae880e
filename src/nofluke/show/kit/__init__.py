"""The kit of all pages: one head, one style sheet, one script, and figures that are described once.

Templates are jinja2's, with autoescape: text from the data is escaped wherever it lands. A page carries its numbers
deflated, and asks for nothing from anywhere.

Charts are drawn by a script of our own, 18 KB of SVG. plotly's smallest bundle has 1 MB; uPlot is small, but draws on a
canvas: its figures could not be downloaded as SVG, printed in the colours of paper, or styled by the page, and bars,
maps, rings and lanes would have had to be written for it anyway.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nofluke import __version__, errors
from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError, Unlike, passed, say
from nofluke.extras import needed
from nofluke.series.names import NONE, Names
from nofluke.text.signs import COLOURS, VERDICTS

KIT = ("kit/kit.js", "kit/downloads.js")
FALSE = {
    "false_alarm": Unlike("false alarm", say("{alarm} without {an_event}")),
    "false_alarms": Unlike("false alarms", say("{alarms} without {an_event}")),
    "False_alarms": Unlike("False alarms", say("{Alarms} without {an_event}")),
}
"""Alarms without an event: by another name they may not be called false."""


def check_kit() -> None:
    """Say what to do where a package is missing that pages are made with."""
    needed("jinja2", "a report needs")
    needed("matplotlib", "a report needs")


def has_kit() -> bool:
    """Whether the packages are there that pages are made with."""
    return all(find_spec(package) is not None for package in ("jinja2", "matplotlib"))


def check_page(path: str | Path, title: str | None = None) -> Path:
    """Where a page goes; refuses what would fail at its end, before anything is computed."""
    target = expanded(path, "path")
    check_place(target, passed("path", str(path)))
    if title is not None and not isinstance(title, str):
        raise InputError(argument="title", value=title, problem="must be text", remedy="put it in quotes")
    check_kit()
    return target


def written(path: str | Path, make: Callable[[], str], title: str | None = None) -> Path:
    """Make a page, which needs no network, and write it; an older one stays until the new one is complete."""
    target = check_page(path, title)
    write_file(target, make(), passed("path", str(path)))
    return target


@cache
def _environment() -> Any:
    jinja2 = needed("jinja2", "a page needs")
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def read(name: str) -> str:
    """A file of the pages, such as "report/report.js"."""
    return files("nofluke.show").joinpath(name).read_text(encoding="utf-8")


def filled(template: str, *, names: Names = NONE, **values: Any) -> str:
    """A template with its values; what is markup already has to say so (`markup`).

    Templates call events and alarms by the ``names`` that are passed: ``called("{Events} and {false_alarms}")``.
    """

    def called(text: str) -> str:
        return names.said(say(text, **FALSE))

    known = {"signs": VERDICTS, "version": __version__, "called": called, "markup": markup, "own_colours": ""}
    return str(_environment().get_template(template).render(known | values))


def in_names(part: Any, names: Names) -> Any:
    """All sentences inside plain data in the names of events and alarms."""
    if names == NONE:
        return part
    if isinstance(part, str):
        return names.said(part)
    if isinstance(part, dict):
        return {key: in_names(value, names) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return type(part)(in_names(value, names) for value in part)
    return part


def markup(text: str) -> Any:
    """Text that is markup: made here, from parts that were escaped."""
    needed("jinja2", "a page needs")
    from markupsafe import Markup  # comes with jinja2

    return Markup(text)


def page(
    template: str,
    *,
    title: str,
    kind: str,
    data: dict[str, Any] | None = None,
    script: str = "",
    styles: tuple[str, ...] = (),
    **values: Any,
) -> str:
    """A whole page: a template that extends base.html, its style sheets, its numbers, and the script behind them.

    Pages with numbers have the kit's own scripts too.
    """
    return filled(
        template,
        title=title,
        kind=kind,
        style=markup(style(*styles)),
        data=None if data is None else packed_json(data),
        script=markup("" if data is None else "\n".join(['"use strict";', *map(read, KIT), script])),
        **values,
    )


def style(*names: str) -> str:
    """The style sheet of a page, in the colours of `nofluke.text.signs`."""
    return colours() + "".join(map(read, ("kit/kit.css", *names)))


def colours() -> str:
    """What each colour means, on light and on dark screens; paper is light."""
    known = {**COLOURS, **{f"v-{name.split()[0]}": (sign.light, sign.dark) for name, sign in VERDICTS.items()}}
    light, dark = (" ".join(f"--{name}: {both[i].lower()};" for name, both in known.items()) for i in (0, 1))
    signs = "".join(
        f'[data-verdict="{name}"] {{ --mark: var(--v-{name.split()[0]}); --sign: "{sign.symbol}"; }}\n'
        for name, sign in VERDICTS.items()
    )
    return (
        f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{\n  :root:not(.printing) {{ {dark} }}\n}}\n"
        + signs
    )


def packed_json(data: dict[str, Any]) -> str:
    """JSON, deflated, as letters and digits: a tenth of its size, and nothing in it can end its element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def shortened(name: str, letters: int) -> str:
    """Both ends of a long name: what tells names apart is often the last of it.

    >>> shortened("isolation forest, window 24", 18)
    'isolation…indow 24'
    """
    return errors.shortened(name, letters, "…")
