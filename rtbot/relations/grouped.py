"""The operator of a region that groups rows: its state, and its loop over transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.tiers.tiered_module import InterpretedFunction
from rtbot.core.arrays import grow_array, trim_array
from rtbot.numeric.exact.digits import SCRATCH_DIGITS
from rtbot.relations import group_counters as code
from rtbot.relations.deltas import Deltas
from rtbot.relations.group_code import CALL_PARAMETERS, list_parameters
from rtbot.relations.group_layout import EMITTED, FLAGS, TOUCHED, make_layout
from rtbot.relations.group_store import GroupStore
from rtbot.relations.region_operator import Fault
from rtbot.relations.text_order import TextOrder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.operator.schema import Schema
    from rtbot.relations.region_plan import RegionNode
    from rtbot.relations.row_buffer import RowBuffer
    from rtbot.tables.string_dictionary import StringDictionary

FULL = (code.FULL_GROUPS, code.FULL_BLOCKS, code.FULL_NODES, code.FULL_TEXT_NODES)
CODE_OVERFLOW = "RT213"


NOUGHTS = memoryview(np.zeros(code.ROWS_OUT + 1, np.int64))

FEW = 64
"""So many rows are written to arrays that stay."""


class _Output:
    """Room for the rows that a call of the loop emits."""

    def __init__(self, count: int, width: int) -> None:
        self.rows = np.empty((count, width), np.int64)
        self.flat = self.rows.reshape(-1)
        self.floats = self.flat.view(np.float64)
        self.weights = np.empty(count, np.int64)

    def cut(self, starts: np.ndarray) -> Deltas:
        """Return the rows of the transactions that begin at `starts`."""
        count = int(starts[-1])
        if len(self.rows) <= FEW:
            return Deltas(starts, self.rows[:count].copy(), self.weights[:count].copy())
        return Deltas(starts, trim_array(self.rows, count), trim_array(self.weights, count))


class GroupedOperator:
    """A row for each group of rows with equal keys, and its aggregates.

    `functions` has the loop `node.functions["loop"]` of `write_group_functions` as an attribute at
    the time of a call, and that of the table. Without keys there is one group, whose row over
    nothing is released by the first transaction of all: `begins_early` asks for one before any
    change.
    """

    def __init__(
        self,
        node: RegionNode,
        streams: Sequence[Schema],
        functions: Any,
        texts: StringDictionary,
    ) -> None:
        self.layout = make_layout(node.setting, streams[node.inputs[0]], streams[node.output])
        self.store = GroupStore(self.layout)
        self.begins_early = not self.layout.by
        self._functions, self._name = functions, node.functions["loop"]
        self._order = TextOrder(texts)
        self._text_places = self._find_text_places()
        self._parameters = [
            name for name in list_parameters(self.layout) if name not in CALL_PARAMETERS
        ]
        self._touched = np.zeros(FEW, np.int64)
        self._few = _Output(FEW, self.layout.target.width)
        self._scratch = np.zeros(SCRATCH_DIGITS, np.int64)
        self._collect_arguments()

    def _find_text_places(self) -> list[int]:
        keys = self.layout.places
        return [k.place for k in keys if k.name == "tree" and self.layout.kind(k.place) == "text"]

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take all transactions, or those before one that is bad."""
        [deltas] = inputs
        transactions = len(deltas.starts) - 1
        first = self._begin(transactions)
        starts = np.zeros(transactions + 1, np.int64)
        out = self._find_output(2 * len(deltas.weights) + 2)
        result = self._call(deltas, 1, out, starts)
        if result == code.DONE:
            return out.cut(starts), None
        bad, row = self._counters[code.TRANSACTION : code.ROW + 1].tolist()
        fault, made = self._describe_fault(result, deltas, bad, row), out.cut(starts[: bad + 1])
        self._undo(deltas, int(deltas.starts[bad]), row)
        if first and bad == 0:
            self.store.records.rows[1, FLAGS] &= ~EMITTED
        return made, fault

    def take_few(self, rows: RowBuffer, arguments: Sequence[Any]) -> tuple[int, int]:
        """Take one transaction of few rows; return the code of the loop, and the row it came to.

        `arguments` are those of a call. If the code is not DONE, `undo_few` has to follow.
        """
        self._heads[: code.ROWS_OUT + 1] = NOUGHTS
        if self._text_places:
            self._prepare(rows.copy())
        result = self._call_loop(arguments)
        return result, self._heads[code.ROW]

    def undo_few(self, deltas: Deltas, row: int) -> None:
        """Take back the rows before `row` of a transaction that is bad."""
        self._undo(deltas, 0, row)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions out of the state: all of their rows at once, with opposite weights."""
        [deltas] = inputs
        self._undo(deltas, 0, len(deltas))

    def _begin(self, transactions: int) -> bool:
        """Let the first transaction release the row over nothing; return whether it will."""
        counters = self._counters
        counters[: code.ROWS_OUT + 1] = 0
        if not self.begins_early or not transactions:
            return False
        record = self.store.records.rows[1]
        if record[FLAGS] & EMITTED:
            return False
        record[FLAGS] |= TOUCHED
        self._touched[0] = 1
        counters[code.COUNT] = 1
        return True

    def _undo(self, deltas: Deltas, begin: int, end: int) -> None:
        """Take rows back; groups that a bad transaction has touched are settled as well."""
        counters = self._counters
        counters[[code.TRANSACTION, code.ROW, code.ROWS_OUT]] = 0
        starts = np.array([0, end - begin], np.int64)
        part = Deltas(starts, deltas.words[begin:end], deltas.weights[begin:end])
        out = self._find_output(2 * (end - begin + int(counters[code.COUNT])) + 2)
        result = self._call(part, -1, out, np.zeros(2, np.int64))
        assert result == code.DONE, "what was taken can be taken back"

    def _find_output(self, count: int) -> _Output:
        """Return room for so many rows; where they are few it is the same again and again."""
        if count <= FEW:
            return self._few
        return _Output(count, self.layout.target.width)

    def _call(self, deltas: Deltas, sign: int, out: _Output, starts: np.ndarray) -> int:
        """Run the loop, and grow what is full, until it is done or finds a fault."""
        words = deltas.words.reshape(-1)
        arguments = (
            deltas.starts, words, words.view(np.float64), deltas.weights, len(starts) - 1, sign,
            out.flat, out.floats, out.weights, starts,
        )  # fmt: skip
        self._prepare(deltas)
        is_plain = isinstance(getattr(self._functions, self._name), InterpretedFunction)
        self._counters[code.AHEAD] = 0 if is_plain else code.MOST_AHEAD
        result = self._call_loop(arguments)
        self._counters[code.AHEAD] = 0
        return result

    def _call_loop(self, arguments: Sequence[Any]) -> int:
        while True:
            result: int = getattr(self._functions, self._name)(*arguments, *self._arguments)
            if result not in FULL:
                return result
            self.store.grow(result, self._find_fill())
            self._collect_arguments()

    def _prepare(self, deltas: Deltas) -> None:
        """Make room for groups touched, and label the texts that are to be ordered."""
        before = int(self._counters[code.COUNT])
        if len(deltas.weights) + before >= len(self._touched):
            most = int(np.diff(deltas.starts).max(initial=0)) + before + 1
            if most > len(self._touched):
                self._touched = grow_array(self._touched, 2 * most, 0)
                self._collect_arguments()
        for place in self._text_places:
            self._label_texts(self._select_texts(deltas, place))

    def _select_texts(self, deltas: Deltas, place: int) -> np.ndarray:
        """Return the codes of a field that are not null."""
        codes = deltas.words[:, place]
        if not self.layout.is_nullable(place):
            return codes
        word = len(self.layout.source.fields) + place // 63
        found: np.ndarray = codes[deltas.words[:, word] >> place % 63 & 1 == 0]
        return found

    def _label_texts(self, codes: np.ndarray) -> None:
        self._order.add(codes)
        self._collect_arguments()

    def _collect_arguments(self) -> None:
        """Collect the arguments that stay the same from call to call."""
        arrays = self.store.list_arrays() | {
            "touched": self._touched,
            "counters": self.store.counters,
            "scratch": self._scratch,
            "ranks": self._order.labels,
        }
        arrays["record_floats"] = arrays["records"].view(np.float64)
        self._counters = self.store.counters
        self._heads = memoryview(self._counters)
        self._arguments = [arrays[name] for name in self._parameters]

    def _find_fill(self) -> Any:
        return getattr(self._functions, f"{self._name}_fill") if self.layout.by else None

    def _describe_fault(self, result: int, deltas: Deltas, bad: int, row: int) -> Fault:
        if result == code.BAD_WEIGHT:
            message = f"a group would have more than {self.layout.weight_limit} rows"
            return Fault(bad, CODE_OVERFLOW, message, words=deltas.words[row])
        layout = self.layout
        group, number = self._counters[code.BAD_GROUP : code.BAD_FIELD + 1].tolist()
        record = self.store.records.rows[group]
        begin = int(deltas.starts[bad])
        words = deltas.words[begin:row]
        same = np.ones(len(words), np.bool_)
        for key, place in enumerate(layout.by):
            same &= words[:, place] == record[layout.row + key]
        field = layout.target.fields[len(layout.by) + number].name
        return Fault(
            bad,
            CODE_OVERFLOW,
            f"the sum {field} is beyond 64 bits",
            "sum numbers: a cast to number keeps the leading 53 bits",
            words=words[np.flatnonzero(same)[-1]],
        )

    # ---- state

    def count_bytes(self) -> int:
        """Return the bytes of the groups and of all that they refer to."""
        return self.store.count_bytes() + self._touched.nbytes + self._order.count_bytes()

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in keys, results and ordered values."""
        return self.store.list_text_codes()

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the groups: how many, and arrays."""
        return self.store.save()

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self.store.restore(arrays)
        if values["groups"] != len(self.store.find_groups()):
            raise ValueError("another number of groups")
        self.store.make_table(self._find_fill())
        if self._text_places:
            self._order.add(self.store.pools["text_nodes"].ever_used[:, 0])
        self._collect_arguments()
