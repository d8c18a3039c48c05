"""Rows of a schema as words, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.batch import DTYPES
from rtbot.tables.text_columns import TextColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.operator.schema import Schema
    from rtbot.tables.string_dictionary import StringDictionary

MASK_BITS = 63
"""Fields of one word of nulls, so that no word is negative."""

FEW = 64
"""So many rows and more are worth a search for those that differ before their texts."""

LARGEST = np.int64(2**63 - 1)


class RowCodec:
    """Words of the rows of a schema: equal rows have equal words.

    A row has a word for every field: an integer, 0 or 1 for a boolean, the bits of a number (one
    zero, one NaN), the code of a text. Where a field is nullable there are words of null bits
    behind them, field `place` being bit place % 63 of word place // 63; the word of a null is 0.
    """

    def __init__(self, schema: Schema, texts: StringDictionary) -> None:
        self.schema, self.texts = schema, texts

    def encode(
        self, columns: Sequence[np.ndarray | TextColumn], valid: Sequence[np.ndarray | None]
    ) -> np.ndarray:
        """Return int64[n, width] of columns in the order of the fields.

        `valid` has, for every field, bool[n] or None where no cell is null; of a text, null is also
        the code -1. Raises ValueError for a null in a field that is not nullable.
        """
        fields = self.schema.fields
        words = np.zeros((len(columns[0]), self.schema.width), np.int64)
        for place, (field, column, given) in enumerate(zip(fields, columns, valid, strict=True)):
            present = given
            if isinstance(column, TextColumn):
                cells = self.texts.encode(column)
                if (cells < 0).any():
                    present = cells >= 0 if given is None else given & (cells >= 0)
            else:
                cells = _encode_cells(column, field.type.kind)
            if present is None or present.all():
                words[:, place] = cells
                continue
            if not field.type.nullable:
                raise ValueError(f"null in the field {field.name}, which is {field.type}")
            words[:, place] = np.where(present, cells, 0)
            mask = ~present
            words[:, len(fields) + place // MASK_BITS] |= mask.astype(np.int64) << (
                place % MASK_BITS
            )
        return words

    def decode(self, words: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns by name, and `<name>_valid` bool[n] of nullable fields.

        Texts are object arrays. Cells that are null are NaN, 0, False or None.
        """
        found: dict[str, np.ndarray] = {}
        for place, field in enumerate(self.schema.fields):
            kind, nulls = field.type.kind, find_nulls(self.schema, words, place)
            cells = np.ascontiguousarray(words[:, place])
            if kind == "text":
                codes = cells if nulls is None else np.where(nulls, -1, cells)
                found[field.name] = self.texts.decode(codes)
            elif kind == "number":
                found[field.name] = cells.view(np.float64)
            else:
                found[field.name] = cells.astype(DTYPES[kind], copy=False)
            if nulls is not None:
                if kind == "number":
                    found[field.name] = np.where(nulls, np.nan, found[field.name])
                found[f"{field.name}_valid"] = ~nulls
        return found

    def decode_row(self, row: np.ndarray) -> dict[str, Any]:
        """Return one row as values of Python, None for null."""
        columns = self.decode(row.reshape(1, -1))
        return {
            field.name: None
            if f"{field.name}_valid" in columns
            and field.type.nullable
            and not columns[f"{field.name}_valid"][0]
            else columns[field.name].tolist()[0]
            for field in self.schema.fields
        }


def find_nulls(schema: Schema, words: np.ndarray, place: int) -> np.ndarray | None:
    """Return bool[n]: which cells of a field are null; None for a field that is not nullable."""
    word, bit = locate_null(schema, place)
    if word < 0:
        return None
    found: np.ndarray = (words[:, word] >> bit & 1).astype(np.bool_)
    return found


def locate_null(schema: Schema, place: int) -> tuple[int, int]:
    """Return the word and the bit of it that say whether a field is null; word -1: it never is."""
    nullable = schema.fields[place].type.nullable
    return len(schema) + place // MASK_BITS if nullable else -1, place % MASK_BITS


def list_text_words(schema: Schema, words: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the words of rows that are codes of texts, or 0 where one is null."""
    for place, field in enumerate(schema.fields):
        if field.type.kind == "text":
            yield words[:, place]


def make_order_keys(schema: Schema, words: np.ndarray, texts: StringDictionary) -> np.ndarray:
    """Return int64[n, k] whose rows, word by word, compare as the rows of the schema do.

    Column by column: NaN is the greatest number, text is by code point, nulls are last. A text has
    its place among those of the rows that are equal in all columns before it.
    """
    kinds = [(field.type.kind, field.type.nullable) for field in schema]
    if all(kind in {"integer", "boolean"} and not nullable for kind, nullable in kinds):
        return words
    keys = np.empty((len(words), len(kinds) + kinds.count(("integer", True))), np.int64)
    at, tied = 0, np.arange(len(words))
    for place, (kind, _) in enumerate(kinds):
        nulls = find_nulls(schema, words, place)
        if kind == "text":
            tied = tied[find_tied(keys[tied, :at])]
            cells = words[:, place] if nulls is None else np.where(nulls, -1, words[:, place])
            keys[:, at] = 0
            keys[tied, at] = texts.ranks(cells[tied])
            at += 1
            continue
        for column in _order_cells(kind, words[:, place], nulls):
            keys[:, at] = column
            at += 1
    return keys


def find_tied(keys: np.ndarray) -> np.ndarray:
    """Return the rows of int64[n, k] to which others may be equal: texts behind them decide."""
    if len(keys) < FEW or not keys.shape[1]:
        return np.arange(len(keys))
    tags = np.zeros(len(keys), np.uint64)
    for column in keys.T:
        tags = (tags ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        tags ^= tags >> np.uint64(29)
    order = np.argsort(tags)
    same = tags[order[1:]] == tags[order[:-1]]
    found: np.ndarray = order[np.append(same, False) | np.append(False, same)]
    return found


def _order_cells(kind: str, cells: np.ndarray, nulls: np.ndarray | None) -> list[np.ndarray]:
    """Return one word for each cell that is no text, or two where an integer may be null."""
    if kind == "number":
        cells = cells ^ ((cells >> 63) & LARGEST)
    if nulls is None:
        return [cells]
    return (
        [nulls.astype(np.int64), cells] if kind == "integer" else [np.where(nulls, LARGEST, cells)]
    )


def find_least(schema: Schema, words: np.ndarray, texts: StringDictionary) -> np.ndarray:
    """Return the first of some rows in the total order."""
    keys = make_order_keys(schema, words, texts)
    row: np.ndarray = words[np.lexsort(keys.T[::-1])[0]].copy()
    return row


def _encode_cells(column: np.ndarray, kind: str) -> np.ndarray:
    if kind != "number":
        return column.astype(np.int64, copy=False)
    numbers = column.astype(np.float64)
    numbers += 0.0  # there is one zero
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.int64)
