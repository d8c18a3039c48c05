"""`rtbot datalog`: files of facts, the shell, Ctrl-C and kill."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rtbot.cli.shell_terminal import make_completer
from rtbot.database.fact_folder import format_float
from tests.subprocess_runs import ROOT

GOLDEN = Path(__file__).parents[1] / "golden" / "datalog_cases.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
EPOCHS = [case for case in CASES if case.get("epochs") and "optional" not in case["tags"]]
REACH = """\
.decl edge(x:number, y:number)
.input edge
.decl path(x:number, y:number)
.output path
.printsize path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
EDGES = "1\t2\n2\t3\n"

pytestmark = pytest.mark.usefixtures("own_folder")


# ---- files


def test_facts_in_results_out(call):
    code, out, err = call("datalog", "p.dl", p__dl=REACH, edge__facts=EDGES)
    assert (code, out, err) == (0, "path\t3\n", "")
    assert Path("path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ("in", "in: a folder of facts is an option: -F in"),
        ("facts.csv", '.input R(filename="facts.csv", delimiter=",")'),
        ("in/edge.facts", "of the folder that -F says; the program names another file"),
    ],
)
def test_facts_that_are_no_option_are_told(extra, told, call):
    Path("in").mkdir()
    code, out, err = call("datalog", "p.dl", extra, p__dl=REACH, edge__facts=EDGES)
    assert (code, out) == (2, "")
    assert told in err
    assert not Path("path.csv").exists()


def test_folders(call):
    Path("in").mkdir()
    Path("in/edge.facts").write_text("1\t2\r\n")
    code, out, _ = call("datalog", "p.dl", "-F", "in", "-D", "out/of", p__dl=REACH)
    assert (code, out) == (0, "path\t1\n")
    assert Path("out/of/path.csv").read_text() == "1\t2\n"
    code, out, _ = call("datalog", "p.dl", "-F", "in", "-D", "-")
    assert out.splitlines() == [
        *(
            "---------------",
            "path",
            "x\ty",
            "===============",
            "1\t2",
            "===============",
            "path\t1",
        )
    ]
    code, _, err = call("datalog", "p.dl", "-F", "in", "-D", "p.dl")
    assert code == 74
    assert "p.dl" in err


@pytest.mark.parametrize("case", EPOCHS, ids=lambda case: case["id"])
def test_a_shared_case_all_at_once(case, call):
    facts = {}
    for epoch in case["epochs"]:
        for relation, rows in epoch["remove"].items():
            facts[relation] = [row for row in facts.get(relation, []) if row not in rows]
        for relation, rows in epoch["insert"].items():
            facts[relation] = facts.get(relation, []) + rows
    Path("case.dl").write_text(case["program"])
    for relation in {line.split()[1] for line in case["program"].splitlines() if ".input" in line}:
        lines = ["\t".join(map(str, row)) + "\n" for row in facts.get(relation, [])]
        Path(f"{relation}.facts").write_text("".join(lines))
    code, _, err = call("datalog", "case.dl")
    assert (code, err) == (0, "")
    for relation, rows in case["epochs"][-1]["expect"].items():
        found = [line.split("\t") for line in Path(f"{relation}.csv").read_text().splitlines()]
        expected = [[format_cell(value) for value in row] for row in rows]
        assert sorted(found) == sorted(expected)


def format_cell(value):
    return format_float(value) if isinstance(value, float) else str(value)


def test_a_shared_case_with_a_bad_file(call):
    case = next(case for case in CASES if case["id"] == "err_bad_fact_file")
    for name, text in case["fact_files"].items():
        Path(name).write_text(text)
    code, out, err = call("datalog", "case.dl", case__dl=case["program"])
    assert (code, out) == (4, "")
    assert "error[RT2" in err


KINDS = """\
.decl r(n:number, u:unsigned, f:float, s:symbol)
.input r{}
.output r{}
"""


def test_values_of_all_types(call):
    facts = '-5\t18446744073709551615\t1e3\ta b\n0x10\t0\tnan\t\n7\t1\t-inf\té"\n'
    code, _, err = call("datalog", "p.dl", p__dl=KINDS.format("", ""), r__facts=facts)
    assert (code, err) == (0, "")
    assert Path("r.csv").read_text() == (
        '-5\t18446744073709551615\t1000\ta b\n7\t1\t-inf\té"\n16\t0\tnan\t\n'
    )


def test_dialects_of_files(call):
    given = '(filename="in.csv", delimiter=",", headers=true, rfc4180=true)'
    out = '(filename="out.csv", delimiter=",", headers=true, rfc4180=true)'
    facts = 'n,u,f,s\n1,2,3.5,"a,""b"""\n2,3,4,plain\n'
    Path("in.csv").write_text(facts)
    code, _, err = call("datalog", "p.dl", p__dl=KINDS.format(given, out))
    assert (code, err) == (0, "")
    assert Path("out.csv").read_text() == facts
    given = '(filename="in.txt", delimiter="|", columns="3:0:1:2")'
    Path("in.txt").write_text("2|0.5|x|1|more\n")
    code, _, err = call("datalog", "p.dl", p__dl=KINDS.format(given, ""))
    assert (code, err) == (0, "")
    assert Path("r.csv").read_text() == "1\t2\t0.5\tx\n"


def test_compressed_files(call):
    program = REACH.replace(".output path", ".output path(compress=true)")
    call("datalog", "p.dl", p__dl=program, edge__facts=EDGES)
    again = REACH.replace(".input edge", '.input edge(filename="path.csv.gz", compress=true)')
    code, out, _ = call("datalog", "p.dl", p__dl=again)
    assert (code, out) == (0, "path\t3\n")
    Path("path.csv.gz").write_bytes(Path("path.csv.gz").read_bytes()[:-9])
    code, _, err = call("datalog", "p.dl")
    assert code == 4
    assert "path.csv.gz: error[RT208]: a damaged gzip file" in err


def test_facts_from_stdin(call, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\t2\n2\t1\n")))
    program = REACH.replace(".input edge", ".input edge(IO=stdin)")
    code, out, _ = call("datalog", "p.dl", p__dl=program)
    assert (code, out) == (0, "path\t4\n")


WRONG = {
    "1\tx\n": ["edge.facts:1:3: error[RT201]: 'x' is not an integer", "declared as y:number"],
    "1\t\n": ["edge.facts:1:3: error[RT211]"],
    "1\t2.0\n": ["error[RT201]: '2.0' is not an integer"],
    "1\t9223372036854775808\n": ["edge.facts:1:3: error[RT213]", "beyond 64 bits"],
    "1\n": ["edge.facts:1:1: error[RT207]: edge needs 2 cells, this line has 1", "x:number"],
    "1\t2\t3\n": ["edge.facts:1:5: error[RT207]: edge needs 2 cells, this line has 3"],
    "1,2\n": ['if a comma divides them here, write .input edge(delimiter=",")'],
    "1;2\n": ['if a semicolon divides them here, write .input edge(delimiter=";")'],
    "1 2\n": ['if a blank divides them here, write .input edge(delimiter=" ")'],
    "1\t2\n\n": ["edge.facts:2:1: error[RT207]: an empty line", "remove the line"],
    "1\t2\n3\t\xff\n": ["edge.facts:2:3: error[RT209]", "UTF-8"],
    "x\ty\nz\n": ["edge.facts:1:1:", "edge.facts:1:3:", "edge.facts:2:1:"],
}


@pytest.mark.parametrize("facts", WRONG)
def test_wrong_files_say_where_and_what_to_do(facts, call):
    data = facts.encode("latin-1")
    code, out, err = call("datalog", "p.dl", p__dl=REACH, edge__facts=data)
    assert (code, out) == (4, "")
    for text in WRONG[facts]:
        assert text in err
    assert not Path("path.csv").exists()


def test_all_files_are_looked_at_up_to_a_number_of_problems(call):
    program = REACH + ".decl node(x:number)\n.input node\n"
    code, _, err = call("datalog", "p.dl", p__dl=program, edge__facts="1\n")
    assert code == 4
    assert "edge.facts:1:1" in err
    assert "node.facts: error[RT531]: there is no file of facts, which p.dl:8 asks for" in err
    code, _, err = call("datalog", "p.dl", edge__facts="1\tx\n" * 1000, node__facts="x\n")
    assert err.count("error[") == 20
    assert "more than 20 problems" in err


def test_a_wrong_program_and_wrong_options(call):
    code, _, err = call("datalog", "p.dl", p__dl=REACH + "path(x) :- edg(x).\n")
    assert code == 3
    assert "p.dl:8:1: error" in err
    assert call("datalog", "none.dl")[0] == 74
    assert call("datalog", "p.dl", "--max-facts", "0")[0] == 2
    code, _, err = call("datalog", "p.dl", p__dl=b"\xff")
    assert code == 3
    assert "p.dl:1:1: error[RT109]" in err


def test_limits(call):
    program = ".decl n(x:number)\n.output n\nn(1).\nn(x + 1) :- n(x).\n"
    code, _, err = call("datalog", "p.dl", "--max-facts", "1000", p__dl=program)
    assert code == 6
    assert "p.dl:4:1: error[RT521]: more than 1000" in err
    code, _, err = call("datalog", "p.dl", "--max-iterations", "10", p__dl=program)
    assert "more than 10 rounds" in err
    assert not Path("n.csv").exists()


# ---- the shell


@pytest.fixture
def shell(call, monkeypatch):
    def talk(lines, *options, **files):
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        files = files or {"p__dl": REACH}
        return call("datalog", "p.dl", "-i", *options, **files)

    return talk


def without_times(out):
    lines = out.splitlines()
    return [line.partition(":")[0] if line.startswith("epoch") else line for line in lines]


def test_every_commit_answers_what_changed(shell):
    code, out, err = shell(
        "insert edge(1, 2), edge(2, 3).\ncommit\nprint path\nremove edge(1,2); insert\n"
        "remove edge(1,2). edge(7, 7)\ncommit\ncommit.\nprint path 1\nrelations\nquit\nfoo\n"
    )
    assert without_times(out) == [
        *("epoch 2", "  path +3 -0", "path(1, 2)", "path(1, 3)", "path(2, 3)"),
        *("epoch 3", "  path +0 -2", "epoch 4", "path(2, 3)", "edge 1", "path 1"),
    ]
    assert code == 4
    assert "column 18: a relation is expected, not insert" not in err


def test_texts_and_numbers_in_commands(shell):
    code, out, err = shell(
        'insert r(-1, 0x10, 2, "a \\"b\\"\\t\\\\")\ninsert r(1, 2, nan, ""), r(2, 3, -1.5e3, "é")\n'
        "commit\nprint r\n",
        p__dl=KINDS.format("", ""),
    )
    assert (code, err) == (0, "")
    assert without_times(out)[2:] == [
        *('r(-1, 16, 2.0, "a \\"b\\"\\t\\\\")', 'r(1, 2, nan, "")', 'r(2, 3, -1500.0, "é")'),
    ]


MISTAKES = {
    "insrt edge(1, 2)": "did you mean 'insert'?",
    "insert": "there is no fact",
    "insert edge": "column 5: ( is expected, not the end of the line",
    "insert edge(1 2)": "column 8: , is expected, not 2",
    "insert edge(1, 2": "is expected, not the end of the line",
    "insert edge(1)": "edge has 2 values, not 1",
    'insert edge(1, "2")': 'y of edge is number, not "2"',
    "insert edge(1, 2.5)": "y of edge is number, not 2.5",
    "insert edge(1, 99999999999999999999)": "beyond 64 bits",
    "insert edges(1, 2)": "did you mean 'edge'?",
    "insert path(1, 2)": "path is derived by rules",
    'insert edge(1, "x)': "column 9: a text that does not end",
    "insert edge(1, @)": "column 9: '@'",
    "print": "print takes a relation",
    "print path x": "print takes a relation",
    "print nothing": "there is no relation 'nothing'",
    "why path(1, 2), path(2, 3)": "one fact is expected, not 2",
    "why path(8, 9)": "error[RT532]: path has no row (8, 9)",
    "commit now": "commit takes nothing behind it",
    "limits facts": "limits takes numbers",
    "limits facts 0": "limits takes numbers",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_ends_its_command_and_not_the_shell(line, shell):
    code, out, err = shell(f"insert edge(1, 2)\n{line}\ncommit\n")
    assert code == 4
    assert MISTAKES[line] in err
    assert without_times(out) == ["epoch 2", "  path +1 -0"]


def test_numbers_of_any_length(shell):
    code, out, err = shell(
        f'insert r(1, 2, 3, {"9" * 5000})\ninsert r({"9" * 5000}, 2, 3, "")\n'
        f'insert r(1, 2, 0x{"f" * 400}, "")\ncommit\nprint r\n',
        p__dl=KINDS.format("", ""),
    )
    assert code == 4
    assert err.count("error[RT201]") == 3
    assert without_times(out) == ["epoch 2"]


def test_facts_of_a_command_are_taken_together(shell):
    _, out, _ = shell("insert edge(1, 2), path(1, 2)\ninsert edge(1, 2), edge(x)\ncommit\n")
    assert without_times(out) == ["epoch 2"]


def test_the_other_commands(shell):
    code, out, err = shell(
        "# nothing\n\ninsert edge(1, 2)\nrollback\nlimits\nlimits facts 2 iterations 7\n"
        "insert edge(1,2), edge(2,3)\ncommit\ncommit\nwrite\nhistory\nhelp\n"
    )
    assert out.splitlines()[:3] == [
        "1 fact forgotten",
        "facts 100,000,000, iterations 1,000,000",
        "facts 2, iterations 7",
    ]
    assert "epoch 2" in out
    assert "error[RT521]: more than 2 derived rows" in err
    assert "   3  limits" in out
    assert "insert R(1, 2), R(3, 4)" in out
    assert Path("path.csv").read_text() == ""
    assert code != 0


def test_a_shell_begins_with_files_and_ends_with_them(shell):
    Path("edge.facts").write_text(EDGES)
    code, out, _ = shell("remove edge(1, 2)\ncommit\n", "-F", ".", "-D", ".")
    assert without_times(out) == ["epoch 2", "  path +0 -2", "path\t1"]
    assert code == 0
    assert Path("path.csv").read_text() == "2\t3\n"


def test_a_checkpoint_goes_on(shell):
    shell("insert edge(1, 2)\ncommit\ninsert edge(2, 3)\n", "--checkpoint", "c")
    code, out, err = shell("print path\ninsert edge(2, 3)\ncommit\n", "--checkpoint", "c")
    assert without_times(out) == ["path(1, 2)", "epoch 3", "  path +2 -0"]
    assert err == "c: epoch 2\n"
    Path("c").write_bytes(Path("c").read_bytes()[:-1])
    assert shell("", "--checkpoint", "c")[0] == 5
    assert code == 0


def test_files_are_added_to_a_checkpoint(call):
    call("datalog", "p.dl", "-F", ".", "--checkpoint", "c", p__dl=REACH, edge__facts=EDGES)
    code, out, _ = call("datalog", "p.dl", "--checkpoint", "c")
    assert (code, out) == (0, "path\t3\n")
    _, out, _ = call("datalog", "p.dl", "--checkpoint", "c", "-F", ".", edge__facts="3\t4\n")
    assert out == "path\t6\n"


def start(*options):
    return subprocess.Popen(
        [sys.executable, "-m", "rtbot", "datalog", "p.dl", "-i", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "RTBOT_INTERPRET": "1"},
    )


def say(child, *lines):
    child.stdin.write("".join(f"{line}\n" for line in lines))
    child.stdin.flush()


def test_kill_loses_no_epoch_that_was_answered():
    Path("p.dl").write_text(REACH)
    child = start("--checkpoint", "c")
    say(child, "insert edge(1, 2)", "commit", "insert edge(2, 3)")
    assert child.stdout.readline().startswith("epoch 2")
    child.kill()
    child.communicate()
    child = start("--checkpoint", "c")
    out, _ = child.communicate("print path\n")
    assert (child.returncode, out) == (0, "path(1, 2)\n")


COUNTING = """\
.decl n(x:number)
.input n
.output n
n(x + 1) :- n(x), x < 1000000.
"""


def test_ctrl_c_ends_the_commit_and_not_the_shell():
    Path("p.dl").write_text(COUNTING)
    child = start()
    say(child, "insert n(999998)", "commit", "insert n(0)", "limits", "commit", "print n", "commit")
    for expected in ("epoch 2", "  n +3", "facts"):
        assert child.stdout.readline().startswith(expected)
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            continue
    assert out.splitlines()[:3] == ["n(999998)", "n(999999)", "n(1000000)"]
    assert out.splitlines()[3].startswith("epoch 3")
    assert "interrupted: all is as it was before the epoch" in err
    assert child.returncode == 4


def test_completion():
    line = ["ins"]
    complete = make_completer(["insert", "print"], ["edge", "path"], lambda: line[0])
    assert [complete("ins", k) for k in range(2)] == ["insert ", None]
    line[0] = "print p"
    assert [complete("p", k) for k in range(2)] == ["path", None]
    line[0] = "commit p"
    assert complete("p", 0) is None
