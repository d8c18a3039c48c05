"""The edges of a graph: the sections `inputs` and `outputs`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, graph_error, suggest_known_name
from rtbot.core.vector_names import RECORD, VECTOR
from rtbot.graph.check.change_schema import CHANGES, read_change_schema, require_fields
from rtbot.graph.check.context import Context, check_id, read_entries, read_text
from rtbot.graph.check.record_type import RECORD_EXAMPLE, read_record, split_record
from rtbot.graph.check.vector_type import read_vector
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.model import Input, Ref
from rtbot.operator import KINDS, Type

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.check.record_outputs import RecordOutputs
    from rtbot.graph.check.references import SymbolTable

_TYPE = re.compile(r"([a-z]+)(\??)")
INPUT_KEYS = ("type", "doc", "meta", "io")
RECORD_INPUT_KEYS = ("record", "doc", "meta", "io")
CHANGE_INPUT_KEYS = ("changes", "unique", "doc", "meta", "io")
_TIMES = ("datetime", "timestamp", "time", "date")


def read_inputs(node: DocumentNode | None, context: Context) -> dict[str, Input | None]:
    """Return the inputs; None means one whose problem is noted."""
    items = read_entries(node, "inputs", None, context.problems)
    result: dict[str, Input | None] = {}
    for name, item in items.items():
        assert isinstance(node, MappingNode)
        mark = node.keys[name]
        valid = check_id(name, mark, "an input", context.problems)
        try:
            declared, doc = _read_input_type(name, item, mark, context)
            result[name] = Input(name, declared, mark, doc) if valid else None
        except GraphError as error:
            context.problems.found += error.problems
            result[name] = None
    return result


def _read_input_type(
    name: str, node: DocumentNode, mark: SourceSpan, context: Context
) -> tuple[Type, str]:
    if isinstance(node, ScalarNode):
        if node.missing:
            raise graph_error(
                "RT105", mark, f"the input {name} has no type", f"write {name}: number"
            )
        return _read_series_type(name, node), ""
    if not isinstance(node, MappingNode):
        message = f"the type of an input is text or a mapping, this is {node.form}"
        raise graph_error("RT105", node.mark, message)
    if "scope" in node.items:
        raise graph_error("RT141", node.keys["scope"], "`scope` of an input comes later")
    if CHANGES in node.items:
        return _read_change_input(name, node, context)
    hints = {"unique": "it belongs to a change stream: {changes: {id: integer}, unique: [id]}"}
    allowed = RECORD_INPUT_KEYS if RECORD in node.items else INPUT_KEYS
    fields = read_entries(node, f"the input {name}", allowed, context.problems, hints)
    doc = read_text(fields.get("doc"), "doc", context.problems)
    if RECORD in fields:
        record = require_fields(name, fields[RECORD], node.keys[RECORD], RECORD_EXAMPLE)
        return read_record(name, record, read_type), doc
    declared = fields.get("type")
    if declared is None:
        if any(suggest_known_name(key, ("type",)) for key in node.items):
            raise GraphError([])
        unknown = [key for key in node.items if key not in INPUT_KEYS]
        hint = f"write {{record: {{{unknown[0]}: number}}}}" if unknown else "write {type: number}"
        raise graph_error("RT110", mark, f"the input {name} has no type", hint)
    if not isinstance(declared, ScalarNode):
        raise graph_error("RT105", declared.mark, f"a type is text, this is {declared.form}")
    return _read_series_type(name, declared), doc


def _read_series_type(name: str, scalar: ScalarNode) -> Type:
    """Return the type of an input of series: one value in every message, or several."""
    vector = read_vector(scalar)
    if vector is not None:
        return vector
    fields = split_record(scalar)
    return read_type(scalar) if fields is None else read_record(name, fields, read_type)


def _read_change_input(name: str, node: MappingNode, context: Context) -> tuple[Type, str]:
    """Return the type of a change stream: its fields, and the key by which rows are upserted."""
    if "type" in node.items:
        message = f"the input {name} has `type` and `changes`: it is a series or a change stream"
        raise graph_error("RT116", node.keys["type"], message, "remove one of them")
    hints = {"key": "write unique: [...]"}
    fields = read_entries(node, f"the input {name}", CHANGE_INPUT_KEYS, context.problems, hints)
    doc = read_text(fields.get("doc"), "doc", context.problems)
    schema = read_change_schema(name, node, read_type, context)
    return Type("changes", schema=schema), doc


def read_type(scalar: ScalarNode) -> Type:
    """Return the type that a text such as `number?` names."""
    text = scalar.text
    found = _TYPE.fullmatch(text)
    if found and found.group(1) in KINDS:
        return Type(found.group(1), nullable=bool(found.group(2)))
    found = re.match(rf"({RECORD}|{VECTOR})\b", text)
    if found:
        hint = "a field is " + ", ".join(KINDS)
        raise graph_error("RT140", scalar.mark, f"a {found[1]} is no type of a field", hint)
    hint = suggest_known_name(text.rstrip("?"), KINDS)
    hint = hint or f"there are {', '.join(KINDS)}; `?` behind it allows null"
    if text.startswith(_TIMES):
        hint = "every message has its time, which is no input: name the column as `io: {time: ...}`"
    raise graph_error("RT140", scalar.mark, f"unknown type {text[:40]!r}", hint)


def read_outputs(
    node: DocumentNode | None,
    names: SymbolTable,
    records: RecordOutputs,
    context: Context,
) -> dict[str, Ref | None]:
    """Return the public outputs: a mapping, or a list of references that name themselves.

    One that is a record is an output for each of its fields, `NAME.FIELD`. None means one whose
    problem is noted.
    """
    result: dict[str, Ref | None] = {}
    for name, mark, item in _list_outputs(node, context):
        try:
            found = _read_output(name, mark, item, names, records)
            if result.keys() & found.keys():
                public = next(one for one in found if one in result)
                message = f"the output {public!r} is given twice"
                raise graph_error("RT106", mark, message, "name outputs: `outputs: {name: id}`")
            result |= found
        except GraphError as error:
            context.problems.found += error.problems
            if name:
                result[name] = None
    return result


def _read_output(
    name: str,
    mark: SourceSpan,
    item: DocumentNode,
    names: SymbolTable,
    records: RecordOutputs,
) -> dict[str, Ref | None]:
    """Return what an output shows, by public name."""
    if isinstance(item, MappingNode) and name:
        return records.read(name, mark, item)
    if not isinstance(item, ScalarNode):
        message = f"an output is a reference, this is {item.form}"
        raise graph_error("RT105", item.mark, message, "write {name: id}, or [id, id]")
    if item.missing:
        where = item.mark if name else mark
        raise graph_error("RT105", where, "a reference is missing", "write the id of a stream")
    given = names.inputs.get(item.text)
    if given is not None and given.type.kind == RECORD:
        return {f"{name or item.text}.{field}": Ref(item.text, field) for field in given.ports}
    return records.show(name or item.text.replace(".", "_"), item)


def _list_outputs(
    node: DocumentNode | None, context: Context
) -> list[tuple[str, SourceSpan, DocumentNode]]:
    """Return (name, place, reference) of every output; the name is "" in a list."""
    if isinstance(node, SequenceNode):
        return [("", item.mark, item) for item in node.items]
    if isinstance(node, ScalarNode) and not node.missing:
        return [("", node.mark, node)]
    items = read_entries(node, "outputs", None, context.problems)
    result = []
    for name, item in items.items():
        assert isinstance(node, MappingNode)
        if check_id(name, node.keys[name], "an output", context.problems):
            result.append((name, node.keys[name], item))
    return result
