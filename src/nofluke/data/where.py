"""One condition over the columns of a table, such as ``severity <= 2``: parsed, checked, and only then asked.

A condition may come from a file of settings, or from whoever calls a service. duckdb parses it; every part of what it
parsed has to be on the lists below; what is run is written anew from these parts, on a connection that has lost its
access to files, network and extensions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nofluke.data.tables import FileTable, one_line, quoted
from nofluke.errors import InputError, Shown, shortened

LONGEST = 2_000
MOST_PARTS = 1_000
CLASSES = frozenset(["BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION"])
"""What a condition may be made of, beside operators and the names of types."""
OPERATORS = frozenset(
    ["OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "COMPARE_IN", "COMPARE_NOT_IN", "OPERATOR_COALESCE"]
)
FUNCTIONS = frozenset(
    [
        *("+", "-", "*", "/", "//", "%", "||"),
        *("~~", "!~~", "~~*", "!~~*", "regexp_matches", "regexp_full_match", "not_similar_to_escape"),
        *("contains", "starts_with", "ends_with", "prefix", "suffix", "lower", "upper", "trim", "length"),
        *("abs", "round", "floor", "ceil", "date_part", "date_trunc", "year", "month", "day", "hour", "minute"),
        *("dayofweek", "isodow"),
    ]
)
TYPES = frozenset(
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

    if len(condition) > LONGEST:
        raise refused(f"has more than {LONGEST:,} characters")
    connection = table.connection
    for setting in ("enable_external_access = false", "lock_configuration = true"):
        connection.execute(f"SET {setting}")
    tree = _parsed(connection, condition)
    if isinstance(tree, str):
        raise refused(f"is not one condition ({tree})")
    parts = list(_parts(tree))
    if len(parts) > MOST_PARTS:
        raise refused(f"has more than {MOST_PARTS:,} parts")
    for part in parts:
        if why := _foreign(part):
            raise refused(f"has {why}, which a condition may not")
    asked = {name for part in parts if part.get("class") == "COLUMN_REF" for name in [part["column_names"]][0]}
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


def _as_written(table: FileTable, name: str, refused: Any) -> str:
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
        return "" if part["type"] in OPERATORS else f"the operator {part['type'].lower()}"
    if kind == "TYPE":
        name = str(part.get("type_name", "")).upper()
        return "" if name in TYPES else f"the type {name or 'of something'}"
    if kind not in CLASSES:
        told = {"SUBQUERY": "a query", "WINDOW": "a window function", "PARAMETER": "a parameter"}
        return told.get(kind, str(kind).lower())
    if kind == "COLUMN_REF" and len(part["column_names"]) != 1:
        return f"the name {'.'.join(part['column_names'])}"
    if kind == "FUNCTION":
        plain = not (part.get("schema") or part.get("catalog") or part.get("filter") or part.get("distinct"))
        name = str(part["function_name"])
        if name.lower() not in FUNCTIONS or not plain or part.get("order_bys", {}).get("orders"):
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
