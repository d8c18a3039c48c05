"""The operator of a region that joins two streams of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import grow_array, trim_array
from rtbot.relations.deltas import Deltas
from rtbot.relations.join_condition import TRUE, JoinCondition
from rtbot.relations.join_store import NO_TABLE, JoinKeys, JoinSide
from rtbot.relations.join_views import COUNT, choose_views, list_net_streams
from rtbot.relations.kernels import join_index as index
from rtbot.relations.kernels import join_output as output
from rtbot.relations.kernels import joining
from rtbot.relations.region_operator import Fault, make_size_fault
from rtbot.relations.row_codec import find_least
from rtbot.relations.stores import choose_ahead
from rtbot.relations.weighed import MESSAGES
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

LOGGED_AT_ONCE = 1 << 16
"""So many pairs are looked at before those that match are settled."""

KEPT = 1 << 14
"""So many words of what a transaction touches are kept for the next one."""

ALL = 1 << 62
"""More rows than a transaction has."""

LOADED_AT_ONCE = 1 << 14
"""So many rows of a dump are put in place at once."""

SIDES = ("left", "right")

ALONE = {
    "inner": (0, 0),
    "cross": (0, 0),
    "left": (output.UNMATCHED, 0),
    "right": (0, output.UNMATCHED),
    "full": (output.UNMATCHED, output.UNMATCHED),
    "semi": (output.MATCHED, 0),
    "anti": (output.UNMATCHED, 0),
}
"""Which rows of the left and the right side come out alone, by `how`."""


class JoinedOperator:
    """Pairs of rows with equal keys of which a condition is true, and rows without any.

    The setting is {"how": as in JoinRows, "on": ((left place, right place), ...), "safe": whether
    null equals null, for each of these, "condition": None, or the setting of its loop}.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        module: ModuleType,
        texts: StringDictionary,
    ) -> None:
        self.kernels, self.texts = kernels, texts
        schemas = [plan.streams[stream] for stream in node.inputs]
        self.width = plan.streams[node.output].width
        self.most = plan.max_delta_rows
        how, on = node.setting["how"], node.setting["on"]
        self.alone, self.has_pairs = ALONE[how], how not in ("semi", "anti")
        keys = [[pair[side] for pair in on] for side in range(2)]
        named = [
            (schema, [schema.fields[place].name for place in key])
            for schema, key in zip(schemas, keys, strict=True)
        ]
        conditional = node.setting["condition"] is not None
        self.views = choose_views(how, conditional=conditional, sides=named)
        self.sides = [
            JoinSide(
                kernels, schema, view, key,
                counts_matches=conditional and self.alone[side] != 0,
            )
            for side, (schema, view, key) in enumerate(zip(schemas, self.views, keys, strict=True))
        ]  # fmt: skip
        self.keys = JoinKeys(kernels, schemas[0], keys[0], node.setting["safe"])
        self.counted = self.views[1].kind == COUNT
        self.condition: JoinCondition | None = None
        if conditional:
            self.condition = JoinCondition(node, kernels, module, texts, self.sides)
        nets = list_net_streams(plan)
        self.nets = [stream in nets for stream in node.inputs]
        self._touched = [NO_TABLE] * 2
        self._touched_keys = NO_TABLE

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Emit what every transaction changes of the join."""
        batch = Batch(self, inputs)
        fault = batch.take()
        self.drop_room()
        return batch.cut_output(), fault

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions out, the last one first."""
        batch = Batch(self, [_reverse(deltas) for deltas in inputs], sign=-1)
        fault = batch.take()
        assert fault is None, "what was taken can be taken back"
        self.drop_room()

    def make_rules(self, sign: int, *, emits: bool, logs: bool) -> np.ndarray:
        """Return the rules of the loops."""
        rules = np.zeros(output.RULES, np.int64)
        rules[output.PAIRS] = self.has_pairs
        rules[output.LEFT], rules[output.RIGHT] = self.alone
        rules[output.COUNTED], rules[output.LOGGED] = self.counted, logs
        rules[output.EMITS], rules[output.SIGN] = emits, sign
        rules[output.ROWS_MOST] = self.most
        rules[output.LOG_MOST] = LOGGED_AT_ONCE
        left, right = (side.schema for side in self.sides)
        rules[output.LEFT_FIELDS], rules[output.RIGHT_FIELDS] = len(left), len(right)
        rules[output.LEFT_WIDTH], rules[output.RIGHT_WIDTH] = left.width, right.width
        rules[output.OUT_WIDTH] = self.width
        rules[output.AHEAD] = choose_ahead(self.kernels)
        for side, net in enumerate(self.nets):
            depends = emits and self.alone[1 - side] != 0
            if sign > 0 and not logs and not depends:
                rules[output.NET + side] = ALL if net or not emits else 1
        return rules

    def make_room(self, inputs: Sequence[Deltas]) -> None:
        """Make arrays for the rows of the largest transaction."""
        sizes = [np.diff(deltas.starts) for deltas in inputs]
        for side, size in enumerate(sizes):
            room = int(size.max(initial=1)) * index.ROW_PARTS
            if room > len(self._touched[side]):
                self._touched[side] = np.empty(room, np.int64)
        room = int((sizes[0] + sizes[1]).max(initial=1)) * index.KEY_PARTS
        if room > len(self._touched_keys):
            self._touched_keys = np.empty(room, np.int64)

    def drop_room(self) -> None:
        """Free the arrays of a large transaction."""
        for side, array in enumerate(self._touched):
            if len(array) > KEPT:
                self._touched[side] = NO_TABLE
        if len(self._touched_keys) > KEPT:
            self._touched_keys = NO_TABLE

    def grow(self, code: int, least: int) -> None:
        """Make room for what the loop has found to be full, and for `least` rows in all."""
        full = self.keys if code == index.ROOM_KEYS else self.sides[code - index.ROOM_LEFT]
        full.grow(least)

    def list_arguments(self) -> list[np.ndarray]:
        """Return the arrays of the state, as the loop takes them."""
        found: list[np.ndarray] = []
        for side, touched in zip(self.sides, self._touched, strict=True):
            found += [side.words, side.columns["cells"], side.table, side.meta, touched]
            found += [side.key_places, side.key_nulls]
        keys = self.keys
        found += [keys.words, keys.columns["cells"], keys.table, keys.meta, self._touched_keys]
        return [*found, keys.places, keys.bits, keys.safe, keys.key]

    def finish_bad(self, rules: np.ndarray, cursor: np.ndarray) -> None:
        """Restore what was before a transaction that is bad."""
        arrays: list[np.ndarray] = []
        for side, touched in zip(self.sides, self._touched, strict=True):
            arrays += [side.words, side.columns["cells"], side.table, side.meta, touched]
        keys = self.keys
        arrays += [keys.words, keys.columns["cells"], keys.table, keys.meta, self._touched_keys]
        self.kernels.restore_transaction(rules, *arrays, keys.width, cursor)

    def find_blamed(self, cursor: np.ndarray) -> tuple[int, np.ndarray | None]:
        """Return the port and the least row that a bad transaction makes too often."""
        for port, side in enumerate(self.sides):
            count = int(cursor[index.ROWS_TOUCHED + port])
            rows = self._touched[port].reshape(-1, index.ROW_PARTS)[:count]
            ids = rows[rows[:, index.ROW_BAD] != hash_tables.DONE, index.ROW_ID]
            if len(ids):
                words = side.words.reshape(-1, side.width)[ids]
                return port, find_least(side.schema, words, self.texts)
        return 0, None

    # ---- state

    def count_bytes(self) -> int:
        """Return the bytes of rows, keys and what a transaction touches."""
        stores = [*self.sides, self.keys]
        scratch = [*self._touched, self._touched_keys]
        return sum(s.count_bytes() for s in stores) + sum(a.nbytes for a in scratch)

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in rows and keys."""
        for store in (*self.sides, self.keys):
            yield from store.list_text_codes()

    def save(self) -> Saved:
        """Return the rows of both sides with their weights; keys where rows are only counted."""
        values: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {}
        for name, side in zip(SIDES, self.sides, strict=True):
            values[name], own = side.save_rows()
            arrays |= {f"{name}.{field}": array for field, array in own.items()}
        if self.counted:
            values["right"], own = self.keys.save_counts()
            arrays |= {f"right.{field}": array for field, array in own.items()}
        return values, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        for store in (*self.sides, self.keys):
            store.clear()
        if self.counted:
            self.keys.restore_counts(values["right"], self._select(arrays, 1))
        for port in range(1 if self.counted else 2):
            side, rows = self.sides[port], values[SIDES[port]]
            own = self._select(arrays, port)
            self._load(port, *side.read_rows(rows, own))
            if len(side) != rows:
                raise ValueError(f"{SIDES[port]}: a row is there twice")
            side.restore_matches(own)

    def _select(self, arrays: Mapping[str, np.ndarray], port: int) -> dict[str, np.ndarray]:
        """Return the saved arrays of a side by their own names."""
        fields = ["words", "weights"]
        if port == 1 and self.counted:
            fields = ["words", "counts"]
        elif "matches" in self.sides[port].columns:
            fields.append("matches")
        return {field: arrays[f"{SIDES[port]}.{field}"] for field in fields}

    def _load(self, port: int, words: np.ndarray, weights: np.ndarray) -> None:
        """Put rows in place, without a change of the output."""
        starts = np.array([*range(0, len(words), LOADED_AT_ONCE), len(words)], np.int64)
        given = [
            Deltas(starts * 0, np.empty((0, side.width), np.int64), np.empty(0, np.int64))
            for side in self.sides
        ]
        given[port] = Deltas(starts, words, weights)
        fault = Batch(self, given, loads=True).take()
        if fault is not None:
            raise ValueError(fault.message)


class Batch:
    """Transactions on their way through the loops: what is read, and what is made."""

    def __init__(
        self,
        operator: JoinedOperator,
        inputs: Sequence[Deltas],
        sign: int = 1,
        *,
        loads: bool = False,
    ) -> None:
        self.operator, self.inputs = operator, inputs
        self.transactions = len(inputs[0].starts) - 1
        self.emits = sign > 0 and not loads
        self.logs = operator.condition is not None and not loads
        self.rules = operator.make_rules(sign, emits=self.emits, logs=self.logs)
        self.given = [array for d in inputs for array in (d.starts, d.words.reshape(-1), d.weights)]
        for side, deltas in zip(operator.sides, inputs, strict=True):
            self.given += side.hash_joined(deltas.words, operator.keys)
        rows = sum(map(len, inputs)) if self.emits else 0
        self.words = np.empty((rows, operator.width), np.int64)
        self.weights = np.empty(rows, np.int64)
        self.starts = np.zeros(self.transactions + 1, np.int64)
        self.log, self.log_starts = np.empty(0, np.int64), self.starts
        if self.logs:
            self.log = np.empty((rows + 64) * joining.LOG_PARTS, np.int64)
            self.log_starts = np.zeros(self.transactions + 1, np.int64)
        self.cursor = np.zeros(index.JOIN_CURSOR, np.int64)
        self.count, self.settled = 0, 0

    def take(self) -> Fault | None:
        """Take all transactions, or those before one that is bad."""
        operator = self.operator
        operator.make_room(self.inputs)
        arguments = operator.list_arguments()
        while True:
            code = operator.kernels.join_transactions(
                self.rules, *self.given, *arguments, self.cursor, self.log,
                self.words.reshape(-1), self.weights, self.log_starts,
            )  # fmt: skip
            if code == index.ROOM_OUT:
                self.grow_output()
            elif code in (index.ROOM_LEFT, index.ROOM_RIGHT, index.ROOM_KEYS):
                arguments = []  # what nothing refers to is not copied
                operator.grow(code, int(self.cursor[index.NEEDED]))
                arguments = operator.list_arguments()
            elif code == index.UNDO:
                self.undo_rows()
                arguments = operator.list_arguments()
            else:
                fault = self.make_fault(code)
                if self.logs:
                    fault = self.settle() or fault
                if fault is not None or code == hash_tables.DONE:
                    return fault

    def undo_rows(self) -> None:
        """Take back the first rows of a transaction that is bad, which is gathered then."""
        at, row = int(self.cursor[index.JOIN_AT]), int(self.cursor[index.JOIN_ROW])
        taken = [deltas.cut(at, at + 1) for deltas in self.inputs]
        for side, deltas in enumerate(taken):
            count = row - int(self.inputs[side].starts[at]) if len(deltas) else 0
            taken[side] = Deltas(np.array([0, count]), deltas.words[:count], deltas.weights[:count])
        self.operator.take_back(taken)
        self.operator.make_room(self.inputs)
        self.rules[output.NET : output.NET + 2] = self.cursor[index.JOIN_ROW] = 0

    def make_fault(self, code: int) -> Fault | None:
        """Return why the transaction at the cursor is bad, which then leaves nothing behind."""
        if code in (hash_tables.DONE, index.SETTLE):
            return None
        at, rows = int(self.cursor[index.JOIN_AT]), int(self.cursor[index.NEEDED])
        port, words = self.operator.find_blamed(self.cursor)
        self.operator.finish_bad(self.rules, self.cursor)
        if code == index.TOO_MANY:
            return make_size_fault(at, rows, self.operator.most)
        return Fault(at, *MESSAGES[code], port=port, words=words)

    def grow_output(self) -> None:
        """Make room for the rows of a transaction, and more."""
        needed = int(self.cursor[index.JOINED] + self.cursor[index.NEEDED])
        if self.logs:
            room = max(needed * joining.LOG_PARTS, len(self.log) * 3 // 2)
            self.log = grow_array(self.log, room, 0)
        else:
            self.grow_rows(needed)

    def grow_rows(self, needed: int) -> None:
        """Make room for so many rows in the output."""
        if needed <= len(self.weights):
            return
        room = max(needed, len(self.weights) * 3 // 2)
        words = np.empty((room, self.operator.width), np.int64)
        words[: len(self.words)] = self.words
        self.words, self.weights = words, grow_array(self.weights, room, 0)

    def settle(self) -> Fault | None:
        """Settle what is logged; return why a transaction is bad, which is then taken back."""
        condition = self.operator.condition
        assert condition is not None
        last = int(self.cursor[index.JOIN_AT])
        entries = int(self.log_starts[last])
        log = self.log[: entries * joining.LOG_PARTS].reshape(-1, joining.LOG_PARTS)
        flags = condition.decide(log, self.rules)
        fault = condition.find_fault(log, flags, self.log_starts, self.settled, last)
        if self.emits:
            self.grow_rows(self.count + 2 * int(np.count_nonzero(flags == TRUE)) + entries)
        self.count = condition.settle(self, flags, last)
        for number, side in enumerate(self.operator.sides):
            self.operator.kernels.free_waiting(
                number, side.width, side.words, side.columns["cells"], side.meta, self.cursor
            )
        self.cursor[index.JOINED] = self.log_starts[last] = 0
        self.settled = last
        if fault is not None and self.emits:
            self.operator.take_back([d.cut(fault.transaction, last) for d in self.inputs])
            self.settled = fault.transaction
            return fault
        return None

    def cut_output(self) -> Deltas:
        """Return the changes of the transactions that were taken."""
        done = self.settled if self.logs else int(self.cursor[index.JOIN_AT])
        starts = self.starts[: done + 1]
        count = int(starts[-1])
        return Deltas(starts, trim_array(self.words, count), trim_array(self.weights, count))


def _reverse(deltas: Deltas) -> Deltas:
    """Return the transactions in reverse order."""
    sizes = np.diff(deltas.starts)[::-1]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    begins = np.repeat(deltas.starts[:-1][::-1] - starts[:-1], sizes)
    rows = begins + np.arange(len(deltas))
    return Deltas(starts, np.ascontiguousarray(deltas.words[rows]), deltas.weights[rows])
