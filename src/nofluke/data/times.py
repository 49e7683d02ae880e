"""What the cells of a file's column of times become: dates, by ISO 8601 or a format, or plain numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.data.columns import UtcTimes
from nofluke.data.table import FileTable, one_line
from nofluke.data.values import IS_MISSING, NUMBER_TYPES, numbers_of
from nofluke.dates import likely_format
from nofluke.errors import InputError, arg, say, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

# duckdb would also take 'epoch' and 'infinity' for times: a time begins with a digit
_INSTANT = "try_cast(CASE WHEN ltrim(c) BETWEEN '0' AND ':' THEN c END AS TIMESTAMPTZ)"
_ZONED = "regexp_matches(c, '\\d[^\\d]*[A-Za-z]\\s*$|:\\d\\d(\\.\\d+)?\\s*[+-]\\d\\d(:?\\d\\d)?\\s*$')"
_WITH_ZONE = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
_NAT = int(np.iinfo(np.int64).min)


def times_of(table: FileTable, position: int, time_format: str | None) -> NDArray[Any]:
    """Return a column as datetime64, or as numbers where it holds nothing but numbers."""
    name, kind = table.names[position], table.types[position].split("(")[0]
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        instants = _instants(table, "c", position, unit="ns" if kind.endswith("_NS") else "us")
        return instants.view(UtcTimes) if kind in _WITH_ZONE else instants
    if kind not in (*NUMBER_TYPES, "VARCHAR"):
        raise InputError(problem=table.label, remedy=f"column {shown(name)} holds {kind} values where times belong")
    if time_format is not None:
        return _formatted_times(table, position, time_format)
    start = table.first(f"NOT {IS_MISSING}", position)
    if start is None or table.ask("SELECT try_cast(? AS DOUBLE) IS NOT NULL", [start[1]])[0][0]:
        if start and (text := table.first(f"try_cast(c AS DOUBLE) IS NULL AND NOT {IS_MISSING}", position)):
            mixed = f"has {shown(text[1])} after numbers such as {shown(start[1])}"
            raise InputError(
                problem=f"{table.at(text[0])}: column {shown(name)} {mixed}", remedy="use one kind of time throughout"
            )
        numbers = numbers_of(table, position)
        if start and _are_compact_dates(numbers):
            remedy = say("give the format, as in {}", arg("time_format", "%Y%m%d"))
            raise InputError(
                problem=f"{table.at(start[0])}: column {shown(name)} has {shown(start[1])[1:-1]}, which is a date",
                remedy=remedy,
            )
        return numbers
    return _iso_times(table, position)


def _iso_times(table: FileTable, position: int) -> NDArray[Any]:
    name, instants = table.names[position], _instants(table, _INSTANT, position, unit="us")
    if np.isnat(instants).any() and (bad := table.first(f"{_INSTANT} IS NULL AND NOT {IS_MISSING}", position)):
        remedy = say("give the format, as in {}", arg("time_format", likely_format(bad[1])))
        raise InputError(
            problem=f"{table.at(bad[0])}: column {shown(name)} has {shown(bad[1])}, which is not an ISO 8601 time",
            remedy=remedy,
        )
    zoned = table.first(_ZONED, position)
    if zoned and (bare := table.first(f"NOT {_ZONED} AND NOT {IS_MISSING}", position)):
        mixed = f"has {shown(bare[1])} without a time zone but {shown(zoned[1])} with one"
        raise InputError(
            problem=f"{table.at(bare[0])}: column {shown(name)} {mixed}", remedy="write all times the same way"
        )
    fine = table.first("length(c) > 26 AND regexp_matches(c, '\\.\\d{7}')", position)
    if fine and not table.first(f"try_cast(c AS TIMESTAMP_NS) IS NULL AND NOT {IS_MISSING}", position):
        # duckdb has no zoned type this fine: the fraction from one cast, the offset from the other two
        offset = "epoch_us(try_cast(c AS TIMESTAMPTZ)) - epoch_us(try_cast(c AS TIMESTAMP))"
        exact = f"coalesce(epoch_ns(try_cast(c AS TIMESTAMP_NS)) + 1000 * ({offset}), ?)"
        instants = table.array(exact, position, [_NAT]).view("datetime64[ns]")
    return instants.view(UtcTimes) if zoned else instants


def _formatted_times(table: FileTable, position: int, time_format: str) -> NDArray[Any]:
    import duckdb

    name, parsed = table.names[position], "try_strptime(c::VARCHAR, ?)"
    try:
        table.connection.execute("SELECT try_strptime('', ?)", [time_format]).fetchall()
    except duckdb.Error as error:
        reason = one_line(str(error).split(": ", 1)[-1])
        raise InputError(
            argument="time_format",
            value=time_format,
            problem=f"is not a format ({reason})",
            remedy="use one of strptime's",
        ) from None
    if bad := table.first(f"{parsed} IS NULL AND NOT {IS_MISSING}", position, [time_format]):
        unlike = say(
            "{}: column {} has {}, which does not match {}",
            table.at(bad[0]),
            shown(name),
            shown(bad[1]),
            arg("time_format", time_format),
        )
        raise InputError(problem=unlike, remedy="correct one of them")
    unit = "ns" if "%n" in time_format else "us"
    instants = _instants(table, parsed, position, unit=unit, parameters=[time_format])
    return instants.view(UtcTimes) if re.search("%[zZ]", time_format.replace("%%", "")) else instants


def _instants(
    table: FileTable, expression: str, position: int, *, unit: str, parameters: list[Any] | None = None
) -> NDArray[Any]:
    # whole numbers travel better than time stamps, which duckdb would hand over through other packages
    whole = table.array(f"coalesce(epoch_{unit}({expression}), ?)", position, [*(parameters or []), _NAT])
    return whole.view(f"datetime64[{unit}]")


def _are_compact_dates(numbers: NDArray[Any]) -> bool:
    """Whether all numbers are days written as 20200131: as a clock they would jump at each month's end."""
    if numbers.dtype.kind != "i" or numbers.size < 2 or numbers.min() < 19000101 or numbers.max() > 21001231:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))
