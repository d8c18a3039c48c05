"""Parquet and Arrow files, which have names and types themselves."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from rtbot.io.sources.struct_fields import find_type, list_paths, take_field
from rtbot.look.column_facts import LIST, DetectedSigns, SampledTable, name_lists
from rtbot.look.table_facts import describe_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.look.file_facts import FileFacts
    from rtbot.storage.files import Files

ROWS = 10_000
"""So many rows are looked at from the beginning, and from the end."""


def describe_stored(files: Files, path: str, facts: FileFacts) -> None:
    """Fill in the facts of a Parquet or Arrow file; a damaged one is an obstacle."""
    try:
        with files.open(path) as stream:
            schema, total, tables = (
                _read_parquet(stream) if facts.form == "parquet" else _read_arrow(stream)
            )
            described = _to_table(schema, tables)
    except (pa.ArrowException, OSError, ValueError) as error:
        facts.obstacles.append(f"a damaged {facts.form} file: {str(error).splitlines()[0]}")
        return
    describe_table(facts, described, DetectedSigns())
    facts.rows_total = total
    facts.whole = facts.rows == total
    if not facts.whole:
        facts.notes.append(f"looked at the first and the last rows, {facts.rows:,} of {total:,}")
    kinds = ", ".join(f"{field.name} {field.type}" for field in schema)
    facts.notes.append(f"types in the file: {kinds}")


def _read_parquet(stream: Any) -> tuple[pa.Schema, int, list[pa.Table]]:
    file = pq.ParquetFile(stream)
    total = file.metadata.num_rows
    first = [pa.Table.from_batches([b]) for b in itertools.islice(file.iter_batches(ROWS), 1)]
    groups = file.metadata.num_row_groups
    if total <= ROWS or groups < 2:
        return file.schema_arrow, total, first
    last = file.read_row_group(groups - 1)
    return file.schema_arrow, total, [*first, last.slice(max(last.num_rows - ROWS, 0))]


def _read_arrow(stream: Any) -> tuple[pa.Schema, int, list[pa.Table]]:
    file = pa.ipc.open_file(stream)
    sizes = [file.get_batch(number).num_rows for number in range(file.num_record_batches)]
    places = [0, len(sizes) - 1] if len(sizes) > 1 else [0] if sizes else []
    batches = [file.get_batch(place).slice(0, ROWS) for place in places]
    return file.schema, sum(sizes), [pa.Table.from_batches([batch]) for batch in batches]


def _to_table(schema: pa.Schema, tables: list[pa.Table]) -> SampledTable:
    paths = list(list_paths(schema))
    segments = [_to_rows(table, paths) for table in tables] or [[]]
    types = {}
    for path in paths:
        name, kind = ".".join(path), find_type(schema, path)
        types[name] = _name_type(kind)
        if pa.types.is_nested(kind):
            cells = [take_field(table, path).to_pylist() for table in tables]
            types[name] = name_lists(itertools.chain(*cells)) if _is_list(kind) else LIST
    return SampledTable(tuple(map(".".join, paths)), segments[0], segments[1:], types)


def _to_rows(table: pa.Table, paths: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    table.validate(full=True)
    return list(zip(*(_to_texts(take_field(table, path)) for path in paths), strict=True))


def _is_list(kind: pa.DataType) -> bool:
    return any(
        check(kind)
        for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    )


def _to_texts(column: pa.ChunkedArray) -> list[str]:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    try:
        texts = pc.cast(column, pa.string()).to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        texts = [None if value is None else str(value) for value in column.to_pylist()]
    return ["" if text is None else text for text in texts]


def _name_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "instant"
    return "date" if pa.types.is_date(kind) else str(kind)
