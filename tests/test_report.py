"""The report's numbers, and the page as text: slider positions say what `evaluate` says, and nothing breaks out."""

import hashlib
import html
import itertools
import re
import shlex
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import cli
from nofluke.inference.sweep import BAND
from nofluke.nulls.diagnosis import lag_profile
from nofluke.plot.shifts import hits_around
from nofluke.show.kit import packed_json
from nofluke.show.report import cells, code_of, metrics_beside, write_report
from nofluke.show.report import grid as positions
from nofluke.show.report.cells import picture_of
from nofluke.show.report.grid import make_grid, tolerances_around
from nofluke.show.report.origin import python_code
from nofluke.show.report.payload import make_payload
from nofluke.show.report.timeline import timeline
from nofluke.text.numbers import show_p
from pages import data_of, unpacked

pytestmark = pytest.mark.usefixtures("unwritten")

STEPS = 90


def example(seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.random(STEPS) < 0.1
    scores = np.round(rng.random(STEPS) + 0.6 * truth, 2)
    return truth, scores


def masked():
    mask = np.zeros(STEPS, dtype=bool)
    mask[20:35] = True
    return mask


DAYS = np.datetime64("2021-01-01") + np.arange(STEPS)
IRREGULAR = np.cumsum(np.random.default_rng(0).integers(1, 5, STEPS))
CASES = {
    "plain": {"quantile": 0.83, "tolerance": 2, "null": "permutation"},
    "auto": {"quantile": 0.83, "tolerance": 2},
    "threshold": {"threshold": 0.8, "tolerance": 0},
    "dates and mask": {"quantile": 0.8, "tolerance": "2d", "times": DAYS, "mask": masked()},
    "irregular clock": {
        "quantile": 0.8,
        "tolerance": nf.Tolerance(early=1, late=4.5, unit="clock"),
        "times": IRREGULAR,
    },
    "late only": {"quantile": 0.8, "tolerance": nf.Tolerance(early=0, late=3), "mask": masked()},
    "circular shift": {"quantile": 0.8, "tolerance": 1, "null": "circular-shift"},
    "blocks": {"quantile": 0.8, "tolerance": 1, "null": "blocks:length=9", "rng": 3, "n_resamples": 200},
    "seasonal": {"quantile": 0.8, "tolerance": 1, "null": "seasonal:period=10", "rng": 3, "n_resamples": 200},
    "simulated": {
        "quantile": 0.8,
        "tolerance": 1,
        "null": "permutation",
        "method": "montecarlo",
        "rng": 3,
        "n_resamples": 200,
    },
    "two-sided": {"quantile": 0.8, "tolerance": 1, "alternative": "two-sided", "ties": "mid", "alpha": 0.2},
    "binomial": {"quantile": 0.8, "tolerance": 1, "null": "permutation", "method": "binomial", "zero_division": 0.0},
}


@pytest.fixture(scope="module")
def small():
    """A result, its payload and its page, made once."""
    result = nf.evaluate(*example(), quantile=0.83, tolerance=2)
    return result, make_payload(result)


QUICK = ("plain", "auto", "dates and mask", "circular shift")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_every_cell_is_what_evaluate_says(name):
    """With any null, clock or mask: a position's counts, chance, p-values, matrices and words are `evaluate`'s."""
    truth, scores = example()
    case = CASES[name]
    result = nf.evaluate(truth, scores, **case)
    payload, grid = make_payload(result), make_grid(result)
    rest = {key: value for key, value in case.items() if key not in ("quantile", "threshold", "tolerance")}
    rest["null"] = result.null  # chosen once, for all cells
    where = list(np.ndindex(grid.shape))
    for d, k in [*where[:: max(len(where) // 24, 1)], grid.chosen]:
        cell = payload["cells"][d][k]
        quantile = grid.quantiles[k]
        level = {"threshold": float(grid.thresholds[k])} if quantile is None else {"quantile": quantile}
        wanted = nf.evaluate(truth, scores, tolerance=grid.tolerances[d], **level, **rest)
        assert (d, k) != grid.chosen or cell["verdict"] == wanted.verdict  # elsewhere: test_report_entitled.py
        assert cell["text"]["precision_sentence"] == wanted.sentences()[0]
        assert cell["text"]["recall_sentence"] == wanted.sentences()[1]
        assert cell["text"]["delay"] == str(wanted.delays)
        assert cell["text"]["false_alarms"] == str(wanted.false_alarms)
        doubts = wanted.settings.choice.doubts if result.settings.choice.is_auto else ()
        assert cell["text"]["notes"] == " ".join(note for note in wanted.notes if note not in doubts)
        assert cell["matrices"]["truth"]["entries"][:2] == [
            f"{wanted.tolerant_truth.tp:,}",
            f"{wanted.tolerant_truth.fp:,}",
        ]
        assert cell["matrices"]["predictions"]["entries"][3] == f"{wanted.tolerant_predictions.fn:,}"
        for side, value in (("precision", wanted.precision), ("recall", wanted.recall)):
            test = getattr(wanted, f"{side}_test")
            assert (cell[side]["hits"], cell[side]["of"]) == (test.hits, test.of)
            assert cell[side]["value"] == (None if np.isnan(value) else value)
            numbers = [cell[side][key] for key in ("mean", "std", "p")]
            assert numbers == pytest.approx([test.expected, test.std, test.pvalue], rel=1e-9)
            assert [cell[side]["low"], cell[side]["high"]] == test.law.quantile(BAND).tolist()


def test_the_chosen_cell_is_the_result_itself(small):
    """What the user evaluated is on the sliders, unrounded."""
    result, payload = small
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    assert cell["precision"]["p"] == result.precision_test.pvalue
    assert cell["recall"]["p"] == result.recall_test.pvalue
    assert cell["f1"] == result.f1
    assert payload["thresholds"][k]["value"] == result.threshold
    assert payload["tolerances"][d]["label"] == str(result.tolerance)


def test_corrected_p_values_are_those_of_a_sweep_over_the_same_cells(small):
    """The correction is `Sweep.familywise`, over all cells on the sliders."""
    result, payload = small
    grid = make_grid(result)
    curve = nf.sweep(*example(), thresholds=grid.thresholds, tolerances=grid.tolerances)
    wanted = curve.familywise(n_resamples=9_999, rng=0)
    for side in ("precision", "recall"):
        found = np.array([[cell[side]["corrected"] for cell in row] for row in payload["cells"]])
        adjusted = getattr(wanted, f"{side}_adjusted")
        np.testing.assert_array_equal(found, np.where(np.isnan(adjusted), 1.0, adjusted))
    assert str(wanted.n_resamples // 1000) in payload["family"]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["plain", "circular shift", "simulated", "blocks"])
def test_corrected_p_values_are_never_below_their_own_nor_below_the_floor(case):
    """Of resamples 1/(n + 1), of rotations 1/n; the page says which."""
    result = nf.evaluate(*example(), **CASES[case])
    payload = make_payload(result)
    floor = 1 / STEPS if case == "circular shift" else 1 / 10_000
    assert f"none can be below {show_p(floor)}" in payload["corrected_by"]
    for cell, side in itertools.product(itertools.chain(*payload["cells"]), ("precision", "recall")):
        assert cell[side]["corrected"] >= max(cell[side]["p"], floor * (1 - 1e-12))


@pytest.mark.slow
def test_the_level_is_the_one_asked_for_everywhere(tmp_path):
    """At alpha = .01 no sentence of the page speaks of .05, and what is called significant is so at .01."""
    result = nf.evaluate(*example(), quantile=0.83, tolerance=2, alpha=0.01)
    page = page_of(tmp_path, result)
    payload = data_of(page)
    words = re.sub(
        r'<style>.*?</style>|<script.*?</script>|<svg [^>]*class="static".*?</svg>', "", page, flags=re.DOTALL
    )
    assert "reach p = 0.01" in words
    assert re.findall(r".{40}\b0?\.05\b.{20}", words.replace("\n", " ")) == []
    for cell, side in itertools.product(itertools.chain(*payload["cells"]), ("precision", "recall")):
        assert cell[side]["remains"] == (cell[side]["corrected"] <= 0.01)


def test_the_lag_profile_is_that_of_the_diagnosis():
    """One definition of a lag in the whole package, also where windows meet the ends."""
    rng = np.random.default_rng(8)
    truth, alarms = rng.random(1_000) < 0.1, rng.random(1_000) < 0.1
    result = nf.evaluate(
        truth, predictions=alarms, tolerance=nf.Tolerance(early=1, late=3), mask=rng.random(1_000) < 0.1
    )
    profile = lag_profile(result.cell)
    assert len(profile.lags) > 10
    hits, found = hits_around(result.cell, profile.lags)
    assert hits.tolist() == profile.precision_hits.tolist()
    assert found.tolist() == profile.recall_hits.tolist()


@pytest.mark.parametrize("events", ["steps", "ranges"])
@pytest.mark.parametrize("alarms", ["steps", "episodes"])
def test_hits_by_shift_are_the_hits_where_nothing_is_shifted(events, alarms):
    """Whatever events and alarms are counted as."""
    rng = np.random.default_rng(5)
    truth, scores = np.arange(600) % 60 < 7, rng.random(600)
    result = nf.evaluate(
        truth, scores, quantile=0.8, tolerance=2, count_events=events, count_alarms=alarms, n_resamples=99, rng=1
    )
    payload = make_payload(result)
    for cell in itertools.chain(*payload["cells"]):
        for side in ("precision", "recall"):
            assert cell["lag"][side][payload["lags"].index(0)] == cell[side]["hits"]


def test_delays_are_all_in_the_bars(small):
    """Every event found is in one bar, even where there are more delays than bars."""
    _, payload = small
    for row in payload["cells"]:
        for cell in row:
            assert sum(cell["delay"]["counts"]) == cell["recall"]["hits"]


def test_delays_of_daily_data_are_drawn_in_days():
    """A delay of one day is 1, not 24 hours, and a step is one of them, however short the delays are."""
    days = np.datetime64("2020-01-01") + np.arange(60)
    truth, alarms = np.arange(60) % 10 == 4, np.arange(60) % 20 == 5
    result = nf.evaluate(truth, predictions=alarms, times=days, tolerance="1d", null="permutation")
    payload = make_payload(result)
    d, k = payload["chosen"]
    assert payload["cells"][d][k]["delay"] == {
        "unit": "days",
        "at": [1.0],
        "counts": [3],
        "step": 1.0,
        "width": 0.85,
    }
    assert payload["cells"][d][k]["text"]["delay"] == "median 1d (middle half 1d to 1d)"


@pytest.mark.parametrize("quantile", [0.9, 0.5])
def test_pictures_show_the_distribution_itself(quantile, monkeypatch):
    """What is drawn are probabilities of the null at whole numbers of hits, whichever way and however far."""
    monkeypatch.setattr(cells, "DRAWN", 2.2)  # so that what is below counts for the central 95%
    rng = np.random.default_rng(4)
    truth, scores = rng.random(600) < 0.05, rng.random(600)
    for programme in (1e12, 0.0):  # by dynamic programme, and by Fourier inversion
        null = nf.nulls.Permutation(programme_operations=programme)
        result = nf.evaluate(truth, scores, quantile=quantile, tolerance=3, null=null)
        law = result.precision_test.law
        drawn = picture_of(law)
        hits = drawn.first + drawn.step * np.arange(len(drawn.chance))
        exact = nf.evaluate(truth, scores, quantile=quantile, tolerance=3).precision_test.law
        np.testing.assert_allclose(drawn.chance, exact.table[hits], rtol=1e-6, atol=1e-12)
        assert [drawn.low, drawn.high] == exact.quantile(BAND).tolist()
        assert drawn.chance.sum() * drawn.step > 0.95


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), late=st.integers(0, 4))
def test_the_timeline_holds_every_event_and_every_prediction(seed, late):
    """At every slider position its levels and windows tell which steps are hits and which events are found."""
    rng = np.random.default_rng(seed)
    truth, scores = rng.random(60) < 0.15, rng.integers(0, 9, 60).astype(float)
    result = nf.evaluate(
        truth, scores, threshold=6, tolerance=nf.Tolerance(early=1, late=late), mask=rng.random(60) < 0.1
    )
    grid = make_grid(result)
    line = timeline(result, grid)
    levels, base, first = map(unpacked, (line["levels"], line["finders"]["base"], line["events"]["first"]))
    starts, lengths = (unpacked(line["finders"][name]).reshape(-1, len(first)) for name in ("starts", "lengths"))
    events, is_open = result.sequence.truth, result.sequence.open_steps
    np.testing.assert_array_equal(first, np.flatnonzero(events & is_open))
    for d, tolerance in enumerate(grid.tolerances):
        windows = [(int(a), int(a + n)) for a, n in zip(base + starts[d], lengths[d], strict=True)]
        for k, threshold in enumerate(grid.thresholds):
            alarms = (scores >= threshold) & is_open
            np.testing.assert_array_equal(levels > k, alarms)
            near = np.array([events[max(p - tolerance.late, 0) : p + tolerance.early + 1].any() for p in range(60)])
            found = np.array([alarms[max(q - tolerance.early, 0) : q + tolerance.late + 1].any() for q in range(60)])
            inside = np.zeros(60, dtype=bool)
            for a, b in windows:
                inside[a:b] = True
            np.testing.assert_array_equal(alarms & inside, alarms & near)
            assert [bool(alarms[a:b].any()) for a, b in windows] == found[events & is_open].tolist()


@given(
    early=st.integers(0, 40),
    late=st.integers(0, 40),
    unit=st.sampled_from(["steps", "ns", "clock"]),
    n=st.integers(1, 500),
)
def test_tolerances_grow_around_the_chosen_one(early, late, unit, n):
    """The chosen tolerance is among them, once; each window holds the one before."""
    chosen = nf.Tolerance(early=early, late=late, unit=unit)
    found = tolerances_around(chosen, n)
    assert found.count(chosen) == 1
    assert len(found) <= 9
    for shorter, longer in itertools.pairwise(found):
        assert shorter.early <= longer.early
        assert shorter.late <= longer.late
        assert shorter != longer


def test_a_small_budget_leaves_out_the_expensive_low_thresholds(small, monkeypatch):
    """However little time there is, the chosen cell and its neighbours stay; what is left out is said."""
    result, _ = small
    all_of_them = make_grid(result)
    monkeypatch.setattr(positions, "SECONDS", 0.0)
    few = make_grid(result)
    at = all_of_them.chosen[1]
    assert few.thresholds.tolist() == all_of_them.thresholds[at - 3 : at + 4].tolist()
    assert few.told[few.chosen[1]] == result.threshold
    assert few.tolerances[few.chosen[0]] == result.tolerance
    assert "lower thresholds were left out" in few.left_out
    assert "higher thresholds were left out" in few.left_out
    assert all_of_them.left_out == ""
    assert len(all_of_them.thresholds) > 20


def test_long_sequences_get_fewer_tolerances(small, monkeypatch):
    """Where time allows few thresholds, tolerances give way before thresholds do."""
    result, _ = small
    monkeypatch.setattr(positions, "cell_seconds", lambda *_: 1.0)
    monkeypatch.setattr(positions, "SECONDS", 40.0)
    assert make_grid(result).shape == (4, 11)


def test_thresholds_that_predict_the_same_steps_are_one():
    """A score with few values has few slider positions."""
    truth, _ = example()
    scores = np.arange(STEPS) % 3
    assert make_grid(nf.evaluate(truth, scores, threshold=2)).thresholds.tolist() == [0.0, 1.0, 2.0]


def page_of(tmp_path, result, **how):
    return write_report(result, tmp_path / "page.html", **how).read_text(encoding="utf-8")


DEGENERATE = {
    "no events": (np.zeros(STEPS, dtype=bool), {"scores": example()[1], "quantile": 0.9}, "There are no events"),
    "all events": (np.ones(STEPS, dtype=bool), {"scores": example()[1], "quantile": 0.9}, "Every step is an event"),
    "no predictions": (example()[0], {"scores": example()[1], "threshold": 99.0}, "There are no predictions"),
    "no alarms": (example()[0], {"predictions": np.zeros(STEPS, dtype=bool)}, "There are no predictions"),
    "constant score": (example()[0], {"scores": np.zeros(STEPS), "threshold": 0.0}, "All scores are equal"),
    "huge scores": (example()[0], {"scores": example()[1] * 1e39, "quantile": 0.9}, "predictions"),
    "largest scores": (example()[0], {"scores": np.linspace(-1, 1, STEPS) * 1.7e308, "quantile": 0.9}, "predictions"),
    "tiny scores": (example()[0], {"scores": example()[1] * 5e-324, "quantile": 0.5}, "predictions"),
    "one step": (np.array([True]), {"scores": np.array([1.0]), "threshold": 1.0}, "1 of 1 prediction"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_input_still_gives_a_page_that_says_so(tmp_path, name):
    """No events, no predictions, one step: a page with finite numbers and plain words."""
    truth, case, words = DEGENERATE[name]
    page = page_of(tmp_path, nf.evaluate(truth, **case, tolerance=2))
    assert words in page
    assert data_of(page)["cells"]


@pytest.mark.slow
def test_a_null_that_the_diagnosis_advises_against_is_marked_on_top(tmp_path):
    """Events in runs: the permutation gets a warning in the verdict, the recommended null gets none."""
    truth = np.repeat(np.random.default_rng(1).random(60) < 0.15, 10)
    scores = np.random.default_rng(2).random(600)
    for null, warned in (("permutation", True), ("circular-shift", False)):
        page = page_of(tmp_path, nf.evaluate(truth, scores, quantile=0.9, tolerance=2, null=null))
        verdict = page[page.index('<section id="verdict"') : page.index("</section>")]
        assert ("recommends another null for these data, &#34;circular-shift&#34;" in verdict) is warned
        assert ("Under permutation, which these events contradict: " in verdict) is warned
        assert (" data-doubtful " in verdict.partition(">")[0]) is warned


def test_the_page_says_which_null_and_why_and_what_cannot_be_told(tmp_path):
    """The null auto chose and why; a slider position without predictions is no fluke but cannot be judged."""
    result = nf.evaluate(*example(), threshold=99, tolerance=2)
    page = page_of(tmp_path, result)
    verdict = page[page.index('<section id="verdict"') : page.index("</section>")]
    assert 'data-verdict="cannot tell"' in verdict
    assert "Cannot tell.</strong>" in verdict
    assert "There are no predictions: nothing could have been hit." in verdict
    explained = page[page.index('<section id="explained"') :]
    assert (
        f"Null: {result.null.text} (auto). {result.settings.choice.why}" in explained[: explained.index("</section>")]
    )
    assert "null=" not in page[page.index("nf.evaluate(") : page.index("result.report(")]


def test_alarms_have_no_threshold_to_move(tmp_path):
    """With alarms instead of scores the threshold slider is hidden and the tolerance slider works."""
    truth, scores = example()
    page = page_of(tmp_path, nf.evaluate(truth, predictions=scores > 1, tolerance=1))
    data = data_of(page)
    assert '<div class="control" hidden>' in page
    assert (len(data["thresholds"]), len(data["tolerances"])) == (1, 8)
    assert data["timeline"]["scores"] is None


def test_the_same_input_gives_the_same_bytes(tmp_path):
    """No clock, no fresh random numbers: a report can be compared with `cmp`."""
    truth, scores = example()
    pages = []
    for name in ("one", "two"):
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=1, null="blocks:length=9", rng=5, n_resamples=99)
        pages.append(result.report(tmp_path / f"{name}.html").read_bytes())
    assert pages[0] == pages[1]


def test_a_page_needs_no_network_and_is_small(tmp_path, small):
    """All its scripts are in the file, nothing is fetched, and the page forbids itself to try."""
    page = page_of(tmp_path, small[0])
    assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=(?!\"data:,)", page)
    assert "default-src 'none'; script-src 'unsafe-inline'; style-src" in page
    assert len(page) < 1e6


def test_text_from_the_data_cannot_break_out(tmp_path, small):
    """Markup, ends of scripts and template marks in a title are shown, not obeyed."""
    nasty = "</script><script>alert(1)</script>{{data}} & \"quoted\" 'too' <!--"
    page = page_of(tmp_path, small[0], title=nasty)
    assert "<script>alert" not in page
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{data}} &amp; &#34;quoted&#34;" in page
    assert page.count("</script>") == 3


def test_text_in_the_embedded_data_cannot_end_their_element():
    """Whatever a note says, the data are letters and digits, and are read back as they were."""
    nasty = {"note": "</script><!-- & \u2028 {{data}}"}
    text = packed_json(nasty)
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", text)
    assert data_of(f'<script type="text/plain" id="data">{text}</script>') == nasty


def test_a_missing_package_is_answered_with_the_command(tmp_path, small, monkeypatch):
    """Whoever lacks the extra learns what to type."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(nf.InputError, match=r"pip install 'nofluke\[report\]'"):
        small[0].report(tmp_path / "page.html")


@pytest.mark.parametrize("wrong", [{"title": 5}, {"title": ["x"]}, {"source": "data.csv"}, {"path": 5}, {"path": ""}])
def test_wrong_types_at_the_entry_of_a_report_are_refused(small, tmp_path, wrong):
    """By name, before anything is computed or written."""
    options = {"path": tmp_path / "page.html", **wrong}
    with pytest.raises(nf.InputError, match=next(iter(wrong))):
        write_report(small[0], **options)
    with pytest.raises(nf.InputError, match="result must be an Evaluation, got list"):
        write_report([small[0]], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_an_older_page_stays_until_the_new_one_is_complete(small, tmp_path, monkeypatch):
    """A full disk costs no report, and leaves no half of one."""
    (tmp_path / "page.html").write_text("old")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(nf.InputError, match=r"cannot be written \(No space left on device\): choose another place"):
        small[0].report(tmp_path / "page.html")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "old")]


def test_a_place_that_cannot_be_written_is_refused_before_the_page_is_made(small, tmp_path, monkeypatch):
    """The page takes the time, not the look at its folder."""
    monkeypatch.setattr("nofluke.show.report.make_payload", lambda _: pytest.fail("computed first"))
    with pytest.raises(
        nf.InputError, match=r"^path='.*page.html' cannot be written \(No such file or directory\): choose"
    ):
        small[0].report(tmp_path / "nowhere" / "page.html")


def test_wrong_arguments_are_answered_in_words(tmp_path, small):
    """A title that is no text, a folder that does not exist."""
    with pytest.raises(nf.InputError, match=r"title=3 must be text"):
        small[0].report(tmp_path / "page.html", title=3)
    with pytest.raises(nf.InputError, match=r"cannot be written .*choose another place"):
        small[0].report(tmp_path / "nowhere" / "page.html")


@pytest.fixture
def file(tmp_path):
    truth, scores = example()
    rows = "".join(f"{d},{int(t)},{z}\n" for d, t, z in zip(DAYS, truth, scores, strict=True))
    (tmp_path / "my data.csv").write_text("day,</script><b>,z\n" + rows)
    return tmp_path / "my data.csv"


def run(*words):
    done = CliRunner().invoke(cli, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_writes_a_page_that_says_how_to_repeat_it(file, tmp_path):
    """The command in the page gives the same bytes; so does its Python, but for the name of the input."""
    out = tmp_path / "page.html"
    words = [file, "--truth", "</script><b>", "--scores", "z", "--time", "day", "--early", "1d", "--late", "3d"]
    said = run("report", *words, "--quantile", 0.8, "--null", "circular-shift", "-o", out)
    assert f"Open {out}" in said
    page = out.read_text(encoding="utf-8")
    command, python = (html.unescape(text) for text in re.findall("<pre>(.*?)</pre>", page, re.DOTALL))
    assert hashlib.sha256(file.read_bytes()).hexdigest() in page
    run(*shlex.split(command)[1:])
    assert out.read_text(encoding="utf-8") == page
    exec(python.replace('"report.html"', f"{str(out)!r}"), {})
    again = data_of(out.read_text(encoding="utf-8"))
    assert again == data_of(page)


@pytest.mark.slow
def test_event_times_from_another_file_are_repeated_too(file, tmp_path):
    """The Python of a page with --truth-file reads both files."""
    truth, _ = example()
    (tmp_path / "events.csv").write_text("when\n" + "".join(f"{d}\n" for d in DAYS[truth]))
    out = tmp_path / "page.html"
    run(
        *("report", file, "--truth-file", tmp_path / "events.csv", "--truth", "when", "--scores", "z", "--time", "day"),
        *("--threshold", 1, "--tolerance", "1d", "--alpha", 0.01, "-o", out),
    )
    page = out.read_text(encoding="utf-8")
    python = html.unescape(re.findall("<pre>(.*?)</pre>", page, re.DOTALL)[1])
    exec(python.replace('"report.html"', f"{str(out)!r}"), {})
    assert data_of(out.read_text(encoding="utf-8")) == data_of(page)


def ranged(n=400):
    """Labelled runs, one of them at a border, and scores with a memory that know a little about them."""
    rng = np.random.default_rng(4)
    truth = np.zeros(n, dtype=bool)
    for start, length in ((0, 9), (60, 25), (200, 1), (290, 30)):
        truth[start : start + length] = True
    return truth, np.round(np.convolve(rng.standard_normal(n + 9), np.ones(10) / 3, "valid") + truth, 2)


SOME = ["auc-roc", "best-pa-f1", "nab:profile=low-fp"]


def section(page):
    """The cells of the table of other metrics, row by row, as text."""
    text = re.search('<section id="metrics">.*?</section>', page, re.DOTALL)[0]
    rows = re.findall("<tr>(.*?)</tr>", text, re.DOTALL)
    return text, [[html.unescape(cell) for cell in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"budget": 0.1},
        {"threshold": 0.7, "null": "local-shift:reach=40", "alpha": 0.2},
        {"quantile": 0.9, "null": "segments", "n_resamples": 199},
        {"quantile": 0.8, "higher_is": "normal", "alternative": "less"},
    ],
    ids=lambda how: next(iter(how)),
)
def test_other_metrics_are_those_of_significance_at_the_same_threshold(tmp_path, how):
    """Value, chance, band and both p-values, with the null and the seed of the evaluation."""
    truth, scores = ranged()
    result = nf.evaluate(truth, scores, tolerance=2, **how)
    text, rows = section(result.report(tmp_path / "page.html", metrics=SOME).read_text(encoding="utf-8"))
    seed = cells.seed_of(result)
    expected = nf.significance(SOME, truth, scores, rng=seed, **how)
    assert [tuple(row) for row in rows[1:]] == list(expected.table().rows)
    assert rows[0] == [
        "metric",
        "value",
        "chance",
        f"{100 * (1 - result.alpha):g}% of chance",
        "corrected for chance",
        "p",
        "p corrected",
    ]
    for said in (expected.verdict_in_words(), expected[0].how(), *(one.in_words() for one in expected)):
        assert html.escape(said) in text


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"count_events": "ranges"},
        {"mask": np.isin(np.arange(400), [70, 71, 200, 305])},
        {"warmup": 65},
        {"test_part": (65, 250)},
        {"times": 3 * np.arange(400)},
        {"truth": [(0, 8), (60, 70), (71, 84), (290, 319)]},
        {"truth": [(0, 8), (60, 70), (71, 84), (290, 319)], "count_events": "steps"},
        {"truth": [3.5, 200.25, 207.0, 208.0], "truth_as": "times", "times": np.arange(400)},
    ],
    ids=["labels", "runs", "mask", "warm-up", "test part", "clock", "ranges", "ranges as steps", "times between steps"],
)
def test_an_evaluation_has_the_labelled_ranges_of_its_metrics(how):
    """However events were counted: a run with a masked step is one, ranges that touch are two."""
    truth, scores = ranged()
    given = {"truth": truth, "scores": scores, "quantile": 0.9, "null": "circular-shift", **how}
    found = metrics_beside(nf.evaluate(**given), ["auc-roc", "affiliation-f1", "nab"])
    expected = nf.significance(["auc-roc", "affiliation-f1", "nab"], **given)
    assert [one.labels for one in found] == [one.labels for one in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.slow
def test_figures_of_other_metrics_hold_all_their_draws(tmp_path):
    """The bars of each add up to one, over what was drawn; an undefined value has no line."""
    truth, scores = ranged()
    result = nf.evaluate(truth, scores, quantile=0.9)
    page = result.report(tmp_path / "page.html", metrics="auc-roc").read_text(encoding="utf-8")
    (drawn,) = data_of(page)["metrics"]
    one = nf.significance("auc-roc", truth, scores)
    assert (drawn["name"], drawn["value"], drawn["perfect"]) == ("auc-roc", one.value, 1.0)
    assert sum(drawn["heights"]) == pytest.approx(1, abs=1e-3)
    assert (drawn["edges"][0], drawn["edges"][-1]) == (one.values.min(), one.values.max())
    quiet = nf.evaluate(np.zeros(400), scores, quantile=0.9)
    page = quiet.report(tmp_path / "page.html", metrics=["auc-roc"]).read_text(encoding="utf-8")
    assert data_of(page)["metrics"][0] == drawn | {"value": None, "text": "undefined", "heights": [], "edges": []}
    assert "cannot tell" in section(page)[0]


def test_a_page_without_other_metrics_has_no_section_of_them(small, tmp_path):
    """Nothing empty is shown."""
    page = small[0].report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<section id="metrics">' not in page
    assert data_of(page)["metrics"] == []


def test_functions_are_metrics_of_a_page_too(tmp_path):
    """By their names, which may hold anything; they are given the alarms, as with any threshold."""
    truth, scores = ranged()

    def overlap(labels, alarms):
        return float((labels * alarms).sum())

    overlap.__name__ = "</script><b>"
    page = nf.evaluate(truth, scores, quantile=0.9).report(tmp_path / "page.html", metrics=[overlap, "nab"])
    text, rows = section(page.read_text(encoding="utf-8"))
    assert rows[1][:2] == ["</script><b>", str(int(truth[scores >= np.quantile(scores, 0.9)].sum()))]
    assert "<b>" not in text


@pytest.mark.slow
def test_python_code_brings_functions_along_or_says_that_it_does_not(tmp_path, monkeypatch):
    """It can be run, but for what has no place that it can be imported from."""
    from sklearn.metrics import f1_score

    monkeypatch.setattr(nf.metrics, "_ADDED", {})
    nf.metrics.register("mine", f1_score, needs="alarms", perfect=1.0)
    truth, scores = ranged()
    result = nf.evaluate(truth, scores, quantile=0.9)
    others = metrics_beside(result, [f1_score, lambda *_: 1.0, "mine", "nab"])
    lines, listed = code_of(others)
    assert lines == (
        "from sklearn.metrics import f1_score",
        "# metric_2 stands for '<lambda>', a function that is not shown here",
        "# metric_3 stands for 'mine', a function that is not shown here",
    )
    assert listed == "[f1_score, metric_2, metric_3, 'nab']"
    code = python_code(result, None, (lines, listed))
    compile(code, "code", "exec")
    assert code.splitlines()[-1] == f'result.report("report.html", metrics={listed})'


def test_no_metrics_may_be_none(small):
    """As with other arguments."""
    assert metrics_beside(small[0], None) is None


def test_metrics_that_cannot_be_are_refused_before_the_page_is_made(small, tmp_path, monkeypatch):
    """Unknown ones, the same one twice, scores where there are alarms, and two lists of times."""
    monkeypatch.setattr("nofluke.show.report.make_payload", lambda _: pytest.fail("computed first"))
    alarms = nf.evaluate([0, 1, 0, 1], predictions=[0, 1, 0, 1])
    lists = nf.coincidence([1, 5, 9], [2, 5, 7], tolerance=1)
    for result, metrics, said in (
        (small[0], ["no-such"], "metric='no-such' must be one of 'auc-roc'"),
        (small[0], ["nab", "nab"], "metric='nab' is there twice"),
        (alarms, ["auc-roc"], "metric='auc-roc' needs scores"),
        (lists, ["nab"], "metrics need labels on steps, which two lists of times do not have"),
    ):
        with pytest.raises(nf.InputError, match=said):
            write_report(result, tmp_path / "page.html", metrics=metrics)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command_repeats_its_metrics(file, tmp_path):
    """All of them, in their order, in the shell and in Python."""
    out = tmp_path / "page.html"
    words = ["--truth", "</script><b>", "--scores", "z", "--quantile", 0.8, "--metric", "nab:profile=low-fn"]
    run(
        "report",
        file,
        *words,
        "--metric",
        "auc-roc",
        "--resamples",
        99,
        "--null",
        "permutation",
        "-o",
        out,
    )
    page = out.read_text(encoding="utf-8")
    command, python = (html.unescape(text) for text in re.findall("<pre>(.*?)</pre>", page, re.DOTALL))
    assert "--metric nab:profile=low-fn --metric auc-roc" in command
    assert "metrics=['nab:profile=low-fn', 'auc-roc'])" in python
    run(*shlex.split(command)[1:])
    assert out.read_text(encoding="utf-8") == page
    exec(python.replace('"report.html"', f"{str(out)!r}"), {})
    assert data_of(out.read_text(encoding="utf-8")) == data_of(page)


def test_the_demo_writes_a_report(tmp_path, monkeypatch):
    """`nofluke demo --report` shows the built-in data on their days."""
    monkeypatch.setattr(positions, "SECONDS", 0.0)
    run("demo", "--report", tmp_path / "demo.html")
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert "<h1>Simulated tweets about earthquakes</h1>" in page
    assert data_of(page)["timeline"]["x"]["kind"] == "dates"
