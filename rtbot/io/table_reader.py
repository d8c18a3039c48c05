"""A file as an Arrow table, as a run would read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rtbot.core.errors import DataError, suggest_known_name, suggest_name
from rtbot.graph.model import Input
from rtbot.io.bindings import VALUE, FileBinding, InputSpec, bind_columns
from rtbot.io.blocks import BadRowPolicy
from rtbot.io.column_search import find_header_line
from rtbot.io.column_types import infer_column_types
from rtbot.io.reader import FileReader
from rtbot.io.source_opener import SourceOpener
from rtbot.operator import KINDS, Type
from rtbot.storage.files import STANDARD, Files
from rtbot.tables import TextColumn
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rtbot.graph.model import Io
    from rtbot.io.blocks import Source
    from rtbot.io.input_batch import InputBatch
    from rtbot.tables import Columns

    Wanted = Sequence[str] | Mapping[str, str]

ARROW_TYPES = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
}


def read_table(file: str, io: Io, columns: Wanted | None) -> pa.Table:
    """Read a file with these options; see `rtbot.read`."""
    if file == STANDARD:
        message = "stdin cannot be read twice, as types of columns need"
        raise DataError(message, code="RT221", hint="write it to a file first", file="stdin")
    return _TableReader(file, io, columns).read()


class _TableReader:
    """The reading of one file."""

    def __init__(self, file: str, io: Io, wanted: Wanted | None) -> None:
        self.file, self.io, self.files = file, io, Files()
        source = self._open()
        self.there = [VALUE] if io.reading.columns_as is not None else list(source.names)
        self.names = self.there if wanted is None else list(wanted)
        self.given = _check_kinds(wanted) if isinstance(wanted, Mapping) else {}
        for name in self.names:
            if name not in self.there and not source.sparse:
                hint = suggest_name(name, self.there) or f"there are {', '.join(self.there)}"
                message, line = f"there is no column {name!r}", find_header_line(source)
                raise DataError(message, code="RT204", hint=hint, file=source.file, row=line)

    def read(self) -> pa.Table:
        """Read the file and return its table."""
        binding = self._bind(dict.fromkeys(self.names or self.there, "text"))
        heads = (*binding.time, *binding.key)
        names = [name for name in self.names if name not in heads]
        if not names:
            message = "there is no column beside those of times and keys"
            raise DataError(message, code="RT204", file=self.file, row=1)
        kinds = self._infer_kinds(binding.series or names)
        if binding.series:
            kinds = {VALUE: self.given.get(VALUE) or _choose_common_kind(set(kinds.values()))}
        binding = self._bind(kinds)
        if not binding.series:
            feeds = [replace(one, sparse=False) for one in binding.feeds if one.column in kinds]
            binding = replace(binding, feeds=tuple(feeds))
        reader = FileReader([binding], self.io.unit, BadRowPolicy())
        batches = [batch for found, _ in reader.read_in_turn() for batch in found]
        return self._make_table(batches, kinds, binding)

    def _open(self) -> Source:
        return SourceOpener(self.files).open_pattern(self.file, self.io.reading)

    def _bind(self, kinds: Mapping[str, str]) -> FileBinding:
        inputs = {name: Input(name, Type(kind, nullable=True)) for name, kind in kinds.items()}
        io = self.io
        request = InputSpec(self.file, {}, io.time, io.key, io.reading, bad=io.bad)
        return bind_columns(self.files, inputs, request)[0]

    def _infer_kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return the first kind that all cells of a column have; those given stay."""
        found = infer_column_types(self._open, names, self.given)
        return {name: one.kind for name, one in found.items()}

    def _make_table(
        self, batches: Sequence[InputBatch], kinds: Mapping[str, str], binding: FileBinding
    ) -> pa.Table:
        first = next(iter(kinds))
        found: dict[str, pa.ChunkedArray] = {}
        label = _name_times(binding.time, kinds)
        found[label] = _join([_make_times(batch, first) for batch in batches], pa.int64())
        for place, name in enumerate(binding.key):
            parts = [_to_arrow(batch.series[first].keys[place]) for batch in batches]
            found[name] = _join(parts, pa.string())
        for name, kind in kinds.items():
            parts = [_make_column(batch.series[name]) for batch in batches]
            found[name] = _join(parts, ARROW_TYPES[kind])
            if name not in self.given and found[name].null_count == len(found[name]):
                found[name] = pa.chunked_array([pa.nulls(len(found[name]))])
        order = [name for name in binding.source.names if name in found]
        return pa.table({name: found[name] for name in dict.fromkeys([label, *order, *found])})


def _name_times(columns: Sequence[str], taken: Collection[str]) -> str:
    """Return the name of the column of times: its own, or one that sessions know."""
    if len(columns) == 1:
        return columns[0]
    return next((name for name in TIME_NAMES if name not in taken), TIME_NAMES[0])


def _choose_common_kind(kinds: set[str]) -> str:
    """Return the first kind that the cells of all these kinds have."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "number" if kinds <= {"integer", "number"} else "text"


def _check_kinds(kinds: Mapping[str, str]) -> Mapping[str, str]:
    for name, kind in kinds.items():
        if kind not in KINDS:
            hint = suggest_known_name(str(kind), KINDS) or f"there are {', '.join(KINDS)}"
            raise DataError(
                f"unknown type {kind!r} of a column", code="RT220", hint=hint, column=name
            )
    return kinds


def _make_times(batch: InputBatch, name: str) -> pa.Array:
    """Return the times of a batch: instants where they are written as dates, else integers."""
    time = pa.array(batch.columns[name].time, pa.int64())
    if batch.clock is None:
        return time
    unit, style = batch.clock
    instants = "UTC" if style.offset or style.epoch else None
    return time.cast(pa.timestamp(unit, style.zone or instants))


def _make_column(whole: Columns) -> pa.Array:
    if isinstance(whole.value, TextColumn):
        return _to_arrow(whole.value)
    return pa.array(whole.value, mask=None if whole.valid is None else ~whole.valid)


def _to_arrow(part: Any) -> pa.Array:
    """Return a column of texts, of integers, or of integers and a mask of those that are there."""
    if isinstance(part, TextColumn):
        codes = pa.array(part.codes, mask=part.codes < 0)
        return pa.array(part.values, pa.string()).take(codes)
    if isinstance(part, tuple):
        return pa.array(part[0], mask=~part[1])
    return pa.array(np.asarray(part))


def _join(parts: Sequence[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    """Return the parts as one column; without any it has this type."""
    return pa.chunked_array(parts) if parts else pa.chunked_array([], kind)
