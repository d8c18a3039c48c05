"""Random regions and transactions, and the checks that `tests.relations_torture` makes of them."""

import itertools
import random
from collections import Counter

import numpy as np

from rtbot.relations.cache import Cache
from rtbot.relations.deltas import Deltas
from rtbot.relations.region import Region
from rtbot.relations.region_operator import Fault
from rtbot.relations.row_codec import RowCodec
from rtbot.relations.skeletons import SKELETONS
from rtbot.relations.weighed import make_set_operation
from rtbot.tables.string_dictionary import StringDictionary
from tests.relations_oracle import (
    MOST,
    WEIGHED,
    BadBagError,
    BagSource,
    decode,
    draw_row,
    encode,
    identify,
    make_plan,
    make_schema,
    ordered,
    subtract,
)

OPERATORS = [*WEIGHED, ("bag", False), ("bag", True), ("upsert", False), ("upsert", True)]
"""Operation and whether it is with `all`; of sources, whether they are lenient."""

TYPES = ["integer", "number", "boolean", "text", "integer?", "number?", "boolean?", "text?"]


class Faulty:
    """A set operation that finds one row bad wherever it comes, as an expression might."""

    def __init__(self, node, plan, kernels, module, texts):
        self.inner = make_set_operation(node, plan, kernels, module, texts)
        self.codec = RowCodec(plan.streams[node.inputs[0]], texts)
        self.bad = node.setting["bad"]

    def run(self, inputs):
        rows = decode(inputs[0], self.codec.schema, self.codec.texts)
        first = next((k for k, t in enumerate(rows) if any(r == self.bad for r, _ in t)), None)
        if first is None:
            return self.inner.run(inputs)
        made, fault = self.inner.run([deltas.cut(0, first) for deltas in inputs])
        return made, fault or Fault(first, "RT401", "bad")

    def __getattr__(self, name):
        return getattr(self.inner, name)


SKELETONS.setdefault("faulty", Faulty)


class Case:
    """A region of one operator with random transactions, some of them bad."""

    def __init__(self, operator, number, transactions=12):
        self.rng = rng = random.Random(f"{operator}/{number}")
        self.operation, self.every = operator
        self.types = [rng.choice(TYPES) for _ in range(rng.choice([1, 1, 2, 3]))]
        self.schema = make_schema(self.types)
        is_source = self.operation in {"bag", "upsert"}
        ports = 1 if is_source or self.operation == "distinct" else rng.choice([2, 2, 3])
        self.schemas = [self.schema] * ports
        if ports > 1 and rng.random() < 0.3:
            other = [t.removesuffix("?") if rng.random() < 0.5 else t for t in self.types]
            self.schemas[rng.randrange(ports)] = make_schema(other)
        self.settings = [self._draw_setting(schema) for schema in self.schemas]
        self.names = [f"s{port}" for port in range(ports)]
        sources = list(zip(self.names, self.settings, strict=True))
        out, nodes, streams = 0, [], list(self.schemas)
        if not is_source:
            out = ports
            what = {"weigh": self.operation, "all": self.every}
            nodes = [("op", "weighed", tuple(range(ports)), ports, what)]
            streams.append(self._output_schema())
        self.output = streams[out]
        self.plan = make_plan(nodes, sources, streams, {"out": out})
        self.draw(transactions)

    def _output_schema(self):
        if self.operation in {"except", "intersect"}:
            return self.schemas[0]
        nullable = [any(s.fields[k].type.nullable for s in self.schemas)
                    for k in range(len(self.types))]  # fmt: skip
        plain = [t.removesuffix("?") for t in self.types]
        return make_schema([t + "?" * n for t, n in zip(plain, nullable, strict=True)])

    def _draw_setting(self, schema):
        if self.operation == "upsert":
            unique = schema.names[: self.rng.randint(1, len(schema))]
            return {"unique": unique, "conflicts": "last" if self.every else "error"}
        lenient = self.every if self.operation == "bag" else self.rng.random() < 0.2
        return {"excess": "ignore"} if lenient else {}

    def draw(self, transactions):
        """Transactions that are mostly good, and what is right after each."""
        rng = self.rng
        sources = [BagSource(s, **w) for s, w in zip(self.schemas, self.settings, strict=True)]
        self.transactions, self.expected, self.bad = [], [], []
        self.lost = Counter()
        before = self._recompute(sources)
        pools = [[draw_row(rng, s) for _ in range(rng.choice([2, 4, 12]))] for s in self.schemas]
        for _ in range(transactions):
            given = [
                self._draw_changes(source, pool)
                for source, pool in zip(sources, pools, strict=True)
            ]
            self.transactions.append(given)
            code = ""
            try:
                taken = [s.take(changes) for s, changes in zip(sources, given, strict=True)]
            except BadBagError as error:
                code = str(error)
            else:
                for source, (bag, ignored, absent) in zip(sources, taken, strict=True):
                    source.bag = bag
                    self.lost["ignored"] += ignored
                    self.lost["absent"] += absent
            after = self._recompute(sources)
            if any(w > MOST for w in after.values()):
                raise AssertionError("weights are drawn small enough")
            self.bad.append(code)
            self.expected.append(ordered(subtract(after, before)))
            before = after

    def _draw_changes(self, source, pool):
        rng = self.rng
        weights = [1, 1, 1, -1, 2, -2, 3, -3]
        if self.operation == "bag" and rng.random() < 0.1:
            weights = [MOST, -MOST - 1, 1, -1, MOST - 1, -MOST]
        changes = []
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 8, 20])):
            row, weight = rng.choice(pool), rng.choice(weights)
            if weight < 0 and rng.random() < 0.9:
                net = sum(w for r, w in changes if identify(r) == identify(row))
                net += source.bag[identify(row)]
                weight = -min(net, -weight) if net > 0 else -weight
                weight = weight if -MOST <= weight <= MOST and weight else 1
            changes.append((row, weight))
        return changes

    def _recompute(self, sources):
        if self.operation in {"bag", "upsert"}:
            return sources[0].bag
        weigh = WEIGHED[self.operation, self.every]
        rows = set().union(*(s.bag for s in sources))
        found = {row: weigh(*(s.bag[row] for s in sources)) for row in rows}
        return Counter({row: weight for row, weight in found.items() if weight})

    def encode(self, texts, port):
        return encode([t[port] for t in self.transactions], self.schemas[port], texts)


def run_case(case, compiled, cuts=(), restores=False):
    """Push all transactions in parts; bad ones are left out. Outputs, codes, region, texts."""
    texts = StringDictionary()
    region = Region(case.plan, texts, compiled)
    deltas = [case.encode(texts, port) for port in range(len(case.names))]
    count = len(case.transactions)
    found, codes = [], [""] * count
    bounds = sorted({0, *cuts, count})
    for first, last in itertools.pairwise(bounds):
        at = first
        while True:
            given = {n: d.cut(at, last) for n, d in zip(case.names, deltas, strict=True)}
            closed = region.close(np.arange(at, last), given)
            found.append((at, closed.outputs["out"]))
            at += closed.taken
            if closed.fault is None:
                assert at == last
                break
            assert closed.fault.time == at
            codes[at] = closed.fault.fault.code
            at += 1
        if restores:
            region = restore_region(case.plan, region, texts, compiled)
    return found, codes, region, texts


def restore_region(plan, region, texts, compiled):
    values, arrays = region.save()
    fresh = Region(plan, texts, compiled)
    fresh.restore(values, arrays)
    return fresh


def check_case(operator, number, compiled="never"):
    """Compare one case with the oracle: cut in all ways, restored between, and through a Cache."""
    case = Case(operator, number)
    count = len(case.transactions)
    whole, codes, region, texts = run_case(case, compiled)
    assert codes == case.bad
    expected = [changes for changes, bad in zip(case.expected, case.bad, strict=True) if not bad]
    assert flatten(whole, case, texts) == expected
    lost = region.counts["s0"]
    if len(case.names) == 1:
        assert (lost.ignored, lost.absent) == (case.lost["ignored"], case.lost["absent"])
    cuts = [case.rng.randrange(count + 1) for _ in range(3)]
    for some, restores in ((cuts, False), (range(count), True)):
        parts, found, other, _ = run_case(case, compiled, some, restores=restores)
        assert found == codes
        assert join_bytes(parts) == join_bytes(whole)
        assert other.counts == region.counts
        assert list_contents(other) == list_contents(region)
    check_cache(whole, case, texts)


def flatten(parts, case, texts):
    return [changes for _, deltas in parts for changes in decode(deltas, case.output, texts)]


def join_bytes(parts):
    """All bytes of outputs: sizes of the transactions, words, weights."""
    sizes = np.concatenate([np.diff(d.starts) for _, d in parts])
    words = np.concatenate([d.words for _, d in parts])
    weights = np.concatenate([d.weights for _, d in parts])
    return sizes.tobytes(), words.tobytes(), weights.tobytes()


def list_contents(region):
    """The contents of all stores, without their layout."""
    return [
        step.operator.store.list_counts() if hasattr(step.operator, "store") else None
        for step in region.steps
    ]


def check_cache(parts, case, texts):
    """A cache of all outputs never raises, and holds what they add up to."""
    unique = case.settings[0].get("unique") if case.operation == "upsert" else None
    cache, total = Cache(unique=unique), Counter()
    for first, deltas in parts:
        columns = RowCodec(case.output, texts).decode(deltas.words)
        times = first + np.repeat(np.arange(len(deltas.starts) - 1), np.diff(deltas.starts))
        cache.apply({"t": times, "weight": deltas.weights, **columns})
        for changes in decode(deltas, case.output, texts):
            for row, weight in changes:
                total[row] += weight
    assert cache._counts == {identity_of(row): w for row, w in total.items() if w}


def identity_of(row):
    """A row of the oracle as a cache has it."""
    kinds = {"int": int, "bool": bool, "str": str, "NoneType": type(None), "float": float}
    return tuple((float, "NaN") if c == "NaN" else (kinds[c[0]], c[1]) for c in row)


def check_chain(number, place, compiled="never"):
    """A fault at one operator of a chain of three leaves nothing behind anywhere.

    What follows is as in a run that never saw the bad transaction.
    """
    rng = random.Random(f"chain/{number}/{place}")
    schema = make_schema(["integer?", "text"])
    bad_row = identify((7, "bad"))
    names = ["a", "b", "c"]
    chain = [("union", False), ("except", True), ("intersect", False)]
    rng.shuffle(chain)
    nodes = []
    for k, (weigh, every) in enumerate(chain):
        what = {"weigh": weigh, "all": every}
        skeleton = "weighed" if k != place else "faulty"
        if k == place:
            what["bad"] = bad_row
        nodes.append((f"o{k}", skeleton, (k + 3 - 1 if k else 0, min(k + 1, 2)), k + 3, what))
    sources = [("a", {}), ("b", {"excess": "ignore"}), ("c", {"unique": ("f0",)})]
    outputs = {"last": 5, "first": 3}
    plan = make_plan(nodes, sources, [schema] * 6, outputs)
    texts = StringDictionary()
    pool = [draw_row(rng, schema) for _ in range(6)]
    bags = [BagSource(schema, **setting) for _, setting in sources]
    good, faulty = [], rng.randrange(2, 8)
    for _ in range(10):
        given = [[(rng.choice(pool), rng.choice([1, 1, 2, -1])) for _ in range(rng.randrange(4))]
                 for _ in names]  # fmt: skip
        try:
            taken = [bag.take(changes) for bag, changes in zip(bags, given, strict=True)]
        except BadBagError:
            continue
        for bag, (after, _, _) in zip(bags, taken, strict=True):
            bag.bag = after
        good.append(given)
    faulty = min(faulty, len(good))
    extra = [[(rng.choice(pool), 1), ((7, "bad"), 1)], [(rng.choice(pool), 1)], [(pool[0], 1)]]
    extra[2] = [(rng.choice(pool), -1)]
    if place == 1:
        extra[1] = []
    spoilt = [*good[:faulty], extra, *good[faulty:]]
    clean = run_chain(plan, names, schema, good, texts, compiled)
    dirty = run_chain(plan, names, schema, spoilt, texts, compiled)
    assert dirty[0] in ([], [faulty])
    if not dirty[0]:
        return False
    assert dirty[1] == clean[1]
    assert dirty[2] == clean[2]
    assert dirty[3] == clean[3]
    return True


def run_chain(plan, names, schema, transactions, texts, compiled):
    """Which transactions were bad; outputs as bytes; contents of the state; counts."""
    region = Region(plan, texts, compiled)
    deltas = {
        name: encode([t[port] for t in transactions], schema, texts)
        for port, name in enumerate(names)
    }
    at, bad, parts = 0, [], []
    while True:
        closed = region.close(
            np.arange(at, len(transactions)),
            {name: d.cut(at, len(transactions)) for name, d in deltas.items()},
        )
        parts.append(closed.outputs)
        at += closed.taken
        if closed.fault is None:
            break
        bad.append(at)
        at += 1
    found = [join_bytes([(0, part[name]) for part in parts]) for name in ("last", "first")]
    return bad, found, list_contents(region), region.counts


def make_deltas(sizes, words, weights):
    """Deltas of transactions of these sizes."""
    return Deltas(np.cumsum([0, *sizes]), words, weights)
