"""Records as inputs: what they give is what inputs of their fields give that get the same times.

python -m tests.record_trials --count 1000
"""

import argparse
from functools import cache
from random import Random

import rtbot
from rtbot import DataError
from rtbot.runtime.push_one import to_rows

RECORD = """
inputs:
  quote:
    record: {bid: number, ask: "number?", size: integer, venue: text, open: boolean}
  price: number
operators:
  spread: quote.ask - quote.bid
  mean: {type: MovingAverage, in: quote.bid, window: 3}
  both: {type: Join, in: [quote.ask, price]}
  last: {type: Join, how: asof, in: [price, quote.bid, quote.size]}
  pair: {type: Join, in: [quote.size, price, quote.bid]}
  deal: {type: Join, how: left, in: [price, quote.venue, quote.open, quote.ask]}
  late: {type: Join, how: asof, in: [price, quote.venue, quote.ask, quote.open]}
  busy: if(quote.open, quote.size, 0)
outputs:
  spread: spread
  mean: mean
  ask: both.o1
  bid: last.o2
  size: last.o3
  venue: quote.venue
  busy: busy
  pair: pair.o3
  lot: pair.o1
  place: deal.o2
  was: deal.o3
  cost: deal.o4
  where: late.o2
  then: late.o3
  whether: late.o4
"""
FIELDS = {"bid": "number", "ask": "number?", "size": "integer", "venue": "text", "open": "boolean"}
SEPARATE = "inputs:\n" + "".join(f"  {name}: {kind}\n" for name, kind in FIELDS.items())
SEPARATE += RECORD[RECORD.index("  price:") :].replace("quote.", "")
NUMBERS = [0.0, -0.0, 1.5, 0.1, -3.0, float("nan"), float("inf"), 1e300]
POLICIES = [
    {},
    {"late": "drop", "duplicates": "first"},
    {"late": "drop", "duplicates": "last"},
    {"lateness": 3, "late": "drop"},
    {"lateness": 3, "late": "drop", "duplicates": "first"},
    {"lateness": 3, "duplicates": "last"},
]


def make_row(rng):
    return {
        "bid": rng.choice(NUMBERS),
        "ask": rng.choice([*NUMBERS, None]),
        "size": rng.choice([0, 7, -(2**63), 2**63 - 1]),
        "venue": rng.choice(["a", "", "ü", "long name"]),
        "open": rng.random() < 0.5,
    }


@cache
def load_twins(place):
    """Load both graphs with one of the policies."""
    policy = ", ".join(f"{key}: {value}" for key, value in POLICIES[place].items())
    return [rtbot.load(f"{text}io: {{{policy}}}\n") for text in (RECORD, SEPARATE)]


class Twins:
    """A session with a record, and one with an input for each of its fields."""

    def __init__(self, graphs, key):
        self.graphs = graphs
        self.sessions = [graph.start(key) for graph in self.graphs]
        self.key = key
        self.found = [{name: [] for name in self.graphs[0].checked.outputs} for _ in range(2)]

    def both(self, *acts):
        """Do the same to both: a result, or an error of the same code at the same time."""
        told = []
        for place, act in enumerate(acts):
            try:
                released = act(self.sessions[place])
            except DataError as error:
                told.append((error.code, error.time, error.key))
                continue
            told.append(None)
            for name, rows in released:
                self.found[place][name] += rows
        assert told[0] == told[1]

    def push(self, rows, keys):
        column = {"k": keys} if self.key else {}
        times = [time for time, _ in rows]
        whole = {name: [row[name] for _, row in rows] for name in FIELDS}
        record = {"t": times, **whole, **column}
        kept = [n for n, (_, row) in enumerate(rows) if row["bid"] is not None]
        parts = {
            name: {
                "t": [times[n] for n in kept],
                "value": [cells[n] for n in kept],
                **({"k": [keys[n] for n in kept]} if self.key else {}),
            }
            for name, cells in whole.items()
        }
        self.both(
            lambda session: list_rows(session.push({"quote": record}), self.key),
            lambda session: list_rows(session.push(parts), self.key),
        )

    def push_one(self, time, row, key):
        more = {"key": key} if self.key else {}

        def push_fields(session):
            return [
                item
                for name, value in row.items()
                for item in session.push_one(name, time, value, **more).items()
            ]

        self.both(lambda session: session.push_one("quote", time, row, **more).items(), push_fields)

    def do(self, act):
        both = [lambda session: list_rows(act(session), self.key)] * 2
        self.both(*both)

    def resume(self):
        pairs = zip(self.graphs, self.sessions, strict=True)
        self.sessions = [graph.resume(session.dump()) for graph, session in pairs]


def list_rows(result, key):
    return to_rows(result, key).items()


def run_twins(seed):
    rng = Random(seed)
    place = seed % len(POLICIES)
    policy, twins = POLICIES[place], Twins(load_twins(place), ("k",) if rng.random() < 0.5 else ())
    time, shuffled = 0, policy.get("late") == "drop" or rng.random() < 0.2
    for _ in range(rng.randrange(1, 12)):
        rows, keys = [], []
        for _ in range(rng.choice([0, 1, 1, 2, 8])):
            time += rng.choice([1, 1, 2])
            late = rng.choice([0, 0, 1, 2, 5]) if shuffled else 0
            rows.append((time - late, make_row(rng)))
            keys.append(rng.choice(["a", "b", "c"]))
        if len(rows) == 1 and rng.random() < 0.5:
            twins.push_one(*rows[0], keys[0])
        else:
            for _, row in rows:
                row["bid"] = None if rng.random() < 0.1 else row["bid"]
            twins.push(rows, keys)
        if rng.random() < 0.6:
            column = {"k": [rng.choice("abc")]} if twins.key else {}
            table = {"price": {"t": [time], "value": [rng.choice(NUMBERS)], **column}}
            twins.do(lambda session, table=table: session.push(table))
        if rng.random() < 0.5:
            twins.resume()
        if rng.random() < 0.2:
            until = time - 4
            twins.do(lambda session, until=until: session.advance(until))
    counts = [session.account()["inputs"] for session in twins.sessions]
    lost = counts[0]["quote"]["lost"].pop("null", 0)
    for name in FIELDS:
        assert counts[1][name] == counts[0]["quote"] | {"in": counts[0]["quote"]["in"] - lost}
    twins.do(lambda session: session.finish())
    assert repr(sort_rows(twins.found[0])) == repr(sort_rows(twins.found[1]))


def sort_rows(found):
    """Return rows in one order: one call may release those of several times, or keys."""
    return {name: sorted(rows, key=lambda row: repr(row[:-1])) for name, rows in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + options.count):
        try:
            run_twins(seed)
        except BaseException:
            print(f"seed {seed}")
            raise
    print(f"{options.count} trials agree")


if __name__ == "__main__":
    main()
