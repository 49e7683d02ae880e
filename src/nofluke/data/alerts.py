"""What alerting systems export, as tables of ranges: Prometheus, Alertmanager and PagerDuty.

They are recognised by what is in them. A table has a row for each alert or incident: its start, its end (empty while it
lasts) and a column for each label or field.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from nofluke.errors import InputError, shown

MOST_BYTES = 1 << 30
_KNOWN = "the API of Prometheus (query_range), Alertmanager (alerts, or its webhook) or PagerDuty (incidents)"
_CLOCKS = ("time", "timestamp")
_VALUES = ("value", "value #a")
_NEVER = "0001-01-01"  # how Go writes a time that is not set

Row = dict[str, Any]

ENDS_OF_EXPORTS = (
    ("startsat", "endsat"),
    ("created_on", "resolved_on"),
    ("created_at", "resolved_at"),
    ("opened_at", "closed_at"),
    ("fired_at", "resolved_at"),
)
"""How exports call starts and ends of ranges, in lower case."""


def ends_among(names: list[str]) -> tuple[int, int] | None:
    """The positions of two columns that are called as an export calls starts and ends.

    >>> ends_among(["id", "created_on", "urgency", "resolved_on"])
    (1, 3)
    """
    lowered = [name.strip().lower() for name in names]
    for start, end in ENDS_OF_EXPORTS:
        if lowered.count(start) == lowered.count(end) == 1:
            return lowered.index(start), lowered.index(end)
    return None


def as_ranges(stream: IO[bytes], label: str, folder: Path) -> Path | None:
    """An export as a CSV file of ranges in the folder; None of what is no export, and is read as it is."""
    head = stream.read(1 << 16)
    stream.seek(0)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        rows = _of_json(_loaded(stream, label), label)
    else:
        names = {name.strip(' "').lower() for name in head.split(b"\n")[0].decode("latin-1").strip().split(",")}
        if not {"alertname", "alertstate"} <= names or names.isdisjoint(_CLOCKS):
            return None
        rows = _firing(_csv_samples(stream, label))
    path = folder / "ranges.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        columns = dict.fromkeys(["start", "end", *(name for row in rows for name in row)])
        writer = csv.DictWriter(file, list(columns), restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _loaded(stream: IO[bytes], label: str) -> Any:
    """One JSON document, or a list of those that have a line each."""
    text = stream.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise InputError(problem=f"{label} is larger than {MOST_BYTES >> 30} GiB", remedy="export a shorter time")
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Extra data"):
                raise
            return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(problem=f"{label} cannot be read as JSON ({reason})", remedy="export it again") from None


def _of_json(found: Any, label: str) -> list[Row]:
    documents = [*_documents(found)]
    samples = [one for one in documents if isinstance(one.get("metric"), dict)]
    if samples:
        return _firing(_json_samples(samples, label))
    made = {"startsAt": _alert, "created_at": _incident}
    rows: dict[tuple[Any, ...], Row] = {}
    for number, one in enumerate(documents):
        kind = next((make for field, make in made.items() if isinstance(one.get(field), str)), None)
        if kind is None:
            raise InputError(
                problem=f"{label}: item {number} has neither 'startsAt', 'created_at' nor 'metric'",
                remedy=f"pass what {_KNOWN} returns, or a CSV file",
            )
        row = kind(one)
        # the same alert comes again while it fires, and once more when it is resolved
        own = tuple((name, value) for name, value in row.items() if name not in ("end", "state"))
        known = rows.get(own)
        if known is None or not known["end"] or (row["end"] and row["end"] > known["end"]):
            rows[own] = row
    return list(rows.values())


def _documents(found: Any) -> Iterator[dict[str, Any]]:
    """The alerts, incidents or series of a document, out of what APIs wrap them in."""
    if isinstance(found, list):
        for one in found:
            yield from _documents(one)
    elif isinstance(found, dict):
        inner = next(
            (
                found[key]
                for key in ("data", "result", "alerts", "incidents")
                if isinstance(found.get(key), list | dict)
            ),
            None,
        )
        if inner is None or "startsAt" in found or "created_at" in found:
            yield found
        else:
            yield from _documents(inner)
    else:
        yield {}


def _alert(one: Mapping[str, Any]) -> Row:
    """An alert of Alertmanager: firing as long as its end is not set, or lies in the future of what is known of it."""
    status = one.get("status")
    state = status.get("state") if isinstance(status, dict) else status
    end = str(one.get("endsAt") or "")
    firing = state in ("active", "firing", "suppressed", "unprocessed") or end.startswith(_NEVER)
    about = {**_texts(one.get("labels")), "state": str(state or "")}
    return _row(one["startsAt"], "" if firing else end, about)


def _incident(one: Mapping[str, Any]) -> Row:
    """An incident of PagerDuty: its end is when it was resolved."""
    end = one.get("resolved_at") or (one.get("last_status_change_at") if one.get("status") == "resolved" else "")
    about = {**_texts(one), **{name: value["summary"] for name, value in one.items() if _has_summary(value)}}
    return _row(one["created_at"], str(end or ""), about)


def _has_summary(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("summary"), str)


def _texts(fields: Any) -> dict[str, Any]:
    """The fields that are text, numbers or true and false."""
    if not isinstance(fields, dict):
        return {}
    return {name: value for name, value in fields.items() if isinstance(value, str | int | float)}


def _row(start: str, end: str, about: Mapping[str, Any]) -> Row:
    return {"start": start, "end": end, **{f"{n}_" if n in ("start", "end") else n: v for n, v in about.items()}}


# ---- samples of Prometheus' ALERTS: one for each time at which an alert was pending or firing

Samples = dict[tuple[tuple[str, str], ...], list[float]]


def _json_samples(series: list[dict[str, Any]], label: str) -> Samples:
    found: Samples = {}
    for one in series:
        values: list[Any] = one["values"] if isinstance(one.get("values"), list) else [one.get("value")]
        labels = tuple((str(name), str(value)) for name, value in one["metric"].items() if name != "__name__")
        try:
            times = [float(pair[0]) for pair in values if float(pair[1]) > 0]
        except (TypeError, ValueError, LookupError):
            raise InputError(
                problem=f"{label}: a series has values that are not pairs of a time and a number",
                remedy=f"pass what {_KNOWN} returns",
            ) from None
        found.setdefault(labels, []).extend(times)
    return found


def _csv_samples(stream: IO[bytes], label: str) -> Samples:
    found: Samples = {}
    text = stream.read(MOST_BYTES).decode("utf-8-sig", errors="replace")
    for number, row in enumerate(csv.DictReader(text.splitlines()), 2):
        own = {str(name).strip(): str(value or "").strip() for name, value in row.items()}
        time = next(own.pop(name) for name in list(own) if name.lower() in _CLOCKS)
        worth = next((own.pop(name) for name in list(own) if name.lower() in _VALUES), "1")
        if worth in ("", "0"):
            continue
        own.pop("__name__", None)
        try:
            when = _seconds(time)
        except ValueError:
            raise InputError(
                problem=f"{label}, line {number}: {shown(time)} is neither an ISO 8601 time nor seconds or "
                "milliseconds since 1970",
                remedy="export the times in UTC",
            ) from None
        found.setdefault(tuple(own.items()), []).append(when)
    return found


def _seconds(text: str) -> float:
    """Seconds since 1970: a number of them, or of milliseconds, or an ISO 8601 time, in UTC unless it says more."""
    try:
        number = float(text)
    except ValueError:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return number / 1000 if number > 1e11 else number


def _firing(samples: Samples) -> list[Row]:
    """Ranges in which an alert fired: samples that follow each other at the smallest distance of all are one range."""
    every = [sorted(set(times)) for times in samples.values()]
    apart = [later - time for times in every for time, later in pairwise(times)]
    step = min(apart, default=0.0)
    rows: list[Row] = []
    for labels, times in zip(samples, every, strict=True):
        about = dict(labels)
        if about.pop("alertstate", "firing") != "firing" or not times:
            continue
        first = times[0]
        for time, later in zip(times, [*times[1:], float("inf")], strict=True):
            if later - time > 1.5 * step:
                rows.append(_row(_iso(first), _iso(time), about))
                first = later
    return rows


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
