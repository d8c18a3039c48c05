"""Files as pushes: the blocks of all files in turn, so that no input runs ahead of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot import times
from rtbot.errors import DataError
from rtbot.formats import cells
from rtbot.formats.conversion import Converter, Piece
from rtbot.times import BARE, Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.formats.blocks import Judge
    from rtbot.formats.wiring import Reading

BLOCK_ROWS = 65_536
"""Rows of a file that make a block: outputs are put in order and written after each."""


class Intake:
    """Readings in progress.

    `unit` is that of the times, None if they are integers without one; `style` is how the first
    file with times as text writes them, None if there is none. `integer_keys` says of every key
    column whether it holds integers; `rows` counts those read so far.
    """

    def __init__(self, readings: Sequence[Reading], unit: str | None, judge: Judge) -> None:
        styles = [_style(reading) for reading in readings]
        timed = [None if style is None else style != BARE for style in styles]
        if unit is None and True in timed:
            if False in timed:
                file = readings[timed.index(False)].source.file
                message = "times are integers here and text in another file"
                raise DataError(message, code="RT218", hint="set io.unit", file=file)
            unit = times.DEFAULT_UNIT
        self.unit = unit
        self.rows = 0
        count = len(readings[0].key) if readings else 0
        self.integer_keys = [_are_integers(readings, place) for place in range(count)]
        written = [style for style in styles if style not in (None, BARE)]
        self.style: Style | None = written[0] if written else None
        self.converters = [
            Converter(reading, unit or times.DEFAULT_UNIT, style, self.integer_keys, judge)
            for reading, style in zip(readings, styles, strict=True)
        ]

    def naive(self) -> Iterator[str]:
        """Yield the files whose times are text without an offset, other than dates alone."""
        for converter in self.converters:
            style = converter.style
            if style is not None and style.separator and not style.offset:
                yield converter.reading.source.file

    def turns(self) -> Iterator[tuple[list[Piece], list[str]]]:
        """Yield the pieces of a block of the file that lags; also the inputs that end with it."""
        last = dict.fromkeys(self.converters, times.INT64_MIN)
        blocks = {converter: self._blocks(converter) for converter in self.converters}
        while last:
            behind = min(last, key=last.__getitem__)
            pieces = next(blocks[behind], None)
            if pieces is not None:
                last[behind] = max(last[behind], *(piece.last() for piece in pieces))
                yield pieces, []
                continue
            del last[behind]
            if last:
                yield [], [feed.input.name for feed in behind.reading.feeds]

    def _blocks(self, converter: Converter) -> Iterator[list[Piece]]:
        """Cut the pieces of one file so that blocks end at fixed numbers of rows.

        What is live is not kept back, so that its blocks end wherever the rows do.
        """
        room = BLOCK_ROWS
        gathered: list[Piece] = []
        for block in converter.reading.source.blocks(converter.wanted()):
            piece, start = converter.piece(block), 0
            self.rows += block.count
            while block.count - start >= room:
                yield [*gathered, piece.part(start, start + room)]
                start, room, gathered = start + room, BLOCK_ROWS, []
            if start < block.count:
                gathered.append(piece.part(start, block.count))
                room -= block.count - start
            if gathered and converter.reading.source.live:
                yield gathered
                room, gathered = BLOCK_ROWS, []
        if gathered:
            yield gathered


def _style(reading: Reading) -> Style | None:
    """How the times of a file are written; `BARE` if as integers, None if there are no rows."""
    if not reading.source.names:
        return None
    sample = reading.source.sample(reading.time)
    if pa.types.is_string(sample.type) or pa.types.is_large_string(sample.type):
        known = sample.drop_null()
        if not len(known):
            return None
        if cells.looks_integer(known[0].as_py()):
            return BARE
        styles = (times.style_of(text.as_py()) for text in known)
        return next((style for style in styles if style is not None), Style(separator=""))
    if pa.types.is_timestamp(sample.type):
        return Style(offset="Z" if sample.type.tz else "")
    return Style(separator="", parts=0) if pa.types.is_date(sample.type) else BARE


def _are_integers(readings: Sequence[Reading], place: int) -> bool:
    """Whether a key column is of integers, by the first rows of all files."""
    told = []
    for reading in readings:
        if not reading.source.names:
            continue
        sample = reading.source.sample(reading.key[place])
        if reading.source.typed and not pa.types.is_null(sample.type):
            told.append(pa.types.is_integer(sample.type))
        elif not reading.source.typed and len(known := sample.drop_null()):
            told.append(cells.is_integer(known))
    return bool(told) and all(told)
