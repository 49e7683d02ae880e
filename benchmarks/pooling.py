"""How often pooled tests reject at 5%: beside other ways to combine p-values, and with series that share one truth.

Run it as ``python benchmarks/pooling.py``; it takes some minutes. Truths are drawn step by step with NumPy, alarms are
fixed in each of the sets, so that each law is worked out once a set.
"""

import time

import numpy as np
from scipy import stats

import nofluke as nf
from nofluke.laws.precision import PrecisionTable
from nofluke.laws.sums import SumLaw
from nofluke.laws.tables import hypergeometric
from nofluke.nulls import as_null
from nofluke.series.counting import Windows
from nofluke.studies.draws import Joint, Placements, found_on, law_of_weights
from nofluke.studies.pooled import partial_conjunction
from nofluke.studies.store import StoredLaws, law_row

LEVEL, SLACK = 0.05, 1 + 1e-9
SETS, RUNS = 20, 250
SERIES, STEPS, ALARMS, REACH = 30, 500, 25, 2
SENSORS, LONGER, SHARED = 10, 1_000, 5
SIDES = ("precision", "recall")


def near_of(alarms, n_steps):
    """Step by alarm: whether an event there makes a hit of it."""
    return np.abs(np.arange(n_steps)[:, None] - alarms) <= REACH


def placed(rng, runs, n_steps, n_events, weights=None):
    """Random rows of distinct steps; the largest of Gumbel noise and log-weights are a sample with these weights."""
    noise = rng.gumbel(size=(runs, n_steps)) + (0.0 if weights is None else np.log(weights))
    return np.argpartition(noise, -n_events, axis=1)[:, -n_events:]


def p_of(law, hits):
    """The p-value of every run."""
    table = np.array([law.upper(k) for k in range(law.size + 1)])
    return table[hits]


def combined(skills, n_events, rng):
    """Rejections of pooled hits, Fisher, Simes and Cauchy; a skill makes covered steps so many times as likely in its
    series."""
    hits, p, laws = np.zeros((2, RUNS), dtype=int), np.empty((2, SERIES, RUNS)), ([], [])
    for i, skill in enumerate(skills):
        alarms = np.sort(rng.choice(STEPS, ALARMS, replace=False))
        near = near_of(alarms, STEPS)
        covered = near.any(axis=1)
        rows = placed(rng, RUNS, STEPS, n_events, np.where(covered, skill, 1.0))
        found = near[rows].any(axis=1).sum(axis=1), covered[rows].sum(axis=1)
        windows = Windows(
            starts=np.maximum(alarms - REACH, 0), stops=np.minimum(alarms + REACH + 1, STEPS), n_steps=STEPS
        )
        for side, law in enumerate(
            (PrecisionTable(windows, n_events, "few"), hypergeometric(STEPS, int(covered.sum()), n_events))
        ):
            laws[side].append(law)
            p[side, i] = p_of(law, found[side])
            hits[side] += found[side]
    rejected = np.empty((4, 2))
    for side in range(2):
        together = SumLaw(tuple(laws[side]))
        top = int(hits[side].max())
        pooled = np.array([together.upper(k) for k in range(top + 1)])[hits[side]]
        fisher = stats.chi2.sf(-2 * np.log(p[side]).sum(axis=0), 2 * SERIES)
        cauchy = stats.cauchy.sf(np.tan((0.5 - np.minimum(p[side], 1 - 1e-15)) * np.pi).mean(axis=0))
        every = [pooled, fisher, np.array([partial_conjunction(column, 1) for column in p[side].T]), cauchy]
        rejected[:, side] = [(one <= LEVEL * SLACK).mean() for one in every]
    return rejected


def cell_of(events, alarms):
    truth, flags = np.zeros((2, LONGER), dtype=bool)
    truth[events], flags[alarms] = True, True
    return nf.evaluate(truth, predictions=flags, tolerance=REACH, null="permutation").cell


def sensors(rng):
    """Alarms of sensors that see much the same."""
    base = rng.choice(LONGER, 40, replace=False)
    return [np.unique((base + rng.integers(-2, 3, len(base))) % LONGER) for _ in range(SENSORS)]


def shared(kind, rng):
    """Rejections with laws taken for independent, and with one placement for all; of precision and recall."""
    alarms = sensors(rng)
    nears = [near_of(one, LONGER) for one in alarms]
    offsets = (
        rng.integers(-REACH, REACH + 1, size=(SENSORS, SHARED)) if kind == "nearly" else np.zeros((SENSORS, 1), int)
    )
    if kind == "rotated":
        pattern = np.unique(np.concatenate([[0, 4, 9], [300, 303]]) + rng.integers(LONGER)) % LONGER
        rows = (pattern + rng.integers(LONGER, size=(RUNS, 1))) % LONGER
        null = as_null("circular-shift")
    else:
        rows, null = placed(rng, RUNS, LONGER, SHARED), as_null("permutation")
    truths = [np.sort((rows + behind) % LONGER, axis=1) for behind in offsets]
    hits = np.zeros((2, RUNS), dtype=int)
    for near, truth in zip(nears, truths, strict=True):
        hits[0] += near[truth].any(axis=1).sum(axis=1)
        hits[1] += near.any(axis=1)[truth].sum(axis=1)
    first = next(i for i in range(RUNS) if all(len(np.unique(truth[i])) == SHARED for truth in truths))
    cells = [cell_of(truth[first], one) for truth, one in zip(truths, alarms, strict=True)]
    common = Placements.of(
        null, [cell.truth.starts for cell in cells], REACH, seed=int(rng.integers(2**32)), n_draws=4_000
    )
    drawn = [common.hits(cell) for cell in cells]
    of = sum(cell.n_predictions for cell in cells), sum(cell.n_events for cell in cells)
    one = Joint.of(*sum(found for found, _ in drawn).T, listed=False).laws(of, drawn[0][1])
    if kind == "equal":
        one["recall"] = law_of_weights(np.bincount(sum(found_on(cell) for cell in cells)), SHARED, SENSORS)
    apart = [null.distributions(cell) for cell in cells]
    rejected = np.empty((2, 2))
    for side, name in enumerate(SIDES):
        independent = SumLaw(tuple(getattr(laws, name) for laws in apart))
        for row, law in enumerate((independent, one[name])):
            critical = law.critical_value(LEVEL)
            rejected[row, side] = 0.0 if critical is None else (hits[side] >= critical).mean()
    return rejected


def show(title, names, rejected):
    print(f"\n{title}: precision/recall")
    for name, row in zip(names, rejected, strict=True):
        print(f"  {name:24s}" + "/".join(f"{rate:.3f}" for rate in row))


def main():
    rng = np.random.default_rng(14)
    situations = {
        "no skill, 2 events": (np.ones(SERIES), 2),
        "weak skill in all, 2 events": (np.full(SERIES, 3.0), 2),
        "strong skill in a tenth, 8 events": (np.where(np.arange(SERIES) < SERIES // 10, 20.0, 1.0), 8),
    }
    for title, (skills, n_events) in situations.items():
        found = np.mean([combined(skills, n_events, rng) for _ in range(SETS)], axis=0)
        show(title, ("pooled hits", "Fisher", "Simes", "Cauchy"), found)
    for kind in ("equal", "nearly", "rotated"):
        found = np.mean([shared(kind, rng) for _ in range(SETS)], axis=0)
        show(f"{SENSORS} sensors, truths {kind}", ("taken for independent", "one placement for all"), found)
    rows = [law_row(hypergeometric(1_000, int(c), 10), "recall") for c in rng.integers(20, 200, 300)]
    laws = StoredLaws({name: [rows[i % 300][name] for i in range(100_000)] for name in rows[0]})
    begin = time.perf_counter()
    total = SumLaw(tuple(laws))
    p = total.upper(int(total.mean + 5 * total.std))
    print(f"\n100,000 stored laws of 10 events: p = {p:.2g} in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
