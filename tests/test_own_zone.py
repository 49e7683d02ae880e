"""Times on pages and figures stand in the data's own zone, which is named once."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import nofluke as nf
from pages import data_of

BERLIN = pd.date_range("2021-03-27", "2021-03-30", freq="30min", tz="Europe/Berlin", inclusive="left")
EVENTS = np.arange(5, len(BERLIN), 12)


def result(times):
    """Events every six hours, found half an hour late, over the night in which clocks change."""
    truth, scores = np.zeros(len(times), dtype=int), np.zeros(len(times))
    truth[EVENTS], scores[EVENTS + 1] = 1, 1
    return nf.evaluate(truth, scores, times=times, threshold=1, tolerance="30min", null="permutation")


def offsets(times):
    """The same times as texts of a file that writes its offsets."""
    return [f"{time:%Y-%m-%dT%H:%M:%S}{time:%z}" for time in times]


@pytest.mark.parametrize("form", [lambda times: times, offsets])
def test_a_page_tells_local_times_and_names_their_zone_once(tmp_path, form):
    """Heading, table and axis have the times of day that the data had, before and after clocks change."""
    page = result(form(BERLIN)).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "from 2021-03-27 to 2021-03-29 23:30:00 (UTC+1/+2)" in page
    assert "when (UTC+1/+2)" in page
    table = re.search('<table class="events".*?</table>', page, re.DOTALL)[0]
    told = re.findall(r"<td>(found)</td><td>([^<]*)</td>", table)
    assert [time for _, time in told] == [f"{time:%Y-%m-%d %H:%M}" for time in BERLIN[EVENTS]]
    x = data_of(page)["timeline"]["x"]
    assert [ahead / 3.6e6 for _, ahead in x["zone"]] == [1, 2]
    assert x["zone_name"] == "UTC+1/+2"


@pytest.mark.slow
def test_utc_and_times_without_a_zone_stay_as_they_are(tmp_path):
    """UTC is its own name; what has no zone gets none."""
    utc = result(BERLIN.tz_convert("UTC")).report(tmp_path / "utc.html").read_text(encoding="utf-8")
    naive = result(BERLIN.tz_convert("UTC").tz_localize(None)).report(tmp_path / "no.html").read_text(encoding="utf-8")
    assert "2021-03-27 01:30Z" in utc
    assert "2021-03-27 01:30<" in naive
    assert "zone" not in data_of(utc)["timeline"]["x"] | data_of(naive)["timeline"]["x"]


def test_a_figure_has_ticks_at_local_midnights():
    """And says in which zone its times are."""
    ax = nf.plot.timeline(result(BERLIN), ax=Figure(figsize=(9, 3)).subplots())
    assert ax.get_xlabel() == "time (UTC+1/+2)"
    days = [one for one in ax.get_xticks() if BERLIN[0] <= pd.Timestamp(one, unit="D", tz="UTC") <= BERLIN[-1]]
    local = [pd.Timestamp(one, unit="D", tz="UTC").round("s").tz_convert("Europe/Berlin") for one in days]
    assert len(local) > 1
    assert all(time.minute == 0 and time.hour % 6 == 0 for time in local)


def test_two_lists_of_times_are_told_in_their_zone(tmp_path):
    """In the heading of the result, and on its page."""
    found = nf.coincidence(BERLIN[EVENTS], BERLIN[EVENTS + 1], tolerance="1h", span=(BERLIN[0], BERLIN[-1]))
    assert "2021-03-27 to 2021-03-29T23:30:00 (UTC+1/+2)" in str(found)
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{BERLIN[EVENTS][0]:%Y-%m-%d %H:%M}" in page
