"""The figures show what was counted: every line, band, mark and label is checked against the numbers it stands for."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import nofluke as nf
from nofluke import plot
from nofluke.errors import InputError
from nofluke.laws.law import How
from nofluke.laws.tables import hypergeometric
from nofluke.text.numbers import p_is, show_p

pytestmark = pytest.mark.usefixtures("headless")


@pytest.fixture(scope="module")
def quakes():
    """A short labelled series and its score."""
    data = nf.datasets.simulate_quakes(rng=3, n_steps=400, n_events=30)
    return data, nf.detectors.energy_transient(data.counts)


@pytest.fixture(scope="module")
def result(quakes):
    """Its evaluation."""
    return nf.evaluate(quakes[0].truth, quakes[1], quantile=0.9, tolerance=2, null="permutation")


def one_axes():
    """Axes of a figure that pyplot does not know."""
    return Figure().subplots()


def legend_texts(ax):
    """The words of a legend."""
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def line(ax, label):
    """The line whose label begins so."""
    (found,) = [artist for artist in ax.get_lines() if artist.get_label().startswith(label)]
    return found


def test_null_shows_every_probability(result):
    """The outline has P(X = k) for every k drawn, and what is left out is negligible."""
    null = result.precision_test.law
    ax = plot.null(null, one_axes(), compare_binomial=False)
    (outline,) = [patch for patch in ax.patches if patch.get_label().startswith("chance")]
    values, edges, _ = outline.get_data()
    hits = (edges[:-1] + 0.5).astype(int)
    np.testing.assert_array_equal(values, null.table[hits])
    assert values.sum() > 1 - 1e-4


def test_null_compares_with_the_binomial_of_the_same_mean(result):
    """The dashed outline is Bin(n, E[X]/n)."""
    null = result.precision_test.law
    ax = plot.null(null, one_axes())
    (outline,) = [patch for patch in ax.patches if patch.get_label() == "binomial"]
    values, edges, _ = outline.get_data()
    share = null.mean / null.size
    from scipy.stats import binom

    np.testing.assert_allclose(values, binom.pmf(edges[:-1] + 0.5, null.size, share), rtol=1e-9, atol=1e-300)
    assert "binomial" not in legend_texts(plot.null(null, one_axes(), compare_binomial=False))


@pytest.mark.parametrize("observed", [0, 20, 38])
@pytest.mark.parametrize("kind", ["pmf", "cdf"])
def test_the_observed_hits_are_marked_and_in_view(result, observed, kind):
    """The mark stands at the observed hits, within the axis, with its p-value in the legend."""
    null = result.precision_test.law
    ax = plot.null(null, one_axes(), observed=observed, kind=kind)
    assert set(line(ax, "observed").get_xdata()) == {observed}
    assert ax.get_xlim()[0] < observed < ax.get_xlim()[1]
    assert f"observed {observed}, p = {show_p(null.upper(observed))}" in legend_texts(ax)
    assert ax.get_xlabel() == "hits"
    assert "probability" in ax.get_ylabel()


def test_cumulative_null_is_the_distribution_function(result):
    """With kind="cdf" the curve is P(X <= k), also where the picture begins late."""
    null = result.recall_test.law
    curve = line(plot.null(null, one_axes(), kind="cdf"), "chance")
    hits = curve.get_xdata().astype(int)
    np.testing.assert_allclose(curve.get_ydata(), null.cdf(hits), atol=1e-12)


def test_cumulative_binomial_counts_what_lies_left_of_the_picture():
    """Chance cannot hit fewer than 16 of 18 here, the binomial can: its curve does not begin at 0."""
    from scipy.stats import binom

    null = hypergeometric(20, 18, 18)
    curve = line(plot.null(null, one_axes(), kind="cdf"), "binomial")
    assert curve.get_xdata()[0] == 16
    np.testing.assert_allclose(curve.get_ydata(), binom.cdf(curve.get_xdata(), 18, null.mean / 18))


def test_a_null_draws_itself(result):
    """null.plot() is plot.null(), into the Axes it is given."""
    ax = one_axes()
    assert result.recall_test.law.plot(ax, observed=3) is ax
    assert set(line(ax, "observed").get_xdata()) == {3}


def test_a_figure_is_made_only_where_none_is_given(result):
    """Axes given are used, and pyplot gains no figure; without them it gains one."""
    plot.null(result.recall_test.law, one_axes())
    assert plt.get_fignums() == []
    ax = plot.null(result.recall_test.law)
    assert plt.get_fignums() == [ax.figure.number]


def test_evaluation_shows_both_measures(result):
    """Precision to the left, recall to the right, each with value, hits and number of trials."""
    left, right = plot.evaluation(result)
    assert left.get_title() == f"precision {result.precision:.3f}, {p_is(result.precision_test.pvalue)}"
    assert right.get_title() == f"recall {result.recall:.3f}, {p_is(result.recall_test.pvalue)}"
    assert left.get_xlabel() == f"predictions that are hits, {result.precision_hits} of {result.n_predictions}"
    assert right.get_xlabel() == f"events found, {result.recall_hits} of {result.n_events}"
    assert (left.get_legend() is None, right.get_legend() is None) == (False, True)  # one for both
    assert set(line(left, "observed").get_xdata()) == {result.precision_hits}
    assert set(line(right, "observed").get_xdata()) == {result.recall_hits}


def test_hits_have_whole_ticks():
    """There are no half hits, however few there are."""
    one = nf.evaluate([0, 1, 0], predictions=[0, 1, 0])
    for ax in plot.evaluation(one):
        assert (ax.get_xticks() % 1 == 0).all()


def test_an_undefined_measure_is_called_undefined():
    """Without predictions precision's panel says so, and nothing breaks."""
    empty = nf.evaluate([0, 1, 0, 0], predictions=[0, 0, 0, 0])
    left, right = plot.evaluation(empty)
    assert left.get_title() == "precision undefined"
    assert right.get_title() == "recall 0, p = 1"


def test_the_wrong_number_of_axes_is_refused(result):
    """One Axes for two panels is an error that says how many are needed."""
    with pytest.raises(InputError, match="ax must be 2 Axes, got 1"):
        plot.evaluation(result, one_axes())


@pytest.fixture(scope="module")
def curve(quakes):
    """A sweep over a few quantiles and two tolerances."""
    return nf.sweep(quakes[0].truth, quakes[1], quantiles=[0, 0.5, 0.8, 0.9], tolerances=(0, 2))


def test_sweep_draws_the_measures_and_the_exact_band(curve):
    """Each panel has the observed curve, chance's mean, and the band between its 2.5% and 97.5% quantiles."""
    axes = plot.sweep(curve, Figure().subplots(2, 2))
    assert axes.shape == (2, 2)
    trials = {"recall": np.full(4, curve.n_events), "precision": curve.n_predictions}
    for d in range(2):
        for ax, side in zip(axes[d], ("precision", "recall"), strict=True):
            cells = getattr(curve.chance, side)
            np.testing.assert_array_equal(line(ax, "observed").get_ydata(), getattr(curve, side)[d])
            np.testing.assert_allclose(line(ax, "chance, mean").get_ydata(), cells.mean[d] / trials[side])
            (band,) = ax.collections
            corners = {tuple(np.round(point, 12)) for point in band.get_paths()[0].vertices}
            for bound in (cells.low, cells.high):
                expected = zip(curve.quantiles, bound[d] / trials[side], strict=True)
                assert {tuple(np.round(point, 12)) for point in expected} <= corners
            assert (ax.get_ylabel(), ax.get_xlabel()) == (side, "threshold (quantile)")
            assert (ax.get_legend() is None) is (ax is not axes[0, 0])  # one for all
    assert legend_texts(axes[0, 0]) == ["chance, 95% (exact)", "chance, mean", "observed"]


@pytest.mark.parametrize(
    ("how", "recall", "precision"),
    [
        ({}, "exact", "exact"),
        ({"method": "montecarlo", "n_resamples": 50, "rng": 1}, "simulated", "simulated"),
        ({"method": "binomial", "null": "permutation"}, "binomial", "binomial"),
        ({"method": "saddlepoint", "null": "permutation"}, "exact", "approximate"),
        ({"null": "circular-shift"}, "exact", "exact"),
        ({"null": "blocks:length=20", "n_resamples": 50, "rng": 1}, "simulated", "simulated"),
        ({"null": "seasonal:period=40", "n_resamples": 50, "rng": 1}, "exact", "simulated"),
        ({"null": "bernoulli"}, "binomial", "binomial"),
    ],
)
def test_bands_and_nulls_are_called_what_they_are(quakes, how, recall, precision):
    """Only what was computed exactly is called exact: in the band of a sweep and in the legend of a null."""
    truth, z = quakes[0].truth, quakes[1]
    axes = plot.sweep(nf.sweep(truth, z, quantiles=[0.8, 0.9], tolerances=2, **how), Figure().subplots(1, 2))
    nulls = plot.evaluation(nf.evaluate(truth, z, quantile=0.9, tolerance=2, **how), Figure().subplots(1, 2))
    both = " and ".join(dict.fromkeys([precision, recall]))
    assert f"chance, 95% ({both})" in legend_texts(axes[0, 0])
    assert legend_texts(nulls[0])[0] == f"chance, {both}"
    assert ("binomial" in legend_texts(nulls[0])) == (both != "binomial")


def test_a_band_of_several_methods_names_them_all(quakes, monkeypatch):
    """Some cells exact, some approximate: both words."""
    from dataclasses import replace

    curve = nf.sweep(quakes[0].truth, quakes[1], quantiles=[0.8, 0.9], tolerances=2)
    methods = (How(kind="exact", name="Fourier"), How(kind="approximate", name="saddlepoint"))
    changed = replace(curve.chance, precision=replace(curve.chance.precision, methods=methods))
    monkeypatch.setitem(curve.__dict__, "chance", changed)
    axes = plot.sweep(curve, Figure().subplots(1, 2))
    assert "chance, 95% (exact and approximate)" in legend_texts(axes[0, 0])


def test_the_p_value_in_the_title_is_that_of_the_test(quakes):
    """Also where the alternative is another one, or ties count by half."""
    how = {"quantile": 0.9, "tolerance": 2, "alternative": "less", "ties": "mid"}
    one = nf.evaluate(quakes[0].truth, quakes[1], **how)
    axes = plot.evaluation(one, Figure().subplots(1, 2))
    for ax, test in zip(axes, (one.precision_test, one.recall_test), strict=True):
        assert ax.get_title().endswith(p_is(test.pvalue))


def test_sweep_without_chance_puts_all_tolerances_together(curve):
    """chance="none" gives one row, with one line for each tolerance, in different colours and styles."""
    axes = plot.sweep(curve, chance="none")
    assert axes.shape == (1, 2)
    lines = axes[0, 0].get_lines()
    assert [drawn.get_label() for drawn in lines] == ["tolerance 0 steps", "tolerance 2 steps"]
    assert len({drawn.get_color() for drawn in lines}) == 2


def test_sweep_over_thresholds_says_so_and_leaves_gaps(quakes):
    """Where nothing is predicted precision is undefined: neither curve nor band is drawn, and nothing warns."""
    curve = nf.sweep(quakes[0].truth, quakes[1], thresholds=[1.0, 99.0])
    axes = plot.sweep(curve)
    assert axes[0, 0].get_xlabel() == "threshold"
    assert np.isnan(line(axes[0, 0], "observed").get_ydata()).tolist() == [False, True]
    axes[0, 1].figure.canvas.draw()


def lanes(ax):
    """How many marks each lane of a timeline has, by its label, and where they are."""
    found = {}
    for drawn in ax.get_lines():
        name, _, count = drawn.get_label().partition(": ")
        if count:
            assert int(count.replace(",", "")) == len(drawn.get_xdata())
            found[name] = [int(x) for x in drawn.get_xdata()]
    return found


@given(st.data())
@pytest.mark.slow
def test_timeline_marks_what_a_look_at_every_pair_finds(data):
    """Events are found if a prediction is within the tolerance, predictions are hits if an event is."""
    n = data.draw(st.integers(2, 25))
    truth = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    scores = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    delta = data.draw(st.integers(0, 4))
    ax = plot.timeline(np.array(truth), np.array(scores, float), threshold=2, tolerance=delta, ax=one_axes())
    events = [t for t in range(n) if truth[t]]
    alarms = [t for t in range(n) if scores[t] >= 2]
    found = [e for e in events if any(abs(e - a) <= delta for a in alarms)]
    hits = [a for a in alarms if any(abs(e - a) <= delta for e in events)]
    assert lanes(ax) == {
        "events found": found,
        "events missed": [e for e in events if e not in found],
        "predictions that are hits": hits,
        "false alarms": [a for a in alarms if a not in hits],
    }


def test_timeline_agrees_with_evaluate(quakes, result):
    """The legend's counts are those of the evaluation; score and threshold are drawn."""
    data, scores = quakes
    ax = plot.timeline(data.truth, scores, quantile=0.9, tolerance=2, ax=one_axes())
    counts = {name: len(at) for name, at in lanes(ax).items()}
    assert counts["events found"] == result.recall_hits
    assert counts["events found"] + counts["events missed"] == result.n_events
    assert counts["predictions that are hits"] == result.precision_hits
    assert counts["false alarms"] == result.false_alarms.count
    np.testing.assert_array_equal(line(ax, "score").get_ydata(), scores)
    assert set(line(ax, "threshold").get_ydata()) == {result.threshold}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "score")
    assert ax.get_ylim()[1] > scores.max()


def test_a_timeline_draws_alarms_between_steps_at_their_own_times():
    """And events, too; those are hits that are counted as hits."""
    hours = np.datetime64("2024-01-01T00:00") + np.arange(48) * np.timedelta64(60, "m")
    events = hours[[10, 30]] + np.timedelta64(17, "m")
    alarms = hours[[11, 20, 21]] + np.timedelta64(31, "m")
    result = nf.evaluate(events, predictions=alarms, times=hours, tolerance="2h")
    drawn = {
        line.get_label().partition(":")[0]: np.asarray(line.get_xdata(), dtype="datetime64[m]").tolist()
        for line in plot.timeline(result, ax=one_axes()).get_lines()
    }
    assert drawn["events found"] == events[:1].tolist()
    assert drawn["events missed"] == events[1:].tolist()
    assert drawn["predictions that are hits"] == alarms[:1].tolist()
    assert drawn["false alarms"] == alarms[1:].tolist()


def test_timeline_keeps_early_and_late_apart():
    """A prediction one step early does not count where only late ones may."""
    truth, alarms = [0, 0, 1, 0, 0], [0, 1, 0, 0, 0]
    late = plot.timeline(truth, predictions=alarms, tolerance=nf.Tolerance(early=0, late=2), ax=one_axes())
    early = plot.timeline(truth, predictions=alarms, tolerance=nf.Tolerance(early=2, late=0), ax=one_axes())
    assert (lanes(late)["events found"], lanes(early)["events found"]) == ([], [2])


def test_timeline_shows_dates_and_what_was_left_out(quakes):
    """With a clock the axis has dates; masked steps hold no marks, and are in the legend."""
    data, scores = quakes
    mask = np.zeros(len(scores), bool)
    mask[100:200] = True
    ax = plot.timeline(data.truth, scores, quantile=0.9, tolerance=2, times=data.days, mask=mask, ax=one_axes())
    assert ax.get_xlabel() == "time"
    assert "left out" in legend_texts(ax)
    drawn = line(ax, "events missed").get_xdata().astype("datetime64[D]")
    assert len(drawn)
    assert not set(drawn) & set(data.days[mask])
    assert np.isnan(line(ax, "score").get_ydata()[100:200]).all()


def test_a_long_score_is_thinned_without_losing_its_extremes():
    """Of 200,000 steps a tenth is drawn at most, with every stretch's smallest and largest score, and every mark."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200_000)
    scores[[77, 123_456]] = [50, -50]
    truth = np.zeros(200_000, bool)
    truth[::1000] = True
    ax = plot.timeline(truth, scores, threshold=4, tolerance=1, ax=one_axes())
    drawn = line(ax, "score")
    assert len(drawn.get_xdata()) <= 20_000
    assert {77, 123_456} <= set(drawn.get_xdata())
    for start in range(0, 200_000, 20):
        stretch = scores[start : start + 20]
        if stretch.max() > 4:
            assert start + int(stretch.argmax()) in drawn.get_xdata()
    assert sum(len(at) for name, at in lanes(ax).items() if name.startswith("events")) == 200


@pytest.mark.parametrize("scale", [1e39, 1e300, 1.7e308, 1e-44, 5e-324])
def test_scores_of_any_size_are_drawn(scale):
    """Up to the largest float and down to the smallest: nothing overflows, nothing warns."""
    scores = np.array([0.0, 1.0, -1.0, 1.0, 0.0, -1.0]) * scale
    ax = plot.timeline([0, 1, 0, 0, 0, 1], scores, threshold=scale, ax=one_axes())
    ax.figure.canvas.draw()
    assert np.isfinite(ax.get_ylim()).all()
    assert line(ax, "score").get_ydata()[1] == min(scale, 1e300)


@pytest.mark.parametrize("level", [0.0, 1e17, -1e300, 5e-324])
@pytest.mark.parametrize("apart", [0, 1])
def test_scores_that_hardly_differ_are_drawn(level, apart):
    """A constant score, or one of two neighbouring floats, has an axis too."""
    scores = np.where([0, 1, 0, 1], np.nextafter(level, np.inf) if apart else level, level)
    ax = plot.timeline([0, 1, 0, 0], scores, threshold=level, ax=one_axes())
    ax.figure.canvas.draw()
    assert ax.get_ylim()[0] < level < ax.get_ylim()[1]


def test_wrong_arguments_are_named(result, curve):
    """An error names the argument, and no figure is left behind."""
    with pytest.raises(InputError, match=r"kind='sf' must be one of 'pmf', 'cdf'\."):
        plot.null(result.recall_test.law, kind="sf")
    for observed in (-1, 10**12, 2.5, "3", True):
        with pytest.raises(InputError, match=r"observed=.* must be a whole number of at least 0 and at most 30\."):
            plot.null(result.recall_test.law, observed=observed)
    with pytest.raises(InputError, match="distribution must be a Law, from the null of a test, got int"):
        plot.null(5)
    with pytest.raises(InputError, match=r"result must be an Evaluation, from nofluke\.evaluate, got Sweep"):
        plot.evaluation(curve)
    with pytest.raises(InputError, match=r"curve must be a Sweep, from nofluke\.sweep, got Evaluation"):
        plot.sweep(result)
    with pytest.raises(InputError, match="chance='some' must be"):
        plot.sweep(curve, chance="some")
    with pytest.raises(InputError, match="pass either threshold or quantile"):
        plot.timeline([0, 1], [1.0, 2.0])
    assert plt.get_fignums() == []


def test_without_matplotlib_the_error_is_the_command_to_run(result, monkeypatch):
    """The message ends with what to type."""
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'nofluke\[plot\]'"):
        plot.null(result.recall_test.law)


def test_importing_the_module_does_not_import_matplotlib():
    """Whoever draws nothing waits for nothing."""
    code = "import sys, nofluke.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Machado, Oliveira and Fernandes (2009), severity 1: what linear RGB looks like without one kind of cone
BLIND = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "none": np.eye(3),
}


def seen(colour, blindness):
    """A colour as CIE Lab, seen with a colour blindness."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(BLIND[blindness]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("blindness", BLIND)
def test_colours_can_be_told_apart(blindness):
    """Curves of a sweep, and observed, chance and simulated, differ clearly (ΔE > 15) for colour-blind readers."""
    together = (
        [colour for colour, _ in plot.SERIES[:4]],
        [plot.PALETTE[k] for k in ("observed", "chance", "simulated")],
    )
    for group in together:
        for i, one in enumerate(group):
            for other in group[:i]:
                assert np.linalg.norm(seen(one, blindness) - seen(other, blindness)) > 15, (one, other)
