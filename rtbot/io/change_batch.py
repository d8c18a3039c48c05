"""A block of a file of changes as the rows of one push."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rtbot.core.errors import DataError
from rtbot.core.times import BARE
from rtbot.io.blocks import CellError
from rtbot.io.input_batch import InputBatch, convert_located
from rtbot.io.time_conversion import TimeConverter
from rtbot.tables.change_rows import SIGNS, ChangeRows
from rtbot.tables.convert import convert_values
from rtbot.tables.record_column import FILLERS
from rtbot.tables.text_columns import TextColumn

if TYPE_CHECKING:
    from rtbot.core.time_reading.repeated_hour import RepeatedHour
    from rtbot.core.times import TimeStyle
    from rtbot.io.bindings import FileBinding
    from rtbot.io.blocks import BadRowPolicy, Block
    from rtbot.io.change_columns import ChangeBinding
    from rtbot.operator.schema import Field

UNKNOWN = 0
"""The weight of a row that has none; its row is bad, or the file is sparse."""


class ChangeConverter:
    """Converter of the blocks of one file of changes to batches.

    `style` is how times are written, `BARE` if as integers, None if that is not known.
    """

    def __init__(
        self,
        reading: FileBinding,
        changes: ChangeBinding,
        unit: str,
        style: TimeStyle | None,
        policy: BadRowPolicy,
    ) -> None:
        self.reading, self.unit, self.policy = reading, unit, policy
        self.times = TimeConverter(reading, unit, None if style == BARE else style)
        self._changes = changes

    def choose_kinds(self) -> dict[str, str]:
        """Return the kind to read every column as; raise DataError if one is read as two."""
        changes = self._changes
        found = {changes.weight: "integer", changes.operation: "text"}
        found |= dict(zip(changes.columns, _list_kinds(changes), strict=True))
        for name, kind in self.times.choose_kinds().items():
            if found.setdefault(name, kind) != kind:
                message = f"{name!r} is the column of times, and a field of {changes.input.name}"
                hint = "name another column of times, with --time or io.time"
                file = self.reading.source.file
                raise DataError(message, code="RT220", hint=hint, file=file, column=name)
        places = [*self.reading.source.names, *found]
        return {name: found[name] for name in places if name and name in found}

    def convert_block(self, block: Block, passes: RepeatedHour) -> InputBatch:
        """Convert a block; the policy decides on bad cells when all of them are known.

        `passes` is how far its series are in an hour that occurs twice.
        """
        faults = list(block.faults)
        time = self.times.convert(block, passes, faults)
        weight = self._convert_weights(block, faults)
        found = [
            self._convert_field(block, place, weight, faults)
            for place in range(len(self._changes.schema))
        ]
        dropped = self.policy.decide(block, faults, drop=self.reading.drop)
        columns, valid = [column for column, _ in found], [mask for _, mask in found]
        whole, rows = ChangeRows(time, weight, tuple(columns), tuple(valid)), range(block.count)
        name = self._changes.input.name
        clock = None if self.times.style is None else (self.unit, self.times.style)
        if not dropped:
            return InputBatch({name: whole}, {name: rows}, block, clock)
        keep = np.delete(np.arange(block.count), list(dropped))
        return InputBatch({name: whole.take(keep)}, {name: keep}, block, clock)

    def _convert_field(
        self, block: Block, place: int, weight: np.ndarray, faults: list[CellError]
    ) -> tuple[np.ndarray | TextColumn, np.ndarray | None]:
        """Convert a field: its values and the mask of what is not null, None if nothing is."""
        changes, name = self._changes, self._changes.columns[place]
        field = changes.schema.fields[place]
        value, valid = convert_located(
            block, name, partial(convert_values, block.columns[name], field.type.kind)
        )
        if valid is None or valid.all():
            return value, None
        if field.type.nullable:
            return _fill_nulls(value, valid, field), valid
        empty = ~valid if not self._may_lack(field.name) else ~valid & (weight >= 0)
        message = f"null in the field {field.name}, which is {field.type}"
        hint = f"declare it as {field.type.or_null()} if it may be null"
        self._note_absent(
            np.flatnonzero(empty), CellError(0, name, message, code="RT211", hint=hint), faults
        )
        return _fill_texts(_fill_nulls(value, valid, field)), None

    def _may_lack(self, name: str) -> bool:
        """Return whether a row that is deleted needs no value here, as its key is enough."""
        unique = self._changes.schema.unique
        return bool(unique) and name not in unique[0]

    def _convert_weights(self, block: Block, faults: list[CellError]) -> np.ndarray:
        """Return int64 weights; 1 where the file has none. Those of bad rows mean nothing."""
        changes = self._changes
        weight = np.full(block.count, UNKNOWN, np.int64)
        if changes.weight:
            weight = self._read_weights(block, faults)
        if changes.operation:
            self._read_operations(block, weight, faults)
        if changes.sparse or not (changes.weight or changes.operation):
            weight[weight == UNKNOWN] = 1
            return weight
        name = changes.weight or changes.operation
        what = "weight" if changes.weight else "operation"
        fault = CellError(0, name, f"a change without its {what}", code="RT211")
        broken = {fault.row for fault in faults if fault.column in (None, name)}
        absent = [row for row in np.flatnonzero(weight == UNKNOWN).tolist() if row not in broken]
        self._note_absent(absent, fault, faults)
        return weight

    def _read_weights(self, block: Block, faults: list[CellError]) -> np.ndarray:
        name = self._changes.weight
        given, valid = convert_located(
            block, name, partial(convert_values, block.columns[name], "integer")
        )
        known = np.ones(block.count, np.bool_) if valid is None else valid
        for row in np.flatnonzero(known & (given == 0)).tolist():
            message, hint = "a weight of 0 is no change", "1 inserts a row, -1 deletes it"
            faults.append(CellError(row, name, message, "0", code="RT201", hint=hint))
        return np.where(known, given, UNKNOWN)

    def _read_operations(self, block: Block, weight: np.ndarray, faults: list[CellError]) -> None:
        """Set the weights of rows that have an operation."""
        name = self._changes.operation
        column = block.columns[name]
        if pa.types.is_null(column.type):
            return
        texts, _ = convert_located(block, name, partial(convert_values, column, "text"))
        signs = [SIGNS.get(text.strip().lower(), UNKNOWN) for text in texts.values]
        given = np.array([*signs, UNKNOWN], np.int64)[texts.codes]
        there = texts.codes >= 0
        for row in np.flatnonzero(there & (given == UNKNOWN)).tolist():
            text = texts.values[texts.codes[row]]
            hint = f"there are {', '.join(SIGNS)}"
            faults.append(CellError(row, name, "not an operation", text, code="RT201", hint=hint))
        for row in np.flatnonzero(there & (weight != UNKNOWN)).tolist():
            message = f"a row with {name!r} and {self._changes.weight!r}"
            faults.append(CellError(row, name, message, code="RT215", hint="leave one out"))
        np.copyto(weight, given, where=there)

    def _note_absent(self, rows: Any, fault: CellError, faults: list[CellError]) -> None:
        """Note rows that lack a value; only the first where it is an error."""
        chosen = list(rows) if self.reading.drop else list(rows)[:1]
        faults += [replace(fault, row=int(row)) for row in chosen]


def _list_kinds(changes: ChangeBinding) -> list[str]:
    return [field.type.kind for field in changes.schema]


def _fill_nulls(
    value: np.ndarray | TextColumn, valid: np.ndarray, field: Field
) -> np.ndarray | TextColumn:
    """Give every null the same value; that of a text has a code of its own already."""
    if isinstance(value, TextColumn):
        return value
    return np.where(valid, value, FILLERS[field.type.kind])


def _fill_texts(value: np.ndarray | TextColumn) -> np.ndarray | TextColumn:
    """Replace null by the empty text, in rows that are bad or need no text."""
    if not isinstance(value, TextColumn):
        return value
    texts = [*value.values, ""] if "" not in value.values else value.values
    codes = np.where(value.codes < 0, texts.index(""), value.codes)
    return TextColumn(codes, texts)
