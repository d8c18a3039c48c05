"""Columns of text as codes into a list of distinct values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrow import fill_nulls
from rtbot.core.errors import DataError
from rtbot.tables.number_columns import NULL_TYPES

if TYPE_CHECKING:
    from rtbot.tables.forms import Column


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of text: `codes` (int64, -1 is null) index the distinct `values`."""

    codes: np.ndarray
    values: list[str]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> TextColumn:
        return TextColumn(self.codes[rows], self.values)

    def to_objects(self) -> np.ndarray:
        """Return the text as an object array, with None for null."""
        table: np.ndarray = np.array([*self.values, None], object)
        return table.take(self.codes)


def encode_text(column: Column) -> TextColumn:
    """Encode a column of text; values are in the order in which they appear."""
    if isinstance(column, list):
        return _encode_list(column)
    if isinstance(column, np.ndarray):
        if len(column):
            message = f"text is expected, not a column of {column.dtype}"
            raise DataError(message, code="RT220", row=0, value=column[0].item())
        return TextColumn(np.empty(0, np.int64), [])
    return _encode_arrow(column)


def is_text(column: Column) -> bool:
    """Return whether a column holds text (or nothing but nulls), rather than numbers."""
    if isinstance(column, list):
        kinds = set(map(type, column))
        return all(kind.__name__ in NULL_TYPES or issubclass(kind, str) for kind in kinds)
    if isinstance(column, np.ndarray):
        return False
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return _is_string(kind) or pa.types.is_null(kind)


def _encode_list(column: list[Any]) -> TextColumn:
    kinds = set(map(type, column))
    if kinds == {str}:
        places: dict[str, int] = {}
        codes = np.fromiter(
            (places.setdefault(value, len(places)) for value in column), np.int64, len(column)
        )
    else:
        codes, places = _encode_mixed(column)
    for value, code in places.items():
        if not _is_unicode(value):
            row = int(np.argmax(codes == code))
            message = "text that is not valid Unicode (a lone surrogate)"
            raise DataError(message, code="RT209", row=row, value=value)
    return TextColumn(codes, list(places))


def _encode_mixed(column: list[Any]) -> tuple[np.ndarray, dict[str, int]]:
    """Encode text among nulls: None, and what frames put in columns of objects for it."""
    places: dict[str, int] = {}
    codes = np.full(len(column), -1, np.int64)
    for row, value in enumerate(column):
        if isinstance(value, str):
            codes[row] = places.setdefault(str(value), len(places))
        elif type(value).__name__ not in NULL_TYPES and value == value:
            raise DataError("not text", code="RT201", row=row, value=value)
    return codes, places


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encode_arrow(column: Column) -> TextColumn:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return TextColumn(np.full(len(column), -1, np.int64), [])
    if pa.types.is_dictionary(kind):
        values = column.dictionary.to_pylist() if _is_string(kind.value_type) else []
        if None in values or len(set(values)) < len(values):
            column = column.dictionary_decode()
        kind = kind.value_type
    if not _is_string(kind):
        raise DataError(f"text is expected, not a column of {kind}", code="RT220")
    if not pa.types.is_dictionary(column.type):
        plain = column.cast(pa.large_string()) if pa.types.is_string_view(kind) else column
        column = plain.dictionary_encode()
    codes = fill_nulls(column.indices, -1)[0].astype(np.int64)
    return TextColumn(codes, column.dictionary.to_pylist())


def _is_string(kind: Any) -> bool:
    import pyarrow as pa

    return any(
        is_kind(kind)
        for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    )
