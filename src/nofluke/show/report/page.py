"""The page of a report: a template filled with the payload, and its figures at the evaluated position."""

from __future__ import annotations

from typing import Any

from nofluke.errors import Unlike, Words, say
from nofluke.show.kit import filled as fill
from nofluke.show.kit import in_names, markup, page, read
from nofluke.show.kit.figure import drawn
from nofluke.show.report.figures import figures_of
from nofluke.show.report.origin import Origin

PARTS = ("page", "figures", "steps", "timeline", "events", "links")
PRINTED = ("next", "strip", "diagnosis", "family", "grid", "about_heat", "corrected_by")
SIZES = {"timeline": (14.0, 4.3), "null-precision": (4.2, 2.9), "null-recall": (4.2, 2.9)}  # inches, where they differ
MATRICES = (
    (
        "truth",
        "Tolerance in the truth: precision is read here",
        (say("{event} near"), "none near", "sum"),
        (Words((Unlike("predicted", say("{alarm}")),)), Words((Unlike("not predicted", say("no {alarm}")),)), "sum"),
    ),
    (
        "predictions",
        say("Tolerance in the {predictions}: recall is read here"),
        (say("{event}"), "none", "sum"),
        (say("{prediction} near"), "none near", "sum"),
    ),
)


def render(payload: dict[str, Any], origin: Origin, others: dict[str, Any] | None = None) -> str:
    """The whole page as text; ``others`` is its section on other metrics."""
    return page(
        "report/page.html",
        title=origin.name,
        kind="report",
        data=data_of(payload),
        script=script() + "opened((data) => { window.page = openPage(data); });",
        body=markup(body_of(payload, origin, others)),
    )


def script() -> str:
    """The function that brings the body of a page to life: what it defines belongs to one page, until it is closed."""
    parts = "\n".join(read(f"report/{name}.js") for name in PARTS)
    return f"function openPage(data) {{\n{parts}\nreturn start();\n}}\n"


def data_of(payload: dict[str, Any]) -> dict[str, Any]:
    """All that scripts look up; what stands in the page as it is has no place there."""
    return {name: value for name, value in payload.items() if name not in PRINTED} | {"figures": figures_of(payload)}


def body_of(
    payload: dict[str, Any], origin: Origin, others: dict[str, Any] | None = None, *, figures: bool = True
) -> str:
    """What stands between the title and the scripts, with the numbers of the chosen cell.

    ``figures`` says whether they are drawn for readers without scripts.
    """
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    told = _told(payload)
    by_lag, timeline = payload["column"] == "lag", payload["timeline"]
    described = {**figures_of(payload), "timeline": origin.timeline}
    shown = drawn(described, payload, SIZES) if figures else dict.fromkeys(described, "")
    nouns, names = payload["nouns"], origin.names
    leading, following = ("recall", "precision") if origin.leads == "alarms" else ("precision", "recall")

    def shown_text(path: str) -> Any:
        """The end of an opening tag and the text of the element, which scripts change with the sliders."""
        return markup(f' data-text="{path}">') + told[path]

    return fill(
        "report/report.html",
        payload=payload,
        cell=cell,
        say=shown_text,
        drawn=shown,
        name=origin.name,
        about_data=origin.about,
        null=origin.null,
        doubtful=origin.doubtful,
        by_lag=by_lag,
        movable=payload["movable"],
        scored=timeline["scores"] is not None,
        away=bool(timeline.get("away")),
        column_name="Lag" if by_lag else "Threshold",
        alpha=f"{payload['alpha']:g}",
        events=payload["events"],
        nouns=nouns,
        names=names,
        kinds=(
            ("", "all"),
            ("found", f"{nouns['event'][1]} found"),
            ("missed", f"{nouns['event'][1]} missed"),
            ("false", nouns["false"][1]),
        ),
        matrices=[in_names(one, names) for one in MATRICES if cell["matrices"][one[0]] is not None],
        sections=in_names(_sections(payload, others), names),
        in_time=origin.in_time,
        leads=origin.leads,
        leading=leading,
        following=following,
        others=others,
        facts=origin.facts,
        code=origin.code,
    )


def _sections(payload: dict[str, Any], others: dict[str, Any] | None) -> list[tuple[str, str]]:
    by_lag = payload["column"] == "lag"
    return [
        ("verdict", "Verdict"),
        ("time", "Timeline"),
        ("events", say("{Events}")),
        ("numbers", "Numbers"),
        *([("curves", "By lag" if by_lag else "By threshold")] if payload["movable"] else []),
        ("by-tolerance", "By tolerance"),
        ("map", "Map"),
        ("diagnosis", "Null"),
        ("lags", "Delays"),
        *([("metrics", "Metrics")] if others else []),
        ("how", "How made"),
    ]


def _told(payload: dict[str, Any]) -> dict[str, str]:
    """The texts of the chosen cell by their paths, for readers and printers without scripts."""
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    flat = dict(cell["text"])
    for name, texts in (
        ("precision", cell["precision"]["text"]),
        ("recall", cell["recall"]["text"]),
        ("row", payload["rows"][d]),
    ):
        flat |= {f"{name}.{part}": text for part, text in texts.items()}
    return flat | {
        "column": payload["columns"][k],
        "threshold": payload["thresholds"][k]["label"],
        "tolerance": payload["tolerances"][d]["label"],
    }
