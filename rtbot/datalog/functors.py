"""What functors and operations compute, for one row, in plain Python.

Numbers are of 64 bits and never wrap: a result beyond them is an error, as is a division by zero.
Floats follow IEEE 754. Bit operations and shifts act on the 64 bits of a number.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from typing import TYPE_CHECKING, cast

from rtbot.datalog.program import FLOAT, NUMBER, UNSIGNED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.datalog.program import Value

MASK = 2**64 - 1
LIMITS = {NUMBER: (-(2**63), 2**63 - 1), UNSIGNED: (0, MASK)}
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf|nan")
_PATTERN_PART = re.compile(r"\\.|\[:(\w*):\]|[\[\]{]", re.DOTALL)
_REPETITION = re.compile(r"\{(?:\d+(?:,\d*)?|,\d+)\}")
_CLASSES = {
    "digit": "0-9",
    "d": "0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "alpha": "A-Za-z",
    "alnum": "0-9A-Za-z",
    "w": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
    "blank": r" \t",
    "space": r" \t-\r",
    "s": r" \t-\r",
    "punct": "!-/:-@\\[-`{-~",
    "graph": "!-~",
    "print": " -~",
    "cntrl": r"\x00-\x1f\x7f",
}
"""What `[:name:]` means in a set of a pattern, as a part of a set of Python's."""

DIGITS_MAX = 400


class FunctorError(Exception):
    """A functor has no result for its arguments; `hint` is what to try."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def compute_functor(functor: str, type_: str, values: Sequence[Value]) -> Value:
    """Return the result of a functor; `type_` is the type of its first argument.

    Raises FunctorError for a result beyond 64 bits, a division by zero, a shift by less than 0 or
    more than 63, and a text that is no number.
    """
    if functor in ("min", "max"):
        choose: Callable[..., Value] = min if functor == "min" else max
        return choose(values, key=order_value)
    if functor == "cat":
        return "".join(map(str, values))
    if functor == "strlen":
        return len(str(values[0]))
    if functor == "substr":
        text, start, length = cast("tuple[str, int, int]", values)
        return cut_text(text, start, length)
    if functor.startswith("to_"):
        return convert_to_type(functor.removeprefix("to_"), type_, values[0])
    if type_ == FLOAT:
        return _compute_float(functor, [float(value) for value in values])
    return _compute_integer(functor, type_, [int(value) for value in values])


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a regular expression; raise FunctorError if the text is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of sets in sets
            return re.compile(_name_classes(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise FunctorError(f"{_shorten(pattern)} is no regular expression: {error}") from None


def _name_classes(pattern: str) -> str:
    """Return a pattern whose sets have characters in place of classes such as `[:digit:]`.

    Raises re.error for a `{` that begins no repetition: Python takes it as a character.
    """
    if "[:" not in pattern and "{" not in pattern:
        return pattern
    begin = 0  # the first place in the set, 0 outside of one

    def replace(found: re.Match[str]) -> str:
        nonlocal begin
        text, name = found[0], found[1]
        if not begin:
            if text == "[":
                begin = found.end() + pattern.startswith("^", found.end())
            elif text == "{" and not _REPETITION.match(pattern, found.start()):
                raise re.error("a { that begins no repetition", pattern, found.start())
        elif name is not None:
            if name not in _CLASSES:
                raise re.error(f"no characters are named {text}")
            return _CLASSES[name]
        elif text == "]" and found.start() > begin:
            begin = 0
        return text

    return _PATTERN_PART.sub(replace, pattern)


def order_value(value: Value) -> tuple[bool, Value]:
    """Return a key that orders values of one type: by value, NaN last, texts by code point."""
    is_nan = value != value
    return (is_nan, 0 if is_nan else value)


def cut_text(text: str, start: int, length: int) -> str:
    """Return `length` characters from `start` on, all that there are if it is negative.

    A start outside of the text gives an empty text.
    """
    if not 0 <= start <= len(text):
        return ""
    return text[start:] if length < 0 else text[start : start + length]


def convert_to_type(target: str, type_: str, value: Value) -> Value:
    """Return a value as one of another type: `to_number`, `to_string` and so on."""
    if target == "string":
        return value if isinstance(value, str) else write_value(value)
    if target == FLOAT:
        return _parse_float(value) if isinstance(value, str) else float(value)
    if isinstance(value, str):
        number = parse_integer(value)
        if number is None:
            raise FunctorError(f"{_shorten(value)} is no {target}")
        return _check_range(target, number, repr(value))
    if type_ == FLOAT and not math.isfinite(value):
        raise FunctorError(f"{write_value(value)} is no {target}")
    return _check_range(target, int(value), f"to_{target}({write_value(value)})")


def write_value(value: Value) -> str:
    """Return a value as text: floats in the shortest form that gives the same float."""
    return value if isinstance(value, str) else repr(value)


def parse_integer(text: str) -> int | None:
    """Return an integer of any size: decimal, 0x or 0b; None if the text is none."""
    found = _INTEGER.fullmatch(text)
    if found is None or len(text) > DIGITS_MAX:
        return None
    base = {"0x": 16, "0b": 2}.get(found[2][:2].lower(), 10)
    return -int(found[2], base) if found[1] == "-" else int(found[2], base)


def _parse_float(text: str) -> float:
    if _FLOAT.fullmatch(text) is None or len(text) > DIGITS_MAX:
        raise FunctorError(f"{_shorten(text)} is no float")
    return float(text)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _check_range(type_: str, value: int, what: str) -> int:
    least, most = LIMITS[type_]
    if not least <= value <= most:
        raise FunctorError(f"{what} is beyond the 64 bits of {type_}")
    return value


def _compute_float(functor: str, values: Sequence[float]) -> float:
    """Return the result of an operation of floats, which always has one."""
    one = values[0]
    if functor == "neg":
        return -one
    other = values[1]
    match functor:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case "/":
            return _divide_floats(one, other)
    return _raise_float(one, other)


def _divide_floats(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or one != one:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def _raise_float(one: float, other: float) -> float:
    try:
        return math.pow(one, other)
    except OverflowError:
        is_odd = other % 2 == 1
        return -math.inf if one < 0 and is_odd else math.inf
    except ValueError:
        if one != 0:
            return math.nan
        is_odd = other % 2 == 1
        return math.copysign(math.inf, one) if is_odd else math.inf


def _compute_integer(functor: str, type_: str, values: Sequence[int]) -> int:
    """Return the result of an operation of numbers or unsigned numbers."""
    if functor in ("bnot", "band", "bor", "bxor", "bshl", "bshr", "bshru"):
        return _compute_bits(functor, type_, values)
    if functor == "lnot":
        return int(not values[0])
    if functor == "neg":
        return _check_range(type_, -values[0], f"-({values[0]})")
    one, other = values
    if functor in _LOGIC:
        return int(_LOGIC[functor](bool(one), bool(other)))
    value = _OPERATIONS[functor](one, other)
    return _check_range(type_, value, f"{one} {functor} {other}")


def _divide(one: int, other: int) -> int:
    """Return the quotient, rounded toward zero."""
    if other == 0:
        raise FunctorError(f"{one} divided by 0")
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) is (other < 0) else -quotient


def _find_rest(one: int, other: int) -> int:
    """Return the rest of a division, with the sign of the dividend."""
    return one - _divide(one, other) * other


def _raise(one: int, other: int) -> int:
    if other < 0:
        raise FunctorError(f"{one} ^ {other}: a negative power of a number", "convert to float")
    if abs(one) > 1 and other > 64:
        raise FunctorError(f"{one} ^ {other} is beyond 64 bits")
    if abs(one) <= 1:
        other = other % 2 + 2 if other > 2 else other
    return int(one**other)


_LOGIC = {"land": operator.and_, "lor": operator.or_, "lxor": operator.xor}
_OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _find_rest,
    "^": _raise,
}


def _compute_bits(functor: str, type_: str, values: Sequence[int]) -> int:
    """Return the result of an operation on the 64 bits of numbers."""
    one = values[0] & MASK
    if functor == "bnot":
        return _read_bits(type_, ~one)
    other = values[1]
    if functor in ("band", "bor", "bxor"):
        bits = other & MASK
        found = {"band": one & bits, "bor": one | bits, "bxor": one ^ bits}[functor]
        return _read_bits(type_, found)
    if not 0 <= other <= 63:
        raise FunctorError(f"{values[0]} {functor} {other}: a shift is by 0 to 63 bits")
    if functor == "bshl":
        return _read_bits(type_, one << other)
    return _read_bits(type_, (values[0] if functor == "bshr" else one) >> other)


def _read_bits(type_: str, bits: int) -> int:
    """Return the lowest 64 bits as a number of a type."""
    bits &= MASK
    return bits - 2**64 if type_ == NUMBER and bits >= 2**63 else bits
