"""Random queries against DuckDB's answers: `python -m tests.sql_random --help`."""

import argparse
import math
import random
import sys
from collections import Counter

import duckdb

from rtbot.core.errors import GraphError
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.sql import lower_query
from tests.oracles.queries import clean, evaluate
from tests.oracles.row_expressions import NoValueError

NAN, INF = float("nan"), float("inf")
KINDS = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN"}
COLUMNS = {
    "i": "integer",
    "j": "integer?",
    "x": "number?",
    "y": "number",
    "s": "text?",
    "r": "text",
    "c": "boolean?",
}
VALUES = {
    "integer": [-3, -1, 0, 1, 2, 7],
    "number": [-1.5, -0.0, 0.0, 0.5, 2.0, 3.25],
    "text": ["", "a", "b", "ab", "A b", " a", "é", "z%"],
    "boolean": [True, False],
}
NASTY = {
    "integer": [(1 << 63) - 1, -(1 << 63), 1 << 53],
    "number": [NAN, INF, -INF, 1e300, 5e-324],
    "text": ["\U0001f600", "\uff5e", "a'b"],
    "boolean": [],
}
SCHEMA = Schema(tuple(Field(n, Type(k.rstrip("?"), k.endswith("?"))) for n, k in COLUMNS.items()))
TABLES = {"t": SCHEMA, "u": SCHEMA}
QUERIES_PER_TABLE = 40


class QueryMaker:
    """Makes random queries over the tables, most of which have types that go together."""

    def __init__(self, rng, *, nasty):
        self.rng, self.nasty = rng, nasty

    def query(self, depth=2):
        """A query, and the kinds of its columns."""
        kinds = [self.rng.choice([*KINDS]) for _ in range(self.rng.randint(1, 3))]
        return self.query_of(kinds, depth)

    def query_of(self, kinds, depth):
        if depth and self.rng.random() < 0.3:
            kind = self.rng.choice(["UNION", "INTERSECT", "EXCEPT"])
            kind += self.rng.choice(["", " ALL"])
            left, right = (self.query_of(kinds, depth - 1) for _ in range(2))
            if self.rng.random() < 0.5:
                right = f"({right})"
            if self.rng.random() < 0.3:
                left = f"({left})"
            return f"{left} {kind} {right}"
        return self.select(kinds, depth)

    def select(self, kinds, depth):
        source, columns = self.source(depth)
        self.columns = columns
        style = self.rng.choice(["plain", "plain", "distinct", "group", "group", "total"])
        if style in ("group", "total"):
            return self.grouped(kinds, source, style)
        distinct = "DISTINCT " if style == "distinct" else ""
        items = ", ".join(f"{self.value(k, 2)} AS k{n}" for n, k in enumerate(kinds, 1))
        return f"SELECT {distinct}{items} FROM {source}{self.where()}"  # noqa: S608 (a test)

    def source(self, depth):
        roll = self.rng.random()
        table = self.rng.choice("tu")
        if depth and roll < 0.25:
            kinds = [self.rng.choice([*KINDS]) for _ in range(self.rng.randint(1, 4))]
            inner = self.query_of(kinds, depth - 1)
            return f"({inner}) AS q", {f"k{n}": kind for n, kind in enumerate(kinds, 1)}
        columns = {name: kind.rstrip("?") for name, kind in COLUMNS.items()}
        if roll < 0.5:
            return f"{table} AS q", columns | {f"q.{n}": k for n, k in columns.items()}
        return table, columns

    def where(self, chance=0.5):
        return f" WHERE {self.value('boolean', 2)}" if self.rng.random() < chance else ""

    def grouped(self, kinds, source, style):
        rng = self.rng
        where = self.where(0.3)
        keys = []
        if style == "group":
            keys = [(rng.choice([*KINDS])) for _ in range(rng.randint(1, 2))]
            keys = [(kind, self.value(kind, rng.choice([0, 0, 1]))) for kind in keys]
        items, by = [], []
        for n, kind in enumerate(kinds, 1):
            same = [text for k, text in keys if k == kind]
            if same and rng.random() < 0.5:
                items.append(f"{same[0]} AS k{n}")
            else:
                items.append(f"{self.over_group(kind, keys, 2)} AS k{n}")
        for _, text in keys:
            places = [n for n, item in enumerate(items, 1) if item == f"{text} AS k{n}"]
            choices = [text, *map(str, places)]
            by.append(rng.choice(choices))
        having = f" HAVING {self.over_group('boolean', keys, 1)}" if rng.random() < 0.3 else ""
        by = f" GROUP BY {', '.join(by)}" if by else ""
        return f"SELECT {', '.join(items)} FROM {source}{where}{by}{having}"  # noqa: S608

    def over_group(self, kind, keys, depth):
        """An expression over keys and aggregates."""
        rng = self.rng
        same = [text for k, text in keys if k == kind]
        if same and rng.random() < 0.3:
            return same[0]
        if depth and rng.random() < 0.3:
            return self.combine(kind, lambda k: self.over_group(k, keys, depth - 1))
        return self.aggregate(kind)

    def aggregate(self, kind):
        rng = self.rng
        distinct = rng.choice(["", "", "", "DISTINCT "])
        suffix = f" FILTER (WHERE {self.value('boolean', 1)})" if rng.random() < 0.15 else ""
        name = rng.choice(["min", "max"])
        argument = self.value(kind, 1)
        if kind == "integer":
            name = rng.choice(["min", "max", "sum", "count", "count", "count"])
            if name == "count":
                argument = self.value(rng.choice([*KINDS]), 1)
                if rng.random() < 0.4:
                    argument, distinct = "*", ""
        elif kind == "number":
            names = ["min", "max"]
            if not self.nasty:  # its sums are not exact, and its variance of infinity an error
                names += ["avg", "sum", "stddev", "stddev_pop", "variance", "var_pop"]
            name = rng.choice(names)
            if name in ("avg", "stddev", "var_pop"):
                argument = self.value(rng.choice(["number", "integer"]), 1)
        elif kind == "boolean":
            name = rng.choice(["bool_and", "bool_or", "min", "max"])
        return f"{name}({distinct}{argument}){suffix}"

    # ---- expressions

    def value(self, kind, depth):
        """An expression of a kind over the columns."""
        if depth and self.rng.random() < 0.7:
            return self.combine(kind, lambda k: self.value(k, depth - 1))
        names = [name for name, k in self.columns.items() if k == kind]
        if names and self.rng.random() < 0.75:
            return self.rng.choice(names)
        return self.literal(kind)

    def literal(self, kind):
        rng = self.rng
        if rng.random() < 0.08:
            return f"CAST(NULL AS {KINDS[kind]})" if rng.random() < 0.7 else "NULL"
        value = rng.choice(VALUES[kind])
        if kind == "number":
            return f"{value}e0"
        if kind == "text":
            return "'" + value.replace("'", "''") + "'"
        return str(value)

    def combine(self, kind, part):
        """An operation that gives a kind; brackets are sometimes left out."""
        rng = self.rng

        def inner(k):
            text = part(k)
            return text if rng.random() < 0.4 else f"({text})"

        return getattr(self, f"combine_{kind}")(inner, kind)

    def combine_any(self, inner, kind):
        rng = self.rng
        form = rng.choice(["case", "switch", "if", "coalesce", "nullif", "least", "cast"])
        if form == "case":
            last = f" ELSE {inner(kind)}" if rng.random() < 0.7 else ""
            return f"CASE WHEN {inner('boolean')} THEN {inner(kind)}{last} END"
        if form == "switch":
            k = rng.choice([*KINDS])
            return f"CASE {inner(k)} WHEN {inner(k)} THEN {inner(kind)} ELSE {inner(kind)} END"
        if form == "if":
            return f"if({inner('boolean')}, {inner(kind)}, {inner(kind)})"
        if form == "coalesce":
            return f"{rng.choice(['coalesce', 'ifnull'])}({inner(kind)}, {inner(kind)})"
        if form == "least":
            name = rng.choice(["least", "greatest"])
            return f"{name}({inner(kind)}, {inner(kind)})"
        if form == "cast":
            return f"{inner(kind)}::{KINDS[kind]}"
        return f"nullif({inner(kind)}, {inner(kind)})"

    def combine_integer(self, inner, kind):
        rng = self.rng
        form = rng.randrange(8)
        if form < 3:
            return f"{inner(kind)} {rng.choice('+-*')} {inner(kind)}"
        if form == 3:
            return f"{inner(kind)} {rng.choice(['%', '//'])} {rng.choice([-3, 2, 5])}"
        if form == 4:
            return f"- {inner(kind)}"
        if form == 5:
            return f"abs({inner(kind)})"
        if form == 6:
            return f"length({inner('text')})"
        return self.combine_any(inner, kind)

    def combine_number(self, inner, kind):
        rng = self.rng
        form = rng.randrange(8)
        if form < 3:
            other = rng.choice(["number", "integer"])
            return f"{inner(kind)} {rng.choice('+-*')} {inner(other)}"
        if form == 3:  # DuckDB keeps the sign of zero in a column: nothing is divided by it
            divisor = rng.choice(["2", "0.5e0", "-3", f"(abs({inner('integer')}) + 1)"])
            return f"{inner(rng.choice(['integer', 'number']))} / {divisor}"
        if form == 4:
            return f"- {inner(kind)}"
        if form == 5:
            name = rng.choice(["abs", "floor", "ceil", "round", "sign"])
            name = "abs" if name == "sign" else name
            return f"{name}({inner(kind)})"
        if form == 6:
            return f"{inner('integer')}::DOUBLE"
        return self.combine_any(inner, kind)

    def combine_text(self, inner, kind):
        rng = self.rng
        form = rng.randrange(7)
        if form == 0:
            return f"{inner(kind)} || {inner(kind)}"
        if form == 1:
            return f"concat({inner(kind)}, {inner(kind)})"
        if form == 2:
            name = rng.choice(["upper", "lower", "trim", "ltrim", "rtrim"])
            return f"{name}({inner(kind)})"
        if form == 3:
            return f"substring({inner(kind)}, {rng.randint(1, 2)}, {rng.randint(0, 2)})"
        if form == 4:
            return f"replace({inner(kind)}, 'a', {inner(kind)})"
        if form == 5:
            return f"CAST({inner('integer')} AS VARCHAR)"
        return self.combine_any(inner, kind)

    def combine_boolean(self, inner, kind):
        rng = self.rng
        k = rng.choice([*KINDS])
        form = rng.randrange(11)
        if form < 3:
            sign = rng.choice(["<", "<=", ">", ">=", "=", "<>", "!=", "=="])
            return f"{inner(k)} {sign} {inner(k)}"
        if form == 3:
            return f"{inner(kind)} {rng.choice(['AND', 'OR'])} {inner(kind)}"
        if form == 4:
            return f"NOT {inner(kind)}"
        if form == 5:
            what = rng.choice(["NULL", "NOT NULL", f"DISTINCT FROM {inner(k)}"])
            what = rng.choice([what, f"NOT DISTINCT FROM {inner(k)}"])
            return f"{inner(k)} IS {what}"
        if form == 6:
            return f"{inner(kind)} IS {rng.choice(['', 'NOT '])}{rng.choice(['TRUE', 'FALSE'])}"
        if form == 7:
            negated = rng.choice(["", "NOT "])
            return f"{inner(k)} {negated}BETWEEN {inner(k)} AND {inner(k)}"
        if form == 8:
            choices = ", ".join(inner(k) for _ in range(rng.randint(1, 3)))
            return f"{inner(k)} {rng.choice(['', 'NOT '])}IN ({choices})"
        if form == 9:
            pattern = rng.choice(["a%", "%b", "_", "%", "", "%a%"])
            return f"{inner('text')} {rng.choice(['', 'NOT '])}LIKE '{pattern}'"
        name = rng.choice(["starts_with", "ends_with", "contains"])
        return f"{name}({inner('text')}, {inner('text')})"


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
            else:
                found.append((0, repr(convert[kind](value))))
        return tuple(found)

    return Counter(map(key, ours)) == Counter(map(key, theirs))


def check_nullability(query, bag):
    """Whether no field that is not nullable is null."""
    nullable = [field.type.nullable for field in query.schema]
    return all(v is not None or n for row in bag for v, n in zip(row, nullable, strict=True))


def run_cases(seed, count, report=print):
    """Compare queries; return how often each outcome was, and the texts of what differs."""
    outcomes, differing = Counter(), []
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
        text = QueryMaker(rng, nasty=nasty).query()
        theirs, refusal = ask_duckdb(connection, text)
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
        if outcome in ("DIFFERENT", "refused by DuckDB", "refused by us"):
            differing.append((outcome, f"{seed}/{number}", text, reason or refusal))
            report(outcome, f"{seed}/{number}", text, reason or refusal)
    return outcomes, differing


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--refused", action="store_true", help="print what only one side takes")
    options = parser.parse_args()

    def report(outcome, *parts):
        if outcome == "DIFFERENT" or options.refused:
            print(outcome, *parts, sep="\n    ", flush=True)

    outcomes, differing = run_cases(options.seed, options.count, report)
    print(*(f"{count} {name}" for name, count in outcomes.most_common()), sep=", ")
    sys.exit(any(outcome == "DIFFERENT" for outcome, *_ in differing))


if __name__ == "__main__":
    main()
