"""A page about one detector, or several side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from nofluke.data.columns import frame_columns, has_ends
from nofluke.errors import InputError
from nofluke.inference.compare import Comparison, compare_read, error_of, read_several
from nofluke.inference.evaluate import Evaluation, Question, evaluate, evaluate_trial
from nofluke.nulls import Null
from nofluke.nulls.base import Method, some_seed
from nofluke.progress import progress_bar
from nofluke.series.arguments import AboutDetector, takes
from nofluke.series.tolerance import Length, Tolerance

SWAPS = 9_999  # as compare's, whatever the resamples of chance: they cost next to nothing
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Detectors compared, and the evaluation of each by its name, best F1 first."""

    comparison: Comparison
    results: Mapping[str, Evaluation] = field(repr=False)
    seed: int


def evaluate_several(truth: Any, scores: Any, *, chance: Mapping[str, Any], **asked: Any) -> SideBySide:
    """Detectors from the arguments of `compare`, on their common steps; ``chance`` holds arguments of `evaluate`."""
    settled = Question(**chance)
    detectors, notes = read_several(truth, scores, **asked)
    how = {"alpha": settled.alpha, "level": LEVEL, "n_resamples": SWAPS, "rng": chance["rng"]}
    comparison = compare_read(detectors, notes, **how)
    results: dict[str, Evaluation] = {}
    with progress_bar("detectors", len(detectors)) as advance:
        for done, name in enumerate(comparison.detectors, start=1):
            one = detectors[name]
            own = replace(settled, alarms=one.alarms)
            try:
                results[name] = evaluate_trial(one.made, one.sequence, one.cuts, own, asked.get("count_events"))
            except InputError as error:
                raise error_of(name, error) from None
            advance(done)
    return SideBySide(comparison=comparison, results=results, seed=chance["rng"])


# ---- one page about several detectors of a series, side by side, with the own page of each; or about one


@takes(AboutDetector, like="evaluate", own=("predictions",))
def report(
    truth: Any,
    scores: Any = None,
    *,
    path: str | Path = "report.html",
    tolerance: Length | Tolerance = 0,
    null: Null = "auto",
    method: Method = "auto",
    n_resamples: int = 10_000,
    rng: Any = 0,
    alpha: float = 0.05,
    title: str | None = None,
    metrics: Any = (),
    **about: Unpack[AboutDetector],
) -> Path:
    r"""Write a page about several detectors: which is best, which are better than chance, and a page for each.

    The page ranks detectors by F1, as `compare` does, and compares precision, recall and F1 of each with chance, as
    `evaluate` does. Looking at K detectors gives luck K tries: verdicts use p-values corrected for all of them by
    Holm's method, measure by measure,

    .. math::
        \tilde p_{(i)} = \max_{j \le i} \min(1, (K - j + 1)\, p_{(j)})

    All curves are in one figure, all differences in one table. Each detector has its own page in the same file, the one
    that ``evaluate(...).report(path)`` writes; the verdict there is about that detector alone.

    Parameters
    ----------
    truth, tolerance
        As in `compare`, the same for all detectors.
    <about>
    scores : mapping of str to array-like, data frame, or array-like, optional
        The scores of each detector by its name; of a frame, each column is a detector. One array gives the page of one
        detector.
    predictions : likewise, optional
        Alarms of detectors that have no scores.
    path : str or Path
        The HTML file to write; a leading ``~`` is your home. An older page stays until the new one is complete.
    null, method, n_resamples, alpha
        What chance does and how it is computed, as in `evaluate`; ``alpha`` is the level of verdicts and comparisons.
    rng : int, Generator, SeedSequence or None
        One seed for everything simulated. With the default the same input gives the same bytes.
    title : str, optional
        Heading of the page.
    metrics : list of metrics, optional
        Other metrics to test against chance on the page of each detector: see `significance`.

    Returns
    -------
    Path
        Where the page is.

    See Also
    --------
    nofluke.evaluate : one detector; its result has its own ``report``.
    nofluke.compare : the differences as numbers.
    nofluke.study : many series.

    Notes
    -----
    A detector without alarms has no precision and no F1: it comes last, and nothing can be said about it. An undefined
    measure has no p-value, but still counts as one of the K tries. Without scripts, the page still has everything but
    the own pages of the detectors.

    References
    ----------
    Scharwächter and Müller (2020). Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> import nofluke as nf, tempfile
    >>> truth = [0, 1, 0, 0, 0, 1, 0, 0] * 10
    >>> detectors = {"good": [0, 5, 1, 0, 2, 6, 1, 0] * 10, "poor": [3, 1, 4, 1, 5, 9, 2, 6] * 10}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = nf.report(truth, detectors, quantile=0.75, path=f"{folder}/report.html")
    ...     text = path.read_text(encoding="utf-8")
    >>> "good has the best F1, significantly better than every other at the 0.05 level." in text
    True
    """
    from nofluke.show.several import check_page, write_several

    check_page(path, title)  # before the work
    seed = some_seed(rng)
    chance: dict[str, Any] = {"null": null, "method": method, "n_resamples": n_resamples, "rng": seed, "alpha": alpha}
    if not (_several(scores) or _several(about.get("predictions"))):
        one = evaluate(truth, scores, tolerance=tolerance, **about, **chance)
        return one.report(path, title=title, metrics=metrics)
    found = evaluate_several(truth, scores, tolerance=tolerance, **about, chance=chance)
    return write_several(found, path, title=title, metrics=metrics)


def _several(value: Any) -> bool:
    """Whether an argument has detectors by name; one column is one detector, and so is a frame of events."""
    if isinstance(value, Mapping) or value is None:
        return value is not None
    names = [name for name, _ in frame_columns(value) or ()]
    return len(names) > 1 and "ilocs" not in names and not has_ends(names)
