"""The report: one self-contained page with the verdict, two sliders and every figure, to open, send or print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nofluke.data.paths import check_place, expanded, write_file
from nofluke.errors import InputError
from nofluke.inference.evaluate import Evaluation
from nofluke.show.kit import check_kit
from nofluke.show.report.lists import Source
from nofluke.show.report.metrics import code_of, figures_of, metrics_beside, section_of
from nofluke.show.report.origin import Code, Origin, origin_of
from nofluke.show.report.page import render
from nofluke.show.report.payload import make_payload

__all__ = ["Parts", "Source", "check_page", "check_target", "make_page", "parts_of", "write_report"]


def write_report(
    result: Evaluation,
    path: str | Path,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> Path:
    """Write a page about a result: verdict, timeline, two sliders for threshold and tolerance, curves, nulls, heat map.

    Every slider position is evaluated beforehand exactly as :func:`nofluke.evaluate` does, and embedded; the page
    computes nothing. The positions are some 30 quantiles of the score on both sides of the chosen threshold (fewer
    where exact chance would take long), and up to eight tolerances of the shape of the chosen one; the chosen cell is
    always among them. With alarms instead of scores there is no threshold to move. Undefined measures (no predictions,
    no events) are shown as such. The same input gives the same bytes.

    Parameters
    ----------
    result : Evaluation
        Of :func:`nofluke.evaluate`; ``result.report(path)`` is the same.
    path : str or Path
        The HTML file to write; a leading ``~`` is your home. An older page stays until the new one is complete.
    title : str, optional
        Heading of the page; by default the name of the file that the data come from.
    source : Source, optional
        The file and the command that the data came from, as the command line knows them.
    metrics : list of metrics, optional
        Other metrics to test against chance, at the threshold that was evaluated: see :func:`nofluke.significance`.

    Returns
    -------
    Path
        Where the page is.

    References
    ----------
    Scharwächter and Müller (2020). Westfall and Young (1993), for the corrected p-values.

    Examples
    --------
    >>> import nofluke as nf, tempfile
    >>> result = nf.evaluate([0, 1, 0, 0, 0, 1, 0, 0], [0, 5, 1, 0, 2, 6, 1, 0], threshold=5, tolerance=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = result.report(f"{folder}/report.html").read_text(encoding="utf-8")
    >>> "2 of 2 predictions are within 1 step of an event" in text
    True
    """
    target = check_target(path)
    page = make_page(result, title=title, source=source, metrics=metrics)
    write_file(target, page, f"path={str(path)!r}")
    return target


def make_page(
    result: Evaluation,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> str:
    """The page that `write_report` writes, as text."""
    if not isinstance(result, Evaluation):
        raise InputError(
            argument="result",
            problem=f"must be an Evaluation, got {type(result).__name__}",
            remedy="pass what nofluke.evaluate returns",
        )
    if source is not None and not isinstance(source, Source):
        raise InputError(
            argument="source",
            problem=f"must be a Source, got {type(source).__name__}",
            remedy="pass one, or leave it out",
        )
    check_page(title)
    parts = parts_of(result, title=title, source=source, metrics=metrics)
    return render(parts.payload, parts.origin, parts.others)


def check_target(path: str | Path) -> Path:
    """Where a page goes; refuses a place that cannot be written to."""
    target = expanded(path, "path")
    check_place(target, f"path={str(path)!r}")
    return target


def check_page(title: str | None) -> None:
    """Refuse what would fail at the end of a page, before anything is computed."""
    if title is not None and not isinstance(title, str):
        raise InputError(argument="title", value=title, problem="must be text", remedy="put it in quotes")
    check_kit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What makes up the body of a page: data, origin, the section on other metrics, and the code for them."""

    payload: dict[str, Any]
    origin: Origin
    others: dict[str, Any] | None
    metrics: Code


def parts_of(
    result: Evaluation, *, title: str | None, source: Source | None, metrics: Any, label: str = "report"
) -> Parts:
    """The parts of the page about a result; ``label`` stands beside the progress bar."""
    others = metrics_beside(result, metrics)
    payload, code = make_payload(result, source, label) | {"metrics": figures_of(others)}, code_of(others)
    origin = origin_of(result, payload, title=title, source=source, metrics=code)
    return Parts(payload=payload, origin=origin, others=section_of(others, result), metrics=code)
