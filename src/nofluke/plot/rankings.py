"""A ranking: the critical-difference diagram, and differences from the best with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.plain import check_word
from nofluke.plot.legends import legend_above
from nofluke.plot.panels import check_kind, make_axes, names_beside, short
from nofluke.plot.study import dots
from nofluke.plot.style import LETTER, colour, few_ticks, inches, ink, label, tidy
from nofluke.studies.rank import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.55  # of the height of a row of names, from one group to the next
MOST_SIDE = 0.36  # of the width that names take on each side


def ranking(found: Ranking, ax: Axes | None = None, *, kind: Literal["groups", "dots"] = "groups") -> Axes:
    """Draw a ranking as a critical-difference diagram, or as differences from the best with intervals.

    Parameters
    ----------
    found : Ranking
        From :func:`nofluke.rank`; ``found.plot()`` is the same.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    kind : {"groups", "dots"}
        "groups": each method at its mean, the best at the right; a bar joins methods none of which is shown to differ
        from another, with a dot on each. A line that passes a bar without a dot belongs to a method outside the group.
        "dots": the mean of each method less that of the best, with intervals for all pairs at once; shaded rows are
        not shown to differ from the best.

    Returns
    -------
    matplotlib Axes
        Groups and intervals are those of what the ranking speaks for.

    See Also
    --------
    nofluke.rank : makes the ranking.
    nofluke.plot.leaderboard : pooled F1 of a study, with chance.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> table = {"x": [5, 6, 7, 8, 7, 9, 8, 6], "y": [4, 5, 7, 6, 5, 8, 6, 5], "z": [4, 5, 7, 6, 5, 8, 6, 4]}
    >>> ax = nf.plot.ranking(nf.rank(table), Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['x 7.000', 'y 5.750', 'z 5.625']
    """
    check_kind("found", found, Ranking, "nofluke.rank")
    check_word(kind, "kind", ("groups", "dots"))
    return _groups(found, ax) if kind == "groups" else _dots(found, ax)


def _named(found: Ranking) -> list[str]:
    """Methods with their means."""
    return [f"{name} {mean:.3f}" for name, mean in zip(found.methods, found.means.tolist(), strict=True)]


def _groups(found: Ranking, ax: Axes | None) -> Axes:
    n, groups = len(found.methods), found.answer.groups()
    on_right = (n + 1) // 2
    # by differences on common series from the best, so that lines do not cross where cells are missing
    at = found.means[0] + np.where(np.isnan(found.differences[:, 0]), 0.0, found.differences[:, 0])
    first = 0.9 + BAR * len(groups)
    alone = ax is None
    ax = make_axes(ax, (6.6, 0.7 + 0.2 * (first + on_right)))
    width, height = (6.4, 0.2 * (first + on_right)) if alone else inches(ax)  # nothing else stands beside the panel
    size = float(np.clip(72 * height / (first + on_right + 1) / 1.3, 4, 9))
    letters = max(int(MOST_SIDE * width * 72 / (LETTER * size)), 4)
    texts = [short(name, letters) for name in _named(found)]
    side = min(max(map(len, texts)) * LETTER * size / 72 / width + 0.02, MOST_SIDE)
    low, high = float(at.min()), float(at.max())
    span = (high - low) or abs(high) or 1.0
    low, high = (low - span / 2, high + span / 2) if low == high else (low - 0.04 * span, high + 0.04 * span)
    room = (high - low) * side / (1 - 2 * side)
    best, worst, away = (high, low, room) if found.better == "higher" else (low, high, -room)
    thin: dict[str, Any] = {"color": ink(), "linewidth": 0.7, "zorder": 2, "solid_capstyle": "butt"}
    for k, (x, text) in enumerate(zip(at.tolist(), texts, strict=True)):
        right = k < on_right
        y = first + (k if right else n - 1 - k)
        edge, aside = (best, away) if right else (worst, -away)
        ax.plot([x, x, edge + 0.03 * aside], [0, y, y], **thin)
        ax.text(edge + 0.07 * aside, y, text, ha="left" if right else "right", va="center", fontsize=size)
    for row, group in enumerate(groups):
        members = at[list(group)]
        ax.plot(
            members,
            [0.6 + BAR * row] * len(members),
            "-o",
            color=colour("observed"),
            linewidth=2.2,
            markersize=min(3.5, 0.4 * size),
            zorder=3,
        )
    ax.set_ylim(first + on_right - 0.4, 0)
    ax.set_xlim(worst - away, best + away)
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_bounds(low, high)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_yticks([])
    _ticks_within(ax, low, high, 3 if (1 - 2 * side) * width < 1.5 else 6)
    label(ax, f"mean {found.metric}".strip() + f"; bars: not shown to differ, by {found.answer.units}")
    return ax


def _ticks_within(ax: Axes, low: float, high: float, most: int) -> None:
    from matplotlib.ticker import MaxNLocator

    make: Any = MaxNLocator
    ticks = make(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ax.set_xticks([tick for tick in ticks.tolist() if low <= tick <= high])


def _dots(found: Ranking, ax: Axes | None) -> Axes:
    n, answer = len(found.methods), found.answer
    ax = make_axes(ax, (6.6, 1.2 + 0.24 * n))
    value, low, high = found.differences[:, 0], answer.low[:, 0], answer.high[:, 0]
    drawn = dots(ax, value, low, high, name=f"difference, {100 * (1 - found.alpha):.3g}% for all pairs at once")
    ax.axvline(0, color=ink(), linewidth=0.8, zorder=0.5)
    shaded = [
        ax.axhspan(i - 0.5, i + 0.5, color=ink(), alpha=0.08, linewidth=0, zorder=0)
        for i in range(1, n)
        if not answer.told[0, i]
    ]
    for shape in shaded[:1]:
        shape.set_label(f"not shown to differ, by {answer.units}")
    ax.set_ylim(n - 0.5, -0.5)
    tidy(ax)
    few_ticks(ax, which="x")
    ax.grid(visible=False, axis="y")
    names_beside(ax, _named(found))
    label(ax, f"mean {found.metric}".strip() + f" less that of {short(found.best, 20)}")
    legend_above(ax, [drawn, *shaded[:1]], loc="lower right")
    return ax
