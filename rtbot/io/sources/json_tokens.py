"""Lines of JSON and their cells, by strict rules; what does not fit is named.

This is the slow, exact reading; pyarrow's own is used where it agrees (see `jsonl`). Integers are
never floats in between. What JSON cannot express as a number, NaN and the infinities, is text
("nan", "inf", "-inf") or, as some programs write it, NaN, Infinity and -Infinity without quotes.
Text in place of a number, an integer or a boolean is read as CSV reads a cell in quotes.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rtbot.core.duplicate_names import repeated
from rtbot.core.times import INT64_MAX, INT64_MIN
from rtbot.core.vector_names import VECTOR
from rtbot.io.blocks import CellError
from rtbot.io.sources.cells import PLAIN_SIGNS, WORDS, suggest_for_cell
from rtbot.io.sources.key_integers import is_key_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

HINT = 'a line is one object: {"t": 1, "x": 2.5}'
BLANK = " \t\r\n"
DIGITS_MAX = 20
"""More characters than the integers of 64 bits have."""

KEYS_SHOWN = 20
VECTORS = pa.list_(pa.float64())
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class JsonNumber(str):
    """A number as it is written."""

    __slots__ = ()


class JsonInteger(JsonNumber):
    """A number without fraction or exponent."""

    __slots__ = ()


class BadCell(Exception):  # noqa: N818 (it is caught here)
    """A cell is not of its kind."""

    def __init__(self, message: str, code: str = "RT201", hint: str = "") -> None:
        super().__init__(message)
        self.message, self.code, self.hint = message, code, hint


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


def find_member(row: Mapping[str, Any], name: str) -> Any:
    """Return the cell of a name: a key, or else `key.member` of an object; None if there is none.

    Raises ValueError if an object on the way has a key twice.
    """
    if name in row:
        return row[name]
    at = name.find(".")
    while at >= 0:
        inner = row.get(name[:at])
        if type(inner) is tuple:
            found = find_member(_open_object(inner), name[at + 1 :])
            if found is not None:
                return found
        at = name.find(".", at + 1)
    return None


def _open_object(pairs: tuple[Any, ...]) -> dict[str, Any]:
    twice = repeated(name for name, _ in pairs)
    if twice is not None:
        raise ValueError(f"the key {twice!r} is there twice")
    return dict(pairs)


def convert_column(
    cells: Sequence[Any], kind: str, name: str, null: Collection[str] = ()
) -> tuple[pa.Array, list[CellError]]:
    """Convert parsed cells to the kind; bad cells become null and a fault.

    The kind `any` gives text that `convert_any_column` reads. Texts that are among `null` are null.
    """
    convert_one, arrow = _find_kind(kind)
    values, faults = [], []
    for row, cell in enumerate(cells):
        value = None
        if cell is not None and not (null and type(cell) is str and cell.strip(" \t") in null):
            try:
                value = convert_one(cell)
            except BadCell as bad:
                faults.append(_make_cell_error(row, name, cell, bad))
        values.append(value)
    return pa.array(values, arrow), faults


def convert_any_column(
    texts: pa.Array, kind: str, name: str, null: Collection[str] = ()
) -> tuple[pa.Array, list[CellError]]:
    """Convert a column that was read as `any` to a kind."""
    cells = [None if text is None else _decode_any(text) for text in texts.to_pylist()]
    return convert_column(cells, kind, name, null)


def _make_cell_error(row: int, name: str, cell: Any, bad: BadCell) -> CellError:
    message, hint = bad.message, bad.hint.replace("COLUMN", name)
    if type(cell) is tuple and cell:
        message = "this is an object, not a single value"
        keys = ", ".join(key for key, _ in cell[:KEYS_SHOWN])
        hint = f"it has the keys {keys}: read one of them as {name}.{cell[0][0]}"
    fault = CellError(row, name, message, _format_cell(cell), code=bad.code, hint=hint)
    return replace(fault, hint=suggest_for_cell(fault)) if type(cell) is str and not hint else fault


def _to_number(cell: Any) -> float | None:
    if type(cell) in (JsonNumber, JsonInteger):
        return float(cell)
    if type(cell) is not str:
        raise BadCell("not a number")
    text = cell.strip(" \t")
    if not text:
        return None
    if not (re.fullmatch(PLAIN_SIGNS.number, text) or re.fullmatch(WORDS, text)):
        raise BadCell("not a number")
    return float(text)


def _to_vector(cell: Any, size: int) -> list[float | None]:
    if type(cell) is not list:
        raise BadCell(f"not a list of {size} numbers")
    if len(cell) != size:
        elements = f"{len(cell)} element{'s' * (len(cell) != 1)}"
        raise BadCell(f"a list of {elements}, where {size} are expected", "RT207")
    return [None if one is None else _to_number(one) for one in cell]


def _to_integer(cell: Any) -> int | None:
    text = cell.strip(" \t") if type(cell) is str else cell
    if text == "":
        return None
    if type(text) is not JsonInteger and not (
        type(text) is str and re.fullmatch(PLAIN_SIGNS.integer, text)
    ):
        raise BadCell("not an integer")
    bare = text.lstrip("+-0")
    value = int(bare or 0) if len(bare) <= DIGITS_MAX else INT64_MAX + 1
    value = -value if text.startswith("-") else value
    if not INT64_MIN <= value <= INT64_MAX:
        raise BadCell("an integer beyond 64 bits", "RT213")
    return value


def _to_boolean(cell: Any) -> bool | None:
    if type(cell) is bool:
        return cell
    text = cell.strip(" \t").lower() if type(cell) is str else "?"
    if text and text not in BOOLEANS:
        raise BadCell("not a boolean (true or false)")
    return BOOLEANS.get(text)


def _to_integer_key(cell: Any) -> int:
    if isinstance(cell, str) and is_key_integer(cell):
        return int(cell)
    message = "not a plain 64-bit integer, as the keys in the first rows are"
    raise BadCell(message, "RT212", "set io.key: {COLUMN: text} if the keys are texts")


def _to_text_key(cell: Any) -> str:
    return str(cell) if type(cell) is JsonInteger else _to_text(cell)


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
    return '"' + _to_text(cell) if type(cell) is str else _format_cell(cell)


def _decode_any(text: str) -> Any:
    return text[1:] if text.startswith('"') else _DECODER.decode(text)


def _format_cell(cell: Any) -> str:
    return cell if isinstance(cell, str) else _format_json(cell)


def _format_json(cell: Any) -> str:
    """Return a cell as JSON, numbers as they are written."""
    if type(cell) in (JsonNumber, JsonInteger):
        return str(cell)
    if type(cell) is tuple:
        return f"{{{', '.join(f'{json.dumps(key)}: {_format_json(one)}' for key, one in cell)}}}"
    if type(cell) is list:
        return f"[{', '.join(map(_format_json, cell))}]"
    return json.dumps(cell)


_KINDS: dict[str, tuple[Callable[[Any], Any], pa.DataType]] = {
    "number": (_to_number, pa.float64()),
    "integer": (_to_integer, pa.int64()),
    "boolean": (_to_boolean, pa.bool_()),
    "text": (_to_text, pa.string()),
    "raw": (_to_raw_text, pa.string()),
    "epoch": (_to_epoch_text, pa.string()),
    "any": (_to_any, pa.string()),
    "integer key": (_to_integer_key, pa.int64()),
    "text key": (_to_text_key, pa.string()),
}


def find_vector_size(kind: str) -> int:
    """Return how many numbers are in a list of this kind, such as `vector[3]`; 0 if it is none."""
    return int(kind[len(VECTOR) + 1 : -1]) if kind.startswith(f"{VECTOR}[") else 0


def _find_kind(kind: str) -> tuple[Callable[[Any], Any], pa.DataType]:
    size = find_vector_size(kind)
    return (partial(_to_vector, size=size), VECTORS) if size else _KINDS[kind]
