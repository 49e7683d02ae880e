"""Make the pictures on the pages of metrics: `python docs/images/metrics.py [name ...]`. Same versions, same bytes.

Each explains its metrics on a small example; every value in it is computed by nofluke.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import nofluke as nf
from nofluke.metrics import VUS
from nofluke.plot.style import PALETTE, SERIES

INK, GOOD, BAD, GREY = PALETTE["ink"], PALETTE["good"], PALETTE["bad"], "#BBBBBB"
LABEL = "#E9DFC6"  # labelled runs
FIRST, SECOND, THIRD, FOURTH = (colour for colour, _ in SERIES[:4])


def flags(n: int, *runs: tuple[int, int]) -> np.ndarray:
    """Labels or alarms on runs from a first step up to, not including, a last one."""
    found = np.zeros(n, dtype=bool)
    for start, stop in runs:
        found[start:stop] = True
    return found


def shade(ax: Any, labels: np.ndarray, label: str = "") -> None:
    """Labelled runs, behind everything."""
    for i, (start, stop) in enumerate(ends(labels)):
        ax.axvspan(start, stop, color=LABEL, zorder=0, label=label if i == 0 else None)


def ends(of: np.ndarray) -> list[tuple[int, int]]:
    """First steps of runs, and the steps behind their last."""
    edges = np.diff(np.concatenate([[0], of.astype(int), [0]]))
    return list(zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True))


def plain(*axes: Any) -> None:
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)


def panels(*widths: float, height: float = 3.0) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]


def cells(ax: Any, y: float, which: np.ndarray, colour: str, **style: Any) -> None:
    """Steps as boxes in a row."""
    for start, stop in ends(which):
        ax.broken_barh([(start, stop - start)], (y - 0.32, 0.64), facecolor=colour, **style)


def example() -> tuple[np.ndarray, np.ndarray]:
    """Two labelled runs of twelve steps in 80, and a score that sees a little of the first."""
    labels = flags(80, (18, 30), (52, 64))
    noise = np.random.default_rng(8).normal(size=84)
    score = np.convolve(noise, [0.3, 0.5, 0.7, 0.5, 0.3], "valid")
    score[20:24] += 1.6
    return labels, score


def f_at(labels: np.ndarray, score: np.ndarray, threshold: float, adjusted: bool) -> float:
    alarms = score >= threshold
    if adjusted:
        for start, stop in ends(labels):
            alarms[start:stop] |= alarms[start:stop].any()
    return 2 * float((alarms & labels).sum()) / float(alarms.sum() + labels.sum())


def ranking() -> Any:
    labels, score = example()
    figure, (left, right) = panels(1.5, 1)
    shade(left, labels, "labelled")
    left.plot(np.arange(80) + 0.5, score, color=INK, linewidth=1.2, label="score")
    levels = np.unique(score)
    for metric, colour, dashes, adjusted in (("best-f1", FIRST, "--", False), ("best-pa-f1", SECOND, "-.", True)):
        found = np.array([f_at(labels, score, level, adjusted) for level in levels])
        value, at = nf.metrics.get(metric)(labels, score), levels[found.argmax()]
        assert abs(value - found.max()) < 1e-12
        left.axhline(at, color=colour, linestyle=dashes, linewidth=1.4)
        right.plot(levels, found, color=colour, linestyle=dashes, label=f"{metric} {value:.2f}")
        right.plot(at, value, "o", color=colour)
    left.set(xlabel="step", ylabel="score", xlim=(0, 80), title="the threshold that is best for each")
    right.set(xlabel="threshold", ylabel="F1", ylim=(0, 1), title="F1 at every threshold")
    left.legend(loc="upper right", fontsize="small", framealpha=1)
    right.legend(loc="upper left", fontsize="small")
    plain(left, right)
    return figure


def vus() -> Any:
    figure, (left, right) = panels(1.5, 1)
    labels, steps = flags(60, (16, 24), (36, 40)), np.arange(60)
    runs = ends(labels)
    distance = np.min([np.maximum(np.maximum(start - steps, steps - stop + 1), 0) for start, stop in runs], axis=0)
    shade(left, labels, "labelled")
    for (colour, dashes), width in zip(SERIES[1:4], (20, 10, 4), strict=True):
        weights = np.zeros(60)
        for start, stop in runs:
            away = np.maximum(np.maximum(start - steps, steps - stop + 1), 0)
            weights += np.where((away > 0) & (away <= width // 2), np.sqrt(np.maximum(1 - away / width, 0)), 0)
        weights = np.where(distance == 0, 1, np.minimum(weights, 1))
        left.step(
            np.append(steps, 60),
            np.append(weights, 0),
            where="post",
            color=colour,
            linestyle=dashes,
            label=f"ℓ = {width}",
        )
    left.set(
        xlabel="step",
        ylabel="weight",
        xlim=(0, 60),
        ylim=(0, 1.05),
        title="weights of steps for three widths of the buffer",
    )
    left.legend(loc="upper right", fontsize="small", framealpha=1)
    rng = np.random.default_rng(1)
    truth = flags(10_000, *((1_000 * i + 400, 1_000 * i + 450) for i in range(10)))
    widths = np.arange(0, 401, 20)
    noise = rng.random(10_000)
    for name, score, colour, dashes in (
        ("knows a little", noise + 0.5 * truth, FIRST, "-"),
        ("random scores", noise, SECOND, "--"),
    ):
        values = [VUS(curve="roc", window=int(width))(truth, score) for width in widths]
        right.plot(widths, values, color=colour, linestyle=dashes, label=name)
    right.axhline(0.5, color=GREY, linewidth=1)
    right.set(xlabel="window", ylabel="VUS-ROC", ylim=(0.45, 1), title="10 runs of 50 in 10,000 steps")
    right.legend(loc="lower right", fontsize="small")
    plain(left, right)
    return figure


def adjusted() -> Any:
    n = 60
    labels, alarms = flags(n, (8, 20), (30, 40), (48, 54)), flags(n, (3, 4), (17, 18), (32, 38), (44, 46), (48, 49))
    alarms[12] = True
    rows = (
        ("as they are", "f1"),
        ("one alarm finds a run", "pa-f1"),
        ("alarms on half of a run", "pak-f1:k=50"),
        ("an alarm 3 steps late at most", "delay-pa-f1:delay=3"),
        ("runs count once", "event-f1"),
    )
    figure, (ax,) = panels(1, height=3.4)
    ax.set(xlim=(0, n + 15), ylim=(-len(rows) - 0.6, 0.9))
    for start, stop in ends(labels):
        ax.axvspan(start, stop, ymin=0, color=LABEL, zorder=0)
        ax.text((start + stop) / 2, 0.45, "labelled", ha="center", fontsize="small", color=INK)
    cells(ax, 0, alarms, INK)
    ax.text(n + 1, 0, "alarms", va="center", fontsize="small")
    for i, (_, metric) in enumerate(rows):
        y = -i - 1.0
        hit, missed, wrong = alarms & labels, labels & ~alarms, alarms & ~labels
        for start, stop in ends(labels):
            run, held = slice(start, stop), alarms[start:stop]
            found = {
                "f1": None,
                "pa-f1": held.any(),
                "pak-f1:k=50": held.mean() >= 0.5 or None,
                "delay-pa-f1:delay=3": held[:4].any(),
                "event-f1": held.any(),
            }[metric]
            if found is not None:
                hit[run], missed[run] = found, not found
        for which, colour in ((hit, GOOD), (missed, "white"), (wrong, BAD)):
            cells(ax, y, which, colour, edgecolor=GREY if colour == "white" else colour, linewidth=0.8)
        ax.text(n + 1, y, f"{metric}  {nf.metrics.get(metric)(labels, alarms):.2f}", va="center", fontsize="small")
    ax.set_yticks([-i - 1.0 for i in range(len(rows))], [name for name, _ in rows], fontsize="small")
    for colour, name in ((GOOD, "found"), ("white", "missed"), (BAD, "false")):
        ax.broken_barh([], (0, 0), facecolor=colour, edgecolor=GREY, label=name)
    ax.legend(loc="lower right", fontsize="small", ncols=3, bbox_to_anchor=(1, 1.0), frameon=False)
    ax.set_xlabel("step")
    ax.set_xticks(range(0, n + 1, 10))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


def ranges() -> Any:
    n = 40
    labels, alarms = flags(n, (6, 16), (24, 34)), flags(n, (2, 10), (13, 15), (20, 22), (30, 34))
    figure, (left, right) = panels(1.9, 1, height=2.9)
    shade(left, labels)
    cells(left, 1, labels, FOURTH)
    cells(left, 0, alarms, INK)
    for start, stop in ends(labels):
        share = alarms[start:stop].sum()
        left.text((start + stop) / 2, 1.55, f"{share} of {stop - start} steps", ha="center", fontsize="small")
    for start, stop in ends(alarms):
        share = labels[start:stop].sum()
        left.text((start + stop) / 2, -0.72, f"{share} of {stop - start}", ha="center", fontsize="small")
    told = [
        f"{name[6:]} {nf.metrics.get(name)(labels, alarms):.2f}"
        for name in ("range-precision", "range-recall", "range-f1")
    ]
    left.set(xlim=(0, n), ylim=(-1.3, 2.1), xlabel="step", title="range-based " + ", ".join(told))
    left.set_yticks([1, 0], ["labels", "alarms"])
    left.tick_params(axis="y", length=0)
    places = np.arange(1, 11)
    for (colour, dashes), name, weights in zip(
        SERIES,
        ("flat", "front", "middle", "back"),
        (np.ones(10), 11 - places, np.minimum(places, 11 - places), places),
        strict=False,
    ):
        right.plot(places, weights / weights.sum(), color=colour, linestyle=dashes, marker=".", label=name)
    right.set(xlabel="step of a run of ten", ylabel="weight", title="bias", ylim=(0, 0.24))
    right.legend(fontsize="small", ncols=2, loc="upper center")
    plain(left, right)
    return figure


def affiliation() -> Any:
    n = 100
    labels, runs = flags(n, (20, 30), (70, 76)), [(20, 30), (70, 76)]
    figure, (ax,) = panels(1, height=3.0)
    shade(ax, labels, "labelled")
    ax.axvline(50, color=INK, linestyle=":", linewidth=1.2, label="border of the zones")
    precision, recall = np.empty((2, n))
    for t in range(n):
        alarm = flags(n, (t, t + 1))
        precision[t] = nf.metrics.AffiliationPrecision()(labels, alarm)
        recall[t] = nf.metrics.AffiliationRecall()(labels, alarm) * len(runs)  # of its own zone; the other one has 0
    middle = np.arange(n) + 0.5
    ax.plot(middle, precision, color=FIRST, label="precision of a zone")
    ax.plot(middle, recall, color=SECOND, linestyle="--", label="recall of a zone")
    ax.axhline(0.5, color=GREY, linewidth=1)
    ax.set(xlabel="step of the only alarm in the zone", ylabel="value", xlim=(0, n), ylim=(0, 1.05))
    ax.legend(fontsize="small", loc="upper right", framealpha=1, ncols=2, bbox_to_anchor=(1, 1.22))
    plain(ax)
    return figure


def nab() -> Any:
    n = 120
    labels = flags(n, (30, 50))
    figure, (ax,) = panels(1, height=3.0)
    shade(ax, labels, "window")
    for (colour, dashes), profile in zip(SERIES[1:4], ("standard", "low-fp", "low-fn"), strict=True):
        metric = nf.metrics.NAB(profile=profile)
        worth = [metric(labels, flags(n, (t, t + 1))) for t in range(n)]
        ax.plot(np.arange(n) + 0.5, worth, color=colour, linestyle=dashes, label=profile)
    ax.axhline(0, color=GREY, linewidth=1)
    ax.set(xlabel="step of the only alarm", ylabel="score", xlim=(0, n))
    ax.legend(fontsize="small", loc="upper right")
    plain(ax)
    return figure


def tolerant() -> Any:
    n = 60
    events, alarms = flags(n, (10, 11), (27, 28), (45, 46)), flags(n, (8, 9), (20, 21), (29, 31), (38, 39))
    tolerance = 3
    figure, (ax,) = panels(1, height=2.3)
    at = np.flatnonzero(events)
    for t in at:
        ax.axvspan(t - tolerance, t + tolerance + 1, color=LABEL, zorder=0)
    near = np.array([bool((abs(at - t) <= tolerance).any()) for t in range(n)])
    found = np.array([bool(alarms[max(t - tolerance, 0) : t + tolerance + 1].any()) for t in range(n)])
    for y, which, good in ((1, events, found), (0, alarms, near)):
        cells(ax, y, which & good, GOOD)
        cells(ax, y, which & ~good, BAD if y == 0 else "white", edgecolor=BAD if y == 0 else GREY)
    told = [
        f"{name} {nf.metrics.get(f'{name}:tolerance=3')(events, alarms):.2f}" for name in ("precision", "recall", "f1")
    ]
    ax.set(xlim=(0, n), ylim=(-0.6, 1.6), xlabel="step", title="tolerance 3: " + ", ".join(told))
    ax.set_yticks([1, 0], ["events", "alarms"])
    ax.tick_params(axis="y", length=0)
    plain(ax)
    return figure


def significance() -> Any:
    from matplotlib.figure import Figure

    quakes = nf.datasets.simulate_quakes(rng=0, n_events=60)
    labels = np.convolve(quakes.truth, np.ones(5))[: len(quakes.truth)] > 0
    scores = nf.detectors.energy_transient(quakes.counts)
    found = nf.significance(["best-pa-f1", "auc-roc"], labels, scores)
    figure = Figure(figsize=(9, 2.9), layout="constrained", facecolor="white")
    nf.plot.significances(found, figure.subplots(1, 2))
    return figure


PICTURES = {made.__name__: made for made in (significance, ranking, vus, adjusted, ranges, affiliation, nab, tolerant)}


def main(names: list[str]) -> None:
    from matplotlib import rc_context, rcdefaults

    for name in names or PICTURES:
        with rc_context():
            rcdefaults()
            from matplotlib import rcParams

            rcParams.update({"svg.hashsalt": "nofluke", "font.size": 10, "axes.titlesize": "medium"})
            path = Path(__file__).with_name(f"metric-{name}.svg")
            PICTURES[name]().savefig(path, metadata={"Date": None, "Creator": "nofluke"})


if __name__ == "__main__":
    main(sys.argv[1:])
