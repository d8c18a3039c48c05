"""Names that occur twice, found in one pass: a header may have a million of them.

A module of its own because files, tables and the command line all ask, and nothing else is shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has occurred before, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
