"""Files of tables that change: which column says so, the input that reads one, and a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.core.scalar_values import ID
from rtbot.look.cell_forms import INTEGER
from rtbot.look.io_lines import (
    join_command,
    list_graph_only,
    list_options,
    quote_scalar,
    render_io,
)
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.tables.change_rows import OP, SIGNS, WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.look.column_facts import SampledTable
    from rtbot.look.file_facts import FileFacts

KINDS = ("integer", "number", "boolean")
"""Kinds of columns that are types of fields; the others are read as texts."""

DIGITS = 20
"""Integers of so many signs are no weights."""

GROUPS_MAX = 20
"""A column with more values than these is not grouped by."""


def find_change_column(table: SampledTable) -> str:
    """Return the column that says what is inserted and what is deleted, "" if there is none.

    That is `op`, or `_weight` beside a field `weight`, or a `weight` that is negative somewhere.
    """
    if OP in table.names and {*map(str.lower, table.column(OP).counts)} <= SIGNS.keys():
        return OP
    name = f"_{WEIGHT}" if {WEIGHT, f"_{WEIGHT}"} <= {*table.names} else WEIGHT
    texts = table.column(name).counts if name in table.names else ()
    weights = [int(text) for text in texts if INTEGER.fullmatch(text) and len(text) < DIGITS]
    if not weights or len(weights) < len(texts) or not all(weights):
        return ""
    return name if name != WEIGHT or min(weights) < 0 else ""


def describe_changes(table: SampledTable, name: str) -> str:
    """Return what a column says of the rows, as a note."""
    counts = table.column(name).counts
    deletes = sum(n for text, n in counts.items() if SIGNS.get(text.lower(), 1) < 0 or "-" in text)
    inserts = counts.total() - deletes
    return f"a table that changes: by {name}, {inserts:,} rows are inserted and {deletes:,} deleted"


def list_schema(facts: FileFacts) -> Schema:
    """Return the fields that the columns are. Raises DataError if there is none."""
    taken = {facts.changes, *(facts.time.columns if facts.time else ())}
    fields = tuple(
        Field(
            column.name,
            Type(
                column.kind if column.kind in KINDS else "text",
                bool(column.empty or column.tokens or column.sentinels),
            ),
        )
        for column in facts.columns
        if column.name not in taken and ID.fullmatch(column.name)
    )
    if not fields:
        raise DataError("there is no column that is a field", code="RT204", file=facts.file)
    return Schema(fields)


def render_changes(facts: FileFacts) -> str:
    """Return the declaration of the input that reads the file."""
    fields = ", ".join(f"{field.name}: {field.type}" for field in list_schema(facts))
    return f"{{changes: {{{fields}}}}}"


def list_change_lines(facts: FileFacts, name: str) -> Iterator[str]:
    """Yield the lines of a graph that read the file: its input, and the `io` that it needs."""
    yield "inputs:"
    yield f"  {name}: {render_changes(facts)}"
    yield from render_io(facts).splitlines()


def render_change_run(facts: FileFacts, graph: str, name: str, *target: str) -> str:
    """Return the command line that runs a graph on the file."""
    words = ["rtbot", "run", graph, "--in", f"{name}={facts.file}"]
    return join_command([*words, *list_options(facts), *target])


def render_query(facts: FileFacts, name: str) -> str:
    """Return the command line of a query over the file."""
    query = f"SELECT * FROM {name}"  # noqa: S608 (it is shown)
    words = ["rtbot", "sql", query, "--in", f"{name}={facts.file}", *list_options(facts)]
    for key, value in list_graph_only(facts).items():
        words += ["--io", f"{key}={value}"]
    return join_command(words)


def render_change_graph(facts: FileFacts, title: str, name: str) -> str:
    """Return the text of a graph that counts the rows of a file, and adds up a column."""
    by, total = _choose_group(facts), _choose_total(facts)
    computed = "n: count()" + (f", total: sum({total})" if total else "")
    doubts = [f"# {line}" for doubt in facts.doubts for line in doubt.splitlines()]
    section = render_io(facts)
    lines = [
        f"name: {quote_scalar(title)}",
        f"description: {quote_scalar(f'groups of {facts.file}')}",
        "",
        "inputs:",
        f"  {name}: {render_changes(facts)}",
        "",
        "operators:",
        f"  groups: {{type: GroupBy, in: {name}, by: [{by}], compute: {{{computed}}}}}",
        "",
        "outputs: [groups]",
        *(["", *doubts, section.rstrip("\n")] if section else []),
    ]
    return "\n".join(lines) + "\n"


def _choose_group(facts: FileFacts) -> str:
    """Return the field of the fewest texts, "" if there is none that repeats."""
    names = [field.name for field in list_schema(facts) if field.type.kind in ("text", "boolean")]
    found = [c for c in facts.columns if c.name in names and c.distinct <= GROUPS_MAX]
    return min(found, key=lambda column: column.distinct).name if found else ""


def _choose_total(facts: FileFacts) -> str:
    """Return the last column of numbers, which is less likely a key than the first."""
    names = list_schema(facts).names
    return next((c.name for c in reversed(facts.numeric) if c.name in names), "")
