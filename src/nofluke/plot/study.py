"""A study at a glance: what ranks its detectors beside chance, and the verdict of every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.arrays import FloatArray
from nofluke.plain import check_word
from nofluke.plot.legends import legend_above
from nofluke.plot.panels import check_kind, make_axes, names_beside, short
from nofluke.plot.style import (
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
from nofluke.studies.result import Study
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
    shaded = [
        ax.axhspan(i - 0.5, i + 0.5, color=ink(), alpha=0.08, linewidth=0, zorder=0)
        for i, row in enumerate(rows)
        if row.best
    ]
    for shape in shaded[:1]:
        shape.set_label("not significantly worse than the best")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, min(1.02, max(1.05 * float(np.nan_to_num([value, high, told, expected]).max(initial=0.0)), 0.05)))
    tidy(ax)
    few_ticks(ax)
    names_beside(ax, [row.detector for row in rows])
    ax.grid(visible=False, axis="y")
    label(ax, f"{'mean' if board.drawn in board.metrics else 'pooled'} {by}")
    # above, and to the left as far as names reach: nothing is covered
    legend_above(ax, [f1, *(hollow if apart.any() else []), by_chance, *shaded[:1]], loc="lower right")
    return ax


def dots(ax: Axes, value: FloatArray, low: FloatArray, high: FloatArray, *, name: str | None = None) -> Any:
    """A dot in each row, with its interval if it has one."""
    reach = np.nan_to_num(np.stack([value - low, high - value])).clip(min=0)
    how: dict[str, Any] = {"fmt": "o", "color": colour("observed"), "markersize": 5, "linewidth": 2, "zorder": 3}
    return ax.errorbar(value, np.arange(len(value)), xerr=reach, label=name, **how)


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
