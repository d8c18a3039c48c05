"""Plans of streaming DataFrames that already hold state, which a graph after them cannot follow."""

from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING

from rtbot import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STATEFUL = {
    "Aggregate": "an aggregation",
    "FlatMapGroupsWithState": "a function with state",
    "FlatMapGroupsInPandasWithState": "a function with state",
    "TransformWithState": "another graph, or a function with state",
    "TransformWithStateInPySpark": "another graph, or a function with state",
}
"""Operators whose rows come with a watermark of their own, by their names in Spark's plans."""

NODE = re.compile(r"^([ :]*)(?:[+:]- )?(~?)(\w+)")
"""A line of a plan: how deep it is, a mark if it streams, and the operator."""


def refuse_stateful(frame: DataFrame) -> None:
    """Refuse a stream with an operator before or after which a graph would wait for ever.

    Spark releases the rows of such an operator when the watermark has passed them, which is when
    they are late for the next one.
    """
    found = stateful(_plan(frame))
    if found is not None:
        message = f"the streaming DataFrame comes from {found}, and Spark keeps one such per query"
        hint = "write its rows by a query of their own, and read them as a stream"
        raise DataError(message, code="RT324", hint=hint)


def stateful(plan: str) -> str | None:
    """Return what holds state in an analysed plan of Spark; None if nothing does."""
    joins: list[int] = []
    streams: dict[int, int] = {}
    for line in plan.splitlines():
        node = NODE.match(line)
        if node is None:
            continue
        depth, name = len(line[: node.start(2)]), node[3]
        joins = [one for one in joins if one < depth]
        if not node[2] and not name.startswith("StreamingRelation"):
            continue
        if node[2] and name in STATEFUL:
            return STATEFUL[name]
        if joins and depth == joins[-1] + 3:
            streams[joins[-1]] += 1
            if streams[joins[-1]] == 2:
                return "a join of two streams"
        if name == "Join":
            joins.append(depth)
            streams[depth] = 0
    return None


def _plan(frame: DataFrame) -> str:
    """Return the analysed plan; `explain` is the public way to it, in Spark Connect too."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        frame.explain(extended=True)
    return shown.getvalue().partition("== Analyzed Logical Plan ==")[2].partition("\n== ")[0]
