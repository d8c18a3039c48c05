"""Logic on the boolean messages of one time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Example, In, Operator, Out
from rtbot.operators.synchronised import SynchronisedBooleans, fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEFT = [(1, False), (2, False), (3, True), (4, True)]
RIGHT = [(1, False), (2, True), (3, False), (4, True)]
parity = fold("{left} != {right}")


def _table(*results: bool) -> Example:
    """The truth table over (false, false), (false, true), (true, false), (true, true)."""
    return Example(
        inputs={"i1": LEFT, "i2": RIGHT},
        outputs={"o1": [(time, result) for time, result in enumerate(results, start=1)]},
    )


def _not_all(_values: Mapping[str, Any], ports: Sequence[str]) -> str:
    return f"not ({' and '.join(ports)})"


def _none(_values: Mapping[str, Any], ports: Sequence[str]) -> str:
    return f"not ({' or '.join(ports)})"


def _even(values: Mapping[str, Any], ports: Sequence[str]) -> str:
    return f"not {parity(values, ports)}"


class LogicalAnd(SynchronisedBooleans):
    """True where all ports are true."""

    search_terms = "and, all"
    o1 = Out("boolean", doc="i1 and i2 and ...")
    formula = staticmethod(fold("{left} and {right}"))
    example = _table(False, False, False, True)


class LogicalOr(SynchronisedBooleans):
    """True where at least one port is true."""

    search_terms = "or, any"
    o1 = Out("boolean", doc="i1 or i2 or ...")
    formula = staticmethod(fold("{left} or {right}"))
    example = _table(False, True, True, True)


class LogicalXor(SynchronisedBooleans):
    """True where an odd number of ports is true."""

    search_terms = "xor"
    o1 = Out("boolean", doc="whether the number of true ports is odd")
    formula = staticmethod(parity)
    example = _table(False, True, True, False)


class LogicalNand(SynchronisedBooleans):
    """True unless all ports are true."""

    o1 = Out("boolean", doc="not (i1 and i2 and ...)")
    formula = staticmethod(_not_all)
    example = _table(True, True, True, False)


class LogicalNor(SynchronisedBooleans):
    """True where no port is true."""

    o1 = Out("boolean", doc="not (i1 or i2 or ...)")
    formula = staticmethod(_none)
    example = _table(True, False, False, False)


class LogicalXnor(SynchronisedBooleans):
    """True where an even number of ports is true."""

    o1 = Out("boolean", doc="whether the number of true ports is even")
    formula = staticmethod(_even)
    example = _table(True, False, False, True)


class LogicalImplication(SynchronisedBooleans):
    """False where the first port is true and the second false; more ports imply from the left."""

    o1 = Out("boolean", doc="i1 implies i2; ((i1 implies i2) implies i3) ...")
    formula = staticmethod(fold("(not {left}) or {right}"))
    example = _table(True, True, False, True)


class LogicalNot(Operator):
    """True where the port is false."""

    search_terms = "not, invert"
    i1 = In("boolean", doc="a condition")
    o1 = Out("boolean", doc="not i1")
    formula = "not i1"
    example = Example(
        inputs={"i1": [(1, False), (2, True)]},
        outputs={"o1": [(1, True), (2, False)]},
    )
