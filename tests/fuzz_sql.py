"""Queries with a few of their words spoilt: `python -m tests.fuzz_sql --help`.

Each is refused with problems that have places, or has the rows of DuckDB; it never fails otherwise,
and takes no longer than LIMIT. What is taken although DuckDB cannot parse it is printed: a part of
it may have been left out. With --ordered they are queries in an order, whose rows are not compared:
what sorts them may be spoilt.
"""

import argparse
import random
import re
import signal
import sys
from collections import Counter

import duckdb

from rtbot.core.errors import GraphError
from rtbot.sql import lower_query
from tests.oracles.queries import clean, evaluate
from tests.oracles.row_expressions import NoValueError
from tests.sql_orders import OrderedMaker
from tests.sql_queries import COLUMNS, TABLES, QueryMaker
from tests.sql_random import ask_duckdb, fill, make_rows, same

LIMIT = 5
"""Seconds of processor time for one query."""

QUIRK = re.compile(r"IN \(+EXISTS")
"""DuckDB takes a list of one EXISTS for the subquery in it: `false IN (EXISTS (...))` is false."""

# fmt: off
WORDS = [
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "DISTINCT", "UNION", "ALL", "EXCEPT",
    "(", ")", ",", ".", "*", "+", "-", "/", "//", "%", "=", "<", ">", "<=", "<>", "||", "::",
    ";", "'", '"', "[", "]", "{", "}", "CASE", "WHEN", "THEN", "ELSE", "END", "IS", "NOT",
    "NULL", "IN", "LIKE", "BETWEEN", "AND", "OR", "count", "sum", "OVER", "JOIN", "ON",
    "USING", "ORDER", "LIMIT", "WITH", "AS", "t", "u", "i", "j", "x", "s", "c", "1", "1.5e0",
    "'a'", "NULL", "TRUE", "CAST", "BIGINT", "EXISTS", "FILTER", "ROLLUP", "QUALIFY", "@",
    "$1", "?", "#", "\\", "--", "/*", "é", "LEFT", "RIGHT", "FULL", "SEMI", "NATURAL", "CROSS",
    "INTERSECT", "ANY", "INTERVAL", "FROM t", "t.i", "u.j", "LATERAL", "RECURSIVE",
    "DISTINCT ON", "ARRAY", "EXCLUDE", "a", "z1", "PARTITION BY", "ROWS", "RANGE", "PRECEDING",
    "UNBOUNDED", "OFFSET 1", "FETCH FIRST 2 ROWS ONLY", "WITH TIES", "WINDOW", "IGNORE NULLS",
    "DESC", "NULLS FIRST", "WITHIN GROUP", "EXCLUDE TIES", "ASOF", "lag", "PERCENT", "OVER w",
]
# fmt: on


CLASSES = [
    ["=", "<>", "<", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"],
    ["AND", "OR"],
    ["+", "-", "*", "/", "//", "%", "||"],
    ["min", "max", "sum", "avg", "count", "bool_or"],
    ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS JOIN"],
    ["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"],
    ["IN", "NOT IN"],
    ["EXISTS", "NOT EXISTS"],
    [*COLUMNS],
    [f"k{n}" for n in range(1, 4)],
    ["t", "u", "a", "b", "q", "z1", "w"],
    ["1", "2", "0.5e0", "NULL", "'a'", "TRUE"],
    ["row_number", "rank", "dense_rank", "lag", "first_value", "last_value", "sum", "ntile"],
    ["ROWS", "RANGE", "GROUPS"],
    ["PRECEDING", "FOLLOWING"],
    ["ASOF JOIN", "ASOF LEFT JOIN", "JOIN", "ASOF RIGHT JOIN"],
    ["DESC", "NULLS FIRST", "NULLS LAST", "ASC"],
    ["LIMIT", "OFFSET", "FETCH FIRST"],
    ["median", "first", "last", "string_agg", "arg_min", "quantile_cont", "max"],
    ["WHERE", "QUALIFY", "HAVING"],
]
"""Words in the place of each other, where a query often stays right."""


def exchange(rng, text):
    """The text with one word for another of its class."""
    words = rng.choice(CLASSES)
    pattern = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words)
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(words) + text[place.end() :]


def mutate(rng, text):
    """The text with a few of its words or characters spoilt."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if rng.random() < 0.5:
            text = exchange(rng, text)
            continue
        words = text.split(" ")
        at, other = (rng.randrange(len(words)) for _ in range(2))
        how = rng.choice(["word", "word", "insert", "delete", "swap", "repeat", "character"])
        if how == "word":
            words[at] = rng.choice([rng.choice(WORDS), words[other]])
        elif how == "insert":
            words.insert(at, rng.choice(WORDS))
        elif how == "delete":
            del words[at : at + rng.choice([1, 1, 3])]
        elif how == "swap":
            words[at], words[other] = words[other], words[at]
        elif how == "repeat":
            words[at:at] = words[at : at + rng.choice([1, 3, 6])]
        else:
            place = rng.randrange(len(text) or 1)
            sign = rng.choice(["", "(", ")", "'", ",", " ", "\n", "."])
            words = [text[:place] + sign + text[place + 1 :]]
        text = " ".join(words)
    return text


def check_query(text, connection, bags, *, ordered):
    """What came of a query, and what is wrong about that or remarkable."""
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        query = lower_query(text, TABLES)
    except GraphError as error:
        lines = text.split("\n")
        for problem in error.problems:
            inside = 1 <= problem.mark.line <= len(lines)
            if not inside or not 1 <= problem.mark.column <= len(lines[problem.mark.line - 1]) + 1:
                return "NO PLACE", str(problem)
            if not problem.message:
                return "NO MESSAGE", str(problem)
        return "refused", ""
    except Exception as error:  # noqa: BLE001 (what is looked for)
        return "FAILED", repr(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    theirs, refusal = ask_duckdb(connection, text)
    if theirs is None:
        return ("refused by DuckDB" if "Parser" in refusal else "refused by its binder"), refusal
    try:
        ours = evaluate(query, bags, {name: list(COLUMNS) for name in TABLES})
    except NoValueError as error:
        return "fault", str(error)
    if same(query.schema, map(show_zero, ours.elements()), map(show_zero, theirs)):
        return "equal", ""
    if ordered:
        return "other rows", ""
    return ("other IN (EXISTS ...)" if QUIRK.search(text) else "DIFFERENT"), ""


def show_zero(row):
    """A row whose texts have one zero: DuckDB's casts of -0.0 show its sign."""
    return [cell.replace("-0.0", "0.0") if isinstance(cell, str) else cell for cell in row]


def stop(*_):
    raise TimeoutError("too slow")


def run(count, seed, report=None, *, ordered=False):
    """Check so many queries; return how often each outcome was, and what is wrong."""
    signal.signal(signal.SIGVTALRM, stop)
    connection = duckdb.connect()
    data = random.Random(f"{seed}/data")
    tables = {name: make_rows(data, nasty=False) for name in TABLES}
    fill(connection, tables)
    bags = {name: Counter(tuple(map(clean, row)) for row in rows) for name, rows in tables.items()}
    outcomes, wrong = Counter(), []
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        maker = (OrderedMaker if ordered else QueryMaker)(rng, nasty=False)
        text = mutate(rng, maker.query())
        outcome, detail = check_query(text, connection, bags, ordered=ordered)
        outcomes[outcome] += 1
        if outcome.isupper():
            wrong.append((outcome, f"{seed}/{number}", text, detail))
        if report is not None and (outcome.isupper() or outcome == "refused by DuckDB"):
            report(outcome, f"{seed}/{number}", text, detail)
    return outcomes, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--ordered", action="store_true", help="queries in an order")
    options = parser.parse_args()
    outcomes, wrong = run(
        *(options.count, options.seed),
        lambda *parts: print(*parts, sep="\n    ", flush=True),
        ordered=options.ordered,
    )
    print(*(f"{count} {name}" for name, count in outcomes.most_common()), sep=", ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
