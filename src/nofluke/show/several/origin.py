"""Where a page about several detectors comes from: input and SHA-256, settings, and what to type to get it again."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from nofluke import __version__
from nofluke.data.paths import name_of_list
from nofluke.data.tables import quoted
from nofluke.errors import say
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.report import SideBySide
from nofluke.show.report.next_steps import RULES
from nofluke.show.report.origin import USUAL_RESAMPLES, Code, Source, chosen_code, digest_of, digests_of, reading_code
from nofluke.text.tables import plural, show_number

OUTPUTS = ("--scores", "--predictions")
PASSED = (("", "scores"), ("predictions=", "predictions"))


def title_of(title: str | None, source: Source | None) -> str:
    """The heading of the page."""
    return title or ("Detectors" if source is None else Path(source.files[0]).name)


def own_source(source: Source | None, detector: str) -> Source | None:
    """The source as if it were of one detector: its own column, and the command without the others."""
    if source is None:
        return None
    roles = {role: role.partition(":") for role in source.columns}
    kinds = {kind: role for role, (kind, several, name) in roles.items() if not several or name == detector}
    words, kept = iter(shlex.split(source.command)), []
    where = source.where
    if source.by is not None and "scores" not in kinds:
        one = f"{quoted(source.by)} = '{detector.replace(chr(39), 2 * chr(39))}'"
        where = one if where is None else f"({where}) AND {one}"
    for word in words:
        if source.by is not None and word in ("--by", "--where"):
            next(words)
            kept += ["--where", where] if word == "--by" and where is not None else []
            continue
        if word in OUTPUTS:
            name = next(words)
            kept += [word, name] if name == detector else []
        elif word in RULES and "scores" not in kinds:
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
        (say("{alarms}"), _rule(_scored(found))),
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
        *([] if settings.method == "auto" else [f"method={settings.method!r}"]),
        *([] if settings.n_resamples == USUAL_RESAMPLES else [f"n_resamples={settings.n_resamples}"]),
        *([] if found.seed == 0 else [f"rng={found.seed}"]),
        *([] if settings.alpha == 0.05 else [f"alpha={settings.alpha!r}"]),
        *([] if title is None else [f"title={title!r}"]),
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


def _rule(result: Evaluation) -> str:
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
