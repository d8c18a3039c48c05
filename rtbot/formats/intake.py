"""Files as pushes: the blocks of all files in turn, so that no input runs ahead of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot import times
from rtbot.errors import DataError
from rtbot.formats import cells
from rtbot.formats.conversion import Converter, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.formats.blocks import Judge
    from rtbot.formats.wiring import Reading
    from rtbot.times import Style

BLOCK_ROWS = 65_536
"""Rows of a file that make a block: outputs are put in order and written after each."""


class Intake:
    """Readings in progress; `unit` is that of the times, None if they are bare integers."""

    def __init__(self, readings: Sequence[Reading], unit: str | None, judge: Judge) -> None:
        timed = [_is_timed(reading) for reading in readings]
        if unit is None and True in timed:
            if False in timed:
                file = readings[timed.index(False)].source.file
                message = "times are integers here and text in another file: set io.unit"
                raise DataError(message, file=file)
            unit = times.DEFAULT_UNIT
        self.unit = unit
        count = len(readings[0].key) if readings else 0
        integer = [_are_integers(readings, place) for place in range(count)]
        self.converters = [
            Converter(reading, unit or times.DEFAULT_UNIT, bool(stamped), integer, judge)
            for reading, stamped in zip(readings, timed, strict=True)
        ]

    @property
    def style(self) -> Style | None:
        """How the times of the first file with text are written; None if all are integers."""
        return next((c.style for c in self.converters if c.style is not None), None)

    def turns(self) -> Iterator[tuple[list[Piece], list[str]]]:
        """Yield the pieces of a block of the file that lags; also the inputs that end with it."""
        running = [(converter, _blocks(converter)) for converter in self.converters]
        while running:
            turn = min(running, key=lambda pair: pair[0].last)
            pieces = next(turn[1], None)
            if pieces is not None:
                yield pieces, []
                continue
            running.remove(turn)
            if running:
                yield [], [feed.input.name for feed in turn[0].reading.feeds]


def _blocks(converter: Converter) -> Iterator[list[Piece]]:
    """Cut the pieces of one file so that blocks end at fixed numbers of rows."""
    room = BLOCK_ROWS
    gathered: list[Piece] = []
    for block in converter.reading.source.blocks(converter.wanted()):
        piece, start = converter.piece(block), 0
        while block.count - start >= room:
            yield [*gathered, piece.part(start, start + room)]
            start, room, gathered = start + room, BLOCK_ROWS, []
        if start < block.count:
            gathered.append(piece.part(start, block.count))
            room -= block.count - start
    if gathered:
        yield gathered


def _is_timed(reading: Reading) -> bool | None:
    """Whether the times are text or timestamps; None if there are no rows to tell by."""
    if not reading.source.names:
        return None
    sample = reading.source.sample(reading.time)
    if pa.types.is_string(sample.type):
        known = sample.drop_null()
        return not cells.looks_integer(known[0].as_py()) if len(known) else None
    return not pa.types.is_integer(sample.type)


def _are_integers(readings: Sequence[Reading], place: int) -> bool:
    """Whether a key column is of integers, by the first rows of all files."""
    told = []
    for reading in readings:
        if not reading.source.names:
            continue
        sample = reading.source.sample(reading.key[place])
        if not pa.types.is_string(sample.type):
            told.append(pa.types.is_integer(sample.type))
        elif len(known := sample.drop_null()):
            told.append(cells.is_integer(known))
    return bool(told) and all(told)
