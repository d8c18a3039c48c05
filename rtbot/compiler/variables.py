"""Values in the loop over rows: their texts, and the flags under which they exist."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.compiler.generated_text import Conditions, test

if TYPE_CHECKING:
    from rtbot.operator import Type

ZERO = {"number": "0.0", "integer": "0", "boolean": "False", "text": "0"}
"""A harmless value of each kind."""


@dataclass(frozen=True)
class Variable:
    """A value in the row loop: the texts of it, its type, and the flags under which it exists."""

    text: str
    valid: str | None
    type: Type
    conditions: Conditions


@dataclass
class Group:
    """Outputs that appear together; `conditions` empty means in every row."""

    conditions: Conditions
    columns: list[Variable] = field(default_factory=list)


def guarded(variable: Variable) -> Variable:
    """The variable where it exists, and a harmless value elsewhere."""
    if not variable.conditions:
        return variable
    condition = test(variable.conditions)
    text = f"({variable.text} if {condition} else {ZERO[variable.type.kind]})"
    valid = f"({variable.valid} if {condition} else False)" if variable.valid else None
    return Variable(text, valid, variable.type, frozenset())


def canonical(variable: Variable) -> str:
    """The value as it is stored: one NaN, and one value where there is none."""
    text, kind = variable.text, variable.type.kind
    if kind == "number":
        text = f"{text} if {text} == {text} else math.nan"
    if variable.valid:
        none = "math.nan" if kind == "number" else ZERO[kind]
        text = f"({text}) if {variable.valid} else {none}"
    return text
