"""Every way out of every result: the same methods with the same meaning, files, flat dicts, and LaTeX that compiles."""

import csv
import inspect
import io
import json
import math
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from unittest.mock import MagicMock

import matplotlib.pyplot as plt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from exported import ALARMS, EVENTS, GOOD, NAMES, NASTY, POOR, TRUTH, check_flat, check_latex, results
from nofluke.cli import FORMATS, main
from nofluke.text.exports import Exports, card, flattened
from nofluke.text.signs import VERDICTS
from nofluke.text.tables import Table

METHODS = ("to_dict", "to_json", "to_csv", "to_frame", "to_markdown", "to_latex")
every_result = pytest.mark.parametrize("name", NAMES)


def test_every_public_result_is_tried_here():
    """A new one gets its place in tests/exported.py."""
    assert tuple(results()) == NAMES
    kinds = {getattr(nf, name) for name in nf.__all__ if inspect.isclass(getattr(nf, name))}
    assert kinds - {nf.InputError, nf.Series, nf.Tolerance, nf.Watch} <= {type(result) for result in results().values()}


def test_names_are_written_to_csv_as_they_are():
    """Also those that a spreadsheet takes for formulas: other programs read the names that are in the data."""
    names = ["=1+1", "+noise", "-trend", "@k", "\tx", "'-y"]
    found = nf.compare(TRUTH, {name: GOOD + i for i, name in enumerate(names)}, threshold=5, n_resamples=19)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert {row[side] for row in rows for side in ("first", "second")} == set(names)
    assert any(row["difference"].startswith("-") and float(row["difference"]) < 0 for row in rows)


@every_result
def test_methods_have_one_signature(name):
    """Who knows one result knows them all."""
    result = results()[name]
    assert isinstance(result, Exports)
    for method in METHODS:
        assert inspect.signature(getattr(type(result), method)) == inspect.signature(getattr(Exports, method)), method


@every_result
def test_json_is_the_dict(name):
    """It parses as strictly as JSON is written."""
    result = results()[name]
    text = result.to_json()
    assert json.loads(text, parse_constant=pytest.fail) == result.to_dict()
    assert text == json.dumps(result.to_dict(), indent=2, ensure_ascii=False)


@every_result
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_have_the_columns_and_rows_of_the_csv(name, backend):
    """And the same values, number by number."""
    result = results()[name]
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    frame = result.to_frame(backend)
    columns = list(frame.column_names if backend == "pyarrow" else frame.columns)
    assert columns == list(result.columns()) == next(csv.reader(io.StringIO(result.to_csv())))
    assert len(frame) == len(rows)
    for column in columns:
        for row, value in zip(rows, frame[column].to_pylist() if backend == "pyarrow" else frame[column], strict=True):
            assert len(row) == len(columns)
            if isinstance(value, float) and row[column]:
                assert float(row[column]) == value
            elif isinstance(value, str):
                assert row[column] == value


@every_result
def test_markdown_and_latex_show_the_table(name):
    """Every row of it; a leaderboard's LaTeX has a table a measure."""
    result = results()[name]
    lines = result.to_markdown().splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 2 + len(result.table().rows)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {len(result.table().columns) + 1}
    check_latex(result.to_latex())
    assert str(result)
    told = card(result.table(), None)
    assert all(escape(cell) in told for row in result.table().rows for cell in row)
    assert all(escape(note) in told for note in result.table().notes)


def test_a_notebook_shows_a_card_with_the_verdict_and_the_figure():
    """The verdict in its words and colour, the figure as an element, the table; pyplot knows nothing of it."""
    result = results()["evaluation"]
    told = result._repr_html_()
    sign = VERDICTS[result.verdict]
    assert f'<div class="verdict">{sign}</div>' in told
    assert sign.light in told
    assert told.count("<svg") == 1
    assert told.index("verdict") < told.index("<svg") < told.index("<table>")
    assert "<?xml" not in told
    assert plt.get_fignums() == []
    assert result._repr_html_() == told


def test_a_card_needs_no_matplotlib(monkeypatch):
    """It is the same without the figure."""
    result = results()["evaluation"]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert result._repr_html_() == card(result.table(), None)


def test_p_values_beside_cannot_tell_are_pale():
    """In the card, and nowhere else."""
    untold = nf.evaluate([0, 1, *[0] * 10], predictions=[0, 1, *[0] * 10])
    assert untold.verdict == "cannot tell"
    assert card(untold.table(), None).count("opacity:.5'>0.083") == 3
    assert "opacity:.5'" not in card(results()["evaluation"].table(), None)


def test_labels_name_the_kind_of_result():
    """Each by itself, so that several stand in one paper."""
    found = {name: re.search(r"\\label\{(.*)\}", result.to_latex())[1] for name, result in results().items()}
    assert found["evaluation"] == "tab:nofluke-evaluation"
    assert found["windows"] == "tab:nofluke-coincidence-sweep"
    assert found["sample size"] == "tab:nofluke-sample-size"
    assert results()["study"].to_latex() == results()["leaderboard"].to_latex()


def test_verdict_and_notes_stand_outside_of_the_float():
    """They flow with the text of the paper, a paragraph each."""
    result = results()["evaluation"]
    inside, outside = result.to_latex().split("\\end{table}\n\n")
    assert "Verdict" not in inside
    assert outside.startswith("Verdict: no fluke.")
    assert len(outside.split("\n\n")) == len(result.table().notes)


def test_label_and_caption_can_be_set():
    """The caption is escaped; a leaderboard adds the measure to both."""
    text = results()["power"].to_latex(label="tab:mine", caption="50% of x_1")
    assert "\\caption{50\\% of x\\_1}\n\\label{tab:mine}\n" in text
    text = results()["leaderboard"].to_latex(label="tab:mine", caption="All")
    assert re.findall(r"\\(?:caption|label)\{(.*)\}", text) == [
        *("All, F1", "tab:mine", "All, precision", "tab:mine-precision", "All, recall", "tab:mine-recall"),
        *("All, auc-roc", "tab:mine-auc-roc", "All, pa-f1", "tab:mine-pa-f1"),
    ]


@pytest.mark.parametrize("label", ["", "a}b", "50%", "a b", 3, "x\\y"])
def test_a_label_that_latex_cannot_take_is_refused(label):
    """One line with a remedy."""
    with pytest.raises(nf.InputError, match=r"label=.* must be letters, digits and .*, such as 'tab:results'"):
        results()["power"].to_latex(label=label)
    with pytest.raises(nf.InputError, match="caption=3 must be text"):
        results()["power"].to_latex(caption=3)


def test_what_only_some_results_tell_is_asked_by_keyword():
    """The same keyword in every form."""
    curve, family = results()["sweep"], results()["familywise"]
    assert curve.to_dict(familywise=family)["familywise"] == family.to_dict()
    assert curve.to_csv(familywise=family).splitlines()[0].endswith("precision_familywise,recall_familywise")
    assert list(curve.to_frame("pandas", familywise=family))[-1] == "recall_familywise"
    for text in (curve.to_markdown(familywise=family), curve.to_latex(familywise=family)):
        assert "The best F1 of the whole sweep" in text
    found = results()["evaluation"]
    assert "f1_test" in json.loads(found.to_json(f1="test"))


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_a_path_is_written_whole(form, tmp_path):
    """The text with one newline at its end, and None is returned; a place that cannot be written is refused."""
    result, place = results()["leaderboard"], tmp_path / "found.txt"
    place.write_text("old")
    method = getattr(result, f"to_{form}")
    assert method(str(place)) is None
    assert place.read_text() == method().rstrip("\n") + "\n"
    assert list(tmp_path.iterdir()) == [place]
    with pytest.raises(nf.InputError, match=r"path='.*' cannot be written \(No such file or directory\)"):
        method(tmp_path / "nowhere" / "found.txt")
    with pytest.raises(nf.InputError, match="path must be a path, got int"):
        method(3)


# Flat dicts


@every_result
def test_a_flat_dict_has_every_scalar(name):
    """None and lists are left out; numbers alone if asked for."""
    result = results()[name]
    flat = result.to_dict(flat=True)
    check_flat(flat, result.to_dict())
    numbers = {key: value for key, value in flat.items() if isinstance(value, int | float)}
    assert result.to_dict(flat="numbers") == numbers
    assert all(math.isfinite(value) for value in numbers.values())


def test_keys_of_a_flat_dict_have_names_not_numbers():
    """So that a detector keeps its key when its place on the leaderboard changes."""
    assert results()["evaluation"].to_dict(flat=True)["precision/value"] == results()["evaluation"].precision
    board = results()["leaderboard"]
    assert board.to_dict(flat=True)["detectors/good/f1/value"] == board.rows[0].f1.value
    assert "pairs/good/poor/recall/pvalue" in board.to_dict(flat=True)
    assert "differences/good/poor/f1/pvalue" in results()["three"].to_dict(flat=True)
    assert "metrics/vus_pr_window_5/pvalue" in results()["significances"].to_dict(flat=True)
    levels = results()["chance levels"]
    flat = levels.to_dict(flat=True)
    assert "metrics/auc_roc/expected" in flat
    assert (flat["metrics/auc_roc/band/low"], flat["metrics/auc_roc/band/high"]) == levels.results[0].band


def test_names_that_give_one_key_are_numbered_whatever_their_rank():
    """By the names alone, and alike wherever a name comes up."""
    scores = {"a/b": GOOD, "a b": POOR, "a_b": GOOD[::-1], "a_b_2": POOR[::-1]}
    keys = {"a/b": "a_b_4", "a b": "a_b_3", "a_b": "a_b", "a_b_2": "a_b_2"}
    for names in (list(scores), list(scores)[::-1]):
        found = nf.compare(TRUTH, {name: scores[name] for name in names}, quantile=0.9, tolerance=2)
        flat = found.to_dict(flat=True)
        assert {name: flat[f"detectors/{key}/name"] for name, key in keys.items()} == {name: name for name in keys}
        assert any(key.startswith(("differences/a_b_4/a_b_3/", "differences/a_b_3/a_b_4/")) for key in flat)


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=9))
records = st.recursive(
    st.dictionaries(st.text(max_size=3), values, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(["a", "b-", "b.", "", "name"]),
        st.one_of(values, inner, st.lists(inner, max_size=3), st.lists(values, max_size=3)),
        max_size=4,
    ),
    max_leaves=9,
)


@settings(max_examples=50)
@given(records)
def test_any_record_is_flattened_without_loss(record):
    """Names that are equal, empty or strange give way to numbers: no key is there twice."""
    check_flat(flattened(record), record)


@pytest.mark.parametrize("flat", ["text", 1, None, ["numbers"]])
def test_other_kinds_of_flat_are_refused(flat):
    """One line with what there is."""
    with pytest.raises(nf.InputError, match=r"flat=.* must be True, False or 'numbers'"):
        results()["power"].to_dict(flat=flat)


def test_the_how_to_of_loggers_runs(monkeypatch):
    """Its snippets, on stand-ins that take what MLflow and Weights & Biases take: numbers as metrics, text as tags."""
    page = Path(__file__).parent.parent / "docs" / "howto" / "logging.md"
    snippets = [one for one in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) if ">>>" not in one]
    mlflow, wandb = MagicMock(), MagicMock()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    for snippet in snippets:
        exec(snippet, {"result": results()["evaluation"], "curve": results()["sweep"]})
    (metrics,), _ = mlflow.log_metrics.call_args
    assert metrics["precision/value"] == results()["evaluation"].precision
    assert all(isinstance(value, int | float) for value in metrics.values())
    (logged,), _ = wandb.init().__enter__().log.call_args_list[0]
    assert logged["nofluke/verdict"] == "yes"
    assert len(wandb.Table.call_args[1]["dataframe"]) == 4


# LaTeX


@settings(max_examples=50)
@given(st.lists(st.text(max_size=12), min_size=5, max_size=5))
def test_no_text_breaks_a_latex_table(texts):
    """Whatever names and notes hold: special characters, line ends, backslashes."""
    title, head, first, second, note = texts
    table = Table(title=f"t{title}", columns=("", head), rows=((first, second), (second, first)), notes=(note,))
    check_latex(table.latex("tab:x"))


def test_text_beyond_ascii_names_the_engine_that_sets_it():
    """pdfLaTeX has not all letters."""
    text = Table(title="検出", columns=("a",), rows=()).latex("tab:x")
    assert text.splitlines()[1].startswith("% has characters beyond ASCII: compile with XeLaTeX or LuaLaTeX")
    assert "beyond" not in Table(title="δ ≥ –", columns=("a",), rows=()).latex("tab:x")


ENGINE = shutil.which("pdflatex") or shutil.which("tectonic")


@pytest.mark.skipif(ENGINE is None, reason="neither pdflatex nor tectonic is installed")
def test_latex_of_every_result_compiles(tmp_path):
    """In one document, without an error and without a label twice."""
    tables = [result.to_latex(label=f"tab:{i}") for i, result in enumerate(results().values())]
    nasty = Table(title=NASTY, columns=("", NASTY), rows=((NASTY, NASTY), ("[x]", "*")), notes=(NASTY,)).latex("tab:x")
    body = "\n\\clearpage\n".join([*tables, nasty])
    page = f"\\documentclass{{article}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (tmp_path / "paper.tex").write_text(page, encoding="utf-8")
    flags = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in ENGINE else []
    done = subprocess.run([ENGINE, *flags, "paper.tex"], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2_000:]
    assert b"multiply" not in done.stdout
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


# The command line

DATA = ("data.csv", "--truth", "y", "--tolerance", "1", "--null", "permutation")
LISTS = ("events.csv", "alarms.csv", "--span", "0", "119")
METRICS = ("data.csv", "--truth", "y", "--scores", "good", "--null", "circular-shift")
SCORES, DRAWS = ("--scores", "good", "--scores", "poor"), ("--resamples", "99", "--seed", "1")
CHANCE = ("chance", "data.csv", "--truth", "y", *DRAWS, "--metric", "auc-roc")
COMMANDS = {
    "evaluation": ("evaluate", *DATA, "--scores", "good", "--threshold", "5"),
    "sweep": ("sweep", *DATA, "--tolerance", "0", "--scores", "good", "--threshold", "2", "--threshold", "5"),
    "coincidence": ("coincidence", *LISTS, "--tolerance", "2"),
    "windows": ("coincidence", *LISTS, "--tolerance", "1", "--tolerance", "2", "--lag", "0", "--lag", "1"),
    "three": ("compare", "data.csv", "--truth", "y", *SCORES, "--scores", "y", "--budget", "10%", *DRAWS),
    "diagnosis": ("diagnose", "data.csv", "--truth", "y", "--scores", "good", "--threshold", "5"),
    "power": ("power", "--recall", "0.6", "--coverage", "0.2", "--events", "10", "--steps", "2000"),
    "sample size": ("power", "--recall", "0.6", "--coverage", "0.2"),
    "significance": ("significance", *METRICS, "--metric", "auc-roc"),
    "significances": ("significance", *METRICS, "--metric", "auc-roc", "--metric", "vus-pr:window=5"),
    "chance level": CHANCE,
    "chance levels": (*CHANCE, "--metric", "best-f1"),
    "listing": ("metrics",),
    "leaderboard": ("study", "data.csv", "--truth", "y", *SCORES, "--budget", "10%"),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """What the results above were made from, as files in the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{y},{a},{b}" for y, a, b in zip(TRUTH, GOOD, POOR, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["y,good,poor", *rows]) + "\n")
    done = results()["study"]
    monkeypatch.setattr(nf, "study", lambda *_, **__: done)  # tests/test_cli_study.py runs it
    for name, times in (("events", EVENTS), ("alarms", ALARMS)):
        (tmp_path / f"{name}.csv").write_text("time\n" + "".join(f"{time}\n" for time in times))


@pytest.mark.parametrize("form", sorted({"json", "csv", "markdown", "latex"} & {*FORMATS}))
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("files")
def test_the_command_line_prints_what_the_method_gives(name, form, capsys):
    """--format X is to_X(), for every command; what notes tell to pass is spelled as an option."""
    result, words = results()[name], [*COMMANDS[name], "--format", form]
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    assert (end.value.code, err) == (0, "")
    expected = getattr(result, f"to_{form}")().rstrip("\n")
    dashes = "-{}-" if form == "latex" else "--"
    expected = expected.replace("call familywise()", f"pass {dashes}familywise").replace(" span=,", f" {dashes}span,")
    expected = re.sub(r'null=\\?"([^"\\]+)\\?"', rf"{dashes}null \1", expected)
    assert to_ten_digits(out) == to_ten_digits(f"{expected}\n")


def to_ten_digits(text):
    """The command line may compute without a compiler, and round otherwise."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.10g}", text)
