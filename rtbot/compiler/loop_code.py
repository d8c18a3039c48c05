"""The text of whole functions: the loop over a batch, and its one-row twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.calls import Signature
from rtbot.compiler.generated_text import format_function, guard_lines, indent_lines
from rtbot.compiler.variables import ZERO, OutputGroup, canonicalise_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.compiler.segment import Segment

SETUP = ["H = I[0]", "W = I[1]"]


def write_batch_loop(segment: Segment, groups: list[OutputGroup]) -> tuple[Signature, str]:
    """Write the loop over the runs of a batch: rows in, per group starts, times and columns out."""
    columns = flatten_names(segment.columns)
    reads, writes = ["starts", "time", *name_parameters(columns)], []
    opening: list[str] = []
    closing: list[str] = []
    body = ["t = time[row]", *(f"{c} = {c}_column[row]" for c in columns), *segment.body]
    for number, group in enumerate(groups):
        names = list_group_names(number, group)
        writes += names
        if group.conditions:
            opening += [f"m{number} = 0", f"{names[0]}[0] = 0"]
            closing.append(f"{names[0]}[run + 1] = m{number}")
        body += write_stores(number, group, names)
    lines = [
        *SETUP,
        *segment.head,
        *opening,
        "for run in range(runs):",
        "    first = starts[run]",
        "    last = starts[run + 1]",
        "    if first < last:",
        *indent_lines([*segment.locate_key("slots[run]"), *segment.load], 2),
        "        for row in range(first, last):",
        *indent_lines(body, 3),
        *indent_lines(segment.store, 2),
        *indent_lines(closing, 1),
        *segment.tail,
        *count_rows(segment, "starts[runs]"),
    ]
    parameters = ["runs", "slots", *reads, *segment.arrays, *writes]
    function = Signature(segment.name, parameters, reads, writes)
    return function, format_function(function, lines)


def count_rows(segment: Segment, rows: str) -> list[str]:
    """Count what every row of the loop counts."""
    return [] if segment.rows is None else [f"I[{segment.rows}] += {rows}"]


def list_group_names(number: int, group: OutputGroup) -> list[str]:
    """Return the parameters of a group: starts and times unless it has every row, then columns."""
    names = [] if not group.conditions else [f"starts_{number}", f"time_{number}"]
    for position, column in enumerate(group.columns):
        name = f"s{number}_{position}" + (f"_{column.text}" if column.text.isidentifier() else "")
        names += name_parameters([name, f"{name}_valid"] if column.valid else [name])
    return names


def flatten_names(columns: list[tuple[str, str | None]]) -> list[str]:
    """Return the names of values and valid flags, in order."""
    return [name for pair in columns for name in pair if name is not None]


def name_parameters(names: Iterable[str]) -> list[str]:
    """Return the parameters for the arrays of these values and flags."""
    return [f"{name}_column" for name in names]


def write_stores(number: int, group: OutputGroup, names: list[str]) -> list[str]:
    """Write lines that append the group's columns to its output."""
    place = f"m{number}" if group.conditions else "row"
    columns = iter(names[2:] if group.conditions else names)
    lines = [f"time_{number}[m{number}] = t"] if group.conditions else []
    for column in group.columns:
        lines.append(f"{next(columns)}[{place}] = {canonicalise_value(column)}")
        if column.valid:
            lines.append(f"{next(columns)}[{place}] = {column.valid}")
    if group.conditions:
        lines.append(f"m{number} += 1")
    return guard_lines(group.conditions, lines)


def write_row_function(segment: Segment, groups: list[OutputGroup]) -> tuple[Signature, str]:
    """Write the one-row twin: it takes a row by value and returns a flag and values per group."""
    results: list[str] = []
    before: list[str] = []
    after: list[str] = []
    for number, group in enumerate(groups):
        before.append(f"on_{number} = False")
        lines = [f"on_{number} = True"]
        results.append(f"on_{number}")
        for position, column in enumerate(group.columns):
            name = f"o{number}_{position}"
            before.append(f"{name} = {ZERO[column.type.kind]}")
            lines.append(f"{name} = {canonicalise_value(column)}")
            results.append(name)
            if column.valid:
                before.append(f"{name}_valid = False")
                lines.append(f"{name}_valid = {column.valid}")
                results.append(f"{name}_valid")
        after += guard_lines(group.conditions, lines)
    lines = [
        *SETUP,
        *segment.head,
        *segment.locate_key("slot"),
        *segment.load,
        *before,
        *segment.body,
        *segment.store,
        *segment.tail,
        *count_rows(segment, "1"),
        *after,
        f"return {', '.join(results)}{',' if len(results) == 1 else ''}",
    ]
    parameters = ["slot", "t", *flatten_names(segment.columns), *segment.arrays]
    function = Signature(f"{segment.name}_one", parameters)
    return function, format_function(function, lines)
