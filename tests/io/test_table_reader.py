"""`rtbot.read`: a file as a table, which a graph takes as it takes the file."""

import gzip
import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot

pytestmark = pytest.mark.usefixtures("own_folder")


def write(path, text, encoding="utf-8"):
    Path(path).write_bytes(text.encode(encoding))


def test_types_are_the_first_that_all_cells_have():
    write("d.csv", "t,n,x,f,w,none\n1,1,1,true,a,\n2,,2.5,FALSE,7,\n3,-3,nan,1,,\n")
    table = rtbot.read("d.csv")
    assert table.schema == pa.schema(
        [
            ("t", pa.int64()),
            ("n", pa.int64()),
            ("x", pa.float64()),
            ("f", pa.bool_()),
            ("w", pa.string()),
            ("none", pa.null()),
        ]
    )
    assert table.column("n").to_pylist() == [1, None, -3]
    assert table.column("f").to_pylist() == [True, False, True]
    assert table.column("w").to_pylist() == ["a", "7", None]


def test_a_type_depends_on_all_blocks_and_not_on_the_first(monkeypatch):
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", 64)
    rows = [f"{k},{k},{k}\n" for k in range(100)] + ["100,0.5,x\n"]
    write("d.csv", "t,a,b\n" + "".join(rows))
    table = rtbot.read("d.csv")
    assert [str(field.type) for field in table.schema] == ["int64", "double", "string"]
    assert table.column("b").to_pylist() == [str(k) for k in range(100)] + ["x"]


def test_columns_are_chosen_by_name_or_with_their_types():
    write("d.csv", "t,a,zip,c\n1,1,0815,x\n")
    assert rtbot.read("d.csv", columns=["zip"]).to_pylist() == [{"t": 1, "zip": 815}]
    found = rtbot.read("d.csv", columns={"zip": "text", "a": "number"})
    assert found.to_pylist() == [{"t": 1, "a": 1.0, "zip": "0815"}]
    with pytest.raises(rtbot.DataError, match="not a number") as caught:
        rtbot.read("d.csv", columns={"c": "number"})
    assert (caught.value.file, caught.value.row, caught.value.column) == ("d.csv", 2, "c")


@pytest.mark.parametrize(
    ("rows", "kind", "first"),
    [
        ("2024-01-31", "timestamp[us]", "2024-01-31 00:00:00"),
        ("2024-01-31T10:00:00.5", "timestamp[us]", "2024-01-31 10:00:00.500000"),
        ("2024-01-31T10:00+02:00", "timestamp[us, tz=UTC]", "2024-01-31 08:00:00+00:00"),
        ("17", "int64", "17"),
    ],
)
def test_times_are_timestamps_or_the_integers_that_they_are(rows, kind, first):
    write("d.csv", f"t,x\n{rows},1\n")
    column = rtbot.read("d.csv").column("t")
    assert (str(column.type), str(column[0].as_py())) == (kind, first)


def test_times_of_formats_and_zones():
    write("d.csv", "d;h;x\n31.01.2024;10:00;1,5\n")
    io = {"time": ["d", "h"], "time_format": "%d.%m.%Y %H:%M", "timezone": "Europe/Madrid"}
    io |= {"csv": {"delimiter": ";", "decimal": ","}, "unit": "s"}
    table = rtbot.read("d.csv", io)
    assert str(table.schema.field("t").type) == "timestamp[s, tz=Europe/Madrid]"
    assert table.column("t").cast(pa.int64()).to_pylist() == [1706691600]
    assert table.column("x").to_pylist() == [1.5]


def test_columns_as_keys():
    write("d.csv", "t,A,B\n1,5,50\n2,,52.5\n")
    table = rtbot.read("d.csv", {"columns_as": "meter"})
    assert table.column_names == ["t", "meter", "value"]
    assert sorted(map(tuple, (row.values() for row in table.to_pylist()))) == [
        *((1, "A", 5.0), (1, "B", 50.0), (2, "B", 52.5)),
    ]


def test_bad_rows_are_an_error_or_left_out():
    write("d.csv", "t,a\n1,1\n2,x\nzz,3\n4,4,4\n5,5\n")
    kinds = {"a": "integer"}
    with pytest.raises(rtbot.DataError, match=r"d\.csv:3"):
        rtbot.read("d.csv", columns=kinds)
    assert rtbot.read("d.csv", {"bad": "drop"}, columns=kinds).column("t").to_pylist() == [1, 5]


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: rtbot.read("d.csv", {"csv": {"delimeter": ";"}}), "RT104", "io.csv.delimeter"),
        (lambda: rtbot.read("d.csv", {"timezone": "Mars"}), "RT112", "io.timezone"),
        (lambda: rtbot.read("d.csv", columns=["b"]), "RT204", "no column 'b'"),
        (lambda: rtbot.read("d.csv", columns=[]), "RT204", "no column beside"),
        (lambda: rtbot.read("d.csv", columns={"a": "float"}), "RT220", "'number'"),
        (lambda: rtbot.read("d.csv", {"key": "k"}), "RT204", "'k'"),
        (lambda: rtbot.read("-"), "RT221", "stdin"),
    ],
)
def test_what_is_wrong_has_a_code(call, code, words):
    write("d.csv", "t,a\n1,1\n")
    with pytest.raises(rtbot.RtbotError) as caught:
        call()
    assert caught.value.code == code
    assert words in str(caught.value)


def test_a_file_without_rows_is_a_table_without_rows():
    write("d.csv", "t,a\n")
    assert rtbot.read("d.csv").num_rows == 0
    with pytest.raises(FileNotFoundError):
        rtbot.read("none.csv")


def test_other_formats():
    table = pa.table({"t": [1, 2], "k": ["a", "b"], "x": [1.5, None], "n": [1, 2]})
    pq.write_table(table, "d.parquet")
    assert rtbot.read("d.parquet", {"key": "k"}).to_pylist() == table.to_pylist()
    write("d.jsonl", '{"t":1,"k":"a","x":1.5,"n":1}\n{"t":2,"k":"b","x":null,"n":2}\n')
    assert rtbot.read("d.jsonl", {"key": "k"}).to_pylist() == table.to_pylist()


# ---- the table and the file are the same data

CLOCK = {"time_format": "%d.%m.%Y_%I:%M:%S_%p", "unit": "s", "late": "error"}
LOCAL = CLOCK | {"timezone": "Europe/Madrid", "ambiguous": "later", "nonexistent": "shift"}
LOCAL |= {"late": "drop", "duplicates": "first"}
GRAPH = {
    "inputs": {"x": "number", "n": "integer", "f": "boolean", "w": "text"},
    "operators": {"s": {"type": "MovingSum", "in": "x", "window": 3}},
    "outputs": ["s", "x", "n", "f", "w"],
}


def write_time(moment, io):
    written = io.get("time_format", "unix")
    return f"{datetime.fromtimestamp(moment, UTC):{written}}" if "%" in written else str(moment)


def make_text(rng, io):
    """A file of all kinds that is written as `io` says, with what is odd but right."""
    dialect = io["csv"]
    sign = {"tab": "\t", "blank": "  "}.get(dialect["delimiter"], dialect["delimiter"])
    thousands = dialect.get("thousands", "")
    lines = ["preamble"] * dialect.get("skip", 0)
    lines += [sign.join(["t", "k", "x", "n", "f", "w"]), *["units"] * dialect.get("skip_after", 0)]
    moment = 1_700_000_000
    for _ in range(rng.randrange(40)):
        moment += rng.randrange(1, 100_000)
        x = rng.choice(["NA", "1e300", "-0.0", "nan", repr(rng.gauss(0, 1e3)), "1234567.5"])
        whole, point, rest = x.partition(".")
        if thousands and whole.isdigit():
            whole = f"{int(whole):,}".replace(",", thousands)
        x = whole + point.replace(".", dialect["decimal"]) + rest
        cells = [write_time(moment, io), rng.choice(["A", "B7", "007"]), x]
        cells += [rng.choice(["NA", str(rng.randrange(-(2**63), 2**63)), "0"])]
        cells += [rng.choice(["true", "FALSE", "NA"]), rng.choice(["NA", "é", "word", "5"])]
        lines.append(sign.join(cells))
        lines += ["# aside"] * (bool(dialect.get("comment")) and rng.random() < 0.1)
    return rng.choice(["\n", "\r\n"]).join([*lines, ""])


@pytest.mark.parametrize("seed", range(24))
def test_a_graph_gives_the_same_bits_for_the_table(seed):
    rng = random.Random(seed)
    decimal = rng.choice([".", ","])
    dialect = {"delimiter": rng.choice([";", "|", "tab", "blank"]), "decimal": decimal}
    dialect["thousands"] = rng.choice(["", "," if decimal == "." else "."])
    dialect |= rng.choice([{}, {"skip": 2}, {"skip_after": 1}, {"comment": "#"}])
    dialect |= rng.choice([{}, {"encoding": "latin-1"}, {"encoding": "utf-16"}])
    io = {"key": {"k": "text"}, "null": ["NA"], "csv": dialect}
    io |= rng.choice([{}, {"time_format": "unix", "unit": "ms"}, {"unit": "s"}, CLOCK, LOCAL])
    write("d.csv", make_text(rng, io), dialect.get("encoding", "utf-8"))
    kinds = {"x": "number", "n": "integer", "f": "boolean", "w": "text"}
    graph = rtbot.load(GRAPH | {"io": io})
    expected = graph.run("d.csv").digest()
    assert graph.run(rtbot.read("d.csv", io, columns=kinds)).digest() == expected


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow", "csv.gz"])
def test_a_graph_gives_the_same_bits_for_the_table_of_other_formats(form):
    moments = [datetime(2024, 1, 31, hour, tzinfo=UTC) for hour in range(6)]
    table = pa.table(
        {
            "time": pa.array(moments, pa.timestamp("us", "UTC")),
            "k": ["a", "b", None, "a", "b", "a"],
            "x": [1.5, None, float("inf"), -0.0, 2.0**60, 1e-300],
            "n": pa.array([2**62, None, -1, 0, 5, 6], pa.int64()),
            "f": [True, None, False, True, False, True],
            "w": ["é", None, "5", "x", "y", "z"],
        }
    )
    path = f"d.{form}"
    write_table(table, path)
    graph = rtbot.load(GRAPH | {"io": {"key": ["k"]}})
    kinds = {"x": "number", "n": "integer", "f": "boolean", "w": "text"}
    found = rtbot.read(path, {"key": "k"}, columns=kinds)
    assert graph.run(found).digest() == graph.run(path).digest()


def write_table(table, path):
    rows = [{**row, "time": row["time"].isoformat()} for row in table.to_pylist()]
    if path.endswith("parquet"):
        pq.write_table(table, path)
    elif path.endswith("arrow"):
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif path.endswith("jsonl"):
        texts = [json.dumps({n: v for n, v in row.items() if v != float("inf")}) for row in rows]
        write(path, "".join(f"{text}\n" for text in texts))
    else:
        cells = [",".join("" if v is None else str(v) for v in row.values()) for row in rows]
        text = "\n".join([",".join(table.column_names), *cells, ""])
        Path(path).write_bytes(gzip.compress(text.encode()))
