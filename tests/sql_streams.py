"""Queries that are kept up to date, against DuckDB's answer at every transaction."""

import re
from collections import Counter

import numpy as np

import rtbot
from rtbot.core.errors import DataError
from tests.oracles.queries import clean
from tests.sql_queries import COLUMNS, TABLES

FEATURES = {
    "inner join": r"(?<!LEFT |IGHT |FULL |SEMI |ANTI |ROSS )JOIN",
    "left join": "LEFT JOIN",
    "right join": "RIGHT JOIN",
    "full join": "FULL JOIN",
    "semi join": "SEMI JOIN",
    "anti join": "ANTI JOIN",
    "cross join": "CROSS JOIN",
    "comma join": r"AS a, ",
    "three tables": r"[tu\)] AS c\b",
    "self join": r"FROM (t|u) AS a[^()]*(JOIN|,) \1 AS",
    "using": "USING",
    "null-safe key": r"ON \w\.\w+ IS NOT DISTINCT",
    "in subquery": r"(?<!NOT )IN \(SELECT",
    "not in subquery": r"NOT IN \(SELECT",
    "exists": r"(?<!NOT )EXISTS",
    "not exists": "NOT EXISTS",
    "scalar subquery": r"\(SELECT (min|max|count)\(",
    "correlated": r"z\d+\.\w (=|IS NOT DISTINCT FROM) (q|t|u|a|b|c)\.",
    "groups of a subquery": r"GROUP BY z",
    "in an aggregate": r"IN \(SELECT m(in|ax)\(",
    "with": "^WITH",
    "from subquery": r"\) AS [qabc]\b",
    "union": "UNION(?! ALL)",
    "union all": "UNION ALL",
    "intersect": "INTERSECT",
    "except": "EXCEPT",
    "group by": "GROUP BY",
    "having": "HAVING",
    "distinct": "SELECT DISTINCT",
    "filter": "FILTER",
    "distinct aggregate": r"\w\(DISTINCT",
    "try_cast": "TRY_CAST",
    "ilike": "ILIKE",
}
"""What is counted of the queries whose answers were right."""


def list_features(text, features):
    return [name for name, pattern in features.items() if re.search(pattern, text)]


def make_history(rng, make_rows, transactions):
    """The changes of each transaction by table: inserts, deletes, moves, nothing, or no change."""
    bags = {name: Counter() for name in TABLES}
    history, snapshots = [], []
    for number in range(transactions):
        changes = {}
        for name, bag in bags.items():
            rows = [tuple(map(clean, row)) for row in make_rows(rng)]
            while number == 0 and not rows:  # a row over nothing comes with the first transaction
                rows = [tuple(map(clean, row)) for row in make_rows(rng)]
            fresh = rows if number == 0 else rows[: rng.choice([0, 0, 1, 2, 4])]
            there = sorted(bag.elements(), key=repr)
            gone = rng.sample(there, min(len(there), rng.choice([0, 0, 1, 2, 5])))
            net = Counter(fresh)
            net.subtract(gone)
            given = [(row, 1) for row in fresh] + [(row, -1) for row in gone]
            if rng.random() < 0.3 and rows:
                given += [(rows[-1], 1), (rows[-1], -1)]
            rng.shuffle(given)
            changes[name] = given
            bag.update(fresh)
            bag.subtract(gone)
        bags = {name: +bag for name, bag in bags.items()}
        history.append(changes)
        snapshots.append({name: bag.copy() for name, bag in bags.items()})
    return history, snapshots


def make_graph(text):
    """The graph of a query over the tables."""
    fields = {name: str(field.type) for name, field in zip(COLUMNS, TABLES["t"], strict=True)}
    return rtbot.load(
        {
            "inputs": {name: {"changes": fields} for name in TABLES},
            "operators": {"view": {"type": "SQL", "in": [*TABLES], "query": text}},
            "outputs": ["view"],
        }
    )


def make_tables(history, first=0, last=None):
    """The changes of some transactions as tables to push."""
    found = {}
    for name in TABLES:
        rows = [
            (t, weight, row)
            for t, changes in enumerate(history[first:last], first)
            for row, weight in changes[name]
        ]
        columns = list(zip(*(row for _, _, row in rows), strict=True)) or [()] * len(COLUMNS)
        found[name] = {
            "t": np.array([t for t, _, _ in rows], np.int64),
            "weight": np.array([weight for _, weight, _ in rows], np.int64),
            **{n: list(column) for n, column in zip(COLUMNS, columns, strict=True)},
        }
    return found


def read_changes(table, names):
    """The changes of a table of results as (row, weight)."""
    columns = []
    for name in names:
        valid = table.get(f"{name}_valid", np.ones(len(table["t"]), bool))
        pairs = zip(table[name].tolist(), valid.tolist(), strict=True)
        columns.append([value if ok else None for value, ok in pairs])
    rows = list(zip(*columns, strict=True)) if len(table["t"]) else []
    return list(zip(rows, table["weight"].tolist(), strict=True))


def follow_query(graph, history, compiled="never", restores=False):
    """The bag of the view after every transaction, until one is bad; and all released bytes.

    With `restores` the session is dumped and resumed after each.
    """
    names = graph.checked.nodes["view"].types["o1"].schema.names
    session = graph.start(compiled=compiled)
    bag, bags, parts = Counter(), [], []
    for t in range(len(history)):
        try:
            released = [session.push(make_tables(history, t, t + 1)), session.advance(t)]
        except DataError:
            return bags, parts
        for result in released:
            table = result["view"]
            parts.append({name: np.asarray(column) for name, column in table.items()})
            for row, weight in read_changes(table, names):
                bag[tuple(map(clean, row))] += weight
        assert all(weight >= 0 for weight in bag.values()), bag
        bag = +bag
        bags.append(bag.copy())
        if restores:
            session = graph.resume(session.dump(), compiled=compiled)
    return bags, parts


def join_parts(parts):
    """The released columns of all parts as bytes."""
    if not parts:
        return {}
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {n: c.tolist() if c.dtype == object else c.tobytes() for n, c in joined.items()}


def check_cuts(graph, history, parts):
    """Whether any cut and a restore at every boundary release the same bytes."""
    _, restored = follow_query(graph, history, restores=True)
    whole = graph.start()
    results = [whole.push(make_tables(history)), whole.advance(len(history))]
    pieces = [{n: np.asarray(c) for n, c in result["view"].items()} for result in results]
    return join_parts(parts) == join_parts(restored) == join_parts(pieces)
