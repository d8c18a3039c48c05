"""Random queries against DuckDB's answers: `python -m tests.sql_random --help`."""

import argparse
import math
import random
import sys
from collections import Counter
from functools import partial

import duckdb

from rtbot.core.errors import GraphError
from rtbot.sql import lower_query
from tests.oracles.queries import clean, evaluate
from tests.oracles.row_expressions import NoValueError
from tests.sql_orders import MACRO, ORDER_FEATURES, OrderedMaker
from tests.sql_queries import COLUMNS, KINDS, NASTY, TABLES, VALUES, QueryMaker
from tests.sql_streams import (
    FEATURES,
    check_cuts,
    follow_query,
    list_features,
    make_graph,
    make_history,
)

QUERIES_PER_TABLE = 40


def make_rows(rng, *, nasty):
    """The rows of a table, equal ones among them."""
    rows = []
    for _ in range(rng.randint(0, 12)):
        row = []
        for kind in COLUMNS.values():
            choices = VALUES[kind.rstrip("?")] + (NASTY[kind.rstrip("?")] if nasty else [])
            row.append(None if kind.endswith("?") and rng.random() < 0.25 else rng.choice(choices))
        rows += [tuple(row)] * rng.choice([1, 1, 2])
    return rows


def fill(connection, tables):
    connection.execute(MACRO)
    for name, rows in tables.items():
        columns = ", ".join(f"{n} {KINDS[k.rstrip('?')]}" for n, k in COLUMNS.items())
        connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
        if rows:
            marks = ", ".join("?" * len(COLUMNS))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608


def ask_duckdb(connection, text):
    """The rows of DuckDB, or None and why it refuses."""
    try:
        return connection.execute(text).fetchall(), ""
    except duckdb.Error as error:
        return None, f"{type(error).__name__}: {str(error).splitlines()[0]}"


def ask_ours(text, bags):
    try:
        query = lower_query(text, TABLES)
    except GraphError as error:
        return None, None, f"refused: {error.problems[0].message}"
    try:
        names = {name: list(COLUMNS) for name in TABLES}
        return query, evaluate(query, bags, names), ""
    except NoValueError as error:
        return query, None, f"fault: {error}"


def same(schema, ours, theirs):
    """Whether two lists of rows are equal as bags; numbers to ten digits."""
    kinds = [field.type.kind for field in schema]
    convert = {"number": float, "integer": int, "text": str, "boolean": bool}

    def key(row):
        found = []
        for value, kind in zip(row, kinds, strict=True):
            if value is None:
                found.append((1, ""))
            elif kind == "number":
                number = clean(float(value))
                found.append((0, f"{number:.9g}" if math.isfinite(number) else repr(number)))
            elif kind == "text":  # DuckDB keeps the sign of zero, which a cast shows
                found.append((0, "0.0" if value == "-0.0" else value))
            else:
                found.append((0, repr(convert[kind](value))))
        return tuple(found)

    return Counter(map(key, ours)) == Counter(map(key, theirs))


def check_nullability(query, bag):
    """Whether no field that is not nullable is null."""
    nullable = [field.type.nullable for field in query.schema]
    return all(v is not None or n for row in bag for v, n in zip(row, nullable, strict=True))


def make_query(rng, *, nasty, ordered):
    """A query, and the text of it for DuckDB."""
    maker = (OrderedMaker if ordered else QueryMaker)(rng, nasty=nasty)
    text = maker.query()
    return text, getattr(maker, "theirs", "") or text


def run_cases(seed, count, report=print, *, ordered=False):
    """Compare queries; return how often each outcome was, the features, and what differs."""
    outcomes, features, differing = Counter(), Counter(), []
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        if number % QUERIES_PER_TABLE == 0:
            data = random.Random(f"{seed}/{number}/data")
            nasty = data.random() < 0.3
            tables = {name: make_rows(data, nasty=nasty) for name in TABLES}
            bags = {n: Counter(tuple(map(clean, r)) for r in rows) for n, rows in tables.items()}
            fill(connection, tables)
        text, other = make_query(rng, nasty=nasty, ordered=ordered)
        theirs, refusal = ask_duckdb(connection, other)
        query, ours, reason = ask_ours(text, bags)
        if query is None:
            outcome = "refused by both" if theirs is None else "refused by us"
        elif theirs is None or ours is None:
            outcome = "fault" if ours is None or "Binder" not in refusal else "refused by DuckDB"
            outcome = "refused by DuckDB" if "Parser" in refusal else outcome
        else:
            equal = same(query.schema, ours.elements(), theirs)
            outcome = "equal" if equal and check_nullability(query, ours) else "DIFFERENT"
        outcomes[outcome] += 1
        if outcome == "equal":
            features.update(list_features(text, ORDER_FEATURES if ordered else FEATURES))
        if outcome in ("DIFFERENT", "refused by DuckDB", "refused by us"):
            differing.append((outcome, f"{seed}/{number}", text, reason or refusal))
            report(outcome, f"{seed}/{number}", text, reason or refusal)
    return outcomes, features, differing


def follow_cases(seed, count, transactions, report=print, cuts=10, *, ordered=False):
    """Follow queries through transactions; return how often each outcome and each feature was.

    Of every `cuts` queries, one is run in several ways that have to release the same bytes.
    """
    outcomes, features, differing = Counter(), Counter(), []
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for number in range(count):
        if number % QUERIES_PER_TABLE == 0:
            data = random.Random(f"{seed}/{number}/history")
            nasty = data.random() < 0.3
            make = partial(make_rows, nasty=nasty)
            history, snapshots = make_history(data, make, transactions)
            for t, bags in enumerate(snapshots):
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS s{t}")
                connection.execute(f"SET schema = 's{t}'")
                fill(connection, {name: [*bag.elements()] for name, bag in bags.items()})
        rng = random.Random(f"{seed}/{number}/query")
        text, other = make_query(rng, nasty=nasty, ordered=ordered)
        outcome = follow_case(connection, (text, other), history, cut=number % cuts == 0)
        outcomes[outcome] += 1
        if outcome == "equal":
            features.update(list_features(text, ORDER_FEATURES if ordered else FEATURES))
        if outcome in ("DIFFERENT", "CUTS DIFFER"):
            differing.append((outcome, f"{seed}/{number}", text))
            report(outcome, f"{seed}/{number}", text)
    return outcomes, features, differing


def follow_case(connection, texts, history, *, cut):
    """Compare a query with DuckDB's answer after every transaction; `texts` are ours and its."""
    try:
        graph = make_graph(texts[0])
    except GraphError:
        return "refused"
    schema = graph.checked.nodes["view"].types["o1"].schema
    bags, parts = follow_query(graph, history)
    for t, bag in enumerate(bags):
        connection.execute(f"SET schema = 's{t}'")
        theirs, _ = ask_duckdb(connection, texts[1])
        if theirs is None:
            return "refused by DuckDB"
        if not same(schema, bag.elements(), theirs):
            return "DIFFERENT"
    if len(bags) < len(history):
        return "fault"
    return "CUTS DIFFER" if cut and not check_cuts(graph, history, parts) else "equal"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--refused", action="store_true", help="print what only one side takes")
    parser.add_argument("--transactions", type=int, default=0, help="follow changes of the tables")
    parser.add_argument("--ordered", action="store_true", help="queries in an order")
    options = parser.parse_args()

    def report(outcome, *parts):
        if "DIFFER" in outcome or options.refused:
            print(outcome, *parts, sep="\n    ", flush=True)

    if options.transactions:
        outcomes, features, differing = follow_cases(
            *(options.seed, options.count, options.transactions, report), ordered=options.ordered
        )
    else:
        outcomes, features, differing = run_cases(
            options.seed, options.count, report, ordered=options.ordered
        )
    print(*(f"{count} {name}" for name, count in features.most_common()), sep=", ")
    print(*(f"{count} {name}" for name, count in outcomes.most_common()), sep=", ")
    sys.exit(any("DIFFER" in outcome for outcome, *_ in differing))


if __name__ == "__main__":
    main()
