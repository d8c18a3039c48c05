"""Spoilt files of every format: `rtbot look` describes them without a traceback.

.venv/bin/python -m tests.fuzz_look --files 20000
"""

import argparse
import json
import random

import rtbot
from rtbot.look.file_report import format_report
from rtbot.look.file_sample import sample_bytes
from rtbot.look.io_lines import render_command
from rtbot.look.look_at_file import look_at_sample
from rtbot.look.starter_graph import render_run, render_starter_graph
from tests.field.table import FORMATS, encode

PIECES = [b",", b";", b"\t", b"\n", b"\r", b'"', b"'", b"#", b" ", b"\x00", b"\xff", b"\xfe", b"-"]
PIECES += [b"9" * 30, b"1e999", b"nan", b"24:00", b"%", b"{", b"[", b"\xef\xbb\xbf", "€".encode()]


def spoil(data, draw):
    """Change, remove, double or swap a few pieces."""
    for _ in range(draw.randint(1, 6)):
        place = draw.randrange(len(data) + 1)
        end = min(len(data), place + draw.randint(0, 12))
        other = draw.choice(FORMATS)
        data = draw.choice(
            [
                data[:place] + draw.choice(PIECES) + data[place:],
                data[:place] + data[end:],
                data[:end] + data[place:end] + data[end:],
                data[:place],
                data[:place] + draw.choice(PIECES) + data[end:],
                data[:place] + encode(other)[place : place + 60] + data[end:],
            ]
        )
    return data


def check(data, name="x.csv"):
    """Describe bytes in every way, and load the graph that is made for them."""
    facts = look_at_sample(name, sample_bytes(data))
    json.dumps(facts.to_json(), allow_nan=True)
    list(format_report(facts, str))
    render_command(facts)
    try:
        text = render_starter_graph(facts, "x")
    except rtbot.DataError:
        return facts
    render_run(facts, "g.yaml", "c.svg", "o.csv")
    rtbot.load(text)
    return facts


def run(files, seed=0):
    """Check so many files; return how many had times."""
    found = 0
    for number in range(seed, seed + files):
        draw = random.Random(number)
        one = draw.choice(FORMATS)
        data = spoil(encode(one), draw)
        try:
            found += check(data, one["file"]).time is not None
        except Exception:
            print(f"--seed {number} --files 1: {one['name']}\n{data!r}")
            raise
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = run(given.files, given.seed)
    print(f"{given.files} files, {found} with times")


if __name__ == "__main__":
    main()
