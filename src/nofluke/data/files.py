"""Columns of files: numbers, times, lists of events and ranges; all of their rows, or those that meet a condition."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nofluke.data.alerts import ends_among
from nofluke.data.columns import OPEN, Pairs, UtcTimes, as_column, end_column, has_ends, pairs_of_columns, start_column
from nofluke.data.tables import MISSING_WORDS, FileTable, one_line, open_table, quoted
from nofluke.dates import likely_format
from nofluke.errors import InputError, Shown, arg, passed, say, shortened, shown, spoken

if TYPE_CHECKING:
    from numpy.typing import NDArray

IS_MISSING = f"(c IS NULL OR lower(trim(c)) IN {MISSING_WORDS})"
_WHOLE = "regexp_full_match(c, '\\s*[+-]?\\d+\\s*')"
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
NUMBER_TYPES = (*_WHOLE_TYPES, "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def numbers_of(table: FileTable, position: int) -> NDArray[Any]:
    """Return a column as it is written: bool, int64, uint64 or float64; float64 where values are missing."""
    name, kind = table.names[position], table.types[position].split("(")[0]
    if kind not in (*NUMBER_TYPES, "BOOLEAN", "VARCHAR"):
        raise InputError(problem=table.label, remedy=f"column {shown(name)} holds {kind} values where numbers belong")
    if kind == "BOOLEAN" and not table.first("c IS NULL", position):
        return table.array("c", position)
    numbers = table.array("coalesce(try_cast(c AS DOUBLE), 'nan'::DOUBLE)", position)
    gaps = np.isnan(numbers).any()
    # other kinds hold nothing but numbers; true and false are none only as text
    wrong = f"try_cast(c AS DOUBLE) IS NULL AND NOT {IS_MISSING}"
    text = table.first(wrong, position) if gaps and kind == "VARCHAR" else None
    if text is None:
        # where some number is not whole, there is no need to look at the text
        whole = None if gaps or (np.floor(numbers) != numbers).any() else _whole_numbers(table, position)
        if whole is None:
            _refuse_lost(table, position, numbers)
        return numbers if whole is None else whole
    if text[1].strip().lower() in ("true", "false"):
        other = table.first(f"lower(trim(c)) NOT IN ('true', 'false') AND NOT {IS_MISSING}", position)
        if other is None:
            cases = "WHEN 'true' THEN 1::DOUBLE WHEN 'false' THEN 0::DOUBLE ELSE 'nan'::DOUBLE"
            truth = table.array(f"CASE lower(trim(c)) {cases} END", position)
            return truth if np.isnan(truth).any() else truth.astype(np.bool_)
        text = other
    comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text[1])
    remedy = "use decimal points" if comma else "correct it, or leave it empty if it is missing"
    raise InputError(
        problem=f"{table.at(text[0])}: column {shown(name)} has {shown(text[1])} where a number belongs", remedy=remedy
    )


def _whole_numbers(table: FileTable, position: int) -> NDArray[Any] | None:
    """Return a column of nothing but whole numbers exactly; None of any other, and of numbers beyond 64 bits."""
    if table.types[position] not in _WHOLE_TYPES and table.first(f"NOT {_WHOLE}", position):
        return None
    for kind in ("BIGINT", "UBIGINT"):
        if not table.first(f"try_cast(c AS {kind}) IS NULL", position):
            return table.array(f"c::{kind}", position)
    return None


def _refuse_lost(table: FileTable, position: int, floats: NDArray[np.float64]) -> None:
    """Refuse whole numbers that became others as floats; those of more than 38 digits are floats printed in full."""
    lost = f"{_WHOLE} AND try_cast(c AS HUGEINT) <> try_cast(try_cast(c AS DOUBLE) AS HUGEINT)"
    if (np.abs(floats) >= 2**53).any() and (found := table.first(lost, position)):
        raise InputError(
            problem=f"{table.at(found[0])}: column {shown(table.names[position])} has {found[1].strip()}, which "
            "64-bit floats cannot hold, and other values that are not 64-bit integers",
            remedy="subtract the same number from all so that they are below 2**53",
        )


def labels_of(table: FileTable, position: int, of: str = "series") -> NDArray[Any]:
    """Return names of series or strata: text as text (007 stays 007), whole numbers as such."""
    name = table.names[position]
    if bad := table.first("c IS NULL OR trim(c) = ''", position):
        raise InputError(
            problem=f"{table.at(bad[0])}: column {shown(name)} has no value", remedy=f"name the {of} of every row"
        )
    whole = _whole_numbers(table, position) if table.types[position] in _WHOLE_TYPES else None
    return table.array("c::VARCHAR", position) if whole is None else whole


# ---- what the cells of a file's column of times become: dates, by ISO 8601 or a format, or plain numbers

# duckdb would also take 'epoch' and 'infinity' for times: a time begins with a digit
_INSTANT = "try_cast(CASE WHEN ltrim(c) BETWEEN '0' AND ':' THEN c END AS TIMESTAMPTZ)"
_ZONED = "regexp_matches(c, '\\d[^\\d]*[A-Za-z]\\s*$|:\\d\\d(\\.\\d+)?\\s*[+-]\\d\\d(:?\\d\\d)?\\s*$')"
_OFFSET = "regexp_extract(c, ':\\d\\d(?:\\.\\d+)?\\s*([+-]\\d\\d):?(\\d\\d)?\\s*$', {})"
_EAST = (  # seconds; names of zones, and Z, are those of UTC
    f"CASE WHEN {_OFFSET.format(1)} = '' THEN 0 ELSE "
    f"CASE WHEN {_OFFSET.format(1)} LIKE '-%' THEN -1 ELSE 1 END * (3600 * abs({_OFFSET.format(1)}::INT) "
    f"+ 60 * coalesce(try_cast(nullif({_OFFSET.format(2)}, '') AS INT), 0)) END"
)
_WITH_ZONE = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
_NAT = int(np.iinfo(np.int64).min)


def times_of(table: FileTable, position: int, time_format: str | None) -> NDArray[Any]:
    """Return a column as datetime64, or as numbers where it holds nothing but numbers."""
    name, kind = table.names[position], table.types[position].split("(")[0]
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        instants = _instants(table, "c", position, unit="ns" if kind.endswith("_NS") else "us")
        return UtcTimes.of(instants) if kind in _WITH_ZONE else instants
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
    if not zoned:
        return instants
    return UtcTimes.of(instants, table.array(f"coalesce({_EAST}, 0)::BIGINT", position).astype(np.int64))


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
            passed("time_format", time_format),
        )
        raise InputError(problem=unlike, remedy="correct one of them")
    unit = "ns" if "%n" in time_format else "us"
    instants = _instants(table, parsed, position, unit=unit, parameters=[time_format])
    return UtcTimes.of(instants) if re.search("%[zZ]", time_format.replace("%%", "")) else instants


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


# ---- rows that meet one condition over the columns, such as severity <= 2: parsed, checked, and only then asked
#
# A condition may come from a file of settings, or from whoever calls a service. duckdb parses it; every part of what it
# parsed has to be on the lists below; what is run is written anew from these parts, on a connection that has lost its
# access to files, network and extensions.

_LONGEST = 2_000
_MOST_PARTS = 1_000
_CLASSES = frozenset(["BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION"])
"""What a condition may be made of, beside operators and the names of types."""
_OPERATORS = frozenset(
    ["OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "COMPARE_IN", "COMPARE_NOT_IN", "OPERATOR_COALESCE"]
)
_FUNCTIONS = frozenset(
    [
        *("+", "-", "*", "/", "//", "%", "||"),
        *("~~", "!~~", "~~*", "!~~*", "regexp_matches", "regexp_full_match", "not_similar_to_escape"),
        *("contains", "starts_with", "ends_with", "prefix", "suffix", "lower", "upper", "trim", "length"),
        *("abs", "round", "floor", "ceil", "date_part", "date_trunc", "year", "month", "day", "hour", "minute"),
        *("dayofweek", "isodow"),
    ]
)
_TYPES = frozenset(
    [
        *("BOOLEAN", "BOOL", "INTEGER", "INT", "INT4", "BIGINT", "INT8", "DOUBLE", "FLOAT8", "FLOAT", "FLOAT4", "REAL"),
        *("VARCHAR", "TEXT", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", "DECIMAL"),
    ]
)
_EXAMPLE = "write one condition over columns, such as \"severity <= 2 AND team = 'web'\""


def kept_rows(table: FileTable, condition: str, argument: str) -> None:
    """Keep the rows of a table for which the condition is true; its columns are loaded, all of them.

    An expression that is unknown (of an empty cell, say) is not true. The connection is closed to the outside for good.
    """

    def refused(why: str, remedy: str = _EXAMPLE) -> InputError:
        return InputError(argument=argument, value=Shown(shortened(condition, 100)), problem=why, remedy=remedy)

    import duckdb

    if len(condition) > _LONGEST:
        raise refused(f"has more than {_LONGEST:,} characters")
    connection = table.connection
    for setting in ("enable_external_access = false", "lock_configuration = true"):
        connection.execute(f"SET {setting}")
    tree = _parsed(connection, condition)
    if isinstance(tree, str):
        raise refused(f"is not one condition ({tree})")
    parts = list(_parts(tree))
    if len(parts) > _MOST_PARTS:
        raise refused(f"has more than {_MOST_PARTS:,} parts")
    for part in parts:
        if why := _foreign(part):
            raise refused(f"has {why}, which a condition may not")
    asked = {name for part in parts if part.get("class") == "COLUMN_REF" for name in part["column_names"]}
    typed = {name: _typed(table, table.position(_as_written(table, name, refused), argument)) for name in sorted(asked)}
    text = _written(connection, tree)
    source = ", ".join(f"{cell} AS {quoted(name)}" for name, cell in typed.items()) or "1 AS one"
    query = f"SELECT ({text}) AS v FROM (SELECT {source} FROM picked) AS t"
    try:
        kind = connection.execute(f"DESCRIBE {query}").fetchall()[0][1]
        if kind != "BOOLEAN":
            raise refused(f"is {kind}, not true or false")
        flags = connection.execute(f"SELECT coalesce(v, false) AS v FROM ({query})").fetchnumpy()["v"]
    except duckdb.Error as error:
        raise refused(f"cannot be asked ({one_line(str(error).split(': ', 1)[-1])})") from None
    table.keep(flags)


def _as_written(table: FileTable, name: str, refused: Callable[..., InputError]) -> str:
    """The column that SQL means by a name: it does not tell upper from lower case."""
    same = [own for own in table.names if own == name] or [own for own in table.names if own.lower() == name.lower()]
    if len(same) != 1:
        count = f"{len(same)} columns" if same else "no column"
        raise refused(
            f"names {name!r}, but {table.label} has {count} of that name", f"its columns are {table.listing()}"
        )
    return same[0]


def _parsed(connection: Any, condition: str) -> Any:
    """The tree of one expression, or why it is none."""
    found, plain = (
        json.loads(connection.execute("SELECT json_serialize_sql(?)", [f"SELECT {text}\n"]).fetchone()[0])
        for text in (condition, "true")
    )
    if found["error"]:
        return one_line(str(found["error_message"]))
    node, alike = (one["statements"][0]["node"] for one in (found, plain))
    if len(found["statements"]) != 1 or len(node.get("select_list", ())) != 1:
        return "there are several"
    # FROM, WHERE, ORDER BY, LIMIT and all else that may follow
    if _without_list(node) != _without_list(alike) or node["select_list"][0]["alias"]:
        return "more follows it"
    return node["select_list"][0]


def _without_list(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "select_list"}


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object in the tree, whatever it hangs on."""
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def _foreign(part: dict[str, Any]) -> str:
    """What a part is, where it may not be there."""
    kind = part.get("class")
    if kind is None:
        return "a query" if "node" in part or "select_list" in part or "from_table" in part else ""
    if kind == "OPERATOR":
        return "" if part["type"] in _OPERATORS else f"the operator {part['type'].lower()}"
    if kind == "TYPE":
        name = str(part.get("type_name", "")).upper()
        return "" if name in _TYPES else f"the type {name or 'of something'}"
    if kind not in _CLASSES:
        told = {"SUBQUERY": "a query", "WINDOW": "a window function", "PARAMETER": "a parameter"}
        return told.get(kind, str(kind).lower())
    if kind == "COLUMN_REF" and len(part["column_names"]) != 1:
        return f"the name {'.'.join(part['column_names'])}"
    if kind == "FUNCTION":
        plain = not (part.get("schema") or part.get("catalog") or part.get("filter") or part.get("distinct"))
        name = str(part["function_name"])
        if name.lower() not in _FUNCTIONS or not plain or part.get("order_bys", {}).get("orders"):
            return f"the function {name}"
    return ""


def _written(connection: Any, tree: Any) -> str:
    """The expression as duckdb writes it from its tree, without anything that was around it."""
    whole = json.loads(connection.execute("SELECT json_serialize_sql('SELECT true')").fetchone()[0])
    whole["statements"][0]["node"]["select_list"] = [tree]
    text: str = connection.execute("SELECT json_deserialize_sql(?::JSON)", [json.dumps(whole)]).fetchone()[0]
    return text.removeprefix("SELECT ")


def _typed(table: FileTable, position: int) -> str:
    """A column of text as what all of its cells are: numbers, true and false, times, else text."""
    cell = f"nullif(trim(c{position}), '')" if table.types[position] == "VARCHAR" else f"c{position}"
    if table.types[position] != "VARCHAR":
        return cell
    for kind in ("DOUBLE", "BOOLEAN", "TIMESTAMP"):
        of_kind = f"try_cast({cell} AS {kind})"
        if table.ask(
            f"SELECT count(*) = count({of_kind}) AND count({of_kind}) > 0 FROM picked WHERE {cell} IS NOT NULL"
        )[0][0]:
            return of_kind
    return cell


# ---- columns out of CSV, TSV, whitespace-separated and Parquet files, read by duckdb

ENDS = ("start", "end")
_ROLES = ("truth", "scores", "predictions", "time", "mask", "series", "strata", "test_part")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """The columns read from one file.

    Attributes
    ----------
    values : dict of str to ndarray
        One array per role: bool, int64, uint64 or float64 (NaN where missing) for numbers, datetime64 (NaT where
        missing; a `UtcTimes` where they had a time zone) or numbers for "time", text or whole numbers for "series" and
        "strata".
    names : dict of str to str
        The column's name in the file per role; "column 0", "column 1" and so on where there is no header.
    n_rows : int
        Rows, the same for all columns.
    source : str
        The file, or "standard input".
    notes : tuple of str
        What a reader should know: whether a first row of 0, 1, 2, ... was read as a header or as data.
    """

    values: dict[str, NDArray[Any]] = field(repr=False)
    names: dict[str, str]
    n_rows: int
    source: str
    notes: tuple[str, ...] = ()


def read_columns(source: str | Path, *, columns: Mapping[str, str | int], time_format: str | None = None) -> Columns:
    """Read columns of a delimited text or Parquet file.

    Text may be separated by commas, tabs, semicolons, bars or (not in .csv and .tsv files) blanks, and may be gzipped.
    Leading lines that begin with ``#`` are skipped. The first row is a header if it has a name asked for; it is data if
    it has nothing but numbers, times and true/false, or a time, or a text that the second row repeats. A first row of
    0, 1, 2, ..., which is how pandas names columns without a name, is a header, unless there are no more than two
    columns and the rows below are written alike; a note says how it was read. Without a header, columns are known by
    position. Empty cells, NA, NaN, null and None are missing.

    Parameters
    ----------
    source : str or Path
        A path (a leading ``~`` is your home), or "-" for standard input. Pipes are read up to 8 GiB.
    columns : mapping of role to column
        Roles are "truth", "scores", "predictions", "time", "mask", "series", "strata" and "test_part"; of several
        columns with one role each is told apart by what follows a colon, "scores:a". A column is a name or a position
        from 0; digits in a string are a position unless a column has that name.
    time_format : str, optional
        As of `strptime`, such as ``"%d/%m/%Y"``. Without it times are ISO 8601 or plain numbers. Times
        with an offset become UTC, and are not compared with those without one, which stay as they are.

    Raises
    ------
    InputError
        Where the file or a value in it cannot be read; the message names file, column, value and line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "detector.csv"
    ...     _ = path.write_text("day,quake,score\\n2020-01-01,0,0.5\\n2020-01-02,1,2.5\\n")
    ...     table = read_columns(path, columns={"truth": "quake", "scores": 2, "time": "day"})
    >>> table.values["scores"], table.names["scores"], table.n_rows
    (array([0.5, 2.5]), 'score', 2)
    """
    kinds = {role: role.partition(":")[0] for role in columns}
    if unknown := [role for role, kind in kinds.items() if kind not in _ROLES]:
        raise InputError(
            argument="columns", problem=f"has the role {unknown[0]!r}", remedy=f"it must be one of {', '.join(_ROLES)}"
        )
    if not columns:
        raise InputError(
            argument="columns", problem="is empty", remedy=f"name a column for at least one of {', '.join(_ROLES)}"
        )
    with open_table(source, list(columns.values()), time_format) as table:
        picked = {role: table.position(column, kinds[role]) for role, column in columns.items()}
        table.load(sorted(set(picked.values())))
        values: dict[str, NDArray[Any]] = {}
        for role, position in picked.items():
            if kinds[role] == "time":
                values[role] = times_of(table, position, time_format)
            elif kinds[role] in ("series", "strata"):
                values[role] = labels_of(table, position, "series" if kinds[role] == "series" else "stratum")
            else:
                values[role] = numbers_of(table, position)
                if (
                    kinds[role] == "scores" and table.types[position] == "FLOAT"
                ):  # thresholds depend on the type of the scores
                    values[role] = values[role].astype(np.float32)
        names = {role: table.names[position] for role, position in picked.items()}
        return Columns(values=values, names=names, n_rows=table.n_rows, source=table.label, notes=table.notes)


def read_times(
    source: str | Path, column: str | int | None = None, time_format: str | None = None, where: str | None = None
) -> NDArray[Any]:
    """Read a list of event times, one a line, with or without a header.

    Parameters
    ----------
    source : str or Path
        A path, or "-" for standard input; text or Parquet as in `read_columns`.
    column : str or int, optional
        The column's name or position; may be left out where there is only one.
    time_format : str, optional
        As in `read_columns`.
    where : str, optional
        Which rows to keep: one condition over the columns, such as ``"severity <= 2"``.

    Returns
    -------
    ndarray
        datetime64 (a `UtcTimes` where they have a time zone) or numbers, in the order of the file. A missing time is
        an error.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "events.txt"
    ...     _ = path.write_text("2020-01-05\\n2020-02-01 12:30\\n")
    ...     read_times(path)
    array(['2020-01-05T00:00:00.000000', '2020-02-01T12:30:00.000000'],
          dtype='datetime64[us]')
    """
    return read_events(source, column, time_format, where=_named(where)).values["time"]


def read_ranges(
    source: str | Path,
    start: str | int | None = None,
    end: str | int | None = None,
    time_format: str | None = None,
    where: str | None = None,
) -> Pairs:
    """Read a list of ranges, one a line: two columns of times or step numbers.

    Parameters
    ----------
    source : str or Path
        A path, or "-" for standard input; text or Parquet as in `read_columns`.
    start, end : str or int, optional
        The columns' names or positions; may be left out where they are called start, begin or from, and end, stop or
        to, or as exports call them.
    time_format : str, optional
        As in `read_columns`.
    where : str, optional
        As in `read_times`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "incidents.csv"
    ...     _ = path.write_text("from,to,cause\\n3,5,disk\\n9,9,network\\n")
    ...     pairs = read_ranges(path)
    >>> pairs.starts, pairs.ends
    (array([3, 9]), array([5, 9]))
    """
    return pairs_of(read_events(source, None, time_format, (start, end), where=_named(where)))


def read_alarms(
    source: str | Path,
    column: str | int | None = None,
    start: str | int | None = None,
    end: str | int | None = None,
    time_format: str | None = None,
    where: str | None = None,
    by: str | int | None = None,
) -> Any:
    """Read alarms, one a line: times, or ranges, whose ends may be missing; or a dict of them by a column's values.

    Exports of Prometheus, Alertmanager and PagerDuty are read as they are.

    Parameters
    ----------
    source : str or Path
        A path, or "-" for standard input; text or Parquet as in `read_columns`, or JSON of these systems.
    column : str or int, optional
        The column of times; ``start`` and ``end`` are those of ranges, as in `read_ranges`.
    time_format, where
        As in `read_times`.
    by : str or int, optional
        A column, of which each value is a detector.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "alerts.csv"
    ...     _ = path.write_text("rule,severity,start,end\\ncpu,1,3,5\\ndisk,3,4,4\\ncpu,2,9,\\n")
    ...     alarms = read_alarms(path, where="severity <= 2", by="rule")
    >>> alarms["cpu"].ends
    array([ 5., nan])
    """
    ends = None if (start, end) == (None, None) else (start, end)
    return alarms_of(read_events(source, column, time_format, ends, where=_named(where), by=by, open_ends=True))[0]


def _named(where: str | None) -> tuple[str, str] | None:
    return None if where is None else (where, "where")


def alarms_of(events: Columns) -> tuple[Any, tuple[str, ...]]:
    """The alarms that a file holds, by detector where it says whose they are; and what there is to tell about them."""
    own: Any = pairs_of(events) if ENDS[0] in events.values else events.values["time"]
    notes: list[str] = []

    def some(which: NDArray[Any], whose: str) -> Any:
        if isinstance(own, Pairs):
            return replace(own, starts=own.starts[which], ends=own.ends[which])
        found = own[which]
        once = found[np.sort(np.unique(np.asarray(found), return_index=True)[1])]
        if len(once) < len(found):
            notes.append(
                f"{len(found) - len(once):,} of the {len(found):,} alarms{whose} have the time of another, and count once."
            )
        return once

    if "by" not in events.values:
        return some(np.ones(len(own), dtype=np.bool_), ""), tuple(notes)
    of = events.values["by"]
    return {str(name): some(of == name, f" of {name}") for name in np.unique(of)}, tuple(notes)


def pairs_of(events: Columns) -> Pairs:
    """The ranges that a file of them holds."""
    starts, ends = (as_column(events.values[role], f"{events.source}, column {events.names[role]}") for role in ENDS)
    return pairs_of_columns(starts, ends, events.source)


def read_events(
    source: str | Path,
    column: str | int | None = None,
    time_format: str | None = None,
    ends: tuple[str | int | None, str | int | None] | None = None,
    *,
    options: tuple[str, str] = ("--truth-start", "--truth-end"),
    where: tuple[str, str] | None = None,
    by: str | int | None = None,
    open_ends: bool = False,
    empty: bool = False,
) -> Columns:
    """Events or alarms of a file, with what there is to tell about it: times, or starts and ends of ranges.

    Ranges are read where ``ends`` has a name for a column, or no column is named and two are called as starts and ends
    are, here or in the exports of alerting systems (`nofluke.data.alerts`), which are read as they are. ``where`` keeps
    rows by a condition and has the argument that it came from (`kept_rows`), ``by`` names a column of labels,
    ``open_ends`` lets ends be missing, and ``empty`` a list of times be one of none. ``options`` are those of the
    command line that name starts and ends.
    """
    asked = [name for name in (column, *(ends or ()), by) if name is not None]
    with open_table(source, asked, time_format, alerts=True, alone=where is not None) as table:
        if ends is not None or (column is None and (has_ends(table.names) or ends_among(table.names) is not None)):
            picked = dict(zip(ENDS, _end_columns(table, ends or (None, None), options), strict=True))
        else:
            if column is None and len(table.names) > 1:
                raise InputError(
                    problem=f"{table.label} has {len(table.names)} columns",
                    remedy=say(
                        "name one of {}, or two of them by {} and {} for ranges",
                        table.listing(),
                        spoken("start=", shell=options[0]),
                        spoken("end=", shell=options[1]),
                    ),
                )
            picked = {"time": 0 if column is None else table.position(column, "time")}
        if by is not None:
            picked["by"] = table.position(by, "by")
        # no incident is an answer, too
        return _times(table, picked, time_format, empty=empty or "time" not in picked, where=where, open_ends=open_ends)


def read_list(
    source: str | Path,
    column: str | int | None = None,
    time_format: str | None = None,
    by: str = "column=",
    where: tuple[str, str] | None = None,
) -> Columns:
    """One list of times, with what there is to tell about its file; a header without rows is a list of none.

    ``by`` is what names the column, for an error where there are several.
    """
    wanted = [] if column is None else [column]
    with open_table(source, wanted, time_format, alerts=True, alone=where is not None) as table:
        if column is None and len(table.names) > 1:
            raise InputError(
                problem=f"{table.label} has {len(table.names)} columns ({table.listing()})",
                remedy=f"name the one with the times by {by}",
            )
        picked = {"time": 0 if column is None else table.position(column, "time")}
        return _times(table, picked, time_format, empty=True, where=where)


def _times(
    table: FileTable,
    picked: dict[str, int],
    time_format: str | None,
    *,
    empty: bool,
    where: tuple[str, str] | None = None,
    open_ends: bool = False,
) -> Columns:
    """Columns of times, none of which may be missing but open ends; and of labels, where one is picked for them."""
    notes: tuple[str, ...] = table.notes
    if where is None:
        table.load(sorted(set(picked.values())), empty=empty)
    else:
        table.load(list(range(len(table.names))), empty=empty)
        n_rows = table.n_rows
        kept_rows(table, *where)
        notes = (
            *notes,
            say("{:,} of the {:,} rows of {} meet {}.", table.n_rows, n_rows, table.label, passed(*where[::-1])),
        )
    values: dict[str, NDArray[Any]] = {}
    for role, position in picked.items():
        if not table.n_rows:
            values[role] = np.zeros(0)
        elif role == "by":
            values[role] = labels_of(table, position, "detector")
        else:
            values[role] = times_of(table, position, time_format)
    if open_ends and "end" in values and values["end"].dtype.kind == "f" and np.isnan(values["end"]).all():
        values["end"] = values["start"].astype("f8" if values["start"].dtype.kind != "M" else values["start"].dtype)
        values["end"][:] = np.nan if values["end"].dtype.kind == "f" else np.datetime64("NaT")  # all of them last
    for role, times in values.items():
        if role == "by":
            continue
        missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
        if missing.any() and not (open_ends and role == "end"):
            row, name = int(missing.argmax()), shown(table.names[picked[role]])
            raise InputError(
                problem=f"{table.at(row)}: column {name} has no {role}", remedy=OPEN.get(role, "remove the row")
            )
    if ENDS[0] in values and len({values[role].dtype.kind == "M" for role in ENDS}) == 1:
        back = values["start"] > values["end"]
        if back.any():
            row = int(back.argmax())
            told = " to ".join(_told(values[role][row]) for role in ENDS)
            raise InputError(problem=f"{table.at(row)}: the range {told} ends before it starts", remedy="swap its ends")
    names = {role: table.names[position] for role, position in picked.items()}
    return Columns(values=values, names=names, n_rows=table.n_rows, source=table.label, notes=notes)


def _told(time: Any) -> str:
    return str(np.datetime_as_string(time, unit="auto")) if time.dtype.kind == "M" else f"{time:,.15g}"


def _end_columns(
    table: FileTable, ends: tuple[str | int | None, str | int | None], options: tuple[str, str]
) -> tuple[int, int]:
    """Positions of the starts and of the ends, by their names where they are given, else by what they are called."""
    if ends == (None, None) and not has_ends(table.names) and (exported := ends_among(table.names)) is not None:
        return exported
    start, end = (None if name is None else table.position(name, role) for name, role in zip(ends, ENDS, strict=True))
    if start is None or end is None:
        remedy = spoken(
            "name them by start= and end=",
            shell=f"name them by {options[0]} and {options[1]}",
            needs=options[1].removeprefix("--").replace("-", "_"),
            otherwise="call two of them start and end",
        )
        found = [
            find(table.names, table.label, remedy) if own is None else own
            for own, find in ((start, start_column), (end, end_column))
        ]
        start, end = found[0], found[1]
    return start, end
