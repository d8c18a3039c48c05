"""Rows in an order: what operators over positions, ranks and neighbours remember.

One order holds all partitions, one behind the other: rows are sorted by the fields of the
partition, then by the sort order, then by all other fields, ascending. Its loops are in
kernels: ordered_search.py (compare, find, sum), ordered_tree.py (put, drop) and ordered_rows.py
(transactions). They are called from the loops of an operator with the six arrays of `arguments`,
those of them that each takes. An operator takes a transaction in these steps:

1. `prepare(deltas)` in Python, once for a batch, whose deltas are taken then; then `arguments`,
   again after each `grow`.
2. `touch_rows(...)` notes what the rows of the transaction add. When it has no room, or needs
   labels of texts, it returns where it stands: `grow` and call it again from there. Then
   `check_touched(...)`; if the code is not DONE, `make_fault` says why, then `release(...)`
   restores what was. Else `sort_touched(...)` puts the touched rows in order.
3. Now both states are in the store. Row by row from `find_before(...)` or a touched row on, by the
   cells NEXT and PRIOR: the state before has COPIES of a row, the one after COPIES + PENDING;
   rows of which that is 0 are not in that state. A touched row has ROW_MARK 1.
4. `apply_touched(...)` makes the new state the one there is, and drops rows without copies. Or
   `apply_row(...)` one by one, then `finish_touched(...)`.

`sum_before(row, 0, ...)` is how many copies come before a row (in the state before step 4): minus
that of the first row of the partition it is the position. `find_at(place, 0, ...)` is the row at a
place. The first row of a partition is the one after `find_before(words, first, spec, by, False,
...)`, its last one is `find_before(words, first, spec, by, True, ...)`, `by` being BY_COLUMNS of
meta, for a row with that partition; the same with SORT_COLUMNS is the first and last peer. (-1 is
no row; `find_after(-1)` is the first of all.) A key may be a row of words with a spec of its own.

Own columns: `own` int64 for each row, at `cells[row * meta[ROW_CELLS] + OWN + number]`, 0 for a new
row. Own sums: `sums` of them in the tree, number 0 being the copies; `add_sum(row, number, change)`
changes one, `sum_before(row, number)` adds up those of all rows before, `find_at(place, number)`
finds by them, if they are not negative. A row whose sums are not 0 must not be dropped. All these
take time that grows with the logarithm of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from weakref import ref

import numpy as np

from rtbot.core.growing_arrays import allocate_growing, extend_array
from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import ordered_search as kernel
from rtbot.relations.kernels.ordered_rows import ORDER_FULL
from rtbot.relations.kernels.weighing import MOST
from rtbot.relations.region_operator import OUTPUT, Fault
from rtbot.relations.row_codec import find_least, find_nulls, list_text_words, locate_null
from rtbot.relations.stores import DOUBLED, MORE, ROOM_AT_FIRST
from rtbot.relations.text_order import TextOrder
from rtbot.relations.weighed import MESSAGES
from rtbot.tables.hash_tables import DONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.operator.schema import Schema
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

FAN_OUT = 32
"""So many entries has a node of the tree at most; a multiple of 4."""

LOADED_AT_ONCE = 1 << 14
"""So many rows of a dump are put in place at once."""

ARRANGED = 64
"""Rows of transactions with at least so many are put in order before the loops take them."""

SOON, MOST_AHEAD = 4, 1 << 16
"""The first rows of a batch, and how many texts are given labels at once at most."""

KINDS = {"number": kernel.NUMBER, "text": kernel.LABELLED}


class StoreSizes(TypedDict, total=False):
    """Columns of the operator's own (0), sums of the tree (1), entries of a node (FAN_OUT).

    `labelled` are places of fields: texts in them always have labels.
    """

    own: int
    sums: int
    fan: int
    labelled: Sequence[int]


class OrderedStore:
    """Rows of a schema with their copies in one order, found by it and by position.

    `by` are the places of the partition's fields, `order` those of the sort order with whether it
    descends. `arguments` are what the loops take: other arrays whenever `growths` has changed.
    """

    def __init__(
        self,
        kernels: ModuleType,
        schema: Schema,
        texts: StringDictionary,
        by: Sequence[int],
        order: Sequence[tuple[int, bool]],
        **sizes: Unpack[StoreSizes],
    ) -> None:
        own, sums, fan = sizes.get("own", 0), sizes.get("sums", 1), sizes.get("fan", FAN_OUT)
        self.kernels, self.schema, self.width = kernels, schema, schema.width
        self.parts, self.sums, self.fan = kernel.OWN + own, sums, fan
        self.node_words = kernel.NODE_HEAD + fan * (4 + sums)
        known = {*by, *(place for place, _ in order)}
        sorts = [*order, *((place, False) for place in range(len(schema)) if place not in known)]
        self.columns = len(by), len(by) + len(order), len(by) + len(sorts)
        self.spec = make_spec(schema, by, sorts)
        texts_at = [place for place, _ in sorts if schema.fields[place].type.kind == "text"]
        always = sizes.get("labelled", ())
        self._labelled = [place for place in texts_at if place in always]
        self._unlabelled = [place for place in texts_at if place not in always]
        self.texts, self._labels = texts, TextOrder(texts)
        self.words: np.ndarray
        self.cells: np.ndarray
        self.nodes: np.ndarray
        self.meta: np.ndarray
        self.growths = 0
        self._given: Callable[[], np.ndarray | None]
        self._asked: dict[int, tuple[int, int]] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        limit, nodes = ROOM_AT_FIRST, _count_nodes(ROOM_AT_FIRST, self.fan)
        self.words = allocate_growing(limit * self.width)
        self.cells = allocate_growing(limit * self.parts)
        self.nodes = allocate_growing(nodes * self.node_words)
        meta = np.zeros(kernel.ORDER_META, np.int64)
        meta[kernel.NODES_USED], meta[kernel.NODE_LIMIT], meta[kernel.ROW_LIMIT] = 1, nodes, limit
        meta[[kernel.NODE_FREE, kernel.ROW_FREE, kernel.FIRST, kernel.LAST, kernel.ASKED_AT]] = -1
        meta[kernel.ROW_WIDTH], meta[kernel.ROW_CELLS] = self.width, self.parts
        meta[kernel.FAN], meta[kernel.SUMS] = self.fan, self.sums
        meta[[kernel.BY_COLUMNS, kernel.SORT_COLUMNS, kernel.COLUMNS]] = self.columns
        self.nodes[kernel.PARENT] = -1
        self.meta = meta
        self.growths += 1

    def __len__(self) -> int:
        return int(self.meta[kernel.ROW_COUNT])

    @property
    def arguments(self) -> list[np.ndarray]:
        """What the loops take: known, cells, nodes, meta, spec, labels."""
        return [self.words, self.cells, self.nodes, self.meta, self.spec, self._labels.labels]

    def prepare(self, deltas: Deltas) -> Deltas:
        """Return transactions with their rows about in order, as far as that saves time.

        The texts of rows get their places in the order, before these are put in. The labels of all
        texts may be others afterwards, in the same order. Texts get theirs when two rows are found
        to differ first in them, `grow` sees to it, but those of `labelled` now.
        """
        deltas = self._arrange(deltas)
        words = deltas.words
        for place in self._labelled:
            self._labels.add(self._select_texts(words, place))
        for place in self._unlabelled:
            self._labels.forget_replaced(self._select_texts(words, place))
        self._given = ref(words)
        self._asked = {p: (min(a, SOON) - a, a) for p, (_, a) in self._asked.items()}
        return deltas

    def _arrange(self, deltas: Deltas) -> Deltas:
        """Return transactions with the rows of large ones in the order of their first two columns.

        So rows that are near each other in the order are found one after the other, and what leads
        to them is in the caches.
        """
        sizes = np.diff(deltas.starts)
        if sizes.max(initial=0) < ARRANGED:
            return deltas
        heads = [self._find_heads(deltas.words, column) for column in range(self.columns[2])[:2]]
        keys = [*reversed(heads), np.repeat(np.arange(len(sizes)), sizes)]
        order = np.lexsort(keys[: -1 if len(sizes) == 1 else None])
        return Deltas(deltas.starts, deltas.words[order], deltas.weights[order])

    def _find_heads(self, words: np.ndarray, column: int) -> np.ndarray:
        """Return what the entries of rows have of a column: see `find_head` of the loops."""
        place, kind, down = self.spec[column * kernel.SPEC :][:3]
        if kind == kernel.LABELLED:
            return np.zeros(len(words), np.int64)
        heads = words[:, place]
        if kind == kernel.NUMBER:
            heads = heads ^ (heads >> 63) & MOST
        heads = ~heads if down else heads
        nulls = find_nulls(self.schema, words, place)
        return heads if nulls is None else np.where(nulls, MOST, heads)

    def _select_texts(self, words: np.ndarray, place: int) -> np.ndarray:
        """Return the codes of a field that are not null."""
        codes, nulls = words[:, place], find_nulls(self.schema, words, place)
        return np.ascontiguousarray(codes if nulls is None else codes[~nulls])

    def grow(self) -> None:
        """Give labels to the texts that were asked for, or else make room for more rows.

        Nothing else may refer to the arrays, or they are copied.
        """
        if self.meta[kernel.ASKED_AT] >= 0:
            self._answer()
            return
        before = int(self.meta[kernel.ROW_LIMIT])
        limit = 2 * before if before < DOUBLED else int(MORE * before)
        nodes = _count_nodes(limit, self.fan)
        extend_array(vars(self), "words", limit * self.width)
        extend_array(vars(self), "cells", limit * self.parts)
        extend_array(vars(self), "nodes", nodes * self.node_words)
        self.meta[kernel.ROW_LIMIT], self.meta[kernel.NODE_LIMIT] = limit, nodes
        self.growths += 1

    def _answer(self) -> None:
        """Give labels to two texts; to those of the rows that follow as well, if many were asked.

        Twice as many whenever the next question comes soon, so that few are asked of a batch, and
        as many again in the next batch if one of its first rows asks.
        """
        at, place, *codes = self.meta[kernel.ASKED_AT : kernel.ASKED_OTHER + 1].tolist()
        self.meta[kernel.ASKED_AT] = -1
        asked = np.array(codes, np.int64)
        end, ahead = self._asked.get(place, (0, 1))
        given = self._given()
        if at >= end and given is not None:
            ahead = min(2 * ahead, MOST_AHEAD) if at - end < ahead else 1
            self._asked[place] = at + ahead, ahead
            asked = np.append(asked, self._select_texts(given[at : at + ahead], place))
        self._labels.add(asked)

    def take(self, words: np.ndarray, weights: np.ndarray, sign: int = 1) -> int:
        """Add rows to the copies, as one transaction of which nothing comes: the code.

        With another code than DONE nothing has changed.
        """
        starts = np.array([0, len(words)], np.int64)
        deltas = self.prepare(Deltas(starts, words, weights))
        words, weights = deltas.words, deltas.weights
        touched = np.empty(len(words), np.int64)
        given, row, count = words.reshape(-1), 0, 0
        while True:
            row, count = self.kernels.add_rows(
                sign, given, weights, row, len(words), touched, count, *self.arguments
            )
            if row == len(words):
                break
            self.grow()
        code: int = self.kernels.settle_rows(touched, count, self.cells, self.nodes, self.meta)
        return code

    def take_back(self, deltas: Deltas) -> None:
        """Take what was taken out of the copies."""
        code = self.take(deltas.words, deltas.weights, -1)
        assert code == DONE, "what was taken can be taken back"

    def release(self, touched: np.ndarray) -> None:
        """Restore what was before a transaction that is bad, whose rows are touched."""
        self.kernels.release_rows(touched, len(touched), self.cells, self.nodes, self.meta)

    def make_fault(self, transaction: int, code: int, touched: np.ndarray, port: int = 0) -> Fault:
        """Return why a transaction is bad whose rows are touched; code is that of the loop."""
        if code == ORDER_FULL:
            message = "more rows would be in an order than 2**63 - 1, with their copies"
            hint = "weights are counts of copies; look for one that is something else"
            return Fault(transaction, "RT404", message, hint, OUTPUT)
        row = find_least(self.schema, self._find_blamed(touched), self.texts)
        return Fault(transaction, *MESSAGES[code], port=port, words=row)

    def _find_blamed(self, touched: np.ndarray) -> np.ndarray:
        """Return int64[n, width] of the rows that `check_touched` has found to be wrong."""
        bad = touched[self.cells[touched * self.parts + kernel.ROW_MARK] == -1]
        words = self.words[: self.meta[kernel.ROWS_USED] * self.width].reshape(-1, self.width)
        rows: np.ndarray = words[bad]
        return rows

    # ---- state

    def list_ids(self) -> np.ndarray:
        """Return the ids of all rows in order."""
        ids = np.empty(len(self), np.int64)
        self.kernels.list_ordered(ids, self.cells, self.meta)
        return ids

    def list_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return int64[n, width] and the copies int64[n] of all rows, in order."""
        ids = self.list_ids()
        words = self.words[: self.meta[kernel.ROWS_USED] * self.width].reshape(-1, self.width)
        return words[ids], self.cells[kernel.COPIES :: self.parts][ids]

    def count_bytes(self) -> int:
        """Return the bytes of rows, tree and labels, without what no row has been written to."""
        used = self.meta[[kernel.ROWS_USED, kernel.NODES_USED]] * (
            self.width + self.parts,
            self.node_words,
        )
        labels = self._labels.count_bytes() if self._labelled or self._unlabelled else 0
        return 8 * int(used.sum()) + self.meta.nbytes + labels

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows."""
        if any(field.type.kind == "text" for field in self.schema):
            yield from list_text_words(self.schema, self.list_rows()[0])

    def save(self) -> Saved:
        """Return all rows in order, with their copies."""
        words, copies = self.list_rows()
        return {"rows": len(self)}, {"words": words.ravel(), "copies": copies}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned in place of all rows; ValueError if it does not fit."""
        rows = values["rows"]
        for name, width in {"words": self.width, "copies": 1}.items():
            array = arrays[name]
            if array.dtype != np.int64 or array.shape != (rows * width,):
                raise ValueError(f"{name}: {array.shape} of {array.dtype}, not {rows} by {width}")
        words, copies = arrays["words"].reshape(rows, self.width), arrays["copies"]
        if (copies < 1).any():
            raise ValueError("rows without a copy")
        self.clear()
        for at in range(0, rows, LOADED_AT_ONCE):
            part = slice(at, at + LOADED_AT_ONCE)
            if self.take(np.ascontiguousarray(words[part]), copies[part]) != DONE:
                raise ValueError("more copies than an integer counts")
        if len(self) != rows:
            self.clear()
            raise ValueError("a row is there twice")


def make_spec(schema: Schema, by: Sequence[int], order: Sequence[tuple[int, bool]]) -> np.ndarray:
    """Return how rows are compared: by the fields of `by` as they are, then by those of `order`."""
    spec = np.zeros((len(by) + len(order), kernel.SPEC), np.int64)
    for row, (place, down) in zip(spec, [*((p, False) for p in by), *order], strict=True):
        kind = schema.fields[place].type.kind
        row[:] = place, KINDS.get(kind, kernel.PLAIN), down, *locate_null(schema, place)
    spec[: len(by), kernel.KIND] = kernel.PLAIN
    return spec.reshape(-1)


def _count_nodes(rows: int, fan: int) -> int:
    """Return how many nodes so many rows have at most, if half of each is empty, and some more."""
    return 4 * rows // fan + 64
