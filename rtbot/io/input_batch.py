"""A block of a file as the arrays of one push."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core import times
from rtbot.core.arrow import to_numpy
from rtbot.core.error_times import format_error_times
from rtbot.core.errors import DataError, PlacedError, suggest_name
from rtbot.core.times import BARE
from rtbot.core.vector_names import VECTOR
from rtbot.io.bindings import INPUT, ColumnBinding, FileBinding
from rtbot.io.blocks import BadRowPolicy, Block, CellError, to_cell_error, to_data_error
from rtbot.io.series_columns import name_series, stack_series
from rtbot.io.sources import cells
from rtbot.io.sources.key_integers import convert_integer_keys
from rtbot.io.time_conversion import TimeConverter
from rtbot.tables import Columns, TextColumn
from rtbot.tables.convert import convert_key, convert_values
from rtbot.tables.record_column import FILLERS, RecordColumn, RecordRows, assemble_records
from rtbot.tables.vector_column import split_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.core.time_reading.repeated_hour import RepeatedHour
    from rtbot.core.times import TimeStyle
    from rtbot.tables.change_rows import ChangeRows
    from rtbot.tables.convert import Key

    Mask = np.ndarray | None
    Value = tuple[Sequence[int] | np.ndarray, np.ndarray | TextColumn | RecordColumn, Mask, Mask]

E = TypeVar("E", bound=PlacedError)


@dataclass(frozen=True, slots=True)
class InputBatch:
    """Rows for one push, by input; `rows` are their places in the block.

    `clock` is the unit and the style of times, None where they are integers.
    """

    columns: Mapping[str, Columns | ChangeRows]
    rows: Mapping[str, Sequence[int] | np.ndarray]
    block: Block
    clock: tuple[str, TimeStyle] | None

    @property
    def series(self) -> dict[str, Columns]:
        """The rows of the inputs that are series."""
        return {n: whole for n, whole in self.columns.items() if isinstance(whole, Columns)}

    def locate_error(self, error: E) -> E:
        """Return the error of a session with the place in the file instead of that in the push.

        That of a transaction stays as it is: its row may have come before.
        """
        if error.output is not None:
            return error
        text = error if self.clock is None else format_error_times(error, *self.clock)
        where = dict(text.where)
        name, row = where.get("input"), where.pop("row", None)
        places = self.rows.get(str(name), ())
        if row is not None and row < len(places):
            where["row"] = self.block.line(int(places[row]))
        return text.at(**{"file": self.block.file, "row": None} | where)

    def find_last_time(self) -> int:
        """Return the latest time of all rows."""
        ends = [int(whole.time.max(initial=times.INT64_MIN)) for whole in self.columns.values()]
        return max(ends)

    def slice(self, start: int, stop: int) -> InputBatch:
        """Keep the rows of the block from start to stop."""
        columns: dict[str, Columns | ChangeRows] = {}
        rows: dict[str, Sequence[int] | np.ndarray] = {}
        for name, whole in self.columns.items():
            places = self.rows[name]
            if isinstance(places, range):
                cut = slice(start, stop)
            else:
                cut = slice(*np.searchsorted(places, [start, stop]).tolist())
            rows[name] = places[cut]
            if isinstance(whole, Columns):
                columns[name] = _select_rows(whole, cut, start == 0)
            else:
                columns[name] = whole.take(np.arange(len(whole))[cut])
        return InputBatch(columns, rows, self.block, self.clock)


class Converter:
    """Converter of the blocks of one file to batches.

    `integer_keys` is, for every key column, whether it holds integers; `style` is how times are
    written, `BARE` if as integers, None if that is not known.
    """

    def __init__(
        self,
        reading: FileBinding,
        unit: str,
        style: TimeStyle | None,
        integer_keys: Sequence[bool],
        policy: BadRowPolicy,
    ) -> None:
        self.reading, self.unit = reading, unit
        self.times = TimeConverter(reading, unit, None if style == BARE else style)
        self.integer_keys = integer_keys
        self.policy = policy

    def choose_kinds(self) -> dict[str, str]:
        """Return the kind to read every column as."""
        reading = self.reading
        keys = [name for name in reading.key if not reading.is_named_by_columns(name)]
        found: dict[str, str] = dict.fromkeys(keys, "key")
        found |= self.times.choose_kinds()
        kinds = {binding.input.type.kind for binding in reading.feeds}
        if reading.series:
            found |= dict.fromkeys(reading.series, *kinds)
        for binding in () if reading.series else reading.feeds:
            if binding.input.type.fields:
                self._choose_field_kinds(binding, found)
                continue
            long = binding.selector is not None
            found[binding.column] = "any" if long and len(kinds) > 1 else binding.input.type.kind
            if long:
                found[INPUT] = "text"
        places = [*reading.source.names, *found]
        return {name: found[name] for name in places if name in found}

    def _choose_field_kinds(self, binding: ColumnBinding, found: dict[str, str]) -> None:
        """Choose the kinds of the fields of a record; raise DataError for a column read as two."""
        for name, kind in binding.kinds.items():
            if found.setdefault(name, kind) != kind:
                other = binding.input.name
                message = f"a field of {other} is {kind}, and read as {found[name]} too"
                hint = "name another column: --time for that of times, io.columns for a field"
                file = self.reading.source.file
                raise DataError(message, code="RT220", hint=hint, file=file, column=name)

    def convert_block(self, block: Block, passes: RepeatedHour) -> InputBatch:
        """Convert a block; the policy decides on bad cells when all of them are known.

        `passes` is how far its series are in an hour that occurs twice.
        """
        faults = list(block.faults)
        time = self.times.convert(block, passes, faults)
        keys = tuple(
            self._convert_key(block, name, integer, faults)
            for name, integer in zip(self.reading.key, self.integer_keys, strict=True)
        )
        if self.reading.series:
            return self._convert_series(block, Columns(time, time, None, keys), faults)
        found = {
            binding: self._convert_value(block, binding, faults) for binding in self.reading.feeds
        }
        faults += _find_unbound_rows(block, self.reading.feeds)
        dropped = self.policy.decide(block, faults, drop=self.reading.drop)
        keep = None
        if dropped:
            keep = np.ones(block.count, np.bool_)
            keep[list(dropped)] = False
        columns: dict[str, Columns | ChangeRows] = {}
        rows = {}
        for binding, value in found.items():
            name = binding.input.name
            columns[name], rows[name] = _assemble_columns(
                binding, Columns(time, time, None, keys), value, keep
            )
        clock = None if self.times.style is None else (self.unit, self.times.style)
        return InputBatch(columns, rows, block, clock)

    def _convert_series(self, block: Block, frame: Columns, faults: list[CellError]) -> InputBatch:
        """Convert a block whose columns are series of one input."""
        (binding,) = self.reading.feeds
        kind = binding.input.type.kind
        values = [
            convert_located(block, name, partial(convert_values, block.columns[name], kind))
            for name in self.reading.series
        ]
        dropped = self.policy.decide(block, faults, drop=self.reading.drop)
        place = self.reading.key.index(str(self.reading.options.columns_as))
        whole, rows = stack_series(frame, place, values, dropped)
        name = binding.input.name
        clock = None if self.times.style is None else (self.unit, self.times.style)
        return InputBatch({name: whole}, {name: rows}, block, clock)

    def _convert_key(self, block: Block, name: str, integer: bool, faults: list[CellError]) -> Key:
        if self.reading.is_named_by_columns(name):
            return name_series(self.reading.series, integer=integer)
        column, declared = block.columns[name], self.reading.options.key_types.get(name)
        if integer and not pa.types.is_integer(column.type):
            column, bad = convert_integer_keys(column, name, declared=declared is not None)
            faults += bad
        if declared == "text" and pa.types.is_integer(column.type):
            column = pc.cast(column, pa.string())
        found: Key = convert_located(block, name, lambda: convert_key(column))
        return found

    def _convert_value(
        self, block: Block, binding: ColumnBinding, faults: list[CellError]
    ) -> Value:
        """Convert the rows for one input: places, values, masks of messages and of losses."""
        if binding.fields:
            fields = binding.input.type.fields
            parts = [
                convert_located(
                    block, name, partial(convert_values, block.columns[name], one.type.kind)
                )
                for name, one in zip(binding.fields, fields, strict=True)
            ]
            return range(block.count), *assemble_records(fields, parts, sparse=binding.sparse)
        column, kind = block.columns[binding.column], binding.input.type.kind
        if kind == VECTOR:
            return range(block.count), *self._convert_vectors(block, binding)
        rows: Sequence[int] | np.ndarray = range(block.count)
        if binding.selector is not None:
            chosen = pc.fill_null(
                pc.equal(_decode_dictionary(block.columns[INPUT]), binding.selector), False
            )
            rows = np.flatnonzero(to_numpy(chosen))
            column = column.take(pa.array(rows))
            if pa.types.is_string(column.type):
                column, bad = (block.convert or cells.convert_cells)(column, kind, binding.column)
                faults += [replace(f, row=int(rows[f.row])) for f in bad]
        value, valid = convert_located(block, binding.column, lambda: convert_values(column, kind))
        return rows, value, valid, None

    def _convert_vectors(self, block: Block, binding: ColumnBinding) -> RecordRows:
        """Convert a column of lists."""
        name, fields = binding.column, binding.input.type.fields
        columns = convert_located(
            block, name, lambda: split_vectors(block.columns[name], fields, binding.input.name)
        )
        parts = [
            convert_located(block, name, partial(convert_values, column, "number"))
            for column in columns.values()
        ]
        return assemble_records(fields, parts, sparse=binding.sparse)


def _assemble_columns(
    binding: ColumnBinding, frame: Columns, found: Value, keep: np.ndarray | None
) -> tuple[Columns, Sequence[int] | np.ndarray]:
    """Assemble time, keys and values, without rows that were dropped or bring no message."""
    rows, value, valid, lost = found
    whole = isinstance(rows, range)
    if valid is not None and valid.all():
        valid = None
    if whole and keep is None and valid is None:
        return Columns(frame.time, value, None, frame.keys), rows
    rows = np.asarray(rows, np.int64)
    good = np.ones(len(rows), np.bool_) if keep is None else keep[rows]
    nulls = 0
    if valid is not None and (binding.sparse or not binding.input.type.nullable):
        lost = ~valid if lost is None and not binding.sparse else lost
        nulls = 0 if lost is None else int((good & lost).sum())
        good, valid = good & valid, None
    elif valid is not None and isinstance(value, np.ndarray):
        value = np.where(valid, value, FILLERS[binding.input.type.kind])
    chosen = rows[good]
    heads = _select_rows(frame, chosen, first=False)
    valid = None if valid is None else valid[good]
    return Columns(heads.time, value[good], valid, heads.keys, nulls), chosen


def _select_rows(whole: Columns, rows: slice | np.ndarray, first: bool) -> Columns:
    """Keep some rows; the count of nulls goes with the first."""
    keys = tuple(
        (part[0][rows], part[1][rows]) if isinstance(part, tuple) else part[rows]
        for part in whole.keys
    )
    valid = None if whole.valid is None else whole.valid[rows]
    nulls = whole.nulls if first else 0
    return Columns(whole.time[rows], whole.value[rows], valid, keys, nulls)


def _find_unbound_rows(block: Block, bindings: Sequence[ColumnBinding]) -> list[CellError]:
    """Find rows of the long form that are for no input."""
    known = [binding.selector for binding in bindings if binding.selector is not None]
    if not known or not block.count:
        return []
    texts = _decode_dictionary(block.columns[INPUT])
    strange = to_numpy(pc.invert(pc.is_in(texts, pa.array(known))))
    broken = {fault.row for fault in block.faults if fault.column is None}
    found = []
    for row in np.flatnonzero(strange).tolist():
        name = texts[row].as_py()
        hint = suggest_name(name or "", known) or f"the inputs are {', '.join(known)}"
        if row not in broken:
            message = "the graph has no such input"
            found.append(CellError(row, INPUT, message, name, code="RT206", hint=hint))
    return found


def _decode_dictionary(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def convert_located(block: Block, column: str, convert: Callable[[], Any]) -> Any:
    """Convert; an error has the place in the file."""
    try:
        return convert()
    except DataError as error:
        raise to_data_error(
            block, to_cell_error(error, error.row or 0, column, error.value)
        ) from None
