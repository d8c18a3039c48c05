"""Text that moves a window on by a row: a ring of the last messages, or a list for a time span."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.compiler.generated_text import format_load, format_store
from rtbot.compiler.span_layout import SPAN_CAPACITY, SPAN_COUNT, SPAN_FIRST, SPAN_FULL, SPAN_WORDS
from rtbot.numeric.ieee import is_older

if TYPE_CHECKING:
    from rtbot.compiler.layout import StateAllocation
    from rtbot.compiler.segment import Segment

STEPS = (is_older,)

POOL = ("spans_F", "spans_I")
"""The arrays of the entries of all lists."""

TABLE = ("spans", "spans")
"""The array of the words of all lists."""


RING_PARTS = ("place", "count", "position", "evicts", "leaving")
SPAN_PARTS = ("first", "count", "capacity", "dropped", "before")
TIME_PARTS = (*SPAN_PARTS, "full", "old", "left", "evicts", "leaving")
"""What the locals of a ring, a list and a window of time have behind their common name."""


@dataclass
class WindowText:
    """The names that a step has for the parts of a window, and lines.

    `load` and `store` are around the rows of a key, `lines` are before the call of a step, `undo`
    takes the row out again. Where several values may leave, `left` is how many did, and `leaver`
    the text of the one at a place of them, "{place}".
    """

    names: dict[str, str]
    load: list[str]
    store: list[str]
    lines: list[str]
    undo: list[str]
    left: str = ""
    leaver: str = ""


def write_ring(
    segment: Segment, share: StateAllocation, state: str, kind: str, entering: str
) -> WindowText:
    """Write a ring of the last messages, whose words are named `state` in dumps."""
    layout = segment.layout
    assert share.window is not None, "the share of a ring"
    size = share.window[2]
    prefix = segment.make_name(_name_window(entering), RING_PARTS)
    limit = segment.add_local("integer", layout.put("integer", size), f"{prefix}_size")
    offset = segment.add_local(
        "integer", layout.add_array(share, state, (kind, size)), f"{prefix}_offset"
    )
    load, store = [], []
    for part in ("place", "count"):
        place = f"base + {layout.add_scalar(share, f'{state}.{part}', 'integer', 0)}"
        load.append(f"{prefix}_{part} = {format_load('integer', place)}")
        store.append(format_store("integer", place, f"{prefix}_{part}"))
    at = f"base + {offset} + {prefix}_position"
    lines = [
        f"{prefix}_position = {prefix}_place",
        f"{prefix}_evicts = {prefix}_count == {limit}",
        f"{prefix}_leaving = {format_load(kind, at)}",
        f"if not {prefix}_evicts:",
        f"    {prefix}_count += 1",
        format_store(kind, at, entering),
        f"{prefix}_place += 1",
        f"if {prefix}_place == {limit}:",
        f"    {prefix}_place = 0",
    ]
    undo = [
        f"{prefix}_place = {prefix}_position",
        format_store(kind, at, f"{prefix}_leaving"),
        f"if not {prefix}_evicts:",
        f"    {prefix}_count -= 1",
    ]
    names = {p: f"{prefix}_{p}" for p in ("position", "evicts", "leaving", "count")}
    names |= {"full": f"({prefix}_count == {limit})", "entering": entering}
    names |= {"array": "F" if kind == "number" else "I", "first": f"base + {offset}"}
    return WindowText(names, load, store, lines, undo)


def write_time_window(
    segment: Segment, share: StateAllocation, state: str, kind: str, entering: str
) -> WindowText:
    """Write a window of a time span: a list of times and, unless it is of times, of values.

    What leaves stays where it is until the list is moved, before the loop.
    """
    layout = segment.layout
    assert share.window is not None, "the share of a window"
    _, holds, length = share.window
    prefix = segment.make_name(_name_window(entering), TIME_PARTS)
    span = segment.add_local("integer", layout.put("integer", int(length)), f"{prefix}_length")
    kinds = {"time": "integer"} | ({} if holds == "time" else {"value": kind})
    index = layout.add_span(share, state, kinds)
    load, store = write_span(segment, index, prefix)
    full = f"spans_base + {index * SPAN_WORDS + SPAN_FULL}"
    load.append(f"{prefix}_full = {format_load('boolean', full, TABLE)}")
    store.append(format_store("boolean", full, f"{prefix}_full", TABLE))
    behind = "" if holds == "time" else f" + {prefix}_capacity"
    at = f"{prefix}_first + {prefix}_count"
    segment.functions.append((is_older.__name__, is_older))
    lines = [
        f"{prefix}_old = {prefix}_first",
        f"while {prefix}_count > 0 and is_older(spans_I[{prefix}_first], t, {span}):",
        f"    {prefix}_first += 1",
        f"    {prefix}_count -= 1",
        f"{prefix}_left = {prefix}_first - {prefix}_old",
        f"{prefix}_evicts = {prefix}_left > 0",
        f"{prefix}_full = {prefix}_full or {prefix}_evicts",
        f"{prefix}_leaving = {format_load(kind, f'{prefix}_old{behind}', POOL)}",
        f"spans_I[{at}] = t",
        *([format_store(kind, f"{at}{behind}", entering, POOL)] if behind else []),
        f"{prefix}_count += 1",
    ]
    undo = [f"{prefix}_first = {prefix}_old", f"{prefix}_count += {prefix}_left - 1"]
    names = {p: f"{prefix}_{p}" for p in ("evicts", "leaving", "count", "full")}
    names |= {"array": POOL[kind != "number"], "first": f"{prefix}_first{behind}"}
    names |= {"entering": entering}
    leaver = format_load(kind, f"{prefix}_old{behind} + {{place}}", POOL)
    return WindowText(names, load, store, lines, undo, f"{prefix}_left", leaver)


def write_span(segment: Segment, index: int, prefix: str) -> tuple[list[str], list[str]]:
    """Return lines that load the words of a list and store them."""
    if not segment.spans:
        segment.arrays += ["spans", "spans_F", "spans_I"]
    segment.spans.append(index)
    segment.add_local("integer", segment.layout.spans_width, "spans_width")
    load, store = [], []
    for part, word in (("first", SPAN_FIRST), ("count", SPAN_COUNT), ("capacity", SPAN_CAPACITY)):
        place = f"spans_base + {index * SPAN_WORDS + word}"
        load.append(f"{prefix}_{part} = spans[{place}]")
        if part != "capacity":
            store.append(f"spans[{place}] = {prefix}_{part}")
    return load, store


def _name_window(entering: str) -> str:
    """Return the beginning of the names of a window, whatever its length."""
    return "window_" + re.sub(r"\W+", "_", entering.replace("float(", "")).strip("_")
