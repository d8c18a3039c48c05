"""Files as pushes: the blocks of all files in turn, so that no input runs ahead of the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from rtbot.core import times
from rtbot.core.error_times import format_error_times
from rtbot.core.errors import DataError, PlacedError
from rtbot.core.number_text import format_count
from rtbot.core.time_reading.repeated_hour import RepeatedHour
from rtbot.core.times import BARE, TimeStyle
from rtbot.io.change_batch import ChangeConverter
from rtbot.io.input_batch import Converter, InputBatch
from rtbot.io.sources.key_integers import is_integer_column
from rtbot.io.time_conversion import detect_binding_style
from rtbot.tables.time_column import OWN_NAME, TimeColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.io.bindings import FileBinding
    from rtbot.io.blocks import BadRowPolicy
    from rtbot.io.sources.offsets import FileOffset

E = TypeVar("E", bound=PlacedError)

BLOCK_ROWS = 65_536
"""Rows of a file that make a block: outputs are sorted and written after each."""


@dataclass
class ReadPosition:
    """How far the files of a reader have been read: to a row behind the last of the marks.

    There is a mark for every file that was started. `last` is the latest time, `rows` the number of
    rows behind the mark, `ended` whether there are no more. `passes` is how far its series are in
    an hour that occurs twice.
    """

    marks: list[FileOffset] = field(default_factory=list)
    rows: int = 0
    last: int = times.INT64_MIN
    ended: bool = False
    passes: RepeatedHour = field(default_factory=RepeatedHour)

    def save(self) -> dict[str, Any]:
        """Return the position as a checkpoint holds it."""
        return {
            "marks": [asdict(mark) for mark in self.marks],
            "rows": self.rows,
            "last": self.last,
            "ended": self.ended,
            "passes": self.passes.save(),
        }

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
        styles = [detect_binding_style(reading) for reading in readings]
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
        keyed = [reading for reading in readings if reading.changes is None]
        count = len(keyed[0].key) if keyed else 0
        self.integer_keys = [_is_integer_key(keyed, place) for place in range(count)]
        written = [style for style in styles if style not in (None, BARE)]
        self.style: TimeStyle | None = written[0] if written else None
        known = unit or times.DEFAULT_UNIT
        self.converters: list[Converter | ChangeConverter] = [
            Converter(reading, known, style, self.integer_keys, policy)
            if reading.changes is None
            else ChangeConverter(reading, reading.changes, known, style, policy)
            for reading, style in zip(readings, styles, strict=True)
        ]

    def describe_times(self) -> TimeColumn | None:
        """Return what the times of the first file with rows are; None if there is none.

        Texts become timestamps: in the time zone of the file, else in UTC if they have an offset,
        else without one.
        """
        for converter in self.converters:
            reading, style = converter.reading, converter.times.style
            if not reading.source.names:
                continue
            name = reading.time[0] if len(reading.time) == 1 else OWN_NAME
            if style is None:
                return TimeColumn(name)
            kind = reading.source.sample(reading.time[0]).type if reading.source.typed else None
            if kind is not None and pa.types.is_temporal(kind) and not style.zone:
                return TimeColumn(name, kind)
            zone = style.zone or ("UTC" if style.offset else None)
            return TimeColumn(name, pa.timestamp(self.unit or times.DEFAULT_UNIT, zone))
        return None

    def locate_transaction(self, error: E) -> E:
        """Return the error of a transaction with the file of its input, and its time as text."""
        for converter in self.converters:
            if error.input in converter.reading.inputs:
                error = error.at(file=converter.reading.source.file)
        return (
            error
            if self.style is None
            else format_error_times(error, self.unit or times.DEFAULT_UNIT, self.style)
        )

    def list_notices(self) -> Iterator[str]:
        """Yield a notice if times are text without an offset, other than dates alone."""
        naive = [
            converter.reading.source.file
            for converter in self.converters
            if (style := converter.times.style) and style.separator and style.is_naive
        ]
        files = list(dict.fromkeys(naive))
        if files:
            more = f" and {format_count(len(files) - 1, 'more file')}" if files[1:] else ""
            yield f"{files[0]}{more}: times without an offset are taken as UTC"

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
                yield [], behind.reading.inputs

    def _split_blocks(
        self, converter: Converter | ChangeConverter, position: ReadPosition
    ) -> Iterator[list[InputBatch]]:
        """Split the blocks of one file so that they end at fixed numbers of rows.

        These are fewer where every row of the file has many columns that are series.
        Live rows are not held back, so that their blocks end wherever the rows do.
        """
        block_rows = max(BLOCK_ROWS // max(len(converter.reading.series), 1), 1)
        source, room, skipped = converter.reading.source, block_rows, position.rows
        gathered: list[InputBatch] = []
        for block in source.read_blocks(converter.choose_kinds(), position.mark()):
            start = min(skipped, block.count)
            skipped -= start
            while start < block.count:
                stop = min(start + room, block.count)
                rows = block.slice(start, stop)
                gathered.append(converter.convert_block(rows, position.passes))
                self.rows += stop - start
                start, room = stop, room - (stop - start)
                if not room or (source.live and start == block.count):
                    position.note(block.mark, start)
                    yield gathered
                    room, gathered = block_rows, []
            position.note(block.mark, start)
        if gathered:
            yield gathered


def _is_integer_key(readings: Sequence[FileBinding], place: int) -> bool:
    """Return whether a key column is of integers, as declared or by the first rows of all files."""
    text = []
    for reading in readings:
        name = reading.key[place]
        declared = reading.options.key_types.get(name)
        if declared is not None or reading.is_named_by_columns(name):
            return declared == "integer"
        if not reading.source.names:
            continue
        sample = reading.source.sample(name)
        if reading.source.typed and not pa.types.is_null(sample.type):
            text.append(pa.types.is_integer(sample.type))
        elif not reading.source.typed and len(known := sample.drop_null()):
            text.append(is_integer_column(known))
    return bool(text) and all(text)
