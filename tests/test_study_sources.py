"""Sources of a study: whatever holds them, the same series come out, and what is wrong with one stays with that one."""

import gzip
import json
import os
import pickle
import re
import shutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.arrays import same
from nofluke.errors import InputError
from nofluke.studies.cases import Fault
from nofluke.studies.sources import chunks, read_source, tables
from nofluke.studies.sources import chunks as chunking

WIDE = {"series": "s", "group": "g", "truth": "y", "scores": ["a", "b"]}


def wide_frame(names=("x", "y10", "y9"), steps=6):
    """A wide table of a few series; series i has its event at step i."""
    rng = np.random.default_rng(1)
    n = len(names)
    return pd.DataFrame(
        {
            "s": np.repeat(names, steps),
            "g": np.repeat([name[0] for name in names], steps),
            "t": np.tile(np.arange(steps) * 10, n),
            "y": (np.tile(np.arange(steps), n) == np.repeat(np.arange(n), steps)).astype(int),
            "a": rng.random(n * steps),
            "b": rng.random(n * steps),
        }
    )


def cases_of(source):
    """All cases by series, from chunks that were sent somewhere."""
    parts = pickle.loads(pickle.dumps(source.parts))
    cases = [case for chunk in parts for case in chunk.read()]
    assert [case.series for case in cases] == [name for chunk in parts for name in chunk.series]
    found = {case.series: case for case in cases}
    assert len(found) == len(cases), "names must be unique"
    assert all(tuple(case.detectors) == source.detectors for case in cases)
    return found


def values(case):
    """What a case holds, as plain values; a fault as its reason."""

    def plain(part):
        return (
            part.reason if isinstance(part, Fault) else None if part is None else np.asarray(part, dtype=float).tolist()
        )

    return (
        case.group,
        plain(case.truth),
        plain(case.times),
        {name: plain(part) for name, part in case.detectors.items()},
    )


def expected(frame, times=None, group="g"):
    """Row by row: what each series of a wide frame holds."""
    found = {}
    for name, rows in frame.groupby("s", sort=False):
        clock = None if times is None else rows[times].astype(float).tolist()
        scores = {column: rows[column].astype(float).tolist() for column in ("a", "b")}
        found[name] = (rows["g"].iloc[0] if group else name, rows["y"].astype(float).tolist(), clock, scores)
    return found


def long_frame(frame):
    """The same as one row for each step and detector."""
    return frame.melt(id_vars=["s", "g", "t", "y"], value_vars=["a", "b"], var_name="d", value_name="z")


def written(frame, folder, kind):
    """The path of a frame in a file of one kind."""
    path = folder / f"study.{kind}"
    if kind == "parquet":
        frame.to_parquet(path, row_group_size=4)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return path


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict", "parquet", "csv", "csv.gz", "tsv"])
@pytest.mark.parametrize("order", ["together", "scattered", "long", "long, detectors apart"])
def test_every_container_gives_the_same_series(tmp_path, kind, order, monkeypatch):
    """Frames and files, wide and long, whatever the order of rows."""
    frame = wide_frame()
    asked = {"series": "s", "group": "g", "truth": "y", "times": "t", "scores": ["a", "b"]}
    table = frame
    if order == "scattered":
        table = frame.sort_values("t", kind="stable")
    elif order.startswith("long"):
        asked |= {"scores": "z", "detector": "d"}
        table = long_frame(frame)
        table = table if order.endswith("apart") else table.sort_values("s", kind="stable")
    table = table.reset_index(drop=True)
    memory = {
        "pandas": table,
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table),
        "dict": dict(table),
    }
    source = memory[kind] if kind in memory else str(written(table, tmp_path, kind))
    monkeypatch.setattr(chunks, "LEAST_CHUNKS", 1)
    monkeypatch.setattr(chunks, "MOST_SERIES", 2)
    read = read_source(source, **asked)
    assert read.detectors == ("a", "b")
    assert {name: values(case) for name, case in cases_of(read).items()} == expected(frame, "t")
    assert [len(chunk.series) for chunk in read.parts] == [2, 1]
    some = {"y10", "y9"}
    again = [values(case) for chunk in read.parts for case in chunk.read(some)]
    assert again == [one for name, one in expected(frame, "t").items() if name in some]


def test_scattered_rows_of_a_file_keep_their_order(tmp_path):
    """Also where no clock could put them right, and names sort unlike they appear."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"s": rng.choice(["b", "a", "c"], 5_000), "y": 0, "a": np.arange(5_000.0)})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=700)
    cases = cases_of(read_source(tmp_path / "t.parquet", series="s", truth="y", scores="a"))
    for name, rows in frame.groupby("s"):
        assert cases[name].detectors["a"].tolist() == rows["a"].tolist()


@given(st.lists(st.tuples(st.sampled_from("uvw"), st.booleans(), st.floats(0, 1)), min_size=1, max_size=30))
def test_rows_of_a_series_keep_their_order(rows):
    """However the rows of series are mixed, each has its own, in the order of the table."""
    oracle = {}
    for name, label, score in rows:
        oracle.setdefault(name, []).append((label, score))
    names, labels, scores = (list(column) for column in zip(*rows, strict=True))
    read = read_source({"s": names, "y": labels, "z": scores}, series="s", truth="y", scores="z")
    found = {name: list(zip(case.truth, case.detectors["z"], strict=True)) for name, case in cases_of(read).items()}
    assert found == oracle
    assert list(found) == list(oracle)


@given(st.lists(st.integers(0, 3_000_000), max_size=300))
def test_chunks_hold_each_series_once(sizes):
    """In order, none empty, and none large unless one series is."""
    parts = chunks.cut(sizes)
    assert [at for part in parts for at in range(len(sizes))[part]] == list(range(len(sizes)))
    assert all(part.start < part.stop for part in parts)
    assert all(sum(sizes[part]) <= 2_000_000 or part.stop - part.start == 1 for part in parts)


def test_a_chunk_of_parquet_reads_its_own_rows_only(tmp_path):
    """What lies elsewhere in the file may be broken: the chunk does not look at it."""
    frame = wide_frame(names=[f"n{i}" for i in range(50)], steps=40)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=200, compression="none", use_dictionary=["s", "g"])
    read = read_source(tmp_path / "t.parquet", **WIDE)
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    at = data.index(frame["a"].to_numpy()[1_000:1_010].tobytes())  # scores of series n25 and on
    data[at - 60 : at] = b"\xff" * 60  # the header of their page
    (tmp_path / "t.parquet").write_bytes(bytes(data))
    cases = cases_of(read)
    assert values(cases["n3"]) == expected(frame)["n3"]
    assert "t.parquet cannot be read as Parquet" in cases["n26"].detectors["a"].reason
    assert not isinstance(cases["n26"].detectors["b"], Fault)


def test_types_are_those_of_single_files(tmp_path):
    """Short floats stay short, labels as text are labels, dates are dates, and empty cells are missing."""
    frame = wide_frame(names=("x", "y"), steps=3)
    frame["a"], frame["y"] = frame["a"].astype(np.float32), [False, True, None, True, False, False]
    frame.to_parquet(tmp_path / "t.parquet")
    case = cases_of(read_source(tmp_path / "t.parquet", **WIDE))["x"]
    assert case.detectors["a"].dtype == np.float32
    assert same(np.asarray(case.truth, dtype=float), np.array([0, 1, np.nan]))
    text = "s,day,y,a\nx,2020-01-01,true,1\nx,2020-01-02,False,\nx,2020-01-03,false,NA\n"
    (tmp_path / "t.csv").write_text(text)
    case = cases_of(read_source(tmp_path / "t.csv", series="s", truth="y", times="day", scores="a"))["x"]
    assert case.times[1] == np.datetime64("2020-01-02")
    assert case.truth.tolist() == [True, False, False]
    assert same(case.detectors["a"], np.array([1, np.nan, np.nan]))


def test_zones_of_times_survive_the_journey(tmp_path):
    """Times with a zone are not compared with ranges without one, in frames and in files."""
    frame = wide_frame(names=("x",))
    frame["t"] = pd.date_range("2024-01-01", periods=6, tz="UTC")
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        for ranges, message in (
            ({"x": [("2024-01-02", "2024-01-03")]}, "time zone"),
            ({"x": [("2024-01-02Z", "2024-01-03Z")]}, None),
        ):
            read = read_source(source, series="s", times="t", ranges=ranges, scores="a")
            case = cases_of(read)["x"]
            arguments = {"times": case.times, "truth_as": case.truth_as, "threshold": 0.5}
            if message is None:
                assert nf.evaluate(case.truth, case.detectors["a"], **arguments).n_events == 1
            else:
                with pytest.raises(InputError, match=message):
                    nf.evaluate(case.truth, case.detectors["a"], **arguments)


def test_rows_are_sorted_by_time_and_it_is_said():
    """Unless two have the same time: then they stay."""
    frame = wide_frame(names=("x", "z"))
    mixed = frame.iloc[[3, 0, 5, 1, 4, 2, *range(6, 12)]].copy()
    cases = cases_of(read_source(mixed, **WIDE, times="t"))
    assert values(cases["x"]) == expected(frame, "t")["x"]
    assert cases["x"].notes == ("Rows were not in time order, and were sorted by time.",)
    assert cases["z"].notes == ()
    mixed["t"] = 5
    assert cases_of(read_source(mixed, **WIDE, times="t"))["x"].detectors["a"].tolist() == mixed["a"].tolist()[:6]


def test_a_series_may_go_on_in_another_file(tmp_path):
    """Rows are joined in the order of the files, and a note says so."""
    frame = wide_frame()
    frame.iloc[:9].to_parquet(tmp_path / "2020.parquet")
    frame.iloc[9:].to_csv(tmp_path / "2021.csv", index=False)
    cases = cases_of(read_source(tmp_path, **WIDE))
    assert {name: values(case) for name, case in cases.items()} == expected(frame)
    assert cases["y10"].notes == ("Its rows come from 2 files: '2020.parquet', '2021.csv'.",)
    assert cases["x"].notes == ()


def test_large_copies_stay_on_disk_as_long_as_the_source(tmp_path, monkeypatch):
    """Text above the limit is not held in memory; the copy goes with the source."""
    monkeypatch.setattr(tables, "SMALL", 0)
    frame = wide_frame()
    read = read_source(written(frame, tmp_path, "csv"), **WIDE)
    copy = read.parts[0].entries[0].pieces[0].file.path
    assert copy.exists()
    assert {name: values(case) for name, case in cases_of(read).items()} == expected(frame)
    parts = read.parts
    read.keeps.cleanup()
    case = next(parts[0].read())
    assert case.truth.reason.startswith("study.csv is out of this worker's reach")
    assert not copy.exists()


@pytest.mark.parametrize("how", ["folder", "glob", "list"])
def test_a_file_may_be_a_series(tmp_path, how):
    """Named by the file, with as much of its path as tells it apart; the folder can be its group."""
    frame = wide_frame(names=("x", "y", "z"))
    for at, (folder, name) in enumerate((("u", "x.csv"), ("v", "x.csv"), ("v", "z.parquet"))):
        (tmp_path / folder).mkdir(exist_ok=True)
        part = frame.iloc[6 * at : 6 * at + 6]
        part.to_csv(tmp_path / folder / name, index=False) if name.endswith("csv") else part.to_parquet(
            tmp_path / folder / name
        )
    (tmp_path / "v" / "_SUCCESS").write_text("")
    every = {"folder": tmp_path, "glob": str(tmp_path / "**" / "*.*"), "list": [tmp_path / "u", tmp_path / "v"]}
    cases = cases_of(read_source(every[how], truth="y", scores=["a", "b"], group="/"))
    assert [(case.series, case.group) for case in cases.values()] == [("u/x", "u"), ("v/x", "v"), ("z", "v")]
    assert [values(case)[1:] for case in cases.values()] == [found[1:] for found in expected(frame).values()]
    assert cases_of(read_source(every[how], truth="y", scores="a", group="g"))["v/x"].group == "y"
    assert cases_of(read_source(every[how], truth="y", scores="a"))["v/x"].group == "v/x"


def test_files_without_a_header_go_by_position(tmp_path):
    """As `evaluate` on the command line does."""
    (tmp_path / "x.csv").write_text("0,0.5\n1,0.75\n")
    case = cases_of(read_source(tmp_path / "x.csv", truth="0", scores="1"))["x"]
    assert case.truth.tolist() == [0, 1]
    assert case.detectors["1"].tolist() == [0.5, 0.75]


RANGES = {"x": [(10, 20)], "y10": [(0, 10), (40, 50)], "y9": []}


@pytest.mark.parametrize("kind", ["dict", "frame", "columns", "csv", "json", "json as NAB"])
def test_events_may_be_listed_apart(tmp_path, kind):
    """Ranges by series, on the clock of numbers; in tables a series without a range has no events, and a note."""
    rows = pd.DataFrame(
        [(name, *ends) for name, found in RANGES.items() for ends in found], columns=["series", "start", "end"]
    )
    rows.to_csv(tmp_path / "r.csv", index=False)
    (tmp_path / "r.json").write_text(json.dumps(RANGES))
    (tmp_path / "n.json").write_text(json.dumps({f"some/{name}.csv": found for name, found in RANGES.items()}))
    given = {
        "dict": RANGES,
        "frame": rows,
        "columns": {name: rows[name].tolist() for name in rows},
        "csv": tmp_path / "r.csv",
        "json": str(tmp_path / "r.json"),
        "json as NAB": tmp_path / "n.json",
    }
    cases = cases_of(read_source(wide_frame(), series="s", times="t", scores="a", ranges=given[kind]))
    found = {
        name: nf.evaluate(
            case.truth,
            case.detectors["a"],
            times=case.times,
            truth_as=case.truth_as,
            threshold=0.5,
            count_events="steps",
        )
        for name, case in cases.items()
    }
    assert {name: result.n_events for name, result in found.items()} == {"x": 2, "y10": 4, "y9": 0}
    noted = kind in ("frame", "columns", "csv")
    assert [bool(case.notes) for case in cases.values()] == [False, False, noted]
    assert "no range of this series" in "".join(cases["y9"].notes) or not noted


def test_single_times_may_be_listed_apart():
    """As in NAB's combined_labels.json; numbers are steps where there is no clock."""
    for asked, expect in (({"times": "t"}, "times"), ({}, "positions")):
        points = {"x": [10], "y10": ["what"], "z": []} if asked else {"x": [1], "y10": ["what"]}
        cases = cases_of(read_source(wide_frame(), series="s", scores="a", ranges=points, **asked))
        assert cases["x"].truth_as == expect
        result = nf.evaluate(
            cases["x"].truth, cases["x"].detectors["a"], times=cases["x"].times, truth_as=expect, threshold=0.5
        )
        assert result.n_events == 1
        assert "text 'what'" in cases["y10"].truth.reason
        other = ", but names 'z', not in the study: use the same names in both" if asked else ""
        assert cases["y9"].truth.reason == f"ranges has no entry for this series{other}."


@pytest.mark.parametrize("kind", ["frame", "file", "file a series"])
def test_a_table_of_ranges_names_no_other_series(tmp_path, kind):
    """A typo would leave its series without events: it is an error before anything is computed, with what was meant."""
    source, asked = wide_frame(), {"series": "s", "scores": "a"}
    if kind == "file":
        source = written(source, tmp_path, "csv")
    elif kind == "file a series":
        for name, rows in source.groupby("s"):
            rows.to_csv(tmp_path / f"{name}.csv", index=False)
        source, asked = tmp_path, {"scores": "a"}
    for names, message in (
        (["x", "Y10"], "ranges names 'Y10', not in the study: did you mean 'y10'?"),
        (["x", "y_9"], "ranges names 'y_9', not in the study: did you mean 'y9'?"),
        (["x", *"pqrst"], "ranges names 'p', 'q', 'r' and 2 more, not in the study: correct the names, or leave out"),
    ):
        ranges = {"series": names, "start": [1] * len(names), "end": [2] * len(names)}
        with pytest.raises(InputError, match=re.escape(message)):
            read_source(source, **asked, ranges=ranges)


def test_ranges_may_name_series_of_a_file_that_cannot_be_read(tmp_path):
    """One corrupt file of many must not stop the others."""
    written(wide_frame(), tmp_path, "csv")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    ranges = {"series": ["x", "lost"], "start": [1, 1], "end": [2, 2]}
    cases = cases_of(read_source(tmp_path, series="s", scores="a", ranges=ranges))
    assert len(cases["x"].truth.starts) == 1
    assert "broken.parquet" in cases["broken.parquet"].truth.reason


def test_a_list_of_more_series_than_there_are_is_noted():
    """NAB's JSON names all of its files, whatever results there are."""
    cases = cases_of(read_source(wide_frame(), series="s", scores="a", ranges={**RANGES, "q": [(1, 2)]}))
    assert {case.notes for case in cases.values()} == {("ranges also names 'q', not in the study.",)}


def nab_folder(root):
    """NAB with two detectors and two series; the second's clock is turned back, and one detector is missing there."""
    days = {
        "real/one": [f"2020-01-0{d} 00:00:00" for d in range(1, 7)],
        "real/two": ["2020-01-01 00:00:00"] * 2 + ["2020-01-02 00:00:00"] * 4,
    }
    for at, detector in enumerate(("null", "skyline")):
        for name, times in days.items():
            path = root / "results" / detector / name.replace("/", f"/{detector}_")
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = "".join(f"{time},1,{step + at},{int(step == 1)},0\n" for step, time in enumerate(times))
            path.with_suffix(".csv").write_text("timestamp,value,anomaly_score,label,S(t)_standard\n" + rows)
        (root / "results" / detector / f"{detector}_standard_scores.csv").write_text("Detector,Score\n")
    (root / "results" / "null" / "real" / "null_two.csv").unlink()
    (root / "labels").mkdir()
    windows = {
        "real/one.csv": [["2020-01-02 00:00:00.000000", "2020-01-03 00:00:00.000000"]],
        "real/two.csv": [["2020-01-02 00:00:00", "2020-01-02 00:00:00"]],
    }
    (root / "labels" / "combined_windows.json").write_text(json.dumps(windows))
    points = {"real/one.csv": ["2020-01-02 00:00:00"], "real/two.csv": ["2020-01-02 00:00:00"]}
    (root / "labels" / "combined_labels.json").write_text(json.dumps(points))
    return root


def test_nabs_folders(tmp_path):
    """Windows by default, points or the label column on request; a clock turned back is left out with a note."""
    root = nab_folder(tmp_path)
    read = read_source(root, layout="nab")
    assert read.detectors == ("null", "skyline")
    cases = cases_of(read)
    one, two = cases["real/one"], cases["real/two"]
    assert (one.group, one.detectors["skyline"].tolist()) == ("real", [1, 2, 3, 4, 5, 6])
    assert (
        nf.evaluate(one.truth, one.detectors["null"], times=one.times, threshold=3, count_events="steps").n_events == 2
    )
    assert two.detectors["null"].reason == "there is no file of this detector."
    assert two.times is None
    assert "do not always increase" in two.notes[0]
    assert nf.evaluate(two.truth, two.detectors["skyline"], threshold=3, count_events="steps").n_events == 4
    cases = cases_of(
        read_source(root / "results", layout="nab", ranges=root / "labels" / "combined_labels.json", scores="sky*")
    )
    assert cases["real/two"].truth.tolist() == [2]
    assert list(cases["real/one"].detectors) == ["skyline"]
    assert cases_of(read_source(root, layout="nab", truth="label"))["real/two"].truth.tolist() == [0, 1, 0, 0, 0, 0]


def test_tsb_ads_folders(tmp_path):
    """Arrays beside tables; rows with a gap, which its detectors never see, are left out; the data set is the group."""
    name = "001_NAB_id_1_Facility_tr_3_1st_4"
    data, scores = tmp_path / "TSB-AD-U", tmp_path / "score"
    data.mkdir()
    (data / f"{name}.csv").write_text("Data,Label\n1,0\n,0\n3,1\n4,0\n")
    (data / "002_UCR_id_2_x.csv").write_text("Data,Label\n1,0\n2,1\n")
    arrays = {"IForest": {name: [0.1, 0.9, 0.2], "002_UCR_id_2_x": [[1.0], [2.0]], "lost": [1.0]}, "LOF": {name: [1.0]}}
    for detector, found in arrays.items():
        (scores / detector).mkdir(parents=True)
        for series, array in found.items():
            np.save(scores / detector / f"{series}.npy", np.array(array))
    (scores / "LOF" / "002_UCR_id_2_x.npy").write_bytes(b"broken")
    cases = cases_of(read_source(scores, layout="tsb-ad", data=data))
    first, second, lost = cases[name], cases["002_UCR_id_2_x"], cases["lost"]
    assert (first.group, first.truth.tolist(), first.detectors["IForest"].tolist()) == (
        "NAB",
        [0, 1, 0],
        [0.1, 0.9, 0.2],
    )
    told = f'LOF/{name}.npy has 1 scores for 3 steps: give each step one, or pass align="end".'
    assert first.detectors["LOF"].reason == told
    assert second.detectors["IForest"].tolist() == [1, 2]
    assert "cannot be read as an array of NumPy" in second.detectors["LOF"].reason
    assert "no CSV of this series" in lost.truth.reason
    with pytest.raises(InputError, match="data is missing: pass the folder of TSB-AD's series"):
        read_source(scores, layout="tsb-ad")


def test_timeevals_folders(tmp_path):
    """Scores of a run beside datasets.csv; what is run in several ways on one data set is as many detectors."""
    runs, data = tmp_path / "2024_01_01", tmp_path / "data"
    data.mkdir()
    header = "collection_name,dataset_name,train_path,test_path\n"
    (data / "datasets.csv").write_text(f"{header}NAB,one,,one.test.csv\nNAB,two,,two.test.csv\n")
    for name in ("one", "two"):
        (data / f"{name}.test.csv").write_text("timestamp,value,is_anomaly\n0,1.5,0\n1,2.5,1\n2,3.5,0\n")
    for run in (
        "kmeans/p1/NAB/one/1",
        "kmeans/p2/NAB/two/1",
        "lof/q1/NAB/one/1",
        "lof/q2/NAB/one/1",
        "lof/q1/UCR/three/1",
    ):
        (runs / run).mkdir(parents=True)
        np.array([0.25, 1.0, len(run)]).tofile(runs / run / "anomaly_scores.ts", sep="\n")
    (runs / "lof/q2/NAB/one/1/anomaly_scores.ts").write_text("0.5\n0.5\n")
    read = read_source(runs, layout="timeeval", data=data, times="timestamp")
    assert read.detectors == ("kmeans", "lof/q1", "lof/q2")
    cases = cases_of(read)
    assert cases["NAB/one"].truth.tolist() == [0, 1, 0]
    assert cases["NAB/one"].times.tolist() == [0, 1, 2]
    assert cases["NAB/two"].detectors["kmeans"].tolist() == [0.25, 1.0, 19.0]
    assert "2 scores for 3 steps" in cases["NAB/one"].detectors["lof/q2"].reason
    assert cases["NAB/two"].detectors["lof/q1"].reason == "there are no scores of this detector."
    assert "does not list this series" in cases["UCR/three"].truth.reason


def test_fingerprints_go_by_what_is_in_the_inputs(tmp_path):
    """Touching, copying and another chunking are no change; another value, column, range or question is one."""
    frame = wide_frame()
    (tmp_path / "one").mkdir()
    path = written(frame, tmp_path / "one", "csv")
    first = read_source(tmp_path / "one", **WIDE).fingerprint
    assert json.loads(json.dumps(first)) == first
    os.utime(path, (1, 1))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert read_source(tmp_path / "one", **WIDE).fingerprint == first
    assert read_source(tmp_path / "two", **WIDE).fingerprint == first
    assert read_source(tmp_path / "two", **{**WIDE, "scores": "a"}).fingerprint != first
    in_memory = read_source(frame, **WIDE).fingerprint
    assert read_source(pl.from_pandas(frame), **WIDE).fingerprint == in_memory
    frame.loc[3, "b"] += 1e-12
    assert read_source(frame, **WIDE).fingerprint != in_memory
    written(frame, tmp_path / "two", "csv")
    assert read_source(tmp_path / "two", **WIDE).fingerprint != first
    asked = {"series": "s", "scores": "a"}
    listed = [read_source(frame, **asked, ranges={**RANGES, "y9": ends}).fingerprint for ends in ([], [(1, 2)])]
    assert listed[0] != listed[1]


def test_large_files_are_told_by_size_and_time(tmp_path, monkeypatch):
    """Reading terabytes to tell whether they changed would take longer than the study."""
    monkeypatch.setattr(chunking, "HASHED", 10)
    path = written(wide_frame(), tmp_path, "csv")
    first = read_source(path, **WIDE).fingerprint
    os.utime(path, (1, 1))
    assert read_source(path, **WIDE).fingerprint != first


def test_one_corrupt_file_of_many_is_one_fault(tmp_path):
    """Not Parquet, cut off, empty, ragged or no text: each is a case of its own, and all others are read."""
    frame = wide_frame(names=[f"n{i}" for i in range(6)])
    for i in range(6):
        frame.iloc[6 * i : 6 * i + 6].to_parquet(tmp_path / f"n{i}.parquet")
    whole = (tmp_path / "n0.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("s,g,y,a,b\n")
    (tmp_path / "ragged.csv").write_text("s,g,y,a,b\nr,r,1,2,3\nr,r,1\n")
    (tmp_path / "binary.csv").write_bytes(b"\0\1\2")
    reasons = {
        "cut": "cut.parquet cannot be read as Parquet",
        "empty": "empty.csv is empty",
        "header": "header.csv has",
        "ragged": "ragged.csv, line 3 has 3 cells where the first row has 5",
        "binary": "binary.csv is neither UTF-8 text nor Parquet",
    }
    for asked in (WIDE, {"truth": "y", "scores": ["a", "b"]}):
        cases = cases_of(read_source(tmp_path, **asked))
        assert sum(not isinstance(case.truth, Fault) for case in cases.values()) == 6
        for name, reason in reasons.items():
            case = next(case for found, case in cases.items() if found.startswith(name))
            assert reason in case.truth.reason
            assert all(isinstance(part, Fault) for part in case.detectors.values())


def test_a_column_of_another_type_or_none_is_a_fault_of_its_series(tmp_path):
    """In one file of many, and in one series of a table."""
    frame = wide_frame()
    for at, name in enumerate(("x", "y10", "y9")):
        part = frame.iloc[6 * at : 6 * at + 6]
        part = part.assign(a=["oops"] * 6) if name == "y10" else part.drop(columns="b") if name == "y9" else part
        part.to_parquet(tmp_path / f"{name}.parquet")
    for asked in (WIDE, {"truth": "y", "scores": ["a", "b"]}, {**WIDE, "scores": "[ab]"}):
        cases = cases_of(read_source(tmp_path, **asked))
        assert "y10.parquet, row 1: column 'a' has 'oops' where a number belongs" in cases["y10"].detectors["a"].reason
        assert cases["y9"].detectors["b"].reason.startswith("y9.parquet has no column 'b'")
        assert not any(isinstance(part, Fault) for part in (*cases["x"].detectors.values(), cases["y9"].detectors["a"]))


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_what_is_wrong_with_a_series_stays_with_it(tmp_path, kind):
    """Text among numbers, no score at all, labels that are none, two groups, no name: each has its reason."""
    frame = wide_frame(names=("text", "void", "label", "groups", "time", "fine", "gaps")).astype(
        {"a": object, "y": object, "t": object}
    )
    rows = {name: frame.index[frame["s"] == name] for name in frame["s"]}
    frame.loc[rows["text"][2], "a"] = "oops"
    frame.loc[rows["void"], "a"] = np.nan
    frame.loc[rows["label"][0], "y"] = "yes"
    frame.loc[rows["groups"][0], "g"] = "other"
    frame.loc[rows["time"][1], "t"] = "noon"
    frame.loc[rows["gaps"][1], "a"] = np.nan
    frame.loc[len(frame)] = [pd.NA, "q", 0, 1, 0.5, 0.5]
    source = frame if kind == "frame" else written(frame, tmp_path, "csv")
    cases = cases_of(read_source(source, **WIDE, times="t"))
    told = "'oops'" if kind == "frame" else "column 'a' has 'oops' where a number belongs"
    assert told in cases["text"].detectors["a"].reason
    assert not isinstance(cases["text"].detectors["b"], Fault)
    assert cases["void"].detectors["a"].reason == "all of its 6 scores are missing."
    assert "'yes'" in cases["label"].truth.reason
    assert "in 2 groups by column 'g' ('g', 'other')" in cases["groups"].truth.reason
    assert "'noon'" in cases["time"].truth.reason
    assert cases["(no name)"].truth.reason == "1 row(s) have no value in column 's': name the series of every row."
    assert values(cases["fine"])[1] == [0, 0, 0, 0, 0, 1]
    assert np.isnan(cases["gaps"].detectors["a"]).sum() == 1  # missing values are for the batch to judge


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_rows_of_detectors_must_agree(tmp_path, kind):
    """In long tables: fewer rows, other times or labels, no row at all."""
    frame = long_frame(wide_frame(names=("rows", "times", "truth", "none", "fine")))
    b, last = frame["d"] == "b", frame["t"] == 50
    frame.loc[b & last & (frame["s"] == "times"), "t"] = 60
    frame.loc[b & last & (frame["s"] == "truth"), "y"] = 1
    frame.loc[b & last & (frame["s"] == "fine"), "d"] = "b"
    frame = frame[~(b & last & (frame["s"] == "rows")) & ~(b & (frame["s"] == "none"))].reset_index(drop=True)
    source = frame if kind == "frame" else written(frame, tmp_path, kind)
    cases = cases_of(read_source(source, series="s", truth="y", times="t", detector="d", scores="z"))
    told = """it has 5 rows where detector 'a' has 6: give both the same steps, or pass align="end"."""
    assert cases["rows"].detectors["b"].reason == told
    assert cases["times"].detectors["b"].reason == "its times differ from those of detector 'a': give both the same."
    assert cases["truth"].detectors["b"].reason == "its labels differ from those of detector 'a': give both the same."
    assert cases["none"].detectors["b"].reason == "there are no scores of this detector."
    assert all(len(case.detectors["a"]) == 6 for case in cases.values())


@pytest.mark.parametrize("kind", ["frame", "parquet", "csv"])
@pytest.mark.parametrize("empty", [None, "", "  "])
def test_rows_without_a_detector_leave_a_hole(tmp_path, kind, empty):
    """They may be any detector's: their series has no result, and the reason says how many there are."""
    frame = long_frame(wide_frame())
    frame.loc[(frame["d"] == "b") & (frame["s"] == "y9"), "d"] = empty
    asked = {"series": "s", "group": "g", "truth": "y", "detector": "d", "scores": "z"}
    cases = cases_of(read_source(frame if kind == "frame" else written(frame, tmp_path, kind), **asked))
    assert cases["y9"].group == frame.loc[frame["s"] == "y9", "g"].iloc[0]
    reason = "6 row(s) have no value in column 'd': name the detector of every row."
    assert {part.reason for part in (cases["y9"].truth, *cases["y9"].detectors.values())} == {reason}
    assert not any(isinstance(part, Fault) for name in ("x", "y10") for part in cases[name].detectors.values())
    frame["d"] = empty
    with pytest.raises(InputError, match=r"row\(s\) have no value in column 'd'"):
        read_source(frame if kind == "frame" else written(frame, tmp_path, kind), **asked)


@pytest.mark.parametrize("kind", ["frame", "parquet", "csv"])
def test_rows_that_lie_apart_are_noted(tmp_path, kind):
    """Unless a clock orders them; detectors of a long table may be interleaved or follow one another."""
    frame = wide_frame()
    long = long_frame(frame)
    wide, rows = {"scores": "a"}, {"scores": "z", "detector": "d"}
    tables = [
        (frame, wide, [1, 1, 1]),
        (pd.concat([frame.iloc[:12], frame]), wide, [2, 2, 1]),
        (frame.sort_values("t", kind="stable"), wide, [6, 6, 6]),
        (frame.sort_values("t", kind="stable"), {**wide, "times": "t"}, [1, 1, 1]),
        (long, rows, [1, 1, 1]),
        (long.sort_values(["s", "t"], kind="stable"), rows, [1, 1, 1]),
        (long.sort_values("t", kind="stable"), rows, [6, 6, 6]),
        (pd.concat([long, long[long["s"] == "x"]]), rows, [2, 1, 1]),
    ]
    for table, asked, places in tables:
        table = table.reset_index(drop=True)
        source = table if kind == "frame" else written(table, tmp_path, kind)
        cases = cases_of(read_source(source, series="s", truth="y", **asked))
        told = {
            name: (f"Its rows lie in {n} places of the table: they were read in table order.",) if n > 1 else ()
            for name, n in zip(("x", "y10", "y9"), places, strict=True)
        }
        assert {name: case.notes for name, case in cases.items()} == told


@given(st.lists(st.tuples(st.sampled_from("uv"), st.sampled_from("ab")), min_size=1, max_size=12))
def test_places_are_counted_row_by_row(rows):
    """A place is a run of rows of one series; each detector has as many as hold a row of its own."""
    runs, last = {}, (None, 0)
    for name, detector in rows:
        last = last if name == last[0] else (name, last[1] + 1)
        runs.setdefault(name, {}).setdefault(detector, set()).add(last[1])
    table = {
        "s": [name for name, _ in rows],
        "d": [one for _, one in rows],
        "y": [0] * len(rows),
        "z": range(len(rows)),
    }
    cases = cases_of(read_source({**table, "z": list(table["z"])}, series="s", truth="y", detector="d", scores="z"))
    for name, found in runs.items():
        most = max(map(len, found.values()))
        assert bool(cases[name].notes) == (most > 1)
        assert f"in {most} places" in "".join(cases[name].notes) or most == 1


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_times_that_occur_twice_are_the_reason(tmp_path, kind):
    """Not that they do not increase: sorting would not help. In long tables only the detector that has them fails."""
    frame = wide_frame(names=("x", "z"))
    frame["t"] = pd.to_datetime("2024-01-01") + pd.to_timedelta(frame["t"], unit="h")
    again = pd.concat([frame, frame.iloc[[1, 2, 2]]], ignore_index=True)
    source = again if kind == "frame" else written(again, tmp_path, "csv")
    cases = cases_of(read_source(source, **WIDE, times="t"))
    reason = "2 times occur more than once, first 2024-01-01T10:00:00: keep one row for each time."
    assert cases["x"].truth.reason == reason
    assert not isinstance(cases["z"].truth, Fault)
    long = long_frame(frame)
    long = pd.concat([long, long[(long["d"] == "a") & (long["s"] == "x")].iloc[[0]]], ignore_index=True)
    source = long if kind == "frame" else written(long, tmp_path, "csv")
    case = cases_of(read_source(source, series="s", truth="y", times="t", detector="d", scores="z"))["x"]
    assert case.detectors["a"].reason == "1 time occurs more than once, first 2024-01-01: keep one row for each time."
    assert len(case.detectors["b"]) == len(case.truth) == 6


def test_text_beside_the_data_is_no_series(tmp_path):
    """A README is not read unless it is named, as a file or by a pattern; nor is JSON."""
    written(wide_frame(), tmp_path, "csv")
    (tmp_path / "README.txt").write_text("about this folder\n")
    (tmp_path / "notes.TXT.gz").write_bytes(gzip.compress(b"more\n"))
    (tmp_path / "about.json").write_text("{}")
    assert list(cases_of(read_source(tmp_path, **WIDE))) == ["x", "y10", "y9"]
    (tmp_path / "text").mkdir()
    wide_frame(names=("x",)).to_csv(tmp_path / "text" / "x.txt", index=False)
    with pytest.raises(InputError, match=r"has no table in it: name its text files by a pattern, .*text/\*\.txt'"):
        read_source(tmp_path / "text", **WIDE)
    for named in (tmp_path / "text" / "x.txt", str(tmp_path / "text" / "*.txt")):
        assert list(cases_of(read_source(named, **WIDE))) == ["x"]


@pytest.mark.parametrize(
    "texts",
    [
        ["0", "1", "0", "0", "1", "1"],
        ["0", "1", "", "NA", None, "1"],
        ["True", "false", "true", "False", "false", "true"],
        ["true", None, "true", "False", "nan", "true"],
        [" 0.5", "1e3", "-2.", ".5", "+1", "inf"],
        ["9007199254740993", "0", "1", "2", "3", "4"],
    ],
)
def test_numbers_as_text_are_read_alike_in_frames_and_files(tmp_path, texts):
    """The same column in pandas, polars and Parquet gives the same values of the same type."""
    frame = wide_frame(names=("x",)).assign(y=texts)
    frame.to_parquet(tmp_path / "t.parquet")
    asked = {"series": "s", "truth": "y", "scores": "a"}
    read = [
        cases_of(read_source(source, **asked))["x"].truth
        for source in (tmp_path / "t.parquet", frame, pl.from_pandas(frame))
    ]
    assert all(found.dtype == read[0].dtype and same(found, read[0]) for found in read)


@pytest.mark.parametrize("text", ["one", "0x1", "1,5", "true1"])
def test_other_text_is_no_number(tmp_path, text):
    """In frames as in files; the reason shows it."""
    frame = wide_frame(names=("x",)).assign(y=["0", "1", text, "0", "0", "1"])
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        reason = cases_of(read_source(source, series="s", truth="y", scores="a"))["x"].truth.reason
        assert "text" in reason or f"{text!r}" in reason


@pytest.mark.parametrize("role", ["series", "group", "detector"])
def test_two_values_with_one_name_are_refused(role):
    """The number 1 and the text "1" would become one series, group or detector; both are shown."""
    frame = wide_frame()
    column = {"series": "s", "group": "g", "detector": "d"}[role]
    table = {name: frame[name].tolist() for name in frame} | {"d": ["p"] * 3 + ["q"] * 3}
    table |= {"d": (["p"] * 3 + ["q"] * 3) * 3, column: [1, *["1"] * 5, *[2] * 6, *["x"] * 6]}
    asked = {**WIDE, "detector": "d", "scores": "a"}
    with pytest.raises(InputError, match=rf"{role} has 1 and '1', two values with one name: make both text, or rename"):
        read_source(table, **asked)


def test_equal_numbers_are_one_name_and_truth_is_no_number():
    """1, NumPy's 1 and 1.0 are the same series; True equals 1, and is called otherwise."""
    frame = wide_frame()
    table = {name: frame[name].tolist() for name in frame}
    table["s"] = [1, np.int64(1), 1.0, *[1] * 3, True, np.True_, *[True] * 4, *["x"] * 6]
    del table["g"]
    assert list(cases_of(read_source(table, **{**WIDE, "group": None}))) == ["1", "True", "x"]


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ({1: [(0, 1)], "1": [(2, 3)], "x": []}, "ranges has 1 and '1', two values with one name"),
        ({"series": [1, "1"], "start": [0, 2], "end": [1, 3]}, "ranges has 1 and '1', two values with one name"),
        ({"series": ["x", None], "start": [0, 2], "end": [1, 3]}, "ranges has no series in row 1: name the series"),
        ('{"x": [[0, 1]], "y9": [], "x": [[2, 3]]}', "ranges has 'x' twice: name each series once"),
    ],
)
def test_two_entries_for_one_series_are_refused(tmp_path, ranges, words):
    """Of two lists of events for one series, one would be lost without a word."""
    if isinstance(ranges, str):
        (tmp_path / "events.json").write_text(ranges)
        ranges = tmp_path / "events.json"
    with pytest.raises(InputError, match=words):
        read_source(wide_frame(), **{**WIDE, "truth": None}, ranges=ranges)


class Mute:
    """An object without words."""

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"s": ["a\ud800"] * 18}, r"series='a\\ud800' is a name that cannot be written as UTF-8: rename it"),
        ({"g": ["a\ud800"] * 18}, r"group='a\\ud800' is a name that cannot be written as UTF-8: rename it"),
        ({"a\ud800": [0.0] * 18}, r"scores='a\\ud800' is a name that cannot be written as UTF-8: rename it"),
        ({"s": [Mute()] * 18}, "series must be a column of names, got a Mute: pass text or whole numbers"),
        ({"s": [[1]] * 18}, r"series must be a column of names, got \[1\]: pass text or whole numbers"),
        ({Mute(): [0] * 18}, "source has a Mute for a name: pass text or whole numbers"),
    ],
)
def test_names_that_cannot_be_written_are_refused(changes, words):
    """Before anything is computed, and none is changed into another that may be there already."""
    frame = wide_frame()
    table = {name: frame[name].tolist() for name in frame} | changes
    with pytest.raises(InputError, match=words):
        read_source(table, **{**WIDE, "scores": "a*"})


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_may_have_any_name(tmp_path, kind):
    """A table is cut into its series whatever its other columns are called, such as s and d."""
    frame = wide_frame().rename(columns={"s": "name", "t": "s", "a": "d"})
    source = read_source(written(frame, tmp_path, kind), series="name", truth="y", scores="d")
    pieces = [len(entry.pieces) for chunk in source.parts for entry in getattr(chunk, "entries", ())]
    assert set(pieces) == ({1} if kind == "parquet" else set())
    assert list(cases_of(source)) == ["x", "y10", "y9"]


def test_columns_that_differ_only_in_case_stay_apart_or_are_refused(tmp_path):
    """Copies of tables are written by duckdb, which takes them for one."""
    frame = wide_frame().rename(columns={"a": "d", "b": "D"})
    asked = {"series": "s", "truth": "y", "scores": ["d", "D"]}
    for source in (frame, written(frame, tmp_path, "parquet")):
        for case in cases_of(read_source(source, **asked)).values():
            for name in "dD":
                assert case.detectors[name].tolist() == frame[name][frame["s"] == case.series].tolist()
    for path in (written(frame, tmp_path, "csv"), written(frame.sort_values("t"), tmp_path, "parquet")):
        with pytest.raises(
            InputError, match=r"study.\w+ has columns 'd' and 'D', which differ only in case: rename one"
        ):
            read_source(path, **asked)


def test_a_column_that_is_there_twice_is_no_score(tmp_path):
    """In a file of many series, and in one that is a series: which of both is meant?"""
    text = wide_frame().to_csv(index=False).replace(",a,b", ",a,a")
    (tmp_path / "x.csv").write_text(text)
    words = "x.csv has 2 columns named 'a': give the position of one."
    with pytest.raises(InputError, match=words):
        read_source(tmp_path / "x.csv", series="s", truth="y", scores="a")
    (case,) = read_source(tmp_path / "x.csv", truth="y", scores="a").parts[0].read()
    assert case.truth.reason == words


def test_two_tables_of_one_series_are_refused(tmp_path):
    """TSB-AD names its arrays by what stands before the first dot."""
    (tmp_path / "score" / "lof").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "score" / "lof" / "001_a_id_1.npy", np.zeros(3))
    for name in ("001_a_id_1.csv", "001_a_id_1.old.csv"):
        (tmp_path / "data" / name).write_text("x,Label\n1,0\n2,1\n3,0\n")
    with pytest.raises(
        InputError, match=r"'001_a_id_1.csv' and '001_a_id_1.old.csv', both of series '001_a_id_1': rename one"
    ):
        read_source(tmp_path / "score", layout="tsb-ad", data=tmp_path / "data")


def test_file_names_that_are_no_text_are_refused(tmp_path):
    """Their bytes would be replaced, and may then be the name of another file."""
    (tmp_path / os.fsdecode(b"a\xff.csv")).write_text(wide_frame().to_csv(index=False))
    with pytest.raises(InputError, match=r"source='a\\udcff.csv' is a name that cannot be written as UTF-8: rename it"):
        read_source(tmp_path, truth="y", scores="a")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truth": "yy"}, r"the frame has no column 'yy' \(for truth\): did you mean 'y'\?"),
        ({"scores": "det_*"}, r"the frame has no column 'det_\*' \(for scores\): the columns are 't', 'a', 'b'\."),
        ({"scores": None}, "scores is missing: name the columns of scores, or a pattern"),
        ({"scores": []}, "must be names of columns, or patterns"),
        ({"scores": 3}, "scores=3 must be names of columns"),
        ({"scores": np.array("a")}, "must be names of columns"),
        ({"scores": pl.LazyFrame({"a": [1]})}, "must be names of columns"),
        ({"scores": "\ud800"}, r"scores='\\ud800' must be names of columns"),
        ({"series": "\ud800"}, r"series='\\ud800' must be the name of a column"),
        ({"series": 3}, "series=3 must be the name of a column"),
        ({"series": None}, "series is missing: name the column of the frame"),
        ({"group": "/"}, "group='/' is for files"),
        ({"truth": None}, "truth is missing: name the column of labels, or pass ranges="),
        ({"ranges": RANGES}, "pass either truth='y', a column, or ranges="),
        ({"truth": None, "ranges": {"q": []}}, "ranges names none of the series: it has 'q', they are 'x'"),
        ({"truth": None, "ranges": RANGES, "truth_as": "labels"}, "truth_as='labels' is for a column"),
        ({"truth": None, "ranges": {"start": [1], "end": [2]}}, "none of which names the series"),
        ({"detector": "t"}, r"scores=\['a', 'b'\] are 2 columns, but detector='t'"),
        ({"layout": "long"}, "layout='long' needs detector="),
        ({"layout": "wide", "detector": "t"}, "leave out detector='t'"),
        ({"series": "y"}, "series='y' and truth='y' are the same column: name two"),
        ({"detector": "y", "scores": "a"}, "truth='y' and detector='y' are the same column: name two"),
        ({"group": "y"}, "group='y' and truth='y' are the same column: name two"),
        ({"times": "a"}, "times='a' is also one of scores=: name two columns"),
        ({"layout": "tall"}, "layout='tall' must be one of"),
        ({"data": "."}, "data='.' has no place in layout='auto'"),
        ({"source": {"s": ["x"], "y": [0, 1]}}, "columns of unequal length"),
        ({"source": {"s": [], "g": [], "y": [], "a": [], "b": []}}, "source has no rows"),
        ({"source": 7}, "source must be a path, a data frame or a dict of columns, got a int"),
        ({"source": pl.LazyFrame({"s": [1]})}, "collect lazy frames first"),
        ({"source": []}, "source is an empty list"),
        ({"source": "nowhere.csv"}, "nowhere.csv: there is no such file"),
        ({"source": "nowhere*.csv"}, "matches no file"),
    ],
)
def test_arguments_that_fit_nothing_are_errors(changes, message):
    """Before anything is computed, with what to do about it."""
    asked = {"source": wide_frame(), **WIDE, **changes}
    with pytest.raises(InputError, match=message):
        read_source(asked.pop("source"), **asked)


def test_files_and_folders_that_fit_nothing_are_errors(tmp_path):
    """A wrong column, a folder without tables, or one in a layout that was not named."""
    path = written(wide_frame(), tmp_path, "csv")
    for asked in (WIDE, {"truth": "y", "scores": "a"}):
        with pytest.raises(InputError, match=r"study.csv has no column 'lable' \(for truth\)"):
            read_source(path, **{**asked, "truth": "lable"})
    with pytest.raises(InputError, match=r"study.csv has no column 'c\*' \(for scores\)"):
        read_source(path, truth="y", scores="c*")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="has no table in it: pass a folder of Parquet or CSV files"):
        read_source(tmp_path / "none", **WIDE)
    np.save(tmp_path / "none" / "x.npy", np.zeros(2))
    with pytest.raises(InputError, match='has no table in it: pass layout="tsb-ad"'):
        read_source(tmp_path / "none", **WIDE)
    for layout in ("nab", "tsb-ad", "timeeval"):
        with pytest.raises(InputError, match=r"is not a folder|is missing"):
            read_source(path, layout=layout)
    nab = nab_folder(tmp_path / "none")
    with pytest.raises(
        InputError, match="'skylien' is not one of the detectors 'null', 'skyline': did you mean 'skyline'"
    ):
        read_source(nab, layout="nab", scores="skylien")
    with pytest.raises(InputError, match="group='g' has no place in layout='nab'"):
        read_source(nab, layout="nab", group="g")
    with pytest.raises(InputError, match="has no scores of a detector in it"):
        read_source(tmp_path / "none" / "labels", layout="nab")
