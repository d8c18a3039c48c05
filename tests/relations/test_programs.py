"""Datalog in graphs: the same as `rtbot.Datalog` after every transaction, in any cut."""

import random

import pytest

import rtbot

RULES = """
path(x, y) :- edge(x, y, _).
path(x, z) :- path(x, y), edge(y, z, _).
lonely(x) :- node(x, _), !path(x, _), !path(_, x).
weight(x, s, n) :- node(x, _), s = sum w : { edge(x, _, w) }, n = count : { path(x, _) }.
named(s, x) :- node(x, s), s != "b".
named("none", c) :- c = count : { node(_, _) }.
"""
OUTPUTS = ("path", "lonely", "weight", "named")
GRAPH = {
    "inputs": {
        "edges": {"changes": {"a": "integer", "b": "integer", "w": "number"}},
        "nodes": {"changes": {"id": "integer", "name": "text"}},
    },
    "operators": {
        "closed": {"type": "Datalog", "in": {"edge": "edges", "node": "nodes"}, "rules": RULES}
    },
    "outputs": {name: f"closed.{name}" for name in OUTPUTS},
}


def change_randomly(rng, present, make):
    """A change of a bag: a copy of a row more, or one less of those that are there."""
    if present and rng.random() < 0.45:
        row = rng.choice(sorted(present))
        present[row] -= 1
        if not present[row]:
            del present[row]
        return row, -1
    row = make()
    present[row] = present.get(row, 0) + 1
    return row, 1


def make_transactions(rng, count):
    """Changes of both inputs by time, and the rows that are there after each."""
    edges, nodes, found = {}, {}, []
    for _ in range(count):
        changes = {"edges": [], "nodes": []}
        for _ in range(rng.randrange(4)):
            make = lambda: (rng.randrange(5), rng.randrange(5), rng.choice([0.5, -0.0, 2.0]))  # noqa: E731
            changes["edges"].append(change_randomly(rng, edges, make))
        for _ in range(rng.randrange(3)):
            make = lambda: (rng.randrange(6), rng.choice("abc"))  # noqa: E731
            changes["nodes"].append(change_randomly(rng, nodes, make))
        found.append((changes, set(edges), set(nodes)))
    return found


def make_rows(changes, time):
    names = {"edges": ("a", "b", "w"), "nodes": ("id", "name")}
    return {
        name: [[time, weight, dict(zip(names[name], row, strict=True))] for row, weight in rows]
        for name, rows in changes.items()
    }


DECLARED = """
.decl edge(x:number, y:number, w:float)
.decl node(x:number, s:symbol)
.input edge
.input node
.decl path(x:number, y:number)
.decl lonely(x:number)
.decl weight(x:number, s:float, n:number)
.decl named(s:symbol, x:number)
"""


def evaluate(edges, nodes):
    """The rows of all relations from scratch."""
    d = rtbot.Datalog(DECLARED + RULES, compiled=False)
    d.insert("edge", sorted(edges))
    d.insert("node", sorted(nodes))
    d.commit()
    return {name: d.facts(name) for name in OUTPUTS}


def apply(caches, result):
    for name in OUTPUTS:
        caches[name].apply(result[name])


def list_rows(cache):
    return sorted(tuple(row.values()) for row in cache.rows())


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_has_what_the_rules_give_after_every_transaction(seed):
    rng = random.Random(seed)
    graph = rtbot.load(GRAPH)
    session = graph.start(compiled=False)
    caches = {name: rtbot.Cache() for name in OUTPUTS}
    for time, (changes, edges, nodes) in enumerate(make_transactions(rng, 8), 1):
        if rng.random() < 0.3:
            session = graph.resume(session.dump(), compiled=False)
        apply(caches, session.push(make_rows(changes, time)))
        apply(caches, session.advance(time))
        expected = evaluate(edges, nodes)
        if edges or nodes or time > 1:
            assert {name: list_rows(caches[name]) for name in OUTPUTS} == expected


def collect(result, tables):
    for name in OUTPUTS:
        table = result[name]
        columns = [column.tolist() for column in table.values()]
        tables[name] += [tuple(map(repr, row)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("seed", range(2))
def test_every_cut_gives_the_same_rows(seed):
    transactions = [changes for changes, _, _ in make_transactions(random.Random(seed), 10)]
    graph = rtbot.load(GRAPH)
    whole = {"edges": [], "nodes": []}
    for time, changes in enumerate(transactions, 1):
        for name, rows in make_rows(changes, time).items():
            whole[name] += rows
    expected = {name: [] for name in OUTPUTS}
    collect(graph.run(whole, compiled=False), expected)
    for cut in (1, 3):
        session, found = graph.start(compiled=False), {name: [] for name in OUTPUTS}
        for name, rows in whole.items():
            for first in range(0, len(rows), cut):
                collect(session.push({name: rows[first : first + cut]}), found)
        collect(session.finish(), found)
        assert found == expected


OVERFLOW = {
    "inputs": {"n": {"changes": {"x": "integer"}}},
    "operators": {
        "twice": {"type": "Datalog", "in": "n", "rules": "double(x * 2) :- n(x).\nlow(x) :- n(x)."},
        "big": {"type": "Where", "in": "twice.double", "condition": "c1 > 2"},
    },
    "outputs": ["big", "twice.low"],
}
ROWS = [
    [1, 1, {"x": 5}],
    [2, 1, {"x": 7}],
    [2, 1, {"x": 2**62}],
    [3, 1, {"x": 9}],
    [3, -1, {"x": 5}],
]


def test_a_rule_that_fails_makes_the_transaction_bad():
    session = rtbot.load(OVERFLOW).start(compiled=False)
    with pytest.raises(rtbot.DataError) as found:
        session.push({"n": ROWS})
    assert (found.value.code, found.value.time) == ("RT520", 2)
    assert "double(x * 2) :- n(x). with x = 4611686018427387904" in str(found.value)
    assert "twice" in str(found.value)
    rest = session.finish()
    assert rest["big"]["c1"].tolist() == [10, 18]
    assert rest["big"]["weight"].tolist() == [-1, 1]


def test_bad_transactions_can_be_discarded():
    graph = rtbot.load({**OVERFLOW, "io": {"on_bad_transaction": "discard"}})
    result = graph.run({"n": ROWS}, compiled=False)
    found = result["twice_low"]
    assert list(zip(*(found[name].tolist() for name in ("t", "weight", "x")), strict=True)) == [
        (1, 1, 5),
        (3, -1, 5),
        (3, 1, 9),
    ]


def test_a_limit_makes_the_transaction_bad_and_taking_back_knows_none():
    rules = "m(x) :- n(x). m(x + 1) :- m(x), x < 100."
    graph = rtbot.load(
        {
            "inputs": {"n": {"changes": {"x": "integer"}}},
            "operators": {
                "up": {"type": "Datalog", "in": "n", "rules": rules, "max_iterations": 20},
                "late": {"type": "Select", "in": "up.m", "fields": {"y": "10 // (x - 90)"}},
            },
            "outputs": ["up.m", "late"],
            "io": {"on_bad_transaction": "discard"},
        }
    )
    rows = [[1, 1, {"x": 95}], [2, 1, {"x": 50}], [3, 1, {"x": 90}], [4, 1, {"x": 93}]]
    found = graph.run({"n": rows}, compiled=False)["up_m"]
    assert found["t"].tolist() == [1] * 6 + [4] * 2
    assert found["x"].tolist() == [95, 96, 97, 98, 99, 100, 93, 94]


def test_rules_without_end_before_any_row_are_an_error():
    graph = rtbot.load(
        {
            "inputs": {"n": {"changes": {"x": "integer"}}},
            "operators": {
                "up": {
                    "type": "Datalog",
                    "in": "n",
                    "rules": "m(1). m(x + 1) :- m(x). k(x) :- n(x), m(x).",
                    "max_facts": 100,
                }
            },
            "outputs": ["up.k"],
        }
    )
    with pytest.raises(rtbot.RtbotError, match="100") as found:
        graph.start(compiled=False)
    assert found.value.code == "RT521"


def test_a_program_may_be_a_file(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "reach.dl").write_text(
        ".decl path(from:number, to:number)\n.output path\n"
        "path(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z).\n"
    )
    graph = tmp_path / "g.yaml"
    graph.write_text(
        "inputs: {edge: {changes: {a: integer, b: integer}}}\n"
        "operators:\n  reach: {type: Datalog, in: edge, program: rules/reach.dl}\n"
        "outputs: {path: reach}\n"
    )
    rows = [[1, 1, {"a": 1, "b": 2}], [1, 1, {"a": 2, "b": 1}]]
    found = rtbot.load(graph).run({"edge": rows}, compiled=False)["path"]
    assert found["from"].tolist() == [1, 1, 2, 2]
    assert found["to"].tolist() == [1, 2, 1, 2]
    (tmp_path / "rules" / "reach.dl").write_text(".output path\npath(x, y) :- edge(x, 'a').\n")
    with pytest.raises(rtbot.GraphError, match=r"reach\.dl:2:"):
        rtbot.load(graph)


def check(operator, inputs=None, outputs=("r.path",)):
    fields = {"a": "integer", "b": "integer"}
    with pytest.raises(rtbot.GraphError) as found:
        rtbot.load(
            {
                "inputs": {"edge": {"changes": fields | (inputs or {})}},
                "operators": {"r": {"type": "Datalog", "in": "edge"} | operator},
                "outputs": list(outputs),
            }
        )
    return found.value


PATH = "path(x, y) :- edge(x, y)."
REFUSED = {
    "neither": ({}, {}, "RT116", "`rules` or `program`"),
    "both": ({"rules": PATH, "program": "a.dl"}, {}, "RT116", "not both"),
    "a list": ({"rules": [PATH]}, {}, "RT105", "text of a Datalog program"),
    "empty": ({"rules": None}, {}, "RT105", "no text"),
    "no file": ({"program": "a.dl"}, {}, "RT514", "cannot be read"),
    "outside": ({"program": "../a.dl"}, {}, "RT514", "below the graph's folder"),
    "a program": ({"rules": "path(x, z) :- edge(x, y)."}, {}, "RT508", "z"),
    "columns": ({"rules": "path(x) :- edge(x)."}, {}, "RT505", "2 columns"),
    "null": ({"rules": PATH}, {"b": "integer?"}, "RT126", "may be null"),
    "boolean": ({"rules": PATH}, {"b": "boolean"}, "RT125", "is boolean"),
    "not fed": (
        {"rules": ".decl n(x:number)\n.input n\n" + PATH + " path(x, x) :- n(x)."},
        {},
        "RT123",
        "n has .input",
    ),
    "unsigned": (
        {"rules": ".decl path(x:unsigned, y:number) " + "path(to_unsigned(x), y) :- edge(x, y)."},
        {},
        "RT506",
        "unsigned",
    ),
    "no column": ({"rules": "path() :- edge(_, _)."}, {}, "RT505", "no columns"),
    "name": ({"rules": ".decl path(_a:number) path(x) :- edge(x, _)."}, {}, "RT107", "_a"),
    "limit": ({"rules": PATH, "max_facts": 0}, {}, "RT112", "max_facts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused(name):
    operator, inputs, code, text = REFUSED[name]
    error = check(operator, inputs)
    assert error.code == code, str(error)
    assert text in str(error)


def test_an_output_that_is_not_there_is_named():
    error = check({"rules": PATH + " p(x) :- edge(x, x)."}, outputs=("r.paths",))
    assert "did you mean 'path'?" in str(error)
    error = check({"rules": PATH + " p(x) :- edge(x, x)."}, outputs=("r",))
    assert "name one of r.path, r.p" in str(error)


def test_what_is_odd_in_rules_is_a_warning_of_the_graph(tmp_path):
    (tmp_path / "more.dl").write_text("q(x) :- edge(x, y).\n", encoding="utf-8")
    path = tmp_path / "g.yaml"
    path.write_text(
        """
inputs: {edges: {changes: {a: integer, b: integer}}, unread: {changes: {a: integer}}}
operators:
  p:
    type: Datalog
    in: {edge: edges, other: unread}
    rules: |
      .output r
      .decl lost(x: number)
      .decl never(x: number)
      r(x) :- edge(x, _), !lost(x), 0 < max -x : { edge(_, x) }.
  m: {type: Datalog, in: {edge: edges}, program: more.dl}
outputs: [p.r, m.q]
""",
        encoding="utf-8",
    )
    warnings = rtbot.load(path).warnings
    assert [(w.operator, w.code, w.mark.line, w.mark.column) for w in warnings] == [
        ("m", "RT195", 1, 17),
        ("p", "RT190", 6, 30),
        ("p", "RT194", 9, 13),
        ("p", "RT193", 10, 13),
        ("p", "RT196", 11, 46),
    ]
    assert "lost" in str(warnings[2])


def test_warnings_of_rules_that_are_in_no_file_have_their_lines():
    graph = {**GRAPH, "operators": {"closed": {**GRAPH["operators"]["closed"]}}}
    graph["operators"]["closed"]["rules"] += "more(x) :- edge(x, y, _)."
    (warning,) = rtbot.load(graph).warnings
    assert warning.source == "more(x) :- edge(x, y, _)."


PARAMETERS = """
params: {top: 5, word: 'a"b\\', low: -2.5, tiny: 1.0e-7, minus: -3, flag: true, many: [1, 2]}
inputs: {e: {changes: {a: integer, b: number, s: text}}}
operators:
  r:
    type: Datalog
    in: {edge: e}
    rules: |
      p(x, $minus ^ 2) :- edge(x, y, $word), y > $low, y < $tiny, x != -$minus.
      q($top, cat($word, "$top")) :- edge(_, _, _), $top > 4. // $nothing
      .limitsize q(n=$top)
outputs: [r.p, r.q]
"""


def run_with_parameters(tmp_path, **params):
    path = tmp_path / "g.yaml"
    path.write_text(PARAMETERS, encoding="utf-8")
    rows = [[1, 1, {"a": a, "b": b, "s": 'a"b\\'}] for a, b in ((4, -1.0), (3, -1.0), (5, 1.0))]
    result = rtbot.load(path, **params).run({"e": rows}, compiled=False)
    return {name: [tuple(map(repr, c.tolist())) for c in t.values()] for name, t in result.items()}


def test_parameters_of_the_graph_are_constants_of_the_rules(tmp_path):
    found = run_with_parameters(tmp_path)
    assert found["r_p"][-2:] == [("4",), ("9",)]
    assert found["r_q"][-2:] == [("5",), (repr('a"b\\$top'),)]
    found = run_with_parameters(tmp_path, top=6, low=-0.5)
    assert found["r_p"][-1] == ()
    assert found["r_q"][-2] == ("6",)


def test_a_parameter_that_rules_cannot_have_is_a_mistake(tmp_path):
    path = tmp_path / "g.yaml"
    path.write_text(
        PARAMETERS.replace("p(x,", "p($lov,").replace("$low", "$flag").replace("$tiny", "$many"),
        encoding="utf-8",
    )
    with pytest.raises(rtbot.GraphError) as found:
        rtbot.load(path)
    told = [(p.code, p.mark.line, p.mark.column, p.hint) for p in found.value.problems]
    assert told == [
        ("RT114", 9, 9, "add it: `params: {lov: VALUE}`"),
        ("RT133", 9, 53, ""),
        ("RT133", 9, 64, ""),
    ]


def test_a_parameter_that_is_wrong_itself_is_one_mistake(tmp_path):
    path = tmp_path / "g.yaml"
    path.write_text(PARAMETERS.replace("top: 5", "top: {type: integer}"), encoding="utf-8")
    with pytest.raises(rtbot.GraphError) as found:
        rtbot.load(path)
    assert [p.code for p in found.value.problems] == ["RT111"]
