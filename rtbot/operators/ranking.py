"""Operators that keep the best rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.operator import (
    EMIT,
    EMIT_AGAIN,
    Boolean,
    Cells,
    Example,
    In,
    Integer,
    Kept,
    Out,
    Scalar,
    Type,
    step,
)
from rtbot.operators.synchronised import Synchronised

if TYPE_CHECKING:
    from collections.abc import Mapping


@step
def find_rank(score, descending, count, rows, rows_first, order, order_first):
    """The rank from 0 of a score among those that are kept; before equal ones, NaN behind all."""
    low, high = 0, count
    while low < high:
        place = (low + high) // 2
        other = rows[rows_first + order[order_first + place]]
        if other != other or (score >= other if descending else score <= other):
            high = place
        else:
            low = place + 1
    return low


class TopK(Synchronised):
    """The `k` messages with the best score so far, best first, anew at every message.

    All that come out at one message have its time: the n-th has rank n. A message is several ports,
    joined by time, and one of them is the score: `score_index` says which, from 0. A vector is as
    many values as it has elements: of a vector alone, it is the place of the score. The greatest
    scores are the best, or the least if `descending` is false. Of equal ones the newer is before
    the older. NaN is behind all numbers. It never forgets a message that is among the best.
    """

    search_terms = "leaderboard, best"
    k = Integer(minimum=1, doc="how many are kept")
    score_index = Integer(
        required=False, default=0, minimum=0, doc="which value is the score, from 0"
    )
    descending = Boolean(required=False, default=True, doc="whether the greatest are the best")
    num_ports = Integer(
        required=False,
        minimum=1,
        aliases=("numPorts",),
        doc="number of input ports; never needed, compared with the wiring if given",
    )
    i = In("T", variadic=True, shortest=1, doc="the score, and what else belongs to a message")
    o = Out("T", variadic=True, repeats=True, doc="the same of the best messages")
    rows = Kept("i", size="k", by="score_index")
    order = Cells("integer", size="k")
    count = Scalar("integer", 0)
    rank = Scalar("integer", 0)
    mixed = True
    sets_time = True
    example = Example(
        parameters={"k": 2},
        inputs={"i1": [(1, 5.0), (2, 7.0), (3, 6.0)], "i2": [(1, 101.0), (2, 102.0), (3, 103.0)]},
        outputs={
            "o1": [(1, 5.0), (2, 7.0), (2, 5.0), (3, 7.0), (3, 6.0)],
            "o2": [(1, 101.0), (2, 102.0), (2, 101.0), (3, 102.0), (3, 103.0)],
        },
    )

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """Those of the ports; a score is a number or an integer."""
        types = [one for port in inputs.values() for one in [f.type for f in port.fields] or [port]]
        place, hint = values["score_index"], "score_index names the score, 0 is the first value"
        if place >= len(types):
            there = "0" if len(types) == 1 else f"0 to {len(types) - 1}"
            message = f"score_index is {place}, its values are numbered {there}"
            raise graph_error("RT125", SourceSpan(), message, hint)
        if types[place].kind not in ("number", "integer"):
            message = f"a score is a number, not {types[place].kind}"
            raise graph_error("RT125", SourceSpan(), message, hint)
        return super().output_types(values, inputs)

    @step
    def step(
        time, k, descending, rows, rows_first, rows_entering, order, order_first, count, rank
    ):  # fmt: skip
        put = -1
        if rank == 0:
            place = find_rank(
                rows_entering, descending, count, rows, rows_first, order, order_first
            )
            if place < k:
                put = count if count < k else order[order_first + k - 1]
                count = min(count + 1, k)
                for other in range(count - 1, place, -1):
                    order[order_first + other] = order[order_first + other - 1]
                order[order_first + place] = put
        get = order[order_first + rank]
        rank = rank + 1 if rank + 1 < count else 0
        return EMIT if rank == 0 else EMIT_AGAIN, time, put, get, count, rank
