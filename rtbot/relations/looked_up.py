"""The operator of a region that looks up what another table has when a row comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.growing_arrays import allocate_growing, extend_array
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.kernels import join_index, join_output
from rtbot.relations.kernels import looking_up as kernel
from rtbot.relations.region_operator import Fault, make_size_fault
from rtbot.relations.row_codec import find_nulls
from rtbot.relations.row_output import RowOutput
from rtbot.relations.stores import ROOM_AT_FIRST, Store
from rtbot.relations.weighed import MESSAGES
from rtbot.tables.hash_tables import DONE, LIMIT, ROOM, ROWS, USED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.deltas import Deltas
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

SIDES = "left", "right"


class LookedUpOperator:
    """Left rows with the right rows of their key as they are when they come.

    The setting is {"how": inner or left, "on": ((left place, right place), ...)}. A left row has
    versions, the newest last: so many copies, and what they were given, which versions share. The
    log has what every transaction of the last run has changed; rows that it has stay in the stores.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        _module: ModuleType,
        _texts: StringDictionary,
    ) -> None:
        self.kernels, self.width = kernels, plan.streams[node.output].width
        self.schemas = [plan.streams[stream] for stream in node.inputs]
        self.places = [np.array(places) for places in zip(*node.setting["on"], strict=True)]
        left, right = self.schemas
        rules = np.zeros(join_output.RULES, np.int64)
        rules[[join_output.LEFT_FIELDS, join_output.RIGHT_FIELDS]] = len(left), len(right)
        rules[[join_output.LEFT_WIDTH, join_output.RIGHT_WIDTH]] = left.width, right.width
        rules[join_output.OUT_WIDTH], rules[join_output.ROWS_MOST] = self.width, plan.max_delta_rows
        rules[join_output.LEFT] = node.setting["how"] == "left"
        self.rules = rules
        keys = [Field(f"key{n}", Type("integer")) for n in range(len(self.places[0]))]
        self.left = Store(kernels, left, {"cells": kernel.LEFT_CELLS})
        self.right = Store(kernels, right, {"cells": kernel.RIGHT_CELLS})
        self.keys = Store(kernels, Schema(tuple(keys)), {"cells": kernel.OF_KEY_CELLS})
        self._probe = np.zeros(len(keys), np.int64)
        self.nodes: np.ndarray
        self._clear()

    def _clear(self) -> None:
        for store in (self.left, self.right, self.keys):
            store.clear()
        self.nodes = allocate_growing(ROOM_AT_FIRST * kernel.NODE)
        self.pool = np.array([1, 0, 1, ROOM_AT_FIRST], np.int64)
        self._log = np.empty(0, np.int64)
        self._ends = np.zeros(1, np.int64)
        """How many entries of the log there are up to the end of each transaction."""

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take transactions, right changes first, and emit what left rows are given or lose."""
        self._forget_log()
        given, touched = [], []
        for side, (store, deltas) in enumerate(zip((self.left, self.right), inputs, strict=True)):
            _make_room(store, len(deltas))
            given += [deltas.starts, deltas.words.reshape(-1), deltas.weights]
            given += [store.hash_rows(deltas.words), self._find_keyed(side, deltas)]
            touched.append(np.empty(int(np.diff(deltas.starts).max(initial=0)), np.int64))
        _make_room(self.keys, len(inputs[1]))
        transactions = len(inputs[0].starts) - 1
        made = RowOutput(transactions, self.width, 2 * len(inputs[0]) + 2)
        self._log = np.empty(kernel.LOG * (sum(map(len, inputs)) + 2), np.int64)
        self._ends = np.zeros(transactions + 1, np.int64)
        cursor = np.zeros(kernel.LOOK_CURSOR, np.int64)
        while True:
            code = self.kernels.look_up_transactions(
                self.rules, *given, *self._list_state(), self.places[0], self._log, self._ends,
                *touched, cursor, *made.arrays,
            )  # fmt: skip
            if code != ROOM:
                break
            self._grow(cursor, made)
        done = int(cursor[kernel.LOOK_AT])
        fault = None if code == DONE else self._make_fault(code, cursor, made, touched)
        self._ends = self._ends[: done + 1]
        return made.cut(done), fault

    def _find_keyed(self, side: int, deltas: Deltas) -> np.ndarray:
        """Return int64[n]: whether no field of a row's key is null."""
        keyed = np.ones(len(deltas), np.int64)
        for place in self.places[side].tolist():
            null = find_nulls(self.schemas[side], deltas.words, place)
            if null is not None:
                keyed[null] = 0
        return keyed

    def _list_sides(self) -> list[np.ndarray]:
        return [*_list_side(self.left), *_list_side(self.right)]

    def _list_keys(self) -> list[np.ndarray]:
        """Return the arrays of keys and of nodes, as loops take them."""
        return [*_list_side(self.keys), self.places[1], self._probe, self.nodes, self.pool]

    def _list_state(self) -> list[np.ndarray]:
        """Return the arrays of the stores, of keys and of nodes, as loops take them."""
        return [*self._list_sides(), *self._list_keys()]

    def _grow(self, cursor: np.ndarray, made: RowOutput) -> None:
        """Make room for what the loop has asked for."""
        made.grow(int(cursor[kernel.LOOK_OUT_NEEDED]))
        log = kernel.LOG * int(cursor[kernel.LOOK_LOG_NEEDED])
        if log > len(self._log):
            self._log = np.concatenate([self._log, np.empty(log, np.int64)])
        self._make_nodes(int(cursor[kernel.LOOK_NODES_NEEDED]))

    def _make_nodes(self, count: int) -> None:
        """Let so many nodes be free."""
        needed, limit = int(self.pool[ROWS]) + count, int(self.pool[LIMIT])
        if needed > limit:
            self.pool[LIMIT] = max(needed, limit * 3 // 2)
            extend_array(vars(self), "nodes", int(self.pool[LIMIT]) * kernel.NODE)

    def _make_fault(
        self, code: int, cursor: np.ndarray, made: RowOutput, touched: Sequence[np.ndarray]
    ) -> Fault:
        """Return why the transaction at the cursor is bad, which then leaves nothing behind."""
        at, port = int(cursor[kernel.LOOK_AT]), int(cursor[kernel.LOOK_PORT])
        store = (self.left, self.right)[port]
        first = int(cursor[kernel.LOOK_BLAMED]) * store.width
        words = store.words[first : first + store.width].copy()
        self._undo(int(self._ends[at]), int(cursor[kernel.LOOK_LOG]))
        self.kernels.abandon_lookups(self.rules, *self._list_sides(), *touched, cursor)
        if code == join_index.TOO_MANY:
            size = int(cursor[kernel.LOOK_OUT_NEEDED] - made.starts[at])
            return make_size_fault(at, size, int(self.rules[join_output.ROWS_MOST]))
        return Fault(at, *MESSAGES[code], port=port, words=words)

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the last transactions out, the latest first."""
        kept = len(self._ends) - (len(inputs[0].starts) - 1)
        self._undo(int(self._ends[kept - 1]), int(self._ends[-1]))
        self._ends = self._ends[:kept]

    def _undo(self, begin: int, end: int) -> None:
        """Undo changes of the log; versions that come back take nodes, as snapshots may stay."""
        self._make_nodes(end - begin)
        self.kernels.undo_lookups(self.rules, *self._list_state(), self._log, begin, end)

    def _forget_log(self) -> None:
        """Let the transactions of the last run stay."""
        self.kernels.forget_lookups(
            self.rules, *self._list_sides(), self.nodes, self.pool, self._log, int(self._ends[-1])
        )
        self._log, self._ends = self._log[:0], self._ends[:1]

    # ---- state

    def count_bytes(self) -> int:
        """Return the bytes of rows, keys and versions."""
        stores = sum(store.count_bytes() for store in (self.left, self.right, self.keys))
        return stores + 8 * kernel.NODE * int(self.pool[USED])

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows of both sides, and in what left rows were given."""
        yield from self.left.list_text_codes()
        yield from self.right.list_text_codes()

    def save(self) -> Saved:
        """Return right rows with counts, versions of left rows, and what these were given.

        All rows are in the order of their words, so that equal states are saved equally.
        """
        (left, _), (right, cells) = _list_rows(self.left), _list_rows(self.right)
        rights = _sort_ids(self.right)
        there = rights[cells[rights, kernel.RIGHT_COUNT] > 0]
        owners, copies, given = self._list_versions()
        numbers, sizes, pairs = self._list_given(given, rights)
        arrays = {
            "right.words": right[there].ravel(),
            "right.counts": cells[there, kernel.RIGHT_COUNT],
            "left.words": left[owners].ravel(),
            "left.copies": copies,
            "left.given": numbers,
            "given.sizes": sizes,
            "given.words": right[pairs[:, 0]].ravel(),
            "given.counts": pairs[:, 1].copy(),
        }
        return {}, arrays

    def _list_versions(self) -> np.ndarray:
        """Return int64[3, n]: the left rows of versions, their copies and snapshots."""
        given = _sort_ids(self.left), self.left.columns["cells"], self.nodes
        found = np.empty(
            (3, self.kernels.list_versions(*given, *np.empty((3, 0), np.int64))), np.int64
        )
        self.kernels.list_versions(*given, *found)
        return found

    def _list_given(
        self, given: np.ndarray, rights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Number what versions were given, equal ones once, and list that.

        Returns (number of each version, pairs of each number, int64[pairs, 2] right rows and how
        often they were there). `rights` are all right rows in order.
        """
        nodes = self.nodes[: int(self.pool[USED]) * kernel.NODE].reshape(-1, kernel.NODE)
        ranks = dict(zip(rights.tolist(), range(len(rights)), strict=True))
        known: dict[tuple[tuple[int, int], ...], int] = {}
        numbers: dict[int, int] = {}
        for snapshot in dict.fromkeys(given.tolist()):
            pairs = []
            pair = int(nodes[snapshot, kernel.FIRST_PAIR]) if snapshot else 0
            while pair:
                row, count, pair = nodes[pair].tolist()
                pairs.append((row, count))
            pairs.sort(key=lambda one: ranks[one[0]])
            numbers[snapshot] = known.setdefault(tuple(pairs), len(known))
        listed = [one for pairs in known for one in pairs]
        return (
            np.array([numbers[snapshot] for snapshot in given.tolist()], np.int64),
            np.array([*map(len, known)], np.int64),
            np.array(listed, np.int64).reshape(-1, 2),
        )

    def restore(
        self,
        values: Mapping[str, Any],  # noqa: ARG002
        arrays: Mapping[str, np.ndarray],
    ) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self._clear()
        left, right = self.schemas
        rights, counts = read_rows(arrays, "right", right, "counts")
        pairs, pair_counts = read_rows(arrays, "given", right, "counts")
        lefts, copies = read_rows(arrays, "left", left, "copies")
        sizes, given = arrays["given.sizes"], arrays["left.given"]
        if (sizes < 0).any() or sizes.sum() != len(pairs):
            raise ValueError("what left rows were given is not complete")
        if len(given) != len(lefts) or ((given < 0) | (given >= len(sizes))).any():
            raise ValueError("a left row without what it was given")
        ids = self._add_rows(self.right, rights)
        if len(np.unique(ids)) < len(ids):
            raise ValueError("a row is there twice")
        _make_room(self.keys, len(ids))
        self._make_nodes(len(pairs) + len(sizes) + len(lefts))
        state = [*_list_side(self.right), *self._list_keys()]
        self.kernels.set_right_counts(self.rules, *state, ids, counts)
        given_rows, owners = self._add_rows(self.right, pairs), self._add_rows(self.left, lefts)
        self.kernels.put_versions(
            self.left.columns["cells"], self.right.columns["cells"], self.nodes, self.pool, sizes,
            given_rows, pair_counts, owners, copies, given, np.zeros(len(sizes), np.int64),
        )  # fmt: skip

    def _add_rows(self, store: Store, words: np.ndarray) -> np.ndarray:
        """Return the ids of rows in a store, those that are new as well."""
        _make_room(store, len(words))
        ids = np.empty(len(words), np.int64)
        self.kernels.add_lookup_rows(
            *_list_side(store), store.width, store.widths["cells"], words.reshape(-1),
            store.hash_rows(words), ids,
        )  # fmt: skip
        return ids


def _make_room(store: Store, rows: int) -> None:
    """Let so many rows have room in a store, if all of them are new."""
    if store.capacity - len(store) < rows:
        store.grow(len(store) + rows)


def _list_side(store: Store) -> list[np.ndarray]:
    """Return the arrays of a store, as loops take them."""
    own = store.table, store.words, store.columns["cells"], store.meta
    return [*own, store.places, store.bits]


def _list_rows(store: Store) -> tuple[np.ndarray, np.ndarray]:
    """Return the words and cells of all ids of a store, of free ones as well."""
    used = int(store.meta[USED])
    cells, parts = store.columns["cells"], store.widths["cells"]
    words = store.words[: used * store.width].reshape(used, store.width)
    return words, cells[: used * parts].reshape(used, parts)


def _sort_ids(store: Store) -> np.ndarray:
    """Return the ids of the rows of a store in the order of their words."""
    ids = store.find_ids()
    words, _ = _list_rows(store)
    ordered: np.ndarray = ids[np.lexsort(words[ids].T[::-1])]
    return ordered


def read_rows(
    arrays: Mapping[str, np.ndarray], name: str, schema: Schema, counts: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return saved rows int64[n, width] with their counts; raise ValueError if they do not fit."""
    words, own = arrays[f"{name}.words"], arrays[f"{name}.{counts}"]
    if words.dtype != np.int64 or own.dtype != np.int64 or (own < 1).any():
        raise ValueError(f"{name}: rows without a count")
    if len(words) != len(own) * schema.width:
        raise ValueError(f"{name}: {len(words)} words for {len(own)} rows of {schema.width}")
    return words.reshape(-1, schema.width), own
