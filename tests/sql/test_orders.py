"""Queries in an order: what they become, DuckDB's answers, and windows of time to their edges."""

from collections import Counter

import pytest

from rtbot.core.errors import GraphError
from rtbot.sql import lower_query
from tests.oracles.queries import evaluate
from tests.oracles.row_expressions import NoValueError
from tests.sql.test_queries import TABLES
from tests.sql_random import follow_cases, run_cases

LEAST, MOST = -(2**63), 2**63 - 1


def test_random_queries_in_an_order_have_the_answers_of_duckdb():
    outcomes, _, differing = run_cases("pytest", 60, report=lambda *_: None, ordered=True)
    assert [case for case in differing if case[0] == "DIFFERENT"] == []
    assert outcomes["equal"] > 45, outcomes


def test_random_queries_in_an_order_have_the_answers_of_duckdb_at_every_transaction():
    outcomes, _, differing = follow_cases("pytest", 9, 4, report=lambda *_: None, ordered=True)
    assert differing == []
    assert outcomes["equal"] > 5, outcomes


def lower(text, find_parameter=None):
    return lower_query(text, TABLES, None, find_parameter).nodes


def show_top(node):
    values = node.values
    by = f"by {' '.join(values['by'])} " if values["by"] else ""
    order = " ".join(f"-{name}" if down else name for name, down in values["order"])
    cut = f"{values['k']}+{values['offset']}" if values["offset"] else str(values["k"])
    ties = " ties" if values["ties"] else ""
    number = f" as {values['number']}" if values["number"] else ""
    return f"{by}{order}: {cut}{ties}{number}"


@pytest.mark.parametrize(
    ("query", "top"),
    [
        ("SELECT id, n FROM orders ORDER BY n DESC, 1 LIMIT 3 OFFSET 2", "-n id: 3+2"),
        ("SELECT id FROM orders ORDER BY n LIMIT 3", "order_1: 3"),
        ("SELECT id, ok FROM orders ORDER BY ok NULLS FIRST LIMIT 3", "-order_1 ok: 3"),
        ("SELECT id, n FROM orders ORDER BY n NULLS FIRST LIMIT 3", "n: 3"),
        ("SELECT id FROM orders ORDER BY ALL FETCH FIRST ROW WITH TIES", "id: 1 ties"),
        ("SELECT DISTINCT ON (region) region, n FROM orders ORDER BY region, n", "by region n: 1"),
        ("SELECT id FROM orders QUALIFY row_number() OVER (ORDER BY n) <= 2", "n: 2"),
        ("SELECT id, rank() OVER (ORDER BY n) AS r FROM orders QUALIFY r < 3", "n: 2 ties as r"),
        (
            (
                "SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY region ORDER BY n) AS r "
                "FROM orders) WHERE 4 >= r AND r > 1"
            ),
            "by region n: 3+1",
        ),
        (
            (
                "SELECT id, r FROM (SELECT *, row_number() OVER (ORDER BY -n) AS r FROM orders) "
                "WHERE r = 5 AND id > 7"
            ),
            "value_1: 1+4 as r",
        ),
        (
            (
                "SELECT o.id FROM more m LEFT JOIN more p USING (id) JOIN (SELECT *, row_number() "
                "OVER (ORDER BY n) AS r FROM orders) o USING (id) WHERE o.r <= 2 AND m.n > 1"
            ),
            "n: 2 as r",
        ),
        ("SELECT id FROM orders WHERE n = (SELECT n FROM more ORDER BY id LIMIT 1)", "order_1: 1"),
        (
            "SELECT id, (SELECT n FROM more m WHERE m.id = o.n ORDER BY n LIMIT 1) x FROM orders o",
            "by id n: 1",
        ),
    ],
)
def test_the_first_rows_of_a_query(query, top):
    tops = [node for node in lower(query) if node.operator == "TopRows"]
    assert [show_top(node) for node in tops] == [top]
    assert not [node for node in lower(query) if node.operator == "OverRows"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY n) AS r FROM orders) WHERE r > 2",
        "SELECT id FROM orders QUALIFY dense_rank() OVER (ORDER BY n) <= 2",
        "SELECT lag(n) OVER w AS p FROM orders WINDOW w AS (ORDER BY n) QUALIFY rank() OVER w < 2",
        "SELECT id FROM orders QUALIFY row_number() OVER (ORDER BY n) <= id",
        "SELECT id FROM orders QUALIFY row_number() OVER (ORDER BY n) <= 2 OR ok",
    ],
)
def test_a_condition_that_needs_all_rows_keeps_them(query):
    assert {"OverRows", "Where"} <= {node.operator for node in lower(query)}


def test_functions_of_one_window_are_one_operator():
    text = (
        "SELECT rank() OVER w AS a, sum(n) OVER (ORDER BY id) AS b, lag(n, 2, 0) OVER w AS c, "
        "count(*) OVER (PARTITION BY region) AS d, sum(n) OVER (ORDER BY id) + 1 AS e, "
        "last_value(n) OVER (w ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS f "
        "FROM orders WINDOW w AS (ORDER BY id)"
    )
    found = [node.values for node in lower(text) if node.operator == "OverRows"]
    assert [values["frame"] for values in found] == [None, None, ("rows", -1, 2)]
    assert [[name for name, *_ in values["compute"]] for values in found] == [
        ["b", "a", "c"],
        ["d"],
        ["f"],
    ]
    assert found[0]["compute"][2] == ("c", "lag", 2, 0)


def test_a_limit_is_a_parameter():
    text = "SELECT id FROM orders ORDER BY id LIMIT $k OFFSET $m"
    (top,) = (n for n in lower(text, lambda name, _: {"k": 4, "m": 1}[name]) if n.id == "toprows")
    assert (top.values["k"], top.values["offset"]) == (4, 1)
    for wrong in (-1, 2.0, True, "3", [1]):
        with pytest.raises(GraphError):
            lower(text, lambda name, _: wrong if name == "k" else 0)  # noqa: B023 (called at once)


# ---- windows of time


def start_hops(time, hop, width):
    """The windows that a time is in, the last one first."""
    last = time // hop * hop
    return [start for start in range(last, last - width, -hop) if time < start + width]


def run(text, times):
    bag = Counter((time, None, None, 0, None) for time in times)
    names = {name: list(schema.names) for name, schema in TABLES.items()}
    return evaluate(lower_query(text, TABLES), {"orders": bag}, names)


@pytest.mark.parametrize("width", [1, 2, 7, 60, MOST])
def test_a_tumbling_window_begins_at_a_multiple_of_its_width(width):
    text = f"SELECT id, tumble(id, {width}) AS w, time_bucket({width}, id) AS v FROM orders"  # noqa: S608
    times = [-61, -60, -1, 0, 1, 6, 7, 59, MOST - 1, MOST]
    assert run(text, times) == Counter((t, t // width * width, t // width * width) for t in times)


def test_a_window_that_begins_before_all_integers_has_no_value():
    assert run("SELECT tumble(id, 2) AS w FROM orders", [LEAST]) == {(LEAST,): 1}
    with pytest.raises(NoValueError):
        run("SELECT tumble(id, 7) AS w FROM orders", [LEAST])
    with pytest.raises(NoValueError):
        run("SELECT hop(id, 1, 2) AS w FROM orders", [LEAST])


@pytest.mark.parametrize(("hop", "width"), [(1, 1), (1, 64), (5, 10), (3, 7), (10, 11), (7, 7)])
def test_a_row_is_in_every_window_that_its_time_is_in(hop, width):
    times = [-11, -10, -1, 0, 1, 3, 9, 10, 29, MOST - 3, 9]
    text = f"SELECT id, hop(id, {hop}, {width}) AS w FROM orders"  # noqa: S608 (a test)
    found = Counter((t, start) for t in times for start in start_hops(t, hop, width))
    assert run(text, times) == found
    text = f"SELECT count(*) AS n FROM orders GROUP BY hop(id, {hop}, {width})"  # noqa: S608
    counts = Counter(start for t in times for start in start_hops(t, hop, width))
    assert run(text, times) == Counter((n,) for n in counts.values())
