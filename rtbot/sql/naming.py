"""Names that are not taken yet, and what is equal for equal expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.expression.tree import Expression


def make_unique(names: Iterable[str]) -> list[str]:
    """Return the names, with `_2` and so on behind those that were there before."""
    given = list(names)
    taken: set[str] = set()
    result = []
    for name in given:
        new, number = name, 1
        while new in taken or (number > 1 and new in given):
            number += 1
            new = f"{name}_{number}"
        taken.add(new)
        result.append(new)
    return result


def make_fresh(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, or with a number behind it, so that it is none of `taken`."""
    return make_unique([*dict.fromkeys(taken), wanted])[-1]


def make_key(tree: Expression) -> Any:
    """Return what is equal for equal expressions, wherever they are."""
    return tree.op, tree.type, repr(tree.value), tuple(map(make_key, tree.args))
