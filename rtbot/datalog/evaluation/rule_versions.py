"""Versions of a rule: an order of its literals for what it starts from.

A version starts from rows of one of its literals (a trigger), from rows of its head (to find their
derivations), or from nothing. Then come the literals: constraints as soon as their variables have
values, of the atoms the one that fits the fewest rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rtbot.datalog.evaluation.term_walks import (
    list_literal_variables,
    list_term_variables,
    may_fail,
)
from rtbot.datalog.program import Atom, Call, Comparison, Constant, Negation, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rtbot.datalog.program import Literal, Rule, Term

    Encode = Callable[[Constant], int]
    FanOut = Callable[[str, tuple[int, ...]], float]

NOTHING_KEPT: np.ndarray = np.empty(0, np.int64)
HEAD, NOTHING = -1, -2
"""What a version starts from, where it is no literal."""


@dataclass
class AtomStep:
    """Rows of a relation: `columns` have values already (`keys`), others give slots theirs (`new`).

    `literal` is its place in the body. A source in `keys` is a slot, or -1 - k for a constant. For
    a start, `checks` are pairs (column, constant).
    """

    literal: int
    relation: str
    columns: tuple[int, ...]
    keys: np.ndarray
    new: np.ndarray
    same: np.ndarray
    checks: np.ndarray
    keep: np.ndarray = field(default_factory=lambda: NOTHING_KEPT)


@dataclass
class NegationStep:
    """That no row of a relation has these values in `columns`."""

    literal: int
    relation: str
    columns: tuple[int, ...]
    keys: np.ndarray
    keep: np.ndarray = field(default_factory=lambda: NOTHING_KEPT)


@dataclass
class Waiting:
    """What had values before a constraint that may fail, and which literals had not come yet."""

    literal: int
    bound: frozenset[int]
    left: tuple[int, ...]


@dataclass
class TestStep:
    """A constraint between terms that have values; `waiting` if computing them may fail."""

    comparison: Comparison
    waiting: Waiting | None
    keep: np.ndarray = field(default_factory=lambda: NOTHING_KEPT)


@dataclass
class AssignStep:
    """A variable that gets the value of a term; `waiting` if computing it may fail."""

    slot: int
    term: Term
    waiting: Waiting | None


Step = AtomStep | NegationStep | TestStep | AssignStep


@dataclass
class VersionPlan:
    """The steps of a version, and the sources of the columns of the head.

    The slots after those of the variables are for the highest rank and the id of a row of the head,
    then those of computed columns of the head: `computed` are (slot, term).
    """

    start: AtomStep | None
    steps: list[Step]
    head: np.ndarray
    computed: list[tuple[int, Term]]
    slots: int
    ranks: int
    sizes: dict[str, int]


class VersionPlanner:
    """Plans the versions of one rule.

    `constants` are the codes of all constants of the rule's atoms and head. With `shows_all` all
    variables keep their values until the end.
    """

    def __init__(self, rule: Rule, encode: Encode) -> None:
        self.rule = rule
        self.codes: dict[Constant, int] = {}
        self.encode = encode
        self.count = len(rule.variables)
        self.ranks, self.head_id = self.count, self.count + 1
        self.slots = self.count + 2 + len(rule.head)
        atoms = [each.atom if isinstance(each, Negation) else each for each in rule.body]
        for terms in (rule.head, *(a.arguments for a in atoms if isinstance(a, Atom))):
            for term in terms:
                if isinstance(term, Constant):
                    self.codes.setdefault(term, len(self.codes))
        self.constants = np.array([encode(each) for each in self.codes], np.int64)
        self.levels = _list_levels(rule)
        self.shows_all = False

    def plan(self, start: int, fan_out: FanOut, sizes: Mapping[str, int]) -> VersionPlan:
        """Return the steps from a start; `sizes` are those that `fan_out` is about."""
        body: list[Literal] = list(self.rule.body)
        bound: set[int] = set()
        first = None
        left = list(range(len(body)))
        if start == HEAD:
            first = self._start_from_head(body, bound)
            left = list(range(len(body)))
        elif start != NOTHING:
            first = self._make_start(start, body[start], bound)
            left.remove(start)
        steps = self._order(body, left, bound, fan_out)
        head, computed = self._make_head(start)
        shows = self.shows_all or computed or _has_waiting(steps)
        shown = set(range(self.count)) & bound if shows else set()
        self._find_kept(first, steps, computed, {int(source) for source in head} | shown)
        return VersionPlan(first, steps, head, computed, self.slots, self.ranks, dict(sizes))

    def plan_check(self, waiting: Waiting, fan_out: FanOut) -> tuple[list[Step], list[int]]:
        """Return the steps that find out whether a failure counts, and the variables bound then.

        It counts if all literals hold that do not need what failed, nor what may fail after it.
        """
        body: list[Literal] = list(self.rule.body)
        level = self._level(waiting.literal)
        left = [place for place in waiting.left if self._level(place) < level]
        bound = set(waiting.bound)
        known = sorted(bound)
        steps = self._order(body, left, bound, fan_out)
        for step in steps:
            if isinstance(step, AssignStep):
                known.append(step.slot)
                continue
            step.keep = np.array(known, np.int64)
            if isinstance(step, AtomStep):
                known += step.new[1::2].tolist()
        return steps, known

    def _level(self, place: int) -> int:
        """When a literal may be asked for; columns of the head come last."""
        return self.levels[place] if place < len(self.levels) else 2 * len(self.levels) + 1

    def _order(
        self, body: list[Literal], left: list[int], bound: set[int], fan_out: FanOut
    ) -> list[Step]:
        """Return the steps of the literals that are left, in the order in which they come."""
        steps: list[Step] = []
        while left:
            chosen = self._choose(body, left, bound, fan_out)
            left.remove(chosen)
            steps.append(self._make_step(chosen, body[chosen], bound, left))
        return steps

    def _start_from_head(self, body: list[Literal], bound: set[int]) -> AtomStep:
        """Bind a row of the head; computed columns are compared with what they should be."""
        arguments: list[Variable | Constant] = []
        for column, term in enumerate(self.rule.head):
            if isinstance(term, Call):
                slot = Variable(self.head_id + 1 + column)
                body.append(Comparison("=", slot, term, term.type, False, term.span))
                arguments.append(slot)
            else:
                arguments.append(term)
        atom = Atom(self.rule.relation, tuple(arguments), self.rule.span)
        return self._make_start(HEAD, atom, bound)

    def _make_start(self, place: int, literal: Literal, bound: set[int]) -> AtomStep:
        atom = literal.atom if isinstance(literal, Negation) else literal
        assert isinstance(atom, Atom)
        step = self._make_atom(place, atom, bound, starts=True)
        bound.update(list_literal_variables(atom))
        return step

    def _make_atom(self, place: int, atom: Atom, bound: set[int], *, starts: bool) -> AtomStep:
        columns, keys, new, same, checks = [], [], [], [], []
        places: dict[int, int] = {}
        for column, term in enumerate(atom.arguments):
            if isinstance(term, Constant) and starts:
                checks += [column, self.codes[term]]
            elif isinstance(term, Constant) or (term is not None and term.index in bound):
                columns.append(column)
                keys.append(self._source(term))
            elif term is not None and term.index in places:
                same += [places[term.index], column]
            elif term is not None:
                places[term.index] = column
                new += [column, term.index]
        parts = (np.array(part, np.int64) for part in (keys, new, same, checks))
        return AtomStep(place, atom.relation, tuple(columns), *parts)

    def _source(self, term: Term) -> int:
        if isinstance(term, Constant):
            return -1 - self.codes[term]
        assert isinstance(term, Variable)
        return term.index

    def _choose(
        self, body: list[Literal], left: list[int], bound: set[int], fan_out: FanOut
    ) -> int:
        """Return the literal that comes next; what may fail keeps its order."""
        first = min((self._level(k) for k in left if _fails(body[k])), default=len(body) * 3)
        best, least = -1, 0.0
        for place in left:
            literal = body[place]
            if self._level(place) > first:
                continue
            if not isinstance(literal, Atom):
                if _is_ready(literal, bound):
                    return place
                continue
            columns = tuple(_list_bound_columns(literal, bound))
            cost = fan_out(literal.relation, columns)
            if best < 0 or cost < least:
                best, least = place, cost
        assert best >= 0, f"a literal without values: {self.rule.text}"
        return best

    def _make_step(
        self, place: int, literal: Literal, bound: set[int], left: Sequence[int]
    ) -> Step:
        """Return the step of a literal, whose variables have values then."""
        if isinstance(literal, Atom):
            step: Step = self._make_atom(place, literal, bound, starts=False)
        elif isinstance(literal, Negation):
            columns = tuple(_list_bound_columns(literal.atom, bound))
            terms = [literal.atom.arguments[k] for k in columns]
            keys = [self._source(term) for term in terms if term is not None]
            step = NegationStep(place, literal.atom.relation, columns, np.array(keys, np.int64))
        else:
            assert isinstance(literal, Comparison)
            waiting = Waiting(place, frozenset(bound), tuple(left)) if _fails(literal) else None
            step = _make_comparison(literal, bound, waiting)
        bound.update(list_literal_variables(literal))
        return step

    def _make_head(self, start: int) -> tuple[np.ndarray, list[tuple[int, Term]]]:
        """Return the sources of the head, and the columns that are computed."""
        if start == HEAD:
            return NOTHING_KEPT, []
        computed: list[tuple[int, Term]] = []
        sources = []
        for column, term in enumerate(self.rule.head):
            if isinstance(term, Call):
                slot = self.head_id + 1 + column
                computed.append((slot, term))
                sources.append(slot)
            else:
                sources.append(self._source(term))
        return np.array(sources, np.int64), computed

    def _find_kept(
        self,
        start: AtomStep | None,
        steps: Sequence[Step],
        computed: Iterable[tuple[int, Term]],
        last: set[int],
    ) -> None:
        """Note for every step which slots have values that later ones, or the last, need."""
        needed = {self.ranks} | {source for source in last if source >= 0}
        needed |= {v for _, term in computed for v in list_term_variables(term)}
        needed -= {slot for slot, _ in computed}
        if start is not None and start.literal == HEAD:
            needed.add(self.head_id)
        for step in reversed(steps):
            if isinstance(step, AssignStep):
                needed.discard(step.slot)
                needed |= set(list_term_variables(step.term))
                continue
            given = set(step.new[1::2].tolist()) if isinstance(step, AtomStep) else set()
            step.keep = np.array(sorted(needed - given), np.int64)
            needed -= given
            if isinstance(step, TestStep):
                sides = (step.comparison.left, step.comparison.right)
                needed |= {v for side in sides for v in list_term_variables(side)}
            else:
                needed |= {int(source) for source in step.keys if source >= 0}


def _has_waiting(steps: Iterable[Step]) -> bool:
    return any(isinstance(each, TestStep | AssignStep) and each.waiting for each in steps)


def _make_comparison(literal: Comparison, bound: set[int], waiting: Waiting | None) -> Step:
    if literal.operator == "=" and not literal.negated:
        for one, other in ((literal.left, literal.right), (literal.right, literal.left)):
            if isinstance(one, Variable) and one.index not in bound:
                return AssignStep(one.index, other, waiting)
    return TestStep(literal, waiting)


def _list_bound_columns(atom: Atom, bound: set[int]) -> Iterable[int]:
    for column, term in enumerate(atom.arguments):
        if isinstance(term, Constant) or (isinstance(term, Variable) and term.index in bound):
            yield column


def _is_ready(literal: Literal, bound: set[int]) -> bool:
    """Return whether all that a constraint reads has values."""
    if isinstance(literal, Comparison) and literal.operator == "=" and not literal.negated:
        for one, other in ((literal.left, literal.right), (literal.right, literal.left)):
            if isinstance(one, Variable) and bound.issuperset(list_term_variables(other)):
                return True
    return bound.issuperset(list_literal_variables(literal))


def _list_levels(rule: Rule) -> list[int]:
    """Return when every literal may be asked for, so that faults do not depend on the order.

    At level 0 are those that can be asked for before anything that may fail is computed. Then
    comes, with a level of its own, the first literal that may fail and has values; then those that
    can be asked for after it, and so on.
    """
    body = rule.body
    levels = [-1] * len(body)
    bound: set[int] = set()
    level = 0
    while -1 in levels:
        _reach(body, levels, bound, level)
        left = [k for k in range(len(body)) if levels[k] < 0]
        if not left:
            break
        chosen = next(k for k in left if _fails(body[k]) and _is_ready(body[k], bound))
        levels[chosen] = level + 1
        bound.update(list_literal_variables(body[chosen]))
        level += 2
    return levels


def _reach(body: Sequence[Literal], levels: list[int], bound: set[int], level: int) -> None:
    """Give all literals a level that can be asked for without computing what may fail."""
    found = True
    while found:
        found = False
        for place, literal in enumerate(body):
            if levels[place] >= 0 or _fails(literal):
                continue
            if isinstance(literal, Atom) or _is_ready(literal, bound):
                levels[place] = level
                bound.update(list_literal_variables(literal))
                found = True


def _fails(literal: Literal) -> bool:
    if not isinstance(literal, Comparison):
        return False
    return may_fail(literal.left) or may_fail(literal.right)
