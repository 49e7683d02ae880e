"""Several detectors on one page: the ranking, verdicts corrected for all of them, and each one's own page."""

import base64
import csv
import hashlib
import html
import json
import re
import shlex
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from markupsafe import escape

import nofluke as nf
from nofluke.cli import cli
from nofluke.show.report import Source
from nofluke.show.report import grid as places
from nofluke.show.several import _ruled, own_source
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share
from pages import data_of, visits

pytestmark = pytest.mark.usefixtures("unwritten")

NASTY = "</template><script>alert(1)</script> {{title}} 'b' & +c"
N = 160
HOW = {"quantile": 0.9, "tolerance": 1, "null": "permutation"}
MEASURES = ("f1", "precision", "recall")


def example():
    """Events, and three detectors: a good one with a name that wants to be markup, a middling one and noise."""
    rng = np.random.default_rng(4)
    truth = rng.random(N) < 0.09
    noise = rng.random((3, N))
    return truth, {"noise": noise[0], NASTY: noise[1] + truth, "middling": noise[2] + 0.45 * truth}


@pytest.fixture(scope="module", autouse=True)
def few_cells():
    """The threshold that was evaluated is enough but for curves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page about the example, as a file."""
    truth, scores = example()
    return nf.report(truth, scores, **HOW, path=tmp_path_factory.mktemp("several") / "page.html")


@pytest.fixture(scope="module")
def page(written):
    return written.read_text(encoding="utf-8")


def made(tmp_path, *data, **how):
    return nf.report(*data, path=tmp_path / "page.html", **how).read_text(encoding="utf-8")


def table(page, section, which=0):
    """The cells of a table of the overview, row by row, as text."""
    text = re.search(f'<section id="{section}">.*?</section>', page, re.DOTALL)[0]
    found = re.findall("<table.*?</table>", text, re.DOTALL)[which]
    rows = re.findall("<tr.*?</tr>", found, re.DOTALL)
    return [
        [html.unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in rows
    ]


def packed(page):
    """The data of each detector's own page, by its name."""
    found = re.findall(r'<template data-detector="(.*?)">.*?<script type="text/plain">(.*?)</script>', page, re.DOTALL)
    return {html.unescape(name): json.loads(zlib.decompress(base64.b64decode(data))) for name, data in found}


def by_holm(pvalues):
    """Holm's correction as it is written: the smallest times all, the next times one less, never decreasing."""
    order, largest, found = sorted(range(len(pvalues)), key=pvalues.__getitem__), 0.0, [0.0] * len(pvalues)
    for i, at in enumerate(order):
        largest = max(largest, min(1.0, (len(pvalues) - i) * pvalues[at]))
        found[at] = largest
    return found


def test_the_ranking_is_that_of_compare_beside_the_chance_of_evaluate(page):
    """Values, intervals, expectation, p and p corrected for three detectors, best F1 first."""
    truth, scores = example()
    found = nf.compare(truth, scores, quantile=0.9, tolerance=1)
    results = {name: nf.evaluate(truth, scores[name], **HOW, rng=0) for name in found.detectors}
    over, head, *rows = table(page, "ranking")
    assert over[2:] == ["F1", "precision", "recall"]
    assert head == ["rank", "detector", "verdict", *3 * ["value [95%]", "chance", "p corrected uncorrected"]]
    assert [row[1].removesuffix(" ★") for row in rows] == list(found.detectors)
    assert [row[1].endswith("★") for row in rows] == [name in found.not_told_from_best for name in found.detectors]
    for m, measure in enumerate(MEASURES):
        tests = [getattr(r, f"{measure}_test") if measure != "f1" else r.f_test() for r in results.values()]
        corrected = by_holm([test.pvalue for test in tests])
        for i, (name, result) in enumerate(results.items()):
            own, cells = getattr(found.intervals[i], measure), rows[i][3 + 3 * m : 6 + 3 * m]
            interval = f" [{show_share(own.low)}, {show_share(own.high)}]" if own else ""
            expected = tests[i].expected / (1 if measure == "f1" else tests[i].of)
            assert cells == [
                f"{show_share(getattr(result, measure))}{interval}",
                *(show_share(expected), f"{show_p(corrected[i])} {show_p(tests[i].pvalue)}"),
            ], (name, measure)


@pytest.mark.slow
def test_verdicts_go_by_the_corrected_p_values(tmp_path):
    """What is better than chance alone need not be so as one of six; the own page says both."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth = rng.random(N) < 0.1
        scores = {f"d{i}": rng.random(N) + (0.3 * truth if i == 0 else 0) for i in range(6)}
        results = {name: nf.evaluate(truth, values, **HOW) for name, values in scores.items()}
        pvalues = [by_holm([getattr(r, f"{m}_test").pvalue for r in results.values()]) for m in ("precision", "recall")]
        if results["d0"].verdict == "yes" and min(pvalues[0][0], pvalues[1][0]) > 0.05:
            break
    page = made(tmp_path, truth, scores, **HOW)
    verdicts = {row[1].removesuffix(" ★"): row[2] for row in table(page, "ranking")[2:]}
    assert verdicts["d0"] == "✗ could be a fluke"
    reasons = {row[0]: row[2] for row in table(page, "ranking", 1)[1:]}
    assert (
        reasons["d0"]
        == "Neither precision nor recall is better than chance at the 0.05 level after correction for 6 detectors."
    )
    data = packed(page)["d0"]
    assert data["cells"][data["chosen"][0]][data["chosen"][1]]["verdict"] == "yes"
    assert "None is shown to be better than chance, corrected for 6 detectors." in page
    own = re.search('<template data-detector="d0">(.*?)</aside>', page, re.DOTALL)[1]
    assert "One of 6 detectors. Better than chance, corrected for all of them:" in own
    assert 'data-verdict="no"' in own


def test_no_correction_makes_a_verdict_better():
    """With few events a corrected p may be out of one measure's reach: the other alone is no better for it."""
    rank = {"yes": 2, "partly": 1, "no": 0, "cannot tell": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = np.zeros(60, bool)
        truth[rng.choice(60, 3, replace=False)] = True
        scores = {f"d{i}": rng.random(60) + 0.5 * truth for i in range(4)}
        how = {"quantile": 0.9, "tolerance": 1, "null": "permutation"}
        results = [nf.evaluate(truth, values, **how) for values in scores.values()]
        pvalues = {m: by_holm([getattr(r, f"{m}_test").pvalue for r in results]) for m in ("precision", "recall")}
        for i, result in enumerate(results):
            ruling = _ruled(result, {measure: p[i] for measure, p in pvalues.items()}, 4)
            assert rank[ruling.verdict] <= rank[result.verdict], (seed, i)


def test_what_no_outcome_could_reach_after_correction_cannot_be_told(tmp_path):
    """One event on 40 steps: a hit has p = 1/40, enough for one detector and too much for each of five."""
    truth = np.arange(40) == 7
    alarms = {f"d{i}": np.arange(40) == 20 + i for i in range(5)}
    assert nf.evaluate(truth, predictions=alarms["d0"], null="permutation").verdict == "no"
    page = made(tmp_path, truth, predictions=alarms, null="permutation")
    assert {row[2] for row in table(page, "ranking")[2:]} == {"? cannot tell"}
    assert "No outcome could have reached the 0.05 level after correction for 5 detectors." in page


def test_differences_are_those_of_compare(page):
    """All pairs in all measures, with both p-values; who is best is said in the same words, and in short at the top."""
    truth, scores = example()
    found = nf.compare(truth, scores, quantile=0.9, tolerance=1)
    _, _, *rows = table(page, "differences")
    assert [tuple(row[:2]) for row in rows] == [(d.first, d.second) for d in found.differences[::3]]
    for row in rows:
        for m, measure in enumerate(MEASURES):
            one = found.difference(row[0], row[1], measure)
            assert row[3 + 2 * m : 5 + 2 * m] == [one.in_words(), f"{show_p(one.corrected)} {show_p(one.pvalue)}"]
        told = found.difference(row[0], row[1]).corrected <= 0.05
        assert row[2] == ("yes" if told else "no")
    assert str(escape(found.how())) in page
    assert (
        str(escape(found.verdict_in_words())) in re.search('<section id="differences".*?</section>', page, re.DOTALL)[0]
    )
    top = re.search('<section id="answer".*?</section>', page, re.DOTALL)[0]
    assert "leads; middling cannot be told from it; noise looks like chance." in top


def test_two_that_cannot_be_told_apart_are_said_to_be_so(tmp_path):
    """In one sentence, with both values; and both are better than chance."""
    truth, scores = example()
    page = made(tmp_path, truth, {"one": scores[NASTY], "same": scores[NASTY]}, **HOW)
    f1 = show_share(nf.evaluate(truth, scores[NASTY], **HOW).f1)
    assert f"one and same do not differ significantly at the 0.05 level: by F1 they are one {f1}, same {f1}." in page
    assert "All are better than chance, corrected for 2 detectors." in page


def test_each_has_the_very_page_that_it_has_alone(page, tmp_path):
    """The same data and the same body, but for its name and how it was made; the script is in the file once."""
    truth, scores = example()
    own = packed(page)
    assert list(own) == [row[1].removesuffix(" ★") for row in table(page, "ranking")[2:]]
    for name, values in scores.items():
        result = nf.evaluate(truth, values, **HOW, rng=0)
        alone = result.report(tmp_path / "alone.html").read_text(encoding="utf-8")
        assert own[name] == data_of(alone)
        body = re.search('<section id="verdict".*?<section id="how">', alone, re.DOTALL)[0]
        body = re.sub("<svg .*?</svg>", "", body, flags=re.DOTALL)  # scripts draw the figures of a page that they open
        own_call = str(escape(f"nf.evaluate(truth, scores[{name!r}],"))
        assert body.replace("nf.evaluate(truth, scores,", own_call) in page
    assert page.count("function openPage(data)") == 1
    outside = re.sub("<template.*?</template>", "", page.partition("<script>")[0], flags=re.DOTALL)
    assert "data-text" not in outside
    ids = re.findall(r' id="([^"]+)"', outside)
    assert len(ids) == len(set(ids))
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', body)), "both are in the document at once"


@pytest.mark.slow
def test_a_single_detector_has_the_page_of_evaluate(tmp_path):
    """One array, of scores or of alarms, needs no name."""
    truth, scores = example()
    page = made(tmp_path, truth, scores["noise"], **HOW)
    assert page == nf.evaluate(truth, scores["noise"], **HOW, rng=0).report(tmp_path / "other.html").read_text(
        encoding="utf-8"
    )
    assert "<template" not in made(tmp_path, truth, predictions=scores["noise"] > 0.9, tolerance=1, title="One")


def test_odd_detectors_have_their_place(tmp_path):
    """Alarms without scores are one point; who has no alarms is last, undefined, and nothing is told of it."""
    truth, scores = example()
    alarms = {"given": np.roll(truth, 1), "silent": np.zeros(N, dtype=int)}
    page = made(tmp_path, truth, {"noise": scores["noise"]}, predictions=alarms, **HOW)
    rows = {row[1].removesuffix(" ★"): row for row in table(page, "ranking")[2:]}
    assert list(rows) == ["given", "noise", "silent"]
    assert rows["silent"][2:6] == ["? cannot tell", "–", "–", "–"]
    # a test that could not be made is still one of three tries
    p = nf.evaluate(truth, predictions=alarms["given"], tolerance=1, null="permutation").precision_test.pvalue
    assert rows["given"][8] == f"{show_p(3 * p)} {show_p(p)}"
    lines = re.search('<section id="overlaid">.*?</section>', page, re.DOTALL)[0]
    points = {name: one["tell"] for name, one in data_of(page)["figures"].items() if not name.startswith("dots-")}
    seen = {
        name: list(
            dict.fromkeys(t.partition("\n")[0] for t, y in zip(told["texts"], told["y"], strict=True) if y is not None)
        )
        for name, told in points.items()
    }
    assert seen["by-precision"] == ["given", "noise"]
    assert seen["by-recall"] == ["given", "noise", "silent"], "the silent one has a recall alone"
    assert "Alarms given without scores are a single point" in page
    assert "NaN" not in page.partition("<template")[0]
    assert "nan" not in lines


def test_curves_go_through_the_values_of_evaluate(tmp_path, monkeypatch):
    """Where the ring is, precision is that of the ranking; other points are other thresholds."""
    monkeypatch.setattr(places, "SECONDS", 0.1)
    how = {**HOW, "quantile": 0.95}
    truth, scores = example()
    truth, scores = truth[:60], {name: scores[name][:60] for name in ("noise", "middling")}
    page = made(tmp_path, truth, scores, **how)
    layers = data_of(page)["figures"]["by-precision"]["layers"]
    lines = [one for one in layers if one["kind"] == "line" and "of-chance" not in one["name"]]
    rings = [one for one in layers if one["kind"] == "ring"]
    for (name, data), line, ring in zip(packed(page).items(), lines, rings, strict=True):
        values = [cell["precision"]["value"] for cell in data["cells"][data["chosen"][0]]]
        assert 0 < data["chosen"][1] < len(values) - 1
        assert line["y"] == values
        assert ring["y"] == nf.evaluate(truth, scores[name], **how).precision
        assert ring["x"] == line["x"][data["chosen"][1]]


def test_a_step_that_one_lacks_is_left_out_for_all(tmp_path):
    """Values are those of compare on the common steps, in the ranking and on the own pages."""
    truth, scores = example()
    holes = {name: values.copy() for name, values in scores.items()}
    holes["noise"][[3, 50]], holes["middling"][99] = np.nan, np.nan
    page = made(tmp_path, truth, pd.DataFrame(holes), missing="mask", **HOW)
    found = nf.compare(truth, holes, missing="mask", quantile=0.9, tolerance=1)
    shown = {row[1].removesuffix(" ★"): row[3].split()[0] for row in table(page, "ranking")[2:]}
    assert shown == {name: show_share(f1) for name, f1 in zip(found.detectors, found.values[:, 2], strict=True)}
    for name, data in packed(page).items():
        d, k = data["chosen"]
        assert data["cells"][d][k]["text"]["f1"] == shown[name]
        assert data["timeline"]["n"] == N


def test_ranges_with_times_and_other_metrics(tmp_path):
    """A clock, ranges, a budget and a metric reach every detector's own page."""
    _, scores = example()
    times = pd.date_range("2024-03-01", periods=N, freq="h")
    ranges = [(times[at], times[at + 3]) for at in (10, 40, 77, 120)]
    page = made(
        *(tmp_path, ranges, {"a": scores["noise"], "b": scores["middling"]}),
        **{"times": times, "budget": "5%", "tolerance": "1h", "metrics": ["auc-roc"], "n_resamples": 99},
    )
    assert "160 steps from 2024-03-01 to 2024-03-07 15:00:00, 4 ranges. 2 detectors, within a tolerance of 1h." in page
    assert [data["metrics"][0]["name"] for data in packed(page).values()] == ["auc-roc"] * 2
    python = html.unescape(re.findall("<pre>(.*?)</pre>", page, re.DOTALL)[0])
    assert (
        "nf.report(truth, scores, times=times, budget=0.05, tolerance='1h', n_resamples=99, metrics=['auc-roc']"
        in python
    )


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(tmp_path):
    """Also where chance is simulated, with the seed that is the default."""
    truth, scores = example()
    how = {"quantile": 0.9, "null": "segments", "n_resamples": 99, "title": "Twice"}
    two = {"a": scores["noise"], "b": scores["middling"]}
    assert made(tmp_path, truth, two, **how) == made(tmp_path, truth, two, **how)
    assert made(tmp_path, truth, two, **how, rng=5) != made(tmp_path, truth, two, **how)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"scores": {"a": [1, 2, 3]}, "quantile": 0.5}, "scores has 1 detector: pass at least two"),
        ({"scores": {"a": [1, 2, 3], "b": [1, 2]}, "quantile": 0.5}, "detector 'b': "),
        ({"scores": {"a": [1, 2, 3], "b": [3, 1, 2]}}, "detector 'a': pass either threshold or quantile or budget"),
        ({"scores": {"a": [1, 2, 3], "b": [3, 1, 2]}, "quantile": 0.5, "alpha": 2}, "alpha=2 must be"),
        ({"scores": {"a": [1, 2, 3], "b": [3, 1, 2]}, "quantile": 0.5, "title": 3}, "title=3 must be text"),
        ({"scores": [1, 2, 3], "predictions": {"b": [0, 1, 0]}, "quantile": 0.5}, "must be a dict of detectors"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(tmp_path, arguments, said):
    """With the name of the detector where it is one's fault."""
    with pytest.raises(nf.InputError) as error:
        nf.report([0, 1, 0], **{"path": tmp_path / "page.html", **arguments})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_would_fail_at_the_end_is_refused_before_the_work(tmp_path, monkeypatch):
    """No place to write to, no jinja2: nothing is computed for that."""
    truth, scores = example()
    monkeypatch.setattr("nofluke.inference.report.evaluate_several", lambda *_, **__: pytest.fail("computed first"))
    with pytest.raises(nf.InputError, match=r"^path='.*page.html' cannot be written"):
        nf.report(truth, scores, **HOW, path=tmp_path / "nowhere" / "page.html")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(nf.InputError, match=r"a report needs jinja2, which is not installed: pip install"):
        nf.report(truth, scores, **HOW, path=tmp_path / "page.html")


@pytest.fixture
def file(tmp_path):
    truth, scores = example()
    days = np.datetime64("2024-01-01") + np.arange(N)
    names = {"good": NASTY, "middling": "middling", "no's": "noise"}
    rows = zip(days, truth.astype(int), *(scores[name] for name in names.values()), np.roll(truth, 1), strict=True)
    lines = [",".join(map(str, [d, y, *map(repr, map(float, zs)), int(p)])) for d, y, *zs, p in rows]
    (tmp_path / "my data.csv").write_text("\n".join(["day,y," + ",".join(names) + ",alarms", *lines]) + "\n")
    return tmp_path / "my data.csv"


def run(*words):
    done = CliRunner().invoke(cli, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_the_command_writes_a_page_that_says_how_to_repeat_it(file, tmp_path):
    """Scores and alarms side by side; the command in the page gives the same bytes, its Python the same pages."""
    out = tmp_path / "page.html"
    words = [file, "--truth", "y", "--time", "day", "--scores", "no's", "--scores", "good", "--predictions", "alarms"]
    said = run("report", *words, "--budget", "8%", "--late", "2d", "--null", "permutation", "-o", out)
    page = out.read_text(encoding="utf-8")
    assert said.splitlines()[-1] == f"Open {out}"
    assert "has the best F1" in said.splitlines()[0]
    assert "Better than chance, corrected for 3 detectors: " in said.splitlines()[1]
    command, python = (
        html.unescape(t) for t in re.findall("<pre>(.*?)</pre>", page.partition("<template")[0], re.DOTALL)
    )
    assert hashlib.sha256(file.read_bytes()).hexdigest() in page
    assert "scores: good, time: day" in page, "the own page names its own column"
    good = re.search('<template data-detector="good">.*?</template>', page, re.DOTALL)[0]
    advised = html.unescape(re.findall('<pre class="try">(nofluke evaluate .*?)</pre>', good)[0])
    assert re.findall("--(?:scores|predictions) (\\S+)", advised) == ["good"]
    run(*shlex.split(advised)[1:])
    assert python.index('"no\'s"') < python.index("'good'"), "in the order typed, which decides among equals"
    run(*shlex.split(command)[1:])
    assert out.read_text(encoding="utf-8") == page
    exec(python.replace('"report.html"', f"{str(out)!r}"), {})
    again = out.read_text(encoding="utf-8")
    assert packed(again) == packed(page)
    assert table(again, "differences") == table(page, "differences")


def test_one_column_is_one_detector_and_none_is_named_twice(file, tmp_path):
    """A single --scores writes the page it always did; two of the same name are refused."""
    out = tmp_path / "page.html"
    run("report", file, "--truth", "y", "--scores", "good", "--quantile", 0.9, "-o", out)
    assert data_of(out.read_text(encoding="utf-8"))["chosen"]
    twice = ["report", str(file), "--truth", "y", "--scores", "good", "--scores", "good", "--quantile", "0.9"]
    with pytest.raises(nf.InputError, match="column 'good' was named twice: name each detector once"):
        CliRunner().invoke(cli, twice, catch_exceptions=False)


@pytest.fixture(scope="module")
def opened(browser, written):
    """The page in a browser."""
    with visits(browser) as visit:
        yield visit(written)


def axe_finds(shown):
    """Names of the rules that axe finds broken; none where axe is not installed."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install axe-playwright-python")
    shown.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    return [one["id"] for one in shown.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]]


def test_a_detector_is_chosen_by_key_and_left_again(opened, page):
    """Enter on its name opens its own page with its sliders; the way back leads to where one was."""
    shown = opened
    link = shown.locator("#ranking a", has_text="</template>")
    link.focus()
    shown.keyboard.press("Enter")
    shown.wait_for_selector("#one #timeline .chart")
    data = packed(page)[NASTY]
    assert shown.locator("#overview").is_hidden()
    assert shown.evaluate("new URLSearchParams(location.hash.slice(1)).get('detector')") == NASTY
    assert shown.locator("#one h1").text_content().startswith(NASTY)
    assert shown.evaluate("document.activeElement === document.querySelector('#one h1')")
    assert shown.locator("#detectors [aria-current=page]").get_attribute("title") == NASTY
    shown.locator("#tolerance").focus()
    shown.keyboard.press("Home")
    cell = data["cells"][0][data["chosen"][1]]
    assert shown.locator('[data-text="precision.value"]').first.text_content() == cell["precision"]["text"]["value"]
    ids = shown.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(set(ids)) == len(ids)
    first = shown.evaluate("(window.before = window.page, window.page.state.d)")
    assert first == 0
    shown.locator("#detectors a", has_text="middling").click()
    shown.wait_for_function("() => window.page && window.page !== window.before")
    other = packed(page)["middling"]
    assert shown.evaluate("[window.page.state.d, window.page.state.k]") == other["chosen"]
    assert shown.locator("#one h1").count() == 1
    # a figure is one image with a description: what it is made of would take most of the time
    shown.evaluate("document.querySelectorAll('.plot').forEach((plot) => plot.replaceChildren())")
    assert axe_finds(shown) == []
    shown.locator("#detectors a", has_text="All detectors").click()
    shown.wait_for_selector("#overview", state="visible")
    assert shown.evaluate("window.page") is None
    assert shown.locator("#one").inner_html() == ""
    assert shown.evaluate("document.activeElement.textContent") == "middling"
    assert axe_finds(shown) == []
    # so few events have no intervals
    shown.evaluate("document.querySelector('#ranking tbody .interval').textContent = '[0.1, 0.9]'")
    with shown.expect_download() as saved:
        shown.get_by_role("button", name="Download Ranking: Detectors, best F1 first, with chance as CSV").click()
    assert saved.value.suggested_filename.startswith("detectors-ranking")
    head, *rows = csv.reader(Path(saved.value.path()).read_text(encoding="utf-8").splitlines())
    assert head[:8] == ["rank", "detector", "verdict", "F1", "F1 low", "F1 high", "F1 chance", "F1 p corrected"]
    assert [[len(row) for row in rows], head[8]] == [3 * [len(head)], "F1 p"]
    assert rows[0][1] == NASTY  # without its star
    assert rows[0][3:6] == [table(page, "ranking")[2][3].split()[0], "0.1", "0.9"]
    for scroll in shown.locator("#overview .scroll").all():
        assert scroll.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_the_address_says_which(opened, written):
    """A link opens one detector at once, also beside keys of its own page; an unknown name opens the overview."""
    shown = opened
    shown.goto("about:blank")
    shown.goto(f"{written.as_uri()}#detector=noise&tolerance=1")
    shown.wait_for_selector("#one #timeline .chart")
    assert shown.evaluate("location.hash").startswith("#detector=noise")
    assert shown.title().startswith("noise – ")
    shown.goto(f"{written.as_uri()}#detector=nobody")
    shown.wait_for_selector("#overview", state="visible")


def test_the_overview_needs_no_script_and_fits_phones_and_paper(visit, written):
    """The page holds its tables and figures; a line says what needs JavaScript; nothing exceeds screen or paper."""
    for how in ({"java_script_enabled": False}, {}):
        shown = visit(written, 390, 844, **how)
        assert shown.locator("#overview table").count() == 3
        assert shown.locator("#overview figure [role=img]:visible").count() == 6
        if how:
            assert shown.locator("#overview main > noscript").is_visible()
            assert shown.locator("#detectors").is_hidden()
            assert shown.locator("#choose").is_hidden()
        else:
            assert shown.evaluate("document.documentElement.scrollWidth") == 390
            shown.set_viewport_size({"width": 690, "height": 1000})
            shown.emulate_media(media="print")
            assert shown.evaluate("document.documentElement.scrollWidth") == 690


def test_advice_about_alarms_has_no_rule_for_scores():
    """A detector's own command has its own column, and no threshold where it has no scores."""
    command = "nofluke report d.csv --truth y --scores a --scores 'b c' --predictions p --budget 1% --tolerance 2"
    columns = {"truth": "y", "scores:a": "a", "scores:b c": "b c", "predictions:p": "p"}
    source = Source(file="d.csv", columns=columns, command=command)
    assert own_source(source, "b c").columns == {"truth": "y", "scores": "b c"}
    assert own_source(source, "b c").command == (
        "nofluke report d.csv --truth y --scores 'b c' --budget 1% --tolerance 2"
    )
    assert own_source(source, "p").command == "nofluke report d.csv --truth y --predictions p --tolerance 2"


def test_the_command_of_one_detector_names_the_columns_of_a_file_of_alarms_or_leaves_the_file_out():
    """--predictions names the column of times there, not a detector; a detector with scores needs no such file."""
    start, rest = "nofluke report d.csv --truth y", "--predictions-file al.csv --where 'w < 2' --predictions when"
    columns = {"truth": "y", "scores:a": "a", "predictions": "when"}
    how = {"file": "d.csv", "columns": columns, "predictions_file": "al.csv", "where": "w < 2"}
    source = Source(command=f"{start} {rest} --scores a --budget 1% --tolerance 2", **how)
    assert own_source(source, "a").command == f"{start} --scores a --budget 1% --tolerance 2"
    assert own_source(source, "al").command == f"{start} {rest} --tolerance 2"
    source = Source(command=f"{start} {rest} --by rule --scores a --tolerance 2", by="rule", **how)
    assert own_source(source, "a").command == f"{start} --scores a --tolerance 2"
    wanted = """--predictions-file al.csv --predictions when --where '(w < 2) AND "rule" = '"'"'cpu'"'"''"""
    assert own_source(source, "cpu").command == f"{start} {wanted} --tolerance 2"
