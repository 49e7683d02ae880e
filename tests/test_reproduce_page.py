"""The page of `nofluke reproduce`, opened in a browser: nothing is missing, nothing is asked for, nothing overflows."""

import functools
from pathlib import Path

import pytest

from nofluke.datasets import simulate_quakes
from nofluke.reproduce import reproduce, study

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of a short simulated study, as an address."""
    short = functools.partial(simulate_quakes, n_steps=300, n_events=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "simulate_quakes", short)
        done = reproduce(tmp_path_factory.mktemp("page"), simulated=True, permutations=200)
    return (done.directory / "index.html").resolve().as_uri()


@pytest.fixture
def visit(browser, address):
    """Open the page offline, and collect what it complains about and asks for."""
    contexts = []

    def open_page(width, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [380, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_is_visible_and_nothing_is_asked_for(visit, address, width, scheme):
    """A hero, eight figures with size and ink, no console message, no request but the page, no sideways scrolling."""
    page = visit(width, scheme)
    figures = page.locator("figure[id] svg:visible")
    assert figures.count() == 8
    assert page.locator(".hero svg:visible").count() == 2
    assert page.locator(".hero .said").inner_text().endswith("of 35 statements hold")
    assert page.locator("math:visible").count() == 20
    for i in range(8):
        figures.nth(i).scroll_into_view_if_needed()
        box = figures.nth(i).bounding_box()
        assert 300 <= box["width"] <= width  # all of it is seen at once, also on a telephone
        assert box["height"] >= 100
        assert figures.nth(i).is_visible()
        assert figures.nth(i).locator("path").count() > 10
    assert page.complaints == []
    assert page.requests == [address]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_text_and_ground_differ_in_both_schemes(visit):
    """Dark is dark and light is light, and the ink of the figures follows."""
    colours = {}
    for scheme in ("light", "dark"):
        page = visit(1000, scheme)
        colours[scheme] = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('figure[id] svg')).color]"
        )
    light, dark = (
        [
            sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
            for colour in colours[scheme]
        ]
        for scheme in ("light", "dark")
    )
    assert light[0] - light[1] > 400
    assert dark[1] - dark[0] > 400


def test_the_page_says_that_its_data_are_simulated(visit):
    """In the first screen, and in print on every page."""
    page = visit(380)
    assert page.locator(".banner").is_visible()
    assert page.locator(".banner").bounding_box()["y"] < 900
    margins = page.evaluate(
        "[...document.styleSheets[0].cssRules].filter(rule => rule instanceof CSSPageRule).map(rule => rule.cssText)"
    )
    assert any("bottom-right" in rule and "simulated data" in rule for rule in margins)


def test_links_lead_to_the_files_beside_the_page(visit):
    """Each figure's SVG opens by itself, and every row of the statements names its outcome."""
    page = visit(1000)
    assert page.locator("table.claims tbody tr").count() == 35
    outcomes = set(page.locator("table.claims .outcome").all_inner_texts())
    assert outcomes <= {"holds", "does not hold", "cannot be checked"}
    page.locator("#figure-2 figcaption a", has_text="SVG").click()
    assert page.url.endswith("figure-2.svg")
    assert page.locator("path").count() > 10


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1200])
def test_axe_finds_nothing(visit, width):
    """Contrast, names and keyboard, light and dark."""
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    for scheme in ("light", "dark"):
        page = visit(width, scheme)
        page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate("axe.run({exclude: [['svg > *']]}, {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []
