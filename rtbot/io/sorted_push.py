"""Files whose rows are not in the order of their times, as one push that is."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import PlacedError
from rtbot.tables.concat import concat_rows

if TYPE_CHECKING:
    from rtbot.io.input_batch import InputBatch
    from rtbot.io.pushes import PushTarget
    from rtbot.io.reader import FileReader


def push_sorted(session: PushTarget, reader: FileReader) -> Any:
    """Push all rows of files at once, those of every input in the order of their times.

    All of them are in memory. Raises DataError with the place in the file.
    """
    batches = [batch for block, _ in reader.read_in_turn() for batch in block]
    parts: dict[str, list[InputBatch]] = {}
    for batch in batches:
        for name in batch.columns:
            parts.setdefault(name, []).append(batch)
    tables = {
        name: concat_rows([batch.columns[name] for batch in own]) for name, own in parts.items()
    }
    try:
        return session.push(tables, sort=True)
    except PlacedError as error:
        raise _locate_error(error, parts.get(str(error.input), [])) from None


def _locate_error(error: PlacedError, parts: list[InputBatch]) -> PlacedError:
    """Return the error with the place in the file of the row, which is counted over all parts."""
    if error.row is None or not parts:
        return error
    ends = list(accumulate(len(batch.columns[error.input]) for batch in parts))
    place = int(np.searchsorted(ends, error.row, side="right"))
    start = ends[place - 1] if place else 0
    return parts[place].locate_error(error.at(row=error.row - start))
