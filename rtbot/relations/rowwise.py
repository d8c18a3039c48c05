"""The operators of a region that look at one row at a time: Where and Select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import distinct
from rtbot.relations.deltas import Deltas
from rtbot.relations.region_operator import Fault, StatelessOperator
from rtbot.relations.text_calls import TextCall, compute_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

CODE = "RT406"


def make_value_fault(transaction: int, place: str, words: np.ndarray) -> Fault:
    """Return that an expression has no value for a row."""
    return Fault(
        transaction,
        CODE,
        f"an expression has no value: {place}",
        "case when .. then .. end leaves out rows for which it has none",
        words=words,
    )


class RowFunctions:
    """The generated loops of expressions over rows, with what they need of texts.

    `functions` and `setting` are those of `write_row_functions` or `write_match_functions`.
    """

    def __init__(
        self,
        module: ModuleType,
        texts: StringDictionary,
        functions: Mapping[str, str],
        setting: Mapping[str, Any],
    ) -> None:
        self.module, self.texts = module, texts
        self.functions, self.setting = functions, setting
        self.levels = [
            (columns, [TextCall(*call) for call in calls]) for columns, calls in setting["levels"]
        ]
        self.ranks = np.zeros(1, np.int64)

    def compute(self, words: np.ndarray, width: int) -> tuple[np.ndarray, int, int]:
        """Return what the loop writes, `width` words for a row.

        Beside it the row without a value or -1, and the place of that.
        """
        count = len(words)
        calls = sum(len(calls) for _, calls in self.levels)
        made = _make_words(count, max(calls, 1))
        states = _make_words(count, max(calls, 1))
        codes = np.array([*map(self.texts.code, self.setting["texts"]), 0], np.int64)
        first = 0
        for number, (columns, level) in enumerate(self.levels):
            arguments = _make_words(count, max(columns, 1))
            argument_states = _make_words(count, max(columns, 1))
            self._call(f"level_{number}", words, (made, states, codes), arguments, argument_states)
            compute_calls(level, (arguments, argument_states), (made, states), first, self.texts)
            first += len(level)
        out = _make_words(count, width)
        found = np.zeros((1, 1), np.int64)
        row = self._call("rows", words, (made, states, codes), out, found)
        return out, row, int(found[0, 0])

    def _call(
        self,
        name: str,
        words: np.ndarray,
        known: tuple[np.ndarray, np.ndarray, np.ndarray],
        out: np.ndarray,
        out_states: np.ndarray,
    ) -> int:
        """Call a loop; return the row that it returns."""
        made, states, codes = known
        if self.setting["compares"]:
            self._rank(words, made, codes)
        function = getattr(self.module, self.functions[name])
        row: int = function(
            words, words.view(np.float64), made, made.view(np.float64), states,
            codes, self.ranks, out, out.view(np.float64), out_states,
        )  # fmt: skip
        return int(row)

    def _rank(self, words: np.ndarray, made: np.ndarray, codes: np.ndarray) -> None:
        """Number the texts that may be compared by their order, in place of their codes."""
        values = self.texts.values
        columns = [words[:, place] for place in self.setting["compared"]]
        found = distinct(np.concatenate([*columns, made.reshape(-1), codes]))
        present = [code for code in found.tolist() if 0 <= code < len(values)]
        if len(self.ranks) < len(values):
            self.ranks = np.zeros(2 * len(values), np.int64)
        present.sort(key=lambda code: values[code] or "")
        self.ranks[present] = np.arange(len(present))


class RowwiseOperator(StatelessOperator):
    """Rows that pass a condition (`setting["keeps"]`), or rows with other fields.

    `setting` and the functions are those of `write_row_functions`. It remembers nothing.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        _kernels: ModuleType,
        module: ModuleType,
        texts: StringDictionary,
    ) -> None:
        self.functions = RowFunctions(module, texts, node.functions, node.setting)
        self.places = node.setting["places"]
        self.keeps = bool(node.setting["keeps"])
        self.width = plan.streams[node.output].width

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take the rows of all transactions; those before a row that has no value."""
        (deltas,) = inputs
        if not len(deltas):
            return Deltas(deltas.starts, _make_words(0, self.width), deltas.weights), None
        out, row, place = self.functions.compute(deltas.words, 1 if self.keeps else self.width)
        if row < 0:
            return self._make_output(deltas, out), None
        transaction = int(np.searchsorted(deltas.starts, row, side="right")) - 1
        fault = make_value_fault(transaction, self.places[place], deltas.words[row])
        before = deltas.cut(0, transaction)
        return self._make_output(before, out[: len(before)]), fault

    def _make_output(self, deltas: Deltas, out: np.ndarray) -> Deltas:
        if not self.keeps:
            return Deltas(deltas.starts, out, deltas.weights)
        kept = out[:, 0] != 0
        if kept.all():
            return deltas
        before = np.concatenate([[0], np.cumsum(kept)])
        return Deltas(before[deltas.starts], deltas.words[kept], deltas.weights[kept])

    def count_bytes(self) -> int:
        """Return the bytes of the ranks of texts."""
        return self.functions.ranks.nbytes


def _make_words(rows: int, width: int) -> np.ndarray:
    return np.zeros((rows, width), np.int64)
