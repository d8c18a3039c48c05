"""How the frontier of every operator follows those of its inputs, and what it waits for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from rtbot.core.vector_names import list_first_elements, split_element
from rtbot.explain.phrases import format_span, format_stream, join_words
from rtbot.graph.model import Ref
from rtbot.operator import ROLES

if TYPE_CHECKING:
    from rtbot.compiler.plan import Plan
    from rtbot.graph.model import Node


class FrontierRules:
    """The progress of every node of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.checked = plan.checked
        self._makers = {
            timeline.stream.origin[0]: timeline
            for timeline in plan.timelines
            if not timeline.own or timeline.own.operator.frontier == "state"
        }

    def of(self, node: Node) -> dict[str, Any]:
        """Return what it follows, by how much it is shifted, and what its ports wait for."""
        timeline = self.plan.timeline_of[Ref(node.id, node.outputs[0])]
        index, shift = timeline.stream.origin
        waits = self._list_waits(node)
        own = node.operator.sets_time and node.operator.frontier == "state"
        found = {
            "follows": [] if own else self._list_followed(index),
            "shift": shift,
            "own_time": node.operator.sets_time,
            "reach": node.operator.reach(node.values) if own else 0,
            "waits": waits,
        }
        return found | {"text": self._format_rule(node, found)}

    def _list_followed(self, index: int) -> list[str]:
        """Return the names of what makes the rows behind this progress."""
        timeline = self._makers[index]
        if timeline.pairing is None:
            return [timeline.input or timeline.name]
        refs = itertools.chain(*timeline.pairing.wanted)
        names = (format_stream(self.checked, ref) for ref in refs)
        return list(dict.fromkeys(names))

    def _list_waits(self, node: Node) -> list[dict[str, Any]]:
        roles = node.roles
        waits = []
        for port in list_first_elements(node.inputs):
            ref = node.inputs[port]
            account = self.plan.ports.get((node.id, port))
            if account is not None and account.pairing is not None:
                name = format_stream(self.checked, ref)
                waits.append({"port": split_element(port)[0], "for": name, "role": roles[port]})
        return waits

    def _format_rule(self, node: Node, found: dict[str, Any]) -> str:
        if found["waits"]:
            return self._pairing_text(node, found["waits"])
        if found["own_time"] and not found["follows"]:
            return self._own_text(node, found["reach"])
        whom = _join_streams(found["follows"])
        return f"as {whom}{self._shift_text(found['shift'])}"

    def _shift_text(self, shift: int) -> str:
        if shift == 0:
            return ""
        return f", {self._span(abs(shift))} {'later' if shift > 0 else 'earlier'}"

    def _span(self, time: int) -> str:
        return format_span(time, self.checked.io.unit)

    def _own_text(self, node: Node, reach: int) -> str:
        source = format_stream(self.checked, next(iter(node.inputs.values())))
        less = f", less {self._span(reach)}," if reach else ""
        return (
            "of its own, as it emits at times of its own: up to the next one at which it may still "
            f"emit; as {source}{less} while it knows of none"
        )

    def _pairing_text(self, node: Node, waits: list[dict[str, Any]]) -> str:
        """Return what has to be known of every port before a time is decided."""
        must, may, last = (
            list(dict.fromkeys(wait["for"] for wait in waits if wait["role"] == role))
            for role in ROLES
        )
        parts = ["takes any message"]
        if must:
            several = f"needs a message of {join_words(must)} at one time"
            parts = [several if len(must) > 1 else f"answers every message of {must[0]}"]
        if may:
            none = f", null where {'it has' if len(may) == 1 else 'they have'} none" if must else ""
            parts.append(f"once {_join_with_have(may)} passed its time{none}")
        if last:
            tolerance = node.values.get("tolerance")
            age = "" if tolerance is None else f" that is at most {self._span(tolerance)} old"
            parts.append(
                f"with the latest of {join_words(last)}{age}, "
                f"once {_join_with_have(last)} passed it"
            )
        return " ".join(parts)


def _join_with_have(names: list[str]) -> str:
    return f"{join_words(names)} {'has' if len(names) == 1 else 'have'}"


def _join_streams(names: list[str]) -> str:
    """Return the name of a stream, or of what several make together."""
    return names[0] if len(names) == 1 else f"{join_words(names)} together"
