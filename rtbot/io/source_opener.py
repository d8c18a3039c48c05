"""The suffix of a name decides the format of a file."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError
from rtbot.graph.csv_dialect import MULTIPLE_BYTES, find_encoding
from rtbot.graph.document.diagnosis import GRAPH_FIRST
from rtbot.graph.model import ReadOptions
from rtbot.io.sources.offsets import (
    DECODED,
    PACKED,
    PACKED_SUFFIX,
    PAGED,
    TEXT,
    OffsetTracker,
    open_content,
)
from rtbot.storage.files import STANDARD

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import BinaryIO

    import pyarrow as pa

    from rtbot.io.blocks import Block, Source
    from rtbot.io.sources.byte_streams import LiveStream
    from rtbot.io.sources.offsets import FileOffset
    from rtbot.storage.files import Files

SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
PACKABLE = ("csv", "jsonl")
"""Formats whose files may be compressed by gzip."""

DEFAULTS = ReadOptions()


def detect_format(path: str) -> str | None:
    """Return csv, jsonl, parquet or arrow by the suffix; csv if it has none, None if unknown."""
    name = Path(path).name.lower()
    suffix = Path(name.removesuffix(PACKED_SUFFIX)).suffix
    form = SUFFIXES.get(suffix) if suffix else "csv"
    return None if name.endswith(PACKED_SUFFIX) and form not in PACKABLE else form


def list_suffixes() -> str:
    """Name the suffixes of known formats."""
    packed = [f".{form}{PACKED_SUFFIX}" for form in PACKABLE]
    return ", ".join([*SUFFIXES, *packed])


def split_column(files: Files, text: str) -> tuple[str, str | None]:
    """Split FILE[:COLUMN] at the first colon before which there is a file, or stdin.

    If there is none, the file is what has the suffix of a format, else all before the last colon.
    """
    if ":" not in text or _is_there(files, text):
        return text, None
    places = [place for place, sign in enumerate(text) if sign == ":"]
    found = [place for place in places if _is_there(files, text[:place])]
    known = [place for place in places if Path(text[:place].lower()).suffix in (*SUFFIXES, ".gz")]
    place = (*found, *known, places[-1])[0]
    return text[:place], text[place + 1 :]


def _is_there(files: Files, pattern: str) -> bool:
    """Return whether a path is stdin or there, or a pattern matches a file."""
    if not pattern or pattern == STANDARD:
        return pattern == STANDARD
    try:
        return files.list_matching(pattern) != [pattern] or Path(pattern).exists()
    except (OSError, ValueError):  # no match, a name that is too long, NUL in it
        return False


class ConcatSource:
    """Files of the same columns, one after the other, in whatever order each has them."""

    live = False

    def __init__(self, opening: SourceOpener, paths: list[str], options: ReadOptions) -> None:
        self._opening, self._paths, self._options = opening, deque(paths), options
        self._opened: deque[Source] = deque()
        named = (source for source in self._open_ahead() if source.names)
        first = next(named, None) or self._opened[0]
        self.file, self.names = first.file, first.names
        self.typed, self.sparse = first.typed, first.sparse
        self.header_line = getattr(first, "header_line", 1)

    def sample(self, column: str) -> pa.Array:
        """Return the column of the first rows, of the first file that has some."""
        sources = (source for source in self._open_ahead() if source.names)
        samples = (source.sample(column) for source in sources)
        first = next(samples)
        while not self.typed and not len(first):
            later = next(samples, None)
            if later is None:
                break
            first = later
        return first

    def read_blocks(
        self, wanted: Mapping[str, str], mark: FileOffset | None = None
    ) -> Iterator[Block]:
        """Read the wanted columns of every file, from the one of the mark on."""
        while mark is not None and self._find_next_path() != mark.path:
            self._drop()
        while source := self._take_next():
            missing = [name for name in wanted if name not in source.names]
            if missing and source.names and not source.sparse:
                message = f"there is no column {missing[0]!r}, which {self.file} has"
                raise DataError(message, code="RT204", file=source.file, row=1)
            self._check_series(source, wanted)
            yield from source.read_blocks(wanted, mark)
            mark = None

    def _check_series(self, source: Source, wanted: Collection[str]) -> None:
        """Raise DataError if a file has a column more, where all columns are series."""
        known = {*wanted, ""}
        if self._options.columns_as is None or not known.issuperset(self.names):
            return
        new = next((name for name in source.names if name not in known), None)
        if new is not None:
            message = f"there is a column {new!r}, which {self.file} does not have"
            raise DataError(message, code="RT204", file=source.file, row=1)

    def _open_ahead(self) -> Iterator[Source]:
        """Yield the files that are next, opened, without removing them from the list."""
        yield from self._opened
        while self._paths:
            self._opened.append(self._opening.open_one(self._paths.popleft(), self._options))
            yield self._opened[-1]

    def _find_next_path(self) -> str:
        """Return the file that is next; what a mark is of is among them."""
        return self._opened[0].file if self._opened else self._paths[0]

    def _drop(self) -> None:
        (self._opened or self._paths).popleft()

    def _take_next(self) -> Source | None:
        if not self._opened and not self._paths:
            return None
        return (
            self._opened.popleft()
            if self._opened
            else self._opening.open_one(self._paths.popleft(), self._options)
        )


class SourceOpener:
    """Opens files as sources of rows.

    `form` is the format of all of them, None if their suffixes decide. `live` asks for the rows of
    a pipe as soon as they come, `marking` for blocks with the place where they begin. `follow` are
    paths of files that grow: live, their rows come as they are appended, else those lines are read
    that are complete.
    """

    def __init__(
        self,
        files: Files,
        form: str | None = None,
        *,
        live: bool = False,
        marking: bool = False,
        follow: Collection[str] = (),
    ) -> None:
        self.files, self.form, self.live, self.marking = files, form, live, marking
        self.follow = follow
        self._pipes: set[tuple[int, int]] = set()

    def open_pattern(self, pattern: str, options: ReadOptions = DEFAULTS) -> Source:
        """Open a file, or all files that a pattern matches, in the order of their names.

        `options` are how they are written.
        """
        paths = self.files.list_matching(pattern)
        if paths == [pattern]:
            return self.open_one(pattern, options)
        if pattern in self.follow:
            raise _make_follow_error(pattern, f"the pattern matches {len(paths)} files")
        return ConcatSource(self, paths, options)

    def open_one(self, path: str, options: ReadOptions = DEFAULTS) -> Source:
        """Open one file; `-` is stdin, CSV by default."""
        form = self.form or detect_format(path)
        if form is None:
            hint = f"known are {list_suffixes()}; or say --input-format"
            message = "the name does not tell what format this is"
            if path.lower().endswith((".xlsx", ".xls", ".ods")):
                hint = "save the sheet as CSV, in UTF-8"
            if path.lower().endswith(".json"):
                hint = "one object per line, without brackets around all, is .jsonl"
            if path.lower().endswith((".yaml", ".yml")):
                message, hint = "this is a graph, not data", GRAPH_FIRST
            raise DataError(message, code="RT208", hint=hint, file=path)
        name = "stdin" if path == STANDARD else path
        if form == "csv":
            from rtbot.io.sources.csv import CsvSource

            return CsvSource(*self._open_text(path, name, options.csv.encoding), options)
        if form == "jsonl":
            from rtbot.io.sources.jsonl import JsonlSource

            return JsonlSource(*self._open_text(path, name), options)
        if path in self.follow:
            raise _make_follow_error(path, f"a file of {form.capitalize()} is written at once")
        from rtbot.io.sources.byte_streams import make_seekable
        from rtbot.io.sources.columnar import ColumnarSource

        stream = make_seekable(self.files, self._open(path), path)
        tracker = self._make_tracker(stream, path, PAGED)
        return ColumnarSource(stream, name, form, tracker, options.null)

    def _open_text(
        self, path: str, name: str, encoding: str = ""
    ) -> tuple[BinaryIO | LiveStream, str, OffsetTracker | None]:
        """Open a file of text; return what reads it, its name, and what makes marks in it."""
        from rtbot.io.sources.byte_streams import open_live

        stream = self._open(path)
        kind = PACKED if path.lower().endswith(PACKED_SUFFIX) else TEXT
        known = find_encoding(encoding)
        if known in MULTIPLE_BYTES:
            kind = f"{DECODED}{known}"
        tracker = self._make_tracker(stream, path, kind)
        if path in self.follow and self.files.is_regular(path):
            from rtbot.io.sources.followed_file import CompleteLines, FollowedFile

            if kind != TEXT:
                raise _make_follow_error(path, "it is compressed, or UTF-16 or alike")
            if self.live:
                return FollowedFile(self.files, path, stream), name, tracker
            complete: Any = CompleteLines(stream)
            return complete, name, tracker
        if kind != TEXT:
            return open_content(stream, path, kind), name, tracker
        return open_live(stream) if self.live else stream, name, tracker

    def _make_tracker(self, stream: BinaryIO, path: str, kind: str) -> OffsetTracker | None:
        if not self.marking:
            return None
        stamp = self.files.stamp(stream)
        assert stamp is not None, "an open file is there"
        return OffsetTracker(path, kind, stamp)

    def _open(self, path: str) -> BinaryIO:
        """Open a file; a second reader of a pipe would wait for ever, or take rows of the first."""
        pipe = self.files.pipe(path)
        if pipe is not None and pipe in self._pipes:
            message = "one pipe cannot feed two inputs: what one has read is gone for the other"
            hint = "give it as FILE for all inputs, or write it to a file first"
            name = "stdin" if path == STANDARD else path
            raise DataError(message, code="RT221", hint=hint, file=name)
        if pipe is not None:
            self._pipes.add(pipe)
        try:
            return self.files.open(path)
        except IsADirectoryError as error:
            text = f"{error.strerror}; for the files in it, say '{path.rstrip('/')}/*.csv'"
            raise IsADirectoryError(error.errno, text, path) from None


def _make_follow_error(path: str, reason: str) -> DataError:
    hint = "a plain file of CSV or JSONL that grows can be followed"
    return DataError(f"--follow: {reason}", code="RT222", hint=hint, file=path)
