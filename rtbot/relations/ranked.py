"""The operator of a region that lets the first rows of an order through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.relations.kernels import join_index, ranking
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.region_operator import make_size_fault
from rtbot.relations.row_output import RowOutput
from rtbot.relations.stores import StoreOwner
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rtbot.relations.deltas import Deltas
    from rtbot.relations.region_operator import Fault
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

KEPT = 1 << 14
"""So many touched rows a transaction may have before their array is freed behind it."""


class RankedOperator(StoreOwner):
    """TopRows: the rows at some positions of every partition, or of the first ranks.

    The setting is {"by": places, "order": ((place, whether it descends), ...), "k": int, "offset":
    int, "ties": bool, "numbered": whether rows have a number}.
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
        self.kernels, self.texts = kernels, texts
        schema, setting = plan.streams[node.inputs[0]], node.setting
        self.width = plan.streams[node.output].width
        self.store = OrderedStore(kernels, schema, texts, setting["by"], setting["order"])
        rules = np.zeros(ranking.TOP_RULES, np.int64)
        rules[ranking.TOP_ROWS], rules[ranking.TOP_OFFSET] = setting["k"], setting["offset"]
        rules[ranking.TOP_TIES], rules[ranking.TOP_NUMBERED] = setting["ties"], setting["numbered"]
        rules[ranking.TOP_MOST] = plan.max_delta_rows
        rules[ranking.TOP_FIELDS], rules[ranking.TOP_WIDTH] = len(schema), self.width
        self.rules = rules
        self._scratch = np.empty((2, 1), np.int64)

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Emit what every transaction changes of the first rows."""
        [deltas] = inputs
        store, transactions = self.store, len(deltas.starts) - 1
        deltas = store.prepare(deltas)
        room = int(np.diff(deltas.starts).max(initial=1))
        if room > self._scratch.shape[1]:
            self._scratch = np.empty((2, room), np.int64)
        touched, other = self._scratch
        given = deltas.starts, deltas.words.reshape(-1), deltas.weights
        made = RowOutput(transactions, self.width, 2 * len(deltas) + 2)
        cursor = np.zeros(ranking.TOP_CURSOR, np.int64)
        while True:
            code = self.kernels.rank_transactions(
                self.rules, *given, *store.arguments, touched, other, cursor, *made.arrays
            )
            if code == hash_tables.ROOM:
                store.grow()
            elif code == join_index.ROOM_OUT:
                made.grow(int(cursor[ranking.TOP_NEEDED]))
            else:
                break
        done = int(cursor[ranking.TOP_AT])
        fault = None
        if code != hash_tables.DONE:
            fault = self._make_fault(code, touched[: cursor[ranking.TOP_COUNT]], cursor)
        if room > KEPT:
            self._scratch = np.empty((2, 1), np.int64)
        return made.cut(done), fault

    def _make_fault(self, code: int, touched: np.ndarray, cursor: np.ndarray) -> Fault:
        """Return why the transaction at the cursor is bad, which then leaves nothing behind."""
        store, at = self.store, int(cursor[ranking.TOP_AT])
        fault = None if code == join_index.TOO_MANY else store.make_fault(at, code, touched)
        store.release(touched)
        needed, most = int(cursor[ranking.TOP_NEEDED]), int(self.rules[ranking.TOP_MOST])
        return fault or make_size_fault(at, needed, most)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the changes of transactions out."""
        [deltas] = inputs
        self.store.take_back(deltas)
