"""The operator of a region that computes what depends on the order of the rows of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import ordered_search as kernel
from rtbot.relations.kernels.ordered_rows import ORDER_FULL
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.region_operator import Fault
from rtbot.relations.row_codec import MASK_BITS
from rtbot.relations.stores import StoreOwner
from rtbot.relations.weighed import MESSAGES
from rtbot.tables.hash_tables import DONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary


class OrderedGroups(StoreOwner):
    """A row for each group that has rows: its keys, the first or last value, texts put together.

    The setting is {"by": places, "order": ((place, whether it descends), ...), "compute":
    ((function, place, separator), ...)}. Rows that are equal in the order come by their fields.
    """

    store: OrderedStore

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        _module: ModuleType,
        texts: StringDictionary,
    ) -> None:
        self.source, self.target = plan.streams[node.inputs[0]], plan.streams[node.output]
        self.by, self.compute = node.setting["by"], node.setting["compute"]
        self.texts, self.kernels = texts, kernels
        order = node.setting["order"]
        self.store = OrderedStore(kernels, self.source, texts, self.by, order)

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take all transactions, or those before one that is bad."""
        [deltas] = inputs
        rows: list[list[int]] = []
        weights: list[int] = []
        starts = [0]
        fault = None
        for begin, end in zip(deltas.starts[:-1].tolist(), deltas.starts[1:].tolist(), strict=True):
            words = deltas.words[begin:end]
            groups = self._find_groups(words)
            before = [self._make_row(group) for group in groups]
            code = self.store.take(words, deltas.weights[begin:end])
            if code != DONE:
                fault = self._make_fault(len(starts) - 1, code)
                break
            after = [self._make_row(group) for group in groups]
            for row, weight in list_differences(before, after):
                rows.append(row)
                weights.append(weight)
            starts.append(len(rows))
        made = np.array(rows, np.int64).reshape(len(rows), self.target.width)
        return Deltas(np.array(starts, np.int64), made, np.array(weights, np.int64)), fault

    def _make_fault(self, bad: int, code: int) -> Fault:
        if code == ORDER_FULL:
            return self.store.make_fault(bad, code, np.zeros(0, np.int64))
        return Fault(bad, *MESSAGES[code])

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the changes of transactions out."""
        [deltas] = inputs
        self.store.take_back(deltas)

    # ---- groups

    def _find_groups(self, words: np.ndarray) -> list[np.ndarray]:
        """Return a row of every group that rows are of."""
        found = {tuple(self._copy_keys(row)): row for row in words}
        return list(found.values())

    def _copy_keys(self, row: np.ndarray) -> list[int]:
        """Return a row of the output that has the keys, and no other field."""
        made = [0] * self.target.width
        for key, place in enumerate(self.by):
            made[key] = int(row[place])
            if self._is_null(row, place):
                made[len(self.target) + key // MASK_BITS] |= 1 << key % MASK_BITS
        return made

    def _is_null(self, row: np.ndarray, place: int) -> bool:
        if not self.source.fields[place].type.nullable:
            return False
        return bool(int(row[len(self.source) + place // MASK_BITS]) >> place % MASK_BITS & 1)

    def _make_row(self, group: np.ndarray) -> list[int] | None:
        """Return what comes out for the group of a row; None if it has no rows."""
        store, ends = self.store, np.zeros(2, np.int64)
        self.kernels.find_group_ends(np.ascontiguousarray(group), ends, *store.arguments)
        first, last = ends.tolist()
        if first < 0:
            return None
        made = self._copy_keys(group)
        for number, (function, place, separator) in enumerate(self.compute, len(self.by)):
            if function == "string_agg":
                value = self._join_texts(first, last, place, separator)
            else:
                value = self._read(first if function == "first" else last, place)
            if value is None:
                made[len(self.target) + number // MASK_BITS] |= 1 << number % MASK_BITS
            else:
                made[number] = value
        return made

    def _read(self, row: int, place: int) -> int | None:
        """Return the word of a field of a row, None for null."""
        words = self.store.words[row * self.store.width : (row + 1) * self.store.width]
        return None if self._is_null(words, place) else int(words[place])

    def _join_texts(self, first: int, last: int, place: int, separator: str) -> int | None:
        """Return the code of the texts of rows, put together; None if all are null."""
        texts: list[str] = []
        for row in self._list_rows(first, last):
            code = self._read(row, place)
            if code is not None:
                texts += [self.texts.text(code) or ""] * self._count(row)
        return self.texts.code(separator.join(texts)) if texts else None

    def _count(self, row: int) -> int:
        return int(self.store.cells[row * self.store.parts + kernel.COPIES])

    def _list_rows(self, first: int, last: int) -> Iterator[int]:
        """Yield rows from one to another, in order."""
        row = first
        yield row
        while row != last:
            row = int(self.store.cells[row * self.store.parts + kernel.NEXT])
            yield row


def list_differences(
    before: Sequence[list[int] | None], after: Sequence[list[int] | None]
) -> Iterator[tuple[list[int], int]]:
    """Yield rows that are gone, and others that have come, with their weights."""
    for old, new in zip(before, after, strict=True):
        if old is not None and old != new:
            yield old, -1
        if new is not None and old != new:
            yield new, 1
