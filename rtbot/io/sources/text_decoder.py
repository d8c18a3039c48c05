"""Streams of encodings in which a byte of ASCII may be a part of another character, as UTF-8."""

from __future__ import annotations

import codecs
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from typing import BinaryIO

READ_BYTES = 1 << 17


class DecodedStream:
    """The text of a stream, which need not be seekable, as bytes of UTF-8."""

    def __init__(self, stream: BinaryIO | Any, file: str, encoding: str) -> None:
        self._stream, self._file, self._encoding = stream, file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._text = b""
        self._lines = 0
        self._ended = False

    def read(self, size: int) -> bytes:
        """Return some bytes, at most `size`; none at the end.

        Raises DataError for bytes that are not of the encoding.
        """
        while not self._text and not self._ended:
            self._decode_more()
        data, self._text = self._text[:size], self._text[size:]
        return data

    def _decode_more(self) -> None:
        data = self._stream.read(READ_BYTES)
        self._ended = not data
        before = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeError as error:
            raise self._explain(error, before, data) from None
        self._text = text.encode()
        self._lines += text.count("\n")

    def _explain(self, error: UnicodeError, before: tuple[bytes, int], data: bytes) -> DataError:
        """Return what is wrong with bytes that the decoder met in the state `before`."""
        message = f"{self._encoding} without a byte order mark at its beginning"
        hint, row = "set io.csv.encoding to utf-16-le or utf-16-be", 1
        if isinstance(error, UnicodeDecodeError):
            self._decoder.setstate(before)
            with suppress(UnicodeError):  # utf-16 and utf-32 miss their mark
                good = self._decoder.decode(data[: max(error.start - len(before[0]), 0)])
                message = f"bytes that are not {self._encoding}: {error.reason}"
                hint, row = "is io.csv.encoding right?", self._lines + good.count("\n") + 1
        return DataError(message, code="RT209", hint=hint, file=self._file, row=row)
