"""The labels of four benchmarks on which papers report point-adjusted F1: MSL, SMAP, SMD and PSM."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nofluke.datasets.files import download, find, own_directory
from nofluke.errors import InputError
from nofluke.plain import check_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

BENCHMARKS = ("MSL", "SMAP", "SMD", "PSM")
_REPOSITORIES = {
    "MSL": "khundman/telemanom",
    "SMAP": "khundman/telemanom",
    "SMD": "NetManAIOps/OmniAnomaly",
    "PSM": "eBay/RANSynCoders",
}
# of the ranges as `_digest` writes them, whichever way they came
_DIGESTS = {
    "MSL": "9615bbb0f0d737038827cf99f4d175fda4ae3d82fd940b1fc3bbc935932d35f3",
    "SMAP": "8008969a3be70022bb094948829ff4fe8e3dd139ddcf450328470cb2ba93bb0d",
    "SMD": "35ed41225ad29f8678744491d9097f435d442add278c74b1914ab443cb227e42",
    "PSM": "a5ab3c0af9cf864cfef9467a7d1e0b50669c0f1e54e4f471ffb53d9b1c187c54",
}
_FILE, _COLUMNS = "ranges.csv", ("benchmark", "entity", "length", "start", "end")
_HOLDER = f"a directory that holds {_FILE}, with the columns {', '.join(_COLUMNS)} (the last step included)"
_WITHOUT_NETWORK = f"set NOFLUKE_DATA to {_HOLDER}"


class Range(NamedTuple):
    """One labelled range: its first and last step, counted from the start of its entity, and the entity's length."""

    entity: str
    length: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BenchmarkLabels:
    """The labels of a benchmark's test part, its entities concatenated.

    Attributes
    ----------
    name : str
    truth : ndarray of bool
        Whether a step is labelled as anomalous.
    groups : ndarray of int32
        The number of the entity to which a step belongs: ``groups=`` of :func:`nofluke.significance` takes it.
    entities : tuple of str
        The names of the entities, in the order in which they are concatenated.
    n_ranges : int
        Labelled ranges.
    source : str
        Where the labels come from, in words.

    See Also
    --------
    nofluke.datasets.public_labels : loads them.
    nofluke.chance : what random scores reach on them.
    """

    name: str
    truth: NDArray[np.bool_] = field(repr=False)
    groups: NDArray[np.int32] = field(repr=False)
    entities: tuple[str, ...] = field(repr=False)
    n_ranges: int
    source: str

    def without(self, *entities: str) -> BenchmarkLabels:
        """The same with some entities left out."""
        if unknown := [one for one in entities if not isinstance(one, str) or one not in self.entities]:
            raise InputError(
                argument="entities", value=unknown[0], problem=f"is not part of {self.name}", remedy="see its entities"
            )
        kept = np.flatnonzero(~np.isin(self.entities, entities))
        stays = np.isin(self.groups, kept)
        truth, groups = self.truth[stays], np.searchsorted(kept, self.groups[stays]).astype(np.int32)
        return BenchmarkLabels(
            name=self.name,
            truth=truth,
            groups=groups,
            entities=tuple(self.entities[k] for k in kept),
            n_ranges=_count_ranges(truth, groups),
            source=", without ".join(filter(None, [self.source, ", ".join(entities)])),
        )


def public_labels(name: str) -> BenchmarkLabels:
    """Load the labels of a public benchmark: no values and no scores, only which steps of the test part are labelled.

    They are taken from ``ranges.csv`` in the directory named by the environment variable ``NOFLUKE_DATA`` (or its
    subdirectory ``public-labels``). Without it they are downloaded once from the repositories of their authors,
    into pooch's cache directory or the one named by ``NOFLUKE_CACHE``. Either way SHA-256 sums are checked.

    Parameters
    ----------
    name : {"MSL", "SMAP", "SMD", "PSM"}

    Returns
    -------
    BenchmarkLabels

    Raises
    ------
    InputError
        If the file is missing, holds other labels than the public ones, or they cannot be downloaded.

    See Also
    --------
    nofluke.datasets.BenchmarkLabels : what it returns.
    nofluke.chance : what random scores reach on them.

    Notes
    -----
    The list of SMAP has P-2 twice, with different ranges; the first is kept. Papers that prepare the data as
    OmniAnomaly does leave P-2 out: ``public_labels("SMAP").without("P-2")``.

    References
    ----------
    Hundman et al. (2018), Detecting spacecraft anomalies using LSTMs and nonparametric dynamic thresholding (MSL,
    SMAP). Su et al. (2019), Robust anomaly detection for multivariate time series through stochastic recurrent
    neural network (SMD). Abdulaal et al. (2021), Practical approach to asynchronous multivariate time series
    anomaly detection and localization (PSM).

    Examples
    --------
    >>> labels = public_labels("MSL")  # doctest: +SKIP
    >>> labels.truth.size, len(labels.entities), labels.n_ranges  # doctest: +SKIP
    (73729, 27, 36)
    """
    check_word(name, "name", BENCHMARKS)
    directory = own_directory()
    if directory is None:
        ranges, where = list(_downloaded(name)), f"github.com/{_REPOSITORIES[name]}"
    else:
        path = find(directory, "public-labels", _FILE, _HOLDER)
        ranges, where = _from_file(path, name), str(path)
    ranges = [one for _, of_entity in groupby(ranges, lambda one: one.entity) for one in sorted(of_entity)]
    if _digest(ranges) != _DIGESTS[name]:
        raise InputError(
            problem=f"{where} does not have the public labels of {name}",
            remedy="replace it, or unset NOFLUKE_DATA to download",
        )
    return _joined(name, ranges)


def _joined(name: str, ranges: list[Range]) -> BenchmarkLabels:
    """All entities, concatenated."""
    lengths = {one.entity: one.length for one in ranges}
    begins = dict(zip(lengths, np.cumsum([0, *lengths.values()]).tolist(), strict=False))
    truth = np.zeros(sum(lengths.values()), dtype=np.bool_)
    for one in ranges:
        truth[begins[one.entity] + one.start : begins[one.entity] + one.end + 1] = True
    groups = np.repeat(np.arange(len(lengths), dtype=np.int32), list(lengths.values()))
    return BenchmarkLabels(
        name=name,
        truth=truth,
        groups=groups,
        entities=tuple(lengths),
        n_ranges=_count_ranges(truth, groups),
        source=f"github.com/{_REPOSITORIES[name]}",
    )


def _count_ranges(truth: NDArray[np.bool_], groups: NDArray[np.int32]) -> int:
    """Runs of labels, cut where an entity ends."""
    begins = truth[1:] & (~truth[:-1] | (groups[1:] != groups[:-1]))
    return int(truth[:1].sum() + begins.sum())


def _digest(ranges: list[Range]) -> str:
    return hashlib.sha256("".join(f"{','.join(map(str, one))}\n" for one in ranges).encode()).hexdigest()


def _from_file(path: Path, name: str) -> list[Range]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != _COLUMNS:
            raise InputError(problem=f"{path} must have the columns {', '.join(_COLUMNS)}", remedy="replace it")
        try:
            return [
                Range(row["entity"], int(row["length"]), int(row["start"]), int(row["end"]))
                for row in reader
                if row["benchmark"] == name
            ]
        except (TypeError, ValueError):
            raise InputError(
                problem=f"{path} has a length, start or end that is not a whole number", remedy="replace it"
            ) from None


def _downloaded(name: str) -> Iterator[Range]:
    """The ranges as their authors publish them: a list for MSL and SMAP, a label for each step for the others."""
    repository = _REPOSITORIES[name]
    for address, sha256 in _sums().items():
        if address.startswith(f"{repository}/"):
            path = download(
                f"https://raw.githubusercontent.com/{address}", sha256, _WITHOUT_NETWORK, repository.split("/")[1]
            )
            if repository == "khundman/telemanom":
                yield from _listed(path, name)
            elif name == "PSM":
                yield from _stepwise(name, np.loadtxt(path, delimiter=",", skiprows=1, usecols=1))
            else:
                yield from _stepwise(path.stem, np.loadtxt(path))


def _sums() -> dict[str, str]:
    """SHA-256 sums of all files, by repository, commit and path, in the order in which they are read."""
    text = files("nofluke.datasets").joinpath("benchmark_labels.sha256").read_text(encoding="utf-8")
    return {address: sha256 for sha256, address in map(str.split, text.splitlines())}


def _listed(path: Path, name: str) -> Iterator[Range]:
    """Ranges of telemanom's list, with the length of each test part; of a channel listed twice the first line."""
    seen = set()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["spacecraft"] == name and row["chan_id"] not in seen:
                seen.add(row["chan_id"])
                for start, end in json.loads(row["anomaly_sequences"]):
                    yield Range(row["chan_id"], int(row["num_values"]), start, end)


def _stepwise(entity: str, labels: Iterable[float]) -> Iterator[Range]:
    """Ranges of 0/1 labels."""
    marked = np.asarray(labels) > 0
    changes = np.flatnonzero(np.diff(marked, prepend=False, append=False))
    for start, stop in changes.reshape(-1, 2).tolist():
        yield Range(entity, len(marked), start, stop - 1)
