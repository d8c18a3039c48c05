"""Tables of one input, one after the other, as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.tables.change_rows import ChangeRows
from rtbot.tables.convert import Columns
from rtbot.tables.record_column import RecordColumn
from rtbot.tables.string_dictionary import StringDictionary
from rtbot.tables.text_columns import TextColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.tables.convert import Key


def concat_rows(parts: Sequence[Columns | ChangeRows]) -> Columns | ChangeRows:
    """Return the rows of all tables of one input, of which there is one at least, in order."""
    series = [part for part in parts if isinstance(part, Columns)]
    if series:
        return concat_columns(series)
    return _concat_changes([part for part in parts if isinstance(part, ChangeRows)])


def _concat_changes(parts: Sequence[ChangeRows]) -> ChangeRows:
    places = range(len(parts[0].columns))
    return ChangeRows(
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.weight for part in parts]),
        tuple(_concat_values([part.columns[place] for part in parts]) for place in places),
        tuple(_concat_masks([(p.valid[place], len(p)) for p in parts]) for place in places),
    )


def _concat_masks(parts: Sequence[tuple[np.ndarray | None, int]]) -> np.ndarray | None:
    """Concatenate the masks of parts of some lengths; None is one of what is not null."""
    if all(mask is None for mask, _ in parts):
        return None
    return np.concatenate([np.ones(n, np.bool_) if mask is None else mask for mask, n in parts])


def concat_columns(parts: Sequence[Columns]) -> Columns:
    """Return the rows of all tables, of which there is one at least, in their order."""
    nulls = sum(part.nulls for part in parts)
    filled = [part for part in parts if len(part)] or list(parts[:1])
    first = filled[0]
    if len(filled) == 1:
        return Columns(first.time, first.value, first.valid, first.keys, nulls)
    valid = _concat_masks([(part.valid, len(part)) for part in filled])
    keys = tuple(_concat_keys([part.keys[k] for part in filled]) for k in range(len(first.keys)))
    time = np.concatenate([part.time for part in filled])
    return Columns(time, _concat_values([part.value for part in filled]), valid, keys, nulls)


def _concat_records(parts: Sequence[RecordColumn]) -> RecordColumn:
    places = range(len(parts[0].names))
    return RecordColumn(
        parts[0].names,
        tuple(_concat_values([part.values[place] for part in parts]) for place in places),
        tuple(_concat_masks([(p.valid[place], len(p)) for p in parts]) for place in places),
    )


def _concat_values(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], RecordColumn):
        return _concat_records(parts)
    if not isinstance(parts[0], TextColumn):
        return np.concatenate(parts)
    texts = StringDictionary()
    codes = np.concatenate([texts.encode(part) for part in parts])
    return TextColumn(codes, [text for text in texts.values if text is not None])


def _concat_keys(parts: Sequence[Key]) -> Key:
    """Concatenate parts of a key column; one of nulls alone goes with any other."""
    if any(isinstance(part, TextColumn) and part.values for part in parts):
        nulls = (
            TextColumn(np.full(len(p[0]), -1), []) if isinstance(p, tuple) else p for p in parts
        )
        found: Key = _concat_values(list(nulls))
        return found
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)  # type: ignore[arg-type]
    pairs = [_split_mask(part) for part in parts]
    return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])


def _split_mask(part: Key) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(part, tuple):
        return part
    if isinstance(part, TextColumn):
        return np.zeros(len(part), np.int64), np.zeros(len(part), np.bool_)
    return part, np.ones(len(part), np.bool_)
