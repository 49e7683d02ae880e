"""The report in a browser, from disk and without a network: sliders, clicks, sizes, colours, and a million steps."""

import re

import numpy as np
import pytest

import nofluke as nf
from nofluke.nulls.base import NullModel
from nofluke.show.report.grid import make_grid
from nofluke.text.numbers import show_chance, show_p
from nofluke.text.signs import COLOURS
from nofluke.text.tables import show_share

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("unwritten")]

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def example():
    rng = np.random.default_rng(5)
    truth = rng.random(300) < 0.08
    return truth, np.round(rng.random(300) + 0.5 * truth, 3)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One report and the data behind it."""
    truth, scores = example()
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, rng=1)
    return result, result.report(tmp_path_factory.mktemp("report") / "report.html", title=NASTY)


def wait_until(page, expression):
    """Until it is true: by asking, since the page itself may not evaluate text."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def numbers_on(page):
    """What the page shows about both measures, and the matrices."""
    names = [f"{side}.{what}" for side in ("precision", "recall") for what in ("value", "hits", "chance", "p")]
    texts = {name: page.locator(f'[data-text="{name}"]').first.text_content() for name in names}
    entries = {
        side: page.locator(f'[data-matrix="{side}"] tbody td').all_text_contents() for side in ("truth", "predictions")
    }
    return texts | {"verdict": page.locator("#verdict").get_attribute("data-verdict")} | entries


def numbers_of(result):
    """The same of an evaluation."""
    texts = {}
    for side in ("precision", "recall"):
        test = getattr(result, f"{side}_test")
        texts |= {
            f"{side}.value": show_share(getattr(result, side)),
            f"{side}.hits": f"{test.hits:,} of {test.of:,}",
            f"{side}.chance": show_chance(test.expected, test.std),
            f"{side}.p": show_p(test.pvalue),
        }
    entries = ("tp", "fp", "predicted", "fn", "tn", "not_predicted", "actual", "not_actual", "total")
    matrices = {"truth": result.tolerant_truth, "predictions": result.tolerant_predictions}
    counted = {side: [f"{getattr(matrix, e):,}" for e in entries] for side, matrix in matrices.items()}
    return texts | {"verdict": result.verdict} | counted


def evaluated(result, d, k):
    """What `evaluate` gives for a slider position, by the null of the page."""
    grid = make_grid(result)
    where = {"quantile": grid.quantiles[k], "tolerance": grid.tolerances[d]}
    return numbers_of(nf.evaluate(*example(), **where, null=result.null, rng=1))


def test_it_opens_with_the_numbers_of_the_result(visit, report):
    """From disk, with no request and no complaint, all figures drawn and described."""
    result, path = report
    page = visit(path)
    assert numbers_on(page) == numbers_of(result)
    plots = page.locator(".plot")
    assert plots.count() == 12
    assert page.locator(".plot .chart").count() == 12
    for plot in plots.all():
        described = page.locator("#" + plot.get_attribute("aria-labelledby"))
        assert len(described.text_content()) > 20
    assert "chosen beforehand, so its own p-values count" in page.locator("#which").text_content()


def test_moving_a_slider_gives_the_numbers_of_evaluate(visit, report):
    """Both sliders, by keyboard, to the ends and in between; everything follows, in words too."""
    result, path = report
    page = visit(path)
    d, k = make_grid(result).chosen
    threshold, tolerance = page.locator("#threshold"), page.locator("#tolerance")
    threshold.focus()
    for key, change in (("ArrowRight", 1), ("ArrowRight", 1), ("ArrowLeft", -1), ("Home", -k - 1)):
        page.keyboard.press(key)
        k += change
        assert numbers_on(page) == evaluated(result, d, k)
        assert threshold.get_attribute("aria-valuetext").startswith("score ≥ ")
    tolerance.focus()
    for key in ("ArrowUp", "End"):
        page.keyboard.press(key)
        d = int(tolerance.input_value())
        assert numbers_on(page) == evaluated(result, d, k)
        assert tolerance.get_attribute("aria-valuetext") == str(make_grid(result).tolerances[d])
    assert "found by moving the sliders" in page.locator("#which").text_content()
    assert page.locator(".controls .word").text_content() == page.locator("#verdict strong").text_content().strip(".")
    page.get_by_role("button", name="As evaluated").click()
    assert numbers_on(page) == numbers_of(result)


def test_figures_follow_the_sliders(visit, report):
    """The null distribution, the curves and the timeline show the selected cell, not the first one."""
    result, path = report
    page = visit(path)
    observed = "document.getElementById('null-recall').chart.layers.find(l => l.name === 'observed').x"
    line = "document.getElementById('threshold-precision').chart.layers.find(l => l.name === 'observed').y"
    assert page.evaluate(observed) == result.recall_hits
    before = page.evaluate(line)
    page.locator("#tolerance").focus()
    page.keyboard.press("End")
    last = nf.evaluate(*example(), quantile=0.9, tolerance=make_grid(result).tolerances[-1], null=result.null)
    wait_until(page, f"{observed} === {last.recall_hits}")
    assert page.evaluate(line) != before
    lanes = page.evaluate("document.getElementById('timeline').chart.layers.map(l => l.lane || l.name)")
    assert lanes == ["score", "cut", "hit", "false", "found", "missed"]


def test_a_click_on_the_heat_map_selects_its_cell(visit, report):
    """Where one clicks, the sliders go."""
    result, path = report
    page = visit(path)
    heat = page.locator("#heat-precision")
    heat.scroll_into_view_if_needed()
    spot = page.evaluate(
        """() => {
            const plot = document.getElementById("heat-precision"), box = plot.getBoundingClientRect();
            return [box.left + plot.chart.sx(7), box.top + plot.chart.panels[0].sy(5)];
        }"""
    )
    page.mouse.move(*spot)
    assert "p " in page.locator(".hint").text_content()
    page.mouse.click(*spot)
    wait_until(page, "document.getElementById('threshold').value === '7'")
    assert page.locator("#tolerance").input_value() == "5"
    assert numbers_on(page) == evaluated(result, 5, 7)


def test_the_timeline_zooms_to_single_steps_and_back(visit, report):
    """By its buttons: tolerance windows appear when there is room, and everything comes back."""
    _, path = report
    page = visit(path)
    drawn = "document.getElementById('timeline').chart.bands.flatMap(band => band.spans).length"
    for _ in range(4):
        page.get_by_role("button", name="zoom in").click()
    page.get_by_role("button", name="later").click()
    low, high = page.evaluate("page.view")
    assert high - low < 25
    while page.evaluate(drawn) == 0 and page.evaluate("page.view[1]") < 300:
        page.get_by_role("button", name="later").click()
    assert page.evaluate(drawn) > 0
    page.get_by_role("button", name="all", exact=True).click()
    assert page.evaluate("page.view") == [0, 300]


@pytest.mark.parametrize("width", [380, 1600])
def test_nothing_runs_over_the_edge(visit, report, width):
    """A telephone and a wide screen: no sideways scrolling, figures as wide as their places."""
    page = visit(report[1], width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for plot in page.locator(".plot").all():
        box = plot.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert abs(plot.locator(".chart").bounding_box()["width"] - box["width"]) < 2


def test_a_resized_window_redraws_the_figures(visit, report):
    """Turning a telephone is no reason to scroll sideways."""
    page = visit(report[1], width=1200)
    page.set_viewport_size({"width": 500, "height": 900})
    wait_until(page, "document.querySelector('#timeline .chart').getBoundingClientRect().width < 500")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("width", [1000, 1800])
def test_confusion_matrices_are_seen_whole_beside_one_another_or_below(visit, tmp_path, width):
    """Numbers of five digits need no scrolling on a screen of any usual width."""
    truth = np.arange(10_320) % 1_000 < 100
    result = nf.evaluate(truth, predictions=np.arange(10_320) % 100 == 0, tolerance=12)
    page = visit(result.report(tmp_path / "page.html"), width=width)
    page.get_by_text("Confusion matrices").click()
    assert page.evaluate("[...document.querySelectorAll('.pair')].every(e => e.scrollWidth <= e.clientWidth)")


def test_dark_screens_get_a_dark_page_and_dark_figures(visit, report):
    """Colours follow the reader's system, also in the figures, and paper stays white."""
    page = visit(report[1], color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    colour = "getComputedStyle(document.querySelector('#null-recall .line.observed')).stroke"
    dark = (page.evaluate(ground), page.evaluate(colour))
    page.emulate_media(color_scheme="light")
    wait_until(page, f"{colour} !== '{dark[1]}'")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert dark[0] != "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    light = COLOURS["observed"][0]
    assert page.evaluate(colour) == f"rgb({', '.join(str(int(light[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.slow
@pytest.mark.parametrize("width", [380, 1200])
def test_other_metrics_are_drawn_within_the_page(visit, tmp_path, width):
    """Bars and a line for each, none over the edge, and no line where a value is undefined."""
    truth, scores = example()
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
    page = visit(result.report(tmp_path / "page.html", metrics=["auc-roc", "best-pa-f1", "nab"]), width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for i in range(3):
        assert page.evaluate(f"document.getElementById('metric-{i}').chart.layers.map(l => l.kind)") == ["bars", "rule"]
        box = page.locator(f"#metric-{i}").bounding_box()
        assert abs(page.locator(f"#metric-{i} .chart").bounding_box()["width"] - box["width"]) < 2
    quiet = nf.evaluate(np.zeros(300), scores, quantile=0.9)
    page = visit(quiet.report(tmp_path / "quiet.html", metrics=["auc-roc"]), width=width)
    assert page.evaluate("document.getElementById('metric-0').chart.layers.length") == 1


def test_it_prints(visit, report):
    """A handful of pages, not one long strip and not a pile."""
    pdf = visit(report[1]).pdf(format="A4")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 9


def test_markup_in_a_title_is_shown_as_text(visit, report):
    """Nothing from the data is run (a dialog would fail the test), all of it is shown."""
    page = visit(report[1])
    assert page.locator("h1").text_content() == NASTY
    assert page.locator("h1 *").count() == 0


def test_alarms_irregular_clocks_and_masks_work_without_a_threshold(visit, tmp_path):
    """One slider, a time axis, grey stretches that were left out."""
    rng = np.random.default_rng(2)
    truth = rng.random(200) < 0.1
    times = np.datetime64("2020-05-01T00:00") + np.cumsum(rng.integers(1, 50, 200)).astype("timedelta64[m]")
    alarms, mask = rng.random(200) < 0.2, np.arange(200) // 20 == 4
    result = nf.evaluate(truth, predictions=alarms, tolerance="1h", times=times, mask=mask, rng=1)
    page = visit(result.report(tmp_path / "alarms.html"))
    assert page.locator("#threshold").is_hidden()
    assert numbers_on(page) == numbers_of(result)
    page.locator("#tolerance").focus()
    page.keyboard.press("Home")
    exact = nf.evaluate(truth, predictions=alarms, tolerance="0s", times=times, mask=mask, null=result.null, rng=1)
    assert numbers_on(page) == numbers_of(exact)
    assert page.evaluate("document.getElementById('timeline').chart.bands.flatMap(band => band.spans).length") >= 1


SIZES = {
    "tiny": np.arange(60) * 5e-324,
    "small": np.arange(60) * 1e-300,
    "large": np.linspace(-1, 1, 60) * 1.7e308,
    "constant and large": np.full(60, 1e17),
    "neighbouring floats": np.where(np.arange(60) % 3 == 0, np.nextafter(1e17, 1e18), 1e17),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_scores_of_any_size_are_drawn(visit, tmp_path, name):
    """One figure without a scale would leave all of them empty."""
    truth = np.arange(60) % 7 == 3
    result = nf.evaluate(truth, SIZES[name], quantile=0.8, tolerance=1)
    page = visit(result.report(tmp_path / "page.html"))
    assert page.locator("#timeline .yticks text").count() > 0
    assert page.locator("#delay .bars").get_attribute("d") != ""


@pytest.mark.parametrize("steps", [1, 9])
def test_axes_of_whole_numbers_have_whole_ticks(visit, tmp_path, steps):
    """No number stands at two places, as 0 and 1 would for .4 and .6."""
    truth = np.arange(steps) % 3 == 0
    page = visit(nf.evaluate(truth, truth.astype(float), threshold=1, tolerance=0).report(tmp_path / "page.html"))
    for figure, axis in (
        ("null-precision", "x"),
        ("null-recall", "x"),
        ("delay", "y"),
        ("lag", "x"),
        ("lag", "y"),
        ("timeline", "x"),
    ):
        texts = page.locator(f"#{figure} .{axis}ticks text").all_text_contents()
        assert len(set(texts)) == len(texts), f"{figure} {axis}: {texts}"
        assert all(re.fullmatch(r"[−-]?\d+", text) for text in texts), f"{figure} {axis}: {texts}"


def test_no_events_and_no_predictions_are_said_and_drawn(visit, tmp_path):
    """Nothing to show is no reason to break."""
    result = nf.evaluate(np.zeros(50), predictions=np.zeros(50), tolerance=1)
    page = visit(result.report(tmp_path / "nothing.html"))
    assert "There are no predictions" in page.locator("#explained").text_content()
    assert page.locator('[data-text="precision.value"]').first.text_content() == "undefined"
    # nothing but zeros on an axis of shares: it is as long as all of them
    assert page.evaluate("document.getElementById('tolerance-recall').chart.panels[0].range") == [0, 1.04]


def test_ranges_are_drawn_whole_and_tolerance_bands_do_not_pile_up(visit, tmp_path, monkeypatch):
    """Windows that overlap are one shape; a range is one bar; the matrix that ranges do not have is not shown."""
    monkeypatch.setattr(NullModel, "check", lambda *_: None)  # only what is drawn matters here
    scores = np.arange(60.0) % 13
    result = nf.evaluate([(5, 9), (12, 12), (40, 50)], scores, threshold=12, tolerance=3, null="circular-shift")
    page = visit(result.report(tmp_path / "report.html"))
    rects = "document.getElementById('timeline').chart.bands.flatMap(band => band.spans)"
    assert page.evaluate(rects) == [[1.5, 15.5], [36.5, 53.5]]
    bars = page.evaluate(
        "document.getElementById('timeline').chart.layers.find(l => l.title === 'ranges found').spans.flatMap(s => s.slice(0, 2))"
    )
    assert sorted({x for x in bars if x is not None}) == [4.5, 9.5, 11.5, 12.5, 39.5, 50.5]
    page.get_by_text("Confusion matrices").click()
    assert page.locator('[data-matrix="truth"]').is_visible()
    assert page.locator('[data-matrix="predictions"]').count() == 0
