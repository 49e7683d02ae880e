"""A watch: evidence over time on a log axis with the line 1/α, and both measures with their bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.inference.watch import WatchResult
from nofluke.plot.panels import check_kind, legend_above, make_panels, short
from nofluke.plot.style import AxesArray, check_matplotlib, colour, faint, few_ticks, ink, label, of_detector, tidy

MOST_SHOWN = 1e300
"""Evidence beyond this is drawn there: nobody is convinced any more than that."""


def watch(result: WatchResult, ax: Any = None) -> AxesArray:
    """Draw what a watch has found: evidence, recall and precision over time, one panel above another.

    Parameters
    ----------
    result : WatchResult
        From ``watch.update``, or ``watch.result``; ``result.plot()`` is the same.
    ax : three matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of three Axes
        Evidence with the line 1/α; both measures as running means over blocks with their confidence sequences, which
        hold at all times at once. A dashed line is the recall below which skill is lost. Bands are drawn of the only
        detector; of several, the running means.

    See Also
    --------
    nofluke.watch : makes the watch.
    nofluke.WatchResult : what it draws.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> found = nf.Watch.replay([0, 1, 0, 0] * 100, predictions=[0, 1, 0, 1] * 100, tolerance=0, block=40).result
    >>> axes = nf.plot.watch(found, Figure().subplots(3, 1))
    >>> axes[0].get_yscale()
    'log'
    """
    check_kind("result", result, WatchResult, "nofluke.watch")
    check_matplotlib()
    from matplotlib.ticker import FixedLocator, NullLocator

    panels = make_panels(ax, (3, 1), width=6, height=1.9)[:, 0]
    alone, times = len(result.detectors) == 1, result.times
    for i, one in enumerate(result.detectors):
        style = of_detector(i, len(result.detectors)) | {"linewidth": 1.8}
        panels[0].plot(times, np.clip(one.path, 1 / MOST_SHOWN, MOST_SHOWN), label=short(one.name), **style)
        for panel, measure in zip(panels[1:], ("recall", "precision"), strict=True):
            mean, low, high = one.bands[measure]
            if alone:
                panel.fill_between(times, low, high, color=colour("observed"), alpha=faint(0.2), linewidth=0)
            panel.plot(times, mean, **style)
        if one.lost_below is not None and i == 0:
            panels[1].axhline(one.lost_below, color=ink(), linewidth=1, linestyle=(0, (4, 2)))
    panels[0].axhline(1.0, color=colour("chance"), linewidth=1, label="chance")
    panels[0].axhline(
        1 / result.alpha, color=ink(), linewidth=1, linestyle=(0, (4, 2)), label=f"convincing: {1 / result.alpha:g}"
    )
    panels[0].set_yscale("log")
    low, high = np.log10(panels[0].get_ylim())
    first, last = np.ceil(low), np.floor(high)
    apart = max(np.ceil((last - first) / 3), 1)  # 1 is among them
    powers = apart * np.arange(np.ceil(low / apart), np.floor(high / apart) + 1)
    panels[0].set_ylim(10 ** min(low, first - 0.2 * (high - low)), 10**high)  # no tick beside the panel below
    panels[0].yaxis.set_major_locator(FixedLocator((10**powers).tolist()))
    panels[0].yaxis.set_minor_locator(NullLocator())
    for panel, name in zip(panels, ("evidence", "mean recall", "mean precision"), strict=True):
        label(panel, y=name)
        tidy(panel)
        few_ticks(panel, which="x" if panel is panels[0] else "xy")
    for panel in panels[1:]:
        panel.set_ylim(-0.03, 1.03)
    label(panels[-1], x="" if times.dtype.kind == "M" else "step")
    legend_above(panels[0])
    return panels
