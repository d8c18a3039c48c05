"""Bags as dictionaries: what change operators do, by recomputing everything for each transaction.

Rows are tuples of Python values. `identify` makes values equal that are one: any NaN, both zeros.
"""

import itertools
import math
from collections import Counter

import numpy as np

from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.deltas import Deltas
from rtbot.relations.region_plan import ChangeSource, RegionNode, RegionPlan
from rtbot.relations.row_codec import RowCodec
from rtbot.tables.text_columns import TextColumn

MOST = 2**63 - 1
NAN = float("nan")
CELLS = {
    "integer": [0, 1, -1, 2, 7, MOST, -MOST - 1],
    "number": [0.0, -0.0, 1.0, -1.0, 0.1, NAN, -NAN, math.inf, -math.inf, 5e-324],
    "boolean": [False, True],
    "text": ["", "a", "b", "A", "ä", "\U0001f600", "ab", "z"],
}
WEIGHED = {
    ("union", False): lambda *n: int(any(c > 0 for c in n)),
    ("union", True): lambda *n: sum(n),
    ("intersect", False): lambda *n: int(all(c > 0 for c in n)),
    ("intersect", True): min,
    ("except", False): lambda first, *n: int(first > 0 and not any(n)),
    ("except", True): lambda first, *n: max(first - sum(n), 0),
    ("distinct", False): lambda n: int(n > 0),
}


def make_schema(types, unique=()):
    """A schema of fields f0, f1, ... of types such as `integer?`."""
    made = [Type(t.removesuffix("?"), nullable=t.endswith("?")) for t in types]
    return Schema(tuple(Field(f"f{k}", t) for k, t in enumerate(made)), unique)


def make_plan(nodes, sources, streams, outputs, **options):
    """A plan of nodes (id, skeleton, inputs, output, setting) and sources (name, setting)."""
    return RegionPlan(
        "region",
        tuple(ChangeSource(name, k, **setting) for k, (name, setting) in enumerate(sources)),
        tuple(RegionNode(i, i, skeleton, ins, out, what) for i, skeleton, ins, out, what in nodes),
        tuple(streams),
        outputs,
        options.pop("text", ""),
        **options,
    )


def draw_cell(rng, type_):
    if type_.nullable and rng.random() < 0.2:
        return None
    cells = CELLS[type_.kind]
    return cells[rng.randrange(min(len(cells), rng.choice([2, 3, len(cells)])))]


def draw_row(rng, schema):
    return tuple(draw_cell(rng, field.type) for field in schema)


def identify(row):
    """A key that is equal for equal rows only."""
    return tuple(
        "NaN"
        if isinstance(c, float) and c != c
        else (type(c).__name__, c + 0.0)
        if isinstance(c, float)
        else (type(c).__name__, c)
        for c in row
    )


def order_of(identity):
    return [
        (2,) if c == ("NoneType", None) else (1,) if c == "NaN" else (0, c[1]) for c in identity
    ]


def encode(transactions, schema, texts):
    """Deltas of transactions, each a list of (row, weight)."""
    changes = [change for transaction in transactions for change in transaction]
    columns, valid = [], []
    for place, field in enumerate(schema):
        cells = [row[place] for row, _ in changes]
        there = np.array([cell is not None for cell in cells], bool)
        if field.type.kind == "text":
            values = list(dict.fromkeys(c for c in cells if c is not None))
            codes = [-1 if c is None else values.index(c) for c in cells]
            columns.append(TextColumn(np.array(codes, np.int64), values))
        else:
            kind = {"integer": np.int64, "number": np.float64, "boolean": np.bool_}[field.type.kind]
            columns.append(np.array([0 if c is None else c for c in cells], kind))
        valid.append(there if field.type.nullable else None)
    words = RowCodec(schema, texts).encode(columns, valid)
    starts = np.cumsum([0, *map(len, transactions)])
    return Deltas(starts, words, np.array([weight for _, weight in changes], np.int64))


def decode(deltas, schema, texts):
    """Transactions as lists of (identity, weight), in their order."""
    columns = RowCodec(schema, texts).decode(deltas.words)
    cells = []
    for field in schema:
        column = columns[field.name].tolist()
        valid = columns.get(f"{field.name}_valid")
        cells.append(
            column if valid is None or not field.type.nullable
            else [c if there else None for c, there in zip(column, valid, strict=True)]
        )  # fmt: skip
    rows = [identify(row) for row in zip(*cells, strict=True)]
    changes = list(zip(rows, deltas.weights.tolist(), strict=True))
    return [changes[a:b] for a, b in itertools.pairwise(deltas.starts.tolist())]


def ordered(change):
    """The changes of a Counter, as an output has them."""
    rows = [(row, weight) for row, weight in change.items() if weight]
    return sorted(rows, key=lambda found: (found[1] > 0, order_of(found[0])))


def subtract(after, before):
    found = Counter(after)
    for row, weight in before.items():
        found[row] -= weight
    return Counter({row: weight for row, weight in found.items() if weight})


class BadBagError(Exception):
    """A transaction is bad: its code."""


class BagSource:
    """A source of weights: the bag, and what it refuses."""

    def __init__(self, schema, excess="error", unique=(), conflicts="error"):
        self.excess, self.conflicts = excess, conflicts
        self.places = [schema.place(name) for name in unique]
        self.bag = Counter()
        self.ignored = self.absent = 0

    def take(self, changes):
        """The bag after a transaction; BadBagError if it is bad."""
        return self._upsert(changes) if self.places else self._add(changes)

    def _add(self, changes):
        after = Counter(self.bag)
        for row, weight in changes:
            after[identify(row)] += weight
        worst = max([0, *(1 if w > MOST else 2 if w < 0 else 0 for w in after.values())])
        lost = sum(w < 0 for w in after.values())
        if worst == 2 and self.excess == "ignore":
            worst = max([0, *(w > MOST for w in after.values())])
        if worst:
            raise BadBagError("RT401" if worst == 2 else "RT404")
        return Counter({r: w for r, w in after.items() if w > 0}), lost, 0

    def _upsert(self, changes):
        def key_of(identity):
            return tuple(identity[place] for place in self.places)

        puts, deletes = {}, set()
        for row, weight in changes:
            identity = identify(row)
            key = key_of(identity)
            if weight < 0:
                deletes.add(key)
                continue
            if puts.get(key, identity) != identity and self.conflicts == "error":
                raise BadBagError("RT402")
            puts[key] = identity
        there = {key_of(identity) for identity in self.bag}
        gone = deletes | set(puts)
        after = Counter({r: 1 for r in self.bag if key_of(r) not in gone})
        after.update(puts.values())
        return after, 0, len(deletes - set(puts) - there)
