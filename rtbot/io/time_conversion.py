"""The columns of times of a file, block by block: what they are read as, and what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.arrow import to_numpy
from rtbot.core.errors import DataError
from rtbot.core.time_formats import make_time_parser
from rtbot.core.times import BARE, DEFAULT_UNIT, TimeStyle
from rtbot.io.bindings import INPUT
from rtbot.io.blocks import CellError, to_cell_error
from rtbot.io.sources import cells
from rtbot.tables.number_columns import to_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rtbot.core.time_formats import TimeParser
    from rtbot.core.time_reading.repeated_hour import RepeatedHour
    from rtbot.io.bindings import FileBinding
    from rtbot.io.blocks import Block

FEW = 16
"""Times that are tried one by one where one of them is bad."""


class TimeConverter:
    """Converts the times of one file to int64 in the unit.

    `style` is how they are written, None if they are integers in the unit, or if it is not known.
    """

    def __init__(self, binding: FileBinding, unit: str, style: TimeStyle | None) -> None:
        self.unit, self.style = unit, style
        self.parser = make_time_parser(binding.options, unit)
        self._binding = binding
        self._name = " + ".join(binding.time)

    def choose_kinds(self) -> dict[str, str]:
        """Return the kind to read every column of times as."""
        source, names = self._binding.source, self._binding.time
        if len(names) > 1:
            numbers = source.typed and source.names
            samples = {name: source.sample(name).type if numbers else None for name in names}
            return {
                name: "integer" if kind is not None and pa.types.is_integer(kind) else "raw"
                for name, kind in samples.items()
            }
        if self.parser.epoch is not None and source.typed:
            return {names[0]: "epoch"}
        return {names[0]: "integer" if self.style is None else "raw"}

    def convert(self, block: Block, passes: RepeatedHour, faults: list[CellError]) -> np.ndarray:
        """Convert the times of a block; where one is bad, the array holds 0 and faults has why."""
        column = _join_columns([block.columns[name] for name in self._binding.time])
        try:
            time, bad = self._read_column(column), list[CellError]()
        except DataError as error:
            if error.row is None:
                raise error.at(file=block.file, column=self._name) from None
            time, bad = self._read_each(column)
        if self.style is not None and self.style.zone:
            time = self._localise(time, column, block, passes, bad)
        faults += bad
        return time

    def _read_column(self, column: pa.Array) -> np.ndarray:
        if _is_text(column.type):
            return self._read_texts(column)
        time = to_times(column, self.unit)
        if self.parser.epoch is None or not pa.types.is_integer(column.type):
            return time
        return self.parser.convert_counts(time)

    def _read_texts(self, column: pa.Array) -> np.ndarray:
        """Read texts; blanks around them are removed only where there are some."""
        style = self.style or self._find_style(column)
        try:
            return self.parser.read_clock(column, style)
        except DataError:
            trimmed = pc.utf8_trim(column, " \t")
            if trimmed.equals(column):
                raise
        return self.parser.read_clock(trimmed, style)

    def _find_style(self, column: pa.Array) -> TimeStyle:
        """Return how the first text is written; it remains the style of texts without a sample."""
        self.style = _detect_text_style(column, self.parser)
        return self.style

    def _read_each(self, column: pa.Array) -> tuple[np.ndarray, list[CellError]]:
        """Read the times that are good, and return what is wrong with the others."""
        time, valid = np.zeros(len(column), np.int64), to_numpy(pc.is_valid(column))
        faults = [
            CellError(row, self._name, "a row without a time", code="RT211")
            for row in np.flatnonzero(~valid).tolist()
        ]
        self._fill(time, np.flatnonzero(valid), column.drop_null(), faults)
        return time, faults

    def _fill(
        self, time: np.ndarray, places: np.ndarray, column: pa.Array, faults: list[CellError]
    ) -> None:
        """Convert times to their places; halves are tried, so that few bad ones cost little.

        Where a bad one is an error, those behind the first are not converted.
        """
        try:
            time[places] = self._read_column(column)
        except DataError:
            half = len(column) // 2
            if half >= FEW:
                self._fill(time, places[:half], column.slice(0, half), faults)
                if not faults or self._binding.drop:
                    self._fill(time, places[half:], column.slice(half), faults)
                return
            for row, place in enumerate(places.tolist()):
                try:
                    time[place] = self._read_one(column, row)
                except DataError as error:
                    text = str(column[row].as_py())
                    faults.append(to_cell_error(error, place, self._name, text))

    def _read_one(self, column: pa.Array, row: int) -> int:
        if _is_text(column.type):
            style = self.style or self._find_style(column)
            return self.parser.read_one(column[row].as_py().strip(" \t"), style)
        return int(self._read_column(column.slice(row, 1))[0])

    def _localise(
        self,
        clock: np.ndarray,
        column: pa.Array,
        block: Block,
        passes: RepeatedHour,
        faults: list[CellError],
    ) -> np.ndarray:
        """Take times for local times of the zone, but for those that could not be read."""
        good = np.ones(len(clock), np.bool_)
        good[[fault.row for fault in faults]] = False
        rows = np.flatnonzero(good)
        series = self._name_series(block)
        found, bad = self.parser.localise(
            clock[rows], passes, None if series is None else lambda part: series(rows[part])
        )
        time = np.zeros(len(clock), np.int64)
        time[rows] = found
        for place, error in bad:
            row = int(rows[place])
            faults.append(to_cell_error(error, row, self._name, str(column[row].as_py())))
        return time

    def _name_series(self, block: Block) -> Callable[[np.ndarray], list[Any]] | None:
        """Return what gives the series of rows: their input, where they have one, and their key."""
        names = [name for name in self._binding.key if name in block.columns]
        if any(feed.selector is not None for feed in self._binding.feeds):
            names.append(INPUT)

        def name_rows(rows: np.ndarray) -> list[Any]:
            chosen = pa.array(rows)
            columns = [block.columns[name].take(chosen).to_pylist() for name in names]
            return list(zip(*columns, strict=True))

        return name_rows if names else None


def detect_binding_style(binding: FileBinding) -> TimeStyle | None:
    """Return how the times of a file are written; `BARE` if as integers, None without rows."""
    if not binding.source.names:
        return None
    parser = make_time_parser(binding.options, DEFAULT_UNIT)
    column = _join_columns([binding.source.sample(name) for name in binding.time])
    if _is_text(column.type):
        known = column.drop_null()
        if not len(known):
            unknown = parser.options.time_format is None and len(binding.time) == 1
            return None if unknown else parser.default_style
        if parser.options.time_format is None and cells.is_integer_text(known[0].as_py()):
            return BARE
        style = _detect_text_style(known, parser)
        return replace(style, separator="T") if len(binding.time) > 1 and style.parts else style
    if parser.epoch is not None:
        return parser.default_style
    if pa.types.is_timestamp(column.type):
        return parser.add_zone(TimeStyle(offset="Z" if column.type.tz else ""))
    if pa.types.is_date(column.type):
        return parser.add_zone(TimeStyle(separator="", parts=0))
    return BARE


def _detect_text_style(texts: pa.Array, parser: TimeParser) -> TimeStyle:
    """Return how the first text that is a time is written."""
    known = (text.as_py().strip(" \t") for text in texts if text.is_valid)
    styles = map(parser.detect_style, known)
    found = next((style for style in styles if style is not None), None)
    return found or parser.add_zone(TimeStyle(separator=""))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _join_columns(columns: Iterable[pa.Array]) -> pa.Array:
    """Return the texts of several columns joined by a blank; of one the column as it is."""
    first, *others = columns
    if not others:
        return first
    texts = [pc.utf8_trim(pc.cast(column, pa.string()), " \t") for column in (first, *others)]
    return pc.binary_join_element_wise(*texts, " ")
