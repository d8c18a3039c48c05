"""Small parts of generated text: blocks, conjunctions, and words of the state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbot.compiler.calls import Signature

Conditions = frozenset[str]
"""Names of flags that must all hold; none means always."""


def indent_lines(lines: list[str], depth: int) -> list[str]:
    """Indent the lines by `depth` levels."""
    return ["    " * depth + line for line in lines]


def format_function(function: Signature, lines: list[str]) -> str:
    """Return the text of a function."""
    head = f"def {function.name}({', '.join(function.parameters)}):"
    return "\n".join([head, *indent_lines(lines, 1)]) + "\n"


def format_constant(value: float | bool) -> str:
    """Return the text of a number, an integer or a boolean."""
    if isinstance(value, float) and not math.isfinite(value):
        infinity = f"math.copysign(math.inf, {value > 0:d} - 0.5)"
        return "math.nan" if value != value else infinity
    return f"({value!r})" if not isinstance(value, bool) and value < 0 else repr(value)


def format_condition(conditions: Conditions) -> str:
    """Return the text of a conjunction."""
    return " and ".join(sorted(conditions)) or "True"


def guard_lines(conditions: Conditions, lines: list[str]) -> list[str]:
    """Indent the lines under an `if` where there are conditions."""
    return [f"if {format_condition(conditions)}:", *indent_lines(lines, 1)] if conditions else lines


def format_load(kind: str, place: str, arrays: tuple[str, str] = ("F", "I")) -> str:
    """Return text that reads a word of the state, from an array of numbers or one of integers."""
    numbers, integers = arrays
    if kind == "number":
        return f"{numbers}[{place}]"
    return f"({integers}[{place}] != 0)" if kind == "boolean" else f"{integers}[{place}]"


def format_kind_check(name: str, kind: str, declared: str) -> list[str]:
    """Return a line that gives a local its kind, and fails if it is none or has a fraction.

    Neither numba nor Python has `|` for floats; stored as integers they would lose their fractions.
    `declared` is the name that the user knows: errors of the line are about that.
    """
    texts = {"number": f"{name} * 1.0", "boolean": f"({name} | False) != 0"}
    text = texts.get(kind, f"{name} | 0")
    return [f"{name} = {text}  # {declared}: {kind}"]


def format_list_check(prefix: str, declared: str) -> list[str]:
    """Return lines that fail if a step has returned counts that its list does not have.

    A list has room for one entry more than before; beyond it are those of other keys.
    """
    dropped, left, before = (f"{prefix}_{part}" for part in ("dropped", "count", "before"))
    text = f"it leaves entries of {declared} that are not there"
    return [
        f"if {dropped} < 0 or {left} < 0 or {dropped} > {before} + 1 - {left}:",
        f"    raise ValueError({text!r})  # of {left}",
        f"{before} = {left}",
    ]


def format_store(kind: str, place: str, text: str, arrays: tuple[str, str] = ("F", "I")) -> str:
    """Return text that writes a word of the state; booleans are stored as 0 and 1."""
    numbers, integers = arrays
    if kind == "number":
        return f"{numbers}[{place}] = {text}"
    return f"{integers}[{place}] = " + (f"1 if {text} else 0" if kind == "boolean" else text)
