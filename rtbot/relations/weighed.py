"""Operators that weigh rows: set operations, and sources that are bags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import trim_array
from rtbot.relations.deltas import Deltas, make_empty_deltas
from rtbot.relations.kernels import weighing
from rtbot.relations.region_operator import Fault, StatelessOperator
from rtbot.relations.row_codec import find_least
from rtbot.relations.stores import Bag, StoreOwner, choose_ahead
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rtbot.operator.schema import Schema
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

MEANINGS = {
    ("union", False): weighing.ANY,
    ("intersect", False): weighing.ALL,
    ("except", False): weighing.FIRST_ONLY,
    ("distinct", False): weighing.ANY,
    ("intersect", True): weighing.LEAST,
    ("except", True): weighing.REST,
}
"""How rows are weighed, by operation and whether it is with `all`."""

COUNT_CODES = ("RT401", "RT404")
"""Codes of faults of the counts at one port."""

MESSAGES = {
    weighing.OVERFLOW: (
        "RT404",
        "a row would be there more than 2**63 - 1 times",
        "weights are counts of copies; look for one that is something else",
    ),
    weighing.EXCESS: (
        "RT401",
        "a row is deleted more often than it is there",
        "io.excess: ignore takes no notice of such deletes and counts them",
    ),
}


class Weigher:
    """A bag with the loop over its transactions."""

    def __init__(self, kernels: ModuleType, schema: Schema, ports: int, how: int) -> None:
        self.kernels, self.how = kernels, how
        self.bag = Bag(kernels, schema, ports)
        self.blamed = np.empty(0, np.int64)
        self.lost = np.zeros(0, np.int64)
        self._room = -1

    def take(self, inputs: Sequence[Deltas], how: int, sign: int) -> tuple[Deltas, int]:
        """Take transactions; return their changes and the code of the loop.

        `lost` then has what was forgiven in each, and `blamed` the rows of a bad one.
        """
        starts, words, weights, transactions = join_ports(inputs)
        self._make_room(starts, transactions, len(inputs))
        rows = len(weights) if how != weighing.NOTHING else 0
        out_words = np.empty((rows, self.bag.width), np.int64)
        out_weights, out_starts = np.empty(rows, np.int64), np.zeros(transactions + 1, np.int64)
        self.lost = np.zeros(transactions, np.int64)
        cursor = np.zeros(weighing.CURSOR, np.int64)
        bag, flat = self.bag, words.reshape(-1)
        tags, ahead = bag.hash_rows(words), choose_ahead(self.kernels)
        while True:
            code = self.kernels.weigh_transactions(
                how, sign, ahead, starts, flat, weights, tags, bag.ports, bag.width, bag.places,
                bag.bits,
                bag.table, bag.words, bag.counts, bag.meta, *self._scratch, cursor,
                out_words.reshape(-1), out_weights, out_starts, self.lost,
            )  # fmt: skip
            if code != hash_tables.ROOM:
                break
            bag.grow()
        done, count = int(cursor[weighing.AT]), int(cursor[weighing.OUT])
        if code != hash_tables.DONE:
            self.blamed = words[self._scratch[1][: cursor[weighing.BLAMED]]]
        made = Deltas(
            out_starts[: done + 1], trim_array(out_words, count), trim_array(out_weights, count)
        )
        return made, int(code)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the changes of transactions out."""
        whole = [Deltas(d.starts[[0, -1]], d.words, d.weights) for d in inputs]
        _, code = self.take(whole, weighing.NOTHING, -1)
        assert code == hash_tables.DONE, "what was taken can be taken back"

    def make_fault(
        self, transaction: int, code: int, texts: StringDictionary, port: int = 0
    ) -> Fault:
        """Return why a transaction is bad, with the least of the rows to blame."""
        row = find_least(self.bag.schema, self.blamed, texts)
        return Fault(transaction, *MESSAGES[code], port=port, words=row)

    def _make_room(self, starts: np.ndarray, transactions: int, ports: int) -> None:
        """Make arrays for the rows of the largest transaction."""
        sizes = np.diff(starts.reshape(ports, transactions + 1)).sum(axis=0)
        room = int(sizes.max(initial=0))
        if room > self._room:
            self._room = room
            cells = room * ports
            self._scratch = [np.empty(n, np.int64) for n in (room, room, cells, cells, cells)]


def join_ports(
    inputs: Sequence[Deltas],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return starts of all ports, words, weights and the number of transactions."""
    transactions = len(inputs[0].starts) - 1
    if len(inputs) == 1:
        one = inputs[0]
        return one.starts, one.words, one.weights, transactions
    begins = np.cumsum([0, *(len(d) for d in inputs[:-1])])
    starts = np.concatenate([d.starts + b for d, b in zip(inputs, begins, strict=True)])
    words = np.concatenate([d.words for d in inputs])
    return starts, words, np.concatenate([d.weights for d in inputs]), transactions


class SetOperation(StoreOwner):
    """Union, Intersect, Except or Distinct: `weigh` of the counts of a row at all ports.

    The setting is {"weigh": union, intersect, except or distinct, "all": bool}.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        _module: ModuleType,
        texts: StringDictionary,
    ) -> None:
        self.texts = texts
        schemas = [plan.streams[stream] for stream in node.inputs]
        self.schema = max(schemas, key=lambda schema: schema.width)
        self.width = plan.streams[node.output].width
        operation = node.setting.get("weigh", node.operator.lower())
        how = MEANINGS[operation, bool(node.setting.get("all"))]
        self.weigher = Weigher(kernels, self.schema, len(node.inputs), how)
        self.store = self.weigher.bag

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Emit, for every row of a transaction, the change of its weight."""
        widened = [fit_width(deltas, self.schema.width) for deltas in inputs]
        made, code = self.weigher.take(widened, self.weigher.how, 1)
        made = fit_width(made, self.width)
        if code == hash_tables.DONE:
            return made, None
        return made, self._find_fault(widened, len(made.starts) - 1)

    def _find_fault(self, inputs: Sequence[Deltas], bad: int) -> Fault:
        """Return the fault of the first port whose rows make a transaction bad."""
        nothing = make_empty_deltas(1, self.schema.width)
        for port, deltas in enumerate(inputs):
            alone = [nothing] * len(inputs)
            alone[port] = deltas.cut(bad, bad + 1)
            _, code = self.weigher.take(alone, self.weigher.how, 1)
            if code != hash_tables.DONE:
                return self.weigher.make_fault(bad, code, self.texts, port)
            self.weigher.take_back(alone)
        raise AssertionError("no port is bad")

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions out of the counts."""
        self.weigher.take_back([fit_width(deltas, self.schema.width) for deltas in inputs])


class Concatenation(StatelessOperator):
    """Union with `all`: the changes of all ports; it remembers nothing."""

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        _kernels: ModuleType,
        _module: ModuleType,
        _texts: StringDictionary,
    ) -> None:
        self.width = plan.streams[node.output].width

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Put the changes of all ports together, transaction by transaction."""
        widened = [fit_width(deltas, self.width) for deltas in inputs]
        if len(widened) == 1:
            return widened[0], None
        starts = np.sum([deltas.starts for deltas in widened], axis=0)
        owner = np.concatenate(
            [np.repeat(np.arange(len(starts) - 1), np.diff(d.starts)) for d in widened]
        )
        order = np.argsort(owner, kind="stable")
        words = np.concatenate([d.words for d in widened])[order]
        return Deltas(starts, words, np.concatenate([d.weights for d in widened])[order]), None


def make_set_operation(
    node: RegionNode,
    plan: RegionPlan,
    kernels: ModuleType,
    module: ModuleType,
    texts: StringDictionary,
) -> SetOperation | Concatenation:
    """Return the operator of a node whose skeleton is `weighed`."""
    operation = node.setting.get("weigh", node.operator.lower())
    adds = operation == "union" and node.setting.get("all")
    make = Concatenation if adds else SetOperation
    return make(node, plan, kernels, module, texts)


def fit_width(deltas: Deltas, width: int) -> Deltas:
    """Return the same rows with masks of nulls added, or left out where nothing is null."""
    given = deltas.words.shape[1]
    if given == width:
        return deltas
    words = np.zeros((len(deltas), width), np.int64)
    words[:, : min(given, width)] = deltas.words[:, : min(given, width)]
    return Deltas(deltas.starts, words, deltas.weights)
