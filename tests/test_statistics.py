"""Any statistic under any null, nulls that move the detector too."""

import numpy as np
import pytest

import nofluke as nf
from nofluke.measures.statistics import Statistic
from nofluke.nulls.base import NullModel
from nofluke.nulls.placements import draws, simulate
from nofluke.series.reading import prepare
from nofluke.series.tolerance import Tolerance
from nofluke.series.trial import Trial


def example(n=120, m=12, seed=0, thresholds=(0.7, 0.9), tolerances=(0, 3)):
    rng = np.random.default_rng(seed)
    truth = np.zeros(n, dtype=bool)
    truth[rng.choice(n, m, replace=False)] = True
    scores = rng.random(n) + 0.4 * truth
    windows = tuple(Tolerance(early=t, late=t) for t in tolerances)
    return Trial.of(prepare(truth, scores), windows, np.array(thresholds))


class ShiftedScores(NullModel):
    """A null of one's own that moves the detector: its scores are shifted around the circle."""

    moves = "detector"

    @property
    def assumption(self):
        return "Chance shifts the scores."

    def draw(self, side):
        def shifted(generator, size):
            return np.array([np.roll(side, s) for s in generator.integers(len(side), size=size)])

        return shifted


class Constant(Statistic):
    """A statistic that is the same whatever happens."""

    def __init__(self, value):
        self.value, self.name = value, "constant"

    def observed(self, trial):
        return np.full(trial.shape, self.value)


class Hits(Statistic):
    """Events that are found."""

    name = "hits"

    def observed(self, trial):
        return trial.recall_hits


NULLS = [nf.nulls.Permutation(), nf.nulls.CircularShift(), nf.nulls.Blocks(length=10), nf.nulls.Seasonal(period=7)]


class TestOnPlacements:
    @pytest.mark.parametrize("null", NULLS, ids=lambda null: null.name)
    def test_placements_do_not_depend_on_the_statistic(self, null):
        """The same seed gives the same placements: what `evaluate` simulates is what any statistic is asked on."""
        trial = example()
        evaluated = null.distributions(trial.cell(1, 0), "montecarlo", n_resamples=600, rng=5)
        values = simulate(trial, Hits(), null, n_resamples=600, rng=5).values[:, 1, 0]
        np.testing.assert_array_equal(np.bincount(values.astype(int), minlength=13), evaluated.recall.counts)

    def test_every_null_draws(self):
        """No null leaves it to the engine: placements come as rows of steps, as many as there are events."""
        trial = example()
        for name in ("permutation", "circular-shift", "seasonal:period=7", "interval-shuffle", "segments", "blocks:length=9", "bernoulli", "stationary"):  # fmt: skip
            rows = next(draws(nf.nulls.as_null(name), trial, 30, 1))
            assert rows.shape == (30, 12)
            assert all(len(set(row.tolist())) == 12 for row in rows)


class TestAnyStatistic:
    def test_two_detectors_are_compared_on_the_same_placements(self):
        """Values are kept placement by placement: the difference of two detectors has a law of its own."""
        one = example()
        other = one.with_detector(np.random.default_rng(9).random(one.n_steps))
        null = nf.nulls.Permutation()
        first, second = (simulate(t, Hits(), null, n_resamples=300, rng=2) for t in (one, other))
        assert first.values.shape == second.values.shape == (300, 2, 2)
        together = np.corrcoef(first.values[:, 1, 0], second.values[:, 1, 0])[0, 1]
        apart = simulate(other, Hits(), null, n_resamples=300, rng=3).values[:, 1, 0]
        assert together != np.corrcoef(first.values[:, 1, 0], apart)[0, 1]
        assert (first.observed - second.observed).shape == (2, 2)

    def test_shifting_the_scores_is_shifting_the_events_the_other_way(self):
        """Without tolerance at the border: both nulls have the same law of hits."""
        trial = example(tolerances=(0,), thresholds=(0.8,))
        shifted = simulate(trial, Hits(), ShiftedScores(), n_resamples=2_000, rng=1).values.ravel()
        exact = nf.nulls.CircularShift().distributions(trial.cell(0, 0)).recall
        for hits in range(13):
            expected = exact.pmf(hits)
            assert abs((shifted == hits).mean() - expected) < 5 * np.sqrt(max(expected, 1e-3) / 2_000)

    def test_p_values_count_the_data_as_one_of_the_placements(self):
        """(b + 1)/(n + 1), ties included; 1 where the statistic is undefined."""
        trial = example(tolerances=(0,), thresholds=(0.5,))
        constant = simulate(trial, Constant(0.3), nf.nulls.Permutation(), n_resamples=99, rng=1)
        assert constant.pvalue[0, 0] == 1.0
        undefined = simulate(trial, Constant(np.nan), nf.nulls.Permutation(), n_resamples=9, rng=1)
        assert undefined.pvalue[0, 0] == 1.0
        same = simulate(trial, Hits(), nf.nulls.Permutation(), n_resamples=9_999, rng=4).pvalue[0, 0]
        exact = nf.nulls.Permutation().distributions(trial.cell(0, 0)).recall.upper(int(trial.recall_hits[0, 0]))
        assert abs(same - exact) < 5 * np.sqrt(exact / 9_999) + 1e-3


def test_a_null_is_asked_and_not_recognised():
    """No code outside of the nulls asks which class a null is."""
    import ast
    from pathlib import Path

    names = {"Permutation", "CircularShift", "LocalShift", "LocalPermutation", "ShiftNull", "Stratified", "Seasonal", "Segments", "Blocks", "IntervalShuffle", "Custom", "Bernoulli", "Stationary"}  # fmt: skip
    package = Path(nf.__file__).parent
    for path in package.rglob("*.py"):
        if "nulls" in path.relative_to(package).parts:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in names) else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                asked = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node.args[1])}
                assert not asked & names, f"{path.name} line {node.lineno}"


class Drawn(NullModel):
    """A null whose rows are what a function makes of the detector."""

    moves = "detector"

    def __init__(self, rows):
        self.rows = rows

    @property
    def assumption(self):
        return "Chance draws what it likes."

    def draw(self, side):
        return lambda _, size: self.rows(size, len(side))


class TestHostileStatistics:
    @pytest.mark.parametrize("value", [np.inf, -np.inf, 0.0, 1e300])
    def test_what_never_changes_is_no_evidence(self, value):
        """p = 1 where every placement has the observed value, be it infinite."""
        found = simulate(example(), Constant(value), nf.nulls.Permutation(), n_resamples=19, rng=1)
        assert (found.pvalue == 1.0).all()


class TestHostileNulls:
    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (lambda size, _: np.zeros((size, 3)), r"must draw rows of 120 values, as many as asked, got \(9, 3\)"),
            (lambda size, n: np.zeros((size + 1, n)), r"as many as asked, got \(10, 120\)"),
            (lambda _, n: np.zeros((1, n)), "got 8 too few"),
            (lambda _, n: np.zeros(n), r"got \(120,\)"),
        ],
    )
    def test_rows_of_another_shape_are_refused(self, rows, said):
        """Too few rows would be a p-value of fewer resamples than it says."""
        with pytest.raises(nf.InputError, match=said):
            simulate(example(), Hits(), Drawn(rows), n_resamples=9, rng=1)

    def test_hits_are_not_asked_of_a_null_that_moves_the_detector(self):
        """`evaluate` and `sweep` say so, instead of failing inside."""
        truth, scores = [0, 1, 0, 0, 1, 0], [0, 2, 1, 2, 0, 3.0]
        with pytest.raises(nf.InputError, match="moves the detector, not the events"):
            nf.evaluate(truth, scores, threshold=2, null=ShiftedScores())
        with pytest.raises(nf.InputError, match="moves the detector, not the events"):
            _ = nf.sweep(truth, scores, null=ShiftedScores()).chance.precision
