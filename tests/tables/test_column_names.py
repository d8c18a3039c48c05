"""`time=`, `inputs=` and `sort=`: tables and files alike."""

import json
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot
import rtbot.operators

GRAPH = {
    "inputs": {"price": "number", "size": "integer?"},
    "operators": {"s": {"type": "CumulativeSum", "in": "price"}},
    "outputs": {"s": "s", "size": "size"},
}
ONE = {
    "inputs": {"price": "number"},
    "operators": {"d": {"type": "Difference", "in": "price"}},
    "outputs": ["d"],
}
COLUMNS = {"when": [1, 2, 4], "t": [9, 9, 9], "close": [1.5, 2.0, 8.0], "vol": [7, 8, 9]}
NAMED = {"time": "when", "inputs": {"price": "close", "size": "vol"}}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def write_csv(folder):
    pd.DataFrame(COLUMNS).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv"


def write_jsonl(folder):
    rows = pd.DataFrame(COLUMNS).to_dict("records")
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "a.jsonl"


def write_parquet(folder):
    pq.write_table(pa.table(COLUMNS), folder / "a.parquet")
    return folder / "a.parquet"


def split_in_two(folder):
    return {"price": write_csv(folder), "size": write_parquet(folder)}


FORMS = {
    "dict": lambda _folder: COLUMNS,
    "pandas": lambda _folder: pd.DataFrame(COLUMNS),
    "polars": lambda _folder: pl.DataFrame(COLUMNS),
    "Arrow": lambda _folder: pa.table(COLUMNS),
    "records": lambda _folder: pd.DataFrame(COLUMNS).to_dict("records"),
    "apart": lambda _folder: {"price": pa.table(COLUMNS), "size": pl.DataFrame(COLUMNS)},
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "two files": split_in_two,
    "a table and a file": lambda folder: {"price": COLUMNS, "size": write_csv(folder)},
}


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_named_alike_in_tables_and_files(form, tmp_path):
    result = rtbot.load(GRAPH).run(FORMS[form](tmp_path), **NAMED)
    assert result["s"]["t"].tolist() == [1, 2, 4]
    assert result["s"]["value"].tolist() == [1.5, 3.5, 11.5]
    assert result["size"]["value"].tolist() == [7, 8, 9]
    assert result.to_arrow().column_names == ["when", "s", "size"]


MISSING = {
    "time": ({"time": "whem"}, "RT204", "whem", "did you mean 'when'?"),
    "column": ({"inputs": {"price": "closing"}}, "RT204", "closing", "did you mean 'close'?"),
    "far column": ({"inputs": {"price": "Q"}}, "RT204", "'Q'", "there are when, t, close, vol"),
    "input": ({"inputs": {"prize": "close"}}, "RT206", "prize", "did you mean 'price'?"),
    "the wrong way round": (
        {"inputs": {"close": "price"}},
        "RT206",
        "no input 'close'",
        "it is {input: column}: {'price': 'close'}",
    ),
}


@pytest.mark.parametrize("form", ["dict", "pandas", "csv", "parquet"])
@pytest.mark.parametrize(("given", "code", "told", "hint"), MISSING.values(), ids=MISSING)
def test_what_is_missing_is_named(form, given, code, told, hint, tmp_path):
    given = NAMED | {name: NAMED[name] | v if name == "inputs" else v for name, v in given.items()}
    with pytest.raises(rtbot.DataError) as caught:
        rtbot.load(GRAPH).run(FORMS[form](tmp_path), **given)
    assert caught.value.code == code
    assert told in caught.value.message
    assert hint in caught.value.hint


WRONG = {
    "a list of inputs": ({"inputs": ["close"]}, "inputs is {input: column}"),
    "a number of a column": ({"inputs": {"price": 2}}, "columns are given by their names"),
    "a number of time": ({"time": 1}, "time is the name of a column"),
}


@pytest.mark.parametrize(("given", "told"), WRONG.values(), ids=WRONG)
def test_columns_are_given_by_name(given, told):
    with pytest.raises(TypeError, match=told):
        rtbot.load(GRAPH).start(**given)


def test_columns_of_times_are_not_taken_for_inputs():
    table = {"Datetime": [1, 2], "price": [1.0, 2.0]}
    with pytest.raises(rtbot.DataError) as caught:
        rtbot.load(ONE).run(table)
    assert "name the times: time='Datetime'" in caught.value.hint
    assert rtbot.load(ONE).run(table, time="Datetime")["d"]["value"].tolist() == [1.0]
    with pytest.raises(rtbot.DataError) as caught:
        rtbot.load(ONE).run(pd.DataFrame(table))
    assert "time='Datetime'" in caught.value.hint


def test_texts_of_several_columns_of_times_are_joined():
    table = {"day": ["2024-01-01"] * 2, "clock": ["09:30", "09:31"], "price": [1.0, 3.0]}
    for data in (table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        result = rtbot.load(ONE).run(data, time=["day", "clock"])
        assert result.to_arrow().to_pydict() == {"t": ["2024-01-01 09:31"], "d": [2.0]}
    with pytest.raises(rtbot.DataError, match="clock holds none"):
        rtbot.load(ONE).run(table | {"clock": [1, 2]}, time=["day", "clock"])
    with pytest.raises(rtbot.DataError, match="a row without a time") as caught:
        rtbot.load(ONE).run(table | {"clock": ["09:30", None]}, time=["day", "clock"])
    assert caught.value.row == 1
    with pytest.raises(rtbot.DataError, match="columns differ in length"):
        rtbot.load(ONE).run(table | {"clock": ["09:30"]}, time=["day", "clock"])


def test_a_session_takes_named_columns_and_keeps_them_when_it_is_resumed():
    graph = rtbot.load(ONE)
    session = graph.start("k", time="when", inputs={"price": "close"})
    table = {"k": ["a", "a"], "when": [1, 2], "close": [1.0, 4.0]}
    assert session.push({"price": table})["d"]["value"].tolist() == [3.0]
    assert session.push_one("price", 3, 9.0, key="a") == {"d": [("a", 3, 5.0)]}
    assert session.push_one("price", 3, 9.0, key="b") == {}
    assert session.push({"price": [("a", 4, 10.0)]})["d"]["value"].tolist() == [1.0]
    session = graph.resume(session.dump())
    table = {"k": ["a"], "when": [5], "close": [12.0]}
    assert session.push(table)["d"]["value"].tolist() == [2.0]


def test_compare_takes_them_too():
    report = rtbot.load(ONE).compare(
        {"when": [1, 2], "close": [1.0, 4.0]}, time="when", inputs={"price": "close"}, runs=1
    )
    assert report.same
    assert report.rows == 2


# ---- sorted


def shuffled(seed, keys=("a", "b")):
    rng = random.Random(seed)
    rows = [(rng.choice(keys), rng.randrange(40), float(n)) for n in range(60)]
    return rows, [row for _, row in sorted(enumerate(rows), key=lambda one: (one[1][1], one[0]))]


@pytest.mark.parametrize("seed", range(5))
def test_sorted_rows_are_those_of_a_stable_sort(seed, tmp_path):
    graph = rtbot.load(ONE | {"io": {"duplicates": "last"}})
    rows, ordered = shuffled(seed)
    expected = graph.run({"price": ordered}, key="k").digest()
    frame = pd.DataFrame(rows, columns=["k", "t", "price"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    for data in ({"price": rows}, frame, pl.from_pandas(frame), tmp_path / "a.csv"):
        assert graph.run(data, key="k", sort=True).digest() == expected
    with pytest.raises(rtbot.DataError, match="is late"):
        graph.run(frame, key="k")
    session = graph.start("k")
    session.push({"price": rows}, sort=True)
    assert session.account()["inputs"]["price"]["in"] == len(rows)


def test_inputs_are_sorted_each_for_itself():
    graph = rtbot.load({"inputs": {"a": "number", "b": "number?"}, "outputs": ["a", "b"]})
    table = {"t": [3, 1, 2], "a": [30.0, 10.0, 20.0], "b": [None, 1.0, 2.0]}
    result = graph.run(pl.DataFrame(table), sort=True)
    assert result["a"]["value"].tolist() == [10.0, 20.0, 30.0]
    assert result["b"]["t"].tolist() == [1, 2]
    apart = {"a": [[2, 1.0], [1, 2.0]], "b": [[5, None], [4, 1.0]]}
    found = graph.run(apart, sort=True)["b"]
    assert (found["t"].tolist(), found["value_valid"].tolist()) == ([4, 5], [True, False])


def test_errors_of_sorted_rows_have_the_place_in_the_table_and_the_file(tmp_path):
    graph = rtbot.load(ONE)
    table = pd.DataFrame({"t": [5, 1, None, 5], "price": [1.0, np.nan, 2.0, 3.0]}).dropna(
        subset="t"
    )
    table = table.astype({"t": "int64"}).reset_index(drop=True)
    with pytest.raises(rtbot.DataError, match="a second message at t=5") as caught:
        graph.run(table, sort=True)
    assert caught.value.row == 2
    path = tmp_path / "a.csv"
    path.write_text("t,price\n5,1\n1,\n2,2\n5,3\n")
    with pytest.raises(rtbot.DataError, match="a second message at t=5") as caught:
        graph.run({"price": path}, sort=True)
    assert (caught.value.file, caught.value.row) == (str(path), 5)


def test_a_file_of_several_blocks_is_sorted_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("rtbot.io.reader.BLOCK_ROWS", 8)
    rows, ordered = shuffled(7, keys=("b", "a"))
    texts = {"inputs": {"x": "text"}, "outputs": ["x"], "io": {"duplicates": "first"}}
    graph = rtbot.load(texts)
    path = tmp_path / "a.csv"
    lines = [f"{key},{t},v{value:.0f}" for key, t, value in rows]
    path.write_text("\n".join(["k,t,x", *lines, "a,50,"]))
    expected = graph.run({"x": [(k, t, f"v{v:.0f}") for k, t, v in ordered]}, key="k")
    assert graph.run(path, key="k", sort=True).digest() == expected.digest()
    path.write_text("\n".join(["k,t,x", *lines]))
    with pytest.raises(rtbot.DataError) as caught:
        rtbot.load({**texts, "io": {}}).run(path, key="k", sort=True)
    bad = rows[caught.value.row - 2]
    assert (bad[0], bad[1]) == (caught.value.key, caught.value.time)
