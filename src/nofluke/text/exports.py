"""Every way out of a result: dicts, nested or flat, JSON, CSV, data frames, Markdown and LaTeX."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, takewhile
from os import PathLike
from typing import Any, Literal, overload

from nofluke.data.paths import expanded, write_file
from nofluke.errors import InputError, passed
from nofluke.plain import check_word
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import Table, csv_columns, latex_part

Scalar = bool | int | float | str
LONGEST = 100  # characters of a name; MLflow takes keys of up to 250


def flattened(plain: Mapping[str, Any]) -> dict[str, Scalar]:
    """Plain values in one level: keys of letters, digits and underscores, joined by slashes.

    None is left out, and so are lists of values, except for a band, which has a low and a high end. Records in a list
    are named by the text that they begin with, or by their numbers where that is not unique, or longer than 100
    characters. Names that would become the same key are numbered from the second on, in alphabetical order.

    >>> detectors = [{"name": "my lof", "f1": 0.4}]
    >>> flattened({"n": 9, "notes": ["Few."], "recall": {"value": 0.5, "low": None}, "detectors": detectors})
    {'n': 9, 'recall/value': 0.5, 'detectors/my_lof/name': 'my lof', 'detectors/my_lof/f1': 0.4}
    >>> flattened({"a b": 1, "a/b": 2, "a_b": 3, "band": [0.1, 0.2]})
    {'a_b_2': 1, 'a_b_3': 2, 'a_b': 3, 'band/low': 0.1, 'band/high': 0.2}
    """
    return dict(_leaves(plain, ()))


def with_text(value: Any, said: Callable[[str], str]) -> Any:
    """Plain values of whatever depth with their sentences as they are said: by ``str``, as nothing but text."""
    if isinstance(value, dict):
        return {key: with_text(one, said) for key, one in value.items()}
    if isinstance(value, list):
        return [with_text(one, said) for one in value]
    return said(value) if isinstance(value, str) else value


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, Mapping):
        names = _unique([(str(key),) for key in value])
        inner: Sequence[Any] = [_with_ends(one) if key == "band" else one for key, one in value.items()]
    elif isinstance(value, list | tuple):
        inner = value if all(isinstance(one, Mapping) for one in value) else ()
        names = _unique([_beginning(one) for one in inner])
    else:
        if value is not None:
            yield "/".join(path), value
        return
    for name, one in zip(names, inner, strict=True):
        yield from _leaves(one, (*path, *name))


def _beginning(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The text that a record begins with: of a detector its name, of a difference both names and the measure."""
    values = [value for key, value in record.items() if key != "schema"]
    first = takewhile(lambda value: isinstance(value, str | list), values)
    return tuple(text for value in first for text in ([value] if isinstance(value, str) else map(str, value)))


def _with_ends(band: Any) -> Any:
    return dict(zip(("low", "high"), band, strict=True)) if isinstance(band, list | tuple) and len(band) == 2 else band


def _unique(names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names that can stand in a key, or numbers where these would not tell them apart."""
    keys = _keys({text for name in names for text in name})
    found = [tuple(keys[text] for text in name) for name in names]
    sound = all(all(name) and 0 < sum(map(len, name)) <= LONGEST and len(name) == len(found[0]) for name in found)
    return found if sound and len(set(found)) == len(found) else [(str(i),) for i in range(len(found))]


def _keys(texts: set[str]) -> dict[str, str]:
    """Each text as it can stand in a key. Who is numbered depends on the names alone, not on their order or rank."""
    plain = {text: re.sub(r"\W+", "_", text) for text in texts}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for text in sorted(texts, key=lambda text: (plain[text] != text, text)):  # what needs no change keeps its name
        numbered = (f"{plain[text]}_{i}" for i in count(2))
        key = plain[text]
        while key in taken:
            key = next(numbered)
        taken.add(key)
        found[text] = key
    return found


# ---- results as a data frame of the library the user has: pandas or polars

Backend = Literal["pandas", "polars", "pyarrow"]
_BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def make_frame(data: Mapping[str, Any], backend: Backend | None = None) -> Any:
    """A native frame from columns: of the library asked for, else one already imported, else one installed."""
    import narwhals as nw

    if backend is not None:
        check_word(backend, "backend", _BACKENDS)
    wanted = (backend,) if backend is not None else (*(b for b in _BACKENDS if sys.modules.get(b)), *_BACKENDS)
    found = next((b for b in wanted if sys.modules.get(b) or importlib.util.find_spec(b)), None)
    if found is None:
        raise InputError(
            problem=f"a data frame needs {' or '.join(dict.fromkeys(wanted))}", remedy=f"pip install {wanted[0]}"
        )
    columns = {name: list(values) if found == "pyarrow" else values for name, values in data.items()}
    return nw.from_dict(columns, backend=found).to_native()


# ---- every way out of a result, alike for all of them: dict, JSON, CSV, data frame, Markdown, LaTeX

Path = str | PathLike[str]
Flat = bool | Literal["numbers"]


class Exports(ABC):
    """A result that has a table for readers, columns for data frames and a record for JSON, and so all of the rest.

    ``**asked`` is whatever the result can be asked for in addition, by the keywords of its `table`.

    Examples
    --------
    >>> import nofluke as nf
    >>> result = nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000)
    >>> print(result.to_csv()[:37])
    power,error,measure,value,n_events,n_
    >>> result.to_dict(flat="numbers")["n_events"]
    10
    """

    __slots__ = ()

    @abstractmethod
    def table(self, *args: Any, **asked: Any) -> Table:
        """The result as a small table, which renders as text, Markdown, LaTeX or HTML."""

    @abstractmethod
    def columns(self, *args: Any, **asked: Any) -> Mapping[str, Any]:
        """The numbers in full, by column name: those of `to_csv` and `to_frame`."""

    @abstractmethod
    def _record(self, *args: Any, **asked: Any) -> dict[str, Any]:
        """Plain values: those of `to_dict` and `to_json`."""

    def _latex_tables(self, *args: Any, **asked: Any) -> Mapping[str, Table]:
        """What LaTeX shows, by name: one table without a name, or several that fit on a page."""
        return {"": self.table(*args, **asked)}

    @property
    def _kind(self) -> str:
        """What the result is called in a label: "sample-size"."""
        return re.sub("(?<=[a-z])(?=[A-Z])", "-", type(self).__name__).lower()

    def to_dict(self, *, flat: Flat = False, **asked: Any) -> dict[str, Any]:
        """The result as plain values: the keys of ``--format json``. Undefined values are None.

        Parameters
        ----------
        flat : bool or "numbers"
            True for one level to log, as in ``{"precision/value": 0.5}``: keys of letters, digits and underscores,
            joined by slashes. Undefined values and lists are left out; a band becomes ``band/low`` and
            ``band/high``. In a list of records, such as detectors, each has its name in the key. "numbers" leaves out
            text, too.
        **asked
            What else to tell, by the keywords of `table`.
        """
        if not isinstance(flat, bool) and not (isinstance(flat, str) and flat == "numbers"):
            raise InputError(argument="flat", value=flat, problem="must be True, False or 'numbers'")
        plain: dict[str, Any] = with_text(self._record(**asked), str)
        if not flat:
            return plain
        found = flattened(plain)
        return found if flat is True else {key: value for key, value in found.items() if not isinstance(value, str)}

    @overload
    def to_json(self, path: None = None, **asked: Any) -> str: ...
    @overload
    def to_json(self, path: Path, **asked: Any) -> None: ...
    def to_json(self, path: Path | None = None, **asked: Any) -> str | None:
        """`to_dict` as JSON: the text, or None where it is written to a path, whole or not at all."""
        return _written(render(self, "json", **asked), path)

    @overload
    def to_csv(self, path: None = None, **asked: Any) -> str: ...
    @overload
    def to_csv(self, path: Path, **asked: Any) -> None: ...
    def to_csv(self, path: Path | None = None, **asked: Any) -> str | None:
        """`columns` as comma-separated values with full digits: the text, or None where it is written to a path.

        Undefined values are empty fields. Names are written as they are, so that other programs read the same ones; a
        spreadsheet may take those that begin with =, +, - or @ for formulas, unless it imports them as text.
        """
        return _written(render(self, "csv", **asked), path)

    def to_frame(self, backend: Backend | None = None, **asked: Any) -> Any:
        """`columns` as a data frame: of pandas, polars or pyarrow if named, else of the one that the user has."""
        return make_frame(self.columns(**asked), backend)

    @overload
    def to_markdown(self, path: None = None, **asked: Any) -> str: ...
    @overload
    def to_markdown(self, path: Path, **asked: Any) -> None: ...
    def to_markdown(self, path: Path | None = None, **asked: Any) -> str | None:
        """`table` in GitHub's Markdown: the text, or None where it is written to a path."""
        return _written(render(self, "markdown", **asked), path)

    @overload
    def to_latex(
        self, path: None = None, *, label: str | None = None, caption: str | None = None, **asked: Any
    ) -> str: ...
    @overload
    def to_latex(self, path: Path, *, label: str | None = None, caption: str | None = None, **asked: Any) -> None: ...
    def to_latex(
        self, path: Path | None = None, *, label: str | None = None, caption: str | None = None, **asked: Any
    ) -> str | None:
        r"""`table` for a paper: a float with booktabs rules, and verdict and notes as text below it.

        Parameters
        ----------
        path : path, optional
            Where to write it; without one the text is returned.
        label : str, optional
            What ``\ref`` takes, by default such as "tab:nofluke-evaluation". Further tables of a leaderboard have their
            measure behind it.
        caption : str, optional
            By default the title of the table. Special characters are escaped.
        **asked
            What else to tell, by the keywords of `table`.
        """
        return _written(render(self, "latex", label=label, caption=caption, **asked), path)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return card(self.table(), getattr(self, "plot", None))


CARD = """<style>
.nofluke-card { border-left: 5px solid var(--light, #8884); padding: .2em 0 .2em 1em; max-width: 62em; }
.nofluke-card .verdict { color: var(--light); font-size: 1.5em; font-weight: 600; }
body[data-jp-theme-light="false"] .nofluke-card, body.vscode-dark .nofluke-card, html[theme="dark"] .nofluke-card {
  border-color: var(--dark, #8884); }
body[data-jp-theme-light="false"] .verdict, body.vscode-dark .verdict, html[theme="dark"] .verdict {
  color: var(--dark); }
.nofluke-card .about { opacity: .7; }
.nofluke-card svg { max-width: 100%; height: auto; }
.nofluke-card th, .nofluke-card td { overflow-wrap: anywhere; }
</style>
"""
"""The frame of a card, in the colour of the verdict in notebooks of either theme."""


def card(table: Table, draw: Callable[[], Any] | None) -> str:
    """A result in a notebook: the verdict, the figure where there is matplotlib, the table; notes can be unfolded.

    >>> print(card(Table(columns=("", "p"), rows=(("recall", "0.01"),), verdict="yes", notes=("No fluke.",)), None))
    <style>
    ...<div class="verdict">✓ no fluke</div><p>No fluke.</p><div><table>...
    """
    sign = VERDICTS.get(table.verdict)
    own = f' style="--light: {sign.light}; --dark: {sign.dark}"' if sign else ""
    verdict = f'<div class="verdict">{html.escape(str(sign))}</div>' if sign else ""
    notes = [f"<p>{html.escape(note)}</p>" for note in table.notes]
    about = f'<p class="about">{html.escape(table.title)}</p>' if table.title else ""
    first, rest = ("".join(notes[:1]), "".join(notes[1:])) if sign else ("", "".join(notes))
    more = f"<details{'' if sign else ' open'}><summary>More</summary>{rest}</details>" if rest else ""
    figure = "" if draw is None or not importlib.util.find_spec("matplotlib") else _drawn(draw)
    body = f"{verdict}{first}{about}{figure}{replace(table, title='', notes=()).html()}{more}"
    return f'{CARD}<div class="nofluke-card"{own}>{body}</div>'


def _drawn(draw: Callable[[], Any]) -> str:
    from nofluke.plot.panels import svg_of

    return svg_of(draw)


def render(
    result: Exports,
    form: str,
    *,
    said: Callable[[str], str] = str,
    label: str | None = None,
    caption: str | None = None,
    **asked: Any,
) -> str:
    """A result in a form; ``said`` puts notes into other words, as the command line does."""
    if form == "json":
        return json_text(result.to_dict(**asked))
    if form == "csv":
        return csv_columns(result.columns(**asked))
    if form == "markdown":
        return reworded(result.table(**asked), said).markdown()
    tables = {name: reworded(table, said) for name, table in result._latex_tables(**asked).items()}
    label = f"tab:nofluke-{result._kind}" if label is None else _checked(label)
    if caption is not None and not isinstance(caption, str):
        raise InputError(argument="caption", value=caption, problem="must be text")
    floats = []
    for i, (name, table) in enumerate(tables.items()):
        title = (caption if caption is not None else table.title) or result._kind.capitalize()
        own = f"{label}-{re.sub('[^A-Za-z0-9:._/+-]+', '-', name)}" if i else label
        floats.append(table.latex_float(f"{title}, {name}" if name else title, own))
    return latex_part(floats, dict.fromkeys(note for table in tables.values() for note in table.notes))


def reworded(table: Table, said: Callable[[str], str]) -> Table:
    """The same table with its notes in other words."""
    return replace(table, notes=tuple(map(said, table.notes)))


def json_text(told: dict[str, Any]) -> str:
    """Plain values as every result writes them."""
    return json.dumps(told, indent=2, ensure_ascii=False)


def _checked(label: str) -> str:
    if not isinstance(label, str) or not re.fullmatch(r"[A-Za-z0-9:._/+-]+", label):
        raise InputError(
            argument="label",
            value=label,
            problem="must be letters, digits and : . _ / + -, such as 'tab:results'",
        )
    return label


def _written(text: str, path: Path | None) -> str | None:
    if path is None:
        return text
    write_file(expanded(path, "path"), text.rstrip("\n") + "\n", passed("path", str(path)))
    return None
