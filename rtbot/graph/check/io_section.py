"""The section `io`: what holds for all inputs, and what an input has of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problems, graph_error, join_names
from rtbot.graph.check.context import Context, read_entries
from rtbot.graph.check.reading_options import (
    CSV_KEYS,
    READING,
    READING_KEYS,
    read_reading,
    read_texts,
)
from rtbot.graph.check.record_type import read_columns
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode, from_mapping
from rtbot.graph.model import Io
from rtbot.operator import Choice, Duration, Integer, Parameter, Text

if TYPE_CHECKING:
    from collections import abc

    from rtbot.graph.model import Input

UNITS = ("s", "ms", "us", "ns")
_MERGING = ("min", "max", "sum")
KEY_TYPES = ("text", "integer")
COLUMNS_MAX = 64
MAX_DELTA_ROWS_MAX = 1_000_000_000
POLICIES: dict[str, Parameter] = {
    "unit": Choice(name="unit", options=UNITS, doc="what an integer time counts"),
    "late": Choice(
        name="late",
        options=("error", "drop"),
        doc="a row before the latest of its series",
    ),
    "duplicates": Choice(
        name="duplicates",
        options=("error", "first", "last", "min", "max", "sum"),
        doc="rows of one series with equal times",
    ),
    "lateness": Duration(name="lateness", doc="how long rows are held to be put in order"),
    "bad": Choice(name="bad", options=("error", "drop"), doc="a cell that cannot be read"),
    "excess": Choice(
        name="excess",
        options=("error", "ignore"),
        doc="a change that deletes more copies of a row than there are",
    ),
    "conflicts": Choice(
        name="conflicts",
        options=("error", "last"),
        doc="two different rows for one key in one transaction",
    ),
    "on_bad_transaction": Choice(
        name="on_bad_transaction",
        options=("stop", "discard"),
        doc="a transaction that cannot be taken",
    ),
    "max_delta_rows": Integer(
        name="max_delta_rows",
        minimum=1,
        maximum=MAX_DELTA_ROWS_MAX,
        doc="rows that one transaction may release at one operator",
    ),
}
IO: dict[str, Parameter] = {
    "time": Text(name="time", doc="the time column, or columns whose texts are joined"),
    **POLICIES,
    **READING,
}
"""Every key whose value is a scalar, or may be one."""

IO_KEYS = (
    *("unit", "time", "key", "late", "duplicates", "lateness", "bad", "ttl"),
    *("time_format", "timezone", "ambiguous", "nonexistent", "null", "columns_as", "csv"),
    *("excess", "conflicts", "on_bad_transaction", "max_delta_rows"),
)
WHOLE_KEYS = ("unit", "key", "columns_as", "ttl", "on_bad_transaction", "max_delta_rows")
OWN_KEYS = tuple(key for key in IO_KEYS if key not in WHOLE_KEYS)
"""Keys that an input may have of its own; the others are of the whole graph."""

COLUMNS = "columns"
"""The key of the columns of a record, which is of an input alone."""

CHANGE_KEYS = ("excess", "conflicts", "on_bad_transaction", "max_delta_rows")
"""Keys that are for change inputs alone."""


def override_io(
    node: DocumentNode | None, overrides: abc.Mapping[str, Any] | None
) -> DocumentNode | None:
    """Return the `io` section with values given at the call instead of its own."""
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    if not given:
        return node
    added = from_mapping({"io": given}).root.items["io"]
    return _put_over(node, added) if isinstance(node, MappingNode) else added


def _put_over(node: MappingNode, added: DocumentNode) -> MappingNode:
    """Return the entries of a section with others over them; those of `csv` one by one."""
    assert isinstance(added, MappingNode)
    items = node.items | added.items
    first, second = node.items.get("csv"), added.items.get("csv")
    if isinstance(first, MappingNode) and isinstance(second, MappingNode):
        items["csv"] = _put_over(first, second)
    return MappingNode(items, node.mark, node.keys | added.keys)


def _leave_out(node: DocumentNode, overrides: abc.Mapping[str, Any] | None) -> DocumentNode:
    """Return the `io` of an input without what was given at the call, which is for all inputs."""
    if not isinstance(node, MappingNode) or not overrides:
        return node
    items: dict[str, DocumentNode] = {}
    for key, item in node.items.items():
        given = overrides.get(key)
        if key == "csv" and given is not None and isinstance(item, MappingNode):
            items[key] = _leave_out(item, given)
        elif given is None:
            items[key] = item
    return MappingNode(items, node.mark, node.keys)


def read_unit(node: DocumentNode | None) -> str | None:
    """Return `io.unit` if it is valid; durations in parameters need it before all else."""
    unit = node.items.get("unit") if isinstance(node, MappingNode) else None
    return unit.text if isinstance(unit, ScalarNode) and unit.text in UNITS else None


def read_io(
    node: DocumentNode | None, inputs: abc.Mapping[str, Input | None], context: Context
) -> Io:
    """Return the `io` section."""
    fields = read_entries(node, "io", IO_KEYS, context.problems, hint_places(node, IO_KEYS))
    found = _read_values(fields, Io(), context)
    found = _complete_key(fields, found, context)
    _check_merging(fields, found, inputs.values(), context)
    _check_series_columns(fields, inputs.values(), context)
    check_change_io(fields, found, list(inputs.values()), context)
    return found


def read_input_io(
    section: DocumentNode | None,
    inputs: abc.Mapping[str, Input | None],
    io: Io,
    overrides: abc.Mapping[str, Any] | None,
    context: Context,
) -> dict[str, Input | None]:
    """Return the inputs with the `io` of those that have keys of their own."""
    found = dict(inputs)
    for name, one in inputs.items():
        declared = section.items.get(name) if isinstance(section, MappingNode) else None
        node = declared.items.get("io") if isinstance(declared, MappingNode) else None
        if node is None:
            continue
        what, hints = f"the io of the input {name}", hint_places(node, OWN_KEYS)
        node = _leave_out(node, overrides)
        is_record = one is not None and bool(one.type.fields)
        keys = (*OWN_KEYS, COLUMNS) if is_record else OWN_KEYS
        fields = read_entries(node, what, keys, context.problems, hints)
        columns = fields.pop(COLUMNS, None)
        if one is None:
            continue
        named = {} if columns is None else read_columns(columns, one, context)
        own = one.io
        if fields:
            own = _read_values(fields, io, context)
            _check_merging(fields, own, [one], context)
            check_own_change_io(fields, one, context)
        found[name] = replace(one, io=own, columns=named)
    return found


def hint_places(node: DocumentNode | None, allowed: abc.Collection[str]) -> dict[str, str]:
    """Return hints on where keys belong that are not keys of this section."""
    hints = {key: f"it belongs under csv: `csv: {{{key}: ...}}`" for key in CSV_KEYS}
    for key in IO_KEYS:
        if key not in allowed:
            hints[key] = "it is of the whole graph: it belongs under the `io` at the top"
    hints[COLUMNS] = "it is for a record, in the `io` of that input"
    there = node.items if isinstance(node, MappingNode) else {}
    return {key: hint for key, hint in hints.items() if key in there}


def _read_values(fields: abc.Mapping[str, DocumentNode], given: Io, context: Context) -> Io:
    """Return the values of a section over those that are given; what is wrong is noted."""
    values: dict[str, Any] = {}
    types: dict[str, str] = {}
    for key, item in fields.items():
        try:
            if key == "ttl":
                raise graph_error("RT141", item.mark, "`ttl` of io comes later")
            if key == "key":
                values[key] = _read_key(item, types, context)
            elif key == "time":
                values[key] = read_texts(item, "time", "a column", context)
            elif key not in READING_KEYS:
                values[key] = POLICIES[key].read(item, context)
        except GraphError as error:
            context.problems.found += error.problems
    reading = read_reading(fields, given.reading, context)
    if types:
        reading = replace(reading, key_types=types)
    return replace(given, **values, reading=reading)


def _read_key(node: DocumentNode, types: dict[str, str], context: Context) -> tuple[str, ...]:
    """Return the key columns; `types` gets those that a mapping gives."""
    if isinstance(node, MappingNode):
        names = list(node.items)
        for name, item in node.items.items():
            kind = Choice(name=f"the type of the key {name}", options=KEY_TYPES)
            types[name] = kind.read(item, context)
    else:
        names = _read_key_list(node, context)
    if len(names) > COLUMNS_MAX:
        raise graph_error(
            "RT108", node.mark, f"{len(names)} key columns", f"not {join_names(names)}"
        )
    return tuple(names)


def _read_key_list(node: DocumentNode, context: Context) -> list[str]:
    items = node.items if isinstance(node, SequenceNode) else [node]
    names: list[str] = []
    for item in items:
        if isinstance(item, MappingNode):
            hint = "write {COLUMN: text} or [COLUMN]"
            raise graph_error("RT105", item.mark, "key is a column or a list of columns", hint)
        name = Text(name="key").read(item, context)
        if name in names:
            raise graph_error("RT106", item.mark, f"the key column {name!r} is given twice")
        names.append(name)
    return names


def _complete_key(fields: abc.Mapping[str, DocumentNode], io: Io, context: Context) -> Io:
    """Return `io` whose key has the column that `columns_as` makes."""
    name = io.reading.columns_as
    if name is None or name in io.key:
        return io
    if not io.key:
        return replace(io, key=(name,))
    if "key" in fields and "columns_as" in fields:
        message = f"columns_as: {name} is none of the key columns {join_names(io.key)}"
        context.problems.add("RT160", fields["columns_as"].mark, message, "add it to `key`")
    return io


def _check_merging(
    fields: abc.Mapping[str, DocumentNode],
    io: Io,
    inputs: abc.Iterable[Input | None],
    context: Context,
) -> None:
    """Note that rows of one time cannot be merged where they are no numbers."""
    if "duplicates" not in fields or io.duplicates not in _MERGING:
        return
    for one in inputs:
        if one is not None and one.type.kind not in ("number", "integer", "changes"):
            message = f"duplicates: {io.duplicates} needs numbers, {one.name} is {one.type}"
            hint = "error, first and last work for every type"
            context.problems.add("RT160", fields["duplicates"].mark, message, hint)
            break


def _check_series_columns(
    fields: abc.Mapping[str, DocumentNode],
    inputs: abc.Iterable[Input | None],
    context: Context,
) -> None:
    """Note that a column cannot be a series of records or vectors."""
    for one in inputs:
        if "columns_as" in fields and one is not None and one.type.fields:
            message = f"columns_as is for one value in every cell, {one.name} is a {one.type.kind}"
            context.problems.add("RT160", fields["columns_as"].mark, message, "leave it out")


def check_change_io(
    fields: abc.Mapping[str, DocumentNode],
    io: Io,
    inputs: abc.Collection[Input | None],
    context: Context,
) -> None:
    """Note what does not fit the change inputs of the graph, or that it has none."""
    changes = [one for one in inputs if one is not None and one.type.kind == "changes"]
    if not changes and None not in inputs and inputs:
        for key in CHANGE_KEYS:
            if key in fields:
                message = f"{key} is for change inputs, and the graph has none"
                hint = "a change input is {changes: {id: integer}}"
                context.problems.add("RT160", fields[key].mark, message, hint)
    if changes and "late" in fields and io.late == "drop":
        message = f"late: drop would break {changes[0].name}: a change that is left out is missing"
        hint = "`lateness` sorts changes; a series may have `late` in its own `io`"
        context.problems.add("RT160", fields["late"].mark, message, hint)
    keyed = [one for one in changes if one.type.schema and one.type.schema.unique]
    if changes and not keyed and "conflicts" in fields and None not in inputs:
        message = "conflicts is for change inputs that have `unique`"
        hint = "name the key of the rows: {changes: {id: integer}, unique: [id]}"
        context.problems.add("RT160", fields["conflicts"].mark, message, hint)
    if changes and len(changes) == len(inputs) and "key" in fields:
        message = "key is for series: change streams have no run key"
        hint = "GroupBy computes for each value of a field"
        context.problems.add("RT160", fields["key"].mark, message, hint)


def check_own_change_io(
    fields: abc.Mapping[str, DocumentNode], one: Input, context: Context
) -> None:
    """Note what does not fit the `io` of one input: that of a series, or of changes."""
    is_change = one.type.kind == "changes"
    wrong: dict[str, tuple[str, str]] = {}
    if not is_change:
        for key in CHANGE_KEYS:
            wrong[key] = (f"{key} is for change inputs, {one.name} is a series", "remove it")
    else:
        hint = "several changes of one time are one transaction"
        wrong["duplicates"] = (f"duplicates is for series, {one.name} has changes", hint)
        if one.type.schema is not None and not one.type.schema.unique:
            hint = "it is for two rows of one key: name its fields in `unique`"
            wrong["conflicts"] = (f"{one.name} has no `unique`", hint)
        late = fields.get("late")
        if isinstance(late, ScalarNode) and late.text == "drop":
            message = f"late: drop would break {one.name}: a change that is left out is missing"
            wrong["late"] = (message, "`lateness` sorts changes")
    for key, (message, hint) in wrong.items():
        if key in fields:
            context.problems.add("RT160", fields[key].mark, message, hint)


def check_io(io: abc.Mapping[str, Any]) -> Io:
    """Return the `io` that a mapping is, without a graph; raise GraphError if it is wrong."""
    context = Context(Problems())
    node = override_io(None, io)
    context.unit = read_unit(node)
    found = read_io(node, {}, context)
    problems = context.problems.list_problems("error")
    if problems:
        raise GraphError(problems)
    return found
