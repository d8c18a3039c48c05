"""Set operations on change streams: rows by how often each input has them.

Rows are equal if all their fields are; null is equal to null there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.operator import Boolean, Example, Out, Type
from rtbot.operator.relation import Relation, Rows
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


PRODUCT = {"product": "text"}
"""The fields of the examples."""


class SetOperation(Relation, abstract=True):
    """A set operation; its inputs have fields of the same names and types in the same order."""

    keeps_first: ClassVar[bool] = False
    """Whether rows are those of the first input, whose keys are unique then."""

    all = Boolean(required=False, default=False, doc="count equal rows instead of taking one")
    i = Rows(variadic=True, doc="rows")
    o1 = Out("changes", doc="the rows of the result")

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],  # noqa: ARG003
    ) -> Schema:
        """Return the fields of the inputs, nullable where that of any input is."""
        fields = unite_fields(schemas)
        unique = next(iter(schemas.values())).unique if cls.keeps_first else ()
        if not values["all"]:
            unique = add_key(unique, [field.name for field in fields])
        return Schema(fields, unique)


class Union(SetOperation):
    """Rows that any input has, once; with `all`, as often as all inputs have them together."""

    search_terms = "union_all all: true"
    example = Example(
        schemas={"i1": PRODUCT, "i2": PRODUCT},
        inputs={
            "i1": [(1, 1, {"product": "tea"}), (2, 1, {"product": "salt"})],
            "i2": [(1, 1, {"product": "tea"}), (3, -1, {"product": "tea"})],
        },
        outputs={"o1": [(1, 1, {"product": "tea"}), (2, 1, {"product": "salt"})]},
    )


class Intersect(SetOperation):
    """Rows that every input has, once; with `all`, as often as the input that has fewest."""

    keeps_first = True
    example = Example(
        schemas={"i1": PRODUCT, "i2": PRODUCT},
        inputs={
            "i1": [(1, 1, {"product": "tea"}), (2, 1, {"product": "salt"})],
            "i2": [(1, 1, {"product": "tea"}), (3, -1, {"product": "tea"})],
        },
        outputs={"o1": [(1, 1, {"product": "tea"}), (3, -1, {"product": "tea"})]},
    )


class Except(SetOperation):
    """Rows of the first input that no other has, once; with `all`, the others' copies taken off."""

    search_terms = "set_difference"
    keeps_first = True
    example = Example(
        schemas={"i1": PRODUCT, "i2": PRODUCT},
        inputs={
            "i1": [(1, 1, {"product": "tea"}), (2, 1, {"product": "salt"})],
            "i2": [(1, 1, {"product": "tea"}), (3, -1, {"product": "tea"})],
        },
        outputs={"o1": [(2, 1, {"product": "salt"}), (3, 1, {"product": "tea"})]},
    )


class Distinct(Relation):
    """Every row once, however often the input has it."""

    search_terms = "unique, drop_duplicates"
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="each of them once")
    example = Example(
        schemas={"i1": PRODUCT},
        inputs={"i1": [(1, 2, {"product": "tea"}), (2, -1, {"product": "tea"})]},
        outputs={"o1": [(1, 1, {"product": "tea"})]},
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],  # noqa: ARG003
    ) -> Schema:
        """Return the schema of the input; all fields together are unique."""
        schema = schemas["i1"]
        return Schema(schema.fields, add_key(schema.unique, schema.names))


def add_key(unique: tuple[tuple[str, ...], ...], names: Iterable[str]) -> tuple[Any, ...]:
    """Return unique keys and one more, unless a part of it is unique already."""
    key = tuple(names)
    return unique if any(set(known) <= set(key) for known in unique) else (*unique, key)


def unite_fields(schemas: Mapping[str, Schema]) -> tuple[Field, ...]:
    """Return the fields that all inputs have; raise GraphError where they differ."""
    (first, wanted), *others = schemas.items()
    for port, schema in others:
        given = [(field.name, field.type.kind) for field in schema]
        if given != [(field.name, field.type.kind) for field in wanted]:
            message = f"{port} has the fields {schema}, {first} has {wanted}"
            raise graph_error("RT125", SourceSpan(), message, _hint_at_fields(wanted, schema))
    nullable = [
        any(field.type.nullable for field in row) for row in zip(*schemas.values(), strict=True)
    ]
    return tuple(
        Field(field.name, Type(field.type.kind, null))
        for field, null in zip(wanted, nullable, strict=True)
    )


def _hint_at_fields(wanted: Schema, given: Schema) -> str:
    names = ", ".join(f"{name}: {name}" for name in wanted.names)
    if sorted(wanted.names) == sorted(given.names):
        for name in wanted.names:
            kind = wanted.fields[wanted.place(name)].type.kind
            other = given.fields[given.place(name)].type.kind
            if kind != other:
                return f"{name} is {other}: Select with cast({name} as {kind})"
        return f"put them in order by Select: fields: {{{names}}}"
    return "give both the same fields by Select"
