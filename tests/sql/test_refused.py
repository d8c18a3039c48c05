"""Wrong queries: each is refused at its place, with a code and what to try; never a traceback."""

import csv
import operator
from pathlib import Path

import pytest

from rtbot.core.errors import GraphError
from rtbot.core.source_span import SourceSpan
from rtbot.sql import lower_query
from tests.fuzz_sql import run as fuzz
from tests.sql.test_queries import TABLES
from tests.sql_random import TABLES as RANDOM_TABLES

# query with the place in {}, code, words of the message or hint
WRONG = [
    ("SELECT {regin} FROM orders", "RT182", "did you mean 'region'?"),
    ("SELECT id FROM {order}", "RT182", "did you mean 'orders'?"),
    ("SELECT {x}.id FROM orders AS o", "RT182", "the table of this query is o"),
    ('SELECT id FROM orders WHERE region = {"EU"}', "RT182", "single quotes: 'EU'"),
    ("SELECT {x} FROM (SELECT id AS x, n AS x FROM orders) s", "RT183", "with AS"),
    ("SELECT {id}, sum(n) FROM orders GROUP BY region", "RT184", "put it into GROUP BY"),
    ("SELECT id FROM orders WHERE {count}(*) > 1", "RT184", "HAVING"),
    ("SELECT sum({count}(*)) AS x FROM orders", "RT184", "an aggregate"),
    ("SELECT id FROM orders GROUP BY {3}", "RT184", "1 columns"),
    ("SELECT count(*) AS c FROM orders GROUP BY {count}(*)", "RT184", "GROUP BY"),
    ("SELECT id FROM orders UNION SELECT {id, n} FROM more", "RT185", "of 1 and of 2 columns"),
    ("SELECT id FROM orders EXCEPT SELECT {region} FROM more", "RT185", "cast one of them"),
    ("SELECT {n + 1} FROM orders", "RT187", "write n + 1 AS name"),
    ('SELECT {n AS "a b"} FROM orders', "RT187", "'a b' is not a name"),
    ("SELECT {region + 1} AS x FROM orders", "RT133", "`+` takes"),
    ("SELECT id FROM orders WHERE {n}", "RT133", "compare it"),
    ("SELECT id FROM orders WHERE {n = 'x'}", "RT133", "`=` takes one type"),
    ("SELECT {sum}(region) AS x FROM orders", "RT133", "sum takes numbers"),
    ("SELECT {uper}(region) AS x FROM orders", "RT131", "did you mean 'upper'?"),
    ("SELECT {count}(id, n) AS x FROM orders", "RT132", "2 given"),
    ("SELECT {9223372036854775808} AS x FROM orders", "RT134", "64 bits"),
    ("SELECT {id} FROM orders JOIN more ON orders.id = more.id", "RT183", "orders.id or more.id"),
    ("SELECT o.id FROM orders AS o {JOIN} more", "RT180", "no condition"),
    ("SELECT o.id FROM orders AS o JOIN more USING ({ix})", "RT182", "left side has no column"),
    ("SELECT o.id FROM orders AS o JOIN {orders} AS o ON true", "RT183", "is there twice"),
    ("SELECT o.id FROM orders AS o JOIN {orders AS o} USING (id)", "RT183", "AS other"),
    ("SELECT o.id FROM orders o {POSITIONAL} JOIN more m", "RT181", "POSITIONAL"),
    ("SELECT o.id FROM orders o, LATERAL (SELECT {1 AS x FROM more}) m", "RT181", "LATERAL"),
    ("SELECT o.id FROM orders o CROSS {JOIN} more m ON o.id = m.id", "RT180", ""),
    ("SELECT o.id FROM orders o JOIN more m ON {o.id = m.region}", "RT133", "one type"),
    ("SELECT o.id FROM orders o JOIN more m ON {o.id}", "RT133", "ON takes a condition"),
    ("SELECT o.id FROM orders o JOIN more m ON {sum}(o.n) > 1", "RT184", "not allowed in ON"),
    ("SELECT id FROM orders o JOIN more m USING (id) WHERE {x}.n > 1", "RT182", "tables of this"),
    ("SELECT id FROM orders o NATURAL {JOIN} (SELECT 1 AS z FROM more) m", "RT182", "of both"),
    ("SELECT id FROM orders WHERE id IN (SELECT {id, n FROM more})", "RT185", "of 2 columns"),
    ("SELECT id FROM orders WHERE {id IN (SELECT region FROM more)}", "RT133", "one type"),
    ("SELECT id, (SELECT {n FROM more}) AS x FROM orders", "RT181", "several rows"),
    ("SELECT id, (SELECT {max(n), 1 FROM more}) AS x FROM orders", "RT185", "one column"),
    (
        "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM more m WHERE m.n > o.{n})",
        "RT181",
        "by = in its WHERE",
    ),
    (
        "SELECT id, (SELECT max(m.n) + o.{n} FROM more m WHERE m.id = o.id) AS x FROM orders o",
        "RT181",
        "a column of the outer query",
    ),
    (
        "SELECT id, (SELECT {m.n FROM more m WHERE m.id = o.id}) AS x FROM orders o",
        "RT181",
        "several rows",
    ),
    (
        (
            "SELECT id FROM orders o WHERE id IN (SELECT id FROM more m WHERE EXISTS "
            "(SELECT 1 FROM more p WHERE p.id = {o}.id))"
        ),
        "RT181",
        "further out",
    ),
    ("SELECT sum((SELECT {max(n) FROM more})) AS x FROM orders", "RT181", "under WITH"),
    ("SELECT id FROM orders GROUP BY (SELECT {max(n) FROM more})", "RT181", "GROUP BY"),
    ("SELECT id FROM orders WHERE id > ANY (SELECT {id FROM more})", "RT181", "ANY with"),
    (
        "SELECT id FROM orders WHERE ({id, n}) NOT IN (SELECT id, n FROM more)",
        "RT181",
        "NOT EXISTS",
    ),
    ("WITH {RECURSIVE} w AS (SELECT id FROM orders) SELECT id FROM w", "RT181", "RECURSIVE"),
    ("SELECT id FROM orders TABLESAMPLE {10}%", "RT181", "a sample"),
    ("SELECT {ts}, id FROM orders", "RT182", "the time of a change is no column"),
    ("SELECT id FROM orders WHERE {current_timestamp} > n", "RT181", "no clock"),
    ("SELECT * EXCLUDE ({idd}) FROM orders", "RT182", "did you mean 'id'?"),
    ("SELECT * REPLACE ({1 AS m}) FROM orders", "RT182", "REPLACE: there is no column 'm'"),
    ("SELECT {TRY_CAST(n} AS DATE) AS x FROM orders", "RT181", "the type DATE"),
    ("SELECT round(amount, {n}) AS x FROM orders", "RT133", "an integer from -15"),
    ("SELECT {n}::DATE AS x FROM orders", "RT181", "the type DATE"),
    ("SELECT id FROM orders WHERE {n ILIKE 'a%'}", "RT133", "`lower` takes texts"),
    ("SELECT id FROM orders WHERE {median}(n) > 1", "RT184", "an aggregate is not allowed"),
    ("SELECT id FROM {main}.orders", "RT181", "a schema before a table"),
    ("SELECT id FROM orders UNION BY {NAME} SELECT id FROM more", "RT181", "BY NAME"),
    ("SELECT id FROM orders WHERE {n < n < n}", "RT180", "a < b AND b < c"),
    ("SELECT id FROM orders{;} SELECT n FROM orders", "RT180", "several statements"),
    ("{DELETE} FROM orders", "RT180", "DELETE is not a query"),
    ("SELECT id FROM orders WHERE n {>}", "RT180", "breaks off"),
    ("SELECT id{,}, n FROM orders", "RT180", "nothing follows this comma"),
    (
        "SELECT {iD} FROM (SELECT id AS ID, n AS Id FROM orders) s",
        "RT183",
        "2 columns 'ID' and 'Id'",
    ),
    ("SELECT id FROM orders WHERE region = {'}abc", "RT180", "not closed"),
    ("SELECT id FROM orders WHERE ok {WHERE} ok", "RT180", ""),
    ("{SELECT} 1 AS x", "RT180", "a query reads a table"),
    ("SELECT {0}x1F AS a FROM orders", "RT180", "is not a number"),
    ("SELECT id FROM orders WHERE {id} = ?", "RT181", "a parameter of a query"),
    ("SELECT id FROM orders WHERE id = {$}1", "RT180", "no name follows $"),
    ("SELECT {$} id FROM orders", "RT180", "no name follows $"),
    ("SELECT id {$k} FROM orders", "RT180", "the parameter $k is no name"),
    ("SELECT * EXCLUDE ({$id}) FROM orders", "RT180", "the parameter $id is no name"),
    ("SELECT q.k FROM orders q({$k})", "RT180", "the parameter $k is no name"),
    ("SELECT {n IN} () AS x FROM orders", "RT180", "IN without values"),
    ("SELECT ceil() AS {x} FROM orders", "RT132", "without arguments"),
    ("", "RT180", "an empty query"),
    ("SELECT id FROM orders WHERE (n > 1 AND {(}n < 3", "RT180", "not closed"),
    ("SELECT id FROM orders WHERE n > 1{)}", "RT180", "nothing opens"),
    ("SELECT id FROM orders {AS} WHERE n > 1", "RT180", "no name follows AS"),
    ("SELECT o.id FROM orders o{,} JOIN more m ON true", "RT180", "nothing follows this comma"),
    ("SELECT {id FROM orders} GROUP BY", "RT180", "GROUP BY without columns"),
    ("SELECT id FROM orders WHERE n {BETWEEN} 1 (3)", "RT180", "BETWEEN without AND"),
    ("SELECT id FROM orders WHERE ok {BETWEEN} ok (ok)", "RT180", "BETWEEN without AND"),
    ("SELECT CASE {WHEN} ok (1) ELSE 2 END AS x FROM orders", "RT180", "WHEN without THEN"),
    ("SELECT{,} id FROM orders", "RT180", "nothing is selected before ','"),
    ("SELECT {AS} id FROM orders", "RT180", "nothing is selected before 'AS'"),
    ("SELECT id FROM orders {*} o", "RT180", "a star behind a table"),
    ("SELECT id FROM {.} orders", "RT180", "no name comes before this point"),
    ("SELECT id FROM orders GROUP BY {DISTINCT} id", "RT180", "groups are distinct"),
    ("SELECT id {AS} :: FROM orders", "RT180", "no name follows AS"),
    ("SELECT count({+}) AS x FROM orders", "RT180", "nothing follows +"),
]


def read_queries(name):
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return [tuple(row.values()) for row in csv.DictReader(file)]


JOINS = read_queries("refused_joins.csv")
"""Wrong queries over several tables: joins, subqueries, groups, set operations, WITH."""

ORDERS = read_queries("refused_orders.csv")
"""Wrong queries with an order: LIMIT, window functions, quantiles, time windows, ASOF JOIN."""


def split_place(query):
    """A query without its marks, and where that is; 0 if it has none."""
    return query.replace("{", "").replace("}", ""), max(query.find("{"), 0)


@pytest.mark.parametrize(("query", "code", "words"), [*WRONG, *JOINS, *ORDERS])
def test_a_wrong_query_is_refused_at_its_place(query, code, words):
    text, at = split_place(query)
    with pytest.raises(GraphError) as raised:
        lower_query(text, TABLES)
    first = raised.value.problems[0]
    assert first.code == code, str(raised.value)
    assert words in first.message + first.hint, str(raised.value)
    assert first.mark.column == at + 1, str(raised.value)


def test_wrong_queries_say_what_would_work():
    assert len(JOINS) > 60
    assert len(ORDERS) > 120
    for query, *_ in [*JOINS, *ORDERS]:
        with pytest.raises(GraphError) as raised:
            lower_query(split_place(query)[0], TABLES)
        assert all(problem.hint for problem in raised.value.problems), str(raised.value)


def test_all_mistakes_are_reported_at_once():
    text = "SELECT regin, n + region AS x FROM orders WHERE count(*) > 1\nLIMIT n"
    with pytest.raises(GraphError) as raised:
        lower_query(text, TABLES)
    assert [(p.code, p.mark.line) for p in raised.value.problems] == [
        ("RT182", 1),
        ("RT133", 1),
        ("RT184", 1),
        ("RT181", 2),
    ]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            "SELECT regin, id FROM orders JOIN more USING (ix) WHERE fo > 1",
            ["'regin'", "left side has no", "right side has no", "'fo'"],
        ),
        (
            "SELECT o.regin, sum(m.region) AS x FROM orders o JOIN more m ON o.xx = m.n GROUP BY z",
            ["'regin'", "sum takes numbers", "'xx'", "'z'"],
        ),
        (
            "SELECT o.regin FROM orders o ASOF JOIN more m ON o.n <> m.n WHERE m.zz > 1",
            ["'regin'", "ASOF JOIN", "'zz'"],
        ),
        (
            "SELECT x FROM (SELECT id, nn FROM orders NATURAL JOIN (SELECT 1 AS z FROM more)) q",
            ["'nn'", "without a column of both"],
        ),
        ("SELECT idd FROM orders SEMI JOIN more ON zz = 1", ["'idd'", "'zz'"]),
        (
            "SELECT id FROM orders o WHERE EXISTS (SELECT zz FROM more m WHERE m.n > o.n AND o.ok)",
            ["'zz'", "outer query", "outer query"],
        ),
    ],
)
def test_a_wrong_join_hides_no_other_mistake(query, words):
    with pytest.raises(GraphError) as raised:
        lower_query(query, TABLES)
    problems = raised.value.problems
    assert len(problems) == len(words), str(raised.value)
    assert all(map(operator.contains, [p.message for p in problems], words)), str(raised.value)


def test_places_are_those_of_the_file():
    def place(offset, length):
        return SourceSpan("graph.yaml", 7, 20 + offset, length)

    with pytest.raises(GraphError) as raised:
        lower_query("SELECT regin FROM orders", TABLES, place)
    assert raised.value.problems[0].mark == SourceSpan("graph.yaml", 7, 27, 5)


def test_without_sqlglot_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(GraphError, match=r"pip install 'rtbot-graphs\[sql\]'"):
        lower_query("SELECT id FROM orders", TABLES)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT i AS a0{''.join(f', a{k}+a{k} AS a{k + 1}' for k in range(99))} FROM t",  # noqa: S608
        "SELECT " + "(" * 24 + "i" + " BETWEEN 1 AND 2)::BIGINT" * 24 + " AS a FROM t",
        "SELECT i FROM t" + " UNION SELECT i FROM t" * 400,
        "SELECT " + "NOT " * 2000 + "c AS a FROM t",
        "SELECT " + "(" * 3000,
        "SELECT i FROM t WHERE i IN (" + "1, " * 2000 + "1)",
        "WITH w AS (SELECT 1)" + ", w AS (SELECT * FROM w)" * 100 + " SELECT * FROM w",
    ],
    ids=range(7),
)
def test_what_is_too_large_is_refused(query):
    with pytest.raises(GraphError) as raised:
        lower_query(query, RANDOM_TABLES)
    assert "RT135" in {problem.code for problem in raised.value.problems}


def test_spoilt_queries_are_read_or_refused():
    outcomes, wrong = fuzz(300, "pytest")
    assert not wrong, wrong[0]
    assert 100 < outcomes["refused"] < 300
