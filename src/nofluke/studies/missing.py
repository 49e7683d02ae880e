"""Cells of a study that have no result: how many, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nofluke.errors import in_one_line, kind_of, say
from nofluke.studies.schema import Values
from nofluke.text.tables import plural

MOST_REASONS = 3  # of which a summary tells
MOST_NAMED = 3  # series, for each


def missing_cells(failed: Values, detectors: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Series, detector and reason of each cell that has no result: a series without any has one for every detector.

    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["", "b"], "reason": ["no file", "NaN"]}
    >>> list(missing_cells(failed, ("a", "b")))
    [('s', 'a', 'no file'), ('s', 'b', 'no file'), ('t', 'b', 'NaN')]
    """
    for series, detector, reason in zip(failed["series"], failed["detector"], failed["reason"], strict=True):
        for name in (str(detector),) if detector else detectors:
            yield str(series), name, reason


def count_reasons(failed: Values, detectors: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Each kind of reason, where it came up, and how many cells it left without a result, most frequent first.

    Of reasons of one kind, the first is told.

    >>> from nofluke.errors import Remark
    >>> reasons = [Remark("NaN", "{} NaN at {}.", *values) for values in ((1, "145"), (2, "3 and 9"))]
    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["b", "b"], "reason": reasons}
    >>> count_reasons(failed, ("a", "b"))
    (('1 NaN at 145. (b on s, t)', 2),)
    """
    kinds: dict[str, list[tuple[str, str, str]]] = {}
    for cell in missing_cells(failed, detectors):
        kinds.setdefault(kind_of(cell[2]), []).append(cell)
    found = sorted(kinds.values(), key=len, reverse=True)
    return tuple((say("{} ({})", cells[0][2], _where(cells)), len(cells)) for cells in found)


def failed_altogether(failed: Values, detectors: tuple[str, ...], with_results: Collection[str]) -> dict[str, str]:
    """What is said of each detector without a single result: that all its cells failed, and the most frequent reason.

    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["b", ""], "reason": ["1 NaN.", "1 NaN."]}
    >>> failed_altogether(failed, ("a", "b"), ["a"])
    {'b': 'All of its 2 cells failed: 1 NaN.'}
    """
    lost: dict[str, dict[str, list[str]]] = {}
    for _, detector, reason in missing_cells(failed, detectors):
        if detector not in with_results:
            lost.setdefault(detector, {}).setdefault(kind_of(reason), []).append(reason)
    said: dict[str, str] = {}
    for detector, kinds in lost.items():
        n, reason = sum(map(len, kinds.values())), max(kinds.values(), key=len)[0]
        which = f"All of its {n:,} cells" if n > 1 else "Its only cell"
        said[detector] = say("{} failed: {}{}", which, reason, "" if reason.endswith(".") else ".")
    return said


def _where(cells: list[tuple[str, str, str]]) -> str:
    names, series = (list(dict.fromkeys(cell[i] for cell in cells)) for i in (1, 0))
    who = names[0] if len(names) == 1 else plural(len(names), "detector")
    more = f" and {len(series) - MOST_NAMED:,} more" if len(series) > MOST_NAMED else ""
    return f"{who} on {', '.join(series[:MOST_NAMED])}{more}"


def missing_in_words(reasons: tuple[tuple[str, int], ...], n_cells: int) -> tuple[str, ...]:
    """How many cells are missing and the most frequent reasons, a line each; nothing where none is missing.

    >>> missing_in_words((("scores has 3 NaN.", 5), ("no such file.", 1)), 448)
    ('6 of 448 cells are missing:', '5: scores has 3 NaN.', '1: no such file.')
    """
    if not reasons:
        return ()
    total = sum(count for _, count in reasons)
    told: tuple[str, ...] = tuple(say("{:,}: {}", count, in_one_line(why)) for why, count in reasons[:MOST_REASONS])
    rest = reasons[MOST_REASONS:]
    if rest:
        told += (f"{sum(count for _, count in rest):,}: {plural(len(rest), 'other reason')}.",)
    are = "is" if total == 1 else "are"
    return (f"{total:,} of {plural(n_cells, 'cell')} {are} missing:", *told)
