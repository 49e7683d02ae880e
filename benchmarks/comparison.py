"""How often a comparison of two detectors rejects at .05: where neither is better, and where one is.

Run it as ``python benchmarks/comparison.py [RUNS]``. Prints, for F1, the share of runs that studentised swaps reject,
beside other ways on the same data: within a series, swaps of single steps and of blocks of 10 steps by the plain
difference; across series, swaps of series by the plain difference and Wilcoxon's test of the series' own F1. And how
often the interval of the difference holds the true one.

Then, for precision, recall and F1 of scores cut at a quantile: exchanging episodes as if the alarms were given,
and with cuts that move. Last, precision and F1 where numbers of alarms, or of misses, are unlike or small.
"""

import sys

import numpy as np

import nofluke as nf
from nofluke.inference.compare import compared

RUNS = 2_000
STEPS, TOLERANCE, BLOCK = 2_000, 2, 10
SWAPS = 499

# recall and false alarms for each event, of both detectors: the second pair has F1 .525 by P = .7, R = .42 and by P =
# .42, R = .7
ALIKE = ((0.5, 0.5), (0.5, 0.5))
UNLIKE = ((0.42, 0.18), (0.7, 0.7 * 0.58 / 0.42))
BETTER = ((0.7, 0.5), (0.4, 0.5))


def f1_of(recall, false):
    """F1 where each event is found with that probability, by one alarm, and so many alarms for each event are false."""
    return 2 * recall / (1 + recall + false)


def events_of(rng, clustered):
    """Steps of about 40 single events, or 60 in clusters of up to eight, and the cluster of each."""
    slots = 40 + (50 if clustered else 25) * np.arange(38 if clustered else 77)
    begins = slots[rng.random(len(slots)) < (0.36 if clustered else 0.5)]
    sizes = rng.integers(1, 9, len(begins)) if clustered else np.ones(len(begins), dtype=int)
    clusters = np.repeat(np.arange(len(begins)), sizes)
    return np.repeat(begins, sizes) + np.concatenate([2 * np.arange(size) for size in sizes]), clusters


def alarms_of(rng, events, clusters, recall, false, clustered):
    """Alarms on the events found, and false ones far from any; in clusters, all of one are found or none, but for one
    in ten."""
    found = rng.random(len(events)) < recall
    if clustered:
        whole = (rng.random(clusters.max() + 1) < recall)[clusters]
        found = np.where(rng.random(len(events)) < 0.1, found, whole)
    far = np.ones(STEPS, dtype=bool)
    for event in events:
        far[max(event - 3 * TOLERANCE, 0) : event + 3 * TOLERANCE + 1] = False
    n = rng.poisson(false * len(events) / (4 if clustered else 1))
    at = rng.choice(np.flatnonzero(far), n, replace=False)
    if clustered:  # four in a row
        at = np.unique((at[:, None] + np.arange(4)).ravel() % STEPS)
        at = at[far[at]]
    alarms = np.zeros(STEPS, dtype=bool)
    alarms[at] = alarms[events[found]] = True
    return alarms


def plain_swaps(first, second, rng):
    """P-value of |F1 - F1'| by exchanging rows of counts, without studentising."""
    differ = (first != second).any(axis=1)
    both = (first + second).sum(axis=0)
    first, second = first[differ], second[differ]
    signs = np.vstack([np.ones(len(first)), rng.choice([-1.0, 1.0], (SWAPS, len(first)))])
    mean, half = both / 2, signs @ ((first - second) / 2)
    a, h, e, f = np.moveaxis(np.stack([mean + half, mean - half]), -1, 0)
    # F1 of hits h of a alarms and f of e events
    value = np.divide(2 * h * f, h * e + f * a, out=np.zeros_like(h), where=h * e + f * a > 0)
    apart = np.abs(value[0] - value[1])
    return np.mean(apart >= apart[0] - 1e-12)


def by_block(truth, alarms, length):
    """Counts of each block of steps."""
    window = np.ones(2 * TOLERANCE + 1)
    near = [np.convolve(flags, window, "same") > 0.5 for flags in (truth, alarms)]
    flags = np.stack([alarms, alarms & near[0], truth, truth & near[1]], axis=1)
    return flags.reshape(-1, length, 4).sum(axis=1)


def within(rng, pair, clustered):
    """P-values of three ways on one series, and whether the interval holds the true difference."""
    events, clusters = events_of(rng, clustered)
    truth = np.zeros(STEPS, dtype=bool)
    truth[events] = True
    alarms = {name: alarms_of(rng, events, clusters, *how, clustered) for name, how in zip("ab", pair, strict=True)}
    found = nf.compare(truth, predictions=alarms, tolerance=TOLERANCE, n_resamples=SWAPS, rng=rng)
    one = found.difference("a", "b")
    counts = {length: [by_block(truth, alarms[name], length) for name in "ab"] for length in (1, BLOCK)}
    return one.pvalue, *(plain_swaps(*both, rng) for both in counts.values()), held(one, pair)


def comparison(units, noun, rng):
    """Two detectors compared on the same units, arrays of K x 4 counts."""
    return compared(
        units,
        lambda pair: (units[pair[0]], units[pair[1]]),
        noun=noun,
        alpha=0.05,
        level=0.95,
        n_resamples=SWAPS,
        rng=rng,
        title="",
        notes=(),
    )


def across(rng, pair, n_series):
    """The same on many series, some of which are harder for both detectors or hold many more events than others."""
    from scipy.stats import wilcoxon

    events = 1 + rng.negative_binomial(1, 0.2, n_series)
    ease = 2 * rng.beta(2, 2, n_series) - 1  # of mean 0, so that recall is what it is said to be
    units = {}
    for name, (recall, false) in zip("ab", pair, strict=True):
        hits = rng.binomial(events, recall + ease * min(recall, 1 - recall))
        wrong = rng.poisson(false * events * rng.gamma(2, 0.5, n_series))
        units[name] = np.stack([hits + wrong, hits, events, hits], axis=1)
    one = comparison(units, "series", rng).difference("a", "b")
    own = [2 * rows[:, 1] / (rows[:, 0] + rows[:, 2]) for rows in units.values()]
    ranked = wilcoxon(*own, method="asymptotic").pvalue if (own[0] != own[1]).any() else 1.0
    return one.pvalue, plain_swaps(units["a"], units["b"], rng), ranked, held(one, pair)


def held(one, pair):
    """Whether the interval holds the true difference; NaN where there is none."""
    true = f1_of(*pair[0]) - f1_of(*pair[1])
    return np.nan if one.low is None else float(one.low <= true <= one.high)


def scored(
    rng,
    *,
    steps=2_000,
    n_events=20,
    lengths=(5, 20),
    begin=0.0,
    late=0.0,
    trend=0.0,
    bursts=0,
    memory=0.0,
    mean=(2.0, 2.0),
    spread=(1.5, 1.5),
):
    """Labels in ranges, at places of their own or evenly apart, and two detectors' scores.

    In each range a detector's scores are higher by a normal number of its own. ``late`` is added in the second half, in
    which labels lie from ``begin`` on; ``memory`` is the autocorrelation of the noise.
    """
    from scipy.signal import lfilter

    low, high = int(begin * steps), steps - lengths[1] - 1
    if begin or lengths == (1, 1):
        starts = np.sort(rng.integers(low, high, n_events))
    else:
        starts = np.linspace(low, high, n_events).astype(int)
    ranges = [
        slice(at, at + n) for at, n in zip(starts, rng.integers(lengths[0], lengths[1] + 1, n_events), strict=True)
    ]
    truth, scores = np.zeros(steps, dtype=bool), {}
    for own in ranges:
        truth[own] = True
    for name, m, s in zip("ab", mean, spread, strict=True):
        noise = lfilter([np.sqrt(1 - memory**2)], [1, -memory], rng.standard_normal(steps + 200))[200:]
        scores[name] = noise + late * (np.arange(steps) >= steps // 2) + trend * np.arange(steps) / steps
        for at in rng.integers(0, steps - 15, rng.poisson(bursts)):
            scores[name][at : at + rng.integers(3, 15)] += 2 + rng.standard_normal()
        for own in ranges:
            scores[name][own] += m + s * rng.standard_normal()
    return truth, scores


def cut(rng, quantile, how, more):
    """P-values of precision, recall and F1 by exchange alone and with cuts that move; whether intervals hold 0."""
    truth, scores = scored(rng, **how)
    alarms = {name: own >= np.quantile(own, quantile) for name, own in scores.items()}
    asked = {"tolerance": TOLERANCE, "n_resamples": SWAPS, "rng": rng, **more}
    found = [nf.compare(truth, predictions=alarms, **asked), nf.compare(truth, scores, quantile=quantile, **asked)]
    pairs = [[one.difference("a", "b", m) for m in ("precision", "recall", "f1")] for one in found]
    held = [np.nan if one.low is None else float(one.low <= 0 <= one.high) for one in pairs[1]]
    return [*(one.pvalue for pair in pairs for one in pair), *held]


def counted(rng, n_events, recalls, false):
    """P-values of precision and F1, where events are found by one alarm each and false alarms are Poisson."""
    units = {}
    extra = rng.poisson(np.multiply(false, n_events))
    for i, (name, recall) in enumerate(zip("ab", recalls, strict=True)):
        found = rng.random(n_events) < recall
        events = np.stack([found, found, np.ones(n_events), found], axis=1)
        wrong = np.zeros((extra.sum(), 4))
        wrong[extra[0] * i : extra[0] + extra[1] * i, 0] = 1
        units[name] = np.concatenate([events, wrong]).astype(np.int64)
    found = comparison(units, "episodes", rng)
    return [found.difference("a", "b", m).pvalue for m in ("precision", "f1")]


WEAK = {"mean": (1.0, 1.0), "spread": (1.0, 1.0)}
NONE = {"mean": (0.0, 0.0), "spread": (0.0, 0.0)}
LATE = {"begin": 0.5, "late": 1.0}
POINTS = {"lengths": (1, 1), "n_events": 60}
CUT = {
    "no skill, ranges": (0.95, NONE, {}),
    "no skill, 3 late ranges, higher there": (
        0.95,
        {**NONE, **LATE, "steps": 1_000, "n_events": 3, "lengths": (10, 40)},
        {},
    ),
    "no skill, 10 late ranges, memory": (0.95, {**NONE, **LATE, "steps": 1_000, "n_events": 10, "memory": 0.9}, {}),
    "weak skill, late ranges, memory": (0.95, {**WEAK, **LATE, "memory": 0.9}, {}),
    "skill, ranges": (0.95, {}, {}),
    "skill, ranges, a tenth alarmed": (0.9, {}, {}),
    "skill, late ranges, higher there": (0.95, LATE, {}),
    "skill, late ranges, trend, 5,000 steps": (0.95, {"begin": 0.5, "trend": 2.0, "steps": 5_000, "n_events": 30}, {}),
    "skill, bursts of false alarms": (0.95, {"bursts": 20}, {}),
    "skill, 8 ranges in 1,000 steps": (0.9, {"steps": 1_000, "n_events": 8, "lengths": (5, 30)}, {}),
    "skill, alarms by episode": (0.95, {}, {"count_alarms": "episodes"}),
    "skill, 60 single events": (0.95, {**POINTS, "spread": (1.0, 1.0)}, {}),
    "skill, 60 single events, 20 alarms": (0.99, {**POINTS, "spread": (1.0, 1.0)}, {}),
    "same precision, unlike recall": (0.95, {"mean": (2.31, 2.0), "spread": (0.1, 2.2)}, {}),
    "one better, 60 single events": (0.95, {**POINTS, "mean": (2.5, 1.5), "spread": (1.0, 1.0)}, {}),
    "one better, weak, ranges": (0.95, {"mean": (1.0, 0.3), "spread": (0.5, 0.5)}, {}),
    "one better, ranges, a tenth alarmed": (0.9, {"mean": (3.0, 1.0)}, {}),
}

# events, recalls, false alarms for each event
COUNTED = {
    "precision .97, recall .7 and 1": (40, (0.7, 1.0), (0.02, 0.03)),
    "precision .5, recall .5 and .9": (40, (0.5, 0.9), (0.5, 0.9)),
    "F1 .82, recall .7 and .9": (40, (0.7, 0.9), (0.0, 0.29)),
    "F1 .2, recall .9 and .25": (40, (0.9, 0.25), (7.1, 1.25)),
    "F1 .08, recall .9 and .1": (18, (0.9, 0.1), (20.6, 1.4)),
}


SITUATIONS = {
    "within a series: alike, single events": (within, ALIKE, False),
    "within a series: alike, clusters": (within, ALIKE, True),
    "within a series: same F1, unlike P and R, clusters": (within, UNLIKE, True),
    "within a series: one better, clusters": (within, BETTER, True),
    "58 series: alike": (across, ALIKE, 58),
    "10 series: alike": (across, ALIKE, 10),
    "58 series: same F1, unlike P and R": (across, UNLIKE, 58),
    "58 series: one better": (across, ((0.55, 0.5), (0.45, 0.5)), 58),
}


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"Share of {runs:,} runs with p ≤ .05: studentised swaps, two other ways; and how often the interval holds")
    for name, (simulate, *how) in SITUATIONS.items():
        rng = np.random.default_rng(14)
        found = np.array([simulate(rng, *how) for _ in range(runs)])
        rates = (found[:, :3] <= 0.05 * (1 + 1e-9)).mean(axis=0)
        print(f"{name:52} {rates[0]:.3f}  {rates[1]:.3f}  {rates[2]:.3f}  {np.nanmean(found[:, 3]):.3f}", flush=True)
    print(
        "Cut at a quantile: precision, recall and F1 by exchange alone; with cuts that move; how often intervals hold"
    )
    for name, how in CUT.items():
        rng = np.random.default_rng(25)
        found = np.array([cut(rng, *how) for _ in range(runs)])
        print(f"{name:42} {_shares(found[:, :6])}  {_means(found[:, 6:])}", flush=True)
    print("Unlike or few alarms: precision and F1; and how often there is no test")
    for name, how in COUNTED.items():
        rng = np.random.default_rng(25)
        found = np.array([counted(rng, *how) for _ in range(runs)])
        print(f"{name:42} {_shares(found)}  {_means(np.isnan(found))}", flush=True)


def _shares(pvalues):
    """How often each is at most .05, of those that there are."""
    return _means(np.where(np.isnan(pvalues), np.nan, pvalues <= 0.05 * (1 + 1e-9)))


def _means(values):
    there = ~np.isnan(values)
    return "  ".join(f"{v[t].mean():.3f}" if t.any() else "    –" for v, t in zip(values.T, there.T, strict=True))


if __name__ == "__main__":
    main()
