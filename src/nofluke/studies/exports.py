"""Ways out of a study: its cells for CSV and data frames, its leaderboard for everything else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from nofluke.studies.lazy_table import LazyTable
from nofluke.studies.leaderboard import Leaderboard
from nofluke.text.exports import Exports
from nofluke.text.tables import Table


class StudyExports(Exports):
    """What a study prints and writes; ``**asked`` goes to the table of the leaderboard."""

    cells: Any  # worked out by the study when first asked for

    @abstractmethod
    def leaderboard(self) -> Leaderboard:
        """Detectors best first."""

    def columns(self) -> LazyTable:
        """All cells, by column name."""
        found: LazyTable = self.cells
        return found

    def table(self, **asked: Any) -> Table:
        """The table of the leaderboard."""
        return self.leaderboard().table(**asked)

    @property
    def _kind(self) -> str:
        return "leaderboard"

    def _latex_tables(self, **asked: Any) -> Mapping[str, Table]:
        return self.leaderboard()._latex_tables(**asked)

    def _record(self) -> dict[str, Any]:
        return self.leaderboard().to_dict()

    def __str__(self) -> str:
        return str(self.leaderboard())
