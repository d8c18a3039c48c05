"""What lets changes into a region: bags that check deletes, and tables with a unique key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import trim_array
from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import upserting, weighing
from rtbot.relations.output_order import net_changes
from rtbot.relations.region_operator import Fault, StatelessOperator
from rtbot.relations.row_codec import find_least
from rtbot.relations.stores import Bag, StoreOwner, choose_ahead
from rtbot.relations.weighed import Weigher
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

CONFLICT = (
    "RT402",
    "one transaction puts two different rows with one key",
    "io.conflicts: last takes the last of them, where the input has an order",
)


class SourceBag(StoreOwner):
    """A source of weighted rows: after each transaction every weight is at least 0.

    It emits the net change of every row. With the setting {"excess": "ignore"} deletes of rows that
    are not there do nothing: `ignored` int64[transactions] counts them by row.
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
        self.forgives = node.setting.get("excess", "error") == "ignore"
        how = weighing.FORGIVING_BAG if self.forgives else weighing.BAG
        self.weigher = Weigher(kernels, plan.streams[node.output], 1, how)
        self.store = self.weigher.bag
        self.emitted: Deltas | None = None
        self.ignored = self.absent = np.zeros(0, np.int64)

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take transactions, and emit the net change of every row."""
        made, code = self.weigher.take(inputs, self.weigher.how, 1)
        done = len(made.starts) - 1
        self.emitted = made if self.forgives else None
        self.ignored, self.absent = self.weigher.lost[:done], np.zeros(done, np.int64)
        if code == hash_tables.DONE:
            return made, None
        return made, self.weigher.make_fault(done, code, self.texts)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take out what the last transactions changed."""
        last = inputs[0]
        if self.forgives:
            self.emitted, last = split_emitted(self.emitted, inputs)
        self.weigher.take_back([last])


class PassingSource(StatelessOperator):
    """A source that remembers nothing: no delete can be one too many, or all its readers find it.

    Equal rows of a transaction stay apart, unless `max_delta_rows` asks how many there are.
    """

    def __init__(
        self,
        _node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        _module: ModuleType,
        _texts: StringDictionary,
    ) -> None:
        self.kernels, self.most = kernels, plan.max_delta_rows
        self.ignored = self.absent = np.zeros(0, np.int64)

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Pass all rows on."""
        given = inputs[0]
        if len(given) > self.most:
            given = net_changes(given, self.kernels)
        self.ignored = self.absent = np.zeros(len(given.starts) - 1, np.int64)
        return given, None


class SourceTable(StoreOwner):
    """A source with a unique key, whose changes are puts and deletes of keys.

    A weight above 0 puts a row, one below 0 deletes the row with its key. In one transaction puts
    win over deletes; two different puts of a key are a fault unless the setting has {"conflicts":
    "last"}. A put of the row that is there does nothing, nor does a delete of a key that is not
    there: `absent` int64[transactions] counts those.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        _module: ModuleType,
        texts: StringDictionary,
    ) -> None:
        self.kernels, self.texts = kernels, texts
        self.schema = plan.streams[node.output]
        self.last_wins = node.setting.get("conflicts", "error") == "last"
        self.store = self.bag = Bag(kernels, self.schema, 1, node.setting["unique"])
        self.emitted: Deltas | None = None
        self.ignored = self.absent = np.zeros(0, np.int64)

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take transactions, and emit deletes of old rows and inserts of new ones."""
        given, bag = inputs[0], self.bag
        transactions = len(given.starts) - 1
        words = np.empty((2 * len(given), bag.width), np.int64)
        weights, starts = np.empty(2 * len(given), np.int64), np.zeros(transactions + 1, np.int64)
        room = int(np.diff(given.starts).max(initial=0))
        scratch = [np.empty(room, np.int64) for _ in range(3)]
        absent, cursor = np.zeros(transactions, np.int64), np.zeros(weighing.CURSOR, np.int64)
        tags, ahead = bag.hash_rows(given.words), choose_ahead(self.kernels)
        while True:
            code = self.kernels.upsert_transactions(
                self.last_wins, ahead, given.starts, given.words.reshape(-1), given.weights, tags,
                bag.width,
                bag.places, bag.bits, bag.table, bag.words, bag.counts, bag.meta, *scratch, cursor,
                words.reshape(-1), weights, starts, absent,
            )  # fmt: skip
            if code != hash_tables.ROOM:
                break
            bag.grow()
        done, count = int(cursor[weighing.AT]), int(cursor[weighing.OUT])
        made = Deltas(starts[: done + 1], trim_array(words, count), trim_array(weights, count))
        self.emitted = made
        self.ignored, self.absent = np.zeros(done, np.int64), absent[:done]
        if code == upserting.CONFLICT:
            return made, self._make_fault(given.cut(done, done + 1), done)
        return made, None

    def _make_fault(self, given: Deltas, transaction: int) -> Fault:
        """Return the least of the rows that are put with one key."""
        puts = np.unique(given.words[given.weights > 0], axis=0)
        keys = puts[:, self.bag.places] & self.bag.bits
        _, group, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        row = find_least(self.schema, puts[sizes[group.ravel()] > 1], self.texts)
        return Fault(transaction, *CONFLICT, words=row)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Restore the rows that the last transactions changed."""
        self.emitted, last = split_emitted(self.emitted, inputs)
        bag = self.bag
        self.kernels.revert_upserts(
            last.starts, last.words.reshape(-1), last.weights, bag.width, bag.places, bag.bits,
            bag.table, bag.words, bag.counts, bag.meta,
        )  # fmt: skip

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned."""
        if (arrays["counts"] != 1).any():
            raise ValueError("rows with other counts than 1")
        super().restore(values, arrays)


def split_emitted(emitted: Deltas | None, inputs: Sequence[Deltas]) -> tuple[Deltas, Deltas]:
    """Split what was emitted into what stays and what the last transactions emitted."""
    assert emitted is not None, "only transactions of the last run are taken back"
    whole, back = len(emitted.starts) - 1, len(inputs[0].starts) - 1
    return emitted.cut(0, whole - back), emitted.cut(whole - back, whole)
