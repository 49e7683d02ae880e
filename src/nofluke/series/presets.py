"""Arguments that fields of research have agreed on, by name: tables that anyone can print and change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nofluke.errors import InputError
from nofluke.plain import check_setting, meant, text_with_settings
from nofluke.series.tolerance import Tolerance


@dataclass(frozen=True, slots=True, eq=False)
class Preset(Mapping[str, Any]):
    """The arguments of a field: a mapping, to be passed as ``preset=`` by its name, or changed and passed itself.

    Attributes
    ----------
    name, title, reference : str
    arguments : dict
        By name. A function takes those that it has, and what is passed beside them wins.
    why : dict
        What each of them is in the field.
    settings : dict
        Those of ``preset="name:key=value"``, with what each means.

    Examples
    --------
    >>> import nofluke as nf
    >>> nf.presets["szcore"]["merge_gap"]
    '90s'
    >>> own = {**nf.presets["szcore"], "merge_gap": "60s"}
    >>> nf.evaluate([0, 1, 1, 0] * 9, predictions=[0, 0, 1, 0] * 9, preset="sre").names.events
    'incidents'
    """

    name: str
    title: str
    reference: str
    arguments: dict[str, Any]
    why: dict[str, str]
    settings: dict[str, str] = field(default_factory=dict)
    settle: Callable[[Mapping[str, Any]], dict[str, Any]] | None = field(repr=False, default=None)

    def __getitem__(self, key: str) -> Any:
        return self.arguments[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    def __len__(self) -> int:
        return len(self.arguments)

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Argument, value and meaning of each, then the settings."""
        own = tuple((name, _typed(value), self.why.get(name, "")) for name, value in self.arguments.items())
        return (*own, *((f"{self.name}:{key}=", "", meaning) for key, meaning in self.settings.items()))

    def __str__(self) -> str:
        rows = self.rows()
        wide = [max(len(row[i]) for row in rows) for i in (0, 1)]
        lines = [f"  {name:<{wide[0]}}  {value:<{wide[1]}}  {why}".rstrip() for name, value, why in rows]
        return "\n".join([f"{self.name}: {self.title}", *lines, f"  {self.reference}"])

    def with_settings(self, settings: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Its arguments, with those that settings stand for."""
        for key in settings:
            check_setting(key, tuple(self.settings), "preset", text)
        return self.arguments | (self.settle(settings) if self.settle is not None and settings else {})


def _typed(value: Any) -> str:
    if isinstance(value, Tolerance):
        early, late = (value.plain()[side] for side in ("early", "late"))
        return f"Tolerance(early={early!r}, late={late!r})"
    return repr(value)


def _coincidences(settings: Mapping[str, Any]) -> dict[str, Any]:
    """ΔT and τ as event coincidence analysis has them: a cause comes τ to τ + ΔT before its effect."""
    found: dict[str, Any] = {}
    if "delta_t" in settings:
        wide, both = settings["delta_t"], settings.get("sym", "no") == "yes"
        found["tolerance"] = Tolerance(early=wide, late=wide if both else 0, unit=_unit(wide))
    if "tau" in settings:
        tau = settings["tau"]
        found["lag"] = (tau[1:] if tau.startswith("-") else f"-{tau}") if isinstance(tau, str) else -tau
    return found


def _warned(settings: Mapping[str, Any]) -> dict[str, Any]:
    """An alarm that lasts for a time finds what comes within it."""
    return {"tolerance": Tolerance(early=settings["window"], late=0, unit=_unit(settings["window"]))}


def _unit(length: Any) -> Any:
    return None if isinstance(length, str) else "clock"


class Presets(Mapping[str, Preset]):
    """Arguments that fields of research have agreed on, by name: what ``preset=`` takes.

    See Also
    --------
    nofluke.evaluate : takes one, as most functions here do.
    nofluke.coincidence : likewise.

    References
    ----------
    Each preset names its own.

    Examples
    --------
    >>> import nofluke as nf
    >>> list(nf.presets)
    ['eca', 'szcore', 'sre', 'earthquakes']
    >>> print(nf.presets["sre"])
    sre: Alerts and incidents, as the SRE workbook judges them
      count_events  'ranges'          an incident counts once
      count_alarms  'episodes'        an alert counts once, however long it fires
      event_name    'incident'
      alarm_name    'alert'
      delay_name    'detection time'  from the start of an incident to its first alert
      reset_name    'reset time'      from the end of an incident to the end of its last alert
      Beyer, Murphy, Rensin, Kawahara and Thorne (2018), The Site Reliability Workbook, chapter 5
    """

    def __init__(self, *all_of_them: Preset) -> None:
        self._by_name = {preset.name: preset for preset in all_of_them}

    def __getitem__(self, name: str) -> Preset:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.values()))

    def __repr__(self) -> str:
        return f"<nofluke.presets: {', '.join(self)}>"


presets = Presets(
    Preset(
        name="eca",
        title="Event coincidence analysis, with ΔT and τ in its sign",
        reference="Donges, Schleussner, Siegmund and Donner (2016), Eur. Phys. J. Special Topics 225, 471-487",
        arguments={"leads": "alarms"},
        why={
            "leads": "causes are alarms, effects are events: recall is the precursor rate, precision the trigger rate"
        },
        settings={
            "delta_t": "ΔT, how long after τ a coincidence may be: 7d for dates, else a number",
            "tau": "τ, by how long causes precede effects; the opposite of lag=",
            "sym": "yes for windows to both sides, as in CoinCalc",
        },
        settle=_coincidences,
    ),
    Preset(
        name="szcore",
        title="Seizure detection on a grid of seconds, as SzCORE scores events",
        reference="Dan, Pale, Amirshahi et al. (2024), SzCORE, Epilepsia; its software timescoring",
        arguments={
            "tolerance": Tolerance(early="30s", late="60s"),
            "merge_gap": "90s",
            "split_longer": "5min",
            "refractory": "91s",
            "event_name": "seizure",
            "alarm_name": "alarm",
        },
        why={
            "tolerance": "30 s before and 60 s after a seizure count",
            "merge_gap": "seizures less than 90 s apart are one",
            "split_longer": "longer seizures are several, which chance moves together",
            "refractory": "alarms with less than 90 s between them are one: 91 s from step to step",
        },
    ),
    Preset(
        name="sre",
        title="Alerts and incidents, as the SRE workbook judges them",
        reference="Beyer, Murphy, Rensin, Kawahara and Thorne (2018), The Site Reliability Workbook, chapter 5",
        arguments={
            "count_events": "ranges",
            "count_alarms": "episodes",
            "event_name": "incident",
            "alarm_name": "alert",
            "delay_name": "detection time",
            "reset_name": "reset time",
        },
        why={
            "count_events": "an incident counts once",
            "count_alarms": "an alert counts once, however long it fires",
            "delay_name": "from the start of an incident to its first alert",
            "reset_name": "from the end of an incident to the end of its last alert",
        },
    ),
    Preset(
        name="earthquakes",
        title="Earthquake alarms that each last for a time",
        reference="Molchan (1990), Strategies in strong earthquake prediction; Zechar and Jordan (2008), Testing alarm-based "
        "earthquake predictions",
        arguments={"leads": "alarms", "event_name": "earthquake", "alarm_name": "alarm"},
        why={"leads": "alarms come first; recall is one minus Molchan's miss rate"},
        settings={"window": "how long an alarm lasts: 30d for dates, else a number"},
        settle=_warned,
    ),
)


def arguments_of(preset: Any) -> dict[str, Any]:
    """The arguments that a preset stands for: a name, one with settings, or a mapping of one's own."""
    if isinstance(preset, Mapping):
        return dict(preset)
    if not isinstance(preset, str):
        raise InputError(
            argument="preset",
            value=preset,
            problem="must be a name, such as 'szcore', or a mapping of arguments",
            remedy=f"there are {', '.join(presets)}",
        )
    name, settings = text_with_settings(preset, "preset", "eca:delta_t=7d,tau=1d")
    if name not in presets:
        raise InputError(
            argument="preset",
            value=preset,
            problem=f"must be one of {', '.join(map(repr, presets))}",
            remedy=meant(name, presets),
        )
    return presets[name].with_settings(settings, preset)
