"""Figures of pages: described once, drawn without scripts by matplotlib and with them by the kit; ticks and inks."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from nofluke.show import kit
from nofluke.show.kit.figure import drawn, looked_up
from nofluke.show.report import make_page
from nofluke.show.report.figures import Stretches, timeline_figure
from nofluke.show.report.payload import address_of

SCRIPT = Path(kit.__file__).with_name("kit.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ask(browser):
    """What the kit's script answers."""
    page = browser.new_page()
    yield lambda question, value=None: page.evaluate(f"(value) => {{ {SCRIPT}\nreturn {question}; }}", value)
    page.close()


@pytest.mark.browser
def test_ticks_are_few_even_and_say_where_they_stand(ask):
    """Inside the axis, the same distance apart, and read back they are what was meant; of any axis."""
    rng = np.random.default_rng(0)
    lows = np.append(rng.normal(size=300) * 10.0 ** rng.integers(-3, 12, 300), [450359962738.0, 0, -1])
    lengths = np.append(10.0 ** rng.uniform(-3, 12, 300), [1e-3, 1, 2.04])
    cases = [[low, low + length] for low, length in zip(lows.tolist(), lengths.tolist(), strict=True)]
    for whole in (False, True):
        question = f"value.map((range) => numberTicks(range, 6, {str(whole).lower()}))"
        for (low, high), ticks in zip(cases, ask(question, cases), strict=True):
            at, length = [place for place, _ in ticks], high - low
            assert len(at) <= 9
            assert all(low - 1e-6 * length <= x <= high + 1e-6 * length for x in at)
            if len(at) > 2:
                assert np.ptp(np.diff(at)) <= 1e-6 * (length + abs(low))
            assert len({text for _, text in ticks}) == len(ticks)
            for place, text in ticks:
                assert not whole or float(place).is_integer()
                assert float(text.replace(",", "").replace("−", "-")) == pytest.approx(
                    place, abs=1e-6 * length, rel=1e-9
                )


@pytest.mark.browser
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
def test_ticks_of_dates_are_where_calendars_and_clocks_have_theirs(ask, length, first, second):
    """Whole hours, Mondays, months and years, each named as far as it differs from the one before."""
    start = datetime(2021, 3, 3, tzinfo=UTC).timestamp() * 1000
    span = {"s": 1e3, "h": 3.6e6, "d": 8.64e7}[length[-1]] * float(length[:-1])
    texts = [text for _, text in ask("dateTicks(value)", [start, start + span])]
    assert (first, second) in pairwise(texts)
    assert len(texts) <= 9


def one(layers, **more):
    return {"x": {"range": [0, 4]}, "y": {"range": [0, 1]}, "layers": layers, **more}


def test_references_stand_for_the_evaluated_position():
    """Of a row, a column, the grid, the cell itself, and of thresholds."""
    cells = [[{"p": 10 * d + k, "list": [d, k]} for k in range(3)] for d in range(2)]
    payload = {"chosen": [1, 2], "cells": cells, "thresholds": [{"place": 0.5 * k} for k in range(3)]}
    assert looked_up("p", "k", payload) == [10, 11, 12]
    assert looked_up("p", "d", payload) == [2, 12]
    assert looked_up("p", "all", payload) == [[0, 1, 2], [10, 11, 12]]
    assert looked_up("list", "at", payload) == [1, 2]
    assert looked_up("=p", "k", payload) == 12
    assert looked_up("@thresholds.place", "k", payload) == [0.0, 0.5, 1.0]
    assert (looked_up("@thresholds.place#k", "k", payload), looked_up("#d", "k", payload)) == (1.0, 1)


def test_a_drawing_has_the_colours_of_the_page_and_nothing_of_a_users_settings():
    """Its colours are the style sheet's, its ids its own, its text is text; the same input gives the same bytes."""
    import matplotlib

    layers = [{"kind": "line", "name": "observed", "x": [0, 1, 2, 3], "y": [0.0, 1.0, None, 0.5]}]
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30}):
        text = drawn({"a": one(layers), "b": one(layers)}, {})
    assert drawn({"a": one(layers), "b": one(layers)}, {}) == text
    assert "var(--observed)" in text["a"]
    assert not re.search("#[0-9a-f]{6}", text["a"])
    ids = [re.findall(r' id="([^"]+)"', svg) for svg in text.values()]
    assert ids[0]
    assert not set(ids[0]) & set(ids[1])
    assert ">0.5</text>" in text["a"]


def test_text_in_a_figure_is_escaped_and_no_mathematics():
    """Labels come from the data."""
    text = drawn({"a": one([], x={"range": [0, 1], "title": "<b>& $x_1$"})}, {})["a"]
    assert "&lt;b&gt;&amp; $x_1$" in text
    assert "<b>" not in text


def test_marks_closer_than_a_pixel_are_one_and_none_is_lost():
    """However narrow it is, a mark has the width of a pixel."""
    at = np.array([0.0, 0.2, 5.0, 9.9])
    drawn = Stretches(starts=at, ends=at).drawn(0.5)
    assert drawn == [(0.0, 0.7), (5.0, 5.5), (9.9, 10.4)]


def places(page):
    """What stands in each place of a figure."""
    found = re.findall(r'<div class="plot[^>]*id="([\w-]+)"[^>]*>(.*?)</div>', page, re.DOTALL)
    return {name: re.sub("</?noscript>", "", text) for name, text in found}


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
        shown = places(make_page(result, **more))
        assert not without & shown.keys(), name
        assert {place for place, text in shown.items() if not text.startswith("<svg ")} == set(), name
        assert all(len(text) < 70_000 for text in shown.values()), name
        assert not re.search(r"\bnan\b|\binf\b|None", "".join(shown.values())), name


def test_the_drawn_timeline_has_every_hit_and_every_event():
    """Far apart, each is a mark of its own lane: counted against the labels."""
    truth, alarms = np.zeros(400), np.zeros(400)
    truth[[50, 150, 250]], alarms[[51, 200, 349, 380]] = 1, 1
    result = nf.evaluate(truth, predictions=alarms, tolerance=1)
    described = timeline_figure(result)
    lanes = described["panels"][-1]["layers"]
    assert [(lane["name"], len(lane["spans"])) for lane in lanes] == [
        ("missed", 2),
        ("found", 1),
        ("missed", 3),
        ("found", 1),
    ]


def luminance(colour):
    """Of a colour such as #0072b2, as WCAG 2.2 defines it."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_colour_of_text_can_be_read_on_every_ground():
    """At least 4.5 to 1, on light and on dark screens."""
    blocks = re.findall(r":root(:not\(\.printing\))? \{(.*?)\}", kit.style(), flags=re.DOTALL)
    light, dark = ({} for _ in range(2))
    for is_dark, block in blocks:
        (dark if is_dark else light).update(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block))
    assert light.keys() >= dark.keys() > {"paper", "ink", "observed", "v-no"}
    for scheme in (light, {**light, **dark}):
        for text in ("ink", "soft", "chance", "observed", "v-yes", "v-partly", "v-no", "v-cannot"):
            for ground in ("paper", "tint", "best"):
                low, high = sorted((luminance(scheme[text]), luminance(scheme[ground])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, f"{text} on {ground}"


def test_tolerances_are_written_in_addresses_as_people_write_them():
    """Both sides where they differ, and what evaluate takes where they do not."""
    assert address_of(nf.Tolerance(early="90min", late="90min"))["link"] == "1.5h"
    assert address_of(nf.Tolerance(early=0, late=3))["link"] == "0..3"
    assert address_of(nf.Tolerance(early=0.5, late=0.5, unit="clock"))["link"] == "0.5"
