"""Rows of a test that are in a file of their own, read as the data of a run."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.core.vector_names import VECTOR
from rtbot.operator.vectors import list_elements
from rtbot.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbot.graph.check.test_rows import GraphTestRows, Row
    from rtbot.graph.model import Input, Io
    from rtbot.io.sinks.writers import TimeFormat

ARROW_KINDS = {"number": "float64", "integer": "int64", "boolean": "bool", "text": "string"}


def resolve_beside(graph: str, rows: GraphTestRows) -> str:
    """Return the path of a file of rows, which is relative to the graph's file.

    The result is a file in the graph's folder or below, whatever its links.
    """
    if graph.startswith("<"):
        message = f"{rows.file} is relative to the file of the graph, which has none"
        raise graph_error("RT150", rows.mark, message, "load the graph from its file")
    path = Path(graph).parent / rows.file
    with suppress(FileNotFoundError):
        for found in map(Path, Files().list_matching(str(path))):
            folder, leads_to = (os.path.realpath(one) for one in (Path(graph).parent, found))
            if not Path(leads_to).is_relative_to(folder):
                raise graph_error(
                    "RT150", rows.mark, f"{rows.file} leads out of the graph's folder"
                )
            if found.exists() and not found.is_file():
                raise graph_error("RT150", rows.mark, f"{rows.file} is not a file")
    return str(path)


def load_row_file(
    rows: GraphTestRows, item: Input, path: str, key: Sequence[str], io: Io
) -> GraphTestRows:
    """Return the rows of a file, with their lines and the style of their times.

    The value is in the column named like the input or output, in `value`, or in the only one left.
    Raises DataError where the file is wrong, OSError where it cannot be read.
    """
    from rtbot.graph_tests.change_cells import list_change_rows
    from rtbot.io.bindings import InputSpec, bind_columns
    from rtbot.io.blocks import BadRowPolicy
    from rtbot.io.reader import FileReader
    from rtbot.tables.convert import Columns

    files = {item.name: (path, None)}
    request = InputSpec(None, files, io.time, tuple(key), io.reading, bad=io.bad)
    readings = bind_columns(Files(), {item.name: item}, request)
    reader = FileReader(readings, io.unit, BadRowPolicy())
    found: list[Row] = []
    lines: list[int] = []
    for batches, _ in reader.read_in_turn():
        for batch in batches:
            table = batch.columns[item.name]
            if isinstance(table, Columns):
                found += table.cells()
            else:
                assert item.type.schema is not None, "an input of changes has a schema"
                found += list_change_rows(table, item.type.schema)
            lines += [batch.block.line(int(row)) for row in batch.rows[item.name]]
    return replace(rows, rows=tuple(found), lines=tuple(lines), style=reader.style)


def encode_row_file(
    outputs: Mapping[str, tuple[Input, Iterable[Row]]],
    key: Sequence[str],
    time: str,
    path: str,
    clock: TimeFormat,
) -> bytes:
    """Return the bytes of a file with the rows of these outputs, a column for each."""
    import pyarrow as pa

    from rtbot.graph_tests.compare_rows import rank_row
    from rtbot.io.sinks.writers import TimeFormat, open_writer
    from rtbot.io.source_opener import detect_format

    cells = {name: {row[:-1]: row[-1] for row in rows} for name, (_, rows) in outputs.items()}
    places = sorted(
        {spot for one in cells.values() for spot in one}, key=lambda s: rank_row((*s, 0))
    )
    heads = list(zip(*places, strict=True)) or [()] * (len(key) + 1)
    columns = {"t": pa.array(heads[-1], pa.int64())}
    for name, values in zip(key, heads[:-1], strict=True):
        columns[name] = pa.array(values, None if any(v is not None for v in values) else "string")
    for name, (item, _) in outputs.items():
        found = [cells[name].get(spot) for spot in places]
        if item.type.kind == VECTOR:
            for place, one in enumerate(list_elements(name, item.type)):
                parts = [None if row is None else row[place] for row in found]
                columns[one] = pa.array(parts, pa.float64())
            continue
        kind = pa.type_for_alias(ARROW_KINDS[item.type.kind])
        columns[name] = pa.array(found, kind)
    sink = BytesIO()
    writer = open_writer(sink, path, detect_format(path) or "csv", TimeFormat())
    writer.write(clock.format_table(pa.table(columns)).rename_columns([time, *list(columns)[1:]]))
    writer.close()
    return sink.getvalue()


def read_column_names(path: str) -> list[str]:
    """Return the names of the columns of a file; none if there is no such file."""
    from rtbot.io.source_opener import SourceOpener

    return list(SourceOpener(Files()).open_one(path).names) if Path(path).exists() else []
