"""Every mistake has a stable code, a place, a hint and an exit code, through the real program.

`malformed/graphs.csv` says of every file in `malformed/graphs` which problems are found in it: the
code, where, what the caret stands under, and the hint. `malformed/data.csv` says the same of data.
"""

import csv
import gzip
import io
import pickle
import random
import re
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot
from rtbot.cli.main import run
from rtbot.core.error_codes import CODES
from rtbot.core.errors import CheckpointError, DataError, QueueFull, ResourceLimit, StateError

FOLDER = Path(__file__).parents[1] / "malformed"
BLOCK = re.compile(
    r"(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (error|warning)\[(?P<code>RT1\d\d)\]: (.+)\n"
    r" *(?P<number>\d+) \| (?P<text>.*)\n"
    r" *\| (?P<space> *)(?P<caret>\^+) ?(?P<hint>.*)\n"
)


def table(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [list(group) for _, group in groupby(rows, key=lambda row: row["file"])]


GRAPHS = table("graphs.csv")
EXPLAINED = [row for rows in table("explained.csv") for row in rows]
"""Lines behind the hint of an error about a file that is written otherwise than the options say."""


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    """Run the program in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def called(*arguments):
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert "internal error" not in err
        return code, out, err

    return called


def named(groups):
    return pytest.mark.parametrize("rows", groups, ids=[rows[0]["file"] for rows in groups])


@named(GRAPHS)
def test_every_problem_of_a_graph_has_code_place_caret_and_hint(call, rows):
    code, out, err = call("validate", FOLDER / "graphs" / rows[0]["file"])
    errors = [row for row in rows if row["code"] < "RT190"]
    assert (code, out) == (3 if errors else 0, "")
    found = [match.groupdict() for match in BLOCK.finditer(err)]
    told = [
        {
            "file": Path(one["file"]).name,
            **{name: one[name] for name in ("code", "line", "column", "hint")},
            "marked": one["text"][len(one["space"]) :][: len(one["caret"])],
        }
        for one in found
    ]
    assert told == rows
    assert all(one["number"] == one["line"] for one in found)
    rest = BLOCK.sub("", err)
    assert (": ok (" in rest) is (not errors)
    assert rest.count("\n") == (0 if errors else 1)


@named([rows for rows in GRAPHS if rows[0]["code"] < "RT190"])
def test_a_malformed_graph_reads_no_data_and_writes_nothing(call, rows):
    code, out, err = call("run", FOLDER / "graphs" / rows[0]["file"], "none.csv", "-o", "o.csv")
    assert (code, out) == (3, "")
    assert f"[{rows[0]['code']}]" in err
    assert list(Path().iterdir()) == []


def test_the_table_has_every_file():
    assert [rows[0]["file"] for rows in GRAPHS] == names("graphs")


def names(folder):
    return sorted(path.name for path in (FOLDER / folder).iterdir())


INPUT = "inputs: {price: number}\n"
MANY = ", ".join(f"m{k}: price" for k in range(10_001))
BYTES = [
    ("a NUL", b"name: a\0b\n" + INPUT.encode(), "RT109", "1:8", "remove it"),
    ("an escape", b"inputs: {price: number}\nname: \x1b[31m\n", "RT109", "2:7", "remove it"),
    ("Latin-1", b"inputs: {price: number}\nname: caf\xe9\n", "RT109", "2:10", "UTF-8"),
    ("UTF-16", "name: x\n".encode("utf-16"), "RT109", "1:1", "UTF-8"),
    ("half a character", b"name: \xe2\x82", "RT109", "1:7", "UTF-8"),
    ("a surrogate", b"name: \xed\xa0\x80\n", "RT109", "1:7", "UTF-8"),
    ("a line separator", "name: a\u2028b\n".encode(), "RT109", "1:8", "remove it"),
    ("Parquet", b"PAR1\x15\x04\x15", "RT109", "1:1", "the graph comes before the data"),
    ("gzip", b"\x1f\x8b\x08\x00", "RT109", "1:1", "the graph comes before the data"),
    ("a workbook", b"PK\x03\x04\x14\x00", "RT109", "1:1", "the graph comes before the data"),
    ("more than 1 MiB", b"#" * (1 << 20) + b"\n" + INPUT.encode(), "RT108", "1:1", ""),
    ("a long text", b"name: " + b"x" * 70_000 + b"\n", "RT108", "1:7", ""),
    ("many values", b"meta: [" + b"1, " * 100_001 + b"]\n", "RT108", "1:299999", ""),
    ("10,001 operators", f"{INPUT}operators: {{{MANY}}}\n".encode(), "RT108", "2:12", ""),
    ("lone carriage returns", b"inputs: {price: number}\rname: x\r", "RT109", "1:24", "remove"),
]


@pytest.mark.parametrize(
    ("data", "code", "place", "hint"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES]
)
def test_files_that_are_no_text_or_too_large(call, data, code, place, hint):
    Path("g.yaml").write_bytes(data)
    status, out, err = call("validate", "g.yaml")
    assert (status, out) == (3, "")
    assert err.startswith(f"g.yaml:{place}: error[{code}]: "), err[:300]
    assert err.count("error[") == 1
    assert hint in err


GOOD = """inputs: {price: number}
operators: {ma: price * 2}
outputs: [ma]
"""
FINE = {
    "a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "lines that end in CR LF": GOOD.replace("\n", "\r\n").encode(),
    "a comma too much": b'{"inputs": {"price": "number",}, "operators": {"ma": "price"},'
    b' "outputs": ["ma"],}',
    "curly quotes in a text": f"name: \u201cmine\u201d\n{GOOD}".encode(),
    "a no-break space in an expression": GOOD.replace(" * ", "\u00a0* ").encode(),
    "RtBot's name of a parameter": GOOD.replace(
        "price * 2", "{type: MovingAverage, in: price, window_size: 3}"
    ).encode(),
    "numbers in quotes": GOOD.replace(
        "price * 2", "{type: MovingAverage, in: price, window: '3'}"
    ).encode(),
}


@pytest.mark.parametrize("name", FINE)
def test_what_looks_odd_but_is_fine(call, name):
    Path("g.yaml").write_bytes(FINE[name])
    assert call("validate", "g.yaml") == (
        *(0, ""),
        "g.yaml: ok (1 inputs, 1 operators, 1 outputs)\n",
    )


# ---- data

ONE = GOOD
DATA_GRAPHS = {
    "one": ONE,
    "integer": ONE.replace("number", "integer"),
    "boolean": "inputs: {price: boolean}\noutputs: [price]\n",
    "two": "inputs: {bid: number, ask: number}\noperators: {ma: bid + ask}\noutputs: [ma]\n",
    "lateness": ONE + "io: {unit: ms, lateness: 5s}\n",
    "seconds": ONE + "io: {unit: s}\n",
    "nanoseconds": ONE + "io: {unit: ns}\n",
}


@named(table("data.csv"))
def test_every_fault_of_data_has_code_row_column_and_hint(call, rows):
    (row,) = rows
    file = FOLDER / "data" / row["file"]
    Path("g.yaml").write_text(DATA_GRAPHS[row["graph"]], encoding="utf-8")
    Path(file.name).write_bytes(file.read_bytes())
    before = set(Path().iterdir())
    arguments = row["arguments"].replace("FILE", file.name).split()
    code, out, err = call("run", "g.yaml", *arguments, "-o", "o.csv")
    assert (code, out) == (4, "")
    assert set(Path().iterdir()) == before
    place = file.name + (f":{row['row']}" if row["row"] else "")
    start = f"{place}: " if row["code"] != "RT216" else ""
    told = err[err.index("taken as UTC\n") + 13 :] if "taken as UTC" in err else err
    first, *rest = told.splitlines()
    assert first.startswith(f"{start}error[{row['code']}]: {row['message']}")
    assert f"column {row['column']!r}" in first or not row["column"]
    more = [one["line"] for one in EXPLAINED if one["file"] == row["file"]]
    assert [line.strip() for line in rest] == ([row["hint"]] if row["hint"] else []) + more


def test_the_table_of_data_has_every_file():
    assert [rows[0]["file"] for rows in table("data.csv")] == names("data")


def parquet(name):
    """A Parquet file whose column has this name, as bytes, instead of `price`."""
    file = io.BytesIO()
    pq.write_table(pa.table({"t": [1], "price": [1.0]}), file, store_schema=False)
    return file.getvalue().replace(b"price", name)


PLAIN = b"t,price\n1,10\n2,11\n3,12\n"
NOISE = random.Random(1).randbytes(20_000)
DATA_BYTES = [
    ("a NUL", "d.csv", b"t,price\n1,10\n2,\x00\n", "d.csv:3", "RT209", "UTF-8"),
    ("Latin-1", "d.csv", b"t,price,caf\xe9\n1,10,x\n", "d.csv:1", "RT209", "UTF-8"),
    ("Latin-1 in a row", "d.csv", b"t,price,n\n1,10,x\n2,x,\xe9\n", "d.csv:3", "RT209", "UTF-8"),
    ("UTF-16", "d.csv", PLAIN.decode().encode("utf-16"), "d.csv", "RT209", "UTF-8"),
    ("gzip cut off", "d.csv.gz", gzip.compress(NOISE)[:-9], "d.csv.gz", "RT208", ""),
    ("gzip that is none", "d.csv.gz", PLAIN, "d.csv.gz", "RT208", ""),
    ("gzip without its suffix", "d.csv", gzip.compress(PLAIN), "d.csv", "RT208", "suffix"),
    ("Parquet without its suffix", "d.csv", b"PAR1" + NOISE, "d.csv", "RT208", "suffix"),
    ("a workbook", "d.csv", b"PK\x03\x04" + NOISE, "d.csv", "RT208", "suffix"),
    ("Parquet cut off", "d.parquet", b"PAR1" + NOISE, "d.parquet", "RT208", ""),
    ("Parquet with a broken end", "d.parquet", b"PAR1x\x01\0\0\0PAR1", "d.parquet", "RT208", ""),
    ("nothing for Parquet", "d.parquet", b"", "d.parquet", "RT208", ""),
    ("Parquet named in Latin-1", "d.parquet", parquet(b"\xe3rice"), "d.parquet", "RT208", ""),
    ("Arrow that is none", "d.arrow", PLAIN, "d.arrow", "RT208", ""),
    ("an endless name", "d.csv", b't,"' + b"p\n" * 70_000 + b'"\n', "d.csv:1", "RT208", "quote"),
    ("noise", "d.csv", b"\x80" + NOISE, "d.csv", "RT209", ""),
]


@pytest.mark.parametrize(
    ("file", "data", "place", "code", "hint"),
    [row[1:] for row in DATA_BYTES],
    ids=[row[0] for row in DATA_BYTES],
)
def test_damaged_and_foreign_data(call, file, data, place, code, hint):
    Path("g.yaml").write_text(ONE, encoding="utf-8")
    Path(file).write_bytes(data)
    status, out, err = call("run", "g.yaml", file, "-o", "o.csv")
    assert (status, out) == (4, "")
    assert err.startswith(f"{place}"), err
    assert f"error[{code}]: " in err.splitlines()[0]
    assert hint in err
    assert not Path("o.csv").exists()


def test_a_line_that_is_too_long(call, monkeypatch):
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.CHUNK_BYTES", 4096)
    monkeypatch.setattr("rtbot.io.sources.csv_chunks.LINE_BYTES", 10_000)
    Path("g.yaml").write_text(ONE, encoding="utf-8")
    Path("d.csv").write_text("t,price\n1," + "1" * 30_000 + "\n", encoding="utf-8")
    code, _, err = call("run", "g.yaml", "d.csv")
    assert code == 4
    assert err.startswith("d.csv:2: error[RT219]: a line of more than 10000 bytes")


# ---- calls from Python: the key, what is done to a session of two inputs, the code, and words

ONE_KEY = {"bid": {"symbol": ["A"], "t": [1], "value": [1.0]}}
CALLS = [
    (None, lambda s: s.push({"bid": {"t": [1], "value": ["x"]}}), "RT201", "not a number"),
    (None, lambda s: s.push({"bid": [[5, 1.0], [4, 1.0]]}), "RT202", "late"),
    (None, lambda s: s.push({"bid": [[5, 1.0], [5, 1.0]]}), "RT203", "second message"),
    (None, lambda s: s.push({"bid": {"t": [1], "worth": [1.0]}}), "RT204", "worth"),
    (None, lambda s: s.advance("noon"), "RT205", "ISO 8601"),
    (None, lambda s: s.push({"bidd": []}), "RT206", "did you mean 'bid'?"),
    (None, lambda s: s.push({"bid": [[1, 1.0, 2.0]]}), "RT207", "2 values"),
    (None, lambda s: s.push_one("bid", 1, None), "RT211", "null"),
    ("symbol", lambda s: s.push_one("bid", 1, 1.0, key=("A", "B")), "RT212", "key"),
    ("symbol", lambda s: (s.push(ONE_KEY), s.push_one("bid", 2, 1.0, key=5)), "RT212", "symbol"),
    (None, lambda s: s.push({"bid": {"t": [2**63], "value": [1.0]}}), "RT213", "64 bits"),
    (None, lambda s: s.push({"bid": {"t": [1, 2], "value": [1.0]}}), "RT214", "length"),
    (None, lambda s: s.push({"bid": 5}), "RT214", "int"),
    (None, lambda s: s.push({"bid": {"t": ["2024-01-31", 5], "value": [1.0, 2.0]}}), "RT218", ""),
    (None, lambda s: s.push({"bid": {"t": [1], "value": np.array([True])}}), "RT220", "bool"),
    (None, lambda s: (s.finish(), s.push({"bid": []})), "RT301", "finished"),
    (None, lambda s: s.close_key("A"), "RT303", "finish()"),
    (None, lambda s: s.push_one("bid", 1, 1.0, key="A"), "RT303", "key=..."),
]


@pytest.mark.parametrize(
    ("key", "act", "code", "words"), CALLS, ids=[f"{row[2]} {row[3]}" for row in CALLS]
)
def test_calls_from_python_raise_with_a_code(key, act, code, words):
    session = rtbot.load(DATA_GRAPHS["two"]).start(key=key)
    with pytest.raises(rtbot.RtbotError) as caught:
        act(session)
    assert caught.value.code == code
    assert f"error[{code}]: " in str(caught.value)
    assert words in str(caught.value)


def test_a_push_too_far_ahead_has_a_code():
    session = rtbot.load(DATA_GRAPHS["two"]).start(queue_limit=2)
    session.push({"bid": [[1, 1.0], [2, 1.0], [3, 1.0]]})
    with pytest.raises(rtbot.QueueFull) as caught:
        session.push({"bid": [[4, 1.0]]})
    assert (caught.value.code, caught.value.hint) == ("RT304", "push to ask or advance it")


def test_dumps_that_are_refused_have_codes():
    graph = rtbot.load(DATA_GRAPHS["two"])
    blob = graph.start().dump()
    for other, data, code in [
        (graph, b"x", "RT311"),
        (graph, blob[:-1], "RT311"),
        (rtbot.load(ONE), blob, "RT313"),
    ]:
        with pytest.raises(rtbot.CheckpointError) as caught:
            other.resume(data)
        assert caught.value.code == code


# ---- codes


def test_every_code_of_graphs_is_in_the_corpus():
    found = {row["code"] for rows in GRAPHS for row in rows} | {row[2] for row in BYTES}
    of_operators = {f"RT17{k}" for k in range(5)}
    of_queries = {f"RT18{k}" for k in range(8)}
    of_programs = {"RT193", "RT194", "RT195", "RT196", "RT197"}
    of_all = found | of_operators | of_queries | of_programs
    assert {code for code in CODES if code < "RT2"} == of_all


def test_every_code_of_data_is_in_the_corpus():
    found = {rows[0]["code"] for rows in table("data.csv")} | {row[4] for row in DATA_BYTES}
    found |= {row[2] for row in CALLS} | {"RT219", "RT221", "RT222"}
    assert {code for code in CODES if "RT2" <= code < "RT3"} == {c for c in found if c < "RT3"}


def test_every_code_has_one_line_of_meaning():
    assert all(re.fullmatch(r"RT[12345]\d\d", code) for code in CODES)
    assert all(text.strip() == text.splitlines()[0] for text in CODES.values())


@pytest.mark.parametrize(
    "error",
    [
        DataError("x", code="RT201", hint="y", output={"a": 1}, input="p", row=3, value=2.5),
        StateError("x", code="RT301", hint="y"),
        QueueFull("j", "i1", 5, "p"),
        CheckpointError("x", code="RT311"),
        ResourceLimit("x", code="RT305"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_show_their_code_and_survive_pickling(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (its own)
    assert (type(again), again.__dict__) == (type(error), error.__dict__)
    assert str(again) == str(error)
    assert f"error[{error.code}]: {error.message}" in str(error)
    assert error.hint in str(error)


def test_an_error_names_the_fields_that_are_known():
    error = DataError("not a number", code="RT201", hint="try", row=3, value="12,5", input="p")
    assert str(error) == ("error[RT201]: not a number (row 3, value '12,5', input 'p')\n     try")
    assert str(error.at(file="d.csv", input=None)) == (
        "d.csv:3: error[RT201]: not a number (value '12,5')\n     try"
    )


def test_no_code_is_made_up():
    with pytest.raises(AssertionError):
        DataError("x", code="RT299")


def test_a_graph_error_has_the_code_of_its_first_problem():
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load("inputs: {a: numbr}\noutputs: [b]\n")
    assert (caught.value.code, caught.value.hint) == ("RT140", "did you mean 'number'?")
