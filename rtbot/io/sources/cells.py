"""Cells of text as numbers, integers and booleans, by strict patterns; what does not fit is named.

This is the slow, exact reading. Arrow's own is used where it agrees (see `csv`): it takes
hexadecimal integers and `nan(...)`, which are refused here.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.errors import describe_non_ascii
from rtbot.io.blocks import CellError

NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
WORDS = r"(?i)^[+-]?(nan|inf|infinity)$"
INTEGER = r"^[+-]?[0-9]+$"
KEY_INTEGER = r"^(0|-?[1-9][0-9]*)$"
SAFE_DIGITS = 18
EXPECTED = {
    "number": "not a number",
    "integer": "not an integer",
    "boolean": "not a boolean (true, false, 1 or 0)",
}
HINTS = {
    r"^[+-]?[0-9]{1,3}([., ][0-9]{3})+([.,][0-9]+)?$": "write it without separators of thousands",
    r"^[+-]?[0-9]+,[0-9]+$": "the decimal sign is a point",
    r"(?i)^(na|n/a|null|none|nil|missing|-|--|\?)$": "leave the cell empty where there is no value",
    r"^[+-]?[0-9]*\.[0-9]+$": "an integer has no decimals; is it meant to be a number?",
    r"^\d{4}-\d\d-\d\d": "times are all integers, or all ISO 8601 text",
    r"^[0-9]+[_.,][0-9_.,]*$": "write it without separators",
    r"^0[xX]": "write it in decimal digits",
    r"^#": "leave the cell empty where a sheet has an error",
    r"^(?=.*[^0-9.,+-])[+-]?[^\w.,]{0,2}[0-9][0-9.,]*\s?\D{0,3}$": "write the bare number",
}
"""What to try for cells that look like this."""


def convert_cells(texts: pa.Array, kind: str, column: str) -> tuple[pa.Array, list[CellError]]:
    """Convert text, whose empty cells are null, to the kind; bad cells become null and a fault."""
    if kind in ("text", "raw", "any"):
        return texts, []
    texts = pc.utf8_trim(pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts), " \t")
    array, good = {
        "number": _convert_numbers,
        "integer": _convert_integers,
        "boolean": _convert_booleans,
    }[kind](texts)
    faults = [
        _make_cell_error(row, column, texts[row].as_py(), kind)
        for row in np.flatnonzero(~good.to_numpy(zero_copy_only=False)).tolist()
    ]
    return array, [replace(one, hint=_suggest_cell(one)) for one in faults[:1]] + faults[1:]


def _make_cell_error(row: int, column: str, text: str, kind: str) -> CellError:
    """Describe what is wrong with a cell that is not of the kind."""
    if kind == "integer" and re.match(INTEGER, text):
        return CellError(row, column, "an integer beyond 64 bits", text, code="RT213")
    return CellError(row, column, EXPECTED[kind], text, code="RT201")


def _suggest_cell(fault: CellError) -> str:
    """Return what to try instead of a cell; as only the first of many is shown, only it has one."""
    text = fault.value or ""
    found = (hint for form, hint in HINTS.items() if re.match(form, text, re.ASCII))
    return describe_non_ascii(text) or (next(found, "") if fault.code == "RT201" else "")


def is_integer(texts: pa.Array) -> bool:
    """Return whether all cells that are not empty are integers, none written with leading zeros."""
    matching = pc.match_substring_regex(texts, KEY_INTEGER).drop_null()
    return bool(pc.all(matching).as_py()) and bool(pc.all(_is_in_range(texts.drop_null())).as_py())


def is_integer_text(text: str) -> bool:
    """Return whether one cell is written as an integer."""
    return re.fullmatch(r"[+-]?[0-9]+", text.strip(" \t")) is not None


def convert_integer_keys(keys: pa.Array, column: str) -> tuple[pa.Array, list[CellError]]:
    """Convert a key column that had integers in the first rows; what is not one now is a fault."""
    coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    if is_integer(coded.dictionary):
        return pc.cast(coded.dictionary, pa.int64()).take(coded.indices), []
    texts = coded.dictionary_decode()
    good = pc.fill_null(pc.match_substring_regex(texts, KEY_INTEGER), True)
    good = pc.and_(good, pc.fill_null(_is_in_range(_null_bad_cells(good, texts)), True))
    message = "not a plain 64-bit integer, as the keys in the first rows are"
    faults = [
        CellError(row, column, message, texts[row].as_py(), code="RT212")
        for row in np.flatnonzero(~good.to_numpy(zero_copy_only=False)).tolist()
    ]
    return pc.cast(_null_bad_cells(good, texts), pa.int64()), faults


def _convert_numbers(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    good = pc.or_(pc.match_substring_regex(texts, NUMBER), pc.match_substring_regex(texts, WORDS))
    good = pc.fill_null(good, True)
    return pc.cast(_null_bad_cells(good, texts), pa.float64()), good


def _convert_integers(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    good = pc.fill_null(pc.match_substring_regex(texts, INTEGER), True)
    digits = pc.utf8_ltrim(_null_bad_cells(good, texts), "+")
    good = pc.and_(good, pc.fill_null(_is_in_range(digits), True))
    return pc.cast(_null_bad_cells(good, digits), pa.int64()), good


def _convert_booleans(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    lowered = pc.utf8_lower(texts)
    true, false = (pc.is_in(lowered, pa.array(words)) for words in (["true", "1"], ["false", "0"]))
    good = pc.or_(pc.or_(true, false), pc.is_null(texts))
    return pc.if_else(pc.or_(true, false), true, pa.scalar(None, pa.bool_())), good


def _is_in_range(digits: pa.Array) -> pa.Array:
    """Return whether integers written in digits are within 64 bits."""
    good = pc.less_equal(pc.utf8_length(digits), SAFE_DIGITS)
    if pc.all(good).as_py() is not False:
        return good
    return pa.array([text is None or _is_int64(text) for text in digits.to_pylist()])


def _is_int64(text: str) -> bool:
    bare = text.lstrip("-").lstrip("0")
    return len(bare) <= SAFE_DIGITS + 1 and -(2**63) <= int(text) < 2**63


def _null_bad_cells(good: pa.Array, texts: pa.Array) -> pa.Array:
    return pc.if_else(good, texts, pa.scalar(None, texts.type))
