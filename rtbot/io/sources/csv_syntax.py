"""The signs that separate records and cells, and what a dialect puts between: comments, blanks.

What pyarrow cannot read is rewritten, so that every line keeps its number: lines of comment become
empty, runs of blanks one tab, other encodings UTF-8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbot.graph.csv_dialect import BLANK, SINGLE_BYTE, UTF_8, find_delimiter, find_encoding

if TYPE_CHECKING:
    from rtbot.graph.model import CsvDialect

LINE_FEED, RETURN, SPACE, TAB = b"\n\r \t"
FILLER = b"\0"
"""Replaces comments until records are cut; it is refused elsewhere."""


@dataclass(frozen=True, slots=True)
class CsvSyntax:
    """How the bytes of a file are cut into records and cells.

    `delimiters` are the bytes that separate cells, `quote` is empty if there are no quotes, and
    `comment` if there are no comments. `runs` is whether several delimiters count as one, and none
    at the ends of a line. `encoding` is that of the bytes, in which those of ASCII are ASCII.
    """

    delimiters: bytes = b","
    quote: bytes = b'"'
    comment: bytes = b""
    runs: bool = False
    encoding: str = UTF_8

    @property
    def delimiter(self) -> str:
        """The delimiter after `rewrite`."""
        return "\t" if self.runs else self.delimiters.decode()

    def rewrite(self, data: bytes) -> bytes:
        """Return whole records, without comments, as UTF-8 in which one byte separates cells.

        Raises UnicodeDecodeError.
        """
        if self.encoding != UTF_8 and not data.isascii():
            data = data.decode(self.encoding).encode()
        return squeeze_blanks(data, self.quote) if self.runs else data

    def clear_blank_records(self, data: bytes, *, head: bool) -> bytes:
        """Make lines empty that are delimiters alone, which is how sheets end.

        The data are whole records after `rewrite`; `head` is whether the first line is left as it
        is.
        """
        sign = self.delimiter.encode()
        if b"\n" + sign not in data and (head or not data.startswith(sign)):
            return data
        quoted = bool(self.quote) and self.quote in data
        parts, start, quotes, counted = [], 0, 0, 0
        blank = re.compile(b"\n(?:" + re.escape(sign) + rb")+(?=\r?(?:\n|\Z))")
        if not head and (found := re.match(blank.pattern[1:], data)):
            start = counted = found.end()
        for found in blank.finditer(data, max(start - 1, 0)):
            if quoted:
                quotes += data.count(self.quote, counted, found.start())
                counted = found.start()
            if quotes % 2 == 0:
                parts.append(data[start : found.start() + 1])
                start = found.end()
        return b"".join([*parts, data[start:]]) if start else data

    def hide_comments(self, data: bytes) -> bytes:
        """Replace every byte of comments by `FILLER`; the data begins with a record."""
        if not self.comment or self.comment not in data:
            return data
        parts, start, quotes, at = [], 0, 0, 0 if data.startswith(self.comment) else -1
        if at < 0:
            at = _find_next(data, self.comment, 0)
        while at >= 0:
            quotes += data.count(self.quote, start, at) if self.quote else 0
            end = at
            if quotes % 2 == 0:
                end = _find_line_end(data, at)
                parts += [data[start:at], FILLER * (end - at)]
            else:
                parts.append(data[start:at])
            start, at = end, _find_next(data, self.comment, end)
        return b"".join([*parts, data[start:]])


PLAIN_SYNTAX = CsvSyntax()


def make_syntax(dialect: CsvDialect) -> CsvSyntax:
    """Return the syntax of a dialect; an encoding of several bytes has been decoded to UTF-8."""
    delimiter = find_delimiter(dialect)
    encoding = find_encoding(dialect.encoding)
    encoding = encoding if encoding in SINGLE_BYTE else UTF_8
    runs = delimiter == BLANK
    return CsvSyntax(
        b" \t" if runs else delimiter.encode(),
        dialect.quote.encode(),
        dialect.comment.encode(encoding),
        runs,
        encoding,
    )


def squeeze_blanks(data: bytes, quote: bytes) -> bytes:
    """Replace every run of blanks and tabs by a tab, and remove those at the ends of lines.

    What is between quotes is kept.
    """
    octets = np.frombuffer(data, np.uint8)
    blank = (octets == SPACE) | (octets == TAB)
    if quote and quote in data:
        blank &= np.cumsum(octets == quote[0]) % 2 == 0
    padded = np.concatenate([[False], blank, [False]])
    starts = np.flatnonzero(padded[1:-1] & ~padded[:-2])
    ends = np.flatnonzero(padded[1:-1] & ~padded[2:]) + 1
    around = np.concatenate([[LINE_FEED], octets, [LINE_FEED]])
    before, after = around[starts], around[ends + 1]
    inner = (before != LINE_FEED) & (after != LINE_FEED) & (after != RETURN)
    found, kept = octets.copy(), ~blank
    found[starts[inner]], kept[starts[inner]] = TAB, True
    return bytes(found[kept].tobytes())


def _find_next(data: bytes, comment: bytes, start: int) -> int:
    """Return where the next line begins with a comment, behind the start, or -1."""
    return (found := data.find(b"\n" + comment, start)) + (found >= 0)


def _find_line_end(data: bytes, start: int) -> int:
    """Return where the line ends, before its CR LF or LF."""
    found = data.find(b"\n", start)
    end = len(data) if found < 0 else found
    return end - 1 if data[end - 1 : end] == b"\r" and end > start else end
