"""Tables as lines of CSV: by Arrow where rows are few, by compiled loops where they are many.

Both make the same bytes. The loops write a row three to four times as fast, but have to be compiled
once per machine, and read from disk in every process. Arrow writes as long as they are not there.
"""

from __future__ import annotations

import functools
import inspect
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from rtbot.compiler import jit
from rtbot.compiler.tiers.argument_types import describe_arguments
from rtbot.compiler.tiers.background import BACKGROUND, PATIENCE_SECONDS
from rtbot.core import times
from rtbot.core.arrow import fill_nulls, to_numpy
from rtbot.core.modes import BESIDE, NOW, choose_mode
from rtbot.io.sinks import csv_kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbot.io.sinks.writers import TimeFormat

    Cells = tuple[int, np.ndarray, list[bytes]]
    """Kind and words of a column, and the texts that its words count from 0."""

FEW_ROWS = 65_536
SLICE_ROWS = 16_384
CELL_BYTES = 36
"""No number or time is longer, with the comma behind it."""

SPECIAL = r'[",\r\n]|^$'
"""Text that CSV has to quote; empty text is quoted to distinguish it from null."""

TRUTH = [b"false", b"true"]


class CsvEncoder:
    """Writes the rows of a file's tables."""

    def __init__(self, clock: TimeFormat, few_rows: int = FEW_ROWS) -> None:
        self._clock, self._few_rows = clock, few_rows
        self._rows = 0
        self._loops: CsvLoops | None = None
        self._out = np.empty(0, np.uint8)

    def encode(self, table: pa.Table) -> Iterator[bytes | memoryview]:
        """Yield the text of the table in parts; each is valid until the next is requested."""
        self._rows += table.num_rows
        many = self._rows > self._few_rows and all(map(_is_known, table.schema.types))
        put_rows = self._find_put_rows(table) if many else None
        if put_rows is not None:
            for batch in table.to_batches(max_chunksize=SLICE_ROWS):
                simple = self._clock.simplify(batch)
                if simple is None:
                    yield from self._encode_slowly(pa.Table.from_batches([batch]))
                else:
                    end = put_rows(*self.prepare_arguments(batch, simple))
                    yield memoryview(self._out)[:end]
        else:
            yield from self._encode_slowly(table)

    def _encode_slowly(self, table: pa.Table) -> Iterator[bytes]:
        table = self._clock.format_table(table)
        yield from map(_encode_with_arrow, table.to_batches(max_chunksize=SLICE_ROWS))

    def _find_put_rows(self, table: pa.Table) -> Callable[..., int] | None:
        """Return the compiled loop, or None as long as there is none."""
        if self._loops is None:
            self._loops = load_csv_loops()
        first = table.slice(0, 1).to_batches()[0]
        return self._loops.find_put_rows(lambda: self.prepare_arguments(first))

    def prepare_arguments(
        self, batch: pa.RecordBatch, times_format: TimeFormat | None = None
    ) -> tuple[np.ndarray, ...]:
        """Return the arguments of `put_rows`, the last of which is the room for the text."""
        shape = batch.num_columns, batch.num_rows
        kinds, texts = np.empty(shape[0], np.int64), list[bytes]()
        words, valid = np.empty(shape, np.int64), np.ones(shape, np.bool_)
        room = batch.num_columns * batch.num_rows * CELL_BYTES + CELL_BYTES
        for place, column in enumerate(batch.columns):
            kinds[place], words[place], new = _encode_cells(column)
            if new:
                room += int(np.array(list(map(len, new))).take(words[place]).sum())
                words[place] += len(texts)
                texts += new
            if column.null_count:
                valid[place] = to_numpy(column.is_valid())
        clock = np.zeros(0, np.int64)
        if times_format is not None and times_format.style is not None:
            place = batch.schema.get_field_index(times_format.column)
            kinds[place] = csv_kernels.TIME
            clock = _encode_time_format(words[place], times_format)
        if len(self._out) < room:
            self._out = np.empty(room, np.uint8)
        starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        letters = np.frombuffer(b"".join(texts) or b" ", np.uint8)
        return kinds, words, valid, clock, letters, starts, compute_powers(), self._out


class CsvLoops:
    """The compiled loops, in one of the modes; they are never interpreted, as Arrow is faster."""

    def __init__(self, text: str, mode: str) -> None:
        self._put_rows = jit.load_compiled(text).put_rows if mode == NOW else None
        self._tier = BACKGROUND.add(text, {}) if mode == BESIDE else None

    def find_put_rows(
        self, prepare: Callable[[], tuple[np.ndarray, ...]]
    ) -> Callable[..., int] | None:
        """Return the function, or None as long as it is not compiled.

        `prepare` returns arguments for it.
        """
        if self._put_rows is None and self._tier is not None:
            if not self._tier.seconds:
                self._tier.seconds = PATIENCE_SECONDS
                self._tier.note("put_rows", describe_arguments(prepare()))
            if BACKGROUND.is_due([self._tier]):
                BACKGROUND.turn()
            self._put_rows = getattr(self._tier.functions, "put_rows", None)
        return self._put_rows


def load_csv_loops() -> CsvLoops:
    """Return the loops in the mode of this process."""
    return _load_loops(choose_mode())


@functools.cache
def _load_loops(mode: str) -> CsvLoops:
    return CsvLoops(inspect.getsource(csv_kernels), mode)


@functools.cache
def compute_powers() -> np.ndarray:
    """Return the powers of ten that `shortest` takes."""
    exponents = range(csv_kernels.LOWEST_POWER, csv_kernels.HIGHEST_POWER + 1)
    return np.array([_compute_power(e) for e in exponents], np.uint64).ravel()


def _compute_power(exponent: int) -> tuple[int, int]:
    """Return 10**exponent, rounded up to 126 bits, as two words of 63 (Giulietti's g)."""
    shift = 125 - ((exponent * csv_kernels.LOG2_OF_10) >> 38)
    above, below = 10 ** max(exponent, 0) << max(shift, 0), 10 ** max(-exponent, 0)
    word = above // (below << max(-shift, 0)) + 1
    return word >> 63, word & csv_kernels.LOW_63


def _is_known(kind: pa.DataType) -> bool:
    """Return whether the compiled loops write a column of this type."""
    return kind in (pa.float64(), pa.int64(), pa.bool_(), pa.string())


def _encode_cells(column: pa.Array) -> Cells:
    """Return a column as the loops take it."""
    if column.type == pa.bool_():
        return csv_kernels.TEXT, to_numpy(column).astype(np.int64), TRUTH
    if column.type != pa.string():
        kind = csv_kernels.NUMBER if column.type == pa.float64() else csv_kernels.INTEGER
        return kind, to_numpy(column).view(np.int64), []
    coded = column.dictionary_encode()
    texts = [quote_cell(text).encode() for text in coded.dictionary.to_pylist()]
    return csv_kernels.TEXT, fill_nulls(coded.indices, 0)[0].astype(np.int64), texts or [b""]


def _encode_time_format(counts: np.ndarray, clock: TimeFormat) -> np.ndarray:
    """Return what `put_time` needs, or raise DataError if it cannot write one of these."""
    unit, style = clock.unit or times.DEFAULT_UNIT, clock.style
    assert style is not None
    scale, width, step = times.measure_style(counts, unit, style)
    offset = style.offset.encode()
    word = int.from_bytes(offset, "little")
    separator = ord(style.separator or "T")
    digits = times.UNITS[unit]
    parts = (scale, digits, style.offset_seconds, width, step, separator, word, len(offset))
    return np.array(parts, np.int64)


def _encode_with_arrow(batch: pa.RecordBatch) -> bytes | memoryview:
    if any(map(_has_special, batch.columns)):
        return _encode_quoted(batch)
    sink = io.BytesIO()
    options = pacsv.WriteOptions(include_header=False, quoting_style="none")
    pacsv.write_csv(batch, sink, options)
    return sink.getbuffer()


def _has_special(column: pa.Array) -> bool:
    """Return whether a column has text to quote; keys repeat, so distinct values are checked."""
    if column.type != pa.string():
        return False
    return bool(pc.any(pc.match_substring_regex(column.unique(), SPECIAL)).as_py())


def _encode_quoted(batch: pa.RecordBatch) -> bytes:
    """Return rows whose text has to be quoted in places."""
    cells = []
    for column in batch.columns:
        text = pc.cast(column, pa.string())
        if pa.types.is_string(column.type):
            doubled = pc.replace_substring(text, '"', '""')
            inside = pc.binary_join_element_wise('"', doubled, '"', "")
            text = pc.if_else(pc.match_substring_regex(text, SPECIAL), inside, text)
        cells.append(pc.fill_null(text, ""))
    lines: list[Any] = pc.binary_join_element_wise(*cells, ",").to_pylist()
    return ("\n".join(lines) + "\n").encode()


def quote_cell(name: str) -> str:
    """Return a text as it is in a cell of CSV."""
    special = any(character in name for character in '",\r\n') or not name
    return '"' + name.replace('"', '""') + '"' if special else name
