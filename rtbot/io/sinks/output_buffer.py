"""Rows that an output file keeps until it is their turn."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from rtbot.tables.output_table import CodedColumn, map_columns
from rtbot.tables.wide import concat_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.tables.output_table import RawColumn

    Table = Mapping[str, np.ndarray]

PUSH_BYTES = 1 << 10
"""Bytes that keeping the rows of a push takes beside its arrays."""


class OutputBuffer:
    """Rows of some outputs that wait for their turn; `bytes` is about what they take."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self.outputs = outputs
        self.bytes = 0
        self._results: list[Mapping[str, Table]] = []

    def add(self, result: Mapping[str, Table]) -> None:
        """Take the rows of one push."""
        chosen = {name: result[name] for name in self.outputs}
        if any(len(table["t"]) for table in chosen.values()) or not self._results:
            self._keep(chosen)

    def take_all(self) -> Mapping[str, Table]:
        """Take everything."""
        return self._split_at(concat_results(self._results), None)

    def peek_rows(self) -> Mapping[str, Table]:
        """Return everything and keep it; nothing if there is no row."""
        whole = concat_results(self._results) if self._results else {}
        return whole if any(len(table["t"]) for table in whole.values()) else {}

    def take_until(self, frontier: int) -> Mapping[str, Table]:
        """Take the rows of an unkeyed run with t <= frontier; the others keep waiting."""
        return self._split_at(concat_results(self._results), frontier)

    def _split_at(self, whole: Mapping[str, Table], frontier: int | None) -> Mapping[str, Table]:
        given: dict[str, Table] = {}
        rest: dict[str, Table] = {}
        for name, table in whole.items():
            cut = len(table["t"])
            if frontier is not None and cut and table["t"][-1] > frontier:
                cut = int(np.searchsorted(table["t"], frontier, side="right"))
            whole_table = cut == len(table["t"])
            given[name] = table if whole_table else map_columns(table, itemgetter(slice(cut)))
            rest[name] = map_columns(table, itemgetter(slice(cut, None)))
        self._results, self.bytes = [], 0
        self._keep(rest)
        return given

    def _keep(self, result: Mapping[str, Table]) -> None:
        """Keep rows; arrays that outputs share stay shared, and none keeps a larger one alive."""
        made: dict[int, RawColumn] = {}

        def keep(column: RawColumn) -> RawColumn:
            return made.setdefault(id(column), _copy_remnant(column))

        kept = {name: map_columns(table, keep) for name, table in result.items()}
        self._results.append(kept)
        self.bytes += PUSH_BYTES + sum(map(_count_bytes, made.values()))


def _copy_remnant(column: RawColumn) -> RawColumn:
    """Return the column, or a copy where it is a small part of a larger array."""
    if isinstance(column, CodedColumn):
        codes = _copy_remnant(column.codes)
        assert isinstance(codes, np.ndarray)
        return column if codes is column.codes else CodedColumn(codes, column.values)
    is_remnant = isinstance(column.base, np.ndarray) and column.base.nbytes > 2 * column.nbytes
    return column.copy() if is_remnant else column


def _count_bytes(column: RawColumn) -> int:
    if isinstance(column, CodedColumn):
        return column.codes.nbytes + column.values.nbytes
    return column.nbytes
