"""JUnit XML for build servers, in the dialect of Jenkins' junit-10.xsd, which GitLab and GitHub's reporters read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.etree import ElementTree

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
    every = tuple(case for suite in suites for case in suite.cases)
    root = ElementTree.Element("testsuites", {"name": _legal(name), **_counts(every)})
    for suite in suites:
        counts = {**_counts(suite.cases), "skipped": str(_count(suite.cases, "skipped")), "time": "0"}
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


def _counts(cases: tuple[Case, ...]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(_count(cases, "failure")),
        "errors": str(_count(cases, "error")),
    }


def _count(cases: tuple[Case, ...], outcome: Outcome) -> int:
    return sum(case.outcome == outcome for case in cases)


def _legal(text: str) -> str:
    return _ILLEGAL.sub("?", text)
