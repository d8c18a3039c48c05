"""Keys that are integers in files of text: which texts are, exactly, and what the others are."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.io.blocks import CellError

KEY_INTEGER = r"^(0|-?[1-9][0-9]*)$"
SAFE_DIGITS = 18


def is_integer_column(texts: pa.Array) -> bool:
    """Return whether all cells that are not empty are integers, none written with leading zeros."""
    matching = pc.match_substring_regex(texts, KEY_INTEGER).drop_null()
    return bool(pc.all(matching).as_py()) and bool(pc.all(is_in_range(texts.drop_null())).as_py())


def is_key_integer(text: str) -> bool:
    """Return whether one text is written as an integer key is."""
    return re.match(KEY_INTEGER, text) is not None and _is_int64(text)


def convert_integer_keys(
    keys: pa.Array, column: str, *, declared: bool = False
) -> tuple[pa.Array, list[CellError]]:
    """Convert a key column of integers, by the first rows or as declared; others are faults."""
    coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    if is_integer_column(coded.dictionary):
        return pc.cast(coded.dictionary, pa.int64()).take(coded.indices), []
    texts = coded.dictionary_decode()
    good = pc.fill_null(pc.match_substring_regex(texts, KEY_INTEGER), True)
    good = pc.and_(good, pc.fill_null(is_in_range(null_bad_cells(good, texts)), True))
    reason = "io.key declares" if declared else "the keys in the first rows are"
    message = f"not a plain 64-bit integer, as {reason}"
    hint = f"set io.key: {{{column}: text}} if the keys are texts"
    faults = [
        CellError(row, column, message, texts[row].as_py(), code="RT212", hint=hint)
        for row in np.flatnonzero(~good.to_numpy(zero_copy_only=False)).tolist()
    ]
    return pc.cast(null_bad_cells(good, texts), pa.int64()), faults


def is_in_range(digits: pa.Array) -> pa.Array:
    """Return whether integers written in digits are within 64 bits."""
    good = pc.less_equal(pc.utf8_length(digits), SAFE_DIGITS)
    if pc.all(good).as_py() is not False:
        return good
    return pa.array([text is None or _is_int64(text) for text in digits.to_pylist()])


def _is_int64(text: str) -> bool:
    bare = text.lstrip("-").lstrip("0")
    limit = 2**63 if text.startswith("-") else 2**63 - 1
    return len(bare) <= SAFE_DIGITS + 1 and int(bare or 0) <= limit


def null_bad_cells(good: pa.Array, texts: pa.Array) -> pa.Array:
    """Return the texts that are good, and null in place of the others."""
    return pc.if_else(good, texts, pa.scalar(None, texts.type))
