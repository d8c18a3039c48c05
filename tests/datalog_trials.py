"""Random Datalog programs under random epochs, against naive evaluation.

`python -m tests.datalog_trials --count N --seed S` runs N programs, each for some epochs: negation
and aggregates over earlier strata, wildcards, constants, repeated variables, arithmetic, relations
that are both input and derived. After every epoch all rows, and the changes that the commit
returned, are those of the oracle. Facts come in any order and in several forms of the same epoch;
now and then a limit is hit, after which everything is as it was; now and then what is saved is
restored into another evaluation. With `--reference` the slow reference of the same algorithm runs
beside.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.source_span import SourceSpan
from rtbot.datalog.evaluation import stratum_updates
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.program import (
    Aggregate,
    Atom,
    Call,
    Column,
    Comparison,
    Constant,
    Fact,
    Negation,
    Program,
    Relation,
    Rule,
    RuleVariable,
    Variable,
)
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.tables.string_dictionary import StringDictionary
from tests.oracles import datalog as oracle
from tests.oracles.ranked_support import RankedSupport

if TYPE_CHECKING:
    from collections.abc import Callable

SPAN = SourceSpan("random.dl", 1, 1)
VALUES = 4
ROWS_MAX = 150
SHARES = stratum_updates.SHARE, stratum_updates.LARGE


class RandomProgram:
    """Makes one program of numbers; relations are named by stratum."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.relations: dict[str, Relation] = {}
        self.rules: list[Rule] = []
        self.strata: list[tuple[str, ...]] = []

    def make(self) -> Program:
        rng = self.rng
        for k in range(rng.randint(1, 3)):
            self.add_relation(f"in{k}", is_input=True)
            self.strata.append((f"in{k}",))
        for level in range(rng.randint(1, 4)):
            lower = list(self.relations)
            names = tuple(f"d{level}{letter}" for letter in "abc"[: rng.choice([1, 1, 2, 3])])
            for name in names:
                self.add_relation(name, is_input=rng.random() < 0.3)
            self.strata.append(names)
            for name in names:
                for _ in range(rng.randint(1, 3)):
                    self.rules.append(self.make_rule(name, lower, names))
        facts = tuple(
            Fact(name, tuple(self.value() for _ in relation.columns), SPAN)
            for name, relation in self.relations.items()
            for _ in range(rng.choice([0, 0, 0, 1, 2]))
        )
        return Program(self.relations, facts, tuple(self.rules), tuple(self.strata))

    def value(self) -> int:
        return self.rng.randrange(VALUES)

    def add_relation(self, name: str, *, is_input: bool) -> None:
        width = self.rng.choice([1, 2, 2, 2, 3])
        columns = tuple(Column(f"c{k}", "number", "number") for k in range(width))
        self.relations[name] = Relation(name, columns, is_input, True, False, None, SPAN)

    def make_rule(self, head: str, lower: list[str], own: tuple[str, ...]) -> Rule:
        rng = self.rng
        scope = Scope(self)
        body = []
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            source = rng.choice(own) if rng.random() < 0.45 else rng.choice(lower)
            body.append(scope.make_atom(source))
        if rng.random() < 0.4:
            body.append(Negation(scope.make_atom(rng.choice(lower), grounded=True)))
        if rng.random() < 0.25:
            body.append(Negation(scope.make_atom(rng.choice(lower), grounded=True)))
        if rng.random() < 0.3:
            body.append(scope.make_aggregate(lower))
        if rng.random() < 0.3:
            body.append(scope.make_comparison())
        if rng.random() < 0.3:
            body.append(scope.make_assignment())
        terms = [self.make_head_term(scope) for _ in self.relations[head].columns]
        rng.shuffle(body)
        variables = tuple(RuleVariable(f"v{k}", "number") for k in range(scope.count))
        return Rule(head, tuple(terms), tuple(body), variables, f"{head} :- ...", SPAN)

    def make_head_term(self, scope: Scope) -> object:
        rng = self.rng
        if rng.random() < 0.1 or not scope.bound:
            return Constant(self.value(), "number")
        variable = Variable(rng.choice(scope.bound))
        if rng.random() < 0.15:
            step = Call("+", (variable, Constant(1, "number")), "number", SPAN)
            return Call("%", (step, Constant(VALUES, "number")), "number", SPAN)
        if rng.random() < 0.03:
            return Call("+", (variable, Constant(1, "number")), "number", SPAN)
        return variable


class Scope:
    """The variables of a rule."""

    def __init__(self, program: RandomProgram) -> None:
        self.program, self.rng = program, program.rng
        self.count = 0
        self.bound: list[int] = []

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def make_atom(self, name: str, *, grounded: bool = False, inner: list | None = None) -> Atom:
        rng = self.rng
        arguments: list = []
        for _ in self.program.relations[name].columns:
            chance = rng.random()
            if chance < 0.15:
                arguments.append(None)
            elif chance < 0.25:
                arguments.append(Constant(self.program.value(), "number"))
            elif grounded:
                arguments.append(Variable(rng.choice(self.bound)) if self.bound else None)
            elif inner is not None and (not self.bound or rng.random() < 0.6):
                if not inner or rng.random() < 0.7:
                    inner.append(self.new())
                arguments.append(Variable(rng.choice(inner)))
            elif self.bound and (inner is not None or rng.random() < 0.5):
                arguments.append(Variable(rng.choice(self.bound)))
            else:
                new = self.new()
                self.bound.append(new)
                arguments.append(Variable(new))
        return Atom(name, tuple(arguments), SPAN)

    def make_comparison(self) -> Comparison:
        rng = self.rng
        left = Variable(rng.choice(self.bound)) if self.bound else Constant(1, "number")
        right: object = Constant(self.program.value(), "number")
        if self.bound and rng.random() < 0.5:
            right = Variable(rng.choice(self.bound))
        operator = rng.choice(["=", "!=", "<", "<=", ">", ">="])
        if rng.random() < 0.2:
            left = Call("/", (Constant(6, "number"), left), "number", SPAN)
        return Comparison(operator, left, right, "number", False, SPAN)

    def make_assignment(self) -> Comparison:
        rng = self.rng
        operand = Variable(rng.choice(self.bound)) if self.bound else Constant(1, "number")
        functor = rng.choice(["+", "-", "*", "/", "%", "band", "min"])
        other = Constant(self.program.value(), "number")
        pair = (operand, other) if rng.random() < 0.7 else (other, operand)
        term = Call(functor, pair, "number", SPAN)
        target = self.new()
        sides = (Variable(target), term) if rng.random() < 0.5 else (term, Variable(target))
        if functor not in ("+", "-", "*") or rng.random() < 0.1:
            self.bound.append(target)
        return Comparison("=", *sides, "number", False, SPAN)

    def make_aggregate(self, lower: list[str]) -> Aggregate:
        rng = self.rng
        inner: list[int] = []
        body: list = [
            self.make_atom(rng.choice(lower), inner=inner) for _ in range(rng.choice([1, 1, 2]))
        ]
        known = [v for atom in body for v in atom_variables(atom)]
        if known and rng.random() < 0.5:
            outer_or_inner = [*known, *self.bound]
            right = Variable(rng.choice(outer_or_inner))
            body.append(Comparison("<=", Variable(rng.choice(known)), right, "number", False, SPAN))
        if rng.random() < 0.2:
            atom = self.make_atom(rng.choice(lower), grounded=True)
            body.append(Negation(atom))
        how = rng.choice(["count", "sum", "min", "max", "mean"])
        value = Variable(rng.choice(known)) if known else Constant(2, "number")
        if rng.random() < 0.2:
            value = Call("*", (value, Constant(3, "number")), "number", SPAN)
        used = {v for literal in body for v in literal_variables(literal)}
        used |= set(literal_variables(value))
        outer = tuple(Variable(v) for v in sorted(used) if v in self.bound)
        target = self.new()
        if how == "mean":
            how = "count"
        self.bound.append(target)
        return Aggregate(
            Variable(target),
            how,
            None if how == "count" else value,
            tuple(body),
            outer,
            "number",
            SPAN,
        )


def atom_variables(atom: Atom) -> list[int]:
    return [term.index for term in atom.arguments if isinstance(term, Variable)]


def literal_variables(literal: object) -> list[int]:
    match literal:
        case Atom():
            return atom_variables(literal)
        case Negation(atom=atom):
            return atom_variables(atom)
        case Comparison(left=left, right=right):
            return literal_variables(left) + literal_variables(right)
        case Call(arguments=arguments):
            return [v for each in arguments for v in literal_variables(each)]
        case Variable(index=index):
            return [index]
    return []


def pick_rows(rng: random.Random, relation: Relation, most: int) -> list[tuple[int, ...]]:
    count = rng.randint(0, most)
    return [tuple(rng.randrange(VALUES) for _ in relation.columns) for _ in range(count)]


def to_words(rows: list[tuple[int, ...]], width: int) -> np.ndarray:
    return np.array(rows, np.int64).reshape(len(rows), width)


def to_set(words: np.ndarray) -> set[tuple[int, ...]]:
    rows = [tuple(row) for row in words.tolist()]
    assert len(rows) == len(set(rows)), "a row twice"
    return set(rows)


class Trial:
    """One program, its evaluation and its facts."""

    def __init__(self, rng: random.Random, compiled: bool | str | None, *, reference: bool) -> None:
        self.rng, self.compiled = rng, compiled
        self.program = RandomProgram(rng).make()
        self.inputs = [name for name, each in self.program.relations.items() if each.is_input]
        self.facts: dict[str, set] = {name: set() for name in self.program.relations}
        self.before: dict[str, set] = {name: set() for name in self.program.relations}
        shares = rng.choice([(3, 2), (0, 0), (0, 0), (0, 0)])
        stratum_updates.SHARE, stratum_updates.LARGE = shares  # small strata are updated too
        self.evaluation = self.start()
        self.reference = RankedSupport(self.program) if reference else None
        self.epochs = self.failed = 0
        self.ended = False

    def start(self, **limits: int):
        return start_evaluation(self.program, StringDictionary(), compiled=self.compiled, **limits)

    def make_changes(self) -> dict[str, tuple[list, list]]:
        rng = self.rng
        most = rng.choice([0, 1, 1, 2, 5, 12])
        found = {}
        for name in self.inputs:
            if rng.random() < 0.7:
                relation = self.program.relations[name]
                gone = pick_rows(rng, relation, most)
                present = sorted(self.facts[name])
                if present:
                    gone += rng.sample(present, rng.randint(0, min(most, len(present))))
                found[name] = gone, pick_rows(rng, relation, most)
        return found

    def run_epoch(self) -> None:
        rng = self.rng
        changes = self.make_changes()
        facts = {name: set(rows) for name, rows in self.facts.items()}
        for name, (gone, come) in changes.items():
            facts[name] = (facts[name] - set(gone)) | set(come)
            rng.shuffle(gone)
            rng.shuffle(come)
        try:
            expected = oracle.evaluate(self.program, facts, ROWS_MAX)
        except oracle.NoResultError as error:
            expected = None
            if str(error) == "too many rows":
                self.ended = True
                return
        words = {
            name: tuple(to_words(rows, len(self.program.relations[name].columns)) for rows in pair)
            for name, pair in changes.items()
        }
        self.epochs += 1
        if expected is not None and rng.random() < 0.1:
            self.hit_limit(words)
        if expected is None:
            self.failed += 1
            self.refuse(words)
            return
        changed = self.evaluation.commit(words)
        if self.reference is not None:
            self.reference.commit(changes)
        for name in self.program.relations:
            rows = {tuple(map(int, row)) for row in expected[name]}
            assert self.reference is None or set(self.reference.rows[name]) == rows, name
            assert to_set(self.evaluation.list_rows(name)) == rows, name
            removed, added = changed.get(name, (to_words([], 1), to_words([], 1)))
            assert to_set(removed) == self.before[name] - rows, f"{name}: removed"
            assert to_set(added) == rows - self.before[name], f"{name}: added"
            self.before[name] = rows
        self.facts = facts
        if rng.random() < 0.2:
            self.explain_rows(expected)
        if rng.random() < 0.1:
            self.move()

    def explain_rows(self, expected: dict) -> None:
        """Derivations of some rows go down to facts, through rows that are there."""
        names = [name for name in expected if expected[name]]
        known: set = set()
        for name in self.rng.sample(names, min(2, len(names))):
            self.explain(name, self.rng.choice(sorted(expected[name])), expected, (), known)

    def explain(self, name: str, row: tuple, expected: dict, above: tuple, known: set) -> None:
        assert (name, row) not in above, "a row that is its own reason"
        if (name, row) in known:
            return
        derivation = self.evaluation.derive(name, np.array(row, np.int64))
        assert derivation is not None
        assert derivation.values == row
        if derivation.rule is None:
            assert row in self.facts[name] or Fact(name, row, SPAN) in self.program.facts
        for part in derivation.body:
            if part.kind == "row":
                assert part.values in expected[part.relation]
                self.explain(part.relation, part.values, expected, (*above, (name, row)), known)
            elif part.kind == "absent":
                pairs = [zip(part.values, other, strict=True) for other in expected[part.relation]]
                assert not any(all(a in (None, b) for a, b in pair) for pair in pairs)
        known.add((name, row))

    def refuse(self, words: dict) -> None:
        """A commit that fails leaves everything as it was."""
        try:
            self.evaluation.commit(words)
        except RuleError:
            pass
        else:
            raise AssertionError("a commit that should fail")
        self.check_unchanged()

    def check_unchanged(self) -> None:
        for name in self.program.relations:
            assert to_set(self.evaluation.list_rows(name)) == self.before[name], name

    def hit_limit(self, words: dict) -> None:
        """Let a commit fail by a limit, somewhere."""
        ranks = self.evaluation.ranks
        kept = ranks.max_facts, ranks.max_iterations
        ranks.max_facts, ranks.max_iterations = self.rng.choice(
            [(self.rng.randint(0, 30), kept[1]), (kept[0], self.rng.randint(0, 3))]
        )
        begun = self.evaluation.begun
        try:
            self.evaluation.commit(words)
        except RuleError:
            self.check_unchanged()
            return
        finally:
            ranks.max_facts, ranks.max_iterations = kept
        self.evaluation = self.start()
        if begun:
            self.evaluation.commit(self.list_facts())
            self.check_unchanged()

    def list_facts(self) -> dict:
        """All facts as the changes of a first epoch."""
        widths = {name: len(each.columns) for name, each in self.program.relations.items()}
        return {
            name: (to_words([], widths[name]), to_words(sorted(rows), widths[name]))
            for name, rows in self.facts.items()
        }

    def move(self) -> None:
        """Go on with another evaluation, from what this one saves."""
        saved = self.evaluation.save()
        self.evaluation = self.start()
        self.evaluation.restore(saved)
        self.check_unchanged()


def run(
    seed: int,
    epochs: int = 12,
    compiled: bool | str | None = None,
    *,
    reference: bool = False,
    after: Callable[[Trial], None] | None = None,
) -> Trial:
    """Run one trial; `after` is called after each epoch."""
    rng = random.Random(seed)
    trial = Trial(rng, compiled, reference=reference)
    try:
        for _ in range(epochs):
            if not trial.ended:
                trial.run_epoch()
                if after is not None:
                    after(trial)
    finally:
        stratum_updates.SHARE, stratum_updates.LARGE = SHARES
    return trial


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--interpreted", action="store_true")
    parser.add_argument("--reference", action="store_true", help="and tests/oracles/ranked_support")
    given = parser.parse_args()
    compiled = False if given.interpreted else None
    begun, epochs, failed = time.process_time(), 0, 0
    for seed in range(given.seed, given.seed + given.count):
        try:
            trial = run(seed, given.epochs, compiled, reference=given.reference)
        except BaseException:
            print(f"seed {seed}")
            raise
        epochs += trial.epochs
        failed += trial.failed
    seconds = time.process_time() - begun
    print(f"{given.count} programs, {epochs} epochs, {failed} that failed: {seconds:.0f} s CPU")


if __name__ == "__main__":
    main()
