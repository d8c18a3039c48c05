"""Operators that bring streams together by time, or look one up in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Choice, Duration, Example, In, Number, Operator, Out, Type
from rtbot.operators.synchronised import Synchronised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Join(Synchronised):
    """Messages of equal time together: one output port per input port, of the same type.

    `inner`: only times at which every port has a message; what can find no partner any more is
    dropped in time order and counted as unmatched. `left`: every message of the first port; the
    others are null where they have none. `right`: every message of the last port. `outer`: every
    message of any port. `asof`: every message of the first port, with the latest message of each
    other port at or before it and not older than `tolerance` (0: of equal time only); where there
    is none, null comes out, and the account counts it at the port that was looked up.
    Ports that may lack a message give nullable outputs. A result comes once it is certain: when
    every port that may be null has passed the time.
    """

    search_terms = (
        "merge_asof how: asof, asof how: asof, join_asof how: asof, "
        "left_join how: left, outer_join how: outer, full_join how: outer, inner_join, zip, "
        "align, sync, combine_latest how: asof"
    )
    unsupported = {  # noqa: RUF012 (declared once, as `search_terms` is)
        "direction": (
            "asof takes the latest message at or before each one of the first port, "
            "never a later or the nearest one"
        ),
        "allow_exact_matches": (
            "asof takes a message of equal time too: {type: TimeShift, shift: 1} before that port "
            "leaves it out"
        ),
    }
    how = Choice(
        options=("inner", "left", "right", "outer", "asof"),
        required=False,
        default="inner",
        doc="which times come out",
    )
    tolerance = Duration(
        required=False, doc="asof: the greatest age of a match; without it any age will do"
    )
    i = In("T", variadic=True, nullable=True, doc="a stream")
    o = Out("T", variadic=True, doc="the stream, at the times that come out")
    mixed = True
    example = Example(
        inputs={"i1": [(1, 10.0), (2, 20.0), (4, 40.0)], "i2": [(2, 5.0), (3, 6.0), (4, 7.0)]},
        outputs={"o1": [(2, 20.0), (4, 40.0)], "o2": [(2, 5.0), (4, 7.0)]},
    )

    @staticmethod
    def formula(_values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Every output is its port."""
        return {f"o{k}": port for k, port in enumerate(ports, start=1)}

    @classmethod
    def roles(cls, values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Which ports must have a message, and which are looked up."""
        how = values["how"]
        rest = {"inner": "must", "left": "may", "right": "may", "outer": "may", "asof": "last"}
        roles = dict.fromkeys(ports, rest[how])
        if how in ("left", "asof"):
            roles[ports[0]] = "must"
        if how == "right":
            roles[ports[-1]] = "must"
        return roles

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:
        """A tolerance belongs to `asof`."""
        problems = super().check(values, arity)
        if values["tolerance"] is not None and values["how"] != "asof":
            problems.append(f"tolerance is for how: asof, but how is {values['how']}")
        return problems


class Variable(Operator):
    """The last value of a stream, asked for at the times of another.

    A query at t gives the latest value of `i1` at or before t, stamped t, or `default_value` if
    there is none yet; its own value does not matter. The answer comes once it is certain: when `i1`
    has passed t.
    """

    default_value = Number(
        required=False, default=0.0, doc="the answer before the first value of i1"
    )
    i1 = In("number", role="last", doc="values")
    c1 = In("T", doc="queries")
    o1 = Out("number", doc="answers, at the times of the queries")
    formula = "coalesce(i1, default_value)"
    example = Example(
        parameters={"default_value": -1.0},
        inputs={
            "i1": [(3, 30.0), (5, 50.0)],
            "c1": [(1, 0.0), (3, 0.0), (4, 0.0), (9, 0.0)],
        },
        outputs={"o1": [(1, -1.0), (3, 30.0), (4, 30.0), (9, 50.0)]},
    )


class Identity(Operator):
    """The message unchanged, null too; a name for a place in the graph."""

    search_terms = "pass, passthrough, noop, alias"
    i1 = In("T", nullable=True, doc="messages")
    o1 = Out("T", doc="the same messages")
    formula = "i1"
    example = Example(
        inputs={"i1": [(1, 1.5), (2, -2.0)]},
        outputs={"o1": [(1, 1.5), (2, -2.0)]},
    )

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (none)
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """The type of the input."""
        return {"o1": inputs["i1"]}
