"""Why a row is there: one derivation of it, from rows that were there before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbot.datalog.evaluation.kernels.ranked_rows import FACT, FIXED, IN
from rtbot.datalog.evaluation.ranked_relation import ROOM
from rtbot.datalog.evaluation.rule_versions import HEAD
from rtbot.datalog.evaluation.stratum_updates import AFTER, StratumUpdate
from rtbot.datalog.evaluation.version_runner import RuleRunner
from rtbot.datalog.program import Atom, Comparison, Constant, Negation, RuleVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from rtbot.datalog.evaluation.engine import Evaluation
    from rtbot.datalog.evaluation.version_runner import Filter
    from rtbot.datalog.program import Literal, Rule, Value


@dataclass(frozen=True)
class BodyPart:
    """What a literal of a rule is in a derivation.

    `kind` is "row", "absent" (a negation) or "aggregate"; constraints are left out. `values` are
    the columns, None where any value would do. An aggregate has its group, then its value, and its
    function in `relation`.
    """

    kind: str
    relation: str
    values: tuple[Value | None, ...]


@dataclass(frozen=True)
class Derivation:
    """A row and what it comes from: a rule and what its body was, or a fact (`rule` is None)."""

    relation: str
    values: tuple[Value, ...]
    rule: Rule | None
    bindings: Mapping[str, Value]
    body: tuple[BodyPart, ...]


class _FoundError(Exception):
    """A binding was found: the values of the slots are its argument."""


def find_derivation(evaluation: Evaluation, relation: str, row: np.ndarray) -> Derivation | None:
    """Return a derivation of a row of codes, None if the row is not there.

    The rows of its body that depend on the same relations came in before it, so that going on with
    them ends. The rule is the first that has such a derivation.
    """
    found = evaluation.relations[relation]
    ids = found.find_ids(row.reshape(1, -1))
    if ids[0] < 0 or not _read_state(evaluation, relation, ids) & IN:
        return None
    values = _decode(evaluation, relation, row.tolist())
    if _read_state(evaluation, relation, ids) & (FACT | FIXED):
        return Derivation(relation, values, None, {}, ())
    stratum = next(
        each
        for each in evaluation.strata
        if isinstance(each, StratumUpdate) and found in each.relations
    )
    for runner in stratum.runners:
        if runner.rule.relation == relation:
            derivation = _try_rule(evaluation, runner, ids, values)
            if derivation is not None:
                return derivation
    raise AssertionError(f"a row of {relation} without a derivation")


def _read_state(evaluation: Evaluation, relation: str, ids: np.ndarray) -> int:
    found = evaluation.relations[relation]
    return int(found.rows[ids[0] * found.stride + found.width + 1])


def _decode(evaluation: Evaluation, relation: str, row: list[int]) -> tuple[Value, ...]:
    types = evaluation.forms.types[relation]
    return tuple(map(evaluation.values.decode_value, row, types))


def _try_rule(
    evaluation: Evaluation, known: RuleRunner, ids: np.ndarray, values: tuple[Value, ...]
) -> Derivation | None:
    """Return the derivation of a row by a rule, if there is one."""
    relation = evaluation.relations[known.rule.relation]
    rank = int(relation.rows[ids[0] * relation.stride + relation.width])
    runner = RuleRunner(_name_wildcards(known.rule, evaluation), evaluation.space, known.inner)
    runner.planner.shows_all = True
    filters: dict[int, Filter] = dict.fromkeys(range(len(runner.rule.body)), AFTER)
    filters |= dict.fromkeys(runner.inner, (IN, 0, -1, rank - 1))

    def stop(_plan: object, buffer: np.ndarray, _count: int) -> None:
        raise _FoundError(buffer.reshape(-1, ROOM)[:, 0].copy())

    try:
        runner.run(HEAD, ids, filters, stop)
    except _FoundError as found:
        slots = found.args[0]
    else:
        return None
    bindings = {
        variable.name: evaluation.values.decode_value(int(slots[k]), variable.type)
        for k, variable in enumerate(known.rule.variables)
        if k in runner.find_bound() and not variable.name.startswith("_")
    }
    body = [_make_part(evaluation, runner.rule, literal, slots) for literal in runner.rule.body]
    parts = tuple(part for part in body if part is not None)
    return Derivation(known.rule.relation, values, known.rule, bindings, parts)


def _make_part(
    evaluation: Evaluation, rule: Rule, literal: Literal, slots: np.ndarray
) -> BodyPart | None:
    """Return what a literal is for a binding; nothing for a constraint."""
    if isinstance(literal, Comparison):
        return None
    atom = literal.atom if isinstance(literal, Negation) else literal
    assert isinstance(atom, Atom)
    values: list[Value | None] = []
    for term in atom.arguments:
        if isinstance(term, Variable):
            kind = rule.variables[term.index].type
            values.append(evaluation.values.decode_value(int(slots[term.index]), kind))
        else:
            values.append(term.value if isinstance(term, Constant) else None)
    group = evaluation.forms.find_group(atom.relation)
    if group is not None:
        values[-1:] = [0] if isinstance(literal, Negation) else values[-1:]
        return BodyPart("aggregate", group.how, tuple(values))
    kind = "absent" if isinstance(literal, Negation) else "row"
    return BodyPart(kind, atom.relation, tuple(values))


def _name_wildcards(rule: Rule, evaluation: Evaluation) -> Rule:
    """Return a rule whose atoms have variables where any value will do."""
    variables = list(rule.variables)
    body: list[Literal] = []
    for literal in rule.body:
        if not isinstance(literal, Atom):
            body.append(literal)
            continue
        types = evaluation.forms.types[literal.relation]
        arguments: list[Variable | Constant] = []
        for term, kind in zip(literal.arguments, types, strict=True):
            if term is None:
                variables.append(RuleVariable("_", kind))
            arguments.append(Variable(len(variables) - 1) if term is None else term)
        body.append(replace(literal, arguments=tuple(arguments)))
    return replace(rule, body=tuple(body), variables=tuple(variables))
