"""Breaks a copy of the package in one line, many times: the tests must see every one.

    python -m tests.mutation_testing [--only WORD] [--workers 2] [--compare]

Every sabotage is a text that stands once in the package, what it becomes, and the commands one of
which must fail. A text that is no longer there is a failure too: the list moves with the code.

With --compare, those that touch order, cuts or state are shown to `rtbot compare` instead, which
knows no right answers: it must find a difference, and a small input that shows it.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.mutants import COMMANDS, SABOTAGES

ROOT = Path(__file__).parent.parent
PACKAGES = ("rtbot", "spark_adapter")
SECONDS = 900
CASES = 60
"""Random graphs that `rtbot compare` runs until it finds a difference."""

FEW_ROWS = 16
"""What needs a block of eight waiting rows to be full needs more than eight."""

WIDTH = 24


def copy_package(copy):
    """Copy the package into a folder; the environment in which commands there run on the copy."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tests", "graphs", "pyproject.toml"):
        (copy / name).symlink_to(ROOT / name)
    return os.environ | {
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RTBOT_CACHE_DIR": str(Path(tempfile.gettempdir()) / "rtbot-sabotage-cache"),
    }


def try_mutant(sabotage, copy, catch):
    """How the copy fares with the sabotage: its file, what happened, in how many seconds.

    `catch` runs what is to catch it, and says what did; "" if nothing.
    """
    started = time.monotonic()
    environment = copy_package(copy)
    files = [path for name in PACKAGES for path in (copy / name).rglob("*.py")]
    places = [path for path in files if sabotage.old in path.read_text()]
    text = places[0].read_text() if len(places) == 1 else ""
    if text.count(sabotage.old) != 1:
        return "?", "STALE: the text does not stand there once", 0.0
    places[0].write_text(text.replace(sabotage.old, sabotage.new))
    file = places[0].relative_to(copy)
    caught = catch(sabotage, copy, environment)
    return file, caught or "SURVIVED", time.monotonic() - started


def catch_by_tests(sabotage, copy, environment):
    """The first of its commands that fails."""
    for command in sabotage.caught_by:
        if _run([sys.executable, *COMMANDS[command]], copy, environment)[0]:
            return f"caught by {command}"
    return ""


def catch_by_compare(_sabotage, copy, environment):
    """What `rtbot compare` finds over random graphs: the way and the rows of the input."""
    command = [sys.executable, "-m", "tests.comparisons", "--cases", str(CASES)]
    code, text = _run(command, copy, environment)
    if code != 1:
        return ""
    found = json.loads(text)
    rows = len(found["difference"]["input"])
    told = f"caught by {found['difference']['way']}, {rows} rows ({found['case']})"
    return told if rows <= FEW_ROWS else ""


def _run(command, copy, environment):
    """The exit code of a command, and its output; who takes too long proves nothing."""
    child = subprocess.Popen(
        command,
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        text, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # its workers too
        child.communicate()
        return 0, ""
    return child.returncode, text.decode()


def run_mutant(sabotage, catch=catch_by_tests):
    """One sabotage in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="rtbot-sabotage-") as folder:
        return sabotage, *try_mutant(sabotage, Path(folder), catch)


def find_failing_commands(commands):
    """The commands that fail on a copy that nobody has broken: they prove nothing."""
    with tempfile.TemporaryDirectory(prefix="rtbot-sabotage-") as folder:
        environment = copy_package(Path(folder))
        return [
            name
            for name in commands
            if _run([sys.executable, *COMMANDS[name]], folder, environment)[0]
        ]


def main(given=None):
    """Print a table; the number of sabotages that were not caught is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation_testing", description=__doc__)
    parser.add_argument("--only", default="", help="those whose text holds this")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    parser.add_argument("--compare", action="store_true", help="caught by `rtbot compare`")
    options = parser.parse_args(given)
    chosen = [item for item in SABOTAGES if options.only in f"{item.old} {item.new}"]
    catch, commands = (
        catch_by_tests,
        sorted({command for item in chosen for command in item.caught_by}),
    )
    if options.compare:
        catch, commands = catch_by_compare, ["compare"]
        chosen = [item for item in chosen if item.compared]
    if failing := find_failing_commands(commands):
        sys.stdout.write(f"without any sabotage {', '.join(failing)} fails already\n")
        return 1
    bad = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for sabotage, file, outcome, seconds in pool.map(partial(run_mutant, catch=catch), chosen):
            bad += not outcome.startswith("caught")
            change = f"{sabotage.old.strip()!r} -> {sabotage.new.strip()!r}"
            sys.stdout.write(f"{outcome:<{WIDTH}} {seconds:5.1f} s  {file}: {change[:110]}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - bad} of {len(chosen)} caught\n")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
