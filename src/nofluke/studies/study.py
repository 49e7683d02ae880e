"""Judge many detectors on many series: read, compute chunk by chunk, keep each part, tell all of it together."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from nofluke.errors import InputError, arg, named, say
from nofluke.nulls import Null
from nofluke.plain import as_whole, check_word, is_text
from nofluke.progress import cells_bar
from nofluke.series.arguments import AboutCells, takes
from nofluke.series.detector import CutTies
from nofluke.series.tolerance import Length, Tolerance
from nofluke.studies.asked import Asked
from nofluke.studies.cases import Case, Chunk, Fault, reason_of
from nofluke.studies.cells import Cells, Ready
from nofluke.studies.draws import hits_at_shifts, joint_of, joint_row, kept_draws, seed_of
from nofluke.studies.memory import Memory
from nofluke.studies.result import RANKED, Study
from nofluke.studies.rows import Rows, row_of, truth_row
from nofluke.studies.run import fill, refuse_while_loading
from nofluke.studies.sources import check_apart, read_source
from nofluke.studies.store import Folder, Part, cells_with, law_row

# ---- from a chunk to its part: every cell of every case, what failed with its reason, and how long each took; what
# detectors share counts with the first of them


def part_of(chunk: Chunk, asked: Asked) -> Part:
    """All cells of a chunk."""
    rows = Rows(asked.metrics)
    for case in asked.cases(chunk):
        add_case(case, asked, rows)
    return rows.part()


def add_case(case: Case, asked: Asked, rows: Rows) -> None:
    """All cells of a case: nothing that is wrong with one of them stops another."""
    if isinstance(case.truth, Fault):
        rows.fail(case, "", case.truth.reason)
        return
    cells = Cells(case, asked)
    known = False
    for name, one in cells.ready():
        if not isinstance(one, Ready):
            rows.fail(case, name, one)
            continue
        begun = time.perf_counter()
        try:
            result = cells.evaluation(one)
            cell, choice, joint = result.cell, result.settings.choice, None
            row = row_of(case, name, result) | cells.metrics(name, one.scores)
            laws = [law_row(test.law, test.measure) for test in (result.precision_test, result.recall_test)]
            if choice.holds:
                joint = joint_of(cell, choice.model, asked.kept_draws, seed_of(asked, case.series, name))
                shifted = hits_at_shifts(cell)
            if not known:
                rows.truths.append(truth_row(case, cell))
                known = True
        except Exception as error:  # whatever it is, the other cells go on
            rows.fail(case, name, reason_of(error))
            continue
        rows.cells.append(row)
        rows.laws.extend({"series": case.series, "detector": name, **law} for law in laws)
        if choice.holds:
            rows.shifts.add(case, name, shifted)
        if joint is not None:
            rows.joints.append(joint_row(case.series, name, joint))
        rows.timings.append(
            {"series": case.series, "detector": name, "seconds": one.seconds + time.perf_counter() - begun}
        )


# ---- judge many detectors on many series: read, compute chunk by chunk, keep each part


@takes(
    AboutCells,
    like="evaluate",
    own=("threshold", "quantile", "budget", "test_part", "warmup"),
    after=("data", "detector"),
)
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
    layout: str = "auto",
    pattern: str | None = None,
    labels: str | Path | None = None,
    data: Any = None,
    scores: Any = None,
    score_column: str | None = None,
    detector: str | None = None,
    cut_ties: CutTies = "drop",
    tolerance: Length | Tolerance = 0,
    metrics: str | Iterable[str] = (),
    rank_by: str = "f1",
    null: Null = "auto",
    n_resamples: int = 10_000,
    rng: int = 0,
    alpha: float = 0.05,
    title: str = "",
    out: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    resume: bool = True,
    **about: Unpack[AboutCells],
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
    layout : {"auto", "wide", "long", "folders", "nab", "tsb-ad", "timeeval"}
        How files are arranged; "auto" is "long" with ``detector``, else "wide".
    pattern, labels, score_column : str, optional
        For "folders": how the paths of scores below ``source`` are made, with ``{series}``, ``{detector}`` and
        ``{group}`` in place of names and ``*`` of anything, such as ``"{group}/{detector}/score/{series}.zip"``; the
        path of labels, with such names or of one table for all series; and the column of scores, by name or position,
        where files have several, as ``truth`` is that of labels. Files are arrays of NumPy, text or Parquet, zipped or
        not.
    ranges : path, frame or mapping, optional
        Events in a separate file or object: a table with columns series, start and end, or a mapping (JSON) of series
        to ranges or times.
    data : path, optional
        The folder that holds the labels of "tsb-ad" and "timeeval".
    threshold, quantile, budget : optional
        One of them, as in `evaluate`. Scores with ties need a budget: at a quantile, ties can turn every step into an
        alarm.
    cut_ties : {"drop", "random"}
        What becomes of scores that are tied at the cut of a budget: none of them are alarms, or as many of them as the
        budget allows, picked at random. Rounded scores may be left without any alarm by the first. The choice is made
        by the seed of the cell, whatever the truth, so that p-values stay valid.
    tolerance : int, str, float, timedelta or Tolerance
        As in `evaluate`, or a share of each series' length: "1%" or 0.01, in whole steps.
    null : str, NullModel
        As in `evaluate`; "auto" chooses for each cell. "series-exchange" is auto for cells, and pools with labels
        exchanged between series of the same length, test part and group, as "auto" does where events of many series
        begin at the same places.
    metrics : str or iterable of str
        Names of other metrics, as in `significance`: each is tested in every cell, and its mean over series has columns
        of its own in the leaderboard, with chance, interval, p-value and verdict, corrected for all detectors and
        metrics.
    rank_by : str
        What the leaderboard is ranked by: "f1", "precision", "recall", or one of the metrics.
    warmup : optional
        As in `evaluate`, the same for all series; a mapping of series to theirs, of which the others have none; or the
        name of a column that has the same number of steps, or share, in all rows of a series: "column:150" where the
        name alone would mean something else.
    test_part : optional
        As in `evaluate`, the same for all series; a column of 0/1, named likewise; or "names": names of UCR's archive
        and of TSB-AD say where training ends.
    <about>
    n_resamples, alpha
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
    refuse_while_loading()
    if not is_text(title):
        raise InputError(argument="title", value=title, problem="must be text")
    if not isinstance(resume, bool | np.bool_):
        raise InputError(argument="resume", value=resume, problem="must be True or False")
    workers = None if workers is None else as_whole(workers, "workers", 1)
    asked = Asked.of(
        tolerance=tolerance,
        metrics=metrics,
        null=null,
        n_resamples=n_resamples,
        rng=rng,
        alpha=alpha,
        cut_ties=cut_ties,
        **about,
    )
    check_word(rank_by, "rank_by", (*RANKED, *asked.metrics))
    if workers != 1:
        asked.check_sent(executor)
    check_apart(out, source)
    align = asked.about.reading["align"]
    if align is not None and ranges is not None and times is None and layout != "nab":
        raise InputError(
            argument="align",
            value=align,
            problem=say("needs the number of steps, which {} do not tell", named("ranges")),
            remedy=say("pass {}, or leave it out", arg("times")),
        )
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
        truth_as=asked.about.reading["truth_as"],
        test_part=asked.part_column,
        warmup=asked.warmup_column,
        align=align,
        ranges=ranges,
        data=data,
        pattern=pattern,
        labels=labels,
        score_column=score_column,
    )
    if times is None and layout in ("auto", "wide", "long") and asked.in_time:
        raise InputError(
            problem=say("{} is a length of time, but the data have no clock", asked.in_time),
            remedy=say("pass {}, or a number of steps", arg("times")),
        )
    chunks, detectors = found.parts, found.detectors
    asked.check_names(name for chunk in chunks for name in chunk.series)
    n_series = sum(len(chunk.series) for chunk in chunks)
    n_cells, asked = n_series * len(detectors), replace(asked, kept_draws=kept_draws(asked.n_resamples, n_series))
    settings = {**asked.plain(), "cut": asked.cut_text, "detectors": list(detectors), "title": title}
    folder = Memory() if out is None else Folder(out)
    folder.begin(
        settings=settings,
        inputs=found.fingerprint,
        parts=[len(chunk.series) for chunk in chunks],
        cells=cells_with(asked.metrics),
        resume=resume,
        unused=found.unused,
    )
    with folder:
        with cells_bar("study", n_cells) as progress:
            fill(
                folder,
                partial(part_of, asked=asked),
                chunks,
                detectors=len(detectors),
                workers=workers,
                executor=executor,
                progress=progress,
            )
        made = Study(folder=folder, settings=settings, asked=asked, chunks=chunks, rank_by=rank_by, unused=found.unused)
        return made.settled(workers=workers, executor=executor)
