"""The page: a template filled with the payload; text from the data is escaped wherever it lands."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html import escape
from importlib.resources import files
from itertools import pairwise
from typing import Any, Literal

from nofluke import __version__
from nofluke.extras import needed
from nofluke.plain import check_word
from nofluke.plot import PALETTE
from nofluke.show.report.events import section_of_events
from nofluke.show.report.origin import Origin
from nofluke.show.svg import SIZE, Axis, Chart, Number, defined
from nofluke.show.ticks import Tick, number_ticks

# ---- every figure of the page at the evaluated position, for readers without scripts; scripts replace them


SIDES = ("precision", "recall")
MOST_NINES = 16.0  # p below 1e-16 have one colour
FEW_BARS = 80  # more are drawn as an area
FEW_TICKS = 6


def with_figures(body: str, drawn: dict[str, str]) -> str:
    """The body of a page with a drawing in the place of each figure."""
    return re.sub(r'<div class="plot[^>]* id="([\w-]+)"[^>]*>', lambda place: place[0] + drawn.get(place[1], ""), body)


def figures(payload: dict[str, Any]) -> dict[str, str]:
    """Each figure but the timeline by the name of its place, save those that such data do not have."""
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    drawn = {"delay": _delay(cell["delay"], payload["noun"])}
    if payload["lags"]:
        drawn["lag"] = _lag(payload, cell["lag"])
    if payload["movable"] and payload["column"] != "lag":
        drawn["curve"] = _curve(payload)
    for side in SIDES:
        if payload["movable"]:
            drawn[f"threshold-{side}"] = _by_threshold(payload, side)
        drawn[f"tolerance-{side}"] = _by_tolerance(payload, side)
        drawn[f"null-{side}"] = _null(cell[side])
        drawn[f"heat-{side}"] = _heat(payload, side)
    return drawn | {f"metric-{i}": _metric(one) for i, one in enumerate(payload.get("metrics", ()))}


def _share(side: dict[str, Any], name: str) -> Number:
    value = side[name]
    return None if value is None or not side["of"] else value / side["of"]


def _values(payload: dict[str, Any], side: str, title: str = "") -> Axis:
    """The axis of a measure: long enough for all positions, as that of the page, so that heights can be compared."""
    sides = [cell[side] for row in payload["cells"] for cell in row]
    seen = [value or 0.0 for one in sides for value in (one["value"], _share(one, "high"), _share(one, "mean"))]
    top = min(1.12 * max(*seen, 0.01), 1.04) if any(seen) else 1.04
    return Axis(low=0.0, high=top, ticks=number_ticks(0.0, top), title=title)


def _by_threshold(payload: dict[str, Any], side: str) -> str:
    d, k = payload["chosen"]
    at = [threshold["position"] for threshold in payload["thresholds"]]
    sides = [cell[side] for cell in payload["cells"][d]]
    pad = 0.03 * (max(at) - min(at)) or 0.5
    ends = (min(at) - pad, max(at) + pad)
    chart = Chart(
        x=Axis(low=ends[0], high=ends[1], ticks=number_ticks(*ends, most=FEW_TICKS), title=payload["axis"]["curve"]),
        y=_values(payload, side),
    )
    chart.area(at, [_share(one, "low") for one in sides], [_share(one, "high") for one in sides], "band")
    chart.line(at, [_share(one, "mean") for one in sides], "chance")
    bands = [_share(one, "band") for one in sides]
    chart.line(at, [band if band is None or band <= 1 else None for band in bands], "simultaneous")
    chart.line(at, [one["value"] for one in sides], "observed")
    chart.ring(at[k], sides[k]["value"])
    return chart.svg()


def _curve(payload: dict[str, Any]) -> str:
    d, k = payload["chosen"]
    cells = payload["cells"][d]
    chart = Chart(
        x=Axis(low=-0.03, high=1.04, ticks=number_ticks(-0.03, 1.04), title="recall"),
        y=_values(payload, "precision", "precision"),
    )
    chance = {side: [_share(cell[side], "mean") for cell in cells] for side in SIDES}
    chart.line(chance["recall"], chance["precision"], "chance")
    across, up = ([cell[side]["value"] for cell in cells] for side in ("recall", "precision"))
    chart.line(across, up, "observed")
    chart.ring(across[k], up[k])
    return chart.svg()


def _by_tolerance(payload: dict[str, Any], side: str) -> str:
    d, k = payload["chosen"]
    sides = [row[k][side] for row in payload["cells"]]
    ticks = [Tick(i, text) for i, text in enumerate(_short_tolerances(payload, "\n"))]
    chart = Chart(
        x=Axis(low=-0.6, high=len(sides) - 0.4, ticks=ticks, title="tolerance", grid=False), y=_values(payload, side)
    )
    chart.bars(((i - 0.35, i + 0.35, _share(one, "mean")) for i, one in enumerate(sides)), "part")
    chart.line(range(len(sides)), [one["value"] for one in sides], "observed")
    chart.ring(d, sides[d]["value"])
    return chart.svg()


def _short_tolerances(payload: dict[str, Any], between: str) -> list[str]:
    labels = (one["label"].replace(" early to ", between) for one in payload["tolerances"])
    return [re.sub(" steps?| time units?| late", "", label) for label in labels]


def _null(side: dict[str, Any]) -> str:
    first, step, chance = side["law"]["first"], side["law"]["step"], side["law"]["chance"]
    at, hits = [first + i * step for i in range(len(chance))], side["hits"]
    top = 1.12 * max(*chance, *side["law"]["binomial"])
    low, high = min(at[0], hits), max(at[-1], hits)
    pad = max(0.04 * (high - low), 0.8)
    chart = Chart(
        x=Axis(
            low=low - pad,
            high=high + pad,
            ticks=number_ticks(low - pad, high + pad, most=FEW_TICKS, whole=True),
            title="hits",
        ),
        y=Axis(low=0.0, high=top, ticks=number_ticks(0.0, top, most=5), title="probability"),
    )
    if len(chance) > FEW_BARS or (high - low) / step > 2 * FEW_BARS:
        chart.area(at, [0.0] * len(at), chance, "band")
        chart.line(at, chance, "law")
    else:
        chart.bars(((x - step / 2, x + step / 2, p) for x, p in zip(at, chance, strict=True)), "part")
    chart.line(at, side["law"]["binomial"], "binomial")
    chart.line([hits, hits], [0.0, top / 1.05], "observed")
    return chart.svg()


def _heat(payload: dict[str, Any], side: str) -> str:
    cells, (d, k) = payload["cells"], payload["chosen"]
    rows, columns = len(cells), len(cells[0])
    nines = [[min(-math.log10(max(cell[side]["p"], 1e-300)), MOST_NINES) for cell in row] for row in cells]
    most = max(1.0, *map(max, nines))
    every = -(-columns // FEW_TICKS)
    first = k if payload["column"] == "lag" else 0  # the chosen lag has a tick of its own
    chart = Chart(
        x=Axis(
            low=-0.5,
            high=columns - 0.5,
            ticks=[Tick(i, one["short"]) for i, one in enumerate(payload["thresholds"]) if (i - first) % every == 0],
            title=payload["axis"]["map"],
            grid=False,
        ),
        y=Axis(
            low=-0.5,
            high=rows - 0.5,
            ticks=[Tick(i, text) for i, text in enumerate(_short_tolerances(payload, "/"))],
            title="tolerance",
            grid=False,
        ),
    )
    chart.path(f"M0 0H{SIZE}V{SIZE}H0z", "cold")
    boxes: dict[int, str] = {}
    for i, row in enumerate(nines):
        for j, value in enumerate(row):
            level = round(20 * value / most)
            boxes[level] = boxes.get(level, "") + _cell(i, j, rows, columns)
    for level, path in sorted(boxes.items()):
        chart.path(path, "warm", f' fill-opacity="{level / 20:g}"')
    chart.path(_outline(cells, side), "edge")
    chart.ring(k, d, "here")
    chart.mark(_colours(most))
    return chart.svg("static mapped-p")


def _cell(i: int, j: int, rows: int, columns: int) -> str:
    left, right = round(SIZE * j / columns), round(SIZE * (j + 1) / columns)
    top, bottom = SIZE - round(SIZE * (i + 1) / rows), SIZE - round(SIZE * i / rows)
    return f"M{left} {top}H{right}V{bottom}H{left}z"


def _outline(cells: list[list[Any]], side: str) -> str:
    """Around cells that stay significant: the sides between such a cell and any other."""
    rows, columns = len(cells), len(cells[0])

    def remains(i: int, j: int) -> bool:
        return 0 <= i < rows and 0 <= j < columns and cells[i][j][side]["remains"]

    parts = []
    for i in range(rows + 1):
        for j in range(columns + 1):
            x, y = round(SIZE * j / columns), SIZE - round(SIZE * i / rows)
            if remains(i, j) != remains(i - 1, j):
                parts.append(f"M{x} {y}H{round(SIZE * (j + 1) / columns)}")
            if remains(i, j) != remains(i, j - 1):
                parts.append(f"M{x} {y}V{SIZE - round(SIZE * (i + 1) / rows)}")
    return "".join(parts)


def _colours(most: float) -> str:
    """What the colours mean, to the right of the map."""
    steps = 5
    boxes = "".join(
        f'<rect class="cold" x="12" width="10" y="{100 - 20 * (i + 1)}%" height="20%"/>'
        f'<rect class="warm" x="12" width="10" y="{100 - 20 * (i + 1)}%" height="20%" fill-opacity="{i / (steps - 1):g}"/>'
        for i in range(steps)
    )
    least = "≤ 1e−16" if most == MOST_NINES else _power(most)
    return f'<svg x="100%" overflow="visible">{boxes}<text x="26" y="100%">p = 1</text><text x="26" y="10">{least}</text></svg>'


def _power(nines: float) -> str:
    return f"{10**-nines:.2g}" if nines < 3 else f"{10**-nines:.0e}".replace("e-0", "e-").replace("-", "−")


def _lag(payload: dict[str, Any], hits: dict[str, list[int]]) -> str:
    at, top = payload["lags"], 1.08 * max(*hits["precision"], *hits["recall"], 1)
    pad = 0.04 * (at[-1] - at[0]) or 0.5
    ends = (at[0] - pad, at[-1] + pad)
    whole = all(float(x).is_integer() for x in at)
    chart = Chart(
        x=Axis(low=ends[0], high=ends[1], ticks=number_ticks(*ends, most=9, whole=whole), title=payload["lag_title"]),
        y=Axis(low=0.0, high=top, ticks=number_ticks(0.0, top, whole=True), title="hits"),
    )
    chart.line([0, 0], [0, top], "zero")
    chart.line(at, hits["precision"], "observed")
    chart.line(at, hits["recall"], "chance")
    return chart.svg()


def _delay(delay: dict[str, Any], noun: str) -> str:
    at, counts = delay["at"], delay["counts"]
    gap = min((b - a for a, b in pairwise(at)), default=1.0)
    ends = (at[0] - gap, at[-1] + gap) if at else (-1.0, 1.0)
    top = 1.08 * max(*counts, 1) if counts else 1.0
    chart = Chart(
        x=Axis(
            low=ends[0],
            high=ends[1],
            ticks=number_ticks(*ends, most=9) if at else (),
            title=f"delay in {delay['unit']}; negative is early",
        ),
        y=Axis(low=0.0, high=top, ticks=number_ticks(0.0, top, whole=True), title=f"{noun}s"),
    )
    chart.bars(((x - 0.42 * gap, x + 0.42 * gap, count) for x, count in zip(at, counts, strict=True)), "good")
    return chart.svg()


def _metric(one: dict[str, Any]) -> str:
    edges, heights, value, perfect = one["edges"], one["heights"], one["value"], one["perfect"]
    ends = [*edges, *([] if value is None else [value])] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    if defined(perfect) and high > perfect - 0.15 * max(abs(perfect), 1):
        high = max(high, perfect)
    pad, top = 0.04 * (high - low) or 0.05, 1.12 * max(*heights, 0.0) if heights else 1.0
    chart = Chart(
        x=Axis(low=low - pad, high=high + pad, ticks=number_ticks(low - pad, high + pad)),
        y=Axis(low=0.0, high=top or 1.0, ticks=number_ticks(0.0, top or 1.0, most=5), title=one["height"]),
    )
    chart.bars(zip(edges, edges[1:], heights, strict=False), "part")
    if value is not None:
        chart.line([value, value], [0.0, top / 1.05], "observed")
    return chart.svg()


# ---- the page: a template filled with the payload; text from the data is escaped wherever it lands

Scripts = Literal["inline", "cdn"]
CDN = "https://cdn.plot.ly/"
_SCRIPTS = ("page.js", "links.js", "downloads.js", "figures.js", "steps.js", "timeline.js", "events.js")
PRINTED = ("next", "strip")
_STYLES = ("report.css", "static.css", "manners.css", "events.css")
NO_SCRIPT = "The sliders need JavaScript, which is off here. All numbers and figures are for the evaluated position."


def render(payload: dict[str, Any], origin: Origin, scripts: Scripts, others: str = "") -> str:
    """The whole page as text; ``others`` is its section on other metrics."""
    plotly, sources = plotly_tag(scripts)
    return document(
        origin.name,
        f'<noscript><p class="warning">{NO_SCRIPT}</p></noscript>\n' + body_of(payload, origin, others),
        kind="report",
        style=style(),
        data=payload,
        script=script() + '\nwindow.page = openPage(JSON.parse(document.getElementById("data").textContent));',
        plotly=plotly,
        sources=sources,
    )


def document(
    title: str,
    body: str,
    *,
    kind: str,
    style: str,
    data: dict[str, Any],
    script: str,
    plotly: str = "",
    sources: str = "",
) -> str:
    """A whole page of any kind: its head, its body, its data, and the scripts behind them."""
    page = {
        "title": escape(title),
        "kind": kind,
        "style": style,
        "version": __version__,
        "script_sources": sources,
        "body": body,
        "data": embedding(data),
        "plotly": plotly,
        "script": script,
    }
    return filled(_read("page.html"), page)


def style() -> str:
    """The style sheet of a page, in the colours of all of nofluke's figures."""
    return palette() + "".join(map(_read, _STYLES))


def script() -> str:
    """The function that brings the body of a page to life: openPage(data), which returns what others may ask of it."""
    return "\n".join(['"use strict";', "function openPage(data) {", *map(_read, _SCRIPTS), "return start();", "}"])


def filled(template: str, page: dict[str, str]) -> str:
    """Fill a template in one pass, so that nothing inserted is mistaken for a placeholder."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: page[place[1]], template)


def body_of(payload: dict[str, Any], origin: Origin, others: str = "") -> str:
    """What stands between the title and the scripts, with the numbers of the chosen cell."""
    alpha = f"{payload['alpha']:g}"
    page = {
        "title": escape(origin.name),
        "about_data": escape(origin.about),
        "null": escape(origin.null),
        "doubtful": "data-doubtful" if origin.doubtful else "",
        "noun": payload["noun"],
        **_sections(payload),
        "alpha": alpha,
        "corrected_by": escape(payload["corrected_by"]),
        "events": section_of_events(payload["events"], payload["noun"]),
        "grid": escape(payload["grid"]),
        "about_heat_precision": escape(payload["about_heat"]["precision"]),
        "about_heat_recall": escape(payload["about_heat"]["recall"]),
        "family": escape(payload["family"] or ""),
        "instead": escape(payload["diagnosis"]["instead"]),
        "recommended": escape(payload["diagnosis"]["recommended"]),
        "metrics": others,
        "diagnosis": _findings(payload["diagnosis"]["findings"]),
        "strip": payload["strip"],
        "next": _next(payload["next"]),
        "next_hidden": "" if payload["next"] else "hidden",
        "how": how_of(origin.facts, origin.code),
    }
    body = filled(_chosen_cell(_read("report.html").replace("{{in_time}}", _in_time(origin)), payload), page)
    return with_figures(body, {**figures(payload), "timeline": origin.timeline})


def _sections(payload: dict[str, Any]) -> dict[str, str]:
    """What the slider beside the tolerance is called, and which parts of the page have nothing to show."""
    by_lag, timeline = payload["column"] == "lag", payload["timeline"]
    d, k = payload["chosen"]
    hidden = {
        "threshold": not payload["movable"],
        "lag": by_lag,
        "scores": timeline["scores"] is None,
        "away": not timeline.get("away"),
        "matrices": not any(payload["cells"][d][k]["matrices"].values()),
    }
    return {
        "column_name": "Lag" if by_lag else "Threshold",
        "by_column": "By lag: a narrow peak or a broad hill" if by_lag else "By threshold",
        "curves": "" if by_lag else "three",
        **{f"{name}_hidden": "hidden" if empty else "" for name, empty in hidden.items()},
    }


def _in_time(origin: Origin) -> str:
    """What only lists of times have, instead of matrices over steps."""
    if not origin.in_time:
        return ""
    leading, following = ("recall", "precision") if origin.leads == "alarms" else ("precision", "recall")
    cells = {name: escape(value) for name, value in origin.in_time}
    cells |= {
        f"precursor coincidence rate ({leading})": f'<span data-text="{leading}.value"></span>',
        f"trigger coincidence rate ({following})": f'<span data-text="{following}.value"></span>',
    }
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{cell}</td></tr>' for name, cell in cells.items())
    return f'<table class="in-time"><caption>Both lists in time, if {origin.leads} lead</caption><tbody>{rows}</tbody></table>'


def _read(name: str) -> str:
    return files("nofluke.show.report").joinpath(name).read_text(encoding="utf-8")


def palette() -> str:
    """The colours of all of nofluke's figures; the style sheet has brighter ones for dark screens."""
    names = ("observed", "chance", "good", "bad")
    return ":root { " + " ".join(f"--{name}: {PALETTE[name].lower()};" for name in names) + " }\n"


def embedding(payload: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in, whatever the data say."""
    return json_of(payload).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def json_of(payload: dict[str, Any]) -> str:
    """JSON of all that scripts look up; what stands in the page as it is has no place there."""
    data = {name: value for name, value in payload.items() if name not in PRINTED}
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_plotly() -> None:
    """Say what to do where plotly is missing."""
    needed("plotly.offline", "a report needs")


def check_scripts(scripts: object) -> None:
    """Refuse a place of plotly's script that there is none of."""
    check_word(scripts, "scripts", ("inline", "cdn"))


def plotly_tag(scripts: Scripts) -> tuple[str, str]:
    """Plotly's script as a tag, and where the page may take scripts from."""
    check_scripts(scripts)
    check_plotly()
    from plotly.offline import get_plotlyjs, get_plotlyjs_version

    code = get_plotlyjs()
    if scripts == "inline":
        # nothing in a script may look like its end
        return "<script>" + code.replace("</script", "<\\/script") + "</script>", ""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode("ascii")
    address = f"{CDN}plotly-{get_plotlyjs_version()}.min.js"
    return (
        f'<script charset="utf-8" src="{address}" integrity="sha256-{digest}" crossorigin="anonymous"></script>',
        f" {CDN}",
    )


def _chosen_cell(template: str, payload: dict[str, Any]) -> str:
    """The numbers of the chosen cell in the page itself, for readers and printers without scripts."""
    d, k = payload["chosen"]
    cell = payload["cells"][d][k]
    values: dict[str, Any] = {
        **cell["text"],
        "precision": cell["precision"]["text"],
        "recall": cell["recall"]["text"],
        "row": payload["rows"][d],
        "column": payload["columns"][k],
        "threshold": payload["thresholds"][k]["label"],
        "tolerance": payload["tolerances"][d]["label"],
    }

    def told(place: re.Match[str]) -> str:
        value: Any = values
        for name in place[1].split("."):
            value = value[name]
        # braces in the data must not be mistaken for placeholders of the template
        return f"{place[0]}{escape(value).replace('{', '&#123;')}"

    template = re.sub(r'data-text="([\w.]+)"(?=>)[^>]*>', told, template)
    template = template.replace("data-verdict", f'data-verdict="{cell["verdict"]}"')
    for name, matrix in cell["matrices"].items():
        if matrix is None:  # of episodes, which are no steps
            template = re.sub(
                rf'<table class="matrix" data-matrix="{name}">.*?</table>\n', "", template, flags=re.DOTALL
            )
            continue
        head, tag, rest = template.partition(f'data-matrix="{name}"')
        if matrix is None:  # what has no meaning for ranges is not there
            template = f"{head}{tag} hidden{rest}"
            continue
        body, _, after = rest.partition("<tbody>")
        entries = iter(zip(matrix["entries"], matrix["readable"], strict=True))
        table, end, after = after.partition("</tbody>")
        table = re.sub("<td></td>", lambda _: _entry(*next(entries)), table)  # noqa: B023  # used at once
        template = head + tag + body + "<tbody>" + table + end + after
    return template


def _entry(text: str, readable: bool) -> str:
    return f'<td class="{"read" if readable else "unread"}">{text}</td>'


def _next(steps: list[dict[str, str]]) -> str:
    def item(step: dict[str, str]) -> str:
        command = f'<pre class="try">{escape(step["command"])}</pre>' if step["command"] else ""
        return f"<li>{escape(step['words'])}{command}</li>"

    return f'<ol class="next">{"".join(map(item, steps))}</ol>'


def _findings(findings: list[dict[str, Any]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(f["name"])}</th><td class="{"yes" if f["found"] else "no"}">'
        f"{'yes' if f['found'] else 'no'}</td><td>{escape(f['sentence'])}</td>"
        f'<td class="looked">{escape(f["looked_at"])}: {escape(f["statistic"])}{escape(f["p"])}'
        "</td></tr>"
        for f in findings
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="What was found about events and alarms">'
        '<table class="findings"><thead><tr><th scope="col">looked for</th><th scope="col">found</th>'
        f'<th scope="col">in words</th><th scope="col" class="looked">measured</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def how_of(facts: tuple[tuple[str, str], ...], code: tuple[tuple[str, str], ...]) -> str:
    """How a page was made: facts by name, and code by title."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    listed = "".join(f"<h3>{escape(title)}</h3><pre>{escape(text)}</pre>" for title, text in code)
    return f'<dl class="how">{items}</dl>{listed}'
