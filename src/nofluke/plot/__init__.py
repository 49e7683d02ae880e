"""Static figures (matplotlib): null distributions, sweeps beside chance, and the timeline of hits and misses.

Every function draws into the Axes it is given, or makes a new figure, and returns the Axes. Matplotlib is imported
when a figure is drawn, never before.
"""

from nofluke.plot.curves import evaluation, null, sweep
from nofluke.plot.series import timeline
from nofluke.plot.style import PALETTE, SERIES

__all__ = ["PALETTE", "SERIES", "evaluation", "null", "sweep", "timeline"]
