"""What a plan keeps for each key, operator by operator, in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.compiler.span_layout import SPAN_WORDS
from rtbot.core.number_text import format_count
from rtbot.explain.phrases import format_span, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.compiler.calls import PairCall, SpaceLayout
    from rtbot.compiler.layout import StateAllocation
    from rtbot.compiler.plan import Plan

WORD = 8
KEY_BYTES = 6 * WORD
"""Of a key inside a key: its two words, and up to four places in a table that is half full."""


def measure_state(plan: Plan) -> dict[str, Any]:
    """Return the bytes of a key: by operator, by shared window, by list, by pairing, in total."""
    layout = plan.layout
    own = dict.fromkeys(plan.checked.nodes, 0)
    windows = []
    for share in layout.shares:
        if share.window is None:
            own[share.users[0]] += share.words * WORD
        elif not share.spans:
            windows.append(_describe_window(share))
    unit = plan.checked.io.unit
    lists = [found for share in layout.shares for found in _describe_lists(share, unit)]
    used = sum(share.words for share in layout.shares)
    pairings = [_describe_pairing(plan, call) for call in plan.pairings]
    row = layout.width * WORD if used else 0
    return {
        "operators": own,
        "windows": windows,
        "lists": lists,
        "pairings": pairings,
        "spaces": [_describe_space(space) for space in layout.spaces],
        "padding": row - used * WORD,
        "total": row + sum(item["bytes"] for item in lists + pairings),
    }


def format_state(found: dict[str, Any], name: str) -> str:
    """Return what one operator keeps, in words."""
    parts = []
    if found["operators"][name]:
        parts.append(f"{found['operators'][name]:,} bytes")
    for window in found["windows"]:
        if name in window["used_by"]:
            shared = _format_others(window, name, ", shared with {}")
            parts.append(f"{format_window(window)} ({window['bytes']:,} bytes{shared})")
    for item in found["lists"]:
        if name in item["used_by"]:
            shared = _format_others(item, name, " (shared with {})")
            parts.append(
                f"{item['of']}: {item['bytes']:,} bytes, and {item['bytes_per_entry']} "
                f"per entry{shared}: how many, the data decide"
            )
    for pairing in found["pairings"]:
        if name in pairing["used_by"]:
            shared = _format_others(pairing, name, " (shared with {})")
            parts.append(
                f"{pairing['bytes']:,} bytes for rows that wait{shared}, and "
                f"{pairing['bytes_per_waiting_row']} per row that does: how many, the data decide"
            )
    parts += [_format_space(space) for space in found["spaces"] if space["used_by"] == [name]]
    return "; ".join(parts) or "none"


def _format_others(kept: dict[str, Any], name: str, phrase: str) -> str:
    """Return a phrase of which operators use the same beside one; "" if none does."""
    others = [user for user in kept["used_by"] if user != name]
    return phrase.format(join_words(others)) if others else ""


def _format_space(space: dict[str, Any]) -> str:
    """Return what is kept for keys inside a key, in words."""
    of = "every key inside the key" + (" that is not forgotten" if space["ttl"] is not None else "")
    return f"{space['bytes_per_key']} bytes for {of}: how many, the data decide"


def format_window(window: dict[str, Any]) -> str:
    """Return what a window holds, in words."""
    what = "times" if window["holds"] == "time" else "values"
    size = window["size"]
    last = f"the last {size:,} {what}" if size > 1 else f"the last {what.removesuffix('s')}"
    return f"{last} of {window['of']}"


def format_total(found: dict[str, Any]) -> str:
    """Return the sum, in words."""
    own = sum(found["operators"].values())
    parts = [f"{own:,} of operators"] if own else []
    windows = sum(window["bytes"] for window in found["windows"])
    if windows:
        parts.append(f"{windows:,} in {format_count(len(found['windows']), 'window')}")
    lists = sum(item["bytes"] for item in found["lists"])
    if lists:
        parts.append(f"{lists:,} in {format_count(len(found['lists']), 'list')}")
    pairings = sum(pairing["bytes"] for pairing in found["pairings"])
    if pairings:
        parts.append(f"{pairings:,} where streams meet")
    if found["padding"]:
        parts.append(f"{found['padding']:,} of padding")
    total = f"{found['total']:,} bytes per key"
    return f"{total}: {', '.join(parts)}" if len(parts) > 1 else total


def _describe_window(share: StateAllocation) -> dict[str, Any]:
    assert share.window is not None, "the share of a ring"
    ref, holds, size = share.window
    of = ref.removesuffix(".o1")
    bytes_ = share.words * WORD
    return {"of": of, "holds": holds, "size": size, "bytes": bytes_, "used_by": share.users}


def _describe_lists(share: StateAllocation, unit: str | None) -> Iterator[dict[str, Any]]:
    """Yield the lists of an allocation: what they hold, bytes without entries, and of each."""
    of = "a list"
    if share.window is not None:
        ref, holds, span = share.window
        what = "times" if holds == "time" else "values"
        of = f"the {what} of {ref.removesuffix('.o1')} in the last {format_span(span, unit)}"
    for fields in share.spans:
        size = SPAN_WORDS * WORD
        yield {
            "of": of,
            "bytes": size,
            "bytes_per_entry": fields * WORD,
            "used_by": share.users,
        }


def _describe_space(space: SpaceLayout) -> dict[str, Any]:
    """Return what is kept for every key inside a key: its words, its place, its fields."""
    bytes_ = KEY_BYTES + sum(1 if kind == "boolean" else WORD for _, kind, _ in space.fields)
    node, _, name = space.name.rpartition(".")
    return {"of": name, "bytes_per_key": bytes_, "ttl": space.ttl, "used_by": [node]}


def _describe_pairing(plan: Plan, call: PairCall) -> dict[str, Any]:
    """Return what a pairing keeps for a key that waits for nothing, and per row that waits."""
    from rtbot.runtime.kernels import rows
    from rtbot.runtime.pairing_pool import PairingPool

    pool = PairingPool(call, rows, 1)
    fixed = pool.queue.nbytes + sum(wakes.watched.nbytes for wakes in pool.wakes)
    pool.reserve(1, 1)
    names = ("time", "value", "valid", "next")
    sizes = [sum(getattr(b, n).nbytes for n in names) // len(b.time) for b in pool.blocks]
    users = {node for (node, _), port in plan.ports.items() if _can_wait(port.pairing, call)}
    return {
        "of": [port.name.removesuffix(".o1") for port in call.ports],
        "bytes": fixed,
        "bytes_per_waiting_row": max(sizes),
        "used_by": [name for name in plan.checked.nodes if name in users],
    }


def _can_wait(pairing: tuple[int, int] | None, call: PairCall) -> bool:
    return pairing is not None and pairing[0] == call.key
