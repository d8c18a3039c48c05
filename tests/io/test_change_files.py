"""Files of changes: times, weights and fields in; changes and snapshots out."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from rtbot.core.errors import DataError
from rtbot.core.times import TimeStyle
from rtbot.graph.model import CsvDialect, Input, ReadOptions
from rtbot.io import reader
from rtbot.io.bindings import InputSpec, bind_columns
from rtbot.io.blocks import BadRowPolicy
from rtbot.io.reader import FileReader
from rtbot.io.sinks.outputs import OutputFiles, Target
from rtbot.io.sinks.writers import TimeFormat
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.storage.files import Files
from rtbot.tables import TextColumn

pytestmark = pytest.mark.usefixtures("own_folder")

ORDERS = Schema(
    (
        Field("id", Type("integer")),
        Field("name", Type("text", nullable=True)),
        Field("price", Type("number", nullable=True)),
        Field("paid", Type("boolean")),
    )
)
KEYED = Schema(ORDERS.fields, (("id",),))
PLAIN = TimeFormat()
CLASHING = Schema((Field("t", Type("text")), Field("weight", Type("number"))))


def make_inputs(**schemas):
    return {n: Input(n, Type("changes", schema=schema)) for n, schema in schemas.items()}


def read_rows(file, schema=ORDERS, *, bad="error", time=(), policy=None, **options):
    """The changes (t, weight, row) of a file, or its error as text."""
    inputs = make_inputs(orders=schema)
    spec = InputSpec(None, {"orders": (file, None)}, time, (), ReadOptions(**options), bad=bad)
    policy = policy or BadRowPolicy()
    try:
        opened = FileReader(bind_columns(Files(), inputs, spec), None, policy)
        batches = [one for found, _ in opened.read_in_turn() for one in found]
    except DataError as error:
        return str(error)
    return [row for batch in batches for row in list_changes(batch.columns["orders"])]


def list_changes(rows):
    columns = []
    for values, valid in zip(rows.columns, rows.valid, strict=True):
        cells = values.to_objects() if isinstance(values, TextColumn) else values
        masked = [None if valid is not None and not valid[k] else c for k, c in enumerate(cells)]
        columns.append([c.item() if isinstance(c, np.generic) else c for c in masked])
    fields = list(zip(*columns, strict=True))
    return list(zip(rows.time.tolist(), rows.weight.tolist(), fields, strict=True))


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


ROWS = [
    (1, 1, (7, "a, b", 2.5, True)),
    (2, -1, (7, "a, b", 2.5, True)),
    (2, 3, (8, None, None, False)),
    (5, 1, (9, "", float("inf"), False)),
]
NAMES = ("t", "weight", *ORDERS.names)


def write_rows(form):
    columns = {"t": [row[0] for row in ROWS], "weight": [row[1] for row in ROWS]}
    columns |= {name: [row[2][k] for row in ROWS] for k, name in enumerate(ORDERS.names)}
    if form == "csv":
        return write(
            "o.csv",
            "t,weight,id,name,price,paid\n"
            '1,1,7,"a, b",2.5,true\n2,-1,7,"a, b",2.5,TRUE\n2,3,8,,,0\n5,1,9,"",inf,false\n',
        )
    if form == "jsonl":
        lines = [dict(zip(NAMES, (*row[:2], *row[2]), strict=True)) for row in ROWS]
        lines[3]["price"] = "inf"
        return write("o.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    table = pa.table(columns)
    if form == "parquet":
        pq.write_table(table, "o.parquet")
        return "o.parquet"
    with pa.OSFile("o.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return "o.arrow"


@pytest.mark.parametrize("block", [65_536, 1])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_every_format_has_the_same_changes(form, block, monkeypatch):
    monkeypatch.setattr(reader, "BLOCK_ROWS", block)
    assert read_rows(write_rows(form)) == ROWS


def test_files_of_a_pattern_follow_one_another():
    write("o1.csv", "t,id,name,price,paid\n1,7,a,1,1\n")
    write("o2.csv", "paid,t,name,price,id\n0,2,b,2,8\n")
    assert read_rows("o*.csv") == [(1, 1, (7, "a", 1.0, True)), (2, 1, (8, "b", 2.0, False))]


def test_options_of_csv_hold_for_changes():
    file = write("o.csv", "when;id;name;price;paid\n01.02.1970;7;?;1,5;1\n")
    options = {"csv": CsvDialect(delimiter=";", decimal=","), "null": ("?",)}
    found = read_rows(file, time=("when",), time_format="%d.%m.%Y", **options)
    assert found == [(31 * 86_400 * 10**6, 1, (7, None, 1.5, True))]


def test_operations_are_weights():
    lines = ["+,1", "INSERT,2", "Insert,3", "-,4", "delete,5", "DELETE,6"]
    body = "".join(f"{k},{line},,,1\n" for k, line in enumerate(lines))
    found = read_rows(write("o.csv", "t,op,id,name,price,paid\n" + body))
    assert [row[1] for row in found] == [1, 1, 1, -1, -1, -1]


def test_objects_without_a_weight_are_inserted():
    rows = [{"t": 1}, {"t": 2, "weight": -2}, {"t": 3, "op": "-"}]
    text = "".join(json.dumps(row | {"id": 1, "paid": True}) + "\n" for row in rows)
    assert [row[1] for row in read_rows(write("o.jsonl", text))] == [1, -2, -1]


def test_fields_named_like_times_and_weights():
    file = write("o.csv", "_t,_weight,t,weight\n1,-2,a,0.5\n")
    assert read_rows(file, CLASHING) == [(1, -2, ("a", 0.5))]
    file = write("o.csv", "_t,t,weight\n1,a,0.5\n")
    assert read_rows(file, CLASHING) == [(1, 1, ("a", 0.5))]


def test_a_deleted_row_needs_its_key_alone():
    file = write("o.csv", "t,op,id,name,price,paid\n1,+,7,a,1,1\n2,-,7,,,\n")
    assert read_rows(file, KEYED)[1] == (2, -1, (7, None, None, False))
    assert "o.csv:3: error[RT211]: null in the field paid" in read_rows(file)
    file = write("o.csv", "t,op,id,name,price,paid\n1,-,,a,1,1\n")
    assert "null in the field id, which is integer" in read_rows(file, KEYED)


HEAD = "t,weight,id,name,price,paid\n1,1,1,,,1\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (HEAD + "2,1,,,,1\n", "o.csv:3: error[RT211]: null in the field id, which is integer"),
        (HEAD + "2,0,1,,,1\n", "o.csv:3: error[RT201]: a weight of 0 is no change"),
        (HEAD + "2,,1,,,1\n", "o.csv:3: error[RT211]: a change without its weight"),
        (HEAD + "2,x,1,,,1\n", "o.csv:3: error[RT201]: not an integer (column 'weight'"),
        (HEAD + "2,1.5,1,,,1\n", "o.csv:3: error[RT201]: not an integer (column 'weight'"),
        (HEAD + "2,1,1,,y,1\n", "o.csv:3: error[RT201]: not a number (column 'price'"),
        (HEAD + "2,1,1,,1\n", "o.csv:3: error[RT207]: 5 cells, the header has 6"),
        (HEAD + ",1,1,,,1\n", "o.csv:3: error[RT211]: a row without a time"),
        ("t,op,id,name,price,paid\n1,,1,,,1\n", "a change without its operation"),
        ("t,op,id,name,price,paid\n1,put,1,,,1\n", "not an operation (column 'op', value 'put')"),
        ("t,op,weight,id,name,price,paid\n1,+,1,1,,,1\n", "both say what a change is"),
        ("t,ident,name,price,paid\n1,1,,,1\n", "there is no column of orders 'id'"),
        ("at,id,name,price,paid\n1,1,,,1\n", "say --time at"),
    ],
)
def test_what_is_wrong_has_its_place(text, error):
    assert error in read_rows(write("o.csv", text))


def test_bad_rows_are_dropped_and_kept():
    text = HEAD + "2,0,1,,,1\n3,1,,,,1\n4,1,2,,q,1\n5,1,3,,,1\n"
    kept = []
    policy = BadRowPolicy(kept.append)
    found = read_rows(write("o.csv", text), bad="drop", policy=policy)
    assert [row[0] for row in found] == [1, 5]
    assert policy.counts == {"o.csv": 3}
    places = [(row["line"], row["column"]) for table in kept for row in table.to_pylist()]
    assert places == [(3, "weight"), (4, "id"), (5, "price")]


def test_a_table_that_changes_has_a_file_of_its_own():
    write_rows("csv")
    spec = InputSpec("o.csv")
    inputs = make_inputs(orders=ORDERS)
    assert bind_columns(Files(), inputs, spec)[0].inputs == ["orders"]
    with pytest.raises(DataError, match="say --in orders=FILE"):
        bind_columns(Files(), inputs | {"p": Input("p", Type("number"))}, spec)
    spec = InputSpec(None, {"orders": ("o.csv", "id")})
    with pytest.raises(DataError, match=r"say --in orders=o\.csv"):
        bind_columns(Files(), inputs, spec)


def test_the_input_whose_rows_lag_is_read_first(monkeypatch):
    monkeypatch.setattr(reader, "BLOCK_ROWS", 1)
    write("a.csv", "t,t2\n1,1\n5,1\n6,1\n")
    write("b.csv", "t,t2\n2,1\n3,1\n7,1\n")
    one = Schema((Field("t2", Type("integer")),))
    spec = InputSpec(None, {"a": ("a.csv", None), "b": ("b.csv", None)})
    bound = bind_columns(Files(), make_inputs(a=one, b=one), spec)
    turns = FileReader(bound, None, BadRowPolicy()).read_in_turn()
    found = [table for batches, _ in turns for b in batches for table in b.columns.values()]
    assert [int(table.time[0]) for table in found] == [1, 2, 5, 3, 7, 6]


# ---- what is written


def make_table(rows, schema=ORDERS):
    """A table of a result: rows (t, weight, fields)."""
    names = [
        "_t" if "t" in schema.names else "t",
        "_weight" if "weight" in schema.names else "weight",
    ]
    table = {n: np.array([row[k] for row in rows], np.int64) for k, n in enumerate(names)}
    fillers = {"integer": 0, "number": np.nan, "boolean": False, "text": None}
    dtypes = {"integer": np.int64, "number": np.float64, "boolean": np.bool_, "text": object}
    for k, field in enumerate(schema):
        cells, kind = [row[2][k] for row in rows], field.type.kind
        filled = [fillers[kind] if cell is None else cell for cell in cells]
        table[field.name] = np.array(filled, dtypes[kind])
        if field.type.nullable:
            table[f"{field.name}_valid"] = np.array([c is not None for c in cells], np.bool_)
    return table


def write_output(path, form, pushes, schema=ORDERS, *, clock=PLAIN, snapshot=False):
    target = Target(path, form, ("view",), schema=schema, snapshot=snapshot)
    with OutputFiles(Files(), [target], ()) as outputs:
        outputs.open(clock)
        for rows in pushes:
            outputs.add({"view": make_table(rows, schema)})
            outputs.end_block(None)
        outputs.finish()
    return Path(path)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_what_is_written_is_read_again(form):
    path = write_output(f"v.{form}", form, [ROWS[:2], [], ROWS[2:]])
    assert read_rows(str(path)) == ROWS


def test_a_file_without_changes_has_its_header():
    assert write_output("v.csv", "csv", []).read_text() == "t,weight,id,name,price,paid\n"
    assert pq.read_table(write_output("v.parquet", "parquet", [])).num_rows == 0


def test_times_are_written_as_they_were_read():
    clock = TimeFormat("s", TimeStyle(offset="Z"))
    rows = [(0, 1, ("a", 0.5)), (60, -1, ("a", 0.5))]
    text = write_output("v.csv", "csv", [rows], CLASHING, clock=clock).read_text()
    assert text.splitlines() == [
        "_t,_weight,t,weight",
        "1970-01-01T00:00:00Z,1,a,0.5",
        "1970-01-01T00:01:00Z,-1,a,0.5",
    ]
    path = write_output("v.jsonl", "jsonl", [rows[:1]], CLASHING, clock=clock)
    assert json.loads(path.read_text())["_t"] == "1970-01-01T00:00:00Z"
    found = pq.read_table(write_output("v.parquet", "parquet", [rows], CLASHING, clock=clock))
    assert found.schema.field("_t").type == pa.timestamp("ms", "UTC")


def test_a_snapshot_has_the_rows_that_are_present(monkeypatch):
    monkeypatch.setattr("rtbot.io.sinks.snapshot_file.GATHERED_ROWS", 2)
    nan, inf = float("nan"), float("inf")
    rows = [
        (1, 2, (2, "b", nan, True)),
        (1, 1, (1, None, None, False)),
        (1, 1, (2, "a", inf, True)),
        (1, 1, (2, "a", -inf, False)),
        (2, -1, (2, "b", nan, True)),
        (3, 1, (1, "", 0.0, False)),
        (3, 1, (1, "", 0.0, True)),
        (3, -1, (2, "a", inf, True)),
        (4, 1, (1, "", 0.0, False)),
    ]
    path = write_output("v.csv", "csv", [[row] for row in rows], snapshot=True)
    assert path.read_text().splitlines() == [
        "id,name,price,paid",
        '1,"",0,false',
        '1,"",0,false',
        '1,"",0,true',
        "1,,,false",
        "2,a,-inf,false",
        "2,b,nan,true",
    ]
    assert write_output("e.csv", "csv", [], snapshot=True).read_text() == "id,name,price,paid\n"
    clashing = write_output("c.parquet", "parquet", [[(1, 1, ("x", 1.0))]], CLASHING, snapshot=True)
    assert pq.read_table(clashing).to_pylist() == [{"t": "x", "weight": 1.0}]
