"""A program as it is evaluated, as data: strata, rules, versions, join orders and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.datalog.evaluation.rule_versions import (
    HEAD,
    NOTHING,
    AssignStep,
    AtomStep,
    NegationStep,
)
from rtbot.datalog.evaluation.stratum_updates import StratumUpdate
from rtbot.datalog.program import Atom, Call, Comparison, Constant, Negation, Variable

if TYPE_CHECKING:
    from rtbot.datalog.evaluation.engine import Evaluation
    from rtbot.datalog.evaluation.rule_forms import Group
    from rtbot.datalog.evaluation.rule_versions import Step
    from rtbot.datalog.evaluation.version_runner import RuleRunner
    from rtbot.datalog.program import Literal, Rule, Term


def describe_strata(evaluation: Evaluation) -> dict[str, Any]:
    """Return the strata in order, with the versions of every rule as they would be run now.

    A version starts from rows of a literal, of the head (those that were taken out), or from
    nothing; `order` is what follows.
    """
    strata = []
    for form, stratum in zip(evaluation.forms.strata, evaluation.strata, strict=True):
        found: dict[str, Any] = {
            "relations": {name: len(evaluation.relations[name]) for name in form.relations},
            "recursive": isinstance(stratum, StratumUpdate) and stratum.recursive,
        }
        if form.group is not None:
            found["aggregate"] = _describe_group(form.group)
        if form.asked:
            found["aggregates"] = [_describe_group(group) for group in form.asked]
        if isinstance(stratum, StratumUpdate):
            found["rules"] = [
                _describe_rule(runner, lower, recursive=stratum.recursive)
                for runner, lower in zip(stratum.runners, stratum.lower, strict=True)
            ]
        strata.append(found)
    return {"strata": strata, "bytes": evaluation.count_bytes()}


def _describe_group(group: Group) -> dict[str, Any]:
    return {"function": group.how, "over": group.source, "columns": group.width}


def _describe_rule(runner: RuleRunner, lower: list[int], *, recursive: bool) -> dict[str, Any]:
    rule = runner.rule
    starts = sorted({*lower, *runner.inner})
    versions = [_describe_version(runner, start) for start in starts]
    if recursive:
        versions.append(_describe_version(runner, HEAD))
    if not runner.inner:
        versions.append(_describe_version(runner, NOTHING))
    span = rule.span
    return {
        "head": rule.relation,
        "text": " ".join(rule.text.split()),
        "line": span.line,
        "versions": versions,
    }


def _describe_version(runner: RuleRunner, start: int) -> dict[str, Any]:
    plan = runner.find_plan(start)
    names = {HEAD: "head", NOTHING: "nothing"}
    begin = names[start] if start in names else show_literal(runner.rule.body[start], runner.rule)
    return {"from": begin, "order": [_show_step(step, runner.rule) for step in plan.steps]}


def _show_step(step: Step, rule: Rule) -> str:
    if isinstance(step, AtomStep | NegationStep):
        return show_literal(rule.body[step.literal], rule)
    if isinstance(step, AssignStep):
        return f"{_show_term(Variable(step.slot), rule)} = {_show_term(step.term, rule)}"
    return show_literal(step.comparison, rule)


def show_literal(literal: Literal, rule: Rule) -> str:
    """Return a literal as text."""
    match literal:
        case Negation():
            return f"!{show_literal(literal.atom, rule)}"
        case Atom():
            terms = ", ".join(_show_term(term, rule) for term in literal.arguments)
            return f"{literal.relation}({terms})"
        case Comparison():
            left, right = (_show_term(term, rule) for term in (literal.left, literal.right))
            if literal.operator in ("match", "contains"):
                return f"{'!' * literal.negated}{literal.operator}({left}, {right})"
            return f"{left} {literal.operator} {right}"
    return f"{literal.how} : {{...}}"


def _show_term(term: Term | None, rule: Rule) -> str:
    match term:
        case Variable():
            names = rule.variables
            return names[term.index].name if term.index < len(names) else "_"
        case Constant():
            return f'"{term.value}"' if isinstance(term.value, str) else str(term.value)
        case Call():
            terms = [_show_term(each, rule) for each in term.arguments]
            if len(terms) == 2 and not term.functor.isalpha():
                return f"({terms[0]} {term.functor} {terms[1]})"
            return f"{term.functor}({', '.join(terms)})"
    return "_"
