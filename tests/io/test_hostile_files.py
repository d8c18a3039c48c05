"""What neighbours on one machine could do to a run, and what broke at the edges of its files."""

import csv
import gc
import os
import random
import signal
import subprocess
import sys
from io import BytesIO, StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot
from rtbot.compiler import code_cache, jit
from rtbot.core import notices
from rtbot.io import reader
from rtbot.io.sinks import csv_kernels
from rtbot.io.sinks import csv_writer as lines
from rtbot.io.sinks.outputs import OutputFiles, Target
from rtbot.io.sinks.writers import TimeFormat
from rtbot.io.sources import offsets
from rtbot.storage import safe_paths
from rtbot.storage.checkpoint_store import CheckpointStore
from rtbot.storage.files import Files
from tests.checkpointed_runs import crash_after

ROOT = Path(__file__).parents[2]
TEXT = "def added(a):\n    return a + 1\n"
ONE = "inputs: {x: number}\noperators: {y: {type: Scale, in: x, value: 2}}\noutputs: {y: y}\n"
NAME = f"g{jit.fingerprint(TEXT)[:40]}"

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The folder of a user's cache, which is not there yet; the temporary one is elsewhere."""
    monkeypatch.setenv("RTBOT_CACHE_DIR", str(tmp_path / "kept"))
    temporary = SimpleNamespace(gettempdir=lambda: str(tmp_path / "temporary"))
    monkeypatch.setattr(code_cache, "tempfile", temporary)
    monkeypatch.setattr(notices, "_warned", set())
    return tmp_path / "kept"


def used(text=TEXT):
    """The folder that a generated module is kept in, by its name."""
    path = jit.write_module(text)
    return None if path is None else path.parent.name.split("-")[0]


def test_a_new_cache_is_closed_to_others_whatever_the_umask(kept):
    before = os.umask(0)
    try:
        kept = kept / "a" / "b"
        os.environ["RTBOT_CACHE_DIR"] = str(kept)
        assert used() == "b"
    finally:
        os.umask(before)
    for folder in (kept, kept.parent, kept / "__pycache__"):
        assert folder.stat().st_mode & 0o777 == 0o700


def make_link(kept):
    Path(f"{kept}-else").mkdir(mode=0o700)
    kept.symlink_to(f"{kept}-else")


def make_wide(kept):
    kept.mkdir()
    kept.chmod(0o720)


def make_wide_below(kept):
    kept.mkdir(mode=0o700)
    (kept / "__pycache__").mkdir()
    (kept / "__pycache__").chmod(0o702)


def make_link_below(kept):
    Path(f"{kept}-else").mkdir(mode=0o700)
    kept.mkdir(mode=0o700)
    (kept / "__pycache__").symlink_to(f"{kept}-else")


def make_linked_code(kept):
    (kept / "__pycache__").mkdir(parents=True, mode=0o700)
    kept.chmod(0o700)
    Path(f"{kept}-else").touch()
    (kept / "__pycache__" / f"{NAME}.added-1.py312.nbi").symlink_to(f"{kept}-else")


def make_linked_text(kept):
    kept.mkdir(mode=0o700)
    Path(f"{kept}-else").write_text(TEXT)
    (kept / f"{NAME}.py").symlink_to(f"{kept}-else")


PLANTED = {
    make_link: "is not a folder but a link",
    make_wide: "(its mode is 720); remove it",
    make_wide_below: "(its mode is 702); remove it",
    make_link_below: "__pycache__ is not a folder but a link",
    make_linked_code: ".nbi is not a file of this user",
    make_linked_text: ".py is not a file of this user",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_cache_in_which_others_can_have_put_code_is_not_used(kept, plant, capfd):
    plant(kept)
    assert used() == "rtbot"  # the temporary one
    told = capfd.readouterr().err
    assert told.startswith(f"rtbot: compiled code is not kept in {kept}: ")
    assert told.endswith(PLANTED[plant] + "\n")


def test_a_cache_below_a_folder_that_others_can_write_to_is_not_used(kept, capfd):
    kept.parent.chmod(0o770)
    assert used() is None
    kept.parent.chmod(0o1777)
    assert used() == "kept"
    assert f"others can write to {kept.parent}\n" in capfd.readouterr().err


def test_a_cache_that_others_can_only_read_is_closed_and_used(kept):
    kept.mkdir()
    kept.chmod(0o755)
    assert used() == "kept"
    assert kept.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("kept")
def test_a_cache_of_another_user_is_not_used(monkeypatch, capfd):
    assert used() == "kept"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert used() is None
    assert "belongs to another user" in capfd.readouterr().err


def test_code_of_another_user_in_an_own_cache_is_not_run(kept, monkeypatch):
    """Only the file is another's: somebody put it there while the folder was open to all."""
    assert used() == "kept"
    alien = kept / "__pycache__" / f"{NAME}.added-1.py312.nbi"
    alien.touch()
    lstat = Path.lstat

    def found(path):
        owner = [4] if path.name == alien.name else []
        return os.stat_result([c + (k in owner) for k, c in enumerate(lstat(path))])

    monkeypatch.setattr(Path, "lstat", found)
    assert used() == "rtbot"


def test_machine_code_is_read_from_nowhere_else(kept, monkeypatch):
    """NUMBA_CACHE_DIR comes before the folder of the module: it is looked at like that."""
    from numba.core import config

    other = kept.parent / "numba"
    other.mkdir()
    other.chmod(0o777)
    monkeypatch.setattr(config, "CACHE_DIR", str(other))
    text = TEXT.replace("1", "977")  # no other test has compiled it
    made = jit.load_compiled(text)
    assert made.added.stats.cache_path is None
    assert made.added(1) == 978
    assert not list(other.rglob("*.nbi"))


def test_where_no_home_is_known_the_temporary_folder_is_used(kept, monkeypatch):
    """As in containers whose user has no line in passwd: `Path.home` raises there."""
    for name in ("RTBOT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda _uid: {}["nobody"])
    assert [folder.parent for folder in code_cache.folders()] == [kept.parent / "temporary"]
    assert used() == "rtbot"


@pytest.mark.usefixtures("kept")
def test_where_there_is_no_folder_at_all_code_is_made_without(monkeypatch):
    def none():
        raise FileNotFoundError

    monkeypatch.setenv("RTBOT_CACHE_DIR", "/proc/none")
    monkeypatch.setattr(code_cache, "tempfile", SimpleNamespace(gettempdir=none))
    assert used() is None
    assert jit.load_interpreted(TEXT).added(1) == 2


# ---- outputs, locks and checkpoints in folders that others can write to


def lasting(call, *more):
    """Run with a checkpoint and write CSV."""
    words = ("run", "g.yaml", "d.csv", "-q", "--checkpoint", "ck", "-o", "o.csv", *more)
    return call(*words, g__yaml=ONE, d__csv="t,x\n1,2\n")


def link(name, target):
    Path(name).symlink_to(target)


def hard_link(name, target):
    Path(name).hardlink_to(target)


def pipe(name, _target):
    os.mkfifo(name)


@pytest.mark.parametrize(
    ("plant", "name"),
    [(plant, name) for plant in (link, hard_link, pipe) for name in ("ck.lock", "o.parquet.rows")]
    + [(hard_link, "o.csv")],
)
def test_a_run_with_checkpoints_writes_through_nothing_that_is_planted(call, plant, name):
    Path("victim").write_text("precious")
    plant(name, "victim")
    code, _, err = lasting(call, "-o", "o.csv" if name == "o.csv" else "o.parquet")
    assert code == 74
    assert err.startswith(f"{name}: error: ")
    assert Path("victim").read_text() == "precious"


TOLD = {
    link: "a link is in this place; remove it",
    hard_link: "this file has another name too, a hard link; make a copy",
    pipe: "there is something else than a file",
}


@pytest.mark.parametrize("plant", TOLD)
def test_what_is_overwritten_is_a_file_and_has_one_name(plant):
    Path("victim").write_text("precious")
    plant("here", "victim")
    with pytest.raises(OSError, match=TOLD[plant]):
        Files().update("here")
    with pytest.raises(FileExistsError):
        Files().create("here")
    assert Path("victim").read_text() == "precious"


@pytest.mark.parametrize(("mode", "refused"), [(0o1777, True), (0o777, True), (0o755, False)])
def test_links_and_files_of_others_are_refused_where_everybody_can_write(
    own_folder, monkeypatch, mode, refused
):
    """Whose folder it is may plant what he likes: so here it is a third one's."""
    Path("victim").write_text("precious")
    Path("link").symlink_to("victim")
    Path("file").touch()
    own_folder.chmod(mode)
    folder = list(own_folder.stat())
    folder[4] += 2
    stat, here = Path.stat, str(own_folder)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    monkeypatch.setattr(
        Path, "stat", lambda p, **o: os.stat_result(folder) if str(p) == here else stat(p, **o)
    )
    for attempt in (lambda: safe_paths.place_of("link"), lambda: Files().update("file").close()):
        if refused:
            with pytest.raises(PermissionError, match="another user has put there; remove it"):
                attempt()
        else:
            attempt()
    with Files().open("file") as file:
        assert Files().is_foreign(file, "file") is refused


def test_a_checkpoint_that_another_user_has_put_there_is_not_read(call, monkeypatch):
    assert lasting(call)[0] == 0
    monkeypatch.setattr("rtbot.storage.files.is_foreign", lambda *_: True)
    code, _, err = lasting(call, "--resume")
    assert (code, err.split("]")[0]) == (5, "error[RT320")


def test_a_link_whose_end_is_a_link_again_is_followed_to_its_file(own_folder):
    Path("a").symlink_to("b")
    Path("b").symlink_to(own_folder / "c")
    assert safe_paths.place_of("a") == str(own_folder / "c")
    Path("round").symlink_to("round")
    with pytest.raises(OSError, match="Too many levels"):
        safe_paths.place_of("round")


def test_names_of_parts_cannot_be_guessed():
    names = set()
    for _ in range(3):
        with Files().open_replacement("o.csv") as file:
            (name,) = Path().glob("o.csv.*")
            names.add(name)
            file.write(b"1")
    assert len(names) == 3
    assert all(safe_paths.PART.fullmatch(name.name, 5) for name in names)


def test_a_device_that_becomes_a_file_is_not_emptied(monkeypatch):
    Path("victim").write_text("precious")
    monkeypatch.setattr(Files, "is_regular", lambda *_: False)
    with pytest.raises(FileExistsError), Files().open_replacement("victim"):
        pass
    assert Path("victim").read_text() == "precious"


def test_permissions_stay_and_a_checkpoint_is_nobody_elses(call):
    Path("o.csv").touch(0o600)
    Path("p.csv").touch()
    Path("p.csv").chmod(0o640)
    for path in ("o.csv", "p.csv"):
        mode = Path(path).stat().st_mode
        assert call("run", "g.yaml", "d.csv", "-o", path, g__yaml=ONE, d__csv="t,x\n1,2\n")[0] == 0
        assert Path(path).stat().st_mode == mode
    before = os.umask(0)
    try:
        assert lasting(call)[0] == 0
    finally:
        os.umask(before)
    assert Path("ck").stat().st_mode & 0o777 == 0o600
    with Files().scratch("o.csv") as spilled:
        found = os.fstat(spilled.fileno())
        assert (found.st_mode & 0o777, found.st_nlink) == (0o600, 0)


def test_what_a_killed_run_with_a_checkpoint_has_begun_is_removed(call):
    kept = ["ck.part", "ck.0123.part", f"o.csv.{'0' * 16}.part", f"ck.{'g' * 16}.part"]
    begun = [f"ck.{'0' * 16}.part", f"o.parquet.rows.{'f' * 16}.part"]
    for name in kept + begun:
        Path(name).touch()
    assert lasting(call, "-o", "o.parquet")[0] == 0
    assert sorted(p.name for p in Path().glob("*.part")) == sorted(kept)


# ---- one pump for files

SUM = "inputs: {a: number, b: number}\noperators: {y: a + b}\noutputs: [y]\n"


@pytest.fixture
def uneven(monkeypatch, own_folder):
    """Two files of which one ends long before the other, and blocks that make that matter."""
    monkeypatch.setattr(reader, "BLOCK_ROWS", 10)
    (own_folder / "g.yaml").write_text(SUM)
    for name, rows in (("a", 10), ("b", 300)):
        lines = (f"{t},{t}\n" for t in range(rows))
        Path(f"{name}.csv").write_text(f"t,{name}\n" + "".join(lines))


@pytest.mark.usefixtures("uneven")
def test_python_waits_for_a_file_that_has_ended_no_longer_than_the_command_line(call):
    words = ("--in", "a=a.csv", "--in", "b=b.csv", "--queue", "50", "-q")
    code, out, _ = call("run", "g.yaml", *words)
    assert (code, out.count("\n")) == (0, 11)
    found = rtbot.load(Path("g.yaml")).run({"a": "a.csv", "b": "b.csv"}, queue_limit=50)
    assert found["y"]["t"].tolist() == list(range(10))


@pytest.mark.usefixtures("uneven")
@pytest.mark.parametrize("a", [{"t": [3, 4], "value": [1.0, 2.0]}, None])
def test_nobody_waits_for_a_table_beside_a_file_nor_for_an_input_without_data(a):
    data = {"b": "b.csv"} | ({} if a is None else {"a": a})
    found = rtbot.load(Path("g.yaml")).run(data, queue_limit=50)
    assert found["y"]["value"].tolist() == ([] if a is None else [4.0, 6.0])


@pytest.mark.usefixtures("uneven")
def test_a_file_that_starves_another_input_is_named_in_python_too():
    Path("a.csv").write_text("t,a\n" + "".join(f"{t},0\n" for t in range(999, 1300)))
    Path("c.csv").write_text("t,a,b\n" + "".join(f"{t},1,\n" for t in range(200)))
    with pytest.raises(rtbot.QueueFull, match=r"c\.csv has no rows of b .* \(queue_limit in Py"):
        rtbot.load(Path("g.yaml")).run("c.csv", queue_limit=50)


# ---- what steers a terminal is shown and not sent

EVIL = "\x1b[2J\x9b31m\x07\u202e\r"
"""Clears a terminal, colours it, rings, turns letters round, goes back to the start of a line."""

TESTED = (
    "inputs: {x: text}\noperators: {y: {type: Identity, in: x}}\noutputs: [y]\n"
    r'tests: [{name: "e\e[2J\u202e", given: {x: [[1, "\e[2J\x9b"]]}, expect: {y: [[1, b]]}}]'
)
PLACES = {
    "a name of a file": ("run", "g.yaml", f"{EVIL}.csv"),
    "a file to take its place": ("run", "g.yaml", f"d{EVIL}.csv"),
    "a column that is not there": ("run", "g.yaml", "d.csv"),
    "a column of a hint": ("run", "g.yaml", "d.csv", "--time", "u"),
    "an argument": ("run", "g.yaml", "d.csv", "--queue", EVIL),
    "a verb": (EVIL,),
    "an option": (f"--{EVIL}",),
    "an input": ("run", "g.yaml", "--in", f"x{EVIL}=d.csv"),
    "a bad cell": ("run", "g.yaml", "e.csv"),
    "rows left out": ("run", "bad.yaml", f"e{EVIL}.csv"),
    "a folder that is not there": ("run", "g.yaml", "e.csv", "-o", f"{EVIL}/o.csv"),
    "a table for reading": ("run", "g.yaml", "k.csv", "--key", f"k{EVIL}", "--format", "table"),
    "what tests expect": ("test", "t.yaml"),
    "a graph that is not there": ("explain", f"{EVIL}.yaml"),
    "a meaning": ("explain", "doc.yaml"),
    "a plugin": ("ops", "--plugin", f"{EVIL}.py"),
}


@pytest.mark.parametrize("place", PLACES)
def test_nothing_that_steers_a_terminal_comes_from_the_users_files(call, place):
    files = {"g.yaml": ONE, "bad.yaml": ONE + "io: {bad: drop}\n", "t.yaml": TESTED}
    files |= {"d.csv": f"t{EVIL},x{EVIL}\n1,2\n", f"d{EVIL}x.csv": "t,x\n"}
    files |= {f"e{EVIL}.csv": f"t,x\n1,{EVIL[:4]}2\n", "e.csv": f"t,x\n1,{EVIL[:4]}2\n"}
    files |= {"k.csv": f't,x,"k{EVIL}"\n1,2,"{EVIL}"\n'}
    files |= {"doc.yaml": ONE.replace("{x: number}", r'{x: {type: number, doc: "\e[2J\u202e"}}')}
    for name, text in files.items():
        Path(name).write_bytes(text.encode())
    code, out, err = call(*PLACES[place])
    assert code in (0, 1, 2, 3, 4, 74), err
    assert not {c for c in out + err if not c.isprintable() and c != "\n"}
    assert out + err


# ---- pipes


def started(*words, **options):
    """Begin the program in a process of its own."""
    command = [sys.executable, "-m", "rtbot", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, env=environment, **pipes | options)


PIPES = {
    "stdin by two names": ("/dev/stdin", "-"),
    "stdin by one name": ("/dev/stdin", "/dev/stdin"),
    "a named pipe": ("pipe", "pipe"),
    "a named pipe by a link": ("pipe", "link"),
}


@pytest.mark.parametrize("names", PIPES)
def test_one_pipe_does_not_feed_two_inputs(own_folder, names):
    (own_folder / "g.yaml").write_text(SUM)
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    a, b = PIPES[names]
    child = started("run", "g.yaml", "--in", f"a={a}", "--in", f"b={b}", "--input-format", "csv")
    if "named" in names:
        Path("pipe").write_text("t,value\n1,2\n")
    out, err = child.communicate(b"t,value\n1,2\n", timeout=60)
    assert (child.returncode, out) == (4, b"")
    assert b"error[RT221]: one pipe cannot feed two inputs" in err


def test_a_file_and_nothing_at_all_may_feed_two_inputs(call):
    same = ("--in", "a=d.csv", "--in", "b=d.csv")
    assert call("run", "g.yaml", *same, g__yaml=SUM, d__csv="t,value\n1,2\n")[:2] == (
        0,
        "t,y\n1,4\n",
    )
    null = ("--in", "a=/dev/null", "--in", "b=/dev/null")
    assert call("run", "g.yaml", *null)[:2] == (0, "t,y\n")


def outside(path):
    path.symlink_to("/etc/passwd")


def a_pipe(path):
    os.mkfifo(path)


def a_link_to_a_pipe(path):
    os.mkfifo(f"{path}.pipe")
    path.symlink_to(f"{path.name}.pipe")


def a_device(path):
    path.symlink_to("/dev/zero")


OUTSIDE = {
    outside: "leads out of the graph's folder",
    a_device: "leads out of the graph's folder",
    a_pipe: "is not a file",
    a_link_to_a_pipe: "is not a file",
}


@pytest.mark.parametrize("name", ["in.csv", "i*.csv", "out.csv"])
@pytest.mark.parametrize("plant", OUTSIDE)
def test_rows_of_tests_are_in_files_below_the_graph_wherever_links_lead(call, plant, name):
    Path("graphs").mkdir()
    plant(Path("graphs", name.replace("*", "n")))
    given, expected = (
        ("[[1, 2]]", "{csv: out.csv}") if name == "out.csv" else (f'{{csv: "{name}"}}', "[[1, 4]]")
    )
    tests = f"tests: [{{name: a, given: {{x: {given}}}, expect: {{y: {expected}}}}}]\n"
    Path("graphs", "g.yaml").write_text(ONE + tests)
    for more in ((), ("--update",)):
        code, out, err = call("test", "graphs/g.yaml", *more)
        assert code != 0
        assert OUTSIDE[plant] in out + err
        assert "root:" not in out + err


def test_rows_of_tests_may_be_behind_a_link_within_the_folder(call):
    Path("data").mkdir()
    Path("data", "x.csv").write_text("t,x\n1,2\n")
    Path("in.csv").symlink_to("data/x.csv")
    tests = "tests: [{name: a, given: {x: {csv: in.csv}}, expect: {y: [[1, 4]]}}]\n"
    assert call("test", "g.yaml", g__yaml=ONE + tests)[0] == 0


def test_a_pipe_among_graph_files_is_no_graph(call):
    os.mkfifo("p.yaml")
    tests = "tests: [{name: a, given: {x: [[1, 2]]}, expect: {y: [[1, 4]]}}]\n"
    assert call("test", ".", g__yaml=ONE + tests)[0] == 0


# ---- closed streams, and signals at any moment


CLOSED = {
    "stdout, with results for it": ("d.csv >&-", 74, "stdout: error: Bad file descriptor"),
    "stdout, with results elsewhere": ("d.csv -o o.csv >&-", 0, "rows out: y 1"),
    "stdin, to be read": ("- <&-", 74, "stdin: error: Bad file descriptor"),
    "stderr, with an error for it": ("none.csv 2>&-", 74, ""),
    "all": ("d.csv -o o.csv <&- >&- 2>&-", 0, ""),
    "stderr is full": ("none.csv 2>/dev/full", 74, ""),
}


@pytest.mark.parametrize("case", CLOSED)
def test_a_stream_that_is_closed_is_no_crash(own_folder, case):
    (own_folder / "g.yaml").write_text(ONE)
    Path("d.csv").write_text("t,x\n1,2\n")
    words, code, told = CLOSED[case]
    child = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} -m rtbot run g.yaml {words}"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (child.returncode, told in child.stderr) == (code, True), child.stderr
    assert "internal" not in child.stderr
    if code == 0:
        written = Path("o.csv").read_text() if "-o" in words else child.stdout
        assert written == "t,y\n1,4\n"


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_while_modules_are_imported_shows_no_traceback(own_folder, number, code):
    """A package of the name of one that is imported first takes its place."""
    (own_folder / "click").mkdir()
    raising = f"import signal, time\nsignal.raise_signal({int(number)})\ntime.sleep(9)\n"
    (own_folder / "click" / "__init__.py").write_text(raising)
    path = os.pathsep.join([str(own_folder), str(ROOT)])
    child = started("--version", env={"PYTHONPATH": path})
    assert child.communicate() == (b"", b"interrupted\n")
    assert child.returncode == code


DROPPING = {
    "a finalizer": "class A:\n    def __del__(self):\n        {}\nA()\n",
    "one that makes another error of it": """
try:
    {}
except BaseException:
    raise SystemError("a call returned a result with an exception set")
""",
    "a callback of C": """
import ctypes
@ctypes.CFUNCTYPE(None)
def call():
    {}
call()
""",
}


@pytest.mark.parametrize("dropping", DROPPING)
def test_a_signal_where_errors_are_dropped_shows_no_traceback(own_folder, dropping):
    """As in callbacks of LLVM while numba compiles."""
    number, code = SIGNALS[1]
    (own_folder / "g.yaml").write_text(ONE)
    Path("d.csv").write_text("t,x\n1,2\n")
    raising = f"signal.raise_signal({int(number)})"
    Path("p.py").write_text("import signal\n" + DROPPING[dropping].replace("{}", raising))
    child = started("run", "g.yaml", "d.csv", "-o", "o.csv", "--plugin", "p.py")
    assert child.communicate() == (b"", b"interrupted\n")
    assert child.returncode == code
    assert not Path("o.csv").exists()


def test_other_errors_that_are_dropped_are_still_reported(own_folder):
    (own_folder / "p.py").write_text("class A:\n    def __del__(self):\n        1 / 0\nA()\n")
    child = started("ops", "--plugin", "p.py")
    assert b"ZeroDivisionError" in child.communicate()[1]
    assert child.returncode == 0


# ---- what mutants had shown that no test looks at


def test_an_input_that_was_edited_and_whose_time_was_set_back_is_another_one(call, monkeypatch):
    """Size, number and time of change are what they were; only the system knows."""
    monkeypatch.setattr(reader, "BLOCK_ROWS", 2)
    rows = [f"{t},1\n" for t in range(9)]
    Path("d.csv").write_text("t,x\n" + "".join(rows))
    words = ("run", "g.yaml", "d.csv", "-o", "o.csv", "--checkpoint", "ck", "--every", "1", "-q")
    with crash_after(3):
        assert call(*words, g__yaml=ONE)[0] == 70
    before = Path("d.csv").stat()
    with Path("d.csv").open("r+") as file:
        file.write("t,x\n0,7\n")
    os.utime("d.csv", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Files().stamp("d.csv")[:4] == (
        before.st_size, before.st_dev, before.st_ino, before.st_mtime_ns
    )  # fmt: skip
    code, _, err = call(*words, "--resume")
    assert (code, err.split(":")[0]) == (5, "error[RT314]")


def test_a_checkpoint_that_is_replaced_under_a_held_lock_is_not_written_over():
    store = CheckpointStore(Files(), "ck")
    store.open()
    store.commit(b"1" * 40)
    Path("ck").write_bytes(b"9" * 40)
    with pytest.raises(rtbot.CheckpointError, match="has taken this run over"):
        store.commit(b"2" * 40)
    assert Path("ck").read_bytes() == b"9" * 40
    store.close()


@pytest.mark.parametrize("place", [0, offsets.ENDS_BYTES - 1, 1 << 19, -offsets.ENDS_BYTES, -1])
def test_the_digest_of_pages_has_the_head_and_the_end_of_a_file(place):
    data = bytearray(1 << 20)
    before = offsets.digest_pages(BytesIO(data), len(data))
    data[place] = 1
    assert offsets.digest_pages(BytesIO(data), len(data)) != before


def test_a_parquet_file_with_another_end_is_another_one(call):
    """Its end says which rows are in it, and is far from the pages that are taken of the rest."""
    table = pa.table({"t": range(60_000), "x": np.random.default_rng(1).random(60_000)})
    pq.write_table(table, "d.parquet", compression="none", use_dictionary=False)
    words = ("run", "g.yaml", "d.parquet", "-o", "o.csv", "--checkpoint", "ck", "-q")
    with crash_after(2):
        assert call(*words, g__yaml=ONE)[0] == 70
    data = Path("d.parquet").read_bytes()
    assert data[-4:] == b"PAR1"
    Path("d.parquet").write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    code, _, err = call(*words, "--resume")
    assert (code, err.split(":")[0]) == (5, "error[RT314]")


SPECIAL = ["plain", "a,b", 'say "x"', "two\nlines", "two\r\nlines", "old\rmac", "", None, "ü", "\r"]


def test_many_rows_are_quoted_as_few_are(monkeypatch):
    """From 65,537 rows on another way writes CSV; here its loops are plain Python."""
    loops = SimpleNamespace(find_put_rows=lambda _prepare: csv_kernels.put_rows)
    monkeypatch.setattr(lines, "load_csv_loops", lambda: loops)
    table = pa.table({"t": range(len(SPECIAL)), "y": pa.array(SPECIAL, pa.string())})
    few, many = (
        b"".join(bytes(part) for part in lines.CsvEncoder(TimeFormat(), rows).encode(table))
        for rows in (99, 0)
    )
    assert many == few
    assert [row[1] for row in csv.reader(StringIO(few.decode(), newline=""))] == [
        text or "" for text in SPECIAL
    ]


# ---- what cannot be written is an error before the run, not behind it


@pytest.mark.parametrize(
    "words",
    [
        *(("-o", "none/o.csv"), ("--out", "y=none/o.csv"), ("--rejects", "none/r.csv")),
        *(("--plot", "none/p.svg"), ("--account", "none/a.json")),
        *(("--checkpoint", "none/ck", "-o", "o.csv"), ("--checkpoint", "ck", "-o", "none/o.csv")),
        ("--checkpoint", "ck", "-o", "o.csv", "--account", "none/a.json"),
    ],
    ids=" ".join,
)
def test_a_folder_that_is_not_there_is_reported_before_a_row_is_read(call, monkeypatch, words):
    monkeypatch.setattr(reader.FileReader, "read_in_turn", lambda _: pytest.fail("a row was read"))
    code, _, err = call("run", "g.yaml", "d.csv", *words, g__yaml=ONE, d__csv="t,x\n1,2\n")
    path = next(word for word in words if "none/" in word).removeprefix("y=")
    path += ".lock" * ("ck" in path)
    assert code == 74
    assert err == f"{path}: error: No such file or directory; there is no folder none\n"


def test_a_drawing_for_a_folder_that_is_not_there(call):
    code, _, err = call("draw", "g.yaml", "-o", "none/g.svg", g__yaml=ONE)
    told = "none/g.svg: error: No such file or directory; there is no folder none\n"
    assert (code, err) == (74, told)


def test_a_probe_leaves_nothing(own_folder):
    Path("old").write_text("1")
    for name in ("old", "new"):
        Files().probe(name)
    assert [(path.name, path.read_text()) for path in own_folder.iterdir()] == [("old", "1")]


# ---- rows of one key and time, in memory and on the disk


def outputs_of(rows):
    """What a push would release: {output: table} of rows (k, t, value), a value may be null."""
    found = {}
    for name in "abc":
        columns = list(zip(*rows.get(name, ()), strict=True)) or [(), (), ()]
        found[name] = {
            "t": np.array(columns[1], np.int64),
            "k": np.array(columns[0], np.int64),
            "value": np.array([cell or 0 for cell in columns[2]], np.int64),
            "value_valid": np.array([cell is not None for cell in columns[2]], bool),
        }
    return found


def written(pushes, memory, layout="wide"):
    """The lines of a file, of which rows wait in so much memory."""
    files, target = Files(), Target("o.csv", "csv", ("a", "b", "c"), layout)
    with OutputFiles(files, [target], ("k",), memory) as outlet:
        outlet.open(TimeFormat(), [True])
        for push in pushes:
            outlet.add(outputs_of(push))
        outlet.finish()
    return Path("o.csv").read_text().splitlines()[1:]


def test_two_messages_of_one_output_are_never_one_row(monkeypatch):
    """Nothing of today releases two at one key and time; a change to a row will."""
    monkeypatch.setattr("rtbot.io.sinks.output_file.BLOCK_BYTES_MIN", 1)
    pushes = [
        {"a": [(1, 5, 10), (1, 5, None), (1, 6, 11)], "b": [(1, 5, 20)]},
        {"a": [(1, 5, 12)], "b": [(1, 5, None), (2, 1, 21)], "c": [(1, 5, 30)]},
        {"b": [(1, 5, 22), (1, 5, 23), (1, 5, 24)]},
    ]
    expected = [
        "5,1,10,20,30",
        "5,1,,,",
        "5,1,12,22,",
        "5,1,,23,",
        "5,1,,24,",
        "6,1,11,,",
        "1,2,,21,",
    ]
    assert written(pushes, 1 << 28) == expected
    assert written(pushes, 1) == expected
    assert written(pushes, 1, "long") == written(pushes, 1 << 28, "long")
    assert len(written(pushes, 1, "long")) == 11


def test_the_memory_for_rows_changes_no_line_whatever_outputs_release(monkeypatch):
    monkeypatch.setattr("rtbot.io.sinks.output_file.BLOCK_BYTES_MIN", 1)
    monkeypatch.setattr("rtbot.io.sinks.sort.RUNS_MAX", 3)
    draw = random.Random(4)
    for _ in range(20):
        pushes = [
            {
                name: [
                    (draw.randrange(2), draw.randrange(3), draw.choice([None, 1, 2, 3]))
                    for _ in range(draw.randrange(4))
                ]
                for name in "abc"
            }
            for _ in range(draw.randrange(1, 12))
        ]
        assert written(pushes, 1) == written(pushes, 1 << 28)


# ---- errors that came on top of errors


def test_a_parquet_file_that_is_given_up_says_nothing_more(call, monkeypatch):
    """The writer of pyarrow wanted to write the end of a file that was closed: a traceback."""
    seen = []
    monkeypatch.setattr(reader, "BLOCK_ROWS", 2)
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    data = "t,x\n1,1\n2,1\n3,1\n4,1\n5,bad\n"
    assert call("run", "g.yaml", "d.csv", "-o", "o.parquet", g__yaml=ONE, d__csv=data)[0] == 4
    gc.collect()
    assert seen == []


def test_a_folder_that_cannot_be_listed_is_no_crash(call, monkeypatch):
    def refuse(_path):
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    told = "none.csv: error: No such file or directory\n"
    assert call("run", "g.yaml", "none.csv", g__yaml=ONE) == (74, "", told)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_rows_are_kept_of_a_file_whose_name_is_no_text(call, form):
    name = os.fsdecode(b"\xff.csv")
    Path(name).write_text("t,x\n1,2\n2,bad\n")
    words = ("run", "g.yaml", name, "-q", "--rejects", f"r.{form}")
    assert call(*words, g__yaml=ONE + "io: {bad: drop}\n") == (0, "t,y\n1,4\n", "")
    assert b"udcff.csv" in Path(f"r.{form}").read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        *(("loop",), ("d.csv", "-o", "loop"), ("d.csv", "--plot", "loop.svg")),
        *(("d.csv", "--checkpoint", "loop", "-o", "o.csv"), ("d.csv", "--plugin", "loop")),
    ],
    ids=" ".join,
)
def test_links_that_lead_round_are_an_error_of_the_system(call, words):
    for name in ("loop", "loop.svg"):
        Path(name).symlink_to(name)
    code, _, err = call("run", "g.yaml", *words, g__yaml=ONE, d__csv="t,x\n1,2\n")
    assert code in (2, 74)
    assert "Too many levels of symbolic links" in err or "there is no such Python file" in err


def test_a_link_to_nothing_is_called_so(call):
    Path("d.csv").symlink_to("none/e.csv")
    told = "d.csv: error: No such file or directory; it is a link to what is not there\n"
    assert call("run", "g.yaml", "d.csv", g__yaml=ONE) == (74, "", told)


def test_a_folder_in_the_place_of_an_account_is_reported_before_a_row_is_read(call):
    Path("a").mkdir()
    told = call("run", "g.yaml", "d.csv", "--account", "a", g__yaml=ONE, d__csv="t,x\n1,2\n")
    assert told == (74, "", "a: error: Is a directory\n")


@pytest.mark.parametrize("letter", ["a", "\U0001f600"])
def test_a_name_may_be_as_long_as_the_system_allows(call, letter):
    name = letter * (250 // len(letter.encode())) + ".csv"
    words, data = ("run", "g.yaml", "d.csv", "-q", "-o"), "t,x\n1,2\n"
    assert call(*words, name, g__yaml=ONE, d__csv=data) == (0, "", "")
    assert Path(name).read_text() == "t,y\n1,4\n"
    longer = f"{name}{letter * 9}.csv"
    assert call(*words, longer) == (74, "", f"{longer}: error: File name too long\n")
