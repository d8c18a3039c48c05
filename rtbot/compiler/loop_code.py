"""The text of whole functions: a loop over a batch, its one-row twin, a loop with its own times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.calls import Signature
from rtbot.compiler.generated_text import format_function, guard_lines, indent_lines
from rtbot.compiler.step_calls import StepCall
from rtbot.compiler.variables import ZERO, LoopVariable, OutputGroup, canonicalise_value
from rtbot.operator import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.compiler.segment import Segment
    from rtbot.graph.model import Node

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
        *indent_lines(["base = H + slots[run] * W", *segment.load], 2),
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
        "base = H + slot * W",
        *segment.load,
        *before,
        *segment.body,
        *segment.store,
        *segment.tail,
        *count_rows(segment, "1"),
        *after,
        f"return {', '.join(results)}{',' if len(results) == 1 else ''}",
    ]
    parameters = ["slot", "t", *flatten_names(segment.columns), "F", "I"]
    function = Signature(f"{segment.name}_one", parameters)
    return function, format_function(function, lines)


def write_retime_loop(segment: Segment, node: Node) -> tuple[Signature, str]:
    """Write the loop of an operator with its own times. It stops where `room` is used up.

    Returns the row to go on with (the number of rows when done) and how many rows it wrote; it is
    called again with the next run and row until it has seen all. `progress` receives, per key, the
    time up to which nothing more can come, where the operator keeps that itself.
    """
    call = StepCall(segment, node, {p: segment.variables[r] for p, r in node.inputs.items()})
    segment.functions.append(call.function)
    outputs = name_retimed_outputs(segment, node)
    frontier = [t for t, s in zip(call.targets, list_scalars(node), strict=True) if s == "frontier"]
    progress = [f"progress[slots[run]] = {frontier[0]}"] if frontier else []
    reads = [f"{c} = {c}_column[row]" for c in flatten_names(segment.columns)]
    row = [
        *["if m == room:", "    full = True", "    break", "t = time[row]"],
        *[*reads, *call.lines, *write_retimed_row(segment, node, call, outputs)],
    ]
    lines = [
        *[*SETUP, *segment.head, "m = 0", "row = from_row", "run = from_run", "full = False"],
        "while run < runs and not full:",
        "    last = starts[run + 1]",
        "    if row < last:",
        *indent_lines(["base = H + slots[run] * W", *call.load], 2),
        "        while row < last:",
        *indent_lines(row, 3),
        *indent_lines([*call.store, *progress], 2),
        "    if not full:",
        "        run += 1",
        "        out_starts[run] = out_base + m",
        *segment.tail,
        "return run, row, m",
    ]
    reads = ["starts", "time", *name_parameters(flatten_names(segment.columns))]
    writes = ["out_starts", "out_time", *name_parameters(outputs)]
    parameters = ["runs", "slots", *reads, "F", "I"]
    parameters += ["progress", "from_run", "from_row", "room", "out_base", *writes]
    function = Signature(segment.name, parameters, reads, writes)
    return function, format_function(function, lines)


def name_retimed_outputs(segment: Segment, node: Node) -> dict[str, str]:
    """Return the locals that take the node's outputs, and the text of each as it is stored."""
    outputs = {}
    for port in node.outputs:
        name = segment.make_name(f"{node.id}_{port}")
        valid = segment.make_name(f"{name}_valid") if node.types[port].nullable else None
        outputs[name] = canonicalise_value(LoopVariable(name, valid, node.types[port], frozenset()))
        if valid:
            outputs[valid] = valid
    return outputs


def write_retimed_row(
    segment: Segment, node: Node, call: StepCall, outputs: dict[str, str]
) -> list[str]:
    """Write one row: the step again and again while it has more to emit and there is room.

    Where there is no room the row is started again later, so it is taken out of the rings.
    """
    results = ", ".join(["code", "own_time", *outputs, *call.targets])
    keep = [f"{name}_column[m] = {stored}" for name, stored in outputs.items()]
    return [
        "code = 3",
        "while code == 3 and m < room:",
        f"    {results} = {call.text}",
        "    if code == 1 or code == 3:",
        *indent_lines(["out_time[m] = own_time", *keep, "m += 1"], 2),
        "    elif code == 2:",
        f"        {segment.count_loss(node, '')} += 1",
        "if code == 3:",
        *indent_lines(call.undo, 1),
        "    full = True",
        "    break",
        "row += 1",
    ]


def list_scalars(node: Node) -> list[str]:
    """Return the names of the node's scalars, in the order in which a step returns them."""
    return [n for n, s in node.operator.state.items() if isinstance(s, Scalar)]
