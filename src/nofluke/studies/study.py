"""Judge many detectors on many series: read, compute chunk by chunk, keep each part, tell all of it together."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nofluke.arrays import AnyArray
from nofluke.errors import InputError, arg, say
from nofluke.nulls import Null
from nofluke.plain import as_whole, is_text
from nofluke.progress import cells_bar
from nofluke.series.detector import CountAlarms
from nofluke.series.reading import HigherIs, Missing, Overlaps
from nofluke.series.tolerance import Length, Tolerance
from nofluke.series.truth import CountEvents
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case, Chunk, Fault
from nofluke.studies.cells import Cells
from nofluke.studies.folder import Folder
from nofluke.studies.outcome import reason_of
from nofluke.studies.processes import leave_if_importing
from nofluke.studies.quick import Quick
from nofluke.studies.result import Study
from nofluke.studies.rows import Rows, row_of, truth_row
from nofluke.studies.runner import fill
from nofluke.studies.schema import MEASURES, Part, cells_with
from nofluke.studies.sources import read_source
from nofluke.studies.sources.files import check_apart
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



# ---- judge many detectors on many series: read, compute chunk by chunk, keep each part, tell all of it together

def study(
    source: Any,
    *,
    series: str | None = None,
    group: str | None = None,
    truth: str | None = None,
    ranges: Any = None,
    times: str | None = None,
    time_format: str | None = None,
    ranges_time_format: str | None = None,
    truth_as: str = "auto",
    layout: str = "auto",
    data: Any = None,
    warmup: Length | None = None,
    count_events: CountEvents | None = None,
    overlaps: Overlaps = "error",
    missing: Missing = "error",
    scores: Any = None,
    detector: str | None = None,
    threshold: float | None = None,
    quantile: float | None = None,
    budget: float | str | None = None,
    higher_is: HigherIs = "anomalous",
    count_alarms: CountAlarms | None = None,
    refractory: Length | None = None,
    tolerance: Length | Tolerance = 0,
    metrics: str | Iterable[str] = (),
    null: Null = "auto",
    n_resamples: int = 10_000,
    rng: int = 0,
    alpha: float = 0.05,
    title: str = "",
    out: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    resume: bool = True,
) -> Study:
    """Precision and recall of many detectors on many series, compared with chance, then pooled, ranked and compared.

    Every cell, a detector on a series, gets what `evaluate` gives: the same numbers, verdict and notes. What depends
    only on the truth is computed once for each series. A cell that cannot be judged stays missing, with its reason.

    Parameters
    ----------
    source : data frame, mapping of columns, path, or list of paths
        A frame of pandas, polars or pyarrow; a Parquet or text file, a folder or a glob of them; or a folder in one of
        the layouts.
    series, group, truth, times : str, optional
        Names of columns. Files without ``series`` hold a series each, named after the file. ``group`` names independent
        units, such as data sets: comparisons and intervals use groups. Without it each series is a group.
    scores : str or list of str, optional
        Score columns, one for each detector, by name or pattern (``"det_*"``); in the layouts, which detectors, by
        default all.
    time_format, ranges_time_format : str, optional
        Format of times in files that are not ISO 8601, such as ``"%d/%m/%Y %H:%M"``. The file of ``ranges`` has the
        same format unless ``ranges_time_format`` names another; ``"iso"`` is ISO 8601.
    detector : str, optional
        For long tables, the column that names the detector; ``scores`` is then one column.
    layout : {"auto", "wide", "long", "nab", "tsb-ad", "timeeval"}
        How files are arranged; "auto" is "long" with ``detector``, else "wide".
    ranges : path, frame or mapping, optional
        Events in a separate file or object: a table with columns series, start and end, or a mapping (JSON) of series
        to ranges or times.
    data : path, optional
        The folder that holds the labels of "tsb-ad" and "timeeval".
    threshold, quantile, budget : optional
        One of them, as in `evaluate`. Scores with ties need a budget: at a quantile, ties can turn every step into an
        alarm.
    tolerance : int, str, float, timedelta or Tolerance
        As in `evaluate`, or a share of each series' length: "1%" or 0.01, in whole steps.
    null : str, NullModel
        As in `evaluate`; "auto" chooses for each cell.
    metrics : str or iterable of str
        Names of other metrics to test in each cell, as in `significance`.
    truth_as, higher_is, count_events, count_alarms, refractory, missing, overlaps, warmup, n_resamples, alpha
        As in `evaluate`, the same for all cells.
    rng : int
        The seed. Each cell has its own, made from this one and its names; ``evaluate(..., rng=seed)`` repeats it.
    title : str
        What the leaderboard is called.
    out : path, optional
        A folder for study.json, parts, results.parquet, failed.jsonl, timings.parquet and the leaderboard. Without it,
        results live as long as the object.
    workers : int, optional
        Processes of this machine; by default as many as there are cores. Results do not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to compute instead: any executor, such as ``client.get_executor(pure=False, retries=2)`` of a Dask
        cluster.
    resume : bool
        Continue from what is in ``out``, if it is the same study; False starts over.

    Returns
    -------
    Study

    Raises
    ------
    InputError
        If nothing can be judged: a wrong argument, no series, a folder that holds another study.
    Stopped
        On Ctrl-C, a KeyboardInterrupt: finished work is kept in ``out``, and the same call resumes from there.

    See Also
    --------
    nofluke.evaluate : one detector on one series.
    nofluke.compare : several detectors on one series.
    nofluke.significance : other metrics.
    nofluke.Study : the result.

    References
    ----------
    Scharwächter and Müller (2020); Benjamini and Heller (2008), Screening for partial conjunction hypotheses.

    Examples
    --------
    >>> import nofluke as nf, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = (rng.random(6000) < 0.02).astype(int)
    >>> table = {"name": np.repeat([f"s{i:02}" for i in range(12)], 500), "label": truth,
    ...          "det_good": truth + rng.normal(size=6000), "det_random": rng.normal(size=6000)}
    >>> study = nf.study(table, series="name", truth="label", scores="det_*", budget="2%", tolerance=2, workers=1)
    >>> study.detectors, study.n_cells, study.n_missing
    (('det_good', 'det_random'), 24, 0)
    >>> [(row.detector, row.verdict) for row in study.pooled()]
    [('det_good', 'yes'), ('det_random', 'no')]
    """
    leave_if_importing()
    if not is_text(title):
        raise InputError(argument="title", value=title, problem="must be text")
    if not isinstance(resume, bool | np.bool_):
        raise InputError(argument="resume", value=resume, problem="must be True or False")
    workers = None if workers is None else as_whole(workers, "workers", 1)
    asked = Asked.of(
        tolerance=tolerance,
        metrics=metrics,
        rng=rng,
        threshold=threshold,
        quantile=quantile,
        budget=budget,
        null=null,
        higher_is=higher_is,
        count_events=count_events,
        count_alarms=count_alarms,
        refractory=refractory,
        missing=missing,
        overlaps=overlaps,
        warmup=warmup,
        n_resamples=n_resamples,
        alpha=alpha,
    )
    if workers != 1:
        asked.check_sent()
    check_apart(out, source)
    found = read_source(
        source,
        series=series,
        group=group,
        truth=truth,
        scores=scores,
        times=times,
        time_format=time_format,
        ranges_time_format=ranges_time_format,
        detector=detector,
        layout=layout,
        truth_as=truth_as,
        ranges=ranges,
        data=data,
    )
    if times is None and layout in ("auto", "wide", "long") and asked.in_time:
        raise InputError(
            problem=say("{} is a length of time, but the data have no clock", asked.in_time),
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    chunks, detectors = found.chunks(), found.detectors
    n_cells = sum(len(chunk.series) for chunk in chunks) * len(detectors)
    settings = {**asked.plain(), "cut": asked.cut_text, "detectors": list(detectors), "title": title}
    folder = Folder(out)
    folder.begin(
        settings=settings,
        inputs=found.fingerprint,
        parts=len(chunks),
        cells=cells_with(asked.metrics),
        resume=resume,
    )
    with folder, cells_bar("study", n_cells) as progress:
        fill(
            folder,
            partial(part_of, asked=asked),
            chunks,
            detectors=len(detectors),
            workers=workers,
            executor=executor,
            progress=progress,
        )
    made = Study(folder=folder, settings=settings, asked=asked, chunks=chunks)
    return made.settled(workers=workers, executor=executor, write=out is not None)

