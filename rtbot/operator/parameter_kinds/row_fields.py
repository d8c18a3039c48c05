"""Names of fields of rows: one, several, those of two inputs, a sort order.

What `read` returns has scalars with their places; `resolve` returns names that the rows have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.document_nodes import MappingNode, ScalarNode, SequenceNode
from rtbot.core.errors import graph_error
from rtbot.core.number_text import format_plain
from rtbot.operator.parameter_kinds.parameter import RowParameter
from rtbot.operator.parameter_kinds.schema_texts import build_free_text, build_message

if TYPE_CHECKING:
    from rtbot.core.document_nodes import DocumentNode
    from rtbot.operator.parameter_kinds.contexts import ReadingContext, RowScope, RowTexts
    from rtbot.operator.parameter_kinds.parameter import JsonSchema


@dataclass(kw_only=True)
class FieldName(RowParameter):
    """The name of one field, a text; of a field that the input has not, if it is `new`."""

    type_name: ClassVar[str] = "field"

    new: bool = False

    def describe(self) -> str:
        return "the name of a field"

    def read(self, node: DocumentNode, context: ReadingContext) -> ScalarNode:
        """Return the name of a field; that of a new one has to be allowed."""
        scalar = read_field_name(self.name, node, context)
        if self.new:
            context.check_field_name(scalar.text, scalar.mark)
        return scalar

    def resolve(self, value: str | ScalarNode | None, rows: RowScope) -> str | None:
        """Return a name; that of an input's field has to be there."""
        if value is None or isinstance(value, str):
            return value
        return value.text if self.new else rows.find_read_field(value)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        return build_free_text(self)


class FieldList(RowParameter):
    """The base of lists of fields; an empty one is as none where none is required."""

    def is_absent(self, value: Any) -> bool:
        return value is None or (not value and not self.required)

    def explain(self, value: Any, texts: RowTexts) -> str:
        return self.format(value, None) if value or self.required else ""


@dataclass(kw_only=True)
class Columns(FieldList):
    """Names of fields of the input, a tuple of text; there may be none if `shortest` is 0."""

    type_name: ClassVar[str] = "fields"

    shortest: int = 1

    def describe(self) -> str:
        return "a list of fields"

    def read(self, node: DocumentNode, context: ReadingContext) -> tuple[ScalarNode, ...]:
        """Return the names; one alone needs no brackets."""
        names: list[ScalarNode] = []
        for item in _list_items(node):
            one = read_field_name(self.name, item, context)
            _check_new(one, names)
            names.append(one)
        if len(names) < self.shortest:
            raise graph_error("RT112", node.mark, f"{self.name} names no field", "write [a, b]")
        return tuple(names)

    def resolve(self, value: Any, rows: RowScope) -> tuple[str, ...]:
        return tuple(rows.find_field(one) for one in value or ())

    def build_schema(self, texts: list[str]) -> JsonSchema:
        return build_names(self, self.shortest)


@dataclass(kw_only=True)
class FieldPairs(FieldList):
    """Fields of the two inputs that are compared: names that both have, or {left: right}.

    A node has a tuple of (left, right). There may be `most` pairs.
    """

    type_name: ClassVar[str] = "fields of both"

    most: int = 60

    def describe(self) -> str:
        return "a list of fields of both inputs, or {left: right}"

    def read(
        self, node: DocumentNode, context: ReadingContext
    ) -> tuple[tuple[ScalarNode, ScalarNode], ...]:
        """Return the pairs of names."""
        if isinstance(node, MappingNode):
            pairs = [
                (ScalarNode(left, node.keys[left]), read_field_name(self.name, right, context))
                for left, right in node.items.items()
            ]
        else:
            names = Columns(name=self.name, shortest=0)
            pairs = [(one, one) for one in names.read(node, context)]
        if len(pairs) > self.most:
            message = f"{self.name} has {len(pairs)} fields, more than {self.most}"
            raise graph_error("RT112", node.mark, message)
        if not pairs and self.required:
            raise graph_error("RT112", node.mark, f"{self.name} names no field", "write [a]")
        return tuple(pairs)

    def resolve(self, value: Any, rows: RowScope) -> Any:
        """Return the names of fields of both inputs; None if none are given."""
        return None if value is None else tuple(map(rows.find_pair, value))

    def format(self, value: Any, unit: str | None) -> str:
        """Return names that both have as a list, others as a mapping."""
        pairs = value or ()
        if all(left == right for left, right in pairs):
            return format_plain([left for left, _ in pairs])
        return f"{{{', '.join(f'{left}: {right}' for left, right in pairs)}}}"

    def explain(self, value: Any, texts: RowTexts) -> str:
        return self.format(value, None)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        one = build_free_text(FieldName(name=self.name))
        return one | {
            "type": ["array", "object", *one["type"]],
            "items": one,
            "additionalProperties": one,
            "maxItems": self.most,
            "maxProperties": self.most,
            **build_message(self),
        }


@dataclass(kw_only=True)
class Order(FieldList):
    """Fields by which rows are sorted: `name` ascending, `-name` descending; nulls come last.

    A node has ((name, whether descending), ...). Rows equal in these come in the order of their
    fields, one after another, ascending. There may be none if `shortest` is 0.
    """

    type_name: ClassVar[str] = "sort order"

    shortest: int = 1

    def describe(self) -> str:
        return "a list of fields, each as name or -name"

    def read(self, node: DocumentNode, context: ReadingContext) -> tuple[Any, ...]:
        """Return the names, each with whether it descends."""
        keys: list[tuple[ScalarNode, bool]] = []
        for item in _list_items(node):
            one = read_field_name(self.name, item, context)
            descending = one.text.startswith("-")
            name = ScalarNode(one.text.removeprefix("-"), one.mark)
            _check_new(name, [known for known, _ in keys])
            keys.append((name, descending))
        if len(keys) < self.shortest:
            raise graph_error("RT112", node.mark, f"{self.name} names no field", "write [a, -b]")
        return tuple(keys)

    def resolve(self, value: Any, rows: RowScope) -> tuple[Any, ...]:
        return tuple((rows.find_field(one), descending) for one, descending in value or ())

    def format(self, value: Any, unit: str | None) -> str:
        return f"[{', '.join('-' * descending + name for name, descending in value)}]"

    def build_schema(self, texts: list[str]) -> JsonSchema:
        return build_names(self, self.shortest)


def read_field_name(what: str, node: DocumentNode, context: ReadingContext) -> ScalarNode:
    """Return the name of a field, which may be a parameter of the graph."""
    if not isinstance(node, ScalarNode):
        message = f"{what} is the name of a field, this is {node.form}"
        raise graph_error("RT105", node.mark, message, "write the name without brackets")
    scalar = context.substitute(node)
    if scalar.missing or not isinstance(scalar.text, str):
        raise graph_error("RT105", node.mark, f"{what} has no value", "write the name of a field")
    return ScalarNode(scalar.text, node.mark)


def build_names(parameter: RowParameter, shortest: int) -> JsonSchema:
    """Return the schema of one name, or a list of them."""
    one = build_free_text(FieldName(name=parameter.name))
    return one | {
        "type": ["array", *one["type"]],
        "items": one,
        "minItems": shortest,
        **build_message(parameter),
    }


def _list_items(node: DocumentNode) -> list[DocumentNode]:
    return node.items if isinstance(node, SequenceNode) else [node]


def _check_new(one: ScalarNode, known: list[ScalarNode]) -> None:
    """Raise GraphError if a name is there already."""
    if one.text in [other.text for other in known]:
        message = f"the field {one.text!r} is given twice"
        raise graph_error("RT106", one.mark, message, "keep one of the two")
