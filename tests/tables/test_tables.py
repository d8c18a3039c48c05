"""Tables of every kind become the same arrays, or an error that names the row."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError
from rtbot.runtime.result import Result, merge_results
from rtbot.tables import Columns, TableSpec, TextColumn, split_by_input, to_columns
from rtbot.tables.string_dictionary import StringDictionary

NAN = float("nan")
PRICE = TableSpec("price", "number", key=("symbol",))


def plain(found: Columns) -> dict:
    """Arrays as lists, text as str, null as None."""
    keys = []
    for part in found.keys:
        if isinstance(part, TextColumn):
            keys.append(part.to_objects().tolist())
        elif isinstance(part, tuple):
            pairs = zip(part[0].tolist(), part[1], strict=True)
            keys.append([value if valid else None for value, valid in pairs])
        else:
            keys.append(part.tolist())
    value = found.value.to_objects() if isinstance(found.value, TextColumn) else found.value
    values = value.tolist()
    if found.valid is not None:
        values = [v if ok else None for v, ok in zip(values, found.valid, strict=True)]
    return {"t": found.time.tolist(), "value": values, "keys": keys, "nulls": found.nulls}


SYMBOLS, TIMES, PRICES = ["A", "B", "A"], [1, 1, 2], [1.5, NAN, -0.0]
FORMS = {
    "lists": {"symbol": SYMBOLS, "t": TIMES, "value": PRICES},
    "arrays": {
        "symbol": np.array(SYMBOLS),
        "t": np.array(TIMES, np.int32),
        "price": np.array(PRICES, ">f8"),
    },
    "objects": {
        "symbol": np.array(SYMBOLS, object),
        "time": np.array(TIMES, object),
        "price": np.array(PRICES, object),
    },
    "rows": [list(row) for row in zip(SYMBOLS, TIMES, PRICES, strict=True)],
    "records": np.array(
        list(zip(SYMBOLS, TIMES, PRICES, strict=True)),
        [("symbol", "U4"), ("t", "i8"), ("price", "f8")],
    ),
    "arrow": pa.table({"symbol": SYMBOLS, "t": TIMES, "price": PRICES}),
    "batch": pa.record_batch({"symbol": SYMBOLS, "t": TIMES, "price": PRICES}),
    "dictionary": pa.table(
        {"symbol": pa.array(SYMBOLS).dictionary_encode(), "t": TIMES, "price": PRICES}
    ),
    "chunks": pa.concat_tables(
        [
            pa.table(
                {
                    "symbol": pa.array([symbol]).dictionary_encode(),
                    "t": [time],
                    "price": [price],
                }
            )
            for symbol, time, price in zip(SYMBOLS, TIMES, PRICES, strict=True)
        ]
    ),
    "pandas": pd.DataFrame({"symbol": SYMBOLS, "t": TIMES, "price": PRICES}),
    "categories": pd.DataFrame(
        {"symbol": pd.Categorical(SYMBOLS), "t": TIMES, "price": PRICES}, index=[5, 6, 7]
    ),
    "index": pd.DataFrame({"symbol": SYMBOLS, "price": PRICES}, index=pd.Index(TIMES, name="ts")),
    "levels": pd.Series(
        PRICES, pd.MultiIndex.from_arrays([SYMBOLS, TIMES], names=["symbol", "t"]), name="close"
    ),
    "arrow dtypes": pa.table({"symbol": SYMBOLS, "t": TIMES, "price": PRICES}).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars": pl.DataFrame({"symbol": SYMBOLS, "t": TIMES, "price": PRICES}),
    "polars categories": pl.DataFrame(
        {"symbol": pl.Series(SYMBOLS, dtype=pl.Categorical), "t": TIMES, "price": PRICES}
    ),
    "series": {
        "symbol": pd.Series(SYMBOLS),
        "t": pl.Series(TIMES),
        "price": pa.chunked_array([PRICES]),
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_columns(form):
    found = to_columns(FORMS[form], PRICE)
    assert found.time.dtype == np.int64
    assert found.value.dtype == np.float64
    told = plain(found)
    assert (told["t"], told["keys"], told["nulls"]) == (TIMES, [SYMBOLS], 0)
    assert np.array(told["value"]).tobytes() == np.array(PRICES).tobytes()
    assert found.valid is None


class Capsule:
    """A table of a library that nobody has heard of, but that speaks Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("form", ["capsule", "reader"])
def test_streams_of_arrow_batches_are_tables(form):
    table = pa.table({"symbol": SYMBOLS, "t": TIMES, "price": PRICES})
    batches = table.to_batches(max_chunksize=2)
    stream = {
        "capsule": Capsule(table),
        "reader": pa.RecordBatchReader.from_batches(table.schema, batches),
    }[form]
    assert plain(to_columns(stream, PRICE))["t"] == TIMES


DAYS = pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin")
MIDNIGHTS = [1_704_063_600, 1_704_150_000]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": [1.0, 2.0]}, index=DAYS),
        pd.DataFrame({"x": [1.0, 2.0]}, index=DAYS.rename("day")),
        pd.DataFrame({"x": [1.0, 2.0], "t": DAYS}, index=DAYS.shift(5)),
        pd.Series([1.0, 2.0], DAYS, name="close"),
        pl.DataFrame({"x": [1.0, 2.0], "date": pl.from_pandas(DAYS)}),
    ],
    ids=["unnamed", "named", "column first", "series", "polars"],
)
def test_an_index_of_times_is_the_column_of_times_if_there_is_no_other(table):
    found = plain(to_columns(table, TableSpec("x", "number", unit="s")))
    assert (found["t"], found["value"]) == (MIDNIGHTS, [1.0, 2.0])


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        (pl.DataFrame({"t": [1], "x": [1.0]}).lazy(), "a LazyFrame", "collect() it first"),
        (pl.Series([1.0]), "a Series is one column", "{'t': times, 'value': values}"),
        (pa.array([1.0]), "is one column", "{'t': times, 'value': values}"),
        (np.ones((2, 2)), "a ndarray", "a dict of columns"),
        (iter([[1, 2.0]]), "a list_iterator", "a list of rows"),
        (pd.DataFrame({"x": [1.0]}), "no column of times", "there are x"),
        (
            pd.DataFrame({"t": pd.period_range("2024", periods=1, freq="Y"), "x": [1.0]}),
            "periods",
            ".to_timestamp()",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_table_says_what_to_give(table, message, hint):
    with pytest.raises(DataError) as caught:
        to_columns(table, TableSpec("x", "number"))
    assert message in caught.value.message
    assert hint in caught.value.hint


# ---- one table of several inputs

SPECS = {"a": TableSpec("a", "number"), "b": TableSpec("b", "integer", nullable=True)}
WIDE = {"t": [1, 2, 3], "a": [1.5, None, 3.5], "b": [None, 2, 3]}
LONG = {"input": ["a", "b", "a", "b"], "t": [1, 2, 3, 3], "value": [1.5, 2, 3.5, 3]}


@pytest.mark.parametrize(
    "table",
    [
        WIDE,
        pa.table(WIDE),
        pl.DataFrame(WIDE),
        pa.table(WIDE).to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame(WIDE, dtype=object).set_index("t"),
        {**LONG, "value": [1.5, 2, 3.5, 3]},
        pd.DataFrame({**LONG, "value": pd.Series([1.5, 2, 3.5, 3], dtype=object)}),
        {"a": {"t": [1, 3], "value": [1.5, 3.5]}, "b": [[2, 2], [3, 3]]},
    ],
    ids=["dict", "arrow", "polars", "pandas", "objects", "long", "long pandas", "apart"],
)
def test_one_table_of_all_inputs_is_taken_apart(table):
    apart = split_by_input(table, SPECS)
    found = {name: plain(to_columns(part, SPECS[name])) for name, part in apart.items()}
    told = {name: (part["t"], part["value"], part["nulls"]) for name, part in found.items()}
    assert told == {"a": ([1, 3], [1.5, 3.5], 0), "b": ([2, 3], [2, 3], 0)}


@pytest.mark.parametrize(
    ("table", "code", "told"),
    [
        ({"t": [1], "a": [1.0]}, "RT204", "no column 'b'"),
        ({"t": [1], "a": [1.0], "c": [1]}, "RT204", "no column 'b'"),
        ({"t": [1, 1], "input": ["a", "c"], "value": [1, 1]}, "RT206", "no input 'c'"),
        ({"t": [1, 1], "input": ["a", None], "value": [1, 1]}, "RT211", "without an input"),
        ([[1, 2.0]], "RT204", "no column 'a'"),
    ],
)
def test_one_table_that_is_not_of_all_inputs_is_refused(table, code, told):
    with pytest.raises(DataError) as caught:
        split_by_input(table, SPECS)
    assert (caught.value.code, told in caught.value.message) == (code, True)


def test_graphs_run_on_one_frame_and_give_frames_back():
    graph = rtbot.load({"inputs": {"a": "number", "b": "integer"}, "outputs": ["a", "b"]})
    frame = pl.DataFrame(WIDE)
    assert graph.run(frame).to_polars().to_dict(as_series=False) == WIDE
    pandas = frame.to_pandas(use_pyarrow_extension_array=True).set_index("t")
    assert graph.run(pandas)["b"]["t"].tolist() == [2, 3]
    session = rtbot.load(
        {"inputs": {"a": "number", "b": "integer"}, "outputs": ["a"], "io": {"time": "when"}}
    ).start()
    assert session.push(frame)["a"]["t"].tolist() == [1, 3]
    frame = frame.with_columns((pl.col("t") + 10).alias("when"))
    assert session.push(frame)["a"]["t"].tolist() == [11, 13]
    assert session.push_one("a", 14, 0.0) == {"a": [(14, 0.0)]}
    session = graph.start()
    assert session.push(frame)["a"]["t"].tolist() == [1, 3]


def test_arrays_that_fit_are_not_copied():
    time, value = np.arange(4), np.ones(4)
    found = to_columns({"t": time, "value": value}, TableSpec("x", "number"))
    assert np.shares_memory(found.time, time)
    assert np.shares_memory(found.value, value)
    table = pa.table({"t": time, "value": value})
    found = to_columns(table, TableSpec("x", "number"))
    assert found.value.ctypes.data == table.column("value").chunk(0).buffers()[1].address


def test_strided_arrays_become_contiguous():
    wide = np.arange(12).reshape(4, 3)
    found = to_columns({"t": wide[:, 0], "value": wide[:, 1]}, TableSpec("x", "integer"))
    assert plain(found) == {"t": [0, 3, 6, 9], "value": [1, 4, 7, 10], "keys": [], "nulls": 0}
    assert found.time.flags.c_contiguous
    assert found.value.flags.c_contiguous


NULLS = {
    "lists": {"t": [1, 2, 3], "value": [1, None, 3]},
    "rows": [[1, 1], [2, None], [3, 3]],
    "arrow": pa.table({"t": [1, 2, 3], "value": [1, None, 3]}),
    "pandas": pd.DataFrame({"t": [1, 2, 3], "value": pd.array([1, None, 3], dtype="Int64")}),
    "objects": pd.DataFrame({"t": [1, 2, 3], "value": pd.Series([1, pd.NA, 3], dtype=object)}),
    "polars": pl.DataFrame({"t": [1, 2, 3], "value": [1, None, 3]}),
    "masked": {"t": [1, 2, 3], "value": np.ma.masked_array([1, 2, 3], [False, True, False])},
    "flags": {"t": [1, 2, 3], "value": [1, 2, 3], "value_valid": [True, False, True]},
}


@pytest.mark.parametrize("form", NULLS)
def test_a_null_is_a_message_only_where_the_port_takes_it(form):
    found = plain(to_columns(NULLS[form], TableSpec("x", "integer", nullable=True)))
    assert found == {"t": [1, 2, 3], "value": [1, None, 3], "keys": [], "nulls": 0}
    found = to_columns(NULLS[form], TableSpec("x", "integer"))
    assert plain(found) == {"t": [1, 3], "value": [1, 3], "keys": [], "nulls": 1}
    assert found.rows.tolist() == [0, 2]


@pytest.mark.parametrize(("kind", "filler"), [("number", NAN), ("integer", 0), ("boolean", False)])
def test_the_value_of_a_null_is_always_the_same(kind, filler):
    given = {"number": 2.5, "integer": 7, "boolean": True}[kind]
    table = {"t": [1], "value": [given], "value_valid": [False]}
    found = to_columns(table, TableSpec("x", kind, nullable=True))
    assert np.array_equal(found.value, [filler], equal_nan=kind == "number")


def test_nan_in_a_frame_is_a_value():
    frame = pd.DataFrame({"t": [1, 2], "value": [NAN, 1.0]})
    found = to_columns(frame, TableSpec("x", "number", nullable=True))
    assert found.valid is None
    assert np.isnan(found.value[0])


def test_text_keeps_null_apart_from_empty():
    found = to_columns(
        {"t": [1, 2, 3], "value": ["", None, "é"]}, TableSpec("x", "text", nullable=True)
    )
    assert plain(found)["value"] == ["", None, "é"]


def test_keys_are_integers_or_text_and_may_be_null():
    table = {"a": [1, None], "b": [None, "x"], "t": [1, 2], "value": [True, False]}
    found = plain(to_columns(table, TableSpec("x", "boolean", key=("a", "b"))))
    assert found["keys"] == [[1, None], [None, "x"]]
    nested = to_columns([[("p", 4), 1, True]], TableSpec("x", "boolean", key=("a", "b")))
    assert plain(nested)["keys"] == [["p"], [4]]


@pytest.mark.parametrize(
    ("times", "unit", "counts"),
    [
        (np.array(["1970-01-01T00:00:01"], "M8[s]"), None, [1_000_000]),
        (pd.date_range("1970-01-02", periods=1, tz="Europe/Berlin"), "s", [82_800]),
        (pa.array([5], pa.timestamp("ms")), "us", [5000]),
        (pa.array([1], pa.date32()), "s", [86_400]),
        (["1970-01-01T00:00:00.001Z"], "ms", [1]),
        ([pd.Timestamp("1970-01-02")], "s", [86_400]),
        (np.array([2**63 - 1], np.uint64), None, [2**63 - 1]),
        (np.array([], np.float64), None, []),
    ],
)
def test_times_become_int64_in_the_unit(times, unit, counts):
    table = {"t": times, "value": [1.0] * len(counts)}
    assert to_columns(table, TableSpec("x", "number", unit=unit)).time.tolist() == counts


@pytest.mark.parametrize(
    ("table", "kind", "row", "message"),
    [
        ({"t": [1.0], "value": [1]}, "number", 0, "not an integer"),
        ({"t": np.array([1.5]), "value": [1]}, "number", 0, "not a column of float64"),
        ({"t": [True], "value": [1]}, "number", 0, "not an integer"),
        ({"t": [1, None], "value": [1, 2]}, "number", 1, "without a time"),
        ({"t": [1, 2**63], "value": [1, 2]}, "number", 1, "beyond 64 bits"),
        ({"t": np.array([2**63], np.uint64), "value": [1]}, "number", 0, "beyond 64 bits"),
        ({"t": ["2004-01-02", 3], "value": [1, 2]}, "number", 1, "text in some rows"),
        ({"t": ["yesterday"], "value": [1]}, "number", 0, "ISO 8601"),
        ({"t": np.array(["1970", "NaT"], "M8[s]"), "value": [1, 2]}, "number", 1, "without a time"),
        ({"t": [1, 2], "value": [1, "2"]}, "number", 1, "not a number"),
        ({"t": [1, 2], "value": [1, True]}, "number", 1, "not a number"),
        ({"t": [1], "value": np.array([True])}, "number", 0, "not a column of bool"),
        ({"t": [1], "value": [1 + 0j]}, "number", 0, "not a number"),
        ({"t": [1], "value": [10**400]}, "number", 0, "beyond the range"),
        ({"t": [1, 2], "value": [1, 2.0]}, "integer", 1, "not an integer"),
        ({"t": [1], "value": np.array([1.0])}, "integer", 0, "not a column of float64"),
        ({"t": [1, 2], "value": [0, -(2**63) - 1]}, "integer", 1, "beyond 64 bits"),
        ({"t": [1], "value": [1]}, "boolean", 0, "not a boolean"),
        ({"t": [1, 2], "value": ["a", 2]}, "text", 1, "not text"),
        ({"t": [1], "value": np.array([2])}, "text", 0, "text is expected, not a column of int64"),
        ({"t": [1], "value": ["\ud800"]}, "text", 0, "Unicode"),
        ({"t": [1], "value": [b"a"]}, "text", 0, "not text"),
        ({"t": [1, 2], "value": [1]}, "number", None, "differ in length: t 2, value 1"),
        ({"t": [1]}, "number", None, "no column 'price'"),
        ({"value": [1]}, "number", None, "no column of times"),
        ({"t": [[1]], "value": [1]}, "number", 0, "not an integer"),
        ({"t": np.ones((1, 1), int), "value": [1]}, "number", None, "one dimension"),
        ([[1, 2, 3]], "number", 0, "a row has 2 values"),
        ([[1, 2], 3], "number", 1, "a row is a list"),
        (17, "number", None, "a table cannot be a int"),
        (pa.table({"t": [1], "value": [[1]]}), "number", None, "not a column of list"),
        (pa.table({"t": [1], "value": ["x"]}), "number", None, "not a column of string"),
    ],
)
def test_bad_tables_are_refused_with_input_and_row(table, kind, row, message):
    with pytest.raises(DataError) as caught:
        to_columns(table, TableSpec("price", kind))
    assert message in str(caught.value)
    assert caught.value.input == "price"
    assert caught.value.row == row


@pytest.mark.parametrize("key", [[1.5], ["a", 1], [True], [b"a"], np.array([1.0])])
def test_bad_keys_are_refused(key):
    count = len(key)
    table = {"symbol": key, "t": [1] * count, "value": [1] * count}
    with pytest.raises(DataError) as caught:
        to_columns(table, PRICE)
    assert caught.value.column == "symbol"


def test_rows_of_no_kind_are_zero_rows():
    for table in ([], {"t": [], "value": []}, pa.table({"t": pa.nulls(0), "value": pa.nulls(0)})):
        for kind in ("number", "integer", "boolean", "text"):
            assert len(to_columns(table, TableSpec("x", kind))) == 0


# ---- the way out


def table(rows, *, key=True, kind=float):
    """A result's table of rows (key, t, value)."""
    keys, times, values = zip(*rows, strict=True) if rows else ((), (), ())
    valid = np.array([value is not None for value in values], bool)
    filled = np.array([kind() if value is None else value for value in values], kind)
    made = {"t": np.array(times, np.int64), "value": filled, "value_valid": valid}
    return {"k": np.array(keys, object)} | made if key else made


def test_wide_has_a_row_for_every_key_and_time():
    result = Result(
        {
            "a": table([("x", 1, 1.5), ("x", 3, NAN), ("y", 1, 0.0)]),
            "b": table([("x", 2, 4), ("y", 1, None), (None, 9, 5)], kind=int),
        },
        ("k",),
    )
    wide = result.to_arrow()
    assert wide.column_names == ["t", "k", "a", "b"]
    assert [str(row) for row in zip(*wide.to_pydict().values(), strict=True)] == [
        "(1, 'x', 1.5, None)",
        "(2, 'x', None, 4)",
        "(3, 'x', nan, None)",
        "(1, 'y', 0.0, None)",
        "(9, None, None, 5)",
    ]
    frame = result.to_pandas()
    assert frame.dtypes.astype(str).tolist()[2:] == ["float64", "Int64"]
    assert frame["b"].tolist() == [pd.NA, 4, pd.NA, pd.NA, 5]


def test_wide_of_nothing_has_its_columns():
    wide = Result({"a": table([], key=False), "b": table([], key=False, kind=bool)}).to_arrow()
    assert wide.schema.names == ["t", "a", "b"]
    assert wide.schema.types == [pa.int64(), pa.float64(), pa.bool_()]
    assert wide.num_rows == 0


def test_keys_are_ordered_by_value_and_null_is_last():
    rows = [(key, 1, 1.0) for key in ["b", "é", None, "a", "B", "aa", "\U0001f600", "\uffff"]]
    for order in itertools.islice(itertools.permutations(rows), 0, 5000, 97):
        merged = merge_results([Result({"a": table([row])}, ("k",)) for row in order])
        expected = ["B", "a", "aa", "b", "é", "\uffff", "\U0001f600", None]
        assert merged["a"]["k"].tolist() == expected


def test_joined_results_are_in_order():
    parts = [
        Result({"a": {"k": np.array([2, 1]), "t": np.array([1, 5]), "value": np.ones(2)}}, ("k",)),
        Result({"a": {"k": np.array([1, 2]), "t": np.array([4, 7]), "value": np.zeros(2)}}, ("k",)),
    ]
    found = merge_results(parts)["a"]
    assert list(zip(found["k"].tolist(), found["t"].tolist(), strict=True)) == [
        (1, 4),
        (1, 5),
        (2, 1),
        (2, 7),
    ]


def test_texts_that_a_dictionary_has_twice_or_not_at_all_have_one_code():
    texts = StringDictionary()
    first = texts.encode(TextColumn(np.arange(4), ["a", "b", "a", None]))
    assert [texts.text(code) for code in first.tolist()] == ["a", "b", "a", None]
    assert first[0] == first[2]
    assert texts.encode(TextColumn(np.arange(2), ["c", "a"]))[1] == first[0]
    assert sorted(texts.codes) == ["a", "b", "c"]
