"""Intervals of precision, recall and F1: against written-out formulas, where there is none, and their coverage."""

import csv
import importlib.util
import io
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import nofluke as nf
from comparing import linear_terms
from nofluke.errors import InputError
from nofluke.inference.interval import FEWEST, intervals_of, linearise
from nofluke.show.report.payload import make_payload

_SPEC = importlib.util.spec_from_file_location(
    "coverage_of_intervals", Path(__file__).parent.parent / "benchmarks" / "interval_coverage.py"
)
coverage = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(coverage)


def slow_interval(units, measure, level, beta):
    """The interval as in docs/explanation/theory.md, in fractions up to the variance; None where there is none."""
    a, h, e, f = (sum(map(Fraction, column)) for column in zip(*units, strict=True))
    k = {"precision": sum(u[0] > 0 for u in units), "recall": sum(u[2] > 0 for u in units)}
    k["f1"] = min(k.values())
    k = k[measure]
    kish = [
        sum(map(Fraction, sizes)) ** 2 / max(sum(size**2 for size in sizes), 1)
        for sizes in ([u[0] for u in units], [u[2] for u in units])
    ]
    kish = {"precision": kish[0], "recall": kish[1], "f1": min(kish)}[measure]
    if k < 10 or kish < 5:
        return None
    p, r = h / a if a else Fraction(0), f / e if e else Fraction(0)
    f1 = 2 * p * r / (p + r) if p + r else Fraction(0)
    moves = {
        "precision": [p - (h - u[1]) / (a - u[0]) if a > u[0] else Fraction(0) for u in units],
        "recall": [r - (f - u[3]) / (e - u[2]) if e > u[2] else Fraction(0) for u in units],
    }
    value, n = {"precision": (p, a), "recall": (r, e), "f1": (f1, a + e)}[measure]
    moves["f1"] = [
        (2 * r**2 * x + 2 * p**2 * y) / (p + r) ** 2 if p + r else 0
        for x, y in zip(moves["precision"], moves["recall"], strict=True)
    ]
    v = Fraction(k - 1, k) * sum(u**2 for u in moves[measure])
    kish = float(kish)
    tail = (1 - level) / 2
    if value in (0, 1):
        size = kish
    else:
        size = float(min(value * (1 - value) / v, n)) if v else float(n)
        if not beta:
            wide = stats.t.isf(tail, kish - 1) / math.sqrt(size * value * (1 - value))
            centre = math.log(value / (1 - value))
            return tuple(1 / (1 + math.exp(-x)) for x in (centre - wide, centre + wide))
        size *= (stats.t.isf(tail, int(n) - 1) / stats.t.isf(tail, kish - 1)) ** 2
    hits = float(value) * size
    return (
        stats.beta.ppf(tail, hits, size - hits + 1) if hits else 0.0,
        stats.beta.isf(tail, hits + 1, size - hits) if size > hits else 1.0,
    )


@st.composite
def unit(draw, most=4):
    """A unit: no more hits than alarms, no more found than events; a study may have hits without found events."""
    alarms, events = draw(st.integers(0, most)), draw(st.integers(0, most))
    return alarms, draw(st.integers(0, alarms)), events, draw(st.integers(0, events))


@given(
    units=st.lists(unit(), min_size=1, max_size=25),
    times=st.sampled_from([1, 3]),
    level=st.sampled_from([0.5, 0.95, 0.999]),
    kind=st.sampled_from(["episodes", "series", "groups"]),
)
def test_intervals_are_the_formulas(units, times, level, kind):
    """In every corner: nothing at all, all or none found, units that agree, fewer than ten."""
    found = intervals_of(np.array(units * times), level, kind=kind)
    for measure in ("precision", "recall", "f1"):
        own = getattr(found, measure)
        slow = slow_interval(units * times, measure, level, kind == "episodes" and measure != "f1")
        if slow is None:
            assert (own.method, bool(own), bool(own.reason)) == ("none", False, True)
            assert np.isnan([own.low, own.high, own.effective_size]).all()
        else:
            assert (own.low, own.high) == pytest.approx(slow, abs=1e-9)
            assert 0 <= own.low <= own.estimate <= own.high <= 1
            assert own.low < own.high
            assert (bool(own), own.reason) == (True, "")
            assert 4 <= own.df <= own.n_units - 1


@given(units=st.lists(unit(most=50), min_size=2, max_size=12))
def test_leaving_a_unit_out_changes_what_is_told(units):
    """Precision and recall of the others, exactly; F1 by the chain rule; nothing is told where nothing would remain."""
    found = linearise(np.array(units))
    for i in range(len(units)):
        rest = linearise(np.array(units[:i] + units[i + 1 :])).values
        np.testing.assert_allclose(found.left_out[i, :2], (found.values - rest)[:2], atol=1e-12)


def test_units_of_one_size_weigh_as_many_as_they_are():
    """Then variance and degrees of freedom are the usual ones, in whole numbers."""
    rng = np.random.default_rng(2)
    units = np.full((15, 4), [4, 0, 7, 0])
    units[:, 1], units[:, 3] = rng.integers(5, size=15), rng.integers(8, size=15)
    linear = linearise(units)
    for m, own in enumerate(intervals_of(units, kind="series")):
        assert (own.df, own.n_units) == (14, 15)
        p, v = linear.values[m], 15 / 14 * (linear_terms(units)[:, m] ** 2).sum()
        assert own.effective_size == pytest.approx(p * (1 - p) / v)


def test_where_few_units_hold_most_there_is_no_interval():
    """However many small units there are; F1 names the side that lacks one, and 5.0 is never called too few."""
    units = np.array([[2, 1, 1, 1]] * 19 + [[50, 9, 1, 1]])
    found = intervals_of(units, kind="series")
    words = (
        "Few of the 20 series hold most of the alarms: they count for no more than 3.0 of equal size (an interval "
        "needs 5)."
    )
    assert (found.precision.reason, found.f1.reason, found.recall.reason) == (words, words, "")
    assert found.precision.df == pytest.approx(88**2 / (19 * 4 + 2500) - 1)
    assert found.in_words() == (
        "Intervals treat series as independent, 20 with events. None for precision and F1: few of the 20 series hold most of the alarms: "
        "they count for no more than 3.0 of equal size (an interval needs 5)."
    )
    nearly = intervals_of(np.array([[43, 9, 1, 1]] + [[3, 1, 1, 1]] * 19))
    assert "than 4.9 of equal size" in nearly.precision.reason


def test_nothing_found_and_everything_found_leave_room():
    """At 0 and 1 as many independent ones are counted as episodes hold any, not as many as there are alarms."""
    none, every = intervals_of(np.array([[5, 0, 2, 0]] * 12)), intervals_of(np.array([[5, 5, 2, 2]] * 12))
    for own in none:
        assert (own.low, own.high) == (0, pytest.approx(1 - 0.025 ** (1 / 12)))
    for own in every:
        assert (own.low, own.high) == (pytest.approx(0.025 ** (1 / 12)), 1)
        assert (own.method, own.effective_size) == ("korn-graubard", 12)


def test_six_event_episodes_decide_however_many_false_alarms():
    """Sixty false alarms say nothing of recall, and do not make F1 surer."""
    found = intervals_of(
        np.array([[3, 3, 3, 3]] * 3 + [[0, 0, 3, 0]] * 3 + [[1, 0, 0, 0]] * 60), nouns=("alarms", "ranges")
    )
    assert found.precision
    assert (
        found.recall.reason
        == found.f1.reason
        == "The 18 ranges form only 6 episodes, and an interval needs at least 10."
    )
    assert found.in_words() == (
        "Intervals treat episodes as independent, 63 with alarms. None for recall and F1: the 18 ranges form only 6 episodes, and an "
        "interval needs at least 10."
    )


@pytest.mark.parametrize(
    ("units", "kind", "words"),
    [
        (np.zeros((0, 4), dtype=int), "episodes", "No intervals: there are no alarms and there are no events."),
        (
            [[0, 0, 1, 0]] * 3,
            "episodes",
            "No intervals: there are no alarms and only 3 episodes hold events, and an interval needs at least 10.",
        ),
        (
            [[1, 1, 1, 1]],
            "episodes",
            "No intervals: only 1 episode holds alarms and only 1 episode holds events, and an interval needs at least 10.",
        ),
        (
            [[90, 1, 80, 1]] * 7,
            "groups",
            "No intervals: only 7 groups hold alarms and only 7 groups hold events, and an interval needs at least 10.",
        ),
        (
            [[90, 1, 0, 0]] * 12,
            "series",
            "Intervals treat series as independent, 12 with alarms. None for recall and F1: there are no events.",
        ),
    ],
)
def test_why_there_is_none_is_said_in_words(units, kind, words):
    """What is missing, and how much of it an interval needs."""
    assert intervals_of(np.asarray(units), kind=kind).in_words() == words


@pytest.mark.parametrize("level", [1e-300, 1e-9, 1 - 1e-12, math.nextafter(1, 0)])
def test_levels_as_near_to_0_and_1_as_numbers_get_have_intervals(level):
    """Next to nothing, or next to everything, around the value itself."""
    for own in intervals_of(np.array([[2, 1, 1, 1], [1, 0, 1, 0]] * 8), level):
        assert 0 <= own.low <= own.estimate <= own.high <= 1
        assert own.high - own.low > 0.9 if level > 0.5 else own.high - own.low < 0.2


def test_bad_levels_and_units_are_refused():
    """In one line that names the argument."""
    result = nf.evaluate([0, 1, 0], predictions=[0, 1, 0])
    for level in (0, 1, 95, "high", math.nan):
        with pytest.raises(InputError, match=r"level=.* must be between 0 and 1, such as 0\.95"):
            result.interval(level)
    with pytest.raises(InputError, match="kind='weeks' must be one of"):
        intervals_of(np.ones((12, 4)), kind="weeks")
    with pytest.raises(InputError, match=r"units has shape \(4,\), but needs a row of four counts for each unit"):
        intervals_of(np.ones(4))


def detector(n_events):
    """Events and alarms of which two of three find one."""
    steps = np.arange(20 * n_events)
    return steps % 20 == 0, steps % 60 < 21


RESULTS = {
    "steps": lambda n: nf.evaluate(
        detector(n)[0], predictions=detector(n)[1] & (np.arange(20 * n) % 20 == 1), tolerance=1
    ),
    "lists": lambda n: nf.coincidence(
        [20 * i for i in range(n)], [20 * i + 1 for i in range(n) if i % 3], tolerance=1, span=(0, 20 * n)
    ),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_everything_that_shows_a_result_shows_its_intervals(kind):
    """JSON, CSV and table have the same ends; numbers stay where they were."""
    result = RESULTS[kind](45)
    ends = [(own.low, own.high) for own in result.interval()]
    assert all(low < high for low, high in ends)
    told = result.to_dict()
    assert [(told["intervals"][m]["low"], told["intervals"][m]["high"]) for m in ("precision", "recall", "f1")] == ends
    assert (told["intervals"]["level"], type(told["f1"])) == (0.95, float)
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert [(float(row["low"]), float(row["high"])) for row in rows] == ends
    table = result.table()
    assert table.columns[:3] == ("", "value", "95% interval")
    assert [row[2] for row in table.rows] == [str(own) for own in result.interval()]
    assert result.interval().in_words() in table.notes


@pytest.mark.parametrize("kind", RESULTS)
def test_few_episodes_have_no_column_but_a_reason(kind):
    """Nothing stands where nothing can be said, and the table says why."""
    result = RESULTS[kind](4)
    assert result.table().columns == ("", "value", "hits", "of", "chance", "p")
    assert any(note.startswith("No intervals: only ") for note in result.table().notes)
    told = result.to_dict()["intervals"]
    assert (told["recall"]["low"], told["recall"]["method"], told["recall"]["n_units"]) == (None, "none", 4)
    assert all(row["low"] == row["high"] == "" for row in csv.DictReader(io.StringIO(result.to_csv())))


def test_undefined_values_have_no_interval_whatever_stands_for_them():
    """zero_division= fills in a value, not knowledge."""
    result = nf.evaluate([1, 0] * 40, predictions=[0] * 80, zero_division=1)
    assert result.precision == 1
    assert math.isnan(result.interval().precision.estimate)
    assert result.interval().precision.reason == "There are no predictions."


def test_a_plot_draws_the_interval_over_the_hits():
    """From its lower to its upper end, of all predictions or events; no line where there is none."""
    from matplotlib.figure import Figure

    result = RESULTS["steps"](45)
    panels = nf.plot.evaluation(result, Figure().subplots(1, 2))
    for ax, own, of in zip(panels, result.interval(), (result.n_predictions, result.n_events), strict=False):
        (line,) = (line for line in ax.get_lines() if line.get_label().startswith("95% interval"))
        assert line.get_xdata() == pytest.approx((own.low * of, own.high * of))
        assert ax.get_xlim()[0] < own.low * of < own.high * of < ax.get_xlim()[1]
    few = nf.plot.evaluation(RESULTS["steps"](4), Figure().subplots(1, 2))
    assert not [line for ax in few for line in ax.get_lines() if "interval" in line.get_label()]


def test_the_report_has_them_at_every_position_of_the_sliders(tmp_path):
    """The ends in the page's table without a script, and in the numbers of each cell; "none" where there is none."""
    result = RESULTS["steps"](15)
    page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    own = result.interval()
    row = f'<td data-text="precision.interval">{own.precision}</td><td data-text="recall.interval">{own.recall}</td>'
    assert f'<th scope="row">95% interval</th>{row}' in page
    assert f'<td colspan="2" data-text="f1_interval">{own.f1}</td>' in page
    assert own.in_words() in page
    assert "none" in {cell["precision"]["text"]["interval"] for row in make_payload(result)["cells"] for cell in row}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iid", "clustered", "ranges"])
def test_intervals_hold_the_long_run(name):
    """At least 90% of 200 at 95%, for lone hits and for dependent ones, where Clopper and Pearson's fail."""
    situation, steps = coverage.SITUATIONS[name]
    found = coverage.run(situation, steps, runs=200, seed=5, long=400_000)
    assert (found["covered"] >= 0.9).all(), found
    assert (found["with"] > 0.9).all()
    if name != "iid":
        assert (found["clopper-pearson"][:2] < 0.75).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["30 series, lognormal sizes", "28 series, few large"])
def test_intervals_hold_where_series_are_of_unlike_size(name):
    """At least 91% of those told in 200 runs; with k - 1 degrees of freedom and plain linear terms it is 85 to 90%."""
    found = coverage.counted(*coverage.STUDIES[name], runs=200, seed=3, long=400_000, kind="series")
    assert (found["covered"] >= 0.91).all(), found
    assert (found["with"] > 0.8).all()


def test_ten_units_are_the_fewest():
    """Nine are too few, ten are enough."""
    assert not intervals_of(np.array([[2, 1, 1, 1]] * (FEWEST - 1))).f1
    assert intervals_of(np.array([[2, 1, 1, 1]] * FEWEST)).f1
