"""The changes of an output in their one order: netted, deletes first, rows in a total order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import trim_array
from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import weighing
from rtbot.relations.region_operator import OUTPUT, Fault
from rtbot.relations.row_codec import make_order_keys
from rtbot.relations.weighed import MESSAGES
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from types import ModuleType

    from rtbot.operator.schema import Schema
    from rtbot.tables.string_dictionary import StringDictionary


def order_changes(
    deltas: Deltas, schema: Schema, kernels: ModuleType, texts: StringDictionary
) -> tuple[Deltas, Fault | None]:
    """Net the rows of every transaction and order them: deletes first, then by their values.

    Numbers ascend with NaN last, text is by code point, nulls are last. A weight beyond int64 is a
    fault: the changes returned are then of the transactions before it.
    """
    sizes = np.diff(deltas.starts)
    if int(sizes.max(initial=0)) < 2:
        return deltas, None
    marks = np.empty(len(sizes), np.int64)
    if not kernels.mark_unordered(
        deltas.starts, deltas.words.reshape(-1), deltas.words.shape[1], deltas.weights, marks
    ):
        return deltas, None
    made, done, row = _order_by_keys(
        deltas, sizes, marks, _make_keys(deltas, sizes, marks != 0, schema, texts), kernels
    )
    if row < 0:
        return made, None
    words = deltas.words[row].copy()
    return made, Fault(done, *MESSAGES[weighing.OVERFLOW], port=OUTPUT, words=words)


def net_changes(deltas: Deltas, kernels: ModuleType) -> Deltas:
    """Net the rows of every transaction, in any order; all as they are if a sum has no int64."""
    sizes = np.diff(deltas.starts)
    made, _, row = _order_by_keys(deltas, sizes, np.ones_like(sizes), deltas.words, kernels)
    return deltas if row >= 0 else made


def _order_by_keys(
    deltas: Deltas, sizes: np.ndarray, marks: np.ndarray, keys: np.ndarray, kernels: ModuleType
) -> tuple[Deltas, int, int]:
    """Order marked transactions; how many are done, and a row whose weight has no int64, or -1."""
    rows, transactions = len(deltas), len(sizes)
    starts = np.zeros(transactions + 1, np.int64)
    words, nets = np.empty_like(deltas.words), np.empty(rows, np.int64)
    scratch = [np.empty(int(sizes.max(initial=0)), np.int64) for _ in range(4)]
    done, code, count = kernels.order_transactions(
        marks, deltas.starts, keys.reshape(-1), keys.shape[1],
        deltas.words.reshape(-1), deltas.words.shape[1], deltas.weights, *scratch,
        words.reshape(-1), nets, starts,
    )  # fmt: skip
    made = Deltas(starts[: done + 1], trim_array(words, count), trim_array(nets, count))
    return made, int(done), -1 if code == hash_tables.DONE else int(scratch[1][0])


def _make_keys(
    deltas: Deltas, sizes: np.ndarray, marked: np.ndarray, schema: Schema, texts: StringDictionary
) -> np.ndarray:
    """Return words by which rows are compared; those of other transactions may be anything."""
    if marked.mean() > 0.1:
        return make_order_keys(schema, deltas.words, texts)
    chosen = np.repeat(marked, sizes)
    some = make_order_keys(schema, deltas.words[chosen], texts)
    keys = np.zeros((len(deltas), some.shape[1]), np.int64)
    keys[chosen] = some
    return keys
