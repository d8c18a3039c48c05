"""What can be set for a CSV file: encodings that are known, and settings that go together."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from rtbot.core.duplicate_names import repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.graph.model import CsvDialect

BLANK, TAB = "blank", "tab"
"""Words for delimiters: runs of blanks and tabs, and one tab (which may be written as it is)."""

SINGLE_BYTE = (
    "ascii",
    "iso8859-1",
    "iso8859-2",
    "iso8859-5",
    "iso8859-7",
    "iso8859-9",
    "iso8859-15",
    "cp1250",
    "cp1251",
    "cp1252",
    "cp1253",
    "cp1254",
    "cp1257",
    "cp437",
    "cp850",
    "cp852",
    "cp866",
    "koi8-r",
    "koi8-u",
    "mac-roman",
)
"""Encodings of a byte per character in which the bytes of ASCII are ASCII."""

MULTIPLE_BYTES = (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "shift_jis",
    "cp932",
    "euc_jp",
    "gb2312",
    "gbk",
    "gb18030",
    "big5",
    "euc_kr",
    "cp949",
)
"""Encodings in which a byte of ASCII may be a part of another character."""

UTF_8 = "utf-8"
LINES_MAX = 1_000_000
"""Lines that may be skipped."""

SIGNS = "+-"
_FEW = ("utf-8", "utf-16", "latin-1", "cp1252", "shift_jis", "gb18030")


def find_encoding(name: str) -> str | None:
    """Return the name of an encoding that is in the lists above, None if it is not."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    plain = UTF_8 if found == "utf-8-sig" else found
    return plain if plain in (UTF_8, *SINGLE_BYTE, *MULTIPLE_BYTES) else None


def find_delimiter(dialect: CsvDialect) -> str:
    r"""Return the character between two cells; of runs of blanks it is "blank", of tab "\t"."""
    return "\t" if dialect.delimiter == TAB else dialect.delimiter


def check_dialect(dialect: CsvDialect) -> str | None:
    """Return what is wrong with the settings of a dialect, or None.

    Each of them is looked at alone, and then all together.
    """
    checks: tuple[Callable[[CsvDialect], str | None], ...] = (
        _check_delimiter,
        _check_number_signs,
        _check_quote,
        _check_encoding,
        _check_lines,
        _check_names,
        _check_pairs,
    )
    return next((found for check in checks if (found := check(dialect)) is not None), None)


def _check_delimiter(dialect: CsvDialect) -> str | None:
    sign = find_delimiter(dialect)
    if sign == BLANK:
        return None
    if len(sign) != 1:
        return f"csv.delimiter is one character, tab or blank, not {dialect.delimiter!r}"
    if not sign.isascii() or sign.isalnum() or sign in SIGNS or (sign < " " and sign != "\t"):
        return f"csv.delimiter is a sign of ASCII such as ; or |, not {sign!r}"
    return None


def _check_number_signs(dialect: CsvDialect) -> str | None:
    if dialect.decimal not in (".", ","):
        return f"csv.decimal is a point or a comma, not {dialect.decimal!r}"
    sign = dialect.thousands
    if len(sign) > 1 or sign.isalnum() or sign in (*SIGNS, '"') or (sign and sign < " "):
        return f"csv.thousands is one sign such as , or ' or a blank, not {sign!r}"
    if sign == dialect.decimal:
        return f"csv.thousands and csv.decimal are both {sign!r}"
    return None


def _check_quote(dialect: CsvDialect) -> str | None:
    sign = dialect.quote
    if not sign:
        return None
    if len(sign) > 1 or not sign.isascii() or sign.isalnum() or sign <= " " or sign in SIGNS:
        return f"csv.quote is one sign such as ' or empty (there are no quotes), not {sign!r}"
    return None


def _check_encoding(dialect: CsvDialect) -> str | None:
    name = find_encoding(dialect.encoding)
    if name is None:
        return f"csv.encoding: {dialect.encoding!r} is not known; known are {', '.join(_FEW)}, ..."
    try:
        dialect.comment.encode(name)
    except UnicodeEncodeError:
        return f"csv.comment: {dialect.comment!r} cannot be written in {dialect.encoding}"
    return None


def _check_lines(dialect: CsvDialect) -> str | None:
    for name, count in (("skip", dialect.skip), ("skip_after", dialect.skip_after)):
        if not 0 <= count <= LINES_MAX:
            return f"csv.{name} is a number of lines from 0 to {LINES_MAX}, not {count}"
    if dialect.comment != dialect.comment.strip() or not dialect.comment.isprintable():
        return f"csv.comment is what lines of comment begin with, not {dialect.comment!r}"
    return None


def _check_names(dialect: CsvDialect) -> str | None:
    twice = repeated(filter(None, dialect.names))
    if twice is not None:
        return f"csv.names has {twice!r} twice"
    if dialect.names and dialect.skip_after:
        return "csv.skip_after skips lines after the header, and with csv.names there is none"
    return None


def _check_pairs(dialect: CsvDialect) -> str | None:
    """Return what two settings contradict each other."""
    delimiter, quote = find_delimiter(dialect), dialect.quote
    if delimiter == dialect.decimal:
        return f"csv.delimiter and csv.decimal are both {delimiter!r}"
    if delimiter == dialect.thousands and not quote:
        return f"csv.delimiter and csv.thousands are both {delimiter!r}, and there are no quotes"
    if delimiter == BLANK and dialect.thousands == " " and not quote:
        return "csv.thousands is a blank, which separates the cells"
    for name, sign in (
        ("delimiter", delimiter), ("decimal", dialect.decimal), ("thousands", dialect.thousands)
    ):  # fmt: skip
        if quote and quote == sign:
            return f"csv.quote and csv.{name} are both {quote!r}"
    for name, sign in (("delimiter", delimiter), ("quote", quote)):
        if sign and dialect.comment.startswith(sign):
            return f"csv.comment begins with {sign!r}, which is csv.{name}"
    return None
