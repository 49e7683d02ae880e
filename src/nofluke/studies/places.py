"""Where the events of a study lie in their series: archives cut their series so that events share their places.

A detector that fires at such a place on every series finds events without looking at the data, and a null that moves
events within each series calls that skill. So the starts of events are looked at across series: as steps, and as shares
of the length, from the beginning of the series and from that of the part that counts. They never look at the alarms.

Without anything shared, the events of a series may be rotated as a whole. Then

- an event begins on a given step with a probability of at most m/n, so that the number of series whose first event does
  is at most about Poisson;
- an event taken at random begins anywhere with the same probability (Kolmogorov and Smirnov's test).

The section "Pooling over series" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nofluke.arrays import FloatArray, IntArray
from nofluke.series.counting import union
from nofluke.series.tolerance import Ranges
from nofluke.studies.schema import STEPS, Values
from nofluke.studies.shared import Shared
from nofluke.text.numbers import show_p
from nofluke.text.tables import plural, show_share

LEVEL = 1e-3  # of all looks together: without reason, one study in a thousand is pooled by the other null
FEWEST = 5  # series that have to share a place
SHARES = 1_000  # shares of the length are told apart to a thousandth


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What the starts of events say.

    Attributes
    ----------
    coincide : bool
        Whether they coincide more than chance allows.
    told : str
        Where they do, and in how many series; "" where they do not.
    """

    coincide: bool = False
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Starts:
    """The events of series that are independent of each other, as far as their places go: one number for each."""

    first: IntArray = field(repr=False)  # step of the first event
    begin: IntArray = field(repr=False)  # step at which the part that counts begins
    length: IntArray = field(repr=False)  # all steps
    counted: IntArray = field(repr=False)  # steps that count
    rates: FloatArray = field(repr=False)  # events for each step that counts
    shares: FloatArray = field(repr=False)  # where some event is, as a share of where it could be
    many: IntArray = field(repr=False)  # series that have these events


def units_of(truths: Values, shared: Sequence[Shared]) -> list[list[int]]:
    """Series by their truths: those that share one, as sensors of one machine do, belong together.

    That is so if all of several events are the same, or, on clocks, nearly the same. Without a clock, one event at the
    same place may be the work of an archive, and so may be events that are nearly the same. Series without events are
    in none.
    """
    names = [str(name) for name in truths["series"]]
    clusters = {name: one.series[0] for one in shared for name in one.series}
    found: dict[tuple[str, ...], list[int]] = {}
    for i, (name, grid) in enumerate(zip(names, map(str, truths["grid"]), strict=True)):
        many = len(stretches(truths, i).starts)
        if many and grid == STEPS:
            same = *(str(truths[word][i]) for word in ("axis", "watched")), events_of(truths, i)
            found.setdefault(same if many > 1 else (*same, name), []).append(i)
        elif many:
            found.setdefault((clusters.get(name, name),), []).append(i)
    return list(found.values())


def stretches(truths: Values, i: int) -> Ranges:
    """The events of a series, those that touch as one: a run of labels is one, however events are counted."""
    starts, stops = (np.asarray(truths[end][i], dtype=np.int64) for end in ("starts", "stops"))
    return union(Ranges(starts=starts, stops=np.maximum(stops, starts + 1)))


def events_of(truths: Values, i: int) -> str:
    """A word that series share if they have the same events on their steps."""
    both = (np.asarray(truths[end][i], dtype=np.int64).tobytes() for end in ("starts", "stops"))
    return hashlib.sha256(b"".join(both)).hexdigest()


def places_of(truths: Values, shared: Sequence[Shared]) -> Places:
    """Whether events of many series begin at the same places."""
    starts = _starts(truths, shared)
    if len(starts.first) < FEWEST:
        return Places()
    looks = [
        *_ties(starts, starts.first, "at step {:,}"),
        *_ties(starts, starts.first, "at {} of their length", of=starts.length),
    ]
    if starts.begin.any():
        since = starts.first - starts.begin
        looks += [
            *_ties(starts, since, "{:,} steps after the begin of the part that counts"),
            *_ties(starts, since, "at {} of the part that counts", of=starts.counted),
        ]
    looks.append(_uneven(starts))
    pvalue, told = min(looks)
    pvalue = min(1.0, len(looks) * pvalue)
    return Places(coincide=True, told=f"{told} (p = {show_p(pvalue)})") if pvalue <= LEVEL else Places()


def _starts(truths: Values, shared: Sequence[Shared]) -> _Starts:
    rows: list[tuple[float, ...]] = []
    for unit in units_of(truths, shared):
        i = unit[0]
        events, n = stretches(truths, i), int(truths["n"][i])
        many = len(events.starts)
        some = int.from_bytes(hashlib.sha256(str(truths["series"][i]).encode()).digest()[:8], "big") % many
        start, stop = int(events.starts[some]), int(events.stops[some])
        share = min((start + 0.5) / max(n - (stop - start) + 1, 1), 1.0)
        ends = int(truths["placed"][i][0]), int(truths["begin"][i]), int(truths["length"][i])
        rows.append((*ends, n, many / max(n, 1), share, len(unit)))
    columns = list(zip(*rows, strict=True)) or [()] * 7
    first, begin, length, counted = (np.array(column, dtype=np.int64) for column in columns[:4])
    return _Starts(
        first=first,
        begin=begin,
        length=length,
        counted=counted,
        rates=np.array(columns[4], dtype=np.float64),
        shares=np.array(columns[5], dtype=np.float64),
        many=np.array(columns[6], dtype=np.int64),
    )


def _ties(starts: _Starts, steps: IntArray, where: str, of: IntArray | None = None) -> list[tuple[float, str]]:
    """How often chance has so many first events at one place, and what is said of it; nothing where they are few.

    Places are steps, or shares ``of`` a length.
    """
    from scipy.special import gammainc

    if of is None:
        at, rates, size = steps, starts.rates, int(starts.length.max())
    else:
        size = min(SHARES, int(of.min()))
        at, rates = steps * size // of, starts.rates * (of // size + 1)
    values, counts = np.unique(at, return_counts=True)
    most = int(np.argmax(counts))
    if counts[most] < FEWEST:
        return []
    tail = size * float(gammainc(counts[most], rates.sum()))  # of a Poisson variable with that mean
    place = int(values[most])
    told = where.format(place if of is None else show_share(place / size))
    every = plural(int(starts.many.sum()), "series", "series")
    return [(min(tail, 1.0), f"{int(starts.many[at == place].sum()):,} of {every} have their first event {told}")]


def _uneven(starts: _Starts) -> tuple[float, str]:
    """Kolmogorov and Smirnov's p-value of places that are as likely as each other, and what is said of them."""
    from scipy.special import kolmogorov

    x, k = np.sort(starts.shares), len(starts.shares)
    away = float(max((np.arange(1, k + 1) / k - x).max(), (x - np.arange(k) / k).max()))
    scaled = away * (math.sqrt(k) + 0.12 + 0.11 / math.sqrt(k))
    tail = float(kolmogorov(scaled))
    low, middle, high = (show_share(float(np.quantile(x, q))) for q in (0.1, 0.5, 0.9))
    told = (
        f"Events of {plural(int(starts.many.sum()), 'series', 'series')} lie at alike places: a tenth before {low}, half "
        f"before {middle} and nine tenths before {high} of the steps that count"
    )
    return tail, told
