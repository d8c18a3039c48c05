"""Tables that pandas and others give, and code that is read from an archive: no Spark."""

import datetime as dt
import os
import subprocess
import sys
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError

ROOT = Path(__file__).parents[2]
SUM = {"inputs": {"x": "number"}, "operators": {"s": "x + 1"}, "outputs": ["s"]}
WHOLE = {"inputs": {"x": "integer"}, "operators": {"s": "x + 1"}, "outputs": ["s"]}
EMPTY = [np.nan, None, pd.NA, float("nan")]


def run(table, graph=SUM, **options):
    return rtbot.load(graph).run({"x": table}, **options)["s"]


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("known", ["a", 7])
def test_an_empty_cell_in_a_key_column_of_objects_is_the_null_key(empty, known):
    keys = pd.Series([known, empty, known, empty], dtype=object)
    table = pd.DataFrame({"k": keys, "t": [1, 1, 2, 2], "value": [1.0, 2.0, 3.0, 4.0]})
    found = run(table, key="k")
    assert list(found["k"]) == [known, known, None, None]
    assert list(found["value"]) == [2.0, 4.0, 3.0, 5.0]


def test_keys_of_two_kinds_name_both_rows():
    table = pd.DataFrame({"k": [None, "a", 7], "t": [1, 1, 1], "value": [1.0, 2.0, 3.0]})
    table["k"] = pd.Series([np.nan, "a", 7], dtype=object)
    with pytest.raises(DataError) as caught:
        run(table, key="k")
    assert caught.value.code == "RT212"
    assert caught.value.row == 2
    assert "not like the key 'a' of row 1" in str(caught.value)


TAKEN = {
    "decimals": {"t": [1, 2], "value": [Decimal("0.1"), None]},
    "a frame of decimals": pd.DataFrame({"t": [1, 2], "value": [Decimal("0.10"), None]}),
    "records": [{"t": 1, "value": 0.1}, {"t": 2, "value": None}],
    "records named like the input": [{"time": 1, "x": 0.1}, {"time": 2, "x": None}],
    "a sparse column": pd.DataFrame({"t": [1], "value": pd.arrays.SparseArray([0.1])}),
}


@pytest.mark.parametrize("table", TAKEN.values(), ids=TAKEN)
def test_tables_are_taken_in_the_forms_that_people_have(table):
    found = run(table)
    assert (list(found["t"]), list(found["value"])) == ([1], [1.1])


REFUSED = {
    "floats for an integer": ({"t": [1], "value": np.array([1.0])}, "RT220", "astype('Int64')"),
    "decimals for an integer": (
        {"t": [1], "value": [Decimal(3)]},
        "RT201",
        "convert the column to integers, or declare the input as number",
    ),
    "a column of decimals for an integer": (
        {"t": [1], "value": pa.array([Decimal("2.5")])},
        "RT220",
        "not a column of decimal128(2, 1)",
    ),
    "an integer of numpy beyond 64 bits": (
        {"t": [1, 2], "value": [1, np.uint64(2**63 + 5)]},
        "RT213",
        "(row 1, value 9223372036854775813, input 'x', column 'value')",
    ),
    "a time beyond 64 bits": ({"t": [np.uint64(2**63 + 5)], "value": [1]}, "RT213", "column 't'"),
    "records of other columns": ([{"t": 1, "value": 1}, {"t": 2}], "RT207", "row 2"),
}


@pytest.mark.parametrize(("table", "code", "cure"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_comes_with_the_cure(table, code, cure):
    with pytest.raises(DataError) as caught:
        run(table, WHOLE)
    assert caught.value.code == code
    assert cure in str(caught.value) or cure == "row 2"


@pytest.mark.parametrize("place", ["time", "value", "key"])
def test_push_one_refuses_an_integer_of_numpy_beyond_64_bits(place):
    given = {"time": 1, "value": 1, "key": 1} | {place: np.uint64(2**63 + 5)}
    session = rtbot.load(WHOLE).start("k")
    with pytest.raises(DataError) as caught:
        session.push_one("x", **given)
    assert caught.value.code == "RT213"
    assert session.push_one("x", 1, 1, key=1) == {"s": [(1, 1, 2)]}


@pytest.mark.parametrize("key", [[1], {}, {1}], ids=str)
def test_a_key_that_cannot_be_looked_up_is_refused_by_every_call(key):
    session = rtbot.load(SUM).start("k")
    for call in (
        lambda: session.push_one("x", 1, 1.0, key=key),
        lambda: session.push({"x": {"k": [key], "t": [1], "value": [1.0]}}),
        lambda: session.close_key(key),
    ):
        with pytest.raises(DataError):
            call()


DAYS = ["2024-01-02", "2024-01-02"]
DATED = {
    "datetimes of pandas": (pd.to_datetime(DAYS), "2024-01-02T00:00:00"),
    "datetimes of pandas with a zone": (pd.to_datetime(DAYS, utc=True), "2024-01-02T00:00:00Z"),
    "datetimes of numpy": (np.array(DAYS, "M8[s]"), "2024-01-02T00:00:00"),
    "timestamps of Arrow": (pa.array(pd.to_datetime(DAYS)), "2024-01-02T00:00:00"),
    "datetimes": ([dt.datetime(2024, 1, 2, tzinfo=dt.UTC)] * 2, "2024-01-02T00:00:00Z"),
    "texts": (DAYS, "2024-01-02"),
    "integers": ([1_704_153_600_000_000] * 2, None),
}


@pytest.mark.parametrize(("times", "shown"), DATED.values(), ids=DATED)
def test_an_error_shows_times_as_the_table_has_them(times, shown):
    with pytest.raises(DataError) as caught:
        run({"t": times, "value": [1.0, 2.0]})
    count = "1704153600000000"
    told = count if shown is None else f"{shown} = {count}"
    assert str(caught.value).startswith(f"error[RT203]: a second message at t={shown or count} ")
    assert f"time {told}, " in str(caught.value)
    assert caught.value.time == int(count)


def test_an_error_of_a_table_of_all_inputs_shows_times_as_the_table_has_them():
    graph = {"inputs": {"x": "number", "y": "number"}, "outputs": ["x", "y"]}
    table = pd.DataFrame({"t": pd.to_datetime(DAYS), "x": [1.0, 2.0], "y": [1.0, 2.0]})
    with pytest.raises(DataError, match="a second message at t=2024-01-02T00:00:00"):
        rtbot.load(graph).run(table)


def test_a_package_in_an_archive_runs(tmp_path):
    archive = tmp_path / "rtbot.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for path in (ROOT / "rtbot").rglob("*"):
            if path.suffix in (".py", ".md", ".yaml"):
                made.write(path, path.relative_to(ROOT))
    program = (
        "import rtbot; assert '.zip' in rtbot.__file__;"
        "print(rtbot.load({'inputs': {'x': 'number'}, 'operators': {'s': 'x + 1'},"
        " 'outputs': ['s']}).start().push_one('x', 1, 2.0))"
    )
    environment = os.environ | {"PYTHONPATH": str(archive), "RTBOT_INTERPRET": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
    )
    assert ran.stdout.decode().strip() == "{'s': [(1, 3.0)]}", ran.stderr.decode()
