"""The gate of a pipeline: whether a result is good enough to go on, as an exit code and one line that says why not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from nofluke.errors import say
from nofluke.inference.chance import significant
from nofluke.inference.evaluate import Evaluation, shown_f1
from nofluke.inference.interval import NAMES
from nofluke.inference.verdict import Verdict
from nofluke.plain import as_number, check_word
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import show_share

On = Literal["both", "precision", "recall", "f1"]
PASSED, FAILED, CANNOT_TELL = 0, 1, 3
BETTER = "better than chance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Exit code 0, 1 (failed) or 3 (cannot tell), and why it is not 0."""

    code: int
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that the gate looks at, in words, and what it found; None where it was not looked at."""

    name: str
    found: Gate | None


def checks(result: Evaluation, *, on: On = "both", least: Mapping[str, float] | None = None) -> tuple[Check, ...]:
    """What the gate looks at, one by one: the verdict or one p-value, then each least value.

    Where the first cannot tell, least values are not looked at.

    Examples
    --------
    >>> import nofluke as nf
    >>> result = nf.evaluate([0, 1, 0, 0] * 10, predictions=[0, 1, 0, 0] * 9 + [0] * 4, null="permutation")
    >>> [(check.name, check.found.code) for check in checks(result, least={"recall": 0.95})]
    [('better than chance', 0), ('recall is at least 0.95', 1)]
    """
    check_word(on, "on", ("both", *NAMES))
    bars = {}
    for name, bar in (least or {}).items():
        check_word(name, "least", NAMES)
        bars[name] = as_number(bar, f"min_{name}", "be between 0 and 1", lambda value: 0 <= value <= 1)
    if result.ruling.obstacle:
        first = Gate(code=CANNOT_TELL, why=say("cannot tell. {}", result.ruling.obstacle))
    else:
        first = gate_by_verdict(result) if on == "both" else _one(result, on)
    told = first.code != CANNOT_TELL
    return (
        Check(name=BETTER if on == "both" else f"{NAMES[on]} is {BETTER}", found=first),
        *(
            Check(name=f"{NAMES[name]} is at least {bar:g}", found=_least(result, name, bar) if told else None)
            for name, bar in bars.items()
        ),
    )


def first_problem(found: Iterable[Gate | None]) -> Gate:
    """What a gate of several checks says: the first that fails, else the first that cannot tell."""
    order = (FAILED, CANNOT_TELL, PASSED)
    looked_at = [one for one in found if one is not None]
    return min(looked_at, key=lambda one: order.index(one.code), default=Gate(code=PASSED))


def _least(result: Evaluation, name: str, bar: float) -> Gate:
    value = getattr(result, name)
    if math.isnan(value) or value < bar:
        return Gate(code=FAILED, why=f"{NAMES[name]} is {show_share(value)}, below {bar:g}.")
    return Gate(code=PASSED)


class Judged(Protocol):
    """A result with a verdict and its reason."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def reason(self) -> str: ...


def gate_by_verdict(result: Judged) -> Gate:
    """Whether the verdict of any result is "yes"."""
    codes = {"yes": PASSED, "cannot tell": CANNOT_TELL}
    code = codes.get(result.verdict, FAILED)
    if code == PASSED:
        return Gate(code=code)
    said = "cannot tell" if code == CANNOT_TELL else f"the verdict is {result.verdict}"
    return Gate(code=code, why=say("{}. {}", said, result.reason))


def gate_by_verdicts(results: Mapping[str, Judged]) -> Gate:
    """Whether the verdict of each of several results is "yes"; the reason names the first that is not."""
    found = {name: gate_by_verdict(result) for name, result in results.items()}
    return first_problem(Gate(code=one.code, why=f"{name}: {one.why}") for name, one in found.items())


def _one(result: Evaluation, on: str) -> Gate:
    """One measure by itself: its upper p-value, and whether any could have been small enough."""
    alpha = result.alpha
    p, floor = _f1(result) if on == "f1" else _hits(result, on)
    if significant(p, alpha):
        return Gate(code=PASSED)
    if floor is not None:
        why = f"cannot tell. The smallest possible p for {NAMES[on]} is {show_p(floor)}, above {alpha:g}."
        return Gate(code=CANNOT_TELL, why=why)
    return Gate(code=FAILED, why=f"{NAMES[on]} is not better than chance at the {alpha:g} level ({p_is(p)}).")


def _hits(result: Evaluation, on: str) -> tuple[float, float | None]:
    test = result.precision_test if on == "precision" else result.recall_test
    return test.pvalue_for("greater", test.ties), result.floor_above(on, result.alpha)


def _f1(result: Evaluation) -> tuple[float, float | None]:
    test = shown_f1(result.cell, result.settings, (result.precision_test, result.recall_test), "test")
    if test is None:  # this null has no joint law
        return 1.0, 1.0
    return test.pvalue, None if significant(test.smallest, result.alpha) else test.smallest
