"""`nofluke study`: what it prints, what it leaves in its folder, how it ends, and how it goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from nofluke.cli import main
from nofluke.studies.run import Stopped
from nofluke.studies.sources.chunks import CasesChunk

FILES = {
    *("study.json", "manifest.json", "parts", "results.parquet", "failed.jsonl", "timings.parquet", "pooled.json"),
    *("leaderboard.csv", "leaderboard.md", "leaderboard.tex", "leaderboard.html"),
}
COLUMNS = ("--series", "name", "--truth", "y", "--scores", "det_*")
CUT = ("--budget", "5%", "--tolerance", "1%", "--null", "permutation", "--workers", "1")


EVERY_OPTION = """
    a.csv b.csv --series s --group g --truth y --scores a --scores b* --detector d --time t --layout long
    --time-format %d/%m/%Y --ranges-time-format iso
    --ranges r.csv --data labels --truth-as times --count-events ranges --overlaps merge --missing mask
    --higher-is normal --align end --pattern {series} --labels y.csv --score-column z
    --warmup 15% --test-part 20%,80% --count-alarms episodes --refractory 3 --quantile 0.9 --tolerance 2h
    --null circular-shift --metric f1 --metric nab --rank-by nab --resamples 99 --seed 7 --alpha 0.01 --title T
    -o out --restart --workers 3
"""


def lines_of(seed, n=200):
    """Rows of a series: a label, a detector that knows it a little, and one that does not."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    scores = zip(y, y + rng.normal(size=n), rng.normal(size=n), strict=True)
    return [f"{label},{good:.3f},{random:.3f}" for label, good, random in scores]


def write_series(path, lines, header="y,det_a,det_b"):
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([header, *lines]) + "\n")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A table of six series in the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [f"s{i},g{i // 2},{line}" for i in range(6) for line in lines_of(i)]
    write_series(tmp_path / "study.csv", rows, "name,dataset,y,det_a,det_b")
    return tmp_path


@pytest.fixture
def call(capsys):
    """The exit code, what was printed, and what was said."""

    def call(*words):
        with pytest.raises(SystemExit) as end:
            main(["study", *map(str, words)])
        return end.value.code, *capsys.readouterr()

    return call


def failed(out):
    """Reasons by series and detector."""
    rows = [json.loads(line) for line in (Path(out) / "failed.jsonl").read_text().splitlines()]
    return {(row["series"], row["detector"] or ""): row["reason"] for row in rows}


def test_it_prints_the_leaderboard_and_leaves_a_complete_folder(files, call):
    """What is printed is what the library says; where the files are is said on standard error."""
    code, out, err = call("study.csv", *COLUMNS, "--group", "dataset", *CUT, "--title", "Six", "-o", "out")
    assert code == 0
    found = nf.Study.open("out")
    assert out.split() == str(found).split()  # in shorter lines
    assert out.startswith("Six: 2 detectors on 6 series in 3 groups\n")
    assert err.startswith("Wrote out/leaderboard.html")
    assert {path.name for path in (files / "out").iterdir() if not path.name.startswith(".")} == FILES
    assert len(list((files / "out" / "parts").iterdir())) == 6
    settings = json.loads((files / "out" / "study.json").read_text())["settings"]
    assert (settings["tolerance"], settings["budget"]) == ("1% of each series' length", "5%")


def test_json_and_csv_are_those_of_the_leaderboard(files, call):
    """JSON can be parsed; without -o nothing is said of files, and none is left."""
    board = nf.study(
        "study.csv",
        series="name",
        truth="y",
        scores="det_*",
        budget="5%",
        tolerance="1%",
        null="permutation",
        workers=1,
    ).leaderboard()
    code, out, err = call("study.csv", *COLUMNS, *CUT, "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(board.to_dict()))
    assert call("study.csv", *COLUMNS, *CUT, "--format", "csv")[1] == board.to_csv()
    assert [path.name for path in files.iterdir()] == ["study.csv"]


def test_metrics_rank_the_leaderboard_and_its_files(files, call):
    """By --rank-by, printed and written; the same folder can be ranked again by something else."""
    metric = (*COLUMNS, *CUT, "--metric", "auc-roc", "--metric", "vus-pr:window=3", "--resamples", "99")
    metric = (*metric, "-o", "out", "--rank-by")
    code, out, _ = call("study.csv", *metric, "auc-roc")
    assert code == 0
    assert "* auc-roc not significantly worse than the best" in out
    assert "auc-roc [95%]  chance  corrected" in out
    board = nf.Study.open("out").leaderboard()
    assert board.rank_by == "auc-roc"
    assert (files / "out" / "leaderboard.csv").read_text() == board.to_csv()
    code, out, _ = call("study.csv", *metric, "vus-pr:window=3", "--format", "json")
    assert (code, json.loads(out)["rank_by"]) == (0, "vus-pr:window=3")
    code, out, _ = call("study.csv", *metric, "recall", "--format", "json")
    assert json.loads(out)["rank_by"] == "recall"
    assert nf.Study.open("out").rank_by == "recall"


def test_every_option_reaches_the_library(monkeypatch, call):
    """Under the name that the library has for it."""
    told = {}

    def study(source, **arguments):
        told.update(source=source, **arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(nf, "study", study)
    assert call(*EVERY_OPTION.split())[0] == 130
    assert told == {
        "source": ["a.csv", "b.csv"],
        **{"series": "s", "group": "g", "truth": "y", "scores": ["a", "b*"], "detector": "d", "times": "t"},
        **{"time_format": "%d/%m/%Y", "ranges_time_format": "iso"},
        **{"layout": "long", "ranges": "r.csv", "data": "labels", "truth_as": "times", "count_events": "ranges"},
        **{"overlaps": "merge", "missing": "mask", "higher_is": "normal", "warmup": "15%", "count_alarms": "episodes"},
        "test_part": "20%,80%",
        **{"refractory": 3, "threshold": None, "quantile": 0.9, "budget": None, "tolerance": "2h"},
        **{
            "null": "circular-shift",
            "metrics": ("f1", "nab"),
            "cut_ties": "drop",
            **{"align": "end", "pattern": "{series}", "labels": "y.csv", "score_column": "z"},
            **{"merge_gap": None, "split_longer": None},
            "rank_by": "nab",
            "n_resamples": 99,
            "rng": 7,
            "alpha": 0.01,
        },
        **{"title": "T", "out": "out", "workers": 3, "executor": None, "resume": False},
    }
    for words, expected in {
        ("--tolerance", "2"): 2,
        ("--tolerance", "0.01"): 0.01,
        (): nf.Tolerance(early=0, late=0),
        ("--tolerance", "3", "--unit", "clock"): nf.Tolerance(early=3, late=3, unit="clock"),
        ("--early", "1", "--late", "2"): nf.Tolerance(early=1, late=2),
    }.items():
        call("a.csv", *words)
        assert told["tolerance"] == expected
        assert told["count_events"] is None
        assert (told["source"], told["scores"], told["resume"]) == ("a.csv", None, True)


def test_groups_that_nobody_named_are_asked_for_before_any_work(files, call, monkeypatch):
    """Where no layout names them."""
    monkeypatch.setattr(nf, "study", None)
    code, _, err = call("study.csv", *COLUMNS, *CUT, "--by", "group", "-o", "out")
    assert (code, err) == (2, "nofluke: --by group needs groups of series: name them by --group COLUMN.\n")
    assert not (files / "out").exists()


def test_what_is_wrong_with_a_folder_is_mended_by_nofluke_study(files, call, capsys):
    """Whichever command found it; a study.json of somebody else's is left alone."""
    call("study.csv", *COLUMNS, *CUT, "-o", "out")
    (files / "out" / "manifest.json").unlink()
    for told in ("call", "calling"):
        with pytest.raises(SystemExit):
            main(["rank", "out"])
        assert re.search(rf"{told} nofluke study again with the same arguments", capsys.readouterr().err)
        next((files / "out" / "parts").glob("*/cells.parquet")).write_text("")
    (files / "other").mkdir()
    (files / "other" / "study.json").write_text("{}")
    code, _, err = call("study.csv", *COLUMNS, *CUT, "-o", "other")
    assert (code, "choose another folder for --out, or remove that file" in err) == (2, True)


def test_a_preset_stands_for_options_as_it_does_in_python(files, call):
    """What is typed beside it wins; and help says that a warm-up may be a column."""
    asked = {"series": "name", "truth": "y", "scores": "det_*", "budget": "5%", "workers": 1}
    given = ("study.csv", *COLUMNS, *CUT[:2], "--workers", "1", "--format", "csv", "--preset")
    for words, changed in (
        (["sre", "--tolerance", "1%"], {"preset": "sre", "tolerance": "1%"}),
        (["sre", "--count-events", "steps"], {"preset": "sre", "count_events": "steps"}),
    ):
        code, out, _ = call(*given, *words)
        assert (code, out) == (0, nf.study("study.csv", **asked, **changed).leaderboard().to_csv())
    assert "no clock" in call(*given, "earthquakes:window=3")[2]
    with pytest.raises(nf.InputError, match="no clock"):
        nf.study("study.csv", **asked, preset="earthquakes:window=3")
    code, _, err = call("study.csv", *COLUMNS, *CUT, "--preset", "szcor")
    assert (code, "--preset" in err) == (2, True)
    assert "column:150" in call("--help")[1]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_reasons_of_missing_cells_name_options(files, call, workers):
    """Not the arguments of Python: in text, JSON and XML, from workers too, and where the study is resumed."""
    text = (files / "study.csv").read_text().splitlines()
    text[7] = text[7].rpartition(",")[0] + ","
    (files / "study.csv").write_text("\n".join(text) + "\n")
    given = ("study.csv", *COLUMNS, *CUT[:-1], workers, "-o", "out")
    reason = "--scores has 1 NaN at position(s) 6: drop them, or pass --missing mask. (det_b on s0)"
    for form in ("text", "text", "json", "junit") if workers == "1" else ("text", "json"):
        code, out, _ = call(*given, "--format", form)
        assert code == 4
        assert reason in out
        assert "missing=" not in out
    assert json.loads((files / "out" / "failed.jsonl").read_text())["reason"] == (
        'scores has 1 NaN at position(s) 6: drop them, or pass missing="mask".'
    )


def test_cells_that_are_missing_are_told_first_and_by_the_exit_code(files, call):
    """Two of twelve: the summary begins with them, in JSON they have a key."""
    text = (files / "study.csv").read_text()
    lines = [line.rpartition(",")[0] + "," if line.startswith(("s1,", "s3,")) else line for line in text.splitlines()]
    (files / "study.csv").write_text("\n".join(lines) + "\n")
    code, out, err = call("study.csv", *COLUMNS, *CUT, "-o", "out")
    assert code == 4
    assert out.startswith("2 of 12 cells are missing:\n2: ")
    assert out.count("cells are missing") == 1
    assert "Wrote out" in err
    assert set(failed("out")) == {("s1", "det_b"), ("s3", "det_b")}
    code, out, _ = call("study.csv", *COLUMNS, *CUT, "--format", "json")
    assert code == 4
    assert [each["cells"] for each in json.loads(out)["missing"]] == [2]
    code, _, err = call("study.csv", *COLUMNS, *CUT, "--gate", "--alpha", "1e-300")
    assert code in (1, 3)  # what the gate found is not hidden by 4
    assert "nofluke: gate: " in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-", *COLUMNS, *CUT), "SOURCE - would be standard input"),
        (("nowhere.csv", *COLUMNS, *CUT), "nowhere.csv: there is no such file"),
        (("study.csv", *COLUMNS), "pass either --threshold or --quantile or --budget, got none"),
        (("study.csv", *COLUMNS, *CUT, "--quantile", "0.9"), "got --quantile and --budget"),
        (("study.csv", *COLUMNS, *CUT[2:], "--budget", "200%"), "--budget='200%' must be a share"),
        (("study.csv", *COLUMNS, *CUT[:2], "--tolerance", "x"), "--tolerance"),
        (("study.csv", *COLUMNS, *CUT, "--workers", "2"), "--workers was passed 2 times: pass it once."),
        (("study.csv", *COLUMNS, *CUT[:-1], "0"), "--workers=0 must be a whole number of at least 1"),
        (("study.csv", *COLUMNS, *CUT, "--series", "nam"), "--series was passed 2 times"),
        (("study.csv", "--series", "nam", *COLUMNS[2:], *CUT), "no column 'nam' (for --series): did you mean 'name'?"),
        (("study.csv", *COLUMNS, *CUT, "--layout", "nab"), "--series name has no place in --layout nab"),
        (("study.csv", *COLUMNS, *CUT, "--metric", "no"), "--metric no must be one of"),
        (("study.csv", *COLUMNS, *CUT, "--metric", "f1"), "is a column of every study already"),
        (
            ("study.csv", *COLUMNS, *CUT, "--rank-by", "auc-roc"),
            "--rank-by auc-roc must be one of 'f1', 'precision', 'recall'",
        ),
        (("study.csv", *COLUMNS, *CUT, "--colour"), "No such option '--colour'"),
        (("study.csv", *COLUMNS, *CUT, "-o", "-"), "--out - would be standard output"),
        ((".", *COLUMNS, *CUT, "-o", "out"), "--out out lies in the source '.', where it would be read as data"),
        (("study.csv", *COLUMNS, *CUT, "-o", "."), "holds other files (first 'study.csv')"),
        (
            ("study.csv", *COLUMNS, *CUT, "--dask", "nowhere"),
            "--dask nowhere has no scheduler that answers (ValueError): check",
        ),
    ],
)
@pytest.mark.usefixtures("files")
def test_what_cannot_be_done_is_one_line(call, words, said):
    """Exit code 2, and the remedy in options."""
    if "--dask" in words:
        pytest.importorskip("distributed")
    code, out, err = call(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert err.startswith("nofluke: ")


@pytest.mark.usefixtures("files")
def test_another_study_in_the_folder_is_an_error_unless_it_is_to_begin_anew(call):
    """The error says what changed, and names the option."""
    words = ("study.csv", *COLUMNS, *CUT, "-o", "out", "--format", "csv")
    first = call(*words)
    assert call(*words) == first
    code, out, err = call(*words, "--seed", "1")
    assert (code, out) == (2, "")
    assert "seed was 0 and is now 1. Put it back, choose another -o, or pass --restart to start over.\n" in err
    assert call(*words, "--seed", "1", "--restart")[0] == 0


@pytest.mark.parametrize(
    ("error", "words", "said"),
    [
        (Stopped(27, 60), ("-o", "out"), "stopped after 27 of 60 chunks: run the same command again to resume."),
        (
            Stopped(27, 1060),
            (),
            "stopped after 27 of 1,060 chunks: nothing was kept, pass -o DIR to be able to resume.",
        ),
        (KeyboardInterrupt(), ("-o", "out"), "stopped: run the same command again to resume."),
        (RuntimeError("Query interrupted"), ("-o", "out"), "stopped: run the same command again to resume."),
    ],
)
def test_ctrl_c_says_what_was_kept(monkeypatch, call, error, words, said):
    """Also while duckdb is at work, which raises an error of its own."""

    def study(*_, **__):
        raise error

    monkeypatch.setattr(nf, "study", study)
    assert call("study.csv", *COLUMNS, *CUT, *words) == (130, "", f"nofluke: {said}\n")


@pytest.mark.slow
def test_a_real_ctrl_c_leaves_a_folder_that_resumes_to_the_same_bytes(files, call):
    """Two workers are stopped half way; one process does the rest, and the results do not tell."""
    settings = ("--budget", "5%", "--null", "segments", "--resamples", "60000")
    command = [
        sys.executable,
        "-m",
        "nofluke",
        "study",
        "study.csv",
        *COLUMNS,
        *settings,
        "--workers",
        "2",
        "-o",
        "out",
    ]
    paths = os.pathsep.join(filter(None, sys.path))
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True)
    for _ in range(2400):
        if list(files.glob("out/parts/[0-9]*")) or process.poll() is not None:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    kept = len(list(files.glob("out/parts/[0-9]*")))
    assert process.returncode == 130
    assert said == f"nofluke: stopped after {kept} of 6 chunks: run the same command again to resume.\n"
    assert 0 < kept < 6
    assert call("study.csv", *COLUMNS, *settings, "--workers", "1", "-o", "out")[0] == 0
    assert call("study.csv", *COLUMNS, *settings, "--workers", "1", "-o", "whole")[0] == 0
    for name in ("results.parquet", "pooled.json", "leaderboard.csv"):
        assert (files / "out" / name).read_bytes() == (files / "whole" / name).read_bytes()


def test_nabs_folder_is_a_layout(tmp_path, monkeypatch, call):
    """Results by detector, labels as windows; a detector that lacks a series is missing there."""
    monkeypatch.chdir(tmp_path)
    times = [f"2020-01-{1 + i // 24:02}T{i % 24:02}:00:00" for i in range(96)]
    windows = {}
    for series in ("art/one", "real/two"):
        windows[f"{series}.csv"] = [[times[40], times[44]]]
        for at, detector in enumerate(("skyline", "random")):
            rows = [f"{t},1,{(i * (7 + at)) % 96 / 96 + (i == 41)},0" for i, t in enumerate(times)]
            path = tmp_path / "NAB" / "results" / detector / series.replace("/", f"/{detector}_")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".csv").write_text("\n".join(["timestamp,value,anomaly_score,label", *rows]) + "\n")
    (tmp_path / "NAB" / "labels").mkdir()
    (tmp_path / "NAB" / "labels" / "combined_windows.json").write_text(json.dumps(windows))
    words = ("NAB", "--layout", "nab", "--budget", "4%", "--tolerance", "1%", "--workers", "1", "-o", "out")
    code, out, _ = call(*words)
    assert code == 0
    assert "2 detectors on 2 series" in out
    assert set(nf.Study.open("out").cells["group"].tolist()) == {"art", "real"}
    (tmp_path / "NAB" / "results" / "random" / "real" / "random_two.csv").unlink()
    assert call(*words[:-1], "other")[0] == 4
    assert [detector for _, detector in failed("other")] == ["random"]


def test_bad_files_among_good_ones_are_rows_of_what_failed(tmp_path, monkeypatch, call):
    """Each series that cannot be judged, and each detector that cannot be, has its reason; all others have results."""
    monkeypatch.chdir(tmp_path)
    data, good = tmp_path / "data", lines_of(1)
    write_series(data / "good.csv", good)
    write_series(data / "again" / "good.csv", lines_of(2))
    write_series(data / "quiet.csv", [f"{line.split(',')[0]},5,{line.split(',')[2]}" for line in good])
    write_series(data / "eventless.csv", [f"0,{line.partition(',')[2]}" for line in good])
    write_series(data / "words.csv", [f"{line.rpartition(',')[0]},high" for line in good])
    write_series(data / "nan.csv", [*good[:-1], "0,0.5,nan"])
    write_series(data / "lacks.csv", [line.rpartition(",")[0] for line in good], "y,det_a")
    write_series(data / "header.csv", [])
    (data / "empty.csv").write_text("")
    (data / "corrupt.parquet").write_bytes(b"PAR1" + b"\0" * 60)
    code, out, _ = call("data", "--truth", "y", "--scores", "det_a", "--scores", "det_b", *CUT, "-o", "out")
    assert code == 4
    assert out.startswith("9 of 20 cells are missing:\n")
    reasons = failed("out")
    expected = {
        ("words", "det_b"): "words.csv",
        ("nan", "det_b"): "NaN",
        ("lacks", "det_b"): "det_b",
        ("header", ""): "header.csv has",
        ("empty", ""): "empty.csv is empty",
        ("corrupt", ""): "corrupt.parquet cannot be read as Parquet",
    }
    assert set(reasons) == set(expected)
    assert [at for at, words in expected.items() if words not in reasons[at]] == []
    study = nf.Study.open("out")
    assert {"good", "again/good"} <= set(study.cells["series"].tolist())
    quiet, eventless = study.cell("quiet", "det_a"), study.cell("eventless", "det_a")
    assert (quiet["verdict"], quiet["n_predictions"]) == ("cannot tell", 0)
    assert "tied" in " ".join(quiet["notes"])
    assert (eventless["verdict"], eventless["n_events"]) == ("cannot tell", 0)
    assert "no events" in eventless["reason"].lower()


def test_a_series_in_two_groups_and_a_detector_without_rows_are_missing(tmp_path, monkeypatch, call):
    """Two series with one name in a table need their groups; in long tables a detector may have no rows."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{name},{group},{line.split(',')[0]},{detector},{line.split(',')[at]}"
        for name, group, seed, detectors in (
            ("s", "g", 1, "ab"),
            ("t", "g", 2, "a"),
            ("u", "g", 3, "ab"),
            ("u", "h", 4, "ab"),
        )
        for at, detector in enumerate(detectors, 1)
        for line in lines_of(seed)
    ]
    write_series(tmp_path / "long.csv", rows, "name,group,y,detector,score")
    words = ("--series", "name", "--group", "group", "--truth", "y", "--detector", "detector", "--scores", "score")
    code, out, _ = call("long.csv", *words, *CUT, "-o", "out")
    assert code == 4
    assert out.startswith("3 of 6 cells are missing:\n")
    reasons = failed("out")
    assert set(reasons) == {("t", "b"), ("u", "")}
    assert "group" in reasons["u", ""]


@pytest.mark.usefixtures("files")
def test_a_chunk_that_cannot_be_read_at_all_fails_alone(monkeypatch, call):
    """Nothing of it is drawn for pooling either; the rest has its leaderboard."""
    read = CasesChunk.read

    def broken(chunk, some=None):
        if "s2" in chunk.series:
            raise OSError("the disk is gone")
        return read(chunk, some)

    monkeypatch.setattr(CasesChunk, "read", broken)
    code, out, _ = call("study.csv", *COLUMNS, *CUT, "-o", "out")
    assert code == 4
    assert out.startswith("2 of 12 cells are missing:\n2: OSError: the disk is gone")
    assert set(failed("out")) == {("s2", "")}
