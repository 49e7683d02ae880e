"""How often a ranking tells methods apart: those that do not differ over sources, and those that do.

Run it as ``python benchmarks/ranking.py [RUNS]``. The first table has the share of runs in which any pair of methods
without a true difference is told apart at .05. Values are those of a series (the same for all methods), an effect of
each method in each source, and noise. Beside `nf.rank` by sources and by series: signs of whole sources flipped for all
pairs at once, stepped down; Wilcoxon and Holm over series, and Nemenyi over series, as autorank has it.

The second table has the share of truly different pairs that are told apart where series are independent, as those tests
and aeon's cliques (one-sided Wilcoxon at alpha over the methods less one) assume. The third has how often somebody is
told from the best of ten methods that are alike.
"""

import sys
from functools import cache

import numpy as np
from scipy import stats

from nofluke.inference.corrections import holm
from nofluke.studies.rank import answered, complete_ranks

RUNS, DRAWS, ALPHA = 600, 299, 0.05
EVERY = 4  # runs of which one is tested by series, too: that takes longest, and its errors are large
SPREAD, NOISE = 0.1, 0.15
EFFECTS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - 1,
    "half skewed": lambda rng, shape: np.where(
        np.arange(shape[1]) % 2, 0.3 * rng.normal(size=shape), rng.exponential(size=shape) - 1
    ),
}


def sizes_of(rng, n, unlike):
    """Series in each source: ten, or from one to some dozens, most of them in a few."""
    return np.maximum(1, np.exp(rng.normal(1.6, 1.2, n)).round()).astype(int) if unlike else np.full(n, 10)


def table_of(rng, n_sources, n_methods, unlike, effect, shifts=0.0, spread=SPREAD):
    """Values, and the source of each series."""
    source = np.repeat(np.arange(n_sources), sizes_of(rng, n_sources, unlike))
    effects = spread * EFFECTS[effect](rng, (n_sources, n_methods)) + shifts
    values = rng.normal(0, 0.2, (len(source), 1)) + effects[source] + rng.normal(0, NOISE, (len(source), n_methods))
    return values, source


def by_units(values, unit, seed):
    """Corrected p of all pairs."""
    return answered(values, np.ones(len(values)), unit, "sources", ALPHA, DRAWS, seed).pvalue


def by_joint_flips(values, source, rng):
    """The same with one sign for all pairs in a source, stepped down from the largest statistic."""
    n = values.shape[1]
    i, j = np.triu_indices(n, 1)
    d = np.zeros((source.max() + 1, len(i)))
    np.add.at(d, source, np.nan_to_num(values[:, i] - values[:, j]))
    signs = np.vstack([np.ones(len(d)), rng.choice([-1.0, 1.0], (DRAWS, len(d)))])
    moved = np.abs(signs @ d) / np.sqrt(np.maximum((d * d).sum(0), 1e-30))
    order = np.argsort(moved[0])
    least = np.maximum.accumulate(moved[:, order], axis=1)
    p = np.mean(least >= moved[0, order] - 1e-9, axis=0)
    found = np.ones((n, n))
    found[i[order], j[order]] = np.maximum.accumulate(p[::-1])[::-1]
    return np.minimum(found, found.T)


def wilcoxon_holm(values):
    """Signed-rank tests over series, corrected for all pairs."""
    n = values.shape[1]
    i, j = np.triu_indices(n, 1)
    p = np.array([_wilcoxon(values[:, a] - values[:, b]) for a, b in zip(i, j, strict=True)])
    found = np.ones((n, n))
    found[i, j] = found[j, i] = holm(p)
    return found


def _wilcoxon(d, alternative="two-sided"):
    d = d[~np.isnan(d)]
    return stats.wilcoxon(d, alternative=alternative, method="asymptotic").pvalue if d.any() else 1.0


@cache
def _critical(n):
    return float(stats.studentized_range.isf(ALPHA, n, np.inf)) / np.sqrt(2)


def nemenyi(values):
    """0 where mean ranks differ by the critical difference, 1 elsewhere; autorank asks Friedman's test first."""
    ranks = complete_ranks(values)
    n, k = ranks.shape
    if n < 2 or (k > 2 and stats.friedmanchisquare(*ranks.T).pvalue > ALPHA):
        return np.ones((k, k))
    mean = ranks.mean(0)
    return np.where(np.abs(mean[:, None] - mean) >= _critical(k) * np.sqrt(k * (k + 1) / (6 * n)), 0.0, 1.0)


def aeon_cliques(values):
    """0 where aeon 1.6.0 draws no bar: the better mean rank is better by a one-sided test at alpha / (methods - 1)."""
    k = values.shape[1]
    order = np.argsort(complete_ranks(values).mean(0))
    found = np.ones((k, k))
    for a in range(k):
        for b in range(a + 1, k):
            i, j = order[a], order[b]
            found[i, j] = found[j, i] = _wilcoxon(values[:, i] - values[:, j], "greater") > ALPHA / (k - 1)
    return found


def share(found, pairs):
    """Whether any of the pairs is told apart."""
    return bool((found[pairs] <= ALPHA).any())


def errors(runs):
    """The first table."""
    print(
        "| methods | sources | sizes | effects | by sources | flips, stepped down | by series | Wilcoxon–Holm | Nemenyi |"
    )
    print("| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    settings = [
        *(
            (f"{m} alike", k, unlike, e)
            for m, k, e in ((10, 6, "normal"), (10, 10, "normal"), (10, 23, "normal"), (10, 50, "normal"))
            for unlike in (False, True)
        ),
        *(("10 alike", k, unlike, "skewed") for k in (6, 10, 23, 50) for unlike in (False, True)),
        *(("2 alike", k, unlike, "half skewed") for k in (10, 23, 50) for unlike in (False, True)),
        *(("10 alike", k, True, "half skewed") for k in (10, 23)),
        *(
            ("5 alike, 5 others", k, unlike, e)
            for k in (10, 23)
            for unlike in (False, True)
            for e in ("normal", "skewed")
        ),
        *(("5 and their copies", k, True, "normal") for k in (10, 23)),
        *(("10 alike, 10% of cells missing", k, True, "normal") for k in (10, 23)),
        *(("10 alike, 10% of sources missing", k, True, "normal") for k in (10, 23)),
        ("10 alike, no effects of sources", 23, True, "normal"),
    ]
    for which, n_sources, unlike, effect in settings:
        n = int(which.split()[0]) if "copies" not in which else 5
        n = 10 if "others" in which else n
        shifts = np.repeat([0.0, 0.1, 0.2, 0.3], [5, 2, 2, 1]) if "others" in which else np.zeros(n)
        found, many = np.zeros(5), np.zeros(5)
        for run in range(runs):
            rng = np.random.default_rng([run, n_sources, unlike])
            spread = 0.0 if "no effects" in which else SPREAD
            values, source = table_of(rng, n_sources, n, unlike, effect, shifts, spread)
            if "copies" in which:
                values = np.hstack([values, values])
            if "cells" in which:
                values[rng.random(values.shape) < 0.1] = np.nan
            if "sources missing" in which:
                values[(rng.random((n_sources, n)) < 0.1)[source]] = np.nan
            true = np.tile(shifts, values.shape[1] // n)
            pairs = np.triu(true[:, None] == true, 1)
            found[0], many[0] = found[0] + share(by_units(values, source, run), pairs), many[0] + 1
            if "missing" not in which:
                found[1], many[1] = found[1] + share(by_joint_flips(values, source, rng), pairs), many[1] + 1
            if run % EVERY == 0:
                each = np.arange(len(values))
                found[2:] += [
                    share(one, pairs) for one in (by_units(values, each, run), wilcoxon_holm(values), nemenyi(values))
                ]
                many[2:] += 1
        cells = [f"{a / b:.3f}".lstrip("0") if b else "–" for a, b in zip(found, many, strict=True)]
        print(
            f"| {which} | {n_sources} | {'unlike' if unlike else '10 each'} | {effect} | {' | '.join(cells)} |",
            flush=True,
        )


def powers(runs):
    """The second table: independent series, one method better by a third of the noise, two by two thirds."""
    print("\n| series | noise | by series | Wilcoxon–Holm | Nemenyi (autorank) | cliques (aeon) |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    shifts = np.array([0.0, 0.0, 0.05, 0.1, 0.1])
    pairs = np.triu(shifts[:, None] != shifts, 1)
    same = np.triu(shifts[:, None] == shifts, 1)
    for n in (20, 40, 100):
        for noise in ("normal", "t with 3 degrees", "exponential"):
            found, wrong = np.zeros(4), np.zeros(4)
            for run in range(runs):
                rng = np.random.default_rng([run, n])
                shape = (n, len(shifts))
                drawn = {
                    "normal": lambda rng=rng, shape=shape: rng.normal(size=shape),
                    "t with 3 degrees": lambda rng=rng, shape=shape: rng.standard_t(3, shape) / np.sqrt(3),
                    "exponential": lambda rng=rng, shape=shape: rng.exponential(size=shape) - 1,
                }[noise]()
                values = rng.normal(0, 0.2, (n, 1)) + NOISE * drawn + shifts
                answers = (
                    by_units(values, np.arange(n), run),
                    wilcoxon_holm(values),
                    nemenyi(values),
                    aeon_cliques(values),
                )
                found += [np.mean(one[pairs] <= ALPHA) for one in answers]
                wrong += [share(one, same) for one in answers]
            cells = [f"{a / runs:.2f} ({b / runs:.3f})".replace("0.", ".") for a, b in zip(found, wrong, strict=True)]
            print(f"| {n} | {noise} | {' | '.join(cells)} |", flush=True)


def winners(runs):
    """The third table: by Holm on the comparisons of the best alone, and by the maximum over all pairs."""
    print("\n| sources | sizes | Holm, the best against each | all pairs |")
    print("| ---: | --- | ---: | ---: |")
    for n_sources in (10, 23, 50):
        for unlike in (False, True):
            found = np.zeros(2)
            for run in range(runs):
                rng = np.random.default_rng([run, n_sources, unlike])
                values, source = table_of(rng, n_sources, 10, unlike, "normal")
                best = int(values.mean(0).argmax())
                sums = np.zeros((n_sources, 10))
                np.add.at(sums, source, values[:, [best]] - values)
                d = np.delete(sums, best, axis=1)
                signs = rng.choice([-1.0, 1.0], (DRAWS, n_sources))
                p = (1 + (np.abs(signs @ d) >= np.abs(d.sum(0)) - 1e-9).sum(0)) / (DRAWS + 1)
                found += [(holm(p) <= ALPHA).any(), (by_units(values, source, run)[best] <= ALPHA).any()]
            cells = " | ".join(f"{one / runs:.3f}".lstrip("0") for one in found)
            print(f"| {n_sources} | {'unlike' if unlike else '10 each'} | {cells} |", flush=True)


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    errors(asked)
    powers(asked)
    winners(asked)
