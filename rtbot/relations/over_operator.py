"""The operator of a region that computes window functions over rows in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import over_rows
from rtbot.relations.kernels import window_values as code
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.over_layout import OverLayout
from rtbot.relations.region_operator import Fault, make_size_fault
from rtbot.relations.row_output import RowOutput
from rtbot.relations.stores import StoreOwner
from rtbot.tables.hash_tables import DONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

CODE_OVERFLOW = "RT213"
FEW = 64
"""So many rows have room in the output at first."""


class OverOperator(StoreOwner):
    """Every row with what window functions compute of the rows around it.

    The setting is that of OverLayout. `visited` is how many rows were passed.
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
        self.layout = OverLayout(node.setting, source, target)
        self.texts, self.most = texts, plan.max_delta_rows
        self.store = OrderedStore(
            kernels,
            source,
            texts,
            node.setting["by"],
            node.setting["order"],
            own=sum(self.layout.cells),
            labelled=self.layout.list_compared(),
        )
        self._kernels = kernels
        self._scratch = np.empty((2, 1), np.int64)
        self.visited = 0

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take all transactions, or those before one that is bad."""
        [deltas] = inputs
        transactions = len(deltas.starts) - 1
        made = RowOutput(transactions, self.layout.target.width, FEW + 4 * len(deltas))
        plan = self._make_plan(deltas)
        result = self._call(deltas, 1, plan, made)
        if result == DONE:
            return made.cut(transactions), None
        has_taken = result in (over_rows.TOO_LARGE, over_rows.EMITS_TOO_MANY)
        bad = int(plan[code.AT_TRANSACTION]) - has_taken
        fault = self._make_fault(result, bad, plan, int(made.starts[bad]))
        if has_taken:
            self.take_back([deltas.cut(bad, bad + 1)])
        return made.cut(bad), fault

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions out of the state, all of them as one."""
        [deltas] = inputs
        whole = Deltas(deltas.starts[[0, -1]], deltas.words, deltas.weights)
        none = RowOutput(1, self.layout.target.width, 0)
        result = self._call(whole, -1, self._make_plan(deltas), none)
        assert result == DONE, "what was taken can be taken back"

    def _make_plan(self, deltas: Deltas) -> np.ndarray:
        return self.layout.make_plan(self.texts, len(self.store) + len(deltas))

    def _call(self, deltas: Deltas, sign: int, plan: np.ndarray, made: RowOutput) -> int:
        """Run the loop, and grow what is full, until it is done or finds a fault."""
        store = self.store
        deltas = store.prepare(deltas)
        most = int(np.diff(deltas.starts).max(initial=0))
        if most > self._scratch.shape[1]:
            self._scratch = np.empty((2, 2 * most), np.int64)
        given = deltas.starts, deltas.words.reshape(-1), deltas.weights
        while True:
            plan[code.OUT_LIMIT] = len(made.weights)
            result: int = self._kernels.take_over(
                sign, sign > 0, self.most, *given, len(deltas.starts) - 1, *store.arguments,
                plan, plan.view(np.float64), *self._scratch, *made.arrays,
            )  # fmt: skip
            if result == over_rows.STORE_FULL:
                store.grow()
            elif result == over_rows.OUTPUT_FULL:
                made.grow(int(plan[code.AT_OUT] + plan[code.OUT_NEEDED]))
            else:
                break
        self.visited += int(plan[code.VISITED])
        return result

    def _make_fault(self, result: int, bad: int, plan: np.ndarray, begin: int) -> Fault:
        """Return why a transaction is bad; one that is not taken leaves nothing behind."""
        if result == over_rows.EMITS_TOO_MANY:
            return make_size_fault(bad, int(plan[code.AT_OUT]) - begin, self.most)
        store = self.store
        if result == over_rows.TOO_LARGE:
            row = int(plan[code.BAD_ROW]) * store.width
            name = self.layout.target.fields[self.layout.fields + int(plan[code.BAD_ITEM])].name
            message = f"the sum {name} is beyond 64 bits"
            hint = "sum numbers: a cast to number keeps the leading 53 bits"
            words = store.words[row : row + store.width].copy()
            return Fault(bad, CODE_OVERFLOW, message, hint, words=words)
        touched = self._scratch[0, : plan[code.AT_COUNT]]
        fault = store.make_fault(bad, result, touched)
        store.release(touched)
        return fault

    # ---- state

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self.store.restore(values, arrays)
        if sum(self.layout.cells):
            known, cells, _, meta, spec, labels = self.store.arguments
            plan = self.layout.make_plan(self.texts, len(self.store))
            floats = plan.view(np.float64)
            self._kernels.sum_rows_again(known, cells, meta, spec, labels, plan, floats)
