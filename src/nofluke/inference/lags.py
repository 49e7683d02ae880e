"""Many tolerances and lags on two lists of times: every cell, and whether the best beats the best of chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nofluke.errors import InputError
from nofluke.inference.coincidence import doubt_of, remarks, trial_of
from nofluke.inference.curve import Sweep
from nofluke.inference.familywise_result import FamilywiseTest
from nofluke.inference.remarks import untold
from nofluke.inference.settings import Settings
from nofluke.inference.sweep import LEVEL, as_tolerances
from nofluke.nulls import Null
from nofluke.nulls.base import Method, check_resamples
from nofluke.nulls.choice import choose
from nofluke.plain import MOST_VALUES, as_rng, several
from nofluke.series.occurrences import Duplicates, InGaps, Occurrences, read_times, tolerance_of_times
from nofluke.series.tolerance import Length, Tolerance
from nofluke.text.numbers import show_p
from nofluke.text.tables import Table, noted, plural, show_share


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CoincidenceSweep(Sweep):
    """Every tolerance and lag on two lists of times: a `Sweep` whose rows are windows, with one column.

    Attributes
    ----------
    tolerances : tuple of D Tolerance
        The windows: each tolerance moved by each lag, the lags of the first tolerance first.
    widths, lags : tuples of D str
        What each window was made from.
    moves : tuple of D numbers
        The lags as numbers: nanoseconds for dates, else the unit of the times.
    precision_hits, recall_hits, precision, recall, f1 : arrays of shape (D, 1)
    occurrences : Occurrences
        The lists as they were read.

    See Also
    --------
    nofluke.sweep_tolerances : makes it.
    nofluke.Coincidence : one tolerance and lag.
    nofluke.Sweep : the same for labels on steps.
    nofluke.plot.lags : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> events = [12, 40, 71, 105, 160, 188]
    >>> swept = nf.sweep_tolerances(events, [t + 5 for t in events], tolerances=[1, 2], lags=[0, 5], span=(0, 220))
    >>> swept.recall_hits.ravel(), swept.lags
    (array([0, 6, 0, 6]), ('0', '5', '0', '5'))
    >>> swept.familywise(n_resamples=999, rng=1).best_f <= 0.05
    True
    """

    moves: tuple[int | float, ...] = field(repr=False)
    widths: tuple[str, ...]
    lags: tuple[str, ...]
    occurrences: Occurrences

    @property
    def n(self) -> int:
        """Ticks on which an event could have fallen."""
        return self.occurrences.watch.n

    def columns(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        """All cells in long form, one row a cell, by column name."""
        found = super().columns(familywise)
        found.pop("threshold")
        return {"tolerance": np.asarray(self.widths), "lag": np.asarray(self.lags), **_without(found, "tolerance")}

    def _record(self, familywise: FamilywiseTest | None = None) -> dict[str, Any]:
        return _without(super()._record(familywise), "higher_is", "count_alarms", "count_events")

    def table(self, familywise: FamilywiseTest | None = None) -> Table:
        """One row for each tolerance and lag."""
        sides = ("precision", "recall") if self.shows_chance else ()
        rows = [
            (
                self.widths[d],
                self.lags[d],
                show_share(float(self.precision[d, 0])),
                show_share(float(self.recall[d, 0])),
                show_share(float(self.f1[d, 0])),
                *(show_p(float(getattr(self.chance, side).pvalue[d, 0])) for side in sides),
            )
            for d in range(len(self.tolerances))
        ]
        read = self.occurrences
        title = (
            f"{plural(self.n_events, 'event')}, {plural(len(read.alarms), 'alarm')}; {' to '.join(read.ends)}; "
            f"{plural(len(rows), 'window')}"
        )
        return Table(
            title=title,
            columns=("tolerance", "lag", "precision", "recall", "F1", *(f"p {side}" for side in sides)),
            rows=tuple(rows),
            notes=(*self._how(familywise), *noted(self.notes)),
        )

    def _place(self, d: int, k: int) -> str:
        del k  # no thresholds: each window is a tolerance
        return f"tolerance {self.widths[d]} and lag {self.lags[d]}"

    def plot(self, ax: Any = None, *, chance: Any = "auto") -> Any:
        """Draw recall and precision with chance, by lag or, for one lag, by tolerance (matplotlib); return the Axes."""
        from nofluke.plot import lags as plot_lags

        return plot_lags(self, ax, chance=chance)

    def __repr__(self) -> str:
        at = int(np.nanargmax(self.f1)) if not np.isnan(self.f1).all() else None
        told = "F1 undefined"
        if at is not None:
            told = f"best F1 {show_share(float(self.f1[at, 0]))} at tolerance {self.widths[at]}, lag {self.lags[at]}"
        return f"<CoincidenceSweep of {plural(len(self.tolerances), 'window')}: {told}; null {self.null.text}>"


def _without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def sweep_tolerances(
    events: Any,
    alarms: Any,
    *,
    tolerances: Any,
    lags: Any = 0,
    span: Any = None,
    gaps: Any = None,
    in_gaps: InGaps = "error",
    tick: Length | None = None,
    duplicates: Duplicates = "error",
    null: Null = "auto",
    method: Method = "auto",
    n_resamples: int = 10_000,
    rng: Any = None,
) -> CoincidenceSweep:
    """Two lists of times at many tolerances and lags, with the familywise test over them.

    If you try many windows and report the best one, the test must try as many: ``.familywise()`` compares the best
    window with the best that chance finds among the same ones.

    Parameters
    ----------
    events, alarms, span, gaps, in_gaps, tick, duplicates
        As for :func:`nofluke.coincidence`.
    tolerances : a tolerance, or several
        Each as in that function.
    lags : a lag, or several, default 0
        By which each tolerance is moved; at most 10,000 windows in all.
    null : str, NullModel or callable
        "auto" looks at both lists, and at the widest window.
    method, n_resamples, rng
        As for :func:`nofluke.sweep`.

    Returns
    -------
    CoincidenceSweep

    See Also
    --------
    nofluke.coincidence : one tolerance and lag.
    nofluke.sweep : labels on a grid of steps.
    nofluke.plot.lags : draws the result.
    nofluke.CoincidenceSweep : the result.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing.

    Examples
    --------
    >>> import nofluke as nf
    >>> swept = nf.sweep_tolerances([10, 40, 70], [12, 42, 90], tolerances=[0, 2], lags=[0, 2], span=(0, 99))
    >>> swept.to_dict()["cells"]["recall_hits"]
    [0, 2, 2, 2]
    """
    n_resamples, rng = check_resamples(n_resamples), as_rng(rng)
    widths = as_tolerances(tolerances, tolerance_of_times)
    moves = _lags(lags)
    if len(widths) * len(moves) > MOST_VALUES:
        raise InputError(
            problem=f"{len(widths):,} tolerances at {len(moves):,} lags are {len(widths) * len(moves):,} windows, and "
            f"{MOST_VALUES:,} are the most",
            remedy="pass fewer of them, further apart",
        )
    windows = tuple(width.lagged(lag) for width in widths for lag in moves)
    read = read_times(
        events, alarms, tolerances=windows, span=span, gaps=gaps, in_gaps=in_gaps, tick=tick, duplicates=duplicates
    )
    trial = trial_of(read, windows, "zero")
    widest = int(np.argmax([reach.early + reach.late for reach in trial.reaches]))
    choice = choose(null, trial.cell(widest, 0), LEVEL, doubt_of(read))
    choice.check(method)
    choice.model.check(method, trial.cell(0, 0))
    choice.model.fits(trial.truth)
    return CoincidenceSweep(
        trial=trial,
        quantiles=None,
        settings=Settings(choice=choice, method=method, n_resamples=n_resamples, rng=rng),
        left_out=read.left_out,
        notes=(*read.notes, *remarks(trial.cell(0, 0), read), *untold(choice), *choice.notes),
        widths=tuple(_plain(width) for width in widths for _ in moves),
        lags=tuple(str(lag) for _ in widths for lag in moves),
        moves=tuple(width.moved_by(lag) for width in widths for lag in moves),
        occurrences=read,
    )


def _plain(width: Tolerance) -> str:
    told = width.plain()
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    return str(width) if isinstance(told, dict) else str(told)


def _lags(lags: Any) -> list[Any]:
    """One lag or many."""
    found = several(lags, "lags")
    if not found:
        raise InputError(argument="lags", value=lags, problem="is empty", remedy="pass at least one, such as 0")
    return found
