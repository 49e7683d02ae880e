"""The table of events and false alarms: at every slider position what `evaluate` finds, in a table people can use."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from nofluke.show.report import grid as places
from nofluke.show.report import make_page
from nofluke.show.report import timeline as report_scores
from nofluke.show.report.payload import grid_of, nouns_of
from nofluke.show.report.timeline import events_of, packed, packed_ascending, timeline
from pages import unpacked, visits

pytestmark = pytest.mark.usefixtures("unwritten")

SCRIPTS = Path(places.__file__).parent


@pytest.fixture(scope="module")
def ask(browser):
    """What the scripts of the page answer about a result, without the rest of a page."""
    page = browser.new_page()
    scripts = "\n".join(
        (SCRIPTS / name).read_text(encoding="utf-8") for name in ("../kit/kit.js", "steps.js", "events.js")
    )

    def asked(result, question):
        grid = grid_of(result)
        line = timeline(result, grid)
        data = {
            "timeline": line,
            "events": events_of(result, line),
            "column": "lag" if grid.lags else "threshold",
            "thresholds": [{"value": float(told)} for told in grid.told] if not grid.lags else [0] * len(grid.lags),
            "noun": result.cell.truth.noun,
            "nouns": nouns_of(result),
            "shape": grid.shape,
        }
        return page.evaluate(f"async (data) => {{ {scripts}\nawait openSeries();\n{question} }}", data)

    yield asked
    page.close()


ROWS = """
const told = [];
const [rows, columns] = data.shape;
for (let at = 0; at < rows * columns; at += Math.ceil((rows * columns) / 5)) {
  const [d, k] = [Math.floor(at / columns), at % columns];
  const marked = marksAt(d, k);
  told.push({
    d, k, hits: marked.marks.filter((mark) => mark === HIT).length,
    rows: rowsAt(marked).map((row) => ({ is: OUTCOMES[row.outcome], event: row.j !== undefined, ...Object.fromEntries(columnsOfEvents.map((name) => [name, VALUES[name](row, marked)])) })),
  });
}
return told;
"""


def noise(n, seed=1, share=0.08):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return truth, np.round(rng.normal(size=n) + 1.5 * truth, 2), rng


def steps():
    truth, scores, _ = noise(150, share=0.15)
    return (
        nf.evaluate,
        (truth, scores),
        {"null": "permutation", "quantile": 0.9, "tolerance": nf.Tolerance(early=1, late=3)},
    )


def masked():
    truth, scores, rng = noise(150, 2)
    scores[40:44] = np.nan
    how = {"mask": rng.random(150) < 0.15, "missing": "mask", "tolerance": 2}
    return nf.evaluate, (truth, scores), {"null": "permutation", "quantile": 0.85, **how}


def clock():
    truth, scores, rng = noise(150, 3)
    apart = rng.integers(1, 50, 150)
    apart[[50, 90]] = 9_000
    times = np.datetime64("2020-05-01T00:00") + np.cumsum(apart).astype("timedelta64[m]")
    return nf.evaluate, (truth, scores), {"null": "permutation", "quantile": 0.9, "tolerance": "1h", "times": times}


def floats():
    truth, scores, rng = noise(150, 4)
    times = np.cumsum(rng.random(150)) / 7
    return (
        nf.evaluate,
        (truth, scores),
        {
            "null": "permutation",
            "quantile": 0.9,
            "tolerance": nf.Tolerance(early=0.3, late=0.1, unit="clock"),
            "times": times,
        },
    )


def aside():
    truth, scores, _ = noise(150, 5)
    return (
        nf.evaluate,
        (truth, scores),
        {"null": "permutation", "quantile": 0.8, "tolerance": nf.Tolerance(early=4, late=-1)},
    )


def ranges():
    _, scores, _ = noise(150, 6)
    return (
        nf.evaluate,
        ([(5, 9), (12, 12), (40, 50), (51, 51), (120, 140)], scores),
        {"null": "circular-shift", "quantile": 0.95, "tolerance": 2},
    )


def dated_ranges():
    _, scores, rng = noise(150, 7)
    times = np.datetime64("2020-05-01T00:00") + np.arange(150) * np.timedelta64(10, "m")
    pairs = [(times[a] - np.timedelta64(130, "s"), times[a + 3]) for a in (0, 20, 60, 90, 140)]
    return (
        nf.evaluate,
        (pairs, scores),
        {
            "null": "circular-shift",
            "quantile": 0.95,
            "tolerance": "20min",
            "times": times,
            "mask": rng.random(150) < 0.1,
        },
    )


def episodes():
    truth, scores, _ = noise(150, 8)
    return nf.evaluate, (truth, scores), {"null": "permutation", "quantile": 0.8, "tolerance": 1, "refractory": 3}


def turned():
    truth, scores, _ = noise(150, 9)
    return (
        nf.evaluate,
        (truth, -scores),
        {"null": "permutation", "quantile": 0.1, "tolerance": 2, "higher_is": "normal"},
    )


def alarms():
    truth, scores, _ = noise(150, 10)
    return nf.evaluate, (truth,), {"null": "permutation", "predictions": scores > 1.5, "tolerance": 2}


def between():
    _, scores, rng = noise(150, 11)
    times = np.datetime64("2020-01-01T00:00") + np.arange(150) * np.timedelta64(1, "h")
    events = np.sort(times[rng.choice(140, 12, replace=False)] + rng.integers(1, 3_500, 12).astype("m8[s]"))
    return (
        nf.evaluate,
        (events, scores),
        {"null": "permutation", "quantile": 0.9, "tolerance": "90min", "times": times, "truth_as": "times"},
    )


def own_alarms():
    times = np.datetime64("2020-01-01") + np.arange(100) * np.timedelta64(1, "h")
    events, raised = times[[5, 30, 60]] + np.timedelta64(7, "m"), times[[5, 31, 80, 90]] + np.timedelta64(20, "m")
    return (
        nf.evaluate,
        (events,),
        {"null": "permutation", "predictions": raised, "times": times, "truth_as": "times", "tolerance": "1h"},
    )


def lists(**how):
    rng = np.random.default_rng(12)
    day = np.datetime64("2015-01-01")
    events, raised = (np.unique(rng.integers(0, 700, 40)) for _ in range(2))
    span = {"span": ("2015-01-01", "2016-12-31"), "tolerance": "3d", "null": "permutation"}
    return nf.coincidence, (day + events, day + raised), span | how


def lagged():
    return lists(lag="-2d")


def interior():
    return lists(edges="interior")


CASES = (
    steps,
    masked,
    clock,
    floats,
    aside,
    ranges,
    dated_ranges,
    episodes,
    turned,
    alarms,
    between,
    own_alarms,
    lagged,
    interior,
)


def position(result, grid, d, k):
    """The arguments of the call that judges a position of the sliders."""
    if grid.lags:
        return {"tolerance": grid.widths[d], "lag": grid.lags[k].short}
    where = {"tolerance": grid.tolerances[d]}
    if result.cell.trial.scored:
        where["threshold"] = float(grid.told[k])
    return where


def runs_of(flags):
    """Slow and obvious: lengths of runs of true ones."""
    return [len(run) for run in "".join("x" if flag else " " for flag in flags).split()]


@pytest.mark.browser
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_every_position_has_the_events_and_false_alarms_of_evaluate(ask, case, monkeypatch):
    """Found or missed, delays and false alarms, against a call of the library at that threshold and tolerance."""
    monkeypatch.setattr(places, "SECONDS", 0.5)
    judge, given, how = case()
    result = judge(*given, **how)
    grid = grid_of(result)
    told = ask(result, ROWS)
    assert len(told) >= min(4, grid.shape[0] * grid.shape[1])
    for page in told:
        call = {name: value for name, value in how.items() if name not in ("quantile", "lag")}
        wanted = judge(*given, **call | position(result, grid, page["d"], page["k"]))
        events = [row for row in page["rows"] if row["event"] and row["is"] != "not counted"]
        assert [row["is"] == "found" for row in events] == wanted.delays.found.tolist()
        delays = [np.nan if row["delay"] is None else row["delay"] for row in events]
        np.testing.assert_allclose(delays, wanted.delays.values, rtol=1e-9, atol=1e-9)
        false = [row for row in page["rows"] if row["is"] == "false"]
        counted = wanted.count_alarms == "steps" and "steps" in false[0] if false else False
        assert sum(row["steps"] if counted else 1 for row in false) == wanted.false_alarms.count
        if wanted.count_alarms == "steps":
            assert page["hits"] == wanted.precision_hits


@pytest.mark.browser
@pytest.mark.parametrize("case", [masked, clock, ranges, turned, between], ids=lambda case: case.__name__)
def test_scores_and_episodes_are_those_of_a_slow_look(ask, case, monkeypatch):
    """The best score of each window, runs of false alarms and their peaks, step by step."""
    monkeypatch.setattr(places, "SECONDS", 0.5)
    judge, given, how = case()
    result = judge(*given, **how)
    grid = grid_of(result)
    scores, sign = result.sequence.open_scores(), result.sequence.sign
    for page in ask(result, ROWS):
        cell = grid.cell(page["d"], page["k"])
        finders = cell.trial.finders(cell.d) if hasattr(cell.trial, "finders") else cell.trial.event_windows[cell.d]
        events = [row["score"] for row in page["rows"] if row["event"]]
        ends = zip(finders.starts, finders.stops, strict=True)
        assert events == [float(scores[a:b].max()) * sign if b > a else None for a, b in ends]
        near = np.zeros(len(scores), dtype=bool)
        for a, b in zip(finders.starts, finders.stops, strict=True):
            near[a:b] = True
        flags = (scores >= grid.thresholds[page["k"]]) & ~near
        false = [row for row in page["rows"] if row["is"] == "false"]
        assert [row["steps"] for row in false] == runs_of(flags)
        at = np.flatnonzero(flags)
        of = np.cumsum(np.diff(at, prepend=at[:1]) > 1)
        assert [row["score"] for row in false] == [float(scores[at[of == i]].max()) * sign for i in np.unique(of)]


@pytest.mark.browser
def test_an_episode_is_a_hit_as_a_whole(ask):
    """One step near an event makes hits of all steps of its run, where alarms count as episodes."""
    truth, scores = np.zeros(20), np.zeros(20)
    truth[5] = 1
    scores[5:9] = scores[12:14] = 1
    result = nf.evaluate(truth, scores, threshold=1, tolerance=0, count_alarms="episodes")
    d, k = grid_of(result).chosen
    marks = ask(result, f"return [...marksAt({d}, {k}).marks]")
    assert marks == [0] * 5 + [1] * 4 + [0] * 3 + [2] * 2 + [0] * 6
    assert ask(result, f"return rowsAt(marksAt({d}, {k})).length") == 2


@pytest.mark.browser
def test_rounded_scores_stay_on_their_side_of_every_threshold(ask, monkeypatch):
    """A hit below the line, or a non-alarm above it, would be a lie; extremes are exact, missing scores missing."""
    monkeypatch.setattr(report_scores, "MOST_EXACT", 100)
    rng = np.random.default_rng(3)
    scores = np.concatenate([np.round(rng.normal(size=4_000), 2), rng.normal(size=4_000) ** 3, [1e9, -1e9, np.nan]])
    rng.shuffle(scores)
    truth = rng.random(len(scores)) < 0.02
    for sign in (1, -1):
        how = {"higher_is": "anomalous" if sign == 1 else "normal", "quantile": 0.9 if sign == 1 else 0.1}
        result = nf.evaluate(truth, sign * scores, missing="mask", **how)
        found = ask(
            result,
            f"""const drawn = Array.from({{ length: series.n }}, (_, i) => series.score(i));
            let wrong = 0;
            data.thresholds.forEach(({{ value }}, k) => drawn.forEach((score, i) => {{
              if (!Number.isNaN(score) && ({sign} * score >= {sign} * value) !== series.levels[i] > k) wrong++;
            }}));
            return {{ wrong, drawn: drawn.map((score) => (Number.isNaN(score) ? null : score)) }};""",
        )
        assert found["wrong"] == 0
        drawn = np.array(found["drawn"], dtype=float)
        np.testing.assert_array_equal(np.isnan(drawn), np.isnan(scores))
        assert (np.nanmin(drawn), np.nanmax(drawn)) == (-1e9, 1e9)
        usual = np.abs(scores) < 1
        np.testing.assert_allclose(drawn[usual], sign * scores[usual], atol=0.01)


def test_packed_numbers_come_back():
    """Whole numbers of any size in the smallest type, floats bit for bit, ascending ones by their differences."""
    for values, kind in (
        ([0, 255], "u8"),
        ([-1, 3], "i8"),
        ([70_000], "u32"),
        ([-(2**40)], "f64"),
        ([0.1, np.nan], "f64"),
    ):
        made = packed(np.array(values))
        assert made["kind"] == kind
        np.testing.assert_array_equal(unpacked(made), values)
    times = np.cumsum(np.arange(1, 1_000)) + 10**15
    made = packed_ascending(times)
    assert made["kind"] == "u16"
    np.testing.assert_array_equal(unpacked(made), times)
    assert len(unpacked(packed_ascending(times[:0]))) == 0


def table_of(page):
    rows = "[...document.querySelectorAll('#events-table tbody tr')]"
    return page.evaluate(f"{rows}.map((row) => [...row.children].map((cell) => cell.textContent))")


def without_scripts(text):
    body = re.search(r'id="events-table".*?<tbody>(.*?)</tbody>', text, flags=re.DOTALL)[1]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr[^>]*>(.*?)</tr>", body)]


@pytest.mark.browser
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_without_scripts_the_table_is_that_of_the_evaluated_position(ask, case, monkeypatch):
    """Python writes the same words into the page as the scripts do."""
    monkeypatch.setattr(places, "SECONDS", 0.5)
    judge, given, how = case()
    result = judge(*given, **how)
    grid = grid_of(result)
    d, k = grid.chosen
    told = ask(
        result,
        f"""const marked = marksAt({d}, {k});
        const rows = rowsAt(marked);
        sortRows(rows, marked);
        return rows.slice(0, 200).map((row) => rowInWords(row, marked));""",
    )
    assert events_of(result, timeline(result, grid))["rows"] == told
    assert len(told) > 3


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A page of 150 steps in a browser, with its file, the result and the grid behind it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "SECONDS", 0.01)
        judge, given, how = steps()
        result = judge(*given, **how)
        grid = grid_of(result)
        path = tmp_path_factory.mktemp("events") / "page.html"
        path.write_text(make_page(result), encoding="utf-8")
    with visits(browser) as visit:
        yield visit(path), path, result, grid


@pytest.mark.browser
def test_the_table_sorts_filters_and_follows_the_sliders(opened):
    """By mouse and keyboard; the words beside it count what is there; nothing is said without being so."""
    page, path, result, grid = opened
    rows = table_of(page)
    assert rows == without_scripts(path.read_text(encoding="utf-8"))[: len(rows)]
    score = page.locator('#events-table [data-column="score"]')
    score.locator("button").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert score.get_attribute("aria-sort") == "descending"
    assert page.locator("#events-table [aria-sort]").count() == 1
    largest = [float(row[-1]) for row in table_of(page)]
    assert largest == sorted(largest, reverse=True)
    for kind, many in (("missed", result.n_events - result.recall_hits), ("found", result.recall_hits)):
        page.locator("#events-kind").select_option(kind)
        assert {row[1] for row in table_of(page)} == {kind}
        assert page.locator("#events-table tbody tr").count() == min(many, 20)
    assert f"{result.n_events} events: {result.recall_hits} found" in page.locator("#events-count").text_content()
    page.locator("#events-kind").select_option("")
    page.locator("#events-text").fill("event 3")
    page.wait_for_timeout(300)
    assert all(row[0].startswith("event 3") for row in table_of(page))
    page.locator("#events-text").fill("")
    page.wait_for_timeout(300)
    page.locator("#threshold").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(200)
    text = page.locator("#events-count").text_content()
    d, k = page.evaluate("[page.state.d, page.state.k]")
    assert f"{grid.trial.recall_hits[d, k]} found" in text
    page.get_by_role("button", name="As evaluated").click()
    page.locator('#events-table [data-column="from"] button').click()


@pytest.mark.browser
def test_a_row_zooms_the_timeline_and_a_mark_tells_its_name(opened):
    """A button in each row, for the keyboard too; pointing at a lane names the event."""
    page, *_ = opened
    page.locator("#events-kind").select_option("found")
    row = page.locator("#events-table tbody tr").nth(4)
    what, at = (row.locator("th, td").nth(i).text_content() for i in (0, 2))
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    low, high = page.evaluate("page.view")
    assert low < int(at) < high
    assert high - low < 60
    page.wait_for_timeout(800)  # until it has scrolled there
    spot = page.evaluate(
        """(at) => {
            const plot = document.getElementById("timeline"), box = plot.getBoundingClientRect(), { sx, panels } = plot.chart;
            return [box.left + sx(at), box.top + panels[panels.length - 1].sy(1.5)];
        }""",
        int(at),
    )
    page.mouse.move(*spot)
    assert page.locator(".hint").text_content().startswith(f"{what}: {at}\nfound; alarm at ")
    page.mouse.move(0, 0)
    page.locator("#events-kind").select_option("")
    page.get_by_role("button", name="all", exact=True).click()


@pytest.mark.browser
def test_the_csv_file_holds_all_rows_as_filtered_with_full_numbers(opened, tmp_path):
    """More rows than are shown, plain numbers, and a name that says what it is."""
    page, _, result, _ = opened
    with page.expect_download() as waiting:
        page.locator("#events-csv").click()
    waiting.value.save_as(tmp_path / "events.csv")
    assert waiting.value.suggested_filename.endswith(".csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "events.csv").read_text(encoding="utf-8"))))
    events = [row for row in rows if row["kind"] == "event"]
    assert [float(row["delay_steps"]) for row in events] == result.delays.values.tolist()
    assert [row["outcome"] == "found" for row in events] == result.delays.found.tolist()
    assert sum(int(row["steps"]) for row in rows if row["kind"] == "alarm") == result.false_alarms.count
    shown = page.locator("#events-table tbody tr").count()
    assert len(rows) > shown
    page.emulate_media(media="print")  # paper has no button that shows more, but says how many there are
    assert page.locator("#events-shown").inner_text() == f"{shown} of {len(rows)} rows."
    page.emulate_media(media="screen")
    assert page.locator("#events-shown").is_hidden()


@pytest.mark.browser
def test_a_hundred_thousand_false_alarms_are_shown_piece_by_piece(ask):
    """The rows are there to sort and to count, whatever their number."""
    rng = np.random.default_rng(1)
    alarms, truth = np.arange(300_000) % 3 == 0, np.zeros(300_000, dtype=bool)
    truth[rng.choice(300_000, 10_000, replace=False)] = True
    result = nf.evaluate(truth, predictions=alarms, tolerance=0, null="permutation", method="binomial")
    made = events_of(result, timeline(result, grid_of(result)))
    assert len(made["rows"]) == 200
    seconds, many = ask(
        result,
        """const began = performance.now();
        const marked = marksAt(0, 0);
        const rows = rowsAt(marked);
        sorting.by = "delay";
        sortRows(rows, marked);
        return [(performance.now() - began) / 1000, rows.length];""",
    )
    assert many == 10_000 + result.false_alarms.count == 200 + made["left"]
    assert seconds < 20  # a moment; some room for a busy machine
