"""Figures without scripts: ticks where people would put them, paths that are right, and every figure of every page."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nofluke.show.svg import Axis, Chart
from nofluke.show.ticks import date_ticks, number_ticks

import nofluke as nf
from nofluke.show.report import make_page
from nofluke.show.report.origin import Stretches, timeline_figure
from nofluke.show.report.page import style
from nofluke.show.report.payload import address_of

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install 'nofluke[report]'")

sizes = st.floats(-1e12, 1e12, allow_nan=False)


@given(low=sizes, length=st.floats(1e-3, 1e12), whole=st.booleans())
@example(low=450359962738.0, length=1e-3, whole=False)  # floats are coarser there than the axis needs
def test_ticks_are_few_even_and_say_where_they_stand(low, length, whole):
    """Inside the axis, the same distance apart, and read back they are what was meant."""
    ticks = number_ticks(low, low + length, whole=whole)
    at = [tick.at for tick in ticks]
    assert len(at) <= 8
    assert all(low - 1e-6 * length <= x <= low + length * (1 + 1e-6) for x in at)
    if len(at) > 2:
        assert np.ptp(np.diff(at)) <= 1e-6 * (length + abs(low))
    assert len({tick.text for tick in ticks}) == len(ticks)
    for tick in ticks:
        assert not whole or float(tick.at).is_integer()
        told = float(tick.text.replace(",", "").replace("−", "-"))
        assert told == pytest.approx(tick.at, abs=1e-6 * length, rel=1e-12)


@pytest.mark.parametrize(
    ("length", "first", "second"),
    [
        ("30s", "00:00:05", "00:00:10"),
        ("9h", "02:00", "04:00"),
        ("60h", "12:00", "00:00\n4 Mar 2021"),
        ("30d", "8 Mar\n2021", "15 Mar"),
        ("300d", "Jul", "Sep"),
        ("4000d", "2024", "2026"),
    ],
)
def test_ticks_of_dates_are_where_calendars_and_clocks_have_theirs(length, first, second):
    """Whole hours, Mondays, months and years, each named as far as it differs from the one before."""
    start = datetime(2021, 3, 3, tzinfo=UTC).timestamp() * 1000
    span = {"s": 1e3, "h": 3.6e6, "d": 8.64e7}[length[-1]] * float(length[:-1])
    texts = [tick.text for tick in date_ticks(start, start + span)]
    assert (first, second) in pairwise(texts)
    assert len(texts) <= 9


def test_a_line_is_interrupted_where_it_is_undefined():
    """A gap is a new beginning, a point on its own is a dot, and up is up."""
    chart = Chart(x=Axis(low=0, high=4), y=Axis(low=0, high=1))
    chart.line([0, 1, 2, 3, 4], [0.0, 1.0, None, 0.5, float("nan")], "observed")
    assert re.search('class="observed" d="([^"]*)"', chart.svg())[1] == "M0 1000L250 0M750 500L750 500"


def test_bars_and_areas_reach_from_the_lower_end():
    """A bar of no height is not drawn."""
    chart = Chart(x=Axis(low=0, high=10), y=Axis(low=0, high=2))
    chart.bars([(0, 1, 1.0), (5, 6, 0.0)], "part")
    chart.area([0, 10], [0.0, 0.0], [2.0, 1.0], "band")
    text = chart.svg()
    assert 'class="part" d="M0 1000V500H100V1000z"' in text
    assert 'class="band" d="M0 0L1000 500L1000 1000L0 1000z"' in text


def test_text_in_a_figure_is_escaped():
    """Labels come from the data."""
    text = Chart(x=Axis(low=0, high=1, title="<b>&"), y=Axis(low=0, high=1)).svg()
    assert "&lt;b&gt;&amp;" in text
    assert "<b>" not in text


def test_marks_closer_than_a_pixel_are_one_and_none_is_lost():
    """However narrow it is, a mark has the width of a pixel."""
    at = np.array([0.0, 0.2, 5.0, 9.9])
    drawn = Stretches(starts=at, ends=at).drawn(0.5)
    assert drawn == [(0.0, 0.7), (5.0, 5.5), (9.9, 10.4)]


def places(page):
    """What stands in each place of a figure."""
    return dict(re.findall(r'<div class="plot[^>]*id="([\w-]+)"[^>]*>(.*?)</div>', page, re.DOTALL))


def pages():
    rng = np.random.default_rng(5)
    truth = rng.random(60) < 0.1
    scores = np.round(rng.random(60) + 0.5 * truth, 1)
    dates = np.datetime64("2020-01-01") + np.arange(60)
    lists = nf.coincidence(
        dates[truth], dates[truth][::2] + 1, tolerance="2d", span=(dates[0], dates[-1]), null="permutation"
    )
    return {
        "scores": (nf.evaluate(truth, scores, quantile=0.9, tolerance=2, times=dates), {"metrics": ["auc-roc"]}, set()),
        "alarms": (
            nf.evaluate(truth, predictions=scores > 1.2, tolerance=1, mask=np.arange(60) > 50, null="permutation"),
            {},
            {"threshold-precision", "threshold-recall", "curve"},
        ),
        "lists": (lists, {}, {"curve", "lag"}),
        "nothing": (
            nf.evaluate(np.zeros(50), predictions=np.zeros(50)),
            {},
            {"threshold-precision", "threshold-recall", "curve"},
        ),
    }


@pytest.mark.slow
def test_every_figure_of_every_page_is_drawn_without_scripts():
    """Small ones, and none where such data have no figure."""
    for name, (result, more, without) in pages().items():
        drawn = places(make_page(result, scripts="cdn", **more))
        assert {place for place, text in drawn.items() if not text} == without, name
        assert all(len(text) < 20_000 for text in drawn.values()), name
        assert not re.search(r"\bnan\b|\binf\b|None", "".join(drawn.values())), name


def test_the_drawn_timeline_has_every_hit_and_every_event():
    """Far apart, each is a mark of its own lane: counted against the labels."""
    truth, alarms = np.zeros(400), np.zeros(400)
    truth[[50, 150, 250]], alarms[[51, 200, 349, 380]] = 1, 1
    result = nf.evaluate(truth, predictions=alarms, tolerance=1)
    text = timeline_figure(result)
    assert timeline_figure(result) == text
    lanes = re.findall('<path class="(good|bad)" d="([^"]*)"', text)
    assert [(name, path.count("M")) for name, path in lanes] == [("bad", 2), ("good", 1), ("bad", 3), ("good", 1)]


def luminance(colour):
    """Of a colour such as #0072b2, as WCAG 2.2 defines it."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_colour_of_text_can_be_read_on_every_ground():
    """At least 4.5 to 1, on light and on dark screens."""
    light, _, dark = style().partition("prefers-color-scheme: dark")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", light))
    for scheme in (colours, {**colours, **dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", dark))}):
        for text in ("ink", "soft", "chance", "good", "bad-text"):
            for ground in ("paper", "tint"):
                low, high = sorted((luminance(scheme[text]), luminance(scheme[ground])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, f"{text} on {ground}"


def test_tolerances_are_written_in_addresses_as_people_write_them():
    """Both sides where they differ, and what evaluate takes where they do not."""
    assert address_of(nf.Tolerance(early="90min", late="90min"))["link"] == "1.5h"
    assert address_of(nf.Tolerance(early=0, late=3))["link"] == "0..3"
    assert address_of(nf.Tolerance(early=0.5, late=0.5, unit="clock"))["link"] == "0.5"
