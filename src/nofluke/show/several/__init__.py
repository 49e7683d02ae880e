"""Several detectors on one page: side by side in an overview, each with the report that it would have alone."""

from __future__ import annotations

import hashlib
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from nofluke import __version__
from nofluke.data.paths import name_of_list
from nofluke.data.tables import quoted
from nofluke.errors import InputError, joined, say
from nofluke.inference.compare import Comparison, Difference, error_of
from nofluke.inference.corrections import holm
from nofluke.inference.evaluate import Evaluation, shown_f1
from nofluke.inference.report import SideBySide
from nofluke.inference.verdict import Ruling, Verdict, ruled_as_found
from nofluke.plot.curves import SIDES
from nofluke.plot.style import SERIES
from nofluke.ratios import divide
from nofluke.show.kit import check_page, in_names, markup, packed_json, page, read, shortened, written
from nofluke.show.kit.figure import Description, drawn, row_height, rows_of_dots
from nofluke.show.leaderboard.page import opening
from nofluke.show.report import Parts, Source, body_of, data_of, parts_of, script
from nofluke.show.report.figures import stretched, stretched_axis
from nofluke.show.report.next_steps import RULES
from nofluke.show.report.origin import USUAL_RESAMPLES, Code, chosen_code, digest_of, digests_of, reading_code, unusual
from nofluke.studies.pooled_row import MEASURES, NAMES, PooledMeasure, p_or_dash
from nofluke.text.tables import plural, show_number, show_share

# ---- each detector beside chance: p-values corrected for all of them, and the verdicts that use these

MOST_NAMED, LONGEST_NAMED = 5, 60  # names in a sentence, and letters of one
SAID: dict[Verdict, str] = {
    "yes": "Better than chance",
    "partly": "Partly",
    "no": "Could be a fluke",
    "cannot tell": "Cannot tell",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One detector: measures, verdict corrected for all detectors, and whether the best is not significantly better."""

    detector: str
    result: Evaluation = field(repr=False)
    measures: Mapping[str, PooledMeasure]
    ruling: Ruling
    best: bool

    @property
    def verdict(self) -> Verdict:
        """By the corrected p-values."""
        return self.ruling.verdict

    @property
    def doubtful(self) -> bool:
        """Whether the data speak against the null that was asked for."""
        return bool(self.result.settings.choice.doubts)


def rows_of(found: SideBySide) -> tuple[Row, ...]:
    """All detectors in the order of the comparison."""
    comparison, results = found.comparison, found.results
    best = comparison.not_told_from_best
    measured = {
        name: _measures(results[name], values, ends)
        for name, values, ends in zip(
            comparison.detectors,
            comparison.values.tolist(),
            ([(one.low, one.high) for one in own] for own in comparison.intervals),
            strict=True,
        )
    }
    corrected = {
        # what is undefined could have been defined: it counts among the tries
        measure: holm(np.nan_to_num([own[measure].pvalue for own in measured.values()], nan=1.0)).tolist()
        for measure in MEASURES
    }
    return tuple(
        Row(
            detector=name,
            result=results[name],
            measures={
                m: replace(own[m], corrected=math.nan if math.isnan(own[m].pvalue) else corrected[m][i])
                for m in MEASURES
            },
            ruling=_ruled(results[name], {m: corrected[m][i] for m in SIDES}, len(measured)),
            best=name in best,
        )
        for i, (name, own) in enumerate(measured.items())
    )


def _measures(result: Evaluation, values: list[float], ends: list[tuple[float, float]]) -> dict[str, PooledMeasure]:
    tests = (result.precision_test, result.recall_test)
    chance: list[dict[str, Any]] = [
        {
            "expected": divide(test.expected, test.of),
            "std": divide(test.std, test.of),
            "pvalue": test.pvalue if test.of else math.nan,
            "method": test.method,
        }
        for test in tests
    ]
    f1 = shown_f1(result.cell, result.settings, tests, "auto")
    chance.append({} if f1 is None else {name: getattr(f1, name) for name in chance[0]})
    return {
        measure: PooledMeasure(value=value, low=low, high=high, **own)
        for measure, value, (low, high), own in zip((*SIDES, "f1"), values, ends, chance, strict=True)
    }


def _ruled(result: Evaluation, corrected: dict[str, float], n: int) -> Ruling:
    """The verdict by corrected p-values; what Bonferroni's n-fold p could not have reached cannot be told."""

    def hopeless(measure: str) -> bool:
        return result.floor_above(measure, result.alpha / n) is not None

    return ruled_as_found(result.ruling, corrected, hopeless, result.alpha, plural(n, "detector"))


def best_in_words(found: SideBySide) -> str:
    """Which detector is best, or that they cannot be told apart."""
    comparison = found.comparison
    group = comparison.not_told_from_best
    if len(group) < 2 or len(group) < len(comparison.detectors):
        return comparison.verdict_in_words()
    values = dict(zip(comparison.detectors, comparison.values[:, 2].tolist(), strict=True))
    pairs = f", corrected for {plural(comparison.n_pairs, 'pair')}" if comparison.n_pairs > 1 else ""
    told = _names([f"{name} {show_share(values[name])}" for name in group])
    return (
        f"No detector is significantly worse than the best at the {comparison.alpha:.3g} level{pairs}: by F1 they are "
        f"{told}."
        if len(group) > 2
        else f"{group[0]} and {group[1]} do not differ significantly at the {comparison.alpha:.3g} level: by F1 they are {told}."
    )


def chance_in_words(rows: tuple[Row, ...]) -> str:
    """Which detectors are better than chance."""
    by: dict[Verdict, list[str]] = {verdict: [r.detector for r in rows if r.verdict == verdict] for verdict in SAID}
    corrected = f"corrected for {plural(len(rows), 'detector')}"
    if len(by["yes"]) == len(rows):
        return f"All are better than chance, {corrected}."
    if not by["yes"] and not by["partly"]:
        none = f"None is shown to be better than chance, {corrected}."
        return none if not by["no"] or not by["cannot tell"] else f"{none} {_listed(by, ('no', 'cannot tell'))}"
    first = f"Better than chance, {corrected}: {_names(by['yes']) or 'none'}."
    return f"{first} {_listed(by, ('partly', 'no', 'cannot tell'))}"


def _listed(by: Mapping[Verdict, list[str]], verdicts: tuple[Verdict, ...]) -> str:
    return " ".join(f"{SAID[verdict]}: {_names(by[verdict])}." for verdict in verdicts if by[verdict])


def _names(names: list[str]) -> str:
    """The first of many, best first; the ranking has all."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(shortened(name, LONGEST_NAMED) for name in names[:MOST_NAMED]) + more


# ---- figures: dots beside chance, and all curves in one

Number = float | None
LONGEST = 20  # of a name that fit beside dots


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One detector at all its thresholds: positions, both measures, what chance gives there, and the evaluated one."""

    detector: str
    at: list[Number]
    precision: list[Number]
    recall: list[Number]
    chance_precision: list[Number]
    chance_recall: list[Number]
    chosen: int


def curve_of(row: Row, payload: dict[str, Any]) -> Curve:
    """A detector's curve at the evaluated tolerance; given alarms stand at the share of steps without one."""
    d, k = payload["chosen"]
    cells = payload["cells"][d]
    at = [one["position"] for one in payload["thresholds"]]
    if row.result.sequence.scores is None:
        at = [1 - row.result.n_predictions / row.result.n] if row.result.n else [0.0]
    return Curve(
        detector=row.detector,
        at=[stretched(position, row.result.n) for position in at],
        precision=[cell["precision"]["value"] for cell in cells],
        recall=[cell["recall"]["value"] for cell in cells],
        chance_precision=[cell["precision"]["share"]["mean"] for cell in cells],
        chance_recall=[cell["recall"]["share"]["mean"] for cell in cells],
        chosen=k,
    )


def dot_plots(rows: tuple[Row, ...]) -> dict[str, Description]:
    """A figure for each measure, a line for each detector in each, all on one scale."""
    made = {
        f"dots-{m}": rows_of_dots(rows, [row.measures[m] for row in rows], verdicts=m == MEASURES[0], letters=LONGEST)
        for m in MEASURES
    }
    end = max(one["x"]["range"][1] for one in made.values())
    for one in made.values():
        one["x"]["range"] = [0, end]
    return made


def curves_of(curves: Sequence[Curve]) -> dict[str, Description]:
    """Three figures of all detectors: both measures by threshold, and precision against recall."""
    places = [x for curve in curves for x in curve.at if x is not None]
    across = stretched_axis(places or [0.0, 1.0], "threshold, as a quantile of the detector’s scores")
    tops = {measure: _top(curves, measure) for measure in SIDES}
    made: dict[str, Description] = {
        f"by-{measure}": {"x": across, "y": {"range": [0, top]}, "layers": []} for measure, top in tops.items()
    }
    made["against"] = {
        "x": {"title": "recall", "range": [-0.02, 1.03]},
        "y": {"title": "precision", "range": [0, tops["precision"]]},
        "layers": [],
    }
    for i, one in enumerate(curves):
        _draw(made["by-precision"], i, one, (one.at, one.precision), (one.at, one.chance_precision))
        _draw(made["by-recall"], i, one, (one.at, one.recall), (one.at, one.chance_recall))
        _draw(made["against"], i, one, (one.recall, one.precision), (one.chance_recall, one.chance_precision))
    return made


def colours() -> str:
    """The colours of lines as the style sheet takes them, those of all of nofluke's figures."""
    mixed = [f"color-mix(in srgb, {one[0].lower()} 85%, var(--ink))" for one in SERIES]
    own = "".join(f".s{i} {{ --own: var(--s{i}); }}\n" for i in range(len(mixed)))
    return f":root {{ {' '.join(f'--s{i}: {mix};' for i, mix in enumerate(mixed))} }}\n{own}"


def _top(curves: Sequence[Curve], measure: str) -> float:
    """Where the axis of one measure ends, of all curves and of chance."""
    seen = [x for curve in curves for x in (*getattr(curve, measure), *getattr(curve, f"chance_{measure}"))]
    return min(1.08 * max((x for x in seen if x is not None and math.isfinite(x)), default=1.0), 1.04) or 1.0


def _draw(figure: Description, i: int, curve: Curve, own: tuple[Any, Any], chance: tuple[Any, Any]) -> None:
    """Chance, the line with its points, and a ring where the detector was evaluated; then what all of it is called."""
    name = _style(i)
    figure["layers"] += [
        {"kind": "line", "name": f"s{i % len(SERIES)} own of-chance", "x": chance[0], "y": chance[1]},
        {"kind": "line", "name": name, "x": own[0], "y": own[1], "dots": True},
        {"kind": "ring", "name": name, "x": own[0][curve.chosen], "y": own[1][curve.chosen]},
    ]
    tell = figure.setdefault("tell", {"x": [], "y": [], "texts": []})
    for x, y, precision, recall in zip(*own, curve.precision, curve.recall, strict=True):
        tell["x"].append(x)
        tell["y"].append(y)
        values = ", ".join(
            f"{side} {'undefined' if value is None else f'{value:.3g}'}"
            for side, value in (("precision", precision), ("recall", recall))
        )
        tell["texts"].append(f"{curve.detector}\n{values}")


def _style(i: int) -> str:
    """Colours come again after some; then lines are dashed, then dotted."""
    return f"s{i % len(SERIES)} own {('solid', 'dashed', 'dotted')[i // len(SERIES) % 3]}"


# ---- where the page comes from: input and SHA-256, settings, and what to type to get it again

OUTPUTS = ("--scores", "--predictions")
OF_ALARMS = (
    *("--predictions", "--predictions-file", "--predictions-start", "--predictions-end", "--predictions-time-format"),
    *("--where", "--by"),
)
"""Options about alarms that have a file of their own."""
PASSED = (("", "scores"), ("predictions=", "predictions"))


def own_source(source: Source | None, detector: str) -> Source | None:
    """The source as if it were of one detector: its own column, and the command without the others."""
    if source is None:
        return None
    roles = {role: role.partition(":") for role in source.columns}
    kinds = {kind: role for role, (kind, several, name) in roles.items() if not several or name == detector}
    scored, listed = "scores" in kinds, source.predictions_file is not None
    words, kept = iter(shlex.split(source.command)), []
    where = source.where
    if source.by is not None and not scored:
        one = f"{quoted(source.by)} = '{detector.replace(chr(39), 2 * chr(39))}'"
        where = one if where is None else f"({where}) AND {one}"
    for word in words:
        if listed and word in OF_ALARMS:
            value = next(words)
            if not scored and (source.by is None or word not in ("--by", "--where")):
                kept += [word, value]
            elif not scored and word == "--by":
                kept += ["--where", str(where)]
        elif word in OUTPUTS:
            name = next(words)
            kept += [word, name] if name == detector else []
        elif word in RULES and not scored:
            next(words)
        else:
            kept.append(word)
    columns = {kind: source.columns[role] for kind, role in kinds.items()}
    return replace(source, columns=columns, command=shlex.join(kept), where=where, by=None)


def own_calls(steps: list[dict[str, str]], detector: str) -> list[dict[str, str]]:
    """What to do next in Python, with one detector out of those that were passed."""
    own = {f"(truth, {start}{name},": f"(truth, {start}{name}[{detector!r}]," for start, name in PASSED}

    def told(command: str) -> str:
        for before, now in own.items():
            command = command.replace(before, now, 1)
        return command

    return [{**step, "command": told(step["command"])} for step in steps]


def facts_of(found: SideBySide, source: Source | None) -> tuple[tuple[str, str], ...]:
    """What a reader needs to know of the data and the settings, by name."""
    results = list(found.results.values())
    files = () if source is None else source.files
    return (
        ("input", ", ".join(files) or "arrays in memory"),
        ("SHA-256", _digest(results) if source is None else digests_of(source)),
        *(() if source is None or not source.columns else (("columns", ", ".join(source.columns.values())),)),
        (say("{alarms}"), _cut_in_words(_scored(found))),
        ("tolerance", str(results[0].tolerance)),
        ("verdicts", f"p-values corrected by Holm for {plural(len(results), 'detector')}; level {results[0].alpha:g}"),
        ("differences", found.comparison.how()),
        ("seed", f"{found.seed} for everything simulated"),
        ("version", f"nofluke {__version__}"),
    )


def code_of_page(
    found: SideBySide, source: Source | None, title: str | None, metrics: Code
) -> tuple[tuple[str, str], ...]:
    """What makes the page again: the command, where it was one, and Python."""
    functions, listed = metrics
    result = _scored(found)
    lines, arguments = reading_code(result, source, tuple(_outputs(found, source)))
    settings = result.settings
    asked = [
        *chosen_code(result),
        *([] if settings.choice.is_auto else [f"null={result.null.code}"]),
        *unusual(method=(settings.method, "auto"), n_resamples=(settings.n_resamples, USUAL_RESAMPLES)),
        *unusual(rng=(found.seed, 0), alpha=(settings.alpha, 0.05), title=(title, None)),
        *([f"metrics={listed}"] if listed else []),
        'path="report.html"',
    ]
    call = f"nf.report({', '.join([*arguments, *asked])})"
    python = "\n".join(["import nofluke as nf", *lines, *functions, call])
    command = () if source is None else (("On the command line", source.command),)
    return (*command, ("In Python", python))


def _outputs(found: SideBySide, source: Source | None) -> list[str]:
    """The arguments that pass the detectors, as code; from files in the order typed, which decides among equals."""
    scored = {one.sequence.scores is not None for one in found.results.values()}
    made = []
    for argument in ("scores", "predictions"):
        if (argument == "scores") not in scored:
            continue
        value = argument
        if source is not None and argument == "predictions" and source.predictions_file is not None:
            value = "alarms" if source.by is not None else f"{{{name_of_list(source.predictions_file)!r}: alarms}}"
        elif source is not None:
            roles = [role for role in source.columns if role.startswith(f"{argument}:")]
            value = "{" + ", ".join(f"{source.columns[role]!r}: data[{role!r}]" for role in roles) + "}"
        made.append(value if argument == "scores" else f"{argument}={value}")
    return made


def _scored(found: SideBySide) -> Evaluation:
    """The first detector that has scores, which knows the rule for all of them; else the first."""
    results = list(found.results.values())
    return next((one for one in results if one.sequence.scores is not None), results[0])


def _cut_in_words(result: Evaluation) -> str:
    if result.threshold is None:
        return "as given"
    if result.budget is not None:
        return f"a budget of {100 * result.budget:g}% of the steps for each detector that has scores"
    if result.quantile is not None:
        return f"from the {result.quantile:g} quantile of each detector’s scores up"
    return f"{result.sequence.cut_in_words(show_number(result.threshold))}, for all scores alike"


def _digest(results: list[Any]) -> str:
    """Of the digests of all detectors, in their order."""
    return hashlib.sha256("".join(map(digest_of, results)).encode()).hexdigest()


# ---- the page about several detectors: an overview, and behind it the own page of each

LINKED = 26  # of a name among the links at the top
ALONE = say("{Alarms} given without scores are a single point, at the share of steps without {an_alarm}.")
WIDE = 5.4  # inches of a figure


def address(detector: str) -> str:
    """Where a detector's own page is, within the page."""
    return f"#detector={quote(detector, safe='')}"


def _reason(row: Row) -> str:
    choice = row.result.settings.choice
    if not row.doubtful:
        return row.ruling.reason
    return say("Under {}, which these {events} contradict: {}", choice.model.text, row.ruling.reason)


def _pair(comparison: Comparison, first: str, second: str) -> tuple[str, str, str, list[tuple[Difference, bool]]]:
    """Both names, whether F1 tells them apart, and each difference with whether it is told from 0."""
    found = [comparison.difference(first, second, m) for m in MEASURES]
    told = "–" if math.isnan(found[0].corrected) else "yes" if comparison.told(found[0]) else "no"
    return first, second, told, [(one, comparison.told(one)) for one in found]


def render(
    found: SideBySide, rows: tuple[Row, ...], parts: dict[str, Parts], *, title: str | None, source: Source | None
) -> str:
    """The whole page as text; ``parts`` are those of each detector's own page."""
    name = title or ("Detectors" if source is None else Path(source.files[0]).name)
    code = code_of_page(found, source, title, parts[rows[0].detector].metrics)
    comparison, curves = found.comparison, [curve_of(row, parts[row.detector].payload) for row in rows]
    first, n = rows[0].result, plural(len(rows), "detector")
    about = parts[rows[0].detector].origin.about
    dots = dot_plots(rows)
    figures = {**dots, **curves_of(curves)}
    tall = (WIDE, row_height(len(rows)) / 72)
    return page(
        "several/several.html",
        title=name,
        kind="report",
        data={"detectors": [row.detector for row in rows], "figures": figures},
        styles=("several/several.css",),
        script=script() + read("several/several.js"),
        name=name,
        names=first.names,
        about_data=f"{about} {n}, within a tolerance of {first.tolerance}.",
        links=[(address(row.detector), row.detector, shortened(row.detector, LINKED)) for row in rows],
        leader=rows[0].verdict,
        opening=opening(rows, compared=True),
        answer=chance_in_words(rows),
        best=best_in_words(found),
        notes=first.names.all_said(comparison.notes),
        dots=[(f"dots-{m}", NAMES[m][:1].upper() + NAMES[m][1:]) for m in MEASURES],
        rows=row_height(len(rows)),
        drawn=drawn(figures, {}, dict.fromkeys(dots, tall)),
        ranked=rows,
        measures={m: NAMES[m] for m in MEASURES},
        address=address,
        p_or_dash=p_or_dash,
        n=n,
        reasons=[
            (
                row,
                *row.result.names.all_said(
                    (_reason(row), row.result.settings.choice.described, joined(" ", row.result.notes))
                ),
            )
            for row in rows
        ],
        key=[(_style(i), row.detector) for i, row in enumerate(rows)],
        tolerance=str(first.tolerance),
        alone=first.names.said(ALONE) if any(row.result.sequence.scores is None for row in rows) else "",
        pairs=[_pair(comparison, *both) for both in combinations(comparison.detectors, 2)],
        how_pairs=f"{comparison.how()} Corrected by Holm for {plural(comparison.n_pairs, 'pair')} in each measure. "
        "In bold: different from 0 after correction.",
        facts=in_names(facts_of(found, source), first.names),
        code=code,
        templates=[(row.detector, row.verdict, *_own(parts[row.detector], row.detector, code, name)) for row in rows],
        own_colours=markup(colours()),
    )


def _own(parts: Parts, detector: str, code: tuple[tuple[str, str], ...], title: str) -> tuple[Any, str]:
    """A detector's own page and its data, for the script to open."""
    origin = replace(parts.origin, name=f"{detector} – {title}", code=code)
    body = body_of(parts.payload, origin, parts.others, figures=False)
    return markup(body), packed_json(data_of(parts.payload))


# ---- what is asked for: a page about several detectors

__all__ = ["check_page", "make_several_page", "verdict_in_words", "write_several"]


def write_several(
    found: SideBySide,
    path: str | Path,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> Path:
    """Write a page about several detectors; `nofluke.report` has what the arguments mean."""
    return written(path, lambda: make_several_page(found, title=title, source=source, metrics=metrics), title)


def make_several_page(
    found: SideBySide,
    *,
    title: str | None = None,
    source: Source | None = None,
    metrics: Any = (),
) -> str:
    """The page that `write_several` writes, as text."""
    rows = rows_of(found)
    parts: dict[str, Parts] = {}
    for row in rows:
        try:
            own = own_source(source, row.detector)
            made = parts_of(row.result, title=title, source=own, metrics=metrics, label=row.detector)
        except InputError as error:
            raise error_of(row.detector, error) from None
        made.payload["next"] = own_calls(made.payload["next"], row.detector)
        parts[row.detector] = made
    return render(found, rows, parts, title=title, source=source)


def verdict_in_words(found: SideBySide) -> str:
    """Which detector is best, and which are better than chance."""
    return f"{best_in_words(found)}\n{chance_in_words(rows_of(found))}"
