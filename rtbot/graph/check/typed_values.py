"""From a scalar of the file to a value of the type that its field declares; strict, by hand."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, nearest_of_ours, refused
from rtbot.graph.check.context import Context, listed
from rtbot.graph.document import Node, Scalar, Sequence
from rtbot.operator import KINDS, Boolean, Choice, Duration, Integer, Number, Numbers, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.core.source_span import Mark

    Reader = Callable[[Any, Scalar, Context], Any]

INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
SPECIAL = {
    **dict.fromkeys(("nan", ".nan"), math.nan),
    **dict.fromkeys(("inf", "+inf", ".inf", "+.inf"), math.inf),
    **dict.fromkeys(("-inf", "-.inf"), -math.inf),
}
UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
DURATION = re.compile(r"([+-]?[0-9]{1,19}(?:\.[0-9]{1,19})?) ?(ns|us|ms|s|m|h|d)", re.ASCII)
_DIGITS_MAX = 20
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


@dataclass(kw_only=True)
class Text(Parameter):
    """Any text."""


def convert(parameter: Parameter, node: Node, context: Context) -> Any:
    """Return the value of a parameter, `$name` substituted; raise GraphError if it does not fit."""
    if isinstance(parameter, Numbers):
        return _numbers(parameter, node, context)
    if not isinstance(node, Scalar):
        message = f"{parameter.name} is {described(parameter)}, this is {node.form}"
        hint = "write the value without brackets" if isinstance(node, Sequence) else ""
        raise refused("RT105", node.mark, message, hint)
    scalar = context.substituted(node)
    if scalar.missing:
        message = f"{parameter.name} has no value"
        raise refused("RT105", node.mark, message, f"{described(parameter)} is expected")
    for kind, reader in _READERS.items():
        if isinstance(parameter, kind):
            return _read(reader, parameter, scalar, context)
    raise ValueError(f"the parameter {parameter.name} has no known type: {parameter!r}")


def _read(reader: Reader, parameter: Parameter, scalar: Scalar, context: Context) -> Any:
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


def integer(scalar: Scalar) -> int | None:
    """Return the integer that a scalar is, or None; it may be beyond 64 bits."""
    if isinstance(scalar.value, int) and not isinstance(scalar.value, bool):
        return scalar.value
    if not isinstance(scalar.value, str) or not INTEGER.fullmatch(scalar.value):
        return None
    digits = scalar.value.lstrip("+-").lstrip("0") or "0"
    size = int(digits[:_DIGITS_MAX])
    return -size if scalar.value[0] == "-" else size


def number(scalar: Scalar, *, special: bool = False) -> float | None:
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


def boolean(scalar: Scalar) -> bool | None:
    """Return the boolean that a scalar is, `true` or `false`, or None."""
    if isinstance(scalar.value, bool):
        return scalar.value
    return {"true": True, "false": False}.get(scalar.text) if scalar.value != "" else None


def duration(text: str, unit: str | None, mark: Mark, name: str) -> int | None:
    """Return how many units of `io.unit` a text such as "500ms" is; None if it is no duration."""
    found = DURATION.fullmatch(text)
    if not found:
        return None
    if unit is None:
        hint = "add `io: {unit: ms}`, or give an integer"
        raise refused("RT115", mark, f"{name} is {text!r}, but the graph has no io.unit", hint)
    from fractions import Fraction

    count = Fraction(found.group(1)) * UNITS[found.group(2)] / UNITS[unit]
    if count.denominator != 1:
        message = f"{name} is {text!r}, not a whole number of {unit} (io.unit)"
        raise refused("RT115", mark, message, "choose a finer io.unit or another duration")
    return int(count)


def _read_integer(parameter: Integer, scalar: Scalar, _context: Context) -> Any:
    value = integer(scalar)
    if value is None:
        hint = "windows of time come later" if DURATION.fullmatch(scalar.text) else ""
        raise _unfit(parameter, scalar, hint)
    return _within(parameter, scalar, value, parameter.odd)


def _read_number(parameter: Number, scalar: Scalar, _context: Context) -> Any:
    value = number(scalar)
    if value is None:
        raise _unfit(parameter, scalar)
    if parameter.above is not None and value <= parameter.above:
        raise _unfit(parameter, scalar, code="RT112")
    return _within(parameter, scalar, value)


def _read_boolean(parameter: Boolean, scalar: Scalar, _context: Context) -> bool:
    value = boolean(scalar)
    if value is None:
        raise _unfit(parameter, scalar)
    return value


def _read_choice(parameter: Choice, scalar: Scalar, _context: Context) -> str:
    text = scalar.text if not isinstance(scalar.value, bool) else scalar.text.lower()
    if text not in parameter.options:
        hint = nearest_of_ours(text, parameter.options)
        raise _unfit(parameter, scalar, hint, "RT112")
    return text


def _read_duration(parameter: Duration, scalar: Scalar, context: Context) -> Any:
    value = integer(scalar)
    if value is None:
        value = duration(scalar.text, context.unit, scalar.mark, parameter.name)
    if value is None:
        raise _unfit(parameter, scalar, f"a number such as 5 or 1.5, and one of {', '.join(UNITS)}")
    return _within(parameter, scalar, value)


def _read_text(parameter: Text, scalar: Scalar, _context: Context) -> str:
    if not isinstance(scalar.value, str):
        raise _unfit(parameter, scalar)
    return scalar.value


_READERS: dict[type[Parameter], Reader] = {
    Integer: _read_integer,
    Number: _read_number,
    Boolean: _read_boolean,
    Choice: _read_choice,
    Duration: _read_duration,
    Text: _read_text,
}


def _numbers(parameter: Numbers, node: Node, context: Context) -> tuple[float, ...]:
    if isinstance(node, Scalar):
        scalar = context.substituted(node)
        if not isinstance(scalar.value, tuple):
            message = f"{parameter.name} is {described(parameter)}, this is {node.form}"
            raise refused("RT105", node.mark, message, "write [1, 2, 3]")
        values = scalar.value
    elif isinstance(node, Sequence):
        one = Number(name=f"an element of {parameter.name}")
        values = tuple(convert(one, item, context) for item in node.items)
    else:
        message = f"{parameter.name} is {described(parameter)}, this is {node.form}"
        raise refused("RT105", node.mark, message, "write [1, 2, 3]")
    if len(values) < parameter.shortest:
        message = f"{parameter.name} has {len(values)} elements"
        hint = f"{described(parameter)} is expected"
        raise refused("RT112", node.mark, message, hint)
    return values


def _within(
    parameter: Integer | Number | Duration, scalar: Scalar, value: Any, odd: bool = False
) -> Any:
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        message = f"{parameter.name} is {_cut(scalar.text)}, beyond 64 bits"
        raise refused("RT134", scalar.mark, message, f"{described(parameter)} is expected")
    low, high = parameter.minimum, parameter.maximum
    outside = (low is not None and value < low) or (high is not None and value > high)
    if outside or (odd and value % 2 == 0):
        raise _unfit(parameter, scalar, code="RT112")
    return value


def _unfit(parameter: Parameter, scalar: Scalar, hint: str = "", code: str = "RT113") -> Exception:
    message = f"{parameter.name} is {_cut(scalar.text)}, {described(parameter)} is expected"
    return refused(code, scalar.mark, message, hint)


def _cut(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    return short if NUMBER.fullmatch(text) or text.isalnum() else repr(short)


def described(parameter: Parameter) -> str:
    """Say what a parameter takes, with its range."""
    names = {
        Integer: "an odd integer" if getattr(parameter, "odd", False) else "an integer",
        Number: "a number",
        Boolean: "true or false",
        Duration: "a duration such as 500ms",
        Text: "a text",
    }
    if isinstance(parameter, Choice):
        return "one of " + listed(parameter.options)
    if isinstance(parameter, Numbers):
        return f"a list of at least {parameter.shortest} numbers"
    text = next(name for kind, name in names.items() if isinstance(parameter, kind))
    low, high = getattr(parameter, "minimum", None), getattr(parameter, "maximum", None)
    above = getattr(parameter, "above", None)
    bounds = [f"above {above}" if above is not None else ""]
    bounds += [f"of at least {low}" if low is not None and high is None else ""]
    bounds += [f"of at most {high}" if high is not None and low is None else ""]
    bounds += [f"from {low} to {high}" if low is not None and high is not None else ""]
    return " ".join([text, *(bound for bound in bounds if bound)])
