"""What every part of the checker shares: problems, parameters, the unit, closed sets of keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import (
    GraphError,
    Problems,
    describe_non_ascii,
    graph_error,
    join_names,
    suggest_known_name,
)
from rtbot.core.scalar_values import ID, PARAMETER
from rtbot.expression.row_syntax import parse_row_expression
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.diagnosis import suggest_space

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from collections.abc import Mapping as Map

    from rtbot.core.source_span import SourceSpan
    from rtbot.expression import Term
    from rtbot.operator.schema import Field

EXAMPLES = {
    "inputs": "inputs: {price: number}",
    "operators": "operators: {ma: {type: MovingAverage, in: price, window: 20}}",
    "outputs": "outputs: {average: ma}",
    "params": "params: {window: 20}",
    "io": "io: {unit: ms}",
}


@dataclass(frozen=True)
class GraphParameter:
    """A parameter of the graph: its type in the file and its value; `poisoned` if it is wrong."""

    name: str
    kind: str
    value: Any
    mark: SourceSpan
    poisoned: bool = False


@dataclass
class Context:
    """State of one check."""

    problems: Problems
    parameters: dict[str, GraphParameter] = field(default_factory=dict)
    unit: str | None = None
    key_fields: tuple[Field, ...] = ()
    """The run's key columns, which come first in the rows that are made of series."""
    used: set[str] = field(default_factory=set)
    blind: bool = False
    """Parameters that the file meant to give may be missing: an unknown one is not a mistake."""

    def parameter(self, name: str, mark: SourceSpan) -> GraphParameter:
        """Return the parameter `$name`; an unknown one is refused, a wrong one poisons silently."""
        if name not in self.parameters and self.blind:
            raise GraphError([])
        if name not in self.parameters:
            hint = (
                self.problems.suggest_name(name, self.parameters)
                or f"add it: `params: {{{name}: VALUE}}`"
            )
            raise graph_error("RT114", mark, f"unknown parameter ${name}", hint)
        self.used.add(name)
        if self.parameters[name].poisoned:
            raise GraphError([])
        return self.parameters[name]

    def substitute(self, node: ScalarNode) -> ScalarNode:
        """Return the value of `$name`, of its own type; `$$` is a dollar sign."""
        if not isinstance(node.value, str) or not node.value.startswith("$"):
            return node
        if node.value.startswith("$$"):
            return ScalarNode(node.value[1:], node.mark, quoted=True)
        if not PARAMETER.fullmatch(node.value):
            hint = "a parameter is $name as the whole value; a dollar sign is $$"
            raise graph_error("RT114", node.mark, f"{node.value!r} names no parameter", hint)
        return ScalarNode(self.parameter(node.value[1:], node.mark).value, node.mark, quoted=True)

    def parse_row_expression(self, text: str, place: Callable[[int, int], SourceSpan]) -> Term:
        """Return the tree of an expression over rows; raise GraphError if it is none."""
        return parse_row_expression(text, place)

    def check_field_name(self, name: str, mark: SourceSpan) -> None:
        """Raise GraphError unless a field of rows may have this name."""
        check_field_name(name, mark)


def check_field_name(name: str, mark: SourceSpan) -> None:
    """Raise GraphError unless a field of rows may have this name."""
    if not ID.fullmatch(name):
        rule = "a letter, then letters, digits, _ and -, 64 at most"
        hint = describe_non_ascii(name) or suggest_space(name) or rule
        raise graph_error("RT107", mark, f"{name[:80]!r} is not a valid name of a field", hint)


def read_entries(
    node: DocumentNode | None,
    what: str,
    allowed: Collection[str] | None,
    problems: Problems,
    hints: Map[str, str] | None = None,
) -> dict[str, DocumentNode]:
    """Return the entries of a mapping whose keys are a closed set; none if it is no mapping.

    `hints` are where some unknown keys belong.
    """
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        if not (isinstance(node, ScalarNode) and node.missing):
            example = f"write {EXAMPLES[what]}" if what in EXAMPLES else ""
            hint = (suggest_space(node.text) if isinstance(node, ScalarNode) else "") or example
            problems.add("RT105", node.mark, f"{what} is a mapping, this is {node.form}", hint)
        return {}
    if allowed is None:
        return node.items
    for key in node.items:
        if key not in allowed:
            hint = (hints or {}).get(key) or suggest_key(
                key, [k for k in allowed if k not in node.items], problems
            )
            hint = hint or hint_known_names(allowed)
            problems.add("RT104", node.keys[key], f"unknown key {key!r} in {what}", hint)
    return {key: value for key, value in node.items.items() if key in allowed}


def suggest_key(key: str, allowed: Collection[str], problems: Problems) -> str:
    """Return what to try in place of an unknown key: a letter, a space, another name; or ""."""
    return (
        describe_non_ascii(key)
        or suggest_space(key)
        or problems.make_hint(suggest_known_name, key, allowed)
    )


def read_text(node: DocumentNode | None, what: str, problems: Problems) -> str:
    """Return free text, such as a description."""
    if node is None:
        return ""
    if not isinstance(node, ScalarNode):
        problems.add("RT105", node.mark, f"{what} is text, this is {node.form}")
        return ""
    return "" if node.missing else node.text


def to_plain_tree(node: DocumentNode) -> Any:
    """Return a free part of the file, such as `meta`, as Python values; scalars stay text."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [to_plain_tree(item) for item in node.items]
    return {key: to_plain_tree(item) for key, item in node.items.items()}


def check_id(name: str, mark: SourceSpan, what: str, problems: Problems) -> bool:
    """Note an invalid id; return whether it is valid."""
    if ID.fullmatch(name):
        return True
    rule = "a letter, then letters, digits, _ and -, 64 at most"
    hint = describe_non_ascii(name) or suggest_space(name) or rule
    problems.add("RT107", mark, f"{name[:80]!r} is not a valid name of {what}", hint)
    return False


def hint_known_names(names: Collection[str]) -> str:
    """Return a hint that lists the names there are."""
    if len(names) < 2:
        return f"there is only {next(iter(names))}" if names else "there is none"
    return f"there are {join_names(names)}"
