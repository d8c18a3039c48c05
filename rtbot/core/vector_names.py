"""Names of vectors: element `k` of the stream `v` is `v.k`, that of the port `o1` is `o1.k`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RECORD, VECTOR = "record", "vector"
"""Kinds of streams whose messages have several values: with names, and with numbers for names."""


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


def list_whole_ports(ports: Iterable[str]) -> list[str]:
    """Return the ports, each vector once."""
    return list(dict.fromkeys(split_element(port)[0] for port in ports))


def list_first_elements(ports: Iterable[str]) -> list[str]:
    """Return the ports, of a vector the first element, which has its rows and counts."""
    return [port for port in ports if split_element(port)[1] in ("", "0")]


def list_vectors(records: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return which series are those of vectors, among outputs that have fields."""
    return {
        name: [name_element(name, field) for field in fields]
        for name, fields in records.items()
        if are_elements(fields)
    }


def map_elements(records: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the vector of every series that is an element of one."""
    return {one: name for name, elements in list_vectors(records).items() for one in elements}


def group_series(
    names: Iterable[str], records: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the series of every output: of a vector its elements, else it alone."""
    wholes = map_elements(records)
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(wholes.get(name, name), []).append(name)
    return found


def list_places(elements: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers of the elements, as names of fields."""
    return tuple(str(place) for place in range(len(elements)))


def find_vectors(names: Iterable[str]) -> dict[str, list[str]]:
    """Return which of these series, or columns, are the elements of which vector."""
    found: dict[str, list[str]] = {}
    for name in names:
        whole, _, place = name.rpartition(".")
        if whole and place.isdigit():
            found.setdefault(whole, []).append(name)
    return found


def expand_roles(roles: Mapping[str, str], ports: Sequence[str]) -> dict[str, str]:
    """Return the role of every port, elements have that of their vector."""
    return {port: roles[split_element(port)[0]] for port in ports}
