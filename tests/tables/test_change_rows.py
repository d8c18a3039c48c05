"""Tables of changes of every form, and everything that is wrong with one."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rtbot.core.errors import DataError
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.tables.change_rows import (
    ChangeSpec,
    make_change_row,
    order_changes,
    to_change_rows,
)

FIELDS = (
    Field("id", Type("integer")),
    Field("name", Type("text", nullable=True)),
    Field("x", Type("number", nullable=True)),
)
SPEC = ChangeSpec("orders", Schema(FIELDS))
CLASHING = ChangeSpec("a", Schema((Field("t", Type("integer")), Field("weight", Type("integer")))))
TABLE = {"t": [1, 2], "weight": [1, -2], "id": [7, 8], "name": ["a", None], "x": [None, 2.5]}


def list_rows(rows):
    """Rows as (t, weight, id, name, x)."""
    columns = []
    for values, valid in zip(rows.columns, rows.valid, strict=True):
        cells = values.tolist() if isinstance(values, np.ndarray) else values.to_objects().tolist()
        known = [True] * len(cells) if valid is None else valid.tolist()
        columns.append([c if k else None for c, k in zip(cells, known, strict=True)])
    return list(zip(rows.time.tolist(), rows.weight.tolist(), *columns, strict=True))


WANTED = [(1, 1, 7, "a", None), (2, -2, 8, None, 2.5)]
FRAME = pd.DataFrame({"t": [1, 2], "weight": [1, -2], "id": [7, 8]}).assign(
    name=pd.array(["a", None], "string"), x=pd.array([None, 2.5], "Float64")
)


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        {**TABLE, "ignored": [None, object()]},
        [[1, 1, {"id": 7, "name": "a", "x": None}], (2, -2, {"x": 2.5, "id": 8, "name": None})],
        [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)],
        pa.table(TABLE),
        pl.DataFrame(TABLE),
        FRAME,
        {**TABLE, "x": np.array([np.nan, 2.5]), "x_valid": [False, True]},
    ],
    ids=["dict", "more", "rows", "records", "arrow", "polars", "pandas", "mask"],
)
def test_a_table_of_any_form(table):
    assert list_rows(to_change_rows(table, SPEC)) == WANTED


def test_a_weight_is_one_and_an_operation_is_its_sign():
    table = {name: column for name, column in TABLE.items() if name != "weight"}
    assert to_change_rows(table, SPEC).weight.tolist() == [1, 1]
    for texts in (["+", "-"], ["insert", "delete"]):
        assert to_change_rows({**table, "op": texts}, SPEC).weight.tolist() == [1, -1]


def test_nan_is_a_value_and_no_rows_are_rows():
    rows = to_change_rows({**TABLE, "x": np.array([np.nan, 1.0])}, SPEC)
    assert rows.valid[2] is None
    assert np.isnan(rows.columns[2][0])
    assert len(to_change_rows([], SPEC)) == 0
    assert to_change_rows(rows, SPEC) is rows


def test_fields_may_have_the_names_of_time_and_weight():
    table = {"_t": [9], "t": [5], "weight": [7], "_weight": [-1]}
    rows = to_change_rows(table, CLASHING)
    assert (rows.time.tolist(), rows.weight.tolist()) == ([9], [-1])
    assert [c.tolist() for c in rows.columns] == [[5], [7]]
    again = to_change_rows([[9, -1, {"t": 5, "weight": 7}]], CLASHING)
    assert [c.tolist() for c in again.columns] == [[5], [7]]
    with pytest.raises(DataError, match="no column of times"):
        to_change_rows({"t": [5], "weight": [7]}, CLASHING)


def test_a_named_column_of_times_may_be_a_field():
    spec = ChangeSpec("a", CLASHING.schema, time=("t",), given=True)
    rows = to_change_rows({"t": [5], "weight": [7]}, spec)
    assert rows.time.tolist() == rows.columns[0].tolist() == [5]


def test_rows_are_put_in_the_order_of_their_times():
    rows = to_change_rows(
        {"t": [2, 1, 2], "id": [1, 2, 3], "name": list("abc"), "x": [1] * 3}, SPEC
    )
    ordered = order_changes(rows)
    assert ordered.columns[0].tolist() == [2, 1, 3]
    assert ordered.rows.tolist() == [1, 0, 2]
    assert order_changes(ordered) is ordered


def test_one_row():
    row = make_change_row(SPEC, 5, {"name": None, "id": 1, "x": 2}, -1)
    assert list_rows(row) == [(5, -1, 1, None, 2.0)]
    with pytest.raises(DataError) as caught:
        make_change_row(SPEC, 5, {"name": None, "id": None, "x": 2}, 1)
    assert (caught.value.code, caught.value.column, caught.value.row) == ("RT211", "id", None)


@pytest.mark.parametrize(
    ("change", "code", "row", "column"),
    [
        ({"weight": [1, 0]}, "RT201", 1, "weight"),
        ({"weight": [1, None]}, "RT211", 1, "weight"),
        ({"weight": [1, 1.5]}, "RT201", 1, "weight"),
        ({"weight": [1, 2**63]}, "RT213", 1, "weight"),
        ({"op": ["+", "-"]}, "RT214", None, None),
        ({"weight": None, "op": ["+", "put"]}, "RT201", 1, "op"),
        ({"weight": None, "op": ["+", None]}, "RT211", 1, "op"),
        ({"id": [1, None]}, "RT211", 1, "id"),
        ({"id": [1, "2"]}, "RT201", 1, "id"),
        ({"id": None}, "RT204", None, None),
        ({"t": None}, "RT204", None, None),
        ({"t": [1, None]}, "RT211", 1, "t"),
        ({"x": [1.0]}, "RT214", None, None),
        ({"x": [1.0, True]}, "RT201", 1, "x"),
        ({"name": ["a", 5]}, "RT201", 1, "name"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change, code, row, column):
    table = {name: value for name, value in (TABLE | change).items() if value is not None}
    with pytest.raises(DataError) as caught:
        to_change_rows(table, SPEC)
    error = caught.value
    assert (error.code, error.input, error.row, error.column) == (code, "orders", row, column)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([[1, 1]], "RT214"),
        ([[1, 1, 5]], "RT214"),
        (["abc"], "RT214"),
        ([[1, 1, {"id": 1, "name": "a"}]], "RT204"),
        ([[1, 1, {"id": 1, "name": "a", "x": 1, "y": 2}]], "RT204"),
        (5, "RT214"),
    ],
)
def test_rows_of_the_wrong_shape(rows, code):
    with pytest.raises(DataError) as caught:
        to_change_rows(rows, SPEC)
    assert (caught.value.code, caught.value.input) == (code, "orders")
