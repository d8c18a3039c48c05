"""Operators that make vectors of numbers, and take them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.core.vector_names import name_element
from rtbot.operator import Example, In, Integer, Integers, Operator, Out
from rtbot.operator.vectors import VECTOR_MAX, make_vector
from rtbot.operators.synchronised import Synchronised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator import Type


class VectorCompose(Synchronised):
    """A vector of the values that all ports have at a time, in the order of the ports.

    Times at which a port has no message give none, as for Join.
    """

    search_terms = "stack, pack, vstack, column_stack"
    num_ports = Integer(
        required=False,
        minimum=1,
        maximum=VECTOR_MAX,
        aliases=("numPorts",),
        doc="number of input ports; never needed, compared with the wiring if given",
    )
    i = In("number", variadic=True, shortest=1, doc="an element")
    o1 = Out("vector", doc="the vectors")
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 20.0), (3, 30.0), (4, 40.0)]},
        outputs={"o1": [(2, [2.0, 20.0]), (4, [4.0, 40.0])]},
    )

    @staticmethod
    def formula(_values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Every element is a port."""
        return {name_element("o1", place): port for place, port in enumerate(ports)}

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (none)
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """A vector with an element for each port."""
        return {"o1": make_vector(len(inputs))}


class VectorExtract(Operator):
    """One element of a vector. Without an operator it is `v.0`, `v.1` and so on."""

    search_terms = "getitem, element, nth, pick"
    index = Integer(minimum=0, doc="which element; the first is 0")
    i1 = In("vector", nullable=True, doc="vectors")
    o1 = Out("number", doc="the element")
    example = Example(
        parameters={"index": 1},
        inputs={"i1": [(1, [1.0, 10.0]), (2, [2.0, 20.0])]},
        outputs={"o1": [(1, 10.0), (2, 20.0)]},
    )

    @staticmethod
    def formula(values: Mapping[str, Any], ports: Sequence[str]) -> str:
        """The element."""
        return name_element(ports[0], values["index"])

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """A number; raises GraphError if there is no such element."""
        check_index("index", values["index"], inputs["i1"])
        return {"o1": inputs["i1"].fields[0].type}


class VectorProject(Operator):
    """Some elements of a vector, in the order in which they are named, as a vector.

    An element may be named more than once.
    """

    search_terms = "select_elements, take, permute"
    indices = Integers(minimum=0, doc="which elements; the first is 0")
    i1 = In("vector", nullable=True, doc="vectors")
    o1 = Out("vector", doc="vectors of these elements")
    example = Example(
        parameters={"indices": [2, 0]},
        inputs={"i1": [(1, [1.0, 10.0, 100.0]), (2, [2.0, 20.0, 200.0])]},
        outputs={"o1": [(1, [100.0, 1.0]), (2, [200.0, 2.0])]},
    )

    @staticmethod
    def formula(values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Every element is one of the input's."""
        return {
            name_element("o1", place): name_element(ports[0], index)
            for place, index in enumerate(values["indices"])
        }

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """A vector of so many elements; raises GraphError if there is no such element."""
        for index in values["indices"]:
            check_index("indices", index, inputs["i1"])
        if len(values["indices"]) > VECTOR_MAX:
            message = f"{len(values['indices']):,} elements"
            hint = f"a vector has 1 to {VECTOR_MAX:,} elements"
            raise graph_error("RT112", SourceSpan(), message, hint)
        return {"o1": make_vector(len(values["indices"]), nullable=inputs["i1"].nullable)}


def check_index(name: str, index: int, type_: Type) -> None:
    """Raise GraphError, whose place the caller knows, if a vector has no such element."""
    if index >= len(type_.fields):
        hint = f"the elements are 0 to {len(type_.fields) - 1}"
        raise graph_error("RT112", SourceSpan(), f"{name}: there is no element {index}", hint)
