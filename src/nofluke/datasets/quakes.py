"""The paper's earthquakes, and a simulated series of the same shape."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nofluke.datasets.files import download, find, own_directory
from nofluke.errors import InputError, passed, say
from nofluke.plain import as_rng, as_whole

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_COUNTS_FILE, _TRUTH_FILE = "twitter-earthquakes.dat", "earthquakes.dat"
_SHA256 = {
    _COUNTS_FILE: "2441d0eb89fd74da7220702f6489577e3b6c20d8dadc787bb258ae726bbf4037",
    _TRUTH_FILE: "c6d6379716a20709f13672f3c41db87db3b45edb41105dd44f841bd45da4cec0",
}
MOST_DAYS = 10**8  # some 300,000 years of days, and some gigabytes
_REPOSITORY = "diozaka/anomaly-eval"
# a commit, not a branch: the bytes behind the address never change
_ADDRESS = f"https://raw.githubusercontent.com/{_REPOSITORY}/ddaf587a71b99349aadbc031bbd05646bf155717/"
_WITHOUT_NETWORK = (
    f"set NOFLUKE_DATA to a directory that holds {_COUNTS_FILE} and {_TRUTH_FILE} (from github.com/"
    f"{_REPOSITORY}), or use nofluke.datasets.simulate_quakes()"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quakes:
    """A daily count and the days on which an earthquake happened.

    Attributes
    ----------
    counts : ndarray of int64
        Tweets about earthquakes, one number a day.
    truth : ndarray of bool
        Whether an earthquake happened on that day.
    days : ndarray of datetime64[D] or None
        The calendar days; None where they are not known.
    simulated : bool
        True for made-up data.
    source : str
        Where the data come from, in words.

    See Also
    --------
    nofluke.datasets.load_earthquakes : the real data.
    nofluke.datasets.simulate_quakes : made-up data.
    """

    counts: NDArray[np.int64] = field(repr=False)
    truth: NDArray[np.bool_] = field(repr=False)
    days: NDArray[np.datetime64] | None = field(repr=False)
    simulated: bool
    source: str


def simulate_quakes(rng: int | np.random.Generator | None = 0, *, n_steps: int = 2557, n_events: int = 162) -> Quakes:
    """Simulate a labelled series shaped like the paper's example. The data are made up.

    Events fall on random days. A slowly drifting, overdispersed base of daily tweets carries bursts of
    log-normal size that start on the day of half of the events or on the day after, and halve each day;
    one more burst every 128 days has no event. Scored by `energy_transient` and cut at the score's
    .9-quantile, the default gives precision .57 and recall .46 at a tolerance of 2 days (the paper's data:
    .57 and .49); over seeds they average .58 and .48.

    Parameters
    ----------
    rng : int, numpy.random.Generator or None
        The seed, through `numpy.random.default_rng`; the same seed gives the same data. The default is a
        fixed seed, None draws new data each time.
    n_steps : int
        Days, at least 1.
    n_events : int
        Earthquakes, from 0 to `n_steps`.

    Returns
    -------
    Quakes
        With ``simulated=True`` and days from 2010-01-01.

    See Also
    --------
    nofluke.datasets.load_earthquakes : the real data.
    nofluke.detectors.energy_transient : a detector to try on them.

    Examples
    --------
    >>> quakes = simulate_quakes(7)
    >>> quakes.counts.size, int(quakes.truth.sum()), quakes.simulated
    (2557, 162, True)
    """
    n_steps, n_events = as_whole(n_steps, "n_steps", 1, MOST_DAYS), as_whole(n_events, "n_events", 0)
    if n_events > n_steps:
        raise InputError(
            argument="n_events",
            value=n_events,
            problem=say("exceeds {}", passed("n_steps", n_steps)),
            remedy="a day holds at most one event",
        )
    generator = np.random.default_rng(as_rng(rng))
    seed = str(rng) if rng is None or isinstance(rng, int | np.integer) else type(rng).__name__
    truth = np.zeros(n_steps, dtype=np.bool_)
    truth[generator.choice(n_steps, n_events, replace=False)] = True
    events = np.flatnonzero(truth)
    noticed = events[generator.random(n_events) < 0.5]
    noticed = noticed + generator.integers(0, 2, noticed.size)  # the news may come a day late
    unrelated = generator.integers(0, n_steps, n_steps // 128)
    rate = _base_rate(n_steps, generator) + _bursts(np.concatenate([noticed, unrelated]), n_steps, generator)
    # a Poisson count whose rate is itself gamma distributed is overdispersed (negative binomial)
    counts = generator.poisson(rate * generator.gamma(5.0, 1 / 5.0, n_steps))
    return Quakes(
        counts=counts.astype(np.int64),
        truth=truth,
        days=np.datetime64("2010-01-01", "D") + np.arange(n_steps),
        simulated=True,
        source=f"simulated (nofluke.datasets.simulate_quakes, rng={seed})",
    )


def load_earthquakes() -> Quakes:
    """Load the paper's data: 2,557 days of tweets about earthquakes, and 162 severe earthquakes.

    The files are taken from the directory named by the environment variable ``NOFLUKE_DATA`` (or its
    subdirectory ``anomaly-eval``). Without it they are downloaded once from the authors' repository, into
    pooch's cache directory or the one named by ``NOFLUKE_CACHE``. Either way their SHA-256 sums are checked.

    Returns
    -------
    Quakes
        With ``days=None``: the files carry no dates, and the paper says only "between 2010 and 2017".

    Raises
    ------
    InputError
        If files are missing, are other files than the paper's, or cannot be downloaded.

    See Also
    --------
    nofluke.datasets.simulate_quakes : made-up data of the same shape.
    nofluke.detectors.energy_transient : the paper's detector.

    References
    ----------
    Scharwächter and Müller (2020), Statistical Evaluation of Anomaly Detectors for Sequences,
    KDD MiLeTS. Tweets from Crimson Hexagon/Brandwatch, earthquakes from EM-DAT.

    Examples
    --------
    >>> quakes = load_earthquakes()  # doctest: +SKIP
    >>> quakes.counts.size, int(quakes.truth.sum())  # doctest: +SKIP
    (2557, 162)
    """
    counts, truth = (np.loadtxt(_located(name)) for name in (_COUNTS_FILE, _TRUTH_FILE))
    return Quakes(
        counts=counts.astype(np.int64),
        truth=truth > 0,
        days=None,
        simulated=False,
        source=f"Scharwächter and Müller (2020), github.com/{_REPOSITORY}",
    )


def _base_rate(n_steps: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return tweets a day without any quake: growing as the medium did, and drifting over half-years."""
    days = np.arange(n_steps)
    knots = np.arange(0, n_steps + 180, 180)
    drift = np.interp(days, knots, generator.normal(0.0, 0.35, knots.size))
    growth = np.minimum(1.0, 0.25 + 3.0 * days / n_steps)
    rate: NDArray[np.float64] = 25.0 * growth * np.exp(drift)
    return rate


def _bursts(starts: NDArray[np.int64], n_steps: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the tweets a day that bursts of heavy-tailed size add, each dying away within eight days."""
    sizes = 80.0 * np.exp(1.3 * generator.normal(size=starts.size))
    age = np.arange(8)
    day = starts[:, None] + age
    height = sizes[:, None] * 0.5**age
    inside = day < n_steps
    return np.bincount(day[inside], weights=height[inside], minlength=n_steps).astype(np.float64)


def _located(name: str) -> Path:
    directory = own_directory()
    if directory is None:
        return download(_ADDRESS + name, _SHA256[name], _WITHOUT_NETWORK)
    path = find(directory, "anomaly-eval", name, f"from github.com/{_REPOSITORY}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != _SHA256[name]:
        raise InputError(
            problem=f"{path} is not the paper's file",
            remedy=f"its SHA-256 begins {found[:12]}, not {_SHA256[name][:12]}. Replace it, or unset NOFLUKE_DATA to "
            "download",
        )
    return path
