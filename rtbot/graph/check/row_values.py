"""Parameters of change operators as the file has them: names of fields, expressions over rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problem, describe_non_ascii, graph_error
from rtbot.expression.row_syntax import parse_row_expression
from rtbot.graph.check.context import ID, PARAMETER, Context
from rtbot.graph.check.typed_values import describe_parameter
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.diagnosis import suggest_space
from rtbot.operator.relation import (
    Columns,
    Computations,
    FieldName,
    FieldPairs,
    Frame,
    Order,
    ProgramFile,
    RowExpression,
    RowFields,
    RulesText,
    SqlText,
    WindowComputations,
)

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan
    from rtbot.expression import Term
    from rtbot.operator import Parameter

ROW_PARAMETERS = (
    Columns,
    Computations,
    FieldName,
    FieldPairs,
    Frame,
    Order,
    RowExpression,
    RowFields,
    ProgramFile,
    RulesText,
    SqlText,
    WindowComputations,
)
FIELDS_MAX = 1_000
FRAMES = {
    "range": ("range", None, 0),
    "rows": ("rows", None, 0),
    "all": ("rows", None, None),
    "range between unbounded preceding and current row": ("range", None, 0),
    "range between unbounded preceding and unbounded following": ("rows", None, None),
}
"""Frames by their text."""

_BOUND = (
    r"(unbounded preceding|unbounded following|current row|[0-9]{1,18} (?:preceding|following))"
)
_FRAME = re.compile(f"rows between {_BOUND} and {_BOUND}", re.ASCII)


@dataclass(frozen=True)
class RowText:
    """An expression over rows, read and not typed yet."""

    scalar: ScalarNode
    term: Term


def read_row_value(parameter: Parameter, node: DocumentNode, context: Context) -> Any:
    """Return what a parameter of `ROW_PARAMETERS` has in the file; raise GraphError if it is wrong.

    Columns: a tuple of scalars; FieldPairs: of pairs of scalars; Order: of pairs of a scalar and
    whether it descends; Frame: as a node has it; FieldName, SqlText, RulesText and ProgramFile: a
    scalar; RowExpression: a RowText; RowFields and both Computations: {name: RowText}.
    """
    if isinstance(parameter, Columns):
        return _read_columns(parameter, node, context)
    if isinstance(parameter, FieldPairs):
        return _read_pairs(parameter, node, context)
    if isinstance(parameter, Order):
        return _read_order(parameter, node, context)
    if isinstance(parameter, Frame):
        return _read_frame(parameter, node, context)
    if isinstance(parameter, FieldName):
        return _read_name(parameter, node, context)
    if isinstance(parameter, RowExpression):
        return _read_expression(parameter.name, node, node.mark)
    if isinstance(parameter, SqlText):
        return _read_query(parameter.name, node, context)
    if isinstance(parameter, RulesText | ProgramFile):
        return _read_whole_text(parameter, node, context)
    windows = isinstance(parameter, WindowComputations)
    example = "sum(x)" if windows or isinstance(parameter, Computations) else "a + b"
    return _read_mapping(parameter.name, node, example)


def read_field_name(what: str, node: DocumentNode, context: Context) -> ScalarNode:
    """Return the name of a field, which may be a parameter of the graph."""
    if not isinstance(node, ScalarNode):
        message = f"{what} is the name of a field, this is {node.form}"
        raise graph_error("RT105", node.mark, message, "write the name without brackets")
    scalar = context.substitute(node)
    if scalar.missing or not isinstance(scalar.text, str):
        raise graph_error("RT105", node.mark, f"{what} has no value", "write the name of a field")
    return ScalarNode(scalar.text, node.mark)


def _read_query(what: str, node: DocumentNode, context: Context) -> ScalarNode:
    """Return the text of a query, which may be a parameter of the graph as a whole."""
    if not isinstance(node, ScalarNode):
        message = f"{what} is the text of an SQL query, this is {node.form}"
        hint = "write it behind |, on lines of its own, or in quotes"
        raise graph_error("RT105", node.mark, message, hint)
    whole = isinstance(node.value, str) and PARAMETER.fullmatch(node.value)
    scalar = context.substitute(node) if whole else node
    if scalar.missing or not isinstance(scalar.value, str):
        raise graph_error("RT105", node.mark, f"{what} has no query", "write SELECT ... FROM ...")
    return scalar


def _read_whole_text(
    parameter: RulesText | ProgramFile, node: DocumentNode, context: Context
) -> ScalarNode:
    """Return a text of several lines or a path, which may be a parameter of the graph."""
    name, what = parameter.name, describe_parameter(parameter)
    if not isinstance(node, ScalarNode):
        hint = "write it behind |, on lines of its own, or in quotes"
        raise graph_error("RT105", node.mark, f"{name} is {what}, this is {node.form}", hint)
    whole = isinstance(node.value, str) and PARAMETER.fullmatch(node.value)
    scalar = context.substitute(node) if whole else node
    if scalar.missing or not isinstance(scalar.value, str):
        raise graph_error("RT105", node.mark, f"{name} has no text", f"{name} is {what}")
    return scalar


def _read_columns(
    parameter: Columns, node: DocumentNode, context: Context
) -> tuple[ScalarNode, ...]:
    items: list[DocumentNode] = node.items if isinstance(node, SequenceNode) else [node]
    names: list[ScalarNode] = []
    for item in items:
        one = read_field_name(parameter.name, item, context)
        if one.text in [known.text for known in names]:
            message = f"the field {one.text!r} is given twice"
            raise graph_error("RT106", one.mark, message, "keep one of the two")
        names.append(one)
    if len(names) < parameter.shortest:
        raise graph_error("RT112", node.mark, f"{parameter.name} names no field", "write [a, b]")
    return tuple(names)


def _read_pairs(
    parameter: FieldPairs, node: DocumentNode, context: Context
) -> tuple[tuple[ScalarNode, ScalarNode], ...]:
    if isinstance(node, MappingNode):
        pairs = [
            (ScalarNode(left, node.keys[left]), read_field_name(parameter.name, right, context))
            for left, right in node.items.items()
        ]
    else:
        names = Columns(name=parameter.name, shortest=0)
        pairs = [(one, one) for one in _read_columns(names, node, context)]
    if len(pairs) > parameter.most:
        message = f"{parameter.name} has {len(pairs)} fields, more than {parameter.most}"
        raise graph_error("RT112", node.mark, message)
    if not pairs and parameter.required:
        raise graph_error("RT112", node.mark, f"{parameter.name} names no field", "write [a]")
    return tuple(pairs)


def _read_name(parameter: FieldName, node: DocumentNode, context: Context) -> ScalarNode:
    """Return the name of a field; that of a new one has to be allowed."""
    scalar = read_field_name(parameter.name, node, context)
    if parameter.new:
        check_field_name(scalar.text, scalar.mark)
    return scalar


def _read_order(
    parameter: Order, node: DocumentNode, context: Context
) -> tuple[tuple[ScalarNode, bool], ...]:
    items: list[DocumentNode] = node.items if isinstance(node, SequenceNode) else [node]
    keys: list[tuple[ScalarNode, bool]] = []
    for item in items:
        one = read_field_name(parameter.name, item, context)
        descending = one.text.startswith("-")
        name = ScalarNode(one.text.removeprefix("-"), one.mark)
        if name.text in [known.text for known, _ in keys]:
            message = f"the field {name.text!r} is given twice"
            raise graph_error("RT106", one.mark, message, "keep one of the two")
        keys.append((name, descending))
    if len(keys) < parameter.shortest:
        raise graph_error("RT112", node.mark, f"{parameter.name} names no field", "write [a, -b]")
    return tuple(keys)


def _read_frame(
    parameter: Frame, node: DocumentNode, context: Context
) -> tuple[str, int | None, int | None]:
    what = describe_parameter(parameter)
    if not isinstance(node, ScalarNode):
        raise graph_error("RT105", node.mark, f"{parameter.name} is {what}, this is {node.form}")
    scalar = context.substitute(node)
    text = " ".join(scalar.text.lower().split())
    if text in FRAMES:
        return FRAMES[text]
    found = _FRAME.fullmatch(text)
    if found is None:
        hint = "of range there is only the frame up to the current row"
        hint = hint if text.startswith("range") else f"{what} is expected"
        message = f"{parameter.name} is {scalar.text[:80]!r}"
        raise graph_error("RT112", scalar.mark, message, hint)
    start, end = found.groups()
    offsets = _find_offset(start), _find_offset(end)
    backward = start == "unbounded following" or end == "unbounded preceding"
    if backward or (None not in offsets and offsets[0] > offsets[1]):  # type: ignore[operator]
        raise graph_error("RT112", scalar.mark, f"a frame from {start} to {end} has no rows")
    return "rows", *offsets


def _find_offset(bound: str) -> int | None:
    """Return how many rows after the current one a bound is, None if there is none."""
    if bound.startswith("unbounded"):
        return None
    if bound == "current row":
        return 0
    number, side = bound.split()
    return -int(number) if side == "preceding" else int(number)


def _read_mapping(what: str, node: DocumentNode, example: str) -> dict[str, RowText]:
    if not isinstance(node, MappingNode):
        missing = isinstance(node, ScalarNode) and node.missing
        message = f"{what} is a mapping, this is {'nothing' if missing else node.form}"
        raise graph_error("RT105", node.mark, message, f"write {{name: {example}}}")
    if not node.items:
        raise graph_error("RT105", node.mark, f"{what} names no field", f"write {{c: {example}}}")
    if len(node.items) > FIELDS_MAX:
        raise graph_error("RT108", node.mark, f"more than {FIELDS_MAX:,} fields")
    found: dict[str, RowText] = {}
    problems: list[Problem] = []
    for name, item in node.items.items():
        try:
            check_field_name(name, node.keys[name])
            found[name] = _read_expression(name, item, node.keys[name])
        except GraphError as error:
            problems += error.problems
    if problems:
        raise GraphError(problems)
    return found


def check_field_name(name: str, mark: SourceSpan) -> None:
    """Raise GraphError unless a field of rows may have this name."""
    if not ID.fullmatch(name):
        rule = "a letter, then letters, digits, _ and -, 64 at most"
        hint = describe_non_ascii(name) or suggest_space(name) or rule
        raise graph_error("RT107", mark, f"{name[:80]!r} is not a valid name of a field", hint)


def _read_expression(what: str, node: DocumentNode, mark: SourceSpan) -> RowText:
    if not isinstance(node, ScalarNode):
        message = f"{what} is an expression, this is {node.form}"
        hint = "quote an expression that holds a comma or a brace"
        raise graph_error("RT105", node.mark, message, hint)
    if node.missing and node.text != "null":
        hint = "write an expression over the fields of a row"
        raise graph_error("RT105", mark, f"{what} has no expression", hint)
    text = "null" if node.value is None else node.text
    return RowText(node, parse_row_expression(text, node.place))
