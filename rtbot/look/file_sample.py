"""Bytes of a file: all of a small one, of a large one the beginning and parts from later."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from rtbot.storage.files import Files

WHOLE_BYTES = 1 << 24
"""Files up to this size are looked at whole; of compressed files it is that of the content."""

HEAD_BYTES, PART_BYTES, PARTS = 1 << 20, 1 << 17, 9
"""Of a larger one at most: the beginning, and so many later parts; the last is its end."""

GZIP = b"\x1f\x8b"
CHUNK, UNPACKED_BYTES = 1 << 16, 1 << 22
"""Of compressed content that is longer than what is looked at whole, so much is looked at."""


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
    a line; `size` is the bytes of the file, of which `looked` were read, `whole` whether `head` is
    all of them. Of a compressed file `head` is the beginning of its content.
    """

    head: bytes
    parts: tuple[bytes, ...] = ()
    size: int = 0
    whole: bool = True
    packed: bool = False
    looked: int = 0

    @property
    def form(self) -> str:
        """What the first bytes are: a name in MAGIC, "gzip", or "text"."""
        start = self.head[:16]
        if start.startswith(GZIP):
            return "gzip"
        return next((name for sign, name in MAGIC.items() if start.startswith(sign)), "text")


def read_sample(files: Files, path: str, limit: int = WHOLE_BYTES) -> FileSample:
    """Read what is looked at of a file: all up to `limit` bytes.

    Raises OSError; a pipe gives its beginning alone.
    """
    with files.open(path) as stream:
        if not stream.seekable():
            return _read_stream(stream, limit)
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        packed = stream.read(2) == GZIP
        stream.seek(0)
        if packed:
            return _unpack(stream, size, limit)
        if size <= limit:
            data = stream.read(limit + 1)
            return FileSample(data, (), size, looked=len(data))
        head = stream.read(min(HEAD_BYTES, limit // 2))
        parts = tuple(_read_parts(stream, size, len(head), min(PART_BYTES, limit // 16)))
        looked = len(head) + sum(map(len, parts))
        return FileSample(head, parts, size, whole=False, looked=looked)


def sample_bytes(data: bytes, *, whole: bool = True) -> FileSample:
    """Make a sample of bytes that are in memory."""
    return FileSample(data, (), len(data), whole, looked=len(data))


def _read_stream(stream: BinaryIO, limit: int) -> FileSample:
    data = stream.read(limit + 1)
    if data.startswith(GZIP):
        return _unpack(io.BytesIO(data), len(data), limit)
    head = data[:limit]
    return FileSample(head, (), len(data), len(data) <= limit, looked=len(head))


def _read_parts(stream: BinaryIO, size: int, start: int, length: int) -> list[bytes]:
    """Read parts at even distances behind the head; they begin at multiples of 4 bytes."""
    step = (size - start - length) / (PARTS - 1)
    found = []
    for number in range(PARTS):
        place = start + int(number * step)
        place += -place % 4
        stream.seek(min(place, size))
        found.append(stream.read(length + 4))
    return [part for part in found if part]


def _unpack(stream: BinaryIO, size: int, limit: int) -> FileSample:
    """Decompress the content up to a limit; what is damaged ends it."""
    chunks: list[bytes] = []
    length, ended, kept, looked = 0, False, 0, 0
    for chunk in _unpack_chunks(stream):
        chunks.append(chunk)
        length, ended = length + len(chunk), not chunk
        if not kept or length <= min(limit, UNPACKED_BYTES):
            kept, looked = length, stream.tell()
        if length > limit:
            break
    head = b"".join(chunks)
    if not head and not ended:  # nothing of it can be decompressed
        stream.seek(0)
        return FileSample(stream.read(CHUNK), (), size, whole=False, looked=min(size, CHUNK))
    if ended:
        return FileSample(head, (), size, packed=True, looked=size)
    if length <= limit:  # what follows is damaged
        kept, looked = length, stream.tell()
    return FileSample(head[:kept], (), size, whole=False, packed=True, looked=looked)


def _unpack_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the content in parts, and an empty one at its end; what is damaged ends it without."""
    chunk = b"-"
    with gzip.GzipFile(fileobj=stream) as content:
        while chunk:
            try:
                chunk = content.read1(CHUNK)
            except (OSError, EOFError, zlib.error):
                return
            yield chunk
