"""Studies survive accidents, with real processes: killed workers, killed parents, damaged files, full disks, Ctrl-C."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nofluke.errors import InputError
from nofluke.studies.run import Stopped, fill
from nofluke.studies.store import Folder
from study_work import DETECTORS, FakeChunk, fake_part, logged

SCRIPT = """
import sys
from study_work import DETECTORS, FakeChunk, fake_part
from nofluke.studies.store import Folder
from nofluke.studies.run import fill

out, log, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
chunks = [FakeChunk(i, log, seconds=60 if i >= 4 else 0) for i in range(n)]
with Folder(out) as folder:
    folder.begin(settings={}, inputs={}, parts=[3] * n)
    fill(folder, fake_part, chunks, detectors=2, workers=2)
"""


def chunks_of(log, n=8, **accidents):
    """So many chunks; ``at_3="dies"`` is what happens to the fourth."""
    return [FakeChunk(i, str(log), accident=accidents.get(f"at_{i}", "")) for i in range(n)]


def study(out, chunks, **options):
    """Fill a folder, be it new or not."""
    with Folder(out) as folder:
        folder.begin(settings={}, inputs={}, parts=[3] * len(chunks))
        fill(folder, fake_part, chunks, detectors=len(DETECTORS), **options)
    return folder


def parts_of(out, n=8):
    """Which parts of a folder need not be computed."""
    with Folder(out) as folder:
        folder.begin(settings={}, inputs={}, parts=[3] * n)
        return folder.have()


def bytes_of(out):
    return [(out / name).read_bytes() for name in ("results.parquet", "failed.jsonl")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What comes out of eight chunks in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    study(folder / "out", chunks_of(folder / "log"), workers=1)
    return bytes_of(folder / "out")


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two processes, and what runs tasks on it."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local, set_as_default=False) as client:
        yield client.get_executor(pure=False, retries=2)


def start(tmp_path, n=12):
    """The script above, running; its folder and its log."""
    (tmp_path / "script.py").write_text(SCRIPT)
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "out"), str(tmp_path / "log"), str(n)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True)
    return process, tmp_path / "out", tmp_path / "log"


def await_parts(out, n):
    for _ in range(1200):
        if len(list(out.glob("parts/[0-9]*"))) >= n:
            return
        time.sleep(0.05)
    raise AssertionError("no parts are written")


def state_and_parent(pid):
    """As Linux tells them: a letter and a number; ("", 0) of a process that is gone."""
    with contextlib.suppress(OSError):
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
        return state, int(parent)
    return "", 0


def children(parent):
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if state_and_parent(path.name)[1] == parent]


def is_running(pid):
    return state_and_parent(pid)[0] not in ("", "Z")


def all_end(pids, seconds=10):
    end = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(is_running, pids))


class TestEqualBytes:
    @pytest.mark.slow
    def test_results_are_the_same_from_one_worker_and_eight(self, tmp_path, undisturbed):
        """Parts are joined in order, whoever computed them. For two workers see below, where one is killed."""
        study(tmp_path / "out", chunks_of(tmp_path / "log"), workers=8)
        assert bytes_of(tmp_path / "out") == undisturbed
        assert len({pid for _, pid in logged(tmp_path / "log")} - {os.getpid()}) > 2

    def test_results_are_the_same_from_threads(self, tmp_path, undisturbed):
        """Any executor will do."""
        with ThreadPoolExecutor(3) as executor:
            study(tmp_path / "out", chunks_of(tmp_path / "log"), executor=executor)
        assert bytes_of(tmp_path / "out") == undisturbed

    @pytest.mark.slow
    def test_results_are_the_same_from_dask_where_a_worker_is_killed(self, tmp_path, undisturbed, cluster):
        """Dask tries the task again elsewhere, and the bytes do not tell."""
        study(tmp_path / "out", chunks_of(tmp_path / "log", at_2="dies once"), executor=cluster)
        assert bytes_of(tmp_path / "out") == undisturbed
        numbers = [number for number, _ in logged(tmp_path / "log")]
        assert set(numbers) == set(range(8))
        assert numbers.count(2) >= 2


class TestWorkersThatDie:
    def test_a_killed_worker_is_replaced_and_all_parts_finish(self, tmp_path, undisturbed):
        """Only what it was at is computed again."""
        study(tmp_path / "out", chunks_of(tmp_path / "log", at_0="dies once", at_3="dies once"), workers=2)
        assert bytes_of(tmp_path / "out") == undisturbed
        assert sorted(number for number, _ in logged(tmp_path / "log")) == [0, 0, 1, 2, 3, 3, 4, 5, 6, 7]

    @pytest.mark.slow
    def test_a_chunk_that_kills_every_worker_fails_alone_and_is_tried_again_later(self, tmp_path, undisturbed):
        """Its series are told to be missing, with the reason; the next run finds them well."""
        calls = []
        folder = study(
            tmp_path / "out",
            chunks_of(tmp_path / "log", at_1="dies", at_4="raises"),
            workers=2,
            progress=lambda *now: calls.append(now),
        )
        assert sorted(number for number, _ in logged(tmp_path / "log")) == [0, 1, 1, 1, 2, 3, 4, 5, 6, 7]
        failed = folder.read("failed")
        reasons = dict(zip(failed["series"], failed["reason"], strict=True))
        assert reasons["series 1-0"] == "its process ended 3 times (SIGKILL: out of memory?)."
        assert reasons["series 4-2"].startswith("ValueError: nothing to be done (study_work.py, line ")
        assert reasons["series 5-2"] == "3 NaN"
        assert calls[0] == (0, 0)
        assert calls[-1] == (6 * 5, 2 * 6 + 6)
        study(tmp_path / "out", chunks_of(tmp_path / "log"), workers=1)
        assert [number for number, _ in logged(tmp_path / "log")][-2:] == [1, 4]
        assert bytes_of(tmp_path / "out") == undisturbed


PLAIN = """
import sys
with open(sys.argv[1], "a") as log:
    log.write("once\\n")
import numpy as np, nofluke as nf
from metric_of_a_module import hits

limit = 0.5

def loud(labels, scores):
    print("heard")
    return float((labels * (scores > limit)).sum())

class Own(nf.nulls.CircularShift):
    pass

nf.metrics.register("hits", hits, needs="scores")
nf.metrics.register("loud", loud, needs="scores")
nf.metrics.register("short", lambda labels, scores: float(limit), needs="scores")
rng = np.random.default_rng(0)
table = {"name": np.repeat(["a", "b", "c"], 60), "label": rng.random(180) < 0.1, "z": rng.normal(size=180)}
asked = dict(series="name", truth="label", scores="z", budget="5%", null=Own(), n_resamples=20)
studies = [nf.study(table, metrics=["hits", "loud", "short"], workers=n, **asked) for n in (1, 2)]
same = [list(s.cells["loud"]) + list(s.cells["short"]) + list(s.cells["hits"]) for s in studies]
assert same[0] == same[1] and len(same[0]) == 9, (same, studies[1].failed)
print("done", studies[1].n_missing)
"""


class TestWhoMayAsk:
    @pytest.mark.parametrize(
        "way",
        [pytest.param("file", marks=pytest.mark.slow), "standard input", pytest.param("-m", marks=pytest.mark.slow)],
    )
    def test_a_script_without_a_guard_is_run_once(self, tmp_path, way):
        """Workers import what their functions need, and no script: its functions and nulls are sent to them."""
        (tmp_path / "plain.py").write_text(PLAIN)
        (tmp_path / "metric_of_a_module.py").write_text("def hits(labels, scores):\n    return float(labels.sum())\n")
        command = {"file": ["plain.py"], "standard input": ["-"], "-m": ["-m", "plain"]}[way]
        paths = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run(
            [sys.executable, *command, "log"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
            input=PLAIN if way == "standard input" else "",
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("done 0")
        assert (tmp_path / "log").read_text() == "once\n"
        assert "heard" in done.stderr, "workers print to standard error: standard output may be a table or JSON"


class TestStudiesThatStop:
    def test_a_killed_parent_leaves_no_workers_and_loses_nothing(self, tmp_path):
        """Not even workers busy for another minute. Finished work is kept, and a dead process's lock blocks nobody."""
        process, out, log = start(tmp_path)
        await_parts(out, 4)
        workers = children(process.pid)
        assert len(workers) >= 2
        process.kill()
        process.wait()
        assert all_end(workers)
        process.communicate()
        assert (out / ".lock").read_text().startswith(f"process {process.pid} on ")
        have = parts_of(out, 12)
        assert have == {0, 1, 2, 3}
        before = len(logged(log))
        study(out, chunks_of(log, n=12), workers=1)
        assert {number for number, _ in logged(log)[before:]} == set(range(12)) - have
        assert len(logged(log)) - before == 12 - len(have)
        study(tmp_path / "whole", chunks_of(tmp_path / "other log", n=12), workers=1)
        assert bytes_of(out) == bytes_of(tmp_path / "whole")

    @pytest.mark.slow
    def test_ctrl_c_stops_the_workers_and_says_how_to_resume(self, tmp_path):
        """An interrupt to the whole group, as terminals send it."""
        process, out, _ = start(tmp_path)
        await_parts(out, 4)
        group = [*children(process.pid), process.pid]
        for pid in group:
            os.kill(pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
        assert stderr.count("Traceback") == 1
        message = stderr.splitlines()[-1]
        assert message == "nofluke.studies.run.Stopped: stopped after 4 of 12 chunks: run the same again to resume."
        assert all_end(group)
        assert not (out / ".lock").exists()
        assert parts_of(out, 12) == {0, 1, 2, 3}

    def test_an_interrupt_between_parts_counts_what_is_kept(self, tmp_path):
        """The exception carries the numbers, for whoever prints them."""

        def interrupt(done, failed):
            if done >= 10:
                raise KeyboardInterrupt

        with pytest.raises(Stopped) as stopped:
            study(tmp_path / "out", chunks_of(tmp_path / "log"), workers=1, progress=interrupt)
        assert (stopped.value.done, stopped.value.total) == (2, 8)
        assert not (tmp_path / "out" / "results.parquet").exists()


class TestDamage:
    def test_damaged_parts_are_found_and_computed_again(self, tmp_path, undisturbed):
        """A changed byte, a file cut off, a file gone, an index of nonsense; the others are not touched."""
        out, log = tmp_path / "out", tmp_path / "log"
        study(out, chunks_of(log), workers=1)
        cells, laws = out / "parts/000001/cells.parquet", out / "parts/000003/laws.parquet"
        data = bytearray(cells.read_bytes())
        data[len(data) // 2] ^= 1
        cells.write_bytes(data)
        laws.write_bytes(laws.read_bytes()[:-10])
        (out / "parts/000004/truths.parquet").unlink()
        (out / "parts/000005/part.json").write_text("{}")
        (out / "parts/.000002-00ff").mkdir()
        assert parts_of(out) == {0, 2, 6, 7}
        study(out, chunks_of(log), workers=1)
        assert [number for number, _ in logged(log)[8:]] == [1, 3, 4, 5]
        assert bytes_of(out) == undisturbed
        assert sorted(path.name for path in (out / "parts").iterdir()) == [f"{i:06d}" for i in range(8)]

    @pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
    def test_a_full_disk_is_one_clear_line_and_the_study_resumes(self, tmp_path, undisturbed, workers):
        """Where a part is packed (here or in a worker) and where it is kept; a limit on file size stands in."""
        out, log = tmp_path / "out", tmp_path / "log"
        before = resource.getrlimit(resource.RLIMIT_FSIZE)

        def fill_the_disk(done, failed):
            if done >= 10:  # the workers have started, without that limit
                resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))

        try:
            with pytest.raises(
                InputError, match=r"cannot be written \(File too large\): free some space .* finished work is kept"
            ):
                study(out, chunks_of(log), workers=workers, progress=fill_the_disk)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        have = parts_of(out)
        assert 2 <= len(have) < 8
        before_that = len(logged(log))
        study(out, chunks_of(log), workers=1)
        assert {number for number, _ in logged(log)[before_that:]} == set(range(8)) - have
        assert bytes_of(out) == undisturbed
        assert not list(out.glob(".*")), "nothing half-written is left"
