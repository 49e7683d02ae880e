"""Molchan's diagram: chance is the diagonal under every null, areas and bands are those of a slow transcription."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import nofluke as nf
from nofluke.inference.molchan import recall_on_placements, whole_band

HERE = Path(__file__).parent
PYCSEP = json.loads((HERE / "field_values.json").read_text(encoding="utf-8"))["pycsep"]["values"]
SMALL = json.loads((HERE / "peer_values.json").read_text(encoding="utf-8"))["series"]


def found_shares(events, scores, thresholds, tolerance):
    """For each threshold, the share of events with a score that reaches it within the tolerance: loop by loop."""
    shares = []
    for threshold in thresholds:
        alarms = [t for t, z in enumerate(scores) if z >= threshold]
        found = [any(abs(t - e) <= tolerance for t in alarms) for e in events]
        shares.append(sum(found) / len(found))
    return shares


def area(coverage, found):
    """The area below found shares over coverage, with straight lines from (0, 0) over the points to (1, 1)."""
    points = [(0.0, 0.0), *sorted(zip(coverage, found, strict=True)), (1.0, 1.0)]
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in itertools.pairwise(points))


@pytest.mark.parametrize("i", range(len(SMALL)))
def test_the_trajectory_is_that_of_pycsep(i):
    """Cells of its region are steps, rates are scores (benchmarks/fields.py)."""
    labels, scores, _ = SMALL[i]
    found = nf.sweep([int(one) for one in labels], scores, null="permutation").molchan(n_resamples=19, rng=1)
    ours = {tuple(np.round(point, 9)) for point in zip(*found.trajectory, strict=True)}
    theirs = {tuple(np.round(point, 9)) for point in zip(PYCSEP["tau"][i], PYCSEP["nu"][i], strict=True)}
    assert ours == theirs
    # trapezoids over its points, as in its area skill score before it is raised to 0.5 and rounded
    assert found.skill == pytest.approx(1 - np.trapezoid(PYCSEP["nu"][i], PYCSEP["tau"][i]), abs=1e-9)


@pytest.mark.parametrize("tolerance", [0, 1])
def test_area_and_its_p_are_those_of_all_placements(tolerance):
    """Two events on nine steps: 36 placements, each with the area of the transcription; simulated p is theirs."""
    scores, events = [3, 1, 4, 1, 5, 9, 2, 6, 5], (4, 7)
    thresholds = sorted(set(scores))
    coverage = found_shares(range(9), scores, thresholds, tolerance)
    areas = {
        two: area(coverage, found_shares(two, scores, thresholds, tolerance))
        for two in itertools.combinations(range(9), 2)
    }
    truth = np.isin(np.arange(9), events)
    found = nf.sweep(truth, scores, tolerances=tolerance, null="permutation", rng=2).molchan(n_resamples=40_000)
    assert found.coverage == pytest.approx(coverage[::-1])
    assert found.missed == pytest.approx(
        [1 - share for share in found_shares(events, scores, thresholds, tolerance)][::-1]
    )
    assert found.skill == pytest.approx(areas[events])
    assert np.mean(list(areas.values())) == pytest.approx(0.5)  # the diagonal is chance
    p = np.mean([one >= areas[events] - 1e-12 for one in areas.values()])
    assert found.pvalue == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 40_000))
    assert found.std == pytest.approx(np.std(list(areas.values())), rel=0.02)


def test_rotations_are_all_counted():
    """Under circular shifts the p-value is the share of all rotations, and so is each threshold's own."""
    rng = np.random.default_rng(5)
    scores, truth = rng.integers(0, 6, 40), rng.random(40) < 0.15
    thresholds = sorted(set(scores.tolist()))
    shares = np.array([found_shares(np.flatnonzero(np.roll(truth, s)), scores, thresholds, 1) for s in range(40)])
    coverage = shares.mean(axis=0)
    areas = np.array([area(coverage, row) for row in shares])
    found = nf.sweep(truth, scores, tolerances=1, null="circular-shift").molchan()
    assert found.how.kind == "exact"
    assert found.coverage == pytest.approx(coverage[::-1])
    assert found.skill == pytest.approx(areas[0])
    assert found.pvalue == pytest.approx((areas >= areas[0] - 1e-12).mean())
    assert found.pvalues == pytest.approx((shares >= shares[0] - 1e-12).mean(axis=0)[::-1])


QUAKES = nf.datasets.simulate_quakes(rng=0)
ENERGY = nf.detectors.energy_transient(QUAKES.counts)
CASES = {
    "permutation": {},
    "circular-shift": {},
    "seasonal:period=7": {},
    "local-shift:reach=60": {},
    "interval-shuffle": {},
    "episodes": {"count_alarms": "episodes"},
    "ranges": {"count_events": "ranges"},
    "clock": {"times": QUAKES.days, "tolerances": ("2d",)},
}


@pytest.mark.parametrize("name", CASES)
def test_coverage_is_what_chance_finds_and_bands_are_nested(name):
    """At every threshold: the mean recall of the null; the band of all thresholds holds that of each."""
    null = {"null": name} if name not in ("episodes", "ranges", "clock") else {}
    about = {"tolerances": (2,), **CASES[name]}
    curve = nf.sweep(QUAKES.truth, ENERGY, quantiles=[0.5, 0.8, 0.9, 0.99], n_resamples=2_000, rng=3, **null, **about)
    found = curve.molchan()
    tolerance = about.pop("tolerances")[0]
    for i, threshold in enumerate(found.thresholds):
        one = nf.evaluate(
            QUAKES.truth,
            ENERGY,
            threshold=threshold,
            tolerance=tolerance,
            null=curve.null,
            n_resamples=2_000,
            rng=3,
            **about,
        )
        exact = one.recall_test.how.kind != "simulated"
        assert found.coverage[i] == pytest.approx(one.coverage, abs=1e-9 if exact else 0.01)
        assert found.missed[i] == pytest.approx(1 - one.recall)
        assert found.pvalues[i] == pytest.approx(
            one.recall_test.pvalue, rel=1e-6 if exact else 0.5, abs=1e-6 if exact else 0.01
        )
    assert (found.lowest <= found.low).all()
    assert (found.low <= found.high).all()
    assert (found.high <= found.highest).all()
    assert (np.diff(found.coverage) > 0).all()
    assert (np.diff(found.missed) <= 0).all()


def test_lists_of_times_have_a_diagram_too():
    """A single window is a single point, found by the same laws."""
    events, alarms = [100, 250, 400, 700], [103, 300, 399, 650, 702]
    curve = nf.sweep_tolerances(events, alarms, tolerances=[5, 20], span=(0, 999), null="permutation", rng=1)
    one = nf.coincidence(events, alarms, tolerance=5, span=(0, 999), null="permutation")
    found = curve.molchan(tolerance=curve.tolerances[0], n_resamples=500)
    assert found.coverage == pytest.approx([one.coverage])
    assert found.missed == pytest.approx([1 - one.recall])
    hits, how = recall_on_placements(
        curve.trial.over((curve.tolerances[0],), curve.trial.thresholds), curve.null, 500, 1
    )
    assert hits.shape == (501, 1)
    assert how.n_resamples == 500
    assert hits.mean() / 4 == pytest.approx(one.coverage, abs=0.05)


@given(
    hits=arrays(np.int64, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=st.integers(0, 4)),
    alpha=st.sampled_from([0.01, 0.05, 0.2, 0.5]),
)
def test_no_more_placements_leave_the_band_than_are_allowed(hits, alpha):
    """Of N placements, the data among them, at most alpha N; a level looser by one would let more of them leave."""
    low, high = whole_band(hits, alpha)
    outside = ((hits < low) | (hits > high)).any(axis=1)
    assert outside.sum() <= alpha * len(hits) + 1e-9
    assert (low <= high).all()
    counts = [
        min(min((column >= own).sum(), (column <= own).sum()) for own, column in zip(row, hits.T, strict=True))
        for row in hits
    ]
    # by definition: the largest level at which no more than allowed have a tail as small
    cut = max(c for c in range(len(hits) + 1) if sum(one <= c for one in counts) <= alpha * len(hits) + 1e-9 or c == 0)
    assert outside.tolist() == [one <= cut for one in counts]


def draw(null, rng):
    """Events and scores that have nothing to do with each other, as each null takes them."""
    n = 240
    scores = np.convolve(rng.standard_normal(n + 4), np.ones(5), "valid")
    if null == "permutation":
        return rng.permutation(n) < 12, scores
    if null == "circular-shift":  # clusters
        centres = rng.integers(0, n, 5)
        return np.isin(np.arange(n), (centres[:, None] + rng.integers(0, 4, (5, 3))) % n), scores
    busy = np.arange(n) % 12 < 3  # both sides know the hour
    return rng.random(n) < np.where(busy, 0.2, 0.01), scores + 3 * busy


CUTS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98)


@pytest.mark.slow
@pytest.mark.parametrize("null", ["permutation", "circular-shift", "seasonal:period=12"])
def test_level_of_the_area_and_of_the_whole_band(null):
    """Under the null P(p <= 0.1) is at most 0.1, and the whole curve leaves its 90% band as rarely."""
    rng, runs, small, left = np.random.default_rng(7), 150, 0, 0
    for i in range(runs):
        truth, scores = draw(null, rng)
        if not truth.any():
            continue
        curve = nf.sweep(truth, scores, tolerances=1, null=null, rng=i, quantiles=CUTS)
        found = curve.molchan(alpha=0.1, n_resamples=199)
        small += found.pvalue <= 0.1
        left += bool(((found.missed < found.lowest - 1e-9) | (found.missed > found.highest + 1e-9)).any())
    # three standard errors of 150 runs are 0.073
    assert small / runs <= 0.173
    assert left / runs <= 0.173
    assert small / runs >= 0.04  # and not by never being small


def test_skill_is_seen_and_its_absence_is_not():
    """A detector of the events has an area near 1, its inverse near 0, with p-values at both ends."""
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.05
    scores = truth + rng.random(200)
    good = nf.sweep(truth, scores, null="permutation", rng=1).molchan(n_resamples=499)
    bad = nf.sweep(truth, -scores, null="permutation", rng=1).molchan(n_resamples=499)
    assert good.skill > 0.95
    assert bad.skill == pytest.approx(1 - good.skill, abs=1e-9)
    assert good.pvalue == 1 / 500
    assert bad.pvalue == 1


def test_many_thresholds_are_thinned_evenly_in_coverage():
    """Of thousands of scores some 256 are taken, the first and the last among them; the area hardly changes."""
    curve = nf.sweep(QUAKES.truth, ENERGY + np.arange(len(ENERGY)) * 1e-9, tolerances=2, null="permutation", rng=1)
    found = curve.molchan(n_resamples=99)
    assert 200 < len(found.thresholds) <= 256
    assert found.coverage[-1] == 1
    assert np.diff(found.coverage).max() < 0.02
    every = area((curve.near_predictions / curve.n)[0], curve.recall[0])
    assert found.skill == pytest.approx(every, abs=0.004)


def test_nothing_to_tell():
    """Without events there is no area; where no null holds there is no p-value, and the reason is told."""
    empty = nf.sweep(np.zeros(20), np.arange(20.0)).molchan()
    assert math.isnan(empty.skill)
    assert empty.pvalue == 1
    assert "no events" in str(empty)
    json.loads(empty.to_json())
    rng = np.random.default_rng(1)  # a range every morning, and scores that know the time of day and nothing else
    hours = np.datetime64("2026-01-01T00", "h") + np.arange(240)
    starts = [24 * day + int(rng.integers(4, 8)) for day in range(10)]
    scores = np.sin(2 * np.pi * np.arange(240) / 24) + 0.3 * rng.normal(size=240)
    found = nf.sweep([(hours[at], hours[at + 2]) for at in starts], scores, times=hours).molchan(n_resamples=99)
    assert math.isnan(found.pvalue)
    assert "cannot be told" in found.in_words()
    assert json.loads(found.to_json())["obstacle"]


class Upside(nf.nulls.NullModel):
    """The detector, with each score turned round or not."""

    name = "upside"
    moves = "detector"

    @property
    def assumption(self) -> str:
        return "Scores are symmetric."

    def draw(self, side):
        return lambda generator, size: side * generator.choice([-1, 1], (size, len(side)))


def test_errors_say_what_to_do():
    """Which tolerance, which level, which null."""
    curve = nf.sweep([0, 1, 0, 0, 1, 0], [0, 2, 1, 2, 0, 0], tolerances=(0, 1))
    with pytest.raises(nf.InputError, match="tolerance=None must be one of those of the sweep: 0 steps, 1 step"):
        curve.molchan()
    with pytest.raises(nf.InputError, match="alpha"):
        curve.molchan(tolerance=1, alpha=2)
    with pytest.raises(nf.InputError, match="Molchan or Sweep"):
        nf.plot.molchan([1, 2])
    moved = nf.sweep([0, 1, 0, 0, 1, 0], [0, 2, 1, 2, 0, 0], null=Upside())
    with pytest.raises(nf.InputError, match="moves the detector"):
        moved.molchan()
