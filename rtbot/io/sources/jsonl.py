"""JSONL files in blocks: one object per line, typed by what the graph asks for.

pyarrow reads whole chunks; where it refuses one, or could accept what we do not, every line is read
again by `json_tokens`. The first object decides the columns, and the first rows whether keys are
integers or text; an absent key of an object is an empty cell, as null is. `a.b` is the key b of the
object a, if there is no key `a.b`.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.errors import DataError
from rtbot.graph.model import ReadOptions
from rtbot.io.blocks import Block, CellError, add_start_offset
from rtbot.io.sources import csv_chunks, json_tokens
from rtbot.io.sources.byte_streams import AHEAD, LiveStream, map_in_background, name_file_in_errors
from rtbot.io.sources.cells import convert_cells, drop_tokens
from rtbot.io.sources.csv_chunks import Chunk, add_offset, check_text, read_pieces
from rtbot.io.sources.json_paths import read_with_arrow
from rtbot.io.sources.offsets import continue_chunks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import BinaryIO

    from rtbot.io.sources.offsets import FileOffset, OffsetTracker

NUMERIC = ("number", "integer", "boolean")
DEFAULTS = ReadOptions()
BLANK = json_tokens.BLANK.encode()


class JsonlSource:
    """A JSONL file, opened: `names` are the keys of its first object.

    Where all columns are series, they are those of the objects in the first chunk.
    """

    typed, sparse = True, True

    def __init__(
        self,
        stream: BinaryIO | LiveStream,
        file: str,
        tracker: OffsetTracker | None = None,
        options: ReadOptions = DEFAULTS,
    ) -> None:
        self.file = file
        self._options = options
        self._null = tuple(token.strip() for token in options.null)
        self.live = isinstance(stream, LiveStream)
        self._stream, self._witness = stream, tracker
        self._chunks = self._read_from(1)
        filled = (chunk for chunk in self._chunks if chunk.data.strip(BLANK))
        self._first = next(filled, Chunk(b"", 1))
        check_text(self._first, file)
        samples = self._read_samples()
        self.names = list(next(samples, {}))
        if options.columns_as is not None:
            self.names = list(dict.fromkeys(chain(self.names, *samples)))

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

        The type is null if there is none. Integers are text if not all of the first rows are.
        """
        cells = self._read_cells(column)
        cell = next(cells, None)
        if cell is None:
            return pa.array([], pa.null())
        is_integer = isinstance(cell, json_tokens.JsonInteger)
        if is_integer and read_with_arrow(self._first.data, {column: "integer"}) is None:
            is_integer = all(isinstance(other, json_tokens.JsonInteger) for other in cells)
        return pa.array([], pa.int64()) if is_integer else pa.array([str(cell)], pa.string())

    def _read_cells(self, column: str) -> Iterator[Any]:
        """Yield the cells of the first chunk that are there."""
        for row in self._read_samples():
            cell = _find_cell(row, column, 0, [])
            if cell is not None and not (type(cell) is str and cell.strip() in self._null):
                yield cell

    def read_blocks(
        self, wanted: Mapping[str, str], mark: FileOffset | None = None
    ) -> Iterator[Block]:
        """Read the wanted columns; a key is integer or text as declared, or in the first rows."""
        kinds = {
            name: self._find_key_kind(name) if kind == "key" else kind
            for name, kind in wanted.items()
        }
        convert = partial(self._convert_chunk, kinds=kinds, texts=self._find_texts(kinds))
        rest: Iterator[Chunk] = chain([self._first], self._chunks)
        if mark is not None and mark.spans and mark.place != self._first.place:
            assert self._witness is not None, "what has marks has a witness"
            rest = continue_chunks(self._stream, mark, self._witness, rest, self._read_from)
        filled = (chunk for chunk in rest if chunk.data.strip(BLANK))
        ahead = 0 if self.live else AHEAD
        found = map_in_background(convert, filled, ahead)
        begun = None if self._witness is None else self._witness.make_start_offset()
        yield from add_start_offset(begun, self.file, found)

    def _find_key_kind(self, name: str) -> str:
        declared = self._options.key_types.get(name)
        integer = declared == "integer"
        if declared is None:
            integer = pa.types.is_integer(self.sample(name).type)
        return "integer key" if integer else "text key"

    def _find_texts(self, kinds: Mapping[str, str]) -> frozenset[str]:
        """Return the columns of numbers, integers and booleans whose first cell is text."""
        numeric = [name for name, kind in kinds.items() if kind in NUMERIC]
        return frozenset(
            name for name in numeric if type(next(self._read_cells(name), None)) is str
        )

    def _is_closed(self, kinds: Mapping[str, str]) -> bool:
        """Return whether a key that is not wanted is a mistake, as all columns are series."""
        return self._options.columns_as is not None and set(self.names) <= {*kinds, ""}

    def _convert_chunk(
        self, chunk: Chunk, kinds: Mapping[str, str], texts: frozenset[str]
    ) -> Block:
        """Convert a chunk; `texts` are columns of numbers that are tried as text."""
        check_text(chunk, self.file)
        found = self._read(chunk, {**kinds, **dict.fromkeys(texts, "raw")})
        if found is None:
            return self._convert_strictly(chunk, kinds)
        columns, faults = {}, []
        for name, kind in kinds.items():
            columns[name] = drop_tokens(found[0][name], self._null)
            if name in texts:
                columns[name], bad = convert_cells(columns[name], kind, name)
                faults += bad
        return self._make_block(chunk, columns, found[1], faults)

    def _read(
        self, chunk: Chunk, kinds: Mapping[str, str]
    ) -> tuple[dict[str, pa.Array], int] | None:
        """Read columns by pyarrow, keys of text also if all of them are written as integers."""
        closed = self._is_closed(kinds)
        found = read_with_arrow(chunk.data, kinds, closed=closed)
        keys = [name for name, kind in kinds.items() if kind == "text key"]
        if found is not None or not keys or b"-0" in chunk.data:
            return found
        found = read_with_arrow(
            chunk.data, {**kinds, **dict.fromkeys(keys, "integer")}, closed=closed
        )
        if found is not None:
            found[0].update({name: pc.cast(found[0][name], pa.string()) for name in keys})
        return found

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
            cells = [_find_cell(row, name, place, faults) for place, row in enumerate(rows)]
            columns[name], bad = json_tokens.convert_column(cells, kind, name, self._null)
            faults += bad
        if self._is_closed(kinds):
            faults += _find_new_keys(rows, kinds)
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
            partial(json_tokens.convert_any_column, null=self._null),
            chunk.mark,
        )


def _find_cell(row: dict[str, Any], name: str, place: int, faults: list[CellError]) -> Any:
    """Return the cell of a row, or a fault and None if it is there twice."""
    try:
        return json_tokens.find_member(row, name)
    except ValueError as error:
        faults.append(CellError(place, name, str(error), code="RT208", hint=json_tokens.HINT))
        return None


def _find_new_keys(rows: list[dict[str, Any]], known: Collection[str]) -> Iterator[CellError]:
    """Yield a fault for every row with a key that the first rows do not have."""
    for place, row in enumerate(rows):
        new = next((key for key in row if key and key not in known), None)
        if new is not None:
            message = "a column that the first rows do not have"
            yield CellError(place, new, message, code="RT204", hint="give every row all columns")


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
