"""nofluke: is an anomaly detector's precision and recall on a sequence skill, or a fluke?

A detector that may be a few steps early or late hits some events by luck. nofluke counts its hits within a tolerance
and compares them with what chance scores on the same data: exactly where a formula is known, by simulation elsewhere.
The result says how likely chance is to do as well, and says so when the data cannot tell.

Judge one detector
    `evaluate` at one threshold and tolerance, `sweep` over many, `coincidence` and `sweep_tolerances` for two lists
    of times without a grid, `Tolerance` for windows of any shape, `split` to choose a threshold on a part of the data.
Use other metrics
    `significance` tests any metric in `metrics` against chance, `chance` gives the level that a detector must exceed.
Choose a null model
    `diagnose` looks at the data and recommends one of `nulls`; ``null="auto"`` follows its advice.
Judge several detectors
    `compare` on one series, `study` on many, `rank` by any table of values, `report` as a page to read.
Watch a detector
    `watch` day by day: evidence that may be looked at as often as one likes, and an alarm when its skill is lost.
Use scikit-learn
    `make_scorer` for model selection, `cross_val_evaluate` for one verdict over all folds.
Plan
    `power` and `sample_size`: how many events does it take?
Look
    `plot` has a figure for every result. Every result prints itself and has `to_dict` and other exports.
Try it
    `datasets` has labelled series, `detectors` the paper's detector.

Speak the words of a field
    `presets` has the arguments that fields have agreed on, for ``preset=``.

All input errors are `InputError`, a ``ValueError`` whose message says what to do.

Examples
--------
>>> import nofluke as nf
>>> quakes = nf.datasets.simulate_quakes(rng=0)
>>> scores = nf.detectors.energy_transient(quakes.counts)
>>> result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2)
>>> print(result.verdict_in_words())
Verdict: no fluke. Precision and recall are both better than chance at the 0.05 level.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nofluke import datasets, detectors, metrics, nulls, plot
    from nofluke.adapters.cross_validation import CrossValidation, cross_val_evaluate
    from nofluke.adapters.scorer import make_scorer
    from nofluke.errors import InputError
    from nofluke.inference.coincidence import Coincidence, CoincidenceSweep, coincidence, sweep_tolerances
    from nofluke.inference.compare import Comparison, compare
    from nofluke.inference.evaluate import Evaluation, evaluate
    from nofluke.inference.molchan import Molchan
    from nofluke.inference.needed import Needed
    from nofluke.inference.power import Power, SampleSize, power, sample_size
    from nofluke.inference.report import report
    from nofluke.inference.series import Series
    from nofluke.inference.significance import ChanceLevel, Significance, Significances, chance, significance
    from nofluke.inference.sweep import Sweep, sweep
    from nofluke.inference.watch import Watch, WatchResult, watch
    from nofluke.measures.confusion import Confusion
    from nofluke.nulls.diagnosis import Diagnosis, diagnose
    from nofluke.series.presets import presets
    from nofluke.series.reading import split
    from nofluke.series.tolerance import Tolerance
    from nofluke.studies.rank import Ranking, rank
    from nofluke.studies.result import Study
    from nofluke.studies.study import study

__version__ = "1.0.0rc1"

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
    "Molchan",
    "Needed",
    "Power",
    "Ranking",
    "SampleSize",
    "Series",
    "Significance",
    "Significances",
    "Study",
    "Sweep",
    "Tolerance",
    "Watch",
    "WatchResult",
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
    "presets",
    "rank",
    "report",
    "sample_size",
    "significance",
    "split",
    "study",
    "sweep",
    "sweep_tolerances",
    "watch",
]

# where each name lives: it is loaded when it is first asked for, so that importing nofluke takes no time
_ROOMS = ("datasets", "detectors", "metrics", "nulls", "plot")
_HOMES = {
    "adapters.cross_validation": "CrossValidation cross_val_evaluate",
    "adapters.scorer": "make_scorer",
    "errors": "InputError",
    "inference.coincidence": "Coincidence CoincidenceSweep coincidence sweep_tolerances",
    "inference.compare": "Comparison compare",
    "inference.evaluate": "Evaluation evaluate",
    "inference.molchan": "Molchan",
    "inference.needed": "Needed",
    "inference.power": "Power SampleSize power sample_size",
    "inference.report": "report",
    "inference.series": "Series",
    "inference.significance": "ChanceLevel Significance Significances chance significance",
    "inference.sweep": "Sweep sweep",
    "inference.watch": "Watch WatchResult watch",
    "measures.confusion": "Confusion",
    "nulls.diagnosis": "Diagnosis diagnose",
    "series.presets": "presets",
    "series.reading": "split",
    "series.tolerance": "Tolerance",
    "studies.rank": "Ranking rank",
    "studies.result": "Study",
    "studies.study": "study",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"nofluke.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'nofluke' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"nofluke.{_HOME_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    """The public names; the modules behind them can still be imported by name."""
    return [*__all__, "__version__"]
