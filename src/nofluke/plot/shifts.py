"""Hits with the events shifted: a narrow peak where alarms keep one distance from them, or a hill."""

from __future__ import annotations

from typing import Any

import numpy as np

from nofluke.inference.by_shift import hits_by_shift
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.sweep import BAND
from nofluke.plot.curves import SIDES, draw_band
from nofluke.plot.legends import CHANCE, keys_of, legend_above
from nofluke.plot.panels import by_name, make_panels, short
from nofluke.plot.style import PALETTE, AxesArray, few_ticks, in_words, ink, label, one_of, tidy


def lag(results: Any, ax: Any = None) -> AxesArray:
    """Draw recall and precision with the events shifted, and chance: a narrow peak near 0, one elsewhere, or a hill.

    A detector that is on time peaks at 0, one that is late at a positive shift. The peak is about as wide as the
    tolerance and the detector's delay. A hill much wider than that means that alarms and events share slow changes,
    such as busy and quiet times, rather than single events.

    Parameters
    ----------
    results : Evaluation, or mapping of str to Evaluation
        From :func:`nofluke.evaluate` or :func:`nofluke.coincidence`; several detectors by their names.
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of two matplotlib Axes
        Recall, precision. On steps the series is a circle; in time, windows move, and whatever they reach beyond the
        watched time is lost. Chance's mean and central 95% are those of the result's null; for several detectors only
        the means are drawn. Nothing is drawn where a measure is undefined.

    See Also
    --------
    nofluke.plot.lags : many lags of two lists of times.
    nofluke.plot.timeline : what was hit and missed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> truth = [i % 50 == 7 for i in range(1000)]
    >>> late = nf.evaluate(truth, predictions=[False] * 3 + truth[:-3], tolerance=1)
    >>> left, right = nf.plot.lag(late, Figure().subplots(1, 2))
    >>> left.get_xlabel(), left.get_ylabel()
    ('shift of the events, steps', 'recall')
    """
    every = by_name("results", results, Evaluation, "nofluke.evaluate")
    found = {name: hits_by_shift(one.cell) for name, one in every.items()}
    panels = make_panels(ax, (2,), width=4.2, height=2.8)
    first = next(iter(every))
    alone = len(every) == 1
    for panel, side in zip(panels, SIDES, strict=True):
        top = 0.0
        for i, (name, result) in enumerate(every.items()):
            test, at = getattr(result, f"{side}_test"), found[name].at
            if not test.of:
                continue
            ends = np.array([*test.law.quantile(BAND), test.expected]) / test.of
            low, high, mean = (np.full(len(at), end) for end in ends)
            style = {"color": PALETTE["observed"], "linewidth": 2} if alone else one_of(i, len(every))
            if alone:
                draw_band(panel, at, low, mean, high, how=in_words([test.how]))
            else:
                panel.plot(
                    at[[0, -1]], mean[[0, -1]], color=style["color"], linestyle="--", linewidth=0.9, label=CHANCE
                )
            shares = getattr(found[name], side) / test.of
            every_tenth = max(len(at) // 10, 1)
            panel.plot(at, shares, **style, label=short(name) or "observed", markevery=every_tenth)
            top = max(top, float(shares.max()), float(ends[1]))
        panel.axvline(0, color=ink(), linewidth=0.8, zorder=0.5)
        panel.set_ylim(0, min(1.1 * top, 1.02) or 1)
        tidy(panel)
        few_ticks(panel, whole="x" if found[first].unit == ", steps" else "")
        label(panel, f"shift of the {every[first].cell.truth.noun}s{found[first].unit}", side)
        if alone or panel is panels[0]:
            legend_above(panel, keys_of(panel))
    return panels
