"""What events and alarms are called in a field, and the unit in which its lengths of time are told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from nofluke.errors import InputError, Role, called, capitalised
from nofluke.plain import check_word, is_text

MOST = 60  # characters of a name
LengthUnit = Literal["ns", "us", "ms", "s", "min", "h", "d"]
TIME_UNITS = get_args(LengthUnit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of one and of several events and alarms, empty where they have none; and a unit of time, or none.

    They stand in sentences, tables and figures, never in keys of JSON or columns of CSV, and change no number.

    Attributes
    ----------
    event, events, alarm, alarms : str
    delay, reset : str
        What the delay is called, and the time from an event's end to that of its last alarm, which is told if it has a
        name.
    time_unit : str
        "s", "min", "h", "d", "ms", "us" or "ns"; empty for whichever makes small numbers.

    Examples
    --------
    >>> import nofluke as nf
    >>> found = nf.coincidence([10, 40, 70], [11, 41, 90], tolerance=2, span=(0, 99), event_name="flood")
    >>> found.names.event, found.names.events, found.names.alarm
    ('flood', 'floods', '')
    >>> found.sentences()[1].partition(";")[0]
    '2 of 3 floods are within 2 time units of an alarm'
    """

    event: str = ""
    events: str = ""
    alarm: str = ""
    alarms: str = ""
    delay: str = ""
    reset: str = ""
    time_unit: str = ""

    @classmethod
    def of(
        cls,
        event_name: Any = None,
        alarm_name: Any = None,
        time_unit: Any = None,
        delay_name: Any = None,
        reset_name: Any = None,
    ) -> Names:
        """Names as they were passed, each as a word, or as two with a slash between them: "person/people"."""
        if event_name is alarm_name is time_unit is delay_name is reset_name is None:
            return NONE
        if time_unit is not None:
            check_word(time_unit, "time_unit", TIME_UNITS)
        event, events = _both(event_name, "event_name")
        alarm, alarms = _both(alarm_name, "alarm_name")
        delay, reset = _both(delay_name, "delay_name")[0], _both(reset_name, "reset_name")[0]
        named = {"event": event, "events": events, "alarm": alarm, "alarms": alarms, "delay": delay, "reset": reset}
        return cls(**named, time_unit=time_unit or "")

    def forms(self, role: Role) -> tuple[str, str]:
        """The name of one and that of several; empty where there is none."""
        return (self.event, self.events) if role == "event" else (self.alarm, self.alarms)

    @property
    def delayed(self) -> str:
        """The delay, as a sentence begins with it."""
        return capitalised(self.delay or "delay")

    def said(self, text: str) -> str:
        """A sentence in these names."""
        return text if self == NONE else called(text, self)

    def all_said(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Sentences in these names."""
        return tuple(map(self.said, texts))


NONE = Names()
"""Events and alarms by no names but these."""


def _both(name: Any, argument: str) -> tuple[str, str]:
    if name is None:
        return "", ""
    if not is_text(name):
        raise InputError(argument=argument, value=name, problem="must be text", remedy='pass a noun, such as "flood"')
    one, slash, several = (" ".join(part.split()) for part in name.partition("/"))
    if not one or (slash and not several) or "/" in several or len(name) > MOST or not name.isprintable():
        raise InputError(
            argument=argument,
            value=name,
            problem=f"must be a noun of at most {MOST} characters, or one and its plural",
            remedy='such as "flood" or "person/people"',
        )
    return one, several or plural_of(one)


def plural_of(noun: str) -> str:
    """The plural of an English noun by its ending, of its last word.

    >>> [plural_of(noun) for noun in ("flood", "heat wave", "outage", "crisis", "storm surge", "breach", "anomaly")]
    ['floods', 'heat waves', 'outages', 'crises', 'storm surges', 'breaches', 'anomalies']
    >>> [plural_of(noun) for noun in ("day", "crash", "bus", "P", "SLO")]
    ['days', 'crashes', 'buses', 'Ps', 'SLOs']
    """
    low = noun.lower()
    if low.endswith("sis"):
        return f"{noun[:-2]}es"
    if low.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if low.endswith("y") and len(low) > 1 and low[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"
