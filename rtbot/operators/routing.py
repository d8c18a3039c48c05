"""Operators that send messages one way or another, as control messages of the same time say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import EMIT, SILENT, Example, In, Integer, Out, Type, step
from rtbot.operators.synchronised import Synchronised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Demultiplexer(Synchronised):
    """Copies every message to the outputs whose control message of the same time is true.

    Output `k` belongs to control port `k`; several may take the message, or none. A message at a
    time at which a control port has none finds no partner.
    """

    search_terms = "demux, partition, dispatch, router, tee"
    num_ports = Integer(
        required=False,
        minimum=1,
        aliases=("numPorts",),
        doc="number of control ports; never needed, compared with the wiring if given",
    )
    i1 = In("T", nullable=True, doc="messages")
    c = In("boolean", variadic=True, shortest=1, doc="whether the output takes the message")
    o = Out("T", variadic=True, doc="the messages that its control port lets pass")
    example = Example(
        inputs={
            "i1": [(1, 10.0), (2, 20.0), (3, 30.0)],
            "c1": [(1, True), (2, False), (3, True)],
            "c2": [(1, False), (2, False), (3, True)],
        },
        outputs={"o1": [(1, 10.0), (3, 30.0)], "o2": [(3, 30.0)]},
    )

    @staticmethod
    def formula(_values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Every output is the message."""
        return {f"o{k}": "i1" for k in range(1, len(ports))}

    @staticmethod
    def keep(_values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Each where its control is true."""
        return {f"o{k}": f"c{k}" for k in range(1, len(ports))}

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (none)
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """The type of the messages, one output for each control port."""
        return {f"o{k}": inputs["i1"] for k in range(1, len(inputs))}


class Multiplexer(Synchronised):
    """The message of the one port whose control message of the same time is true.

    Where no control is true, or more than one, nothing comes out, and nothing where the chosen port
    has no message of that time. A time at which not all control ports have a message is none.
    """

    search_terms = "mux, switch, choose, selector"
    i = In("T", variadic=True, role="may", doc="messages")
    c = In("boolean", variadic=True, doc="whether the port of this number is chosen")
    o1 = Out("T", doc="the messages of the chosen ports")
    silent = True
    example = Example(
        inputs={
            "i1": [(1, 10.0), (2, 20.0), (3, 30.0)],
            "i2": [(1, -1.0), (2, -2.0), (3, -3.0)],
            "c1": [(1, True), (2, False), (3, True)],
            "c2": [(1, False), (2, True), (3, True)],
        },
        outputs={"o1": [(1, 10.0), (2, -2.0)]},
    )

    @step
    def step(i, i_valid, c):
        chosen, count = 0, 0
        for place in range(len(c)):
            if c[place]:
                chosen = place
                count += 1
        code = EMIT if count == 1 and i_valid[chosen] else SILENT
        return code, i[chosen]
