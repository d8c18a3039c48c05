"""The section `io`: how files are written, what an input has of its own, what a call gives."""

import pytest

import rtbot
from rtbot.graph.check import check
from rtbot.graph.check.io_section import check_io
from rtbot.graph.document import load_document
from rtbot.graph.model import CsvDialect, Io, ReadOptions

PLAIN = "inputs: {a: number, b: number}\noperators: {m: a + b}\noutputs: [m]\n"
OWN = "inputs: {a: number, b: {type: number, io: OWN}}\noperators: {m: a + b}\noutputs: [m]\n"


def load_io(text, params=""):
    return rtbot.load(f"{PLAIN}{params}io: {text}\n").checked.io


def load_own(own, io="{}"):
    found = rtbot.load(OWN.replace("OWN", own) + f"io: {io}\n").checked
    assert found.inputs["a"].io is None
    return found.inputs["b"].io


WRITTEN = """{delimiter: ;, decimal: ',', thousands: ., quote: "'", encoding: latin-1,
  skip: 2, skip_after: 1, comment: '#'}"""
DIALECT = CsvDialect(";", ",", ".", "'", "latin-1", 2, 1, "#")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{time: at}", Io(time=("at",))),
        ("{time: [Date, Time]}", Io(time=("Date", "Time"))),
        ("{key: {m: text, k: integer}}", {"m": "text", "k": "integer"}),
        ("{null: '?'}", ReadOptions(null=("?",))),
        ("{null: [NA, -999, 1e3, null, no, 010]}", ("NA", "-999", "1e3", "null", "no", "010")),
        ("{columns_as: meter}", Io(key=("meter",), reading=ReadOptions(columns_as="meter"))),
        (
            f"{{csv: {WRITTEN}}}",
            DIALECT,
        ),
        ("{csv: {names: [t, a, b]}}", CsvDialect(names=("t", "a", "b"))),
        ("{csv: {delimiter: tab}}", CsvDialect("\t")),
        ("{csv: {delimiter: blank}}", CsvDialect("blank")),
        ("{time_format: unix_ms}", ReadOptions(time_format="unix_ms")),
        ("{time_format: '%d/%m/%Y'}", ReadOptions(time_format="%d/%m/%Y")),
        (
            "{timezone: Europe/Madrid, ambiguous: order, nonexistent: shift}",
            ReadOptions(timezone="Europe/Madrid", ambiguous="order", nonexistent="shift"),
        ),
    ],
)
def test_what_the_keys_hold(text, expected):
    found = load_io(text)
    parts = [found, found.reading, found.reading.csv, found.reading.null, found.reading.key_types]
    assert expected in parts


def test_values_may_be_parameters_and_dollars_are_escaped():
    params = "params: {sign: ';', lost: -999}\n"
    found = load_io("{null: [$lost, $$], csv: {delimiter: $sign}, time: $$t}", params)
    assert found.reading == ReadOptions(null=("-999", "$"), csv=CsvDialect(";"))
    assert found.time == ("$t",)


@pytest.mark.parametrize(
    ("text", "code", "words", "hint"),
    [
        ("{tz: UTC}", "RT104", "unknown key 'tz' in io", "did you mean 'timezone'?"),
        ("{na_values: x}", "RT104", "unknown key", "did you mean 'null'?"),
        ("{delimiter: ;}", "RT104", "unknown key", "`csv: {delimiter: ...}`"),
        ("{csv: {null: x}}", "RT104", "unknown key 'null' in csv", "`io: {null: ...}`"),
        ("{csv: {sep: ;}}", "RT104", "unknown key 'sep' in csv", "did you mean 'delimiter'?"),
        ("{csv: [x]}", "RT105", "csv is a mapping", ""),
        ("{csv: {delimiter: semicolon}}", "RT112", "one character, tab or blank", "';'"),
        ("{csv: {decimal: x}}", "RT112", "a point or a comma", ""),
        ("{csv: {decimal: ','}}", "RT112", "csv.delimiter and csv.decimal", "add the delimiter"),
        ("{csv: {thousands: .}}", "RT112", "csv.thousands and csv.decimal", "`decimal: ','`"),
        ("{csv: {encoding: latin1x}}", "RT112", "is not known", "did you mean 'latin-1'?"),
        ("{csv: {skip: -1}}", "RT112", "of at least 0", ""),
        ("{csv: {skip: two}}", "RT113", "an integer", ""),
        ("{csv: {names: []}}", "RT112", "0 elements", ""),
        ("{csv: {names: [t, t]}}", "RT106", "given twice: 't'", ""),
        ("{null: {a: b}}", "RT105", "a text or a list", ""),
        ("{null: [[a]]}", "RT105", "a token is text", ""),
        ("{null: [a, '']}", "RT112", "an empty element", "absent anyway"),
        ("{null: ' NA'}", "RT112", "has blanks around it", "write 'NA'"),
        ("{null: }", "RT105", "has no value", ""),
        ("{time: []}", "RT112", "0 elements", ""),
        ("{time: [a, a]}", "RT106", "given twice", ""),
        ("{key: {m: txt}}", "RT112", "one of text, integer", "did you mean 'text'?"),
        ("{key: [{m: text}]}", "RT105", "a column or a list", "{COLUMN: text}"),
        ("{columns_as: m, key: [k]}", "RT160", "none of the key columns k", "add it to `key`"),
        ("{ambiguous: order}", "RT116", "needs a timezone", "timezone: "),
        ("{ambiguous: oder, timezone: UTC}", "RT112", "one of error", "did you mean 'order'?"),
        ("{timezone: Europe/Madrit}", "RT112", "'Europe/Madrit'", "'Europe/Madrid'"),
        ("{timezone: UTC, time_format: unix}", "RT116", "no meaning for unix", "leave it out"),
        ("{time_format: '%Q'}", "RT112", "%Q", ""),
    ],
)
def test_what_is_wrong_has_a_code_and_a_hint(text, code, words, hint):
    with pytest.raises(rtbot.GraphError) as caught:
        load_io(text)
    (problem,) = caught.value.problems
    assert (problem.code, problem.mark.line) == (code, 4)
    assert words in problem.message
    assert hint in problem.hint


def test_all_obstacles_of_a_dialect_are_reported_at_once():
    text = "{csv: {delimiter: ab, decimal: x, encoding: nope, skip: 1, quote: xx}, null: [[]]}"
    with pytest.raises(rtbot.GraphError) as caught:
        load_io(text)
    columns = [problem.mark.column for problem in caught.value.problems]
    line = f"io: {text}"
    wanted = [line.index(f" {sign}") + 2 for sign in ("ab", "x,", "nope", "xx", "[[")]
    assert columns == [*wanted[:4], wanted[4] + 1]


def test_an_input_has_the_io_of_the_graph_with_its_own_keys_over_it():
    io = "{time: at, key: [k], null: [NA], bad: drop, csv: {delimiter: ;, skip: 1}, unit: s}"
    found = load_own("{time: [d, h], late: drop, lateness: 2s, csv: {skip: 3}, null: ['?']}", io)
    assert found == Io(
        *("s", ("d", "h"), ("k",), "drop", "error", 2, "drop"),
        ReadOptions(null=("?",), csv=CsvDialect(";", skip=3)),
    )
    assert load_own("{}", io) is None
    assert load_own("", io) is None


@pytest.mark.parametrize(
    ("own", "code", "hint"),
    [
        ("{key: [k]}", "RT104", "of the whole graph"),
        ("{unit: s}", "RT104", "of the whole graph"),
        ("{columns_as: k}", "RT104", "of the whole graph"),
        ("{skip: 1}", "RT104", "`csv: {skip: ...}`"),
        ("{lat: drop}", "RT104", "did you mean 'late'?"),
        ("[x]", "RT105", ""),
        ("{csv: {decimal: ','}}", "RT112", "add the delimiter"),
    ],
)
def test_what_is_wrong_in_the_io_of_an_input(own, code, hint):
    with pytest.raises(rtbot.GraphError) as caught:
        load_own(own)
    (problem,) = caught.value.problems
    assert (problem.code, problem.mark.line) == (code, 1)
    assert hint in problem.hint


def test_rows_of_texts_of_one_input_cannot_be_summed():
    text = "inputs: {a: number, b: {type: text, io: {duplicates: sum}}}\noutputs: [a, b]\n"
    with pytest.raises(rtbot.GraphError, match="duplicates: sum needs numbers, b is text"):
        rtbot.load(text)
    rtbot.load(text.replace("text", "integer"))


def test_what_a_call_gives_is_for_all_inputs():
    document = load_document(
        OWN.replace("OWN", "{late: error, null: [x], csv: {skip: 3, comment: '#'}}")
        + "io: {late: error, csv: {skip: 1, encoding: latin-1}}\n"
    )
    given = {"late": "drop", "null": ["?"], "csv": {"skip": "2", "delimiter": ";"}}
    found = check(document, None, given)
    own = found.inputs["b"].io
    assert found.io.late == own.late == "drop"
    assert found.io.reading.null == own.reading.null == ("?",)
    assert found.io.reading.csv == CsvDialect(";", encoding="latin-1", skip=2)
    assert own.reading.csv == CsvDialect(";", encoding="latin-1", skip=2, comment="#")


def test_a_mapping_alone_is_checked_as_the_section():
    found = check_io({"time": ["d", "t"], "null": [-999], "csv": {"skip": 2}, "lateness": 5})
    assert found.time == ("d", "t")
    assert found.reading == ReadOptions(null=("-999",), csv=CsvDialect(skip=2))
    with pytest.raises(rtbot.GraphError) as caught:
        check_io({"csv": {"delimiter": ";;"}, "lateness": "5s", "bad": "no"})
    places = [problem.place for problem in caught.value.problems]
    assert sorted(places) == [f"<mapping> io.{key}" for key in ("bad", "csv.delimiter", "lateness")]


def test_the_canonical_text_keeps_it():
    text = OWN.replace("OWN", "{null: [NA], csv: {decimal: ',', delimiter: ;}}")
    graph = rtbot.load(text + "io: {key: {k: text}, time: [d, t], csv: {comment: '#'}, null: -1}\n")
    again = rtbot.load(graph.to_yaml())
    assert again == graph
    assert again.checked.inputs["b"].io == graph.checked.inputs["b"].io
    assert rtbot.load(text) != rtbot.load(text.replace("NA", "NB"))
