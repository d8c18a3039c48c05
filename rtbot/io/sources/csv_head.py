"""What is before the rows of a CSV file: lines to skip, `sep=`, the header, and lines after it."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import replace

from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import DataError
from rtbot.graph.csv_dialect import check_dialect, find_delimiter
from rtbot.graph.model import CsvDialect
from rtbot.io.sources.csv_chunks import (
    Chunk,
    check_chunk,
    check_text,
    find_record_end,
    make_unclosed_error,
)
from rtbot.io.sources.csv_syntax import CsvSyntax, make_syntax

SEPARATOR = re.compile(rb'"?sep=([^\r\n])"?\r?(\n|$)')
"""A first line that names the separator, as Excel reads and writes it."""


class CsvHead:
    """The head of a file, which `take` reads: `names` of the columns, `line` of the header.

    Without any option and without `sep=` nothing is taken, and `names` is None. Then `split` reads
    the header from the first chunk.
    """

    def __init__(self, dialect: CsvDialect, file: str) -> None:
        problem = check_dialect(dialect)
        if problem is not None:
            raise DataError(problem, code="RT208", hint="set io.csv", file=file)
        self._dialect, self._file = dialect, file
        self._given = dialect != CsvDialect()
        self.syntax: CsvSyntax = make_syntax(dialect)
        self.names: list[str] | None = None
        self.line = 1

    def take(self, data: bytes, *, last: bool) -> int | None:
        """Read the head; return how many bytes it has, None if more are needed to know."""
        if not last and b"\n" not in data and b"sep=".startswith(data.lstrip(b'"')[:4]):
            return None
        found = SEPARATOR.match(data)
        if found is not None:
            self._set_delimiter(found[1])
        elif not self._given:
            return 0
        start = self._skip(data, max(self._dialect.skip, int(found is not None)), last=last)
        if start is None:
            return None
        if self._dialect.names:
            self.names = list(self._dialect.names)
            self.line = data.count(b"\n", 0, start) + 1
            return start
        return self._take_header(data, start, last=last)

    def split(self, chunk: Chunk) -> Chunk:
        """Read the header from the first chunk; return the chunk without it."""
        data = chunk.data
        skipped = len(data) - len(data.lstrip(b"\r\n"))
        end = find_record_end(data, skipped)
        self._read_names(Chunk(data[skipped:end], chunk.find_line(skipped)))
        return replace(chunk, data=data[end:], line=chunk.find_line(end))

    def _set_delimiter(self, sign: bytes) -> None:
        """Obey the first line, unless it contradicts the options."""
        given = find_delimiter(self._dialect)
        name = sign.decode("latin-1")
        if given not in (CsvDialect().delimiter, name):
            message = f"the first line is sep={name}, and io.csv.delimiter is {given!r}"
            hint = "leave io.csv.delimiter out"
            raise DataError(message, code="RT208", hint=hint, file=self._file, row=1)
        dialect = replace(self._dialect, delimiter=name)
        problem = check_dialect(dialect)
        if problem is not None:
            raise DataError(f"sep=: {problem}", code="RT208", file=self._file, row=1)
        self.syntax = make_syntax(dialect)

    def _skip(self, data: bytes, count: int, *, last: bool) -> int | None:
        start = _find_line(data, 0, count)
        if start is not None or not last:
            return start
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if data and lines < count:
            message = f"the file has {lines} lines, and io.csv.skip is {count}"
            raise DataError(message, code="RT208", file=self._file, row=lines)
        return len(data)

    def _take_header(self, data: bytes, start: int, *, last: bool) -> int | None:
        """Read the header: the first line that is neither empty nor a comment."""
        quote, comment = self.syntax.quote, self.syntax.comment
        blank = b" \t\r\n" if self.syntax.runs else b"\r\n"
        at, end = start, _find_line(data, start, 1)
        while end is not None and (
            not data[at:end].strip(blank) or (comment and data.startswith(comment, at))
        ):
            at, end = end, _find_line(data, end, 1)
        end = find_record_end(data, at, quote)
        odd = quote and data.count(quote, at, end) % 2
        if not last and (odd or data[end - 1 : end] != b"\n" or end <= at):
            return None
        chunk = Chunk(data[at:end], data.count(b"\n", 0, at) + 1, syntax=self.syntax)
        if odd:
            raise make_unclosed_error(chunk, self._file)
        if comment and chunk.data.startswith(comment):  # the last line, without an end
            chunk = replace(chunk, data=b"")
        check_chunk(chunk, self._file)
        self._read_names(chunk)
        rest = _find_line(data, end, self._dialect.skip_after)
        return (len(data) if last else None) if rest is None else rest

    def _read_names(self, chunk: Chunk) -> None:
        """Read the names of the columns; none if the header is empty."""
        syntax, self.line = chunk.syntax, chunk.line
        try:
            chunk = replace(chunk, data=syntax.rewrite(chunk.data))
        except UnicodeDecodeError as error:
            message = f"the byte 0x{chunk.data[error.start]:02x} is not {syntax.encoding}"
            raise DataError(message, code="RT209", file=self._file, row=chunk.line) from None
        check_text(chunk, self._file)
        quote = syntax.quote.decode() or None
        text = io.StringIO(chunk.data.decode(), newline="")
        try:
            rows = csv.reader(
                text,
                delimiter=syntax.delimiter,
                quotechar=quote,
                quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            )
            names = next(rows, [])
        except csv.Error as error:
            hint = "the first line has the names of the columns; perhaps a quote is not closed"
            message = f"no header of CSV: {error}"
            raise DataError(
                message, code="RT208", hint=hint, file=self._file, row=chunk.line
            ) from None
        self.names = trim_names(names)


def trim_names(names: list[str]) -> list[str]:
    """Remove blanks around names, except from those that would then be equal to others."""
    trimmed = [name.strip(" \t") for name in names]
    count = Counter(trimmed)
    return [
        short if count[short] == 1 or not short else name
        for name, short in zip(names, trimmed, strict=True)
    ]


def check_header(head: CsvHead, file: str) -> list[str]:
    """Return the names of the columns, or raise DataError if two are equal."""
    names = head.names or []
    twice = repeated(filter(None, names))
    if twice is not None:
        message = f"two columns are named {twice!r}"
        raise DataError(message, code="RT215", file=file, row=head.line)
    return names


def _find_line(data: bytes, start: int, count: int) -> int | None:
    """Return where the line begins that is so many lines behind the start, None if it is not."""
    at = start
    for _ in range(count):
        at = data.find(b"\n", at) + 1
        if not at:
            return None
    return at
