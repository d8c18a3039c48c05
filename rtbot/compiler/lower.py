"""Text that computes a node in a loop: a formula as its statements, a step as its call.

Lowering gives a fragment and changes nothing in the text of the loop. It takes from there what all
nodes of a loop share: names, places of state, parameters and counters that are loaded once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.compiler.expression_code import ExpressionCode, ExpressionWriter
from rtbot.compiler.generated_text import indent_lines
from rtbot.compiler.step_calls import StepCall
from rtbot.compiler.step_signature import format_argument, list_used_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.compiler.generated_text import Conditions
    from rtbot.compiler.segment import NamedFunctions, Segment
    from rtbot.compiler.variables import LoopVariable
    from rtbot.graph.model import Node


DOMAIN = "domain "
"""Prefix of the name of a loss under `domain` at a port that need not have a message."""


@dataclass
class Fragment:
    """What a node adds to a loop: lines of the row, what it calls, and its state around the rows.

    `outputs` are (value, valid) of each output, `flags` say whether it is emitted: without one it
    always is. `load` and `store` bring the state of a key.
    """

    body: list[str]
    outputs: dict[str, tuple[str, str | None]]
    functions: NamedFunctions
    flags: dict[str, str] = field(default_factory=dict)
    load: list[str] = field(default_factory=list)
    store: list[str] = field(default_factory=list)


def lower_node(
    segment: Segment, node: Node, sources: dict[str, LoopVariable], active: Conditions
) -> Fragment:
    """Return what computes a node from these variables, in rows where the flags `active` hold."""
    if node.formulas:
        return lower_formulas(segment, node, sources)
    return lower_step(segment, node, StepCall(segment, node, sources, active))


def name_output(node: Node, port: str) -> str:
    """Return the name of an output in generated text, unless it is taken."""
    return node.id if len(node.outputs) == 1 else f"{node.id}_{port}"


def lower_step(segment: Segment, node: Node, call: StepCall) -> Fragment:
    """Write the call of the node's step, and what its emission code means."""
    operator, declared = node.operator, node.declared_outputs
    results: list[str] = []
    checks: list[str] = []
    outputs, flags = {}, {}
    for port in node.outputs:
        name = segment.make_name(name_output(node, port))
        valid = segment.make_name(f"{name}_valid") if node.types[port].nullable else None
        results += [name, valid] if valid else [name]
        checks += call.check_kind(name, node.types[port].kind, port)
        outputs[port] = (name, valid)
        if declared[port].silent:
            flags[port] = segment.make_name(f"{name}_on")
            results.append(flags[port])
    results += call.targets
    emits = []
    if operator.silent or operator.faults:
        results = ["code", *results]
        emits = [f"{flag} = {flag} and code == 1" for flag in flags.values()]
        rest = [port for port in node.outputs if port not in flags]
        if rest:
            flags |= dict.fromkeys(rest, segment.make_name(f"{node.id}_on"))
            emits.append(f"{flags[rest[0]]} = code == 1")
    lines = [*call.lines, f"{', '.join(results)} = {call.text}", *checks, *call.after, *emits]
    if operator.faults:
        lines += ["if code == 2:", *indent_lines(_faults(segment, node, call.sources), 1)]
    return Fragment(lines, outputs, call.functions, flags, call.load, call.store)


def lower_formulas(segment: Segment, node: Node, sources: dict[str, LoopVariable]) -> Fragment:
    """Write the statements of the node's formulas: what it keeps, where it faults, its outputs."""
    names = {
        port: ExpressionCode(format_argument(node, port, s), s.valid) for port, s in sources.items()
    }
    for name in list_used_parameters(node):
        names[name] = ExpressionCode(segment.add_parameter(node, name))
    writer = ExpressionWriter(names, segment.make_name(f"{node.id}_part"))
    kept = {
        port: [
            writer.write(node.formulas[n]) for n in ("keep", f"keep {port}") if n in node.formulas
        ]
        for port in node.outputs
    }
    faulty = [writer.write(node.formulas[n]) for n in ("fault",) if n in node.formulas]
    codes = {p: writer.write(node.formulas[p]) for p in node.outputs}
    outputs = {p: _assign_output(segment, node, p, codes[p], writer.lines) for p in codes}
    passing = {p: " and ".join(map(_format_true, part)) for p, part in kept.items()}
    fine = [f"({c.fine}{_format_or_null(c)})" for c in codes.values() if c.fine is not None]
    fine += [f"not {_format_true(c)}" for c in faulty]
    fine += [f"({c.fine})" for part in kept.values() for c in part if c.fine is not None]
    lines = [*writer.lines, *_count_losses(segment, node, writer)]
    fine_text = " and ".join(dict.fromkeys(fine))
    flags = _write_emission(segment, node, sources, lines, (passing, fine_text))
    return Fragment(lines, outputs, [*writer.functions.items()], flags)


def _assign_output(
    segment: Segment, node: Node, port: str, code: ExpressionCode, lines: list[str]
) -> tuple[str, str | None]:
    """Return the names that an output's value and valid flag get in new lines."""
    name = segment.make_name(name_output(node, port))
    lines.append(f"{name} = {code.value}")
    if not node.types[port].nullable:
        return name, None
    valid = segment.make_name(f"{name}_valid")
    lines.append(f"{valid} = {code.valid or 'True'}")
    return name, valid


def _count_losses(segment: Segment, node: Node, writer: ExpressionWriter) -> list[str]:
    """Write lines that count messages which are paired and then left out, by port."""
    lines: list[str] = []
    for name, tree in node.formulas.items():
        if not name.startswith("lost "):
            continue
        before = len(writer.lines)
        code = writer.write(tree)
        assert len(writer.lines) == before, "a loss condition has no checked arithmetic"
        counter = segment.count_loss(node, name.removeprefix("lost "))
        lines += [f"if {_format_true(code)}:", f"    {counter} += 1"]
    return lines


def _faults(segment: Segment, node: Node, sources: dict[str, LoopVariable]) -> list[str]:
    """Write lines that count a row outside of the domain: at the ports that have a message in it.

    A port that only looks back has none of its own there.
    """
    lines = [f"{segment.count_loss(node, '')} += 1"]
    roles = node.roles
    for port, source in sources.items():
        if roles[port] != "must" and source.valid:
            counter = segment.count_loss(node, DOMAIN + port)
            if roles[port] == "may":
                lines += [f"if {source.valid}:", f"    {counter} += 1"]
    return lines


def _write_emission(
    segment: Segment,
    node: Node,
    sources: dict[str, LoopVariable],
    lines: list[str],
    conditions: tuple[dict[str, str], str],
) -> dict[str, str]:
    """Write the flags under which outputs are emitted in new lines; none where they always are.

    `conditions` are those of every output, "" for none, and the one that nothing is at fault.
    Outputs of one condition share a flag.
    """
    passing, fine = conditions
    texts = dict.fromkeys(passing.values())
    if fine:
        wanted = "" if "" in texts else f"{_join_any(texts)} and "
        lines += [f"if {wanted}not ({fine}):", *indent_lines(_faults(segment, node, sources), 1)]
    flags: dict[str, str] = {}
    for text in texts:
        if text or fine:
            name = node.id if len(texts) == 1 else f"{node.id}_{len(flags) + 1}"
            flags[text] = segment.make_name(f"{name}_on")
            lines.append(f"{flags[text]} = {' and '.join(t for t in (text, fine) if t)}")
    return {port: flags[text] for port, text in passing.items() if text in flags}


def _join_any(texts: Iterable[str]) -> str:
    """Return the condition that one of these holds."""
    several = list(texts)
    return several[0] if len(several) == 1 else f"({' or '.join(several)})"


def _format_true(code: ExpressionCode) -> str:
    return f"(({code.valid}) and {code.value})" if code.valid else f"({code.value})"


def _format_or_null(code: ExpressionCode) -> str:
    return f" or not ({code.valid})" if code.valid else ""
