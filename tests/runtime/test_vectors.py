"""Streams of vectors at every edge: tables, messages, files, dumps, accounts, tests of graphs."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import rtbot
from rtbot import DataError
from rtbot.cli.main import run
from rtbot.core.errors import GraphError

GRAPH = """
inputs:
  v: vector[3]
  a: number
operators:
  back: {type: VectorProject, in: v, indices: [2, 1, 0]}
  both: {type: Join, in: [v, a], how: left}
  first: v.0 + 0
  pair: {type: VectorCompose, in: [v.2, a]}
outputs: {back: back, whole: both.o1, other: both.o2, first: first, pair: pair}
"""
NAN = math.nan
TIMES = [1, 2, 4]
ROWS = [[1.0, 2.0, 3.0], [-0.0, NAN, 1e300], [0.1, -math.inf, 5.0]]
A = {"t": [2, 4], "value": [7.0, 8.0]}


@pytest.fixture(scope="module")
def graph():
    return rtbot.load(GRAPH)


@pytest.fixture(scope="module")
def digest(graph):
    return graph.run({"v": {"t": TIMES, "value": ROWS}, "a": A}).digest()


# ---- tables


def test_a_result_has_an_array_of_rows_and_elements(graph):
    result = graph.run({"v": {"t": TIMES, "value": ROWS}, "a": A})
    assert list(result) == ["back", "whole", "other", "first", "pair"]
    back = result["back"]["value"]
    assert (back.dtype, back.shape) == (np.float64, (3, 3))
    assert back.tobytes() == np.array([row[::-1] for row in ROWS]).tobytes()
    assert result["pair"]["value"].tolist() == [[1e300, 7.0], [5.0, 8.0]]
    table = result.to_arrow()
    assert table.schema.field("back").type == pa.list_(pa.float64(), 3)
    assert table.column("pair").to_pylist() == [None, [1e300, 7.0], [5.0, 8.0]]
    assert result.to_arrow("pair").column_names == ["t", "pair"]
    assert result.to_pandas("pair")["pair"][0].tolist() == [1e300, 7.0]
    assert result.to_polars("pair")["pair"].to_list() == [[1e300, 7.0], [5.0, 8.0]]
    assert "back.0" in repr(result)
    assert "<svg" in result.plot()


def test_tables_of_every_kind_are_the_same_vectors(graph, digest):
    array = np.array(ROWS)
    apart = {f"v.{k}": array[:, k] for k in range(3)}
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), 3)
    lists = pa.array(ROWS, pa.list_(pa.float64()))
    tables = {
        "array": {"t": TIMES, "value": array},
        "by name": {"t": TIMES, "v": array},
        "in columns": {"t": TIMES, "v": np.asfortranarray(array)},
        "a view": {"t": TIMES, "v": np.repeat(array, 2, axis=0)[::2]},
        "tuples": {"t": TIMES, "value": [tuple(row) for row in ROWS]},
        "arrays": {"t": TIMES, "value": [np.array(row) for row in ROWS]},
        "elements": {"t": TIMES, **apart},
        "rows": [{"t": t, "value": row} for t, row in zip(TIMES, ROWS, strict=True)],
        "pairs": [[t, row] for t, row in zip(TIMES, ROWS, strict=True)],
        "fixed": pa.table({"t": TIMES, "v": fixed}),
        "lists": pa.table({"t": TIMES, "v": lists}),
        "slice": pa.table({"t": [0, *TIMES], "v": pa.concat_arrays([fixed[:1], fixed])})[1:],
        "pandas": pd.DataFrame({"t": TIMES, "v": ROWS}),
        "polars": pl.DataFrame({"t": TIMES, "v": ROWS}),
    }
    for name, table in tables.items():
        assert graph.run({"v": table, "a": A}).digest() == digest, name


def test_columns_are_named_for_a_run(graph, digest):
    array = np.array(ROWS)
    named = {"t": TIMES, "x": array[:, 0], "y": array[:, 1], "z": array[:, 2]}
    columns = {"v": ["x", "y", "z"]}
    assert graph.run({"v": named, "a": A}, inputs=columns).digest() == digest
    lists = {"t": TIMES, "reading": ROWS}
    assert graph.run({"v": lists, "a": A}, inputs={"v": "reading"}).digest() == digest
    with pytest.raises(DataError, match="v has 3 elements, and 2 columns are named"):
        graph.run({"v": named, "a": A}, inputs={"v": ["x", "y"]})


def test_one_table_feeds_all_inputs(graph, digest):
    wide = {"t": TIMES, "v": ROWS, "a": [None, 7.0, 8.0]}
    assert graph.run(wide).digest() == digest
    long = {
        "t": [1, 2, 2, 4, 4],
        "input": ["v", "v", "a", "v", "a"],
        "value": [ROWS[0], ROWS[1], 7.0, ROWS[2], 8.0],
    }
    assert graph.run(long).digest() == digest


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ([[1.0, 2.0]], "RT207", "a vector of 2 elements, where vector\\[3\\] is expected"),
        ([[1.0] * 4], "RT207", "a vector of 4 elements"),
        ([[]], "RT207", "a vector of 0 elements"),
        ([5.0], "RT201", "not a list of 3 numbers"),
        (["abc"], "RT201", "not a list of 3 numbers"),
        ([{"a": 1}], "RT201", "not a list of 3 numbers"),
        ([[1.0, "x", 2.0]], "RT201", "not a number .*column 'v.1'"),
        (np.zeros((1, 2)), "RT207", "a vector of 2 elements"),
        (np.zeros((1, 3, 1)), "RT214", "a column has one dimension"),
        (np.zeros(1), "RT201", "not a list of 3 numbers"),
        (pa.array(["abc"]), "RT220", "lists of 3 numbers are expected"),
    ],
)
def test_what_is_no_vector_is_refused(graph, value, code, message):
    session = graph.start()
    before = session.dump()
    with pytest.raises(DataError, match=message) as caught:
        session.push({"v": {"t": [1], "v": value}})
    assert caught.value.code == code
    assert session.dump() == before


def test_an_array_of_two_dimensions_is_no_column_of_numbers(graph):
    with pytest.raises(DataError, match="a column has one dimension, this array has 2"):
        graph.run({"v": {"t": TIMES, "value": ROWS}, "a": {"t": [1], "value": np.zeros((1, 2))}})


def test_an_absent_element_makes_the_vector_absent(graph):
    session = graph.start()
    rows = [[1.0, None, 3.0], None, [1.0, 2.0, 3.0]]
    result = session.push({"v": {"t": [1, 2, 3], "value": rows}})
    assert result["back"]["t"].tolist() == [3]
    assert session.account()["inputs"]["v"] == {
        "in": 3, "consumed": 1, "held": 0, "lost": {"null": 2},
    }  # fmt: skip


def test_a_row_of_a_wide_table_has_a_vector_where_it_has_an_element(tmp_path):
    text = "inputs:\n  v: {}\n  w: number\noutputs: [v, w]\n"
    lists = {"t": [1, 2, 3], "v": [[1.0, None], None, [1.0, 2.0]], "w": [5.0, 6.0, None]}
    apart = {"t": [1, 2, 3], "v.0": [1.0, None, 1.0], "v.1": [None, None, 2.0], "w": [5, 6, None]}
    file = tmp_path / "rows.csv"
    file.write_text("t,v.0,v.1,w\n1,1,,5\n2,,,6\n3,1,2,\n")
    for kind, line, times in [
        ("vector[2]", {"in": 2, "consumed": 1, "held": 0, "lost": {"null": 1}}, [3]),
        ("vector[2]?", {"in": 2, "consumed": 2, "held": 0, "lost": {}}, [1, 3]),
    ]:
        graph = rtbot.load(text.format(kind))
        assert graph.run(file)["v"]["t"].tolist() == times
        for table in (lists, apart, pa.table(lists)):
            session = graph.start(compiled=False)
            assert session.push(table)["v"]["t"].tolist() == times
            assert session.account()["inputs"]["v"] == line


def test_a_vector_that_may_be_null_is_so_as_a_whole():
    graph = rtbot.load(
        "inputs:\n  v: vector[2]?\noperators: {e: 'coalesce(v.1, 9)'}\noutputs: [v, e]"
    )
    rows = [[1.0, 2.0], None, [None, 3.0]]
    result = graph.run({"v": {"t": [1, 2, 3], "value": rows}})
    assert result["v"]["value_valid"].tolist() == [True, False, False]
    assert np.isnan(result["v"]["value"][1:]).all()
    assert result["e"]["value"].tolist() == [2.0, 9.0, 9.0]
    session = graph.start()
    assert session.push_one("v", 1, None) == {"v": [(1, None)], "e": [(1, 9.0)]}
    assert session.push_one("v", 2, [1.0, 2.0]) == {"v": [(2, [1.0, 2.0])], "e": [(2, 2.0)]}


# ---- messages, dumps, accounts


def test_one_message_after_the_other(graph, digest):
    session, parts = graph.start(), []
    for t, row in zip(TIMES, ROWS, strict=True):
        parts.append(session.push_one("v", t, row))
        session = graph.resume(session.dump())
    assert parts[0] == {"back": [(1, [3.0, 2.0, 1.0])], "first": [(1, 1.0)]}
    assert session.held() == {"both.i1": 3, "pair.i1": 3}
    session.push_one("a", 2, 7.0)
    found = session.push_one("a", 4, 8.0)
    assert found == {"whole": [(4, ROWS[2])], "other": [(4, 8.0)], "pair": [(4, [5.0, 8.0])]}
    assert session.account()["operators"]["both"] == {
        "i1": {"in": 3, "consumed": 3, "held": 0, "lost": {}},
        "i2": {"in": 2, "consumed": 2, "held": 0, "lost": {}},
    }
    assert session.account()["outputs"] == {
        "back": 3, "whole": 3, "other": 3, "first": 3, "pair": 2,
    }  # fmt: skip
    del digest


@pytest.mark.parametrize("value", [(1.0, 2.0, 3.0), [1, 2, 3], np.arange(1.0, 4.0), [1.0, 2, 3.0]])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_message_is_a_list_a_tuple_or_an_array(value, compiled):
    graph = rtbot.load("inputs:\n  v: vector[3]\noperators: {e: v.0 - v.2}\noutputs: [e]")
    assert graph.start(compiled=compiled).push_one("v", 1, value) == {"e": [(1, -2.0)]}


@pytest.mark.parametrize(
    ("value", "code"),
    [([1.0, 2.0], "RT207"), (5.0, "RT201"), ([1.0, None, 2.0], "RT211"), (None, "RT211")],
)
def test_a_message_that_is_no_vector_is_refused(graph, value, code):
    session = graph.start()
    with pytest.raises(DataError) as caught:
        session.push_one("v", 1, value)
    assert caught.value.code == code
    assert session.push_one("v", 1, [1.0, 2.0, 3.0])["first"] == [(1, 1.0)]


def test_keys_are_as_alone():
    graph = rtbot.load(GRAPH)
    keys = ["B", "A", "B", "A", "B", "A"]
    table = {"k": keys, "t": [1, 1, 2, 2, 4, 4], "value": [row for row in ROWS for _ in "AB"]}
    other = {"k": ["A", "B", "B"], "t": [2, 2, 4], "value": [7.0, 7.0, 8.0]}
    result = graph.run({"v": table, "a": other}, key="k")
    alone = graph.run({"v": {"t": TIMES, "value": ROWS}, "a": A})
    own = result["pair"]["k"] == "B"
    assert result["pair"]["value"][own].tolist() == alone["pair"]["value"].tolist()
    session = graph.start(key="k")
    assert session.push_one("v", 1, ROWS[0], key="A")["back"] == [("A", 1, ROWS[0][::-1])]


def test_a_tap_shows_a_vector(graph):
    result = graph.start(tap=["back"]).push({"v": {"t": TIMES, "value": ROWS}})
    assert result["back"]["value"].shape == (3, 3)
    result = graph.start(tap=["both"]).push({"v": {"t": [1], "value": ROWS[:1]}, "a": A})
    assert result["both.o1"]["value"].tolist() == ROWS[:1]


# ---- files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(GRAPH)
    lines = ["t,v.0,v.1,v.2,a", "1,1,2,3,", "2,-0.0,nan,1e300,7", "4,0.1,-inf,5,8"]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    texts = [[1, 2, 3], [-0.0, "nan", 1e300], [0.1, "-inf", 5]]
    more = [{}, {"a": 7}, {"a": 8}]
    rows = [{"t": t, "v": v, **m} for t, v, m in zip(TIMES, texts, more, strict=True)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = pa.table({"t": TIMES, "v": ROWS, "a": [None, 7.0, 8.0]})
    parquet.write_table(table, tmp_path / "d.parquet")
    return tmp_path


@pytest.mark.parametrize("file", ["d.csv", "d.jsonl", "d.parquet"])
def test_files_of_every_format_are_the_same_vectors(folder, graph, digest, file, capsys):
    assert graph.run(str(folder / file)).digest() == digest
    assert run(["run", "g.yaml", file]) == 0
    out = capsys.readouterr().out.splitlines()
    heads = "back.0,back.1,back.2,whole.0,whole.1,whole.2,other,first,pair.0,pair.1"
    assert out[0] == f"t,{heads}"
    assert out[2] == "2,1e+300,nan,-0,-0,nan,1e+300,7,0,1e+300,7"


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow", "csv"])
def test_what_is_written_reads_back(folder, suffix, capsys):
    (folder / "copy.yaml").write_text("inputs:\n  pair: vector[2]\noutputs: [pair]\n")
    assert run(["run", "g.yaml", "d.csv", "--out", f"pair=p.{suffix}"]) == 0
    assert run(["run", "copy.yaml", f"p.{suffix}", "--format", "jsonl", "-o", "q.jsonl"]) == 0
    rows = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert rows == [{"t": 2, "pair": [1e300, 7]}, {"t": 4, "pair": [5, 8]}]
    capsys.readouterr()


def test_columns_of_a_file_are_named(folder, capsys):
    (folder / "x.csv").write_text("t,x,y,z\n1,1,2,3\n")
    named = GRAPH.replace("v: vector[3]", "v: {type: 'vector[3]', io: {columns: [x, y, z]}}")
    (folder / "n.yaml").write_text(named)
    for given in (["g.yaml", "--in", "v=x.csv:x,y,z"], ["n.yaml", "--in", "v=x.csv"]):
        assert run(["run", *given, "--in", "a=d.csv", "--out", "back=b.csv"]) == 0
        assert (folder / "b.csv").read_text() == "t,back.0,back.1,back.2\n1,3,2,1\n"
    assert run(["run", "g.yaml", "--in", "v=x.csv", "--in", "a=d.csv"]) == 4
    assert "name the columns of the elements: --in v=x.csv:" in capsys.readouterr().err
    assert run(["run", "g.yaml", "--in", "v=x.csv:x", "--in", "a=d.csv"]) == 4
    assert run(["run", "g.yaml", "--in", "v=x.csv:x,y", "--in", "a=d.csv"]) == 2
    same = ["run", "g.yaml", "--in", "v=x.csv:x,x,x", "--in", "a=d.csv", "--out", "back=b.csv"]
    assert run(same) == 0
    assert (folder / "b.csv").read_text().endswith("1,1,1,1\n")


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ("[1, 2]", "bad.jsonl:2: error[RT207]: a list of 2 elements, where 3 are expected"),
        ("7", "bad.jsonl:2: error[RT201]: not a list of 3 numbers"),
        ('[1, 2, "x"]', "bad.jsonl:2: error[RT201]: not a number"),
        ('{"x": 1}', "bad.jsonl:2: error[RT201]: this is an object"),
    ],
)
def test_a_line_that_has_no_vector(folder, vector, message, capsys):
    text = f'{{"t": 1, "v": [1, 2, 3]}}\n{{"t": 2, "v": {vector}}}\n'
    (folder / "bad.jsonl").write_text(text)
    assert run(["run", "g.yaml", "--in", "v=bad.jsonl", "--in", "a=d.csv"]) == 4
    error = capsys.readouterr().err
    assert message in error
    assert f"value '{vector}'" in error


@pytest.mark.usefixtures("folder")
def test_lists_of_another_length_in_parquet(capsys):
    parquet.write_table(pa.table({"t": [1, 2], "v": [[1.0] * 3, [1.0]]}), "bad.parquet")
    assert run(["run", "g.yaml", "--in", "v=bad.parquet", "--in", "a=d.csv"]) == 4
    assert "bad.parquet:2: error[RT207]: a vector of 1 element," in capsys.readouterr().err


def test_compare_and_checkpoints_see_vectors(folder, capsys):
    lines = [f"{t},{t},{t + 0.5},{-t},{t % 3 or ''}" for t in range(1, 400)]
    (folder / "m.csv").write_text("t,v.0,v.1,v.2,a\n" + "\n".join(lines) + "\n")
    head = "\n".join(["t,v.0,v.1,v.2,a", *lines[:200]]) + "\n"
    assert run(["run", "g.yaml", "m.csv", "-o", "whole.csv"]) == 0
    (folder / "g.csv").write_text(head)
    keep = ["--checkpoint", "c.bin", "--every", "50"]
    assert run(["run", "g.yaml", "g.csv", "-o", "part.csv", *keep]) == 0
    (folder / "g.csv").write_text((folder / "m.csv").read_text())
    capsys.readouterr()
    assert run(["compare", "g.yaml", "m.csv"]) == 0
    assert "the same bits" in capsys.readouterr().out


# ---- graphs


def test_a_test_of_a_graph_gives_and_expects_vectors(folder, capsys):
    text = (
        GRAPH
        + """tests:
  - name: vectors
    key: [k]
    given: {v: [[A, 1, [1, 2, 3]], [B, 1, [0, 0, nan]]], a: [[A, 1, 5]]}
    expect:
      back: [[A, 1, [3, 2, 1]], [B, 1, [nan, 0, 0]]]
      both.o1: [[A, 1, [1, 2, 3]], [B, 1, [0, 0, nan]]]
      pair.1: [[A, 1, 5]]
      pair: [[A, 1, [3, 5]]]
"""
    )
    (folder / "t.yaml").write_text(text)
    assert run(["test", "t.yaml"]) == 0
    (folder / "t.yaml").write_text(text.replace("[3, 5]", "[3, 6]"))
    assert run(["test", "t.yaml"]) == 1
    assert "[3, 6]" in capsys.readouterr().out
    (folder / "u.yaml").write_text(GRAPH + "tests:\n  - {name: n, given: {v: [[1, [1, 2, 3]]]}}\n")
    assert run(["test", "--update", "u.yaml"]) == 0
    assert "back: [[1, [3, 2, 1]]]" in (folder / "u.yaml").read_text()
    assert run(["test", "u.yaml"]) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("folder")
def test_explain_and_draw_show_a_vector_as_one_stream(graph, capsys):
    assert run(["explain", "g.yaml"]) == 0
    text = capsys.readouterr().out
    assert "i1: vector[3] from v" in text
    assert "o1: vector[3] to output back" in text
    assert "v.0" not in text.replace("v.0 + 0", "").replace("from v.0", "")
    drawn = graph.draw("g.mmd")
    assert "vector#91;3#93;" in drawn
    assert "v.1" not in drawn
    assert repr(graph) == "<Graph graph: v, a -> back, whole, other, first, pair>"


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("v: vector", "RT140", (2, 6), "'vector' is not a vector"),
        ("v: vector[]", "RT140", (2, 6), "is not a vector"),
        ("v: vector[x]", "RT140", (2, 6), "is not a vector"),
        ("v: vector[0]", "RT112", (2, 6), "a vector of 0 elements"),
        ("v: vector[100000]", "RT112", (2, 6), "a vector of 100,000 elements"),
        ("v: {record: {a: 'vector[2]'}}", "RT140", (2, 19), "a vector is no type of a field"),
    ],
)
def test_types_that_are_no_vectors(text, code, place, message):
    with pytest.raises(GraphError) as caught:
        rtbot.load(f"inputs:\n  {text}\noutputs: [v]")
    problem = caught.value.problems[0]
    assert (problem.code, (problem.mark.line, problem.mark.column)) == (code, place)
    assert message in problem.message
    assert problem.hint


@pytest.mark.parametrize(
    ("operator", "code", "message", "hint"),
    [
        ("v + 1", "RT125", "v is vector[3]", "name an element: v.0"),
        ("v", "RT125", "v is vector[3]", "name an element: v.0"),
        ("v.3", "RT121", "v has no element 3", "it is vector[3]: there are v.0 to v.2"),
        ("a.0", "RT121", "a is number, which has no elements", "write a"),
        ("v[0]", "RT130", "'[' is not part", "v.0 is an element of a vector"),
        ("{type: EMA, in: v, window: 3}", "RT125", "takes number", "name an element: v.0"),
        ("{type: Lag, in: v, n: 1}", "RT125", "works on single values", "name an element: v.0"),
        ("{type: VectorExtract, in: a, index: 0}", "RT125", "takes vector", "VectorCompose makes"),
        ("{type: VectorExtract, in: v, index: 3}", "RT125", "no element 3", "0 to 2"),
        ("{type: VectorExtract, in: v, index: -1}", "RT112", "index is -1", ""),
        ("{type: VectorProject, in: v, indices: [0, 5]}", "RT125", "no element 5", "0 to 2"),
        ("{type: VectorProject, in: v, indices: [0.5]}", "RT113", "an element of indices", ""),
        ("{type: VectorProject, in: v, indices: []}", "RT112", "0 elements", "at least 1"),
        ("{type: Merge, in: [v, w]}", "RT125", "vector[2]", "carry one type"),
        ("{type: Merge, in: [v, v], ties: max}", "RT125", "no max of vector", "ties: first"),
        ("{type: VectorCompose, in: [v, a]}", "RT125", "takes number", "name an element: v.0"),
        ("{type: VectorCompose, in: a, numPorts: 2}", "RT116", "num_ports is 2", ""),
    ],
)
def test_what_does_not_work_on_vectors(operator, code, message, hint):
    inputs = "inputs:\n  v: vector[3]\n  w: vector[2]\n  a: number\n"
    with pytest.raises(GraphError) as caught:
        rtbot.load(f"{inputs}operators:\n  m: {operator}\noutputs: [m]")
    problem = caught.value.problems[0]
    assert (problem.code, problem.mark.line) == (code, 6)
    assert message in problem.message
    assert hint in problem.hint


def test_between_braces_the_type_is_quoted():
    with pytest.raises(GraphError, match="between braces the type is quoted"):
        rtbot.load("inputs: {v: vector[3]}\noutputs: [v]")
    assert rtbot.load("inputs: {v: 'vector[3]'}\noutputs: [v]").checked.inputs["v"].type.size == 3


def test_a_graph_of_vectors_is_built_in_python():
    builder = rtbot.Builder("g")
    v = builder.input("v", "vector[3]")
    from rtbot import ops

    pair = ops.VectorCompose(v[0] + v[1], v[2], id="pair")
    builder.output(pair=pair, second=ops.MovingAverage(pair[1], window=2))
    graph = builder.graph()
    result = graph.run({"v": {"t": [1, 2], "value": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}})
    assert result["pair"]["value"].tolist() == [[3.0, 3.0], [9.0, 6.0]]
    assert result["second"]["value"].tolist() == [4.5]
    with pytest.raises(TypeError, match="an element"):
        v["x"]
    with pytest.raises(TypeError, match="is no vector"):
        (v[0] + 1)[0]


def test_a_vector_waits_in_one_queue():
    text = "inputs:\n  v: vector[8]\n  w: vector[8]\n  x: number\noperators:\n"
    text += "  both: {type: Join, in: [v, w]}\n  three: {type: Join, in: [v, x, w]}\n"
    graph = rtbot.load(f"{text}outputs: [both.o1, both.o2, three.o3]")
    session = graph.start(compiled=False)
    values = np.arange(8000.0).reshape(1000, 8)
    session.push({"v": {"t": np.arange(1000), "value": values}})
    assert session.held() == {"both.i1": 1000, "three.i1": 1000}
    both, three = session.runner.pools
    assert [len(pool.blocks) for pool in (both, three)] == [1, 2]
    assert [len(pool.call.ports) for pool in (both, three)] == [2, 3]
    for pool in (both, three):
        assert pool.blocks[0].value.nbytes == 8 * pool.blocks[0].time.nbytes
    session = graph.resume(session.dump(), compiled=False)
    rest = session.push({"w": {"t": np.arange(0, 1000, 2), "value": -values[::2]}})
    assert (rest["both_o1"]["value"] == values[::2]).all()
    assert (rest["both_o2"]["value"] == -values[::2]).all()


def test_a_wide_vector_goes_through():
    graph = rtbot.load("inputs:\n  v: vector[1000]\noutputs: [v]")
    values = np.arange(3000.0).reshape(3, 1000)
    result = graph.start(compiled=False).push({"v": {"t": [1, 2, 3], "value": values}})
    assert (result["v"]["value"] == values).all()
