"""What kinds of parameters may use of the graph around them; the checker and explanations have it.

These are protocols as kinds are declared below the graph and its expressions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.core.document_nodes import ScalarNode
    from rtbot.core.source_span import SourceSpan
    from rtbot.expression import Expression, Term
    from rtbot.operator.parameter_kinds.row_expressions import RowText


class ReadingContext(Protocol):
    """What reading a value may use."""

    unit: str | None
    """`io.unit`, what an integer time counts."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the graph by name."""

    def substitute(self, node: ScalarNode) -> ScalarNode:
        """Return the value of `$name` in place of it, of its own type; others as they are."""

    def parse_row_expression(self, text: str, place: Callable[[int, int], SourceSpan]) -> Term:
        """Return the tree of an expression over rows; raise GraphError if it is none."""

    def check_field_name(self, name: str, mark: SourceSpan) -> None:
        """Raise GraphError unless a field of rows may have this name."""


class RowScope(Protocol):
    """The rows that a change operator takes: names of fields are found, expressions typed.

    Problems are noted, and all are reported together.
    """

    def find_field(self, scalar: ScalarNode) -> str:
        """Return the name of a field of the first input; note one that is not there."""

    def find_read_field(self, scalar: ScalarNode) -> str:
        """Return the name of a field; it has to be there if an input carries changes."""

    def find_pair(self, pair: tuple[ScalarNode, ScalarNode]) -> tuple[str, ...]:
        """Return the names of a field of each input."""

    def type_text(self, name: str, text: RowText) -> Expression | None:
        """Type an expression, whose tree is the formula of this name."""

    def type_condition(self, name: str, kind: str, text: RowText) -> str:
        """Type an expression that has to be of a kind, "" for any; return its text."""

    def type_aggregates(self, name: str, texts: Mapping[str, RowText]) -> tuple[Any, ...]:
        """Type aggregates; return (field, function, distinct) of each."""

    def type_windows(self, name: str, texts: Mapping[str, RowText]) -> tuple[Any, ...]:
        """Type window functions; return (field, function, offset, default) of each."""


class RowTexts(Protocol):
    """The expressions of a checked node as text."""

    def write(self, name: str) -> str:
        """Return the formula of this name, "" if there is none."""

    def write_constant(self, value: float | str) -> str:
        """Return a constant as an expression has it."""
