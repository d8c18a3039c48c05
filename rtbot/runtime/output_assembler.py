"""From the batches of a run to tables: slots to keys, codes to texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.compiler.plan import Plan
    from rtbot.core.batch import Batch, Column
    from rtbot.runtime.keys import KeyTable
    from rtbot.tables.string_dictionary import StringDictionary

    Table = dict[str, np.ndarray]


class OutputAssembler:
    """Makes the tables of outputs; outputs of one stream share their key columns and times."""

    def __init__(self, plan: Plan, keys: KeyTable | None, texts: StringDictionary) -> None:
        self.plan = plan
        self.keys = keys
        self.texts = texts

    def build_tables(self, slots: np.ndarray, batches: Sequence[Batch]) -> dict[str, Table]:
        """Return the table of every output."""
        shared: dict[int, Table] = {}
        tables: dict[str, Table] = {}
        for name, (stream, place) in self.plan.places.items():
            batch = batches[stream]
            if stream not in shared:
                shared[stream] = self._build_frame(slots, batch)
            kind = self.plan.streams[stream].types[place].kind
            tables[name] = shared[stream] | self._build_values(kind, batch.columns[place])
        return tables

    def _build_frame(self, slots: np.ndarray, batch: Batch) -> Table:
        if self.keys is None:
            return {"t": batch.time}
        rows = np.diff(batch.starts)
        keys = self.keys.decode_keys(slots)
        return {n: np.repeat(c, rows) for n, c in keys.items()} | {"t": batch.time}

    def _build_values(self, kind: str, column: Column) -> Table:
        value = column.value
        if kind == "text":
            codes = value if column.valid is None else np.where(column.valid, value, -1)
            value = self.texts.decode(codes)
        if column.valid is None:
            return {"value": value}
        return {"value": value, "value_valid": column.valid}
