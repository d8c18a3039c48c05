"""A GroupBy with aggregates that depend on the order of rows: several operators, and joins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.expression import Expression
from rtbot.graph.model import Ref
from rtbot.operator import Type
from rtbot.operator.relation import CHANGES, name_argument
from rtbot.operator.schema import Field, Schema
from rtbot.operators.groups import BY_ORDER
from rtbot.relations.region_plan import RegionNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.graph.model import Node
    from rtbot.relations.region_writer import RegionWriter


def write_ordered_group(writer: RegionWriter, node: Node) -> None:
    """Write a GroupBy as one without such aggregates, an operator for each order, and joins."""
    values, target = node.values, node.types["o1"].schema
    assert target is not None
    by = tuple(values["by"])
    plain = tuple(one for one in values["compute"] if one[1] not in BY_ORDER)
    left = _write_plain(writer, node, plain, target)
    source, parts = _find_parts(writer, node)
    for number, (order, items) in enumerate(parts.items()):
        given = writer.streams[source]
        keys = [Field(f"key{number}.{name}", target.fields[target.place(name)].type) for name in by]
        fields = [target.fields[target.place(name)] for name, *_ in items]
        right = writer.add_schema(Schema((*keys, *fields), (tuple(key.name for key in keys),)))
        setting = {
            "by": tuple(map(given.place, by)),
            "order": order,
            "compute": tuple(tuple(rest) for _, *rest in items),
        }
        name = f"{node.id}.order{number}"
        writer.nodes.append(
            RegionNode(name, "GroupBy", "ordered_groups", (source,), right, setting)
        )
        both = Schema((*writer.streams[left].fields, *writer.streams[right].fields))
        streams = left, right, writer.add_schema(both)
        pairs = [(one, key.name) for one, key in zip(by, keys, strict=True)]
        how = "inner" if by else "left"
        left = writer.add_joined(f"{node.id}.join{number}", streams, how, pairs, null_safe=by)
    output = writer.add_stream(Ref(node.id), target)
    trees = [Expression("field", field.type, (), field.name, node.mark) for field in target.fields]
    writer.write_rows(node.id, trees, (left, output))


def _write_plain(writer: RegionWriter, node: Node, plain: tuple[Any, ...], target: Schema) -> int:
    """Write the groups with the aggregates that need no order; return their stream."""
    by = tuple(node.values["by"])
    names = (*by, *(name for name, *_ in plain))
    schema = Schema(tuple(target.fields[target.place(name)] for name in names), (by,))
    groups = replace(
        node,
        id=f"{node.id}.groups",
        values={**node.values, "compute": plain},
        types={**node.types, "o1": Type(CHANGES, schema=schema)},
    )
    writer.write_group(groups)
    return writer.places[Ref(groups.id)]


def _find_parts(writer: RegionWriter, node: Node) -> tuple[int, dict[Any, list[Any]]]:
    """Return the stream of all fields and arguments, and the aggregates of every order."""
    source = writer.places[next(iter(node.inputs.values()))]
    given = writer.streams[source]
    trees = {
        field.name: Expression("field", field.type, (), field.name, node.mark)
        for field in given.fields
    }
    arguments = {
        name: list(_list_arguments(node, name, function))
        for name, function, _ in node.values["compute"]
        if function in BY_ORDER
    }
    more = {
        place: tree
        for found in arguments.values()
        for place, tree, _ in found
        if tree.op != "field"
    }
    schema = given
    if more:
        source, schema = writer.write_projection(node, source, trees | more)
    parts: dict[Any, list[Any]] = {}
    for name, function, _ in node.values["compute"]:
        if function in BY_ORDER:
            (value, _), *order = [
                (schema.place(tree.value if tree.op == "field" else place), down)
                for place, tree, down in arguments[name]
            ]
            separator = node.formulas[name_argument("compute", name, 1)].value
            text = separator if function == "string_agg" else None
            parts.setdefault(tuple(order), []).append((name, function, value, text))
    return source, parts


def _list_arguments(node: Node, name: str, function: str) -> Iterator[tuple[str, Expression, bool]]:
    """Yield the value and the sort keys of an aggregate: formula, tree, whether it descends."""
    place = 0
    while (formula := name_argument("compute", name, place)) in node.formulas:
        tree = node.formulas[formula]
        if not (function == "string_agg" and place == 1):
            down = tree.op == "descending"
            yield formula, tree.args[0] if down else tree, down
        place += 1
