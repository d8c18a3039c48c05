"""Values in the loop over rows: their texts, and the flags under which they exist."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.compiler.generated_text import Conditions, format_condition

if TYPE_CHECKING:
    from rtbot.operator import Type

ZERO = {"number": "0.0", "integer": "0", "boolean": "False", "text": "0"}
"""A harmless value of each kind."""


@dataclass(frozen=True)
class LoopVariable:
    """A value in the row loop: the texts of it, its type, and the flags under which it exists."""

    text: str
    valid: str | None
    type: Type
    conditions: Conditions


@dataclass
class OutputGroup:
    """Outputs that appear together; `conditions` empty means in every row."""

    conditions: Conditions
    columns: list[LoopVariable] = field(default_factory=list)


def guard_variable(variable: LoopVariable) -> LoopVariable:
    """Return the variable where it exists, and a harmless value elsewhere."""
    if not variable.conditions:
        return variable
    condition = format_condition(variable.conditions)
    text = f"({variable.text} if {condition} else {ZERO[variable.type.kind]})"
    valid = f"({variable.valid} if {condition} else False)" if variable.valid else None
    return LoopVariable(text, valid, variable.type, frozenset())


def canonicalise_value(variable: LoopVariable) -> str:
    """Return the value as it is stored: one NaN, and one value where there is none."""
    text, kind = variable.text, variable.type.kind
    if kind == "number":
        text = f"{text} if {text} == {text} else math.nan"
    if variable.valid:
        none = "math.nan" if kind == "number" else ZERO[kind]
        text = f"({text}) if {variable.valid} else {none}"
    return text
