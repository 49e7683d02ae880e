"""What every null model has: a name, a one-sentence assumption, draws of what it moves, and its exact laws."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from nofluke.arrays import AnyArray, ByValue, FloatArray, IntArray
from nofluke.errors import InputError, arg, say
from nofluke.laws.exact.moments import Moments
from nofluke.laws.law import How, Law
from nofluke.laws.montecarlo import Draw
from nofluke.lazy import lazy
from nofluke.metrics.draws import Layout
from nofluke.plain import as_number, as_rng, as_whole, check_word
from nofluke.series.trial import Cell
from nofluke.series.truth import Truth

Method = Literal["auto", "exact", "montecarlo", "saddlepoint", "binomial"]
METHODS: tuple[Method, ...] = ("auto", "exact", "montecarlo", "saddlepoint", "binomial")
Moved = Literal["truth", "detector"]
Kept = Literal["runs", "clusters", "season", "drift"]
EVERYTHING: frozenset[Kept] = frozenset({"runs", "clusters", "season", "drift"})
MOST_RESAMPLES = 10**10  # days of work even for a handful of steps
SEED = 2020  # of what is drawn to say how small p-values can be
SIMULATED_FLOOR = 1 / 10_001  # the smallest p with as many resamples as evaluate draws by default


@dataclass(frozen=True, slots=True, kw_only=True)
class Nulls:
    """The laws of both hits."""

    precision: Law
    recall: Law


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joint(ByValue):
    """Weights of pairs (recall's hits, precision's hits), from all placements or from random ones.

    Where not all events count, recall's hits are out of the observed number of those that do, and need not be whole.
    """

    recall_hits: AnyArray
    precision_hits: IntArray
    weights: FloatArray
    method: How


class Placed(NamedTuple):
    """Both hits of each of many placements, the data's own first, and how these were come by.

    Of one cell, or of several in columns.
    """

    recall: IntArray
    precision: IntArray
    how: How


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shifting(ByValue):
    """A detector shifted against labels that stay whole: its layout, and where draws begin, the data's own first."""

    layout: Layout
    begins: IntArray
    method: How


class Perfect:
    """The smallest p-values that perfect alarms get, shape by shape, as far as one has to look."""

    def __init__(self, null: NullModel, cell: Cell) -> None:
        self._null, self._cell = null.hurried(), cell
        self._found: list[dict[str, float]] = []

    def __call__(self, side: str, level: float = 0.0) -> float:
        """That of a side: of the first shape that reaches the level, else of all; 0 where alarms have no shape."""
        for i, best in enumerate(self._null.perfect_alarms(self._cell)):
            if i == len(self._found):
                nulls = best.once(self._null.text, partial(self._null.distributions, best, rng=SEED))
                hits = {"precision": best.precision_hits, "recall": best.recall_hits}
                self._found.append({one: getattr(nulls, one).upper(count) for one, count in hits.items()})
            if self._found[i][side] <= level:
                return self._found[i][side]
        return min((found[side] for found in self._found), default=0.0)


class NullModel(ABC):
    """A null model: what chance does with one side of a trial while the other stays in place.

    Your own model needs a `draw`; everything else follows from it by simulation. It sees only the side of the trial
    that it moves, and no code outside the nulls asks which model it is.

    Attributes
    ----------
    name : str
    moves : {"truth", "detector"}
        Which side it moves: the events, or the scores (alarms) of the detector.
    methods : tuple of str
        How its laws can be computed.
    takes_ranges : bool
        Whether it can place events that are whole ranges.
    takes_times : bool
        Whether it can place events at their own times, without a grid of steps.
    needs_detector : bool
        Whether what it does depends on a detector; else labels alone will do.
    shifts_all : bool
        Whether it shifts all events together, by a list of shifts that depends on the steps and not on the events.

    See Also
    --------
    nofluke.nulls.as_null : a null by its name.
    nofluke.nulls.Custom : a null from a function.
    nofluke.diagnose : which null fits the data.
    """

    name: ClassVar[str]
    moves: ClassVar[Moved] = "truth"
    methods: ClassVar[tuple[Method, ...]] = ("auto", "montecarlo")
    takes_ranges: ClassVar[bool] = False
    takes_times: ClassVar[bool] = False
    needs_detector: ClassVar[bool] = True
    shifts_all: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What the null takes for granted, in one plain sentence."""

    @abstractmethod
    def draw(self, side: Any) -> Draw:
        """How chance moves its side, as a function of a generator and a number of rows.

        For ``moves="truth"``, ``side`` is the :class:`~nofluke.series.truth.Truth`, and a row holds the first step of
        each event. For ``moves="detector"``, it is the array of scores (or alarms), and a row holds one value for each
        step.
        """

    def fits(self, side: Any) -> None:
        """Refuse a side that it cannot move, before anything is computed; most can move any."""
        del side

    @property
    def keeps(self) -> frozenset[Kept]:
        """What it leaves as it is in the side it moves; nothing is said against a null that does not tell."""
        return EVERYTHING

    def doubt(self, cell: Cell) -> str:
        """Why it does not keep what it declares on these data, with the remedy; empty for most."""
        del cell
        return ""

    def remark(self, side: Truth) -> str:
        """What of these data it leaves as it is, in a sentence; empty for most."""
        del side
        return ""

    @property
    def permutes(self) -> bool:
        """Whether it takes every order of the steps for equally likely."""
        return False

    @property
    def caveat(self) -> str:
        """What a reader of its p-values should always know; empty for most."""
        return ""

    def assumed(self, *, in_time: bool) -> str:
        """What it assumes, in ticks and units of time where there are no steps."""
        del in_time
        return self.assumption

    @property
    def assumption_of_series(self) -> str:
        """What it takes for granted of a whole series, for metrics."""
        return self.assumption

    @property
    def on_ranges(self) -> str:
        """What it does to labelled ranges that it cannot place whole, beyond not keeping runs; empty for most."""
        return ""

    @property
    def on_steps(self) -> NullModel:
        """The same for events on steps, without settings that say nothing there."""
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers and names that it was made with, where they are not the defaults."""
        if not is_dataclass(self):  # a class of the user's need not be one
            return {}
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self) if f.init}
        return {
            name: value
            for name, (value, default) in values.items()
            if isinstance(value, int | float | str) and value != default
        }

    @lazy
    def text(self) -> str:
        """Name and settings as :func:`nofluke.nulls.as_null` and ``--null`` read them: "seasonal:period=24"."""
        settings = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.name}:{settings}" if settings else self.name

    @property
    def code(self) -> str:
        """How it is written as the argument ``null=`` of a call."""
        return repr(self.text)

    def distributions(
        self, cell: Cell, method: Method = "auto", *, n_resamples: int = 10_000, rng: Any = None
    ) -> Nulls:
        """The laws of both hits, by the method asked for: those that are known, the others by simulation."""
        from nofluke.nulls.placements import simulated

        self.check(method, cell)
        known = {} if method == "montecarlo" else self.known_laws(cell, method)
        if len(known) == 2:
            return Nulls(**known)
        drawn = simulated(cell, self, n_resamples, rng)
        return Nulls(**{"precision": drawn.precision, "recall": drawn.recall, **known})

    def known_laws(self, cell: Cell, method: Method) -> dict[str, Law]:
        """Of "precision" and "recall", the laws that the method gives without simulation."""
        del cell, method
        return {}

    def joint(self, cell: Cell, *, n_resamples: int = 10_000, rng: Any = None) -> Joint:
        """The joint law of both hits, by simulation unless the model knows better."""
        from nofluke.nulls.placements import simulated_joint

        return simulated_joint(cell, self, n_resamples, rng)

    def shifting(self, side: Truth) -> Shifting | None:
        """The shifts of the detector that it goes through, for metrics of whole ranges; None where it draws."""
        del side
        return None

    def exact_sides(self, cell: Cell, times: int = 1) -> tuple[str, ...]:
        """Of "precision" and "recall", those whose exact law is affordable in so many cells like this one."""
        del cell, times
        return ()

    def law_of(self, cell: Cell, side: str) -> Law:
        """The exact law of one side, where `exact_sides` has it."""
        law: Law = getattr(self.distributions(cell), side)
        return law

    def moments(self, cell: Cell) -> dict[str, Moments] | None:
        """Mean and variance of both hits in closed form, where they are known."""
        del cell
        return None

    def every_placement(self, cell: Cell) -> Placed | None:
        """Both hits of every placement, the data's own first; None where there are too many."""
        del cell
        return None

    def is_drawn(self, method: Method) -> bool:
        """Whether this method is simulation and nothing else, so that all cells of a trial are drawn together."""
        return method == "montecarlo" or set(self.methods) == {"auto", "montecarlo"}

    def hurried(self, operations: float = math.inf) -> NullModel:
        """The same null with less patience, for one cell of many; with so many operations for an exact law at most."""
        del operations
        return self

    def exact_seconds(self, cell: Cell) -> float | None:
        """About how long the exact laws of a cell take; None where nothing takes long."""
        del cell
        return None

    def smallest_pvalues(self, cell: Cell) -> dict[str, float | None]:
        """The smallest p-values that can come out for both sides; None where they are far below any level."""
        nulls, perfect = self.distributions(cell, rng=SEED), Perfect(self, cell)
        return {side: max(floor_of(getattr(nulls, side)), perfect(side)) for side in ("precision", "recall")}

    def perfect_alarms(self, cell: Cell) -> Iterable[Cell]:
        """Cells of perfect alarms that may still not be significant; none where every placement is new to them."""
        del cell
        return ()

    def check(self, method: object, cell: Cell | None = None) -> None:
        """Refuse a method that this null does not have, and events that no law of single steps holds for."""
        check_word(method, "method", self.methods, f" for the null {self.name}")
        if cell is not None and cell.in_time and not self.takes_times:
            raise InputError(
                argument="null",
                value=self.text,
                problem="needs a grid of steps, but these events have their own times",
                remedy=say(
                    "use {}",
                    arg(
                        "null",
                        "auto",
                        "permutation",
                        "circular-shift",
                        "local-shift",
                        "local-permutation",
                        "seasonal",
                        "interval-shuffle",
                        "jitter",
                    ),
                ),
            )
        if cell is not None and not cell.truth.points and not self.takes_ranges:
            raise InputError(
                argument="null",
                value=self.text,
                problem="places events of one step each, but these are ranges",
                remedy=say(
                    "use {}, or count every step of a range by {}",
                    arg("null", "auto", "circular-shift", "local-shift", "segments"),
                    arg("count_events", "steps"),
                ),
            )


def floor_of(law: Law) -> float:
    """P(X ≥ the most hits there can be); 0 for an approximate law, in which what was not seen may still come out."""
    return 0.0 if law.method.kind == "approximate" else law.upper(int(law.support[-1]))


def check_resamples(n_resamples: object) -> int:
    """The number of resamples as a plain int; refuses anything else, or more than anyone can wait for."""
    return as_whole(n_resamples, "n_resamples", 1, MOST_RESAMPLES)


def as_operations(programme_operations: object) -> float:
    """How many operations an exact law may take."""
    return as_number(
        programme_operations, "programme_operations", "be a number of operations", lambda number: number >= 0
    )


def as_seed(rng: Any) -> int | None:
    """The seed to report: the one given, a fresh one for None, none for a generator that is already running."""
    rng = as_rng(rng)
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    return rng if isinstance(rng, int) else None


def some_seed(rng: Any) -> int:
    """The seed to report; of a generator that is already running one that it draws."""
    seed = as_seed(rng)
    return int(np.random.default_rng(as_rng(rng)).integers(2**63)) if seed is None else seed


def drawing(n_resamples: int, rng: Any) -> tuple[Any, How]:
    """What so many resamples are drawn from, and how that is told: with the seed of `as_seed`, where there is one."""
    seed = as_seed(rng)
    return rng if seed is None else seed, How(kind="simulated", n_resamples=n_resamples, seed=seed)
