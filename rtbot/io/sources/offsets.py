"""How far a file has been read, and what proves later that it is still the same file.

A file whose device, number, bytes and times of change are unchanged is accepted as it is. One that
was copied or touched has to have the same number of bytes and the same digests: of text, compressed
or not, of all that was read; of Parquet and Arrow files, which are written at once and not edited,
of pages spread over the whole file, its head and its end.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import CheckpointError
from rtbot.storage.files import name_path_in_errors
from rtbot.storage.growing_file import update_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from rtbot.io.sources.csv_chunks import Chunk
    from rtbot.storage.files import Files

    Span = tuple[int, int, str]
    """A part of a file, from byte to byte, and its SHA-256."""

PACKED_SUFFIX = ".gz"
PAGE_BYTES, PAGES = 1 << 12, 64
ENDS_BYTES = 1 << 16
"""Bytes that are hashed at the head and at the end of a file that its pages prove."""

TEXT, PACKED, PAGED = "text", "packed", "paged"
DECODED = "text of "
"""Begins the kind of text that is decoded from an encoding, compressed or not."""


@dataclass(frozen=True, slots=True)
class FileOffset:
    """Where a block of a file begins, in its reader's terms, and what proves all before it.

    `kind` is what the spans are of: the file, its decompressed or decoded content, or its pages.
    `stamp` is what `Files.stamp` returned when the file was opened.
    """

    path: str
    kind: str
    stamp: tuple[int, ...]
    place: tuple[int, ...]
    spans: tuple[Span, ...]


class OffsetTracker:
    """Makes the marks of one file while it is read."""

    def __init__(self, path: str, kind: str, stamp: tuple[int, ...]) -> None:
        self._file = path, kind, stamp
        self._earlier: tuple[Span, ...] = ()
        self._begin = self._at = 0
        self._hash = hashlib.sha256()

    def make_start_offset(self) -> FileOffset:
        """Return the mark of a file in which no block begins."""
        return FileOffset(*self._file, (0, 1), ())

    def read(self, data: bytes, line: int) -> FileOffset:
        """Hash the next bytes, of which `line` is the first; return the mark of their start."""
        place = self._at, line
        self.skip(data)
        span = self._begin, self._at, self._hash.hexdigest()
        return FileOffset(*self._file, place, (*self._earlier, span))

    def skip(self, data: bytes) -> None:
        """Hash bytes that no block holds."""
        self._hash.update(data)
        self._at += len(data)

    def resume_from(self, mark: FileOffset) -> None:
        """Continue behind what an earlier run has read."""
        self._earlier = mark.spans
        self._begin = self._at = mark.place[0]
        self._hash = hashlib.sha256()

    def hash_pages(self, stream: BinaryIO) -> Callable[[tuple[int, ...]], FileOffset]:
        """Return what makes the mark of a place in a file that its pages prove."""
        stamp = self._file[2]
        spans = ((0, stamp[0], digest_pages(stream, stamp[0])),)
        stream.seek(0)
        return lambda place: FileOffset(*self._file, place, spans)


def continue_chunks(
    stream: Any,
    mark: FileOffset,
    tracker: OffsetTracker,
    chunks: Iterator[Chunk],
    again: Callable[[int], Iterator[Chunk]],
) -> Iterator[Chunk]:
    """Yield the chunks of a text from a mark on.

    `again` starts again at the stream's position, at a line; `chunks` continue where compressed
    text has to be read from its beginning.
    """
    if hasattr(stream, "seek"):
        stream.seek(mark.place[0])
        tracker.resume_from(mark)
        yield from again(mark.place[1])
        return
    for chunk in chunks:
        if chunk.place == mark.place:
            yield chunk
            yield from chunks
            return
    raise _make_changed_error(mark, "is another one than it was at the checkpoint")


def check_file(files: Files, mark: FileOffset) -> None:
    """Raise CheckpointError unless a file is the one that was read."""
    stamp = files.stamp(mark.path)
    if stamp is None:
        raise _make_changed_error(mark, "is gone")
    if stamp == mark.stamp:
        return
    if stamp[0] != mark.stamp[0]:
        raise _make_changed_error(mark, f"has {stamp[0]:,} bytes, and had {mark.stamp[0]:,}")
    with name_path_in_errors(mark.path), files.open(mark.path) as stream:
        if not all(
            _digest_span(stream, mark, start, end) == text for start, end, text in mark.spans
        ):
            raise _make_changed_error(mark, "has not the content any more that was read")


def _digest_span(stream: BinaryIO, mark: FileOffset, start: int, end: int) -> str:
    if mark.kind == PAGED:
        return digest_pages(stream, end)
    stream.seek(0)
    reader: Any = stream
    if mark.kind == TEXT:
        stream.seek(start)
    else:
        assert not start, "packed text is read from its beginning"
        reader = open_content(stream, mark.path, mark.kind)
    found = hashlib.sha256()
    update_hash(found, reader, end - start)
    return found.hexdigest()


def open_content(stream: BinaryIO, path: str, kind: str) -> Any:
    """Return what reads the content of a file that is compressed or in another encoding."""
    reader: Any = stream
    if kind == PACKED or path.lower().endswith(PACKED_SUFFIX):
        from rtbot.io.sources.gzip import GzipStream

        reader = GzipStream(stream, path)
    if kind.startswith(DECODED):
        from rtbot.io.sources.text_decoder import DecodedStream

        reader = DecodedStream(reader, path, kind.removeprefix(DECODED))
    return reader


def digest_pages(stream: BinaryIO, size: int) -> str:
    """Return the digest of the head, of pages in between, and of the end of a file."""
    found = hashlib.sha256()
    pages = [(size * page // PAGES, PAGE_BYTES) for page in range(PAGES)]
    for place, length in [(0, ENDS_BYTES), *pages, (max(size - ENDS_BYTES, 0), ENDS_BYTES)]:
        stream.seek(place)
        found.update(stream.read(length))
    return found.hexdigest()


def _make_changed_error(mark: FileOffset, what: str) -> CheckpointError:
    hint = "put the file back as it was, or start again: leave --resume out"
    return CheckpointError(f"{mark.path} {what}", code="RT314", hint=hint)
