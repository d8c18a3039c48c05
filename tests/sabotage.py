"""Breaks a copy of the package in one line, many times: the tests must see every one.

    python -m tests.sabotage [--only WORD] [--workers 2]

Every sabotage is a file of the package, a text in it, what it becomes, and the command that must
fail. A text that is no longer there is a failure too: the list moves with the code.
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
        "XDG_CACHE_HOME": str(copy / "cache"),
        "RTBOT_CACHE_DIR": str(copy / "cache"),
    }


def attempt(sabotage, copy):
    """How the copy fares with the sabotage: what happened, and in how many seconds."""
    started = time.monotonic()
    environment = copied(copy)
    target = copy / "rtbot" / sabotage.file
    text = target.read_text()
    if text.count(sabotage.old) != 1:
        return f"STALE: the text is there {text.count(sabotage.old)} times", 0.0
    target.write_text(text.replace(sabotage.old, sabotage.new))
    for command in sabotage.caught_by:
        code = _run([sys.executable, *COMMANDS[command]], copy, environment)
        if code:
            return f"caught by {command}", time.monotonic() - started
    return "SURVIVED", time.monotonic() - started


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


def passes_untouched(commands):
    """Whether the commands pass on a copy that nobody has broken: else they prove nothing."""
    with tempfile.TemporaryDirectory(prefix="rtbot-sabotage-") as folder:
        environment = copied(Path(folder))
        return all(
            _run([sys.executable, *COMMANDS[name]], folder, environment) == 0 for name in commands
        )


def main(given=None):
    """Print a table; the number of sabotages that were not caught is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sabotage", description=__doc__)
    parser.add_argument("--only", default="", help="those whose file or text holds this")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    options = parser.parse_args(given)
    chosen = [item for item in SABOTAGES if options.only in f"{item.file} {item.old} {item.new}"]
    commands = sorted({command for item in chosen for command in item.caught_by})
    if not passes_untouched(commands):
        sys.stdout.write(f"one of {', '.join(commands)} fails without any sabotage\n")
        return 1
    bad = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for sabotage, outcome, seconds in pool.map(run_one, chosen):
            bad += not outcome.startswith("caught")
            change = f"{sabotage.old.strip()!r} -> {sabotage.new.strip()!r}"
            sys.stdout.write(f"{outcome:<24} {seconds:5.1f} s  {sabotage.file}: {change[:110]}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - bad} of {len(chosen)} caught\n")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
