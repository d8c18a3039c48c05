"""Files read as they are: absent cells, keys of a type, columns as series, members of objects."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot
import rtbot.operators
from rtbot.graph.model import CsvDialect, ReadOptions
from rtbot.io import reader
from rtbot.io.bindings import InputSpec
from rtbot.io.pushes import push_inputs
from rtbot.io.sources import csv_chunks, jsonl

pytestmark = pytest.mark.usefixtures("own_folder")

GRAPH = "inputs: {value: KIND}\noperators: {o: {type: Identity, in: value}}\noutputs: [o]\n"


def run(file, *, kind="number", key=(), time=(), column=None, **options):
    """What comes out: rows (key..., t, value), sorted; or an error as text."""
    graph = rtbot.load(GRAPH.replace("KIND", kind))
    inputs = {} if column is None else {"value": (file, column)}
    spec = InputSpec(None if inputs else file, inputs, time, key, ReadOptions(**options))
    session = graph.start(key=key)
    try:
        found = push_inputs(session, spec, graph.checked.inputs, graph.checked.io)
    except rtbot.DataError as error:
        return str(error)
    tables = [part["o"] for part in (*found, session.finish())]
    names = (*key, "t", "value")
    return sorted(
        row for table in tables for row in zip(*(table[n].tolist() for n in names), strict=True)
    )


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


def write_objects(*objects):
    return write("d.jsonl", "".join(json.dumps(one) + "\n" for one in objects))


# ---- columns as series

WIDE = "t,a,b,c\n1,1,,3\n2,,5,\n3,7,8,nan?\n".replace("nan?", "9")
STACKED = [("a", 1, 1), ("a", 3, 7), ("b", 2, 5), ("b", 3, 8), ("c", 1, 3), ("c", 3, 9)]


def write_wide(form):
    if form == "csv":
        return write("w.csv", WIDE)
    lines = [line.split(",") for line in WIDE.split()]
    rows = [
        {name: float(cell) for name, cell in zip(lines[0], line, strict=True) if cell}
        for line in lines[1:]
    ]
    rows = [row | {"t": int(row["t"])} for row in rows]
    if form == "jsonl":
        return write_objects(*rows)
    columns = {name: [row.get(name) for row in rows] for name in lines[0]}
    pq.write_table(pa.table(columns), "w.parquet")
    return "w.parquet"


@pytest.mark.parametrize("rows", [65_536, 4, 1])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_every_column_is_a_series(form, rows, monkeypatch):
    monkeypatch.setattr(reader, "BLOCK_ROWS", rows)
    assert run(write_wide(form), key=("meter",), columns_as="meter") == STACKED


def test_a_block_of_many_columns_has_few_rows(monkeypatch):
    monkeypatch.setattr(reader, "BLOCK_ROWS", 100)
    names = [f"m{n:03}" for n in range(37)]
    rows = [",".join([str(t), *(f"{t}.{n}" for n in range(37))]) for t in range(50)]
    file = write("w.csv", ",".join(["t", *names]) + "\n" + "\n".join(rows))
    expected = [(name, t, float(f"{t}.{n}")) for n, name in enumerate(names) for t in range(50)]
    assert run(file, key=("meter",), columns_as="meter") == expected


def test_series_have_other_keys_and_types_too():
    file = write("w.csv", "t,s,10,9\n1,x,a,b\n1,y,,b\n2,x,?,c\n")
    found = run(
        file, kind="text", key=("s", "m"), columns_as="m", null=("?",), key_types={"m": "integer"}
    )
    assert found == [("x", 9, 1, "b"), ("x", 9, 2, "c"), ("x", 10, 1, "a"), ("y", 9, 1, "b")]
    assert run(file, kind="text", key=("s", "m"), columns_as="m")[:1] == [("x", "10", 1, "a")]


SERIES_WRONG = [
    ("t,a,b\n1,1,2\n1,3,4\n", {}, "w.csv:3: error[RT203]: a second message at t=1"),
    ("t,a,b\n1,1,x\n", {}, "w.csv:2: error[RT201]: not a number (column 'b', value 'x')"),
    ("t,m,b\n1,1,2\n", {}, "w.csv:1: error[RT215]: columns_as: there is a column 'm' already"),
    ("t\n1\n", {}, "w.csv:1: error[RT204]: there is no column that is a series"),
    ("t,1,b\n1,1,2\n", {"key_types": {"m": "integer"}}, "w.csv:1: error[RT212]: "),
    ("t,a\n1,1\n", {"key": ()}, "error[RT206]: columns_as: 'm' is no key\n     set io.key: [m]"),
]


@pytest.mark.parametrize(("text", "more", "message"), SERIES_WRONG, ids=range(len(SERIES_WRONG)))
def test_what_is_wrong_with_series(text, more, message):
    found = run(write("w.csv", text), **({"key": ("m",), "columns_as": "m"} | more))
    assert found.startswith(message)


def test_an_object_with_another_key_than_the_first_ones_is_an_error(monkeypatch):
    rows = [{"t": t, "a": t, "b": 1} for t in range(9)] + [{"t": 9, "c": 1}]
    assert len(run(write_objects(*rows), key=("m",), columns_as="m")) == 19
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 60)
    found = run(write_objects(*rows), key=("m",), columns_as="m")
    assert found.startswith("d.jsonl:10: error[RT204]: a column that the first rows do not have")


def test_files_of_one_pattern_have_the_same_series():
    write("a1.csv", "t,a,b\n1,1,2\n")
    write("a2.csv", "b,t,a\n3,2,4\n")
    expected = [("a", 1, 1), ("a", 2, 4), ("b", 1, 2), ("b", 2, 3)]
    assert run("a*.csv", key=("m",), columns_as="m") == expected
    write("a3.csv", "t,a,b,c\n3,1,2,3\n")
    found = run("a*.csv", key=("m",), columns_as="m")
    assert found.startswith("a3.csv:1: error[RT204]: there is a column 'c', which a1.csv")


# ---- keys of a type

NOT_AN_INTEGER = "error[RT212]: not a plain 64-bit integer, as the keys in the first rows are"
LATE_TEXT = "t,k,value\n" + "".join(f"{t},{t % 5 + 10},{t}\n" for t in range(99)) + "99,0010,2\n"


def test_keys_that_only_begin_as_integers_are_declared_as_text(monkeypatch):
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 500)
    file = write("k.csv", LATE_TEXT)
    assert run(file, key=("k",)).split("\n") == [
        f"k.csv:101: {NOT_AN_INTEGER} (column 'k', value '0010')",
        "     set io.key: {k: text} if the keys are texts",
    ]
    found = run(file, key=("k",), key_types={"k": "text"})
    assert (len(found), found[0], found[1]) == (100, ("0010", 99, 2), ("10", 0, 0))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_declared_type_of_a_key_holds_in_every_format(form):
    rows = [{"t": t, "k": t * 5, "value": t} for t in (1, 2)]
    if form == "csv":
        file = write("k.csv", "t,k,value\n1,5,1\n2,10,2\n")
    elif form == "jsonl":
        file = write_objects(*rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), "k.parquet")
        file = "k.parquet"
    for kind, keys in (("text", ["10", "5"]), ("integer", [5, 10])):
        assert [row[0] for row in run(file, key=("k",), key_types={"k": kind})] == keys
    found = run(write("k.csv", "t,k,value\n1,x,1\n"), key=("k",), key_types={"k": "integer"})
    assert "as io.key declares" in found


# ---- JSON lines

OBJECTS = [
    ([{"value": "0.547500"}, {"value": " 1e3"}], {}, [0.5475, 1000]),
    ([{"value": ""}, {"value": "  "}, {"value": 1}], {}, [1]),
    ([{"value": "NA"}, {"value": 2}, {"value": " ? "}], {"null": ("NA", "?")}, [2]),
    ([{"value": "1"}, {"value": 2.5}], {}, [1, 2.5]),
    ([{"a.b": 1}, {"a": {"b": 2}}, {"a": 5}, {"a": {"b": None}}], {"column": "a.b"}, [1, 2]),
    (
        [{"a": {"b": {"c": 1}}}, {"a": {"b.c": 2}}, {"a.b": {"c": 3}}],
        {"column": "a.b.c"},
        [1, 2, 3],
    ),
    ([{"a": {"x": 0}}, {"a": {"b": 2}}, {"n": 1}], {"column": "a.b"}, [2]),
    ([{"a": {"b": "1.5"}}, {"a": {"b": "2"}}], {"column": "a.b"}, [1.5, 2]),
]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("cells", "more", "expected"), OBJECTS, ids=range(len(OBJECTS)))
def test_objects(cells, more, expected, strict, monkeypatch):
    if strict:
        monkeypatch.setattr(jsonl, "read_with_arrow", lambda *_, **__: None)
    found = run(write_objects(*({"t": t} | cell for t, cell in enumerate(cells))), **more)
    assert [value for _, value in found] == expected


def test_what_is_in_text_is_of_every_kind():
    rows = [{"t": 1, "value": "7"}, {"t": "2", "value": " -8 "}]
    assert run(write_objects(*rows), kind="integer") == [(1, 7), (2, -8)]
    rows = [{"t": 1, "value": "true"}, {"t": 2, "value": "0"}, {"t": 3, "value": False}]
    assert run(write_objects(*rows), kind="boolean") == [(1, True), (2, False), (3, False)]
    big = "0" * 5000 + "1"
    assert run(write_objects({"t": 1, "value": big}), kind="integer") == [(1, 1)]
    assert run(write("d.csv", f"t,value\n1,{big}\n"), kind="integer") == [(1, 1)]
    found = run(write_objects({"t": 1, "value": str(2**63)}), kind="integer")
    assert "RT213" in found


OBJECTS_WRONG = [
    ({"value": {"a": 1, "b": "x"}}, "number", "RT201", "it has the keys a, b: read one"),
    ({"value": [1]}, "number", "RT201", ""),
    ({"value": {}}, "number", "RT201", ""),
    ({"value": True}, "number", "RT201", ""),
    ({"value": "n/a"}, "number", "RT201", 'set io.null: ["n/a"]'),
    ({"value": "1,5"}, "number", "RT201", "the decimal sign is a point"),
    ({"value": 1.5}, "text", "RT201", ""),
    ({"value": "1.5"}, "integer", "RT201", "an integer has no decimals"),
    ({"value": "yes"}, "boolean", "RT201", ""),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "kind", "code", "hint"), OBJECTS_WRONG, ids=range(9))
def test_what_is_wrong_with_a_cell_of_an_object(cell, kind, code, hint):
    found = run(write_objects({"t": 1} | cell), kind=kind)
    assert found.startswith(f"d.jsonl:1: error[{code}]: ")
    assert hint in found


KEYS = [
    ([7, "A1"], {}, ["7", "A1"]),
    (["A1", 7], {}, ["7", "A1"]),
    ([7, 8], {}, [7, 8]),
    ([7, 8], {"k": "text"}, ["7", "8"]),
    (["7", "08"], {"k": "text"}, ["08", "7"]),
    (["7", 8], {"k": "integer"}, [7, 8]),
    ([7, None], {}, [7, None]),
]


@pytest.mark.parametrize(("keys", "types", "expected"), KEYS, ids=str)
def test_keys_of_objects(keys, types, expected):
    rows = [{"t": t, "value": 1, "k": key} for t, key in enumerate(keys)]
    found = run(write_objects(*rows), key=("k",), key_types=types) if None not in keys else None
    if found is not None:
        assert [row[0] for row in found] == expected


def test_a_key_of_objects_that_only_begins_with_integers(monkeypatch):
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 30)
    rows = [{"t": t, "value": 1, "k": t} for t in range(3)] + [{"t": 3, "value": 1, "k": "A"}]
    found = run(write_objects(*rows), key=("k",))
    assert found.startswith("d.jsonl:4: error[RT212]: ")
    assert "set io.key: {k: text}" in found
    assert len(run(write_objects(*rows), key=("k",), key_types={"k": "text"})) == 4


def test_null_tokens_are_absent_in_columns_of_text_in_parquet():
    pq.write_table(pa.table({"t": [1, 2], "value": ["NA ", "x"]}), "d.parquet")
    assert run("d.parquet", kind="text", null=("NA",)) == [(2, "x")]


# ---- public formats: shared field cases, with times in a form that is read without options

FIELD = {
    "enedis": (
        "Identifiant PRM;Type\n00;x\nHorodate;Valeur\n2023-01-01T00:00:00+01:00;460\n",
        {"column": "Valeur", "time": ("Horodate",), "csv": CsvDialect(delimiter=";", skip=2)},
        [460],
    ),
    "usgs": (
        "# site\n#\ndatetime\t01_00060\n20d\t14n\n2012-09-01\t191\n2012-09-02\tIce\n",
        {
            "column": "01_00060",
            "time": ("datetime",),
            "null": ("Ice",),
            "csv": CsvDialect(delimiter="tab", comment="#", skip_after=1),
        },
        [191],
    ),
    "ndbc": (
        "#YY  MM  WVHT\n#yr  mo     m\n2024 02   MM\n2025 01  1.2\n",
        {
            "column": "WVHT",
            "time": ("#YY",),
            "null": ("MM",),
            "csv": CsvDialect(delimiter="blank", skip_after=1),
        },
        [1.2],
    ),
    "binance": (
        "1698364800000,34151.66,34171.28\n1698368400000,34015.27,34054.48\n",
        {"column": "high", "time": ("t",), "csv": CsvDialect(names=("t", "open", "high"))},
        [34171.28, 34054.48],
    ),
    "glucose": (
        "Name:A B,x:y\nTimestamp,CGM Glucose Value (mg/dl)\n2025-07-29,101\n2025-07-30,Low\n",
        {
            "column": "CGM Glucose Value (mg/dl)",
            "time": ("Timestamp",),
            "null": ("Low",),
            "csv": CsvDialect(skip=1),
        },
        [101],
    ),
    "pandas": (",value\n2017-11-02,63.25\n2017-11-03,63.5\n", {"time": ("",)}, [63.25, 63.5]),
    "bom": ("\ufefftime,value\r\n2024-01-01,1.5\r\n", {}, [1.5]),
    "thousands": (
        'date,value\n2007-01-01,999.5\n2007-02-01,"1,049.34"\n',
        {"csv": CsvDialect(thousands=",")},
        [999.5, 1049.34],
    ),
}


@pytest.mark.parametrize("name", FIELD)
def test_public_formats(name):
    text, more, expected = FIELD[name]
    assert [value for _, value in run(write("d.csv", text), **more)] == expected


def test_a_column_without_a_name_is_shown_in_the_hint():
    assert "there are '', value; say --time ''" in run(write("d.csv", ",value\n2017-11-02,1\n"))
