"""Inputs and outputs whose messages have several values."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import rtbot
from rtbot import DataError
from rtbot.cli.main import run
from tests.record_trials import run_twins

QUOTES = """
inputs:
  quote: {record: {bid: number, ask: number?, size: integer, venue: text}}
  price: number
operators:
  spread: quote.ask - quote.bid
  both: {type: Join, in: [quote.bid, price]}
outputs: {spread: spread, bid: both.o1, venue: quote.venue, size: quote.size}
"""
ROWS = [
    (1, {"bid": 1.0, "ask": 3.0, "size": 2**53 + 1, "venue": "a"}),
    (2, {"bid": 0.1, "ask": None, "size": -1, "venue": "b, c"}),
    (4, {"bid": -0.0, "ask": float("nan"), "size": 0, "venue": "é"}),
]
WIDE = {
    "t": [t for t, _ in ROWS],
    **{name: [row[name] for _, row in ROWS] for name in ROWS[0][1]},
}
PRICE = {"t": [2, 4], "price": [5.0, 6.0]}


@pytest.fixture(scope="module")
def graph():
    return rtbot.load(QUOTES)


@pytest.fixture(scope="module")
def digest(graph):
    return graph.run({"quote": WIDE, "price": PRICE}).digest()


@pytest.mark.parametrize("seed", range(8))
def test_a_record_gives_what_inputs_of_its_fields_give(seed):
    run_twins(seed)


# ---- tables


def test_tables_of_every_kind_are_the_same_records(graph, digest):
    records = [row for _, row in ROWS]
    tables = {
        "arrow": pa.table(WIDE),
        "rows": [{"t": t, **row} for t, row in ROWS],
        "pairs": [[t, row] for t, row in ROWS],
        "records": {"t": WIDE["t"], "quote": records},
        "structs": pa.table({"t": WIDE["t"], "value": records}),
        "named": {f"quote.{name}" if name != "t" else name: cells for name, cells in WIDE.items()},
        "masks": WIDE
        | {
            "ask": np.array([3.0, 7.0, np.nan]),
            "ask_valid": np.array([True, False, True]),
        },
    }
    for name, table in tables.items():
        assert graph.run({"quote": table, "price": PRICE}).digest() == digest, name


def test_one_table_of_all_inputs_has_the_columns_of_all(graph, digest):
    table = {name: [*cells[:2], None, cells[2]] for name, cells in WIDE.items()}
    table |= {"t": [1, 2, 3, 4], "price": [None, 5.0, None, 6.0]}
    session = graph.start()
    parts = [session.push(table), session.finish()]
    assert session.account()["inputs"]["quote"] == {"in": 3, "consumed": 3, "held": 0, "lost": {}}
    assert parts[0].digest() == digest
    table["size"][1] = None  # a row that has other fields is lost, and counted
    session = graph.start()
    assert len(session.push(table)["venue"]["t"]) == 2
    assert session.account()["inputs"]["quote"]["lost"] == {"null": 1}


def test_columns_have_other_names_where_the_graph_or_the_user_names_them():
    text = QUOTES.replace("venue: text}}", "venue: text}, io: {columns: {bid: Best Bid}}}")
    graph = rtbot.load(text)
    table = {"Best Bid" if name == "bid" else name: cells for name, cells in WIDE.items()}
    found = graph.run({"quote": table, "price": PRICE})
    table["A"] = table.pop("ask")
    session = graph.start(inputs={"quote": {"ask": "A"}})
    resumed = graph.resume(session.dump())
    assert resumed.push({"quote": table, "price": PRICE}).digest() == found.digest()
    for wrong, words in (
        ({"quote": "A"}, "a column for every field"),
        ({"quote": {"bd": "A"}}, "no field 'bd'"),
    ):
        with pytest.raises(DataError, match=words):
            graph.start(inputs=wrong)


@pytest.mark.parametrize(
    ("table", "code", "words"),
    [
        ({"t": [1], "bid": [1.0]}, "RT204", "no column 'ask'"),
        ({"t": [1], "value": np.array([1.0])}, "RT204", "no column 'bid'"),
        ([[1, 2.0]], "RT214", "a record is a mapping"),
        ([[1, {"bid": 1.0, "ask": 2.0, "size": 1}]], "RT204", "without the field 'venue'"),
        ([[1, ROWS[0][1] | {"bud": 1.0}]], "RT204", "no field 'bud'"),
        (WIDE | {"size": [1, 2]}, "RT214", "differ in length"),
        (WIDE | {"size": [1, 2, 3.5]}, "RT201", "not an integer"),
    ],
)
def test_a_wrong_table_is_refused_whole(graph, table, code, words):
    session = graph.start()
    before = session.dump()
    with pytest.raises(DataError, match=words) as caught:
        session.push({"quote": table})
    assert (caught.value.code, caught.value.input) == (code, "quote")
    assert session.dump() == before


def test_one_message_is_a_mapping_of_all_fields(graph):
    session = graph.start()
    session.push_one("price", 1, 2.0)
    found = session.push_one("quote", 1, ROWS[0][1])
    size = 2**53 + 1
    assert found == {
        "spread": [(1, 2.0)],
        "bid": [(1, 1.0)],
        "venue": [(1, "a")],
        "size": [(1, size)],
    }
    for value, code in (
        (ROWS[0][1] | {"bid": None}, "RT211"),
        (ROWS[0][1] | {"venue": float("nan"), "ask": None}, "RT211"),
        (ROWS[0][1] | {"size": 2**63}, "RT213"),
        (ROWS[0][1] | {"venue": "\ud800"}, "RT209"),
        (ROWS[0][1] | {"bid": "1"}, "RT201"),
        ({"bid": 1.0}, "RT204"),
        (1.0, "RT214"),
    ):
        with pytest.raises(DataError) as caught:
            session.push_one("quote", 2, value)
        assert caught.value.code == code
    assert session.account()["inputs"]["quote"]["in"] == 1


# ---- files


def write_files(folder):
    """Write the rows of the record, and those of all inputs, in every format."""
    quotes = pa.table(WIDE)
    csv.write_csv(pa.table(PRICE), folder / "price.csv")
    parquet.write_table(quotes, folder / "quote.parquet")
    with pa.ipc.new_file(str(folder / "quote.arrow"), quotes.schema) as writer:
        writer.write(quotes)
    structs = pa.table({"t": WIDE["t"], "quote": [row for _, row in ROWS]})
    parquet.write_table(structs, folder / "structs.parquet")
    with pa.ipc.new_stream(str(folder / "structs.arrow"), structs.schema) as writer:
        writer.write(structs)
    parquet.write_table(make_struct_table(), folder / "wide.parquet")
    lines = [{"t": t, **row} for t, row in ROWS]
    nested = [{"t": t, "quote": row} for t, row in ROWS]
    for name, rows in (("flat", lines), ("nested", nested)):
        text = "".join(json.dumps(row).replace("NaN", '"nan"') + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    cells = [
        "1,1,3,9007199254740993,a,",
        '2,0.1,,-1,"b, c",5',
        "4,-0.0,nan,0,é,6",
    ]
    (folder / "wide.csv").write_text("\n".join(["t,bid,ask,size,venue,price", *cells]) + "\n")
    (folder / "named.csv").write_text(
        "\n".join(["t,quote.bid,quote.ask,quote.size,quote.venue,price", *cells]) + "\n"
    )


def test_files_of_every_format_are_the_same_records(graph, digest, tmp_path):
    write_files(tmp_path)
    price = tmp_path / "price.csv"
    flat = ("quote.parquet", "quote.arrow", "flat.jsonl", "wide.csv")
    for name in (*flat, "nested.jsonl", "structs.parquet", "structs.arrow"):
        found = graph.run({"quote": tmp_path / name, "price": price})
        assert found.digest() == digest, name
    for name in ("wide.csv", "named.csv", "wide.parquet"):
        assert graph.run(tmp_path / name).digest() == digest, name


def make_struct_table():
    """A table of all inputs, in which the records are a column of structs, some of them null."""
    return pa.table(
        {
            "t": [1, 2, 3, 4],
            "quote": [ROWS[0][1], ROWS[1][1], None, ROWS[2][1]],
            "price": [None, 5.0, None, 6.0],
        }
    )


def test_one_table_of_all_inputs_has_structs(graph, digest):
    table = make_struct_table()
    for one in (table, pl.from_arrow(table)):
        session = graph.start()
        assert session.push(one).digest() == digest
        assert session.account()["inputs"]["quote"]["lost"] == {}


def test_a_column_of_records_is_taken_before_columns_that_only_some_fields_name():
    graph = rtbot.load("""
inputs: {q: "record{bid: number, ask: number}", ask: number}
operators: {mid: (q.bid + q.ask) / 2}
outputs: [mid, ask]
""")
    table = {"t": [1], "q": [{"bid": 1.0, "ask": 3.0}], "ask": [9.0]}
    for data in (table, pa.table(table), {"q": table, "ask": {"t": [1], "value": [9.0]}}):
        found = graph.run(data)
        assert (found["mid"]["value"].tolist(), found["ask"]["value"].tolist()) == ([2.0], [9.0])


def test_a_field_of_a_struct_is_a_column_with_a_point(tmp_path):
    parquet.write_table(pa.table({"t": [1, 2], "q": [{"bid": 1.5}, None]}), tmp_path / "q.parquet")
    graph = rtbot.load("inputs: {a: number}\noutputs: [a]")
    found = graph.run(tmp_path / "q.parquet", inputs={"a": "q.bid"})["a"]
    assert (found["t"].tolist(), found["value"].tolist()) == ([1], [1.5])
    with pytest.raises(DataError, match="no column") as caught:
        graph.run(tmp_path / "q.parquet", inputs={"a": "q.bed"})
    assert caught.value.hint == "did you mean 'q.bid'?"


def test_a_run_names_columns_and_goes_on_after_its_checkpoint(tmp_path, capsys):
    (tmp_path / "g.yaml").write_text(QUOTES)
    lines = [f"{t},{t / 7},{t},{t},v{t % 5}" for t in range(1, 3001)]
    (tmp_path / "q.csv").write_text("\n".join(["t,B,ask,size,venue", *lines]) + "\n")
    (tmp_path / "p.csv").write_text("t,price\n5,1\n2999,2\n")
    given = ["--in", f"quote={tmp_path}/q.csv:bid=B", "--in", f"price={tmp_path}/p.csv", "-q"]
    command = ["run", str(tmp_path / "g.yaml"), *given]
    assert run([*command, "-o", str(tmp_path / "whole.csv"), "--stream"]) == 0
    resumable = ["-o", str(tmp_path / "o.csv"), "--checkpoint", str(tmp_path / "c"), "--every", "1"]
    assert run([*command, *resumable]) == 0
    assert run([*command, *resumable, "--resume"]) == 0
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert run(["run", str(tmp_path / "g.yaml"), "--in", f"quote={tmp_path}/q.csv:bd=B"]) == 2
    assert "there is no field 'bd'" in capsys.readouterr().err


def test_one_column_does_not_feed_two_inputs(tmp_path):
    graph = rtbot.load("inputs: {q: {record: {a: number}}, a: number}\noutputs: {x: q.a, y: a}\n")
    (tmp_path / "q.csv").write_text("t,a\n1,2\n")
    for data in (tmp_path / "q.csv", {"t": [1], "a": [2.0]}):
        with pytest.raises(DataError, match="'a' would feed two inputs"):
            graph.run(data)
    (tmp_path / "q.csv").write_text("t,a,q.a\n1,2,3\n")
    for data in (tmp_path / "q.csv", {"t": [1], "a": [2.0], "q.a": [3.0]}):
        found = graph.run(data)
        assert (found["x"]["value"].tolist(), found["y"]["value"].tolist()) == ([3.0], [2.0])


def test_a_column_of_times_is_no_field(tmp_path):
    graph = rtbot.load("inputs: {a: {record: {time: integer, b: number}}}\noutputs: [a.b]\n")
    (tmp_path / "a.csv").write_text("time,b\n1,2\n")
    with pytest.raises(DataError, match="a field of a is number, and read as integer too"):
        graph.run(tmp_path / "a.csv", time="b")
    (tmp_path / "b.csv").write_text("time,b,ts\n1,2,9\n")
    assert graph.run(tmp_path / "b.csv")["a_b"]["t"].tolist() == [9]


# ---- outputs


BEST = """
inputs: {quote: {record: {bid: number, ask: number?}}, price: number}
operators: {mean: {type: MovingAverage, in: quote.bid, window: 2}}
outputs: {best: {mean: mean, price: price}, quote: quote, one: {bid: quote.bid}}
"""


def test_an_output_that_is_a_record_has_rows_of_common_times():
    graph = rtbot.load(BEST)
    quote = {"t": [1, 2, 3], "bid": [1.0, 2.0, 4.0], "ask": [None, 2.5, None]}
    result = graph.run({"quote": quote, "price": {"t": [3, 4], "price": [7.0, 8.0]}})
    assert {name: c.tolist() for name, c in result["best"].items()} == {
        "t": [3],
        "mean": [3.0],
        "price": [7.0],
    }
    assert result["quote"]["ask_valid"].tolist() == [False, True, False]
    assert result["quote"]["bid"].tolist() == quote["bid"]
    assert result.to_arrow("quote").column_names == ["t", "bid", "ask"]
    assert result.to_arrow().column_names[1:3] == ["best.mean", "best.price"]
    assert (
        graph.run({"quote": result["quote"], "price": []}).digest()["quote.ask"]
        == (result.digest()["quote.ask"])
    )
    with pytest.raises(KeyError):
        result["bests"]
    with pytest.raises(DataError, match="RT215"):
        graph.start(key="bid")


def test_a_file_of_a_record_is_read_as_one(tmp_path):
    (tmp_path / "g.yaml").write_text(BEST)
    (tmp_path / "q.csv").write_text("t,bid,ask,price\n1,1,2,\n2,2,,5\n")
    command = ["run", str(tmp_path / "g.yaml"), str(tmp_path / "q.csv"), "-q"]
    assert run([*command, "-o", f"{tmp_path}/out/"]) == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["best.csv", "one.csv", "quote.csv"]
    written = tmp_path / "out" / "quote.csv"
    assert written.read_text() == "t,quote.bid,quote.ask\n1,1,2\n2,2,\n"
    assert run([*command, "--out", f"quote={tmp_path}/again.csv"]) == 0
    assert (tmp_path / "again.csv").read_bytes() == written.read_bytes()
    graph = rtbot.load(BEST)
    again = graph.run({"quote": written, "price": []})
    assert again["quote"]["bid"].tolist() == [1.0, 2.0]


# ---- other places


def test_every_way_agrees_and_a_difference_can_be_saved(graph):
    report = graph.compare({"quote": WIDE, "price": PRICE}, runs=2)
    assert report.same, str(report)
    from rtbot.compare.save import _decode_value, _encode_value

    row = ROWS[2][1]
    assert repr(_decode_value(json.loads(json.dumps(_encode_value(row))))) == repr(row)


def test_change_streams_and_series_behind_them_read_fields():
    text = """
inputs: {quote: {record: {bid: number, size: integer}}}
operators:
  double: 2 * quote.bid
  rows: {type: ToChanges, in: quote.bid, mode: latest}
  total: {type: GroupBy, in: rows, by: [], compute: {sum: sum(value)}}
  back: {type: ToSeries, in: total, field: sum}
  both: {type: Join, how: asof, in: [quote.size, back]}
outputs: {double: double, size: both.o1, last: both.o2}
"""
    graph = rtbot.load(text)
    session = graph.start()
    found = session.push({"quote": {"t": [1, 2], "bid": [1.5, 2.0], "size": [3, 4]}})
    assert found["double"]["value"].tolist() == [3.0, 4.0]
    session = graph.resume(session.dump())
    last = session.push_one("quote", 3, {"bid": 5.0, "size": 6})
    assert last["double"] == [(3, 10.0)]
    rest = session.finish()
    together = [*found["size"]["value"].tolist(), *(v for _, v in last.get("size", ()))]
    assert [*together, *rest["size"]["value"].tolist()] == [3, 4, 6]
