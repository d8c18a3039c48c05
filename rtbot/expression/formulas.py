"""The formulas of an operator's declaration, parsed and typed for the ports it has."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problems
from rtbot.expression.rules import infer_types, widen
from rtbot.expression.syntax import Term, parse_expression, without_place
from rtbot.expression.tree import Expression
from rtbot.operator import Operator, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

CONSTANTS = {"nan": math.nan, "inf": math.inf}

_parse_cached = lru_cache(maxsize=4096)(lambda text: parse_expression(text, without_place))


def find_constant(name: str) -> Expression | None:
    """Return the constant of a name, `nan` or `inf`, or None."""
    return (
        Expression("constant", Type("number"), (), CONSTANTS[name]) if name in CONSTANTS else None
    )


def type_formulas(
    cls: type[Operator],
    values: Mapping[str, Any],
    inputs: Mapping[str, Type],
    elements: Mapping[str, Type] | None = None,
) -> dict[str, Expression]:
    """Type `formula`, `keep` and `fault` of an operator for the types of its ports after pairing.

    Where ports carry vectors, `elements` has the types of what they may name.

    Raises GraphError if a formula does not fit the types, such as a sum of texts, and ValueError if
    it cannot be read: that is a mistake in the operator, not in a graph.
    """
    texts = list_formulas(cls, values, inputs)
    kinds = list_value_kinds(cls, values)
    ports = inputs if elements is None else elements

    def resolved(term: Term) -> Expression:
        name = term.value
        if name in ports:
            return Expression("port", ports[name], (), name)
        if name in kinds:
            return Expression("value", Type(kinds[name]), (), name)
        tree = find_constant(name)
        if tree is None:
            raise ValueError(f"{cls.__name__}: {name} is neither a port nor a parameter")
        return tree

    trees = {}
    for port, text in texts.items():
        problems = Problems()
        try:
            term = _parse_cached(text)
        except GraphError as error:
            raise ValueError(f"{cls.__name__}.{port}: {error}") from None
        tree = infer_types(term, resolved, problems, without_place, values, internal=True)
        if tree is None:
            raise GraphError(problems.found)
        trees[port] = tree
    return trees


def list_formulas(
    cls: type[Operator], values: Mapping[str, Any], inputs: Mapping[str, Type]
) -> dict[str, str]:
    """Return the texts of formulas by output port, and "keep", "fault", "lost i2" and so on.

    Where every output has its own condition there are "keep o1", "keep o2" and so on.
    """
    texts: dict[str, str] = {}
    ports = list(inputs)
    outputs = [name for name, out in cls.outputs.items() if not out.variadic]
    formula = cls.formula_for(values, inputs)
    for name, given in (("formula", formula), ("keep", cls.keep), ("fault", cls.fault)):
        text = given(values, ports) if callable(given) else given
        if text is None:
            continue
        if name == "formula":
            texts |= {outputs[0]: text} if isinstance(text, str) else text
        else:
            texts |= {name: text} if isinstance(text, str) else _prefix_keys(name, text)
    lost = cls.lost(values, ports)
    return texts | {f"lost {port}": condition for port, (_reason, condition) in lost.items()}


def _prefix_keys(name: str, texts: Mapping[str, str]) -> dict[str, str]:
    return {f"{name} {port}": text for port, text in texts.items()}


def list_value_kinds(cls: type[Operator], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the kind of every parameter that a formula may name; lists by element, `name_1`."""
    kinds: dict[str, str] = {}
    for name, parameter in cls.parameters.items():
        kinds |= parameter.list_kinds(values[name])
    return kinds


def cast_outputs(
    trees: Mapping[str, Expression], outputs: Mapping[str, Type]
) -> dict[str, Expression]:
    """Cast every output's tree to the type that the operator declares, but not conditions."""
    result = {}
    for port, tree in trees.items():
        type_ = outputs.get(port, tree.type)
        fit = widen(tree, type_.kind)
        if fit.type.kind != type_.kind:
            raise ValueError(f"the formula of {port} gives {fit.type}, {type_} is declared")
        result[port] = replace(fit, type=type_)
    return result
