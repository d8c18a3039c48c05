"""Outputs of changes into caches: `python -m tests.cache_trials --transactions 1000000`.

Random transactions go through every change operator in compiled sessions, and every output into a
`Cache`. Rows are drawn from few, so that they come and go, in copies too; an input with `unique` is
upserted. After every block DuckDB computes the outputs anew of the rows that are there.
`--subscriptions N` takes N changes of what clients see (graphs/subscriptions.yaml) instead: both
sides move, and the caches are compared with the pairs that are near.
"""

import argparse
import random
import sys
import time
from collections import Counter

import duckdb
import pyarrow as pa
import yaml

import rtbot
from tests.samples import ROOT

BLOCK = 5_000
"""Transactions of a push."""
CLIENTS, ENTITIES, SIDE, WORLD = 60, 400, 16, 160
BAG = "{changes: {a: 'integer?', b: text, c: integer}}"
GRAPH = f"""
version: 1
inputs:
  x: {BAG}
  y: {BAG}
  k: {{changes: {{a: integer, name: 'text?'}}, unique: [a]}}
operators:
  where: {{type: Where, in: x, condition: "c > 1 or b == 'p'"}}
  select: {{type: Select, in: x, fields: {{d: "c % 2", b: "upper(b)"}}}}
  union: {{type: Union, in: [x, y]}}
  union_all: {{type: Union, in: [x, y], all: true}}
  intersect: {{type: Intersect, in: [x, y]}}
  intersect_all: {{type: Intersect, in: [x, y], all: true}}
  except: {{type: Except, in: [x, y]}}
  except_all: {{type: Except, in: [x, y], all: true}}
  distinct: {{type: Distinct, in: x}}
  groups:
    type: GroupBy
    in: x
    by: [a]
    compute: {{n: count(), s: sum(c), least: min(b), most: max(c)}}
  whole: {{type: GroupBy, in: y, by: [], compute: {{n: count(), s: sum(c)}}}}
  inner: {{type: JoinRows, in: [x, k], "on": [a]}}
  left: {{type: JoinRows, in: [x, k], "on": [a], how: left, condition: "c > 1"}}
  full: {{type: JoinRows, in: [x, k], "on": [a], how: full}}
  semi: {{type: JoinRows, in: [x, y], "on": [a, b], how: semi}}
  anti: {{type: JoinRows, in: [x, y], "on": [a], how: anti}}
  last: {{type: GroupBy, in: left, by: [name], compute: {{n: count(), s: sum(c)}}}}
outputs: [where, select, union, union_all, intersect, intersect_all, except, except_all, distinct,
  groups, whole, inner, left, full, semi, anti, last]
"""
LEFT = "SELECT x.a, b, c, k.a AS a_2, name FROM x LEFT JOIN k ON x.a = k.a AND c > 1"
QUERIES = {
    "where": "SELECT * FROM x WHERE c > 1 OR b = 'p'",
    "select": "SELECT c % 2, upper(b) FROM x",
    "union": "SELECT * FROM x UNION SELECT * FROM y",
    "union_all": "SELECT * FROM x UNION ALL SELECT * FROM y",
    "intersect": "SELECT * FROM x INTERSECT SELECT * FROM y",
    "intersect_all": "SELECT * FROM x INTERSECT ALL SELECT * FROM y",
    "except": "SELECT * FROM x EXCEPT SELECT * FROM y",
    "except_all": "SELECT * FROM x EXCEPT ALL SELECT * FROM y",
    "distinct": "SELECT DISTINCT * FROM x",
    "groups": "SELECT a, count(*), sum(c), min(b), max(c) FROM x GROUP BY a",
    "whole": "SELECT count(*), sum(c) FROM y",
    "inner": "SELECT x.a, b, c, name FROM x JOIN k ON x.a = k.a",
    "left": LEFT,
    "full": "SELECT x.a, b, c, k.a AS a_2, name FROM x FULL JOIN k ON x.a = k.a",
    "semi": "SELECT * FROM x WHERE EXISTS (FROM y WHERE x.a = y.a AND x.b = y.b)",
    "anti": "SELECT * FROM x WHERE NOT EXISTS (FROM y WHERE x.a = y.a)",
    "last": f"SELECT name, count(*), sum(c) FROM ({LEFT}) GROUP BY name",  # noqa: S608
}
"""What the outputs are; columns count by place."""
BAG_SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.int64())])
KEYED_SCHEMA = pa.schema([("a", pa.int64()), ("name", pa.string())])
COLUMNS = {
    "inner": ["a", "b", "c", "name"],
    "left": ["a", "b", "c", "a_2", "name"],
    "full": ["a", "b", "c", "a_2", "name"],
}


def main():
    """Run the trials; the exit code is 1 if an output differs or a cache raises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=20_000)
    parser.add_argument("--subscriptions", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(f"cache/{options.seed}")
    if options.subscriptions:
        follow_clients(rng, options.subscriptions)
    else:
        follow_operators(rng, options.transactions)


# ---- every operator


def follow_operators(rng, count, block=BLOCK):
    session = rtbot.load(yaml.safe_load(GRAPH)).start()
    caches = {name: rtbot.Cache() for name in QUERIES}
    bags, keyed = {"x": Counter(), "y": Counter()}, {}
    done = 0
    while done < count:
        size = min(block, count - done)
        apply_result(caches, session.push(draw_block(rng, done + 1, size, bags, keyed)))
        apply_result(caches, session.advance(done + size))
        done += size
        compare(caches, bags, keyed, done)
        report(done, count)
    session.finish()
    print(f"{done:,} transactions, {len(caches)} outputs: no cache raised, all as DuckDB has them")


def draw_block(rng, first, count, bags, keyed):
    """The changes of so many transactions, one to five rows each, as tables of Python lists."""
    tables = {name: {"t": [], "weight": [], "a": [], "b": [], "c": []} for name in "xy"}
    tables["k"] = {"t": [], "weight": [], "a": [], "name": []}
    for moment in range(first, first + count):
        taken = set()
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            name = rng.choice("xxyk")
            if name == "k":
                draw_upsert(rng, moment, tables["k"], keyed, taken)
            else:
                draw_change(rng, moment, tables[name], bags[name])
    return tables


def draw_change(rng, moment, table, bag):
    """An insert of one or two copies, or a delete of a row that is there."""
    if bag and rng.random() < 0.5:
        row = rng.choice(list(bag)) if len(bag) < 50 else next(iter(bag))
        weight = -rng.randint(1, bag[row])
    else:
        row = (rng.choice((None, *range(6))), rng.choice("pqr"), rng.randint(0, 4))
        weight = rng.choice((1, 1, 2))
    bag[row] += weight
    if not bag[row]:
        del bag[row]
    for name, cell in zip(("t", "weight", "a", "b", "c"), (moment, weight, *row), strict=True):
        table[name].append(cell)


def draw_upsert(rng, moment, table, keyed, taken):
    """A put or a delete of a key, one at most in a transaction."""
    key = rng.randint(0, 7)
    if key in taken:
        return
    taken.add(key)
    name, weight = rng.choice((None, "u", "v", "w")), rng.choice((1, 1, -1))
    if weight > 0:
        keyed[key] = name
    else:
        keyed.pop(key, None)
    for column, cell in zip(("t", "weight", "a", "name"), (moment, weight, key, name), strict=True):
        table[column].append(cell)


def apply_result(caches, result):
    for name, cache in caches.items():
        cache.apply(result[name])


def compare(caches, bags, keyed, done):
    connection = duckdb.connect()
    for name, bag in bags.items():
        rows = [dict(zip("abc", row, strict=True)) for row in bag.elements()]
        connection.register(name, pa.Table.from_pylist(rows, schema=BAG_SCHEMA))
    rows = [{"a": key, "name": name} for key, name in keyed.items()]
    connection.register("k", pa.Table.from_pylist(rows, schema=KEYED_SCHEMA))
    for name, query in QUERIES.items():
        expected = Counter(connection.execute(query).fetchall())
        fields = COLUMNS.get(name)
        found = Counter(
            tuple(row[field] for field in fields) if fields else tuple(row.values())
            for row in caches[name].rows()
        )
        if expected != found:
            sys.exit(f"{name} after {done:,}: {expected - found} missing, {found - expected} more")


# ---- subscriptions


def follow_clients(rng, count, block=BLOCK):
    session = rtbot.load(ROOT / "graphs/subscriptions.yaml").start()
    cache, at, changes = rtbot.Cache(), 1, 0
    square = [(dx, dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1)]
    places = {"entity": {}, "client": {}}
    around = {"t": [0] * 9, "weight": [1] * 9}
    around |= {"dx": [dx for dx, _ in square], "dz": [dz for _, dz in square]}
    parts = [session.push({"around": around})]
    while changes < count:
        tables = draw_moves(rng, at, block, places)
        parts += [session.push(tables), session.advance(at + block - 1)]
        at += block
        for part in parts:
            cache.apply(part["seen"])
            changes += len(part["seen"]["t"])
        parts = []
        check_clients(cache, places)
        report(changes, count)
    session.finish()
    print(f"{changes:,} changes of what clients see: no cache raised, all see what is near them")


def draw_moves(rng, first, count, places):
    """Moves, arrivals and departures of entities and clients; often of both in a transaction."""
    tables = {
        "entities": {"t": [], "weight": [], "entity": [], "kind": [], "x": [], "z": []},
        "players": {"t": [], "weight": [], "client": [], "x": [], "z": []},
    }
    for moment in range(first, first + count):
        for what, most, table in (
            ("entity", ENTITIES, tables["entities"]),
            ("client", CLIENTS, tables["players"]),
        ):
            for which in {rng.randrange(most) for _ in range(rng.choice((0, 1, 2)))}:
                x, z = rng.randrange(WORLD), rng.randrange(WORLD)
                here = which in places[what]
                weight = -1 if here and rng.random() < 0.1 else 1
                if weight > 0:
                    places[what][which] = (x, z)
                else:
                    x, z = places[what].pop(which)
                row = {"t": moment, "weight": weight, what: which, "kind": "boar", "x": x, "z": z}
                for name in table:
                    table[name].append(row[name])
    return tables


def check_clients(cache, places):
    near = {
        (client, entity)
        for client, (cx, cz) in places["client"].items()
        for entity, (x, z) in places["entity"].items()
        if abs(cx // SIDE - x // SIDE) < 2 and abs(cz // SIDE - z // SIDE) < 2
    }
    seen = [(row["client"], row["entity"]) for row in cache.rows()]
    if Counter(seen) != Counter(near):
        sys.exit(f"{near - set(seen)} missing, {set(seen) - near} more")


def report(done, count):
    if sys.stderr.isatty():
        print(f"\r{done:,} of {count:,} {time.process_time():.0f} s", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
