"""The operator of a region that computes window functions over rows in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.tiers.background import BACKGROUND
from rtbot.core.arrays import trim_array
from rtbot.core.modes import BESIDE, choose_mode
from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import over_rows
from rtbot.relations.kernels import window_values as code
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.over_layout import OverLayout
from rtbot.relations.over_loops import OVER_LOOPS
from rtbot.relations.region_operator import Fault, make_size_fault
from rtbot.relations.weighed import MESSAGES
from rtbot.tables.hash_tables import DONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

CODE_OVERFLOW = "RT213"
FEW = 64
"""So many rows have room in the output at first."""


class OverOperator:
    """Every row with what window functions compute of the rows around it.

    The setting is that of OverLayout.
    """

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
        )
        self._mode = choose_mode()
        self._loops = OVER_LOOPS.load(self._mode)
        self._touched = self._other = np.zeros(0, np.int64)
        self.visited = 0

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take all transactions, or those before one that is bad."""
        [deltas] = inputs
        out = _Output(FEW + 4 * len(deltas), self.layout.target.width)
        starts = np.zeros(len(deltas.starts), np.int64)
        plan = self.layout.make_plan(self.texts)
        result = self._call(deltas, 1, plan, out, starts)
        done = int(plan[code.AT_TRANSACTION])
        if result == DONE:
            return out.cut(starts), None
        if result in (over_rows.TOO_LARGE, over_rows.TOO_MANY):
            done -= 1
        fault = self._make_fault(result, done, plan, int(starts[done]))
        if result in (over_rows.TOO_LARGE, over_rows.TOO_MANY):
            self.take_back([deltas.cut(done, done + 1)])
        return out.cut(starts[: done + 1]), fault

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions out of the state, all of them as one."""
        [deltas] = inputs
        whole = Deltas(np.array([0, len(deltas)]), deltas.words, deltas.weights)
        starts = np.zeros(2, np.int64)
        none = _Output(0, self.layout.target.width)
        result = self._call(whole, -1, self.layout.make_plan(self.texts), none, starts)
        assert result == DONE, "what was taken can be taken back"

    def _call(
        self, deltas: Deltas, sign: int, plan: np.ndarray, out: _Output, starts: np.ndarray
    ) -> int:
        """Run the loop, and grow what is full, until it is done or finds a fault."""
        self.store.prepare(deltas.words)
        most = int(np.diff(deltas.starts).max(initial=0))
        if most > len(self._touched):
            self._touched, self._other = np.zeros(2 * most, np.int64), np.zeros(2 * most, np.int64)
        words = deltas.words.reshape(-1)
        while True:
            plan[code.OUT_LIMIT] = len(out.weights)
            result: int = self._loops.take_over(
                sign, sign > 0, self.most, deltas.starts, words, deltas.weights,
                len(deltas.starts) - 1, *self.store.arguments, plan, plan.view(np.float64),
                self._touched, self._other, out.words.reshape(-1), out.weights, starts,
            )  # fmt: skip
            if result == over_rows.STORE_FULL:
                self.store.grow()
            elif result == over_rows.OUTPUT_FULL:
                out.grow(int(plan[code.AT_OUT]), int(plan[code.NEEDED]))
            else:
                break
        self.visited += int(plan[code.VISITED])
        return result

    def _make_fault(self, result: int, bad: int, plan: np.ndarray, begin: int) -> Fault:
        if result == over_rows.TOO_MANY:
            return make_size_fault(bad, int(plan[code.AT_OUT]) - begin, self.most)
        width = self.store.width
        row = int(plan[code.BAD_ROW]) * width
        words = self.store.words[row : row + width].copy()
        if result == over_rows.TOO_LARGE:
            name = self.layout.target.fields[self.layout.fields + int(plan[code.BAD_ITEM])].name
            message = f"the sum {name} is beyond 64 bits"
            hint = "sum numbers: a cast to number keeps the leading 53 bits"
            return Fault(bad, CODE_OVERFLOW, message, hint, words=words)
        return Fault(bad, *MESSAGES[result], words=words)

    # ---- state

    def count_bytes(self) -> int:
        """Return the bytes of its rows."""
        return self.store.count_bytes()

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in its rows."""
        return self.store.list_text_codes()

    def save(self) -> Saved:
        """Return its rows."""
        return self.store.save()

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self.store.restore(values, arrays)
        if not sum(self.layout.cells):
            return
        known, cells, _, meta, spec, labels = self.store.arguments
        plan = self.layout.make_plan(self.texts)
        self._loops.sum_again(known, cells, meta, spec, labels, plan, plan.view(np.float64))


class _Output:
    """Room for the rows that a call emits."""

    def __init__(self, count: int, width: int) -> None:
        self.words = np.empty((count, width), np.int64)
        self.weights = np.empty(count, np.int64)

    def grow(self, used: int, needed: int) -> None:
        """Make room for so many rows behind those used; pages that no row reaches cost nothing."""
        room = max(used + needed, len(self.weights) * 3 // 2)
        for name in ("words", "weights"):
            before = getattr(self, name)
            after = np.empty((room, *before.shape[1:]), np.int64)
            after[:used] = before[:used]
            setattr(self, name, after)

    def cut(self, starts: np.ndarray) -> Deltas:
        """Return the rows of the transactions that begin at `starts`."""
        count = int(starts[-1])
        return Deltas(starts, trim_array(self.words, count), trim_array(self.weights, count))
