"""Facts as the shell and programs write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.datalog.program import Value

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def format_fact(relation: str, row: Iterable[Value]) -> str:
    """Return a fact as a program has it.

    >>> format_fact("name", (1, 2.5, "Ann"))
    'name(1, 2.5, "Ann")'
    """
    return f"{relation}({', '.join(map(format_value, row))})"


def format_value(value: Value) -> str:
    """Return a value as a program has it."""
    return f'"{value.translate(_ESCAPES)}"' if isinstance(value, str) else repr(value)
