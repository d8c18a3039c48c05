"""Checkpoints as a version wrote them, kept so that later versions resume them.

`python -m tests.golden_checkpoints` writes those of this version that are not there. Those of a
version that was released are never written again.
"""

import contextlib
import os
import random
import shutil
import sys
from pathlib import Path

import rtbot
from rtbot.cli.main import run
from tests.checkpointed_runs import (
    CASES,
    RunCase,
    crash_after,
    prepare,
    run_plain,
    use_small_blocks,
)
from tests.crashes import Patch

FOLDER = Path(__file__).parent / "golden" / "checkpoints"
ROWS, COMMITS = 250, 3
TABLES = """
inputs:
  stock: {changes: {id: integer, region: text?, price: number?, new: boolean}, unique: [id]}
  bought: {changes: {id: integer}}
operators:
  some: {type: Where, in: stock, condition: id % 7 != 0}
  per:
    type: GroupBy
    in: some
    by: [region, new]
    compute:
      n: count()
      total: sum(price)
      mean: avg(price)
      low: min(price)
      spread: stddev(price)
      kinds: count(distinct price)
  ids: {type: Select, in: stock, fields: {id: id}}
  rest: {type: Except, in: [ids, bought], all: true}
  others:
    type: Select
    in: rest
    fields:
      {region: "'rest'", new: true, n: id, total: 0.0, mean: 0.0, low: 0.0, spread: 0.0, kinds: 0}
  both: {type: Union, in: [per, others], all: true}
outputs: [both]
io: {lateness: 2, excess: ignore, conflicts: last}
"""


def make_stock(rows):
    draw, found = random.Random(8), []
    for place in range(rows):
        price = draw.choice([None, 0.1, 0.25, 1e300, -1e300, 7.5])
        cells = {"t": place // 3 + draw.randrange(3), "op": draw.choice("++++-")}
        cells |= {"id": draw.randrange(20), "region": draw.choice([None, "", "ü,1", "north"])}
        found.append(cells | {"price": price, "new": draw.random() < 0.5})
    return found


def make_bought(rows):
    draw = random.Random(9)
    return [
        {"t": place // 2, "weight": draw.choice([1, 2, -1]), "id": draw.randrange(20)}
        for place in range(rows)
    ]


RUNS = CASES | {
    "changes": RunCase(
        TABLES,
        {"stock.csv": make_stock, "bought.csv": make_bought},
        reads=("--in", "stock=stock.csv", "--in", "bought=bought.csv"),
    )
}
KEPT = (
    [("changes", "csv")]
    + [(name, "csv") for name in CASES]
    + [("keyed", "parquet"), ("two inputs", "jsonl.gz")]
)


def folder_of(version, name, form):
    return FOLDER / version / f"{name.replace(' ', '-').replace(',', '')}.{form}"


def words(name, form):
    """The command that resumes a case in its folder."""
    case = RUNS[name]
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
    prepare(RUNS[name], folder, ROWS)
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
    with use_small_blocks(Patch):
        for name, form in KEPT:
            if not folder_of(version.name, name, form).exists():
                make(name, form)


if __name__ == "__main__":
    main()
