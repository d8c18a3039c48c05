"""A scalar of a graph file as an integer, a number, a boolean or a duration; strict, by hand."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.core.number_text import DURATION_UNITS

if TYPE_CHECKING:
    from rtbot.core.document_nodes import ScalarNode
    from rtbot.core.source_span import SourceSpan

KINDS = ("number", "integer", "boolean", "text")
"""What a single value may be."""

INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
SPECIAL = {
    **dict.fromkeys(("nan", ".nan"), math.nan),
    **dict.fromkeys(("inf", "+inf", ".inf", "+.inf"), math.inf),
    **dict.fromkeys(("-inf", "-.inf"), -math.inf),
}
DURATION = re.compile(r"([+-]?[0-9]{1,19}(?:\.[0-9]{1,19})?) ?(ns|us|ms|s|m|h|d)", re.ASCII)
PARAMETER = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""A parameter of the graph as a whole value."""
ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
"""The id of an input or an operator, the name of a field."""
_DIGITS_MAX = 20
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


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
