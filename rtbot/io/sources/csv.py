"""CSV files in blocks: pyarrow reads whole chunks of records, typed by what the graph asks for.

Where pyarrow refuses a chunk, or could accept what we do not, the chunk is read again as text and
every cell is checked by the strict patterns of `cells`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from rtbot.core.errors import DataError
from rtbot.graph.model import ReadOptions
from rtbot.io.blocks import Block, CellError, add_start_offset
from rtbot.io.sources.byte_streams import AHEAD, LiveStream, map_in_background, name_file_in_errors
from rtbot.io.sources.cells import POINT, NumberSigns, convert_cells, drop_tokens
from rtbot.io.sources.csv_chunks import Chunk, check_text, read_chunks
from rtbot.io.sources.csv_head import CsvHead, check_header
from rtbot.io.sources.offsets import continue_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from rtbot.io.sources.offsets import FileOffset, OffsetTracker

CODED = pa.dictionary(pa.int32(), pa.string())
TYPES = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "text": CODED,
    "key": CODED,
    "raw": pa.string(),
    "any": pa.string(),
}


DECIMAL = f'{POINT}, or set io.csv.decimal: ","'
SHOWN_DELIMITERS = {",": "a comma", "\t": "a tab"}
DEFAULTS = ReadOptions()


class CsvSource:
    """A CSV file, opened: `names` are its columns; none if it has no header, in `header_line`.

    `options` are how it is written; its encoding is one of a byte per character, or UTF-8.
    """

    typed, sparse = False, False

    def __init__(
        self,
        stream: BinaryIO | LiveStream,
        file: str,
        tracker: OffsetTracker | None = None,
        options: ReadOptions = DEFAULTS,
    ) -> None:
        self.file = file
        self.live = isinstance(stream, LiveStream)
        self._stream, self._witness = stream, tracker
        self._signs = NumberSigns(options.csv.decimal, options.csv.thousands)
        self._null = tuple(token.strip() for token in options.null)
        self._values = [token.encode() for token in self._null if self._signs.may_be_value(token)]
        self._head = CsvHead(options.csv, file)
        self._chunks = self._read_from(1)
        first = self._find_filled_chunk()
        if self._head.names is None:
            first = self._head.split(first)
            first = first if first.data else self._find_filled_chunk()
        self._first = first
        self.names, self.header_line = check_header(self._head, file), self._head.line
        self._columns = _make_unique(self.names)

    def _read_from(self, line: int) -> Iterator[Chunk]:
        return name_file_in_errors(
            read_chunks(self._stream, self.file, self._witness, line, self._head), self.file
        )

    def _find_filled_chunk(self) -> Chunk:
        """Return the first chunk that has more than empty lines, or an empty one."""
        filled = (chunk for chunk in self._chunks if chunk.data.strip(b"\r\n"))
        return next(filled, Chunk(b"", 1))

    def sample(self, column: str) -> pa.Array:
        """Return the column of the first chunk, as text."""
        if not self._first.data.strip():
            return pa.array([], pa.string())
        return self._read_as_text(self._first, [column])[0][column]

    def read_blocks(
        self, wanted: Mapping[str, str], mark: FileOffset | None = None
    ) -> Iterator[Block]:
        """Read the wanted columns; `key` is text or, if all of it is so in the sample, integer."""
        rest: Iterator[Chunk] = chain([self._first], self._chunks)
        if mark is not None and mark.spans and mark.place != self._first.place:
            assert self._witness is not None, "what has marks has a witness"
            rest = continue_chunks(self._stream, mark, self._witness, rest, self._read_from)
        filled = (chunk for chunk in rest if chunk.data.strip(b"\r\n"))
        ahead = 0 if self.live else AHEAD
        found = map_in_background(lambda chunk: self._convert_chunk(chunk, wanted), filled, ahead)
        begun = None if self._witness is None else self._witness.make_start_offset()
        yield from add_start_offset(begun, self.file, found)

    def _convert_chunk(self, chunk: Chunk, wanted: Mapping[str, str]) -> Block:
        if not _is_deceptive(chunk.data, wanted) and not _has_padded(chunk.data, self._values):
            try:
                table = self._read(chunk, {name: TYPES[kind] for name, kind in wanted.items()})
            except pa.ArrowInvalid:
                return self._convert_strictly(chunk, wanted)
            columns = {
                name: drop_tokens(_combine_column(table, name), self._null) for name in wanted
            }
            return self._make_block(chunk, columns, table.num_rows)
        return self._convert_strictly(chunk, wanted)

    def _convert_strictly(self, chunk: Chunk, wanted: Mapping[str, str]) -> Block:
        texts, broken, count = self._read_as_text(chunk, list(wanted))
        columns, faults = {}, []
        for name, kind in wanted.items():
            plain = "text" if kind == "key" else kind
            columns[name], bad = convert_cells(texts[name], plain, name, self._signs)
            faults += bad
        if chunk.syntax.delimiter != "," and self._signs.decimal == ".":
            faults = [replace(f, hint=DECIMAL if f.hint == POINT else f.hint) for f in faults]
        return self._make_block(chunk, columns, count, broken, faults)

    def _read_as_text(
        self, chunk: Chunk, names: list[str]
    ) -> tuple[dict[str, pa.Array], list[CellError], int]:
        """Read columns as text; also the rows that have too few or too many cells, left out."""
        check_text(chunk, self.file)
        broken: list[CellError] = []

        sign = SHOWN_DELIMITERS.get(chunk.syntax.delimiter, repr(chunk.syntax.delimiter))

        def skip(row: pacsv.InvalidRow) -> str:
            plural = "s" if row.actual_columns != 1 else ""
            message = f"{row.actual_columns} cell{plural}, the header has {row.expected_columns}"
            more = row.actual_columns > row.expected_columns
            hint = f"a cell that holds {sign} needs quotes" if more else ""
            broken.append(CellError(row.number - 1, None, message, code="RT207", hint=hint))
            return "skip"

        try:
            table = self._read(chunk, dict.fromkeys(names, pa.string()), skip)
        except pa.ArrowInvalid as error:
            message = f"not CSV: {error}"
            raise DataError(message, code="RT208", file=self.file, row=chunk.line) from None
        return (
            {name: drop_tokens(_combine_column(table, name), self._null) for name in names},
            broken,
            table.num_rows,
        )

    def _read(self, chunk: Chunk, types: Mapping[str, pa.DataType], skip: Any = None) -> pa.Table:
        syntax = chunk.syntax
        quoted = bool(syntax.quote) and syntax.quote in chunk.data
        # Without a line feed, pyarrow takes an empty last cell behind one in quotes as quoted.
        data = chunk.data if chunk.data.endswith(b"\n") else chunk.data + b"\n"
        return pacsv.read_csv(
            pa.BufferReader(data),
            read_options=pacsv.ReadOptions(
                column_names=self._columns, block_size=len(data) + 1, use_threads=False
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=syntax.delimiter,
                quote_char=syntax.quote.decode() or False,
                newlines_in_values=quoted,
                invalid_row_handler=skip,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                decimal_point=self._signs.decimal,
                null_values=["", *self._null],
                true_values=["true", "True", "TRUE", "1"],
                false_values=["false", "False", "FALSE", "0"],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _make_block(
        self,
        chunk: Chunk,
        columns: dict[str, pa.Array],
        count: int,
        broken: list[CellError] | None = None,
        faults: list[CellError] | None = None,
    ) -> Block:
        """Assemble a block that can locate its rows in the file."""
        broken = broken or []
        starts: list[int] = []
        if broken:
            columns, faults = _insert_gaps(columns, count, broken, faults or [])
            count += len(broken)

        def start(row: int) -> int:
            if not starts:
                starts.extend(chunk.find_record_starts())
            return starts[row]

        def line(row: int) -> int:
            return chunk.find_line(start(row))

        def text(row: int) -> str:
            return chunk.format_record(start(row))

        found = tuple(faults or ())
        convert = partial(convert_cells, signs=self._signs)
        return Block(self.file, count, columns, line, text, found, convert, chunk.mark)


def _combine_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array, without a copy where it is one."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _make_unique(names: list[str]) -> list[str]:
    """Give columns without a name, other than the first of them, one that nobody asks for."""
    first = names.index("") if "" in names else -1
    return [name or "\0" * (place - first) for place, name in enumerate(names)]


def _is_deceptive(data: bytes, wanted: Mapping[str, str]) -> bool:
    """Return whether pyarrow might read as a number what is not one: 0x1F, nan(1)."""
    kinds = set(wanted.values())
    if "integer" in kinds and (b"0x" in data or b"0X" in data):
        return True
    return "number" in kinds and b"(" in data and b"nan(" in data.lower()


def _has_padded(data: bytes, tokens: list[bytes]) -> bool:
    """Return whether there is a blank beside a token; pyarrow would read it as a value."""
    pairs = ((token, blank) for token in tokens for blank in (b" ", b"\t"))
    return any(blank + token in data or token + blank in data for token, blank in pairs)


def _insert_gaps(
    columns: dict[str, pa.Array], count: int, broken: list[CellError], faults: list[CellError]
) -> tuple[dict[str, pa.Array], list[CellError]]:
    """Put rows of nulls where broken rows were left out, so that rows count as in the file."""
    places = np.ones(count + len(broken), np.bool_)
    places[[fault.row for fault in broken]] = False
    where = np.flatnonzero(places)
    source = np.zeros(len(places), np.int64)
    source[where] = np.arange(count)
    indices = pa.array(source, mask=~places)
    moved = [replace(f, row=int(where[f.row])) for f in faults]
    return {name: array.take(indices) for name, array in columns.items()}, [*broken, *moved]
