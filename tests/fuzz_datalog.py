"""Spoilt Datalog programs: each is read or refused, without a traceback and without a hang.

.venv/bin/python -m tests.fuzz_datalog --count 5000

What is read is evaluated by the oracle, as far as that is quick: every variable must have a value.
"""

import argparse
import json
import random
import re
import signal
import time
import tomllib
from pathlib import Path

import rtbot
from rtbot.core.error_codes import CODES
from rtbot.datalog.language import read_program
from tests.datalog_programs import AGGREGATES, EDGES, NUMBER_HEAD, NUMBERS, TEXT_HEAD, TEXTS
from tests.oracles.datalog import NoResultError, evaluate

FOLDER = Path(__file__).parent
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\.?\w+|:-|[<>!]=|\s+|.', re.DOTALL)
PIECES = [
    *('"', "'", "\\", "/*", "*/", "//", "#define x y\n", ".", ",", ";", ":-", "!", "(", ")", "{"),
    *("}", "[", "]", "$", "@f(", "_", "=", "<=", "!=", "<", "-", "+", "^", "0x", "0xffu", "1.5"),
    *("-1", "9223372036854775808", "99999999999999999999", "1e9", "count : {", "sum x : {", "max"),
    *("min(", "range(", "cat(", "to_number(", "match(", "true", "false", "nil", "as(", "ord("),
    *(".decl a(x: number)\n", ".type A <: symbol\n", ".input a", ".output b", ".limitsize a(n=3)"),
    *(".plan 0:(1)", ".pragma", ".comp C {", "\x00", "\ud800", "\u00e9", "\u2028", "\r", "?"),
]  # fmt: skip
QUICK_SECONDS, SLOW_SECONDS, ROWS = 0.5, 5, 60
INPUTS = {"a": [("x", "number")], "e": [("x", "number"), ("y", "symbol")], "r": []}


class TooSlowError(Exception):
    """The time for an evaluation is over."""


def list_programs():
    """Programs to spoil: right ones and wrong ones."""
    lines = (FOLDER / "golden" / "datalog_cases.jsonl").read_text(encoding="utf-8").splitlines()
    wrong = (FOLDER / "datalog" / "wrong_programs.toml").read_text(encoding="utf-8")
    return [
        *(json.loads(line)["program"] for line in lines),
        *(case["program"] for case in tomllib.loads(wrong)["case"][::3]),
        *(NUMBER_HEAD + text for text, _ in NUMBERS),
        *(TEXT_HEAD + text for text, _ in TEXTS),
        *(EDGES + NUMBER_HEAD + text for text, _ in AGGREGATES),
    ]


def find_kind(token):
    """What a token may be replaced by so that a program may still be right."""
    kinds = (r"\w+", r"[<>!]?=|[<>]", r"[-+*/%^&|]", r'".*', r"\s+")
    return next((kind for kind in kinds if re.fullmatch(kind, token, re.DOTALL)), token)


def exchange(tokens, draw):
    """Replace a token by one of its kind."""
    at = draw.randrange(len(tokens))
    kind = find_kind(tokens[at])
    alike = [token for token in tokens if find_kind(token) == kind]
    return [*tokens[:at], draw.choice(alike), *tokens[at + 1 :]]


def disturb(tokens, others, draw):
    """Change, remove, double, move or insert tokens, or change a character."""
    at, to = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    part = tokens[at : at + draw.randint(1, 12)]
    word = tokens[at]
    cut = draw.randrange(len(word) + 1)
    changed = word[:cut] + chr(draw.randrange(32, 127)) + word[cut + 1 :]
    return draw.choice(
        [
            [*tokens[:at], draw.choice(PIECES), *tokens[at + 1 :]],
            [*tokens[:at], draw.choice(PIECES), *tokens[at:]],
            [*tokens[:at], *tokens[at + 1 :]],
            [*tokens[:to], *part * draw.choice([1, 1, 3, 40]), *tokens[to:]],
            [*tokens[:at], draw.choice(others), *tokens[at + 1 :]],
            [*tokens[:at], *others[: draw.randrange(20)], *tokens[at:]],
            [*tokens[:at], changed, *tokens[at + 1 :]],
        ]
    )


def spoil(programs, draw):
    """Change a few tokens of a program; often so that it may still be right."""
    tokens = TOKEN.findall(draw.choice(programs))
    others = TOKEN.findall(draw.choice(programs))
    gentle = draw.random() < 0.6
    if draw.random() < 0.05:
        return "".join(draw.choices([*PIECES, *others], k=40))
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        if tokens:
            tokens = exchange(tokens, draw) if gentle else disturb(tokens, others, draw)
    return "".join(tokens)


def stop(_signal, _frame):
    raise TooSlowError


def check(text, inputs=None):
    """Read a program; returns it, or None if it is refused, properly."""
    start = time.perf_counter()
    try:
        program = read_program(text, "p.dl", inputs=inputs)
    except rtbot.GraphError as error:
        program = None
        assert error.problems
        for problem in error.problems:
            check_problem(problem, text)
    taken = time.perf_counter() - start
    assert taken < SLOW_SECONDS, f"{taken:.1f} s"
    if program is not None:
        for problem in program.warnings:
            check_problem(problem, text)
    return program


def check_problem(problem, text):
    """A problem has a code, and a place in the text."""
    mark, lines = problem.mark, text.split("\n")
    assert problem.code in CODES
    assert 1 <= mark.line <= len(lines), problem
    assert 1 <= mark.column <= len(lines[mark.line - 1]) + 1, problem
    assert mark.length >= 1
    str(problem).encode("utf-8", "backslashreplace")


def try_to_evaluate(program):
    """Evaluate what is read, as far as it is quick; whether it was."""
    signal.setitimer(signal.ITIMER_REAL, QUICK_SECONDS)
    try:
        evaluate(program, rows_max=ROWS)
    except (NoResultError, TooSlowError, re.error):
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def run(count, seed=0, *, evaluates=True):
    """Check so many programs; return how many were read, and how many of them evaluated."""
    programs = list_programs()
    signal.signal(signal.SIGALRM, stop)
    read = evaluated = 0
    for number in range(seed, seed + count):
        draw = random.Random(number)
        text = spoil(programs, draw)
        inputs = draw.choice([None, None, INPUTS])
        try:
            program = check(text, inputs)
            if program is not None:
                read += 1
                evaluated += evaluates and try_to_evaluate(program)
        except BaseException:
            print(f"--seed {number} --count 1\n{text!r}")
            raise
    return read, evaluated


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    read, evaluated = run(given.count, given.seed)
    print(f"{given.count} programs, {read} were read, {evaluated} evaluated")


if __name__ == "__main__":
    main()
