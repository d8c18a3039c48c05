"""What all operators share that wait for a message on each of their ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rtbot.operator import In, Integer, Operator

Formula = Callable[[Mapping[str, Any], Sequence[str]], str]


class Synchronised(Operator, abstract=True):
    """Works on the messages of one time, one from every port; other messages find no partner."""

    num_ports = Integer(
        required=False,
        minimum=2,
        aliases=("numPorts",),
        doc="number of input ports; never needed, compared with the wiring if given",
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:
        """The wiring decides how many ports there are; a number that differs is a mistake."""
        stated = values.get("num_ports")
        if stated is None or stated == arity:
            return []
        return [f"num_ports is {stated}, but {arity} inputs are wired"]


class SynchronisedNumbers(Synchronised, abstract=True):
    """Two or more ports of one kind, number or integer."""

    i = In("N", variadic=True, doc="an operand")


class SynchronisedBooleans(Synchronised, abstract=True):
    """Two or more boolean ports."""

    i = In("boolean", variadic=True, doc="an operand")


def fold(template: str) -> Formula:
    """A formula that joins the ports from the left; `template` has `{left}` and `{right}`."""

    def formula(_values: Mapping[str, Any], ports: Sequence[str]) -> str:
        text = ports[0]
        for port in ports[1:]:
            text = f"({template.format(left=text, right=port)})"
        return text

    return formula


def first_against_others(template: str) -> Formula:
    """A condition on the first port and every other one; places `{first}` and `{other}`."""

    def formula(_values: Mapping[str, Any], ports: Sequence[str]) -> str:
        return " and ".join(f"({template.format(first=ports[0], other=p)})" for p in ports[1:])

    return formula
