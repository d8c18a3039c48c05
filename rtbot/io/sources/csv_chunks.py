"""A stream of bytes cut into chunks of whole CSV records; what makes CSV dangerous is refused.

Refused are NUL, bytes that are not of the encoding, a carriage return that ends a line alone,
records that are too long, quotes inside cells that are not quoted, and a quote that is never closed
(which would swallow the rest of the file).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rtbot.core.errors import DataError
from rtbot.graph.csv_dialect import UTF_8
from rtbot.graph.document.diagnosis import identify_bytes
from rtbot.io.sources.byte_streams import LiveStream
from rtbot.io.sources.csv_syntax import FILLER, LINE_FEED, PLAIN_SYNTAX, RETURN, CsvSyntax

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from rtbot.io.sources.offsets import FileOffset, OffsetTracker

CHUNK_BYTES = 1 << 22
LINE_BYTES = 1 << 24
QUOTED_BYTES = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


QUOTES = "a cell with a quote is quoted, and its own quotes are doubled"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole records: their bytes, the number of the first line (from 1), and where they begin.

    `raw` are the bytes in the file, line by line, if they differ from `data`.
    """

    data: bytes
    line: int
    mark: FileOffset | None = None
    raw: bytes | None = None
    syntax: CsvSyntax = PLAIN_SYNTAX

    @property
    def place(self) -> tuple[int, ...] | None:
        """Where it begins, if there is a mark."""
        return None if self.mark is None else self.mark.place

    def find_line(self, offset: int) -> int:
        """Return the number of the line that holds the byte."""
        return self.line + self.data.count(b"\n", 0, offset)

    def find_record_starts(self) -> list[int]:
        """Return where each record starts; empty lines are not records."""
        starts, at, data = [], 0, self.data
        while at < len(data):
            end = find_record_end(data, at, self.syntax.quote)
            if data[at:end].strip(b"\r\n"):
                starts.append(at)
            at = end
        return starts

    def format_record(self, start: int) -> str:
        """Return the record that starts here as it is in the file, without the end of its line."""
        data, end = self.data, find_record_end(self.data, start, self.syntax.quote)
        found, encoding = data[start:end], "utf-8"
        if self.raw is not None:
            line, more = data.count(b"\n", 0, start), data.count(b"\n", start, end - 1)
            found = b"\n".join(self.raw.split(b"\n", line + more + 1)[line : line + more + 1])
            encoding = self.syntax.encoding
        return found.decode(encoding, errors="backslashreplace").rstrip("\r\n")


class HeadReader(Protocol):
    """What takes the first bytes of a file, before its rows, and decides on the syntax."""

    syntax: CsvSyntax

    def take(self, data: bytes, *, last: bool) -> int | None:
        """Return how many bytes belong to the head; None if more are needed to know."""


def read_chunks(
    stream: BinaryIO | LiveStream,
    file: str,
    tracker: OffsetTracker | None = None,
    line: int = 1,
    head: HeadReader | None = None,
) -> Iterator[Chunk]:
    """Read the stream to its end; every chunk but the last ends with a line feed.

    Without a head the syntax is the plain one. From the first line on, the head is taken first.
    """
    rest, waiting = b"", head if line == 1 else None
    for data, last in read_pieces(stream, file, tracker, line):
        data = rest + data  # noqa: PLW2901
        if waiting is not None:
            taken = waiting.take(data, last=last)
            if taken is None:
                _check_line_length(data, line, file)
                rest = data
                continue
            line += data.count(b"\n", 0, taken)
            if taken and tracker is not None:
                tracker.skip(data[:taken])
            data, waiting = data[taken:], None  # noqa: PLW2901
        syntax = PLAIN_SYNTAX if head is None else head.syntax
        whole, rest = _cut_chunk(Chunk(data, line, syntax=syntax), file, last=last)
        if whole.data:
            yield _finish_chunk(whole, tracker, file, head=line == 1)
        line += count_byte(whole.data, LINE_FEED)
        if len(rest) > QUOTED_BYTES and syntax.quote and syntax.quote in rest:
            hidden = syntax.hide_comments(rest)
            _check_quote_length(Chunk(hidden, line, syntax=syntax), file)


def _cut_chunk(chunk: Chunk, file: str, *, last: bool) -> tuple[Chunk, bytes]:
    """Split whole records, in which comments are hidden, from the rest."""
    data, quote = chunk.data, chunk.syntax.quote
    plain = chunk.syntax.hide_comments(data)
    cut = len(data) if last else find_last_record_end(plain, quote)
    if last and quote and count_byte(plain, quote[0]) % 2:
        raise make_unclosed_error(replace(chunk, data=plain), file)
    if not cut:
        _check_line_length(data, chunk.line, file)
    raw = None if plain is data else data[:cut]
    return replace(chunk, data=plain[:cut], raw=raw), data[cut:]


def _finish_chunk(chunk: Chunk, tracker: OffsetTracker | None, file: str, *, head: bool) -> Chunk:
    """Check a chunk, rewrite it as what pyarrow can read, and add where it begins.

    `head` is whether its first record may be the header, which is left as it is.
    """
    raw = chunk.data if chunk.raw is None else chunk.raw
    check_chunk(chunk, file)
    data = chunk.data if chunk.raw is None else chunk.data.translate(None, FILLER)
    try:
        data = chunk.syntax.rewrite(data)
    except UnicodeDecodeError as error:
        raise _make_encoding_error(replace(chunk, data=raw), error, file) from None
    data = chunk.syntax.clear_blank_records(data, head=head)
    mark = None if tracker is None else tracker.read(raw, chunk.line)
    return replace(chunk, data=data, mark=mark, raw=None if data is raw else raw)


def _check_line_length(data: bytes, line: int, file: str) -> None:
    """Raise DataError if a line that has no end yet is too long."""
    if len(data) > LINE_BYTES:
        message = f"a line of more than {LINE_BYTES} bytes"
        raise DataError(message, code="RT219", file=file, row=line)


def count_byte(data: bytes, octet: int) -> int:
    """Count a byte that may be frequent; `bytes.count` takes five times as long."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == octet))


def find_record_end(data: bytes, start: int, quote: bytes = b'"') -> int:
    """Return where the record ends that starts here: after its line feed, or at the end."""
    end, quotes = start, 0
    while True:
        found = data.find(b"\n", end)
        if found < 0:
            return len(data)
        quotes += data.count(quote, end, found) if quote else 0
        end = found + 1
        if quotes % 2 == 0:
            return end


def find_last_record_end(data: bytes, quote: bytes = b'"') -> int:
    """Return where the last whole record ends, 0 if there is none.

    A line feed ends a record if the number of quotes before it is even.
    """
    end = data.rfind(b"\n") + 1
    if not quote or quote not in data:
        return end
    odd = data.count(quote, 0, end) % 2
    while odd and end:
        before = data.rfind(b"\n", 0, end - 1) + 1
        odd = (odd + data.count(quote, before, end)) % 2
        end = before
    return end


def add_offset(chunk: Chunk, tracker: OffsetTracker | None) -> Chunk:
    """Return a chunk with the mark of where it begins, if there is a tracker."""
    if tracker is None:
        return chunk
    return replace(chunk, mark=tracker.read(chunk.data, chunk.line))


def read_pieces(
    stream: BinaryIO | LiveStream, file: str, tracker: OffsetTracker | None = None, line: int = 1
) -> Iterator[tuple[bytes, bool]]:
    """Read pieces of `CHUNK_BYTES`, less at the end, with a flag for the last.

    A pipe gives less at a time: pieces are filled, but not if they are live and nothing comes. A
    byte order mark is left out; one of UTF-16 raises DataError. `line` is the one that the stream
    begins with.
    """
    first, last = line == 1, False
    while not last:
        data, last = _fill_buffer(stream, CHUNK_BYTES)
        plain = _strip_byte_order_mark(data, file) if first else data
        if tracker is not None:
            tracker.skip(data[: len(data) - len(plain)])
        yield plain, last
        first = False


def _fill_buffer(stream: BinaryIO | LiveStream, size: int) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    missing, lines = size, 0
    while missing:
        part = stream.read(missing)
        if not part:
            return b"".join(parts), True
        parts.append(part)
        missing -= len(part)
        if isinstance(stream, LiveStream):
            lines += part.count(b"\n")
            if lines and missing and stream.is_idle():
                break
    return b"".join(parts), False


def _strip_byte_order_mark(data: bytes, file: str) -> bytes:
    for mark, name in OTHER_BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            hint = "save it as UTF-8, or set io.csv.encoding: utf-16 if it is CSV"
            raise DataError(f"the file is {name}", code="RT209", hint=hint, file=file)
    other = identify_bytes(data)
    if other:
        hint = "the suffix of its name tells the format of a file, or --input-format"
        raise DataError(f"this is {other}, not text", code="RT208", hint=hint, file=file)
    return data.removeprefix(BYTE_ORDER_MARK)


def check_chunk(chunk: Chunk, file: str) -> None:
    """Raise DataError for what makes CSV dangerous."""
    data, quote = chunk.data, chunk.syntax.quote
    at = (data if chunk.raw is None else chunk.raw).find(b"\0")
    if at >= 0:
        hint, row = "CSV is UTF-8 text, or set io.csv.encoding", chunk.find_line(at)
        raise DataError("a NUL byte", code="RT209", hint=hint, file=file, row=row)
    at = _find_stray_quote(data, chunk.syntax) if quote and quote in data else -1
    if at >= 0:
        row = chunk.find_line(at)
        raise DataError("a quote inside a cell", code="RT210", hint=QUOTES, file=file, row=row)
    at = _find_lone_return(data, quote)
    if at >= 0:
        message, hint = "a carriage return without a line feed", "lines end with LF or CR LF"
        raise DataError(message, code="RT209", hint=hint, file=file, row=chunk.find_line(at))


def _find_stray_quote(data: bytes, syntax: CsvSyntax) -> int:
    """Return where a quote neither opens nor closes a cell, nor is doubled in one, or -1.

    Where there is none, the records of the chunk end at the line feeds with an even number of
    quotes before them.
    """
    octets = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(octets == syntax.quote[0])
    padded = np.concatenate([[LINE_FEED], octets, [LINE_FEED]])
    opens = np.frombuffer(syntax.delimiters + b"\n" + syntax.quote, np.uint8)
    closes = np.frombuffer(syntax.delimiters + b"\r\n" + syntax.quote, np.uint8)
    good = np.ones(len(quotes), np.bool_)
    good[::2] = np.isin(padded[quotes[::2]], opens)
    good[1::2] = np.isin(padded[quotes[1::2] + 2], closes)
    return -1 if good.all() else int(quotes[np.argmin(good)])


def _find_lone_return(data: bytes, quote: bytes) -> int:
    """Return where a carriage return outside quotes is without a line feed, or -1."""
    if b"\r" not in data:
        return -1
    octets = np.frombuffer(data + b" ", np.uint8)
    if (octets[np.flatnonzero(octets == RETURN) + 1] == LINE_FEED).all():
        return -1
    at = quotes = start = 0
    while (at := data.find(b"\r", at)) >= 0:
        quotes += data.count(quote, start, at) if quote else 0
        if quotes % 2 == 0 and data[at + 1 : at + 2] != b"\n":
            return at
        start, at = at, at + 1
    return -1


def check_text(chunk: Chunk, file: str) -> None:
    """Raise DataError if the chunk is not UTF-8."""
    try:
        chunk.data.decode()
    except UnicodeDecodeError as error:
        raise _make_encoding_error(chunk, error, file) from None


def _make_encoding_error(chunk: Chunk, error: UnicodeDecodeError, file: str) -> DataError:
    """Return the error for a byte that is not of the encoding."""
    plain = chunk.syntax.encoding == UTF_8
    name = "UTF-8" if plain else chunk.syntax.encoding
    hint = "save it as UTF-8, or set io.csv.encoding, such as latin-1 or cp1252, if it is CSV"
    hint = hint if plain else "is io.csv.encoding right?"
    message = f"the byte 0x{chunk.data[error.start]:02x} is not {name}"
    return DataError(message, code="RT209", hint=hint, file=file, row=chunk.find_line(error.start))


def _check_quote_length(chunk: Chunk, file: str) -> None:
    """Raise DataError if a quoted cell goes on for too long."""
    end = find_record_end(chunk.data, 0, chunk.syntax.quote)
    if end > QUOTED_BYTES and b"\n" in chunk.data[: end - 1]:
        raise make_unclosed_error(chunk, file)


def make_unclosed_error(chunk: Chunk, file: str) -> DataError:
    """Return the error for a quote without end, at the first quoted cell that spans lines."""
    data, at, quote = chunk.data, 0, chunk.syntax.quote
    while at < len(data):
        end = find_record_end(data, at, quote)
        if b"\n" in data[at : end - 1] or data.count(quote, at, end) % 2:
            break
        at = end
    row = chunk.find_line(at)
    return DataError("a quote that is not closed", code="RT210", hint=QUOTES, file=file, row=row)
