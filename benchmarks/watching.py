"""Watching a detector: how often evidence convinces without skill, and how soon with it. Tables for the documentation.

``python benchmarks/watching.py level 1000``, and likewise ``auto``, ``delay``, ``lost``, ``muting``, prints a table.
Blocks are settled one after the other, with a look after each. Those with a null that is asked for are counted by a
compiled loop, which is compared with `nofluke.Watch` on a run of each situation; the others are watched as users do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import nofluke as nf
from nofluke.inference.watch import FIRST_RUN
from nofluke.laws.betting import TILTS, losses

BLOCKS, STEPS, TOLERANCE, ALPHA = 500, 288, 2, 0.05
N = BLOCKS * STEPS
Pair = tuple[np.ndarray, np.ndarray]


# ---- events and alarms that know nothing of each other, of a whole run


def iid(rng: np.random.Generator) -> Pair:
    return rng.random(N) < 0.01, rng.random(N) < 0.03


def drift(rng: np.random.Generator, period: float = 40 * STEPS) -> Pair:
    """Both rates change by a factor of 20, slowly, and alike."""
    rate = np.exp(np.log(20) / 2 * np.sin(2 * np.pi * np.arange(N) / period + rng.uniform(0, 6)))
    rate /= rate.mean()
    return rng.random(N) < 0.01 * rate, rng.random(N) < 0.03 * rate


def slow(rng: np.random.Generator, phi: float, n: int = N) -> np.ndarray:
    from scipy.signal import lfilter

    return lfilter([np.sqrt(1 - phi**2)], [1, -phi], rng.normal(size=n + 500))[500:]


def bursts(rng: np.random.Generator) -> Pair:
    """Bursts of about five events within some twenty steps, across borders too; alarms in runs."""
    centres = np.repeat(np.flatnonzero(rng.random(N) < 0.002), 5)
    at = centres + rng.integers(0, 20, len(centres))
    events = np.zeros(N, dtype=bool)
    events[at[at < N]] = True
    return events, slow(rng, 0.95) > 1.88


def across(rng: np.random.Generator) -> Pair:
    """Rates of both that wander with a memory of half a block, each by itself, and bursts of events."""
    events = bursts(rng)[0] & (slow(rng, 1 - 2 / STEPS) > -0.5)
    return events, (slow(rng, 0.9) > 1.5) & (slow(rng, 1 - 2 / STEPS) > -0.5)


def season(rng: np.random.Generator) -> Pair:
    """A season of a day in both, e to the 1.5 times a sine."""
    rate = np.exp(1.5 * np.sin(2 * np.pi * np.arange(N) / STEPS))
    rate /= rate.mean()
    return rng.random(N) < 0.01 * rate, rng.random(N) < 0.03 * rate


def season_begins(rng: np.random.Generator) -> Pair:
    """The same from the middle on, after a past without it."""
    before, after = iid(rng), season(rng)
    half = np.arange(N) < N // 2
    return np.where(half, before[0], after[0]), np.where(half, before[1], after[1])


def mondays(rng: np.random.Generator) -> Pair:
    """Both are ten times as frequent for two hours of each week."""
    at = np.arange(N)
    rate = np.where((at // STEPS % 7 == 4) & (at % STEPS // (STEPS // 12) == 4), 10.0, 1.0)
    return rng.random(N) < 0.008 * rate, rng.random(N) < 0.025 * rate


def long_events(rng: np.random.Generator) -> Pair:
    """Ranges of 5 to 30 steps, as runs of labels; alarms in runs."""
    events = np.zeros(N, dtype=bool)
    for at, long in zip(np.flatnonzero(rng.random(N) < 0.004), rng.integers(5, 31, N), strict=False):
        events[at : at + long] = True
    return events, slow(rng, 0.95) > 1.88


def late_labels(rng: np.random.Generator) -> Pair:
    """Labels come up to two blocks late, more so on some days; what is not there when settled never counts."""
    events, alarms = bursts(rng)
    late = rng.exponential(STEPS / 2 * (1 + np.repeat(rng.random(BLOCKS), STEPS)), N)
    return events & (late < 2 * STEPS - np.arange(N) % STEPS), alarms


def with_skill(pair: Pair, skill: float, rng: np.random.Generator) -> Pair:
    """A share of the events gets an alarm of its own."""
    events, alarms = pair
    return events, alarms | (events & (rng.random(N) < skill))


# ---- evidence after each block, by a compiled loop


@njit(cache=True)
def _log_mean_exp(logs):
    top = logs.max()
    return top + np.log(np.exp(logs - top).mean())


@njit(cache=True)
def _evidence(events, alarms, n, early, late, null, periods, tilts, ranges):
    """The log of the evidence after each block of n steps; null 0 permutes, 1 rotates, 2 rotates by whole periods."""
    total = len(events)
    blocks = total // n
    found = np.zeros(blocks)
    recall, precision = np.zeros(len(tilts)), np.zeros(len(tilts))
    for b in range(blocks):
        begin = b * n
        zone = np.zeros(n, dtype=np.int64)
        for a in range(max(begin - early, 0), min(begin + n + late, total)):
            if alarms[a]:
                for t in range(max(a - late, begin), min(a + early + 1, begin + n)):
                    zone[t - begin] = 1
        first, last = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        m = 0
        for t in range(n):
            if events[begin + t]:
                if ranges and t > 0 and events[begin + t - 1]:
                    last[m - 1] = t
                elif not (ranges and t == 0 and begin > 0 and events[begin - 1]):
                    first[m] = last[m] = t
                    m += 1
        # a run that goes on from the block before is no event of this one
        covered = zone.sum()
        if m and 0 < covered < n:
            every = n // periods if null == 2 else 1
            hits = np.zeros(n // every, dtype=np.int64)
            for s in range(n // every):
                for e in range(m):
                    for t in range(first[e], last[e] + 1):
                        if zone[(t + s * every) % n]:
                            hits[s] += 1
                            break
            if null == 0:
                weights = np.zeros(m + 1)
                for k in range(max(0, m + covered - n), min(m, covered) + 1):
                    log = 0.0
                    for i in range(k):
                        log += np.log((covered - i) / (i + 1.0))
                    for i in range(m - k):
                        log += np.log((n - covered - i) / (i + 1.0))
                    for i in range(m):
                        log -= np.log((n - i) / (i + 1.0))
                    weights[k] = np.exp(log)
            else:
                weights = np.zeros(m + 1)
                for s in range(len(hits)):
                    weights[hits[s]] += 1.0 / len(hits)
            for i in range(len(tilts)):
                mean = 0.0
                for k in range(m + 1):
                    mean += weights[k] * np.exp(tilts[i] * (k - hits[0]))
                recall[i] -= np.log(mean)
                if null == 2:
                    precision[i] -= np.log(mean)
        if m and null != 2:
            shifted, stamp = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
            for a in range(n):
                if alarms[begin + a]:
                    for e in range(m):
                        for t in range(first[e], last[e] + 1):
                            for place in range(max(a - late, 0), min(a + early + 1, n)):
                                s = (place - t) % n
                                if stamp[s] != a + 1:
                                    stamp[s] = a + 1
                                    shifted[s] += 1
            count = shifted.max() + 1
            law = np.zeros(count)
            for s in range(n):
                law[shifted[s]] += 1.0 / n
            for i in range(len(tilts)):
                mean = 0.0
                for k in range(count):
                    mean += law[k] * np.exp(tilts[i] * (k - shifted[0]))
                precision[i] -= np.log(mean)
        found[b] = _log_mean_exp(np.concatenate((recall, precision)))
    return found


def evidence(
    pair: Pair, null: str, *, days: int = 1, ranges: bool = False, early: int = TOLERANCE, late: int = TOLERANCE
):
    kinds = {"permutation": 0, "circular-shift": 1, "period-shuffle": 2}
    return _evidence(*pair, days * STEPS, early, late, kinds[null], days, TILTS, ranges)


# ---- tables


def table(head: list[str], rows: list[list[Any]]) -> None:
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print()


LEVELS: dict[str, tuple[Callable[[np.random.Generator], Pair], str, dict[str, Any]]] = {
    "independent steps": (iid, "permutation", {}),
    "independent steps ": (iid, "circular-shift", {}),
    "both rates drift by a factor of 20": (drift, "permutation", {}),
    "both rates drift by a factor of 20 ": (drift, "circular-shift", {}),
    "bursts of events, alarms in runs": (bursts, "permutation", {}),
    "bursts of events, alarms in runs ": (bursts, "circular-shift", {}),
    "clusters and drifts across borders": (across, "circular-shift", {}),
    "ranges of 5 to 30 steps, alarms in runs": (long_events, "circular-shift", {"ranges": True}),
    "labels that come late, bursts": (late_labels, "circular-shift", {}),
    "daily season of both, blocks of a week": (season, "circular-shift", {"days": 7}),
}


def level(runs: int) -> None:
    """How often evidence ever reaches 1/α without skill."""
    bar, rows = -np.log(ALPHA * FIRST_RUN), []
    for name, (make, null, how) in LEVELS.items():
        rng = np.random.default_rng(33)
        ever, many = 0, runs
        for _ in range(many):
            ever += evidence(make(rng), null, **how).max() >= bar
        rows.append([name.strip(), null, many, f"{ever / many:.3f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    table(["situation", "null", "runs", "ever convincing"], rows)


def check() -> None:
    """The compiled loop and `nofluke.Watch` agree."""
    for make, null, how in LEVELS.values():
        rng = np.random.default_rng(1)
        events, alarms = with_skill(make(rng), 0.2, rng)
        days = how.get("days", 1)
        some = 60 * STEPS
        own = evidence((events[:some], alarms[:some]), null, **how)
        watch = nf.Watch.replay(
            events[:some],
            predictions=alarms[:some],
            tolerance=TOLERANCE,
            block=days * STEPS,
            null=null,
            count_events="ranges" if how.get("ranges") else "steps",
        )
        theirs = np.log(watch.result.detectors[0].path / FIRST_RUN)
        off = float(np.abs(own[: len(theirs)] - theirs).max())
        assert off < 1e-4, (make.__name__, null, off)


def watched(pair: Pair, **how: Any) -> nf.WatchResult:
    times = np.datetime64("2026-01-01T00:00", "s") + np.arange(len(pair[0])) * np.timedelta64(86_400 // STEPS, "s")
    return nf.Watch.replay(pair[0], predictions=pair[1], times=times, tolerance=TOLERANCE, **how).result


def auto(runs: int) -> None:
    """The same with the null, and the length of blocks, chosen from settled blocks."""
    rows = []
    for name, make, how in (
        ("independent steps", iid, {}),
        ("bursts of events, alarms in runs", bursts, {}),
        ("labels that come late, bursts", late_labels, {}),
        ("both rates drift by a factor of 20", drift, {}),
        ("daily season of both", season, {}),
        ("ten times as many of both in two hours of each Monday", mondays, {}),
        ("a daily season that begins after 250 blocks", season_begins, {}),
        ("daily season of both, whole days asked for", season, {"null": "period-shuffle:period=1d"}),
        ("ranges of 5 to 30 steps, alarms in runs", long_events, {"count_events": "ranges"}),
    ):
        rng = np.random.default_rng(33)
        ever, nulls = 0, {}
        for _ in range(runs):
            found = watched(make(rng), **how).detectors[0]
            ever += found.verdict == "better than chance"
            nulls[found.null] = nulls.get(found.null, 0) + 1
        last = ", ".join(f"{null} {n / runs:.2f}" for null, n in sorted(nulls.items(), key=lambda one: -one[1]))
        rows.append([name, last, runs, f"{ever / runs:.3f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    table(["situation", "null at the end (share of runs)", "runs", "ever convincing"], rows)


def muting(runs: int) -> None:
    """Alarms that are muted for 60 steps after each event; they must precede, by 30 steps at most."""
    rows = []
    for mask in (None, 60):
        rng = np.random.default_rng(33)
        ever = 0
        for _ in range(runs):
            events, alarms = iid(rng)
            quiet = np.zeros(N, dtype=bool)
            for at in np.flatnonzero(events):
                quiet[at + 1 : at + 61] = True
            found = nf.Watch.replay(
                events,
                predictions=alarms & ~quiet,
                tolerance=nf.Tolerance(early=30, late=0),
                block=2 * STEPS,
                null="circular-shift",
                mute_after=mask,
            ).result
            ever += found.verdict == "better than chance"
        rows.append(["with its mask" if mask else "without", runs, f"{ever / runs:.3f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    table(["muting for 60 steps after each event", "runs", "ever convincing"], rows)


@njit(cache=True)
def _fixed(events, alarms, n, tolerance, alpha, looks):
    """The first block at which the p-value of all hits so far is at most α over all looks, and that of each week's."""
    blocks = len(events) // n
    daily, weekly = -1, -1
    law, size, hits = np.zeros(len(events)), 1, 0
    law[0] = 1.0
    week, week_size, week_hits = np.zeros(len(events)), 1, 0
    week[0] = 1.0
    for b in range(blocks):
        zone = np.zeros(n)
        for a in range(max(b * n - tolerance, 0), min(b * n + n + tolerance, len(events))):
            if alarms[a]:
                for t in range(max(a - tolerance, b * n), min(a + tolerance + 1, b * n + n)):
                    zone[t - b * n] = 1
        covered = zone.sum()
        m, own = 0, 0
        for t in range(n):
            if events[b * n + t]:
                # one event after the other: the rest of the law follows
                m += 1
                own += int(zone[t])
        pmf = np.zeros(m + 1)
        pmf[0] = 1.0
        for i in range(m):
            for k in range(i + 1, -1, -1):
                stay = pmf[k] * (n - covered - (i - k)) / (n - i) if k <= i else 0.0
                come = pmf[k - 1] * (covered - (k - 1)) / (n - i) if k > 0 else 0.0
                pmf[k] = stay + come
        for one in range(2):
            table, length = (law, size) if one == 0 else (week, week_size)
            for k in range(length + m - 1, -1, -1):
                value = 0.0
                for j in range(min(m, k) + 1):
                    if k - j < length:
                        value += pmf[j] * table[k - j]
                table[k] = value
        size, week_size = size + m, week_size + m
        hits, week_hits = hits + own, week_hits + own
        if daily < 0 and law[hits:size].sum() <= alpha / looks:
            daily = b + 1
        if b % 7 == 6:
            if weekly < 0 and week[week_hits:week_size].sum() <= alpha:
                weekly = b + 1
            week[:] = 0.0
            week[0], week_size, week_hits = 1.0, 1, 0
    return daily, weekly


def delay(runs: int) -> None:
    """Blocks until skill is seen: by the watch, by a daily p-value with Bonferroni, by a test of each week alone."""
    bar, rows = -np.log(ALPHA * FIRST_RUN), []
    for skill in (0.0, 0.1, 0.3, 0.6):
        rng = np.random.default_rng(34)
        seen: dict[str, list[float]] = {"permutation": [], "circular-shift": [], "daily": [], "weekly": []}
        for _ in range(runs):
            pair = with_skill(iid(rng), skill, rng)
            for null in ("permutation", "circular-shift"):
                over = evidence(pair, null) >= bar
                seen[null].append(int(over.argmax()) + 1 if over.any() else np.inf)
            for name, at in zip(("daily", "weekly"), _fixed(*pair, STEPS, TOLERANCE, ALPHA, BLOCKS), strict=True):
                seen[name].append(at if at > 0 else np.inf)
        rows.append([f"{skill:g}", runs, *(_seen(one) for one in seen.values())])
        print(rows[-1], file=sys.stderr, flush=True)
    table(["skill", "runs", "watch, permutation", "watch, rotations", "daily p, Bonferroni", "each week alone"], rows)


def _seen(blocks: list[float]) -> str:
    share = float(np.isfinite(blocks).mean())
    median = float(np.median(blocks))
    return f"{share:.2f}{f', median {median:.0f}' if np.isfinite(median) else ''}"


def _shares(rng: np.random.Generator, rate: np.ndarray, clustered: bool) -> np.ndarray:
    """Shares of hits of blocks with one to six events, which are all found or all missed where they are clustered."""
    events = rng.integers(1, 7, len(rate))
    return (rng.random(len(rate)) < rate).astype(float) if clustered else rng.binomial(events, rate) / events


def lost(runs: int, least: float = 0.7, bar: float = 365.0, most: int = 3_650) -> None:
    """Blocks between false alarms at the promised rate itself, and until the loss of half of the hits is seen."""
    rows = []
    for name, clustered in (("independent events", False), ("events of a block found or missed together", True)):
        rng = np.random.default_rng(35)
        times = [
            _first(losses(_shares(rng, np.full(most, least), clustered), least, bar)[1], most) for _ in range(runs)
        ]
        delays, early = [], 0
        for _ in range(runs):
            rate = np.where(np.arange(600) < 100, 0.8, 0.4)
            found = losses(_shares(rng, rate, clustered), least, bar)[1]
            early += bool(found[:100].any())
            delays.append(_first(found[100:], 500))
        alone = np.mean(np.array(times) < most)
        rows.append(
            [name, runs, f"{np.mean(times):,.0f}", f"{alone:.2f}", f"{np.median(delays):.0f}", f"{early / runs:.3f}"]
        )
        print(rows[-1], file=sys.stderr, flush=True)
    table(
        ["events", "runs", f"mean blocks to a false alarm, at most {most:,}", "had one", "blocks until a loss of half is seen (median)",
         "false in the 100 blocks before"],
        rows,
    )  # fmt: skip


def _first(flags: np.ndarray, otherwise: int) -> int:
    return int(flags.argmax()) + 1 if flags.any() else otherwise


def picture(path: str) -> None:
    """One run of each skill, and a loss: what the documentation shows."""
    rng = np.random.default_rng(5)
    rate = np.repeat([0.6, 0.6, 0.6, 0.1], BLOCKS // 4)
    events, alarms = iid(rng)
    alarms = alarms | (events & (rng.random(N) < np.repeat(rate, STEPS)))
    some = slice(0, N)
    result = watched((events[some], alarms[some]), lost_below=0.5, block="1d")
    result.plot()[0].figure.savefig(path, bbox_inches="tight")


if __name__ == "__main__":
    check()
    asked = sys.argv[1]
    if asked == "picture":
        picture(sys.argv[2])
    else:
        {"level": level, "auto": auto, "muting": muting, "delay": delay, "lost": lost}[asked](int(sys.argv[2]))
