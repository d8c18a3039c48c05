"""Columns of records: the values of several fields, row by row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rtbot.core.arrays import put_nulls
from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import DataError, suggest_name
from rtbot.core.vector_names import are_elements
from rtbot.tables.text_columns import TextColumn

if TYPE_CHECKING:
    from rtbot.operator.schema import Field
    from rtbot.tables.forms import Column

    Values = np.ndarray | TextColumn

FILLERS = {"number": np.nan, "integer": 0, "boolean": False}


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """A column of records: the names of the fields, and equally long columns of their values.

    It is one of vectors where the names are numbers. `valid` has the masks of what is not null,
    None where nothing is.
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    valid: tuple[np.ndarray | None, ...]

    def __len__(self) -> int:
        return len(self.values[0])

    def __getitem__(self, rows: Any) -> RecordColumn:
        return RecordColumn(
            self.names,
            tuple(column[rows] for column in self.values),
            tuple(None if mask is None else mask[rows] for mask in self.valid),
        )

    def tolist(self) -> list[Any]:
        """Return records as dicts and vectors as lists of Python's own types; null is None."""
        cells = [
            list_cells(column, mask) for column, mask in zip(self.values, self.valid, strict=True)
        ]
        if are_elements(self.names):
            return [None if row[0] is None else list(row) for row in zip(*cells, strict=True)]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*cells, strict=True)]


def list_cells(values: Values, valid: np.ndarray | None) -> list[Any]:
    """Return values of Python's own types; null is None."""
    objects: Any = values.to_objects() if isinstance(values, TextColumn) else values
    return put_nulls(objects.tolist(), valid)


class RecordRows(NamedTuple):
    """Records as they are in a table: a column, which rows are messages, and which ones are lost.

    A row is no message where a field is absent that may not be null, and lost then; but where a
    table is `sparse`, a row without any field is none, and not lost. Masks are None if all rows are
    messages.
    """

    column: RecordColumn
    valid: np.ndarray | None = None
    lost: np.ndarray | None = None


def assemble_records(
    fields: Sequence[Field],
    parts: Sequence[tuple[Values, np.ndarray | None]],
    *,
    sparse: bool = False,
) -> RecordRows:
    """Return records of the values of every field and the masks of what is not absent.

    A vector without one of its elements is null.
    """
    whole: np.ndarray | None = None
    there: np.ndarray | None = None
    given = [valid for _, valid in parts if valid is not None]
    if sparse and len(given) == len(parts):
        there = np.logical_or.reduce(given)
        whole = None if there.all() else there
    if are_elements(field.name for field in fields):
        parts = _share_masks(parts)
    values: list[Values] = []
    masks: list[np.ndarray | None] = []
    for field, (cells, valid) in zip(fields, parts, strict=True):
        mask = None if valid is None or valid.all() else valid
        if mask is not None and not field.type.nullable:
            whole = mask if whole is None else whole & mask
            mask = None
        elif mask is not None and isinstance(cells, np.ndarray):
            cells = np.where(mask, cells, FILLERS[field.type.kind])  # noqa: PLW2901
        values.append(cells)
        masks.append(mask)
    column = RecordColumn(tuple(one.name for one in fields), tuple(values), tuple(masks))
    if whole is None:
        return RecordRows(column)
    return RecordRows(column, whole, ~whole if there is None else ~whole & there)


def _share_masks(
    parts: Sequence[tuple[Values, np.ndarray | None]],
) -> Sequence[tuple[Values, np.ndarray | None]]:
    """Return the columns with one mask: of rows in which nothing is absent."""
    given = [valid for _, valid in parts if valid is not None]
    shared = np.logical_and.reduce(given) if given else None
    return [(cells, shared) for cells, _ in parts]


def split_records(column: Column, fields: Sequence[Field], name: str) -> dict[str, Column]:
    """Return the columns of the fields of a list of mappings, or of an Arrow array of structs.

    Raises DataError for what is no record, has other fields, or lacks one. A record that is None is
    one whose fields all are.
    """
    names = [field.name for field in fields]
    if not isinstance(column, list | np.ndarray):
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_struct(column.type):
            there = [column.type.field(place).name for place in range(column.type.num_fields)]
            _check_names(there, names, {"input": name})
            return {field: pc.struct_field(column, field) for field in names}
        column = column.to_pylist()
    cells: dict[str, list[Any]] = {field: [] for field in names}
    for row, record in enumerate(column):
        where: dict[str, Any] = {"input": name, "row": row}
        given = dict.fromkeys(names) if record is None else record
        if not isinstance(given, Mapping):
            message = f"a record is a mapping {{{names[0]}: ...}}"
            raise DataError(message, code="RT214", value=record, **where)
        if given.keys() != cells.keys():
            _check_names(list(given), names, where)
        for field in names:
            cells[field].append(given[field])
    return dict(cells)


def check_shared(names: Sequence[str], records: Collection[Any], file: str | None = None) -> None:
    """Raise DataError if one column would feed two inputs, of which some are records."""
    twice = repeated(names) if records else None
    if twice is not None:
        hint = "name it after its input, as quote.bid, or name another column"
        message = f"the column {twice!r} would feed two inputs"
        raise DataError(message, code="RT215", hint=hint, file=file)


def _check_names(given: Sequence[Any], names: Sequence[str], where: Mapping[str, Any]) -> None:
    """Raise DataError unless these are the names of all fields."""
    for name in given:
        if name not in names:
            hint = suggest_name(str(name), names) or f"there are {', '.join(names)}"
            raise DataError(f"there is no field {name!r}", code="RT204", hint=hint, **where)
    for name in names:
        if name not in given:
            message = f"a record without the field {name!r}"
            raise DataError(message, code="RT204", hint="null is None", **where)
