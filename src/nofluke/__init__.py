"""nofluke: is an anomaly detector's precision and recall on a sequence skill, or a fluke?"""

from nofluke import datasets, detectors
from nofluke.confusion import Confusion
from nofluke.errors import InputError
from nofluke.evaluation import Evaluation, evaluate
from nofluke.sweeping import Sweep, sweep
from nofluke.tolerance import Tolerance

__version__ = "0.1.0"

__all__ = ["Confusion", "Evaluation", "InputError", "Sweep", "Tolerance", "datasets", "detectors", "evaluate", "sweep"]
