"""Pages call events and alarms by their names: in templates, figures, tables and what scripts show."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import nofluke as nf
from pages import payloads_in

pytestmark = pytest.mark.usefixtures("unwritten")

SETS = {"incident": ("incident", "alert"), "flood": ("flood", "storm"), "seizure": ("seizure", "warning")}
READ = ("aria-label", "title", "placeholder", "alt")
RNG = np.random.default_rng(1)
TRUTH = (RNG.random(300) < 0.03).astype(int)
SCORES = RNG.random(300) + 0.8 * TRUTH
TIMES = np.datetime64("2024-01-01") + 60 * np.arange(300) * np.timedelta64(1, "m")


def one(path, **names):
    """Of scores by a threshold."""
    return nf.evaluate(TRUTH, SCORES, threshold=0.95, tolerance=2, **names).report(path)


def ranges(path, **names):
    """Of alarms without scores, on a clock, with ranges and other metrics."""
    result = nf.evaluate(TRUTH, predictions=SCORES > 1.2, tolerance=2, times=TIMES, count_events="ranges", **names)
    return result.report(path)


def several(path, **names):
    """Of two detectors."""
    nf.report(TRUTH, {"a": SCORES, "b": SCORES[::-1]}, threshold=0.95, tolerance=2, path=path, **names)
    return path


def lists(path, **names):
    """Of two lists of times."""
    events, alarms = np.flatnonzero(TRUTH), np.flatnonzero(SCORES > 0.97)
    return nf.coincidence(events, alarms, tolerance=3, span=(0, 300), **names).report(path)


class Reader(HTMLParser):
    """All text that people see or hear."""

    def __init__(self):
        super().__init__()
        self.quiet, self.texts = 0, []

    def handle_starttag(self, tag, attrs):
        self.quiet += tag in ("script", "style", "pre")
        self.texts += [value for name, value in attrs if name in READ]

    def handle_endtag(self, tag):
        self.quiet -= tag in ("script", "style", "pre")

    def handle_data(self, data):
        if not self.quiet:
            self.texts.append(data)


def texts_in(data):
    """All text inside plain data but keys, and the kind that a CSV file holds."""
    if isinstance(data, str):
        yield data
    for name, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if name != "noun":
            yield from texts_in(value)


def read(path):
    """Every text of a page, and every text that its scripts may show."""
    page, reader = path.read_text(encoding="utf-8"), Reader()
    reader.feed(page)
    return [*reader.texts, *(text for data in payloads_in(page) for text in texts_in(data))]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (one, "incident"),
        pytest.param(several, "incident", marks=pytest.mark.slow),
        (ranges, "seizure"),
        (lists, "flood"),
        pytest.param(lists, "incident", marks=pytest.mark.slow),
    ],
)
def test_a_page_says_nothing_but_the_names(kind, named, tmp_path):
    """No event, alarm, prediction or range is left, but in arguments and in commands; both names are there."""
    event, alarm = SETS[named]
    found = read(kind(tmp_path / "page.html", event_name=event, alarm_name=alarm))
    # arguments of Python have names of their own
    plain = [re.sub(r"leads=.(alarms|events).", "", text) for text in found]
    assert {text for text in plain if re.search(r"(?i)\b(event|alarm|prediction)s?\b", text)} == set()
    for noun in (event, alarm):
        assert sum(noun in text for text in found) > 20
    assert f"{alarm}s without {'an' if event == 'incident' else 'a'} {event}" in " ".join(found)


def test_without_names_a_page_says_what_it_always_said(tmp_path):
    """Events and false alarms."""
    found = " ".join(read(one(tmp_path / "page.html")))
    assert "Events and false alarms" in found
    assert "hit, event found" in found
