"""nofluke: is an anomaly detector's precision and recall on a sequence skill, or a fluke?"""

from nofluke import datasets, detectors, metrics, moved, nulls, plot
from nofluke.adapters.cross_validated import CrossValidation
from nofluke.adapters.cross_validation import cross_val_evaluate
from nofluke.adapters.scorer import make_scorer
from nofluke.errors import InputError
from nofluke.inference.chance_level import ChanceLevel
from nofluke.inference.coincidence import coincidence
from nofluke.inference.coincidences import Coincidence
from nofluke.inference.compare import compare
from nofluke.inference.comparison import Comparison
from nofluke.inference.curve import Sweep
from nofluke.inference.evaluate import evaluate
from nofluke.inference.evaluation import Evaluation
from nofluke.inference.lags import CoincidenceSweep, sweep_tolerances
from nofluke.inference.metric_chance import chance
from nofluke.inference.metric_result import Significance
from nofluke.inference.metric_results import Significances
from nofluke.inference.power import power
from nofluke.inference.power_results import Power, SampleSize
from nofluke.inference.report import report
from nofluke.inference.sample_size import sample_size
from nofluke.inference.significance import significance
from nofluke.inference.sweep import sweep
from nofluke.measures.confusion import Confusion
from nofluke.nulls.diagnosis import Diagnosis, diagnose
from nofluke.series.tolerance import Tolerance
from nofluke.series.watching import split
from nofluke.studies.result import Study
from nofluke.studies.study import study

__version__ = "0.1.0"

__all__ = [
    "ChanceLevel",
    "Coincidence",
    "CoincidenceSweep",
    "Comparison",
    "Confusion",
    "CrossValidation",
    "Diagnosis",
    "Evaluation",
    "InputError",
    "Power",
    "SampleSize",
    "Significance",
    "Significances",
    "Study",
    "Sweep",
    "Tolerance",
    "chance",
    "coincidence",
    "compare",
    "cross_val_evaluate",
    "datasets",
    "detectors",
    "diagnose",
    "evaluate",
    "make_scorer",
    "metrics",
    "nulls",
    "plot",
    "power",
    "report",
    "sample_size",
    "significance",
    "split",
    "study",
    "sweep",
    "sweep_tolerances",
]

moved.install()


def __dir__() -> list[str]:
    """What is public; the rooms behind it are there for who looks for them."""
    return [*__all__, "__version__"]
