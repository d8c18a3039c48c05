"""Code that starts interpreted: what it becomes, when, and that nothing but speed depends on it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rtbot
from rtbot.cli.main import run
from rtbot.compiler import code_cache, jit
from rtbot.compiler.tiers import background, child, compile_ahead, graph_code
from rtbot.compiler.tiers.argument_types import describe_arguments, to_numba_types
from rtbot.compiler.tiers.background import BACKGROUND, BackgroundCompiler
from rtbot.core import modes, notices
from rtbot.io import compile_plan, file_run
from rtbot.operator import In, Operator, Out, step
from rtbot.runtime import session_code
from rtbot.runtime.kernels import interpreted, rows
from rtbot.runtime.rehearsal import note_rows, rehearse
from tests import checkpointed_runs
from tests.generate import case
from tests.going_over import check_case, go_over_after, own_tiers
from tests.harness import Feeder, load
from tests.subprocess_runs import ROOT

SUM = """
inputs: {x: number}
operators: {y: {type: Scale, in: x, value: 2}}
outputs: {y: y}
"""
ADDED = "def added(a, b):\n    return a + b + 0\n"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty cache; notices are printed again; nothing has chosen a mode."""
    monkeypatch.setenv("RTBOT_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.delenv("RTBOT_COMPILE", raising=False)
    monkeypatch.delenv("RTBOT_INTERPRET", raising=False)
    monkeypatch.setattr(notices, "_silenced", [])
    monkeypatch.setattr(notices, "_warned", set())
    return tmp_path / "kept"


# ---- modes


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("wanted", "environment", "mode"),
    [
        (None, {}, "beside"),
        (None, {"RTBOT_COMPILE": "now"}, "now"),
        (None, {"RTBOT_COMPILE": "now", "RTBOT_INTERPRET": "1"}, "never"),
        (None, {"RTBOT_COMPILE": "soon"}, "beside"),
        (None, {"RTBOT_COMPILE": ""}, "beside"),
        (True, {"RTBOT_INTERPRET": "1"}, "now"),
        (False, {}, "never"),
        ("beside", {"RTBOT_INTERPRET": "1"}, "beside"),
    ],
)
def test_modes(wanted, environment, mode, monkeypatch, capfd):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert modes.choose_mode(wanted) == mode
    with modes.use_mode("never"):
        assert modes.choose_mode(None) == "never"
    assert ("RTBOT_COMPILE is now, beside, never" in capfd.readouterr().err) == (
        environment.get("RTBOT_COMPILE") == "soon"
    )


def test_another_mode_is_refused():
    with pytest.raises(ValueError, match="compiled is now, beside, never, True or False"):
        rtbot.load(SUM).start(compiled="soon")


@pytest.mark.usefixtures("folder")
def test_a_step_of_a_user_is_never_interpreted_first():
    """It may raise as plain Python where compiled code gives an infinity."""

    class Inverse(Operator):
        """One over it."""

        i1, o1 = In("number"), Out("number")

        @step
        def step(i1):  # noqa: N805
            return 1.0 / i1

    graph = rtbot.load(SUM.replace("type: Scale, in: x, value: 2", "type: Inverse, in: x"))
    assert session_code.choose_plan_mode(graph.plan(), None) == "now"
    assert session_code.choose_plan_mode(graph.plan(), "never") == "never"
    assert session_code.choose_plan_mode(rtbot.load(SUM).plan(), None) == "beside"


# ---- what a small run does not need


def test_a_small_run_imports_no_compiler_and_writes_nothing(folder, tmp_path):
    (tmp_path / "g.yaml").write_text(SUM)
    (tmp_path / "d.csv").write_text("t,k,x\n" + "".join(f"{t},a,{t}\n" for t in range(30)))
    code = (
        "import sys; from rtbot.cli.main import run\n"
        "code = run(['run', 'g.yaml', 'd.csv', '--key', 'k', '--timings'])\n"
        "sys.exit(code or 'numba' in sys.modules or 'llvmlite' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("t,k,y\n0,a,0\n1,a,2\n")
    assert "  30 rows\n" in done.stderr
    assert not folder.exists()


# ---- types of arguments


def test_types_of_arguments_are_those_that_numba_finds():
    import numba

    flat = np.arange(6.0)
    fixed = np.arange(3)
    fixed.flags.writeable = False
    arguments = [
        *(1, -(2**63), True, 1.5, np.bool_(1), np.int64(3), np.int32(3), np.float64(2)),
        *(flat, fixed, flat.reshape(2, 3), flat.reshape(2, 3).T, flat[::2]),
        *(np.zeros(2, bool), np.zeros(0, np.uint8), np.zeros(2, np.int32)),
    ]
    found = to_numba_types(json.loads(json.dumps(describe_arguments(arguments))))
    assert list(found) == [numba.typeof(argument) for argument in arguments]


def test_words_are_mixed_as_in_compiled_code():
    words = np.random.default_rng(3).integers(-(2**63), 2**63, 2_000, dtype=np.int64)
    edges = np.array([-(2**63), 2**63 - 1, -1, 0, 1])
    with np.errstate(over="ignore"):
        for word in [*words, *edges]:
            assert interpreted.mix(int(word)) == int(rows.mix(word))


# ---- going over


@pytest.mark.parametrize("part", range(4))
def test_a_session_that_goes_over_after_any_step_stays_the_same(part):
    """Here to other plain functions; `python -m tests.going_over` compiles."""
    for number in range(part * 3, part * 3 + 3):
        check_case(number, fake=True)


@pytest.mark.parametrize("name", ["unkeyed", "keyed", "two inputs", "late"])
def test_a_run_that_crashes_around_going_over_writes_the_same_checkpoints_and_bytes(
    name, own_folder, monkeypatch
):
    command = checkpointed_runs.prepare(checkpointed_runs.CASES[name], own_folder, 700)
    command += ["-o", "out.csv", "--checkpoint", "ck", "--every", "1"]

    def run_in_parts(mode):
        """The checkpoints at every crash, and what is written in the end."""
        found, code = [], 70
        while code == 70:
            pushes, commits = 1 + len(found) % 3, 1 + len(found) % 4
            with go_over_after(pushes), checkpointed_runs.crash_after(commits):
                code = run([*command, "--compile", mode, *["--resume"] * bool(found)])
            found.append(Path("ck").read_bytes() if code == 70 else Path("out.csv").read_bytes())
        return found

    with checkpointed_runs.use_small_blocks(monkeypatch):
        expected, before = run_in_parts("never"), BACKGROUND.version
        beside = run_in_parts("beside")
    assert len(expected) > 3
    assert BACKGROUND.version > before
    assert beside == expected


# ---- the process that compiles


def start_tier(text=ADDED):
    """A compiler of its own, and a module that has been interpreted for long enough."""
    compiler = BackgroundCompiler()
    module = compiler.add(text, graph_code.list_functions(text))
    module.seconds = background.PATIENCE_SECONDS
    assert module.functions.added(1, 2) == 3
    return compiler, module


def wait_for(compiler):
    """Take turns until no process compiles."""
    until = time.monotonic() + 100
    compiler.turn()
    while compiler.is_compiling and time.monotonic() < until:
        time.sleep(0.01)
        compiler.turn()
    assert not compiler.is_compiling


def is_compiled(module):
    assert module.functions.added(2, 3) == 5
    return hasattr(module.functions.added, "overloads")


@pytest.fixture
def unshared(monkeypatch):
    """Compiled modules are read from disk again."""
    monkeypatch.setattr(jit, "load_compiled", jit.load_compiled.__wrapped__)


@pytest.mark.usefixtures("unshared")
def test_what_another_process_has_compiled_is_read_and_never_compiled_again(folder, capfd):
    compiler, module = start_tier()
    assert not compiler.is_compiling
    wait_for(compiler)
    assert is_compiled(module)
    assert compiler.compile_seconds > 0
    name = "rtbot: compiling beside this run (once; the result is kept) ...\n"
    assert capfd.readouterr().err == name
    assert compile_ahead.is_compiled(ADDED, {"added": [("int64", "int64")]})
    assert not compile_ahead.is_compiled(ADDED, {"added": [("int64", "float64")]})
    assert not [path for path in folder.rglob("*") if path.stat().st_mode & 0o077 and path.is_dir()]

    second, module = start_tier()
    second.turn()
    assert not second.is_compiling
    assert is_compiled(module)
    assert sum(module.functions.added.stats.cache_hits.values()) == 1
    assert not module.functions.added.stats.cache_misses

    for file in (folder / code_cache.COMPILED).glob("*.nbc"):  # torn, as after a loss of power
        file.write_bytes(file.read_bytes()[:100])
    third, module = start_tier()
    wait_for(third)
    assert is_compiled(module)
    assert third.compile_seconds > 0
    assert compile_ahead.is_compiled(ADDED, {"added": [("int64", "int64")]})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_process_that_is_killed_changes_nothing_but_speed(delay):
    compiler, module = start_tier(f"{ADDED}# {delay}\n")
    compiler.turn()
    assert not is_compiled(module)
    time.sleep(delay)
    os.kill(compiler._process.pid, signal.SIGKILL)
    wait_for(compiler)
    assert is_compiled(module)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("broken", ["frozen", "no Python", "no folder"])
def test_where_no_process_can_help_numba_compiles_here(broken, monkeypatch):
    if broken == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif broken == "no Python":
        monkeypatch.setattr(sys, "executable", "/none/python")
    else:
        monkeypatch.setenv("RTBOT_CACHE_DIR", "/proc/none")
        monkeypatch.setattr(code_cache, "tempfile", SimpleNamespace(gettempdir=lambda: "/proc"))
    compiler, module = start_tier(f"{ADDED}# {broken}\n")
    compiler.turn()
    assert not compiler.is_compiling
    assert is_compiled(module)


@pytest.mark.usefixtures("folder")
def test_what_numba_refuses_stays_interpreted(capfd):
    text = "def added(a, b):\n    return {0: a, 'b': b}['b'] + a\n"
    compiler, module = start_tier(text)
    wait_for(compiler)
    compiler.turn()
    assert not compiler.is_compiling
    assert not is_compiled(module)
    assert "a part cannot be compiled and stays interpreted" in capfd.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_process_outlives_its_parent_behind_all_that_is_more_urgent():
    compiler, _ = start_tier()
    compiler.turn()
    process = compiler._process
    process._leave()
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == child.LOW_PRIORITY
    assert os.getsid(process.pid) == process.pid
    os.kill(process.pid, signal.SIGKILL)
    wait_for(compiler)


# ---- what a user sees


class SlowProcess:
    """A process that compiles nothing, and ends after some looks at it."""

    def __init__(self, looks):
        self.looks, self.pid = looks, 0

    def poll(self):
        self.looks -= 1
        return None if self.looks > 0 else child.Ended(compile_ahead.UNCOMPILABLE, 0.0)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [(), ("--key", "k"), ("-o", "out.arrow")])
def test_stdout_has_rows_before_a_block_has_ended(words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(child, "start", lambda _jobs: SlowProcess(10**6))
    monkeypatch.setattr(BACKGROUND, "_process", None)
    (tmp_path / "g.yaml").write_text(SUM + "description: cut\n")
    (tmp_path / "d.csv").write_text("t,k,x\n" + "".join(f"{t},a,{t}\n" for t in range(30_000)))
    ends = []
    told = file_run.RunWriter._end_block
    monkeypatch.setattr(
        file_run.RunWriter, "_end_block", lambda self, rows: ends.append(rows) or told(self, rows)
    )
    assert run(["run", "g.yaml", "d.csv", "-q", "--compile", "beside", *words]) == 0
    beside = capfd.readouterr().out
    assert len(ends) == (8 if not words else 1)
    assert run(["run", "g.yaml", "d.csv", "-q", "--compile", "never", *words]) == 0
    assert capfd.readouterr().out == beside


@pytest.mark.usefixtures("folder")
def test_graphs_are_compiled_ahead(tmp_path, monkeypatch, capfd):
    def compile_module(text, wanted):
        for name, types in wanted.items():
            compile_ahead._list_function(text, name, types)
        return []

    monkeypatch.setattr(compile_plan, "compile_module", compile_module)
    (tmp_path / "g.yaml").write_text(SUM)
    words = ["warm", str(tmp_path / "g.yaml"), "--tap", "y"]
    assert run(words) == 0
    assert "g.yaml: compiled in " in capfd.readouterr().err
    assert run(words) == 0
    assert capfd.readouterr().err.endswith("g.yaml: is compiled\n")
    monkeypatch.setenv("RTBOT_CACHE_DIR", "/proc/none")
    monkeypatch.setattr(code_cache, "tempfile", SimpleNamespace(gettempdir=lambda: "/proc"))
    assert run(words) == 74
    assert "no folder to keep code in" in capfd.readouterr().err


def test_an_error_of_a_step_is_shown_when_it_is_compiled_ahead(monkeypatch):
    error = NotImplementedError("no")
    monkeypatch.setattr(compile_plan, "compile_module", lambda _text, _wanted: [error])
    monkeypatch.setattr(compile_plan, "is_compiled", lambda _text, _wanted: False)
    with pytest.raises(NotImplementedError):
        compile_plan.warm_plan(rtbot.load(SUM).plan())


@pytest.mark.parametrize("number", range(8))
def test_a_rehearsal_calls_all_that_a_session_of_the_plan_calls(number):
    with own_tiers():
        drawn = case(number)
        feeder = Feeder(load(drawn.document), drawn, compiled="beside")
        tier = feeder.session.code.tiers[0]
        for steps in drawn.schedules[:1]:
            feeder.run([step for step in steps if step[0] not in ("one", "wrong")])
        called = tier.copy_noted()
        tier.noted.clear()
        rehearse(feeder.session)
        note_rows(feeder.session)
        noted = tier.copy_noted()
        missing = {n: types - noted.get(n, set()) for n, types in called.items()}
        assert {n: types for n, types in missing.items() if types} == {}


def test_timings_are_by_how_rows_were_run(tmp_path, capfd):
    (tmp_path / "g.yaml").write_text(SUM)
    (tmp_path / "d.csv").write_text("t,x\n" + "".join(f"{t},{t}\n" for t in range(70)))
    words = [str(tmp_path / "g.yaml"), str(tmp_path / "d.csv"), "--timings", "-o"]
    assert run(["run", *words, str(tmp_path / "o.csv"), "--compile", "never"]) == 0
    lines = capfd.readouterr().err.splitlines()
    places = [line.split()[0] for line in lines[lines.index("time:") + 1 :]]
    assert places == ["starting", "reading", "loading", "interpreted", "compiled", "writing", "all"]
    assert "  70 rows" in lines[lines.index("time:") + 4]
    assert "  0 rows" in lines[lines.index("time:") + 5]
