"""What comes out of a query, against DuckDB, which computes it anew at some times."""

from collections import Counter
from typing import Any

import pyarrow as pa

import rtbot
from benchmarks.nexmark.streams import Stream, find_fields

MACROS = """
CREATE MACRO tumble(t, width) AS t // width * width;
CREATE MACRO hop(t, every, width) AS
    unnest(range(t // every * every, t - width, -every));
"""
"""Windows, of times that are not negative."""


def check(
    graph: rtbot.Graph, query: str, stream: Stream, samples: int, compiled: str | None = None
) -> int:
    """Compare what has come out at so many times, and at the end; return how many rows are there.

    A push is one transaction. Raises AssertionError with the first rows that differ.
    """
    import duckdb

    fields = find_fields(query)
    pushes = [*stream.list_pushes(fields, stream.transaction)]
    times = [max(max(table["t"].to_pylist(), default=0) for table in push.values())
             for push in pushes]  # fmt: skip
    chosen = {*times[:: max(len(times) // samples, 1)]}
    database = duckdb.connect(config={"threads": 1})
    database.execute(MACROS)
    for name in fields:
        database.register(f"{name}_changes", pa.concat_tables([push[name] for push in pushes]))
    session, found = graph.start(compiled=compiled), Counter[Any]()
    for time, push in zip(times, pushes, strict=True):
        collect(found, session.push(push))
        if time in chosen:
            collect(found, session.advance(time))
            compare(found, compute(database, query, fields, time), time)
    collect(found, session.finish())
    compare(found, compute(database, query, fields, times[-1]), times[-1])
    return found.total()


def collect(found: Counter[Any], result: rtbot.Result) -> None:
    """Add the changes of a result."""
    table = result["o"]
    names = [name for name in table if name not in ("t", "weight")]
    cells = zip(*(table[name].tolist() for name in names), strict=True)
    for row, weight in zip(cells, table["weight"].tolist(), strict=True):
        key = shorten(row)
        found[key] += weight
        if not found[key]:
            del found[key]


def compute(database: Any, query: str, fields: Any, time: int) -> Counter[Any]:
    """Return the rows of a query over the tables as they are at a time."""
    for name in fields:
        names = ", ".join(fields[name])
        database.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {names} FROM ("
            f"SELECT {names}, unnest(range(copies)) FROM (SELECT {names}, sum(weight)::BIGINT AS "
            f"copies FROM {name}_changes WHERE t <= {time} GROUP BY {names}))"
        )
    return Counter(map(shorten, database.execute(query).fetchall()))


def shorten(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row whose numbers have 12 digits: DuckDB computes some as decimals."""
    return tuple(
        float(f"{cell:.12g}") if isinstance(cell, float) or hasattr(cell, "as_tuple") else cell
        for cell in row
    )


def compare(found: Counter[Any], expected: Counter[Any], time: int) -> None:
    """Raise AssertionError where contents differ."""
    more, less = [*(found - expected)], [*(expected - found)]
    assert more == less, f"at {time}: {more[:3]} instead of {less[:3]}"
