"""`rtbot look`: for people and as JSON."""

import json

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from tests.field.table import FORMATS, encode
from tests.fuzz_look import run as fuzz

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
