"""Inputs with an `io` of their own: files of different kinds, bad cells, late rows, dumps."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import rtbot
from rtbot.graph.document import load_document
from rtbot.graph.model import ReadOptions
from rtbot.io.checkpointed_run import _add_readings

pytestmark = pytest.mark.usefixtures("own_folder")

OWN = """\
inputs:
  a: number
  b: {type: number, io: {OWN}}
operators: {m: 2 * a, n: 3 * b}
outputs: [m, n]
"""
PLAIN, FOREIGN = "t,a\n1,5\n2,6\n", "when;b\n2;1,5\n3;?\n"


def graph(own, io=""):
    return OWN.replace("OWN", own) + (f"io: {{{io}}}\n" if io else "")


FILES = ("--in", "a=a.csv", "--in", "b=b.csv", "-q")
READS = "time: when, null: '?', csv: {delimiter: ;, decimal: ','}"


def test_two_files_are_read_in_their_own_ways(call):
    code, out, err = call(
        "run", "g.yaml", *FILES, g__yaml=graph(READS), a__csv=PLAIN, b__csv=FOREIGN
    )
    assert (code, err) == (0, "")
    assert out == "t,m,n\n1,10,\n2,12,4.5\n"
    found = rtbot.load("g.yaml").run({"a": "a.csv", "b": "b.csv"})
    assert found["n"]["value"].tolist() == [4.5]


def test_what_a_graph_has_is_inherited_and_may_be_undone(call):
    io = "null: [NA], csv: {delimiter: ;, skip: 1}"
    both = {"a__csv": "#\nt;a\n1;NA\n2;6\n", "b__csv": "t;b\n1;NA\n2;?\n3;1\n"}
    code, out, err = call(
        "run", "g.yaml", *FILES, g__yaml=graph("csv: {skip: 0}, bad: drop", io), **both
    )
    assert (code, out) == (0, "t,m,n\n2,12,\n3,,3\n"), err


def test_bad_cells_are_dropped_only_where_they_may_be(call):
    files = {"a__csv": "t,a\n1,5\n2,x\n", "b__csv": "t,b\n1,5\n2,x\n3,7\n"}
    code, _, err = call("run", "g.yaml", *FILES, g__yaml=graph("bad: drop"), **files)
    assert (code, "a.csv:3: error[RT201]" in err) == (4, True)
    files["a__csv"] = PLAIN
    code, out, _ = call("run", "g.yaml", *FILES, "--rejects", "r.csv", **files)
    assert (code, out) == (0, "t,m,n\n1,10,15\n2,12,\n3,,21\n")
    code, _, err = call("run", "g.yaml", *FILES, g__yaml=graph("bad: error", "bad: drop"), **files)
    assert (code, "b.csv:3: error[RT201]" in err) == (4, True)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("bad: drop", "bad is 'error' for a and 'drop' for b"),
        ("csv: {delimiter: ;}", "csv.delimiter is ',' for a and ';' for b"),
        ("null: [NA]", "null is () for a and ('NA',) for b"),
    ],
)
def test_one_file_is_read_in_one_way(call, own, told):
    both = "t,a,b\n1,5,6\n"
    code, _, err = call("run", "g.yaml", "d.csv", g__yaml=graph(own), d__csv=both)
    assert code == 4
    assert f"d.csv: error[RT216]: {told}, which one file cannot be read with" in err
    assert "--in b=FILE" in err
    code, out, _ = call("run", "g.yaml", "d.csv", "-q", g__yaml=graph("late: drop"))
    assert (code, out) == (0, "t,m,n\n1,10,18\n")


def test_late_and_double_rows_are_those_of_each_input():
    session = rtbot.load(graph("late: drop, duplicates: first")).start()
    session.push({"a": [[5, 1.0]], "b": [[5, 1.0], [4, 2.0], [5, 3.0]]})
    assert session.account()["inputs"]["b"]["lost"] == {"late": 1, "duplicate": 1}
    with pytest.raises(rtbot.DataError) as caught:
        session.push({"a": [[4, 1.0]]})
    assert caught.value.code == "RT202"
    with pytest.raises(rtbot.DataError):
        session.push_one("a", 4, 1.0)
    assert session.push_one("b", 4, 1.0) == {}


def test_one_input_may_wait_for_order():
    session = rtbot.load(graph("lateness: 10")).start()
    session.push({"a": [[20, 1.0]], "b": [[20, 2.0], [15, 1.0]]})
    assert session.held() == {"b": 2}
    result = session.finish()
    assert result["n"]["t"].tolist() == [15, 20]


def test_a_policy_of_the_call_is_for_all_inputs():
    loaded = rtbot.load(graph("late: error"))
    session = loaded.start(late="drop")
    session.push({"a": [[5, 1.0], [4, 1.0]], "b": [[5, 1.0], [4, 1.0]]})
    lost = {name: one["lost"] for name, one in session.account()["inputs"].items()}
    assert lost == {"a": {"late": 1}, "b": {"late": 1}}


def test_a_dump_keeps_the_policies_of_each_input():
    loaded = rtbot.load(graph("late: drop, lateness: 3, time: when"))
    session = loaded.start()
    session.push({"a": [[5, 1.0]], "b": {"when": [5, 9, 7], "value": [1.0, 2.0, 3.0]}})
    again = loaded.resume(session.dump())
    assert again.own == session.own
    last = {"b": {"when": [1, 11], "value": [0.0, 4.0]}}
    for one in (session, again):
        one.push(last)
    assert again.account() == session.account()
    assert again.finish().digest() == session.finish().digest()


def test_the_fingerprint_has_what_inputs_have_of_their_own():
    assert rtbot.load(graph("late: drop")) != rtbot.load(graph("late: error"))


def test_explain_shows_what_is_of_its_own(call):
    code, out, _ = call("explain", "g.yaml", g__yaml=graph(READS, "null: '?'"))
    assert code == 0
    assert "own io      time [when], csv.delimiter ;, csv.decimal ," in out


# ---- checkpoints


def test_a_changed_option_is_named_at_resume(call):
    files = {"g__yaml": graph(READS), "a__csv": PLAIN, "b__csv": FOREIGN}
    command = ("run", "g.yaml", *FILES, "-o", "out.csv", "--checkpoint", "ck")
    assert call(*command, **files)[0] == 0
    assert call(*command, "--resume")[0] == 0
    changed = {"g__yaml": graph(READS.replace("'?'", "['?', NA]"))}
    code, _, err = call(*command, "--resume", **changed)
    assert code == 5
    assert "inputs.b.reading.null was ['?'] and is ['?', 'NA']" in err
    code, _, err = call(*command, "--resume", "--csv", "skip=1", g__yaml=graph(READS))
    assert code == 5
    assert "inputs.a.reading.csv.skip was 0 and is 1" in err
    code, _, err = call(*command, "--resume", g__yaml=graph(READS.replace("when", "b")))
    assert code == 5
    assert "inputs.b.reading.time was 'when' and is 'b'" in err


def test_a_checkpoint_of_before_is_read_without_options():
    old = {"FILE": {"file": "d.csv", "column": None, "files": {"d.csv": "read"}}}
    plain = json.loads(json.dumps(asdict(ReadOptions())))
    assert _add_readings(old) == {"FILE": {**old["FILE"], "reading": plain}}
    some = {"FILE": {"reading": {"null": ["?"], "csv": {"skip": 1}}}}
    found = _add_readings(some)["FILE"]["reading"]
    assert found == plain | {"null": ["?"], "csv": plain["csv"] | {"skip": 1}}


def test_the_columns_of_a_call_are_before_those_of_an_input():
    loaded = rtbot.load(graph("time: when, timezone: Europe/Madrid"))
    table = {"when": ["2024-01-01 00:00"], "ts": ["2024-07-01 12:00"], "b": [1.5]}
    Path("b.csv").write_text("when,ts,b\n2024-01-01 00:00,2024-07-01 12:00,1.5\n")
    for data in (table, "b.csv"):
        usual, chosen = (loaded.run({"b": data}, time=time) for time in (None, "ts"))
        assert usual.to_arrow().column_names[0] == "when"
        assert usual["n"]["t"].tolist() == [1_704_063_600_000_000]
        assert chosen.to_arrow().column_names[0] == "ts"
        assert chosen["n"]["t"].tolist() == [1_719_828_000_000_000]


def test_dumps_keep_the_columns_of_a_call_and_the_options_of_inputs():
    loaded = rtbot.load(graph("time: when, timezone: Europe/Madrid"))
    session = loaded.start(time="ts", inputs={"b": "price"}, late="drop")
    again = loaded.resume(session.dump())
    assert (again.columns, again.own, again.io) == (session.columns, session.own, session.io)
    assert again.own["b"].late == "drop"
    again.push({"b": {"when": [1], "ts": ["2024-07-01 12:00"], "price": [1.5]}})
    again.advance(2**63)
    assert again.account()["inputs"]["b"]["in"] == 1


def test_new_parameters_leave_what_was_given_for_a_run():
    document = load_document(graph("time: when") + "params: {w: 2}\n")
    changed = rtbot.Graph(document, {}, {"timezone": "Europe/Madrid"}).with_params({"w": 3})
    assert changed.checked.io.reading.timezone == "Europe/Madrid"
