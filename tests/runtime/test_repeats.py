"""Streams with several messages of one time: what may read them, and what is made of them."""

import re

import pytest

import rtbot
from rtbot.cli.main import run

BEST = """
inputs: {score: integer, item: text}
operators:
  best: {type: TopK, in: [score, item], k: 2}
  double: best.o1 * 2
  large: {type: GreaterThan, in: best.o1, value: 5}
  mean: {type: MovingAverage, in: best.o1, window: 2}
outputs: {score: best.o1, item: best.o2, double: double, large: large, mean: mean}
"""
ROWS = {
    "score": {"t": [1, 2, 3], "value": [5, 7, 6]},
    "item": {"t": [1, 2, 3], "value": ["a", "b", "c"]},
}
SCORES = [(1, 5), (2, 7), (2, 5), (3, 7), (3, 6)]
ITEMS = [(1, "a"), (2, "b"), (2, "a"), (3, "b"), (3, "c")]
LARGE = [(2, 7), (3, 7), (3, 6)]
MEANS = [(2, 6.0), (2, 6.0), (3, 6.0), (3, 6.5)]
READ = ["score", "item", "double", "large", "mean"]


def rows_of(table):
    return list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def test_expressions_filters_and_windows_read_message_by_message():
    result = rtbot.load(BEST).run(ROWS)
    found = {name: rows_of(result[name]) for name in READ}
    doubles = [(time, 2 * score) for time, score in SCORES]
    assert [*found.values()] == [SCORES, ITEMS, doubles, LARGE, MEANS]


def test_push_one_gives_all_of_them_in_order():
    session = rtbot.load(BEST).start(key="k")
    session.push_one("score", 1, 5, key="x")
    assert session.push_one("item", 1, "a", key="x")["score"] == [("x", 1, 5)]
    session.push_one("score", 2, 7, key="x")
    found = session.push_one("item", 2, "b", key="x")
    assert found["score"] == [("x", 2, 7), ("x", 2, 5)]
    assert found["item"] == [("x", 2, "b"), ("x", 2, "a")]


def test_a_wide_table_has_the_nth_message_of_a_time_in_the_nth_of_its_rows():
    table = rtbot.load(BEST).run(ROWS).to_arrow()
    assert table.select(["t", "score", "item", "large"]).to_pylist() == [
        {"t": t, "score": score, "item": item, "large": large}
        for (t, score), (_, item), large in zip(SCORES, ITEMS, [None, 7, None, 7, 6], strict=True)
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("keyed", [False, True])
def test_files_have_a_row_for_each_message(tmp_path, monkeypatch, form, keyed):
    monkeypatch.chdir(tmp_path)
    graph = BEST.split("  double", maxsplit=1)[0] + "outputs: {score: best.o1, item: best.o2}\n"
    (tmp_path / "best.yaml").write_text(graph)
    rows = [(t, key, s, i) for key in "yx"[: 1 + keyed] for t, s, i in ((1, 5, "a"), (2, 7, "b"))]
    text = "".join(f"{t},{key},{score},{item}\n" for t, key, score, item in rows)
    (tmp_path / "rows.csv").write_text("t,key,score,item\n" + text)
    more = ["--key", "key"] if keyed else []
    assert run(["run", "best.yaml", "rows.csv", "-o", f"out.{form}", *more]) == 0
    table = rtbot_table(f"out.{form}")
    assert [(row["t"], row["score"], row["item"]) for row in table] == [
        (1, 5, "a"), (2, 7, "b"), (2, 5, "a")
    ] * (1 + keyed)  # fmt: skip


def rtbot_table(path):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    if path.endswith("csv"):
        return pa.csv.read_csv(path).to_pylist()
    if path.endswith("jsonl"):
        return pa.json.read_json(path).to_pylist()
    if path.endswith("parquet"):
        return pa.parquet.read_table(path).to_pylist()
    with pa.ipc.open_file(path) as file:
        return file.read_all().to_pylist()


@pytest.mark.parametrize(
    ("operator", "port"),
    [
        ("{type: Join, in: [best.o1, score]}", "i1"),
        ("{type: Merge, in: [score, best.o1]}", "i2"),
        ("{type: Variable, in: score, control: best.o1}", "c1"),
        ("{type: TimeShift, in: best.o1, shift: 1}", "i1"),
        ("{type: TopK, in: best.o1, k: 1}", "i1"),
        ("best.o1 + score", "i1"),
    ],
)
def test_what_pairs_streams_refuses_them_with_the_place(operator, port):
    text = BEST.replace("outputs:", f"  bad: {operator}\noutputs:")
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(text)
    problem = caught.value.problems[0]
    assert problem.code == "RT125"
    assert re.search(rf"bad\.{port} takes one message of each time, .* from best$", problem.message)
    assert problem.mark.line == 8
    assert len(caught.value.problems) == 1


def test_changes_are_not_made_of_them():
    text = BEST.replace(
        "outputs: {", "  bad: {type: ToChanges, in: best.o1, mode: append}\noutputs: {bad: bad, "
    )
    with pytest.raises(rtbot.GraphError, match=r"bad\.i1 takes one message of each time"):
        rtbot.load(text)


def test_a_score_is_a_number_and_one_of_the_ports():
    with pytest.raises(rtbot.GraphError, match="a score is a number, not text"):
        rtbot.load(BEST.replace("k: 2", "k: 2, score_index: 1"))
    with pytest.raises(rtbot.GraphError, match="score_index is 2, its values are numbered 0 to 1"):
        rtbot.load(BEST.replace("k: 2", "k: 2, score_index: 2"))


def test_ties_and_nan():
    nan = float("nan")
    text = """
inputs: {x: number}
operators: {b: {type: TopK, in: [x, n], k: 3%s}, n: {type: Count, in: x}}
outputs: {n: b.o2}
"""
    values = [nan, 1.0, 1.0, nan, 0.0, -0.0]
    rows = {"x": {"t": list(range(6)), "value": values}}
    most = rows_of(rtbot.load(text % "").run(rows)["n"])
    assert [n for t, n in most if t == 5] == [3, 2, 6]
    least = rows_of(rtbot.load(text % ", descending: false").run(rows)["n"])
    assert [n for t, n in least if t == 5] == [6, 5, 3]
    assert [n for t, n in least if t == 3] == [3, 2, 4]
