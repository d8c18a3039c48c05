"""Vectors at the ports of a node: a port for each element, a formula for each that is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, Problem, graph_error
from rtbot.core.vector_names import VECTOR, name_element
from rtbot.expression import Expression, cast_outputs, type_formulas
from rtbot.graph.model import Ref
from rtbot.operator import Kept
from rtbot.operator.vectors import list_elements

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rtbot.graph.check.drafts import Draft
    from rtbot.operator import Type

LOST, KEPT = "lost ", "keep "


def lower_vectors(
    draft: Draft, paired: Mapping[str, Type], outputs: Mapping[str, Type]
) -> tuple[dict[str, Type], dict[str, Expression]]:
    """Return the types of ports, and the formulas, of a node that has vectors; wire its elements.

    A formula that makes an element names it as an output, `o1.0`. One for a whole vector is that of
    every element. A port whose values do not matter is fed with the first element. Rows that are
    kept are so with all elements.
    """
    cls = draft.operator
    generic = any(out.kind == "T" for out in cls.outputs.values())
    used = {port for port, type_ in paired.items() if type_.kind == VECTOR}
    used -= {port for port in used if cls.port(port).kind == "T" and not generic}
    inputs = {port: t if port in used else _take_first(t) for port, t in paired.items()}
    firsts = {port: _take_first(type_) for port, type_ in inputs.items()}
    trees = type_formulas(cls, draft.values, inputs, firsts | _expand(inputs))
    given = {name.split(".")[0] for name in trees}
    if any(isinstance(item, Kept) for item in cls.state.values()):
        given |= outputs.keys()
    steps = [port for port in used if not outputs.keys() & given]
    if steps:
        name = draft.shown[steps[0]]
        message = f"{cls.__name__} works on single values, {name} is {paired[steps[0]]}"
        hint = f"name an element: {name}.0"
        if cls.port(steps[0]).kind == VECTOR:
            message = f"{cls.__name__} takes vectors, and has no formula"
            hint = "a step takes single values: vectors are for formula, or formula_for"
        raise graph_error("RT125", draft.mark, message, hint)
    draft.inputs = _wire(draft.inputs, paired, used)
    formulas = _expand_formulas(trees, outputs, used)
    made = _expand(outputs)
    return {**_expand(inputs), **made}, cast_outputs(formulas, made)


def spread_vectors(draft: Draft, types: Mapping[Ref, Type]) -> None:
    """Feed ports that are within another with the elements of the vector that feeds that one."""
    declared = draft.operator.inputs
    groups: dict[str, list[str]] = {}
    for name, one in declared.items():
        if one.within and name not in draft.inputs:
            groups.setdefault(one.within, [one.within]).append(name)
    for first, ports in groups.items():
        ref, mark = draft.inputs[first], draft.marks[first]
        type_, shown = types[ref], draft.shown[first]
        names = " and ".join(declared[port].alias or port for port in ports)
        hint = f"or one {VECTOR}[{len(ports)}] feeds {names}"
        if type_.kind != VECTOR:
            message = f"{draft.id}.{ports[1]} is not fed"
            raise GraphError([Problem("RT123", mark, message, hint, draft.id, ports[1])])
        if type_.size != len(ports):
            message = f"{draft.id}.{first} has {names}, {shown} is {type_}"
            raise GraphError([Problem("RT125", mark, message, hint, draft.id, first)])
        for port, field in zip(ports, type_.fields, strict=True):
            draft.inputs[port] = Ref(ref.id, name_element(ref.port, field.name))
            draft.marks[port], draft.shown[port] = mark, name_element(shown, field.name)


def _take_first(type_: Type) -> Type:
    return type_.fields[0].type if type_.kind == VECTOR else type_


def _expand(types: Mapping[str, Type]) -> dict[str, Type]:
    """Return the types of ports, those of vectors by element."""
    found: dict[str, Type] = {}
    for port, type_ in types.items():
        ports = list_elements(port, type_) if type_.kind == VECTOR else [port]
        found |= dict.fromkeys(ports, _take_first(type_))
    return found


def _wire(
    refs: Mapping[str, Ref], types: Mapping[str, Type], used: Collection[str]
) -> dict[str, Ref]:
    """Return what feeds every port: elements of vectors."""
    found: dict[str, Ref] = {}
    for port, ref in refs.items():
        if types[port].kind != VECTOR:
            found[port] = ref
        elif port not in used:
            found[port] = Ref(ref.id, name_element(ref.port, 0))
        else:
            for field in types[port].fields:
                source = Ref(ref.id, name_element(ref.port, field.name))
                found[name_element(port, field.name)] = source
    return found


def _expand_formulas(
    trees: Mapping[str, Expression], outputs: Mapping[str, Type], used: Collection[str]
) -> dict[str, Expression]:
    """Return the formulas of elements; conditions look at the first one."""
    found: dict[str, Expression] = {}
    for name, tree in trees.items():
        type_ = outputs.get(name)
        if type_ is not None and type_.kind == VECTOR:
            for field in type_.fields:
                found[name_element(name, field.name)] = _choose(tree, field.name, used)
            continue
        kept = name.removeprefix(KEPT)
        if name.startswith(KEPT) and kept in outputs and outputs[kept].kind == VECTOR:
            for one in list_elements(kept, outputs[kept]):
                found[f"{KEPT}{one}"] = _choose(tree, "0", used)
            continue
        lost = name.startswith(LOST) and name.removeprefix(LOST) in used
        found[name_element(name, 0) if lost else name] = _choose(tree, "0", used)
    return found


def _choose(tree: Expression, place: str, used: Collection[str]) -> Expression:
    """Return the formula with an element in place of each vector."""
    if tree.op == "port" and tree.value in used:
        return replace(tree, value=name_element(tree.value, place))
    return replace(tree, args=tuple(_choose(one, place, used) for one in tree.args))
