"""Rows of a relation as tuples of values, and as codes: one int64 for every value."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError
from rtbot.datalog.evaluation.term_values import encode_float, order_floats
from rtbot.datalog.functors import LIMITS
from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.datalog.program import Relation
    from rtbot.tables.string_dictionary import StringDictionary

    Row = tuple[int | float | str, ...]

NOUNS = {
    NUMBER: "an integer",
    UNSIGNED: "an integer of at least 0",
    FLOAT: "a number",
    SYMBOL: "a text",
}
HIGHEST = np.int64(2**63 - 1)
NOT_ROWS = (str, bytes, bytearray, dict, set, frozenset)
EXCERPT_MAX = 40


class FactCodec:
    """Codes of the rows of a relation, and back.

    A number is its own code, an unsigned number its 64 bits, a float its bits (one NaN, one zero),
    a symbol its code in `texts`. Rows in order are so by value, column by column: NaN is the
    greatest float, texts are in the order of their code points.
    """

    def __init__(self, relation: Relation, texts: StringDictionary) -> None:
        self.name, self.texts = relation.name, texts
        self.columns = [column.name for column in relation.columns]
        self.types = [column.type for column in relation.columns]

    @property
    def width(self) -> int:
        """Columns of a row."""
        return len(self.types)

    def encode(self, rows: Iterable[Sequence[Any]]) -> np.ndarray:
        """Return the codes of rows, int64[n, width].

        A row is any sequence. Raises DataError for one with too few or too many values, or a value
        that is not of its column's type; new texts may have codes then.
        """
        table = [self._read_row(place, row) for place, row in enumerate(_list_rows(rows))]
        words = np.empty((len(table), self.width), np.int64)
        for place, column in enumerate(zip(*table, strict=True)):
            words[:, place] = self._encode_column(place, column)
        return words

    def _read_row(self, place: int, row: Any) -> tuple[Any, ...]:
        """Return a row as a tuple of the right length."""
        cells = _read_cells(row)
        if cells is None:
            message = f"a row of {self.name} is a sequence of values, this is {shorten_value(row)}"
            hint = f"rows are a list: [{self._show_example()}]"
            raise DataError(message, code="RT214", hint=hint, row=place)
        if len(cells) != self.width:
            message = f"{self.name} has {self._count_columns()}, this row has {len(cells)}"
            hint = f"as {self.name}{self._show_example()}"
            raise DataError(message, code="RT207", hint=hint, row=place, value=shorten_value(row))
        return cells

    def _count_columns(self) -> str:
        return f"{self.width} column{'s' * (self.width != 1)}"

    def _show_example(self) -> str:
        examples = {NUMBER: "1", UNSIGNED: "1", FLOAT: "1.5", SYMBOL: "'a'"}
        shown = ", ".join(examples[kind] for kind in self.types)
        return f"({shown}{',' * (self.width == 1)})"

    def _encode_column(self, place: int, cells: Sequence[Any]) -> Any:
        kind = self.types[place]
        kinds = set(map(type, cells))
        if kind == SYMBOL and kinds <= {str} and all(map(_is_storable, set(cells))):
            return list(map(self.texts.code, cells))
        if kind == NUMBER and kinds <= {int}:
            try:
                return np.array(cells, np.int64)
            except OverflowError:
                pass
        return [self._encode_cell(place, row, cell) for row, cell in enumerate(cells)]

    def _encode_cell(self, place: int, row: int, cell: Any) -> int:
        try:
            return encode_value(self.types[place], cell, self.texts)
        except (TypeError, OverflowError) as error:
            beyond = isinstance(error, OverflowError)
            kind = self.types[place]
            what = f"{self.columns[place]} of {self.name} is {kind}"
            message = f"{what}: {shorten_value(cell)} is beyond 64 bits" if beyond else ""
            raise DataError(
                message or f"{what}, {NOUNS[kind]}, not {shorten_value(cell)}",
                code="RT213" if beyond else "RT201",
                row=row,
                column=self.columns[place],
            ) from None

    def sort(self, words: np.ndarray) -> np.ndarray:
        """Return rows of codes in order."""
        if len(words) < 2 or not self.width:
            return words
        keys = [self._make_key(place, words[:, place]) for place in range(self.width)]
        found: np.ndarray = words[_find_order(keys)]
        return found

    def _make_key(self, place: int, codes: np.ndarray) -> np.ndarray:
        kind = self.types[place]
        if kind == UNSIGNED:
            return np.ascontiguousarray(codes).view(np.uint64)
        if kind == FLOAT:
            return order_floats(codes)
        return self.texts.ranks(codes) if kind == SYMBOL else codes

    def decode(self, words: np.ndarray) -> list[Row]:
        """Return rows of codes as tuples of int, float and str, in order."""
        if not self.width:
            return [()] * len(words)
        words = self.sort(words)
        columns = [self._decode_column(place, words[:, place]) for place in range(self.width)]
        return list(zip(*columns, strict=True))

    def _decode_column(self, place: int, codes: np.ndarray) -> list[Any]:
        kind, codes = self.types[place], np.ascontiguousarray(codes)
        if kind == SYMBOL:
            return list(self.texts.decode(codes).tolist())
        if kind == FLOAT:
            return list(codes.view(np.float64).tolist())
        return list((codes.view(np.uint64) if kind == UNSIGNED else codes).tolist())


def _find_order(keys: Sequence[np.ndarray]) -> np.ndarray:
    """Return the order of rows by several keys: by one, if one integer can hold them all."""
    packed = np.zeros(len(keys[0]), np.int64)
    room = 1
    for key in keys:
        least = key.min()
        span = int(key.max()) - int(least) + 1
        room *= span
        if room > HIGHEST:
            return np.lexsort(keys[::-1])
        packed = packed * span + (key - least).astype(np.int64)
    return np.argsort(packed)


def encode_value(kind: str, value: Any, texts: StringDictionary) -> int:
    """Return the code of one value.

    Raises TypeError for a value of another type, OverflowError for one beyond 64 bits.
    """
    if kind == SYMBOL:
        if not isinstance(value, str) or not _is_storable(value):
            raise TypeError
        return texts.code(str(value))
    if isinstance(value, bool | np.bool_):
        raise TypeError
    if kind == FLOAT:
        if isinstance(value, str | bytes):
            raise TypeError
        return encode_float(float(value))
    number = operator.index(value)
    least, most = LIMITS[kind]
    if kind == UNSIGNED and number < 0:
        raise TypeError
    if not least <= number <= most:
        raise OverflowError
    return number - 2**64 if number > HIGHEST else number


def _is_storable(text: str) -> bool:
    """Return whether a text is Unicode without halves of surrogate pairs."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _list_rows(rows: Any) -> list[Any]:
    if isinstance(rows, NOT_ROWS):
        message = f"rows are a list of rows, not {shorten_value(rows)}"
        raise DataError(message, code="RT214", hint="write [(1, 2)] for one row")
    try:
        return list(rows)
    except TypeError:
        message = f"rows are a list of rows, not {shorten_value(rows)}"
        raise DataError(message, code="RT214", hint="write [(1, 2)] for one row") from None


def _read_cells(row: Any) -> tuple[Any, ...] | None:
    if isinstance(row, NOT_ROWS):
        return None
    try:
        return tuple(row)
    except TypeError:
        return None


def shorten_value(value: Any) -> str:
    """Return a value as an error shows it."""
    text = repr(value)
    return text if len(text) <= EXCERPT_MAX else f"{text[: EXCERPT_MAX - 3]}..."
