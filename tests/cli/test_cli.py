"""The command line: what goes in, what comes out, and what happens to bad files."""

import contextlib
import csv
import gzip
import io
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rtbot.cli.main import run
from rtbot.compiler import jit as modules
from rtbot.core import notices
from rtbot.io.sinks.outputs import OutputFiles

ROOT = Path(__file__).parents[2]
SUM = """\
inputs: {a: number, b: number}
operators: {both: a + b}
outputs: {both: both, a: a}
"""
ONE = """\
params: {factor: 2}
inputs: {x: number}
operators: {y: x * $factor}
outputs: [y]
"""
COPY = "inputs: {{x: {kind}}}\noperators: {{y: {{type: Identity, in: x}}}}\noutputs: [y]\n"


pytestmark = pytest.mark.usefixtures("own_folder")


# ---- run: forms of input


def test_wide_file_with_empty_cells(call):
    code, out, err = call(
        "run", "g.yaml", "d.csv", g__yaml=SUM, d__csv="t,a,b\n1,1,10\n2,2,\n3,,30\n4,4,40\n"
    )
    assert (code, out) == (0, "t,both,a\n1,11,1\n2,,2\n4,44,4\n")
    assert "both.i1   3         2     0  unmatched 1" in err


def test_long_file(call):
    code, out, _ = call(
        "run",
        "g.yaml",
        "d.csv",
        g__yaml=SUM,
        d__csv="input,t,value\na,1,1\nb,1,10\nb,2,20\na,2,2\n",
    )
    assert (code, out) == (0, "t,both,a\n1,11,1\n2,22,2\n")


def test_a_file_per_input_and_other_names(call):
    code, out, _ = call(
        *("run", "g.yaml", "--in", "a=left.csv", "--in", "b=right.csv:price", "--time", "when"),
        g__yaml=SUM,
        left__csv="when,anything\n1,1\n2,2\n",
        right__csv="other,price,when\nx,10,1\ny,20,2\n",
    )
    assert (code, out) == (0, "t,both,a\n1,11,1\n2,22,2\n")


def test_files_that_follow_one_another_by_glob(call):
    code, out, _ = call(
        *("run", "g.yaml", "--in", "x=part*.csv"),
        g__yaml=ONE,
        part2__csv="t,x\n3,3\n",
        part1__csv="t,x\n1,1\n2,2\n",
    )
    assert (code, out) == (0, "t,y\n1,2\n2,4\n3,6\n")


def test_packed_and_columnar_files(call, tmp_path):
    table = pa.table({"t": [1, 2], "x": [1.5, None]})
    pq.write_table(table, tmp_path / "d.parquet")
    with pa.ipc.new_file(tmp_path / "d.arrow", table.schema) as writer:
        writer.write_table(table)
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"t,x\n1,1.5\n2,\n"))
    for name in ("d.parquet", "d.arrow", "d.csv.gz"):
        code, out, _ = call("run", "g.yaml", name, g__yaml=ONE)
        assert (code, out) == (0, "t,y\n1,3\n"), name


def test_timestamps_of_parquet_are_written_as_iso_text(call, tmp_path):
    stamps = pa.array([0, 1500], pa.timestamp("ms", "UTC"))
    pq.write_table(pa.table({"t": stamps, "x": [1.0, 2.0]}), tmp_path / "d.parquet")
    code, out, _ = call("run", "g.yaml", "d.parquet", g__yaml=ONE)
    assert (code, out) == (0, "t,y\n1970-01-01T00:00:00Z,2\n1970-01-01T00:00:01.500000Z,4\n")


def test_parameters_are_given_on_the_line(call):
    code, out, _ = call(
        "run", "g.yaml", "d.csv", "-p", "factor=-3", g__yaml=ONE, d__csv="t,x\n1,2\n"
    )
    assert (code, out) == (0, "t,y\n1,-6\n")


def test_text_columns_are_quoted_where_needed(call):
    data = 't,x\n1,plain\n2,"a,b"\n3,"say ""hi"""\n4,""\n5,\n6,"two\nlines"\n'
    code, out, _ = call("run", "g.yaml", "d.csv", g__yaml=COPY.format(kind="text"), d__csv=data)
    assert (code, out) == (0, data.replace("t,x", "t,y").replace("5,\n", ""))


def test_null_messages_of_a_nullable_input(call):
    long = "t,input,value\n1,x,5\n2,x,\n3,x,7\n"
    code, out, _ = call("run", "g.yaml", "d.csv", g__yaml=COPY.format(kind="integer?"), d__csv=long)
    assert (code, out) == (0, "t,y\n1,5\n2,\n3,7\n")
    wide = "t,x\n1,5\n2,\n3,7\n"
    code, out, _ = call("run", "g.yaml", "d.csv", d__csv=wide)
    assert (code, out) == (0, "t,y\n1,5\n3,7\n")


@pytest.mark.parametrize("text", ["nan", "NaN", "-inf", "INF", "Infinity", "1e400", "5e-324", ".5"])
def test_numbers_are_read_as_ieee_says(call, text):
    _, out, _ = call(
        "run", "g.yaml", "d.csv", g__yaml=COPY.format(kind="number"), d__csv=f"t,x\n1,{text}\n"
    )
    found = out.splitlines()[1].split(",")[1]
    assert struct.pack("d", float(found)) == struct.pack("d", float(text))


def test_floats_read_back_bit_for_bit(call):
    generator = random.Random(3)
    values = [struct.unpack("d", generator.randbytes(8))[0] for _ in range(2000)]
    values = [value for value in values if not math.isnan(value)] + [-0.0, 0.1, 1e16, 1e15]
    data = "t,x\n" + "".join(f"{t},{value!r}\n" for t, value in enumerate(values))
    _, out, _ = call("run", "g.yaml", "d.csv", g__yaml=COPY.format(kind="number"), d__csv=data)
    found = [float(row[1]) for row in list(csv.reader(io.StringIO(out)))[1:]]
    assert struct.pack(f"{len(values)}d", *found) == struct.pack(f"{len(values)}d", *values)


@pytest.mark.parametrize(
    ("first", "second", "notice"),
    [
        ("2004-01-02", "2004-01-05", False),
        ("1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", False),
        ("2004-01-02 10:00", "2004-01-02 10:01", True),
        ("2004-01-02T10:00:00.250+02:00", "2004-01-02T10:00:00.500+02:00", False),
        ("-5", "0", False),
    ],
)
def test_times_are_written_as_they_were_read(call, first, second, notice):
    data = f"time,x\n{first},1\n{second},2\n"
    code, out, err = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv=data)
    assert (code, out) == (0, f"t,y\n{first},2\n{second},4\n")
    assert ("d.csv: times without an offset are taken as UTC" in err) == notice


# ---- run: keys


def test_keyed_to_a_file_is_by_key_and_time_and_to_stdout_by_release(call, tmp_path):
    rows = "t,k,x\n" + "".join(f"{t},{k},1\n" for t in range(4) for k in ("b", "a", ""))
    keyed = ("run", "g.yaml", "d.csv", "--key", "k")
    assert call(*keyed, "-o", "out.csv", g__yaml=ONE, d__csv=rows)[0] == 0
    expected = "t,k,y\n" + "".join(f"{t},{k},2\n" for k in ("a", "b", "") for t in range(4))
    assert (tmp_path / "out.csv").read_text() == expected
    assert call(*keyed)[1] == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["10", "9", "007"], ["007", "10", "9"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["10", "9", "99999999999999999999"], ["10", "9", "99999999999999999999"]),
        (["NA", "null", "nan"], ["NA", "nan", "null"]),
    ],
)
def test_keys_are_integers_only_if_all_of_them_are(call, keys, expected):
    data = "t,k,x\n" + "".join(f"1,{key},1\n" for key in keys)
    _, out, _ = call("run", "g.yaml", "d.csv", "--key", "k", g__yaml=ONE, d__csv=data)
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == expected


def test_two_key_columns(call):
    data = "t,a,b,x\n1,2,u,1\n1,1,v,1\n1,1,u,1\n"
    _, out, _ = call("run", "g.yaml", "d.csv", "--key", "a,b", g__yaml=ONE, d__csv=data)
    assert out == "t,a,b,y\n1,1,u,2\n1,1,v,2\n1,2,u,2\n"


# ---- run: forms of output


def test_outputs_go_where_they_are_sent(call, tmp_path):
    data = "t,a,b\n1,1,10\n2,2,\n"
    base = ("run", "g.yaml", "d.csv")
    _, out, _ = call(*base, "--out", "a=a.csv", "-o", "-", g__yaml=SUM, d__csv=data)
    assert out == "t,both\n1,11\n"
    assert (tmp_path / "a.csv").read_text() == "t,a\n1,1\n2,2\n"
    call(*base, "-o", "folder/")
    assert (tmp_path / "folder" / "both.csv").read_text() == "t,both\n1,11\n"
    assert (tmp_path / "folder" / "a.csv").read_text() == "t,a\n1,1\n2,2\n"
    _, out, _ = call(*base, "--layout", "long")
    assert out == "t,output,value\n1,both,11\n1,a,1\n2,a,2\n"
    _, out, _ = call(*base, "--format", "table")
    assert out == "t  both  a\n1    11  1\n2        2\n"
    call(*base, "-o", "out.csv.gz")
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == b"t,both,a\n1,11,1\n2,,2\n"
    call(*base, "-o", "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.to_pydict() == {"t": [1, 2], "both": [11.0, None], "a": [1.0, 2.0]}


def test_blocks_change_nothing(call, monkeypatch):
    generator = random.Random(5)
    rows = [(t, generator.choice("abc"), generator.random()) for t in range(3000)]
    data = "t,k,x\n" + "".join(f"{t},{k},{x}\n" for t, k, x in rows)
    outs = []
    for size, block in ((1 << 22, 65_536), (1000, 65_536), (100, 7), (1 << 22, 64)):
        monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", size)
        monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", block)
        code, out, _ = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv=data)
        assert code == 0
        call("run", "g.yaml", "d.csv", "--key", "k", "-o", "o.csv")
        outs.append((out, Path("o.csv").read_text()))
    assert set(outs) == {outs[0]}
    assert len(outs[0][0].splitlines()) == 3001


def test_stdout_blocks_are_cut_by_rows_whatever_the_bytes(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 4)
    data = "t,k,x\n" + "".join(f"{t},{k},1\n" for t in range(10) for k in "ba")
    outs = set()
    for size in (1 << 22, 10, 33):
        monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", size)
        outs.add(call("run", "g.yaml", "d.csv", "--key", "k", g__yaml=ONE, d__csv=data)[1])
    assert len(outs) == 1
    keys = [line.split(",")[1] for line in outs.pop().splitlines()[1:]]
    assert "".join(keys) == "aabb" * 5


def test_the_file_that_lags_is_read_next(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 10)
    monkeypatch.setattr("rtbot.runtime.session.DEFAULT_QUEUE_LIMIT", 30)
    code, out, err = call(
        *("run", "g.yaml", "--in", "a=a.csv", "--in", "b=b.csv", "-o", "o.csv"),
        g__yaml=SUM,
        a__csv="t,a\n" + "".join(f"{t},1\n" for t in range(1000)),
        b__csv="t,b\n" + "".join(f"{t},1\n" for t in range(0, 1000, 5)),
    )
    assert (code, out) == (0, ""), err
    assert len(Path("o.csv").read_text().splitlines()) == 1001


def test_account_and_strict(call):
    files = {"g__yaml": SUM, "d__csv": "t,a,b\n1,1,10\n2,2,\n"}
    base = ("run", "g.yaml", "d.csv")
    assert call(*base, "--strict", **files)[0] == 0
    code, out, err = call("run", "--strict=all", "g.yaml", "d.csv", "--account", "acc.json")
    assert (code, out) == (1, "t,both,a\n1,11,1\n2,,2\n")
    assert "--strict: rows were lost: unmatched 1" in err
    account = json.loads(Path("acc.json").read_text())
    assert account["inputs"]["a"] == {"in": 2, "consumed": 2, "held": 0, "lost": {}}
    assert account["outputs"] == {"both": 1, "a": 2}
    assert call("run", "--strict", "g.yaml", "d.csv")[0] == 0


def test_late_rows_are_dropped_and_counted_if_the_graph_says_so(call):
    graph = ONE + "io: {late: drop}\n"
    data = "t,x\n2,1\n1,1\n3,1\n"
    code, out, err = call("run", "g.yaml", "d.csv", "--strict", g__yaml=graph, d__csv=data)
    assert (code, out) == (1, "t,y\n2,2\n3,2\n")
    assert "late 1" in err


def test_bad_rows_are_kept_apart_if_the_graph_says_so(call):
    graph = ONE + "io: {bad: drop}\n"
    data = "t,x\n1,1\nx,2\n3,abc\n\n4\n5,5,5\n,6\n7,0x10\n8,8\n"
    code, out, err = call(
        *("run", "g.yaml", "d.csv", "--rejects", "bad.csv"), g__yaml=graph, d__csv=data
    )
    assert (code, out) == (0, "t,y\n1,2\n8,16\n")
    assert "bad rows left out: 6 of d.csv" in err
    kept = list(csv.reader(Path("bad.csv").read_text().splitlines()))
    assert [[row[1], row[2], row[4]] for row in kept] == [
        ["line", "column", "row"],
        ["3", "t", "x,2"],
        ["4", "x", "3,abc"],
        ["6", "", "4"],
        ["7", "", "5,5,5"],
        ["8", "t", ",6"],
        ["9", "x", "7,0x10"],
    ]
    assert call("run", "g.yaml", "d.csv", "--strict")[0] == 1


# ---- run: bad data, as (name, bytes, place, what the message says)

BAD = [
    ("no such column", "t,y\n1,2\n", "d.csv:1", "no column 'x'"),
    ("no time column", "a,x\n1,2\n", "d.csv:1", "no column of times"),
    ("bad number", "t,x\n1,2\n2,abc\n", "d.csv:3", "not a number (column 'x', value 'abc')"),
    ("number with underscore", "t,x\n1,1_0\n", "d.csv:2", "not a number"),
    ("hexadecimal", "t,x\n1,0x10\n", "d.csv:2", "not a number"),
    ("hexadecimal time", "t,x\n1,1\n0x10,1\n", "d.csv:3", "not an integer"),
    ("nan with a payload", "t,x\n1,nan(1)\n", "d.csv:2", "not a number"),
    ("other digits", "t,x\n1,\u0661\n", "d.csv:2", "not a number"),
    ("decimal comma", 't,x\n1,"1,5"\n', "d.csv:2", "not a number"),
    ("short row", "t,x\n1,2\n3\n", "d.csv:3", "1 cell, the header has 2"),
    ("long row", "t,x\n1,2\n3,4,5\n", "d.csv:3", "3 cells, the header has 2"),
    ("bad time", "t,x\n1,2\nnoon,3\n", "d.csv:3", "not an integer (column 't', value 'noon')"),
    ("no time", "t,x\n1,2\n,3\n", "d.csv:3", "a row without a time"),
    ("time with a fraction", "t,x\n1,2\n2.5,3\n", "d.csv:3", "not an integer"),
    ("time beyond int64", "t,x\n1,2\n9223372036854775808,3\n", "d.csv:3", "beyond 64 bits"),
    ("no such day", "t,x\n2004-02-30,2\n", "d.csv:2", "no such day"),
    ("leap second", "t,x\n2016-12-31T23:59:60Z,2\n", "d.csv:2", "leap seconds"),
    ("mixed offsets", "t,x\n2004-01-02T10:00:00Z,2\n2004-01-02T11:00:00,2\n", "d.csv:3", "mixed"),
    (
        "too many digits",
        "t,x\n2004-01-02T10:00:00.1234567Z,2\n",
        "d.csv:2",
        "finer than the unit us",
    ),
    ("time text after integers", "t,x\n1,2\n2004-01-02,2\n", "d.csv:3", "not an integer"),
    ("integers after time text", "t,x\n2004-01-02,2\n1,2\n", "d.csv:3", "ISO 8601"),
    ("NUL", b"t,x\n1,2\n2,\0\n", "d.csv:3", "NUL"),
    ("latin 1", b"t,x,\xe9\n1,2,3\n", "d.csv:1", "0xe9 is not UTF-8"),
    ("UTF-16", "t,x\n1,2\n".encode("utf-16"), "d.csv", "UTF-16"),
    ("unbalanced quote", 't,x\n1,2\n2,"3\n4,5\n6,7\n', "d.csv:3", "quote that is not closed"),
    (
        "quote inside a cell",
        't,x,n\n1,2,a\n2,3,5" pipe, 6" pipe\n',
        "d.csv:3",
        "quote inside a cell",
    ),
    ("text after a quote", 't,x\n1,2\n2,"3"4\n', "d.csv:3", "quote inside a cell"),
    ("lone carriage return and quotes", 't,x\n1,"2"\n2\r,3\n', "d.csv:3", "carriage return"),
    ("lone carriage returns", "t,x\r1,2\r", "d.csv:1", "carriage return"),
    ("duplicate header", "t,x,x\n1,2,3\n", "d.csv:1", "two columns are named 'x'"),
    ("late row", "t,x\n1,2\n3,4\n\n2,5\n", "d.csv:5", "late"),
    ("duplicate time", "t,x\n1,2\n1,3\n", "d.csv:3", "second message"),
    ("first of several", "t,x\n1,2\n2,3,4\n3,x\ny,1\n", "d.csv:3", "3 cells"),
    ("first of several in one row", "t,x\nx,y\n", "d.csv:2", "(column 't'"),
    ("long form, other input", "t,input,value\n1,x,2\n2,z,3\n", "d.csv:3", "no such input"),
    ("long form, no input", "t,input,value\n1,x,2\n2,,3\n", "d.csv:3", "no such input"),
    ("long form, bad number", "t,input,value\n1,x,2\n2,x,z\n", "d.csv:3", "not a number"),
    ("rows of a line too many", "t,x\n1,2\n3,4\nTotal,6\n", "d.csv:4", "not an integer"),
]


@pytest.mark.parametrize(
    ("data", "place", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_bad_data_is_refused_with_its_place(call, data, place, message):
    code, out, err = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv=data)
    assert (code, out) == (4, "")
    first = err.splitlines()[0] if "UTC" not in err else err.splitlines()[1]
    assert first.startswith(f"{place}: error[RT2"), err
    assert message in first, err


@pytest.mark.parametrize(
    ("kind", "cell", "message"),
    [
        ("integer", "1.0", "not an integer"),
        ("integer", "1e3", "not an integer"),
        ("integer", "0x1F", "not an integer"),
        ("integer", "9223372036854775808", "beyond 64 bits"),
        ("integer", "-9223372036854775809", "beyond 64 bits"),
        ("integer", "1" + "0" * 5000, "beyond 64 bits"),
        ("boolean", "yes", "not a boolean"),
        ("boolean", "2", "not a boolean"),
        ("text", b"\xff", "not UTF-8"),
    ],
)
def test_bad_cells_of_other_kinds(call, kind, cell, message):
    cell = cell if isinstance(cell, bytes) else cell.encode()
    code, _, err = call(
        "run",
        "g.yaml",
        "d.csv",
        g__yaml=COPY.format(kind=kind),
        d__csv=b"t,x\n1,\n2," + cell + b"\n",
    )
    assert code == 4
    assert err.startswith("d.csv:3: error[RT2")
    assert message in err


@pytest.mark.parametrize(
    ("kind", "cell", "written"),
    [
        ("integer", "+5", "5"),
        ("integer", "-007", "-7"),
        ("integer", "-9223372036854775808", "-9223372036854775808"),
        ("integer", '" 7 "', "7"),
        ("number", '""', None),
        ("number", " 2.5 ", "2.5"),
        ("boolean", "TRUE", "true"),
        ("boolean", "fAlse", "false"),
        ("boolean", "1", "true"),
    ],
)
def test_good_cells_of_other_kinds(call, kind, cell, written):
    code, out, err = call(
        "run", "g.yaml", "d.csv", g__yaml=COPY.format(kind=kind), d__csv=f"t,x\n1,{cell}\n"
    )
    assert code == 0, err
    assert out == ("t,y\n" if written is None else f"t,y\n1,{written}\n")


def test_a_key_that_does_not_fit_the_first_rows_is_refused(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", 64)
    for key in ("x7", "007", "9223372036854775808"):
        data = "t,k,x\n" + "1,5,1\n" * 20 + f"2,{key},1\n"
        graph = ONE + "io: {duplicates: first}\n"
        code, _, err = call("run", "g.yaml", "d.csv", "--key", "k", g__yaml=graph, d__csv=data)
        assert code == 4
        assert err.startswith("d.csv:22: error[RT212]: not a plain 64-bit integer")


@pytest.mark.parametrize("data", ["", "t,x", "t,x\n", "\ufefft,x\r\n", "\n\n"])
def test_files_without_rows_are_valid(call, data):
    code, out, err = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv=data)
    assert (code, out) == (0, "t,y\n"), err


@pytest.mark.parametrize(
    "data", ["\ufefft,x\n1,2\n", "t,x\r\n1,2\r\n", "\n\nt,x\n\n1,2", 'x,"t"\n2,1']
)
def test_odd_files_that_are_valid(call, data):
    code, out, err = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv=data)
    assert (code, out) == (0, "t,y\n1,4\n"), err


def test_damaged_files_of_other_formats(call, tmp_path):
    packed = gzip.compress(b"t,x\n" + b"".join(b"%d,1.25\n" % t for t in range(5000)))
    pq.write_table(pa.table({"t": [1], "x": [1.0]}), tmp_path / "good.parquet")
    whole = (tmp_path / "good.parquet").read_bytes()
    for name, data in {
        "a.csv.gz": packed[:-200],
        "b.csv.gz": b"t,x\n1,2\n",
        "c.parquet": whole[:-10],
        "d.parquet": b"",
        "e.arrow": whole,
    }.items():
        (tmp_path / name).write_bytes(data)
        code, out, err = call("run", "g.yaml", name, g__yaml=ONE)
        assert (code, out) == (4, ""), name
        assert err.startswith(name), err


def test_a_quote_without_end_does_not_fill_the_memory(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", 4096)
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.QUOTED_BYTES", 10_000)
    data = "t,x\n" + "".join(f"{t},1\n" for t in range(1000)) + '1000,"1\n' + "9,9\n" * 20_000
    code, _, err = call("run", "g.yaml", "d.csv", "-o", "o.csv", g__yaml=ONE, d__csv=data)
    assert (code, err.splitlines()[0]) == (
        4,
        "d.csv:1002: error[RT210]: a quote that is not closed",
    )
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.LINE_BYTES", 10_000)
    code, _, err = call("run", "g.yaml", "d.csv", d__csv="t,x\n1," + "1" * 30_000 + "\n")
    assert (code, err) == (4, "d.csv:2: error[RT219]: a line of more than 10000 bytes\n")


def test_an_error_leaves_the_old_output_alone(call):
    Path("o.csv").write_text("old\n")
    data = "t,x\n1,2\n2,abc\n"
    code, _, _ = call("run", "g.yaml", "d.csv", "-o", "o.csv", g__yaml=ONE, d__csv=data)
    assert code == 4
    assert Path("o.csv").read_text() == "old\n"
    assert sorted(p.name for p in Path().iterdir()) == ["d.csv", "g.yaml", "o.csv"]


# ---- exit codes


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "g.yaml"], 2, "nothing to read"),
        (["run", "g.yaml", "d.csv", "--in", "z=d.csv"], 2, "no 'z'"),
        (["run", "g.yaml", "--in", "x"], 2, "NAME=FILE"),
        (["run", "g.yaml", "d.csv", "--in", "x=d.csv"], 4, "file of its own"),
        (["run", "g.yaml", "d.csv", "--out", "z=o.csv"], 2, "no 'z'"),
        (["run", "g.yaml", "d.csv", "-p", "factor"], 2, "NAME=VALUE"),
        (["run", "g.yaml", "d.csv", "-p", "faktor=1"], 3, "did you mean 'factor'"),
        (["run", "g.yaml", "d.csv", "-p", "factor=x"], 3, "RT113"),
        (["run", "g.yaml", "d.csv", "--key", "t"], 2, "'t'"),
        (["run", "g.yaml", "d.csv", "--key", "k"], 4, "no key column 'k'"),
        (["run", "g.yaml", "none.csv"], 74, "none.csv: error: No such file"),
        (["run", "none.yaml", "d.csv"], 74, "none.yaml: error: No such file"),
        (["run", "g.yaml", "d.csv", "-o", "none/o.csv"], 74, "No such file"),
        (["run", "g.yaml", "--in", "x=none*.csv"], 74, "no file matches"),
        (["run", "g.yaml", "d.csv", "--plugin", "none.py"], 2, "no such Python file"),
        (["run", "bad.yaml", "d.csv"], 3, "bad.yaml:2:"),
        (["run", "g.yaml", "d.csv", "--nonsense"], 2, "--nonsense"),
        (["nonsense"], 2, "the verbs are"),
        (["rnu"], 2, "did you mean 'run'"),
        (["explain", "RT999"], 2, "no error code RT999"),
        (["doc", "MovingAvg"], 2, "did you mean 'MovingAverage'"),
    ],
)
def test_exit_codes(call, arguments, code, message):
    bad = "inputs: {x: number}\noperators: {y: {type: Nonsense, in: x}}\noutputs: [y]\n"
    found, out, err = call(*arguments, g__yaml=ONE, bad__yaml=bad, d__csv="t,x\n1,2\n")
    assert (found, out) == (code, "")
    assert message in err


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 6, "out of memory"),
        (OSError(28, "No space left on device", "o.csv"), 74, "o.csv: error: No space left"),
        (BrokenPipeError(), 141, ""),
        (ZeroDivisionError("x"), 70, "internal error: ZeroDivisionError: x"),
    ],
)
def test_no_error_shows_a_traceback(call, monkeypatch, raised, code, message):
    def fail(*_):
        raise raised

    monkeypatch.setattr("rtbot.cli.exit_codes._silence_stdout", lambda: None)
    monkeypatch.setattr("rtbot.storage.files.Files.direct", fail)
    found, _, err = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv="t,x\n1,2\n")
    assert found == code
    assert message in err


def test_debug_shows_the_traceback(tmp_path, capfd):
    (tmp_path / "g.yaml").write_text(ONE)
    assert run(["run", "g.yaml", "none.csv", "--debug"]) == 74
    assert "Traceback" in capfd.readouterr().err


# ---- other verbs


def test_validate_reports_every_problem_of_every_file(call):
    bad = "inputs: {x: nmber}\noperators: {y: {type: MovingAverage, in: z}}\noutputs: [y]\n"
    arguments = ("validate", "g.yaml", "bad.yaml")
    code, out, err = call(*arguments, g__yaml=ONE, bad__yaml=bad)
    assert (code, out) == (3, "")
    assert "g.yaml: ok" in err
    assert "bad.yaml:1:13: error[RT140]" in err
    assert "bad.yaml:2:" in err
    code, out, err = call(*arguments, "--format", "json")
    problems = json.loads(out)
    assert (code, err) == (3, "")
    assert {"RT140", "RT111", "RT120"} <= {problem["code"] for problem in problems}
    assert (problems[0]["file"], problems[0]["line"]) == ("bad.yaml", 1)


def test_explain_ops_and_doc(call):
    code, out, _ = call("explain", "g.yaml", g__yaml=ONE)
    assert code == 0
    assert "i1: number from x" in out
    code, out, _ = call("explain", "g.yaml", "--code=all")
    assert code == 0
    compile(out, "generated", "exec")
    loops = call("explain", "g.yaml", "--code")[1]
    assert loops.startswith("def segment_0(")
    assert loops.rsplit("#", 1)[0].strip() in out
    assert call("explain", "rt103")[1].startswith("RT103: ")
    assert "MovingAverage" in call("ops", "--grep", "mean")[1]
    assert "window" in call("doc", "MovingAverage")[1]


def test_plugin_declares_operators(call):
    plugin = (
        "from rtbot.operator import In, Operator, Out\n"
        "class TripledForTest(Operator):\n"
        "    '''Three times the value.'''\n"
        "    i1 = In('number')\n"
        "    o1 = Out('number')\n"
        "    formula = '3 * i1'\n"
    )
    graph = "inputs: {x: number}\noperators: {y: {type: TripledForTest, in: x}}\noutputs: [y]\n"
    from rtbot.operator import REGISTRY

    try:
        code, out, err = call(
            *("run", "g.yaml", "d.csv", "--plugin", "p.py"),
            p__py=plugin,
            g__yaml=graph,
            d__csv="t,x\n1,2\n",
        )
    finally:
        REGISTRY.pop("TripledForTest", None)
    assert (code, out) == (0, "t,y\n1,6\n"), err


# ---- the process


def process(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "rtbot", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT), "RTBOT_INTERPRET": "1"},
        **options,
    )


def test_pipes():
    Path("g.yaml").write_text(ONE)
    child = process("run", "g.yaml", "-", stdin=subprocess.PIPE)
    out, _ = child.communicate(b"t,x\n1,2\n")
    assert (child.returncode, out) == (0, b"t,y\n1,4\n")


def test_a_reader_that_goes_away_is_no_error():
    Path("g.yaml").write_text(ONE)
    Path("d.csv").write_text("t,x\n" + "".join(f"{t},1\n" for t in range(300_000)))
    process("run", "g.yaml", "d.csv").communicate()  # compiles, with a notice, what it needs
    child = process("run", "g.yaml", "d.csv")
    child.stdout.readline()
    child.stdout.close()
    err = child.stderr.read()
    child.stderr.close()
    assert child.wait() == 141
    assert err == b""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupts(number, code):
    Path("g.yaml").write_text(ONE)
    child = process(
        "run", "g.yaml", "-", "-o", "o.csv", "--rejects", "r.csv", stdin=subprocess.PIPE
    )
    child.stdin.write(b"t,x\n1,2\n")
    child.stdin.flush()
    while not list(Path().glob("*.part")) and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(number)
    _, err = child.communicate()
    assert child.returncode == code, err
    assert err == b"interrupted\n"
    assert not Path("o.csv").exists()


def test_an_interrupt_within_generated_code_ends_with_the_same_code():
    Path("g.yaml").write_text(ONE)
    Path("d.csv").write_text("t,x\n1,2\n")
    Path("p.py").write_text('import signal\nexec("signal.raise_signal(signal.SIGINT)")\n')
    child = process("run", "g.yaml", "d.csv", "--plugin", "p.py")
    assert child.communicate() == (b"", b"interrupted\n")
    assert child.returncode == 130


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_that_foreign_code_drops_is_not_lost(call, monkeypatch, number, code):
    def opened(*arguments):
        with contextlib.suppress(BaseException):
            signal.raise_signal(number)
        opens(*arguments)

    opens = OutputFiles.open
    monkeypatch.setattr(OutputFiles, "open", opened)
    done = call("run", "g.yaml", "d.csv", "-o", "o.csv", g__yaml=ONE, d__csv="t,x\n1,2\n")
    assert done == (code, "", "interrupted\n")
    assert not Path("o.csv").exists()


def test_help_is_cheap_and_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from rtbot.cli.main import run\n"
        "run(['--help'])\n"
        "heavy = ['numpy', 'numba', 'yaml', 'rich', 'pyarrow', 'pandas', 'hashlib', 'random']\n"
        "found = [name for name in heavy if name in sys.modules]\n"
        "print(found, len(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert "Verbs:" in done.stdout
    heavy, modules = done.stderr.rsplit(" ", 1)
    assert heavy == "[]"
    assert int(modules) < 160  # not the time: machines are shared, and others count that


def test_that_something_is_compiled_is_said_once_and_not_to_whom_wants_quiet(
    monkeypatch, tmp_path, capfd
):
    monkeypatch.setenv("RTBOT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(notices, "_silenced", [])
    with notices.suppress_notices():
        assert modules.load_compiled("def added(a):\n    return a + 1\n").added(1) == 2
    assert capfd.readouterr().err == ""
    for number in (2, 3):
        text = f"def added(a):\n    return a + {number}\n"
        assert modules.load_compiled(text).added(1) == 1 + number
    assert capfd.readouterr().err == "rtbot: compiling (once; the result is kept) ...\n"


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("2024-01-02", "2024-01-01", "time 2024-01-01 = 1704067200000000"),
        ("2024-01-02 10:00", "2024-01-02 09:30", "time 2024-01-02 09:30 = 1704187800000000"),
        ("2024-01-02T00:00+02:00", "2024-01-01T00:00+02:00", "T00:00+02:00 = 1704060000000000"),
        ("8", "7", "(input 'x', time 7)"),
    ],
)
def test_the_time_of_a_wrong_row_is_told_as_the_file_has_it(call, first, second, told):
    data = f"t,x\n{first},1\n{second},2\n"
    code, _, err = call("run", "g.yaml", "d.csv", g__yaml=ONE, d__csv=data)
    assert code == 4
    assert f"d.csv:3: error[RT202]: t={second} is late: t={first} came before it" in err
    assert told in err
