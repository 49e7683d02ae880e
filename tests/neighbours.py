"""What the detectors of sktime, aeon and pyod return on one small series: live, or recorded in neighbour_outputs.json.

``python tests/neighbours.py`` records them again, if they are installed (``pip install -e '.[neighbours]'``).
"""

import importlib.metadata
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FILE = Path(__file__).with_name("neighbour_outputs.json")
DATES = pd.date_range("2024-01-01", periods=60, freq="h")
X = np.round(np.random.default_rng(0).normal(size=60), 3)
X[20] = 12.0
X[40:44] += 9.0
FRAME = pd.DataFrame({"x": X}, index=DATES)
PACKAGES = ("sktime", "aeon", "pyod")


def sktime_outputs() -> dict[str, Any]:
    """Points, segments, dense labels and scores of sktime's detectors."""
    from sktime.detection.capa import CAPA
    from sktime.detection.dummy import ZeroAnomalies
    from sktime.detection.hampel import HampelDetector
    from sktime.detection.naive import ThresholdDetector
    from sktime.detection.pelt import PELT

    made = {
        "ThresholdDetector": ThresholdDetector(upper=5.0, lower=-5.0),
        "CAPA": CAPA(),
        "HampelDetector": HampelDetector(),
        "PELT": PELT(),
        "ZeroAnomalies": ZeroAnomalies(),
    }
    asked = {name: ["predict", "transform"] for name in made}
    asked["HampelDetector"] += ["transform_scores", "predict_points"]
    asked["PELT"] += ["predict_segments"]
    fitted = {name: detector.fit(FRAME) for name, detector in made.items()}
    return {f"{name}.{method}": getattr(fitted[name], method)(FRAME) for name in made for method in asked[name]}


def aeon_outputs() -> dict[str, Any]:
    """0/1 and scores of aeon's anomaly detectors; change points and numbered segments of its segmenters."""
    from aeon.anomaly_detection.series.distance_based import KMeansAD
    from aeon.anomaly_detection.series.outlier_detection import STRAY
    from aeon.segmentation import EAggloSegmenter, RandomSegmenter

    made = {
        "STRAY": STRAY(k=5),
        "KMeansAD": KMeansAD(n_clusters=3, window_size=4, random_state=0),
        "RandomSegmenter": RandomSegmenter(n_segments=4, random_state=1),
        "EAggloSegmenter": EAggloSegmenter(),
    }
    return {f"{name}.fit_predict": detector.fit_predict(X.copy()) for name, detector in made.items()}


def pyod_outputs() -> dict[str, Any]:
    """0/1, scores and probabilities of pyod's detectors, two of them of time series."""
    from pyod.models.ecod import ECOD
    from pyod.models.ts_matrix_profile import MatrixProfile
    from pyod.models.ts_spectral_residual import SpectralResidual

    ecod, residual, profile = ECOD().fit(X[:, None]), SpectralResidual().fit(X), MatrixProfile(window_size=8).fit(X)
    found = {"ECOD.labels_": ecod.labels_, "ECOD.decision_scores_": ecod.decision_scores_}
    for method in ("predict", "decision_function", "predict_proba", "predict_with_rejection"):
        found[f"ECOD.{method}"] = getattr(ecod, method)(X[:, None])
    found |= {"SpectralResidual.labels_": residual.labels_, "SpectralResidual.predict": residual.predict(X)}
    return found | {"MatrixProfile.decision_scores_": profile.decision_scores_}


OUTPUTS: dict[str, Callable[[], dict[str, Any]]] = {
    "sktime": sktime_outputs,
    "aeon": aeon_outputs,
    "pyod": pyod_outputs,
}


def live(package: str) -> dict[str, Any]:
    """What the installed package returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, not ours
        return OUTPUTS[package]()


def written(value: Any) -> dict[str, Any]:
    """An output as JSON: what it is, its values, its index where it is one of dates."""
    if isinstance(value, pd.DataFrame):
        columns = {name: written(value[name].array) for name in value.columns}
        return {"type": "frame", "columns": columns, "dates": isinstance(value.index, pd.DatetimeIndex)}
    if isinstance(value, pd.arrays.IntervalArray):
        pairs = [[int(left), int(right)] for left, right in zip(value.left, value.right, strict=True)]
        return {"type": "intervals", "closed": value.closed, "values": pairs}
    array = np.asarray(value)
    values = np.round(array, 6).tolist() if array.dtype.kind == "f" else array.tolist()
    return {"type": "array", "dtype": str(array.dtype), "values": values}


def read(text: dict[str, Any]) -> Any:
    """The output that was written so."""
    if text["type"] == "frame":
        columns = {name: read(column) for name, column in text["columns"].items()}
        return pd.DataFrame(columns, index=DATES if text["dates"] else None)
    if text["type"] == "intervals":
        return pd.arrays.IntervalArray.from_tuples([tuple(pair) for pair in text["values"]], closed=text["closed"])
    return np.array(text["values"], dtype=text["dtype"])


def recorded(package: str) -> dict[str, Any]:
    """What the package returned when it was asked last."""
    outputs = json.loads(FILE.read_text(encoding="utf-8"))["outputs"][package]
    return {name: read(text) for name, text in outputs.items()}


def main() -> None:
    """Record what the installed packages return."""
    outputs = {name: {key: written(value) for key, value in live(name).items()} for name in PACKAGES}
    lines = ",\n".join(
        f'"{name}": {{\n' + ",\n".join(f'"{key}": {json.dumps(text)}' for key, text in of.items()) + "\n}"
        for name, of in outputs.items()
    )
    versions = json.dumps({name: importlib.metadata.version(name) for name in PACKAGES})
    FILE.write_text(f'{{"versions": {versions},\n"outputs": {{\n{lines}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
