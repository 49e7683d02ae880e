"""What two lists of times cost: exact p-values of both rates, all rotations, statistics beside them, and other
software.

Run it as ``python benchmarks/coincidence.py``. Events and alarms are random; the tolerance is half the mean gap between
events. The first call of each compiled function is not counted. Times are of the processor, all threads together, so
that other work on the machine does not count. pyunicorn's event coincidence analysis is measured in the same run where
it can be imported; it has one-sided windows and leaves out what is near the ends of the lists, so that times are
compared, not rates.
"""

import contextlib
import functools
import multiprocessing
import sys
import time

import numpy as np
import timing
from overhead import peak_above

import nofluke as nf
from nofluke.inference.coincidence import trial_of
from nofluke.series.occurrences import read_times, tolerance_of_times

seconds = functools.partial(timing.seconds, clock=time.process_time)

THREE_YEARS = 3 * 365 * 86_400  # seconds
N_RESAMPLES = 10_000
SURROGATES = 100  # of pyunicorn; its own default is 1,000


def two_lists(size, span, rounded=True, seed=1):
    """Two lists of times from 0 up to the span: whole numbers, each once, or floats with all their digits."""
    rng = np.random.default_rng(seed)
    drawn = [np.sort(rng.random(size) * span) for _ in range(2)]
    return [np.unique(times.astype(np.int64)) for times in drawn] if rounded else drawn


def half_gap(size, span):
    return span // (2 * size)


def judged(size, span, rounded=True, copied=0, **more):
    """A call of ``nf.coincidence``, ready to be made; so many alarms are moved to right behind an event."""
    events, alarms = two_lists(size, span, rounded)
    if copied:
        alarms = np.unique(np.concatenate([alarms[copied:], events[:copied] + 1]))
    ends = (0, max(span - 1, int(alarms[-1]))) if rounded else (0.0, float(span))
    settings = {"tolerance": half_gap(size, span), "span": ends, "null": "permutation", **more}
    return lambda: nf.coincidence(events, alarms, **settings)


def memory(size):
    """Megabytes above the lists, in a process of its own."""
    judged(1_000, 10**6)()  # compiles, or loads what is compiled
    return peak_above(judged(size, 1_000 * size))


def exact():
    print("exact p of both rates, null=permutation")
    for size in (10**3, 10**4, 10**5):
        for words, more in (
            ("whole seconds of three years", {}),
            ("the same, 2% of the alarms right behind an event", {"copied": size // 50}),
            ("unrounded", {"rounded": False}),
        ):
            call = judged(size, THREE_YEARS, **more)
            found = call()
            ps = f"p {found.precision_test.pvalue:.1e} and {found.recall_test.pvalue:.1e}"
            method = found.precision_test.method
            print(f"{size:>9,} against as many, {words:50} {1000 * seconds(call, 8):6.0f} ms   {ps}, {method}")
    if sys.platform == "linux":
        for size in (10**4, 10**5, 10**6):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(f"{size:>9,} against as many, memory above the lists: {pool.apply(memory, (size,)):5.0f} MB")


def spans():
    print("\n10,000 against 10,000 times, by the length of the span")
    for power in (6, 9, 12, 15, 18):
        call = judged(10**4, 10**power)
        method = call().precision_test.method
        print(f"10^{power:<3} ticks  {1000 * seconds(call):6.0f} ms   {method}")


def double_loop(events, alarms, tolerance):
    found = sum(any(abs(p - q) <= tolerance for p in alarms) for q in events)
    return sum(any(abs(p - q) <= tolerance for q in events) for p in alarms), found


def broadcast(events, alarms, tolerance):
    near = np.abs(events[:, np.newaxis] - alarms) <= tolerance
    return int(near.any(axis=0).sum()), int(near.any(axis=1).sum())


def rates(events, alarms, tolerance, span):
    window = tolerance_of_times(tolerance)
    cell = trial_of(read_times(events, alarms, tolerances=(window,), span=(0, span - 1)), (window,), "zero").cell(0, 0)
    return cell.precision_hits, cell.recall_hits


def pyunicorn():
    try:
        with contextlib.redirect_stdout(None):
            from pyunicorn.eventseries import EventSeries
    except ImportError:
        print("pyunicorn is not installed: left out")
        return None
    return EventSeries


def peers():
    print("\nbeside other ways, ratios to nf.coincidence with both p-values")
    other = pyunicorn()
    for size in (10**2, 10**3, 10**4):
        times = beside(size, other)
        base = next(iter(times.values()))
        for name, taken in times.items():
            print(f"{size:>9,} against as many  {name:45} {1000 * taken:10.2f} ms  {taken / base:8.3g}")


def beside(size, other):
    """Seconds by name, our own first."""
    span = 100 * size
    events, alarms = two_lists(size, span)
    tolerance = half_gap(size, span)
    assert rates(events, alarms, tolerance, span) == broadcast(events, alarms, tolerance)
    lists = events.tolist(), alarms.tolist()
    repeats = 5 if size < 10**4 else 1
    times = {
        "nf.coincidence, both rates and exact p": seconds(judged(size, span), 5),
        "nofluke, both rates alone": seconds(lambda: rates(events, alarms, tolerance, span), 5),
        "NumPy, all pairs, both rates": seconds(lambda: broadcast(events, alarms, tolerance), repeats),
        "plain double loop, both rates": seconds(lambda: double_loop(*lists, tolerance), min(repeats, 2)),
    }
    if other is None:
        return times
    ones = np.ones(len(events), dtype=int), np.ones(len(alarms), dtype=int)

    def analysed():
        return other.event_coincidence_analysis(*ones, tolerance, ts1=events, ts2=alarms)

    def surrogates():
        labels = np.zeros((span, 2), dtype=int)
        labels[events, 0] = labels[alarms, 1] = 1
        series = other(labels, taumax=tolerance)
        return series.event_analysis_significance(method="ECA", surrogate="shuffle", n_surr=SURROGATES)

    times["pyunicorn, all four rates"] = seconds(analysed, repeats)
    if size < 10**4:
        times[f"pyunicorn, one rate and p of {SURROGATES} surrogates"] = seconds(surrogates, 1)
    return times


def rotations():
    size = int(10**3.5)  # squared, 10^7 pairs
    call = judged(size, THREE_YEARS, null="circular-shift")
    method = call().precision_test.method
    print(f"\nrotations, {size:,} against {size:,} in {THREE_YEARS:,} ticks: {seconds(call):.2f} s, {method}")
    call = judged(2 * size, THREE_YEARS, null="circular-shift", rng=1)
    method = call().precision_test.method
    print(f"rotations, {2 * size:,} against {2 * size:,}: {seconds(call):.2f} s, {method}")


def statistics():
    print(f"\nstatistics beside the rates, {N_RESAMPLES:,} placements of the events")
    for size in (100, 1_000):
        found = judged(size, 100 * size)()
        for name in ("event-synchronisation", "sttc", "matching"):

            def tested(name=name, found=found):
                return found.statistic_test(name, n_resamples=N_RESAMPLES, rng=1)

            tested()
            print(f"{size:>9,} against as many  {name:22} {1000 * seconds(tested):6.0f} ms")


def main():
    judged(1_000, 10**6)()  # compiles, or loads what is compiled
    exact()
    spans()
    peers()
    rotations()
    statistics()


if __name__ == "__main__":
    main()
