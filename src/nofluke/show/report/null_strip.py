"""The strip of nulls: what each says at the evaluated position, or why it is ruled out. It changes no verdict."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from nofluke.inference.evaluation import Evaluation
from nofluke.inference.every_null import UnderNull, every_null
from nofluke.nulls.choice import Choice
from nofluke.text.numbers import show_p


def strip_of(result: Evaluation, seed: int) -> str:
    """A row for each null: the one used, those that hold too, and those that do not, in grey."""
    rows = "".join(_row(one, result.settings.choice) for one in every_null(result, seed=seed))
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="P-values under every null">'
        '<table class="strip"><caption>What every null says</caption><thead><tr><th scope="col">null</th>'
        '<th scope="col">p of precision</th><th scope="col">p of recall</th><th scope="col">what it assumes, or why '
        f"it is ruled out</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(one: UnderNull, choice: Choice) -> str:
    kind = "used" if one.used else "aside" if one.against else "valid"
    mark = '<span class="mark">used here</span> ' if one.used else ""
    sides = {"precision": one.precision, "recall": one.recall}
    numbers = "".join(
        f'<td data-name="p of {side}">{"–" if p is None else show_p(p)}</td>' for side, p in sides.items()
    )
    about = one.against or replace(choice, model=one.model, assumes="").assumption  # ticks where there are no steps
    return (
        f'<tr class="{kind}"><th scope="row">{mark}{escape(one.model.text)}</th>{numbers}<td>{escape(about)}</td></tr>'
    )
