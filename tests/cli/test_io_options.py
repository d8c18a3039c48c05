"""Options of `rtbot run` and `compare` that are keys of `io`."""

import pytest

from rtbot.cli.io_options import collect_io, split_names

pytestmark = pytest.mark.usefixtures("own_folder")

GRAPH = "inputs: {x: number}\noperators: {y: x * 2}\noutputs: [y]\n"
FILE = "Date;Time;x\n31.01.2024;10:00;1,5\n31.01.2024;11:00;?\n01.02.2024;10:00;2,5\n"
SEMICOLON = ("--csv", "delimiter=;", "--csv", "decimal=,", "--null", "?")
GERMAN = (*SEMICOLON, "--time", "Date,Time", "--time-format", "%d.%m.%Y %H:%M")


def test_options_read_what_io_reads(call):
    csv = "{delimiter: ;, decimal: ','}"
    io = f"{{time: [Date, Time], time_format: '%d.%m.%Y %H:%M', null: '?', csv: {csv}}}"
    graph = f"{GRAPH}io: {io}\n"
    code, out, _ = call("run", "g.yaml", "d.csv", "-q", g__yaml=graph, d__csv=FILE)
    assert (code, out.count("\n")) == (0, 3)
    assert call("run", "o.yaml", "d.csv", "-q", *GERMAN, o__yaml=GRAPH)[:2] == (0, out)
    spread = ("--time", "Date", "--time", "Time", *GERMAN[-2:], *SEMICOLON)
    assert call("run", "o.yaml", "d.csv", "-q", *spread)[:2] == (0, out)
    zoned = call("run", "o.yaml", "d.csv", "-q", *GERMAN, "--timezone", "Asia/Tokyo")[1]
    assert "+09:00" in zoned


def test_options_go_over_the_io_of_the_graph_and_of_inputs(call):
    graph = "inputs: {x: {type: number, io: {null: [NA], csv: {delimiter: '|'}}}}\noutputs: [x]\n"
    data = "t;x\n1;5\n2;?\n"
    options = ("--csv", "delimiter=;", "--null", "?", "-q")
    assert call("run", "g.yaml", "d.csv", *options, g__yaml=graph, d__csv=data)[:2] == (
        *(0, "t,x\n1,5\n"),
    )


def test_compare_takes_them_too(call):
    options = (*GERMAN, "--runs", "1")
    code, out, _ = call("compare", "g.yaml", "d.csv", *options, g__yaml=GRAPH, d__csv=FILE)
    assert (code, "g: 2 rows" in out) == (0, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--csv", "delimeter=;"), "--csv delimeter=;: unknown key 'delimeter' in csv; did you"),
        (("--csv", "delimiter"), "--csv takes KEY=VALUE"),
        (("--csv", "delimiter=semicolon"), "--csv delimiter=semicolon: "),
        (("--csv", "skip=two"), "--csv skip=two: skip is two, an integer of at least 0"),
        (("--null", " NA"), "--null: the token ' NA' has blanks around it"),
        (("--timezone", "Europe/Madrit"), "--timezone Europe/Madrit: "),
        (("--time-format", "%Q"), "--time-format %Q: "),
        (("--time", "a,a"), "--time: a column is given twice: 'a'"),
    ],
)
def test_a_wrong_option_is_a_wrong_use(call, options, told):
    code, out, err = call("run", "g.yaml", "d.csv", *options, g__yaml=GRAPH, d__csv=FILE)
    assert (code, out) == (2, "")
    assert told in err


def test_a_key_may_have_a_comma_in_its_name(call):
    graph = "inputs: {x: number}\noutputs: [x]\n"
    data = 't,"a, b",c,x\n1,k,m,5\n'
    options = ("--key", '"a, b",c', "-q")
    found = call("run", "g.yaml", "d.csv", *options, g__yaml=graph, d__csv=data)
    assert found[:2] == (0, 't,"a, b",c,x\n1,k,m,5\n')


def test_a_wrong_graph_stays_one(call):
    code, _, err = call("run", "g.yaml", "d.csv", "--null", "?", g__yaml="inputs: {x: numbr}\n")
    assert code == 3
    assert "g.yaml:1:13: error[RT140]" in err


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["a"], ["a"]),
        (["a,b", "c"], ["a", "b", "c"]),
        (["#YY, MM"], ["#YY", "MM"]),
        (['"Date, UTC",Time'], ["Date, UTC", "Time"]),
        (["$t"], ["$t"]),
        ([""], [""]),
    ],
)
def test_names_of_columns(texts, names):
    assert split_names(texts) == names


def test_settings_are_texts_that_the_graph_converts():
    assert collect_io({"time": ("$t,x",)}) == {"time": ["$$t", "x"]}
    options = {"csv": ("skip=2", "names=t,x", "comment=$", "delimiter==")}
    wanted = {"skip": "2", "names": ["t", "x"], "comment": "$$", "delimiter": "="}
    assert collect_io(options) == {"csv": wanted}
    assert collect_io({"time": (), "csv": (), "null": (), "timezone": None}) == {}
