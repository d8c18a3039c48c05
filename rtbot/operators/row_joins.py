"""Joins of change streams: pairs of rows, and rows by whether there is a pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.operator import Choice, Example, Out, Type
from rtbot.operator.relation import Columns, FieldPairs, Relation, RowExpression, Rows
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.expression import Expression

HOW = ("inner", "left", "right", "full", "semi", "anti", "cross")

ORDERS = {"id": "integer", "cust": "integer"}
CUSTOMERS = {"cust": "integer", "region": "text"}
"""The fields of the examples."""


class JoinRows(Relation):
    """Pairs of a left and a right row with equal keys; by `how`, rows without a partner as well.

    left, right and full: a row of that side without a partner comes out once, with nulls for the
    other side. semi: the left rows that have a partner; anti: those that have none.
    """

    search_terms = "semi_join, anti_join, exists how: semi"
    on = FieldPairs(
        required=False, doc="fields that are equal: names, or {left: right}; [] if there are none"
    )
    how = Choice(options=HOW, default="inner", doc="which rows come out")
    null_safe = Columns(
        required=False, shortest=0, doc="left fields of `on` in which null equals null"
    )
    condition = RowExpression(
        required=False, kind="boolean", doc="what is true of a pair as well; right fields are named"
        " as in the output"
    )  # fmt: skip
    i1 = Rows(alias="left", doc="left rows")
    i2 = Rows(alias="right", doc="right rows")
    o1 = Out("changes", doc="the fields of the left row, then those of the right one")
    example = Example(
        parameters={"on": ["cust"], "how": "left"},
        schemas={"i1": ORDERS, "i2": CUSTOMERS},
        inputs={
            "i1": [(1, 1, {"id": 7, "cust": 1})],
            "i2": [(2, 1, {"cust": 1, "region": "north"})],
        },
        outputs={
            "o1": [
                (1, 1, {"id": 7, "cust": 1, "cust_2": None, "region": None}),
                (2, -1, {"id": 7, "cust": 1, "cust_2": None, "region": None}),
                (2, 1, {"id": 7, "cust": 1, "cust_2": 1, "region": "north"}),
            ]
        },
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """Return what is wrong with the parameters together."""
        how, on, condition = values["how"], values["on"], values["condition"]
        if how == "cross" and (on or condition is not None):
            return ["a cross join takes neither `on` nor a condition: how: inner does"]
        if how != "cross" and on is None and condition is None:
            return ["JoinRows has neither `on` nor a condition: write on: [field], or how: cross"]
        keys = {left.text for left, _ in on or ()}
        return [
            f"null_safe has {one.text!r}, which is no left field of `on`"
            for one in values["null_safe"] or ()
            if one.text not in keys
        ]

    @classmethod
    def expression_schema(cls, schemas: Mapping[str, Schema]) -> Schema:
        """Return the fields of a pair, as the condition names them."""
        return make_pair(schemas, "inner")

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],  # noqa: ARG003
    ) -> Schema:
        """Return the fields of a pair, those of a side that may be missing nullable."""
        compare_keys(values["on"] or (), schemas)
        how = values["how"]
        if how in ("semi", "anti"):
            return schemas["i1"]
        pair = make_pair(schemas, how)
        return Schema(pair.fields, find_unique(how, values["on"] or (), schemas))


class NotIn(Relation):
    """Left rows whose field is in no right row, by the rule of SQL: nothing is known of a null.

    All left rows if there is no right row. Else none whose field is null, and none at all if the
    field of a right row is null.
    """

    search_terms = "null_aware_anti_join"
    on = FieldPairs(most=1, doc="the field: its name, or {left: right}")
    by = FieldPairs(
        required=False, doc="compare with the right rows only whose fields here are equal"
    )
    i1 = Rows(alias="left", doc="left rows")
    i2 = Rows(alias="right", doc="right rows")
    o1 = Out("changes", doc="the left rows that are not in")
    example = Example(
        parameters={"on": ["cust"]},
        schemas={"i1": {"cust": "integer?"}, "i2": {"cust": "integer?"}},
        inputs={
            "i1": [(1, 1, {"cust": 1}), (1, 1, {"cust": 2})],
            "i2": [(1, 1, {"cust": 2}), (2, 1, {"cust": None})],
        },
        outputs={"o1": [(1, 1, {"cust": 1}), (2, -1, {"cust": 1})]},
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],  # noqa: ARG003
    ) -> Schema:
        """Return the schema of the left rows."""
        compare_keys((*values["on"], *(values["by"] or ())), schemas)
        return schemas["i1"]


def name_right_fields(left: Iterable[str], right: Iterable[str]) -> list[str]:
    """Return the names of right fields in the output: one that is taken gets _2, or the next."""
    taken, own = set(left), set(right)
    names = []
    for name in right:
        made, number = name, 2
        while made in taken or (made != name and made in own):
            made, number = f"{name}_{number}", number + 1
        taken.add(made)
        names.append(made)
    return names


def make_pair(schemas: Mapping[str, Schema], how: str) -> Schema:
    """Return the fields of a left and a right row, those of a side that may be missing nullable."""
    left, right = schemas["i1"], schemas["i2"]
    names = name_right_fields(left.names, right.names)
    renamed = (Field(name, field.type) for name, field in zip(names, right, strict=True))
    lefts, rights = _pad(left, how in ("right", "full")), _pad(renamed, how in ("left", "full"))
    return Schema((*lefts, *rights))


def compare_keys(on: Iterable[tuple[str, str]], schemas: Mapping[str, Schema]) -> None:
    """Raise GraphError where fields of different types are to be equal."""
    left, right = schemas["i1"], schemas["i2"]
    for one, other in on:
        kinds = [s.fields[s.place(n)].type.kind for s, n in ((left, one), (right, other))]
        if kinds[0] != kinds[1]:
            message = f"{one} is {kinds[0]} in the left rows, {other} is {kinds[1]} in the right"
            hint = f"Select with cast({other} as {kinds[0]}) before the join"
            raise graph_error("RT125", SourceSpan(), message, hint)


def find_unique(
    how: str, on: Iterable[tuple[str, str]], schemas: Mapping[str, Schema]
) -> tuple[tuple[str, ...], ...]:
    """Return the unique keys of pairs.

    Those of one side are unique still if a row of it has one partner at most, and no padded row of
    the other side has nulls there. Else a key of each side together are.
    """
    left, right = schemas["i1"], schemas["i2"]
    pair = make_pair(schemas, "inner")
    renamed = dict(zip(right.names, pair.names[len(left) :], strict=True))
    keys = {side: {names[side] for names in on} for side in range(2)}
    one_left = any(set(key) <= keys[0] for key in left.unique)
    one_right = any(set(key) <= keys[1] for key in right.unique)
    lefts = list(left.unique)
    rights = [tuple(renamed[name] for name in key) for key in right.unique]
    found: list[tuple[str, ...]] = []
    if one_right and how in ("inner", "cross", "left"):
        found += lefts
    if one_left and how in ("inner", "cross", "right"):
        found += rights
    if not found:
        found = [(*one, *other) for one in lefts for other in rights]
        if how == "full":
            found = [key for key in found if _is_told_apart(key, pair)]
    return tuple(dict.fromkeys(found))


def _is_told_apart(key: tuple[str, ...], pair: Schema) -> bool:
    """Return whether a padded row differs from all others in a key: a field of it is never null."""
    return any(not pair.fields[pair.place(name)].type.nullable for name in key)


def _pad(fields: Iterable[Field], padded: bool) -> list[Field]:
    return [Field(f.name, Type(f.type.kind, f.type.nullable or padded)) for f in fields]
