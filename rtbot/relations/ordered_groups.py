"""The operator of a region that computes what depends on the order of the rows of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import grow_array
from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import join_index
from rtbot.relations.kernels import ordered_grouping as kernel
from rtbot.relations.kernels.ordered_rows import ORDER_FULL
from rtbot.relations.kernels.ranking import TOP_AT, TOP_COUNT, TOP_NEEDED
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.region_operator import Fault
from rtbot.relations.row_codec import find_nulls, locate_null
from rtbot.relations.row_output import RowOutput
from rtbot.relations.stores import StoreOwner
from rtbot.relations.weighed import MESSAGES
from rtbot.tables.hash_tables import DONE, ROOM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rtbot.operator.schema import Schema
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

SOURCES = {
    "first": kernel.FIRST_ROW,
    "last": kernel.LAST_ROW,
    "string_agg": kernel.ALL_ROWS,
}
"""Which rows of a group a function reads."""


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
        source, target = plan.streams[node.inputs[0]], plan.streams[node.output]
        by, compute = node.setting["by"], node.setting["compute"]
        self.texts, self.kernels, self.target = texts, kernels, target
        self.store = OrderedStore(kernels, source, texts, by, node.setting["order"])
        read = [*(("first", place) for place in by), *((name, place) for name, place, _ in compute)]
        self._fields = make_fields(source, target, read)
        self._separators = {
            field: separator
            for field, (name, _, separator) in enumerate(compute, len(by))
            if name == "string_agg"
        }

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take all transactions, or those before one that is bad."""
        [deltas] = inputs
        store, transactions = self.store, len(deltas.starts) - 1
        deltas = store.prepare(deltas)
        touched, other = np.empty((2, int(np.diff(deltas.starts).max(initial=1))), np.int64)
        given = deltas.starts, deltas.words.reshape(-1), deltas.weights
        made = RowOutput(transactions, self.target.width, 2 * len(deltas))
        pieces = np.empty(4 * len(deltas) if self._separators else 0, np.int64)
        cursor = np.zeros(kernel.PIECES_CURSOR, np.int64)
        while True:
            code = self.kernels.group_in_order(
                self._fields, self.target.width, *given, *store.arguments, touched, other, cursor,
                *made.arrays, pieces,
            )  # fmt: skip
            if code == ROOM:
                store.grow()
            elif code == join_index.ROOM_OUT:
                pieces = grow_array(pieces, max(int(cursor[TOP_NEEDED]), 2 * len(pieces)), 0)
            else:
                break
        done = made.cut(int(cursor[TOP_AT]))
        done = self._join_texts(done, pieces) if self._separators else done
        if code == DONE:
            return done, None
        return done, self._make_fault(code, touched[: cursor[TOP_COUNT]], int(cursor[TOP_AT]))

    def _make_fault(self, code: int, touched: np.ndarray, at: int) -> Fault:
        """Return why a transaction is bad, which then leaves nothing behind."""
        self.store.release(touched)
        if code == ORDER_FULL:
            return self.store.make_fault(at, code, touched)
        return Fault(at, *MESSAGES[code])

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the changes of transactions out."""
        [deltas] = inputs
        self.store.take_back(deltas)

    # ---- texts

    def _join_texts(self, made: Deltas, pieces: np.ndarray) -> Deltas:
        """Return rows with the codes of texts put together; what is the same again is left out."""
        words, given = made.words.copy(), pieces.tolist()
        for field, separator in self._separators.items():
            nulls = find_nulls(self.target, words, field)
            rows = range(len(words)) if nulls is None else np.flatnonzero(~nulls).tolist()
            for row in rows:
                text = self._join_pieces(given, int(words[row, field]), separator)
                words[row, field] = self.texts.code(text)
        weights = made.weights
        pairs = (weights[:-1] == -1) & (weights[1:] == 1) & (words[:-1] == words[1:]).all(axis=1)
        kept = np.ones(len(weights), np.bool_)
        kept[:-1][pairs] = kept[1:][pairs] = False
        starts = np.concatenate([[0], np.cumsum(kept)])[made.starts]
        return Deltas(starts, words[kept], weights[kept])

    def _join_pieces(self, given: Sequence[int], at: int, separator: str) -> str:
        """Return the texts whose codes and copies are at a place, put together."""
        texts: list[str] = []
        for place in range(at + 1, at + 1 + 2 * given[at], 2):
            texts += [self.texts.text(given[place]) or ""] * given[place + 1]
        return separator.join(texts)


def make_fields(source: Schema, target: Schema, read: Sequence[tuple[str, int]]) -> np.ndarray:
    """Return what the loop is told: the function and the place that each field is of."""
    fields = np.zeros((len(read), kernel.PARTS), np.int64)
    for number, (row, (function, place)) in enumerate(zip(fields, read, strict=True)):
        row[kernel.SOURCE], row[kernel.PLACE_OF] = SOURCES[function], place
        row[[kernel.NULL_OF, kernel.NULL_BIT_OF]] = locate_null(source, place)
        row[[kernel.NULL_TO, kernel.NULL_BIT_TO]] = locate_null(target, number)
    return fields.reshape(-1)
