"""The types of the columns of a file, from all of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.io.blocks import Source

WIDER = {"integer": "number", "number": "boolean", "boolean": "text"}
"""What a column is that is not what it was taken for."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The first kind that all cells of a column have: integer, number, boolean or text.

    `nullable` is whether a cell may be absent, `empty` whether all of them are. Where a file has
    types of its own, `other` is one that no kind has, else None.
    """

    kind: str
    nullable: bool
    empty: bool = False
    other: pa.DataType | None = None


def infer_column_types(
    open_source: Callable[[], Source], names: Sequence[str], given: Mapping[str, str]
) -> dict[str, ColumnType]:
    """Return the types of columns; those `given` have that kind, whatever their cells are.

    A file of text is read several times, once as a whole. One that has types is not read: its
    columns may have absent cells unless it says that they have none.
    """
    source = open_source()
    if source.typed and not source.sparse:
        return {name: _describe_typed(source, name, given.get(name)) for name in names}
    kinds = {name: given.get(name, "integer") for name in names}
    open_kinds = {name for name in names if name not in given}
    only_first = True
    while True:
        wrong: set[str] = set()
        absent, cells = dict.fromkeys(names, 0), 0
        for block in source.read_blocks(dict(kinds)):
            wrong |= {str(fault.column) for fault in block.faults} & open_kinds
            for name in block.columns:
                absent[name] += block.columns[name].null_count
            cells += block.count
            if only_first:
                break
        for name in wrong:
            kinds[name] = WIDER[kinds[name]]
            if kinds[name] not in WIDER:
                open_kinds.discard(name)
        if not wrong and not only_first:
            return {
                name: ColumnType(kinds[name], absent[name] > 0, absent[name] == cells)
                for name in names
            }
        only_first = only_first and bool(wrong)
        source = open_source()


def _describe_typed(source: Source, name: str, given: str | None) -> ColumnType:
    kind = source.sample(name).type
    schema: pa.Schema | None = getattr(source, "schema", None)
    nullable = schema is None or schema.field(name).nullable
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    found = given or _find_kind(plain)
    is_null = pa.types.is_null(plain)
    return ColumnType(found or "text", nullable, is_null, None if found or is_null else kind)


def _find_kind(kind: pa.DataType) -> str | None:
    """Return the kind of a column that has a type; None if none has it."""
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_boolean(kind):
        return "boolean"
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return "text" if any(is_kind(kind) for is_kind in texts) else None
