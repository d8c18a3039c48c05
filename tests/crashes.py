"""Runs that are killed, fail, or lose power at any moment: `python -m tests.crashes --help`.

What is resumed has to give the bytes of a run that nothing disturbed.
"""

import argparse
import contextlib
import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rtbot.storage.files import Files
from tests import disks
from tests.checkpointed_runs import BLOCK_ROWS, CASES, InProcessRun, prepare, use_small_blocks

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
SUITE = [(name, form) for name in ("unkeyed", "keyed") for form in ("csv", "parquet")]


REAL = """
from rtbot.cli import main
from rtbot.io import reader
from rtbot.io.sources import csv_chunks
reader.BLOCK_ROWS, csv_chunks.CHUNK_BYTES = 100, 3_000
main()
"""
"""The program, with small blocks."""


class ResumeError(AssertionError):
    """A run that was resumed differs, or could not be resumed."""


class RunFolder:
    """A folder with the data of a case, and what an undisturbed run writes there."""

    def __init__(self, name, form, rows):
        self.name = f"{name}, {form}"
        self.command = prepare(CASES[name], Path(), rows)
        key = "k" if name.startswith("keyed") else None
        self.target = f"out.{form}"
        self.run = InProcessRun(CASES[name], file="d.csv", target=self.target, key=key)
        self.run(Files(), resume=False)
        self.expected = Path(self.target).read_bytes()
        self.clean()

    def clean(self):
        for path in Path().iterdir():
            if path.name.startswith(("out.", "ck")):
                path.unlink()

    def check(self, what):
        found = Path(self.target).read_bytes()
        if found != self.expected:
            raise ResumeError(f"{self.name}: {what}: {len(found)} bytes, not {len(self.expected)}")

    def record(self):
        """Run once and return every operation, and what was there before."""
        files = disks.RecordingDisk(Path())
        self.run(files, resume=False)
        self.check("recorded")
        self.clean()
        return files


# ---- kill -9


def run_killed(place, draw, seconds, every=1):
    """Run to the end, killed again and again on the way; returns the number of kills.

    After each kill the next comes later, so that even a machine that has become slower ends.
    """
    kills = 0
    while True:
        child = _start_process(place, every)
        time.sleep(seconds * draw.choice([0.1, 0.5, 1.5]) * draw.random())
        os.kill(child, signal.SIGKILL)
        status = _wait_for_end(place, child)
        if os.WIFEXITED(status):
            break
        kills += 1
        seconds *= 1.2
    place.check(f"{kills} kills")
    place.clean()
    return kills


def _start_process(place, every):
    """The number of a process that runs to its end."""
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            place.run(Files(), every=every)
            code = 0
        os._exit(code)
    return child


def _wait_for_end(place, child):
    """How the process ended; if by itself, without an error."""
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise ResumeError(f"{place.name}: refused to go on")
    return status


def duration(place):
    """How long a process needs that nothing disturbs."""
    begun = time.perf_counter()
    _wait_for_end(place, _start_process(place, every=1))
    seconds = time.perf_counter() - begun
    place.clean()
    return seconds


def kill_many(place, draw, wanted):
    """Kill runs until there were so many kills; returns their number and that of the runs."""
    kills = runs = 0
    seconds = duration(place)
    while kills < wanted:
        kills += run_killed(place, draw, seconds)
        runs += 1
    return kills, runs


# ---- every operation


def fail_everywhere(place, numbers=ERRORS, kills=True):
    """Fail, or be killed, at every operation, and resume; returns how often."""
    total = len(place.record().operations)
    for k in range(total):
        for number in numbers:
            try:
                place.run(disks.FailingDisk(Path(), k, number), resume=False)
                place.check(f"operation {k}, which may fail")
            except OSError as error:
                if error.errno != number:
                    raise
            place.run(Files())
            place.check(f"error {number} at operation {k}")
            place.clean()
        if kills:
            _die(place, k)
    return total * (len(numbers) + kills)


def _die(place, k):
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            place.run(disks.KillingDisk(Path(), k), resume=False)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise ResumeError(f"{place.name}: operation {k} was not reached")
    place.run(Files())
    place.check(f"killed at operation {k}")
    place.clean()


def fail_while_resuming(place, number=errno.ENOSPC):
    """Fail in the middle, then at every operation of what is resumed, and resume again.

    Returns how often.
    """
    middle = len(place.record().operations) // 2
    k = 0
    while True:
        with contextlib.suppress(OSError):
            place.run(disks.FailingDisk(Path(), middle, number), resume=False)
        done = False
        with contextlib.suppress(OSError):
            place.run(disks.FailingDisk(Path(), k, number))
            done = True
        if not done:
            place.run(Files())
        place.check(f"resumed, error at operation {k}")
        place.clean()
        if done:
            return k
        k += 1


# ---- power


def all_states(files):
    """Everything that a power failure could leave, whenever it comes; each once."""
    seen = set()
    for k in range(len(files.operations) + 1):
        for state in disks.list_states(files.operations[:k], files.begun):
            kept = tuple(sorted(state.items()))
            if kept not in seen:
                seen.add(kept)
                yield state


def fails(place, state):
    """What goes wrong when a run is resumed there; None if nothing does."""
    try:
        found = place.run.again(state)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is to be told)
        return repr(error)
    return None if found == place.expected else "other bytes"


def lose_power(place, part=1.0, draw=None):
    """Resume from states that a power failure leaves; returns how many."""
    count = 0
    for state in all_states(place.record()):
        if draw is not None and draw.random() > part:
            continue
        wrong = fails(place, state)
        if wrong is not None:
            sizes = {name: len(data) for name, data in state.items()}
            raise ResumeError(f"{place.name}: {wrong} in {sizes}")
        count += 1
    return count


def find_loose_syncs(operations):
    """Numbers of the files' forces onto the disk that have something to force, among all."""
    found, written = [], set()
    number = 0
    for operation in operations:
        if operation.kind in (disks.WRITE, disks.CUT):
            written.add(operation.node)
        elif operation.kind == disks.SYNC:
            if operation.node in written:
                found.append(number)
            written.discard(operation.node)
            number += 1
    return found


def leave_out(place, number, kind=disks.SYNC):
    """Leave one force onto the disk out; returns what goes wrong in a state that shows it."""
    good = {tuple(sorted(state.items())) for state in all_states(place.record())}
    files = disks.OmittingDisk(Path(), kind, number)
    place.run(files, resume=False)
    for state in all_states(files):
        if tuple(sorted(state.items())) not in good:
            wrong = fails(place, state)
            if wrong is not None:
                return wrong
    return None


def leave_all_out(place):
    """Leave every force out in turn; that of a file has to be seen.

    That of a folder is seen where a checkpoint would know of a file that is not there. Returns how
    many of files and of folders were seen.
    """
    files = find_loose_syncs(place.record().operations)
    for number in files:
        if leave_out(place, number) is None:
            raise ResumeError(f"{place.name}: force {number} is left out unseen")
    kinds = [operation.kind for operation in place.record().operations]
    folders = range(kinds.count(disks.SYNC_FOLDER))
    seen = [k for k in folders if leave_out(place, k, disks.SYNC_FOLDER) is not None]
    if not seen:
        raise ResumeError(f"{place.name}: no force of a folder is missed")
    return len(files), len(seen)


# ---- the command


def kill_commands(place, draw, wanted):
    """Kill whole commands, as a user starts them, a while after a checkpoint; then let one end.

    Returns how many were killed.
    """
    words = [*place.command, "-o", place.target, "--checkpoint", "ck", "--every", "1", "--resume"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    kills = 0
    while True:
        before = stamp("ck")
        process = subprocess.Popen([sys.executable, "-c", REAL, *words], env=environment)
        while process.poll() is None:
            time.sleep(0.002)
            if kills < wanted and stamp("ck") != before:
                time.sleep(draw.uniform(0, 0.1))
                process.kill()
                process.wait()
        if process.returncode != -signal.SIGKILL:
            break
        kills += 1
    if process.returncode:
        raise ResumeError(f"{place.name}: exit code {process.returncode} after {kills} kills")
    place.check(f"{kills} killed commands")
    place.clean()
    return kills


def stamp(path):
    """When a file was replaced last."""
    return Path(path).stat().st_mtime_ns if Path(path).exists() else None


@contextlib.contextmanager
def make_run_folder(name, form, rows):
    """A place in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield RunFolder(name, form, rows)
        finally:
            os.chdir(before)


class Patch:
    """Stands for pytest's monkeypatch where there is no test."""

    setattr = staticmethod(setattr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=0, help="kill -9, so often in all cases")
    parser.add_argument("--commands", type=int, default=0, help="the same, of whole commands")
    parser.add_argument("--faults", action="store_true", help="errors and kills at every operation")
    parser.add_argument("--power", action="store_true", help="states that a power failure leaves")
    parser.add_argument("--rows", type=int, default=20 * BLOCK_ROWS)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    os.environ["RTBOT_INTERPRET"] = "1"
    with use_small_blocks(Patch):
        for name, form in SUITE:
            work(asked, name, form)


def work(asked, name, form):
    """All that is asked for, of one case."""
    draw = random.Random(f"{asked.seed} {name} {form}")
    if asked.kills:
        with make_run_folder(name, form, asked.rows) as place:
            kills, runs = kill_many(place, draw, -(-asked.kills // len(SUITE)))
            print(f"{name}, {form}: {kills} kills in {runs} runs", flush=True)
    if asked.commands:
        with make_run_folder(name, form, asked.rows) as place:
            found = kill_commands(place, draw, -(-asked.commands // len(SUITE)))
            print(f"{name}, {form}: {found} killed commands", flush=True)
    small_rows = 5 * BLOCK_ROWS // 2
    if asked.faults:
        with make_run_folder(name, form, small_rows) as place:
            print(f"{name}, {form}: {fail_everywhere(place)} faults", flush=True)
            print(f"{name}, {form}: {fail_while_resuming(place)} when it resumes", flush=True)
    if asked.power:
        with make_run_folder(name, form, small_rows) as place:
            print(f"{name}, {form}: power lost in {lose_power(place)} states", flush=True)
            files, folders = leave_all_out(place)
            told = f"{files} forces of files and {folders} of folders are missed when left out"
            print(f"{name}, {form}: {told}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
