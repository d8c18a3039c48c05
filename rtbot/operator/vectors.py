"""Vectors: messages of n numbers, which are columns of one stream with numbers for names.

Element `k` of the port `o1` is the port `o1.k`, and a stream is that of all its elements.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rtbot.core.vector_names import VECTOR, name_element, split_element
from rtbot.operator.declarations import Type
from rtbot.operator.schema import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

VECTOR_MAX = 1_000
"""The most elements of a vector: each is a column, and an argument of generated functions."""


def make_vector(size: int, *, nullable: bool = False) -> Type:
    """Return the type of vectors of so many numbers; a null one is null in all elements."""
    element = Type("number", nullable)
    fields = tuple(Field(str(place), element) for place in range(size))
    return Type(VECTOR, nullable, fields=fields)


def list_elements(port: str, type_: Type) -> list[str]:
    """Return the ports of the elements of a vector."""
    return [name_element(port, field.name) for field in type_.fields]


def join_elements(types: Mapping[str, Type]) -> dict[str, Type]:
    """Return the types of ports, those of elements as one type of the vector."""
    sizes = Counter(split_element(port)[0] for port in types)
    found: dict[str, Type] = {}
    for port, type_ in types.items():
        whole, place = split_element(port)
        if whole not in found:
            found[whole] = make_vector(sizes[whole], nullable=type_.nullable) if place else type_
    return found
