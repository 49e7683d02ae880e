"""Results as JUnit XML: what the gate looks at are the tests, the keys of the JSON their properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nofluke.cli.wording import advice, in_shell
from nofluke.errors import InputError
from nofluke.inference.gate import BETTER, CANNOT_TELL, FAILED, Check, checks, gate_by_verdict
from nofluke.text.junit import Case, Outcome, Suite, junit

# an error is a test that could not be carried out: what cannot be told is no failure of the detector
_OUTCOMES: dict[int, Outcome] = {FAILED: "failure", CANNOT_TELL: "error"}


def as_junit(result: Any, context: click.Context, text: str, **more: Any) -> str:
    """One suite for each detector. ``text`` is what would be printed; ``more`` goes into properties as into JSON."""
    options, name = context.params, f"nofluke {context.info_name}"
    if hasattr(result, "rows"):
        return junit(name, [_of_detector(row, result, options["title"] or "study") for row in result.rows])
    if not hasattr(result, "verdict"):
        raise InputError(
            problem=f"--format junit needs a verdict, and {name} gives none here", remedy="pass --format json"
        )
    suite = Suite(
        name=_detector(options),
        cases=tuple(replace(case, why=advice(case.why, context)) for case in map(_case, gate_checks(result, options))),
        properties=dict(_flat(in_shell(result.to_dict(**more), context))),
        output=text,
    )
    return junit(name, [suite])


def gate_checks(result: Any, options: Mapping[str, Any]) -> tuple[Check, ...]:
    """What the gate looks at, as the options ask for it."""
    if "gate_on" in options:
        return checks(result, on=options["gate_on"] or "both", least=least(options))
    return (Check(name=f"{' or '.join(options['metrics'])} is {BETTER}", found=gate_by_verdict(result)),)


def least(options: Mapping[str, Any]) -> dict[str, float]:
    """The least values that pass."""
    limits = {name: options[f"min_{name}"] for name in ("precision", "recall", "f1")}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _of_detector(row: Any, board: Any, title: str) -> Suite:
    """A detector of a study: its verdict over all series, and whether each series has a result."""
    n_series = row.n_series + row.n_failed
    cases = [_case(Check(name=BETTER, found=gate_by_verdict(row)))]
    if row.n_failed:
        why = f"{row.n_failed:,} of {n_series:,} series have no result."
        cases.append(Case(name="every series has a result", outcome="error", why=why))
    about = {name: getattr(board.about, name) for name in ("null", "tolerance", "threshold", "alpha")}
    return Suite(
        name=f"{title}.{row.label}",
        cases=tuple(cases),
        properties=about | dict(_flat(row.to_dict())),
        output="\n".join([*row.notes, *(board.missing_in_words() if row.n_failed else ())]),
    )


def _case(check: Check) -> Case:
    if check.found is None:
        return Case(name=check.name, outcome="skipped", why="not checked: the verdict is 'cannot tell'.")
    return Case(name=check.name, outcome=_OUTCOMES.get(check.found.code, "passed"), why=check.found.why)


def _detector(options: Mapping[str, Any]) -> str:
    """Where and what: the file and the column; of two lists, both files."""
    if "alarms" in options:
        return ".".join(_stem(options[side]) for side in ("events", "alarms"))
    return f"{_stem(options['file'])}.{options['scores'] or options['predictions']}"


def _stem(file: str) -> str:
    return "stdin" if file == "-" else Path(file).stem


def _flat(told: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Plain values by their keys, joined by dots; lists are left out, and so is what is undefined."""
    for key, value in told.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, str | int | float) and value != "":
            yield f"{before}{key}", str(value).lower() if isinstance(value, bool) else value
