"""Structs of Arrow: their fields are columns, named with points, as in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator

    Path = tuple[str, ...]


def list_paths(schema: pa.Schema) -> Iterator[Path]:
    """Return the names that lead to every column: those of structs lead to their fields."""
    left: list[tuple[Path, pa.DataType]]
    left = [((field.name,), field.type) for field in reversed(schema)]
    while left:
        path, type_ = left.pop()
        if pa.types.is_struct(type_) and type_.num_fields:
            fields = [type_.field(place) for place in range(type_.num_fields)]
            left += [((*path, field.name), field.type) for field in reversed(fields)]
        else:
            yield path


def find_type(schema: pa.Schema, path: Path) -> pa.DataType:
    """Return the type of the column that a path leads to."""
    found = schema.field(path[0]).type
    for name in path[1:]:
        found = found.field(name).type
    return found


def take_field(table: pa.RecordBatch | pa.Table, path: Path) -> pa.Array | pa.ChunkedArray:
    """Return the column that a path leads to, null where a struct on the way is."""
    found = table.column(path[0])
    return pc.struct_field(found, list(path[1:])) if len(path) > 1 else found
