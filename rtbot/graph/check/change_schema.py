"""The fields of a change input and the key of its rows: `{changes: {...}, unique: [...]}`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, describe_non_ascii, graph_error
from rtbot.core.scalar_values import ID
from rtbot.graph.check.context import (
    Context,
    hint_known_names,
)
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.diagnosis import suggest_space
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.operator import Type

CHANGES, UNIQUE = "changes", "unique"
FIELDS_MAX = 1_000
EXAMPLE = "write {changes: {id: integer, amount: number?}, unique: [id]}"


def read_change_schema(
    name: str, node: MappingNode, read_type: Callable[[ScalarNode], Type], context: Context
) -> Schema:
    """Return the schema of an input; raise GraphError with every problem if it has any.

    `read_type` returns the type that a text names.
    """
    declared = require_fields(name, node.items[CHANGES], node.keys[CHANGES], EXAMPLE)
    found = GraphError([])
    fields: tuple[Field, ...] = ()
    try:
        fields = read_fields(declared, check_field_name, read_type)
        refuse_mask(name, fields, declared.mark, declared.keys)
    except GraphError as error:
        found = error
    key: tuple[str, ...] = ()
    if UNIQUE in node.items:
        try:
            key = _read_unique(name, node, list(declared.items), context)
        except GraphError as error:
            found = GraphError([*found.problems, *error.problems])
    if found.problems:
        raise found
    return Schema(fields, (key,) if key else ())


def require_fields(name: str, node: DocumentNode, key: SourceSpan, example: str) -> MappingNode:
    """Return the mapping of the fields of an input and their types, which is given under a key."""
    if not isinstance(node, MappingNode):
        missing = isinstance(node, ScalarNode) and node.missing
        mark, what = (key, "nothing") if missing else (node.mark, node.form)
        message = f"the fields of {name} are a mapping of names and types, this is {what}"
        raise graph_error("RT105", mark, message, example)
    if not node.items:
        raise graph_error("RT110", key, f"{name} has no fields", example)
    if len(node.items) > FIELDS_MAX:
        message = f"{name} has {len(node.items):,} fields"
        raise graph_error("RT108", node.mark, message, f"{FIELDS_MAX:,} at most")
    return node


def read_fields(
    declared: MappingNode,
    check_name: Callable[[str, SourceSpan], None],
    read_type: Callable[[ScalarNode], Type],
) -> tuple[Field, ...]:
    """Return fields with their types; raise GraphError with every problem if they have any."""
    found = GraphError([])
    fields = []
    for field, item in declared.items.items():
        try:
            check_name(field, declared.keys[field])
            fields.append(Field(field, _read_field_type(field, item, declared, read_type)))
        except GraphError as error:
            found = GraphError([*found.problems, *error.problems])
    if found.problems:
        raise found
    return tuple(fields)


def refuse_mask(
    name: str,
    fields: Iterable[Field],
    mark: SourceSpan,
    marks: Mapping[str, SourceSpan] | None = None,
) -> None:
    """Refuse a field with the name of the column that says which cells of another are not null.

    A column of that name is taken for it if it is boolean, or the other field may be null.
    """
    kinds = {field.name: field.type for field in fields}
    for field, type_ in kinds.items():
        other = f"{field}_valid"
        if other in kinds and (type_.nullable or kinds[other].kind == "boolean"):
            hint = f"tables have it beside {field} where that may be null: name it otherwise"
            place = (marks or {}).get(other, mark)
            raise graph_error("RT107", place, f"{name} has a field {other!r}", hint)


def check_field_name(field: str, mark: SourceSpan) -> None:
    """Refuse a name that a field cannot have."""
    if field.startswith("_"):
        message = f"the name {field[:80]!r} of a field begins with _"
        hint = "names that begin with _ are those of the time and the weight of a row"
        raise graph_error("RT107", mark, message, hint)
    if not ID.fullmatch(field):
        rule = "a letter, then letters, digits, _ and -, 64 at most"
        hint = describe_non_ascii(field) or suggest_space(field) or rule
        raise graph_error("RT107", mark, f"{field[:80]!r} is not a valid name of a field", hint)


def _read_field_type(
    field: str, item: DocumentNode, declared: MappingNode, read_type: Callable[[ScalarNode], Type]
) -> Type:
    if not isinstance(item, ScalarNode):
        message = f"the type of a field is text, this is {item.form}"
        raise graph_error("RT105", item.mark, message, f"write {field}: number")
    if item.missing:
        mark = declared.keys[field]
        message = f"the field {field} has no type"
        raise graph_error("RT105", mark, message, f"write {field}: number")
    try:
        return read_type(item)
    except GraphError as error:
        (problem,) = error.problems
        if item.text.startswith(("datetime", "timestamp", "time", "date")):
            hint = "dates and times are integers, in the unit of `io.unit`"
            raise graph_error("RT140", problem.mark, problem.message, hint) from None
        raise


def _read_unique(
    name: str, node: MappingNode, fields: list[str], context: Context
) -> tuple[str, ...]:
    """Return the fields of the key; each has to be a field, once."""
    item = node.items[UNIQUE]
    items = item.items if isinstance(item, SequenceNode) else [item]
    if not items or (isinstance(item, ScalarNode) and item.missing):
        message = f"unique of {name} names no field"
        raise graph_error("RT105", node.keys[UNIQUE], message, "leave it out if rows have no key")
    problems: list[GraphError] = []
    key: list[str] = []
    for one in items:
        if not isinstance(one, ScalarNode) or one.missing:
            what = one.form if not isinstance(one, ScalarNode) else "empty"
            message = f"unique is a list of fields, this is {what}"
            problems.append(graph_error("RT105", one.mark, message, f"write [{fields[0]}]"))
        elif one.text not in fields:
            near = context.problems.suggest_name(one.text, fields)
            message = f"{name} has no field {one.text[:80]!r}"
            problems.append(
                graph_error("RT120", one.mark, message, near or hint_known_names(fields))
            )
        elif one.text in key:
            message = f"the field {one.text!r} is given twice"
            problems.append(graph_error("RT106", one.mark, message))
        else:
            key.append(one.text)
    if problems:
        raise GraphError([problem for error in problems for problem in error.problems])
    return tuple(key)
