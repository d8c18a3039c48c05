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
        self.keys = keys
        self.texts = texts
        self.outputs = [
            (name, stream, place, plan.streams[stream].types[place].kind == "text")
            for name, (stream, place) in plan.places.items()
        ]

    def build_tables(self, slots: np.ndarray, batches: Sequence[Batch]) -> dict[str, OutputTable]:
        """Return the table of every output."""
        keys = {} if self.keys is None else self.keys.decode_keys(slots)
        shared: dict[int, Table] = {}
        tables: dict[str, OutputTable] = {}
        for name, stream, place, is_text in self.outputs:
            batch = batches[stream]
            if stream not in shared:
                shared[stream] = _build_frame(keys, batch)
            column = batch.columns[place]
            tables[name] = table = OutputTable(shared[stream])
            table["value"] = self._decode_texts(column) if is_text else column.value
            if column.valid is not None:
                table["value_valid"] = column.valid
        return tables

    def _decode_texts(self, column: Column) -> np.ndarray:
        codes = column.value
        return self.texts.decode(
            codes if column.valid is None else np.where(column.valid, codes, -1)
        )


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
