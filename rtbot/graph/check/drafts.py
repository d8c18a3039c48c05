"""The `operators` section as drafts: class, parameters and wiring of each, not yet resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problem, graph_error, suggest_known_name
from rtbot.core.scalar_values import ID, parse_integer
from rtbot.expression import Formula, Term, parse_expression
from rtbot.graph.check.context import (
    Context,
    check_id,
    hint_known_names,
    read_entries,
    read_text,
    suggest_key,
    to_plain_tree,
)
from rtbot.graph.check.declaration import verify_declaration
from rtbot.graph.check.wiring import (
    REFERENCE,
    is_control,
    is_named,
    map_output_names,
    names_outputs,
    read_feeds,
    read_tables,
)
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.diagnosis import suggest_space
from rtbot.operator import KINDS, REGISTRY, Operator, Parameter, suggest_operator

if TYPE_CHECKING:
    from collections.abc import Mapping as Map

    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.model import Ref

OPERATORS_MAX = 10_000
RESERVED = ("type", "in", "control", "doc", "meta")
_LATER = ("prototype", "operators", "connections", "entryOperator", "outputMappings")
PORT_COUNTS = ("numPorts", "num_ports", "portTypes")
PORT_TYPE = "portType"
PORT_TYPES = ("number", "boolean", "vector_number", "vector_boolean")
"""RtBot's names of what ports carry; here the streams that feed them decide."""


@dataclass
class Draft:
    """An operator of the file on its way to a node; `poisoned` once a problem of it is noted.

    `shown` is what feeds each port, as messages name it.
    """

    id: str
    mark: SourceSpan
    operator: type[Operator] = Formula
    values: dict[str, Any] = field(default_factory=dict)
    feeds: dict[str, ScalarNode] = field(default_factory=dict)
    inputs: dict[str, Ref] = field(default_factory=dict)
    marks: dict[str, SourceSpan] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=lambda: {"o1": "o1"})
    names: dict[str, str] = field(default_factory=dict)
    arity: int = 1
    poisoned: bool = False
    shapeless: bool = False
    term: Term | None = None
    scalar: ScalarNode | None = None
    doc: str = ""
    text: str = ""
    meta: Map[str, Any] = field(default_factory=dict)


def read_drafts(
    node: DocumentNode | None, taken: Map[str, SourceSpan], context: Context
) -> dict[str, Draft]:
    """Read every operator by itself; ids share one namespace with the inputs, `taken`."""
    if isinstance(node, SequenceNode):
        hint = "write a mapping: `operators: {ma: {type: MovingAverage, in: price}}`"
        raise graph_error("RT141", node.mark, "operators as a list, RtBot's form, come later", hint)
    items = read_entries(node, "operators", None, context.problems)
    if len(items) > OPERATORS_MAX:
        assert node is not None
        raise graph_error("RT108", node.mark, f"more than {OPERATORS_MAX} operators")
    drafts: dict[str, Draft] = {}
    open_brackets = 0
    flat = _find_unindented(items)
    for name, item in items.items():
        assert isinstance(node, MappingNode)
        if name in flat:
            continue
        if open_brackets > 0 and isinstance(item, ScalarNode) and item.missing:
            open_brackets += _count_open_brackets(name)
            continue
        bare = isinstance(item, ScalarNode) and not item.quoted
        open_brackets = (
            _count_open_brackets(item.text) if bare and isinstance(item, ScalarNode) else 0
        )
        draft = Draft(name, node.keys[name])
        _read(draft, item, context, "indent what belongs to it" if flat else "")
        if name in taken:
            message = f"{name!r} is an input already, on line {taken[name].line}"
            context.problems.add("RT106", draft.mark, message, "choose another id")
            continue
        drafts[name] = draft
        draft.poisoned |= not check_id(name, draft.mark, "an operator", context.problems)
    return drafts


def _find_unindented(items: Map[str, DocumentNode]) -> set[str]:
    """Return the keys that belong to an operator which is empty, as they are not indented."""
    named = items.get("type")
    empty = any(isinstance(item, ScalarNode) and item.missing for item in items.values())
    if not empty or not isinstance(named, ScalarNode) or named.text not in REGISTRY:
        return set()
    return {*RESERVED, *REGISTRY[named.text].parameters} & items.keys()


def _count_open_brackets(text: str) -> int:
    """Count the brackets that stay open: in { } a comma cuts an expression into apparent keys."""
    return text.count("(") - text.count(")")


def _read(draft: Draft, node: DocumentNode, context: Context, empty: str) -> None:
    """Read an operator; `empty` is what to try if there is nothing."""
    try:
        if isinstance(node, ScalarNode):
            _read_expression(draft, node, empty or "write an expression, or {type: NAME, in: ...}")
        elif isinstance(node, MappingNode):
            _read_operator(draft, node, context)
        else:
            message = f"an operator is a mapping or an expression, this is {node.form}"
            raise graph_error("RT105", node.mark, message, "write {type: NAME, in: ...}")
    except GraphError as error:
        _poison(draft, error, context)
        draft.shapeless = True


def _poison(draft: Draft, error: GraphError, context: Context) -> None:
    context.problems.add_all(error.problems, operator=draft.id)
    draft.poisoned = True


def _read_expression(draft: Draft, scalar: ScalarNode, empty: str) -> None:
    if scalar.missing:
        raise graph_error("RT105", draft.mark, f"the operator {draft.id} is empty", empty)
    draft.scalar, draft.text = scalar, scalar.text.strip()
    draft.term = parse_expression(scalar.text, scalar.place)


def _read_operator(draft: Draft, node: MappingNode, context: Context) -> None:
    items = node.items
    for key in _LATER:
        if key in items:
            raise graph_error("RT141", node.keys[key], f"`{key}` of an operator comes later")
    draft.operator = _find_class(draft, node, context)
    found = len(context.problems.found)
    draft.doc = read_text(items.get("doc"), "doc", context.problems)
    if "meta" in items:
        draft.meta = {
            k: to_plain_tree(v)
            for k, v in read_entries(items["meta"], "meta", None, context.problems).items()
        }
    unknown = _read_values(draft, node, context)
    wiring = _read_wiring(draft, node, unknown, context)
    if wiring:
        _compare_arity(draft, node, context)
    draft.poisoned |= len(context.problems.found) > found
    if not draft.poisoned:
        for sentence in draft.operator.check(draft.values, draft.arity):
            context.problems.add("RT116", draft.mark, sentence, operator=draft.id)
            draft.poisoned = True
    if not draft.poisoned:
        draft.operator = draft.operator.variant(draft.values)


def _find_class(draft: Draft, node: MappingNode, context: Context) -> type[Operator]:
    named = node.items.get("type")
    if named is None:
        for key, mark in node.keys.items():
            if hint := suggest_space(key) or suggest_known_name(key, ("type",)):
                message = f"unknown key {key!r} of the operator {draft.id}"
                raise graph_error("RT104", mark, message, hint)
        hint = "write {type: NAME, in: ...}; `rtbot ops` lists the names"
        if len(node.items) == 1 and not ID.fullmatch(next(iter(node.items))):
            hint = "write an expression without braces, in quotes if need be"
        raise graph_error("RT110", draft.mark, f"the operator {draft.id} has no type", hint)
    if not isinstance(named, ScalarNode):
        raise graph_error(
            "RT105", named.mark, f"type is the name of an operator, this is {named.form}"
        )
    operator = REGISTRY.get(named.text) or _find_in_packages(named, context)
    verify_declaration(operator)
    return operator


def _find_in_packages(named: ScalarNode, context: Context) -> type[Operator]:
    """Return the operator from an installed package."""
    from rtbot.graph.packages import find_operator, list_missing_reasons

    operator = find_operator(named.text)
    if operator is not None:
        return operator
    reasons = list_missing_reasons(named.text, named.mark)
    if reasons and reasons[0].code == "RT171":
        raise GraphError(reasons)
    hint = context.problems.make_hint(suggest_operator, named.text)
    hint = hint or "`rtbot ops` lists all operators"
    if named.text in KINDS:
        hint = f"{named.text} is the type of an input; `rtbot ops` lists the operators"
    message = f"unknown operator type {named.text!r}"
    raise GraphError([Problem("RT103", named.mark, message, hint), *reasons])


def _read_values(draft: Draft, node: MappingNode, context: Context) -> list[str]:
    """Fill the parameters and return the unknown keys, which are noted.

    One that looks like a parameter that is missing is one mistake, not two.
    """
    declared = draft.operator.parameters
    names = {alias: p for p in declared.values() for alias in (p.name, *p.aliases)}
    counts = (*PORT_COUNTS, PORT_TYPE) if states_ports(draft.operator) else ()
    given: dict[str, str] = {}
    suspects = []
    for key, item in node.items.items():
        if key in RESERVED or (key in counts and key not in names):
            continue
        if key not in names:
            suspects.append(key)
            left = [name for name in (*names, *RESERVED) if name not in node.items]
            hint = (
                draft.operator.unsupported.get(key)
                or suggest_key(key, left, context.problems)
                or hint_known_names([*declared, *RESERVED])
            )
            if isinstance(item, MappingNode):
                suspects += item.items
                hint = "parameters go beside `type` and `in`"
            message = f"{draft.operator.__name__} has no parameter {key!r}"
            context.problems.add("RT104", node.keys[key], message, hint, operator=draft.id)
            continue
        parameter = names[key]
        if parameter.name in given:
            message = f"{key} and {given[parameter.name]} are one parameter, given twice"
            hint = "keep one of the two"
            context.problems.add("RT106", node.keys[key], message, hint, operator=draft.id)
            continue
        given[parameter.name] = key
        _set(draft, parameter, item, context)
    for name, parameter in declared.items():
        if name not in given:
            _note_missing(draft, parameter, suspects, context)
    return suspects


def _set(draft: Draft, parameter: Parameter, item: DocumentNode, context: Context) -> None:
    try:
        draft.values[parameter.name] = parameter.read(item, context)
    except GraphError as error:
        _poison(draft, error, context)


def _note_missing(
    draft: Draft, parameter: Parameter, suspects: list[str], context: Context
) -> None:
    if parameter.required and parameter.default is None:
        draft.poisoned = True
        names = (parameter.name, *parameter.aliases)
        if not any(key.startswith(names) or suggest_known_name(key, names) for key in suspects):
            message = f"{draft.operator.__name__} needs the parameter {parameter.name}"
            hint = f"add `{parameter.name}: ...`" + (parameter.doc and f", {parameter.doc}")
            context.problems.add("RT111", draft.mark, message, hint, operator=draft.id)
        return
    try:
        draft.values[parameter.name] = parameter.read_default(draft.mark, context)
    except GraphError as error:
        _poison(draft, error, context)


def _read_wiring(draft: Draft, node: MappingNode, unknown: list[str], context: Context) -> bool:
    """Fill ports from `in` and `control`; return whether the number of ports is known."""
    misspelt = "in" not in node.items and any(suggest_known_name(key, ("in",)) for key in unknown)
    try:
        if is_named(draft.operator):
            draft.feeds, draft.names = read_tables(draft.operator, draft.id, node)
        else:
            draft.feeds = read_feeds(draft.operator, draft.id, node)
        draft.arity = draft.operator.count_arity(draft.feeds)
    except GraphError as error:
        _poison(draft, error, context)
        draft.shapeless = True
        return False
    if draft.operator.returns and draft.poisoned:  # parameters choose the outputs
        draft.shapeless = True
    else:
        draft.outputs = map_output_names(draft.operator, draft.arity, draft.values)
    if names_outputs(draft.operator):
        from rtbot.graph.check.resolve_program import find_program_outputs

        find_program_outputs(draft)
    ports = draft.operator.ports(draft.arity)
    missing = [p for p in ports if p not in draft.feeds and draft.operator.port(p).needed]
    odd = not all(REFERENCE.fullmatch(feed.text) for feed in draft.feeds.values())
    if missing and (odd or misspelt):
        draft.poisoned = True
    elif missing:
        names = [f"{draft.id}.{port}" for port in missing]
        shown = ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        verb = "is" if len(names) == 1 else "are"
        hint = "every data port is fed once: `in: a`, `in: [a, b]` or `in: {i1: a}`"
        if missing[0].startswith("c"):
            hint = "control ports are fed by `control:`, each once: `control: [a, b]`"
        place = node.keys.get("in", draft.mark)
        context.problems.add(
            "RT123", place, f"{shown} {verb} not fed", hint, operator=draft.id, port=missing[0]
        )
        draft.poisoned = True
    return not missing


def states_ports(cls: type[Operator]) -> bool:
    """Return whether RtBot may say how many ports there are, and of what type."""
    return len(cls.inputs) > 1 or any(port.variadic for port in cls.inputs.values())


def _compare_arity(draft: Draft, node: MappingNode, context: Context) -> None:
    """Compare RtBot's `numPorts` and `portTypes` with the wiring, if no parameter has the name.

    A `portType` is one of its names.
    """
    if not states_ports(draft.operator):
        return
    data = [port for name, port in draft.operator.inputs.items() if not is_control(name)]
    wired = draft.arity if any(port.variadic for port in data) else len(data)
    kind = node.items.get(PORT_TYPE)
    if kind is not None and not (isinstance(kind, ScalarNode) and kind.text in PORT_TYPES):
        hint = f"RtBot's are {', '.join(PORT_TYPES)}; leave it out"
        message = f"{PORT_TYPE} is no type of a port"
        context.problems.add("RT113", kind.mark, message, hint, operator=draft.id)
    for key in PORT_COUNTS:
        item = node.items.get(key)
        if item is None or any(
            key in (p.name, *p.aliases) for p in draft.operator.parameters.values()
        ):
            continue
        count = len(item.items) if isinstance(item, SequenceNode) else None
        if key != "portTypes":
            count = parse_integer(item) if isinstance(item, ScalarNode) else None
        if count is None:
            message = f"{key} is not a port count"
            context.problems.add("RT113", item.mark, message, "leave it out", operator=draft.id)
        elif count != wired:
            message = f"{key} says {count} ports, the wiring has {wired}"
            context.problems.add("RT116", item.mark, message, "leave it out", operator=draft.id)
