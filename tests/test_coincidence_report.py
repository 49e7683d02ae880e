"""The report and the figures of two lists of times, and of events between steps: what they show is what was counted."""

import html
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import nofluke as nf
from nofluke import plot
from nofluke.errors import InputError
from nofluke.series.timed import event_reaches
from nofluke.show.report import PRINTED, Source, make_page
from nofluke.show.report import grid as windowed
from nofluke.show.report.figures import figures_of
from nofluke.show.report.payload import grid_of, make_payload
from nofluke.show.report.timeline import timeline
from nofluke.text.numbers import as_people_say
from pages import data_of, unpacked

pytestmark = pytest.mark.usefixtures("headless", "unwritten")

SIDES = ("precision", "recall")


def days():
    """Two lists of dates over a year and a half, some of the alarms a day or two before an event."""
    rng = np.random.default_rng(3)
    events = np.datetime64("2020-01-01") + np.sort(rng.choice(np.arange(5, 545), 20, replace=False))
    alarms = np.unique(
        np.concatenate([events[:8] - rng.integers(0, 3, 8), np.datetime64("2020-01-01") + rng.choice(549, 18)])
    )
    return events, alarms


SPAN = {"span": ("2020-01-01", "2021-07-02")}
GAPS = [("2020-03-01", "2020-03-09"), ("2020-11-11", "2020-11-12")]


def outside(times, gaps=GAPS):
    """Those times that lie in no gap."""
    return times[~np.any([(times >= np.datetime64(a)) & (times <= np.datetime64(b)) for a, b in gaps], axis=0)]


CASES = {
    "daily": ("2d", {"null": "permutation", **SPAN}),
    "guessed span, early": (nf.Tolerance(early="3d", late="-1d"), {"null": "permutation"}),
    "gaps and lag": ("1d", {"lag": "-1d", "leads": "events", "gaps": GAPS, "null": "permutation", **SPAN}),
    "interior": ("2d", {"edges": "interior", "gaps": GAPS, "null": "permutation", **SPAN}),
    "simulated": ("2d", {"null": "interval-shuffle", "n_resamples": 99, "rng": 3, **SPAN}),
    "simulated interior": (
        "2d",
        {"null": "interval-shuffle", "edges": "interior", "n_resamples": 99, "rng": 3, **SPAN},
    ),
    "one side exact": ("2d", {"null": "seasonal:period=7d", "n_resamples": 99, "rng": 3, **SPAN}),
    "no tolerance": (0, {"lag": "-1d", "null": "permutation", **SPAN}),
    "shifts": ("0d", {"null": "circular-shift", "alternative": "two-sided", **SPAN}),
}


def lists(case):
    """Both lists of a case, without what lies in its gaps."""
    return [outside(times) if "gaps" in case else times for times in days()]


@pytest.fixture(scope="module")
def made():
    """Results and payloads of the cases, made once each."""
    kept = {}

    def of(name):
        if name not in kept:
            tolerance, case = CASES[name]
            result = nf.coincidence(*lists(case), tolerance=tolerance, **case)
            kept[name] = result, grid_of(result), make_payload(result)
        return kept[name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_cell_is_what_coincidence_says(made, name):
    """With any null, gaps, edges or lag: a slider position's counts, chance, p-values and words are those of a call."""
    result, grid, payload = made(name)
    _, case = CASES[name]
    rest = {key: value for key, value in case.items() if key != "lag"} | {"null": result.null}
    if "rng" in case:
        rest |= {"rng": payload["seed"]}
    where = list(np.ndindex(grid.shape))
    for d, k in [*where[:: max(len(where) // 12, 1)], grid.chosen]:
        cell, lag = payload["cells"][d][k], grid.lags[k].short
        wanted = nf.coincidence(*lists(case), tolerance=grid.widths[d], lag=lag, tick="1d", **rest)
        assert (d, k) != grid.chosen or cell["verdict"] == wanted.verdict  # elsewhere: test_report_entitled.py
        assert (cell["text"]["precision_sentence"], cell["text"]["recall_sentence"]) == wanted.sentences()[:2]
        assert cell["text"]["delay"] == str(wanted.delays)
        assert cell["text"]["false_alarms"] == str(wanted.false_alarms)
        for side in SIDES:
            test = getattr(wanted, f"{side}_test")
            assert (cell[side]["hits"], cell[side]["of"]) == (test.hits, test.of)
            numbers = [cell[side][key] for key in ("mean", "std", "p")]
            assert numbers == pytest.approx([test.expected, test.std, test.pvalue], rel=1e-9)


def test_the_chosen_window_is_on_the_sliders_with_lags_to_both_sides(made):
    """Whole ticks apart, as many before as behind."""
    result, grid, payload = made("gaps and lag")
    d, k = payload["chosen"]
    assert (grid.widths[d], grid.lags[k].length) == (nf.Tolerance(early="1d", late="1d"), -86_400 * 10**9)
    assert grid.trial.tolerances[grid.place(d, k)[0]] == result.tolerance
    lengths = np.array([lag.length for lag in grid.lags])
    assert (np.diff(lengths) == 86_400 * 10**9).all()
    assert k == len(lengths) // 2 == 8
    assert payload["thresholds"][k]["label"] == "alarms 1d before events"
    assert payload["cells"][d][k]["recall"]["p"] == result.recall_test.pvalue
    assert payload["cells"][d][k]["matrices"] == {"truth": None, "predictions": None}


def test_corrected_p_values_are_those_of_a_sweep_over_the_same_windows(made):
    """The correction is the familywise test of `sweep_tolerances`; Holm's where the denominator is up to chance."""
    _, grid, payload = made("daily")
    swept = nf.sweep_tolerances(
        *days(), tolerances=grid.widths, lags=[lag.short for lag in grid.lags], null="permutation", **SPAN
    )
    wanted = swept.familywise(n_resamples=9_999, rng=0)
    for side in SIDES:
        found = np.array([[cell[side]["corrected"] for cell in row] for row in payload["cells"]])
        np.testing.assert_allclose(found.ravel(), getattr(wanted, f"{side}_adjusted").ravel())
    assert "Holm" in made("interior")[2]["corrected_by"]


@settings(max_examples=40)
@given(
    events=st.lists(st.integers(0, 60), min_size=1, max_size=8, unique=True),
    alarms=st.lists(st.integers(0, 60), min_size=1, max_size=8, unique=True),
    early=st.integers(-2, 4),
    late=st.integers(2, 5),
    edges=st.sampled_from(["zero", "interior"]),
)
def test_the_timeline_holds_every_event_and_every_alarm(events, alarms, early, late, edges):
    """At every slider position its windows tell which alarms find which event, and which of them count."""
    result = nf.coincidence(
        events, alarms, tolerance=nf.Tolerance(early=early, late=late), span=(0, 60), edges=edges, null="permutation"
    )
    grid = grid_of(result)
    line = timeline(result, grid)
    x = line["x"]
    at, begins = (x["first"] + unpacked(made) * x["scale"] for made in (x["each"], line["events"]["begin"]))
    assert (at.tolist(), begins.tolist()) == (sorted(alarms), sorted(events))
    base = unpacked(line["finders"]["base"])
    rows = [unpacked(line["finders"][name]).reshape(-1, len(events)) for name in ("starts", "lengths")]
    for row, window in enumerate(grid.trial.tolerances):
        first, many = (base + rows[0][row]).astype(int), rows[1][row].astype(int)
        for event, a, n in zip(begins, first, many, strict=True):
            assert at[a : a + n].tolist() == [p for p in at if event - window.early <= p <= event + window.late]
        if edges == "interior":
            counts = {
                name: unpacked(line["counted"][name]).reshape(len(grid.trial.tolerances), -1)[row]
                for name in ("events", "alarms")
            }
            assert counts["events"].tolist() == [e - window.early >= 0 and e + window.late <= 60 for e in begins]
            assert counts["alarms"].tolist() == [a - window.late >= 0 and a + window.early <= 60 for a in at]
    assert (line["counted"] is None) == (edges == "zero")


@pytest.mark.parametrize("unit", ["numbers", "dates"])
def test_marks_are_what_a_look_at_every_pair_finds(unit):
    """Hits, what counts and the windows of events, for a lag with gaps."""
    events, alarms = np.array([5, 20, 21, 50, 70]), np.array([3, 6, 24, 25, 54, 90])
    how = {"tolerance": 2, "lag": 3, "span": (0, 99), "gaps": [(60, 65)]}
    if unit == "dates":
        day = np.datetime64("2020-01-01")
        events, alarms = day + events, day + alarms
        how = {"tolerance": "2d", "lag": "3d", "span": (day, day + 99), "gaps": [(day + 60, day + 65)]}
    cell = nf.coincidence(events, alarms, edges="interior", null="permutation", **how).cell
    first = cell.truth.at[0] - 5
    assert cell.alarm_hits.tolist() == [False, True, True, True, True, False]
    assert cell.alarms_counted.tolist() == [False, True, True, True, True, True]
    assert cell.counts.tolist() == [True] * 5
    starts, ends = event_reaches(cell)
    assert (starts - first).tolist() == [6, 21, 51, 71]
    assert (ends - first).tolist() == [10, 26, 55, 75]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["daily", "gaps and lag", "simulated interior"])
def test_the_python_of_a_page_makes_the_same_page(made, name, tmp_path):
    """Span, gaps, lag, edges, leads, null and seed are all in the call; the page has both lists and no matrices."""
    result, _, payload = made(name)
    page = make_page(result)
    (python,) = (html.unescape(text) for text in re.findall("<pre>(.*?)</pre>", page, re.DOTALL))
    out = tmp_path / "page.html"
    events, alarms = lists(CASES[name][1])
    exec(python.replace('"report.html"', f"{str(out)!r}"), {"events": events, "alarms": alarms})
    assert out.read_text(encoding="utf-8") == page
    data = {name: value for name, value in payload.items() if name not in PRINTED}
    carried = data_of(page)
    assert carried.pop("figures").keys() == figures_of(payload | {"metrics": []}).keys()
    assert carried == json.loads(json.dumps(data)) | {"metrics": []}
    words = re.sub(r"<style>.*?</style>|<script.*?</script>", "", page, flags=re.DOTALL)
    assert "confusion matrix; the" not in re.sub(r"<p class=\"fine\" hidden>.*?</p>", "", words)
    assert "data-matrix" not in words
    assert "precursor coincidence rate" in words
    assert "prediction" not in words.replace("the predictions stay in place", "")
    assert "Lag <output" in words


@pytest.mark.slow
def test_a_page_of_files_reads_them_again(tmp_path):
    """With a source the page names both files, their hashes and the command."""
    events, alarms = days()
    for name, times in (("events", events), ("alarms", alarms)):
        (tmp_path / f"{name}.csv").write_text("when\n" + "".join(f"{time}\n" for time in times))
    source = Source(
        file=str(tmp_path / "alarms.csv"),
        truth_file=str(tmp_path / "events.csv"),
        columns={"events": "when", "alarms": "when"},
        command="nofluke coincidence events.csv alarms.csv",
    )
    page = make_page(nf.coincidence(events, alarms, tolerance="2d", null="permutation", **SPAN), source=source)
    command, python = (html.unescape(text) for text in re.findall("<pre>(.*?)</pre>", page, re.DOTALL))
    assert command.startswith("nofluke coincidence")
    out = tmp_path / "page.html"
    exec(python.replace('"report.html"', f"{str(out)!r}"), {})
    assert data_of(out.read_text(encoding="utf-8")) == data_of(page)


DEGENERATE = {
    "no events": ([], [3, 40, 70], "There are no events"),
    "no alarms": ([3, 40, 70], [], "There are no alarms"),
    "one of each": ([30], [31], "1 of 1 alarm"),
    "unrounded": ([0.1234567890123, 40.00000000012345], [0.5234561, 70.123456789012], "not rounded"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_lists_still_give_a_page_and_figures(name):
    """Empty lists, single times, floats: finite numbers and plain words."""
    events, alarms, words = DEGENERATE[name]
    result = nf.coincidence(events, alarms, tolerance=2, span=(0, 100))
    page = make_page(result)
    assert words in page
    assert data_of(page)["cells"]
    plot.coincidence(result).figure.canvas.draw()
    plot.evaluation(result)[0].figure.canvas.draw()


def test_slow_cells_leave_fewer_windows_and_the_page_says_so(monkeypatch):
    """However little time there is, the chosen window stays."""
    result = nf.coincidence(*days(), tolerance="2d", null="permutation", **SPAN)
    monkeypatch.setattr(windowed, "SECONDS", 0.0)
    few = grid_of(result)
    assert few.shape == (4, 1)
    assert few.widths[few.chosen[0]] == result.width
    assert "takes long" in few.left_out


def between():
    """Scores on an irregular clock, and events between its stamps."""
    rng = np.random.default_rng(4)
    times = np.datetime64("2024-01-01") + np.cumsum(rng.integers(60, 2_400, 120)).astype("m8[s]")
    events = np.sort(times[rng.choice(110, 12, replace=False)] + rng.integers(1, 59, 12).astype("m8[s]"))
    scores = rng.normal(size=120)
    scores[np.searchsorted(times, events)[:7]] += 3
    return events, np.round(scores, 3), {"times": times, "truth_as": "times", "tolerance": "30min"}


def test_events_between_steps_have_a_page_of_their_own_times():
    """Sliders over thresholds, no matrices, and events where they are; every cell is what `evaluate` says."""
    events, scores, how = between()
    result = nf.evaluate(events, scores, quantile=0.9, null="permutation", **how)
    grid, payload = grid_of(result), make_payload(result)
    x, own = payload["timeline"]["x"], unpacked(payload["timeline"]["events"]["begin"])
    np.testing.assert_allclose(
        x["first"] + own * x["scale"], events.astype("datetime64[ms]").astype(np.int64), rtol=0, atol=1e-3
    )
    where = list(np.ndindex(grid.shape))
    for d, k in where[:: len(where) // 10]:
        level = {"quantile": grid.quantiles[k]} if grid.quantiles[k] is not None else {"threshold": grid.thresholds[k]}
        wanted = nf.evaluate(events, scores, **level, null="permutation", **how | {"tolerance": grid.tolerances[d]})
        cell = payload["cells"][d][k]
        for side in SIDES:
            test = getattr(wanted, f"{side}_test")
            assert (cell[side]["hits"], cell[side]["of"]) == (test.hits, test.of)
            assert cell[side]["p"] == pytest.approx(test.pvalue, rel=1e-9)
    d, k = payload["chosen"]
    unshifted = payload["lags"].index(0)
    assert payload["cells"][d][k]["lag"]["recall"][unshifted] == result.recall_hits
    assert payload["cells"][d][k]["lag"]["precision"][unshifted] == result.precision_hits
    page = make_page(result)
    assert "data-matrix" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_a_timeline_draws_events_between_steps_where_they_are():
    """Found and missed as evaluate counts them, at their own times."""
    events, scores, how = between()
    result = nf.evaluate(events, scores, quantile=0.9, null="permutation", **how)
    ax = plot.timeline(events, scores, quantile=0.9, ax=Figure().subplots(), **how)
    drawn = {line.get_label().partition(":")[0]: line.get_xdata() for line in ax.get_lines()}
    assert len(drawn["events found"]) == result.recall_hits
    assert len(drawn["predictions that are hits"]) == result.precision_hits
    assert sorted([*drawn["events found"], *drawn["events missed"]]) == events.tolist()


def legend_texts(ax):
    """The words of a legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels_in(ax):
    """What is drawn in a panel: figures have one legend for all of theirs."""
    return [part.get_label() for part in ax.get_children()]


def test_both_lists_are_drawn_with_windows_and_gaps(made):
    """One mark for each event and alarm, in the lane it belongs to; the legend has the counts."""
    result, _, _ = made("gaps and lag")
    ax = result.plot_times()
    told = dict(text.split(": ") for text in legend_texts(ax) if ": " in text)
    assert {name: int(count) for name, count in told.items()} == {
        "events found": result.recall_hits,
        "events missed": result.n_events - result.recall_hits,
        "alarms that are hits": result.precision_hits,
        "false alarms": result.false_alarms.count,
    }
    lanes = {c.get_label().partition(":")[0]: c for c in ax.collections}
    assert len(lanes["events found"].get_segments()) == result.recall_hits
    assert {"window of an event", "not watched"} <= set(lanes)
    assert ax.get_xlabel() == "time"
    left, right = plot.evaluation(result)
    assert left.get_xlabel() == f"alarms that are hits, {result.precision_hits} of {result.n_predictions}"
    assert "binomial" in labels_in(right)
    assert "binomial" not in labels_in(plot.evaluation(made("interior")[0])[1])


@pytest.mark.slow
def test_thousands_of_times_stay_a_drawing_of_columns():
    """No more marks than there are columns of ink, and all lists in the counts."""
    rng = np.random.default_rng(0)
    events, alarms = rng.choice(10**7, 20_000, replace=False), rng.choice(10**7, 20_000, replace=False)
    result = nf.coincidence(events, alarms, tolerance=5, span=(0, 10**7), null="permutation")
    ax = plot.coincidence(result, Figure().subplots())
    assert sum(len(c.get_segments()) for c in ax.collections) <= 4 * 3_001
    assert f"events missed: {20_000 - result.recall_hits:,}" in legend_texts(ax)


def test_lags_show_measures_chance_and_what_is_significant():
    """A row of panels for each tolerance; a narrow peak stands out, and only what Holm leaves is marked."""
    events = np.random.default_rng(5).choice(3_000, 30, replace=False)
    swept = nf.sweep_tolerances(
        events, events + 5, tolerances=[0, 2], lags=range(-10, 11), span=(0, 3_100), null="permutation"
    )
    axes = swept.plot()
    assert axes.shape == (2, 2)
    for row, ax, side in ((0, axes[0, 0], "recall"), (1, axes[1, 1], "precision")):
        lines = {line.get_label(): line for line in ax.get_lines()}
        rows = slice(21 * row, 21 * row + 21)
        np.testing.assert_array_equal(lines["observed"].get_xdata(), np.arange(-10, 11))
        np.testing.assert_array_equal(lines["observed"].get_ydata(), getattr(swept, side)[rows, 0])
        significant = np.arange(-10, 11)[getattr(swept.chance, side).holm[rows, 0] <= 0.05]
        assert lines["p ≤ 0.05, corrected (Holm)"].get_xdata().tolist() == significant.tolist()
        assert 5 in significant
        assert (ax.get_legend() is None) is (ax is not axes.flat[0])
    assert "chance, 95% (exact)" in legend_texts(axes.flat[0])
    alone = plot.lags(swept, chance="none")
    assert alone.shape == (1, 2)
    assert legend_texts(alone[0, 0]) == ["tolerance 0", "tolerance 2"]
    by_tolerance = nf.sweep_tolerances(*days(), tolerances=["1d", "3d"], lags="-2d", null="permutation", **SPAN).plot()
    assert by_tolerance.shape == (1, 2)
    assert by_tolerance[0, 0].get_xlabel() == "tolerance, days"
    assert by_tolerance[0, 0].get_title() == "lag -2d"
    assert by_tolerance[0, 0].get_lines()[1].get_xdata().tolist() == [1.0, 3.0]


def test_wrong_arguments_are_named():
    """An error names the argument, and no figure is left behind."""
    result = nf.evaluate([0, 1, 0], predictions=[0, 1, 0])
    with pytest.raises(InputError, match=r"result must be a Coincidence, from nofluke\.coincidence, got Evaluation"):
        plot.coincidence(result)
    with pytest.raises(InputError, match=r"sweep must be a CoincidenceSweep, from nofluke\.sweep_tolerances, got Eval"):
        plot.lags(result)
    with pytest.raises(InputError, match="chance='some' must be"):
        plot.lags(nf.sweep_tolerances([1, 5], [2], tolerances=1), chance="some")
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("nanoseconds", "told"),
    [(3 * 86_400e9, ", days"), (86_400e9, ", hours"), (1e9, ", seconds"), (5e6, ", milliseconds"), (0.0, ", seconds")],
)
def test_lengths_are_told_in_units_that_people_use(nanoseconds, told):
    """The longest unit that does not leave fractions only."""
    values, unit = as_people_say(np.array([-nanoseconds, nanoseconds]), dates=True)
    assert unit == told
    assert values[1] >= 1 or nanoseconds == 0


@pytest.mark.browser
def test_in_a_browser_both_sliders_and_the_timeline_follow(made, visit, tmp_path):
    """No errors, numbers of the selected cell, marks of its row, windows when zoomed; nothing is cut off on a phone."""
    result, grid, payload = made("gaps and lag")
    page = visit(result.report(tmp_path / "page.html"), height=800)
    d, k = grid.chosen
    for name, (dd, kk) in {"ArrowRight": (d, k + 1), "Home": (d, 0)}.items():
        page.locator("#threshold").focus()
        page.keyboard.press(name)
        wanted = payload["cells"][dd][kk]
        assert page.locator('[data-text="recall.hits"]').first.text_content() == wanted["recall"]["text"]["hits"]
        lane = "document.getElementById('timeline').chart.layers.find(l => l.lane === 'found')"
        marks = f"{lane}.spans.length === {wanted['recall']['hits']}"
        for _ in range(40):
            if page.evaluate(marks):
                break
            page.wait_for_timeout(50)
        assert page.evaluate(marks)
    assert page.locator("#lag").count() == 0
    away = "document.getElementById('timeline').chart.bands.find(b => b.name === 'away').spans.length"
    assert page.evaluate(away) == 2
    for _ in range(4):
        page.get_by_role("button", name="zoom in").click()
    page.get_by_role("button", name="later").click()
    assert page.evaluate("page.view[1] - page.view[0]") == pytest.approx(548 * 86_400_000 / 16)
    assert page.evaluate("document.getElementById('timeline').chart.bands[0].spans.length") > 0
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_best_lag_is_named_as_people_write_it():
    """Alarms two days after their events, give or take one: what to do next says so, and its call takes it."""
    events = np.datetime64("2020-01-01") + np.arange(10, 500, 25)
    result = nf.coincidence(events, events + np.timedelta64(2, "D"), tolerance="1d", null="permutation", **SPAN)
    step = make_payload(result)["next"][0]
    assert step["words"].startswith("Of the lags that hold after correction, 1d has the best F1")
    assert "lag='1d'" in step["command"]
    on_time = nf.coincidence(events, events, tolerance="1d", null="permutation", **SPAN)
    assert make_payload(on_time)["next"][0]["words"].startswith(
        "Of the lags that hold after correction, 0 has the best"
    )
