"""Operators of change streams that look at one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Example, Out
from rtbot.operator.relation import Relation, RowExpression, RowFields, Rows
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.expression import Expression


class Where(Relation):
    """Rows for which a condition is true; not those for which it is false or null."""

    search_terms = "having"
    condition = RowExpression(
        kind="boolean", doc="what is true of the rows that come out, such as `amount > 10`"
    )
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="those for which the condition is true")
    example = Example(
        parameters={"condition": "amount > 10"},
        schemas={"i1": {"id": "integer", "amount": "number"}},
        inputs={"i1": [(1, 1, {"id": 1, "amount": 20}), (1, 1, {"id": 2, "amount": 5})]},
        outputs={"o1": [(1, 1, {"id": 1, "amount": 20})]},
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],  # noqa: ARG003
    ) -> Schema:
        """Return the schema of the input."""
        return schemas["i1"]


class Select(Relation):
    """Rows with other fields: each is an expression over the fields of the input's row."""

    search_terms = "project, with_column, mutate, assign"
    fields = RowFields(doc="{name: expression}, in the order of the new fields")
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="rows of the new fields; as many as come in")
    example = Example(
        parameters={"fields": {"id": "id", "net": "amount * 0.8"}},
        schemas={"i1": {"id": "integer", "amount": "number"}},
        inputs={"i1": [(1, 1, {"id": 1, "amount": 20}), (2, -1, {"id": 1, "amount": 20})]},
        outputs={"o1": [(1, 1, {"id": 1, "net": 16}), (2, -1, {"id": 1, "net": 16})]},
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],
    ) -> Schema:
        """Return the new fields; a key stays unique whose fields are all among them unchanged."""
        trees = {name: formulas[f"fields.{name}"] for name in values["fields"]}
        copies: dict[str, str] = {}
        for name, tree in trees.items():
            if tree.op == "field":
                copies.setdefault(tree.value, name)
        unique = tuple(
            tuple(copies[name] for name in key)
            for key in schemas["i1"].unique
            if all(name in copies for name in key)
        )
        return Schema(tuple(Field(name, tree.type) for name, tree in trees.items()), unique)
