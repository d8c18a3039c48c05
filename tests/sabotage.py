"""Breaks a copy of the package in one line, many times: the tests must see every one.

    python -m tests.sabotage [--only WORD] [--workers 2]

Every sabotage is a text that stands once in the package, what it becomes, and the commands one of
which must fail. A text that is no longer there is a failure too: the list moves with the code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.sabotages import COMMANDS, SABOTAGES

ROOT = Path(__file__).parent.parent
SECONDS = 300


def copied(copy):
    """Copy the package into a folder; the environment in which commands there run on the copy."""
    shutil.copytree(ROOT / "rtbot", copy / "rtbot", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tests", "graphs", "pyproject.toml"):
        (copy / name).symlink_to(ROOT / name)
    return os.environ | {
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RTBOT_CACHE_DIR": str(Path(tempfile.gettempdir()) / "rtbot-sabotage-cache"),
    }


def attempt(sabotage, copy):
    """How the copy fares with the sabotage: its file, what happened, in how many seconds."""
    started = time.monotonic()
    environment = copied(copy)
    places = [path for path in (copy / "rtbot").rglob("*.py") if sabotage.old in path.read_text()]
    text = places[0].read_text() if len(places) == 1 else ""
    if text.count(sabotage.old) != 1:
        return "?", "STALE: the text does not stand there once", 0.0
    places[0].write_text(text.replace(sabotage.old, sabotage.new))
    file = places[0].relative_to(copy / "rtbot")
    for command in sabotage.caught_by:
        code = _run([sys.executable, *COMMANDS[command]], copy, environment)
        if code:
            return file, f"caught by {command}", time.monotonic() - started
    return file, "SURVIVED", time.monotonic() - started


def _run(command, copy, environment):
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return done.returncode


def run_one(sabotage):
    """One sabotage in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="rtbot-sabotage-") as folder:
        return sabotage, *attempt(sabotage, Path(folder))


def fail_untouched(commands):
    """The commands that fail on a copy that nobody has broken: they prove nothing."""
    with tempfile.TemporaryDirectory(prefix="rtbot-sabotage-") as folder:
        environment = copied(Path(folder))
        return [
            name
            for name in commands
            if _run([sys.executable, *COMMANDS[name]], folder, environment)
        ]


def main(given=None):
    """Print a table; the number of sabotages that were not caught is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sabotage", description=__doc__)
    parser.add_argument("--only", default="", help="those whose text holds this")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    options = parser.parse_args(given)
    chosen = [item for item in SABOTAGES if options.only in f"{item.old} {item.new}"]
    commands = sorted({command for item in chosen for command in item.caught_by})
    if failing := fail_untouched(commands):
        sys.stdout.write(f"without any sabotage {', '.join(failing)} fails already\n")
        return 1
    bad = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for sabotage, file, outcome, seconds in pool.map(run_one, chosen):
            bad += not outcome.startswith("caught")
            change = f"{sabotage.old.strip()!r} -> {sabotage.new.strip()!r}"
            sys.stdout.write(f"{outcome:<24} {seconds:5.1f} s  {file}: {change[:110]}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - bad} of {len(chosen)} caught\n")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
