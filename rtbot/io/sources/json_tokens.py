"""Lines of JSON and their cells, by strict rules; what does not fit is named.

This is the slow, exact reading; pyarrow's own is used where it agrees (see `jsonl`). Integers are
never floats in between. What JSON cannot express as a number, NaN and the infinities, is text
("nan", "inf", "-inf") or, as some programs write it, NaN, Infinity and -Infinity without quotes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rtbot.core.duplicate_names import repeated
from rtbot.core.times import INT64_MAX, INT64_MIN
from rtbot.io.blocks import CellError
from rtbot.io.sources.cells import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

HINT = 'a line is one object: {"t": 1, "x": 2.5}'
BLANK = " \t\r\n"
DIGITS_MAX = 20
"""More characters than the integers of 64 bits have."""


class JsonNumber(str):
    """A number as it is written."""

    __slots__ = ()


class JsonInteger(JsonNumber):
    """A number without fraction or exponent."""

    __slots__ = ()


class BadCell(Exception):  # noqa: N818 (it is caught here)
    """A cell is not of its kind."""

    def __init__(self, message: str, code: str = "RT201") -> None:
        super().__init__(message)
        self.message, self.code = message, code


def parse_line(line: bytes, wanted: Collection[str] = ()) -> dict[str, Any]:
    """Read one line; numbers stay as they are written, and objects in cells are tuples of pairs.

    Raises ValueError if it is not an object, or if one of the wanted keys is in it twice.
    """
    text = line.decode().strip(BLANK)
    try:
        found, end = _DECODER.scan_once(text, 0)
        if end < len(text):
            raise json.JSONDecodeError("more than one value", text, end)  # noqa: TRY301 (as below)
    except StopIteration as stop:
        if text.startswith("["):
            raise ValueError("a list; here every line is an object of its own") from None
        raise ValueError(f"not JSON: no value (at character {stop.value + 1})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} (at character {error.pos + 1})") from None
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None
    if type(found) is not tuple:
        raise ValueError("JSON, but not an object")
    row = dict(found)
    if len(row) < len(found):
        twice = repeated(name for name, _ in found if name in wanted)
        if twice is not None:
            raise ValueError(f"the key {twice!r} is there twice")
    return row


_DECODER: Any = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_float=JsonNumber,
    parse_int=JsonInteger,
    parse_constant=JsonNumber,
)


def convert_column(cells: Sequence[Any], kind: str, name: str) -> tuple[pa.Array, list[CellError]]:
    """Convert parsed cells to the kind; bad cells become null and a fault.

    The kind `any` gives text that `convert_any_column` reads.
    """
    convert_one, arrow = _KINDS[kind]
    values, faults = [], []
    for row, cell in enumerate(cells):
        value = None
        if cell is not None:
            try:
                value = convert_one(cell)
            except BadCell as bad:
                faults.append(CellError(row, name, bad.message, _format_cell(cell), code=bad.code))
        values.append(value)
    return pa.array(values, arrow), faults


def convert_any_column(texts: pa.Array, kind: str, name: str) -> tuple[pa.Array, list[CellError]]:
    """Convert a column that was read as `any` to a kind."""
    return convert_column(
        [None if text is None else _decode_any(text) for text in texts.to_pylist()], kind, name
    )


def _to_number(cell: Any) -> float:
    if type(cell) in (JsonNumber, JsonInteger) or (type(cell) is str and re.match(WORDS, cell)):
        return float(cell)
    raise BadCell("not a number")


def _to_integer(cell: Any) -> int:
    if type(cell) is not JsonInteger:
        raise BadCell("not an integer")
    value = int(cell) if len(cell) <= DIGITS_MAX else INT64_MAX + 1
    if not INT64_MIN <= value <= INT64_MAX:
        raise BadCell("an integer beyond 64 bits", "RT213")
    return value


def _to_boolean(cell: Any) -> bool:
    if type(cell) is bool:
        return cell
    raise BadCell("not a boolean (true or false)")


def _to_text(cell: Any) -> str:
    if type(cell) is not str:
        raise BadCell("not text")
    if not cell.isascii():
        try:
            cell.encode()
        except UnicodeEncodeError:
            raise BadCell("text that is not valid Unicode (a lone surrogate)", "RT209") from None
    return cell


def _to_raw_text(cell: Any) -> str:
    if type(cell) is not str:
        raise BadCell("not text, as the times in the first rows are", "RT218")
    return _to_text(cell)


def _to_epoch_text(cell: Any) -> str:
    """Keep a number as it is written, in quotes or not."""
    return str(cell) if type(cell) in (JsonNumber, JsonInteger) else _to_text(cell)


def _to_any(cell: Any) -> str:
    """Keep what a cell is: text with a quote in front, all else as JSON."""
    if type(cell) in (JsonNumber, JsonInteger):
        return str(cell)
    return '"' + _to_text(cell) if type(cell) is str else json.dumps(cell)


def _decode_any(text: str) -> Any:
    return text[1:] if text.startswith('"') else _DECODER.decode(text)


def _format_cell(cell: Any) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell)


_KINDS: dict[str, tuple[Callable[[Any], Any], pa.DataType]] = {
    "number": (_to_number, pa.float64()),
    "integer": (_to_integer, pa.int64()),
    "boolean": (_to_boolean, pa.bool_()),
    "text": (_to_text, pa.string()),
    "raw": (_to_raw_text, pa.string()),
    "epoch": (_to_epoch_text, pa.string()),
    "any": (_to_any, pa.string()),
}
