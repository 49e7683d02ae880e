"""What all tests share: a browser, how many examples properties get, one line for each reason to skip."""

import json
import os
import sys
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

import nofluke as nf
from nofluke.compiled import Patience
from nofluke.laws.exact import programme
from pages import CHROMIUM, visits

SHARE = 8
OWN_SETTINGS = "_hypothesis_internal_use_settings"  # where @settings keeps them
MANY = 5_000  # tests: all but those behind markers
PERMUTED = {"tolerance": 2, "null": "permutation"}
NO_BROWSER = "there is no chromium to look at the page with"

# no property is about speed: a busy machine, or a first call that compiles, is no failure
settings.register_profile("nofluke", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nofluke")

if sys.dont_write_bytecode:
    # hundreds of tests start an interpreter, and each would compile the package again
    sys.dont_write_bytecode = False
    del os.environ["PYTHONDONTWRITEBYTECODE"]


@pytest.fixture(scope="module")
def browser():
    """Chromium; where it is missing, tests that need it are skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    with sync_api.sync_playwright() as started:
        # no sandbox: tests run as root in a container
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def headless():
    """No window of matplotlib, and no figure left behind."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    yield
    plt.close("all")


@pytest.fixture
def added(monkeypatch):
    """Metrics by names that are gone again after the test."""
    monkeypatch.setattr(nf.metrics, "_ADDED", {})
    return nf.metrics._ADDED


@pytest.fixture
def visit(browser):
    """Opens a page, as `pages.visits` does."""
    with visits(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def unwritten():
    """Figures that a page has for readers without scripts are drawn but not written, which would take most of its time.

    `test_page_figures.py` looks at them as they are written, `test_report_manners.py` in a browser.
    """
    with patch("nofluke.show.kit.figure._saved", lambda *_: '<svg class="static" aria-hidden="true"></svg>'):
        yield


@pytest.fixture
def run(capsys):
    """Run the command line in this process; returns exit code, output and errors."""
    from nofluke.cli import main

    def call(*words):
        with pytest.raises(SystemExit) as stopped:
            main([str(word) for word in words])
        told = capsys.readouterr()
        return stopped.value.code, told.out, told.err

    return call


@pytest.fixture
def run_json(run):
    """Run a command with --format json, and read what it prints as strictly as JSON is written."""

    def call(*words):
        code, out, err = run(*words, "--format", "json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    return call


def pytest_addoption(parser):
    """Who has more time gets all examples of each property, as .ci/run does."""
    parser.addoption("--all-examples", action="store_true", help=f"properties get all examples, not one of {SHARE}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Whoever asks for a browser is marked so; properties get a share of their examples, unless all are asked for."""
    seen = set()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        function = getattr(item, "function", None)
        if is_hypothesis_test(function) and not config.getoption("--all-examples") and function not in seen:
            seen.add(function)  # once for all its parameters
            own = getattr(function, OWN_SETTINGS, settings.default)
            setattr(function, OWN_SETTINGS, settings(own, max_examples=-(-own.max_examples // SHARE)))


def pytest_collection_finish(session):
    """Where everything is tested, two workers compile a half each of what takes longest, and read that of the other."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if len(session.items) < MANY or worker not in ("gw0", "gw1"):
        return
    steps = np.arange(20_000)
    if worker == "gw0":
        hurried = Patience(programme.compile_walk)
        hurried.spend(60.0)
        with patch.object(programme, "WALKS", hurried):  # the recurrence over blocks, and the product of equal clusters
            assert nf.evaluate(steps[:100] % 40 == 0, predictions=steps[:100] % 30 == 0, **PERMUTED).verdict
        assert nf.evaluate(steps % 37 == 0, predictions=np.sin(steps) > 0.8, **PERMUTED).verdict  # the inversion
    else:
        truth, scores = steps[:300] % 37 == 0, np.sin(steps[:300])
        assert nf.significance(list(nf.metrics.names()), truth, scores, quantile=0.9, null="circular-shift")


def pytest_runtest_setup(item):
    """Tests in a browser need one."""
    if CHROMIUM is None and item.get_closest_marker("browser"):
        pytest.skip(NO_BROWSER)


def pytest_terminal_summary(terminalreporter):
    """A line for each reason to skip; and how large the house is, where a run has looked at it."""
    skipped = (one.longrepr[2] for one in terminalreporter.stats.get("skipped", ()))
    for reason, n in Counter(why.removeprefix("Skipped: ") for why in skipped).most_common():
        terminalreporter.write_line(f"skipped {n}: {reason}")
    reports = (one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ()))
    if any("test_the_house_is_measured" in one.nodeid for one in reports):
        from test_architecture import house

        terminalreporter.write_line(f"house: {house()}")
