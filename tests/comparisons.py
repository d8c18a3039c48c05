"""`rtbot compare` over random graphs and data, until something differs.

    python -m tests.comparisons [--cases 60] [--seed SEED]

Prints the case that differs and the smallest input, as a line of JSON; the exit code is 1 then.
The generated code is run as plain Python, unless RTBOT_INTERPRET=0 is set.
"""

import argparse
import contextlib
import io
import json
import math
import os
import sys
import tempfile
from pathlib import Path

from rtbot.cli.main import run
from tests import generate

SEED = "compare"
OPTIONS = ("--format", "json", "--runs", "4", "--seed", "1")


def write_case(case, folder):
    """The files of a case: the graph, and its rows in the long form."""
    graph, data = folder / "graph.json", folder / "rows.jsonl"
    graph.write_text(json.dumps(case.document), encoding="utf-8")
    lines = [
        dict(zip(case.keys, row.key, strict=True))
        | {"t": row.time, "input": row.input, "value": _plain(row.value)}
        for row in case.rows
    ]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return graph, data


def _plain(value):
    finite = not isinstance(value, float) or math.isfinite(value)
    return value if finite else repr(value)


def run_compare(case, folder, *options):
    """The exit code of `rtbot compare` over a case, and what it prints."""
    graph, data = write_case(case, folder)
    key = ("--key", ",".join(case.keys))
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out):
        code = run(["compare", str(graph), str(data), *key, *OPTIONS, *map(str, options)])
    out.flush()
    return code, out.buffer.getvalue().decode()


def first_difference(names):
    """The name of the first case that differs and what was found; None if none does."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            code, text = run_compare(generate.case(name), Path(folder))
            if code == 1:
                return name, json.loads(text)["difference"]
    return None


def main(given=None):
    """Compare case after case."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparisons", description=__doc__)
    parser.add_argument("--cases", type=int, default=60, help="how many graphs")
    parser.add_argument("--seed", default=SEED, help="where the numbers come from")
    options = parser.parse_args(given)
    os.environ.setdefault("RTBOT_INTERPRET", "1")
    found = first_difference(f"{options.seed}/{number}" for number in range(options.cases))
    if found is None:
        return 0
    name, difference = found
    print(json.dumps({"case": name, "difference": difference}))
    return 1


if __name__ == "__main__":
    sys.exit(main())
