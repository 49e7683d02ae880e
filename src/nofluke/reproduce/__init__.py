"""The paper, reproduced: every figure, table and number, and whether each of its statements holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nofluke.reproduce import claims
from nofluke.reproduce.claim import Claim, Reproduced
from nofluke.reproduce.figures import FIGURES, records
from nofluke.reproduce.nab import NabTable, reproduce_nab
from nofluke.reproduce.page import Topic, check_draws
from nofluke.reproduce.paper import article
from nofluke.reproduce.point_adjustment import PointAdjustment, reproduce_point_adjustment
from nofluke.reproduce.study import Study, run_study

__all__ = [
    "Claim",
    "NabTable",
    "PointAdjustment",
    "Reproduction",
    "Study",
    "reproduce",
    "reproduce_nab",
    "reproduce_point_adjustment",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Reproduced):
    """What was written about the paper, and what was found; ``study`` has every number."""

    study: Study = field(repr=False)

    def _on(self) -> str:
        return "; the data are simulated" if self.study.quakes.simulated else ""


def reproduce(
    output: str | Path, *, simulated: bool = False, seed: int = 0, permutations: int = 10_000
) -> Reproduction:
    """Rerun the study of the paper and write it down as a page, figures, numbers and checked statements.

    Parameters
    ----------
    output : path
        A directory; made if it does not exist, and a leading ``~`` is your home. Files of an earlier run are replaced.
    simulated : bool
        Take ``nofluke.datasets.simulate_quakes(rng=seed)``, with no need of a network; every page says so. Else the
        paper's data are taken from ``NOFLUKE_DATA``, or downloaded and checked.
    seed : int
        Of everything simulated. Same data, seed and versions, same bytes.
    permutations : int
        Random placements of the events, where the paper simulates.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError
        If matplotlib is missing, the data cannot be had, or the directory cannot be written.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences, KDD MiLeTS.

    Examples
    --------
    >>> from nofluke.reproduce import reproduce
    >>> done = reproduce("out", simulated=True)  # doctest: +SKIP
    >>> done.in_words()  # doctest: +SKIP
    """
    check_draws(seed, permutations, "permutations", usual="the paper takes 10,000")
    return PAPER.write(
        output, lambda _: run_study(simulated=simulated, seed=seed, permutations=permutations), Reproduction
    )


PAPER: Topic[Study] = Topic(
    claims=claims.PAPER,
    figures=lambda _: FIGURES,
    records=records,
    article=article,
    about=lambda study: {
        "data": study.quakes.source,
        "simulated": study.quakes.simulated,
        "seed": study.seed,
        "permutations": study.permutations,
    },
    note=lambda study: study.note,
)
