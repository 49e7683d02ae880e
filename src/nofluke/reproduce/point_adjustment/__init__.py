"""Point adjustment: what random scores reach on public labels, beside published values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from nofluke.plot.style import check_matplotlib
from nofluke.reproduce.claim import Claim, tally
from nofluke.reproduce.point_adjustment.claims import check_adjustment_claims
from nofluke.reproduce.point_adjustment.study import AdjustmentStudy, run_adjustment_study
from nofluke.reproduce.writing import prepared, written


@dataclass(frozen=True, slots=True, kw_only=True)
class PointAdjustment:
    """What was written, and what was found.

    Attributes
    ----------
    directory : Path
        Where the files are; ``index.html`` is the one to open.
    files : tuple of str
        Their names, sorted.
    claims : tuple of Claim
        Statements and their outcomes.
    study : AdjustmentStudy
        Every number.
    """

    directory: Path
    files: tuple[str, ...]
    claims: tuple[Claim, ...]
    study: AdjustmentStudy = field(repr=False)

    def in_words(self) -> str:
        """How many statements hold, as a sentence."""
        return f"{tally(self.claims)}."


def reproduce_point_adjustment(output: str | Path, *, seed: int = 0, n_resamples: int = 10_000) -> PointAdjustment:
    """Measure what random scores reach by point adjustment on MSL, SMAP, SMD and PSM, and write it down as a page.

    Parameters
    ----------
    output : path
        A directory; made if it does not exist, and a leading ``~`` is your home. Files of an earlier run are replaced.
    seed : int
        Of all draws. Same labels, seed and versions, same bytes.
    n_resamples : int
        Random scores on each benchmark. Where scores as long as the series have to be made, there are at most 60.

    Returns
    -------
    PointAdjustment

    Raises
    ------
    InputError
        If matplotlib is missing, the labels cannot be had, or the directory cannot be written.

    See Also
    --------
    nofluke.datasets.public_labels : the labels, from ``NOFLUKE_DATA`` or downloaded and checked.
    nofluke.chance : the same for your own labels.

    References
    ----------
    Kim et al. (2022), Towards a rigorous evaluation of time-series anomaly detection, AAAI. Xu et al. (2022), Anomaly
    Transformer: time series anomaly detection with association discrepancy, ICLR.

    Examples
    --------
    >>> from nofluke.reproduce import reproduce_point_adjustment
    >>> done = reproduce_point_adjustment("out")  # doctest: +SKIP
    >>> done.in_words()  # doctest: +SKIP
    """
    from nofluke.reproduce.point_adjustment.figures import draw
    from nofluke.reproduce.point_adjustment.page import render
    from nofluke.reproduce.point_adjustment.records import records

    check_matplotlib()
    with prepared(output) as directory:
        study = run_adjustment_study(seed=seed, n_resamples=n_resamples)
        claims = check_adjustment_claims(study)
        figures = draw(study)
        contents = {f"{name}.{form}": data for name, drawn in figures.items() for form, data in drawn.formats.items()}
        contents |= {f"{name}.csv": text.encode() for name, text in records(study).items()}
        contents["claims.json"] = _claims_json(study, claims).encode()
        contents["index.html"] = render(study, claims, figures).encode()
        return PointAdjustment(directory=directory, files=written(directory, contents), claims=claims, study=study)


def _claims_json(study: AdjustmentStudy, claims: tuple[Claim, ...]) -> str:
    found = {
        "data": {case.name: case.labels.source for case in study.cases},
        "seed": study.seed,
        "n_resamples": study.n_resamples,
        "claims": [claim.to_dict() for claim in claims],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
