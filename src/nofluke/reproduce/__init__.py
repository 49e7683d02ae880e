"""The paper, reproduced: every figure, table and number, and whether each of its statements holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from nofluke.plot.style import check_matplotlib
from nofluke.progress import progress_bar
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.claims import check_claims
from nofluke.reproduce.nab import NabTable, reproduce_nab
from nofluke.reproduce.point_adjustment import PointAdjustment, reproduce_point_adjustment
from nofluke.reproduce.study import Study, run_study
from nofluke.reproduce.writing import prepared, written

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
class Reproduction:
    """What was written, and what was found.

    Attributes
    ----------
    directory : Path
        Where the files are; ``index.html`` is the one to open.
    files : tuple of str
        Their names, sorted.
    claims : tuple of Claim
        The paper's statements and their outcomes.
    study : Study
        Every number.
    """

    directory: Path
    files: tuple[str, ...]
    claims: tuple[Claim, ...]
    study: Study = field(repr=False)

    def in_words(self) -> str:
        """How many statements hold, as a sentence."""
        return tally(self.claims) + ("; the data are simulated." if self.study.quakes.simulated else ".")


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
    from nofluke.reproduce.figures import FIGURES, draw
    from nofluke.reproduce.page import render
    from nofluke.reproduce.records import records

    check_matplotlib()
    with prepared(output) as directory:
        study = run_study(simulated=simulated, seed=seed, permutations=permutations)
        claims = check_claims(study)
        figures = {}
        with progress_bar("figures", len(FIGURES)) as advance:
            for done, name in enumerate(FIGURES):
                figures[name] = draw(name, study)
                advance(done + 1)
        contents = {f"{name}.{form}": data for name, drawn in figures.items() for form, data in drawn.formats.items()}
        contents |= {f"{name}.csv": text.encode() for name, text in records(study).items()}
        contents["claims.json"] = _claims_json(study, claims).encode()
        contents["index.html"] = render(study, claims, figures).encode()
        files = written(directory, contents)
    return Reproduction(directory=directory, files=files, claims=claims, study=study)


def _claims_json(study: Study, claims: tuple[Claim, ...]) -> str:
    found = {
        "data": study.quakes.source,
        "simulated": study.quakes.simulated,
        "seed": study.seed,
        "permutations": study.permutations,
        "claims": [claim.to_dict() for claim in claims],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
