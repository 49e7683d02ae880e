"""Static figures (matplotlib): null distributions, curves, maps, differences with chance, and what was hit and missed.

Every function draws into the Axes it is given (``ax=``: one, or an array of as many as it needs), or makes a new
figure, and returns the Axes. Matplotlib is imported when a figure is drawn, never before.
"""

from nofluke.plot.curves import sweep
from nofluke.plot.evidence import watch
from nofluke.plot.forecasts import molchan, performance
from nofluke.plot.heat import heatmap
from nofluke.plot.metrics import chance_level, significance, significances
from nofluke.plot.nulls import evaluation, null
from nofluke.plot.series import timeline
from nofluke.plot.shifts import lag
from nofluke.plot.study import compare, leaderboard, ranking, verdicts
from nofluke.plot.style import PALETTE, SERIES
from nofluke.plot.times import coincidence, lags
from nofluke.plot.tradeoff import precision_recall, tolerance

__all__ = [
    "PALETTE",
    "SERIES",
    "chance_level",
    "coincidence",
    "compare",
    "evaluation",
    "heatmap",
    "lag",
    "lags",
    "leaderboard",
    "molchan",
    "null",
    "performance",
    "precision_recall",
    "ranking",
    "significance",
    "significances",
    "sweep",
    "timeline",
    "tolerance",
    "verdicts",
    "watch",
]
