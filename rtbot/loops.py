"""The text of whole functions: the loop over a batch, its one-row twin, and the loop of an operator
that gives its outputs times of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.segments import ZERO, Group, Segment, Variable, step_name, test

if TYPE_CHECKING:
    from rtbot.graph import Node

SETUP = ["H = I[0]", "W = I[1]"]


def block(lines: list[str], depth: int) -> list[str]:
    """The lines, `depth` levels in."""
    return ["    " * depth + line for line in lines]


def batch(segment: Segment, groups: list[Group]) -> str:
    """The loop over the runs of a batch; see `arguments` for the order of its parameters."""
    parameters = ["runs", "slots", "starts", "time", *flat(segment.columns), "F", "I"]
    opening: list[str] = []
    closing: list[str] = []
    rows: list[str] = []
    for number, group in enumerate(groups):
        names = group_names(segment.name, number, group)
        parameters += names
        if group.conditions:
            opening += [f"m{number} = 0", f"{names[0]}[0] = 0"]
            closing.append(f"{names[0]}[run + 1] = m{number}")
        rows += stores(number, group, names)
    body = [f"{name} = {name}_column[row]" for name in flat(segment.columns)]
    body = ["t = time[row]", *body, *segment.body, *rows]
    lines = [
        *block(SETUP + segment.head + opening, 1),
        "    for run in range(runs):",
        "        first = starts[run]",
        "        last = starts[run + 1]",
        "        if first < last:",
        *block(["base = H + slots[run] * W", *segment.load], 3),
        "            for row in range(first, last):",
        *block(body, 4),
        *block(segment.store, 3),
        *block(closing, 2),
        *block(segment.tail, 1),
        *([f"    I[{segment.rows}] += starts[runs]"] if segment.rows is not None else []),
    ]
    shown = [f"{p}_column" if p in flat(segment.columns) else p for p in parameters]
    return "\n".join([f"def {segment.name}({', '.join(shown)}):", *lines]) + "\n"


def group_names(prefix: str, number: int, group: Group) -> list[str]:
    """Parameters of a group: starts and times unless it has every row, then its columns."""
    names = [] if not group.conditions else [f"starts_{number}", f"time_{number}"]
    for position, column in enumerate(group.columns):
        names.append(f"{prefix[0]}{number}_{position}_{column.text}")
        if column.valid:
            names.append(f"{prefix[0]}{number}_{position}_{column.text}_valid")
    return names


def flat(columns: list[tuple[str, str | None]]) -> list[str]:
    """Names of the value and valid columns, in order."""
    return [name for pair in columns for name in pair if name is not None]


def canonical(column: Variable) -> str:
    """The value as it is stored: one NaN, and one value where there is none."""
    text = column.text
    if column.type.kind == "number":
        text = f"{text} if {text} == {text} else math.nan"
    if column.valid:
        text = f"({text}) if {column.valid} else {'math.nan' if column.type.kind == 'number' else ZERO[column.type.kind]}"
    return text


def stores(number: int, group: Group, names: list[str]) -> list[str]:
    """Lines that append the group's columns to its output."""
    place = f"m{number}" if group.conditions else "row"
    columns = iter(names[2:] if group.conditions else names)
    lines = [f"time_{number}[m{number}] = t"] if group.conditions else []
    for column in group.columns:
        lines.append(f"{next(columns)}[{place}] = {canonical(column)}")
        if column.valid:
            lines.append(f"{next(columns)}[{place}] = {column.valid}")
    if not group.conditions:
        return lines
    lines.append(f"m{number} += 1")
    return [f"if {test(group.conditions)}:", *block(lines, 1)]


def one(segment: Segment, groups: list[Group]) -> str:
    """The one-row twin: takes a row by value, returns per group a flag and the values."""
    parameters = ["slot", "t", *flat(segment.columns), "F", "I"]
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
            lines.append(f"{name} = {canonical(column)}")
            results.append(name)
            if column.valid:
                before.append(f"{name}_valid = False")
                lines.append(f"{name}_valid = {column.valid}")
                results.append(f"{name}_valid")
        after += [f"if {test(group.conditions)}:", *block(lines, 1)] if group.conditions else lines
    lines = [
        *SETUP,
        *segment.head,
        "base = H + slot * W",
        *segment.load,
        *before,
        *segment.body,
        *segment.store,
        *segment.tail,
        *([f"I[{segment.rows}] += 1"] if segment.rows is not None else []),
        *after,
        f"return {', '.join(results)}{',' if len(results) == 1 else ''}",
    ]
    text = [f"def {segment.name}_one({', '.join(parameters)}):", *block(lines, 1)]
    return "\n".join(text) + "\n"


def own(segment: Segment, node: Node) -> str:
    """The loop of an operator with its own times. It stops where `room` is used up.

    Returns the row to go on with (the number of rows when done) and how many rows it wrote; it is
    called again with the next run and row until it has seen all. `progress` receives, per key, the time
    up to which nothing more can come, where the operator keeps that itself.
    """
    sources: dict[str, Variable] = {p: segment.variables[r] for p, r in node.inputs.items()}
    lines: list[str] = []
    call, targets = segment.call(node, sources, lines)
    outputs: list[str] = []
    keep: list[str] = []
    columns: list[str] = []
    for port in node.outputs:
        kind = node.types[port]
        name = segment.unique(f"{node.id}_{port}")
        valid = segment.unique(f"{name}_valid") if kind.nullable else None
        outputs += [name, valid] if valid else [name]
        value = Variable(name, valid, kind, frozenset())
        keep.append(f"{name}_column[m] = {canonical(value)}")
        columns.append(f"{name}_column")
        if valid:
            keep.append(f"{valid}_column[m] = {valid}")
            columns.append(f"{valid}_column")
    targets_text = ", ".join(["code", "own_time", *outputs, *targets])
    domain = segment.layout.counter()
    segment.losses[node.id, ""] = domain
    counter = segment.counter(domain)
    frontier = [t for t, s in zip(targets, scalars(node), strict=True) if s == "frontier"]
    progress = [f"progress[slots[run]] = {frontier[0]}"] if frontier else []
    inner = [
        "code = 3",
        "while code == 3 and m < room:",
        f"    {targets_text} = {call}",
        "    if code == 1 or code == 3:",
        *block(["out_time[m] = own_time", *keep, "m += 1"], 2),
        "    elif code == 2:",
        f"        {counter} += 1",
        "if code == 3:",
        "    full = True",
        "    break",
        "row += 1",
    ]
    reads = ["if m == room:", "    full = True", "    break", "t = time[row]", *(f"{n} = {n}_column[row]" for n in flat(segment.columns)), *lines]
    begin = ["m = 0", "row = from_row", "run = from_run", "full = False"]
    body = [
        *block(SETUP + segment.head + begin, 1),
        "    while run < runs and not full:",
        "        last = starts[run + 1]",
        "        if row < last:",
        *block(["base = H + slots[run] * W", *segment.load], 3),
        "            while row < last:",
        *block([*reads, *inner], 4),
        *block([*segment.store, *progress], 3),
        "        if not full:",
        "            run += 1",
        "            out_starts[run] = out_base + m",
        *block([*segment.tail, "return run, row, m"], 1),
    ]
    parameters = ["runs", "slots", "starts", "time", *(f"{n}_column" for n in flat(segment.columns))]
    parameters += ["F", "I", "progress", "from_run", "from_row", "room", "out_base"]
    parameters += ["out_starts", "out_time", *columns]
    return "\n".join([f"def {segment.name}({', '.join(parameters)}):", *body]) + "\n"


def scalars(node: Node) -> list[str]:
    """Names of the node's scalars, in the order in which a step returns them."""
    from rtbot.operator import Scalar

    return [n for n, s in node.operator.state.items() if isinstance(s, Scalar)]
