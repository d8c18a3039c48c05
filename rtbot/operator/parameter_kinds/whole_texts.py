"""Texts in a language of their own: frames of window functions, queries, programs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.document_nodes import ScalarNode
from rtbot.core.errors import graph_error
from rtbot.core.scalar_values import PARAMETER
from rtbot.operator.parameter_kinds.parameter import RowParameter

if TYPE_CHECKING:
    from rtbot.core.document_nodes import DocumentNode
    from rtbot.operator.parameter_kinds.contexts import ReadingContext, RowTexts
    from rtbot.operator.parameter_kinds.parameter import JsonSchema

FRAMES = {
    "range": ("range", None, 0),
    "rows": ("rows", None, 0),
    "all": ("rows", None, None),
    "range between unbounded preceding and current row": ("range", None, 0),
    "range between unbounded preceding and unbounded following": ("rows", None, None),
}
"""Frames by their text."""

BLOCK = "write it behind |, on lines of its own, or in quotes"

_BOUND = (
    r"(unbounded preceding|unbounded following|current row|[0-9]{1,18} (?:preceding|following))"
)
_FRAME = re.compile(f"rows between {_BOUND} and {_BOUND}", re.ASCII)


class QuotedText(RowParameter):
    """The base of texts that are often in quotes or behind |."""

    def build_schema(self, texts: list[str]) -> JsonSchema:
        message = f"{self.name} is {self.describe()}, in quotes or behind |"
        return {"type": "string", "minLength": 1, "errorMessage": message}


@dataclass(kw_only=True)
class Frame(QuotedText):
    """The rows that a window function looks at: `range`, `rows`, `all`, or as SQL says it.

    A node has (mode, start, end): "range" or "rows", and how many rows from the current one, None
    for no bound. "range" has no bound or ends with the current row's last peer: (None, 0).
    """

    type_name: ClassVar[str] = "frame"

    def describe(self) -> str:
        return "range, rows, all, or rows between 2 preceding and current row"

    def read(
        self, node: DocumentNode, context: ReadingContext
    ) -> tuple[str, int | None, int | None]:
        """Return the frame as a node has it."""
        if not isinstance(node, ScalarNode):
            raise self.make_form_error(node)
        scalar = context.substitute(node)
        text = " ".join(scalar.text.lower().split())
        if text in FRAMES:
            return FRAMES[text]
        found = _FRAME.fullmatch(text)
        if found is None:
            hint = "of range there is only the frame up to the current row"
            hint = hint if text.startswith("range") else f"{self.describe()} is expected"
            message = f"{self.name} is {scalar.text[:80]!r}"
            raise graph_error("RT112", scalar.mark, message, hint)
        start, end = found.groups()
        offsets = _find_offset(start), _find_offset(end)
        backward = start == "unbounded following" or end == "unbounded preceding"
        if backward or (None not in offsets and offsets[0] > offsets[1]):  # type: ignore[operator]
            raise graph_error("RT112", scalar.mark, f"a frame from {start} to {end} has no rows")
        return "rows", *offsets

    def format(self, value: Any, unit: str | None) -> str:
        """Return the shortest text of the frame."""
        mode, start, end = value
        if (start, end) == (None, 0):
            return str(mode)
        if (start, end) == (None, None):
            return "all"
        bounds = _format_bound(start, "preceding"), _format_bound(end, "following")
        return f"rows between {bounds[0]} and {bounds[1]}"

    def explain(self, value: Any, texts: RowTexts) -> str:
        return "" if value is None else self.format(value, None)


@dataclass(kw_only=True)
class SqlText(QuotedText):
    """An SQL query over the inputs; `$p` in it is a parameter of the graph.

    No node has it: the nodes of the query take the place of the operator.
    """

    type_name: ClassVar[str] = "SQL query"

    def describe(self) -> str:
        return "the text of an SQL query"

    def read(self, node: DocumentNode, context: ReadingContext) -> ScalarNode:
        """Return the text of a query, which may be a parameter of the graph as a whole."""
        if not isinstance(node, ScalarNode):
            raise self.make_form_error(node, BLOCK)
        scalar = _substitute_whole(node, context)
        if scalar.missing or not isinstance(scalar.value, str):
            hint = "write SELECT ... FROM ..."
            raise graph_error("RT105", node.mark, f"{self.name} has no query", hint)
        return scalar


class ProgramText(QuotedText):
    """The base of what a program is given by."""

    def read(self, node: DocumentNode, context: ReadingContext) -> ScalarNode:
        """Return the text, which may be a parameter of the graph as a whole."""
        if not isinstance(node, ScalarNode):
            raise self.make_form_error(node, BLOCK)
        scalar = _substitute_whole(node, context)
        if scalar.missing or not isinstance(scalar.value, str):
            hint = f"{self.name} is {self.describe()}"
            raise graph_error("RT105", node.mark, f"{self.name} has no text", hint)
        return scalar


@dataclass(kw_only=True)
class RulesText(ProgramText):
    """A Datalog program over the inputs, a text."""

    type_name: ClassVar[str] = "Datalog rules"

    def describe(self) -> str:
        return "the text of a Datalog program"

    def explain(self, value: Any, texts: RowTexts) -> str:
        """Return nothing: rules are shown as a whole."""
        return ""


@dataclass(kw_only=True)
class ProgramFile(ProgramText):
    """The path of a Datalog program, beside the graph file or below it."""

    type_name: ClassVar[str] = "file"

    def describe(self) -> str:
        return "the path of a Datalog program"


def _substitute_whole(node: ScalarNode, context: ReadingContext) -> ScalarNode:
    """Return the value of `$name`, if that is all of the text."""
    whole = isinstance(node.value, str) and PARAMETER.fullmatch(node.value)
    return context.substitute(node) if whole else node


def _find_offset(bound: str) -> int | None:
    """Return how many rows after the current one a bound is, None if there is none."""
    if bound.startswith("unbounded"):
        return None
    if bound == "current row":
        return 0
    number, side = bound.split()
    return -int(number) if side == "preceding" else int(number)


def _format_bound(offset: int | None, side: str) -> str:
    if offset is None:
        return f"unbounded {side}"
    if offset == 0:
        return "current row"
    return f"{abs(offset)} {'preceding' if offset < 0 else 'following'}"
