"""What differs between two descriptions, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 3
"""How many differences are reported."""


def describe_differences(old: Any, new: Any) -> str:
    """Return the first differences between two descriptions, in words; "" if there is none."""
    found = list(_find_differences(old, new, ""))
    rest = len(found) - SHOWN
    return "; ".join(found[:SHOWN]) + (f"; and {rest} more" if rest > 0 else "")


def _find_differences(old: Any, new: Any, path: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(n for n in new if n not in old)]:
            here = f"{path}.{name}" if path else name
            if name not in new:
                yield f"{here} is gone"
            elif name not in old:
                yield f"{here} is new"
            else:
                yield from _find_differences(old[name], new[name], here)
    elif old != new and (old == old or new == new):
        yield f"{path} was {old!r} and is {new!r}"
