"""Chance in every cell of a sweep, and the familywise test."""

import itertools
from functools import partial

import numpy as np
import pytest

import nofluke as nf

evaluate = partial(nf.evaluate, null="permutation")
sweep = partial(nf.sweep, null="permutation")


def data(seed=0):
    quakes = nf.datasets.simulate_quakes(rng=seed)
    return quakes.truth, nf.detectors.energy_transient(quakes.counts)


class TestCells:
    def test_every_cell_is_what_evaluate_gives(self):
        """Mean, deviation, band and p-value of each cell equal those of a single evaluation."""
        truth, z = data()
        curve = sweep(truth, z, quantiles=[0, 0.5, 0.9, 0.98], tolerances=(0, 2))
        for (d, delta), (k, q) in itertools.product(enumerate((0, 2)), enumerate(curve.quantiles)):
            one = evaluate(truth, z, quantile=q, tolerance=delta)
            for side, test in (("precision", one.precision_test), ("recall", one.recall_test)):
                cell = getattr(curve.chance, side)
                assert cell.mean[d, k] == pytest.approx(test.expected, rel=1e-12)
                assert cell.std[d, k] == pytest.approx(test.std, rel=1e-9)
                assert cell.pvalue[d, k] == pytest.approx(test.pvalue, rel=1e-8)
                assert (cell.low[d, k], cell.high[d, k]) == tuple(test.law.quantile([0.025, 0.975]))

    def test_monte_carlo_cells_agree_with_exact_ones(self):
        """All p-values of a simulated sweep lie within 4.5 standard errors of the exact ones."""
        truth, z = data()
        noise = np.random.default_rng(1).permutation(z)
        settings = {"quantiles": np.arange(0, 1, 0.1), "tolerances": (0, 1, 2, 4)}
        exact = sweep(truth, noise, **settings).chance
        drawn = sweep(truth, noise, **settings, method="montecarlo", n_resamples=10_000, rng=2).chance
        assert drawn.seed == 2
        for side in ("precision", "recall"):
            p, q = getattr(exact, side).pvalue, getattr(drawn, side).pvalue
            error = np.sqrt(p * (1 - p) / 10_000) + 1e-4
            assert (np.abs(p - q) < 4.5 * error).all()
            np.testing.assert_allclose(getattr(exact, side).mean, getattr(drawn, side).mean)
            for edge in ("low", "high"):
                assert np.abs(getattr(getattr(exact, side), edge) - getattr(getattr(drawn, side), edge)).max() <= 3

    def test_thresholds_that_predict_the_same_steps_share_their_chance(self):
        """Two thresholds between the same scores give equal cells."""
        truth, z = data()
        below, above = np.unique(z)[1200:1202]
        between = below + (above - below) * np.array([0.4, 0.6])
        cells = sweep(truth, z, thresholds=[*between, np.quantile(z, 0.95)], tolerances=2).chance.precision
        assert cells.pvalue[0, 0] == cells.pvalue[0, 1] != cells.pvalue[0, 2]

    def test_frame_has_the_chance_columns(self):
        """Small sweeps show chance in their frame; large ones do not compute it unasked."""
        truth, z = data()
        few = sweep(truth, z, quantiles=[0.9], tolerances=2)
        frame = few.to_frame("pandas")
        assert frame["precision_pvalue"][0] == few.chance.precision.pvalue[0, 0]
        assert frame["recall_holm"][0] == few.chance.recall.holm[0, 0]
        many = sweep(truth, z, tolerances=(0, 2))
        assert many.precision_hits.size > 2_000
        assert "precision_pvalue" not in many.columns()
        assert "Chance was not computed" in str(many)

    def test_corrections_are_over_all_cells_of_one_measure(self):
        """Holm and Benjamini-Hochberg count the cells of all tolerances and thresholds, but not the other measure's."""
        truth, z = data()
        curve = sweep(truth, np.random.default_rng(2).permutation(z), quantiles=[0.5, 0.8, 0.9], tolerances=(0, 2))
        for side in ("precision", "recall"):
            cells = getattr(curve.chance, side)
            order = np.argsort(cells.pvalue, axis=None)
            p = cells.pvalue.ravel()[order]
            ranks = np.arange(1, 7)
            by_hand = np.minimum(np.maximum.accumulate(p * (7 - ranks)), 1)
            np.testing.assert_allclose(cells.holm.ravel()[order], by_hand)
            by_hand = np.minimum(np.minimum.accumulate((p * 6 / ranks)[::-1])[::-1], 1)
            np.testing.assert_allclose(cells.benjamini_hochberg.ravel()[order], by_hand)


class TestFamilywise:
    def test_against_all_placements(self):
        """On a tiny sequence the familywise p-values converge to those of all placements."""
        truth = np.array([0, 1, 0, 0, 0, 1, 0, 0, 0])
        z = np.array([0.1, 0.9, 0.2, 0.3, 0.1, 0.4, 0.8, 0.2, 0.0])
        settings = {"thresholds": [0.2, 0.4, 0.8], "tolerances": (0, 1)}
        curve = sweep(truth, z, **settings)
        chance = curve.chance

        def statistics(sweep):
            with np.errstate(divide="ignore", invalid="ignore"):
                scores = [
                    np.where(side.std > 0, (hits - side.mean) / side.std, -np.inf).max()
                    for side, hits in ((chance.precision, sweep.precision_hits), (chance.recall, sweep.recall_hits))
                ]
            return np.array([*scores, max(scores), np.nanmax(sweep.f1)])

        observed = statistics(curve)
        every = []
        for chosen in itertools.combinations(range(9), 2):
            labels = np.zeros(9, dtype=int)
            labels[list(chosen)] = 1
            every.append(statistics(sweep(labels, z, **settings)))
        exact = (np.array(every) >= observed - 1e-9).mean(axis=0)
        n = 20_000
        family = curve.familywise(n_resamples=n, rng=1)
        drawn = np.array([family.precision, family.recall, family.both, family.best_f])
        assert (np.abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / n) + 2 / n).all()
        assert family.observed_best_f == pytest.approx(observed[3])

    @pytest.mark.parametrize("null", ["permutation", "circular-shift", "blocks:length=30"])
    def test_adjusted_values_are_never_below_single_ones(self, null):
        """Correcting for all cells can only raise a p-value, however few resamples; the best is the familywise one."""
        truth, z = data()
        noise = np.random.default_rng(3).permutation(z)
        for seed, tolerances in itertools.product(range(8), (2, (0, 2))):
            curve = sweep(truth, noise, quantiles=[0.8], tolerances=tolerances, null=null, n_resamples=60, rng=99)
            family = curve.familywise(n_resamples=30, rng=seed)
            sides = ("precision", "recall")
            for side in sides:
                adjusted = getattr(family, f"{side}_adjusted")
                assert (adjusted >= getattr(curve.chance, side).pvalue).all()
                assert adjusted.min() == getattr(family, side)
            assert family.both >= min(getattr(curve.chance, side).pvalue.min() for side in sides)

    def test_the_band_goes_with_the_bounded_values(self):
        """A cell whose own p-value is above alpha is not above the band, whatever few resamples say."""
        truth, z = data()
        noise = np.random.default_rng(3).permutation(z)
        curve = sweep(truth, noise, quantiles=[0.8], tolerances=2)
        for seed in range(20):
            alpha = float(curve.chance.recall.pvalue[0, 0]) * 0.99
            family = curve.familywise(n_resamples=60, rng=seed, alpha=alpha)
            assert (family.recall_adjusted > alpha).all()
            assert (curve.recall_hits <= family.recall_band).all()

    def test_the_sweep_s_own_resamples_and_seed_are_the_default(self):
        """What was said once need not be said again, and can be said otherwise."""
        truth, z = data()
        curve = sweep(truth, z, quantiles=[0.8, 0.9], tolerances=2, n_resamples=123, rng=7)
        own = curve.familywise()
        assert (own.n_resamples, own.seed) == (123, 7)
        other = curve.familywise(n_resamples=50, rng=8)
        assert (other.n_resamples, other.seed) == (50, 8)

    @pytest.mark.parametrize(
        ("null", "n"), [("permutation", 100), ("circular-shift", 40), ("circular-shift:every=4", 10)]
    )
    def test_the_smallest_p_is_attained(self, null, n):
        """A perfect detector gets 1/(n + 1) from n resamples, and 1/n from n rotations, which include the data."""
        truth = np.zeros(40, dtype=bool)
        truth[[3, 7, 8, 20, 27, 33]] = True
        family = sweep(truth, truth.astype(float), thresholds=[1.0], null=null).familywise(n_resamples=99, rng=1)
        assert family.smallest == 1 / n
        assert family.best_f == family.smallest

    @pytest.mark.slow
    def test_band_separates_the_significant_cells(self):
        """A cell lies above the simultaneous band exactly if its adjusted p-value is at most alpha."""
        truth, z = data()
        curve = sweep(truth, z, quantiles=[0.3, 0.6, 0.9, 0.95], tolerances=(0, 2, 40))
        family = curve.familywise(n_resamples=999, rng=1, alpha=0.05)
        for hits, band, adjusted in (
            (curve.precision_hits, family.precision_band, family.precision_adjusted),
            (curve.recall_hits, family.recall_band, family.recall_adjusted),
        ):
            inside = adjusted > 0.05
            assert (hits[inside] <= band[inside] + 1e-6).all()
            assert (hits[~inside] > band[~inside]).all()

    def test_same_for_any_number_of_workers(self, monkeypatch):
        """The answer depends on the seed, not on the machine."""
        truth, z = data()
        curve = sweep(truth, z, quantiles=[0.8, 0.9], tolerances=2)
        results = []
        for workers in (1, 3):
            monkeypatch.setattr("os.cpu_count", lambda workers=workers: workers)
            results.append(curve.familywise(n_resamples=700, rng=5).precision_adjusted)
        np.testing.assert_array_equal(*results)

    def test_many_cells_are_standardised_by_resamples(self, monkeypatch):
        """Where exact moments cost too much, the maximum test standardises by separate resamples, and agrees."""
        truth, z = data()
        noise = np.random.default_rng(3).permutation(z)
        curve = sweep(truth, noise, quantiles=np.arange(0.5, 1, 0.1), tolerances=(0, 2))
        exact = curve.familywise(n_resamples=4_000, rng=1)
        monkeypatch.setattr("nofluke.inference.sweep.EXACT_CELL_STEPS", 0)
        drawn = curve.familywise(n_resamples=4_000, rng=1)
        assert drawn.best_f == exact.best_f
        assert drawn.precision == pytest.approx(exact.precision, abs=0.05)
        np.testing.assert_allclose(drawn.recall_adjusted, exact.recall_adjusted, atol=0.06)

    def test_without_events_there_is_no_best_f(self):
        """F is undefined everywhere: its best is NaN, and None in JSON."""
        curve = sweep(np.zeros(50, dtype=int), np.arange(50.0), quantiles=[0.5, 0.9], tolerances=1)
        family = curve.familywise(n_resamples=50, rng=1)
        assert np.isnan(family.observed_best_f)
        assert family.to_dict()["observed_best_f"] is None
        assert family.best_f == 1.0


def test_a_threshold_without_alarms_does_not_choose_the_null():
    """The choice needs alarms to look at, however far their number is from a tenth of the steps."""
    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    one, both = (nf.sweep(quakes.truth, scores, thresholds=cuts, tolerances=1) for cuts in ([1.0], [1.0, 5.0]))
    assert both.trial.n_alarm_steps[1] == 0
    assert both.settings.choice == one.settings.choice
    assert both.chance.recall.pvalue[0, 0] == one.chance.recall.pvalue[0, 0]


def day_and_ranges():
    """Ten days of hours with a range every morning, and scores that know the time of day and nothing else."""
    rng = np.random.default_rng(1)
    hours = np.datetime64("2026-01-01T00", "h") + np.arange(240)
    starts = [24 * day + int(rng.integers(4, 8)) for day in range(10)]
    ranges = [(hours[start], hours[start + 2]) for start in starts]
    return ranges, np.sin(2 * np.pi * np.arange(240) / 24) + 0.3 * rng.normal(size=240), hours


def test_where_no_null_holds_no_corrected_p_is_given():
    """A season and ranges on ten days: the veto of the verdict also serves the best of a sweep, and is said."""
    ranges, scores, hours = day_and_ranges()
    assert nf.evaluate(ranges, scores, times=hours, quantile=0.9).verdict == "cannot tell"
    curve = nf.sweep(ranges, scores, times=hours, quantiles=[0.8, 0.9], tolerances=[0, 1])
    family = curve.familywise(n_resamples=99, rng=1)
    assert np.isnan([family.precision, family.recall, family.both, family.best_f]).all()
    assert np.isnan(family.precision_adjusted).all()
    assert family.observed_best_f == np.nanmax(curve.f1)
    assert "these data cannot separate that from skill, since" in family.obstacle
    for told in (str(family), str(curve), curve.to_markdown(familywise=family), " ".join(curve.notes)):
        assert "these data cannot separate that from skill, since" in told
    assert "call familywise()" not in str(curve)
    assert family.to_dict()["best_f"] is None
    assert curve.to_dict(familywise=family)["cells"]["precision_holm"] == [None] * 4
    assert np.isnan(curve.corrected("recall")).all()
    with pytest.raises(nf.InputError, match="beta=0"):
        curve.familywise(beta=0)


def test_a_null_that_was_asked_for_is_corrected_with_its_doubts():
    """Whoever insists on a null gets its p-values."""
    ranges, scores, hours = day_and_ranges()
    curve = nf.sweep(ranges, scores, times=hours, quantiles=[0.8, 0.9], null="circular-shift")
    family = curve.familywise(n_resamples=99, rng=1)
    assert family.obstacle == ""
    assert 0 < family.best_f <= 1
    assert any("season" in note for note in curve.notes)


def test_a_map_of_a_sweep_outlines_nothing_where_no_null_holds():
    """No cell is called significant after correction, though single p-values are small."""
    figure = pytest.importorskip("matplotlib.figure")
    ranges, scores, hours = day_and_ranges()

    def outlined(null):
        curve = nf.sweep(ranges, scores, times=hours, quantiles=[0.8, 0.9], tolerances=[0, 1], null=null)
        assert (curve.chance.precision.holm <= 0.2).any()
        drawn = nf.plot.heatmap(curve, figure.Figure().subplots(1, 2), alpha=0.2)
        lines = (one for axes in drawn for one in axes.collections if "corrected" in str(one.get_label()))
        return sum(len(one.get_segments()) for one in lines)

    assert outlined("circular-shift") > 0
    assert outlined("auto") == 0
