"""Phrases that several explanations share."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_duration
from rtbot.graph.whole_vectors import format_ref, take_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.model import CheckedGraph, Ref


def join_words(names: Iterable[str], last: str = "and") -> str:
    """Return "a, b and c"."""
    *before, end = names
    return f"{', '.join(before)} {last} {end}" if before else end


def format_span(time: int, unit: str | None) -> str:
    """Return a length of time, which is in `unit`, as a graph file has it: "7d"."""
    if unit is None:
        return f"{time:,}"
    return format_duration(time, unit)


def format_stream(checked: CheckedGraph, ref: Ref) -> str:
    """Return the ref as `format_ref` does, of an element of a vector that of the vector."""
    return format_ref(checked, take_whole(ref))


def format_hanging(label: str, text: str, width: int, margin: int) -> list[str]:
    """Return lines of a label and its text, which is wrapped at `margin`."""
    lead = f"{label:<{margin - 1}} "
    rest = " " * margin
    return textwrap.wrap(
        text, width, initial_indent=lead, subsequent_indent=rest, break_on_hyphens=False
    ) or [label]
