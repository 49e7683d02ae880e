"""Tables, folder, lock and engines of a study, one by one; test_study_faults.py has them together, with accidents."""

import importlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nofluke.errors import InputError
from nofluke.progress import cells_bar
from nofluke.studies import run as engine
from nofluke.studies.run import dask_executor, failure, n_workers, run
from nofluke.studies.store import CELLS, Folder, NoRoom, cells_with, join_tables, read_table, sealed, write_table
from study_work import FakeChunk, fake_part

SETTINGS = {"tolerance": "1%", "budget": 0.01, "metrics": ["vus", "auc"]}
INPUTS = {"files": [{"path": "a.csv", "size": 10}, {"path": "b.csv", "size": 20}]}

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
floats = st.floats(width=64)
whole = st.integers(-(2**63), 2**63 - 1)
CELL = {
    "VARCHAR": text,
    "DOUBLE": floats,
    "BIGINT": whole,
    "BOOLEAN": st.booleans(),
    "VARCHAR[]": st.lists(text, max_size=3),
    "DOUBLE[]": st.lists(floats, max_size=3),
    "BIGINT[]": st.lists(whole, max_size=3),
}


def begun(out, n=3, settings=SETTINGS, inputs=INPUTS, **options):
    folder = Folder(out)
    folder.begin(settings=settings, inputs=inputs, parts=[3] * n, **options)
    return folder


def part(i, tmp_path):
    return fake_part(FakeChunk(i, str(tmp_path / "log")))


class TestTables:
    @settings(max_examples=25)
    @given(st.data(), st.integers(0, 4))
    def test_what_is_written_is_read(self, tmp_path_factory, data, n):
        """Any text, number and list comes back; the same values are the same bytes."""
        values = {kind: data.draw(st.lists(cell, min_size=n, max_size=n)) for kind, cell in CELL.items()}
        path = tmp_path_factory.mktemp("tables") / "it's a [table].parquet"
        write_table(path, values, {kind: kind for kind in CELL})
        written, back = path.read_bytes(), read_table(path)
        assert list(back) == list(CELL)
        for kind, column in back.items():
            np.testing.assert_equal([list(x) if kind.endswith("[]") else x for x in column], values[kind])
        write_table(path, values, {kind: kind for kind in CELL})
        assert path.read_bytes() == written

    def test_what_is_missing_is_null_in_files_and_nan_or_blank_in_memory(self, tmp_path):
        """As SQL and data frames have it, and as the study has it."""
        kinds = {"text": "VARCHAR", "whole": "BIGINT", "number": "DOUBLE", "truth": "BOOLEAN", "list": "DOUBLE[]"}
        values = {"text": ["a", None], "whole": [3, np.nan], "number": [0.5, np.nan], "truth": [True, None]}
        write_table(tmp_path / "t.parquet", values | {"list": [[np.nan, -np.inf], []]}, kinds)
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_parquet(tmp_path / "t.parquet")
        assert frame.drop(columns="list").isna().to_numpy().tolist() == [[False] * 4, [True] * 4]
        back = read_table(tmp_path / "t.parquet")
        assert back["text"].tolist() == ["a", ""]
        assert back["truth"].tolist() == [True, None]
        np.testing.assert_equal(back["whole"], [3.0, np.nan])
        np.testing.assert_equal(back["number"], [0.5, np.nan])
        np.testing.assert_equal([list(x) for x in back["list"]], [[np.nan, -np.inf], []])

    def test_names_of_files_that_are_no_text_are_written_all_the_same(self, tmp_path):
        """Bytes that are no characters become question marks."""
        write_table(tmp_path / "t.parquet", {"x": ["é\udcff"]}, {"x": "VARCHAR"})
        assert read_table(tmp_path / "t.parquet")["x"].tolist() == ["é?"]

    def test_lists_stay_with_their_rows_and_are_of_their_columns_type(self, tmp_path):
        """In tables of thousands of rows too, though all but one be empty, or the first ones whole numbers."""
        words = [["a"] if i == 2501 else [] for i in range(5000)]
        numbers = [[i, i + 0.5] if i % 3 else [] for i in range(5000)]
        values = {"row": range(5000), "words": words, "numbers": numbers, "whole": [[i] * (i % 4) for i in range(5000)]}
        kinds = {"row": "BIGINT", "words": "VARCHAR[]", "numbers": "DOUBLE[]", "whole": "BIGINT[]"}
        write_table(tmp_path / "t.parquet", values, kinds)
        back = read_table(tmp_path / "t.parquet")
        assert back["row"].tolist() == list(range(5000))
        assert {name: [cell.tolist() for cell in back[name]] for name in list(kinds)[1:]} == {
            name: values[name] for name in list(kinds)[1:]
        }

    def test_columns_of_different_lengths_are_refused(self, tmp_path):
        """No half row is ever written, nor a file."""
        with pytest.raises(ValueError, match=r"lengths \[1, 2\]"):
            write_table(tmp_path / "t.parquet", {"x": ["a"], "y": ["a", "b"]}, {"x": "VARCHAR", "y": "VARCHAR"})
        assert not list(tmp_path.iterdir())

    def test_joined_tables_have_all_rows_in_the_order_of_the_files(self, tmp_path):
        """Not in that of their names; folders called a=1 add no column."""
        places = [tmp_path / f"a={i}" / "t.parquet" for i in (2, 10, 1)]
        for i, path in enumerate(places):
            path.parent.mkdir()
            write_table(path, {"x": [3 * i, 3 * i + 1]}, {"x": "BIGINT"})
        join_tables(tmp_path / "all.parquet", places)
        assert {name: column.tolist() for name, column in read_table(tmp_path / "all.parquet").items()} == {
            "x": [0, 1, 3, 4, 6, 7]
        }

    def test_a_disk_that_is_full_at_the_last_moment_leaves_nothing(self, tmp_path, monkeypatch):
        """Some file systems find out when asked to be sure."""
        import errno

        def full(_file):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(NoRoom, match=r"t.parquet cannot be written \(No space left on device\): free some space"):
            write_table(tmp_path / "t.parquet", {"x": ["a"]}, {"x": "VARCHAR"})
        assert not list(tmp_path.iterdir())

    def test_a_disk_that_is_full_is_told_in_words_though_duckdb_tells_it_in_json(self, monkeypatch):
        """The device that is always full."""
        monkeypatch.setattr(Path, "with_name", lambda *_: Path("/dev/full"))
        monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(NoRoom, match=r"x.parquet cannot be written \(No space left on device\)"):
            write_table(Path("x.parquet"), {"x": ["a"]}, {"x": "VARCHAR"})

    def test_a_file_that_is_no_table_is_named(self, tmp_path):
        """One line, whatever duckdb says."""
        (tmp_path / "t.parquet").write_text("nothing")
        with pytest.raises(InputError, match=r"t.parquet cannot be read \(.*\): check the file\.$"):
            read_table(tmp_path / "t.parquet")


class TestFolder:
    def test_all_tables_are_read_over_all_parts_in_their_order(self, tmp_path):
        """Whole, by columns, by words, or in pieces; whatever the order in which the parts came."""
        folder = begun(tmp_path / "out")
        for i in (2, 0, 1):
            folder.write_part(i, part(i, tmp_path))
        assert folder.have() == {0, 1, 2}
        assert folder.rows("cells") == 15
        expected = [name for i in range(3) for name in part(i, tmp_path).cells["series"]]
        assert folder.read("cells", ["series"])["series"].tolist() == expected
        laws = folder.read("laws", where={"detector": "b", "measure": "word 1"})
        assert set(laws["detector"]) == {"b"}
        assert set(laws["measure"]) == {"word 1"}
        np.testing.assert_array_equal(folder.read("laws")["logs"][0], part(0, tmp_path).laws["logs"][0])
        assert folder.read("truths")["starts"][2].tolist() == [0, 1]
        assert [piece["series"].tolist() for piece in folder.stream("cells")] == [expected]

    def test_a_table_is_streamed_in_pieces(self, tmp_path, monkeypatch):
        """Together they are the table."""
        monkeypatch.setattr("nofluke.studies.store._ROWS_AT_ONCE", 10)
        folder = begun(tmp_path / "out")
        for i in range(3):
            folder.write_part(i, part(i, tmp_path))
        pieces = [piece["series"].tolist() for piece in folder.stream("cells", ["series"])]
        assert [len(piece) for piece in pieces] == [10, 5]
        assert [name for piece in pieces for name in piece] == folder.read("cells")["series"].tolist()

    def test_the_end_of_a_study_is_three_files(self, tmp_path):
        """Results with all columns, what failed as lines of JSON, seconds apart."""
        with begun(tmp_path / "out") as folder:
            for i in range(3):
                folder.write_part(i, part(i, tmp_path))
            folder.finish()
        out = tmp_path / "out"
        assert sorted(path.name for path in out.iterdir()) == [
            "failed.jsonl",
            "parts",
            "results.parquet",
            "study.json",
            "timings.parquet",
        ]
        assert list(read_table(out / "results.parquet")) == list(CELLS)
        lines = [json.loads(line) for line in (out / "failed.jsonl").read_text().splitlines()]
        assert lines[1] == {"series": "series 1-2", "group": "g", "detector": "b", "reason": "3 NaN"}
        assert len(read_table(out / "timings.parquet")["seconds"]) == 15
        told = json.loads((out / "study.json").read_text())
        assert told["settings"] == SETTINGS
        assert told["inputs"] == INPUTS
        assert set(told["versions"]) == {"python", "nofluke", "numpy", "scipy", "numba", "duckdb"}

    def test_a_study_without_parts_or_results_has_empty_tables(self, tmp_path):
        """All columns, those of metrics among them, and no row; also where every chunk has failed."""
        cells = cells_with(["vus"])
        with begun(tmp_path / "a", n=0, cells=cells) as folder:
            folder.finish()
            assert list(folder.read("cells")) == list(cells)
            assert list(folder.read("laws", ["logs"])) == ["logs"]
        with begun(tmp_path / "b", n=1, cells=cells) as folder:
            folder.write_part(0, failure(FakeChunk(0, ""), "broken"), again=True)
            folder.finish()
            assert folder.have() == set()
            assert folder.read("failed")["reason"].tolist() == ["broken"] * 3
        one, other = (tmp_path / name / "results.parquet" for name in "ab")
        assert list(read_table(one)) == list(read_table(other)) == list(cells)
        assert (tmp_path / "a" / "failed.jsonl").read_text() == ""

    def test_the_same_study_is_resumed(self, tmp_path):
        """Tuples or lists, it is the same JSON."""
        with begun(tmp_path / "out") as folder:
            folder.write_part(1, part(1, tmp_path))
        with begun(tmp_path / "out", settings=SETTINGS | {"metrics": ("vus", "auc")}) as folder:
            assert folder.have() == {1}
            assert folder.notes == ()

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"settings": SETTINGS | {"tolerance": "2%"}}, "tolerance was '1%' and is now '2%'"),
            ({"settings": SETTINGS | {"metrics": ["vus"]}}, r"metrics was \['vus', 'auc'\] and is now \['vus'\]"),
            ({"settings": SETTINGS | {"seed": 1}}, r"seed is new \(1\)"),
            (
                {"inputs": {"files": [INPUTS["files"][0], {"path": "b.csv", "size": 21}]}},
                "files b.csv size was 20 and is now 21",
            ),
            ({"inputs": {"files": INPUTS["files"][:1]}}, r"files b.csv size is gone \(was 20\)"),
        ],
    )
    def test_a_study_of_something_else_is_not_resumed(self, tmp_path, change, words):
        """The error says what has changed, from what to what."""
        begun(tmp_path / "out").close()
        with pytest.raises(InputError, match=rf"holds a study of something else: {words}\. .* pass resume=False"):
            begun(tmp_path / "out", **change)
        begun(tmp_path / "out").close()  # it was left unlocked and as it was

    def test_another_nofluke_is_refused_and_other_libraries_are_told(self, tmp_path):
        """Numbers of two versions of ours do not belong into one table."""
        begun(tmp_path / "out").close()
        path = tmp_path / "out" / "study.json"
        told = json.loads(path.read_text())
        del told["sha256"]
        told["versions"]["numpy"] = "1.0"
        path.write_text(sealed(told))
        with begun(tmp_path / "out") as folder:
            assert "numpy was '1.0' and is now" in folder.notes[0]
        told["versions"]["nofluke"] = "0.0.1"
        path.write_text(sealed(told))
        with pytest.raises(InputError, match=r"nofluke was '0.0.1' and is now"):
            begun(tmp_path / "out")

    def test_beginning_anew_removes_what_a_study_wrote_and_nothing_else(self, tmp_path):
        """What people put beside it stays."""
        with begun(tmp_path / "out") as folder:
            folder.write_part(1, part(1, tmp_path))
            folder.finish()
        out = tmp_path / "out"
        for name in ("notes.txt", "leaderboard.csv", "pooled.json", "parts/mine.txt"):
            (out / name).write_text("x")
        with begun(out, settings={}, resume=False) as folder:
            assert folder.have() == set()
        assert sorted(path.name for path in out.iterdir()) == ["notes.txt", "parts", "study.json"]
        assert [path.name for path in (out / "parts").iterdir()] == ["mine.txt"]

    @pytest.mark.parametrize("resume", [True, False])
    def test_a_folder_with_other_things_is_refused(self, tmp_path, resume):
        """Nothing is written into it."""
        (tmp_path / "thesis.tex").write_text("x")
        with pytest.raises(
            InputError, match=r"holds other files \(first 'thesis.tex'\): name a folder that is new or empty"
        ):
            begun(tmp_path, resume=resume)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]

    @pytest.mark.parametrize("content", ["{}", "no json", '{"format": "nofluke study 2"}', "[]"])
    def test_a_damaged_study_json_is_named(self, tmp_path, content):
        """It may be anybody's."""
        (tmp_path / "study.json").write_text(content)
        with pytest.raises(InputError, match=r"study.json is not a study's, or is damaged"):
            begun(tmp_path)

    def test_a_file_is_no_folder(self, tmp_path):
        """Said before any work."""
        (tmp_path / "file").write_text("x")
        with pytest.raises(InputError, match=r"out='.*file' cannot be written to \(File exists\): choose another"):
            begun(tmp_path / "file")

    def test_an_unknown_table_is_refused(self, tmp_path):
        """With the words that are known."""
        with pytest.raises(InputError, match="table='cell' must be one of 'cells'"):
            Folder(tmp_path).read("cell")


class TestLock:
    def test_two_studies_cannot_write_to_one_folder(self, tmp_path):
        """Neither in one process, nor in two; the second is told who has it."""
        first = begun(tmp_path / "out")
        with pytest.raises(InputError, match="in use by another study of this process"):
            begun(tmp_path / "out")
        code = (
            "import sys\nfrom nofluke.studies.store import Folder\n"
            "Folder(sys.argv[1]).begin(settings={}, inputs={}, parts=[3])"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "out")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert f"is in use by process {os.getpid()} on " in done.stderr.splitlines()[-1]
        first.close()
        first.close()
        begun(tmp_path / "out").close()


def twice(x):
    return 2 * x


class TestRun:
    def test_results_and_failures_are_handed_over(self):
        """In this process, where there is one worker."""
        done, failed = {}, {}
        run(lambda x: 1 / x, {5: 2, 6: 0}, workers=1, on_done=done.__setitem__, on_failed=failed.__setitem__)
        assert done == {5: 0.5}
        assert failed[6].startswith("ZeroDivisionError: division by zero (test_study_folder.py, line ")

    def test_ctrl_c_while_duckdb_reads_is_no_failure_of_the_task(self):
        """duckdb takes the signal and raises an error of its own; as a reason it would be kept, and the study go on."""

        def read(_):
            raise RuntimeError("Query interrupted")

        with pytest.raises(KeyboardInterrupt):
            run(read, {0: None}, workers=1, on_done=print, on_failed=print)

    def test_nothing_to_do_needs_nobody(self):
        """No process is started."""
        run(twice, {}, on_done=print, on_failed=print)

    def test_what_cannot_be_sent_is_an_error_with_a_remedy(self):
        """Before any process has started; results that cannot be sent fail one by one."""
        lock = threading.Lock()
        with pytest.raises(
            InputError, match=r"^workers cannot be used, since the work cannot be sent .*: define functions at the top"
        ):
            run(lambda x: (lock, x), {0: 1, 1: 2}, workers=2, on_done=print, on_failed=print)
        failed = {}
        run(memoryview, {0: b"x", 1: 3}, workers=2, on_done=print, on_failed=failed.__setitem__)
        assert "cannot pickle" in failed[0]
        assert "bytes-like" in failed[1]

    def test_a_module_that_workers_cannot_load_is_told_with_its_reason(self, tmp_path, monkeypatch):
        """One that is gone, and one that starts a study as it is imported: neither hangs, neither is tried thrice."""
        monkeypatch.syspath_prepend(tmp_path)
        for name, code, words in (
            ("gone", "def f(x):\n    return x\n", r"\(ModuleNotFoundError: No module named 'gone' \("),
            ("starts", "def f(x):\n    return x\n", r"\(a module that workers import starts a study as it is imported"),
        ):
            (tmp_path / f"{name}.py").write_text(code)
            function = importlib.import_module(name).f
            if name == "gone":
                (tmp_path / "gone.py").unlink()
            else:
                (tmp_path / "starts.py").write_text(f"import nofluke as nf\nnf.study({{}}, budget=0.1)\n{code}")
            with pytest.raises(
                InputError, match=f"workers cannot be used, since other processes cannot load .*{words}"
            ):
                run(function, {0: 1, 1: 2}, workers=2, on_done=print, on_failed=print)

    def test_few_tasks_are_under_way_in_an_executor(self):
        """Four for each of its workers, so that memory is bounded."""
        most = 0

        class Counting(ThreadPoolExecutor):
            def submit(self, *args):
                nonlocal most
                future = super().submit(*args)
                under_way.append(future)
                most = max(most, sum(not each.done() for each in under_way))
                return future

        under_way, done = [], {}
        with Counting(2) as executor:
            run(
                lambda x: time.sleep(0.001) or x,
                dict.fromkeys(range(50), 1),
                executor=executor,
                on_done=done.__setitem__,
                on_failed=print,
            )
        assert len(done) == 50
        assert 4 <= most <= 8

    def test_an_executor_that_is_no_more_is_told(self):
        """Shut down before, broken or cancelled meanwhile."""
        executor = ThreadPoolExecutor(1)
        executor.shutdown()

        class Cancelled(Executor):
            def submit(self, *_):
                future = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
                return future

        for gone in (executor, Cancelled()):
            with pytest.raises(InputError, match=rf"executor={type(gone).__name__} has stopped working"):
                run(twice, {0: 1}, executor=gone, on_done=print, on_failed=print)

    def test_what_an_executor_says_of_a_task_is_the_reason(self):
        """Such as Dask of one that killed all the workers it came to."""

        class Unlucky(Executor):
            def submit(self, *_):
                future = Future()
                future.set_exception(OSError("the worker died"))
                return future

        failed = {}
        run(twice, {7: 1}, executor=Unlucky(), on_done=print, on_failed=failed.__setitem__)
        assert failed == {7: "OSError: the worker died"}

    def test_what_is_no_executor_is_refused(self):
        """Such as Dask's client, which has an executor but is none."""
        with pytest.raises(InputError, match=r"executor=3 must be a concurrent.futures.Executor"):
            run(twice, {0: 1}, executor=3, on_done=print, on_failed=print)

    def test_an_error_of_the_receiver_ends_the_run(self):
        """What could not be kept is not told to be done."""

        def refuse(index, result):
            raise InputError(problem="no")

        with ThreadPoolExecutor(1) as executor:
            for options in ({"workers": 1}, {"executor": executor}):
                with pytest.raises(InputError, match="no"):
                    run(twice, {0: 1, 1: 2}, **options, on_done=refuse, on_failed=print)

    def test_a_full_disk_at_a_worker_ends_the_run(self):
        """The other tasks would fail of the same."""

        def full(task):
            tried.append(task)
            raise NoRoom(problem="no room")

        tried = []
        with pytest.raises(InputError, match="no room"):
            run(full, {0: 1, 1: 2}, workers=1, on_done=print, on_failed=print)
        assert tried == [1]

    @pytest.mark.parametrize("workers", [0, 1.5, "two", True])
    def test_a_number_of_workers_is_a_whole_number(self, workers):
        """At least one."""
        with pytest.raises(InputError, match=r"workers=.* must be a whole number of at least 1"):
            n_workers(workers)

    def test_workers_are_as_many_as_cores_by_default(self, monkeypatch):
        """Those that this process may use; an executor knows its own number."""
        monkeypatch.setattr(engine.os, "sched_getaffinity", lambda _: set(range(5)), raising=False)
        assert n_workers(None) == 5
        assert n_workers(None, ThreadPoolExecutor(3)) == 3


class TestDask:
    def test_without_the_package_the_remedy_is_a_command(self, monkeypatch):
        """The extra, by name."""
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(InputError, match=r"pip install 'nofluke\[distributed\]'"), dask_executor("local"):
            pass

    @pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere://x", "foo"])
    def test_an_address_without_a_scheduler_is_told(self, monkeypatch, address):
        """Soon, and in one line."""
        pytest.importorskip("distributed")
        monkeypatch.setattr(engine, "_SECONDS", 0.5)
        with (
            pytest.raises(InputError, match=rf"dask='{address}' has no scheduler that answers"),
            dask_executor(address),
        ):
            pass

    def test_a_local_cluster_tells_its_dashboard_and_does_the_work(self):
        """Its processes end with the block."""
        pytest.importorskip("distributed")
        said, done = [], {}
        with dask_executor("local", workers=1, say=said.append) as executor:
            assert n_workers(None, executor) == 1
            run(os.path.basename, {0: "a/b"}, executor=executor, on_done=done.__setitem__, on_failed=print)
        assert done == {0: "b"}
        assert said[0].startswith("Dask's dashboard is at http://127.0.0.1:")


class TestProgress:
    def test_the_bar_shows_cells_done_failed_and_the_time_left(self, monkeypatch):
        """On a terminal; a study that is resumed begins where it was."""

        class Terminal(io.StringIO):
            def isatty(self):
                return True

        monkeypatch.setattr("sys.stderr", Terminal())
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")
        with cells_bar("study", 2000) as advance:
            advance(1200, 0)
            advance(1500, 3)
        assert "1,503 of 2,000 cells" in sys.stderr.getvalue()
        assert ", 3 failed" in sys.stderr.getvalue()

    def test_nobody_looking_on_is_shown_nothing(self, monkeypatch):
        """Pipes and services get no bar."""
        monkeypatch.setattr("sys.stderr", io.StringIO())
        with cells_bar("study", 10) as advance:
            advance(1, 0)
        assert sys.stderr.getvalue() == ""
