"""How often the verdict errs under the permutation: by the exact joint law of both hits, in many random problems.

Run it as ``python benchmarks/verdict.py``. Prints, for each level, the largest probability of *yes* or *partly* as a
share of the level, and for comparison that of one p-value at most the level where both measures can be tested.
"""

import numpy as np

import nofluke as nf

PROBLEMS = 3_000
LEVELS = (0.01, 0.05, 0.1)
SLACK = 1 + 1e-9


def problem(rng):
    """Truth and alarms of 8 to 200 steps, alarms scattered or in runs, and a tolerance."""
    n_steps = int(rng.integers(8, 200))
    truth, alarms = np.zeros((2, n_steps), dtype=bool)
    truth[rng.choice(n_steps, rng.integers(1, min(n_steps // 2, 25) + 1), replace=False)] = True
    n_alarms = rng.integers(1, n_steps // 2 + 1)
    smooth = np.convolve(rng.normal(size=n_steps), np.ones(rng.choice([1, 5])), "same")
    alarms[np.argsort(smooth)[-n_alarms:]] = True
    return truth, alarms, int(rng.integers(0, 5))


def erring(p, weights, alpha):
    """P(yes or partly), and P(one p ≤ α) or NaN where only one measure can be tested."""
    able = [side for side in p if side.min() <= alpha * SLACK]
    if len(able) < 2:
        return sum(weights[side <= alpha * SLACK].sum() for side in able), np.nan
    smaller, larger = np.minimum(*p), np.maximum(*p)
    told = (larger <= alpha * SLACK) | (smaller <= alpha / 2 * SLACK)
    return weights[told].sum(), weights[smaller <= alpha * SLACK].sum()


def main():
    rng = np.random.default_rng(1)
    found = {alpha: [] for alpha in LEVELS}
    for _ in range(PROBLEMS):
        truth, alarms, tolerance = problem(rng)
        result = nf.evaluate(truth, predictions=alarms, tolerance=tolerance, null="permutation")
        joint = result.null.joint(result.cell)
        p = []
        for hits in (joint.precision_hits, joint.recall_hits):
            p.append(np.cumsum(np.bincount(hits, weights=joint.weights)[::-1])[::-1][hits])
        for alpha in LEVELS:
            found[alpha].append(erring(p, joint.weights, alpha))
    for alpha, pairs in found.items():
        verdict, either = (np.array(pairs) / alpha).T
        either = either[~np.isnan(either)]
        print(
            f"alpha {alpha}: yes or partly at most {verdict.max():.4f} alpha; one p at most alpha: up to {either.max():.2f} alpha, "
            f"above it in {(either > SLACK).mean():.0%} of {len(either):,} problems"
        )


if __name__ == "__main__":
    main()
