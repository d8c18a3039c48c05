"""Vectors in a graph file: the type `vector[3]`, and the elements `v.0`, `v.1` of a stream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.core.vector_names import VECTOR, split_element
from rtbot.graph.model import Ref
from rtbot.operator.vectors import VECTOR_MAX, make_vector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.document import ScalarNode
    from rtbot.operator import Type

_TYPE = re.compile(r"vector\[([0-9]{1,19})\](\??)", re.ASCII)


def read_vector(scalar: ScalarNode) -> Type | None:
    """Return the type of a text such as `vector[3]`; None for that of another type."""
    text = scalar.text.strip()
    if not re.match(rf"{VECTOR}\b", text):
        return None
    found = _TYPE.fullmatch(text)
    if found is None:
        hint = "write vector[3], with the number of elements"
        raise graph_error("RT140", scalar.mark, f"{text[:60]!r} is not a vector", hint)
    size = int(found[1])
    if not 1 <= size <= VECTOR_MAX:
        hint = f"a vector has 1 to {VECTOR_MAX:,} elements"
        raise graph_error("RT112", scalar.mark, f"a vector of {size:,} elements", hint)
    return make_vector(size, nullable=bool(found[2]))


def check_element(ref: Ref, types: Mapping[Ref, Type], mark: SourceSpan) -> None:
    """Raise GraphError if a reference names an element of what has no such one."""
    port, place = split_element(ref.port)
    whole = Ref(ref.id, port)
    if not place or whole not in types or ref in types:
        return
    name, type_ = show_stream(whole, types), types[whole]
    if type_.kind != VECTOR:
        message, hint = f"{name} is {type_}, which has no elements", f"write {name}"
    else:
        message = f"{name} has no element {place}"
        hint = f"it is {type_}: there are {name}.0 to {name}.{len(type_.fields) - 1}"
        hint = f"it is {type_}: there is only {name}.0" if len(type_.fields) == 1 else hint
    raise graph_error("RT121", mark, message, hint)


def check_single(ref: Ref, types: Mapping[Ref, Type], mark: SourceSpan) -> None:
    """Raise GraphError if a reference names a vector where one value is wanted."""
    type_ = types.get(ref)
    if type_ is not None and type_.kind == VECTOR:
        name = show_stream(ref, types)
        raise graph_error("RT125", mark, f"{name} is {type_}", f"name an element: {name}.0")


def show_stream(ref: Ref, types: Mapping[Ref, Type]) -> str:
    """Return a stream as a graph file may name it: by the id alone if that has no other output."""
    port, place = split_element(ref.port)
    name = ref.id if port == "o1" and Ref(ref.id, "o2") not in types else f"{ref.id}.{port}"
    return f"{name}.{place}" if place else name
