"""Watching a detector: is it still better than chance, today? Evidence that may be looked at every day.

Time is cut into blocks. A block is settled once its labels are final; within it the law of the hits is known, given
the alarms and what the null keeps, and gives an e-value. Their product over blocks is a test martingale. `Watch` is the
state, in memory or in a file (`blocks.py`); `WatchResult` is what it found.

The page docs/explanation/watching.md has the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

import numpy as np

from nofluke.arrays import AnyArray, BoolArray, FloatArray, IntArray
from nofluke.data.paths import expanded
from nofluke.dates import as_duration, format_duration
from nofluke.errors import InputError, arg, say
from nofluke.inference.blocks import DEFAULTS, ENOUGH, RESTART, WITHIN, State, alone, read_state, write_state
from nofluke.inference.evaluate import Evaluation
from nofluke.inference.updates import DAY, moment, read_update
from nofluke.laws.betting import found_by_e_bh, log_mean, losses, running_means
from nofluke.lazy import lazy
from nofluke.nulls import as_null
from nofluke.plain import as_number, check_alpha, check_word, finite_or_none, whole_or_none
from nofluke.series.tolerance import Length, Tolerance, as_tolerance
from nofluke.text.exports import Exports
from nofluke.text.numbers import p_is, show_p
from nofluke.text.tables import SCHEMA, Table, noted, plural, show_share, stacked

Verdict = Literal["better than chance", "not yet", "lost", "cannot tell", "nothing to learn"]
VERDICTS: tuple[Verdict, ...] = (
    "lost",
    "cannot tell",
    "nothing to learn",
    "not yet",
    "better than chance",
)  # worst first
NAMES = {"permutation": "permutation", "circular-shift": "rotations", "period-shuffle": "whole periods exchanged"}
YEAR = 365.25 * DAY
MOST = 700.0  # of a logarithm, beyond which floats end
MEASURES = ("recall", "precision")
IDLE = 10  # blocks that taught nothing, before that is the verdict

VOIDS = say(
    "This holds only if alarms do not react to events: where they are muted or paused after an incident, pass {}. Labels "
    "that exist because of alarms void it.",
    arg("mute_after"),
)


# ---- settings: plain values, as they stand in the file


def _length(value: Any, name: str) -> int | str:
    """Steps, or a duration as text."""
    whole = None if isinstance(value, str) else whole_or_none(value)
    least = 0 if name in ("labels_final", "mute_after") else 1
    if whole is not None:
        if whole < least:
            raise InputError(argument=name, value=value, problem="must be positive")
        return whole
    long = as_duration(value, name)
    if long is None or long < least:
        raise InputError(argument=name, value=value, problem="must be a duration such as '1d', or steps")
    return format_duration(long)


def _begin(value: Any, name: str) -> int | str:
    """A step, or a time as it is written."""
    try:
        return value if isinstance(value, int | str) else str(value)
    except Exception:  # an object of the user's may raise anything
        raise InputError(argument=name, value=value, problem="must be a step or a time") from None


def _block(value: Any, name: str) -> int | str:
    return "auto" if isinstance(value, str) and value == "auto" else _length(value, name)


def _every(value: Any, name: str) -> int | str:
    """A length, or years: as a rate, "1y" is 365.25 days."""
    if not isinstance(value, str) or not value.strip().endswith("y"):
        return _length(value, name)
    years = value.strip()[:-1] or "1"
    try:
        long = float(years) * YEAR
    except ValueError:
        long = math.nan
    if not 0 < long < math.inf:
        raise InputError(argument=name, value=value, problem="is no number of years")
    return f"{years}y"


def _null(value: Any, name: str) -> str:
    if isinstance(value, str) and value.strip() == "auto":
        return "auto"
    model = as_null(value)
    if model.name not in NAMES or (model.shifts_all and model.settings):
        raise InputError(
            argument=name,
            value=value,
            problem="has no law within a block",
            remedy=say("pass {}", arg("null", "auto", "circular-shift", "permutation", "period-shuffle:period=1d")),
        )
    return model.text


def _least(value: Any, name: str) -> int | float | str:
    """The rate below which skill is lost: a share, the lower limit of a result's interval, or a period to learn it."""
    if isinstance(value, Evaluation):
        found = value.interval().recall
        if not found:
            raise InputError(argument=name, problem="has no interval for recall", remedy=found.reason)
        value = found.low
    if isinstance(value, str):
        return _length(value, name)
    return as_number(value, name, "be above 0 and below 1, or a period to learn it from", lambda x: 0 < x < 1)


def _zone(value: Any, name: str) -> str:
    try:
        return ZoneInfo(value).key
    except Exception:
        raise InputError(
            argument=name, value=value, problem="is not known", remedy="pass a name such as 'Europe/Berlin'"
        ) from None


def _word(*words: str) -> Callable[[Any, str], str]:
    def checked(value: Any, name: str) -> str:
        check_word(value, name, words)
        return str(value)

    return checked


SETTINGS: dict[str, Callable[[Any, str], Any]] = {
    "tolerance": lambda value, name: as_tolerance(value, name).plain(),
    "block": _block,
    "labels_final": _length,
    "alpha": lambda value, _: check_alpha(value),
    "null": _null,
    "threshold": lambda value, name: as_number(value, name, "be a finite number", math.isfinite),
    "higher_is": _word("anomalous", "normal"),
    "count_events": _word("steps", "ranges"),
    "mute_after": _length,
    "lost_below": _least,
    "false_alarm_every": _every,
    "start": _begin,
    "step": _length,
    "timezone": _zone,
}


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Checked settings as plain values; those that were not passed are left out."""
    return {name: SETTINGS[name](value, name) for name, value in given.items() if value is not None}


def _new(settings: dict[str, Any]) -> State:
    if "tolerance" not in settings:
        raise InputError(
            argument="tolerance", problem="must be fixed before a watch begins", remedy="pass steps, or a duration"
        )
    return State(settings=settings)


# ---- the watch


class Watch:
    """A detector, or several, under watch: settings and settled blocks, in memory or in a file.

    Made by :func:`nofluke.watch`, or by :meth:`replay` over a labelled past.

    See Also
    --------
    nofluke.watch : makes it.
    nofluke.WatchResult : what an update returns.
    nofluke.evaluate : judges a series once, at its end.

    Examples
    --------
    >>> import numpy as np, nofluke as nf
    >>> rng = np.random.default_rng(1)
    >>> events = rng.random(20_000) < 0.01
    >>> alarms = np.where(events, rng.random(20_000) < 0.5, rng.random(20_000) < 0.02)
    >>> watch = nf.Watch.replay(events, predictions=alarms, tolerance=2, block=500)
    >>> watch.result.verdict, watch.result.n_blocks
    ('better than chance', 39)
    """

    def __init__(self, state: State, path: Path | None = None, restart: dict[str, Any] | None = None) -> None:
        self._state, self._path = state, path
        self._restart = restart  # settings of a run that the next update begins

    def __repr__(self) -> str:
        where = "" if self._path is None else f" in {self._path}"
        return f"<Watch{where}: {plural(len(self._state.blocks), 'block')} settled>"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values, with defaults."""
        return DEFAULTS | self._state.settings

    @property
    def detectors(self) -> tuple[str, ...]:
        """The names of those that are watched, since the first update."""
        return tuple(self._state.detectors)

    @property
    def needs_from(self) -> str | None:
        """From when on the next update needs data: where the first block begins that is not settled.

        That is all events and alarms from then on, and the ranges that last until then.
        """
        state = self._state
        return None if state.time is None else state.time.show(state.next)

    @property
    def result(self) -> WatchResult:
        """What has been found so far."""
        return WatchResult(state=self._state)

    def update(
        self,
        truth: Any,
        scores: Any = None,
        *,
        predictions: Any = None,
        times: Any = None,
        mask: Any = None,
        gaps: Any = None,
        since: Any = None,
        until: Any = None,
    ) -> WatchResult:
        """Take new data, settle the blocks whose labels are final, and say what was found.

        Pass all data from the first block on that is not settled (`needs_from`): its labels may have changed. Older
        data may be passed too, and are compared with what was settled. The same update twice changes nothing.

        Parameters
        ----------
        truth : array-like
            Labels of steps, positions, times, or ranges of either, as in :func:`nofluke.evaluate`.
        scores : array-like or mapping of str to array-like, optional
            Anomaly scores of each step; several detectors by name. They need the setting ``threshold``.
        predictions : array-like or mapping of str to array-like, optional
            Alarms instead: 0/1 of each step, or a list of dates, for which no steps are needed.
        times : array-like, optional
            The clock of the steps, in any order. Without one, steps are numbered from 0, or from ``since``.
        mask : array-like of bool, optional
            True for steps to ignore.
        gaps : pairs of times, optional
            Unwatched stretches, both ends included, where lists of dates are passed.
        since : date or int, optional
            From when on lists are complete, or the number of the first step. By default lists are compared with settled
            blocks from where both have begun.
        until : date or int, optional
            Up to when data are complete: nothing after it is used. "now" is the machine's clock. By default the end of
            the last step; lists of dates need it.

        Returns
        -------
        WatchResult
        """
        with alone(self._path):
            if self._path is not None and self._path.exists():
                self._state = read_state(self._path)
                if self._restart is not None:
                    self._state = _restarted(self._state, self._restart)
            state = self._state
            data = read_update(
                truth, scores, predictions, settings=state.settings, times=times, mask=mask, gaps=gaps, since=since,
                until=until,
            )  # fmt: skip
            if state.time is None:
                state.begin_with(data)
            state.check(data, since)
            if data.rows is None and since is not None and data.begin > state.next:
                data = data.unwatched_from(state.next)
            state.settle(data)
            if self._path is not None:
                write_state(state, self._path)
            self._restart = None
        return WatchResult(state=state, notes=data.notes)

    @classmethod
    def replay(
        cls,
        truth: Any,
        scores: Any = None,
        *,
        predictions: Any = None,
        times: Any = None,
        mask: Any = None,
        gaps: Any = None,
        since: Any = None,
        until: Any = None,
        **settings: Any,
    ) -> Self:
        """A watch over a labelled past, all of it final: the same path as updates at any times would have given.

        Parameters
        ----------
        truth, scores, predictions, times, mask, gaps, since, until
            As in `update`.
        **settings
            As in :func:`nofluke.watch`; ``labels_final`` does not matter.
        """
        unknown = settings.keys() - SETTINGS.keys()
        if unknown:
            raise TypeError(f"replay() got an unexpected keyword argument {min(unknown)!r}")
        made = cls(_new(_settings(settings | {"labels_final": 0})))
        made.update(truth, scores, predictions=predictions, times=times, mask=mask, gaps=gaps, since=since, until=until)
        return made


def watch(
    path: Any = None,
    *,
    tolerance: Length | Tolerance | None = None,
    block: Length | None = None,
    labels_final: Length | None = None,
    alpha: float | None = None,
    null: Any = None,
    threshold: float | None = None,
    higher_is: Literal["anomalous", "normal"] | None = None,
    count_events: Literal["steps", "ranges"] | None = None,
    mute_after: Length | None = None,
    lost_below: Any = None,
    false_alarm_every: Any = None,
    start: Any = None,
    step: Length | None = None,
    timezone: str | None = None,
    restart: bool = False,
) -> Watch:
    r"""Watch a detector: evidence that it is better than chance, to be looked at as often as one likes.

    Time is cut into blocks. In a settled block, given the alarms and what the null keeps, the law of the hits H is
    known, and :math:`e = e^{\theta H} / E_0[e^{\theta H}]` has expectation 1. The mean over some θ of the products over
    blocks reaches 1/α with probability α at most, however often one looks.

    Parameters
    ----------
    path : path, optional
        The file of the state: made by the first update, and rewritten whole by each. An existing one brings its
        settings, and only changed ones need to be passed, with ``restart``. Without a path, all is in memory.
    tolerance : int, str, timedelta or Tolerance
        How early or late an alarm may be.
    block : int, str or timedelta, default "auto"
        How long a block is: by default a day, or longer if that is not long against the tolerance.
    labels_final : int, str or timedelta, default 0
        How long after the end of a block its labels are final.
    alpha : float, default 0.05
        The level of the verdict.
    null : str, default "auto"
        What chance does: events are moved within a block, "permutation" or "circular-shift" (all rotations), or whole
        periods change places across blocks, "period-shuffle:period=1d". "auto" takes the lesser evidence of rotations
        and, with dates, of days that change places with the same weekdays of three weeks; a season of another length
        that settled blocks show is added, for those to come.
    threshold : float, optional
        Which scores are alarms. It must be fixed before they are seen.
    higher_is, count_events
        As in :func:`nofluke.evaluate`.
    mute_after : int, str or timedelta, optional
        Alarms are held back for so long after each event: these steps are masked, and those whose windows reach into
        them.
    lost_below : float, str or Evaluation, optional
        The recall below which skill is lost: a share, the lower limit of a result's interval, or the length of a
        reference period at the beginning ("90d"), of whose confidence sequence the lower limit is taken.
    false_alarm_every : str or int, default "1y"
        The mean time between two false verdicts of a loss, at least.
    start : date or int, optional
        Where the first block begins; by default at the midnight before the first data, or at the first step.
    step : str, optional
        The resolution of lists of dates; by default about a fiftieth of the tolerance, and at least a second.
    timezone : str, optional
        Whole days are those of the calendar there ("Europe/Berlin"), where times have a zone.
    restart : bool
        Begin a new run with the next update and block, with the settings that were passed. Runs share α: the first has
        4/5 of it, each later one half of what is left.

    Returns
    -------
    Watch
        With ``update``, ``result`` and ``needs_from``.

    References
    ----------
    Ville (1939), Étude critique de la notion de collectif. Shafer (2021), Testing by betting, Journal of the Royal
    Statistical Society A 184. Grünwald, de Heide and Koolen (2024), Safe testing.

    See Also
    --------
    nofluke.Watch : what it makes.
    nofluke.evaluate : judges a series once.

    Examples
    --------
    >>> import numpy as np, nofluke as nf
    >>> watch = nf.watch(tolerance=2, block=500)
    >>> rng = np.random.default_rng(1)
    >>> events = rng.random(20_000) < 0.01
    >>> alarms = np.where(events, rng.random(20_000) < 0.5, rng.random(20_000) < 0.02)
    >>> print(watch.update(events[:3_000], predictions=alarms[:3_000]).verdict)
    not yet
    >>> result = watch.update(events, predictions=alarms)
    >>> result.verdict, result.since.convincing
    ('better than chance', '3000')
    """
    given = {name: value for name, value in locals().items() if name in SETTINGS}
    asked = _settings(given)
    place = None if path is None else expanded(path, "path")
    if place is None or not place.exists():
        return Watch(_new(asked), place)
    with alone(place):
        state = read_state(place)
        differ = [name for name, value in asked.items() if state.setting(name) != value]
        if restart:
            return Watch(_restarted(state, asked), place, asked)
        if differ:
            told = ", ".join(f"{name} {state.setting(name)} then, {asked[name]} now" for name in differ)
            raise InputError(
                problem=f"{place} is a watch with other settings: {told}",
                remedy=say("leave them out, or begin a new run by {}; runs share alpha", RESTART),
            )
    return Watch(state, place)


def _restarted(state: State, asked: dict[str, Any]) -> State:
    """A new run from the next block on, which knows nothing of those before."""
    settings = state.settings | asked
    changed = {name for name, value in asked.items() if state.setting(name) != value} - {"start", "labels_final"}
    if state.time is not None and "start" in asked and changed:
        begin, dates, _ = moment(asked["start"], "start")
        if dates == state.time.dates and begin < state.next:
            raise InputError(
                argument="start",
                value=asked["start"],
                problem=f"lies in blocks that were seen before {', '.join(sorted(changed))} changed",
                remedy=f"leave it out, or pass {state.time.show(state.next)} or later",
            )
    if state.time is not None and "start" not in asked:
        settings["start"] = state.next if not state.time.dates else str(np.datetime64(state.next, "ns"))
        settings["start"] = f"{settings['start']}Z" if state.time.aware else settings["start"]
    summary = {
        "run": state.run,
        "settings": state.settings,
        "blocks": len(state.blocks),
        "detectors": {
            one.name: {"verdict": one.verdict, "evidence": one.evidence.now, "highest": one.evidence.highest}
            for one in WatchResult(state=state).detectors
        },
    }
    if state.time is not None:
        summary["until"] = state.time.show(state.next)
    return State(settings=settings, run=state.run + 1, earlier=[*state.earlier, summary])


# ---- what was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The e-value now, and the highest so far; both are weighed by the run's share of α, so that the bar is 1/α."""

    now: float
    highest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """When evidence became convincing, when a block last taught something, when skill was lost; None for never."""

    convincing: str | None
    learned: str | None
    lost: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningMean:
    """The mean of the shares of blocks, and the confidence sequence for that of their expectations.

    It covers the mean over all blocks so far, not the rate of today.
    """

    value: float
    low: float
    high: float
    hits: int
    of: int

    def __str__(self) -> str:
        if not self.of:
            return "undefined"
        return f"{show_share(self.value)} ({show_share(self.low)} to {show_share(self.high)})"

    def to_dict(self) -> dict[str, Any]:
        """As plain values; None for what is undefined."""
        shares = {name: finite_or_none(getattr(self, name)) for name in ("value", "low", "high")}
        return shares | {"hits": self.hits, "of": self.of}


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchedDetector:
    """What was found of one detector.

    Attributes
    ----------
    name : str
    verdict : {"better than chance", "not yet", "lost", "cannot tell", "nothing to learn"}
    reason : str
        Why, in a sentence.
    evidence : Evidence
    pvalue : float
        1 over the highest evidence: valid at all times.
    since : Since
    recall, precision : RunningMean
    lost_below : float or None
        The recall below which skill is lost.
    null, why : str
        What chance does in the blocks to come, and why.
    path : float array
        Evidence after each block.
    bands : dict of str to float array
        Of "recall" and "precision": the running mean after each block, and both limits; NaN before the first share.
    """

    name: str
    verdict: Verdict
    reason: str
    evidence: Evidence
    pvalue: float
    since: Since
    recall: RunningMean
    precision: RunningMean
    lost_below: float | None
    null: str
    why: str
    path: FloatArray = field(repr=False)
    bands: dict[str, FloatArray] = field(repr=False)

    def in_words(self) -> str:
        """One line."""
        return f"{self.name}: {self.verdict}. {self.details}"

    @property
    def details(self) -> str:
        """What stands behind the verdict."""
        now, top = (f"{value:.3g}" for value in (self.evidence.now, self.evidence.highest))
        evidence = f"Evidence {now} (highest {top}, always-valid {p_is(self.pvalue)})"
        return f"{self.reason} {evidence}; recall {self.recall}, precision {self.precision}."

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}
        parts = {"evidence": asdict(self.evidence), "since": asdict(self.since)}
        return plain | parts | {name: plain[name].to_dict() for name in MEASURES}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WatchResult(Exports):
    """What a watch has found: a verdict for each detector, its evidence, and how both measures have gone.

    Attributes
    ----------
    detectors : tuple of WatchedDetector
    verdict : str
        Of the only detector, or the worst of several.
    evidence, pvalue, since, recall, precision
        Of the only detector; of several, ask ``result["name"]``.

    See Also
    --------
    nofluke.watch : where updates begin.
    nofluke.plot.watch : draws it.

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.Watch.replay([0, 1, 0, 0] * 100, predictions=[0, 1, 0, 1] * 100, tolerance=0, block=40).result
    >>> found.verdict, found.recall.hits, found.recall.of
    ('better than chance', 100, 100)
    """

    state: State
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<WatchResult {self.verdict}: {plural(self.n_blocks, 'block')} settled>"

    @property
    def n_blocks(self) -> int:
        """Blocks that are settled, in this run."""
        return len(self.state.blocks)

    @property
    def settled_until(self) -> str | None:
        """Where the last settled block ends."""
        return self.state.timeline.show(self.state.next) if self.state.blocks else None

    @property
    def alpha(self) -> float:
        """The level of the verdict."""
        return float(self.state.setting("alpha"))

    @lazy
    def times(self) -> AnyArray:
        """Where each settled block ends: dates, or steps."""
        stops = np.array([one["stop"] for one in self.state.blocks], dtype=np.int64)
        dates = self.state.time is not None and self.state.time.dates
        return stops.astype("datetime64[ns]") if dates else stops

    @lazy
    def _paths(self) -> dict[str, FloatArray]:
        """Logarithms of the evidence after each block, weighed by the run's share of α: the least of its kinds."""
        state, found = self.state, {}
        stops = np.array([one["stop"] for one in state.blocks], dtype=np.int64)
        for name in state.detectors:
            kinds = {WITHIN: state.start} if state.within else {}
            kinds |= {one.kind(state.timeline): one.since for one in state.periods[name]}
            least = np.full(len(stops), np.inf)
            for kind, since in kinds.items():
                path, now = np.zeros(len(stops)), 0.0
                for i, one in enumerate(state.blocks):
                    logs = one["by"][name]["logs"].get(kind)
                    path[i] = now = now if logs is None else float(log_mean(np.array(logs)))
                least = np.where(stops > since, np.minimum(least, path), least)
            found[name] = least + math.log(state.weight)
        return found

    @lazy
    def detectors(self) -> tuple[WatchedDetector, ...]:
        """What was found of each."""
        return tuple(self._judged(name) for name in self.state.detectors)

    def __getitem__(self, name: str) -> WatchedDetector:
        for one in self.detectors:
            if one.name == name:
                return one
        raise KeyError(name)

    @property
    def _only(self) -> WatchedDetector:
        if len(self.detectors) != 1:
            names = ", ".join(self.state.detectors) or "none"
            raise InputError(problem=f"{len(self.detectors)} detectors are watched", remedy=f"ask for one of {names}")
        return self.detectors[0]

    @property
    def verdict(self) -> Verdict:
        """Of the only detector, or the worst of several: "lost" before "cannot tell", and so on."""
        found = [one.verdict for one in self.detectors]
        return min(found, key=VERDICTS.index, default="cannot tell")

    @property
    def reason(self) -> str:
        """Why, of the only detector or of the worst."""
        worst = min(self.detectors, key=lambda one: VERDICTS.index(one.verdict), default=None)
        if worst is None:
            return "Nothing was passed yet."
        return worst.reason if len(self.detectors) == 1 else f"{worst.name}: {worst.reason}"

    @property
    def evidence(self) -> Evidence:
        """Of the only detector."""
        return self._only.evidence

    @property
    def pvalue(self) -> float:
        """Of the only detector, valid at all times."""
        return self._only.pvalue

    @property
    def since(self) -> Since:
        """Of the only detector."""
        return self._only.since

    @property
    def recall(self) -> RunningMean:
        """Of the only detector."""
        return self._only.recall

    @property
    def precision(self) -> RunningMean:
        """Of the only detector."""
        return self._only.precision

    # -- judging

    @lazy
    def _convincing(self) -> dict[str, BoolArray]:
        """After each block, whether the evidence is: it has ever reached 1/α; of several, by e-BH at that time."""
        bar = -math.log(self.alpha)
        if len(self._paths) == 1:
            return {name: np.maximum.accumulate(path) >= bar for name, path in self._paths.items()}
        flags = {name: np.zeros(self.n_blocks, dtype=np.bool_) for name in self._paths}
        for i in range(self.n_blocks):
            now = {name: math.exp(min(path[i], MOST)) for name, path in self._paths.items()}
            for name in found_by_e_bh(now, self.alpha):
                flags[name][i] = True
        return flags

    def _judged(self, name: str) -> WatchedDetector:
        state, path, convincing = self.state, self._paths[name], self._convincing[name]
        rows = [one["by"][name] for one in state.blocks]
        logs = np.append(math.log(state.weight), path)
        highest = float(logs.max())
        learned = [i for i, row in enumerate(rows) if row["logs"]]
        events = [one["events"] for one in state.blocks]
        counts = {
            "recall": np.array([[row["found"] for row in rows], events]),
            "precision": np.array([[row["right"] for row in rows], [row["alarms"] for row in rows]]),
        }
        means, bands = {}, {}
        for measure, (hits, of) in counts.items():
            some = of > 0
            band = np.stack(running_means(hits[some] / of[some], self.alpha))
            bands[measure] = np.concatenate([np.full((3, 1), np.nan), band], axis=1)[:, np.cumsum(some)]
            value, low, high = band[:, -1].tolist() if some.any() else [math.nan] * 3
            means[measure] = RunningMean(value=value, low=low, high=high, hits=int(hits.sum()), of=int(of.sum()))
        least, lost, unknown = self._lost(counts["recall"], bands["recall"])
        sure, gone = (bool(len(flags) and flags[-1]) for flags in (convincing, lost))
        since = Since(
            convincing=self._first(convincing) if sure else None,
            learned=self._when(learned[-1]) if learned else None,
            lost=self._first(lost) if gone else None,
        )
        verdict, reason = self._ruled(name, sure, since, least, unknown, learned)
        null, why = self._nulls(name)
        return WatchedDetector(
            name=name, verdict=verdict, reason=reason, pvalue=min(math.exp(-highest), 1.0), since=since, **means,
            evidence=Evidence(now=math.exp(min(logs[-1], MOST)), highest=math.exp(min(highest, MOST))),
            lost_below=least, null=null, why=why, path=np.exp(np.minimum(path, MOST)), bands=bands,
        )  # fmt: skip

    def _nulls(self, name: str) -> tuple[str, str]:
        """What chance does in the blocks to come, and why."""
        state = self.state
        names = [NAMES[null] for null in (state.within, "period-shuffle" * bool(state.periods[name])) if null]
        if state.setting("null") != "auto":
            return names[0], "It was asked for."
        together = "Events are rotated together within a block, which keeps clusters, ranges and slow changes."
        least = " The lesser evidence counts." * bool(state.periods[name])
        return " and ".join(names), " ".join([together, *(one.why for one in state.periods[name])]) + least

    def _lost(self, recall: IntArray, band: FloatArray) -> tuple[float | None, BoolArray, str]:
        """The rate that was promised, after each block whether it is lost, and why nobody can know."""
        state, n, begin = self.state, self.n_blocks, 0
        least = state.setting("lost_below")
        lost = np.zeros(n, dtype=np.bool_)
        if least is None or not n:
            return None, lost, ""
        about = state.timeline
        if isinstance(least, str):
            until = state.start + about.length(least, "lost_below")
            begin = sum(one["stop"] <= until for one in state.blocks)
            if begin == n:  # it is not over
                return None, lost, ""
            mean, low = band[:2, begin - 1].tolist() if begin else (math.nan, math.nan)
            if not 0 < low < 1:
                seen = f"its recall was {show_share(mean)}, with a lower limit of {low:g}"
                why = "no block of it had an event" if math.isnan(low) else seen
                return None, lost, f"A loss cannot be seen: of the reference period of {least}, {why}."
            least = low
        every = state.setting("false_alarm_every")
        if isinstance(every, str) and not about.dates:
            bar = 365.0  # steps know no years: as many blocks as a year has days
        else:
            years = isinstance(every, str) and every.endswith("y")
            bar = (float(every[:-1]) * YEAR if years else about.length(every, "false_alarm_every")) / state.block
        some = begin + np.flatnonzero(recall[1, begin:] > 0)
        stands = losses(recall[0, some] / recall[1, some], least, max(bar, 1.0))[1]
        for i, one in zip(some.tolist(), stands.tolist(), strict=True):
            lost[i:] = one
        return least, lost, ""

    def _when(self, i: int) -> str:
        return self.state.timeline.show(self.state.blocks[i]["stop"])

    def _first(self, flags: BoolArray) -> str:
        """Since when flags have been set without a break."""
        off = np.flatnonzero(~flags)
        return self._when(int(off[-1]) + 1 if len(off) else 0)

    def _ruled(
        self, name: str, sure: bool, since: Since, least: float | None, unknown: str, learned: list[int]
    ) -> tuple[Verdict, str]:
        state = self.state
        rare = max((one.long * one.many for one in state.periods[name] if not state.within), default=0)
        quiet = self.n_blocks - (learned[-1] + 1 if learned else 0) >= max(IDLE, rare / max(state.block, 1) + 1)
        when = f"since {since.learned}" if since.learned else "so far"
        by = "" if len(state.detectors) == 1 else f" among {len(state.detectors)} detectors (e-BH)"
        convincing = f"The evidence is convincing since {since.convincing}{by}."
        if since.lost is not None:
            return "lost", f"Since {since.lost} it finds fewer than {show_share(least or 0.0)} of the events."
        if unknown:
            return "cannot tell", f"{unknown} Pass a share, or a longer period.{f' {convincing}' if sure else ''}"
        if sure:
            idle = f" There was nothing to learn from {when}." if quiet else ""
            return "better than chance", f"{convincing}{idle}"
        if state.time is None:
            return "cannot tell", "Nothing was passed yet."
        about = state.time
        if not state.blocks:
            stop = about.after(state.next, state.block)
            return "cannot tell", f"No block is settled yet: the first is at {about.show(stop + state.wait)}."
        if not state.ready:
            events = sum(one["events"] for one in state.blocks)
            return (
                "cannot tell",
                f"Settled blocks hold {plural(events, 'event')}, and {ENOUGH} are needed to look for a season.",
            )
        if quiet:
            return "nothing to learn", f"No block has had both events and alarms {when}."
        first = [
            about.after(one.start, one.long, one.alike * one.many)
            for one in state.periods[name]
            if one.start == one.since
        ]
        waits = f"; whole periods are first compared at {about.show(max(first) + state.wait)}" if first else ""
        return "not yet", f"The evidence has not reached {1 / self.alpha:g}{waits}."

    # -- ways out

    def sentences(self) -> tuple[str, ...]:
        """The result in plain words: one for each detector, then what holds for all."""
        told = [one.in_words() for one in self.detectors]
        blocks = f"{plural(self.n_blocks, 'block')} settled"
        until = f", until {self.settled_until}" if self.settled_until else ""
        run = f" Run {self.state.run}: runs share alpha." if self.state.run > 1 else ""
        several = (
            " Several detectors are corrected by e-BH on their evidence at this time; a list of all that were ever found "
            "is not."
            if len(self.state.detectors) > 1
            else ""
        )
        return (*told, f"{blocks}{until}.{run}{several}", VOIDS)

    def in_words(self) -> str:
        """One line: every detector, and what voids it."""
        return " ".join(self.sentences())

    def table(self) -> Table:
        """A row for each detector."""
        columns = ("", "verdict", "evidence", "highest", "p", "recall", "precision", "last learned")
        rows = []
        for one in self.detectors:
            evidence = (f"{value:.3g}" for value in (one.evidence.now, one.evidence.highest))
            cells = (*evidence, show_p(one.pvalue), str(one.recall), str(one.precision))
            rows.append((one.name, one.verdict, *cells, one.since.learned or "never"))
        reasons = [one.reason if len(self.detectors) == 1 else f"{one.name}: {one.reason}" for one in self.detectors]
        limits = f"Limits hold at all times at once (level {1 - self.alpha:g}), for the mean over all blocks so far, not for today's rate."
        return Table(
            columns=columns, rows=tuple(rows), title=self.sentences()[-2], left=2,
            notes=(*reasons, *self.nulls(), limits, VOIDS, *noted(self.notes)),
        )  # fmt: skip

    def nulls(self) -> tuple[str, ...]:
        """What chance does, and why: a sentence for each of those that differ."""
        return tuple(dict.fromkeys(f"Null: {one.null}. {one.why}" for one in self.detectors))

    def columns(self) -> dict[str, Any]:
        """A row for each settled block and detector."""
        blocks, parts = self.state.blocks, []
        ends = [self.state.timeline.show(one["start"]) for one in blocks] + [self.settled_until]
        for one in self.detectors:
            rows = [block["by"][one.name] for block in blocks]
            part: dict[str, Any] = {"detector": [one.name] * len(rows), "start": ends[:-1], "stop": ends[1:]}
            part["events"] = [block["events"] for block in blocks]
            part |= {name: [row[name] for row in rows] for name in ("found", "alarms", "right")}
            part |= {"learned": [bool(row["logs"]) for row in rows], "evidence": one.path.tolist()}
            for measure in MEASURES:
                sides = zip(("", "_low", "_high"), one.bands[measure].tolist(), strict=True)
                part |= {f"{measure}{side}": values for side, values in sides}
            parts.append(part)
        return stacked(parts) if parts else {}

    def _record(self) -> dict[str, Any]:
        state = self.state
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "reason": self.reason,
            "alpha": self.alpha,
            "run": state.run,
            "share_of_alpha": state.weight,
            "blocks": self.n_blocks,
            "block": None if state.time is None else state.time.told(state.block),
            "settled_until": self.settled_until,
            "settings": DEFAULTS | state.settings,
            "detectors": [one.to_dict() for one in self.detectors],
            "assumes": VOIDS,
            "notes": list(self.notes),
        }

    def to_prometheus(self) -> str:
        """Metrics for the textfile collector of Prometheus's node exporter, by detector."""
        shown: dict[str, tuple[str, list[tuple[str, float]]]] = {}

        def add(name: str, about: str, labels: str, value: float) -> None:
            shown.setdefault(f"nofluke_watch_{name}", (about, []))[1].append((labels, value))

        for one in self.detectors:
            escaped = one.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            label = f'detector="{escaped}"'
            add("evidence", "E-value now, weighed by the run's share of alpha.", label, one.evidence.now)
            add("evidence_highest", "Highest e-value so far.", label, one.evidence.highest)
            add("pvalue", "Always-valid p-value.", label, one.pvalue)
            for measure, mean in (("recall", one.recall), ("precision", one.precision)):
                for end, value in (("", mean.value), ("_low", mean.low), ("_high", mean.high)):
                    add(f"{measure}{end}", f"Mean {measure} of blocks, and its confidence sequence.", label, value)
            add("blocks_settled", "Settled blocks of this run.", label, self.n_blocks)
            for verdict in VERDICTS:
                own = f'{label},verdict="{verdict}"'
                add("verdict", "1 for the verdict that holds.", own, float(one.verdict == verdict))
        lines = []
        for name, (about, values) in shown.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
            told = ((labels, "NaN" if math.isnan(value) else f"{value:.10g}") for labels, value in values)
            lines += [f"{name}{{{labels}}} {value}" for labels, value in told]
        return "\n".join(lines) + "\n"

    def plot(self, ax: Any = None) -> AnyArray:
        """Draw evidence over time on a log axis with the line 1/α, and both measures with their bands (matplotlib)."""
        from nofluke.plot import watch as plot_watch

        return plot_watch(self, ax)

    def report(self, path: Any) -> Path:
        """Write a page about it: verdict, evidence over time, and the blocks."""
        from nofluke.show.watch import write_page

        return write_page(self, path)
