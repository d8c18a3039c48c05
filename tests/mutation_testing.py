"""Changes one place in a copy of the package, many times: a test must fail for every change.

    python -m tests.mutation_testing [--only WORD] [--workers 2] [--compare]

Every mutant (tests/mutation.py) names a function, an expression or statement in it, what replaces
it, and the commands one of which must fail. A place that is no longer there is a failure too.

With --compare, those that touch order, cuts or state are given to `rtbot compare` instead, which
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

from tests.mutants import COMMANDS, MUTANTS

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
        "RTBOT_CACHE_DIR": str(Path(tempfile.gettempdir()) / "rtbot-mutation-cache"),
    }


def try_mutant(mutant, copy, catch):
    """What happened to the copy with the mutant, and in how many seconds.

    `catch` runs what is to catch it, and returns what did; "" if nothing.
    """
    started = time.monotonic()
    environment = copy_package(copy)
    try:
        mutant.apply(copy)
    except LookupError as error:
        return f"STALE: {error}", 0.0
    caught = catch(mutant, copy, environment)
    return caught or "SURVIVED", time.monotonic() - started


def catch_by_tests(mutant, copy, environment):
    """The first of its commands that fails."""
    for command in mutant.caught_by:
        if _run([sys.executable, *COMMANDS[command]], copy, environment)[0]:
            return f"caught by {command}"
    return ""


def catch_by_compare(_mutant, copy, environment):
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


def run_mutant(mutant, catch=catch_by_tests):
    """One mutant in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="rtbot-mutation-") as folder:
        return mutant, *try_mutant(mutant, Path(folder), catch)


def find_failing_commands(commands):
    """The commands that fail on a copy without a mutant: they prove nothing."""
    with tempfile.TemporaryDirectory(prefix="rtbot-mutation-") as folder:
        environment = copy_package(Path(folder))
        return [
            name
            for name in commands
            if _run([sys.executable, *COMMANDS[name]], folder, environment)[0]
        ]


def main(given=None):
    """Print a table; the number of mutants that were not caught is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation_testing", description=__doc__)
    parser.add_argument("--only", default="", help="those whose place or text holds this")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    parser.add_argument("--compare", action="store_true", help="caught by `rtbot compare`")
    options = parser.parse_args(given)
    chosen = [m for m in MUTANTS if options.only in f"{m.place} {m.old} {m.new}"]
    catch, commands = (
        catch_by_tests,
        sorted({command for item in chosen for command in item.caught_by}),
    )
    if options.compare:
        catch, commands = catch_by_compare, ["compare"]
        chosen = [item for item in chosen if item.compared]
    if failing := find_failing_commands(commands):
        sys.stdout.write(f"without any mutant {', '.join(failing)} fails already\n")
        return 1
    bad = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for mutant, outcome, seconds in pool.map(partial(run_mutant, catch=catch), chosen):
            bad += not outcome.startswith("caught")
            change = f"{mutant.old} -> {mutant.new}"[:110]
            sys.stdout.write(f"{outcome:<{WIDTH}} {seconds:5.1f} s  {mutant.place}: {change}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - bad} of {len(chosen)} caught\n")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
