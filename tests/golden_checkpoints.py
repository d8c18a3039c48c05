"""Checkpoints as a version wrote them, kept so that later versions resume them.

`python -m tests.golden_checkpoints` writes those of this version, once. Those of a version that was
released are never written again.
"""

import contextlib
import os
import shutil
import sys
from pathlib import Path

import rtbot
from rtbot.cli.main import run
from tests.checkpointed_runs import CASES, crash_after, prepare, run_plain, use_small_blocks
from tests.crashes import Patch

FOLDER = Path(__file__).parent / "golden" / "checkpoints"
ROWS, COMMITS = 250, 3
KEPT = [(name, "csv") for name in CASES] + [("keyed", "parquet"), ("two inputs", "jsonl.gz")]


def folder_of(version, name, form):
    return FOLDER / version / f"{name.replace(' ', '-').replace(',', '')}.{form}"


def words(name, form):
    """The command that resumes a case in its folder."""
    case = CASES[name]
    return ["run", "g.yaml", *case.reads, *case.words, "-q", "-o", f"out.{form}"]


def kept():
    """All that there is: the folder, and the command that resumes the run in it."""
    return [
        (folder_of(version.name, name, form), words(name, form))
        for version in sorted(FOLDER.iterdir())
        for name, form in KEPT
        if folder_of(version.name, name, form).exists()
    ]


def make(name, form):
    """Write one; `expected` is what the whole run writes."""
    folder = folder_of(rtbot.__version__, name, form)
    folder.mkdir(parents=True)
    os.chdir(folder)
    prepare(CASES[name], folder, ROWS)
    command = words(name, form)
    run_plain(command[:-2], f"expected.{form}")
    with crash_after(COMMITS), contextlib.redirect_stderr(None):
        run([*command, "--checkpoint", "ck", "--every", "1"])
    for path in folder.glob("ck.lock"):
        path.unlink()


def main():
    os.environ["RTBOT_INTERPRET"] = "1"
    version = FOLDER / rtbot.__version__
    if "--replace" in sys.argv:
        shutil.rmtree(version, ignore_errors=True)
    assert not version.exists(), f"{version} is there: a release keeps what it wrote"
    with use_small_blocks(Patch):
        for name, form in KEPT:
            make(name, form)


if __name__ == "__main__":
    main()
