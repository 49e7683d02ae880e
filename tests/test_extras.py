"""What the library alone can do, and what each extra adds: a missing one is an error with the line to type."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from nofluke.extras import EXTRAS
from nofluke.progress import cells_bar, progress_bar
from nofluke.studies.run import dask_executor

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

WITHOUT = """
import sys
for package in {names}:
    sys.modules[package] = None
"""


def table(n_series=6, n=200):
    """Series in which one detector of two knows something."""
    rng = np.random.default_rng(0)
    truth = (rng.random(n_series * n) < 0.03).astype(int)
    names = np.repeat([f"s{i}" for i in range(n_series)], n)
    good, random = truth + rng.normal(size=truth.size), rng.normal(size=truth.size)
    return {"name": names, "group": np.where(names < "s3", "g", "h"), "label": truth, "good": good, "random": random}


DAYS = np.arange("2026-01-01", "2026-01-20", dtype="datetime64[D]")
ASKED = {"series": "name", "group": "group", "truth": "label", "scores": ["good", "random"], "budget": "3%"}


def packages(names):
    """Names of packages without their versions."""
    return {name.partition(">")[0] for name in names}


def python_without(names, code, *arguments):
    """A fresh interpreter in which some packages are missing."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(names=tuple(names)) + code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(nf.__file__).parent.parent)},
    )


@pytest.fixture
def without(monkeypatch):
    """Packages that are missing from here on, with all that is loaded of them."""

    def block(*names):
        loaded = [module for module in sys.modules if module.partition(".")[0] in names]
        for name in {*names, *loaded}:
            monkeypatch.setitem(sys.modules, name, None)

    return block


def test_the_library_alone_needs_four_packages():
    """Everything else is an extra, each package in the extra that errors name; "all" has all that users may need."""
    extras = PROJECT["optional-dependencies"]
    assert packages(PROJECT["dependencies"]) == {"numpy", "scipy", "numba", "narwhals"}
    assert {package: extra for package, extra in EXTRAS.items() if package not in packages(extras[extra])} == {}
    assert extras["cli"][0] == "nofluke[files]"
    assert extras["dask"] == ["nofluke[distributed]"]
    named = set(extras["all"][0].removeprefix("nofluke[").removesuffix("]").split(","))
    assert named == {"cli", "plot", "report", "distributed"}
    assert extras["test"][0] == "nofluke[all]"


def test_the_library_works_without_any_extra():
    """Evaluating, and a study without a folder, pooled, compared and printed."""
    code = """
import nofluke as nf
from test_extras import ASKED, table
result = nf.evaluate([0, 1, 0, 0] * 9, [0, 1, 0, 0] * 9, threshold=1, tolerance=0, null="permutation")
assert result.verdict == "yes", result.verdict
study = nf.study(table(), **ASKED, workers=1)
print(study)
assert study.n_missing == 0 and study.compare().n_pairs == 1
nf.datasets.simulate_quakes(rng=0)
"""
    done = python_without(EXTRAS, f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})" + code)
    assert done.returncode == 0, done.stderr
    assert "good" in done.stdout


@pytest.mark.parametrize(
    ("package", "ask"),
    [
        ("duckdb", lambda _: nf.study("README.md", series="a", truth="b", scores="c", budget="1%")),
        ("duckdb", lambda folder: nf.study(table(), **ASKED, workers=1, out=folder)),
        ("pooch", lambda _: nf.datasets.load_earthquakes()),
        ("matplotlib", lambda _: nf.evaluate([0, 1] * 9, [0, 1] * 9, threshold=1).plot()),
        ("jinja2", lambda folder: nf.evaluate([0, 1] * 9, [0, 1] * 9, threshold=1).report(folder / "a.html")),
        ("distributed", lambda _: dask_executor("local").__enter__()),
    ],
)
def test_a_missing_extra_is_an_error_with_the_line_to_type(package, ask, tmp_path, without, monkeypatch):
    """Each place that needs one says which package is missing and how to get it."""
    monkeypatch.delenv("NOFLUKE_DATA", raising=False)
    without(package)
    with pytest.raises(nf.InputError) as error:
        ask(tmp_path)
    assert str(error.value).endswith(f"{package}, which is not installed: pip install 'nofluke[{EXTRAS[package]}]'.")


@pytest.mark.parametrize(
    "ask",
    [
        lambda place: nf.evaluate([0, 1] * 9, [0, 1] * 9, threshold=1).report(place),
        lambda place: nf.report([0, 1] * 9, {"a": [0, 1] * 9, "b": [1, 0] * 9}, threshold=1, path=place),
        lambda place: nf.coincidence([1, 5, 9], [1, 5, 9], tolerance=1, span=(0, 99)).report(place),
        lambda place: nf.rank({"series": list("abcde"), "a": [1.0] * 5, "b": range(5)}, series="series").report(place),
        lambda place: (
            nf.watch(place.with_name("state.json"), tolerance="1h", block="1d")
            .update(DAYS, predictions=DAYS, until="2026-02-01")
            .report(place)
        ),
    ],
)
def test_a_page_asks_for_all_that_it_takes_in_one_line(ask, tmp_path, without):
    """Where neither jinja2 nor matplotlib is there, whichever the page: one installation serves."""
    without("jinja2", "markupsafe", "matplotlib")
    with pytest.raises(nf.InputError, match=r"jinja2, which is not installed: pip install 'nofluke\[report\]'\.$"):
        ask(tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()


def test_the_command_without_click_says_what_to_type():
    """One line, exit code 2, no traceback; the installed command and python -m are the same."""
    code = "import runpy; runpy.run_module('nofluke', run_name='__main__')"
    done = python_without(["click"], code)
    assert (done.returncode, done.stdout) == (2, "")
    line = "the command line needs click, which is not installed: pip install 'nofluke[cli]'."
    assert done.stderr == f"nofluke: {line}\n"
    assert PROJECT["scripts"] == {"nofluke": "nofluke.__main__:main"}


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("duckdb", "evaluate table.csv --truth truth --scores good --quantile .9"),
        ("matplotlib", "evaluate table.csv --truth truth --scores good --quantile .9 --plot a.png"),
        ("jinja2", "report table.csv --truth truth --scores good --quantile .9"),
        ("jinja2", "demo --report a.html"),
        ("jinja2", "rank table.csv --series series --report a.html"),
        ("jinja2", "reproduce --simulated -o out"),
        ("jinja2", "watch state.json --truth-file a.csv --predictions-file b.csv --tolerance 2 --report a.html"),
        ("distributed", "study table.csv --series series --truth truth --scores good --budget 5% --dask local"),
    ],
)
def test_on_the_command_line_a_missing_extra_is_one_line(package, line, tmp_path, without, monkeypatch, capsys):
    """On standard error, with exit code 2, before anything is written; what comes with a package is missing, too."""
    (tmp_path / "table.csv").write_text("series,truth,good\na,0,1\na,1,2\na,0,1\n")
    from nofluke.cli import main  # others import this file where there is no click

    monkeypatch.chdir(tmp_path)
    without(package, *(["markupsafe"] if package == "jinja2" else []))
    with pytest.raises(SystemExit) as stopped:
        main(line.split())
    out, err = capsys.readouterr()
    assert (stopped.value.code, out, err.count("\n")) == (2, "", 1), err
    assert err.endswith(f"{package}, which is not installed: pip install 'nofluke[{EXTRAS[package]}]'.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.slow
def test_a_study_without_pages_has_all_but_its_page_and_gets_it_later(tmp_path):
    """The folder is for programs, too; whoever installs what pages need and resumes gets the page."""
    code = f"""
import sys; sys.path.insert(0, {str(ROOT / "tests")!r})
import nofluke as nf
from test_extras import ASKED, table
nf.study(table(), **ASKED, workers=1, out={str(tmp_path / "out")!r})
"""
    page = tmp_path / "out" / "leaderboard.html"
    for missing in (["jinja2", "markupsafe"], []):
        done = python_without(missing, code)
        assert done.returncode == 0, done.stderr
        assert page.exists() is not bool(missing)
        assert (page.with_suffix(".csv").exists(), page.with_name("manifest.json").exists()) == (True, True)


def test_a_log_has_a_line_of_progress_now_and_then(monkeypatch, capsys):
    """Every half minute, where a command's standard error is no terminal; the library itself says nothing."""
    now = [0.0]
    monkeypatch.setattr("nofluke.progress.time.monotonic", lambda: now[0])
    for logged in (False, True):
        monkeypatch.setattr("nofluke.progress._logged", logged)
        with progress_bar("draws", 1000) as advance, cells_bar("study", 9) as cells:
            for done in range(0, 1001, 100):
                now[0] += 11
                advance(done)
            cells(2, 1)
        said = capsys.readouterr().err.splitlines()
        expected = [
            "draws: 200 of 1,000",
            "draws: 500 of 1,000",
            "draws: 800 of 1,000",
            "study: 3 of 9 cells, 1 failed",
        ]
        assert said == [f"nofluke: {line}" for line in expected * logged]


def test_progress_without_rich_is_a_plain_line(monkeypatch, capsys):
    """It is written over itself, and gone at the end."""
    monkeypatch.setattr("nofluke.progress.is_watched", lambda _: True)
    monkeypatch.setattr("nofluke.progress.find_spec", lambda _: None)
    with progress_bar("draws", 1000) as advance:
        advance(10)
        advance(1000)  # too soon after the first to be shown
    assert capsys.readouterr().err == f"\rdraws: 10 of 1,000\r{'':<18}\r"
    with cells_bar("study", 2000) as advance_cells:
        advance_cells(1500, 3)
    assert capsys.readouterr().err.startswith("\rstudy: 1,503 of 2,000 cells, 3 failed\r")


def test_memory_reads_back_what_a_folder_does(tmp_path):
    """Every column of every table has the same kind and the same values; one series fails."""
    data = table()
    data["label"] = data["label"].astype(float)
    data["label"][7] = np.nan
    asked = {**ASKED, "metrics": ["auc_roc"], "n_resamples": 99, "workers": 1}
    kept, filed = nf.study(data, **asked), nf.study(data, **asked, out=tmp_path / "study")
    assert (kept.path, kept.n_missing) == (None, filed.n_missing)
    assert kept.n_missing > 0
    assert str(kept) == str(filed)
    for name in ("cells", "failed", "laws", "truths"):
        one, other = kept._folder.read(name), filed._folder.read(name)
        assert list(one) == list(other)
        for column, values in one.items():
            assert values.dtype == other[column].dtype, (name, column)
            assert list(map(type, values)) == list(map(type, other[column])), (name, column)
            for ours, theirs in zip(values.tolist(), other[column].tolist(), strict=True):
                np.testing.assert_array_equal(ours, theirs)
        detector = {"detector": "random"}
        if "detector" in one:
            assert len(kept._folder.read(name, ["series"], detector)["series"]) == len(
                filed._folder.read(name, ["series"], detector)["series"]
            )
