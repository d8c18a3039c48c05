"""Conditions of joins: Python evaluates them for many pairs at once, between two loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.relations.kernels import join_index as index
from rtbot.relations.kernels import join_output as output
from rtbot.relations.kernels import matching, weighing
from rtbot.relations.region_operator import Fault
from rtbot.relations.row_codec import find_least
from rtbot.relations.rowwise import RowFunctions, make_value_fault
from rtbot.relations.weighed import MESSAGES

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from rtbot.relations.join_store import JoinSide
    from rtbot.relations.joined import Batch
    from rtbot.relations.region_plan import RegionNode
    from rtbot.tables.string_dictionary import StringDictionary

PAIRS_AT_ONCE = 1 << 14
TRUE = 1
TOO_OFTEN = -1
"""Flags of entries: the condition is true; the pair would be there too often to be counted.

From FAULT on they are places at which the condition has no value.
"""


class JoinCondition:
    """The condition of a join with the loops that need it."""

    def __init__(
        self,
        node: RegionNode,
        kernels: ModuleType,
        module: ModuleType,
        texts: StringDictionary,
        sides: list[JoinSide],
    ) -> None:
        self.kernels, self.texts, self.sides = kernels, texts, sides
        setting: Any = node.setting["condition"]
        self.places, self.width = setting["places"], setting["width"]
        self.functions = RowFunctions(module, texts, node.functions, setting)
        self._visited = [np.empty(0, np.int64)] * 2

    def decide(self, log: np.ndarray, rules: np.ndarray) -> np.ndarray:
        """Return int64 by entry: TRUE for pairs that match, 0 for others, or why there is none."""
        flags = np.zeros(len(log), np.int64)
        pairs = np.flatnonzero((log[:, 0] >= 0) & (log[:, 1] >= 0))
        left, right = self.sides
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            some = pairs[first : first + PAIRS_AT_ONCE]
            rows = np.zeros((len(some), self.width), np.int64)
            self.kernels.write_candidates(
                rules, log[some].reshape(-1), self.width, left.words, right.words, rows.reshape(-1)
            )
            out, _, _ = self.functions.compute(rows, 1)
            flags[some] = out[:, 0]
        if rules[output.PAIRS]:
            flags[(flags == TRUE) & (_exceed(log[:, 2:6:2]) | _exceed(log[:, 3:6:2]))] = TOO_OFTEN
        return flags

    def find_fault(
        self, log: np.ndarray, flags: np.ndarray, starts: np.ndarray, first: int, last: int
    ) -> Fault | None:
        """Return the first of the transactions first to last - 1 that has a pair without a flag."""
        bad = np.flatnonzero((flags < 0) | (flags > TRUE))
        if not len(bad):
            return None
        bounds = starts[first : last + 1]
        at = int(np.searchsorted(bounds, bad[0], side="right")) - 1
        bad = bad[bad < bounds[at + 1]]
        flag = int(flags[bad].min())
        side = self.sides[0]
        words = side.words.reshape(-1, side.width)[log[bad[flags[bad] == flag], 0]]
        row = find_least(side.schema, words, self.texts)
        if flag == TOO_OFTEN:
            return Fault(first + at, *MESSAGES[weighing.OVERFLOW], words=row)
        return make_value_fault(first + at, self.places[flag - TRUE - 1], row)

    def settle(self, batch: Batch, flags: np.ndarray, last: int) -> int:
        """Count what matches up to a transaction, and emit what changes; how many rows are out."""
        left, right = self.sides
        for number in range(2):
            room = matching.VISIT_PARTS * (len(flags) + 1)
            if len(self._visited[number]) < room:
                self._visited[number] = np.zeros(2 * room, np.int64)
        cursor = np.zeros(index.JOIN_CURSOR, np.int64)
        cursor[index.JOINED] = batch.count
        self.kernels.settle_transactions(
            batch.rules, batch.settled, last, batch.log, batch.log_starts, flags,
            batch.given[1], batch.given[4], left.words, left.matches, self._visited[0],
            right.words, right.matches, self._visited[1], np.zeros(2, np.int64), cursor,
            batch.words.reshape(-1), batch.weights, batch.starts,
        )  # fmt: skip
        return int(cursor[index.JOINED])


def _exceed(weights: np.ndarray) -> np.ndarray:
    """Return which products of two weights are beyond int64."""
    one, other = weights[:, 0], weights[:, 1]
    found: np.ndarray = one > weighing.MOST // np.maximum(other, 1)
    return found
