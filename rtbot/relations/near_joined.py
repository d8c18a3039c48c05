"""The operators of a region that join rows by the distance of two fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.relations.kernels import join_index, join_output
from rtbot.relations.kernels import near_rows as near
from rtbot.relations.kernels import ordered_search as search
from rtbot.relations.ordered_store import OrderedStore
from rtbot.relations.region_operator import OUTPUT, Fault, make_size_fault
from rtbot.relations.row_output import RowOutput
from rtbot.relations.weighed import MESSAGES
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.deltas import Deltas
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

SIDES = ("left", "right")

KEPT = 1 << 14
"""So many touched rows a transaction may have before their arrays are freed behind it."""


class NearOperator:
    """AsOfJoin and IntervalJoin: left and right rows by keys, and by how near a field of each is.

    The setting is {"on": ((left place, right place), ...), "match": (left place, right place),
    "how": inner or left}, and {"direction", "strict", "tolerance"} as in AsOfJoin or {"lower",
    "upper"} as in IntervalJoin.
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
        setting = node.setting
        self.schemas = [plan.streams[stream] for stream in node.inputs]
        self.width = plan.streams[node.output].width
        self.is_interval = "lower" in setting
        own = 0 if self.is_interval else 2
        self.stores = [
            OrderedStore(
                kernels,
                schema,
                texts,
                [pair[side] for pair in setting["on"]],
                [(setting["match"][side], False)],
                own=own * side,
            )
            for side, schema in enumerate(self.schemas)
        ]
        self.distances = np.zeros(2)
        self.rules = self._make_rules(setting, plan.max_delta_rows)
        keys = len(setting["on"]) + 1
        self._probe = np.zeros(keys, np.int64)
        probe_spec = self.stores[1].spec.reshape(-1, search.SPEC)[:keys].copy()
        probe_spec[:, search.PLACE], probe_spec[:, search.NULL_WORD] = np.arange(keys), -1
        self._probe_spec = probe_spec.reshape(-1)
        self._touched = [np.empty(1, np.int64) for _ in range(3)]

    def _make_rules(self, setting: Mapping[str, Any], most: int) -> np.ndarray:
        rules = np.zeros(near.NEAR_RULES, np.int64)
        left, right = self.schemas
        rules[join_output.LEFT_FIELDS], rules[join_output.RIGHT_FIELDS] = len(left), len(right)
        rules[join_output.LEFT_WIDTH], rules[join_output.RIGHT_WIDTH] = left.width, right.width
        rules[join_output.OUT_WIDTH], rules[join_output.SIGN] = self.width, 1
        rules[join_output.ROWS_MOST] = most
        rules[near.NEAR_LEFT] = setting["how"] == "left"
        if self.is_interval:
            ends = setting["lower"], setting["upper"]
        else:
            rules[near.NEAR_FORWARD] = setting["direction"] == "forward"
            rules[near.NEAR_STRICT] = setting["strict"]
            rules[near.NEAR_TOLERANT] = setting["tolerance"] is not None
            ends = -(setting["tolerance"] or 0), setting["tolerance"] or 0
        self.distances[:] = ends
        if left.fields[setting["match"][0]].type.kind == "integer":
            rules[near.NEAR_LOWER], rules[near.NEAR_UPPER] = ends
        return rules

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Emit what every transaction changes of the join."""
        inputs = [s.prepare(deltas) for s, deltas in zip(self.stores, inputs, strict=True)]
        self._make_room(inputs)
        given = [array for d in inputs for array in (d.starts, d.words.reshape(-1), d.weights)]
        transactions = len(inputs[0].starts) - 1
        made = RowOutput(transactions, self.width, 2 * sum(map(len, inputs)) + 2)
        cursor = np.zeros(near.NEAR_CURSOR, np.int64)
        if self.is_interval:
            loop = self.kernels.join_interval
            probe = [self._probe, self._probe.view(np.float64), self._probe_spec]
        else:
            loop, probe = self.kernels.join_as_of, []
        while True:
            code = loop(
                self.rules, self.distances, *given, *self._list_arguments(), *self._touched,
                *probe, cursor, *made.arrays,
            )  # fmt: skip
            if code == join_index.ROOM_LEFT:
                self.stores[0].grow()
            elif code == join_index.ROOM_RIGHT:
                self.stores[1].grow()
            elif code == join_index.ROOM_OUT:
                made.grow(int(cursor[near.NEAR_NEEDED]))
            else:
                break
        fault = None if code == hash_tables.DONE else self._make_fault(code, cursor)
        if max(map(len, self._touched)) > KEPT:
            self._touched = [np.empty(1, np.int64) for _ in range(3)]
        return made.cut(int(cursor[near.NEAR_AT])), fault

    def _list_arguments(self) -> Iterator[np.ndarray]:
        for store in self.stores:
            words, *others = store.arguments
            yield from (words, words.view(np.float64), *others)

    def _make_room(self, inputs: Sequence[Deltas]) -> None:
        """Make arrays for the rows of the largest transaction: left, right, and either."""
        sizes = [int(np.diff(deltas.starts).max(initial=1)) for deltas in inputs]
        for place, size in enumerate((*sizes, max(sizes))):
            if size > len(self._touched[place]):
                self._touched[place] = np.empty(size, np.int64)

    def _make_fault(self, code: int, cursor: np.ndarray) -> Fault:
        """Return why the transaction at the cursor is bad, which then leaves nothing behind."""
        at, port = int(cursor[near.NEAR_AT]), int(cursor[near.NEAR_SIDE])
        counts = cursor[[near.NEAR_TOUCHED, near.NEAR_OTHERS]].tolist()
        fault = None
        for side, (store, count) in enumerate(zip(self.stores, counts, strict=True)):
            touched = self._touched[side][:count]
            if side == port:
                fault = store.make_fault(at, code, touched, port)
            store.release(touched)
        if code == join_index.TOO_MANY:
            needed, most = cursor[near.NEAR_NEEDED], self.rules[join_output.ROWS_MOST]
            return make_size_fault(at, int(needed), int(most))
        return fault or Fault(at, *MESSAGES[code], port=OUTPUT)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the changes of transactions out."""
        for store, deltas in zip(self.stores, inputs, strict=True):
            store.take_back(deltas)

    # ---- state

    def count_bytes(self) -> int:
        """Return the bytes of the rows of both sides."""
        return sum(store.count_bytes() for store in self.stores)

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows."""
        for store in self.stores:
            yield from store.list_text_codes()

    def save(self) -> Saved:
        """Return the rows of both sides in order, with their copies."""
        values: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {}
        for name, store in zip(SIDES, self.stores, strict=True):
            kept, own = store.save()
            values[name] = kept["rows"]
            arrays |= {f"{name}.{field}": array for field, array in own.items()}
        return values, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        for name, store in zip(SIDES, self.stores, strict=True):
            own = {field: arrays[f"{name}.{field}"] for field in ("words", "copies")}
            store.restore({"rows": values[name]}, own)
