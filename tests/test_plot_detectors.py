"""Maps, trade-offs, shifts, comparisons and timelines of results: they draw what the library counts, beside chance."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import nofluke as nf
from comparing import compare_units
from nofluke import plot
from nofluke.errors import InputError

DAY = np.datetime64("2021-03-01")


pytestmark = pytest.mark.usefixtures("headless")


@pytest.fixture(scope="module")
def quakes():
    """A short labelled series and the scores of three detectors."""
    data = nf.datasets.simulate_quakes(rng=3, n_steps=400, n_events=30)
    score = nf.detectors.energy_transient(data.counts)
    noise = np.random.default_rng(1).gamma(1, 1, len(score))
    return data.truth, {"energy": score, "noisy": score + noise, "noise": noise}


@pytest.fixture(scope="module")
def curves(quakes):
    """Their sweeps."""
    truth, scores = quakes
    how = {"quantiles": [0.5, 0.8, 0.9], "tolerances": (0, 1, 2), "null": "permutation"}
    return {name: nf.sweep(truth, z, **how) for name, z in scores.items()}


@pytest.fixture(scope="module")
def results(quakes):
    """Their evaluations."""
    truth, scores = quakes
    return {name: nf.evaluate(truth, z, quantile=0.9, tolerance=2, null="permutation") for name, z in scores.items()}


@pytest.fixture(scope="module")
def swept():
    """Two lists of dates, alarms two days late, at some tolerances and lags."""
    events = DAY + np.sort(np.random.default_rng(1).choice(500, 30, replace=False))
    how = {"span": (DAY, DAY + 520), "null": "permutation"}
    return nf.sweep_tolerances(events, events + 2, tolerances=["0d", "1d"], lags=["-2d", "0d", "2d"], **how)


def panels(*shape):
    """Axes of a figure that pyplot does not know."""
    return Figure(figsize=(9, 6)).subplots(*shape)


def legend_texts(ax):
    """The words of a legend."""
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def lines(ax):
    """The lines of a panel, by label."""
    return {line.get_label(): line for line in ax.get_lines()}


def outlined(ax, label, shape):
    """Which cells a line goes around: those from which an odd number of borders lies to the left."""
    (around,) = [c for c in ax.collections if c.get_label().startswith(label)]
    upright = {(round(a[0] + 0.5), round((a[1] + b[1]) / 2)) for a, b in around.get_segments() if a[0] == b[0]}
    return np.array(
        [[sum((j, d) in upright for j in range(k + 1)) % 2 for k in range(shape[1])] for d in range(shape[0])]
    )


@pytest.mark.parametrize("show", ["p", "value"])
def test_a_heatmap_has_every_cell_and_outlines_what_remains(curves, show):
    """Colours are -log10 p or the measures; a solid line encloses Holm's cells, a dashed one those above chance."""
    curve = curves["energy"]
    for ax, side in zip(plot.heatmap(curve, panels(1, 2), show=show), ("precision", "recall"), strict=True):
        cells, measure = getattr(curve.chance, side), getattr(curve, side)
        drawn = ax.collections[0].get_array().reshape(curve.shape)
        np.testing.assert_allclose(drawn, -np.log10(cells.pvalue) if show == "p" else measure, atol=1e-12)
        of = curve.n_predictions if side == "precision" else curve.n_events
        assert outlined(ax, "p ≤ 0.05", curve.shape).tolist() == (cells.holm <= 0.05).astype(int).tolist()
        assert outlined(ax, "above 95%", curve.shape).tolist() == (measure > cells.high / of).astype(int).tolist()
        assert ax.get_title() == side
        assert [t.get_text() for t in ax.get_xticklabels()] == ["0.5", "0.8", "0.9"]
        # panels side by side share the names of their rows
        assert [t.get_text() for t in ax.get_yticklabels()] == (["0", "1", "2"] if side == "precision" else [""] * 3)


def test_a_heatmap_can_go_by_the_familywise_test(curves):
    """The outline is then of its adjusted p-values, and the legend says so."""
    curve = curves["energy"]
    test = curve.familywise(n_resamples=99, rng=1)
    axes = plot.heatmap(curve, panels(1, 2), familywise=test, alpha=0.02)
    assert outlined(axes[1], "p ≤ 0.02", curve.shape).tolist() == (test.precision_adjusted <= 0.02).astype(int).tolist()
    assert legend_texts(axes[0])[0] == "p ≤ 0.02, corrected (familywise)"


def test_a_heatmap_of_windows_has_lags_across(swept):
    """Rows are tolerances, columns lags, each cell its own window's."""
    left, right = plot.heatmap(swept, panels(1, 2), show="value")
    np.testing.assert_allclose(left.collections[0].get_array().reshape(2, 3), swept.recall.reshape(2, 3))
    assert [t.get_text() for t in right.get_xticklabels()] == ["-2d", "0d", "2d"]
    assert (left.get_xlabel(), left.get_ylabel()) == ("lag", "tolerance")


def test_thresholds_near_one_are_not_rounded_to_it(quakes):
    """Ticks of .999 and .9999 are told apart, and from 1."""
    curve = nf.sweep(quakes[0], quakes[1]["energy"], quantiles=[0.9, 0.999, 0.9999, 1], null="permutation")
    ax = plot.heatmap(curve, panels(1, 2), show="value")[0]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0.9", "0.999", "0.9999", "1"]


def test_precision_against_recall_has_every_threshold_and_chance(curves):
    """A line for each tolerance of one detector; chance's means are the exact ones."""
    curve = curves["energy"]
    ax = plot.precision_recall(curve, panels())
    for d, tolerance in enumerate(curve.tolerances):
        drawn = lines(ax)[f"tolerance {tolerance}"]
        np.testing.assert_array_equal(drawn.get_xdata(), curve.recall[d])
        np.testing.assert_array_equal(drawn.get_ydata(), curve.precision[d])
    means = [line for line in ax.get_lines() if line.get_label() == "_chance"]
    np.testing.assert_allclose(means[2].get_xdata(), curve.chance.recall.mean[2] / curve.n_events)
    np.testing.assert_allclose(means[2].get_ydata(), curve.chance.precision.mean[2] / curve.n_predictions)
    assert legend_texts(ax)[-1] == "chance, mean"
    alone = plot.precision_recall(curve, panels(), tolerance=1)
    np.testing.assert_array_equal(lines(alone)["observed"].get_ydata(), curve.precision[1])
    assert "chance, 95% (exact)" in legend_texts(alone)
    assert "_chance" not in lines(plot.precision_recall(curve, panels(), chance="none"))


def test_several_detectors_are_told_apart_however_many(curves):
    """By name; of twelve, no two have both colour and marker in common."""
    many = {"_hidden": curves["energy"]} | {f"detector {i}": curves["energy"] for i in range(11)}
    ax = plot.precision_recall(many, panels(), tolerance=2)
    drawn = [lines(ax)[" " * name.startswith("_") + name] for name in many]
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 12
    assert [text.strip() for text in legend_texts(ax)] == [*many, "chance, mean"]


def test_many_tolerances_have_colours_in_their_order(quakes):
    """Each its own, from dark to light, and a bar that names them."""
    curve = nf.sweep(quakes[0], quakes[1]["energy"], quantiles=[0.5, 0.9], tolerances=range(12))
    axes = plot.sweep(curve, panels(1, 2), chance="none")
    colours = np.array([line.get_color()[:3] for line in axes[0, 0].get_lines()])
    assert len(np.unique(colours, axis=0)) == 12
    assert (np.diff(colours @ [0.2126, 0.7152, 0.0722]) > 0).all()
    bar = axes[0, 0].figure.axes[-1]
    assert bar.get_xticklabels()[0].get_text() == "0 steps"


def test_measures_by_tolerance_stand_beside_chance(curves):
    """At the threshold asked for, over the length of the tolerance."""
    curve = curves["energy"]
    for ax, side in zip(plot.tolerance(curve, panels(2), quantile=0.8), ("precision", "recall"), strict=True):
        np.testing.assert_array_equal(lines(ax)["observed"].get_ydata(), getattr(curve, side)[:, 1])
        assert lines(ax)["observed"].get_xdata().tolist() == [0, 1, 2]
        of = curve.n_predictions[1] if side == "precision" else curve.n_events
        np.testing.assert_allclose(lines(ax)["chance, mean"].get_ydata(), getattr(curve.chance, side).mean[:, 1] / of)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("tolerance, steps", side)
    left, _ = plot.tolerance(curves, panels(2), threshold=None, quantile=0.9)
    assert legend_texts(left) == ["energy", "noisy", "noise", "chance, mean"]
    np.testing.assert_array_equal(lines(left)["noise"].get_ydata(), curves["noise"].precision[:, 2])


def test_tolerances_of_two_sides_are_named(quakes):
    """Where early and late differ there is no single length."""
    windows = [nf.Tolerance(early=0, late=1), nf.Tolerance(early=0, late=3)]
    curve = nf.sweep(quakes[0], quakes[1]["energy"], quantiles=[0.9], tolerances=windows)
    left, _ = plot.tolerance(curve, panels(2))
    assert [t.get_text().replace("\n", " ") for t in left.get_xticklabels()] == list(map(str, windows))


def test_hits_by_shift_are_those_of_shifted_events(quakes, results):
    """Counted again with the labels rolled around; chance is the result's own."""
    truth, scores = quakes
    result = results["energy"]
    left, right = plot.lag(result, panels(2))
    for shift in (-7, 0, 3):
        rolled = nf.evaluate(np.roll(truth, shift), scores["energy"], quantile=0.9, tolerance=2, null="permutation")
        for ax, side in ((left, "precision"), (right, "recall")):
            line = lines(ax)["observed"]
            assert line.get_ydata()[line.get_xdata() == shift] == pytest.approx(getattr(rolled, side))
    mean = lines(left)["chance, mean"].get_ydata()
    np.testing.assert_allclose(mean, result.precision_test.expected / result.n_predictions)
    assert "chance, 95% (exact)" in legend_texts(left)
    assert left.get_xlabel() == "shift of the events, steps"
    several, _ = plot.lag(results, panels(2))
    assert legend_texts(several) == [*results, "chance, mean"]


def test_late_alarms_peak_at_a_positive_shift(swept):
    """In time, in a unit that people use."""
    occurrences = swept.occurrences
    events = occurrences.ticks.times(occurrences.events)
    result = nf.coincidence(events, events + np.timedelta64(2, "D"), tolerance="12h", span=(DAY, DAY + 520), tick="1h")
    left, _ = plot.lag(result, panels(2))
    drawn = lines(left)["observed"]
    assert drawn.get_xdata()[drawn.get_ydata().argmax()] == pytest.approx(2, abs=0.5)
    assert left.get_xlabel() == "shift of the events, days"
    assert drawn.get_ydata().max() == 1


def test_a_comparison_shows_values_chance_and_differences(quakes):
    """Values and intervals of each detector, chance as evaluate has it, the best less the others, p corrected."""
    truth, scores = quakes
    found = nf.compare(truth, scores, quantile=0.9, tolerance=2, n_resamples=199)
    left, right = found.plot(panels(2), measure="recall")
    values, luck = left.containers
    assert values.lines[0].get_xdata().tolist() == found.values[:, 1].tolist()
    ends = [segment[:, 0].tolist() for segment in values.lines[2][0].get_segments()]
    np.testing.assert_allclose(ends, [[one.recall.low, one.recall.high] for one in found.intervals])
    for mean, std, name in zip(
        luck.lines[0].get_xdata(), np.array(found.chance("recall"))[:, 1], found.detectors, strict=True
    ):
        test = nf.evaluate(truth, scores[name], quantile=0.9, tolerance=2).recall_test
        assert mean == pytest.approx(test.expected / test.of)
        assert std == pytest.approx(test.std / test.of)
    others = [name for name in found.detectors if name != found.best]
    differences = [found.difference(found.best, name, "recall") for name in others]
    assert right.containers[0].lines[0].get_xdata().tolist() == [one.value for one in differences]
    from nofluke.text.numbers import p_is

    assert [text.get_text() for text in right.texts] == [p_is(one.corrected) for one in differences]
    assert [t.get_text() for t in right.get_yticklabels()] == others
    assert "chance, mean ± 2 std" in legend_texts(left)


def test_chance_of_f1_is_that_of_its_test(quakes):
    """Mean and deviation of F1 under the null that the data allow."""
    truth, scores = quakes
    found = nf.compare(truth, scores, quantile=0.9, tolerance=2, n_resamples=199)
    test = nf.evaluate(truth, scores["noise"], quantile=0.9, tolerance=2).f_test(rng=0)
    mean, std = found.chance()[found.detectors.index("noise")]
    assert mean == pytest.approx(test.expected, rel=0.05)
    assert std == pytest.approx(test.std, rel=0.1)


def test_a_comparison_of_what_is_undefined_is_drawn():
    """A detector without alarms has no dot and no p-value; series of a study have no chance."""
    truth = np.arange(400) % 20 == 7
    found = nf.compare(truth, predictions={"all": truth, "none": np.zeros(400, bool)}, n_resamples=99)
    left, right = plot.compare(found, panels(2), measure="precision")
    left.figure.canvas.draw()
    assert [text.get_text() for text in right.texts] == ["not tested"]
    units = {"a": np.array([[4, 3, 2, 2]] * 12), "b": np.array([[4, 1, 2, 1]] * 12)}
    left, _ = plot.compare(compare_units(units), panels(2))
    assert legend_texts(left) == ["F1 or its difference, 95% interval"]


def test_a_timeline_of_a_result_is_that_of_its_arguments(quakes, results):
    """The same marks, and chance beside the counts."""
    truth, scores = quakes
    ax = plot.timeline(results["energy"], ax=panels())
    other = plot.timeline(truth, scores["energy"], quantile=0.9, tolerance=2, ax=panels())
    for line, twin in zip(ax.get_lines(), other.get_lines(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), twin.get_xdata())
        np.testing.assert_array_equal(line.get_ydata(), twin.get_ydata())
    result = results["energy"]
    (told,) = [text for text in legend_texts(ax) if text.startswith("events found")]
    assert told.startswith(f"events found: {result.recall_hits} (chance {result.recall_test.expected:.1f} ± ")
    same = result.plot_times(panels())
    assert legend_texts(same) == legend_texts(ax)


def test_detectors_have_a_row_each_on_one_timeline(results):
    """Hits, false alarms, found and missed events of each stand in its row; recall and chance beside its name."""
    ax = plot.timeline(results, ax=panels())
    drawn = {label: np.array([line.get_xdata(), np.round(line.get_ydata())]) for label, line in lines(ax).items()}
    for row, result in zip((2, 1, 0), results.values(), strict=True):
        counts = {label: int((marks[1] == row).sum()) for label, marks in drawn.items()}
        assert counts["events found"] == result.recall_hits
        assert counts["events missed"] == result.n_events - result.recall_hits
        assert counts["alarms that are hits"] == result.precision_hits
        assert counts["false alarms"] == result.false_alarms.count
    first = ax.get_yticklabels()[0].get_text()
    share = results["energy"].recall_test.expected / results["energy"].n_events
    assert first == f"energy\nrecall {results['energy'].recall:.3f}\nchance {share:.3f}"


def test_lists_of_times_have_rows_too(swept):
    """Coincidences by name, on an axis of dates."""
    events = DAY + np.array([3, 50, 90])
    found = {
        name: nf.coincidence(events, events + late, tolerance="1d", span=(DAY, DAY + 99))
        for name, late in (("a", 1), ("b", 5))
    }
    ax = plot.timeline(found, ax=panels())
    assert lines(ax)["events found"].get_ydata().round().tolist() == [1, 1, 1]
    assert lines(ax)["events missed"].get_ydata().round().tolist() == [0, 0, 0]
    assert ax.get_xlabel() == "time"
    assert legend_texts(plot.timeline(found["a"], ax=panels()))[0] == "events found: 3"


def test_wrong_arguments_are_named(curves, results, swept):
    """An error names the argument, the value and the remedy, and no figure is left behind."""
    curve = curves["energy"]
    with pytest.raises(InputError, match=r"curves must be a Sweep, from nofluke\.sweep, got Evaluation"):
        plot.precision_recall(results["energy"])
    with pytest.raises(InputError, match=r"curves\['a'\] must be a Sweep, from nofluke\.sweep, got int"):
        plot.precision_recall({"a": 3})
    with pytest.raises(InputError, match="curves is an empty dict: pass at least one Sweep"):
        plot.tolerance({})
    with pytest.raises(InputError, match="tolerance=7 must be one of those of the sweep: 0 steps, 1 step, 2 steps"):
        plot.precision_recall(curve, tolerance=7)
    with pytest.raises(InputError, match="tolerance=None must be one of those of the sweep of 'energy'"):
        plot.precision_recall(curves)
    with pytest.raises(InputError, match=r"quantile=0\.7 must be one of those of the sweep: 0\.5, 0\.8, 0\.9"):
        plot.tolerance(curve, quantile=0.7)
    with pytest.raises(InputError, match="threshold=None must be one of those of the sweep"):
        plot.tolerance(curve)
    with pytest.raises(InputError, match="pass either threshold or quantile, not both"):
        plot.tolerance(curve, quantile=0.9, threshold=1.0)
    with pytest.raises(InputError, match=r"curves has several lags: draw them with nf\.plot\.lags"):
        plot.tolerance(swept)
    with pytest.raises(InputError, match="show='q' must be one of 'p', 'value'"):
        plot.heatmap(curve, show="q")
    with pytest.raises(InputError, match="measure='f2' must be one of"):
        plot.compare(nf.compare([0, 1] * 20, predictions={"a": [0, 1] * 20, "b": [1, 0] * 20}), measure="f2")
    with pytest.raises(InputError, match="truth is a result, which has its quantile already"):
        plot.timeline(results["energy"], quantile=0.9)
    with pytest.raises(InputError, match="truth has results on different axes"):
        plot.timeline({"a": results["energy"], "b": nf.coincidence([DAY], [DAY], tolerance="1d", span=(DAY, DAY + 9))})
    assert plt.get_fignums() == []
