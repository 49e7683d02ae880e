"""The paper's formulas in MathML, which browsers set by themselves: nothing has to be fetched."""

from __future__ import annotations

from typing import Literal

DELTA, TAU, SUM, HIT = "<mi>δ</mi>", "<mi>τ</mi>", "<mo>∑</mo>", "<mi>ℐ</mi>"
T = "<mi>T</mi>"
PRIME = "<mi>t′</mi>"


def mathematics(content: str, display: Literal["inline", "block"] = "inline") -> str:
    """A formula as part of a page.

    >>> mathematics(T)
    '<math display="inline"><mi>T</mi></math>'
    """
    return f'<math display="{display}">{content}</math>'


def event(at: str = "<mi>t</mi>") -> str:
    """e_t."""
    return f"<msub><mi>e</mi>{at}</msub>"


def alarm(at: str = "<mi>t</mi>") -> str:
    """I(z_t ≥ τ)."""
    return indicator(f"<msub><mi>z</mi>{at}</msub><mo>≥</mo>{TAU}")


def indicator(condition: str) -> str:
    """I(...), 1 where the condition is true."""
    return f"{HIT}{_fenced(condition)}"


def near(term: str) -> str:
    """Whether a term is there at a step of the window [t−δ, t+δ]."""
    low = f"<mrow>{PRIME}<mo>=</mo><mi>t</mi><mo>−</mo>{DELTA}</mrow>"
    high = f"<mrow><mi>t</mi><mo>+</mo>{DELTA}</mrow>"
    window = f'<munderover movablelimits="false">{SUM}{low}{high}</munderover>'
    return indicator(f"{window}{term}<mo>&gt;</mo><mn>0</mn>")


def negated(term: str) -> str:
    """1 − ..., in parentheses."""
    return _fenced(f"<mn>1</mn><mo>−</mo>{term}")


def summed(*factors: str) -> str:
    """The sum over all steps of a product."""
    return f'<mstyle displaystyle="true"><munder>{SUM}<mi>t</mi></munder>{"<mo>⋅</mo>".join(factors)}</mstyle>'


def ratio(name: str, above: str, below: str) -> str:
    """P_δ = .../..."""
    return f"<msub><mi>{name}</mi>{DELTA}</msub><mo>=</mo><mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def _fenced(content: str) -> str:
    return f"<mrow><mo>(</mo>{content}<mo>)</mo></mrow>"


EVENT_NEAR, ALARM_NEAR = near(event(PRIME)), near(alarm(PRIME))
PRECISION = ratio("P", summed(EVENT_NEAR, alarm()), summed(alarm()))
RECALL = ratio("R", summed(event(), ALARM_NEAR), summed(event()))


def _entries(row: str, column: str) -> dict[str, str]:
    """All entries and marginals of a table, from what its rows and columns ask of a step."""
    return {
        "tp": summed(column, row),
        "fp": summed(negated(column), row),
        "predicted": summed(row),
        "fn": summed(column, negated(row)),
        "tn": summed(negated(column), negated(row)),
        "not_predicted": summed(negated(row)),
        "actual": summed(column),
        "not_actual": summed(negated(column)),
        "total": T,
    }


TABLE_1 = _entries(alarm(), EVENT_NEAR)
TABLE_2 = _entries(ALARM_NEAR, event())
