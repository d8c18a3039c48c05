"""Random Datalog programs under random epochs, against the answer sets of clingo.

`python -m tests.datalog_clingo --count N --seed S` runs N of the programs of
`tests/datalog_trials.py`, and those of `tests/datalog_programs.py` that clingo can express: it has
integers of 32 bits and no operations on texts. After every epoch all rows are those of the one
answer set that the program has with the facts. Clingo is no dependency: `--python PATH` is an
interpreter that has it (`pip install clingo`), else the tests of it are skipped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Self

from rtbot.datalog.language import read_program
from rtbot.datalog.program import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Negation,
    Program,
    Rule,
    Variable,
)
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.tables.string_dictionary import StringDictionary
from tests import datalog_trials
from tests.datalog_programs import AGGREGATES, EDGES, NUMBER_HEAD, NUMBERS, TEXT_HEAD, TEXTS

BINARY = {"+": "+", "-": "-", "*": "*", "/": "/", "%": "\\", "band": "&", "bor": "?", "bxor": "^"}
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
EMPTY = {"min": "#sup", "max": "#inf"}
LARGEST = 2**31 - 1
SOLVER = r"""
import json, sys, clingo
for line in sys.stdin:
    control = clingo.Control(["0", "--warn=none"])
    control.add("base", [], json.loads(line))
    control.ground([("base", [])])
    models = []
    control.solve(on_model=lambda model: models.append([
        [each.name, [part.string if part.type == clingo.SymbolType.String else part.number
                     for part in each.arguments]]
        for each in model.symbols(atoms=True)]))
    print(json.dumps(models), flush=True)
"""


class NotExpressibleError(Exception):
    """A program has something that clingo has not."""


class Clingo:
    """A process that solves one program after the other."""

    def __init__(self, python: str = sys.executable) -> None:
        self.process = subprocess.Popen(
            [python, "-c", SOLVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def solve(self, program: Program, facts: dict[str, set]) -> dict[str, set]:
        """Return the rows of all relations in the only answer set."""
        names = {name: f"r{place}" for place, name in enumerate(program.relations)}
        lines = [
            f"{write_row(names[name], map(write_value, row))}."
            for name, rows in facts.items()
            for row in rows
        ]
        lines += [
            f"{write_row(names[fact.relation], map(write_value, fact.values))}."
            for fact in program.facts
        ]
        lines += [Writer(names, rule).write() for rule in program.rules]
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps("\n".join(lines)) + "\n")
        self.process.stdin.flush()
        (model,) = json.loads(self.process.stdout.readline())
        shown = {short: name for name, short in names.items()}
        found: dict[str, set] = {name: set() for name in names}
        for short, row in model:
            found[shown[short]].add(tuple(row))
        return found


class Writer:
    """One rule as clingo reads it."""

    def __init__(self, names: dict[str, str], rule: Rule) -> None:
        self.names, self.rule = names, rule
        self.wildcards = 0
        self.more: list[str] = []

    def write(self) -> str:
        head = write_row(self.names[self.rule.relation], map(self.write_term, self.rule.head))
        body = [*map(self.write_literal, self.rule.body)]
        body += self.more
        return f"{head} :- {', '.join(body)}." if body else f"{head}."

    def write_literal(self, literal: object) -> str:
        match literal:
            case Atom():
                return self.write_atom(literal)
            case Negation(atom=atom):
                return f"not {self.write_atom(atom)}"
            case Comparison(operator=operator, left=left, right=right) if operator in COMPARISONS:
                sides = [self.write_term(left), self.write_term(right)]
                if isinstance(left, Call) and isinstance(right, Variable):
                    sides.reverse()
                    operator = operator.translate(str.maketrans("<>", "><"))
                return f"{sides[0]} {operator} {sides[1]}"
            case Aggregate():
                return self.write_aggregate(literal)
        raise NotExpressibleError(literal)

    def write_atom(self, atom: Atom) -> str:
        return write_row(
            self.names[atom.relation],
            ("_" if term is None else self.write_term(term) for term in atom.arguments),
        )

    def write_aggregate(self, literal: Aggregate) -> str:
        """A set of the value and of all variables of the body: each binding counts."""
        if literal.how == "mean" or any(isinstance(each, Aggregate) for each in literal.body):
            raise NotExpressibleError(literal)
        parts, more = [], self.more
        self.more = []
        bound: list[str] = [] if literal.value is None else [self.write_term(literal.value)]
        for each in literal.body:
            if not isinstance(each, Atom):
                parts.append(self.write_literal(each))
                continue
            terms = []
            for term in each.arguments:
                self.wildcards += term is None
                terms.append(f"W{self.wildcards}" if term is None else self.write_term(term))
            parts.append(write_row(self.names[each.relation], terms))
            bound += [term for term in terms if term[0] in "VW"]
        if self.more:  # an aggregate in an aggregate
            raise NotExpressibleError(literal)
        self.more = more
        target = self.write_term(literal.target)
        elements = f"{','.join(bound) or '0'} : {', '.join(parts)}"
        made = f"{target} = #{literal.how} {{ {elements} }}"
        if literal.how in EMPTY:
            made += f", {target} != {EMPTY[literal.how]}"
        return made

    def write_term(self, term: object) -> str:
        match term:
            case Variable(index=index):
                return f"V{index}"
            case Constant(value=value):
                return write_value(value)
            case Call(functor=functor, arguments=[left, right]) if functor in BINARY:
                return f"({self.write_term(left)} {BINARY[functor]} {self.write_term(right)})"
            case Call(functor="min" | "max" as functor, arguments=arguments):
                terms = "; ".join(map(self.write_term, arguments))
                self.more.append(f"M{len(self.more)} = #{functor} {{ {terms} }}")
                return f"M{len(self.more) - 1}"
        raise NotExpressibleError(term)


def write_row(name: str, terms: object) -> str:
    written = ",".join(terms)
    return f"{name}({written})" if written else name


def write_value(value: object) -> str:
    if isinstance(value, str) and "\\" not in value and '"' not in value:
        return f'"{value}"'
    if isinstance(value, int) and abs(value) <= LARGEST:
        return str(value)
    raise NotExpressibleError(value)


def run(clingo: Clingo, seed: int, epochs: int, compiled: bool | None) -> int | None:
    """Compare one random program after every epoch; return how many, None if clingo cannot."""
    compared = 0

    def compare(trial: datalog_trials.Trial) -> None:
        nonlocal compared
        if trial.ended or not trial.evaluation.begun:
            return
        found = clingo.solve(trial.program, trial.facts)
        for name, rows in found.items():
            assert datalog_trials.to_set(trial.evaluation.list_rows(name)) == rows, name
        compared += 1

    try:
        datalog_trials.run(seed, epochs, compiled, after=compare)
    except NotExpressibleError:
        return None
    return compared


def list_written() -> list[str]:
    """The texts of the programs that are written out."""
    found = [f"{NUMBER_HEAD}{EDGES}{text}" for text, _ in AGGREGATES]
    found += [NUMBER_HEAD + text for text, _ in NUMBERS]
    return found + [TEXT_HEAD + text for text, _ in TEXTS]


def compare_written(clingo: Clingo, text: str) -> bool:
    """Compare a program that is written out; return whether clingo can express it."""
    program = read_program(text)
    evaluation = start_evaluation(program, StringDictionary(), compiled=False)
    evaluation.commit({})
    try:
        found = clingo.solve(program, {})
    except NotExpressibleError:
        return False
    for name, rows in found.items():
        types = [column.type for column in program.relations[name].columns]
        ours = {
            tuple(map(evaluation.values.decode_value, row, types))
            for row in evaluation.list_rows(name).tolist()
        }
        assert ours == rows, f"{name} in {text}"
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--interpreted", action="store_true")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has clingo")
    given = parser.parse_args()
    compiled = False if given.interpreted else None
    begun, programs, epochs = time.process_time(), 0, 0
    with Clingo(given.python) as clingo:
        written = sum(compare_written(clingo, text) for text in list_written())
        for seed in range(given.seed, given.seed + given.count):
            try:
                compared = run(clingo, seed, given.epochs, compiled)
            except BaseException:
                print(f"seed {seed}")
                raise
            programs += compared is not None
            epochs += compared or 0
    seconds = time.process_time() - begun
    print(
        f"{programs} of {given.count} random programs in {epochs} epochs,"
        f" {written} programs that are written out: {seconds:.0f} s CPU"
    )


if __name__ == "__main__":
    main()
