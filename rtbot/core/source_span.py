"""Where in a file something is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A place in a file; line and column count from 1. `length` is what a caret underlines."""

    file: str = "<graph>"
    line: int = 0
    column: int = 0
    length: int = 1
