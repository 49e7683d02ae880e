"""NAB: its published detectors compared with chance, pooled over series."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nofluke.plot.style import check_matplotlib
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.nab.study import NabStudy, run_nab_study
from nofluke.reproduce.writing import prepared, written
from nofluke.text.tables import Table

BOARDS = tuple(f"leaderboard.{form}" for form in ("csv", "md", "tex", "html"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NabTable:
    """What was written, and what was found.

    Attributes
    ----------
    directory : Path
        Where the files are; ``index.html`` is the one to open.
    files : tuple of str
        Their names, sorted; the folders of the studies have more than their leaderboards.
    claims : tuple of Claim
        Statements and their outcomes.
    study : NabStudy
        Every number.
    """

    directory: Path
    files: tuple[str, ...]
    claims: tuple[Claim, ...]
    study: NabStudy = field(repr=False)

    def in_words(self) -> str:
        """How many statements hold, as a sentence."""
        return f"{tally(self.claims)}; measured on {self.study.size}."

    def table(self) -> Table:
        """One line a detector: recall, precision and F1 with chance by both nulls, and both verdicts."""
        from nofluke.reproduce.nab.tables import summary

        return summary(self.study)


def reproduce_nab(
    source: str | Path,
    output: str | Path,
    *,
    detectors: Sequence[str] | None = None,
    seed: int = 0,
    n_resamples: int = 10_000,
    workers: int | None = None,
) -> NabTable:
    """Compare the published detectors of the Numenta Anomaly Benchmark with chance, and write a page about it.

    Alarms are on at most 1% of the steps, the tolerance is 1% of each series' length, events are NAB's point labels.
    Chance is by permutation and by ``null="auto"``. NAB's windows, each as one event, make a second table.

    Parameters
    ----------
    source : path
        The folder of a clone of numenta/NAB, or a table (Parquet or text) with the columns series and event, for the
        second table window, and one column of scores a detector.
    output : path
        A directory; made if it does not exist, and a leading ``~`` is your home. Files of an earlier run are replaced.
    detectors : sequence of str, optional
        Which ones, by name or pattern; all if left out.
    seed : int
        Of everything simulated. Same data, seed and versions, same bytes.
    n_resamples : int
        Draws where a cell has no exact law.
    workers : int, optional
        Processes; as many as there are cores if left out. Results do not depend on it.

    Returns
    -------
    NabTable

    Raises
    ------
    InputError
        If matplotlib is missing, the source is neither of both, or the directory cannot be written.

    References
    ----------
    Lavin and Ahmad (2015), Evaluating real-time anomaly detection algorithms: the Numenta Anomaly Benchmark, ICMLA.

    Examples
    --------
    >>> from nofluke.reproduce import reproduce_nab
    >>> done = reproduce_nab("NAB", "out")  # doctest: +SKIP
    >>> print(done.table().text())  # doctest: +SKIP
    """
    from nofluke.reproduce.nab.claims import check_nab_claims
    from nofluke.reproduce.nab.figures import draw
    from nofluke.reproduce.nab.page import render
    from nofluke.reproduce.nab.tables import records

    check_matplotlib()
    with prepared(output) as directory:
        study = run_nab_study(
            source, directory=directory, seed=seed, n_resamples=n_resamples, workers=workers, detectors=detectors
        )
        claims, drawn = check_nab_claims(study), draw(study)
        contents = {f"figure-1.{form}": data for form, data in drawn.formats.items()}
        contents |= {name: text.encode() for name, text in records(study).items()}
        contents["claims.json"] = _claims_json(study, claims).encode()
        contents["index.html"] = render(study, claims, drawn).encode()
        boards = [f"{name}/{board}" for name in study.studies for board in BOARDS]
        files = (*written(directory, contents), *boards)
    return NabTable(directory=directory, files=tuple(sorted(files)), claims=claims, study=study)


def _claims_json(study: NabStudy, claims: tuple[Claim, ...]) -> str:
    found = {
        "data": study.source,
        "series": study.n_series,
        "seed": study.seed,
        "n_resamples": study.n_resamples,
        "claims": [claim.to_dict() for claim in claims],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
