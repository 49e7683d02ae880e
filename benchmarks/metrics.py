"""How fast the metrics are, against other packages and against prototypes, as ratios that are measured in one run.

Run it as ``python benchmarks/metrics.py [--quick] [--sizes 10000 100000 1000000] [--only vus] [--parts abcd]``. Labels
are one run of 20 to 80 steps in 1,000, scores an AR(1) process (φ = 0.9), alarms its upper twentieth; VUS has a window
of 100 steps. One thread.

(a) Resamples a second of each metric: rotations of the scores before labels at rest, drawing them included, beside the
    figures of the prototypes that were there before the metrics (of another run, on one core of a like machine).
(b) One value, from arrays, against the packages of ``peers.py`` that are installed; none is required. A package that
    would take longer than ``--patience`` seconds, by its times at smaller sizes, is left out.
(c) All rotations of AUC-ROC at the largest size, ranking included.
(d) Memory that one value and 100 resamples take at most, for each step of the series.

Times are processor times, since others may use the machine.
"""

import argparse
import time
import tracemalloc
from functools import partial

import numba
import numpy as np
from peers import all_peers, value
from scipy.signal import lfilter
from timing import seconds

import nofluke.metrics
from nofluke.metrics.draws import Draws
from nofluke.metrics.functions import Function
from nofluke.metrics.labelled import read_labelled

SIZES = (10_000, 100_000, 1_000_000)
PROTOTYPE = {  # resamples a second at those sizes
    "auc-roc": (2.2e6, 241e3, 24e3),
    "average-precision": (128e3, 10e3, 485),
    "pa-f1": (2.2e6, 240e3, 24e3),
    "best-pa-f1": (348e3, 15e3, 929),
    "range-f1": (1.6e6, 166e3, 11e3),
    "etapr-f1": (978e3, 103e3, 9e3),
    "affiliation-f1": (449e3, 37e3, 3e3),
    "nab": (834e3, 68e3, 4e3),
    "vus-pr": (5.3e3, 1.4e3, 128),
    "vus-roc": (5.3e3, 1.4e3, 128),
}
NAMES = [name for name in nofluke.metrics.names() if not isinstance(nofluke.metrics.get(name), Function)]


def simulated(n_steps):
    """Labels, scores and alarms."""
    rng = np.random.default_rng(20_220_801)
    labels = np.zeros(n_steps, dtype=np.int64)
    for begin in range(0, n_steps, 1000):
        length = rng.integers(20, 81)
        start = begin + rng.integers(0, 1000 - length)
        labels[start : start + length] = 1
    scores = lfilter([1.0], [1.0, -0.9], rng.standard_normal(n_steps))
    return labels, scores, (scores >= np.quantile(scores, 0.95)).astype(np.int64)


def prepared(metric, labels, scores, alarms):
    """The series, and tables of its detector laid out twice."""
    given = {"scores": scores} if metric.needs == "scores" else {"predictions": alarms}
    series = read_labelled(labels, **given)
    return series, metric.tables(np.tile(series.detector(metric.needs, metric.text), 2), series)


def resamples_a_second(metric, data, at_least):
    """Rotations drawn and evaluated, in chunks that double until they take long enough."""
    series, tables = prepared(metric, *data)
    rng = np.random.default_rng(1)
    n, chunk = series.n_steps, 8

    def some():
        metric.values(tables, Draws.moving(series.runs, n, rng.integers(0, n, chunk)))

    some()  # compiled
    while True:
        took = seconds(some, repeats=1, clock=time.process_time)
        if took >= at_least:
            return chunk / min(took, seconds(some, repeats=2, clock=time.process_time))
        chunk = int(chunk * min(8, max(2, 1.2 * at_least / max(took, 1e-6))))


def short(rate):
    """1.2M, 34k, 560."""
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if rate >= unit:
            return f"{rate / unit:.3g}{sign}"
    return f"{rate:.3g}"


def table_of_resamples(names, sizes, at_least):
    print("(a) resamples a second, one thread; × is the ratio to the prototype's")
    print(f"{'metric':24}" + "".join(f"{f'T = {n:,}':>24}" for n in sizes))
    for name in names:
        metric, cells = nofluke.metrics.get(name), []
        for n in sizes:
            rate = resamples_a_second(metric, simulated(n), at_least)
            aim = PROTOTYPE[name][SIZES.index(n)] if name in PROTOTYPE and n in SIZES else None
            cells.append(short(rate) + (f"  ×{rate / aim:.2f} of {short(aim)}" if aim else ""))
        print(f"{name:24}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def table_of_values(names, sizes, patience):
    peers, missing = all_peers()
    print("\n(b) seconds for one value; × is how many times as long as nofluke's the package takes")
    if missing:
        print(f"    not installed: {', '.join(missing)}")
    known = {}  # (size, seconds) of each package's metric
    for n in (1000, 3000, *sizes):
        data = simulated(n)
        for name in names:
            metric = nofluke.metrics.get(name)
            x = data[1] if metric.needs == "scores" else data[2]
            metric(data[0], x)
            ours = seconds(partial(metric, data[0], x), repeats=5, clock=time.process_time)
            cells = []
            for peer in peers:
                times = known.setdefault((peer.package, name), [])
                if peer.metric != name or expected(times, n) > patience:
                    continue
                call = partial(value, peer.function, *data)
                if n == 1000 and isinstance(call(), str):  # it raises; else it is compiled now
                    times.append((n, np.inf))
                    continue
                theirs = seconds(call, repeats=1, clock=time.process_time)
                if theirs < 1:
                    theirs = min(theirs, seconds(call, repeats=2, clock=time.process_time))
                times.append((n, theirs))
                cells.append((theirs, f"{peer.package} {theirs:.2g} ×{theirs / ours:.3g}"))
            if n in sizes:
                told = ", ".join(text for _, text in sorted(cells)) or "no package, or none in time"
                print(f"    T = {n:<9,} {name:24} {ours:.2g}: {told}", flush=True)


def expected(times, n):
    """Seconds at a size, by the power of the last two."""
    if len(times) < 2:
        return times[0][1] if times else 0.0
    (before, less), (last, more) = times[-2:]
    power = max(1.0, np.log(more / less) / np.log(last / before))
    return more * (n / last) ** power


def table_of_rotations(n):
    labels, scores, alarms = simulated(n)
    metric = nofluke.metrics.get("auc-roc")
    series, _ = prepared(metric, labels, scores, alarms)
    took = seconds(lambda: metric.every_rotation(series.scores, series), repeats=5)
    print(f"\n(c) all rotations of AUC-ROC at {n:,} steps: {took:.3f} s by the clock, ranking included")


def table_of_memory(names, sizes):
    """Of numpy's arrays, which tracemalloc sees."""
    print("\n(d) memory at most, bytes a step: one value, and tables of the detector laid out twice with 100 resamples")
    print(f"{'metric':24}" + "".join(f"{f'T = {n:,}':>20}" for n in sizes))
    for name in names:
        metric, cells = nofluke.metrics.get(name), []
        for n in sizes:
            labels, scores, alarms = simulated(n)
            x = scores if metric.needs == "scores" else alarms
            held = []
            for work in (
                partial(metric, labels, x),
                partial(resampled, metric, (labels, scores, alarms), np.arange(100)),
            ):
                tracemalloc.start()
                work()
                held.append(tracemalloc.get_traced_memory()[1] / n)
                tracemalloc.stop()
            cells.append(" + ".join(f"{one:.0f}" for one in held))
        print(f"{name:24}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def resampled(metric, data, begins):
    series, tables = prepared(metric, *data)
    return metric.values(tables, Draws.moving(series.runs, series.n_steps, begins))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10,000 steps and a twentieth of a second for each")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each rate of (a), at least")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds of a package's value, see (b)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--only", default="", help="metrics whose name holds this")
    parser.add_argument("--parts", default="abcd")
    options = parser.parse_args()
    numba.set_num_threads(1)  # some packages' loops run in parallel
    sizes = [10_000] if options.quick else options.sizes
    names = [name for name in NAMES if options.only in name]
    if "a" in options.parts:
        table_of_resamples(names, sizes, 0.05 if options.quick else options.seconds)
    if "b" in options.parts:
        table_of_values(names, sizes, options.patience)
    if "c" in options.parts:
        table_of_rotations(sizes[-1])
    if "d" in options.parts:
        table_of_memory(names, sizes)


if __name__ == "__main__":
    main()
