"""Cells of text as numbers, integers and booleans, by strict patterns; what does not fit is named.

This is the slow, exact reading. Arrow's own is used where it agrees (see `csv`): it takes
hexadecimal integers and `nan(...)`, which are refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.errors import describe_non_ascii
from rtbot.io.blocks import CellError
from rtbot.io.sources.key_integers import is_in_range, null_bad_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = r"(?i)^[+-]?(nan|inf|infinity)$"
BOOLEAN = r"(?i)^(true|false)$"
EXPECTED = {
    "number": "not a number",
    "integer": "not an integer",
    "boolean": "not a boolean (true, false, 1 or 0)",
}
THOUSANDS = "write it without separators of thousands, or set io.csv.thousands"
POINT = "the decimal sign is a point"
ABSENT = 'leave the cell empty where there is no value, or set io.null: ["{}"]'
HINTS = {
    r"^[+-]?[0-9]{1,3}([., ][0-9]{3})+([.,][0-9]+)?$": THOUSANDS,
    r"^[+-]?[0-9]+,[0-9]+$": POINT,
    r"(?i)^(na|n/a|null|none|nil|missing|-|--|\?)$": ABSENT,
    r"^[+-]?[0-9]*\.[0-9]+$": "an integer has no decimals; is it meant to be a number?",
    r"^\d{4}-\d\d-\d\d": "times are all integers, or all ISO 8601 text",
    r"^[0-9]+[_.,][0-9_.,]*$": "write it without separators",
    r"^0[xX]": "write it in decimal digits",
    r"^#": "leave the cell empty where a sheet has an error",
    r"^(?=.*[^0-9.,+-])[+-]?[^\w.,]{0,2}[0-9][0-9.,]*\s?\D{0,3}$": "write the bare number",
}
"""What to try for cells that look like this."""


@dataclass(frozen=True)
class NumberSigns:
    """The decimal sign, and that between thousands, "" if there is none.

    Where thousands are separated, all of them are, from the point to the left.
    """

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def number(self) -> str:
        """The pattern of a number."""
        point = re.escape(self.decimal)
        whole = rf"({self._whole}({point}[0-9]*)?|{point}[0-9]+)"
        return rf"^[+-]?{whole}([eE][+-]?[0-9]+)?$"

    @cached_property
    def integer(self) -> str:
        """The pattern of an integer."""
        return rf"^[+-]?{self._whole}$"

    @property
    def _whole(self) -> str:
        if not self.thousands:
            return "[0-9]+"
        return rf"([0-9]+|[0-9]{{1,3}}({re.escape(self.thousands)}[0-9]{{3}})+)"

    def may_be_value(self, text: str) -> bool:
        """Return whether a text could be read as a number or a boolean."""
        words = (self.number, self.integer, WORDS, BOOLEAN)
        return any(re.match(pattern, text) for pattern in words)

    def simplify(self, texts: pa.Array) -> pa.Array:
        """Return numbers with a point, and without signs between thousands."""
        if self.thousands:
            texts = pc.replace_substring(texts, self.thousands, "")
        return texts if self.decimal == "." else pc.replace_substring(texts, self.decimal, ".")


PLAIN_SIGNS = NumberSigns()


def convert_cells(
    texts: pa.Array, kind: str, column: str, signs: NumberSigns = PLAIN_SIGNS
) -> tuple[pa.Array, list[CellError]]:
    """Convert text, whose empty cells are null, to the kind; bad cells become null and a fault.

    Cells of blanks are null too, but not where text is wanted.
    """
    if kind in ("text", "raw", "any"):
        return texts, []
    texts = pc.utf8_trim(texts, " \t")
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    array, good = {
        "number": _convert_numbers,
        "integer": _convert_integers,
        "boolean": _convert_booleans,
    }[kind](texts, signs)
    faults = [
        _make_cell_error(row, column, texts[row].as_py(), kind, signs)
        for row in np.flatnonzero(~good.to_numpy(zero_copy_only=False)).tolist()
    ]
    return array, [replace(one, hint=suggest_for_cell(one)) for one in faults[:1]] + faults[1:]


def drop_tokens(column: pa.Array, tokens: Sequence[str]) -> pa.Array:
    """Replace the cells by null that are a token of an absent cell, or that between blanks."""
    coded = pa.types.is_dictionary(column.type)
    texts = column.dictionary if coded else column
    if not tokens or not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return column
    absent = pc.is_in(pc.utf8_trim(texts, " \t"), pa.array(tokens, texts.type))
    absent = pc.and_(absent, pc.is_valid(texts))
    if not pc.any(absent).as_py():
        return column
    if coded:
        absent = pc.fill_null(absent.take(column.indices), False)
    return pc.if_else(absent, pa.scalar(None, column.type), column)


def _make_cell_error(row: int, column: str, text: str, kind: str, signs: NumberSigns) -> CellError:
    """Describe what is wrong with a cell that is not of the kind."""
    if kind == "integer" and re.match(signs.integer, text):
        return CellError(row, column, "an integer beyond 64 bits", text, code="RT213")
    return CellError(row, column, EXPECTED[kind], text, code="RT201")


def suggest_for_cell(fault: CellError) -> str:
    """Return what to try instead of a cell; as only the first of many is shown, only it has one."""
    text = fault.value or ""
    found = (hint for form, hint in HINTS.items() if re.match(form, text, re.ASCII))
    hint = next(found, "") if fault.code == "RT201" else ""
    return describe_non_ascii(text) or (hint.format(text) if hint == ABSENT else hint)


def is_integer_text(text: str) -> bool:
    """Return whether one cell is written as an integer."""
    return re.fullmatch(r"[+-]?[0-9]+", text.strip(" \t")) is not None


def _convert_numbers(texts: pa.Array, signs: NumberSigns) -> tuple[pa.Array, pa.Array]:
    good = pc.or_(
        pc.match_substring_regex(texts, signs.number), pc.match_substring_regex(texts, WORDS)
    )
    good = pc.fill_null(good, True)
    return pc.cast(signs.simplify(null_bad_cells(good, texts)), pa.float64()), good


def _convert_integers(texts: pa.Array, signs: NumberSigns) -> tuple[pa.Array, pa.Array]:
    good = pc.fill_null(pc.match_substring_regex(texts, signs.integer), True)
    digits = pc.utf8_ltrim(signs.simplify(null_bad_cells(good, texts)), "+")
    good = pc.and_(good, pc.fill_null(is_in_range(digits), True))
    return pc.cast(null_bad_cells(good, digits), pa.int64()), good


def _convert_booleans(texts: pa.Array, _signs: NumberSigns) -> tuple[pa.Array, pa.Array]:
    lowered = pc.utf8_lower(texts)
    true, false = (pc.is_in(lowered, pa.array(words)) for words in (["true", "1"], ["false", "0"]))
    good = pc.or_(pc.or_(true, false), pc.is_null(texts))
    return pc.if_else(pc.or_(true, false), true, pa.scalar(None, pa.bool_())), good
