"""A list of the metrics: what each needs, its settings with their defaults, and a line about it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from nofluke.metrics import get, names
from nofluke.metrics.base import Metric, written
from nofluke.metrics.spelling import settings_of
from nofluke.text.exports import Exports
from nofluke.text.tables import SCHEMA, Table, by_column, plural

NOTE = "Settings follow the name, as in vus-pr:window=50. Metrics of scores need no threshold; for metrics of alarms pass one, or the alarms."


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Exports):
    """Metrics as they are by default.

    >>> print(Listing(metrics=(get("auc-roc"),)).table().text().splitlines()[3])
    auc-roc  scores            area under the ROC curve
    """

    metrics: tuple[Metric, ...]

    @classmethod
    def of_all(cls) -> Listing:
        """All that have a name."""
        return cls(metrics=tuple(map(get, names())))

    def table(self) -> Table:
        """One line for each; renders as text, Markdown, LaTeX or HTML."""
        rows = tuple(
            (
                metric.name,
                metric.needs,
                _written(metric, ", "),
                metric.title,
            )
            for metric in self.metrics
        )
        columns = ("name", "needs", "settings", "what it is")
        return Table(title=plural(len(rows), "metric"), columns=columns, rows=rows, notes=(NOTE,), left=len(columns))

    def _record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "metrics": [
                {
                    "name": metric.name,
                    "needs": metric.needs,
                    "better": metric.better,
                    "perfect": metric.perfect,
                    "settings": _settings(metric),
                    "title": metric.title,
                }
                for metric in self.metrics
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """A row for each, by column name; settings as they are written behind the name."""
        rows = [
            (
                metric.name,
                metric.needs,
                metric.better,
                metric.perfect,
                _written(metric, ","),
                metric.title,
            )
            for metric in self.metrics
        ]
        return by_column(("name", "needs", "better", "perfect", "settings", "title"), rows)


def _settings(metric: Metric) -> dict[str, Any]:
    """What can be set, as it is."""
    own = settings_of(metric)
    return {f.name: getattr(metric, f.name) for f in fields(metric) if f.name in own}


def _written(metric: Metric, between: str) -> str:
    """The settings as they are written behind the name."""
    return between.join(f"{key}={written(value)}" for key, value in _settings(metric).items())
