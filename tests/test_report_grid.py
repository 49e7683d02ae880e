"""The positions of a report's sliders, its map of p-values, its units and words, and odd inputs."""

import itertools
import json
import re
import sys

import numpy as np
import pytest

import nofluke as nf
from nofluke.errors import InputError
from nofluke.inference.sweep import placed
from nofluke.laws import precision
from nofluke.laws.approximate import PrecisionSaddlepoint
from nofluke.laws.exact import fourier
from nofluke.laws.montecarlo.kernels import hits_of_windows
from nofluke.laws.precision import PrecisionFourier
from nofluke.series.counting import Windows
from nofluke.show import report as reports
from nofluke.show.report import grid as positions
from nofluke.show.report.grid import make_grid
from nofluke.show.report.payload import make_payload
from nofluke.text.numbers import PER, rate_in_words

pytestmark = pytest.mark.usefixtures("unwritten")

DAY = 86_400


def series(n=300, share=0.08, lift=0.5, seed=5):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return truth, np.round(rng.random(n) + lift * truth, 3)


class TestPositions:
    @pytest.mark.parametrize(
        ("how", "below", "above"),
        [
            ({"quantile": 0.9}, 3, 3),
            ({"quantile": 0.9985}, 3, 3),  # as many as 30 alarms: .999, .9995, ...
            ({"quantile": 0.9999}, 3, 1),  # two alarms: one has only the largest score
            ({"quantile": 0.02}, 3, 3),
            ({"threshold": -1.0}, 0, 3),  # everything is predicted: nothing lies below
            ({"threshold": 99.0}, 3, 0),  # nothing is: nothing lies above
        ],
    )
    def test_there_are_thresholds_on_both_sides_of_the_evaluated_one(self, how, below, above):
        """As long as there are scores to have other predictions, each position has others, and none has none."""
        truth, scores = series(20_000, 0.003)
        result = nf.evaluate(truth, scores, **how, null="circular-shift")
        grid = make_grid(result)
        at = grid.chosen[1]
        assert (min(at, 3), min(len(grid.thresholds) - 1 - at, 3)) == (below, above)
        alarms = grid.trial.n_predictions
        assert (np.diff(alarms) < 0).all()
        assert alarms[at] == result.n_predictions
        assert (np.delete(alarms, at) > 0).all()
        if how == {"quantile": 0.9985}:
            assert grid.quantiles[at:] == (0.9985, 0.999, 0.9995, 0.9998)

    def test_few_different_scores_are_all_there(self):
        """A score that is above .999 and rare is no quantile of the list, but a neighbour."""
        truth, _ = series(6_000, 0.01)
        scores = np.repeat([0, 1, 2, 3, 4], [5_990, 6, 2, 1, 1])
        grid = make_grid(nf.evaluate(truth, scores, threshold=2, null="circular-shift"))
        assert grid.trial.n_predictions.tolist() == [6_000, 10, 4, 2, 1]

    def test_what_has_no_time_is_simulated_where_it_stands_near(self, monkeypatch):
        """Cells that take too long by themselves are drawn, and say so; the evaluated one is as it was."""
        truth, scores = series()
        result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, null="permutation")
        monkeypatch.setattr(positions, "SLOW", 0.0)
        monkeypatch.setattr(positions, "SECONDS", 0.0)
        payload = make_payload(result)
        d, k = payload["chosen"]
        methods = {at: payload["cells"][at[0]][at[1]]["precision"]["text"]["method"] for at in np.ndindex(4, 7)}
        assert methods.pop((d, k)) == result.precision_test.method
        assert set(methods.values()) == {"montecarlo"}

    def test_lengths_of_time_move_by_the_steps_of_the_data(self):
        """Days have no tolerance of 18 hours, and one of nothing has longer ones beside it."""
        truth, scores = series()
        days = np.datetime64("2020-01-01") + np.arange(len(truth))
        for tolerance, told in (("3d", ["0", "1d", "2d", "3d", "4d", "6d", "8d", "12d"]), ("0s", ["0", "1d", "2d"])):
            grid = make_grid(nf.evaluate(truth, scores, times=days, quantile=0.9, tolerance=tolerance))
            assert [str(t) for t in grid.tolerances][: len(told)] == told
            assert str(grid.tolerances[grid.chosen[0]]) == tolerance.replace("0s", "0")

    def test_names_of_positions_differ_and_are_not_rounded_away(self):
        """No .9999 is a 1, no .00004 a 0, and neighbours have other names; each is the share but for rounding."""
        shares = [0.0, 4e-5, 0.1, 0.10004, 0.5, 0.9, 0.998, 0.9985, 0.9999, 0.99999, 1.0]
        names = positions.short_names(shares)
        assert len(set(names)) == len(shares)
        assert [name in ("0", "1") for name in names] == [share in (0, 1) for share in shares]
        np.testing.assert_allclose([float(name) for name in names], shares, atol=0.005)


class TestRates:
    @pytest.mark.parametrize(
        ("count", "duration", "unit", "told"),
        [
            (1, 2557 * DAY, "seconds", "1 in 7.0 years"),
            (5, 70 * DAY, "seconds", "5 (2.2 per month)"),
            (28, 2.1 * DAY, "seconds", "28 (13 per day)"),
            (3, 2 * 3600, "seconds", "3 (1.5 per hour)"),
            (1, 36_000, "seconds", "1 in 10 hours"),
            (0, 36_000, "seconds", "0 in 10 hours"),
            (1, 1, "steps", "1 in 1 step"),
            (999, 1000, "steps", "999 (999 per 1,000 steps)"),
            (7, 10**7, "steps", "7 (7 per 10,000,000 steps)"),
            (500, 0.1, "clock", "500 (5 per 0.001 time units)"),
        ],
    )
    def test_rates_are_told_as_people_tell_them(self, count, duration, unit, told):
        """In a unit that was watched and holds at least one, or over all that was watched."""
        assert rate_in_words(count, duration, unit) == told

    def test_numbers_are_between_1_and_1000_and_right(self):
        """Of any count and any time, whatever the unit."""
        sizes = {name: size for size, name in PER}
        for count, power in itertools.product((1, 3, 17, 400, 90_000), np.linspace(-3, 9.5, 60)):
            duration = 10.0**power
            told = rate_in_words(count, duration, "seconds")
            found = re.fullmatch(rf"{count:,} \(([\d.,]+) per (\w+)\)", told)
            if found is None:
                assert told.startswith(f"{count:,} in ")
                continue
            number = float(found[1].replace(",", ""))
            assert 1 <= number <= 1000
            assert number == pytest.approx(count / duration * sizes[found[2]], rel=0.05)

    def test_nothing_is_in_seconds_that_is_in_days(self):
        """Titles, sentences and tables of daily data and of times as fine as nanoseconds."""
        day = np.datetime64("2020-01-01")
        found = str(
            nf.coincidence(
                day + np.array([3, 9, 30]),
                day + np.array([2, 9, 40]),
                tolerance="0s",
                span=("2020-01-01", "2020-03-31"),
            )
        )
        assert "tolerance 0\n" in found
        found = nf.coincidence(
            day + np.array([3, 9, 30]),
            day + np.array([2, 9, 40]),
            tolerance=nf.Tolerance(early="3d", late=0),
            span=(day, day + 90),
        )
        assert "alarms are 0 to 3d before an event" in str(found)
        fine = np.datetime64("2020-01-01T00:00:00.000000001") + np.array([3, 400_000, 900_000]) * 10**9
        title = str(nf.coincidence(fine, fine + 7, tolerance="1h")).splitlines()[0]
        assert title == "3 events, 3 alarms; 2020-01-01T00:00:03 to 2020-01-11T10:00:00, 10 days watched; tolerance 1h"


class TestBestF:
    def test_the_familywise_test_says_where_its_best_is(self):
        """By resamples, by rotations and by windows on lists: the first cell of the largest F1."""
        truth, scores = series()
        for null in ("permutation", "circular-shift"):
            curve = nf.sweep(truth, scores, quantiles=[0.5, 0.8, 0.9], tolerances=(0, 2), null=null)
            family = curve.familywise(n_resamples=99, rng=1)
            d, k = np.unravel_index(np.nanargmax(curve.f1), curve.f1.shape)
            assert family.observed_best_at == (d, k)
            assert curve.f1[d, k] == pytest.approx(family.observed_best_f)
            assert (
                f"at threshold {curve.thresholds[k]:.4g} and tolerance {2 * d} steps; chance"
                in curve.table(family).text()
            )
            assert (
                json.loads(json.dumps(curve.to_dict(familywise=family)))["familywise"]["observed_best_at"] == 3 * d + k
            )
        lists = nf.sweep_tolerances([10, 40, 70], [12, 42, 90], tolerances=[1, 2], lags=[0, 2], span=(0, 99), rng=1)
        family = lists.familywise(n_resamples=99)
        assert family.observed_best_at == (int(np.argmax(lists.f1)), 0) == (1, 0)
        assert "at tolerance 1 and lag 2; chance" in lists.table(family).text()

    def test_without_an_f_there_is_no_place(self):
        """No events, no best."""
        family = nf.sweep(np.zeros(20), np.arange(20.0), quantiles=[0.5]).familywise(n_resamples=19, rng=1)
        assert (family.observed_best_at, family.to_dict()["observed_best_at"]) == (None, None)
        assert ", at " not in family.in_words("nowhere")

    def test_the_page_says_it_as_the_sliders_do(self, monkeypatch):
        """For thresholds and for lags."""
        monkeypatch.setattr(positions, "HALVES", (1,))
        told = make_payload(nf.evaluate(TRUTH, SCORES, quantile=0.9, tolerance=1))["family"]
        assert re.search(r"is [\d.]+, at score ≥ [\d.]+ \([\d.]+ quantile\) and tolerance \d+ steps?; chance", told)
        found = nf.coincidence([10, 40, 70], [12, 42, 90], tolerance=1, lag=2, span=(0, 99), rng=1)
        assert re.search(
            r", at (no lag|alarms \d+ \w+ events) and tolerance \d+ time units?;", make_payload(found)["family"]
        )


class TestLaws:
    def test_hits_of_windows_are_those_of_a_double_loop(self):
        """Each placement by itself, with events that share a step and windows that hold none."""
        rng = np.random.default_rng(3)
        events = np.sort(rng.integers(0, 40, (6, 5)), axis=1)
        starts = np.sort(rng.integers(0, 40, (3, 7)), axis=1)
        stops = np.maximum.accumulate(starts + rng.integers(0, 6, (3, 1)), axis=1)
        precision, recall = np.zeros((2, 6, 3), dtype=np.int64)
        hits_of_windows(events, starts, stops, precision, recall)
        for row, window in np.ndindex(6, 3):
            pairs = list(zip(starts[window], stops[window], strict=True))
            assert precision[row, window] == sum(any(a <= e < b for e in events[row]) for a, b in pairs)
            assert recall[row, window] == sum(any(a <= e < b for a, b in pairs) for e in events[row])

    def test_the_data_come_first_among_the_placements(self):
        """Their hits are those of the result itself."""
        found = nf.coincidence([10, 40, 70, 71], [12, 42, 90], tolerance=2, span=(0, 99), null="permutation")
        drawn = placed(found.cell.trial, found.null, 9, 1)
        assert (drawn.precision[0, 0], drawn.recall[0, 0]) == (found.precision_hits, found.recall_hits)
        assert drawn.precision.shape == (10, 1)

    def test_the_bulk_of_an_approximate_law_is_its_table(self):
        """A few tails tell what all of them do, to a thousandth of the highest probability."""
        rng = np.random.default_rng(0)
        starts = np.sort(rng.choice(2_000, 300, replace=False))
        law = PrecisionSaddlepoint(Windows(starts=starts, stops=np.minimum(starts + 5, 2_000), n_steps=2_000), 160)
        first, bulk = law.bulk(3.0)
        assert len(bulk) > 40
        np.testing.assert_allclose(bulk, law.table[first : first + len(bulk)], atol=2e-3 * law.table.max())

    def test_a_law_that_is_not_certified_is_drawn_all_the_same(self, monkeypatch):
        """Unless exactness was asked for: then it is refused."""
        starts = np.arange(0, 200, 5)
        windows = Windows(starts=starts, stops=starts + 7, n_steps=210)
        wanted = PrecisionFourier(windows, 12, insist=False).quantile([0.025, 0.975]).tolist()
        monkeypatch.setattr(fourier, "bulk", lambda *_: (0, np.zeros(1)))
        monkeypatch.setattr(fourier, "pmf", lambda *_, **__: (0, np.zeros(1)))
        monkeypatch.setattr(precision, "PROGRAMME_PATIENCE", 0)
        assert PrecisionFourier(windows, 12, insist=False).quantile([0.025, 0.975]).tolist() == wanted
        with pytest.raises(InputError, match="cannot be computed exactly"):
            PrecisionFourier(windows, 12, insist=True).quantile(0.5)


class TestWords:
    def test_floors_name_their_null(self):
        """The verdict speaks of the null that was used, the diagnosis of the one it recommends."""
        result = nf.evaluate(
            [0, 1, 0, 0, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 0, 0, 1, 0], tolerance=1, null="permutation"
        )
        assert "under the null permutation, the smallest possible p is 0.32 for precision" in result.reason
        few = nf.diagnose([0, 1, 0, 0, 0, 0, 1, 0], predictions=[0, 1, 0, 0, 0, 0, 1, 0], tolerance=1).findings[-1]
        assert re.match(
            r"Neither precision nor recall can reach p = 0\.05 .*: under the null circular-shift, the smallest "
            r"possible p is [\d.]+ for precision and [\d.]+ for recall\.$",
            few.sentence,
        )

    @pytest.mark.slow
    def test_lists_of_times_have_no_steps(self, tmp_path):
        """Findings are told in time, and so is everything else on their page."""
        rng = np.random.default_rng(2)
        day = np.datetime64("2001-01-01")
        events, alarms = (day + np.sort(rng.choice(900, n, replace=False)) for n in (40, 50))
        found = nf.coincidence(events, alarms, tolerance="3d", span=("2001-01-01", "2003-06-19"))
        text = re.sub(
            r"<script.*?</script>",
            "",
            found.report(tmp_path / "page.html").read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        body = re.sub(r"<style.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL)
        assert not re.search(r"\bsteps?\b", body), re.findall(r".{40}\bsteps?\b.{20}", body)
        assert re.search(r"smallest gap between two events, in days: \d", body)
        assert not re.search(r"\b0s\b", re.sub(r"Delay: [^.]*\.", "", body))

    def test_without_jinja2_nothing_is_computed(self, tmp_path, monkeypatch):
        """It is said first, by results of either kind."""
        monkeypatch.setitem(sys.modules, "jinja2", None)
        for name in ("make_payload", "metrics_beside"):
            monkeypatch.setattr(reports, name, lambda *_: pytest.fail("something was computed"))
        truth, scores = series()
        for result in (
            nf.evaluate(truth, scores, quantile=0.9),
            nf.coincidence([1, 5], [2, 9], tolerance=1, span=(0, 20)),
        ):
            with pytest.raises(InputError, match="needs jinja2, which is not installed"):
                result.report(tmp_path / "page.html", metrics=["auc-roc"])


TRUTH, SCORES = series(60, 0.15)
TIMES = np.cumsum(np.random.default_rng(1).exponential(900, 60)).astype(int)
ODD = {
    "no events": lambda: nf.evaluate(TRUTH & False, SCORES, quantile=0.9, tolerance=2),
    "no alarms": lambda: nf.evaluate(TRUTH, SCORES, threshold=9, tolerance=2),
    "neither": lambda: nf.evaluate(TRUTH & False, predictions=SCORES > 9, tolerance=2),
    "all alarms": lambda: nf.evaluate(TRUTH, predictions=SCORES > -1, tolerance=2),
    "all events": lambda: nf.evaluate(TRUTH | True, SCORES, quantile=0.9, tolerance=2),
    "one step": lambda: nf.evaluate([1], [3.0], threshold=2, tolerance=0),
    "constant": lambda: nf.evaluate(TRUTH, SCORES * 0 + 1, quantile=0.9, tolerance=2),
    "missing": lambda: nf.evaluate(
        TRUTH, np.where(SCORES < 0.2, np.nan, SCORES), quantile=0.9, tolerance=2, missing="mask"
    ),
    "two events": lambda: nf.evaluate([5, 40], SCORES, truth_as="positions", threshold=1, tolerance=2),
    "touching ranges": lambda: nf.evaluate(
        [(10, 20), (21, 30), (40, 44)], SCORES, truth_as="ranges", quantile=0.9, tolerance=2
    ),
    "large": lambda: nf.evaluate(TRUTH, SCORES * 1e300, quantile=0.9, tolerance=2, alternative="two-sided"),
    "small": lambda: nf.evaluate(TRUTH, SCORES * 1e-300, quantile=0.9, tolerance=2, alternative="less", ties="mid"),
    "aside": lambda: nf.evaluate(TRUTH, SCORES, quantile=0.9, tolerance=nf.Tolerance(early=5, late=-2)),
    "floats": lambda: nf.evaluate(
        TRUTH, SCORES, times=TIMES / 7e3, quantile=0.9, tolerance=nf.Tolerance(early=0.5, late=0.25, unit="clock")
    ),
    "1900": lambda: nf.evaluate(
        TRUTH, SCORES, times=np.datetime64("1900-01-01") + np.arange(60) * 9, quantile=0.9, tolerance="9d"
    ),
    "2200": lambda: nf.evaluate(
        TRUTH, SCORES, times=np.datetime64("2200-01-01T00:00:00.5") + TIMES * 1000, quantile=0.9, tolerance="30min"
    ),
    "lists without alarms": lambda: nf.coincidence([5, 50], [], tolerance=3, span=(0, 100)),
    "lists without events": lambda: nf.coincidence([], [5, 50], tolerance=3, lag=-4, span=(0, 100)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_inputs_have_pages_without_odd_words(name):
    """Whatever the data, no position of the sliders says NaN, infinity or None where a number or a word should be."""
    payload = make_payload(ODD[name]())
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
    words = [word for word in re.findall(r'"(?:[^"\\]|\\.)*"', text) if " " in word]
    assert words
    for word in words:
        assert not re.search(r"NaN|\bnan\b|Infinity|\binf\b|\bNone\b(?! for)|\bnull\b[^ ,:\"]", word), word


@pytest.mark.browser
def test_the_map_shows_what_occurs(visit, tmp_path):
    """Colours go from 1 to the smallest p, crosses mark the undefined, ticks differ."""
    truth, scores = series(400, 0.05, lift=0.1)
    result = nf.evaluate(truth, scores, threshold=9, tolerance=nf.Tolerance(early=0, late=3), null="permutation")
    page = visit(result.report(tmp_path / "page.html"), 390, 844)
    read = """(id) => {
      const box = document.getElementById(id), { layers: [heat], panels: [{ y }] } = box.chart;
      const texts = (name) => [...box.querySelectorAll(name)].map((text) => text.textContent);
      return { z: heat.values, bar: texts(".chart > text:not(.x)"), crosses: box.querySelector(".cross").getAttribute("d").split("m0").length - 1,
               x: texts(".xticks text"), y: texts(".yticks text"), title: y.title };
    }"""
    maps = {side: page.evaluate(read, f"heat-{side}") for side in ("precision", "recall")}
    shown = [value for one in maps.values() for row in one["z"] for value in row if value is not None]
    assert max(shown) == 1  # one scale for both maps, down to the smallest p on either
    assert maps["precision"]["bar"] == maps["recall"]["bar"]
    undefined = sum(value is None for row in maps["precision"]["z"] for value in row)
    assert undefined == maps["precision"]["crosses"] == len(maps["precision"]["z"])  # the threshold without alarms
    assert maps["recall"]["crosses"] == 0
    for one in maps.values():
        assert one["bar"][0] == "p = 1"
        assert 1e-15 < float(one["bar"][1].replace("−", "-")) < 0.1  # neither nothing to see, nor the end of the scale
        assert all(len(set(one[axis])) == len(one[axis]) for axis in ("x", "y", "bar"))
        assert one["x"][-1] == "1"  # the evaluated one has a tick
        assert (one["y"][0], one["title"]) == ("0", "tolerance, steps, late")
