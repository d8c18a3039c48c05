"""`--follow`: files that grow are read as they do, and a signal is how that ends."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rtbot.core.errors import DataError
from rtbot.graph.model import ReadOptions
from rtbot.io.source_opener import SourceOpener
from rtbot.io.sources.followed_file import CompleteLines
from rtbot.storage.files import Files
from tests.subprocess_runs import ROOT

pytestmark = pytest.mark.usefixtures("own_folder")

COUNTS = """
inputs: {orders: {changes: {id: integer, region: text}}}
operators:
  per: {type: GroupBy, in: orders, by: [region], compute: {n: count()}}
outputs: [per]
io: {lateness: 1}
"""
JOINED = "inputs: {a: number, b: number}\noperators: {both: a + b}\noutputs: [a, both]\n"
QUERY = "SELECT k FROM a INTERSECT SELECT k FROM b"
SECONDS = 60


class Followed:
    """A process that follows files, and what it has printed."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rtbot", *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT), "RTBOT_INTERPRET": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def read(self, expected):
        """Read as many bytes as are expected, which have to come and be these."""
        found, stream = b"", self.process.stdout
        while len(found) < len(expected):
            ready, _, _ = select.select([stream], [], [], SECONDS)
            part = os.read(stream.fileno(), 1 << 16) if ready else b""
            assert part, (found, self.process.stderr.read() if ready else "nothing came")
            found += part
        assert found.decode() == expected

    def end(self, number=None):
        """Return the exit code, the rest of the output, and stderr."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out.decode(), err.decode()


def append(name, text):
    with Path(name).open("a", encoding="utf-8") as file:
        file.write(text)


def test_changes_come_as_transactions_close_and_a_signal_ends_it():
    append("g.yaml", COUNTS)
    append("o.csv", "t,op,id,region\n1,+,1,north\n3,+,2,sou")
    with Followed("run", "g.yaml", "o.csv", "--follow") as run:
        append("o.csv", "th\n")
        run.read("t,weight,region,n\n1,1,north,1\n")
        append("o.csv", "2,+,3,north\n5,-,2,south\n")  # 2 is late by 1
        run.read("2,-1,north,1\n2,1,north,2\n3,1,south,1\n")
        append("o.csv", "7,+,9,")  # a line without an end waits
        code, out, err = run.end(signal.SIGINT)
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == "rows out: per 4"
    assert "orders   4         3     1" in err


def test_inputs_that_are_not_followed_end():
    append("g.yaml", JOINED)
    append("a.jsonl", '{"t": 1, "a": 1}\n{"t": 2, "a": 2}\n{"t": 3, ')
    append("b.csv", "t,b\n1,10\n2,20\n3,30\n")
    inputs = ("--in", "a=a.jsonl", "--in", "b=b.csv", "-q")
    with Followed("run", "g.yaml", *inputs, "--follow=a") as run:
        run.read("t,a,both\n1,1,11\n2,2,22\n")
        append("a.jsonl", '"a": 3}\n{"t": 4, "a": 4}\n')
        run.read("3,3,33\n4,4,\n")
        assert run.end(signal.SIGTERM) == (0, "", "")


def test_queries_follow_too_and_a_file_that_is_cut_ends_them():
    append("a.csv", "t,k\n1,5\n2,7\n2,")
    append("b.csv", "t,k\n1,7\n1,8\n")
    tables = ("--in", "a=a.csv", "--in", "b=b.csv")
    with Followed("sql", QUERY, *tables, "--follow=a", "-q") as run:
        append("a.csv", "9\n3,8\n4,0\n")
        run.read("t,weight,k\n2,1,7\n3,1,8\n")
        Path("a.csv").write_text("t,k\n")
        code, out, err = run.end()
    assert (code, out) == (4, "")
    assert err.startswith("a.csv: error[RT222]: the file has 4 bytes, of which 24 were read\n")


def open_followed(path, form=None, **options):
    opener = SourceOpener(Files(), form, live=True, follow=[path])
    return opener.open_pattern(path, ReadOptions(**options))


def test_a_file_that_is_gone_or_replaced_is_an_error():
    append("a.csv", "t,k\n1,1\n")
    for change, problem in (
        (lambda: Path("a.csv").unlink(), "the file is gone"),
        (lambda: Path("new.csv").replace("a.csv"), "the file is another file now"),
    ):
        append("a.csv", "t,k\n1,1\n")
        append("new.csv", "t,k\n1,1\n")
        blocks = open_followed("a.csv").read_blocks({"k": "integer"})
        assert next(blocks).count
        change()
        with pytest.raises(DataError, match=f"RT222.*{problem}"):
            next(blocks)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a.csv.gz", "it is compressed"),
        ("a.parquet", "a file of Parquet is written at once"),
        ("*.csv", "the pattern matches 2 files"),
    ],
)
def test_what_cannot_grow_is_refused(name, problem):
    for path in ("a.csv", "b.csv", "a.csv.gz", "a.parquet"):
        append(path, "t,k\n")
    with pytest.raises(DataError, match=f"RT222.*{problem}"):
        open_followed(name)


def test_wrong_uses(call):
    append("g.yaml", COUNTS)
    append("o.csv", "t,id,region\n")
    for more, problem in (
        (["--follow=order"], "there is no input 'order'; did you mean 'orders'?"),
        (["--follow", "--checkpoint", "c"], "--follow does not go with --checkpoint yet"),
    ):
        code, _, err = call("run", "g.yaml", "o.csv", *more)
        assert code == 2
        assert problem in err
    query = ("sql", "SELECT id FROM o", "--in", "o=o.csv")
    code, _, err = call(*query, "--follow", "--snapshot")
    assert code == 2
    code, _, err = call(*query, "--follow")
    assert code == 4
    assert "the column 'id' has no value yet, so that its type cannot be found" in err


@pytest.mark.parametrize("tail", ["", "3", "3," * 200_000])
def test_complete_lines_leave_the_last_one_out(tail):
    Path("a.csv").write_text("t,k\n1,1\n" + tail)
    with Path("a.csv").open("rb") as stream:
        lines = CompleteLines(stream)
        assert lines.read(5) + lines.read(100) == b"t,k\n1,1\n"
        assert lines.read(100) == b""
    Path("a.csv").write_text(tail)
    with Path("a.csv").open("rb") as stream:
        assert CompleteLines(stream).read(10) == b""
