"""From a scalar of the file to a value of the type that its field declares; strict, by hand."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, graph_error, suggest_known_name
from rtbot.core.number_text import DURATION_UNITS
from rtbot.graph.check.context import Context, join_names
from rtbot.graph.document import DocumentNode, ScalarNode, SequenceNode
from rtbot.operator import (
    KINDS,
    Boolean,
    Choice,
    Choices,
    Duration,
    Integer,
    Integers,
    Number,
    Numbers,
    Parameter,
    Points,
    TimeSpan,
    WindowLength,
)
from rtbot.operator.relation import (
    Columns,
    Computations,
    Distance,
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
    from collections.abc import Callable

    from rtbot.core.source_span import SourceSpan

    Reader = Callable[[Any, ScalarNode, Context], Any]

INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
SPECIAL = {
    **dict.fromkeys(("nan", ".nan"), math.nan),
    **dict.fromkeys(("inf", "+inf", ".inf", "+.inf"), math.inf),
    **dict.fromkeys(("-inf", "-.inf"), -math.inf),
}
DURATION = re.compile(r"([+-]?[0-9]{1,19}(?:\.[0-9]{1,19})?) ?(ns|us|ms|s|m|h|d)", re.ASCII)
_DIGITS_MAX = 20
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


@dataclass(kw_only=True)
class TextParameter(Parameter):
    """Any text."""


def convert_value(parameter: Parameter, node: DocumentNode, context: Context) -> Any:
    """Return the value of a parameter, `$name` substituted; raise GraphError if it does not fit."""
    if isinstance(parameter, Numbers):
        return _read_numbers(parameter, node, context)
    if isinstance(parameter, Points):
        return _read_points(parameter, node, context)
    if isinstance(parameter, Choices):
        return _read_choices(parameter, node, context)
    if not isinstance(node, ScalarNode):
        message = f"{parameter.name} is {describe_parameter(parameter)}, this is {node.form}"
        hint = "write the value without brackets" if isinstance(node, SequenceNode) else ""
        raise graph_error("RT105", node.mark, message, hint)
    scalar = context.substitute(node)
    if scalar.missing:
        message = f"{parameter.name} has no value"
        raise graph_error(
            "RT105", node.mark, message, f"{describe_parameter(parameter)} is expected"
        )
    for kind, reader in _READERS.items():
        if isinstance(parameter, kind):
            return _read(reader, parameter, scalar, context)
    raise ValueError(f"the parameter {parameter.name} has no known type: {parameter!r}")


def _read(reader: Reader, parameter: Parameter, scalar: ScalarNode, context: Context) -> Any:
    """Convert a value; one that does not fit may be a parameter of the graph without its `$`."""
    try:
        return reader(parameter, scalar, context)
    except GraphError as error:
        if scalar.text not in (*context.parameters, *KINDS):
            raise
        (problem,) = error.problems
        hint = f"write ${scalar.text} for the parameter of the graph"
        if scalar.text in KINDS:
            hint = f"that is its default; one that has none is {{type: {scalar.text}}}"
        raise GraphError([replace(problem, hint=hint)]) from None


def parse_integer(scalar: ScalarNode) -> int | None:
    """Return the integer that a scalar is, or None; it may be beyond 64 bits."""
    if isinstance(scalar.value, int) and not isinstance(scalar.value, bool):
        return scalar.value
    if not isinstance(scalar.value, str) or not INTEGER.fullmatch(scalar.value):
        return None
    digits = scalar.value.lstrip("+-").lstrip("0") or "0"
    size = int(digits[:_DIGITS_MAX])
    return -size if scalar.value[0] == "-" else size


def parse_number(scalar: ScalarNode, *, special: bool = False) -> float | None:
    """Return the number that a scalar is, or None; `special` allows nan and the infinities."""
    value = scalar.value
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if special and value.lower() in SPECIAL:
            return SPECIAL[value.lower()]
        if not NUMBER.fullmatch(value):
            return None
    elif not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    written_inf = isinstance(value, float) and special
    return result if math.isfinite(result) or written_inf else None


def parse_boolean(scalar: ScalarNode) -> bool | None:
    """Return the boolean that a scalar is, `true` or `false`, or None."""
    if isinstance(scalar.value, bool):
        return scalar.value
    return {"true": True, "false": False}.get(scalar.text) if scalar.value != "" else None


def parse_duration(
    text: str, unit: str | None, mark: SourceSpan, name: str, instead: str = "give an integer"
) -> int | None:
    """Return how many units of `io.unit` a text such as "500ms" is; None if not a duration.

    `instead` is what to do where the graph has no unit.
    """
    found = DURATION.fullmatch(text)
    if not found:
        return None
    if unit is None:
        hint = f"add `io: {{unit: ms}}`, or {instead}"
        raise graph_error("RT115", mark, f"{name} is {text!r}, but the graph has no io.unit", hint)
    from fractions import Fraction

    count = Fraction(found.group(1)) * DURATION_UNITS[found.group(2)] / DURATION_UNITS[unit]
    if count.denominator != 1:
        message = f"{name} is {text!r}, not a whole number of {unit} (io.unit)"
        raise graph_error("RT115", mark, message, "choose a finer io.unit or another duration")
    return int(count)


def _read_integer(parameter: Integer, scalar: ScalarNode, _context: Context) -> Any:
    value = parse_integer(scalar)
    if value is None:
        hint = "it counts messages" if DURATION.fullmatch(scalar.text) else ""
        raise _make_unfit_error(parameter, scalar, hint)
    return _check_range(parameter, scalar, value, parameter.odd)


def _read_number(parameter: Number, scalar: ScalarNode, _context: Context) -> Any:
    value = parse_number(scalar)
    if value is None:
        raise _make_unfit_error(parameter, scalar)
    if parameter.above is not None and value <= parameter.above:
        raise _make_unfit_error(parameter, scalar, code="RT112")
    return _check_range(parameter, scalar, value)


def _read_boolean(parameter: Boolean, scalar: ScalarNode, _context: Context) -> bool:
    value = parse_boolean(scalar)
    if value is None:
        raise _make_unfit_error(parameter, scalar)
    return value


def _read_choice(parameter: Choice, scalar: ScalarNode, _context: Context) -> str:
    text = scalar.text if not isinstance(scalar.value, bool) else scalar.text.lower()
    if text not in parameter.options:
        hint = suggest_known_name(text, parameter.options)
        raise _make_unfit_error(parameter, scalar, hint, "RT112")
    return text


def _read_duration(parameter: Duration, scalar: ScalarNode, context: Context) -> Any:
    value = parse_integer(scalar)
    if value is None:
        value = parse_duration(scalar.text, context.unit, scalar.mark, parameter.name)
    if value is None:
        units = ", ".join(reversed(DURATION_UNITS))
        raise _make_unfit_error(parameter, scalar, f"a number such as 5 or 1.5, and one of {units}")
    return _check_range(parameter, scalar, value)


def _read_window(parameter: WindowLength, scalar: ScalarNode, context: Context) -> Any:
    """Return a count of messages, or a `TimeSpan`: a text, or a parameter that is a duration."""
    count = None if isinstance(scalar.value, TimeSpan) else parse_integer(scalar)
    if count is not None:
        return _check_range(parameter, scalar, count, parameter.odd)
    length: int | None = scalar.value if isinstance(scalar.value, TimeSpan) else None
    if length is None:
        instead = "count messages, with an integer"
        length = parse_duration(scalar.text, context.unit, scalar.mark, parameter.name, instead)
    if length is None:
        raise _make_unfit_error(parameter, scalar)
    if length < 1:
        raise _make_unfit_error(parameter, scalar, code="RT112")
    return TimeSpan(_check_range(Duration(name=parameter.name), scalar, length))


def _read_distance(parameter: Distance, scalar: ScalarNode, context: Context) -> Any:
    value: float | None = parse_integer(scalar)
    if value is None:
        value = parse_duration(scalar.text, context.unit, scalar.mark, parameter.name)
    if value is None:
        value = parse_number(scalar)
    if value is None:
        raise _make_unfit_error(parameter, scalar)
    return _check_range(parameter, scalar, value)


def _read_text(parameter: TextParameter, scalar: ScalarNode, _context: Context) -> str:
    if not isinstance(scalar.value, str):
        raise _make_unfit_error(parameter, scalar)
    return scalar.value


_READERS: dict[type[Parameter], Reader] = {
    Integer: _read_integer,
    Number: _read_number,
    Boolean: _read_boolean,
    Choice: _read_choice,
    Duration: _read_duration,
    WindowLength: _read_window,
    TextParameter: _read_text,
    Distance: _read_distance,
}


def _read_numbers(parameter: Numbers, node: DocumentNode, context: Context) -> tuple[float, ...]:
    if isinstance(node, ScalarNode):
        scalar = context.substitute(node)
        plain = isinstance(scalar.value, tuple) and not isinstance(scalar.value[0], tuple)
        if not plain:
            message = f"{parameter.name} is {describe_parameter(parameter)}, this is {node.form}"
            raise graph_error("RT105", node.mark, message, "write [1, 2, 3]")
        values: tuple[float, ...] = scalar.value
        if isinstance(parameter, Integers):
            values = _read_integers(parameter, values, scalar)
    elif isinstance(node, SequenceNode):
        one = parameter.describe_element()
        values = tuple(convert_value(one, item, context) for item in node.items)
    else:
        message = f"{parameter.name} is {describe_parameter(parameter)}, this is {node.form}"
        raise graph_error("RT105", node.mark, message, "write [1, 2, 3]")
    _check_length(parameter, node, len(values))
    return values


def _read_points(parameter: Points, node: DocumentNode, context: Context) -> tuple[Any, ...]:
    """Return the pairs in order of x; those of one x stay as they are."""
    hint = "write [[0, 1], [2.5, 3]]"
    if isinstance(node, ScalarNode):
        given = context.substitute(node).value
        if isinstance(given, tuple) and all(isinstance(item, tuple) for item in given):
            _check_length(parameter, node, len(given))
            return given
    if not isinstance(node, SequenceNode):
        message = f"{parameter.name} is {describe_parameter(parameter)}, this is {node.form}"
        raise graph_error("RT105", node.mark, message, hint)
    points = []
    for item in node.items:
        count = len(item.items) if isinstance(item, SequenceNode) else 0
        if not isinstance(item, SequenceNode) or count != 2:
            shape = f"a list of {count}" if isinstance(item, SequenceNode) else item.form
            message = f"a point of {parameter.name} is [x, y], two numbers, this is {shape}"
            raise graph_error("RT105", item.mark, message, hint)
        names = (f"the {axis} of a point of {parameter.name}" for axis in "xy")
        pairs = zip(names, item.items, strict=True)
        points.append(
            tuple(convert_value(Number(name=name), part, context) for name, part in pairs)
        )
    _check_length(parameter, node, len(points))
    return tuple(sorted(points, key=itemgetter(0)))


def _check_length(parameter: Numbers | Points, node: DocumentNode, count: int) -> None:
    if count < parameter.shortest:
        message = f"{parameter.name} has {count} elements"
        hint = f"{describe_parameter(parameter)} is expected"
        raise graph_error("RT112", node.mark, message, hint)


def _read_choices(parameter: Choices, node: DocumentNode, context: Context) -> tuple[str, ...]:
    """Return one word or several as a tuple."""
    one = Choice(name=parameter.name, options=parameter.options)
    items = node.items if isinstance(node, SequenceNode) else [node]
    if not items:
        raise graph_error(
            "RT112", node.mark, f"{parameter.name} is empty", describe_parameter(parameter)
        )
    words: list[str] = []
    for item in items:
        word = convert_value(one, item, context)
        if word in words:
            message = f"{parameter.name} has {word} twice"
            raise graph_error("RT112", item.mark, message, "leave one out")
        words.append(word)
    return tuple(words)


def _read_integers(
    parameter: Integers, values: tuple[float, ...], scalar: ScalarNode
) -> tuple[int, ...]:
    """Return the numbers of a parameter of the graph as integers, which they have to be."""
    if not all(value.is_integer() and value >= (parameter.minimum or 0) for value in values):
        message = f"{parameter.name} is {list(values)}"
        hint = f"{describe_parameter(parameter)} is expected"
        raise graph_error("RT113", scalar.mark, message, hint)
    return tuple(map(int, values))


def _check_range(
    parameter: Integer | Number | Duration | WindowLength | Distance,
    scalar: ScalarNode,
    value: Any,
    odd: bool = False,
) -> Any:
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        message = f"{parameter.name} is {_shorten(scalar.text)}, beyond 64 bits"
        raise graph_error(
            "RT134", scalar.mark, message, f"{describe_parameter(parameter)} is expected"
        )
    low, high = parameter.minimum, getattr(parameter, "maximum", None)
    outside = (low is not None and value < low) or (high is not None and value > high)
    if outside or (odd and value % 2 == 0):
        raise _make_unfit_error(parameter, scalar, code="RT112")
    return value


def _make_unfit_error(
    parameter: Parameter, scalar: ScalarNode, hint: str = "", code: str = "RT113"
) -> Exception:
    message = (
        f"{parameter.name} is {_shorten(scalar.text)}, {describe_parameter(parameter)} is expected"
    )
    return graph_error(code, scalar.mark, message, hint)


def _shorten(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    return short if NUMBER.fullmatch(text) or text.isalnum() else repr(short)


LISTS = {Integers: "integers", Numbers: "numbers", Points: "points [x, y]"}
"""What is in the list that a parameter takes, by its class."""


def describe_parameter(parameter: Parameter) -> str:
    """Describe what a parameter takes, with its range."""
    names = {
        Integer: "an odd integer" if getattr(parameter, "odd", False) else "an integer",
        Number: "a number",
        Boolean: "true or false",
        Duration: "a duration such as 500ms",
        TextParameter: "a text",
        Columns: "a list of fields",
        FieldName: "the name of a field",
        FieldPairs: "a list of fields of both inputs, or {left: right}",
        RowExpression: "an expression over the fields of a row",
        RowFields: "a mapping of names and expressions",
        Computations: "a mapping of names and aggregates",
        WindowComputations: "a mapping of names and window functions",
        Order: "a list of fields, each as name or -name",
        Frame: "range, rows, all, or rows between 2 preceding and current row",
        Distance: "an integer, a number or a duration such as -5s",
        SqlText: "the text of an SQL query",
        RulesText: "the text of a Datalog program",
        ProgramFile: "the path of a Datalog program",
    }
    if isinstance(parameter, WindowLength):
        kind = "an odd integer" if parameter.odd else "an integer"
        count = f"{kind} from {parameter.minimum} to {parameter.maximum}"
        return f"{count} or a duration such as 5s"
    if isinstance(parameter, Choice):
        return "one of " + join_names(parameter.options)
    if isinstance(parameter, Choices):
        return f"one or a list of {join_names(parameter.options)}"
    if isinstance(parameter, Numbers | Points):
        what = next(text for kind, text in LISTS.items() if isinstance(parameter, kind))
        return f"a list of at least {parameter.shortest} {what}"
    text = next(name for kind, name in names.items() if isinstance(parameter, kind))
    low, high = getattr(parameter, "minimum", None), getattr(parameter, "maximum", None)
    above = getattr(parameter, "above", None)
    bounds = [f"above {above}" if above is not None else ""]
    bounds += [f"of at least {low}" if low is not None and high is None else ""]
    bounds += [f"of at most {high}" if high is not None and low is None else ""]
    bounds += [f"from {low} to {high}" if low is not None and high is not None else ""]
    return " ".join([text, *(bound for bound in bounds if bound)])
