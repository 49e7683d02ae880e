"""One table, five dresses: text, Markdown, LaTeX, HTML and CSV, and numbers that never read as what they are not."""

import csv
import html.parser
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.text import exports
from nofluke.text.numbers import show_chance
from nofluke.text.tables import Table, csv_text, plural, show_number, show_share

PLAIN = Table(
    title="A title",
    columns=("", "value", "hits"),
    rows=(("precision", "0.566", "145"), ("recall", "0.5", "1,080")),
    notes=("First note.", "Second note."),
)
NASTY = "<b>&\"'|_%$#{}~^\\[x] δ ≥ µ"


def test_text_is_aligned_names_left_and_numbers_right():
    """The first column starts each line, the others end together; title and notes stand apart."""
    assert PLAIN.text().split("\n") == [
        "A title",
        "",
        "           value   hits",
        "precision  0.566    145",
        "recall       0.5  1,080",
        "",
        "First note.",
        "Second note.",
    ]


def test_text_needs_neither_title_nor_notes():
    """Without them the table is all there is: no empty lines around it."""
    assert Table(columns=("a", "b"), rows=(("x", "1"),)).text() == "a  b\nx  1"


def test_combining_marks_take_no_room():
    """Columns stay aligned where a letter is written as two code points."""
    lines = Table(columns=("name", "n"), rows=(("a\u0308b", "1"), ("abc", "2"))).text().split("\n")
    assert lines[1] == "a\u0308b    1"
    assert lines[2] == "abc   2"


def test_markdown_is_a_table_of_its_own_kind():
    """Head, rule, rows; bars within cells are escaped so that they do not end the cell."""
    lines = Table(columns=("", "a|b"), rows=(("x|y", "1"),), title="T", notes=("N.",)).markdown().split("\n")
    assert lines == ["**T**", "", r"|  | a\|b |", "| --- | ---: |", r"| x\|y | 1 |", "", "N."]


def test_latex_is_a_booktabs_table():
    """Ready to paste into a paper: the package, environment, rules, one line a row; notes outside the float."""
    assert PLAIN.latex("tab:plain").split("\n") == [
        r"% requires \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{A title}",
        r"\label{tab:plain}",
        r"\smallskip",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r" & value & hits \\",
        r"\midrule",
        r"precision & 0.566 & 145 \\",
        r"recall & 0.5 & 1,080 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
        "First note.",
        "",
        "Second note.",
    ]


def test_latex_escapes_everything_that_means_something():
    """Special characters become themselves in print; none of them is left bare."""
    body = Table(columns=("a",), rows=((NASTY,),)).latex().split("\n")[8]
    assert body == (
        r"$<$b$>$\&" + "\"'" + r"\textbar{}\_\%\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}{[}x] "
        r"$\delta$ $\geq$ $\mu$ \\"
    )


def test_latex_writes_powers_of_ten_as_papers_do():
    """4.1e-12 is a power of ten in LaTeX; words and hexadecimal text stay."""
    table = Table(columns=("a", "p"), rows=(("x1e-5y", "4.1e-12"), ("n", "1e+06")))
    assert r"x1e-5y & $4.1 \times 10^{-12}$" in table.latex()
    assert r"$1 \times 10^{6}$" in table.latex()
    assert "4.1e-12" in table.text()


def test_latex_rows_start_neither_with_a_bracket_nor_with_a_star():
    """After a line break LaTeX reads [..] and * as its arguments: a row's name must not be swallowed."""
    rows = Table(columns=("a", "b"), rows=(("x", "1"), ("[0, 1]", "2"), ("* best", "3"))).latex()
    assert "\n[" not in rows
    assert r"{*} best & 3 \\" in rows
    assert r"{[}0, 1] & 2 \\" in rows


def test_no_result_prints_a_character_that_latex_lacks():
    """Tables of real results, with every kind of tolerance, come out in ASCII."""
    hours = np.arange(6).astype("datetime64[h]")
    for window in (0, 2, "90min", nf.Tolerance(early=1, late=2), "7us"):
        result = nf.evaluate([0, 1, 0, 0, 0, 1], [1, 2, 3, 2, 1, 9], quantile=0.5, tolerance=window, times=hours)
        assert result.table().latex().isascii()


class Texts(html.parser.HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note a tag, whatever its attributes."""
        del attrs
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)


@given(text=st.text(alphabet=st.sampled_from("<>&\"'/ab;#"), min_size=1))
def test_html_shows_any_text_as_it_is(text):
    """Whatever stands in title, head, cells and notes is shown, and none of it becomes markup."""
    page = Texts()
    page.feed(Table(columns=("", text), rows=((text, text),), title=text, notes=(text,)).html())
    page.close()
    assert "".join(page.texts) == text * 5
    assert set(page.tags) == {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


def test_html_of_results_is_their_table():
    """In a notebook a result shows the rows of its printed table."""
    result = nf.evaluate([0, 1, 0], [1, 2, 3], threshold=2, tolerance=1)
    page = Texts()
    page.feed(result._repr_html_())
    assert [t for t in page.texts if t in ("precision", "recall", "F1")] == ["precision", "recall", "F1"]
    for row in result.table().rows:
        assert row[1] in page.texts


@given(
    rows=st.lists(
        st.tuples(st.text(alphabet="a,\"'\n;|é"), st.one_of(st.none(), st.floats(), st.integers())), max_size=6
    )
)
def test_csv_reads_back_as_it_was(rows):
    """Any text and every digit survive; None and NaN are empty fields."""
    text = csv_text(("name", "value"), rows)
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[0] == ["name", "value"]
    assert len(read) == len(rows) + 1
    for (name, value), (read_name, read_value) in zip(rows, read[1:], strict=True):
        assert read_name == name
        if value is None or (isinstance(value, float) and math.isnan(value)):
            assert read_value == ""
        else:
            assert type(value)(read_value) == value


def test_csv_writes_numpy_numbers_as_numbers():
    """No np.float64(...) in a file."""
    assert csv_text(("a", "b"), [(np.float64(0.1), np.int64(3)), (np.float64("nan"), 1)]) == "a,b\n0.1,3\n,1\n"


@given(value=st.one_of(st.floats(0, 1), st.floats(0, 1e-6), st.floats(0, 1e-6).map(lambda v: 1 - v)))
def test_a_share_reads_as_0_or_1_only_if_it_is(value):
    """Never 0.000 for what is not nothing, nor 1.000 for what is not everything; and always close to the value."""
    text = show_share(value)
    assert (text == "0") is (value == 0)
    assert (text == "1") is (value == 1)
    assert (float(text) in (0, 1)) is (value in (0, 1))
    assert abs(float(text) - value) <= 0.0005


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5664, "0.566"),
        (0.0004, "0.0004"),
        (1e-12, "1.00e-12"),
        (1 - 1e-12, "0.999999999999"),
        (-0.99999, "-0.99999"),
        (-1.0, "-1"),
        (math.nan, "undefined"),
    ],
)
def test_shares_in_writing(value, text):
    """Three digits where three will do."""
    assert show_share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2557, "2,557"),
        (2557.0, "2,557"),
        (np.int64(1234567), "1,234,567"),
        (-1200, "-1,200"),
        (10**20, "100,000,000,000,000,000,000"),
        (71.49893, "71.5"),
        (0.123456, "0.1235"),
        (1.0234e-7, "1.023e-07"),
        (1.5e9 + 0.5, "1.5e+09"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "undefined"),
    ],
)
def test_numbers_in_writing(value, text):
    """Counts whole and with separators, other numbers in about four digits, nothing breaks on infinity."""
    assert show_number(value) == text


def test_plurals():
    """One step, two steps, one box, 1,000 boxes."""
    assert [plural(1, "step"), plural(0, "step"), plural(1, "box", "boxes"), plural(1000, "box", "boxes")] == [
        "1 step",
        "0 steps",
        "1 box",
        "1,000 boxes",
    ]


def test_text_of_a_result_holds_its_numbers():
    """print(result): counts of steps, events and predictions, both hits, and no NaN in sight."""
    text = str(nf.evaluate([0, 1, 0, 0], [0, 5, 5, 0], threshold=5, tolerance=0))
    assert "4 steps, 1 event, 2 predictions (score ≥ 5); tolerance 0 steps" in text
    assert re.search(r"^precision +0\.500 +1 +2", text, re.MULTILINE)
    assert re.search(r"^recall +1 +1 +1", text, re.MULTILINE)
    empty = str(nf.evaluate([0, 0], [0, 0], threshold=1))
    assert re.search(r"^precision +undefined +0 +0", empty, re.MULTILINE)
    assert "nan" not in empty.lower()


def test_csv_of_a_result_holds_full_digits():
    """to_csv(): one line a measure, shares to the last digit, an empty field where undefined."""
    result = nf.evaluate([0, 1, 0, 1], [5, 5, 5, 0], threshold=5)
    rows = {row["measure"]: row for row in csv.DictReader(io.StringIO(result.to_csv()))}
    assert float(rows["precision"]["value"]) == 1 / 3
    assert (rows["precision"]["hits"], rows["precision"]["of"]) == ("1", "3")
    assert (rows["recall"]["hits"], rows["recall"]["of"]) == ("1", "2")
    assert float(rows["f1"]["value"]) == result.f1
    empty = list(csv.DictReader(io.StringIO(nf.evaluate([0, 0], [0, 0], threshold=1).to_csv())))
    assert [row["value"] for row in empty] == ["", "", ""]


def test_a_frame_without_a_library_says_what_to_install(monkeypatch):
    """Where neither pandas nor polars nor pyarrow is there, the answer is the pip command."""
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(nf.InputError, match="a data frame needs pandas or polars or pyarrow: pip install pandas"):
        exports.make_frame({"a": [1]})
    with pytest.raises(nf.InputError, match="a data frame needs polars: pip install polars"):
        exports.make_frame({"a": [1]}, "polars")


def test_a_frame_is_of_the_library_that_is_there(monkeypatch):
    """With pandas out of reach, polars answers by itself."""
    import polars

    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert type(exports.make_frame({"a": np.array([1, 2])})) is polars.DataFrame


@given(st.floats(-1e300, 1e300), st.floats(0, 1e300))
def test_means_and_deviations_are_short(mean, std):
    """Whatever their size, and the mean is at most a deviation's second digit, or a millionth of itself, off."""
    text = show_chance(mean, std)
    assert len(text) <= 33
    told, spread = (float(part.replace(",", "")) for part in text.split(" ± "))
    assert abs(told - mean) <= max(0.051 * std, 1e-6 * abs(mean)) or (spread == 0 and abs(told / mean - 1) < 1e-3)
    assert spread == 0 or abs(spread / std - 1) < 0.06


def test_a_mean_of_nearly_nothing_has_no_sign():
    """Not -0.00."""
    assert show_chance(-1e-9, 0.2) == "0.00 ± 0.20"


def test_a_line_break_in_a_cell_does_not_break_the_table():
    """Names of detectors are the user's."""
    table = Table(columns=("", "F1"), rows=(("one\ntwo", "1"), ("b\r\n", "2")))
    assert table.text() == "         F1\none two   1\nb         2"
