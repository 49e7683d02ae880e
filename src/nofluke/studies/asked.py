"""What a study was asked for besides its data: the same for every cell, sent to all workers, kept with the results."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from nofluke.errors import InputError, Remark, Words, arg, joined, named, passed, say, shown, verb
from nofluke.inference.evaluate import Question
from nofluke.lazy import lazy
from nofluke.metrics import Function, get
from nofluke.metrics.functions import can_pickle
from nofluke.nulls import SERIES_EXCHANGE, Null, as_null
from nofluke.nulls.base import NullModel, check_resamples
from nofluke.nulls.choice import AUTO
from nofluke.plain import as_share, as_whole, check_alpha, check_word, number_or_none, one_or_several
from nofluke.series.arguments import About, AboutCells, check_words, with_defaults
from nofluke.series.detector import WAYS, AlarmRule, CutTies, check_cut
from nofluke.series.reading import NAMES, as_part, as_test_part, test_part_column, warmup_column
from nofluke.series.tolerance import Tolerance, as_tolerance
from nofluke.studies.cases import Case, Chunk, Fault
from nofluke.studies.run import can_send
from nofluke.studies.sources.names import training_end
from nofluke.studies.store import CELLS

SEEDS = 2**63  # seeds of cells are below


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The settings of a study, checked before anything is read.

    ``about`` is what is said of all series and detectors, with defaults; ``tolerance`` is a `Tolerance`, or a share of
    each series' length; the other attributes are as in `nofluke.study`.
    """

    about: About
    tolerance: Tolerance | Fraction = field(default_factory=lambda: Tolerance(early=0, late=0))
    null: Null = AUTO
    exchange: bool = False  # of labels between series, where these are pooled: a null of single cells it is not
    metrics: tuple[str, ...] = ()
    functions: tuple[Function, ...] = ()  # registered here: other processes do not know their names
    n_resamples: int = 10_000
    seed: int = 0
    alpha: float = 0.05
    cut_ties: CutTies = "drop"
    kept_draws: int = 1_000  # of each cell, for pooling: as many as the number of series asks for

    @classmethod
    def of(
        cls,
        *,
        tolerance: Any,
        metrics: Any,
        null: Any,
        n_resamples: Any,
        rng: Any,
        alpha: Any,
        cut_ties: Any = "drop",
        **about: Any,
    ) -> Asked:
        """Refuse what no cell could be judged by, before the first is read."""
        parts = About.of(with_defaults(AboutCells, about))
        given = [way for way in WAYS if parts.cut[way] is not None]
        if len(given) != 1:
            raise InputError(
                problem=say(
                    "pass either {} or {} or {}, got {}",
                    *map(named, WAYS),
                    joined(" and ", map(named, given)) or "none",
                ),
                remedy="it decides which scores are predictions",
            )
        check_cut(given[0], parts.cut[given[0]])
        check_word(cut_ties, "cut_ties", ("drop", "random"))
        if cut_ties == "random" and given[0] != "budget":
            raise InputError(
                problem=say(
                    "{} fills up a budget, but {} makes the alarms", arg("cut_ties", "random"), named(given[0])
                ),
                remedy=say("pass {}, or leave it out", arg("budget")),
            )
        AlarmRule.of(**parts.alarms)
        check_words(parts.reading)
        _check_warmup(parts.reading["warmup"])
        _check_test_part(parts.reading["test_part"])
        alpha, n_resamples = check_alpha(alpha), check_resamples(n_resamples)
        exchange = isinstance(null, str) and null.strip() == SERIES_EXCHANGE
        null = AUTO if exchange or (isinstance(null, str) and null.strip() == AUTO) else as_null(null)
        names = _metrics(metrics)
        return cls(
            about=parts,
            tolerance=_as_tolerance_or_share(tolerance),
            null=null,
            exchange=exchange,
            metrics=names,
            functions=tuple(metric for metric in map(get, names) if isinstance(metric, Function)),
            n_resamples=n_resamples,
            seed=as_whole(rng, "rng", 0, SEEDS - 1),
            alpha=alpha,
            cut_ties=cut_ties,
        )

    def within(self, n_steps: int) -> Tolerance:
        """The tolerance on a series of that length; of a share the whole steps."""
        if isinstance(self.tolerance, Tolerance):
            return self.tolerance
        steps = int(self.tolerance * n_steps)
        return Tolerance(early=steps, late=steps)

    @property
    def in_time(self) -> Words | None:
        """The first setting that is a length of time, so that series need a clock; None where none is."""
        tolerance, refractory = self.tolerance, self.alarms.refractory
        if isinstance(tolerance, Tolerance) and tolerance.unit != "steps":
            return passed("tolerance", str(tolerance))
        if refractory is not None and refractory.unit != "steps":
            return passed("refractory", self.about.alarms["refractory"])
        warmup, test_part = self.about.reading["warmup"], self.about.reading["test_part"]
        each = (
            [(one, {name: one}) for name, one in warmup.items()] if isinstance(warmup, Mapping) else [(warmup, warmup)]
        )
        for one, told in each if self.warmup_column is None else []:
            if one is not None and as_part(one, "warmup")[0] == "time":
                return passed("warmup", told)
        ends = None if test_part is None or self.by_names or self.part_column is not None else as_test_part(test_part)
        return passed("test_part", test_part) if ends is not None and ends.in_time else None

    @property
    def by_names(self) -> bool:
        """Whether names of series say where their test parts begin."""
        return bool(self.about.reading["test_part"] == NAMES)

    @property
    def part_column(self) -> str | None:
        """The column that flags the test part, if one does."""
        return test_part_column(self.about.reading["test_part"])

    @property
    def warmup_column(self) -> str | None:
        """The column that has the warm-up of each series, if one does."""
        return warmup_column(self.about.reading["warmup"])

    def check_names(self, series: Iterable[str]) -> None:
        """Refuse warm-ups of series that there are not: a typo would leave a series without its own."""
        warmup, known = self.about.reading["warmup"], set(series)
        if isinstance(warmup, Mapping) and (lost := [name for name in warmup if name not in known]):
            raise InputError(
                argument="warmup",
                problem=f"names {shown(lost[:3])[1:-1]}{f' and {len(lost) - 3:,} more' if len(lost) > 3 else ''}, "
                "not in the study",
                remedy="use the names of the series",
            )

    def _warm(self, case: Case) -> Case:
        """The case with its warm-up: one for all series, its own by its name, or what a column says."""
        warmup = self.about.reading["warmup"]
        if self.warmup_column is not None or warmup is None:
            return case
        return replace(case, warmup=warmup.get(case.series) if isinstance(warmup, Mapping) else warmup)

    def cases(self, chunk: Chunk, some: Container[str] | None = None) -> Iterator[Case]:
        """The series of a chunk, all or some, each with its warm-up and its test part."""
        for case in map(self._warm, chunk.read(some)):
            if self.part_column is not None:
                yield case
                continue
            part, ends = self.about.reading["test_part"], training_end(case.series)
            notes = case.notes
            if self.by_names and ends is None:
                told = "its name does not say where training ends, as …_tr_1000_1st_2000 or …_1000_2000_2100 do."
                yield replace(case, truth=Fault(reason=Remark("no end of training", told)))
                continue
            if self.by_names:
                part = ends
                notes = (*notes, Remark("test part", "Its name says that the test part begins at step {:,}.", ends))
            elif part is None and ends is not None:
                told = "Its name says that training ends at step {:,}, and all of it counts; {} leaves training out."
                notes = (*notes, Remark("training", told, ends, passed("test_part", NAMES)))
            yield case if part is None and notes is case.notes else replace(case, test_part=part, notes=notes)

    @lazy
    def alarms(self) -> AlarmRule:
        """What a prediction is."""
        return AlarmRule.of(**self.about.alarms)

    @lazy
    def cut(self) -> dict[str, Any]:
        """Where scores become alarms."""
        cut = self.about.cut
        return cut if cut["budget"] is None else {**cut, "budget": as_share(cut["budget"], "budget")}

    @lazy
    def question(self) -> Question:
        """What every cell is asked."""
        return Question(null=self.null, n_resamples=self.n_resamples, alpha=self.alpha, alarms=self.alarms)

    def check_sent(self, executor: Executor | None) -> None:
        """Refuse functions that no other process could run, before the first cell is computed."""
        stay = [one.name for one in self.functions if not (can_pickle(one.function) if executor else can_send(one))]
        if stay:
            raise InputError(
                argument="metrics",
                value=stay[0],
                problem="cannot be sent to other processes",
                remedy=say("define its function at the top of a module, or pass {}", arg("workers", 1)),
            )

    @property
    def tested(self) -> list[str | Function]:
        """The metrics, each as what any process can read: its name, or the function that was registered for it."""
        registered = {function.name: function for function in self.functions}
        return [registered.get(name, name) for name in self.metrics]

    @property
    def model(self) -> NullModel | None:
        """The null that was named; None where the data choose."""
        return None if isinstance(self.null, str) else as_null(self.null)

    def seed_of(self, series: str, detector: str) -> int:
        """The seed of a cell: by names, not by its place, so that neither workers nor other cells have a say in it."""
        text = "\0".join([str(self.seed), series, detector])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % SEEDS

    def plain(self) -> dict[str, Any]:
        """The settings as plain values, for JSON: what a resumed study must have in common with its beginning."""
        about = {**self.about.cut, **self.about.reading, **self.about.alarms}
        del about["truth_as"]  # the inputs tell
        if self.cut_ties != "drop":
            about["cut_ties"] = self.cut_ties
        for late in ("test_part", "align"):
            if about[late] is None:
                del about[late]  # a study from before there was one goes on
        return {
            "tolerance": self.tolerance_text,
            "null": SERIES_EXCHANGE if self.exchange else AUTO if self.model is None else self.model.text,
            "metrics": list(self.metrics),
            "lower_is_better": [name for name in self.metrics if get(name).better == "lower"],
            **{name: one if isinstance(one, int | float | str | None) else str(one) for name, one in about.items()},
            **{"n_resamples": self.n_resamples, "seed": self.seed, "alpha": self.alpha},
        }

    @property
    def tolerance_text(self) -> str:
        """The tolerance in words."""
        if isinstance(self.tolerance, Tolerance):
            return str(self.tolerance)
        return f"{100 * float(self.tolerance):g}% of each series' length"

    @property
    def cut_text(self) -> str:
        """Where scores become alarms, in words."""
        threshold, quantile, budget = (self.about.cut[way] for way in ("threshold", "quantile", "budget"))
        if budget is not None:
            ties = ", ties at random" if self.cut_ties == "random" else ""
            return f"a budget of {100 * float(as_share(budget, 'budget')):g}% of the steps{ties}"
        return f"threshold {threshold:g}" if quantile is None else f"the {quantile:g} quantile"


def _check_warmup(warmup: Any) -> None:
    """Refuse what is no warm-up of any series."""
    if isinstance(warmup, Mapping):
        for name, one in warmup.items():
            if not isinstance(name, str):
                raise InputError(
                    argument="warmup", problem=f"has {shown(name)} for a series", remedy="pass names and warm-ups"
                )
            try:
                as_part(0 if one is None else one, "warmup")
            except InputError as error:
                raise InputError(
                    argument="warmup", value={name: one}, problem=error.problem, remedy=error.remedy
                ) from None
    elif warmup is not None and warmup_column(warmup) is None:
        as_part(warmup, "warmup")


def _check_test_part(test_part: Any) -> None:
    """Refuse what is no test part of any series."""
    if (
        test_part is None
        or test_part_column(test_part) is not None
        or (isinstance(test_part, str) and test_part == NAMES)
    ):
        return
    if as_test_part(test_part) is None:
        raise InputError(
            argument="test_part",
            problem="has a value for each step, of which series differ",
            remedy="name a column that has them, or pass where test parts begin",
        )


def _as_tolerance_or_share(value: Any) -> Tolerance | Fraction:
    """A share as "1%" or a fraction below 1, of each series' length; anything else as in `nofluke.evaluate`."""
    number = number_or_none(value)
    if (isinstance(value, str) and value.strip().endswith("%")) or (
        not isinstance(value, str) and number is not None and 0 < number < 1
    ):
        return as_share(value, "tolerance")
    return as_tolerance(value)


def _metrics(metrics: Any) -> tuple[str, ...]:
    """Metrics by their names, checked: columns and settings of a study have these names."""
    names: dict[str, None] = {}
    for name in one_or_several(metrics):
        if not isinstance(name, str):
            raise InputError(
                argument="metrics",
                value=name,
                problem="must be names, which become columns",
                remedy=say("register a function with nf.metrics.register, or test it with {}", verb("significance")),
            )
        if name in names:
            raise InputError(argument="metrics", value=name, problem="is there twice", remedy="name each once")
        get(name)
        if name.casefold() in CELLS:
            raise InputError(
                argument="metrics",
                value=name,
                problem="is a column of every study already",
                remedy=say("leave it out, or write a setting behind it, such as {}", f"{name}:tolerance=0"),
            )
        names[name] = None
    return tuple(names)
