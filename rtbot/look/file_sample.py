"""Bytes of a file: all of a small one, of a large one the beginning and parts from later."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

    from rtbot.storage.files import Files

WHOLE_BYTES = 1 << 20
"""Files up to this size are looked at whole."""

HEAD_BYTES, PART_BYTES, PARTS = 1 << 18, 1 << 15, 9
"""Of a larger one: the beginning, and so many later parts; the last is its end."""

GZIP = b"\x1f\x8b"

MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "feather 1",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"%PDF": "PDF",
    b"SQLite format 3\x00": "SQLite",
    b"\x89HDF": "HDF5",
    b"CDF\x01": "NetCDF",
    b"CDF\x02": "NetCDF",
    b"\xd0\xcf\x11\xe0": "Excel (xls)",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"Obj\x01": "Avro",
    b"ORC": "ORC",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
}
"""How files that are not text begin."""


@dataclass(frozen=True, slots=True)
class FileSample:
    """What was read of a file.

    `head` is its beginning, `parts` are later parts in the order of the file, each cut somewhere in
    a line; `size` is the bytes of the file, `whole` whether `head` is all of them. Of a compressed
    file `head` is the beginning of its content.
    """

    head: bytes
    parts: tuple[bytes, ...] = ()
    size: int = 0
    whole: bool = True
    packed: bool = False

    @property
    def read_bytes(self) -> int:
        """How many bytes were looked at."""
        return len(self.head) + sum(map(len, self.parts))

    @property
    def form(self) -> str:
        """What the first bytes are: a name in MAGIC, "gzip", or "text"."""
        start = self.head[:16]
        if start.startswith(GZIP):
            return "gzip"
        return next((name for sign, name in MAGIC.items() if start.startswith(sign)), "text")


def read_sample(files: Files, path: str) -> FileSample:
    """Read what is looked at of a file. Raises OSError; a pipe gives its beginning alone."""
    with files.open(path) as stream:
        if not stream.seekable():
            return _read_stream(stream)
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        if stream.read(2) == GZIP:
            stream.seek(0)
            return _unpack(stream.read(WHOLE_BYTES), size)
        stream.seek(0)
        if size <= WHOLE_BYTES:
            return FileSample(stream.read(WHOLE_BYTES + 1), (), size)
        head = stream.read(HEAD_BYTES)
        return FileSample(head, tuple(_read_parts(stream, size)), size, whole=False)


def sample_bytes(data: bytes, *, whole: bool = True) -> FileSample:
    """Make a sample of bytes that are in memory."""
    return FileSample(data, (), len(data), whole)


def _read_stream(stream: BinaryIO) -> FileSample:
    data = stream.read(WHOLE_BYTES + 1)
    if data.startswith(GZIP):
        return _unpack(data, len(data))
    return FileSample(data[:WHOLE_BYTES], (), len(data), len(data) <= WHOLE_BYTES)


def _read_parts(stream: BinaryIO, size: int) -> list[bytes]:
    """Read parts at even distances behind the head; they begin at multiples of 4 bytes."""
    step = (size - HEAD_BYTES - PART_BYTES) / (PARTS - 1)
    found = []
    for number in range(PARTS):
        start = HEAD_BYTES + int(number * step)
        start += -start % 4
        stream.seek(min(start, size))
        found.append(stream.read(PART_BYTES + 4))
    return [part for part in found if part]


def _unpack(data: bytes, size: int) -> FileSample:
    """Decompress the beginning; what is damaged ends it."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        head = unpacker.decompress(data, WHOLE_BYTES)
    except zlib.error:
        return FileSample(data[:WHOLE_BYTES], (), size, whole=False)
    whole = unpacker.eof and not unpacker.unused_data and len(data) == size
    return FileSample(head, (), size, whole, packed=True)
