"""Single rows of Python values as bytes of words, and back: what `push_one` takes and returns."""

from __future__ import annotations

from struct import Struct, error
from typing import TYPE_CHECKING, Any

from rtbot.relations.row_codec import MASK_BITS

if TYPE_CHECKING:
    from rtbot.operator.schema import Schema
    from rtbot.relations.row_buffer import RowBuffer
    from rtbot.tables.string_dictionary import StringDictionary

NOT_A_NUMBER = float("nan")
TYPES = {"integer": int, "number": float, "boolean": bool, "text": str}
"""What a cell has to be; anything else is converted the general way."""


class RowPacker:
    """Makes the words of a row, as `RowCodec` does, of the mapping that a user gives."""

    def __init__(self, schema: Schema, texts: StringDictionary) -> None:
        self.texts = texts
        self._fields: list[tuple[str, Any, int, int]] = [
            (
                field.name,
                TYPES[field.type.kind],
                place // MASK_BITS,
                (1 << place % MASK_BITS) * field.type.nullable,
            )
            for place, field in enumerate(schema)
        ]
        masks = schema.width - len(schema)
        self._pack = make_struct(schema).pack
        self._masks = [0] * masks
        self._has_texts = any(field.type.kind == "text" for field in schema)

    def pack(self, row: Any) -> bytes | None:
        """Return the words of a row; None where only the general way knows what it is.

        A row that is refused leaves no text behind.
        """
        if not self._has_texts:
            return self._pack_cells(row)
        before = self.texts.mark()
        packed = self._pack_cells(row)
        if packed is None:
            self.texts.roll_back(before)
        return packed

    def _pack_cells(self, row: Any) -> bytes | None:
        if type(row) is not dict or len(row) != len(self._fields):
            return None
        cells: list[Any] = []
        masks = self._masks
        for name, wanted, place, bit in self._fields:
            cell = row.get(name, ...)
            if type(cell) is wanted:
                if wanted is float:
                    cell = cell + 0.0 if cell == cell else NOT_A_NUMBER
                elif wanted is str:
                    cell = self._find_code(cell)
            elif cell is None and bit:
                if masks is self._masks:
                    masks = masks.copy()
                masks[place] |= bit
                cell = 0
            else:
                return None
            cells.append(cell)
        try:
            return self._pack(*cells, *masks)
        except error:  # an integer beyond 64 bits, or a text that is not Unicode
            return None

    def _find_code(self, text: str) -> int | None:
        """Return the code of a text; None if it is not Unicode."""
        found = self.texts.codes.get(text)
        if found is not None:
            return found
        try:
            text.encode()
        except UnicodeEncodeError:
            return None
        return self.texts.code(text)


class RowReader:
    """Reads the rows of a buffer as `push_one` returns them."""

    def __init__(self, schema: Schema, texts: StringDictionary) -> None:
        self.texts, self.width = texts, schema.width
        self._fields = [
            (
                field.name,
                place,
                field.type.kind,
                len(schema) + place // MASK_BITS if field.type.nullable else 0,
                1 << place % MASK_BITS,
            )
            for place, field in enumerate(schema)
        ]

    def read(self, rows: RowBuffer, time: int) -> list[tuple[int, int, dict[str, Any]]]:
        """Return rows (t, weight, {field: value}) of Python's own types; null is None."""
        found = []
        integers, numbers, texts = rows.integers, rows.numbers, self.texts.values
        for row in range(rows.ends[1]):
            base = row * self.width
            cells: dict[str, Any] = {}
            for name, place, kind, word, bit in self._fields:
                if word and integers[base + word] & bit:
                    cells[name] = None
                elif kind == "integer":
                    cells[name] = integers[base + place]
                elif kind == "number":
                    cells[name] = numbers[base + place]
                elif kind == "text":
                    cells[name] = texts[integers[base + place]]
                else:
                    cells[name] = integers[base + place] != 0
            found.append((time, rows.signs[row], cells))
        return found


def make_struct(schema: Schema) -> Struct:
    """Return the form of a row in bytes: numbers and others, then the masks of nulls."""
    kinds = ("d" if field.type.kind == "number" else "q" for field in schema)
    return Struct("=" + "".join(kinds) + "q" * (schema.width - len(schema)))
