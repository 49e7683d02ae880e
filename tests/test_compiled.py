"""Compiled code is kept on disk where that is possible, and compiled anew where it is not: never an error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nofluke

pytestmark = pytest.mark.slow

# two metrics whose loops are quick to compile
CODE = """
import nofluke as nf
labels, scores = [0, 1, 1, 0], [0.1, 0.9, 0.3, 0.3]
print(nf.metrics.AUCROC()(labels, scores), nf.metrics.PAF1()(labels, labels))
"""
NO_PLACE = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
"""


def run(code, cache):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(nofluke.__file__).parent.parent), "NUMBA_CACHE_DIR": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache directory, and what a run with it prints."""
    cache = tmp_path_factory.mktemp("cache")
    done = run(CODE, cache)
    assert done.stderr == ""
    return cache, done.stdout


def test_without_a_writable_directory_every_run_compiles_and_says_so_once(filled, tmp_path):
    """Read-only package and home, as in hardened containers: the same answer, and one line on standard error."""
    done = run(NO_PLACE + CODE, tmp_path)
    assert done.stdout == filled[1]
    assert done.stderr.splitlines() == [
        "nofluke: cannot save compiled code, so every run compiles it again, which takes a few seconds: set "
        "NUMBA_CACHE_DIR to a writable directory."
    ]


def test_the_remark_goes_where_the_log_goes(tmp_path):
    """A library does not write to a service's standard error where logging is set up."""
    setup = f"import logging\nlogging.basicConfig(filename={str(tmp_path / 'log')!r})\n"
    done = run(setup + NO_PLACE + CODE, tmp_path)
    assert done.stderr == ""
    assert (tmp_path / "log").read_text(encoding="utf-8").count("cannot save compiled code") == 1


@pytest.mark.parametrize(
    ("ending", "damage"),
    [("nbi", b""), ("nbc", b"\x80"), ("nbi", b"no pickle at all"), ("nbc", b"no pickle at all")],
    ids=["empty", "cut", "garbage index", "garbage code"],
)
def test_a_damaged_cache_is_dropped_and_filled_again(filled, ending, damage):
    """Index or code cut off or overwritten: the same answer, and sound files afterwards."""
    cache, expected = filled
    files = sorted(cache.rglob(f"*.{ending}"))
    assert files
    for file in files:
        file.write_bytes(damage)
    done = run(CODE, cache)
    assert (done.stdout, done.stderr) == (expected, "")
    assert all(len(file.read_bytes()) > 100 for file in files)


def test_a_cache_that_can_no_longer_be_written_stops_nothing(filled, tmp_path):
    """A disk that fills up between the first look and the writing."""
    full = """
from numba.core import caching
def refuse(*_): raise OSError(28, "No space left on device")
caching.IndexDataCacheFile.save = caching.IndexDataCacheFile.flush = refuse
"""
    done = run(full + CODE, tmp_path)
    assert done.stdout == filled[1]
    assert done.stderr.count("cannot save compiled code") == done.stderr.count("\n") == 1
