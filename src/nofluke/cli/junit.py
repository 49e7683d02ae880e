"""JUnit's XML: a test for each thing that the gate asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import click

from nofluke.cli.command import advising
from nofluke.errors import InputError
from nofluke.inference.gate import BETTER, CANNOT_TELL, FAILED, Check, checks, gate_by_verdict
from nofluke.text.exports import with_text

Outcome = Literal["passed", "failure", "error", "skipped"]
# what XML 1.0 cannot hold, not even escaped: most control characters, lone surrogates, two that are no characters
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test: its name, how it went, and why."""

    name: str
    outcome: Outcome = "passed"
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tests of one thing, what is known of it by name, and what was printed about it."""

    name: str
    cases: tuple[Case, ...]
    properties: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""


def junit(name: str, suites: Iterable[Suite]) -> str:
    """Suites of tests as XML in ASCII, which any encoding can read. Times are 0: the same input gives the same bytes.

    >>> print(junit("gate", [Suite(name="z", cases=(Case(name="p < 0.05", outcome="failure", why="p = 0.3."),))]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="gate" tests="1" failures="1" errors="0">
      <testsuite name="z" tests="1" failures="1" errors="0" skipped="0" time="0">
        <testcase classname="z" name="p &lt; 0.05" time="0">
          <failure type="failure" message="p = 0.3.">p = 0.3.</failure>
        </testcase>
      </testsuite>
    </testsuites>
    """
    suites = tuple(suites)
    every = [case for suite in suites for case in suite.cases]
    root = ElementTree.Element("testsuites", {"name": _legal(name), **_counts(every, "failure", "error")})
    for suite in suites:
        counts = {**_counts(suite.cases, "failure", "error", "skipped"), "time": "0"}
        one = ElementTree.SubElement(root, "testsuite", {"name": _legal(suite.name), **counts})
        if suite.properties:
            properties = ElementTree.SubElement(one, "properties")
            for key, value in suite.properties.items():
                ElementTree.SubElement(properties, "property", {"name": _legal(key), "value": _legal(str(value))})
        for case in suite.cases:
            told = {"classname": _legal(suite.name), "name": _legal(case.name), "time": "0"}
            test = ElementTree.SubElement(one, "testcase", told)
            if case.outcome != "passed":
                why = {"type": case.outcome, "message": _legal(case.why)}
                ElementTree.SubElement(test, case.outcome, why).text = _legal(case.why)
        if suite.output:
            ElementTree.SubElement(one, "system-out").text = _legal(suite.output)
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, encoding="us-ascii")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + body.decode("ascii")


def _counts(cases: Sequence[Case], *outcomes: Outcome) -> dict[str, str]:
    names = {"failure": "failures", "error": "errors"}
    counts = {names.get(outcome, outcome): sum(case.outcome == outcome for case in cases) for outcome in outcomes}
    return {name: str(count) for name, count in {"tests": len(cases), **counts}.items()}


def _legal(text: str) -> str:
    return _ILLEGAL.sub("?", text)


# ---- results as JUnit XML: what the gate looks at are the tests, the keys of the JSON their properties

# an error is a test that could not be carried out: what cannot be told is no failure of the detector
_OUTCOMES: dict[int, Outcome] = {FAILED: "failure", CANNOT_TELL: "error"}


def as_junit(result: Any, context: click.Context, text: str, **more: Any) -> str:
    """One suite for each detector. ``text`` is what would be printed; ``more`` goes into properties as into JSON."""
    options, name = context.params, f"nofluke {context.info_name}"
    said = advising(context)
    if hasattr(result, "rows"):
        return junit(name, [_of_detector(row, result, options["title"] or "study", said) for row in result.rows])
    if not hasattr(result, "verdict"):
        raise InputError(
            problem=f"--format junit needs a verdict, and {name} gives none here", remedy="pass --format json"
        )
    suite = Suite(
        name=_detector(options),
        cases=tuple(replace(case, why=said(case.why)) for case in map(_case, gate_checks(result, options))),
        properties=dict(_flat(with_text(result._record(**more), said))),
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


def _of_detector(row: Any, board: Any, title: str, said: Callable[[str], str]) -> Suite:
    """A detector of a study: its verdict over all series, and whether each series has a result."""
    n_series = row.n_series + row.n_failed
    verdict = _case(Check(name=BETTER, found=gate_by_verdict(row)))
    cases = [replace(verdict, why=said(verdict.why))]
    if row.n_failed:
        why = f"{row.n_failed:,} of {n_series:,} series have no result."
        cases.append(Case(name="every series has a result", outcome="error", why=why))
    about = {name: getattr(board.about, name) for name in ("null", "tolerance", "threshold", "alpha")}
    return Suite(
        name=f"{title}.{row.label}",
        cases=tuple(cases),
        properties=about | dict(_flat(with_text(row._record(), said))),
        output="\n".join(map(said, [*row.notes, *(board.missing_in_words() if row.n_failed else ())])),
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
