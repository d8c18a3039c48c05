"""How far a file has been read, and what proves later that it is still the same file.

A file that has the device, number, bytes and times of change that it had is taken as it is. One
that was copied or touched has to have the same number of bytes and the same digests: of text, and
of what is packed text, of all that was read; of Parquet and Arrow files, which are made in one go
and not edited, of pages spread over the whole file, its head and its end.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import CheckpointError
from rtbot.storage.files import naming
from rtbot.storage.growing_file import take_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from rtbot.io.sources.csv_chunks import Chunk
    from rtbot.storage.files import Files

    Span = tuple[int, int, str]
    """A part of a file, from byte to byte, and its SHA-256."""

PAGE_BYTES, PAGES = 1 << 12, 64
ENDS_BYTES = 1 << 16
"""What is taken of the head and of the end of a file whose pages prove it."""

TEXT, PACKED, PAGED = "text", "packed", "paged"


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a block of a file begins, in the words of its reader, and what proves all before it.

    `kind` says of what the spans are: the file, what is packed in it, or its pages. `stamp` is what
    `Files.stamp` told when the file was opened.
    """

    path: str
    kind: str
    stamp: tuple[int, ...]
    place: tuple[int, ...]
    spans: tuple[Span, ...]


class Witness:
    """Makes the marks of one file while it is read."""

    def __init__(self, path: str, kind: str, stamp: tuple[int, ...]) -> None:
        self._file = path, kind, stamp
        self._earlier: tuple[Span, ...] = ()
        self._begin = self._at = 0
        self._hash = hashlib.sha256()

    def begun(self) -> Mark:
        """Return the mark of a file in which no block begins."""
        return Mark(*self._file, (0, 1), ())

    def read(self, data: bytes, line: int) -> Mark:
        """Take the next bytes in, of which `line` is the first; return the mark of their start."""
        place = self._at, line
        self.skip(data)
        span = self._begin, self._at, self._hash.hexdigest()
        return Mark(*self._file, place, (*self._earlier, span))

    def skip(self, data: bytes) -> None:
        """Take bytes in that no block holds."""
        self._hash.update(data)
        self._at += len(data)

    def go_on(self, mark: Mark) -> None:
        """Go on behind what an earlier run has read."""
        self._earlier = mark.spans
        self._begin = self._at = mark.place[0]
        self._hash = hashlib.sha256()

    def pages(self, stream: BinaryIO) -> Callable[[tuple[int, ...]], Mark]:
        """Return what makes the mark of a place in a file that its pages prove."""
        stamp = self._file[2]
        spans = ((0, stamp[0], pages_digest(stream, stamp[0])),)
        stream.seek(0)
        return lambda place: Mark(*self._file, place, spans)


def continued(
    stream: Any,
    mark: Mark,
    witness: Witness,
    chunks: Iterator[Chunk],
    again: Callable[[int], Iterator[Chunk]],
) -> Iterator[Chunk]:
    """Yield the chunks of a text from a mark on.

    `again` begins anew where the stream stands, at a line; `chunks` go on where packed text has to
    be read from its beginning.
    """
    if hasattr(stream, "seek"):
        stream.seek(mark.place[0])
        witness.go_on(mark)
        yield from again(mark.place[1])
        return
    for chunk in chunks:
        if chunk.place == mark.place:
            yield chunk
            yield from chunks
            return
    raise _changed(mark, "is another one than it was at the checkpoint")


def check(files: Files, mark: Mark) -> None:
    """Raise CheckpointError unless a file is the one that was read."""
    stamp = files.stamp(mark.path)
    if stamp is None:
        raise _changed(mark, "is gone")
    if stamp == mark.stamp:
        return
    if stamp[0] != mark.stamp[0]:
        raise _changed(mark, f"has {stamp[0]:,} bytes, and had {mark.stamp[0]:,}")
    with naming(mark.path), files.open(mark.path) as stream:
        if not all(_digest(stream, mark, start, end) == told for start, end, told in mark.spans):
            raise _changed(mark, "has not the content any more that was read")


def _digest(stream: BinaryIO, mark: Mark, start: int, end: int) -> str:
    if mark.kind == PAGED:
        return pages_digest(stream, end)
    stream.seek(0)
    reader: Any = stream
    if mark.kind == PACKED:
        from rtbot.io.sources.gzip import Unpacked

        reader = Unpacked(stream, mark.path)
        assert not start, "packed text is read from its beginning"
    else:
        stream.seek(start)
    found = hashlib.sha256()
    take_in(found, reader, end - start)
    return found.hexdigest()


def pages_digest(stream: BinaryIO, size: int) -> str:
    """Return the digest of the head, of pages in between, and of the end of a file."""
    found = hashlib.sha256()
    pages = [(size * page // PAGES, PAGE_BYTES) for page in range(PAGES)]
    for place, length in [(0, ENDS_BYTES), *pages, (max(size - ENDS_BYTES, 0), ENDS_BYTES)]:
        stream.seek(place)
        found.update(stream.read(length))
    return found.hexdigest()


def _changed(mark: Mark, what: str) -> CheckpointError:
    hint = "put the file back as it was, or begin anew: leave --resume out"
    return CheckpointError(f"{mark.path} {what}", code="RT314", hint=hint)
