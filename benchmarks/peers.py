"""Other packages' metrics, by the names that nofluke has for them; none of them is required.

``all_peers()`` imports those that are installed. Three of them have no package on PyPI: install them from their
repositories (affiliation from github.com/ahstat/affiliation-metrics-py, eTaPR from the wheel in
github.com/saurf4ng/eTaPR; of github.com/numenta/NAB the folder that holds ``nab`` in PYTHONPATH is enough). Many ask
for more than their metrics need: ``pip install --no-deps``. TimeEval needs numpy below 2, aeon numpy 2.

Run as ``python benchmarks/peers.py tests/peer_values.json [package ...]`` it records the values of all of them, or of
those, on a fixed set of small series, for tests/test_metric_peers.py; what is recorded of others stays as it is.
"""

import contextlib
import importlib.metadata
import io
import json
import sys
import warnings
from collections import namedtuple
from itertools import product
from pathlib import Path

import numpy as np

Peer = namedtuple("Peer", "package version metric function")  # function(labels, scores, alarms) -> float

BIASES, CARDINALITIES = ("flat", "front", "middle", "back"), ("one", "reciprocal")


def on_scores(function, **settings):
    """A function of labels and scores."""
    return lambda labels, scores, _: function(labels, scores, **settings)


def on_alarms(function, **settings):
    """A function of labels and alarms."""
    return lambda labels, _, alarms: function(labels, alarms, **settings)


def range_names(metric, alpha=True):
    """Names of a range metric with a few of its settings, and the settings."""
    for bias, cardinality in product(BIASES, CARDINALITIES):
        for existence in (0.0, 0.5) if alpha and bias == "flat" else (0.0,):
            settings = {"alpha": existence, "bias": bias, "cardinality": cardinality}
            defaults = {"alpha": 0.0, "bias": "flat", "cardinality": "one"}
            shown = ",".join(f"{key}={value}" for key, value in settings.items() if value != defaults[key])
            yield (f"{metric}:{shown}" if shown else metric), settings


def scikit_learn():
    from sklearn import metrics

    def best(labels, scores):
        precision, recall, _ = metrics.precision_recall_curve(labels, scores)
        return np.max(2 * precision * recall / np.maximum(precision + recall, 1e-300))

    return {
        "auc-roc": on_scores(metrics.roc_auc_score),
        "average-precision": on_scores(metrics.average_precision_score),
        "best-f1": on_scores(best),
        "f1": on_alarms(metrics.f1_score),
        "f1:beta=2.0": on_alarms(metrics.fbeta_score, beta=2),
        "precision": on_alarms(metrics.precision_score),
        "recall": on_alarms(metrics.recall_score),
    }


def aeon():
    from aeon.benchmarking.metrics import anomaly_detection as aeon

    found = {
        "auc-roc": on_scores(aeon.roc_auc_score),
        "average-precision": on_scores(aeon.pr_auc_score),
    }
    for window in (4, 20, 100):
        for curve, function in (("pr", aeon.range_pr_vus_score), ("roc", aeon.range_roc_vus_score)):
            found[vus_name(curve, window)] = on_scores(function, max_buffer_size=window)
    for name, s in range_names("range-precision", alpha=False):
        found[name] = on_alarms(aeon.range_precision, bias=s["bias"], cardinality=s["cardinality"])
    for name, s in range_names("range-recall"):
        found[name] = on_alarms(aeon.range_recall, **s)
    for name, s in range_names("range-f1"):
        bias = {"p_bias": s["bias"], "r_bias": s["bias"]}
        found[name] = on_alarms(aeon.range_f_score, r_alpha=s["alpha"], cardinality=s["cardinality"], **bias)
    found["range-f1:beta=2.0"] = on_alarms(aeon.range_f_score, beta=2, r_alpha=0, cardinality="one")
    return found


def vus_name(curve, window):
    return f"vus-{curve}" if window == 100 else f"vus-{curve}:window={window}"


def prts():
    from prts import ts_fscore, ts_precision, ts_recall

    found = {}
    for name, s in range_names("range-precision", alpha=False):
        found[name] = on_alarms(ts_precision, bias=s["bias"], cardinality=s["cardinality"])
    for name, s in range_names("range-recall"):
        found[name] = on_alarms(ts_recall, **s)
    for name, s in range_names("range-f1"):
        bias = {"p_bias": s["bias"], "r_bias": s["bias"]}
        found[name] = on_alarms(ts_fscore, r_alpha=s["alpha"], cardinality=s["cardinality"], **bias)
    found["range-f1:beta=2.0"] = on_alarms(ts_fscore, beta=2)
    return found


def timeeval():
    if not hasattr(np, "float_"):
        raise ImportError("it runs with numpy below 2 only")
    from timeeval import metrics
    from timeeval.metrics.thresholding import NoThresholding

    found = {
        "auc-roc": on_scores(metrics.RocAUC().score),
        "average-precision": on_scores(metrics.PrAUC().score),
    }
    for window in (4, 20, 100):
        for curve, kind in (("pr", metrics.RangePrVUS), ("roc", metrics.RangeRocVUS)):
            authors = kind(max_buffer_size=window, compatibility_mode=True)
            found[vus_name(curve, window)] = on_scores(kind(max_buffer_size=window).score)
            found[vus_name(curve, window) + " (compatibility_mode)"] = on_scores(authors.score)
    for name, s in range_names("range-recall"):
        if s["bias"] == "flat":
            found[name] = on_alarms(metrics.RangeRecall(NoThresholding(), **s).score)
    return found


def tsb_ad():
    from TSB_AD.evaluation.basic_metrics import basic_metricor, generate_curve

    grader = basic_metricor()

    def volume(labels, scores, at, window):
        return generate_curve(labels, scores, window)[at]

    def predicted(method):
        return lambda labels, scores, alarms: method(labels, scores, preds=alarms)

    found = {
        "auc-roc": on_scores(grader.metric_ROC),
        "average-precision": on_scores(grader.metric_PR),
        "best-f1": on_scores(grader.metric_PointF1),
        "best-pa-f1": on_scores(grader.metric_PointF1PA),
        "f1": predicted(grader.metric_PointF1),
        "pa-f1": predicted(grader.metric_PointF1PA),
        "composite-f1": predicted(grader.metric_EventF1PA),
        "event-f1": predicted(grader.metric_EventF1PA),
        "range-f1:alpha=0.2,cardinality=reciprocal": predicted(grader.metric_RF1),
        "affiliation-f1": predicted(grader.metric_Affiliation),
    }
    for window in (0, 4, 20, 100):
        found[vus_name("roc", window)] = on_scores(volume, at=6, window=window)
        found[vus_name("pr", window)] = on_scores(volume, at=7, window=window)
    return found


def vus():
    from vus.utils.metrics import metricor

    def volume(labels, scores, at, window, form):
        return getattr(metricor(), form)(labels, scores, windowSize=window, thre=250)[at]

    found = {}
    for window in (0, 4, 20, 100):
        for at, curve in ((4, "roc"), (5, "pr")):
            for form in ("RangeAUC_volume_opt", "RangeAUC_volume_opt_mem", "RangeAUC_volume_opt_time"):
                name = vus_name(curve, window) + ("" if form.endswith("opt") else f" ({form.rpartition('_')[2]})")
                if window == 20 or form.endswith("opt"):
                    found[name] = on_scores(volume, at=at, window=window, form=form)
    return found


def dtaianomaly():
    from dtaianomaly import evaluation as of

    def scaled(labels, scores, metric):  # its thresholds and its checks are those of scores between 0 and 1
        return metric.compute(labels, (scores - scores.min()) / np.ptp(scores))

    found = {
        "auc-roc": on_scores(scaled, metric=of.AreaUnderROC()),
        "average-precision": on_scores(scaled, metric=of.AreaUnderPR()),
        "best-f1": on_scores(scaled, metric=of.BestThresholdMetric(of.FBeta(1.0))),
        "best-pa-f1": on_scores(scaled, metric=of.BestThresholdMetric(of.PointAdjustedFBeta(1.0))),
        "f1": on_alarms(of.FBeta(1.0).compute),
        "precision": on_alarms(of.Precision().compute),
        "recall": on_alarms(of.Recall().compute),
        "pa-f1": on_alarms(of.PointAdjustedFBeta(1.0).compute),
        "pa-f1:beta=2.0": on_alarms(of.PointAdjustedFBeta(2.0).compute),
        "event-far-f1": on_alarms(of.EventWiseFBeta(1.0).compute),
        "event-far-f1:beta=2.0": on_alarms(of.EventWiseFBeta(2.0).compute),
        "affiliation-precision": on_alarms(of.AffiliationPrecision().compute),
        "affiliation-recall": on_alarms(of.AffiliationRecall().compute),
        "affiliation-f1": on_alarms(of.AffiliationFBeta(1.0).compute),
    }
    for window in (4, 20, 100):
        for curve, kind in (("pr", of.VolumeUnderPR), ("roc", of.VolumeUnderROC)):
            authors = kind(max_buffer_size=window, compatibility_mode=True)
            found[vus_name(curve, window)] = on_scores(scaled, metric=kind(max_buffer_size=window))
            found[vus_name(curve, window) + " (compatibility_mode)"] = on_scores(scaled, metric=authors)
    for name, s in range_names("range-precision", alpha=False):
        found[name] = on_alarms(of.RangeBasedPrecision(delta=s["bias"], gamma=s["cardinality"]).compute)
    for name, s in range_names("range-recall"):
        found[name] = on_alarms(of.RangeBasedRecall(s["alpha"], s["bias"], s["cardinality"]).compute)
    for name, s in range_names("range-f1"):
        found[name] = on_alarms(of.RangeBasedFBeta(1.0, s["alpha"], s["bias"], s["cardinality"]).compute)
    found["range-f1:beta=2.0"] = on_alarms(of.RangeBasedFBeta(2.0, 0.0, "flat", "one").compute)
    return found


def tsadmetrics():
    from tsadmetrics.metrics.Registry import Registry

    def of(name, **settings):
        return Registry.get_metric(name, **settings).compute

    found = {
        "auc-roc": on_scores(of("pw_auc_roc")),
        "average-precision": on_scores(of("pw_auc_pr")),
        "f1": on_alarms(of("pwf")),
        "pa-f1": on_alarms(of("paf")),
        "pa-f1:beta=2.0": on_alarms(of("paf", beta=2.0)),
        "composite-f1": on_alarms(of("cf")),
        "composite-f1:beta=2.0": on_alarms(of("cf", beta=2.0)),
        "event-f1": on_alarms(of("swf")),
        "event-f1:beta=2.0": on_alarms(of("swf", beta=2.0)),
        "etapr-f1": on_alarms(of("etaf", theta_p=0.5, theta_r=0.1)),
        "etapr-f1:theta_p=0.3,theta_r=0.5": on_alarms(of("etaf", theta_p=0.3, theta_r=0.5)),
        "affiliation-f1": on_alarms(of("aff_f")),
        "affiliation-f1:beta=2.0": on_alarms(of("aff_f", beta=2.0)),
        "nab": on_alarms(of("nab_score")),
        "f1:tolerance=2": on_alarms(of("ttf", t=2)),
        "f1:tolerance=5": on_alarms(of("ttf", t=5)),
        "range-f1:beta=2.0": on_alarms(of("rbf", beta=2.0, p_alpha=0.0, r_alpha=0.0, cardinality_mode="one")),
    }
    for k in (0, 20, 50, 100):
        found["pak-f1" if k == 20 else f"pak-f1:k={k}"] = on_alarms(of("pakf", k=k / 100))
    for delay in (0, 2, 10):
        found["delay-pa-f1" if delay == 10 else f"delay-pa-f1:delay={delay}"] = on_alarms(of("dtpaf", k=delay + 1))
    found["delay-pa-f1:delay=2 (k=2)"] = on_alarms(of("dtpaf", k=2))
    for window in (4, 20, 100):
        found[vus_name("pr", window)] = on_scores(of("vus_pr", window=window))
        found[vus_name("roc", window)] = on_scores(of("vus_roc", window=window))
    for name, s in range_names("range-f1"):
        bias = {"p_bias": s["bias"], "r_bias": s["bias"], "cardinality_mode": s["cardinality"]}
        found[name] = on_alarms(of("rbf", p_alpha=0.0, r_alpha=s["alpha"], **bias))
    return found


def tadpak():
    from tadpak.evaluate import evaluate
    from tadpak.pak import pak

    def best(labels, scores, adjusted):
        with contextlib.redirect_stderr(io.StringIO()):  # its progress bar
            found = evaluate(scores, labels, pa=adjusted, interval=1, k=0)
        return found["best_f1_w_pa" if adjusted else "best_f1_wo_pa"]

    def adjusted(labels, alarms, k):
        given = np.asarray(pak(alarms.astype(float), labels, 0.5, k))
        hits, missed = np.sum(given & (labels == 1)), np.sum(given != (labels == 1))
        return 2 * hits / (2 * hits + missed)

    found = {
        "best-f1": on_scores(best, adjusted=False),
        "best-pa-f1": on_scores(best, adjusted=True),
    }
    for k in (0, 20, 50, 100):
        found["pak-f1" if k == 20 else f"pak-f1:k={k}"] = on_alarms(adjusted, k=k)
    return found


def affiliation():
    from affiliation.generics import convert_vector_to_events
    from affiliation.metrics import pr_from_events

    def both(labels, alarms, measure):
        events, found = convert_vector_to_events(labels), convert_vector_to_events(alarms)
        return pr_from_events(found, events, (0, len(labels)))[measure]

    return {
        "affiliation-precision": on_alarms(both, measure="precision"),
        "affiliation-recall": on_alarms(both, measure="recall"),
    }


def telemeval():
    import pandas as pd
    from telemeval import evaluate

    def of(labels, alarms, metric, what):
        times = pd.date_range("2024-01-01", periods=len(labels), freq="s", tz="UTC")
        edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]])))
        rows = [
            {"ID": f"e{i}", "Channel": "c", "StartTime": times[start], "EndTime": times[stop - 1]}
            for i, (start, stop) in enumerate(zip(edges[::2], edges[1::2], strict=True))
        ]
        found = pd.DataFrame({"Timestamp": times, "Score": alarms})
        return evaluate(pd.DataFrame(rows), {"c": found}, metrics=[metric], beta=1.0).metrics[metric][what]

    return {
        "affiliation-precision": on_alarms(of, metric="affiliation", what="affiliation_precision"),
        "affiliation-recall": on_alarms(of, metric="affiliation", what="affiliation_recall"),
        "event-f1": on_alarms(of, metric="event_wise", what="event_wise_fbeta"),
    }


def etapr():
    from eTaPR_pkg.DataManage.Range import Range
    from eTaPR_pkg.etapr import evaluate_w_ranges

    def ranges(flags):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], flags, [0]]))).tolist()
        return [Range(start, stop - 1, "") for start, stop in zip(edges[::2], edges[1::2], strict=True)]

    def of(labels, alarms, what, theta_p=0.5, theta_r=0.1):
        return evaluate_w_ranges(ranges(labels), ranges(alarms), theta_p, theta_r)[what]

    names = {"etapr-precision": "eTaP", "etapr-recall": "eTaR", "etapr-f1": "f1"}
    others = {"theta_p": 0.3, "theta_r": 0.5}
    return {name: on_alarms(of, what=what) for name, what in names.items()} | {
        f"{name}:theta_p=0.3,theta_r=0.5": on_alarms(of, what=what, **others) for name, what in names.items()
    }


def nab():
    from nab.sweeper import Sweeper

    def of(labels, alarms, fp, fn):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]]))).tolist()
        windows = [(start, stop - 1) for start, stop in zip(edges[::2], edges[1::2], strict=True)]
        sweeper = Sweeper(probationPercent=0, costMatrix={"tpWeight": 1.0, "fpWeight": fp, "fnWeight": fn})
        _, row = sweeper.scoreDataSet(range(len(labels)), alarms.astype(float).tolist(), windows, "", 1.0)
        nothing = -fn * len(windows)  # no alarm at all; as its runner scales scores of a corpus
        return 100 * (row.score - nothing) / (len(windows) - nothing)

    return {
        "nab": on_alarms(of, fp=0.11, fn=1.0),
        "nab:profile=low-fp": on_alarms(of, fp=0.22, fn=1.0),
        "nab:profile=low-fn": on_alarms(of, fp=0.11, fn=2.0),
    }


PACKAGES = {
    "scikit-learn": scikit_learn,
    "aeon": aeon,
    "prts": prts,
    "TimeEval": timeeval,
    "TSB-AD": tsb_ad,
    "vus": vus,
    "dtaianomaly": dtaianomaly,
    "tsadmetrics": tsadmetrics,
    "tadpak": tadpak,
    "affiliation": affiliation,
    "telemeval": telemeval,
    "eTaPR": etapr,
    "NAB": nab,
}


def all_peers(packages=PACKAGES):
    """Every metric of the packages that are installed, and why the others are not there."""
    found, missing = [], {}
    for package in packages:
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                functions = PACKAGES[package]()
        except ImportError as error:
            missing[package] = str(error)
            continue
        found += [Peer(package, version_of(package), metric, function) for metric, function in functions.items()]
    return found, missing


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None  # it is not installed but run from its folder


def small_series():
    """Thirteen labelled series of 4 to 300 steps, with runs at both borders and of one step, and with tied scores."""
    rng = np.random.default_rng(13)
    series = [
        ("0110010", [1, 3, 3, 0, 2, 3, 0], "0110110"),
        ("10001", [2, 0, 1, 0, 2], "10101"),
        ("1110", [0, 0, 2, 1], "0011"),
    ]
    for n, runs, levels, quantile in (
        (12, 2, 4, 0.7),
        (20, 1, 30, 0.8),
        (30, 4, 5, 0.6),
        (50, 5, 12, 0.8),
        (80, 6, 1000, 0.9),
        (100, 3, 1000, 0.95),
        (120, 10, 20, 0.7),
        (150, 8, 1000, 0.5),
        (200, 7, 1000, 0.9),
        (300, 5, 100, 0.95),
    ):
        labels = np.zeros(n, dtype=np.int64)
        starts = rng.choice(n, runs, replace=False)
        for start, length in zip(starts, rng.geometric(min(1, 3 * runs / n), runs), strict=True):
            labels[start : start + length] = 1
        if n in (50, 200):
            labels[:2], labels[2] = 1, 0
        if n in (80, 200):
            labels[-3:], labels[-4] = 1, 0
        noise = rng.standard_normal(n)
        for t in range(1, n):
            noise[t] += 0.7 * noise[t - 1]
        rough = noise + 1.5 * labels
        scores = np.floor((rough - rough.min()) / (np.ptp(rough) + 1e-9) * levels).astype(int)
        scores = 2 ** (scores // 20) if n == 150 else scores  # most of them near the least, as many detectors have them
        alarms = (scores >= np.quantile(scores, quantile)).astype(int)
        series.append(("".join(map(str, labels)), scores.tolist(), "".join(map(str, alarms))))
    return series


def arrays(series):
    labels, scores, alarms = series
    return np.array(list(map(int, labels))), np.array(scores, dtype=float), np.array(list(map(int, alarms)))


def value(function, *given):
    """The peer's value; the name of its error where it raises one; None where it is no number."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            found = float(function(*(np.array(one) for one in given)))
    except Exception as error:
        return type(error).__name__
    return float(f"{found:.12g}") if np.isfinite(found) else None


def record(path, packages):
    old = json.loads(path.read_text()) if path.exists() else {"peers": {}}
    series = small_series()
    peers, missing = all_peers(packages)
    for peer in peers:
        held = old["peers"].setdefault(peer.package, {"version": peer.version, "values": {}})
        held["version"] = peer.version or held["version"]
        held["values"][peer.metric] = [value(peer.function, *arrays(one)) for one in series]
    lines = ['{"series": [']
    lines.append(",\n".join(json.dumps(one, separators=(",", ":")) for one in series))
    lines.append('],\n"peers": {')
    blocks = []
    for package, held in old["peers"].items():
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in held["values"].items())
        blocks.append(f'{json.dumps(package)}: {{"version": {json.dumps(held["version"])}, "values": {{\n{rows}\n}}}}')
    lines.append(",\n".join(blocks))
    lines.append("}}")
    path.write_text("\n".join(lines) + "\n")
    print(f"{len(peers)} metrics of {len({peer.package for peer in peers})} packages recorded in {path}.")
    for package, why in missing.items():
        print(f"{package} is not installed: {why}")


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2:] or PACKAGES)
