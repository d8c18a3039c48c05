"""What the loop of window functions is told: its plan and its functions, as words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rtbot.relations.kernels import window_values as code
from rtbot.relations.ordered_store import KINDS
from rtbot.relations.row_codec import locate_null

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.operator.schema import Schema
    from rtbot.tables.string_dictionary import StringDictionary

FUNCTIONS = {
    "number": code.POSITION,
    "rank": code.RANKED,
    "dense_rank": code.DENSE,
    "lag": code.SHIFTED,
    "lead": code.SHIFTED,
    "count": code.COUNT_OF,
    "sum": code.SUMMED,
    "avg": code.AVERAGED,
    "min": code.LEAST_OF,
    "max": code.GREATEST_OF,
    "first": code.FIRST_OF,
    "last": code.LAST_OF,
}
"""What the loop calls a window function."""

FRAMES = {
    (None, None): code.WHOLE,
    ("range", None, 0): code.PEERS,
    ("rows", None, 0): code.ROWS_TO,
}


class WindowItem(NamedTuple):
    """A field that is computed: the function, the field it is of or None, offset and default."""

    function: str
    place: int | None
    offset: int
    default: Any


class OverLayout:
    """What is remembered of a row, and how far a change reaches.

    `setting` has `by` and `order` (places), `frame`, `compute` (a tuple of WindowItem) and
    `fields`: so many of the fields that come are those of the output, the others are arguments.
    """

    def __init__(self, setting: Mapping[str, Any], source: Schema, target: Schema) -> None:
        self.source, self.target = source, target
        self.fields: int = setting["fields"]
        self.items = [WindowItem(*item) for item in setting["compute"]]
        mode, self.start, self.end = setting["frame"]
        whole = (self.start, self.end) == (None, None)
        self.frame = (
            code.WHOLE if whole else FRAMES.get((mode, self.start, self.end), code.FREE_FRAME)
        )
        kinds = {FUNCTIONS[item.function] for item in self.items}
        if not any(kind >= code.COUNT_OF for kind in kinds):
            self.frame = code.WHOLE
        self.cells = [self._count_cells(item) for item in self.items]

    def _count_cells(self, item: WindowItem) -> int:
        """Return how many words of a function a row remembers."""
        function = FUNCTIONS[item.function]
        if function == code.DENSE:
            return 1
        if self.frame == code.FREE_FRAME or not code.COUNT_OF <= function < code.FIRST_OF:
            return 0
        if function == code.COUNT_OF:
            return 1
        if function in (code.LEAST_OF, code.GREATEST_OF):
            return 2
        assert item.place is not None
        return 4 if self.source.fields[item.place].type.kind == "number" else 3

    def list_compared(self) -> list[int]:
        """Return the places of the fields whose values are compared by functions."""
        items = [item for item in self.items if item.function in ("min", "max")]
        return [item.place for item in items if item.place is not None]

    def _make_items(self, texts: StringDictionary) -> np.ndarray:
        """Return the functions; texts that are defaults are given their codes."""
        items = np.zeros((len(self.items), code.ITEM), np.int64)
        cell = 0
        for words, item, cells in zip(items, self.items, self.cells, strict=True):
            words[code.FUNCTION] = FUNCTIONS[item.function]
            words[[code.ARGUMENT, code.NULL_AT]] = -1
            if item.place is not None:
                words[code.ARGUMENT] = item.place
                words[code.VALUE_KIND] = KINDS.get(self.source.fields[item.place].type.kind, 0)
                words[[code.NULL_AT, code.NULL_PLACE]] = locate_null(self.source, item.place)
            words[code.SHIFT] = -item.offset if item.function == "lag" else item.offset
            words[code.NO_DEFAULT] = item.default is None
            if item.default is not None:
                words[code.DEFAULT] = self._encode(item.default, texts)
            words[code.CELL], words[code.CELL_COUNT] = cell, cells
            cell += cells
        return items

    def _encode(self, value: Any, texts: StringDictionary) -> int:
        if isinstance(value, str):
            return texts.code(value)
        if isinstance(value, float):
            return int(np.float64(np.nan if value != value else value + 0.0).view(np.int64))
        return int(value)

    def make_plan(self, texts: StringDictionary, rows: int) -> np.ndarray:
        """Return the plan of a loop that has not begun, over so many rows at most."""
        count = len(self.items)
        values = code.ITEMS_AT + count * code.ITEM
        sums = values + 4 * count
        free = sums + (2 * count + 2) * code.ACCUMULATOR
        block = -(-free // code.BLOCK_WORDS)
        ring, room = (block + 2 * count + 1) * code.BLOCK_WORDS, self._count_queued(rows)
        plan = np.zeros(ring + 2 * count * (2 + 2 * room), np.int64)
        plan[[code.RING_AT, code.RING_ROOM]] = ring, room
        plan[code.ITEMS_AT : values] = self._make_items(texts).reshape(-1)
        plan[[code.VALUES_AT, code.SUMS_AT]] = values, sums
        plan[code.BLOCKS_LEFT : code.BLOCKS_LEFT + 3] = 0, block - 1, 2 * count + 1
        functions = {FUNCTIONS[item.function] for item in self.items}
        back, ahead = self._find_reach()
        plan[code.FRAME] = self.frame
        plan[code.FRAME_START] = -code.UNBOUNDED if self.start is None else self.start
        plan[code.FRAME_END] = code.UNBOUNDED if self.end is None else self.end
        plan[code.REACH_BACK], plan[code.REACH_AHEAD] = back, ahead
        plan[code.HAS_PLACES] = not functions.isdisjoint({code.POSITION, code.RANKED})
        plan[code.HAS_PEERS] = not functions.isdisjoint({code.DENSE, code.RANKED})
        local = not functions.isdisjoint({code.POSITION, code.SHIFTED})
        plan[code.BY_COPY] = local or self.frame in (code.ROWS_TO, code.FREE_FRAME)
        plan[code.ITEMS], plan[code.FIELDS] = len(self.items), self.fields
        plan[code.GIVEN_FIELDS], plan[code.OUT_FIELDS] = len(self.source), len(self.target)
        plan[code.RESULT_WIDTH] = self.target.width
        plan[code.OUT_NULLS] = self.target.width - len(self.target)
        plan[code.GIVEN_NULLS] = self.source.width - len(self.source)
        plan[code.BAD_ITEM] = plan[code.BAD_ROW] = -1
        counts = sum(item.function == "dense_rank" for item in self.items)
        plan[code.KEEPS] = 2 if sum(self.cells) > counts else counts > 0
        return plan

    def _count_queued(self, rows: int) -> int:
        """Return how many rows may wait to be the least or greatest of a frame."""
        if self.frame != code.FREE_FRAME or not self.list_compared():
            return 0
        if self.start is None:
            return 1
        copies = rows if self.end is None else max(self.end, 0) - min(self.start, 0) + 2
        return min(copies, rows)

    def _find_reach(self) -> tuple[int, int]:
        """Return how many copies before and behind a row a change of it may be seen."""
        back = ahead = 0
        for item in self.items:
            if item.function == "lead":
                back = max(back, item.offset)
            elif item.function == "lag":
                ahead = max(ahead, item.offset)
        if self.frame == code.FREE_FRAME:
            back = max(back, code.UNBOUNDED if self.end is None else self.end)
            ahead = max(ahead, code.UNBOUNDED if self.start is None else -self.start)
        return back, ahead
