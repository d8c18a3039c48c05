"""Random changes one by one through `push_one`, against the same in one push.

`python -m tests.push_one_trials --count 500` does so with interpreted loops, or compiled ones with
`--compiled`. It prints the number of the trial that differs.
"""

import argparse
import random
import sys
from functools import partial

import rtbot
from rtbot.core.errors import DataError
from rtbot.relations.region_writer import RegionWriter
from rtbot.relations.small_region import SmallRegion
from rtbot.tables.change_values import list_changes

ROW = "{changes: {k: integer?, x: integer, y: number?, s: text, b: boolean?}%s}"
ONE = f"""
inputs: {{a: {ROW % ""}}}
operators:
  w: {{type: Where, in: a, condition: "x / 3 > 0 or b or s == 'low'"}}
  g: {{type: GroupBy, in: w, by: [k, s], compute: {{n: count(), t: sum(x), m: min(y), z: max(s)}}}}
outputs: {{g: g, w: w, a: a}}
"""
TWO = f"""
inputs: {{a: {ROW % ", unique: [k]"}, c: {ROW % ""}}}
operators:
  i: {{type: Union, in: [a, c], all: true}}
  p: {{type: Select, in: i, fields: {{k: k, v: 7 // x, s: "s", b: y > 1}}}}
  e: {{type: Except, in: [a, c]}}
  d: {{type: Distinct, in: p}}
  g: {{type: GroupBy, in: d, by: [], compute: {{n: count(v), t: sum(v)}}}}
outputs: {{g: g, e: e, d: d, u: i}}
"""
TEXTS = f"""
inputs: {{a: {ROW % ", io: {excess: ignore}"}, c: {ROW % ", unique: [s], io: {conflicts: last}"}}}
operators:
  u: {{type: Select, in: a, fields: {{k: "upper(s)", v: x}}}}
  w: {{type: Where, in: u, condition: "k > 'B'"}}
  q: {{type: Select, in: c, fields: {{k: s, v: k}}}}
  n: {{type: Union, in: [w, q]}}
  g: {{type: GroupBy, in: n, by: [k], compute: {{n: count(), m: min(v)}}}}
outputs: {{g: g, n: n}}
"""
COUNTED = f"""
inputs: {{a: {ROW % ""}, c: {ROW.replace("?", "") % ""}, f: {ROW % ""}}}
operators:
  i: {{type: Intersect, in: [a, c], all: true}}
  e: {{type: Except, in: [f, a]}}
  d: {{type: Distinct, in: f}}
  g: {{type: GroupBy, in: e, by: [], compute: {{n: count(), t: sum(x)}}}}
outputs: {{g: g, i: i, d: d, f: f}}
"""
RANKED = f"""
inputs: {{a: {ROW % ""}, c: {ROW % ", unique: [k]"}}}
operators:
  t: {{type: TopRows, in: a, by: [k], order: [-s, x], k: 2, number: n}}
  u: {{type: TopRows, in: c, order: [y], k: 3, ties: true}}
  j: {{type: AsOfJoin, in: [a, c], on: [s], match: [x], how: left}}
  i: {{type: IntervalJoin, in: [t, u], match: [y], lower: -1, upper: 0.5}}
outputs: {{t: t, u: u, j: j, i: i}}
"""
GRAPHS = (ONE, TWO, TEXTS, COUNTED, RANKED)
LARGE = 2**62


def draw_rows(chance, names, count):
    """Return changes (input, t, weight, row) in the order of their times."""
    rows, live = [], {name: [] for name in names}
    time = 0
    for _ in range(count):
        time += chance.choice([0, 1, 1, 1, 5])
        name = chance.choice(names)
        row = {
            "k": chance.choice([None, 1, 2, 3]),
            "x": chance.choice([-3, 1, 2, 5, 3] + [0, LARGE] * (chance.random() < 0.2)),
            "y": chance.choice([None, 0.5, -0.0, 2.0, float("nan"), float("inf")]),
            "s": chance.choice(["low", "high", "ü", ""]),
            "b": chance.choice([None, True, False]),
        }
        weight = chance.choice([1, 1, 1, 2])
        if name == "c":  # whose fields may not be null in one of the graphs
            row = {"k": 1, "x": 2, "y": 0.5, "s": chance.choice(["", "low"]), "b": True}
        if live[name] and chance.random() < 0.45:
            row, weight = live[name].pop(chance.randrange(len(live[name]))), -1
        elif chance.random() < 0.05:
            weight = chance.choice([-1, 2**63 - 1])
        else:
            live[name] += [row] * weight
        rows.append((name, time, weight, row))
    return rows


class Run:
    """A session with all that it has released, and the errors of bad transactions."""

    def __init__(self, session):
        self.session = session
        self.released = {name: [] for name in session.plan.outputs}
        self.errors = []

    def take(self, method, *arguments):
        """Call a method; behind a bad transaction go on until nothing is left."""
        call = partial(getattr(self.session, method), *arguments)
        while True:
            try:
                found = call()
            except DataError as error:
                self.errors.append((error.code, error.input, error.time, error.value))
                self.collect(error.output)
                if self.session.finished:
                    return
                call = self.session.finish if method == "finish" else partial(self.session.push, {})
            else:
                self.collect(found)
                return

    def collect(self, found):
        for name, part in found.items():
            rows = part if isinstance(part, list) else list_changes(part, found.schemas[name])
            self.released[name] += rows

    def finish(self):
        self.take("finish")
        return self.released, self.errors, self.session.account()


def push_in_pieces(graph, rows, chance, compiled):
    """Push rows mostly one by one, with dumps in between."""
    run = Run(graph.start(compiled=compiled))
    at = 0
    while at < len(rows):
        if chance.random() < 0.05:
            run.session = graph.resume(run.session.dump(), compiled=compiled)
        if chance.random() < 0.05:
            part = rows[at : at + chance.choice([1, 4, 90])]
            run.take("push", make_tables(part))
            at += len(part)
            continue
        name, time, weight, row = rows[at]
        run.take("push_one", name, time, row, weight)
        at += 1
    return run.finish()


def push_whole(graph, rows):
    """Push all rows at once."""
    run = Run(graph.start(compiled="never"))
    run.take("push", make_tables(rows))
    return run.finish()


def make_tables(rows):
    found = {}
    for name, time, weight, row in rows:
        found.setdefault(name, []).append([time, weight, row])
    return found


def check_trial(number, compiled="never"):
    """Compare one trial; return how many transactions went the short way."""
    chance = random.Random(number)
    text = GRAPHS[number % len(GRAPHS)]
    discards = chance.random() < 0.5
    policy = ", ".join(["on_bad_transaction: discard"] * discards)
    text += f"io: {{{policy}}}\n"
    graph = rtbot.load(text)
    rows = draw_rows(chance, [*graph.checked.inputs], 150)
    taken = 0
    original = SmallRegion.take

    def count(self, given):
        nonlocal taken
        found = original(self, given)
        taken += found
        return found

    SmallRegion.take = count
    try:
        found = push_in_pieces(graph, rows, chance, compiled)
    finally:
        SmallRegion.take = original
    whole = push_whole(graph, rows)
    assert repr(found[0]) == repr(whole[0]), number
    assert repr(found[1]) == repr(whole[1]), number
    assert found[2] == whole[2], number
    stored = push_with_bags(text, rows)
    assert repr(found[0]) == repr(stored[0]), number
    assert repr(found[1]) == repr(stored[1]), number
    return taken


def push_with_bags(graph, rows):
    """Push all rows at once, with a bag for every source."""
    original = RegionWriter.let_pass
    RegionWriter.let_pass = lambda _self, _given, source: source
    try:
        return push_whole(rtbot.load(graph), rows)
    finally:
        RegionWriter.let_pass = original


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    short = 0
    for number in range(options.first, options.first + options.count):
        short += check_trial(number, "now" if options.compiled else "never")
    print(f"{options.count:,} trials, {short:,} transactions the short way")
    return 0


if __name__ == "__main__":
    sys.exit(main())
