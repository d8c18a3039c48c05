"""Tables of results, whose key columns of objects are decoded when somebody reads them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class CodedColumn:
    """A column of objects: `codes` (int64) index `values`, of which some may be there twice.

    The objects are texts, or integers beside None. A slice of it shares `values`.
    """

    def __init__(self, codes: np.ndarray, values: np.ndarray) -> None:
        self.codes, self.values = codes, values

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> CodedColumn:
        return CodedColumn(self.codes[rows], self.values)

    @cached_property
    def objects(self) -> np.ndarray:
        """The object array; made once."""
        return self.values.take(self.codes)


RawColumn = np.ndarray | CodedColumn


class OutputTable(dict[str, Any]):
    """A dict of equally long numpy arrays; a `CodedColumn` is decoded when it is read.

    Only `raw` shows that: everything else gives the object array.
    """

    def raw(self, name: str) -> RawColumn:
        """Return a column as it is kept."""
        found: RawColumn = super().__getitem__(name)
        return found

    def __getitem__(self, name: str) -> np.ndarray:
        return _decode(super().__getitem__(name))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names; `dict(table)` reads columns one by one because of it."""
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """Return a column, or the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def items(self) -> Any:
        """Return names and arrays."""
        return dict(self).items()

    def values(self) -> Any:
        """Return the arrays."""
        return dict(self).values()

    def copy(self) -> dict[str, Any]:
        """Return a plain dict."""
        return dict(self)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        return dict(self) | dict(other)

    def __ror__(self, other: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        return dict(other) | dict(self)

    def __eq__(self, other: object) -> bool:
        return dict(self) == (dict(other) if isinstance(other, OutputTable) else other)

    __hash__ = None

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _decode(column: RawColumn) -> np.ndarray:
    return column.objects if isinstance(column, CodedColumn) else column


def read_raw(table: Mapping[str, Any], name: str) -> RawColumn:
    """Return a column of a table of any kind without decoding it."""
    if isinstance(table, OutputTable):
        return table.raw(name)
    found: np.ndarray = table[name]
    return found


def map_columns(table: Mapping[str, Any], change: Callable[[RawColumn], RawColumn]) -> OutputTable:
    """Return a table of what `change` makes of every column as it is kept."""
    return OutputTable({name: change(read_raw(table, name)) for name in table})


def concat_raw(columns: Sequence[RawColumn]) -> RawColumn:
    """Return columns that follow one another as one."""
    if len(columns) == 1:
        return columns[0]
    coded = [column for column in columns if isinstance(column, CodedColumn)]
    if len(coded) < len(columns):
        return np.concatenate([_decode(column) for column in columns])
    if all(column.values is coded[0].values for column in coded):
        return CodedColumn(np.concatenate([column.codes for column in coded]), coded[0].values)
    places: dict[Any, int] = {}
    parts = []
    for column in coded:
        table = [places.setdefault(text, len(places)) for text in column.values.tolist()]
        parts.append(np.array(table, np.int64).take(column.codes))
    values = np.empty(len(places), object)
    values[:] = list(places)
    return CodedColumn(np.concatenate(parts), values)
