"""Streams compressed by gzip, read so that the place of any damage can be reported."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError
from rtbot.io.sources.csv_chunks import count_byte
from rtbot.io.sources.csv_syntax import LINE_FEED

if TYPE_CHECKING:
    from typing import BinaryIO

MAGIC = b"\x1f\x8b"
"""The first bytes of gzip."""

READ_BYTES = 1 << 17
GZIP_BITS = 31
"""Makes zlib expect the header and the checksum of gzip."""


class GzipStream:
    """The content of a gzip stream. Members follow one another, and zeros may pad the end."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self._stream, self._file = stream, file
        self._packed = b""
        self._member: Any = None
        self._members = self._at = self._lines = 0

    def read(self, size: int) -> bytes:
        """Return some bytes, at most `size`; none at the end.

        Raises DataError where the stream is damaged, cut off or followed by something else.
        """
        while self._member is not None or self._begin_member():
            data = self._decompress(size)
            if data:
                self._lines += count_byte(data, LINE_FEED)
                return data
        return b""

    def _begin_member(self) -> bool:
        """Begin the next member; False if there is none."""
        while True:
            if self._members:  # zeros may pad what is behind a member
                rest = self._packed.lstrip(b"\0")
                self._note_used(len(self._packed) - len(rest), rest)
            more = b"" if len(self._packed) >= len(MAGIC) else self._stream.read(READ_BYTES)
            if not more:
                break
            self._packed += more
        if self._members and not self._packed:
            return False
        if not self._packed.startswith(MAGIC):
            raise self._make_not_gzip_error()
        self._member = zlib.decompressobj(GZIP_BITS)
        self._members += 1
        return True

    def _decompress(self, size: int) -> bytes:
        """Decompress some more of the member; there may be no output yet."""
        packed = self._packed or self._stream.read(READ_BYTES)
        try:
            data: bytes = self._member.decompress(packed, size)
        except zlib.error as error:
            reason = str(error).rpartition(": ")[2]
            message = f"damaged gzip data ({reason}), at byte {self._at + 1:,} or behind it"
            raise self._make_error(message) from None
        ended = self._member.eof
        rest = self._member.unused_data if ended else self._member.unconsumed_tail
        self._note_used(len(packed) - len(rest), rest)
        if ended:
            self._member = None
        elif not packed and not data:
            raise self._make_truncated_error()
        return data

    def _note_used(self, taken: int, rest: bytes) -> None:
        """Note how many bytes have been used, and those that remain."""
        self._at, self._packed = self._at + taken, rest

    def _make_not_gzip_error(self) -> DataError:
        """Return the error for what is not gzip: all of the file, its only byte, or its end."""
        if MAGIC.startswith(self._packed):
            return self._make_truncated_error()
        if not self._members:
            hint = "rename it without .gz if it is not compressed"
            return DataError("this is not gzip data", code="RT208", hint=hint, file=self._file)
        message = f"something else behind the end of the gzip data, from byte {self._at + 1:,} on"
        return self._make_error(message, f"the first {self._at:,} bytes are a whole file of gzip")

    def _make_truncated_error(self) -> DataError:
        at = self._at + len(self._packed)
        hint = "its end is missing: copy it again"
        cut = f"gzip data that is cut off at byte {at:,}"
        return self._make_error(cut if at else "an empty file, which is not gzip", hint)

    def _make_error(self, what: str, hint: str = "") -> DataError:
        message = f"{what}, after {self._lines:,} lines"
        return DataError(message, code="RT208", hint=hint, file=self._file)
