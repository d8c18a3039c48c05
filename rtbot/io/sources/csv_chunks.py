"""A stream of bytes cut into chunks of whole CSV records; what makes CSV dangerous is refused.

Refused are NUL, bytes that are not UTF-8, a carriage return that ends a line alone, records that
are too long, quotes inside cells that are not quoted, and a quote that is never closed (which would
swallow the rest of the file).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.errors import DataError
from rtbot.graph.document.diagnosis import identify_bytes
from rtbot.io.sources.byte_streams import LiveStream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from rtbot.io.sources.offsets import FileOffset, OffsetTracker

CHUNK_BYTES = 1 << 22
LINE_BYTES = 1 << 24
QUOTED_BYTES = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
QUOTE, LINE_FEED, RETURN = ord('"'), ord("\n"), ord("\r")
OPENS = np.frombuffer(b',\n"', np.uint8)
CLOSES = np.frombuffer(b',\r\n"', np.uint8)
OTHER_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


QUOTES = "a cell with a quote is quoted, and its own quotes are doubled"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole records: their bytes, the number of the first line (from 1), and where they begin."""

    data: bytes
    line: int
    mark: FileOffset | None = None

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
            end = find_record_end(data, at)
            if data[at:end].strip(b"\r\n"):
                starts.append(at)
            at = end
        return starts


def read_chunks(
    stream: BinaryIO | LiveStream, file: str, tracker: OffsetTracker | None = None, line: int = 1
) -> Iterator[Chunk]:
    """Read the stream to its end; every chunk but the last ends with a line feed."""
    rest = b""
    for data, last in read_pieces(stream, file, tracker, line):
        data = rest + data  # noqa: PLW2901
        cut = len(data) if last else find_last_record_end(data)
        if last and count_byte(data, QUOTE) % 2:
            raise _make_unclosed_error(Chunk(data, line), file)
        if not cut and len(data) > LINE_BYTES:
            message = f"a line of more than {LINE_BYTES} bytes"
            raise DataError(message, code="RT219", file=file, row=line)
        whole, rest = Chunk(data[:cut], line), data[cut:]
        if whole.data:
            _check_chunk(whole, file)
            yield add_offset(whole, tracker)
        line += count_byte(whole.data, LINE_FEED)
        if len(rest) > QUOTED_BYTES and b'"' in rest:
            _check_quote_length(Chunk(rest, line), file)


def count_byte(data: bytes, octet: int) -> int:
    """Count a byte that may be frequent; `bytes.count` takes five times as long."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == octet))


def find_record_end(data: bytes, start: int) -> int:
    """Return where the record ends that starts here: after its line feed, or at the end."""
    end, quotes = start, 0
    while True:
        found = data.find(b"\n", end)
        if found < 0:
            return len(data)
        quotes += data.count(b'"', end, found)
        end = found + 1
        if quotes % 2 == 0:
            return end


def find_last_record_end(data: bytes) -> int:
    """Return where the last whole record ends, 0 if there is none.

    A line feed ends a record if the number of quotes before it is even.
    """
    end = data.rfind(b"\n") + 1
    if b'"' not in data:
        return end
    odd = data.count(b'"', 0, end) % 2
    while odd and end:
        before = data.rfind(b"\n", 0, end - 1) + 1
        odd = (odd + data.count(b'"', before, end)) % 2
        end = before
    return end


def add_offset(chunk: Chunk, tracker: OffsetTracker | None) -> Chunk:
    """Return a chunk with the mark of where it begins, if there is a tracker."""
    if tracker is None:
        return chunk
    return Chunk(chunk.data, chunk.line, tracker.read(chunk.data, chunk.line))


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
            hint = "save it as UTF-8"
            raise DataError(f"the file is {name}", code="RT209", hint=hint, file=file)
    other = identify_bytes(data)
    if other:
        hint = "the suffix of its name tells the format of a file, or --input-format"
        raise DataError(f"this is {other}, not text", code="RT208", hint=hint, file=file)
    return data.removeprefix(BYTE_ORDER_MARK)


def _check_chunk(chunk: Chunk, file: str) -> None:
    data = chunk.data
    at = data.find(b"\0")
    if at >= 0:
        hint, row = "CSV is UTF-8 text", chunk.find_line(at)
        raise DataError("a NUL byte", code="RT209", hint=hint, file=file, row=row)
    at = _find_stray_quote(data) if b'"' in data else -1
    if at >= 0:
        row = chunk.find_line(at)
        raise DataError("a quote inside a cell", code="RT210", hint=QUOTES, file=file, row=row)
    at = _find_lone_return(data)
    if at >= 0:
        message, hint = "a carriage return without a line feed", "lines end with LF or CR LF"
        raise DataError(message, code="RT209", hint=hint, file=file, row=chunk.find_line(at))


def _find_stray_quote(data: bytes) -> int:
    """Return where a quote neither opens nor closes a cell, nor is doubled in one, or -1.

    Where there is none, the records of the chunk end at the line feeds with an even number of
    quotes before them.
    """
    octets = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(octets == QUOTE)
    padded = np.concatenate([[LINE_FEED], octets, [LINE_FEED]])
    opening = np.isin(padded[quotes[::2]], OPENS)
    closing = np.isin(padded[quotes[1::2] + 2], CLOSES)
    good = np.ones(len(quotes), np.bool_)
    good[::2], good[1::2] = opening, closing
    return -1 if good.all() else int(quotes[np.argmin(good)])


def _find_lone_return(data: bytes) -> int:
    """Return where a carriage return outside quotes is without a line feed, or -1."""
    if b"\r" not in data:
        return -1
    octets = np.frombuffer(data + b" ", np.uint8)
    if (octets[np.flatnonzero(octets == RETURN) + 1] == LINE_FEED).all():
        return -1
    at = quotes = start = 0
    while (at := data.find(b"\r", at)) >= 0:
        quotes += data.count(b'"', start, at)
        if quotes % 2 == 0 and data[at + 1 : at + 2] != b"\n":
            return at
        start, at = at, at + 1
    return -1


def check_text(chunk: Chunk, file: str) -> None:
    """Raise DataError if the chunk is not UTF-8."""
    try:
        chunk.data.decode()
    except UnicodeDecodeError as error:
        byte = chunk.data[error.start]
        message = f"the byte 0x{byte:02x} is not UTF-8"
        hint, row = "save it as UTF-8", chunk.find_line(error.start)
        raise DataError(message, code="RT209", hint=hint, file=file, row=row) from None


def _check_quote_length(chunk: Chunk, file: str) -> None:
    """Raise DataError if a quoted cell goes on for too long."""
    end = find_record_end(chunk.data, 0)
    if end > QUOTED_BYTES and b"\n" in chunk.data[: end - 1]:
        raise _make_unclosed_error(chunk, file)


def _make_unclosed_error(chunk: Chunk, file: str) -> DataError:
    """Return the error for a quote without end, at the first quoted cell that spans lines."""
    data, at = chunk.data, 0
    while at < len(data):
        end = find_record_end(data, at)
        if b"\n" in data[at : end - 1] or data.count(b'"', at, end) % 2:
            break
        at = end
    row = chunk.find_line(at)
    return DataError("a quote that is not closed", code="RT210", hint=QUOTES, file=file, row=row)
