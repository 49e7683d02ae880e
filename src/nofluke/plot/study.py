"""Figures of several detectors: a study's leaderboard and map, a ranking, a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.inference.compare import Comparison, Difference
from nofluke.inference.interval import MEASURES, NAMES
from nofluke.plain import check_word
from nofluke.plot.panels import (
    check_kind,
    legend_above,
    legend_over,
    make_axes,
    make_panels,
    names_beside,
    short,
    stacked,
)
from nofluke.plot.style import (
    LETTER,
    NARROW,
    SMALLER,
    AxesArray,
    above_chance,
    band,
    colour,
    few_ticks,
    fitted,
    inches,
    ink,
    label,
    luck,
    on_dark,
    paper,
    tidy,
)
from nofluke.studies.cell_map import CODES, CellMap, map_cells
from nofluke.studies.leaderboard import Leaderboard
from nofluke.studies.pooled_row import name_of
from nofluke.studies.rank import Ranking
from nofluke.studies.result import Study
from nofluke.text.numbers import p_is
from nofluke.text.signs import VERDICTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "·"  # in a cell of the map
LETTERED, CELL = 60, 0.06  # columns at most, and inches of each at least, for a letter in each cell
NAMED, SLANTED = 30, 0.17  # the same for the name of each column


def leaderboard(board: Study | Leaderboard, ax: Axes | None = None) -> Axes:
    """Draw the pooled F1 of every detector, or what ranks them, with its interval, and what chance scores.

    Parameters
    ----------
    board : Study or Leaderboard
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Best first, from above. Shaded: not significantly worse than the best. Hollow: F1 on the series that chance
        covers, if a null does not hold on all. Nothing is drawn where F1 is undefined. A study that is ranked by
        another measure has that in place of F1, unless it has values beyond 0 and 1.

    See Also
    --------
    nofluke.study : makes the study.
    nofluke.plot.verdicts : every cell.
    nofluke.plot.compare : one series.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nofluke.studies.leaderboard import About, Leaderboard
    >>> from nofluke.studies.pooled_row import Pooled, PooledMeasure
    >>> half = PooledMeasure(value=0.5, low=0.4, high=0.6, expected=0.2, std=0.05)
    >>> rest = {"n_series": 9, "n_failed": 0, "n_told": 9, "share_yes": 0.4, "skill_in": 2, "n_groups": 9, "best": True}
    >>> row = Pooled(detector="a", precision=half, recall=half, f1=half, verdict="yes", reason="", **rest)
    >>> about = About(title="", null="auto", tolerance="2 steps", threshold="budget 1%", n_series=9, n_groups=9)
    >>> ax = leaderboard(Leaderboard(rows=(row,), pairs=None, about=about), Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['F1, 95% interval', 'chance, mean ± 2 std']
    """
    if isinstance(board, Study):
        board = board.leaderboard()
    check_kind("board", board, Leaderboard, "a study")
    rows, by = board.rows, name_of(board.drawn)
    drawn = [row.measure(board.drawn) for row in rows]
    ax = make_axes(ax, (6.6, 1.2 + 0.26 * len(rows)))
    at = np.arange(len(rows))
    value, low, high, expected, std = (
        np.array([getattr(one, name) for one in drawn]) for name in ("value", "low", "high", "expected", "std")
    )
    f1 = dots(ax, value, low, high, name=f"{by}, {100 * board.about.level:.3g}% interval")
    by_chance = luck_beside(ax, expected, std)
    apart = np.array([one.told_apart for one in drawn], dtype=bool)
    told = np.array([one.told for one in drawn])
    hollow = ax.plot(
        *(told[apart], at[apart], "o"),
        **{"color": colour("observed"), "mfc": paper(), "ms": 5, "label": f"{by} where a null holds", "zorder": 2.9},
    )
    shaded = _shaded(ax, [i for i, row in enumerate(rows) if row.best], "not significantly worse than the best")
    ax.set_xlim(0, min(1.02, max(1.05 * float(np.nan_to_num([value, high, told, expected]).max(initial=0.0)), 0.05)))
    _rows(ax, [row.detector for row in rows], f"{'mean' if board.drawn in board.metrics else 'pooled'} {by}")
    # above, and to the left as far as names reach: nothing is covered
    legend_above(ax, [f1, *(hollow if apart.any() else []), by_chance, *shaded], loc="lower right")
    return ax


def dots(ax: Axes, value: FloatArray, low: FloatArray, high: FloatArray, *, name: str | None = None) -> Any:
    """A dot in each row, with its interval if it has one."""
    reach = np.nan_to_num(np.stack([value - low, high - value])).clip(min=0)
    how: dict[str, Any] = {"fmt": "o", "color": colour("observed"), "markersize": 5, "linewidth": 2, "zorder": 3}
    return ax.errorbar(value, np.arange(len(value)), xerr=reach, label=name, **how)


def _shaded(ax: Axes, rows: list[int], name: str) -> list[Any]:
    """Shade some of the rows, and return what a legend shows for them."""
    spans = [ax.axhspan(i - 0.5, i + 0.5, color=ink(), alpha=0.08, linewidth=0, zorder=0) for i in rows]
    for first in spans[:1]:
        first.set_label(name)
    return spans[:1]


def _rows(ax: Axes, names: list[str], title: str) -> None:
    """An axis with a row for each name, from above."""
    ax.set_ylim(len(names) - 0.5, -0.5)
    tidy(ax)
    few_ticks(ax, which="x", most=2 if inches(ax)[0] < 0.6 * NARROW else 7)
    ax.grid(visible=False, axis="y")
    names_beside(ax, names)
    label(ax, title)


def luck_beside(ax: Axes, expected: FloatArray, std: FloatArray) -> Any:
    """What chance scores in each row: its mean, and two standard deviations to each side."""
    how: dict[str, Any] = {"fmt": "|", "color": luck(), "markersize": 11, "markeredgewidth": 2}
    how |= {"ecolor": band()["facecolor"], "elinewidth": 7, "label": "chance, mean ± 2 std"}
    return ax.errorbar(expected, np.arange(len(expected)), xerr=np.nan_to_num(2 * std), **how)


def verdicts(cells: Study | CellMap, ax: Axes | None = None, *, show: Literal["verdict", "value"] = "verdict") -> Axes:
    """Draw the cells of a study as a map, detectors by series: verdicts, or F1 corrected for chance.

    Parameters
    ----------
    cells : Study or CellMap
        A study, its detectors drawn best first; or what `nofluke.studies.cell_map.map_cells` made.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    show : {"verdict", "value"}
        The verdict of each cell (of groups of series: the share that is no fluke), or (F1 - chance) / (1 - chance).
        Missing cells have a dot, or are empty where they are too narrow for one.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    nofluke.study : makes the study.
    nofluke.plot.leaderboard : pooled values.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nofluke.studies.cell_map import map_cells
    >>> table = {"series": ["s", "t"], "group": ["g", "g"], "detector": ["a", "a"], "verdict": ["yes", "no"],
    ...     "f1": [0.6, 0.2], "f1_at_chance": [0.2, 0.2]}
    >>> none = {"series": [], "group": [], "detector": [], "reason": []}
    >>> ax = verdicts(map_cells(("a",), table, none), Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['✓', '✗']
    """
    if isinstance(cells, Study):
        cells = map_cells(cells.leaderboard().detectors, cells.cells, cells.failed)
    check_kind("cells", cells, CellMap, "a study")
    check_word(show, "show", ("verdict", "value"))
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
    from matplotlib.patches import Patch

    signs = [VERDICTS.get(code) for code in CODES]
    colours = ["none" if sign is None else (sign.dark if on_dark() else sign.light) for sign in signs]
    n_rows, n_columns = cells.values.shape
    ax = make_axes(ax, (min(2.4 + 0.24 * n_columns, 9.5), 1.4 + 0.24 * n_rows))
    gone = cells.counts[:, :, 1:].sum(axis=2) == 0
    if show == "verdict" and cells.kind == "series":
        ax.imshow(
            cells.codes, cmap=ListedColormap(colours), vmin=-0.5, vmax=4.5, aspect="auto", interpolation="nearest"
        )
        symbols = [MISSING if sign is None else sign.symbol for sign in signs]
        names = [f"{MISSING} missing" if sign is None else str(sign) for sign in signs]
        patches = [Patch(facecolor=colours[i], edgecolor=ink(), linewidth=0.4, label=names[i]) for i in (4, 3, 2, 1, 0)]
        legend_above(ax, patches, loc="lower right")
        letters = [[symbols[code] for code in row] for row in cells.codes.tolist()]
    else:
        shares = show == "verdict"
        words = f"share of {VERDICTS['yes'].words}"
        values, name = (cells.share_yes, words) if shares else (cells.values, "F1 corrected for chance")
        best = LinearSegmentedColormap.from_list("share", [paper(), paper(), colours[-1]])
        scale = best if shares else above_chance(middle=True)
        drawn = ax.imshow(np.clip(values, -1, 1), cmap=scale, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
        bar = ax.figure.colorbar(
            drawn, ax=ax, label=fitted(name, inches(ax)[1], 10), boundaries=np.linspace(0.0 if shares else -1, 1, 101)
        )
        bar.set_ticks([0, 0.5, 1] if shares else [-1, 0, 1])
        letters = [[MISSING if empty else "" for empty in row] for row in gone.tolist()]
    wide = n_columns <= min(LETTERED, inches(ax)[0] / CELL)
    if wide:
        told = cells.codes if show == "verdict" and cells.kind == "series" else np.where(gone, 0, 1)
        size = float(np.clip(65 * inches(ax)[0] / n_columns, 4, 7))
        for i, j in np.ndindex(n_rows, n_columns):
            if letters[i][j]:
                own = paper() if told[i, j] else ink()
                ax.text(j, i, letters[i][j], ha="center", va="center", fontsize=size, color=own)
        ax.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
        ax.grid(which="minor", color=paper(), linewidth=1)
    _borders(cells, ax)
    names_beside(ax, list(cells.detectors))
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    if cells.about:
        ax.set_title(fitted(cells.about, inches(ax)[0], 8), fontsize=8, loc="left")
    return ax


def _borders(cells: CellMap, ax: Axes) -> None:
    """Lines between groups, whose names stand below where there are few enough to be read."""
    spans = cells.spans()
    grouped = cells.kind == "series" and 1 < len(spans) < len(cells.columns)
    if grouped:
        for _, first, _ in spans[1:]:
            ax.axvline(first - 0.5, color=ink(), linewidth=0.8)
    places = (
        [((first + last - 1) / 2, name) for name, first, last in spans] if grouped else list(enumerate(cells.columns))
    )
    if len(places) > min(NAMED, inches(ax)[0] / SLANTED):
        ax.set_xticks([])
        label(ax, f"{len(cells.columns):,} {cells.kind}")
        return
    slanted: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor", "fontsize": 8}
    ax.set_xticks([at for at, _ in places], [short(name) for _, name in places], **slanted)


# ---- A ranking: the critical-difference diagram, and differences from the best with intervals

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
    alike = [i for i in range(1, n) if not answer.told[0, i]]
    shaded = _shaded(ax, alike, f"not shown to differ, by {answer.units}")
    _rows(ax, _named(found), f"mean {found.metric}".strip() + f" less that of {short(found.best, 20)}")
    legend_above(ax, [drawn, *shaded], loc="lower right")
    return ax


# ---- Several detectors compared: their values beside chance, and how much the best exceeds each of the others


def compare(comparison: Comparison, ax: Any = None, *, measure: str = "f1") -> AxesArray:
    """Draw each detector's value with its interval and chance, and the differences from the best with p-values.

    Parameters
    ----------
    comparison : Comparison
        From :func:`nofluke.compare`; ``comparison.plot()`` is the same.
    ax : two matplotlib Axes, optional
        Where to draw; by default a new figure.
    measure : {"f1", "precision", "recall"}
        What is compared.

    Returns
    -------
    array of two matplotlib Axes
        Values, best F1 first, with what chance would score instead of each detector under the null that fits its data;
        and the best minus each of the others, with p-values corrected for all pairs. Nothing is drawn where a value is
        undefined, and no interval where there is none. Panels side by side share the names; the row of the best has no
        difference.

    See Also
    --------
    nofluke.compare : makes the comparison.
    nofluke.plot.leaderboard : pooled over many series.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import nofluke as nf
    >>> quakes = nf.datasets.simulate_quakes(rng=0)
    >>> scores = {"energy": nf.detectors.energy_transient(quakes.counts), "counts": quakes.counts}
    >>> found = nf.compare(quakes.truth, scores, quantile=0.9, tolerance=2)
    >>> left, right = nf.plot.compare(found, Figure().subplots(1, 2), measure="recall")
    >>> left.get_xlabel(), [text.get_text() for text in right.texts]
    ('recall', ['p = 0.11'])
    """
    check_kind("comparison", comparison, Comparison, "nofluke.compare")
    check_word(measure, "measure", MEASURES)
    panels = make_panels(ax, (2,), width=4.8, height=1.4 + 0.28 * len(comparison.detectors))
    beside = not stacked(panels)
    handles = _values(panels[0], comparison, measure)
    _differences(panels[1], comparison, measure, beside)
    if beside:
        panels[1].set_yticklabels([])  # the same as those of the first
    legend_over(panels, handles)
    return panels


def _values(ax: Axes, comparison: Comparison, measure: str) -> list[Any]:
    """A row for each detector, from above; and what a legend shows."""
    m = MEASURES.index(measure)
    value = comparison.values[:, m]
    ends = [tuple(one)[m] for one in comparison.intervals]
    low, high = (np.array([getattr(one, end) for one in ends], dtype=np.float64) for end in ("low", "high"))
    handles = [
        dots(ax, value, low, high, name=f"{NAMES[measure]} or its difference, {100 * comparison.level:g}% interval")
    ]
    expected, std = np.array(comparison.chance(measure)).T
    if not np.isnan(expected).all():
        handles.append(luck_beside(ax, expected, std))
    seen = np.nan_to_num([value, high, expected + 2 * std]).max(initial=0.0)
    ax.set_xlim(0, min(max(1.05 * float(seen), 0.05), 1.02))
    _rows(ax, list(comparison.detectors), NAMES[measure])
    return handles


def _differences(ax: Axes, comparison: Comparison, measure: str, aligned: bool) -> None:
    """The best less each other, with p at the right, in rows of their own or in those of the values."""
    best = comparison.best or comparison.detectors[0]
    names = [name for name in comparison.detectors if aligned or name != best]
    found = [None if name == best else comparison.difference(best, name, measure) for name in names]
    value, low, high = (_each(found, end) for end in ("value", "low", "high"))
    corrected = "" if comparison.n_pairs == 1 else f"p corrected for {comparison.n_pairs} pairs"
    dots(ax, value, low, high)
    ax.axvline(0, color=ink(), linewidth=0.8, zorder=0.5)
    size = 7 if inches(ax)[0] < 3 else 9
    for row, one in enumerate(found):
        if one is not None:
            told = "not tested" if math.isnan(one.corrected) else p_is(one.corrected)
            ax.text(1.02, row, told, transform=ax.get_yaxis_transform(), va="center", fontsize=size)
    _rows(ax, names, f"{NAMES[measure]} of {short(best, 16)} minus the other's")
    if corrected:
        ax.set_title(fitted(corrected, inches(ax)[0], SMALLER), fontsize=SMALLER)


def _each(found: list[Difference | None], name: str) -> FloatArray:
    """An attribute of each difference; NaN where there is none."""
    return np.array([math.nan if (value := getattr(one, name, None)) is None else value for one in found])
