"""Compare grouped rows with a naive bag evaluator: `python -m tests.group_trials --help`.

The oracle keeps all rows and computes every group again after every transaction, in fractions.
"""

import argparse
import itertools
import math
import os
import random
import statistics
import struct
import time
from bisect import bisect
from collections import Counter
from fractions import Fraction

import numpy as np

from rtbot.core.modes import NEVER, NOW
from rtbot.operator.declarations import Type
from rtbot.operator.schema import Field, Schema
from rtbot.operator.step_source import collect_sources
from rtbot.relations.deltas import Deltas
from rtbot.relations.group_code import list_steps, write_group_functions
from rtbot.relations.group_layout import BOOLEANS, EXTREMES, QUANTILE, SPREADS, make_layout
from rtbot.relations.grouped import GroupedOperator
from rtbot.relations.region_code import RegionCode
from rtbot.relations.region_plan import RegionNode
from rtbot.tables.string_dictionary import StringDictionary

NASTY = {
    "integer": [0, 1, -1, 2, 7, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -(2**62), 10**15],
    "number": [
        *(0.0, -0.0, 0.1, 0.2, 0.3, -0.1, 1.0, 3.0, 1e16, -1e16, 1e300, -1e300, 5e-324, -5e-324),
        *(1.7e308, -1.7e308, math.pi, 1e-200, 2.0**-1022, 1e22),
    ],
    "special": [math.nan, math.inf, -math.inf],
    "boolean": [False, True],
    "text": ["", "a", "b", "é", "z", "\U0001f600", "\uffff", "aa", "B"],
}
NUMERIC = ("sum", "avg", *SPREADS)
SMALL = {"integer": 40, "number": 8.0}


# ---- the oracle


def evaluate(schema, by, compute, rows):
    """The rows of all groups over a bag, and whether a sum is beyond int64."""
    groups = {} if by else {(): Counter()}
    for row, weight in rows.items():
        groups.setdefault(tuple(row[place] for place in by), Counter())[row] += weight
    found, overflows = [], False
    for key, group in groups.items():
        values = []
        for function, place, distinct, *share in compute:
            value, overflow = aggregate(schema, function, place, distinct, group, *share)
            values.append(value)
            overflows |= overflow
        found.append((*key, *values))
    return found, overflows


def aggregate(schema, function, place, distinct, group, share=0.5):
    """One aggregate of one group: (value, whether it is beyond int64)."""
    if place is None:
        return sum(group.values()), False
    counts = Counter()
    for row, weight in group.items():
        if row[place] is not None:
            counts[row[place]] += weight
    if distinct:
        counts = Counter(dict.fromkeys(counts, 1))
    count = sum(counts.values())
    if function == "count":
        return count, False
    if not count:
        return None, False
    if function in EXTREMES:
        order = sorted(counts, key=lambda v: (v != v, v))
        return order[0 if function == "min" else -1], False
    if function in BOOLEANS:
        return (all if function == "bool_and" else any)(counts), False
    return compute_number(schema, function, place, counts, share)


def compute_number(schema, function, place, counts, share):
    """A quantile, sum, mean, variance or deviation of values with their copies."""
    if function == QUANTILE:
        return find_quantile(counts, share), False
    if schema.fields[place].type.kind == "integer" and function == "sum":
        total = sum(value * weight for value, weight in counts.items())
        return total, not -(2**63) <= total < 2**63
    return numeric(function, counts, sum(counts.values())), False


def find_quantile(counts, share):
    """The number at a share of all copies in order, between two of them by their distances."""
    order = sorted(counts, key=lambda v: (v != v, v))
    ends = list(itertools.accumulate(counts[value] for value in order))
    place = (ends[-1] - 1) * share
    part = place - math.floor(place)
    low, high = (order[bisect(ends, end)] for end in (math.floor(place), math.ceil(place)))
    return float(low) if low == high else low * (1.0 - part) + high * part + 0.0


def numeric(function, counts, count):
    """A sum, mean, variance or deviation as a float, from fractions."""
    specials = [v for v in counts if isinstance(v, float) and not math.isfinite(v)]
    if function in SPREADS:
        return spread(function, counts, count, specials)
    if specials:
        return math.fsum(specials) if len({*specials}) == 1 else math.nan
    total = sum(Fraction(value) * weight for value, weight in counts.items())
    return to_float(total if function == "sum" else total / count)


def spread(function, counts, count, specials):
    less, root = SPREADS[function]
    if count <= less:
        return None
    if specials:
        return math.nan
    total = sum(Fraction(value) * weight for value, weight in counts.items())
    squares = sum(Fraction(value) ** 2 * weight for value, weight in counts.items())
    variance = (count * squares - total**2) / (count * (count - less))
    if not root:
        return to_float(variance)
    rounded = to_float(variance)
    if rounded < math.inf:
        return math.sqrt(rounded)
    return statistics._float_sqrt_of_frac(variance.numerator, variance.denominator)


def to_float(fraction):
    """The float nearest to a fraction, infinite beyond the range; there is one zero."""
    try:
        return fraction.numerator / fraction.denominator + 0.0
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


# ---- rows as words


def to_word(value, kind, texts):
    if value is None:
        return 0
    if kind == "number":
        return struct.unpack("<q", struct.pack("<d", math.nan if value != value else value + 0.0))[
            0
        ]
    return texts.code(value) if kind == "text" else int(value)


def encode(schema, rows, texts):
    """The words of rows, int64[rows, width]."""
    words = np.zeros((len(rows), schema.width), np.int64)
    for number, row in enumerate(rows):
        for place, (field, value) in enumerate(zip(schema, row, strict=True)):
            words[number, place] = to_word(value, field.type.kind, texts)
            if value is None:
                words[number, len(schema) + place // 63] |= 1 << place % 63
    return words


def to_value(word, kind, texts):
    if kind == "number":
        return struct.unpack("<d", struct.pack("<q", word))[0]
    if kind == "boolean":
        return bool(word)
    return texts.text(word) if kind == "text" else word


def decode(schema, words, texts):
    """Rows of words as tuples of Python's values."""
    return [
        tuple(
            None
            if schema.nullable and row[len(schema) + place // 63] >> place % 63 & 1
            else to_value(row[place], field.type.kind, texts)
            for place, field in enumerate(schema)
        )
        for row in words.tolist()
    ]


def canonical(row):
    """A row that compares bit for bit: NaN equals NaN, 1 is neither True nor 1.0."""
    return tuple((type(v).__name__, repr(v)) for v in row)


# ---- operators


def result_type(function, type_, keyed):
    """The type of a computed field."""
    if function == "count":
        return Type("integer")
    if function in SPREADS:
        return Type("number", nullable=True)
    kind = "number" if function in ("avg", QUANTILE) else type_.kind
    return Type(kind, nullable=type_.nullable or not keyed)


def make_schemas(types, by, compute):
    """The schemas of the rows that come and go."""
    source = Schema(tuple(Field(f"f{k}", type_) for k, type_ in enumerate(types)))
    computed = [
        Field(f"c{k}", result_type(function, types[place or 0], bool(by)))
        for k, (function, place, *_) in enumerate(compute)
    ]
    return source, Schema((*(source.fields[place] for place in by), *computed))


def load_functions(layout, *, compiled):
    """The functions of a grouped operator, named `group`."""
    text = write_group_functions("group", layout)
    sources = collect_sources((step.__name__, step) for step in list_steps(text))
    module = "\n\n".join(["import math", *sources.lines(), *sources.texts.values(), text])
    return RegionCode(module, NOW if compiled else NEVER).module


def make_operator(types, by, compute, *, compiled=False, texts=None, functions=None):
    """An operator that is loaded."""
    source, target = make_schemas(types, by, compute)
    setting = {"by": by, "compute": compute}
    layout = make_layout(setting, source, target)
    functions = functions or load_functions(layout, compiled=compiled)
    node = RegionNode("g", "GroupBy", "grouped", (0,), 1, setting, {"loop": "group"})
    return GroupedOperator(node, (source, target), functions, texts or StringDictionary())


def make_deltas(schema, transactions, texts):
    """The deltas of transactions, each a list of (row, weight)."""
    changes = [change for transaction in transactions for change in transaction]
    starts = np.cumsum([0, *map(len, transactions)])
    weights = np.array([weight for _, weight in changes], np.int64)
    return Deltas(starts, encode(schema, [row for row, _ in changes], texts), weights)


def list_output(operator, deltas, texts):
    """The changes of every transaction: sorted lists of (row, weight), all values as text."""
    rows = [canonical(row) for row in decode(operator.layout.target, deltas.words, texts)]
    changes = list(zip(rows, deltas.weights.tolist(), strict=True))
    starts = deltas.starts.tolist()
    return [sorted(changes[a:b]) for a, b in itertools.pairwise(starts)]


# ---- random trials


class Trial:
    """A random operator, which `shape` decides, and random transactions over it."""

    def __init__(self, seed, shape):
        self.random = rng = random.Random(shape)
        kinds = ["integer", "number", "boolean", "text"]
        self.types = [Type(rng.choice(kinds), rng.random() < 0.4) for _ in range(rng.randint(1, 4))]
        places = range(len(self.types))
        self.by = tuple(rng.sample(places, rng.choice([0, 1, 1, 2]) % (len(self.types) + 1)))
        self.compute = tuple(self.make_computation() for _ in range(rng.randint(1, 4)))
        self.random = rng = random.Random(seed)
        self.specials = rng.random() < 0.2
        self.nasty = rng.choice([0.0, 0.0, 0.1, 1.0])
        self.large = rng.random() < 0.2
        self.source, self.target = make_schemas(self.types, self.by, self.compute)
        self.rows = Counter()
        self.pool = [self.make_row() for _ in range(rng.choice([1, 3, 12, 40]))]

    def make_computation(self):
        rng, place = self.random, self.random.randrange(len(self.types))
        kind = self.types[place].kind
        choices = ["count", "count", "min", "max"]
        choices += [*NUMERIC, "sum"] if kind in {"integer", "number"} else []
        choices += [QUANTILE, QUANTILE] if kind in {"integer", "number"} else []
        choices += [*BOOLEANS] if kind == "boolean" else []
        function = rng.choice(choices)
        if function == "count" and rng.random() < 0.4:
            return "count", None, False
        share = [rng.choice([0.0, 0.5, 0.5, 1.0, 0.25, 0.9, rng.random()])]
        return function, place, rng.random() < 0.3, *share * (function == QUANTILE)

    def make_value(self, type_):
        rng, kind = self.random, type_.kind
        if type_.nullable and rng.random() < 0.25:
            return None
        if kind == "number" and self.specials and rng.random() < 0.2:
            return rng.choice(NASTY["special"])
        if kind in SMALL and rng.random() >= self.nasty:
            limit = SMALL[kind]
            return rng.randint(-limit, limit) if kind == "integer" else rng.uniform(-limit, limit)
        value = rng.choice(NASTY[kind])
        return value + 0.0 if kind == "number" else value

    def make_row(self):
        return tuple(self.make_value(type_) for type_ in self.types)

    def make_transaction(self):
        """Changes of one transaction, of a bag that stays one, in any order and in parts."""
        rng, after, changes = self.random, Counter(self.rows), []
        for _ in range(rng.choice([0, 1, 1, 1, 2, 5, 15])):
            if rng.random() < 0.45 and after:
                row = rng.choice(list(after))
                weight = -rng.randint(1, after[row])
                weight = -after[row] if rng.random() < 0.5 else weight
            else:
                row = rng.choice(self.pool) if rng.random() < 0.8 else self.make_row()
                weight = rng.choice([1, 1, 1, 2, 5])
                weight = rng.choice([2**24, 10**9 + 7, 2**31]) if self.large else weight
            changes.append((row, weight))
            after[row] += weight
            if not after[row]:
                del after[row]
        if rng.random() < 0.1:
            row = self.make_row()
            changes += [(row, 3), (row, -2), (row, -1)]
        rng.shuffle(changes)
        return changes, after


def run_trial(seed, shape=None, *, compiled=False, transactions=30):
    """Run one trial: outputs, cuts, faults, taking back, saving and restoring."""
    trial, texts = Trial(seed, seed if shape is None else shape), StringDictionary()
    rng, shape = trial.random, (trial.types, trial.by, trial.compute)
    operator = make_operator(*shape, compiled=compiled, texts=texts)
    functions, emitted = operator._functions, []
    if not trial.by:
        check(operator, texts, trial, [([], Counter())], emitted)
    for _ in range(transactions):
        batch = []
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            changes, after = trial.make_transaction()
            if not evaluate(trial.source, trial.by, trial.compute, after)[1]:
                trial.rows = after
                batch.append((changes, after))
            elif not batch:
                check_fault(operator, texts, trial, changes)
        check(operator, texts, trial, batch, emitted)
        if rng.random() < 0.2:
            saved = operator.save()
            operator = make_operator(*shape, texts=texts, functions=functions)
            operator.restore(*saved)
        check_taking_back(operator, texts, trial)
    return operator


def check(operator, texts, trial, batch, emitted):
    """Run a batch of (changes, rows after), and compare with the oracle after each of them."""
    deltas = make_deltas(trial.source, [changes for changes, _ in batch], texts)
    out, fault = operator.run([deltas])
    assert fault is None, fault
    assert len(out.starts) == len(batch) + 1
    for changes, (_, bag) in zip(list_output(operator, out, texts), batch, strict=True):
        rows, _ = evaluate(trial.source, trial.by, trial.compute, bag)
        after = Counter(map(canonical, rows))
        expected = Counter(after)
        expected.subtract(Counter(emitted))
        expected = sorted((row, weight) for row, weight in expected.items() if weight)
        assert changes == expected, (changes, expected)
        emitted[:] = after.elements()


def check_fault(operator, texts, trial, changes):
    """A transaction whose sum is beyond int64 is refused, and leaves nothing."""
    known = snapshot(operator)
    while True:
        good, after = trial.make_transaction()
        if not evaluate(trial.source, trial.by, trial.compute, after)[1]:
            break
    before = [(row, -weight) for row, weight in good]
    deltas = make_deltas(trial.source, [[], good, before, changes, []], texts)
    expected, _ = operator.run([deltas.cut(0, 3)])
    expected = list_output(operator, expected, texts)
    operator.take_back([deltas.cut(0, 3)])
    out, fault = operator.run([deltas])
    assert fault is not None
    assert (fault.transaction, fault.code) == (3, "RT213")
    assert list_output(operator, out, texts) == expected
    assert snapshot(operator) == known


def check_taking_back(operator, texts, trial):
    """What is taken and taken back leaves what was."""
    known, rows, batch = snapshot(operator), trial.rows, []
    for _ in range(3):
        changes, trial.rows = trial.make_transaction()
        batch.append(changes)
    trial.rows = rows
    deltas = make_deltas(trial.source, batch, texts)
    out, _ = operator.run([deltas])
    taken = len(out.starts) - 1
    operator.take_back([deltas.cut(taken // 2, taken)])
    operator.take_back([deltas.cut(0, taken // 2)])
    assert snapshot(operator) == known


def snapshot(operator):
    """What a grouped operator has, whatever the order in which it came."""
    layout, pools = operator.layout, operator.store.pools
    groups, counted = operator.store.find_groups(), operator.layout.list_counted_trees()
    rows = {tuple(row[layout.row :]): (row[0], row[1]) for row in groups.tolist()}
    copies = [
        sorted(list_copies(pools[name].rows.tolist(), root, counted=at in counted))
        for name, is_text in (("nodes", False), ("text_nodes", True))
        for at in layout.list_trees(text=is_text)
        for root in groups[:, at].tolist()
    ]
    return rows, sorted(copies)


def list_copies(nodes, root, *, counted):
    """The values of a tree with their copies."""
    if not root:
        return
    value, copies, *below = nodes[root]
    yield value, copies - sum(nodes[node][1] for node in below) * counted
    for node in below:
        yield from list_copies(nodes, node, counted=counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--shapes", type=int, help="so many operators, with data of all seeds")
    options = parser.parse_args()
    started = time.perf_counter()
    for seed in range(options.seed, options.seed + options.count):
        try:
            run_trial(
                seed,
                seed % options.shapes if options.shapes else None,
                compiled=options.compiled and not os.environ.get("RTBOT_INTERPRET"),
            )
        except BaseException:
            print(f"seed {seed}")
            raise
    print(f"{options.count} trials agree, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
