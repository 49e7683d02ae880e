"""The timeline in a browser: no line across gaps, single steps of a million, windows at the events, named marks."""

import re

import numpy as np
import pytest

import nofluke as nf
from nofluke.show.report import grid as places
from pages import visits

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("unwritten")]

PLOT = "document.getElementById('timeline')"
RECTS = f"{PLOT}.chart.bands.find((band) => band.name === 'window').spans"
LINE = f"{PLOT}.chart.layers.find((layer) => layer.name === 'score')"


@pytest.fixture(scope="module")
def visit(browser, tmp_path_factory):
    """Opens the page of a result, with few positions on its sliders."""
    with visits(browser) as opened, pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "SECONDS", 0.01)

        def visit(result, **how):
            path = result.report(tmp_path_factory.mktemp("timeline") / "page.html")
            return opened(path, **how), path

        yield visit


@pytest.mark.slow
def test_a_million_steps_zoom_to_single_ones(visit):
    """Below 12 MB; up close every step is drawn, on its side of the threshold, with windows where the events are."""
    rng = np.random.default_rng(0)
    events = np.sort(rng.choice(1_000_000, 300, replace=False))
    scores = rng.standard_normal(1_000_000)
    scores[events] += 2
    truth = np.zeros(1_000_000, dtype=bool)
    truth[events] = True
    result = nf.evaluate(truth, scores, quantile=0.999, tolerance=5, null="permutation")
    page, path = visit(result)
    assert path.stat().st_size < 12e6
    assert page.evaluate("Array.from(page.series.first)") == events.tolist()
    assert page.evaluate(f"{LINE}.x.length") < 4_000
    for event in events[[3, 150, 296]].tolist():
        page.evaluate(f"page.setView({event - 30}, {event + 30})")
        x, y = page.evaluate(f"[{LINE}.x, {LINE}.y]")
        assert x == list(range(x[0], x[-1] + 1))
        assert x[0] <= event - 30 < event + 29 <= x[-1] < event + 33
        np.testing.assert_allclose(y, scores[x], atol=1e-3)
        assert ((np.array(y) >= result.threshold) == (scores[x] >= result.threshold)).all()
        near = events[(events > event - 30) & (events < event + 30)]
        assert [event - 5.5, event + 5.5] in page.evaluate(RECTS) or len(near) > 1
    for _ in range(3):  # at the end of what can be told apart, as before it, what is in the middle stays there
        page.get_by_role("button", name="zoom in").click()
    low, high = page.evaluate("page.view")
    assert (high - low, (low + high) / 2) == (8, event)
    page.close()


def test_windows_are_drawn_around_all_events_or_none(visit):
    """Windows of close events overlap: on the whole line none of them stands out, and the key has no entry."""
    truth, scores = np.zeros(3_000, dtype=bool), np.arange(3_000) % 41 + 0.5
    truth[[*range(100, 130, 3), 700, 1_500, 2_900]] = True
    page, path = visit(nf.evaluate(truth, scores, threshold=38, tolerance=2, null="permutation"))
    assert 'class="k-window" hidden' in path.read_text(encoding="utf-8")
    for view, many in (("...[0, 3000]", 0), ("90, 140", 1), ("690, 740", 1), ("200, 240", 0)):
        page.evaluate(f"page.setView({view})")
        assert len(page.evaluate(RECTS)) == many
        assert page.locator(".k-window").is_visible() == (many > 0)
    page.close()


@pytest.fixture(scope="module")
def broken(visit):
    """A page of an irregular clock with gaps, masked steps, and steps without a score."""
    rng = np.random.default_rng(2)
    apart = rng.integers(1, 50, 400)
    apart[[80, 200, 201]] = 6_000
    times = np.datetime64("2020-05-01T00:00") + np.cumsum(apart).astype("timedelta64[m]")
    truth = rng.random(400) < 0.06
    scores = rng.normal(size=400) + 2 * truth
    scores[300:310] = np.nan
    mask = np.arange(400) // 20 == 6
    how = {"times": times, "mask": mask, "missing": "mask", "tolerance": "1h", "null": "permutation"}
    page, _ = visit(nf.evaluate(truth, scores, quantile=0.93, **how))
    return page, times.astype("datetime64[ms]").astype(float), np.isnan(scores) | mask


def test_no_line_is_drawn_across_a_gap(broken):
    """Thinned to pixels or up close: neighbours on the line have no gap and no step without a score between them."""
    page, at, missing = broken
    whole = page.evaluate("page.view")
    for low, high in ([0.0, 1.0], [0.0, 0.3], [0.85, 1.0], [0.92, 0.98]):
        page.evaluate(
            f"page.setView({whole[0] + low * (whole[1] - whole[0])}, {whole[0] + high * (whole[1] - whole[0])})"
        )
        x, y = page.evaluate(f"[{LINE}.x, {LINE}.y]")
        crossed = 0
        for (x0, y0), (x1, y1) in zip(zip(x[:-1], y[:-1], strict=True), zip(x[1:], y[1:], strict=True), strict=True):
            if y0 is None or y1 is None:
                continue
            first, last = np.searchsorted(at, x0), np.searchsorted(at, x1, side="right") - 1
            between = np.diff(at[first : last + 1])
            crossed += bool(missing[first : last + 1].any() or between.max(initial=0) >= 6_000 * 60_000)
        assert crossed == 0
        assert any(value is not None for value in y)
    page.evaluate(f"page.setView({whole[0]}, {whole[1]})")
    drawn = page.evaluate(f"{LINE}.x.filter((_, i) => {LINE}.y[i] !== null)")
    alone = at[200]  # between two gaps: a line of no length would not be seen
    assert len([x for x in drawn if abs(x - alone) < 2 * (whole[1] - whole[0]) / 1_000]) == 2


def test_pointing_at_a_mark_names_it(broken):
    """With the mouse, over a lane: which event, when, found or missed, and its delay."""
    page, *_ = broken
    page.locator("#timeline").scroll_into_view_if_needed()
    spot = page.evaluate(
        """() => {
            const plot = document.getElementById("timeline"), box = plot.getBoundingClientRect(), { sx, panels } = plot.chart;
            const lanes = panels[panels.length - 1], lane = lanes.layers.find((layer) => layer.lane === "missed");
            return [box.left + sx(lane.spans[1][0]), box.top + lanes.sy((lane.low + lane.high) / 2)];
        }"""
    )
    page.mouse.move(spot[0] + 2, spot[1])
    assert "missed; nearest alarm at 2020-05-" in page.locator(".hint").text_content()
    assert page.locator("#timeline .crosshair").get_attribute("visibility") == "visible"
    page.mouse.move(0, 0)
    assert page.locator(".hint").is_hidden()


def test_the_score_answers_everywhere_with_its_time_of_day(broken):
    """At every place along the line there is a hint, and it has day, hour and minute."""
    page, *_ = broken
    box = page.locator("#timeline").bounding_box()
    for share in np.linspace(0.12, 0.98, 30):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 60)
        assert re.fullmatch(r"2020-0\d-\d\d \d\d:\d\d: score \S+", page.locator(".hint").text_content())
    page.mouse.move(0, 0)


def test_a_row_and_its_mark_light_each_other(broken):
    """Whichever of them the pointer is on."""
    page, *_ = broken
    row = page.locator("#events-table tbody tr", has_text="missed").first
    row.hover()
    lit = page.evaluate(f"{PLOT}.chart.layers.find((layer) => layer.name === 'lit').spans[0]")
    page.mouse.move(0, 0)
    assert page.evaluate(f"{PLOT}.chart.layers.some((layer) => layer.name === 'lit')") is False
    page.locator("#timeline").scroll_into_view_if_needed()
    spot = page.evaluate(
        """([from, to]) => {
            const plot = document.getElementById("timeline"), box = plot.getBoundingClientRect(), { sx, panels } = plot.chart;
            return [box.left + (sx(from) + sx(to)) / 2, box.top + panels[panels.length - 1].sy(0.5)];
        }""",
        lit,
    )
    page.mouse.move(*spot)
    name = row.locator("th").text_content()
    assert name in page.locator("#events-table tr[data-lit] th").all_text_contents()
    page.mouse.move(0, 0)
    assert page.locator("#events-table tr[data-lit]").count() == 0


def test_dragging_moves_the_timeline_and_shift_zooms(broken):
    """What is under the pointer stays under it; with Shift the stretch that was chosen fills the figure."""
    page, *_ = broken
    page.get_by_role("button", name="all", exact=True).click()
    page.get_by_role("button", name="zoom in").click()
    page.locator("#timeline").scroll_into_view_if_needed()
    box, (low, high) = page.locator("#timeline").bounding_box(), page.evaluate("page.view")
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 100, middle[1], steps=4)
    page.mouse.up()
    moved = page.evaluate("page.view")
    per_pixel = (high - low) / page.evaluate(f"{PLOT}.chart.right - {PLOT}.chart.left")
    assert moved == pytest.approx([low - 100 * per_pixel, high - 100 * per_pixel], rel=1e-9)
    page.keyboard.down("Shift")
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 200, middle[1], steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    start, end = page.evaluate("page.view")
    assert end - start == pytest.approx(200 * per_pixel, rel=1e-6)
    page.get_by_role("button", name="all", exact=True).click()


def test_steps_have_whole_ticks_at_every_zoom_and_phones_no_advice_for_a_mouse(visit):
    """No number twice, no fractions; on a narrow screen buttons move the timeline, and nothing mentions Shift."""
    truth, scores = np.arange(400) % 37 == 5, np.arange(400) % 41 + 0.5
    result = nf.evaluate(truth, scores, threshold=38, tolerance=2, null="permutation")
    page, _ = visit(result, width=390, height=800, has_touch=True)
    assert "Shift" not in page.locator("#about-timeline").inner_text()
    for _ in range(6):
        page.get_by_role("button", name="zoom in").click()
        texts = page.locator("#timeline .xticks text").all_text_contents()
        assert len(set(texts)) == len(texts) > 1
        assert all(text.isdigit() for text in texts)
    assert page.evaluate("page.view[1] - page.view[0]") == 8
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1200, "height": 800})
    page.close()


def test_alarms_at_their_own_times_have_a_page(visit):
    """Alarms and events between the steps, each where it is."""
    times = np.datetime64("2020-01-01") + np.arange(100) * np.timedelta64(1, "h")
    events, alarms = times[[5, 30, 60]] + np.timedelta64(7, "m"), times[[5, 31, 80, 90]] + np.timedelta64(20, "m")
    result = nf.evaluate(events, predictions=alarms, times=times, truth_as="times", tolerance="1h", null="permutation")
    page, _ = visit(result)
    marks = page.evaluate(
        f"{PLOT}.chart.layers.find((layer) => layer.lane === 'false').spans.flatMap((span) => span.slice(0, 2))"
    )
    assert sorted(set(marks)) == alarms[1:].astype("datetime64[ms]").astype(float).tolist()
    hour = 3_600_000
    own = events.astype("datetime64[ms]").astype(float)
    assert page.evaluate(RECTS) == [[at - hour, at + hour] for at in own]
    page.close()
