"""How a program is evaluated, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def format_explanation(explained: Any) -> Iterator[str]:
    """Yield the lines of `Datalog.explain`."""
    yield str(explained)
