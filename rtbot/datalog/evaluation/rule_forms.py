"""A program as rules without aggregates, and groups: what evaluation knows.

The bindings of the body of an aggregate become rows of a relation of their own: the group, then the
other variables and wildcards, then the value. A group keeps the relation of (group, aggregate) over
it. A rule with a count or a sum becomes two: one joins that relation, the other has its negation
and the value 0. Names of such relations begin with `@`.

If only the stratum of the rule gives a group its values, then the groups that are asked for, the
bindings and the aggregates are relations of this stratum, too, and a count or a sum over nothing is
a row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbot.datalog.evaluation.term_walks import (
    list_literal_variables,
    list_term_variables,
    may_fail,
    term_type,
)
from rtbot.datalog.program import (
    FLOAT,
    Aggregate,
    Atom,
    Comparison,
    Constant,
    Negation,
    Rule,
    RuleVariable,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.datalog.program import Literal, Program, Term

WITH_ZERO = ("count", "sum")


@dataclass(frozen=True)
class Group:
    """Keeps `relation` (group, aggregate) over the rows of `source`.

    The last column of these is aggregated; `width` is how many columns the group has, `type` that
    of the value in `source`. `asked` is the relation of the groups that are asked for, if all three
    are of one stratum.
    """

    relation: str
    source: str
    how: str
    width: int
    type: str
    rule: Rule
    asked: str = ""


@dataclass
class Stratum:
    """Relations that depend on each other, with the rules of their heads, or one group.

    `asked` are groups among the relations, each after those on which it depends.
    """

    relations: tuple[str, ...]
    rules: list[Rule] = field(default_factory=list)
    group: Group | None = None
    asked: list[Group] = field(default_factory=list)


@dataclass
class RuleForms:
    """The types of all relations, those of aggregates too, and the strata in order."""

    types: dict[str, tuple[str, ...]]
    strata: list[Stratum]

    def find_group(self, relation: str) -> Group | None:
        """Return the group that keeps a relation, if one does."""
        groups = [group for each in self.strata for group in (each.group, *each.asked)]
        return next((g for g in groups if g is not None and g.relation == relation), None)


def make_forms(program: Program) -> RuleForms:
    """Return a program as rules without aggregates."""
    types = {
        name: tuple(column.type for column in relation.columns)
        for name, relation in program.relations.items()
    }
    forms = RuleForms(types, [])
    for names in program.strata:
        stratum = Stratum(names)
        for rule in program.rules:
            if rule.relation in names:
                stratum.rules += _Divider(forms, rule, stratum).divide()
        forms.strata.append(stratum)
    return forms


class _Divider:
    """Takes the aggregates out of one rule; what they need becomes strata before its own.

    What needs rows of its own stratum becomes a part of this.
    """

    def __init__(self, forms: RuleForms, rule: Rule, stratum: Stratum) -> None:
        self.forms, self.rule, self.stratum = forms, rule, stratum
        self.variables = rule.variables

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the variables."""
        return tuple(variable.type for variable in self.variables)

    def divide(self) -> list[Rule]:
        """Return the rules that take the place of this one."""
        bodies = self._expand(self.rule.body)
        return [replace(self.rule, body=body) for body in bodies]

    def _expand(self, body: Sequence[Literal]) -> list[tuple[Literal, ...]]:
        """Return bodies without aggregates."""
        bodies: list[tuple[Literal, ...]] = [()]
        for literal in body:
            choices: list[tuple[Literal, ...]] = [(literal,)]
            if isinstance(literal, Aggregate):
                choices = self._replace_aggregate(literal, body)
            bodies = [left + right for left in bodies for right in choices]
        return bodies

    def _replace_aggregate(
        self, aggregate: Aggregate, body: Sequence[Literal]
    ) -> list[tuple[Literal, ...]]:
        name = f"@{aggregate.how}{len(self.forms.types)}"
        source, asked = self._add_witnesses(f"{name}.rows", aggregate, body)
        outer = tuple(self.types[v.index] for v in aggregate.outer)
        self.forms.types[name] = (*outer, aggregate.type)
        value = self.forms.types[source][-1] if aggregate.value is not None else aggregate.type
        group = Group(name, source, aggregate.how, len(outer), value, self.rule, asked)
        there = Atom(name, (*aggregate.outer, aggregate.target), aggregate.span)
        if asked:
            self.stratum.relations += (name,)
            self.stratum.asked.append(group)
            return [(there,)]
        self.forms.strata.append(Stratum((name,), group=group))
        if aggregate.how not in WITH_ZERO:
            return [(there,)]
        absent = Negation(Atom(name, (*aggregate.outer, None), aggregate.span))
        zero = Constant(0.0 if aggregate.type == FLOAT else 0, aggregate.type)
        is_zero = Comparison(
            "=", aggregate.target, zero, aggregate.type, negated=False, span=aggregate.span
        )
        return [(there,), (absent, is_zero)]

    def _add_witnesses(
        self, name: str, aggregate: Aggregate, around: Sequence[Literal]
    ) -> tuple[str, str]:
        """Add the relation of the bindings of the body of an aggregate, and return it.

        The second is that of the groups that are asked for, if it is of the same stratum.
        """
        before = self.variables
        body, made = _name_wildcards(aggregate.body, self.forms, len(before))
        inside = _list_grounded(body, frozenset())
        missing = [v for v in aggregate.outer if v.index not in inside]
        asked = ""
        if missing:
            group = self._ground(aggregate, around, missing)
            body = [group, *body]
            asked = group.relation if group.relation in self.stratum.relations else ""
        self.variables = (*before, *made)
        own = dict.fromkeys(v for literal in body for v in list_literal_variables(literal))
        outer = [v.index for v in aggregate.outer]
        if missing:
            inner = {v for each in aggregate.body for v in list_literal_variables(each)}
            inner |= {len(before) + place for place in range(len(made))}
            own = dict.fromkeys(v for v in own if v in inner)
        head: list[Term] = [Variable(v) for v in (*outer, *(v for v in own if v not in outer))]
        if aggregate.value is not None:
            head.append(aggregate.value)
        self.forms.types[name] = tuple(term_type(term, self.types) for term in head)
        rule = replace(self.rule, relation=name, head=tuple(head), variables=self.variables)
        self._add_rules(rule, body, within=bool(asked))
        self.variables = before
        return name, asked

    def _add_rules(self, rule: Rule, body: Sequence[Literal], *, within: bool) -> None:
        """Add a relation with the rules that a rule becomes, in a stratum before or in this."""
        rules = [replace(rule, body=each) for each in self._expand(body)]
        if within:
            self.stratum.relations += (rule.relation,)
            self.stratum.rules += rules
        else:
            self.forms.strata.append(Stratum((rule.relation,), rules))

    def _ground(
        self, aggregate: Aggregate, around: Sequence[Literal], missing: Sequence[Variable]
    ) -> Atom:
        """Return a literal that gives the group its values: a relation of those it is asked for.

        It must have the variables that are missing, and has of the others those that it can. It is
        of this stratum if only rows of this stratum have them, and then has all variables.
        """
        atoms = [each for each in around if isinstance(each, Atom)]
        others = [e for e in around if isinstance(e, Comparison | Aggregate) and e is not aggregate]
        lower = [each for each in atoms if each.relation not in self.stratum.relations]
        literals, known = _choose_grounding(lower, others, aggregate.outer)
        within = not known.issuperset(v.index for v in missing)
        if within:
            literals, known = _choose_grounding(atoms, others, aggregate.outer)
            literals += [e for e in others if _is_test(e, known) and e not in literals]
        name = f"@group{len(self.forms.types)}"
        group = tuple(v for v in aggregate.outer if v.index in known)
        self.forms.types[name] = tuple(self.types[v.index] for v in group)
        rule = replace(self.rule, relation=name, head=group, variables=self.variables)
        self._add_rules(rule, literals, within=within)
        return Atom(name, group, aggregate.span)


def _choose_grounding(
    atoms: Sequence[Literal], others: Sequence[Literal], wanted: Sequence[Variable]
) -> tuple[list[Literal], frozenset[int]]:
    """Return atoms with what else gives values to variables, and the variables that have them.

    What no variable that is wanted needs is left out: it could fail.
    """
    known = _list_grounded(atoms, frozenset())
    needed = {variable.index for variable in wanted}
    rest, chosen = list(others), []
    while not known.issuperset(needed):
        literal = next((each for each in rest if _gives_more(each, known)), None)
        if literal is None:
            break
        rest.remove(literal)
        chosen.append((literal, _ground_by(literal, known) - known))
        known |= _ground_by(literal, known)
    kept: list[Literal] = []
    for literal, given in reversed(chosen):
        if needed & given:
            kept.insert(0, literal)
            needed |= set(list_literal_variables(literal))
    return [*atoms, *kept], known


def _is_test(literal: Literal, known: frozenset[int]) -> bool:
    """Return whether a literal compares what is known, and cannot fail."""
    return (
        isinstance(literal, Comparison)
        and not any(map(may_fail, (literal.left, literal.right)))
        and known.issuperset(list_literal_variables(literal))
    )


def _name_wildcards(
    body: Iterable[Literal], forms: RuleForms, first: int
) -> tuple[list[Literal], list[RuleVariable]]:
    """Return a body whose atoms have variables in place of wildcards, and those variables."""
    named: list[Literal] = []
    made: list[RuleVariable] = []
    for literal in body:
        if not isinstance(literal, Atom):
            named.append(literal)
            continue
        arguments: list[Variable | Constant | None] = []
        for argument, kind in zip(literal.arguments, forms.types[literal.relation], strict=True):
            if argument is None:
                arguments.append(Variable(first + len(made)))
                made.append(RuleVariable(f"_{len(made)}", kind))
            else:
                arguments.append(argument)
        named.append(replace(literal, arguments=tuple(arguments)))
    return named, made


def _list_grounded(body: Iterable[Literal], known: frozenset[int]) -> frozenset[int]:
    """Return the variables that a body gives values to."""
    body = list(body)
    for literal in body:
        if isinstance(literal, Atom):
            known |= set(list_literal_variables(literal))
        elif isinstance(literal, Aggregate):
            known |= {literal.target.index}
    size = -1
    while size != len(known):
        size = len(known)
        for literal in body:
            known |= _ground_by(literal, known)
    return known


def _gives_more(literal: Literal, known: frozenset[int]) -> bool:
    """Return whether a literal gives a value to a variable that has none."""
    return not _ground_by(literal, known) <= known


def _ground_by(literal: Literal, known: frozenset[int]) -> frozenset[int]:
    """Return the variables that a literal gives values to where others have them."""
    if isinstance(literal, Aggregate):
        outer = {variable.index for variable in literal.outer}
        return frozenset({literal.target.index}) if outer <= known else frozenset()
    if not isinstance(literal, Comparison) or literal.operator != "=" or literal.negated:
        return frozenset()
    sides = (literal.left, literal.right), (literal.right, literal.left)
    return frozenset(
        one.index
        for one, other in sides
        if isinstance(one, Variable) and known.issuperset(list_term_variables(other))
    )
