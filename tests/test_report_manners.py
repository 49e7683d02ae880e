"""How pages behave in a browser: without scripts, on a telephone, on paper, read aloud, downloaded, and linked to."""

import re
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from boards import study
from nofluke.show.leaderboard import write_leaderboard
from nofluke.show.report.payload import grid_of
from pages import visits

axe = pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install axe-playwright-python")

pytestmark = pytest.mark.browser

DESKTOP, PHONE, SMALL = (1200, 900), (390, 844), (360, 640)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A result and its page."""
    rng = np.random.default_rng(5)
    truth = rng.random(120) < 0.12
    result = nf.evaluate(
        truth, np.round(rng.random(120) + 0.5 * truth, 1), quantile=0.9, tolerance=2, null="permutation"
    )
    return result, result.report(tmp_path_factory.mktemp("report") / "page.html", title="Tea & <b>cups</b>")


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """The same of two lists of times."""
    days = np.datetime64("2020-01-01") + np.arange(5, 300, 17)
    result = nf.coincidence(days, days[::2] + 1, tolerance="2d", span=("2020-01-01", "2020-12-31"), null="permutation")
    return result, result.report(tmp_path_factory.mktemp("lists") / "lists.html")


@pytest.fixture(scope="module")
def desk(browser, report):
    """The page on a dark desktop, for all that does not need another."""
    with visits(browser) as visit:
        yield visit(report[1], color_scheme="dark", accept_downloads=True)


@pytest.fixture(scope="module")
def phone(browser, report):
    """The page on a telephone."""
    with visits(browser) as visit:
        yield visit(report[1], *SMALL, is_mobile=True, has_touch=True)


def until(page, expression):
    """Until it is true: by asking, since the page itself may not evaluate text."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}, address {page.url}")


def test_without_scripts_there_are_figures_and_a_notice_at_the_top(visit, report):
    """Every figure that is shown has ink and a size; what would not work is not there."""
    page = visit(report[1], java_script_enabled=False)
    notice = page.locator("p.warning").first
    assert "need JavaScript" in notice.text_content()
    assert notice.bounding_box()["y"] < 100
    for plot in page.locator(".plot").all():
        box = plot.locator(".static").bounding_box()
        assert box["width"] > 200
        assert box["height"] > 150
        assert plot.locator(".static path").count() > 1
    assert page.locator("input:visible, button:visible:not(.events thead button)").count() == 0
    assert page.locator(".events thead").inner_text().split()[:3] == ["what", "outcome", "when"]


def test_scripts_draw_in_the_place_of_what_was_there(desk):
    """One figure in each place, not two."""
    assert desk.locator(".static").count() == 0
    assert desk.locator(".plot > .chart").count() == 12


def test_what_a_button_downloads_is_what_is_shown(desk, report):
    """A drawing on white with title and key, a picture of twice the size, and a table with its numbers."""
    width = desk.locator("#lag").evaluate("box => box.clientWidth")

    def got(name):
        with desk.expect_download() as waiting:
            desk.get_by_role("button", name=name, exact=True).click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()

    name, drawing = got("Download Which null to trust: Hits with the events shifted as SVG")
    assert name == "tea-b-cups-b-which-null-to-trust-hits-with-the-events-shifted.svg"
    for text in (
        "Hits with the events shifted",
        "recall’s hits",
        'fill="#ffffff"',
        "rgb(91, 42, 134)",
    ):
        assert text in drawing.decode()
    assert "rgb(205, 169, 242)" not in drawing.decode()  # of dark screens
    name, picture = got("Download Which null to trust: Hits with the events shifted as PNG")
    assert name.endswith(".png")
    assert picture[:4] == b"\x89PNG"
    assert int.from_bytes(picture[16:20]) == 2 * np.ceil(width + 24)
    # so few events have no intervals
    desk.evaluate("document.querySelector('[data-text=\"precision.interval\"]').textContent = '−0.25 to 1,731'")
    name, table = got("Download Numbers: Both measures beside chance as CSV")
    lines = table.decode().splitlines()
    assert lines[0] == ",precision,recall"
    assert lines[2:4] == ['"95% interval, low",-0.25,none', '"95% interval, high",1731,none']
    test = report[0].precision_test
    assert f"hits,{test.hits} of {test.of},{report[0].recall_hits} of {report[0].n_events}" in lines
    assert '"p, corrected",' in table.decode()
    _, table = got("Download Which null to trust: What every null says as CSV")
    assert table.decode().splitlines()[1].startswith("permutation,")  # without the mark beside it


def test_every_figure_and_every_table_has_its_buttons(desk):
    """Which are named, and none is on paper."""
    assert desk.locator("figure:visible").count() == desk.locator("figure .downloads:visible").count() == 12
    labels = desk.locator(".downloads button").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert len(set(labels)) == len(labels) == 2 * 12 + desk.locator("table:not([data-csv=own])").count()


def test_the_address_follows_the_sliders_and_leads_back_to_them(visit, desk, report):
    """Written as people write it, read when a page opens; as evaluated there is nothing to write."""
    grid = grid_of(report[0])
    d, k = grid.chosen
    desk.locator("#tolerance").focus()
    desk.keyboard.press("Home")
    desk.locator("#threshold").focus()
    desk.keyboard.press("ArrowLeft")
    link = f"#threshold={float(grid.told[k - 1]):g}&tolerance=0"
    until(desk, f"location.hash === '{link}'")
    assert desk.locator("#strip-stays").is_visible()  # the strip of nulls is of the evaluated position
    other = visit(report[1], link="#detector=a&" + link[1:])
    assert other.evaluate("page.state") == {"d": 0, "k": k - 1}
    assert other.locator("#linked").count() == 0
    other.get_by_role("button", name="As evaluated").click()
    until(other, "location.hash === '#detector=a'")
    desk.get_by_role("button", name="As evaluated").click()
    until(desk, "location.hash === ''")
    assert desk.evaluate("page.state") == {"d": d, "k": k}
    assert desk.locator("#strip-stays").is_hidden()


def test_an_address_without_a_position_takes_the_nearest_and_says_so(desk, report):
    """Nonsense is ignored, and a move of a slider ends what was said."""
    chosen = dict(zip("dk", report[0] and grid_of(report[0]).chosen, strict=True))
    for link in ("threshold=high&tolerance=2h", "lag=3&threshold=", "tolerance=2..x"):
        desk.evaluate(f"location.hash = '{link}'")
        desk.wait_for_timeout(50)
        assert desk.evaluate("page.state") == chosen, link
        assert desk.locator("#linked").count() == 0
    desk.evaluate("location.hash = 'threshold=-7.5&tolerance=1000'")
    until(desk, "document.getElementById('linked') !== null")
    assert "threshold -7.5 and tolerance 1000" in desk.locator("#linked").text_content()
    assert desk.evaluate("page.state") == {"d": len(grid_of(report[0]).tolerances) - 1, "k": 0}
    desk.locator("#threshold").focus()
    desk.keyboard.press("ArrowRight")
    assert desk.locator("#linked").count() == 0
    desk.get_by_role("button", name="As evaluated").click()


def test_lags_have_addresses_too(visit, lists):
    """In the times' own lengths; closing a page takes its part of the address away, and no other."""
    page = visit(lists[1], link="#lag=-1d&tolerance=48h&x=1")
    grid = grid_of(lists[0])
    d, k = page.evaluate("[page.state.d, page.state.k]")
    assert (d, grid.lags[k].short) == (grid.chosen[0], "-1d")
    until(page, "location.hash === '#x=1&lag=-1d&tolerance=2d'")
    page.evaluate("page.close()")
    assert page.evaluate("location.hash") == "#x=1"


@pytest.mark.parametrize("size", [PHONE, SMALL])
def test_on_a_telephone_the_bar_is_thin_and_leads_back(phone, size):
    """At most a tenth of the height, finger-sized targets, a way back; no need for a mouse or sideways scrolling."""
    phone.set_viewport_size({"width": size[0], "height": size[1]})
    # a word of verdict may stand in the bar
    phone.evaluate(
        "document.querySelector('.controls .word') || document.querySelector('.controls').insertAdjacentHTML('afterbegin', '<strong class=\"word\">Cannot tell</strong>')"
    )
    assert phone.locator(".controls").bounding_box()["height"] <= size[1] / 10
    for target in phone.locator(".controls input:visible, button:visible").all():
        assert target.bounding_box()["height"] >= 24
    assert "Shift" not in phone.locator("body").inner_text()
    assert "Drag" not in phone.locator("body").inner_text()
    assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert phone.evaluate("[...document.querySelectorAll('.pair')].every(e => e.scrollWidth <= e.clientWidth)")
    phone.evaluate("page.select(0, 0)")
    phone.get_by_role("button", name="As evaluated").tap()
    assert "chosen beforehand" in phone.locator("#which").text_content()


def test_the_bar_keeps_its_height(desk, report):
    """While a slider moves, also where its text is long: what lies below does not jump."""
    assert desk.evaluate(
        "(() => { const bar = document.querySelector('.controls'), output = bar.querySelector('output'), was = output.textContent;"
        "const before = bar.offsetHeight; output.textContent = was.repeat(5); const after = bar.offsetHeight;"
        "output.textContent = was; return after === before; })()"
    )


def test_paper_is_full_and_white(desk):
    """Four or five pages, no page with buttons, drawn in the colours of paper though the screen is dark."""
    pdf = desk.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 5
    desk.emulate_media(media="print", color_scheme="dark")
    assert desk.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert desk.locator(":is(button, input):visible:not(.events button)").count() == 0  # rows are text there
    desk.emulate_media(media="screen", color_scheme="dark")


def complaints(page):
    """What axe finds, with the elements it found it in."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """The page of a study."""
    made, cells, failed = study(6, 8, 2)
    return None, write_leaderboard(made, tmp_path_factory.mktemp("board") / "b.html", cells=cells, failed=failed)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """The page of several detectors, one with a long name."""
    rng = np.random.default_rng(5)
    truth = rng.random(120) < 0.12
    scores = {"a": rng.random(120) + truth, "x" * 200: rng.random(120)}
    path = tmp_path_factory.mktemp("several") / "page.html"
    return None, nf.report(truth, scores, quantile=0.9, tolerance=1, null="permutation", path=path)


@pytest.fixture(scope="module")
def ranking(tmp_path_factory):
    """The page of a ranking."""
    rng = np.random.default_rng(1)
    table = {name: rng.random(20) for name in ("a", "b", "x" * 200)}
    return None, nf.rank(table).report(tmp_path_factory.mktemp("ranking") / "page.html")


def test_the_sliders_hold_still(desk):
    """While one drags: neither the place nor the width of a track changes, at any position."""
    track = "(() => { const { x, width } = document.getElementById('ID').getBoundingClientRect(), y = document.getElementById('ID').getBoundingClientRect().top + scrollY; return [x, y, width].join(); })()"
    desk.evaluate("scrollTo(0, 0)")
    shape = desk.evaluate("[+document.getElementById('tolerance').max, +document.getElementById('threshold').max]")
    for name in ("threshold", "tolerance"):
        seen = set()
        for d in range(shape[0] + 1):
            for k in range(shape[1] + 1):
                desk.evaluate(f"page.select({d}, {k})")
                seen.add(desk.evaluate(track.replace("ID", name)))
        assert len(seen) == 1, seen
    desk.get_by_role("button", name="As evaluated").click()


@pytest.mark.parametrize("figure", ["threshold-precision", "null-recall", "tolerance-recall", "heat-recall"])
def test_figures_answer_wherever_one_points(desk, figure):
    """By x, with a line through the figure: no place between the axes is silent."""
    plot = desk.locator(f"#{figure}")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    left, right = plot.evaluate("box => [box.chart.left, box.chart.right]")
    for x in np.linspace(left + 1, right - 1, 25):
        desk.mouse.move(0, 0)
        desk.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
        assert len(desk.locator(".hint").text_content()) > 10
        assert plot.locator(".crosshair").get_attribute("visibility") == "visible"
    desk.mouse.move(0, 0)


def test_the_first_screen_says_it(desk):
    """What was judged, the verdict, both numbers, and chance's distribution with the detector's line, within 600 px."""
    desk.evaluate("scrollTo(0, 0)")
    for what in ("h1", "#verdict .said", "#verdict .sentences", "#null-precision", "#null-recall"):
        box = desk.locator(what).bounding_box()
        assert box["y"] + box["height"] <= 600, what
    assert not desk.locator("#explained p").first.is_visible()  # prose is behind a click


def test_the_menu_leads_to_sections_and_leaves_the_address_alone(desk):
    """It stays in view, and the address belongs to the sliders."""
    desk.locator(".menu a", has_text="Null").click()
    until(desk, "Math.abs(document.getElementById('diagnosis').getBoundingClientRect().top) < 200")
    assert desk.locator(".menu").bounding_box()["y"] >= 0
    assert desk.evaluate("location.hash") == ""
    desk.evaluate("scrollTo(0, 0)")


@pytest.mark.parametrize("kind", ["several", "ranking"])
def test_long_names_push_nothing_wider(visit, request, kind):
    """200 letters without a blank, on a telephone: nothing but tables scrolls sideways."""
    page = visit(request.getfixturevalue(kind)[1], *PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("lists", "board", "several", "ranking")]


@pytest.mark.parametrize("kind", ["report", *SLOW])
def test_axe_finds_nothing(visit, request, kind):
    """On desktop and telephone, light and dark."""
    path = request.getfixturevalue(kind)[1]
    page = visit(path)
    # a figure is one image with a description: what it is made of would take most of the time
    page.evaluate("document.querySelectorAll('.plot').forEach(plot => plot.replaceChildren()), window.page?.close()")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    for size in (DESKTOP, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert complaints(page) == [], (size, scheme)
