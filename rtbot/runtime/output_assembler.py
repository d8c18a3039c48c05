"""From the batches of a run to tables: slots to keys, codes to texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.tables.output_table import CodedColumn, OutputTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.compiler.plan import Plan
    from rtbot.core.batch import Batch, Column
    from rtbot.runtime.keys import KeyTable
    from rtbot.tables.output_table import RawColumn
    from rtbot.tables.string_dictionary import StringDictionary

    Table = dict[str, RawColumn]


class OutputAssembler:
    """Makes the tables of outputs; outputs of one stream share their key columns and times."""

    def __init__(self, plan: Plan, keys: KeyTable | None, texts: StringDictionary) -> None:
        self.plan = plan
        self.keys = keys
        self.texts = texts

    def build_tables(self, slots: np.ndarray, batches: Sequence[Batch]) -> dict[str, OutputTable]:
        """Return the table of every output."""
        keys = {} if self.keys is None else self.keys.decode_keys(slots)
        shared: dict[int, Table] = {}
        tables: dict[str, OutputTable] = {}
        for name, (stream, place) in self.plan.places.items():
            batch = batches[stream]
            if stream not in shared:
                shared[stream] = _build_frame(keys, batch)
            kind = self.plan.streams[stream].types[place].kind
            values = self._build_values(kind, batch.columns[place])
            tables[name] = table = OutputTable(shared[stream])
            table.update(values)
        return tables

    def _build_values(self, kind: str, column: Column) -> Table:
        value = column.value
        if kind == "text":
            codes = value if column.valid is None else np.where(column.valid, value, -1)
            value = self.texts.decode(codes)
        if column.valid is None:
            return {"value": value}
        return {"value": value, "value_valid": column.valid}


def _build_frame(keys: Mapping[str, np.ndarray], batch: Batch) -> Table:
    """Return the columns that outputs of a stream share; `keys` has a row for every run."""
    if not keys:
        return {"t": batch.time}
    rows = batch.starts[1:] - batch.starts[:-1]
    table: Table = {}
    codes: np.ndarray | None = None
    for name, column in keys.items():
        if column.dtype != object:
            table[name] = column.repeat(rows)
            continue
        if codes is None:
            codes = np.arange(len(rows)).repeat(rows)
        table[name] = CodedColumn(codes, column)
    table["t"] = batch.time
    return table
