"""Runs with checkpoints for tests: graphs, data in every format, and the command for each."""

import contextlib
import csv
import gzip
import io
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import rtbot
from rtbot.cli import run_options
from rtbot.cli.main import run
from rtbot.io import checkpointed_run, reader
from rtbot.io.sources import csv_chunks
from rtbot.storage.checkpoint_store import CheckpointStore
from rtbot.storage.files import Files

FORMATS = ("csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "arrow")
BLOCK_ROWS, CHUNK_BYTES = 100, 3_000
"""So small in tests that little data has many blocks, and blocks lie across chunks."""

BANDS = """
params: {window: 7}
inputs: {x: number}
operators:
  mean: {type: MovingAverage, in: x, window: $window}
  far: {type: GreaterThan, in: change, value: 20}
  change: {type: Difference, in: x}
outputs: {mean: mean, far: far}
"""
PAIRS = """
inputs: {a: number, b: integer}
operators:
  pair: {type: Join, in: [a, b], how: left}
  sum: {type: MovingSum, in: a, window: 3}
outputs: {a: pair.o1, b: pair.o2, sum: sum}
"""
WORDS = "inputs: {x: text}\noperators: {y: {type: Identity, in: x}}\noutputs: {y: y}\n"
AHEAD = """
inputs: {x: text?, n: integer}
operators: {early: {type: TimeShift, in: n, shift: -250}}
outputs: {x: x, early: early, n: n}
"""
LATE = BANDS + "io: {lateness: 40, late: drop, duplicates: last}\n"
CHOSEN = BANDS + "io: {bad: drop}\n"


@dataclass(frozen=True)
class RunCase:
    """A run: its graph, its files by name (a function of the rows), and what the command says."""

    graph: str
    data: dict
    words: tuple = ()
    reads: tuple = ("d.csv",)


def make_series(rows, seed=1, *, key=False, step=3):
    draw, t, found = random.Random(seed), 0, []
    for _ in range(rows):
        t += draw.randint(1, step)
        cells = {"t": t, "x": round(draw.uniform(-50, 50), 3)}
        found.append(cells | ({"k": draw.choice(["b", "a", "ü,1", ""])} if key else {}))
    return found


def make_shuffled(rows):
    draw = random.Random(5)
    found = make_series(rows)
    for place in range(0, rows - 9, 9):
        part = found[place : place + 9]
        draw.shuffle(part)
        found[place : place + 9] = part
    return found


def make_timestamped(rows):
    begun = datetime(2024, 1, 31, 23, 50, tzinfo=UTC)
    later = (begun + timedelta(minutes=row["t"]) for row in make_series(rows))
    pairs = zip(make_series(rows), later, strict=True)
    return [row | {"t": time.strftime("%Y-%m-%dT%H:%M:%SZ")} for row, time in pairs]


def make_corrupted(rows):
    return [
        row | {"x": "bad" if place % 37 == 5 else str(row["x"])}
        for place, row in enumerate(make_series(rows))
    ]


def make_words(rows):
    draw = random.Random(3)
    texts = ["", "a,b", 'say "x"', "two\nlines", "plain", "ü"]
    return [{"t": t, "x": draw.choice(texts)} for t in range(rows)]


def make_messages(rows):
    """The long form: texts, nulls, and now and then an integer."""
    found = []
    for row in make_words(rows):
        t = row["t"]
        found.append({"t": t, "input": "x", "value": row["x"] if t % 5 else None})
        if t % 7 == 0:
            found.append({"t": t, "input": "n", "value": t})
    return found


PAIR = {
    "a.csv": lambda rows: [{"t": r["t"], "a": r["x"]} for r in make_series(rows, 1)],
    "b.csv": lambda rows: [
        {"t": r["t"], "b": int(r["x"])} for r in make_series(rows // 2, 2, step=9)
    ],
}
PARTS = {
    "part-0.csv": lambda _: [],
    "part-1.csv": lambda rows: make_series(rows)[: rows // 3],
    "part-2.csv": lambda rows: make_series(rows)[rows // 3 : rows // 2],
    "part-2-and-none.csv": lambda _: [],
    "part-3.csv": lambda rows: make_series(rows)[rows // 2 :],
}
CASES = {
    "unkeyed": RunCase(BANDS, {"d.csv": make_series}),
    "keyed": RunCase(BANDS, {"d.csv": lambda rows: make_series(rows, key=True)}, ("--key", "k")),
    "keyed, long": RunCase(
        BANDS,
        {"d.csv": lambda rows: make_series(rows, key=True)},
        ("--key", "k", "--layout", "long", "--tap", "change"),
    ),
    "two inputs": RunCase(PAIRS, PAIR, reads=("--in", "a=a.csv", "--in", "b=b.csv")),
    "text": RunCase(WORDS, {"d.csv": make_words}),
    "waiting": RunCase(AHEAD, {"d.csv": make_messages}, ("--layout", "long")),
    "waiting, wide": RunCase(AHEAD, {"d.csv": make_messages}),
    "late": RunCase(LATE, {"d.csv": make_shuffled}),
    "times": RunCase(BANDS, {"d.csv": make_timestamped}, ("-p", "window=3")),
    "several files": RunCase(BANDS, PARTS, reads=("part-*.csv",)),
}


def write(path, rows):
    """Write rows in the format of a name."""
    path = Path(path)
    form = path.name.split(".", 1)[1]
    if form.startswith("jsonl"):
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    elif form.startswith("csv"):
        data = _csv(rows)
    else:
        return _columnar(path, pa.Table.from_pylist(rows), form)
    path.write_bytes(gzip.compress(data, mtime=0) if form.endswith(".gz") else data)
    return None


def _csv(rows):
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(rows[0]) if rows else ["t", "x"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def _columnar(path, table, form):
    if form == "parquet":
        pq.write_table(table, path, row_group_size=170)
        return
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=130)


def prepare(case, folder, rows, form="csv"):
    """Write the graph and the data of a case into a folder; returns the command without outputs."""
    (folder / "g.yaml").write_text(case.graph, encoding="utf-8")
    for name, made in case.data.items():
        write(folder / name.replace(".csv", f".{form}"), made(rows))
    reads = [word.replace(".csv", f".{form}") for word in case.reads]
    return ["run", "g.yaml", *reads, *case.words, "-q"]


def run_plain(command, target):
    """Run without checkpoints, in the same order, and return the bytes."""
    assert run([*command, "-o", target, "--stream"]) == 0
    return Path(target).read_bytes()


class Crash(BaseException):
    """The process would have ended here."""


@contextlib.contextmanager
def use_small_blocks(monkeypatch):
    """Cut files into small blocks and chunks."""
    monkeypatch.setattr(reader, "BLOCK_ROWS", BLOCK_ROWS)
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", CHUNK_BYTES)
    yield


@contextlib.contextmanager
def use_files(files):
    """Let the run do its file work there."""
    before = checkpointed_run.Files
    checkpointed_run.Files = lambda: files
    try:
        yield
    finally:
        checkpointed_run.Files = before


@contextlib.contextmanager
def crash_after(commits):
    """Crash behind so many checkpoints."""
    before, left = CheckpointStore.commit, [commits]

    def commit(self, blob):
        before(self, blob)
        left[0] -= 1
        if not left[0]:
            raise Crash

    CheckpointStore.commit = commit
    try:
        yield
    finally:
        CheckpointStore.commit = before


class InProcessRun:
    """Runs of one command in this process, with a graph that is compiled once."""

    def __init__(self, case, **options):
        nothing = {"file": None, "inputs": (), "outputs": (), "taps": (), "plugins": ()}
        names = ("target", "time", "key", "form", "input_form", "rejects", "account_file", "queue")
        flags = {"stream": False, "plot": None, "memory": 1 << 26, "layout": "wide"}
        self.options = nothing | dict.fromkeys(names) | flags | {"checkpoint": "ck"} | options
        self.options |= {"graph": "g.yaml"}
        self.graph = rtbot.load(case.graph)

    def __call__(self, files, *, resume=True, every=1):
        told = []
        job = run_options.build_job(self.graph, self.options | {"resume": resume, "every": every})
        with use_files(files):
            account = checkpointed_run.run_with_checkpoints(self.graph, job, told.append)
        return account, told

    def again(self, state):
        """Put the folder into a state, resume, and return what is written then."""
        for path in Path().iterdir():
            path.unlink()
        for name, data in state.items():
            Path(name).write_bytes(data)
        self(Files())
        return Path(self.options["target"]).read_bytes()
