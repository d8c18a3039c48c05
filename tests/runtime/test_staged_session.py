"""Sessions of graphs with change streams: any way to push the same rows gives the same bytes."""

import pickle
import random

import numpy as np
import pytest

import rtbot
from rtbot.core.errors import CheckpointError, DataError, GraphError, QueueFull, StateError

GRAPH = """
inputs:
  orders: {changes: {id: integer, cust: integer, amount: number?}, unique: [id]}
  more: {changes: {id: integer, cust: integer, amount: number?}}
  names: {changes: {cust: integer, name: text?}, io: {lateness: 3}}
  price: number
operators:
  all: {type: Union, in: [orders, more], all: true}
  big: {type: Where, in: all, condition: amount > 1 or amount is null}
  net: {type: Select, in: big, fields: {cust: cust, net: amount * 0.5}}
  per: {type: GroupBy, in: net, by: [cust], compute: {n: count(), total: sum(net + 1)}}
  one: {type: GroupBy, in: net, by: [], compute: {n: count(), total: sum(net)}}
  line: {type: ToSeries, in: one, field: total}
  twice: coalesce(line, 0) + price
  rows: {type: ToChanges, in: price, mode: latest}
  back: {type: ToChanges, in: twice, mode: append}
  both: {type: Union, in: [rows, back]}
  seen: {type: Distinct, in: names}
outputs: {per: per, one: one, twice: twice, both: both, seen: seen, price: price}
"""
PLAIN = """
inputs:
  orders: {changes: {id: integer, amount: number?}}
  others: {changes: {id: integer, amount: number?}}
operators:
  all: {type: Union, in: [orders, others], all: true}
  per: {type: GroupBy, in: all, by: [id], compute: {n: count(), total: sum(amount)}}
outputs: {per: per}
"""


def graph(text=GRAPH, **io):
    return rtbot.load(text + (f"io: {io}\n".replace("'", "") if io else ""))


def make_rows(seed, count=25):
    """Rows of all inputs of GRAPH, (t, weight, row) or (t, value), in the order of their times."""
    chance = random.Random(seed)
    live, rows = [], {"orders": [], "more": [], "names": [], "price": []}
    times = [sorted(chance.choices(range(count), k=count)) for _ in range(3)]
    for t in times[0]:
        row = {"id": chance.randrange(4), "cust": chance.randrange(3)}
        amount = chance.choice([None, 0.5, 2.0, float("nan"), -0.0, 7.25])
        put = {"id": row["id"], "cust": row["id"] % 3, "amount": amount}
        used = {(at, one["id"]) for at, weight, one in rows["orders"] if weight > 0}
        weight = -1 if (t, row["id"]) in used else chance.choice([1, 1, -1])
        rows["orders"].append((t, weight, put))
    for t in times[1]:
        if live and chance.random() < 0.4:
            rows["more"].append((t, -1, live.pop(chance.randrange(len(live)))))
        else:
            row = {"id": chance.randrange(3), "cust": chance.randrange(3), "amount": 3.5}
            live.append(row)
            rows["more"].append((t, 1, row))
    for t in times[2]:
        name = chance.choice(["a", "b", None, "ü"])
        rows["names"].append((t, 1, {"cust": chance.randrange(2), "name": name}))
    rows["price"] = [(t, chance.random()) for t in sorted(chance.sample(range(count), 9))]
    return rows


def table_of(name, rows):
    if name != "price":
        return [list(row) for row in rows]
    return {"t": [t for t, _ in rows], "value": [v for _, v in rows]}


def push_pieces(session, rows, chance, result):
    """Push rows in pieces of random sizes, inputs in any order."""
    left = {name: list(found) for name, found in rows.items()}
    while any(left.values()):
        chosen = [n for n in left if left[n] and chance.random() < 0.6]
        pieces = {}
        for name in chosen:
            size = chance.randrange(1, 6)
            pieces[name] = table_of(name, left[name][:size])
            left[name] = left[name][size:]
        result.append(session.push(pieces))


def finish(session, parts):
    parts.append(session.finish())
    return rtbot.runtime.result.merge_results(parts).digest()


def run_whole(rows, loaded=None):
    session = (loaded or graph()).start(compiled=False)
    parts = [session.push({name: table_of(name, found) for name, found in rows.items()})]
    return finish(session, parts), session.account()


@pytest.mark.parametrize("seed", range(4))
def test_any_cut_and_any_interleaving_of_pushes_give_the_same_bytes(seed):
    rows = make_rows(seed)
    wanted, account = run_whole(rows)
    for trial in range(3):
        session, parts = graph().start(compiled=False), []
        push_pieces(session, rows, random.Random(100 * seed + trial), parts)
        assert finish(session, parts) == wanted
        assert session.account() == account


@pytest.mark.parametrize("seed", range(3))
def test_messages_one_by_one_give_the_same_rows(seed):
    rows = make_rows(seed, 12)
    whole = graph().start(compiled=False)
    wanted = whole._list_rows(whole.push({n: table_of(n, found) for n, found in rows.items()}))
    session, found = graph().start(compiled=False), {}
    flat = [(row[0], name, row) for name, ones in rows.items() for row in ones]
    random.Random(seed).shuffle(flat)
    for _, name, row in sorted(flat, key=lambda one: one[0]):
        out = (
            session.push_one(name, *row)
            if name == "price"
            else session.push_one(name, row[0], row[2], row[1])
        )
        for output, ones in out.items():
            found.setdefault(output, []).extend(ones)
    assert repr(found) == repr({n: found[n] for n in found}) != ""
    assert {n: repr(r) for n, r in found.items()} == {n: repr(r) for n, r in wanted.items()}


@pytest.mark.parametrize("seed", range(2))
def test_a_session_goes_on_from_a_dump_at_every_boundary(seed):
    rows, loaded = make_rows(seed, 12), graph()
    wanted, account = run_whole(rows, loaded)
    session, parts = loaded.start(compiled=False), []
    left = {name: list(found) for name, found in rows.items()}
    while any(left.values()):
        for name in left:
            parts.append(session.push({name: table_of(name, left[name][:3])}))
            left[name] = left[name][3:]
            blob = session.dump()
            session = loaded.resume(blob, compiled=False)
            assert session.dump() == blob
    assert finish(session, parts) == wanted
    assert session.account() == account
    assert loaded.resume(session.dump()).finished


def test_advancing_changes_when_rows_come_and_nothing_else():
    rows = make_rows(5)
    wanted, _ = run_whole(rows)
    session, parts = graph().start(compiled=False), []
    for until in range(25):
        for name, found in rows.items():
            now = [row for row in found if row[0] == until]
            parts.append(session.push({name: table_of(name, now)} if now else {}))
        parts.append(session.advance(until))
        assert session.frontier() == until
    assert finish(session, parts) == wanted


# ---- bad transactions


def order(t, weight, id_, amount=1.0):
    return [t, weight, {"id": id_, "amount": amount}]


def test_a_bad_transaction_is_an_error_behind_what_precedes_it():
    session = graph(PLAIN).start(compiled=False)
    rows = [order(1, 1, 7), order(2, -1, 8), order(2, 1, 9), order(3, 1, 7)]
    with pytest.raises(DataError) as caught:
        session.push({"orders": rows, "others": [order(9, 1, 5)]})
    error = caught.value
    assert (error.code, error.input, error.time) == ("RT401", "orders", 2)
    assert error.value == {"id": 8, "amount": 1.0}
    assert error.output["per"]["t"].tolist() == [1]
    assert session.frontier() == 2
    assert session.push({})["per"]["t"].tolist() == []
    assert session.advance(3)["per"]["n"].tolist() == [1, 2]
    assert session.finish()["per"]["t"].tolist() == [9]
    lost = session.account()["inputs"]["orders"]
    assert lost == {"in": 4, "consumed": 2, "held": 0, "lost": {"discarded": 2}}


TWO_REGIONS = """
inputs: {a: {changes: {k: integer}}, b: {changes: {k: integer}}}
operators: {x: {type: Distinct, in: a}, y: {type: Distinct, in: b}}
outputs: [x, y]
"""


@pytest.mark.parametrize("cuts", [(), (4,), (9,), (1, 2, 3, 4, 5, 6, 7, 8, 9)])
def test_the_first_bad_transaction_of_all_regions_is_named_first(cuts):
    rows = {
        "a": [[1, 1, {"k": 1}], [3, 1, {"k": 3}], [8, -1, {"k": 8}], [9, 1, {"k": 9}]],
        "b": [[1, 1, {"k": 1}], [3, -1, {"k": 3}], [8, -1, {"k": 8}], [9, -1, {"k": 1}]],
    }
    session, named, found = graph(TWO_REGIONS).start(), [], {"x": [], "y": []}

    def cut(every, low, high):
        return [row for row in every if low < row[0] <= high]

    def call(function, *arguments):
        while True:
            try:
                tables, done = function(*arguments), True
            except DataError as error:
                named.append((error.input, error.time))
                tables, done, function, arguments = error.output, False, session.push, ({},)
            for name, table in tables.items():
                found[name] += zip(table["t"], table["weight"], table["k"], strict=True)
            if done:
                return

    for low, high in zip((0, *cuts), (*cuts, 10), strict=True):
        part = {
            name: [row for row in every if low < row[0] <= high] for name, every in rows.items()
        }
        call(session.push, part)
    call(session.finish)
    assert named == [("b", 3), ("a", 8), ("b", 8)]
    assert found == {"x": [(1, 1, 1), (3, 1, 3), (9, 1, 9)], "y": [(1, 1, 1), (9, -1, 1)]}
    assert session.account()["inputs"]["b"]["lost"] == {"discarded": 2}


def test_bad_transactions_are_discarded_where_that_is_wanted():
    loaded = graph(PLAIN, on_bad_transaction="discard")
    rows = [order(1, 1, 7), order(2, -1, 8), order(3, -1, 9), order(4, 1, 7)]
    session = loaded.start(compiled=False)
    tables = [session.push({"orders": rows, "others": []}), session.finish()]
    assert [t for table in tables for t in table["per"]["t"].tolist()] == [1, 4, 4]
    assert session.account()["inputs"]["orders"]["lost"] == {"discarded": 2}


def test_finish_goes_on_behind_a_bad_transaction_when_it_is_called_again():
    session = graph(PLAIN).start(compiled=False)
    session.push({"orders": [order(1, -1, 8), order(2, 1, 7), order(3, -1, 1), order(4, 1, 7)]})
    for time in (1, 3):
        with pytest.raises(DataError) as caught:
            session.finish()
        assert caught.value.time == time
        blob = session.dump()
        session = graph(PLAIN).resume(blob, compiled=False)
        with pytest.raises(StateError, match="being finished"):
            session.push({"orders": [order(9, 1, 1)]})
    assert session.finish()["per"]["t"].tolist() == [4, 4]
    assert session.finished


def test_excess_may_be_ignored_and_is_counted():
    result = graph(PLAIN, excess="ignore").start(compiled=False)
    result.push({"orders": [order(1, -2, 8)]})
    result.finish()
    assert result.account()["inputs"]["orders"]["lost"] == {"excess": 1}


# ---- the edge


@pytest.mark.parametrize(
    ("tables", "code"),
    [
        ({"orders": [order(5, 1, 1)], "others": [order(2, 1, 1)]}, "RT202"),
        ({"orders": [order(5, 1, 1), order(4, 1, 1)]}, "RT202"),
        ({"orders": [order(5, 1, 1)], "others": [order(5, 0, 1)]}, "RT201"),
        ({"orders": [order(5, 1, 1)], "others": [order(5, 1, None)]}, "RT211"),
        ({"orders": [order(5, 1, 1)], "other": []}, "RT206"),
    ],
)
def test_a_push_is_refused_as_a_whole(tables, code):
    session = graph(PLAIN).start(compiled=False)
    session.push({"orders": [order(1, 1, 7)], "others": [order(3, 1, 7)]})
    before = session.dump()
    with pytest.raises(DataError) as caught:
        session.push(tables)
    assert caught.value.code == code
    assert session.dump() == before


def test_texts_of_a_refused_push_are_forgotten():
    text = "inputs: {a: {changes: {s: text}}, b: {changes: {s: text}}}\n"
    text += "operators: {u: {type: Union, in: [a, b]}}\noutputs: [u]\n"
    session = rtbot.load(text).start(compiled=False)
    session.push({"a": [[1, 1, {"s": "x"}]]})
    with pytest.raises(DataError):
        session.push({"a": [[2, 1, {"s": "y"}]], "b": [[2, 0, {"s": "z"}]]})
    assert session.texts.values == ["x"]


def test_an_input_that_is_too_far_ahead_is_refused():
    session = graph(PLAIN).start(compiled=False, queue_limit=2)
    session.push({"orders": [order(1, 1, 1), order(2, 1, 1), order(3, 1, 1)]})
    with pytest.raises(QueueFull) as caught:
        session.push({"orders": [order(4, 1, 1)]})
    assert (caught.value.input, caught.value.rows) == ("others", 3)
    session.push({"orders": [order(4, 1, 1)], "others": [order(4, 1, 1)]})
    assert session.held() == {"orders": 1, "others": 1}


def test_calls_that_change_streams_have_not():
    session = graph(PLAIN).start(compiled=False)
    with pytest.raises(StateError, match="closes no key"):
        session.close_key(("a",))
    with pytest.raises(StateError, match="key is for series"):
        graph(PLAIN).start("id")
    with pytest.raises(DataError, match="no input"):
        session.push_one("order", 1, {})
    with pytest.raises(DataError, match="no field 'ammount'"):
        session.push_one("orders", 1, {"id": 1, "ammount": 2})
    with pytest.raises(GraphError, match="late: drop"):
        graph(PLAIN).start(late="drop")
    session.finish()
    with pytest.raises(StateError, match="finished"):
        session.push({})


def test_a_dump_of_another_graph_is_refused():
    blob = graph(PLAIN).start(compiled=False).dump()
    with pytest.raises(CheckpointError, match="another graph"):
        rtbot.load(PLAIN.replace("sum(", "min(")).resume(blob)
    series = rtbot.load("inputs: {a: number}\noutputs: [a]\n")
    with pytest.raises(CheckpointError, match="another graph"):
        series.resume(blob)
    with pytest.raises(CheckpointError, match="another graph"):
        graph(PLAIN).resume(series.start(compiled=False).dump())
    with pytest.raises(CheckpointError):
        graph(PLAIN).resume(blob[:-1] + b"x")


def test_a_plan_runs_where_no_operator_is_known():
    rows = make_rows(3)
    wanted, _ = run_whole(rows)
    assert run_whole(rows, pickle.loads(pickle.dumps(graph())))[0] == wanted  # noqa: S301


# ---- results


def test_tables_have_the_fields_and_names_that_do_not_clash():
    text = "inputs: {a: {changes: {t: integer, weight: number?, op: text?}}}\noutputs: [a]\n"
    one, two = {"t": 5, "weight": None, "op": "x"}, {"t": 4, "weight": 2.0, "op": None}
    rows = [[1, 1, one], [1, 2, two]]
    result = rtbot.load(text).run({"a": rows}, compiled=False)
    table = result["a"]
    names = ["_t", "_weight", "t", "weight", "weight_valid", "op", "op_valid"]
    assert list(table) == names
    assert table["_weight"].tolist() == [2, 1]
    assert table["weight_valid"].tolist() == [True, False]
    arrow = result.to_arrow("a")
    assert arrow.column_names == ["_t", "_weight", "t", "weight", "op"]
    assert arrow.to_pylist()[0] == {"_t": 1, "_weight": 2, "t": 4, "weight": 2.0, "op": None}
    assert rtbot.load(text).run({"a": arrow}, compiled=False).digest() == result.digest()
    assert rtbot.load(text).run({"a": dict(table)}, compiled=False).digest() == result.digest()
    assert "2 rows" in repr(result)
    assert "<svg" in result._repr_mimebundle_()["text/html"]


def test_several_outputs_have_no_table_together():
    rows = {name: table_of(name, found) for name, found in make_rows(1).items()}
    result = graph().run(rows, compiled=False)
    with pytest.raises(DataError, match="table of their own"):
        result.to_arrow()
    assert result.to_arrow("twice").column_names == ["t", "twice"]
    assert result.to_pandas("per").columns.tolist()[:3] == ["t", "weight", "cust"]


def test_released_tables_are_passed_on():
    session, seen = graph(PLAIN).start(compiled=False), []
    session.on("per", lambda table: seen.append(table["t"].tolist()))
    session.push({"orders": [order(1, 1, 1)]})
    assert seen == []
    session.advance(1)
    assert seen == [[1]]
    with pytest.raises(DataError, match="no output"):
        session.on("pre", print)


def test_a_tap_shows_an_operator():
    session = graph(PLAIN).start(compiled=False, tap=["all"])
    session.push({"orders": [order(1, 1, 1)]})
    assert session.finish()["all"]["id"].tolist() == [1]


def test_times_come_out_as_they_came_in():
    text = PLAIN + "io: {unit: s}\n"
    stamps = np.array(["2024-01-01T00:00:00", "2024-01-01T00:00:01"], "M8[s]")
    table = {"t": stamps, "id": [1, 1], "amount": [1.0, 2.0]}
    result = rtbot.load(text).run({"orders": table, "others": []}, compiled=False)
    assert str(result.to_arrow("per").schema.field("t").type) == "timestamp[s]"


# ---- keyed series beside changes


KEYED = """
inputs: {price: number}
operators:
  rows: {type: ToChanges, in: price, mode: MODE}
  per: {type: GroupBy, in: rows, by: [sym], compute: {last: max(value)}}
  line: {type: ToSeries, in: per, field: last}
  twice: coalesce(line, 0) * 2
  all: {type: GroupBy, in: rows, by: [], compute: {n: count()}}
outputs: {rows: rows, twice: twice, all: all}
io: {key: {sym: text}}
"""


@pytest.mark.parametrize("mode", ["append", "latest"])
def test_key_columns_come_first_and_are_taken_off_again(mode):
    loaded = rtbot.load(KEYED.replace("MODE", mode))
    table = {"sym": ["a", "b", "a", None], "t": [1, 1, 2, 2], "value": [1.0, 2.0, 3.0, 4.0]}
    session = loaded.start(compiled=False)
    assert not len(session.push({"price": table})["rows"]["t"])
    result = session.advance(2)
    assert (
        result["rows"]["sym"].tolist()
        == {
            "append": ["a", "b", "a", None],
            "latest": ["a", "b", "a", "a", None],
        }[mode]
    )
    twice = result["twice"]
    assert list(zip(twice["sym"], twice["t"], twice["value"], strict=True)) == [
        ("a", 1, 2.0),
        ("a", 2, 6.0),
        ("b", 1, 4.0),
        (None, 2, 8.0),
    ]
    session = loaded.resume(session.dump(), compiled=False)
    out = session.push_one("price", 5, 9.0, key="b")
    assert out == {}
    assert ("b", 5, 18.0) in session._list_rows(session.finish())["twice"]


def test_keys_of_another_type_are_refused_before_anything_happens():
    session = rtbot.load(KEYED.replace("MODE", "latest")).start(compiled=False)
    before = session.dump()
    with pytest.raises(DataError) as caught:
        session.push({"price": {"sym": [1], "t": [1], "value": [1.0]}})
    assert caught.value.code == "RT212"
    assert session.dump() == before


def test_a_series_has_one_row_at_a_time():
    text = "inputs: {a: {changes: {x: number}}}\n"
    text += "operators: {line: {type: ToSeries, in: a, field: x}}\noutputs: [line]\n"
    session = rtbot.load(text).start(compiled=False)
    rows = [[1, 1, {"x": 1}], [2, 1, {"x": 2}], [3, -1, {"x": 1}], [3, 1, {"x": 3}]]
    with pytest.raises(DataError) as caught:
        session.push({"a": rows})
    assert (caught.value.code, caught.value.time) == ("RT407", 2)
    assert session.advance(9)["line"]["t"].tolist() == [3]
    session.push({"a": [[10, -1, {"x": 3}]]})
    line = session.finish()["line"]
    assert line["value_valid"].tolist() == [False]


def test_the_row_over_nothing_comes_one_before_the_first_transaction():
    graph = rtbot.load("""
    inputs: {rows: {changes: {x: integer}}}
    operators: {all: {type: GroupBy, in: rows, by: [], compute: {n: count(), sum: sum(x)}}}
    outputs: [all]
    """)
    table = graph.run({"rows": [[5, 1, {"x": 2}], [7, -1, {"x": 2}]]})["all"]
    columns = (table[name].tolist() for name in ("t", "weight", "n", "sum_valid"))
    assert list(zip(*columns, strict=True)) == [
        (4, 1, 0, False),
        (5, -1, 0, False),
        (5, 1, 1, True),
        (7, -1, 1, True),
        (7, 1, 0, False),
    ]
