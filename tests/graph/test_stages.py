"""Graphs with change streams as stages."""

import pytest

from rtbot.core.errors import GraphError
from rtbot.graph.check import check
from rtbot.graph.document import load_document
from rtbot.graph.stages import RegionStage, has_changes, split_stages


def stages_of(text):
    checked = check(load_document(text))
    return split_stages(checked, checked.outputs)


def describe(stage):
    nodes = stage.nodes if isinstance(stage, RegionStage) else stage.checked.nodes.values()
    fed = [s.name if s.bridge is None else f"{s.ref}>{s.name}" for s in stage.sources]
    return stage.name, fed, [node.id for node in nodes], list(stage.outputs)


def test_series_alone_are_one_stage_as_they_are():
    checked = check(load_document("inputs: {a: number}\noperators: {b: a + 1}\noutputs: [b]\n"))
    (stage,) = split_stages(checked, checked.outputs)
    assert stage.checked is checked
    assert not has_changes(checked)


def test_regions_are_what_change_streams_connect():
    text = """
inputs: {a: {changes: {x: number}}, b: {changes: {x: number}}, c: {changes: {x: number}}}
operators:
  u: {type: Union, in: [a, b]}
  d: {type: Distinct, in: c}
outputs: {u: u, d: d, b: b}
"""
    assert list(map(describe, stages_of(text))) == [
        ("region a", ["a", "b"], ["u"], ["b", "u"]),
        ("region c", ["c"], ["d"], ["d"]),
    ]


def test_series_between_regions_make_levels():
    text = """
inputs: {a: {changes: {x: number}}, p: number}
operators:
  one: {type: GroupBy, in: a, by: [], compute: {x: sum(x)}}
  line: {type: ToSeries, in: one, field: x}
  sum: coalesce(line, 0) + p
  rows: {type: ToChanges, in: sum, mode: append, field: x}
  all: {type: Except, in: [rows, a], all: true}
outputs: {all: all, p: p}
"""
    assert list(map(describe, stages_of(text))) == [
        ("series 0", ["p"], [], ["p"]),
        ("region a", ["a"], ["one"], ["a", "one"]),
        ("series 1", ["one.o1>line", "p"], ["sum"], ["sum"]),
        ("region rows", ["sum.o1>rows", "a"], ["all"], ["all"]),
    ]
    inputs = [[s.is_input for s in stage.sources] for stage in stages_of(text)]
    assert inputs == [[True], [True], [False, False], [False, False]]


INPUTS = "inputs: {o: {changes: {a: number, k: integer}, unique: [k]}, p: number}\n"


@pytest.mark.parametrize(
    ("operator", "hint"),
    [
        ("o + 1", "ToSeries"),
        ("{type: Identity, in: o}", "ToSeries"),
        ("{type: MovingAverage, in: o, window: 3}", "ToSeries"),
        ("{type: Distinct, in: p}", "ToChanges"),
        ("{type: ToChanges, in: o, mode: append}", "as it is"),
    ],
)
def test_series_and_changes_are_not_mixed(operator, hint):
    with pytest.raises(GraphError) as caught:
        check(load_document(f"{INPUTS}operators: {{m: {operator}}}\noutputs: [m]\n"))
    (problem,) = caught.value.problems
    assert problem.code == "RT125"
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("given", "code", "hint"),
    [
        ("{changes: {id: integr}}", "RT140", "'integer'"),
        ("{changes: {id: date}}", "RT140", "integers"),
        ("{changes: {_t: integer}}", "RT107", "begin with _"),
        ("{changes: {'a b': integer}}", "RT107", "letters"),
        ("{changes: {id: integer, id: number}}", "RT106", ""),
        ("{changes: {id: }}", "RT105", "id: number"),
        ("{changes: {id: [integer]}}", "RT105", "id: number"),
        ("{changes: [id]}", "RT105", "{changes:"),
        ("{changes: }", "RT105", "{changes:"),
        ("{changes: {}}", "RT110", "{changes:"),
        ("{changes: {id: integer}, unique: [idd]}", "RT120", "'id'"),
        ("{changes: {id: integer}, unique: [id, id]}", "RT106", ""),
        ("{changes: {id: integer}, unique: []}", "RT105", "leave it out"),
        ("{changes: {id: integer}, type: number}", "RT116", "one of them"),
        ("{changes: {id: integer}, uniqe: [id]}", "RT104", "'unique'"),
        ("{type: number, unique: [id]}", "RT104", "changes"),
        ("{changes: {id: integer}, io: {late: drop}}", "RT160", "lateness"),
        ("{changes: {id: integer}, io: {duplicates: last}}", "RT160", "transaction"),
        ("{changes: {id: integer}, io: {conflicts: last}}", "RT160", "unique"),
        ("{type: number, io: {excess: ignore}}", "RT160", "remove"),
    ],
)
def test_inputs_that_are_wrong(given, code, hint):
    with pytest.raises(GraphError) as caught:
        check(load_document(f"inputs: {{a: {given}}}\noutputs: [a]\n"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.mark.line) == (code, 1)
    assert hint in problem.hint


def test_too_many_fields():
    fields = ", ".join(f"f{k}: integer" for k in range(1001))
    with pytest.raises(GraphError, match="1,001 fields"):
        check(load_document(f"inputs: {{a: {{changes: {{{fields}}}}}}}\noutputs: [a]\n"))


@pytest.mark.parametrize(
    ("io", "code"),
    [
        ("{late: drop}", "RT160"),
        ("{conflicts: last}", "RT160"),
        ("{key: a}", "RT160"),
        ("{max_delta_rows: 0}", "RT112"),
        ("{excess: drop}", "RT112"),
        ("{on_bad_transaction: halt}", "RT112"),
    ],
)
def test_settings_that_do_not_fit_changes(io, code):
    text = f"inputs: {{a: {{changes: {{x: number}}}}}}\noutputs: [a]\nio: {io}\n"
    with pytest.raises(GraphError) as caught:
        check(load_document(text))
    assert [problem.code for problem in caught.value.problems] == [code]


def test_settings_of_changes():
    text = "inputs: {a: {changes: {x: number?}, unique: x, io: {conflicts: last}}}\noutputs: [a]\n"
    text += "io: {excess: ignore, on_bad_transaction: discard, max_delta_rows: 5}\n"
    checked = check(load_document(text))
    io, own = checked.io, checked.inputs["a"].io
    assert (io.excess, io.on_bad_transaction, io.max_delta_rows) == ("ignore", "discard", 5)
    assert (own.excess, own.conflicts) == ("ignore", "last")
    assert checked.inputs["a"].type.schema.unique == (("x",),)


def test_key_columns_of_rows_have_types():
    text = "inputs: {p: number}\noperators: {r: {type: ToChanges, in: p, mode: append}}\n"
    with pytest.raises(GraphError, match="the type of the key sym is not known"):
        check(load_document(text + "outputs: [r]\nio: {key: sym}\n"))
    checked = check(load_document(text + "outputs: [r]\nio: {key: {sym: integer}}\n"))
    assert str(checked.nodes["r"].types["o1"].schema) == "{sym: integer?, value: number}"
    line = "inputs: {a: {changes: {x: number}}, p: number}\n"
    line += "operators: {l: {type: ToSeries, in: a, field: x}}\noutputs: [l]\n"
    with pytest.raises(GraphError, match="needs the key column sym"):
        check(load_document(line + "io: {key: {sym: text}}\n"))
