"""Watching a detector: how often evidence convinces without skill, and how soon with it. Tables for the documentation.

``python benchmarks/watching.py level 1000 --workers 2`` prints a table, likewise ``auto``, ``delay``, ``lost`` and
``muting``; ``picture`` and ``delays`` draw. Blocks are settled one after the other, with a look after each. Those with
a null that is asked for are counted by a compiled loop, which is compared with `nofluke.Watch` on a run of each
situation; the others are watched as users do.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np
from numba import njit
from scipy.stats import binom

import nofluke as nf
from nofluke.inference.blocks import FIRST_RUN
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


def odd_season(rng: np.random.Generator) -> Pair:
    """The same with a period of 31 hours, which no calendar has."""
    rate = np.exp(1.5 * np.sin(2 * np.pi * np.arange(N) / (31 * STEPS / 24)))
    return rng.random(N) < 0.01 * rate / rate.mean(), rng.random(N) < 0.03 * rate / rate.mean()


def drifting_season(rng: np.random.Generator) -> Pair:
    """The season of a day times a slow change by a factor of 4 within half a year, of both alike."""
    at = np.arange(N)
    rate = np.exp(1.5 * np.sin(2 * np.pi * at / STEPS) + np.log(2) * np.sin(np.pi * at / (180 * STEPS)))
    return rng.random(N) < 0.01 * rate / rate.mean(), rng.random(N) < 0.03 * rate / rate.mean()


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


def head(*cells: str) -> None:
    row(*cells)
    print("|" + " --- |" * len(cells), flush=True)


def row(*cells: Any) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


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


def ever(runs: int, run: Callable[[np.random.Generator], Any]) -> list[Any]:
    """What each run gives, each with a generator of its own: the answer does not depend on the number of workers."""
    seeds = [[OPTIONS.seed, i] for i in range(runs)]
    if OPTIONS.workers == 1:
        return [run(np.random.default_rng(seed)) for seed in seeds]
    with get_context("fork").Pool(OPTIONS.workers, _give, (run,)) as pool:
        return pool.map(_ask, seeds, chunksize=max(runs // (8 * OPTIONS.workers), 1))


def _give(run: Callable[[np.random.Generator], Any]) -> None:
    global RUN
    RUN = run


def _ask(seed: list[int]) -> Any:
    return RUN(np.random.default_rng(seed))


def level(runs: int) -> None:
    """How often evidence ever reaches 1/α without skill."""
    bar = -np.log(ALPHA * FIRST_RUN)
    head("situation", "null", "runs", "ever convincing")
    for name, (make, null, how) in LEVELS.items():
        found = ever(runs, lambda rng, make=make, null=null, how=how: evidence(make(rng), null, **how).max() >= bar)
        row(name.strip(), null, runs, f"{np.mean(found):.3f}")


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


def watched(pair: Pair, *, clock: bool = True, **how: Any) -> nf.WatchResult:
    times = np.datetime64("2026-01-01T00:00", "s") + np.arange(len(pair[0])) * np.timedelta64(86_400 // STEPS, "s")
    how = {"tolerance": TOLERANCE} | how
    return nf.Watch.replay(pair[0], predictions=pair[1], times=times if clock else None, **how).result


AUTO: dict[str, tuple[Callable[[np.random.Generator], Pair], dict[str, Any]]] = {
    "independent steps": (iid, {}),
    "bursts of events, alarms in runs": (bursts, {}),
    "clusters and drifts across borders": (across, {}),
    "labels that come late, bursts": (late_labels, {}),
    "ranges of 5 to 30 steps, alarms in runs": (long_events, {"count_events": "ranges"}),
    "both rates drift by a factor of 20": (drift, {}),
    "daily season of both": (season, {}),
    "daily season of both, whole days asked for": (season, {"null": "period-shuffle:period=1d"}),
    "a daily season that begins after 250 blocks": (season_begins, {}),
    "ten times as many of both in two hours of each Monday": (mondays, {}),
    "a season of 31 hours": (odd_season, {}),
    "daily season of both, steps without a clock": (season, {"clock": False}),
    "the same, begins after 250 blocks": (season_begins, {"clock": False}),
    "daily season, and both rates drift by a factor of 4": (drifting_season, {}),
}


def auto(runs: int) -> None:
    """The same as users have it: nothing but the tolerance is said."""
    head("situation", "runs", "ever convincing", "seasons that were seen, beside days and weeks")
    for name, (make, how) in AUTO.items():

        def run(rng: np.random.Generator, make=make, how=how) -> tuple[bool, int]:
            found = watched(make(rng), **how)
            return found.verdict == "better than chance", len(found.state.periods["detector"])

        found = np.array(ever(runs, run))
        usual = 0 if how.get("clock") is False else 1
        row(name, runs, f"{found[:, 0].mean():.3f}", f"{(found[:, 1] > usual).mean():.2f}")


def muting(runs: int) -> None:
    """Alarms that are muted for 60 steps after each event; they must precede, by 30 steps at most."""
    head("muting for 60 steps after each event", "runs", "ever convincing")
    for mask in (None, 60):

        def run(rng: np.random.Generator, mask=mask) -> bool:
            events, alarms = iid(rng)
            quiet = np.convolve(events, np.concatenate([[0], np.ones(60)]))[:N] > 0
            how = {"tolerance": nf.Tolerance(early=30, late=0), "block": 2 * STEPS, "null": "circular-shift"}
            found = nf.Watch.replay(events, predictions=alarms & ~quiet, mute_after=mask, **how)
            return found.result.verdict == "better than chance"

        row("with its mask" if mask else "without", runs, f"{np.mean(ever(runs, run)):.3f}")


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


def seen_by(skill: float, rng: np.random.Generator) -> dict[str, float]:
    """The block at which skill is seen, by each way of looking; infinity for never."""
    bar, found = -np.log(ALPHA * FIRST_RUN), {}
    pair = with_skill(iid(rng), skill, rng)
    over = {null: evidence(pair, null) >= bar for null in ("permutation", "circular-shift")}
    some = slice(0, N if skill < 0.2 else N // 4)
    over["auto"] = watched((pair[0][some], pair[1][some])).detectors[0].path >= 1 / ALPHA
    for name, one in over.items():
        found[name] = float(one.argmax()) + 1 if one.any() else np.inf
    daily, weekly = _fixed(*pair, STEPS, TOLERANCE, ALPHA, BLOCKS)
    return found | {"daily": daily if daily > 0 else np.inf, "weekly": weekly if weekly > 0 else np.inf}


def delay(runs: int) -> None:
    """Blocks until skill is seen: by the watch, by a daily p-value with Bonferroni, by a test of each week alone."""
    names = {"auto": "watch, auto", "circular-shift": "watch, rotations", "permutation": "watch, permutation"}
    names |= {"daily": "daily p, Bonferroni", "weekly": "each week alone"}
    head("skill", "runs", *names.values())
    for skill in (0.0, 0.1, 0.3, 0.6):
        found = ever(runs, lambda rng, skill=skill: seen_by(skill, rng))
        row(f"{skill:g}", runs, *(_seen([one[name] for one in found]) for name in names))


def _seen(blocks: list[float]) -> str:
    share = float(np.isfinite(blocks).mean())
    median = float(np.median(blocks))
    return f"{share:.2f}{f', median {median:.0f}' if np.isfinite(median) else ''}"


LEAST, BAR, MOST = 0.7, 365.0, 3_650


def _hits(rng: np.random.Generator, rate: np.ndarray, clustered: bool) -> tuple[np.ndarray, np.ndarray]:
    """Hits of blocks with one to six events, which are all found or all missed where they are clustered."""
    events = rng.integers(1, 7, len(rate))
    return (events * (rng.random(len(rate)) < rate) if clustered else rng.binomial(events, rate)), events


def lost_by(hits: np.ndarray, events: np.ndarray) -> dict[str, np.ndarray]:
    """After each block whether a loss is seen: by the watch, and by binomial tests of all so far, or of each week."""
    n = len(hits)
    daily = binom.cdf(np.cumsum(hits), np.cumsum(events), LEAST) <= ALPHA / n
    weeks = np.add.reduceat(np.stack([hits, events]), np.arange(0, n, 7), axis=1)
    weekly = np.zeros(n, dtype=bool)
    weekly[np.minimum(np.arange(6, n + 6, 7), n - 1)] = binom.cdf(*weeks, LEAST) <= ALPHA
    return {"watch": losses(hits / events, LEAST, BAR)[1], "daily": daily, "weekly": weekly}


def one_loss(rng: np.random.Generator, clustered: bool) -> dict[str, tuple[int, bool, float]]:
    """Blocks to a false verdict at the promised rate; whether one comes before the loss; blocks until it is seen."""
    still = lost_by(*_hits(rng, np.full(MOST, LEAST), clustered))
    falls = lost_by(*_hits(rng, np.where(np.arange(600) < 100, 0.8, 0.4), clustered))
    return {
        name: (
            int(still[name].argmax()) + 1 if still[name].any() else MOST,
            bool(falls[name][:100].any()),
            float(falls[name][100:].argmax()) + 1 if falls[name][100:].any() else np.inf,
        )
        for name in still
    }


def lost(runs: int) -> None:
    """Blocks between false alarms at the promised rate itself, and until the loss of half of the hits is seen."""
    head(
        "events", "by", "runs", f"mean blocks to a false verdict, at most {MOST:,}", "false in 100 good blocks",
        "loss of half seen, median block",
    )  # fmt: skip
    for name, clustered in (("independent", False), ("of a block found or missed together", True)):
        found = ever(runs, lambda rng, clustered=clustered: one_loss(rng, clustered))
        for by, told in (("watch", "watch"), ("daily", "daily p, Bonferroni"), ("weekly", "each week alone")):
            first, early, late = np.array([one[by] for one in found]).T
            row(name, told, runs, f"{first.mean():,.0f}", f"{early.mean():.3f}", _seen(late.tolist()))


def picture(_: int, path: str) -> None:
    """One run of a skill that is lost, as `result.plot()` draws it."""
    rng = np.random.default_rng(5)
    rate = np.repeat([0.6, 0.6, 0.6, 0.1], BLOCKS // 4)
    events, alarms = iid(rng)
    alarms = alarms | (events & (rng.random(N) < np.repeat(rate, STEPS)))
    result = watched((events, alarms), lost_below=0.5)
    result.plot()[0].figure.savefig(path, bbox_inches="tight")


def delays(runs: int, path: str) -> None:
    """The share of runs in which skill, or its loss, has been seen by each block."""
    from matplotlib.figure import Figure

    panels = Figure(figsize=(9, 3)).subplots(1, 3)
    styles = {
        "auto": ("watch, auto", "C0", "-"), "watch": ("watch", "C0", "-"), "circular-shift": ("watch, rotations", "C0", ":"),
        "daily": ("daily p, Bonferroni", "C1", "-"), "weekly": ("each week alone", "0.6", "-"),
    }  # fmt: skip
    for panel, skill in zip(panels, (0.1, 0.3, None), strict=False):
        if skill is None:
            found = [{by: one[2] for by, one in run.items()} for run in ever(runs, lambda rng: one_loss(rng, False))]
        else:
            found = ever(runs, lambda rng, skill=skill: seen_by(skill, rng))
        for by, (told, colour, line) in styles.items():
            if by in found[0]:
                at = np.sort([min(one[by], 10.0 * BLOCKS) for one in found])
                share = np.arange(1, runs + 1) / runs
                panel.step(at, share, where="post", label=told, color=colour, linestyle=line)
        panel.set(xscale="log", xlim=(1, BLOCKS), ylim=(0, 1), xlabel="blocks")
        panel.set_title("loss of half of the hits" if skill is None else f"skill {skill:g}", fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share of runs in which it is seen")
    lines = {line.get_label(): line for line in panels[0].lines}
    panels[0].figure.legend(
        lines.values(), lines, loc="lower center", ncols=4, frameon=False, bbox_to_anchor=(0.5, -0.2)
    )
    panels[0].figure.savefig(path, bbox_inches="tight")


TABLES = {"level": level, "auto": auto, "muting": muting, "delay": delay, "lost": lost}
PICTURES = {"picture": picture, "delays": delays}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=[*TABLES, *PICTURES])
    parser.add_argument("runs", type=int, nargs="?", default=100)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=33)
    parser.add_argument("--only", help="rows of auto whose name holds this")
    parser.add_argument("-o", "--output", default="watching.png")
    OPTIONS = parser.parse_args()
    check()
    if OPTIONS.only:
        AUTO = {name: how for name, how in AUTO.items() if OPTIONS.only in name}
    if OPTIONS.what in TABLES:
        TABLES[OPTIONS.what](OPTIONS.runs)
    else:
        PICTURES[OPTIONS.what](OPTIONS.runs, OPTIONS.output)
