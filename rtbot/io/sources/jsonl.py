"""JSONL files in blocks: one object per line, typed by what the graph asks for.

pyarrow reads whole chunks; where it refuses one, or could accept what we do not, every line is read
again by `json_tokens`. The first object decides the columns, and the first cell of a key column
whether keys are integers or text; an absent key of an object is an empty cell, as null is.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.json as pajson

from rtbot.core.errors import DataError
from rtbot.io.blocks import Block, CellError, add_start_offset
from rtbot.io.sources import csv_chunks, json_tokens
from rtbot.io.sources.byte_streams import AHEAD, LiveStream, map_in_background, name_file_in_errors
from rtbot.io.sources.csv_chunks import Chunk, add_offset, check_text, read_pieces
from rtbot.io.sources.offsets import continue_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from rtbot.io.sources.offsets import FileOffset, OffsetTracker

TYPES = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "raw": pa.string(),
    "epoch": pa.int64(),
}
BLANK = json_tokens.BLANK.encode()


class JsonlSource:
    """A JSONL file, opened: `names` are the keys of its first object."""

    typed, sparse = True, True

    def __init__(
        self, stream: BinaryIO | LiveStream, file: str, tracker: OffsetTracker | None = None
    ) -> None:
        self.file = file
        self.live = isinstance(stream, LiveStream)
        self._stream, self._witness = stream, tracker
        self._chunks = self._read_from(1)
        filled = (chunk for chunk in self._chunks if chunk.data.strip(BLANK))
        self._first = next(filled, Chunk(b"", 1))
        check_text(self._first, file)
        self.names = list(next(self._read_samples(), {}))

    def _read_from(self, line: int) -> Iterator[Chunk]:
        return name_file_in_errors(
            _read_chunks(self._stream, self.file, self._witness, line), self.file
        )

    def _read_samples(self) -> Iterator[dict[str, Any]]:
        """Yield the objects of the first chunk; at least one line has to be an object."""
        problem: tuple[int, str] | None = None
        found = False
        for start, line in _split_lines(self._first):
            try:
                row = json_tokens.parse_line(line)
            except ValueError as error:
                problem = problem or (start, str(error))
                continue
            found = True
            yield row
        if problem is not None and not found:
            place = self._first.find_line(problem[0])
            raise DataError(
                problem[1], code="RT208", hint=json_tokens.HINT, file=self.file, row=place
            )

    def sample(self, column: str) -> pa.Array:
        """Return the first cell that is there: text as it is, of integers only the type.

        The type is null if there is none.
        """
        cells = (row.get(column) for row in self._read_samples())
        cell = next((cell for cell in cells if cell is not None), None)
        if cell is None or isinstance(cell, json_tokens.JsonInteger):
            return pa.array([], pa.null() if cell is None else pa.int64())
        return pa.array([str(cell)], pa.string())

    def read_blocks(
        self, wanted: Mapping[str, str], mark: FileOffset | None = None
    ) -> Iterator[Block]:
        """Read the wanted columns; a key is integer or text as the first one is."""
        kinds = {
            name: self._find_key_kind(name) if kind == "key" else kind
            for name, kind in wanted.items()
        }
        rest: Iterator[Chunk] = chain([self._first], self._chunks)
        if mark is not None and mark.spans and mark.place != self._first.place:
            assert self._witness is not None, "what has marks has a witness"
            rest = continue_chunks(self._stream, mark, self._witness, rest, self._read_from)
        filled = (chunk for chunk in rest if chunk.data.strip(BLANK))
        ahead = 0 if self.live else AHEAD
        found = map_in_background(lambda chunk: self._convert_chunk(chunk, kinds), filled, ahead)
        begun = None if self._witness is None else self._witness.make_start_offset()
        yield from add_start_offset(begun, self.file, found)

    def _find_key_kind(self, name: str) -> str:
        return "integer" if pa.types.is_integer(self.sample(name).type) else "text"

    def _convert_chunk(self, chunk: Chunk, kinds: Mapping[str, str]) -> Block:
        check_text(chunk, self.file)
        table = _read_with_arrow(chunk, kinds)
        if table is None:
            return self._convert_strictly(chunk, kinds)
        columns = {name: _combine_column(table.column(name)) for name in kinds}
        return self._make_block(chunk, columns, table.num_rows, [])

    def _convert_strictly(self, chunk: Chunk, kinds: Mapping[str, str]) -> Block:
        rows: list[dict[str, Any]] = []
        faults: list[CellError] = []
        for _, line in _split_lines(chunk):
            try:
                rows.append(json_tokens.parse_line(line, kinds))
            except ValueError as error:
                fault = CellError(len(rows), None, str(error), code="RT208", hint=json_tokens.HINT)
                faults.append(fault)
                rows.append({})
        columns = {}
        for name, kind in kinds.items():
            columns[name], bad = json_tokens.convert_column(
                [row.get(name) for row in rows], kind, name
            )
            faults += bad
        return self._make_block(chunk, columns, len(rows), faults)

    def _make_block(
        self, chunk: Chunk, columns: Mapping[str, pa.Array], count: int, faults: list[CellError]
    ) -> Block:
        """Assemble a block that can locate its rows in the file."""
        starts: list[int] = []

        def start(row: int) -> int:
            if not starts:
                starts.extend(place for place, _ in _split_lines(chunk))
            return starts[row]

        def line(row: int) -> int:
            return chunk.find_line(start(row))

        def text(row: int) -> str:
            at = start(row)
            end = chunk.data.find(b"\n", at)
            return chunk.data[at : end if end >= 0 else None].decode().rstrip("\r")

        return Block(
            self.file,
            count,
            columns,
            line,
            text,
            tuple(faults),
            json_tokens.convert_any_column,
            chunk.mark,
        )


def _read_chunks(
    stream: BinaryIO | LiveStream, file: str, tracker: OffsetTracker | None, line: int
) -> Iterator[Chunk]:
    """Cut the stream after line feeds; raise DataError if a line is too long."""
    rest = b""
    for data, last in read_pieces(stream, file, tracker, line):
        data = rest + data  # noqa: PLW2901
        end = data.find(b"\n")
        if (end if end >= 0 else len(data)) > csv_chunks.LINE_BYTES:
            message = f"a line of more than {csv_chunks.LINE_BYTES} bytes"
            raise DataError(message, code="RT219", file=file, row=line)
        cut = len(data) if last else data.rfind(b"\n") + 1
        whole, rest = Chunk(data[:cut], line), data[cut:]
        if whole.data:
            yield add_offset(whole, tracker)
        line += whole.data.count(b"\n")


def _split_lines(chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, and where each starts."""
    at, data = 0, chunk.data
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[at:end]
        if line.strip(BLANK):
            yield at, line
        at = end + 1


def _read_with_arrow(chunk: Chunk, kinds: Mapping[str, str]) -> pa.Table | None:
    """Read a chunk by pyarrow; None if that might not be what `json_tokens` reads."""
    data = chunk.data.rstrip(BLANK)
    if "any" in kinds.values() or not data.startswith(b"{") or _is_deceptive(data):
        return None
    schema = pa.schema([(name, TYPES[kind]) for name, kind in kinds.items()])
    try:
        table = pajson.read_json(
            pa.BufferReader(data),
            read_options=pajson.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=pajson.ParseOptions(schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        return None
    # Where every line feed is between the end of an object and the start of the next, and
    # there is one less than objects, each object has a line of its own.
    between = data.count(b"}\n{") or data.count(b"}\r\n{")
    return table if between == data.count(b"\n") == table.num_rows - 1 else None


def _is_deceptive(data: bytes) -> bool:
    """Return whether pyarrow might read as a number what is not one: Inf, -NaN."""
    infinities = data.count(b"Inf")
    return (bool(infinities) and (infinities != data.count(b"Infinity"))) or b"-NaN" in data


def _combine_column(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
