"""Cells of a study that have no result: how many, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nofluke.studies.schema import Values
from nofluke.text.tables import plural

MOST_REASONS = 3  # of which a summary tells


def missing_cells(failed: Values, detectors: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Series, detector and reason of each cell that has no result: a series without any has one for every detector.

    >>> failed = {"series": ["s", "t"], "group": ["", ""], "detector": ["", "b"], "reason": ["no file", "NaN"]}
    >>> list(missing_cells(failed, ("a", "b")))
    [('s', 'a', 'no file'), ('s', 'b', 'no file'), ('t', 'b', 'NaN')]
    """
    for series, detector, reason in zip(failed["series"], failed["detector"], failed["reason"], strict=True):
        for name in (str(detector),) if detector else detectors:
            yield str(series), name, str(reason)


def count_reasons(failed: Values, detectors: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Each reason and how many cells it left without a result, most frequent first."""
    return tuple(Counter(reason for _, _, reason in missing_cells(failed, detectors)).most_common())


def missing_in_words(reasons: tuple[tuple[str, int], ...], n_cells: int) -> tuple[str, ...]:
    """How many cells are missing and the most frequent reasons, a line each; nothing where none is missing.

    >>> missing_in_words((("scores has 3 NaN.", 5), ("no such file.", 1)), 448)
    ('6 of 448 cells are missing:', '5: scores has 3 NaN.', '1: no such file.')
    """
    if not reasons:
        return ()
    total = sum(count for _, count in reasons)
    told = tuple(f"{count:,}: {' '.join(reason.split())}" for reason, count in reasons[:MOST_REASONS])
    rest = reasons[MOST_REASONS:]
    if rest:
        told += (f"{sum(count for _, count in rest):,}: {plural(len(rest), 'other reason')}.",)
    are = "is" if total == 1 else "are"
    return (f"{total:,} of {plural(n_cells, 'cell')} {are} missing:", *told)
