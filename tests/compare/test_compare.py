"""`rtbot compare`: agreement over every way, digests, and differences made small."""

import hashlib
import json
import math
import random
import struct

import numpy as np
import pytest

import rtbot
from rtbot.api import Graph
from rtbot.compare import ComparisonOptions, save
from rtbot.compare.canonical_outputs import format_row
from rtbot.compare.column_variants import COLUMN_VARIANTS, narrow_column
from rtbot.compare.data import Data, PushCollector
from rtbot.compare.schedules import Row, ScheduleMix, insert_some_dumps, interleave_rows, schedule
from rtbot.compare.shrink import list_kept_parts, shrink_case, simplify_steps
from rtbot.compare.variants import format_step
from rtbot.runtime.result import Result
from rtbot.runtime.session import Session
from rtbot.runtime.staged_session import StagedSession
from rtbot.tables import Columns, TableSpec, to_columns
from rtbot.tables.string_dictionary import StringDictionary
from tests import comparisons

PAIRED = {
    "inputs": {"a": "number", "b": "number?"},
    "operators": {
        "pair": {"type": "Join", "in": ["a", "b"], "how": "left"},
        "mean": {"type": "MovingAverage", "in": "pair.o1", "window": 2},
        "rest": "coalesce(pair.o2, 0) - mean",
    },
    "outputs": {"mean": "mean", "rest": "rest", "other": "pair.o2"},
}
LINES = [
    (key, time, name, value)
    for key in ("A", None, "é")
    for time in range(1, 6)
    for name, value in (("a", time / 3), ("b", None if time % 3 == 0 else -0.0 * time))
    if time % 5 or name == "a"
]


pytestmark = pytest.mark.usefixtures("own_folder")


def long_table(lines=LINES):
    names = ("k", "t", "input", "value")
    return dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))


def compared(document=PAIRED, data=None, key="k", **wish):
    """The agreement over a table, by default keyed."""
    wish = {"runs": 2} | wish
    return rtbot.load(document).compare(long_table() if data is None else data, key, **wish)


# ---- agreement


def test_every_way_gives_the_same_bits(monkeypatch):
    monkeypatch.delenv("RTBOT_INTERPRET")
    agreement = compared()
    assert agreement.same
    assert [(one.way, one.runs, one.rows) for one in agreement.outcomes] == [
        ("as rtbot run reads it", 1, len(LINES)),
        ("random batches", 2, len(LINES)),
        ("advanced, keys closed", 2, len(LINES)),
        ("saved and resumed", 2, len(LINES)),
        ("one message at a time", 2, len(LINES)),
        ("interpreted", 1, len(LINES)),
        ("other column types", 3, len(LINES)),
        ("every key alone", 1, len(LINES)),
    ]
    assert agreement.left_out == ("Spark: it was not asked for",)
    assert agreement.found is None


@pytest.mark.parametrize("number", range(12))
def test_random_graphs_agree(number, capfd):
    assert comparisons.first_difference([f"agree/{number}"]) is None
    capfd.readouterr()


def test_digests_are_those_of_a_run_in_any_batches():
    graph = rtbot.load(PAIRED)
    agreement = compared()
    whole = graph.run(long_table(), key="k")
    assert {name: hexed for name, (_, hexed) in agreement.outputs.items()} == whole.digest()
    assert {name: rows for name, (rows, _) in agreement.outputs.items()} == {
        name: len(table["t"]) for name, table in whole.items()
    }


def test_what_is_not_compared_is_said():
    agreement = compared(data={"t": [1, 2, 3], "a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}, key=())
    assert agreement.left_out == (
        "compiled code: RTBOT_INTERPRET is set",
        "every key alone: the run has no key",
        "Spark: it was not asked for",
    )


def test_slow_ways_take_the_first_rows_and_say_so():
    agreement = compared(rows=7, keys=2)
    notes = {one.way: (one.rows, one.note) for one in agreement.outcomes if one.note}
    assert notes == {
        "one message at a time": (7, f"the first of {len(LINES)}"),
        "other column types": (7, f"the first of {len(LINES)}"),
        "every key alone": (notes["every key alone"][0], "2 of 3 keys"),
    }
    assert f"the first of {len(LINES)}" in str(agreement)
    assert agreement.same


def test_the_seed_decides_what_is_random():
    data = Data.of(
        {"a": to_columns({"t": range(20), "value": [1.0] * 20}, TableSpec("a", "number"))}, ()
    )
    from rtbot.compare.variants import list_variants

    def steps(seed):
        return [
            attempt.to_json()
            for way in list_variants(data, ComparisonOptions(seed=seed, runs=2), interprets=True)
            for attempt in way.attempts
        ]

    assert steps(1) == steps(1)
    assert steps(1) != steps(2)


# ---- digests


def table_of(values, valid=None, **keys):
    value = np.array(values)
    if isinstance(values[0], str) or None in values:
        value = np.array(values, object)
    table = {name: np.array(cells, object) for name, cells in keys.items()}
    table |= {"t": np.arange(1, len(values) + 1), "value": value}
    return table | ({} if valid is None else {"value_valid": np.array(valid)})


def digest_of(*arguments, **keys):
    return Result({"o": table_of(*arguments, **keys)}, tuple(keys)).digest()["o"]


def test_a_digest_is_what_its_description_says():
    content = b"rtbot digest 1\n" + struct.pack("<QQ", 1, 2)
    content += bytes([4, 0]) + struct.pack("<Q", 2) + "é".encode()  # the key: é and null
    content += bytes([2, 2]) + struct.pack("<qq", 1, 2)  # t
    content += bytes([1, 0]) + struct.pack("<d", -0.0)  # the value: -0.0 and null
    found = digest_of([-0.0, math.nan], [True, False], k=["é", None])
    assert found == hashlib.sha256(content).hexdigest()
    assert found.startswith("3ab14e479e0b02e2")  # on every machine


DIFFERENT = [
    [0.0, 1.0],
    [-0.0, 1.0],
    [0, 1],
    [False, True],
    ["0", "1"],
    ["01", ""],
    ["", "01"],
    [0.0],
    [math.nan, 1.0],
    [-math.nan, 1.0],
    [struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0], 1.0],
    [math.inf, 1.0],
]


def test_digests_differ_where_a_bit_does():
    found = [digest_of(values) for values in DIFFERENT]
    found += [digest_of([0.0, 1.0], [True, False]), digest_of([0.0, 1.0], k=[0, 0])]
    found += [digest_of([0.0, 1.0], k=["0", "0"]), digest_of([0.0, 1.0], k=[None, "0"])]
    assert len(set(found)) == len(DIFFERENT) + 4


def test_a_digest_does_not_look_at_cells_that_are_null():
    assert digest_of([5.0, 1.0], [False, True]) == digest_of([7.0, 1.0], [False, True])
    assert digest_of([5.0, 1.0], [True, True]) == digest_of([5.0, 1.0])


# ---- differences


def last_row_lost(session, tables):
    """A batch of more than four rows loses one."""
    if sum(map(len, tables.values())) > 4:
        name = max(tables)
        rows = np.arange(len(tables[name]) - 1)
        keys = tuple(key[rows] for key in tables[name].keys)
        table = tables[name]
        valid = None if table.valid is None else table.valid[rows]
        cut = Columns(table.time[rows], table.value[rows], valid, keys)
        tables = {**tables, name: cut}
    return PUSH(session, tables)


def one_bit_off(session, name, time, value, **key):
    """A message alone has another last bit."""
    return PUSH_ONE(
        session, name, time, value if value is None else math.nextafter(value, 9), **key
    )


def forgetting(graph, blob, **options):
    """A resumed session that has forgotten everything."""
    del blob
    return graph.start("k", queue_limit=1 << 62, **options)


def closing_nothing(session, key):
    """A closed key does not release what it has."""
    CLOSE_KEY(session, key)
    return session.push({})


def silent_end(session):
    """A session without keys releases nothing at its end."""
    found = FINISH(session)
    return found if session.key else Result(dict.fromkeys(found, EMPTY), (), None)


EMPTY = {"t": np.zeros(0, np.int64), "value": np.zeros(0), "value_valid": np.zeros(0, bool)}
PUSH, PUSH_ONE, CLOSE_KEY = Session._push, Session.push_one, Session.close_key
FINISH = Session.finish
BROKEN = [
    (Session, "_push", last_row_lost, "random batches", 5),
    (Session, "push_one", one_bit_off, "one message at a time", 2),
    (Graph, "resume", forgetting, "saved and resumed", 2),
    (Session, "close_key", closing_nothing, "advanced, keys closed", 2),
    (Session, "finish", silent_end, "every key alone", 2),
]


@pytest.mark.parametrize(("owner", "name", "broken", "way", "most"), BROKEN)
def test_a_difference_is_found_and_made_small(monkeypatch, owner, name, broken, way, most):
    monkeypatch.setattr(owner, name, broken)
    agreement = compared()
    assert not agreement.same
    assert agreement.found.way == way
    assert agreement.found.settled
    assert len(agreement.found.data) <= most
    assert f"DIFFERENT: {way}" in str(agreement)
    assert not next(one for one in agreement.outcomes if one.way == way).same


def test_a_difference_reads_so(monkeypatch):
    monkeypatch.setattr(Session, "push_one", one_bit_off)
    monkeypatch.setattr("rtbot.compare.variants.QUIET", ScheduleMix(single=0, advance=0, dump=0))
    document = {"inputs": {"a": "number"}, "outputs": ["a"]}
    data = {"k": ["A", "A", "B"], "t": [1, 2, 1], "value": [0.1, 0.2, 0.5]}
    text = list(compared(document, {"a": data}, runs=1).found.lines())
    assert text[0] == "DIFFERENT: one message at a time, run 1; the smallest input: 1 row"
    assert text[1:3] == ["  row  input  k    t  value", "    1  a      'B'  1    0.5"]
    assert text[3:] == [
        "the way it was run:",
        "  push_one row 1",
        "  finish",
        "output a, row 1 (k, t, value):",
        "  one push               B, 1, 0.5",
        "  one message at a time  B, 1, 0.5000000000000001",
    ]


def test_an_account_that_differs_is_a_difference(monkeypatch):
    def more(session):
        found = ACCOUNT(session)
        found["inputs"]["a"]["in"] += session.rows["mean"] and bool(session.known_slots)
        return found

    ACCOUNT = Session.account  # noqa: N806 (as above)
    monkeypatch.setattr(Session, "account", more)
    found = compared().found
    assert found.difference.told.startswith("the account differs: inputs.a.in was")


def test_a_way_that_raises_is_a_difference(monkeypatch):
    def failing(session, time, name=None):
        raise IndexError(f"{session}{time}{name}"[:0] + "out of range")

    monkeypatch.setattr(Session, "advance", failing)
    found = compared().found
    assert (found.way, found.difference.told) == (
        "advanced, keys closed",
        "IndexError: out of range",
    )
    assert len(found.data) <= 2


def test_a_reference_that_is_out_of_order_is_a_difference(monkeypatch):
    def reversed_(session):
        found = FINISH(session)
        return Result({n: {c: a[::-1] for c, a in t.items()} for n, t in found.items()}, ("k",))

    monkeypatch.setattr(Session, "finish", reversed_)
    found = compared().found
    assert found.way == "as rtbot run reads it"
    assert found.difference.told.startswith("DisorderError: other has a message at t=")
    assert len(found.data) == 2


@pytest.mark.parametrize(
    ("row", "other", "text"),
    [
        (None, None, "no row"),
        ((None, 1, None), None, "null, 1, null"),
        (("A", 1, 0.0), ("A", 1, -0.0), "A, 1, 0.0"),
        ((1, math.nan), (1, -math.nan), "1, nan (bits 7ff8000000000000)"),
    ],
)
def test_rows_are_shown_so_that_they_differ(row, other, text):
    assert format_row(row, other) == text


# ---- shrinking and schedules


def test_the_smallest_is_found():
    def fails(numbers):
        return sum(number in numbers for number in (3, 17, 18, 40)) >= 3

    moves = [lambda numbers: ([numbers[k] for k in kept] for kept in list_kept_parts(len(numbers)))]
    found = shrink_case(list(range(64)), moves, fails)
    assert len(found) == 3
    assert fails(found)


def test_steps_are_left_out_and_joined():
    steps = [("push", [0]), ("dump",), ("push", []), ("advance", 3, None), ("push", [1])]
    found = list(simplify_steps(steps))
    assert found[0] == [("push", [0]), ("push", [1])]
    assert [("push", [0]), ("dump",), ("advance", 3, None), ("push", [1])] in found
    assert [("push", [0]), ("push", []), ("advance", 3, None), ("push", [1])] in found
    assert list(simplify_steps(found[0])) == [[("push", [0, 1])]]
    assert list(simplify_steps([("one", 0)])) == []


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (("push", [0, 1, 2, 5, 4, 7, 8]), "push rows 1-3, 6, 5, 8-9"),
        (("push", []), "push nothing"),
        (("one", 3), "push_one row 4"),
        (("advance", -5, None), "advance to -5"),
        (("advance", 7, "a"), "advance to 7, input a"),
        (("close", ("x",)), "close key 'x'"),
        (("close", ("x", None)), "close key ('x', None)"),
        (("dump",), "dump and resume"),
    ],
)
def test_a_step_in_words(step, line):
    assert format_step(step) == line


ROWS = [Row(name, (key,), time, 0.0) for key in "xyz" for name in "ab" for time in range(9)]
EAGER = ScheduleMix(dump=0.9, advance=0.9, close=0.9, eager=True)


@pytest.mark.parametrize("style", ["random", "starved", "keys", "blocks", "ones"])
def test_a_schedule_feeds_every_row_once_and_in_its_order(style):
    for seed in range(20):
        fed, floors, closed = [], {}, set()
        for kind, *args in schedule(random.Random(seed), ROWS, style, EAGER):
            if kind == "advance":
                names = "ab" if args[1] is None else args[1]
                floors |= {name: max(args[0], floors.get(name, args[0])) for name in names}
            if kind == "close":
                closed.add(args[0])
            for number in args[0] if kind == "push" else args if kind == "one" else ():
                row = ROWS[number]
                assert row.time > floors.get(row.input, -1)
                assert row.key not in closed
                fed.append(number)
        assert sorted(fed) == list(range(len(ROWS)))
        queues = {(row.input, row.key) for row in ROWS}
        for queue in queues:
            own = [number for number in fed if (ROWS[number].input, ROWS[number].key) == queue]
            assert own == sorted(own)


def test_orders_of_arrival_are_many():
    found = {tuple(interleave_rows(random.Random(seed), ROWS, "random")) for seed in range(50)}
    assert len(found) == 50


def test_dumps_are_as_many_as_is_said():
    steps = [("push", [number]) for number in range(100)]
    found = insert_some_dumps(random.Random(1), steps, 20)
    assert found.count(("dump",)) == 20
    assert [step for step in found if step != ("dump",)] == steps
    assert insert_some_dumps(random.Random(1), steps[:2], 20)[1::2] == steps[:2]


# ---- data


def test_data_in_pieces_is_data_in_one():
    spec = TableSpec("a", "text", nullable=True, key=("k", "n"))
    parts = [
        {"k": ["A", "B"], "n": [1, 2], "t": [1, 2], "value": ["x", None]},
        {"k": [None, None], "n": [None, 7], "t": [3, 4], "value": ["y", "x"]},
        {"k": [], "n": [], "t": [], "value": []},
        {"k": ["B"], "n": [9], "t": [5], "value": ["z"]},
    ]
    gathering = PushCollector(["a", "silent"], ("k", "n"))
    for part in parts:
        gathering.add({"a": to_columns(part, spec)})
    data = gathering.data()
    assert data.rows == [
        Row("a", ("A", 1), 1, "x"),
        Row("a", ("B", 2), 2, None),
        Row("a", (None, None), 3, "y"),
        Row("a", (None, 7), 4, "x"),
        Row("a", ("B", 9), 5, "z"),
    ]
    assert data.select([1, 4]).tables().keys() == {"a"}
    assert data.select([1, 4]).rows == [data.rows[1], data.rows[4]]


@pytest.mark.parametrize("form", COLUMN_VARIANTS)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", [1.0, 2.0, 3.5]),
        ("number", [1.0, -0.0, 300.0]),
        ("number", [0.1, math.nan, None]),
        ("number", [2.0**60, -math.inf, 1e300]),
        ("integer", [1, -5, 2**62]),
        ("integer", [0, None, 255]),
        ("boolean", [True, False, None]),
        ("text", ["a", "", None]),
    ],
)
@pytest.mark.parametrize("unit", [None, "ms"])
def test_other_columns_hold_the_same_values(form, kind, values, unit):
    spec = TableSpec("a", kind, nullable=True, key=("k", "n"), unit=unit)
    given = {"k": ["A", None, "A"], "n": [1, None, -300], "t": [1, 2, 3], "value": values}
    table = to_columns(given, spec)
    other = to_columns(COLUMN_VARIANTS[form](table, unit or "", spec.key), spec)
    assert list(map(repr, other.cells())) == list(map(repr, table.cells()))


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (np.array([1.0, 2.0]), "int8"),
        (np.array([1.5, 2.0]), "float32"),
        (np.array([0.1]), "float64"),
        (np.array([-0.0]), "float32"),
        (np.array([300]), "int16"),
        (np.array([1 << 40]), "int64"),
        (np.array([True]), "bool"),
    ],
)
def test_columns_are_as_narrow_as_they_can_be(column, dtype):
    assert narrow_column(column).dtype == dtype


def test_texts_of_several_tables_are_put_together():
    assert StringDictionary(["a"]).encode(
        to_columns({"t": [1], "value": ["a"]}, TableSpec("a", "text")).value
    ) == [0]


# ---- the command


@pytest.fixture
def files(tmp_path):
    """A graph and rows for it, as names."""
    (tmp_path / "graph.yaml").write_text(json.dumps(PAIRED), encoding="utf-8")
    rows = [dict(zip(("k", "t", "input", "value"), line, strict=True)) for line in LINES]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "rows.jsonl").write_text(text, encoding="utf-8")
    return "graph.yaml", "rows.jsonl"


def test_the_table_of_an_agreement(call, files):
    code, out, err = call("compare", *files, "--key", "k", "--runs", 2)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"graph: {len(LINES)} rows, compared with one push"
    assert lines[2].split() == ["way", "runs", "rows", "same", "time"]
    assert lines[4].split()[:5] == ["random", "batches", "2", str(len(LINES)), "yes"]
    assert lines[-1] == "the same bits in all 13 runs"
    digest = rtbot.load(PAIRED).run("rows.jsonl", key="k").digest()["mean"]
    brief = " ".join(digest[place : place + 4] for place in (0, 4, 8, 12))
    assert brief in out


def test_an_agreement_as_json(call, files):
    code, out, _ = call("compare", *files, "--key", "k", "--format", "json", "--seed", 5)
    found = json.loads(out)
    assert (code, found["same"], found["seed"], found["difference"]) == (0, True, 5, None)
    digests = rtbot.load(PAIRED).run("rows.jsonl", key="k").digest()
    assert {one["output"]: one["digest"] for one in found["outputs"]} == digests


def test_a_difference_is_saved_and_run_again(call, files, monkeypatch):
    again = "compare found/graph.yaml --replay found/difference.json"
    with monkeypatch.context() as broken:
        broken.setattr(Graph, "resume", forgetting)
        code, out, err = call("compare", *files, "--key", "k", "--save", "found")
        assert code == 1
        assert "not the same: saved and resumed" in out
        assert err == f"run it again: rtbot {again}\n"
        code, out, _ = call(*again.split())
        assert code == 1
        assert "DIFFERENT: saved and resumed" in out
    code, out, _ = call(*again.split())
    assert code == 0
    assert out.endswith("the same bits in all 1 run\n")


@pytest.mark.parametrize("broken", [item[2] for item in BROKEN])
def test_every_kind_of_difference_can_be_saved(call, files, monkeypatch, broken):
    owner, name = next(item[:2] for item in BROKEN if item[2] is broken)
    monkeypatch.setattr(owner, name, broken)
    assert call("compare", *files, "--key", "k", "--save", "found")[0] == 1
    assert call("compare", "found/graph.yaml", "--replay", "found/difference.json")[0] == 1


@pytest.mark.parametrize("value", [math.nan, -math.inf, 0.1, 5e-324])
def test_numbers_are_saved_to_the_bit(value, monkeypatch, call):
    def negated(session, name, time, value, **key):
        return PUSH_ONE(session, name, time, value and -value, **key)

    monkeypatch.setattr(Session, "push_one", negated)
    rtbot_graph = {"inputs": {"a": "number"}, "outputs": ["a"]}
    agreement = compared(rtbot_graph, {"a": {"k": ["x"], "t": [1], "value": [value]}})
    from rtbot.compare import save

    save(agreement.found, rtbot.load(rtbot_graph), "found")
    code, out, _ = call("compare", "found/graph.yaml", "--replay", "found/difference.json")
    assert code == 1
    assert repr(value) in out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("graph.yaml",), 2, "there is nothing to read"),
        (("graph.yaml", "rows.jsonl", "--replay", "x"), 2, "give no DATA beside it"),
        (("graph.yaml", "rows.jsonl", "--runs", "0"), 2, "--runs"),
        (("graph.yaml", "--replay", "rows.jsonl"), 4, "not a difference of rtbot compare"),
        (("graph.yaml", "--replay", "absent"), 74, "absent"),
        (("graph.yaml", "rows.jsonl"), 4, "rows.jsonl:10: error[RT202]"),
        (("graph.yaml", "rows.jsonl", "--key", "no"), 4, "RT204"),
        (("absent.yaml", "rows.jsonl"), 74, "absent.yaml"),
    ],
)
def test_mistakes(call, files, arguments, code, told):
    assert files
    found = call("compare", *arguments)
    assert found[0] == code
    assert told in found[2]
    assert found[1] == ""


@pytest.mark.parametrize("content", ["[]", "{", '{"difference": 1}', '{"difference": 2}'])
def test_files_that_hold_no_difference(call, files, tmp_path, content):
    (tmp_path / "found.json").write_text(content)
    code, _, err = call("compare", files[0], "--replay", "found.json")
    assert code == 4
    assert "found.json: error[RT208]" in err


def test_spark_that_is_not_there_is_a_mistake_with_a_hint(call, files, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    code, _, err = call("compare", *files, "--spark")
    assert code == 2
    assert "pip install 'rtbot-graphs[spark]'" in err


# ---- tables that change

STOCK = {
    "inputs": {
        "stock": {"changes": {"t": "integer", "name": "text?", "x": "number?"}, "unique": ["t"]},
        "price": "number",
    },
    "operators": {
        "last": {"type": "ToChanges", "in": "price", "mode": "latest"},
        "per": {
            "type": "GroupBy",
            "in": "stock",
            "by": ["name"],
            "compute": {"n": "count()", "sum": "sum(x)"},
        },
        "one": {"type": "GroupBy", "in": "last", "by": [], "compute": {"sum": "sum(value)"}},
        "line": {"type": "ToSeries", "in": "one", "field": "sum"},
    },
    "outputs": ["stock", "per", "last", "line"],
}
NAMES = ["tea", None, "", "Ä"]


def stock_data():
    numbers = [0.1, -0.0, None, math.nan, math.inf]
    rows = [
        [k // 2, -1 if k % 5 == 4 else 1, {"t": k, "name": NAMES[k % 4], "x": numbers[k % 5]}]
        for k in range(20)
    ]
    return {"stock": rows, "price": [[k, k / 2] for k in range(0, 12, 3)]}


def test_graphs_of_changes_agree():
    graph = rtbot.load(STOCK)
    found = graph.compare(stock_data(), runs=2)
    assert found.same, str(found)
    assert [one.way for one in found.outcomes][1:] == [
        "random batches",
        "advanced",
        "saved and resumed",
        "one message at a time",
    ]
    digests = graph.run(stock_data()).digest()
    assert {name: digest for name, (_, digest) in found.outputs.items()} == digests


def test_a_difference_of_changes_is_made_small_and_saved(call, monkeypatch, tmp_path):
    right = StagedSession.push_one

    def lose_tea(session, name, time, value, weight=1, **key):
        if name == "stock" and value["name"] == "tea":
            return {}
        return right(session, name, time, value, weight, **key)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(StagedSession, "push_one", lose_tea)
    graph = rtbot.load(STOCK)
    found = graph.compare(stock_data(), runs=1)
    assert len(found.found.data) == 1
    shown = "\n".join(found.found.lines())
    assert "+1 (16, 'tea', -0.0)" in shown
    assert "output stock, row 1 (_t, weight, t, name, x):" in shown
    assert "one push               8, 1, 16, tea, 0.0" in shown
    paths = save(found.found, graph, "found")
    code, out, _ = call("compare", paths[0], "--replay", paths[1])
    assert code == 1
    assert "+1 (16, 'tea', -0.0)" in out
    assert call("compare", paths[0], "--replay", paths[1], "--format", "json")[0] == 1
