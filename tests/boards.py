"""Simulated studies, for what is shown of them: tables as the engines make them, without an engine."""

import numpy as np

from nofluke.studies.leaderboard import About, Leaderboard, PairMatrix, Pairs
from nofluke.studies.pooled_row import Pooled, PooledMeasure, PooledMetric
from nofluke.studies.store import cells_with, count_reasons

NASTY = "<script>alert(1)</script>"
NONE_FAILED = {"series": [], "group": [], "detector": [], "reason": []}
NAMES = ("bayesChangePt", "contextOSE", "earthgecko", "expose", "htmjava", "knncad", "numenta", "numentaTM", "null")


def detector_names(n):
    """Names as people have them, one of which is an attack, and a long one."""
    first = (*NAMES, "windowedGaussian_with_a_rather_long_name", NASTY)
    return tuple((*first, *(f"det_{i:02d}" for i in range(n)))[:n])


def tables(n_detectors, n_series, n_groups, rng=0, metrics=("auc-roc",)):
    """Tables of cells and of those that failed: one series fails whole, some cells one by one."""
    rng = np.random.default_rng(rng)
    names, skill = detector_names(n_detectors), np.linspace(0.9, 0.0, n_detectors)
    s, d = np.divmod(np.arange(n_detectors * n_series), n_detectors)
    n, events, alarms = rng.integers(1_000, 5_000, n_series)[s], rng.integers(1, 9, n_series)[s], np.full(len(s), 12)
    share = np.clip(0.25 + 0.7 * skill[d] * rng.random(len(s)), 0, 1)
    hits, found = rng.binomial(alarms, share), rng.binomial(events, share)
    precision, recall = hits / alarms, found / events
    with np.errstate(invalid="ignore"):
        f1 = np.where(hits + found == 0, 0.0, 2 * precision * recall / (precision + recall))
    chance = rng.uniform(0.1, 0.4, n_series)[s]
    p = {
        "precision": np.exp(-12 * np.maximum(precision - chance, 0)),
        "recall": np.exp(-6 * np.maximum(recall - chance, 0)),
    }
    small = [p["precision"] <= 0.05, p["recall"] <= 0.05]
    verdict = np.select([small[0] & small[1], small[0] | small[1], events < 2], ["yes", "partly", "cannot tell"], "no")
    series = np.array([f"{i:03d}_sensor.csv" for i in range(n_series)])
    groups = np.array([f"group {i * n_groups // n_series}" for i in range(n_series)])
    cells = {
        "series": series[s],
        "group": groups[s],
        "detector": np.array(names)[d],
        "n": n,
        "n_events": events,
        "n_predictions": alarms,
        "threshold": rng.random(len(s)),
        "tolerance": np.full(len(s), "12 steps"),
        "count_events": np.full(len(s), "steps"),
        "f1": f1,
        "f1_at_chance": chance,
        "near_events": n // 10,
        "near_predictions": n // 9,
        "false_alarms": alarms - hits,
        "delay": np.where(found > 0, 2.5, np.nan),
        "null": np.full(len(s), "permutation"),
        "holds": np.full(len(s), True),
        "doubts": np.zeros(len(s), dtype=np.int64),
        "verdict": verdict,
        "reason": [
            f"The verdict is {word}, as {name} has it." for word, name in zip(verdict, np.array(names)[d], strict=True)
        ],
        "n_resamples": np.zeros(len(s), dtype=int),
        "seed": np.full(len(s), -1),
        "notes": [["There are few events."] if m < 3 else [] for m in events],
    }
    for measure, value, count, of in (("precision", precision, hits, alarms), ("recall", recall, found, events)):
        cells |= {
            measure: value,
            f"{measure}_hits": count,
            f"{measure}_expected": chance * of,
            f"{measure}_std": np.sqrt(of * chance * (1 - chance)),
            f"{measure}_pvalue": p[measure],
            f"{measure}_log10_pvalue": np.log10(p[measure]),
            f"{measure}_method": np.full(len(s), "exact (hypergeometric)"),
        }
    for metric in metrics:
        cells |= {metric: share, f"{metric}_expected": np.full(len(s), 0.5), f"{metric}_std": np.full(len(s), 0.05)}
        cells |= {f"{metric}_pvalue": p["recall"], f"{metric}_smallest": p["recall"] / 9, f"{metric}_verdict": verdict}
    cells |= {"metrics_null": cells["null"], "metrics_holds": cells["holds"], "metrics_doubts": cells["doubts"]}
    cells = {name: cells[name] for name in cells_with(metrics)}
    gone = (s == n_series - 1) | (rng.random(len(s)) < 0.02)
    alone = gone & (s < n_series - 1)
    failed = {
        "series": [*series[s[alone]], series[-1]],
        "group": [*groups[s[alone]], groups[-1]],
        "detector": [*np.array(names)[d[alone]], ""],
        "reason": ["scores has 3 NaN at position(s) 4, 7, 9: drop them."] * alone.sum() + [f"{NASTY}: no such file."],
    }
    kept = np.flatnonzero(~gone)
    return {name: _taken(column, kept) for name, column in cells.items()}, failed


def _taken(column, rows):
    return [column[i] for i in rows] if isinstance(column, list) else column[rows]


def metric_of(name, measure, n_told, **more):
    """A metric with the numbers of a measure."""
    numbers = ("value", "low", "high", "expected", "std", "pvalue", "corrected", "method", "told")
    given = {one: getattr(measure, one) for one in numbers} | {"told": measure.value, "verdict": "no", **more}
    return PooledMetric(name=name, n_series=n_told, n_told=n_told, reason=f"{name} is as it is.", **given)


def study(
    n_detectors=16, n_series=28, n_groups=7, rng=0, title="Simulated", compared=True, metrics=(), rank_by="f1", **kinds
):
    """A leaderboard with its cells and the failed ones; ``kinds`` has what else is known of a metric."""
    cells, failed = tables(n_detectors, n_series, n_groups, rng, metrics or ("auc-roc",))
    names = detector_names(n_detectors)
    detector = np.asarray(cells["detector"])
    rows = []
    for i, name in enumerate(names):
        of = detector == name
        f1, chance = float(np.nanmean(cells["f1"][of])), 0.25 + 0.002 * i
        p = float(np.exp(-60 * max(f1 - chance, 0)))
        measure = PooledMeasure(
            value=f1,
            low=max(f1 - 0.06, 0),
            high=f1 + 0.05,
            expected=chance,
            std=0.02,
            pvalue=p,
            corrected=min(n_detectors * p, 1.0),
            method="simulated (9,999)",
        )
        rows.append(
            Pooled(
                detector=name,
                n_series=int(of.sum()),
                n_failed=n_series - int(of.sum()),
                n_told=int(of.sum()),
                precision=measure,
                recall=measure,
                f1=measure,
                verdict="yes" if n_detectors * p <= 0.05 else "no",
                reason="Precision and recall are both better than chance.",
                share_yes=float((np.asarray(cells["verdict"])[of] == "yes").mean()),
                skill_in=max(n_groups - i, 0),
                n_groups=n_groups,
                best=i < 3,
                notes=("Every alarm is within one chain.",) if i == 4 else (),
                metrics=tuple(metric_of(one, measure, int(of.sum()), **kinds.get(one, {})) for one in metrics),
            )
        )
    about = About(
        title=title,
        null="auto",
        tolerance="1% of the length",
        threshold="at most 1% of the steps (budget)",
        n_series=n_series,
        n_groups=n_groups,
        missing=count_reasons(failed, names),
    )
    pairs = all_pairs(rows, metrics) if compared else None
    return Leaderboard(rows=tuple(rows), pairs=pairs, about=about, rank_by=rank_by), cells, failed


def all_pairs(rows, metrics=()):
    """Differences as they are, told apart where they are large."""
    value = np.array([row.f1.value for row in rows])
    gap = value[:, None] - value
    np.fill_diagonal(gap, np.nan)
    p = np.minimum(np.exp(-25 * np.abs(gap)), 1)
    matrix = PairMatrix(difference=gap, low=gap - 0.08, high=gap + 0.08, pvalue=p, corrected=np.minimum(20 * p, 1))
    return Pairs(
        detectors=tuple(row.detector for row in rows),
        measures=dict.fromkeys(("f1", "precision", "recall", *metrics), matrix),
    )
