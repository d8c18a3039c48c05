"""Runs that are resumed write what an undisturbed run writes, and refuse what does not fit."""

import gzip
import json
import os
import shutil
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot
from rtbot.cli.main import run
from rtbot.storage.checkpoint_store import CheckpointStore
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.files import Files
from tests import golden_checkpoints
from tests.checkpointed_runs import (
    BANDS,
    CASES,
    CHOSEN,
    FORMATS,
    RunCase,
    crash_after,
    make_corrupted,
    make_series,
    prepare,
    run_plain,
    use_small_blocks,
    write,
)

ROWS = 1_000
REFUSED = 5


@pytest.fixture(autouse=True)
def _place(monkeypatch, own_folder):  # noqa: ARG001 (where a test is)
    with use_small_blocks(monkeypatch):
        yield


def begun(command, *more, every="1", commits=4):
    """Run until so many checkpoints are written; then the process is gone."""
    with crash_after(commits):
        return run([*command, "--checkpoint", "ck", "--every", every, *more])


def resumed(command, *more):
    return run([*command, "--checkpoint", "ck", "--every", "1", "--resume", *more])


def left():
    """Files that a run leaves beside what it was asked for."""
    return sorted(p.name for p in Path().iterdir() if p.suffix in (".rows", ".part", ".lock"))


# ---- the same bytes


@pytest.mark.parametrize("name", CASES)
def test_a_crash_after_every_checkpoint_changes_no_byte(name, tmp_path, capfd):
    command = prepare(CASES[name], tmp_path, ROWS)
    expected = run_plain(command, "plain.csv")
    code, crashes = 70, 0
    while code == 70:
        with crash_after(1):
            code = resumed(command, "-o", "out.csv")
        crashes += 1
        assert crashes < 50, capfd.readouterr().err
    assert code == 0, capfd.readouterr().err
    assert crashes > 10
    assert Path("out.csv").read_bytes() == expected
    assert left() == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["unkeyed", "keyed", "two inputs"])
def test_every_format_is_read_on_and_written_on(name, form, tmp_path):
    command = prepare(CASES[name], tmp_path, ROWS, form)
    expected = run_plain(command, f"plain.{form}")
    for commits in (1, 3, 6):
        assert begun(command, "-o", f"out.{form}", every="150", commits=commits) == 70
        assert resumed(command, "-o", f"out.{form}") == 0
        assert Path(f"out.{form}").read_bytes() == expected
    assert left() == []


def odd_text(_):
    data = Path("d.csv").read_bytes().replace(b"\n", b"\r\n")
    Path("d.csv").write_bytes(b"\xef\xbb\xbf\r\n" + data.replace(b"\r\n", b"\r\n\r\n", 40))
    return "d.csv"


def streamed(table):
    with pa.ipc.new_stream("d.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=130)
    return "d.arrow"


def one_group(table):
    pq.write_table(table, "d.parquet")
    return "d.parquet"


@pytest.mark.parametrize("made", [odd_text, streamed, one_group])
def test_odd_files_are_read_on(made, tmp_path):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    command[2] = made(pa.Table.from_pylist(make_series(ROWS)))
    expected = run_plain(command, "plain.csv")
    assert expected.count(b"\n") > ROWS - 10
    for commits in range(2, 12, 3):
        assert begun(command, "-o", "out.csv", commits=commits) == 70
        assert resumed(command, "-o", "out.csv") == 0
        assert Path("out.csv").read_bytes() == expected


def test_several_outputs_rejects_and_the_account_go_on_together(tmp_path):
    command = prepare(RunCase(CHOSEN, {"d.csv": make_corrupted}), tmp_path, ROWS)
    paths = ["--out", "mean=m.parquet", "--rejects", "r.csv", "--account", "a.json", "-o", "rest/"]
    assert run([*command, *paths, "--stream"]) == 0
    names = ["m.parquet", "rest/far.csv", "r.csv", "a.json"]
    expected = [Path(name).read_bytes() for name in names]
    assert expected[2].count(b"bad") > 20
    for commits in range(2, 14, 3):
        assert begun(command, *paths, commits=commits) == 70
        assert resumed(command, *paths) == 0
        assert [Path(name).read_bytes() for name in names] == expected


def test_a_run_that_is_done_is_resumed_as_often_as_one_likes(tmp_path, capfd):
    command = prepare(CASES["keyed"], tmp_path, ROWS)
    paths = ["-o", "out.parquet", "--account", "a.json"]
    assert run([*command, *paths, "--checkpoint", "ck"]) == 0
    kept = {name: Path(name).read_bytes() for name in ("ck", "out.parquet", "a.json")}
    Path("d.csv").unlink()
    for _ in range(3):
        assert resumed(command, *paths) == 0
        assert {name: Path(name).read_bytes() for name in kept} == kept
    Path("out.parquet").write_bytes(kept["out.parquet"][:-1])
    assert resumed(command, *paths) == REFUSED
    assert "RT315]: out.parquet is not what the run had made" in capfd.readouterr().err


def test_resume_without_a_checkpoint_begins_and_says_so(tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    expected = run_plain(command, "plain.csv")
    command.remove("-q")
    assert resumed(command, "-o", "out.csv") == 0
    assert capfd.readouterr().err.startswith("ck: there is no checkpoint yet, the run begins\n")
    assert Path("out.csv").read_bytes() == expected


def test_without_resume_everything_begins_anew(tmp_path):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    expected = run_plain(command, "plain.csv")
    assert begun(command, "-o", "out.csv", commits=5) == 70
    assert begun(command, "-o", "out.csv", commits=1) == 70
    assert resumed(command, "-o", "out.csv") == 0
    assert Path("out.csv").read_bytes() == expected


def test_a_checkpoint_comes_after_so_many_rows_at_the_end_of_a_block(tmp_path):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    for commits, rows in ((1, 0), (2, 300), (3, 600), (4, 900), (5, 1000), (6, 1000)):
        assert begun(command, "-o", "out.csv", every="201", commits=commits) == 70
        assert decode_blob(Path("ck").read_bytes())[0]["rows"] == rows


# ---- signals


@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_a_signal_ends_at_a_checkpoint(number, expected, tmp_path, monkeypatch, capfd):
    command = prepare(CASES["keyed"], tmp_path, ROWS)
    whole = run_plain(command, "plain.csv")
    commit = CheckpointStore.commit

    def signalled(self, blob):
        commit(self, blob)
        if decode_blob(blob)[0]["rows"] == 100:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(CheckpointStore, "commit", signalled)
    words = ["-o", "out.csv", "--checkpoint", "ck", "--every", "1"]
    assert run([*command[:-1], *words]) == expected
    assert "100 rows are done; --resume goes on behind them" in capfd.readouterr().err
    assert decode_blob(Path("ck").read_bytes())[0]["rows"] == 100
    monkeypatch.setattr(CheckpointStore, "commit", commit)
    assert resumed(command, "-o", "out.csv") == 0
    assert Path("out.csv").read_bytes() == whole


# ---- what has changed is refused


def edited(data):
    """The same number of bytes, one digit of the first rows another one."""
    place = next(k for k in range(60, len(data)) if data[k : k + 1].isdigit())
    return data[:place] + (b"3" if data[place : place + 1] != b"3" else b"4") + data[place + 1 :]


def repacked(data):
    other = gzip.compress(edited(gzip.decompress(data)), mtime=0)
    return other + bytes(max(len(data) - len(other), 0))


INPUTS = {
    "csv, longer": ("csv", lambda data: data + b"99999,1\n", "bytes, and had"),
    "csv, shorter": ("csv", lambda data: data[:-9], "bytes, and had"),
    "csv, edited": ("csv", edited, "content any more that was read"),
    "jsonl, edited": ("jsonl", edited, "content any more that was read"),
    "csv.gz, edited": ("csv.gz", repacked, "d.csv.gz has"),
    "csv, gone": ("csv", None, "is gone"),
    "parquet, edited": ("parquet", edited, "content any more that was read"),
    "arrow, edited": ("arrow", edited, "content any more that was read"),
    "csv, touched": ("csv", lambda data: data, ""),
    "csv.gz, touched": ("csv.gz", lambda data: data, ""),
    "parquet, touched": ("parquet", lambda data: data, ""),
}


def replaced(path, change):
    """Put another file there, of the changed content, or none; returns what was in it."""
    data = path.read_bytes()
    path.unlink()
    if change is not None:
        path.write_bytes(change(data))
        os.utime(path, ns=(1, 1))
    return data


@pytest.mark.parametrize("name", INPUTS)
def test_a_file_of_input_is_the_one_that_was_read(name, tmp_path, capfd):
    form, change, message = INPUTS[name]
    command = prepare(CASES["unkeyed"], tmp_path, ROWS, form)
    expected = run_plain(command, "plain.csv")
    assert begun(command, "-o", "out.csv", commits=6) == 70
    path = Path(f"d.{form}")
    data = replaced(path, change)
    capfd.readouterr()
    code = resumed(command, "-o", "out.csv")
    assert code == (REFUSED if message else 0)
    assert message in capfd.readouterr().err
    path.write_bytes(data)
    assert resumed(command, "-o", "out.csv") == 0
    assert Path("out.csv").read_bytes() == expected


@pytest.mark.parametrize("name", INPUTS)
def test_a_run_that_is_done_knows_what_it_has_read(name, tmp_path, capfd):
    form, change, message = INPUTS[name]
    command = prepare(CASES["unkeyed"], tmp_path, ROWS, form)
    assert resumed(command, "-o", "out.csv") == 0
    path = Path(f"d.{form}")
    replaced(path, change)
    capfd.readouterr()
    refused = message and change is not None  # what is gone is not needed any more
    assert resumed(command, "-o", "out.csv") == (REFUSED if refused else 0)
    assert not refused or f"error[RT314]: {path}" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("form", "nothing"),
    [
        ("csv", b"t,x\n"),
        ("csv", b""),
        ("jsonl", b"\n"),
        ("csv.gz", gzip.compress(b"t,x\n", mtime=0)),
    ],
    ids=["a header", "nothing", "an empty line", "a packed header"],
)
def test_a_file_without_rows_is_known_too(form, nothing, tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, 1, form)
    path = Path(f"d.{form}")
    rows = path.read_bytes()
    path.write_bytes(nothing)
    for _ in range(2):
        assert resumed(command, "-o", "out.csv") == 0
    path.write_bytes(rows)
    capfd.readouterr()
    assert resumed(command, "-o", "out.csv") == REFUSED
    assert f"error[RT314]: d.{form} has" in capfd.readouterr().err


OUTPUTS = {
    "longer": (lambda data: data + b"half a li", ""),
    "shorter": (lambda data: data[:-1], "bytes at the checkpoint"),
    "empty": (lambda _: b"", "has nothing in it, and had"),
    "edited": (edited, "does not begin any more with what was written"),
    "gone": (None, "is gone, and had"),
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_of_output_begins_with_what_was_written(name, form, tmp_path, capfd):
    change, message = OUTPUTS[name]
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    expected = run_plain(command, f"plain.{form}")
    assert begun(command, "-o", f"out.{form}", commits=6) == 70
    path = Path("out.csv" if form == "csv" else "out.parquet.rows")
    data = path.read_bytes()
    path.unlink()
    if change is not None:
        path.write_bytes(change(data))
    capfd.readouterr()
    assert resumed(command, "-o", f"out.{form}") == (REFUSED if message else 0)
    assert message in capfd.readouterr().err
    if message:
        assert path.exists() == (change is not None)
        path.write_bytes(data)
        assert resumed(command, "-o", f"out.{form}") == 0
    assert Path(f"out.{form}").read_bytes() == expected


NEW_FILES = ["d.csv", "-o", "out.csv"]
RUNS = {
    "another parameter": ([*NEW_FILES, "-p", "window=8"], "mean.values.window was 7 and is 8"),
    "another file": (["e.csv", "-o", "out.csv"], "inputs.FILE.file was 'd.csv' and is 'e.csv'"),
    "an input alone": (["--in", "x=d.csv", "-o", "out.csv"], "FILE is gone; inputs.x is new"),
    "another output": (["d.csv", "-o", "o.csv"], "outputs.out.csv is gone; outputs.o.csv is new"),
    "another layout": (
        [*NEW_FILES, "--layout", "long"],
        "outputs.out.csv.layout was 'wide' and is 'long'",
    ),
    "another key": ([*NEW_FILES, "--key", "x"], "key was '' and is 'x'"),
    "a tap": ([*NEW_FILES, "--tap", "change"], "outputs.out.csv.outputs was 'mean, far' and is"),
    "rejects": ([*NEW_FILES, "--rejects", "r.csv"], "rejects was None and is 'r.csv'"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_another_run_is_refused_with_the_difference(name, tmp_path, capfd):
    words, message = RUNS[name]
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    write("e.csv", make_series(ROWS))
    assert begun(command, "-o", "out.csv") == 70
    capfd.readouterr()
    assert resumed(["run", "g.yaml", *words, "-q"]) == REFUSED
    told = capfd.readouterr().err
    assert "error[RT313]: " in told
    assert message in told


def test_another_graph_is_refused_with_what_changed(tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    assert begun(command, "-o", "out.csv") == 70
    Path("g.yaml").write_text(BANDS.replace("MovingAverage", "MovingSum").replace("20", "30"))
    capfd.readouterr()
    assert resumed(command, "-o", "out.csv") == REFUSED
    assert (
        "operators.mean.type was 'MovingAverage' and is 'MovingSum'; "
        "operators.far.values.value was 20.0 and is 30.0"
    ) in capfd.readouterr().err


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path, capfd):
    command = prepare(CASES["keyed"], tmp_path, ROWS)
    expected = run_plain(command, "plain.csv")
    assert begun(command, "-o", "out.csv", commits=6) == 70
    blob, rows = Path("ck").read_bytes(), Path("out.csv").read_bytes()
    header, arrays = decode_blob(blob)
    flipped = [blob[:k] + bytes([blob[k] ^ 1]) + blob[k + 1 :] for k in range(0, len(blob), 997)]
    cut = [blob[:length] for length in range(0, len(blob), 1409)]
    foreign = [
        rtbot.load(BANDS).start().dump(),
        b"PK\x03\x04" + blob,
        blob + blob,
        bytes(len(blob)),
        encode_blob({}, {}),
        encode_blob(header, {}),
        encode_blob({name: value for name, value in header.items() if name != "inputs"}, arrays),
        encode_blob(header | {"outputs": [["many", 3]]}, arrays),
        encode_blob(header | {"inputs": [{"marks": 7}]}, arrays),
        encode_blob(header | {"times": {}}, arrays),
    ]
    for data in [*flipped, *cut, *foreign]:
        Path("ck").write_bytes(data)
        capfd.readouterr()
        assert resumed(command, "-o", "out.csv") == REFUSED
        assert "error[RT31" in capfd.readouterr().err
    assert Path("out.csv").read_bytes() == rows
    Path("ck").write_bytes(blob)
    assert resumed(command, "-o", "out.csv") == 0
    assert Path("out.csv").read_bytes() == expected


# ---- one process at a time


def test_two_runs_on_one_checkpoint(tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    first = CheckpointStore(Files(), "ck")
    first.open()
    for more in ([], ["--resume"]):
        assert run([*command, "-o", "out.csv", "--checkpoint", "ck", *more]) == REFUSED
        told = capfd.readouterr().err
        assert f"error[RT316]: ck is used by process {os.getpid()} on " in told
    assert not Path("out.csv").exists()
    first.close()
    assert run([*command, "-o", "out.csv", "--checkpoint", "ck"]) == 0


def test_two_runs_on_one_file_of_output(tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    with Path("out.csv").open("wb") as file:
        assert Files().lock(file)
        assert resumed(command, "-o", "out.csv") == REFUSED
    assert "error[RT316]: out.csv is written by another process" in capfd.readouterr().err


def test_who_lost_its_lock_cannot_write_over_who_came_after():
    first, second = CheckpointStore(Files(), "ck"), CheckpointStore(Files(), "ck")
    first.open()
    first.commit(b"1" * 40)
    Path("ck.lock").unlink()
    second.open()
    assert second.read() == b"1" * 40
    with pytest.raises(rtbot.CheckpointError, match="has taken this run over"):
        first.commit(b"2" * 40)
    second.commit(b"3" * 40)
    with pytest.raises(rtbot.CheckpointError, match="has taken this run over"):
        first.commit(b"2" * 40)
    first.close()
    assert Path("ck").read_bytes() == b"3" * 40
    assert Path("ck.lock").exists(), "the lock of the second is not the first's to remove"
    second.close()
    assert left() == []


# ---- what cannot be resumed is refused before anything is done

COMMANDS = {
    "stdin": (["-", "-o", "o.csv"], "stdin cannot be read again"),
    "stdout": (["d.csv"], "stdout cannot be cut back: give -o FILE"),
    "a device": (["d.csv", "-o", "/dev/null"], "/dev/null cannot be cut back"),
    "a pipe to read": (["p.csv", "-o", "o.csv"], "p.csv cannot be read again: give a file"),
    "a chart": (["d.csv", "-o", "o.csv", "--plot", "p.svg"], "--plot does not go with"),
    "the data itself": (["d.csv", "-o", "o.csv", "--checkpoint", "d.csv"], "but it is read"),
    "the output itself": (["d.csv", "-o", "o.csv", "--checkpoint", "o.csv"], "written twice"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_cannot_be_resumed(name, tmp_path, capfd):
    words, message = COMMANDS[name]
    prepare(CASES["unkeyed"], tmp_path, ROWS)
    os.mkfifo("p.csv")
    assert run(["run", "g.yaml", "--checkpoint", "ck", *words]) == 2
    assert message in capfd.readouterr().err
    assert not Path("ck").exists()
    assert not Path("o.csv").exists()


@pytest.mark.parametrize("words", [["--resume"], ["--every", "5"]])
def test_options_of_checkpoints_need_one(words, tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, ROWS)
    assert run([*command, *words]) == 2
    assert f"{words[0]} goes with --checkpoint FILE" in capfd.readouterr().err


def test_rows_that_wait_for_too_long_are_a_limit(tmp_path, capfd):
    early = "inputs: {x: number}\noperators: {y: {type: TimeShift, in: x, shift: -90000}}\n"
    command = prepare(
        RunCase(early + "outputs: {x: x, y: y}\n", {"d.csv": make_series}), tmp_path, 20_000
    )
    words = ["-o", "o.csv", "--memory", "1M"]
    assert run([*command, *words]) == 0
    assert run([*command, *words, "--checkpoint", "ck"]) == 6
    assert "error[RT307]: rows for o.csv wait until x, y are certain" in capfd.readouterr().err


def test_the_account_counts_rows_of_all_parts(tmp_path):
    command = prepare(CASES["late"], tmp_path, ROWS)
    assert run([*command, "-o", "o.csv", "--account", "one.json"]) == 0
    assert begun(command, "-o", "out.csv", "--account", "two.json", commits=7) == 70
    assert resumed(command, "-o", "out.csv", "--account", "two.json") == 0
    assert json.loads(Path("two.json").read_text()) == json.loads(Path("one.json").read_text())


# ---- other versions

GOLDEN = golden_checkpoints.kept()


def test_there_are_checkpoints_of_this_version():
    folders = {folder.parent.name for folder, _ in GOLDEN}
    assert rtbot.__version__ in folders, "python -m tests.golden_checkpoints"


@pytest.mark.parametrize(
    ("folder", "command"),
    [pytest.param(*one, id=f"{one[0].parent.name}/{one[0].name}") for one in GOLDEN],
)
def test_checkpoints_of_every_version_are_resumed(folder, command, tmp_path):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path / path.name)
    assert resumed(command) == 0
    form = command[-1].partition(".")[2]
    assert content(f"out.{form}") == content(f"expected.{form}")


def content(name):
    """What is in a file, whatever the library that packed it."""
    if name.endswith(".parquet"):
        return pq.read_table(name)
    data = Path(name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data
