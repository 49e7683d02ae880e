"""Folders of files by patterns, what of a source is not used, and warm-ups by series."""

import gzip
import io
import json
import sys
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import main
from nofluke.data.tables import kept_connection
from nofluke.errors import InputError
from nofluke.studies.cases import Fault
from nofluke.studies.sources import read_source
from nofluke.studies.sources.folders import Pattern

FOLDERS = {"layout": "folders", "pattern": "{group}/{detector}/score/{series}.*"}


def cases_of(source):
    """All cases by series, each of which can be read alone."""
    found = {case.series: case for chunk in source.parts for case in chunk.read()}
    alone = [case.series for chunk in source.parts for name in chunk.series for case in chunk.read({name})]
    assert alone == list(found)
    return found


def as_bytes(values, kind):
    """A column of values as one kind of file holds it."""
    if kind == "npy":
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(values))
        return buffer.getvalue()
    if kind == "parquet":
        return pd.DataFrame({"v": values}).to_parquet()
    return "".join(f"{value}\n" for value in values).encode()


def write(path, values, kind):
    """A file that ends as its kind says, zipped or gzipped if that ends so."""
    path = path.with_name(f"{path.name}.{kind}")
    path.parent.mkdir(parents=True, exist_ok=True)
    content = as_bytes(values, kind.split(".")[0])
    if kind.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(path.name.removesuffix(".zip"), content)
    else:
        path.write_bytes(gzip.compress(content) if kind.endswith(".gz") else content)


def archive(root, kind="csv", n=40):
    """Two groups, three series, two detectors; series x is in both groups."""
    rng = np.random.default_rng(0)
    made = {}
    for group, series in (("g", "x"), ("g", "y.v1"), ("h", "x")):
        labels = (rng.random(n) < 0.2).astype(int)
        scores = {detector: rng.random(n).round(4) for detector in ("a", "b")}
        made[group, series] = labels, scores
        for detector, values in scores.items():
            write(root / "scores" / group / detector / "score" / series, values, kind)
        write(root / "labels" / group / series, labels, "csv")
    return made


@pytest.mark.parametrize("kind", ["csv", "txt", "npy", "parquet", "csv.zip", "npy.zip", "parquet.zip", "txt.gz"])
def test_files_of_every_kind_give_the_same_series(tmp_path, kind):
    """Text, arrays and Parquet, packed or not; series of one name in two groups are called by both."""
    made = archive(tmp_path, kind)
    read = read_source(tmp_path / "scores", **FOLDERS, labels=f"{tmp_path}/labels/{{group}}/{{series}}.csv")
    assert read.detectors == ("a", "b")
    assert read.unused == ()
    cases = cases_of(read)
    assert {name: case.group for name, case in cases.items()} == {"g/x": "g", "h/x": "h", "y.v1": "g"}
    for (group, series), (labels, scores) in made.items():
        case = cases[series if series == "y.v1" else f"{group}/{series}"]
        assert case.truth.tolist() == labels.tolist()
        assert {name: found.tolist() for name, found in case.detectors.items()} == {
            name: found.tolist() for name, found in scores.items()
        }


@pytest.mark.parametrize(
    "how", ["true", "column", "position", "array", "beside", "table", "columns", "by group", "ranges"]
)
def test_labels_may_be_anywhere(tmp_path, how):
    """In files of their own, of one column or several; beside the scores; or in one table for many series."""
    made = archive(tmp_path)
    labels, asked, source = tmp_path / "labels", {}, {**FOLDERS}
    own = {key: found[0] for key, found in made.items()}
    path = f"{labels}/{{group}}/{{series}}.csv"
    for (group, series), truth in own.items():
        file = labels / group / f"{series}.csv"
        if how == "true":
            file.write_text("".join(f"{bool(one)}\n" for one in truth))
        elif how in ("column", "position"):
            rows = "".join(f"{0.5 + at},{one}\n" for at, one in enumerate(truth))
            file.write_text(("value,label\n" if how == "column" else "") + rows)
            asked = {"truth": "label" if how == "column" else "1"}
        elif how == "array":
            np.save(labels / group / f"{series}.npy", np.stack([np.arange(len(truth)), truth], axis=1))
            path, asked = f"{labels}/{{group}}/{{series}}.npy", {"truth": "1"}
        elif how == "beside":
            for detector, scores in made[group, series][1].items():
                frame = pd.DataFrame({"z": scores, "y": truth})
                frame.to_csv(tmp_path / "scores" / group / detector / "score" / f"{series}.csv", index=False)
            asked = {"truth": "y", "score_column": "z"}
    rows = [(key[1], one) for key, truth in own.items() if key != ("h", "x") for one in truth]
    if how == "table":
        pd.DataFrame(rows, columns=["name", "y"]).to_csv(tmp_path / "all.csv", index=False)
        path, asked = f"{tmp_path}/all.csv", {"series": "name", "truth": "y"}
    elif how == "columns":
        pd.DataFrame({key[1]: truth for key, truth in own.items() if key[0] == "g"}).to_csv(
            tmp_path / "all.csv", index=False
        )
        path = f"{tmp_path}/all.csv"
    elif how == "by group":
        for group in "gh":
            pd.DataFrame({key[1]: truth for key, truth in own.items() if key[0] == group}).to_csv(
                labels / group / "all.csv", index=False
            )
        path = f"{labels}/{{group}}/all.csv"
    ranges = None
    if how == "ranges":
        ranges = {name: [(3, 4)] for name in ("g/x", "y.v1", "h/x")}
    if how in ("table", "columns"):
        source["pattern"] = "g/{detector}/score/{series}.csv"
    given_labels = None if how in ("beside", "ranges") else path
    cases = cases_of(read_source(tmp_path / "scores", **source, labels=given_labels, ranges=ranges, **asked))
    assert len(cases) == (2 if how in ("table", "columns") else 3)
    for case in cases.values():
        if how == "ranges":
            assert len(case.truth) == 1
            continue
        key = ("h" if case.series == "h/x" else "g", case.series.split("/")[-1])
        assert np.asarray(case.truth).astype(int).tolist() == own[key].tolist()
        assert case.detectors["b"].tolist() == made[key][1]["b"].tolist()


def test_groups_of_labels_count_where_scores_have_none(tmp_path):
    """Scores by detector and series, labels in the folders of data sets."""
    labels = [0, 1, 0, 0, 1]
    for group, series in (("g", "x"), ("h", "y")):
        write(tmp_path / "labels" / group / series, labels, "csv")
        write(tmp_path / "scores" / series, [0.5, 1, 2, 3, 4], "npy")
    asked = {"layout": "folders", "pattern": "{series}.npy", "labels": f"{tmp_path}/labels/{{group}}/{{series}}.csv"}
    read = read_source(tmp_path / "scores", **asked)
    assert read.detectors == ("scores",)
    assert {name: case.group for name, case in cases_of(read).items()} == {"x": "g", "y": "h"}


def test_what_is_not_used_is_named_with_its_reason(tmp_path):
    """Files that fit no pattern, second files of a cell, detectors nobody asked for, and labels without scores."""
    archive(tmp_path)
    scores = tmp_path / "scores"
    for name in ("README.md", "g/notes.txt", "g/a/log.csv"):
        (scores / name).write_text("x\n")
    (scores / ".hidden").write_text("")
    write(scores / "g" / "b" / "score" / "x", [1.0] * 40, "npy")
    write(tmp_path / "labels" / "g" / "lost", [0, 1], "csv")
    asked = {**FOLDERS, "labels": f"{tmp_path}/labels/{{group}}/{{series}}.csv"}
    assert list(read_source(scores, **asked).unused) == [
        "3 files are not used, since their paths do not fit {group}/{detector}/score/{series}.*: such as README.md.",
        "1 file is not used, since another file has scores of the same detector and series: g/b/score/x.csv.",
        "1 file is not used, since they are labels of series without scores: g/lost.csv.",
    ]
    only = read_source(scores, **asked, scores="a")
    assert only.detectors == ("a",)
    assert "3 files are not used, since scores does not name their detectors: such as g/b/score/x.npy." in only.unused


def test_scores_as_text_are_read_in_tsb_ads_folders(tmp_path):
    """They used to vanish without a word where others are arrays."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "s.csv").write_text("v,Label\n1,0\n2,1\n3,0\n")
    write(tmp_path / "score" / "arrays" / "s", [1.0, 2.0, 3.0], "npy")
    write(tmp_path / "score" / "texts" / "s", [3.0, 2.5, 1.0], "csv")
    (tmp_path / "score" / "texts" / "s.log").write_text("took 3 s\n")
    read = read_source(tmp_path / "score", layout="tsb-ad", data=tmp_path / "data")
    assert read.detectors == ("arrays", "texts")
    assert cases_of(read)["s"].detectors["texts"].tolist() == [3.0, 2.5, 1.0]
    assert len(read.unused) == 1
    assert "texts/s.log" in read.unused[0]


def test_columns_and_files_nobody_asks_for_are_in_the_leaderboard(tmp_path, capsys):
    """Of a frame, of tables in a folder, and of files for each series: in its notes, and in the opened study's."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"s": ["p"] * 50 + ["q"] * 50, "y": [0, 0, 0, 1, 0] * 20, "z": rng.random(100), "value": 1, "w": 2}
    )
    asked = {"truth": "y", "scores": "z", "budget": "10%", "null": "permutation", "workers": 1}
    told = "2 columns are not used, since no argument names them: 'value', 'w'."
    found = nf.study(frame, series="s", **asked)
    assert found.unused == (told,)
    assert told in found.leaderboard().about.notes
    folder = tmp_path / "tables"
    folder.mkdir()
    frame.to_csv(folder / "t.csv", index=False)
    (folder / "README.txt").write_text("about\n")
    files = "1 file is not used, since their names do not end as those of tables do: README.txt."
    found = nf.study(folder, series="s", out=tmp_path / "out", **asked)
    assert found.unused == (files, told)
    assert nf.Study.open(tmp_path / "out").unused == (files, told)
    (folder / "new.txt").write_text("another\n")  # what is not used is no reason to start over
    assert len(nf.study(folder, series="s", out=tmp_path / "out", **asked).unused) == 2
    with pytest.raises(SystemExit):
        main(
            [
                "study",
                str(folder),
                "--series",
                "s",
                "--truth",
                "y",
                "--scores",
                "z",
                "--budget",
                "10%",
                "--workers",
                "1",
                "--format",
                "csv",
            ]
        )
    assert f"Note: {told}" in capsys.readouterr().err
    (tmp_path / "each").mkdir()
    for name, rows in frame.groupby("s"):
        rows.to_csv(tmp_path / "each" / f"{name}.csv", index=False)
    notes = nf.study(tmp_path / "each", **asked).leaderboard().about.notes
    assert notes[0] == "On 2 series: Its files have columns that are not used: 's', 'value', 'w'."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"pattern": None},
            r"pattern is missing: say how the paths of scores are made, such as '{detector}/{series}.csv'",
        ),
        ({"pattern": 3}, "pattern=3 must be text"),
        ({"pattern": ""}, "pattern='' is no path below source: begin with a folder or file in it"),
        ({"pattern": "/{detector}/{series}.csv"}, "pattern='/{detector}/{series}.csv' is no path below source"),
        ({"pattern": "../scores/{series}.csv"}, "is no path below source"),
        ({"pattern": "g/{detector}/../{series}.csv"}, "is no path below source"),
        ({"pattern": "{detector}/*.csv"}, r"has no {series} in it: say which part of a path names the series"),
        ({"pattern": "{det}/{series}"}, r"has '{det}' in it, which is none of {series}, {detector}, {group}"),
        ({"pattern": "{series"}, "has '{series' in it, which is none of"),
        ({"pattern": "{detector}/{series}.csv"}, "fits none of the 6 files in .*such as 'g/a/score/x.csv'"),
        ({"labels": None}, r"labels is missing: say where labels are, such as 'labels/{series}.csv', or pass truth="),
        ({"labels": "nowhere/{series}.csv"}, "is not a folder: name a folder that is there"),
        (
            {"labels": "LABELS/{group}/{detector}/{series}.csv"},
            "has '{detector}' in it, which is none of {series}, {gr",
        ),
        ({"labels": 5}, r"labels=5 must be a path: say where labels are, such as 'labels/{series}.csv'"),
        ({"labels": ["LABELS/{series}.csv"]}, r"labels=\['LABELS/{series}.csv'\] must be a path"),
        ({"labels": ""}, "labels='' names no file"),
        (
            {"labels": "LABELS/g/*.csv"},
            r"labels='.*/labels/g/\*.csv' names neither {series} nor {group}: write {series}",
        ),
        ({"labels": "LABELS"}, "labels='.*/labels' is a folder: say how the paths in it are made"),
        ({"labels": "LABELS/all.csv"}, "labels='.*/labels/all.csv' is no file that is there: check the path"),
        (
            {"labels": "LABELS/*/{series}.csv"},
            "labels='.*' has labels of 'x' once, but there are 'g/x' and 'h/x': write {gr",
        ),
        ({"labels": "SCORES/{group}/{detector}/{series}.csv"}, "has '{detector}' in it"),
        (
            {"labels": "SCORES/{group}/*/score/{series}.csv", "pattern": "{group}/{detector}/score/{series}.csv"},
            "fits no file in .*scores' other than those that hold events: write it",
        ),
        (
            {"series": "s"},
            "series='s' names a column of one table of labels, or of ranges=, and there is none: leave it",
        ),
        ({"labels": "LABELS/{group}/{series}.npy"}, "has no labels of a series that has scores, such as 'x'"),
        ({"labels": "LABELS/{group}/{series}.csv", "ranges": {}}, "pass either labels= or ranges=, not both"),
        ({"data": "LABELS"}, "data='.*' has no place in layout='folders'"),
        ({"layout": "nab"}, "pattern='.*' has no place in layout='nab'"),
        ({"layout": "wide", "series": "s", "truth": "y"}, "pattern='.*' has no place in layout='wide'"),
        ({"score_column": "z"}, r"score.x.csv has no column 'z' \(for score_column\): the file has no header, so give"),
        (
            {"truth": "z"},
            r"x.csv has no column 'z' \(for truth\): the file has no header, so give a position from 0 to 0",
        ),
        ({"labels": None, "truth": "y"}, r"score.x.csv has no column 'y' \(for truth\)"),
        ({"score_column": 7}, "score_column=7 must be the name of a column"),
        ({"scores": "c"}, "scores='c' is not one of the detectors 'a', 'b'"),
    ],
)
def test_patterns_that_fit_nothing_are_errors(tmp_path, changes, words):
    """Before anything is read, with what to do about it."""
    archive(tmp_path)
    asked = {**FOLDERS, "labels": f"{tmp_path}/labels/{{group}}/{{series}}.csv", **changes}
    for name in ("labels", "data"):
        if isinstance(asked.get(name), str):
            asked[name] = asked[name].replace("LABELS", f"{tmp_path}/labels").replace("SCORES", f"{tmp_path}/scores")
    with pytest.raises(InputError, match=words):
        read_source(tmp_path / "scores", **asked)


@pytest.mark.parametrize("how", ["folder", "two names", "table", "by group", "ranges"])
def test_what_holds_events_is_no_detector_and_not_unused(tmp_path, how):
    """Labels and ranges may lie among the scores, and be called like these; and scores among the labels."""
    archive(tmp_path, "csv")
    scores, labels = tmp_path / "scores", tmp_path / "labels"
    inside = scores / "g" / "truth" / "score"
    asked = {**FOLDERS, "labels": f"{scores}/{{group}}/truth/score/{{series}}.csv"}
    for group in "gh":
        (scores / group / "truth").mkdir()
        (labels / group).rename(scores / group / "truth" / "score")
    if how == "two names":
        (tmp_path / "linked").symlink_to(scores)
        asked["labels"] = f"{tmp_path}/linked/../scores/{{group}}/truth/score/{{series}}.csv"
    elif how == "table":
        pd.DataFrame({"g/x": [0, 1] * 20, "h/x": 0, "y.v1": 0}).to_csv(inside / "all.csv", index=False)
        asked["labels"] = inside / "all.csv"
    elif how == "by group":
        asked["labels"] = f"{scores}/{{group}}/truth/score/all.csv"
        for group in "gh":
            table = pd.DataFrame({"x": [0, 1] * 20, **({"y.v1": 0} if group == "g" else {})})
            table.to_csv(scores / group / "truth" / "score" / "all.csv", index=False)
    elif how == "ranges":
        rows = "".join(f"{name},3,4\n" for name in ("g/x", "h/x", "y.v1"))
        (inside / "events.csv").write_text(f"series,start,end\n{rows}")
        asked |= {"labels": None, "ranges": inside / "events.csv"}
    if how not in ("folder", "two names"):
        for path in [path for path in scores.glob("*/truth/score/*") if path.name not in ("all.csv", "events.csv")]:
            path.unlink()
    read = read_source(scores, **asked)
    assert (read.detectors, read.unused) == (("a", "b"), ())
    assert set(cases_of(read)) == {"g/x", "h/x", "y.v1"}
    if how == "folder":  # the other way round
        write(tmp_path / "x", [0, 1] * 20, "csv")
        (tmp_path / "notes.txt").write_text("about\n")
        asked |= {"pattern": "h/{detector}/score/{series}.csv", "scores": "a", "labels": f"{tmp_path}/{{series}}.csv"}
        told = read_source(scores, **asked).unused
        assert "1 file is not used, since they do not fit {series}.csv, the labels: notes.txt." in told


def test_ranges_in_a_folder_of_tables_are_no_series(tmp_path):
    """In the folder, and in what a pattern of it matches; others are."""
    write(tmp_path / "s", ["z", *range(20)], "csv")
    (tmp_path / "windows.csv").write_text("series,start,end\ns,3,4\n")
    for source in (tmp_path, f"{tmp_path}/*.csv"):
        read = read_source(source, ranges=str(tmp_path / "windows.csv"), scores="z")
        assert (list(cases_of(read)), read.unused) == (["s"], ())


def test_what_a_table_of_labels_has_besides_is_named(tmp_path):
    """Columns and rows of no series with scores are not read, whatever they hold; a wrong one is that of its series."""
    for series in "ab":
        write(tmp_path / "s" / "d" / series, [1.0, 2.0, 3.0], "npy")
    asked = {"layout": "folders", "pattern": "{detector}/{series}.npy"}
    (tmp_path / "columns.csv").write_text("a,comment,b,z\n0,fine,no,1\n1,so so,1,1\n0,,0,1\n")
    read = read_source(tmp_path / "s", **asked, labels=tmp_path / "columns.csv")
    told = "2 columns are not used, since no series with scores is called so: such as 'comment' of columns.csv."
    assert read.unused == (told,)
    cases = cases_of(read)
    assert cases["a"].truth.tolist() == [0, 1, 0]
    assert "columns.csv, line 2: column 'b' has 'no' where a number belongs" in cases["b"].truth.reason
    rows = "".join(f"{one},{label},fine\n" for one in "abz" for label in ("xyz" if one == "z" else "010"))
    (tmp_path / "rows.csv").write_text(f"s,y,comment\n{rows}")
    read = read_source(tmp_path / "s", **asked, labels=tmp_path / "rows.csv", series="s", truth="y")
    assert read.unused == (
        "1 column is not used, since no argument names such a column: 'comment' of rows.csv.",
        "1 series is not used, since there are no scores under that name: 'z' of rows.csv.",
    )
    assert [case.truth.tolist() for case in cases_of(read).values()] == [[0, 1, 0]] * 2


@pytest.mark.parametrize(
    ("text", "asked", "words"),
    [
        ("a,a\n0,1\n1,0\n0,0\n", {}, "all.csv has several columns named 'a': keep one"),
        ("s,y\na,0\na,1\na,0\n", {"truth": "y"}, "series is missing, which truth='y' needs in a table of labels: name"),
        ("s,y\na,0\na,1\na,0\n", {"series": "s"}, "truth is missing: name the column of labels in all.csv"),
        ("s,y\na,0\na,1\na,0\n", {"series": "s", "truth": "z"}, r"all.csv has no column 'z' \(for truth\)"),
        (
            "s,y\nb,0\nb,1\nb,0\n",
            {"series": "s", "truth": "y"},
            "has no labels of a series that has scores, such as 'a'",
        ),
        ("y,z\n0,1\n1,0\n0,0\n", {}, "has no labels of a series that has scores, such as 'a': use the same names"),
    ],
)
def test_tables_of_labels_that_fit_nothing_are_errors(tmp_path, text, asked, words):
    """Where a column is missing, or there twice, and where none is of a series."""
    write(tmp_path / "s" / "d" / "a", [1.0, 2.0, 3.0], "npy")
    (tmp_path / "all.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_source(
            tmp_path / "s", layout="folders", pattern="{detector}/{series}.npy", labels=tmp_path / "all.csv", **asked
        )


def test_a_table_of_labels_tells_what_else_each_step_has(tmp_path):
    """Times, test parts and warm-ups, as files of labels for each series do."""
    for series in "ab":
        write(tmp_path / "s" / "d" / series, [1.0, 2.0, 3.0], "npy")
    rows = "".join(
        f"{one},{label},{t},{at}\n" for t in range(3) for at, (one, label) in enumerate([("b", 1), ("a", 0)])
    )
    (tmp_path / "all.csv").write_text(f"s,y,t,w\n{rows}")
    asked = {"layout": "folders", "pattern": "{detector}/{series}.npy", "labels": tmp_path / "all.csv"}
    cases = cases_of(read_source(tmp_path / "s", **asked, series="s", truth="y", times="t", warmup="w"))
    assert {name: (c.truth.tolist(), c.times.tolist(), c.warmup) for name, c in cases.items()} == {
        "a": ([0, 0, 0], [0, 1, 2], 1),
        "b": ([1, 1, 1], [0, 1, 2], 0),
    }


def test_groups_of_tables_of_labels_count_where_scores_have_none(tmp_path):
    """A table for each group, of which each series is in one."""
    for series in "ab":
        write(tmp_path / "s" / series, [1.0, 2.0, 3.0], "npy")
    for group, series in (("g", "a"), ("h", "b")):
        write(tmp_path / "labels" / group, [series, 0, 1, 0], "csv")
    asked = {"layout": "folders", "pattern": "{series}.npy", "labels": f"{tmp_path}/labels/{{group}}.csv"}
    assert {name: case.group for name, case in cases_of(read_source(tmp_path / "s", **asked)).items()} == {
        "a": "g",
        "b": "h",
    }
    write(tmp_path / "labels" / "k", ["b", 0, 1, 0], "csv")
    with pytest.raises(InputError, match=r"has 'h.csv' and 'k.csv', both of series 'b': rename one"):
        read_source(tmp_path / "s", **asked)


@pytest.mark.parametrize("table", [True, False])
def test_a_study_whose_labels_changed_does_not_go_on(tmp_path, table):
    """Also where all are in one table, which is read before the study begins."""
    write(tmp_path / "s" / "d" / "a", np.arange(40.0), "npy")
    labels = np.arange(40) % 7 == 0
    write(tmp_path / "a", [*(["a"] if table else []), *labels.astype(int)], "csv")
    asked = {"layout": "folders", "pattern": "{detector}/{series}.npy", "quantile": 0.8, "workers": 1}
    asked |= {"labels": tmp_path / ("a.csv" if table else "{series}.csv"), "out": tmp_path / "out"}
    nf.study(tmp_path / "s", **asked)
    write(tmp_path / "a", [*(["a"] if table else []), *labels[::-1].astype(int)], "csv")
    with pytest.raises(InputError, match="labels"):
        nf.study(tmp_path / "s", **asked)


def test_links_are_followed_once_and_may_lead_nowhere(tmp_path):
    """To folders, even round in circles; a broken one is a cell that is missing, with its name."""
    for series in "ab":
        write(tmp_path / "far" / "d" / series, [1.0, 2.0, 3.0], "npy")
        write(tmp_path / "labels" / series, [0, 1, 0], "csv")
    scores = tmp_path / "scores"
    write(scores / "e" / "a", [1.0, 2.0, 3.0], "npy")
    (scores / "d").symlink_to(tmp_path / "far" / "d")
    (scores / "again").symlink_to(scores / "e")
    (tmp_path / "far" / "d" / "round").symlink_to(scores)
    (scores / "e" / "b.npy").symlink_to(tmp_path / "nowhere")
    asked = {"layout": "folders", "pattern": "{detector}/{series}.npy", "labels": f"{tmp_path}/labels/{{series}}.csv"}
    read = read_source(scores, **asked)
    assert (read.detectors, read.unused) == (("d", "e"), ())
    cases = cases_of(read)
    assert cases["b"].detectors["d"].tolist() == [1, 2, 3]
    assert cases["b"].detectors["e"].reason == "e/b.npy cannot be read (No such file or directory): check the file."


def test_files_of_several_columns_need_a_name(tmp_path):
    """Which of them is meant is not guessed, in text and in arrays."""
    for kind, content in (("csv", "a,b\n1,0.5\n2,0.25\n"), ("npy", None)):
        place = tmp_path / kind / "d"
        place.mkdir(parents=True)
        if content:
            (place / "s.csv").write_text(content)
        else:
            np.save(place / "s.npy", np.array([[1.0, 0.5], [2.0, 0.25]]))
        asked = {"layout": "folders", "pattern": "{detector}/{series}.*", "ranges": {"s": [(0, 0)]}}
        with pytest.raises(InputError, match=r"columns.*name the one that counts by score_column="):
            read_source(tmp_path / kind, **asked)
        case = cases_of(read_source(tmp_path / kind, **asked, score_column="1" if kind == "npy" else "b"))["s"]
        assert case.detectors["d"].tolist() == [0.5, 0.25]
        assert case.notes[0].startswith("Its files have columns that are not used: ")


def test_a_column_of_scores_is_one_that_is_there(tmp_path):
    """With what there is, and what may be meant; one detector's files may lack it, and arrays of one column, too."""
    asked = {"layout": "folders", "pattern": "{detector}/{series}.*", "ranges": {"s": [(0, 0)]}}
    for detector in "de":
        (tmp_path / detector).mkdir()
        (tmp_path / detector / "s.csv").write_text("score,level\n1,0.5\n2,0.25\n")
    told = r"d/s.csv has no column 'scc' \(for score_column\): did you mean 'score'\? The columns are 'score', 'level'"
    with pytest.raises(InputError, match=told):
        read_source(tmp_path, **asked, score_column="scc")
    (tmp_path / "d" / "s.csv").unlink()
    write(tmp_path / "d" / "s", [1.0, 2.0], "npy")
    found = cases_of(read_source(tmp_path, **asked, score_column="level"))["s"].detectors
    assert found["d"].reason == "d/s.npy has no column 'level' (for score_column): the columns are '0'."
    assert found["e"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("kind", ["npy", "npy.zip", "csv", "csv.zip", "table"])
def test_arrays_need_no_duckdb_and_other_files_say_so_at_once(tmp_path, kind, monkeypatch):
    """NumPy alone reads its arrays; nothing else is found out cell by cell."""
    rng = np.random.default_rng(1)
    for series in "ab":
        for detector in "de":
            write(tmp_path / "s" / detector / series, rng.random(60), "csv.zip" if kind == "csv.zip" else "npy")
        write(tmp_path / "y" / series, rng.random(60) < 0.2, "npy.zip" if kind == "npy.zip" else "npy")
    write(tmp_path / "all", ["a", *[0, 1] * 30], "csv")
    if kind == "csv":  # of the last detector and series
        (tmp_path / "s" / "e" / "b.npy").unlink()
        write(tmp_path / "s" / "e" / "b", rng.random(60), "csv")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setattr("nofluke.data.tables._KEPT", threading.local())
    labels = tmp_path / "all.csv" if kind == "table" else f"{tmp_path}/y/{{series}}.*"
    asked = {"layout": "folders", "pattern": "{detector}/{series}.*", "labels": labels, "quantile": 0.9, "workers": 1}
    if kind.startswith("npy"):
        assert nf.study(tmp_path / "s", **asked).n_missing == 0
        return
    with pytest.raises(InputError, match=r"needs duckdb, which is not installed: pip install 'nofluke\[files\]'"):
        nf.study(tmp_path / "s", **asked)


def test_what_cannot_be_read_stays_with_its_cell(tmp_path):
    """Zips of none or two files, with a password or cut off; objects that would be unpickled; other lengths."""
    scores = tmp_path / "d"
    scores.mkdir()
    for name, members in (("none", 0), ("two", 2)):
        with zipfile.ZipFile(scores / f"{name}.zip", "w") as packed:
            for at in range(members):
                packed.writestr(f"{at}.csv", "1\n")
    (scores / "cut.zip").write_bytes(b"PK\x03\x04cut")
    np.save(scores / "pickle.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    write(scores / "short", [1.0, 2.0], "csv")
    write(scores / "fine", [1.0, 2.0, 3.0], "csv")
    (tmp_path / "labels").mkdir()
    for name in ("none", "two", "cut", "pickle", "short", "fine"):
        (tmp_path / "labels" / f"{name}.txt").write_text("0\n1\n0\n")
    asked = {"layout": "folders", "pattern": "d/{series}.*", "labels": f"{tmp_path}/labels/{{series}}.txt"}
    cases = {name: case.detectors[tmp_path.name] for name, case in cases_of(read_source(tmp_path, **asked)).items()}
    told = {name: found.reason for name, found in cases.items() if isinstance(found, Fault)}
    assert told == {
        "cut": "d/cut.zip cannot be unpacked (File is not a zip file): check the file.",
        "none": "d/none.zip holds 0 files where one belongs: unpack it first.",
        "pickle": told["pickle"],
        "short": 'd/short.csv has 2 scores for 3 steps: give each step one, or pass align="end".',
        "two": "d/two.zip holds 2 files where one belongs: unpack it first.",
    }
    assert "cannot be read as an array of NumPy" in told["pickle"]
    assert cases["fine"].tolist() == [1, 2, 3]


NAMES = st.text(st.sampled_from("ab.-_ é1"), min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))


@given(NAMES, NAMES, NAMES, st.sampled_from([".csv", ".npy", ".out.zip"]))
def test_patterns_find_the_names_that_made_a_path(group, detector, series, ending):
    """Whatever is in them but a slash, with the ending that the pattern names."""
    pattern = Pattern.of(f"{{group}}/{{detector}}/score/{{series}}{ending}")
    found = pattern.match(f"{group}/{detector}/score/{series}{ending}")
    assert found == {"group": group, "detector": detector, "series": series}
    assert pattern.match(f"{group}/{detector}/{series}{ending}") is None


@pytest.mark.parametrize("layout", ["wide", "long", "folders"])
def test_ranges_without_a_clock_do_not_say_where_shorter_scores_belong(tmp_path, layout):
    """Said before anything is read: the longest scores may be shorter than their series, too."""
    table, asked = {"s": [*"aaaaa"], "z": [1.0, 2, 3, 4, 5], "d": ["d"] * 5}, {"series": "s", "scores": "z"}
    asked |= {"long": {"detector": "d"}, "folders": {"pattern": "{series}.npy"}}.get(layout, {})
    with pytest.raises(
        InputError, match=r"align='end' needs the number of steps, which ranges do not tell: pass times="
    ):
        nf.study(table, **asked, layout=layout, ranges={"a": [(3, 3)]}, threshold=4, align="end", workers=1)


@pytest.mark.parametrize("align", ["start", "end", "center"])
def test_shorter_scores_are_placed_in_studies_as_in_evaluate(tmp_path, align):
    """In folders, and in long tables, where the rows of a detector are those of the steps it covers."""
    rng = np.random.default_rng(5)
    labels, full, short = (rng.random(60) < 0.2).astype(int), rng.random(60), rng.random(51)
    write(tmp_path / "labels" / "s", labels, "csv")
    write(tmp_path / "scores" / "full" / "s", full, "npy")
    write(tmp_path / "scores" / "short" / "s", short, "npy")
    asked = {"layout": "folders", "pattern": "{detector}/{series}.npy", "labels": f"{tmp_path}/labels/{{series}}.csv"}
    cut = {"quantile": 0.8, "tolerance": 1, "workers": 1, "metrics": ["auc-roc"]}
    study = nf.study(tmp_path / "scores", **asked, **cut, align=align)
    first = {"start": 0, "end": 9, "center": 4}[align]
    steps = {"full": np.arange(60), "short": np.arange(first, first + 51)}
    rows = {
        "s": ["s"] * 111,
        "d": ["short"] * 51 + ["full"] * 60,
        "t": np.concatenate([steps["short"], steps["full"]]),
        "y": np.concatenate([labels[steps["short"]], labels]),
        "z": np.concatenate([short, full]),
    }
    long = nf.study(rows, series="s", detector="d", times="t", truth="y", scores="z", **cut, align=align)
    for name, scores in (("full", full), ("short", short)):
        expected = nf.evaluate(labels, scores, quantile=0.8, tolerance=1, align=align, rng=0)
        value = nf.significance("auc-roc", labels, scores, align=align, rng=0).value
        for found in (study, long):
            cell = found.cell("s", name)
            assert (cell["recall_hits"], cell["n"], cell["verdict"]) == (
                expected.recall_hits,
                expected.n,
                expected.verdict,
            )
            assert cell["recall_pvalue"] == expected.recall_test.pvalue or found is long
            assert cell["auc-roc"] == value
    assert study.n_missing == long.n_missing == 0
    without = nf.study(tmp_path / "scores", **asked, **cut)
    assert 'or pass align="end"' in without.failed["reason"][0]


@pytest.mark.parametrize("how", ["mapping", "column", "file", "labels", "command line"])
def test_a_warm_up_by_series_is_that_of_each(tmp_path, how, capsys):
    """By a mapping, or by a column of a frame, of files, and of labels: steps or shares."""
    rng = np.random.default_rng(2)
    warm = {"p": 10, "q": 0.25, "r": 0}
    frame = pd.DataFrame(
        {
            "s": np.repeat(list(warm), 60),
            "y": (rng.random(180) < 0.2).astype(int),
            "z": rng.random(180),
            "warm": np.repeat(list(warm.values()), 60),
        }
    )
    source, asked = frame, {"series": "s", "truth": "y", "scores": "z", "warmup": "warm"}
    if how == "mapping":
        asked["warmup"] = {"p": 10, "q": "25%"}
    elif how in ("file", "labels", "command line"):
        for name, rows in frame.groupby("s"):
            rows.to_csv(tmp_path / f"{name}.csv", index=False)
            write(tmp_path / "scores" / name, rows["z"], "csv")
        source = tmp_path / "scores" if how == "labels" else str(tmp_path / "*.csv")
        asked.pop("series")
        if how == "labels":
            asked |= {
                "layout": "folders",
                "pattern": "{series}.csv",
                "labels": f"{tmp_path}/{{series}}.csv",
                "scores": None,
            }
    if how == "command line":
        options = ["--truth", "y", "--scores", "z", "--warmup", "warm", "--quantile", "0.9", "--workers", "1"]
        with pytest.raises(SystemExit):
            main(["study", source, *options, "-o", str(tmp_path / "out")])
        found = nf.Study.open(tmp_path / "out")
    else:
        found = nf.study(source, **asked, quantile=0.9, workers=1)
    detector = found.detectors[0]
    for name, warmup in warm.items():
        rows = frame[frame["s"] == name]
        expected = nf.evaluate(rows["y"].to_numpy(), rows["z"].to_numpy(), quantile=0.9, warmup=warmup)
        cell = found.cell(name, detector)
        assert (cell["n"], cell["n_events"], cell["threshold"]) == (expected.n, expected.n_events, expected.threshold)
    told = found._settings["warmup"]
    assert ("25%" in told) if how == "mapping" else told == "warm"


def test_a_column_may_be_called_like_a_number(tmp_path, capsys):
    """Behind "column:", in Python and on the command line, for warm-ups and test parts."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"s": [*"p" * 60, *"q" * 60], "y": rng.random(120) < 0.1, "z": rng.random(120)})
    table["150"], table["2024"] = np.repeat([10, 20], 60), np.tile([0] * 15 + [1] * 45, 2)
    table.astype({"y": int}).to_csv(tmp_path / "t.csv", index=False)
    asked = {"series": "s", "truth": "y", "scores": "z", "quantile": 0.9, "workers": 1}
    options = ["--series", "s", "--truth", "y", "--scores", "z", "--quantile", "0.9", "--workers", "1"]
    for name, column, left in (("warmup", "150", [50, 40]), ("test_part", "2024", [45, 45])):
        found = nf.study(table, **asked, **{name: f"column:{column}"})
        assert found.cells["n"].tolist() == left
        out, flag = tmp_path / name, f"--{name.replace('_', '-')}"
        with pytest.raises(SystemExit):
            main(["study", str(tmp_path / "t.csv"), *options, flag, f"column:{column}", "-o", str(out)])
        assert nf.Study.open(out).cells["n"].tolist() == left
        with pytest.raises(InputError, match=rf"no column 'x' \(for {name}\)"):
            nf.study(table, **asked, **{name: "column:x"})
        with pytest.raises(InputError, match=rf"{name}='' must be the name of a column"):
            nf.study(table, **asked, **{name: "column:"})
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["evaluate", str(tmp_path / "t.csv"), *options[2:-2], "--test-part", "column:2024", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["n"] == 90


@pytest.mark.parametrize(
    ("warmup", "words"),
    [
        ({"p": 3, "w": 3}, "warmup names 'w', not in the study: use the names of the series"),
        ({1: 3}, "warmup has 1 for a series: pass names and warm-ups"),
        ({"p": -3}, "warmup={'p': -3} must be a number of steps, a share"),
        ({"q": 0.5, "p": "soon"}, "warmup={'p': 'soon'} is not a duration"),
        ({"p": "2d"}, "warmup={'p': '2d'} is a length of time, but the data have no clock"),
        ("nothing", r"the frame has no column 'nothing' \(for warmup\)"),
        ("-5", "warmup='-5' is negative"),
        ([1], "warmup"),
    ],
)
def test_warm_ups_that_fit_nothing_are_errors(warmup, words):
    """Before anything is computed."""
    table = {"s": ["p"] * 5 + ["q"] * 5, "y": [0, 1, 0, 0, 0] * 2, "z": range(10), "w": [1, 2, 1, 1, 1] * 2}
    with pytest.raises(InputError, match=words):
        nf.study(
            {**table, "z": list(range(10))}, series="s", truth="y", scores="z", threshold=3, warmup=warmup, workers=1
        )
    found = nf.study(
        {**table, "z": list(range(10))}, series="s", truth="y", scores="z", threshold=3, warmup="w", workers=1
    )
    assert set(found.failed["reason"]) == {"column 'w' has 2 values in this series: it has one warm-up."}


def test_a_process_has_one_connection():
    """Opening one takes longer than reading a small series."""
    with kept_connection() as first, kept_connection() as second:
        assert first is second
