"""The tests that a graph file holds: run, told, filled in, and collected by pytest."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rtbot
from rtbot import graph_tests
from rtbot.cli.main import run
from rtbot.core.errors import GraphError
from rtbot.core.times import detect_style
from rtbot.graph_tests.compare_rows import is_close, rank_row
from rtbot.graph_tests.edits import format_flow
from rtbot.graph_tests.notation import Notation

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
NAN = float("nan")
GRAPH = """\
params: {window: 1}
inputs: {price: number, other: number?}
operators:
  ma: {type: MovingAverage, in: price, window: $window}
  hot: ma > 3
  pair: {type: Join, in: [price, other], how: left}
outputs: {middle: ma, hot: hot}
tests:
"""


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    """Files are named as a user would, from their folder."""
    monkeypatch.chdir(tmp_path)


def written(tests, graph=GRAPH, path="g.yaml"):
    """A graph file with these tests."""
    Path(path).write_text(graph + tests, encoding="utf-8")
    return path


def outcome_of(test, graph=GRAPH):
    """The outcome of a single test, written as one line of YAML or as a block."""
    suite = graph_tests.load_suite(
        written(test if test.startswith("  - ") else f"  - {test}\n", graph)
    )
    (one,) = suite.tests
    return suite.run(one)


def refused(test, graph=GRAPH):
    """The code, place and text of the problem that a test makes of the graph."""
    with pytest.raises(GraphError) as caught:
        graph_tests.load_suite(written(f"  - {test}\n", graph))
    (problem,) = caught.value.problems
    return problem.code, problem.mark.line, f"{problem.message}; {problem.hint}"


def shown(outcome):
    return "\n".join(outcome.lines())


# ---- what passes, what fails


PRICES = "price: [[1, 2], [2, 4], [3, 6]]"
BOTH = "{key: [s], given: {price: [[A, 1, 2], [B, 1, 4], [A, 2, 6]]}, "
TWO = "{key: [s, n], given: {price: [[A, 2, 1, 5], [A, 10, 1, 6], [B, 1, 1, 7]]}, "


@pytest.mark.parametrize(
    ("test", "passes"),
    [
        ("{given: {PRICES}, expect: {middle: [[1, 2], [2, 4], [3, 6]]}}", True),
        ("{given: {PRICES}, expect: {middle: [[1, 2], [2, 4]]}}", False),
        ("{given: {PRICES}, expect: {middle: [[1, 2], [2, 4], [3, 6], [4, 8]]}}", False),
        ("{given: {PRICES}, expect: {middle: [[1, 2], [2, 4.0000000001], [3, 6]]}}", False),
        ("{given: {PRICES}, expect: {middle: [[1, 2], [2, 4], [4, 6]]}}", False),
        ("{given: {PRICES}, expect: {hot: [[3, true], [2, true], [1, false]]}}", True),
        ("{given: {PRICES}, expect: {hot: [[3, true], [2, true], [1, true]]}}", False),
        ("{given: {PRICES}, expect: {middle: []}}", False),
        ("{given: {PRICES}, params: {window: 3}, expect: {middle: [[3, 4]]}}", True),
        ("{given: {PRICES}, params: {window: 4}, emits_nothing: [middle, hot]}", True),
        ("{given: {PRICES}, params: {window: 3}, emits_nothing: [middle]}", False),
        ("{given: {PRICES}, params: {window: 3}, emits_nothing: middle}", False),
        ("{expect: {middle: []}}", True),
        ("{given: {}, emits_nothing: [middle]}", True),
        ("{given: {price: [[1, 0]]}, expect: {middle: [[1, -0.0]]}}", True),
        ("{given: {price: [[1, nan], [2, inf]]}, expect: {middle: [[1, NaN], [2, .inf]]}}", True),
        ("{given: {price: [[1, nan]]}, expect: {middle: [[1, 1]]}}", False),
        ("{given: {price: [[1, 1]]}, expect: {middle: [[1, nan]]}}", False),
        ("{given: {price: [[1, 1.1]]}, expect: {middle: [[1, 1]]}, tolerance: 0.2}", True),
        ("{given: {price: [[1, 1.1]]}, expect: {middle: [[1, 1]]}, tolerance: 0.05}", False),
        ("{given: {price: [[1, inf]]}, expect: {middle: [[1, 1]]}, tolerance: 1e300}", False),
        # any port of the graph, and an input
        ("{given: {PRICES}, expect: {ma: [[1, 2], [2, 4], [3, 6]], hot.o1: [[1, false]]}}", False),
        ("{given: {price: [[1, 2]]}, expect: {ma.o1: [[1, 2]], price: [[1, 2]]}}", True),
        ("{given: {price: [[1, 2]]}, expect: {pair.o1: [[1, 2]], pair.o2: [[1, null]]}}", True),
        ("{given: {PRICES, other: [[1, null], [2, 7]]}, expect: {pair.o2: NULLS}}", True),
        ("{given: {price: [[1, 2]]}, expect: {pair.o2: [[1, 0]]}}", False),
        # keys
        (BOTH + "expect: {middle: [[A, 1, 2], [A, 2, 6], [B, 1, 4]]}}", True),
        (BOTH + "expect: {middle: [[A, 1, 2], [B, 1, 4], [A, 2, 6]]}}", True),
        (BOTH + "expect: {middle: [[A, 1, 2], [A, 2, 6], [C, 1, 4]]}}", False),
        ("{key: s, given: {price: [[7, 1, 2]]}, expect: {middle: [[7, 1, 2]]}}", True),
        ('{key: s, given: {price: [[7, 1, 2]]}, expect: {middle: [["7", 1, 2]]}}', False),
        ('{key: s, given: {price: [["7", 1, 2]]}, expect: {middle: [["7", 1, 2]]}}', True),
        ("{key: s, given: {price: [[~, 1, 2]]}, expect: {middle: [[null, 1, 2]]}}", True),
        ("{key: s, given: {price: [[null, 1, 2]]}, expect: {middle: [[x, 1, 2]]}}", False),
        (TWO + "expect: {middle: [[A, 2, 1, 5], [A, 10, 1, 6], [B, 1, 1, 7]]}}", True),
        (TWO + "expect: {middle: [[A, 2, 1, 5], [A, 10, 1, 6], [B, 2, 1, 7]]}}", False),
        # errors
        ("{given: {price: [[2, 1], [1, 1]]}, error: RT202}", True),
        ("{given: {price: [[1, 1], [1, 1]]}, error: RT203}", True),
        ("{given: {price: [[1, 1], [1, 1]]}, error: RT202}", False),
        ("{given: {price: [[1, 1]]}, error: RT202}", False),
        ("{given: {price: [[2, 1], [1, 1]]}, expect: {middle: [[2, 1]]}}", False),
        ("{params: {window: 0}, error: RT112}", True),
        ("{params: {window: 0}, error: RT111}", False),
        ("{params: {window: 0}, emits_nothing: [middle]}", False),
        ("{params: {window: 2.5}, error: RT113}", True),
        # nothing said yet
        ("{given: {PRICES}}", False),
        ("{given: {PRICES}, expect: {middle: }}", False),
        ("{given: {}, expect: {}}", False),
    ],
)
def test_a_test_passes_or_fails(test, passes):
    test = test.replace("PRICES", PRICES).replace("NULLS", "[[1, null], [2, 7], [3, ~]]")
    outcome = outcome_of(test)
    assert outcome.passed is passes, str(outcome)
    assert bool(shown(outcome)) is not passes


def test_text_integers_and_booleans():
    graph = """\
inputs: {a: integer, b: boolean, c: text?}
operators: {x: {type: Identity, in: a}, y: not b, z: {type: Identity, in: c}}
outputs: [x, y, z]
tests:
"""
    good = """\
  - given:
      a: [[1, 9223372036854775807]]
      b: [[1, false]]
      c: [[1, "null"], [2, null], [3, "5"], [4, "a, b"], [5, no]]
    expect:
      x: [[1, 9223372036854775807]]
      y: [[1, true]]
      z: [[1, "null"], [2, ~], [3, 5], [4, "a, b"], [5, "no"]]
"""
    assert outcome_of(good, graph).passed
    assert not outcome_of(good.replace("x: [[1, 922", "x: [[1, 822"), graph).passed
    bad = outcome_of(good.replace('z: [[1, "null"]', "z: [[1, null]"), graph)
    assert '1      null   "null"  differs' in shown(bad)


def test_the_rows_of_inputs_go_in_by_time_and_each_as_written():
    given = "{price: [[2, 1], [5, 2], [4, 3]], other: [[1, 1], [2, 2], [9, 3]]}"
    suite = graph_tests.load_suite(written(f"  - {{given: {given}, error: RT202}}\n"))
    rows = graph_tests.run_tests.sort_by_time(suite.tests[0].given)
    assert [(name, row) for name, _, row in rows] == [
        ("other", (1, 1)),
        ("price", (2, 1)),
        ("other", (2, 2)),
        ("price", (5, 2)),
        ("price", (4, 3)),
        ("other", (9, 3)),
    ]
    assert suite.run(suite.tests[0]).passed


def test_policies_of_io_hold_in_tests():
    late = "given: {price: [[2, 1], [1, 7], [3, 5]]}, expect: {middle: [[2, 1], [3, 5]]}"
    assert not outcome_of(f"{{{late}}}").passed
    assert outcome_of(f"{{{late}}}", "io: {late: drop}\n" + GRAPH).passed
    held = late.replace("[[2, 1], [3, 5]]", "[[1, 7], [2, 1], [3, 5]]")
    assert outcome_of(f"{{{held}}}", "io: {lateness: 2}\n" + GRAPH).passed


def test_parameters_without_a_value_come_from_the_tests():
    graph = GRAPH.replace("window: 1", "window: {type: integer, min: 1}")
    tests = """\
  - {name: a, params: {window: 0}, error: RT112}
  - {name: b, params: {window: 2}, given: {price: [[1, 2], [2, 4]]}, expect: {middle: [[2, 3]]}}
  - {name: c, error: RT111}
  - {name: d, emits_nothing: [hot]}
"""
    suite = graph_tests.load_suite(written(tests, graph))
    assert [suite.run(test).passed for test in suite.tests] == [True, True, True, False]
    with pytest.raises(GraphError, match="RT111"):
        graph_tests.load_suite(written("  - {name: a, error: RT111}\n", graph))
    last = graph_tests.load_suite(written(tests, graph), {"window": 1}).tests[3]
    assert graph_tests.load_suite("g.yaml", {"window": 1}).run(last).passed


def test_compiled_code_gives_the_same():
    tests = "  - {given: {price: [[1, 0.1]]}, expect: {middle: [[1, 0.1]]}}\n"
    suite = graph_tests.load_suite(written(tests))
    assert all(suite.run(suite.tests[0], compiled=compiled).passed for compiled in (False, True))


# ---- what is refused, with its place


@pytest.mark.parametrize(
    ("test", "code", "told"),
    [
        ("{error: RT999}", "RT150", "there is no error 'RT999'"),
        ("{error: RT1112}", "RT150", "did you mean 'RT112'"),
        ("{error: RT190}", "RT150", "there is no error 'RT190'"),
        ("{error: RT112, expect: {middle: []}}", "RT150", "not both"),
        ("{error: RT112, emits_nothing: [middle]}", "RT150", "not both"),
        ("{expect: {middle: []}, emits_nothing: [middle]}", "RT150", "keep one"),
        ("{key: [s, s], emits_nothing: [middle]}", "RT106", "given twice"),
        ("{key: s, expect: {middle: [[1, 2]]}}", "RT150", "[key, t, value]"),
        ("{key: [s, n], expect: {middle: [[a, 1, 2]]}}", "RT150", "[key, key, t, value]"),
        ("{expect: {middle: [[2024-01-31, 2]]}}", "RT150", "set io.unit"),
        ("{expect: {middle: [[soon, 2]]}}", "RT150", "not a time"),
        ("{expect: {middle: [[9223372036854775808, 2]]}}", "RT150", "not a time"),
        ("{given: {price: {csv: ../a.csv}}, error: RT202}", "RT150", "not below"),
        ("{given: {price: {csv: a/../../b.csv}}, error: RT202}", "RT150", "not below"),
        ("{given: {price: {csv: /etc/passwd}}, error: RT202}", "RT150", "not below"),
        ('{given: {price: {csv: "C:\\\\a.csv"}}, error: RT202}', "RT150", "not below"),
        ('{given: {price: {csv: "..\\\\a.csv"}}, error: RT202}', "RT150", "not below"),
        ("{given: {price: {csv: -}}, error: RT202}", "RT150", "not below"),
        ("{given: {price: {csv: }}, error: RT202}", "RT150", "{csv: path}"),
        ("{given: {price: {tsv: a}}, error: RT202}", "RT104", "tsv"),
    ],
)
def test_a_test_of_the_wrong_shape_is_refused(test, code, told):
    found = refused(test)
    assert found[:2] == (code, 9)
    assert told in found[2]


def test_two_tests_of_one_name_are_refused():
    code, line, told = refused("{name: a, error: RT112}\n  - name: a\n    error: RT112")
    assert (code, line) == ("RT106", 10)
    assert "first on line 9" in told


def test_times_as_text_need_a_unit():
    graph = "io: {unit: s}\n" + GRAPH
    test = "{given: {price: [[DAY, 5], ['1970-01-02 00:00:01Z', 6]]}, expect: {middle: ROWS}}"
    rows = "[[86400, 5], [1970-01-02T00:00:01, 6]]"
    test = test.replace("DAY", "1970-01-02").replace("ROWS", rows)
    assert outcome_of(test, graph).passed
    assert "digits finer" in refused("{expect: {middle: [[1970-01-01T00:00:00.5, 1]]}}", graph)[2]
    assert "no such day" in refused("{expect: {middle: [[1970-02-30, 1]]}}", graph)[2]


# ---- rows in files


CSV = "{given: {price: {csv: data/in.csv}}, expect: {middle: {csv: data/out.csv}}}"


def data(**files):
    Path("data").mkdir(exist_ok=True)
    for name, text in files.items():
        Path(f"data/{name.replace('_', '.')}").write_text(text)


def test_rows_in_files():
    data(in_csv="t,price\n1,2\n2,4\n", out_csv="t,value\n1,2\n2,4\n")
    assert outcome_of(CSV).passed
    data(out_csv="t,middle,hot\n2,4,true\n1,2,false\n")
    assert outcome_of(CSV).passed
    data(out_csv="t,middle\n1,2\n2,5\n")
    assert "3  2         5        4  differs" in shown(outcome_of(CSV))


def test_the_columns_and_bad_cells_of_given_files_are_those_of_io():
    graph = "io: {time: at, bad: drop}\n" + GRAPH
    data(in_csv="t,at,price\n9,1,2\n8,2,x\n7,3,4\n", out_csv="t,middle\n1,2\n3,4\n")
    assert outcome_of(CSV, graph).passed
    data(out_csv="t,middle\n1,2\n3,x\n")
    assert "data/out.csv:3: error[RT201]" in shown(outcome_of(CSV, graph))


def test_given_files_are_read_as_io_says_and_expected_ones_are_plain():
    graph = "io: {time: at, null: ['?'], csv: {delimiter: ;, decimal: ',', skip: 1}}\n" + GRAPH
    data(in_csv="a note\nat;price\n1;2,5\n2;?\n3;4\n", out_csv="t,middle\n1,2.5\n3,4\n")
    assert outcome_of(CSV, graph).passed
    own = graph.replace("price: number", "price: {type: number, io: {csv: {skip: 0}}}")
    assert own != graph
    assert "data/in.csv:1: error[RT204]" in shown(outcome_of(CSV, own))
    data(in_csv="at;price\n1;2,5\n2;?\n3;4\n")
    assert outcome_of(CSV, own).passed


def test_a_file_is_beside_the_graph_not_where_one_stands(monkeypatch, tmp_path):
    data(in_csv="t,price\n1,2\n", out_csv="t,middle\n1,2\n")
    path = Path(written(f"  - {CSV}\n")).resolve()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    suite = graph_tests.load_suite(path)
    assert suite.run(suite.tests[0]).passed


def test_keyed_files_and_times_as_text():
    graph = "io: {unit: s}\n" + GRAPH
    data(in_csv="date,s,price\n1970-01-02,A,2\n1970-01-02,B,3\n")
    data(out_csv="t,s,middle\n86400,B,3\n86400,A,2\n")
    test = CSV.replace("{given", "{key: [s], given", 1)
    assert outcome_of(test, graph).passed
    data(out_csv="t,s,middle\n86400,B,3\n")
    assert "A  1970-01-02                  2  unexpected" in shown(outcome_of(test, graph))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "data/in.csv: No such file"),
        ("t,price\n1,abc\n", "data/in.csv:2: error[RT201]"),
        ("t,price\n2,1\n1,1\n", "data/in.csv:3: error[RT202]"),
        ("when,price\n2,1\n", "error[RT204]"),
    ],
)
def test_a_bad_file_of_rows_is_a_failure_with_its_place(text, told):
    data(out_csv="t,middle\n1,2\n")
    if text is not None:
        data(in_csv=text)
    outcome = outcome_of(CSV)
    assert told in shown(outcome)
    assert "Traceback" not in str(outcome)
    code = re.search(r"RT\d+", told)
    given = CSV.partition(" expect")[0]
    assert code is None or outcome_of(f"{given} error: {code[0]}}}").passed


def test_files_need_a_graph_that_is_a_file():
    (outcome,) = rtbot.load(GRAPH + f"  - {CSV}\n").test()
    assert "load the graph from its file" in outcome.fault


# ---- how a failure reads


def test_a_failure_shows_rows_side_by_side_with_their_neighbours():
    outcome = outcome_of("""\
  - name: many
    doc: what it is for
    given:
      price: [[1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [9, 9]]
    expect:
      middle:
        - [1, 1]
        - [2, 2]
        - [3, 3]
        - [4, 4.5]
        - [5, 5]
        - [7, 7]
        - [9, 9]
""")
    assert (
        str(outcome)
        == """\
g.yaml:9: many: failed
what it is for
middle: rows: 1 different, 1 missing, 1 unexpected, 5 right
  line  t  expected  emitted
    17  3         3        3
    18  4       4.5        4  differs
    19  5         5        5
        6                  6  unexpected
    20  7         7           missing
    21  9         9        9"""
    )
    assert outcome.hint == "rtbot test --update g.yaml -k many"


def test_a_failure_is_short_however_long_the_output():
    rows = [[t, t] for t in range(1000)]
    outcome = outcome_of(f"{{given: {{price: {rows}}}, expect: {{middle: [], hot: []}}}}")
    lines = list(outcome.lines())
    assert lines[0] == "middle: rows: 1000 unexpected"
    assert lines[9] == "  and 993 more"
    assert len(lines) == 20


def test_an_unexpected_error_shows_the_line_of_its_row():
    outcome = outcome_of("""\
  - given:
      price:
        - [3, 1]
        - [2, 1]
    expect: {middle: []}
""")
    assert "g.yaml:12: error[RT202]" in outcome.fault
    assert "error[RT202] is expected" in outcome_of("{error: RT202}").fault
    other = outcome_of("{params: {window: 0}, error: RT202}").fault
    assert "another one came" in other
    assert "RT112" in other


@pytest.mark.parametrize(
    ("expected", "emitted", "tolerance", "same"),
    [
        (1.0, 1.0, 0, True),
        (0.1, 0.1 + 2**-60, 0, True),
        (0.1, 0.1 + 2**-55, 0, False),
        (0.0, -0.0, 0, True),
        (NAN, NAN, 0, True),
        (NAN, 1.0, 9, False),
        (1.0, NAN, 9, False),
        (float("inf"), float("inf"), 0, True),
        (float("inf"), 1.0, 9, False),
        (2**53, 2**53 + 1, 0, False),
        (5, 6, 1, True),
        (None, None, 0, True),
        (None, 0, 9, False),
        (0, None, 9, False),
        (True, False, 9, False),
        ("a", "a", 0, True),
        ("a", "b", 9, False),
    ],
)
def test_equal_values(expected, emitted, tolerance, same):
    assert is_close(expected, emitted, tolerance) is same


def test_rows_are_in_the_order_of_keys_and_times():
    rows = [(None, 1, 0), ("b", 1, 0), ("a", 2, 0), (10, 1, 0), (9, 3, 0), ("a", 1, 0)]
    assert [row[:2] for row in sorted(rows, key=rank_row)] == [
        *((9, 3), (10, 1)),
        *(("a", 1), ("a", 2), ("b", 1)),
        (None, 1),
    ]


@pytest.mark.parametrize(
    ("value", "plain", "in_json"),
    [
        (5.0, "5", "5"),
        (-5.0, "-5", "-5"),
        (-0.0, "-0.0", "-0.0"),
        (0.1, "0.1", "0.1"),
        (1e300, "1e+300", "1e+300"),
        (2.0**53, "9007199254740992.0", "9007199254740992.0"),
        (NAN, "nan", '"nan"'),
        (float("-inf"), "-inf", '"-inf"'),
        (2**63 - 1, "9223372036854775807", "9223372036854775807"),
        (True, "true", "true"),
        (None, "null", "null"),
        ("abc", "abc", '"abc"'),
        ("Zürich", "Zürich", '"Zürich"'),
        ("5", '"5"', '"5"'),
        ("null", '"null"', '"null"'),
        ("No", '"No"', '"No"'),
        ("", '""', '""'),
        ("a: b", '"a: b"', '"a: b"'),
        ("a b", '"a b"', '"a b"'),
        ('a"\n\x07\u2028', '"a\\"\\n\\u0007\\u2028"', '"a\\"\\n\\u0007\\u2028"'),
        ("😀", '"😀"', '"😀"'),
    ],
)
def test_values_are_written_so_that_they_read_back(value, plain, in_json):
    assert Notation().cell(value) == plain
    assert Notation(quoted=True).cell(value) == in_json
    assert json.loads(in_json) == (json.loads(in_json) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("style", "unit", "time", "told"),
    [
        (None, "s", 86400, "86400"),
        ("2024-01-01", "s", 86400, "1970-01-02"),
        ("2024-01-01", "s", 86401, "1970-01-02T00:00:01"),
        ("2024-01-01 10:00:00.5", "ms", 1500, "1970-01-01 00:00:01.5"),
        ("2024-01-01T10:00+02:00", "s", 0, "1970-01-01T02:00+02:00"),
        ("2024-01-01", "s", 2**62, str(2**62)),
    ],
)
def test_times_are_written_as_they_are_in_the_test(style, unit, time, told):
    assert Notation(unit, style and detect_style(style)).time(time) == told


# ---- update


def updated(tests, graph=GRAPH, encode=str.encode):
    """What --update makes of the tests; the file then passes, and a second time changes nothing."""
    path = Path(written(""))
    path.write_bytes(encode(graph + tests))
    suite = graph_tests.load_suite(path)
    graph_tests.update(suite, [suite.run(test) for test in suite.tests])
    again = graph_tests.load_suite(path)
    outcomes = [again.run(test) for test in again.tests]
    assert all(outcome.passed for outcome in outcomes if not outcome.fault), outcomes
    assert graph_tests.update(again, outcomes) == []
    data = path.read_bytes()
    before = encode(graph)
    assert data.startswith(before)
    return data[len(before) :].decode()


def update_cases():
    """The cases of the golden file: a title, the tests before, and the tests after."""
    text = (ROOT / "tests/golden/graph_test_updates.txt").read_text(encoding="utf-8")
    for case in text.split("==== ")[1:]:
        title, _, tests = case.partition("\n")
        yield pytest.param(*tests.split("---- becomes\n"), id=title)


UPDATES = list(update_cases())


@pytest.mark.parametrize(("before", "after"), UPDATES)
def test_update_changes_what_differs_and_no_other_byte(before, after):
    assert updated(before) == after


@pytest.mark.parametrize(("before", "after"), UPDATES)
def test_update_keeps_line_ends_and_the_byte_order_mark(before, after):
    def encode(text):
        return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()

    graph = encode(GRAPH)
    found = updated(before, encode=lambda text: graph + encode(text.removeprefix(GRAPH))[3:])
    assert found == after.replace("\n", "\r\n")


def test_update_at_the_end_of_a_file_without_a_line_end():
    before = "  - name: x\n    given:"
    assert updated(before) == before + "\n    expect:\n      middle: []\n      hot: []"


def test_update_writes_times_as_the_test_does():
    graph = "io: {unit: s}\n" + GRAPH
    before = "  - given: {price: [[1970-01-02, 5], [86401, 6]]}\n    expect:\n      middle:\n"
    rows = "[[1970-01-02, 5], [1970-01-02T00:00:01, 6]]"
    after = before.replace("middle:", f"middle: {rows}")
    assert updated(before, graph) == after


JSON = """\
{
\t"inputs": {"price": "number"},
\t"operators": {"ma": {"type": "MovingAverage", "in": "price", "window": 1}},
\t"outputs": {"middle": "ma"},
\t"tests": [
\t\t{
\t\t\t"name": "a",
\t\t\t"key": ["s"],
\t\t\t"given": {"price": [["A", 1, 5], ["A", 2, "nan"]]}
\t\t}
\t]
}
"""


def test_json_stays_json():
    path = Path("g.yaml")
    path.write_text(JSON)
    suite = graph_tests.load_suite(path)
    assert graph_tests.update(suite, map(suite.run, suite.tests)) == ["g.yaml"]
    test = json.loads(path.read_text())["tests"][0]
    assert test["expect"] == {"middle": [["A", 1, 5], ["A", 2, "nan"]]}
    assert [outcome.passed for outcome in rtbot.load(path).test()] == [True]
    halves = JSON.replace('"name": "a"', '"name": "\\ud83d\\ude00"')
    path.write_text(halves)
    suite = graph_tests.load_suite(path)
    with pytest.raises(GraphError, match="two halves"):
        graph_tests.update(suite, map(suite.run, suite.tests))
    assert path.read_text() == halves


def test_a_file_that_has_changed_meanwhile_is_left_alone():
    suite = graph_tests.load_suite(written("  - {given: {price: [[1, 5]]}}\n"))
    outcomes = [suite.run(test) for test in suite.tests]
    text = Path(written("  - {given: {price: [[1, 6]]}}\n")).read_text()
    with pytest.raises(GraphError, match="has changed"):
        graph_tests.update(suite, outcomes)
    assert Path("g.yaml").read_text() == text


def test_update_goes_through_a_link():
    Path("real").mkdir()
    written("  - {given: {price: [[1, 5]]}, expect: {middle: }}\n", path="real/g.yaml")
    Path("g.yaml").symlink_to("real/g.yaml")
    assert run(["test", "--update", "g.yaml"]) == 0
    assert Path("g.yaml").is_symlink()
    assert "[[1, 5]]" in Path("real/g.yaml").read_text()


def filed(test, graph=GRAPH):
    """Update a test whose rows are in files; returns what was written."""
    suite = graph_tests.load_suite(written(f"  - {test}\n", graph))
    text = Path("g.yaml").read_text()
    done = graph_tests.update(suite, [suite.run(one) for one in suite.tests])
    assert Path("g.yaml").read_text() == text
    assert all(outcome.passed for outcome in rtbot.load(Path("g.yaml")).test())
    return done


def test_update_of_rows_in_a_file():
    data(in_csv="t,price\n1,2.5\n2,nan\n")
    assert filed(CSV) == ["data/out.csv"]
    assert Path("data/out.csv").read_text() == "t,middle\n1,2.5\n2,nan\n"
    assert filed(CSV) == []
    data(out_csv="time,value\n1,3\n")
    assert filed(CSV) == ["data/out.csv"]
    assert Path("data/out.csv").read_text() == "time,value\n1,2.5\n2,nan\n"
    both = CSV.replace("out.csv}", "out.csv}, hot: {csv: data/out.csv}")
    Path("data/out.csv").unlink()
    assert filed(both) == ["data/out.csv"]
    assert Path("data/out.csv").read_text() == "t,middle,hot\n1,2.5,false\n2,nan,false\n"


def test_update_of_keyed_rows_in_a_file():
    graph = "io: {unit: s}\n" + GRAPH
    data(in_csv='date,s,price\n1970-01-03,"b,c",1\n1970-01-02,a,2\n')
    assert filed(CSV.replace("{given", "{key: [s], given", 1), graph) == ["data/out.csv"]
    told = 't,s,middle\n1970-01-02,a,2\n1970-01-03,"b,c",1\n'
    assert Path("data/out.csv").read_text() == told


def test_update_spares_a_file_that_has_more_in_it():
    data(in_csv="t,price\n1,2\n", out_csv="t,middle,note\n1,3,x\n")
    suite = graph_tests.load_suite(written(f"  - {CSV}\n"))
    with pytest.raises(GraphError, match=r"other columns: note"):
        graph_tests.update(suite, map(suite.run, suite.tests))
    assert Path("data/out.csv").read_text() == "t,middle,note\n1,3,x\n"


@pytest.mark.parametrize(
    ("items", "column", "told"),
    [
        ([], 99, "[]"),
        (["[1, 2]"], 88, "[[1, 2]]"),
        (["[1, 2]"], 98, "[\n    [1, 2]]"),
        (["x" * 60, "y" * 60], 10, f"[{'x' * 60},\n{' ' * 11}{'y' * 60}]"),
        (["x" * 30, "y" * 60], 50, f"[{'x' * 30},\n    {'y' * 60}]"),
        (["x" * 200], 0, f"[\n {'x' * 200}]"),
    ],
)
def test_lists_are_wrapped(items, column, told):
    assert format_flow(items, column, 0) == told


# ---- the verb


TESTS = """\
  - {name: good one, given: {price: [[1, 5]]}, expect: {middle: [[1, 5]]}}
  - {name: bad one, given: {price: [[1, 5]]}, expect: {middle: [[1, 6]]}}
"""


@pytest.fixture
def call(call):
    return lambda *arguments: call("test", *arguments)


def test_the_verb_runs_every_test(call):
    written(TESTS)
    code, out, err = call("g.yaml")
    assert code == 1
    assert (
        out
        == """\
ok   g.yaml: good one
FAIL g.yaml: bad one
     g.yaml:10
     middle: rows: 1 different
       line  t  expected  emitted
         10  1         6        5  differs
1 passed, 1 failed
"""
    )
    assert "--update" in err
    assert call("g.yaml", "-k", "GOOD") == (0, "ok   g.yaml: good one\n1 passed\n", "")
    assert call("g.yaml", "--grep", "good", "-q") == (0, "1 passed\n", "")
    assert call("g.yaml", "-k", "zzz") == (1, "", "no test has 'zzz' in its name\n")


def test_the_verb_updates(call):
    written(TESTS)
    assert call("g.yaml", "--update", "-k", "good")[:2] == (0, "ok   g.yaml: good one\n1 passed\n")
    code, out, _ = call("g.yaml", "--update")
    assert (code, out.splitlines()[-2:]) == (0, ["updated g.yaml", "2 passed"])
    assert Path("g.yaml").read_text() == GRAPH + TESTS.replace("[[1, 6]]", "[[1, 5]]")
    code, _, err = call("g.yaml", "--update", "-p", "window=3")
    assert (code, "params" in err) == (2, True)


def test_no_tests_are_no_success(call):
    written("", GRAPH.replace("tests:\n", ""))
    told = "no tests found: they go under `tests:` in a graph file\n"
    assert call("g.yaml") == (1, "", told)
    written("")
    assert call("g.yaml") == (1, "", told)
    written(TESTS, path="h.yaml")
    assert call("g.yaml", "h.yaml", "-k", "good")[0] == 0


def test_an_invalid_graph_does_not_hide_the_others(call):
    Path("bad.yaml").write_text("inputs: {a: numbr}\noutputs: [a]\n")
    written(TESTS)
    code, out, err = call("bad.yaml", "g.yaml", "-k", "good")
    assert code == 3
    assert "bad.yaml:1:13: error[RT140]" in err
    assert out == "ok   g.yaml: good one\n1 passed\n"
    code, out, _ = call("bad.yaml", "g.yaml", "--format", "json")
    assert code == 3
    found = json.loads(out)
    assert [problem["code"] for problem in found["problems"]] == ["RT140"]
    assert (found["passed"], found["failed"]) == (1, 1)


def test_a_folder_stands_for_its_graphs(call):
    Path("d").mkdir()
    for name in ("d/b.yaml", "d/a.yml", "d/c.txt"):
        written(TESTS, path=name)
    code, out, _ = call("d", "-k", "good")
    assert (code, out) == (0, "ok   d/a.yml: good one\nok   d/b.yaml: good one\n2 passed\n")
    Path("e").mkdir()
    assert call("e")[0] == 2
    assert call("none.yaml")[0] == 74


def test_parameters_and_compiled_code(call):
    written("  - {name: x, given: {price: [[1, 2], [2, 4]]}, expect: {middle: [[2, 3]]}}\n")
    assert call("g.yaml", "-q")[0] == 1
    assert call("g.yaml", "-q", "-p", "window=2")[0] == 0
    assert call("g.yaml", "-q", "-p", "window=2", "--compiled")[0] == 0
    assert call("g.yaml", "-p", "window=x")[0] == 3


def test_outcomes_as_json(call):
    given = "key: [s], given: {price: [[A, 1, nan]]}"
    written(
        f"  - {{name: x, {given}, expect: {{middle: [[A, 2, 3]], hot: }}}}\n"
        "  - {name: y, error: RT202}\n"
    )
    came = {"status": "unexpected", "line": 0, "expected": None}
    found = json.loads(call("g.yaml", "--format", "json")[1])
    first, second = found["tests"]
    assert first == {
        "file": "g.yaml",
        "line": 9,
        "name": "x",
        "passed": False,
        "fault": "",
        "differences": [
            {
                "output": "middle",
                "key": ["s"],
                "rows": [
                    came | {"emitted": ["A", 1, "nan"]},
                    {"status": "missing", "line": 9, "expected": ["A", 2, 3.0], "emitted": None},
                ],
            },
            {
                "output": "hot",
                "key": ["s"],
                "rows": [came | {"emitted": ["A", 1, False]}],
            },
        ],
    }
    assert "RT202" in second["fault"]
    assert found["updated"] == []


# ---- from Python


def test_a_graph_runs_its_tests():
    written(TESTS)
    good, bad = rtbot.load(Path("g.yaml")).test()
    assert (good.passed, bad.passed) == (True, False)
    assert str(good) == "g.yaml:9: good one: passed"
    assert "differs" in str(bad)
    assert rtbot.load(GRAPH.removesuffix("tests:\n")).test() == []
    source = {
        "inputs": {"a": "number"},
        "operators": {"m": "a * 2"},
        "outputs": ["m"],
        "tests": [{"given": {"a": [[1, 2]]}, "expect": {"m": [[1, 4.0]]}}, {"given": {"a": []}}],
    }
    passed, waiting = rtbot.load(source).test()
    assert passed.passed
    assert "nothing is expected yet" in shown(waiting)
    assert waiting.hint == ""


# ---- pytest


PLUGIN = """\
inputs: {x: number}
operators: {y: {type: TwiceForTest, in: x}}
outputs: [y]
tests:
  - {name: twice, given: {x: [[1, 4]]}, expect: {y: [[1, 8]]}}
"""
OPERATOR = '''\
from rtbot.operator import Operator, In, Out, step

class TwiceForTest(Operator):
    """Doubles every message."""

    i1 = In("number")
    o1 = Out("number")

    @step
    def step(i1):
        return 2.0 * i1
'''


@pytest.fixture
def collected(pytester):
    """Run pytest with files; in a process of its own if need be. Returns its result."""
    assert outcome_of("{given: {price: [[1, 2]]}, expect: {middle: [[1, 2]]}}").passed

    def collecting(*arguments, ini="", apart=False, **files):
        pytester.makefile(".ini", pytest=f"[pytest]\naddopts = --import-mode=importlib\n{ini}")
        for name, text in files.items():
            path = pytester.path / name.replace("__", "/").replace("_yaml", ".yaml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        run = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
        return run("-p", "no:cacheprovider", *arguments)

    return collecting


def test_pytest_runs_a_file_of_the_command_line(collected):
    result = collected("g.yaml", "-v", g_yaml=GRAPH + TESTS)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "g.yaml::good one PASSED*",
            "g.yaml::bad one FAILED*",
            "*_ bad one _*",
            "g.yaml:10: bad one",
            "middle: rows: 1 different",
            "  line  t  expected  emitted",
            "    10  1         6        5  differs",
            "to accept what came: rtbot test --update g.yaml -k 'bad one'",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "raise" not in result.stdout.str()
    collected("g.yaml::good one", g_yaml=GRAPH + TESTS).assert_outcomes(passed=1)
    collected("g.yaml", "-k", "bad", g_yaml=GRAPH + TESTS).assert_outcomes(failed=1, deselected=1)


def test_pytest_runs_the_files_of_the_setting(collected):
    files = {"graphs__g_yaml": GRAPH + TESTS, "other__k_yaml": "{"}
    collected(**files).assert_outcomes()
    ini = "rtbot_graphs =\n    graphs/*.yaml\n    none/**/*.yaml\n"
    collected(ini=ini, **files).assert_outcomes(passed=1, failed=1)
    collected("-n", "2", ini=ini, apart=True, **files).assert_outcomes(passed=1, failed=1)
    collected("other", ini=ini, **files).assert_outcomes()


def test_an_invalid_graph_is_an_error_of_collection(collected):
    result = collected("bad.yaml", bad_yaml="inputs: {a: numbr}\noutputs: [a]\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["bad.yaml:1:13: error[[]RT140[]]*", "*did you mean 'number'*"])
    assert "Traceback" not in result.stdout.str()


def test_pytest_imports_operators_of_ones_own(collected):
    files = {"g_yaml": PLUGIN, "my_ops.py": OPERATOR}
    collected("g.yaml", **files).assert_outcomes(errors=1)
    ini = "rtbot_plugins = my_ops.py\n"
    collected("g.yaml", ini=ini, apart=True, **files).assert_outcomes(passed=1)
    result = collected("g.yaml", ini="rtbot_plugins = none.py\n", **files)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["rtbot_plugins: none.py: there is no such Python file"])


def test_the_plugin_costs_nothing_where_it_is_not_used():
    code = "import sys, pytest, rtbot.pytest_plugin as p; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.split(".")[0] == "rtbot"} == {
        "rtbot",
        "rtbot.pytest_plugin",
    }
    assert loaded & {"numpy", "numba", "yaml", "click", "pyarrow"} == set()


def test_the_suite_of_the_project_runs_its_graphs():
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "graphs"]
    command += ["-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = {line.split("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert found == {f"graphs/{path.name}" for path in (ROOT / "graphs").glob("*.yaml")}
