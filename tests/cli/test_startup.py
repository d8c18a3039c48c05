"""What a start imports and does, counted and never timed: machines are shared."""

import importlib.metadata
import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import rtbot.operators
from rtbot.compiler.versions import find_version
from rtbot.operator import step_source

ROOT = Path(__file__).parents[2]
ROWS = "t,symbol,price\n" + "".join(f"{t},A,{100 + t}\n" for t in range(30))
RUN = """
import atexit
import sys
from rtbot.cli import main
sys.argv = ["rtbot", "run", "graphs/bollinger.yaml", "-", "-q"]
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
main()
"""
UNUSED = {
    "pandas",
    "rich",
    "jinja2",
    "jsonschema",
    "zoneinfo",
    "unittest",
    "multiprocessing",
    "pyarrow.dataset",
    "pyarrow.json",
    "pyarrow.parquet",
    "rtbot.builder",
    "rtbot.compare",
    "rtbot.datalog",
    "rtbot.explain",
    "rtbot.graph_tests",
    "rtbot.io.checkpointed_run",
    "rtbot.io.sources.columnar",
    "rtbot.io.sources.jsonl",
    "rtbot.sql",
    "rtbot.storage.checkpoint_store",
    "rtbot.viz",
}
"""What a run of CSV without a checkpoint has no use for."""

FUNCTIONS = """
def doubled(a):
    return 2 * a

def added(a):
    return doubled(a) + 1
"""
COMPILED = f"""
import sys
from rtbot.compiler import jit

def call(argument):
    result = module.added(argument)
    kind = type(module.doubled).__name__
    hits = module.added.stats.cache_hits.total()
    print(result, "numba.np.npyimpl" in sys.modules, kind, hits)

module = jit.load_compiled({FUNCTIONS!r})
call(3)
"""


def run_python(code, given="", **settings):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | settings
    return subprocess.run(
        [sys.executable, "-c", code],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment,
    )


def test_a_run_of_csv_imports_no_more_than_it_needs():
    done = run_python(RUN, ROWS, RTBOT_INTERPRET="1")
    assert len(done.stdout.splitlines()) == 12
    modules = set(done.stderr.split())
    assert modules & UNUSED == set()
    others = [name for name in modules if not name.startswith(("numba", "llvmlite"))]
    assert len(others) < 600


LATE = """
import atexit
import sys
import threading
from rtbot.cli import main

def write_late():
    threading.main_thread().join()
    print("late")

atexit.register(print, "registered")
threading.Thread(target=write_late).start()
sys.argv = ["rtbot", "--version"]
main()
"""


def test_the_end_waits_for_threads_and_does_what_was_registered():
    lines = run_python(LATE).stdout.splitlines()
    assert lines == [f"rtbot, version {rtbot.__version__}", "late", "registered"]


def test_kept_code_is_loaded_without_what_compiling_needs(tmp_path):
    """A call with other types is compiled after that as if nothing had been kept."""
    first, second = (
        run_python(code, RTBOT_CACHE_DIR=str(tmp_path)).stdout.splitlines()
        for code in (COMPILED, COMPILED + "call(1.5)\n")
    )
    assert first == ["7 True CPUDispatcher 0"]
    assert second == ["7 False function 1", "4.0 True CPUDispatcher 1"]


def list_steps():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(("rtbot.operators", "rtbot.numeric")):
            steps = (v for v in vars(module).values() if getattr(v, "is_step", False))
            found |= {f"{step.__module__}.{step.__qualname__}": step for step in steps}
    return found


def test_the_text_of_every_step_is_what_inspect_finds():
    steps = list_steps()
    assert len(steps) > 100
    for name, step in steps.items():
        text = textwrap.dedent(inspect.getsource(step))
        assert step_source._cut_source(step) == text, name


@pytest.mark.parametrize("name", ["numba", "llvmlite", "numpy"])
def test_the_version_of_a_package_is_that_of_its_metadata(name):
    assert find_version(name) == importlib.metadata.version(name)


def test_a_package_that_is_not_there_has_no_version():
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        find_version("there_is_none")
