"""`rtbot look`: for people and as JSON."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from tests.field.table import FORMATS, encode
from tests.fuzz_look import run as fuzz

ROWS = [(1, "+", 7, "north", 1.5), (2, "-", 7, "north", 1.5)]
METER = "Date;value\n31/1/2024;1,5\n1/2/2024;?\n2/2/2024;2\n"


def test_a_report_for_people(call):
    code, out, err = call("look", "x.csv", x__csv=METER)
    assert (code, err) == (0, "")
    for part in (
        "x.csv: CSV, 3 rows, 47 bytes, UTF-8, lines end with LF",
        "2024-01-31 to 2024-02-02",
        "step 1d, no gaps",
        "ascending, 0 late, 0 duplicates",
        'csv: {delimiter: ";", decimal: ","}',
        "rtbot run GRAPH x.csv --time Date --time-format %d/%m/%Y --null '?'",
        "3 rows read with these options, 0 refused",
    ):
        assert part in out


def test_the_same_as_json(call):
    code, out, _ = call("look", "x.csv", "--format", "json", x__csv=METER)
    (found,) = json.loads(out)
    assert code == 0
    assert found["csv"]["delimiter"] == ";"
    assert found["time"]["time_format"] == "%d/%m/%Y"
    assert [c["kind"] for c in found["columns"]] == ["time", "number"]
    assert found["tried"] == {"rows": 3, "bad": 0, "problems": {}, "skipped": ""}


def test_what_cannot_be_read_has_an_exit_code(call):
    code, out, _ = call("look", "x.csv", "y.csv", x__csv=METER, y__csv="")
    assert code == 4
    assert "the file is empty" in out
    assert call("look", "nothing.csv")[0] == 74


def test_late_rows_gaps_and_duplicates(call):
    text = "t,value\n1,1\n2,1\n3,1\n9,1\n8,1\n8,2\n10,1\n"
    (found,) = json.loads(call("look", "x.csv", "--format", "json", x__csv=text)[1])
    time = found["time"]
    assert (time["late"], time["lateness"], time["duplicates"]) == (2, "1", 1)
    assert (time["gaps"], time["longest_gap"], time["order"]) == (1, "5", "unsorted")
    assert "lateness: 1" in found["io"]


def test_columns_alike_are_a_vector_too(call):
    names = [f"ch{number}" for number in range(12)]
    rows = [f"{time},{','.join(f'{time + number}.5' for number in range(12))}" for time in (1, 2)]
    text = "\n".join([f"t,{','.join(names)}", *rows]) + "\n"
    _, out, _ = call("look", "x.csv", x__csv=text)
    head, line = "inputs:", f'all: {{type: "vector[12]", io: {{columns: [{", ".join(names)}]}}}}'
    assert f"  {head}\n    {line}\n" in out
    graph = f"{head}\n  {line}\noutputs: [all]\n"
    code, out, err = call("run", "g.yaml", "x.csv", "-q", g__yaml=graph)
    assert (code, out.splitlines()[1]) == (0, rows[0]), err


def test_a_graph_for_a_file_names_the_columns_that_it_leaves_out(call):
    text = "t,bid,ask,price,size,fee\n1,1.5,2.5,3.5,4.5,5.5\n2,2.5,3,4,6,7\n3,2.5,9,4,7,6\n"
    code, _, err = call("init", "g", "--data", "x.csv", x__csv=text)
    assert code == 0, err
    graph = Path("g.yaml").read_text()
    assert "  price: number\n  # further columns of numbers: size, fee\n" in graph
    assert call("validate", "g.yaml")[0] == 0


CHANGES = "t,op,id,region,unit price,amount\n1,+,1,north,2,1.5\n2,insert,2,,,3\n2,-,1,north,2,1.5\n"


def test_a_table_that_changes(call):
    code, out, _ = call("look", "my-orders.csv", **{"my-orders__csv": CHANGES})
    assert code == 0
    for part in (
        "by op, 2 rows are inserted and 1 deleted",
        "0 late, 1 row with the time of another",
        "my_orders: {changes: {id: integer, region: text?, amount: number}}",
        "rtbot run GRAPH --in my_orders=my-orders.csv",
        "rtbot sql 'SELECT * FROM my_orders' --in my_orders=my-orders.csv",
        "3 rows read with these options, 0 refused",
    ):
        assert part in out


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("t,weight,id\n1,1,5\n2,-1,5\n", "weight"),
        ("t,weight,id\n1,70,5\n2,80,5\n", None),
        ("t,weight,id\n1,1,5\n2,-0.5,5\n", None),
        ("t,weight,id\n1,1,5\n2,0,5\n3,-1,5\n", None),
        ("t,_weight,weight\n1,1,70\n2,2,71\n", "_weight"),
        ("t,_weight,id\n1,1,70\n2,2,71\n", None),
        ("t,op,id\n1,+,70\n2,x,71\n", None),
        ("t,op,weight,id\n1,Insert,70,1\n2,DELETE,70,1\n", "op"),
        (f"t,weight,id\n1,{'9' * 5000},5\n2,-1,5\n", None),
    ],
)
def test_what_says_that_a_table_changes(call, text, column):
    (found,) = json.loads(call("look", "x.csv", "--format", "json", x__csv=text)[1])
    assert found["changes"] == column


def test_a_late_row_of_a_table_that_changes(call):
    text = "t,op,id\n1,+,1\n3,+,2\n2,-,1\n"
    out = call("look", "x.csv", x__csv=text)[1]
    (line,) = [line for line in out.splitlines() if "rtbot sql" in line]
    assert line.endswith("--in x=x.csv --io lateness=1")
    query = ("sql", "SELECT * FROM x", "--in", "x=x.csv", "--io", "lateness=1")
    assert call(*query, "-q", "--snapshot")[1] == "id\n2\n"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.usefixtures("own_folder")
def test_a_graph_for_a_table_that_changes(call, form):
    names = ("t", "op", "id", "region", "amount")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in ROWS])
    if form == "jsonl":
        Path("o.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        write = pa.csv.write_csv if form == "csv" else pa.parquet.write_table
        write(table, f"o.{form}")
    code, _, err = call("init", "g", "--data", f"o.{form}")
    assert code == 0
    assert f"rtbot run g.yaml --in o=o.{form} -o g-out.csv --plot g-chart.svg" in err
    code, out, err = call("run", "g.yaml", "--in", f"o=o.{form}", "-q")
    assert (code, out) == (0, "t,weight,region,n,total\n1,1,north,1,1.5\n2,-1,north,1,1.5\n"), err


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.usefixtures("own_folder")
def test_lists_and_structs(call, form):
    rows = [
        {"t": t, "pos": [t, 0.5], "odd": [1] * t, "on": [True], "q": {"bid": t}} for t in (1, 2, 3)
    ]
    if form == "jsonl":
        Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), "x.parquet")
    (found,) = json.loads(call("look", f"x.{form}", "--format", "json")[1])
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {
        "t": "integer",
        "pos": "vector[2]",
        "odd": "list",
        "on": "list",
        "q.bid": "integer",
    }
    assert found["io"] == ""


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_files_with_types(call, own_folder, form):
    stamps = pa.array([1_700_000_000, 1_700_003_600], pa.timestamp("s", "UTC"))
    table = pa.table({"time": stamps, "name": ["a", "a"], "value": [1.5, 2.5]})
    if form == "parquet":
        pyarrow.parquet.write_table(table, own_folder / "x.parquet")
    else:
        pyarrow.feather.write_feather(table, str(own_folder / "x.arrow"))
    code, out, _ = call("look", f"x.{form}", "--format", "json")
    (found,) = json.loads(out)
    assert (code, found["io"], found["tried"]["rows"]) == (0, "", 2)
    assert found["time"]["first"] == "2023-11-14T22:13:20Z"
    (own_folder / f"x.{form}").write_bytes((own_folder / f"x.{form}").read_bytes()[:60])
    assert call("look", f"x.{form}")[0] == 4


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one["name"])
def test_the_options_read_every_row(own_folder, one):
    from rtbot.look.look_at_file import look_at_file

    (own_folder / one["file"]).write_bytes(encode(one))
    trial = look_at_file(one["file"], tried=True).trial
    assert (trial.bad, trial.problems) == (0, {})
    assert trial.rows or not one["rows"]


def test_spoilt_files_are_described():
    assert fuzz(60) > 20
