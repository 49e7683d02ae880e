"""From a chunk to its part: every cell of every case, what failed with its reason, and how long each took."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.errors import InputError
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case, Chunk, Fault
from nofluke.studies.cells import Cells
from nofluke.studies.outcome import reason_of
from nofluke.studies.quick import Quick
from nofluke.studies.rows import Rows, row_of, truth_row
from nofluke.studies.schema import MEASURES, Part
from nofluke.studies.stored_laws import law_row


def part_of(chunk: Chunk, asked: Asked) -> Part:
    """All cells of a chunk."""
    rows = Rows(asked.metrics)
    for case in chunk.read():
        add_case(case, asked, rows)
    return rows.part()


def add_case(case: Case, asked: Asked, rows: Rows) -> None:
    """All cells of a case: nothing that is wrong with one of them stops another."""
    if isinstance(case.truth, Fault):
        rows.fail(case, "", case.truth.reason)
        return
    detectors: dict[str, AnyArray] = {}
    for name, scores in case.detectors.items():
        if isinstance(scores, Fault):
            rows.fail(case, name, scores.reason)
        else:
            detectors[name] = np.asarray(scores)
    shared = Cells(case, asked)
    begun = time.perf_counter()
    quick = _quick(shared, detectors)
    share = (time.perf_counter() - begun) / max(len(quick), 1)
    known = False
    for name, scores in detectors.items():
        begun = time.perf_counter()
        try:
            found = quick.get(name)
            if found is None:
                result = shared.evaluation(name, scores)
                row = row_of(case, name, result)
                laws = [law_row(test.law, test.measure) for test in (result.precision_test, result.recall_test)]
            else:
                row, laws = found[0], [{"measure": m, **law} for m, law in zip(MEASURES, found[1], strict=True)]
            row |= shared.metrics(name, scores)
            if not known:
                rows.truths.append(truth_row(case, shared.cell))
                known = True
        except Exception as error:  # whatever it is, the other cells go on
            rows.fail(case, name, reason_of(error))
            continue
        rows.cells.append(row)
        rows.laws.extend({"series": case.series, "detector": name, **law} for law in laws)
        spent = time.perf_counter() - begun + (share if name in quick else 0.0)
        rows.timings.append({"series": case.series, "detector": name, "seconds": spent})


def _quick(shared: Cells, detectors: dict[str, AnyArray]) -> dict[str, Any]:
    """Rows by the short way; what goes wrong on it is found, and said, on the other."""
    try:
        return Quick(shared, detectors).rows()
    except InputError:
        return {}
