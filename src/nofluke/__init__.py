"""nofluke: is an anomaly detector's precision and recall on a sequence skill, or a fluke?"""

from nofluke import datasets, detectors, nulls, plot
from nofluke.confusion import Confusion
from nofluke.diagnosis import Diagnosis, diagnose
from nofluke.errors import InputError
from nofluke.evaluating import evaluate
from nofluke.evaluation import Evaluation
from nofluke.sweeping import Sweep, sweep
from nofluke.tolerance import Tolerance

__version__ = "0.1.0"

__all__ = [
    "Confusion",
    "Diagnosis",
    "Evaluation",
    "InputError",
    "Sweep",
    "Tolerance",
    "datasets",
    "detectors",
    "diagnose",
    "evaluate",
    "nulls",
    "plot",
    "sweep",
]
