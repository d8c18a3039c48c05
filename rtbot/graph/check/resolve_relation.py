"""From a draft of a change operator to a node: schemas of its rows, trees of its expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problem, Problems, suggest_known_name
from rtbot.expression.row_typing import type_aggregate, type_row_expression
from rtbot.expression.window_typing import type_window_function
from rtbot.graph.check.context import hint_known_names
from rtbot.graph.model import Node, Ref
from rtbot.operator import Type
from rtbot.operator.relation import CHANGES, Relation, name_argument
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.expression import Expression, Term
    from rtbot.graph.check.context import Context
    from rtbot.graph.check.drafts import Draft
    from rtbot.graph.document import ScalarNode
    from rtbot.operator.parameter_kinds.row_expressions import RowText


def resolve_relation(draft: Draft, types: Mapping[Ref, Type], context: Context) -> Node:
    """Return the draft of a change operator as a node; raise GraphError if it is wrong."""
    cls = draft.operator
    assert issubclass(cls, Relation)
    given = {port: types[draft.inputs[port]] for port in cls.ports(draft.arity)}
    wrong = list(list_mismatches(draft, given))
    if wrong:
        raise GraphError(wrong)
    schemas = {port: _make_schema(draft, type_, context) for port, type_ in given.items()}
    values, formulas = _RowValues(draft, schemas, context).resolve()
    try:
        if cls.outputs["o1"].kind == CHANGES:
            schema = cls.output_schema(values, schemas, formulas)
            outputs = {"o1": Type(CHANGES, schema=schema)}
        else:
            outputs = cls.output_types(values, given)
    except GraphError as error:
        found = [p if p.mark.line else replace(p, mark=draft.mark) for p in error.problems]
        raise GraphError(found) from None
    return Node(
        id=draft.id,
        operator=cls,
        values=values,
        inputs={port: draft.inputs[port] for port in given},
        types={**given, **outputs},
        formulas=formulas,
        mark=draft.mark,
        doc=draft.doc,
        text=draft.text,
        meta=draft.meta,
    )


def list_mismatches(draft: Draft, given: Mapping[str, Type]) -> Iterator[Problem]:
    """Yield a problem for every port that is fed with a series in place of changes, or reverse."""
    for port, type_ in given.items():
        wants_changes = draft.operator.port(port).kind == CHANGES
        if type_.repeats:
            message = describe_repeats(draft, port, type_.repeats)
            hint = "TopRows keeps the first rows of a table that changes"
            yield Problem("RT125", draft.marks[port], message, hint, draft.id, port)
            continue
        if wants_changes == (type_.kind == CHANGES):
            continue
        source = draft.inputs[port]
        if wants_changes:
            message = f"{draft.id}.{port} takes changes of rows, {source} is a series: {type_}"
            hint = f"make changes of it first: {{type: ToChanges, in: {source.id}, mode: latest}}"
        else:
            message = f"{draft.id}.{port} takes a series, {source} has changes of rows"
            hint = "a change operator reads it as it is"
        yield Problem("RT125", draft.marks[port], message, hint, draft.id, port)


def describe_repeats(draft: Draft, port: str, maker: str) -> str:
    """Return the message of a port that would pair a stream with several messages of one time."""
    return (
        f"{draft.id}.{port} takes one message of each time, "
        f"and {draft.shown[port]} may have several, from {maker}"
    )


def _make_schema(draft: Draft, type_: Type, context: Context) -> Schema:
    """Return the schema of what feeds a port; a series has the key columns and one field."""
    if type_.schema is not None:
        return type_.schema
    named = draft.values["field"]
    field = Field(named if isinstance(named, str) else named.text, Type(type_.kind, type_.nullable))
    return Schema((*context.key_fields, field))


class _RowValues:
    """What the parameters of one operator are, for the rows that its ports take."""

    def __init__(self, draft: Draft, schemas: Mapping[str, Schema], context: Context) -> None:
        self.draft, self.context = draft, context
        self.schema, *others = schemas.values()
        self.other = others[0] if others else self.schema
        assert issubclass(draft.operator, Relation)
        self.scope = draft.operator.expression_schema(schemas)
        self.problems = Problems()
        self.formulas: dict[str, Expression] = {}
        self.parameters: dict[str, Any] = {}
        self.untyped = False

    def resolve(self) -> tuple[dict[str, Any], dict[str, Expression]]:
        """Return the values and trees; raise GraphError with every problem.

        With none, if an expression has no type for a parameter that is wrong where it is declared.
        """
        values = dict(self.draft.values)
        for name, parameter in self.draft.operator.parameters.items():
            values[name] = parameter.resolve(values[name], self)
        if self.problems.found or self.untyped:
            raise GraphError(self.problems.found)
        return values, self.formulas

    def find_pair(self, pair: tuple[ScalarNode, ScalarNode]) -> tuple[str, ...]:
        """Return the names of a field of each input."""
        sides = (self.schema, "left"), (self.other, "right")
        return tuple(self.find_field(one, *side) for one, side in zip(pair, sides, strict=True))

    def find_field(self, scalar: ScalarNode, schema: Schema | None = None, side: str = "") -> str:
        """Return the name of a field of the rows; note one that is not there."""
        name, names = scalar.text, (schema or self.schema).names
        if name not in names:
            hint = suggest_known_name(name, names) or hint_known_names(names)
            if "=" in name:
                hint = "write the fields that are equal: on: [name], or {left: right}"
            message = f"the {side + ' ' if side else ''}rows have no field {name!r}"
            self.problems.add("RT120", scalar.mark, message, hint)
        return name

    def find_read_field(self, scalar: ScalarNode) -> str:
        """Return the name of a field; it has to be there if an input carries changes."""
        reads = any(port.kind == CHANGES for port in self.draft.operator.inputs.values())
        return self.find_field(scalar) if reads else scalar.text

    def type_condition(self, name: str, kind: str, text: RowText) -> str:
        """Type an expression that has to be of a kind, "" for any; return its text."""
        tree = self.type_text(name, text)
        if tree is not None and kind and tree.type.kind != kind:
            message = f"{name} is a {kind}, this one is {tree.type}"
            hint = "compare it, as in x > 0" if kind == "boolean" else ""
            self.problems.add("RT133", text.scalar.place(0), message, hint)
        return text.scalar.text

    def type_text(self, name: str, text: RowText) -> Expression | None:
        """Type an expression; the tree goes to `formulas`."""
        self.find_parameters(text)
        tree = type_row_expression(
            text.term, self.scope, self.problems, text.scalar.place, self.parameters
        )
        if tree is None:
            self.untyped = True
        else:
            self.formulas[name] = tree
        return tree

    def type_aggregates(self, name: str, texts: Mapping[str, RowText]) -> tuple[Any, ...]:
        computed = []
        by = [one.text for one in self.draft.values.get("by") or ()]
        for field, text in texts.items():
            self.find_parameters(text)
            found = type_aggregate(
                text.term, self.schema, self.problems, text.scalar.place, self.parameters
            )
            if field in by:
                message = f"the field {field!r} is one of `by` as well"
                self.problems.add("RT106", text.scalar.mark, message, "choose another name")
            if found is None:
                self.untyped = True
                continue
            computed.append((field, found.function, found.distinct))
            for place, tree in enumerate(found.arguments):
                self.formulas[name_argument(name, field, place)] = tree
        return tuple(computed)

    def type_windows(self, name: str, texts: Mapping[str, RowText]) -> tuple[Any, ...]:
        computed = []
        for field, text in texts.items():
            self.find_parameters(text)
            found = type_window_function(
                text.term, self.schema, self.problems, text.scalar.place, self.parameters
            )
            if field in self.schema.names:
                message = f"the rows have a field {field!r} already"
                self.problems.add("RT106", text.scalar.mark, message, "choose another name")
            if found is None:
                self.untyped = True
                continue
            function, tree, offset, default = found
            computed.append((field, function, offset, default))
            if tree is not None:
                self.formulas[f"{name}.{field}"] = tree
        return tuple(computed)

    def find_parameters(self, text: RowText) -> None:
        """Find the parameters of the graph that an expression names; note those that are wrong."""
        for term in _list_terms(text.term):
            if term.op != "parameter" or term.value in self.parameters:
                continue
            mark = text.scalar.place(term.offset, term.length)
            try:
                self.parameters[term.value] = self.context.parameter(term.value, mark).value
            except GraphError as error:
                self.problems.add_all(error.problems)
                self.draft.poisoned = True


def _list_terms(term: Term) -> Iterator[Term]:
    yield term
    for argument in term.args:
        yield from _list_terms(argument)
