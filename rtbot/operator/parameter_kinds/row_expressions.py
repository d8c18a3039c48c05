"""Expressions over the fields of a row: one, several by name, aggregates, window functions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.document_nodes import MappingNode, ScalarNode
from rtbot.core.errors import GraphError, Problem, graph_error
from rtbot.operator.parameter_kinds.parameter import RowParameter
from rtbot.operator.parameter_kinds.schema_texts import (
    build_field_names,
    build_free_text,
    build_message,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.core.document_nodes import DocumentNode
    from rtbot.core.source_span import SourceSpan
    from rtbot.expression import Term
    from rtbot.operator.parameter_kinds.contexts import ReadingContext, RowScope, RowTexts
    from rtbot.operator.parameter_kinds.parameter import JsonSchema

FIELDS_MAX = 1_000


@dataclass(frozen=True)
class RowText:
    """An expression over rows, read and not typed yet."""

    scalar: ScalarNode
    term: Term


@dataclass(kw_only=True)
class RowExpression(RowParameter):
    """An expression over the fields of a row; a node has its text as value, its tree as formula.

    `kind` is what it has to be, "" for any kind.
    """

    type_name: ClassVar[str] = "expression"

    kind: str = ""

    def describe(self) -> str:
        return "an expression over the fields of a row"

    def read(self, node: DocumentNode, context: ReadingContext) -> RowText:
        """Return the expression."""
        return _read_expression(self.name, node, node.mark, context)

    def resolve(self, value: RowText | None, rows: RowScope) -> str | None:
        """Return the text of the expression."""
        return None if value is None else rows.type_condition(self.name, self.kind, value)

    def explain(self, value: Any, texts: RowTexts) -> str:
        return texts.write(self.name)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        return build_free_text(self)


@dataclass(kw_only=True)
class NamedExpressions(RowParameter):
    """The base of mappings of names of fields and what they are."""

    example: ClassVar[str] = "sum(x)"

    def read(self, node: DocumentNode, context: ReadingContext) -> dict[str, RowText]:
        """Return the expressions by name."""
        what = self.name
        if not isinstance(node, MappingNode):
            missing = isinstance(node, ScalarNode) and node.missing
            message = f"{what} is a mapping, this is {'nothing' if missing else node.form}"
            raise graph_error("RT105", node.mark, message, f"write {{name: {self.example}}}")
        if not node.items:
            hint = f"write {{c: {self.example}}}"
            raise graph_error("RT105", node.mark, f"{what} names no field", hint)
        if len(node.items) > FIELDS_MAX:
            raise graph_error("RT108", node.mark, f"more than {FIELDS_MAX:,} fields")
        found: dict[str, RowText] = {}
        problems: list[Problem] = []
        for name, item in node.items.items():
            try:
                context.check_field_name(name, node.keys[name])
                found[name] = _read_expression(name, item, node.keys[name], context)
            except GraphError as error:
                problems += error.problems
        if problems:
            raise GraphError(problems)
        return found

    def explain(self, value: Any, texts: RowTexts) -> str:
        fields = None if value is None else self.list_fields(value, texts)
        return f"{{{', '.join(f'{name}: {text}' for name, text in fields)}}}" if fields else ""

    def build_schema(self, texts: list[str]) -> JsonSchema:
        one = build_free_text(RowExpression(name="an expression"))
        return {
            "type": "object",
            "propertyNames": build_field_names("a field"),
            "additionalProperties": one | {"type": [*one["type"], "null"]},
            "minProperties": 1,
            **build_message(self),
        }


@dataclass(kw_only=True)
class RowFields(NamedExpressions):
    """{name: expression}; a node has the names as value, the trees as formulas `PARAMETER.NAME`."""

    type_name: ClassVar[str] = "expressions by name"
    example: ClassVar[str] = "a + b"

    def describe(self) -> str:
        return "a mapping of names and expressions"

    def resolve(self, value: dict[str, RowText], rows: RowScope) -> tuple[str, ...]:
        """Return the names."""
        for field, text in value.items():
            rows.type_text(f"{self.name}.{field}", text)
        return tuple(value)

    def list_fields(self, value: Any, texts: RowTexts) -> Iterator[tuple[str, str]]:
        return ((field, texts.write(f"{self.name}.{field}")) for field in value)


@dataclass(kw_only=True)
class Computations(NamedExpressions):
    """{name: aggregate}, such as `sum(amount)`.

    A node has ((name, function, distinct), ...) as value, the arguments' trees as formulas (see
    `name_argument`); there is none for `count()`.
    """

    type_name: ClassVar[str] = "aggregates by name"

    def describe(self) -> str:
        return "a mapping of names and aggregates"

    def resolve(self, value: dict[str, RowText] | None, rows: RowScope) -> tuple[Any, ...]:
        """Return (name, function, distinct) of each."""
        return rows.type_aggregates(self.name, value or {})

    def list_fields(self, value: Any, texts: RowTexts) -> Iterator[tuple[str, str]]:
        for field, function, distinct in value:
            places = (name_argument(self.name, field, place) for place in itertools.count())
            arguments = ", ".join(itertools.takewhile(bool, map(texts.write, places)))
            yield field, f"{function}({'distinct ' if distinct else ''}{arguments})"


@dataclass(kw_only=True)
class WindowComputations(NamedExpressions):
    """{name: window function}, such as `rank()` or `lag(x, 1, 0)`.

    A node has ((name, function, offset, default), ...) as value, the arguments' trees as formulas
    `PARAMETER.NAME`; there is none for number, rank, dense_rank and `count()`. The offset is how
    many rows before or after, 0 but for lag and lead; the default is an int, float, bool, str or
    None, of the argument's kind.
    """

    type_name: ClassVar[str] = "window functions by name"

    def describe(self) -> str:
        return "a mapping of names and window functions"

    def resolve(self, value: dict[str, RowText], rows: RowScope) -> tuple[Any, ...]:
        """Return (name, function, offset, default) of each."""
        return rows.type_windows(self.name, value)

    def list_fields(self, value: Any, texts: RowTexts) -> Iterator[tuple[str, str]]:
        for field, function, offset, default in value:
            parts = [texts.write(f"{self.name}.{field}")]
            if function in ("lag", "lead") and (offset != 1 or default is not None):
                parts.append(str(offset))
            if default is not None:
                parts.append(texts.write_constant(default))
            yield field, f"{function}({', '.join(filter(None, parts))})"


def name_argument(parameter: str, name: str, place: int = 0) -> str:
    """Return the name of a formula: `PARAMETER.NAME` is the first argument of an aggregate.

    Those behind it are `PARAMETER[1].NAME` and so on.
    """
    return f"{parameter}[{place}].{name}" if place else f"{parameter}.{name}"


def _read_expression(
    what: str, node: DocumentNode, mark: SourceSpan, context: ReadingContext
) -> RowText:
    if not isinstance(node, ScalarNode):
        message = f"{what} is an expression, this is {node.form}"
        hint = "quote an expression that holds a comma or a brace"
        raise graph_error("RT105", node.mark, message, hint)
    if node.missing and node.text != "null":
        hint = "write an expression over the fields of a row"
        raise graph_error("RT105", mark, f"{what} has no expression", hint)
    text = "null" if node.value is None else node.text
    return RowText(node, context.parse_row_expression(text, node.place))
