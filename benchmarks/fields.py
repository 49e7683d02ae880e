"""What other fields' packages say of the small series of peers.py: nci/scores on contingency tables, pyCSEP on Molchan.

``python benchmarks/fields.py tests/field_values.json`` records those that are installed (``pip install scores``, ``pip
install pycsep``), for tests/test_confusion.py and tests/test_molchan.py; what is recorded of others stays as it is.
"""

import importlib.metadata
import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from peers import arrays, small_series

SCORES = {
    "base_rate": "prevalence",
    "critical_success_index": "csi",
    "equitable_threat_score": "ets",
    "f1_score": "f1",
    "false_alarm_rate": "false_positive_rate",
    "false_alarm_ratio": "far",
    "forecast_rate": "bias",
    "fraction_correct": "accuracy",
    "frequency_bias": "frequency_bias",
    "gilberts_skill_score": "gilbert_skill_score",
    "hanssen_and_kuipers_discriminant": "hanssen_kuipers",
    "heidke_skill_score": "heidke",
    "hit_rate": "hit_rate",
    "negative_predictive_value": "negative_predictive_value",
    "odds_ratio": "odds_ratio",
    "peirce_skill_score": "peirce",
    "positive_predictive_value": "precision",
    "probability_of_detection": "pod",
    "probability_of_false_detection": "pofd",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "success_ratio": "success_ratio",
    "symmetric_extremal_dependence_index": "sedi",
    "threat_score": "threat_score",
    "true_skill_statistic": "true_skill_statistic",
}
"""nofluke's names for the methods of scores."""


def plain(value):
    """Twelve digits; None for what is no number."""
    return float(f"{float(value):.12g}") if np.isfinite(value) else None


def scores():
    """Every measure of the alarms of each series."""
    import xarray
    from scores.categorical import BinaryContingencyManager

    found = {ours: [] for ours in SCORES.values()}
    for one in small_series():
        labels, _, alarms = arrays(one)
        made = BinaryContingencyManager(xarray.DataArray(alarms), xarray.DataArray(labels))
        for theirs, ours in SCORES.items():
            found[ours].append(plain(getattr(made, theirs)().item()))
    return found


def pycsep():
    """The trajectory of each series, cells of its region being steps: shares of alarmed cells, and of missed events."""
    import matplotlib

    matplotlib.use("Agg")
    from csep.utils.plots import plot_Molchan_diagram

    found = {"tau": [], "nu": []}
    for one in small_series():
        labels, rates, _ = arrays(one)
        forecast = SimpleNamespace(name="", region=0, spatial_counts=lambda rates=rates: rates + 1)
        catalog = SimpleNamespace(region=0, spatial_counts=lambda labels=labels: labels)
        ax = plot_Molchan_diagram(forecast, catalog, show=False, savepdf=False, savepng=False)
        for name, values in zip(found, ax.lines[0].get_data(), strict=True):
            found[name].append([plain(value) for value in values])
    return found


def record(path):
    held = json.loads(path.read_text()) if path.exists() else {}
    for package, values in {"scores": scores, "pycsep": pycsep}.items():
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            held[package] = {"version": version, "values": values()}
    rows = [
        f'"{package}": {{"version": "{one["version"]}", "values": {{\n'
        + ",\n".join(f'"{name}": {json.dumps(row, separators=(",", ":"))}' for name, row in one["values"].items())
        + "\n}}"
        for package, one in held.items()
    ]
    path.write_text("{" + ",\n".join(rows) + "}\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
