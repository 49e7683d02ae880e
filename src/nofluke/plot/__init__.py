"""Static figures (matplotlib): null distributions, sweeps beside chance, and what was hit and missed over time.

Every function draws into the Axes it is given, or makes a new figure, and returns the Axes. Matplotlib is imported
when a figure is drawn, never before.
"""

from nofluke.plot.curves import evaluation, null, sweep
from nofluke.plot.metrics import chance_level, significance, significances
from nofluke.plot.series import timeline
from nofluke.plot.study import leaderboard, verdicts
from nofluke.plot.style import PALETTE, SERIES
from nofluke.plot.times import coincidence, lags

__all__ = [
    "PALETTE",
    "SERIES",
    "chance_level",
    "coincidence",
    "evaluation",
    "lags",
    "leaderboard",
    "null",
    "significance",
    "significances",
    "sweep",
    "timeline",
    "verdicts",
]
