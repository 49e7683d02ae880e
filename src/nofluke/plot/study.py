"""A study at a glance: pooled F1 of every detector beside chance, and the verdict of every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nofluke.plain import check_word
from nofluke.plot.style import PALETTE, check_kind, make_axes, tidy
from nofluke.studies.cell_map import CODES, CellMap
from nofluke.studies.leaderboard import Leaderboard

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, WHITE, BEST, BAND = PALETTE["ink"], "#FFFFFF", "#F6F1E1", "#0072B24D"
COLORS = ("#FFFFFF", "#C3C8CF", "#F4C08A", "#7CC4EE", PALETTE["good"])
"""Of the words in `CODES`; the letters in the cells say the same."""
LETTERS = ("×", "?", "N", "P", "Y")
TOLD = "F1 where a null holds"
LETTERED = 60  # columns that are wide enough for a letter in each cell
LONGEST = 28  # letters of a name beside a row


def leaderboard(board: Leaderboard, ax: Axes | None = None) -> Axes:
    """Draw the pooled F1 of every detector with its interval, beside what chance scores.

    Parameters
    ----------
    board : Leaderboard
        Of a study.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Best first, from above. Shaded: not told from the best. Hollow: F1 on the series that chance is about, where a null
        does not hold on all. Nothing is drawn where F1 is undefined.

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
    check_kind("board", board, Leaderboard, "a study")
    rows = board.rows
    ax = make_axes(ax, (6.6, 1.2 + 0.26 * len(rows)))
    at = np.arange(len(rows))
    value, low, high, expected, std = (
        np.array([getattr(row.f1, name) for row in rows]) for name in ("value", "low", "high", "expected", "std")
    )
    known: dict[str, Any] = {"fmt": "o", "color": PALETTE["observed"], "markersize": 5, "linewidth": 2, "zorder": 3}
    reach = np.nan_to_num(np.stack([value - low, high - value])).clip(min=0)
    f1 = ax.errorbar(value, at, xerr=reach, label=f"F1, {100 * board.about.level:.3g}% interval", **known)
    spread = np.nan_to_num(2 * std)
    chance: dict[str, Any] = {"fmt": "|", "color": PALETTE["chance"], "markersize": 11, "markeredgewidth": 2}
    luck = ax.errorbar(expected, at, xerr=spread, ecolor=BAND, elinewidth=7, label="chance, mean ± 2 std", **chance)
    apart = np.array([row.f1.told_apart for row in rows], dtype=bool)
    told = np.array([row.f1.told for row in rows])
    hollow = ax.plot(told[apart], at[apart], "o", mec=PALETTE["observed"], mfc=WHITE, ms=5, label=TOLD, zorder=2.9)
    shaded = [ax.axhspan(i - 0.5, i + 0.5, color=BEST, zorder=0) for i, row in enumerate(rows) if row.best]
    for shape in shaded[:1]:
        shape.set_label("not told from the best")
    ax.set_yticks(at, [_short(row.detector) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, min(1.02, max(1.05 * float(np.nan_to_num([value, high, told, expected]).max(initial=0.0)), 0.05)))
    ax.set_xlabel("pooled F1")
    tidy(ax)
    ax.grid(visible=False, axis="y")
    # above, and to the left as far as names reach: nothing is covered
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "frameon": False, "fontsize": "small"}
    ax.legend(
        handles=[f1, *(hollow if apart.any() else []), luck, *shaded[:1]],
        ncols=4 if apart.any() else 3,
        columnspacing=1.2,
        handlelength=1.6,
        **place,
    )
    return ax


def verdicts(cells: CellMap, ax: Axes | None = None, *, show: Literal["verdict", "value"] = "verdict") -> Axes:
    """Draw the cells of a study as a map, detectors by series: verdicts, or F1 corrected for chance.

    Parameters
    ----------
    cells : CellMap
        From `nofluke.studies.cell_map.map_cells`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    show : {"verdict", "value"}
        The verdict of each cell (of groups of series: the share of yes), or (F1 - chance) / (1 - chance). Missing cells have
        a cross, or are white where they are too narrow for one.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from nofluke.studies.cell_map import map_cells
    >>> table = {"series": ["s", "t"], "group": ["g", "g"], "detector": ["a", "a"], "verdict": ["yes", "no"],
    ...     "f1": [0.6, 0.2], "f1_at_chance": [0.2, 0.2]}
    >>> none = {"series": [], "group": [], "detector": [], "reason": []}
    >>> ax = verdicts(map_cells(("a",), table, none), Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['Y', 'N']
    """
    check_kind("cells", cells, CellMap, "a study")
    check_word(show, "show", ("verdict", "value"))
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
    from matplotlib.patches import Patch

    n_rows, n_columns = cells.values.shape
    ax = make_axes(ax, (min(2.4 + 0.24 * n_columns, 9.5), 1.4 + 0.24 * n_rows))
    gone = cells.counts[:, :, 1:].sum(axis=2) == 0
    if show == "verdict" and cells.kind == "series":
        ax.imshow(
            cells.codes, cmap=ListedColormap(list(COLORS)), vmin=-0.5, vmax=4.5, aspect="auto", interpolation="nearest"
        )
        patches = [Patch(facecolor=COLORS[i], edgecolor=INK, linewidth=0.4, label=CODES[i]) for i in (4, 3, 2, 1, 0)]
        ax.legend(handles=patches, loc="lower left", bbox_to_anchor=(0, 1), ncols=5, frameon=False, fontsize="small")
        letters = [[LETTERS[code] for code in row] for row in cells.codes.tolist()]
    else:
        shares = show == "verdict"
        values, name = (cells.share_yes, "share of yes") if shares else (cells.values, "F1 corrected for chance")
        scale = LinearSegmentedColormap.from_list("above chance", ["#D55E00", "#F4F5F6", "#06446E"])
        drawn = ax.imshow(np.clip(values, -1, 1), cmap=scale, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
        bar = ax.figure.colorbar(drawn, ax=ax, label=name, boundaries=np.linspace(0.0 if shares else -1, 1, 101))
        bar.set_ticks([0, 0.5, 1] if shares else [-1, 0, 1])
        letters = [["×" if empty else "" for empty in row] for row in gone.tolist()]
    if n_columns <= LETTERED:
        dark = cells.codes == 4
        for i, j in np.ndindex(n_rows, n_columns):
            if letters[i][j]:
                ink = WHITE if show == "verdict" and cells.kind == "series" and dark[i, j] else INK
                ax.text(j, i, letters[i][j], ha="center", va="center", fontsize="x-small", color=ink)
    _borders(cells, ax)
    ax.set_yticks(np.arange(n_rows), [_short(name) for name in cells.detectors])
    if n_columns <= LETTERED:
        ax.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
        ax.grid(which="minor", color=WHITE, linewidth=1)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    if cells.about:
        ax.set_title(cells.about, fontsize="small", loc="left", pad=24)
    return ax


def _borders(cells: CellMap, ax: Axes) -> None:
    """Lines between groups, whose names stand below where there are few enough to be read."""
    spans = cells.spans()
    grouped = cells.kind == "series" and 1 < len(spans) < len(cells.columns)
    if grouped:
        for _, first, _ in spans[1:]:
            ax.axvline(first - 0.5, color=INK, linewidth=0.8)
    places = (
        [((first + last - 1) / 2, name) for name, first, last in spans] if grouped else list(enumerate(cells.columns))
    )
    if len(places) > LETTERED // 2:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(cells.columns):,} {cells.kind}")
        return
    ax.set_xticks(
        [at for at, _ in places], [_short(name) for _, name in places], rotation=35, ha="right", rotation_mode="anchor"
    )


def _short(name: str) -> str:
    """A name that leaves room for the figure; a dollar sign is no formula."""
    line = " ".join(name.split())
    return (line if len(line) <= LONGEST else line[: LONGEST - 1] + "…").replace("$", r"\$")
