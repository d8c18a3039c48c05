"""An error about a file shows what the file looks like, and the lines that would read it."""

import shlex

import pytest

import rtbot
from tests.field.table import FORMATS, encode

GRAPH = "inputs: {value: number}\noperators: {o: {type: Identity, in: value}}\noutputs: [o]\n"

LINES = "these lines in the graph would read it:"


def explained(call, text, *arguments, graph=GRAPH, name="x__csv"):
    code, out, err = call("run", "g.yaml", *arguments, g__yaml=graph, **{name: text})
    assert (code, out) == (4, "")
    return [line.strip() for line in err.splitlines() if "taken as UTC" not in line]


def test_all_obstacles_of_a_file_are_in_one_error(call):
    text = "about\nDate;Time;value\n31/1/2024;10:00;1,5\n31/1/2024;10:01;?\n"
    lines = explained(call, text, "x.csv")
    assert lines[0].startswith("x.csv:1: error[RT204]: ")
    traits = "separated by ';', with decimal commas, header in line 2, '?' for no value"
    assert any(traits in line for line in lines)
    assert lines[-6:] == [
        LINES,
        "io:",
        "time: [Date, Time]",
        'time_format: "%d/%m/%Y %H:%M"',
        'null: ["?"]',
        'csv: {delimiter: ";", decimal: ",", skip: 1}',
    ]


def test_the_options_in_use_are_compared(call):
    text = "time;value\n2024-01-01;x1\n2024-01-02;2\n2024-01-03;3\n"
    assert LINES in explained(call, text, "x.csv")
    assert LINES not in explained(call, text, "x.csv", "--csv", "delimiter=;")


@pytest.mark.parametrize(
    "text",
    [
        "t,value\n1,2\n2,abc1\n3,4\n",
        "t,value\n1,2\n2,3,4\n3,4\n4,5\n",
        "t,value\n1,2\nx,3\n3,4\n",
        "t,value\n1,2\n3,3\n2,4\n",
        "t,value\n1,2\n1,3\n2,4\n",
    ],
)
def test_a_bad_cell_of_a_good_file_has_a_short_message(call, text):
    assert len(explained(call, text, "x.csv")) <= 2


def test_a_missing_key_is_suggested_where_times_repeat(call):
    text = "t,name,value\n1,a,2\n1,b,3\n2,a,4\n2,b,5\n3,a,6\n3,b,7\n"
    assert "key: [name]" in explained(call, text, "x.csv")


def test_an_hour_that_is_there_twice_needs_a_zone(call):
    text = "time,value\n2022-11-06 00:00,1\n2022-11-06 01:00,2\n2022-11-06 01:00,3\n"
    told = explained(call, text, "x.csv")
    assert any(line.startswith('timezone: "America/New_York"   # a guess') for line in told)
    assert "ambiguous: order" in told
    shown = explained(call, text, "x.csv", "--timezone", "America/New_York")
    assert LINES not in shown


def test_another_format_than_the_name_says(call):
    text = '{"t": 1, "value": 2}\n{"t": 2, "value": 3}\n'
    assert explained(call, text, "x.csv")[-1].endswith("say --input-format jsonl")


@pytest.mark.parametrize("one", FORMATS[::3], ids=lambda one: one["name"])
def test_an_error_about_any_format_has_a_next_step(call, own_folder, one):
    (own_folder / one["file"]).write_bytes(encode(one))
    code, out, err = call("run", "g.yaml", one["file"], g__yaml=GRAPH)
    assert (code, out) == (4, "") or code == 0
    assert code == 0 or len(err.splitlines()) > 1


@pytest.mark.parametrize(
    "one", [one for one in FORMATS if one["rows"]][::3], ids=lambda o: o["name"]
)
def test_a_graph_for_a_file_runs_at_once(call, own_folder, one):
    (own_folder / one["file"]).write_bytes(encode(one))
    code, out, err = call("init", "g", "--data", one["file"])
    assert (code, out) == (0, "")
    (line,) = [line for line in err.splitlines() if line.startswith("  rtbot run ")]
    code, out, err = call(*shlex.split(line)[1:])
    assert (code, out) == (0, ""), err
    assert "late" not in err
    assert (own_folder / "g-chart.svg").read_bytes().startswith(b"<svg")
    assert len((own_folder / "g-out.csv").read_text(encoding="utf-8").splitlines()) > 1


def test_no_graph_is_made_for_what_cannot_be_read(call):
    code, out, err = call("init", "g", "--data", "x.csv", x__csv="Time,x\n10:00,1\n10:01,2\n")
    assert (code, out) == (4, "")
    assert "without a date" in err
    code, _, err = call("init", "g", "--data", "x.csv", "--from", "counter")
    assert (code, "leave --from out" in err) == (2, True)
    code, _, err = call("init", "g", "--data", "nothing.csv")
    assert code == 74


def test_read_explains_a_file_like_a_run(tmp_path):
    file = tmp_path / "strom.csv"
    file.write_text("Tag;Wert\n01.02.2024;1,5\n02.02.2024;2,5\n", "utf-8")
    with pytest.raises(rtbot.DataError) as caught:
        rtbot.read(file)
    assert 'csv: {delimiter: ";", decimal: ","}' in caught.value.hint
