"""Every query of the SQL page: those that work have the rows of DuckDB, the others are refused."""

import csv
import re
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from rtbot.core.errors import GraphError
from rtbot.sql import lower_query
from tests.oracles.queries import evaluate
from tests.sql.test_queries import schema
from tests.sql_random import same

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
TABLES = {
    "orders": schema("id: integer, cust: integer?, region: text, amount: number"),
    "customers": schema("cust: integer, name: text, city: text"),
}
SQL_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR"}
READ = {"integer": int, "number": float, "text": str}


def read_table(name):
    """The rows of a table of the page, deleted ones left out."""
    block = re.search(rf"```csv {name}.csv\n(.*?)```", PAGE, re.DOTALL)[1]
    rows = Counter()
    for line in csv.DictReader(block.splitlines()):
        row = tuple(
            READ[field.type.kind](line[field.name]) if line[field.name] else None
            for field in TABLES[name]
        )
        rows[row] += -1 if line.get("op") == "-" else 1
    return +rows


def read_queries(title):
    """The first two cells of the table of a section."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| `(.*?)` \| (.*) \|$", section, re.MULTILINE)
    return [(query.replace(r"\|", "|"), note.strip("`")) for query, note in lines]


@pytest.fixture(scope="module")
def connection():
    found = duckdb.connect()
    for name, fields in TABLES.items():
        columns = ", ".join(f"{field.name} {SQL_TYPES[field.type.kind]}" for field in fields)
        found.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * len(fields.fields))
        found.executemany(
            f"INSERT INTO {name} VALUES ({marks})",  # noqa: S608 (a test)
            list(read_table(name).elements()),
        )
    return found


@pytest.mark.parametrize("query", [query for query, _ in read_queries("What works")])
def test_a_query_has_the_rows_of_duckdb(query, connection):
    bags = {name: read_table(name) for name in TABLES}
    lowered = lower_query(query, TABLES)
    ours = evaluate(lowered, bags, {name: TABLES[name].names for name in TABLES})
    assert same(lowered.schema, ours.elements(), connection.execute(query).fetchall())


@pytest.mark.parametrize(("query", "message"), read_queries("What is refused"))
def test_a_query_is_refused_by_name(query, message):
    with pytest.raises(GraphError) as raised:
        lower_query(query, TABLES)
    assert message in [problem.message for problem in raised.value.problems]
