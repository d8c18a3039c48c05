"""A file that is given for all inputs or for one is read the same: rows, account and exit code."""

import json
from pathlib import Path

import pytest

from rtbot.cli import main

GRAPH = "inputs: {{{inputs}}}\noutputs: [{outputs}]\nio: {{{io}}}\n"
ROWS = [("1", "1.5", "2"), ("2", "", "3"), ("3", "?", ""), ("4", "nan", "-1"), ("5", "7", "?")]
DIALECTS = {
    "plain": (",", ".", "utf-8", ""),
    "semicolons": (";", ",", "cp1252", 'csv: {delimiter: ";", decimal: ",", encoding: cp1252}'),
    "tabs": ("\t", ".", "utf-16", "csv: {delimiter: tab, encoding: utf-16}"),
}


def write(dialect, names):
    delimiter, decimal, encoding, _ = DIALECTS[dialect]
    rows = [(t, *(cell.replace(".", decimal) for cell in cells)) for t, *cells in ROWS]
    lines = [delimiter.join(row[: len(names)]) for row in [names, *rows]]
    Path("d.csv").write_text("\n".join(lines) + "\n", encoding=encoding)


def run(capsys, *arguments):
    Path("a.json").unlink(missing_ok=True)
    code = main.run(["run", "g.yaml", *arguments, "--account", "a.json", "--strict"])
    out, err = capsys.readouterr()
    found = Path("a.json")
    return code, out, err, json.loads(found.read_text()) if found.exists() else None


@pytest.mark.parametrize("nullable", ["", "?"])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("names", "inputs"),
    [
        (("t", "x", "y"), ("x", "y")),
        (("t", "x"), ("x",)),
        (("t", "value"), ("x",)),
        (("t", "value"), ("value",)),
    ],
)
def test_the_file_of_one_input_is_read_like_the_file_of_all(
    tmp_path, monkeypatch, capsys, dialect, names, inputs, nullable
):
    monkeypatch.chdir(tmp_path)
    write(dialect, names)
    io = ", ".join(filter(None, ['null: "?"', DIALECTS[dialect][3]]))
    types = ", ".join(f"{name}: number{nullable}" for name in inputs)
    Path("g.yaml").write_text(GRAPH.format(inputs=types, outputs=", ".join(inputs), io=io))
    whole = run(capsys, "d.csv")
    single = run(capsys, *(f"--in={name}=d.csv" for name in inputs))
    columns = dict(zip(inputs, names[1:], strict=True))
    given = run(capsys, *(f"--in={name}=d.csv:{column}" for name, column in columns.items()))
    assert whole == single == given
    assert whole[0] == (0 if names[1] != "value" or inputs == ("value",) or nullable else 1)


def test_times_without_an_offset_are_noted_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("g.yaml").write_text(GRAPH.format(inputs="x: number, y: number", outputs="x, y", io=""))
    for name in ("d.csv", "e.csv"):
        Path(name).write_text("t,x,y\n2024-01-31T00:00:00,1,2\n")
    note = "times without an offset are taken as UTC\n"
    assert run(capsys, "--in=x=d.csv", "--in=y=d.csv")[2].count(note) == 1
    assert f"d.csv and 1 more file: {note}" in run(capsys, "--in=x=d.csv", "--in=y=e.csv")[2]
    assert run(capsys, "d.csv", "--checkpoint", "c", "-o", "o.csv")[2].count(note) == 1
