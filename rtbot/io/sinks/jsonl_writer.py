"""Tables written as JSONL: an object per row, its keys in the order of the columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import BinaryIO

    from rtbot.io.sinks.writers import TimeFormat

SPECIAL = r'[\x00-\x1f"\\]'
"""What JSON escapes in text."""

SLICE_ROWS = 65_536


class JsonlWriter:
    """JSONL. A null cell of a column in `sparse` is left out, any other is written as null.

    Numbers are written so that they read back bit for bit; JSON has no number for what is not
    finite, which is written as the text "nan", "inf" or "-inf".
    """

    def __init__(self, stream: BinaryIO, clock: TimeFormat, sparse: Collection[str] = ()) -> None:
        self._stream, self._clock, self._sparse = stream, clock, sparse

    def write(self, table: pa.Table) -> None:
        """Write rows."""
        for start in range(0, table.num_rows, SLICE_ROWS):
            self._stream.write(
                self._format_lines(self._clock.format_table(table.slice(start, SLICE_ROWS)))
            )

    def _format_lines(self, table: pa.Table) -> pa.Buffer:
        """Return the lines one after the other in an Arrow array of text.

        The first column has no nulls, so that every other can bring the comma before it.
        """
        parts = []
        for place, name in enumerate(table.column_names):
            head = ("," if place else "{") + json.dumps(name, ensure_ascii=False) + ":"
            number = name == self._clock.column and self._clock.is_numeric
            value = _format_values(table.column(name), quoted=not number)
            if name in self._sparse:
                part = pc.binary_join_element_wise(head, value, "")
                parts.append(pc.fill_null(part, ""))
            else:
                parts += [head, pc.fill_null(value, "null")]
        lines = pc.binary_join_element_wise(*parts, "}\n", "")
        return _view_bytes(lines)

    def close(self) -> None:
        """Do nothing: there is nothing at the end of JSONL."""


def _format_values(column: pa.ChunkedArray, *, quoted: bool = True) -> pa.Array:
    """Return the cells as JSON, null where they are null; text that is no number is quoted."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    if pa.types.is_fixed_size_list(whole.type):
        parts = [pc.list_element(whole, place) for place in range(whole.type.list_size)]
        cells = pc.binary_join_element_wise(*map(_format_number, parts), ",")
        return pc.binary_join_element_wise("[", cells, "]", "")
    if pa.types.is_string(whole.type):
        return _quote_texts(whole) if quoted else whole
    return _format_number(whole)


def _format_number(whole: pa.Array) -> pa.Array:
    text = pc.cast(whole, pa.string())
    if not pa.types.is_floating(whole.type):
        return text
    finite = pc.is_finite(whole)
    if pc.all(finite).as_py() is not False:
        return text
    return pc.if_else(finite, text, pc.binary_join_element_wise('"', text, '"', ""))


def _quote_texts(texts: pa.Array) -> pa.Array:
    """Return text in quotes; each distinct one that needs it is escaped once."""
    distinct = texts.dictionary_encode()
    values = distinct.dictionary
    quoted = pc.binary_join_element_wise('"', values, '"', "")
    special = pc.match_substring_regex(values, SPECIAL)
    if pc.any(special).as_py():
        found = values.filter(special).to_pylist()
        escaped = pa.array([json.dumps(text, ensure_ascii=False) for text in found], pa.string())
        quoted = pc.replace_with_mask(quoted, special, escaped)
    return quoted.take(distinct.indices)


def _view_bytes(lines: pa.Array) -> pa.Buffer:
    if not len(lines):
        return pa.py_buffer(b"")
    offsets = memoryview(lines.buffers()[1]).cast("i")[lines.offset : lines.offset + len(lines) + 1]
    return lines.buffers()[2].slice(offsets[0], offsets[-1] - offsets[0])
