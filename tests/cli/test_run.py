"""`rtbot run` as a whole: JSONL, packed files, order of any size, pipes, progress, failures."""

import csv
import gzip
import io
import json
import math
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import redirect_stderr, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rtbot.cli.main import run
from rtbot.cli.progress_bar import ProgressBar, TrackedFiles
from rtbot.cli.run_options import parse_bytes
from rtbot.io.sinks.sort import RUNS_MAX, ExternalSorter
from rtbot.io.sinks.writers import TimeFormat
from rtbot.io.text_table import TextTable
from rtbot.tables.wide import PRESENT

ROOT = Path(__file__).parents[2]
ONE = "inputs: {x: number}\noperators: {y: x * 2}\noutputs: [y]\n"
SUM = "inputs: {a: number, b: number}\noperators: {both: a + b}\noutputs: {both: both, a: a}\n"
COPY = "inputs: {{x: {kind}}}\noperators: {{y: {{type: Identity, in: x}}}}\noutputs: [y]\n"
DROP = "io: {bad: drop}\n"
FORMATS = ("csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "arrow")


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def call(call):
    """Run the graph of the folder; returns (code, stdout, stderr)."""
    return lambda *arguments, **files: call("run", "g.yaml", *arguments, **files)


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


# ---- JSONL


def test_wide_objects_may_leave_cells_out(call):
    rows = lines({"t": 1, "a": 1, "b": 10}, {"t": 2, "a": 2}, {"t": 3, "b": None}, {"b": 4, "t": 4})
    assert call("d.jsonl", g__yaml=SUM, d__jsonl=rows)[:2] == (0, "t,both,a\n1,11,1\n2,,2\n")


def test_an_input_may_come_later_than_the_first_object(call):
    rows = lines({"t": 1, "a": 1}, {"t": 2, "a": 2, "b": 20})
    assert call("d.jsonl", g__yaml=SUM, d__jsonl=rows)[:2] == (0, "t,both,a\n1,,1\n2,22,2\n")
    code, out, err = call("d.jsonl", d__jsonl=lines({"t": 1, "a": 1}))
    assert (code, out) == (0, "t,both,a\n1,,1\n")
    assert "d.jsonl: no row has 'b', which feeds b" in err


def test_long_objects_and_inputs_of_several_kinds(call):
    graph = "inputs: {n: number, s: text, i: integer?}\noutputs: {n: n, s: s, i: i}\n"
    rows = [
        {"t": 1, "input": "n", "value": 1.5},
        {"t": 1, "input": "s", "value": "a"},
        {"t": 1, "input": "i", "value": None},
        {"t": 2, "input": "n", "value": "nan"},
        {"t": 2, "input": "s", "value": '"5'},
        {"t": 2, "input": "i", "value": 2**62},
    ]
    arguments = ("--layout", "long", "--format", "jsonl")
    code, out, err = call("d.jsonl", *arguments, g__yaml=graph, d__jsonl=lines(*rows))
    assert code == 0, err
    written = [json.loads(line) for line in out.splitlines()]
    assert [(row["t"], row["output"], row["value"]) for row in written] == [
        (1, "n", "1.5"),
        (1, "s", "a"),
        (1, "i", None),
        (2, "n", "nan"),
        (2, "s", '"5'),
        (2, "i", str(2**62)),
    ]


def test_a_file_per_input_with_a_column_of_another_name(call):
    files = {"l__jsonl": lines({"t": 1, "p": 1}), "r__jsonl": lines({"ts": 1, "value": 2})}
    found = call("--in", "a=l.jsonl:p", "--in", "b=r.jsonl", g__yaml=SUM, **files)
    assert found[:2] == (0, "t,both,a\n1,3,1\n")


def test_objects_are_written_in_the_order_of_columns_without_what_is_not_there(call):
    data = 't,k,a,b\n1,x,1,10\n2,"q""\n",2,\n3,,3,inf\n'
    _, out, _ = call("d.csv", "--key", "k", "--format", "jsonl", g__yaml=SUM, d__csv=data)
    assert out.splitlines() == [
        '{"t":2,"k":"q\\"\\n","a":2}',
        '{"t":1,"k":"x","both":11,"a":1}',
        '{"t":3,"k":null,"both":"inf","a":3}',
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_bit_survives_every_format(call, form):
    generator = random.Random(3)
    values = [struct.unpack("d", generator.randbytes(8))[0] for _ in range(3000)]
    values = [value for value in values if not math.isnan(value)]
    values += [math.inf, -math.inf, math.nan, -0.0, 0.1, 1e16, 5e-324, 2.0**53, 1e308]
    data = "t,x\n" + "".join(f"{t},{value!r}\n" for t, value in enumerate(values))
    graph = COPY.format(kind="number")
    assert call("d.csv", "-o", f"o.{form}", g__yaml=graph, d__csv=data)[0] == 0
    assert call("--in", f"x=o.{form}:y", "-o", "back.csv")[0] == 0
    found = [float(line.split(",")[1]) for line in Path("back.csv").read_text().splitlines()[1:]]
    assert struct.pack(f"{len(values)}d", *found) == struct.pack(f"{len(values)}d", *values)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("integer", ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"]),
        ("boolean", ["true", "false"]),
        ("text", ['""', "a", '"a,""b"""', "\u00e9\U0001f600", '"x\ny"', "null", "nan", "1"]),
    ],
)
def test_values_of_every_kind_survive_every_format(call, form, kind, cells):
    data = "t,y\n" + "".join(f"{t},{cell}\n" for t, cell in enumerate(cells))
    graph = COPY.format(kind=kind)
    arguments = ("--in", "x=d.csv:y", "-o", f"o.{form}")
    assert call(*arguments, g__yaml=graph, d__csv=data)[0] == 0
    assert call("--in", f"x=o.{form}:y")[:2] == (0, data)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "time", ["2004-01-02", "2004-01-02T10:00:00Z", "1969-12-31T23:59:59.250Z", "-5"]
)
def test_times_survive_every_format(call, form, time):
    data = f"t,y\n{time},2\n"
    assert call("--in", "x=d.csv:y", "-o", f"o.{form}", g__yaml=ONE, d__csv=data)[0] == 0
    _, out, _ = call("--in", f"x=o.{form}:y")
    shown = out.splitlines()[1].split(",")[0]
    if form in ("parquet", "arrow") and time != "-5":
        shown = shown.replace(".000000", "").replace(".250000", ".250")
        assert shown.startswith(time.removesuffix("Z"))
    else:
        assert shown == time


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"t":2', "not JSON"),
        ("{'t':2}", "not JSON"),
        ('{"t":2,}', "not JSON"),
        ('{"t":02}', "not JSON"),
        ('{"t":2,"x":+1}', "not JSON"),
        ('{"t":2,"x":Inf}', "not JSON"),
        ('{"t":2,"x":-NaN}', "not JSON"),
        ('{"t":2} 3', "more than one value"),
        ('{"t":2}{"t":3}', "more than one value"),
        ("[2, 3]", "not an object"),
        ("null", "not an object"),
        ('{"t":2,"x":1,"x":1}', "the key 'x' is there twice"),
        ('{"t":2,"x":"1,5"}', "not a number (column 'x', value '1,5')"),
        ('{"t":2,"x":true}', "not a number"),
        ('{"t":2,"x":{"y":[1]}}', "this is an object"),
        ('{"t":2,"x":"\t"}', "not JSON"),
        ('{"t":2.0,"x":1}', "not an integer (column 't', value '2.0')"),
        ('{"t":9223372036854775808}', "beyond 64 bits"),
        ('{"t":' + "1" * 5000 + "}", "beyond 64 bits"),
        ('{"t":"2004-01-01"}', "not an integer"),
        ('{"x":1}', "a row without a time"),
        ('{"t":null}', "a row without a time"),
        ('{"t":1,"x":1}', "second message"),
        ('{"t":0,"x":1}', "late"),
        (b'{"t":2,"z":"\xff"}', "not UTF-8"),
        ('{"t":2,"z":' + "[" * 100_000 + "}", "not JSON"),
    ],
)
def test_bad_lines_are_refused_with_their_place(call, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    for number, blank in ((3, b"\n"), (2, b"")):  # with blank lines, pyarrow reads none of it
        data = b'{"t":1,"x":1}\n' + blank + line + b'\n{"t":9,"x":9}\n'
        code, out, err = call("d.jsonl", g__yaml=ONE, d__jsonl=data)
        assert (code, out) == (4, ""), err
        assert err.startswith(f"d.jsonl:{number}: error[RT2"), err
        assert message in err or "nested too deep" in err, err


@pytest.mark.parametrize(
    ("kind", "cell", "message"),
    [
        ("integer", "1.0", "not an integer"),
        ("integer", "1e3", "not an integer"),
        ("integer", '"1.0"', "not an integer"),
        ("integer", "-9223372036854775809", "beyond 64 bits"),
        ("boolean", "1", "not a boolean"),
        ("boolean", '"yes"', "not a boolean"),
        ("text", "1", "not text"),
        ("text", '"\\ud800"', "surrogate"),
        ("number", '"infinit"', "not a number"),
    ],
)
def test_json_has_types(call, kind, cell, message):
    for rows in (f'{{"t":2,"x":{cell}}}\n', f'{{"t":1}}\n{{"t":2,"input":"x","value":{cell}}}\n'):
        long = '{"t":0,"input":"x","value":null}\n'
        first = long if "input" in rows else '{"t":0,"x":null}\n'
        code, _, err = call("d.jsonl", g__yaml=COPY.format(kind=kind), d__jsonl=first + rows)
        assert code == 4
        assert message in err or "no such input" in err, err


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", '"NaN"', '"inf"', '"-INF"', "1e400", "-0", "1E5", "7"]
)
def test_numbers_that_json_can_and_cannot_tell(call, text):
    graph = COPY.format(kind="number")
    _, out, _ = call("d.jsonl", g__yaml=graph, d__jsonl=f'{{"t":1,"x":{text}}}\n')
    found = float(out.splitlines()[1].split(",")[1])
    assert struct.pack("d", found) == struct.pack("d", float(text.strip('"')))


@pytest.mark.parametrize(
    "data",
    [
        '\ufeff{"t":1,"x":2}\n',
        '{"t":1,"x":2}',
        '\n\n  {"x":2 , "t":1}\r\n\r\n',
        '{"\\u0074":1,"x":2,"z":{"t":5,"w":[{}]},"z":1}\n',
    ],
)
def test_odd_jsonl_that_is_valid(call, data):
    assert call("d.jsonl", g__yaml=ONE, d__jsonl=data)[:2] == (0, "t,y\n1,4\n")


@pytest.mark.parametrize("data", ["", "\n", "\ufeff\n \n"])
def test_jsonl_without_rows_is_valid(call, data):
    assert call("d.jsonl", g__yaml=ONE, d__jsonl=data)[:2] == (0, "t,y\n")
    assert call("d.jsonl", "-o", "o.jsonl")[:2] == (0, "")
    assert Path("o.jsonl").read_bytes() == b""


def test_a_line_that_is_too_long_is_refused_wherever_chunks_end(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.LINE_BYTES", 1000)
    for size in (64, 700):
        monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", size)
        for extra, code in ((0, 0), (1, 4)):
            long = '{"t":2,"z":"' + "z" * (1000 - len('{"t":2,"z":""}') + extra) + '"}\n'
            data = '{"t":1,"x":2}\n' + long
            found, _, err = call("d.jsonl", g__yaml=ONE, d__jsonl=data)
            assert found == code, (size, extra, err)
            assert code == 0 or err.startswith("d.jsonl:2: error[RT219]: a line of more than 1000")


def test_fast_and_strict_reading_agree(call, monkeypatch):
    generator = random.Random(1)
    cells = ["1", "-2.5", "null", "1e3", '"nan"', "NaN", "12345678901234567890123"]
    rows = [
        f'{{"t":{t},"k":"{generator.choice("ab")}","x":{generator.choice(cells)}}}'
        for t in range(2000)
    ]
    data = "\n".join(rows)
    arguments = ("d.jsonl", "--key", "k", "-o", "o.csv")
    outs = []
    for size, fast in ((1 << 22, True), (100, True), (1 << 22, False)):
        monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", size)
        if not fast:
            monkeypatch.setattr("rtbot.io.sources.jsonl.read_with_arrow", lambda *_, **__: None)
        assert call(*arguments, g__yaml=ONE, d__jsonl=data)[0] == 0
        outs.append(Path("o.csv").read_text())
    assert set(outs) == {outs[0]}
    assert "nan" in outs[0]


@pytest.mark.parametrize(("first", "second"), [("5", '"5"'), ('"5"', "5")])
def test_keys_of_digits_with_and_without_quotes_are_one(call, first, second):
    data = f'{{"t":1,"k":{first},"x":1}}\n{{"t":2,"k":{second},"x":1}}\n'
    code, out, _ = call("d.jsonl", "--key", "k", g__yaml=ONE, d__jsonl=data)
    assert (code, out) == (0, "t,k,y\n1,5,2\n2,5,2\n")


def test_keys_are_integers_or_text(call):
    data = '{"t":1,"k":1.5,"x":1}\n'
    code, _, err = call("d.jsonl", "--key", "k", g__yaml=ONE, d__jsonl=data)
    assert code == 4
    assert "not text" in err


def test_keys_of_digits_in_quotes_are_text(call):
    data = lines(*({"t": 1, "k": key, "x": 1} for key in ("10", "9", None)))
    _, out, _ = call("d.jsonl", "--key", "k", "--format", "jsonl", g__yaml=ONE, d__jsonl=data)
    assert [json.loads(line)["k"] for line in out.splitlines()] == ["10", "9", None]


# ---- packed files, several files, odd names


def test_members_of_gzip_follow_one_another(call):
    whole = gzip.compress(b"t,x\n1,1\n2,") + gzip.compress(b"2\n3,3\n")
    expected = (0, "t,y\n1,2\n2,4\n3,6\n")
    assert call("d.csv.gz", g__yaml=ONE, d__csv__gz=whole)[:2] == expected
    objects = gzip.compress(b'{"t":1,"x":1}\n{"t":2,') + gzip.compress(b'"x":2}\n{"t":3,"x":3}\n')
    assert call("d.jsonl.gz", d__jsonl__gz=objects)[:2] == expected
    for zeros in (1, 700, 300_000):  # which fill up the last block of a tape
        padded = whole + bytes(zeros)
        assert call("d.csv.gz", g__yaml=ONE, d__csv__gz=padded)[:2] == expected


PACKED = gzip.compress(b"t,x\n1,1\n2,", mtime=0) + gzip.compress(b"2\n3,3\n", mtime=0)
FIRST_MEMBER = len(gzip.compress(b"t,x\n1,1\n2,", mtime=0))
CUT_OFF = "gzip data that is cut off at byte {}, after {} lines"
BEHIND = "something else behind the end of the gzip data, from byte {} on, after {} lines"
DAMAGED = "damaged gzip data ({}), at byte {} or behind it, after {} lines"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty file, which is not gzip, after 0 lines"),
        (b"t,x\n1,1\n", "this is not gzip data"),
        (b"\0" + PACKED, "this is not gzip data"),
        (PACKED[:1], CUT_OFF.format(1, 0)),
        (PACKED[:5], CUT_OFF.format(5, 0)),
        (PACKED[: FIRST_MEMBER - 9], CUT_OFF.format(FIRST_MEMBER - 9, 2)),
        (PACKED[: FIRST_MEMBER + 1], CUT_OFF.format(FIRST_MEMBER + 1, 2)),
        (PACKED[:-4], CUT_OFF.format(len(PACKED) - 4, 4)),
        (PACKED + b"junk", BEHIND.format(len(PACKED) + 1, 4)),
        (PACKED + bytes(700) + b"junk", BEHIND.format(len(PACKED) + 701, 4)),
        (
            PACKED + b"\x1f\x8bjunk",
            DAMAGED.format("unknown compression method", len(PACKED) + 1, 4),
        ),
        (
            PACKED[:-8] + b"crc?" + PACKED[-4:],
            DAMAGED.format("incorrect data check", FIRST_MEMBER + 1, 2),
        ),
    ],
)
def test_gzip_that_is_damaged_tells_how_and_where(call, data, message):
    code, out, err = call("d.csv.gz", g__yaml=ONE, d__csv__gz=data)
    assert (code, out) == (4, "")
    assert err.splitlines()[0] == f"d.csv.gz: error[RT208]: {message}"


def test_packed_output_is_the_same_bytes_every_time(call):
    data = "t,x\n" + "".join(f"{t},{t}.5\n" for t in range(1000))
    for form in ("csv", "jsonl"):
        call("d.csv", "-o", f"a.{form}.gz", g__yaml=ONE, d__csv=data)
        call("d.csv", "-o", f"b.{form}.GZ")
        call("d.csv", "-o", f"c.{form}")
        first = Path(f"a.{form}.gz").read_bytes()
        assert first == Path(f"b.{form}.GZ").read_bytes()
        assert gzip.decompress(first) == Path(f"c.{form}").read_bytes()


def test_several_files_have_their_columns_in_any_order_and_may_be_empty(call):
    files = {
        "p0__csv": "",
        "p1__csv": "t,x\n",
        "p2__csv": "x,t\n2,2004-01-01\n",
        "p3__csv": "t,z,x\n2004-01-02,q,3\n",
    }
    expected = (0, "t,y\n2004-01-01,4\n2004-01-02,6\n")
    assert call("p*.csv", g__yaml=ONE, **files)[:2] == expected
    code, _, err = call("p*.csv", p4__csv="t,y\n2004-01-03,1\n")
    assert code == 4
    assert err.startswith("p4.csv:1: error[RT204]: there is no column 'x', which p1.csv has")
    objects = {"q1__jsonl": "", "q2__jsonl": lines({"t": 1, "x": 1}), "q3__jsonl": lines({"t": 2})}
    assert call("q*.jsonl", **objects)[:2] == (0, "t,y\n1,2\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["d.dat"], (4, "the name does not tell what format this is")),
        (["d.dat", "--input-format", "jsonl"], (0, "t,y\n1,4\n")),
        (["plain"], (0, "t,y\n1,2\n")),
        (["d.txt"], (0, "t,y\n1,2\n")),
        (["d.jsonl.zip"], (4, "known are .csv, .txt, .jsonl")),
        (["folder"], (74, "Is a directory; for the files in it, say 'folder/*.csv'")),
        (["plain", "-o", "o.xlsx"], (2, "-o o.xlsx: the name does not tell a format")),
        (["plain", "-o", "o.parquet.gz"], (2, "does not tell a format")),
        (["plain", "--rejects", "r.xlsx"], (2, "--rejects r.xlsx: the name does not")),
        (["plain", "-o", "o.xlsx", "--format", "csv"], (0, "")),
    ],
)
def test_the_suffix_decides_or_the_user_does(call, arguments, expected):
    Path("folder").mkdir()
    Path("d.jsonl.zip").touch()
    files = {"d__dat": lines({"t": 1, "x": 2}), "plain": "t,x\n1,1\n", "d__txt": "t,x\n1,1\n"}
    code, out, err = call(*arguments, g__yaml=ONE, **files)
    assert code == expected[0], err
    assert expected[1] in (err if code else out)


# ---- order


def scattered(count, keys, seed=5):
    """Rows of a wide file, by time, of keys that come and go."""
    generator = random.Random(seed)
    rows = []
    for t in range(count):
        for key in generator.sample(keys, generator.randint(1, len(keys))):
            cells = [str(generator.random()) if generator.random() < 0.7 else "" for _ in "ab"]
            rows.append(f"{t},{key},{generator.randrange(3)},{','.join(cells)}\n")
    return "t,k,n,a,b\n" + "".join(rows)


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "table"])
def test_the_memory_changes_nothing(call, monkeypatch, form, layout):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 16)
    monkeypatch.setattr("rtbot.io.sinks.output_file.BLOCK_BYTES_MIN", 1)
    data = scattered(150, ["", "a", "b", "\u00e9", "\U0001f600", "\uffff", '"q"""'])
    arguments = ("d.csv", "--key", "k,n", "--layout", layout, "--format", form, "-o", "o")
    outs = []
    for memory in ("1G", "20k", "1"):
        assert call(*arguments, "--memory", memory, g__yaml=SUM, d__csv=data)[0] == 0
        outs.append(Path("o").read_bytes())
    assert outs[0] == outs[1] == outs[2]
    assert sorted(path.name for path in Path().iterdir()) == ["d.csv", "g.yaml", "o"]
    if form == "csv":
        keys = [row[1:3] for row in csv.reader(outs[0].decode().splitlines())][1:]
        assert keys == sorted(keys, key=lambda key: (not key[0], key[0].encode(), int(key[1])))


def test_keys_of_integers_stay_integers_where_a_run_has_null_alone(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 1)
    data = "t,k,x\n1,,1\n2,,1\n3,10,1\n4,9,1\n5,,1\n"
    for form in ("parquet", "csv"):
        arguments = ("d.csv", "--key", "k", "-o", f"o.{form}", "--memory", "1")
        assert call(*arguments, g__yaml=ONE, d__csv=data)[0] == 0
    assert pq.read_table("o.parquet").column("k").to_pylist() == [9, 10, None, None, None]
    assert Path("o.csv").read_text() == "t,k,y\n4,9,2\n3,10,2\n1,,2\n2,,2\n5,,2\n"
    call("d.csv", "--key", "k", "-o", "o.parquet", "--stream")
    assert pq.read_table("o.parquet").column("k").to_pylist() == [None, None, 10, 9, None]


def test_unkeyed_rows_that_wait_for_another_output_go_to_the_disk(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 10)
    graph = "inputs: {a: number, b: number}\noutputs: {a: a, b: b}\n"
    data = "t,input,value\n" + "".join(f"{t},{i},{t}\n" for i in "ab" for t in range(500))
    outs = {call("d.csv", g__yaml=graph, d__csv=data)[1]}
    outs.add(call("d.csv", "--memory", "1")[1])
    assert outs == {"t,a,b\n" + "".join(f"{t},{t},{t}\n" for t in range(500))}


def sorted_by(rows, per_run, block_bytes):
    """Rows (t, k, a, b) through a sorter, in runs of so many; also how many runs there were."""
    whole = pa.int64()
    schema = pa.schema([("t", whole), ("k", pa.string()), ("a", whole), ("b", whole)])
    sorter = ExternalSorter(io.BytesIO, ["k", "t"], block_bytes, unite=True)
    added = 0
    for start in range(0, len(rows), per_run):
        run_of = sorted(rows[start : start + per_run], key=by_key)
        columns = [list(column) for column in zip(*run_of, strict=True)]
        table = pa.table(columns, schema=schema)
        for name in "ab":
            table = table.append_column(PRESENT + name, table.column(name).is_valid())
        sorter.add(table)
        added += 1
    assert len(sorter) <= 3 * RUNS_MAX  # many of one size become one on the way
    found = [tuple(row.values())[:4] for table in sorter.read_sorted() for row in table.to_pylist()]
    sorter.close()
    return found, added


def by_key(row):
    return row[1] is None, (row[1] or "").encode(), row[0]


@pytest.mark.parametrize(("per_run", "block_bytes"), [(1, 1), (2, 200), (50, 64), (10**6, 1000)])
def test_runs_of_any_size_are_merged(per_run, block_bytes):
    generator = random.Random(per_run)
    keys = ["a", "b\0", "\u00e9", "\U0001f600", "\uffff", None]
    chosen = {(generator.randrange(400), generator.choice(keys)) for _ in range(2500)}
    places = sorted(chosen, key=str)
    generator.shuffle(places)
    rows = [(t, k, number, None) for number, (t, k) in enumerate(places)]
    found, runs = sorted_by(rows, per_run, block_bytes)
    assert found == sorted(rows, key=by_key)
    assert runs == -(-len(rows) // per_run)


def test_rows_of_one_place_become_one_wherever_they_were():
    rows = [(t, k, None, t) for t in range(200) for k in ("x", None)]
    rows += [(t, k, -t, None) for t in range(0, 200, 2) for k in ("x", None)]
    random.Random(1).shuffle(rows)
    expected = [(t, k, None if t % 2 else -t, t) for k in ("x", None) for t in range(200)]
    for per_run, block_bytes in ((1, 1), (3, 100)):
        assert sorted_by(rows, per_run, block_bytes)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("64k", 65536), ("2M", 2 << 20), ("1GiB", 1 << 30), ("1 gb", None), ("-1", None)],
)
def test_numbers_of_bytes(call, text, expected):
    if expected is not None:
        assert parse_bytes(text) == expected
    else:
        code, _, err = call("d.csv", "--memory", text, g__yaml=ONE)
        assert code == 2
        assert "not a number of bytes" in err


# ---- starving inputs


@pytest.mark.parametrize("other", ["", "  c: number\n"])
def test_an_input_that_starves_is_named(call, monkeypatch, other):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 10)
    outputs = "outputs: {both: both" + (", c: c" if other else "") + "}\n"
    graph = f"inputs:\n  a: number\n  b: number\n{other}operators: {{both: a + b}}\n{outputs}"
    data = "t,a,b,c\n0,1,1,1\n" + "".join(f"{t},1,,1\n" for t in range(1, 200))
    code, out, err = call("d.csv", "--queue", "50", "-o", "o.csv", g__yaml=graph, d__csv=data)
    assert (code, out) == (6, "")
    assert "both.i1 holds 59 rows that wait for input b" in err
    assert "sort it by time" in err
    assert not Path("o.csv").exists()
    assert call("d.csv", "--queue", "500")[0] == 0


# ---- bad rows, accounts, taps, quiet


@pytest.mark.parametrize("form", FORMATS)
def test_bad_rows_are_kept_in_every_format(call, form):
    rows = '{"t":1,"x":1}\n{"t":2,"x":"a"}\nnonsense\n\n{"x":3}\n{"t":4,"x":4}\n'
    arguments = ("d.jsonl", "--rejects", f"r.{form}")
    code, out, err = call(*arguments, g__yaml=ONE + DROP, d__jsonl=rows)
    assert (code, out) == (0, "t,y\n1,2\n4,8\n")
    assert "bad rows left out: 3 of d.jsonl" in err
    kept = {
        "csv": pa.csv.read_csv,
        "jsonl": pa.json.read_json,
        "parquet": pq.read_table,
        "arrow": lambda file: pa.ipc.open_file(file).read_all(),
    }[form.removesuffix(".gz")](f"r.{form}")
    assert [(row["line"], row["column"] or None, row["row"]) for row in kept.to_pylist()] == [
        (2, "x", '{"t":2,"x":"a"}'),
        (3, None, "nonsense"),
        (5, "t", '{"x":3}'),
    ]
    assert [p.split(":")[0] for p in kept.column("problem").to_pylist()] == [
        "not a number",
        "not JSON",
        "a row without a time",
    ]


def test_without_bad_rows_there_is_a_header(call):
    call("d.csv", "--rejects", "r.csv", g__yaml=ONE + DROP, d__csv="t,x\n1,1\n")
    assert Path("r.csv").read_text() == "file,line,column,problem,row\n"


def test_bad_rows_of_columns_are_shown(call, tmp_path):
    table = pa.table({"t": [1, None, 3], "x": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "d.parquet")
    assert call("d.parquet", "--rejects", "r.csv", g__yaml=ONE + DROP)[1] == "t,y\n1,2\n3,6\n"
    assert '"{""t"": null, ""x"": 2.0}"' in Path("r.csv").read_text()


def test_taps_are_columns_of_operators(call):
    graph = (
        "inputs: {a: number, b: number}\n"
        "operators:\n  j: {type: Join, in: [a, b]}\n  s: j.o1 + j.o2\n  d: s * 2\n"
        "outputs: {d: d}\n"
    )
    data = "t,a,b\n1,1,10\n2,2,20\n"
    assert call("d.csv", g__yaml=graph, d__csv=data)[1] == "t,d\n1,22\n2,44\n"
    assert call("d.csv", "--tap", "s")[1] == "t,d,s\n1,22,11\n2,44,22\n"
    assert call("d.csv", "--tap", "[js]")[1].startswith("t,d,j.o1,j.o2,s\n1,22,1,10,11\n")
    assert call("d.csv", "--tap", "s", "--out", "s=s.csv")[:2] == (0, "")
    assert Path("s.csv").read_text() == "t,s\n1,11\n2,22\n"
    code, _, err = call("d.csv", "--tap", "sum")
    assert code == 2
    assert "--tap sum: there is no such operator" in err


def test_quiet_is_quiet(call):
    data = "t,x\n2004-01-01T10:00:00,1\n"
    code, out, err = call("d.csv", "-q", "--strict", g__yaml=ONE, d__csv=data)
    assert (code, out, err) == (0, "t,y\n2004-01-01T10:00:00,2\n", "")


# ---- where output goes


def test_two_outputs_to_one_file_are_one_table(call):
    data = "t,a,b\n1,1,10\n2,2,\n"
    Path("real.csv").touch()
    Path("link.csv").symlink_to("real.csv")
    call("d.csv", "--out", "a=real.csv", "--out", "both=./link.csv", g__yaml=SUM, d__csv=data)
    assert Path("real.csv").read_text() == "t,both,a\n1,11,1\n2,,2\n"
    assert Path("link.csv").is_symlink()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["d.csv", "-o", "d.csv"], "d.csv would be overwritten, but it is read"),
        (["d.csv", "-o", "./folder/../d.csv"], "would be overwritten"),
        (["d.csv", "-o", "link.csv"], "link.csv would be overwritten"),
        (["d*.csv", "--out", "y=hard.csv"], "hard.csv would be overwritten"),
        (["d.csv", "--rejects", "d.csv"], "would be overwritten"),
        (["d.csv", "--account", "g.yaml"], "g.yaml would be overwritten"),
        (["d.csv", "-o", "o.csv", "--rejects", "./o.csv"], "./o.csv would be written twice"),
        (["d.csv", "--account", "-"], "stdout would get more than one thing"),
        (["--in", "x=-", "-"], "stdin can be read once"),
        (["d.csv", "--out", "y=a.csv", "--out", "y=b.csv"], "--out y is given twice"),
        (["d.csv", "--out", "z=a.csv"], "there are y"),
    ],
)
def test_nothing_is_read_and_written_or_written_twice(call, arguments, message):
    data = "t,x\n1,1\n"
    Path("d.csv").write_text(data)
    Path("folder").mkdir()
    Path("link.csv").symlink_to("d.csv")
    Path("hard.csv").hardlink_to("d.csv")
    code, out, err = call(*arguments, g__yaml=ONE)
    assert (code, out) == (2, "")
    assert message in err
    assert Path("d.csv").read_text() == data


def test_a_folder_gets_a_file_per_output(call):
    data = "t,a,b\n1,1,10\n"
    for form, suffix in (("jsonl", "jsonl"), ("table", "txt"), ("parquet", "parquet")):
        call("d.csv", "-o", f"{form}/", "--format", form, g__yaml=SUM, d__csv=data)
        found = sorted(path.name for path in Path(form).iterdir())
        assert found == [f"a.{suffix}", f"both.{suffix}"]
    assert Path("table/a.txt").read_text() == "t  a\n1  1\n"


def test_a_disk_that_is_full_leaves_nothing_behind(call, monkeypatch):
    from rtbot.storage.files import Files

    class Full(io.BytesIO):
        def __init__(self, room):
            super().__init__()
            self.room = room

        def write(self, data):
            self.room -= len(data)
            if self.room < 0:
                raise OSError(28, "No space left on device")
            return super().write(data)

    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 16)
    data = scattered(200, ["a", "b"])
    arguments = ("d.csv", "--key", "k", "-o", "o.csv", "--memory", "1k")
    for room in (0, 3000):
        monkeypatch.setattr(Files, "scratch", lambda *_, room=room: Full(room))
        code, _, err = call(*arguments, g__yaml=SUM, d__csv=data)
        assert (code, err) == (74, "o.csv: error: No space left on device\n")
        assert sorted(path.name for path in Path().iterdir()) == ["d.csv", "g.yaml"]


def test_devices_are_written_to_and_may_be_full(call):
    for place, code in (("/dev/null", 0), ("/dev/full", 74)):
        found, out, err = call("d.csv", "-o", place, g__yaml=ONE, d__csv="t,x\n1,1\n")
        assert (found, out) == (code, "")
        assert code == 0 or err == "/dev/full: error: No space left on device\n"


# ---- the process


def process(*arguments, **options):
    settings = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "rtbot", "run", "g.yaml", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT), "RTBOT_INTERPRET": "1", "PYTHONUNBUFFERED": ""},
        **(settings | options),
    )


def lines_from(stream, count):
    """So many lines of a pipe that stays open; fails if they do not come."""
    found = b""
    while found.count(b"\n") < count:
        ready, _, _ = select.select([stream], [], [], 60)
        assert ready, f"no more than {found}"
        found += os.read(stream.fileno(), 1 << 16)
    return found


@pytest.mark.parametrize(
    ("form", "parts"),
    [
        ("csv", [b"t,x\n1,1\n", b"2,2\n3,", b"3\n"]),
        ("jsonl", [b'{"t":1,"x":1}\n', b'{"t":2,"x":2}\n{"t":3', b',"x":3}\n']),
    ],
)
def test_rows_of_a_pipe_come_out_while_it_is_open(form, parts):
    Path("g.yaml").write_text(ONE)
    child = process("-", "--input-format", form, "-q")
    for part, expected in zip(parts, (b"t,y\n1,2\n", b"2,4\n", b"3,6\n"), strict=True):
        child.stdin.write(part)
        child.stdin.flush()
        assert lines_from(child.stdout, expected.count(b"\n")) == expected
    assert child.communicate() == (b"", b"")
    assert child.returncode == 0


@pytest.mark.parametrize("key", [[], ["--key", "k"]])
def test_bytes_do_not_depend_on_how_a_pipe_is_filled(key):
    generator = random.Random(2)
    data = scattered(80, ["a", "7", "b"]).encode()
    graph = SUM.replace("number", "number?").replace("operators: {both: a + b}\n", "")
    graph = graph.replace("both: both", "b: b") + "io: {duplicates: first}\n"
    outs = set()
    for _ in range(3):
        Path("g.yaml").write_text(graph)
        child = process("-", "-q", *key)
        at = 0
        while at < len(data):
            size = generator.choice([1, 20, 300, 5000])
            child.stdin.write(data[at : at + size])
            child.stdin.flush()
            at += size
            time.sleep(generator.choice([0, 0, 0.01, 0.06]))
        out, err = child.communicate()
        assert (child.returncode, err) == (0, b"")
        outs.add(out)
    assert len(outs) == 1
    assert len(outs.pop()) > 1000


def test_columnar_formats_go_through_pipes(tmp_path):
    Path("g.yaml").write_text(ONE)
    pq.write_table(pa.table({"t": [1, 2], "x": [1.0, 2.0]}), tmp_path / "d.parquet")
    child = process("-", "--input-format", "parquet", "--format", "arrow", "-q")
    out, err = child.communicate(Path("d.parquet").read_bytes())
    assert (child.returncode, err) == (0, b"")
    assert pa.ipc.open_file(out).read_all().to_pydict() == {"t": [1, 2], "y": [2.0, 4.0]}
    child = process("-", "--input-format", "arrow", "-q")
    assert child.communicate(out.replace(b"y", b"x"))[0] == b"t,y\n1,4\n2,8\n"


def nameless(number):
    """Files that a process has open and that have no name."""
    links = [str(link.readlink()) for link in Path(f"/proc/{number}/fd").iterdir()]
    return [link for link in links if link.endswith("(deleted)")]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing_behind(number, code):
    Path("g.yaml").write_text(SUM)
    child = process("-", "--key", "k", "-o", "o.csv", "--memory", "1k", "--rejects", "r.csv")
    child.stdin.write(b"t,k,a,b\n" + b"".join(b"%d,k,1.25,2.5\n" % t for t in range(900_000)))
    child.stdin.flush()
    while not nameless(child.pid) and child.poll() is None:
        time.sleep(0.02)
    assert len(list(Path().glob("*.part"))) == 2
    child.send_signal(number)
    _, err = child.communicate()
    assert (child.returncode, err) == (code, b"interrupted\n")
    assert [path.name for path in Path().iterdir()] == ["g.yaml"]


def test_a_killed_run_leaves_a_part_that_confuses_nobody():
    Path("g.yaml").write_text(ONE)
    child = process("-", "-o", "o.csv")
    child.stdin.write(b"t,x\n1,1\n")
    child.stdin.flush()
    while not list(Path().glob("*.part")) and child.poll() is None:
        time.sleep(0.02)
    child.kill()
    child.communicate()
    again = process("-", "-o", "o.csv", "-q")
    assert again.communicate(b"t,x\n1,2\n") == (b"", b"")
    assert Path("o.csv").read_text() == "t,y\n1,4\n"


def test_stdout_that_is_full_is_told_once():
    Path("g.yaml").write_text(ONE)
    with Path("/dev/full").open("wb") as full:
        child = process("-", "-q", stdout=full)
        _, err = child.communicate(b"t,x\n1,1\n")
    assert (child.returncode, err) == (74, b"stdout: error: No space left on device\n")


# ---- tables for reading


def test_of_a_long_table_the_middle_is_counted(call):
    for rows in (2000, 2001, 150_000):
        data = "t,x\n" + "".join(f"{t},1\n" for t in range(rows))
        _, out, _ = call("d.csv", "--format", "table", g__yaml=ONE, d__csv=data)
        shown = [line.split()[0] for line in out.splitlines()]
        last = [*map(str, range(rows - 1000, rows))]
        middle = [] if rows == 2000 else ["..."]
        assert shown[: 2001 + len(middle)] == ["t", *map(str, range(1000)), *middle, *last]
        assert out.splitlines()[2002:] == [f"(2,000 of {rows:,} rows)"] * len(middle)


def test_a_table_keeps_what_it_shows_and_no_more():
    table = TextTable(io.BytesIO(), TimeFormat())
    parts = [pa.table({"t": range(start, start + 5000)}) for start in range(0, 100_000, 5000)]
    for part in parts:
        table.write(part)
    assert len(table._first) + len(table._last) == 2000


COLUMNS = {"t": [1], "a": [1.5], "b": [2.5], "c": [3.5], "last": ["x"]}


@pytest.mark.parametrize(
    ("width", "header"),
    [
        (80, "t    a    b    c  last"),
        (22, "t    a    b    c  last"),
        (21, "t    a  ...  last"),
        (17, "t    a  ...  last"),
        (15, "t  ...  last"),
        (5, "t  ...  last"),
    ],
)
def test_a_terminal_gets_the_columns_that_fit(monkeypatch, width, header):
    monkeypatch.setenv("COLUMNS", str(width))
    for is_terminal in (True, False):
        stream = io.BytesIO()
        stream.isatty = lambda answer=is_terminal: answer
        table = TextTable(stream, TimeFormat())
        table.write(pa.table(COLUMNS))
        table.close()
        first, _, *rest = stream.getvalue().decode().splitlines()
        if not is_terminal or width >= 22:
            assert (first, rest) == ("t    a    b    c  last", [])
        else:
            assert (first, rest) == (header, [f"({len(header.split()) - 1} of 5 columns)"])


def test_cells_of_a_table_stay_on_their_line_and_are_not_too_long(call):
    data = 't,x\n1,"a\nb"\n2,\x1b[31mred\n3,' + "é" * 81 + "\n4," + "é" * 80 + "\n"
    _, out, _ = call("d.csv", "--format", "table", g__yaml=COPY.format(kind="text"), d__csv=data)
    assert out.splitlines() == [
        "t  y",
        r"1  a\nb",
        r"2  \x1b[31mred",
        "3  " + "é" * 77 + "...",
        "4  " + "é" * 80,
    ]


# ---- progress


class Terminal(io.TextIOWrapper):
    """A terminal whose other end is read all the time, so that writing never waits."""

    def __init__(self):
        self.reader, writer = pty.openpty()
        super().__init__(os.fdopen(writer, "wb"), write_through=True)
        self.found = bytearray()
        self.thread = threading.Thread(target=self.collect)
        self.thread.start()

    def collect(self):
        with suppress(OSError):  # which is how the end is told
            while found := os.read(self.reader, 1 << 16):
                self.found += found
        os.close(self.reader)

    def shown(self):
        """All that was written; nothing can be written after that."""
        self.close()
        self.thread.join()
        return self.found.decode()


@pytest.fixture
def terminal(monkeypatch):
    made = Terminal()
    monkeypatch.setattr("rtbot.cli.progress_bar.DELAY_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    yield made
    made.shown()


def run_shown(stream, *arguments):
    """Run the graph with this for stderr, over a file of 2,000 rows."""
    Path("d.csv").write_text("t,k,x\n" + "".join(f"{t},k,1\n" for t in range(2000)))
    Path("g.yaml").write_text(ONE)
    with redirect_stderr(stream):
        assert run(["run", "g.yaml", *arguments]) == 0


def test_a_terminal_shows_how_far_a_run_is_and_then_no_more(terminal):
    run_shown(terminal, "d.csv", "-o", "o.csv")
    shown = terminal.shown()
    assert "100%" in shown
    assert "2,000 rows" in shown
    assert "rows/s" in shown
    assert shown.rindex("\x1b[2K") > shown.rindex("100%")


def test_a_short_run_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr("rtbot.cli.progress_bar.DELAY_SECONDS", 0.5)
    seconds = iter([10.0, 10.25, 10.49, 10.5, 10.5])
    progress = ProgressBar(TrackedFiles([]), terminal, lambda: next(seconds))
    with progress:
        progress.read(1_000)
        progress.wrote(1_000)
        before = len(terminal.found)
        progress.read(5_000)
    assert before == 0
    assert "5,000 rows  10 k rows/s" in terminal.shown()


def test_rows_put_in_order_are_told(terminal):
    run_shown(terminal, "d.csv", "--key", "k", "-o", "o.csv", "--memory", "1")
    assert "2,000 rows put in order" in terminal.shown()


def test_a_pipe_has_no_percentage(terminal, monkeypatch):
    reader, writer = os.pipe()
    os.write(writer, b"t,x\n1,1\n2,2\n")
    os.close(writer)
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        run_shown(terminal, "-", "-o", "o.csv")
    shown = terminal.shown()
    assert "2 rows" in shown
    assert "%" not in shown


def test_quiet_runs_and_what_is_no_terminal_show_nothing(terminal):
    run_shown(terminal, "d.csv", "-o", "o.csv", "-q")
    assert terminal.shown() == ""
    plain = io.StringIO()
    run_shown(plain, "d.csv", "-o", "o.csv")
    assert plain.getvalue().lstrip().startswith("in  consumed")
    assert "%" not in plain.getvalue()
