"""Rows in an order beside a sorted list: places, neighbours, sums, and what is taken back."""

import ast
import inspect
import math
import random
import re
from bisect import bisect_left
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rtbot.compiler.tiers.fixed_module import APART
from rtbot.operator.declarations import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations import ordered_store
from rtbot.relations.kernels import ordered_search as kernel
from rtbot.relations.kernels.ordered_rows import ORDER_FULL
from rtbot.relations.kernels.weighing import EXCESS, OVERFLOW
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.region_code import CHANGE_LOOPS
from rtbot.relations.row_codec import RowCodec
from rtbot.tables.hash_tables import DONE
from rtbot.tables.string_dictionary import StringDictionary

KERNELS = CHANGE_LOOPS.load("never")
SCHEMA = Schema(
    (
        Field("p", Type("integer")),
        Field("s", Type("text", nullable=True)),
        Field("x", Type("number")),
        Field("n", Type("integer", nullable=True)),
    )
)
TEXTS = ("", "a", "B", "zebra", "ä", None)
NUMBERS = (0.0, 1.5, -2.0, math.inf, -math.inf, math.nan)
INTEGERS = (None, 0, 1, -1, 2**63 - 1, -(2**63))
KINDS = {"text": TEXTS, "number": NUMBERS, "integer": INTEGERS}


def make_key(row, order):
    """A key that sorts rows: by the fields of the order, then by all."""
    keys = []
    for place, down in [*order, *((place, False) for place in range(len(row)))]:
        value = row[place]
        if value is None:
            keys.append((1, 0))
            continue
        rank = (
            (value != value, 0.0 if value != value else value)
            if isinstance(value, float)
            else value
        )
        keys.append((0, Reversed(rank) if down else rank))
    return keys


class Reversed:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return other.value < self.value

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


class Pair:
    """A store and a Counter of the same rows."""

    def __init__(self, by, order, fan=4):
        self.texts = StringDictionary()
        self.codec = RowCodec(SCHEMA, self.texts)
        self.by, self.order = by, order
        self.store = OrderedStore(KERNELS, SCHEMA, self.texts, by, order, sums=2, own=1, fan=fan)
        self.bag = Counter()

    @property
    def probing(self):
        known, _, *others = self.store.arguments
        return known, *others

    def encode(self, rows):
        columns, valid = [], []
        for place, field in enumerate(SCHEMA):
            cells = [row[place] for row in rows]
            valid.append(np.array([cell is not None for cell in cells], bool))
            if field.type.kind == "text":
                codes = np.array([self.texts.code(c) if c is not None else 0 for c in cells])
                columns.append(codes)
            else:
                dtype = np.float64 if field.type.kind == "number" else np.int64
                columns.append(np.array([0 if c is None else c for c in cells], dtype))
        words = np.zeros((len(rows), SCHEMA.width), np.int64)
        for place, field in enumerate(SCHEMA):
            given = columns[place]
            if field.type.kind == "number":
                given = (given + 0.0).view(np.int64)
            words[:, place] = np.where(valid[place], given, 0)
            if field.type.nullable:
                words[:, len(SCHEMA)] |= (~valid[place]).astype(np.int64) << place
        return words

    def take(self, changes, sign=1):
        words = self.encode([row for row, _ in changes])
        return self.store.take(words, np.array([n for _, n in changes], np.int64), sign)

    def list_sorted(self):
        """The rows, partition after partition in the order of the store."""
        first = {}
        for row in self.list_rows():
            first.setdefault(tuple(map(repr, (row[place] for place in self.by))), len(first))

        def key(row):
            return first[tuple(map(repr, (row[p] for p in self.by)))], make_key(row, self.order)

        return sorted(self.bag, key=key)

    def list_rows(self):
        words, _ = self.store.list_rows()
        return [tuple(self.codec.decode_row(row).values()) for row in words]

    def check(self):
        _, copies = self.store.list_rows()
        rows = self.list_rows()
        expected = self.list_sorted()
        assert list(map(repr, rows)) == list(map(repr, expected))
        assert copies.tolist() == [self.bag[row] for row in expected]
        arguments = self.store.arguments
        at = 0
        for row, count in zip(self.store.list_ids().tolist(), copies.tolist(), strict=True):
            assert KERNELS.sum_before(row, 0, *arguments[1:4]) == at
            assert KERNELS.find_at(at, 0, *arguments[2:4]) == row
            assert KERNELS.find_at(at + count - 1, 0, *arguments[2:4]) == row
            assert self.store.meta[kernel.PLACE_LEFT] == count - 1
            at += count
        assert KERNELS.find_at(at, 0, *arguments[2:4]) == -1
        assert KERNELS.sum_before(-1, 0, *arguments[1:4]) == at == self.store.meta[kernel.TOTAL]
        check_tree(self.store)


def check_tree(store):
    """Every node: its entries, what leads to it, first rows, sums, how full it is."""
    meta, fan = store.meta, store.fan
    nodes = store.nodes.reshape(-1)
    seen = []

    def visit(node, above, level):
        part = nodes[node * store.node_words : (node + 1) * store.node_words]
        count = part[kernel.ENTRIES]
        assert part[kernel.PARENT] == above
        assert part[kernel.LEVEL] == level
        assert count > (0 if above >= 0 else -1)
        entries = part[kernel.NODE_HEAD :].reshape(4 + store.sums, fan)[:, :count]
        seen.append(node)
        for slot in range(count):
            if level:
                first, total, heads = visit(int(entries[2, slot]), node, level - 1)
                assert first == entries[3, slot]
                assert (total == entries[4:, slot]).all()
                assert (heads == entries[:2, slot]).all()
            else:
                row = entries[3, slot]
                assert store.cells[row * store.parts + kernel.LEAF] == node
                assert store.cells[row * store.parts + kernel.COPIES] == entries[4, slot]
        first = entries[3, 0] if count else -1
        return first, entries[4:].sum(axis=1), entries[:2, 0] if count else (0, 0)

    root = int(meta[kernel.ROOT])
    level = int(nodes[root * store.node_words + kernel.LEVEL])
    assert level == meta[kernel.LEVELS]
    visit(root, -1, level)
    free, node = 0, int(meta[kernel.NODE_FREE])
    while node >= 0:
        free, node = free + 1, int(nodes[node * store.node_words + kernel.PARENT])
    assert len(seen) == len(set(seen)) == meta[kernel.NODES_USED] - free


def draw_row(dice, wide):
    values = [dice.choice(KINDS[field.type.kind]) for field in SCHEMA]
    values[0] = dice.randrange(3)
    if wide:
        values[3] = dice.choice((None, dice.randrange(200)))
    return tuple(values)


@pytest.mark.parametrize(
    ("by", "order"),
    [
        ((), ()),
        ((), ((2, True),)),
        ((0,), ((1, True), (3, True))),
        ((0,), ((3, False),)),
        ((1, 0), ((2, False),)),
        ((2,), ((2, True), (1, False))),
    ],
)
def test_rows_are_as_in_a_sorted_list(by, order):
    dice = random.Random(7)
    pair = Pair(by, order)
    for step in range(40):
        grows = step % 16 < 10
        net = Counter()
        changes = []
        for _ in range(dice.choice((1, 1, 2, 40))):
            if not grows and pair.bag:
                row = dice.choice(sorted(pair.bag, key=repr))
                change = (
                    -dice.randint(1, pair.bag[row] + net[row]) if pair.bag[row] + net[row] else 1
                )
            else:
                row, change = draw_row(dice, step % 3), dice.randint(1, 3)
            net[row] += change
            changes.append((row, change))
        dice.shuffle(changes)
        assert pair.take(changes) == DONE
        pair.bag.update(net)
        pair.bag = +pair.bag
        if step % 4 == 3:
            pair.check()
    again = Pair(by, order)
    again.texts, again.codec, again.bag = pair.texts, pair.codec, pair.bag
    again.store._labels.texts = pair.texts
    again.store.restore(*pair.store.save())
    again.check()
    everything = list(pair.bag.items())
    assert pair.take(everything, -1) == DONE
    pair.bag.clear()
    pair.check()


def test_bounds_of_partitions_and_peers():
    dice = random.Random(3)
    pair = Pair((0,), ((3, True),))
    rows = {draw_row(dice, True) for _ in range(120)}
    pair.take([(row, 1) for row in rows])
    pair.bag.update(dict.fromkeys(rows, 1))
    ordered, ids = pair.list_sorted(), pair.store.list_ids().tolist()
    part = [(row[0],) for row in ordered]
    peers = [(row[0], (row[3] is None, -(row[3] or 0))) for row in ordered]
    for row in [draw_row(dice, True) for _ in range(50)]:
        words = pair.encode([row]).reshape(-1)
        for keys, key, columns in (
            (part, (row[0],), 1),
            (peers, (row[0], (row[3] is None, -(row[3] or 0))), 2),
        ):
            for past in (False, True):
                found = KERNELS.find_before(words, 0, pair.store.spec, columns, past, *pair.probing)
                count = bisect_left(keys, key)
                count += past * keys.count(key)
                assert found == (ids[count - 1] if count else -1)


def test_own_sums_move_with_their_rows():
    dice = random.Random(5)
    pair = Pair((), ((3, False),))
    held = {}
    for _ in range(300):
        row = draw_row(dice, True)
        if row in pair.bag:
            continue
        pair.take([(row, 1)])
        pair.bag[row] = 1
        before = KERNELS.find_before(
            pair.encode([row]).reshape(-1), 0, pair.store.spec, 4, True, *pair.probing
        )
        held[row] = dice.randrange(5)
        KERNELS.add_sum(before, 1, held[row], *pair.store.arguments[1:4])
    total = 0
    for row, place in zip(pair.list_sorted(), pair.store.list_ids().tolist(), strict=True):
        assert KERNELS.sum_before(place, 1, *pair.store.arguments[1:4]) == total
        total += held[row]
    check_tree(pair.store)


def test_what_is_bad_leaves_nothing():
    pair = Pair((0,), ())
    one, other = (0, "a", 1.5, 1), (1, None, 2.0, None)
    assert pair.take([(one, 2)]) == DONE
    pair.bag[one] = 2
    for changes, code in (
        ([(one, -3)], EXCESS),
        ([(other, -1), (one, 5)], EXCESS),
        ([(one, 2**63 - 1)], OVERFLOW),
        ([(other, 2**63 - 1)], ORDER_FULL),
        ([(other, 2**63 - 1), (other, 1)], OVERFLOW),
    ):
        assert pair.take(changes) == code
        pair.check()
    extremes = [(one, -(2**63)), (one, 2**63 - 1), (other, 2**62), (other, -(2**62))]
    assert pair.take(extremes) == DONE
    pair.bag[one] = 1
    pair.check()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda v, a: (v, a | {"copies": a["copies"] * 0}), "without a copy"),
        (lambda v, a: (v, a | {"copies": a["copies"][:1]}), "int64"),
        (lambda _, a: ({"rows": 4}, {n: np.tile(x, 2) for n, x in a.items()}), "twice"),
        (lambda v, a: (v, a | {"copies": a["copies"] * (2**63 - 1)}), "more copies"),
    ],
)
def test_a_dump_that_does_not_fit(change, part):
    pair = Pair((0,), ())
    pair.take([((0, "a", 1.5, 1), 1), ((1, None, 2.0, None), 1)])
    with pytest.raises(ValueError, match=part):
        pair.store.restore(*change(*pair.store.save()))


def count_labels(store):
    return int((store._labels.labels != kernel.UNLABELLED).sum())


def make_rows(texts, key):
    return [((0, text, 0.0, key(place)), 1) for place, text in enumerate(texts)]


def test_texts_that_decide_nothing_get_no_labels():
    pair = Pair((), ((3, False), (1, True)), fan=32)
    texts = [f"url {number * 7919 % 10_000}" for number in range(10_000)]
    for at in range(0, 10_000, 2_500):
        pair.take(make_rows(texts[at : at + 2_500], lambda place, at=at: at + place))
    assert count_labels(pair.store) == 0
    assert len(pair.store) == 10_000
    pair.take([((0, "another", 0.0, 17), 1)])
    assert count_labels(pair.store) == 2
    pair.bag.update((0, text, 0.0, n) for n, text in enumerate(texts))
    pair.bag[0, "another", 0.0, 17] = 1
    assert pair.list_rows() == pair.list_sorted()


@pytest.mark.parametrize("order", [((3, False),), ((1, True),)])
def test_few_questions_are_asked_of_rows_that_differ_in_texts_alone(monkeypatch, order):
    asked = []
    answer = OrderedStore._answer
    monkeypatch.setattr(OrderedStore, "_answer", lambda store: (asked.append(1), answer(store)))
    pair = Pair((), order)
    changes = make_rows([f"url {number * 7919 % 1000}" for number in range(1000)], lambda _: 1)
    pair.take(changes)
    pair.bag.update(row for row, _ in changes)
    pair.check()
    assert len(asked) < 20


@pytest.mark.parametrize("ties", [1, 3, 50])
def test_texts_are_ordered_after_codes_are_given_again(ties):
    dice = random.Random(ties)
    pair = Pair((0,), ((3, True),))
    for step in range(30):
        changes = [
            ((0, str(dice.randrange(400)), dice.choice((0.0, 1.5)), dice.randrange(ties)), 1)
            for _ in range(dice.choice((1, 2, 30)))
        ]
        changes += [(row, -1) for row in dice.sample(sorted(pair.bag), len(pair.bag) // 2)]
        assert pair.take(changes) == DONE
        for row, weight in changes:
            pair.bag[row] += weight
        pair.bag = +pair.bag
        if step % 3 == 2:
            pair.texts.keep(pair.store.list_text_codes())
        pair.check()


def test_a_dump_with_a_code_without_a_text():
    pair = Pair((), ((3, False),))
    pair.take([((0, "a", 1.5, 1), 1), ((0, "b", 1.5, 2), 1)])
    values, arrays = pair.store.save()
    for code in (-2, 2, 2**40):
        words = arrays["words"].copy()
        words[1] = code
        with pytest.raises(ValueError, match="without a text"):
            pair.store.restore(values, {**arrays, "words": words})


def test_loops_share_their_names():
    """All loops are one module where they are compiled: a name means one thing."""
    owners = {}
    for module in CHANGE_LOOPS.modules:
        for node in ast.parse(inspect.getsource(module)).body:
            for name in list_names(node):
                owner = owners.setdefault(name, module)
                assert name == APART or vars(owner)[name] == vars(module)[name], name


def list_names(node):
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [
        part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
    ]


def test_loops_that_python_calls_are_called_by_no_other():
    """Those that others call are compiled without an entry from Python: a call would crash."""
    functions = CHANGE_LOOPS.list_functions()
    called = {name for function in functions.values() for name in function.__code__.co_names}
    folder = Path(ordered_store.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    wanted = {name for text in texts for name in re.findall(r"\bkernels\.(\w+)\(", text)}
    assert "settle_rows" in wanted
    assert not wanted & called
