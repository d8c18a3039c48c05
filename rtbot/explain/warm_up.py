"""When the first message of every output can come: warm-ups, composed along the paths of a graph.

Rows are counted at the place where they are made: at an input, at a pairing, or at an operator
whose rows the data decide. As long as every operator behind it gives a row for each row, once it is
warm, the counts add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rtbot.core.number_text import format_count
from rtbot.explain.phrases import format_stream, join_words
from rtbot.graph.model import Ref, list_input_types

if TYPE_CHECKING:
    from rtbot.graph.model import CheckedGraph, Node


class FirstMessage(NamedTuple):
    """The first message comes at row number `row` of `of`.

    `kind` is what `of` is: a `stream` (one name); the times that all of them `share`; or those at
    which `any` has a message.
    """

    kind: str
    of: tuple[str, ...]
    row: int

    def __str__(self) -> str:
        if self.kind == "stream":
            return f"message {self.row:,} of {self.of[0]}"
        if self.kind == "any":
            return f"message {self.row:,} of {join_words(self.of, 'or')}"
        return f"common time {self.row:,} of {join_words(self.of)}"


class WarmUpTable:
    """The warm-up of every node, in dependency order: its own, and where rows are counted from."""

    def __init__(self, checked: CheckedGraph) -> None:
        self.checked = checked
        refs = list_input_types(checked.inputs.values())
        self._firsts = {ref: FirstMessage("stream", (ref.id,), 1) for ref in refs}
        self.of = {node.id: self._add(node) for node in checked.nodes.values()}

    def _add(self, node: Node) -> dict[str, Any]:
        rows, certain = node.operator.warm_up(node.values)
        start = self._start(node)
        first = start._replace(row=start.row + rows - 1)
        counts_on = certain and not node.operator.sets_time
        for port in node.outputs:
            ref = Ref(node.id, port)
            anew = FirstMessage("stream", (format_stream(self.checked, ref),), 1)
            self._firsts[ref] = first if counts_on else anew
        return {
            "messages": rows,
            "certain": certain,
            "first_output": {"row": first.row, "of": list(first.of), "kind": first.kind},
            "text": format_warm_up(rows, certain=certain, first=first),
        }

    def _start(self, node: Node) -> FirstMessage:
        """Return where the rows that reach the node are counted, and which is the first of them."""
        roles = node.roles
        must = dict.fromkeys(ref for port, ref in node.inputs.items() if roles[port] == "must")
        if not must:
            names = dict.fromkeys(format_stream(self.checked, ref) for ref in node.inputs.values())
            return FirstMessage("any", tuple(names), 1)
        firsts = [self._firsts[ref] for ref in must]
        if len({(first.kind, first.of) for first in firsts}) == 1:
            return max(firsts, key=lambda first: first.row)
        return FirstMessage(
            "share", tuple(sorted({format_stream(self.checked, ref) for ref in must})), 1
        )


def format_warm_up(rows: int, *, certain: bool, first: FirstMessage) -> str:
    """Return a warm-up in words."""
    if not certain:
        least = "the data decide"
        if rows > 1:
            least += f", after {format_count(rows, 'message')} at least"
        return f"{least}; first output at {first}, or later"
    own = "none of its own" if rows == 1 else format_count(rows, "message")
    return f"{own}; first output at {first}"
