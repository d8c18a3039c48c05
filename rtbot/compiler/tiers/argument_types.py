"""Types of the arguments of a call as text, and numba's types of that text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

ArgumentTypes = tuple[str, ...]
"""The type of every argument: a scalar's name, or dtype, dimensions, layout and access."""

SCALARS: dict[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    np.bool_: "bool",
    np.int64: "int64",
    np.float64: "float64",
}


def describe_arguments(arguments: Iterable[Any]) -> ArgumentTypes:
    """Return the types of arguments, as `to_numba_types` reads them."""
    return tuple([SCALARS.get(type(a)) or _describe(a) for a in arguments])


def _describe(argument: Any) -> str:
    if not isinstance(argument, np.ndarray):
        return np.dtype(type(argument)).name
    flags = argument.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return f"{argument.dtype.str} {argument.ndim} {layout} {'rw' if flags.writeable else 'r'}"


def to_numba_types(described: Iterable[str]) -> tuple[Any, ...]:
    """Return the types as numba finds them by looking at such arguments."""
    from numba import from_dtype, types

    found: list[Any] = []
    for text in described:
        dtype, *rest = text.split(" ")
        kind = from_dtype(np.dtype(dtype))
        if rest:
            dimensions, layout, access = rest
            make: Any = types.Array  # its annotation has no text for a layout
            kind = make(kind, int(dimensions), layout, readonly=access == "r")
        found.append(kind)
    return tuple(found)
