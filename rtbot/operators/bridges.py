"""From a series to changes of rows, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error, suggest_known_name
from rtbot.core.source_span import SourceSpan
from rtbot.operator import Choice, Example, In, Out, Type
from rtbot.operator.relation import FieldName, Relation, Rows
from rtbot.operator.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping


class ToChanges(Relation):
    """Rows of the messages of a series: all of them, or the latest of every key.

    The key columns of the run come first in the row, then the value.
    """

    search_terms = "to_table, upsert, changelog"
    mode = Choice(
        options=("append", "latest"),
        doc="append: each message inserts a row; latest: it replaces the row of its key",
    )
    field = FieldName(required=False, default="value", doc="the name of the field of the value")
    i1 = In("T", nullable=True, doc="a series")
    o1 = Out("changes", doc="rows of the key columns and the value")
    example = Example(
        parameters={"mode": "latest", "field": "price"},
        inputs={"i1": [(1, 20.5), (2, 21.0)]},
        outputs={
            "o1": [(1, 1, {"price": 20.5}), (2, -1, {"price": 20.5}), (2, 1, {"price": 21.0})]
        },
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],  # noqa: ARG003
    ) -> Schema:
        """Return the key columns and the value; the key is unique in mode latest."""
        fields = schemas["i1"].fields
        keys = tuple(field.name for field in fields[:-1])
        if values["field"] in keys:
            message = f"the field {values['field']!r} is a key column as well"
            raise graph_error("RT106", SourceSpan(), message, "choose another name: field: NAME")
        return Schema(fields, (keys,) if values["mode"] == "latest" else ())


class ToSeries(Relation):
    """A field of the one row there is, whenever a transaction changes it; null when it went."""

    search_terms = "to_stream, scalar"
    field = FieldName(doc="the field whose values come out")
    i1 = Rows(doc="at most one row at any time")
    o1 = Out("T", nullable=True, doc="the values of the field")
    example = Example(
        parameters={"field": "total"},
        schemas={"i1": {"total": "number"}},
        inputs={"i1": [(1, 1, {"total": 20}), (3, -1, {"total": 20}), (3, 1, {"total": 25})]},
        outputs={"o1": [(1, 20), (3, 25)]},
    )

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """Return the type of the field, nullable; raise GraphError if there is no such field."""
        schema = inputs["i1"].schema
        assert schema is not None
        name = values["field"]
        if name not in schema.names:
            hint = suggest_known_name(name, schema.names) or f"there are {', '.join(schema.names)}"
            raise graph_error("RT120", SourceSpan(), f"the rows have no field {name!r}", hint)
        return {"o1": Type(schema.fields[schema.place(name)].type.kind, nullable=True)}
