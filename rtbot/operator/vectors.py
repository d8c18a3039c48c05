"""Vectors: messages of n numbers, which are columns of one stream with numbers for names.

Element `k` of the port `o1` is the port `o1.k`, and a stream is that of all its elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.operator.declarations import VECTOR, Type
from rtbot.operator.schema import Field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

VECTOR_MAX = 1_000
"""The most elements of a vector: each is a column, and an argument of generated functions."""


def make_vector(size: int, *, nullable: bool = False) -> Type:
    """Return the type of vectors of so many numbers; a null one is null in all elements."""
    element = Type("number", nullable)
    fields = tuple(Field(str(place), element) for place in range(size))
    return Type(VECTOR, nullable, fields=fields)


def are_elements(fields: Iterable[str]) -> bool:
    """Return whether these names of fields are those of the elements of a vector."""
    return next(iter(fields), "") == "0"


def name_element(port: str, place: int | str) -> str:
    """Return the port of an element."""
    return f"{port}.{place}"


def split_element(port: str) -> tuple[str, str]:
    """Return the port of a vector and the number of the element; "" if it is a whole port."""
    whole, _, place = port.partition(".")
    return whole, place


def list_elements(port: str, type_: Type) -> list[str]:
    """Return the ports of the elements of a vector."""
    return [name_element(port, field.name) for field in type_.fields]


def list_whole_ports(ports: Iterable[str]) -> list[str]:
    """Return the ports, each vector once."""
    return list(dict.fromkeys(split_element(port)[0] for port in ports))


def list_first_elements(ports: Iterable[str]) -> list[str]:
    """Return the ports, of a vector the first element, which has its rows and counts."""
    return [port for port in ports if split_element(port)[1] in ("", "0")]


def join_elements(types: Mapping[str, Type]) -> dict[str, Type]:
    """Return the types of ports, those of elements as one type of the vector."""
    sizes: dict[str, int] = {}
    found: dict[str, Type] = {}
    for port, type_ in types.items():
        whole, place = split_element(port)
        sizes[whole] = sizes.get(whole, 0) + 1
        found[whole] = make_vector(sizes[whole], nullable=type_.nullable) if place else type_
    return found


def expand_roles(roles: Mapping[str, str], ports: Sequence[str]) -> dict[str, str]:
    """Return the role of every port, elements have that of their vector."""
    return {port: roles[split_element(port)[0]] for port in ports}


def list_vectors(records: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return which series are those of vectors, among outputs that have fields."""
    return {
        name: [name_element(name, field) for field in fields]
        for name, fields in records.items()
        if are_elements(fields)
    }


def find_vectors(names: Iterable[str]) -> dict[str, list[str]]:
    """Return which of these series, or columns, are the elements of which vector."""
    found: dict[str, list[str]] = {}
    for name in names:
        whole, _, place = name.rpartition(".")
        if whole and place.isdigit():
            found.setdefault(whole, []).append(name)
    return found
