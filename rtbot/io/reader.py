"""Files as pushes: the blocks of all files in turn, so that no input runs ahead of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.core import times
from rtbot.core.errors import DataError
from rtbot.core.times import BARE, TimeStyle
from rtbot.io.input_batch import Converter, InputBatch
from rtbot.io.sources import cells
from rtbot.tables.time_columns import TimeColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.io.bindings import FileBinding
    from rtbot.io.blocks import BadRowPolicy
    from rtbot.io.sources.offsets import FileOffset

BLOCK_ROWS = 65_536
"""Rows of a file that make a block: outputs are sorted and written after each."""


@dataclass
class ReadPosition:
    """How far the files of a reader have been read: to a row behind the last of the marks.

    There is a mark for every file that was started. `last` is the latest time, `rows` the number of
    rows behind the mark, `ended` whether there are no more.
    """

    marks: list[FileOffset] = field(default_factory=list)
    rows: int = 0
    last: int = times.INT64_MIN
    ended: bool = False

    def mark(self) -> FileOffset | None:
        """Return where to continue."""
        return self.marks[-1] if self.marks else None

    def note(self, mark: FileOffset | None, rows: int) -> None:
        """Note that so many rows of a block have been read."""
        if mark is None:
            return
        if self.marks and self.marks[-1].path == mark.path:
            self.marks.pop()
        self.marks.append(mark)
        self.rows = rows


class FileReader:
    """The reading of files in progress.

    `unit` is that of the times, None if they are integers without one; `style` is how the first
    file with times as text writes them, None if there is none. `integer_keys` is, for every key
    column, whether it holds integers; `rows` counts those read so far.
    """

    def __init__(
        self, readings: Sequence[FileBinding], unit: str | None, policy: BadRowPolicy
    ) -> None:
        styles = [_detect_style(reading) for reading in readings]
        timed = [None if style is None else style != BARE for style in styles]
        if unit is None and True in timed:
            if False in timed:
                file = readings[timed.index(False)].source.file
                message = "times are integers here and text in another file"
                raise DataError(message, code="RT218", hint="set io.unit", file=file)
            unit = times.DEFAULT_UNIT
        self.unit = unit
        self.rows = 0
        self.positions = [ReadPosition() for _ in readings]
        count = len(readings[0].key) if readings else 0
        self.integer_keys = [_is_integer_key(readings, place) for place in range(count)]
        written = [style for style in styles if style not in (None, BARE)]
        self.style: TimeStyle | None = written[0] if written else None
        self.converters = [
            Converter(reading, unit or times.DEFAULT_UNIT, style, self.integer_keys, policy)
            for reading, style in zip(readings, styles, strict=True)
        ]

    def describe_times(self, timezone: str | None = None) -> TimeColumn | None:
        """Return what the times of the first file with rows are; None if there is none.

        Texts become timestamps: in `timezone`, else in UTC if they have an offset, else without
        one.
        """
        for converter in self.converters:
            reading, style = converter.reading, converter.style
            if not reading.source.names:
                continue
            if style is None:
                return TimeColumn(reading.time)
            kind = reading.source.sample(reading.time).type if reading.source.typed else None
            if kind is None or not pa.types.is_temporal(kind):
                zone = timezone or ("UTC" if style.offset else None)
                kind = pa.timestamp(self.unit or times.DEFAULT_UNIT, zone)
            return TimeColumn(reading.time, kind)
        return None

    def list_naive_files(self) -> Iterator[str]:
        """Yield the files whose times are text without an offset, other than dates alone."""
        for converter in self.converters:
            style = converter.style
            if style is not None and style.separator and not style.offset:
                yield converter.reading.source.file

    def read_in_turn(self) -> Iterator[tuple[list[InputBatch], list[str]]]:
        """Yield the batches of a block of the file that lags; also the inputs that end with it.

        After each, `positions` are how far all files have been read, and another reader that is
        given them continues there.
        """
        both = zip(self.converters, self.positions, strict=True)
        going = {converter: position for converter, position in both if not position.ended}
        blocks = {converter: self._split_blocks(converter, p) for converter, p in going.items()}
        while going:
            behind = min(going, key=lambda converter: going[converter].last)
            batches = next(blocks[behind], None)
            if batches is not None:
                position = going[behind]
                position.last = max(position.last, *(batch.find_last_time() for batch in batches))
                yield batches, []
                continue
            going.pop(behind).ended = True
            if going:
                yield [], [binding.input.name for binding in behind.reading.feeds]

    def _split_blocks(
        self, converter: Converter, position: ReadPosition
    ) -> Iterator[list[InputBatch]]:
        """Split the blocks of one file so that they end at fixed numbers of rows.

        Live rows are not held back, so that their blocks end wherever the rows do.
        """
        source, room, skipped = converter.reading.source, BLOCK_ROWS, position.rows
        gathered: list[InputBatch] = []
        for block in source.read_blocks(converter.choose_kinds(), position.mark()):
            start = min(skipped, block.count)
            skipped -= start
            while start < block.count:
                stop = min(start + room, block.count)
                gathered.append(converter.convert_block(block.slice(start, stop)))
                self.rows += stop - start
                start, room = stop, room - (stop - start)
                if not room or (source.live and start == block.count):
                    position.note(block.mark, start)
                    yield gathered
                    room, gathered = BLOCK_ROWS, []
            position.note(block.mark, start)
        if gathered:
            yield gathered


def _detect_style(reading: FileBinding) -> TimeStyle | None:
    """Return how the times of a file are written; `BARE` if as integers, None without rows."""
    if not reading.source.names:
        return None
    sample = reading.source.sample(reading.time)
    if pa.types.is_string(sample.type) or pa.types.is_large_string(sample.type):
        known = sample.drop_null()
        if not len(known):
            return None
        if cells.is_integer_text(known[0].as_py()):
            return BARE
        styles = (times.detect_style(text.as_py()) for text in known)
        return next((style for style in styles if style is not None), TimeStyle(separator=""))
    if pa.types.is_timestamp(sample.type):
        return TimeStyle(offset="Z" if sample.type.tz else "")
    return TimeStyle(separator="", parts=0) if pa.types.is_date(sample.type) else BARE


def _is_integer_key(readings: Sequence[FileBinding], place: int) -> bool:
    """Return whether a key column is of integers, by the first rows of all files."""
    text = []
    for reading in readings:
        if not reading.source.names:
            continue
        sample = reading.source.sample(reading.key[place])
        if reading.source.typed and not pa.types.is_null(sample.type):
            text.append(pa.types.is_integer(sample.type))
        elif not reading.source.typed and len(known := sample.drop_null()):
            text.append(cells.is_integer(known))
    return bool(text) and all(text)
