"""Digests of outputs: equal on any two machines if every row is, to the bit.

A digest is the SHA-256, in hex, of these bytes: `rtbot digest 1` and a line feed; the numbers of
key columns and of rows, as unsigned 64 bits; then every key column, `t` and `value`. A column is
one byte for each row (0 null, 1 number, 2 integer, 3 boolean, 4 text), then its cells that are not
null: numbers and integers as 8 bytes, booleans as one, texts as all their lengths (8 bytes each, in
bytes of UTF-8) and then all their bytes. Everything is little-endian; rows are in the order of
(key, t). Numbers are the bits of IEEE 754: 0.0 is not -0.0, and NaNs of different bits differ.

That of a change output begins with `rtbot digest 2` and a line feed, and the numbers of fields and
of rows; then come `t`, `weight` and every field, as columns of this form.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import put_nulls
from rtbot.tables.change_rows import name_time, name_weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.operator.schema import Schema

BEGIN, BEGIN_CHANGES = b"rtbot digest 1\n", b"rtbot digest 2\n"
NULL, NUMBER, INTEGER, BOOLEAN, TEXT = range(5)
KINDS = {"f": (NUMBER, "<f8"), "i": (INTEGER, "<i8"), "b": (BOOLEAN, "|b1")}


def digest_table(table: Mapping[str, np.ndarray], key: Sequence[str]) -> str:
    """Return the digest of one output's table, whose rows are in the order of (key, t)."""
    found = hashlib.sha256(BEGIN)
    found.update(struct.pack("<QQ", len(key), len(table["t"])))
    for name in (*key, "t"):
        for part in _encode_column(table[name], None):
            found.update(part)
    for part in _encode_column(table["value"], table.get("value_valid")):
        found.update(part)
    return found.hexdigest()


def digest_changes(table: Mapping[str, np.ndarray], schema: Schema) -> str:
    """Return the digest of the table of a change output, whose rows are in their order."""
    time = table[name_time(schema.names)]
    found = hashlib.sha256(BEGIN_CHANGES)
    found.update(struct.pack("<QQ", len(schema), len(time)))
    columns: list[tuple[np.ndarray, np.ndarray | None]] = [(time, None)]
    columns.append((table[name_weight(schema.names)], None))
    for field in schema:
        valid = table.get(f"{field.name}_valid") if field.type.nullable else None
        columns.append((table[field.name], valid))
    for column, valid in columns:
        for part in _encode_column(column, valid):
            found.update(part)
    return found.hexdigest()


def _encode_column(column: np.ndarray, valid: np.ndarray | None) -> Iterator[Any]:
    if column.dtype == object:
        yield from _encode_objects(put_nulls(column.tolist(), valid))
        return
    kind, dtype = KINDS[column.dtype.kind]
    kinds = np.full(len(column), kind, np.uint8)
    if valid is not None:
        kinds[~valid] = NULL
        column = column[valid]
    yield kinds.tobytes()
    yield np.ascontiguousarray(column, dtype).tobytes()


def _encode_objects(cells: list[Any]) -> Iterator[bytes]:
    """Return a column of texts, or of integers, with nulls."""
    kinds = [NULL if cell is None else TEXT if isinstance(cell, str) else INTEGER for cell in cells]
    yield bytes(kinds)
    known = [cell for cell in cells if cell is not None]
    if TEXT not in kinds:
        yield np.array(known, "<i8").tobytes()
        return
    texts = [text.encode() for text in known]
    yield np.array([len(text) for text in texts], "<u8").tobytes()
    yield b"".join(texts)
