"""Files that chance has spoilt: `python -m tests.fuzz_files --help`.

A spoilt graph file gives a graph or a GraphError whose every problem has a known code and a place
inside the file; spoilt data gives a result or an error with a code and an exit code. Nothing gives
another exception or takes more than five seconds of CPU, which a busy machine does not change.
"""

import argparse
import contextlib
import faulthandler
import gzip
import io
import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import rtbot
from rtbot.cli.main import run
from rtbot.core.error_codes import CODES
from rtbot.io.bindings import InputSpec, bind_columns
from rtbot.io.blocks import BadRowPolicy
from rtbot.io.reader import FileReader
from rtbot.operator import REGISTRY
from rtbot.storage.files import Files
from tests import generate
from tests.dialects import named_files
from tests.fuzz_changes import GRAPHS, SETTINGS, change_files, check_changes

ROOT = Path(__file__).parent.parent
SECONDS = 5
HUNG = 60
MEMORY = 4 << 30
CHUNK = 500
THROUGH_THE_CLI = 25
"""Every so many files are also given to the command line."""

KEYS = ["version", "name", "params", "inputs", "operators", "outputs", "tests", "io", "type", "in"]
KEYS += ["control", "doc", "meta", "window", "unit", "late", "duplicates", "key", "given", "expect"]
KEYS += ["time", "null", "csv", "delimiter", "skip", "names", "time_format", "timezone"]
KEYS += [
    "columns_as",
    "bad",
    "imports",
    "prototypes",
    "connections",
    "apiVersion",
    "default",
    "min",
    "max",
    "choices",
]
WORDS = ["$w", "{", "}", "[", "]", ": ", "- ", "&a ", "*a", "!!x ", "!x", "\t", "'", '"', "|\n"]
WORDS += [">-\n", "#", "\n---\n", "\n...\n", "<<: ", "null", "~", "true", "no", "0x1F", "1_000"]
WORDS += ["(", ")", ",", "`", "``", "a.o1", ".", "%", "%YAML 1.1\n", "\\u0041", "i1", "\r\n", "\r"]
WORDS += [
    "? ",
    "**",
    "<=",
    "if(",
    "nan",
    "2024-01-31",
    "12:30",
    "number?",
    "vector[3]",
    "$$",
    "${x}",
]
NUMBERS = [
    "0",
    "-1",
    "1.5",
    "9" * 19,
    "9223372036854775807",
    "9223372036854775808",
    "1e308",
    "1e400",
]
NUMBERS += [
    "-0.0",
    "9" * 400,
    "1" * 70_000,
    ".nan",
    "-.inf",
    "0" * 30 + "1",
    "5ms",
    "0.1h",
    "1e-400",
]
LETTERS = [
    "\u00a0",
    "\u200b",
    "\ufeff",
    "\u2028",
    "\x85",
    "\u2212",
    "\u201c",
    "\uff1a",
    "\U0001f600",
]
LETTERS += ["e\u0301", "\u0441", "\u202e", "\ufffe", "\x00", "\x1b[31m", "\u0661"]
BYTES = [
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xff\xfe",
    b"\xf4\x90\x80\x80",
    b"\x1f\x8b",
    b"PAR1",
]


# ---- ways to spoil a text, as bytes


def flip(data, rng, _others):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def insert(data, rng, _others):
    what = rng.choice([*(w.encode() for w in [*WORDS, *LETTERS, *NUMBERS, *KEYS]), *BYTES])
    at, end = rng.randrange(len(data) + 1), rng.choice([0, 0, 0, 1, 5, 20])
    return data[:at] + what + data[at + end :]


def cut(data, rng, _others):
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice([data[:start], data[start:], data[:start] + data[end:]])


def repeat(data, rng, _others):
    start = rng.randrange(len(data))
    end = start + rng.choice([1, 5, 40])
    return data[:end] + data[start:end] * rng.choice([1, 1, 3, 50]) + data[end:]


def splice(data, rng, others):
    lines, more = data.split(b"\n"), rng.choice(others).split(b"\n")
    at, start = rng.randrange(len(lines) + 1), rng.randrange(len(more))
    return b"\n".join([*lines[:at], *more[start : start + rng.randint(1, 8)], *lines[at:]])


def shuffle_lines(data, rng, _others):
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines[at], lines[other] = lines[other], lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            del lines[at]
        case 3:
            lines.insert(other, lines.pop(at))
    return b"\n".join(lines)


def indent(data, rng, _others):
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    margin = rng.choice([b"", b" ", b"   ", b"\t", b" \t ", b"  - ", b"\xc2\xa0 ", b" " * 500])
    end = at + rng.choice([1, 1, 4])
    lines[at:end] = [margin + line.lstrip() for line in lines[at:end]]
    return b"\n".join(lines)


def shuffle_tokens(data, rng, _others):
    tokens = re.split(rb"(\W)", data)
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[at] = rng.choice([b"", tokens[other], tokens[at] * 2])
    return b"".join(tokens)


def replace_match(pattern, choose):
    """A way that replaces one match of the pattern by what `choose` makes of it."""

    def replace(data, rng, _others):
        found = list(re.finditer(pattern, data))
        if not found:
            return data
        one = rng.choice(found)
        return data[: one.start()] + choose(one.group(), rng) + data[one.end() :]

    return replace


def nest_value(text, rng):
    count = rng.choice([1, 3, 31, 70, 3_000])
    opens, closes = rng.choice(
        [(b"[", b"]"), (b"(", b")"), (b"{a: ", b"}"), (b"-", b""), (b"- ", b"")]
    )
    return opens * count + text + closes * rng.choice([count, count - 1])


def quote_value(text, rng):
    return rng.choice([b"'%s'", b'"%s"', b'"%s', b"`%s`", b"\xe2\x80\x9c%s\xe2\x80\x9d"]) % text


def enlarge_number(text, rng):
    return text * (rng.choice([300, 70_000, 1 << 20]) // max(len(text), 1))


def rename_key(key, rng):
    near = key[:-2] + key[-1:]
    return rng.choice(
        [near, rng.choice(KEYS).encode() + b":", key[:-1], key.upper(), key[:-1] + b" :"]
    )


VALUE = rb"(?<=: )[^\n,{}\[\]]+"
WAYS = [flip, insert, insert, cut, repeat, splice, shuffle_lines, indent, shuffle_tokens]
NUMERIC = replace_match(rb"\d+(\.\d+)?", lambda _, rng: rng.choice(NUMBERS).encode())
LINE_ENDS = replace_match(rb"\n", lambda _, rng: rng.choice([b"\r\n", b"\r", b"", b"\n\n"]))
WAYS += [NUMERIC, LINE_ENDS]
WAYS += [replace_match(rb"\b[A-Za-z_]\w{0,60}:", rename_key)]
WAYS += [replace_match(VALUE, nest_value), replace_match(VALUE, quote_value)]
WAYS += [replace_match(rb"\b[A-Z]\w{1,60}", lambda _, rng: rng.choice(list(REGISTRY)).encode())]
RARE = [replace_match(rb"\w+", enlarge_number), lambda data, rng, _: data * rng.choice([2, 300])]
DAMAGE = [
    flip,
    flip,
    insert,
    cut,
    repeat,
    splice,
    shuffle_lines,
    shuffle_tokens,
    NUMERIC,
    LINE_ENDS,
]


def corrupt_file(files, ways, rng):
    """One of the files after one to four ways to spoil it."""
    data = rng.choice(files)
    for _ in range(rng.choice([1, 1, 2, 4])):
        way = rng.choice(RARE) if rng.random() < 0.01 else rng.choice(ways)
        data = way(data or b"x", rng, files)[: 3 << 20]
    return data


# ---- what is spoilt


@cache
def graph_files():
    """The examples, the malformed ones, and graphs drawn from the registry."""
    good = [path.read_bytes() for path in sorted(ROOT.glob("graphs/*.yaml"))] * 10
    good += [format_document(generate.case(seed).document).encode() for seed in range(400)]
    bad = [path.read_bytes() for path in sorted(ROOT.glob("tests/malformed/graphs/*"))]
    return good + bad


def format_document(document):
    """A document as a person writes it: a section per key, an operator per line."""
    lines = []
    for key, value in document.items():
        if not isinstance(value, dict):
            lines.append(f"{key}: {json.dumps(value)}")
            continue
        lines += [f"{key}:", *(f"  {name}: {json.dumps(one)}" for name, one in value.items())]
    return "\n".join([*lines, ""])


DATA_GRAPH = """inputs: {price: number, size: integer?, flag: boolean, note: text?}
operators: {ma: {type: MovingAverage, in: price, window: 2}, up: flag and price > ma}
outputs: [ma, up, size, note]
io: {unit: ms}
"""
ROWS = [
    ["t", "price", "size", "flag", "note"],
    *[[str(t), f"{t}.25", str(t), "true", f"n{t}"] for t in range(1, 30)],
    ["40", "nan", "", "0", 'a "quoted, one"'],
]


@cache
def data_files():
    """Data of every format, as suffix and bytes."""
    import csv

    import pyarrow as pa
    import pyarrow.parquet as pq

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(ROWS)
    plain = text.getvalue().encode()
    long = b"t,input,value\n1,price,1.5\n1,size,3\n1,flag,true\n2,price,2\n2,note,x\n"
    iso = plain.replace(b"\n1,", b"\n2024-01-31T10:00:00.5Z,").replace(b"\n2,", b"\n2024-02-01Z,")
    lines = "\n".join(json.dumps({"t": t, "price": t / 2, "flag": True}) for t in range(9)).encode()
    count = 500
    columns = {"t": range(count), "price": [1.5] * count, "size": [None] * count}
    table = pa.table(columns | {"flag": [True] * count, "note": ["x", None] * (count // 2)})
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pq.write_table(table, parquet)
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table)
    return [
        *((".csv", data) for data in (plain, plain, long, iso)),
        (".csv.gz", gzip.compress(plain * 20)),
        (".jsonl", lines),
        (".parquet", parquet.getvalue()),
        (".arrow", arrow.getvalue()),
    ]


# ---- what must come of it


class TooSlow(Exception):  # noqa: N818 (not an error of the project)
    """Five seconds of CPU are over."""


@contextlib.contextmanager
def limit_time():
    """Raise Slow after five seconds of CPU."""

    def ring(_number, _frame):
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_program(*arguments):
    """The exit code of the program, and what it wrote to stdout and stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    for stream in (out, err):
        stream.flush()
    return code, *(s.buffer.getvalue().decode("utf-8", "replace") for s in (out, err))


def check_graph(data, folder, *, through_the_cli=False):
    """Load a spoilt graph file; raises AssertionError, or what should not have been raised."""
    path = folder / "spoilt.yaml"
    path.write_bytes(data)
    outcome = "graph"
    try:
        warnings = rtbot.load(path).warnings
        assert all(str(one) and one.code in CODES for one in warnings)
    except rtbot.GraphError as error:
        outcome = error.code
        assert str(error)
        assert error.problems
        check_places(error.problems, data, str(path))
    if through_the_cli:
        code, out, err = run_program("validate", path)
        assert (code, out) == (0 if outcome == "graph" else 3, ""), (code, err)
        assert "Traceback" not in err
    return outcome


def check_places(problems, data, file):
    """Every problem has a known code and a place inside the file."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")
    lines = text.split("\n")
    for problem in problems:
        mark = problem.mark
        assert problem.code in CODES, problem
        assert problem.message, problem
        assert str(mark.file) == file, problem
        assert 1 <= mark.line <= len(lines), problem
        assert 1 <= mark.column <= len(lines[mark.line - 1]) + 1, problem


def check_data(suffix, data, folder):
    """Run a good graph over a spoilt file; raises AssertionError if it ends in another way."""
    graph, path, target = folder / "good.yaml", folder / f"spoilt{suffix}", folder / "out.csv"
    graph.write_text(DATA_GRAPH, encoding="utf-8")
    path.write_bytes(data)
    target.unlink(missing_ok=True)
    code, out, err = run_program("run", graph, path, "-o", target)
    assert code in (0, 4, 6, 74), (code, err)
    assert out == "", out[:200]
    assert "Traceback" not in err
    assert target.exists() == (code == 0), code
    assert sorted(one.name for one in folder.iterdir() if "part" in one.name) == []
    if code == 4:
        found = re.search(r"error\[(RT2\d\d)\]: ", err)
        assert found, err
        assert found[1] in CODES
        return found[1]
    return str(code)


DIALECT_GRAPH = """inputs: {x: number, n: integer?, b: boolean, w: text?}
operators: {o: {type: Identity, in: x}}
outputs: [o]
io: {key: [k]}
"""


@cache
def dialect_inputs():
    """The inputs that files in dialects feed."""
    return rtbot.load(DIALECT_GRAPH).checked.inputs


def check_dialect_file(dialect, data, folder):
    """Read a spoilt file in a dialect; raises what should not have been raised."""
    options, suffix, _ = named_files()[dialect]
    path = folder / f"spoilt{suffix}"
    path.write_bytes(data)
    inputs, files = dialect_inputs(), {}
    if options.columns_as or suffix == ".jsonl":
        inputs = {"x": inputs["x"]}
        files = {} if options.columns_as else {"x": (str(path), "a.x")}
    file = None if files else str(path)
    bad = "drop" if len(data) % 2 == 0 else "error"
    try:
        request = InputSpec(file, files, key=("k",), reading=options, bad=bad)
        reader = FileReader(bind_columns(Files(), inputs, request), None, BadRowPolicy())
        for batches, _ in reader.read_in_turn():
            assert all(len(batch.columns) == len(inputs) for batch in batches)
    except rtbot.DataError as error:
        assert error.code in CODES
        assert str(error)
        return error.code
    return "0"


def make_case(name, kind):
    """The case of a name such as "7/123": suffix (or dialect) and bytes of a spoilt file.

    Before the suffix of a file of changes there is the number of its graph and setting.
    """
    rng = random.Random(f"{kind} {name}")
    if kind == "dialect":
        dialects = named_files()
        dialect = list(dialects)[int(name.split("/")[1]) % len(dialects)]
        return dialect, corrupt_file([dialects[dialect][2]], DAMAGE, rng)
    if kind == "change":
        number, suffix, good = rng.choice(change_files())
        number = rng.choice([number, number, len(GRAPHS)])
        place = number * len(SETTINGS) + rng.randrange(len(SETTINGS))
        return f"{place}{suffix}", corrupt_file([good], DAMAGE, rng)
    if kind == "data":
        suffix, good = rng.choice(data_files())
        return suffix, corrupt_file([good], DAMAGE, rng)
    return ".yaml", corrupt_file(graph_files(), WAYS, rng)


def check_case(name, suffix, data, folder):
    """Check a case; returns its outcome."""
    with limit_time():
        if suffix in named_files():
            return check_dialect_file(suffix, data, folder)
        if suffix[0].isdigit():
            place, dot, rest = suffix.partition(".")
            return check_changes(int(place), dot + rest, data, folder, run_program)
        if suffix != ".yaml":
            return check_data(suffix, data, folder)
        sampled = int(name.split("/")[1]) % THROUGH_THE_CLI == 0
        return check_graph(data, folder, through_the_cli=sampled)


def check_chunk(seed, start, stop, kind):
    """Check some cases; returns the count of outcomes, (seconds, name) and (name, what failed)."""
    outcomes, times, failures = Counter(), [], []
    faulthandler.enable()
    graph_files(), data_files(), change_files()
    with tempfile.TemporaryDirectory() as folder:
        for index in range(start, stop):
            name = f"{seed}/{index}"
            suffix, data = make_case(name, kind)
            before = time.perf_counter()
            faulthandler.dump_traceback_later(HUNG, exit=True)
            try:
                outcomes[check_case(name, suffix, data, Path(folder))] += 1
            except Exception as error:  # noqa: BLE001 (it is reported)
                failures.append((name, f"{type(error).__name__}: {str(error)[:600]}"))
            times.append((time.perf_counter() - before, name))
    faulthandler.cancel_dump_traceback_later()
    return outcomes, sorted(times)[-5:], failures


def limit_memory():
    """More than 4 GiB of addresses is a MemoryError, and so a failure."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def show(name, kind):
    """Print the spoilt file of a case, and what comes of it."""
    suffix, data = make_case(name, kind)
    print(suffix, data[:4000].decode("utf-8", "backslashreplace"))
    with tempfile.TemporaryDirectory() as folder:
        print(check_case(name, suffix, data, Path(folder)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=0, help="how many graph files")
    parser.add_argument("--data", type=int, default=0, help="how many data files")
    parser.add_argument("--dialects", type=int, default=0, help="how many files of each dialect")
    parser.add_argument("--changes", type=int, default=0, help="how many files of changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--case", help="one case again, such as 7/123; with --data 1 and alike one of those"
    )
    options = parser.parse_args()
    if options.case:
        kinds = {"dialect": options.dialects, "data": options.data, "change": options.changes}
        kind = next((kind for kind, count in kinds.items() if count), "graph")
        show(options.case, kind)
        return 0
    failed = 0
    dialects = options.dialects * len(named_files())
    for kind, count in (
        ("graph", options.files),
        ("data", options.data),
        ("dialect", dialects),
        ("change", options.changes),
    ):
        failed += survey(kind, count, options) if count else 0
    return 1 if failed else 0


def survey(kind, count, options):
    """Check so many cases, print what came of them, and return how many failed."""
    outcomes, times, failures = Counter(), [], []
    with ProcessPoolExecutor(options.workers, initializer=limit_memory) as pool:
        starts = range(0, count, CHUNK)
        jobs = [
            pool.submit(check_chunk, options.seed, s, min(s + CHUNK, count), kind) for s in starts
        ]
        for job in jobs:
            more, slow, wrong = job.result()
            outcomes += more
            times = sorted([*times, *slow])[-5:]
            failures += wrong
            for name, told in wrong:
                print(f"FAILED {kind} {name}: {told}", flush=True)
    print(f"{count} {kind} files, {len(failures)} failures")
    print("outcomes: " + ", ".join(f"{name} {n}" for name, n in sorted(outcomes.items())))
    print("slowest: " + ", ".join(f"{name} {seconds:.2f} s" for seconds, name in reversed(times)))
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
