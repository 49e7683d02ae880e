"""What one evaluation costs beside its arithmetic: short series with few events, where everything but the mathematics
shows.

Run it as ``python benchmarks/overhead.py [TREE]``. TREE is a checkout of another commit, such as 648f3cc, whose rows
are measured in the same run, in turns with this tree's, in processes of their own. Events and alarms are at random and
compiled code is loaded. Beside a million steps stand five lines of NumPy that count the same two numbers.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from timing import seconds

ROUNDS = 3  # of both trees: the least of all counts
WARM = 1.0  # seconds of calls before any is timed
MEMORY_STEPS = 10**7


def flags(n_steps, count, seed):
    chosen = np.zeros(n_steps, dtype=bool)
    chosen[np.random.default_rng(seed).choice(n_steps, count, replace=False)] = True
    return chosen


def five_lines(truth, alarms, delta):
    steps = np.arange(len(truth))
    low, high = np.maximum(steps - delta, 0), np.minimum(steps + delta + 1, len(truth))
    events, predictions = (np.concatenate([[0], np.cumsum(one)]) for one in (truth, alarms))
    near_event, near_alarm = events[high] > events[low], predictions[high] > predictions[low]
    return (near_event & alarms).sum() / alarms.sum(), (near_alarm & truth).sum() / truth.sum()


def rows():
    """Functions to time, by name, and how often."""
    import nofluke as nf

    def one(n_steps, m, n, delta, null):
        truth, alarms = flags(n_steps, m, 1), flags(n_steps, n, 2)
        return lambda: nf.evaluate(truth, predictions=alarms, tolerance=delta, null=null).verdict

    paper = {"truth": flags(2_557, 162, 1), "scores": np.random.default_rng(2).gumbel(size=2_557)}
    drawn = {"tolerances": [2], "quantiles": np.linspace(0.5, 0.99, 50), "method": "montecarlo", "rng": 1}
    large = flags(10**6, 1_000, 1), flags(10**6, 10_000, 2)
    return {
        "1,000 steps, 10 events, permutation": (one(1_000, 10, 50, 2, "permutation"), 60),
        "1,000 steps, 10 events, auto": (one(1_000, 10, 50, 2, "auto"), 60),
        "10,000 steps, 20 events, auto": (one(10_000, 20, 500, 5, "auto"), 30),
        "the paper's cell, permutation": (
            lambda: nf.evaluate(**paper, quantile=0.9, tolerance=2, null="permutation").precision_test.pvalue,
            15,
        ),
        "the paper's 50 thresholds, 10,000 resamples": (
            lambda: nf.sweep(**paper, **drawn, null="permutation").chance,
            4,
        ),
        "a million steps, permutation": (
            lambda: nf.evaluate(large[0], predictions=large[1], tolerance=10, null="permutation").verdict,
            4,
        ),
        "five lines of NumPy for that": (lambda: five_lines(*large, 10), 4),
    }


def measure():
    """Milliseconds of each row, in this process, with compiled code from the first call on."""
    from nofluke import compiled

    compiled.SECONDS_TO_LOAD = compiled.SECONDS_TO_COMPILE = 0.0
    found = {}
    for name, (function, repeats) in rows().items():
        begun = time.perf_counter()
        while time.perf_counter() - begun < WARM:
            function()
        found[name] = 1e3 * seconds(function, repeats, time.process_time)
    return found


def started(tree, code):
    """What a script prints in a process of its own, with the package of a tree."""
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(tree) / "src"), str(Path(__file__).parent)])}
    done = subprocess.run([sys.executable, "-c", code], env=found, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


IMPORTED = "import numpy, time; t = time.process_time(); import nofluke; print(1e3 * (time.process_time() - t))"
FIRST = (
    "import numpy, time; t = time.process_time(); import nofluke as nf; "
    "nf.evaluate([0, 1] * 50, predictions=[1, 0] * 50, tolerance=1).verdict; print(1e3 * (time.process_time() - t))"
)
MEASURED = "import json, overhead; print(json.dumps(overhead.measure()))"


def of_tree(tree):
    found = json.loads(started(tree, MEASURED))
    found["import, beyond NumPy"] = float(started(tree, IMPORTED))
    found["import and a first evaluation"] = float(started(tree, FIRST))
    return found


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def peak_above(function):
    """Megabytes of resident memory that a call needs on top, looked at every few milliseconds."""
    before, peak, stop = resident(), [0.0], threading.Event()

    def watch():
        while not stop.is_set():
            peak[0] = max(peak[0], resident())
            time.sleep(0.003)

    watcher = threading.Thread(target=watch)
    watcher.start()
    function()
    stop.set()
    watcher.join()
    return peak[0] - before


def main():
    here = Path(__file__).parents[1]
    trees = {"this tree": here, **({"other": sys.argv[1]} if len(sys.argv) > 1 else {})}
    least = {name: {} for name in trees}
    for _ in range(ROUNDS):
        for name, tree in trees.items():
            for row, taken in of_tree(tree).items():
                least[name][row] = min(taken, least[name].get(row, np.inf))
    print(f"{'milliseconds of one core':<46}" + "".join(f"{name:>12}" for name in trees) + f"{'ratio':>8}")
    for row, taken in least["this tree"].items():
        other = least.get("other", {}).get(row)
        beside = "" if other is None else f"{other:>12.2f}{taken / other:>8.2f}"
        print(f"{row:<46}{taken:>12.2f}{beside}")
    if sys.platform == "linux":
        import numba  # noqa: F401  # some 60 MB, which commit 648f3cc has loaded with the package

        import nofluke as nf

        rng = np.random.default_rng(1)
        truth = np.zeros(MEMORY_STEPS, dtype=np.int8)
        truth[rng.integers(0, MEMORY_STEPS, 1_000)] = 1
        scores = rng.random(MEMORY_STEPS, dtype=np.float32)
        above = peak_above(lambda: nf.evaluate(truth, scores, quantile=0.99, tolerance=10))
        print(f"{MEMORY_STEPS:,} steps (int8 labels, float32 scores): {above:.0f} MB above the inputs")


if __name__ == "__main__":
    main()
