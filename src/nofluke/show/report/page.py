"""The page: a template filled with the payload; text from the data is escaped wherever it lands."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from typing import Any, Literal

from nofluke import __version__
from nofluke.errors import InputError
from nofluke.plain import check_word
from nofluke.plot import PALETTE
from nofluke.show.report.events import section_of_events
from nofluke.show.report.origin import Origin
from nofluke.show.report.static import figures, with_figures

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
    try:
        import plotly.offline  # noqa: F401
    except ImportError:
        raise InputError(
            problem="a report needs plotly, which is not installed", remedy="pip install 'nofluke[report]'"
        ) from None


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
