"""Compare window functions with a naive evaluator: `python -m tests.over_trials --help`."""

import argparse
import itertools
import os
import random
import time
from collections import Counter

from rtbot.core.modes import NEVER, NOW, use_mode
from rtbot.operator.declarations import Type
from rtbot.operator.schema import Field, Schema
from rtbot.operators.ordered import find_window_type
from rtbot.relations.over_operator import OverOperator
from rtbot.relations.region_code import CHANGE_LOOPS
from rtbot.relations.region_plan import RegionNode, RegionPlan
from rtbot.tables.string_dictionary import StringDictionary
from tests.group_trials import NASTY, SMALL, canonical, decode, make_deltas
from tests.oracles.row_expressions import NAN, NoValueError
from tests.oracles.windows import compute_windows

FRAMES = [
    *((None, None), (None, 0), (-2, 0), (-1, 1), (0, 1), (1, 2), (-3, -1), (0, None), (None, -1)),
    *((None, 1), (-2, None), (-20, -2), (-4, 7), (3, 12), (2, None)),
]
NUMERIC = ("sum", "avg")
OTHERS = ("min", "max", "first", "last", "count")


class Argument:
    """What `find_window_type` asks of a tree."""

    def __init__(self, type_):
        self.type = type_


def make_operator(types, by, order, frame, items, *, compiled=False, texts=None):
    """An operator over rows of these types, which are all fields of the output."""
    source = Schema(tuple(Field(f"f{k}", type_) for k, type_ in enumerate(types)))
    _, start, end = frame
    whole = (start is None or start <= 0) and (end is None or end >= 0)
    computed = [
        Field(
            f"c{k}",
            find_window_type(
                function, None if place is None else Argument(types[place]), default, whole
            ),
        )
        for k, (function, place, _, default) in enumerate(items)
    ]
    target = Schema((*source.fields, *computed))
    setting = {"by": by, "order": order, "frame": frame, "compute": items, "fields": len(types)}
    node = RegionNode("o", "OverRows", "over", (0,), 1, setting, {})
    plan = RegionPlan("o", (), (node,), (source, target), {"o": 1}, "")
    mode = NOW if compiled else NEVER
    with use_mode(mode):
        kernels = CHANGE_LOOPS.load(mode)
        return OverOperator(node, plan, kernels, None, texts or StringDictionary())


class Trial:
    """A random operator, which `shape` decides, and random transactions over it."""

    def __init__(self, seed, shape):
        self.random = rng = random.Random(shape)
        kinds = ["integer", "integer", "number", "boolean", "text"]
        self.types = [Type(rng.choice(kinds), rng.random() < 0.3) for _ in range(rng.randint(1, 4))]
        places = range(len(self.types))
        self.by = tuple(rng.sample(places, rng.choice([0, 1, 1]) % (len(self.types) + 1)))
        others = [place for place in places if place not in self.by]
        order = rng.sample(others, min(len(others), rng.choice([0, 1, 1, 2])))
        self.order = tuple((place, rng.random() < 0.4) for place in order)
        self.frame = ("range", None, 0)
        if rng.random() < 0.6:
            self.frame = ("rows", *rng.choice(FRAMES))
        self.local = rng.random() < 0.25
        self.items = tuple(self.make_item() for _ in range(rng.randint(1, 4)))
        self.random = rng = random.Random(seed)
        self.specials = rng.random() < 0.2
        self.nasty = rng.choice([0.0, 0.0, 0.1, 1.0])
        self.rows = Counter()
        self.pool = [self.make_row() for _ in range(rng.choice([1, 3, 8, 20]))]

    def make_item(self):
        rng, place = self.random, self.random.randrange(len(self.types))
        kind = self.types[place].kind
        names = ["lag", "lead"]
        if not self.local:
            names += ["number", "rank", "dense_rank", *OTHERS]
            names += [*NUMERIC] * 3 if kind in ("integer", "number") else []
        function = rng.choice(names)
        if function in ("number", "rank", "dense_rank"):
            return function, None, 0, None
        if function == "count" and rng.random() < 0.5:
            return function, None, 0, None
        if function in ("lag", "lead"):
            default = None if rng.random() < 0.5 else rng.choice(NASTY[kind])
            default = default + 0.0 if isinstance(default, float) else default
            return function, place, rng.choice([0, 1, 1, 1, 2, 5, 12]), default
        return function, place, 0, None

    def make_value(self, type_):
        rng, kind = self.random, type_.kind
        if type_.nullable and rng.random() < 0.25:
            return None
        if kind == "number" and self.specials and rng.random() < 0.2:
            value = rng.choice(NASTY["special"])
            return NAN if value != value else value
        if kind in SMALL and rng.random() >= self.nasty:
            return rng.randint(-3, 3) if kind == "integer" else rng.randint(-3, 3) / 2
        value = rng.choice(NASTY[kind])
        return value + 0.0 if kind == "number" else value

    def make_row(self):
        return tuple(self.make_value(type_) for type_ in self.types)

    def make_transaction(self):
        """Changes of one transaction, of a bag that stays one, in any order and in parts."""
        rng, after, changes = self.random, Counter(self.rows), []
        for _ in range(rng.choice([0, 1, 1, 1, 2, 5])):
            if rng.random() < 0.5 and after:
                row = rng.choice(list(after))
                weight = -after[row] if rng.random() < 0.5 else -rng.randint(1, after[row])
            else:
                row = rng.choice(self.pool) if rng.random() < 0.8 else self.make_row()
                weight = rng.choice([1, 1, 1, 2, 3])
            changes.append((row, weight))
            after[row] += weight
            if not after[row]:
                del after[row]
        if rng.random() < 0.1:
            row = self.make_row()
            changes += [(row, 3), (row, -2), (row, -1)]
        rng.shuffle(changes)
        return changes, after

    def evaluate(self, rows):
        return compute_windows(rows, self.by, self.order, self.frame, self.items)


def run_trial(seed, shape=None, *, compiled=False, transactions=25):
    """Run one trial: outputs, cuts, faults, taking back, saving and restoring."""
    trial, texts = Trial(seed, seed if shape is None else shape), StringDictionary()
    rng = trial.random
    given = trial.types, trial.by, trial.order, trial.frame, trial.items
    operator = make_operator(*given, compiled=compiled, texts=texts)
    for _ in range(transactions):
        batch = []
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            changes, after = trial.make_transaction()
            try:
                expected = trial.evaluate(after)
            except NoValueError:
                if not batch:
                    check_fault(operator, texts, changes)
                continue
            batch.append((changes, trial.rows, after, expected))
            trial.rows = after
        check(operator, texts, trial, batch)
        if rng.random() < 0.2:
            saved = operator.save()
            operator = make_operator(*given, compiled=compiled, texts=texts)
            operator.restore(*saved)
        check_taking_back(operator, texts, trial)
    return operator


def count_rows(operator, deltas, texts):
    """The net changes of every transaction."""
    rows = [canonical(row) for row in decode(operator.layout.target, deltas.words, texts)]
    weights, found = deltas.weights.tolist(), []
    for begin, end in itertools.pairwise(deltas.starts.tolist()):
        net = Counter()
        for row, weight in zip(rows[begin:end], weights[begin:end], strict=True):
            net[row] += weight
        found.append({row: weight for row, weight in net.items() if weight})
    return found


def find_changes(before, after):
    net = Counter()
    for bag, sign in ((before, -1), (after, 1)):
        for row, count in bag.items():
            net[canonical(row)] += sign * count
    return {row: weight for row, weight in net.items() if weight}


def check(operator, texts, trial, batch):
    """Run a batch, and compare with the oracle after each transaction."""
    deltas = make_deltas(operator.layout.source, [changes for changes, *_ in batch], texts)
    out, fault = operator.run([deltas])
    assert fault is None, fault
    found = count_rows(operator, out, texts)
    for changes, (given, before, _, expected) in zip(found, batch, strict=True):
        right = find_changes(trial.evaluate(before), expected)
        assert changes == right, (given, before, changes, right)


def check_fault(operator, texts, changes):
    """A transaction with a sum beyond int64 is refused, and leaves nothing."""
    known = snapshot(operator)
    source = operator.layout.source
    out, fault = operator.run([make_deltas(source, [[], changes, []], texts)])
    assert (fault.transaction, fault.code, len(out.starts)) == (1, "RT213", 2)
    assert snapshot(operator) == known


def check_taking_back(operator, texts, trial):
    """What is taken and taken back leaves what was."""
    known, rows, batch = snapshot(operator), trial.rows, []
    for _ in range(3):
        changes, trial.rows = trial.make_transaction()
        batch.append(changes)
    trial.rows = rows
    deltas = make_deltas(operator.layout.source, batch, texts)
    out, _ = operator.run([deltas])
    taken = len(out.starts) - 1
    operator.take_back([deltas.cut(taken // 2, taken)])
    operator.take_back([deltas.cut(0, taken // 2)])
    assert snapshot(operator) == known


def snapshot(operator):
    words, copies = operator.store.list_rows()
    return words.tolist(), copies.tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    compiled = options.compiled and not os.environ.get("RTBOT_INTERPRET")
    for seed in range(options.seed, options.seed + options.count):
        try:
            run_trial(seed, compiled=compiled)
        except BaseException:
            print(f"seed {seed}")
            raise
    print(f"{options.count} trials agree, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
