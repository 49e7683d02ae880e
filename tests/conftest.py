"""What tests of pages share: a browser without a window, one for each test file; and how large the house is."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Chromium; where it is missing, tests that need it are skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium to look at the page with")
    with sync_api.sync_playwright() as started:
        # no sandbox: tests run as root in a container
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def pytest_terminal_summary(terminalreporter):
    """How large the house is, where a run has looked at it."""
    reports = (one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ()))
    if any("test_the_house_is_measured" in one.nodeid for one in reports):
        from test_architecture import house

        terminalreporter.write_line(f"house: {house()}")
