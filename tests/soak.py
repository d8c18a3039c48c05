"""Work without an end, with a look at memory: `python -m tests.soak --minutes 60`.

Turn by turn, in one process:

- a graph with keys that come and go, texts that never come twice, late rows and dumps: two sessions
  get the same rows, cut differently, and have to release the same bytes;
- single messages;
- `rtbot run --checkpoint` over a file, broken off and resumed: the bytes of an undisturbed run;
- random graphs against the oracles, as `tests.torture` makes them.

Every few seconds the memory of the process (RSS, MiB), its open files and the files it has left
behind are noted, in a file that `rtbot run` reads. The exit code is 1 if the median of the memory
in the last quarter of the time is more than `--limit` MiB above that in the second (the first is
for caches to fill), or if anything has been left open or behind. Linux only.
"""

import argparse
import contextlib
import ctypes
import gc
import io
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import rtbot
from rtbot.cli.main import run
from tests import torture
from tests.checkpointed_runs import Crash, crash_after

GRAPH = """
inputs: {x: number, y: number?, word: text}
operators:
  mean: {type: MovingAverage, in: x, window: 20}
  width: {type: StandardDeviation, in: x, window: 20}
  high: {type: WindowMinMax, in: x, mode: max, window_size: 50}
  pair: {type: Join, in: [x, y], how: left}
  slow: {type: EMA, in: x, window: 9}
  upper: mean + 2 * width
outputs: {upper: upper, high: high, slow: slow, y: pair.o2, word: word}
io: {lateness: 5, late: drop, duplicates: last}
"""
CHART = """
inputs: {RSS-MiB: number, open-files: integer, files-left: integer}
outputs: [RSS-MiB, open-files, files-left]
"""
KEYS, ROWS, PARTS = 500, 20_000, 8
"""Keys at any moment, rows and pushes per round."""


class Sessions:
    """Two sessions that get the same rows."""

    def __init__(self, draw):
        self.draw, self.graph = draw, rtbot.load(GRAPH)
        self.numbers = np.random.default_rng(draw.randrange(2**32))
        self.pair = [self.graph.start(key="k", compiled=True) for _ in range(2)]
        self.time, self.first, self.texts = 0, 0, 0

    def turn(self):
        """One round of rows; some keys end, and others begin."""
        parts = [self._rows() for _ in range(PARTS)]
        first = [self.pair[0].push(part) for part in parts]
        whole = {
            name: {c: np.concatenate([part[name][c] for part in parts]) for c in parts[0][name]}
            for name in parts[0]
        }
        second = [self.pair[1].push(whole)]
        for key in range(self.first, self.first + KEYS // 10):
            for session, found in zip(self.pair, (first, second), strict=True):
                found.append(session.close_key(f"key {key}"))
        self.first += KEYS // 10
        _equal(first, second)
        if self.draw.random() < 0.2:
            place = self.draw.randrange(2)
            self.pair[place] = self.graph.resume(self.pair[place].dump(), compiled=True)
        return ROWS

    def _rows(self):
        count = ROWS // PARTS
        times = self.time + np.arange(count) // (KEYS // 10)
        self.time = int(times[-1]) + 1
        times = np.maximum(times - self.numbers.integers(0, 7, count), 0)
        keys = np.array([f"key {self.first + k}" for k in range(KEYS)], object)
        keys = keys[np.concatenate([np.arange(KEYS), self.numbers.integers(0, KEYS, count)])]
        texts = np.array([f"text {self.texts + k}" for k in range(count)], object)
        self.texts += count
        values = self.numbers.normal(100, 5, count)
        shared = {"k": keys[:count], "t": times}
        return {
            "x": shared | {"value": values},
            "y": shared | {"value": values * 2},
            "word": shared | {"value": texts},
        }


def _equal(first, second):
    found, right = (rtbot.runtime.result.merge_results(parts).digest() for parts in (first, second))
    assert found == right, (found, right)


class Messages:
    """One message after the other."""

    def __init__(self, draw):
        self.session = rtbot.load(GRAPH).start(compiled=True)
        self.draw, self.time = draw, 0

    def turn(self):
        for _ in range(200):
            self.time += 1
            self.session.push_one("x", self.time, self.draw.random())
            self.session.push_one("y", self.time, self.draw.random())
            self.session.push_one("word", self.time, f"message {self.time}")
        return 600


class Checkpoints:
    """The command over a file, with an end in the middle."""

    def __init__(self, draw):
        self.draw = draw
        lines = [f"{t % 7},{t // 7},{draw.random():.4f},{draw.random():.4f}" for t in range(20_000)]
        Path("d.csv").write_text("\n".join(["k,t,x,y", *lines, ""]), encoding="utf-8")
        text = GRAPH.replace(", word: text", "").replace(", word: word", "")
        Path("g.yaml").write_text(text, encoding="utf-8")
        assert self._run("right.csv", "--stream") == 0
        self.right = Path("right.csv").read_bytes()

    def _run(self, target, *words):
        return run(["run", "g.yaml", "d.csv", "--key", "k", "-q", "-o", target, *words])

    def turn(self):
        words = ("--checkpoint", "ck", "--every", "4000")
        with crash_after(self.draw.randint(1, 4)), contextlib.suppress(Crash):
            self._run("out.csv", *words)
        assert self._run("out.csv", *words, "--resume") == 0
        assert Path("out.csv").read_bytes() == self.right
        for path in Path().iterdir():
            if path.name.startswith(("out.", "ck")):
                path.unlink()
        return 40_000


class RandomGraphs:
    """Graphs that nobody has seen before."""

    def __init__(self, draw):
        self.seed, self.number = draw.randrange(2**32), 0
        self.failed = []

    def turn(self):
        name = f"soak{self.seed}/{self.number}"
        try:
            torture.run_case(name)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is to be told)
            self.failed.append(f"python -m tests.torture --case {name}: {str(error)[:500]}")
        self.number += 1
        return 0


KINDS = {
    "sessions": (6.0, Sessions),
    "messages": (1.0, Messages),
    "checkpoints": (2.0, Checkpoints),
    "random graphs": (3.0, RandomGraphs),
}
"""Seconds that each part is at it before the next one."""


class Log:
    """What was noted, as rows of a file."""

    def __init__(self, path):
        self.file = path.open("w", encoding="utf-8")
        self.file.write("t,rss,files,behind\n")
        self.begun, self.samples = time.monotonic(), []

    def note(self):
        """Note how it stands; memory that is free goes back to the system first."""
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        rss = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        behind = len([*Path().rglob("*")])
        files = len([*Path("/proc/self/fd").iterdir()])
        seconds = time.monotonic() - self.begun
        self.samples.append((seconds, rss, files, behind))
        self.file.write(f"{seconds:.0f},{rss:.2f},{files},{behind}\n")
        self.file.flush()

    def draw(self, path):
        """Draw what was noted over the seconds."""
        seconds, rss, files, left = np.array(self.samples).T
        t, kept = np.unique(seconds.astype(np.int64), return_index=True)
        counts = {"open-files": files, "files-left": left}
        tables = {name: {"t": t, "value": c[kept].astype(np.int64)} for name, c in counts.items()}
        tables["RSS-MiB"] = {"t": t, "value": rss[kept]}
        rtbot.load(CHART).run(tables).plot(path, title="A soak: memory over seconds")

    def verdict(self, limit):
        """What is told at the end, and whether all is well."""
        _, rss, files, behind = np.array(self.samples).T
        assert len(rss) >= 4, "too short a time to say anything"
        _, *rest = np.array_split(rss, 4)
        grown = float(np.median(rest[-1]) - np.median(rest[0]))
        left, more = behind[-1] - behind[0], files[-1] - files[0]
        warm = np.concatenate(rest)
        told = f"RSS {warm.min():.1f} to {warm.max():.1f} MiB after the first quarter"
        told += f", {grown:+.1f} MiB from the second to the last"
        told += f"; {more:+.0f} open files, {left:+.0f} files left behind"
        return told, grown <= limit and left <= 0 and more <= 0


def soak(options, log):
    """Work until the time is over; rows and turns of each part, and what went wrong."""
    draw = random.Random(options.seed)
    parts = {name: KINDS[name][1](draw) for name in options.part or KINDS}
    done = {name: [0, 0] for name in parts}
    end = time.monotonic() + options.minutes * 60
    while time.monotonic() < end:
        for name, part in parts.items():
            until = min(time.monotonic() + KINDS[name][0] * options.pace, end)
            while time.monotonic() < until:
                with contextlib.redirect_stderr(io.StringIO()):
                    done[name][1] += part.turn()
                done[name][0] += 1
        log.note()
    graphs = parts.get("random graphs")
    return done, graphs.failed if graphs else []


def main(given=None):
    """Work, tell, and return whether memory grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5.0, help="MiB")
    parser.add_argument("--part", choices=KINDS, action="append", help="default: all")
    parser.add_argument("--pace", type=float, default=1.0, help="turns so many times as long")
    parser.add_argument("--out", type=Path, default=Path("out/soak.csv"), help="what was noted")
    parser.add_argument("--chart", type=Path, help="an SVG of it")
    options = parser.parse_args(given)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    log = Log(options.out.resolve())
    os.environ.setdefault("RTBOT_INTERPRET", "0")
    os.environ.setdefault("RTBOT_COMPILE", "now")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        done, failed = soak(options, log)
    for name, (turns, rows) in done.items():
        print(f"{name}: {turns:,} turns, {rows:,} rows")
    told, well = log.verdict(options.limit)
    print("\n".join([told, *failed]))
    if options.chart:
        log.draw(options.chart)
    return 0 if well and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
