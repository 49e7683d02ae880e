from nofluke.series.tolerance import Ranges
import numpy as np
def runs(alarms):
    b = np.flatnonzero(np.diff(alarms, prepend=-2) > 1)
    e = np.flatnonzero(np.diff(alarms, append=alarms[-1:].sum() + 2 if len(alarms) else 0) > 1)
    return Ranges(starts=alarms[b], stops=alarms[e] + 1)
