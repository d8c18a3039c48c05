"""What is promised, tried as often as the time allows: `python -m tests.promises --minutes 7`.

Each promise is tried until the number wanted is reached, in the order of the table; the last three
share the time that is left. The table says how often each was tried, and what failed. Without
`--minutes` everything is done, which takes longer than a run of CI may.
"""

import argparse
import contextlib
import faulthandler
import io
import itertools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

import pytest

from rtbot.compare import schedules
from rtbot.core.aligned_text import align_cells
from tests import corruption, crashes, fuzz_files, generate, machines, soak
from tests.catalogue import catalogue
from tests.checkpointed_runs import BLOCK_ROWS, use_small_blocks
from tests.checks import CaseChecks
from tests.harness import Feeder, Mismatch, compare, load
from tests.oracles import pairs, rowwise, windowed  # noqa: F401 (they register)

STYLES = ("random", "starved", "keys", "blocks")
ORDERS = ("whole", "ones", *("random", "starved", "blocks") * 3)
CUTS = 20
"""Orders in which a graph gets its rows."""


# ---- the same bits: each takes a number, and returns how many runs it made


def interleaved(number):
    """A random graph in many orders and cuts: all give what one batch gives."""
    case = generate.case(f"promises/{number}", schedules=1)
    return _all_equal(case, ([*_coarse(case, k)] for k in range(CUTS)), f"promises/{number}")


def saved(number):
    """The same with a dump and a resume at every boundary."""
    case = generate.case(f"saved/{number}", schedules=1)
    runs = (schedules.insert_dumps([*_coarse(case, k)]) for k in range(CUTS))
    return _all_equal(case, runs, f"saved/{number}")


def _coarse(case, k):
    """Steps of a random order in at most six pushes."""
    rng = random.Random(k)
    order = schedules.interleave_rows(rng, case.rows, STYLES[k % len(STYLES)])
    places = sorted(rng.choices(range(len(order) + 1), k=rng.randint(1, 5)))
    for start, stop in itertools.pairwise([0, *places, len(order)]):
        yield ("push", order[start:stop])


def _all_equal(case, runs, name):
    graph = load(case.document)
    right = Feeder(graph, case).run(schedules.schedule_whole(case.rows)).outputs()
    for steps in runs:
        compare(Feeder(graph, case).run(steps).outputs(), right, f"{name}: {steps}")
    return CUTS


def operators(number):
    """One operator alone, against its oracle."""
    names = sorted(catalogue())
    name = names[number % len(names)]
    case = generate.case_of(f"{name}/p{number}", [catalogue()[name]], ORDERS)
    checked = CaseChecks(case)
    checked.schedules(watched=False)
    return len(ORDERS)


# ---- nothing half done


def _place(number, rows):
    return crashes.make_run_folder(*crashes.SUITE[number % len(crashes.SUITE)], rows)


def kills(number):
    """Runs that are killed at random, and resumed until they end."""
    with _place(number, 20 * BLOCK_ROWS) as place:
        return crashes.kill_many(place, random.Random(number), 10)[0]


def commands(number):
    """The same of the whole command."""
    with _place(number, 20 * BLOCK_ROWS) as place:
        return crashes.kill_commands(place, random.Random(number), 5)


def faults(number):
    """An error, and a kill, at every operation on files."""
    with _place(number, 5 * BLOCK_ROWS // 2) as place:
        return crashes.fail_everywhere(place) + crashes.fail_while_resuming(place)


def power(number):
    """Every state that a power failure can leave."""
    with _place(number, 5 * BLOCK_ROWS // 2) as place:
        return crashes.lose_power(place)


def forces(number):
    """Every force onto the disk left out in turn: it is missed."""
    with _place(number, 5 * BLOCK_ROWS // 2) as place:
        return sum(crashes.leave_all_out(place))


def of_chunks(check, kind, size):
    """Chunks of another command, by number."""

    def run(number):
        outcomes, *_, failures = check("promises", number * size, (number + 1) * size, kind)
        if failures:
            raise Mismatch(failures[:3])
        return outcomes.total()

    return run


def smoke(_number):
    """A soak of a minute."""
    words = ["--minutes", "1", "--pace", "0.1", "--limit", "inf", "--out", os.devnull]
    with contextlib.redirect_stdout(io.StringIO()) as told:
        if soak.main(words):
            raise Mismatch(told.getvalue())
    return 1


PROMISES = {
    "kill -9 at random, then the same bytes": (1_000, kills),
    "kill -9 of the command": (60, commands),
    "error and kill at every file operation": (4, faults),
    "every state a power failure leaves": (4, power),
    "every missing fsync is noticed": (4, forces),
    "damaged checkpoints are refused": (50_000, of_chunks(corruption.check_chunk, "damaged", 500)),
    "spoilt graph files: no traceback": (50_000, of_chunks(fuzz_files.check_chunk, "graph", 500)),
    "spoilt data files: no traceback": (20_000, of_chunks(fuzz_files.check_chunk, "data", 250)),
    "other hash seed, other instructions": (3, machines.differ),
    "a minute of soak": (1, smoke),
    "each operator against its oracle": (50_000, operators),
    "saved and resumed everywhere": (20_000, saved),
    "random graphs in any order and cuts": (100_000, interleaved),
}
CALLS = {faults, power, forces, machines.differ, smoke}
"""Of these the number wanted is of calls; of others it is of the tries that they return."""
SHARING = {operators, saved, interleaved}
"""These come last, and take turns."""
HANGS_SECONDS = 900
"""A try that takes longer ends all, and tells where it was."""


# ---- the run


def attempt(name, number):
    """Try a promise once: its name, how many tries that was, CPU seconds, and what failed."""
    begun = os.times()
    faulthandler.dump_traceback_later(HANGS_SECONDS, exit=True)
    try:
        with pytest.MonkeyPatch.context() as patch, use_small_blocks(patch):
            tries, failed = PROMISES[name][1](number), ""
    except Exception as error:  # noqa: BLE001 (whatever it is, it is to be told)
        tries, failed = 1, f"{name}, {number}: {type(error).__name__}: {str(error)[:500]}"
    faulthandler.cancel_dump_traceback_later()
    ended = os.times()
    return name, tries, sum(ended[:4]) - sum(begun[:4]), failed


class Tally:
    """What was tried so far."""

    def __init__(self, share):
        self.wanted = {name: -(-wanted // share) for name, (wanted, _) in PROMISES.items()}
        self.tries, self.calls, self.seconds = Counter(), Counter(), Counter()
        self.failures = []

    def next(self):
        """The promise to try now, and the number of the try; None if all is done."""
        open_ = [name for name in PROMISES if self._done(name) < 1]
        if not open_:
            return None
        name = min(open_, key=self._done) if PROMISES[open_[0]][1] in SHARING else open_[0]
        self.calls[name] += 1
        return name, self.calls[name] - 1

    def _done(self, name):
        """The part that is done."""
        many = self.calls if PROMISES[name][1] in CALLS else self.tries
        return many[name] / self.wanted[name]

    def add(self, name, tries, seconds, failed):
        self.tries[name] += tries
        self.seconds[name] += seconds
        self.failures += [failed] * bool(failed)

    def lines(self):
        """The table."""
        rows = [["promise", "wanted", "tried", "CPU s"]]
        for name, (_, function) in PROMISES.items():
            wanted = "all" if function in CALLS else f"{self.wanted[name]:,}"
            rows.append([name, wanted, f"{self.tries[name]:,}", f"{self.seconds[name]:.0f}"])
        return align_cells(rows, [False, True, True, True])


def work(tally, workers, deadline):
    """Try one promise after the other on all workers."""
    with ProcessPoolExecutor(workers, initializer=fuzz_files.limit_memory) as pool:
        running = set()
        while True:
            while len(running) < workers and time.monotonic() < deadline and (job := tally.next()):
                running.add(pool.submit(attempt, *job))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                tally.add(*one.result())


def main(given=None):
    """Try, print the table; the number of failures is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--share", type=int, default=1, help="only one in so many of each")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args(given)
    os.environ["RTBOT_INTERPRET"] = "1"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=memory_disk()) as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        tally = Tally(options.share)
        work(tally, options.workers, begun + options.minutes * 60)
    print("\n".join(tally.lines()))
    print(f"{len(tally.failures)} failures in {time.monotonic() - begun:.0f} s")
    print("\n".join(tally.failures))
    return min(len(tally.failures), 100)


def memory_disk():
    """A folder in memory, where forces onto the disk cost nothing; None if there is none."""
    path = Path("/dev", "shm")
    return path if os.access(path, os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main())
